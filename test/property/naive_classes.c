#include "naive_classes.h"

#include <string.h>

#include "naive_blocks.h"
#include "naive_queues_inner.h"
#include "share/class_counts.h"

enum { RANKS = 1 << 20 }; /* parts of a count that turns tell apart */

int nc_class_of(const struct naive_queues *q, int job)
{
    return q->lane[q->job[job].lane].class_of[q->job[job].user];
}

bool nc_is_shut(const struct naive_queues *q, int job)
{
    const struct nq_lane *lane = &q->lane[q->job[job].lane];
    return lane->classes > 0 && lane->percent[nc_class_of(q, job)] == 0;
}

static bool is_of(const struct naive_queues *q, int job, int lane, int class)
{
    return q->job[job].lane == lane && nc_class_of(q, job) == class;
}

/* Workers that a job takes. */
static int64_t units(const struct naive_queues *q, int job)
{
    int64_t worker = q->lane[q->job[job].lane].worker;
    return (q->job[job].count + worker - 1) / worker;
}

/* Workers of a job that runs, or is promised a time: of a gang those of all members that start together. */
static int64_t units_of_holder(const struct naive_queues *q, int job)
{
    int list[NQ_JOBS], n = q->job[job].state == NQ_HELD ? nq_list_whole(q, job, list) : 0;
    int64_t sum = n > 0 ? 0 : units(q, job);
    for (int i = 0; i < n; i++)
        sum += units(q, list[i]);
    return sum;
}

int64_t nc_held(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    int64_t n = 0;
    bool waits = j->state == NQ_OPEN || j->state == NQ_LIMITED; /* blocked by a limit, too */
    if (q->lane[j->lane].classes == 0 || j->array < 0 || !waits || !j->together ||
        j->is_placed_anew)
        return 0;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].array == j->array &&
            (q->job[i].state == NQ_HELD || q->job[i].state == NQ_RUNNING))
            n += units(q, job); /* members in other queues, too */
    return n;
}

/* What a class has: what its jobs run on, and what they are promised. */
static int64_t has(const struct naive_queues *q, int lane, int class)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        if (is_of(q, i, lane, class) &&
            (q->job[i].state == NQ_HELD || q->job[i].state == NQ_RUNNING))
            n += units_of_holder(q, i);
    return n;
}

static int64_t runs(const struct naive_queues *q, int lane, int class, bool stopping)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        if (is_of(q, i, lane, class) && q->job[i].state == NQ_RUNNING &&
            (!stopping || nq_leaves(q, &q->job[i])))
            n += units(q, i);
    return n;
}

/* What waits of a class, with all members of arrays. */
static int64_t waits(const struct naive_queues *q, int lane, int class)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        for (int k = q->job[i].state == NQ_OPEN && is_of(q, i, lane, class) ? i : -1; k >= 0;
             k = nq_next_together(q, k))
            n += units(q, k);
    return n;
}

/* Workers of a queue that are idle: nodes of its part that are up and in no block that is on for others, less what runs of
 * queues with the same part, but for what that has in such blocks.
 */
static int64_t idle_workers(const struct naive_queues *q, int lane)
{
    uint32_t aside = nb_aside_from_lane(q, lane);
    int64_t nodes = __builtin_popcount(q->lane[lane].part & ~q->down & ~aside);
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_RUNNING && q->lane[q->job[i].lane].part == q->lane[lane].part)
            nodes -= __builtin_popcount(q->job[i].nodes & ~aside);
    return nodes > 0 ? nodes / q->lane[lane].worker : 0;
}

/* The first job of a class in the order of its queue; -1. */
static int first_of(const struct naive_queues *q, int lane, int class, const bool *out)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_OPEN && is_of(q, i, lane, class) && (!out || !out[i]) &&
            (first < 0 || nq_before(q, i, first)))
            first = i;
    return first;
}

/* Whether a class has a job to look at. One that was asked and had none is left out until the walk ends. */
static bool takes_part(const struct naive_queues *q, int lane, int class)
{
    return q->lane[lane].percent[class] > 0 && !q->turns[lane].has_none[class] &&
           first_of(q, lane, class, NULL) >= 0;
}

/* The one that has used the smallest part of what it may start goes first; one that has used it up last. */
static void set_rank(struct naive_queues *q, int lane, int class)
{
    struct nq_turns *turns = &q->turns[lane];
    int64_t used = has(q, lane, class) - turns->had[class], start = turns->start[class];
    used = used > 0 ? used : 0;
    turns->rank[class] = used < start ? used * RANKS / start : INT64_MAX;
}

/* How many units each class may start; as if one worker were idle, if none is. */
static void count(struct naive_queues *q, int lane)
{
    const struct nq_lane *is = &q->lane[lane];
    struct nq_turns *turns = &q->turns[lane];
    struct class_load load[NQ_CLASSES] = {{0}};
    int64_t idle = idle_workers(q, lane), workers = idle;
    for (int c = 0; c < is->classes; c++) {
        int64_t wait = waits(q, lane, c);
        load[c].percent = is->percent[c];
        load[c].running = has(q, lane, c) - runs(q, lane, c, true);
        load[c].waiting = !takes_part(q, lane, c) ? 0 : wait > 0 ? wait : 1;
        workers += is->percent[c] > 0 ? runs(q, lane, c, false) : 0;
    }
    class_set_targets(load, (size_t)is->classes, workers);
    class_count_starts(load, (size_t)is->classes, idle > 0 ? idle : 1);
    for (int c = 0; c < is->classes; c++) {
        turns->start[c] = load[c].start;
        turns->had[c] = has(q, lane, c);
        set_rank(q, lane, c);
    }
    turns->is_counted = true;
}

void nc_begin(struct naive_queues *q)
{
    memset(q->turns, 0, sizeof(q->turns));
}

int nc_next(struct naive_queues *q, int lane, const bool out[NQ_JOBS])
{
    struct nq_turns *turns = &q->turns[lane];
    for (;;) {
        int best = -1;
        for (int c = 0; c < q->lane[lane].classes; c++)
            if (takes_part(q, lane, c) && (best < 0 || turns->rank[c] < turns->rank[best]))
                best = c;
        if (best < 0)
            return -1;
        if (!turns->is_counted || has(q, lane, best) - turns->had[best] >= turns->start[best]) {
            count(q, lane);
            continue;
        }
        int job = first_of(q, lane, best, out);
        if (job >= 0)
            return job;
        turns->has_none[best] = true;
    }
}

void nc_looked(struct naive_queues *q, int job)
{
    int lane = q->job[job].lane;
    set_rank(q, lane, nc_class_of(q, job));
    /* Where only the first jobs of a queue count, others may do so by now. */
    if (q->lane[lane].queue_depth < INT64_MAX)
        memset(q->turns[lane].has_none, 0, sizeof(q->turns[lane].has_none));
}
