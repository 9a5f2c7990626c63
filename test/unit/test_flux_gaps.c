/* What a shell such as Flux's asks of the core beside passes: which job holds a vertex, what kind a refusal is, and jobs that
 * come back with what they hold in one format or another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property/random.h"
#include "berth/match.h"
#include "berth/resource.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NODES        6
#define JOBS         24

static const char machine[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-5\",\"children\":{\"core\":\"0-3\"}}],"
    "\"nodelist\":[\"n[0-5]\"],\"starttime\":0,\"expiration\":0}}";

struct world {
    match_t *match;
    sched_t *sched;
    sched_job_t job[JOBS];
    int jobs;
    int64_t now;
};

static struct world make(const struct sched_queue_config *queue)
{
    berth_error_t err = {""};
    struct world w = {0};
    resource_graph_t *g = resource_graph_read("rv1exec", machine, strlen(machine), &err);

    w.match = match_create(g, &(match_options_t){.policy = "low"}, &err);
    w.sched = sched_create(
        w.match, &(struct sched_config){.second = 1, .queues = queue, .n_queues = queue ? 1 : 0},
        &err);
    if (!w.sched)
        fail_msg("%s", err.text);
    return w;
}

static void clear(struct world *w)
{
    sched_destroy(w->sched);
    match_destroy(w->match);
}

static const char *jobspec(char text[512], int nodes, int cores, int duration, const char *more)
{
    snprintf(text, 512,
             "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":%d,\"with\":[{\"type\":"
             "\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":\"core\",\"count\":%d}]}]}],"
             "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{\"system\":{\"duration\":%d%s}}}",
             nodes, cores, duration, more);
    return text;
}

static sched_job_t submit(struct world *w, uint64_t tag, const char *text)
{
    return sched_submit(
        w->sched, w->now,
        &(struct sched_request){.tag = tag, .jobspec = text, .jobspec_length = strlen(text)});
}

static size_t pass(struct world *w, const struct sched_decision **d)
{
    const struct sched_decision *all;
    size_t n;

    assert_int_equal(sched_pass(w->sched, w->now, false, &all, &n), 0);
    assert_true(sched_check(w->sched));
    if (d)
        *d = all;
    return n;
}

/* What a search finds, as R without times, to be freed; "" is nothing. */
static char *found(struct world *w, const char *key, int64_t number)
{
    berth_error_t err = {""};
    char criteria[64];
    const char *text = "";
    size_t length = 0;

    snprintf(criteria, sizeof(criteria), "%s=%lld", key, (long long)number);
    if (match_find(w->match, criteria, w->now, &err) < 0 ||
        match_write(w->match, "rlite", &text, &length) < 0)
        return strdup("");
    return strndup(text, length);
}

/* The same of what the scheduler says that a job holds. */
static char *held(struct world *w, sched_job_t job)
{
    const char *text;
    size_t length;

    assert_int_equal(sched_write(w->sched, job, "rlite", &text, &length), 0);
    return strndup(text, length);
}

static void expect_found(struct world *w, sched_job_t job)
{
    int state = sched_state(w->sched, job);
    bool runs = state == SCHED_RUNNING, is_promised = state == SCHED_RESERVED;
    int64_t number = sched_booking(w->sched, job);

    assert_int_equal(number >= 0, runs || is_promised);
    if (number < 0)
        return;
    char *its = held(w, job), *now = found(w, "jobid-alloc", number),
         *later = found(w, "jobid-reserved", number), *tagged = found(w, "jobid-tag", number);
    assert_true(strlen(its) > 0);
    assert_string_equal(now, runs ? its : "");
    assert_string_equal(later, is_promised ? its : "");
    assert_true(strlen(tagged) > 0);
    free(its);
    free(now);
    free(later);
    free(tagged);
}

/* By the number that sched_booking tells, a search finds what the job holds now, or has been promised, and no more. */
static void is_found_by_its_booking(void **state)
{
    (void)state;
    const struct sched_queue_config queue = {.name = "batch", .policy = "conservative"};
    char text[512];
    int checked = 0;

    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct random random = {seed};
        struct world w = make(&queue);
        for (; w.jobs < JOBS; w.jobs++) {
            int64_t nodes = random_between(&random, 1, NODES / 2);
            w.job[w.jobs] = submit(&w, (uint64_t)w.jobs + 1,
                                   jobspec(text, (int)nodes, (int)random_between(&random, 1, 4),
                                           (int)random_between(&random, 5, 50), ""));
            w.now += random_between(&random, 0, 3);
            pass(&w, NULL);
            if (random_between(&random, 0, 2) == 0) {
                sched_job_t some = w.job[random_between(&random, 0, w.jobs)];
                if (sched_state(w.sched, some) == SCHED_RUNNING)
                    assert_int_equal(sched_finish(w.sched, w.now, some, true), 0);
                pass(&w, NULL);
            }
            for (int i = 0; i <= w.jobs; i++)
                if (sched_state(w.sched, w.job[i]) == SCHED_RUNNING ||
                    sched_state(w.sched, w.job[i]) == SCHED_RESERVED) {
                    expect_found(&w, w.job[i]);
                    checked++;
                }
        }
        clear(&w);
    }
    assert_true(checked > 1000);
}

/* The next pass rejects a job, for a reason of a kind that needs no text to be told. */
static void tells_the_kind_of_a_refusal(void **state)
{
    (void)state;
    static const struct sched_limit job_limits[] = {{"core", 8}};
    const struct sched_queue_config queue = {.name = "batch",
                                             .limits = {.job = job_limits, .n_job = 1}};
    char text[512];
    static const struct {
        int nodes, cores;
        const char *more;
        enum sched_reason_kind kind;
    } rows[] = {
        {1, 5, "", SCHED_REASON_UNSATISFIABLE},
        {7, 1, "", SCHED_REASON_UNSATISFIABLE},
        {1, 1, ",\"constraints\":{\"properties\":[\"fast\"]}", SCHED_REASON_UNSATISFIABLE},
        {3, 4, "", SCHED_REASON_LIMIT},
        {1, 1, ",\"queue\":\"other\"", SCHED_REASON_UNKNOWN_QUEUE},
        {1, 1, ",\"constraints\":{\"xyz\":[\"a\"]}", SCHED_REASON_JOBSPEC},
        {1, 1, ",\"constraints\":{\"properties\":[\"f^oo\"]}", SCHED_REASON_JOBSPEC},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w = make(&queue);
        const struct sched_decision *d;
        submit(&w, 1, jobspec(text, rows[i].nodes, rows[i].cores, 10, rows[i].more));
        assert_int_equal(pass(&w, &d), 1);
        assert_int_equal(d->kind, SCHED_REJECT);
        assert_non_null(d->reason);
        if (d->reason->kind != rows[i].kind)
            fail_msg("row %zu: kind %d, expected %d", i, (int)d->reason->kind, (int)rows[i].kind);
        clear(&w);
    }
}

/* Hand a running job over to another scheduler of the same machine. */
static sched_job_t hand_over(struct world *from, struct world *to, sched_job_t job,
                             const char *format, const char *resources)
{
    struct sched_record record;
    berth_error_t err = {""};

    assert_int_equal(sched_record(from->sched, job, &record), 0);
    record.format = format;
    record.resources = resources;
    record.resources_length = strlen(resources);
    return sched_restore(to->sched, to->now, &record, &err);
}

/* A job that has run before comes back in each format in which Flux keeps R, and what is left of one that has given ranks
 * back comes back as that.
 */
static void comes_back_in_any_format(void **state)
{
    (void)state;
    static const struct {
        const char *written, *read;
    } rows[] = {{"rv1_nosched", "rv1exec"}, {"jgf", "jgf"}, {"jgf_shorthand", "jgf_shorthand"}};
    char text[512];

    for (size_t i = 0; i < COUNT(rows); i++)
        for (int part = 0; part < 2; part++) {
            struct world w = make(NULL), next = make(NULL);
            berth_error_t err = {""};
            const char *r;
            size_t length;
            sched_job_t a = submit(&w, 1, jobspec(text, 3, 2, 100, ",\"x\":1"));
            pass(&w, NULL);
            if (part > 0)
                assert_int_equal(sched_free_ranks(w.sched, 1, a, "1", &err), 0);
            assert_int_equal(sched_write(w.sched, a, rows[i].written, &r, &length), 0);
            char *kept = strndup(r, length), *before = held(&w, a);
            sched_job_t b = hand_over(&w, &next, a, rows[i].read, kept);
            assert_true(b >= 0);
            char *after = held(&next, b);
            assert_string_equal(before, after);
            assert_int_equal(sched_amount(next.sched, b, "node"), 3 - part);
            /* it is there once: the same again has no room */
            assert_int_equal(hand_over(&w, &next, a, rows[i].read, kept), -1);
            /* and what it has not got is free */
            next.now = 2;
            sched_job_t c = submit(&next, 2, jobspec(text, 3 + part, 4, 10, ""));
            pass(&next, NULL);
            assert_int_equal(sched_state(next.sched, c), SCHED_RUNNING);
            free(before);
            free(after);
            free(kept);
            clear(&next);
            clear(&w);
        }
}

/* Ranks that were given back after R was written are left out of a graph that still has them. */
static void leaves_out_ranks_that_are_free(void **state)
{
    (void)state;
    struct world w = make(NULL), next = make(NULL);
    char text[512];
    const char *r;
    size_t length;
    sched_job_t a = submit(&w, 1, jobspec(text, 3, 4, 100, ""));

    pass(&w, NULL);
    assert_int_equal(sched_write(w.sched, a, "jgf", &r, &length), 0);
    assert_true(length > 2 && r[0] == '{');
    char *kept = malloc(length + 32);
    snprintf(kept, length + 32, "{\"free_ranks\":\"0-1\",%.*s", (int)length - 1, r + 1);
    sched_job_t b = hand_over(&w, &next, a, "jgf", kept);
    assert_true(b >= 0);
    assert_int_equal(sched_amount(next.sched, b, "node"), 1);
    next.now = 1;
    sched_job_t c = submit(&next, 2, jobspec(text, 5, 4, 10, ""));
    pass(&next, NULL);
    assert_int_equal(sched_state(next.sched, c), SCHED_RUNNING);
    free(kept);
    clear(&next);
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_by_its_booking),
        cmocka_unit_test(tells_the_kind_of_a_refusal),
        cmocka_unit_test(comes_back_in_any_format),
        cmocka_unit_test(leaves_out_ranks_that_are_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
