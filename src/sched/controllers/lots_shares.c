/* What leaves queues, and what a job asks for, as far as shares go. */
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/controllers/lots_priv.h"
#include "sched/controllers/reach.h"
#include "sched/waiting/shares.h"

uint32_t lots_node(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares->node[setup_node_of_queue(shares->setup, lane_of(s, slot)->queue)];
}

uint32_t lots_leaf(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares->leaf[shares->job[slot].leaf].node;
}

void lots_note_gone(const sched_t *s, struct lots *lots, uint32_t slot, const int64_t *amount,
                    int64_t sign)
{
    if (lots->gone)
        reach_note_gone(s, lots->gone, lots->n_nodes, slot, amount, sign);
}

bool lots_may_be_of(const sched_t *s, const struct lots *lots, uint32_t lane)
{
    const struct shares *shares = s->queues->shares;
    uint32_t giver = shares->node[setup_node_of_queue(shares->setup, s->lanes[lane].queue)];
    return lane == s->jobs[lots->slot].lane ||
           share_may_give(shares->tree, lots->node, lots->amount, giver, lots->gone);
}

void lots_measure(const sched_t *s, struct lots *lots, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct share_of_job *job = &shares->job[slot];
    struct share_sum sum;
    shares_together(s, slot, &sum);
    lots->node = lots_node(s, slot);
    lots->leaf = lots_leaf(s, slot);
    for (uint32_t d = 0; d < shares->setup->shares.n_resources; d++)
        lots->amount[d] = job->state == SHARE_WAITING ? sum.amount[d] : job->amount[d];
}

int lots_count_gone(sched_t *s, struct lots *lots, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    unsigned preempts = s->queues->setup->queue[s->jobs[slot].details->queue].preempts;
    lots->n_nodes = preempts & SCHED_PREEMPTS_RICHER ? share_nodes(shares->tree) : shares->n_fixed;
    lots->gone =
        calloc((size_t)lots->n_nodes * share_dimensions(shares->tree) + 1, sizeof(*lots->gone));
    return lots->gone ? reach_count_gone(s, lots->gone, lots->n_nodes) : -1;
}

bool lots_are_none(sched_t *s, uint32_t slot)
{
    struct lots lots = {.slot = slot};
    if (!s->queues->shares)
        return false;
    lots_measure(s, &lots, slot);
    return lots_none_is_let(s, &lots) && s->queues->n_stopping == 0;
}

bool lots_none_is_let(sched_t *s, const struct lots *lots)
{
    const struct job *job = &s->jobs[lots->slot];
    unsigned preempts = s->queues->setup->queue[job->details->queue].preempts;
    return preempts == SCHED_PREEMPTS_BORROWERS && reach_is_short(s, job->lane, lots->amount);
}
