/* The policy ageing in named queues: since when a job has waited, another configuration, and records. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "berth/sched_snapshot.h"
#include "fixture/world.h"

#define HOUR 3600

#define QUEUE(policy) "resources: {nodes: 1, cores: 2}\nqueues: {q: {policy: " policy "}}\n"

/* A job for the whole machine that came at another time than now. */
static sched_job_t submit(struct world *w, int64_t now, const char *id, int64_t priority,
                          int64_t submitted)
{
    return world_submit(
        w, now, 2, (struct sched_request){.priority = priority, .id = id, .submitted = submitted});
}

static void a_job_may_have_come_before(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, QUEUE("ageing"));
    sched_job_t running = submit(&w, 1, "r", 0, 0);
    world_pass(&w, 1);
    sched_job_t a = submit(&w, 9 * HOUR, "a", 1, 0);        /* rank: 8 hours */
    sched_job_t b = submit(&w, 9 * HOUR, "b", 0, 8 * HOUR); /* as much, and later */
    sched_job_t c = submit(&w, 9 * HOUR, "c", 0, 8 * HOUR - 1);
    errno = 0;
    assert_int_equal(submit(&w, 9 * HOUR, "d", 0, 9 * HOUR + 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(submit(&w, 9 * HOUR, "d", 0, -1), -1);
    const sched_job_t order[] = {running, c, a, b};
    int64_t now = 9 * HOUR;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        world_pass(&w, now);
        assert_int_equal(sched_state(w.sched, order[i]), SCHED_RUNNING);
        now += 100;
        assert_int_equal(sched_finish(w.sched, now, order[i], true), 0);
    }
    world_close(&w);
}

/* The one goes first by its priority, the other by how long it has waited. */
static void another_configuration_is_another_order(void **state)
{
    struct world w;
    berth_error_t err;
    (void)state;
    world_open(&w, QUEUE("easy"));
    submit(&w, 2 * HOUR, "r", 0, 0);
    sched_job_t holder = submit(&w, 2 * HOUR, "holder", 2, 0);
    sched_job_t patient = submit(&w, 2 * HOUR, "patient", 0, 10);
    sched_job_t high = submit(&w, 2 * HOUR, "high", 1, 0);
    world_pass(&w, 2 * HOUR);
    assert_int_equal(sched_state(w.sched, holder), SCHED_RUNNING);
    assert_int_equal(sched_state(w.sched, high), SCHED_RESERVED);
    struct config *other = world_config(QUEUE("ageing"));
    assert_int_equal(sched_configure(w.sched, 2 * HOUR, &other->sched, &err), 0);
    world_pass(&w, 2 * HOUR);
    /* Another configuration has put it before the one that was promised a time, so that it takes its turn. */
    assert_int_equal(sched_state(w.sched, patient), SCHED_RESERVED);
    assert_int_equal(sched_finish(w.sched, 2 * HOUR + 100, holder, true), 0);
    world_pass(&w, 2 * HOUR + 100);
    assert_int_equal(sched_state(w.sched, patient), SCHED_RUNNING);
    assert_int_equal(sched_state(w.sched, high), SCHED_RESERVED);
    config_destroy(other);
    world_close(&w);
}

static void a_restored_job_has_waited(void **state)
{
    struct world old, new;
    struct sched_record record;
    berth_error_t err;
    (void)state;
    world_open(&old, QUEUE("ageing"));
    world_open(&new, QUEUE("ageing"));
    sched_job_t patient = submit(&old, 10, "patient", 0, 0);
    assert_int_equal(sched_record(old.sched, patient, &record), 0);
    patient = sched_restore(new.sched, 2 * HOUR, &record, &err);
    assert_true(patient >= 0);
    sched_job_t high = submit(&new, 2 * HOUR, "high", 1, 0);
    world_pass(&new, 2 * HOUR);
    assert_int_equal(sched_state(new.sched, patient), SCHED_RUNNING);
    assert_int_equal(sched_state(new.sched, high), SCHED_RESERVED);
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
