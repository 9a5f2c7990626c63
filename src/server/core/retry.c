/* Retries of failed members, and the end of arrays of which too many have failed.
 *
 * A retry is a requeue with a begin time. The rest of an array is cancelled by background work, since an end may be
 * reported while decisions of a pass are carried out.
 */
#include "server/core/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/cancel.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/work.h"

#define CANCEL_STEPS 5 /* its end is stored, with an event */

int retry_load(struct job *job, struct json_part retry, struct json_part max_fails)
{
    static const char *const keys[] = {"times", "on", "delay"};
    struct json_part v[3];
    char *on = NULL;
    job->max_fails = json_part_whole(max_fails, -1);
    if (!retry.at)
        return 0;
    json_find(retry, keys, 3, v);
    int64_t most = json_part_whole(v[0], 0);
    if (most < 1 || most > RETRIES_MAX)
        return 0;
    if (json_part_copy(v[1], &on) < 0 || !(job->retry = calloc(1, sizeof(*job->retry)))) {
        free(on);
        return -1;
    }
    job->retry->most = (uint8_t)most;
    job->retry->delay = json_part_whole(v[2], RETRY_DELAY);
    if (!on || ends_read(&job->retry->on, on, strlen(on), NULL) < 0)
        ends_failures(&job->retry->on);
    free(on);
    return 0;
}

void retry_put(const struct job *job, const char *on, struct json_out *out)
{
    if (job->retry) {
        json_open(out, "retry", '{');
        json_put_int(out, "times", job->retry->most);
        json_put_text(out, "on", on);
        json_put_int(out, "delay", job->retry->delay);
        json_close(out, '}');
    }
    if (job->max_fails >= 0)
        json_put_int(out, "max_fails", job->max_fails);
}

bool retry_is_due(const struct job *job, const struct member *m, const struct engine_event *e)
{
    const struct retry *r = job->retry;
    bool ended = e->what == ENGINE_ENDED || e->what == ENGINE_FAILED;
    if (!r || m->retries >= r->most || m->cancelled || m->preempted || m->dismissed || !ended)
        return false;
    return m->timed_out ? r->on.timeout : ends_has(&r->on, e->exit_status, e->exit_signal);
}

int64_t retry_wait(const struct job *job, const struct member *m)
{
    int64_t wait = job->retry->delay;
    for (int i = 0; i < m->retries && wait < RETRY_LONGEST; i++)
        wait *= 2;
    return wait < RETRY_LONGEST ? wait : RETRY_LONGEST;
}

int64_t declined_wait(const server_t *s, struct job *job)
{
    int64_t wait = DECLINED_WAIT;
    for (int i = 0; i < job->declined.n && wait < DECLINED_LONGEST; i++)
        wait *= 2;
    wait = wait < DECLINED_LONGEST ? wait : DECLINED_LONGEST;
    if (s->clock.now < job->declined.until)
        return job->declined.until - s->clock.now;
    job->declined.until = s->clock.now + wait;
    job->declined.n = (uint8_t)(job->declined.n + (job->declined.n < UINT8_MAX));
    return wait;
}

/* ---- Too many failures ---- */

struct fails_work {
    struct server_work work;
    int64_t job, next; /* the next member, from the last one on; -1: the entry comes first */
    bool begun;
};

static bool has_failed(const struct job *job)
{
    return job->max_fails >= 0 && job->live > 0 &&
           (int64_t)job->counts[STORE_FAILED] + job->counts[STORE_TIMEOUT] > job->max_fails;
}

static int cancel_rest(struct server_work *work, size_t *steps)
{
    struct fails_work *w = (struct fails_work *)work;
    server_t *s = work->s;
    struct job *job = job_lookup(s, w->job);
    char why[100];
    if (!job || !has_failed(job))
        return 1;
    snprintf(why, sizeof(why), "more than %lld failed", (long long)job->max_fails);
    const struct cancel cancel = {.reason = why, .key = "reason", .text = why};
    if (!w->begun) {
        if (job->entry >= 0 && !job->is_behind && entry_cancel(s, job, &cancel) < 0)
            return -1;
        w->begun = true;
        w->next = job->members;
    }
    for (int64_t i = w->next; (i = member_previous_own(job, i - 1)) >= 0; w->next = i) {
        if (*steps == 0)
            return 0;
        if (!member_is_live(member_record(job, (uint32_t)i)))
            continue;
        if (member_cancel(s, job, (uint32_t)i, &cancel) < 0)
            return -1;
        work_spend(steps, CANCEL_STEPS);
    }
    return 1;
}

static void nothing_to_clear(struct server_work *work)
{
    (void)work;
}

void fails_look(server_t *s, struct job *job)
{
    if (!has_failed(job) || job->is_stopping)
        return;
    struct fails_work *w = (struct fails_work *)work_create_background(s, job->uid, sizeof(*w));
    if (!w) /* the next failure, or the next start of the server, finds it */
        return;
    job->is_stopping = true;
    w->work.go = cancel_rest;
    w->work.clear = nothing_to_clear;
    w->job = job->id;
    work_start_background(s, &w->work);
}

void fails_look_all(server_t *s)
{
    for (size_t i = 0; i < s->table.n; i++)
        if (s->table.jobs[i].job)
            fails_look(s, s->table.jobs[i].job);
}
