/* The numbers by which a schedule is judged: exact sums, and quantiles by radix selection.
 *
 * Sums of times are kept as 128-bit integers and divided once, so an average is the double next to
 * the true one. Slowdowns are doubles from the start; they are added in the order of the trace, as
 * every published tool does, so that the last digits are theirs too.
 */
#include "report/metrics.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

__extension__ typedef __int128 wide;

#define DIGIT_BITS 12
#define DIGITS     (1 << DIGIT_BITS)

struct sums {
    wide wait, flow, area;
    double bsld;
    int64_t first_submit, last_end;
};

/* The k-th smallest of n values >= 0, none above max. One digit a round, from the top: the first
 * rounds shrink the candidates to those that share the answer's leading digits. Nothing is moved
 * and no input is slower than another, which is why this is not a quickselect.
 */
static int64_t select_kth(const int64_t *values, size_t n, size_t k, int64_t max)
{
    int shift = 0;
    while (max >> shift >= DIGITS)
        shift += DIGIT_BITS;

    int64_t prefix = 0;
    for (;; shift -= DIGIT_BITS) {
        size_t count[DIGITS] = {0};
        int above = shift + DIGIT_BITS; /* bits already decided; none in the first round */
        for (size_t i = 0; i < n; i++)
            if (above >= 63 || values[i] >> above == prefix)
                count[values[i] >> shift & (DIGITS - 1)]++;

        int64_t digit = 0;
        while (k >= count[digit])
            k -= count[digit++];
        assert(digit < DIGITS);
        prefix = prefix << DIGIT_BITS | digit;
        if (shift == 0)
            return prefix;
    }
}

static int add_job(struct sums *sums, struct metrics *m, const struct schedule_job *job,
                   int64_t start, int64_t tau, int64_t *ret_wait)
{
    int64_t wait, flow, end;
    if (job->submit < 0 || job->run < 0 || start < job->submit ||
        __builtin_add_overflow(start, job->run, &end))
        return -1;
    wait = start - job->submit;
    flow = end - job->submit;

    double bsld = (double)flow / (double)(tau > job->run ? tau : job->run);
    if (bsld < 1)
        bsld = 1;
    sums->bsld += bsld;
    sums->wait += wait;
    sums->flow += flow;
    sums->area += (wide)job->procs * job->run;
    if (m->n == 0 || job->submit < sums->first_submit)
        sums->first_submit = job->submit;
    if (end > sums->last_end)
        sums->last_end = end;

    if (wait > m->max_wait)
        m->max_wait = wait;
    if (flow > m->max_flow)
        m->max_flow = flow;
    if (bsld > m->max_bsld)
        m->max_bsld = bsld;
    m->n++;
    *ret_wait = wait;
    return 0;
}

int metrics_compute(const struct schedule *schedule, int64_t tau, struct metrics *ret,
                    berth_error_t *err)
{
    struct metrics m;
    struct sums sums;
    memset(&m, 0, sizeof(m));
    memset(&sums, 0, sizeof(sums));
    if (tau < 1)
        return errtext_set(err, EINVAL, "tau is %" PRId64 ", expected at least 1 s", tau);

    int64_t *waits = malloc((schedule->n ? schedule->n : 1) * sizeof(*waits));
    if (!waits)
        return errtext_set(err, ENOMEM, "out of memory for the waits of %zu jobs", schedule->n);
    for (size_t i = 0; i < schedule->n; i++) {
        if (schedule->start[i] == SCHEDULE_NEVER) {
            m.rejected++;
            continue;
        }
        if (add_job(&sums, &m, &schedule->jobs[i], schedule->start[i], tau, &waits[m.n]) < 0) {
            free(waits);
            return errtext_set(err, EINVAL, "job %" PRId64 " has times out of order",
                               schedule->jobs[i].id);
        }
    }
    if (m.n > 0) {
        double n = (double)m.n;
        m.avg_wait = (double)sums.wait / n;
        m.avg_flow = (double)sums.flow / n;
        m.avg_bsld = sums.bsld / n;
        m.median_wait = select_kth(waits, m.n, m.n / 2, m.max_wait);
        m.p95_wait = select_kth(waits, m.n, (size_t)(n * .95), m.max_wait);
        m.makespan = sums.last_end - sums.first_submit;
        if (m.makespan > 0 && schedule->procs > 0)
            m.utilisation = (double)sums.area / (double)schedule->procs / (double)m.makespan;
    }
    free(waits);
    *ret = m;
    return 0;
}
