/* Memory runs out in scenes of named queues: in each call, now and then, some allocation fails, or all from
 * one on. The core is in order after that, nothing that shows has changed but by a pass, and the call made
 * again goes on under the same laws.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_query.h"
#include "fixture/failing_alloc.h"
#include "queue_scene.h"

enum { SCENES = 60 };

static struct scene scene;
static struct random failures;
static uint64_t failed_calls, failed_questions;
static struct {
    int state[SCENE_JOBS];
    int64_t at[SCENE_JOBS];
    size_t waiting, running;
    int passes;
} before;

static void look(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        bool known = !c->job[i].gone && c->job[i].handle >= 0;
        before.state[i] = known ? sched_state(c->sched, c->job[i].handle) : -1;
        before.at[i] = known ? sched_start_time(c->sched, c->job[i].handle) : -1;
    }
    before.waiting = c->sched ? sched_waiting(c->sched) : 0;
    before.running = c->sched ? sched_running(c->sched) : 0;
}

static bool is_same(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        bool known = !c->job[i].gone && c->job[i].handle >= 0;
        if (!known)
            continue;
        if (before.state[i] != sched_state(c->sched, c->job[i].handle) ||
            before.at[i] != sched_start_time(c->sched, c->job[i].handle))
            return false;
    }
    return !c->sched ||
           (before.waiting == sched_waiting(c->sched) && before.running == sched_running(c->sched));
}

static void arm(const struct scene *c)
{
    look(c);
    allocation_failed = false;
    failures_last = random_next(&failures) % 2;
    until_failure = random_next(&failures) % 3 ? random_between(&failures, 0, 40) : -1;
}

/* A pass failed. A member that has come into it by the start of the one before it, and was to be promised a time behind
 * those that hold, is a new job for the next attempt, and goes before those behind it.
 */
static void excuse_behind_members(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        for (int k = 0; k < c->jobs && !j->gone && !j->running; k++)
            j->excused |= c->job[k].members > 1 && !c->job[k].gone && !c->job[k].running &&
                          scene_before(c, &c->job[k], j);
    }
}

static bool again(const struct scene *c, bool failed)
{
    int error = errno;
    until_failure = -1;
    if (!failed || error != ENOMEM)
        return false;
    SCENE_CHECK(c, allocation_failed);
    failed_calls++;
    SCENE_CHECK(c, c->in_pass || is_same(c));
    if (c->in_pass)
        excuse_behind_members(&scene);
    return true;
}

static int make_one(void *context, int64_t n, struct sched_instead *instead)
{
    const char *jobspec = context;
    instead->jobspec = jobspec;
    instead->jobspec_length = strlen(jobspec);
    instead->duration = n;
    return 0;
}

/* A job that waits is asked about, with memory and without. */
static void ask(struct scene *c)
{
    char jobspec[1000];
    struct scene_job *j = c->jobs > 0 ? &c->job[c->passes % c->jobs] : NULL;
    if (!j || j->gone || j->running || sched_state(c->sched, j->handle) < 0)
        return;
    struct scene_job smaller = *j;
    smaller.count = 1;
    scene_jobspec(&smaller, jobspec, sizeof(jobspec));
    struct sched_question question = {
        .make = make_one, .context = jobspec, .least = 1, .most = j->duration};
    int rc = sched_what_if(c->sched, c->now, j->handle, &question, 1, NULL);
    int64_t found = question.found;
    for (int got = -2; got != rc;) {
        arm(c);
        got = sched_what_if(c->sched, c->now, j->handle, &question, 1, NULL);
        int error = errno;
        until_failure = -1;
        SCENE_CHECK(c, got == rc || (got < 0 && error == ENOMEM && allocation_failed));
        SCENE_CHECK(c, is_same(c) && sched_check(c->sched));
        failed_questions += got != rc;
    }
    SCENE_CHECK(c, rc < 0 || question.found == found);
}

static void test_nomem(void **state)
{
    const char *from = getenv("SCENE_SEED"), *n = getenv("SCENES");
    uint64_t seed = from ? (uint64_t)strtoull(from, NULL, 10) : 1u;
    (void)state;
    for (int i = 0; i < (n ? atoi(n) : SCENES); i++, seed++) {
        failures.state = seed;
        until_failure = -1;
        scene_play(&scene, &(struct scene_options){.seed = seed,
                                                   .classes = seed % 4 == 0,
                                                   .leaves = seed % 5 == 0,
                                                   .look = ask,
                                                   .arm = arm,
                                                   .again = again});
        strbuf_clear(&scene.log);
    }
    assert_true(failed_calls > 0 && failed_questions > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nomem)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
