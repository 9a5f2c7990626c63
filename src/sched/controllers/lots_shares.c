/* What leaves queues, and what a job asks for, as far as shares go. */
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/controllers/lots_priv.h"
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
    if (!lots->gone)
        return;
    const struct share_tree *tree = s->queues->shares->tree;
    uint32_t dimensions = share_dimensions(tree);
    for (uint32_t i = lots_leaf(s, slot); i != SHARE_NO_NODE; i = share_parent(tree, i))
        for (uint32_t d = 0; d < dimensions && i < lots->n_nodes; d++)
            lots->gone[(size_t)i * dimensions + d] += sign * amount[d];
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

/* What counts is what runs and goes on, and what jobs will have whose victims are being stopped: not what is promised
 * for later.
 */
static void note_all_gone(sched_t *s, struct lots *lots)
{
    const struct shares *shares = s->queues->shares;
    const struct queues *n = s->queues;
    uint32_t dimensions = share_dimensions(shares->tree);
    struct share_view view;
    for (uint32_t i = 0; i < lots->n_nodes; i++) {
        share_look(shares->tree, i, &view);
        for (uint32_t d = 0; d < dimensions; d++)
            lots->gone[(size_t)i * dimensions + d] = view.received[d] - view.running[d];
    }
    for (size_t i = 0; i < n->n_stopping; i++)
        lots_note_gone(s, lots, n->stopping[i], shares->job[n->stopping[i]].amount, 1);
    for (uint32_t i = 0; i < s->due.n; i++)
        if (s->jobs[s->due.v[i].item].is_preempting)
            lots_note_gone(s, lots, s->due.v[i].item, shares->job[s->due.v[i].item].amount, -1);
}

int lots_count_gone(sched_t *s, struct lots *lots, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    unsigned preempts = s->queues->setup->queue[s->jobs[slot].details->queue].preempts;
    lots->n_nodes = preempts & SCHED_PREEMPTS_RICHER ? share_nodes(shares->tree) : shares->n_fixed;
    lots->gone =
        calloc((size_t)lots->n_nodes * share_dimensions(shares->tree) + 1, sizeof(*lots->gone));
    if (!lots->gone || stopping_list(s) < 0)
        return -1;
    note_all_gone(s, lots);
    return 0;
}

/* Whether a queue gives anything, however little, of a resource that is asked for. If not, it gives no lot. */
static bool gives_any(const sched_t *s, const struct lots *lots, uint32_t giver)
{
    struct share_tree *tree = s->queues->shares->tree;
    bool gives = false;
    for (uint32_t d = 0; d < share_dimensions(tree) && !gives; d++) {
        int64_t one[SHARE_DIMENSIONS_MAX] = {0};
        one[d] = 1;
        gives = lots->amount[d] > 0 &&
                share_may_reclaim(tree, lots->node, lots->amount, giver, one, lots->gone);
    }
    return gives;
}

bool lots_none_is_let(const sched_t *s, const struct lots *lots)
{
    const struct shares *shares = s->queues->shares;
    unsigned preempts = s->queues->setup->queue[s->jobs[lots->slot].details->queue].preempts;
    bool any = preempts != SCHED_PREEMPTS_BORROWERS;
    for (uint32_t i = 0; i < s->n_lanes && !any; i++)
        any =
            gives_any(s, lots, shares->node[setup_node_of_queue(shares->setup, s->lanes[i].queue)]);
    return !any;
}
