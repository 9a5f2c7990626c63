/* What a gang counts for in the tree of shares: the same, whichever of its members wait together. Each member asks for one core
 * of 8, or with roles a server for two and a worker for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 1, cores: 8}\n"
                           "match: {policy: low}\n"
                           "shares: {resources: [core]}\n"
                           "queues:\n"
                           "  a: {policy: easy, shares: {weight: 1}}\n"
                           "  b: {policy: easy, priority: 1, shares: {weight: 1}}\n";

static struct sched_share_node of_a(struct world *w)
{
    struct sched_share_report report;
    assert_int_equal(sched_shares_now(w->sched, 0, &report), 0);
    for (size_t i = 0; i < report.n_nodes; i++)
        if (strcmp(report.nodes[i].name, "a") == 0)
            return report.nodes[i];
    fail();
    return (struct sched_share_node){0};
}

/* It has so many cores, is promised so many more, asks for so many in all, and so many members wait. */
static void counts(struct world *w, int64_t running, int64_t promised, int64_t demand,
                   uint64_t waiting)
{
    struct sched_share_node a = of_a(w);
    assert_int_equal(a.running.of[0], running);
    assert_int_equal(a.received.of[0], running + promised);
    assert_int_equal(a.demand.of[0], demand);
    assert_int_equal(a.n_open, waiting);
}

/* With roles if so many workers, of 0 or more, start together with a server. */
static void enter_of(struct world *w, const char *id, struct sched_request request, int workers)
{
    char server[WORLD_SPEC_MAX], worker[WORLD_SPEC_MAX];
    struct sched_role role[2] = {
        {.name = "server", .jobspec = world_spec(server, 2), .members = 2, .min = 1},
        {.name = "worker",
         .jobspec = world_spec(worker, 1),
         .members = 3,
         .min = (uint32_t)(workers > 0 ? workers : 0)}};
    role[0].jobspec_length = strlen(server);
    role[1].jobspec_length = strlen(worker);
    if (workers >= 0) {
        request.roles = role;
        request.n_roles = 2;
    }
    world_enter(w, 0, id, 1, request);
}

/* Gang g of queue a starts, all of it goes back to wait while `taker`, of queue b, takes the machine. */
static void begin(struct world *w, struct sched_request gang, bool roles)
{
    world_open(w, text);
    gang.queue = "a";
    enter_of(w, "g", gang, roles ? 2 : -1);
    world_pass(w, 0);
    int64_t all = roles ? 7 : gang.members;
    counts(w, all, 0, all, 0);
    uint32_t members = roles ? 5 : gang.members;
    for (uint32_t i = 0; i < members; i++)
        assert_int_equal(sched_requeue(w->sched, 5, sched_find(w->sched, "g", i)), 0);
}

static void take(struct world *w, int64_t duration)
{
    world_enter(w, 5, "taker", 8,
                (struct sched_request){.queue = "b", .duration = duration, .estimate = duration});
    world_pass(w, 5);
}

static const struct sched_request of_six = {.members = 6, .min = 2};

/* Nobody knows when the other job ends: all members wait for their gang, and count. */
static void one_that_was_stopped_counts_with_all_its_members(void **state)
{
    (void)state;
    struct world w;
    begin(&w, of_six, false);
    take(&w, SCHED_UNLIMITED);
    counts(&w, 0, 0, 6, 6);
    /* one that is held does not, and does again */
    assert_int_equal(sched_hold(w.sched, 6, sched_find(w.sched, "g", 4)), 0);
    world_pass(&w, 6);
    counts(&w, 0, 0, 5, 5);
    assert_int_equal(sched_release(w.sched, 7, sched_find(w.sched, "g", 4)), 0);
    world_pass(&w, 7);
    counts(&w, 0, 0, 6, 6);
    /* one that is gone counts no more */
    assert_int_equal(sched_cancel(w.sched, 8, sched_find(w.sched, "g", 5)), 0);
    world_pass(&w, 8);
    counts(&w, 0, 0, 5, 5);
    world_close(&w);
}

/* Two are promised 105, and the others wait behind that. */
static void so_it_does_behind_its_promise(void **state)
{
    (void)state;
    struct world w;
    begin(&w, of_six, false);
    take(&w, 100);
    counts(&w, 0, 2, 6, 4);
    assert_int_equal(sched_cancel(w.sched, 8, sched_find(w.sched, "g", 5)), 0);
    world_pass(&w, 8);
    counts(&w, 0, 2, 5, 3);
    world_close(&w);
}

/* One server starts, and the others may follow; but only one of all may run at once. So none waits behind one that is promised a
 * time, until more may run.
 */
static void nobody_counts_behind_a_full_array(void **state)
{
    (void)state;
    struct world w;
    berth_error_t err;
    world_open(&w, text);
    enter_of(&w, "g", (struct sched_request){.queue = "a"}, 0);
    world_pass(&w, 0);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(sched_requeue(w.sched, 5, sched_find(w.sched, "g", i)), 0);
    sched_job_t first = sched_find(w.sched, "g", 0);
    assert_int_equal(sched_set_max_running(w.sched, 5, first, 1, &err), 0);
    take(&w, 100);
    counts(&w, 0, 2, 2, 0);
    assert_int_equal(sched_set_max_running(w.sched, 6, first, 2, &err), 0);
    counts(&w, 0, 2, 7, 4);
    world_pass(&w, 6);
    counts(&w, 0, 2, 7, 4);
    world_close(&w);
}

/* A server and two workers start together, with 4 cores; a server and a worker wait behind that. */
static void so_it_does_with_roles(void **state)
{
    (void)state;
    struct world w;
    begin(&w, (struct sched_request){0}, true);
    take(&w, SCHED_UNLIMITED);
    counts(&w, 0, 0, 7, 5);
    assert_int_equal(sched_cancel(w.sched, 8, sched_find(w.sched, "g", 1)), 0);
    world_pass(&w, 8);
    counts(&w, 0, 0, 5, 4);
    world_close(&w);
    begin(&w, (struct sched_request){0}, true);
    take(&w, 100);
    counts(&w, 0, 4, 7, 2);
    assert_int_equal(sched_hold(w.sched, 6, sched_find(w.sched, "g", 1)), 0);
    world_pass(&w, 6);
    counts(&w, 0, 4, 5, 1);
    /* at one instant the server is back and a worker away: as many members, which ask for other things */
    assert_int_equal(sched_release(w.sched, 7, sched_find(w.sched, "g", 1)), 0);
    assert_int_equal(sched_hold(w.sched, 7, sched_find(w.sched, "g", 4)), 0);
    world_pass(&w, 7);
    counts(&w, 0, 4, 6, 1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_was_stopped_counts_with_all_its_members),
        cmocka_unit_test(so_it_does_behind_its_promise),
        cmocka_unit_test(nobody_counts_behind_a_full_array),
        cmocka_unit_test(so_it_does_with_roles),
    };
    return cmocka_run_group_tests_name("gang_demand", tests, NULL, NULL);
}
