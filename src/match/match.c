#include "berth/match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/walk/no_room.h"
#include "match/walk/repeat.h"
#include "match/walk/walk.h"

/* The names of sets of subsystems; the dominant subsystem comes first. */
static const struct {
    const char *name;
    const char *subsystem[6];
} matchers[] = {
    {"CA", {"containment"}},
    {"IBA", {"ibnet"}},
    {"IBBA", {"ibnetbw"}},
    {"PFS1BA", {"pfs1bw"}},
    {"PA", {"power"}},
    {"C+IBA", {"containment", "ibnet"}},
    {"C+IBBA", {"containment", "ibnetbw"}},
    {"C+PFS1BA", {"containment", "pfs1bw"}},
    {"C+PA", {"containment", "power"}},
    {"IB+IBBA", {"ibnet", "ibnetbw"}},
    {"C+P+IBA", {"containment", "power", "ibnet"}},
    {"V+PFS1BA", {"virtual1", "pfs1bw"}},
    {"VA", {"virtual1"}},
    {"ALL", {"containment", "ibnet", "ibnetbw", "pfs1bw", "power"}},
};

/* The number of the dominant subsystem of a matcher's name, or -1 with EINVAL or ENOTSUP. */
static int find_dominant(const struct graph *g, const char *name, berth_error_t *err)
{
    for (size_t i = 0; i < sizeof(matchers) / sizeof(matchers[0]); i++) {
        uint32_t dominant = 0, number;
        if (strcasecmp(matchers[i].name, name) != 0)
            continue;
        for (size_t k = 0; k < 6 && matchers[i].subsystem[k]; k++) {
            const char *subsystem = matchers[i].subsystem[k];
            if (!intern_find(&g->subsystems, subsystem, strlen(subsystem), &number) ||
                g->root[number] == VERTEX_NONE)
                return errtext_set(err, ENOTSUP,
                                   "matcher \"%s\": the graph has no subsystem \"%s\"", name,
                                   subsystem);
            if (k == 0)
                dominant = number;
        }
        return (int)dominant;
    }
    return errtext_set(err, EINVAL,
                       "matcher \"%s\": expected CA, IBA, PA, C+PA or another set of subsystems",
                       name);
}

static int list_nodes(struct match *m)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < m->g->n; v++)
        n += m->g->v[v].type == TYPE_NODE;
    uint32_t *node = malloc(((size_t)n + 1) * sizeof(*node));
    if (!node)
        return -1;
    m->n_nodes = 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        if (m->g->v[v].type == TYPE_NODE)
            node[m->n_nodes++] = v;
    free(m->node);
    m->node = node;
    return 0;
}

const uint32_t *match_nodes(const struct match *m, uint32_t *n)
{
    *n = m->n_nodes;
    return m->node;
}

static bool has_rank(const struct match *m, uint32_t v)
{
    const struct vertex *x = &m->g->v[v];

    return x->rank >= 0 && !x->gone && m->topo.class_of[v] != CLASS_NONE;
}

/* Count the vertices of each rank, except for ranks far beyond the number of vertices. */
static int count_ranks(struct match *m)
{
    uint32_t n = 0;

    for (uint32_t v = 0; v < m->g->n; v++)
        if (has_rank(m, v) && (uint32_t)m->g->v[v].rank >= n &&
            m->g->v[v].rank / 4 < (int32_t)m->g->n)
            n = (uint32_t)m->g->v[v].rank + 1;
    uint32_t *of_rank = calloc((size_t)n + 1, sizeof(*of_rank));
    if (!of_rank)
        return -1;
    for (uint32_t v = 0; v < m->g->n; v++)
        if (has_rank(m, v) && (uint32_t)m->g->v[v].rank < n)
            of_rank[m->g->v[v].rank]++;
    free(m->of_rank);
    m->of_rank = of_rank;
    m->n_ranks = n;
    return 0;
}

uint32_t match_rank_size(const struct match *m, int32_t rank)
{
    uint32_t found = 0;

    if (rank < 0)
        return 0;
    if ((uint32_t)rank < m->n_ranks)
        return m->of_rank[rank];
    for (uint32_t v = 0; v < m->g->n; v++)
        found += has_rank(m, v) && m->g->v[v].rank == rank;
    return found;
}

/* Count what is down, in the states of everything above it. */
static int match_recount_down(struct match *m)
{
    if (list_nodes(m) < 0 || count_ranks(m) < 0)
        return -1;
    m->nodes_up = 0;
    for (uint32_t v = 0; v < m->g->n; v++) {
        const struct vertex *x = &m->g->v[v];
        if (x->type == TYPE_NODE && !x->gone && !x->down)
            m->nodes_up += x->size;
        if (x->down && !x->gone && match_add_down(m, v, 1) < 0)
            return -1;
    }
    return 0;
}

int match_add_down(struct match *m, uint32_t v, int sign)
{
    for (uint32_t x = v; x != VERTEX_NONE; x = m->topo.parent ? m->topo.parent[x] : VERTEX_NONE)
        if (!match_state(m, x))
            return -1;
    for (uint32_t x = v; x != VERTEX_NONE; x = m->topo.parent ? m->topo.parent[x] : VERTEX_NONE) {
        m->state[x]->n_down += (uint32_t)sign;
        m->state[x]->given_back++;
    }
    return 0;
}

void match_mark_divisible(struct graph *g, uint32_t from)
{
    for (uint32_t v = from; v < g->n; v++)
        if (g->v[v].props && propset_value(&g->props, g->v[v].props, "divisible"))
            g->v[v].divisible = true;
}

static void note_classes(struct match *m)
{
    uint32_t id;

    m->any_class = intern_find(&m->g->props.texts, "perf_class", 10, &id);
}

int match_make_states(struct match *m)
{
    struct graph *g = m->g;

    m->states = g->n;
    m->state = calloc((size_t)g->n + 1, sizeof(*m->state));
    m->mark_of = calloc((size_t)g->n + 1, sizeof(*m->mark_of));
    m->exclusive = calloc((size_t)g->types.n + 1, sizeof(*m->exclusive));
    if (!m->state || !m->mark_of || !m->exclusive || match_recount_down(m) < 0 ||
        match_blocks_mark(m) < 0)
        return -1;
    if (m->policy.node_exclusive)
        m->exclusive[TYPE_NODE] = true;
    note_classes(m);
    m->version = g->version;
    return profile_init(&m->times, 0) < 0 ? -1 : fills_make(m);
}

static const char *or_default(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

match_t *match_create(resource_graph_t *graph, const match_options_t *options, berth_error_t *err)
{
    static const match_options_t defaults;
    const match_options_t *o = options ? options : &defaults;
    struct match *m = calloc(1, sizeof(*m));
    const char *traverser = or_default(o->traverser, "simple");

    if (!m) {
        graph_destroy(graph);
        errtext_no_memory(err);
        return NULL;
    }
    m->g = graph;
    m->end = o->end ? o->end : MATCH_END;
    if (m->end < 1 || m->end > MATCH_END_MAX) {
        errtext_set(err, EINVAL, "end %" PRId64 ": expected one from 1 to %" PRId64, o->end,
                    MATCH_END_MAX);
        goto fail;
    }
    m->tries = (uint64_t)(o->tries ? o->tries : MATCH_TRIES);
    if (o->tries < 0) {
        errtext_set(err, EINVAL, "tries %" PRId64 ": expected 1 or more", o->tries);
        goto fail;
    }
    int dominant = find_dominant(graph, or_default(o->matcher, "CA"), err);
    if (dominant < 0 || policy_parse(&m->policy, or_default(o->policy, "first"), err) < 0)
        goto fail;
    m->flexible = strcmp(traverser, "flexible") == 0;
    if (!m->flexible && strcmp(traverser, "simple") != 0) {
        errtext_set(err, EINVAL, "traverser \"%s\": expected simple or flexible", traverser);
        goto fail;
    }
    match_mark_divisible(graph, 0);
    if (topo_init(&m->topo, graph, (uint8_t)dominant) < 0) {
        errtext_set(err, errno, "%s",
                    errno == ELOOP ? "the subsystem runs in a circle"
                                   : "the subsystem has no root");
        goto fail;
    }
    if (prune_init(&m->prune, graph, &m->topo, or_default(o->filters, "ALL:core,ALL:node"), err) <
        0)
        goto fail;
    if (match_make_states(m) < 0) {
        errtext_no_memory(err);
        goto fail;
    }
    return m;
fail:
    match_destroy(m);
    return NULL;
}

void match_drop_states(struct match *m)
{
    int saved = errno;

    no_room_clear(m);
    for (uint32_t v = 0; m->state && v < m->states; v++)
        state_clear(m->state[v]);
    arena_clear(&m->state_memory);
    free(m->state);
    free(m->node);
    free(m->of_rank);
    free(m->mark_of);
    free(m->exclusive);
    jobs_clear(&m->jobs);
    profile_clear(&m->times);
    prune_clear(&m->prune);
    topo_clear(&m->topo);
    name_index_clear(&m->names);
    fills_clear(&m->fills);
    errno = saved;
}

void match_destroy(match_t *m)
{
    int saved = errno;

    if (!m)
        return;
    match_drop_states(m);
    free(m->marks);
    free(m->obstacles.v);
    free(m->memo.key);
    free(m->memo.value);
    slot_mixes_clear(&m->slot_mixes);
    repeat_clear(m);
    free(m->last.item);
    arena_clear(&m->arena);
    strbuf_clear(&m->text);
    arena_clear(&m->emitted_text);
    match_blocks_clear(&m->blocks);
    graph_destroy(m->g);
    free(m);
    errno = saved;
}

const resource_graph_t *match_graph(const match_t *m)
{
    return m->g;
}

bool match_knows_type(const void *m, const char *type)
{
    uint32_t id;

    return intern_find(&((const struct match *)m)->g->types, type, strlen(type), &id);
}

void match_clear_memo(struct match *m)
{
    if (m->memo.used > 0)
        memset(m->memo.key, 0, m->memo.size * sizeof(*m->memo.key));
    m->memo.used = 0;
    slot_mixes_clear(&m->slot_mixes);
    if (m->version != m->g->version) {
        note_classes(m);
        no_room_clear(m);
    }
    m->version = m->g->version;
}

/* The job is booked, or there was no memory to. */
static int add_booked(struct match *m, struct job *job, int rc)
{
    if (rc < 0)
        return -1;
    if (jobs_add(&m->jobs, job) == 0)
        return 0;
    match_unbook(m, job);
    errno = ENOMEM;
    return -1;
}

int match_record(struct match *m, struct job *job)
{
    return add_booked(m, job, match_book(m, job));
}

int match_record_like(struct match *m, struct job *job)
{
    return add_booked(m, job, match_book_again(m, job));
}

/* A copy of a text that lives as long as what was found last. */
static const char *keep_copy(struct match *m, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = arena_alloc(&m->emitted_text, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

int match_emit_begin(struct match *m, int64_t at, int64_t end, const char *queue)
{
    arena_release(&m->emitted_text, (struct arena_mark){0});
    m->last.n = 0;
    m->last.start = at;
    m->last.end = end;
    m->last.subsystem = m->topo.subsystem;
    m->last.queue = queue ? keep_copy(m, queue) : NULL;
    return queue && !m->last.queue ? -1 : 0;
}

int match_emit(struct match *m, const struct emitted *item)
{
    struct emission *e = &m->last;

    if (e->n == e->capacity) {
        size_t capacity = e->capacity + e->capacity / 2 + 64;
        struct emitted *more = reallocarray(e->item, capacity, sizeof(*more));
        if (!more)
            return -1;
        e->item = more;
        e->capacity = capacity;
    }
    e->item[e->n] = *item;
    if (item->label) {
        e->item[e->n].label = keep_copy(m, item->label);
        if (!e->item[e->n].label)
            return -1;
    }
    e->n++;
    return 0;
}

int match_write(match_t *m, const char *format, const char **text, size_t *length)
{
    int f = write_format_parse(format);

    if (f < 0) {
        errno = EINVAL;
        return -1;
    }
    strbuf_reset(&m->text);
    if (emission_write(&m->last, m->g, (enum write_format)f, &m->text) < 0)
        return -1;
    *text = strbuf_text(&m->text);
    *length = m->text.len;
    return 0;
}
