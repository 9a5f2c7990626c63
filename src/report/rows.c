/* Which processors a job had. The free processors are a sorted array of gaps, no two of them
 * adjacent. */
#include "report/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"

struct gap {
    int64_t first, count;
};

struct event {
    int64_t time;
    size_t job;
};

struct assign {
    struct gap *gaps;
    size_t ngaps;
    struct event *starts, *ends; /* sorted by time, then by place in the trace */
    size_t nstarted;
    size_t *piece_of; /* a job's first piece */
    struct rows rows;
    size_t max;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* Take count processors off the low end of gap g. */
static void take_processors(struct assign *a, size_t g, size_t job, int64_t count)
{
    struct gap *gap = &a->gaps[g];
    a->rows.pieces[a->rows.n++] = (struct rows_piece){job, gap->first, count};
    gap->first += count;
    gap->count -= count;
    if (gap->count == 0) {
        memmove(gap, gap + 1, (a->ngaps - g - 1) * sizeof(*gap));
        a->ngaps--;
    }
}

static int place_job(struct assign *a, size_t job, int64_t procs)
{
    a->piece_of[job] = a->rows.n;
    for (size_t g = 0; g < a->ngaps; g++) {
        if (a->gaps[g].count < procs)
            continue;
        if (a->rows.n == a->max)
            return E2BIG;
        take_processors(a, g, job, procs);
        return 0;
    }
    while (procs > 0) {
        if (a->ngaps == 0)
            return EINVAL;
        if (a->rows.n == a->max)
            return E2BIG;
        int64_t part = a->gaps[0].count < procs ? a->gaps[0].count : procs;
        take_processors(a, 0, job, part);
        procs -= part;
    }
    return 0;
}

static void give_back(struct assign *a, int64_t first, int64_t count)
{
    size_t g = 0;
    while (g < a->ngaps && a->gaps[g].first < first)
        g++;
    bool joins_low = g > 0 && a->gaps[g - 1].first + a->gaps[g - 1].count == first;
    bool joins_high = g < a->ngaps && first + count == a->gaps[g].first;
    if (joins_low && joins_high) {
        a->gaps[g - 1].count += count + a->gaps[g].count;
        memmove(&a->gaps[g], &a->gaps[g + 1], (a->ngaps - g - 1) * sizeof(*a->gaps));
        a->ngaps--;
    } else if (joins_low) {
        a->gaps[g - 1].count += count;
    } else if (joins_high) {
        a->gaps[g].first = first;
        a->gaps[g].count += count;
    } else {
        memmove(&a->gaps[g + 1], &a->gaps[g], (a->ngaps - g) * sizeof(*a->gaps));
        a->gaps[g] = (struct gap){first, count};
        a->ngaps++;
    }
}

static void end_job(struct assign *a, size_t job)
{
    for (size_t p = a->piece_of[job]; p < a->rows.n && a->rows.pieces[p].job == job; p++)
        give_back(a, a->rows.pieces[p].first, a->rows.pieces[p].count);
}

static int sweep(struct assign *a, const struct schedule *schedule)
{
    a->gaps[0] = (struct gap){0, schedule->procs};
    a->ngaps = 1;
    size_t e = 0;
    for (size_t s = 0; s < a->nstarted; s++) {
        for (; e < a->nstarted && a->ends[e].time <= a->starts[s].time; e++)
            end_job(a, a->ends[e].job);
        int error = place_job(a, a->starts[s].job, schedule->jobs[a->starts[s].job].procs);
        if (error)
            return error;
    }
    return 0;
}

static int allocate(struct assign *a, size_t n)
{
    /* Between two pieces that are held there is at most one gap. */
    a->gaps = malloc((a->max + 2) * sizeof(*a->gaps));
    a->rows.pieces = malloc((a->max + 1) * sizeof(*a->rows.pieces));
    a->starts = malloc((n + 1) * sizeof(*a->starts));
    a->ends = malloc((n + 1) * sizeof(*a->ends));
    a->piece_of = malloc((n + 1) * sizeof(*a->piece_of));
    return a->gaps && a->rows.pieces && a->starts && a->ends && a->piece_of ? 0 : ENOMEM;
}

int rows_assign(const struct schedule *schedule, size_t max, struct rows *ret, berth_error_t *err)
{
    struct assign a = {.max = max};
    memset(ret, 0, sizeof(*ret));
    if (schedule->n > max)
        return errtext_set(err, E2BIG, "%zu jobs are more than %zu", schedule->n, max);
    int error = allocate(&a, schedule->n);
    if (!error) {
        for (size_t i = 0; i < schedule->n; i++) {
            if (schedule->start[i] == SCHEDULE_NEVER)
                continue;
            a.starts[a.nstarted] = (struct event){schedule->start[i], i};
            a.ends[a.nstarted++] = (struct event){schedule->start[i] + schedule->jobs[i].run, i};
        }
        qsort(a.starts, a.nstarted, sizeof(*a.starts), compare_events);
        qsort(a.ends, a.nstarted, sizeof(*a.ends), compare_events);
        error = sweep(&a, schedule);
    }
    free(a.gaps);
    free(a.starts);
    free(a.ends);
    free(a.piece_of);
    if (error) {
        rows_clear(&a.rows);
        return errtext_set(err, error, "cannot give each job its processors: %s", strerror(error));
    }
    *ret = a.rows;
    return 0;
}

void rows_clear(struct rows *rows)
{
    free(rows->pieces);
    memset(rows, 0, sizeof(*rows));
}
