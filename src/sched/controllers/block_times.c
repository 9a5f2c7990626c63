/* When blocks are on. */
#include <string.h>

#include "base/number.h"
#include "sched/controllers/blocks.h"
#include "sched/queues.h"

/* The start of the first turn that is over after a time; INT64_MAX: there is none. */
static int64_t turn_after(const struct sched_block *b, int64_t at)
{
    int64_t start = b->start;
    if (at < start + b->duration)
        return start;
    if (b->every == 0)
        return INT64_MAX;
    start += (at - start) / b->every * b->every;
    return at < start + b->duration ? start : start + b->every;
}

int64_t block_met_until(const struct sched_block *b, int64_t at, int64_t end)
{
    int64_t start = turn_after(b, at);
    return start < end ? start + b->duration : -1;
}

uint64_t blocks_during(const struct queues *n, uint64_t blocks, int64_t at, int64_t end)
{
    uint64_t met = 0;
    for (; blocks; blocks &= blocks - 1)
        if (block_met_until(n->block[__builtin_ctzll(blocks)].block, at, end) >= 0)
            met |= blocks & -blocks;
    return met;
}

/* The blocks that may be in a job's way, of which it holds something if it has a booking (else -1). */
static uint64_t blocks_of(const sched_t *s, uint32_t slot, int64_t booking)
{
    uint64_t blocks = s->queues->blocks_set & ~s->jobs[slot].ask.permits;
    return blocks && booking >= 0 ? blocks & s->place->ops->blocks(s->place, booking) : blocks;
}

bool blocks_keep_clear(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t end)
{
    uint64_t set = blocks_of(s, slot, -1);
    uint64_t met = set ? blocks_during(s->queues, set, at, end) : 0;
    return !met || !(met & blocks_of(s, slot, booking));
}

/* The first time at or after `from` at which one of some blocks is on or, with `begins`, begins; *block says which. INT64_MAX:
 * there is none.
 */
static int64_t first_turn(const sched_t *s, uint64_t blocks, int64_t from, bool begins,
                          uint32_t *block)
{
    int64_t first = INT64_MAX;
    for (; blocks; blocks &= blocks - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(blocks);
        const struct sched_block *b = s->queues->block[i].block;
        int64_t at = turn_after(b, from);
        if (at < from)
            at = !begins ? from : b->every > 0 ? at + b->every : INT64_MAX;
        if (at == INT64_MAX)
            continue;
        if (at < first ||
            (at == first && strcmp(b->name, s->queues->block[*block].block->name) < 0)) {
            first = at;
            *block = i;
        }
    }
    return first;
}

int64_t blocks_come(const sched_t *s, uint32_t slot, int64_t booking, int64_t from, uint32_t *block)
{
    return first_turn(s, blocks_of(s, slot, booking), from, false, block);
}

/* When one of some blocks is over that are on at a time: the last one, or else the first. INT64_MAX: none is. */
static int64_t end_of_turn(const sched_t *s, uint64_t blocks, int64_t at, bool last)
{
    uint64_t on = blocks_during(s->queues, blocks, at, at + 1);
    int64_t end = INT64_MAX;
    for (uint64_t i = on; i; i &= i - 1) {
        const struct sched_block *b = s->queues->block[__builtin_ctzll(i)].block;
        int64_t until = block_met_until(b, at, at + 1);
        end = i == on || (until > end) == last ? until : end;
    }
    return end;
}

int64_t blocks_over(const sched_t *s, uint32_t slot, int64_t booking, int64_t from)
{
    uint64_t blocks = blocks_of(s, slot, booking);
    for (int i = 0; i < TURNS_FOLLOWED; i++) {
        int64_t end = end_of_turn(s, blocks, from, true);
        if (end == INT64_MAX)
            return from;
        from = end;
    }
    return INT64_MAX;
}

int64_t blocks_next_end(const sched_t *s, uint32_t slot, int64_t at)
{
    return end_of_turn(s, blocks_of(s, slot, -1), at, false);
}

int64_t blocks_come_to_all(const sched_t *s, uint32_t slot, int64_t booking, int64_t from)
{
    const struct place_ops *ops = s->place->ops;
    uint64_t set = blocks_of(s, slot, -1);
    int64_t last = from;
    for (uint32_t i = 0; i < ops->holds(s->place, booking) && last < INT64_MAX; i++) {
        uint32_t block;
        uint64_t over = set & ops->blocks_of_one(s->place, booking, i);
        last = greater(last, first_turn(s, over, from, false, &block));
    }
    return last;
}

int64_t blocks_begin(const sched_t *s, uint32_t slot, int64_t from, uint32_t *block)
{
    return first_turn(s, blocks_of(s, slot, -1), from, true, block);
}

struct sched_reason blocks_told(const sched_t *s, uint32_t block)
{
    const struct sched_block *b = s->queues->block[block].block;
    return (struct sched_reason){.kind = SCHED_REASON_SET_ASIDE,
                                 .block = b->name,
                                 .at = block_met_until(b, s->now, s->now + 1),
                                 .second = s->queues->setup->second};
}
