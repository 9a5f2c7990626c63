/* Following a recipe to make a graph.
 *
 * The recipe's nodes are visited depth first, in the order of the text. An edge to a node that was not
 * seen before is followed: its method makes or finds the vertices that the node stands for from then on.
 * Other edges do nothing, so a recipe with a cycle ends like any other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "resource/readers/common.h"
#include "resource/readers/grug_paths.h"
#include "resource/readers/grug_recipe.h"

#define NO_EDGE UINT32_MAX

/* Pairs of vertices that associations may compare, as a multiple of the bound on vertices. */
#define PAIRS_FACTOR 32

/* The vertices that a node of the recipe stands for. */
struct crop {
    uint32_t first, n; /* one after another, or */
    uint32_t *list;    /* these */
    bool has_list;
};

struct expansion {
    struct graph *g;
    const struct grug_recipe *r;
    berth_error_t *err;
    struct crop *crop; /* by node of the recipe */
    int64_t *scale;    /* of the multiplications above, the innermost last */
    uint32_t depth;
    uint32_t *step; /* edges to follow, and NO_EDGE for each node that is done */
    uint32_t n_steps;
    int32_t rank; /* for the next node */
    uint32_t max;
    uint64_t pairs; /* that may still be compared */
    bool plain;     /* there is no need for paths */
    struct grug_paths paths;
};

static uint32_t crop_at(const struct crop *c, uint32_t i)
{
    return c->has_list ? c->list[i] : c->first + i;
}

static int fail_at(struct expansion *x, const struct grug_edge *e, const char *why)
{
    return errtext_set(x->err, EINVAL, "line %llu: edge from '%s' to '%s': %s",
                       (unsigned long long)e->line, e->from, e->to, why);
}

static int too_many(struct expansion *x, const struct grug_edge *e, const char *what)
{
    return errtext_set(x->err, EINVAL,
                       "line %llu: edge from '%s' to '%s' makes too many %s, expected at most %lu",
                       (unsigned long long)e->line, e->from, e->to, what, (unsigned long)x->max);
}

static int add_vertex(struct expansion *x, uint32_t v, uint32_t under)
{
    if (v == VERTEX_NONE)
        return reader_failed(x->err);
    if (!x->plain && grug_paths_made(&x->paths, under) < 0)
        return reader_failed(x->err);
    return 0;
}

static int subsystem_number(struct expansion *x, const char *name, uint8_t *number)
{
    uint32_t s = graph_subsystem(x->g, name);

    if (s == UINT32_MAX)
        return reader_failed(x->err);
    *number = (uint8_t)s;
    return 0;
}

static int make_spec(struct expansion *x, const struct grug_node *n, struct vertex_spec *spec)
{
    *spec = (struct vertex_spec){.type = n->type,
                                 .basename = n->basename,
                                 .unit = n->unit,
                                 .id = 0,
                                 .uniq_id = -1,
                                 .size = n->size,
                                 .rank = -1};
    return subsystem_number(x, n->subsystem, &spec->subsystem);
}

static int make_root(struct expansion *x, uint32_t node)
{
    const struct grug_node *n = &x->r->node[node];
    struct vertex_spec spec;

    if (make_spec(x, n, &spec) < 0)
        return -1;
    uint32_t v = x->g->root[spec.subsystem];
    if (v == VERTEX_NONE) {
        if (x->g->n >= x->max)
            return errtext_set(x->err, EINVAL, "line %llu: root '%s' is one vertex too many",
                               (unsigned long long)n->line, n->id);
        if (strcmp(n->type, "node") == 0)
            spec.rank = x->rank++;
        v = graph_add(x->g, &spec);
        if (add_vertex(x, v, VERTEX_NONE) < 0)
            return -1;
        graph_set_root(x->g, spec.subsystem, v);
    }
    x->crop[node] = (struct crop){.first = v, .n = 1};
    return 0;
}

/* How many sources in a row share a space of ids. */
static uint64_t id_period(const struct expansion *x, int64_t scope)
{
    uint64_t period = 1;

    for (uint32_t i = 0; i < x->depth && (int64_t)i < scope; i++)
        if (__builtin_mul_overflow(period, (uint64_t)x->scale[x->depth - 1 - i], &period))
            return UINT64_MAX;
    return period > 0 ? period : 1;
}

/* The id of the i-th vertex under the j-th source. Vertices are counted in 32 bits, as is the stride. */
static int64_t make_id(const struct grug_edge *e, uint64_t period, uint32_t j, uint32_t i)
{
    if (e->scope < 0)
        return -1;
    if (e->scope == 0)
        return e->start + (int64_t)i;
    return e->start + (int64_t)(j % period) * e->scale * e->stride + (int64_t)i * e->stride;
}

static int multiply(struct expansion *x, const struct grug_edge *e)
{
    const struct crop source = x->crop[e->source];
    uint32_t like = VERTEX_NONE, before = x->g->n;
    uint64_t period = id_period(x, e->scope);
    struct vertex_spec spec;
    uint8_t subsystem = GRAPH_CONTAINMENT;

    if ((uint64_t)source.n * (uint64_t)e->scale > x->max - before)
        return too_many(x, e, "vertices");
    if (make_spec(x, &x->r->node[e->target], &spec) < 0 ||
        subsystem_number(x, e->subsystem, &subsystem) < 0)
        return -1;
    bool ranked = strcmp(spec.type, "node") == 0;
    for (uint32_t j = 0; j < source.n; j++) {
        uint32_t under = crop_at(&source, j);
        for (uint32_t i = 0; i < (uint32_t)e->scale; i++) {
            spec.id = make_id(e, period, j, i);
            spec.rank = ranked ? x->rank++ : -1;
            uint32_t v = like == VERTEX_NONE ? graph_add(x->g, &spec)
                                             : graph_add_like(x->g, like, spec.id, spec.rank);
            if (add_vertex(x, v, under) < 0)
                return -1;
            if (graph_connect(x->g, under, v, subsystem) < 0)
                return reader_failed(x->err);
            like = v;
        }
    }
    x->crop[e->target] = (struct crop){.first = before, .n = x->g->n - before};
    x->scale[x->depth++] = e->scale;
    return 0;
}

/* What an association works on. */
struct association {
    uint8_t subsystem, by; /* of the edge; of the paths that are compared */
    uint32_t *target;      /* vertices of the type, in the order of their making */
    uint32_t n;
    uint32_t *chosen;       /* by target: the last source that took it */
    uint8_t *is_target;     /* by vertex */
    struct intern prefixes; /* of paths */
    uint32_t *target_prefix, source_prefix;
    struct strbuf path;
};

static void association_clear(struct association *a)
{
    free(a->target);
    free(a->chosen);
    free(a->is_target);
    free(a->target_prefix);
    intern_clear(&a->prefixes);
    strbuf_clear(&a->path);
}

/* The number of a path without its last levels: everything up to a slash, or nothing if there are no more
 * levels.
 */
static int prefix_of_path(struct association *a, int64_t up, uint32_t *number)
{
    const char *path = strbuf_text(&a->path);
    size_t length = a->path.len;
    int64_t slashes = 0;

    if (a->path.failed) {
        errno = ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < length; i++)
        slashes += path[i] == '/';
    if (up >= slashes)
        return intern_put(&a->prefixes, "", 0, number);
    for (; up > 0; up--)
        do
            length--;
        while (path[length] != '/');
    return intern_put(&a->prefixes, path, length, number);
}

static int find_path_prefix(struct expansion *x, struct association *a, uint32_t v, int64_t up,
                            uint32_t *number)
{
    strbuf_reset(&a->path);
    grug_path(&x->paths, v, a->by, &a->path);
    return prefix_of_path(a, up, number) < 0 ? reader_failed(x->err) : 0;
}

static int association_start(struct expansion *x, const struct grug_edge *e, struct association *a)
{
    const struct crop *source = &x->crop[e->source];
    uint32_t type = graph_type(x->g, x->r->node[e->target].type);
    struct graph *g = x->g;

    if (type == UINT32_MAX || subsystem_number(x, e->subsystem, &a->subsystem) < 0 ||
        subsystem_number(x, e->as_subsystem, &a->by) < 0)
        return reader_failed(x->err);
    for (uint32_t v = 0; v < g->n; v++)
        a->n += g->v[v].type == type;
    for (uint32_t j = 0; j < source->n; j++)
        if (g->v[crop_at(source, j)].type == type)
            return fail_at(x, e, "vertices of one type can't be associated with each other");
    if ((uint64_t)source->n * a->n > x->pairs)
        return too_many(x, e, "pairs to look at");
    x->pairs -= (uint64_t)source->n * a->n;
    a->target = calloc((size_t)a->n + 1, sizeof(*a->target));
    a->chosen = malloc(((size_t)a->n + 1) * sizeof(*a->chosen));
    a->target_prefix = calloc((size_t)a->n + 1, sizeof(*a->target_prefix));
    a->is_target = calloc((size_t)g->n + 1, 1);
    if (!a->target || !a->chosen || !a->target_prefix || !a->is_target)
        return reader_failed(x->err);
    memset(a->chosen, 0xff, ((size_t)a->n + 1) * sizeof(*a->chosen));
    a->n = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (g->v[v].type == type) {
            a->target[a->n++] = v;
            a->is_target[v] = 1;
        }
    if (grug_paths_keep(&x->paths, a->is_target, a->subsystem) < 0)
        return reader_failed(x->err);
    for (uint32_t k = 0; k < a->n && e->method == GRUG_ASSOCIATE_BY_PATH_IN; k++)
        if (find_path_prefix(x, a, a->target[k], e->as_target_up, &a->target_prefix[k]) < 0)
            return -1;
    return 0;
}

/* A source takes a target; where paths of this very subsystem are compared, that counts for the next
 * source.
 */
static int associate_vertex(struct expansion *x, const struct grug_edge *e, struct association *a,
                            uint32_t source, uint32_t k)
{
    struct crop *to = &x->crop[e->target];

    if (x->g->n_loose >= x->max)
        return too_many(x, e, "edges");
    if ((to->n & (to->n - 1)) == 0) { /* a power of two is full */
        uint32_t *more = reallocarray(to->list, to->n ? (size_t)to->n * 2 : 1, sizeof(*more));
        if (!more)
            return reader_failed(x->err);
        to->list = more;
    }
    to->list[to->n++] = a->target[k];
    a->chosen[k] = source;
    if (graph_connect(x->g, source, a->target[k], a->subsystem) < 0)
        return reader_failed(x->err);
    if (e->method != GRUG_ASSOCIATE_BY_PATH_IN || a->by != a->subsystem)
        return 0;
    strbuf_reset(&a->path);
    grug_path(&x->paths, source, a->by, &a->path);
    strbuf_putc(&a->path, '/');
    graph_name(x->g, a->target[k], &a->path);
    return prefix_of_path(a, e->as_target_up, &a->target_prefix[k]) < 0 ? reader_failed(x->err) : 0;
}

static int associate(struct expansion *x, const struct grug_edge *e)
{
    const struct crop source = x->crop[e->source];
    struct association a = {0};
    int rc = association_start(x, e, &a);

    x->crop[e->target] = (struct crop){.has_list = true};
    for (uint32_t j = 0; j < source.n && rc == 0; j++) {
        uint32_t s = crop_at(&source, j);
        bool by_path = e->method == GRUG_ASSOCIATE_BY_PATH_IN;
        if (by_path)
            rc = find_path_prefix(x, &a, s, e->as_source_up, &a.source_prefix);
        for (uint32_t k = 0; k < a.n && rc == 0; k++)
            if (!by_path || a.target_prefix[k] == a.source_prefix)
                rc = associate_vertex(x, e, &a, s, k);
    }
    for (uint32_t k = 0; k < a.n && rc == 0; k++)
        if (a.chosen[k] != VERTEX_NONE &&
            grug_paths_put(&x->paths, a.target[k], a.chosen[k], a.subsystem) < 0)
            rc = reader_failed(x->err);
    association_clear(&a);
    return rc;
}

/* Edges by their source, in the order of the text: those of node v are edge[first[v]] to
 * edge[first[v + 1] - 1].
 */
static int sort_edges(const struct grug_recipe *r, uint32_t **first, uint32_t **edge)
{
    *first = calloc((size_t)r->n + 2, sizeof(**first));
    *edge = calloc((size_t)r->n_edges + 1, sizeof(**edge));
    if (!*first || !*edge)
        return -1;
    for (uint32_t i = 0; i < r->n_edges; i++)
        (*first)[r->edge[i].source + 2]++;
    for (uint32_t v = 1; v <= r->n; v++)
        (*first)[v + 1] += (*first)[v];
    for (uint32_t i = 0; i < r->n_edges; i++)
        (*edge)[(*first)[r->edge[i].source + 1]++] = i;
    return 0;
}

/* The steps of the walk: it depends on the recipe alone. Each node is done once. */
static int plan(struct expansion *x)
{
    const struct grug_recipe *r = x->r;
    uint32_t *first = NULL, *edge = NULL, *next = calloc((size_t)r->n + 1, sizeof(*next));
    uint32_t *stack = calloc((size_t)r->n + 1, sizeof(*stack)), depth = 0;
    uint8_t *seen = calloc((size_t)r->n + 1, 1);
    int rc = -1;

    x->step = calloc((size_t)r->n * 2 + 1, sizeof(*x->step));
    if (!next || !stack || !seen || !x->step || sort_edges(r, &first, &edge) < 0) {
        reader_failed(x->err);
        goto out;
    }
    for (uint32_t start = 0; start < r->n; start++) {
        if (seen[start])
            continue;
        seen[start] = 1;
        next[start] = first[start];
        stack[depth++] = start;
        while (depth > 0) {
            uint32_t v = stack[depth - 1];
            if (next[v] == first[v + 1]) {
                x->step[x->n_steps++] = NO_EDGE;
                depth--;
                continue;
            }
            uint32_t e = edge[next[v]++], to = r->edge[e].target;
            if (seen[to])
                continue;
            if (depth >= GRAPH_DEPTH_MAX) {
                fail_at(x, &r->edge[e], "one level too deep");
                goto out;
            }
            seen[to] = 1;
            next[to] = first[to];
            x->step[x->n_steps++] = e;
            stack[depth++] = to;
        }
    }
    rc = 0;
out:
    free(first);
    free(edge);
    free(next);
    free(stack);
    free(seen);
    return rc;
}

/* How many vertices there will be, as far as that follows from multiplications alone: refused before any
 * is made.
 */
static int check_counts(struct expansion *x)
{
    uint64_t *count = calloc((size_t)x->r->n + 1, sizeof(*count));
    uint64_t total = 0;
    int rc = 0;

    if (!count)
        return reader_failed(x->err);
    x->plain = true;
    for (uint32_t i = 0; i < x->n_steps && rc == 0; i++) {
        const struct grug_edge *e = x->step[i] == NO_EDGE ? NULL : &x->r->edge[x->step[i]];
        if (!e)
            continue;
        if (count[e->source] == 0 && x->r->node[e->source].root)
            count[e->source] = 1;
        x->plain &= e->method == GRUG_MULTIPLY &&
                    strcmp(e->subsystem, x->r->node[e->target].subsystem) == 0;
        if (e->method != GRUG_MULTIPLY)
            continue;
        count[e->target] = count[e->source] * (uint64_t)e->scale;
        total += count[e->target];
        if (total > x->max)
            rc = too_many(x, e, "vertices");
    }
    free(count);
    return rc;
}

static int follow_edge(struct expansion *x, const struct grug_edge *e)
{
    if (x->r->node[e->source].root && x->crop[e->source].n == 0 && make_root(x, e->source) < 0)
        return -1;
    return e->method == GRUG_MULTIPLY ? multiply(x, e) : associate(x, e);
}

static int expand(struct expansion *x)
{
    const struct grug_recipe *r = x->r;
    int rc = 0;

    x->crop = calloc((size_t)r->n + 1, sizeof(*x->crop));
    x->scale = calloc((size_t)r->n + 1, sizeof(*x->scale));
    if (!x->crop || !x->scale)
        rc = reader_failed(x->err);
    if (rc == 0)
        rc = plan(x);
    if (rc == 0)
        rc = check_counts(x);
    for (uint32_t i = 0; i < x->n_steps && rc == 0; i++)
        if (x->step[i] != NO_EDGE)
            rc = follow_edge(x, &r->edge[x->step[i]]);
        else if (x->depth > 0)
            x->depth--;
    if (rc == 0 && x->g->n == 0)
        rc = errtext_set(x->err, EINVAL,
                         "the recipe makes nothing, expected a node whose root is 1 and an edge "
                         "from it");
    if (rc == 0)
        rc = reader_seal(x->g, x->err);
    if (rc == 0 && !x->plain && grug_paths_settle(&x->paths, x->g) < 0)
        rc = reader_failed(x->err);
    for (uint32_t i = 0; x->crop && i < r->n; i++)
        free(x->crop[i].list);
    free(x->crop);
    free(x->scale);
    free(x->step);
    grug_paths_clear(&x->paths);
    return rc;
}

int read_grug_within(struct graph *g, const char *text, size_t length, uint32_t max,
                     berth_error_t *err)
{
    struct expansion x = {.err = err, .max = max, .pairs = (uint64_t)max * PAIRS_FACTOR};
    struct grug_recipe r;
    int rc = -1;

    if (g->n > 0)
        return errtext_set(err, EEXIST, "there is a graph already, and a recipe can't extend one");
    if (grug_recipe_parse(&r, text, length, err) < 0)
        return -1;
    x.r = &r;
    x.g = graph_create();
    x.paths.g = x.g;
    if (!x.g)
        reader_failed(err);
    else
        rc = expand(&x);
    if (rc == 0)
        graph_swap(g, x.g);
    graph_destroy(x.g);
    grug_recipe_clear(&r);
    return rc;
}

int read_grug(struct graph *g, const char *text, size_t length, berth_error_t *err)
{
    return read_grug_within(g, text, length, READER_VERTICES_MAX, err);
}
