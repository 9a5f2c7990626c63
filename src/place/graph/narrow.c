/* A choice among some nodes, of which a job's user may have more than of others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place/graph/graph_priv.h"

bool graph_place_next_shared(const struct place *place, int64_t booking, uint32_t *i,
                             uint32_t *node)
{
    const struct graph_place *n = graph_place_of(place);
    bool alone;

    while (match_job_next_hold(n->match, booking, i, node, &alone))
        if (!alone && n->graph->v[*node].type == TYPE_NODE)
            return true;
    return false;
}

/* What is in no node may be taken as ever. O(vertices). */
int graph_place_narrow(struct place *place, const struct place_ask *ask)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = ask ? class_of(n, ask) : NULL;
    uint32_t words = n->graph->n / 64 + 1;

    n->is_narrow = false;
    if (!c)
        return 0;
    if (words > n->n_narrow) {
        void *grown = reallocarray(n->narrow, words, sizeof(*n->narrow));
        if (!grown)
            return -1;
        n->narrow = grown;
        n->n_narrow = words;
    }
    const uint64_t *within = n->parts[c->part].within;
    if (within)
        memcpy(n->narrow, within, words * sizeof(*n->narrow));
    else
        memset(n->narrow, 0xff, words * sizeof(*n->narrow));
    for (uint32_t v = 0; v < n->graph->n; v++)
        if (n->graph->v[v].type == TYPE_NODE)
            n->narrow[v / 64] &= ~(UINT64_C(1) << (v % 64));
    n->is_narrow = true;
    return 0;
}

void graph_place_allow(struct place *place, uint32_t node)
{
    struct graph_place *n = graph_place_of(place);

    n->narrow[node / 64] |= UINT64_C(1) << (node % 64);
}
