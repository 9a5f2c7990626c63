/* The scheduling core against the same thing spelled out (naive_sched.h), and against its laws:
 * many small scenarios, full of ties, in both orders of the events of an instant and in none.
 * Every decision, state and time is compared, and the core checks itself after each call.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "naive_sched.h"
#include "random.h"

#define JOBS_MAX 120

enum events {
    BATCHED,   /* ends, submissions, one pass */
    PER_EVENT, /* submissions, ends, a pass after each, a closing one */
    MIXED      /* in any order, passes here and there, a closing one */
};

/* What a scenario is drawn from. */
struct shape {
    int jobs;
    int64_t units;
    int64_t longest;
    int64_t scale; /* times are multiples of it: the larger, the more ties */
    int64_t gap;   /* between submissions, at most */
};

struct job {
    struct sched_request request;
    int64_t submit;
    int64_t runs;
    int64_t cancel; /* when; INT64_MAX: never */
    int64_t change; /* when its priority changes */
    sched_job_t handle;
    int64_t end;     /* of a running job */
    int64_t promise; /* INT64_MAX: none */
    bool news;       /* submitted or moved in the queue since the last pass */
};

struct scenario {
    struct job job[JOBS_MAX];
    int n;
    int64_t units;
    struct sched_params params;
    int64_t bound;
    enum events events;
    bool safe; /* no promise can be broken: no job can come before a holder that must give way */
    uint64_t seed;
};

struct run {
    struct scenario *c;
    sched_t *sched;
    struct naive naive;
    int submitted;
    uint64_t hash; /* of all decisions */
    bool trace;    /* print each call */
};

static uint64_t passes;
static uint64_t started;
static uint64_t promised;
static uint64_t gave_way;

/* Stop with the calls that lead here. */
static void fail_at(struct run *r, const char *what, int64_t now);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_at(r, #condition, now);                                                           \
    } while (0)

static int64_t pick_units(int64_t units, struct random *r)
{
    switch (random_next(r) % 8) {
    case 0:
        return units;
    case 1:
        return random_between(r, 1, units + units / 8 + 1); /* now and then more than there are */
    case 2:
    case 3:
        return random_between(r, units / 2 + 1, units);
    case 4:
        return (int64_t)1 << random_between(r, 0, units < 8 ? 0 : 3);
    default:
        return random_between(r, 1, units / 4 + 1);
    }
}

static int64_t pick_bound(struct random *r)
{
    static const int64_t bounds[] = {0, 1, 1, 2, 2, 3, 4, 5, 8, 16, 64, 1000, 100000};
    return bounds[random_next(r) % (sizeof(bounds) / sizeof(*bounds))];
}

static bool is_ageing(const struct scenario *c)
{
    return strcmp(c->params.policy, "ageing") == 0;
}

/* As no scenario is longer than an hour, the order of ageing is that of the priorities. */
static enum sched_order order_of(const struct scenario *c)
{
    return is_ageing(c) ? SCHED_ORDER_PRIORITY : c->params.order;
}

static void pick_policy(struct scenario *c, struct random *r)
{
    const char *const *names = sched_policies();
    int64_t depth = random_next(r) % 3 ? pick_bound(r) : -1;
    c->params.policy = names[random_next(r) % 5];
    if (random_next(r) % 2)
        c->params.policy = "hybrid";
    c->params.reservation_depth = depth;
    if (strcmp(c->params.policy, "fcfs") == 0)
        c->bound = 0;
    else if (strcmp(c->params.policy, "easy") == 0 || is_ageing(c))
        c->bound = 1;
    else if (depth > 0)
        c->bound = depth;
    else
        c->bound = strcmp(c->params.policy, "hybrid") == 0 ? 64 : INT64_MAX;
}

static struct job pick_job(const struct shape *s, const struct scenario *c, int64_t submit,
                           uint64_t tag, bool exact, bool cancels, struct random *r)
{
    int64_t most = s->longest / s->scale > 0 ? s->longest / s->scale : 1;
    struct job job = {.submit = submit, .cancel = INT64_MAX, .change = INT64_MAX};
    job.request.tag = tag;
    job.request.units = pick_units(c->units, r);
    job.request.duration = random_between(r, 1, most) * s->scale;
    job.request.priority = random_between(r, -2, 2);
    job.runs = job.request.duration;
    if (!exact && random_next(r) % 3)
        job.runs = random_between(r, 1, job.runs);
    if (cancels && random_next(r) % 6 == 0)
        job.cancel = submit + random_between(r, 0, 3 * s->longest);
    if (cancels && random_next(r) % 4 == 0)
        job.change = submit + random_between(r, 0, 2 * s->longest);
    job.promise = INT64_MAX;
    return job;
}

static struct scenario pick_scenario(const struct shape *s, uint64_t seed)
{
    struct random r = {seed};
    struct scenario c = {.seed = seed};
    bool exact = random_next(&r) % 3 == 0;
    bool cancels = random_next(&r) % 3 == 0;
    int64_t submit = random_between(&r, 0, 3) * s->scale;
    c.units = random_between(&r, 1, s->units);
    c.n = (int)random_between(&r, 1, s->jobs);
    pick_policy(&c, &r);
    c.params.queue_depth = random_next(&r) % 4 ? 0 : random_between(&r, 1, 12);
    c.params.order =
        random_next(&r) % 2 ? SCHED_ORDER_SUBMIT : (enum sched_order)(random_next(&r) % 3);
    c.events = (enum events)(random_next(&r) % 3);
    c.safe = order_of(&c) == SCHED_ORDER_SUBMIT && c.bound > 0;
    for (int i = 0; i < c.n; i++) {
        c.job[i] = pick_job(s, &c, submit, (uint64_t)i, exact, cancels, &r);
        if (random_next(&r) % 2)
            submit += random_between(&r, 0, s->gap / s->scale) * s->scale;
    }
    return c;
}

static struct naive_job *naive_of(struct run *r, int i)
{
    return &r->naive.jobs[i];
}

/* A promise holds unless a job that the queue puts before it came since the last pass, or it
 * went back in the queue itself, and the bound is one that can be used up.
 */
static bool may_give_way(const struct run *r, int i)
{
    const struct scenario *c = r->c;
    if (c->safe)
        return false;
    if (c->params.queue_depth > 0) /* an old job before it may only now be considered */
        return true;
    for (int k = 0; k < r->submitted; k++)
        if (c->job[k].news && (k == i || naive_before(&r->naive, (size_t)k, (size_t)i)))
            return true;
    return false;
}

static void check_promise(struct run *r, int64_t now, int i, int64_t at)
{
    struct job *job = &r->c->job[i];
    if (at > job->promise) {
        CHECK(may_give_way(r, i));
        gave_way++;
    }
}

static void note_decision(struct run *r, int64_t now, const struct sched_decision *d)
{
    struct job *job = &r->c->job[d->tag];
    CHECK(d->job == job->handle);
    CHECK((d->reason != NULL) == (d->kind == SCHED_REJECT));
    r->hash = (r->hash ^ (uint64_t)d->kind) * 0x100000001b3u;
    r->hash = (r->hash ^ (uint64_t)d->job) * 0x100000001b3u;
    r->hash = (r->hash ^ (uint64_t)d->at) * 0x100000001b3u;
    if (d->kind == SCHED_REJECT)
        return;
    check_promise(r, now, (int)d->tag, d->at);
    job->promise = d->at;
    promised += d->kind == SCHED_RESERVE;
    if (d->kind == SCHED_START) {
        CHECK(d->at == now);
        job->end = now + job->runs;
        job->promise = INT64_MAX;
        started++;
    }
}

static void compare_jobs(struct run *r, int64_t now)
{
    for (int i = 0; i < r->submitted; i++) {
        const struct naive_job *naive = naive_of(r, i);
        struct job *job = &r->c->job[i];
        CHECK(sched_state(r->sched, job->handle) == naive->state);
        bool timed = naive->state == SCHED_RUNNING || naive->state == SCHED_RESERVED;
        CHECK(sched_start_time(r->sched, job->handle) == (timed ? naive->at : -1));
        if (naive->state == SCHED_WAITING && job->promise != INT64_MAX) {
            CHECK(may_give_way(r, i));
            job->promise = INT64_MAX;
            gave_way++;
        }
    }
}

static void compare(struct run *r, int64_t now)
{
    CHECK(sched_check(r->sched));
    CHECK(sched_next_time(r->sched) == naive_next_time(&r->naive, now));
    CHECK(sched_running(r->sched) == naive_count(&r->naive, SCHED_RUNNING));
    CHECK(sched_waiting(r->sched) ==
          naive_count(&r->naive, SCHED_WAITING) + naive_count(&r->naive, SCHED_RESERVED));
}

static void pass(struct run *r, int64_t now, bool more)
{
    const struct sched_decision *d;
    size_t n;
    if (r->trace)
        printf("%lld: pass%s\n", (long long)now, more ? ", more" : "");
    CHECK(sched_pass(r->sched, now, more, &d, &n) == 0);
    naive_pass(&r->naive, now, more);
    for (size_t i = 0; r->trace && (i < n || i < r->naive.n_decisions); i++) {
        const struct sched_decision *e = &r->naive.decisions[i];
        if (i < n)
            printf("    core:  %d job %d at %lld\n", (int)d[i].kind, (int)d[i].tag,
                   (long long)d[i].at);
        if (i < r->naive.n_decisions)
            printf("    naive: %d job %d at %lld\n", (int)e->kind, (int)e->tag, (long long)e->at);
    }
    CHECK(n == r->naive.n_decisions);
    for (size_t i = 0; i < n; i++) {
        const struct sched_decision *e = &r->naive.decisions[i];
        CHECK(d[i].kind == e->kind && d[i].tag == e->tag && d[i].at == e->at);
        note_decision(r, now, &d[i]);
    }
    passes++;
    compare(r, now);
    compare_jobs(r, now);
    for (int i = 0; i < r->submitted; i++)
        r->c->job[i].news = false;
}

static void submit(struct run *r, int64_t now)
{
    int i = r->submitted;
    struct job *job = &r->c->job[i];
    if (r->trace)
        printf("%lld: submit job %d, units %lld, duration %lld, priority %lld\n", (long long)now, i,
               (long long)job->request.units, (long long)job->request.duration,
               (long long)job->request.priority);
    job->handle = sched_submit(r->sched, now, &job->request);
    CHECK(job->handle >= 0);
    CHECK(naive_submit(&r->naive, &job->request) == (size_t)i);
    job->news = true;
    r->submitted++;
}

static void finish(struct run *r, int64_t now, int i)
{
    if (r->trace)
        printf("%lld: finish job %d\n", (long long)now, i);
    CHECK(sched_finish(r->sched, now, r->c->job[i].handle, true) == 0);
    naive_finish(&r->naive, now, (size_t)i);
}

/* Whatever the job's state is: also running and rejected ones, and those that are gone. */
static void cancel(struct run *r, int64_t now, int i)
{
    struct job *job = &r->c->job[i];
    bool gone = naive_of(r, i)->state == NAIVE_GONE;
    if (r->trace)
        printf("%lld: cancel job %d\n", (long long)now, i);
    errno = 0;
    int rc = sched_cancel(r->sched, now, job->handle);
    CHECK(rc == (gone ? -1 : 0) && errno == (gone ? EINVAL : 0));
    if (!gone)
        naive_cancel(&r->naive, now, (size_t)i);
    job->cancel = INT64_MAX;
}

static void prioritize(struct run *r, int64_t now, int i)
{
    struct job *job = &r->c->job[i];
    int64_t priority = (job->request.priority + 2 + i) % 7 - 3;
    bool live = naive_waits(&r->naive, (size_t)i) || r->naive.jobs[i].state == SCHED_RUNNING;
    if (r->trace)
        printf("%lld: job %d to priority %lld\n", (long long)now, i, (long long)priority);
    errno = 0;
    int rc = sched_prioritize(r->sched, now, job->handle, priority);
    CHECK(rc == (live ? 0 : -1) && errno == (live ? 0 : EINVAL));
    if (live)
        naive_prioritize(&r->naive, now, (size_t)i, priority);
    job->news = true;
    job->change = INT64_MAX;
}

/* The job that ends first, ends of an instant in the order of submission; -1 for none. */
static int next_end(struct run *r)
{
    int found = -1;
    for (int i = 0; i < r->submitted; i++)
        if (naive_of(r, i)->state == SCHED_RUNNING &&
            (found < 0 || r->c->job[i].end < r->c->job[found].end))
            found = i;
    return found;
}

/* A job that is to be cancelled or moved by now; -1 for none. */
static int next_change(struct run *r, int64_t now)
{
    for (int i = 0; i < r->submitted; i++)
        if (r->c->job[i].cancel <= now || r->c->job[i].change <= now)
            return i;
    return -1;
}

static int64_t next_instant(struct run *r)
{
    int64_t now = naive_next_time(&r->naive, 0);
    int end = next_end(r);
    if (end >= 0 && r->c->job[end].end < now)
        now = r->c->job[end].end;
    if (r->submitted < r->c->n && r->c->job[r->submitted].submit < now)
        now = r->c->job[r->submitted].submit;
    for (int i = 0; i < r->submitted; i++) {
        const struct job *job = &r->c->job[i];
        now = job->cancel < now ? job->cancel : now;
        now = job->change < now ? job->change : now;
    }
    return now;
}

/* One event of this instant, submissions before the others if told so; false if there is none
 * left.
 */
static bool one_event(struct run *r, int64_t now, bool submissions_first)
{
    int end = next_end(r);
    int changed = next_change(r, now);
    bool ends = end >= 0 && r->c->job[end].end == now;
    bool submits = r->submitted < r->c->n && r->c->job[r->submitted].submit == now;
    if (submits && (submissions_first || (!ends && changed < 0)))
        submit(r, now);
    else if (ends)
        finish(r, now, end);
    else if (changed >= 0 && r->c->job[changed].cancel <= now)
        cancel(r, now, changed);
    else if (changed >= 0)
        prioritize(r, now, changed);
    else
        return false;
    compare(r, now);
    return true;
}

static void instant(struct run *r, int64_t now, struct random *random)
{
    switch (r->c->events) {
    case BATCHED:
        while (one_event(r, now, false))
            ;
        pass(r, now, false);
        break;
    case PER_EVENT:
        while (one_event(r, now, true))
            pass(r, now, true);
        if (sched_next_time(r->sched) <= now)
            pass(r, now, false);
        break;
    case MIXED:
        while (one_event(r, now, random_next(random) % 2)) {
            /* A job that has not ended counts as gone, so that its end comes before any closing
             * pass.
             */
            int end = next_end(r);
            bool more = (end >= 0 && r->c->job[end].end == now) || random_next(random) % 4 > 0;
            if (random_next(random) % 3 == 0)
                pass(r, now, more);
        }
        pass(r, now, false);
        break;
    }
}

/* Nothing overlaps, and nothing is left for another pass. */
static void check_instant(struct run *r, int64_t now, struct random *random)
{
    int64_t taken = 0;
    for (int i = 0; i < r->submitted; i++)
        if (naive_of(r, i)->state == SCHED_RUNNING)
            taken += r->c->job[i].request.units;
    CHECK(taken <= r->c->units);
    CHECK(sched_next_time(r->sched) > now);
    if (r->c->events != PER_EVENT && random_next(random) % 4 == 0) {
        pass(r, now, false);
        CHECK(r->naive.n_decisions == 0);
    }
}

/* Returns a hash of all decisions. */
static uint64_t run(struct scenario *c, bool trace)
{
    struct random random = {c->seed + 1};
    struct run run = {.c = c, .hash = 0xcbf29ce484222325u, .trace = trace};
    struct run *r = &run;
    berth_error_t err;
    int64_t now = 0;
    r->sched = sched_create_flat(c->units, &c->params, &err);
    CHECK(r->sched);
    r->naive = naive_make(c->units, c->bound, c->params.queue_depth, order_of(c));
    while ((now = next_instant(r)) != INT64_MAX) {
        instant(r, now, &random);
        check_instant(r, now, &random);
    }
    CHECK(r->submitted == c->n);
    CHECK(sched_waiting(r->sched) == 0 && sched_running(r->sched) == 0);
    sched_destroy(r->sched);
    naive_clear(&r->naive);
    return r->hash;
}

static void fail_at(struct run *r, const char *what, int64_t now)
{
    const struct scenario *c = r->c;
    fflush(stdout);
    fail_msg("seed %llu at %lld: does not hold: %s (%s, bound %lld, queue depth %lld, order %d, "
             "events %d, units %lld, jobs %d)",
             (unsigned long long)c->seed, (long long)now, what, c->params.policy,
             (long long)c->bound, (long long)c->params.queue_depth, (int)c->params.order,
             (int)c->events, (long long)c->units, c->n);
}

static void run_many(const struct shape *s, int rounds, uint64_t seed)
{
    int n = RANDOM_ROUNDS(rounds);
    /* A seed that failed, to see its calls. */
    const char *only = getenv("PROP_SCHED_SEED");
    for (int i = 0; i < n; i++, seed++) {
        if (only && strtoull(only, NULL, 10) != seed)
            continue;
        struct scenario c = pick_scenario(s, seed);
        uint64_t hash = run(&c, only != NULL);
        if (i % 16 == 0) { /* the same calls give the same decisions */
            c = pick_scenario(s, seed);
            assert_true(run(&c, false) == hash);
        }
    }
}

static void test_tiny(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 7, .units = 4, .longest = 4, .scale = 1, .gap = 2}, 20000, 0);
}

static void test_ties(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 30, .units = 12, .longest = 30, .scale = 10, .gap = 20}, 3000,
             1000000);
}

static void test_small(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = 40, .units = 30, .longest = 20, .scale = 1, .gap = 6}, 3000,
             2000000);
}

static void test_crowded(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = JOBS_MAX, .units = 60, .longest = 24, .scale = 2, .gap = 2},
             250, 3000000);
}

static void test_wide(void **state)
{
    (void)state;
    run_many(&(struct shape){.jobs = JOBS_MAX, .units = 200, .longest = 60, .scale = 1, .gap = 9},
             250, 4000000);
}

/* The scenarios must have had something in them. */
static void test_counts(void **state)
{
    (void)state;
    if (getenv("PROP_SCHED_SEED"))
        return;
    assert_true(passes > RANDOM_ROUNDS(300000));
    assert_true(started > RANDOM_ROUNDS(100000));
    assert_true(promised > RANDOM_ROUNDS(50000));
    assert_true(gave_way > RANDOM_ROUNDS(1000));
    print_message("%llu passes, %llu starts, %llu reservations made or moved, %llu gave way\n",
                  (unsigned long long)passes, (unsigned long long)started,
                  (unsigned long long)promised, (unsigned long long)gave_way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny),    cmocka_unit_test(test_ties), cmocka_unit_test(test_small),
        cmocka_unit_test(test_crowded), cmocka_unit_test(test_wide), cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
