/* A schedule over time. Busy time is summed exactly: a job adds its share to the columns at its two
 * ends, and to those between by one entry in an array of differences, so a long job costs no more
 * than a short one.
 */
#include "report/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

__extension__ typedef __int128 wide;

struct sums {
    int64_t *full; /* [c * classes + class]: change of the processors busy all through column c */
    double *edge;  /* same index: processor seconds of jobs that begin or end in column c */
};

static int64_t column_start(const struct series *s, size_t column)
{
    return s->from + (int64_t)((wide)s->span * (wide)column / (wide)s->columns);
}

static int64_t column_width(const struct series *s, size_t column)
{
    return column_start(s, column + 1) - column_start(s, column);
}

static size_t column_of(const struct series *s, int64_t time)
{
    size_t c = (size_t)((wide)(time - s->from) * (wide)s->columns / s->span);
    while (c + 1 < s->columns && column_start(s, c + 1) <= time)
        c++;
    return c < s->columns ? c : s->columns - 1;
}

static void add_busy(const struct series *s, struct sums *sums, const struct schedule_job *job,
                     int64_t start, int class)
{
    int64_t end = start + job->run;
    size_t a = column_of(s, start), b = column_of(s, end - 1);
    double procs = (double)job->procs;
    if (a == b) {
        sums->edge[a * WAITCLASS_COUNT + (size_t) class] += procs * (double)job->run;
        return;
    }
    sums->edge[a * WAITCLASS_COUNT + (size_t) class] +=
        procs * (double)(column_start(s, a + 1) - start);
    sums->edge[b * WAITCLASS_COUNT + (size_t) class] += procs * (double)(end - column_start(s, b));
    sums->full[(a + 1) * WAITCLASS_COUNT + (size_t) class] += job->procs;
    sums->full[b * WAITCLASS_COUNT + (size_t) class] -= job->procs;
}

static int fill_busy(struct series *s, const struct schedule *schedule,
                     const struct waitclass *classes)
{
    size_t cells = (s->columns + 1) * WAITCLASS_COUNT;
    struct sums sums = {calloc(cells, sizeof(*sums.full)), calloc(cells, sizeof(*sums.edge))};
    int error = sums.full && sums.edge ? 0 : ENOMEM;
    for (size_t i = 0; !error && i < schedule->n; i++) {
        const struct schedule_job *job = &schedule->jobs[i];
        int64_t start = schedule->start[i];
        if (start == SCHEDULE_NEVER)
            continue;
        if (start < s->from || start < job->submit || job->run < 1 ||
            job->run > s->span - (start - s->from))
            error = EINVAL;
        else
            add_busy(s, &sums, job, start, waitclass_of(classes, start - job->submit));
    }
    int64_t held[WAITCLASS_COUNT] = {0};
    for (size_t c = 0; !error && c < s->columns; c++) {
        double width = (double)column_width(s, c);
        double machine = width * (double)schedule->procs;
        for (size_t k = 0; k < WAITCLASS_COUNT; k++) {
            size_t at = c * WAITCLASS_COUNT + k;
            held[k] += sums.full[at];
            s->busy[at] = ((double)held[k] * width + sums.edge[at]) / machine;
        }
    }
    free(sums.full);
    free(sums.edge);
    return error;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void raise_columns(struct series *s, int64_t from, int64_t to, int64_t level)
{
    size_t last = column_of(s, to - 1);
    for (size_t c = column_of(s, from); c <= last; c++)
        if (level > s->waiting[c])
            s->waiting[c] = level;
    if (level > s->max_waiting)
        s->max_waiting = level;
}

/* Walk over the instants at which the queue grows or shrinks; what starts at once never waits. */
static void sweep_waiting(struct series *s, const int64_t *came, const int64_t *left, size_t n)
{
    size_t i = 0, j = 0;
    while (j < n) {
        int64_t now = i < n && came[i] < left[j] ? came[i] : left[j];
        while (i < n && came[i] == now)
            i++;
        while (j < n && left[j] == now)
            j++;
        if (i == j)
            continue;
        int64_t next = i < n && came[i] < left[j] ? came[i] : left[j];
        raise_columns(s, now, next, (int64_t)(i - j));
    }
}

static int fill_waiting(struct series *s, const struct schedule *schedule)
{
    int64_t *came = malloc((schedule->n + 1) * sizeof(*came));
    int64_t *left = malloc((schedule->n + 1) * sizeof(*left));
    int error = came && left ? 0 : ENOMEM;
    size_t n = 0;
    for (size_t i = 0; !error && i < schedule->n; i++) {
        int64_t submit = schedule->jobs[i].submit, start = schedule->start[i];
        if (start == SCHEDULE_NEVER || start == submit)
            continue;
        if (submit < s->from)
            error = EINVAL;
        came[n] = submit;
        left[n++] = start;
    }
    if (!error) {
        qsort(came, n, sizeof(*came), compare_times);
        qsort(left, n, sizeof(*left), compare_times);
        sweep_waiting(s, came, left, n);
    }
    free(came);
    free(left);
    return error;
}

int series_compute(const struct schedule *schedule, int64_t from, int64_t to, size_t max_columns,
                   const struct waitclass *classes, struct series *ret, berth_error_t *err)
{
    memset(ret, 0, sizeof(*ret));
    if (to <= from || max_columns < 1 || schedule->procs < 1)
        return errtext_set(err, EINVAL, "nothing to draw: the schedule is empty");
    struct series s = {.from = from, .span = to - from, .columns = max_columns};
    if ((uint64_t)s.span < s.columns)
        s.columns = (size_t)s.span;
    s.busy = calloc(s.columns * WAITCLASS_COUNT, sizeof(*s.busy));
    s.waiting = calloc(s.columns, sizeof(*s.waiting));
    int error = s.busy && s.waiting ? 0 : ENOMEM;
    if (!error)
        error = fill_busy(&s, schedule, classes);
    if (!error)
        error = fill_waiting(&s, schedule);
    if (error) {
        series_clear(&s);
        return errtext_set(err, error, "cannot draw the schedule: %s", strerror(error));
    }
    *ret = s;
    return 0;
}

void series_clear(struct series *series)
{
    free(series->busy);
    free(series->waiting);
    memset(series, 0, sizeof(*series));
}

double series_busy(const struct series *series, size_t column)
{
    double sum = 0;
    for (size_t k = 0; k < WAITCLASS_COUNT; k++)
        sum += series->busy[column * WAITCLASS_COUNT + k];
    return sum;
}
