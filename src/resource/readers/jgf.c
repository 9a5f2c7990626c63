/* Reading the JSON Graph Format into a new graph, or adding to one.
 *
 * Everything that can be wrong with the text is found before the graph is changed. Then the new vertices
 * are added, the edges that have a new end, and the paths that don't follow from the edges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/intern.h"
#include "resource/readers/common.h"

#define NO_INDEX UINT32_MAX

#define PREFIX_NONE VERTEX_NONE
#define PREFIX_MANY (VERTEX_NONE - 1)

struct loading {
    struct graph *g;
    const struct jgf *j;
    berth_error_t *err;
    uint32_t *v;              /* by index of the text: the graph's vertex, or the one it will be */
    uint32_t *origin;         /* the index that makes the vertex; NO_INDEX: it exists already */
    uint32_t base, n;         /* the graph's vertices before and afterwards */
    bool *edge_new;           /* by index of an edge */
    struct intern subsystems; /* those of the text */
    uint32_t *parent[GRAPH_SUBSYSTEM_MAX]; /* by them and by index: the source of the first edge */
    bool has_root[GRAPH_SUBSYSTEM_MAX];
    uint8_t number[GRAPH_SUBSYSTEM_MAX]; /* the graph's */
    struct intern places;                /* a path and a rank, */
    uint32_t *place;                     /* and the index that was the first to have them */
    struct intern prefixes;              /* paths that were asked for in the graph, */
    uint32_t *prefix_vertex;             /* and the vertex that has it, or one of the below */
    size_t prefix_capacity;
    struct strbuf text;
};

static int wrong_path(struct loading *l, int errnum, size_t node, const char *subsystem,
                      const char *what)
{
    return errtext_set(l->err, errnum, "%sgraph.nodes[%zu].metadata.paths%s%s: %s", l->j->prefix,
                       node, subsystem ? "." : "", subsystem ? subsystem : "", what);
}

static uint32_t slashes(const char *path)
{
    uint32_t n = 0;

    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* The number of a subsystem among the subsystems of the text. */
static int subsystem_of(struct loading *l, const char *name, uint32_t *number)
{
    uint32_t ignored;

    if (intern_find(&l->subsystems, name, strlen(name), number))
        return 0;
    uint32_t n = l->g->subsystems.n;
    for (uint32_t s = 0; s < l->subsystems.n; s++)
        n += !intern_find(&l->g->subsystems, intern_text(&l->subsystems, s),
                          intern_length(&l->subsystems, s), &ignored);
    if (!intern_find(&l->g->subsystems, name, strlen(name), &ignored))
        n++;
    if (n > GRAPH_SUBSYSTEM_MAX)
        return errtext_set(l->err, EINVAL, "subsystem '%s' is one too many, expected at most %d",
                           name, GRAPH_SUBSYSTEM_MAX);
    if (intern_put(&l->subsystems, name, strlen(name), number) < 0)
        return reader_failed(l->err);
    if (intern_find(&l->g->subsystems, name, strlen(name), &ignored))
        l->has_root[*number] = l->g->root[ignored] != VERTEX_NONE;
    return 0;
}

static int allocate_tables(struct loading *l)
{
    size_t n = l->j->n + 1, n_paths = 1;

    for (size_t i = 0; i < l->j->n; i++)
        n_paths += l->j->vertex[i].n_paths;
    l->v = malloc(n * sizeof(*l->v));
    l->origin = malloc(n * sizeof(*l->origin));
    l->edge_new = calloc(l->j->n_edges + 1, sizeof(*l->edge_new));
    l->place = malloc(n_paths * sizeof(*l->place));
    return l->v && l->origin && l->edge_new && l->place ? 0 : reader_failed(l->err);
}

static void loading_clear(struct loading *l)
{
    int saved = errno;

    free(l->v);
    free(l->origin);
    free(l->edge_new);
    free(l->place);
    free(l->prefix_vertex);
    for (int s = 0; s < GRAPH_SUBSYSTEM_MAX; s++)
        free(l->parent[s]);
    intern_clear(&l->subsystems);
    intern_clear(&l->places);
    intern_clear(&l->prefixes);
    strbuf_clear(&l->text);
    errno = saved;
}

/* The first vertex of the graph with that path and that rank, or VERTEX_NONE. */
static int find_path(struct loading *l, const char *path, int32_t rank, uint32_t *found)
{
    uint32_t *v;
    size_t n;

    *found = VERTEX_NONE;
    if (graph_find_path(l->g, path, &v, &n) < 0)
        return reader_failed(l->err);
    for (size_t i = n; i > 0; i--)
        if (l->g->v[v[i - 1]].rank == rank)
            *found = v[i - 1];
    free(v);
    return 0;
}

/* The vertex that has the first length bytes of a path for its path, or PREFIX_NONE or PREFIX_MANY. Asked
 * once for all the children of one vertex, which are mostly many.
 */
static int find_prefix_vertex(struct loading *l, const char *path, size_t length, uint32_t *vertex)
{
    uint32_t id, *found;
    size_t n;

    if (!intern_find(&l->prefixes, path, length, &id)) {
        if (intern_put(&l->prefixes, path, length, &id) < 0)
            return reader_failed(l->err);
        if (array_grow((void **)&l->prefix_vertex, &l->prefix_capacity, (size_t)id + 1,
                       sizeof(*l->prefix_vertex)) < 0)
            return reader_failed(l->err);
        if (graph_find_path(l->g, intern_text(&l->prefixes, id), &found, &n) < 0)
            return reader_failed(l->err);
        l->prefix_vertex[id] = n == 0 ? PREFIX_NONE : n == 1 ? found[0] : PREFIX_MANY;
        free(found);
    }
    *vertex = l->prefix_vertex[id];
    return 0;
}

/* As find_path, by the children of the vertex that has the path but for the last name. Where paths were
 * set, or there are several such vertices, or it is known by another path, the graph is asked.
 */
static int find_below(struct loading *l, const char *path, int32_t rank, uint32_t *found)
{
    const char *end = strrchr(path, '/');
    const uint32_t *children;
    uint32_t parent = PREFIX_NONE, subsystem = GRAPH_CONTAINMENT;

    *found = VERTEX_NONE;
    if (l->g->n_paths > 0 || end == path)
        return find_path(l, path, rank, found);
    if (find_prefix_vertex(l, path, (size_t)(end - path), &parent) < 0)
        return -1;
    if (parent == PREFIX_NONE)
        return 0;
    if (parent == PREFIX_MANY)
        return find_path(l, path, rank, found);
    uint32_t n = graph_children(l->g, parent, &children);
    for (uint32_t i = 0; i < n; i++) {
        if (l->g->v[children[i]].rank != rank || children[i] >= *found)
            continue;
        strbuf_reset(&l->text);
        graph_name(l->g, children[i], &l->text);
        if (strcmp(strbuf_text(&l->text), end + 1) != 0)
            continue;
        *found = children[i];
        subsystem = graph_child_subsystem(l->g, parent, i);
    }
    if (*found == VERTEX_NONE)
        return l->text.failed ? reader_failed(l->err) : 0;
    strbuf_reset(&l->text);
    if (graph_path(l->g, parent, (uint8_t)subsystem, &l->text) &&
        l->text.len == (size_t)(end - path) && memcmp(l->text.data, path, l->text.len) == 0)
        return 0;
    return find_path(l, path, rank, found);
}

/* Find the vertex that node i means, if there is one: in the graph, or among the nodes before. */
static int find_vertex(struct loading *l, size_t i)
{
    const struct jgf_vertex *node = &l->j->vertex[i];

    l->v[i] = VERTEX_NONE;
    l->origin[i] = NO_INDEX;
    for (size_t k = 0; k < node->n_paths; k++) {
        const char *path = node->paths[k].path;
        uint32_t place, known = l->places.n;
        if (l->g->live > 0) {
            if (find_below(l, path, node->rank, &l->v[i]) < 0)
                return -1;
            if (l->v[i] != VERTEX_NONE)
                return 0;
        }
        strbuf_reset(&l->text);
        strbuf_puts(&l->text, path);
        strbuf_put(&l->text, (const char *)&node->rank, sizeof(node->rank));
        if (l->text.failed || intern_put(&l->places, l->text.data, l->text.len, &place) < 0)
            return reader_failed(l->err);
        if (place == known)
            l->place[place] = (uint32_t)i;
        else if (l->place[place] != i) {
            l->v[i] = l->v[l->place[place]];
            l->origin[i] = l->origin[l->place[place]];
            return 0;
        }
    }
    return 0;
}

static int note_root(struct loading *l, size_t i)
{
    const struct jgf_vertex *node = &l->j->vertex[i];
    uint32_t s;

    for (size_t k = 0; k < node->n_paths; k++) {
        if (subsystem_of(l, node->paths[k].subsystem, &s) < 0)
            return -1;
        if (slashes(node->paths[k].path) != 1)
            continue;
        if (l->has_root[s])
            return wrong_path(l, EINVAL, i, node->paths[k].subsystem,
                              "possible duplicate root, expected one path with one slash");
        l->has_root[s] = true;
    }
    return 0;
}

static int find_vertices(struct loading *l)
{
    l->n = l->base;
    for (size_t i = 0; i < l->j->n; i++) {
        if (find_vertex(l, i) < 0)
            return -1;
        if (l->v[i] != VERTEX_NONE)
            continue;
        if (l->n >= GRAPH_VERTEX_MAX) {
            errno = EOVERFLOW;
            return reader_failed(l->err);
        }
        l->v[i] = l->n++;
        l->origin[i] = (uint32_t)i;
        if (note_root(l, i) < 0)
            return -1;
    }
    return 0;
}

/* True if node i makes its vertex. */
static bool is_maker(const struct loading *l, size_t i)
{
    return l->origin[i] == i;
}

static int note_parent(struct loading *l, const struct jgf_edge *e)
{
    uint32_t s, to = l->origin[e->target];

    if (subsystem_of(l, e->subsystem, &s) < 0)
        return -1;
    if (to == NO_INDEX)
        return 0;
    if (!l->parent[s]) {
        l->parent[s] = malloc((l->j->n + 1) * sizeof(**l->parent));
        if (!l->parent[s])
            return reader_failed(l->err);
        memset(l->parent[s], 0xff, (l->j->n + 1) * sizeof(**l->parent));
    }
    if (l->parent[s][to] == NO_INDEX)
        l->parent[s][to] = e->source;
    return 0;
}

/* A child by its parent and its unique id; there may be only one. */
struct child {
    int64_t uniq_id;
    uint32_t parent;
    uint32_t edge; /* index of the text, or NO_INDEX */
};

static int by_parent(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->uniq_id != y->uniq_id)
        return x->uniq_id < y->uniq_id ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* How many children there are under old vertices that get new ones; they are put into c, if that isn't
 * NULL.
 */
static int old_children(const struct loading *l, struct child *c, size_t *n)
{
    uint8_t *seen = calloc((size_t)l->base + 1, 1);
    const uint32_t *children;

    *n = 0;
    if (!seen)
        return reader_failed(l->err);
    for (size_t i = 0; i < l->j->n_edges; i++) {
        uint32_t v = l->v[l->j->edge[i].source];
        if (!l->edge_new[i] || v >= l->base || seen[v])
            continue;
        seen[v] = 1;
        uint32_t k = graph_children(l->g, v, &children);
        for (uint32_t m = 0; m < k && c; m++)
            c[*n + m] = (struct child){graph_uniq_id(l->g, children[m]), v, NO_INDEX};
        *n += k;
    }
    free(seen);
    return 0;
}

static int check_children(struct loading *l)
{
    size_t n_old, n = 0;
    struct child *c;
    int rc = 0;

    if (old_children(l, NULL, &n_old) < 0)
        return -1;
    c = malloc((n_old + l->j->n_edges + 1) * sizeof(*c));
    if (!c)
        return reader_failed(l->err);
    if (old_children(l, c, &n) < 0) {
        free(c);
        return -1;
    }
    for (size_t i = 0; i < l->j->n_edges; i++) {
        const struct jgf_edge *e = &l->j->edge[i];
        if (!l->edge_new[i])
            continue;
        uint32_t to = l->origin[e->target];
        int64_t id =
            to == NO_INDEX ? graph_uniq_id(l->g, l->v[e->target]) : l->j->vertex[to].uniq_id;
        c[n++] = (struct child){id, l->v[e->source], (uint32_t)i};
    }
    qsort(c, n, sizeof(*c), by_parent);
    for (size_t i = 1; i < n && rc == 0; i++) {
        uint32_t at = c[i].edge != NO_INDEX ? c[i].edge : c[i - 1].edge;
        if (at != NO_INDEX && c[i].parent == c[i - 1].parent && c[i].uniq_id == c[i - 1].uniq_id)
            rc = errtext_set(l->err, EEXIST,
                             "an edge from '%s' to '%s': a second child with uniq_id %lld",
                             l->j->vertex[l->j->edge[at].source].outer_id,
                             l->j->vertex[l->j->edge[at].target].outer_id, (long long)c[i].uniq_id);
    }
    free(c);
    return rc;
}

static int find_edges(struct loading *l)
{
    for (size_t i = 0; i < l->j->n_edges; i++) {
        const struct jgf_edge *e = &l->j->edge[i];
        l->edge_new[i] = is_maker(l, e->source) || is_maker(l, e->target);
        if (!l->edge_new[i])
            continue;
        if (l->v[e->source] == l->v[e->target])
            return errtext_set(l->err, EINVAL, "an edge from '%s' to itself",
                               l->j->vertex[e->source].outer_id);
        if (note_parent(l, e) < 0)
            return -1;
    }
    return check_children(l);
}

static int add_vertex(struct loading *l, const struct jgf_vertex *node)
{
    struct vertex_spec spec = {
        .type = node->type,
        .basename = node->basename,
        .name = node->name,
        /* The text's unit is left out, as Fluxion's recorded sessions have it. */
        .id = node->id,
        .uniq_id = node->uniq_id,
        .size = node->size,
        .rank = node->rank,
        .down = node->down};
    uint32_t s;

    if (subsystem_of(l, node->paths[0].subsystem, &s) < 0)
        return -1;
    spec.subsystem = l->number[s];
    uint32_t v = graph_add(l->g, &spec);
    if (v == VERTEX_NONE)
        return reader_failed(l->err);
    for (size_t k = 0; k < node->n_properties; k++)
        if (graph_set_property(l->g, v, node->properties[k].key, node->properties[k].value) < 0)
            return reader_failed(l->err);
    return 0;
}

static const char *path_in(const struct jgf_vertex *node, const char *subsystem)
{
    for (size_t k = 0; k < node->n_paths; k++)
        if (strcmp(node->paths[k].subsystem, subsystem) == 0)
            return node->paths[k].path;
    return NULL;
}

/* Write the path that follows from the edges to l->text. Returns false if there is none, if no vertex
 * would be found by it, or if a slash in the name would make it look like another path.
 */
static bool follow_edges(struct loading *l, size_t i, uint32_t s)
{
    const char *subsystem = intern_text(&l->subsystems, s);
    uint32_t parent = l->parent[s] ? l->parent[s][i] : NO_INDEX;

    strbuf_reset(&l->text);
    if (parent != NO_INDEX && l->origin[parent] != NO_INDEX) {
        const char *path = path_in(&l->j->vertex[l->origin[parent]], subsystem);
        if (!path)
            return false;
        strbuf_puts(&l->text, path);
    } else if (parent != NO_INDEX && (!graph_is_found(l->g, l->v[parent], l->number[s]) ||
                                      !graph_path(l->g, l->v[parent], l->number[s], &l->text))) {
        return false;
    }
    strbuf_putc(&l->text, '/');
    size_t name = l->text.len;
    graph_name(l->g, l->v[i], &l->text);
    return l->text.len == name || !memchr(l->text.data + name, '/', l->text.len - name);
}

static int set_paths(struct loading *l, size_t i)
{
    const struct jgf_vertex *node = &l->j->vertex[i];
    uint32_t s;

    for (size_t k = 0; k < node->n_paths; k++) {
        const char *path = node->paths[k].path;
        if (subsystem_of(l, node->paths[k].subsystem, &s) < 0)
            return -1;
        if (slashes(path) == 1)
            graph_set_root(l->g, l->number[s], l->v[i]);
        if (follow_edges(l, i, s) && strcmp(strbuf_text(&l->text), path) == 0)
            continue;
        if (l->text.failed || graph_set_path(l->g, l->v[i], l->number[s], path) < 0)
            return reader_failed(l->err);
    }
    return 0;
}

/* Change the graph. */
static int add_all(struct loading *l)
{
    for (uint32_t s = 0; s < l->subsystems.n; s++) {
        uint32_t number = graph_subsystem(l->g, intern_text(&l->subsystems, s));
        if (number == UINT32_MAX)
            return reader_failed(l->err);
        l->number[s] = (uint8_t)number;
    }
    for (size_t i = 0; i < l->j->n; i++)
        if (is_maker(l, i) && add_vertex(l, &l->j->vertex[i]) < 0)
            return -1;
    for (size_t i = 0; i < l->j->n; i++)
        if (is_maker(l, i) && set_paths(l, i) < 0)
            return -1;
    for (size_t i = 0; i < l->j->n_edges; i++) {
        const struct jgf_edge *e = &l->j->edge[i];
        uint32_t s;
        if (!l->edge_new[i])
            continue;
        if (subsystem_of(l, e->subsystem, &s) < 0)
            return -1;
        if (graph_connect(l->g, l->v[e->source], l->v[e->target], l->number[s]) < 0)
            return reader_failed(l->err);
    }
    return 0;
}

static int fill_from_jgf(struct graph *g, const struct jgf *j, berth_error_t *err)
{
    struct loading l = {.g = g, .j = j, .err = err, .base = g->n};
    int rc = allocate_tables(&l);

    if (rc == 0)
        rc = find_vertices(&l);
    if (rc == 0)
        rc = find_edges(&l);
    if (rc == 0) {
        rc = add_all(&l);
        if (rc < 0)
            graph_take_back(g);
        else
            rc = reader_seal(g, err);
    }
    loading_clear(&l);
    return rc;
}

int read_jgf(struct graph *g, const char *text, size_t length, berth_error_t *err)
{
    struct jgf j;
    int rc;

    if (jgf_parse(&j, text, length, err) < 0)
        return -1;
    if (g->n > 0) {
        rc = fill_from_jgf(g, &j, err);
    } else {
        struct graph *fresh = graph_create();
        rc = fresh ? fill_from_jgf(fresh, &j, err) : reader_failed(err);
        if (rc == 0 && fresh->n == 0)
            rc = errtext_set(err, EINVAL, "%sgraph.nodes: expected at least one", j.prefix);
        if (rc == 0)
            graph_swap(g, fresh);
        graph_destroy(fresh);
    }
    jgf_free(&j);
    return rc;
}
