/* How the queues of a scene share, and who takes turns in them. */
#include "naive_play.h"

#include <string.h>

#include "base/number.h"

/* Among what is compared, unless priorities come first or are not among it. Returns how many that are by now. */
static int insert_deadline(enum nq_by by[NQ_BYS], int n, bool priority)
{
    int64_t at;
    if (!draw_deadline_of(run.naive.deadlines_first ? 0 : 1, n, &at) ||
        (!run.naive.deadlines_first && !priority))
        return n;
    memmove(&by[at + 1], &by[at], (size_t)(n - at) * sizeof(*by));
    by[at] = NQ_BY_DEADLINE;
    return n + 1;
}

bool draw_order(enum nq_by by[NQ_BYS], struct sched_share_order *order, bool priority)
{
    static const enum sched_comparator meant[] = {
        [NQ_BY_PRIORITY] = SCHED_BY_PRIORITY, [NQ_BY_SHARE] = SCHED_BY_SHARE,
        [NQ_BY_DRF] = SCHED_BY_DRF,           [NQ_BY_FEWEST_RUNNING] = SCHED_BY_FEWEST_RUNNING,
        [NQ_BY_AGE] = SCHED_BY_AGE,           [NQ_BY_SUBMIT] = SCHED_BY_SUBMIT,
        [NQ_BY_DEADLINE] = SCHED_BY_DEADLINE, [NQ_BY_USAGE] = SCHED_BY_USAGE,
    };
    int n = 0;
    if (priority)
        by[n++] = NQ_BY_PRIORITY;
    by[n++] = (enum nq_by)draw(NQ_BY_SHARE, NQ_BY_FEWEST_RUNNING);
    enum nq_by last = (enum nq_by)draw(NQ_BY_SHARE, NQ_BY_SUBMIT);
    if (last != by[n - 1])
        by[n++] = last;
    for (int i = 0; i < n && run.usage; i++)
        by[i] = by[i] == NQ_BY_DRF ? NQ_BY_USAGE : by[i];
    n = insert_deadline(by, n, priority);
    while (n < NQ_BYS) {
        by[n] = by[n - 1];
        n++;
    }
    for (int i = 0; i < NQ_BYS; i++)
        if (i == 0 || by[i] != by[i - 1])
            order->by[order->n++] = meant[by[i]];
    return priority;
}

void draw_shares(struct nq_lane *lane, struct sched_queue_config *queue,
                 struct sched_weight weights[NQ_USERS], bool by_priority)
{
    static const char *const users[] = {"u0", "u1", "u2"};
    static const char *const divisions[] = {"d0", "d1"};
    lane->weight = queue->share.weight = draw(1, 3);
    lane->division = (int)draw(-1, run.naive.divisions - 1);
    queue->share.under = lane->division < 0 ? NULL : divisions[lane->division];
    static struct sched_limit guarantee[NQ_LANES];
    struct sched_limit *own = &guarantee[lane - run.naive.lane];
    lane->guarantee = draw(0, 2) ? 0 : draw(1, 2);
    *own = (struct sched_limit){"core", lane->guarantee};
    queue->share.guarantee = own;
    queue->share.n_guarantee = lane->guarantee > 0;
    for (int u = 0; u < NQ_USERS; u++) {
        lane->weights[u] = draw(1, 3);
        weights[u] = (struct sched_weight){users[u], lane->weights[u]};
    }
    lane->by_user = draw(0, 2) > 0;
    lane->by_account = lane->by_user && run.accounts && draw(0, 3) > 0;
    lane->by_priority = true;
    if (!lane->by_user) {
        draw_order_of_jobs(lane, queue);
        return;
    }
    queue->by = lane->by_account ? SCHED_SHARE_ACCOUNT : SCHED_SHARE_USER;
    queue->weights = weights;
    queue->n_weights = lane->by_account ? 0 : NQ_USERS;
    bool priority = by_priority || draw(0, 1);
    lane->by_priority = draw_order(lane->by, &queue->order, priority && !run.naive.deadlines_first);
}

void draw_classes(struct nq_lane *lane, struct sched_queue_config *queue)
{
    static const char *const names[NQ_CLASSES] = {"a", "b", "c"};
    static const char *const users[NQ_USERS] = {"u0", "u1", "u2"};
    static struct sched_class classes[NQ_LANES][NQ_CLASSES];
    static struct sched_class_pattern patterns[NQ_LANES][NQ_USERS];
    static struct sched_limit worker[NQ_LANES];
    int l = (int)(lane - run.naive.lane);
    struct random r = {.state = run.seed * NQ_LANES + (uint64_t)l + (2u << 30)};
    if (!run.classes || random_between(&r, 0, 4) == 0)
        return;
    lane->classes = (int)random_between(&r, 1, NQ_CLASSES);
    int64_t left = 100;
    for (int c = 0; c < lane->classes; c++) {
        int64_t most = c == 0 ? 100 : lesser(left, lane->percent[c - 1]), n = lane->classes - c;
        lane->percent[c] = random_between(&r, (left + n - 1) / n, n == 1 ? left : most);
        left -= lane->percent[c];
        classes[l][c] = (struct sched_class){names[c], lane->percent[c]};
    }
    for (int u = 0; u < NQ_USERS; u++) {
        lane->class_of[u] = (int)random_between(&r, 0, lane->classes - 1);
        patterns[l][u] = (struct sched_class_pattern){users[u], names[lane->class_of[u]]};
    }
    lane->worker = random_between(&r, 1, 2);
    worker[l] = (struct sched_limit){"core", lane->worker};
    lane->longest_first = random_between(&r, 0, 2) == 0;
    lane->by_user = lane->by_account = lane->by_priority = lane->by_deadline = false;
    queue->by = SCHED_SHARE_CLASS;
    queue->order.n = queue->n_weights = 0;
    queue->classes = (struct sched_classes){.classes = classes[l],
                                            .n = (size_t)lane->classes,
                                            .patterns = patterns[l],
                                            .n_patterns = NQ_USERS,
                                            .default_class = names[0],
                                            .worker = &worker[l],
                                            .n_worker = 1,
                                            .longest_first = lane->longest_first};
}

void draw_divisions(struct sched_division division[NQ_DIVISIONS])
{
    static const char *const names[] = {"d0", "d1"};
    run.naive.divisions = (int)draw(0, NQ_DIVISIONS);
    for (int d = 0; d < run.naive.divisions; d++) {
        division[d] = (struct sched_division){.name = names[d]};
        division[d].share.weight = run.naive.division_weight[d] = draw(1, 3);
        draw_order(run.naive.division_by[d], &division[d].order,
                   draw(0, 1) && !run.naive.deadlines_first);
    }
    run.naive.nested = run.is_wide && run.naive.divisions > 1 && run.seed % 3 > 0;
    if (run.naive.nested)
        division[1].share.under = names[0];
}

void draw_capability(struct sched_division *division, struct sched_limit *capability)
{
    struct naive_queues *naive = &run.naive;
    struct random r = {.state = ~run.seed};
    naive->division_most = INT64_MAX;
    if (naive->divisions == 0 || !run.limits || random_between(&r, 0, 2) == 0)
        return;
    naive->division_most = random_between(&r, 2, 5);
    *capability = (struct sched_limit){"core", naive->division_most};
    division->share.capability = capability;
    division->share.n_capability = 1;
    for (int i = 0; i < naive->lanes; i++)
        naive->lane[i].in_division =
            naive->lane[i].division == 0 || (naive->nested && naive->lane[i].division == 1);
}

const char *const naive_accounts[] = {"a0", "a1", "a2"};

void draw_accounts(struct sched_account account[NQ_ACCOUNTS],
                   struct sched_weight weights[NQ_ACCOUNTS][NQ_USERS])
{
    static const char *const users[NQ_USERS] = {"u0", "u1", "u2"};
    static struct sched_limit limit[NQ_ACCOUNTS][NQ_WHATS];
    run.naive.has_accounts = true;
    for (int a = 0; a < NQ_ACCOUNTS; a++) {
        struct nq_account *to = &run.naive.account[a];
        size_t n_limits = draw_more_limits((uint64_t)a, limit[a], to->most, 5);
        to->parent = (int)draw(-1, a - 1);
        to->weight = draw(1, 3);
        for (int u = 0; u < NQ_USERS; u++) {
            to->weights[u] = draw(1, 3);
            weights[a][u] = (struct sched_weight){users[u], to->weights[u]};
        }
        account[a] =
            (struct sched_account){.name = naive_accounts[a],
                                   .under = to->parent < 0 ? NULL : naive_accounts[to->parent],
                                   .weight = to->weight,
                                   .users = users,
                                   .n_users = NQ_USERS,
                                   .weights = weights[a],
                                   .n_weights = NQ_USERS,
                                   .limits = limit[a],
                                   .n_limits = n_limits};
    }
}
