/* The workload model of Lublin and Feitelson. */
#include "sim/lublin.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "sim/rng.h"

/* Sizes: log2 of a parallel size is uniform in [LOW, middle] with probability FIRST_STAGE, else in
 * [middle, log2 of the machine], where the middle lies MIDDLE_BELOW under the upper end.
 */
#define SIZE_SERIAL       0.244
#define SIZE_POWER        0.576
#define SIZE_LOW          0.8
#define SIZE_MIDDLE_BELOW 2.5
#define SIZE_FIRST_STAGE  0.86

/* Run times: ln of the run time is of the first gamma with probability SLOPE * size + SHARE. */
#define RUN_SHAPE_1 4.2
#define RUN_SCALE_1 0.94
#define RUN_SHAPE_2 312
#define RUN_SCALE_2 0.03
#define RUN_SLOPE   (-0.0054)
#define RUN_SHARE   0.78
#define RUN_LN_MAX  12

/* Gaps: ln of the gap. The shape was fitted to the hours of the day with the most arrivals; the
 * factor makes it hold for all.
 */
#define GAP_SHAPE  (10.2303 * 1.0225)
#define GAP_SCALE  0.4871
#define GAP_LN_MAX 13

/* The daily cycle: bucket i, the half hour that begins i of them after DAY_FIRST * 30 min, has the
 * part of this gamma's density that lies within half a unit of DAY_FIRST + 1 + i.
 */
#define DAY_SHAPE   8.1737
#define DAY_SCALE   3.9631
#define DAY_FIRST   10
#define DAY_BUCKETS 48
#define BUCKET      1800.0 /* seconds */

#define LOAD     0.8
#define ESTIMATE 3 /* f of the f-model */

/* The seconds of arrival time that have passed at the start of each half hour after midnight, if a whole day
 * has as many as the clock's.
 */
struct day {
    double passed[DAY_BUCKETS + 1];
};

/* The density of the daily cycle, up to a factor. */
static double day_density(double x)
{
    return rng_exp((DAY_SHAPE - 1) * rng_ln(x) - x / DAY_SCALE);
}

static void day_init(struct day *day)
{
    double share[DAY_BUCKETS];
    double sum = 0;
    for (int i = 0; i < DAY_BUCKETS; i++) {
        /* Simpson's rule over two halves: the density is smooth over many buckets */
        double x = DAY_FIRST + 1 + i;
        double part = day_density(x - 0.5) + 4 * day_density(x - 0.25) + 2 * day_density(x) +
                      4 * day_density(x + 0.25) + day_density(x + 0.5);
        share[(DAY_FIRST + i) % DAY_BUCKETS] = part;
        sum += part;
    }
    day->passed[0] = 0;
    for (int i = 0; i < DAY_BUCKETS; i++)
        day->passed[i + 1] = day->passed[i] + share[i] / sum * DAY_BUCKETS * BUCKET;
}

/* The clock's time at which so much arrival time has passed since the first midnight. */
static double day_clock(const struct day *day, double arrival)
{
    double whole = day->passed[DAY_BUCKETS];
    double days = floor(arrival / whole);
    double rest = arrival - days * whole;
    int i = 0;
    while (i < DAY_BUCKETS - 1 && day->passed[i + 1] <= rest)
        i++;
    double part = (rest - day->passed[i]) / (day->passed[i + 1] - day->passed[i]);
    return (days * DAY_BUCKETS + i + part) * BUCKET;
}

/* e to a gamma variable, drawn again while it exceeds e to the maximum. */
static double exp_gamma(struct rng *rng, double shape, double scale, double max)
{
    for (;;) {
        double value = rng_gamma(rng, shape, scale);
        if (value <= max)
            return rng_exp(value);
    }
}

static int64_t draw_size(struct rng *rng, int64_t procs)
{
    double kind = rng_uniform(rng);
    if (procs == 1 || kind < SIZE_SERIAL)
        return 1;
    double ln_2 = rng_ln(2);
    double high = rng_ln((double)procs) / ln_2;
    double middle = high - SIZE_MIDDLE_BELOW;
    if (middle < SIZE_LOW)
        middle = SIZE_LOW;
    bool first = rng_uniform(rng) < SIZE_FIRST_STAGE;
    double from = first ? SIZE_LOW : middle;
    double to = first ? middle : high;
    double log2_size = from + (to - from) * rng_uniform(rng);
    int64_t size = 1;
    if (kind < SIZE_SERIAL + SIZE_POWER) {
        /* the largest power within the machine, if rounding up exceeds it */
        for (int k = (int)floor(log2_size + 0.5); k > 0 && 2 * size <= procs; k--)
            size *= 2;
        return size;
    }
    size = (int64_t)floor(rng_exp(log2_size * ln_2) + 0.5);
    return size > procs ? procs : size;
}

static int64_t draw_run(struct rng *rng, int64_t size)
{
    double share = RUN_SLOPE * (double)size + RUN_SHARE;
    bool first = rng_uniform(rng) < share;
    double run = first ? exp_gamma(rng, RUN_SHAPE_1, RUN_SCALE_1, RUN_LN_MAX)
                       : exp_gamma(rng, RUN_SHAPE_2, RUN_SCALE_2, RUN_LN_MAX);
    return (int64_t)floor(run);
}

static int64_t draw_estimate(struct rng *rng, int64_t run)
{
    double estimate = (double)run * (1 + ESTIMATE * rng_uniform(rng));
    return (int64_t)ceil(estimate / 60) * 60;
}

/* Draw all jobs, with the gap before each in gaps[]. Returns the processor seconds of all. */
static double draw_jobs(struct rng *rng, const struct lublin_options *options,
                        struct schedule_job *jobs, double *gaps)
{
    double area = 0;
    for (int64_t i = 0; i < options->jobs; i++) {
        struct schedule_job *job = &jobs[i];
        gaps[i] = exp_gamma(rng, GAP_SHAPE, GAP_SCALE, GAP_LN_MAX);
        job->id = i + 1;
        job->procs = draw_size(rng, options->procs);
        job->run = draw_run(rng, job->procs);
        job->limit = draw_estimate(rng, job->run);
        area += (double)job->procs * (double)job->run;
    }
    return area;
}

/* Give the jobs their submit times, the gaps scaled so that the work offered is LOAD of the
 * machine. */
static void place_arrivals(const struct lublin_options *options, struct schedule_job *jobs,
                           const double *gaps, double area)
{
    struct day day;
    double sum = 0;
    for (int64_t i = 0; i < options->jobs; i++)
        sum += gaps[i];
    double scale = area / (LOAD * (double)options->procs) / sum;
    day_init(&day);
    double arrival = 0;
    for (int64_t i = 0; i < options->jobs; i++) {
        arrival += gaps[i] * scale;
        jobs[i].submit = (int64_t)floor(day_clock(&day, arrival));
    }
}

int lublin_generate(const struct lublin_options *options, struct trace *trace, berth_error_t *err)
{
    if (options->jobs < 1 || options->jobs > LUBLIN_JOBS_MAX)
        return errtext_set(err, EINVAL, "lublin: jobs: expected 1 to %lld, found %lld",
                           (long long)LUBLIN_JOBS_MAX, (long long)options->jobs);
    if (options->procs < 1 || options->procs > LUBLIN_PROCS_MAX)
        return errtext_set(err, EINVAL, "lublin: processors: expected 1 to %lld, found %lld",
                           (long long)LUBLIN_PROCS_MAX, (long long)options->procs);
    struct schedule_job *jobs = calloc((size_t)options->jobs, sizeof(*jobs));
    double *gaps = calloc((size_t)options->jobs, sizeof(*gaps));
    if (!jobs || !gaps) {
        free(jobs);
        free(gaps);
        return errtext_set(err, ENOMEM, "lublin: out of memory for %lld jobs",
                           (long long)options->jobs);
    }
    struct rng rng = {options->seed};
    double area = draw_jobs(&rng, options, jobs, gaps);
    place_arrivals(options, jobs, gaps, area);
    free(gaps);
    *trace = (struct trace){.jobs = jobs, .n = (size_t)options->jobs, .procs = options->procs};
    return 0;
}
