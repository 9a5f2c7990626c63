/* Jobs that users hold until they release them, and jobs that begin at a time at the earliest. */
#include "sched/controllers/rows.h"
#include "sched/queues.h"

static int is_held(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    (void)s, (void)slot;
    return request->hold;
}

static void held_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    (void)s, (void)slot;
    why->kind = SCHED_REASON_HELD;
}

const struct controller hold_controller = {
    .name = "hold",
    .block = BLOCK_HOLD,
    .waits = is_held,
    .reason = held_reason,
};

static int begins_later(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    if (request->begin <= s->now)
        return 0;
    return heap_put(&s->queues->begins, slot, request->begin, s->jobs[slot].key.seq) < 0 ? -1 : 1;
}

/* Let go a job whose time has come. */
static enum step let_due_job_go(sched_t *s)
{
    struct heap *begins = &s->queues->begins;
    if (begins->n == 0 || begins->v[0].key > s->now)
        return STEP_BUSY;
    uint32_t slot = begins->v[0].item;
    if (job_unblock(s, slot, BLOCK_BEGIN) < 0)
        return STEP_FAILED;
    heap_take(begins, slot);
    return STEP_DONE;
}

static int64_t next_begin(const sched_t *s)
{
    const struct heap *begins = &s->queues->begins;
    return begins->n > 0 ? begins->v[0].key : INT64_MAX;
}

static void begins_never(sched_t *s, uint32_t slot)
{
    if (heap_has(&s->queues->begins, slot))
        heap_take(&s->queues->begins, slot);
}

static int begins_apart(sched_t *s, uint32_t slot, uint32_t part)
{
    struct heap *begins = &s->queues->begins;
    int64_t at = s->jobs[slot].details->begin;
    return heap_has(begins, part) ? 0 : heap_put(begins, part, INT64_MAX, (uint64_t)at);
}

static void begins_parted(sched_t *s, uint32_t part)
{
    heap_move(&s->queues->begins, part, s->jobs[part].details->begin, s->jobs[part].key.seq);
}

static void begin_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    *why = (struct sched_reason){.kind = SCHED_REASON_BEGIN,
                                 .at = s->jobs[slot].details->begin,
                                 .second = s->queues->setup->second};
}

const struct controller begin_controller = {
    .name = "begin",
    .block = BLOCK_BEGIN,
    .waits = begins_later,
    .part = begins_apart,
    .parted = begins_parted,
    .forgotten = begins_never,
    .reason = begin_reason,
    .turn = let_due_job_go,
    .next_time = next_begin,
};
