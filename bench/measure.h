/* What the benchmarks share: a clock and the order of what it measured. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <time.h>

/* Seconds on a clock that only goes forward. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that this process has had a processor. */
static inline double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For qsort, over doubles. */
static inline int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
