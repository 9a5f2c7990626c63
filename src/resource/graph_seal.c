/* Sealing: edges in the order of their coming become children and parents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resource/graph.h"

/* The arrays to come, which replace the graph's when all is well. */
struct sealing {
    uint32_t *first, *child;
    uint8_t *child_subsystem;
    uint32_t *parent[GRAPH_SUBSYSTEM_MAX];
    uint32_t n_edges;
};

static void discard(struct sealing *s)
{
    free(s->first);
    free(s->child);
    free(s->child_subsystem);
    for (int i = 0; i < GRAPH_SUBSYSTEM_MAX; i++)
        free(s->parent[i]);
}

static bool are_both_there(const struct graph *g, uint32_t source, uint32_t target)
{
    return !g->v[source].gone && !g->v[target].gone;
}

/* Call add for every edge that stays, first the sealed ones, source by source, then the loose ones. */
static void each_edge(const struct graph *g, struct sealing *s,
                      void (*add)(struct sealing *s, uint32_t source, uint32_t target,
                                  uint8_t subsystem))
{
    for (uint32_t v = 0; v < g->sealed; v++)
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            if (are_both_there(g, v, g->child[i]))
                add(s, v, g->child[i],
                    g->child_subsystem ? g->child_subsystem[i] : GRAPH_CONTAINMENT);
    for (uint32_t i = 0; i < g->n_loose; i++)
        if (are_both_there(g, g->loose[i].source, g->loose[i].target))
            add(s, g->loose[i].source, g->loose[i].target, g->loose[i].subsystem);
}

/* first[v + 2] counts v's children, so that after summing first[v + 1] is the index of v's next child. */
static void count_edge(struct sealing *s, uint32_t source, uint32_t target, uint8_t subsystem)
{
    (void)target;
    (void)subsystem;
    s->first[source + 2]++;
}

static void place_edge(struct sealing *s, uint32_t source, uint32_t target, uint8_t subsystem)
{
    uint32_t at = s->first[source + 1]++;

    s->child[at] = target;
    if (s->child_subsystem)
        s->child_subsystem[at] = subsystem;
}

static void note_parent(struct sealing *s, uint32_t source, uint32_t target, uint8_t subsystem)
{
    if (s->parent[subsystem][target] == VERTEX_NONE)
        s->parent[subsystem][target] = source;
}

/* Drop edges that come a second time from the same source; the later subsystem applies. Returns true if
 * there was one.
 */
static int drop_doubles(struct sealing *s, uint32_t n)
{
    uint32_t *seen =
        malloc((n + 1) * sizeof(*seen)); /* where in the current source's list a target is */
    uint32_t to = 0;
    bool doubles = false;

    if (!seen)
        return -1;
    memset(seen, 0xff, (n + 1) * sizeof(*seen));
    for (uint32_t v = 0; v < n; v++) {
        uint32_t from = s->first[v], end = s->first[v + 1];
        s->first[v] = to;
        for (uint32_t i = from; i < end; i++) {
            uint32_t target = s->child[i], before = seen[target];
            if (before != VERTEX_NONE && before >= s->first[v] && before < to &&
                s->child[before] == target) {
                doubles = true;
                if (s->child_subsystem)
                    s->child_subsystem[before] = s->child_subsystem[i];
                continue;
            }
            seen[target] = to;
            s->child[to] = target;
            if (s->child_subsystem)
                s->child_subsystem[to] = s->child_subsystem[i];
            to++;
        }
    }
    s->first[n] = to;
    s->n_edges = to;
    free(seen);
    return doubles;
}

/* True if some vertex has several edges leading to it, so that there may be doubles. */
static bool has_several_sources(const struct graph *g, struct sealing *s)
{
    uint64_t targets = 0;

    for (int i = 0; i < GRAPH_SUBSYSTEM_MAX; i++)
        for (uint32_t v = 0; s->parent[i] && v < g->n; v++)
            targets += s->parent[i][v] != VERTEX_NONE;
    return targets != s->n_edges;
}

/* Containment must be no deeper than GRAPH_DEPTH_MAX. Depths are found by walking up to where one is
 * known.
 */
static int check_depth(const struct graph *g, const struct sealing *s)
{
    const uint32_t *parent = s->parent[GRAPH_CONTAINMENT];
    uint16_t *depth = calloc(g->n + 1, sizeof(*depth));
    int rc = 0;

    if (!depth)
        return -1;
    for (uint32_t v = 0; v < g->n && rc == 0; v++) {
        uint32_t chain[GRAPH_DEPTH_MAX + 1], n = 0, x = v;
        while (x != VERTEX_NONE && !depth[x] && n <= GRAPH_DEPTH_MAX) {
            chain[n++] = x;
            x = parent[x];
        }
        uint32_t d = x != VERTEX_NONE ? depth[x] : 0;
        if (n + d > GRAPH_DEPTH_MAX) {
            errno = ELOOP;
            rc = -1;
        }
        while (n > 0)
            depth[chain[--n]] = (uint16_t)++d;
    }
    free(depth);
    return rc;
}

static int make_arrays(struct graph *g, struct sealing *s)
{
    bool several = g->child_subsystem != NULL;
    uint64_t edges = (uint64_t)g->n_edges + g->n_loose;

    if (edges > GRAPH_VERTEX_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    for (uint32_t i = 0; i < g->n_loose; i++)
        several |= g->loose[i].subsystem != GRAPH_CONTAINMENT;
    s->first = calloc((size_t)g->n + 2, sizeof(*s->first));
    s->child = malloc((edges + 1) * sizeof(*s->child));
    if (several)
        s->child_subsystem = calloc(edges + 1, 1);
    if (!s->first || !s->child || (several && !s->child_subsystem))
        return -1;
    for (uint32_t i = 0; i < (several ? g->subsystems.n : 1); i++) {
        s->parent[i] = malloc(((size_t)g->n + 1) * sizeof(*s->parent[i]));
        if (!s->parent[i])
            return -1;
        memset(s->parent[i], 0xff, ((size_t)g->n + 1) * sizeof(*s->parent[i]));
    }
    each_edge(g, s, count_edge);
    for (uint32_t v = 1; v <= g->n; v++)
        s->first[v + 1] += s->first[v];
    s->n_edges = s->first[g->n + 1];
    each_edge(g, s, place_edge);
    each_edge(g, s, note_parent);
    return 0;
}

/* Set the parents again, now that double edges are gone. */
static void renew_parents(const struct graph *g, struct sealing *s)
{
    for (int i = 0; i < GRAPH_SUBSYSTEM_MAX; i++)
        if (s->parent[i])
            memset(s->parent[i], 0xff, ((size_t)g->n + 1) * sizeof(*s->parent[i]));
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++)
            note_parent(s, v, s->child[i],
                        s->child_subsystem ? s->child_subsystem[i] : GRAPH_CONTAINMENT);
}

static int by_vertex_and_subsystem(const void *a, const void *b)
{
    const struct graph_path *x = a, *y = b;

    return x->vertex != y->vertex ? (x->vertex < y->vertex ? -1 : 1) : x->subsystem - y->subsystem;
}

static void adopt(struct graph *g, struct sealing *s)
{
    free(g->first);
    free(g->child);
    free(g->child_subsystem);
    g->first = s->first;
    g->child = s->child;
    g->child_subsystem = s->child_subsystem;
    for (int i = 0; i < GRAPH_SUBSYSTEM_MAX; i++) {
        free(g->parent[i]);
        g->parent[i] = s->parent[i];
    }
    g->n_edges = s->n_edges;
    free(g->loose);
    g->loose = NULL;
    g->n_loose = 0;
    g->loose_capacity = 0;
    g->sealed = g->n;
    g->version++;
    if (g->n_paths > 1)
        qsort(g->paths, g->n_paths, sizeof(*g->paths), by_vertex_and_subsystem);
}

void graph_take_back(struct graph *g)
{
    uint32_t kept = 0;

    g->live -= g->n - g->sealed;
    g->n = g->sealed;
    g->n_loose = 0;
    for (uint32_t i = 0; i < g->n_paths; i++)
        if (g->paths[i].vertex < g->n)
            g->paths[kept++] = g->paths[i];
    g->n_paths = kept;
    for (int s = 0; s < GRAPH_SUBSYSTEM_MAX; s++)
        if (g->root[s] != VERTEX_NONE && g->root[s] >= g->n)
            g->root[s] = VERTEX_NONE;
}

int graph_seal(struct graph *g)
{
    struct sealing s = {0};
    int doubles = 0;

    if (make_arrays(g, &s) < 0)
        goto fail;
    /* Doubles in different subsystems don't show in the count. */
    if (s.child_subsystem || has_several_sources(g, &s)) {
        doubles = drop_doubles(&s, g->n);
        if (doubles < 0)
            goto fail;
        if (doubles)
            renew_parents(g, &s);
    }
    if (check_depth(g, &s) < 0)
        goto fail;
    adopt(g, &s);
    return 0;
fail:
    discard(&s);
    graph_take_back(g);
    return -1;
}

/* Mark v and what is below it. */
static void mark_gone(struct graph *g, uint32_t v, uint8_t subsystem)
{
    const uint32_t *children;
    uint32_t n = graph_children(g, v, &children);

    if (g->v[v].gone)
        return;
    g->v[v].gone = true;
    g->live--;
    for (uint32_t i = 0; i < n; i++)
        if (graph_child_subsystem(g, v, i) == subsystem)
            mark_gone(g, children[i], subsystem);
}

int graph_remove(struct graph *g, const uint32_t *roots, size_t n, uint8_t subsystem)
{
    uint32_t live = g->live;
    bool *gone = malloc((size_t)g->n + 1);

    if (!gone)
        return -1;
    for (uint32_t v = 0; v < g->n; v++)
        gone[v] = g->v[v].gone;
    for (size_t i = 0; i < n; i++)
        mark_gone(g, roots[i], subsystem);
    int rc = graph_seal(g);
    if (rc < 0) {
        for (uint32_t v = 0; v < g->n; v++)
            g->v[v].gone = gone[v];
        g->live = live;
    }
    for (int s = 0; rc == 0 && s < GRAPH_SUBSYSTEM_MAX; s++)
        if (g->root[s] != VERTEX_NONE && g->v[g->root[s]].gone)
            g->root[s] = VERTEX_NONE;
    free(gone);
    return rc;
}

bool graph_check(const struct graph *g)
{
    uint32_t live = 0;

    if (g->sealed != g->n || g->n_loose != 0 || g->first[g->n] != g->n_edges ||
        !intern_check(&g->types) || !intern_check(&g->names))
        return false;
    for (uint32_t v = 0; v < g->n; v++) {
        const struct vertex *x = &g->v[v];
        live += !x->gone;
        if (g->first[v] > g->first[v + 1] || x->type >= g->types.n || x->basename >= g->names.n ||
            x->name >= g->names.n || x->props >= g->props.sets.n)
            return false;
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            uint8_t s = g->child_subsystem ? g->child_subsystem[i] : GRAPH_CONTAINMENT;
            if (g->child[i] >= g->n || x->gone || g->v[g->child[i]].gone ||
                graph_parent(g, g->child[i], s) == VERTEX_NONE)
                return false;
        }
    }
    return live == g->live;
}
