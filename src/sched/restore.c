/* Jobs that others have kept (record.c), taken up again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/kept.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/queues.h"
#include "sched/record_stopped.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/usage_kept.h"

/* What a text says, cut as such texts are, in memory that holds the text. */
static struct sched_reason reason_read(const sched_t *s, const char *from,
                                       char text[SCHED_REASON_TEXT])
{
    struct sched_reason reason;
    snprintf(text, SCHED_REASON_TEXT, "%s", from ? from : "");
    sched_reason_read(&reason, text, s->queues->setup->second);
    return reason;
}

/* Why a holder stands beside the depth of its lane, if it does. Returns 0, or -1 with ENOMEM. */
static int take_up_kept(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    struct details *d = s->jobs[slot].details;
    char text[SCHED_REASON_TEXT];
    struct sched_reason reason = reason_read(s, r->limit, text);
    s->jobs[slot].is_kept = d->is_relieved = reason.kind == SCHED_REASON_STARVING;
    d->keeper = NO_CALENDAR;
    if (reason.kind != SCHED_REASON_LIMIT)
        return 0;
    if (limit_keep(s, slot, &reason.limit) < 0)
        return -1;
    d->keeper = limits_calendar(s->queues->limits, d->party, &d->over);
    s->jobs[slot].is_kept = true;
    return 0;
}

/* Book what a record says that a job has. Returns the booking, or -1 with a text. */
static int64_t adopt(sched_t *s, const struct sched_record *r, int64_t until, berth_error_t *err)
{
    const struct place_ops *ops = s->place->ops;
    bool reserved = r->claim || r->state == SCHED_RESERVED;
    bool any = !r->claim && claims_lift(s, CLAIMS_ALL, JOB_NONE); /* they may lie over it */
    if (r->claim)
        claims_begin(s);
    int64_t booking = ops->adopt(s->place, r->format ? r->format : "jgf", r->resources,
                                 r->resources_length, r->at, until, reserved, err);
    int saved = errno;
    if (r->claim)
        claims_end(s, booking);
    if (any)
        claims_lay(s);
    errno = saved;
    return booking;
}

/* Take up what a job was given. Returns 0, or -1 with a text. */
static int take_up(sched_t *s, uint32_t slot, const struct sched_record *r, berth_error_t *err)
{
    struct job *job = &s->jobs[slot];
    bool reserved = r->claim || r->state == SCHED_RESERVED;
    if (controllers_prepare(s, slot) < 0)
        return errtext_no_memory(err);
    int64_t until = r->until < INT64_MAX ? r->until : r->at + s->place->endless;
    if ((!r->resources && r->state != SCHED_RUNNING) || until <= r->at)
        return errtext_set(err, EINVAL, "expected what it holds, from when until when");
    int64_t booking = adopt(s, r, until, err);
    if (booking < 0)
        return -1;
    job->is_kept = r->claim;
    if (controllers_enter(s, slot, booking, r->at, until) < 0 ||
        (reserved && !r->claim && take_up_kept(s, slot, r) < 0) ||
        (reserved &&
         (open_insert(s, slot, false) < 0 || held_insert(s, slot, r->at, booking) < 0)) ||
        (r->claim && claim_restored(s, slot) < 0) || stopped_note(s, slot, r) < 0) {
        if (job->state == SCHED_WAITING)
            open_remove(s, slot);
        job->state = SCHED_BLOCKED;
        job->is_kept = job->details->is_relieved = false;
        controllers_uncount(s, slot, booking);
        s->place->ops->release(s->place, booking);
        return errtext_no_memory(err);
    }
    s->booked++;
    job->booking = booking;
    job->at = r->at;
    pending_begin(s, slot);
    job->details->is_promise_told = reserved && !r->claim && !r->preempts;
    if (r->claim)
        return 0;
    job->details->is_expected = job->details->is_expected_told = reserved && r->expected;
    job->details->waits = reserved && r->waits;
    if (reserved) {
        if (job->details->is_relieved)
            starving_relieved(s, slot);
        else if (job->is_kept)
            kept_enter(s, slot);
        if (r->seen)
            held_seen(s, job);
        else
            held_unseen(s, job);
        if (r->preempts)
            preempting_restored(s, slot);
        return 0;
    }
    job->state = SCHED_RUNNING;
    if (s->queues->shares)
        shares_started(s, slot);
    job->ask.duration = until - r->at;
    job->details->is_stopping = r->stopping;
    job->details->is_dismissed = r->dismissed;
    job->details->is_cleared = r->cleared;
    job->details->is_leaving = r->leaving;
    s->running++;
    controllers_started(s, slot, r->how);
    if (r->stopping)
        gang_stops(s, slot);
    if (r->n_awaited_by > 0)
        stopped_resolve(s);
    return 0;
}

/* A restored job is told why it waits only if it was to be told before; so are those that it goes before. The first so many
 * are listed already.
 */
static void tell_restored(sched_t *s, uint32_t slot, size_t listed, const struct sched_record *r)
{
    bool untold = r->untold || !r->reason || !*r->reason;
    bool is_listed = s->jobs[slot].details->is_untold;
    tell_forget(s, listed);
    if (untold && is_listed)
        tell_later(s, slot); /* there is memory for it */
}

/* The limit for which a job is blocked, if the text tells of one. Returns 0, or -1 with ENOMEM. */
static int restore_limit(sched_t *s, uint32_t slot, const char *told, bool *known)
{
    char text[SCHED_REASON_TEXT];
    struct sched_reason reason = reason_read(s, told, text);
    *known = reason.kind == SCHED_REASON_LIMIT && reason.limit.whose != SCHED_OF_ARRAY;
    return *known ? limit_keep(s, slot, &reason.limit) : 0;
}

static int restore_rejected(sched_t *s, uint32_t slot, const char *told)
{
    char text[SCHED_REASON_TEXT];
    struct sched_reason reason = reason_read(s, told, text), *never = sched_reason_copy(&reason);
    if (!never)
        return -1;
    job_reject(s, slot, never);
    return 0;
}

/* A job that was displaced is so again, and new if something had come back. */
static void restore_displaced(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    if (!r->displaced)
        return;
    displaced_begin(s, slot, r->promised);
    if (r->fresh && s->jobs[slot].state == SCHED_RESERVED && open_renew(s, slot) < 0)
        displaced_return(s);
}

/* Whether a text tells of an array of which as many members hold something as may. */
static bool is_of_array(const sched_t *s, const char *told)
{
    char text[SCHED_REASON_TEXT];
    struct sched_reason reason = reason_read(s, told, text);
    return reason.kind == SCHED_REASON_LIMIT && reason.limit.whose == SCHED_OF_ARRAY;
}

/* The roles that a reason names are the gang's own: it outlives the text that it was read from. */
static void keep_roles(const struct gang *gang, struct sched_reason *why)
{
    size_t n = 0;
    for (size_t i = 0; i < why->n_roles; i++)
        for (uint32_t k = 0; k < gang->n_roles; k++)
            if (gang->role[k].name && strcmp(gang->role[k].name, why->role[i].name) == 0) {
                why->role[n] = why->role[i];
                why->role[n++].name = gang->role[k].name;
                break;
            }
    why->n_roles = n;
}

/* Whether a member of a gang that is down waits for the whole: it is not blocked, or by limits. */
static bool leads(const sched_t *s, const struct sched_record *r)
{
    char text[SCHED_REASON_TEXT];
    return r->state == SCHED_WAITING || r->state == SCHED_RESERVED ||
           (r->state == SCHED_BLOCKED && !r->held &&
            reason_read(s, r->reason, text).kind == SCHED_REASON_LIMIT);
}

/* What is known of a job's gang from elsewhere than from its members. */
static void restore_gang(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    struct gang *gang = gang_of(s, slot);
    char text[SCHED_REASON_TEXT];
    if (!gang)
        return;
    gang->done = r->succeeded;
    gang->role[0].done = r->succeeded;
    for (uint32_t i = 0; gang->n_roles > 1 && i < gang->n_roles; i++)
        gang->role[i].done = r->role_succeeded[i];
    gang->replaced = r->replaced;
    gang->was_up = r->gang_up;
    if (!r->gang_up && leads(s, r))
        gang->leader = slot;
    gang_due(s, gang);
    gang->is_over = r->gang_over != NULL;
    if (gang->is_over)
        gang->why = reason_read(s, r->gang_over, text);
    keep_roles(gang, &gang->why);
    if (gang->why.kind == SCHED_REASON_REQUEST) /* it has words of others */
        gang->why = (struct sched_reason){.kind = SCHED_REASON_GANG_LEFT};
}

/* A job waited for its begin time, which has passed since: the next pass lets it go on. Returns 0, or -1 with ENOMEM. */
static int restore_begin(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (heap_put(&s->queues->begins, slot, job->details->begin, job->key.seq) < 0)
        return -1;
    job_block(s, slot, BLOCK_BEGIN);
    return 0;
}

/* An open job was blocked, by nothing that it says of itself. Returns 0, or -1 with ENOMEM. */
static int restore_blocked(sched_t *s, uint32_t slot, const struct sched_record *r)
{
    struct details *d = s->jobs[slot].details;
    bool known = false;
    char text[SCHED_REASON_TEXT];
    enum sched_reason_kind why = reason_read(s, r->reason, text).kind;
    if (why == SCHED_REASON_BEGIN && d->begin > 0)
        return restore_begin(s, slot);
    if (gang_of(s, slot) && why == SCHED_REASON_GANG_WAITS) {
        job_block(s, slot, BLOCK_GANG);
        gang_due(s, gang_of(s, slot));
        return 0;
    }
    if (gang_of(s, slot) && gang_of(s, slot)->array && is_of_array(s, r->reason)) {
        job_block(s, slot, BLOCK_TURN); /* the gang is due */
        return 0;
    }
    if (d->of && is_of_array(s, r->reason)) {
        s->queues->recheck_full = true;
        return array_block(s, slot);
    }
    if (restore_limit(s, slot, r->reason, &known) < 0 || limit_block(s, slot) < 0)
        return -1;
    d->limited = r->fresh || !known ? -1 : 0;
    s->queues->recheck_limited = s->queues->seeks_for_limited = true;
    return 0;
}

static void restore_times(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    struct details *d = s->jobs[slot].details;
    int64_t estimate = request->estimate != 0 ? request->estimate : request->duration;
    d->limit = request->duration;
    d->estimate = estimate_meant(s, estimate, d->limit);
    s->jobs[slot].ask.duration = d->estimate;
    tails_note(s, d);
}

/* All but what it holds. Returns 0, or -1 with a text. */
static int restore_job(sched_t *s, uint32_t slot, const struct sched_record *r, berth_error_t *err)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    berth_error_t why = {"out of memory"};
    restore_gang(s, slot, r);
    d->queue = setup_find(n->setup, r->request.queue ? r->request.queue : "");
    if (d->queue == SETUP_NONE)
        return errtext_set(err, EINVAL, "no such queue: %.100s",
                           r->request.queue ? r->request.queue : "");
    job->lane = n->lane_of[d->queue];
    if (account_keep(s, slot, r->request.account, err) < 0)
        return -1;
    restore_times(s, slot, &r->request);
    job->submitted = r->submitted;
    job_take_times(s, slot, &r->request);
    if (times_wrong(d->limit, d->estimate) != SCHED_REASON_NONE || r->at > QUEUES_TIME_MAX ||
        (r->until > 2 * QUEUES_TIME_MAX && r->until < INT64_MAX) ||
        (r->displaced && (r->promised < 0 || r->promised > 2 * QUEUES_TIME_MAX)) ||
        !key_of(s, slot, r->request.priority, &job->key))
        return errtext_set(err, EINVAL, "duration, priority or a time out of range");
    if (job_know(s, slot, false, &why) < 0)
        return errtext_set(err, errno, "%s", why.text);
    int64_t party = limits_party(n->limits, d->queue, d->account, d->user, r->request.groups,
                                 r->request.n_groups);
    if (party < 0)
        return errtext_no_memory(err);
    d->party = (uint32_t)party;
    if (r->state == SCHED_RUNNING || r->state == SCHED_RESERVED || r->claim)
        return take_up(s, slot, r, err);
    struct sched_request request = r->request;
    request.hold = r->held;
    if (job_take_in(s, slot, &request, r->fresh && r->state != SCHED_BLOCKED) < 0)
        return errtext_no_memory(err);
    if (d->blocked & GANG_AWAY && gang_of(s, slot) && gang_waits_whole(gang_of(s, slot)))
        job_block(s, slot, BLOCK_GANG); /* and it waits for its gang besides */
    if (r->state != SCHED_BLOCKED || d->blocked != 0)
        return 0;
    if (restore_blocked(s, slot, r) == 0)
        return 0;
    open_remove(s, slot);
    pending_end(s, slot);
    return errtext_no_memory(err);
}

/* All of a job that is listed. Returns 0, or -1 with a text. */
static int restore_slot(sched_t *s, uint32_t slot, const struct sched_record *r,
                        const struct depend_members *which, berth_error_t *err)
{
    char *told = s->jobs[slot].details->told;
    berth_error_t why = {"out of memory"};
    int rc = job_name(s, slot, &r->request, which, &why);
    if (r->state == SCHED_REJECTED && (rc == 0 || errno == EINVAL))
        return restore_rejected(s, slot, r->reason) < 0 ? errtext_no_memory(err) : 0;
    if (rc < 0)
        return errtext_set(err, errno, "%s", why.text);
    if (restore_job(s, slot, r, err) < 0)
        return -1;
    s->jobs[slot].details->since = r->since > 0 ? r->since : r->submitted;
    restore_displaced(s, slot, r);
    if (r->reason)
        snprintf(told, SCHED_REASON_TEXT, "%s", r->reason);
    return 0;
}

static sched_job_t restore(sched_t *s, int64_t now, const struct sched_record *r,
                           const struct depend_members *which, berth_error_t *err)
{
    bool rejected = r->state == SCHED_REJECTED; /* perhaps for its jobspec */
    struct shared_text *text =
        shared_text_use(s->queues, r->request.jobspec, r->request.jobspec_length);
    bool good = text && (rejected || shared_text_read(text, err) == 0);
    uint32_t slot = good ? job_enter(s, &r->request, which, true, text) : JOB_NONE;
    size_t untold = s->queues->n_untold;
    int rc = -1;
    s->now = now;
    s->swept = true; /* the other scheduler has done that */
    if (slot != JOB_NONE) {
        rc = restore_slot(s, slot, r, which, err);
        gang_texts_rest(s, slot);
        if (rc < 0)
            job_forget(s, slot);
        if (rc == 0)
            tell_restored(s, slot, untold, r);
    } else if (!text || good) {
        errtext_no_memory(err);
    }
    int saved = errno;
    if (text)
        shared_text_rest(text);
    shared_text_leave(s, text);
    errno = saved;
    if (rc < 0)
        return -1;
    never_note(s, slot);
    s->queues->events = 0; /* what was told before was so when the job was looked at */
    return job_handle(s, slot);
}

/* Restore a job whose request says all that follows from its roles. */
static sched_job_t restore_meant(sched_t *s, int64_t now, const struct sched_record *r,
                                 berth_error_t *err)
{
    if (!s->queues->setup->is_named || !time_is_good(s, now) || !r->request.jobspec ||
        !r->request.id) {
        errtext_set(err, EINVAL, "expected a job's id and jobspec");
        return -1;
    }
    struct which which;
    if (which_read(&which, &r->request, r->request.id, r->waiting) < 0) {
        errtext_set(err, errno,
                    errno == ENOMEM ? "out of memory" : "expected members of the array");
        return -1;
    }
    if (!r->waiting)
        which.members.waiting = NULL;
    which.members.member = r->member;
    sched_job_t job = restore(s, now, r, &which.members, err);
    int saved = errno;
    which_clear(&which);
    errno = saved;
    return job;
}

sched_job_t sched_restore(sched_t *s, int64_t now, const struct sched_record *r, berth_error_t *err)
{
    struct sched_record meant = *r;
    if (gang_roles_read(&r->request, &meant.request) < 0) {
        errtext_set(err, EINVAL, "expected roles of a gang");
        return -1;
    }
    return restore_meant(s, now, &meant, err);
}

int sched_restore_ended(sched_t *s, const char *id, uint32_t member, uint32_t members, bool ok)
{
    struct depend_outcome outcome = {id, member, members > 1 ? members : 1, ok};
    return depend_outcome_of(s->queues->depend, &outcome);
}

/* The members that a text names: pieces of the ranges of all. Returns 0, or -1 with errno. */
static int read_members(struct idset *members, const char *text, const struct idset *all)
{
    if (idset_decode_steps(members, text, strlen(text), NULL) == 0) {
        if (idset_covers(all, members))
            return idset_pick(members, all);
        errno = EINVAL;
    }
    return -1;
}

int sched_restore_ended_members(sched_t *s, const struct sched_ended *e)
{
    struct idset all = {0}, ok = {0}, failed = {0};
    struct depend_outcomes outcomes = {.id = e->id,
                                       .size = e->members,
                                       .all = e->indices ? &all : NULL,
                                       .ok = &ok,
                                       .badly = &failed};
    int rc = e->indices ? idset_decode_steps(&all, e->indices, strlen(e->indices), NULL)
                        : idset_add_range(&all, 0, e->members - (e->members > 0));
    if (rc == 0)
        rc = read_members(&ok, e->ok, &all);
    if (rc == 0)
        rc = read_members(&failed, e->failed, &all);
    if (rc == 0)
        rc = depend_outcomes(s->queues->depend, &outcomes);
    else if (errno != ENOMEM)
        errno = EINVAL;
    int saved = errno;
    idset_clear(&all);
    idset_clear(&ok);
    idset_clear(&failed);
    errno = saved;
    return rc;
}

void sched_restore_enough(sched_t *s, const char *id, uint32_t enough)
{
    depend_enough(s->queues->depend, id, enough);
}

int sched_restore_hints(sched_t *s, const char *text, size_t length, berth_error_t *err)
{
    return s->place->ops->take_hints(s->place, text, length, err);
}
