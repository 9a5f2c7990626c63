/* The workload model: its distributions against the published parameters, with wide margins, and
 * that a seed names one workload.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/lublin.h"
#include "sim/rng.h"

static struct trace generate(int64_t jobs, uint64_t seed, int64_t procs)
{
    struct lublin_options options = {.jobs = jobs, .seed = seed, .procs = procs};
    struct trace trace = {0};
    berth_error_t err;
    if (lublin_generate(&options, &trace, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(trace.n, jobs);
    assert_int_equal(trace.procs, procs);
    return trace;
}

static void assert_near(double value, double expected, double margin)
{
    if (!(fabs(value - expected) <= margin))
        fail_msg("%g is not within %g of %g", value, margin, expected);
}

static bool is_power(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static void generator_is_splitmix64(void **state)
{
    (void)state;
    struct rng rng = {1234567};
    assert_true(rng_next(&rng) == UINT64_C(6457827717110365317));
    assert_true(rng_next(&rng) == UINT64_C(3203168211198807973));
    assert_true(rng_next(&rng) == UINT64_C(9817491932198370423));
}

static void logarithm_and_exponential_are_right(void **state)
{
    (void)state;
    for (double x = 1e-300; x < 1e300; x *= 1.37)
        assert_near(rng_ln(x), log(x), 1e-14 * (1 + fabs(log(x))));
    for (double x = -690; x < 690; x += 0.137)
        assert_near(rng_exp(x) / exp(x), 1, 1e-12);
    assert_true(rng_ln(1) == 0);
    assert_true(rng_exp(0) == 1);
}

static void variables_have_their_moments(void **state)
{
    (void)state;
    static const struct {
        double shape, scale;
    } rows[] = {{1, 2}, {4.2, 0.94}, {312, 0.03}};
    struct rng rng = {42};
    int n = 200000;
    for (size_t i = 0; i < 3; i++) {
        double sum = 0;
        double squares = 0;
        for (int k = 0; k < n; k++) {
            double x = rng_gamma(&rng, rows[i].shape, rows[i].scale);
            assert_true(x > 0);
            sum += x;
            squares += x * x;
        }
        double mean = sum / n;
        double expected = rows[i].shape * rows[i].scale;
        assert_near(mean, expected, 0.01 * expected);
        double variance = expected * rows[i].scale;
        assert_near(squares / n - mean * mean, variance, 0.03 * variance);
    }
    double sum = 0;
    double squares = 0;
    for (int k = 0; k < n; k++) {
        double x = rng_normal(&rng);
        sum += x;
        squares += x * x;
    }
    assert_near(sum / n, 0, 0.01);
    assert_near(squares / n, 1, 0.02);
}

static void jobs_are_jobs(void **state)
{
    (void)state;
    struct trace t = generate(50000, 3, 256);
    for (size_t i = 0; i < t.n; i++) {
        const struct schedule_job *job = &t.jobs[i];
        assert_int_equal(job->id, i + 1);
        assert_true(job->submit >= (i > 0 ? t.jobs[i - 1].submit : 0));
        assert_true(job->run >= 1);
        assert_true(job->run <= 162754); /* e^12 */
        assert_true(job->limit >= job->run);
        assert_true(job->limit < 4 * job->run + 60);
        assert_int_equal(job->limit % 60, 0);
        assert_true(job->procs >= 1 && job->procs <= 256);
        assert_int_equal(job->priority, 0);
    }
    assert_int_equal(t.killed, 0);
    trace_clear(&t);
}

static void sizes_are_those_of_the_paper(void **state)
{
    (void)state;
    struct trace t = generate(50000, 4, 256);
    double n = (double)t.n;
    double serial = 0;
    double power = 0;
    double beyond = 0; /* above the middle of the two stages, 2^5.5 */
    for (size_t i = 0; i < t.n; i++) {
        serial += t.jobs[i].procs == 1;
        power += t.jobs[i].procs > 1 && is_power(t.jobs[i].procs);
        beyond += t.jobs[i].procs > 45;
    }
    assert_near(serial / n, 0.244, 0.01);
    /* some free sizes are powers by chance: mostly 2 and 4 */
    assert_true(power / n > 0.576 && power / n < 0.576 + 0.06);
    assert_near(beyond / n, 0.756 * 0.14, 0.01);
    trace_clear(&t);
}

static void large_jobs_run_longer(void **state)
{
    (void)state;
    struct trace t = generate(50000, 5, 256);
    double serial = 0;
    double serial_sum = 0;
    double large = 0;
    double large_sum = 0;
    for (size_t i = 0; i < t.n; i++) {
        double log_run = log((double)t.jobs[i].run);
        if (t.jobs[i].procs == 1) {
            serial++;
            serial_sum += log_run;
        } else if (t.jobs[i].procs >= 145) { /* the share of the short part is 0 from here */
            large++;
            large_sum += log_run;
        }
    }
    double share = 0.78 - 0.0054;
    assert_near(serial_sum / serial, share * 4.2 * 0.94 + (1 - share) * 312 * 0.03, 0.1);
    assert_near(large_sum / large, 312 * 0.03, 0.05);
    trace_clear(&t);
}

static void days_have_a_rush(void **state)
{
    (void)state;
    struct trace t = generate(50000, 6, 256);
    double hours[24] = {0};
    double day = 0; /* between 8 and 20 o'clock */
    for (size_t i = 0; i < t.n; i++)
        hours[t.jobs[i].submit / 3600 % 24]++;
    for (int hour = 0; hour < 24; hour++)
        day += hour >= 8 && hour < 20 ? hours[hour] : 0;
    assert_true(day / (double)t.n > 0.7 && day / (double)t.n < 0.85);
    /* the peak is that of the paper's gamma, the trough is where its day ends and starts */
    for (int hour = 0; hour < 24; hour++) {
        assert_true(hours[hour] <= 1.1 * hours[13]);
        assert_true(hours[hour] >= 0.8 * hours[4]);
    }
    trace_clear(&t);
}

static void load_is_offered(void **state)
{
    (void)state;
    static const int64_t machines[] = {1, 2, 3, 16, 100, 256, 4096, 100000};
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        struct trace t = generate(5000, 7, machines[i]);
        double area = 0;
        for (size_t k = 0; k < t.n; k++) {
            assert_true(t.jobs[k].procs >= 1 && t.jobs[k].procs <= machines[i]);
            area += (double)t.jobs[k].procs * (double)t.jobs[k].run;
        }
        /* the last day is not a whole one */
        double span = (double)(t.jobs[t.n - 1].submit + 1);
        assert_near(area / (double)machines[i] / span, 0.8, 0.8 * 86400 / span);
        trace_clear(&t);
    }
}

static void a_seed_names_a_workload(void **state)
{
    (void)state;
    struct trace a = generate(1000, 8, 256);
    struct trace b = generate(1000, 8, 256);
    struct trace c = generate(1000, 9, 256);
    assert_memory_equal(a.jobs, b.jobs, a.n * sizeof(*a.jobs));
    assert_true(memcmp(a.jobs, c.jobs, a.n * sizeof(*a.jobs)) != 0);
    trace_clear(&a);
    trace_clear(&b);
    trace_clear(&c);
}

static void the_workload_is_this_one(void **state)
{
    (void)state;
    struct trace t = generate(10000, 1, 256);
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a over the numbers of all jobs */
    for (size_t i = 0; i < t.n; i++) {
        const struct schedule_job *job = &t.jobs[i];
        const int64_t numbers[] = {job->id, job->submit, job->run, job->limit, job->procs};
        for (size_t k = 0; k < 5; k++)
            sum = (sum ^ (uint64_t)numbers[k]) * UINT64_C(1099511628211);
    }
    if (sum != UINT64_C(16071221471482385722))
        fail_msg("the workload changed: its checksum is %llu", (unsigned long long)sum);
    trace_clear(&t);
}

static void takes_one_job(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct trace t = generate(1, seed, 1 + (int64_t)seed % 3);
        assert_true(t.jobs[0].submit >= 0);
        trace_clear(&t);
    }
    struct trace t = generate(100, UINT64_MAX, LUBLIN_PROCS_MAX);
    trace_clear(&t);
}

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    static const struct {
        int64_t jobs, procs;
        const char *error;
    } rows[] = {
        {0, 8, "lublin: jobs: expected 1 to 100000000, found 0"},
        {-5, 8, "lublin: jobs: expected 1 to 100000000, found -5"},
        {INT64_MAX, 8, "lublin: jobs: expected 1 to 100000000, found 9223372036854775807"},
        {8, 0, "lublin: processors: expected 1 to 1000000000, found 0"},
        {8, LUBLIN_PROCS_MAX + 1, "lublin: processors: expected 1 to 1000000000, found 1000000001"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lublin_options options = {.jobs = rows[i].jobs, .procs = rows[i].procs};
        struct trace trace = {.n = 77};
        berth_error_t err;
        errno = 0;
        assert_int_equal(lublin_generate(&options, &trace, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(trace.n, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_is_splitmix64),
        cmocka_unit_test(logarithm_and_exponential_are_right),
        cmocka_unit_test(variables_have_their_moments),
        cmocka_unit_test(jobs_are_jobs),
        cmocka_unit_test(sizes_are_those_of_the_paper),
        cmocka_unit_test(large_jobs_run_longer),
        cmocka_unit_test(days_have_a_rush),
        cmocka_unit_test(load_is_offered),
        cmocka_unit_test(a_seed_names_a_workload),
        cmocka_unit_test(the_workload_is_this_one),
        cmocka_unit_test(takes_one_job),
        cmocka_unit_test(refuses_what_is_out_of_range),
    };
    return cmocka_run_group_tests_name("lublin", tests, NULL, NULL);
}
