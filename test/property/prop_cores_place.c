/* The scheduling core over the cores of a graph: it decides what a flat machine of as many units decides,
 * each job gets so many cores, no core has two jobs, and which ones they are is what a matcher gives for
 * slot[n] > core[1].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "fixture/machine.h"
#include "match/units.h"
#include "random.h"
#include "resource/graph.h"

enum { JOBS = 60, CORES_MAX = 96, SHORTEST = 4 };

static const char *const policies[] = {
    "low",      "high",      "lonode", "hinode",
    "locality", "variation", "first",  "policy=high node_centric=true",
    "low",      "lonode"};

struct job {
    struct sched_request request;
    int64_t submit, runs;
    sched_job_t handle, flat;
    int64_t promise; /* -1: none */
    int64_t end;     /* told, if it runs */
    int64_t gone;    /* its booking's end: from then on it counts as gone */
    bool running;
    bool expired;
};

struct run {
    struct random random;
    uint64_t seed;
    const char *policy;
    struct job job[JOBS];
    int submitted;
    uint32_t n_cores;
    bool late; /* passes may be */
    match_t *machine, *shadow;
    struct match_units units; /* of the shadow */
    sched_t *sched, *flat;
    int owner[CORES_MAX]; /* by id; -1: nobody */
};

static uint64_t started, overlapped;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %llu, %s: does not hold: %s", (unsigned long long)r->seed, r->policy,   \
                     #condition);                                                                  \
    } while (0)

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id, bool down)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){
            .type = type, .id = id, .uniq_id = -1, .size = 1, .rank = -1, .down = down});
}

static void add_cores(struct graph *g, uint32_t host, int n, int scheme, struct random *random)
{
    for (int i = 0; i < n; i++) {
        int64_t id = scheme == 0   ? i
                     : scheme == 1 ? n - i
                     : scheme == 2 ? (int64_t)g->n
                                   : random_between(random, 0, 9);
        char class[8];
        uint32_t v = add(g, host, "core", id, random_next(random) % 16 == 0);
        snprintf(class, sizeof(class), "%d", (int)random_between(random, 1, 3));
        if (random_next(random) % 3 == 0)
            assert_int_equal(graph_set_property(g, v, "perf_class", class), 0);
    }
}

/* Nodes with cores, or with sockets that have them; ids in order or not, alone or twice; here and there one
 * is down.
 */
static match_t *make_machine(uint64_t seed, const char *policy)
{
    struct random random = {seed};
    struct graph *g = graph_create();
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, false);
    int nodes = (int)random_between(&random, 1, 8), sockets = (int)random_between(&random, 0, 2);
    int scheme = (int)(random_next(&random) % 4);
    for (int i = 0; i < nodes; i++) {
        int64_t id = scheme == 3 ? random_between(&random, 0, 5) : i;
        uint32_t node = add(g, root, "node", id, i > 0 && random_next(&random) % 8 == 0);
        int cores = (int)random_between(&random, 1, sockets ? 6 : 12);
        if (sockets == 0)
            add_cores(g, node, cores, scheme, &random);
        for (int k = 0; k < sockets; k++)
            add_cores(g, add(g, node, "socket", k, false), cores, scheme, &random);
    }
    assert_int_equal(graph_seal(g), 0);
    berth_error_t err = {""};
    match_t *m = match_create(g, &(match_options_t){.policy = policy}, &err);
    if (!m)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    return m;
}

/* What the matcher gives, by id. */
static void match_shadow(struct run *r, int j, bool *mine)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{version: 1, resources: [{type: slot, count: %d, label: s, with: [{type: core, "
             "count: 1}]}], "
             "tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: 0}}}",
             (int)r->job[j].request.units);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    uint32_t vertex[CORES_MAX];
    CHECK(spec);
    CHECK(match_run(r->shadow, MATCH_ALLOCATE, spec, j, 0, NULL, NULL) == 0);
    jobspec_destroy(spec);
    uint32_t n = match_units_given(r->shadow, "core", vertex, CORES_MAX);
    CHECK(n == r->job[j].request.units);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t id = 0; id < r->units.n; id++)
            mine[id] |= r->units.vertex[id] == vertex[i];
}

static void leave(struct run *r, int j)
{
    if (r->job[j].expired)
        return;
    r->job[j].expired = true;
    CHECK(match_cancel(r->shadow, j, NULL, NULL) == 0);
    for (uint32_t id = 0; id < r->units.n; id++)
        if (r->owner[id] == j)
            r->owner[id] = -1;
}

static void note_start(struct run *r, int j, int64_t now)
{
    struct job *job = &r->job[j];
    bool mine[CORES_MAX] = {false};
    const struct resource_range *range;
    size_t n;
    int64_t count = 0, before = -2;
    for (int i = 0; i < r->submitted; i++)
        if (r->job[i].running && !r->job[i].expired && r->job[i].gone <= now) {
            leave(r, i);
            overlapped++;
        }
    match_shadow(r, j, mine);
    CHECK(sched_cores(r->sched, job->handle, &range, &n) == 0);
    for (size_t i = 0; i < n; i++) {
        CHECK(range[i].first <= range[i].last && (int64_t)range[i].first > before + 1);
        before = range[i].last;
        CHECK(before < (int64_t)r->units.n);
        for (uint32_t id = range[i].first; id <= range[i].last; id++, count++) {
            CHECK(r->owner[id] == -1);
            CHECK(mine[id]);
            r->owner[id] = j;
        }
    }
    CHECK(count == job->request.units);
    job->running = true;
    job->expired = false;
    job->end = now + job->runs;
    job->gone = (job->promise >= 0 ? job->promise : now) + job->request.duration;
    started++;
}

static void pass(struct run *r, int64_t now, bool more)
{
    const struct sched_decision *d, *f;
    size_t n, m;
    CHECK(sched_pass(r->sched, now, more, &d, &n) == 0);
    CHECK(r->late || sched_pass(r->flat, now, more, &f, &m) == 0);
    CHECK(r->late || n == m);
    for (size_t i = 0; i < n; i++) {
        CHECK(r->late || (d[i].kind == f[i].kind && d[i].tag == f[i].tag && d[i].at == f[i].at));
        if (d[i].kind == SCHED_RESERVE)
            r->job[d[i].tag].promise = d[i].at;
        else if (d[i].kind == SCHED_START)
            note_start(r, (int)d[i].tag, now);
    }
    for (int i = 0; i < r->submitted; i++)
        if (sched_state(r->sched, r->job[i].handle) == SCHED_WAITING)
            r->job[i].promise = -1;
    CHECK(sched_check(r->sched));
}

static void leave_told(struct run *r, int j)
{
    leave(r, j);
    r->job[j].running = false;
}

/* One event at this instant; false if there is none left. */
static bool event(struct run *r, int64_t now)
{
    bool submits = r->submitted < JOBS && r->job[r->submitted].submit <= now;
    if (submits && random_next(&r->random) % 2) {
        struct job *job = &r->job[r->submitted++];
        job->handle = sched_submit(r->sched, now, &job->request);
        job->flat = r->late ? 0 : sched_submit(r->flat, now, &job->request);
        CHECK(job->handle >= 0 && job->flat >= 0);
        return true;
    }
    for (int i = 0; i < r->submitted; i++) {
        struct job *job = &r->job[i];
        if (!job->running || job->end > now)
            continue;
        CHECK(sched_finish(r->sched, now, job->handle, true) == 0);
        CHECK(r->late || sched_finish(r->flat, now, job->flat, true) == 0);
        leave_told(r, i);
        return true;
    }
    return submits;
}

static int64_t next_instant(struct run *r)
{
    int64_t next = sched_next_time(r->sched);
    if (r->late && next != INT64_MAX)
        next += random_between(&r->random, 0, SHORTEST - 1);
    if (r->submitted < JOBS && r->job[r->submitted].submit < next)
        next = r->job[r->submitted].submit;
    for (int i = 0; i < r->submitted; i++)
        if (r->job[i].running && r->job[i].end < next)
            next = r->job[i].end;
    return next;
}

static void cancel_one(struct run *r, int64_t now)
{
    if (r->submitted == 0 || random_next(&r->random) % 16)
        return;
    int i = (int)(random_next(&r->random) % (uint64_t)r->submitted);
    struct job *job = &r->job[i];
    int rc = sched_cancel(r->sched, now, job->handle);
    CHECK(r->late || sched_cancel(r->flat, now, job->flat) == rc);
    if (job->running && rc == 0)
        leave_told(r, i);
}

static void make_jobs(struct run *r)
{
    int64_t submit = 0, units = sched_units(r->sched);
    for (int i = 0; i < JOBS; i++) {
        int64_t duration = random_between(&r->random, SHORTEST, 20);
        bool wide = random_next(&r->random) % 4 == 0;
        submit += random_next(&r->random) % 2 ? 0 : random_between(&r->random, 0, 4);
        r->job[i] = (struct job){
            .request = {.units = random_between(&r->random, 1, wide ? units : (units + 2) / 3),
                        .duration = duration,
                        .tag = (uint64_t)i},
            .submit = submit,
            .promise = -1};
        r->job[i].runs =
            random_next(&r->random) % 2 ? duration : random_between(&r->random, 1, duration);
    }
}

static void run(uint64_t seed, bool late)
{
    struct run run = {.random = {seed}, .seed = seed, .late = late, .owner = {0}};
    struct run *r = &run;
    berth_error_t err = {""};
    struct sched_params params = {.policy = sched_policies()[random_next(&run.random) % 4]};
    params.reservation_depth = random_between(&run.random, 0, 4);
    r->policy = policies[random_next(&run.random) % (sizeof(policies) / sizeof(*policies))];
    r->machine = make_machine(seed, r->policy);
    r->shadow = make_machine(seed, r->policy);
    CHECK(match_units_list(r->shadow, "core", &r->units, &err) == 0);
    r->sched = sched_create_match(r->machine, &params, &err);
    if (!r->sched) { /* every core is down */
        CHECK(r->units.n_up == 0);
    } else {
        CHECK(sched_units(r->sched) == r->units.n_up);
        r->flat = sched_create_flat(r->units.n_up, &params, &err);
        for (uint32_t i = 0; i < r->units.n; i++)
            r->owner[i] = -1;
        make_jobs(r);
        for (int64_t now; (now = next_instant(r)) != INT64_MAX;) {
            bool per_event = !late && random_next(&r->random) % 2;
            while (event(r, now))
                if (per_event)
                    pass(r, now, true);
            cancel_one(r, now);
            pass(r, now, false);
        }
        CHECK(sched_waiting(r->sched) == 0 && sched_running(r->sched) == 0);
    }
    sched_destroy(r->sched);
    sched_destroy(r->flat);
    match_units_clear(&r->units);
    match_destroy(r->machine);
    match_destroy(r->shadow);
}

static void test_timely(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(1500); seed++)
        run(seed, false);
    assert_true(overlapped > RANDOM_ROUNDS(100));
}

static void test_late(void **state)
{
    (void)state;
    for (uint64_t seed = 100000; seed < 100000 + RANDOM_ROUNDS(500); seed++)
        run(seed, true);
}

/* A job whose whole reservation went by without a pass takes no core from one that has started. */
static void test_run_out(void **state)
{
    (void)state;
    struct graph *g = graph_create();
    uint32_t node = add(g, add(g, VERTEX_NONE, "cluster", 0, false), "node", 0, false);
    add(g, node, "core", 0, false);
    add(g, node, "core", 1, false);
    assert_int_equal(graph_seal(g), 0);
    match_t *m = match_create(g, &(match_options_t){.policy = "low"}, NULL);
    sched_t *s = sched_create_match(m, &(struct sched_params){.policy = "conservative"}, NULL);
    static const struct sched_request requests[] = {{.units = 1, .duration = 10, .tag = 0},
                                                    {.units = 1, .duration = 15, .tag = 1},
                                                    {.units = 2, .duration = 10, .tag = 2},
                                                    {.units = 1, .duration = 5, .tag = 3}};
    sched_job_t job[4];
    const struct sched_decision *d;
    const struct resource_range *range;
    size_t n;
    for (int i = 0; i < 4; i++)
        job[i] = sched_submit(s, 0, &requests[i]);
    assert_int_equal(sched_pass(s, 0, false, &d, &n), 0);
    assert_int_equal(sched_start_time(s, job[2]), 15);
    assert_int_equal(sched_start_time(s, job[3]), 10);
    assert_int_equal(sched_finish(s, 16, job[0], true), 0);
    assert_int_equal(sched_finish(s, 16, job[1], true), 0);
    assert_int_equal(sched_pass(s, 16, false, &d, &n), 0);
    assert_int_equal(sched_state(s, job[2]), SCHED_RUNNING);
    assert_int_equal(sched_cores(s, job[2], &range, &n), 0);
    assert_true(n == 1 && range[0].first == 0 && range[0].last == 1);
    assert_int_equal(sched_state(s, job[3]), SCHED_RESERVED);
    assert_int_equal(sched_start_time(s, job[3]), 25);
    assert_int_equal(sched_cores(s, job[3], &range, &n), -1);
    assert_true(sched_check(s));
    sched_destroy(s);
    match_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timely),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
