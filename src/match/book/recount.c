/* Computing again what a job's holds count in the filters of the vertices above them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/inner.h"

/* Units that a hold counts of its own type. */
static int64_t own_units(const struct match *m, const struct hold *h)
{
    const struct vertex *x = &m->g->v[h->vertex];

    if (h->flags & HOLD_UNITS)
        return h->needs;
    if (h->flags & (HOLD_EXCLUSIVE | HOLD_SHOWN))
        return x->size;
    return x->divisible ? 0 : x->size - h->needs;
}

/* The index of a vertex's hold, which m->mark_of remembers; UINT32_MAX if there is none. */
static uint32_t hold_index(const struct match *m, const struct job *job, uint32_t v)
{
    uint32_t i = m->mark_of[v];

    return i < job->n && job->hold[i].vertex == v ? i : UINT32_MAX;
}

static int append_hold(struct match *m, struct job *to, const struct hold *h, const int64_t *sums,
                       bool any, bool uncover)
{
    const struct prune_list *list = prune_of(&m->prune, &m->topo, h->vertex);
    uint32_t flags =
        h->flags & ~(uint32_t)(HOLD_FILLS | HOLD_WITH_NODE | (uncover ? HOLD_COVERED : 0));
    bool counted = any && (!(flags & HOLD_COVERED) || m->policy.first);
    int64_t *counts = malloc((list->n + 1) * sizeof(*counts));

    if (!counts)
        return -1;
    for (uint32_t i = 0; i < list->n; i++)
        counts[i] = sums[list->number[i]];
    int rc = job_hold(to, h->vertex, flags, h->needs, counts, counted ? list->n : 0);
    free(counts);
    return rc;
}

/* The same of a job each of whose holds is of one vertex. */
static struct job *recount_unfolded(struct match *m, const struct job *job, bool uncover)
{
    uint32_t n = m->prune.n;
    struct job *to = job_like(job);
    int64_t *sums = calloc((size_t)job->n * n + 1, sizeof(*sums));
    bool *any = calloc((size_t)job->n + 1, sizeof(*any));

    if (!to || !sums || !any)
        goto fail;
    for (uint32_t i = 0; i < job->n; i++)
        m->mark_of[job->hold[i].vertex] = i;
    for (uint32_t i = 0; i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        uint32_t parent = m->topo.parent ? m->topo.parent[h->vertex] : VERTEX_NONE;
        int32_t number = m->prune.number[m->g->v[h->vertex].type];
        if (m->g->v[h->vertex].gone) {
            to->cut |= !(h->flags & HOLD_SPARE);
            continue;
        }
        if (append_hold(m, to, h, sums + (size_t)i * n, any[i], uncover) < 0 ||
            (job->source && job_source(to, job->source[i]) < 0))
            goto fail;
        uint32_t above = parent == VERTEX_NONE ? UINT32_MAX : hold_index(m, job, parent);
        if (above == UINT32_MAX)
            continue;
        for (uint32_t k = 0; k < n; k++)
            sums[(size_t)above * n + k] += sums[(size_t)i * n + k];
        if (number != PRUNE_NONE)
            sums[(size_t)above * n + (uint32_t)number] += own_units(m, h);
        any[above] |= any[i] || number != PRUNE_NONE;
    }
    free(sums);
    free(any);
    return to;
fail:
    job_destroy(to);
    free(sums);
    free(any);
    errno = ENOMEM;
    return NULL;
}

struct job *match_recount(struct match *m, const struct job *job, bool uncover)
{
    struct job *each = job_unfolded(job);
    struct job *to = each ? recount_unfolded(m, each, uncover) : NULL;

    job_destroy(each);
    return to;
}
