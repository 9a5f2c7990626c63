/* The replay: submissions in order, ends in a heap, and a pass of the core where something happens.
 *
 * Ends at one instant come in the order in which the jobs started, submissions in the order of the trace.
 */
#include "sim/simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/heap.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "sim/queues.h"

enum { PROGRESS_EVERY = 4096 }; /* jobs ended between two calls of the progress function */

struct replay {
    const struct trace *trace;
    const struct simulate_options *options;
    sched_t *sched;
    int64_t *start;
    sched_job_t *handle; /* of submitted jobs */
    uint32_t *order;     /* jobs by submission; NULL if that is the trace's order */
    size_t submitted;
    size_t done;
    struct heap ends; /* running jobs by their end and the order of their starts */
    uint64_t starts;
    uint64_t passes;
    /* With queues. */
    struct queues_request request;
    struct preempted { /* jobs stopped in this pass */
        uint32_t job;
        bool requeue;
    } * preempted;
    size_t n_preempted, cap_preempted;
    int64_t due;  /* sched_next_time, as of the last pass */
    int64_t last; /* sched_last_time, if nothing has happened since; -1: not known */
};

static uint32_t nth_submitted(const struct replay *r, size_t i)
{
    return r->order ? r->order[i] : (uint32_t)i;
}

static int64_t next_submission(const struct replay *r)
{
    if (r->submitted == r->trace->n)
        return INT64_MAX;
    return r->trace->jobs[nth_submitted(r, r->submitted)].submit;
}

static int64_t next_end(const struct replay *r)
{
    return r->ends.n > 0 ? r->ends.v[0].key : INT64_MAX;
}

static void count_done(struct replay *r)
{
    r->done++;
    if (r->options->progress && r->done % PROGRESS_EVERY == 0)
        r->options->progress(r->options->progress_arg, r->done, r->trace->n);
}

/* Note which cores a job got. */
static int note_alloc(struct replay *r, uint32_t job)
{
    const struct resource_range *ranges;
    size_t n;
    if (!r->options->alloc)
        return 0;
    if (sched_cores(r->sched, r->handle[job], &ranges, &n) < 0)
        return -1;
    return alloc_add(r->options->alloc, job, ranges, n);
}

/* Note a job that is preempted. It gives back what it holds only after all decisions are carried out. */
static int note_preempted(struct replay *r, uint32_t job, bool requeue)
{
    if (array_grow((void **)&r->preempted, &r->cap_preempted, r->n_preempted + 1,
                   sizeof(*r->preempted)) < 0)
        return -1;
    r->preempted[r->n_preempted++] = (struct preempted){job, requeue};
    heap_take(&r->ends, job);
    r->start[job] = SCHEDULE_NEVER;
    if (!requeue)
        count_done(r);
    return 0;
}

/* Run a pass and carry out what it decides. */
static int pass(struct replay *r, int64_t now, bool more)
{
    const struct sched_decision *decision;
    size_t n;
    r->passes++;
    if (sched_pass(r->sched, now, more, &decision, &n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (decision[i].kind != SCHED_WAIT)
            r->last = -1;
        uint32_t job = (uint32_t)decision[i].tag;
        const struct schedule_job *j = &r->trace->jobs[job];
        if (decision[i].kind == SCHED_START) {
            int64_t runs = j->run < j->limit ? j->run : j->limit; /* killed at its limit */
            r->start[job] = now;
            if (heap_put(&r->ends, job, now + runs, r->starts++) < 0 || note_alloc(r, job) < 0)
                return -1;
        } else if (decision[i].kind == SCHED_REJECT) {
            count_done(r);
        } else if (decision[i].kind == SCHED_PREEMPT &&
                   note_preempted(r, job, decision[i].requeue) < 0) {
            return -1;
        }
    }
    return 0;
}

static int submit_next(struct replay *r, int64_t now)
{
    uint32_t job = nth_submitted(r, r->submitted);
    const struct schedule_job *j = &r->trace->jobs[job];
    struct sched_request request = {
        .units = j->procs, .duration = j->limit, .priority = j->priority};
    if (r->options->config &&
        queues_request(&r->request, r->options->config, j,
                       r->trace->who ? &r->trace->who[job] : NULL, &request) < 0)
        return -1;
    request.tag = job;
    r->handle[job] = sched_submit(r->sched, now, &request);
    r->submitted++;
    return r->handle[job] < 0 ? -1 : 0;
}

static int end_next(struct replay *r, int64_t now)
{
    uint32_t job = r->ends.v[0].item;
    heap_take(&r->ends, job);
    count_done(r);
    return sched_finish(r->sched, now, r->handle[job], true);
}

/* All submissions, then all ends, a pass after each; then the closing pass, which starts what the others left
 * to it. A job that starts now ends later, so no end is added meanwhile.
 */
static int per_event(struct replay *r, int64_t now)
{
    while (next_submission(r) == now)
        if (submit_next(r, now) < 0 || pass(r, now, true) < 0)
            return -1;
    while (next_end(r) == now)
        if (end_next(r, now) < 0 || pass(r, now, true) < 0)
            return -1;
    r->due = sched_next_time(r->sched);
    if (r->due > now)
        return 0;
    if (pass(r, now, false) < 0)
        return -1;
    r->due = sched_next_time(r->sched);
    return 0;
}

static int stop(struct replay *r, int64_t now, const struct preempted *p)
{
    if (p->requeue)
        return sched_requeue(r->sched, now, r->handle[p->job]);
    return sched_finish(r->sched, now, r->handle[p->job], false);
}

/* All ends of an instant, all submissions, and a pass if one is due; then another pass after preempted jobs
 * have given back what they held.
 */
static int batched(struct replay *r, int64_t now)
{
    while (next_end(r) == now)
        if (end_next(r, now) < 0)
            return -1;
    while (next_submission(r) == now)
        if (submit_next(r, now) < 0)
            return -1;
    while ((r->due = sched_next_time(r->sched)) <= now) {
        r->n_preempted = 0;
        if (pass(r, now, false) < 0)
            return -1;
        for (size_t i = 0; i < r->n_preempted; i++)
            if (stop(r, now, &r->preempted[i]) < 0)
                return -1;
    }
    return 0;
}

/* Whether only passes are left that start no job: while a job waits that can never start, recurring blocks
 * ask for passes for ever. Returns 1, 0, or -1.
 */
static int is_over(struct replay *r, int64_t now)
{
    if (next_submission(r) < INT64_MAX || next_end(r) < INT64_MAX)
        return 0;
    if (r->last < 0)
        r->last = sched_last_time(r->sched);
    return r->last < 0 ? -1 : now > r->last;
}

static int run(struct replay *r)
{
    r->last = -1;
    r->due = sched_next_time(r->sched);
    for (;;) {
        int64_t now = next_submission(r);
        now = next_end(r) < now ? next_end(r) : now;
        now = r->due < now ? r->due : now;
        if (now == INT64_MAX)
            return 0;
        int over = is_over(r, now);
        if (over != 0)
            return over < 0 ? -1 : 0;
        bool each = !r->options->config && r->options->events != SIMULATE_BATCHED;
        int rc = each ? per_event(r, now) : batched(r, now);
        if (rc < 0)
            return -1;
    }
}

struct submission {
    int64_t at;
    uint32_t job;
};

static int submission_compare(const void *a, const void *b)
{
    const struct submission *x = a;
    const struct submission *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* Sort the jobs by their submission, if the trace is not sorted. */
static int sort_submissions(struct replay *r)
{
    size_t n = r->trace->n;
    size_t i = 1;
    while (i < n && r->trace->jobs[i - 1].submit <= r->trace->jobs[i].submit)
        i++;
    if (i >= n)
        return 0;
    struct submission *list = reallocarray(NULL, n, sizeof(*list));
    r->order = reallocarray(NULL, n, sizeof(*r->order));
    if (!list || !r->order) {
        free(list);
        return -1;
    }
    for (i = 0; i < n; i++)
        list[i] = (struct submission){r->trace->jobs[i].submit, (uint32_t)i};
    qsort(list, n, sizeof(*list), submission_compare);
    for (i = 0; i < n; i++)
        r->order[i] = list[i].job;
    free(list);
    return 0;
}

static int check_trace(const struct trace *trace, berth_error_t *err)
{
    if (trace->n >= UINT32_MAX / 2)
        return errtext_set(err, EINVAL, "too many jobs: %zu", trace->n);
    for (size_t i = 0; i < trace->n; i++) {
        const struct schedule_job *j = &trace->jobs[i];
        if (j->submit < 0 || j->run < 1 || j->limit < 1 || j->procs < 1)
            return errtext_set(err, EINVAL,
                               "job %lld: submit, run, limit or processors out of range",
                               (long long)j->id);
    }
    return 0;
}

int64_t simulate_procs(match_t *machine, berth_error_t *err)
{
    struct sched_params params = {.policy = sched_policy(0)->name};
    sched_t *sched = sched_create_match(machine, &params, err);
    if (!sched)
        return -1;
    int64_t units = sched_units(sched);
    sched_destroy(sched);
    return units;
}

int simulate(const struct trace *trace, const struct simulate_options *options, int64_t *start,
             struct simulate_stats *stats, berth_error_t *err)
{
    struct replay r = {.trace = trace, .options = options, .start = start};
    int rc = -1;
    if (check_trace(trace, err) < 0)
        return -1;
    r.sched = options->config    ? sched_create(options->machine, &options->config->sched, err)
              : options->machine ? sched_create_match(options->machine, &options->sched, err)
                                 : sched_create_flat(trace->procs, &options->sched, err);
    if (!r.sched)
        return -1;
    for (size_t i = 0; i < trace->n; i++)
        start[i] = SCHEDULE_NEVER;
    r.handle = reallocarray(NULL, trace->n ? trace->n : 1, sizeof(*r.handle));
    if (r.handle && sort_submissions(&r) == 0)
        rc = run(&r);
    if (rc < 0)
        errtext_set(err, errno, "%s", errno == ENOMEM ? "out of memory" : "times out of range");
    stats->passes = r.passes;
    int saved = errno;
    sched_destroy(r.sched);
    heap_clear(&r.ends);
    queues_request_clear(&r.request);
    free(r.preempted);
    free(r.order);
    free(r.handle);
    errno = saved;
    return rc;
}
