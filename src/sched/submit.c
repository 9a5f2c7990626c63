/* Jobs of named queues are submitted: looked at by everybody who may refuse them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/number.h"
#include "berth/sched_admin.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/expect.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

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

enum sched_reason_kind times_wrong(int64_t limit, int64_t estimate)
{
    if (limit < 1 || (limit > QUEUES_TIME_MAX && limit < SCHED_UNLIMITED) || estimate < 1 ||
        estimate > QUEUES_TIME_MAX)
        return SCHED_REASON_DURATION;
    return estimate > limit ? SCHED_REASON_ESTIMATE : SCHED_REASON_NONE;
}

static int64_t limit_of_request(const sched_t *s, const struct sched_request *request,
                                const struct shared_text *spec, uint32_t queue)
{
    if (request->duration != 0)
        return request->duration;
    if (spec->duration != 0) {
        int64_t ticks = ticks_of(s->queues, spec->duration);
        return ticks == 0 ? 1 : ticks;
    }
    return s->queues->setup->queue[queue].default_limit;
}

static int64_t estimate_of(const sched_t *s, const struct sched_request *request, int64_t limit,
                           uint32_t queue)
{
    int64_t estimate = request->estimate != 0    ? request->estimate
                       : limit < SCHED_UNLIMITED ? limit
                                                 : s->queues->setup->queue[queue].default_duration;
    return estimate_meant(s, estimate, limit);
}

/* The deadline after a wait of so many seconds, at least 1: 0 is none. */
static int64_t deadline_after(const sched_t *s, int64_t submitted, double seconds)
{
    int64_t ticks = ticks_of(s->queues, seconds), at;
    if (ticks < 0 || __builtin_add_overflow(submitted, ticks, &at))
        return SCHED_UNLIMITED;
    return at > 0 ? at : 1;
}

void job_take_times(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    const struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    d->preemptible_after = request->preemptible_after;
    if (d->preemptible_after == 0 && d->jobspec->preemptible_after > 0)
        d->preemptible_after = ticks_of(s->queues, d->jobspec->preemptible_after);
    d->deadline = request->deadline;
    if (d->deadline == 0 && d->jobspec->sla_waiting_time >= 0)
        d->deadline = deadline_after(s, job->submitted, d->jobspec->sla_waiting_time);
}

static int refuse_of_kind(struct sched_reason *why, enum sched_reason_kind kind)
{
    why->kind = kind;
    errno = EINVAL;
    return -1;
}

static int refuse_priority(const sched_t *s, struct sched_reason *why)
{
    struct priorities room = order_priorities(s->queues->setup);
    why->has = room.least;
    why->of = room.most;
    return refuse_of_kind(why, SCHED_REASON_RANK);
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
        return refuse_of_kind(why, name ? SCHED_REASON_UNKNOWN_QUEUE : SCHED_REASON_NO_QUEUE);
    }
    if (!setup_admits(setup, *queue, request->user, request->groups, request->n_groups)) {
        why->queue = setup->queue[*queue].name;
        why->user = request->user ? request->user : "";
        return refuse_of_kind(why, SCHED_REASON_NOT_ADMITTED);
    }
    if (queue_is_closed(s->queues, *queue)) {
        why->queue = setup->queue[*queue].name;
        return refuse_of_kind(why, SCHED_REASON_CLOSED);
    }
    return 0;
}

/* An estimate is longer than a limit, which the job's queue gives it if the request has none. */
static int refuse_estimate(const sched_t *s, const struct details *d,
                           const struct sched_request *request, struct sched_reason *why)
{
    const struct setup_queue *queue = &s->queues->setup->queue[d->queue];
    why->second = s->queues->setup->second;
    if (request->duration == 0 && d->jobspec->duration == 0) {
        why->queue = queue->name;
        why->limit = (struct sched_reason_limit){
            .what = d->limit < queue->default_limit ? "duration" : "default-limit",
            .most = d->limit};
    }
    return refuse_of_kind(why, SCHED_REASON_ESTIMATE);
}

/* Whether limits take the job, what it is in the ledger, and how long it may last and is expected to. Returns 0, or
 * -1: EINVAL with a reason, ENOMEM.
 */
static int enter_party(sched_t *s, uint32_t slot, const struct sched_request *request,
                       struct sched_reason *why)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    struct sched_reason_limit over;
    int64_t party = limits_party(n->limits, d->queue, d->account, request->user, request->groups,
                                 request->n_groups);
    if (party < 0)
        return -1;
    d->party = (uint32_t)party;
    if (request->duration == 0 && d->jobspec->duration == 0)
        d->limit = lesser(d->limit, limits_longest(n->limits, d->party));
    d->estimate = job->ask.duration = estimate_of(s, request, d->limit, d->queue);
    tails_note(s, d);
    enum sched_reason_kind wrong = times_wrong(d->limit, d->estimate);
    if (wrong == SCHED_REASON_ESTIMATE)
        return refuse_estimate(s, d, request, why);
    if (wrong != SCHED_REASON_NONE)
        return refuse_of_kind(why, wrong);
    if (job_is_within(s, slot, d->limit, &over) && limits_pending(n->limits, d->party, 1, &over))
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
    if (request->min > members_of(s, slot) ||
        (request->max_running > 0 && request->min > request->max_running))
        return refuse_of_kind(why, SCHED_REASON_MIN);
    int rc = find_queue(s, request, spec, &queue, why);
    d->queue = queue == SETUP_NONE ? 0 : queue;
    if (rc < 0)
        return -1;
    job->lane = s->queues->lane_of[d->queue];
    d->limit = limit_of_request(s, request, spec, d->queue);
    job_take_times(s, slot, request);
    if (times_wrong(d->limit, 1) != SCHED_REASON_NONE)
        return refuse_of_kind(why, SCHED_REASON_DURATION);
    if (!key_of(s, slot, request->priority, &job->key) ||
        !order_takes(s->queues->setup, d->queue, request->priority))
        return refuse_priority(s, why);
    if (account_choose(s, slot, request->account, err) < 0 ||
        job_know_ask(s, slot, true, err) < 0) {
        if (errno == ENOMEM)
            return -1;
        *why = unknown_reason(errno, err);
        errno = EINVAL;
        return -1;
    }
    if (enter_party(s, slot, request, why) < 0 ||
        blocks_leave_time(s, slot, time_needed(d), s->now, why) < 0) {
        int saved = errno;
        s->place->ops->forget(s->place, job->ask.class);
        errno = saved;
        return -1;
    }
    key_of(s, slot, request->priority, &job->key); /* its estimate is known by now */
    return job_know_group(s, slot, err);
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

/* What members of an array share: what those that are known of this id do, or else what is new. NULL with ENOMEM. */
static struct members *members_for(sched_t *s, const struct sched_request *request,
                                   const struct depend_members *which, bool joins)
{
    int64_t other = joins ? depend_find_any(s->queues->depend, which->id) : -1;
    struct members *m = other < 0 ? NULL : s->jobs[other].details->of;
    if (m && s->jobs[other].tag == request->tag && m->size == which->size &&
        !(which->waiting && m->entry != JOB_NONE)) {
        if (which->waiting && idset_copy(&m->waiting, which->waiting) < 0)
            return NULL;
        m->records++;
        return m;
    }
    m = members_create(s, request, which->size, which->all, which->waiting);
    if (!m)
        return NULL;
    m->order = request->order ? request->order : s->seq;
    m->is_singleton = depend_is_singleton(request->dependency);
    if (which->waiting && !m->gang && m->is_singleton)
        m->most = 1;
    if (s->seq < m->order + m->size)
        s->seq = m->order + m->size;
    return m;
}

/* The slot that members wait in, or that a member has. */
static void enter_members(sched_t *s, uint32_t slot, const struct depend_members *which)
{
    struct job *job = &s->jobs[slot];
    struct members *m = job->details->of;
    job->details->member = which->waiting ? idset_first(which->waiting) : which->member;
    job->key.seq = m->order + job->details->member;
    if (which->waiting) {
        m->entry = slot;
        m->used = 0;
    }
}

uint32_t job_enter(sched_t *s, const struct sched_request *request,
                   const struct depend_members *which, bool joins, struct shared_text *text)
{
    bool is_array = which->size > 1;
    struct members *of = is_array ? members_for(s, request, which, joins) : NULL;
    if (is_array && !of)
        return JOB_NONE;
    struct details *d = details_new(s->queues, request, of, text);
    if (!d)
        members_leave(s, of);
    uint32_t slot = d ? job_alloc(s) : JOB_NONE;
    if (slot == JOB_NONE) {
        details_free(s, d);
        return JOB_NONE;
    }
    struct job *job = &s->jobs[slot];
    job->details = d;
    job->tag = request->tag;
    job->submitted = request->submitted > 0 ? request->submitted : s->now;
    job->key = (struct queue_key){0, request->order ? request->order : s->seq, 0};
    if (is_array)
        enter_members(s, slot, which);
    else if (job->key.seq >= s->seq)
        s->seq = job->key.seq + 1;
    job->ask = (struct place_ask){.class = PLACE_NO_CLASS};
    job->state = SCHED_BLOCKED;
    job->has_roles = of && of->gang && of->gang->n_roles > 1;
    job->is_preempting = job->is_tried_again = job->is_kept = job->is_claiming = false;
    job->lane = 0;
    details_link(s, slot);
    return slot;
}

/* Whether a member that is to have a slot of its own waits in that of its array. */
static bool waits_together(const struct members *m, const struct depend_members *which)
{
    if (!m || which->waiting || m->entry == JOB_NONE)
        return false;
    struct idset waiting = members_waiting(m);
    return idset_has(&waiting, which->member);
}

/* What those need who depend on a gang whose others go on. */
static void gang_needed(sched_t *s, uint32_t slot, const char *id)
{
    static const struct idset none;
    depend_enough(s->queues->depend, id, gang_of(s, slot)->min);
    gang_see_needed(s, slot, &none);
}

int job_name(sched_t *s, uint32_t slot, const struct sched_request *request,
             const struct depend_members *which, berth_error_t *err)
{
    struct depend *depend = s->queues->depend;
    struct details *d = s->jobs[slot].details;
    const char *name = request->name ? request->name : which->id;
    if (waits_together(d->of, which)) {
        d->is_nameless = true;
        return errtext_set(err, EINVAL, "id %.100s: there is a job with it", which->id);
    }
    int rc = depend_members(depend, slot, which, d->user, name, request->dependency, err);
    d->is_nameless = rc < 0;
    if (rc == 0 && d->of && d->of->gang && d->of->gang->failure != SCHED_FAIL_ALL)
        gang_needed(s, slot, which->id);
    if (rc == 0 || errno != EINVAL)
        return rc;
    /* It is rejected, under its name if it can be had: others may have to do with it. */
    d->is_nameless = depend_members(depend, slot, which, d->user, name, NULL, NULL) < 0;
    errno = EINVAL;
    return -1;
}

/* ---- Which members ---- */

void which_clear(struct which *w)
{
    idset_clear(&w->all);
    idset_clear(&w->waiting);
}

/* A set of members that is not empty. Returns 0, or -1 with EINVAL or ENOMEM. */
static int read_set(struct idset *set, const char *text)
{
    if (idset_decode_steps(set, text, strlen(text), NULL) < 0) {
        errno = errno == ENOMEM ? ENOMEM : EINVAL;
        return -1;
    }
    if (set->n > 0)
        return 0;
    errno = EINVAL;
    return -1;
}

/* Which members of an array exist. */
static int read_existing(struct which *w, const struct sched_request *request)
{
    if (!request->indices)
        return 0;
    if (read_set(&w->all, request->indices) < 0)
        return -1;
    uint64_t size = (uint64_t)idset_last(&w->all) + 1;
    if (request->members > 1 && size > request->members) {
        errno = EINVAL;
        return -1;
    }
    w->members.size = request->members > size ? request->members : (uint32_t)size;
    if (w->all.count < w->members.size)
        w->members.all = &w->all;
    return 0;
}

/* Which of them wait under one handle: pieces of the ranges of all. */
static int read_waiting(struct which *w, const char *text)
{
    struct idset *waiting = &w->waiting;
    int rc = w->members.all ? idset_copy(waiting, &w->all)
                            : idset_add_range(waiting, 0, w->members.size - 1);
    if (rc < 0 || !text)
        return rc;
    struct idset named = {0};
    rc = read_set(&named, text);
    if (rc == 0 && !idset_covers(waiting, &named)) {
        errno = EINVAL;
        rc = -1;
    }
    if (rc == 0)
        rc = idset_intersect(waiting, &named);
    int saved = errno;
    idset_clear(&named);
    errno = saved;
    return rc;
}

int which_read(struct which *w, const struct sched_request *request, const char *id,
               const char *waiting)
{
    *w = (struct which){.members = {.id = id, .size = request->members > 1 ? request->members : 1}};
    int rc = read_existing(w, request);
    if (rc == 0 && w->members.size > 1 && (rc = read_waiting(w, waiting)) == 0)
        w->members.waiting = &w->waiting;
    bool is_wrong = w->members.size == 1 && waiting;
    if (rc == 0 && !is_wrong)
        return 0;
    if (is_wrong)
        errno = EINVAL;
    int saved = errno;
    which_clear(w);
    errno = saved;
    return -1;
}

/* ---- Submissions ---- */

/* Look at a job that is listed: 0 if it waits; -1: EINVAL with a reason, as admit; ENOMEM. */
static int let_in(sched_t *s, uint32_t slot, const struct sched_request *request,
                  const struct depend_members *which, const char *wrong, struct sched_reason *why,
                  berth_error_t *err)
{
    why->kind = SCHED_REASON_REQUEST;
    why->words = err->text;
    if (job_name(s, slot, request, which, err) < 0)
        return -1;
    if (wrong) {
        why->words = wrong;
        return refuse_of_kind(why, SCHED_REASON_JOBSPEC);
    }
    if (gang_of(s, slot) && gang_texts_read(gang_of(s, slot), err) < 0)
        return errno == ENOMEM ? -1 : refuse_of_kind(why, SCHED_REASON_JOBSPEC);
    *why = (struct sched_reason){.kind = SCHED_REASON_NONE};
    return admit(s, slot, request, why, err) < 0 ? -1 : job_take_in(s, slot, request, true);
}

/* Submit a job or an array. Returns its slot, or JOB_NONE with ENOMEM and nothing changed. */
static uint32_t submit_one(sched_t *s, const struct sched_request *request,
                           const struct depend_members *which, const char *wrong,
                           struct shared_text *text)
{
    berth_error_t err = {""};
    struct sched_reason why = {.kind = SCHED_REASON_NONE}, *never;
    uint32_t slot = job_enter(s, request, which, !which->waiting, text);
    if (slot == JOB_NONE)
        return JOB_NONE;
    int rc = let_in(s, slot, request, which, wrong, &why, &err);
    int saved = errno;
    gang_texts_rest(s, slot);
    errno = saved;
    if (rc == 0)
        return slot;
    if (errno == EINVAL && (never = sched_reason_copy(&why))) {
        job_reject(s, slot, never);
        return slot;
    }
    job_forget(s, slot);
    errno = ENOMEM;
    return JOB_NONE;
}

static void take_back_submitted(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->state == SCHED_REJECTED) {
        rejected_unlink(s, slot);
    } else {
        if (job->state == SCHED_WAITING)
            open_remove(s, slot);
        pending_end(s, slot);
        s->queues->stats[job->details->queue].submitted -= members_of(s, slot);
    }
    job_forget(s, slot);
}

/* A request that no scheduler may be given. */
static bool is_wrong(const sched_t *s, int64_t now, const struct sched_request *request)
{
    return !s->queues->setup->is_named || !time_is_good(s, now) || request->duration < 0 ||
           request->estimate < 0 || request->begin < 0 || request->preemptible_after < 0 ||
           request->deadline < 0 || request->submitted < 0 || request->submitted > now ||
           request->order > UINT64_MAX - INT32_MAX;
}

/* The text of a request's jobspec, read, or with what is wrong with it: *wrong. NULL with ENOMEM. */
static struct shared_text *text_of_request(sched_t *s, const struct sched_request *request,
                                           const char **wrong, berth_error_t *err)
{
    struct shared_text *text = shared_text_use(s->queues, request->jobspec,
                                               request->jobspec ? request->jobspec_length : 0);
    if (!text)
        return NULL;
    bool good = request->jobspec && shared_text_read(text, err) == 0;
    *wrong = good ? NULL : err->text;
    if (good || !request->jobspec || errno != ENOMEM)
        return text;
    shared_text_rest(text);
    shared_text_leave(s, text);
    errno = ENOMEM;
    return NULL;
}

/* Returns the slot, or JOB_NONE with errno and nothing changed. */
static uint32_t submit_members(sched_t *s, int64_t now, const struct sched_request *request,
                               const struct depend_members *which)
{
    berth_error_t err = {.text = "a job needs one"};
    const char *wrong;
    struct shared_text *text = text_of_request(s, request, &wrong, &err);
    if (!text)
        return JOB_NONE;
    uint64_t seq = s->seq;
    int64_t before = s->now;
    uint32_t slot =
        core_advance(s, now) == 0 ? submit_one(s, request, which, wrong, text) : JOB_NONE;
    shared_text_rest(text);
    shared_text_leave(s, text);
    if (slot == JOB_NONE) {
        s->now = before;
        s->seq = seq;
        return JOB_NONE;
    }
    s->queues->events++;
    controllers_resolve_all(s);
    return slot;
}

/* What a request is called. */
static const char *id_of(const struct sched_request *request, char number[24])
{
    snprintf(number, 24, "%llu", (unsigned long long)request->tag);
    return request->id ? request->id : number;
}

sched_job_t queues_submit(sched_t *s, int64_t now, const struct sched_request *request)
{
    char number[24];
    struct which which;
    struct sched_request meant;
    if (is_wrong(s, now, request)) {
        errno = EINVAL;
        return -1;
    }
    if (gang_roles_read(request, &meant) < 0 ||
        which_read(&which, &meant, id_of(request, number), NULL) < 0)
        return -1;
    uint32_t slot = submit_members(s, now, &meant, &which.members);
    int saved = errno;
    which_clear(&which);
    errno = saved;
    return slot == JOB_NONE ? -1 : job_handle(s, slot);
}

int sched_withdraw(sched_t *s, int64_t now, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot == JOB_NONE || !time_is_good(s, now) || s->jobs[slot].state == SCHED_RESERVED ||
        s->jobs[slot].state == SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    take_back_submitted(s, slot);
    controllers_resolve_all(s);
    return core_event(s, now);
}
