/* Checking that a matcher's structures agree with its graph and its jobs. For tests: slow and simple. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/inner.h"

/* Something that is taken of a vertex, according to a hold. */
struct span {
    uint32_t vertex, place; /* which of its calendars */
    int64_t at, end, amount;
};

enum {
    PLACE_USERS,
    PLACE_UNITS,
    PLACE_COUNTS /* and above: by index in the vertex's prune_list */
};

struct spans {
    struct span *v;
    size_t n, capacity;
};

static bool push_span(struct spans *s, uint32_t vertex, uint32_t place, const struct job *job,
                      int64_t amount)
{
    if (s->n == s->capacity) {
        size_t capacity = s->capacity * 2 + 64;
        struct span *v = reallocarray(s->v, capacity, sizeof(*v));
        if (!v)
            return false;
        s->v = v;
        s->capacity = capacity;
    }
    s->v[s->n++] = (struct span){vertex, place, job->at, job->end, amount};
    return true;
}

/* Everything that the jobs have taken. */
static bool gather_spans(const struct match *m, struct spans *s)
{
    for (uint32_t k = 0; k < m->jobs.slots; k++) {
        const struct job *job = m->jobs.slot[k];
        for (uint32_t i = 0; job && i < job->n; i++) {
            const struct hold *h = &job->hold[i];
            bool covered = h->flags & (HOLD_COVERED | HOLD_WITH_NODE);
            int64_t load = job->lifted ? 0 : hold_load(h);
            int64_t needs = job->lifted ? 0 : h->needs;
            if ((!covered && !push_span(s, h->vertex, PLACE_USERS, job, load)) ||
                (!covered && (h->flags & HOLD_UNITS) &&
                 !push_span(s, h->vertex, PLACE_UNITS, job, needs)))
                return false;
            for (uint32_t c = 0; c < h->n_counts; c++)
                if (job->counts[h->counts + c] > 0 &&
                    !push_span(s, h->vertex, PLACE_COUNTS + c, job,
                               job->lifted || job->forced ? 0 : job->counts[h->counts + c]))
                    return false;
        }
    }
    return true;
}

static int by_vertex_and_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->vertex != y->vertex)
        return x->vertex < y->vertex ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* A calendar must have points at 0 and where spans start or end, and no others, each with the load of the
 * spans that cover it.
 */
static bool profile_is(const struct profile *p, const struct span *s, size_t n, int64_t most)
{
    struct profile_cursor c;
    size_t holds = 0;
    bool more = p->root != NULL;

    if (!p->root)
        return n == 0;
    for (profile_seek(&c, p, 0); more; more = profile_next(&c)) {
        int64_t at = profile_cursor_time(&c), load = 0;
        uint32_t here = at == 0;
        for (size_t i = 0; i < n; i++) {
            load += s[i].at <= at && at < s[i].end ? s[i].amount : 0;
            here += (uint32_t)(s[i].at == at) + (uint32_t)(s[i].end == at);
        }
        if (load != profile_cursor_load(&c) || here != profile_cursor_holds(&c) || load > most)
            return false;
        holds += here;
    }
    return holds == 2 * n + 1;
}

/* Take the spans of one calendar from s, and move s past them. */
static bool calendar_is(const struct profile *p, const struct span **s, const struct span *end,
                        uint32_t v, uint32_t place, int64_t most)
{
    const struct span *first = *s;

    while (*s < end && (*s)->vertex == v && (*s)->place == place)
        (*s)++;
    return profile_is(p, first, (size_t)(*s - first), most);
}

/* Whether what is known of many children at once is so. */
static bool check_full(const struct match *m, uint32_t v)
{
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, v, &children);
    return full_block_check(m, m->state[v], children, n);
}

static bool check_calendars(const struct match *m, const struct spans *spans)
{
    const struct span *s = spans->v, *end = s ? s + spans->n : s;
    bool good = true, forced = false;

    for (uint32_t k = 0; k < m->jobs.slots; k++)
        forced |= m->jobs.slot[k] && m->jobs.slot[k]->forced;

    for (uint32_t v = 0; v < m->states && good; v++) {
        const struct state *x = m->state[v];
        const struct state_below *b = state_below(x);
        struct profile_view view;
        if (!x)
            continue;
        good =
            state_check(x) && check_full(m, v) &&
            calendar_is(state_users(x, &view), &s, end, v, PLACE_USERS, INT64_MAX) &&
            calendar_is(&b->units, &s, end, v, PLACE_UNITS, forced ? INT64_MAX : m->g->v[v].size);
        for (uint32_t i = 0; i < b->n_counts && good; i++)
            good = calendar_is(&b->counts[i], &s, end, v, PLACE_COUNTS + i, INT64_MAX);
    }
    return good && s == end; /* nothing is left: no state is missing */
}

/* What states count. */
struct numbers {
    uint32_t allocated, reserved, filled_allocated, filled_reserved, jobs, counted, down;
};

static void count_job(const struct job *job, struct numbers *of)
{
    for (uint32_t i = 0; i < job->n && !job->lifted; i++) {
        const struct hold *h = &job->hold[i];
        bool own = !(h->flags & (HOLD_COVERED | HOLD_WITH_NODE));
        bool exclusive = own && (h->flags & HOLD_EXCLUSIVE), fills = h->flags & HOLD_FILLS;
        of[h->vertex].counted += h->n_counts > 0;
        of[h->vertex].jobs += own && !job->reserved;
        of[h->vertex].allocated += exclusive && !job->reserved;
        of[h->vertex].reserved += exclusive && job->reserved;
        of[h->vertex].filled_allocated += fills && !job->reserved;
        of[h->vertex].filled_reserved += fills && job->reserved;
    }
}

static bool check_numbers(const struct match *m)
{
    static const struct state nothing;
    struct numbers *of = calloc((size_t)m->g->n + 1, sizeof(*of));
    bool good = of != NULL;

    for (uint32_t k = 0; k < m->jobs.slots && good; k++)
        if (m->jobs.slot[k])
            count_job(m->jobs.slot[k], of);
    for (uint32_t v = 0; v < m->g->n && good; v++)
        for (uint32_t x = v; m->g->v[v].down && !m->g->v[v].gone && x != VERTEX_NONE;
             x = m->topo.parent ? m->topo.parent[x] : VERTEX_NONE)
            of[x].down++;
    for (uint32_t v = 0; v < m->g->n && good; v++) {
        const struct state *s = m->state[v] ? m->state[v] : &nothing;
        const struct state_below *b = state_below(s);
        good = s->n_allocated == of[v].allocated && s->n_reserved == of[v].reserved &&
               b->n_filled_allocated == of[v].filled_allocated &&
               b->n_filled_reserved == of[v].filled_reserved && s->n_jobs == of[v].jobs &&
               b->n_counted == of[v].counted && s->n_down == of[v].down;
    }
    free(of);
    return good;
}

/* Whether what is booked with its node comes before that, and is all that there is in the node. */
static bool check_filled(const struct match *m, const struct job *job)
{
    uint32_t with = 0, children = 0; /* of the holds from here back; of the node */
    const uint32_t *child;

    for (uint32_t i = job->n; i-- > 0;) {
        const struct hold *h = &job->hold[i];
        if (h->flags & HOLD_WITH_NODE) {
            with++;
            if (with > children || h->run != with || !(h->flags & HOLD_EXCLUSIVE) ||
                m->topo.parent[h->vertex] != job->hold[i + with].vertex)
                return false;
            continue;
        }
        if (with != children)
            return false;
        with = 0;
        children = h->flags & HOLD_FILLS ? topo_children(&m->topo, h->vertex, &child) : 0;
    }
    return with == children;
}

/* Whether the vertices of a hold are there, each in no hold before it. They are noted. */
static bool note_vertices(const struct match *m, const struct hold *h, uint32_t i, uint32_t *place)
{
    uint32_t n = hold_vertices(h);
    bool good = n > 0 && h->vertex < m->g->n && n <= m->g->n - h->vertex;

    for (uint32_t v = h->vertex; good && v < h->vertex + n; v++) {
        good = !m->g->v[v].gone && !place[v] &&
               (n == 1 || m->topo.parent[v] == m->topo.parent[h->vertex]);
        if (good)
            place[v] = i + 1;
    }
    return good;
}

/* A job's holds must be of vertices that exist, each once, children before their parent, and covered ones
 * below what covers them.
 */
static bool check_holds(const struct match *m, const struct job *job, uint32_t *place)
{
    bool good = job->at >= 0 && job->at < job->end && check_filled(m, job);

    for (uint32_t i = 0; i < job->n && good; i++) {
        const struct hold *h = &job->hold[i];
        good = note_vertices(m, h, i, place) &&
               (h->n_counts == 0 || (uint64_t)h->counts + h->n_counts <= job->n_counts) &&
               (h->n_counts == 0 || h->n_counts == prune_of(&m->prune, &m->topo, h->vertex)->n);
    }
    for (uint32_t i = 0; i < job->n && good; i++) {
        const struct hold *h = &job->hold[i];
        uint32_t parent = m->topo.parent ? m->topo.parent[h->vertex] : VERTEX_NONE;
        uint32_t above = parent == VERTEX_NONE ? 0 : place[parent];
        if (above > 0)
            good = above > i + 1;
        if (h->flags & HOLD_COVERED && m->topo.is_tree)
            good &= above > 0 && (job->hold[above - 1].flags & (HOLD_EXCLUSIVE | HOLD_UNITS));
    }
    for (uint32_t i = 0; i < job->n && good; i++)
        memset(&place[job->hold[i].vertex], 0, hold_vertices(&job->hold[i]) * sizeof(*place));
    return good;
}

/* Jobs must be found by their numbers, and there must be a point where one starts or ends. */
static bool check_jobs(const struct match *m)
{
    struct spans times = {0};
    uint32_t *place = calloc((size_t)m->g->n + 1, sizeof(*place)), n = 0;
    bool good = place != NULL;

    for (uint32_t k = 0; k < m->jobs.slots && good; k++) {
        const struct job *job = m->jobs.slot[k];
        if (!job)
            continue;
        n++;
        good = jobs_find(&m->jobs, job->id) == job && check_holds(m, job, place) &&
               push_span(&times, 0, 0, job, 0);
    }
    good = good && n == m->jobs.n && profile_check(&m->times) &&
           profile_is(&m->times, times.v, times.n, 0);
    free(times.v);
    free(place);
    return good;
}

/* The order of children must have each once, by descending weight, then by descending unique id. */
static bool check_weights(const struct match *m, uint32_t v)
{
    const struct state_below *s = state_below(m->state[v]);
    const uint32_t *children;

    if (!s->weight)
        return true;
    uint32_t n = topo_children(&m->topo, v, &children);
    if (s->n_weights != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct weight *w = &s->weight[i];
        uint32_t times = 0;
        for (uint32_t k = 0; k < n; k++)
            times += s->weight[k].child == children[i];
        if (times != 1 || w->uniq_id != graph_uniq_id(m->g, w->child) ||
            (i > 0 && (w[-1].weight < w->weight ||
                       (w[-1].weight == w->weight && w[-1].uniq_id < w->uniq_id))))
            return false;
    }
    return true;
}

/* The totals of the filters must equal a count of every vertex at everything above it. */
static bool check_totals(const struct match *m)
{
    const struct topo *t = &m->topo;
    uint32_t n = m->prune.n;
    int64_t *total = calloc((size_t)m->g->n * n + 1, sizeof(*total));
    bool good = total != NULL && filter_spec_check(&m->prune.spec);

    for (uint32_t v = 0; v < m->g->n && good; v++) {
        int32_t number = m->prune.number[m->g->v[v].type];
        if (number == PRUNE_NONE || t->class_of[v] == CLASS_NONE)
            continue;
        for (uint32_t x = v; x != t->root;) {
            x = t->owner ? t->owner[x] : t->parent[x];
            total[(size_t)x * n + (uint32_t)number] += m->g->v[v].size;
        }
    }
    for (uint32_t v = 0; v < m->g->n && good; v++)
        for (uint32_t i = 0; i < n && t->class_of[v] != CLASS_NONE; i++)
            good &= prune_total(&m->prune, t, v, i) == total[(size_t)v * n + i];
    free(total);
    return good;
}

/* While a job is known to have a vertex to itself, its calendar must say so. */
static bool check_taken(const struct match *m, uint32_t v)
{
    const struct state *s = m->state[v];
    struct profile_cursor c;
    if (!s || !s->users.root || s->taken.at >= s->taken.end)
        return true;
    profile_seek(&c, &s->users, s->taken.at);
    do {
        if (profile_cursor_load(&c) < STATE_EXCLUSIVE)
            return false;
    } while (profile_next(&c) && profile_cursor_time(&c) < s->taken.end);
    return true;
}

static bool check_arrays(const struct match *m)
{
    bool good = m->states == m->g->n && m->last.n <= m->last.capacity &&
                (!name_index_is_made(&m->names) || name_index_check(&m->names, m->g, &m->topo));

    for (uint32_t v = 0; v < m->states && good; v++)
        good = check_weights(m, v) && check_taken(m, v);
    for (uint32_t type = 0; type < m->prune.types && good; type++)
        good = m->exclusive[type] == (m->policy.node_exclusive && type == TYPE_NODE);
    for (size_t i = 0; i < m->last.n && good; i++)
        good = m->last.item[i].vertex < m->g->n;
    return good;
}

bool match_check(const match_t *m)
{
    struct spans spans = {0};
    int saved = errno;
    bool good = graph_check(m->g) && topo_check(&m->topo) && check_totals(m) && check_arrays(m) &&
                fills_check(m) && check_jobs(m) && check_numbers(m) && gather_spans(m, &spans);

    if (good && spans.n > 1)
        qsort(spans.v, spans.n, sizeof(*spans.v), by_vertex_and_place);
    good = good && check_calendars(m, &spans);
    free(spans.v);
    errno = saved;
    return good;
}
