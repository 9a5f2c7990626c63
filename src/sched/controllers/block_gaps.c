/* Whether the blocks that come again leave time for a job.
 *
 * A job that begins at some time meets some blocks; there is time for it if the machine, idle and up, has
 * what it asks for beside these. Blocks that leave no gap as long as the job is are met whenever it begins.
 * What the others leave repeats with the least common multiple of their periods, once all have come for the
 * first time. Of the times in one such pattern those count at which a turn of one of them ends: from any
 * other time one can go back to the last such end, or to the beginning of all, and meets no more. Before
 * the last block comes for the first time there may be time as well; the last time to begin is right before
 * a turn begins.
 *
 * Where the pattern has too many turns (BLOCKS_TURNS), only those blocks count that are met in any case:
 * nobody is rejected for the others, and the job waits.
 */
#include <errno.h>
#include <string.h>

#include "sched/controllers/blocks.h"
#include "sched/queues.h"

#define SETS_MAX 16 /* of blocks of which it is remembered whether there is room beside them */

struct gaps {
    sched_t *s;
    const struct place_ask *ask;
    int64_t duration, from;
    uint64_t
        always; /* blocks that are met whenever it begins, after they have come for the first time, */
    uint64_t sometimes; /* and others */
    uint64_t set[SETS_MAX];
    bool fits[SETS_MAX];
    uint32_t n, oldest;
};

static const struct sched_block *block_of(const struct gaps *g, uint64_t blocks)
{
    return g->s->queues->block[__builtin_ctzll(blocks)].block;
}

/* Whether there is room beside some blocks: 1, 0, or -1 with ENOMEM. */
static int is_room(struct gaps *g, uint64_t blocks)
{
    if (!blocks)
        return 1;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->fits[i] && !(blocks & ~g->set[i]))
            return 1;
        if (!g->fits[i] && !(g->set[i] & ~blocks))
            return 0;
    }
    bool fits = g->s->place->ops->ever(g->s->place, g->ask, blocks) == 0;
    if (!fits && errno == ENOMEM)
        return -1;
    uint32_t i = g->n < SETS_MAX ? g->n++ : g->oldest++ % SETS_MAX;
    g->set[i] = blocks;
    g->fits[i] = fits;
    return fits;
}

static int is_room_at(struct gaps *g, int64_t at)
{
    uint64_t all = g->always | g->sometimes;
    return is_room(g, blocks_during(g->s->queues, all, at, at + g->duration));
}

/* The start of a block's last turn that begins before a time; -1: none does. */
static int64_t begin_before(const struct sched_block *b, int64_t at)
{
    return at <= b->start ? -1 : b->start + (at - 1 - b->start) / b->every * b->every;
}

/* The end of its first turn that ends after a time. */
static int64_t end_after(const struct sched_block *b, int64_t at)
{
    int64_t end = b->start + b->duration;
    return at < end ? end : end + ((at - end) / b->every + 1) * b->every;
}

/* After how long the pattern of those blocks repeats that are not always met; -1: it has too many turns. */
static int64_t pattern(const struct gaps *g)
{
    int64_t length = 1, turns = 0, more;
    for (uint64_t left = g->sometimes; left; left &= left - 1) {
        int64_t every = block_of(g, left)->every, x = length, y = every;
        while (y != 0) {
            int64_t rest = x % y;
            x = y;
            y = rest;
        }
        if (__builtin_mul_overflow(length, every / x, &more) || more > QUEUES_TIME_MAX)
            return -1;
        length = more;
    }
    for (uint64_t left = g->sometimes; left; left &= left - 1)
        turns += length / block_of(g, left)->every;
    return turns <= BLOCKS_TURNS ? length : -1;
}

/* Whether it can begin at some time in the pattern, from a time on at which all blocks have come. 1, 0, or
 * -1.
 */
static int fits_pattern(struct gaps *g, int64_t from)
{
    int64_t length = pattern(g), at = from;
    if (length < 0)
        g->sometimes = 0;
    int room = is_room_at(g, from);
    while (room == 0 && g->sometimes) {
        int64_t next = INT64_MAX;
        for (uint64_t left = g->sometimes; left; left &= left - 1) {
            int64_t end = end_after(block_of(g, left), at);
            next = end < next ? end : next;
        }
        if (next > from + length)
            return 0;
        at = next;
        room = is_room_at(g, at);
    }
    return room;
}

/* The last time to begin before all blocks have come, at `to`; -1: there is none, -2: ENOMEM. Of many turns
 * the last ones are looked at, and before these there is time.
 */
static int64_t last_fit(struct gaps *g, int64_t to)
{
    int64_t begin = to + 1;
    for (int64_t turns = 0; turns < BLOCKS_TURNS; turns++) {
        int64_t next = -1;
        for (uint64_t left = g->always | g->sometimes; left; left &= left - 1) {
            int64_t at = begin_before(block_of(g, left), begin);
            next = at > next ? at : next;
        }
        begin = next;
        if (begin - g->duration < g->from)
            return -1;
        int room = is_room_at(g, begin - g->duration);
        if (room != 0)
            return room < 0 ? -2 : begin - g->duration;
    }
    return begin - g->duration > g->from ? begin - g->duration - 1 : -1;
}

/* The first by name, of those that are enough alone if there are: numbers may change in a restart. */
static const char *first_block_name(struct gaps *g, uint64_t blocks)
{
    const char *first = NULL;
    for (int alone = 1; alone >= 0 && !first; alone--)
        for (uint64_t left = blocks; left; left &= left - 1) {
            const char *name = block_of(g, left)->name;
            if ((!alone || is_room(g, left & -left) == 0) && (!first || strcmp(name, first) < 0))
                first = name;
        }
    return first;
}

/* Sort out the blocks that count; the last time at which one comes for the first time, if that is yet to
 * be.
 */
static int64_t sort(struct gaps *g)
{
    int64_t all = g->from;
    for (uint64_t left = g->s->queues->blocks_set & ~g->ask->permits; left; left &= left - 1) {
        const struct sched_block *b = block_of(g, left);
        if (b->every == 0)
            continue;
        bool always = g->duration > b->every - b->duration;
        *(always ? &g->always : &g->sometimes) |= left & -left;
        all = b->start > all ? b->start : all;
    }
    return all;
}

int blocks_leave_time(sched_t *s, uint32_t slot, int64_t duration, int64_t from,
                      struct sched_reason *why)
{
    struct queues *n = s->queues;
    struct gaps g = {.s = s, .ask = &s->jobs[slot].ask, .duration = duration, .from = from};
    int64_t all = n->blocks_set ? sort(&g) : from;
    int room = is_room(&g, g.always | g.sometimes);
    room = room == 0 ? fits_pattern(&g, all) : room;
    if (room != 0)
        return room < 0 ? -1 : 0;
    int64_t last = all > from ? last_fit(&g, all) : -1;
    if (last == -2)
        return -1;
    if (last >= 0) {
        n->never_at = last + 1 < n->never_at ? last + 1 : n->never_at;
        return 0;
    }
    uint64_t blocks = is_room(&g, g.always) == 0 ? g.always : g.always | g.sometimes;
    *why = (struct sched_reason){.kind = duration < s->place->endless ? SCHED_REASON_BLOCK
                                                                      : SCHED_REASON_BLOCK_RECURS,
                                 .block = first_block_name(&g, blocks)};
    errno = EINVAL;
    return -1;
}
