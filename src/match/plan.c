/* Matching for a plan: at a given time, or at the earliest (plan.h). */
#include "match/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "match/walk/repeat.h"
#include "match/walk/walk.h"

static int begin_planning(struct walk *w, struct match *m, const struct plan_ask *ask,
                          struct requests *r)
{
    arena_release(&m->arena, (struct arena_mark){0});
    match_clear_memo(m);
    m->has_orphans &= m->jobs.n > 0;
    m->last.n = 0;
    if (requests_make(r, ask->spec, &m->topo, &m->prune, m->flexible, &m->arena) < 0)
        return -1;
    *w = (struct walk){.m = m,
                       .t = &m->topo,
                       .policy = &m->policy,
                       .spec = ask->spec,
                       .requests = r,
                       .rq = r->v,
                       .within = ask->within,
                       .ask = ask->node_from ? ask : NULL,
                       .is_silent = !policy_weighs(&m->policy), /* else weights follow from it */
                       .mark_of = m->mark_of,
                       .mark = m->marks,
                       .marks_capacity = m->marks_capacity};
    w->whole = walk_whole_types(w);
    return w->whole ? walk_note_props(w) : -1;
}

/* Give the walk's marks back to the matcher. */
static void end_planning(struct walk *w)
{
    w->m->marks = w->mark;
    w->m->marks_capacity = w->marks_capacity;
}

static void set_window(struct walk *w, const struct plan_ask *ask, int64_t at)
{
    w->at = at;
    w->end = at + ask->duration;
    w->retry = INT64_MAX;
    w->uncounted = false;
    w->clear = at + (ask->clear > 0 ? ask->clear : ask->duration);
    w->blocks =
        w->m->blocks.used ? match_blocks_during(&w->m->blocks, ~ask->permits, w->at, w->clear) : 0;
}

/* The first time on or after `from` in whose window the calendar is at most at the limit; false if there
 * is none.
 */
static bool fit(const struct profile *p, int64_t duration, int64_t limit, int64_t *from)
{
    struct profile_cursor c;

    if (limit < 0)
        return false;
    if (!p || p->n <= 1)
        return true;
    profile_seek(&c, p, *from);
    return profile_fit(&c, *from, duration, limit, INT64_MAX, from);
}

/* The first time in [from, before) that the counts don't rule out, or -1 if they rule out all. */
static int64_t next_by_count(const struct walk *w, const struct plan_ask *ask, int64_t from,
                             int64_t before)
{
    const struct match *m = w->m;
    const struct prune_list *list = prune_of(&m->prune, w->t, w->t->root);
    const struct profile *counts = state_below(m->state[w->t->root])->counts;

    for (;;) {
        int64_t at = from;
        if (ask->calendar && (!fit(ask->calendar, ask->duration, ask->limit, &at) || at >= before))
            return -1;
        if (ask->next && (at = ask->next(ask->context, at, before)) < 0)
            return -1;
        for (uint32_t i = 0; i < list->n && !m->flexible; i++) {
            int64_t want = w->requests->total[list->number[i]];
            int64_t limit = prune_total(&m->prune, w->t, w->t->root, list->number[i]) - want;
            if (!fit(counts ? &counts[i] : NULL, ask->duration, limit, &at))
                return -1;
        }
        if (at == from || at >= before)
            return at < before ? at : -1;
        from = at;
    }
}

static bool is_under(const struct profile *p, int64_t limit, const struct walk *w)
{
    return !p ||
           (limit >= 0 && profile_at(p, w->at) <= limit && profile_max(p, w->at, w->end) <= limit);
}

/* True if the counts don't rule out a time. */
static bool is_there_by_count(const struct walk *w, const struct plan_ask *ask)
{
    const struct match *m = w->m;
    const struct prune_list *list = prune_of(&m->prune, w->t, w->t->root);
    const struct state *s = m->state[w->t->root];

    for (uint32_t i = 0; i < list->n && !m->flexible; i++) {
        int64_t want = w->requests->total[list->number[i]];
        int64_t limit = prune_total(&m->prune, w->t, w->t->root, list->number[i]) - want;
        if (walk_is_over(s, i, w->at, w->end, limit))
            return false;
    }
    return is_under(ask->calendar, ask->limit, w) &&
           (!ask->next || ask->next(ask->context, w->at, w->at + 1) == w->at);
}

static int no_plan(int error)
{
    errno = error;
    return -1;
}

/* Make a job of what was selected, without booking it. NULL with EBUSY or ENOMEM. */
static struct job *make_planned_job(struct walk *w, const struct plan_ask *ask, int64_t jobid,
                                    int64_t at, bool reservation)
{
    struct match *m = w->m;
    bool *usual = m->exclusive;
    struct job *job = job_new(jobid, at, at + ask->duration, reservation);

    if (!job || match_emit_begin(m, at, at + ask->duration, NULL) < 0) {
        job_destroy(job);
        errno = ENOMEM;
        return NULL;
    }
    m->exclusive = w->whole;
    int64_t given = match_commit(w, job);
    m->exclusive = usual;
    if (given > 0)
        return job;
    if (given == 0)
        errno = EBUSY;
    job_destroy(job);
    return NULL;
}

/* Record what was selected. */
static int record(struct walk *w, const struct plan_ask *ask, int64_t jobid, int64_t at,
                  bool reservation)
{
    struct match *m = w->m;
    struct job *job = make_planned_job(w, ask, jobid, at, reservation);

    if (!job)
        return -1;
    repeat_note(w, job);
    if (match_record(m, job) < 0) {
        job_destroy(job);
        return -1;
    }
    if (match_reweigh(m, at) == 0)
        return 0;
    match_cancel(m, jobid, NULL, NULL);
    return no_plan(ENOMEM);
}

/* Select for a time. Returns 0, or -1 with EBUSY or ENOMEM. */
static int select_at(struct walk *w, const struct plan_ask *ask, int64_t at)
{
    set_window(w, ask, at);
    w->tries++;
    return is_there_by_count(w, ask) ? walk_select(w) : no_plan(EBUSY);
}

void match_plan_alike(struct match *m, bool begin)
{
    m->alike = (struct alike){.is = begin, .host = VERTEX_NONE};
    repeat_reset(m);
}

int match_plan(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
               bool reservation)
{
    struct requests requests;
    struct walk w;

    if (at < 0 || at > m->end || ask->duration > m->end - at)
        return no_plan(EBUSY);
    if (begin_planning(&w, m, ask, &requests) < 0)
        return -1;
    int rc = select_at(&w, ask, at);
    if (rc == 0)
        rc = record(&w, ask, jobid, at, reservation);
    end_planning(&w);
    return rc;
}

int match_plan_probe(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at)
{
    struct requests requests;
    struct walk w;

    if (at < 0 || at > m->end || ask->duration > m->end - at)
        return no_plan(EBUSY);
    if (begin_planning(&w, m, ask, &requests) < 0)
        return -1;
    struct job *job =
        select_at(&w, ask, at) == 0 ? make_planned_job(&w, ask, jobid, at, true) : NULL;
    end_planning(&w);
    if (!job)
        return -1;
    job->lifted = true;
    if (jobs_add(&m->jobs, job) == 0)
        return 0;
    job_destroy(job);
    return no_plan(ENOMEM);
}

void match_plan_forget(struct match *m, int64_t jobid)
{
    struct job *job = jobs_find(&m->jobs, jobid);

    jobs_remove(&m->jobs, jobid);
    job_destroy(job);
}

int64_t match_plan_point(const struct match *m, int64_t at)
{
    struct profile_cursor c;
    int64_t turn = match_blocks_next_change(&m->blocks, m->blocks.used, at), point = INT64_MAX;

    if (m->times.root) {
        profile_seek(&c, &m->times, at);
        if (profile_cursor_time(&c) > at || profile_next(&c))
            point = profile_cursor_time(&c);
    }
    return turn < point ? turn : point;
}

int64_t match_plan_repeats(const struct match *m, int64_t from, int64_t before)
{
    int64_t last = from, length = 1;

    if (m->times.root) {
        struct profile_cursor c;
        profile_seek(&c, &m->times, before - 1);
        last = profile_cursor_time(&c) > from ? profile_cursor_time(&c) : from;
    }
    return match_blocks_repeat(&m->blocks, &last, &length) ? last + length : INT64_MAX;
}

int64_t match_plan_next(const struct match *m, const struct plan_ask *ask, int64_t from,
                        int64_t before)
{
    const struct profile *p = ask->calendar;
    bool once = before == from + 1;

    for (;;) {
        int64_t at = from;
        if (at < 0 || ask->duration > m->end || at > m->end - ask->duration)
            return -1;
        if (p && (ask->limit < 0 ||
                  (once && p->n > 1 && profile_max(p, at, at + ask->duration) > ask->limit) ||
                  (!once && (!fit(p, ask->duration, ask->limit, &at) || at >= before))))
            return -1;
        if (ask->next && (at = ask->next(ask->context, at, before)) < 0)
            return -1;
        if (at == from || at >= before)
            return at < before ? at : -1;
        from = at;
    }
}

/* Select for the first time that counts don't rule out, of which they say enough that it is mostly right: what is in the
 * way is not noted. Returns the time, -1 if there is none, or -2 with EBUSY or ENOMEM.
 */
static int64_t seek_surely(struct walk *w, const struct plan_ask *ask, int64_t from, int64_t before)
{
    int64_t at = next_by_count(w, ask, from, before);
    if (at < 0 || at > w->m->end - ask->duration)
        return -1;
    w->wants_retry = false;
    w->search = 0;
    set_window(w, ask, at);
    return walk_select(w) == 0 ? at : -2;
}

/* The usual way is to try only the times at which something that was in the way is gone. But a match with
 * moldable slots or alternatives may fail because one resource is short and succeed with less of another;
 * then every time at which anything changes is tried.
 */
static int64_t seek_time(struct walk *w, const struct plan_ask *ask, int64_t from, int64_t before)
{
    bool any = w->requests->moldable || w->m->flexible;
    bool once = from + 1 >= before; /* nobody asks when to try again */

    if (!once && ask->next && from <= w->m->end - ask->duration && from < before &&
        w->tries < w->m->tries) {
        int64_t at = seek_surely(w, ask, from, before);
        if (at != -2 || errno != EBUSY)
            return at >= 0 ? at : at == -1 ? no_plan(ENOENT) : -1;
    }
    w->wants_retry = !any && !once;
    w->search = any || once ? 0 : ++w->m->searches;
    while (from <= w->m->end - ask->duration && from < before && w->tries < w->m->tries) {
        int64_t at = next_by_count(w, ask, from, before);
        if (at < 0 || at > w->m->end - ask->duration)
            break;
        set_window(w, ask, at);
        w->tries++;
        if (walk_select(w) == 0)
            return at;
        if (errno != EBUSY)
            return -1;
        from = once ? before : any ? match_plan_point(w->m, at) : walk_retry_time(w);
    }
    return no_plan(ENOENT);
}

int64_t match_plan_when(struct match *m, const struct plan_ask *ask, int64_t from, int64_t before)
{
    struct requests requests;
    struct walk w;

    if (begin_planning(&w, m, ask, &requests) < 0)
        return -1;
    int64_t at = seek_time(&w, ask, from < 0 ? 0 : from, before);
    end_planning(&w);
    return at;
}

/* Record one that is like those before it. Returns 1; 0: a walk has to look; -1 with ENOMEM. */
static int record_again(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
                        bool reservation)
{
    bool failed;
    struct job *job = repeat_next(m, ask, jobid, at, reservation, &failed);

    if (!job)
        return failed ? -1 : 0;
    m->last.n = 0;
    if (match_record_like(m, job) == 0)
        return 1;
    job_destroy(job);
    return no_plan(ENOMEM);
}

int64_t match_plan_first(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t from,
                         int64_t before, bool reservation)
{
    struct requests requests;
    struct walk w;
    int again = before == from + 1 ? record_again(m, ask, jobid, from, reservation) : 0;

    if (again != 0)
        return again > 0 ? from : -1;
    if (begin_planning(&w, m, ask, &requests) < 0)
        return -1;
    int64_t at = seek_time(&w, ask, from < 0 ? 0 : from, before);
    if (at >= 0 && record(&w, ask, jobid, at, reservation) < 0)
        at = -1;
    end_planning(&w);
    return at;
}

/* A request in a line, of nodes first: each vertex has room by what is free below it alone, the less the less is free, and
 * of those that have the first ones are taken. So one that had no room before has none when others take more, and those that
 * were taken still come first, with the same below them. First fit remembers what it took, runs break where one within is
 * taken, and siblings may want the same, so that what is left for the second depends on what the first one takes.
 */
bool match_plan_is_steady(struct match *m, const struct plan_ask *ask)
{
    const struct policy *p = &m->policy;
    struct requests requests;
    struct walk w;

    if (p->score != SCORE_ID || p->first || p->within == ORDER_RUNS || p->slots == ORDER_RUNS ||
        p->graph == ORDER_RUNS || !m->topo.is_tree || m->flexible || m->has_orphans ||
        begin_planning(&w, m, ask, &requests) < 0)
        return false;
    uint32_t top = requests.variant[0];
    bool is_steady =
        requests.n_variants == 1 && !requests.moldable && requests.v[top].type == TYPE_NODE;
    for (uint32_t i = top; is_steady && i != REQUEST_NONE; i = requests.v[i].with) {
        const struct request *q = &requests.v[i];
        is_steady = q->next == REQUEST_NONE && q->other == REQUEST_NONE && !q->pools_below &&
                    q->min == q->max;
    }
    end_planning(&w);
    return is_steady;
}

int match_plan_ever(struct match *m, const struct plan_ask *ask, uint64_t blocks)
{
    struct requests requests;
    struct walk w;

    if (begin_planning(&w, m, ask, &requests) < 0)
        return -1;
    w.at = INT64_MAX - 2;
    w.end = INT64_MAX - 1;
    w.any_status = !ask->is_up;
    w.ask = NULL;
    w.blocks = blocks & m->blocks.used;
    int rc = walk_select(&w);
    end_planning(&w);
    if (rc < 0 && errno == EBUSY)
        errno = ENODEV;
    return rc;
}

int match_plan_last(struct match *m, const struct plan_ask *ask, uint64_t blocks, int64_t jobid)
{
    struct plan_ask last = *ask;
    struct requests requests;
    struct walk w;

    last.duration = 1;
    if (begin_planning(&w, m, &last, &requests) < 0)
        return -1;
    w.at = m->end - 1;
    w.end = m->end;
    w.any_status = !ask->is_up;
    w.ask = NULL;
    w.blocks = blocks & m->blocks.used;
    struct job *job = walk_select(&w) == 0 ? make_planned_job(&w, &last, jobid, w.at, true) : NULL;
    end_planning(&w);
    if (!job)
        return errno == EBUSY ? no_plan(ENODEV) : -1;
    if (match_record(m, job) == 0)
        return 0;
    job_destroy(job);
    return -1;
}

uint64_t match_plan_tries(const struct match *m)
{
    return m->tries;
}

int64_t match_end(const struct match *m)
{
    return m->end;
}
