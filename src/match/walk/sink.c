/* Sinks: they collect candidates for a request, and the best of these are taken. */
#include <stdlib.h>
#include <string.h>

#include "match/walk/walk.h"

/* How many units are enough, also for alternatives with a larger count. */
static uint64_t wanted(const struct walk *w, uint32_t request, bool keep)
{
    uint64_t want = keep ? w->rq[request].max : 0;

    for (uint32_t i = w->rq[request].first; i != REQUEST_NONE; i = w->rq[i].other)
        want = want < w->rq[i].min ? w->rq[i].min : want;
    return want;
}

struct sink *sinks_make(struct walk *w, uint32_t level, enum policy_order order, bool keep)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        n++;
    struct sink *sinks = arena_alloc(&w->m->arena, (n + 1) * sizeof(*sinks));
    if (!sinks) {
        w->out_of_memory = true;
        return NULL;
    }
    n = 0;
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        sinks[n++] =
            (struct sink){.request = i, .order = order, .keep = keep, .want = wanted(w, i, keep)};
    return sinks;
}

struct sink *sink_of(const struct walk *w, struct sink *sinks, uint32_t level, uint32_t request)
{
    uint32_t n = 0;

    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, n++)
        if (i == request)
            return &sinks[n];
    return NULL;
}

static int by_score(const struct candidate *x, const struct candidate *y)
{
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return 0;
}

static int by_order(const struct candidate *x, const struct candidate *y)
{
    return x->order < y->order ? -1 : x->order > y->order;
}

static int lowest_candidate_first(const void *a, const void *b)
{
    int c = by_score(a, b);

    return c ? c : by_order(a, b);
}

static int highest_candidate_first(const void *a, const void *b)
{
    int c = by_score(b, a);

    return c ? c : by_order(a, b);
}

/* The last score of a candidate, which may be a run of slots. */
static int64_t last_score(const struct candidate *c)
{
    return c->is_run ? c->score + c->count - 1 : c->score;
}

struct run_of {
    int64_t score, low; /* the lowest score of its run */
};

static int by_value(const void *a, const void *b)
{
    const struct run_of *x = a, *y = b;

    return x->score < y->score ? -1 : x->score > y->score;
}

/* The lowest score in the run that a score belongs to. */
static int64_t low_of(const struct run_of *runs, size_t n, int64_t score)
{
    struct run_of key = {.score = score};
    const struct run_of *found = bsearch(&key, runs, n, sizeof(*runs), by_value);

    return found->low;
}

void sinks_join_runs(struct walk *w, struct sink *sinks, uint32_t n)
{
    size_t total = 0;

    for (uint32_t k = 0; k < n; k++)
        total += sinks[k].n;
    struct run_of *runs = arena_alloc(&w->m->arena, (total + 1) * sizeof(*runs));
    if (!runs) {
        w->out_of_memory = true;
        return;
    }
    while (n-- > 1) {
        size_t scores = 0;
        for (uint32_t k = 0; k <= n; k++)
            for (uint32_t i = 0; i < sinks[k].n; i++)
                runs[scores++].score = sinks[k].v[i].score;
        if (scores > 1)
            qsort(runs, scores, sizeof(*runs), by_value);
        for (size_t i = 0; i < scores; i++) {
            bool same = i > 0 && runs[i].score - runs[i - 1].score <= 1;
            runs[i].low = same ? runs[i - 1].low : runs[i].score;
        }
        for (uint32_t i = 0; i < sinks[n].n; i++)
            sinks[n].v[i].score = low_of(runs, scores, sinks[n].v[i].score);
    }
}

static int falling(const void *a, const void *b)
{
    int64_t x = last_score(a), y = last_score(b);

    return x != y ? (x > y ? -1 : 1) : 0;
}

static int discovered(const void *a, const void *b)
{
    return by_order(a, b);
}

static void sort_candidates(struct candidate *v, uint32_t n,
                            int (*compare)(const void *, const void *))
{
    for (uint32_t i = 1; i < n; i++)
        if (compare(&v[i - 1], &v[i]) > 0) {
            qsort(v, n, sizeof(*v), compare);
            return;
        }
}

/* Sort by runs of consecutive scores, the highest run first, each in the order of discovery, until there
 * are as many as are wanted.
 */
static void sort_runs(struct sink *s)
{
    uint64_t units = 0;

    sort_candidates(s->v, s->n, falling);
    for (uint32_t i = 0; i < s->n && units < s->want;) {
        uint32_t first = i;
        int64_t low = s->v[i].score;
        for (; i < s->n && low - last_score(&s->v[i]) <= 1; i++) {
            low = s->v[i].score < low ? s->v[i].score : low;
            units += s->v[i].count;
        }
        sort_candidates(s->v + first, i - first, discovered);
    }
}

void sink_sort(struct sink *s)
{
    if (s->order == ORDER_RUNS)
        sort_runs(s);
    else
        sort_candidates(s->v, s->n,
                        s->order == ORDER_ASCENDING ? lowest_candidate_first
                                                    : highest_candidate_first);
}

bool sink_wants(const struct sink *s, int64_t score, uint64_t order)
{
    if (!s->full)
        return true;
    if (score == s->worst)
        return order < s->worst_order;
    return s->order == ORDER_ASCENDING ? score < s->worst : score > s->worst;
}

/* Keep the best candidates until there are enough, and drop the rest. */
static void trim(struct sink *s)
{
    uint64_t units = 0;
    uint32_t n = 0;

    sink_sort(s);
    while (n < s->n && units < s->want)
        units += s->v[n++].count;
    s->n = n;
    s->units = units;
    s->full = units >= s->want;
    s->worst = n > 0 ? s->v[n - 1].score : 0;
    s->worst_order = n > 0 ? s->v[n - 1].order : 0;
    s->trim = 2 * n;
}

static bool reserve_candidate(struct walk *w, struct sink *s)
{
    if (s->n < s->capacity)
        return true;
    uint32_t capacity = s->capacity ? 2 * s->capacity : 8;
    struct candidate *v = arena_alloc(&w->m->arena, capacity * sizeof(*v));
    if (!v) {
        w->out_of_memory = true;
        return false;
    }
    if (s->n > 0)
        memcpy(v, s->v, s->n * sizeof(*v));
    s->v = v;
    s->capacity = capacity;
    return true;
}

void sink_add(struct walk *w, struct sink *s, const struct candidate *c)
{
    if (s->keep) {
        if (!reserve_candidate(w, s))
            return;
        s->v[s->n++] = *c;
    }
    s->units += c->count;
    if (s->bounded && s->units >= s->want && s->n > s->trim)
        trim(s);
}

bool sinks_suffice(const struct walk *w, struct sink *sinks, uint32_t level)
{
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next)
        if (w->rq[i].min == 0 || sink_of(w, sinks, level, w->rq[i].bin)->units < w->rq[i].min)
            return false;
    return true;
}
