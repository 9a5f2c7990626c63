/* Jobs that run on after the end that they were expected to have.
 *
 * What such a job holds is not free, whatever its estimate said. Its booking is extended, by as much as it has
 * overrun so far and a second at least, so that a job that stays is looked at ever more rarely; but up to its
 * limit at most until that is over too, or to the block that stops it, as what is promised begins behind that. Reservations
 * in the way are repaired.
 */
#include "base/array.h"
#include "berth/sched_snapshot.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/rows.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"

static enum step extend(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->ends.n == 0 || n->ends.v[0].key > s->now)
        return STEP_BUSY;
    uint32_t slot = n->ends.v[0].item;
    struct job *job = &s->jobs[slot];
    int64_t was = job_until(job);
    int64_t expected = overrun_since(s, slot), gone = gone_by(s, slot, job->booking, job->at);
    int64_t over = s->now - expected > n->setup->second ? s->now - expected : n->setup->second;
    int64_t until = s->now < INT64_MAX / 2 - over ? s->now + over : INT64_MAX / 2;
    if (gone > s->now && gone < until)
        until = gone;
    if (until <= s->now || was >= INT64_MAX / 2)
        return STEP_BUSY;
    bool leaves = is_out_of_time(s, slot) && n->setup->stops_any;
    if ((leaves && victims_reserve(n, n->n_victims + 1) < 0) ||
        array_grow((void **)&n->extended, &n->cap_extended, n->n_extended + 1,
                   sizeof(*n->extended)) < 0 ||
        s->place->ops->extend(s->place, job->booking, until) < 0 ||
        controllers_extend(s, slot, until) < 0)
        return STEP_FAILED;
    s->booked++;
    repair_note(s, was, until);
    job->ask.duration = until - job->at;
    heap_move(&n->ends, slot, until, job->key.seq);
    n->extended[n->n_extended++] = job_handle(s, slot);
    if (leaves)
        victim_leaves(s, slot);
    return STEP_DONE;
}

size_t sched_extended(const sched_t *s, const sched_job_t **jobs)
{
    *jobs = s->queues->extended;
    return s->queues->n_extended;
}

static int reserve_end(sched_t *s, uint32_t slot)
{
    struct heap *ends = &s->queues->ends;
    s->queues->runners.is_known = false;
    return heap_has(ends, slot) ? 0 : heap_put(ends, slot, INT64_MAX, s->jobs[slot].key.seq);
}

static void move_end_at_start(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    heap_move(&s->queues->ends, slot, job_until(&s->jobs[slot]), s->jobs[slot].key.seq);
}

static void forget_end(sched_t *s, uint32_t slot)
{
    s->queues->runners.is_known = false;
    if (heap_has(&s->queues->ends, slot))
        heap_take(&s->queues->ends, slot);
}

const struct controller overrun_controller = {
    .name = "overrun",
    .prepare = reserve_end,
    .started = move_end_at_start,
    .requeued = forget_end,
    .forgotten = forget_end,
    .turn = extend,
};
