#include "sched/waiting/class_order.h"

#include "sched/controllers/limiter.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

/* Whether a job is of an array in a queue with classes. */
static bool stands_by_held(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    uint32_t leaf =
        shares->job[slot].leaf; /* another's yet, if it is new here: then it is not open */
    return s->jobs[slot].details->of && leaf < shares->names.n &&
           shares->leaf[leaf].class != SETUP_NONE;
}

void class_order_changed(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    bool is_known = shares && slot < shares->cap_jobs && slot < shares->cap_moved_jobs;
    if (!is_known || shares->job[slot].is_moved || !stands_by_held(s, slot))
        return;
    shares->job[slot].is_moved = true;
    shares->moved_jobs[shares->n_moved_jobs++] = slot; /* there is room for all slots */
}

/* Workers that are held of an entry's array. A member that waits by itself has its own turns. */
static int64_t held_of_array(const sched_t *s, uint32_t slot)
{
    if (!is_entry(s, slot))
        return 0;
    const struct members *m = s->jobs[slot].details->of;
    int64_t one = shares_units_of_one(s, slot), held = m->holding + m->aside;
    return one > 0 && held > CLASS_UNITS_MAX / one ? CLASS_UNITS_MAX : held * one;
}

/* Whether it stands in the order by its key: it is open, or a limit that keeps it chooses by that. */
static bool is_in_order(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return (job->state == SCHED_WAITING && s->queues->shares->job[slot].state == SHARE_WAITING) ||
           (job->state == SCHED_BLOCKED && job->details->blocked & BLOCK_LIMIT);
}

/* Returns 0, or -1 with ENOMEM. */
static int give_key(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct queue_key old = job->key, key = key_held(s, slot, held_of_array(s, slot));
    bool is_open = job->state == SCHED_WAITING;
    if (!is_open)
        job->key = key;
    else if (key.rank != old.rank && open_rekey(s, slot, key) < 0)
        return -1;
    else
        outrank_rekeyed(s, slot);
    if (!is_open && queue_before(key, old))
        limit_ask_again(s, slot); /* it may go before those that the limit has promised a start */
    return 0;
}

int class_order_refresh(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    while (shares && shares->n_moved_jobs > 0) {
        uint32_t slot = shares->moved_jobs[shares->n_moved_jobs - 1];
        if (is_in_order(s, slot) && stands_by_held(s, slot) && give_key(s, slot) < 0)
            return -1;
        shares->job[slot].is_moved = false;
        shares->n_moved_jobs--;
    }
    return 0;
}

bool class_order_rises(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares && shares->job[slot].is_moved && is_in_order(s, slot) &&
           stands_by_held(s, slot) &&
           queue_before(key_held(s, slot, held_of_array(s, slot)), s->jobs[slot].key);
}

bool class_order_check(const sched_t *s, uint32_t slot)
{
    return !is_in_order(s, slot) || !stands_by_held(s, slot) ||
           s->queues->shares->job[slot].is_moved ||
           key_held(s, slot, held_of_array(s, slot)).rank == s->jobs[slot].key.rank;
}
