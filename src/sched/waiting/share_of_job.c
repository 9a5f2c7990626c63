#include "sched/waiting/share_of_job.h"

#include <string.h>

#include "base/array.h"
#include "base/number.h"
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

static int64_t product(int64_t one, int64_t n, int64_t most)
{
    return n > 0 && one > most / n ? most : one * n;
}

/* Add what so many members that are alike ask for, of one of which this is known. What would be more than the tree can add up is
 * not counted.
 */
static void add_alike(const sched_t *s, uint32_t slot, const int64_t *one, int64_t members,
                      struct share_sum *sum)
{
    const struct shares *shares = s->queues->shares;
    const struct class_turns *turns = leaf_turns(s, &shares->leaf[shares->job[slot].leaf]);
    for (uint32_t i = 0; i < shares->setup->shares.n_resources; i++)
        sum->amount[i] = lesser(sum->amount[i] + product(one[i], members, SHARE_MOST), SHARE_MOST);
    int64_t units = turns ? class_turns_units(turns, one) : 0;
    sum->units = lesser(sum->units + product(units, members, CLASS_UNITS_MAX), CLASS_UNITS_MAX);
}

/* Tell the tree of so many members, with what they ask for or hold; NULL: with what it was told last. */
static void tell_tree(sched_t *s, uint32_t slot, enum share_state to, const struct share_sum *sum)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    size_t size = shares->setup->shares.n_resources * sizeof(*job->amount);
    bool same = !sum || (sum->n == job->members && sum->units == job->units &&
                         memcmp(sum->amount, job->amount, size) == 0);
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
        memcpy(job->amount, sum->amount, size);
        job->units = sum->units;
        job->members = sum->n;
    }
    if (job->state == to)
        return;
    if (share_job(shares->tree, leaf->node, job->state, to, job->members, job->amount, s->now) == 0)
        note_state(s, job, to);
}

/* Tell the tree of other members behind a promise; of none. */
static void tell_rest(sched_t *s, uint32_t slot, struct share_sum rest)
{
    struct shares *shares = s->queues->shares;
    struct share_of_job *job = &shares->job[slot];
    const struct leaf *leaf = &shares->leaf[job->leaf];
    struct class_turns *turns = leaf_turns(s, leaf);
    if (rest.n == 0 && job->rest.n == 0)
        return;
    if (rest.n > 0 && share_job(shares->tree, leaf->node, SHARE_ABSENT, SHARE_WAITING, rest.n,
                                rest.amount, s->now) < 0)
        rest.n = 0;
    if (job->rest.n > 0)
        share_job(shares->tree, leaf->node, SHARE_WAITING, SHARE_ABSENT, job->rest.n,
                  job->rest.amount, s->now);
    if (turns)
        class_turns_rest(turns, leaf->class,
                         (rest.n > 0 ? rest.units : 0) - (job->rest.n > 0 ? job->rest.units : 0));
    job->rest = rest;
}

bool shares_are_mixed(const sched_t *s, uint32_t slot)
{
    return s->jobs[slot].has_roles && gang_asks_whole(s, slot);
}

/* How many members it asks for at once. */
static int64_t asked(const sched_t *s, uint32_t slot)
{
    return s->place->ops->members(s->place, s->jobs[slot].ask.class);
}

/* What a class asks for, or one of so many that it is of. */
static void wants(const sched_t *s, uint32_t class, int64_t members, int64_t *one)
{
    const struct setup_shares *is = &s->queues->setup->shares;
    for (uint32_t i = 0; i < is->n_resources; i++)
        one[i] = s->place->ops->wants(s->place, class, is->resource[i]) / members;
}

/* How many members wait with a slot: those that are in it, and with the leader of a gang all that wait for nothing but it. */
static uint64_t waiting_with(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    uint64_t n = 0;
    if (!gang_asks_whole(s, slot))
        return members_of(s, slot);
    for (uint32_t i = 0; i < gang->n_roles; i++)
        n += gang_waits_free(s, gang, &gang->role[i]);
    return n;
}

/* Of a role of a gang so many wait beyond those that start together. */
static int64_t beyond(const sched_t *s, uint32_t slot, const struct gang_role *role)
{
    int64_t waits = (int64_t)gang_waits_free(s, gang_of(s, slot), role);
    return waits > role_missing(role) ? waits - role_missing(role) : 0;
}

/* Add what a gang of several roles asks for that is to start: all that starts together, and what waits behind these. */
static void add_roles(const sched_t *s, uint32_t slot, bool together, bool behind,
                      struct share_sum *sum)
{
    const struct gang *gang = gang_of(s, slot);
    const struct place_ask *ask = &s->jobs[slot].ask;
    struct share_sum first = {0}; /* those that start together; they share nodes */
    int64_t one[SHARE_DIMENSIONS_MAX];
    for (uint32_t i = 0; i < gang->n_roles; i++) {
        const struct gang_role *role = &gang->role[i];
        uint32_t class = shared_text_class(role->text, ask->part);
        if (class == UINT32_MAX)
            continue;
        wants(s, class, 1, one);
        add_alike(s, slot, one, role_missing(role), &first);
        if (behind)
            add_alike(s, slot, one, beyond(s, slot, role), sum);
    }
    if (!together)
        return;
    wants(s, ask->class, 1, one);
    for (uint32_t i = 0; i < s->queues->setup->shares.n_resources; i++)
        sum->amount[i] = lesser(sum->amount[i] + one[i], SHARE_MOST);
    sum->units = lesser(sum->units + first.units, CLASS_UNITS_MAX);
}

int64_t shares_members(const sched_t *s, uint32_t slot)
{
    int64_t members = (int64_t)waiting_with(s, slot), together = asked(s, slot);
    return members < together ? together : members;
}

void shares_together(const sched_t *s, uint32_t slot, struct share_sum *sum)
{
    int64_t one[SHARE_DIMENSIONS_MAX];
    *sum = (struct share_sum){.n = (uint64_t)asked(s, slot)};
    if (shares_are_mixed(s, slot)) {
        add_roles(s, slot, true, false, sum);
        return;
    }
    wants(s, s->jobs[slot].ask.class, asked(s, slot), one);
    add_alike(s, slot, one, asked(s, slot), sum);
}

/* What all members that wait ask for. */
static struct share_sum asked_by_all(const sched_t *s, uint32_t slot)
{
    struct share_sum sum = {.n = waiting_with(s, slot)};
    int64_t one[SHARE_DIMENSIONS_MAX];
    wants(s, s->jobs[slot].ask.class, asked(s, slot), one);
    if (shares_are_mixed(s, slot))
        add_roles(s, slot, true, true, &sum);
    else
        add_alike(s, slot, one, shares_members(s, slot), &sum);
    return sum;
}

int64_t shares_units_of_one(const sched_t *s, uint32_t slot)
{
    return asked_by_all(s, slot).units / shares_members(s, slot);
}

void shares_opened(sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    turns_changed(s, shares->job[slot].leaf);
    if (shares->job[slot].state > SHARE_WAITING)
        return; /* it is to give back what it holds */
    struct share_sum sum = asked_by_all(s, slot);
    tell_tree(s, slot, SHARE_WAITING, &sum);
    tell_rest(s, slot, (struct share_sum){0});
    class_order_changed(s, slot);
}

void shares_closed(sched_t *s, uint32_t slot)
{
    turns_changed(s, s->queues->shares->job[slot].leaf);
    if (s->queues->shares->job[slot].state == SHARE_WAITING)
        tell_tree(s, slot, SHARE_ABSENT, NULL);
}

/* How many members of an entry or a gang that is promised a time may wait behind that. */
static uint64_t behind(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    uint64_t n = 0;
    if (s->queues->shares->job[slot].state != SHARE_PROMISED ||
        !(is_entry(s, slot) || gang_asks_whole(s, slot)) || array_is_full(s, slot))
        return 0;
    for (uint32_t i = 0; shares_are_mixed(s, slot) && i < gang->n_roles; i++)
        n += (uint64_t)beyond(s, slot, &gang->role[i]);
    uint64_t members = waiting_with(s, slot), together = (uint64_t)asked(s, slot);
    return shares_are_mixed(s, slot) ? n : members > together ? members - together : 0;
}

void shares_filled(sched_t *s, uint32_t slot)
{
    int64_t one[SHARE_DIMENSIONS_MAX];
    struct share_sum rest = {.n = behind(s, slot)};
    if (rest.n == s->queues->shares->job[slot].rest.n && !(rest.n > 0 && shares_are_mixed(s, slot)))
        return; /* of one role they are alike */
    wants(s, s->jobs[slot].ask.class, asked(s, slot), one);
    if (rest.n > 0 && shares_are_mixed(s, slot))
        add_roles(s, slot, false, true, &rest);
    else
        add_alike(s, slot, one, (int64_t)rest.n, &rest);
    tell_rest(s, slot, rest);
}

void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs)
{
    const struct shares *shares = s->queues->shares;
    const struct setup_shares *is = &shares->setup->shares;
    const struct place_ops *ops = s->place->ops;
    const struct class_turns *turns = leaf_turns(s, &shares->leaf[shares->job[slot].leaf]);
    struct share_sum sum = {.n = 1};
    int64_t one[SHARE_DIMENSIONS_MAX];
    uint32_t members = turns ? ops->holds(s->place, booking) : 0;
    for (uint32_t i = 0; i < is->n_resources; i++)
        sum.amount[i] = ops->amount(s->place, booking, is->resource[i]);
    for (uint32_t k = 0; k < members; k++) {
        for (uint32_t i = 0; i < is->n_resources; i++)
            one[i] = ops->amount_of_one(s->place, booking, k, is->resource[i]);
        sum.units = lesser(sum.units + class_turns_units(turns, one), CLASS_UNITS_MAX);
    }
    tell_tree(s, slot, runs ? SHARE_RUNNING : SHARE_PROMISED, &sum);
    shares_filled(s, slot);
}

void shares_joined(sched_t *s, uint32_t slot)
{
    const struct share_of_job *job = &s->queues->shares->job[slot];
    bool same = job->members == waiting_with(s, slot) && !shares_are_mixed(s, slot);
    if (job->state == SHARE_WAITING && !same)
        shares_opened(s, slot);
    if (job->state == SHARE_PROMISED)
        shares_filled(s, slot);
}

void shares_measure_jobs(sched_t *s)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following) {
        if (s->jobs[slot].state == SCHED_REJECTED)
            continue; /* no share knows it */
        uint8_t is = s->queues->shares->job[slot].state;
        if (is == SHARE_WAITING)
            shares_opened(s, slot);
        if (is == SHARE_PROMISED) {
            tell_rest(s, slot, (struct share_sum){0});
            shares_filled(s, slot);
        }
        class_order_changed(s, slot);
    }
}

void shares_started(sched_t *s, uint32_t slot)
{
    if (s->queues->shares->job[slot].state == SHARE_PROMISED)
        tell_tree(s, slot, SHARE_RUNNING, NULL);
}

void shares_released(sched_t *s, uint32_t slot)
{
    tell_tree(s, slot, SHARE_ABSENT, NULL);
    tell_rest(s, slot, (struct share_sum){0});
    if (s->jobs[slot].state == SCHED_WAITING)
        shares_opened(s, slot);
}

void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts)
{
    struct share_of_job *job = s->queues->shares->job;
    bool is_moved = job[part].is_moved; /* it is listed, from whoever had the slot */
    tell_rest(s, slot, (struct share_sum){0});
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

/* Whether it counts as many members as wait with it. Of a gang that may be to come, when a pass looks at it. */
static bool counts_members(const sched_t *s, uint32_t slot)
{
    const struct share_of_job *job = &s->queues->shares->job[slot];
    const struct gang *gang = gang_of(s, slot);
    if (gang && (gang_is_due(gang) || gang_is_starting(s, gang)))
        return true;
    return job->rest.n == behind(s, slot) &&
           (job->state != SHARE_WAITING || job->members == waiting_with(s, slot));
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
    return job->state == is && leaf->lane == s->jobs[slot].lane && counts_members(s, slot);
}
