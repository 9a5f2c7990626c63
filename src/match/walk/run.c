/* Running one match: now, or at the earliest possible time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/walk/walk.h"

/* A match while it runs. */
struct found {
    int64_t now, at, duration;
};

static const struct {
    const char *name;
    bool allocates; /* record what is found */
    bool future;    /* if it is not possible now, look for a later time */
} ops[] = {
    [MATCH_ALLOCATE] = {"allocate", true, false},
    [MATCH_ALLOCATE_ORELSE_RESERVE] = {"allocate_orelse_reserve", true, true},
    [MATCH_ALLOCATE_W_SATISFIABILITY] = {"allocate_with_satisfiability", true, false},
    [MATCH_SATISFIABILITY] = {"satisfiability", false, false},
    [MATCH_WITHOUT_ALLOCATING] = {"without_allocating", false, false},
    [MATCH_WITHOUT_ALLOCATING_FUTURE] = {"without_allocating_future", false, true},
};

int match_op_parse(const char *name)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (strcmp(ops[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The duration of a job in whole ticks. */
static int duration_of(const struct match *m, const jobspec_t *spec, int64_t *duration,
                       berth_error_t *err)
{
    double d = spec->duration;

    if (!(d >= 0 && d <= (double)m->end))
        return errtext_set(err, EINVAL,
                           "key \"duration\": expected a number from 0 to %" PRId64 ", got %g",
                           m->end, d);
    *duration = d == 0 ? m->end : (int64_t)d + (d > (double)(int64_t)d);
    return 0;
}

/* Set the window to the far end of time, when the machine is idle. */
static void set_far(struct walk *w, int64_t duration)
{
    w->at = INT64_MAX - duration - 1;
    w->end = w->at + duration;
    w->guard = false;
    w->any_status = true;
}

static void set_window(struct walk *w, int64_t at, int64_t duration)
{
    w->at = at;
    w->end = at + duration;
}

/* True if a job has the vertex to itself, even if it is booked with a vertex above. */
static bool has_exclusive_job(const struct match *m, uint32_t v, int64_t at, int64_t end)
{
    uint32_t x = v;

    if (state_load(m->state[v], at, end) >= STATE_EXCLUSIVE)
        return true;
    while (x != VERTEX_NONE && state_load(m->state[x], at, end) < STATE_EXCLUSIVE)
        x = m->topo.parent ? m->topo.parent[x] : VERTEX_NONE;
    for (uint32_t k = 0; x != VERTEX_NONE && k < m->jobs.slots; k++) {
        const struct job *job = m->jobs.slot[k];
        for (uint32_t i = 0; job && job->at < end && at < job->end && i < job->n; i++)
            if (v - job->hold[i].vertex < hold_vertices(&job->hold[i]) &&
                (job->hold[i].flags & HOLD_EXCLUSIVE))
                return true;
    }
    return false;
}

/* True if enough nodes are up, satisfy the constraints and are free for a match to be possible. */
static bool is_feasible(struct walk *w, bool any_status, int64_t at, int64_t duration)
{
    const struct match *m = w->m;
    int64_t want = w->requests->nodes, found = 0;

    if (want > m->nodes_up)
        return false;
    if (!w->spec->constraints)
        return true;
    for (uint32_t i = 0; i < m->n_nodes && found < want; i++) {
        uint32_t v = m->node[i];
        const struct vertex *x = &m->g->v[v];
        found += !x->gone && (!x->down || any_status) && constraint_holds(w, v) &&
                 !has_exclusive_job(m, v, at, at + duration);
    }
    return found >= want;
}

/* The first point on or after `from` from which, by the root's counts, the whole request is free; -1:
 * none.
 */
static int64_t next_time_by_counts(struct walk *w, int64_t from)
{
    struct match *m = w->m;
    const struct prune_list *list = prune_of(&m->prune, w->t, w->t->root);
    const struct state *s = m->state[w->t->root];
    struct profile_cursor c;

    for (;;) {
        if (!m->times.root)
            return -1;
        profile_seek(&c, &m->times, from);
        if (profile_cursor_time(&c) < from && !profile_next(&c))
            return -1;
        int64_t at = profile_cursor_time(&c), good = at;
        for (uint32_t i = 0; i < list->n; i++) {
            int64_t want = w->requests->total[list->number[i]];
            int64_t limit = prune_total(&m->prune, w->t, w->t->root, list->number[i]) - want;
            if (limit < 0)
                return -1;
            const struct profile *counts = state_below(s)->counts;
            if (!counts || counts[i].n <= 1)
                continue;
            profile_seek(&c, &counts[i], good);
            if (!profile_fit(&c, good, w->end - w->at, limit, INT64_MAX, &good))
                return -1;
        }
        if (good == at)
            return at;
        from = good;
    }
}

/* Find the earliest time after now. Returns 0, or -1 with EBUSY (there is none), or ENOMEM. */
static int select_later(struct walk *w, int64_t now, int64_t duration)
{
    int64_t from = now + 1;

    for (;;) {
        int64_t at = next_time_by_counts(w, from);
        if (at < 0) {
            errno = EBUSY;
            return -1;
        }
        set_window(w, at, duration);
        w->tries++;
        w->retry = INT64_MAX;
        if (walk_select(w) == 0)
            return 0;
        if (errno != EBUSY)
            return -1;
        from = at + 1;
        if (w->wants_retry && w->retry > from)
            from = w->retry;
        w->wants_retry = !w->requests->moldable;
    }
}

/* Set errno to ENODEV if the job could not be matched even on an idle machine. */
static int fail_for_good(struct walk *w, int64_t duration)
{
    set_far(w, duration);
    w->tries++;
    if (walk_select(w) == 0)
        errno = EBUSY;
    else if (errno == EBUSY)
        errno = ENODEV;
    return -1;
}

static int schedule(struct walk *w, match_op_t op, int64_t now, int64_t duration)
{
    bool satisfiability = op == MATCH_ALLOCATE_W_SATISFIABILITY;

    if (op == MATCH_SATISFIABILITY) {
        set_far(w, duration);
        w->tries++;
        if (walk_select(w) == 0)
            return 0;
        if (errno == EBUSY)
            errno = ENODEV;
        return -1;
    }
    bool only_now = op == MATCH_ALLOCATE || op == MATCH_WITHOUT_ALLOCATING;
    if (!is_feasible(w, satisfiability, only_now ? now : w->m->end - 1, duration)) {
        errno = w->out_of_memory ? ENOMEM : satisfiability ? ENODEV : EBUSY;
        return -1;
    }
    set_window(w, now, duration);
    w->guard = true;
    w->tries++;
    if (walk_select(w) == 0)
        return 0;
    if (errno != EBUSY || only_now)
        return -1;
    w->guard = false;
    if (ops[op].future) {
        if (select_later(w, now, duration) == 0)
            return 0;
        if (errno != EBUSY)
            return -1;
    }
    return fail_for_good(w, duration);
}

bool *walk_whole_types(struct walk *w)
{
    struct match *m = w->m;
    bool *types = arena_alloc(&m->arena, m->g->types.n * sizeof(*types));

    if (!types)
        return NULL;
    memcpy(types, m->exclusive, m->g->types.n * sizeof(*types));
    for (uint32_t i = 0; i < w->requests->n; i++)
        if (w->rq[i].exclusive)
            types[w->rq[i].type] = true;
    return types;
}

/* Commit what was selected: for a job, or only to emit it. */
static int commit_found(struct walk *w, const struct found *f, int64_t jobid, bool record)
{
    struct match *m = w->m;
    struct job *job = NULL;
    int64_t end = f->at + f->duration > m->end ? m->end : f->at + f->duration;

    if (f->at >= m->end) {
        errno = EBUSY;
        return -1;
    }
    if (match_emit_begin(m, f->at, end, w->spec->queue) < 0)
        return -1;
    if (record) {
        job = job_new(jobid, f->at, end, f->at > f->now);
        if (!job || (w->spec->queue && job_set_queue(job, w->spec->queue) < 0)) {
            job_destroy(job);
            return -1;
        }
    }
    int64_t given = match_commit(w, job);
    if (given == 0)
        errno = EBUSY;
    if (given > 0 && (!job || match_record(m, job) == 0))
        return match_reweigh(m, f->now);
    job_destroy(job);
    m->last.n = 0;
    return -1;
}

static int match_with(struct walk *w, match_op_t op, int64_t jobid, struct found *f)
{
    struct match *m = w->m;

    if (schedule(w, op, f->now, f->duration) < 0)
        return -1;
    if (op == MATCH_SATISFIABILITY)
        return 0;
    f->at = w->at;
    bool *usual = m->exclusive, *types = walk_whole_types(w);
    if (!types)
        return -1;
    m->exclusive = types;
    int rc = commit_found(w, f, jobid, ops[op].allocates);
    m->exclusive = usual;
    return rc;
}

int walk_note_props(struct walk *w)
{
    uint32_t n = w->m->g->props.sets.n;

    if (!w->spec->constraints || !jobspec_constraint_only_properties(w->spec->constraints))
        return 0;
    w->by_props = arena_alloc(&w->m->arena, n);
    if (!w->by_props)
        return -1;
    memset(w->by_props, 0, n);
    return 0;
}

static int check_types(const struct match *m, const jobspec_t *spec, berth_error_t *err)
{
    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        if (r->kind == JOBSPEC_RESOURCE && !match_knows_type(m, r->type))
            return errtext_set(
                err, EINVAL,
                "line %" PRIu32 ", column %" PRIu32
                ": key \"type\": expected a resource type of the machine, got \"%s\"",
                r->line, r->column, r->type);
    }
    return 0;
}

static int explain_errno(match_op_t op, berth_error_t *err)
{
    switch (errno) {
    case ENODEV:
        return errtext_set(err, ENODEV, "the machine could never satisfy the request");
    case EBUSY:
        return errtext_set(err, EBUSY, "%s",
                           ops[op].future ? "the request cannot be satisfied as the machine is"
                                          : "the request cannot be satisfied now");
    case EOVERFLOW:
        return errtext_set(err, EOVERFLOW, "the request has too many alternatives to compare");
    default:
        return errtext_set(err, errno, "%s", errno == ENOMEM ? "out of memory" : "cannot match");
    }
}

int match_run(match_t *m, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              match_result_t *result, berth_error_t *err)
{
    struct requests requests;
    struct found f = {.now = now};

    if (now < 0 || now >= m->end)
        return errtext_set(err, EINVAL, "time %" PRId64 ": expected one from 0 to %" PRId64, now,
                           m->end - 1);
    if (duration_of(m, spec, &f.duration, err) < 0 || check_types(m, spec, err) < 0)
        return -1;
    if (ops[op].allocates && jobs_find(&m->jobs, jobid))
        return errtext_set(err, EEXIST, "job %" PRId64 " exists", jobid);
    arena_release(&m->arena, (struct arena_mark){0});
    match_clear_memo(m);
    m->has_orphans &= m->jobs.n > 0;
    m->last.n = 0;
    if (requests_make(&requests, spec, &m->topo, &m->prune, m->flexible, &m->arena) < 0)
        return explain_errno(op, err);
    struct walk w = {.m = m,
                     .t = &m->topo,
                     .policy = &m->policy,
                     .spec = spec,
                     .requests = &requests,
                     .rq = requests.v,
                     .mark_of = m->mark_of,
                     .mark = m->marks,
                     .marks_capacity = m->marks_capacity};
    int rc = walk_note_props(&w) < 0 ? -1 : match_with(&w, op, jobid, &f), error = errno;
    free(w.overrun);
    errno = error;
    m->marks = w.mark;
    m->marks_capacity = w.marks_capacity;
    if (result)
        *result = (match_result_t){f.at, f.duration, w.visits, w.tries};
    return rc < 0 ? explain_errno(op, err) : 0;
}
