#include "resource/readers/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "resource/readers/common.h"

void machine_clear(struct machine *m)
{
    int saved = errno;

    free(m->thing);
    intern_clear(&m->texts);
    memset(m, 0, sizeof(*m));
    errno = saved;
}

int machine_add(struct machine *m, const struct machine_thing *thing)
{
    if (m->n == m->capacity) {
        uint32_t capacity = m->capacity * 2 + 64;
        struct machine_thing *more = reallocarray(m->thing, capacity, sizeof(*more));
        if (!more)
            return -1;
        m->thing = more;
        m->capacity = capacity;
    }
    m->thing[m->n++] = *thing;
    return 0;
}

static const char *text_of(const struct machine *m, uint32_t number)
{
    return number == MACHINE_NONE ? NULL : intern_text(&m->texts, number);
}

/* The i-th thing becomes vertex i + 1, behind the cluster. */
static int add_thing(struct graph *g, const struct machine *m, uint32_t i, int32_t *rank,
                     berth_error_t *err)
{
    const struct machine_thing *t = &m->thing[i];
    struct vertex_spec spec = {.type = text_of(m, t->type),
                               .basename = text_of(m, t->basename),
                               .name = text_of(m, t->name),
                               .unit = text_of(m, t->unit),
                               .id = t->id,
                               .uniq_id = -1,
                               .size = t->size,
                               .rank = -1};

    if (t->in != MACHINE_NONE && t->in >= i)
        return errtext_set(err, EINVAL, "thing %lu is in one that comes later", (unsigned long)i);
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
        graph_set_property(g, v, text_of(m, t->property_key), text_of(m, t->property_value)) < 0)
        return reader_failed(err);
    return 0;
}

static int fill(struct graph *g, const struct machine *m, berth_error_t *err)
{
    struct vertex_spec spec = {.type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1};
    uint32_t cluster = graph_add(g, &spec);
    int32_t rank = 0;

    if (cluster == VERTEX_NONE)
        return reader_failed(err);
    graph_set_root(g, GRAPH_CONTAINMENT, cluster);
    for (uint32_t i = 0; i < m->n; i++)
        if (add_thing(g, m, i, &rank, err) < 0)
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
    rc = fresh ? fill(fresh, m, err) : reader_failed(err);
    if (rc == 0)
        graph_swap(g, fresh);
    graph_destroy(fresh);
    return rc;
}
