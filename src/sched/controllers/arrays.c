/* Arrays of which only so many members may hold something at a time: run, or be promised a time.
 *
 * What waits of such an array is out of its lane as soon as that many do, the entry and members with slots of their
 * own, and goes on when one has given back what it held.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/rows.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

bool array_is_full(const sched_t *s, uint32_t slot)
{
    const struct members *m = s->jobs[slot].details->of;
    return m && m->most > 0 && m->holding >= m->most;
}

int array_reserve(sched_t *s)
{
    struct queues *n = s->queues;
    return array_grow((void **)&n->full, &n->cap_full, n->n_full + 1, sizeof(*n->full));
}

static void list_in_full(sched_t *s, uint32_t slot)
{
    s->queues->full[s->queues->n_full++] = slot;
}

int array_block(sched_t *s, uint32_t slot)
{
    if (array_reserve(s) < 0)
        return -1;
    list_in_full(s, slot);
    job_block(s, slot, BLOCK_ARRAY);
    return 0;
}

/* Whether members of an array have slots of their own and hold nothing. */
static bool any_apart(const sched_t *s, const struct members *m)
{
    bool entry = m->entry != JOB_NONE && !s->jobs[m->entry].details->holds;
    return (int64_t)m->records > m->holding + entry;
}

/* The next slot of an array in one direction; JOB_NONE. */
static uint32_t next_of_array(const sched_t *s, uint32_t slot, bool later)
{
    const struct details *d = s->jobs[slot].details;
    uint32_t next = later ? d->following : d->previous;
    return next != JOB_NONE && s->jobs[next].details->of == d->of ? next : JOB_NONE;
}

int64_t array_when(const sched_t *s, uint32_t slot, int64_t now)
{
    int64_t first = INT64_MAX;
    if (!array_is_full(s, slot))
        return now;
    for (int later = 0; later < 2; later++)
        for (uint32_t at = slot; (at = next_of_array(s, at, later)) != JOB_NONE;) {
            int64_t until = s->jobs[at].details->holds ? until_told(s, &s->jobs[at]) : -1;
            if (until >= 0 && until < first)
                first = until;
        }
    return first > now ? first : now;
}

/* Block the open ones of an array in one direction from a member's slot: all slots of an array follow each other. */
static void block_beside(sched_t *s, uint32_t slot, bool later)
{
    while ((slot = next_of_array(s, slot, later)) != JOB_NONE)
        if (s->jobs[slot].state == SCHED_WAITING && array_block(s, slot) < 0)
            return; /* it is blocked when it is looked at */
}

void array_filled(sched_t *s, uint32_t slot)
{
    const struct members *m = s->jobs[slot].details ? s->jobs[slot].details->of : NULL;
    if (!m || !array_is_full(s, slot))
        return;
    if (m->entry != JOB_NONE && s->jobs[m->entry].state == SCHED_WAITING &&
        array_block(s, m->entry) < 0)
        return;
    if (!any_apart(s, m))
        return;
    block_beside(s, slot, false);
    block_beside(s, slot, true);
}

void arrays_restored(sched_t *s)
{
    s->queues->recheck_most = true;
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state == SCHED_WAITING && !s->jobs[slot].is_fresh &&
            array_is_full(s, slot) && array_block(s, slot) < 0)
            return;
}

/* Whether a job has its turn before a member of its array that is promised a time. */
static bool is_before_promised(const sched_t *s, uint32_t slot, bool later)
{
    for (uint32_t at = slot; (at = next_of_array(s, at, later)) != JOB_NONE;)
        if (s->jobs[at].state == SCHED_RESERVED && !s->jobs[at].is_preempting &&
            queue_before(key_turn(s, slot), s->jobs[at].key))
            return true;
    return false;
}

bool array_keeps_before(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    if (!d->of || d->of->most == 0)
        return false;
    for (int later = 0; later < 2; later++)
        for (uint32_t at = slot; (at = next_of_array(s, at, later)) != JOB_NONE;)
            if (s->jobs[at].state == SCHED_BLOCKED && s->jobs[at].details->blocked == BLOCK_ARRAY &&
                queue_before(key_turn(s, at), s->jobs[slot].key))
                return true;
    return false;
}

bool array_is_between(const sched_t *s, uint32_t slot, struct queue_key low, struct queue_key high)
{
    const struct details *d = s->jobs[slot].details;
    if (!d || !d->of || d->of->most == 0)
        return false;
    for (int later = 0; later < 2; later++)
        for (uint32_t at = slot; (at = next_of_array(s, at, later)) != JOB_NONE;) {
            const struct job *job = &s->jobs[at];
            if (job->state == SCHED_BLOCKED && job->details->blocked == BLOCK_ARRAY &&
                job->lane == s->jobs[slot].lane && queue_before(low, job->key) &&
                queue_before(job->key, high))
                return true;
        }
    return false;
}

static bool may_take_turn(const sched_t *s, uint32_t slot)
{
    return is_before_promised(s, slot, false) || is_before_promised(s, slot, true);
}

void array_lowered(sched_t *s, uint32_t slot)
{
    if (array_is_full(s, slot) && !may_take_turn(s, slot))
        array_block(s, slot); /* what there is no memory for is blocked when it is looked at */
}

int array_raised(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (d->blocked != BLOCK_ARRAY || !may_take_turn(s, slot))
        return 0;
    d->blocked = 0;
    if (open_insert(s, slot, true) == 0) {
        tell_later(s, slot);
        return 0;
    }
    d->blocked = BLOCK_ARRAY;
    return -1;
}

static int reserve_part_in_full(sched_t *s, uint32_t slot, uint32_t part)
{
    (void)slot, (void)part;
    return array_reserve(s);
}

static enum step block_if_array_is_full(sched_t *s, uint32_t slot)
{
    if (!array_is_full(s, slot))
        return STEP_BUSY;
    return array_block(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
}

/* What waits of an array may count otherwise in the tree of shares. */
static void fill_shares(sched_t *s, const struct members *m)
{
    if (!s->queues->shares)
        return;
    if (m->entry != JOB_NONE)
        shares_filled(s, m->entry);
    if (m->gang && m->gang->leader != JOB_NONE && m->gang->leader != m->entry)
        shares_filled(s, m->gang->leader);
}

/* And may have another place. */
static void moved(sched_t *s, const struct members *m)
{
    if (m->entry != JOB_NONE)
        class_order_changed(s, m->entry);
    if (m->most > 0)
        fill_shares(s, m);
}

static void forget_aside(struct details *d)
{
    if (!d->holds_aside)
        return;
    d->holds_aside = false;
    d->of->aside--;
}

static void add_holding_member(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    forget_aside(d);
    if (d->of && !d->holds) {
        d->holds = true;
        d->of->holding++;
        moved(s, d->of);
    }
}

static void drop_holding_member(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (d->holds)
        d->of->holding--;
    else if (!d->holds_aside)
        return;
    d->holds = false;
    forget_aside(d);
    moved(s, d->of);
}

/* It is left out for a while, of how many may hold something; not of how many do. */
static void set_member_aside(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (!d->holds)
        return;
    drop_holding_member(s, slot);
    d->holds_aside = true;
    d->of->aside++;
}

static bool may_return(const sched_t *s, uint32_t slot)
{
    return s->jobs[slot].details->holds || !array_is_full(s, slot);
}

static int enter_in_array(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    (void)booking, (void)at, (void)until;
    add_holding_member(s, slot);
    return 0;
}

static enum step count_in_array(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    (void)booking, (void)at;
    add_holding_member(s, slot);
    return STEP_BUSY;
}

static void uncount_in_array(sched_t *s, uint32_t slot, int64_t booking)
{
    (void)booking;
    drop_holding_member(s, slot);
}

static void release_in_array(sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    if (!d->of)
        return;
    uncount_in_array(s, slot, s->jobs[slot].booking);
    if (d->of->most == 0)
        return;
    s->queues->recheck_full = true;
    s->queues->full_seen = 0;
}

static bool may_hold_in_array(const sched_t *s, uint32_t slot, int64_t duration, int64_t booking,
                              int64_t at)
{
    (void)duration, (void)booking, (void)at;
    return !array_is_full(s, slot);
}

static bool may_ask(const sched_t *s, uint32_t slot, const struct place_ask *ask, int64_t at)
{
    (void)ask, (void)at;
    return !array_is_full(s, slot);
}

static void array_limit_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    *why = (struct sched_reason){.kind = SCHED_REASON_LIMIT,
                                 .limit = {.whose = SCHED_OF_ARRAY,
                                           .what = "running",
                                           .most = s->jobs[slot].details->of->most},
                                 .second = s->queues->setup->second};
}

/* ---- Another number of them ---- */

/* The last holder of an array of which more hold something than may. Others stay that have others stopped for them. */
static uint32_t last_beyond(const sched_t *s)
{
    uint32_t last = JOB_NONE;
    for (uint32_t slot = held_next(s, false, KEY_FIRST); slot != JOB_NONE;
         slot = held_next(s, true, s->jobs[slot].key)) {
        const struct job *job = &s->jobs[slot];
        const struct members *m = job->details->of;
        if (m && m->most > 0 && m->holding > m->most && !job->is_preempting)
            last = slot;
    }
    return last;
}

/* Take back one of the promises that are too many. */
static enum step take_back_beyond(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t last = n->recheck_most ? last_beyond(s) : JOB_NONE;
    if (last == JOB_NONE) {
        n->recheck_most = false;
        return STEP_BUSY;
    }
    s->swept = false;
    return held_to_open(s, last, false) < 0 ? STEP_FAILED : STEP_DONE;
}

int sched_set_max_running(sched_t *s, int64_t now, sched_job_t handle, uint32_t max_running,
                          berth_error_t *err)
{
    uint32_t slot = job_in_queue(s, handle);
    struct members *m = slot == JOB_NONE ? NULL : s->jobs[slot].details->of;
    if (!m || s->jobs[slot].state == SCHED_REJECTED)
        return errtext_set(err, EINVAL, "it is no array that is not over");
    if (m->gang && gang_is_of_array(m->gang))
        return errtext_set(err, EINVAL, "how many gangs of an array run at once stays");
    if (m->gang && max_running > 0 && max_running < m->gang->min)
        return errtext_set(err, EINVAL, "%u members of the gang start together", m->gang->min);
    if (m->is_singleton)
        return errtext_set(err, EINVAL, "the members of a singleton run one at a time");
    if (core_event(s, now) < 0)
        return errtext_set(err, errno, "time goes back");
    m->most = max_running;
    s->queues->recheck_full = s->queues->recheck_most = true;
    s->queues->full_seen = 0;
    moved(s, m);
    fill_shares(s, m);
    array_filled(s, slot);
    if (s->jobs[slot].state == SCHED_WAITING && array_is_full(s, slot))
        array_block(s, slot); /* or when it is looked at */
    return 0;
}

/* ---- The controller ---- */

static bool is_blocked(const struct job *job)
{
    return job->state == SCHED_BLOCKED && job->details->blocked & BLOCK_ARRAY;
}

/* Let the next one of those go on of whose array fewer members hold something; at the end of a pass each once. */
static enum step let_next_of_arrays_go(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    if (!n->recheck_full)
        return STEP_BUSY;
    if (n->full_seen == n->n_full) {
        n->recheck_full = n->is_full_left;
        n->is_full_left = false;
        n->full_seen = 0;
        return STEP_BUSY;
    }
    uint32_t slot = n->full[n->full_seen];
    struct job *job = &s->jobs[slot];
    if (is_blocked(job)) {
        job->is_let_again &= again;
        bool goes = !array_is_full(s, slot);
        n->is_full_left |= goes && job->is_let_again;
        if (!goes || job->is_let_again) {
            n->full_seen++;
            return STEP_DONE;
        }
        if (job_unblock(s, slot, BLOCK_ARRAY) < 0)
            return STEP_FAILED;
        if (again && job->state == SCHED_WAITING) {
            job->is_let_again = true;
            job->is_placed = false;
            s->pass.let++;
        }
    }
    n->full[n->full_seen] = n->full[--n->n_full];
    return STEP_DONE;
}

const struct controller array_controller = {
    .name = "array",
    .block = BLOCK_ARRAY,
    .part = reserve_part_in_full,
    .parted = list_in_full,
    .released = release_in_array,
    .gate = block_if_array_is_full,
    .count = count_in_array,
    .uncount = uncount_in_array,
    .set_aside = set_member_aside,
    .put_back = add_holding_member,
    .may_return = may_return,
    .enter = enter_in_array,
    .may_ask = may_ask,
    .may_hold = may_hold_in_array,
    .turn = take_back_beyond,
    .reason = array_limit_reason,
    .settle = let_next_of_arrays_go,
};
