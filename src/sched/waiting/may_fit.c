#include "sched/waiting/may_fit.h"

#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/shares.h"

void may_fit_begin(sched_t *s)
{
    s->queues->shares->lists++;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        s->lanes[i].is_listed = false;
}

static void list(struct shares *shares, struct lane *lane, uint32_t number)
{
    struct leaf *leaf = &shares->leaf[number];
    if (leaf->listed == shares->lists)
        return;
    leaf->listed = shares->lists;
    leaf->beside = lane->first_listed;
    lane->first_listed = number;
}

/* Whether what is free says which of a lane's jobs are looked at next. */
static bool goes_by_room(const sched_t *s, const struct lane *lane)
{
    return lane->mode == LANE_FILL && lane->n_more > 0 && !lane->makes_room &&
           lane->queue_depth == SCHED_UNLIMITED && s->queues->n_candidates == 0 &&
           !s->queues->shares->turns[lane->queue];
}

bool may_fit_listed(sched_t *s, struct lane *lane)
{
    struct shares *shares = s->queues->shares;
    uint32_t slots[MAY_FIT_MAX];
    if (!goes_by_room(s, lane))
        return false;
    if (lane->is_listed)
        return true;
    int n = s->finder->list(s, lane, slots);
    if (n < 0)
        return false;
    lane->is_listed = true;
    lane->first_listed = JOB_NONE;
    for (int i = 0; i < n; i++)
        list(shares, lane, shares->job[slots[i]].leaf);
    return true;
}

uint32_t may_fit_first(sched_t *s, struct lane *lane)
{
    struct shares *shares = s->queues->shares;
    uint32_t best = JOB_NONE;
    enum share_by by;
    for (uint32_t *link = &lane->first_listed; *link != JOB_NONE;) {
        struct leaf *leaf = &shares->leaf[*link];
        if (!share_is_offered(shares->tree, leaf->node)) {
            leaf->listed = 0;
            *link = leaf->beside;
            continue;
        }
        if (best == JOB_NONE ||
            share_compare(shares->tree, leaf->node, shares->leaf[best].node, s->now, &by, NULL) < 0)
            best = *link;
        link = &leaf->beside;
    }
    return best;
}

void may_fit_changed(sched_t *s, uint32_t number)
{
    struct shares *shares = s->queues->shares;
    struct lane *lane = &s->lanes[shares->leaf[number].lane];
    if (lane->is_listed)
        list(shares, lane, number);
}

/* Whether an open job that the walk has not had may fit, by what is known. */
static bool may_fit(const sched_t *s, const struct lane *lane, const struct line *line,
                    uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    bool had = line->walk == s->queues->shares->walk && line->begun &&
               !queue_before(line->after, job->key);
    if (had || job->ask.duration >= job_kind_of(s, slot)->fails)
        return false;
    for (size_t i = 0; i < lane->n_bounds; i++)
        if (lane->bound[i].units >= job->ask.units && lane->bound[i].value >= job->ask.duration)
            return true;
    return false;
}

bool may_fit_check(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t i = 0; i < shares->names.n; i++) {
        const struct leaf *leaf = &shares->leaf[i];
        struct lane *lane = &s->lanes[leaf->lane];
        struct queue_cursor c;
        if (!lane->is_listed || s->pass.phase != PASS_WALK || lane->rooms_as_of != s->booked ||
            leaf->listed == shares->lists || !share_is_offered(shares->tree, leaf->node))
            continue;
        const struct line *line = line_at(lane, leaf->line);
        for (bool any = queue_begin(line->open, &c); any; any = queue_next(&c))
            if (may_fit(s, lane, line, queue_item(&c)))
                return false;
    }
    return true;
}
