/* A schedule over time, cut into columns: how busy the machine was and how many jobs waited. */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "berth/error.h"
#include "report/schedule.h"
#include "report/waitclass.h"

struct series {
    size_t columns;
    int64_t from,
        /* column c begins at second from + span * c / columns and ends where the next begins */
        span;
    double *busy;        /* [c * WAITCLASS_COUNT + class]: mean share of the machine, 0 to 1 */
    int64_t *waiting;    /* the largest number of jobs that waited at a time in the column */
    int64_t max_waiting; /* the largest of these */
};

/* Cut the seconds [from, to) into at most max_columns columns, at least a second wide. Time is
 * O(columns + n log n). Returns 0; series_clear frees. Or -1 with errno and a text: EINVAL for an
 * empty interval or jobs outside it, ENOMEM.
 */
int series_compute(const struct schedule *schedule, int64_t from, int64_t to, size_t max_columns,
                   const struct waitclass *classes, struct series *ret, berth_error_t *err);

void series_clear(struct series *series);

/* The mean share of the machine in use in a column, by all classes together. */
double series_busy(const struct series *series, size_t column);

#endif
