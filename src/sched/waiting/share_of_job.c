#include "sched/waiting/share_of_job.h"

#include <string.h>

#include "base/array.h"
#include "sched/controllers/arrays.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/turns.h"
#include "sched/waiting/usage_kept.h"

int shares_reserve(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    size_t had = shares->cap_jobs;
    if (array_grow((void **)&shares->moved_jobs, &shares->cap_moved_jobs, (size_t)slot + 1,
                   sizeof(*shares->moved_jobs)) < 0 ||
        array_grow((void **)&shares->job, &shares->cap_jobs, (size_t)slot + 1,
                   sizeof(*shares->job)) < 0)
        return -1;
    memset(shares->job + had, 0, (shares->cap_jobs - had) * sizeof(*shares->job));
    return 0;
}

/* A job has passed to another state in the tree. */
static void note_state(sched_t *s, struct share_of_job *job, enum share_state to)
{
    const struct leaf *leaf = &s->queues->shares->leaf[job->leaf];
    struct class_turns *turns = leaf_turns(s, leaf);
    if (turns)
        class_turns_tell(turns, leaf->class, job->state, (uint8_t)to, job->units);
    job->state = (uint8_t)to;
}

/* Of so many members that are alike, where there are classes. */
static int64_t units_of_members(const sched_t *s, const struct leaf *leaf, const int64_t *one,
                                int64_t members)
{
    const struct class_turns *turns = leaf_turns(s, leaf);
    int64_t units = turns ? class_turns_units(turns, one) : 0;
    return units > CLASS_UNITS_MAX / members ? CLASS_UNITS_MAX : units * members;
}

/* What so many members that are alike ask for, of one of which this is known. What would be more than the tree can add
 * up is not counted.
 */
static void multiply(const struct shares *shares, const int64_t *one, int64_t members,
                     int64_t *amount)
{
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        amount[i] = one[i] > SHARE_MOST / members ? SHARE_MOST : one[i] * members;
}

/* Tell the tree of so many members, for so many parts that are alike; `one` NULL: of what it was told last. */
static void tell_tree(sched_t *s, uint32_t slot, enum share_state to, uint64_t members,
                      const int64_t *one, int64_t parts)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    size_t size = shares->setup->shares.n_resources * sizeof(*job->amount);
    int64_t amount[SHARE_DIMENSIONS_MAX];
    if (one)
        multiply(shares, one, parts, amount);
    int64_t units = one ? units_of_members(s, leaf, one, parts) : job->units;
    bool same = !one || (members == job->members && units == job->units &&
                         memcmp(amount, job->amount, size) == 0);
    if (job->state == to && (same || to == SHARE_ABSENT))
        return;
    if (job->state == SHARE_RUNNING || to == SHARE_RUNNING)
        usage_touch(shares, leaf->node);
    if (!same && job->state != SHARE_ABSENT) {
        share_job(shares->tree, leaf->node, job->state, SHARE_ABSENT, job->members, job->amount,
                  s->now);
        note_state(s, job, SHARE_ABSENT);
    }
    if (!same) {
        memcpy(job->amount, amount, size);
        job->units = units;
        job->members = members;
    }
    if (job->state == to)
        return;
    if (share_job(shares->tree, leaf->node, job->state, to, job->members, job->amount, s->now) == 0)
        note_state(s, job, to);
}

/* Tell the tree of other members behind a promise, each of which asks for this; of none. */
static void tell_rest(sched_t *s, uint32_t slot, uint64_t members, const int64_t *one)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    struct class_turns *turns = leaf_turns(s, leaf);
    struct share_rest rest = {.n = members};
    if (members == 0 && job->rest.n == 0)
        return;
    if (members > 0) {
        multiply(shares, one, (int64_t)members, rest.amount);
        rest.units = units_of_members(s, leaf, one, (int64_t)members);
        if (share_job(shares->tree, leaf->node, SHARE_ABSENT, SHARE_WAITING, members, rest.amount,
                      s->now) < 0)
            rest.n = 0;
    }
    if (job->rest.n > 0)
        share_job(shares->tree, leaf->node, SHARE_WAITING, SHARE_ABSENT, job->rest.n,
                  job->rest.amount, s->now);
    if (turns)
        class_turns_rest(turns, leaf->class,
                         (rest.n > 0 ? rest.units : 0) - (job->rest.n > 0 ? job->rest.units : 0));
    job->rest = rest;
}

/* Whether it asks for members that are not alike. */
static bool is_mixed(const sched_t *s, uint32_t slot)
{
    return gang_asks_whole(s, slot) && gang_of(s, slot)->n_roles > 1;
}

int64_t shares_asked(const sched_t *s, uint32_t slot)
{
    return is_mixed(s, slot) ? 1 : s->place->ops->members(s->place, s->jobs[slot].ask.class);
}

int64_t shares_members(const sched_t *s, uint32_t slot)
{
    int64_t members = (int64_t)members_of(s, slot), asked = shares_asked(s, slot);
    return is_mixed(s, slot) || members < asked ? asked : members;
}

/* What one of its members asks for. */
static void wants(const sched_t *s, uint32_t slot, int64_t *one)
{
    const struct setup_shares *is = &s->queues->setup->shares;
    int64_t asks = shares_asked(s, slot); /* of a gang that is to start together */
    for (uint32_t i = 0; i < is->n_resources; i++)
        one[i] = s->place->ops->wants(s->place, s->jobs[slot].ask.class, is->resource[i]) / asks;
}

void shares_opened(sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    int64_t one[SHARE_DIMENSIONS_MAX];
    turns_changed(s, shares->job[slot].leaf);
    if (shares->job[slot].state > SHARE_WAITING)
        return; /* it is to give back what it holds */
    wants(s, slot, one);
    tell_tree(s, slot, SHARE_WAITING, members_of(s, slot), one, shares_members(s, slot));
    tell_rest(s, slot, 0, NULL);
    class_order_changed(s, slot);
}

void shares_closed(sched_t *s, uint32_t slot)
{
    turns_changed(s, s->queues->shares->job[slot].leaf);
    if (s->queues->shares->job[slot].state == SHARE_WAITING)
        tell_tree(s, slot, SHARE_ABSENT, 1, NULL, 1);
}

/* How many members of an entry that is promised a time may wait behind that. */
static uint64_t behind(const sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state != SHARE_PROMISED || !is_entry(s, slot) ||
        is_mixed(s, slot) || array_is_full(s, slot))
        return 0;
    uint64_t members = members_of(s, slot), asked = (uint64_t)shares_asked(s, slot);
    return members > asked ? members - asked : 0;
}

void shares_filled(sched_t *s, uint32_t slot)
{
    int64_t one[SHARE_DIMENSIONS_MAX];
    uint64_t n = behind(s, slot);
    if (n == s->queues->shares->job[slot].rest.n)
        return;
    wants(s, slot, one);
    tell_rest(s, slot, n, one);
}

void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs)
{
    const struct shares *shares = s->queues->shares;
    int64_t amount[SHARE_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        amount[i] = s->place->ops->amount(s->place, booking, shares->setup->shares.resource[i]);
    tell_tree(s, slot, runs ? SHARE_RUNNING : SHARE_PROMISED, 1, amount, 1);
    shares_filled(s, slot);
}

void shares_started(sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state == SHARE_PROMISED)
        tell_tree(s, slot, SHARE_RUNNING, 1, NULL, 1);
}

void shares_released(sched_t *s, uint32_t slot)
{
    tell_tree(s, slot, SHARE_ABSENT, 1, NULL, 1);
    tell_rest(s, slot, 0, NULL);
    if (s->jobs[slot].state == SCHED_WAITING)
        shares_opened(s, slot);
}

void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts)
{
    struct share_of_job *job = s->queues->shares->job;
    bool is_moved = job[part].is_moved; /* it is listed, from whoever had the slot */
    tell_rest(s, slot, 0, NULL);
    job[part] = job[slot];
    job[part].is_moved = is_moved;
    if (starts) {
        job[slot].state = SHARE_ABSENT;
        return;
    }
    job[part].state = SHARE_ABSENT;
    if (job[slot].state == SHARE_WAITING)
        shares_opened(s, slot); /* as fewer */
    else
        shares_filled(s, slot);
}

bool share_of_job_check(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    const struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    uint8_t state = s->jobs[slot].state;
    uint8_t is = state == SCHED_WAITING    ? SHARE_WAITING
                 : state == SCHED_RESERVED ? SHARE_PROMISED
                 : state == SCHED_RUNNING  ? SHARE_RUNNING
                                           : SHARE_ABSENT;
    return job->state == is && leaf->lane == s->jobs[slot].lane && job->rest.n == behind(s, slot);
}
