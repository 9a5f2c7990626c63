/* A choice among some nodes, of which a job's user may have more than of others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place/graph/graph_priv.h"

bool graph_place_next_shared(const struct place *place, int64_t booking, uint32_t *i,
                             uint32_t *node)
{
    return match_job_next_shared(graph_place_of(place)->match, booking, i, node);
}

/* Have so many words. Returns 0, or -1 with ENOMEM. */
static int reserve_words(uint64_t **v, uint32_t *n, uint32_t words)
{
    if (words <= *n)
        return 0;
    void *grown = reallocarray(*v, words, sizeof(**v));
    if (!grown)
        return -1;
    *v = grown;
    *n = words;
    return 0;
}

/* Vertices keep their types, and a graph only gains some. Returns 0, or -1 with ENOMEM. */
static int know_outer(struct graph_place *n, uint32_t words)
{
    if (n->outer_of == n->graph->n)
        return 0;
    if (reserve_words(&n->outer, &n->n_outer, words) < 0)
        return -1;
    memset(n->outer, 0xff, words * sizeof(*n->outer));
    for (uint32_t v = 0; v < n->graph->n; v++)
        if (n->graph->v[v].type == TYPE_NODE)
            n->outer[v / 64] &= ~(UINT64_C(1) << (v % 64));
    n->outer_of = n->graph->n;
    return 0;
}

/* What is in no node may be taken as ever. O(vertices / 64). */
int graph_place_narrow(struct place *place, const struct place_ask *ask, bool all)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = ask ? class_of(n, ask) : NULL;
    uint32_t words = n->graph->n / 64 + 1;

    n->is_narrow = false;
    if (!c)
        return 0;
    if (reserve_words(&n->narrow, &n->n_narrow, words) < 0 || know_outer(n, words) < 0)
        return -1;
    const uint64_t *within = n->parts[c->part].within;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t allowed = all ? UINT64_MAX : n->outer[i];
        n->narrow[i] = within ? within[i] & allowed : allowed;
    }
    n->is_narrow = true;
    n->narrow_part = c->part;
    return 0;
}

/* A node that a queue had before its part of the machine changed may be held, and is not given again. */
void graph_place_allow(struct place *place, uint32_t node)
{
    struct graph_place *n = graph_place_of(place);
    const uint64_t *within = n->parts[n->narrow_part].within;

    if (within && !(within[node / 64] >> (node % 64) & 1))
        return;
    n->narrow[node / 64] |= UINT64_C(1) << (node % 64);
}

void graph_place_deny(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    uint32_t i = 0, vertex;

    while (match_job_next_span(n->match, booking, &i, &vertex)) {
        uint32_t node = match_node_of(n->match, vertex);
        if (n->graph->v[node].type == TYPE_NODE)
            n->narrow[node / 64] &= ~(UINT64_C(1) << (node % 64));
    }
}
