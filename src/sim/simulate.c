/* The replay: a shell of the driver whose events are submissions, in the order of the trace at one instant.
 */
#include "sim/simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "sim/driver.h"
#include "sim/queues.h"
#include "sim/share_notes.h"

enum { PROGRESS_EVERY = 4096 }; /* jobs ended between two calls of the progress function */

struct replay {
    struct driver driver;
    const struct trace *trace;
    const struct simulate_options *options;
    int64_t *start;
    sched_job_t *handle; /* of submitted jobs */
    uint32_t *order;     /* trace_sort */
    size_t submitted;
    size_t done;
    struct queues_request request; /* with queues */
    struct share_notes notes;
    uint64_t preemptions;
    double lost;
};

static uint32_t nth_submitted(const struct replay *r, size_t i)
{
    return r->order ? r->order[i] : (uint32_t)i;
}

/* Set the time of the next submission. */
static void look_at_next(struct replay *r)
{
    r->driver.event = r->submitted == r->trace->n
                          ? INT64_MAX
                          : r->trace->jobs[nth_submitted(r, r->submitted)].submit;
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
    if (sched_cores(r->driver.sched, r->handle[job], &ranges, &n) < 0)
        return -1;
    return alloc_add(r->options->alloc, job, ranges, n);
}

static int start_job(struct replay *r, uint32_t job)
{
    const struct schedule_job *j = &r->trace->jobs[job];
    int64_t runs = j->run < j->limit ? j->run : j->limit; /* killed at its limit */
    r->start[job] = r->driver.now;
    return driver_start(&r->driver, job, r->driver.now + runs) < 0 ? -1 : note_alloc(r, job);
}

static int preempt(struct replay *r, uint32_t job, bool requeue)
{
    r->preemptions++;
    r->lost += (double)(r->driver.now - r->start[job]) * (double)r->trace->jobs[job].procs;
    if (r->options->sharing)
        sharing_stopped(r->options->sharing, r->driver.now);
    r->start[job] = SCHEDULE_NEVER;
    if (requeue)
        return driver_requeue(&r->driver, job, r->handle[job]);
    count_done(r);
    return driver_finish(&r->driver, job, r->handle[job], false);
}

static int decided(void *shell, const struct sched_decision *decision, size_t n)
{
    struct replay *r = shell;
    bool preempts = false;
    for (size_t i = 0; i < n; i++) {
        preempts = preempts || decision[i].kind == SCHED_PREEMPT;
        if (decision[i].kind == SCHED_START && start_job(r, (uint32_t)decision[i].tag) < 0)
            return -1;
        if (decision[i].kind == SCHED_REJECT)
            count_done(r);
    }
    for (size_t i = 0; preempts && i < n; i++)
        if (decision[i].kind == SCHED_PREEMPT &&
            preempt(r, (uint32_t)decision[i].tag, decision[i].requeue) < 0)
            return -1;
    return 0;
}

static int submit_next(void *shell, berth_error_t *err)
{
    struct replay *r = shell;
    uint32_t job = nth_submitted(r, r->submitted);
    const struct schedule_job *j = &r->trace->jobs[job];
    struct sched_request request = {
        .units = j->procs, .duration = j->limit, .priority = j->priority};
    if (r->options->config &&
        queues_request(&r->request, r->options->config, j,
                       r->trace->who ? &r->trace->who[job] : NULL, &request) < 0)
        return errtext_set(err, errno, "out of memory");
    request.tag = job;
    r->handle[job] = sched_submit(r->driver.sched, r->driver.now, &request);
    r->submitted++;
    look_at_next(r);
    return r->handle[job] < 0 ? -1 : 0;
}

static int end(void *shell, uint32_t job)
{
    struct replay *r = shell;
    count_done(r);
    return driver_finish(&r->driver, job, r->handle[job], true);
}

static int settled(void *shell)
{
    struct replay *r = shell;
    return r->options->sharing
               ? share_notes_take(&r->notes, r->driver.sched, r->driver.now, r->options->sharing)
               : 0;
}

static const struct driver_shell replay_shell = {
    .event = submit_next, .end = end, .decided = decided, .settled = settled};

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
    sched_t *sched = options->config ? sched_create(options->machine, &options->config->sched, err)
                     : options->machine ? sched_create_match(options->machine, &options->sched, err)
                                        : sched_create_flat(trace->procs, &options->sched, err);
    if (!sched)
        return -1;
    driver_init(&r.driver, sched, &replay_shell, &r);
    r.driver.per_event = !options->config && options->events != SIMULATE_BATCHED;
    for (size_t i = 0; i < trace->n; i++)
        start[i] = SCHEDULE_NEVER;
    r.handle = reallocarray(NULL, trace->n ? trace->n : 1, sizeof(*r.handle));
    if (r.handle && trace_sort(trace, &r.order) == 0) {
        look_at_next(&r);
        rc = driver_run(&r.driver, DRIVER_TO_END, 0, NULL);
    }
    if (rc < 0)
        errtext_set(err, errno, "%s", errno == ENOMEM ? "out of memory" : "times out of range");
    *stats = (struct simulate_stats){r.driver.passes, r.preemptions, r.lost};
    int saved = errno;
    driver_clear(&r.driver);
    queues_request_clear(&r.request);
    share_notes_clear(&r.notes);
    free(r.order);
    free(r.handle);
    errno = saved;
    return rc;
}
