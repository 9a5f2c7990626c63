/* The calendars and the jobs of the naive matcher: plain lists. */
#include "naive_inner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct rules all_rules[] = {
    {"high", DESCENDING, DESCENDING, DESCENDING, false, false, false, false, IGNORED, 0, 0},
    {"low", ASCENDING, ASCENDING, ASCENDING, false, false, false, false, IGNORED, 0, 0},
    {"hinode", DESCENDING, DESCENDING, DESCENDING, true, false, false, false, IGNORED, 0, 0},
    {"lonode", ASCENDING, ASCENDING, ASCENDING, true, false, false, false, IGNORED, 0, 0},
    {"hinodex", DESCENDING, DESCENDING, DESCENDING, true, true, false, false, IGNORED, 0, 0},
    {"lonodex", ASCENDING, ASCENDING, ASCENDING, true, true, false, false, IGNORED, 0, 0},
    {"first", DESCENDING, DESCENDING, DESCENDING, true, false, true, false, IGNORED, 0, 0},
    {"firstnodex", DESCENDING, DESCENDING, DESCENDING, true, true, true, false, IGNORED, 0, 0},
    {"locality", DESCENDING, DESCENDING, RUNS, false, false, false, false, IGNORED, 0, 0},
    {"variation", ASCENDING, DESCENDING, ASCENDING, false, false, false, true, IGNORED, 0, 0},
    {"pack", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, FULLEST, 1, 0},
    {"spread", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, EMPTIEST, 1, 0},
    {"balance", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, EMPTIEST, 0, 1},
    {"nodeorder", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, EMPTIEST, 1, 1},
    {"spread=3 balance=2", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, EMPTIEST, 3,
     2},
    {"pack=1 balance=4", ASCENDING, ASCENDING, ASCENDING, false, false, true, false, FULLEST, 1, 4},
};

void *naive_draw(struct naive *n, size_t size)
{
    void *p = calloc(1, size + 1);

    n->pool = realloc(n->pool, (n->pooled + 1) * sizeof(void *));
    assert(p && n->pool);
    return n->pool[n->pooled++] = p;
}

void naive_drain(struct naive *n)
{
    while (n->pooled > 0)
        free(n->pool[--n->pooled]);
}

uint32_t naive_parent(const struct naive *n, uint32_t v)
{
    return graph_parent(n->g, v, GRAPH_CONTAINMENT);
}

static bool is_there(const struct naive *n, uint32_t v)
{
    while (v != NONE && !n->g->v[v].gone && v != n->g->root[GRAPH_CONTAINMENT])
        v = naive_parent(n, v);
    return v != NONE && !n->g->v[v].gone;
}

static bool is_leaf(const struct naive *n, uint32_t v)
{
    const uint32_t *children;

    return graph_children(n->g, v, &children) == 0;
}

/* Filters: what the text says, and of leaf types that it leaves out what is below clusters. */
static void read_filters(struct naive *n)
{
    uint32_t types = n->g->types.n;

    free(n->tracks);
    free(n->every);
    free(n->pruning);
    free(n->total);
    n->types = types;
    n->every = calloc(types, sizeof(bool));
    n->tracks = calloc((size_t)types * types, sizeof(bool));
    n->pruning = calloc(types, sizeof(bool));
    n->total = calloc((size_t)n->g->n * types, sizeof(int64_t));
    char *text = strdup(n->filters), *save = NULL;
    for (char *pair = strtok_r(text, ",", &save); pair; pair = strtok_r(NULL, ",", &save)) {
        char *colon = strchr(pair, ':');
        uint32_t low, high = 0;
        bool found = intern_find(&n->g->types, colon + 1, strlen(colon + 1), &low);
        bool every = strncmp(pair, "ALL:", 4) == 0;
        if (!found || (!every && !intern_find(&n->g->types, pair, (size_t)(colon - pair), &high)))
            continue;
        n->pruning[low] = true;
        n->every[low] |= every;
        for (uint32_t t = 0; t < types; t++)
            if (every ? t != low : t == high)
                n->tracks[(size_t)t * types + low] = true;
    }
    free(text);
    for (uint32_t v = 0; v < n->g->n; v++) {
        uint16_t type = n->g->v[v].type;
        if (!is_there(n, v) || !is_leaf(n, v) || n->pruning[type])
            continue;
        n->pruning[type] = true;
        n->tracks[(size_t)TYPE_CLUSTER * types + type] = true;
    }
    for (uint32_t v = 0; v < n->g->n; v++)
        for (uint32_t x = is_there(n, v) ? naive_parent(n, v) : NONE; x != NONE;
             x = naive_parent(n, x))
            n->total[(size_t)x * types + n->g->v[v].type] += n->g->v[v].size;
}

bool naive_tracks(const struct naive *n, uint32_t v, uint32_t type)
{
    return !is_leaf(n, v) && n->tracks[(size_t)n->g->v[v].type * n->types + type];
}

static void make_spots(struct naive *n)
{
    n->spot = realloc(n->spot, ((size_t)n->g->n + 1) * sizeof(*n->spot));
    assert(n->spot);
    for (; n->spots < n->g->n; n->spots++)
        n->spot[n->spots] = (struct spot){.weight = UINT64_MAX};
}

static void count_nodes(struct naive *n)
{
    n->nodes_up = 0;
    for (uint32_t v = 0; v < n->g->n; v++)
        if (!n->g->v[v].gone && n->g->v[v].type == TYPE_NODE && !n->g->v[v].down)
            n->nodes_up++;
}

struct naive *naive_create(const struct graph *g, const char *policy, const char *filters)
{
    struct naive *n = calloc(1, sizeof(*n));

    assert(n);
    for (size_t i = 0; i < sizeof(all_rules) / sizeof(*all_rules); i++)
        if (strcmp(all_rules[i].name, policy) == 0)
            n->rules = &all_rules[i];
    assert(n->rules);
    n->g = g;
    n->filters = strdup(filters);
    read_filters(n);
    make_spots(n);
    count_nodes(n);
    return n;
}

static void clear_spots(struct naive *n)
{
    for (uint32_t v = 0; v < n->spots; v++) {
        for (size_t i = 0; i < n->spot[v].n; i++)
            free(n->spot[v].v[i].counts);
        free(n->spot[v].v);
        n->spot[v].v = NULL;
        n->spot[v].n = 0;
    }
}

void naive_destroy(struct naive *n)
{
    clear_spots(n);
    naive_drain(n);
    for (size_t i = 0; i < n->n_jobs; i++)
        free(n->job[i].hold);
    free(n->job);
    free(n->spot);
    free(n->filters);
    free(n->tracks);
    free(n->every);
    free(n->pruning);
    free(n->total);
    free(n->found.item);
    free(n->queue);
    free(n->pool);
    free(n);
}

const struct emission *naive_found(const struct naive *n)
{
    return &n->found;
}

size_t naive_jobs(const struct naive *n, const struct naive_job **jobs)
{
    *jobs = n->job;
    return n->n_jobs;
}

/* The same at an instant. */
static int64_t load_at(const struct spot *s, int64_t at, uint32_t what)
{
    int64_t load = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct taking *t = &s->v[i];
        if (t->at > at || t->end <= at)
            continue;
        load += what == 0   ? 1
                : what == 1 ? (t->exclusive ? t->needs : 0)
                : t->counts ? t->counts[what - 2]
                            : 0;
    }
    return load;
}

int64_t naive_load(const struct spot *s, int64_t at, int64_t end, uint32_t what)
{
    int64_t most = load_at(s, at, what);

    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].at > at && s->v[i].at < end && load_at(s, s->v[i].at, what) > most)
            most = load_at(s, s->v[i].at, what);
    return most;
}

int64_t naive_avail(const struct naive *n, uint32_t v, int64_t at, int64_t end)
{
    return n->g->v[v].size - naive_load(&n->spot[v], at, end, 1);
}

int64_t naive_next_point(const struct naive *n, int64_t after)
{
    int64_t next = -1;

    for (size_t i = 0; i < n->n_jobs; i++) {
        int64_t ends[] = {n->job[i].at, n->job[i].end};
        for (int k = 0; k < 2; k++)
            if (ends[k] > after && (next < 0 || ends[k] < next))
                next = ends[k];
    }
    return next;
}

/* Telling and taking. */
static void tell(struct naive *n, uint32_t v, uint32_t parent, int64_t needs, bool exclusive,
                 bool exclusive_parent, uint16_t depth, bool chosen)
{
    struct emission *e = &n->found;
    const struct spot *s = &n->spot[v];

    e->item = realloc(e->item, (e->n + 1) * sizeof(*e->item));
    assert(e->item);
    e->item[e->n++] =
        (struct emitted){.vertex = v,
                         .depth = depth,
                         .flags = (uint16_t)((exclusive ? EMIT_EXCLUSIVE : 0) |
                                             (exclusive_parent ? EMIT_EXCLUSIVE_PARENT : 0)),
                         .parent = parent,
                         .needs = needs,
                         .label = chosen && s->labelled == n->sequence ? s->label : NULL};
}

static void take(struct naive *n, uint32_t v, const struct taking *taking)
{
    struct spot *s = &n->spot[v];

    s->v = realloc(s->v, (s->n + 1) * sizeof(*s->v));
    assert(s->v);
    s->v[s->n++] = *taking;
}

/* A hold in a job, with what its filter counts; and what that is for the vertex above. */
static void record(struct naive *n, struct naive_job *job, uint32_t v, int64_t needs,
                   bool exclusive, const int64_t *below, int64_t *above)
{
    struct taking t = {job->id, job->at, job->end, exclusive, job->reserved, needs, NULL};
    bool any = false;

    for (uint32_t k = 0; k <= n->types; k++)
        any |= below[k] != 0; /* the last says that something was counted, though it be 0 */
    if (any && !is_leaf(n, v)) {
        t.counts = calloc(n->types + 1, sizeof(*t.counts));
        for (uint32_t k = 0; k < n->types; k++)
            t.counts[k] = naive_tracks(n, v, k) ? below[k] : 0;
    }
    if (n->pruning[n->g->v[v].type]) {
        above[n->g->v[v].type] += exclusive ? n->g->v[v].size : n->g->v[v].size - needs;
        above[n->types] = 1;
    }
    for (uint32_t k = 0; k <= n->types; k++)
        above[k] += below[k];
    take(n, v, &t);
    job->hold = realloc(job->hold, (job->n + 1) * sizeof(*job->hold));
    job->hold[job->n++] = (struct naive_hold){v, needs, exclusive};
}

/* The order in which children are looked at first changes where something was taken. */
static void reweigh(struct naive *n, uint32_t v)
{
    const struct spot *s = &n->spot[v];
    int64_t last = -1;
    bool any = false;

    /* By the last type: first come those of its own, then those of every vertex. */
    for (int every = 0; every < 2; every++)
        for (uint32_t t = 0; t < n->types; t++)
            if (naive_tracks(n, v, t) && n->every[t] == every)
                last = t;
    if (last < 0)
        return;
    for (size_t i = 0; i < s->n; i++)
        any |= s->v[i].counts != NULL;
    int64_t free =
        n->total[(size_t)v * n->types + (size_t)last] - load_at(s, n->now, 2 + (uint32_t)last);
    if (free != 0 || any)
        n->spot[v].weight = (uint64_t)free;
}

static int64_t give(struct naive *n, struct naive_job *job, uint32_t v, uint32_t parent,
                    int64_t needs, bool exclusive, bool whole, bool exclusive_parent,
                    uint16_t depth, bool chosen, int64_t *above)
{
    const uint32_t *children;
    uint32_t k = graph_children(n->g, v, &children);
    int64_t given = 0, *below = naive_draw(n, (n->types + 1) * sizeof(*below));

    whole |= n->whole[n->g->v[v].type];
    exclusive |= whole;
    for (uint32_t i = 0; i < k; i++) {
        const struct spot *s = &n->spot[children[i]];
        if (s->marked != n->sequence && !whole)
            continue;
        int64_t more = give(n, job, children[i], v, whole ? n->g->v[children[i]].size : s->needs,
                            (s->marked == n->sequence && s->exclusive) || whole, whole, exclusive,
                            (uint16_t)(depth + 1), chosen && s->marked == n->sequence, below);
        if (more > 0 && n->rules->first && n->rules->fill == IGNORED)
            reweigh(n, children[i]);
        given += more;
    }
    given += exclusive;
    if (given > 0) {
        if (n->allocates)
            record(n, job, v, needs, exclusive, below, above);
        tell(n, v, parent, needs, exclusive, exclusive_parent, depth, chosen);
    }
    return given;
}

int naive_finish(struct naive *n, int64_t jobid, int64_t duration)
{
    uint32_t root = n->g->root[GRAPH_CONTAINMENT];
    int64_t *above = naive_draw(n, (n->types + 1) * sizeof(*above));
    int64_t end = n->at + duration > MATCH_END ? MATCH_END : n->at + duration;
    struct naive_job job = {.id = jobid, .at = n->at, .end = end, .reserved = n->at > n->now};

    if (n->at >= MATCH_END)
        return EBUSY;
    n->found.start = n->at;
    n->found.end = end;
    if (give(n, &job, root, VERTEX_NONE, n->spot[root].needs, n->spot[root].exclusive, false, false,
             1, true, above) == 0)
        return EBUSY;
    if (!n->allocates)
        return 0;
    n->job = realloc(n->job, (n->n_jobs + 1) * sizeof(*n->job));
    n->job[n->n_jobs++] = job;
    return 0;
}

void naive_cancel(struct naive *n, int64_t jobid)
{
    for (uint32_t v = 0; v < n->spots; v++)
        for (size_t i = 0; i < n->spot[v].n; i++)
            if (n->spot[v].v[i].job == jobid) {
                free(n->spot[v].v[i].counts);
                n->spot[v].v[i--] = n->spot[v].v[--n->spot[v].n];
            }
    for (size_t i = 0; i < n->n_jobs; i++)
        if (n->job[i].id == jobid) {
            free(n->job[i].hold);
            n->job[i--] = n->job[--n->n_jobs];
        }
}

void naive_marked(struct naive *n, uint32_t v, bool up)
{
    for (uint32_t x = 0; x < n->g->n; x++)
        for (uint32_t y = is_there(n, x) ? x : NONE; y != NONE; y = naive_parent(n, y))
            if (y == v && n->g->v[x].type == TYPE_NODE)
                n->nodes_up += up ? 1 : -1;
}

void naive_changed(struct naive *n)
{
    naive_drain(n);
    clear_spots(n);
    make_spots(n);
    read_filters(n);
    count_nodes(n);
    for (size_t k = 0; k < n->n_jobs; k++) {
        struct naive_job job = n->job[k], *to = &n->job[k];
        int64_t *sums = naive_draw(n, (size_t)(n->g->n + 1) * (n->types + 1) * sizeof(*sums));
        to->hold = NULL;
        to->n = 0;
        for (size_t i = 0; i < job.n; i++) {
            const struct naive_hold *h = &job.hold[i];
            uint32_t parent = n->g->v[h->vertex].gone ? NONE : naive_parent(n, h->vertex);
            if (n->g->v[h->vertex].gone)
                continue;
            record(n, to, h->vertex, h->needs, h->exclusive, sums + h->vertex * (n->types + 1),
                   sums + (parent == NONE ? n->g->n : parent) * (n->types + 1));
        }
        free(job.hold);
    }
}
