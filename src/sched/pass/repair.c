/* Reservations that something has come in the way of: they stay where they still fit, and move where not.
 *
 * The first one that does not fit takes another place by its rank: the reservations behind it are out of the
 * calendars until it has one (outrank.c), and so on with those that don't fit any more then. Where a job is
 * about to go before holders, those behind it are placed anew all the same, and are left to that: nobody is
 * promised a time and, in the same pass, a later one.
 */
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

void repair_note(sched_t *s, int64_t from, int64_t until)
{
    struct queues *n = s->queues;
    if (from >= until)
        return;
    n->repaired = KEY_FIRST;
    if (!repair_is_due(s)) {
        n->repair_from = from;
        n->repair_until = until;
        return;
    }
    n->repair_from = from < n->repair_from ? from : n->repair_from;
    n->repair_until = until > n->repair_until ? until : n->repair_until;
}

bool repair_is_left(const sched_t *s)
{
    return s->pass.is_left && repair_is_due(s);
}

void repair_done_behind(sched_t *s, struct queue_key key)
{
    if (!s->pass.is_left || queue_before(s->pass.left, key))
        return;
    s->pass.is_left = false;
    s->queues->repair_from = s->queues->repair_until = 0;
}

/* Whether a holder needs a look: something is in its way perhaps, and it is not left to outrank.c. */
static bool is_to_be_looked_at(const sched_t *s, const struct job *job)
{
    const struct queues *n = s->queues;
    bool is_left = s->pass.is_left && queue_before(s->pass.left, job->key);
    return (!is_left || job->is_preempting) && job->at < n->repair_until &&
           job_until(job) > n->repair_from;
}

/* Holders up to a key have been looked at, but for those that are left to outrank.c: these may be left no more when the pass
 * begins again.
 */
static void note_repaired(sched_t *s, struct queue_key key)
{
    if (!s->pass.is_left || !queue_before(s->pass.left, key))
        s->queues->repaired = key;
}

/* The next holder that needs a look, or as many have been passed over as may be in a step; JOB_NONE. */
static uint32_t next_to_repair(sched_t *s)
{
    struct pass *p = &s->pass;
    uint32_t slot = held_next(s, true, p->after);
    for (int i = 0; i < STEP_PASSES && slot != JOB_NONE && !is_to_be_looked_at(s, &s->jobs[slot]);
         i++) {
        note_repaired(s, s->jobs[slot].key);
        slot = held_next(s, true, s->jobs[slot].key);
    }
    return slot;
}

enum step repair_step(sched_t *s)
{
    struct queues *n = s->queues;
    if (!s->pass.begun) {
        s->pass.is_left = outrank_first(s, &s->pass.left);
        s->pass.after = n->repaired;
    }
    uint32_t slot = next_to_repair(s);
    if (slot == JOB_NONE) {
        if (!s->pass.is_left)
            n->repair_from = n->repair_until = 0;
        return STEP_BUSY;
    }
    struct job *job = &s->jobs[slot];
    s->pass.begun = true;
    s->pass.after = job->key;
    if (!is_to_be_looked_at(s, job))
        return STEP_DONE;
    holder_lift(s, slot);
    if (holder_put_back(s, slot)) {
        note_repaired(s, job->key);
        return STEP_DONE;
    }
    if (job->is_preempting && s->queues->setup->has_levels)
        note_freed(s, job->at, job_until(job)); /* higher levels knew of it, and may have it */
    bool is_left = s->pass.is_left && queue_before(s->pass.left, job->key);
    replan_reach(s, job->key, true); /* it stays lifted until those behind it are */
    s->replan.displaces = true;
    if (!is_left)
        s->pass.left = key_before(job->key);
    s->pass.is_left = true;
    return STEP_DONE;
}
