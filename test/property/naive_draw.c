/* The machine of a scene, and its queues. */
#include "naive_play.h"

#include <stdio.h>
#include <string.h>

#include "fixture/machine.h"
#include "naive_scene.h"

const char *const naive_queue_names[] = {"q0", "q1", "q2", "q3"};
const char *const naive_virtual_names[] = {"v0", "v1", "v2", "v3"};

void draw_machine(void)
{
    char recipe[32];
    run.naive.nodes = (int)draw(run.classes ? NQ_NODES / 2 : 1, NQ_NODES);
    run.naive.cores = 1;
    if (run.cores) { /* no more cores than nodes else: so that few sets of jobs may be victims */
        run.naive.cores = run.naive.nodes % 2 ? 2 : 4;
        run.naive.nodes = run.naive.cores == 2 ? 1 + run.naive.nodes % 4 : 2;
    }
    snprintf(recipe, sizeof(recipe), "%d node(%d core)", run.naive.nodes, run.naive.cores);
    run.match = machine_of(recipe, &(match_options_t){.policy = "low"});
}

/* Some scenes have them. */
static size_t draw_limits(struct sched_limit *limit, int64_t most[NQ_WHATS], int64_t high)
{
    if (run.limits)
        return nq_draw_limits(&run.random, run.cores ? "core" : "node", limit, most, high);
    most[0] = most[1] = INT64_MAX;
    return 0;
}

size_t draw_more_limits(uint64_t number, struct sched_limit *limit, int64_t most[NQ_WHATS],
                        int64_t high)
{
    struct random r = {.state = run.seed * 64 + number + (3u << 30)};
    if (run.has_more_limits)
        return nq_draw_limits(&r, run.cores ? "core" : "node", limit, most, high);
    most[0] = most[1] = INT64_MAX;
    return 0;
}

bool draw_deadline_of(int64_t low, int64_t high, int64_t *ret)
{
    *ret = run.deadlines ? random_between(&run.deadline_random, low, high) : 0;
    return run.deadlines;
}

static int64_t draw_tail(int64_t low, int64_t high)
{
    return random_between(&run.tail_random, low, high);
}

void draw_times(struct nq_job *job, struct sched_request *request)
{
    const struct nq_lane *lane = &run.naive.lane[job->lane];
    bool unknown = job->estimate >= NQ_ENDLESS;
    job->limit = request->duration = unknown ? SCHED_UNLIMITED : job->estimate;
    request->estimate = unknown ? SCHED_UNLIMITED : 0;
    int64_t kind = run.tails && !unknown ? draw_tail(0, 7) : 0;
    if (kind == 1) { /* with a limit, that is what planning goes by */
        request->estimate = SCHED_UNLIMITED;
    } else if (kind == 2) {
        job->limit = job->duration = job->estimate = lane->default_limit;
        request->duration = 0;
    } else if (kind == 3) {
        job->duration = job->estimate = lane->default_duration;
        job->limit = request->duration = SCHED_UNLIMITED;
    } else if (kind >= 4) {
        job->limit = kind == 4 ? SCHED_UNLIMITED : job->estimate + draw_tail(1, 30);
        request->duration = job->limit;
        request->estimate = job->estimate;
    }
}

void draw_defaults(struct nq_lane *lane, struct sched_queue_config *queue)
{
    queue->default_duration = SCHED_UNLIMITED;
    if (!run.tails)
        return;
    queue->default_duration = lane->default_duration = draw_tail(1, 20);
    queue->default_limit = lane->default_limit = draw_tail(1, 30);
}

/* How long a job lasts that ends by its limit. */
static int64_t draw_in_time(const struct nq_job *job)
{
    if (job->estimate >= NQ_ENDLESS)
        return draw(1, 40);
    int64_t lasts = draw(0, 2) ? job->estimate : draw(1, job->estimate);
    if (job->limit == job->estimate || draw_tail(0, 2) == 0)
        return lasts;
    bool any = job->limit == SCHED_UNLIMITED;
    return job->estimate + draw_tail(1, any ? 40 : job->limit - job->estimate);
}

int64_t draw_lasts(const struct nq_job *job)
{
    int64_t lasts = draw_in_time(job);
    bool may_be_late = run.rules & WITH_LATE && job->limit < INT64_MAX;
    return may_be_late && random_between(&run.late_random, 0, 1)
               ? job->limit + random_between(&run.late_random, 1, 8)
               : lasts;
}

void draw_order_of_jobs(struct nq_lane *lane, struct sched_queue_config *queue)
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

/* Some queues have a virtual one, with another priority if levels have. This is drawn beside the rest, too. */
static void draw_virtual(struct nq_lane *lane, int i, struct sched_queue_config *queue)
{
    struct random r = {.state = run.seed * NQ_LANES + (uint64_t)i + (1u << 29)};
    lane->has_virtual = !run.shares && !run.deadlines && random_between(&r, 0, 2) == 0;
    lane->virtual_priority = lane->priority;
    for (int what = 0; what < NQ_WHATS; what++)
        lane->virtual_user_most[what] = lane->virtual_queue_most[what] = INT64_MAX;
    if (!lane->has_virtual)
        return;
    if (run.levels)
        lane->virtual_priority = random_between(&r, -1, 2);
    *queue = (struct sched_queue_config){.name = naive_virtual_names[i],
                                         .parent = naive_queue_names[i],
                                         .priority = lane->virtual_priority};
    queue->default_duration = run.tails ? lane->default_duration : SCHED_UNLIMITED;
    queue->default_limit = lane->default_limit;
    static struct sched_limit limit[NQ_LANES][2][NQ_WHATS];
    uint64_t number = 8 + 2 * (uint64_t)i;
    queue->limits.user = limit[i][0];
    queue->limits.queue = limit[i][1];
    queue->limits.n_user = draw_more_limits(number, limit[i][0], lane->virtual_user_most, 3);
    queue->limits.n_queue = draw_more_limits(number + 1, limit[i][1], lane->virtual_queue_most, 5);
}

/* A part of the machine, as a range of nodes. */
static void draw_part(struct nq_lane *lane, char *requires, size_t size)
{
    int64_t low = draw(0, run.naive.nodes - 1), high = draw(low, run.naive.nodes - 1);
    if (run.classes && run.seed % 3 > 0) { /* all queues share the machine */
        low = 0;
        high = run.naive.nodes - 1;
    }
    lane->part = nq_cores_of(&run.naive, (int)low, (int)high);
    snprintf(requires, size, "{\"hostlist\": [\"node[%d-%d]\"]}", (int)low, (int)high);
}

void draw_rules(struct nq_lane *lane, int i, struct sched_queue_config *queue)
{
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};
    static char requires[NQ_LANES][64];
    static struct sched_limit limit[NQ_LANES][2][NQ_WHATS];
    struct sched_limits limits = {.user = limit[i][0], .queue = limit[i][1]};
    limits.n_user = draw_limits(limit[i][0], lane->user_most, 3);
    limits.n_queue = draw_limits(limit[i][1], lane->queue_most, 5);
    int policy = (int)draw(0, 3);
    draw_part(lane, requires[i], sizeof(requires[i]));
    lane->priority = run.levels ? draw(0, 1) : 0;
    lane->queue_depth = draw(0, 3) ? INT64_MAX : draw(1, 5);
    lane->depth = policy == 0 ? 0 : policy == 1 ? 1 : policy == 2 ? draw(1, 4) : INT64_MAX;
    enum sched_preemptible how =
        draw(0, 2) ? SCHED_NOT_PREEMPTIBLE : (enum sched_preemptible)draw(1, 2);
    lane->preemptible = how != SCHED_NOT_PREEMPTIBLE;
    queue->policy = policies[policy];
    queue->reservation_depth = policy == 2 ? lane->depth : 0;
    queue->queue_depth = lane->queue_depth == INT64_MAX ? 0 : lane->queue_depth;
    queue->requires = requires[i];
    queue->preemptible = how;
    queue->limits = limits;
    queue->priority = lane->priority;
}

static void draw_queue(struct nq_lane *lane, int i, struct sched_queue_config *queue)
{
    *queue = (struct sched_queue_config){.name = naive_queue_names[i]};
    draw_rules(lane, i, queue);
    draw_defaults(lane, queue);
}

void draw_queues(void)
{
    struct sched_queue_config *queue = run.queue;
    struct sched_config config = {.second = 1, .queues = queue};
    static struct sched_division division[NQ_DIVISIONS];
    static struct sched_account account[NQ_ACCOUNTS];
    static struct sched_weight weights[NQ_LANES][NQ_USERS], of_account[NQ_ACCOUNTS][NQ_USERS];
    static struct sched_limit capability;
    run.naive.lanes = (int)draw(1, NQ_LANES);
    config.n_queues = (size_t)run.naive.lanes;
    bool by_priority = run.shares && draw(0, 1) && !run.naive.deadlines_first;
    if (run.shares)
        draw_order(run.naive.by, &config.shares.order, by_priority);
    memset(division, 0, sizeof(division));
    if (run.shares)
        draw_divisions(division);
    config.shares.divisions = division;
    config.shares.half_life = 1 + (int64_t)(run.seed % 50);
    config.shares.n_divisions = (size_t)run.naive.divisions;
    if (run.accounts) {
        draw_accounts(account, of_account);
        config.accounts = account;
        config.n_accounts = NQ_ACCOUNTS;
    }
    for (int i = 0; i < run.naive.lanes; i++) {
        struct nq_lane *lane = &run.naive.lane[i];
        draw_queue(lane, i, &queue[i]);
        if (run.shares)
            draw_shares(lane, &queue[i], weights[i], by_priority);
        else
            draw_order_of_jobs(lane, &queue[i]);
        draw_classes(lane, &queue[i]);
        note_deadlines(lane, &queue[i]);
        draw_virtual(lane, i, &queue[config.n_queues]);
        config.n_queues += lane->has_virtual;
    }
    draw_capability(&division[0], &capability);
    run.config = config;
    berth_error_t err = {""};
    run.sched = sched_create(run.match, &config, &err);
    if (!run.sched)
        fail_msg("%s", err.text);
}
