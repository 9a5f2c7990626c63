/* The replay: a shell of the driver whose events are submissions, in the order of the trace at one instant.
 */
#include "sim/simulate.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "berth/sched_query.h"
#include "sim/driver.h"
#include "sim/pilots.h"
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
    struct sim_pilots *pilots; /* NULL: the configuration has none */
    bool *waits;               /* with pilots: by job, and what it asks for */
    struct sim_shape *shape;
    size_t first; /* of those submitted, before which none waits */
    uint64_t preemptions;
    double lost;
};

static uint32_t nth_submitted(const struct replay *r, size_t i)
{
    return r->order ? r->order[i] : (uint32_t)i;
}

static int64_t next_submission(const struct replay *r)
{
    return r->submitted == r->trace->n ? INT64_MAX
                                       : r->trace->jobs[nth_submitted(r, r->submitted)].submit;
}

/* Set the time of the next submission, or of what happens to pilots. */
static void look_at_next(struct replay *r)
{
    r->driver.event = next_submission(r);
    r->driver.also = sim_pilots_next(r->pilots);
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

static int start_replayed(struct replay *r, uint32_t job)
{
    const struct schedule_job *j = &r->trace->jobs[job];
    int64_t runs = j->run < j->limit ? j->run : j->limit; /* killed at its limit */
    r->start[job] = r->driver.now;
    if (r->pilots) {
        r->waits[job] = false;
        if (sim_pilots_started(r->pilots, job, r->handle[job], r->driver.now,
                               r->driver.now + j->limit) < 0)
            return -1;
    }
    return driver_start(&r->driver, job, r->driver.now + runs) < 0 ? -1 : note_alloc(r, job);
}

/* It has ended, or waits again. */
static void note_pilot_end(struct replay *r, uint32_t job, bool waits)
{
    if (!r->pilots)
        return;
    sim_pilots_stopped(r->pilots, job, r->driver.now);
    r->waits[job] = waits;
    r->first = waits ? 0 : r->first;
}

static int preempt_replayed(struct replay *r, uint32_t job, bool requeue)
{
    r->preemptions++;
    r->lost += (double)(r->driver.now - r->start[job]) * (double)r->trace->jobs[job].procs;
    if (r->options->sharing)
        sharing_stopped(r->options->sharing, r->driver.now);
    r->start[job] = SCHEDULE_NEVER;
    note_pilot_end(r, job, requeue);
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
        if (decision[i].kind == SCHED_START && start_replayed(r, (uint32_t)decision[i].tag) < 0)
            return -1;
        if (decision[i].kind == SCHED_REJECT) {
            note_pilot_end(r, (uint32_t)decision[i].tag, false);
            count_done(r);
        }
    }
    for (size_t i = 0; preempts && i < n; i++)
        if (decision[i].kind == SCHED_PREEMPT &&
            preempt_replayed(r, (uint32_t)decision[i].tag, decision[i].requeue) < 0)
            return -1;
    return 0;
}

static int submit_next(struct replay *r, berth_error_t *err)
{
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
    if (r->pilots) {
        r->waits[job] = r->handle[job] >= 0;
        if (sim_shape_add(&r->shape[job], r->pilots, request.jobspec, request.jobspec_length) < 0)
            return errtext_set(err, errno, "out of memory");
    }
    return r->handle[job] < 0 ? -1 : 0;
}

static int event(void *shell, berth_error_t *err)
{
    struct replay *r = shell;
    int rc = next_submission(r) <= r->driver.now ? submit_next(r, err)
                                                 : sim_pilots_event(r->pilots, r->driver.now);
    look_at_next(r);
    return rc;
}

static int end_replayed(void *shell, uint32_t job)
{
    struct replay *r = shell;
    note_pilot_end(r, job, false);
    count_done(r);
    return driver_finish(&r->driver, job, r->handle[job], true);
}

static int settled(void *shell)
{
    struct replay *r = shell;
    if (r->pilots && sim_pilots_look(r->pilots, r->driver.now) < 0)
        return -1;
    look_at_next(r);
    return r->options->sharing
               ? share_notes_take(&r->notes, r->driver.sched, r->driver.now, 1, r->options->sharing)
               : 0;
}

/* ---- Pilots ---- */

static int want_replayed(void *shell, struct sim_pilots *p)
{
    struct replay *r = shell;
    bool any = false;
    for (size_t i = r->first; i < r->submitted; i++) {
        uint32_t job = nth_submitted(r, i);
        if (!r->waits[job])
            continue;
        r->first = any ? r->first : i;
        any = true;
        int64_t limit = r->trace->jobs[job].limit;
        if (sim_pilots_waits(r->driver.sched, r->handle[job]) &&
            sim_pilots_want(p, job, &r->shape[job], 1, 1, limit, limit) < 0)
            return -1;
    }
    r->first = any ? r->first : r->submitted;
    return 0;
}

/* None outlasts its node: it runs no longer than its limit. */
static int lost(void *shell, uint32_t job, const char *reason)
{
    struct replay *r = shell;
    (void)reason;
    note_pilot_end(r, job, false);
    count_done(r);
    return driver_finish(&r->driver, job, r->handle[job], false);
}

static const struct sim_pilots_shell pilots_shell = {.waiting = want_replayed, .lost = lost};

static int begin_pilots(struct replay *r, berth_error_t *err)
{
    const struct sim_pilots_options options = {.config = r->options->config,
                                               .machine = r->options->machine,
                                               .sched = r->driver.sched,
                                               .second = 1,
                                               .shell = &pilots_shell,
                                               .arg = r};
    if (!r->options->config || r->options->config->pilots.rule.max_nodes == 0)
        return 0;
    r->waits = calloc(r->trace->n + 1, sizeof(*r->waits));
    r->shape = calloc(r->trace->n + 1, sizeof(*r->shape));
    if (!r->waits || !r->shape)
        return errtext_no_memory(err);
    r->pilots = sim_pilots_create(&options, err);
    return r->pilots ? 0 : -1;
}

static const struct driver_shell replay_shell = {
    .event = event, .end = end_replayed, .decided = decided, .settled = settled};

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
    bool begun = begin_pilots(&r, err) == 0;
    if (begun && r.handle && trace_sort(trace, &r.order) == 0) {
        look_at_next(&r);
        rc = driver_run(&r.driver, DRIVER_TO_END, 0, NULL);
    }
    if (begun && rc < 0)
        errtext_set(err, errno, "%s", errno == ENOMEM ? "out of memory" : "times out of range");
    *stats = (struct simulate_stats){
        .passes = r.driver.passes, .preemptions = r.preemptions, .lost = r.lost};
    if (r.pilots)
        stats->pilots = sim_pilots_sum(r.pilots, r.driver.now);
    int saved = errno;
    sim_pilots_destroy(r.pilots);
    free(r.waits);
    free(r.shape);
    driver_clear(&r.driver);
    queues_request_clear(&r.request);
    share_notes_clear(&r.notes);
    free(r.order);
    free(r.handle);
    errno = saved;
    return rc;
}
