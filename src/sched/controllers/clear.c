/* Jobs without a limit are stopped when a block begins.
 *
 * Whether a job fits before a block goes by its limit, or by its estimate if it has no limit. One that takes
 * longer than its estimate then may still be there when the block begins: it is stopped, as one with a
 * limit is when that is over. One whose estimate is not over goes on until it is: the block was added, or
 * changed, after its start. One of unknown end started where no block comes, and so goes on.
 */
#include "sched/controllers/blocks.h"
#include "sched/controllers/rows.h"
#include "sched/controllers/victims.h"
#include "sched/queues.h"

/* When a running job is to be stopped for a block, and for which; INT64_MAX: for none. */
static int64_t stop_time(const sched_t *s, uint32_t slot, uint32_t *block)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    if (d->limit < SCHED_UNLIMITED || d->estimate >= s->place->endless || d->is_cleared)
        return INT64_MAX;
    int64_t over = job->at + d->estimate; /* a turn that is past by now is in nobody's way */
    return blocks_come(s, slot, job->booking, over > s->now ? over : s->now, block);
}

/* The same of one that waits: it starts only where no block begins before its estimate is over. */
static int64_t stop_time_ahead(sched_t *s, uint32_t slot, uint32_t *block)
{
    const struct job *job = &s->jobs[slot];
    int64_t start = job->state == SCHED_RESERVED && !job->is_claiming
                        ? job->at
                        : sched_not_before(s, job_handle(s, slot));
    start = start > s->now ? start : s->now;
    int64_t estimate = job->details->estimate;
    return estimate < INT64_MAX - start ? blocks_begin(s, slot, start + estimate, block)
                                        : INT64_MAX;
}

int64_t sched_stop_time(sched_t *s, sched_job_t handle, const char **block)
{
    uint32_t slot = job_in_queue(s, handle), number = 0;
    if (slot == JOB_NONE || s->jobs[slot].state == SCHED_REJECTED)
        return -1;
    const struct details *d = s->jobs[slot].details;
    int64_t at = INT64_MAX;
    if (s->jobs[slot].state == SCHED_RUNNING)
        at = stop_time(s, slot, &number);
    else if (d->limit == SCHED_UNLIMITED && d->estimate < s->place->endless)
        at = stop_time_ahead(s, slot, &number);
    if (at == INT64_MAX)
        return -1;
    *block = s->queues->block[number].block->name;
    return at;
}

/* Whether blocks stop a job, on what it holds: it goes on without a limit, and its estimate is known. */
static bool is_stopped_by_blocks(const sched_t *s, const struct details *d)
{
    return d->limit == SCHED_UNLIMITED && d->estimate < s->place->endless && s->queues->blocks_set;
}

int64_t gone_by(const sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    if (d->limit < SCHED_UNLIMITED)
        return d->limit < INT64_MAX - at ? at + d->limit : INT64_MAX;
    bool runs = job->state == SCHED_RUNNING;
    if (runs && d->is_cleared) /* the shell was told, even if the block is gone by now */
        return s->now;
    if (!is_stopped_by_blocks(s, d))
        return INT64_MAX;
    int64_t over = at + d->estimate;
    return blocks_come_to_all(s, slot, booking, runs && over < s->now ? s->now : over);
}

int64_t overrun_since(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    int64_t over = job->at + job->details->estimate;
    uint32_t block;
    if (!is_stopped_by_blocks(s, job->details))
        return over;
    int64_t stopped = blocks_come(s, slot, job->booking, over, &block);
    return stopped <= s->now ? stopped : over;
}

/* Note when it is to be stopped. Returns 0, or -1 with ENOMEM. */
static int note_stop_time(sched_t *s, uint32_t slot)
{
    struct heap *stops = &s->queues->stops;
    uint32_t block;
    int64_t at = stop_time(s, slot, &block);
    if (heap_has(stops, slot))
        heap_move(stops, slot, at, s->jobs[slot].key.seq);
    else if (at < INT64_MAX)
        return heap_put(stops, slot, at, s->jobs[slot].key.seq);
    return 0;
}

/* Blocks have changed, or limits: look at all that run. Returns 0, or -1 with ENOMEM, and the next pass does. O(jobs). */
static int look_all(sched_t *s)
{
    struct queues *n = s->queues;
    for (uint32_t slot = n->first; slot != JOB_NONE; slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state == SCHED_RUNNING && note_stop_time(s, slot) < 0)
            return -1;
    n->is_clear_late = false;
    return 0;
}

static int reserve_stop(sched_t *s, uint32_t slot)
{
    struct heap *stops = &s->queues->stops;
    const struct details *d = s->jobs[slot].details; /* NULL: a member of an array will have it */
    if ((d && d->limit < SCHED_UNLIMITED) || !s->queues->blocks_set || heap_has(stops, slot))
        return 0;
    return heap_put(stops, slot, INT64_MAX, s->jobs[slot].key.seq);
}

static void look_at_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    if (heap_has(&s->queues->stops, slot))
        note_stop_time(s, slot); /* there is room for it */
}

static void forget_stop(sched_t *s, uint32_t slot)
{
    s->jobs[slot].details->is_cleared = false;
    if (heap_has(&s->queues->stops, slot))
        heap_take(&s->queues->stops, slot);
}

/* One that runs has given back a part of what it held, perhaps all that a block comes over. */
static void freed(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].state == SCHED_RUNNING && heap_has(&s->queues->stops, slot))
        note_stop_time(s, slot); /* there is room for it */
}

/* Stop one whose time has come, unless it is being stopped already. */
static enum step stop_next_for_block(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->is_clear_late && look_all(s) < 0)
        return STEP_FAILED;
    if (n->stops.n == 0 || n->stops.v[0].key > s->now)
        return STEP_BUSY;
    uint32_t slot = n->stops.v[0].item, block;
    struct details *d = s->jobs[slot].details;
    if (decision_reserve(s) < 0 || victims_reserve(n, n->n_victims + 1) < 0)
        return STEP_FAILED;
    int64_t at = stop_time(s, slot, &block);
    if (at > s->now) { /* the block is another one, or no more in its way */
        heap_move(&n->stops, slot, at, s->jobs[slot].key.seq);
        return STEP_DONE;
    }
    bool is_told = is_being_stopped(s, slot);
    struct sched_reason why = blocks_told(s, block);
    const struct sched_reason *told = is_told ? NULL : told_reason(n, &why);
    if (!is_told && !told)
        return STEP_FAILED;
    heap_move(&n->stops, slot, INT64_MAX, s->jobs[slot].key.seq);
    d->is_cleared = true;
    if (is_told)
        return STEP_DONE;
    victim_leaves(s, slot);
    decision_add(s, SCHED_STOP, slot, s->now, told);
    return STEP_DONE;
}

static int64_t next_stop_time(const sched_t *s)
{
    return s->queues->stops.n > 0 ? s->queues->stops.v[0].key : INT64_MAX;
}

const struct controller clear_controller = {
    .name = "clear",
    .prepare = reserve_stop,
    .started = look_at_started,
    .freed = freed,
    .requeued = forget_stop,
    .forgotten = forget_stop,
    .turn = stop_next_for_block,
    .next_time = next_stop_time,
};
