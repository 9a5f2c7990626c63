/* The player: virtual time, passes, and carrying out their decisions. */
#include "sim/play.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "sim/play_priv.h"

const char *play_name(const struct play *p, size_t job, struct strbuf *buffer)
{
    uint32_t number = p->jobs[job].submission;
    const struct play_submission *s = &p->submissions[number];
    strbuf_reset(buffer);
    strbuf_put(buffer, intern_text(&p->ids, number), intern_length(&p->ids, number));
    if (s->n > 1) {
        strbuf_putc(buffer, '[');
        strbuf_put_uint(buffer, job - s->first);
        strbuf_putc(buffer, ']');
    }
    return strbuf_text(buffer);
}

const char *play_state_name(enum play_state state)
{
    static const char *const names[] = {
        [PLAY_WAITING] = "pending",     [PLAY_RUNNING] = "running",
        [PLAY_DONE] = "done",           [PLAY_FAILED] = "failed",
        [PLAY_CANCELLED] = "cancelled", [PLAY_REJECTED] = "rejected",
        [PLAY_PREEMPTED] = "preempted",
    };
    return names[state];
}

int play_intern(struct play *p, const char *text, uint32_t *number)
{
    return intern_put(&p->names, text ? text : "", text ? strlen(text) : 0, number);
}

int play_add(struct play *p, const char *id, uint32_t n, uint32_t *number)
{
    if (intern_find(&p->ids, id, strlen(id), number)) {
        errno = EEXIST;
        return -1;
    }
    if (array_grow((void **)&p->submissions, &p->cap_submissions, (size_t)p->ids.n + 1,
                   sizeof(*p->submissions)) < 0 ||
        array_grow((void **)&p->jobs, &p->cap_jobs, p->n_jobs + n, sizeof(*p->jobs)) < 0 ||
        intern_put(&p->ids, id, strlen(id), number) < 0)
        return -1;
    p->submissions[*number] =
        (struct play_submission){.first = (uint32_t)p->n_jobs, .n = n, .runtime = -1};
    for (uint32_t i = 0; i < n; i++)
        p->jobs[p->n_jobs++] = (struct play_job){.handle = -1,
                                                 .submission = *number,
                                                 .submit = p->now,
                                                 .promised = -1,
                                                 .start = -1,
                                                 .end = -1};
    p->live += n;
    return 0;
}

int play_know(struct play *p, size_t job, sched_job_t handle)
{
    uint32_t number;
    p->jobs[job].handle = handle;
    if (handle < 0)
        handle = -1 - (sched_job_t)job;
    if (intern_put(&p->handles, (const char *)&handle, sizeof(handle), &number) < 0)
        return -1;
    assert(number == job);
    (void)number;
    return 0;
}

/* The job that a decision is about. */
static size_t decided_job(const struct play *p, const struct sched_decision *d)
{
    return p->submissions[d->tag].first + d->member;
}

static void replace_text(char **text, char *with)
{
    free(*text);
    *text = with;
}

/* Note where a job runs, in which queue, and when it will end. */
static int start_job(struct play *p, size_t job, const struct sched_decision *d)
{
    struct play_job *j = &p->jobs[job];
    struct play_submission *s = &p->submissions[j->submission];
    const char *text;
    struct sched_annotation *a = NULL;
    struct sched_annotation annotation;
    if (sched_resources(p->sched, j->handle, &text) < 0)
        return -1;
    char *resources = strdup(text);
    if (!resources)
        return -1;
    replace_text(&j->resources, resources);
    if (sched_annotate(p->sched, j->handle, &annotation) < 0)
        return -1;
    a = &annotation;
    if (a->queue && play_intern(p, a->queue, &s->queue) < 0)
        return -1;
    j->state = PLAY_RUNNING;
    j->how = d->how;
    j->started = true;
    j->starts = false;
    j->promised = -1;
    j->start = p->now;
    j->order = p->starts++;
    if (s->runtime < 0)
        j->end = d->until;
    else if (__builtin_add_overflow(p->now, s->runtime, &j->end))
        j->end = INT64_MAX;
    if (heap_put(&p->ends, (uint32_t)job, j->end, j->order) < 0)
        return -1;
    if (p->options.decisions)
        decisions_start(p->options.decisions, p->now, play_name(p, job, &p->name), d->how, d->until,
                        resources);
    return 0;
}

static void stop_running(struct play *p, size_t job)
{
    if (heap_has(&p->ends, (uint32_t)job))
        heap_take(&p->ends, (uint32_t)job);
}

static int close_job(struct play *p, size_t job, enum play_state state, const char *reason)
{
    struct play_job *j = &p->jobs[job];
    char *copy = reason ? strdup(reason) : NULL;
    if (reason && !copy)
        return -1;
    replace_text(&j->reason, copy);
    stop_running(p, job);
    j->state = state;
    j->end = p->now;
    p->live--;
    p->last = -1;
    return 0;
}

static int tell_core(struct play *p, size_t job, enum play_state state)
{
    const struct play_job *j = &p->jobs[job];
    if (state == PLAY_CANCELLED)
        return sched_cancel(p->sched, p->now, j->handle);
    return sched_finish(p->sched, p->now, j->handle, state == PLAY_DONE);
}

int play_end_job(struct play *p, size_t job, enum play_state state, const char *reason)
{
    if (tell_core(p, job, state) < 0 || close_job(p, job, state, reason) < 0)
        return -1;
    if (p->options.decisions)
        decisions_end(p->options.decisions, p->now, play_name(p, job, &p->name),
                      play_state_name(state), reason);
    return 0;
}

/* Stop a job for another. A job that is requeued waits again, and will run from its beginning. */
static int preempt_job(struct play *p, size_t job, bool requeue)
{
    struct play_job *j = &p->jobs[job];
    if (!requeue)
        return play_end_job(p, job, PLAY_PREEMPTED, NULL);
    if (sched_requeue(p->sched, p->now, j->handle) < 0)
        return -1;
    stop_running(p, job);
    j->state = PLAY_WAITING;
    j->start = j->end = -1;
    return 0;
}

static int carry_out(struct play *p, const struct sched_decision *d)
{
    struct decisions *out = p->options.decisions;
    size_t job = decided_job(p, d);
    char reason[SCHED_REASON_TEXT];
    uint32_t other;
    if (d->kind == SCHED_START)
        return start_job(p, job, d);
    if (d->kind == SCHED_RESERVE && d->at == p->now && p->jobs[job].starts)
        return 0; /* it gets what it was promised */
    if (d->kind == SCHED_RESERVE && d->at == p->jobs[job].promised)
        return 0; /* the same time, perhaps with other resources */
    p->jobs[job].promised = d->kind == SCHED_RESERVE ? d->at : -1;
    const char *name = play_name(p, job, &p->name);
    switch (d->kind) {
    case SCHED_RESERVE:
        if (out)
            decisions_reserve(out, p->now, name, d->at, NULL);
        return 0;
    case SCHED_WAIT:
        if (out)
            decisions_wait(out, p->now, name, sched_reason_text(d->reason, reason), d->at);
        return 0;
    case SCHED_REJECT:
        if (out)
            decisions_reject(out, p->now, name, sched_reason_text(d->reason, reason));
        return close_job(p, job, PLAY_REJECTED, sched_reason_text(d->reason, reason));
    case SCHED_PREEMPT:
        if (out && intern_find(&p->handles, (const char *)&d->other, sizeof(d->other), &other))
            decisions_preempt(out, p->now, name, play_name(p, other, &p->name_also), d->requeue);
        return 0;
    case SCHED_START:
        break;
    }
    return 0;
}

static int pass(struct play *p)
{
    const struct sched_decision *decisions;
    size_t n;
    p->passes++;
    if (sched_pass(p->sched, p->now, false, &decisions, &n) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (decisions[i].kind == SCHED_START)
            p->jobs[decided_job(p, &decisions[i])].starts = true;
        if (decisions[i].kind != SCHED_WAIT)
            p->last = -1;
    }
    for (size_t i = 0; i < n; i++)
        if (carry_out(p, &decisions[i]) < 0)
            return -1;
    for (size_t i = 0; i < n; i++) {
        const struct sched_decision *d = &decisions[i];
        if (d->kind == SCHED_PREEMPT && preempt_job(p, decided_job(p, d), d->requeue) < 0)
            return -1;
    }
    return 0;
}

static int64_t next_end(const struct play *p)
{
    return p->ends.n > 0 ? p->ends.v[0].key : INT64_MAX;
}

static int end_due(struct play *p)
{
    while (next_end(p) <= p->now) {
        uint32_t job = p->ends.v[0].item;
        enum scenario_end ends = p->submissions[p->jobs[job].submission].ends;
        if (play_end_job(p, job, ends == SCENARIO_DONE ? PLAY_DONE : PLAY_FAILED, NULL) < 0)
            return -1;
    }
    return 0;
}

static int run_passes(struct play *p)
{
    while (sched_next_time(p->sched) <= p->now)
        if (pass(p) < 0 || end_due(p) < 0)
            return -1;
    return 0;
}

/* Read the next event of the scenario. */
static int fetch(struct play *p, struct scenario *scenario, berth_error_t *err)
{
    int rc = scenario ? scenario_next(scenario, &p->event, err) : 0;
    p->has_event = rc > 0;
    return rc < 0 ? -1 : 0;
}

static int take_event(struct play *p, berth_error_t *err)
{
    if (p->event.kind != SCENARIO_EXPECT) {
        int rc = play_event(p, &p->event, err);
        scenario_event_clear(&p->event);
        p->last = -1;
        return rc;
    }
    if (array_grow((void **)&p->expects, &p->cap_expects, p->n_expects + 1, sizeof(*p->expects)) <
        0) {
        scenario_event_clear(&p->event);
        return errtext_set(err, ENOMEM, "out of memory");
    }
    p->expects[p->n_expects++] = p->event;
    p->event.json = NULL;
    return 0;
}

static int check_expects(struct play *p)
{
    int rc = 0;
    for (size_t i = 0; i < p->n_expects; i++) {
        if (rc == 0)
            rc = play_expect(p, &p->expects[i]);
        scenario_event_clear(&p->expects[i]);
    }
    p->n_expects = 0;
    return rc;
}

static int core_failed(berth_error_t *err)
{
    int errnum = errno;
    if (errnum == ENOMEM)
        return errtext_set(err, errnum, "out of memory");
    return errtext_set(err, errnum, "the scheduler refuses an event: %s", strerror(errnum));
}

/* Do everything that happens now. */
static int instant(struct play *p, struct scenario *scenario, berth_error_t *err)
{
    if (end_due(p) < 0)
        return core_failed(err);
    while (p->has_event && p->event.at <= p->now) {
        p->has_event = false;
        if (take_event(p, err) < 0 || fetch(p, scenario, err) < 0)
            return -1;
    }
    if (end_due(p) < 0) /* an event has cut a duration */
        return core_failed(err);
    return run_passes(p) < 0 || check_expects(p) < 0 ? core_failed(err) : 0;
}

/* Whether nothing more can happen after `now`: while a job waits that can never start, recurring blocks would
 * wake the scheduler for ever. Returns 1, 0, or -1.
 */
static int is_over(struct play *p, int64_t now)
{
    if (p->has_event || p->ends.n > 0)
        return 0;
    if (p->live == 0)
        return 1;
    if (p->last < 0)
        p->last = sched_last_time(p->sched);
    return p->last < 0 ? -1 : now > p->last;
}

int play_run(struct play *p, struct scenario *scenario, enum play_end end, int64_t until,
             berth_error_t *err)
{
    p->source = scenario ? scenario_name(scenario) : "";
    if (fetch(p, scenario, err) < 0)
        return -1;
    for (;;) {
        int64_t now = p->has_event ? p->event.at : INT64_MAX;
        if (end == PLAY_TO_EVENTS && now == INT64_MAX)
            return 0;
        now = next_end(p) < now ? next_end(p) : now;
        int64_t next = sched_next_time(p->sched);
        now = next < now ? next : now;
        now = now < p->now ? p->now : now;
        if (end == PLAY_TO_TIME && now > until) {
            p->now = p->now < until ? until : p->now;
            return 0;
        }
        int over = now == INT64_MAX ? 1 : end == PLAY_TO_END ? is_over(p, now) : 0;
        if (over != 0)
            return over < 0 ? core_failed(err) : 0;
        p->now = now;
        if (instant(p, scenario, err) < 0)
            return -1;
    }
}

int64_t play_now(const struct play *p)
{
    return p->now;
}

uint64_t play_unmet(const struct play *p)
{
    return p->unmet;
}

uint64_t play_passes(const struct play *p)
{
    return p->passes;
}

size_t play_jobs(const struct play *p)
{
    return p->n_jobs;
}

struct play *play_create(const struct play_options *options, berth_error_t *err)
{
    uint32_t number;
    struct play *p = calloc(1, sizeof(*p));
    if (!p) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    p->options = *options;
    p->config = options->config;
    p->last = -1;
    p->changes = json_array();
    if (!p->changes || intern_put(&p->names, "", 0, &number) < 0)
        errtext_set(err, ENOMEM, "out of memory");
    else if ((p->sched = sched_create(options->machine, &options->config->sched, err)))
        return p;
    play_destroy(p);
    return NULL;
}

void play_destroy(struct play *p)
{
    int saved = errno;
    if (!p)
        return;
    sched_destroy(p->sched);
    config_destroy(p->reloaded);
    for (size_t i = 0; i < p->n_jobs; i++) {
        free(p->jobs[i].resources);
        free(p->jobs[i].reason);
    }
    for (size_t i = 0; i < p->n_expects; i++)
        scenario_event_clear(&p->expects[i]);
    if (p->has_event)
        scenario_event_clear(&p->event);
    intern_clear(&p->ids);
    intern_clear(&p->handles);
    intern_clear(&p->names);
    heap_clear(&p->ends);
    free(p->submissions);
    free(p->jobs);
    free(p->expects);
    strbuf_clear(&p->name);
    strbuf_clear(&p->name_also);
    strbuf_clear(&p->line);
    json_decref(p->changes);
    free(p);
    errno = saved;
}
