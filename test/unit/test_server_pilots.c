/* Nodes that are lent join together: the machine changes once for all that have come, and their statuses once for each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "engine/cluster/node.h"
#include "server_scene.h"

enum { NODES = 512, CORES = 4 };

/* ---- Calls are counted ---- */

static int attached, told;
static bool fails; /* no graph can be attached */

int __real_sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length,
                        berth_error_t *err);
int __wrap_sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length,
                        berth_error_t *err);
int __real_sched_set_status(sched_t *s, int64_t now, const char *resources,
                            enum resource_status status, berth_error_t *err);
int __wrap_sched_set_status(sched_t *s, int64_t now, const char *resources,
                            enum resource_status status, berth_error_t *err);

int __wrap_sched_attach(sched_t *s, int64_t now, const char *jgf, size_t length, berth_error_t *err)
{
    attached++;
    if (fails) {
        err->text[0] = '\0';
        return -1;
    }
    return __real_sched_attach(s, now, jgf, length, err);
}

int __wrap_sched_set_status(sched_t *s, int64_t now, const char *resources,
                            enum resource_status status, berth_error_t *err)
{
    told++;
    return __real_sched_set_status(s, now, resources, status, err);
}

/* ---- An engine with nodes ---- */

static struct engine_node list[NODES];
static struct node brings[NODES];
static char ids[NODES][24], names[NODES][24], any[] = "", *cores[CORES] = {any, any, any, any};
static size_t come;
static uint64_t changes;

static int invite(struct engine *e, uint64_t pilot, char *folder, berth_error_t *err)
{
    (void)e;
    (void)pilot;
    (void)err;
    snprintf(folder, PATH_MAX, "/b/pilots/1");
    return 0;
}

static size_t nodes_of_engine(struct engine *e, const struct engine_node **nodes, uint64_t *change)
{
    (void)e;
    *nodes = list;
    *change = changes;
    return come;
}

static void dismiss(struct engine *e, uint64_t pilot)
{
    (void)e;
    (void)pilot;
}

static struct engine_ops with_nodes;

static void add_pilot(struct sim_server *w, const char *body)
{
    with_nodes = *w->engine->engine.ops;
    with_nodes.invite = invite;
    with_nodes.dismiss = dismiss;
    with_nodes.nodes = nodes_of_engine;
    w->engine->engine.ops = &with_nodes;
    come = 0;
    tell(w, "POST", "/v1/pilots", body, 200);
}

static void have_nodes(struct sim_server *w)
{
    add_pilot(w, "{\"kind\":\"slurm\",\"nodes\":512}");
}

/* So many more come; each second one has a name that another one has, too, if `alike`. */
static void nodes_come(struct sim_server *w, size_t n, bool alike)
{
    for (size_t i = come; i < come + n; i++) {
        snprintf(ids[i], sizeof(ids[i]), "1/x%zu", i);
        snprintf(names[i], sizeof(names[i]), "x%zu", alike ? i / 2 : i);
        brings[i] = (struct node){.name = names[i],
                                  .boot = any,
                                  .job = any,
                                  .address = any,
                                  .cores = cores,
                                  .n_cores = CORES};
        list[i] = (struct engine_node){.id = ids[i], .pilot = 1, .brings = &brings[i], .up = true};
    }
    come += n;
    changes++;
    attached = told = 0;
    sim_server_turn(w, NULL);
}

/* A job that only fits where nodes may come is refused, and is told of those: what they have is not known yet. */
static void before_they_come(void **state)
{
    struct sim_server *w = *state;
    expect_refused(w, "{\"command\":[\"true\"],\"nodes\":3}",
                   "unsatisfiable: asks for 3 nodes, the machine has 2");
    have_nodes(w);
    expect_refused(
        w, "{\"command\":[\"true\"],\"nodes\":3}",
        "unsatisfiable: asks for 3 nodes, the machine has 2; what pilot 1 brings is known "
        "once its nodes have come: submit it again then");
    nodes_come(w, 1, false);
    expect_state(w, submit(w, "{\"command\":[\"true\"],\"nodes\":3}"), "running");
    expect_refused(w, "{\"command\":[\"true\"],\"nodes\":4}",
                   "unsatisfiable: asks for 4 nodes, the machine has 3");
}

#define OF_NODES(n) "{\"command\":[\"true\"],\"nodes\":" #n "}"
#define KNOWN       "{\"kind\":\"slurm\",\"nodes\":4,\"cores\":4}"

static void expect_explained(struct sim_server *w, int64_t id, const char *words)
{
    char path[64];
    snprintf(path, sizeof(path), "/v1/jobs/%lld/explain", (long long)id);
    json_t *all = ask(w, "GET", path, NULL, 200);
    const char *text = json_string_value(json_object_get(all, "text"));
    assert_non_null(text);
    if (!strstr(text, words))
        print_error("'%s' is not in '%s'\n", words, text);
    assert_non_null(strstr(text, words));
    json_decref(all);
}

/* What the nodes of a pilot have is known: jobs that only fit with them wait, are told which, and start once they have come. */
static void wait_for_them(void **state)
{
    struct sim_server *w = *state;
    add_pilot(w, KNOWN);
    int64_t five = submit(w, OF_NODES(5));
    expect_state(w, submit(w, OF_NODES(1)), "running");
    expect_refused(w, OF_NODES(7),
                   "unsatisfiable: asks for 7 nodes, the machine has 6, with the nodes of pilot 1 "
                   "that have not come yet");
    sim_server_turn(w, NULL);
    expect_state(w, five, "pending");
    expect_explained(w, five,
                     "What it waits for may come with pilot 1, which Slurm has been asked for");
    reopen(w, true);
    expect_state(w, five, "pending");
    nodes_come(w, 2, false);
    sim_server_turn(w, NULL);
    expect_state(w, five, "pending");
    expect_explained(
        w, five, "What it waits for may come with pilot 1, of which not all nodes have come yet.");
    expect_refused(w, OF_NODES(7),
                   "unsatisfiable: asks for 7 nodes, the machine has 6, with the nodes of pilot 1 "
                   "that have not come yet");
    nodes_come(w, 2, false);
    sim_server_turn(w, NULL);
    expect_state(w, five, "running");
    expect_refused(w, OF_NODES(7), "unsatisfiable: asks for 7 nodes, the machine has 6");
}

/* It goes without having come: what waited for it alone can never run. */
static void never_come(void **state)
{
    struct sim_server *w = *state;
    add_pilot(w, KNOWN);
    int64_t five = submit(w, OF_NODES(5)), two = submit(w, OF_NODES(2));
    tell(w, "DELETE", "/v1/pilots/1", NULL, 200);
    sim_server_turn(w, NULL);
    expect_state(w, five, "failed");
    expect_text(w, five, "reason", "\"unsatisfiable: asks for 5 nodes, the machine has 2\"");
    expect_state(w, two, "running");
    expect_refused(w, OF_NODES(5), "unsatisfiable: asks for 5 nodes, the machine has 2");
    w->world.has_slurm = true;
    reopen(w, false);
    expect_refused(w, OF_NODES(5),
                   "unsatisfiable: asks for 5 nodes, the machine has 2; berth pilot add borrows "
                   "nodes from Slurm");
}

/* Others of it go on being waited for, but not those of one that ends. */
static void ends_before(void **state)
{
    struct sim_server *w = *state;
    add_pilot(w, KNOWN);
    int64_t three = submit(w, OF_NODES(3)), five = submit(w, OF_NODES(5));
    nodes_come(w, 1, false);
    sim_server_turn(w, NULL);
    expect_state(w, three, "running");
    expect_state(w, five, "pending");
    tell(w, "PATCH", "/v1/pilots/1", "{\"drain\":true}", 200);
    sim_server_turn(w, NULL);
    expect_state(w, three, "running");
    expect_state(w, five, "failed");
}

/* They have less than was said: what only fits on what was said can never run. */
static void have_less(void **state)
{
    struct sim_server *w = *state;
    add_pilot(w, "{\"kind\":\"slurm\",\"nodes\":1,\"cores\":8}");
    int64_t wide = submit(w, "{\"command\":[\"true\"],\"cores\":8,\"nodes\":1}");
    sim_server_turn(w, NULL);
    expect_state(w, wide, "pending");
    expect_explained(w, wide,
                     "It waits for nodes: they are set aside or reserved for others, or have not "
                     "come yet. ");
    nodes_come(w, 1, false);
    sim_server_turn(w, NULL);
    expect_state(w, wide, "failed");
}

static void all_at_once(void **state)
{
    struct sim_server *w = *state;
    have_nodes(w);
    nodes_come(w, NODES, false);
    assert_int_equal(attached, 1);
    assert_in_range(told, 1, 2); /* they are down, then up */
    int64_t job = submit(w, "{\"command\":[\"true\"],\"nodes\":514}");
    sim_server_turn(w, NULL);
    expect_state(w, job, "running");
}

static void some_at_a_time(void **state)
{
    struct sim_server *w = *state;
    have_nodes(w);
    for (size_t n = 1; come < NODES; n *= 2) {
        nodes_come(w, n < NODES - come ? n : NODES - come, false);
        assert_int_equal(attached, 1);
        assert_in_range(told, 1, 2);
    }
    nodes_come(w, 0, false); /* nothing is new */
    assert_int_equal(attached, 0);
    assert_int_equal(told, 0);
}

static void expect_pilot(struct sim_server *w, const char *state)
{
    json_t *all = ask(w, "GET", "/v1/pilots", NULL, 200);
    const json_t *pilot = json_array_get(json_object_get(all, "pilots"), 0);
    assert_string_equal(json_string_value(json_object_get(pilot, "state")), state);
    json_decref(all);
}

/* One of which no node is heard of is not up, whatever Slurm says of its job. */
static void states(void **state)
{
    struct sim_server *w = *state;
    have_nodes(w);
    expect_pilot(w, "queued");
    nodes_come(w, 2, false);
    expect_pilot(w, "up");
    list[0].up = false;
    nodes_come(w, 0, false);
    expect_pilot(w, "up");
    list[1].up = false;
    nodes_come(w, 0, false);
    expect_pilot(w, "down");
    list[1].up = true;
    nodes_come(w, 0, false);
    expect_pilot(w, "up");
}

static void expect_reason(struct sim_server *w, int64_t id, const char *reason)
{
    json_t *all = ask(w, "GET", "/v1/jobs", NULL, 200);
    const json_t *job;
    size_t i;
    json_array_foreach (json_object_get(all, "jobs"), i, job) {
        if (json_integer_value(json_object_get(job, "id")) == id)
            assert_string_equal(json_string_value(json_object_get(job, "reason")), reason);
    }
    json_decref(all);
}

/* What becomes of jobs by a rule is kept for listings, whatever the server has to note meanwhile. */
static void kept_over_a_notice(void **state)
{
    struct sim_server *w = *state;
    have_nodes(w);
    tell(w, "POST", "/v1/pilots/auto", "{\"kind\":\"slurm\",\"max_nodes\":3,\"time\":3600}", 200);
    submit(w, "{\"command\":[\"true\"],\"nodes\":2,\"duration\":3600}");
    submit(w,
           "{\"command\":[\"true\"],\"nodes\":1,\"duration\":600}"); /* which is promised a time */
    int64_t waits = submit(w, "{\"command\":[\"true\"],\"nodes\":1,\"duration\":600}");
    sim_server_turn(w, NULL);
    tell(w, "GET", "/v1/pilots/auto", NULL, 200);
    expect_reason(w, waits, "pilot 1");
    fails = true;
    nodes_come(w, 1, false);
    fails = false;
    expect_reason(w, waits, "pilot 1");
}

/* Of two with one name the second one is called otherwise. */
static void same_names(void **state)
{
    struct sim_server *w = *state;
    have_nodes(w);
    nodes_come(w, 4, true);
    assert_int_equal(attached, 1);
    tell(w, "PATCH", "/v1/resources", "{\"resources\":\"x0,x1,x0.1,x1.1\",\"status\":\"drained\"}",
         200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(before_they_come, open_world, close_world),
        cmocka_unit_test_setup_teardown(wait_for_them, open_world, close_world),
        cmocka_unit_test_setup_teardown(never_come, open_world, close_world),
        cmocka_unit_test_setup_teardown(ends_before, open_world, close_world),
        cmocka_unit_test_setup_teardown(have_less, open_world, close_world),
        cmocka_unit_test_setup_teardown(all_at_once, open_world, close_world),
        cmocka_unit_test_setup_teardown(some_at_a_time, open_world, close_world),
        cmocka_unit_test_setup_teardown(states, open_world, close_world),
        cmocka_unit_test_setup_teardown(kept_over_a_notice, open_world, close_world),
        cmocka_unit_test_setup_teardown(same_names, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
