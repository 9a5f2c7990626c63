/* Names and paths: made when asked for, never kept where they follow from the edges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "resource/graph.h"

void graph_name(const struct graph *g, uint32_t v, struct strbuf *out)
{
    const struct vertex *x = &g->v[v];

    if (x->name) {
        strbuf_put(out, intern_text(&g->names, x->name), intern_length(&g->names, x->name));
        return;
    }
    strbuf_put(out, intern_text(&g->names, x->basename), intern_length(&g->names, x->basename));
    if (x->id != -1)
        strbuf_put_int(out, x->id);
}

bool graph_is_named(const struct graph *g, uint32_t v, const char *text, size_t length)
{
    const struct vertex *x = &g->v[v];
    uint32_t part = x->name ? x->name : x->basename;
    size_t n = intern_length(&g->names, part);
    char digits[STRBUF_NUMBER_MAX + 1];
    size_t d = 0;

    if (length < n || memcmp(text, intern_text(&g->names, part), n) != 0)
        return false;
    if (!x->name && x->id != -1) {
        uint64_t magnitude = x->id < 0 ? 0 - (uint64_t)x->id : (uint64_t)x->id;
        if (x->id < 0)
            digits[d++] = '-';
        d += strbuf_decimal(digits + d, magnitude);
    }
    return length == n + d && memcmp(text + n, digits, d) == 0;
}

int graph_set_path(struct graph *g, uint32_t v, uint8_t subsystem, const char *path)
{
    uint32_t text;

    if (intern_put(&g->names, path, strlen(path), &text) < 0)
        return -1;
    if (array_grow((void **)&g->paths, &g->paths_capacity, (size_t)g->n_paths + 1,
                   sizeof(*g->paths)) < 0)
        return -1;
    g->paths[g->n_paths++] = (struct graph_path){v, subsystem, text};
    return 0;
}

/* The path that was set for v, or NULL. The array is sorted by vertex when sealed. */
static const struct graph_path *set_path(const struct graph *g, uint32_t v, uint8_t subsystem)
{
    uint32_t low = 0, high = g->n_paths;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->paths[middle].vertex < v)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < g->n_paths && g->paths[low].vertex == v; low++)
        if (g->paths[low].subsystem == subsystem)
            return &g->paths[low];
    return NULL;
}

bool graph_has_path(const struct graph *g, uint32_t v, uint8_t subsystem)
{
    return g->root[subsystem] == v || graph_parent(g, v, subsystem) != VERTEX_NONE ||
           (g->v[v].subsystem == subsystem && !g->v[v].gone) || set_path(g, v, subsystem);
}

bool graph_path(const struct graph *g, uint32_t v, uint8_t subsystem, struct strbuf *out)
{
    uint32_t chain[GRAPH_DEPTH_MAX];
    uint32_t depth = 0;
    const struct graph_path *set = NULL;

    if (!graph_has_path(g, v, subsystem))
        return false;
    for (uint32_t x = v; x != VERTEX_NONE && depth < GRAPH_DEPTH_MAX;
         x = graph_parent(g, x, subsystem)) {
        set = g->n_paths ? set_path(g, x, subsystem) : NULL;
        if (set)
            break;
        chain[depth++] = x;
    }
    if (set)
        strbuf_put(out, intern_text(&g->names, set->text), intern_length(&g->names, set->text));
    while (depth > 0) {
        strbuf_putc(out, '/');
        graph_name(g, chain[--depth], out);
    }
    return true;
}

bool graph_is_found(const struct graph *g, uint32_t v, uint8_t subsystem)
{
    uint32_t x = v;

    for (uint32_t depth = 0; x != VERTEX_NONE && depth < GRAPH_DEPTH_MAX; depth++) {
        if (x == g->root[subsystem] || (g->n_paths && set_path(g, x, subsystem)))
            return true;
        x = graph_parent(g, x, subsystem);
    }
    return false;
}

struct found {
    uint32_t *v;
    size_t n, capacity;
};

static int add_once(struct found *f, uint32_t v)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i] == v)
            return 0;
    if (array_grow((void **)&f->v, &f->capacity, f->n + 1, sizeof(*f->v)) < 0)
        return -1;
    f->v[f->n++] = v;
    return 0;
}

/* Find the children of v in a subsystem that continue a path; `below` is the rest of the path. */
static int descend(const struct graph *g, uint32_t v, uint8_t subsystem, const char *rest,
                   uint32_t depth, struct found *f)
{
    const char *slash = strchr(rest, '/');
    size_t length = slash ? (size_t)(slash - rest) : strlen(rest);
    const uint32_t *children;
    uint32_t n = graph_children(g, v, &children);

    if (depth > GRAPH_DEPTH_MAX)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        if (graph_child_subsystem(g, v, i) != subsystem ||
            !graph_is_named(g, children[i], rest, length) ||
            (g->n_paths && set_path(g, children[i], subsystem)))
            continue;
        if (slash ? descend(g, children[i], subsystem, slash + 1, depth + 1, f) < 0
                  : add_once(f, children[i]) < 0)
            return -1;
    }
    return 0;
}

/* Find the vertices whose path was set and is the text or a prefix of it. */
static int find_set(const struct graph *g, const char *path, struct found *f)
{
    size_t length = strlen(path);

    for (uint32_t i = 0; i < g->n_paths; i++) {
        const struct graph_path *set = &g->paths[i];
        size_t n = intern_length(&g->names, set->text);
        if (g->v[set->vertex].gone || n > length ||
            memcmp(intern_text(&g->names, set->text), path, n) != 0)
            continue;
        if (n == length
                ? add_once(f, set->vertex) < 0
                : path[n] == '/' && descend(g, set->vertex, set->subsystem, path + n + 1, 1, f) < 0)
            return -1;
    }
    return 0;
}

int graph_find_path(const struct graph *g, const char *path, uint32_t **found, size_t *n)
{
    struct found f = {0};
    const char *slash = *path == '/' ? strchr(path + 1, '/') : NULL;
    size_t first = slash ? (size_t)(slash - path - 1) : *path ? strlen(path + 1) : 0;
    int rc = 0;

    for (uint8_t s = 0; *path == '/' && s < g->subsystems.n && rc == 0; s++) {
        uint32_t root = g->root[s];
        if (root == VERTEX_NONE || g->v[root].gone || !graph_is_named(g, root, path + 1, first))
            continue;
        rc = slash ? descend(g, root, s, slash + 1, 1, &f) : add_once(&f, root);
    }
    if (rc == 0)
        rc = find_set(g, path, &f);
    if (rc < 0) {
        free(f.v);
        errno = ENOMEM;
        return -1;
    }
    if (f.n > 1)
        qsort(f.v, f.n, sizeof(*f.v), compare_u32);
    *found = f.v;
    *n = f.n;
    return 0;
}
