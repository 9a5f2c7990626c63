/* What administrators change: queues, resources, the configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "server_scene.h"

static void queues_and_resources_are_closed_for_good(void **state)
{
    struct sim_server *w = *state;
    tell(w, "PATCH", "/v1/queues/long", "{\"started\":false}", 200);
    tell(w, "PATCH", "/v1/queues/none", "{\"started\":false}", 404);
    tell(w, "PATCH", "/v1/resources",
         "{\"resources\":\"node0\",\"status\":\"drained\",\"reason\":\"fan\"}", 200);
    tell(w, "PATCH", "/v1/resources", "{\"resources\":\"node7\",\"status\":\"up\"}", 404);
    reopen(w, true);
    int64_t id = submit(w, "{\"command\":[\"x\"],\"queue\":\"long\"}");
    expect_state(w, id, "pending");
    id = submit(w, ALL);
    expect_state(w, id, "pending");
    json_t *got = ask(w, "GET", "/v1/queues", NULL, 200);
    const json_t *queue = json_array_get(json_object_get(got, "queues"), 1);
    assert_true(json_is_false(json_object_get(queue, "started")));
    json_decref(got);
    got = ask(w, "GET", "/v1/resources", NULL, 200);
    assert_int_equal(json_integer_value(json_object_get(got, "cores")), 8);
    json_decref(got);
    tell(w, "PATCH", "/v1/resources", "{\"resources\":\"node0\",\"status\":\"up\"}", 200);
    expect_state(w, id, "running");
}

static void a_full_disk_keeps_no_configuration_out(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}, extra: {}}\ndefault-queue: batch\n");
    sim_disk_limit(w->disk, sim_disk_size(w->disk) / 2);
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    sim_disk_limit(w->disk, -1);
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
}

static void configurations_are_reloaded_as_a_whole(void **state)
{
    struct sim_server *w = *state;
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}, extra: {}}\ndefault-queue: batch\n");
    tell(w, "POST", "/v1/server/reload", NULL, 200);
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {}}\n");
    tell(w, "POST", "/v1/server/reload", NULL, 400); /* extra has a job */
    sim_server_configure(w, "nonsense");
    tell(w, "POST", "/v1/server/reload", NULL, 400);
    /* The limit would limit nothing. */
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}\n"
                            "queues: {batch: {limits: {user: {cores: 1}}}, extra: {}}\n"
                            "default-queue: batch\n");
    tell(w, "POST", "/v1/server/reload", NULL, 400);
    sim_server_configure(w, "resources: {nodes: 2, cores: 4, gpus: 2, memory: 8, gpu-memory: 4}\n"
                            "queues: {batch: {}, extra: {}}\ndefault-queue: batch\n");
    tell(w, "POST", "/v1/server/reload", NULL, 400); /* another machine */
    submit(w, "{\"command\":[\"x\"],\"queue\":\"extra\"}");
    tell(w, "POST", "/v1/server/stop", NULL, 200);
    assert_true(server_is_stopping(w->server));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(queues_and_resources_are_closed_for_good),
        TEST(a_full_disk_keeps_no_configuration_out),
        TEST(configurations_are_reloaded_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
