/* Pilots, as the player has them. */
#include <errno.h>
#include <string.h>

#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "sim/play_priv.h"

/* What members of a submission ask for, as the core knows it. */
static int learn(struct play *p, struct play_submission *s, sched_job_t handle)
{
    struct sched_record r;
    if (s->is_known)
        return 0;
    if (sched_record(p->d.sched, handle, &r) < 0)
        return -1;
    const struct sched_request *q = &r.request;
    s->shape = (struct sim_shape){0};
    if (q->n_roles == 0 && sim_shape_add(&s->shape, p->pilots, q->jobspec, q->jobspec_length) < 0)
        return -1;
    for (size_t i = 0; i < q->n_roles; i++)
        if (sim_shape_add(&s->shape, p->pilots, q->roles[i].jobspec, q->roles[i].jobspec_length) <
            0)
            return -1;
    s->limit = q->duration > 0 && q->duration < SCHED_UNLIMITED ? q->duration : q->estimate;
    s->limit = s->limit > 0 ? s->limit : SCHED_UNLIMITED;
    s->takes = q->estimate > 0 && q->estimate < s->limit ? q->estimate : s->limit;
    s->min = q->min;
    s->is_known = true;
    return 0;
}

static bool is_started_up(const struct play *p, const struct play_submission *s)
{
    struct sched_queue_stats stats;
    const char *queue = intern_text(&p->names, s->queue);
    return !*queue || sched_queue_stats(p->d.sched, queue, &stats) < 0 || stats.started_up;
}

/* Its members that wait by themselves, and those under its own handle, of which the first stands for all. */
static int want_of(struct play *p, struct play_submission *s)
{
    int64_t rest = 0, running = 0;
    size_t first = SIZE_MAX;
    for (size_t job = s->first; job < s->first + s->n; job++) {
        running += p->jobs[job].state == PLAY_RUNNING;
        if (p->jobs[job].state != PLAY_WAITING)
            continue;
        sched_job_t handle = play_handle(p, job);
        bool together = s->n > 1 && handle == s->handle;
        first = together && first == SIZE_MAX ? job : first;
        rest += together;
        if (together || !sim_pilots_waits(p->d.sched, handle))
            continue;
        if (learn(p, s, handle) < 0 ||
            sim_pilots_want(p->pilots, (uint32_t)job, &s->shape, 1, 1, s->limit, s->takes) < 0)
            return -1;
    }
    if (rest == 0 || !sim_pilots_waits(p->d.sched, s->handle))
        return 0;
    if (learn(p, s, s->handle) < 0)
        return -1;
    return sim_pilots_want(p->pilots, (uint32_t)first, &s->shape, rest,
                           s->min > 0 && running == 0 ? s->min : 1, s->limit, s->takes);
}

static int want_waiting(void *shell, struct sim_pilots *pilots)
{
    struct play *p = shell;
    (void)pilots;
    while (p->first_waits < p->ids.n) {
        const struct play_submission *s = &p->submissions[p->first_waits];
        bool any = false;
        for (size_t job = s->first; job < s->first + s->n && !any; job++)
            any = p->jobs[job].state <= PLAY_RUNNING; /* one that runs may wait again */
        if (any)
            break;
        p->first_waits++;
    }
    for (uint32_t i = p->first_waits; i < p->ids.n; i++)
        if (is_started_up(p, &p->submissions[i]) && want_of(p, &p->submissions[i]) < 0)
            return -1;
    return 0;
}

static int lost(void *shell, uint32_t job, const char *reason)
{
    return play_fail_job(shell, job, reason);
}

static int note_change(void *shell, json_t *event)
{
    struct play *p = shell;
    return json_array_append_new(p->changes, event);
}

static const struct sim_pilots_shell shell = {
    .waiting = want_waiting, .lost = lost, .changed = note_change};

int play_begin_pilots(struct play *p, berth_error_t *err)
{
    const struct sim_pilots_options options = {.config = p->config,
                                               .machine = p->options.machine,
                                               .sched = p->d.sched,
                                               .second = SECONDS_TICKS,
                                               .shell = &shell,
                                               .arg = p,
                                               .decisions = p->options.decisions};
    if (p->config->pilots.rule.max_nodes == 0)
        return 0;
    p->pilots = sim_pilots_create(&options, err);
    return p->pilots ? 0 : -1;
}

int play_load_pilots(struct play *p, const json_t *state, const struct key_place *place,
                     berth_error_t *err)
{
    if (!p->pilots || (state && sim_pilots_load(p->pilots, p->d.now, state) == 0))
        return 0;
    return keys_failed(place, EINVAL, "pilots: expected those that were saved", err);
}

int play_load_runs(struct play *p, const struct key_place *place, berth_error_t *err)
{
    struct sched_annotation a;
    for (size_t job = 0; p->pilots && job < p->n_jobs; job++) {
        const struct play_job *j = &p->jobs[job];
        if (j->state == PLAY_RUNNING &&
            (sched_annotate(p->d.sched, j->handle, &a) < 0 ||
             sim_pilots_started(p->pilots, (uint32_t)job, j->handle, j->start, a.until) < 0))
            return keys_failed(place, errno, strerror(errno), err);
    }
    p->d.also = sim_pilots_next(p->pilots);
    return 0;
}

bool play_pilots_reason(const struct play *p, size_t job, char text[SCHED_REASON_TEXT])
{
    const struct play_submission *s = &p->submissions[p->jobs[job].submission];
    if (!p->pilots)
        return false;
    if (!play_is_together(p, job))
        return sim_pilots_reason(p->pilots, (uint32_t)job, text);
    for (size_t i = s->first; i <= job; i++)
        if (play_is_together(p, i) && sim_pilots_reason(p->pilots, (uint32_t)i, text))
            return true;
    return false;
}

bool play_pilots_sum(const struct play *p, struct schedule_pilots *sum)
{
    if (p->pilots)
        *sum = sim_pilots_sum(p->pilots, p->d.now);
    return p->pilots != NULL;
}
