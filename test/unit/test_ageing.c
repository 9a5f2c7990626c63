/* The policy ageing in named queues: since when a job has waited, another configuration, and records. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "berth/sched_snapshot.h"
#include "config/config.h"

#define HOUR 3600

#define SPEC                                                                                       \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":["   \
    "{\"type\":\"core\",\"count\":2}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\","           \
    "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{}}}"

struct world {
    struct config *config;
    match_t *machine;
    sched_t *s;
};

static struct config *read_config(const char *policy)
{
    char text[120];
    berth_error_t err;
    snprintf(text, sizeof(text), "resources: {nodes: 1, cores: 2}\nqueues: {q: {policy: %s}}\n",
             policy);
    struct config *config = config_read("c", text, strlen(text), 1, &err);
    assert_non_null(config);
    return config;
}

static void world_open(struct world *w, const char *policy)
{
    berth_error_t err;
    w->config = read_config(policy);
    resource_graph_t *graph = config_make_nodes(&w->config->resources, &err);
    w->machine = match_create(graph, &w->config->match, &err);
    w->s = sched_create(w->machine, &w->config->sched, &err);
    assert_non_null(w->s);
}

static void world_close(struct world *w)
{
    sched_destroy(w->s);
    match_destroy(w->machine);
    config_destroy(w->config);
}

/* A job for the whole machine that came at another time than now. */
static sched_job_t submit(sched_t *s, int64_t now, const char *id, int64_t priority,
                          int64_t submitted)
{
    struct sched_request request = {.duration = 100,
                                    .priority = priority,
                                    .id = id,
                                    .submitted = submitted,
                                    .jobspec = SPEC,
                                    .jobspec_length = strlen(SPEC)};
    return sched_submit(s, now, &request);
}

static void pass(sched_t *s, int64_t now)
{
    const struct sched_decision *decisions;
    size_t n;
    assert_int_equal(sched_pass(s, now, false, &decisions, &n), 0);
    assert_true(sched_check(s));
}

static void a_job_may_have_come_before(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "ageing");
    sched_job_t running = submit(w.s, 1, "r", 0, 0);
    pass(w.s, 1);
    sched_job_t a = submit(w.s, 9 * HOUR, "a", 1, 0);        /* rank: 8 hours */
    sched_job_t b = submit(w.s, 9 * HOUR, "b", 0, 8 * HOUR); /* as much, and later */
    sched_job_t c = submit(w.s, 9 * HOUR, "c", 0, 8 * HOUR - 1);
    errno = 0;
    assert_int_equal(submit(w.s, 9 * HOUR, "d", 0, 9 * HOUR + 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(submit(w.s, 9 * HOUR, "d", 0, -1), -1);
    const sched_job_t order[] = {running, c, a, b};
    int64_t now = 9 * HOUR;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        pass(w.s, now);
        assert_int_equal(sched_state(w.s, order[i]), SCHED_RUNNING);
        now += 100;
        assert_int_equal(sched_finish(w.s, now, order[i], true), 0);
    }
    world_close(&w);
}

/* Of those that hold no promise the one goes first by its priority, the other by how long it has waited. */
static void another_configuration_is_another_order(void **state)
{
    struct world w;
    berth_error_t err;
    (void)state;
    world_open(&w, "easy");
    submit(w.s, 2 * HOUR, "r", 0, 0);
    sched_job_t holder = submit(w.s, 2 * HOUR, "holder", 2, 0);
    sched_job_t patient = submit(w.s, 2 * HOUR, "patient", 0, 10);
    sched_job_t high = submit(w.s, 2 * HOUR, "high", 1, 0);
    pass(w.s, 2 * HOUR);
    assert_int_equal(sched_state(w.s, holder), SCHED_RUNNING);
    assert_int_equal(sched_state(w.s, high), SCHED_RESERVED);
    struct config *other = read_config("ageing");
    assert_int_equal(sched_configure(w.s, 2 * HOUR, &other->sched, &err), 0);
    pass(w.s, 2 * HOUR);
    assert_int_equal(sched_state(w.s, high), SCHED_RESERVED); /* a promise is kept */
    assert_int_equal(sched_finish(w.s, 2 * HOUR + 100, holder, true), 0);
    pass(w.s, 2 * HOUR + 100);
    assert_int_equal(sched_state(w.s, high), SCHED_RUNNING);
    assert_int_equal(sched_state(w.s, patient), SCHED_RESERVED); /* and r, as old as high, waits */
    config_destroy(other);
    world_close(&w);
}

static void a_restored_job_has_waited(void **state)
{
    struct world old, new;
    struct sched_record record;
    berth_error_t err;
    (void)state;
    world_open(&old, "ageing");
    world_open(&new, "ageing");
    sched_job_t patient = submit(old.s, 10, "patient", 0, 0);
    assert_int_equal(sched_record(old.s, patient, &record), 0);
    patient = sched_restore(new.s, 2 * HOUR, &record, &err);
    assert_true(patient >= 0);
    sched_job_t high = submit(new.s, 2 * HOUR, "high", 1, 0);
    pass(new.s, 2 * HOUR);
    assert_int_equal(sched_state(new.s, patient), SCHED_RUNNING);
    assert_int_equal(sched_state(new.s, high), SCHED_RESERVED);
    world_close(&old);
    world_close(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_may_have_come_before),
        cmocka_unit_test(another_configuration_is_another_order),
        cmocka_unit_test(a_restored_job_has_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
