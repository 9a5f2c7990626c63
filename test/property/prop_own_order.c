/* The order that a shell gives its jobs (sched_request.order), as Flux's does: of those that wait, under fcfs, the one of
 * the highest priority runs next, among equals the one of the least order, whatever was submitted, taken back, submitted
 * again or raised in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "fixture/world.h"
#include "random.h"

enum { SCENES = 300, STEPS = 120, JOBS = 40 };

static struct scene {
    struct random random;
    struct world world;
    int64_t now;
    int jobs;
    struct job {
        sched_job_t handle;
        uint64_t order;
        int64_t priority;
        bool waits;
    } job[JOBS];
    sched_job_t running; /* -1: none */
} scene;

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

static void submit(struct job *j)
{
    char id[16];

    snprintf(id, sizeof(id), "%d", (int)(j - scene.job));
    j->handle =
        world_submit(&scene.world, scene.now, 1,
                     (struct sched_request){
                         .id = id, .order = j->order, .priority = j->priority, .duration = 100});
    assert_true(j->handle >= 0);
    j->waits = true;
}

/* Orders come in any sequence, each once. */
static void submit_new(void)
{
    struct job *j = &scene.job[scene.jobs];

    *j = (struct job){.order = (uint64_t)draw(1, 1000) * JOBS + (uint64_t)scene.jobs,
                      .priority = draw(0, 2)};
    scene.jobs++;
    submit(j);
}

/* Taken back and submitted again with its order, as when a queue of Flux is stopped and started; or its priority is changed. */
static void change(struct job *j)
{
    if (!j->waits)
        return;
    j->priority = draw(0, 2);
    if (draw(0, 1)) {
        assert_int_equal(sched_cancel(scene.world.sched, scene.now, j->handle), 0);
        submit(j);
    } else {
        assert_int_equal(sched_prioritize(scene.world.sched, scene.now, j->handle, j->priority), 0);
    }
}

static struct job *next_job(void)
{
    struct job *next = NULL;

    for (struct job *j = scene.job; j < scene.job + scene.jobs; j++)
        if (j->waits && (!next || j->priority > next->priority ||
                         (j->priority == next->priority && j->order < next->order)))
            next = j;
    return next;
}

static void step(void)
{
    int64_t what = draw(0, 5);

    if (what < 3 && scene.jobs < JOBS)
        submit_new();
    else if (what < 5 && scene.jobs > 0)
        change(&scene.job[draw(0, scene.jobs - 1)]);
    else if (scene.running >= 0) {
        assert_int_equal(sched_finish(scene.world.sched, scene.now, scene.running, true), 0);
        scene.running = -1;
    }
    if (draw(0, 2) > 0)
        return; /* several things happen before a pass */
    world_pass(&scene.world, ++scene.now);
    struct job *next = scene.running < 0 ? next_job() : NULL;
    if (next) {
        assert_int_equal(sched_state(scene.world.sched, next->handle), SCHED_RUNNING);
        next->waits = false;
        scene.running = next->handle;
    }
    for (int i = 0; i < scene.jobs; i++)
        if (scene.job[i].waits)
            assert_int_not_equal(sched_state(scene.world.sched, scene.job[i].handle),
                                 SCHED_RUNNING);
}

static void the_first_runs_next(void **state)
{
    (void)state;
    for (int seed = 0; seed < RANDOM_ROUNDS(SCENES); seed++) {
        scene = (struct scene){.random = {.state = (uint64_t)seed}, .running = -1};
        world_open(&scene.world, "resources: {nodes: 1, cores: 1}\nqueues: {q: {policy: fcfs}}\n");
        for (int i = 0; i < STEPS; i++)
            step();
        world_close(&scene.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_runs_next)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
