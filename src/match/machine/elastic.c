/* Changing the machine while jobs run: it grows and shrinks, goes down and comes up, and gets properties. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "match/inner.h"
#include "match/plan.h"
#include "resource/readers/reader.h"

/* The vertices of a path; ENOENT if there are none. */
static int vertices_at(const struct match *m, const char *path, uint32_t **found, size_t *n,
                       berth_error_t *err)
{
    if (graph_find_path(m->g, path, found, n) < 0)
        return errtext_no_memory(err);
    if (*n > 0)
        return 0;
    free(*found);
    return errtext_set(err, ENOENT, "path \"%s\": there is no such vertex", path);
}

static int64_t nodes_of(const struct match *m, uint32_t v)
{
    const struct class_sum *sum =
        m->topo.class_of[v] == CLASS_NONE ? NULL : topo_sum(&m->topo, v, TYPE_NODE);

    return (sum ? (int64_t)sum->units : 0) + (m->g->v[v].type == TYPE_NODE ? m->g->v[v].size : 0);
}

/* Change the status of all of them or, if memory runs out, of none. */
static int set_all_status(struct match *m, const uint32_t *v, size_t n, bool up)
{
    for (size_t i = 0; i < n; i++)
        if (match_add_down(m, v[i], 0) < 0)
            return -1;
    for (size_t i = 0; i < n; i++) {
        struct vertex *x = &m->g->v[v[i]];
        if (x->down == !up)
            continue;
        match_add_down(m, v[i], up ? -1 : 1);
        x->down = !up;
        m->nodes_up += up ? nodes_of(m, v[i]) : -nodes_of(m, v[i]);
    }
    return 0;
}

int match_set_status(match_t *m, const char *path, bool up, berth_error_t *err)
{
    uint32_t *found;
    size_t n;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    int rc = set_all_status(m, found, n, up);
    free(found);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

int match_get_status(match_t *m, const char *path, bool *up, berth_error_t *err)
{
    uint32_t *found;
    size_t n;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    *up = !m->g->v[found[n - 1]].down;
    free(found);
    return 0;
}

/* By rank: the topmost vertex with it, which has the shortest path. */
struct tops {
    uint32_t *of; /* by rank */
    uint32_t ranks;
};

static uint32_t depth_of(const struct match *m, uint32_t v)
{
    uint32_t depth = 0;

    for (uint32_t x = v; m->topo.parent && x != VERTEX_NONE && depth <= GRAPH_DEPTH_MAX;
         x = m->topo.parent[x])
        depth++;
    return depth;
}

static int find_tops(const struct match *m, struct tops *t)
{
    t->ranks = 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        if (!m->g->v[v].gone && m->g->v[v].rank >= 0 && (uint32_t)m->g->v[v].rank >= t->ranks)
            t->ranks = (uint32_t)m->g->v[v].rank + 1;
    if (t->ranks > 4 * (uint64_t)m->g->n + 65536) /* ranks are too far apart for an array */
        t->ranks = 4 * m->g->n + 65536;
    t->of = malloc(((size_t)t->ranks + 1) * sizeof(*t->of));
    if (!t->of)
        return -1;
    memset(t->of, 0xff, ((size_t)t->ranks + 1) * sizeof(*t->of));
    for (uint32_t v = 0; v < m->g->n; v++) {
        const struct vertex *x = &m->g->v[v];
        if (x->gone || x->rank < 0 || (uint32_t)x->rank >= t->ranks)
            continue;
        uint32_t *top = &t->of[x->rank];
        if (*top == VERTEX_NONE || depth_of(m, v) < depth_of(m, *top))
            *top = v;
    }
    return 0;
}

static int decode_ranks(const char *text, const struct tops *t, struct idset *ranks,
                        berth_error_t *err)
{
    if (strcmp(text, "all") == 0)
        return t->ranks > 0 && idset_add_range(ranks, 0, t->ranks - 1) < 0 ? errtext_no_memory(err)
                                                                           : 0;
    return idset_decode(ranks, text, strlen(text), err);
}

int match_rank_tops(const struct match *m, const char *text, uint32_t **v, size_t *n,
                    berth_error_t *err)
{
    struct idset ranks = {0};
    struct tops tops;
    int rc = -1;

    *n = 0;
    *v = NULL;
    if (find_tops(m, &tops) < 0)
        return errtext_no_memory(err);
    if (decode_ranks(text, &tops, &ranks, err) == 0) {
        *v = malloc(((size_t)tops.ranks + 1) * sizeof(**v));
        rc = *v ? 0 : errtext_no_memory(err);
    }
    for (uint32_t r = rc == 0 ? idset_first(&ranks) : IDSET_NONE; r != IDSET_NONE && r < tops.ranks;
         r = idset_next(&ranks, r))
        if (tops.of[r] != VERTEX_NONE)
            (*v)[(*n)++] = tops.of[r];
    free(tops.of);
    idset_clear(&ranks);
    return rc;
}

int match_set_rank_status(match_t *m, const char *text, bool up, berth_error_t *err)
{
    uint32_t *v;
    size_t n;

    if (match_rank_tops(m, text, &v, &n, err) < 0)
        return -1;
    int rc = set_all_status(m, v, n, up);
    free(v);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

/* Restore the properties of v[0] to v[n - 1]. */
static void restore_properties(struct match *m, const uint32_t *v, const uint32_t *props, size_t n)
{
    int saved = errno;

    for (size_t i = 0; i < n; i++)
        m->g->v[v[i]].props = props[i];
    errno = saved;
}

/* Set a property of several vertices, or remove it if value is NULL; all or nothing. */
static int change_property(struct match *m, const uint32_t *v, size_t n, const char *key,
                           const char *value)
{
    uint32_t *props = malloc((n + 1) * sizeof(*props));
    int rc = props ? 0 : -1;

    for (size_t i = 0; i < n && rc == 0; i++) {
        props[i] = m->g->v[v[i]].props;
        rc = value ? graph_set_property(m->g, v[i], key, value)
                   : graph_remove_property(m->g, v[i], key);
        if (rc < 0)
            restore_properties(m, v, props, i);
    }
    free(props);
    return rc;
}

int match_set_property(match_t *m, const char *path, const char *key, const char *value,
                       berth_error_t *err)
{
    uint32_t *found;
    size_t n;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    int rc = change_property(m, found, n, key, value);
    free(found);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

int match_remove_property(match_t *m, const char *path, const char *key, berth_error_t *err)
{
    uint32_t *found;
    size_t n;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    int rc = change_property(m, found, n, key, NULL);
    free(found);
    if (rc == 0)
        return 0;
    return errno == ENOENT
               ? errtext_set(err, ENOENT, "path \"%s\": it has no property \"%s\"", path, key)
               : errtext_no_memory(err);
}

int match_get_properties(match_t *m, const char *path,
                         void (*each)(void *context, int64_t uniq_id, const char *key,
                                      const char *value),
                         void *context, berth_error_t *err)
{
    uint32_t *found;
    size_t n;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        uint32_t props = m->g->v[found[i]].props;
        size_t size = propset_size(&m->g->props, props);
        int64_t uniq_id = graph_uniq_id(m->g, found[i]);
        for (size_t k = 0; k < size; k++) {
            struct property p = propset_at(&m->g->props, props, k);
            each(context, uniq_id, propset_text(&m->g->props, p.key),
                 propset_text(&m->g->props, p.value));
        }
        if (size == 0)
            each(context, uniq_id, NULL, NULL);
    }
    free(found);
    return 0;
}

/* Rebuild the matcher after a change of the graph; undo the change if that fails. */
static int follow_graph(struct match *m, struct graph *was, berth_error_t *err)
{
    if (match_rebuild(m) == 0) {
        graph_forget(was);
        return 0;
    }
    graph_restore(m->g, was);
    return errtext_set(err, errno, "%s",
                       errno == ELOOP     ? "the subsystem would run in a circle"
                       : errno == ENOTSUP ? "the subsystem would have no root"
                                          : "out of memory");
}

int match_attach(match_t *m, const char *text, size_t length, berth_error_t *err)
{
    struct graph was;

    if (graph_save(m->g, &was) < 0)
        return errtext_no_memory(err);
    if (read_jgf(m->g, text, length, err) == 0)
        return follow_graph(m, &was, err);
    graph_restore(m->g, &was);
    return -1;
}

static int remove_all(struct match *m, const uint32_t *v, size_t n, berth_error_t *err)
{
    struct graph was;

    if (graph_save(m->g, &was) < 0)
        return errtext_no_memory(err);
    if (graph_remove(m->g, v, n, m->topo.subsystem) == 0)
        return follow_graph(m, &was, err);
    graph_restore(m->g, &was);
    return errtext_no_memory(err);
}

int match_remove_path(match_t *m, const char *path, berth_error_t *err)
{
    uint32_t *found;
    size_t n;
    int rc;

    if (vertices_at(m, path, &found, &n, err) < 0)
        return -1;
    if (found[n - 1] == m->topo.root)
        rc = errtext_set(err, EINVAL, "path \"%s\": the root can't be removed", path);
    else
        rc = remove_all(m, &found[n - 1], 1, err);
    free(found);
    return rc;
}

int match_remove_ranks(match_t *m, const char *text, berth_error_t *err)
{
    uint32_t *v;
    size_t all, n = 0;

    if (match_rank_tops(m, text, &v, &all, err) < 0)
        return -1;
    for (size_t i = 0; i < all; i++)
        if (v[i] != m->topo.root)
            v[n++] = v[i];
    int rc = n > 0 ? remove_all(m, v, n, err) : 0;
    free(v);
    return rc;
}

bool match_is_down(const struct match *m, uint32_t v)
{
    return m->g->v[v].down;
}

int match_set_down(struct match *m, const uint32_t *v, size_t n, bool down)
{
    return set_all_status(m, v, n, !down);
}

int match_set_properties(struct match *m, const uint32_t *v, size_t n, const char *key,
                         const char *value)
{
    uint32_t *with = malloc((n + 1) * sizeof(*with));
    size_t some = 0;

    if (!with)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (value || propset_value(&m->g->props, m->g->v[v[i]].props, key))
            with[some++] = v[i];
    int rc = change_property(m, with, some, key, value);
    free(with);
    return rc;
}

/* A vertex below another one of the list is removed with that. */
int match_remove(struct match *m, const uint32_t *v, size_t n, berth_error_t *err)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == m->topo.root)
            return errtext_set(err, EINVAL, "the root can't be removed");
    return n > 0 ? remove_all(m, v, n, err) : 0;
}
