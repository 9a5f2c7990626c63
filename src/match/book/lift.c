/* Lifting bookings out of the calendars for a while, moving them and putting them back (plan.h).
 *
 * A lifted booking keeps its points in the calendars, so that putting it back needs no memory. A booking
 * that is put back where others hold the same is forced: it is not counted in the filters above, since
 * what is counted twice would make other resources seem taken.
 */
#include <assert.h>
#include <errno.h>

#include "match/plan.h"
#include "match/walk/walk.h"

/* Add everything that a job counts to the calendars, or subtract it; the job is not lifted. */
static void count_holds(struct match *m, const struct job *job, int sign)
{
    for (uint32_t i = job_next_span(job, 0); i < job->n; i = job_next_span(job, i + 1)) {
        const struct hold *h = &job->hold[i];
        struct state *s = m->state[h->vertex];
        bool covered = h->flags & HOLD_COVERED;
        for (uint32_t k = 0; k < h->n_counts && !job->forced; k++)
            if (job->counts[h->counts + k] > 0)
                profile_add(&s->below->counts[k], job->at, job->end,
                            sign * job->counts[h->counts + k]);
        if (!covered && sign < 0)
            full_cache_forget(m, h->vertex);
        if (!covered)
            state_add_load(s, job->at, job->end, sign * hold_load(h));
        if (!covered && (h->flags & HOLD_UNITS))
            profile_add(&s->below->units, job->at, job->end, sign * h->needs);
        match_note_hold(m, job, h, sign);
    }
}

void match_job_lift(struct match *m, int64_t jobid)
{
    struct job *job = jobs_at(&m->jobs, jobid);

    if (job->lifted)
        return;
    count_holds(m, job, -1);
    job->lifted = true;
}

void match_job_drop(struct match *m, int64_t jobid)
{
    struct job *job = jobs_at(&m->jobs, jobid);

    if (!job->lifted)
        return;
    job->forced = !match_job_is_free(m, jobid, job->at, job->end);
    job->lifted = false;
    count_holds(m, job, 1);
}

void match_job_lay(struct match *m, int64_t jobid)
{
    struct job *job = jobs_at(&m->jobs, jobid);

    if (!job->lifted)
        return;
    job->forced = true;
    job->lifted = false;
    count_holds(m, job, 1);
}

void match_job_return(struct match *m, int64_t jobid)
{
    struct job *job = jobs_at(&m->jobs, jobid);

    if (!job->lifted)
        return;
    job->lifted = false;
    count_holds(m, job, 1);
}

bool match_job_is_lifted(const struct match *m, int64_t jobid)
{
    return jobs_at(&m->jobs, jobid)->lifted;
}

bool match_job_is_forced(const struct match *m, int64_t jobid)
{
    return jobs_at(&m->jobs, jobid)->forced;
}

/* True if nobody uses the node that hold i is booked with. */
static bool is_in_idle_node(const struct match *m, const struct job *job, uint32_t i, int64_t at,
                            int64_t end)
{
    const struct hold *h = &job->hold[i];

    return h->flags & HOLD_WITH_NODE &&
           state_load(m->state[job->hold[i + h->run].vertex], at, end) == 0;
}

bool match_job_is_free(const struct match *m, int64_t jobid, int64_t at, int64_t end)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1)) {
        if (is_in_idle_node(m, job, i, at, end))
            i += job->hold[i].run; /* the node itself is idle */
        const struct hold *h = &job->hold[i];
        const struct profile *units = &state_below(m->state[h->vertex])->units;
        if (h->flags & HOLD_COVERED)
            continue;
        int64_t load = match_load(m, h->vertex, at, end);
        if (load >= STATE_EXCLUSIVE || (load > 0 && (h->flags & HOLD_EXCLUSIVE)))
            return false;
        if ((h->flags & HOLD_UNITS) && units->n > 1 &&
            profile_max(units, at, end) > m->g->v[h->vertex].size - h->needs)
            return false;
    }
    return true;
}

/* The blocks that it holds something of. */
static uint64_t blocks_of(const struct match *m, const struct hold *h)
{
    const struct state *s = m->state[h->vertex];
    return !s || h->flags & HOLD_COVERED              ? 0
           : h->flags & (HOLD_EXCLUSIVE | HOLD_SHOWN) ? s->blocks_below
                                                      : s->blocks;
}

uint64_t match_job_blocks(const struct match *m, int64_t jobid)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    uint64_t blocks = 0;

    if (!m->blocks.used)
        return 0;
    for (uint32_t i = job_next_booked(job, 0); i < job->n; i = job_next_booked(job, i + 1))
        blocks |= blocks_of(m, &job->hold[i]);
    return blocks;
}

/* The same for the counts outside of the calendars. */
static bool is_allowed(struct walk *w, const struct hold *h)
{
    const struct vertex *x = &w->m->g->v[h->vertex];

    if ((h->flags & HOLD_SPARE) && (h->flags & HOLD_COVERED))
        return true;
    bool node = x->type == TYPE_NODE || x->type == TYPE_STORAGE_NODE;
    for (uint32_t i = 0; i < hold_vertices(h) && !(h->flags & HOLD_SPARE); i++)
        if (x[i].down)
            return false;
    if (h->flags & HOLD_COVERED)
        return true;
    if (blocks_of(w->m, h) & w->blocks)
        return false;
    return !node || constraint_holds(w, h->vertex);
}

int match_job_still_fits(struct match *m, int64_t jobid, const struct plan_ask *ask, int64_t at,
                         int64_t end)
{
    static const jobspec_t anything;
    const struct job *job = jobs_at(&m->jobs, jobid);
    struct walk w = {.m = m,
                     .t = &m->topo,
                     .spec = ask->spec ? ask->spec : &anything,
                     .within = ask->within,
                     .blocks = match_blocks_during(&m->blocks, ~ask->permits, at, end)};

    arena_release(&m->arena, (struct arena_mark){0});
    if (job->cut)
        return 0;
    if (walk_note_props(&w) < 0)
        return -1;
    for (uint32_t i = 0; i < job->n; i++)
        if (!is_allowed(&w, &job->hold[i]))
            return w.out_of_memory ? -1 : 0;
    return 1;
}

int match_job_move(struct match *m, int64_t jobid, int64_t at, int64_t end)
{
    struct job *job = jobs_at(&m->jobs, jobid), was = *job;

    if (at == was.at && end == was.end)
        return 0;
    job->at = at;
    job->end = end;
    int rc = match_book_again(m, job);
    job->at = was.at;
    job->end = was.end;
    if (rc < 0)
        return -1;
    match_unbook(m, job);
    job->at = at;
    job->end = end;
    return 0;
}

void match_job_window(const struct match *m, int64_t jobid, int64_t *at, int64_t *end)
{
    const struct job *job = jobs_at(&m->jobs, jobid);

    *at = job->at;
    *end = job->end;
}

bool match_job_is_reserved(const struct match *m, int64_t jobid)
{
    return jobs_at(&m->jobs, jobid)->reserved;
}

void match_job_allocate(struct match *m, int64_t jobid)
{
    struct job *job = jobs_at(&m->jobs, jobid);

    if (!job->reserved)
        return;
    for (uint32_t i = job_next_span(job, 0); i < job->n; i = job_next_span(job, i + 1))
        match_note_allocated(m, job, &job->hold[i]);
    job->reserved = false;
}

/* Whether the i-th vertex of a hold and the k-th one of another are the same, of which as much is held. */
static bool is_held_alike(const struct hold *x, uint32_t i, const struct hold *y, uint32_t k)
{
    /* A job that was read as text doesn't know what was asked for, only what it was given. */
    const uint32_t what = HOLD_EXCLUSIVE | HOLD_COVERED | HOLD_UNITS | HOLD_SHOWN;

    return x->vertex + i == y->vertex + k && x->needs == y->needs &&
           !((x->flags ^ y->flags) & what);
}

bool match_job_is_same(const struct match *m, int64_t one, int64_t other)
{
    const struct job *a = jobs_at(&m->jobs, one), *b = jobs_at(&m->jobs, other);
    uint32_t i = 0, k = 0, of_i = 0, of_k = 0; /* holds, and vertices of these that were compared */

    if (a->at != b->at || a->end != b->end)
        return false;
    while (i < a->n && k < b->n) {
        const struct hold *x = &a->hold[i], *y = &b->hold[k];
        if (!is_held_alike(x, of_i, y, of_k))
            return false;
        uint32_t left = hold_vertices(x) - of_i, also = hold_vertices(y) - of_k;
        of_i = left <= also ? 0 : of_i + also;
        of_k = also <= left ? 0 : of_k + left;
        i += left <= also;
        k += also <= left;
    }
    return i == a->n && k == b->n;
}

void match_job_replace(struct match *m, int64_t jobid, int64_t by)
{
    struct job *new = jobs_at(&m->jobs, by);

    match_cancel(m, jobid, NULL, NULL);
    jobs_remove(&m->jobs, by);
    new->id = jobid;
    int rc = jobs_add(&m->jobs, new); /* there is room: two went */
    assert(rc == 0);
    (void)rc;
}
