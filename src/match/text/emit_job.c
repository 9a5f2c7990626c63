/* Emitting what a job holds, as the match that made the job emitted it.
 *
 * Holds are in the order in which they were emitted. Those that were given back or removed since are missing;
 * where the job still holds something below such a vertex, the vertex is emitted as shared, so that the text
 * is still a tree.
 */
#include <errno.h>
#include <stdlib.h>

#include "match/inner.h"
#include "match/text/names.h"

static uint32_t source_of(const struct match *m, const struct job *job, uint32_t i)
{
    uint32_t v = job->hold[i].vertex;

    if (job->source && (job->source[i] == VERTEX_NONE || !m->g->v[job->source[i]].gone))
        return job->source[i];
    return match_parent(m, v);
}

/* The index of the hold of v after hold i, or UINT32_MAX. */
static uint32_t place_after(const struct match *m, const struct job *job, uint32_t v, uint32_t i)
{
    uint32_t place = m->mark_of[v];

    return place > i && place < job->n && job->hold[place].vertex == v ? place : UINT32_MAX;
}

/* Note in mark_of the index of each vertex's hold. Returns true if the vertex from which each was reached
 * is held too.
 */
static bool note_places(struct match *m, const struct job *job)
{
    bool whole = true;

    for (uint32_t i = job->n; i-- > 0;) {
        uint32_t source = source_of(m, job, i);
        whole &= source == VERTEX_NONE || place_after(m, job, source, i) != UINT32_MAX;
        m->mark_of[job->hold[i].vertex] = i;
    }
    return whole;
}

static int add_shared(struct match *m, struct job *to, uint32_t v)
{
    if (job_hold(to, v, 0, m->g->v[v].size, NULL, 0) < 0)
        return -1;
    return to->source ? job_source(to, match_parent(m, v)) : 0;
}

/* For the vertices above hold i that are missing: set `last` to i, the last hold below them. */
static void note_missing(const struct match *m, const struct job *job, uint32_t i, uint32_t *last)
{
    uint32_t v = source_of(m, job, i);

    for (; v != VERTEX_NONE && place_after(m, job, v, i) == UINT32_MAX; v = match_parent(m, v))
        last[v] = i;
}

/* Copy the job, and add the missing vertices as shared. NULL with ENOMEM. */
static struct job *complete(struct match *m, const struct job *job)
{
    struct job *to = job_like(job);
    uint32_t *last = malloc(((size_t)m->g->n + 1) * sizeof(*last));
    int rc = to && last ? 0 : -1;

    for (uint32_t i = 0; i < job->n && rc == 0; i++)
        note_missing(m, job, i, last);
    for (uint32_t i = 0; i < job->n && rc == 0; i++) {
        const struct hold *h = &job->hold[i];
        uint32_t v = source_of(m, job, i);
        rc = job_hold(to, h->vertex, h->flags, h->needs, NULL, 0);
        if (rc == 0 && job->source)
            rc = job_source(to, v);
        for (;
             rc == 0 && v != VERTEX_NONE && place_after(m, job, v, i) == UINT32_MAX && last[v] == i;
             v = match_parent(m, v))
            rc = add_shared(m, to, v);
    }
    free(last);
    if (rc == 0)
        return to;
    job_destroy(to);
    errno = ENOMEM;
    return NULL;
}

static int emit_all(struct match *m, const struct job *job)
{
    const uint32_t given = HOLD_EXCLUSIVE | HOLD_UNITS | HOLD_SHOWN;

    for (uint32_t i = 0; i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        struct emitted item = {.vertex = h->vertex,
                               .flags = h->flags & given ? EMIT_EXCLUSIVE : 0,
                               .parent = source_of(m, job, i),
                               .needs = h->needs,
                               .label = job_label_of(job, h)};
        if (match_emit(m, &item) < 0)
            return -1;
    }
    for (uint32_t i = job->n; i-- > 0;) {
        struct emitted *item = &m->last.item[i];
        uint32_t above =
            item->parent == VERTEX_NONE ? UINT32_MAX : place_after(m, job, item->parent, i);
        m->mark_of[item->vertex] = i;
        item->depth = 1;
        if (above == UINT32_MAX)
            continue;
        item->depth = (uint16_t)(m->last.item[above].depth + 1);
        if (m->last.item[above].flags & EMIT_EXCLUSIVE)
            item->flags |= EMIT_EXCLUSIVE_PARENT;
    }
    return 0;
}

/* The same of a job each of whose holds is of one vertex. */
static int emit_unfolded(struct match *m, const struct job *job)
{
    struct job *completed = NULL;

    if (!note_places(m, job)) {
        completed = complete(m, job);
        if (!completed)
            return -1;
        note_places(m, completed);
        job = completed;
    }
    int rc = emit_all(m, job);
    job_destroy(completed);
    if (rc < 0)
        m->last.n = 0;
    return rc;
}

int match_emit_job(struct match *m, const struct job *job)
{
    if (match_emit_begin(m, job->at, job->end, job_queue(job)) < 0)
        return -1;
    if (job->hidden)
        return 0;
    struct job *each = job_unfolded(job);
    int rc = each ? emit_unfolded(m, each) : -1;
    job_destroy(each);
    return rc;
}

/* Make what a job holds the last emission. Returns 0, or -1 with ENOENT or ENOMEM. */
static int emit_job(struct match *m, int64_t jobid)
{
    const struct job *job = jobs_find(&m->jobs, jobid);

    if (job && match_emit_job(m, job) == 0)
        return 0;
    errno = job ? ENOMEM : ENOENT;
    return -1;
}

int match_write_job(struct match *m, int64_t jobid, const char *format, const char **text,
                    size_t *length)
{
    if (write_format_parse(format) < 0) {
        errno = EINVAL;
        return -1;
    }
    return emit_job(m, jobid) < 0 ? -1 : match_write(m, format, text, length);
}

int match_hosts(struct match *m, int64_t jobid, struct hosts *hosts)
{
    return emit_job(m, jobid) < 0 ? -1 : hosts_gather(hosts, &m->last, m->g);
}
