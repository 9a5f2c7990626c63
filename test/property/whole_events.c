/* The machine and the queues of a scene of prop_gangs, and what happens in it. */
#include <stdio.h>
#include <string.h>

#include "fixture/machine.h"
#include "whole_scene.h"

sched_job_t whole_handle(sched_t *s, int job, int member)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    return sched_find(s, id, (uint32_t)member);
}

int whole_count_of(const struct job *j, const struct role *role, enum state state)
{
    int n = 0;
    for (int i = role->first; i < role->first + role->members; i++)
        n += j->state[i] == state;
    return n;
}

int whole_count(const struct job *j, enum state state)
{
    struct role all = {0, j->members, 0};
    return whole_count_of(j, &all, state);
}

/* ---- The machine ---- */

match_t *whole_machine(void)
{
    char recipe[32];
    snprintf(recipe, sizeof(recipe), "%d node(2 core)", scene.nodes);
    return machine_of(recipe, &(match_options_t){.policy = "low"});
}

static void make_queues(void)
{
    static const char *const names[] = {"q0", "q1", "q2"};
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};
    bool shares = draw(0, 2) == 0;
    scene.queues = (int)draw(1, QUEUES);
    for (int i = 0; i < scene.queues; i++) {
        int policy = (int)draw(0, 3);
        scene.limit[i] = draw(0, 1) ? (struct sched_limit){"running", draw(3, 8)}
                                    : (struct sched_limit){"node", draw(3, scene.nodes)};
        struct sched_queue_config *queue = &scene.queue[i];
        *queue = (struct sched_queue_config){
            .name = names[i], .policy = policies[policy], .reservation_depth = policy == 2 ? 2 : 0};
        queue->preemptible = draw(0, 2) ? SCHED_NOT_PREEMPTIBLE : SCHED_PREEMPT_REQUEUE;
        queue->preempts = draw(0, 2) ? 0 : (unsigned)draw(1, 3);
        queue->keeps_gangs = draw(0, 1);
        queue->starvation_threshold = draw(0, 1) ? SCHED_UNLIMITED : draw(1, 20);
        queue->claims = draw(1, 2);
        if (shares)
            queue->share.weight = draw(1, 3);
        queue->limits.user = &scene.limit[i];
        queue->limits.n_user = draw(0, 2) == 0;
    }
    scene.config =
        (struct sched_config){.second = 1, .queues = scene.queue, .n_queues = (size_t)scene.queues};
}

/* In half of the scenes all actions, each for all jobs before the next one. */
static void order_actions(void)
{
    struct random random = {.state = ~scene.seed};
    for (int i = 0; i < SCHED_ACTIONS; i++) {
        int at = (int)random_between(&random, 0, i);
        scene.config.actions[i] = scene.config.actions[at];
        scene.config.actions[at] = (enum sched_action)i;
    }
    scene.config.n_actions = random_between(&random, 0, 1) ? SCHED_ACTIONS : 0;
}

/* In half of the scenes queues go by gangs, most of them, and in some users take turns. */
static void order_by_gangs(void)
{
    static const struct sched_share_order orders[] = {
        {{SCHED_BY_PRIORITY, SCHED_BY_GANG}, 2},
        {{SCHED_BY_GANG, SCHED_BY_PRIORITY}, 2},
        {{SCHED_BY_GANG}, 1},
        {{SCHED_BY_DEADLINE, SCHED_BY_GANG}, 2},
        {{SCHED_BY_PRIORITY, SCHED_BY_DEADLINE, SCHED_BY_GANG}, 3},
        {{SCHED_BY_PRIORITY, SCHED_BY_GANG, SCHED_BY_SUBMIT}, 3},
    };
    struct random random = {.state = scene.seed + (1u << 30)};
    if (random_between(&random, 0, 1))
        return;
    scene.has_turns = random_between(&random, 0, 2) == 0;
    for (int i = 0; i < scene.queues; i++) {
        int64_t which = random_between(&random, 0, 6);
        if (which < 6)
            scene.queue[i].order = orders[which];
        if (!scene.has_turns || random_between(&random, 0, 1))
            continue;
        struct sched_share_order *order = &scene.queue[i].order;
        scene.queue[i].by = SCHED_SHARE_USER;
        if (order->n > 0 && order->by[order->n - 1] != SCHED_BY_SUBMIT)
            order->by[order->n++] = SCHED_BY_SUBMIT; /* else equal users go as they have come */
    }
    if (scene.has_turns && random_between(&random, 0, 1))
        scene.config.shares.order =
            (struct sched_share_order){{SCHED_BY_GANG, SCHED_BY_SHARE, SCHED_BY_SUBMIT}, 3};
}

void whole_queues(void)
{
    make_queues();
    order_actions();
    order_by_gangs();
}

/* ---- Events ---- */

/* One core or two, or one node or two. */
static void draw_text(char text[300])
{
    bool whole = draw(0, 1);
    snprintf(text, 300,
             "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: %s, "
             "count: 1}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             (int)draw(1, 2), whole ? "node" : "core");
}

/* Now and then a gang has several roles. Returns how many; 0: none are named. */
static size_t draw_roles(struct job *j, struct sched_role *role, char text[ROLES][300])
{
    static const char *const names[ROLES] = {"server", "worker", "extra"};
    j->roles = 1;
    j->role[0] = (struct role){0, j->members, j->min};
    if (j->min == 0 || j->members < ROLES || draw(0, 2) > 0)
        return 0;
    j->roles = (int)draw(1, ROLES);
    j->min = 0;
    for (int i = 0, first = 0; i < j->roles; i++) {
        int left = j->members - first, others = j->roles - 1 - i;
        int members = others > 0 ? (int)draw(1, left - others) : left;
        int min = (int)draw(i == 0 && others == 0 ? 1 : 0, members);
        if (others == 0 && j->min == 0 && min == 0)
            min = 1;
        j->role[i] = (struct role){first, members, min};
        draw_text(text[i]);
        role[i] = (struct sched_role){names[i], text[i], strlen(text[i]), (uint32_t)members,
                                      (uint32_t)min};
        first += members;
        j->min += min;
    }
    return (size_t)j->roles;
}

static void submit(void)
{
    static const char *const names[] = {"q0", "q1", "q2"}, *const arrays[] = {"a", "b"};
    int job = scene.jobs++;
    struct job *j = &scene.job[job];
    struct sched_role role[ROLES];
    char text[300], texts[ROLES][300];
    *j = (struct job){.members = (int)draw(1, MEMBERS), .submitted = scene.now};
    j->queue = (int)draw(0, scene.queues - 1);
    j->duration = draw(1, 12);
    j->failure = (enum sched_gang_failure)draw(0, 2);
    j->min = j->members > 1 && draw(0, 3) ? (int)draw(1, j->members) : 0;
    draw_text(text);
    size_t roles = draw_roles(j, role, texts);
    bool is_of_array = j->min > 0 && scene.at_once[0] > 0;
    j->array = is_of_array ? (int)random_between(&scene.arrays, -1, ARRAYS - 1) : -1;
    int64_t limit = scene.has_unknown && draw(0, 1) ? SCHED_UNLIMITED : j->duration;
    struct sched_request request = {.duration = limit,
                                    .estimate = limit,
                                    .priority = draw(0, 3) ? 0 : draw(-1, 1),
                                    .tag = (uint64_t)job,
                                    .jobspec = text,
                                    .jobspec_length = strlen(text),
                                    .queue = names[j->queue],
                                    .user = scene.has_turns && job % 2 ? "v" : "u",
                                    .members = (uint32_t)j->members,
                                    .min = (uint32_t)j->min,
                                    .roles = role,
                                    .n_roles = roles,
                                    .failure = j->failure};
    if (j->array >= 0) {
        request.gangs = arrays[j->array];
        request.gangs_at_once = (uint32_t)scene.at_once[j->array];
    }
    CHECK(sched_submit(scene.sched, scene.now, &request) >= 0);
}

/* A member ran, and the others may have to go. */
static void lose(struct job *j, int member, enum state state)
{
    j->state[member] = state;
    j->stops[member] = false;
}

static void requeue(int job, int member)
{
    struct job *j = &scene.job[job];
    CHECK(sched_requeue(scene.sched, scene.now, whole_handle(scene.sched, job, member)) == 0);
    lose(j, member, WAITS);
}

static void finish(int job, int member, bool ok)
{
    struct job *j = &scene.job[job];
    if (!ok && sched_replaces(scene.sched, whole_handle(scene.sched, job, member))) {
        CHECK(j->min > 0 && j->failure == SCHED_FAIL_REPLACE);
        counted.replaced++;
        requeue(job, member);
        return;
    }
    CHECK(sched_finish(scene.sched, scene.now, whole_handle(scene.sched, job, member), ok) == 0);
    lose(j, member, ok ? DONE : FAILED);
}

void whole_end_due(void)
{
    for (int i = 0; i < scene.jobs; i++)
        for (int m = 0; m < scene.job[i].members; m++)
            if (scene.job[i].state[m] == RUNS && scene.job[i].end[m] <= scene.now)
                finish(i, m, scene.job[i].stops[m] ? false : draw(0, 7) > 0);
}

static void event_of_member(void)
{
    int job = (int)draw(0, scene.jobs - 1), member = (int)draw(0, scene.job[job].members - 1);
    struct job *j = &scene.job[job];
    int64_t what = draw(0, 5);
    sched_job_t handle = whole_handle(scene.sched, job, member);
    if (handle < 0 || sched_state(scene.sched, handle) == SCHED_REJECTED)
        return;
    if (j->state[member] == RUNS) {
        if (what == 0)
            requeue(job, member);
        else if (what < 3)
            finish(job, member, false);
        return;
    }
    if (what > 2)
        return;
    CHECK(sched_split(scene.sched, scene.now, whole_handle(scene.sched, job, member),
                      (uint32_t)member) >= 0);
    if (what == 0) {
        CHECK(sched_cancel(scene.sched, scene.now, whole_handle(scene.sched, job, member)) == 0);
        j->state[member] = FAILED;
    } else if (what == 1 && !j->held[member]) {
        CHECK(sched_hold(scene.sched, scene.now, whole_handle(scene.sched, job, member)) == 0);
        j->held[member] = true;
    } else {
        CHECK(sched_release(scene.sched, scene.now, whole_handle(scene.sched, job, member)) == 0);
        j->held[member] = false;
    }
}

void whole_node(int node, bool down)
{
    char name[16];
    snprintf(name, sizeof(name), "node%d", node);
    CHECK(sched_set_status(scene.sched, scene.now, name, down ? RESOURCE_DOWN : RESOURCE_UP,
                           NULL) == 0);
    scene.down[node] = down;
}

/* A job of which nobody runs has another priority, with all members that are left. */
static void prioritize(void)
{
    int job = (int)random_between(&scene.arrays, 0, scene.jobs - 1);
    int64_t priority = random_between(&scene.arrays, -1, 1);
    bool may = whole_moves_running || whole_count(&scene.job[job], RUNS) == 0;
    for (int i = 0; i < scene.job[job].members && may; i++) {
        sched_job_t handle = whole_handle(scene.sched, job, i);
        if (handle >= 0 && sched_state(scene.sched, handle) != SCHED_REJECTED)
            CHECK(sched_prioritize(scene.sched, scene.now, handle, priority) == 0);
    }
}

void whole_event(void)
{
    if (scene.at_once[0] > 0 && scene.jobs > 0 && random_between(&scene.arrays, 0, 9) == 0)
        prioritize();
    int64_t what = draw(0, 9);
    if ((what < 4 || scene.jobs == 0) && scene.jobs < JOBS)
        submit();
    else if (what < 9)
        event_of_member();
    else {
        int node = (int)draw(0, scene.nodes - 1);
        whole_node(node, draw(0, 1));
    }
}
