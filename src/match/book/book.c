/* Booking: what jobs hold, in the calendars of the vertices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/inner.h"

struct state *match_state(struct match *m, uint32_t v)
{
    if (m->state[v])
        return m->state[v];
    struct state *s = arena_alloc(&m->state_memory, sizeof(*s));
    if (s)
        m->state[v] = memset(s, 0, sizeof(*s));
    return s;
}

int match_need_below(struct match *m, struct state *s)
{
    if (s->below)
        return 0;
    struct state_below *b = arena_alloc(&m->state_memory, sizeof(*b));
    if (!b)
        return -1;
    s->below = memset(b, 0, sizeof(*b));
    return 0;
}

static int64_t load_of(const struct job *job, const struct hold *h)
{
    return job->lifted ? 0 : hold_load(h);
}

/* Of a divisible pool. */
static int64_t units_held(const struct job *job, const struct hold *h)
{
    return job->lifted ? 0 : h->needs;
}

/* How much of a job's i-th count is booked. A forced job shares what it holds with others, so nothing of
 * it is counted: what is held twice would make other resources seem taken.
 */
static int64_t count_of(const struct job *job, uint32_t i)
{
    return job->lifted || job->forced ? 0 : job->counts[i];
}

void match_note_hold(struct match *m, const struct job *job, const struct hold *h, int sign)
{
    struct state *s = m->state[h->vertex];
    uint32_t one = (uint32_t)sign;

    if (job->lifted)
        return;
    if (h->n_counts > 0)
        s->below->n_counted += one;
    fills_note(m, job, h, sign);
    if (h->flags & HOLD_COVERED)
        return;
    if (!job->reserved)
        s->n_jobs += one;
    if (h->flags & HOLD_FILLS)
        *(job->reserved ? &s->below->n_filled_reserved : &s->below->n_filled_allocated) += one;
    if (h->flags & HOLD_EXCLUSIVE)
        *(job->reserved ? &s->n_reserved : &s->n_allocated) += one;
}

void match_note_allocated(struct match *m, struct job *job, const struct hold *h)
{
    struct state *s = m->state[h->vertex];

    if (job->lifted)
        return;
    if (m->fills.of) {
        fills_note(m, job, h, -1);
        job->reserved = false;
        fills_note(m, job, h, 1);
        job->reserved = true;
    }
    if (h->flags & HOLD_COVERED)
        return;
    s->n_jobs++;
    if (h->flags & HOLD_FILLS) {
        s->below->n_filled_reserved--;
        s->below->n_filled_allocated++;
    }
    if (h->flags & HOLD_EXCLUSIVE) {
        s->n_reserved--;
        s->n_allocated++;
    }
}

static void unbook_counts(struct state *s, const struct job *job, const struct hold *h, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (job->counts[h->counts + i] > 0)
            state_unbook(&s->below->counts[i], job->at, job->end, count_of(job, h->counts + i));
}

static int book_counts(struct state *s, const struct job *job, const struct hold *h)
{
    if (h->n_counts > 0 && state_need_counts(s->below, h->n_counts) < 0)
        return -1;
    for (uint32_t i = 0; i < h->n_counts; i++) {
        if (job->counts[h->counts + i] > 0 &&
            state_book(&s->below->counts[i], job->at, job->end, count_of(job, h->counts + i)) < 0) {
            unbook_counts(s, job, h, i);
            return -1;
        }
    }
    return 0;
}

/* What a hold books, apart from its counts. */
static int book_use(struct state *s, const struct job *job, const struct hold *h)
{
    if (h->flags & HOLD_COVERED)
        return 0;
    if (state_book_load(s, job->at, job->end, load_of(job, h)) < 0)
        return -1;
    if (!(h->flags & HOLD_UNITS) ||
        state_book(&s->below->units, job->at, job->end, units_held(job, h)) == 0)
        return 0;
    state_unbook_load(s, job->at, job->end, load_of(job, h));
    return -1;
}

/* As match_unbook, for one hold. */
static void match_unbook_hold(struct match *m, const struct job *job, const struct hold *h)
{
    struct state *s = m->state[h->vertex];

    if ((h->flags & HOLD_COVERED) && h->n_counts == 0)
        return;
    unbook_counts(s, job, h, h->n_counts);
    if (!(h->flags & HOLD_COVERED)) {
        full_cache_forget(m, h->vertex);
        state_unbook_load(s, job->at, job->end, load_of(job, h));
        if (h->flags & HOLD_UNITS)
            state_unbook(&s->below->units, job->at, job->end, units_held(job, h));
    }
    match_note_hold(m, job, h, -1);
}

int match_book_hold(struct match *m, const struct job *job, const struct hold *h)
{
    if ((h->flags & HOLD_COVERED) && h->n_counts == 0)
        return 0;
    struct state *s = match_state(m, h->vertex);
    bool below = h->n_counts > 0 || h->flags & (HOLD_UNITS | HOLD_FILLS);
    if (!s || (below && match_need_below(m, s) < 0) || book_counts(s, job, h) < 0)
        return -1;
    if (book_use(s, job, h) < 0) {
        unbook_counts(s, job, h, h->n_counts);
        return -1;
    }
    match_note_hold(m, job, h, 1);
    return 0;
}

/* Take what is booked of the holds before one out of the calendars. */
static void unbook_before(struct match *m, const struct job *job, uint32_t n)
{
    for (uint32_t i = job_next_span(job, 0); i < n; i = job_next_span(job, i + 1))
        match_unbook_hold(m, job, &job->hold[i]);
    state_unbook(&m->times, job->at, job->end, 0);
}

int match_book_again(struct match *m, const struct job *job)
{
    uint32_t i = job_next_span(job, 0);

    if (state_book(&m->times, job->at, job->end, 0) < 0)
        return -1;
    while (i < job->n && match_book_hold(m, job, &job->hold[i]) == 0)
        i = job_next_span(job, i + 1);
    if (i == job->n)
        return 0;
    unbook_before(m, job, i);
    errno = ENOMEM;
    return -1;
}

/* True if hold i is of a node that is shared, and the holds before it are of each thing in it, which the job has to itself. */
static bool fills(const struct match *m, const struct job *job, uint32_t i)
{
    const uint32_t apart = HOLD_COVERED | HOLD_UNITS | HOLD_SHOWN;
    const struct hold *h = &job->hold[i];
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, h->vertex, &children);

    if (h->flags & (apart | HOLD_EXCLUSIVE) || n == 0 || n > i)
        return false;
    for (uint32_t k = i - n; k < i; k++) {
        const struct hold *below = &job->hold[k];
        if (m->topo.parent[below->vertex] != h->vertex || !topo_is_leaf(&m->topo, below->vertex) ||
            !(below->flags & HOLD_EXCLUSIVE) || below->flags & apart || below->n_counts > 0)
            return false;
    }
    return true;
}

/* Note what is booked with its node. */
static void note_filled(const struct match *m, struct job *job)
{
    const uint32_t *children;

    for (uint32_t i = 0; i < job->n && m->topo.is_tree; i++) {
        struct hold *h = &job->hold[i];
        if (m->g->v[h->vertex].type != TYPE_NODE || !fills(m, job, i))
            continue;
        h->flags |= HOLD_FILLS;
        uint32_t n = topo_children(&m->topo, h->vertex, &children);
        for (uint32_t k = i - n; k < i; k++) {
            job->hold[k].flags |= HOLD_WITH_NODE;
            job->hold[k].run = i - k;
        }
    }
}

int match_book(struct match *m, struct job *job)
{
    note_filled(m, job);
    return match_book_again(m, job);
}

void match_unbook(struct match *m, struct job *job)
{
    unbook_before(m, job, job->n);
}

/* The index of a child in the order, which is by descending weight and then by descending unique id. */
static uint32_t weight_index(const struct weight *w, uint32_t n, uint64_t weight, int64_t uniq_id)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct weight *x = &w[middle];
        if (x->weight > weight || (x->weight == weight && x->uniq_id > uniq_id))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_uniq_id(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;

    return x->uniq_id > y->uniq_id ? -1 : x->uniq_id < y->uniq_id;
}

int match_need_weights(struct match *m, uint32_t v)
{
    struct state *s = match_state(m, v);
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, v, &children);

    if (!s || match_need_below(m, s) < 0)
        return -1;
    struct state_below *b = s->below;
    if (b->weight)
        return 0;
    b->weight = malloc((n + 1) * sizeof(*b->weight));
    if (!b->weight)
        return -1;
    b->n_weights = n;
    for (uint32_t i = 0; i < n; i++)
        b->weight[i] = (struct weight){UINT64_MAX, graph_uniq_id(m->g, children[n - 1 - i]),
                                       children[n - 1 - i]};
    qsort(b->weight, n, sizeof(*b->weight), by_uniq_id);
    return 0;
}

void match_put_weight(struct match *m, uint32_t parent, const struct weight *new)
{
    struct weight *w = m->state[parent]->below->weight, put = *new;
    uint32_t n = m->state[parent]->below->n_weights, from = 0;

    while (from < n && w[from].child != put.child)
        from++;
    if (from == n)
        return;
    memmove(&w[from], &w[from + 1], (n - from - 1) * sizeof(*w));
    uint32_t to = weight_index(w, n - 1, put.weight, put.uniq_id);
    memmove(&w[to + 1], &w[to], (n - 1 - to) * sizeof(*w));
    w[to] = put;
}

static int reweigh(struct match *m, uint32_t parent, uint32_t child, int64_t now)
{
    const struct prune_list *list = prune_of(&m->prune, &m->topo, child);
    const struct state *k = m->state[child];

    if (list->n == 0)
        return 0;
    int64_t free = 0;
    if (now >= 0) {
        uint32_t last = list->n - 1;
        free = prune_total(&m->prune, &m->topo, child, list->number[last]) -
               state_count(k, last, now, now + 1);
        if (free == 0 && state_below(k)->n_counted == 0)
            return 0;
    }
    if (match_need_weights(m, parent) < 0)
        return -1;
    match_put_weight(
        m, parent,
        &(struct weight){free < 0 ? 0 : (uint64_t)free, graph_uniq_id(m->g, child), child});
    return 0;
}

int match_reweigh(struct match *m, int64_t now)
{
    for (size_t i = 0; policy_weighs(&m->policy) && i < m->last.n; i++)
        if (m->last.item[i].parent != VERTEX_NONE &&
            reweigh(m, m->last.item[i].parent, m->last.item[i].vertex, now) < 0)
            return -1;
    return 0;
}
