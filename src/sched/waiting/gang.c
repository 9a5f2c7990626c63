#include "sched/waiting/gang.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "sched/controllers/ask.h"
#include "sched/reason_copy.h"

struct gang *gang_create(const struct sched_request *request)
{
    struct gang *gang = malloc(sizeof(*gang));
    if (!gang)
        return NULL;
    *gang = (struct gang){.min = request->min,
                          .failure = request->failure,
                          .first = JOB_NONE,
                          .last = JOB_NONE,
                          .leader = JOB_NONE};
    return gang;
}

static void leave_due(struct gang *gang)
{
    if (!gang->link)
        return;
    *gang->link = gang->next;
    if (gang->next)
        gang->next->link = gang->link;
    gang->link = NULL;
}

void gang_destroy(struct gang *gang)
{
    if (!gang)
        return;
    leave_due(gang);
    free(gang);
}

void gang_due(sched_t *s, struct gang *gang)
{
    if (gang->link)
        return;
    gang->next = s->queues->due_gangs;
    gang->link = &s->queues->due_gangs;
    if (gang->next)
        gang->next->link = &gang->next;
    s->queues->due_gangs = gang;
}

/* A slot stands by its member, or its first one; of equal ones the one that came last is the first. */
void gang_link(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    struct details *d = s->jobs[slot].details;
    if (!gang)
        return;
    uint32_t before = gang->last;
    while (before != JOB_NONE && s->jobs[before].details->member >= d->member)
        before = s->jobs[before].details->gang_before;
    d->gang_before = before;
    d->gang_behind = before == JOB_NONE ? gang->first : s->jobs[before].details->gang_behind;
    *(before == JOB_NONE ? &gang->first : &s->jobs[before].details->gang_behind) = slot;
    *(d->gang_behind == JOB_NONE ? &gang->last : &s->jobs[d->gang_behind].details->gang_before) =
        slot;
}

static void unlink_slot(sched_t *s, const struct details *d, struct gang *gang)
{
    *(d->gang_before == JOB_NONE ? &gang->first : &s->jobs[d->gang_before].details->gang_behind) =
        d->gang_behind;
    *(d->gang_behind == JOB_NONE ? &gang->last : &s->jobs[d->gang_behind].details->gang_before) =
        d->gang_before;
}

void gang_unlink(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (!gang)
        return;
    unlink_slot(s, s->jobs[slot].details, gang);
    if (gang->leader == slot)
        gang->leader = JOB_NONE;
}

void gang_relink(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (!gang)
        return;
    unlink_slot(s, s->jobs[slot].details, gang);
    gang_link(s, slot);
}

/* ---- What they ask for ---- */

static bool is_leader(const sched_t *s, uint32_t slot)
{
    const struct members *m = s->jobs[slot].details->of;
    return m->entry == JOB_NONE ? m->gang->leader == slot : m->entry == slot;
}

int gang_gather(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err)
{
    const struct gang *gang = gang_of(s, slot);
    struct place_ask *ask = &s->jobs[slot].ask;
    if (!gang || gang_need(gang) < 2 || !is_leader(s, slot))
        return 0;
    struct place_role role = {ask->class, gang_need(gang)};
    int rc =
        s->place->ops->gather(s->place, &role, 1, ask->part, refuse, &ask->class, &ask->units, err);
    int saved = errno;
    s->place->ops->forget(s->place, role.class);
    errno = saved;
    return rc;
}

int gang_know_one(sched_t *s, uint32_t slot, struct place_ask *ask, uint32_t *group)
{
    const struct job *job = &s->jobs[slot];
    struct place_ask one = job->ask;
    int rc =
        shared_text_know(s, job->details->jobspec, one.part, false, &one.class, &one.units, NULL);
    shared_text_rest(job->details->jobspec);
    if (rc < 0)
        return -1;
    int64_t of = job_group_enter(s, &one, job->lane, line_number(s, slot));
    if (of < 0) {
        s->place->ops->forget(s->place, one.class);
        errno = ENOMEM;
        return -1;
    }
    *ask = one;
    *group = (uint32_t)of;
    return 0;
}

void gang_forget(sched_t *s, const struct place_ask *ask, uint32_t group)
{
    job_group_leave(s, &s->queues->job_groups, group);
    s->place->ops->forget(s->place, ask->class);
}

void gang_ask(sched_t *s, uint32_t slot, const struct place_ask *ask, uint32_t group)
{
    struct job *job = &s->jobs[slot];
    gang_forget(s, &job->ask, job->details->job_group);
    job->ask.class = ask->class;
    job->ask.units = ask->units;
    job->details->job_group = group;
}

/* A blocked job asks for what it should by now: one member, or the whole. Returns 0, or -1 with ENOMEM. */
static int ask_again(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct place_ask was = job->ask;
    uint32_t group = job->details->job_group;
    berth_error_t err;
    int rc = job_know(s, slot, false, &err);
    shared_text_rest(job->details->jobspec);
    if (rc < 0) {
        job->ask = was;
        job->details->job_group = group;
        errno = ENOMEM;
        return -1;
    }
    gang_forget(s, &was, group);
    return 0;
}

bool gang_spares(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    if (!gang || gang->min < 2)
        return true;
    int64_t more = (int64_t)gang->running + gang->done - gang->min;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        more -= s->jobs[i].details->is_in_gang && s->jobs[i].details->is_stopping;
    for (uint32_t i = gang->last; i != JOB_NONE && more > 0; i = s->jobs[i].details->gang_before) {
        const struct details *d = s->jobs[i].details;
        if (i == slot)
            return true;
        more -= d->is_in_gang && !d->is_stopping;
    }
    return false;
}

void gang_stops(sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    struct details *d = s->jobs[slot].details;
    if (!gang || !d->is_in_gang || d->leaves_gang)
        return;
    d->leaves_gang = true;
    gang->stopping++;
    if (gang_leaves(gang))
        gang_due(s, gang);
}

bool gang_lacks(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    if (!gang || gang_asks_whole(s, slot))
        return true;
    uint32_t have = gang->running - gang->stopping + gang->done;
    if (have >= gang->min)
        return false;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        have += i != slot && s->jobs[i].state == SCHED_RESERVED && s->jobs[i].is_preempting;
    return have < gang->min;
}

/* ---- Its state ---- */

static bool waits(const struct job *job)
{
    return job->state == SCHED_WAITING || job->state == SCHED_RESERVED ||
           job->state == SCHED_BLOCKED;
}

/* Members that wait; `free`: for nothing but their gang and resources. */
static uint64_t count_waiting(const sched_t *s, const struct gang *gang, bool free)
{
    uint64_t n = 0;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (waits(&s->jobs[i]) && !(free && s->jobs[i].details->blocked & GANG_AWAY))
            n += members_of(s, i);
    return n;
}

/* Tell the shell to stop a member that runs. Returns 0, or -1 with ENOMEM. */
static int dismiss(sched_t *s, uint32_t slot, const struct gang *gang)
{
    struct details *d = s->jobs[slot].details;
    if (d->is_dismissed || d->is_stopping || d->is_cleared)
        return 0;
    const struct sched_reason *told = told_reason(s->queues, &gang->why);
    if (!told || decision_reserve(s) < 0)
        return -1;
    d->is_dismissed = true;
    decision_add(s, SCHED_STOP, slot, s->now, told);
    return 0;
}

/* Nobody of it goes on. Returns 0, or -1 with ENOMEM. */
static int end_all(sched_t *s, const struct gang *gang)
{
    for (uint32_t i = gang->first, next; i != JOB_NONE; i = next) {
        const struct job *job = &s->jobs[i];
        next = job->details->gang_behind;
        if (job->state == SCHED_RUNNING && dismiss(s, i, gang) < 0)
            return -1;
        if (!waits(job))
            continue;
        struct sched_reason *never = sched_reason_copy(&gang->why);
        if (!never)
            return -1;
        job_block(s, i, BLOCK_GANG);
        job_reject(s, i, never);
    }
    return 0;
}

/* A member waits for itself, as others of its gang run, or for these. Returns 0, or -1 with ENOMEM. */
static int settle_member(sched_t *s, uint32_t slot, bool is_free)
{
    if (!is_free) {
        if (!(s->jobs[slot].details->blocked & BLOCK_GANG))
            job_block(s, slot, BLOCK_GANG);
        return 0;
    }
    if (gang_asks_whole(s, slot)) {
        job_block(s, slot, BLOCK_GANG);
        if (ask_again(s, slot) < 0)
            return -1;
    }
    return s->jobs[slot].details->blocked & BLOCK_GANG ? job_unblock(s, slot, BLOCK_GANG) : 0;
}

/* The one that waits for the whole, if there are enough for that. Returns 0, or -1 with ENOMEM. */
static int settle_leader(sched_t *s, uint32_t slot, struct gang *gang)
{
    uint32_t need = gang_need(gang);
    if (count_waiting(s, gang, true) < need || s->jobs[slot].details->blocked & GANG_AWAY)
        return settle_member(s, slot, false);
    if (s->place->ops->members(s->place, s->jobs[slot].ask.class) != need) {
        job_block(s, slot, BLOCK_GANG);
        if (ask_again(s, slot) < 0)
            return -1;
    }
    return s->jobs[slot].details->blocked & BLOCK_GANG ? job_unblock(s, slot, BLOCK_GANG) : 0;
}

/* The entry, or else who leads already, or the first who waits for nothing else, or for something. */
static uint32_t find_leader(const sched_t *s, const struct gang *gang)
{
    uint32_t leader = JOB_NONE, other = JOB_NONE;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind) {
        bool is_free = waits(&s->jobs[i]) && !(s->jobs[i].details->blocked & GANG_AWAY);
        if (is_entry(s, i))
            return i;
        if (is_free && (leader == JOB_NONE || i == gang->leader))
            leader = i;
        if (waits(&s->jobs[i]) && other == JOB_NONE)
            other = i;
    }
    return leader != JOB_NONE ? leader : other;
}

bool gang_is_starting(const sched_t *s, const struct gang *gang)
{
    const struct place_ops *ops = s->place->ops;
    const struct job *job = gang->leader == JOB_NONE ? NULL : &s->jobs[gang->leader];
    return job && gang->running > 0 && job->state == SCHED_RESERVED &&
           ops->holds(s->place, job->booking) < ops->members(s->place, job->ask.class);
}

static int settle_one(sched_t *s, struct gang *gang)
{
    if (gang_is_starting(s, gang))
        return 0;
    gang->was_up = false;
    bool is_up = gang_is_up(gang), leaves = gang_leaves(gang);
    bool is_free = gang_need(gang) < 2 && !leaves; /* they wait for nobody */
    uint64_t left = is_up ? 0 : count_waiting(s, gang, false);
    if (!is_up && !gang->is_over && left + gang->done < gang->min) {
        gang->is_over = true;
        gang->why = (struct sched_reason){.kind = SCHED_REASON_GANG_LEFT,
                                          .gang = {(int64_t)left + gang->done, gang->min}};
    }
    if (gang->is_over)
        return end_all(s, gang);
    gang->leader = is_free || leaves ? JOB_NONE : find_leader(s, gang);
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (i != gang->leader && waits(&s->jobs[i]) && settle_member(s, i, is_free) < 0)
            return -1;
    return gang->leader == JOB_NONE ? 0 : settle_leader(s, gang->leader, gang);
}

enum step gang_settle(sched_t *s)
{
    struct gang *gang = s->queues->due_gangs;
    if (!gang)
        return STEP_BUSY;
    if (settle_one(s, gang) < 0)
        return STEP_FAILED;
    leave_due(gang);
    return STEP_DONE;
}
