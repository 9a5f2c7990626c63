/* When time alone lets no job start any more, and which jobs the blocks that come again leave no time: random blocks, once or again and again, on an otherwise idle
 * machine of a few nodes, and jobs that ask for whole nodes. The model looks at every tick of all that the
 * blocks can come to.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "check.h"
#include "fixture/world.h"
#include "random.h"

enum { SCENES = 1500, NODES = 3, BLOCKS = 4, JOBS = 4, PERIOD = 24, ONCE_MAX = 60 };

static const char *const policies[] = {"fcfs", "easy", "conservative"};

static struct scene {
    uint64_t seed;
    struct random random;
    int policy, blocks;
    struct block {
        unsigned nodes; /* a bit each */
        int64_t start, duration, every;
    } block[BLOCKS];
    struct job {
        sched_job_t handle;
        int64_t nodes, duration;
        int64_t end; /* INT64_MAX: it hasn't started, or it has ended */
        bool started, rejected;
    } job[JOBS];
    struct world world;
    int64_t now;
} scene;

#define CHECK(condition) CHECK_IN(scene, condition)

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

/* ---- The model ---- */

static bool is_shut(int node, int64_t at, bool again)
{
    for (int i = 0; i < scene.blocks; i++) {
        const struct block *b = &scene.block[i];
        if (!(b->nodes >> node & 1) || at < b->start || (again && b->every == 0))
            continue;
        int64_t since = b->every ? (at - b->start) % b->every : at - b->start;
        if (since < b->duration)
            return true;
    }
    return false;
}

/* Beside all blocks, or (again) those that come again. */
static bool fits(const struct job *j, int64_t from, bool again)
{
    int64_t nodes = 0;
    for (int node = 0; node < NODES; node++) {
        int64_t at = from;
        while (at < from + j->duration && !is_shut(node, at, again))
            at++;
        nodes += at == from + j->duration;
    }
    return nodes >= j->nodes;
}

/* Whether a machine that is idle from now on can ever have the job: past ONCE_MAX all comes again after
 * PERIOD.
 */
static bool fits_ever(const struct job *j, bool again)
{
    int64_t until = (scene.now > ONCE_MAX ? scene.now : ONCE_MAX) + PERIOD;
    for (int64_t at = scene.now; at < until; at++)
        if (fits(j, at, again))
            return true;
    return false;
}

/* ---- The scene ---- */

static void make_blocks(char *text, size_t size)
{
    static const int64_t periods[] = {0, 0, 6, 8, 12, 24};
    scene.blocks = (int)draw(0, BLOCKS);
    size_t used = (size_t)snprintf(text, size, "%s", scene.blocks ? "blocks:\n" : "");
    for (int i = 0; i < scene.blocks; i++) {
        struct block *b = &scene.block[i];
        b->every = periods[draw(0, 5)];
        b->start = draw(0, ONCE_MAX / 2);
        b->duration = b->every ? draw(1, b->every - 1) : draw(1, ONCE_MAX / 2);
        b->nodes = 1u << draw(0, NODES - 1);
        used += (size_t)snprintf(text + used, size - used,
                                 "  - {name: b%d, resources: node%d, start: %" PRId64
                                 ", duration: %" PRId64 ", every: %" PRId64 "}\n",
                                 i, __builtin_ctz(b->nodes), b->start, b->duration, b->every);
    }
}

static void make(void)
{
    char text[1024];
    scene.policy = (int)draw(0, 2);
    size_t used =
        (size_t)snprintf(text, sizeof(text), "resources: {nodes: %d}\nqueues: {q: {policy: %s}}\n",
                         NODES, policies[scene.policy]);
    make_blocks(text + used, sizeof(text) - used);
    world_open(&scene.world, text);
}

static void submit(struct job *j, uint64_t tag)
{
    char spec[512];
    j->nodes = draw(1, NODES);
    j->duration = draw(0, 3) ? draw(1, 6) : draw(1, 30);
    j->end = INT64_MAX;
    snprintf(spec, sizeof(spec),
             "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":%" PRId64
             ",\"label\":\"t\",\"with\":[{\"type\":\"node\",\"count\":1,\"exclusive\":true}]}],"
             "\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{\"system\":{}}}",
             j->nodes);
    struct sched_request request = {
        .duration = j->duration, .tag = tag, .jobspec = spec, .jobspec_length = strlen(spec)};
    j->handle = sched_submit(scene.world.sched, scene.now, &request);
    CHECK(j->handle >= 0);
}

static int64_t next_end(void)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < JOBS; i++)
        next = scene.job[i].end < next ? scene.job[i].end : next;
    return next;
}

static void end_due(void)
{
    for (int i = 0; i < JOBS; i++)
        if (scene.job[i].end <= scene.now) {
            CHECK(sched_finish(scene.world.sched, scene.now, scene.job[i].handle, true) == 0);
            scene.job[i].end = INT64_MAX;
        }
}

static void pass(void)
{
    const struct sched_decision *d;
    size_t n;
    CHECK(sched_pass(scene.world.sched, scene.now, false, &d, &n) == 0);
    for (size_t i = 0; i < n; i++) {
        struct job *j = &scene.job[d[i].tag];
        if (d[i].kind == SCHED_REJECT) {
            CHECK(!fits_ever(j, true));
            j->rejected = true;
        }
        if (d[i].kind != SCHED_START)
            continue;
        CHECK(fits(j, scene.now, false));
        j->started = true;
        j->end = scene.now + j->duration;
    }
    for (int i = 0; i < JOBS; i++) /* who can never start is rejected */
        CHECK(scene.job[i].started || scene.job[i].rejected || fits_ever(&scene.job[i], true));
}

/* Jobs that haven't started when time is up never can, or stand behind such a one where nobody goes before.
 * 
 */
static void check_rest(void)
{
    bool behind = false;
    for (int i = 0; i < JOBS; i++) {
        const struct job *j = &scene.job[i];
        if (!j->started && !behind)
            CHECK(!fits_ever(j, false));
        behind = behind || (!j->started && !j->rejected && scene.policy == 0);
    }
}

static uint64_t left, waited;

static void play(uint64_t seed)
{
    memset(&scene, 0, sizeof(scene));
    scene.seed = scene.random.state = seed;
    make();
    scene.now = draw(0, ONCE_MAX);
    for (uint64_t i = 0; i < JOBS; i++)
        submit(&scene.job[i], i);
    for (;;) {
        end_due();
        pass();
        int64_t next = sched_next_time(scene.world.sched);
        int64_t last = sched_last_time(scene.world.sched);
        CHECK(last >= 0);
        CHECK(next > scene.now);
        CHECK(sched_waiting(scene.world.sched) > 0 || next == INT64_MAX);
        waited += next <= last && next_end() == INT64_MAX;
        next = next_end() < next ? next_end() : next;
        if (next == INT64_MAX || next > last)
            break;
        CHECK(next < 100 * ONCE_MAX);
        scene.now = next;
    }
    CHECK(sched_running(scene.world.sched) == 0);
    check_rest();
    for (int i = 0; i < JOBS; i++)
        left += !scene.job[i].started;
    CHECK(sched_check(scene.world.sched));
    world_close(&scene.world);
}

static void test_last_time(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SCENES; seed++)
        play(seed);
    assert_true(left > SCENES / 10);
    assert_true(waited > SCENES / 10);
    print_message("%" PRIu64 " jobs never start, %" PRIu64 " times only time was waited for\n",
                  left, waited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_last_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
