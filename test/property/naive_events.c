/* What happens to jobs and nodes. */
#include "naive_queues_inner.h"

#include "base/number.h"
#include "naive_blocks.h"
#include "naive_limits.h"
#include "naive_shares.h"
#include "naive_waits.h"

int nq_submit(struct naive_queues *q, int lane, int user, int count, int64_t duration,
              int64_t priority)
{
    q->job[q->jobs] = (struct nq_job){.state = NQ_OPEN,
                                      .lane = lane,
                                      .user = user,
                                      .count = count,
                                      .duration = duration,
                                      .estimate = duration,
                                      .limit = duration,
                                      .priority = priority,
                                      .fresh = true,
                                      .order = q->next_order++,
                                      .displaced = -1,
                                      .whole = 1,
                                      .array = -1};
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

int nq_first_together(const struct naive_queues *q, int job)
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
        int first = nq_first_together(q, job);
        enum nq_state of_first = q->job[first].state;
        bool full = of_first == NQ_FULL || nq_is_full(q, job);
        j->state = of_first == NQ_ASIDE ? NQ_ASIDE : full ? NQ_FULL : NQ_OPEN;
        j->fresh = j->state == NQ_OPEN && q->job[first].fresh;
        j->too_deep = q->job[first].too_deep;
        return;
    }
    if (next < 0)
        return;
    struct nq_job *n = &q->job[next]; /* what was promised is for the next one */
    n->state = j->state;
    n->at = j->at;
    n->nodes = j->nodes;
    n->expected = j->expected;
    n->expected_told = j->expected_told;
    n->fresh = j->fresh;
    n->too_deep = j->too_deep;
    n->displaced = j->displaced;
    j->displaced = -1;
    if (j->state == NQ_ASIDE)
        return;
    j->state = NQ_OPEN; /* it holds nothing any more */
    if (n->state == NQ_FULL || (n->state == NQ_HELD && nq_is_full(q, next)))
        j->state = NQ_FULL;
}

bool nq_any_displaced(const struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state != NQ_GONE && q->job[i].displaced >= 0)
            return true;
    return false;
}

/* It no longer runs, for which another waits perhaps. Behind one of unknown end nobody could be promised a time. */
static void leave(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->state == NQ_RUNNING && j->estimate >= NQ_ENDLESS)
        q->back |= nq_any_displaced(q);
    if (j->state == NQ_HELD || j->state == NQ_RUNNING) {
        q->swept = false;
        nl_decreased(q, job);
    }
    j->kept = false;
    for (int i = 0; i < q->jobs; i++) {
        q->job[i].victims -= q->job[i].awaits[job];
        q->job[i].awaits[job] = false;
    }
    j->stopping = false;
    nq_let_victims_go(q, job);
}

void nq_end(struct naive_queues *q, int job)
{
    leave(q, job);
    q->job[job].state = NQ_GONE;
    nw_note(q);
    nw_reject(q);
    if (!q->walking) /* else those who wait for it go on when the walk is over (nq_settle) */
        nw_let(q);
}

void nq_cancel(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (j->state != NQ_RUNNING && j->estimate >= NQ_ENDLESS)
        q->back |= nq_any_displaced(q); /* nobody could be promised a time behind it */
    nq_end(q, job);
}

void nq_finish(struct naive_queues *q, int job, bool ok)
{
    bool fails = !ok && q->job[job].min > 0 && !q->job[job].stopping;
    q->job[job].ended_well = ok;
    nq_end(q, job);
    if (fails)
        nq_fail_member(q, job);
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
    bool stopped = q->job[job].stopping && q->lane[q->job[job].lane].preemptible;
    bool fresh = !stopped || !gives_way(q, job);
    leave(q, job);
    q->job[job].state = NQ_OPEN;
    q->job[job].duration = q->job[job].estimate;
    q->job[job].cleared = q->job[job].dismissed = q->job[job].leaving = false;
    q->job[job].fresh = fresh;
    q->lane[q->job[job].lane].returned |= !fresh && !q->shares;
    if (!nr_could_ever(q, job))
        nb_refuse(q, job);
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

/* One that is raised gives back what it is promised if its turn comes before a holder that it stood behind. */
void nq_prioritize(struct naive_queues *q, int job, int64_t priority)
{
    struct nq_job *j = &q->job[job];
    struct nq_job old = *j;
    bool passed = false;
    bool raised = priority > j->priority;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *k = &q->job[i];
        bool waits = k->state == NQ_OPEN || (j->kept && k->state == NQ_LIMITED);
        waits |= k->state == NQ_FULL && k->array == j->array; /* only the array keeps it */
        if (i == job || (raised ? k->state != NQ_HELD : !waits || k->lane != j->lane))
            continue;
        j->priority = old.priority;
        bool was = nq_before(q, i, job);
        j->priority = priority;
        passed |= raised ? was && ns_is_before(ns_turn_of_open(q, job), ns_turn(q, i))
                         : was != nq_before(q, i, job);
    }
    j->priority = priority;
    if (j->state == NQ_ASIDE)
        return;
    if (j->state == NQ_LIMITED) {
        j->due |= raised;
        return;
    }
    if (j->state == NQ_FULL) {
        j->state = raised && goes_before_promised(q, job) ? NQ_OPEN : NQ_FULL;
        if (j->state == NQ_FULL)
            return;
    }
    if (j->state == NQ_OPEN && !raised && nq_is_full(q, job) && !goes_before_promised(q, job)) {
        j->state = NQ_FULL;
        return;
    }
    j->fresh |= raised;
    q->judges_all |= j->state == NQ_HELD;
    if (j->state == NQ_HELD && passed) {
        j->candidate = j->kept;
        nq_give_back(q, job);
        q->swept = false;
    }
}

void nq_set_most(struct naive_queues *q, int job, int most)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].array == q->job[job].array)
            q->job[i].most = most;
    nq_fill(q, job);
}

/* One that waits is another one in its place. */
static void take_turn_anew(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->state == NQ_HELD) {
        nq_give_back(q, job);
        q->swept = false;
    }
    j->fresh |= j->state == NQ_OPEN;
    j->due |= j->state == NQ_LIMITED;
}

void nq_set_aside(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->state == NQ_HELD) {
        nq_give_back(q, job);
        q->swept = false;
    }
    j->state = NQ_ASIDE;
    j->fresh = j->candidate = j->due = false;
}

void nq_go_on(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    j->state = nq_is_full(q, job) ? NQ_FULL : NQ_OPEN;
    j->fresh = true;
}

void nq_hold(struct naive_queues *q, int job)
{
    q->job[job].held = true;
    nq_set_aside(q, job);
}

void nq_release(struct naive_queues *q, int job)
{
    q->job[job].held = false;
    if (nw_may_go(q, job))
        nq_go_on(q, job);
}

/* What came back while a queue was stopped has not served its displaced jobs. */
void nq_start_queue(struct naive_queues *q, int lane)
{
    for (int i = 0; i < q->jobs && q->lane[lane].stopped; i++) {
        struct nq_job *j = &q->job[i];
        q->back |= j->lane == lane && j->state == NQ_OPEN && j->displaced >= 0;
        j->due |= j->lane == lane && j->state == NQ_LIMITED;
    }
    q->lane[lane].stopped = false;
}

void nq_leave(struct naive_queues *q, int job)
{
    q->job[job].leaving = true;
}

void nq_stop_queue(struct naive_queues *q, int lane)
{
    q->lane[lane].stopped = true;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].lane == lane && q->job[i].state == NQ_HELD) {
            nq_give_back(q, i);
            q->swept = false;
        }
}

static void set_running_times(struct naive_queues *q, int job, int64_t estimate)
{
    struct nq_job *j = &q->job[job];
    int64_t until = greater(j->at + estimate, q->now), was = j->at + j->duration;
    if (until > was) {
        q->repair = true;
    } else {
        nl_decreased(q, job);
        q->swept = false;
        q->back |= nq_any_displaced(q);
    }
    j->duration = until - j->at;
}

void nq_set_times(struct naive_queues *q, int job, int64_t estimate, int64_t limit)
{
    bool runs = q->job[job].state == NQ_RUNNING;
    q->judges_all |= runs;
    if (runs)
        set_running_times(q, job, estimate);
    else
        take_turn_anew(q, job);
    for (int i = job; i >= 0; i = runs ? -1 : nq_next_together(q, i)) {
        struct nq_job *j = &q->job[i];
        j->duration = runs ? j->duration : estimate;
        j->estimate = estimate;
        j->limit = limit;
    }
}

void nq_come(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    for (int i = 0; i < q->whoses; i++)
        if (q->whose[i].lane == j->lane && q->whose[i].account == j->account &&
            q->whose[i].user == j->user)
            return;
    q->whose[q->whoses++] = (struct nq_whose){j->lane, j->account, j->user};
}

void nq_set_account(struct naive_queues *q, int job, int account)
{
    if (q->job[job].account == account)
        return;
    take_turn_anew(q, job);
    for (int i = job; i >= 0; i = nq_next_together(q, i))
        q->job[i].account = account;
    nq_come(q, job);
}

void nq_move(struct naive_queues *q, int job, int lane, bool is_virtual)
{
    take_turn_anew(q, job);
    for (int i = job; i >= 0; i = nq_next_together(q, i)) {
        q->job[i].lane = lane;
        q->job[i].is_virtual = is_virtual;
    }
    nq_come(q, job);
}

void nq_ask_for(struct naive_queues *q, int job, int count, enum nq_piece piece, int of_node)
{
    take_turn_anew(q, job);
    for (int i = job; i >= 0; i = nq_next_together(q, i)) {
        q->job[i].count = count;
        q->job[i].piece = piece;
        q->job[i].of_node = of_node;
    }
}

void nq_status(struct naive_queues *q, int node, bool down)
{
    uint32_t cores = nq_cores_of(q, node, node);
    if (!(q->down & cores) == !down)
        return;
    q->down = down ? q->down | cores : q->down & ~cores;
    q->swept = false;
    q->repair = true;
    for (int i = 0; i < q->jobs; i++)
        q->job[i].due |= q->job[i].state == NQ_LIMITED;
    q->back |= !down;
}

/* Beside what is due, blocks: while a job waits, their turns; and the time from which on it waits in vain. */
static int64_t next_of_blocks(const struct naive_queues *q)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        int64_t last;
        if (j->state == NQ_RUNNING || j->state == NQ_GONE)
            continue;
        if (nb_leave_room(q, i, q->now, &last) && last < INT64_MAX)
            next = lesser(next, last + 1);
        bool open = j->state == NQ_OPEN && !q->lane[j->lane].stopped;
        if (open || (j->state == NQ_HELD && j->victims > 0))
            next = lesser(next, nb_next_turn(q, q->now));
    }
    return next;
}

int64_t nq_next_time(const struct naive_queues *q)
{
    int64_t next = lesser(next_of_blocks(q), nw_next_time(q));
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && q->job[i].victims == 0 && q->job[i].at < next)
            next = q->job[i].at;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_RUNNING && q->lane[q->job[i].lane].preemptible &&
            nq_preemptible_from(&q->job[i]) > q->now)
            next = lesser(next, nq_preemptible_from(&q->job[i]));
    for (int i = 0; i < q->jobs; i++)
        next = lesser(next, nb_next_stop(q, i));
    return next;
}
