/* The members of a gang start together (waiting/gang.h). */
#include <errno.h>

#include "berth/sched_query.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/pass/steps.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"

/* Have memory for the gang's slot to be open, asking for one member, or for it to be held still. */
int gang_prepare(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct place_ask one, whole = job->ask;
    uint32_t group, was = job->details->job_group;
    if (gang_know_one(s, slot, job->details->member, &one, &group) < 0)
        return -1;
    job->ask = one;
    job->details->job_group = group;
    int rc = open_reserve(s, slot);
    job->ask = whole;
    job->details->job_group = was;
    if (rc == 0)
        rc = queue_reserve(lane_of(s, slot)->held);
    if (rc == 0)
        rc = array_grow((void **)&s->due_list, &s->cap_due, (size_t)s->due.n + 1,
                        sizeof(*s->due_list));
    if (rc == 0)
        rc = heap_reserve(&s->due, s->n_jobs);
    gang_forget(s, &one, group);
    return rc;
}

/* A start under way: others are looked for from a slot on, of a role. */
struct starting {
    enum sched_how how;
    uint32_t from;
    const struct gang_role *role;
};

/* Whether a slot has a member of a role that waits for the gang's slot by itself. */
static bool waits_beside(const sched_t *s, uint32_t other, uint32_t slot,
                         const struct gang_role *role)
{
    const struct job *job = &s->jobs[other];
    return gang_role_of(gang_of(s, slot), job->details->member) == role && other != slot &&
           !is_entry(s, other) && job->state == SCHED_BLOCKED &&
           job->details->blocked & BLOCK_GANG && !(job->details->blocked & GANG_AWAY);
}

/* The next member of a role that waits in a slot of its own beside the gang's; JOB_NONE: there is none. */
static uint32_t next_other(const sched_t *s, uint32_t slot, const struct gang_role *role,
                           struct starting *start)
{
    struct gang *gang = gang_of(s, slot);
    uint32_t *from = &start->from;
    if (start->role != role)
        *from = gang->first;
    start->role = role;
    for (; *from != JOB_NONE; *from = s->jobs[*from].details->gang_behind)
        if (waits_beside(s, *from, slot, role))
            return *from;
    return JOB_NONE;
}

/* The first member of a role that waits in an entry, which may be JOB_NONE; IDSET_NONE. */
static uint32_t first_waiting_of_role(const sched_t *s, uint32_t entry,
                                      const struct gang_role *role)
{
    if (entry == JOB_NONE)
        return IDSET_NONE;
    struct idset waiting = members_waiting(s->jobs[entry].details->of);
    uint32_t member =
        idset_has(&waiting, role->first) ? role->first : idset_next(&waiting, role->first);
    return member != IDSET_NONE && member - role->first < role->members ? member : IDSET_NONE;
}

/* Who starts next: a slot, and the member of it. */
struct starter {
    uint32_t slot, member;
    uint32_t entry; /* it leaves this; JOB_NONE */
    bool is_other;  /* it waits in a slot of its own beside the gang's */
};

/* Who starts next of a role; its slot is JOB_NONE with ENOMEM. The gang's slot has the last booking, so that it can hold
 * what is left as long as there is any.
 */
static struct starter next_to_start(sched_t *s, uint32_t slot, const struct gang_role *role,
                                    bool is_last, struct starting *start)
{
    uint32_t entry = s->jobs[slot].details->of->entry,
             member = first_waiting_of_role(s, entry, role);
    bool is_own = is_last && (slot != entry || member != IDSET_NONE);
    if (is_own && slot != entry)
        return (struct starter){slot, s->jobs[slot].details->member, JOB_NONE, false};
    uint32_t other = is_own ? JOB_NONE : next_other(s, slot, role, start);
    if (other != JOB_NONE)
        return (struct starter){other, s->jobs[other].details->member, JOB_NONE, true};
    errno = ENOMEM; /* or there is nobody, and the next pass sees why */
    return (struct starter){member != IDSET_NONE ? part_reserve(s, entry) : JOB_NONE, member, entry,
                            false};
}

/* One member starts with the first booking of a bundle. Returns 0, or -1 with ENOMEM and nothing changed. */
static int start_one(sched_t *s, uint32_t slot, int64_t *bundle, struct starting *start)
{
    const struct place_ops *ops = s->place->ops;
    struct place_ask one;
    uint32_t group, role = ops->first_role(s->place, s->jobs[slot].ask.class, *bundle);
    bool is_last = ops->holds(s->place, *bundle) == 1;
    struct starter who = next_to_start(s, slot, &gang_of(s, slot)->role[role], is_last, start);
    int64_t until = s->now + s->jobs[slot].ask.duration;
    if (who.slot == JOB_NONE || decision_reserve(s) < 0 || controllers_prepare(s, who.slot) < 0 ||
        gang_know_one(s, slot, who.member, &one, &group) < 0)
        return -1;
    if (controllers_open(s, slot, ops->first(s->place, *bundle), s->now, until) < 0) {
        gang_forget(s, &one, group);
        return -1;
    }
    if (who.entry != JOB_NONE)
        who.slot = part_leave(s, who.entry, who.member);
    gang_ask(s, who.slot, &one, group);
    struct job *job = &s->jobs[who.slot];
    job->booking = ops->detach(s->place, *bundle);
    *bundle = is_last ? -1 : *bundle;
    if (who.is_other)
        start->from = job->details->gang_behind;
    job->at = s->now;
    job->details->blocked = 0;
    job->state = SCHED_RUNNING;
    controllers_enter(s, who.slot, job->booking, s->now, until);
    controllers_close(s, who.slot, s->now, until);
    job_started(s, who.slot, start->how);
    return 0;
}

/* There was no memory for all: the rest holds what is left, and goes on in the next pass. */
static void hold_rest(sched_t *s, uint32_t slot, int64_t bundle)
{
    struct job *job = &s->jobs[slot];
    struct queue_entry entry = {job->key, 1, job->ask.duration, slot};
    gang_of(s, slot)->leader = slot; /* and goes on to be (gang_settle) */
    s->queues->starting = job_handle(s, slot);
    job->booking = bundle;
    job->at = s->now;
    job->state = SCHED_RESERVED;
    job->is_kept = false;
    queue_insert(lane_of(s, slot)->held, &entry);
    heap_put(&s->due, slot, s->now, job->key.seq);
    controllers_enter(s, slot, bundle, s->now, s->now + job->ask.duration);
}

/* What is left of the gang waits for itself. There is memory for it. */
static void let_rest_wait(sched_t *s, uint32_t slot)
{
    struct place_ask one;
    uint32_t group;
    if (gang_know_one(s, slot, s->jobs[slot].details->member, &one, &group) < 0) {
        s->jobs[slot].details->blocked = BLOCK_GANG; /* the gang is due: it is let go on then */
        return;
    }
    gang_ask(s, slot, &one, group);
    if (array_is_full(s, slot))
        array_block(s, slot);
    else if (open_insert(s, slot, false) == 0)
        s->finder->moved(s, slot); /* the walk has had others perhaps that ask for that */
    tell_later(s, slot);
}

/* Those of it that waited for its start have their turn before jobs behind them: the walk may have passed it, which stands at
 * the gang's key.
 */
static void let_others_go(sched_t *s, uint32_t slot, struct queue_key key)
{
    const struct gang *gang = gang_of(s, slot);
    bool is_walk = s->pass.phase == PASS_WALK;
    gang_settle_started(s, gang_of(s, slot));
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind) {
        if (s->jobs[i].state != SCHED_WAITING)
            continue;
        if (queue_before(s->jobs[i].key, key) || (is_walk && !queue_before(key, s->jobs[i].key)))
            s->pass.has_made_room = true;
        else
            s->finder->moved(s, i); /* the walk has had others perhaps that ask for that */
    }
}

enum step gang_start(sched_t *s, uint32_t slot, enum sched_how how)
{
    int64_t bundle = s->jobs[slot].booking;
    struct queue_key key = s->jobs[slot].key;
    struct starting start = {.how = s->jobs[slot].is_preempting ? SCHED_IMMEDIATE : how};
    s->finder->done(s, slot,
                    s->jobs[slot].key); /* of its group, which it leaves; this takes no memory */
    s->jobs[slot].state = SCHED_BLOCKED;
    controllers_uncount(s, slot, bundle);
    int rc = parts_expect(s, s->place->ops->holds(s->place, bundle));
    while (rc == 0 && bundle >= 0)
        rc = start_one(s, slot, &bundle, &start);
    if (rc < 0) {
        hold_rest(s, slot, bundle);
        return STEP_FAILED;
    }
    uint32_t entry = s->jobs[slot].details->of->entry;
    size_t fresh = s->n_fresh;
    if (gang_of(s, slot)->n_roles > 1 && entry != JOB_NONE)
        gang_scatter(s, entry); /* the gang is due: what there is no memory for is done then */
    else if (s->jobs[slot].state == SCHED_BLOCKED)
        let_rest_wait(s, slot);
    let_others_go(s, slot, key);
    s->pass.n_fresh += s->n_fresh - fresh; /* they are as new as it was; their turns are to come */
    return STEP_DONE;
}

bool sched_gang_starts(const sched_t *s, sched_job_t job, uint32_t member)
{
    uint32_t slot = job_in_queue(s, job);
    struct gang *gang = slot == JOB_NONE ? NULL : gang_of(s, slot);
    uint32_t leads = gang ? gang_asking(s, slot) : JOB_NONE;
    if (leads == JOB_NONE || s->jobs[leads].state != SCHED_RESERVED || !gang_asks_whole(s, leads) ||
        member >= s->jobs[leads].details->of->size)
        return false;
    const struct gang_role *role = gang_role_of(gang, member);
    uint64_t left = role_missing(role);
    uint32_t own = s->jobs[leads].details->member;
    bool is_own = !is_entry(s, leads) && gang_role_of(gang, own) == role;
    if (is_own && own == member)
        return true;
    left -= is_own && left > 0;
    for (uint32_t i = gang->first; i != JOB_NONE && left > 0; i = s->jobs[i].details->gang_behind) {
        if (!waits_beside(s, i, leads, role))
            continue;
        if (s->jobs[i].details->member == member)
            return true;
        left--;
    }
    struct idset waiting = members_waiting(s->jobs[leads].details->of);
    return idset_has(&waiting, member) &&
           idset_count_in(&waiting, role->first, member - role->first) < left;
}

int gang_go_on(sched_t *s)
{
    uint32_t slot = s->queues->starting < 0 ? JOB_NONE : job_in_queue(s, s->queues->starting);
    s->queues->starting = -1;
    if (slot == JOB_NONE || !gang_of(s, slot) || !gang_is_starting(s, gang_of(s, slot)))
        return 0; /* it was taken back since */
    if (start_held(s, slot) != STEP_FAILED)
        return 0;
    s->queues->starting = job_handle(s, slot);
    return -1;
}
