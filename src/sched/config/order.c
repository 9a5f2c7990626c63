/* The orders that berth/sched.h has numbers for, and the keys that jobs get. */
#include "sched/config/order.h"

#include "berth/sched_config.h"
#include "sched/queues.h"

int64_t order_submit(const struct order_job *job)
{
    (void)job;
    return 0;
}

int64_t order_shortest(const struct order_job *job)
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
        return order_shortest;
    case SCHED_ORDER_PRIORITY:
        return order_priority;
    case SCHED_ORDER_SUBMIT:
        break;
    }
    return order_submit;
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
    return (struct queue_key){key.rank - from + width - 1, UINT64_MAX};
}

bool key_of(const sched_t *s, uint32_t slot, int64_t priority, struct queue_key *key)
{
    const struct job *job = &s->jobs[slot];
    struct order_job known = {.submitted = job->submitted,
                              .duration = job->ask.duration,
                              .priority = priority,
                              .second = s->queues->setup->second};
    const struct setup *setup = s->queues->setup;
    const struct setup_queue *queue = &setup->queue[job->details ? job->details->queue : 0];
    key->seq = job->key.seq;
    if (!setup->is_named) {
        key->rank = queue->order(&known);
        return true;
    }
    if (priority > SCHED_PRIORITY_MAX || priority < -SCHED_PRIORITY_MAX)
        return false;
    key->rank = rank_in_band(queue->priority, queue->order(&known));
    return true;
}
