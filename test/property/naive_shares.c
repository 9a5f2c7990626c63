#include "naive_shares.h"

#include <string.h>

/* Who is compared beside others, by a job: a user of an account (-1: of the queue), an account, or a queue (both
 * -1).
 */
struct side {
    int job, account, user;
};

/* Whether an account is another one, or part of it. */
static bool is_below(const struct naive_queues *q, int account, int other)
{
    while (account >= 0 && account != other)
        account = q->account[account].parent;
    return account == other;
}

static bool is_of(const struct naive_queues *q, int job, const struct side *side)
{
    const struct nq_job *j = &q->job[job];
    if (j->lane != q->job[side->job].lane || (side->user >= 0 && j->user != side->user))
        return false;
    if (side->account < 0)
        return true;
    return side->user >= 0 ? j->account == side->account : is_below(q, j->account, side->account);
}

/* What it has received, and how many of its jobs run. */
static int64_t received(const struct naive_queues *q, const struct side *side)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && is_of(q, i, side))
            n += j->count;
    }
    return n;
}

static int64_t running(const struct naive_queues *q, const struct side *side)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_RUNNING && is_of(q, i, side);
    return n;
}

/* Its first open job, whether it is looked at or not. */
static int first_open(const struct naive_queues *q, const struct side *side)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_OPEN && is_of(q, i, side) &&
            (first < 0 || nq_before(q, i, first)))
            first = i;
    return first;
}

/* The priority of the job that would be looked at; of what has several users below it, of its first one. */
static int64_t priority_of(const struct naive_queues *q, const struct side *side)
{
    bool is_leaf = side->user >= 0 || !q->lane[q->job[side->job].lane].by_user;
    return q->job[is_leaf ? side->job : first_open(q, side)].priority;
}

static int64_t weight_of(const struct naive_queues *q, const struct side *side)
{
    const struct nq_lane *lane = &q->lane[q->job[side->job].lane];
    if (side->account >= 0)
        return side->user >= 0 ? q->account[side->account].weights[side->user]
                               : q->account[side->account].weight;
    return side->user >= 0 ? lane->weights[side->user] : lane->weight;
}

/* Less than 0: one side goes first, more: the other. */
static int compare_by(const struct naive_queues *q, enum nq_by by, const struct side *a,
                      const struct side *b)
{
    int64_t l = 0, r = 0;
    switch (by) {
    case NQ_BY_PRIORITY:
        l = priority_of(q, b);
        r = priority_of(q, a);
        break;
    case NQ_BY_DRF:
        l = received(q, a) * weight_of(q, b);
        r = received(q, b) * weight_of(q, a);
        break;
    case NQ_BY_FEWEST_RUNNING:
        l = running(q, a);
        r = running(q, b);
        break;
    case NQ_BY_SUBMIT:
        l = first_open(q, a);
        r = first_open(q, b);
        break;
    }
    return l < r ? -1 : l > r;
}

/* Accounts come first, as configured, then users by their first job. Queues are compared in their order. */
static int place_of(const struct naive_queues *q, const struct side *side)
{
    int i = 0;
    if (side->user < 0)
        return side->account;
    while (!is_of(q, i, side))
        i++;
    return NQ_ACCOUNTS + i;
}

static bool goes_first(const struct naive_queues *q, const enum nq_by *by, const struct side *a,
                       const struct side *b)
{
    for (int i = 0; i < NQ_BYS; i++) {
        int order = compare_by(q, by[i], a, b);
        if (order != 0)
            return order < 0;
    }
    return place_of(q, a) < place_of(q, b);
}

static void take_first(const struct naive_queues *q, int lane, const struct side *side,
                       struct side *best)
{
    if (side->job >= 0 && (best->job < 0 || goes_first(q, q->lane[lane].by, side, best)))
        *best = *side;
}

/* The job that goes first in an account (-1: in the queue), given the first ones of users. */
static int first_in(const struct naive_queues *q, int lane, int account,
                    int first[NQ_ACCOUNTS + 1][NQ_USERS])
{
    struct side best = {-1, -1, -1};
    for (int a = account + 1; a < NQ_ACCOUNTS && q->lane[lane].by_account; a++)
        if (q->account[a].parent == account)
            take_first(q, lane, &(struct side){first_in(q, lane, a, first), a, -1}, &best);
    for (int u = 0; u < NQ_USERS; u++)
        take_first(q, lane, &(struct side){first[account + 1][u], account, u}, &best);
    return best.job;
}

/* The job of a queue that goes first; -1. */
static int first_of_lane(const struct naive_queues *q, int lane, const bool looked[NQ_JOBS])
{
    const struct nq_lane *l = &q->lane[lane];
    int first[NQ_ACCOUNTS + 1][NQ_USERS];
    memset(first, -1, sizeof(first));
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        int *leaf = &first[l->by_account ? j->account + 1 : 0][l->by_user ? j->user : 0];
        if (j->state == NQ_OPEN && !looked[i] && j->lane == lane &&
            (*leaf < 0 || nq_before(q, i, *leaf)))
            *leaf = i;
    }
    return l->by_user ? first_in(q, lane, -1, first) : first[0][0];
}

int ns_next(const struct naive_queues *q, const bool looked[NQ_JOBS])
{
    struct side best = {-1, -1, -1};
    for (int l = 0; l < q->lanes; l++) {
        struct side side = {first_of_lane(q, l, looked), -1, -1};
        if (side.job < 0)
            continue;
        int64_t own = q->lane[l].priority,
                other = best.job < 0 ? 0 : q->lane[q->job[best.job].lane].priority;
        if (best.job < 0 || own > other || (own == other && goes_first(q, q->by, &side, &best)))
            best = side;
    }
    return best.job;
}

struct ns_turn ns_turn(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *lane = &q->lane[j->lane];
    bool is_new = q->shares && j->state == NQ_OPEN && j->displaced < 0;
    return (struct ns_turn){lane->priority, is_new && !lane->by_priority ? INT64_MIN : j->priority,
                            is_new, job};
}

bool ns_is_before(struct ns_turn a, struct ns_turn b)
{
    if (a.level != b.level)
        return a.level > b.level;
    if (a.priority != b.priority)
        return a.priority > b.priority;
    return a.is_new != b.is_new ? b.is_new : a.job < b.job;
}
