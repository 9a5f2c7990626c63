/* What has been decided of jobs: how each was started, and of each queue how many jobs went which way. */
#include "berth/sched_query.h"
#include "sched/controllers/rows.h"
#include "sched/queues.h"

static struct sched_queue_stats *stats_of(const sched_t *s, uint32_t slot)
{
    return &s->queues->stats[s->jobs[slot].details->queue];
}

static void entered(sched_t *s, uint32_t slot)
{
    stats_of(s, slot)->submitted += members_of(s, slot);
}

static void record_how_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    s->jobs[slot].details->how = how;
    stats_of(s, slot)->started++;
}

static void record_how_ended(sched_t *s, uint32_t slot, enum job_end end)
{
    struct sched_queue_stats *stats = stats_of(s, slot);
    if (end == JOB_REJECTED)
        stats->rejected += members_of(s, slot);
    else if (end == JOB_CANCELLED)
        stats->cancelled += members_of(s, slot);
    else
        stats->finished++;
}

const struct controller history_controller = {
    .name = "history",
    .entered = entered,
    .started = record_how_started,
    .ended = record_how_ended,
};
