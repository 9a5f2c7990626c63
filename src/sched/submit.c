/* Jobs of named queues are submitted: looked at by everybody who may refuse them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/queues.h"

int job_know(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    const struct lane *lane = &s->lanes[job->lane];
    if (shared_text_know(s, job->details->jobspec, lane->part, refuse, &job->ask.class,
                         &job->ask.units, err) < 0) {
        if (errno != ENOMEM && errno != ENODEV)
            errno = EINVAL;
        return -1;
    }
    job->ask.part = lane->part;
    int64_t group = permits_of(s, slot, &job->ask.permits) < 0
                        ? -1
                        : job_group_enter(&n->job_groups, &job->ask, job->lane);
    if (group < 0) {
        s->place->ops->forget(s->place, job->ask.class);
        return errtext_set(err, ENOMEM, "out of memory");
    }
    job->details->job_group = (uint32_t)group;
    return 0;
}

struct sched_reason unknown_reason(int errnum, const berth_error_t *err)
{
    return (struct sched_reason){.kind = errnum == ENODEV ? SCHED_REASON_UNSATISFIABLE
                                                          : SCHED_REASON_REQUEST,
                                 .words = err->text};
}

/* A duration in seconds as ticks; -1: there is no such. */
static int64_t ticks_of(const struct queues *n, double seconds)
{
    double ticks = round(seconds * (double)n->setup->second);
    return ticks >= 0 && ticks < 9e18 ? (int64_t)ticks : -1;
}

static int64_t duration_of(const sched_t *s, const struct sched_request *request,
                           const struct shared_text *spec, uint32_t queue)
{
    if (request->duration != 0)
        return request->duration;
    if (spec->duration != 0) {
        int64_t ticks = ticks_of(s->queues, spec->duration);
        return ticks == 0 ? 1 : ticks;
    }
    return s->queues->setup->queue[queue].default_duration;
}

static int refuse(struct sched_reason *why, enum sched_reason_kind kind)
{
    why->kind = kind;
    errno = EINVAL;
    return -1;
}

/* Which queue a job goes to, if that takes it. Returns 0, or -1 with a reason. */
static int find_queue(const sched_t *s, const struct sched_request *request,
                      const struct shared_text *spec, uint32_t *queue, struct sched_reason *why)
{
    const struct setup *setup = s->queues->setup;
    const char *name = request->queue ? request->queue : spec->queue;
    *queue = name ? setup_find(setup, name) : setup->default_queue;
    if (*queue == SETUP_NONE) {
        why->queue = name;
        return refuse(why, name ? SCHED_REASON_UNKNOWN_QUEUE : SCHED_REASON_NO_QUEUE);
    }
    if (!setup_admits(setup, *queue, request->user, request->groups, request->n_groups)) {
        why->queue = setup->queue[*queue].name;
        why->user = request->user ? request->user : "";
        return refuse(why, SCHED_REASON_NOT_ADMITTED);
    }
    if (queue_is_closed(s->queues, *queue)) {
        why->queue = setup->queue[*queue].name;
        return refuse(why, SCHED_REASON_CLOSED);
    }
    return 0;
}

/* Whether limits take the job, and what it is in the ledger. Returns 0, or -1: EINVAL with a reason,
 * ENOMEM.
 */
static int enter_account(sched_t *s, uint32_t slot, const struct sched_request *request,
                         struct sched_reason *why)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct sched_reason_limit over;
    int64_t account = limits_account(n->limits, job->details->queue, request->user, request->groups,
                                     request->n_groups);
    if (account < 0)
        return -1;
    job->details->account = (uint32_t)account;
    if (job_is_within(s, slot, job->ask.duration, &over) &&
        limits_pending(n->limits, (uint32_t)account, 1, &over))
        return 0;
    *why = limit_reason(s, &over);
    errno = EINVAL;
    return -1;
}

/* Look at all that may speak against a job. Returns 0, or -1: EINVAL with a reason, whose words may be those
 * of the error text; ENOMEM.
 */
static int admit(sched_t *s, uint32_t slot, const struct sched_request *request,
                 struct sched_reason *why, berth_error_t *err)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    const struct shared_text *spec = d->jobspec;
    uint32_t queue;
    int rc = find_queue(s, request, spec, &queue, why);
    d->queue = queue == SETUP_NONE ? 0 : queue;
    if (rc < 0)
        return -1;
    job->lane = s->queues->lane_of[d->queue];
    job->ask.duration = duration_of(s, request, spec, d->queue);
    d->limit = job->ask.duration;
    d->preemptible_after = request->preemptible_after;
    if (d->preemptible_after == 0 && spec->preemptible_after > 0)
        d->preemptible_after = ticks_of(s->queues, spec->preemptible_after);
    if (job->ask.duration < 1 || job->ask.duration > INT64_MAX / 4)
        return refuse(why, SCHED_REASON_DURATION);
    if (!key_of(s, slot, request->priority, &job->key))
        return refuse(why, SCHED_REASON_RANK);
    if (job_know(s, slot, true, err) < 0) {
        if (errno == ENOMEM)
            return -1;
        *why = unknown_reason(errno, err);
        errno = EINVAL;
        return -1;
    }
    if (enter_account(s, slot, request, why) < 0)
        return -1;
    return blocks_leave_time(s, slot, d->limit, s->now + d->limit, why);
}

int job_take_in(sched_t *s, uint32_t slot, const struct sched_request *request, bool fresh)
{
    struct details *d = s->jobs[slot].details;
    int blocked = controllers_wait(s, slot, request);
    if (blocked < 0)
        return -1;
    d->blocked = (uint8_t)blocked;
    if (blocked)
        s->jobs[slot].state = SCHED_BLOCKED;
    else if (open_insert(s, slot, fresh) < 0)
        return -1;
    controllers_entered(s, slot);
    tell_later(s, slot);
    return 0;
}

uint32_t member_new(sched_t *s, const struct sched_request *request, uint32_t member,
                    struct shared_text *text)
{
    struct details *d = details_new(s->queues, request, text);
    uint32_t slot = d ? job_alloc(s) : JOB_NONE;
    if (slot == JOB_NONE) {
        details_free(s, d);
        return JOB_NONE;
    }
    struct job *job = &s->jobs[slot];
    d->member = member;
    job->details = d;
    job->tag = request->tag;
    job->submitted = request->submitted > 0 ? request->submitted : s->now;
    job->key = (struct queue_key){0, request->order ? request->order + member : s->seq};
    if (job->key.seq >= s->seq)
        s->seq = job->key.seq + 1;
    job->ask = (struct place_ask){.class = PLACE_NO_CLASS};
    job->state = SCHED_BLOCKED;
    job->is_preempting = job->is_tried_again = false;
    job->lane = 0;
    details_link(s, slot);
    return slot;
}

int job_name(sched_t *s, uint32_t slot, const struct sched_request *request, const char *id,
             berth_error_t *err)
{
    struct depend *depend = s->queues->depend;
    struct details *d = s->jobs[slot].details;
    const char *name = request->name ? request->name : id;
    int rc = depend_job(depend, slot, id, d->member, d->members, d->user, name, request->dependency,
                        err);
    d->is_nameless = rc < 0;
    if (rc == 0 || errno != EINVAL)
        return rc;
    /* It is rejected, under its name if it can be had: others may have to do with it. */
    d->is_nameless =
        depend_job(depend, slot, id, d->member, d->members, d->user, name, NULL, NULL) < 0;
    errno = EINVAL;
    return -1;
}

/* Look at a member that is listed: 0 if it waits; -1: EINVAL with a reason, as admit; ENOMEM. */
static int let_in(sched_t *s, uint32_t slot, const struct sched_request *request, const char *wrong,
                  struct sched_reason *why, berth_error_t *err)
{
    char number[24];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)request->tag);
    why->kind = SCHED_REASON_REQUEST;
    why->words = err->text;
    if (job_name(s, slot, request, request->id ? request->id : number, err) < 0)
        return -1;
    if (wrong) {
        why->words = wrong;
        return refuse(why, SCHED_REASON_JOBSPEC);
    }
    *why = (struct sched_reason){.kind = SCHED_REASON_NONE};
    return admit(s, slot, request, why, err) < 0 ? -1 : job_take_in(s, slot, request, true);
}

/* Submit one member. Returns its slot, or JOB_NONE with ENOMEM and nothing changed. */
static uint32_t submit_member(sched_t *s, const struct sched_request *request, uint32_t member,
                              const char *wrong, struct shared_text *text)
{
    berth_error_t err = {""};
    struct sched_reason why = {.kind = SCHED_REASON_NONE}, *never;
    uint32_t slot = member_new(s, request, member, text);
    if (slot == JOB_NONE)
        return JOB_NONE;
    if (let_in(s, slot, request, wrong, &why, &err) == 0)
        return slot;
    if (errno == EINVAL && (never = sched_reason_copy(&why))) {
        job_reject(s, slot, never);
        return slot;
    }
    job_forget(s, slot);
    errno = ENOMEM;
    return JOB_NONE;
}

static void take_back(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->state == SCHED_REJECTED) {
        rejected_unlink(s, slot);
    } else {
        if (job->state == SCHED_WAITING)
            open_remove(s, slot);
        pending_end(s, slot);
        s->queues->stats[job->details->queue].submitted--;
    }
    job_forget(s, slot);
}

/* Submit members, and list their handles unless that is NULL. Returns the first one's slot, or JOB_NONE
 * with errno.
 */
static uint32_t submit(sched_t *s, int64_t now, const struct sched_request *request, uint32_t from,
                       uint32_t count, sched_job_t *jobs)
{
    berth_error_t err = {.text = "a job needs one"};
    uint32_t members = request->members > 1 ? request->members : 1;
    if (!s->queues->setup->is_named || !time_is_good(s, now) || request->duration < 0 ||
        request->begin < 0 || request->preemptible_after < 0 || request->submitted < 0 ||
        request->submitted > now || count == 0 || from >= members || count > members - from ||
        request->order > UINT64_MAX - members) {
        errno = EINVAL;
        return JOB_NONE;
    }
    struct shared_text *text = shared_text_use(s->queues, request->jobspec,
                                               request->jobspec ? request->jobspec_length : 0);
    if (!text)
        return JOB_NONE;
    bool good = request->jobspec && shared_text_read(text, &err) == 0;
    if (request->jobspec && !good && errno == ENOMEM) {
        shared_text_rest(text);
        shared_text_leave(s, text);
        errno = ENOMEM;
        return JOB_NONE;
    }
    uint32_t last = s->queues->last;
    uint32_t first = JOB_NONE;
    int64_t before = s->now;
    int rc = core_advance(s, now);
    for (uint32_t i = from; i - from < count && rc == 0; i++) {
        uint32_t slot = submit_member(s, request, i, good ? NULL : err.text, text);
        first = i == from ? slot : first;
        if (jobs && slot != JOB_NONE)
            jobs[i - from] = job_handle(s, slot);
        rc = slot == JOB_NONE ? -1 : 0;
    }
    while (rc < 0 && s->queues->last != last)
        take_back(s, s->queues->last);
    shared_text_rest(text);
    shared_text_leave(s, text);
    if (rc == 0)
        s->queues->events++;
    else
        s->now = before;
    if (rc == 0)
        controllers_resolve_all(s);
    return rc < 0 ? JOB_NONE : first;
}

int sched_submit_members(sched_t *s, int64_t now, const struct sched_request *request,
                         uint32_t first, uint32_t n, sched_job_t *jobs)
{
    return submit(s, now, request, first, n, jobs) == JOB_NONE ? -1 : 0;
}

sched_job_t queues_submit(sched_t *s, int64_t now, const struct sched_request *request)
{
    uint32_t first = submit(s, now, request, 0, request->members > 1 ? request->members : 1, NULL);
    return first == JOB_NONE ? -1 : job_handle(s, first);
}

int sched_withdraw(sched_t *s, int64_t now, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || !time_is_good(s, now) || s->jobs[slot].state == SCHED_RESERVED ||
        s->jobs[slot].state == SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    take_back(s, slot);
    controllers_resolve_all(s);
    return core_event(s, now);
}
