/* Where there is room for a job, and what it then gets: a start, or a promise. */
#include "naive_queues_inner.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/number.h"
#include "naive_blocks.h"
#include "naive_limits.h"
#include "naive_tails.h"
#include "naive_waits.h"

/* Whether a job sees the first one of another queue: its own queue is lower. */
static bool sees_head(const struct naive_queues *q, int job, int lane)
{
    int64_t of_head = q->head[lane].is ? nq_level(q, q->head[lane].job) : 0;
    return q->head[lane].is &&
           (of_head > nq_level(q, job) || (q->stacks && of_head == nq_level(q, job)));
}

static int64_t head_end(const struct naive_queues *q, int lane)
{
    return q->head[lane].at + q->job[q->head[lane].job].duration;
}

/* The nodes that nobody else has booked during [from, until). */
static uint32_t unbooked(const struct naive_queues *q, int job, int64_t from, int64_t until)
{
    uint32_t free = q->lane[q->job[job].lane].part & ~q->down;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if (i != job && (j->state == NQ_HELD || j->state == NQ_RUNNING) && !j->lifted &&
            j->at < until && from < j->at + j->duration)
            free &= ~j->nodes;
    }
    for (int l = 0; l < q->lanes; l++)
        if (sees_head(q, job, l) && q->head[l].at < until && from < head_end(q, l))
            free &= ~q->head[l].nodes;
    return free;
}

uint32_t nq_free_nodes(const struct naive_queues *q, int job, int64_t from, int64_t until)
{
    return unbooked(q, job, from, until) & ~nb_set_aside(q, job, from, until);
}

uint32_t nq_cores_of(const struct naive_queues *q, int first, int last)
{
    return (2u << ((last + 1) * q->cores - 1)) - (1u << first * q->cores);
}

uint32_t nq_whole_nodes(const struct naive_queues *q, uint32_t nodes)
{
    uint32_t whole = 0;
    for (int i = 0; i < q->nodes; i++)
        whole |= nodes & nq_cores_of(q, i, i) ? nq_cores_of(q, i, i) : 0;
    return whole;
}

int nq_cores_asked(const struct naive_queues *q, int job)
{
    int list[NQ_JOBS], n = nq_list_whole(q, job, list), cores = 0;
    for (int i = 0; i < n; i++) {
        const struct nq_job *j = &q->job[list[i]];
        cores += j->count * (j->piece == NQ_NODE ? q->cores : j->piece == NQ_CORE ? 1 : j->of_node);
    }
    return cores;
}

int nq_pieces_asked(const struct naive_queues *q, int job)
{
    int list[NQ_JOBS], n = nq_list_whole(q, job, list), pieces = 0;
    for (int i = 0; i < n; i++)
        pieces += q->job[list[i]].count;
    return pieces;
}

/* The first cores of all nodes, then the second ones. */
static uint32_t lowest_cores(const struct naive_queues *q, int count, uint32_t of)
{
    uint32_t cores = 0;
    for (int core = 0; core < q->cores; core++)
        for (int i = 0; i < q->nodes && count > 0; i++)
            if (of >> (i * q->cores + core) & 1) {
                cores |= 1u << (i * q->cores + core);
                count--;
            }
    return count == 0 ? cores : 0;
}

/* So many of these cores of a node; 0: there are too few. */
static uint32_t lowest_of_node(const struct naive_queues *q, int node, int count, uint32_t of)
{
    return lowest_cores(q, count, of & nq_cores_of(q, node, node));
}

uint32_t nq_lowest_of_one(const struct naive_queues *q, int job, uint32_t of)
{
    const struct nq_job *j = &q->job[job];
    int count = j->count;
    uint32_t nodes = 0;
    if (j->piece == NQ_CORE)
        return lowest_cores(q, count, of);
    for (int i = 0; i < q->nodes && count > 0; i++) {
        uint32_t piece = lowest_of_node(q, i, j->piece == NQ_NODE ? q->cores : j->of_node, of);
        nodes |= piece;
        count -= piece != 0;
    }
    return count == 0 ? nodes : 0;
}

/* Those that start together choose one after the other. */
uint32_t nq_lowest(const struct naive_queues *q, int job, uint32_t of)
{
    int list[NQ_JOBS], n = nq_list_whole(q, job, list);
    uint32_t nodes = 0;
    for (int i = 0; i < n; i++) {
        uint32_t one = nq_lowest_of_one(q, list[i], of & ~nodes);
        nodes |= one;
        if (one == 0)
            return 0;
    }
    return nodes;
}

/* The lowest that have room for its estimate, if they have room for its limit as well (naive_tails.h). Else the lowest that
 * nobody has booked until its limit is over; and if these are too few, the lowest of all that have room: for a start now off
 * nodes on which others are promised something, or else beside that.
 */
static uint32_t choice_at(const struct naive_queues *q, int job, int64_t at, bool now)
{
    const struct nq_job *j = &q->job[job];
    uint32_t free = nq_free_nodes(q, job, at, at + j->duration), nodes = nq_lowest(q, job, free);
    uint32_t clear = free & ~nb_set_aside(q, job, at, nt_clear(j, at));
    uint32_t promised = nt_promised(q, job, at);
    if (nodes == 0 || nt_keeps(q, job, nodes, at))
        return nodes;
    nodes = nq_lowest(q, job, clear & unbooked(q, job, at, nt_end(j, at)));
    if (nodes == 0 && now)
        nodes = nq_lowest(q, job, clear & ~nq_whole_nodes(q, promised));
    return nodes != 0 ? nodes : nq_lowest(q, job, clear & ~promised);
}

uint32_t nq_choice(const struct naive_queues *q, int job, int64_t at)
{
    return choice_at(q, job, at, false);
}

uint32_t nq_choice_anew(const struct naive_queues *q, int job, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    uint32_t free = nq_free_nodes(q, job, at, at + j->duration), nodes = nq_lowest(q, job, free);
    if (nodes == 0 || nt_keeps(q, job, nodes, at))
        return nodes;
    uint32_t aside = nb_set_aside(q, job, at, nt_clear(j, at));
    return at == j->at ? 0 : nq_lowest(q, job, free & ~aside & ~nt_promised(q, job, at));
}

uint32_t nq_choice_now(const struct naive_queues *q, int job)
{
    return choice_at(q, job, q->now, true);
}

/* From when on nothing but turns of blocks can make a job fit, each of which has come once more then. */
static int64_t end_of_all(const struct naive_queues *q)
{
    int64_t last = nb_settled(q);
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && j->at + j->duration < NQ_ENDLESS)
            last = greater(last, j->at + j->duration);
    }
    for (int l = 0; l < q->lanes; l++)
        if (q->head[l].is && head_end(q, l) < NQ_ENDLESS)
            last = greater(last, head_end(q, l));
    return last + NB_PERIOD;
}

/* The times at which there may be room for a job that was not before: something ends; limits, or who is promised a start, may not
 * let it be there sooner.
 */
static bool is_time(const struct naive_queues *q, int job, int64_t at)
{
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *k = &q->job[i];
        if (i == job || k->lifted || (k->state != NQ_HELD && k->state != NQ_RUNNING))
            continue;
        bool starts = k->state == NQ_HELD && !k->expected &&
                      (at == k->at || at == k->at - q->job[job].duration + 1);
        if (starts || at == k->at + k->duration)
            return true;
    }
    for (int l = 0; l < q->lanes; l++)
        if (sees_head(q, job, l) && at == head_end(q, l))
            return true;
    return nb_next_end(q, at - 1) == at;
}

int64_t nq_earliest_by(const struct naive_queues *q, int job, nq_choose *choose)
{
    int64_t latest = end_of_all(q);
    for (int64_t at = q->now; at <= latest; at++)
        if ((at == q->now || is_time(q, job, at)) && choose(q, job, at) && nl_over(q, job, at) < 0)
            return at;
    return -1;
}

int64_t nq_earliest(const struct naive_queues *q, int job)
{
    return nq_earliest_by(q, job, nq_choice);
}

int nq_next_together(const struct naive_queues *q, int job)
{
    int i = job + 1;
    while (i < q->jobs && q->job[i].array == q->job[job].array &&
           !(q->job[i].state == NQ_BEHIND && q->job[i].together))
        i++;
    bool is = q->job[job].array >= 0 && q->job[job].together && i < q->jobs &&
              q->job[i].array == q->job[job].array;
    return is ? i : -1;
}

int nq_beyond(const struct naive_queues *q, int job)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].array == q->job[job].array && !q->job[i].set_aside &&
             (q->job[i].state == NQ_HELD || q->job[i].state == NQ_RUNNING);
    return q->job[job].most > 0 ? n - q->job[job].most : INT_MIN;
}

bool nq_is_full(const struct naive_queues *q, int job)
{
    return nq_beyond(q, job) >= 0;
}

void nq_come_forward(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int next = nq_next_together(q, job);
    j->together = false;
    if (next < 0)
        return;
    q->job[next].state = nq_is_full(q, job) ? NQ_FULL : NQ_OPEN;
    q->job[next].fresh = j->fresh;
    q->job[next].too_deep = j->too_deep;
    q->job[next].placed = j->placed;
    q->job[next].candidate = j->candidate; /* the array was let go on, and has got no promise */
}

static void start_member(struct naive_queues *q, int member, uint32_t nodes)
{
    struct nq_job *j = &q->job[member];
    j->nodes = nodes;
    j->at = q->now;
    j->state = NQ_RUNNING;
    j->displaced = -1;
}

/* What is left of a gang of several roles waits by itself, each for what its role asks for, and is as new as the gang was. A
 * walk begins anew, as one of them may stand where it is. Whoever of them could never start is rejected. Returns the first one
 * that waits; -1.
 */
static int scatter(struct naive_queues *q, int job, const struct nq_job *was)
{
    int first = -1;
    for (int i = was->array; i < q->jobs && q->job[i].array == was->array; i++) {
        struct nq_job *j = &q->job[i];
        if (!j->together)
            continue;
        j->together = false;
        j->state = NQ_OPEN;
        j->fresh = was->fresh;
        j->placed = was->placed;
        j->displaced = -1;
        q->made_room |= q->walking && !nq_before(q, job, i);
        if (!nr_could_ever(q, i))
            nb_refuse(q, i);
        else if (first < 0)
            first = i;
    }
    return first;
}

/* A gang of several roles starts. Returns the next one of it that waits; -1. */
static int start_roles(struct naive_queues *q, int job)
{
    int list[NQ_JOBS], n = nq_list_whole(q, job, list);
    struct nq_job was = q->job[job];
    uint32_t nodes = was.nodes;
    q->job[job].whole = 1;
    for (int i = 0; i < n; i++) {
        start_member(q, list[i], nq_lowest_of_one(q, list[i], nodes));
        q->job[list[i]].together = false;
        nodes &= ~q->job[list[i]].nodes;
        nq_decide(q, NQ_START, list[i]);
    }
    return scatter(q, job, &was);
}

int nq_start(struct naive_queues *q, int job)
{
    uint32_t nodes = q->job[job].nodes;
    int left = q->job[job].whole;
    if (left > 1 && q->job[job].roles > 1)
        return start_roles(q, job);
    q->job[job].whole = 1;
    for (;; left--) {
        int next = nq_next_together(q, job);
        start_member(q, job, left > 1 ? nq_lowest_of_one(q, job, nodes) : nodes);
        nodes &= ~q->job[job].nodes;
        nq_come_forward(q, job);
        nq_fill(q, job);
        nq_decide(q, NQ_START, job);
        if (left == 1)
            return next;
        job = next;
    }
}

void nq_fill(struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs && nq_is_full(q, job); i++)
        if (q->job[i].array == q->job[job].array && q->job[i].state == NQ_OPEN)
            q->job[i].state = NQ_FULL;
}

void nq_decide(struct naive_queues *q, enum nq_kind kind, int job)
{
    assert(q->decisions < NQ_DECISIONS);
    if (kind == NQ_PROMISE)
        q->job[job].expected_told = q->job[job].expected;
    q->decision[q->decisions++] = (struct nq_decision){kind, job, -1, q->job[job].at};
    if (kind == NQ_START)
        nw_started(q, job);
}

void nq_moved(struct nq_job *j)
{
    if (j->at <= j->displaced)
        j->displaced = -1;
}

/* What a limit has promised a job is free. */
static void give_way(struct naive_queues *q, int job)
{
    nq_give_back(q, job);
    q->job[job].candidate = true;
    q->swept = false;
}

static void keep_promises(struct naive_queues *q, int job, int of);

void nq_be_kept(struct naive_queues *q, int job, int of)
{
    struct nq_job *j = &q->job[job];
    bool may = nl_may_be_promised(q, job, of, q->outranking || q->sweeping);
    int last = may && nl_promises(q, of) >= nl_most_promises(q, job) ? nl_last_kept(q, of) : -1;
    if (last >= 0 && !q->job[last].lifted)
        give_way(q, last); /* it is behind the job, which looks for a time without it */
    int64_t at = may ? nq_earliest(q, job) : -1;
    j->due = false;
    if (at < 0) {
        j->state = NQ_LIMITED;
        return;
    }
    j->nodes = nq_choice(q, job, at);
    j->at = at;
    j->state = NQ_HELD;
    j->kept = true;
    j->keeper = of;
    j->expected = true; /* it was promised nothing */
    nt_judge(q, job);
    nq_fill(q, job);
    nq_moved(j);
    nq_decide(q, NQ_PROMISE, job);
    keep_promises(q, job, of);
}

/* An open job starts, perhaps elsewhere than it was to: whom that has kept from a promise, as nobody knows its end, has a
 * turn.
 */
static void leave_place(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (q->lane[j->lane].depth == 0)
        nq_leave_promise(q, job);
}

bool nq_start_open(struct naive_queues *q, int job, bool turn)
{
    struct nq_job *j = &q->job[job];
    uint32_t nodes = nq_choice_now(q, job);
    int of = nl_over(q, job, q->now);
    if (nq_is_full(q, job)) {
        j->state = NQ_FULL;
        return true;
    }
    if (of >= 0 && (turn || nodes)) {
        if (nq_preempt(q, job))
            return true;
        if (q->lane[j->lane].depth == 0 && !nq_is_kept_at_last(q, job))
            return false; /* limits count twice what others wait for: it is nodes that it lacks */
        nq_be_kept(q, job, of);
        return true;
    }
    if (!nodes)
        return false;
    leave_place(q, job);
    j->nodes = nodes;
    nq_start(q, job);
    return true;
}

bool nq_promise(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int of = nl_over(q, job, q->now);
    if (nq_is_full(q, job)) {
        j->state = NQ_FULL;
        return true;
    }
    if (of >= 0) {
        nq_be_kept(q, job, of);
        return true;
    }
    int64_t at = nq_earliest(q, job);
    if (at < 0) { /* any time will do when something comes back */
        j->displaced = j->displaced < 0 ? INT64_MAX : j->displaced;
        return false;
    }
    j->nodes = nq_choice(q, job, at);
    j->at = at;
    j->state = NQ_HELD;
    j->expected = true; /* it was promised nothing */
    nt_judge(q, job);
    nq_fill(q, job);
    nq_moved(j);
    nq_decide(q, NQ_PROMISE, job);
    return true;
}

bool nq_is_awaited(const struct naive_queues *q, int job)
{
    bool any = false;
    for (int i = 0; i < q->jobs; i++)
        any |= q->job[i].awaits[job];
    return any;
}

void nq_let_victims_go(struct naive_queues *q, int job)
{
    memset(q->job[job].awaits, 0, sizeof(q->job[job].awaits));
    q->job[job].preempting = false;
    q->job[job].victims = 0;
}

void nq_leave_promise(struct naive_queues *q, int job)
{
    q->back |= q->job[job].duration >= NQ_ENDLESS && nq_any_displaced(q);
}

void nq_give_back(struct naive_queues *q, int job)
{
    nq_let_victims_go(q, job);
    nl_decreased(q, job);
    q->job[job].state = NQ_OPEN;
    q->job[job].lifted = q->job[job].set_aside = q->job[job].kept = false;
    q->job[job].displaced = -1;
    nq_leave_promise(q, job);
    if (nq_is_full(q, job))
        q->job[job].state = NQ_FULL;
}

/* Where a limit has promised more than it may, the last one gives way. */
static void keep_promises(struct naive_queues *q, int job, int of)
{
    while (nl_promises(q, of) > nl_most_promises(q, job))
        give_way(q, nl_last_kept(q, of));
}
