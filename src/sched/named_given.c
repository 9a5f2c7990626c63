/* The cores that a booking holds, by number over the whole machine: for those who tell of schedules core by core.
 *
 * Numbers are made when they are first asked for, and anew when the machine has changed.
 */
#include <errno.h>
#include <stdlib.h>

#include "sched/named_priv.h"

/* Number the cores at and below a vertex, in the order in which a walk that enters each vertex before its next sibling
 * meets them.
 */
static void number(struct named_given *given, const struct graph *g, uint32_t v)
{
    const uint32_t *kids;
    uint32_t n = graph_kids(g, v, &kids);
    if (g->v[v].type == TYPE_CORE && given->number[v] == NAMED_NONE)
        given->number[v] = given->n++;
    for (uint32_t i = 0; i < n; i++)
        if (graph_kid_subsystem(g, v, i) == GRAPH_CONTAINMENT)
            number(given, g, kids[i]);
}

static int freshen(struct named_given *given, const struct graph *g)
{
    if (given->number && given->version == g->version)
        return 0;
    uint32_t *numbers = reallocarray(given->number, (size_t)g->n + 1, sizeof(*numbers));
    if (!numbers)
        return -1;
    given->number = numbers;
    for (uint32_t v = 0; v < g->n; v++)
        numbers[v] = NAMED_NONE;
    given->n = 0;
    given->version = g->version - 1; /* until all is there */
    if (g->root[GRAPH_CONTAINMENT] != VERTEX_NONE)
        number(given, g, g->root[GRAPH_CONTAINMENT]);
    cores_clear(&given->ids);
    if (cores_init(&given->ids, given->n, false) < 0)
        return -1;
    given->version = g->version;
    return 0;
}

static void note(struct named_given *given, const struct graph *g, uint32_t v, bool below)
{
    const uint32_t *kids;
    uint32_t n = below ? graph_kids(g, v, &kids) : 0;
    if (given->number[v] != NAMED_NONE && !cores_has(&given->ids, given->number[v]))
        cores_give_one(&given->ids, given->number[v]);
    for (uint32_t i = 0; i < n; i++)
        if (graph_kid_subsystem(g, v, i) == GRAPH_CONTAINMENT)
            note(given, g, kids[i], true);
}

int64_t named_given(struct place *place, int64_t booking, const struct sched_range **ranges)
{
    struct named *n = named_of(place);
    uint32_t vertex;
    bool alone;
    if (freshen(&n->given, n->graph) < 0)
        return -1;
    for (uint32_t i = 0; match_job_thing(n->match, booking, &i, &vertex, &alone);)
        note(&n->given, n->graph, vertex, alone);
    int rc = cores_list(&n->given.ids, &n->given.list);
    cores_take_all(&n->given.ids);
    if (rc < 0)
        return -1;
    *ranges = n->given.list.v;
    return (int64_t)n->given.list.n;
}

void named_given_clear(struct named *n)
{
    free(n->given.number);
    cores_clear(&n->given.ids);
    free(n->given.list.v);
}
