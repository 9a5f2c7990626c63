#include "naive_shares.h"

enum { DIVISION = -1, ALL = -1 };

/* What is compared: the division, a queue, or a user of one; and the job that it has next. */
struct side {
    int lane, user, job;
};

static bool is_of(const struct naive_queues *q, struct side side, const struct nq_job *j)
{
    return side.lane == DIVISION
               ? q->lane[j->lane].in_division
               : j->lane == side.lane && (side.user == ALL || j->user == side.user);
}

/* What a side has received, and how many of its jobs run. */
static int64_t received(const struct naive_queues *q, struct side side)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && is_of(q, side, j))
            n += j->count;
    }
    return n;
}

static int64_t running(const struct naive_queues *q, struct side side)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_RUNNING && is_of(q, side, &q->job[i]);
    return n;
}

static int64_t weight(const struct naive_queues *q, struct side side)
{
    if (side.lane == DIVISION)
        return q->division_weight;
    return side.user == ALL ? q->lane[side.lane].weight : q->lane[side.lane].weights[side.user];
}

/* The first open job of a side by priority and number, whether it is looked at or not. */
static int first_open(const struct naive_queues *q, struct side side)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if (j->state == NQ_OPEN && is_of(q, side, j) &&
            (first < 0 || j->priority > q->job[first].priority))
            first = i;
    }
    return first;
}

/* The priority of the job that would be looked at; of what stands above those who take turns, of its first one. */
static int64_t priority_of(const struct naive_queues *q, struct side side)
{
    bool is_leaf = side.lane != DIVISION && (side.user != ALL || !q->lane[side.lane].by_user);
    return q->job[is_leaf ? side.job : first_open(q, side)].priority;
}

/* Less than 0: the job of one side goes first, more: the other's. */
static int compare_by(const struct naive_queues *q, enum nq_by by, struct side a, struct side b)
{
    int64_t l = 0, r = 0;
    switch (by) {
    case NQ_BY_PRIORITY:
        l = priority_of(q, b);
        r = priority_of(q, a);
        break;
    case NQ_BY_DRF:
        l = received(q, a) * weight(q, b);
        r = received(q, b) * weight(q, a);
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

/* The first job that the user of a job has ever had in its queue. */
static int seen_first(const struct naive_queues *q, int job)
{
    int i = 0;
    while (q->job[i].lane != q->job[job].lane || q->job[i].user != q->job[job].user)
        i++;
    return i;
}

static bool goes_first(const struct naive_queues *q, const enum nq_by *by, struct side a,
                       struct side b)
{
    for (int i = 0; i < NQ_BYS; i++) {
        int order = compare_by(q, by[i], a, b);
        if (order != 0)
            return order < 0;
    }
    return a.user != ALL && seen_first(q, a.job) < seen_first(q, b.job);
}

/* The job that a queue has next; -1: none. */
static int next_of_lane(const struct naive_queues *q, const bool looked[NQ_JOBS], int lane)
{
    struct side first[NQ_USERS], best = {lane, ALL, -1};
    for (int u = 0; u < NQ_USERS; u++)
        first[u] = (struct side){lane, u, -1};
    for (int i = 0; i < q->jobs; i++) {
        int leaf = q->lane[lane].by_user ? q->job[i].user : 0;
        if (q->job[i].state == NQ_OPEN && !looked[i] && q->job[i].lane == lane &&
            (first[leaf].job < 0 || nq_before(q, i, first[leaf].job)))
            first[leaf].job = i;
    }
    for (int u = 0; u < NQ_USERS; u++)
        if (first[u].job >= 0 && (best.job < 0 || goes_first(q, q->lane[lane].by, first[u], best)))
            best = first[u];
    return best.job;
}

/* The best of those below the division, or of those that are in none and the division. */
static int next_below(const struct naive_queues *q, const int of_lane[NQ_LANES], bool division,
                      int of_division)
{
    struct side best = {DIVISION, ALL, of_division};
    for (int l = 0; l < q->lanes; l++) {
        struct side side = {l, ALL, of_lane[l]};
        if (side.job >= 0 && q->lane[l].in_division == division &&
            (best.job < 0 || goes_first(q, q->by, side, best)))
            best = side;
    }
    return best.job;
}

int ns_next(const struct naive_queues *q, const bool looked[NQ_JOBS])
{
    int of_lane[NQ_LANES];
    int64_t level = INT64_MIN;
    for (int l = 0; l < q->lanes; l++) {
        of_lane[l] = next_of_lane(q, looked, l);
        if (of_lane[l] >= 0 && q->lane[l].priority > level)
            level = q->lane[l].priority;
    }
    for (int l = 0; l < q->lanes; l++)
        if (q->lane[l].priority < level)
            of_lane[l] = -1;
    return next_below(q, of_lane, false, next_below(q, of_lane, true, -1));
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
