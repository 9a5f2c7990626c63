/* The limits of naive_limits.h. */
#include "naive_limits.h"

enum { RUNNING, NODES };
enum { DIVISION = NQ_CALENDARS - NQ_LANES };

/* The calendars: of each user in a lane and, as one more, of the lane, for each what. */
static int calendar(int lane, int user, int what)
{
    return (lane * (NQ_USERS + 1) + user) * NQ_WHATS + what;
}

/* What all others have of a calendar at an instant. */
static int64_t load(const struct naive_queues *q, int job, int of, int64_t at)
{
    int64_t sum = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        bool has = (j->state == NQ_HELD || j->state == NQ_RUNNING) && !j->set_aside && i != job &&
                   j->at <= at && at < j->at + j->duration;
        for (int what = 0; what < NQ_WHATS && has; what++)
            if (calendar(j->lane, j->user, what) == of || calendar(j->lane, NQ_USERS, what) == of)
                sum += what == RUNNING ? 1 : j->count;
        if (has && of >= DIVISION && q->lane[j->lane].in_division)
            sum += j->count;
    }
    return sum;
}

/* Whether a limit lets a job run during [at, at + duration). */
static bool lets(const struct naive_queues *q, int job, int of, int64_t most, int64_t more,
                 int64_t at)
{
    const struct nq_job *j = &q->job[job];
    for (int64_t t = at; t < at + j->duration && most < INT64_MAX; t++)
        if (load(q, job, of, t) + more > most)
            return false;
    return true;
}

int nl_over(const struct naive_queues *q, int job, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *lane = &q->lane[j->lane];
    for (int what = 0; what < NQ_WHATS; what++) {
        int user = calendar(j->lane, j->user, what), queue = calendar(j->lane, NQ_USERS, what);
        int64_t more = what == RUNNING ? 1 : j->count;
        if (!lets(q, job, user, lane->user_most[what], more, at))
            return user;
        if (!lets(q, job, queue, lane->queue_most[what], more, at))
            return queue;
    }
    if (lane->in_division && !lets(q, job, DIVISION, q->division_most, j->count, at))
        return DIVISION + j->lane;
    return -1;
}

static bool has_limits(const int64_t most[NQ_WHATS])
{
    return most[RUNNING] < INT64_MAX || most[NODES] < INT64_MAX;
}

void nl_decreased(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *lane = &q->lane[j->lane];
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_LIMITED &&
            ((q->job[i].lane == j->lane &&
              (has_limits(lane->queue_most) ||
               (has_limits(lane->user_most) && q->job[i].user == j->user))) ||
             (q->lane[q->job[i].lane].in_division && lane->in_division &&
              q->division_most < INT64_MAX)))
            q->job[i].due = true;
}

int nl_promises(const struct naive_queues *q, int of)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_HELD && q->job[i].kept && q->job[i].keeper == of;
    return n;
}

int nl_last_kept(const struct naive_queues *q, int of)
{
    int last = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && q->job[i].kept && q->job[i].keeper == of &&
            (last < 0 || nq_before(q, last, i)))
            last = i;
    return last;
}

int64_t nl_most_promises(const struct naive_queues *q, int job)
{
    int64_t depth = q->lane[q->job[job].lane].depth;
    return depth > 1 ? depth : 1;
}

bool nl_may_be_promised(const struct naive_queues *q, int job, int of, bool outranks)
{
    int last = nl_last_kept(q, of);
    return nl_promises(q, of) < nl_most_promises(q, job) ||
           (outranks && last >= 0 && nq_before(q, job, last));
}
