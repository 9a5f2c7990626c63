/* A waiting job that is to ask for something else (sched_set_jobspec) is as one that is taken back and submitted anew, with the
 * place, the time and the name that it had: two schedulers are played the same, one of them with each, and agree from then on
 * about who runs, and who is promised which time. What is refused changes nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "check.h"
#include "fixture/world.h"
#include "random.h"

enum { SCENES = 1200, JOBS = 14, STEPS = 40, NODE_CORES = 4 };

static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};

static struct scene {
    uint64_t seed;
    struct random random;
    struct world world[2]; /* changed in place; taken back and submitted anew */
    struct job {
        sched_job_t handle[2];
        int cores;
        int64_t submitted, duration, end; /* end: INT64_MAX where it does not run */
        char id[16], user[16];
        bool over;
    } job[JOBS];
    int jobs;
    int64_t now;
} scene;

static uint64_t changed, refused, moved;

#define CHECK(condition) CHECK_IN(scene, condition)

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

static void make(void)
{
    char text[512];
    int nodes = (int)draw(1, 3), depth = (int)draw(0, 3);
    snprintf(text, sizeof(text),
             "resources: {nodes: %d, cores: %d}\nmatch: {policy: low}\n"
             "queues: {q: {policy: %s, queue-depth: %d%s}}\n",
             nodes, NODE_CORES, policies[draw(0, 3)], depth > 0 ? 20 : (int)draw(1, 5),
             draw(0, 1) ? ", limits: {job: {core: 3}, user: {core: 5}}" : "");
    for (int k = 0; k < 2; k++)
        world_open(&scene.world[k], text);
}

static void submit(const struct job *j, int i, int k, sched_job_t *handle)
{
    struct sched_request request = {.id = j->id,
                                    .user = j->user,
                                    .tag = (uint64_t)i,
                                    .order = (uint64_t)i + 1,
                                    .submitted = j->submitted,
                                    .duration = j->duration};
    *handle = world_submit(&scene.world[k], scene.now, j->cores, request);
    CHECK(*handle >= 0);
}

static void submit_new(void)
{
    struct job *j = &scene.job[scene.jobs];
    *j = (struct job){.cores = (int)draw(1, NODE_CORES),
                      .submitted = scene.now,
                      .duration = draw(1, 9),
                      .end = INT64_MAX};
    snprintf(j->id, sizeof(j->id), "%d", scene.jobs);
    snprintf(j->user, sizeof(j->user), "u%d", (int)draw(0, 1));
    for (int k = 0; k < 2; k++)
        submit(j, scene.jobs, k, &j->handle[k]);
    j->over = sched_state(scene.world[0].sched, j->handle[0]) == SCHED_REJECTED;
    CHECK(j->over == (sched_state(scene.world[1].sched, j->handle[1]) == SCHED_REJECTED));
    scene.jobs++;
}

/* Sometimes for more than a node or a limit has. */
static void change(void)
{
    int i = (int)draw(0, scene.jobs - 1), cores = (int)draw(1, NODE_CORES + 1);
    struct job *j = &scene.job[i];
    sched_t *const s[2] = {scene.world[0].sched, scene.world[1].sched};
    char spec[WORLD_SPEC_MAX];
    berth_error_t err = {""};
    bool waits = !j->over && j->end == INT64_MAX;
    world_spec(spec, cores);
    moved += waits && sched_state(s[0], j->handle[0]) == SCHED_RESERVED;
    if (sched_set_jobspec(s[0], scene.now, j->handle[0], spec, strlen(spec), &err) < 0) {
        CHECK(errno == EINVAL && err.text[0] && (!waits || cores > 3));
        refused += waits;
        return;
    }
    CHECK(waits && cores <= NODE_CORES);
    j->cores = cores;
    CHECK(sched_hold(s[1], scene.now, j->handle[1]) ==
          0); /* what is promised a time is not taken back */
    CHECK(sched_withdraw(s[1], scene.now, j->handle[1]) == 0);
    submit(j, i, 1, &j->handle[1]);
    changed++;
}

static void end_due(void)
{
    for (int i = 0; i < scene.jobs; i++) {
        struct job *j = &scene.job[i];
        if (j->end > scene.now)
            continue;
        for (int k = 0; k < 2; k++)
            CHECK(sched_finish(scene.world[k].sched, scene.now, j->handle[k], true) == 0);
        j->over = true;
        j->end = INT64_MAX;
    }
}

static void pass(void)
{
    for (int k = 0; k < 2; k++)
        world_pass(&scene.world[k], scene.now);
    for (int i = 0; i < scene.jobs; i++) {
        struct job *j = &scene.job[i];
        struct sched_annotation a[2];
        if (j->over)
            continue;
        for (int k = 0; k < 2; k++)
            CHECK(sched_annotate(scene.world[k].sched, j->handle[k], &a[k]) == 0);
        int state = sched_state(scene.world[0].sched, j->handle[0]);
        CHECK(state == sched_state(scene.world[1].sched, j->handle[1]));
        CHECK(a[0].start == a[1].start);
        CHECK(a[0].reason.kind == a[1].reason.kind);
        if (state == SCHED_RUNNING && j->end == INT64_MAX)
            j->end = scene.now + draw(1, j->duration);
    }
}

static void play(uint64_t seed)
{
    memset(&scene, 0, sizeof(scene));
    scene.seed = scene.random.state = seed;
    make();
    for (int step = 0; step < STEPS; step++) {
        scene.now += draw(0, 2);
        end_due();
        for (int64_t n = draw(0, 2); n > 0 && scene.jobs < JOBS; n--)
            submit_new();
        if (scene.jobs > 0 && draw(0, 1))
            change();
        if (draw(0, 3))
            pass();
    }
    for (int k = 0; k < 2; k++)
        world_close(&scene.world[k]);
}

static void test_ask_anew(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_ROUNDS(SCENES); seed++)
        play(seed);
    print_message("%" PRIu64 " changed, of which %" PRIu64 " were promised a time; %" PRIu64
                  " refused\n",
                  changed, moved, refused);
    uint64_t played = RANDOM_ROUNDS(SCENES);
    assert_true(changed > played && refused > played / 10 && moved > played / 10);
}

/* A jobspec that is none, one of a gang, and limits that stay. */
static void test_not_taken(void **state)
{
    (void)state;
    struct world w;
    berth_error_t err = {""};
    char spec[WORLD_SPEC_MAX];
    world_open(&w, "resources: {nodes: 1, cores: 4}\nqueues: {q: {policy: easy}}\n");
    sched_job_t gang =
        world_submit(&w, 0, 1, (struct sched_request){.id = "g", .members = 3, .min = 2});
    sched_job_t array =
        world_submit(&w, 0, 4, (struct sched_request){.id = "a", .tag = 1, .members = 3});
    world_spec(spec, 2);
    assert_int_equal(sched_set_jobspec(w.sched, 0, gang, spec, strlen(spec), &err), -1);
    assert_string_equal(err.text, "what the members of a gang ask for stays");
    assert_int_equal(sched_set_jobspec(w.sched, 0, array, "{", 1, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sched_cancel(w.sched, 0, gang), 0);
    assert_int_equal(sched_set_jobspec(w.sched, 0, array, spec, strlen(spec), &err), 0);
    world_pass(&w, 0);
    assert_int_equal(sched_running(w.sched), 2); /* of four cores, two each */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ask_anew),
                                       cmocka_unit_test(test_not_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
