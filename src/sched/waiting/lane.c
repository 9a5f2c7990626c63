/* Into the lanes of waiting jobs and out of them. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

int lane_init(struct lane *lane, int64_t most, int64_t width)
{
    lane->width = width;
    lane->open = queue_create(width);
    lane->held = queue_create(width);
    lane->kept = queue_create(width);
    lane->line.fill = queue_create(most);
    return lane->open && lane->held && lane->kept && lane->line.fill ? 0 : -1;
}

static void line_clear(struct line *line)
{
    queue_destroy(line->open);
    queue_destroy(line->fill);
    queue_destroy(line->down);
    heap_clear(&line->candidates);
}

int lane_add_line(struct lane *lane)
{
    struct line line = {.open = queue_create(lane->width), .parts = JOB_GROUP_NONE};
    struct line *more = reallocarray(lane->more, (size_t)lane->n_more + 1, sizeof(*more));
    lane->more = more ? more : lane->more;
    if (!line.open || !more) {
        line_clear(&line);
        errno = ENOMEM;
        return -1;
    }
    more[lane->n_more++] = line;
    return 0;
}

uint32_t line_number(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares ? shares->leaf[shares->job[slot].leaf].line : 0;
}

void lane_clear(struct lane *lane)
{
    queue_destroy(lane->open);
    queue_destroy(lane->held);
    queue_destroy(lane->kept);
    line_clear(&lane->line);
    for (uint32_t i = 0; i < lane->n_more; i++)
        line_clear(&lane->more[i]);
    free(lane->more);
}

static struct queue_entry queue_entry_of(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    int64_t width = lane_of(s, slot)->width;
    int64_t units = job->ask.units < width ? job->ask.units : width;
    return (struct queue_entry){job->key, units, job->ask.duration, slot};
}

static int fresh_reserve(sched_t *s)
{
    return array_grow((void **)&s->fresh, &s->cap_fresh, s->n_fresh + 1, sizeof(*s->fresh));
}

static int fresh_add(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].is_fresh)
        return 0;
    if (fresh_reserve(s) < 0)
        return -1;
    s->fresh[s->n_fresh++] = slot;
    s->jobs[slot].is_fresh = true;
    if (s->jobs[slot].details)
        s->jobs[slot].details->starts_seen = s->queues->starving_starts;
    return 0;
}

/* The first open job of a lane whose jobs go one after the other; JOB_NONE where they don't. */
static uint32_t serve_first(const struct lane *lane)
{
    struct queue_entry first;
    return lane->depth == 0 && queue_first(lane->open, &first) ? first.item : JOB_NONE;
}

/* Where such a lane has another first job now, the one that was it waits for that. */
static void tell_overtaken(sched_t *s, const struct lane *lane, uint32_t was)
{
    if (was != JOB_NONE && serve_first(lane) != was)
        tell_later(s, was);
}

/* In the line of its leaf too. Returns 0, or -1 with ENOMEM. */
static int insert_both(sched_t *s, uint32_t slot, const struct queue_entry *entry)
{
    struct queue *own = line_of(s, slot)->open;
    if (own && queue_insert(own, entry) < 0)
        return -1;
    if (queue_insert(lane_of(s, slot)->open, entry) == 0)
        return 0;
    if (own)
        queue_remove(own, entry->key);
    return -1;
}

/* open_insert without memory. */
static int insert_failed(sched_t *s, uint32_t slot)
{
    gang_order_leave(s, slot);
    errno = ENOMEM;
    return -1;
}

int open_insert(sched_t *s, uint32_t slot, bool fresh)
{
    const struct lane *lane = lane_of(s, slot);
    uint32_t first = serve_first(lane);
    gang_order_enter(s, slot);
    struct queue_entry entry = queue_entry_of(s, slot);
    s->jobs[slot].shape = shape_slot(&s->jobs[slot].ask);
    if ((fresh && fresh_add(s, slot) < 0) || s->finder->add(s, slot) < 0)
        return insert_failed(s, slot);
    if (needs_down_enter(s, slot) < 0 || insert_both(s, slot, &entry) < 0) {
        needs_down_leave(s, slot);
        s->finder->remove(s, slot);
        return insert_failed(s, slot);
    }
    if (fresh && s->jobs[slot].ask.units < s->fresh_least)
        s->fresh_least = s->jobs[slot].ask.units;
    s->jobs[slot].state = SCHED_WAITING;
    if (s->queues->shares)
        shares_opened(s, slot);
    tell_overtaken(s, lane, first);
    return 0;
}

int open_reserve(sched_t *s, uint32_t slot)
{
    struct queue *own = line_of(s, slot)->open;
    return fresh_reserve(s) < 0 || (own && queue_reserve(own) < 0) ||
                   queue_reserve(lane_of(s, slot)->open) < 0 || needs_down_reserve(s, slot) < 0 ||
                   s->finder->reserve(s, slot) < 0
               ? -1
               : 0;
}

void open_remove(sched_t *s, uint32_t slot)
{
    queue_remove(lane_of(s, slot)->open, s->jobs[slot].key);
    needs_down_leave(s, slot);
    s->finder->remove(s, slot);
    if (s->queues->shares && line_of(s, slot)->open)
        queue_remove(line_of(s, slot)->open, s->jobs[slot].key);
    if (s->queues->shares)
        shares_closed(s, slot);
    gang_order_leave(s, slot);
}

void open_give(sched_t *s, uint32_t slot, uint32_t to)
{
    queue_give(lane_of(s, slot)->open, s->jobs[to].key, to);
    needs_down_give(s, to);
    s->finder->give(s, slot, to);
    if (!s->queues->shares)
        return;
    if (line_of(s, to)->open)
        queue_give(line_of(s, to)->open, s->jobs[to].key, to);
    shares_opened(s, to);
}

int held_rekey(sched_t *s, uint32_t slot, struct queue_key key)
{
    struct job *job = &s->jobs[slot];
    struct queue *held = held_of(s, slot);
    struct queue_key old = job->key;
    job->key = key;
    struct queue_entry entry = queue_entry_of(s, slot);
    if (queue_insert(held, &entry) < 0) {
        job->key = old;
        return -1;
    }
    queue_remove(held, old);
    if (job->is_kept)
        limit_rekeyed(s, slot);
    replan_reach(s, key, job->is_lifted);
    return 0;
}

int open_rekey(sched_t *s, uint32_t slot, struct queue_key key)
{
    const struct lane *lane = lane_of(s, slot);
    uint32_t first = serve_first(lane);
    if (open_reserve(s, slot) < 0)
        return -1;
    open_remove(s, slot);
    s->jobs[slot].key = key;
    open_insert(s, slot, false); /* there is room for it */
    s->finder->moved(s, slot);
    tell_overtaken(s, lane, first);
    return 0;
}

/* Whether an open job of the lane, or (`all`) a holder of any, stands between two keys. */
static bool is_between(const sched_t *s, const struct lane *lane, struct queue_key low,
                       struct queue_key high, bool all)
{
    struct queue_entry entry;
    if (!all)
        return queue_after(lane->open, &low, &entry) && queue_before(entry.key, high);
    uint32_t slot = held_next(s, true, low);
    return slot != JOB_NONE && queue_before(s->jobs[slot].key, high);
}

int job_rekey(sched_t *s, uint32_t slot, struct queue_key key)
{
    struct job *job = &s->jobs[slot];
    struct queue_key old = job->key;
    bool raised = queue_before(key, old);
    if (job->state == SCHED_BLOCKED) {
        job->key = key;
        if (raised && array_raised(s, slot) < 0) {
            job->key = old;
            return -1;
        }
        if (raised && job->details->blocked & BLOCK_LIMIT)
            limit_ask_again(s, slot);
        class_order_changed(s, slot);
        return 0;
    }
    if (raised && fresh_add(s, slot) < 0)
        return -1;
    bool held = job->state == SCHED_RESERVED, kept = job->is_kept;
    if (held && (open_reserve(s, slot) < 0 || (kept && limit_reserve_candidate(s) < 0) ||
                 tell_reserve(s->queues) < 0))
        return -1;
    if ((held ? held_rekey(s, slot, key) : open_rekey(s, slot, key)) < 0)
        return -1;
    s->woken = true;
    if (!held) {
        tell_later(s, slot);
        if (!raised && job->details)
            array_lowered(s, slot);
        return 0;
    }
    const struct lane *lane = lane_of(s, slot);
    struct queue_key turn = key_turn(s, slot);
    bool gives = raised
                     ? queue_before(turn, old) && is_between(s, lane, turn, old, true)
                     : is_between(s, lane, old, key, false) || array_is_between(s, slot, old, key);
    if (s->queues->any_tails)
        judge_all(s->queues); /* whoever has passed it, or it has */
    if (!gives && !(kept && !raised && limit_is_between(s, lane, old, key)))
        return 0;
    held_to_open(s, slot, raised); /* there is room for it */
    if (kept)
        limit_make_candidate(s, slot); /* it takes its turn for the promise of its limit */
    s->swept = false;
    return 0;
}

static int due_reserve(sched_t *s)
{
    return array_grow((void **)&s->due_list, &s->cap_due, (size_t)s->due.n + 1,
                      sizeof(*s->due_list));
}

int held_insert(sched_t *s, uint32_t slot, int64_t at, int64_t booking)
{
    struct job *job = &s->jobs[slot];
    struct queue_entry entry = queue_entry_of(s, slot);
    entry.key = key_held(s, slot, 0);
    if (due_reserve(s) < 0 || heap_put(&s->due, slot, at, job->key.seq) < 0)
        return -1;
    if (queue_insert(held_of(s, slot), &entry) < 0) {
        heap_take(&s->due, slot);
        errno = ENOMEM;
        return -1;
    }
    open_remove(s, slot);
    job->key = entry.key;
    job->state = SCHED_RESERVED;
    job->is_to_look_again = false; /* that of the slot before, or of its old promise */
    job->at = at;
    job->booking = booking;
    held_seen(s, job);
    return 0;
}

int held_enter(sched_t *s, uint32_t slot)
{
    struct queue_entry entry = queue_entry_of(s, slot);
    if (queue_insert(held_of(s, slot), &entry) < 0)
        return -1;
    if (s->queues->shares) /* also one whose booking is lifted */
        shares_hold(s, slot, s->jobs[slot].booking, false);
    return 0;
}

int open_renew(sched_t *s, uint32_t slot)
{
    s->jobs[slot].is_placed = false;
    return fresh_add(s, slot);
}

int held_to_open(sched_t *s, uint32_t slot, bool fresh)
{
    struct job *job = &s->jobs[slot];
    int64_t held = job->is_claiming ? s->place->endless : job->ask.duration;
    struct queue_key as_held = job->key;
    job->ask.duration = job->is_claiming ? job->details->estimate : held;
    bool is_open = tell_reserve(s->queues) == 0 && open_insert(s, slot, fresh) == 0;
    struct queue_key as_open = job->key;
    job->ask.duration = held;
    if (!is_open)
        return -1;
    job->key = as_held;
    held_release(s, slot);
    job->key = as_open;
    s->pass.outranks_again |= s->jobs[slot].is_fresh && !s->jobs[slot].is_placed;
    tell_later(s, slot); /* whatever becomes of this pass */
    s->queues->takes_back |= s->jobs[slot].details && s->jobs[slot].details->is_promise_told;
    if (s->jobs[slot].details && array_is_full(s, slot))
        array_block(s, slot); /* without memory, when it is looked at */
    return 0;
}

int64_t lane_holds(const struct lane *lane)
{
    return (int64_t)(queue_size(lane->held) - lane->preempting);
}

uint32_t last_holder(const sched_t *s, const struct lane *lane)
{
    struct queue_entry entry;
    struct queue_cursor c;
    uint32_t last = JOB_NONE;
    if (lane->preempting == 0)
        return queue_last(lane->held, &entry) ? entry.item : JOB_NONE;
    for (bool any = queue_begin(lane->held, &c); any; any = queue_next(&c))
        if (!s->jobs[queue_item(&c)].is_preempting)
            last = queue_item(&c);
    return last;
}

enum step lane_take_place(sched_t *s, struct lane *lane)
{
    struct queue_entry first;
    bool waits = lane->is_returned && queue_first(lane->open, &first);
    bool has = waits && !lane->is_stopped && lane_holds(lane) < lane->depth;
    uint32_t last = waits && !has ? last_holder(s, lane) : JOB_NONE;
    bool takes = last != JOB_NONE && queue_before(first.key, s->jobs[last].key);
    bool turn = has || takes || (waits && !lane->is_stopped && lane->depth == 0);
    if ((takes && held_to_open(s, last, false) < 0) ||
        (turn && limit_take_behind(s, first.item) < 0))
        return STEP_FAILED;
    if (has || takes) {
        lane->has_taken = s->queues->any_taken = true;
        s->swept = false;
    }
    lane->is_returned = false;
    return STEP_BUSY;
}

enum step lane_keep_one(sched_t *s, struct lane *lane)
{
    struct queue_entry entry;
    bool all = lane->is_stopped || lane->is_given_up;
    if (all ? !queue_last(lane->held, &entry) && !queue_last(lane->kept, &entry)
            : lane_holds(lane) <= lane->depth) {
        lane->is_given_up = false;
        return STEP_BUSY;
    }
    uint32_t last = all ? entry.item : last_holder(s, lane);
    if (held_to_open(s, last, false) < 0)
        return STEP_FAILED;
    s->swept = false;
    return STEP_DONE;
}

int lane_keep(sched_t *s, struct lane *lane)
{
    enum step step = STEP_DONE;
    while (step == STEP_DONE)
        step = lane_keep_one(s, lane);
    return step == STEP_FAILED ? -1 : 0;
}

void note_freed(sched_t *s, int64_t from, int64_t until)
{
    from = from > s->now ? from : s->now;
    if (until > from)
        freed_add(&s->place->freed, from, until);
}

void job_release(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    int64_t until = booked_until(job);
    controllers_released(s, slot);
    s->place->ops->release(s->place, job->booking);
    job->is_lifted = false;
    s->booked++;
    note_freed(s, job->at, until);
}

void running_released(sched_t *s, uint32_t slot)
{
    s->running--;
    s->swept = false;
    s->woken = true;
    if (s->jobs[slot].ask.duration >=
        s->place->endless) /* nobody could be promised a time behind it */
        displaced_return(s);
}

void held_release(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    bool is_endless = job->ask.duration >= s->place->endless && !job->is_claiming;
    queue_remove(held_of(s, slot), job->key);
    heap_take(&s->due, slot);
    job_release(s, slot);
    displaced_end(s, slot);
    if (is_endless)
        displaced_return(s); /* nobody could be promised a time behind it */
}
