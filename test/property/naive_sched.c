/* The scheduling core spelled out (naive_sched.h). */
#include "naive_sched.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY SIZE_MAX

struct naive naive_make(int64_t units, int64_t bound, int64_t queue_depth, enum sched_order order)
{
    return (struct naive){
        .units = units,
        .bound = bound,
        .queue_depth = queue_depth > 0 ? queue_depth : INT64_MAX,
        .order = order,
    };
}

void naive_clear(struct naive *s)
{
    free(s->jobs);
    free(s->load);
    free(s->decisions);
}

/* A test without memory is no test. */
static void *grow(void *v, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return v;
    size_t more = need * 2 + 64;
    v = reallocarray(v, more, size);
    if (!v)
        abort();
    memset((char *)v + *cap * size, 0, (more - *cap) * size);
    *cap = more;
    return v;
}

static void decide(struct naive *s, enum sched_decision_kind kind, size_t job, int64_t at)
{
    s->decisions = grow(s->decisions, &s->cap_decisions, s->n_decisions + 1, sizeof(*s->decisions));
    s->decisions[s->n_decisions++] = (struct sched_decision){.kind = kind, .tag = job, .at = at};
}

/* The calendar. */

static void take(struct naive *s, int64_t from, int64_t to, int64_t units)
{
    s->load = grow(s->load, &s->ticks, (size_t)to, sizeof(*s->load));
    for (int64_t t = from; t < to; t++)
        s->load[t] += units;
}

static int64_t free_at(const struct naive *s, int64_t t)
{
    return t < (int64_t)s->ticks ? s->units - s->load[t] : s->units;
}

static bool fits(const struct naive *s, const struct naive_job *job, int64_t at)
{
    for (int64_t t = at; t < at + job->duration; t++)
        if (free_at(s, t) < job->units)
            return false;
    return true;
}

static int64_t earliest(const struct naive *s, const struct naive_job *job, int64_t from)
{
    int64_t at = from;
    for (int64_t t = from; t < at + job->duration; t++)
        if (free_at(s, t) < job->units)
            at = t + 1;
    return at;
}

static void hold(struct naive *s, struct naive_job *job, int64_t at, int state)
{
    take(s, at, at + job->duration, job->units);
    job->at = at;
    job->state = state;
}

static void let_go(struct naive *s, struct naive_job *job, int state)
{
    take(s, job->at, job->at + job->duration, -job->units);
    job->state = state;
}

/* The queue. */

bool naive_waits(const struct naive *s, size_t job)
{
    return s->jobs[job].state == SCHED_WAITING || s->jobs[job].state == SCHED_RESERVED;
}

bool naive_before(const struct naive *s, size_t a, size_t b)
{
    const struct naive_job *x = &s->jobs[a];
    const struct naive_job *y = &s->jobs[b];
    if (s->order == SCHED_ORDER_SHORTEST && x->duration != y->duration)
        return x->duration < y->duration;
    if (s->order == SCHED_ORDER_PRIORITY && x->priority != y->priority)
        return x->priority > y->priority;
    return a < b;
}

/* The first waiting job after this one (NOBODY: of all) with this state, or NOBODY. */
static size_t next_in_queue(const struct naive *s, size_t after, int state)
{
    size_t found = NOBODY;
    for (size_t i = 0; i < s->n; i++)
        if (s->jobs[i].state == state && (after == NOBODY || naive_before(s, after, i)) &&
            (found == NOBODY || naive_before(s, i, found)))
            found = i;
    return found;
}

static size_t last_holder(const struct naive *s)
{
    size_t found = NOBODY;
    for (size_t i = 0; i < s->n; i++)
        if (s->jobs[i].state == SCHED_RESERVED && (found == NOBODY || naive_before(s, found, i)))
            found = i;
    return found;
}

/* Whether fewer jobs wait before this one than a pass considers. */
static bool considered(const struct naive *s, size_t job)
{
    int64_t before = 0;
    for (size_t i = 0; i < s->n; i++)
        before += naive_waits(s, i) && naive_before(s, i, job);
    return before < s->queue_depth;
}

size_t naive_count(const struct naive *s, int state)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->jobs[i].state == state;
    return n;
}

int64_t naive_next_time(const struct naive *s, int64_t now)
{
    int64_t next = s->woken ? now : INT64_MAX;
    for (size_t i = 0; i < s->n; i++) {
        const struct naive_job *job = &s->jobs[i];
        if (job->state == SCHED_RESERVED && job->at < next)
            next = job->at;
        if (job->state == SCHED_REJECTED || (job->state == SCHED_WAITING && job->news))
            next = now < next ? now : next;
    }
    return next;
}

static bool bound_used_up(const struct naive *s)
{
    return (int64_t)naive_count(s, SCHED_RESERVED) >= s->bound;
}

/* The events. */

size_t naive_submit(struct naive *s, const struct sched_request *request)
{
    s->jobs = grow(s->jobs, &s->cap, s->n + 1, sizeof(*s->jobs));
    s->jobs[s->n] = (struct naive_job){
        .units = request->units,
        .duration = request->duration,
        .priority = request->priority,
        .state = request->units > s->units ? SCHED_REJECTED : SCHED_WAITING,
        .news = true,
    };
    return s->n++;
}

/* What was taken in the past stays: nobody asks for it again. */
static void end(struct naive *s, int64_t now, struct naive_job *job)
{
    int64_t from = job->at > now ? job->at : now;
    if (from < job->at + job->duration)
        take(s, from, job->at + job->duration, -job->units);
    job->state = NAIVE_GONE;
    s->ended = true;
    s->woken = true;
}

void naive_finish(struct naive *s, int64_t now, size_t job)
{
    end(s, now, &s->jobs[job]);
}

void naive_cancel(struct naive *s, int64_t now, size_t job)
{
    struct naive_job *j = &s->jobs[job];
    if (j->state == SCHED_RUNNING || j->state == SCHED_RESERVED)
        end(s, now, j);
    j->state = NAIVE_GONE;
    s->woken = true;
}

/* A holder that others go before now gives its reservation back; who goes before others now is as if new. */
void naive_prioritize(struct naive *s, int64_t now, size_t job, int64_t priority)
{
    struct naive_job *j = &s->jobs[job];
    int64_t was = j->priority;
    bool gives = false;
    if (s->order != SCHED_ORDER_PRIORITY || was == priority || j->state == SCHED_RUNNING) {
        j->priority = priority;
        return;
    }
    bool raised = priority > was;
    for (size_t i = 0; i < s->n; i++) {
        bool other = i != job && s->jobs[i].state == (raised ? SCHED_RESERVED : SCHED_WAITING);
        bool before = naive_before(s, i, job);
        j->priority = priority;
        gives |= other && before == raised && naive_before(s, i, job) != before;
        j->priority = was;
    }
    j->priority = priority;
    s->woken = true;
    if (j->state == SCHED_WAITING) {
        j->news |= raised;
    } else if (gives) {
        int64_t from = j->at > now ? j->at : now;
        take(s, from, j->at + j->duration, -j->units);
        j->state = SCHED_WAITING;
        j->news = raised;
        s->ended = true;
    }
}

/* The pass. */

static void reject(struct naive *s, int64_t now)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->jobs[i].state != SCHED_REJECTED)
            continue;
        decide(s, SCHED_REJECT, i, now);
        s->jobs[i].state = NAIVE_GONE;
    }
}

/* Each reservation before a job (NOBODY: each), in queue order, to its earliest time given all the others. */
static void sweep(struct naive *s, int64_t now, size_t before)
{
    for (size_t i = next_in_queue(s, NOBODY, SCHED_RESERVED);
         i != NOBODY && (before == NOBODY || naive_before(s, i, before));
         i = next_in_queue(s, i, SCHED_RESERVED)) {
        struct naive_job *job = &s->jobs[i];
        int64_t was = job->at;
        if (was <= now)
            continue;
        let_go(s, job, SCHED_WAITING);
        hold(s, job, earliest(s, job, now), SCHED_RESERVED);
        if (job->at != was)
            decide(s, SCHED_RESERVE, i, job->at);
    }
}

/* A job's reservation becomes its allocation. */
static void start_holder(struct naive *s, int64_t now, size_t i)
{
    s->jobs[i].state = SCHED_RUNNING;
    decide(s, SCHED_START, i, now);
}

static bool try_start(struct naive *s, int64_t now, size_t i)
{
    if (!fits(s, &s->jobs[i], now))
        return false;
    hold(s, &s->jobs[i], now, SCHED_RUNNING);
    decide(s, SCHED_START, i, now);
    return true;
}

static void reserve(struct naive *s, int64_t now, size_t i)
{
    hold(s, &s->jobs[i], earliest(s, &s->jobs[i], now), SCHED_RESERVED);
    decide(s, SCHED_RESERVE, i, s->jobs[i].at);
}

/* The first waiting job after this one, with or without a reservation. */
static size_t next_waiting(const struct naive *s, size_t after)
{
    size_t a = next_in_queue(s, after, SCHED_WAITING);
    size_t b = next_in_queue(s, after, SCHED_RESERVED);
    if (a == NOBODY || b == NOBODY)
        return a == NOBODY ? b : a;
    return naive_before(s, a, b) ? a : b;
}

/* The first after this one of the jobs that are new, or were raised, and are still without a reservation. */
static size_t next_new(const struct naive *s, size_t after)
{
    size_t i = next_in_queue(s, after, SCHED_WAITING);
    while (i != NOBODY && (!s->jobs[i].news || s->jobs[i].placed))
        i = next_in_queue(s, i, SCHED_WAITING);
    return i;
}

/* Whether a new job goes before a holder. */
static bool goes_before(const struct naive *s, size_t i)
{
    size_t last = last_holder(s);
    return last != NOBODY && naive_before(s, i, last);
}

/* New jobs and the holders behind the first of them, in queue order, as if none of these held anything: a
 * holder keeps its time if that is still free, and a holder too many loses it. A job is looked at if it is
 * among the first when its turn comes. What has ended is for the holders before them first.
 */
static bool outrank(struct naive *s, int64_t now)
{
    size_t first = next_new(s, NOBODY);
    bool lifted[4096] = {false};
    if (first == NOBODY || !goes_before(s, first) || !considered(s, first))
        return false;
    if (s->ended)
        sweep(s, now, first);
    for (size_t i = 0; i < s->n; i++) {
        lifted[i] = s->jobs[i].state == SCHED_RESERVED && naive_before(s, first, i);
        if (lifted[i])
            take(s, s->jobs[i].at, s->jobs[i].at + s->jobs[i].duration, -s->jobs[i].units);
    }
    bool mine[4096] = {false};
    for (size_t i = first; i != NOBODY; i = next_new(s, i))
        mine[i] = goes_before(s, i);
    for (size_t i = next_waiting(s, NOBODY); i != NOBODY; i = next_waiting(s, i)) {
        struct naive_job *job = &s->jobs[i];
        if (lifted[i] && job->state == SCHED_RESERVED) {
            if (fits(s, job, job->at)) {
                take(s, job->at, job->at + job->duration, job->units);
                continue;
            }
            reserve(s, now, i);
        } else if (mine[i] && job->state == SCHED_WAITING && considered(s, i)) {
            job->placed = true;
            if (try_start(s, now, i))
                continue;
            size_t last = last_holder(s);
            bool full = bound_used_up(s);
            if (full && !naive_before(s, i, last))
                continue;
            reserve(s, now, i);
            if (!full)
                continue;
            if (!lifted[last])
                abort();
            s->jobs[last].state = SCHED_WAITING;
        }
    }
    s->ended = true;
    s->woken = true;
    return true;
}

/* Holders whose time has come start; then all others that wait, in queue order. */
static void walk(struct naive *s, int64_t now)
{
    for (size_t i = next_in_queue(s, NOBODY, SCHED_RESERVED); i != NOBODY;
         i = next_in_queue(s, i, SCHED_RESERVED))
        if (s->jobs[i].at <= now)
            start_holder(s, now, i);
    for (size_t i = next_in_queue(s, NOBODY, SCHED_WAITING); i != NOBODY;
         i = next_in_queue(s, i, SCHED_WAITING)) {
        if (!considered(s, i) || try_start(s, now, i))
            continue;
        if (s->bound == 0)
            return; /* with nothing promised to anyone, nobody may overtake */
        if (!bound_used_up(s))
            reserve(s, now, i);
    }
}

/* Units that are free now once holders whose time has come have given theirs back. */
static int64_t idle(const struct naive *s, int64_t now)
{
    int64_t units = free_at(s, now);
    for (size_t i = 0; i < s->n; i++)
        if (s->jobs[i].state == SCHED_RESERVED && s->jobs[i].at <= now)
            units += s->jobs[i].units;
    return units;
}

/* Whether a pass that others of this instant follow has anything to decide. */
static bool worth_it(const struct naive *s, int64_t now)
{
    if (s->woken)
        return true;
    for (size_t i = 0; i < s->n; i++)
        if (s->jobs[i].state == SCHED_WAITING && s->jobs[i].news &&
            (!bound_used_up(s) || s->jobs[i].units <= idle(s, now)))
            return true;
    return false;
}

/* As long as no more jobs wait than may hold a reservation, each gets one and none starts. */
static void promise_all(struct naive *s, int64_t now)
{
    for (size_t i = next_in_queue(s, NOBODY, SCHED_WAITING); i != NOBODY;
         i = next_in_queue(s, i, SCHED_WAITING))
        if (considered(s, i))
            reserve(s, now, i);
}

void naive_pass(struct naive *s, int64_t now, bool more)
{
    s->n_decisions = 0;
    reject(s, now);
    while (outrank(s, now))
        ;
    int64_t waiting = (int64_t)(naive_count(s, SCHED_WAITING) + naive_count(s, SCHED_RESERVED));
    if (s->ended)
        sweep(s, now, NOBODY);
    if (more && waiting <= s->bound)
        promise_all(s, now);
    else if (!more || worth_it(s, now))
        walk(s, now);
    s->ended = false;
    s->woken = false;
    for (size_t i = 0; i < s->n; i++)
        s->jobs[i].news = s->jobs[i].placed = false;
}
