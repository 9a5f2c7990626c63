/* Passes of named queues in which an allocation fails, the first, the second and so on: another pass is
 * asked for at once, and after it all is as if nothing had failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "berth/match.h"
#include "berth/resource.h"
#include "berth/sched_config.h"
#include "fixture/failing_alloc.h"
#include "fixture/machine.h"

enum { TRIES = 10000, HOLDERS = 12, JOBS = HOLDERS + 2 };

/* One node with four cores. */
struct world {
    match_t *match;
    sched_t *sched;
    sched_job_t job[JOBS];
    int n;
};

static void world_open(struct world *w, const struct sched_queue_config *queue,
                       int64_t min_interval)
{
    const struct sched_config config = {
        .second = 1, .queues = queue, .n_queues = 1, .min_interval = min_interval};
    *w = (struct world){.match = machine_of("node(4 core)", &(match_options_t){.policy = "low"})};
    w->sched = sched_create(w->match, &config, NULL);
    assert_non_null(w->sched);
}

static void world_close(struct world *w)
{
    sched_destroy(w->sched);
    match_destroy(w->match);
}

static void submit_to(struct world *w, const char *queue, int cores, int64_t duration,
                      int64_t priority, int64_t begin)
{
    char text[300];
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: slot, count: 1, label: s, with: [{type: core, "
             "count: %d}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], "
             "attributes: {}}",
             cores);
    const struct sched_request r = {.jobspec = text,
                                    .jobspec_length = strlen(text),
                                    .duration = duration,
                                    .priority = priority,
                                    .begin = begin,
                                    .queue = queue,
                                    .tag = (uint64_t)w->n};
    w->job[w->n] = sched_submit(w->sched, 0, &r);
    assert_true(w->job[w->n] >= 0);
    w->n++;
}

static void pass(struct world *w, int64_t now)
{
    const struct sched_decision *d;
    size_t n;
    assert_int_equal(sched_pass(w->sched, now, false, &d, &n), 0);
    assert_true(sched_check(w->sched));
}

/* A pass in which an allocation fails, and the one that it asks for if it can't do without. False: none
 * failed.
 */
static bool pass_without(struct world *w, int64_t now, int64_t nth)
{
    const struct sched_decision *d;
    size_t n;
    fail_allocation(nth);
    int rc = sched_pass(w->sched, now, false, &d, &n);
    int error = errno;
    bool failed = end_failures();
    assert_true(sched_check(w->sched));
    if (rc < 0) {
        assert_int_equal(error, ENOMEM);
        assert_int_equal(sched_next_time(w->sched), now);
        pass(w, now);
    }
    assert_true(sched_next_time(w->sched) > now);
    return failed;
}

static void expect_same(const struct world *w, const struct world *undisturbed)
{
    for (int i = 0; i < w->n; i++) {
        assert_int_equal(sched_state(w->sched, w->job[i]),
                         sched_state(undisturbed->sched, undisturbed->job[i]));
        assert_int_equal(sched_start_time(w->sched, w->job[i]),
                         sched_start_time(undisturbed->sched, undisturbed->job[i]));
    }
}

/* Play it up to a pass at a time: undisturbed, and with each allocation of that pass failing. Starts of the
 * undisturbed one.
 */
static void play(void (*before)(struct world *w), int64_t now, const int64_t *starts)
{
    struct world w, undisturbed;
    bool failed = true;
    int64_t n = 0;
    before(&undisturbed);
    pass(&undisturbed, now);
    for (int i = 0; i < undisturbed.n; i++)
        assert_int_equal(sched_start_time(undisturbed.sched, undisturbed.job[i]), starts[i]);
    for (; failed && n < TRIES; n++) {
        before(&w);
        failed = pass_without(&w, now, n);
        expect_same(&w, &undisturbed);
        world_close(&w);
    }
    assert_false(failed);
    assert_true(n > 1);
    world_close(&undisturbed);
}

static const struct sched_queue_config conservative = {.name = "q", .policy = "conservative"};

/* At 5 a job may begin that goes before all who hold promises, each of three cores for 10. */
static void one_comes(struct world *w)
{
    world_open(w, &conservative, 0);
    submit_to(w, "q", 4, 10, 9, 0);
    submit_to(w, "q", 2, 40, 5, 5);
    for (int i = 0; i < HOLDERS; i++) {
        submit_to(w, "q", 3, 10, 0, 0);
        if (i % 4 == 3)
            pass(w, 0); /* no pass needs as much memory as the one that moves them all */
    }
}

/* Time alone brings it; no event says that a pass is needed. */
static void holders_give_way_and_keep_their_order(void **state)
{
    int64_t starts[JOBS] = {0, 10};
    (void)state;
    for (int i = 0; i < HOLDERS; i++)
        starts[2 + i] = 50 + i * 10;
    play(one_comes, 5, starts);
}

/* At 10 one goes on behind its limit, of whose cores three are promised. Passes for events are far apart,
 * but a failed one is made again at once.
 */
static void one_overruns(struct world *w)
{
    world_open(w, &conservative, 100);
    submit_to(w, "q", 4, 10, 9, 0);
    submit_to(w, "q", 3, 10, 2, 0);
    submit_to(w, "q", 3, 20, 1, 0);
    submit_to(w, "q", 3, 30, 0, 0);
    pass(w, 0);
}

/* Each keeps its rank: those behind the one that has to move move with it. */
static void what_an_overrun_is_in_the_way_of_keeps_its_rank(void **state)
{
    (void)state;
    play(one_overruns, 10, (const int64_t[]){0, 11, 21, 41});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holders_give_way_and_keep_their_order),
        cmocka_unit_test(what_an_overrun_is_in_the_way_of_keeps_its_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
