/* What bookings have in common. */
#include <errno.h>
#include <stdlib.h>

#include "place/graph/capacity.h"
#include "place/graph/graph_priv.h"

/* Have a table of a value for each vertex, all zero where it has grown. It is left as it is if there is no memory: -1. */
static int cover_all(const struct graph_place *n, void **table, uint32_t *covered, size_t size)
{
    if (*covered >= n->graph->n)
        return 0;
    void *larger = calloc(n->graph->n, size);
    if (!larger)
        return -1;
    free(*table);
    *table = larger;
    *covered = n->graph->n;
    return 0;
}

int graph_place_mark(struct place *place, int64_t booking, bool on)
{
    struct graph_place *n = graph_place_of(place);
    if (cover_all(n, (void **)&n->meets, &n->n_meets, sizeof(*n->meets)) < 0)
        return -1;
    match_job_mark(n->match, booking, n->meets, on);
    return 0;
}

enum place_meet graph_place_meets(const struct place *place, int64_t booking)
{
    static const enum place_meet as[] = {
        [PLAN_APART] = PLACE_APART, [PLAN_BESIDE] = PLACE_BESIDE, [PLAN_IN_WAY] = PLACE_IN_WAY};
    struct graph_place *n = graph_place_of(place);
    return as[match_job_meets(n->match, booking, n->meets, n->weighed > 0 ? n->units : NULL)];
}

bool graph_place_is_steady(struct place *place, const struct place_ask *ask)
{
    struct graph_place *n = graph_place_of(place);
    if (!class_of(n, ask) || graph_place_refresh(n) < 0)
        return false;
    struct plan_ask plan = graph_place_plan(n, ask);
    return match_plan_is_steady(n->match, &plan);
}

int graph_place_weigh(struct place *place, int64_t booking, bool on)
{
    struct graph_place *n = graph_place_of(place);
    if (cover_all(n, (void **)&n->units, &n->n_units, sizeof(*n->units)) < 0)
        return -1;
    match_job_weigh(n->match, booking, n->units, on);
    n->weighed += on ? 1 : UINT32_MAX;
    return 0;
}

/* Count the nodes before anything is kept free: that is no booking, and nobody would count them again when it ends. Returns 0,
 * or -1 with ENOMEM.
 */
static int count_before(struct graph_place *n)
{
    if (graph_place_refresh(n) < 0)
        return -1;
    if (!n->capacities || n->n_parts > ROWS_PARTS_MAX || usage_settle(n))
        return 0;
    errno = ENOMEM;
    return -1;
}

int graph_place_keep_free(struct place *place, int64_t booking, int64_t at)
{
    struct graph_place *n = graph_place_of(place);
    if (booking >= 0 && count_before(n) == 0 && match_keep_free(n->match, booking, at, at + 1) == 0)
        return 0;
    int saved = errno;
    match_keep_free_end(n->match);
    errno = saved;
    return booking < 0 ? 0 : -1;
}
