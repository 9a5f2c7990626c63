#include "sched/waiting/turns.h"

#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/may_fit.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/shut_class.h"

/* What a leaf goes by: the priority, the deadline and the gang of a job, and when the first one was submitted. */
static struct share_first first_with(const sched_t *s, uint32_t first, uint32_t slot)
{
    const struct job *job = &s->jobs[first];
    return (struct share_first){.priority = s->jobs[slot].details->priority,
                                .deadline = job_deadline_minute(s, slot),
                                .since = job->submitted,
                                .submit = job->key.seq,
                                .has_min = job_goes_behind(s, slot)};
}

/* The first open job of a leaf; JOB_NONE, also of a class that starts nothing. */
static uint32_t first_open_of(const sched_t *s, const struct leaf *leaf)
{
    if (leaf_is_shut(s, leaf))
        return JOB_NONE;
    struct lane *lane = &s->lanes[leaf->lane];
    const struct line *line = line_at(lane, leaf->line);
    struct queue_entry entry;
    return queue_first(line->open ? line->open : lane->open, &entry) ? entry.item : JOB_NONE;
}

/* The job with which a leaf is offered. */
static void note_offered(struct leaf *leaf, const struct share_first *job)
{
    leaf->priority = job->priority;
    leaf->deadline = job->deadline;
    leaf->has_min = job->has_min;
}

static void offer_first(sched_t *s, struct leaf *leaf)
{
    struct share_tree *tree = s->queues->shares->tree;
    uint32_t slot = first_open_of(s, leaf);
    leaf->first = slot;
    if (slot == JOB_NONE) {
        share_withdraw(tree, leaf->node);
        share_wait(tree, leaf->node, NULL);
        return;
    }
    leaf->waits = first_with(s, slot, slot);
    note_offered(leaf, &leaf->waits);
    share_wait(tree, leaf->node, &leaf->waits);
    share_offer(tree, leaf->node, &leaf->waits);
}

void turns_changed(sched_t *s, uint32_t number)
{
    struct leaf *leaf = &s->queues->shares->leaf[number];
    uint32_t slot = first_open_of(s, leaf);
    may_fit_changed(s, number);
    if (slot == leaf->first && !leaf->is_moved) {
        if (slot == JOB_NONE)
            return;
        struct share_first now = first_with(s, slot, slot);
        if (now.priority == leaf->waits.priority && now.submit == leaf->waits.submit &&
            now.since == leaf->waits.since && now.deadline == leaf->waits.deadline &&
            now.has_min == leaf->waits.has_min)
            return;
    }
    offer_first(s, leaf);
}

/* A leaf is not as it was before the walk. There is room for it in the list. */
static void move(struct shares *shares, uint32_t number)
{
    struct leaf *leaf = &shares->leaf[number];
    if (!leaf->is_moved)
        shares->moved[shares->n_moved++] = number;
    leaf->is_moved = true;
}

void turns_offer(sched_t *s, uint32_t number, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    struct leaf *leaf = &shares->leaf[number];
    struct share_first first = first_with(s, leaf->first, slot);
    note_offered(leaf, &first);
    move(shares, number);
    share_offer(shares->tree, leaf->node, &first);
}

bool turns_is_offered_as(const sched_t *s, uint32_t number, uint32_t slot)
{
    const struct leaf *leaf = &s->queues->shares->leaf[number];
    return s->jobs[slot].details->priority == leaf->priority &&
           job_deadline_minute(s, slot) == leaf->deadline &&
           job_goes_behind(s, slot) == leaf->has_min;
}

void turns_skip(sched_t *s, uint32_t number)
{
    struct shares *shares = s->queues->shares;
    move(shares, number);
    share_withdraw(shares->tree, shares->leaf[number].node);
}

void turns_try(sched_t *s, uint32_t number, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    const struct leaf *leaf = &shares->leaf[number];
    if (slot == JOB_NONE) {
        share_withdraw(shares->tree, leaf->node);
        return;
    }
    struct share_first first = first_with(s, leaf->first, slot);
    share_offer(shares->tree, leaf->node, &first);
}

void turns_again(sched_t *s, uint32_t number, bool was_offered)
{
    struct shares *shares = s->queues->shares;
    const struct leaf *leaf = &shares->leaf[number];
    struct share_first first = leaf->waits;
    first.priority = leaf->priority;
    first.deadline = leaf->deadline;
    first.has_min = leaf->has_min;
    if (was_offered)
        share_offer(shares->tree, leaf->node, &first);
    else
        share_withdraw(shares->tree, leaf->node);
}

uint32_t turns_node(const sched_t *s, const struct lane *lane)
{
    const struct shares *shares = s->queues->shares;
    return shares->node[setup_node_of_queue(shares->setup, lane->queue)];
}

void turns_open(sched_t *s, const struct lane *lane, bool is_open)
{
    const struct shares *shares = s->queues->shares;
    uint32_t node = turns_node(s, lane);
    if (is_open)
        share_open(shares->tree, node);
    else
        share_close(shares->tree, node);
}

/* Offer a leaf as before the walk. Whatever changes its first job has noted that since, but that its class is shut. */
static void offer_again(sched_t *s, struct leaf *leaf)
{
    leaf->is_moved = false;
    if (leaf->class != SETUP_NONE || leaf->first == JOB_NONE) {
        offer_first(s, leaf);
        return;
    }
    note_offered(leaf, &leaf->waits);
    share_offer(s->queues->shares->tree, leaf->node, &leaf->waits);
}

void turns_restore(sched_t *s, const struct lane *lane)
{
    struct shares *shares = s->queues->shares;
    uint32_t left = 0;
    for (uint32_t i = 0; i < shares->n_moved; i++) {
        struct leaf *leaf = &shares->leaf[shares->moved[i]];
        if (lane && &s->lanes[leaf->lane] != lane) {
            shares->moved[left++] = shares->moved[i];
            continue;
        }
        offer_again(s, leaf);
    }
    shares->n_moved = left;
    for (uint32_t i = 0; i < s->n_lanes && !lane; i++)
        turns_open(s, &s->lanes[i], true);
}

bool turns_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t i = 0; i < shares->names.n; i++) {
        const struct leaf *leaf = &shares->leaf[i];
        uint32_t slot = first_open_of(s, leaf);
        if (slot != leaf->first)
            return false;
        if (slot != JOB_NONE && (leaf->waits.submit != s->jobs[slot].key.seq ||
                                 leaf->waits.priority != s->jobs[slot].details->priority ||
                                 leaf->waits.deadline != job_deadline_minute(s, slot) ||
                                 leaf->waits.has_min != job_goes_behind(s, slot)))
            return false;
        if (!leaf->is_moved && share_is_offered(shares->tree, leaf->node) != (slot != JOB_NONE))
            return false;
    }
    return true;
}
