/* Jobs that come within their queue's depth.
 *
 * A job that comes before holders of its queue takes its turn before them, but not while more jobs stand before it than a pass
 * considers. When fewer do, or its queue has another depth, it is as new: else those behind it would keep the promises of
 * their queue. Which jobs that are is known from how the last pass has left the queue, so that a restart changes nothing of
 * it; and a job that has come since, and misses its turn for that, is one of them until its pass ends, but only once, so that
 * the pass ends. Such a job takes its turn before holders of other queues of its level, too, and so it is where nobody goes
 * before the first job of the queue. Where there are shares, it is they that say who is first.
 */
#include "sched/pass/steps.h"
#include "sched/waiting/lane.h"

/* The last holder of a lane, if there may be such jobs before it; JOB_NONE. */
static uint32_t last_before_whom(const sched_t *s, const struct lane *lane)
{
    return lane->is_stopped || s->queues->shares ? JOB_NONE : last_holder(s, lane);
}

/* Note of the jobs of a lane before its last holder which of them a pass does not consider: all from the first one on. */
static void lane_note_beyond(sched_t *s, const struct lane *lane, uint32_t last)
{
    struct queue_cursor c;
    bool is_beyond = false;
    for (bool any = queue_begin(lane->open, &c); any; any = queue_next(&c)) {
        struct job *job = &s->jobs[queue_item(&c)];
        if (queue_before(s->jobs[last].key, job->key))
            return;
        is_beyond = is_beyond || !is_considered(s, lane, job->key);
        if (is_beyond && job->details) {
            job->details->beyond = s->queues->passes;
            s->queues->any_beyond = true;
        }
    }
}

void depth_note(sched_t *s)
{
    s->queues->passes += s->queues->passes == UINT32_MAX ? 2 : 1; /* 0 is none */
    s->queues->any_beyond = false;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        uint32_t last = lane->queue_depth == SCHED_UNLIMITED ? JOB_NONE : last_before_whom(s, lane);
        if (last != JOB_NONE)
            lane_note_beyond(s, lane, last);
    }
}

/* Whether an open job is noted in this pass. */
static bool is_beyond(const sched_t *s, uint32_t slot)
{
    const struct details *details = s->jobs[slot].details;
    return details && details->beyond == s->queues->passes;
}

/* Whether a job of a lane has come in this pass and missed its turn. */
static bool has_missed(const sched_t *s, const struct lane *lane, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_WAITING && lane_of(s, slot) == lane && job->is_fresh &&
           !job->is_placed && is_beyond(s, slot);
}

void depth_note_missed(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->state != SCHED_WAITING || !job->details || job->details->let_in == s->queues->passes)
        return;
    job->details->beyond = s->queues->passes;
    s->queues->any_beyond = true;
    struct lane *lane = lane_of(s, slot);
    if (!has_missed(s, lane, lane->missed) || queue_before(job->key, s->jobs[lane->missed].key))
        lane->missed = slot;
}

void depth_has_let(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].details)
        s->jobs[slot].details->beyond = 0;
}

bool depth_lets_in(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (!job->details || !s->queues->any_beyond || job->state != SCHED_WAITING ||
        job->details->beyond != s->queues->passes)
        return false;
    const struct lane *lane = lane_of(s, slot);
    uint32_t last = last_before_whom(s, lane);
    return last != JOB_NONE && queue_before(job->key, s->jobs[last].key) &&
           is_considered(s, lane, job->key);
}

/* Those of a lane before its last holder that a pass considers now. Returns as depth_let_in. */
static int lane_let_in(sched_t *s, const struct lane *lane, uint32_t last)
{
    int any_new = 0;
    struct queue_cursor c;
    for (bool any = queue_begin(lane->open, &c); any; any = queue_next(&c)) {
        uint32_t slot = queue_item(&c);
        struct job *job = &s->jobs[slot];
        if (queue_before(s->jobs[last].key, job->key) || !is_considered(s, lane, job->key))
            break;
        if (!job->details || job->details->beyond != s->queues->passes) {
            if (s->pass.phase == PASS_WALK && lane_holds(lane) < lane->depth)
                break; /* it has the promise of the lane first, and puts off no holder */
            continue;
        }
        if (open_renew(s, slot) < 0)
            return -1;
        job->details->beyond = 0;
        job->details->let_in = s->queues->passes;
        any_new = 1;
    }
    return any_new;
}

/* Whether the lane has something to promise in the walk to a job that is not noted and stands before another one. */
static bool promises_before(const sched_t *s, const struct lane *lane, uint32_t slot)
{
    struct queue_cursor c;
    if (s->pass.phase != PASS_WALK || lane_holds(lane) >= lane->depth)
        return false;
    for (bool any = queue_begin(lane->open, &c); any && queue_item(&c) != slot;
         any = queue_next(&c))
        if (!is_beyond(s, queue_item(&c)))
            return true;
    return false;
}

/* New jobs of a lane that have missed their turn and have it now, before holders of other lanes: the walk ends for them.
 * Returns whether there are any.
 */
static bool missed_let_in(sched_t *s, const struct lane *lane)
{
    uint32_t slot = lane->missed;
    if (s->queues->shares || !has_missed(s, lane, slot) || !outrank_has_turn(s, slot) ||
        promises_before(s, lane, slot))
        return false;
    struct queue_entry entry = {s->jobs[slot].key, 0, 0, slot};
    do {
        slot = entry.item;
        if (!has_missed(s, lane, slot))
            continue;
        if (!outrank_has_turn(s, slot))
            break;
        s->jobs[slot].details->beyond = 0;
        s->jobs[slot].details->let_in = s->queues->passes;
    } while (queue_after(lane->open, &s->jobs[slot].key, &entry));
    return true;
}

int depth_let_in(sched_t *s)
{
    int any_new = 0;
    for (uint32_t i = 0; s->queues->any_beyond && i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        uint32_t last = last_before_whom(s, lane);
        int rc = last != JOB_NONE ? lane_let_in(s, lane, last) : 0;
        if (rc < 0)
            return -1;
        any_new |= rc | missed_let_in(s, lane);
    }
    return any_new;
}
