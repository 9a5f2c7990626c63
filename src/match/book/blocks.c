#include "match/book/blocks.h"

#include <errno.h>
#include <stdlib.h>

#include "match/inner.h"

_Static_assert(BLOCKS_MAX <= 64, "blocks.used has a bit for each");

/* The last occurrence that begins before `end`: its start in *start; false if there is none. */
static bool last_before(const struct match_block *w, int64_t end, int64_t *start)
{
    if (w->start >= end)
        return false;
    *start = w->start + (w->every ? (end - 1 - w->start) / w->every * w->every : 0);
    return true;
}

uint64_t match_blocks_during(const struct match_blocks *s, uint64_t numbers, int64_t at,
                             int64_t end)
{
    uint64_t found = 0;

    for (uint64_t left = numbers & s->used; left; left &= left - 1) {
        const struct match_block *w = &s->block[__builtin_ctzll(left)];
        int64_t start;
        if (last_before(w, end, &start) && start + w->duration > at)
            found |= left & -left;
    }
    return found;
}

int64_t match_blocks_until(const struct match_blocks *s, uint64_t numbers, int64_t at, int64_t end)
{
    int64_t until = at;

    for (uint64_t left = numbers & s->used; left; left &= left - 1) {
        const struct match_block *w = &s->block[__builtin_ctzll(left)];
        int64_t start;
        if (!last_before(w, end, &start) || start + w->duration <= at)
            continue;
        if (w->every && end - at > w->every - w->duration)
            return INT64_MAX; /* longer than any gap */
        if (start + w->duration > until)
            until = start + w->duration;
    }
    return until;
}

/* The first of start + k * every after now; INT64_MAX: none. */
static int64_t next_occurrence(int64_t start, int64_t every, int64_t now)
{
    if (now < start)
        return start;
    return every ? start + ((now - start) / every + 1) * every : INT64_MAX;
}

int64_t match_blocks_next_change(const struct match_blocks *s, uint64_t numbers, int64_t now)
{
    int64_t first = INT64_MAX;

    for (uint64_t left = numbers & s->used; left; left &= left - 1) {
        const struct match_block *w = &s->block[__builtin_ctzll(left)];
        int64_t begin = next_occurrence(w->start, w->every, now);
        int64_t end = next_occurrence(w->start + w->duration, w->every, now);
        first = begin < first ? begin : first;
        first = end < first ? end : first;
    }
    return first;
}

bool match_blocks_repeat(const struct match_blocks *s, int64_t *from, int64_t *length)
{
    for (uint64_t left = s->used; left; left &= left - 1) {
        const struct match_block *w = &s->block[__builtin_ctzll(left)];
        int64_t end, x = *length, y = w->every, sum;
        if (__builtin_add_overflow(w->start, w->duration, &end))
            return false;
        *from = end > *from ? end : *from;
        while (y != 0) {
            int64_t rest = x % y;
            x = y;
            y = rest;
        }
        if (w->every && __builtin_mul_overflow(*length, w->every / x, length))
            return false;
        if (__builtin_add_overflow(*from, *length, &sum))
            return false;
    }
    return true;
}

void match_blocks_clear(struct match_blocks *s)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++)
        free(s->block[i].vertex);
    *s = (struct match_blocks){0};
}

static int need_states(struct match *m, const struct match_block *w)
{
    for (size_t i = 0; i < w->n; i++)
        for (uint32_t x = w->vertex[i]; vertex_is_there(m, w->vertex[i]) && x != VERTEX_NONE;
             x = vertex_above(m, x))
            if (!match_state(m, x))
                return -1;
    return 0;
}

/* Say in the states of a block's vertices, and of what is above them, whether they belong to it. */
static void mark_block(struct match *m, uint32_t number, bool blocked)
{
    const struct match_block *w = &m->blocks.block[number];
    uint64_t bit = UINT64_C(1) << number;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t v = w->vertex[i];
        if (!vertex_is_there(m, v))
            continue;
        m->state[v]->blocks = blocked ? m->state[v]->blocks | bit : m->state[v]->blocks & ~bit;
        for (uint32_t x = v; x != VERTEX_NONE; x = vertex_above(m, x))
            m->state[x]->blocks_below =
                blocked ? m->state[x]->blocks_below | bit : m->state[x]->blocks_below & ~bit;
    }
}

int match_blocks_mark(struct match *m)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        if (!(m->blocks.used >> i & 1))
            continue;
        if (need_states(m, &m->blocks.block[i]) < 0)
            return -1;
        mark_block(m, i, true);
    }
    return 0;
}

int match_blocks_set(struct match *m, uint32_t number, const struct match_block *block)
{
    uint64_t bit = UINT64_C(1) << number;

    if (need_states(m, block) < 0)
        return -1;
    mark_block(m, number, false);
    free(m->blocks.block[number].vertex);
    m->blocks.block[number] = *block;
    m->blocks.used = block->n > 0 ? m->blocks.used | bit : m->blocks.used & ~bit;
    mark_block(m, number, true);
    return 0;
}
