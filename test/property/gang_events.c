/* What happens in scenes of gangs (gang_scene.h). */
#include "gang_scene.h"

#include <stdio.h>
#include <string.h>

sched_job_t gang_scene_handle(int job, int member)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    return sched_find(scene.sched, id, (uint32_t)member);
}

/* Cores of one node, or where there are several wherever they are; or nodes, of one core each. */
static void text_of(int cores, char text[300])
{
    bool one = scene.of_node == scene.naive.cores, nodes = scene.of_node == 1 && !scene.has_blocks;
    snprintf(text, 300,
             "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: %s, "
             "count: %d}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             one ? 1 : cores, nodes ? "node" : "core", one ? cores : 1);
}

/* Members of a role; what its min asks for fits the machine and the limit beside those of the roles before it. */
static void draw_role(struct naive_role *r, int first, int members, int left, int runs)
{
    *r = (struct naive_role){.first = first, .members = members, .cores = gang_scene_draw(1, 3)};
    r->min = gang_scene_draw(0, members);
    while (r->min * r->cores > left || r->min > runs)
        r->min--;
}

/* Of a number and a limit; 0: it is none. */
static int least(int number, int limit)
{
    return limit > 0 && limit < number ? limit : number;
}

/* Of some it is known how long they take, where there are blocks; of those some have a limit, too. */
static void draw_times(struct naive_job *j)
{
    j->estimate = j->limit = SCHED_UNLIMITED;
    if (!scene.has_blocks || random_between(&scene.blocks, 0, 4) == 0)
        return;
    j->estimate = random_between(&scene.blocks, 1, 6);
    if (random_between(&scene.blocks, 0, 3) == 0)
        j->limit = j->estimate + random_between(&scene.blocks, 0, 4);
}

static void draw_job(struct naive_job *j)
{
    const struct naive_most *user = &scene.naive.user_most, *queue = &scene.naive.queue_most;
    int first = 0, mins = 0, left = scene.naive.cores, runs = scene.naive.cores;
    left = least(least(left, user->cores), queue->cores);
    runs = least(least(runs, user->running), queue->running);
    *j = (struct naive_job){.priority = gang_scene_draw(0, 3) ? 0 : gang_scene_draw(-1, 1),
                            .roles = gang_scene_draw(0, 2) ? 1 : 2};
    j->roles += j->roles > 1 ? gang_scene_draw(0, 1) : 0;
    j->failure = (enum sched_gang_failure)gang_scene_draw(0, 2);
    for (int k = 0; k < j->roles; k++) {
        draw_role(&j->role[k], first, gang_scene_draw(1, j->roles > 1 ? 2 : NAIVE_MEMBERS), left,
                  runs - mins);
        first += j->role[k].members;
        mins += j->role[k].min;
        left -= j->role[k].min * j->role[k].cores;
    }
    j->members = first;
    j->role[0].min += mins == 0 && j->roles > 1;
    j->stays = gang_scene_draw(0, 3) ? gang_scene_draw(0, 6) : SCHED_UNLIMITED;
    j->is_gang = j->members > 1 && (j->role[0].min > 0 || j->roles > 1);
    draw_times(j);
}

static void submit(void)
{
    static const char *const names[] = {"server", "worker", "extra"};
    static const char *const arrays[] = {NULL, "a", "b"};
    static const char *const users[NAIVE_USERS] = {"u", "v"};
    int job = scene.naive.jobs++;
    struct naive_job *j = &scene.naive.job[job];
    char text[NAIVE_ROLES][300];
    struct sched_role role[NAIVE_ROLES];
    draw_job(j);
    j->user = scene.naive.by == NAIVE_BY_GANG ? job : job * 5 / 3 % NAIVE_USERS;
    if (j->is_gang && scene.naive.at_once[1] > 0)
        j->array = (int)random_between(&scene.arrays, 0, NAIVE_ARRAYS);
    uint32_t min = 0;
    for (int k = 0; k < j->roles; k++) {
        const struct naive_role *r = &j->role[k];
        text_of(r->cores, text[k]);
        role[k] = (struct sched_role){names[k], text[k], strlen(text[k]), (uint32_t)r->members,
                                      (uint32_t)r->min};
        min += (uint32_t)r->min;
    }
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    struct sched_request request = {.id = id,
                                    .duration = j->limit,
                                    .estimate = j->estimate,
                                    .priority = j->priority,
                                    .tag = (uint64_t)job,
                                    .jobspec = text[0],
                                    .jobspec_length = strlen(text[0]),
                                    .queue = "q",
                                    .user = scene.naive.by == NAIVE_BY_GANG ? id : users[j->user],
                                    .members = (uint32_t)j->members,
                                    .min = min,
                                    .roles = role,
                                    .n_roles = j->roles > 1 ? (size_t)j->roles : 0,
                                    .failure = j->failure,
                                    .gangs = arrays[j->array],
                                    .gangs_at_once = (uint32_t)scene.naive.at_once[j->array],
                                    .preemptible_after = j->stays};
    TELL("%" PRId64 " submit %d: %s, priority %d, array %d, failure %d, estimate %" PRId64
         ", limit %" PRId64 ", stays %" PRId64 "\n",
         scene.now, job, j->is_gang ? "gang" : "array", j->priority, j->array, (int)j->failure,
         j->estimate, j->limit, j->stays);
    for (int k = 0; k < j->roles; k++)
        TELL("    %d members, min %d, %d cores\n", j->role[k].members, j->role[k].min,
             j->role[k].cores);
    CHECK(sched_submit(scene.sched, scene.now, &request) >= 0);
}

void gang_scene_requeue(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    TELL("%" PRId64 " requeue %d[%d]\n", scene.now, job, member);
    CHECK(sched_requeue(scene.sched, scene.now, gang_scene_handle(job, member)) == 0);
    j->replaced += j->state[member] != NAIVE_LEAVES; /* who is stopped for others has not failed */
    j->state[member] = NAIVE_WAITS;
}

void gang_scene_fail(int job, int member, bool may_replace)
{
    struct naive_job *j = &scene.naive.job[job];
    bool replaces = j->state[member] == NAIVE_RUNS && naive_gangs_replaces(&scene.naive, job);
    bool is_cancelled = j->state[member] == NAIVE_CANCELLED; /* then its shell does not ask */
    CHECK(is_cancelled || sched_replaces(scene.sched, gang_scene_handle(job, member)) == replaces);
    if (replaces && may_replace) {
        gang_scene_requeue(job, member);
        scene.replaced++;
        return;
    }
    bool stops = j->state[member] == NAIVE_STOPS;
    TELL("%" PRId64 " fail %d[%d]\n", scene.now, job, member);
    CHECK(sched_finish(scene.sched, scene.now, gang_scene_handle(job, member), false) == 0);
    if (stops)
        j->state[member] = NAIVE_FAILED;
    else
        naive_gangs_failed(&scene.naive, job, member);
}

static void event_of_waiting(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    int what = gang_scene_draw(0, 5);
    if (what > 2)
        return;
    TELL("%" PRId64 " split %d[%d]\n", scene.now, job, member);
    CHECK(sched_split(scene.sched, scene.now, gang_scene_handle(job, member), (uint32_t)member) >=
          0);
    sched_job_t handle = gang_scene_handle(job, member);
    if (what == 0) {
        TELL("%" PRId64 " cancel %d[%d]\n", scene.now, job, member);
        CHECK(sched_cancel(scene.sched, scene.now, handle) == 0);
        j->state[member] = NAIVE_FAILED;
    } else if (!j->held[member]) {
        TELL("%" PRId64 " hold %d[%d]\n", scene.now, job, member);
        CHECK(sched_hold(scene.sched, scene.now, handle) == 0);
        j->held[member] = true;
    } else {
        TELL("%" PRId64 " release %d[%d]\n", scene.now, job, member);
        CHECK(sched_release(scene.sched, scene.now, handle) == 0);
        j->held[member] = false;
    }
}

/* A job has another priority, with all members that are left. */
static void prioritize(struct random *random)
{
    int job = (int)random_between(random, 0, scene.naive.jobs - 1);
    struct naive_job *j = &scene.naive.job[job];
    j->priority = (int)random_between(random, -1, 1);
    TELL("%" PRId64 " prioritize %d: %d\n", scene.now, job, j->priority);
    for (int i = 0; i < j->members; i++) {
        sched_job_t handle = gang_scene_handle(job, i);
        if (handle >= 0 && sched_state(scene.sched, handle) != SCHED_REJECTED)
            CHECK(sched_prioritize(scene.sched, scene.now, handle, j->priority) == 0);
    }
}

void gang_scene_event(void)
{
    if (scene.naive.at_once[1] > 0 && scene.naive.jobs > 0 &&
        random_between(&scene.arrays, 0, 9) == 0)
        prioritize(&scene.arrays);
    if ((scene.naive.jobs == 0 || gang_scene_draw(0, 4) == 0) && scene.naive.jobs < NAIVE_JOBS) {
        submit();
        return;
    }
    int job = gang_scene_draw(0, scene.naive.jobs - 1),
        member = gang_scene_draw(0, scene.naive.job[job].members - 1);
    struct naive_job *j = &scene.naive.job[job];
    if (j->state[member] == NAIVE_WAITS) {
        sched_job_t handle = gang_scene_handle(job, member);
        if (handle >= 0 && sched_state(scene.sched, handle) != SCHED_REJECTED)
            event_of_waiting(job, member);
    } else if (j->state[member] >= NAIVE_CLEARS && j->state[member] <= NAIVE_STOPS) {
        gang_scene_fail(job, member, true);
    } else if (j->state[member] == NAIVE_RUNS) {
        int what = gang_scene_draw(0, 7);
        if (what == 0) {
            gang_scene_requeue(job, member);
        } else if (what < 3) {
            gang_scene_fail(job, member, true);
        } else {
            TELL("%" PRId64 " finish %d[%d]\n", scene.now, job, member);
            CHECK(sched_finish(scene.sched, scene.now, gang_scene_handle(job, member), true) == 0);
            j->state[member] = NAIVE_DONE;
        }
    }
}

/* A member that waits is to start no earlier than some time. */
static void set_begin(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    sched_job_t handle = gang_scene_handle(job, member);
    if (handle < 0 || sched_state(scene.sched, handle) == SCHED_REJECTED)
        return;
    CHECK(sched_split(scene.sched, scene.now, handle, (uint32_t)member) >= 0);
    j->begin[member] = scene.now + random_between(&scene.others, 0, 8);
    TELL("%" PRId64 " %d[%d] begins at %" PRId64 "\n", scene.now, job, member, j->begin[member]);
    CHECK(sched_set_begin(scene.sched, scene.now, gang_scene_handle(job, member),
                          j->begin[member]) == 0);
}

/* A member that holds cores is cancelled, or waits again or ends well though it is being stopped. */
static void end_otherwise(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    int64_t what = random_between(&scene.others, 0, 2);
    if (what == 0) {
        TELL("%" PRId64 " cancel %d[%d], which runs\n", scene.now, job, member);
        CHECK(sched_cancel(scene.sched, scene.now, gang_scene_handle(job, member)) == 0);
        naive_gangs_failed(&scene.naive, job, member);
    } else if (j->state[member] != NAIVE_RUNS && what == 1) {
        gang_scene_requeue(job, member);
    } else if (j->state[member] != NAIVE_RUNS) {
        TELL("%" PRId64 " finish %d[%d], which is being stopped\n", scene.now, job, member);
        CHECK(sched_finish(scene.sched, scene.now, gang_scene_handle(job, member), true) == 0);
        j->state[member] = NAIVE_DONE;
    }
}

void gang_scene_other_event(void)
{
    if (scene.naive.jobs == 0)
        return;
    int job = (int)random_between(&scene.others, 0, scene.naive.jobs - 1);
    int member = (int)random_between(&scene.others, 0, scene.naive.job[job].members - 1);
    enum naive_state state = scene.naive.job[job].state[member];
    if (random_between(&scene.others, 0, 2) == 0)
        prioritize(&scene.others);
    else if (state == NAIVE_WAITS)
        set_begin(job, member);
    else if (state >= NAIVE_RUNS && state <= NAIVE_STOPS)
        end_otherwise(job, member);
}

void gang_scene_leave(void)
{
    if (scene.naive.jobs == 0)
        return;
    int job = (int)random_between(&scene.leaves, 0, scene.naive.jobs - 1);
    int member = (int)random_between(&scene.leaves, 0, scene.naive.job[job].members - 1);
    struct naive_job *j = &scene.naive.job[job];
    if (j->state[member] != NAIVE_RUNS)
        return;
    TELL("%" PRId64 " %d[%d] leaves\n", scene.now, job, member);
    CHECK(sched_leave(scene.sched, scene.now, gang_scene_handle(job, member)) == 0);
    j->state[member] = NAIVE_CANCELLED;
}

void gang_scene_limits(void)
{
    for (int i = 0; i < scene.naive.jobs; i++) {
        struct naive_job *j = &scene.naive.job[i];
        for (int m = 0; m < j->members; m++)
            if (j->state[m] >= NAIVE_RUNS && j->state[m] <= NAIVE_STOPS &&
                j->limit < SCHED_UNLIMITED && j->start[m] + j->limit <= scene.now)
                gang_scene_fail(i, m, false);
    }
}
