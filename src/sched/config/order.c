/* The orders that berth/sched.h has numbers for, and the keys that jobs get. */
#include "sched/config/order.h"

#include "berth/sched_config.h"
#include "sched/config/setup_classes.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

static int64_t by_submission(const struct order_job *job)
{
    (void)job;
    return 0;
}

static int64_t by_estimate(const struct order_job *job)
{
    return job->duration;
}

int64_t order_priority(const struct order_job *job)
{
    return ~job->priority; /* higher first, without overflow */
}

order_rank *order_numbered(enum sched_order order)
{
    switch (order) {
    case SCHED_ORDER_SHORTEST:
        return by_estimate;
    case SCHED_ORDER_PRIORITY:
        return order_priority;
    case SCHED_ORDER_SUBMIT:
        break;
    }
    return by_submission;
}

/* Priorities of queues and ranks of their jobs share one number: each priority has a band of ranks. */
static int64_t rank_in_band(int64_t of_queue, int64_t rank)
{
    const int64_t half = SCHED_PRIORITY_MAX + 1;
    rank = rank < -half ? -half : rank;
    rank = rank > SCHED_PRIORITY_MAX ? SCHED_PRIORITY_MAX : rank;
    return rank - of_queue * half * 2;
}

struct queue_key level_last(struct queue_key key)
{
    const int64_t half = SCHED_PRIORITY_MAX + 1, width = half * 2;
    int64_t from = (key.rank + half) % width;
    from += from < 0 ? width : 0;
    return (struct queue_key){key.rank - from + width - 1, UINT64_MAX, UINT32_MAX};
}

/* Of equal priorities, in a queue with classes: the array first of which least is held, in levels: beyond 256 to within a
 * hundredth, so that a level is a small number. And of these, if it says so, the job that is expected to take longest, which
 * is no part of the rank (brevity_of).
 */
static int64_t level_of(int64_t amount)
{
    int64_t level = 0;
    for (; amount >= 256; amount -= amount / 2)
        level += 128;
    level += amount;
    return level < CLASSES_LEVELS ? level : CLASSES_LEVELS - 1;
}

/* The classes by which jobs of a queue go, or NULL. */
static const struct setup_classes *goes_by_held(const struct setup *setup, uint32_t queue)
{
    return setup->is_named && setup->queue[queue].order == order_priority
               ? setup_classes_of(setup, setup->queue[queue].parent)
               : NULL;
}

struct priorities order_priorities(const struct setup *setup)
{
    int64_t ranks = setup->ranks_of_priority;
    int64_t room = (setup->has_gangs ? SCHED_PRIORITY_MAX / 2 : SCHED_PRIORITY_MAX) / ranks;
    if (setup->has_deadlines)
        room = setup->has_gangs ? GANG_DEADLINE_PRIORITIES / 2 : DEADLINE_PRIORITIES / 2;
    else if (ranks == 1)
        return (struct priorities){-SCHED_PRIORITY_MAX, SCHED_PRIORITY_MAX};
    return (struct priorities){-room, room - 1};
}

bool order_takes(const struct setup *setup, uint32_t queue, int64_t priority)
{
    struct priorities room = order_priorities(setup);
    return !setup->is_named || setup->queue[queue].order != order_priority ||
           (priority >= room.least && priority <= room.most);
}

/* Room for the levels of each priority; one that a configuration of before had room for counts as the nearest one. */
static int64_t with_levels(const struct setup *setup, int64_t rank)
{
    struct priorities room =
        order_priorities(setup); /* of ranks as well, which are -1 - priority */
    if (setup->ranks_of_priority == 1)
        return rank;
    rank = rank < room.least ? room.least : rank;
    return (rank > room.most ? room.most : rank) * setup->ranks_of_priority;
}

/* Where the longest goes first: a job that is expected to take a second longer has a smaller one, from 1 on, up to the
 * 136 years that there are numbers for; one of unknown end has the largest. Elsewhere 0.
 */
static uint32_t brevity_of(const sched_t *s, uint32_t slot)
{
    const int64_t most = UINT32_MAX - 2;
    if (!key_has_length(s, slot))
        return 0;
    int64_t estimate = s->jobs[slot].details->estimate;
    if (estimate >= s->place->endless)
        return UINT32_MAX;
    int64_t seconds = estimate / s->queues->setup->second;
    return (uint32_t)(most - (seconds < most ? seconds : most) + 1);
}

int64_t job_deadline(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    int64_t at = job->details->deadline;
    int64_t most = s->queues->setup->queue[job->details->queue].sla_waiting_time;
    if (at == 0 && (most == SCHED_UNLIMITED || __builtin_add_overflow(job->submitted, most, &at)))
        at = SCHED_UNLIMITED;
    return at;
}

int64_t job_deadline_minute(const sched_t *s, uint32_t slot)
{
    const struct setup *setup = s->queues->setup;
    const struct setup_queue *queue = &setup->queue[s->jobs[slot].details->queue];
    return queue->deadlines == DEADLINES_NONE
               ? INT64_MAX
               : deadline_minute(job_deadline(s, slot), setup->second);
}

/* The rank by deadline; where queues go by gangs, with room for that. */
static int64_t rank_by_deadline(const sched_t *s, uint32_t slot, const struct setup_queue *queue,
                                int64_t by_priority, bool behind)
{
    int64_t minute = job_deadline_minute(s, slot);
    return s->queues->setup->has_gangs
               ? gang_deadline_rank(queue->deadlines, queue->gangs, by_priority, minute, behind)
               : deadline_rank(queue->deadlines, by_priority, minute);
}

/* The rank of a job by its priority and what else its queue goes by; `behind`: its gang has its min. Where some queue has
 * deadlines, gangs or classes, there is room for these in the ranks of others too, so that priorities are compared
 * everywhere. Jobs of classes have none of the former, and stand with those of other queues that have none.
 */
static int64_t rank_of(const sched_t *s, uint32_t slot, const struct setup_queue *queue,
                       int64_t by_priority, bool behind)
{
    const struct setup *setup = s->queues->setup;
    const struct setup_classes *classes = setup_classes_of(setup, queue->parent);
    int64_t rank = with_levels(setup, by_priority);
    if (setup->has_deadlines) {
        rank = rank_by_deadline(s, slot, queue, by_priority, behind);
        rank -= classes ? setup->ranks_of_priority - 1 : 0;
    } else if (behind && queue->gangs != GANGS_FIRST) {
        rank += setup->ranks_of_priority / 2;
    }
    if (setup->has_gangs)
        rank = gang_half(rank, behind && queue->gangs == GANGS_FIRST);
    return rank;
}

bool job_goes_behind(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d->is_behind && s->queues->setup->queue[d->queue].gangs != GANGS_NONE;
}

/* The rank of a job's turn behind all reservations of its priority: the rank of its key, but where queues go by
 * deadlines or gangs, or have classes.
 */
static int64_t turn_of_priority(const sched_t *s, uint32_t slot)
{
    const struct setup *setup = s->queues->setup;
    const struct details *d = s->jobs[slot].details;
    const struct setup_queue *queue = &setup->queue[d->queue];
    int64_t rank;
    if (!setup->is_named || queue->order != order_priority)
        return s->jobs[slot].key.rank;
    if (!setup->has_deadlines)
        rank = with_levels(setup, ~d->priority) + setup->ranks_of_priority - 1;
    else
        rank = setup->has_gangs ? gang_deadline_turn(~d->priority) : deadline_turn(~d->priority);
    return rank_in_band(queue->priority, setup->has_gangs ? gang_half(rank, false) : rank);
}

struct queue_key key_turn(const sched_t *s, uint32_t slot)
{
    struct queue_key key = s->jobs[slot].key;
    if (!s->queues->shares || s->jobs[slot].details->displaced >= 0)
        return key;
    key.rank = shares_by_priority(s, slot) ? turn_of_priority(s, slot) : level_last(key).rank;
    key.seq |= TURN_OF_NEW;
    key.brevity = UINT32_MAX;
    return key;
}

/* A job's key, were that its priority; `behind`: its gang has its min, and its queue goes by that. */
static bool key_with(const sched_t *s, uint32_t slot, int64_t priority, bool behind,
                     struct queue_key *key)
{
    const struct job *job = &s->jobs[slot];
    struct order_job known = {.submitted = job->submitted,
                              .duration = job->ask.duration,
                              .priority = priority,
                              .second = s->queues->setup->second};
    const struct setup *setup = s->queues->setup;
    const struct setup_queue *queue = &setup->queue[job->details ? job->details->queue : 0];
    key->seq = job->key.seq;
    key->brevity = brevity_of(s, slot);
    if (!setup->is_named) {
        key->rank = queue->order(&known);
        return true;
    }
    if (priority > SCHED_PRIORITY_MAX || priority < -SCHED_PRIORITY_MAX)
        return false;
    int64_t rank = queue->order(&known);
    if (queue->order == order_priority)
        rank = rank_of(s, slot, queue, rank, behind);
    key->rank = rank_in_band(queue->priority, rank);
    return true;
}

struct queue_key key_held(const sched_t *s, uint32_t slot, int64_t units)
{
    struct queue_key key;
    const struct details *d = s->jobs[slot].details;
    const struct setup_classes *classes = d ? goes_by_held(s->queues->setup, d->queue) : NULL;
    bool is_behind = d && job_goes_behind(s, slot);
    if ((!classes && !is_behind) || !key_with(s, slot, d->priority, false, &key))
        return s->jobs[slot].key;
    if (!classes)
        return key;
    key.rank += level_of(units);
    return key;
}

bool key_has_length(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    const struct setup_classes *classes = d ? goes_by_held(s->queues->setup, d->queue) : NULL;
    return classes && classes->longest_first;
}

bool key_of(const sched_t *s, uint32_t slot, int64_t priority, struct queue_key *key)
{
    bool is_behind = s->jobs[slot].details && job_goes_behind(s, slot);
    return key_with(s, slot, priority, is_behind, key);
}
