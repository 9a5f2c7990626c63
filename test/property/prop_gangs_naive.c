/* Who of which gang starts when, by the core and by a naive model (naive_gangs.h): over random submissions, ends good and
 * bad, members that are cancelled, held, released and requeued. All cores are alike, and nobody knows when a job ends, so
 * that what starts follows from sums alone: under fcfs in order, under easy whoever has room. In some scenes gangs are of
 * arrays of which so many run at a time, and jobs get another priority. In some jobs of lower
 * priority are stopped for others; whoever is stopped there has left before anything else happens.
 * SCENES=N plays as many, SCENE_SEED=S from that one on.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "fixture/machine.h"
#include "naive_gangs.h"
#include "random.h"

enum { SCENES = RANDOM_ROUNDS(2000), STEPS = 60 };

static struct scene {
    uint64_t seed;
    struct random random, arrays; /* the latter for what is of arrays of gangs */
    int64_t now;
    match_t *match;
    sched_t *sched;
    struct naive_gangs naive;
} scene;

static uint64_t kept, together, grown, of_roles, replaced, stopped, rejected, spared, gone;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ", time %" PRId64 ", line %d: does not hold: %s", scene.seed, \
                     scene.now, __LINE__, #condition);                                             \
    } while (0)

static int draw(int low, int high)
{
    return (int)random_between(&scene.random, low, high);
}

static sched_job_t handle_of(int job, int member)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    return sched_find(scene.sched, id, (uint32_t)member);
}

static void make_scheduler(void)
{
    char recipe[32];
    struct sched_limit limit = {"running", scene.naive.most_running};
    struct sched_queue_config queue = {.name = "q",
                                       .policy = scene.naive.in_order ? "fcfs" : "easy",
                                       .starvation_threshold = SCHED_UNLIMITED,
                                       .claims = 1};
    queue.preempts = scene.naive.preempts ? SCHED_PREEMPTS_LOWER : 0;
    queue.keeps_gangs = scene.naive.keeps_gangs;
    queue.limits.queue = &limit;
    queue.limits.n_queue = scene.naive.most_running > 0;
    if (scene.naive.by == NAIVE_BY_PRIORITY_GANG)
        queue.order = (struct sched_share_order){{SCHED_BY_PRIORITY, SCHED_BY_GANG}, 2};
    if (scene.naive.by == NAIVE_BY_GANG_PRIORITY)
        queue.order = (struct sched_share_order){{SCHED_BY_GANG, SCHED_BY_PRIORITY}, 2};
    if (scene.naive.by == NAIVE_BY_GANG) {
        queue.by = SCHED_SHARE_USER;
        queue.order = (struct sched_share_order){{SCHED_BY_GANG, SCHED_BY_SUBMIT}, 2};
    }
    struct sched_config config = {.second = 1, .queues = &queue, .n_queues = 1};
    snprintf(recipe, sizeof(recipe), "node(%d core)", scene.naive.cores);
    scene.match = machine_of(recipe, &(match_options_t){.policy = "low"});
    scene.sched = sched_create(scene.match, &config, NULL);
    assert_non_null(scene.sched);
}

/* ---- Events ---- */

static void text_of(int cores, char text[300])
{
    snprintf(text, 300,
             "{version: 9999, resources: [{type: slot, count: 1, label: s, with: [{type: core, "
             "count: %d}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: "
             "{system: {duration: 0}}}",
             cores);
}

/* Members of a role; what its min asks for fits the machine and the limit beside those of the roles before it. */
static void draw_role(struct naive_role *r, int first, int members, int left, int runs)
{
    *r = (struct naive_role){.first = first, .members = members, .cores = draw(1, 3)};
    r->min = draw(0, members);
    while (r->min * r->cores > left || r->min > runs)
        r->min--;
}

static void draw_job(struct naive_job *j)
{
    int left = scene.naive.cores, first = 0, mins = 0;
    int runs = scene.naive.most_running > 0 ? scene.naive.most_running : scene.naive.cores;
    *j = (struct naive_job){.priority = draw(0, 3) ? 0 : draw(-1, 1), .roles = draw(0, 2) ? 1 : 2};
    j->roles += j->roles > 1 ? draw(0, 1) : 0;
    j->failure = (enum sched_gang_failure)draw(0, 2);
    for (int k = 0; k < j->roles; k++) {
        draw_role(&j->role[k], first, draw(1, j->roles > 1 ? 2 : NAIVE_MEMBERS), left, runs - mins);
        first += j->role[k].members;
        mins += j->role[k].min;
        left -= j->role[k].min * j->role[k].cores;
    }
    j->members = first;
    j->role[0].min += mins == 0 && j->roles > 1;
    j->stays = draw(0, 3) ? draw(0, 6) : SCHED_UNLIMITED;
    j->is_gang = j->members > 1 && (j->role[0].min > 0 || j->roles > 1);
}

static void submit(void)
{
    static const char *const names[] = {"server", "worker", "extra"};
    static const char *const arrays[] = {NULL, "a", "b"};
    int job = scene.naive.jobs++;
    struct naive_job *j = &scene.naive.job[job];
    char text[NAIVE_ROLES][300];
    struct sched_role role[NAIVE_ROLES];
    draw_job(j);
    if (j->is_gang && scene.naive.at_once[1] > 0)
        j->array = (int)random_between(&scene.arrays, 0, NAIVE_ARRAYS);
    uint32_t min = 0;
    for (int k = 0; k < j->roles; k++) {
        const struct naive_role *r = &j->role[k];
        text_of(r->cores, text[k]);
        role[k] = (struct sched_role){names[k], text[k], strlen(text[k]), (uint32_t)r->members,
                                      (uint32_t)r->min};
        min += (uint32_t)r->min;
    }
    char id[16];
    snprintf(id, sizeof(id), "%d", job);
    struct sched_request request = {.id = id,
                                    .duration = SCHED_UNLIMITED,
                                    .estimate = SCHED_UNLIMITED,
                                    .priority = j->priority,
                                    .tag = (uint64_t)job,
                                    .jobspec = text[0],
                                    .jobspec_length = strlen(text[0]),
                                    .queue = "q",
                                    .user = scene.naive.by == NAIVE_BY_GANG ? id : "u",
                                    .members = (uint32_t)j->members,
                                    .min = min,
                                    .roles = role,
                                    .n_roles = j->roles > 1 ? (size_t)j->roles : 0,
                                    .failure = j->failure,
                                    .gangs = arrays[j->array],
                                    .gangs_at_once = (uint32_t)scene.naive.at_once[j->array],
                                    .preemptible_after = j->stays};
    CHECK(sched_submit(scene.sched, scene.now, &request) >= 0);
}

static void requeue(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    CHECK(sched_requeue(scene.sched, scene.now, handle_of(job, member)) == 0);
    j->replaced += j->state[member] != NAIVE_LEAVES; /* who is stopped for others has not failed */
    j->state[member] = NAIVE_WAITS;
}

static void fail_member(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    bool replaces = j->state[member] == NAIVE_RUNS && naive_gangs_replaces(&scene.naive, job);
    CHECK(sched_replaces(scene.sched, handle_of(job, member)) == replaces);
    if (replaces) {
        requeue(job, member);
        replaced++;
        return;
    }
    bool stops = j->state[member] == NAIVE_STOPS;
    CHECK(sched_finish(scene.sched, scene.now, handle_of(job, member), false) == 0);
    if (stops)
        j->state[member] = NAIVE_FAILED;
    else
        naive_gangs_failed(&scene.naive, job, member);
}

static void event_of_waiting(int job, int member)
{
    struct naive_job *j = &scene.naive.job[job];
    int what = draw(0, 5);
    if (what > 2)
        return;
    CHECK(sched_split(scene.sched, scene.now, handle_of(job, member), (uint32_t)member) >= 0);
    sched_job_t handle = handle_of(job, member);
    if (what == 0) {
        CHECK(sched_cancel(scene.sched, scene.now, handle) == 0);
        j->state[member] = NAIVE_FAILED;
    } else if (!j->held[member]) {
        CHECK(sched_hold(scene.sched, scene.now, handle) == 0);
        j->held[member] = true;
    } else {
        CHECK(sched_release(scene.sched, scene.now, handle) == 0);
        j->held[member] = false;
    }
}

/* A job has another priority, with all members that are left. */
static void prioritize(void)
{
    int job = (int)random_between(&scene.arrays, 0, scene.naive.jobs - 1);
    struct naive_job *j = &scene.naive.job[job];
    j->priority = (int)random_between(&scene.arrays, -1, 1);
    for (int i = 0; i < j->members; i++) {
        sched_job_t handle = handle_of(job, i);
        if (handle >= 0 && sched_state(scene.sched, handle) != SCHED_REJECTED)
            CHECK(sched_prioritize(scene.sched, scene.now, handle, j->priority) == 0);
    }
}

static void event(void)
{
    if (scene.naive.at_once[1] > 0 && scene.naive.jobs > 0 &&
        random_between(&scene.arrays, 0, 9) == 0)
        prioritize();
    if ((scene.naive.jobs == 0 || draw(0, 4) == 0) && scene.naive.jobs < NAIVE_JOBS) {
        submit();
        return;
    }
    int job = draw(0, scene.naive.jobs - 1), member = draw(0, scene.naive.job[job].members - 1);
    struct naive_job *j = &scene.naive.job[job];
    if (j->state[member] == NAIVE_WAITS) {
        if (handle_of(job, member) >= 0)
            event_of_waiting(job, member);
    } else if (j->state[member] == NAIVE_STOPS) {
        fail_member(job, member);
    } else if (j->state[member] == NAIVE_RUNS) {
        int what = draw(0, 7);
        if (what == 0) {
            requeue(job, member);
        } else if (what < 3) {
            fail_member(job, member);
        } else {
            CHECK(sched_finish(scene.sched, scene.now, handle_of(job, member), true) == 0);
            j->state[member] = NAIVE_DONE;
        }
    }
}

/* ---- Passes ---- */

static void take(const struct sched_decision *d, enum naive_state state[NAIVE_JOBS][NAIVE_MEMBERS])
{
    if (d->kind == SCHED_START) {
        CHECK(state[d->tag][d->member] == NAIVE_WAITS);
        state[d->tag][d->member] = NAIVE_RUNS;
    } else if (d->kind == SCHED_STOP) {
        CHECK(state[d->tag][d->member] == NAIVE_RUNS);
        state[d->tag][d->member] = NAIVE_STOPS;
    } else if (d->kind == SCHED_PREEMPT) {
        CHECK(state[d->tag][d->member] == NAIVE_RUNS && d->requeue && d->why == SCHED_MAY_PRIORITY);
        state[d->tag][d->member] = NAIVE_LEAVES;
    }
}

/* What differs, for a person. */
static void tell(int job, const enum naive_state *was, const enum naive_state *core)
{
    const struct naive_job *j = &scene.naive.job[job];
    print_message("%s, by %d, %d cores, at most %d run; job %d, a gang: %d, failure %d, replaced "
                  "%d:\n",
                  scene.naive.in_order ? "fcfs" : "easy", (int)scene.naive.by, scene.naive.cores,
                  scene.naive.most_running, job, j->is_gang, j->failure, j->replaced);
    for (int k = 0; k < j->roles; k++)
        print_message("  role of %d, min %d, %d cores each\n", j->role[k].members, j->role[k].min,
                      j->role[k].cores);
    for (int i = 0; i < j->members; i++)
        print_message("  [%d] held %d: was %d, core %d, model %d\n", i, j->held[i], was[i], core[i],
                      j->state[i]);
}

static void count(const struct naive_job *j, const enum naive_state was[NAIVE_MEMBERS])
{
    int starts = 0, ran = 0, leaving = 0, stay = 0;
    for (int i = 0; i < j->members; i++) {
        ran += was[i] == NAIVE_RUNS;
        starts += was[i] == NAIVE_WAITS && j->state[i] == NAIVE_RUNS;
        leaving += j->state[i] == NAIVE_LEAVES;
        stay += j->state[i] == NAIVE_RUNS;
        stopped += j->state[i] == NAIVE_STOPS && was[i] == NAIVE_RUNS;
        rejected += j->state[i] == NAIVE_FAILED && was[i] == NAIVE_WAITS;
    }
    together += j->is_gang && ran == 0 && starts > 1;
    of_roles += j->roles > 1 && ran == 0 && starts > 1;
    grown += j->is_gang && ran > 0 && starts > 0;
    spared += j->is_gang && leaving > 0 && stay > 0;
    gone += j->is_gang && leaving > 1 && stay == 0;
}

/* The cores that each member has of those that run: which of them has which is the core's to say, too. */
static void take_cores(void)
{
    for (int i = 0; i < scene.naive.jobs; i++) {
        struct naive_job *j = &scene.naive.job[i];
        for (int m = 0; m < j->members; m++) {
            const struct resource_range *range;
            size_t n;
            if (j->state[m] < NAIVE_RUNS || j->state[m] > NAIVE_STOPS)
                continue;
            CHECK(sched_cores(scene.sched, handle_of(i, m), &range, &n) == 0);
            j->on[m] = 0;
            for (size_t k = 0; k < n; k++)
                for (uint32_t core = range[k].first; core <= range[k].last; core++)
                    j->on[m] |= 1u << core;
        }
    }
}

/* Whether the core says of a job that its array keeps it. */
static bool says_array(int job)
{
    struct sched_annotation a;
    for (int m = 0; m < scene.naive.job[job].members; m++) {
        sched_job_t handle = handle_of(job, m);
        if (handle >= 0 && sched_annotate(scene.sched, handle, &a) == 0 &&
            a.state == SCHED_BLOCKED && a.reason.kind == SCHED_REASON_LIMIT &&
            a.reason.limit.whose == SCHED_OF_ARRAY)
            return true;
    }
    return false;
}

/* How many members of each role are in which state is the same; which of them they are is the core's to say, as they are
 * alike.
 */
static void compare(int job, const enum naive_state *was, enum naive_state *core)
{
    struct naive_job *j = &scene.naive.job[job], as_core = *j;
    for (int m = 0; m < j->members; m++) {
        if (core[m] == NAIVE_WAITS && handle_of(job, m) < 0)
            core[m] = NAIVE_FAILED;
        as_core.state[m] = core[m];
        if (was[m] == NAIVE_WAITS && core[m] == NAIVE_RUNS)
            as_core.start[m] = scene.now;
    }
    for (int k = 0; k < j->roles; k++)
        for (enum naive_state state = NAIVE_WAITS; state <= NAIVE_FAILED; state++) {
            int n = naive_gangs_count(&as_core, &j->role[k], state);
            if (n != naive_gangs_count(j, &j->role[k], state))
                tell(job, was, core);
            CHECK(n == naive_gangs_count(j, &j->role[k], state));
        }
    *j = as_core;
    count(j, was);
    kept += says_array(job);
}

/* Those that are stopped have left. Returns whether any were. */
static bool let_leave(void)
{
    bool any = false;
    for (int i = 0; i < scene.naive.jobs; i++) {
        struct naive_job *j = &scene.naive.job[i];
        for (int m = 0; m < j->members; m++) {
            any |= j->state[m] == NAIVE_LEAVES || j->state[m] == NAIVE_STOPS;
            if (j->state[m] == NAIVE_LEAVES)
                requeue(i, m);
            else if (j->state[m] == NAIVE_STOPS)
                fail_member(i, m);
        }
    }
    return any;
}

/* What the core does in all passes until something else happens is what the model does in one. */
static void pass_in_both(void)
{
    enum naive_state state[NAIVE_JOBS][NAIVE_MEMBERS], was[NAIVE_JOBS][NAIVE_MEMBERS];
    for (int i = 0; i < scene.naive.jobs; i++) {
        memcpy(state[i], scene.naive.job[i].state, sizeof(state[i]));
        memcpy(was[i], scene.naive.job[i].state, sizeof(was[i]));
    }
    for (int k = 0; k == 0 || sched_next_time(scene.sched) <= scene.now; k++) {
        const struct sched_decision *d;
        size_t n;
        CHECK(k < 20);
        CHECK(sched_pass(scene.sched, scene.now, false, &d, &n) == 0);
        CHECK(sched_check(scene.sched));
        for (size_t i = 0; i < n; i++)
            take(&d[i], state);
    }
    naive_gangs_pass(&scene.naive);
    uint32_t is_free = naive_gangs_free(&scene.naive);
    for (int i = 0; i < scene.naive.jobs; i++)
        compare(i, was[i], state[i]);
    take_cores();
    CHECK(naive_gangs_free(&scene.naive) == is_free);
}

static void passes(void)
{
    scene.naive.now = scene.now;
    do
        pass_in_both();
    while (scene.naive.preempts && let_leave());
}

static void play(uint64_t seed)
{
    scene = (struct scene){.seed = seed, .random.state = seed};
    scene.naive.cores = draw(3, 12);
    scene.naive.in_order = draw(0, 1);
    scene.naive.most_running = draw(0, 2) ? 0 : draw(3, 8);
    scene.naive.by = (enum naive_by)(seed % NAIVE_BYS);
    scene.naive.preempts =
        scene.naive.by <= NAIVE_BY_PRIORITY_GANG && scene.naive.most_running == 0 && draw(0, 2);
    scene.naive.keeps_gangs = draw(0, 3) == 0;
    scene.arrays.state = ~seed;
    for (int i = 1; i <= NAIVE_ARRAYS && seed % 2; i++)
        scene.naive.at_once[i] = (int)random_between(&scene.arrays, 1, 3);
    make_scheduler();
    for (int step = 0; step < STEPS; step++) {
        for (int k = draw(0, 3); k > 0; k--)
            event();
        passes();
        scene.now += draw(0, 2);
    }
    sched_destroy(scene.sched);
    match_destroy(scene.match);
}

static void starts_are_the_models(void **state)
{
    const char *from = getenv("SCENE_SEED"), *n = getenv("SCENES");
    const uint64_t scenes = n ? strtoull(n, NULL, 10) : SCENES;
    const uint64_t first = from ? strtoull(from, NULL, 10) : 1;
    (void)state;
    for (uint64_t i = 0; i < scenes; i++)
        play(first + i);
    if (!from)
        play(17168); /* who waits for others of another priority that are being stopped already */
    if (!from)       /* all of it has happened */
        assert_true(together > scenes && grown > scenes && of_roles > scenes / 8 &&
                    replaced > scenes / 8 && stopped > scenes / 8 && rejected > scenes / 8 &&
                    spared > scenes / 32 && gone > scenes / 32 && kept > scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(starts_are_the_models)};
    return cmocka_run_group_tests_name("prop_gangs_naive", tests, NULL, NULL);
}
