/* The player: a shell of the driver whose events are those of a scenario. */
#include "sim/play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "sim/play_priv.h"

int play_intern(struct play *p, const char *text, uint32_t *number)
{
    return intern_put(&p->names, text ? text : "", text ? strlen(text) : 0, number);
}

sched_job_t play_handle(const struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    if (j->handle >= 0)
        return j->handle;
    sched_job_t handle =
        sched_find(p->d.sched, intern_text(&p->ids, j->submission), p->jobs[job].member);
    return handle >= 0 ? handle : p->submissions[j->submission].handle;
}

bool play_is_together(const struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    const struct play_submission *s = &p->submissions[j->submission];
    return s->n > 1 && j->handle < 0 && s->handle >= 0 && play_handle(p, job) == s->handle;
}

int play_split(struct play *p, size_t job)
{
    struct play_job *j = &p->jobs[job];
    struct play_submission *s = &p->submissions[j->submission];
    if (j->handle >= 0)
        return 0;
    j->handle = sched_split(p->d.sched, p->d.now, play_handle(p, job), p->jobs[job].member);
    if (j->handle == s->handle)
        s->handle = -1;
    return j->handle < 0 ? -1 : 0;
}

size_t play_job_of(const struct play *p, sched_job_t handle)
{
    struct sched_annotation a;
    if (sched_annotate(p->d.sched, handle, &a) < 0)
        return SIZE_MAX;
    return play_member(p, (uint32_t)a.tag, a.member);
}

/* The job that a decision is about. */
static size_t decided_job(const struct play *p, const struct sched_decision *d)
{
    return play_member(p, (uint32_t)d->tag, d->member);
}

static void replace_text(char **text, char *with)
{
    free(*text);
    *text = with;
}

int play_note_resources(struct play *p, size_t job)
{
    struct play_job *j = &p->jobs[job];
    const char *text;
    if (sched_resources(p->d.sched, j->handle, &text) < 0)
        return -1;
    char *resources = strdup(text);
    if (!resources)
        return -1;
    replace_text(&j->resources, resources);
    return 0;
}

/* Note where a job runs, in which queue, and when it will end. */
static int note_job_start(struct play *p, size_t job, const struct sched_decision *d)
{
    struct play_job *j = &p->jobs[job];
    struct play_submission *s = &p->submissions[j->submission];
    struct sched_annotation a;
    j->handle = d->job;
    if (d->job == s->handle)
        s->handle = -1;
    if (play_note_resources(p, job) < 0)
        return -1;
    if (sched_annotate(p->d.sched, j->handle, &a) < 0)
        return -1;
    if (a.queue && play_intern(p, a.queue, &s->queue) < 0)
        return -1;
    j->state = PLAY_RUNNING;
    j->how = d->how;
    j->started = true;
    j->starts = false;
    j->promised = -1;
    j->start = p->d.now;
    j->order = p->d.starts;
    if (s->runtime < 0)
        j->end = d->until;
    else if (__builtin_add_overflow(p->d.now, s->runtime, &j->end))
        j->end = INT64_MAX;
    if (driver_start(&p->d, (uint32_t)job, j->end) < 0 ||
        (p->pilots &&
         sim_pilots_started(p->pilots, (uint32_t)job, j->handle, p->d.now, d->until) < 0))
        return -1;
    if (p->options.decisions)
        decisions_start(p->options.decisions, p->d.now, play_name(p, job, &p->name), d->how,
                        d->until, j->resources);
    return 0;
}

static int close_job(struct play *p, size_t job, enum play_state state, const char *reason)
{
    struct play_job *j = &p->jobs[job];
    char *copy = reason ? strdup(reason) : NULL;
    if (reason && !copy)
        return -1;
    replace_text(&j->reason, copy);
    if (p->pilots)
        sim_pilots_stopped(p->pilots, (uint32_t)job, p->d.now);
    j->state = state;
    j->end = p->d.now;
    p->d.live--;
    return 0;
}

static int tell_core(struct play *p, size_t job, enum play_state state)
{
    sched_job_t handle = play_handle(p, job);
    if (handle == p->acted && handle >= 0)
        return 0;
    if (state == PLAY_CANCELLED)
        return driver_cancel(&p->d, (uint32_t)job, handle);
    return driver_finish(&p->d, (uint32_t)job, handle, state == PLAY_DONE);
}

int play_end_job(struct play *p, size_t job, enum play_state state, const char *reason)
{
    if (tell_core(p, job, state) < 0 || close_job(p, job, state, reason) < 0)
        return -1;
    if (p->options.decisions)
        decisions_end(p->options.decisions, p->d.now, play_name(p, job, &p->name),
                      scenario_state_name(play_look(p, job)), p->jobs[job].reason);
    return 0;
}

/* It waits again, and will run from its beginning. */
static int requeue(struct play *p, size_t job, sched_job_t handle)
{
    struct play_job *j = &p->jobs[job];
    if (driver_requeue(&p->d, (uint32_t)job, handle) < 0 || play_note_run(p, job) < 0)
        return -1;
    if (p->pilots)
        sim_pilots_stopped(p->pilots, (uint32_t)job, p->d.now);
    j->state = PLAY_WAITING;
    j->start = j->end = -1;
    return 0;
}

int play_fail_job(struct play *p, size_t job, const char *reason)
{
    sched_job_t handle = play_handle(p, job);
    if (p->jobs[job].state != PLAY_RUNNING || !sched_replaces(p->d.sched, handle))
        return play_end_job(p, job, PLAY_FAILED, reason);
    if (requeue(p, job, handle) < 0)
        return -1;
    if (p->options.decisions)
        decisions_replace(p->options.decisions, p->d.now, play_name(p, job, &p->name));
    return 0;
}

/* What it has done is lost. */
static void count_lost(struct play *p, size_t job)
{
    int64_t cores = sched_amount(p->d.sched, play_handle(p, job), "core");
    p->preemptions++;
    if (cores > 0)
        p->lost += (double)cores * (double)(p->d.now - p->jobs[job].start);
}

/* A job that was told to stop has ended. */
static int end_stopped(struct play *p, size_t job)
{
    enum play_stop stop = p->jobs[job].stop;
    p->jobs[job].stop = PLAY_STOP_NONE;
    if (stop == PLAY_STOP_FAIL)
        return play_end_job(p, job, PLAY_FAILED, p->jobs[job].reason);
    if (stop == PLAY_STOP_CANCEL)
        return play_end_job(p, job, PLAY_CANCELLED, NULL);
    count_lost(p, job);
    return stop == PLAY_STOP_REQUEUE ? requeue(p, job, play_handle(p, job))
                                     : play_end_job(p, job, PLAY_PREEMPTED, NULL);
}

/* A job stops, at once or as soon as it can. */
static int begin_stopping(struct play *p, size_t job, enum play_stop stop, int64_t takes)
{
    struct play_job *j = &p->jobs[job];
    j->stop = stop;
    if (takes == 0)
        return end_stopped(p, job);
    if (takes < j->end - p->d.now) {
        j->end = p->d.now + takes;
        heap_move(&p->d.ends, (uint32_t)job, j->end, j->order);
    }
    return 0;
}

int play_begin_cancel(struct play *p, size_t job, int64_t takes)
{
    return sched_leave(p->d.sched, p->d.now, p->jobs[job].handle) < 0
               ? -1
               : begin_stopping(p, job, PLAY_STOP_CANCEL, takes);
}

/* How long a job takes to end when it is told to stop. */
static int64_t takes_to_stop(const struct play *p, size_t job)
{
    return p->submissions[p->jobs[job].submission].stopping;
}

static int stop_for_another(struct play *p, const struct sched_decision *d)
{
    if (p->options.sharing)
        sharing_stopped(p->options.sharing, p->d.now / SECONDS_TICKS);
    size_t job = decided_job(p, d);
    return begin_stopping(p, job, d->requeue ? PLAY_STOP_REQUEUE : PLAY_STOP_END,
                          takes_to_stop(p, job));
}

/* A job is stopped for a block, or as its gang has failed. */
static int stop(struct play *p, const struct sched_decision *d)
{
    char reason[SCHED_REASON_TEXT];
    size_t job = decided_job(p, d);
    char *copy = strdup(sched_reason_text(d->reason, reason));
    if (!copy)
        return -1;
    replace_text(&p->jobs[job].reason, copy);
    return begin_stopping(p, job, PLAY_STOP_FAIL, takes_to_stop(p, job));
}

/* All that wait under a handle are rejected. */
static int reject_waiting(struct play *p, const struct sched_decision *d)
{
    char reason[SCHED_REASON_TEXT];
    struct play_submission *s = &p->submissions[d->tag];
    sched_reason_text(d->reason, reason);
    if (s->n == 1 || d->job != s->handle)
        return close_job(p, decided_job(p, d), PLAY_REJECTED, reason);
    for (size_t job = s->first; job < s->first + s->n; job++)
        if (p->jobs[job].state == PLAY_WAITING && play_is_together(p, job) &&
            close_job(p, job, PLAY_REJECTED, reason) < 0)
            return -1;
    s->handle = -1;
    return 0;
}

/* What is not about a start. */
static int tell_decision(struct play *p, const struct sched_decision *d)
{
    struct decisions *out = p->options.decisions;
    char reason[SCHED_REASON_TEXT];
    const char *name = play_name(p, decided_job(p, d), &p->name);
    if (out && d->kind == SCHED_RESERVE) {
        decisions_reserve(out, p->d.now, name, d->at, d->expected, NULL);
    } else if (out && d->kind == SCHED_PREEMPT) {
        size_t other = play_job_of(p, d->other);
        if (other != SIZE_MAX)
            decisions_preempt(out, p->d.now, name, play_name(p, other, &p->name_also), d->requeue);
    } else if (out && d->kind == SCHED_STOP) {
        decisions_stop(out, p->d.now, name, sched_reason_text(d->reason, reason));
    } else if (out) {
        /* the core has forgotten a job that it rejects: only the handle says whether others waited with it */
        bool is_alone = d->kind == SCHED_REJECT && d->job != p->submissions[d->tag].handle;
        if (!is_alone)
            name = play_name_all(p, decided_job(p, d));
        if (!name)
            return -1;
        sched_reason_text(d->reason, reason);
        if (d->kind == SCHED_WAIT)
            decisions_wait(out, p->d.now, name, reason, d->at);
        else
            decisions_reject(out, p->d.now, name, reason);
    }
    return d->kind == SCHED_REJECT ? reject_waiting(p, d) : 0;
}

/* A job waits for the end of one that has been told. */
static int tell_awaits(struct play *p, const struct sched_decision *d)
{
    size_t other = play_job_of(p, d->other);
    const char *name = play_name(p, decided_job(p, d), &p->name);
    if (p->options.decisions && other != SIZE_MAX)
        decisions_await(p->options.decisions, p->d.now, play_name(p, other, &p->name_also), name);
    return 0;
}

static int carry_out(struct play *p, const struct sched_decision *d)
{
    size_t job = decided_job(p, d);
    if (d->kind == SCHED_START)
        return note_job_start(p, job, d);
    if (d->kind == SCHED_AWAIT)
        return tell_awaits(p, d);
    if (d->kind == SCHED_RESERVE && d->at == p->d.now && p->jobs[job].starts)
        return 0; /* it gets what it was promised */
    if (d->kind == SCHED_RESERVE && d->at == p->jobs[job].promised &&
        d->expected == p->jobs[job].expected)
        return 0; /* the same time, perhaps with other resources */
    p->jobs[job].promised = d->kind == SCHED_RESERVE ? d->at : -1;
    p->jobs[job].expected = d->expected;
    return tell_decision(p, d);
}

static int decided(void *shell, const struct sched_decision *decision, size_t n)
{
    struct play *p = shell;
    for (size_t i = 0; i < n; i++)
        if (decision[i].kind == SCHED_START)
            p->jobs[decided_job(p, &decision[i])].starts = true;
    for (size_t i = 0; i < n; i++)
        if (carry_out(p, &decision[i]) < 0)
            return -1;
    for (size_t i = 0; i < n; i++)
        if ((decision[i].kind == SCHED_PREEMPT && stop_for_another(p, &decision[i]) < 0) ||
            (decision[i].kind == SCHED_STOP && stop(p, &decision[i]) < 0))
            return -1;
    return 0;
}

/* A job's time has come. */
static int end_on_time(void *shell, uint32_t job)
{
    struct play *p = shell;
    enum scenario_end ends = p->submissions[p->jobs[job].submission].ends;
    if (p->jobs[job].stop != PLAY_STOP_NONE)
        return end_stopped(p, job);
    return ends == SCENARIO_DONE ? play_end_job(p, job, PLAY_DONE, NULL)
                                 : play_fail_job(p, job, NULL);
}

/* When the next job of the trace is submitted. */
static int64_t next_traced(const struct play *p)
{
    const struct trace *t = p->options.trace;
    if (!t || p->traced == t->n)
        return INT64_MAX;
    return t->jobs[p->order ? p->order[p->traced] : p->traced].submit * SECONDS_TICKS;
}

/* Tell the driver when the next event happens. */
static void look_at_next(struct play *p)
{
    int64_t at = p->event.json ? p->event.at : INT64_MAX;
    p->d.event = next_traced(p) < at ? next_traced(p) : at;
    p->d.also = sim_pilots_next(p->pilots);
}

/* Read the next event of the scenario. */
static int fetch(struct play *p, berth_error_t *err)
{
    int rc = p->scenario ? scenario_next(p->scenario, &p->event, err) : 0;
    look_at_next(p);
    return rc < 0 ? -1 : 0;
}

/* Expectations are for the end of the instant. */
static int keep_expect(struct play *p, berth_error_t *err)
{
    if (array_grow((void **)&p->expects, &p->cap_expects, p->n_expects + 1, sizeof(*p->expects)) <
        0) {
        scenario_event_clear(&p->event);
        return errtext_no_memory(err);
    }
    p->expects[p->n_expects++] = p->event;
    p->event.json = NULL;
    return 0;
}

static int take_next_event(void *shell, berth_error_t *err)
{
    struct play *p = shell;
    int rc;
    if (p->d.event > p->d.now) {
        rc = sim_pilots_event(p->pilots, p->d.now);
        look_at_next(p);
        return rc < 0 ? errtext_set(err, errno, "pilots: %s", strerror(errno)) : 0;
    }
    if (next_traced(p) == p->d.event) {
        rc = play_submit_traced(p, err);
        look_at_next(p);
        return rc;
    }
    if (p->event.kind == SCENARIO_EXPECT) {
        rc = keep_expect(p, err);
    } else {
        rc = play_event(p, &p->event, err);
        scenario_event_clear(&p->event);
    }
    return rc < 0 ? -1 : fetch(p, err);
}

/* What shares come to by now, for a report. */
static int note_shares(struct play *p)
{
    return p->options.sharing ? share_notes_take(&p->notes, p->d.sched, p->d.now, SECONDS_TICKS,
                                                 p->options.sharing)
                              : 0;
}

/* The instant is over. */
static int settled(void *shell)
{
    struct play *p = shell;
    int rc = p->pilots ? sim_pilots_look(p->pilots, p->d.now) : 0;
    look_at_next(p);
    for (size_t i = 0; i < p->n_expects; i++) {
        if (rc == 0)
            rc = play_expect(p, &p->expects[i]);
        scenario_event_clear(&p->expects[i]);
    }
    p->n_expects = 0;
    return rc < 0 ? -1 : note_shares(p);
}

static const struct driver_shell player_shell = {
    .event = take_next_event, .end = end_on_time, .decided = decided, .settled = settled};

int play_run(struct play *p, struct scenario *scenario, enum driver_end end, int64_t until,
             berth_error_t *err)
{
    p->scenario = scenario;
    p->source = scenario ? scenario_name(scenario) : "";
    scenario_event_clear(&p->event);
    if (fetch(p, err) < 0 || driver_run(&p->d, end, until, err) < 0)
        return -1;
    /* nothing may have happened for a while before that time */
    if (end == DRIVER_TO_TIME && note_shares(p) < 0)
        return errtext_no_memory(err);
    return 0;
}

int64_t play_now(const struct play *p)
{
    return p->d.now;
}

uint64_t play_unmet(const struct play *p)
{
    return p->unmet;
}

uint64_t play_passes(const struct play *p)
{
    return p->d.passes;
}

uint64_t play_preemptions(const struct play *p, double *lost_s)
{
    *lost_s = p->lost / SECONDS_TICKS;
    return p->preemptions;
}

size_t play_jobs(const struct play *p)
{
    return p->n_jobs;
}

/* Whether all times of a trace are within those of a scenario; and the order of its jobs. */
static int check_trace(const struct trace *trace, uint32_t **order, berth_error_t *err)
{
    for (size_t i = 0; i < trace->n; i++)
        if (trace->jobs[i].submit > SECONDS_MAX || trace->jobs[i].limit > SECONDS_MAX)
            return errtext_set(err, EINVAL, "job %lld: its times are too large for a scenario",
                               (long long)trace->jobs[i].id);
    return trace_sort(trace, order) < 0 ? errtext_no_memory(err) : 0;
}

struct play *play_create(const struct play_options *options, berth_error_t *err)
{
    uint32_t number;
    sched_t *sched;
    struct play *p = calloc(1, sizeof(*p));
    if (!p) {
        errtext_no_memory(err);
        return NULL;
    }
    p->options = *options;
    p->config = options->config;
    p->acted = -1;
    p->changes = json_array();
    if (!p->changes || intern_put(&p->names, "", 0, &number) < 0)
        errtext_no_memory(err);
    else if ((sched = sched_create(options->machine, &options->config->sched, err))) {
        driver_init(&p->d, sched, &player_shell, p);
        p->d.live = 0;
        if (play_begin_pilots(p, err) < 0) {
            play_destroy(p);
            return NULL;
        }
        if (!options->trace || check_trace(options->trace, &p->order, err) == 0)
            return p;
    }
    play_destroy(p);
    return NULL;
}

void play_destroy(struct play *p)
{
    int saved = errno;
    if (!p)
        return;
    sim_pilots_destroy(p->pilots);
    share_notes_clear(&p->notes);
    play_clear_runs(p);
    driver_clear(&p->d);
    config_destroy(p->reloaded);
    for (size_t i = 0; i < p->n_jobs; i++) {
        free(p->jobs[i].resources);
        free(p->jobs[i].reason);
    }
    for (size_t i = 0; i < p->n_expects; i++)
        scenario_event_clear(&p->expects[i]);
    scenario_event_clear(&p->event);
    for (uint32_t i = 0; i < p->ids.n; i++)
        free(p->submissions[i].indices);
    intern_clear(&p->ids);
    intern_clear(&p->arrays);
    intern_clear(&p->names);
    queues_request_clear(&p->request);
    free(p->order);
    free(p->submissions);
    free(p->gangs);
    free(p->jobs);
    free(p->expects);
    strbuf_clear(&p->name);
    strbuf_clear(&p->name_also);
    strbuf_clear(&p->line);
    json_decref(p->changes);
    free(p);
    errno = saved;
}
