#include "resource/readers/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "resource/readers/common.h"

void machine_clear(struct machine *m)
{
    int saved = errno;

    free(m->object);
    intern_clear(&m->texts);
    memset(m, 0, sizeof(*m));
    errno = saved;
}

int machine_add(struct machine *m, const struct machine_object *object)
{
    if (array_grow((void **)&m->object, &m->capacity, (size_t)m->n + 1, sizeof(*m->object)) < 0)
        return -1;
    m->object[m->n++] = *object;
    return 0;
}

/* The total size of the objects, and how many there are. */
static int64_t size_of_all(const struct machine *m, uint32_t type, uint32_t *n)
{
    int64_t sum = 0;

    *n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->object[i].type != type)
            continue;
        (*n)++;
        if (__builtin_add_overflow(sum, m->object[i].size, &sum))
            return -1;
    }
    return sum;
}

uint32_t machine_share(struct machine *m, const char *type, int64_t total)
{
    uint32_t number, n;

    if (!intern_find(&m->texts, type, strlen(type), &number))
        return 0;
    int64_t sum = size_of_all(m, number, &n);
    __extension__ __int128 before = 0; /* sizes of those that have been */
    int64_t given = 0;
    for (uint32_t i = 0; i < m->n && sum > 0; i++) {
        struct machine_object *t = &m->object[i];
        if (t->type != number)
            continue;
        before += t->size;
        int64_t until = (int64_t)(before * total / sum);
        t->size = until > given ? until - given : 1;
        given = until;
    }
    return n;
}

static const char *machine_text(const struct machine *m, uint32_t number)
{
    return number == MACHINE_NONE ? NULL : intern_text(&m->texts, number);
}

/* The i-th object becomes vertex i + 1, after the cluster. */
static int add_object(struct graph *g, const struct machine *m, uint32_t i, int32_t *rank,
                      berth_error_t *err)
{
    const struct machine_object *t = &m->object[i];
    struct vertex_spec spec = {.type = machine_text(m, t->type),
                               .basename = machine_text(m, t->basename),
                               .name = machine_text(m, t->name),
                               .unit = machine_text(m, t->unit),
                               .id = t->id,
                               .uniq_id = -1,
                               .size = t->size,
                               .rank = -1};

    if (t->in != MACHINE_NONE && t->in >= i)
        return errtext_set(err, EINVAL, "object %lu comes before the one that contains it",
                           (unsigned long)i);
    if (spec.name && name_follows(spec.name, spec.basename, strlen(spec.basename), spec.id))
        spec.name = NULL;
    if (strcmp(spec.type, "node") == 0)
        spec.rank = (*rank)++;
    uint32_t v = graph_add(g, &spec);
    if (v == VERTEX_NONE ||
        graph_connect(g, t->in == MACHINE_NONE ? 0 : t->in + 1, v, GRAPH_CONTAINMENT) < 0)
        return reader_failed(err);
    g->v[v].divisible = t->divisible;
    if (t->property_key != MACHINE_NONE &&
        graph_set_property(g, v, machine_text(m, t->property_key),
                           machine_text(m, t->property_value)) < 0)
        return reader_failed(err);
    return 0;
}

static int add_objects(struct graph *g, const struct machine *m, berth_error_t *err)
{
    struct vertex_spec spec = {.type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1};
    uint32_t cluster = graph_add(g, &spec);
    int32_t rank = 0;

    if (cluster == VERTEX_NONE)
        return reader_failed(err);
    graph_set_root(g, GRAPH_CONTAINMENT, cluster);
    for (uint32_t i = 0; i < m->n; i++)
        if (add_object(g, m, i, &rank, err) < 0)
            return -1;
    return reader_seal(g, err);
}

int read_machine(struct graph *g, const struct machine *m, berth_error_t *err)
{
    struct graph *fresh;
    int rc;

    if (g->n > 0)
        return errtext_set(err, EEXIST, "there is a graph already");
    fresh = graph_create();
    rc = fresh ? add_objects(fresh, m, err) : reader_failed(err);
    if (rc == 0)
        graph_swap(g, fresh);
    graph_destroy(fresh);
    return rc;
}
