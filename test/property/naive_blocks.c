/* The blocks of naive_blocks.h. */
#include "naive_blocks.h"

#include "base/number.h"
#include "naive_queues_inner.h"
#include "naive_tails.h"

/* The first turn of a block that ends after a time: its start; INT64_MAX: none does. */
static int64_t turn_after(const struct nq_block *b, int64_t after)
{
    int64_t start = b->start;
    if (b->every > 0 && after >= start + b->duration)
        start += (after - start - b->duration) / b->every * b->every + b->every;
    return after < start + b->duration ? start : INT64_MAX;
}

/* Jobs of a virtual queue are in its parent, too. */
static bool permits(const struct naive_queues *q, const struct nq_block *b, int job)
{
    const struct nq_job *j = &q->job[job];
    int first = j->array < 0 ? job : j->array;
    return b->users >> j->user & 1 || b->lanes >> j->lane & 1 || b->job == first ||
           (j->is_virtual && b->virtuals >> j->lane & 1);
}

/* Of all blocks, or of those that come again. */
static uint32_t set_aside(const struct naive_queues *q, int job, int64_t from, int64_t until,
                          bool all)
{
    uint32_t nodes = 0;
    for (int i = 0; i < NQ_BLOCKS; i++) {
        const struct nq_block *b = &q->block[i];
        if ((all || b->every > 0) && turn_after(b, from) < until && !permits(q, b, job))
            nodes |= b->nodes;
    }
    return nodes;
}

uint32_t nb_set_aside(const struct naive_queues *q, int job, int64_t from, int64_t until)
{
    return set_aside(q, job, from, until, true);
}

uint32_t nb_aside_from_lane(const struct naive_queues *q, int lane)
{
    uint32_t nodes = 0;
    for (int i = 0; i < NQ_BLOCKS; i++) {
        const struct nq_block *b = &q->block[i];
        if (turn_after(b, q->now) <= q->now && !(b->lanes >> lane & 1))
            nodes |= b->nodes;
    }
    return nodes;
}

int64_t nb_next_end(const struct naive_queues *q, int64_t after)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < NQ_BLOCKS; i++) {
        const struct nq_block *b = &q->block[i];
        int64_t start = b->nodes ? turn_after(b, after) : INT64_MAX;
        if (start < INT64_MAX)
            next = lesser(next, start + b->duration);
    }
    return next;
}

int64_t nb_next_turn(const struct naive_queues *q, int64_t after)
{
    int64_t next = nb_next_end(q, after);
    for (int i = 0; i < NQ_BLOCKS; i++) {
        const struct nq_block *b = &q->block[i];
        int64_t start = b->nodes ? turn_after(b, after) : INT64_MAX;
        if (start <= after && b->every > 0)
            start += b->every;
        if (start > after)
            next = lesser(next, start);
    }
    return next;
}

int64_t nb_settled(const struct naive_queues *q)
{
    int64_t at = q->now;
    for (int i = 0; i < NQ_BLOCKS; i++)
        if (q->block[i].nodes)
            at = greater(at, q->block[i].start + q->block[i].duration);
    return at;
}

static bool has_room(const struct naive_queues *q, int job, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    uint32_t part = q->lane[j->lane].part;
    return nq_lowest(q, job, part & ~set_aside(q, job, at, nt_clear(j, at), false)) != 0;
}

bool nb_leave_room(const struct naive_queues *q, int job, int64_t from, int64_t *last)
{
    int64_t settled = greater(nb_settled(q), from), end = settled + NB_PERIOD;
    *last = INT64_MAX;
    if (has_room(q, job, settled))
        return true;
    for (int64_t t = nb_next_end(q, settled); t <= end; t = nb_next_end(q, t))
        if (has_room(q, job, t))
            return true;
    for (*last = settled - 1; *last >= from; --*last)
        if (has_room(q, job, *last))
            return true;
    return false;
}

static bool waits(const struct nq_job *j)
{
    return j->state != NQ_RUNNING && j->state != NQ_GONE;
}

void nb_refuse(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    j->rejected = j->state != NQ_BEHIND; /* those behind it are so with it */
    j->to_tell = true;
    nq_end(q, job);
}

/* Those behind a job wait for what that asks for. */
static int whom(const struct naive_queues *q, int job)
{
    return q->job[job].state == NQ_BEHIND ? nq_first_together(q, job) : job;
}

void nb_reject(struct naive_queues *q)
{
    bool never[NQ_JOBS];
    for (int i = 0; i < q->jobs; i++)
        never[i] = waits(&q->job[i]) && !nr_could_ever(q, whom(q, i));
    for (int i = 0; i < q->jobs; i++)
        if (never[i])
            nb_refuse(q, i);
}

/* Whether a job goes on only until a block comes: it has no limit, and its estimate is over then. */
static bool goes_on(const struct nq_job *j)
{
    return j->state == NQ_RUNNING && j->limit == INT64_MAX && j->estimate < NQ_ENDLESS &&
           !j->cleared;
}

void nb_stop(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (!goes_on(j) || j->at + j->estimate > q->now ||
            !(nb_set_aside(q, i, q->now, q->now + 1) & j->nodes))
            continue;
        j->cleared = true;
        j->to_clear = !j->stopping && !j->dismissed && !j->leaving;
    }
}

int64_t nb_comes(const struct naive_queues *q, int job, uint32_t nodes, int64_t from)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < NQ_BLOCKS; i++) {
        const struct nq_block *b = &q->block[i];
        int64_t start = turn_after(b, from);
        if (b->nodes & nodes && start < INT64_MAX && !permits(q, b, job))
            next = lesser(next, greater(start, from));
    }
    return next;
}

int64_t nb_next_stop(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return goes_on(j) ? nb_comes(q, job, j->nodes, greater(j->at + j->estimate, q->now + 1))
                      : INT64_MAX;
}

void nb_set(struct naive_queues *q, int number, const struct nq_block *block)
{
    q->block[number] = *block;
    q->swept = false;
    q->judges_all = q->repair = q->back = true;
    for (int i = 0; i < q->jobs; i++)
        q->job[i].due |= q->job[i].state == NQ_LIMITED;
}
