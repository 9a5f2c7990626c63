/* The cores that a booking holds, by number over the whole machine: for those who tell of schedules core by
 * core; and all that it holds, by host.
 *
 * Numbers are made when they are first asked for, and anew when the machine has changed.
 */
#include <errno.h>
#include <stdlib.h>

#include "match/text/names.h"
#include "place/graph/graph_priv.h"

/* Number the cores at and below a vertex, in the order in which a walk that enters each vertex before its
 * next sibling meets them.
 */
static void number_cores_below(struct core_ids *given, const struct graph *g, uint32_t v)
{
    const uint32_t *children;
    uint32_t n = graph_children(g, v, &children);
    if (g->v[v].type == TYPE_CORE && given->number[v] == PLACE_NONE)
        given->number[v] = given->n++;
    for (uint32_t i = 0; i < n; i++)
        if (graph_child_subsystem(g, v, i) == GRAPH_CONTAINMENT)
            number_cores_below(given, g, children[i]);
}

static int freshen(struct core_ids *given, const struct graph *g)
{
    if (given->number && given->version == g->version)
        return 0;
    uint32_t *numbers = reallocarray(given->number, (size_t)g->n + 1, sizeof(*numbers));
    if (!numbers)
        return -1;
    given->number = numbers;
    for (uint32_t v = 0; v < g->n; v++)
        numbers[v] = PLACE_NONE;
    given->n = 0;
    given->version = g->version - 1; /* until all is there */
    if (g->root[GRAPH_CONTAINMENT] != VERTEX_NONE)
        number_cores_below(given, g, g->root[GRAPH_CONTAINMENT]);
    core_set_clear(&given->ids);
    if (core_set_init(&given->ids, given->n, false) < 0)
        return -1;
    given->version = g->version;
    return 0;
}

static void give_cores_of_vertex(struct core_ids *given, const struct graph *g, uint32_t v,
                                 bool below)
{
    const uint32_t *children;
    uint32_t n = below ? graph_children(g, v, &children) : 0;
    if (given->number[v] != PLACE_NONE && !core_set_has(&given->ids, given->number[v]))
        core_set_give_one(&given->ids, given->number[v]);
    for (uint32_t i = 0; i < n; i++)
        if (graph_child_subsystem(g, v, i) == GRAPH_CONTAINMENT)
            give_cores_of_vertex(given, g, children[i], true);
}

static int64_t given_cores(struct graph_place *n, int64_t booking,
                           const struct resource_range **ranges)
{
    uint32_t vertex;
    bool alone;
    if (freshen(&n->given, n->graph) < 0)
        return -1;
    for (uint32_t i = 0; match_job_next_hold(n->match, booking, &i, &vertex, &alone);)
        give_cores_of_vertex(&n->given, n->graph, vertex, alone);
    int rc = core_set_list(&n->given.ids, &n->given.list);
    core_set_take_all(&n->given.ids);
    if (rc < 0)
        return -1;
    *ranges = n->given.list.v;
    return (int64_t)n->given.list.n;
}

int64_t graph_place_given(struct place *place, int64_t booking,
                          const struct resource_range **ranges, const struct resource_host **hosts)
{
    struct graph_place *n = graph_place_of(place);
    if (ranges)
        return given_cores(n, booking, ranges);
    if (match_hosts(n->match, booking, &n->on) < 0)
        return -1;
    *hosts = n->on.v;
    return (int64_t)n->on.n;
}

void core_ids_clear(struct graph_place *n)
{
    free(n->given.number);
    core_set_clear(&n->given.ids);
    free(n->given.list.v);
    hosts_clear(&n->on);
}
