/* Memory runs out while gangs come, start, grow, are stopped for others, fail and end. Each call is made with its first
 * allocation failing, then with its second, and so on until it succeeds. After each failure the core is in order; a pass
 * that fails goes on in the next call; and after each pass that succeeds, no gang runs with fewer than its min.
 */
#include <errno.h>
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
#include "check.h"
#include "fixture/failing_alloc.h"
#include "fixture/machine.h"
#include "random.h"

enum { SCENES = 200, STEPS = 12, JOBS = STEPS, MEMBERS = 5, NODES = 5, TRIES = 4000 };

enum state { WAITS, RUNS, DONE, GONE };

struct job {
    int members, min;
    enum sched_gang_failure failure;
    enum state state[MEMBERS];
    bool stops[MEMBERS];
};

static struct scene {
    uint64_t seed;
    struct random random;
    match_t *match;
    sched_t *sched;
    struct job job[JOBS];
    int jobs;
    int64_t now;
} scene;

static uint64_t failed, preempted, stopped, together;

#define CHECK(condition) CHECK_IN(scene, condition)

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

static sched_job_t handle(int job, int member)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    return sched_find(scene.sched, id, (uint32_t)member);
}

/* ---- Calls, until they succeed ---- */

/* Whether a call that came to this is to be made again, with an allocation more. */
static bool again(bool succeeded, int64_t n)
{
    int error = errno;
    bool any = end_failures();
    CHECK(sched_check(scene.sched));
    if (succeeded)
        return false;
    CHECK(any && error == ENOMEM && n < TRIES);
    failed++;
    return true;
}

static void submit(int job, const struct sched_request *request)
{
    sched_job_t got;
    int64_t n = 0;
    do {
        CHECK(handle(job, 0) < 0);
        fail_allocation(n);
        got = sched_submit(scene.sched, scene.now, request);
    } while (again(got >= 0, n++));
}

static void requeue(sched_job_t job)
{
    int64_t n = 0;
    int rc;
    do {
        fail_allocation(n);
        rc = sched_requeue(scene.sched, scene.now, job);
    } while (again(rc == 0, n++));
}

static void finish(sched_job_t job, bool ok)
{
    fail_allocation(0); /* an end needs no memory */
    CHECK(sched_finish(scene.sched, scene.now, job, ok) == 0);
    end_failures();
    CHECK(sched_check(scene.sched));
}

/* ---- What happens ---- */

static void come(void)
{
    static const char *const queues[] = {"a", "b", "spare"};
    static const char one_core[] =
        "{version: 9999, resources: [{type: slot, count: 1, label: s, with: [{type: core, count: "
        "1}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
        "{duration: 0}}}";
    struct job *j = &scene.job[scene.jobs];
    char text[300];
    *j = (struct job){.members = (int)draw(1, MEMBERS)};
    j->failure = (enum sched_gang_failure)draw(0, 2);
    int count = (int)draw(1, 2);
    j->min = j->members > 1 && draw(0, 3) ? (int)draw(1, j->members) : 0;
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: %s, "
             "count: 1}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             count, draw(0, 1) ? "node" : "core");
    /* Half of the gangs have two roles, the first of one member. */
    struct sched_role role[2] = {{"server", text, strlen(text), 1, 1},
                                 {"worker", one_core, strlen(one_core), 0, 0}};
    role[1].members = (uint32_t)j->members - 1;
    role[1].min = j->min > 1 ? (uint32_t)j->min - 1 : 0;
    bool has_roles = j->min > 0 && draw(0, 1);
    int64_t duration = draw(5, 30), priority = draw(0, 3);
    submit(scene.jobs, &(struct sched_request){.duration = duration,
                                               .roles = role,
                                               .n_roles = has_roles ? 2 : 0,
                                               .priority = priority,
                                               .tag = (uint64_t)scene.jobs,
                                               .jobspec = text,
                                               .jobspec_length = strlen(text),
                                               .queue = queues[draw(0, 2)],
                                               .members = (uint32_t)j->members,
                                               .min = (uint32_t)j->min,
                                               .failure = j->failure});
    scene.jobs++;
}

/* One that was told to stop does, and now and then another one ends. */
static void leave(int job, int member)
{
    struct job *j = &scene.job[job];
    bool ok = !j->stops[member] && draw(0, 3) > 0;
    if (j->state[member] != RUNS || (!j->stops[member] && draw(0, 3) > 0))
        return;
    if (j->stops[member] ? draw(0, 1) == 0
                         : !ok && sched_replaces(scene.sched, handle(job, member))) {
        requeue(handle(job, member));
        j->state[member] = WAITS;
    } else {
        finish(handle(job, member), ok);
        j->state[member] = ok ? DONE : GONE;
    }
    j->stops[member] = false;
}

static void take(const struct sched_decision *d)
{
    struct job *j = &scene.job[d->tag];
    if (d->kind == SCHED_START) {
        CHECK(j->state[d->member] == WAITS);
        j->state[d->member] = RUNS;
    }
    if (d->kind != SCHED_PREEMPT && d->kind != SCHED_STOP)
        return;
    CHECK(j->state[d->member] == RUNS);
    j->stops[d->member] = true;
    preempted += d->kind == SCHED_PREEMPT;
    stopped += d->kind == SCHED_STOP;
}

static void pass(void)
{
    const struct sched_decision *d;
    size_t count;
    int64_t n = 0;
    int rc;
    do {
        fail_allocation(n);
        rc = sched_pass(scene.sched, scene.now, false, &d, &count);
        for (size_t i = 0; i < count; i++)
            take(&d[i]);
    } while (again(rc == 0, n++));
}

static int count_members(const struct job *j, enum state state)
{
    int n = 0;
    for (int m = 0; m < j->members; m++)
        n += j->state[m] == state;
    return n;
}

/* Members of whom nothing is known any more were rejected. */
static void note_gone(void)
{
    for (int i = 0; i < scene.jobs; i++)
        for (int m = 0; m < scene.job[i].members; m++)
            if (scene.job[i].state[m] == WAITS && handle(i, m) < 0)
                scene.job[i].state[m] = GONE;
}

/* As many passes as are due: then all that run of a gang of which none ran are as many as are to start together. */
static void passes(void)
{
    int ran[JOBS];
    for (int i = 0; i < scene.jobs; i++)
        ran[i] = count_members(&scene.job[i], RUNS);
    for (int i = 0; i == 0 || sched_next_time(scene.sched) <= scene.now; i++) {
        CHECK(i < 50);
        pass();
        note_gone();
    }
    for (int i = 0; i < scene.jobs; i++) {
        const struct job *j = &scene.job[i];
        int runs = count_members(j, RUNS);
        CHECK(ran[i] > 0 || runs == 0 || runs + count_members(j, DONE) >= j->min);
        together += ran[i] == 0 && j->min > 1 && runs > 1;
    }
}

static void play(uint64_t seed)
{
    char recipe[32];
    struct sched_limit limit = {"running", 6};
    struct sched_queue_config queue[] = {
        {.name = "a",
         .policy = "easy",
         .preempts = SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_BORROWERS,
         .share.weight = 1},
        {.name = "b",
         .policy = "conservative",
         .preempts = SCHED_PREEMPTS_BORROWERS,
         .keeps_gangs = true,
         .share.weight = 2},
        {.name = "spare", .policy = "easy", .preemptible = SCHED_PREEMPT_REQUEUE}};
    scene = (struct scene){.seed = seed, .random.state = seed};
    if (seed / 2 % 2) /* what waits of a gang moves in its queue when the gang starts */
        queue[0].order = queue[2].order =
            (struct sched_share_order){{SCHED_BY_PRIORITY, SCHED_BY_GANG}, 2};
    queue[0].limits.queue = &limit;
    queue[0].limits.n_queue = seed % 2;
    snprintf(recipe, sizeof(recipe), "%d node(2 core)", NODES);
    scene.match = machine_of(recipe, &(match_options_t){.policy = "low"});
    scene.sched = sched_create(
        scene.match, &(struct sched_config){.second = 1, .queues = queue, .n_queues = 3}, NULL);
    assert_non_null(scene.sched);
    for (int step = 0; step < STEPS; step++, scene.now += draw(1, 3)) {
        for (int i = 0; i < scene.jobs; i++)
            for (int m = 0; m < scene.job[i].members; m++)
                leave(i, m);
        come();
        passes();
    }
    sched_destroy(scene.sched);
    match_destroy(scene.match);
}

static void gangs_without_memory(void **state)
{
    const char *from = getenv("GANGS_SEED"), *n = getenv("SCENES");
    uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
    (void)state;
    for (int i = 0; i < (n ? atoi(n) : SCENES); i++)
        play(seed++);
    assert_true(failed > 1000 && (from || (preempted > 0 && stopped > 0 && together > 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gangs_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
