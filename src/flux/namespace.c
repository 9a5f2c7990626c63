/* R of an enclosing instance: its graph has the ranks and core ids of that one, its R_lite those of this one. The i-th
 * rank of the one is the i-th of the other, and so are the cores of each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "flux/r.h"

struct renumbering {
    struct idset theirs, own; /* ranks, as many of both */
    struct idset *cores;      /* of the i-th rank in the graph */
    struct idset *own_cores;  /* in R_lite */
};

/* The place of an id in a set; -1: it isn't in it. */
static int64_t place_in_set(const struct idset *set, int64_t id)
{
    int64_t place = 0;

    for (size_t i = 0; i < set->n && id >= set->v[i].lo; i++) {
        if (id <= set->v[i].hi)
            return place + id - set->v[i].lo;
        place += (int64_t)(set->v[i].hi - set->v[i].lo) + 1;
    }
    return -1;
}

/* The id at a place that is less than the set's count. */
static int64_t id_at(const struct idset *set, int64_t place)
{
    for (size_t i = 0; i < set->n; i++) {
        int64_t span = (int64_t)(set->v[i].hi - set->v[i].lo) + 1;
        if (place < span)
            return set->v[i].lo + place;
        place -= span;
    }
    return -1;
}

/* A number of a vertex from 0 to IDSET_ID_MAX; -1: it has none. */
static int64_t vertex_number(const json_t *meta, const char *key)
{
    const json_t *value = json_object_get(meta, key);
    json_int_t n = json_integer_value(value);

    return json_is_integer(value) && n >= 0 && n <= IDSET_ID_MAX ? n : -1;
}

static bool is_core(const json_t *meta)
{
    const char *type = json_string_value(json_object_get(meta, "type"));
    return type && strcmp(type, "core") == 0;
}

static int read_graph_ranks(const json_t *nodes, struct renumbering *n)
{
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node) {
        int64_t rank = vertex_number(json_object_get(node, "metadata"), "rank");
        if (rank >= 0 && idset_add(&n->theirs, (uint32_t)rank) < 0)
            return -1;
    }
    return 0;
}

static int read_graph_cores(const json_t *nodes, struct renumbering *n)
{
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node) {
        const json_t *meta = json_object_get(node, "metadata");
        int64_t place = place_in_set(&n->theirs, vertex_number(meta, "rank")),
                id = vertex_number(meta, "id");
        if (is_core(meta) && place >= 0 && id >= 0 && idset_add(&n->cores[place], (uint32_t)id) < 0)
            return -1;
    }
    return 0;
}

static int read_own_cores(const json_t *r, struct renumbering *n)
{
    const json_t *entry;
    size_t i;
    int rc = 0;

    json_array_foreach (json_object_get(json_object_get(r, "execution"), "R_lite"), i, entry) {
        struct idset ranks = {0}, cores = {0};
        const char *text = json_string_value(json_object_get(entry, "rank")),
                   *ids = json_string_value(
                       json_object_get(json_object_get(entry, "children"), "core"));
        if (text && ids && idset_decode(&ranks, text, strlen(text), NULL) == 0 &&
            idset_decode(&cores, ids, strlen(ids), NULL) == 0) {
            for (size_t k = 0; k < ranks.n && rc == 0; k++)
                for (uint64_t rank = ranks.v[k].lo; rank <= ranks.v[k].hi && rc == 0; rank++)
                    rc = idset_unite(&n->own_cores[place_in_set(&n->own, (int64_t)rank)], &cores);
        }
        idset_clear(&ranks);
        idset_clear(&cores);
    }
    return rc;
}

/* The last part of each path of a vertex is its new name. */
static void rename_paths(json_t *meta, const char *name)
{
    json_t *paths = json_object_get(meta, "paths"), *path;
    const char *subsystem;
    void *next;

    json_object_foreach_safe(paths, next, subsystem, path)
    {
        const char *text = json_string_value(path), *slash = text ? strrchr(text, '/') : NULL;
        if (slash)
            json_object_set_new(paths, subsystem,
                                json_sprintf("%.*s/%s", (int)(slash - text), text, name));
    }
}

static void renumber_vertex(json_t *meta, const struct renumbering *n)
{
    int64_t place = place_in_set(&n->theirs, vertex_number(meta, "rank")),
            id = vertex_number(meta, "id");
    char name[32];

    if (place < 0)
        return;
    json_object_set_new(meta, "rank", json_integer(id_at(&n->own, place)));
    if (!is_core(meta) || id < 0 || n->cores[place].count != n->own_cores[place].count)
        return;
    id = id_at(&n->own_cores[place], place_in_set(&n->cores[place], id));
    snprintf(name, sizeof(name), "core%" PRId64, id);
    json_object_set_new(meta, "id", json_integer(id));
    json_object_set_new(meta, "name", json_string(name));
    rename_paths(meta, name);
}

static int allocate_sets(struct renumbering *n)
{
    n->cores = calloc((size_t)n->theirs.count, sizeof(*n->cores));
    n->own_cores = calloc((size_t)n->theirs.count, sizeof(*n->own_cores));
    return n->cores && n->own_cores ? 0 : -1;
}

/* Returns 0, or -1 with ENOMEM. */
static int renumber(json_t *r, json_t *nodes, struct renumbering *n)
{
    json_t *node;
    size_t i;

    if (allocate_sets(n) < 0 || read_graph_cores(nodes, n) < 0 || read_own_cores(r, n) < 0)
        return -1;
    json_array_foreach (nodes, i, node) {
        renumber_vertex(json_object_get(node, "metadata"), n);
    }
    return 0;
}

static json_t *nodes_of(const json_t *r)
{
    return json_object_get(json_object_get(json_object_get(r, "scheduling"), "graph"), "nodes");
}

static void clear_renumbering(struct renumbering *n)
{
    for (uint64_t i = 0; i < n->theirs.count; i++) {
        if (n->cores)
            idset_clear(&n->cores[i]);
        if (n->own_cores)
            idset_clear(&n->own_cores[i]);
    }
    free(n->cores);
    free(n->own_cores);
    idset_clear(&n->theirs);
    idset_clear(&n->own);
}

/* Returns 1 if the graph of R can be renumbered, 0 if there is nothing to do, -1 with ENOMEM. */
static int read_ranks(const json_t *r, struct renumbering *n)
{
    berth_error_t err;

    if (!json_is_array(nodes_of(r)) || r_ranks(r, &n->own, &err) < 0 || n->own.count == 0)
        return 0;
    if (read_graph_ranks(nodes_of(r), n) < 0)
        return -1;
    return n->theirs.count == n->own.count;
}

int r_check_graph_ranks(const json_t *r, berth_error_t *err)
{
    struct renumbering n = {0};
    struct strbuf text = {0};
    int rc = 0;

    if (json_is_array(nodes_of(r)) && r_ranks(r, &n.own, err) == 0 &&
        read_graph_ranks(nodes_of(r), &n) == 0 && n.theirs.count != n.own.count &&
        idset_subtract(&n.own, &n.theirs) == 0 && n.own.count > 0) {
        idset_encode(&n.own, false, &text);
        rc = errtext_set(err, EINVAL, "R: scheduling: expected a graph with all ranks, without %s",
                         text.failed ? "some" : strbuf_text(&text));
    }
    strbuf_clear(&text);
    clear_renumbering(&n);
    return rc;
}

json_t *r_in_own_ranks(const json_t *r)
{
    struct renumbering n = {0};
    int rc = read_ranks(r, &n);
    json_t *copy = rc < 0 ? NULL : rc > 0 ? json_deep_copy(r) : json_incref((json_t *)r);

    if (copy && rc > 0 && renumber(copy, nodes_of(copy), &n) < 0) {
        json_decref(copy);
        copy = NULL;
    }
    clear_renumbering(&n);
    if (!copy)
        errno = ENOMEM;
    return copy;
}

bool r_graph_has_cores(const json_t *r)
{
    const json_t *item;
    size_t i;

    json_array_foreach (nodes_of(r), i, item) {
        if (is_core(json_object_get(item, "metadata")))
            return true;
    }
    json_array_foreach (json_object_get(json_object_get(r, "execution"), "R_lite"), i, item) {
        if (json_object_get(json_object_get(item, "children"), "core"))
            return false;
    }
    return true;
}

int64_t r_own_id(const json_t *r, int64_t rank, const char *type, int64_t id)
{
    struct renumbering n = {0};
    int rc = read_ranks(r, &n);
    int64_t own = rc == 0 ? id : -1;

    if (rc > 0 && allocate_sets(&n) == 0 && read_graph_cores(nodes_of(r), &n) == 0 &&
        read_own_cores(r, &n) == 0) {
        int64_t place = place_in_set(&n.theirs, rank), core;
        if (strcmp(type, "rank") == 0)
            own = place < 0 ? -1 : id_at(&n.own, place);
        else if (strcmp(type, "core") != 0)
            own = place < 0 ? -1 : id;
        else if (place >= 0 && n.cores[place].count == n.own_cores[place].count &&
                 (core = place_in_set(&n.cores[place], id)) >= 0)
            own = id_at(&n.own_cores[place], core);
    }
    clear_renumbering(&n);
    return own;
}
