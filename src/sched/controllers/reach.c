#include "sched/controllers/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "berth/sched_config.h"
#include "sched/controllers/victims.h"
#include "sched/queues.h"
#include "sched/waiting/shares.h"

/* A node of the setup in the tree of shares, by resource. */
struct reach_node {
    uint32_t parent;
    bool is_queue;
    int64_t left[SHARE_DIMENSIONS_MAX]; /* of what it deserves beside what it keeps */
    bool gives[SHARE_DIMENSIONS_MAX]; /* it, and some queue at or below it with all between them */
    uint32_t givers[SHARE_DIMENSIONS_MAX]; /* of its children */
};

struct reach {
    bool is_known; /* as of these: */
    uint64_t changes, stopping_lists;
    int64_t *gone; /* by node and resource */
    struct reach_node *node;
    int64_t (*most)[SHARE_DIMENSIONS_MAX]; /* by lane: its reach */
};

void reach_destroy(struct reach *reach)
{
    if (!reach)
        return;
    free(reach->gone);
    free(reach->node);
    free(reach->most);
    free(reach);
}

static struct reach *reach_new(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    struct reach *reach = calloc(1, sizeof(*reach));
    if (!reach)
        return NULL;
    reach->gone = calloc((size_t)shares->n_fixed * share_dimensions(shares->tree), sizeof(int64_t));
    reach->node = calloc(shares->n_fixed, sizeof(*reach->node));
    reach->most = calloc(s->n_lanes + (size_t)1, sizeof(*reach->most));
    if (reach->gone && reach->node && reach->most)
        return reach;
    reach_destroy(reach);
    errno = ENOMEM;
    return NULL;
}

/* ---- What is about to leave ---- */

void reach_note_gone(const sched_t *s, int64_t *gone, uint32_t n, uint32_t slot,
                     const int64_t *amount, int64_t sign)
{
    const struct shares *shares = s->queues->shares;
    uint32_t dimensions = share_dimensions(shares->tree);
    uint32_t leaf = shares->leaf[shares->job[slot].leaf].node;
    for (uint32_t i = leaf; i != SHARE_NO_NODE; i = share_parent(shares->tree, i))
        for (uint32_t d = 0; d < dimensions && i < n; d++)
            gone[(size_t)i * dimensions + d] += sign * amount[d];
}

static void note_all_gone(const sched_t *s, int64_t *gone, uint32_t n)
{
    const struct shares *shares = s->queues->shares;
    const struct queues *queues = s->queues;
    uint32_t dimensions = share_dimensions(shares->tree);
    struct share_view view;
    for (uint32_t i = 0; i < n; i++) {
        share_look(shares->tree, i, &view);
        for (uint32_t d = 0; d < dimensions; d++)
            gone[(size_t)i * dimensions + d] = view.received[d] - view.running[d];
    }
    for (size_t i = 0; i < queues->n_stopping; i++)
        reach_note_gone(s, gone, n, queues->stopping[i], shares->job[queues->stopping[i]].amount,
                        1);
    for (uint32_t i = 0; i < s->due.n; i++)
        if (s->jobs[s->due.v[i].item].is_preempting)
            reach_note_gone(s, gone, n, s->due.v[i].item, shares->job[s->due.v[i].item].amount, -1);
}

/* ---- The reach of each queue ---- */

static uint32_t lane_node(const sched_t *s, uint32_t lane)
{
    const struct shares *shares = s->queues->shares;
    return shares->node[setup_node_of_queue(shares->setup, s->lanes[lane].queue)];
}

/* What each node has left, and which have more than they deserve. */
static void look_at_nodes(sched_t *s, struct reach *reach)
{
    const struct shares *shares = s->queues->shares;
    uint32_t dimensions = share_dimensions(shares->tree);
    struct share_view view;
    for (uint32_t i = 0; i < shares->n_fixed; i++) {
        share_look(shares->tree, i, &view);
        reach->node[i] = (struct reach_node){.parent = view.parent};
        for (uint32_t d = 0; d < dimensions; d++) {
            int64_t keeps = view.received[d] - reach->gone[(size_t)i * dimensions + d];
            reach->node[i].left[d] = view.deserved[d] - keeps;
            reach->node[i].gives[d] =
                keeps > view.deserved[d] && keeps > view.settings.guarantee[d];
        }
    }
    for (uint32_t i = 0; i < s->n_lanes; i++)
        reach->node[lane_node(s, i)].is_queue = true;
}

/* Of those which have more than they deserve, below which some queue has so, too. A parent comes before its children. */
static void find_givers(const sched_t *s, struct reach *reach)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t i = shares->n_fixed; i-- > 1;) {
        struct reach_node *node = &reach->node[i];
        for (uint32_t d = 0; d < share_dimensions(shares->tree); d++) {
            node->gives[d] = node->gives[d] && (node->is_queue || node->givers[d] > 0);
            reach->node[node->parent].givers[d] += node->gives[d];
        }
    }
}

/* What all from a queue up to a node have left, the lowest of these nodes beside which another one gives some. */
static int64_t reach_of(const struct reach *reach, uint32_t node, uint32_t d)
{
    int64_t left = INT64_MAX;
    for (uint32_t i = node; i != SHARE_ROOT; i = reach->node[i].parent) {
        left = lesser(left, reach->node[i].left[d]);
        if (reach->node[reach->node[i].parent].givers[d] > reach->node[i].gives[d])
            return left > 0 ? left : 0;
    }
    return 0;
}

/* Have it be as of now. NULL with ENOMEM. */
static const struct reach *reach_now(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    struct reach *reach = shares->reach ? shares->reach : reach_new(s);
    shares->reach = reach;
    if (!reach || stopping_list(s) < 0)
        return NULL;
    uint64_t changes = share_changes(shares->tree), lists = s->queues->stopping_lists;
    if (reach->is_known && reach->changes == changes && reach->stopping_lists == lists)
        return reach;
    note_all_gone(s, reach->gone, shares->n_fixed);
    look_at_nodes(s, reach);
    find_givers(s, reach);
    for (uint32_t i = 0; i < s->n_lanes; i++)
        for (uint32_t d = 0; d < share_dimensions(shares->tree); d++)
            reach->most[i][d] = reach_of(reach, lane_node(s, i), d);
    reach->is_known = true;
    reach->changes = changes;
    reach->stopping_lists = lists;
    return reach;
}

int reach_count_gone(sched_t *s, int64_t *gone, uint32_t n)
{
    const struct shares *shares = s->queues->shares;
    const struct reach *reach = reach_now(s);
    if (!reach)
        return -1;
    if (n == shares->n_fixed)
        memcpy(gone, reach->gone, (size_t)n * share_dimensions(shares->tree) * sizeof(*gone));
    else
        note_all_gone(s, gone, n);
    return 0;
}

bool reach_is_short(sched_t *s, uint32_t lane, const int64_t *amount)
{
    const struct reach *reach = reach_now(s);
    bool is_short = reach != NULL;
    for (uint32_t d = 0; is_short && d < share_dimensions(s->queues->shares->tree); d++)
        is_short = amount[d] <= 0 || amount[d] > reach->most[lane][d];
    return is_short;
}

/* A gang of several roles may ask for more than its class. */
bool reach_is_nothing(sched_t *s, uint32_t lane, uint32_t class)
{
    const struct shares *shares = s->queues->shares;
    unsigned preempts = s->queues->setup->queue[s->lanes[lane].queue].any_preempts;
    const struct reach *reach =
        shares && preempts == SCHED_PREEMPTS_BORROWERS ? reach_now(s) : NULL;
    bool is_nothing = reach && s->queues->n_stopping == 0;
    for (uint32_t d = 0; is_nothing && d < share_dimensions(shares->tree); d++) {
        int64_t most = reach->most[lane][d];
        if (most > 0) {
            int64_t members = s->place->ops->members(s->place, class);
            int64_t asks = s->place->ops->wants(s->place, class, shares->setup->shares.resource[d]);
            is_nothing = most < asks / members * members;
        }
    }
    return is_nothing;
}

/* ---- The check ---- */

/* Whether a queue gives a lane any of a resource, of which it asks for so much. */
static bool gives_any(const sched_t *s, uint32_t taker, uint32_t giver, uint32_t d, int64_t asks)
{
    const struct shares *shares = s->queues->shares;
    int64_t amount[SHARE_DIMENSIONS_MAX] = {0}, one[SHARE_DIMENSIONS_MAX] = {0};
    amount[d] = asks;
    one[d] = 1;
    return share_may_reclaim(shares->tree, lane_node(s, taker), amount, lane_node(s, giver), one,
                             shares->reach->gone);
}

/* Whether what is about to leave is as it was; without memory it is. */
static bool gone_check(const sched_t *s, const struct reach *reach)
{
    const struct shares *shares = s->queues->shares;
    size_t n = (size_t)shares->n_fixed * share_dimensions(shares->tree);
    int64_t *gone = calloc(n, sizeof(*gone));
    if (gone)
        note_all_gone(s, gone, shares->n_fixed);
    bool right = !gone || memcmp(gone, reach->gone, n * sizeof(*gone)) == 0;
    free(gone);
    return right;
}

bool reach_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    const struct reach *reach = shares->reach;
    if (!reach || !reach->is_known || reach->changes != share_changes(shares->tree) ||
        s->queues->stopping_is_stale || reach->stopping_lists != s->queues->stopping_lists)
        return true;
    if (!gone_check(s, reach))
        return false;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        for (uint32_t d = 0; d < share_dimensions(shares->tree); d++) {
            int64_t most = reach->most[i][d];
            bool any = most == 0;
            for (uint32_t k = 0; k < s->n_lanes; k++) {
                any |= most > 0 && gives_any(s, i, k, d, most);
                if (gives_any(s, i, k, d, most + 1))
                    return false;
            }
            if (!any)
                return false;
        }
    return true;
}
