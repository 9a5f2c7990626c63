#include "naive_waits.h"

#include "naive_blocks.h"
#include "naive_queues_inner.h"

/* For others one that is rejected has ended when it is told. */
static bool has_ended(const struct nq_job *j)
{
    return j->state == NQ_GONE && !j->to_tell;
}

static bool has_started(const struct nq_job *j)
{
    return j->state == NQ_RUNNING || has_ended(j);
}

/* How many of the members that a job waits for have started, ended, and ended well. */
struct count {
    int started, ended, well;
};

static struct count count_members(const struct naive_queues *q, const struct nq_wait *w)
{
    struct count n = {0};
    for (int i = w->from; i < w->until; i++) {
        const struct nq_job *j = &q->job[i];
        n.started += has_started(j);
        n.ended += has_ended(j);
        n.well += has_ended(j) && j->ended_well;
    }
    return n;
}

/* Whether so many of a member's role have not ended well that its gang has failed. */
static bool has_too_few(const struct naive_queues *q, int member)
{
    const struct nq_job *j = &q->job[member];
    int left = 0;
    for (int i = j->array; i < q->jobs && q->job[i].array == j->array; i++)
        left += q->job[i].role == j->role && (q->job[i].ended_well || !has_ended(&q->job[i]));
    return left < j->role_min;
}

/* How many of those that a job waits for are to end well: of a gang that goes on without some its min, unless that can't be. */
static int wanted(const struct naive_queues *q, const struct nq_wait *w)
{
    const struct nq_job *j = &q->job[w->from];
    bool goes_on = w->until - w->from > 1 && j->goes_on;
    for (int i = w->from; i < w->until && goes_on; i++)
        goes_on = !has_too_few(q, i);
    return goes_on ? j->min : w->until - w->from;
}

static bool is_met(const struct naive_queues *q, const struct nq_wait *w)
{
    struct count n = count_members(q, w);
    int all = w->until - w->from;
    switch (w->for_what) {
    case NQ_AFTER:
        return n.started == all;
    case NQ_AFTER_ANY:
        return n.ended == all;
    case NQ_AFTER_OK:
        return n.ended == all && n.well >= wanted(q, w);
    default:
        return n.ended == all && n.well < wanted(q, w);
    }
}

static bool is_vain(const struct naive_queues *q, const struct nq_wait *w)
{
    struct count n = count_members(q, w);
    int all = w->until - w->from;
    return (w->for_what == NQ_AFTER_OK && n.well + all - n.ended < wanted(q, w)) ||
           (w->for_what == NQ_AFTER_NOT_OK && n.ended == all && n.well >= wanted(q, w));
}

bool nw_may_go(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return !j->held && !j->later && j->n_waits == 0;
}

bool nw_is_vain(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    for (int i = 0; i < j->n_waits; i++)
        if (is_vain(q, &j->waits[i]))
            return true;
    return false;
}

static void drop_met(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int n = 0;
    for (int i = 0; i < j->n_waits; i++)
        if (!is_met(q, &j->waits[i]))
            j->waits[n++] = j->waits[i];
    j->n_waits = n;
}

void nw_note(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++)
        drop_met(q, i);
}

void nw_started(struct naive_queues *q, int job)
{
    q->job[job].n_waits = 0;
    nw_note(q);
}

void nw_begin(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++)
        q->job[i].later &= q->job[i].begin > q->now;
}

int nw_let(struct naive_queues *q)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++) {
        if (q->job[i].state != NQ_ASIDE || !nw_may_go(q, i))
            continue;
        nq_go_on(q, i);
        q->job[i].placed = false;
        n++;
    }
    return n;
}

void nw_reject(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        if (q->job[i].state != NQ_ASIDE || !nw_is_vain(q, i))
            continue;
        for (int k = nq_next_together(q, i); k >= 0; k = nq_next_together(q, i)) {
            q->job[k].state = NQ_GONE;
            q->job[k].refused = q->job[k].to_tell = true;
        }
        nb_refuse(q, i);
    }
}

void nw_tell(struct naive_queues *q)
{
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < q->jobs; i++) {
            any |= q->job[i].to_tell;
            q->job[i].to_tell = false;
        }
        nw_note(q);
        nw_reject(q);
    }
}

/* It waits, or goes on if it has waited and nothing keeps it any more. */
static void change(struct naive_queues *q, int job)
{
    if (!nw_may_go(q, job))
        nq_set_aside(q, job);
    else if (q->job[job].state == NQ_ASIDE)
        nq_go_on(q, job);
}

void nw_set_begin(struct naive_queues *q, int job, int64_t begin)
{
    q->job[job].begin = begin;
    q->job[job].later = begin > q->now;
    change(q, job);
}

void nw_set_waits(struct naive_queues *q, int job, const struct nq_wait waits[NQ_WAITS], int n)
{
    for (int i = job; i >= 0; i = nq_next_together(q, i)) {
        for (int k = 0; k < n; k++)
            q->job[i].waits[k] = waits[k];
        q->job[i].n_waits = n;
        drop_met(q, i);
    }
    change(q, job);
}

int64_t nw_next_time(const struct naive_queues *q)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_ASIDE && q->job[i].later && q->job[i].begin < next)
            next = q->job[i].begin;
    return next;
}
