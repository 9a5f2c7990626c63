/* No starvation where no end is known: two queues share a few nodes, and as soon as something is free one of them
 * has small jobs for it, of which nobody knows how long they last; a third one has jobs that may be stopped. Each
 * job of the queue with a threshold, gangs of one role and of two included, starts within the bound of doc/scheduling.md,
 * where n is the number of jobs that wait before it. In the same scenes without a threshold some do not. In some scenes it
 * has nobody stopped, or jobs of unknown end run in its claims. Of those that may be stopped some may only after a while,
 * and gangs, which all start with their min, never are. In some scenes nodes are set aside for a while; then the first one is
 * a gang that needs all, while others run on the rest. SCENES=N plays as many, SCENE_SEED=S from that one on.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "berth/sched_admin.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "check.h"
#include "fixture/world.h"
#include "random.h"

enum { SCENES = 400, JOBS = 260, LONGEST = 40, SECOND = 1 };
enum queue { BATCH, STREAM, SPARE, QUEUES };

static const char *const names[QUEUES] = {"batch", "stream", "spare"};
static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative"};

static struct scene {
    uint64_t seed;
    struct random random;
    int nodes, cores, threshold, claims;
    bool is_known; /* of some jobs it is known how long they last at most */
    bool stops_nobody, admits_unknown;
    int64_t block, block_end; /* nodes are set aside from one to the other; 0: none are */
    int first; /* then so many run on the rest at first, and the next one needs all */
    struct job {
        enum queue queue;
        sched_job_t handle;
        int members; /* more than one: of a gang, all of which start together */
        int running;
        int64_t arrives, runtime, end, started; /* -1: not yet */
        int64_t before; /* jobs that waited when it came, and may go before it */
    } job[JOBS];
    struct world world;
    int64_t now;
} scene;

#define CHECK(condition) CHECK_IN(scene, condition)

static int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

/* Perhaps some nodes, or all, are set aside for a while. */
static void make_block(char *text, size_t size)
{
    int last = (int)draw(0, scene.nodes - 1), first = (int)draw(0, last);
    *text = '\0';
    if (draw(0, 2) > 0)
        return;
    scene.block = draw(1, 100);
    scene.first = (scene.nodes - 1 - last + first) * scene.cores;
    scene.block_end = scene.block + draw(1, 4 * LONGEST);
    snprintf(text, size,
             "blocks: [{name: maint, resources: \"node[%d-%d]\", start: %" PRId64
             ", duration: %" PRId64 "}]\n",
             first, last, scene.block, scene.block_end - scene.block);
}

/* Ticks are seconds. */
static void make(bool starves)
{
    char text[1000], threshold[24], block[120];
    const char *policy = policies[draw(0, 3)], *other = policies[draw(0, 3)];
    scene.nodes = (int)draw(1, 4);
    scene.cores = (int)draw(1, 4);
    scene.threshold = (int)draw(1, 60);
    scene.claims = (int)draw(1, 3);
    scene.is_known = draw(0, 1);
    scene.stops_nobody = draw(0, 2) == 0;
    scene.admits_unknown = draw(0, 2) == 0;
    make_block(block, sizeof(block));
    snprintf(threshold, sizeof(threshold), "%d", scene.threshold);
    snprintf(text, sizeof(text),
             "resources: {nodes: %d, cores: %d}\n"
             "default-duration: unknown\n"
             "queues:\n"
             "  batch: {policy: %s, starvation-threshold: %s, claims: %d, preempts: %s, "
             "claims-admit: %s}\n"
             "  stream: {policy: %s}\n"
             "  spare: {policy: easy, priority: -1, preemptible: requeue}\n"
             "%s",
             scene.nodes, scene.cores, policy, starves ? threshold : "none", scene.claims,
             scene.stops_nobody ? "nobody" : "preemptible",
             scene.admits_unknown ? "unknown" : "preemptible", other, block);
    world_open(&scene.world, text);
    int64_t at = 0;
    for (int i = 0; i < JOBS; i++) {
        struct job *j = &scene.job[i];
        at += draw(0, 4) == 0 ? draw(0, LONGEST) : draw(0, 4);
        int64_t which = draw(0, 9);
        *j = (struct job){.queue = which == 0   ? BATCH
                                   : which <= 8 ? STREAM
                                                : SPARE,
                          .arrives = at,
                          .runtime = draw(1, LONGEST),
                          .end = INT64_MAX,
                          .started = -1};
        if (scene.block > 0 && i <= scene.first) {
            j->queue = i == scene.first ? BATCH : STREAM;
            j->arrives = at = i == scene.first;
        }
    }
}

static bool waits(const struct job *j, int64_t at)
{
    return j->arrives <= at && j->started < 0 && j->queue != SPARE;
}

static const char *cores_text(char text[300], int cores)
{
    snprintf(text, 300,
             "{version: 9999, resources: [{type: slot, count: 1, label: s, with: [{type: core, "
             "count: %d}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             cores);
    return text;
}

static uint64_t gangs, of_roles, spare_gangs;

/* A gang that fits the machine: workers of one core each, and perhaps a server of several. */
static void submit_gang(struct job *j, struct sched_request *request, bool is_all)
{
    char server[300], worker[300];
    int all = scene.nodes * scene.cores, cores = (int)draw(1, scene.cores);
    int workers = (int)draw(1, all - cores > 0 ? all - cores : 1);
    bool has_server = j->queue == BATCH && !is_all && draw(0, 1) && all > cores;
    struct sched_role role[2] = {
        {"server", cores_text(server, cores), strlen(server), 1, 1},
        {"worker", cores_text(worker, 1), strlen(worker), (uint32_t)workers, (uint32_t)workers}};
    j->members = has_server ? workers + 1 : j->queue == BATCH ? all : (int)draw(1, all);
    request->roles = role;
    request->n_roles = has_server ? 2 : 0;
    request->jobspec = worker;
    request->jobspec_length = strlen(worker);
    request->members = request->min = (uint32_t)j->members;
    if (j->members == 1)
        request->members = request->min = 0;
    gangs++;
    spare_gangs += j->queue == SPARE && j->members > 1;
    of_roles += has_server;
    j->handle = sched_submit(scene.world.sched, scene.now, request);
}

static bool needs_all(int i)
{
    return scene.block > 0 && i == scene.first;
}

static void submit(int i)
{
    struct job *j = &scene.job[i];
    bool known = scene.is_known && draw(0, 1);
    int64_t limit = known ? draw(j->runtime, LONGEST) : SCHED_UNLIMITED;
    int cores = j->queue == BATCH ? (int)draw(1, scene.cores) : 1;
    for (int k = 0; k < i; k++)
        j->before += waits(&scene.job[k], scene.now);
    struct sched_request request = {
        .duration = limit, .estimate = limit, .tag = (uint64_t)i, .queue = names[j->queue]};
    j->members = 1;
    if (j->queue == SPARE && draw(0, 3) == 0)
        request.preemptible_after = draw(1, LONGEST);
    if (needs_all(i) || (j->queue != STREAM && draw(0, 1)))
        submit_gang(j, &request, needs_all(i));
    else
        j->handle = world_submit(&scene.world, scene.now, cores, request);
    CHECK(j->handle >= 0);
}

static uint64_t claimed, stopped;

/* Carry out what the last pass decided. Returns whether something was stopped, so that there is another one. */
static bool carry_out(void)
{
    bool again = false;
    for (size_t i = 0; i < scene.world.n; i++) {
        const struct sched_decision d = scene.world.decision[i];
        struct job *j = &scene.job[d.tag];
        CHECK(d.kind != SCHED_REJECT);
        if (d.kind == SCHED_START) {
            j->started = j->started < 0 ? scene.now : j->started;
            j->end = scene.now + j->runtime;
            CHECK(j->started == scene.now || j->queue == SPARE);
            j->running++;
        }
        claimed += d.kind == SCHED_WAIT && d.reason && d.reason->kind == SCHED_REASON_CLAIM;
        if (d.kind != SCHED_PREEMPT)
            continue;
        CHECK(j->queue == SPARE);
        stopped++;
        again = true;
    }
    return again;
}

static void requeue_stopped(void)
{
    sched_job_t victims[JOBS];
    size_t n = 0;
    for (size_t i = 0; i < scene.world.n; i++)
        if (scene.world.decision[i].kind == SCHED_PREEMPT)
            victims[n++] = scene.world.decision[i].job;
    for (size_t i = 0; i < n; i++) {
        struct sched_annotation a;
        CHECK(sched_annotate(scene.world.sched, victims[i], &a) == 0);
        scene.job[a.tag].end = INT64_MAX;
        scene.job[a.tag].running = 0;
        CHECK(sched_requeue(scene.world.sched, scene.now, victims[i]) == 0);
    }
}

static void pass(void)
{
    world_pass(&scene.world, scene.now);
    while (carry_out()) {
        requeue_stopped();
        world_pass(&scene.world, scene.now);
    }
    for (int i = 0; i < JOBS; i++)
        CHECK(scene.job[i].running == 0 || scene.job[i].running == scene.job[i].members);
}

/* All members of a job end. */
static void finish(int i)
{
    char id[16];
    struct job *j = &scene.job[i];
    snprintf(id, sizeof(id), "%d", i);
    for (int m = 0; m < j->members; m++)
        CHECK(sched_finish(scene.world.sched, scene.now,
                           sched_find(scene.world.sched, id, (uint32_t)m), true) == 0);
    j->running = 0;
    j->end = INT64_MAX;
}

/* What is next: an arrival, an end, or a time that the scheduler names. */
static int64_t next_time(int arrived)
{
    int64_t next = sched_next_time(scene.world.sched);
    if (arrived < JOBS && scene.job[arrived].arrives < next)
        next = scene.job[arrived].arrives;
    for (int i = 0; i < arrived; i++)
        next = scene.job[i].end < next ? scene.job[i].end : next;
    return next;
}

static uint64_t jobs, late;

/* By when a job starts that may have to wait for a block: its claim, or that of one before it, is chosen at last when that
 * begins, and waits for those that run then beside the end of the block; then one after the other has its turn.
 */
static int64_t bound_with_block(const struct job *j, int64_t longest)
{
    int64_t starves = j->arrives + scene.threshold, chosen = greater(starves, scene.block);
    int64_t bound = starves + (j->before + 1) * longest;
    if (scene.block == 0 || j->arrives >= scene.block_end)
        return bound;
    return greater(bound, greater(scene.block_end, chosen + longest) + j->before * longest);
}

static void check_bound(bool starves)
{
    int64_t longest = LONGEST + SECOND; /* nobody is stopped in the first second */
    if (scene.stops_nobody || scene.admits_unknown)
        longest *= 2;
    for (int i = 0; i < JOBS; i++) {
        const struct job *j = &scene.job[i];
        if (j->queue != BATCH)
            continue;
        int64_t bound = bound_with_block(j, longest);
        CHECK(j->started >= 0);
        if (starves && j->started > bound)
            fail_msg("seed %" PRIu64 ": job %d came at %" PRId64 " behind %" PRId64
                     ", was to start by %" PRId64 ", and did at %" PRId64,
                     scene.seed, i, j->arrives, j->before, bound, j->started);
        late += j->started > bound;
        jobs++;
    }
}

static void play(uint64_t seed, bool starves)
{
    int arrived = 0;
    memset(&scene, 0, sizeof(scene));
    scene.seed = scene.random.state = seed;
    make(starves);
    for (;;) {
        for (int i = 0; i < arrived; i++)
            if (scene.job[i].end <= scene.now)
                finish(i);
        for (; arrived < JOBS && scene.job[arrived].arrives <= scene.now; arrived++)
            submit(arrived);
        pass();
        int64_t next = next_time(arrived);
        CHECK(next > scene.now);
        if (next == INT64_MAX)
            break;
        scene.now = next;
    }
    check_bound(starves);
    world_close(&scene.world);
}

static uint64_t scenes(void)
{
    const char *n = getenv("SCENES");
    return n ? strtoull(n, NULL, 10) : RANDOM_ROUNDS(SCENES);
}

/* The first one's seed. */
static uint64_t first_seed(void)
{
    const char *from = getenv("SCENE_SEED");
    return from ? strtoull(from, NULL, 10) : 1;
}

static void each_starts_within_the_bound(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scenes(); i++)
        play(first_seed() + i, true);
    assert_true(claimed > scenes());
    assert_true(stopped > scenes() / 10);
    assert_true(gangs > scenes() && of_roles > scenes() && spare_gangs > scenes());
    print_message("%" PRIu64 " jobs of %" PRIu64 ", %" PRIu64 " claims told, %" PRIu64 " stopped\n",
                  jobs, scenes() * JOBS, claimed, stopped);
}

static void without_a_threshold_some_do_not(void **state)
{
    (void)state;
    late = 0;
    for (uint64_t i = 0; i < scenes() / 4; i++)
        play(first_seed() + i, false);
    assert_true(late > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_starts_within_the_bound),
                                       cmocka_unit_test(without_a_threshold_some_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
