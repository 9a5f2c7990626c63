/* What a gang holds that is promised a time, by host: all that its members will have, each host once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_query.h"
#include "fixture/world.h"

static const char text[] = "resources: {nodes: 2, cores: 4, gpus: 1, memory: 8, gpu-memory: 8}\n"
                           "match: {policy: low}\n"
                           "queues:\n"
                           "  a: {policy: easy}\n";

/* One job has all, and a gang of which each member asks for that is promised the time of its end. Returns it. */
static sched_job_t promise(struct world *w, const char *resources, uint32_t members)
{
    char spec[1000];
    struct sched_request whole = {.id = "whole", .queue = "a", .duration = 100};
    struct sched_request gang = {.id = "g", .queue = "a", .duration = 100, .members = members};
    const char *format =
        "{\"version\":9999,\"resources\":[%s],\"tasks\":[{\"command\":[\"x\"],"
        "\"slot\":\"t\",\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{}}}";
    world_open(w, text);
    snprintf(spec, sizeof(spec), format,
             "{\"type\":\"slot\",\"count\":2,\"label\":\"t\",\"with\":[{\"type\":\"node\","
             "\"count\":1,\"exclusive\":true}]}");
    whole.jobspec = spec;
    whole.jobspec_length = strlen(spec);
    assert_true(sched_submit(w->sched, 0, &whole) >= 0);
    world_pass(w, 0);
    snprintf(spec, sizeof(spec), format, resources);
    gang.jobspec = spec;
    gang.jobspec_length = strlen(spec);
    gang.min = members;
    sched_job_t g = sched_submit(w->sched, 1, &gang);
    assert_true(g >= 0);
    world_pass(w, 1);
    assert_int_equal(sched_state(w->sched, g), SCHED_RESERVED);
    return g;
}

static void has_range(const struct resource_range *range, size_t n, uint32_t first, uint32_t last)
{
    assert_int_equal(n, 1);
    assert_int_equal(range[0].first, first);
    assert_int_equal(range[0].last, last);
}

/* Three members of two cores and 1 GB: two of them on the first node, and one on the other. */
static void hosts_that_members_share_are_one(void **state)
{
    (void)state;
    struct world w;
    struct sched_allocation a;
    sched_job_t g =
        promise(&w,
                "{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"slot\",\"count\":1,"
                "\"label\":\"t\",\"with\":[{\"type\":\"core\",\"count\":2},"
                "{\"type\":\"memory\",\"count\":1}]}]}",
                3);
    assert_int_equal(sched_allocation(w.sched, g, &a), 0);
    assert_int_equal(a.n_hosts, 2);
    assert_string_equal(a.hosts[0].name, "node0");
    assert_int_equal(a.hosts[0].rank, 0);
    has_range(a.hosts[0].cores, a.hosts[0].n_cores, 0, 3);
    assert_int_equal(a.hosts[0].memory, 2);
    assert_int_equal(a.hosts[0].n_gpus, 0);
    assert_string_equal(a.hosts[1].name, "node1");
    assert_int_equal(a.hosts[1].rank, 1);
    has_range(a.hosts[1].cores, a.hosts[1].n_cores, 0, 1);
    assert_int_equal(a.hosts[1].memory, 1);
    world_close(&w);
}

/* Each member asks for 3 GB of a GPU of 8: two share the first one, and the third has a part of the other. */
static void gpus_that_members_share_are_one(void **state)
{
    (void)state;
    struct world w;
    struct sched_allocation a;
    sched_job_t g =
        promise(&w,
                "{\"type\":\"node\",\"count\":1,\"with\":[{\"type\":\"slot\",\"count\":1,"
                "\"label\":\"t\",\"with\":[{\"type\":\"core\",\"count\":1}]},{\"type\":\"gpu\","
                "\"count\":1,\"exclusive\":false,\"with\":[{\"type\":\"gpu-memory\","
                "\"count\":3072,\"exclusive\":true}]}]}",
                3);
    assert_int_equal(sched_allocation(w.sched, g, &a), 0);
    assert_int_equal(a.n_hosts, 2);
    has_range(a.hosts[0].cores, a.hosts[0].n_cores, 0, 1);
    has_range(a.hosts[0].gpus, a.hosts[0].n_gpus, 0, 0);
    assert_int_equal(a.hosts[0].n_shared, 1);
    assert_int_equal(a.hosts[0].of_gpus, 6144);
    has_range(a.hosts[1].cores, a.hosts[1].n_cores, 0, 0);
    has_range(a.hosts[1].gpus, a.hosts[1].n_gpus, 0, 0);
    assert_int_equal(a.hosts[1].n_shared, 1);
    assert_int_equal(a.hosts[1].of_gpus, 3072);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_members_share_are_one),
        cmocka_unit_test(gpus_that_members_share_are_one),
    };
    return cmocka_run_group_tests_name("gang_holds", tests, NULL, NULL);
}
