/* The reference simulator (refsim.h). */
#include "refsim.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX (4 * REFSIM_JOBS_MAX)
#define NEVER     INT64_MAX

/* Free processors from step[i].at on; the last step lasts for ever. */
struct step {
    int64_t at, free;
};

struct list {
    int job[REFSIM_JOBS_MAX];
    int n;
};

struct refsim {
    const struct schedule_job *jobs;
    int n;
    int64_t *start;
    int64_t now;
    int64_t free;
    enum refsim_policy policy;
    struct list subs; /* jobs by submission */
    int submitted;
    struct list queue;
    struct list ends;              /* of started jobs, in the order of their starts */
    bool running[REFSIM_JOBS_MAX]; /* as far as the scheduler knows */
    int64_t plan[REFSIM_JOBS_MAX];
    struct step step[STEPS_MAX];
    int steps;
};

static void append(struct list *list, int job)
{
    list->job[list->n++] = job;
}

static void delete (struct list *list, int i)
{
    list->n--;
    memmove(&list->job[i], &list->job[i + 1], (size_t)(list->n - i) * sizeof(int));
}

/* The profile. */

static int step_at(struct refsim *s, int64_t t)
{
    int i = 0;
    while (i < s->steps && s->step[i].at < t)
        i++;
    if (i < s->steps && s->step[i].at == t)
        return i;
    if (s->steps == STEPS_MAX)
        abort();
    memmove(&s->step[i + 1], &s->step[i], (size_t)(s->steps - i) * sizeof(s->step[0]));
    s->step[i] = (struct step){t, s->step[i - 1].free};
    s->steps++;
    return i;
}

static void profile_add(struct refsim *s, int64_t from, int64_t to, int64_t units)
{
    if (from >= to)
        return;
    int i = step_at(s, from);
    int k = step_at(s, to);
    for (; i < k; i++)
        s->step[i].free += units;
}

/* Forget the past and join equal steps. */
static void profile_trim(struct refsim *s)
{
    int first = 0;
    while (first + 1 < s->steps && s->step[first + 1].at <= s->now)
        first++;
    int kept = 0;
    for (int i = first; i < s->steps; i++)
        if (kept == 0 || s->step[i].free != s->step[kept - 1].free)
            s->step[kept++] = s->step[i];
    s->steps = kept;
    if (s->step[0].at < s->now)
        s->step[0].at = s->now;
}

static int64_t profile_earliest(const struct refsim *s, const struct schedule_job *job)
{
    int64_t at = s->now;
    for (int i = 0; i < s->steps && s->step[i].at < at + job->limit; i++) {
        bool over = i + 1 < s->steps && s->step[i + 1].at <= at;
        if (!over && s->step[i].free < job->procs)
            at = s->step[i + 1].at;
    }
    return at;
}

/* What all policies share. */

static int64_t end_of(const struct refsim *s, int job)
{
    return s->start[job] + s->jobs[job].run;
}

static int64_t limit_of(const struct refsim *s, int job)
{
    return s->start[job] + s->jobs[job].limit;
}

static void start(struct refsim *s, int job)
{
    s->free -= s->jobs[job].procs;
    if (s->free < 0)
        abort();
    s->start[job] = s->now;
    s->running[job] = true;
    append(&s->ends, job);
}

static void give_back(struct refsim *s, int job)
{
    s->free += s->jobs[job].procs;
    s->running[job] = false;
}

/* The started job that ends first, of equals the one that started first; its place in `ends`, or
 * -1.
 */
static int first_end(const struct refsim *s)
{
    int found = -1;
    for (int i = 0; i < s->ends.n; i++)
        if (found < 0 || end_of(s, s->ends.job[i]) < end_of(s, s->ends.job[found]))
            found = i;
    return found;
}

static int64_t next_submission(const struct refsim *s)
{
    return s->submitted < s->n ? s->jobs[s->subs.job[s->submitted]].submit : NEVER;
}

/* FCFS and EASY. */

/* When the head can start by the limits of running jobs, and what is left over then. */
static int64_t shadow(const struct refsim *s, int head, int64_t *extra)
{
    int64_t at = NEVER;
    for (int i = 0; i < s->n; i++) {
        if (!s->running[i])
            continue;
        int64_t t = limit_of(s, i);
        int64_t left = s->free - s->jobs[head].procs;
        for (int k = 0; k < s->n; k++)
            if (s->running[k] && limit_of(s, k) <= t)
                left += s->jobs[k].procs;
        if (left >= 0 && t < at) {
            at = t;
            *extra = left;
        }
    }
    return at;
}

static void easy_pass(struct refsim *s)
{
    while (s->queue.n > 0 && s->jobs[s->queue.job[0]].procs <= s->free) {
        start(s, s->queue.job[0]);
        delete (&s->queue, 0);
    }
    if (s->policy == REFSIM_FCFS || s->queue.n < 2 || s->free == 0)
        return;
    int64_t extra = 0;
    int64_t at = shadow(s, s->queue.job[0], &extra);
    for (int i = 1; i < s->queue.n && s->free > 0;) {
        int job = s->queue.job[i];
        const struct schedule_job *j = &s->jobs[job];
        bool before = s->now + j->limit <= at;
        if (j->procs > s->free || (!before && j->procs > extra)) {
            i++;
            continue;
        }
        if (!before)
            extra -= j->procs;
        delete (&s->queue, i);
        start(s, job);
    }
}

/* Conservative. */

static void cons_add(struct refsim *s, int job)
{
    const struct schedule_job *j = &s->jobs[job];
    s->plan[job] = profile_earliest(s, j);
    profile_add(s, s->plan[job], s->plan[job] + j->limit, -j->procs);
}

static void cons_compress(struct refsim *s)
{
    for (int i = 0; i < s->queue.n; i++) {
        int job = s->queue.job[i];
        int64_t before = s->plan[job];
        if (before <= s->now)
            continue;
        profile_add(s, before, before + s->jobs[job].limit, s->jobs[job].procs);
        cons_add(s, job);
        if (s->plan[job] > before)
            abort();
    }
}

static void cons_start(struct refsim *s)
{
    for (int i = 0; i < s->queue.n;) {
        int job = s->queue.job[i];
        if (s->plan[job] <= s->now) {
            delete (&s->queue, i);
            start(s, job);
        } else {
            i++;
        }
    }
}

/* The two orders of the events of an instant. */

static void batched(struct refsim *s)
{
    bool cons = s->policy == REFSIM_CONS;
    bool ended = false;
    for (int i = first_end(s); i >= 0 && end_of(s, s->ends.job[i]) == s->now; i = first_end(s)) {
        int job = s->ends.job[i];
        delete (&s->ends, i);
        give_back(s, job);
        ended = true;
        if (cons)
            profile_add(s, s->now, limit_of(s, job), s->jobs[job].procs);
    }
    if (cons && ended)
        cons_compress(s);
    while (next_submission(s) == s->now) {
        int job = s->subs.job[s->submitted++];
        append(&s->queue, job);
        if (cons)
            cons_add(s, job);
    }
    if (cons)
        cons_start(s);
    else
        easy_pass(s);
}

/* A job that ran for its whole limit is out of the profile before the submissions of its last
 * second.
 */
static void per_event(struct refsim *s)
{
    bool cons = s->policy == REFSIM_CONS;
    struct list batch = {.n = 0};
    for (int i = first_end(s); i >= 0 && end_of(s, s->ends.job[i]) == s->now; i = first_end(s)) {
        int job = s->ends.job[i];
        delete (&s->ends, i);
        append(&batch, job);
        if (limit_of(s, job) <= s->now)
            give_back(s, job);
    }
    while (next_submission(s) == s->now) {
        int job = s->subs.job[s->submitted++];
        append(&s->queue, job);
        if (cons)
            cons_add(s, job);
        else if (s->policy == REFSIM_FCFS || s->jobs[job].procs <= s->free)
            easy_pass(s);
    }
    for (int i = 0; i < batch.n; i++) {
        int job = batch.job[i];
        if (s->running[job])
            give_back(s, job);
        if (cons) {
            profile_add(s, s->now, limit_of(s, job), s->jobs[job].procs);
            cons_compress(s);
        } else {
            easy_pass(s);
        }
    }
    if (cons)
        cons_start(s);
}

static int64_t next_instant(const struct refsim *s)
{
    int end = first_end(s);
    int64_t now = end >= 0 ? end_of(s, s->ends.job[end]) : NEVER;
    now = next_submission(s) < now ? next_submission(s) : now;
    for (int i = 0; s->policy == REFSIM_CONS && i < s->queue.n; i++)
        if (s->plan[s->queue.job[i]] < now)
            now = s->plan[s->queue.job[i]];
    return now;
}

void refsim(const struct schedule_job *jobs, int n, int64_t procs, enum refsim_policy policy,
            bool is_batched, int64_t *starts)
{
    struct refsim s = {.jobs = jobs, .n = n, .start = starts, .free = procs, .policy = policy};
    s.step[0] = (struct step){0, procs};
    s.steps = 1;
    for (int i = 0; i < n; i++) { /* stable: of one instant, the first in the trace is first */
        int k = s.subs.n;
        while (k > 0 && jobs[s.subs.job[k - 1]].submit > jobs[i].submit)
            k--;
        memmove(&s.subs.job[k + 1], &s.subs.job[k], (size_t)(s.subs.n - k) * sizeof(int));
        s.subs.job[k] = i;
        s.subs.n++;
        starts[i] = SCHEDULE_NEVER;
    }
    while ((s.now = next_instant(&s)) != NEVER) {
        profile_trim(&s);
        if (is_batched)
            batched(&s);
        else
            per_event(&s);
    }
}
