#include "naive_shares.h"

/* What a queue, or one of its users (-1: all), has received, and how many of its jobs run. */
static int64_t received(const struct naive_queues *q, int lane, int user)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && j->lane == lane &&
            (user < 0 || j->user == user))
            n += j->count;
    }
    return n;
}

static int64_t running(const struct naive_queues *q, int lane, int user)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_RUNNING && q->job[i].lane == lane &&
             (user < 0 || q->job[i].user == user);
    return n;
}

/* The first open job of a queue, or of one of its users (-1: all), whether it is looked at or not. */
static int first_open(const struct naive_queues *q, int lane, int user)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_OPEN && q->job[i].lane == lane &&
            (user < 0 || q->job[i].user == user) && (first < 0 || nq_before(q, i, first)))
            first = i;
    return first;
}

/* The priority of the job that would be looked at; of a queue whose users take turns, of its first one. */
static int64_t priority_of(const struct naive_queues *q, int job, bool users)
{
    int lane = q->job[job].lane;
    return q->job[users || !q->lane[lane].by_user ? job : first_open(q, lane, -1)].priority;
}

/* Less than 0: the job of one side goes first, more: the other's. */
static int compare_by(const struct naive_queues *q, enum nq_by by, int a, int b, bool users)
{
    const struct nq_job *x = &q->job[a], *y = &q->job[b];
    int ux = users ? x->user : -1, uy = users ? y->user : -1;
    int64_t l = 0, r = 0;
    switch (by) {
    case NQ_BY_PRIORITY:
        l = priority_of(q, b, users);
        r = priority_of(q, a, users);
        break;
    case NQ_BY_DRF:
        l = received(q, x->lane, ux) *
            (users ? q->lane[y->lane].weights[uy] : q->lane[y->lane].weight);
        r = received(q, y->lane, uy) *
            (users ? q->lane[x->lane].weights[ux] : q->lane[x->lane].weight);
        break;
    case NQ_BY_FEWEST_RUNNING:
        l = running(q, x->lane, ux);
        r = running(q, y->lane, uy);
        break;
    case NQ_BY_SUBMIT:
        l = first_open(q, x->lane, ux);
        r = first_open(q, y->lane, uy);
        break;
    }
    return l < r ? -1 : l > r;
}

/* The first job that the user of a job has ever had in its queue. */
static int seen_first(const struct naive_queues *q, int job)
{
    int i = 0;
    while (q->job[i].lane != q->job[job].lane || q->job[i].user != q->job[job].user)
        i++;
    return i;
}

static bool goes_first(const struct naive_queues *q, const enum nq_by *by, int a, int b, bool users)
{
    for (int i = 0; i < NQ_BYS; i++) {
        int order = compare_by(q, by[i], a, b, users);
        if (order != 0)
            return order < 0;
    }
    return users && seen_first(q, a) < seen_first(q, b);
}

int ns_next(const struct naive_queues *q, const bool looked[NQ_JOBS])
{
    int of_lane[NQ_LANES], best = -1;
    for (int l = 0; l < q->lanes; l++) {
        int first[NQ_USERS] = {-1, -1, -1};
        of_lane[l] = -1;
        for (int i = 0; i < q->jobs; i++) {
            int leaf = q->lane[l].by_user ? q->job[i].user : 0;
            if (q->job[i].state == NQ_OPEN && !looked[i] && q->job[i].lane == l &&
                (first[leaf] < 0 || nq_before(q, i, first[leaf])))
                first[leaf] = i;
        }
        for (int u = 0; u < NQ_USERS; u++)
            if (first[u] >= 0 &&
                (of_lane[l] < 0 || goes_first(q, q->lane[l].by, first[u], of_lane[l], true)))
                of_lane[l] = first[u];
    }
    for (int l = 0; l < q->lanes; l++) {
        int i = of_lane[l];
        if (i < 0)
            continue;
        int64_t own = q->lane[l].priority,
                other = best < 0 ? 0 : q->lane[q->job[best].lane].priority;
        if (best < 0 || own > other || (own == other && goes_first(q, q->by, i, best, false)))
            best = i;
    }
    return best;
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
