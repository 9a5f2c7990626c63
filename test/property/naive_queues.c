/* The passes of naive_queues.h. */
#include "naive_queues.h"

#include <assert.h>

#include "naive_classes.h"
#include "naive_limits.h"
#include "naive_shares.h"

enum mode { PLAN, SERVE, FILL, DONE };

int64_t nq_level(const struct naive_queues *q, int job)
{
    const struct nq_lane *lane = &q->lane[q->job[job].lane];
    return q->job[job].is_virtual ? lane->virtual_priority : lane->priority;
}

bool nq_before(const struct naive_queues *q, int a, int b)
{
    const struct nq_job *x = &q->job[a], *y = &q->job[b];
    if (nq_level(q, a) != nq_level(q, b))
        return nq_level(q, a) > nq_level(q, b);
    if (q->deadlines_first && x->deadline != y->deadline)
        return x->deadline < y->deadline;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->deadline != y->deadline)
        return x->deadline < y->deadline;
    int64_t hx = nc_held(q, a), hy = nc_held(q, b);
    if (hx != hy)
        return hx < hy;
    int64_t lx = nq_length(q, a), ly = nq_length(q, b);
    return lx != ly ? lx < ly : x->order < y->order;
}

/* Where the longest goes first, one of unknown end goes last; jobs of other queues before all of them. */
int64_t nq_length(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return q->lane[j->lane].longest_first ? NQ_ENDLESS + 1 - j->duration : 0;
}

/* The first job in this state after another one in the order of all; -1: there is none. */
static int next_of(const struct naive_queues *q, enum nq_state state, int after)
{
    int best = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == state && (after < 0 || nq_before(q, after, i)) &&
            (best < 0 || nq_before(q, i, best)))
            best = i;
    return best;
}

/* Of those that may start at all. */
static int first_open(const struct naive_queues *q, int lane)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_OPEN && q->job[i].lane == lane && !nc_is_shut(q, i) &&
            (first < 0 || nq_before(q, i, first)))
            first = i;
    return first;
}

static int64_t holders(const struct naive_queues *q, int lane)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_HELD && !q->job[i].preempting && !q->job[i].kept &&
             q->job[i].lane == lane;
    return n;
}

static int last_holder(const struct naive_queues *q, int lane)
{
    int last = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && !q->job[i].preempting && !q->job[i].kept &&
            q->job[i].lane == lane && (last < 0 || nq_before(q, last, i)))
            last = i;
    return last;
}

/* The last one that is to be placed anew, or may be: who preempts others has what it needs, unless that is
 * out of the calendars.
 */
static int last_movable(const struct naive_queues *q)
{
    int last = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && (!q->job[i].preempting || q->job[i].lifted) &&
            (last < 0 || nq_before(q, last, i)))
            last = i;
    return last;
}

/* Those of classes that start nothing are not looked at, so they don't count. */
static bool is_considered(const struct naive_queues *q, int job)
{
    int64_t rank = 0;
    for (int i = 0; i < q->jobs; i++)
        rank += ((q->job[i].state == NQ_OPEN && !nc_is_shut(q, i)) ||
                 (q->job[i].state == NQ_HELD && !q->job[i].kept)) &&
                q->job[i].lane == q->job[job].lane && nq_before(q, i, job);
    return rank < q->lane[q->job[job].lane].queue_depth;
}

/* ---- What is free ---- */

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

/* The nodes that nobody else holds during [from, until). */
static uint32_t free_nodes(const struct naive_queues *q, int job, int64_t from, int64_t until)
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

/* The nodes that a job would get from `at` on, the lowest; 0: it does not fit. */
static uint32_t choice(const struct naive_queues *q, int job, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    uint32_t free = free_nodes(q, job, at, at + j->duration), nodes = 0;
    int n = 0;
    for (int i = 0; i < q->nodes && n < j->count; i++)
        if (free >> i & 1) {
            nodes |= 1u << i;
            n++;
        }
    return n == j->count ? nodes : 0;
}

/* The earliest time at which a job fits: now, or when something ends; -1: never. What can only begin behind a job of
 * unknown end has no time.
 */
static int64_t earliest(const struct naive_queues *q, int job)
{
    int64_t best = choice(q, job, q->now) && nl_over(q, job, q->now) < 0 ? q->now : -1;
    for (int i = 0; i < q->jobs && best != q->now; i++) {
        const struct nq_job *j = &q->job[i];
        int64_t end = j->at + j->duration;
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && !j->lifted && i != job &&
            end > q->now && end < NQ_ENDLESS && (best < 0 || end < best) && choice(q, job, end) &&
            nl_over(q, job, end) < 0)
            best = end;
    }
    for (int l = 0; l < q->lanes && best != q->now; l++) {
        int64_t end = sees_head(q, job, l) ? head_end(q, l) : -1;
        if (end > q->now && end < NQ_ENDLESS && (best < 0 || end < best) && choice(q, job, end))
            best = end;
    }
    return best;
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

bool nq_is_full(const struct naive_queues *q, int job)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].array == q->job[job].array && !q->job[i].set_aside &&
             (q->job[i].state == NQ_HELD || q->job[i].state == NQ_RUNNING);
    return q->job[job].most > 0 && n >= q->job[job].most;
}

/* The first of those that wait together has left them: it starts, or takes what others hold. The next one is open, and
 * as new as it was, unless their array is full.
 */
static void come_forward(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int next = nq_next_together(q, job);
    j->together = false;
    if (next < 0)
        return;
    q->job[next].state = nq_is_full(q, job) ? NQ_FULL : NQ_OPEN;
    q->job[next].fresh = j->fresh;
    q->job[next].placed = j->placed;
}

/* It holds something. If as many of its array do as may, others that are open are so no more. */
static void fill(struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs && nq_is_full(q, job); i++)
        if (q->job[i].array == q->job[job].array && q->job[i].state == NQ_OPEN)
            q->job[i].state = NQ_FULL;
}

static void decide(struct naive_queues *q, enum nq_kind kind, int job)
{
    assert(q->decisions < NQ_DECISIONS);
    q->decision[q->decisions++] = (struct nq_decision){kind, job, -1, q->job[job].at};
}

/* It is displaced no longer if it has as early a time again. */
static void moved(struct nq_job *j)
{
    if (j->at <= j->displaced)
        j->displaced = -1;
}

static void keep_promises(struct naive_queues *q, int job, int of);

/* A limit keeps a job: it promises it a time, or blocks it. */
static void be_kept(struct naive_queues *q, int job, int of)
{
    struct nq_job *j = &q->job[job];
    int64_t at = nl_may_be_promised(q, job, of, q->outranking) ? earliest(q, job) : -1;
    j->due = false;
    if (at < 0) {
        j->state = NQ_LIMITED;
        return;
    }
    j->nodes = choice(q, job, at);
    j->at = at;
    j->state = NQ_HELD;
    j->kept = true;
    j->keeper = of;
    fill(q, job);
    moved(j);
    decide(q, NQ_PROMISE, job);
    keep_promises(q, job, of);
}

/* Whether a job starts, or is kept by a limit: at its turn, or once the machine has room. */
static bool start_open(struct naive_queues *q, int job, bool turn)
{
    struct nq_job *j = &q->job[job];
    uint32_t nodes = choice(q, job, q->now);
    int of = nl_over(q, job, q->now);
    if (nq_is_full(q, job)) {
        j->state = NQ_FULL;
        return true;
    }
    if (of >= 0 && (turn || nodes)) {
        be_kept(q, job, of);
        return true;
    }
    if (!nodes)
        return false;
    j->nodes = nodes;
    j->at = q->now;
    j->state = NQ_RUNNING;
    j->displaced = -1;
    come_forward(q, job);
    fill(q, job);
    decide(q, NQ_START, job);
    return true;
}

static bool promise(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int of = nl_over(q, job, q->now);
    if (nq_is_full(q, job)) {
        j->state = NQ_FULL;
        return true;
    }
    if (of >= 0) {
        be_kept(q, job, of);
        return true;
    }
    int64_t at = earliest(q, job);
    if (at < 0) { /* any time will do when something comes back */
        j->displaced = j->displaced < 0 ? INT64_MAX : j->displaced;
        return false;
    }
    j->nodes = choice(q, job, at);
    j->at = at;
    j->state = NQ_HELD;
    fill(q, job);
    moved(j);
    decide(q, NQ_PROMISE, job);
    return true;
}

/* It waits for its victims no more; they are being stopped all the same. */
static void let_victims_go(struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].preempted_for == job)
            q->job[i].preempted_for = -1;
    q->job[job].preempting = false;
    q->job[job].victims = 0;
}

static void give_back(struct naive_queues *q, int job)
{
    let_victims_go(q, job);
    nl_decreased(q, job);
    q->job[job].state = NQ_OPEN;
    q->job[job].lifted = q->job[job].set_aside = q->job[job].kept = false;
    q->job[job].displaced = -1;
    if (nq_is_full(q, job))
        q->job[job].state = NQ_FULL;
}

/* Where a limit has promised more than it may, the last one gives way. */
static void keep_promises(struct naive_queues *q, int job, int of)
{
    while (nl_promises(q, of) > nl_most_promises(q, job)) {
        int last = nl_last_kept(q, of);
        give_back(q, last);
        q->job[last].candidate = true;
        q->swept = false;
    }
}

/* ---- Preemption ---- */

static bool may_be_victim(const struct naive_queues *q, int job, int victim)
{
    const struct nq_job *j = &q->job[victim];
    return j->state == NQ_RUNNING && j->preempted_for < 0 &&
           (j->stopping || (q->lane[j->lane].preemptible && q->now > j->at)) &&
           j->nodes & q->lane[q->job[job].lane].part;
}

static int64_t work(const struct naive_queues *q, int victim)
{
    return (q->now - q->job[victim].at) * q->job[victim].count;
}

/* Whether less is lost by preempting a; then the younger one goes, by its start and its rank. */
static bool costs_less(const struct naive_queues *q, int a, int b)
{
    if (work(q, a) != work(q, b))
        return work(q, a) < work(q, b);
    return q->job[a].at != q->job[b].at ? q->job[a].at > q->job[b].at : nq_before(q, b, a);
}

/* The victims of a job, those who are being stopped or the others, in the order of what they cost. */
static int list_victims(const struct naive_queues *q, int job, bool stopping, int *list)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++) {
        int k = n;
        if (!may_be_victim(q, job, i) || q->job[i].stopping != stopping)
            continue;
        for (; k > 0 && costs_less(q, i, list[k - 1]); k--)
            list[k] = list[k - 1];
        list[k] = i;
        n++;
    }
    return n;
}

static bool fits(const struct naive_queues *q, int job)
{
    return choice(q, job, q->now) != 0;
}

/* Whether one set of victims, as bits, is rather stopped than another one: fewer, then with less work, then those who
 * have run for less, then with the last in the order of all of those who are in one of the two.
 */
static bool rather(const struct naive_queues *q, const int *list, int n, uint32_t a, uint32_t b)
{
    int64_t more_work = 0, ran_longer = 0;
    int last = -1;
    if (__builtin_popcount(a) != __builtin_popcount(b))
        return __builtin_popcount(a) < __builtin_popcount(b);
    for (int i = 0; i < n; i++) {
        int in = (int)(a >> i & 1) - (int)(b >> i & 1);
        more_work += in * work(q, list[i]);
        ran_longer += in * (q->now - q->job[list[i]].at);
        if (in != 0 && (last < 0 || nq_before(q, list[last], list[i])))
            last = i;
    }
    if (more_work != 0 || ran_longer != 0)
        return more_work != 0 ? more_work < 0 : ran_longer < 0;
    return last >= 0 && a >> last & 1;
}

static void lift_set(struct naive_queues *q, const int *list, int n, uint32_t set)
{
    for (int i = 0; i < n; i++)
        q->job[list[i]].lifted = set >> i & 1;
}

/* Lift those that the job takes what it needs from: those who are being stopped, as far as they are needed, and of all
 * sets of others the best. Returns whether it fits then.
 */
static bool take(struct naive_queues *q, int job)
{
    int told[NQ_JOBS], others[NQ_JOBS];
    int n = list_victims(q, job, false, others), n_told = list_victims(q, job, true, told);
    uint32_t best = 0, sets = 1u << n;
    lift_set(q, told, n_told, ~0u);
    bool any = n_told > 0 && fits(q, job);
    for (uint32_t set = 1; set < sets && n > 0 && best == 0 && !any; set++) {
        lift_set(q, others, n, set);
        any = fits(q, job);
        best = any ? set : 0;
    }
    for (uint32_t set = best + 1; set < sets && best != 0; set++) {
        lift_set(q, others, n, set);
        if (rather(q, others, n, set, best) && fits(q, job))
            best = set;
    }
    lift_set(q, others, n, best);
    for (int i = n_told; i-- > 0;) {
        q->job[told[i]].lifted = false;
        q->job[told[i]].lifted = !any || !fits(q, job);
    }
    if (!any)
        lift_set(q, told, n_told, 0);
    return any;
}

/* A job, which holds nothing in the calendars, takes what it needs to start now. */
static bool preempt(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int list[NQ_JOBS], victims = 0;
    if (q->lane[j->lane].preemptible || nl_over(q, job, q->now) >= 0 || !take(q, job))
        return false;
    int n = list_victims(q, job, false, list);
    n += list_victims(q, job, true, list + n);
    j->nodes = choice(q, job, q->now);
    j->at = q->now;
    for (int i = 0; i < n; i++) {
        struct nq_job *victim = &q->job[list[i]];
        if (!victim->lifted)
            continue;
        victim->lifted = false;
        victim->preempted_for = job;
        victims++;
        if (victim->stopping)
            continue;
        victim->stopping = true;
        decide(q, NQ_PREEMPT, list[i]);
        q->decision[q->decisions - 1].other = job;
    }
    if (j->state == NQ_HELD)
        nl_decreased(q, job);
    j->kept = false;
    j->state = victims ? NQ_HELD : NQ_RUNNING;
    come_forward(q, job);
    fill(q, job);
    j->preempting = victims > 0;
    j->displaced = -1;
    j->victims = victims;
    if (!victims)
        decide(q, NQ_START, job);
    return true;
}

/* The same for one that holds a reservation for later. */
static void preempt_for_holder(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->preempting || j->at <= q->now || nl_over(q, job, q->now) >= 0)
        return;
    j->lifted = true;
    bool does = preempt(q, job);
    j->lifted = false;
    q->made_room |= does;
    q->swept &= !does;
}

static void keep_depth(struct naive_queues *q, int lane)
{
    while (holders(q, lane) > q->lane[lane].depth) {
        give_back(q, last_holder(q, lane));
        q->swept = false;
    }
}

/* Where a job was stopped that puts off nobody else, it is to have the promise of the last one behind it of its own lane. */
static void take_place(struct naive_queues *q, int lane)
{
    int last = last_holder(q, lane), first = first_open(q, lane);
    if (q->lane[lane].returned && last >= 0 && first >= 0 && nq_before(q, first, last) &&
        holders(q, lane) >= q->lane[lane].depth) {
        give_back(q, last);
        q->swept = false;
    }
    q->lane[lane].returned = false;
}

/* A holder whose old time may be free again, which takes its turn in this pass. */
static bool is_displaced(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return j->state == NQ_HELD && j->fresh && !j->placed && j->displaced >= 0 && !j->preempting;
}

/* A reservation to its earliest time, and to the lowest nodes there. */
static void pull(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int64_t was = j->at, at = earliest(q, job);
    if (at < 0 || at > was)
        at = was;
    uint32_t nodes = choice(q, job, at);
    if (!nodes)
        return;
    if (at != was || nodes != j->nodes)
        nl_decreased(q, job);
    j->at = at;
    j->nodes = nodes;
    moved(j);
    if (at != was)
        decide(q, NQ_PROMISE, job);
}

/* A lifted reservation where it was, or elsewhere. */
static void place_again(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    uint32_t free = free_nodes(q, job, j->at, j->at + j->duration);
    bool again = is_displaced(q, job), full = j->set_aside && nq_is_full(q, job);
    j->lifted = j->set_aside = false;
    j->placed |= again;
    if ((j->nodes & ~free) == 0 && (j->preempting || (!full && nl_over(q, job, j->at) < 0))) {
        if (again)
            pull(q, job);
        return;
    }
    int64_t was = j->displaced >= 0 && j->displaced < j->at ? j->displaced : j->at;
    bool displaces = q->displaces || j->displaced >= 0;
    give_back(q, job);
    promise(q, job);
    if (displaces &&
        (j->state == NQ_OPEN || j->state == NQ_LIMITED || j->state == NQ_FULL || j->at > was))
        j->displaced = was;
    keep_depth(q, j->lane);
}

/* ---- The phases ---- */

/* Whether a job has its turn before another one, when holders are placed anew. */
static bool turn_before(const struct naive_queues *q, int a, int b)
{
    return ns_is_before(ns_turn(q, a), ns_turn(q, b));
}

/* Whether a job goes before some holder of its level whose promise may move. */
static bool is_before_own_level(const struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && (!q->job[i].preempting || q->job[i].lifted) &&
            nq_level(q, i) == nq_level(q, job) && turn_before(q, job, i))
            return true;
    return false;
}

/* Whether a job goes before the last holder: where there are shares, before one of its own level, as it is they that
 * say who is next before lower levels have their turn.
 */
static bool is_before_holders(const struct naive_queues *q, int job, int last)
{
    return q->shares ? is_before_own_level(q, job) : last >= 0 && turn_before(q, job, last);
}

/* Whether a new job goes before some holder. */
static bool outranks(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return j->state == NQ_OPEN && j->fresh && !j->placed && !nc_is_shut(q, job) &&
           is_before_holders(q, job, last_movable(q));
}

/* Whether its queue would let it now. */
static bool is_its_turn(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (j->candidate)
        return true;
    if (!is_considered(q, job))
        return false;
    int first = q->lane[j->lane].depth == 0 ? first_open(q, j->lane) : -1;
    return first < 0 || !nq_before(q, first, job);
}

/* The first open job behind another one that its queue has a promise for, of the level of a turn which it goes
 * before: it has its own before that; -1. None of a queue whose first one found no time when it had its turn, or is of a
 * higher level. Where there are shares, it is they that say who is first.
 */
static int first_to_promise(const struct naive_queues *q, int after, int turn)
{
    for (int i = next_of(q, NQ_OPEN, after); i >= 0 && !q->shares; i = next_of(q, NQ_OPEN, i)) {
        int lane = q->job[i].lane, first = first_open(q, lane);
        if (q->job[first].displaced < INT64_MAX && nq_level(q, first) == nq_level(q, i) &&
            nq_before(q, i, turn) && nq_level(q, i) == nq_level(q, turn) && is_considered(q, i) &&
            holders(q, lane) < q->lane[lane].depth)
            return i;
    }
    return -1;
}

/* The first job that takes its turn before holders, or among them; -1: there is none. */
static int first_new(const struct naive_queues *q)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++) {
        bool waits = outranks(q, i) && is_its_turn(q, i);
        if ((waits || is_displaced(q, i)) && (first < 0 || turn_before(q, i, first)))
            first = i;
    }
    return first;
}

/* The first one that is out of the calendars. */
static int first_lifted(const struct naive_queues *q)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && q->job[i].lifted &&
            (first < 0 || turn_before(q, i, first)))
            first = i;
    return first;
}

/* List those that take their turn. That of others before all of them never comes. */
static void list_turns(const struct naive_queues *q, bool *listed)
{
    int first = first_new(q), lifted = first_lifted(q);
    for (int i = 0; i < q->jobs; i++)
        listed[i] =
            (outranks(q, i) || is_displaced(q, i)) && ((first >= 0 && !turn_before(q, i, first)) ||
                                                       (lifted >= 0 && !turn_before(q, i, lifted)));
}

/* The first in order of those listed, if it is its turn; -1. */
static int next_listed(const struct naive_queues *q, const bool *listed)
{
    int next = -1;
    for (int i = 0; i < q->jobs; i++)
        if (listed[i] && (q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD) &&
            (next < 0 || turn_before(q, i, next)))
            next = i;
    return next < 0 || q->job[next].state == NQ_HELD || is_its_turn(q, next) ? next : -1;
}

/* The first one that takes its turn, has it before such a one, or is out of the calendars. */
static int first_turn(const struct naive_queues *q)
{
    bool listed[NQ_JOBS];
    list_turns(q, listed);
    int first[] = {first_new(q), first_lifted(q), next_listed(q, listed)};
    first[2] = first[2] < 0 ? -1 : first_to_promise(q, -1, first[2]);
    int best = -1;
    for (int i = 0; i < 3; i++)
        if (first[i] >= 0 && (best < 0 || turn_before(q, first[i], best)))
            best = first[i];
    return best;
}

/* The first reservation that does not fit is placed anew with those behind it, as are those behind a new job.
 * Who preempts others has what it needs, unless that is down.
 */
static void repair(struct naive_queues *q)
{
    int first = first_turn(q);
    q->displaces = false;
    for (int i = next_of(q, NQ_HELD, -1); i >= 0 && q->repair; i = next_of(q, NQ_HELD, i)) {
        struct nq_job *j = &q->job[i];
        bool behind = first >= 0 && !turn_before(q, i, first);
        bool there = !(j->nodes & q->down);
        if (j->preempting
                ? there
                : behind || (!(j->nodes & ~free_nodes(q, i, j->at, j->at + j->duration)) &&
                             nl_over(q, i, j->at) < 0))
            continue;
        j->lifted = j->set_aside = q->displaces = true;
        if (!behind)
            first = i;
    }
    q->repair = false;
}

static void place_fresh(struct naive_queues *q, int job)
{
    const struct nq_lane *lane = &q->lane[q->job[job].lane];
    int last = last_holder(q, q->job[job].lane);
    bool may = lane->depth > 0 && (holders(q, q->job[job].lane) < lane->depth ||
                                   (last >= 0 && turn_before(q, job, last)));
    bool goes =
        start_open(q, job, lane->depth == 0 || q->job[job].candidate || may) || preempt(q, job);
    q->job[job].placed = q->job[job].fresh;
    if (goes || lane->depth == 0)
        return;
    if (may)
        promise(q, job);
    keep_depth(q, q->job[job].lane);
}

/* Of those listed whose turns are equal to that of one of them, the one that is next by shares. */
static int next_of_equals(const struct naive_queues *q, const bool *listed, int job)
{
    bool out[NQ_JOBS];
    for (int i = 0; i < q->jobs; i++)
        out[i] = !listed[i] || q->job[i].state != NQ_OPEN || turn_before(q, job, i) ||
                 turn_before(q, i, job);
    return ns_next(q, out);
}

/* The first in order, of those listed, those before them, and those lifted, of one level or (all) of the rest,
 * behind one that is `done`; -1.
 */
static int next_to_place(const struct naive_queues *q, const bool *listed, int done,
                         struct ns_turn turn, int64_t at, bool all)
{
    int first = next_listed(q, listed);
    int next = first < 0 ? -1 : first_to_promise(q, done, first);
    if (next >= 0 && !all && nq_level(q, next) != at)
        next = -1;
    for (int i = 0; i < q->jobs; i++)
        if (((listed[i] && q->job[i].state == NQ_OPEN) ||
             (q->job[i].state == NQ_HELD && q->job[i].lifted)) &&
            (all || nq_level(q, i) == at) && (done < 0 || !ns_is_before(ns_turn(q, i), turn)) &&
            (next < 0 || turn_before(q, i, next)))
            next = i;
    return next < 0 || !ns_turn(q, next).is_new ? next : next_of_equals(q, listed, next);
}

/* They take their turns in order. */
static void place_all(struct naive_queues *q, bool *listed, int64_t at, bool all)
{
    int last = last_movable(q), done = -1;
    struct ns_turn turn = {0};
    for (;;) {
        int next = next_to_place(q, listed, done, turn, at, all);
        if (next < 0)
            return;
        done = next;
        turn = ns_turn(q, next);
        listed[next] = false;
        if (q->job[next].state == NQ_HELD)
            place_again(q, next);
        else if (is_its_turn(q, next))
            place_fresh(q, next);
        /* The next of an array has its turn then. */
        for (int i = next + 1; i < q->jobs && q->job[i].array == q->job[next].array; i++)
            listed[i] |= q->job[i].array >= 0 && q->job[i].together && q->job[i].fresh &&
                         !q->job[i].placed && is_before_holders(q, i, last);
    }
}

static bool outrank(struct naive_queues *q)
{
    bool listed[NQ_JOBS] = {false};
    int first = first_turn(q);
    list_turns(q, listed);
    if (first < 0)
        return false;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && !q->job[i].preempting && !turn_before(q, i, first))
            q->job[i].lifted = q->job[i].set_aside = true;
    q->outranking = true;
    place_all(q, listed, 0, true);
    q->swept = q->displaces = q->outranking = false;
    return true;
}

/* Each reservation to its earliest time, and to the lowest nodes there. */
static void sweep(struct naive_queues *q, int64_t at, bool all)
{
    for (int i = next_of(q, NQ_HELD, -1); i >= 0 && !q->swept; i = next_of(q, NQ_HELD, i))
        if (!q->job[i].preempting && (all || nq_level(q, i) == at)) /* else it has what it needs */
            pull(q, i);
}

static void start_due(struct naive_queues *q, int64_t at, bool all)
{
    for (int i = next_of(q, NQ_HELD, -1); i >= 0; i = next_of(q, NQ_HELD, i))
        if (q->job[i].at <= q->now && q->job[i].victims == 0 && (all || nq_level(q, i) == at)) {
            if (q->job[i].kept)
                nl_decreased(q, i);
            q->job[i].kept = false;
            q->job[i].state = NQ_RUNNING;
            q->job[i].preempting = false;
            q->job[i].displaced = -1;
            q->job[i].at = q->now;
            come_forward(q, i);
            decide(q, NQ_START, i);
        }
}

/* The next job that is open or held. */
static int next_waiting(const struct naive_queues *q, int after)
{
    int open = next_of(q, NQ_OPEN, after), held = next_of(q, NQ_HELD, after);
    if (open < 0 || held < 0)
        return open < 0 ? held : open;
    return nq_before(q, open, held) ? open : held;
}

/* Whether a queue has a promise to give to jobs of a level: where there are shares, also the last one that a lower level
 * has.
 */
static bool has_promise(const struct naive_queues *q, int lane, int64_t at, bool all)
{
    int last = last_holder(q, lane);
    return holders(q, lane) < q->lane[lane].depth ||
           (q->shares && !all && last >= 0 && nq_level(q, last) < at);
}

/* Look at an open job of a queue that is in this mode. */
static void look_at(struct naive_queues *q, int job, int64_t at, bool all, enum mode *mode)
{
    int lane = q->job[job].lane;
    if (q->job[job].candidate) {
        int of = nl_over(q, job, q->now);
        q->job[job].candidate = false;
        if (of >= 0) {
            be_kept(q, job, of);
            return;
        }
    }
    if (*mode == DONE || !is_considered(q, job)) {
        *mode = q->shares ? *mode : DONE;
        return;
    }
    if (start_open(q, job, *mode != FILL) || preempt(q, job))
        return;
    if (*mode == SERVE)
        *mode = DONE;
    if (*mode != PLAN)
        return;
    promise(q, job);
    keep_depth(q, lane);
    if (!has_promise(q, lane, at, all))
        *mode = FILL;
}

/* Holders first, then open jobs as shares say. */
static void walk_shares(struct naive_queues *q, int64_t at, bool all, enum mode mode[NQ_LANES])
{
    bool looked[NQ_JOBS] = {false};
    nc_begin(q);
    for (int i = next_of(q, NQ_HELD, -1); i >= 0 && !q->made_room; i = next_of(q, NQ_HELD, i))
        if (all || nq_level(q, i) == at)
            preempt_for_holder(q, i);
    while (!q->made_room) {
        bool out[NQ_JOBS];
        for (int i = 0; i < q->jobs; i++)
            out[i] =
                looked[i] || (!all && nq_level(q, i) != at) || nc_is_shut(q, i) ||
                (!q->job[i].candidate && (mode[q->job[i].lane] == DONE || !is_considered(q, i)));
        int next = ns_next(q, out);
        if (next < 0)
            return;
        if (q->lane[q->job[next].lane].classes > 0)
            next = nc_next(q, q->job[next].lane, out);
        /* A candidate that is not considered may be so when others have started. */
        looked[next] = mode[q->job[next].lane] != DONE && is_considered(q, next);
        look_at(q, next, at, all, &mode[q->job[next].lane]);
        if (q->lane[q->job[next].lane].classes > 0)
            nc_looked(q, next);
    }
}

/* Whether the first job of a queue that promises nothing is of a level above one, and could not start there. */
static bool passed(const struct naive_queues *q, int lane, int64_t at, bool all)
{
    int first = first_open(q, lane);
    return !all && first >= 0 && nq_level(q, first) > at;
}

static void walk(struct naive_queues *q, int64_t at, bool all)
{
    enum mode mode[NQ_LANES];
    for (int l = 0; l < q->lanes; l++)
        mode[l] = q->lane[l].depth > 0    ? has_promise(q, l, at, all) ? PLAN : FILL
                  : passed(q, l, at, all) ? DONE
                                          : SERVE;
    if (q->shares) {
        walk_shares(q, at, all, mode);
        return;
    }
    for (int i = next_waiting(q, -1); i >= 0 && !q->made_room; i = next_waiting(q, i)) {
        if (!all && nq_level(q, i) != at)
            continue;
        if (q->job[i].state == NQ_HELD)
            preempt_for_holder(q, i);
        else
            look_at(q, i, at, all, &mode[q->job[i].lane]);
    }
}

static void let(struct naive_queues *q, int job, bool again)
{
    q->job[job].state = NQ_OPEN;
    q->job[job].fresh = true;
    q->job[job].let_again |= again;
    if (again)
        q->job[job].placed = false;
    q->let += again;
}

/* Limited jobs that may go on by now do so, at the end of a pass (`again`) each once; and of each limit that has
 * a promise to give, or has given one to a job behind it, the first. Another one in the same pass only if that
 * one has got it.
 */
static void settle(struct naive_queues *q, bool again)
{
    int first[NQ_CALENDARS];
    for (int of = 0; of < NQ_CALENDARS; of++) {
        first[of] = -1;
        q->has_let[of] &= again;
    }
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        j->let_again &= again;
        if (j->state == NQ_FULL && !j->let_again && !nq_is_full(q, i))
            let(q, i, again);
        if (j->state != NQ_LIMITED || j->let_again || !j->due)
            continue;
        int of = nl_over(q, i, q->now);
        if (of < 0) {
            let(q, i, again);
            continue;
        }
        j->due = nl_may_be_promised(q, i, of, true);
        if (j->due && !(q->has_let[of] && nl_promises(q, of) <= q->let_with[of]) &&
            (first[of] < 0 || nq_before(q, i, first[of])))
            first[of] = i;
    }
    for (int of = 0; of < NQ_CALENDARS; of++) {
        if (first[of] < 0)
            continue;
        let(q, first[of], again);
        q->job[first[of]].candidate = true;
        q->job[first[of]].placed = false;
        q->has_let[of] = true;
        q->let_with[of] = nl_promises(q, of);
    }
}

/* A job that waits for its victims ends later as these take their time: what others were promised may be in the
 * way.
 */
static void put_off(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (j->state != NQ_HELD || j->at >= q->now)
            continue;
        j->at = q->now;
        q->repair = true;
    }
}

/* ---- Levels: queues of one priority ---- */

/* The highest level below another one at which somebody waits; false: there is none. */
static bool next_level(const struct naive_queues *q, bool begun, int64_t above, int64_t *at)
{
    bool any = false;
    for (int i = 0; i < q->jobs; i++)
        if ((q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD) &&
            (!begun || nq_level(q, i) < above) && (!any || nq_level(q, i) > *at)) {
            *at = nq_level(q, i);
            any = true;
        }
    return any;
}

/* The first jobs of the queues of a level that promise nothing, in order, each at its earliest time. */
static void place_heads(struct naive_queues *q, int64_t at)
{
    q->stacks = true;
    for (int i = next_of(q, NQ_OPEN, -1); i >= 0; i = next_of(q, NQ_OPEN, i)) {
        int l = q->job[i].lane;
        int64_t when = -1;
        if (nq_level(q, i) == at && q->lane[l].depth == 0 && first_open(q, l) == i)
            when = earliest(q, i);
        if (when >= 0)
            q->head[l] = (struct nq_head){true, i, when, choice(q, i, when)};
    }
    q->stacks = false;
}

/* Whether levels are looked at one by one: somebody holds something below the highest, or is not to overtake
 * the first job of a higher queue; or that was so.
 */
static bool by_level(const struct naive_queues *q, bool had_heads)
{
    int64_t top = 0, lower = 0;
    if (!next_level(q, false, 0, &top))
        return false;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && nq_level(q, i) < top)
            return true;
    for (int l = 0; l < q->lanes; l++)
        if (q->lane[l].depth == 0 && first_open(q, l) >= 0 &&
            next_level(q, true, nq_level(q, first_open(q, l)), &lower))
            return true;
    return had_heads;
}

/* Each level, or all at once. What lower levels are promised is out of the calendars until their turn. */
static void look(struct naive_queues *q, bool had_heads)
{
    bool listed[NQ_JOBS] = {false}, all = !by_level(q, had_heads), more, begun = false;
    int64_t at = 0, top = 0;
    int first = first_turn(q);
    if (all) {
        while (outrank(q))
            ;
        sweep(q, 0, true);
        q->swept = true;
        start_due(q, 0, true);
        walk(q, 0, true);
        return;
    }
    list_turns(q, listed);
    more = next_level(q, false, 0, &top);
    for (int i = 0; i < q->jobs; i++) {
        bool behind = (first >= 0 && !turn_before(q, i, first)) || nq_level(q, i) < top;
        q->job[i].lifted |= q->job[i].state == NQ_HELD && !q->job[i].preempting && behind;
    }
    q->swept = false;
    for (;;) {
        int64_t lower = 0;
        more = next_level(q, begun, at, &at) && next_level(q, true, at, &lower);
        begun = true;
        place_all(q, listed, at, false);
        if (!more)
            q->displaces = false;
        sweep(q, at, false);
        q->swept |= !more;
        start_due(q, at, false);
        walk(q, at, false);
        if (!more)
            break;
        place_heads(q, at);
        if (q->made_room) {
            place_all(q, listed, at, true);
            return;
        }
    }
}

void nq_pass(struct naive_queues *q, int64_t now)
{
    bool had_heads = false;
    q->now = now;
    q->decisions = 0;
    for (int i = 0; i < q->lanes; i++)
        take_place(q, i);
    put_off(q);
    settle(q, false);
    for (int i = 0; i < q->jobs; i++)
        if (q->back && q->job[i].displaced >= 0 &&
            (q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD)) {
            q->job[i].fresh = true;
            q->job[i].placed = false;
        }
    q->back = false;
    do {
        q->made_room = false;
        q->let = 0;
        for (int l = 0; l < q->lanes; l++) {
            had_heads |= q->head[l].is;
            q->head[l].is = false;
        }
        repair(q);
        look(q, had_heads);
        settle(q, true);
    } while (q->made_room || q->let > 0);
    for (int i = 0; i < q->jobs; i++)
        q->job[i].fresh = q->job[i].placed = q->job[i].candidate = false;
}

/* ---- Events ---- */

int nq_submit(struct naive_queues *q, int lane, int user, int count, int64_t duration,
              int64_t priority)
{
    q->job[q->jobs] = (struct nq_job){.state = NQ_OPEN,
                                      .lane = lane,
                                      .user = user,
                                      .count = count,
                                      .duration = duration,
                                      .priority = priority,
                                      .fresh = true,
                                      .order = q->next_order++,
                                      .displaced = -1,
                                      .array = -1,
                                      .preempted_for = -1};
    return q->jobs++;
}

int nq_submit_array(struct naive_queues *q, int members, int most, int lane, int count,
                    int64_t duration, int64_t priority)
{
    int first = q->jobs;
    for (int i = 0; i < members; i++) {
        struct nq_job *j = &q->job[nq_submit(q, lane, 0, count, duration, priority)];
        j->array = first;
        j->most = most;
        j->together = true;
        j->state = i == 0 ? NQ_OPEN : NQ_BEHIND;
        j->fresh = i == 0;
    }
    return first;
}

/* The first of those that wait together with a job that is behind it. */
static int first_together(const struct naive_queues *q, int job)
{
    int i = job;
    while (q->job[i].state == NQ_BEHIND || !q->job[i].together)
        i--;
    return i;
}

void nq_split(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int next = nq_next_together(q, job);
    if (!j->together)
        return;
    j->together = false;
    if (j->state == NQ_BEHIND) {
        int first = first_together(q, job);
        j->state = nq_is_full(q, job) ? NQ_FULL : NQ_OPEN;
        j->fresh = j->state == NQ_OPEN && q->job[first].fresh;
        return;
    }
    if (next < 0)
        return;
    struct nq_job *n = &q->job[next]; /* what was promised is for the next one */
    n->state = j->state;
    n->at = j->at;
    n->nodes = j->nodes;
    n->fresh = j->fresh;
    n->displaced = j->displaced;
    j->state = NQ_OPEN; /* it holds nothing any more */
    if (n->state == NQ_FULL || (n->state == NQ_HELD && nq_is_full(q, next)))
        j->state = NQ_FULL;
    j->displaced = -1;
}

static bool any_displaced(const struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].displaced >= 0)
            return true;
    return false;
}

/* It no longer runs, for which another waits perhaps. Behind one of unknown end nobody could be promised a time. */
static void leave(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->state == NQ_RUNNING && j->duration >= NQ_ENDLESS)
        q->back |= any_displaced(q);
    if (j->state == NQ_HELD || j->state == NQ_RUNNING) {
        q->swept = false;
        nl_decreased(q, job);
    }
    j->kept = false;
    if (j->preempted_for >= 0)
        q->job[j->preempted_for].victims--;
    j->preempted_for = -1;
    j->stopping = false;
    let_victims_go(q, job);
}

void nq_end(struct naive_queues *q, int job)
{
    leave(q, job);
    q->job[job].state = NQ_GONE;
}

/* Whether jobs that are behind a preempted one, in its level, are promised times by queues that are not preemptible. */
static bool gives_way(const struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && !q->job[i].preempting && !q->job[i].kept &&
            !q->lane[q->job[i].lane].preemptible && nq_level(q, i) == nq_level(q, job) &&
            nq_before(q, job, i))
            return true;
    return false;
}

void nq_requeue(struct naive_queues *q, int job)
{
    bool fresh = !q->job[job].stopping || !gives_way(q, job);
    leave(q, job);
    q->job[job].state = NQ_OPEN;
    q->job[job].fresh = fresh;
    q->lane[q->job[job].lane].returned |= !fresh && !q->shares;
}

/* Whether a job of a full array may take what another one of that is promised, as its turn comes before it. */
static bool goes_before_promised(const struct naive_queues *q, int job)
{
    struct ns_turn turn = ns_turn_of_open(q, job);
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].array == q->job[job].array && q->job[i].state == NQ_HELD &&
            !q->job[i].preempting && ns_is_before(turn, ns_turn(q, i)))
            return true;
    return false;
}

void nq_prioritize(struct naive_queues *q, int job, int64_t priority)
{
    struct nq_job *j = &q->job[job];
    struct nq_job old = *j;
    bool passed = false;
    bool raised = priority > j->priority;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *k = &q->job[i];
        bool waits = k->state == NQ_OPEN || (j->kept && k->state == NQ_LIMITED);
        if (i == job || (raised ? k->state != NQ_HELD : !waits || k->lane != j->lane))
            continue;
        j->priority = old.priority;
        bool was = nq_before(q, i, job);
        j->priority = priority;
        passed |= was != nq_before(q, i, job);
    }
    j->priority = priority;
    if (j->state == NQ_LIMITED) {
        j->due |= raised;
        return;
    }
    if (j->state == NQ_FULL) {
        j->state = raised && goes_before_promised(q, job) ? NQ_OPEN : NQ_FULL;
        if (j->state == NQ_FULL)
            return;
    }
    j->fresh |= raised;
    if (j->state == NQ_HELD && passed) {
        j->candidate = j->kept;
        give_back(q, job);
        q->swept = false;
    }
}

void nq_status(struct naive_queues *q, int node, bool down)
{
    if ((q->down >> node & 1) == down)
        return;
    q->down = down ? q->down | 1u << node : q->down & ~(1u << node);
    q->swept = false;
    q->repair = true;
    for (int i = 0; i < q->jobs; i++)
        q->job[i].due |= q->job[i].state == NQ_LIMITED;
    q->back |= !down;
}

int64_t nq_next_time(const struct naive_queues *q)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && q->job[i].victims == 0 && q->job[i].at < next)
            next = q->job[i].at;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_RUNNING && q->lane[q->job[i].lane].preemptible &&
            q->job[i].at + 1 > q->now && q->job[i].at + 1 < next)
            next = q->job[i].at + 1;
    return next;
}
