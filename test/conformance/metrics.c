/* The metrics of recorded schedules equal those recorded beside them, digit for digit: metrics DIR, where
 * DIR holds summary.csv and the schedules.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "report/metrics.h"

enum { COLUMNS = 14 };

struct loaded {
    struct schedule_job *jobs;
    int64_t *start;
    size_t n;
};

/* The recorded schedule a row of the summary speaks of. */
static gzFile open_schedule(const char *dir, char *const *row)
{
    char path[512];
    const char *name = strncmp(row[0], "KTH", 3) == 0   ? "KTH-SP2-1996-2.f28481"
                       : strncmp(row[0], "CEA", 3) == 0 ? "CEA-Curie-2011-2.1.f295540"
                                                        : "lublin_256";
    snprintf(path, sizeof(path), "%s/%s.%s.%s%s.csv.gz", dir, name, row[2], row[3],
             strcmp(row[4], "exact") == 0 ? ".exact" : "");
    return gzopen(path, "rb");
}

static struct loaded load(gzFile file)
{
    char line[256];
    struct loaded l = {NULL, NULL, 0};
    size_t room = 0;
    gzgets(file, line, sizeof(line));
    while (gzgets(file, line, sizeof(line))) {
        if (l.n == room) {
            room = room ? 2 * room : 1024;
            l.jobs = realloc(l.jobs, room * sizeof(*l.jobs));
            l.start = realloc(l.start, room * sizeof(*l.start));
            if (!l.jobs || !l.start)
                exit(1);
        }
        struct schedule_job *job = &l.jobs[l.n];
        int64_t end;
        memset(job, 0, sizeof(*job));
        if (sscanf(line,
                   "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64
                   ",%" SCNd64,
                   &job->id, &job->submit, &l.start[l.n], &end, &job->procs, &job->run,
                   &job->limit) != 7)
            exit(1);
        l.n++;
    }
    return l;
}

static int expect(char *const *row, const char *what, const char *recorded, const char *computed)
{
    if (strcmp(recorded, computed) == 0)
        return 0;
    printf("%s %s %s: %s is %s, recorded %s\n", row[0], row[2], row[3], what, computed, recorded);
    return 1;
}

static int compare(char *const *row, const struct metrics *m)
{
    char text[64];
    int failures = 0;
    snprintf(text, sizeof(text), "%zu", m->n);
    failures += expect(row, "n", row[5], text);
    snprintf(text, sizeof(text), "%.6f", m->avg_wait);
    failures += expect(row, "average wait", row[6], text);
    snprintf(text, sizeof(text), "%.6f", m->avg_flow);
    failures += expect(row, "average flow", row[7], text);
    snprintf(text, sizeof(text), "%" PRId64, m->max_flow);
    failures += expect(row, "largest flow", row[8], text);
    snprintf(text, sizeof(text), "%.6f", m->avg_bsld);
    failures += expect(row, "average bounded slowdown", row[9], text);
    snprintf(text, sizeof(text), "%.4f", m->max_bsld);
    failures += expect(row, "largest bounded slowdown", row[10], text);
    snprintf(text, sizeof(text), "%.6f", m->utilisation);
    failures += expect(row, "utilisation", row[11], text);
    snprintf(text, sizeof(text), "%" PRId64, m->makespan);
    return failures + expect(row, "makespan", row[12], text);
}

/* Returns the number of columns; they point into line. */
static int split(char *line, char **columns)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && n < COLUMNS; n++)
        columns[n] = strsep(&at, ",");
    return n;
}

int main(int argc, char **argv)
{
    char path[512], line[512], *row[COLUMNS];
    int compared = 0, failures = 0;
    if (argc != 2)
        return 1;
    snprintf(path, sizeof(path), "%s/summary.csv", argv[1]);
    FILE *summary = fopen(path, "r");
    if (!summary) {
        printf("skipped: no recorded schedules beside the checkout\n");
        return 77;
    }
    while (fgets(line, sizeof(line), summary)) {
        if (split(line, row) < COLUMNS - 1 || !*row[7])
            continue;
        gzFile file = open_schedule(argv[1], row);
        if (!file)
            continue;
        struct loaded l = load(file);
        gzclose(file);
        struct schedule s = {
            .procs = strtoll(row[1], NULL, 10), .n = l.n, .jobs = l.jobs, .start = l.start};
        struct metrics m;
        berth_error_t err;
        if (metrics_compute(&s, 10, &m, &err) < 0) {
            printf("%s\n", err.text);
            failures++;
        } else {
            failures += compare(row, &m);
        }
        compared++;
        free(l.jobs);
        free(l.start);
    }
    fclose(summary);
    printf("%d schedules compared, %d numbers differ\n", compared, failures);
    return compared == 0 || failures > 0;
}
