/* What the server says of jobs that shares keep waiting: four nodes with four cores, and numbers that are worked
 * out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server_scene.h"

#define HEAD                                                                                       \
    "resources: {nodes: 4, cores: 4}\n"                                                            \
    "match: {policy: low}\n"                                                                       \
    "server: {administrators: [ann], requests-per-second: unlimited}\n"
#define NODE  "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\"}"
#define START " It will not start within 2h, unless jobs end earlier than planned."

static struct sim_server *open_with(void **state, const char *config)
{
    assert_int_equal(open_world_of(state, config), 0);
    struct sim_server *w = *state;
    sim_server_close(w);
    w->options.for_all = true;
    w->options.uid = 0;
    assert_int_equal(sim_server_open(w, NULL), 0);
    return w;
}

static int64_t submit_by(struct sim_server *w, unsigned uid, const char *body)
{
    int status;
    json_t *got = sim_server_ask(w, uid, "POST", "/v1/jobs", NULL, body, &status);
    assert_int_equal(status, 201);
    int64_t id = json_integer_value(json_object_get(got, "id"));
    json_decref(got);
    start_all(w);
    return id;
}

static void expect_said(struct sim_server *w, int64_t id, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)id);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", path, NULL, NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(got, "text")), text);
    json_decref(got);
}

/* The members that are compared, of the first turn. */
static void expect_compared(struct sim_server *w, int64_t id, const char *own, const char *first)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)id);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", path, NULL, NULL, NULL);
    const json_t *turn = json_array_get(json_object_get(got, "turns"), 0);
    char *has = json_dumps(json_object_get(turn, "own_has"), JSON_COMPACT | JSON_SORT_KEYS);
    char *have = json_dumps(json_object_get(turn, "first_have"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(has ? has : "none", own);
    assert_string_equal(have ? have : "none", first);
    free(has);
    free(have);
    json_decref(got);
}

/* Ann has three running jobs and Bob one. The fifth is promised the first end, whose turn it was then. */
static void users_with_fewer_running_jobs_go_first(void **state)
{
    struct sim_server *w =
        open_with(state, HEAD "shares: {resources: [core]}\n"
                              "queues: {a: {policy: easy, shares: {by: user, order: "
                              "[fewest-running, submit]}}}\n");
    for (int i = 0; i < 3; i++)
        submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, NODE);
    submit_by(w, SIM_ANN, NODE);
    int64_t ann = submit_by(w, SIM_ANN, NODE), bob = submit_by(w, SIM_BOB, NODE);
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold." START
                " User ann has 3 running jobs: user bob of queue a goes first (1).");
    /* Of 16 cores each deserves 8; Ann has 12 and is promised 4, Bob has 4 and asks for as many more. */
    expect_said(w, bob,
                "It waits for nodes that 4 other jobs hold." START
                " Its share entitles it to what jobs 1, 2 and 3 have borrowed and give back when "
                "they end.");
    ann = submit_by(w, SIM_ANN, NODE);
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold." START
                " User ann has 3 running jobs: user bob of queue a goes first (1)."
                " 1 other job of user ann goes before it.");
    submit_by(w, 0, NODE);
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold." START
                " User ann has 3 running jobs: users root and bob of queue a go first (root 0, bob "
                "1). 1 other job of user ann goes before it.");
    expect_compared(w, ann, "{\"running\":3}", "[{\"running\":0},{\"running\":1}]");
}

/* Of 8 cores and 4 GPUs a has 4 and 4 and is promised one of each, b is promised one of each: of 6 cores a deserves the 5
 * that b doesn't ask for, of 6 GPUs 2; b of 3 cores all, and of 2 GPUs.
 */
static void the_resource_that_is_told_is_the_dominant_one(void **state)
{
    struct sim_server *w =
        open_with(state, "resources: {nodes: 2, cores: 4, gpus: 2}\n"
                         "match: {policy: low}\n"
                         "server: {administrators: [ann], requests-per-second: unlimited}\n"
                         "shares: {resources: [core, gpu]}\n"
                         "default-queue: a\n"
                         "queues: {a: {shares: {weight: 1}}, b: {shares: {weight: 1}}}\n");
    static const char in_a[] = "{\"command\":[\"x\"],\"cores\":1,\"gpus\":1,\"duration\":\"2h\"}";
    for (int i = 0; i < 4; i++)
        submit_by(w, SIM_ANN, in_a);
    submit_by(w, SIM_BOB,
              "{\"command\":[\"x\"],\"cores\":1,\"gpus\":1,\"duration\":\"2h\",\"queue\":\"b\"}");
    submit_by(w, SIM_ANN, in_a);
    submit_by(w, SIM_BOB,
              "{\"command\":[\"x\"],\"cores\":2,\"gpus\":1,\"duration\":\"2h\",\"queue\":\"b\"}");
    int64_t last = submit_by(w, SIM_ANN, in_a);
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)last);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", path, NULL, NULL, NULL);
    const char *text = json_string_value(json_object_get(got, "text"));
    if (!strstr(text,
                " Queue a has received 5 of the 2 GPUs that it deserves: queue b goes first (1 "
                "of 2 GPUs)."))
        fail_msg("%s", text);
    json_decref(got);
    expect_compared(w, last, "{\"deserved\":2,\"received\":5,\"resource\":\"gpu\"}",
                    "[{\"deserved\":2,\"received\":1,\"resource\":\"gpu\"}]");
}

/* Ann has all nodes, and Bob the first promise. */
static void users_whose_job_is_due_earlier_go_first(void **state)
{
    struct sim_server *w = open_with(
        state, HEAD "shares: {resources: [core]}\n"
                    "queues: {a: {policy: easy, sla-waiting-time: 5h, shares: {by: user, order: "
                    "[sla, submit]}}}\n");
    static const char due[] =
        "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"deadline\":\"+3h\"}";
    for (int i = 0; i < 4; i++)
        submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, due);
    int64_t ann = submit_by(w, SIM_ANN, NODE), bob = submit_by(w, SIM_BOB, due);
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold." START
                " User ann has a first job with deadline in 5h: user bob of queue a goes first "
                "(deadline in 3h).");
    submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"deadline\":1}");
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold." START
                " 1 other job of user ann goes before it.");
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)bob);
    json_t *got = sim_server_ask(w, SIM_BOB, "GET", path, NULL, NULL, NULL);
    assert_true(json_number_value(json_object_get(got, "deadline")) ==
                json_number_value(json_object_get(got, "submit")) + 3 * 3600);
    json_decref(got);
}

/* Ann's gang has its min and grew to all nodes; Bob's job is one of no gang. Neither is promised anything. */
static void users_whose_gang_lacks_its_min_go_first(void **state)
{
    struct sim_server *w =
        open_with(state, HEAD "shares: {resources: [core]}\n"
                              "queues: {a: {policy: fcfs, shares: {by: user, order: "
                              "[gang, submit]}}}\n");
    submit_by(w, SIM_ANN,
              "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"gang\":6,\"min\":2}");
    submit_by(w, SIM_BOB, NODE);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", "/v1/jobs/1[4]/explain", NULL, NULL, NULL);
    const char *text = json_string_value(json_object_get(got, "text"));
    assert_non_null(strstr(text, " User ann has a first job whose gang has its min, job 1[4]: "
                                 "user bob of queue a goes first (job 2)."));
    json_decref(got);
}

/* Of 16 cores a, of weight 1, deserves 4 and b 12. A has three nodes and is promised one; B has one, and is
 * promised one.
 */
static void queues_with_less_of_what_they_deserve_go_first(void **state)
{
    struct sim_server *w = open_with(state, HEAD "shares: {resources: [core]}\n"
                                                 "default-queue: a\n"
                                                 "queues:\n"
                                                 "  a: {policy: easy, shares: {weight: 1}}\n"
                                                 "  b: {policy: easy, shares: {weight: 3}}\n");
    static const char in_b[] =
        "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"queue\":\"b\"}";
    for (int i = 0; i < 3; i++)
        submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_ANN, in_b);
    submit_by(w, SIM_ANN, NODE);
    int64_t a = submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_ANN, in_b);
    int64_t b = submit_by(w, SIM_ANN, in_b), last = submit_by(w, SIM_ANN, in_b);
    expect_said(w, a,
                "It waits for nodes that 4 other jobs hold." START
                " Queue a has received 16 of the 4 cores that it deserves: queue b goes first (8 "
                "of 12 cores).");
    expect_said(w, b,
                "It waits for nodes that 4 other jobs hold." START
                " Its share entitles it to what jobs 1, 2 and 3 have borrowed and give back when "
                "they end.");
    expect_said(w, last,
                "It waits for nodes that 4 other jobs hold." START
                " 1 other job of queue b goes before it."
                " Its share entitles it to what jobs 1, 2 and 3 have borrowed and give back when "
                "they end.");
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)a);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", path, NULL, NULL, NULL);
    json_t *turns = json_object_get(got, "turns");
    char *text = json_dumps(turns, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(
        text,
        "[{\"by\":\"share\",\"count\":1,\"first\":[\"b\"],\"first_have\":[{\"deserved\":12,"
        "\"received\":8,\"resource\":\"core\"}],\"kind\":\"queue\",\"own\":\"a\",\"own_has\":{"
        "\"deserved\":4,\"received\":16,\"resource\":\"core\"}}]");
    free(text);
    assert_int_equal(json_array_size(json_object_get(got, "entitled_to")), 0);
    json_decref(got);
}

/* With a half-life of an hour, who runs four cores for an hour has used 4 (1 - 1/2). */
static void users_who_have_used_less_go_first(void **state)
{
    struct sim_server *w = open_with(state, HEAD "shares: {resources: [core], half-life: 1h}\n"
                                                 "queues: {a: {policy: easy, shares: {by: user, "
                                                 "order: [usage, submit]}}}\n");
    int64_t first = submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"1h\"}");
    sim_server_wait(w, 3600 * SIM_SECOND);
    end(w, first, 0);
    submit_by(w, SIM_OWNER, "{\"command\":[\"x\"],\"nodes\":4,\"duration\":\"2h\"}");
    submit_by(w, SIM_ANN, NODE);
    int64_t ann = submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, NODE);
    expect_said(w, ann,
                "It waits for nodes that 1 other job holds." START
                " User ann has used 2.0 cores on average, with a half-life of 1h: user bob of "
                "queue a goes first (0.0).");
    expect_compared(w, ann, "{\"usage\":2,\"weight\":1}", "[{\"usage\":0,\"weight\":1}]");
}

/* Bob runs twelve cores for an hour in which nothing happens, and has used 12 (1 - 1/2) then; of Ann's 2 there are 1. So the
 * next turn is Ann's, and it is she who is told to go first. Of 16 cores the others deserve 6 each: Bob has 12, the owner 4
 * and a promise of 4.
 */
static void usage_is_told_as_of_now(void **state)
{
    struct sim_server *w = open_with(state, HEAD "shares: {resources: [core], half-life: 1h}\n"
                                                 "queues: {a: {policy: easy, shares: {by: user, "
                                                 "order: [usage, submit]}}}\n");
    int64_t first = submit_by(w, SIM_ANN, NODE);
    sim_server_wait(w, 3600 * SIM_SECOND);
    end(w, first, 0);
    for (int i = 0; i < 3; i++)
        submit_by(w, SIM_BOB, NODE);
    submit_by(w, SIM_OWNER, NODE);
    submit_by(w, SIM_OWNER, NODE); /* promised a time */
    int64_t ann = submit_by(w, SIM_ANN, NODE), bob = submit_by(w, SIM_BOB, NODE);
    sim_server_wait(w, 3600 * SIM_SECOND);
    expect_said(w, bob,
                "It waits for nodes that 4 other jobs hold. It will not start within 1h, unless "
                "jobs end earlier than planned. User bob has used 6.0 cores on average, with a "
                "half-life of 1h: user ann of queue a goes first (1.0).");
    expect_said(w, ann,
                "It waits for nodes that 4 other jobs hold. It will not start within 1h, unless "
                "jobs end earlier than planned. Its share entitles it to what jobs 2, 3, 4 and "
                "5 have borrowed and give back when they end.");
}

/* Four cores for a hundredth of the half-life: 4 * (1 - 2^-0.01). */
static void little_usage_is_told_with_its_digits(void **state)
{
    struct sim_server *w = open_with(state, HEAD "shares: {resources: [core], half-life: 1h}\n"
                                                 "queues: {a: {policy: easy, shares: {by: user, "
                                                 "order: [usage, submit]}}}\n");
    int64_t first = submit_by(w, SIM_ANN, NODE);
    sim_server_wait(w, 36 * SIM_SECOND);
    end(w, first, 0);
    submit_by(w, SIM_OWNER, "{\"command\":[\"x\"],\"nodes\":4,\"duration\":\"2h\"}");
    submit_by(w, SIM_ANN, NODE);
    int64_t ann = submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, NODE);
    expect_said(w, ann,
                "It waits for nodes that 1 other job holds." START
                " User ann has used 0.028 cores on average, with a half-life of 1h: user bob of "
                "queue a goes first (0.0).");
}

/* An hour of four cores and a node. The longest half-life is 2^46 us, 19546.9 h: 5 (1 - 2^(-1/19546.9)). Of GPUs there are
 * none.
 */
static void usage_of_several_resources_is_told_in_units(void **state)
{
    struct sim_server *w = open_with(
        state, HEAD "shares: {resources: [core, gpu, node], half-life: unlimited, order: [usage, "
                    "submit]}\n"
                    "default-queue: a\n"
                    "queues: {a: {policy: easy}, b: {policy: easy, shares: {weight: 2}}}\n");
    static const char in_b[] =
        "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"queue\":\"b\"}";
    int64_t first = submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"1h\"}");
    sim_server_wait(w, 3600 * SIM_SECOND);
    end(w, first, 0);
    submit_by(w, SIM_OWNER, "{\"command\":[\"x\"],\"nodes\":4,\"duration\":\"2h\"}");
    submit_by(w, SIM_ANN, NODE);
    int64_t ann = submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, in_b); /* promised a time, as is a's first */
    submit_by(w, SIM_BOB, in_b);
    expect_said(w, ann,
                "It waits for nodes that 1 other job holds." START
                " Queue a has used 0.00018 units of cores and nodes together on average, with an "
                "unlimited half-life: queue b goes first (0.0 by weight 2).");
}

/* Each level has its own comparators: of divisions, of queues in one, of users in one. */
static void each_level_says_what_decides(void **state)
{
    struct sim_server *w = open_with(
        state, HEAD "shares:\n"
                    "  resources: [core]\n"
                    "  order: [drf, submit]\n"
                    "  divisions: {lab: {order: [priority, submit]}}\n"
                    "default-queue: a\n"
                    "queues:\n"
                    "  a: {policy: easy, shares: {under: lab, by: user, order: [submit]}}\n"
                    "  b: {policy: easy, shares: {under: lab}}\n"
                    "  c: {policy: easy}\n");
    submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":4,\"duration\":\"2h\"}");
    submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, NODE);
    int64_t ann = submit_by(w, SIM_ANN,
                            "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"priority\":2}");
    static const char in_b[] = "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"queue\":"
                               "\"b\",\"priority\":5}";
    static const char in_c[] =
        "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"queue\":\"c\"}";
    submit_by(w, SIM_ANN, in_b); /* promised a time, as is c's first */
    submit_by(w, SIM_ANN, in_b);
    submit_by(w, SIM_BOB, in_c);
    submit_by(w, SIM_BOB, in_c);
    /* Queue a stands for the first job in it by priority, although Bob's turn is first there. */
    /* Lab has 16 cores and is promised two nodes of the 4 nodes, c is promised one. */
    expect_said(w, ann,
                "It waits for nodes that 1 other job holds." START
                " Division lab has received 24 of the machine's 16 cores: queue c goes first (4 "
                "of 16 cores)."
                " Queue a has a first job of priority 2: queue b of division lab goes first (5)."
                " User ann came later, as its first job is job 4: user bob of queue a goes first "
                "(job 3).");
    expect_compared(w, ann, "{\"received\":24,\"resource\":\"core\",\"total\":16,\"weight\":1}",
                    "[{\"received\":4,\"resource\":\"core\",\"total\":16,\"weight\":1}]");
}

#define TEST(name) cmocka_unit_test_teardown(name, close_world)

/* Of four nodes a is meant to have 2, b and c 1 each. Bob runs on 3 and root on 1; Ann's first job is promised one. */
static void classes_say_who_has_the_next_worker(void **state)
{
    struct sim_server *w =
        open_with(state, HEAD "shares: {resources: [node]}\n"
                              "queues: {q: {policy: easy, shares: {by: class, classes: {percent: "
                              "{a: 50, b: 25, c: 25}, worker: node, default: c, patterns: "
                              "[{match: ann, class: a}, {match: bob, class: b}]}}}}\n");
    for (int i = 0; i < 3; i++)
        submit_by(w, SIM_BOB, NODE);
    submit_by(w, 0, NODE);
    submit_by(w, SIM_ANN, NODE);
    int64_t second = submit_by(w, SIM_ANN, NODE), third = submit_by(w, SIM_ANN, NODE);
    int64_t other = submit_by(w, SIM_BOB, NODE);
    expect_said(
        w, second,
        "It waits for nodes that 4 other jobs hold." START
        " Its class a is meant to have 2 workers (50%), runs on 0 and is promised 1. The next "
        "worker is of this class. Class b has borrowed 2 workers.");
    expect_said(
        w, third,
        "It waits for nodes that 4 other jobs hold." START
        " Its class a is meant to have 2 workers (50%), runs on 0 and is promised 1. The next "
        "worker is of this class. 1 other job of class a goes before it. Class b has borrowed "
        "2 workers.");
    expect_said(
        w, other,
        "It waits for nodes that 4 other jobs hold." START
        " Its class b is meant to have 1 worker (25%) and runs on 3. The next worker is of "
        "class a, which is meant to have 2 workers (50%), runs on 0 and is promised 1. Class b "
        "has borrowed 2 workers.");
}

/* Three nodes are taken for 2 h, and all four promised after that: what would end before starts, and then does. */
static void less_starts_beside_a_promise(void **state)
{
    struct sim_server *w =
        open_with(state, HEAD "shares: {resources: [core]}\n"
                              "queues: {a: {policy: easy, shares: {by: user}}}\n");
    for (int i = 0; i < 3; i++)
        submit_by(w, SIM_ANN, NODE);
    submit_by(w, SIM_BOB, "{\"command\":[\"x\"],\"nodes\":4,\"duration\":\"2h\"}");
    int64_t id = submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"4h\"}");
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)id);
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", path, NULL, NULL, NULL);
    const char *text = json_string_value(json_object_get(got, "text"));
    if (!strstr(text, " It would start now with a time limit of "))
        fail_msg("%s", text);
    json_decref(got);
    snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)id);
    assert_int_equal(asked_by(w, SIM_ANN, "PATCH", path, "{\"duration\":\"1h\"}"), 200);
    sim_server_turn(w, NULL);
    expect_state(w, id, "running");
}

/* What a queue asks for, in cores, and how many of its members wait. */
static void expect_demand(struct sim_server *w, const char *queue, int64_t cores, int64_t waiting)
{
    json_t *got = sim_server_ask(w, SIM_ANN, "GET", "/v1/shares", NULL, NULL, NULL), *node;
    size_t i, found = 0;
    json_array_foreach (json_object_get(got, "shares"), i, node) {
        const char *name = json_string_value(json_object_get(node, "name"));
        if (!name || strcmp(name, queue) != 0)
            continue;
        const json_t *demand = json_object_get(node, "demand");
        assert_int_equal(json_integer_value(json_object_get(demand, "core")), cores);
        assert_int_equal(json_integer_value(json_object_get(node, "waiting")), waiting);
        found++;
    }
    assert_int_equal(found, 1);
    json_decref(got);
}

/* Four of ten members run, the next one is promised the end of the first, and five wait: all ask for their cores, but
 * for one while it is held, which then waits by itself until a restart. Where one at a time may run, others ask for nothing.
 */
static void members_ask_behind_a_promise(void **state)
{
    struct sim_server *w = open_with(state, HEAD "shares: {resources: [core]}\n"
                                                 "queues: {a: {policy: easy, shares: {by: user}},"
                                                 " b: {policy: easy}}\ndefault-queue: a\n");
    submit_by(w, SIM_ANN, "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"array\":10}");
    expect_demand(w, "a", 40, 5);
    assert_int_equal(asked_by(w, SIM_ANN, "PATCH", "/v1/jobs/1.7", "{\"hold\":true}"), 200);
    sim_server_turn(w, NULL);
    expect_demand(w, "a", 36, 4);
    assert_int_equal(asked_by(w, SIM_ANN, "PATCH", "/v1/jobs/1.7", "{\"hold\":false}"), 200);
    sim_server_turn(w, NULL);
    expect_demand(w, "a", 40, 5);
    sim_server_close(w);
    assert_int_equal(sim_server_open(w, NULL), 0);
    expect_demand(w, "a", 40, 5);
    submit_by(w, SIM_BOB,
              "{\"command\":[\"x\"],\"nodes\":1,\"duration\":\"2h\",\"queue\":\"b\","
              "\"array\":\"0-9%1\"}");
    expect_demand(w, "b", 4, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(members_ask_behind_a_promise),
        TEST(users_with_fewer_running_jobs_go_first),
        TEST(the_resource_that_is_told_is_the_dominant_one),
        TEST(less_starts_beside_a_promise),
        TEST(classes_say_who_has_the_next_worker),
        TEST(queues_with_less_of_what_they_deserve_go_first),
        TEST(users_whose_job_is_due_earlier_go_first),
        TEST(users_whose_gang_lacks_its_min_go_first),
        TEST(users_who_have_used_less_go_first),
        TEST(usage_is_told_as_of_now),
        TEST(little_usage_is_told_with_its_digits),
        TEST(usage_of_several_resources_is_told_in_units),
        TEST(each_level_says_what_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
