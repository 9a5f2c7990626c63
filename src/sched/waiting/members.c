#include "sched/waiting/members.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

struct members *members_create(sched_t *s, const struct sched_request *request, uint32_t size,
                               const struct idset *all, const struct idset *waiting)
{
    struct members *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->records = 1;
    m->entry = JOB_NONE;
    m->size = size;
    m->most = request->max_running;
    m->has_all = all != NULL;
    if ((request->min == 0 || (m->gang = gang_create(s, request, size)) != NULL) &&
        (!all || idset_copy(&m->all, all) == 0) &&
        (!waiting || idset_copy(&m->waiting, waiting) == 0))
        return m;
    members_leave(s, m);
    errno = ENOMEM;
    return NULL;
}

void members_leave(sched_t *s, struct members *m)
{
    if (!m || --m->records > 0)
        return;
    idset_clear(&m->all);
    idset_clear(&m->waiting);
    gang_destroy(s, m->gang);
    free(m->groups);
    free(m);
}

struct idset members_waiting(const struct members *m)
{
    struct idset view = m->waiting;
    if (m->used > 0)
        view.v += m->used;
    view.n -= m->used;
    return view;
}

bool is_entry(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d && d->of && d->of->entry == slot;
}

uint64_t members_of(const sched_t *s, uint32_t slot)
{
    return is_entry(s, slot) ? s->jobs[slot].details->of->waiting.count : 1;
}

/* ---- Taking members out ---- */

/* The first index is used up: a range at the beginning is only counted as gone, or each start would move all others.
 */
static void remove_first(struct members *m)
{
    struct idset_range *first = &m->waiting.v[m->used];
    m->waiting.count--;
    if (first->lo < first->hi) {
        first->lo += first->gap + 1;
        first->gap = first->lo < first->hi ? first->gap : 0;
        return;
    }
    m->used++;
    if (m->used <= m->waiting.n / 2)
        return;
    m->waiting.n -= m->used;
    for (uint32_t i = 0; i < m->waiting.n; i++)
        m->waiting.v[i] = m->waiting.v[m->used + i];
    m->used = 0;
}

/* Any index, for which there is memory. */
static void remove_index(struct members *m, uint32_t member)
{
    struct idset view = members_waiting(m);
    if (idset_first(&view) == member) {
        remove_first(m);
        return;
    }
    view.cap = m->waiting.cap - m->used;
    idset_remove(&view, member);
    m->waiting.n = view.n + m->used;
    m->waiting.count = view.count;
}

static int spare_reserve(struct queues *n)
{
    if (n->spare_details || (n->spare_details = malloc(sizeof(*n->spare_details))))
        return 0;
    errno = ENOMEM;
    return -1;
}

/* Have memory for a part, beside what lanes and controllers need. */
static uint32_t reserve_part(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct members *m = s->jobs[slot].details->of;
    uint32_t part = job_next_slot(s);
    uint32_t class = s->jobs[slot].ask.class;
    int64_t units;
    if (part == JOB_NONE || spare_reserve(n) < 0 || (n->shares && shares_reserve(s, part) < 0) ||
        idset_reserve(&m->waiting, (uint64_t)m->waiting.n + 1) < 0 ||
        depend_part_reserve(n->depend, slot, part, m->waiting.n - m->used + 1) < 0 ||
        tell_reserve(n) < 0 ||
        s->place->ops->know(s->place, NULL, s->jobs[slot].ask.part, false, &class, &units, NULL) <
            0) {
        errno = ENOMEM;
        return JOB_NONE;
    }
    s->place->ops->forget(s->place,
                          class); /* the machine knows what is to be known: it has memory */
    return m->waiting.count > 1 ? part : slot;
}

uint32_t part_reserve(sched_t *s, uint32_t slot)
{
    if (!is_entry(s, slot))
        return slot;
    uint32_t part = reserve_part(s, slot);
    return part == JOB_NONE || open_reserve(s, slot) < 0 || array_reserve(s) < 0 ? JOB_NONE : part;
}

int parts_expect(sched_t *s, uint32_t n)
{
    struct queues *q = s->queues;
    uint32_t slots = s->n_jobs + n;
    return job_expect(s, n) < 0 || decisions_expect(s, n) < 0 ||
                   (q->shares && shares_reserve(s, slots - 1) < 0) ||
                   depend_expect_slots(q->depend, slots) < 0
               ? -1
               : 0;
}

/* The last one keeps the slot. */
static uint32_t take_last(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    depend_last_part(s->queues->depend, slot, d->member);
    d->of->entry = JOB_NONE;
    idset_reset(&d->of->waiting);
    d->of->used = 0;
    return slot;
}

static struct queue_key key_of_member(const struct job *job, uint32_t member)
{
    return (struct queue_key){job->key.rank, job->details->of->order + member, job->key.brevity};
}

/* The next of an entry's members is the first one. */
static void go_on_to_next_member(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct idset waiting = members_waiting(job->details->of);
    job->details->member = idset_first(&waiting);
    job->key = key_of_member(job, job->details->member);
    gang_relink(s, slot);
}

/* A member's slot, with all that the entry knows, but in no list. */
static uint32_t take_member(sched_t *s, uint32_t slot, uint32_t member)
{
    struct queues *n = s->queues;
    uint32_t part = job_alloc(s); /* for which there is memory */
    struct details *d = n->spare_details;
    struct job *entry = &s->jobs[slot], *job = &s->jobs[part];
    int64_t units;
    n->spare_details = NULL;
    uint32_t generation = job->generation;
    *job = *entry;
    job->generation = generation;
    job->is_fresh = job->is_placed = job->is_let_again = false;
    job->key = key_of_member(entry, member);
    job->details = d;
    *d = *entry->details;
    d->member = member;
    d->never = NULL;
    d->displaced = -1;
    d->is_untold = d->is_pending = d->is_candidate = d->is_limited = d->needs_down = false;
    d->of->records++;
    d->jobspec->users++;
    n->job_groups.v[d->job_group].jobs++;
    s->place->ops->know(s->place, NULL, job->ask.part, false, &job->ask.class, &units, NULL);
    bool before = member == entry->details->member;
    details_link_beside(s, part, slot, before);
    depend_part(n->depend, slot, part, member, before);
    remove_index(d->of, member);
    return part;
}

/* What the first member of an entry held is its part's now. */
static void clear_holding(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    d->holds = d->holds_aside = d->is_counted = d->is_open = d->is_promise_told = d->is_relieved =
        false;
    d->shared = NULL;
    displaced_end(s, slot);
    d->victims = 0;
    d->put_off = 0;
    if (job->is_claiming)
        job->ask.duration = d->estimate;
    job->is_claiming = job->is_lifted = job->is_preempting = job->is_tried_again = job->is_kept =
        false;
}

uint32_t part_leave(sched_t *s, uint32_t slot, uint32_t member)
{
    const struct details *d = s->jobs[slot].details;
    bool last = d->of->waiting.count == 1, first = member == d->member;
    uint32_t part = last ? take_last(s, slot) : take_member(s, slot, member);
    s->jobs[part].key = key_held(s, part, 0);
    s->jobs[part].details->is_behind = false;
    if (last)
        return slot;
    if (s->queues->shares)
        shares_part(s, slot, part, true);
    clear_holding(s, slot);
    if (first)
        go_on_to_next_member(s, slot);
    s->jobs[slot].state = SCHED_BLOCKED;
    return part;
}

uint32_t part_first(sched_t *s, uint32_t slot)
{
    if (!is_entry(s, slot))
        return slot;
    uint32_t part = part_leave(s, slot, s->jobs[slot].details->member);
    if (part == slot)
        return slot;
    if (array_is_full(s, slot))
        array_block(s, slot); /* there is memory for either */
    else
        open_insert(s, slot, false);
    tell_later(s, slot);
    return part;
}

/* ---- To wait for oneself ---- */

/* The entry's place in its lane is another one, as its first member leaves. Returns 0, or -1 with ENOMEM. */
static int move_on(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct members *m = job->details->of;
    struct idset waiting = members_waiting(m);
    struct queue_key was = job->key;
    struct queue_key key = key_of_member(job, idset_next(&waiting, job->details->member));
    int rc = 0;
    if (job->state == SCHED_RESERVED) {
        rc = held_rekey(s, slot, key);
    } else if (job->state == SCHED_WAITING) {
        job->key = key;
        rc = open_insert(s, slot, false);
    }
    job->key = was;
    return rc;
}

/* Where a part waits that was taken out of an entry. There is memory for it. */
static void wait_apart(sched_t *s, uint32_t slot, uint32_t part, bool first)
{
    struct job *entry = &s->jobs[slot], *job = &s->jobs[part];
    if (entry->state == SCHED_BLOCKED) {
        controllers_parted(s, part);
        return;
    }
    clear_holding(s, part);
    if (entry->state == SCHED_WAITING && first) {
        open_give(s, slot, part);
        if (entry->is_fresh)
            open_renew(s, part);
        return;
    }
    job->state = SCHED_BLOCKED; /* for nothing yet */
    job->is_fresh = false;
    /* a turn that a pass has given the entry as it lost its time goes with its promise */
    bool is_renewed = entry->state == SCHED_RESERVED && entry->details->displaced >= 0 &&
                      s->pass.phase != PASS_IDLE;
    bool fresh = entry->is_fresh && !is_renewed;
    if (!array_is_full(s, part) || array_block(s, part) < 0)
        open_insert(s, part, fresh); /* there is memory for that */
    if (entry->state == SCHED_RESERVED && first)
        job->details->told[0] = '\0';
    tell_later(s, part);
}

uint32_t part_any(sched_t *s, uint32_t slot, uint32_t member)
{
    struct members *m = s->jobs[slot].details->of;
    struct idset waiting = members_waiting(m);
    if (!idset_has(&waiting, member)) {
        errno = EINVAL;
        return JOB_NONE;
    }
    if (gang_order_refresh(s) < 0)
        return JOB_NONE;
    struct place_ask one;
    uint32_t part = reserve_part(s, slot), group;
    if (part == JOB_NONE)
        return JOB_NONE;
    bool whole = gang_asks_whole(s, slot);
    if (whole) { /* it is to gather again those that are left */
        job_block(s, slot, BLOCK_GANG);
        gang_due(s, m->gang);
    }
    if (part == slot) {
        class_order_changed(s, slot);
        return take_last(s, slot);
    }
    if (whole && gang_know_one(s, slot, member, &one, &group) < 0)
        return JOB_NONE;
    bool first = member == s->jobs[slot].details->member;
    bool waits = s->jobs[slot].state != SCHED_BLOCKED;
    if ((waits ? open_reserve(s, slot) : controllers_part(s, slot, part)) < 0 ||
        (first && move_on(s, slot) < 0)) {
        if (heap_has(&s->queues->begins, part))
            heap_take(&s->queues->begins, part);
        if (whole)
            gang_forget(s, &one, group);
        errno = ENOMEM;
        return JOB_NONE;
    }
    take_member(s, slot, member);
    if (whole)
        gang_ask(s, part, &one, group);
    if (s->queues->shares)
        shares_part(s, slot, part, false);
    class_order_changed(s, part);
    if (first)
        go_on_to_next_member(s, slot);
    wait_apart(s, slot, part, first);
    pending_begin(s, part);
    starving_parted(s, part);
    return part;
}

/* ---- Checks ---- */

static bool check_waiting_members(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct members *m = job->details->of;
    struct idset waiting = members_waiting(m);
    return waiting.n > 0 && idset_check(&waiting) &&
           idset_first(&waiting) == job->details->member && idset_last(&waiting) < m->size;
}

bool members_check(const sched_t *s)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following) {
        const struct details *d = s->jobs[slot].details;
        bool holds = s->jobs[slot].state == SCHED_RUNNING || s->jobs[slot].state == SCHED_RESERVED;
        if (!d->of)
            continue;
        if (d->of->records == 0 || d->member >= d->of->size || (d->holds && !holds) ||
            s->jobs[slot].key.seq != d->of->order + d->member ||
            (is_entry(s, slot) && !check_waiting_members(s, slot)) || !gang_order_check(s, slot))
            return false;
    }
    return true;
}
