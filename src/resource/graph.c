#include "resource/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const known_types[] = {"cluster", "core",         "socket", "gpu",
                                          "node",    "rack",         "slot",   "xor_slot",
                                          "ssd",     "storage_node", "*"};

struct graph *graph_create(void)
{
    struct graph *g = calloc(1, sizeof(*g));
    uint32_t id;

    if (!g)
        return NULL;
    for (int s = 0; s < GRAPH_SUBSYSTEM_MAX; s++)
        g->root[s] = VERTEX_NONE;
    if (propset_init(&g->props) < 0 || intern_put(&g->names, "", 0, &id) < 0 ||
        graph_subsystem(g, "containment") == UINT32_MAX)
        goto fail;
    for (size_t i = 0; i < sizeof(known_types) / sizeof(known_types[0]); i++)
        if (graph_type(g, known_types[i]) == UINT32_MAX)
            goto fail;
    if (graph_seal(g) < 0)
        goto fail;
    return g;
fail:
    graph_destroy(g);
    return NULL;
}

void graph_destroy(struct graph *g)
{
    int saved = errno;

    if (!g)
        return;
    intern_clear(&g->types);
    intern_clear(&g->names);
    intern_clear(&g->subsystems);
    propset_clear(&g->props);
    graph_forget(g);
    free(g);
    errno = saved;
}

static uint32_t number_for_name(struct intern *t, const char *name, uint32_t max)
{
    size_t length = strlen(name);
    uint32_t id;

    if (intern_find(t, name, length, &id))
        return id;
    if (t->n >= max) {
        errno = EOVERFLOW;
        return UINT32_MAX;
    }
    return intern_put(t, name, length, &id) < 0 ? UINT32_MAX : id;
}

uint32_t graph_type(struct graph *g, const char *name)
{
    return number_for_name(&g->types, name, UINT16_MAX);
}

uint32_t graph_subsystem(struct graph *g, const char *name)
{
    return number_for_name(&g->subsystems, name, GRAPH_SUBSYSTEM_MAX);
}

static int reserve_vertex(struct graph *g)
{
    if (g->n < g->capacity)
        return 0;
    if (g->n >= GRAPH_VERTEX_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    uint32_t capacity = g->capacity + g->capacity / 4 + 64;
    struct vertex *v = reallocarray(g->v, capacity, sizeof(*v));
    if (!v)
        return -1;
    g->v = v;
    if (g->uniq_id) {
        int64_t *uniq = reallocarray(g->uniq_id, capacity, sizeof(*uniq));
        if (!uniq)
            return -1;
        g->uniq_id = uniq;
    }
    g->capacity = capacity;
    return 0;
}

/* Unique ids are stored once a vertex has one that is not its number. */
static int note_uniq_id(struct graph *g, uint32_t v, int64_t uniq_id)
{
    if (!g->uniq_id) {
        if (uniq_id < 0 || uniq_id == (int64_t)v)
            return 0;
        g->uniq_id = calloc(g->capacity, sizeof(*g->uniq_id));
        if (!g->uniq_id)
            return -1;
        for (uint32_t i = 0; i < v; i++)
            g->uniq_id[i] = i;
    }
    g->uniq_id[v] = uniq_id < 0 ? (int64_t)v : uniq_id;
    return 0;
}

static int text_number(struct graph *g, const char *text, uint32_t *id)
{
    if (!text || !*text) {
        *id = 0;
        return 0;
    }
    return intern_put(&g->names, text, strlen(text), id);
}

uint32_t graph_add(struct graph *g, const struct vertex_spec *spec)
{
    struct vertex v = {.id = spec->id,
                       .size = spec->size,
                       .rank = spec->rank,
                       .subsystem = spec->subsystem,
                       .down = spec->down};
    uint32_t type = graph_type(g, spec->type), unit;

    if (type == UINT32_MAX ||
        text_number(g, spec->basename ? spec->basename : spec->type, &v.basename) < 0 ||
        text_number(g, spec->name, &v.name) < 0 || text_number(g, spec->unit, &unit) < 0 ||
        reserve_vertex(g) < 0)
        return VERTEX_NONE;
    if (unit > UINT16_MAX) {
        errno = EOVERFLOW;
        return VERTEX_NONE;
    }
    v.type = (uint16_t)type;
    v.unit = (uint16_t)unit;
    if (note_uniq_id(g, g->n, spec->uniq_id) < 0)
        return VERTEX_NONE;
    g->v[g->n] = v;
    g->live++;
    return g->n++;
}

uint32_t graph_add_like(struct graph *g, uint32_t like, int64_t id, int32_t rank)
{
    if (reserve_vertex(g) < 0 || note_uniq_id(g, g->n, -1) < 0)
        return VERTEX_NONE;
    struct vertex *v = &g->v[g->n];
    *v = g->v[like];
    v->id = id;
    v->rank = rank;
    v->name = 0;
    v->props = 0;
    g->live++;
    return g->n++;
}

void graph_set_root(struct graph *g, uint8_t subsystem, uint32_t v)
{
    if (g->root[subsystem] == VERTEX_NONE)
        g->root[subsystem] = v;
}

int graph_connect(struct graph *g, uint32_t source, uint32_t target, uint8_t subsystem)
{
    if (array_grow((void **)&g->loose, &g->loose_capacity, (size_t)g->n_loose + 1,
                   sizeof(*g->loose)) < 0)
        return -1;
    g->loose[g->n_loose++] = (struct graph_edge){source, target, subsystem};
    return 0;
}

int graph_set_property(struct graph *g, uint32_t v, const char *key, const char *value)
{
    uint32_t props;

    if (propset_with(&g->props, g->v[v].props, key, value, &props) < 0)
        return -1;
    g->v[v].props = props;
    g->version++;
    return 0;
}

int graph_remove_property(struct graph *g, uint32_t v, const char *key)
{
    uint32_t props;

    if (propset_without(&g->props, g->v[v].props, key, &props) < 0)
        return -1;
    g->v[v].props = props;
    g->version++;
    return 0;
}

int64_t graph_uniq_id(const struct graph *g, uint32_t v)
{
    return g->uniq_id ? g->uniq_id[v] : (int64_t)v;
}
