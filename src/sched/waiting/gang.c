#include "sched/waiting/gang.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/victims.h"
#include "sched/reason_copy.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/share_of_job.h"

static void leave_due(struct gang *gang)
{
    if (!gang->link)
        return;
    *gang->link = gang->next;
    if (gang->next)
        gang->next->link = gang->link;
    gang->link = NULL;
}

void gang_destroy(sched_t *s, struct gang *gang)
{
    if (!gang)
        return;
    leave_due(gang);
    gang_order_forget(gang);
    gang_array_leave(s, gang);
    for (uint32_t i = 0; i < gang->n_roles; i++)
        shared_text_leave(s, gang->role[i].text);
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

/* ---- To be stopped ---- */

int64_t gang_role_more(const sched_t *s, struct gang *gang, const struct gang_role *role)
{
    int64_t more = (int64_t)role->running + role->done - role->min;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind) {
        const struct details *d = s->jobs[i].details;
        more -= d->is_in_gang && is_being_stopped(s, i) && gang_role_of(gang, d->member) == role;
    }
    return more;
}

/* Whether none of its members is needed to keep others going. */
static bool spares_all(const struct gang *gang)
{
    return !gang || (gang->min < 2 && gang->n_roles < 2);
}

bool gang_may_need(const sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    return !spares_all(gang) &&
           (gang_asks_whole(s, slot) || gang_role_of(gang, s->jobs[slot].details->member)->min > 0);
}

bool gang_spares(const sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (spares_all(gang))
        return true;
    const struct gang_role *role = gang_role_of(gang, s->jobs[slot].details->member);
    if (role->running + role->done <= role->min)
        return false;
    int64_t more = gang_role_more(s, gang, role);
    for (uint32_t i = gang->last; i != JOB_NONE && more > 0; i = s->jobs[i].details->gang_before) {
        const struct details *d = s->jobs[i].details;
        if (i == slot)
            return true;
        more -= d->is_in_gang && !is_being_stopped(s, i) && gang_role_of(gang, d->member) == role;
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
    gang_role_of(gang, d->member)->stopping++;
    if (gang_leaves(gang))
        gang_due(s, gang);
}

bool gang_lacks(const sched_t *s, uint32_t slot)
{
    struct gang *gang = gang_of(s, slot);
    if (!gang || gang_asks_whole(s, slot))
        return true;
    const struct gang_role *role = gang_role_of(gang, s->jobs[slot].details->member);
    uint32_t have = role_has(role);
    if (have >= role->min)
        return false;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        have += i != slot && s->jobs[i].state == SCHED_RESERVED && s->jobs[i].is_preempting &&
                gang_role_of(gang, s->jobs[i].details->member) == role;
    return have < role->min;
}

/* ---- Its state ---- */

/* How many of a role a slot is of. */
static uint64_t members_of_role(const sched_t *s, uint32_t slot, const struct gang_role *role)
{
    const struct members *m = s->jobs[slot].details->of;
    uint32_t member = s->jobs[slot].details->member;
    if (!is_entry(s, slot))
        return member >= role->first && member - role->first < role->members;
    struct idset waiting = members_waiting(m);
    return idset_count_in(&waiting, role->first, role->members);
}

/* Members of a role that wait; `free`: for nothing but their gang and resources. */
static uint64_t count_waiting(const sched_t *s, const struct gang *gang,
                              const struct gang_role *role, bool free)
{
    uint64_t n = 0;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (job_is_waiting(&s->jobs[i]) && !(free && s->jobs[i].details->blocked & GANG_AWAY))
            n += members_of_role(s, i, role);
    return n;
}

uint64_t gang_waits_free(const sched_t *s, const struct gang *gang, const struct gang_role *role)
{
    return count_waiting(s, gang, role, true);
}

/* The first role of which too few are left to wait, `free` as above; NULL. */
static const struct gang_role *too_few_wait(const sched_t *s, const struct gang *gang, bool free)
{
    for (uint32_t i = 0; i < gang->n_roles; i++)
        if (count_waiting(s, gang, &gang->role[i], free) < role_missing(&gang->role[i]))
            return &gang->role[i];
    return NULL;
}

bool gang_has_enough_free(const sched_t *s, const struct gang *gang)
{
    return !too_few_wait(s, gang, true);
}

/* Tell the shell to stop a member that runs: others may wait for what it leaves. Returns 0, or -1 with ENOMEM. */
static int dismiss(sched_t *s, uint32_t slot, const struct gang *gang)
{
    struct details *d = s->jobs[slot].details;
    if (is_being_stopped(s, slot))
        return 0;
    const struct sched_reason *told = told_reason(s->queues, &gang->why);
    if (!told || decision_reserve(s) < 0 ||
        victims_reserve(s->queues, s->queues->n_victims + 1) < 0)
        return -1;
    d->is_dismissed = true;
    victim_leaves(s, slot);
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
        if (!job_is_waiting(job))
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
        if (gang_ask_again(s, slot) < 0)
            return -1;
    }
    return s->jobs[slot].details->blocked & BLOCK_GANG ? job_unblock(s, slot, BLOCK_GANG) : 0;
}

/* The one that waits for the whole, if there are enough for that. Returns 0, or -1 with ENOMEM. */
static int settle_leader(sched_t *s, uint32_t slot, struct gang *gang)
{
    if (too_few_wait(s, gang, true) || s->jobs[slot].details->blocked & GANG_AWAY) {
        gang->leader = JOB_NONE;
        return settle_member(s, slot, false);
    }
    int is_right = gang_asks_right(s, slot);
    if (is_right < 0)
        return -1;
    if (!is_right) {
        job_block(s, slot, BLOCK_GANG);
        if (gang_ask_again(s, slot) < 0)
            return -1;
    }
    if (s->jobs[slot].details->blocked & BLOCK_GANG)
        return job_unblock(s, slot, BLOCK_GANG);
    if (s->queues->shares)
        shares_joined(s, slot);
    return 0;
}

/* The entry, who leads already, or the first of those who wait for nothing else; if all do, the first. It has a member of
 * the role that is placed last, as that starts with the last booking (pass/start_gang.c).
 */
static uint32_t find_leader(const sched_t *s, const struct gang *gang, uint32_t last)
{
    uint32_t leader = JOB_NONE, other = JOB_NONE;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind) {
        if (!job_is_waiting(&s->jobs[i]) || members_of_role(s, i, &gang->role[last]) == 0)
            continue;
        bool is_free = !(s->jobs[i].details->blocked & GANG_AWAY);
        if (is_free && is_entry(s, i))
            return i;
        if (is_free && (leader == JOB_NONE || i == gang->leader))
            leader = i;
        if (other == JOB_NONE)
            other = i;
    }
    return leader != JOB_NONE ? leader : other;
}

/* The entry of what waits of a gang; JOB_NONE. */
static uint32_t entry_of_gang(const sched_t *s, const struct gang *gang)
{
    return gang->first == JOB_NONE ? JOB_NONE : s->jobs[gang->first].details->of->entry;
}

bool gang_is_starting(const sched_t *s, const struct gang *gang)
{
    const struct place_ops *ops = s->place->ops;
    const struct job *job = gang->leader == JOB_NONE ? NULL : &s->jobs[gang->leader];
    return job && gang->running > 0 && job->state == SCHED_RESERVED &&
           ops->holds(s->place, job->booking) < ops->members(s->place, job->ask.class);
}

/* Whether nobody of it runs, and as many members as it lacks of each role hold what others leave, or have left: these start there,
 * one by one, as when they began to wait for that.
 */
static bool is_to_start(const sched_t *s, const struct gang *gang)
{
    bool is = gang->running == 0 && !gang->is_over;
    for (uint32_t k = 0; k < gang->n_roles && is; k++) {
        uint64_t holding = 0;
        for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
            if (s->jobs[i].state == SCHED_RESERVED && s->jobs[i].is_preempting &&
                !gang_asks_whole(s, i))
                holding += members_of_role(s, i, &gang->role[k]);
        is = holding >= role_missing(&gang->role[k]);
    }
    return is && gang_missing(gang) > 0;
}

/* It is over if too few of a role are left to wait, while nobody runs. */
static void see_if_over(const sched_t *s, struct gang *gang)
{
    const struct gang_role *few = too_few_wait(s, gang, false);
    if (!few)
        return;
    gang->is_over = true;
    gang->why = gang_left_reason(few, count_waiting(s, gang, few, false) + few->done);
}

/* Others of its array are to end before it starts: none of it is promised anything. */
static void keep_from_turn(sched_t *s, const struct gang *gang)
{
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (job_is_waiting(&s->jobs[i]) && !(s->jobs[i].details->blocked & BLOCK_TURN))
            job_block(s, i, BLOCK_TURN);
}

/* It is its turn. Returns 0, or -1 with ENOMEM. */
static int let_have_turn(sched_t *s, const struct gang *gang)
{
    if (!gang->array)
        return 0;
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (s->jobs[i].details->blocked & BLOCK_TURN && job_unblock(s, i, BLOCK_TURN) < 0)
            return -1;
    return 0;
}

/* A gang is to start: the members that hold what others leave start first, and the rest wait for that. */
static void keep_for_start(sched_t *s, const struct gang *gang)
{
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (s->jobs[i].state == SCHED_RESERVED && !s->jobs[i].is_preempting)
            job_block(s, i, BLOCK_GANG);
}

static int settle_one(sched_t *s, struct gang *gang)
{
    bool is_next = is_to_start(s, gang);
    if (is_next && gang_waits_whole(gang))
        keep_for_start(s, gang);
    if (is_next || gang_is_starting(s, gang))
        return 0;
    gang->was_up = false;
    bool leaves = gang_leaves(gang);
    bool is_free = !gang_waits_whole(gang) && !leaves; /* they wait for nobody */
    if (!gang_is_up(gang) && !gang->is_over)
        see_if_over(s, gang);
    if (gang->is_over)
        return end_all(s, gang);
    if (gang_waits_turn(gang))
        keep_from_turn(s, gang);
    uint32_t entry = entry_of_gang(s, gang);
    if (is_free && gang->n_roles > 1 && entry != JOB_NONE && gang_scatter(s, entry) < 0)
        return -1;
    uint32_t last = is_free || leaves ? 0 : gang_last_role(s, gang->first);
    if (last == UINT32_MAX)
        return -1;
    gang->leader = is_free || leaves ? JOB_NONE : find_leader(s, gang, last);
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (i != gang->leader && job_is_waiting(&s->jobs[i]) && settle_member(s, i, is_free) < 0)
            return -1;
    if (gang->leader != JOB_NONE && settle_leader(s, gang->leader, gang) < 0)
        return -1;
    return gang_waits_turn(gang) ? 0 : let_have_turn(s, gang);
}

/* And whoever asks for something else now may never start. */
static int settle_and_look(sched_t *s, struct gang *gang)
{
    if (settle_one(s, gang) < 0)
        return -1;
    bool starts = gang_is_starting(s, gang) || is_to_start(s, gang);
    return gang->is_over || starts ? 0 : never_look_gang(s, gang);
}

void gang_settle_started(sched_t *s, struct gang *gang)
{
    gang_due(s, gang);
    if (settle_and_look(s, gang) < 0)
        return;
    gang_array_see(s, gang);
    leave_due(gang);
}

void gang_look_all(sched_t *s)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following) {
        struct gang *gang = gang_of(s, slot);
        if (gang && gang->n_roles > 1)
            gang_due(s, gang);
    }
}

/* ---- Those that are due ---- */

static bool was_before(const sched_t *s, const struct gang *a, const struct gang *b)
{
    return s->jobs[a->first].details->of->order < s->jobs[b->first].details->of->order;
}

/* Merge two lists that are in the order of submission. */
static struct gang *merge(const sched_t *s, struct gang *a, struct gang *b)
{
    struct gang *all = NULL, **end = &all;
    while (a && b) {
        struct gang **least = was_before(s, a, b) ? &a : &b;
        *end = *least;
        end = &(*end)->next;
        *least = (*least)->next;
    }
    *end = a ? a : b;
    return all;
}

/* Put a list in the order of submission. */
static struct gang *sort(const sched_t *s, struct gang *list)
{
    struct gang *half[2] = {NULL, NULL};
    if (!list || !list->next)
        return list;
    for (int i = 0; list; i = !i) {
        struct gang *next = list->next;
        list->next = half[i];
        half[i] = list;
        list = next;
    }
    return merge(s, sort(s, half[0]), sort(s, half[1]));
}

/* The first of those that are due; NULL. */
static struct gang *next_due(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->next_gangs)
        return n->next_gangs;
    for (struct gang *gang = n->due_gangs; gang; gang = gang->next)
        gang_array_see(s, gang);
    gang_arrays_settle(s);
    if (!n->due_gangs)
        return NULL;
    n->next_gangs = sort(s, n->due_gangs);
    n->due_gangs = NULL;
    for (struct gang **link = &n->next_gangs; *link; link = &(*link)->next)
        (*link)->link = link;
    return n->next_gangs;
}

enum step gang_settle(sched_t *s)
{
    struct gang *gang = next_due(s);
    if (!gang)
        return STEP_BUSY;
    if (settle_and_look(s, gang) < 0)
        return STEP_FAILED;
    gang_array_see(s, gang); /* it may hold nothing any more */
    leave_due(gang);
    return STEP_DONE;
}
