/* Jobs that go before holders of reservations.
 *
 * A reservation is kept, whoever waits. But a job that has come since, that was raised or released, and
 * that goes before the holder in the queue's order, is not to wait for it. Such jobs and the holders behind
 * the first of them are looked at in queue order, all these reservations taken out of the calendars: the
 * job starts, or is promised a time where its lane has one to give; a holder keeps its reservation if it
 * still fits, and else gets another. A lane with too many holders takes the last one's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sched/queues.h"
#include "sched/waiting/finder.h"

/* Whether a lane would promise this open job a time: it has one to give, or a holder behind the job. */
static bool may_hold(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    uint32_t last = last_holder(s, lane);
    if (lane->is_stopped || lane->depth == 0)
        return false;
    if (lane_holds(lane) < lane->depth)
        return true;
    return last != JOB_NONE && queue_before(s->jobs[slot].key, s->jobs[last].key);
}

/* The key of the last holder of all. Somebody holds. */
static struct queue_key last_key(const sched_t *s)
{
    struct queue_key last = {INT64_MIN, 0};
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        uint32_t slot = last_holder(s, &s->lanes[i]);
        if (slot != JOB_NONE && queue_before(last, s->jobs[slot].key))
            last = s->jobs[slot].key;
    }
    return last;
}

/* Whether a job has come and goes before the last holder. */
static bool is_before_holders(const sched_t *s, uint32_t slot, struct queue_key last)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_WAITING && !job->is_placed && queue_before(job->key, last) &&
           !lane_of(s, slot)->is_stopped;
}

/* Whether the lane of such a job would let it now. */
static bool is_its_turn(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    struct queue_entry first;
    return is_considered(lane, s->jobs[slot].key) &&
           (lane->depth > 0 || (queue_first(lane->open, &first) && first.item == slot));
}

bool outrank_first(const sched_t *s, struct queue_key *key)
{
    struct queue_key last = last_key(s);
    bool any = false;
    for (size_t i = 0; i < s->n_fresh; i++) {
        uint32_t slot = s->fresh[i];
        if (!is_before_holders(s, slot, last) || !is_its_turn(s, slot) ||
            (any && !queue_before(s->jobs[slot].key, *key)))
            continue;
        *key = s->jobs[slot].key;
        any = true;
    }
    return any;
}

/* The fresh jobs that are still open and go before some holder, in queue order, from the first one whose
 * turn it is: that of others may come when that one has started. *n of them, or NULL with *n > 0 and ENOMEM.
 */
static struct due *collect(sched_t *s, size_t *n)
{
    struct queue_key last = last_key(s);
    struct due *list = NULL;
    *n = 0;
    for (size_t i = 0; i < s->n_fresh; i++)
        *n += is_before_holders(s, s->fresh[i], last);
    if (*n > 0)
        list = reallocarray(NULL, *n, sizeof(*list));
    for (size_t i = 0, k = 0; list && i < s->n_fresh; i++)
        if (is_before_holders(s, s->fresh[i], last))
            list[k++] = (struct due){s->jobs[s->fresh[i]].key, s->fresh[i]};
    if (!list)
        return NULL;
    qsort(list, *n, sizeof(*list), due_compare);
    size_t skipped = 0;
    while (skipped < *n && !is_its_turn(s, list[skipped].slot))
        skipped++;
    *n -= skipped;
    memmove(list, list + skipped, *n * sizeof(*list));
    return list;
}

/* A job that goes before holders: it starts or is promised a time. */
static enum step place_fresh(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    bool waits = s->jobs[slot].state == SCHED_WAITING;
    if (waits && !is_its_turn(s, slot))
        return STEP_DONE;
    enum step step = waits ? start_open(s, slot) : STEP_DONE;
    if (step == STEP_BUSY && may_hold(s, slot))
        step = promise(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED; /* it is still to be looked at */
    s->jobs[slot].is_placed = true;
    return lane_keep(s, lane) < 0 ? STEP_FAILED : STEP_DONE;
}

/* The holders behind a key give their reservations out of the calendars. Those for whom jobs were preempted
 * keep them: what these held is theirs, also where the preempted ones wait again before them.
 */
static void lift_behind(sched_t *s, struct queue_key key)
{
    for (uint32_t slot = held_next(s, true, key); slot != JOB_NONE;
         slot = held_next(s, true, s->jobs[slot].key)) {
        if (!s->jobs[slot].is_preempting)
            holder_lift(s, slot);
    }
}

/* Look at those jobs and all lifted holders in queue order. Without memory the rest stays lifted, and the
 * next pass goes on with it.
 */
static enum step place_all(sched_t *s, const struct due *list, size_t n)
{
    enum step step = STEP_DONE;
    uint32_t holder = held_next(s, false, (struct queue_key){0, 0});
    size_t i = 0;
    while ((i < n || holder != JOB_NONE) && step != STEP_FAILED) {
        bool fresh =
            i < n && (holder == JOB_NONE || queue_before(list[i].key, s->jobs[holder].key));
        uint32_t slot = fresh ? list[i++].slot : holder;
        struct queue_key at = s->jobs[slot].key;
        s->pass.budget -= s->pass.budget > 0;
        if (fresh)
            step = place_fresh(s, slot);
        else if (s->jobs[slot].is_lifted)
            step = holder_reseat(s, slot, true);
        holder = held_next(s, true, at);
    }
    return step;
}

enum step outrank(sched_t *s)
{
    size_t n = 0;
    struct due *list = NULL;
    if (s->due.n == 0 || (s->n_fresh == 0 && !s->is_torn)) {
        s->is_torn = false;
        return STEP_BUSY;
    }
    list = collect(s, &n);
    if (n == 0 && !s->is_torn) {
        free(list);
        return STEP_BUSY;
    }
    if (n > 0 && !list)
        return STEP_FAILED;
    s->place->ops->try(s->place, true);
    if (n > 0)
        lift_behind(s, list[0].key);
    s->finder->wake(s, true); /* with these reservations gone more may fit than is known; */
    enum step step = place_all(s, list, n);
    s->finder->wake(s, true); /* and less once they are back */
    s->place->ops->try(s->place, false);
    s->is_torn = step == STEP_FAILED;
    if (step != STEP_FAILED && n > 0)
        repair_done_behind(s, list[0].key);
    s->swept = false;
    s->woken = true;
    free(list);
    return step;
}
