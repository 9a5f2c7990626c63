/* Promises that are placed anew, and jobs that take their turn before them. */
#include "naive_queues_inner.h"

#include "naive_blocks.h"
#include "naive_classes.h"
#include "naive_limits.h"
#include "naive_shares.h"
#include "naive_tails.h"

void nq_keep_depth(struct naive_queues *q, int lane)
{
    while (nq_holders(q, lane) > q->lane[lane].depth) {
        nq_give_back(q, nq_last_holder(q, lane));
        q->swept = false;
    }
}

/* Those behind a job of its queue lose what limits have promised them in which it counts: they have their turn in the walk. Where
 * the configuration has changed, all lose that to this, and are displaced.
 */
static void take_behind(struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs && !q->recounts; i++) {
        struct nq_job *j = &q->job[i];
        if (j->state != NQ_HELD || !j->kept || j->lane != q->job[job].lane ||
            !nq_before(q, job, i) || !nl_counts(q, job, j->keeper))
            continue;
        nq_give_back(q, i);
        j->candidate = true;
        q->swept = false;
    }
}

void nq_take_place(struct naive_queues *q, int lane)
{
    int last = nq_last_holder(q, lane), first = nq_first_open(q, lane);
    bool waits = q->lane[lane].returned && first >= 0;
    bool has = waits && !q->lane[lane].stopped && nq_holders(q, lane) < q->lane[lane].depth;
    bool takes = waits && !has && last >= 0 && nq_before(q, first, last);
    if (takes)
        nq_give_back(q, last);
    if (has || takes || (waits && !q->lane[lane].stopped && q->lane[lane].depth == 0))
        take_behind(q, first);
    if (has || takes) {
        q->lane[lane].taken = true;
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

/* Whether limits let a holder have anything else at a time: a block may stop it only on what it holds. */
static bool limits_let_anew(struct naive_queues *q, int job, int64_t at)
{
    q->job[job].state = NQ_OPEN;
    bool let = nl_over(q, job, at) < 0;
    q->job[job].state = NQ_HELD;
    return let;
}

void nq_pull(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int64_t was = j->at, at = nq_earliest_by(q, job, nq_choice_anew);
    if (at < 0 || at > was)
        at = was;
    uint32_t nodes = nq_choice_anew(q, job, at);
    if (!nodes || (!j->expected && nt_is_unsure(q, job, nodes, at)) ||
        (at == was && nodes != j->nodes && !limits_let_anew(q, job, at))) {
        nt_judge(q, job);
        return;
    }
    bool moves = at != was || nodes != j->nodes;
    if (moves)
        nl_decreased(q, job);
    j->at = at;
    j->nodes = nodes;
    nt_judge(q, job);
    j->expected_told = moves ? j->expected : j->expected_told; /* it is told of other nodes, too */
    q->back |= moves && at == q->now && j->duration >= NQ_ENDLESS && nq_any_displaced(q);
    nq_moved(j);
    if (at != was)
        nq_decide(q, NQ_PROMISE, job);
}

/* A lifted reservation where it was, or elsewhere. */
static void place_again(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    uint32_t free = nq_free_nodes(q, job, j->at, j->at + j->duration);
    bool again = is_displaced(q, job), full = j->set_aside && nq_is_full(q, job);
    j->lifted = j->set_aside = false;
    j->placed |= again;
    uint32_t aside = nb_set_aside(q, job, j->at, nt_clear(j, j->at));
    if ((j->nodes & ~free) == 0 &&
        (j->preempting ? !(j->nodes & aside)
                       : (!full && nl_over(q, job, j->at) < 0 && nt_still_keeps(q, job)))) {
        nq_fill(q, job);
        nt_judge_anew(q, job);
        if (again)
            nq_pull(q, job);
        return;
    }
    int64_t was = j->displaced >= 0 && j->displaced < j->at ? j->displaced : j->at;
    bool displaces = q->displaces || j->displaced >= 0;
    j->is_placed_anew = true;
    nq_give_back(q, job);
    nq_promise(q, job);
    j->is_placed_anew = false;
    if (displaces &&
        (j->state == NQ_OPEN || j->state == NQ_LIMITED || j->state == NQ_FULL || j->at > was))
        j->displaced = was;
    nq_keep_depth(q, j->lane);
}

bool nq_turn_before(const struct naive_queues *q, int a, int b)
{
    return ns_is_before(ns_turn(q, a), ns_turn(q, b));
}

/* Whether a job goes before some holder of its level whose promise may move. */
static bool is_before_own_level(const struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && (!q->job[i].preempting || q->job[i].lifted) &&
            nq_level(q, i) == nq_level(q, job) && nq_turn_before(q, job, i))
            return true;
    return false;
}

/* Whether a job goes before the last holder: where there are shares, before one of its own level, as it is they that
 * say who is next before lower levels have their turn.
 */
static bool is_before_holders(const struct naive_queues *q, int job, int last)
{
    return q->shares ? is_before_own_level(q, job) : last >= 0 && nq_turn_before(q, job, last);
}

/* Whether a new job goes before some holder. */
static bool outranks(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return j->state == NQ_OPEN && j->fresh && !j->placed && !nc_is_shut(q, job) &&
           !q->lane[j->lane].stopped && is_before_holders(q, job, nq_last_movable(q));
}

/* Whether its queue would let it now. */
static bool is_its_turn(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (j->candidate)
        return true;
    if (!nq_is_considered(q, job))
        return false;
    int first = q->lane[j->lane].depth == 0 ? nq_first_open(q, j->lane) : -1;
    return first < 0 || !nq_before(q, first, job);
}

/* Whether the first open job of a queue found no time when it had its turn, and has no other yet. */
static bool has_had_its_turn(const struct naive_queues *q, int lane)
{
    const struct nq_job *first = &q->job[nq_first_open(q, lane)];
    return first->displaced == INT64_MAX && !(first->fresh && !first->placed);
}

/* The first open job behind another one that its queue has a promise for, of the level of a turn which it goes
 * before: it has its own before that; -1. None of a queue whose first one has had its turn in vain, or is of a
 * higher level, or for which a promise was taken back: that is given in the sweep. Where there are shares, it is they that
 * say who is first.
 */
static int first_to_promise(const struct naive_queues *q, int after, int turn)
{
    for (int i = nq_next_of(q, NQ_OPEN, after); i >= 0 && !q->shares;
         i = nq_next_of(q, NQ_OPEN, i)) {
        int lane = q->job[i].lane, first = nq_first_open(q, lane);
        if (!q->lane[lane].stopped && !q->lane[lane].taken && !has_had_its_turn(q, lane) &&
            nq_level(q, first) == nq_level(q, i) && nq_before(q, i, turn) &&
            nq_level(q, i) == nq_level(q, turn) && nq_is_considered(q, i) &&
            nq_holders(q, lane) < q->lane[lane].depth)
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
        if ((waits || is_displaced(q, i)) && (first < 0 || nq_turn_before(q, i, first)))
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
            (first < 0 || nq_turn_before(q, i, first)))
            first = i;
    return first;
}

void nq_list_turns(const struct naive_queues *q, bool *listed)
{
    int first = first_new(q), lifted = first_lifted(q);
    for (int i = 0; i < q->jobs; i++)
        listed[i] = (outranks(q, i) || is_displaced(q, i)) &&
                    ((first >= 0 && !nq_turn_before(q, i, first)) ||
                     (lifted >= 0 && !nq_turn_before(q, i, lifted)));
}

bool nq_has_turn(const struct naive_queues *q, int job)
{
    return outranks(q, job) && is_before_own_level(q, job) && is_its_turn(q, job);
}

/* The turn of a new job has come while it is beyond its queue's depth, or not the first where nobody goes before that. */
static void note_missed(struct naive_queues *q, int job)
{
    q->job[job].too_deep |=
        q->job[job].state == NQ_OPEN && !q->job[job].let_in && !is_its_turn(q, job);
}

void nq_note_missed(struct naive_queues *q, const bool *listed)
{
    for (int i = 0; i < q->jobs; i++)
        if (outranks(q, i) && !listed[i])
            note_missed(q, i);
}

/* The first in order of those listed, if it is its turn; -1. */
static int next_listed(const struct naive_queues *q, const bool *listed)
{
    int next = -1;
    for (int i = 0; i < q->jobs; i++)
        if (listed[i] && (q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD) &&
            (next < 0 || nq_turn_before(q, i, next)))
            next = i;
    return next < 0 || q->job[next].state == NQ_HELD || is_its_turn(q, next) ? next : -1;
}

int nq_first_turn(const struct naive_queues *q)
{
    bool listed[NQ_JOBS];
    nq_list_turns(q, listed);
    int first[] = {first_new(q), first_lifted(q), next_listed(q, listed)};
    first[2] = first[2] < 0 ? -1 : first_to_promise(q, -1, first[2]);
    int best = -1;
    for (int i = 0; i < 3; i++)
        if (first[i] >= 0 && (best < 0 || nq_turn_before(q, first[i], best)))
            best = first[i];
    return best;
}

int nq_first_to_place(const struct naive_queues *q)
{
    int first = nq_first_turn(q);
    bool left = q->left >= 0 && (first < 0 || nq_turn_before(q, q->left, first));
    return left ? q->left : first;
}

void nq_repair(struct naive_queues *q)
{
    int first = nq_first_turn(q);
    bool due = q->repair;
    q->displaces = false;
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0 && q->repair; i = nq_next_of(q, NQ_HELD, i)) {
        struct nq_job *j = &q->job[i];
        bool behind = first >= 0 && !nq_turn_before(q, i, first);
        uint32_t aside = nb_set_aside(q, i, j->at, nt_clear(j, j->at));
        bool there = !(j->nodes & (q->down | aside | ~q->lane[j->lane].part));
        if (j->preempting
                ? there
                : behind || (!(j->nodes & ~nq_free_nodes(q, i, j->at, j->at + j->duration)) &&
                             nl_over(q, i, j->at) < 0 && nt_still_keeps(q, i)))
            continue;
        j->lifted = j->set_aside = q->displaces = true;
        if (!behind)
            first = i;
    }
    q->left = due ? first : -1;
    q->repair = false;
}

void nq_take_turn(struct naive_queues *q, int job)
{
    const struct nq_lane *lane = &q->lane[q->job[job].lane];
    int last = nq_last_holder(q, q->job[job].lane);
    bool later = nq_gives_before(q, job);
    bool may = lane->depth > 0 && !later &&
               (nq_holders(q, q->job[job].lane) < lane->depth ||
                (last >= 0 && nq_turn_before(q, job, last)));
    int whole = q->job[job].whole;
    q->job[job].too_deep = false;
    bool goes = nq_start_open(q, job, lane->depth == 0 || q->job[job].candidate || may) ||
                nq_preempt(q, job);
    q->job[job].placed =
        q->job[job].fresh && q->job[job].whole == whole; /* else it was its gang's */
    q->job[job].too_deep = later && !q->job[job].candidate && !q->job[job].let_in &&
                           q->job[job].state == NQ_OPEN && q->job[job].whole == whole;
    if (goes || lane->depth == 0)
        return;
    if (may)
        nq_promise(q, job);
    nq_keep_depth(q, q->job[job].lane);
}

/* Of those listed whose turns are equal to that of one of them, the one that is next by shares. */
static int next_of_equals(const struct naive_queues *q, const bool *listed, int job)
{
    bool out[NQ_JOBS];
    for (int i = 0; i < q->jobs; i++)
        out[i] = !listed[i] || q->job[i].state != NQ_OPEN || nq_turn_before(q, job, i) ||
                 nq_turn_before(q, i, job);
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
            (next < 0 || nq_turn_before(q, i, next)))
            next = i;
    return next < 0 || !ns_turn(q, next).is_new ? next : next_of_equals(q, listed, next);
}

/* Whether another one that is listed, of a job's level, has its turn no earlier: it holds something then. */
static bool is_before_listed(const struct naive_queues *q, const bool *listed, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (i != job && listed[i] && (q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD) &&
            nq_level(q, i) == nq_level(q, job) && !nq_turn_before(q, i, job))
            return true;
    return false;
}

void nq_place_all(struct naive_queues *q, bool *listed, int64_t at, bool all)
{
    int last = nq_last_movable(q), done = -1;
    struct ns_turn turn = {0};
    for (;;) {
        int next = next_to_place(q, listed, done, turn, at, all);
        if (next < 0)
            return;
        done = next;
        turn = ns_turn(q, next);
        listed[next] = false;
        bool whole = q->job[next].whole > 1 && q->job[next].roles > 1;
        if (q->job[next].state == NQ_HELD)
            place_again(q, next);
        else if (is_its_turn(q, next))
            nq_take_turn(q, next);
        else
            note_missed(q, next);
        whole &= q->job[next].whole == 1;
        /* The next of an array has its turn then, or all that are left of a gang of several roles. */
        for (int i = whole ? q->job[next].array : next + 1;
             i < q->jobs && q->job[i].array == q->job[next].array; i++)
            listed[i] |= q->job[i].array >= 0 && (q->job[i].together || whole) && q->job[i].fresh &&
                         !q->job[i].placed && !q->lane[q->job[i].lane].stopped &&
                         (is_before_holders(q, i, last) || is_before_listed(q, listed, i));
    }
}

/* Where something was given back and all that is promised is in the calendars, those before the first one that is to be
 * placed are looked at first.
 */
static void move_before(struct naive_queues *q, int first)
{
    if (q->swept || first < 0 || first_lifted(q) >= 0)
        return;
    struct ns_turn turn = ns_turn(q, first);
    for (int i = nq_next_waiting(q, -1); i >= 0 && ns_is_before(ns_place(q, i), turn);
         i = nq_next_waiting(q, i))
        nq_sweep_one(q, i);
}

bool nq_outrank(struct naive_queues *q)
{
    bool listed[NQ_JOBS] = {false};
    move_before(q, nq_first_to_place(q));
    int first = nq_first_to_place(q);
    nq_list_turns(q, listed);
    nq_note_missed(q, listed);
    q->left = -1;
    if (first < 0)
        return false;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && !q->job[i].preempting && !nq_turn_before(q, i, first))
            q->job[i].lifted = q->job[i].set_aside = true;
    q->outranking = true;
    nq_place_all(q, listed, 0, true);
    q->swept = q->displaces = q->outranking = false;
    return true;
}
