/* The walk over all that wait, and whom the end of a pass lets go on. */
#include "naive_queues_inner.h"

#include "naive_classes.h"
#include "naive_limits.h"
#include "naive_shares.h"
#include "naive_waits.h"

/* How a lane offers its jobs, as enum lane_mode of the core. */
enum mode { PLAN, SERVE, FILL, DONE };

/* The next job that is open or held. */
int nq_next_waiting(const struct naive_queues *q, int after)
{
    int open = nq_next_of(q, NQ_OPEN, after), held = nq_next_of(q, NQ_HELD, after);
    if (open < 0 || held < 0)
        return open < 0 ? held : open;
    return nq_before(q, open, held) ? open : held;
}

/* Whether an open job's queue has a promise for a stopped one that it has yet to give. Where nobody holds one, it has its
 * turn in the walk, and so has one that a limit lets go on.
 */
static bool is_taken_for(const struct naive_queues *q, int job)
{
    int lane = q->job[job].lane;
    return q->job[job].state == NQ_OPEN && !q->job[job].candidate && q->lane[lane].taken &&
           nq_is_considered(q, job) && nq_holders(q, lane) < q->lane[lane].depth;
}

void nq_sweep_one(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (is_taken_for(q, job)) {
        q->sweeping = true;
        nq_take_turn(q, job);
        q->sweeping = false;
        j->looks_again = j->state == NQ_HELD;
    } else if (j->state == NQ_HELD && !j->preempting) {
        nq_pull(q, job);
    } else if (j->state == NQ_HELD && j->victims > 0) { /* else it has what it needs */
        nq_start_elsewhere(q, job);
    }
}

bool nq_lets_before(const struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs; i++)
        if (is_taken_for(q, i) && nq_before(q, i, job) &&
            (q->swept_to < 0 || nq_before(q, q->swept_to, i)))
            return true;
    return false;
}

bool nq_gives_before(const struct naive_queues *q, int job)
{
    for (int i = 0; i < q->jobs && !q->sweeping && !q->outranking; i++)
        if (q->job[i].lane == q->job[job].lane && nq_level(q, i) == nq_level(q, job) &&
            is_taken_for(q, i) && nq_before(q, i, job))
            return true;
    return false;
}

void nq_sweep(struct naive_queues *q, int64_t at, bool all)
{
    bool any = nq_next_of(q, NQ_HELD, -1) >= 0;
    for (int i = nq_next_waiting(q, -1); i >= 0 && any && !q->swept; i = nq_next_waiting(q, i)) {
        if (!all && nq_level(q, i) != at)
            continue;
        q->swept_to = i;
        nq_sweep_one(q, i);
    }
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0; i = nq_next_of(q, NQ_HELD, i))
        if (q->job[i].looks_again && !q->job[i].preempting && (all || nq_level(q, i) == at))
            nq_pull(q, i); /* where those have left something that it has not put off */
}

/* The next of an array behind one that a limit has promised a time has its turn before those behind it are looked at. */
static void let_next(struct naive_queues *q, int job)
{
    q->job[job].fresh = q->made_room = true;
    q->job[job].placed = false;
}

void nq_start_due(struct naive_queues *q, int64_t at, bool all)
{
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0; i = nq_next_of(q, NQ_HELD, i))
        if (q->job[i].at <= q->now && q->job[i].victims == 0 && (all || nq_level(q, i) == at) &&
            (!q->job[i].preempting || nq_is_let_now(q, i))) {
            bool kept = q->job[i].kept;
            if (kept)
                nl_decreased(q, i);
            q->job[i].kept = q->job[i].preempting = false;
            int next = nq_start(q, i);
            if (kept && next >= 0 && q->job[next].state == NQ_OPEN)
                let_next(q, next);
        }
}

/* Whether a queue has a promise to give to jobs of a level: where there are shares, also the last one that a lower level
 * has.
 */
static bool has_promise(const struct naive_queues *q, int lane, int64_t at, bool all)
{
    int last = nq_last_holder(q, lane);
    return nq_holders(q, lane) < q->lane[lane].depth ||
           (q->shares && !all && last >= 0 && nq_level(q, last) < at);
}

/* Look at an open job of a queue that is in this mode. */
static void look_at(struct naive_queues *q, int job, int64_t at, bool all, enum mode *mode)
{
    int lane = q->job[job].lane;
    if (q->lane[lane].stopped)
        return;
    if (q->job[job].candidate) {
        int of = nl_over(q, job, q->now);
        bool is_turn = *mode != DONE && nq_is_considered(q, job);
        bool lacks_nodes = is_turn && q->lane[lane].depth == 0 && !nq_is_kept_at_last(q, job);
        q->job[job].candidate = false;
        if (of >= 0 && !lacks_nodes) {
            if (!is_turn || !nq_preempt(q, job))
                nq_be_kept(q, job, of);
            return;
        }
    }
    if (*mode == DONE || !nq_is_considered(q, job)) {
        *mode = q->shares ? *mode : DONE;
        return;
    }
    q->walking = true;
    bool goes = nq_start_open(q, job, *mode != FILL) || nq_preempt(q, job);
    q->walking = false;
    if (goes)
        return;
    if (*mode == SERVE)
        *mode = DONE;
    if (*mode != PLAN)
        return;
    nq_promise(q, job);
    nq_keep_depth(q, lane);
    if (!has_promise(q, lane, at, all))
        *mode = FILL;
}

/* The next holder of a level behind one that was looked at last; -1. */
static int next_holder(const struct naive_queues *q, int after, int64_t at, bool all)
{
    int next = nq_next_of(q, NQ_HELD, after);
    while (next >= 0 && !all && nq_level(q, next) != at)
        next = nq_next_of(q, NQ_HELD, next);
    return next;
}

/* Holders first, then open jobs as shares say; one that is promised a time is a holder then. */
static void walk_shares(struct naive_queues *q, int64_t at, bool all, enum mode mode[NQ_LANES])
{
    bool looked[NQ_JOBS] = {false};
    int after = -1;
    nc_begin(q);
    while (!q->made_room) {
        bool out[NQ_JOBS];
        int holder = next_holder(q, after, at, all);
        if (holder >= 0) {
            after = holder;
            nq_preempt_for_holder(q, holder);
            continue;
        }
        for (int i = 0; i < q->jobs; i++)
            out[i] =
                looked[i] || (!all && nq_level(q, i) != at) || nc_is_shut(q, i) ||
                q->lane[q->job[i].lane].stopped ||
                (!q->job[i].candidate && (mode[q->job[i].lane] == DONE || !nq_is_considered(q, i)));
        int next = ns_next(q, out);
        if (next < 0)
            return;
        if (q->lane[q->job[next].lane].classes > 0)
            next = nc_next(q, q->job[next].lane, out);
        /* A candidate that is not considered may be so when others have started. */
        looked[next] = mode[q->job[next].lane] != DONE && nq_is_considered(q, next);
        look_at(q, next, at, all, &mode[q->job[next].lane]);
        if (q->job[next].state == NQ_HELD && q->job[next].kept) /* also before those looked at */
            nq_preempt_for_holder(q, next);
        if (q->lane[q->job[next].lane].classes > 0)
            nc_looked(q, next);
        q->made_room |= q->back && !q->has_renewed;
    }
}

/* Whether the first job of a queue that promises nothing is of a level above one, and could not start there. */
static bool passed(const struct naive_queues *q, int lane, int64_t at, bool all)
{
    int first = nq_first_open(q, lane);
    return !all && first >= 0 && nq_level(q, first) > at;
}

void nq_walk(struct naive_queues *q, int64_t at, bool all)
{
    enum mode mode[NQ_LANES];
    q->made_room |=
        q->back && !q->has_renewed; /* for displaced ones, which are before some of these */
    for (int l = 0; l < q->lanes; l++)
        mode[l] = q->lane[l].depth > 0    ? has_promise(q, l, at, all) ? PLAN : FILL
                  : passed(q, l, at, all) ? DONE
                                          : SERVE;
    if (q->shares) {
        walk_shares(q, at, all, mode);
        return;
    }
    q->made_room |= nq_let_in(q, true);
    for (int i = nq_next_waiting(q, -1); i >= 0 && !q->made_room; i = nq_next_waiting(q, i)) {
        if (!all && nq_level(q, i) != at)
            continue;
        if (q->job[i].state == NQ_OPEN)
            look_at(q, i, at, all, &mode[q->job[i].lane]);
        if (q->job[i].state == NQ_HELD) /* perhaps from now on */
            nq_preempt_for_holder(q, i);
        q->made_room |= q->back && !q->has_renewed;
        q->made_room |= nq_let_in(q, true);
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

void nq_settle(struct naive_queues *q, bool again)
{
    int first[NQ_CALENDARS];
    for (int of = 0; of < NQ_CALENDARS; of++) {
        first[of] = -1;
        q->has_let[of] &= again;
    }
    nw_begin(q);
    int gone_on = nw_let(q);
    q->let += again ? gone_on : 0;
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        j->let_again &= again;
        if (j->state == NQ_FULL && !j->let_again && !nq_is_full(q, i))
            let(q, i, again);
        if (j->state != NQ_LIMITED || j->let_again || !j->due)
            continue;
        int of = nl_over(q, i, q->now);
        if (of < 0 || !nq_is_kept_at_last(q, i)) {
            let(q, i, again);
            continue;
        }
        j->due = nl_may_be_promised(q, i, of, true) && !q->lane[j->lane].stopped;
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

void nq_put_off(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (j->state != NQ_HELD || j->at >= q->now)
            continue;
        j->at = q->now;
        q->judges_all |= j->limit > j->estimate; /* it may stay that much longer, too */
        q->repair = true;
    }
}
