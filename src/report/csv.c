/* The schedule, a row a job. Digits are made by hand: printf would take longer than the simulation.
 */
#include "report/csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "report/alloc.h"

#define COLUMNS         7
#define INT64_MAX_CHARS 20 /* "-9223372036854775808" */

struct key {
    int64_t id;
    size_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static bool in_order(const struct schedule *schedule)
{
    for (size_t i = 1; i < schedule->n; i++)
        if (schedule->jobs[i].id < schedule->jobs[i - 1].id)
            return false;
    return true;
}

/* Write value and return the end of what was written. */
static char *put_int(char *to, int64_t value)
{
    char digits[INT64_MAX_CHARS];
    size_t n = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[n++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *to++ = '-';
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

/* The ids of a job's cores, and the end of the line. */
static void write_alloc(struct outfile *out, const struct alloc *alloc, size_t job)
{
    struct alloc_cursor c = alloc_read(alloc, job);
    struct resource_range range;
    char before = ',';
    while (alloc_next(&c, &range)) {
        char text[2 * INT64_MAX_CHARS + 2];
        char *end = text;
        *end++ = before;
        end = put_int(end, range.first);
        if (range.last > range.first) {
            *end++ = '-';
            end = put_int(end, range.last);
        }
        outfile_write(out, text, (size_t)(end - text));
        before = ' ';
    }
    outfile_write(out, before == ',' ? ",\n" : "\n", before == ',' ? 2 : 1);
}

static void write_row(struct outfile *out, const struct schedule *schedule, size_t at)
{
    const struct schedule_job *job = &schedule->jobs[at];
    int64_t start = schedule->start[at];
    const int64_t values[COLUMNS] = {job->id,    job->submit, start,     start + job->run,
                                     job->procs, job->run,    job->limit};
    char row[COLUMNS * (INT64_MAX_CHARS + 1)];
    char *end = row;
    for (int i = 0; i < COLUMNS; i++) {
        end = put_int(end, values[i]);
        *end++ = i + 1 < COLUMNS ? ',' : '\n';
    }
    if (!schedule->alloc) {
        outfile_write(out, row, (size_t)(end - row));
        return;
    }
    outfile_write(out, row, (size_t)(end - row) - 1);
    write_alloc(out, schedule->alloc, at);
}

int csv_write(const struct schedule *schedule, struct outfile *out, berth_error_t *err)
{
    if (!out)
        return -1;
    const char *header = schedule->alloc ? "job,submit,start,end,procs,run,req,alloc\n"
                                         : "job,submit,start,end,procs,run,req\n";
    struct key *keys = NULL;
    if (!in_order(schedule)) {
        keys = malloc(schedule->n * sizeof(*keys));
        if (!keys) {
            errtext_set(err, ENOMEM, "%s: %s", outfile_path(out), strerror(ENOMEM));
            outfile_close(out, false, NULL);
            errno = ENOMEM;
            return -1;
        }
        for (size_t i = 0; i < schedule->n; i++)
            keys[i] = (struct key){schedule->jobs[i].id, i};
        qsort(keys, schedule->n, sizeof(*keys), compare_keys);
    }
    outfile_write(out, header, strlen(header));
    for (size_t i = 0; i < schedule->n; i++) {
        size_t at = keys ? keys[i].index : i;
        if (schedule->start[at] != SCHEDULE_NEVER)
            write_row(out, schedule, at);
    }
    free(keys);
    return outfile_close(out, true, err);
}
