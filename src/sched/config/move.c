/* A waiting job goes to another queue, asks for something else, or is charged to another account. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "sched/config/known.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

struct known job_known(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    const struct shares *shares = s->queues->shares;
    bool has_leaf = shares && slot < shares->cap_jobs; /* else these are new, and it has none yet */
    return (struct known){.job = s->jobs[slot],
                          .queue = d->queue,
                          .party = d->party,
                          .job_group = d->job_group,
                          .account = d->account,
                          .leaf = has_leaf ? shares->job[slot].leaf : 0,
                          .is_counted = d->is_counted,
                          .is_open = d->is_open,
                          .keeper = d->keeper,
                          .shared = d->shared};
}

void job_known_restore(sched_t *s, uint32_t slot, const struct known *k)
{
    struct details *d = s->jobs[slot].details;
    s->jobs[slot] = k->job;
    d->queue = k->queue;
    d->party = k->party;
    d->job_group = k->job_group;
    d->account = k->account;
    if (s->queues->shares && slot < s->queues->shares->cap_jobs)
        s->queues->shares->job[slot].leaf = k->leaf;
}

int job_know_in(sched_t *s, uint32_t slot, uint32_t queue, bool refuse, berth_error_t *err)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    berth_error_t why = {"out of memory"};
    const char *name = n->setup->queue[queue].name;
    d->job_group = JOB_GROUP_NONE;
    d->queue = queue;
    job->lane = n->lane_of[queue];
    if (account_keep(s, slot, d->account, err) < 0)
        return -1;
    int64_t party = limits_party(n->limits, queue, d->account, d->user, d->groups, d->n_groups);
    if (party < 0)
        return errtext_no_memory(err);
    d->party = (uint32_t)party;
    struct priorities room = order_priorities(n->setup);
    if (!key_of(s, slot, d->priority, &job->key) || !order_takes(n->setup, queue, d->priority))
        return errtext_set(err, EINVAL,
                           "job %.60s in queue %.60s: priority %" PRId64 " is not within %" PRId64
                           " to %" PRId64,
                           depend_id(n->depend, slot), name, d->priority, room.least, room.most);
    int rc = job_know_ask(s, slot, refuse, &why);
    int saved = errno;
    gang_texts_rest(s, slot);
    if (rc == 0)
        return 0;
    struct sched_reason unknown = unknown_reason(saved, &why);
    char text[SCHED_REASON_TEXT];
    return errtext_set(err, saved == ENODEV ? EINVAL : saved, "job %.60s in queue %.60s: %.100s",
                       depend_id(n->depend, slot), name, sched_reason_text(&unknown, text));
}

/* A job's group and class are no longer its own. */
static void job_unknow(sched_t *s, struct job_groups *groups, uint32_t group, uint32_t class)
{
    job_group_leave(groups, group);
    s->place->ops->forget(s->place, class);
}

/* Whether limits and blocks take a job as it is now. Among those that its party of before counts as pending it is no new one.
 * Returns 0, or -1 with a text.
 */
static int queue_takes(sched_t *s, int64_t now, uint32_t slot, uint32_t was, berth_error_t *err)
{
    const struct details *d = s->jobs[slot].details;
    struct sched_reason_limit over;
    struct sched_reason why;
    if (!job_is_within(s, slot, d->limit, &over) ||
        (d->party != was && !limits_pending(s->queues->limits, d->party, 1, &over)))
        return refuse_limit(s, &over, err);
    int rc = blocks_leave_time(s, slot, time_needed(d), now, &why);
    if (rc < 0 && errno == EINVAL)
        return refuse_call(&why, err);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

/* The group of a job that a queue takes, for which there is room then. Returns 0, or -1 with a text and the ask is forgotten. */
static int enter_group(sched_t *s, uint32_t slot, berth_error_t *err)
{
    const struct job *job = &s->jobs[slot];
    if (job_know_group(s, slot, err) < 0)
        return -1;
    if (job->state == SCHED_BLOCKED || open_reserve(s, slot) == 0)
        return 0;
    job_unknow(s, &s->queues->job_groups, job->details->job_group, job->ask.class);
    return errtext_no_memory(err);
}

/* What a waiting job is to have from now on. */
struct becomes {
    uint32_t queue;
    struct shared_text *text; /* its jobspec; NULL: its own */
    const char *account;      /* interned; NULL: its own */
};

/* What a waiting job will be in a queue, which would take it. It has all that, and its old group still, but is in no other
 * lane yet. Returns 0, or -1 with a text and nothing changed.
 */
static int queue_change(sched_t *s, int64_t now, uint32_t slot, const struct becomes *to,
                        berth_error_t *err)
{
    struct known was = job_known(s, slot);
    struct shared_text *own = s->jobs[slot].details->jobspec;
    uint32_t party = s->jobs[slot].details->party;
    pending_end(s, slot);
    if (to->text)
        s->jobs[slot].details->jobspec = to->text;
    if (to->account)
        s->jobs[slot].details->account = to->account;
    int rc = job_know_in(s, slot, to->queue, true, err);
    int saved = errno;
    if (rc == 0 && (rc = queue_takes(s, now, slot, party, err)) < 0) {
        saved = errno;
        s->place->ops->forget(s->place, s->jobs[slot].ask.class);
    } else if (rc == 0 && (rc = enter_group(s, slot, err)) < 0) {
        saved = errno;
    }
    if (rc < 0) {
        job_known_restore(s, slot, &was);
        s->jobs[slot].details->jobspec = own;
    }
    pending_begin(s, slot);
    errno = saved;
    return rc;
}

/* A job goes from where it waits to where it is as `new`, for which there is room. */
static void queue_move(sched_t *s, uint32_t slot, const struct known *was, const struct known *new)
{
    job_known_restore(s, slot, was);
    if (was->job.state == SCHED_WAITING)
        open_remove(s, slot);
    else if (was->job.state == SCHED_RESERVED)
        held_release(s, slot);
    s->swept &= was->job.state != SCHED_RESERVED;
    job_unknow(s, &s->queues->job_groups, was->job_group, was->job.ask.class);
    job_known_restore(s, slot, new);
    s->jobs[slot].is_preempting = s->jobs[slot].is_kept = s->jobs[slot].is_claiming = false;
    s->jobs[slot].ask.duration = s->jobs[slot].details->estimate;
    if (was->job.state != SCHED_BLOCKED)
        open_insert(s, slot, true);
}

/* A waiting job becomes that. Returns 0, or -1 with a text and nothing changed. */
static int queue_enter(sched_t *s, int64_t now, uint32_t slot, const struct becomes *to,
                       berth_error_t *err)
{
    struct details *d = s->jobs[slot].details;
    struct known was = job_known(s, slot);
    if (queue_change(s, now, slot, to, err) < 0)
        return -1;
    struct known new = job_known(s, slot);
    queue_move(s, slot, &was, &new);
    s->woken = true;
    s->queues->recheck_limited |=
        (d->blocked & BLOCK_LIMIT) != 0; /* in the queue that it was in, or as it was */
    d->limited = -1;
    class_order_changed(s, slot);
    tell_later(s, slot);
    return 0;
}

uint32_t job_waiting(const sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    bool waits = slot != JOB_NONE && time_is_good(s, now) && s->jobs[slot].state != SCHED_RUNNING &&
                 s->jobs[slot].state != SCHED_REJECTED;
    return waits ? slot : JOB_NONE;
}

int sched_set_queue(sched_t *s, int64_t now, sched_job_t handle, const char *name,
                    berth_error_t *err)
{
    uint32_t slot = job_waiting(s, now, handle);
    if (slot == JOB_NONE)
        return errtext_set(err, EINVAL, "no such job waits");
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    uint32_t queue = setup_find(n->setup, name);
    if (queue == SETUP_NONE)
        return errtext_set(err, ENOENT, "no such queue: %.200s", name);
    struct sched_reason why = {.queue = n->setup->queue[queue].name, .user = d->user};
    if (!setup_admits(n->setup, queue, d->user, d->groups, d->n_groups))
        why.kind = SCHED_REASON_NOT_ADMITTED;
    else if (queue_is_closed(n, queue))
        why.kind = SCHED_REASON_CLOSED;
    if (why.kind != SCHED_REASON_NONE)
        return refuse_call(&why, err);
    if (queue_enter(s, now, slot, &(struct becomes){.queue = queue}, err) < 0)
        return -1;
    d->is_starving = false; /* there it may be so from another time on */
    starving_resume(s, slot);
    return core_event(s, now);
}

int sched_set_jobspec(sched_t *s, int64_t now, sched_job_t handle, const char *jobspec,
                      size_t length, berth_error_t *err)
{
    uint32_t slot = job_waiting(s, now, handle);
    if (slot == JOB_NONE)
        return errtext_set(err, EINVAL, "no such job waits");
    struct details *d = s->jobs[slot].details;
    if (gang_of(s, slot))
        return errtext_set(err, EINVAL, "what the members of a gang ask for stays");
    struct shared_text *own = d->jobspec, *text = shared_text_use(s->queues, jobspec, length);
    if (!text)
        return errtext_no_memory(err);
    int rc = shared_text_read(text, err);
    if (rc < 0 && errno != ENOMEM)
        errno = EINVAL;
    if (rc == 0)
        rc = queue_enter(s, now, slot, &(struct becomes){.queue = d->queue, .text = text}, err);
    int saved = errno;
    shared_text_rest(text);
    shared_text_leave(s, rc < 0 ? text : own);
    errno = saved;
    return rc < 0 ? -1 : core_event(s, now);
}

int sched_set_account(sched_t *s, int64_t now, sched_job_t handle, const char *account,
                      berth_error_t *err)
{
    uint32_t slot = job_waiting(s, now, handle), number;
    if (slot == JOB_NONE)
        return errtext_set(err, EINVAL, "no such job waits");
    const struct setup_accounts *accounts = &s->queues->setup->accounts;
    const struct details *d = s->jobs[slot].details;
    if (gang_of(s, slot))
        return errtext_set(err, EINVAL, "what a gang is charged to stays");
    if (setup_account_choose(accounts, account, d->user, &number, err) < 0)
        return -1;
    const char *name =
        number == SETUP_NONE ? NULL : queues_text(s->queues, intern_text(&accounts->names, number));
    if (number != SETUP_NONE && !name)
        return errtext_no_memory(err);
    bool other = name && !(d->account && strcmp(name, d->account) == 0);
    if (other &&
        queue_enter(s, now, slot, &(struct becomes){.queue = d->queue, .account = name}, err) < 0)
        return -1;
    return core_event(s, now);
}
