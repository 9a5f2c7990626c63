/* The limits of naive_limits.h. */
#include "naive_limits.h"

#include "base/number.h"
#include "naive_tails.h"

enum { RUNNING, NODES };

/* The calendars: of each user in a lane and, as one more, of the lane; the same of the virtual queues; of the division,
 * and of each account, once for each lane.
 */
enum {
    OF_QUEUES = NQ_LANES * (NQ_USERS + 1) * NQ_WHATS,
    DIVISION = 2 * OF_QUEUES,
    ACCOUNTS = DIVISION + NQ_LANES,
};
_Static_assert((int)ACCOUNTS + NQ_ACCOUNTS * NQ_WHATS * NQ_LANES == NQ_CALENDARS,
               "each has a number");

static int calendar(int lane, int user, int what)
{
    return (lane * (NQ_USERS + 1) + user) * NQ_WHATS + what;
}

static int of_account(int account, int what, int lane)
{
    return ACCOUNTS + (account * NQ_WHATS + what) * NQ_LANES + lane;
}

static bool is_of_account(const struct naive_queues *q, int job, int account)
{
    int of = q->has_accounts ? q->job[job].account : -1;
    while (of >= 0 && of != account)
        of = q->account[of].parent;
    return of >= 0;
}

/* Whether what a user has in a virtual queue counts there, and not in the parent. */
static bool is_own(const struct naive_queues *q, int job, int what)
{
    const struct nq_job *j = &q->job[job];
    return j->is_virtual && q->lane[j->lane].virtual_user_most[what] < INT64_MAX;
}

/* Whether a job counts in a calendar, and of what. */
static bool counts(const struct naive_queues *q, int job, int of, int *what)
{
    const struct nq_job *j = &q->job[job];
    if (of >= ACCOUNTS) {
        *what = (of - ACCOUNTS) / NQ_LANES % NQ_WHATS;
        return is_of_account(q, job, (of - ACCOUNTS) / NQ_LANES / NQ_WHATS);
    }
    *what = of >= DIVISION ? NODES : of % NQ_WHATS;
    if (of >= DIVISION)
        return q->lane[j->lane].in_division;
    bool is_virtual = of >= OF_QUEUES;
    of -= is_virtual ? OF_QUEUES : 0;
    return (!is_virtual || j->is_virtual) &&
           (of == calendar(j->lane, NQ_USERS, *what) ||
            (of == calendar(j->lane, j->user, *what) && (is_virtual || !is_own(q, job, *what))));
}

static int64_t amount(const struct naive_queues *q, int job, int what)
{
    if (what == RUNNING)
        return q->job[job].whole;
    return q->cores > 1 ? nq_cores_asked(q, job) : nq_pieces_asked(q, job);
}

/* What all others have of a calendar at an instant. */
static int64_t load(const struct naive_queues *q, int job, int of, int64_t at)
{
    int64_t sum = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        int what;
        if ((j->state == NQ_HELD || j->state == NQ_RUNNING) && !j->set_aside && i != job &&
            j->at <= at && at < j->at + j->duration && counts(q, i, of, &what))
            sum += amount(q, i, what);
    }
    return sum;
}

/* Whether a limit lets a job run during [at, at + duration). */
static bool lets(const struct naive_queues *q, int job, int of, int what, int64_t most, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    for (int64_t t = at; t < at + j->duration && most < INT64_MAX; t++)
        if (load(q, job, of, t) + amount(q, job, what) > most)
            return false;
    return true;
}

/* What the limits of a job are, each with its calendar, in the order in which they are asked. Returns how many. */
struct limit {
    int of, what;
    int64_t most;
};
enum { MOST_LIMITS = NQ_WHATS * (4 + NQ_ACCOUNTS) };

static int list_limits(const struct naive_queues *q, int job, struct limit list[MOST_LIMITS])
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *lane = &q->lane[j->lane];
    int n = 0;
    for (int what = 0; what < NQ_WHATS; what++) {
        bool own = is_own(q, job, what);
        int user = calendar(j->lane, j->user, what), queue = calendar(j->lane, NQ_USERS, what);
        int64_t of_user = own ? lane->virtual_user_most[what] : lane->user_most[what];
        list[n++] = (struct limit){user + (own ? OF_QUEUES : 0), what, of_user};
        if (j->is_virtual)
            list[n++] = (struct limit){OF_QUEUES + queue, what, lane->virtual_queue_most[what]};
        list[n++] = (struct limit){queue, what, lane->queue_most[what]};
        if (what == NODES && lane->in_division)
            list[n++] = (struct limit){DIVISION + j->lane, what, q->division_most};
        for (int a = q->has_accounts ? j->account : -1; a >= 0; a = q->account[a].parent)
            list[n++] =
                (struct limit){of_account(a, what, j->lane), what, q->account[a].most[what]};
    }
    return n;
}

/* When another job begins, which may be late. */
static int64_t begin_of(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return j->state == NQ_HELD ? greater(j->at, q->now) : j->at;
}

/* Whether what a job holds counts where another one is judged (-1: nobody): what is out of the calendars for a while does, if
 * it is of its level.
 */
static bool counts_for(const struct naive_queues *q, int job, int judged)
{
    const struct nq_job *j = &q->job[job];
    bool is_back = judged >= 0 && j->lifted && nq_level(q, job) == nq_level(q, judged);
    return (j->state == NQ_HELD || j->state == NQ_RUNNING) && (!j->set_aside || is_back);
}

/* What those others have of a calendar at an instant who may still have it then. A job begins then, `first`, to which those give
 * way that begin with it and stand behind it.
 */
static int64_t load_at_most(const struct naive_queues *q, int job, int of, int64_t at, int first,
                            int judged)
{
    int64_t sum = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        int64_t begin = begin_of(q, i);
        bool gives_way = j->state == NQ_HELD && j->at == at && nq_before(q, first, i);
        int what;
        if (counts_for(q, i, judged) && i != job && !gives_way && begin <= at &&
            at < greater(nt_gone(q, i, j->nodes, begin), j->at + j->duration) &&
            counts(q, i, of, &what))
            sum += amount(q, i, what);
    }
    return sum;
}

/* Whether a limit of a job has room for it at another one's promised start, beside all who may still be there then. */
static bool lets_start(const struct naive_queues *q, int job, struct limit limit, int promised)
{
    int what;
    return limit.most == INT64_MAX || !counts(q, promised, limit.of, &what) ||
           load_at_most(q, job, limit.of, q->job[promised].at, promised, -1) +
                   amount(q, job, limit.what) <=
               limit.most;
}

/* Whether another one is promised a start at which a job that begins at a time may be there. */
static bool is_promised_in(const struct naive_queues *q, int job, int64_t at, int other)
{
    const struct nq_job *j = &q->job[job], *k = &q->job[other];
    bool has = j->state == NQ_HELD && at == greater(j->at, q->now); /* its nodes */
    return other != job && k->state == NQ_HELD && !k->lifted && !k->expected && k->at > at &&
           k->at < (has ? nt_gone(q, job, j->nodes, at) : nt_end(j, at));
}

/* Whether one of those who are promised a start comes before another one: by its time, and where it stands. */
static bool starts_before(const struct naive_queues *q, int a, int b)
{
    return q->job[a].at != q->job[b].at ? q->job[a].at < q->job[b].at
                                        : q->job[a].order < q->job[b].order;
}

/* The first of a job's limits that has no room for another one's promised start; -1: all have it. */
static int over_at_start(const struct naive_queues *q, int job, int promised)
{
    struct limit list[MOST_LIMITS];
    int n = list_limits(q, job, list);
    for (int l = 0; l < n; l++)
        if (!lets_start(q, job, list[l], promised))
            return list[l].of;
    return -1;
}

/* The same of the first promised start that a job finds over one. */
static int over_at_starts(const struct naive_queues *q, int job, int64_t at)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (is_promised_in(q, job, at, i) && (first < 0 || starts_before(q, i, first)) &&
            over_at_start(q, job, i) >= 0)
            first = i;
    return first < 0 ? -1 : over_at_start(q, job, first);
}

int nl_over(const struct naive_queues *q, int job, int64_t at)
{
    struct limit list[MOST_LIMITS];
    int n = list_limits(q, job, list);
    for (int l = 0; l < n; l++)
        if (!lets(q, job, list[l].of, list[l].what, list[l].most, at))
            return list[l].of;
    return over_at_starts(q, job, at);
}

bool nl_is_unsure(const struct naive_queues *q, int job, int64_t at, int other)
{
    struct limit list[MOST_LIMITS];
    int n = list_limits(q, job, list), what;
    for (int l = 0; l < n; l++) {
        if (list[l].most == INT64_MAX || !counts(q, other, list[l].of, &what))
            continue;
        int64_t load = load_at_most(q, job, list[l].of, at, job, job) + amount(q, job, what);
        if (load + (counts_for(q, other, job) ? 0 : amount(q, other, what)) > list[l].most)
            return true;
    }
    return false;
}

static bool has_limits(const int64_t most[NQ_WHATS])
{
    return most[RUNNING] < INT64_MAX || most[NODES] < INT64_MAX;
}

/* Whether the user of a job in a virtual queue has limits there; or by the parent's, of what is not limited there. */
static bool has_own(const struct nq_lane *lane)
{
    return has_limits(lane->virtual_user_most);
}

static bool has_above(const struct nq_lane *lane)
{
    for (int what = 0; what < NQ_WHATS; what++)
        if (lane->user_most[what] < INT64_MAX && lane->virtual_user_most[what] == INT64_MAX)
            return true;
    return false;
}

/* Whether what a job leaves may matter to another one of its lane, by the limits of users and queues. */
static bool share_queue(const struct naive_queues *q, int a, int b)
{
    const struct nq_job *x = &q->job[a], *y = &q->job[b];
    const struct nq_lane *lane = &q->lane[x->lane];
    if (has_limits(lane->queue_most))
        return true;
    if (x->is_virtual && y->is_virtual && has_limits(lane->virtual_queue_most))
        return true;
    if (x->user != y->user)
        return false;
    if (x->is_virtual && y->is_virtual && has_own(lane))
        return true;
    return (!x->is_virtual || has_above(lane)) &&
           (y->is_virtual ? has_above(lane) : has_limits(lane->user_most));
}

static bool share_account(const struct naive_queues *q, int a, int b)
{
    for (int i = 0; i < NQ_ACCOUNTS; i++)
        if (is_of_account(q, a, i) && is_of_account(q, b, i) && has_limits(q->account[i].most))
            return true;
    return false;
}

void nl_decreased(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *k = &q->job[i];
        bool in_division = q->lane[k->lane].in_division && q->lane[j->lane].in_division &&
                           q->division_most < INT64_MAX;
        if (k->state == NQ_LIMITED &&
            (in_division || (k->lane == j->lane && share_queue(q, job, i)) ||
             share_account(q, job, i)))
            k->due = true;
    }
}

bool nl_counts(const struct naive_queues *q, int job, int of)
{
    int what;
    return counts(q, job, of, &what);
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
