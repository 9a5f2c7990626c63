/* For which open jobs of a group room was to be made in vain.
 *
 * What was in vain for one is so for all that last as long or longer. If it was a promise that kept the job, in whose way
 * it might have been if it took its whole limit, that holds only for those whose limit is as long or longer. One without a
 * limit may be gone sooner than any of these, as blocks stop it (controllers/clear.c): only what was in vain for another such
 * one is so for it, but where there are no blocks.
 */
#include "base/bounds.h"
#include "berth/sched_config.h"
#include "sched/controllers/reach.h"
#include "sched/queues.h"
#include "sched/waiting/job_group.h"

static bool is_known_vain(const sched_t *s, const struct job_group *g, enum room_way way)
{
    return tried_is_now(s, &g->vain[way].tried);
}

/* Whether what was in vain because of a limit (0: because of none) is so for a job with another one, of the same duration. */
static bool holds_for(const sched_t *s, int64_t limit, int64_t other)
{
    bool is_stopped = other == SCHED_UNLIMITED && s->queues->blocks_set;
    return is_stopped ? limit == 0 || limit == SCHED_UNLIMITED : limit <= other;
}

/* The duration from which on no room can be made for open jobs of a group. */
static int64_t vain_from(const sched_t *s, const struct job_group *g, enum room_way way)
{
    int64_t limit = g->vain[way].limit;
    bool of_all = is_known_vain(s, g, way) && holds_for(s, limit, g->least_limit) &&
                  (!g->any_unlimited || holds_for(s, limit, SCHED_UNLIMITED));
    return of_all ? g->vain[way].from : INT64_MAX;
}

/* Whether what users have counts for whom room is made: what was in vain for one says nothing of others. */
static bool goes_by_user(const sched_t *s, uint32_t queue)
{
    return (s->queues->setup->queue[queue].any_preempts & SCHED_PREEMPTS_RICHER) != 0;
}

bool job_group_is_vain(const sched_t *s, uint32_t slot, enum room_way way)
{
    const struct job_group *g = job_group_of(s, slot);
    const struct job *job = &s->jobs[slot];
    return is_known_vain(s, g, way) && job->ask.duration >= g->vain[way].from &&
           holds_for(s, g->vain[way].limit, job->details->limit) &&
           (way != ROOM_BY_RECLAIM || (job->details->priority <= g->vain[way].priority &&
                                       !goes_by_user(s, s->jobs[slot].details->queue)));
}

void job_group_in_vain(const sched_t *s, uint32_t slot, enum room_way way, bool by_limit)
{
    struct job_group *g = job_group_of(s, slot);
    const struct job *job = &s->jobs[slot];
    int64_t limit = by_limit ? job->details->limit : 0;
    bool says_more = is_known_vain(s, g, way) && way != ROOM_BY_RECLAIM &&
                     g->vain[way].from <= job->ask.duration &&
                     holds_for(s, g->vain[way].limit, limit);
    if (says_more)
        return;
    g->vain[way].from = job->ask.duration;
    g->vain[way].limit = limit;
    g->vain[way].priority = job->details->priority;
    g->vain[way].tried = tried_now(s);
}

/* Those who are being stopped are the same for all jobs, and where nothing has been given back since there is no more room. */
bool job_kind_is_left_little(const sched_t *s, uint32_t slot)
{
    const struct queues *n = s->queues;
    const struct job_kind *k = job_kind_of(s, slot);
    return tried_is_now(s, &k->leaves_tried) && !n->stopping_is_stale &&
           k->leaves_lists == n->stopping_lists && s->jobs[slot].ask.duration >= k->leaves_little;
}

void job_kind_left_little(const sched_t *s, uint32_t slot)
{
    struct job_kind *k = job_kind_of(s, slot);
    if (!LITTLE_KEPT || s->queues->stopping_is_stale || job_kind_is_left_little(s, slot))
        return;
    k->leaves_little = s->jobs[slot].ask.duration;
    k->leaves_tried = tried_now(s);
    k->leaves_lists = s->queues->stopping_lists;
}

int64_t job_group_made_within(sched_t *s, const struct lane *lane, const struct job_group *g,
                              bool in_turn)
{
    const struct setup_queue *queue = &s->queues->setup->queue[lane->queue];
    if (!lane->makes_room)
        return 0;
    bool preempts = queue->preemptible == SCHED_NOT_PREEMPTIBLE;
    int64_t preempted = preempts ? vain_from(s, g, ROOM_BY_PREEMPTION) - 1 : 0;
    int64_t lent = lane->is_rebalanced ? vain_from(s, g, ROOM_BY_REBALANCING) - 1 : 0;
    int64_t made = lent > preempted ? lent : preempted;
    if (queue->any_preempts != 0 && !in_turn)
        return INT64_MAX - 1;
    if (queue->any_preempts == 0 || reach_is_nothing(s, g->lane, g->class))
        return made;
    struct queue_entry first;
    bool is_less = !goes_by_user(s, lane->queue) && g->open && queue_first(g->open, &first) &&
                   s->jobs[first.item].details->priority <= g->vain[ROOM_BY_RECLAIM].priority;
    int64_t taken = is_less ? vain_from(s, g, ROOM_BY_RECLAIM) - 1 : INT64_MAX - 1;
    return taken > made ? taken : made;
}

void job_group_note_limit(const sched_t *s, uint32_t slot)
{
    struct job_group *g = job_group_of(s, slot);
    if (s->jobs[slot].details->limit < g->least_limit)
        g->least_limit = s->jobs[slot].details->limit;
    g->any_unlimited |= s->jobs[slot].details->limit == SCHED_UNLIMITED;
}
