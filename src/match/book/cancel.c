/* Giving back what a job holds: all of it, or what a text names. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "match/inner.h"
#include "match/plan.h"
#include "resource/readers/reader.h"

static int no_such_job(int64_t jobid, berth_error_t *err)
{
    return errtext_set(err, ENOENT, "job %" PRId64 " does not exist", jobid);
}

static void forget_job(struct match *m, struct job *job)
{
    match_unbook(m, job);
    jobs_remove(&m->jobs, job->id);
    job_destroy(job);
}

int match_cancel(match_t *m, int64_t jobid, uint64_t *visits, berth_error_t *err)
{
    struct job *job = jobs_find(&m->jobs, jobid);

    if (!job)
        return no_such_job(jobid, err);
    if (visits)
        *visits = job_vertices(job);
    forget_job(m, job);
    return 0;
}

/* What is given back: which holds, by index; and for each rank the topmost vertex, and the units by type. */
struct release {
    struct match *m;
    struct job *job; /* the job, with every hold booked by itself */
    bool *gone;      /* by hold */
    int64_t *less;   /* by hold and number of pruning type: units that its filter counts less */
    struct release_rank {
        int32_t rank;
        uint32_t top;    /* vertex */
        uint32_t length; /* of its path */
        int64_t *units;  /* by number of pruning type */
        bool any;
    } * rank;
    size_t n_ranks, ranks_capacity;
};

static void clear_release(struct release *r)
{
    for (size_t i = 0; i < r->n_ranks; i++)
        free(r->rank[i].units);
    free(r->rank);
    free(r->gone);
    free(r->less);
}

static struct release_rank *find_or_add_rank(struct release *r, int32_t rank)
{
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->rank[i].rank == rank)
            return &r->rank[i];
    if (r->n_ranks == r->ranks_capacity) {
        size_t capacity = r->ranks_capacity * 2 + 8;
        struct release_rank *more = reallocarray(r->rank, capacity, sizeof(*more));
        if (!more)
            return NULL;
        r->rank = more;
        r->ranks_capacity = capacity;
    }
    int64_t *units = calloc(r->m->prune.n + 1, sizeof(*units));
    if (!units)
        return NULL;
    r->rank[r->n_ranks] = (struct release_rank){rank, VERTEX_NONE, UINT32_MAX, units, false};
    return &r->rank[r->n_ranks++];
}

static uint32_t path_length(struct match *m, uint32_t v)
{
    size_t before = m->text.len;

    graph_path(m->g, v, m->topo.subsystem, &m->text);
    size_t length = m->text.len - before;
    m->text.len = before;
    return (uint32_t)length;
}

/* Give back hold i, with the rank of its vertex. */
static int release_hold(struct release *r, uint32_t i)
{
    const struct hold *h = &r->job->hold[i];
    const struct vertex *x = &r->m->g->v[h->vertex];
    struct release_rank *rank = find_or_add_rank(r, x->rank);
    int32_t number = r->m->prune.number[x->type];

    if (!rank)
        return -1;
    r->gone[i] = true;
    if (h->flags & (HOLD_EXCLUSIVE | HOLD_UNITS)) {
        rank->any = true;
        if (number != PRUNE_NONE)
            rank->units[number] += h->needs;
    }
    uint32_t length = path_length(r->m, h->vertex);
    if (r->m->text.failed) {
        errno = ENOMEM;
        return -1;
    }
    if (length < rank->length) {
        rank->length = length;
        rank->top = h->vertex;
    }
    return 0;
}

static uint32_t hold_of(const struct job *job, uint32_t v)
{
    for (uint32_t i = 0; i < job->n; i++)
        if (job->hold[i].vertex == v)
            return i;
    return UINT32_MAX;
}

/* Subtract what the ranks give back from the filters above them. */
static int release_above(struct release *r, berth_error_t *err)
{
    uint32_t n = r->m->prune.n;

    for (size_t k = 0; k < r->n_ranks; k++) {
        const struct release_rank *rank = &r->rank[k];
        if (!rank->any)
            return errtext_set(err, EINVAL, "the job holds nothing of rank %" PRId32, rank->rank);
        for (uint32_t v = r->m->topo.parent[rank->top]; v != VERTEX_NONE;
             v = r->m->topo.parent[v]) {
            uint32_t i = hold_of(r->job, v);
            for (uint32_t t = 0; t < n && i != UINT32_MAX; t++)
                r->less[(size_t)i * n + t] += rank->units[t];
        }
    }
    return 0;
}

/* A hold above whose filter then counts nothing is given back too. Giving back too much is an error. */
static int release_emptied_holds(struct release *r, berth_error_t *err)
{
    uint32_t n = r->m->prune.n;

    for (uint32_t i = 0; i < r->job->n; i++) {
        struct hold *h = &r->job->hold[i];
        const struct prune_list *list = prune_of(&r->m->prune, &r->m->topo, h->vertex);
        bool touched = false, left = false;
        for (uint32_t t = 0; t < n; t++)
            touched |= r->less[(size_t)i * n + t] > 0;
        if (r->gone[i] || !touched || h->n_counts == 0)
            continue;
        for (uint32_t k = 0; k < h->n_counts; k++) {
            int64_t less = r->less[(size_t)i * n + list->number[k]];
            if (less > r->job->counts[h->counts + k])
                return errtext_set(err, EINVAL, "more is given back than the job holds");
            left |= less < r->job->counts[h->counts + k];
        }
        r->gone[i] = !left;
    }
    return 0;
}

/* The job as it then is. */
static struct job *remaining(const struct release *r)
{
    const struct job *job = r->job;
    struct job *to = job_like(job);
    uint32_t n = r->m->prune.n;

    for (uint32_t i = 0; to && i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        const struct prune_list *list = prune_of(&r->m->prune, &r->m->topo, h->vertex);
        if (r->gone[i])
            continue;
        const int64_t *counts = h->n_counts > 0 ? job->counts + h->counts : NULL;
        if (job_hold(to, h->vertex, h->flags, h->needs, counts, h->n_counts) < 0 ||
            (job->source && job_source(to, job->source[i]) < 0)) {
            job_destroy(to);
            return NULL;
        }
        struct hold *copy = &to->hold[to->n - 1];
        for (uint32_t k = 0; k < h->n_counts; k++)
            to->counts[copy->counts + k] -= r->less[(size_t)i * n + list->number[k]];
    }
    return to;
}

/* Replace a job by another with the same number, and destroy the old one. */
static int match_replace_job(struct match *m, struct job *old, struct job *new)
{
    if (match_book(m, new) < 0)
        return -1;
    forget_job(m, old);
    if (jobs_add(&m->jobs, new) == 0)
        return 0;
    match_unbook(m, new);
    return -1;
}

/* Mark in r all that has a rank. */
static int release_rank(struct release *r, int32_t rank, berth_error_t *err)
{
    bool found = false;

    for (uint32_t i = 0; i < r->job->n; i++) {
        if (r->m->g->v[r->job->hold[i].vertex].rank != rank || r->gone[i])
            continue;
        found = true;
        if (release_hold(r, i) < 0)
            return -1;
    }
    return found ? 0 : errtext_set(err, EINVAL, "the job holds nothing of rank %" PRId32, rank);
}

/* Mark in r what a text names. */
static int release_ranks(struct release *r, const char *text, size_t length, berth_error_t *err)
{
    struct rv1 rv1;
    int rc = 0;

    if (rv1_parse(&rv1, text, length, err) < 0)
        return -1;
    for (size_t k = 0; k < rv1.n && rc == 0; k++)
        rc = release_rank(r, rv1.rank[k].rank, err);
    rv1_free(&rv1);
    return rc;
}

static int release_set(struct release *r, const char *text, size_t length, berth_error_t *err)
{
    struct idset ranks = {0};
    int rc = idset_decode(&ranks, text, length, err);

    if (rc < 0 && errno == ERANGE)
        errno = EINVAL;
    for (uint32_t rank = idset_first(&ranks); rank != IDSET_NONE && rc == 0;
         rank = idset_next(&ranks, rank))
        rc = release_rank(r, (int32_t)rank, err);
    idset_clear(&ranks);
    return rc;
}

static int release_vertices(struct release *r, const char *text, size_t length, berth_error_t *err)
{
    struct jgf jgf;
    int rc = 0;

    if (jgf_parse(&jgf, text, length, err) < 0)
        return -1;
    for (size_t k = 0; k < jgf.n && rc == 0; k++) {
        uint32_t v = match_find_jgf(r->m, &jgf.vertex[k], err);
        uint32_t i = v == VERTEX_NONE ? UINT32_MAX : hold_of(r->job, v);
        if (v == VERTEX_NONE)
            rc = -1;
        else if (i == UINT32_MAX || !(r->job->hold[i].flags & (HOLD_EXCLUSIVE | HOLD_UNITS)))
            rc = errtext_set(err, EINVAL, "vertex \"%s\": the job does not hold it",
                             jgf.vertex[k].outer_id);
        else if (!r->gone[i])
            rc = release_hold(r, i);
    }
    jgf_free(&jgf);
    return rc;
}

#define FORMAT_RANKS "ranks" /* a set of ids; all of a job is never given back by it */

static int release_text(struct release *r, const char *format, const char *text, size_t length,
                        berth_error_t *err)
{
    if (strcmp(format, "jgf") == 0)
        return release_vertices(r, text, length, err);
    if (strcmp(format, "rv1exec") == 0)
        return release_ranks(r, text, length, err);
    if (strcmp(format, FORMAT_RANKS) == 0)
        return release_set(r, text, length, err);
    return errtext_set(err, EINVAL, "format \"%s\": expected jgf or rv1exec", format);
}

/* True if a vertex is given back and something below it is kept. */
static bool leaves_orphans(const struct release *r)
{
    const struct job *job = r->job;
    uint32_t *of = r->m->mark_of;

    for (uint32_t i = 0; i < job->n; i++)
        of[job->hold[i].vertex] = i;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t v = job->hold[i].vertex;
        uint32_t up = v == r->m->topo.root ? VERTEX_NONE : r->m->topo.parent[v];
        if (!r->gone[i] && up != VERTEX_NONE && of[up] < job->n && job->hold[of[up]].vertex == up &&
            r->gone[of[up]])
            return true;
    }
    return false;
}

int match_partial_cancel(match_t *m, int64_t jobid, const char *format, const char *text,
                         size_t length, bool *full, uint64_t *visits, berth_error_t *err)
{
    struct job *job = jobs_find(&m->jobs, jobid), *left = NULL;
    struct release r = {.m = m};
    int rc = -1;

    if (!job)
        return no_such_job(jobid, err);
    strbuf_reset(&m->text);
    /* What goes with all that is below it leaves covered what was. */
    r.job = match_recount(m, job, strcmp(format, FORMAT_RANKS) != 0);
    if (!r.job)
        return errtext_no_memory(err);
    r.gone = calloc((size_t)r.job->n + 1, sizeof(*r.gone));
    r.less = calloc((size_t)r.job->n * m->prune.n + 1, sizeof(*r.less));
    if (!r.gone || !r.less || release_text(&r, format, text, length, err) < 0 ||
        release_above(&r, err) < 0 || release_emptied_holds(&r, err) < 0)
        goto done;
    left = remaining(&r);
    uint32_t root = r.job->n > 0 ? r.job->n - 1 : 0;
    if (!left)
        goto done;
    if (visits)
        *visits = r.job->n - left->n;
    *full = r.job->n == 0 || r.gone[root];
    if (*full && strcmp(format, FORMAT_RANKS) == 0) {
        rc = errtext_set(err, EINVAL, "the job holds nothing else");
    } else if (*full) {
        forget_job(m, job);
        rc = 0;
    } else if (match_replace_job(m, job, left) == 0) {
        left = NULL;
        m->has_orphans |= leaves_orphans(&r);
        rc = 0;
    }
done:
    if (rc < 0 && errno == ENOMEM)
        errtext_no_memory(err);
    job_destroy(left);
    job_destroy(r.job);
    clear_release(&r);
    return rc;
}

int match_give_ranks(struct match *m, int64_t jobid, const char *ranks, berth_error_t *err)
{
    bool full;

    return match_partial_cancel(m, jobid, FORMAT_RANKS, ranks, strlen(ranks), &full, NULL, err);
}
