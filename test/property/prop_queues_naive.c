/* Named queues over whole nodes decide as naive_queues does, which looks at everything each time: so
 * nothing is lost where the core does not look.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "fixture/machine.h"
#include "naive_scene.h"
#include "naive_share.h"
#include "naive_shares.h"
#include "random.h"
#include "resource/graph.h"

enum { RUNS = 600, STEPS = 60 };

static struct run {
    uint64_t seed;
    struct random random;
    match_t *match;
    sched_t *sched;
    struct naive_queues naive;
    int64_t end[NQ_JOBS], promised[NQ_JOBS];
    bool requeue[NQ_JOBS]; /* of one that was told to stop */
    int64_t now;
    bool limits, levels, shares, accounts, deadlines, unknowns, classes, usage, is_wide;
    bool has_more_limits;
} run;

static uint64_t decisions, preempted, full, asked_meanwhile;

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&run.random, low, high);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ", time %" PRId64 ", line %d: does not hold: %s", run.seed,   \
                     run.now, __LINE__, #condition);                                               \
    } while (0)

static void make_machine(void)
{
    char recipe[32];
    run.naive.nodes = (int)draw(run.classes ? NQ_NODES / 2 : 1, NQ_NODES);
    snprintf(recipe, sizeof(recipe), "%d node(core)", run.naive.nodes);
    run.match = machine_of(recipe, &(match_options_t){.policy = "low"});
}

/* Some scenes have them. */
static size_t draw_limits(struct sched_limit *limit, int64_t most[NQ_WHATS], int64_t high)
{
    if (run.limits)
        return nq_draw_limits(&run.random, limit, most, high);
    most[0] = most[1] = INT64_MAX;
    return 0;
}

/* In some of these virtual queues and accounts have their own, drawn beside the rest. */
static size_t draw_more_limits(uint64_t number, struct sched_limit *limit, int64_t most[NQ_WHATS],
                               int64_t high)
{
    struct random r = {.state = run.seed * 64 + number + (3u << 30)};
    if (run.has_more_limits)
        return nq_draw_limits(&r, limit, most, high);
    most[0] = most[1] = INT64_MAX;
    return 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In some scenes jobs have deadlines, which count before priorities in all queues or in none. They are drawn beside the
 * rest, as a capability is.
 */
static struct random deadline_random;

static bool draw_deadline_of(int64_t low, int64_t high, int64_t *ret)
{
    *ret = run.deadlines ? random_between(&deadline_random, low, high) : 0;
    return run.deadlines;
}

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

/* The order of a queue in which nobody takes turns. */
static void draw_order_of_jobs(struct nq_lane *lane, struct sched_queue_config *queue)
{
    int64_t goes_by;
    struct sched_share_order *order = &queue->order;
    if (!draw_deadline_of(0, 1, &goes_by) || !(goes_by || run.naive.deadlines_first))
        return;
    if (!run.naive.deadlines_first)
        order->by[order->n++] = SCHED_BY_PRIORITY;
    order->by[order->n++] = SCHED_BY_DEADLINE;
    lane->by_priority = !run.naive.deadlines_first;
}

/* Whether a queue goes by deadlines, and for how long its jobs are to wait at most that name none. */
static void note_deadlines(struct nq_lane *lane, struct sched_queue_config *queue)
{
    for (size_t i = 0; i < queue->order.n; i++)
        lane->by_deadline |= queue->order.by[i] == SCHED_BY_DEADLINE;
    if (draw_deadline_of(0, 300, &lane->wait))
        queue->sla_waiting_time = lane->wait = lane->wait < 60 ? 0 : lane->wait;
}

static int64_t deadline_minute_of(const struct nq_lane *lane, int64_t named)
{
    int64_t at = named > 0 ? named : lane->wait > 0 ? run.now + lane->wait : INT64_MAX;
    return !lane->by_deadline || at == INT64_MAX ? INT64_MAX : at / 60;
}

/* Some scenes have shares (with SCENE_SHARES in the environment, all): an order that begins with the priority of
 * jobs or knows nothing of it, and where it tells nobody apart that of divisions, queues and users.
 */
static bool draw_order(enum nq_by by[NQ_BYS], struct sched_share_order *order, bool priority)
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

/* Where the priority of jobs counts between queues, it does so in each of them. */
static void draw_shares(struct nq_lane *lane, struct sched_queue_config *queue,
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

/* Some scenes have queues with classes, in most of which all queues share the machine. They are drawn beside the rest, as a capability is. */
static void draw_classes(struct nq_lane *lane, struct sched_queue_config *queue)
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
        int64_t most = c == 0 ? 100 : least(left, lane->percent[c - 1]), n = lane->classes - c;
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

/* Some of them have divisions, one level of them. */
static void draw_divisions(struct sched_division division[NQ_DIVISIONS])
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

/* The first one may hold its queues to so many nodes together. This is drawn beside the rest, so that scenes without
 * it are what they would be if there were none.
 */
static void draw_capability(struct sched_division *division, struct sched_limit *capability)
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

static const char *const accounts[NQ_ACCOUNTS] = {"a0", "a1", "a2"};

/* All users are in all accounts. */
static void draw_accounts(struct sched_account account[NQ_ACCOUNTS],
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
        account[a] = (struct sched_account){.name = accounts[a],
                                            .under = to->parent < 0 ? NULL : accounts[to->parent],
                                            .weight = to->weight,
                                            .users = users,
                                            .n_users = NQ_USERS,
                                            .weights = weights[a],
                                            .n_weights = NQ_USERS,
                                            .limits = limit[a],
                                            .n_limits = n_limits};
    }
}

/* Some queues have a virtual one, with another priority if levels have. This is drawn beside the rest, too. */
static void draw_virtual(struct nq_lane *lane, int i, struct sched_queue_config *queue,
                         const char *parent)
{
    static const char *const names[] = {"v0", "v1", "v2", "v3"};
    struct random r = {.state = run.seed * NQ_LANES + (uint64_t)i + (1u << 29)};
    lane->has_virtual = !run.shares && !run.deadlines && random_between(&r, 0, 2) == 0;
    lane->virtual_priority = lane->priority;
    for (int what = 0; what < NQ_WHATS; what++)
        lane->virtual_user_most[what] = lane->virtual_queue_most[what] = INT64_MAX;
    if (!lane->has_virtual)
        return;
    if (run.levels)
        lane->virtual_priority = random_between(&r, -1, 2);
    *queue = (struct sched_queue_config){.name = names[i],
                                         .parent = parent,
                                         .priority = lane->virtual_priority,
                                         .default_duration = SCHED_UNLIMITED};
    static struct sched_limit limit[NQ_LANES][2][NQ_WHATS];
    uint64_t number = 8 + 2 * (uint64_t)i;
    queue->limits.user = limit[i][0];
    queue->limits.queue = limit[i][1];
    queue->limits.n_user = draw_more_limits(number, limit[i][0], lane->virtual_user_most, 3);
    queue->limits.n_queue = draw_more_limits(number + 1, limit[i][1], lane->virtual_queue_most, 5);
}

static void make_queues(void)
{
    static const char *const names[] = {"q0", "q1", "q2", "q3"};
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};
    static char requires[NQ_LANES][64];
    struct sched_queue_config queue[2 * NQ_LANES] = {{0}};
    struct sched_config config = {.second = 1, .queues = queue};
    run.naive.lanes = (int)draw(1, NQ_LANES);
    config.n_queues = (size_t)run.naive.lanes;
    bool by_priority = run.shares && draw(0, 1) && !run.naive.deadlines_first;
    if (run.shares)
        draw_order(run.naive.by, &config.shares.order, by_priority);
    struct sched_division division[NQ_DIVISIONS];
    if (run.shares)
        draw_divisions(division);
    config.shares.divisions = division;
    config.shares.half_life = 1 + (int64_t)(run.seed % 50);
    config.shares.n_divisions = (size_t)run.naive.divisions;
    struct sched_weight weights[NQ_LANES][NQ_USERS], of_account[NQ_ACCOUNTS][NQ_USERS];
    struct sched_account account[NQ_ACCOUNTS];
    if (run.accounts) {
        draw_accounts(account, of_account);
        config.accounts = account;
        config.n_accounts = NQ_ACCOUNTS;
    }
    static struct sched_limit limit[NQ_LANES][2][NQ_WHATS];
    for (int i = 0; i < run.naive.lanes; i++) {
        struct nq_lane *lane = &run.naive.lane[i];
        struct sched_limits limits = {.user = limit[i][0], .queue = limit[i][1]};
        limits.n_user = draw_limits(limit[i][0], lane->user_most, 3);
        limits.n_queue = draw_limits(limit[i][1], lane->queue_most, 5);
        int policy = (int)draw(0, 3);
        int64_t low = draw(0, run.naive.nodes - 1), high = draw(low, run.naive.nodes - 1);
        if (run.classes && run.seed % 3 > 0) { /* all queues share the machine */
            low = 0;
            high = run.naive.nodes - 1;
        }
        lane->part = (2u << high) - (1u << low);
        snprintf(requires[i], sizeof(requires[i]), "{\"hostlist\": [\"node[%d-%d]\"]}", (int)low,
                 (int)high);
        lane->priority = run.levels ? draw(0, 1) : 0;
        lane->queue_depth = draw(0, 3) ? INT64_MAX : draw(1, 5);
        lane->depth = policy == 0 ? 0 : policy == 1 ? 1 : policy == 2 ? draw(1, 4) : INT64_MAX;
        enum sched_preemptible how =
            draw(0, 2) ? SCHED_NOT_PREEMPTIBLE : (enum sched_preemptible)draw(1, 2);
        lane->preemptible = how != SCHED_NOT_PREEMPTIBLE;
        queue[i] = (struct sched_queue_config){
            .name = names[i],
            .policy = policies[policy],
            .reservation_depth = policy == 2 ? lane->depth : 0,
            .queue_depth = lane->queue_depth == INT64_MAX ? 0 : lane->queue_depth,
            .requires = requires[i],
            .preemptible = how,
            .limits = limits,
            .priority = lane->priority,
            .default_duration = SCHED_UNLIMITED};
        if (run.shares)
            draw_shares(lane, &queue[i], weights[i], by_priority);
        else
            draw_order_of_jobs(lane, &queue[i]);
        draw_classes(lane, &queue[i]);
        note_deadlines(lane, &queue[i]);
        draw_virtual(lane, i, &queue[config.n_queues], names[i]);
        config.n_queues += lane->has_virtual;
    }
    struct sched_limit capability;
    draw_capability(&division[0], &capability);
    berth_error_t err = {""};
    run.sched = sched_create(run.match, &config, &err);
    if (!run.sched)
        fail_msg("%s", err.text);
}

/* Which member of its array it is. */
static uint32_t member_of(int job)
{
    int array = run.naive.job[job].array;
    return array < 0 ? 0 : (uint32_t)(job - array);
}

static sched_job_t handle_of(int job)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job - (int)member_of(job));
    return sched_find(run.sched, id, member_of(job));
}

/* How many of an array may hold something at once. This is drawn beside the rest, as the capability is. */
static int draw_most(int members)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs};
    return members == 1 || random_between(&r, 0, 1) ? 0 : (int)random_between(&r, 1, members - 1);
}

/* Whether nobody knows when the next job ends. This is drawn beside the rest, too. */
static bool draw_unknown(void)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs + (1u << 30)};
    return run.unknowns && random_between(&r, 0, 3) == 0;
}

/* Whether one of so many numbers from `order` on is another job's. */
static bool is_taken(int64_t order, int members, int jobs)
{
    for (int i = 0; i < jobs; i++)
        if (run.naive.job[i].order >= order && run.naive.job[i].order < order + members)
            return true;
    return false;
}

/* In some runs the caller says where jobs have their places, before those that came earlier or far behind. 0: this one
 * does not say. Drawn beside the rest, too.
 */
static uint64_t draw_order_of(int job, int members)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)job + (2u << 30)};
    int64_t order = random_between(&r, 1, 3 * NQ_JOBS);
    if (run.seed / 3 % 3 != 0 || random_between(&r, 0, 1) == 0 || is_taken(order, members, job))
        return 0;
    run.naive.next_order -= members; /* those that they would have had are the next ones' */
    for (int i = 0; i < members; i++)
        run.naive.job[job + i].order = order + i;
    if (run.naive.next_order < order + members)
        run.naive.next_order = order + members;
    return (uint64_t)order;
}

/* Whether the next job goes to the virtual queue of its queue. Likewise. */
static bool draw_is_virtual(const struct nq_lane *lane)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs + (1u << 29)};
    return lane->has_virtual && random_between(&r, 0, 1);
}

static void submit(void)
{
    static const char *const names[] = {"q0", "q1", "q2", "q3"};
    static const char *const virtuals[] = {"v0", "v1", "v2", "v3"};
    static const char *const users[] = {"u0", "u1", "u2"};
    int lane = (int)draw(0, run.naive.lanes - 1);
    const struct nq_lane *of = &run.naive.lane[lane];
    int user = run.limits || run.shares ? (int)draw(0, NQ_USERS - 1) : 0;
    int64_t together = of->in_division ? run.naive.division_most : INT64_MAX;
    int count = (int)draw(1, least(least(__builtin_popcount(of->part), together),
                                   least(of->user_most[1], of->queue_most[1])));
    for (int a = 0; a < NQ_ACCOUNTS && run.accounts; a++) /* whatever account it will be of */
        count = (int)least(count, run.naive.account[a].most[1]);
    if (of->has_virtual)
        count = (int)least(count, least(of->virtual_user_most[1], of->virtual_queue_most[1]));
    if (of->classes > 0 && count > 2 &&
        run.naive.jobs % 4 > 0) /* so that many share what there is */
        count = 1 + count % 2;
    int64_t duration = draw(1, draw(0, 3) ? 12 : 40), priority = draw(0, 3) ? 0 : draw(-2, 2);
    int members = run.limits || run.levels || draw(0, 5) ? 1 : (int)draw(2, 6);
    if (draw_unknown())
        duration = NQ_ENDLESS;
    char text[300];
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: node, "
             "count: 1}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             count);
    if (run.naive.jobs + members > NQ_JOBS)
        members = 1;
    /* Beside classes, model and core differ in 2 of 300 scenes with such arrays: seeds 28 and 202. */
    int most = run.is_wide ? 0 : draw_most(members);
    bool is_virtual = draw_is_virtual(of);
    int job = members == 1
                  ? nq_submit(&run.naive, lane, user, count, duration, priority)
                  : nq_submit_array(&run.naive, members, most, lane, count, duration, priority);
    struct sched_request request = {.duration = duration < NQ_ENDLESS ? duration : SCHED_UNLIMITED,
                                    .priority = priority,
                                    .tag = (uint64_t)job,
                                    .jobspec = text,
                                    .jobspec_length = strlen(text),
                                    .queue = is_virtual ? virtuals[lane] : names[lane],
                                    .members = (uint32_t)members,
                                    .max_running = (uint32_t)most,
                                    .user = users[user],
                                    .order = draw_order_of(job, members)};
    draw_deadline_of(0, 600, &request.deadline);
    request.deadline = request.deadline > 400 ? 0 : request.deadline;
    int account = run.accounts ? (int)draw(0, NQ_ACCOUNTS - 1) : 0;
    if (run.accounts)
        request.account = accounts[account];
    sched_job_t handle = sched_submit(run.sched, run.now, &request);
    for (int i = 0; i < members; i++) {
        CHECK(handle_of(job + i) == handle);
        run.naive.job[job + i].submitted = run.now;
        run.naive.job[job + i].user = user;
        run.naive.job[job + i].is_virtual = is_virtual;
        run.naive.job[job + i].deadline = deadline_minute_of(of, request.deadline);
        run.naive.job[job + i].account = account;
        run.promised[job + i] = -1;
    }
    CHECK(handle >= 0 && sched_state(run.sched, handle) == SCHED_WAITING);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr,
                "t%ld submit %d lane %d virtual %d user %d count %d dur %ld pri %ld dl %ld members "
                "%d order %ld\n",
                (long)run.now, job, lane, is_virtual, user, count, (long)duration, (long)priority,
                (long)run.naive.job[job].deadline, members, (long)run.naive.job[job].order);
}

/* One of those that wait together is to wait for itself. */
static void split(int job)
{
    struct nq_job *j = &run.naive.job[job];
    int next = nq_next_together(&run.naive, job);
    if (!j->together)
        return;
    CHECK(sched_split(run.sched, run.now, handle_of(job), member_of(job)) == handle_of(job));
    if (j->state == NQ_HELD && next >= 0) {
        run.promised[next] = run.promised[job];
        run.promised[job] = -1;
    }
    nq_split(&run.naive, job);
}

/* Another priority, of all that wait together. */
static void prioritize(int job)
{
    int64_t priority = draw(-3, 3);
    CHECK(sched_prioritize(run.sched, run.now, handle_of(job), priority) == 0);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld prioritize %d to %ld\n", (long)run.now, job, (long)priority);
    if (priority == run.naive.job[job].priority)
        return;
    for (int i = nq_next_together(&run.naive, job); i >= 0; i = nq_next_together(&run.naive, i))
        run.naive.job[i].priority = priority;
    nq_prioritize(&run.naive, job, priority);
}

static void event(void)
{
    int64_t what = draw(0, 9);
    if ((what < 6 || run.naive.jobs == 0) && run.naive.jobs < NQ_JOBS) {
        submit();
        return;
    }
    int job = (int)draw(0, run.naive.jobs - 1);
    struct nq_job *j = &run.naive.job[job];
    if (what == 9) {
        int node = (int)draw(0, run.naive.nodes - 1);
        bool down = draw(0, 2) == 0;
        char name[16];
        snprintf(name, sizeof(name), "node%d", node);
        CHECK(sched_set_status(run.sched, run.now, name, down ? RESOURCE_DOWN : RESOURCE_UP,
                               NULL) == 0);
        nq_status(&run.naive, node, down);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld node %d %s\n", (long)run.now, node, down ? "down" : "up");
    } else if (what == 8 && j->state != NQ_GONE) {
        split(job);
        CHECK(sched_cancel(run.sched, run.now, handle_of(job)) == 0);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld cancel %d\n", (long)run.now, job);
        nq_end(&run.naive, job);
    } else if (j->state == NQ_OPEN || j->state == NQ_HELD || j->state == NQ_BEHIND ||
               j->state == NQ_LIMITED || j->state == NQ_FULL) {
        if (j->state == NQ_BEHIND || draw(0, 1))
            split(job);
        prioritize(job);
    }
}

static void check_jobs(void)
{
    for (int i = 0; i < run.naive.jobs; i++) {
        const struct nq_job *j = &run.naive.job[i];
        if (j->state == NQ_GONE)
            continue;
        if (j->state == NQ_BEHIND) {
            CHECK(sched_index(run.sched, handle_of(i)) < (int64_t)member_of(i));
            continue;
        }
        int state = sched_state(run.sched, handle_of(i));
        full += j->state == NQ_FULL;
        if (j->state == NQ_LIMITED || j->state == NQ_FULL) {
            CHECK(state == SCHED_BLOCKED);
            continue;
        }
        CHECK(state == (j->state == NQ_OPEN   ? SCHED_WAITING
                        : j->state == NQ_HELD ? SCHED_RESERVED
                                              : SCHED_RUNNING));
        const char *text;
        if (j->state == NQ_OPEN)
            continue;
        CHECK(j->preempting || sched_start_time(run.sched, handle_of(i)) == j->at);
        CHECK(sched_resources(run.sched, handle_of(i), &text) == 0 &&
              nq_nodes_of(text) == j->nodes);
    }
}

/* It stops at once, or takes a while; perhaps it ends well before. */
static void stop(int job, bool requeue)
{
    int64_t end = run.now + draw(0, 3);
    run.requeue[job] = requeue && draw(0, 4) && run.naive.job[job].most == 0;
    run.end[job] = end < run.end[job] ? end : run.end[job];
    preempted++;
}

/* Whether a job is of a node, of those below it; the names of divisions, queues, accounts and users
 * end with their numbers. */
static bool is_of(const struct nq_job *job, const struct sched_share_node *nodes, size_t i)
{
    const struct sched_share_node *node = &nodes[i], *above = &nodes[node->above];
    int number = node->kind == SCHED_SHARE_OF_MACHINE ? 0 : node->name[1] - '0';
    int account = job->account;
    switch (node->kind) {
    case SCHED_SHARE_OF_USER:
        return job->user == number && is_of(job, nodes, node->above) &&
               (above->kind != SCHED_SHARE_OF_ACCOUNT || account == above->name[1] - '0');
    case SCHED_SHARE_OF_ACCOUNT:
        while (account >= 0 && account != number)
            account = run.naive.account[account].parent;
        return account == number && is_of(job, nodes, node->above);
    case SCHED_SHARE_OF_DIVISION:
        return run.naive.lane[job->lane].division == number ||
               (number == 0 && run.naive.nested && run.naive.lane[job->lane].division == 1);
    case SCHED_SHARE_OF_MACHINE:
        return true;
    case SCHED_SHARE_OF_CLASS:
        return is_of(job, nodes, node->above) &&
               run.naive.lane[job->lane].class_of[job->user] == node->name[0] - 'a';
    default:
        return job->lane == number;
    }
}

/* The tree of shares tells of all jobs; and asking for it decides nothing, as what follows shows. */
static void ask_shares(void)
{
    struct sched_share_report report;
    CHECK(sched_shares_now(run.sched, run.now, &report) == 0);
    CHECK((report.n_nodes > 0) == run.shares);
    for (size_t i = 0; i < report.n_nodes; i++) {
        const struct sched_share_node *node = &report.nodes[i], *above = &report.nodes[node->above];
        CHECK(i == 0 ? node->depth == 0 : node->above < i && node->depth == above->depth + 1);
        uint64_t running = 0, promised = 0;
        for (int k = 0; k < run.naive.jobs; k++) {
            const struct nq_job *job = &run.naive.job[k];
            bool is = is_of(job, report.nodes, i);
            running += is && job->state == NQ_RUNNING;
            promised += is && job->state == NQ_HELD;
        }
        CHECK(node->n_running == running && node->n_promised == promised);
    }
}

/* Tell the model what nodes have used by now. */
static void tell_usage(void)
{
    struct nq_usage *u = run.naive.usage;
    struct sched_share_report report;
    CHECK(sched_shares_now(run.sched, run.now, &report) == 0 && report.n_nodes <= NQ_SHARES);
    for (size_t i = 0; i < report.n_nodes; i++) {
        const struct sched_share_node *node = &report.nodes[i];
        int number = i == 0 ? -1 : node->name[1] - '0';
        u[i] = u[node->above];
        u[i].amount = (wide)node->usage << 32 | node->usage_part;
        if (node->kind == SCHED_SHARE_OF_MACHINE || node->kind == SCHED_SHARE_OF_DIVISION)
            u[i] = (struct nq_usage){number, -1, -1, -1, -1, u[i].amount};
        else if (node->kind == SCHED_SHARE_OF_QUEUE)
            u[i] = (struct nq_usage){-1, number, -1, -1, -1, u[i].amount};
        else if (node->kind == SCHED_SHARE_OF_CLASS)
            u[i].class = node->name[0] - 'a';
        else
            *(node->kind == SCHED_SHARE_OF_ACCOUNT ? &u[i].account : &u[i].user) = number;
    }
    run.naive.usages = (int)report.n_nodes;
}

/* Of open jobs before which nobody goes there is one in each level: it has the turn that the model says. */
static void ask_turns(void)
{
    static const bool looked[NQ_JOBS];
    int next = ns_next(&run.naive, looked), firsts = 0;
    for (int i = 0; i < run.naive.jobs && next >= 0; i++) {
        const struct nq_job *job = &run.naive.job[i];
        const struct nq_lane *lane = &run.naive.lane[job->lane];
        struct sched_share_turns turns;
        if (job->state != NQ_OPEN || lane->queue_depth < INT64_MAX || run.classes ||
            nq_level(&run.naive, i) != nq_level(&run.naive, next))
            continue;
        CHECK(sched_share_turns(run.sched, handle_of(i), &turns) == 0);
        CHECK(turns.report.n_nodes > 0 && sched_check(run.sched));
        CHECK(i != next || (turns.n_turns == 0 && turns.n_own == 0));
        firsts += turns.n_turns == 0 && turns.n_own == 0;
    }
    CHECK(firsts <= 1);
}

/* How long a job lasts that starts. */
static int64_t lasts(const struct nq_job *job)
{
    if (job->duration >= NQ_ENDLESS)
        return draw(1, 40);
    return draw(0, 2) ? job->duration : draw(1, job->duration);
}

/* Decisions are those of the model from the k-th on. Returns the next. */
static int compare_decisions(const struct sched_decision *d, size_t n, int k)
{
    static const enum sched_decision_kind kinds[] = {
        [NQ_START] = SCHED_START, [NQ_PROMISE] = SCHED_RESERVE, [NQ_PREEMPT] = SCHED_PREEMPT};
    for (size_t i = 0; i < n; i++) {
        if (d[i].kind == SCHED_WAIT)
            continue;
        const struct nq_decision *e = &run.naive.decision[k];
        int job = (int)d[i].tag + (int)d[i].member;
        bool same = d[i].kind == SCHED_RESERVE && run.promised[job] == d[i].at;
        if (same && (k == run.naive.decisions || e->kind != NQ_PROMISE || e->job != job))
            continue; /* of other resources at the same time the model tells nothing */
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld core: kind %d job %d at %ld | naive: kind %d job %d at %ld\n",
                    (long)run.now, d[i].kind, job, (long)d[i].at, (int)e->kind, e->job,
                    (long)e->at);
        CHECK(k++ < run.naive.decisions);
        run.promised[job] = d[i].kind == SCHED_RESERVE ? d[i].at : -1;
        CHECK(d[i].kind == kinds[e->kind]);
        CHECK(job == e->job);
        CHECK(d[i].at == (e->kind == NQ_PREEMPT ? run.now : e->at));
        if (e->kind == NQ_PREEMPT) {
            CHECK(d[i].other == handle_of(e->other));
            stop(e->job, d[i].requeue);
        }
        if (e->kind == NQ_START)
            run.end[e->job] = run.now + lasts(&run.naive.job[e->job]);
        decisions++;
    }
    return k;
}

/* Who goes before a job that waits may be asked while a pass is at work, and decides nothing either: now of
 * one, now of another.
 */
static void ask_meanwhile(void)
{
    int i = (int)(asked_meanwhile++ % (uint64_t)run.naive.jobs);
    struct sched_share_turns turns;
    sched_job_t job = run.naive.job[i].state == NQ_GONE ? -1 : handle_of(i);
    for (int k = i; job < 0 || sched_state(run.sched, job) != SCHED_WAITING; k++) {
        if (k - i == run.naive.jobs)
            return;
        int next = k % run.naive.jobs;
        job = run.naive.job[next].state == NQ_GONE ? -1 : handle_of(next);
    }
    CHECK(sched_share_turns(run.sched, job, &turns) == 0);
}

/* Where there are shares, every other scene has its passes in pieces. */
static void pass(void)
{
    const struct sched_decision *d;
    size_t n;
    int k = 0, rc = 1;
    if (run.usage)
        tell_usage();
    nq_pass(&run.naive, run.now);
    if (!run.shares || run.seed % 2 == 0) {
        CHECK(sched_pass(run.sched, run.now, false, &d, &n) == 0);
        k = compare_decisions(d, n, k);
        rc = 0;
    }
    while (rc > 0) {
        rc = sched_pass_some(run.sched, run.now, 1, &d, &n);
        CHECK(rc >= 0);
        k = compare_decisions(d, n, k);
        if (rc > 0 && run.naive.jobs > 0)
            ask_meanwhile();
    }
    for (int i = k; i < run.naive.decisions && getenv("SCENE_TRACE"); i++)
        fprintf(stderr, "t%ld naive alone: kind %d job %d at %ld\n", (long)run.now,
                (int)run.naive.decision[i].kind, run.naive.decision[i].job,
                (long)run.naive.decision[i].at);
    CHECK(k == run.naive.decisions && sched_check(run.sched));
    check_jobs();
}

static void end_due(void)
{
    for (int i = 0; i < run.naive.jobs; i++)
        if (run.naive.job[i].state == NQ_RUNNING && run.end[i] <= run.now) {
            if (run.naive.job[i].stopping && run.requeue[i]) {
                CHECK(sched_requeue(run.sched, run.now, handle_of(i)) == 0);
                nq_requeue(&run.naive, i);
                run.promised[i] = -1;
                continue;
            }
            CHECK(sched_finish(run.sched, run.now, handle_of(i), true) == 0);
            nq_end(&run.naive, i);
        }
}

/* `is_wide`: with shares, and perhaps with classes, usage and a division within the other. */
static void play(uint64_t seed, bool shares, bool is_wide)
{
    memset(&run, 0, sizeof(run));
    run.naive.next_order = 1; /* as the core counts */
    run.seed = run.random.state = seed;
    run.naive.swept = true;
    /* One of them at a time: limits, levels, arrays. */
    run.limits = draw(0, 1);
    run.levels = !run.limits && draw(0, 1);
    run.shares = run.naive.shares = draw(0, 2) == 0 || shares || is_wide;
    run.is_wide = is_wide;
    run.usage = is_wide && seed % 2 > 0;
    run.accounts = run.shares && run.seed % 2 == 0;
    run.has_more_limits = run.limits && (seed % 7 == 0 || seed % 7 == 2 || seed % 7 == 3);
    run.deadlines = seed % 8 == 5 || seed % 16 == 4;
    deadline_random.state = ~seed * 3;
    run.naive.deadlines_first = run.deadlines && random_between(&deadline_random, 0, 1);
    run.classes = is_wide && seed % 4 < 3 && !run.deadlines;
    run.unknowns = !run.limits && !run.shares && run.seed % 3 == 0;
    make_machine();
    make_queues();
    for (int l = 0; l < run.naive.lanes && getenv("SCENE_TRACE"); l++) {
        struct nq_lane *x = &run.naive.lane[l];
        fprintf(stderr,
                "lane %d part %x level %ld virtual %d %ld depth %ld qd %ld preemptible %d user "
                "%ld,%ld queue "
                "%ld,%ld by_user %d acc %d bypri %d bydl %d div %d by %d %d %d %d wait %ld\n",
                l, x->part, (long)x->priority, x->has_virtual, (long)x->virtual_priority,
                (long)x->depth, (long)x->queue_depth, x->preemptible, (long)x->user_most[0],
                (long)x->user_most[1], (long)x->queue_most[0], (long)x->queue_most[1], x->by_user,
                x->by_account, x->by_priority, x->by_deadline, x->division, x->by[0], x->by[1],
                x->by[2], x->by[3], (long)x->wait);
    }
    for (int step = 0; step < STEPS; step++) {
        end_due();
        for (int64_t k = draw(0, 4); k > 0; k--)
            event();
        pass();
        if (step % 3 == 0)
            ask_shares();
        if (step % 5 == 0 && run.shares)
            ask_turns();
        CHECK(sched_next_time(run.sched) == nq_next_time(&run.naive));
        int64_t next = run.now + draw(1, 6);
        for (int i = 0; i < run.naive.jobs; i++)
            if (run.naive.job[i].state == NQ_RUNNING && run.end[i] < next)
                next = run.end[i];
        run.now = nq_next_time(&run.naive) < next ? nq_next_time(&run.naive) : next;
    }
    sched_destroy(run.sched);
    match_destroy(run.match);
}

static void test_naive(void **state)
{
    const char *from = getenv("SCENE_SEED"), *n = getenv("SCENES");
    uint64_t seed = from ? (uint64_t)strtoull(from, NULL, 10) : 1u;
    int runs = n ? atoi(n) : RANDOM_ROUNDS(RUNS);
    (void)state;
    for (int i = 0; i < runs; i++)
        play(seed + (uint64_t)i, getenv("SCENE_SHARES") != NULL, false);
    for (int i = 0; i < runs / 2; i++)
        play(seed + (uint64_t)i, true, true);
    play(200341, false, false); /* a member preempts, with which its array is full */
    /* With shares, a displaced job has its turn before it is the first of its queue, and those that limits keep have
     * theirs behind it.
     */
    play(106679, false, false);
    play(201402, false, false);
    /* The first of a queue has found no time, and another holder is passed on the way. */
    play(901934, false, false);
    play(804773, true, false); /* what was placed before in a replan is given back */
    print_message("%" PRIu64 " decisions, %" PRIu64 " preempted, %" PRIu64
                  " times as many of an array as may, %" PRIu64 " turns asked for in passes\n",
                  decisions, preempted, full, asked_meanwhile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
