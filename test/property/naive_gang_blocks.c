/* Gangs beside blocks (naive_gangs.h), in the words of berth-config(5): jobs are planned around them by their limits, those that
 * have none by their estimates; these are stopped if they are still there when a block is on.
 */
#include "naive_gangs.h"

/* Longer than all that blocks do before they repeat. */
enum { HORIZON = 240 };

/* The first turn of a block that ends after a time: its start; INT64_MAX: none does. */
static int64_t turn_after(const struct naive_block *b, int64_t after)
{
    int64_t start = b->start;
    while (b->every > 0 && start + b->duration <= after)
        start += b->every;
    return start + b->duration > after ? start : INT64_MAX;
}

/* The cores that blocks take from a job during [from, until): all blocks, or those that come again. */
static uint32_t taken(const struct naive_gangs *m, const struct naive_job *j, int64_t from,
                      int64_t until, bool all)
{
    uint32_t cores = 0;
    for (int i = 0; i < NAIVE_BLOCKS; i++) {
        const struct naive_block *b = &m->block[i];
        bool may_use = b->jobs >> (j - m->job) & 1;
        if (b->cores != 0 && (all || b->every > 0) && !may_use && turn_after(b, from) < until)
            cores |= b->cores;
    }
    return cores;
}

/* When a job is over that starts at a time, as blocks see it. */
static int64_t over(const struct naive_job *j, int64_t start)
{
    int64_t lasts = j->limit < INT64_MAX ? j->limit : j->estimate;
    return lasts < INT64_MAX ? start + lasts : INT64_MAX;
}

static uint32_t clear_at(const struct naive_gangs *m, const struct naive_job *j, int64_t at,
                         bool all)
{
    return ((1u << m->cores) - 1) & ~taken(m, j, at, over(j, at), all);
}

uint32_t naive_gangs_clear(const struct naive_gangs *m, const struct naive_job *j)
{
    return clear_at(m, j, m->now, true) & ~m->down;
}

bool naive_gangs_ever(const struct naive_gangs *m, const struct naive_job *j, int cores)
{
    for (int64_t at = m->now; at < m->now + HORIZON; at++)
        if (__builtin_popcount(clear_at(m, j, at, false)) >= cores)
            return true;
    return false;
}

void naive_gangs_clear_blocks(struct naive_gangs *m)
{
    for (int i = 0; i < m->jobs; i++) {
        struct naive_job *j = &m->job[i];
        uint32_t cores = taken(m, j, m->now, m->now + 1, true);
        for (int k = 0; k < j->members; k++)
            if (j->state[k] == NAIVE_RUNS && j->limit == INT64_MAX && j->estimate < INT64_MAX &&
                j->start[k] + j->estimate <= m->now && (j->on[k] & cores) != 0)
                j->state[k] = NAIVE_CLEARS;
    }
}
