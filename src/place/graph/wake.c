/* What was freed since the last look, and whom that may help.
 *
 * A class that waits can only have become possible if one of the nodes in which something was freed
 * (place/freed.h) now has room for a piece of its request: a node as it wants it, or where it names no nodes
 * a slot, or one of something. That is judged by what filters count, which for types that none counts is all
 * there is. Resources outside of nodes count for every class.
 */
#include <stdlib.h>
#include <string.h>

#include "place/graph/graph_priv.h"

/* ---- Pieces ---- */

static void need(const struct graph_place *n, struct piece *p, const char *name, int64_t least)
{
    uint16_t type;

    if (!graph_place_type(n, name, &type) || p->n == PIECE_NEEDS) {
        p->any = true;
        return;
    }
    for (uint32_t i = 0; i < p->n; i++)
        if (p->need[i].type == type) {
            p->need[i].least += least;
            return;
        }
    p->need[p->n].type = type;
    p->need[p->n++].least = least;
}

/* Add what is below resource i, so many times. */
static void add_below(const struct graph_place *n, const jobspec_t *spec, uint32_t i, int64_t count,
                      struct piece *p)
{
    const struct jobspec_resource *r = &spec->resources[i];

    for (uint32_t k = i + 1; k < r->end && !p->any; k = spec->resources[k].end) {
        const struct jobspec_resource *child = &spec->resources[k];
        int64_t least = count * child->count.min;
        uint16_t type;
        if (child->kind == JOBSPEC_OR_SLOT || child->kind == JOBSPEC_XOR_SLOT ||
            least > INT32_MAX ||
            (child->kind == JOBSPEC_RESOURCE && child->end > k + 1 &&
             (!graph_place_type(n, child->type, &type) || match_type_size(n->match, type) > 1))) {
            p->any = true;
            return;
        }
        if (child->kind == JOBSPEC_RESOURCE)
            need(n, p, child->type, least);
        add_below(n, spec, k, least, p);
    }
}

static bool has_node(const jobspec_t *spec, uint32_t i)
{
    for (uint32_t k = i + 1; k < spec->resources[i].end; k++)
        if (strcmp(spec->resources[k].type, "node") == 0)
            return true;
    return false;
}

static int add_piece(struct class *class, const struct piece *p)
{
    struct piece *more = reallocarray(class->piece, class->n_pieces + 1, sizeof(*more));

    if (!more)
        return -1;
    class->piece = more;
    more[class->n_pieces++] = *p;
    return 0;
}

/* The pieces of resource i. */
static int find_pieces(const struct graph_place *n, struct class *class, uint32_t i)
{
    const jobspec_t *spec = class->spec;
    const struct jobspec_resource *r = &spec->resources[i];
    struct piece p = {0};

    if (has_node(spec, i)) {
        /* Who wants all of what nodes are in waits for more than a node. */
        p.any = r->kind == JOBSPEC_RESOURCE && graph_place_is_alone(n, r);
        if (p.any)
            return add_piece(class, &p);
        for (uint32_t k = i + 1; k < r->end; k = spec->resources[k].end)
            if (find_pieces(n, class, k) < 0)
                return -1;
        return 0;
    }
    if (r->kind == JOBSPEC_RESOURCE && strcmp(r->type, "node") == 0)
        p.alone = graph_place_is_alone(n, r);
    else if (r->kind == JOBSPEC_RESOURCE)
        need(n, &p, r->type, 1);
    if (r->kind == JOBSPEC_RESOURCE && r->count.min == 0)
        p.any = true;
    add_below(n, spec, i, 1, &p);
    p.alone |= match_gives_whole_nodes(n->match);
    return add_piece(class, &p);
}

int graph_place_pieces(const struct graph_place *n, struct class *class)
{
    for (uint32_t i = 0; i < class->spec->nresources; i = class->spec->resources[i].end)
        if (find_pieces(n, class, i) < 0)
            return -1;
    return 0;
}

/* ---- What is freed ---- */

void graph_place_tell(struct graph_place *n, int64_t now)
{
    if (now <= n->now)
        return;
    n->now = now;
    if (now < n->turn)
        return;
    n->turn = match_block_next_change(n->match, now);
    freed_add_all(&n->place.freed);
}

void graph_place_free(struct graph_place *n, uint32_t vertex, int64_t from, int64_t to)
{
    uint32_t node = match_node_of(n->match, vertex);

    if (to <= from)
        return;
    if (n->graph->v[node].type == TYPE_NODE)
        freed_add_node(&n->place.freed, node, n->graph->v[node].id, from, to);
    else
        freed_add_all(&n->place.freed);
}

void graph_place_free_job(struct graph_place *n, int64_t job, int64_t from, int64_t to)
{
    uint32_t i = 0, vertex;
    bool alone;

    if (to <= n->now) /* its time was over, but it held it all the same */
        to = n->now + 1;
    while (match_job_next_hold(n->match, job, &i, &vertex, &alone)) {
        /* What leads to nodes was shared. */
        if (alone || n->graph->v[vertex].type == TYPE_NODE || !match_has_nodes(n->match, vertex))
            graph_place_free(n, vertex, from, to);
    }
    n->place.freed.next++;
}

void graph_place_settle(struct place *place)
{
    capacity_pass(graph_place_of(place));
}

/* ---- Whom it helps ---- */

static bool node_has_room(const struct graph_place *n, const struct piece *p, uint32_t node,
                          int64_t from, int64_t to)
{
    if (p->any)
        return true;
    if (p->alone && !match_is_idle(n->match, node, from, to))
        return false;
    for (uint32_t i = 0; i < p->n; i++)
        if (!match_has_free(n->match, node, p->need[i].type, p->need[i].least, from, to))
            return false;
    return true;
}

/* Whether a class could now have a piece of one of the nodes in which something was freed. */
bool graph_place_wakes(const struct place *place, uint32_t number, uint64_t since)
{
    const struct graph_place *n = graph_place_of(place);
    const struct class *class = &n->classes[number];
    const struct freed_nodes *log = &n->freed_nodes;
    uint32_t first = freed_nodes_since(log, since);

    if (n->stale || since < log->all || since < log->base || log->n - first > FREED_LOOK_AT)
        return true;
    for (uint32_t i = first; i < log->n; i++) {
        uint32_t node = log->v[i].node;
        if (!match_part_has(n->parts[class->part].within, node) ||
            match_node_is_down(n->match, node))
            continue;
        for (uint32_t k = 0; k < class->n_pieces; k++)
            if (node_has_room(n, &class->piece[k], node, n->now, n->now + 1) &&
                match_satisfies(n->match, class->spec->constraints, node))
                return true;
    }
    return false;
}
