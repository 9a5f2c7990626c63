#include "naive_shares.h"

#include <string.h>

#include "naive_classes.h"
#include "naive_share.h"

/* The tree as it is now: the machine, divisions, queues, accounts below these, and users in the order in which they
 * came.
 */
struct tree {
    const struct naive_queues *q;
    struct naive_share is;
    /* That a node is, or is of; -1. */
    int lane[NAIVE_NODES], account[NAIVE_NODES], user[NAIVE_NODES], division[NAIVE_NODES];
    int class[NAIVE_NODES];
    int64_t running[NAIVE_NODES];
};

static uint32_t add(struct tree *t, uint32_t parent, int64_t weight)
{
    struct share_settings settings;
    uint32_t node = t->is.n++;
    share_default_settings(&settings);
    settings.weight = (int32_t)weight;
    t->is.node[node] = (struct naive_node){.parent = parent, .settings = settings};
    t->lane[node] = t->account[node] = t->user[node] = t->division[node] = -1;
    t->class[node] = -1;
    return node;
}

/* The node of a queue, of an account in it, or of a user there (each -1: not that); 0: there is none. */
static uint32_t node_of(const struct tree *t, int lane, int account, int user)
{
    for (uint32_t i = 1; i < t->is.n; i++)
        if (t->lane[i] == lane && t->account[i] == account && t->user[i] == user && t->class[i] < 0)
            return i;
    return 0;
}

static uint32_t node_of_class(const struct tree *t, int lane, int class)
{
    uint32_t i = 1;
    while (t->lane[i] != lane || t->class[i] != class)
        i++;
    return i;
}

/* The account in which a job's user takes turns; -1. */
static int account_of(const struct tree *t, const struct nq_job *j)
{
    return t->q->lane[j->lane].by_account ? j->account : -1;
}

static uint32_t leaf_of(const struct tree *t, int job)
{
    const struct nq_job *j = &t->q->job[job];
    if (t->q->lane[j->lane].classes > 0)
        return node_of_class(t, j->lane, nc_class_of(t->q, job));
    return node_of(t, j->lane, account_of(t, j), t->q->lane[j->lane].by_user ? j->user : -1);
}

static void add_accounts(struct tree *t, int lane)
{
    for (int a = 0; a < NQ_ACCOUNTS; a++) {
        const struct nq_account *is = &t->q->account[a];
        uint32_t node = add(t, node_of(t, lane, is->parent, -1), is->weight);
        t->lane[node] = lane;
        t->account[node] = a;
    }
}

static void add_user(struct tree *t, const struct nq_whose *w)
{
    const struct nq_lane *lane = &t->q->lane[w->lane];
    int account = lane->by_account ? w->account : -1;
    if (!lane->by_user || node_of(t, w->lane, account, w->user) > 0)
        return;
    int64_t weight = account < 0 ? lane->weights[w->user] : t->q->account[account].weights[w->user];
    uint32_t node = add(t, node_of(t, w->lane, account, -1), weight);
    t->lane[node] = w->lane;
    t->account[node] = account;
    t->user[node] = w->user;
}

static void add_nodes(struct tree *t)
{
    const struct naive_queues *q = t->q;
    for (int d = 0; d < q->divisions; d++) {
        uint32_t above = d == 1 && q->nested ? 1 : SHARE_ROOT;
        uint32_t node = add(t, above, q->division_weight[d]);
        t->division[node] = d;
        if (d == 0 && q->division_most < INT64_MAX)
            t->is.node[node].settings.capability[0] = q->division_most;
    }
    for (int l = 0; l < q->lanes; l++) {
        uint32_t node = add(t, (uint32_t)(q->lane[l].division + 1), q->lane[l].weight);
        t->is.node[node].settings.guarantee[0] = q->lane[l].guarantee;
        t->lane[node] = l;
    }
    for (int l = 0; l < q->lanes; l++)
        if (q->lane[l].by_account)
            add_accounts(t, l);
    for (int l = 0; l < q->lanes; l++)
        for (int c = 0; c < q->lane[l].classes; c++) {
            uint32_t node = add(t, node_of(t, l, -1, -1), q->lane[l].percent[c]);
            t->lane[node] = l;
            t->class[node] = c;
        }
    for (int i = 0; i < q->whoses; i++)
        add_user(t, &q->whose[i]);
}

/* What jobs of a leaf ask for while they are open, and have, each added up to one job. */
static void add_jobs(struct tree *t)
{
    const struct naive_queues *q = t->q;
    int64_t amount[NAIVE_NODES][2] = {{0}};
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        if (j->state != NQ_OPEN && j->state != NQ_HELD && j->state != NQ_RUNNING)
            continue;
        uint32_t leaf = leaf_of(t, i);
        int64_t holds = j->state == NQ_OPEN ? 0 : nq_pieces_asked(q, i), all = j->count;
        bool waits = j->state == NQ_OPEN || (j->state == NQ_HELD && !nq_is_full(q, i));
        for (int k = nq_next_together(q, i); waits && k >= 0; k = nq_next_together(q, k))
            all += q->job[k].count;
        amount[leaf][1] += holds;
        amount[leaf][0] += waits ? all - holds : 0;
        for (uint32_t n = leaf; j->state == NQ_RUNNING && n != SHARE_ROOT; n = t->is.node[n].parent)
            t->running[n]++;
    }
    for (uint32_t n = 1; n < t->is.n; n++)
        for (int has = 0; has < 2; has++)
            if (amount[n][has] > 0)
                t->is.job[t->is.n_jobs++] =
                    (struct naive_job){n, has ? SHARE_PROMISED : SHARE_WAITING, {amount[n][has]}};
}

static void make(struct tree *t, const struct naive_queues *q)
{
    memset(t, 0, sizeof(*t));
    t->q = q;
    t->is.dimensions = 1;
    t->is.total[0] = q->nodes;
    t->is.n = 1;
    t->lane[0] = t->account[0] = t->user[0] = t->division[0] = t->class[0] = -1;
    add_nodes(t);
    add_jobs(t);
}

static int64_t received(const struct tree *t, uint32_t node)
{
    return naive_sum(&t->is, node, 1u << SHARE_PROMISED, 0);
}

static const enum nq_by *order_of(const struct tree *t, uint32_t node)
{
    if (node == SHARE_ROOT)
        return t->q->by;
    return t->division[node] >= 0 ? t->q->division_by[t->division[node]]
                                  : t->q->lane[t->lane[node]].by;
}

/* Whether a node compares deadlines before priorities. */
static bool is_by_deadline(const struct tree *t, uint32_t node)
{
    const enum nq_by *by = order_of(t, node);
    for (int i = 0; i < NQ_BYS; i++)
        if (by[i] == NQ_BY_DEADLINE || by[i] == NQ_BY_PRIORITY)
            return by[i] == NQ_BY_DEADLINE;
    return false;
}

static bool goes_before(const struct naive_queues *q, int a, int b, bool by_deadline)
{
    const struct nq_job *x = &q->job[a], *y = &q->job[b];
    if (by_deadline && x->deadline != y->deadline)
        return x->deadline < y->deadline;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->deadline != y->deadline ? x->deadline < y->deadline : x->order < y->order;
}

/* The first open job of a leaf, whether it is looked at or not; -1. */
static int first_of_leaf(const struct tree *t, uint32_t leaf)
{
    int first = -1;
    for (int i = 0; i < t->q->jobs; i++)
        if (t->q->job[i].state == NQ_OPEN && !nc_is_shut(t->q, i) && leaf_of(t, i) == leaf &&
            (first < 0 || nq_before(t->q, i, first)))
            first = i;
    return first;
}

/* And below a node: of the first of its children. */
static int first_open(const struct tree *t, uint32_t node)
{
    int first = -1;
    if (naive_children(&t->is, node) == 0)
        return first_of_leaf(t, node);
    for (uint32_t n = 1; n < t->is.n; n++) {
        int job = t->is.node[n].parent == node ? first_open(t, n) : -1;
        if (job >= 0 && (first < 0 || goes_before(t->q, job, first, is_by_deadline(t, node))))
            first = job;
    }
    return first;
}

/* Less than 0: the first of two fractions is less; 0 of 0 counts as more than any. */
static int compare_share(const struct tree *t, uint32_t a, uint32_t b)
{
    int64_t x = received(t, a), y = received(t, b);
    int64_t u = naive_deserved(&t->is, a, 0), v = naive_deserved(&t->is, b, 0);
    if ((u > 0) != (v > 0))
        return u > 0 ? -1 : 1;
    int64_t l = u > 0 ? x * v : x, r = u > 0 ? y * u : y;
    return l < r ? -1 : l > r;
}

static wide used(const struct tree *t, uint32_t node)
{
    for (int i = 0; i < t->q->usages; i++) {
        const struct nq_usage *u = &t->q->usage[i];
        if (u->division == t->division[node] && u->lane == t->lane[node] &&
            u->account == t->account[node] && u->user == t->user[node] &&
            u->class == t->class[node])
            return u->amount;
    }
    return 0;
}

/* Less than 0: the first has used less, over its weight. */
static int compare_usage(const struct tree *t, uint32_t a, uint32_t b)
{
    wide l = used(t, a) * t->is.node[b].settings.weight;
    wide r = used(t, b) * t->is.node[a].settings.weight;
    return l < r ? -1 : l > r;
}

/* The job by which a node is compared: the first open one below it, or where none is open what is looked at. */
static int job_of(const struct tree *t, uint32_t node, int looked_at)
{
    int open = first_open(t, node);
    return open >= 0 ? open : looked_at;
}

/* Less than 0: a child goes first in which one job would be looked at, before another with another. A node that is no
 * leaf goes by its first open job's priority.
 */
static int compare_by(const struct tree *t, enum nq_by by, const uint32_t node[2], const int job[2])
{
    int64_t v[2] = {0, 0};
    if (by == NQ_BY_SHARE)
        return compare_share(t, node[0], node[1]);
    if (by == NQ_BY_USAGE)
        return compare_usage(t, node[0], node[1]);
    for (int i = 0; i < 2; i++) {
        bool leaf = naive_children(&t->is, node[i]) == 0;
        switch (by) {
        case NQ_BY_PRIORITY:
            v[i] = -t->q->job[leaf ? job[i] : job_of(t, node[i], job[i])].priority;
            break;
        case NQ_BY_DEADLINE:
            v[i] = t->q->job[leaf ? job[i] : job_of(t, node[i], job[i])].deadline;
            break;
        case NQ_BY_DRF:
            v[i] = received(t, node[i]) * t->is.node[node[1 - i]].settings.weight;
            break;
        case NQ_BY_FEWEST_RUNNING:
            v[i] = t->running[node[i]];
            break;
        case NQ_BY_AGE:
            v[i] = t->q->job[job_of(t, node[i], job[i])].submitted;
            break;
        case NQ_BY_SUBMIT:
            v[i] = t->q->job[job_of(t, node[i], job[i])].order;
            break;
        case NQ_BY_SHARE:
        case NQ_BY_USAGE:
            break;
        }
    }
    return v[0] < v[1] ? -1 : v[0] > v[1];
}

/* The job below a node that is looked at next; -1: none. `first` has that of each leaf. */
static int choose(const struct tree *t, uint32_t node, const int first[NAIVE_NODES])
{
    int best = -1;
    uint32_t of = 0;
    if (naive_children(&t->is, node) == 0)
        return first[node];
    for (uint32_t i = 1; i < t->is.n; i++) {
        int job = t->is.node[i].parent == node ? choose(t, i, first) : -1;
        int order = best < 0 ? -1 : 0;
        if (job < 0 ||
            (best >= 0 && t->class[i] >= 0)) /* whose turn it is in there is asked later */
            continue;
        for (int k = 0; k < NQ_BYS && order == 0; k++)
            order = compare_by(t, order_of(t, node)[k], (uint32_t[]){i, of}, (int[]){job, best});
        if (order == 0)
            order = compare_by(t, NQ_BY_SUBMIT, (uint32_t[]){i, of}, (int[]){job, best});
        if (order >= 0)
            continue;
        best = job;
        of = i;
    }
    return best;
}

int ns_next(const struct naive_queues *q, const bool looked[NQ_JOBS])
{
    struct tree t;
    int first[NAIVE_NODES];
    bool any = false;
    int64_t level = 0;
    make(&t, q);
    for (int i = 0; i < q->jobs; i++) {
        int64_t own = nq_level(q, i);
        if (q->job[i].state == NQ_OPEN && !looked[i] && (!any || own > level)) {
            level = own;
            any = true;
        }
    }
    for (uint32_t n = 0; n < NAIVE_NODES; n++)
        first[n] = -1;
    for (int i = 0; i < q->jobs; i++) {
        if (q->job[i].state != NQ_OPEN || looked[i] || nq_level(q, i) != level)
            continue;
        uint32_t leaf = leaf_of(&t, i);
        if (first[leaf] < 0 || nq_before(q, i, first[leaf]))
            first[leaf] = i;
    }
    return choose(&t, SHARE_ROOT, first);
}

static struct ns_turn turn_of(const struct naive_queues *q, int job, bool is_new)
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *lane = &q->lane[j->lane];
    struct ns_turn turn = {.level = nq_level(q, job), .is_new = is_new};
    if (is_new && !lane->by_priority) {
        turn.rank[0] = turn.rank[1] = INT64_MAX;
        return turn;
    }
    turn.rank[q->deadlines_first] = -j->priority;
    turn.rank[!q->deadlines_first] = is_new ? INT64_MAX : j->deadline;
    turn.held = is_new ? 0 : nc_held(q, job);
    turn.length = is_new ? 0 : nq_length(q, job);
    turn.order = is_new ? 0 : j->order;
    return turn;
}

struct ns_turn ns_turn_of_open(const struct naive_queues *q, int job)
{
    return turn_of(q, job, q->shares && q->job[job].displaced < 0);
}

struct ns_turn ns_place(const struct naive_queues *q, int job)
{
    return turn_of(q, job, false);
}

struct ns_turn ns_turn(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return turn_of(q, job, q->shares && j->state == NQ_OPEN && j->displaced < 0);
}

bool ns_is_before(struct ns_turn a, struct ns_turn b)
{
    if (a.level != b.level)
        return a.level > b.level;
    for (int i = 0; i < 2; i++)
        if (a.rank[i] != b.rank[i])
            return a.rank[i] < b.rank[i];
    if (a.is_new != b.is_new)
        return b.is_new;
    if (a.held != b.held)
        return a.held < b.held;
    return a.length != b.length ? a.length < b.length : a.order < b.order;
}
