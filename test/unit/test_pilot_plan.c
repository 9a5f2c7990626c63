/* How many pilots are asked for and given back: what doc/cluster.md promises, worked out on paper. Ticks are seconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pilot/plan.h"

#define NOW  1000000
#define HOUR 3600
#define GB   1073741824

static struct pilot_rule rule;
static struct pilot_want want[4];
static struct pilot_seen pilot[4];
static struct pilot_node node[4];
static struct pilot_case in;
static struct pilot_plan plan;

/* Nodes of 4 cores, 1 GPU and 16 GB for an hour, 8 at most, of which 2 wait; jobs have lacked some for a minute. */
static void begin(void)
{
    rule = (struct pilot_rule){.max_nodes = 8,
                               .time = HOUR,
                               .backlog = 2,
                               .idle = 120,
                               .budget = INT64_MAX,
                               .node = {4, 1, (int64_t)16 * GB}};
    in = (struct pilot_case){.rule = &rule,
                             .now = NOW,
                             .second = 1,
                             .want = want,
                             .pilot = pilot,
                             .node = node,
                             .lacking = NOW - 60};
}

static void wants(int64_t members, int64_t cores, int64_t limit, int64_t takes)
{
    want[in.n_wants++] = (struct pilot_want){.members = members,
                                             .together = 1,
                                             .nodes = 1,
                                             .amount = {cores, 0, 0},
                                             .limit = limit,
                                             .takes = takes};
}

static void waits(int64_t number, int64_t nodes, int64_t time)
{
    pilot[in.n_pilots++] = (struct pilot_seen){.number = number,
                                               .state = PILOT_WAITS,
                                               .nodes = nodes,
                                               .time = time,
                                               .useless = -1,
                                               .stuck = -1};
}

/* One of one node with so many cores free soon. */
static void up(int64_t number, int64_t end, int64_t cores)
{
    node[in.n_nodes++] =
        (struct pilot_node){.pilot = in.n_pilots, .end = end, .free = {cores, 1, (int64_t)16 * GB}};
    pilot[in.n_pilots++] = (struct pilot_seen){
        .number = number, .state = PILOT_UP, .nodes = 1, .useless = -1, .stuck = -1};
}

static void make(void)
{
    pilot_plan_clear(&plan);
    assert_int_equal(pilot_plan(&in, &plan), 0);
}

static int64_t asked(void)
{
    int64_t n = 0;
    for (size_t i = 0; i < plan.n_asks; i++)
        n += plan.ask[i].nodes;
    return n;
}

static int64_t asked_now(void)
{
    int64_t n = 0;
    for (size_t i = 0; i < plan.n_asks; i++)
        n += plan.ask[i].when == PILOT_NOW;
    return n;
}

static void nothing_waits(void **state)
{
    (void)state;
    begin();
    make();
    assert_int_equal(plan.n_asks, 0);
    assert_int_equal(plan.n_releases, 0);
    assert_int_equal(plan.lacking, -1);
}

static void as_many_as_there_is_work_for(void **state)
{
    (void)state;
    begin();
    wants(10000, 1, HOUR / 2, 1); /* 10,000 core-seconds: a node does 4 x 600 within ten minutes */
    make();
    assert_int_equal(asked(), 5);
    assert_int_equal(plan.verdict[0].fate, PILOT_LACKING);
    begin();
    wants(2400, 1, HOUR / 2, 1); /* just one */
    make();
    assert_int_equal(asked(), 1);
    begin();
    wants(10, 1, HOUR / 2, HOUR / 2); /* four of these fill a node */
    make();
    assert_int_equal(asked(), 3);
    begin();
    wants(3, 3, HOUR / 2, HOUR / 2); /* two don't fit beside each other, */
    wants(3, 1, HOUR / 2, HOUR / 2); /* but these fill up */
    make();
    assert_int_equal(asked(), 3);
    begin();
    wants(2, 1, HOUR / 2, HOUR / 2); /* the GPU is what there is one of */
    want[0].amount[PILOT_GPUS] = 1;
    make();
    assert_int_equal(asked(), 2);
    begin();
    wants(4, 1, HOUR / 2, 60); /* or the memory, of which a node has enough for one at a time, */
    want[0].amount[PILOT_MEMORY] = (int64_t)10 * GB;
    make();
    assert_int_equal(asked(), 1); /* and they follow each other within four minutes */
}

static void what_is_there_counts(void **state)
{
    (void)state;
    begin();
    up(1, NOW + HOUR, 4);
    wants(4, 1, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 0);
    assert_int_equal(plan.verdict[0].fate, PILOT_SOON);
    assert_true(plan.used[0]);
    begin();
    up(1, NOW + HOUR, 0); /* full for longer than ten minutes */
    waits(2, 1, HOUR);
    wants(4, 1, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 0);
    assert_int_equal(plan.verdict[0].fate, PILOT_QUEUED);
    assert_int_equal(plan.verdict[0].pilot, 2);
    assert_false(plan.used[0]);
    begin();
    up(1, NOW + HOUR / 2 + 119,
       4); /* ends before it is done: a job leaves two minutes of a pilot */
    wants(1, 1, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 1);
    in.node = &(struct pilot_node){0, NOW + HOUR / 2 + 120, {4, 1, 0}};
    make();
    assert_int_equal(asked(), 0);
    begin();
    in.n_nodes = 1; /* the machine's own */
    node[0] = (struct pilot_node){PILOT_OWN, INT64_MAX, {2, 0, 0}};
    wants(3, 1, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 1);
    assert_int_equal(plan.verdict[0].members, 1);
}

static void bounds_hold(void **state)
{
    (void)state;
    begin();
    up(1, NOW + HOUR, 0);
    waits(2, 3, HOUR);
    wants(100, 4, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 4); /* 8 in all */
    assert_int_equal(asked_now(), 1);
    assert_int_equal(plan.ask[1].when, PILOT_BACKLOG);
    assert_int_equal(plan.ask[0].time, HOUR); /* there is more to do than that */
    begin();
    rule.budget = (int64_t)10 * HOUR;
    in.spent = (int64_t)7 * HOUR + 1;
    wants(100, 4, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 2);
    in.spent = (int64_t)9 * HOUR + 1;
    make();
    assert_int_equal(asked(), 0);
    assert_int_equal(plan.verdict[0].fate, PILOT_BOUND);
    assert_int_equal(plan.verdict[0].bound, PILOT_BY_BUDGET);
    in.n_pilots = 0;
    begin();
    waits(1, 8, HOUR);
    wants(9, 4, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(asked(), 0);
    assert_int_equal(plan.verdict[0].fate, PILOT_QUEUED); /* the first eight */
    wants(1, 4, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(plan.verdict[1].fate, PILOT_BOUND);
    assert_int_equal(plan.verdict[1].bound, PILOT_BY_NODES);
    begin(); /* few pilots, however many nodes */
    rule.max_nodes = 320;
    wants(320, 4, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(plan.n_asks, 32);
    assert_int_equal(asked(), 320);
}

static void several_nodes_come_together(void **state)
{
    (void)state;
    begin();
    up(1, NOW + HOUR, 4);
    wants(1, 4, HOUR / 2, HOUR / 2);
    want[0].nodes = 3;
    make();
    assert_int_equal(plan.n_asks, 1);
    assert_int_equal(plan.ask[0].nodes, 3);
    begin(); /* six of a gang of eight start together, two on a node */
    wants(8, 2, HOUR / 2, HOUR / 2);
    want[0].together = 6;
    make();
    assert_int_equal(plan.n_asks, 2);
    assert_int_equal(plan.ask[0].nodes, 3);
    assert_int_equal(plan.ask[1].nodes, 1);
    begin(); /* short ones of a gang run beside each other all the same */
    wants(8, 2, 60, 1);
    want[0].together = 8;
    make();
    assert_int_equal(asked(), 4);
}

static void some_no_pilot_can_run(void **state)
{
    static const struct {
        int64_t nodes, together, amount[PILOT_KINDS], limit;
        enum pilot_why why;
    } cases[] = {
        {1, 1, {5, 0, 0}, 60, PILOT_TOO_MANY_CORES},
        {1, 1, {1, 2, 0}, 60, PILOT_TOO_MANY_GPUS},
        {1, 1, {1, 0, (int64_t)17 * GB}, 60, PILOT_TOO_MUCH_MEMORY},
        {9, 1, {1, 0, 0}, 60, PILOT_TOO_MANY_NODES},
        {1, 33, {1, 0, 0}, 60, PILOT_TOO_MANY_NODES},
        {1, 1, {1, 0, 0}, HOUR - 119, PILOT_TOO_LONG},
        {1, 1, {1, 0, 0}, 0, PILOT_NO_TIME},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        wants(40, cases[i].amount[0], cases[i].limit, 1);
        want[0].nodes = cases[i].nodes;
        want[0].together = cases[i].together;
        memcpy(want[0].amount, cases[i].amount, sizeof(want[0].amount));
        make();
        assert_int_equal(plan.verdict[0].fate, PILOT_NEVER);
        assert_int_equal(plan.verdict[0].why, cases[i].why);
        assert_int_equal(asked(), 0);
    }
    begin();
    wants(1, 1, HOUR - 120, 60);
    make();
    assert_int_equal(asked(), 1);
    want[0].elsewhere = true;
    make();
    assert_int_equal(plan.verdict[0].why, PILOT_ELSEWHERE);
}

static void the_first_teaches(void **state)
{
    (void)state;
    begin();
    memset(rule.node, 0, sizeof(rule.node));
    wants(100, 1000, HOUR / 2, HOUR / 2);
    make();
    assert_int_equal(plan.n_asks, 1);
    assert_int_equal(plan.ask[0].nodes, 1);
    assert_int_equal(plan.ask[0].time, HOUR);
    waits(4, 1, HOUR);
    make();
    assert_int_equal(plan.n_asks, 0);
    assert_int_equal(plan.verdict[0].fate, PILOT_QUEUED);
    assert_int_equal(plan.verdict[0].pilot, 4);
}

static void less_time_is_asked_for(void **state)
{
    (void)state;
    begin();
    wants(4, 1, 1000, 1000);
    make();
    assert_int_equal(plan.ask[0].time, 1140); /* 1000 + 120, in whole minutes */
    want[0].limit = want[0].takes = 10;
    make();
    assert_int_equal(plan.ask[0].time, 720); /* ten minutes of use at least */
    want[0].limit = HOUR - 120;
    make();
    assert_int_equal(plan.ask[0].time, HOUR);
}

static void patience_and_refusals(void **state)
{
    (void)state;
    begin();
    wants(1, 1, 60, 60);
    in.lacking = -1;
    make();
    assert_int_equal(plan.lacking, NOW);
    assert_int_equal(plan.ask[0].when, PILOT_PATIENT);
    assert_int_equal(plan.ask[0].at, NOW + 5);
    in.lacking = NOW - 5;
    make();
    assert_int_equal(plan.ask[0].when, PILOT_NOW);
    in.failures = 3; /* 5, 10, 20 s */
    in.failed_at = NOW - 19;
    make();
    assert_int_equal(plan.ask[0].when, PILOT_FAILED);
    assert_int_equal(plan.ask[0].at, NOW + 1);
    in.failed_at = NOW - 20;
    make();
    assert_int_equal(plan.ask[0].when, PILOT_NOW);
    assert_int_equal(pilot_again(1000000, 0, 1), 600);
}

static void those_of_no_use_go(void **state)
{
    (void)state;
    begin();
    up(1, NOW + HOUR, 4);
    up(2, NOW + HOUR, 4);
    waits(3, 1, HOUR);
    pilot[0].useless = NOW - 120;
    pilot[1].useless = NOW - 119;
    pilot[2].useless = NOW - 500;
    make();
    assert_int_equal(plan.n_releases, 2);
    assert_int_equal(plan.release[0].pilot, 1);
    assert_int_equal(plan.release[0].why, PILOT_IDLE);
    assert_int_equal(plan.release[1].pilot, 3);
    assert_int_equal(plan.release[1].why, PILOT_UNWANTED);
    wants(1, 1, 60, 60); /* just about to start there */
    make();
    assert_int_equal(plan.n_releases, 1);
    begin();
    waits(1, 1, HOUR);
    wants(1, 1, 60, 60);
    pilot[0].stuck = NOW - 60;
    make();
    assert_int_equal(plan.n_releases, 1);
    assert_int_equal(plan.release[0].why, PILOT_IS_STUCK);
    begin(); /* one that is on its way out is not told again, but is there until it has gone */
    waits(1, 8, HOUR);
    pilot[0].state = PILOT_ENDING;
    pilot[0].useless = NOW - 500;
    wants(1, 1, 60, 60);
    make();
    assert_int_equal(plan.n_releases, 0);
    assert_int_equal(asked(), 0);
}

static void tasks_fill_nodes(void **state)
{
    (void)state;
    begin();
    struct pilot_want w = {.members = 1, .together = 1, .nodes = 1, .amount = {1, 0, 0}};
    pilot_spread(&rule, 8, &w); /* four on each of two */
    assert_int_equal(w.nodes, 2);
    assert_int_equal(w.amount[PILOT_CORES], 4);
    w = (struct pilot_want){.amount = {1, 1, 0}}; /* one GPU on each */
    pilot_spread(&rule, 3, &w);
    assert_int_equal(w.nodes, 3);
    assert_int_equal(w.amount[PILOT_CORES], 1);
    w = (struct pilot_want){.amount = {5, 0, 0}}; /* no node has room for one */
    pilot_spread(&rule, 2, &w);
    assert_int_equal(w.nodes, 2);
    assert_int_equal(w.amount[PILOT_CORES], 5);
    w = (struct pilot_want){.amount = {1, 0, 0}};
    pilot_spread(&rule, 3, &w);
    assert_int_equal(w.nodes, 1);
    assert_int_equal(w.amount[PILOT_CORES], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_waits),
        cmocka_unit_test(as_many_as_there_is_work_for),
        cmocka_unit_test(what_is_there_counts),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(several_nodes_come_together),
        cmocka_unit_test(some_no_pilot_can_run),
        cmocka_unit_test(the_first_teaches),
        cmocka_unit_test(less_time_is_asked_for),
        cmocka_unit_test(patience_and_refusals),
        cmocka_unit_test(those_of_no_use_go),
        cmocka_unit_test(tasks_fill_nodes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pilot_plan_clear(&plan);
    return failed;
}
