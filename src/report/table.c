/* The report as a table: a row a number, a column a policy, so that a row compares the policies. */
#include "report/table.h"

#include <stdint.h>

#include "report/human.h"
#include "report/sharing.h"

#define LABEL_WIDTH 24
#define CELL_WIDTH  13 /* four policies fit into 80 columns */

enum row {
    ROW_JOBS,
    ROW_REJECTED,
    ROW_AVG_WAIT,
    ROW_AVG_WAIT_READABLE,
    ROW_MEDIAN_WAIT,
    ROW_P95_WAIT,
    ROW_MAX_WAIT,
    ROW_AVG_FLOW,
    ROW_MAX_FLOW,
    ROW_AVG_BSLD,
    ROW_MAX_BSLD,
    ROW_UTILISATION,
    ROW_MAKESPAN,
    ROW_MAKESPAN_READABLE,
    ROW_PREEMPTIONS,
    ROW_LOST,
    ROW_JAIN,
    ROW_ERROR,
    ROW_MAX_ERROR,
    ROW_PILOTS,
    ROW_ASKED,
    ROW_HAD,
    ROW_USED,
    ROW_PASSES,
    ROW_SPEED,
    ROW_COUNT
};

static const char *const labels[ROW_COUNT] = {
    [ROW_JOBS] = "jobs",
    [ROW_REJECTED] = "rejected",
    [ROW_AVG_WAIT] = "wait, mean           s",
    [ROW_AVG_WAIT_READABLE] = "",
    [ROW_MEDIAN_WAIT] = "wait, median         s",
    [ROW_P95_WAIT] = "wait, 95th pct.      s",
    [ROW_MAX_WAIT] = "wait, max            s",
    [ROW_AVG_FLOW] = "flow, mean           s",
    [ROW_MAX_FLOW] = "flow, max            s",
    [ROW_AVG_BSLD] = "bounded slowdown, mean",
    [ROW_MAX_BSLD] = "bounded slowdown, max",
    [ROW_UTILISATION] = "utilisation          %",
    [ROW_MAKESPAN] = "makespan             s",
    [ROW_MAKESPAN_READABLE] = "",
    [ROW_PREEMPTIONS] = "preemptions",
    [ROW_LOST] = "work lost       proc * s",
    [ROW_JAIN] = "Jain's index",
    [ROW_ERROR] = "share error, mean    %",
    [ROW_MAX_ERROR] = "share error, max     %",
    [ROW_PILOTS] = "pilots asked for",
    [ROW_ASKED] = "  for      node hours",
    [ROW_HAD] = "  had      node hours",
    [ROW_USED] = "  used     node hours",
    [ROW_PASSES] = "passes",
    [ROW_SPEED] = "jobs simulated     1/s",
};

static const char *cell(enum row row, const struct schedule *s, const struct metrics *m,
                        char buf[HUMAN_SIZE])
{
    switch (row) {
    case ROW_JOBS:
        return human_count((int64_t)m->n, buf);
    case ROW_REJECTED:
        return human_count((int64_t)m->rejected, buf);
    case ROW_AVG_WAIT:
        return human_real(m->avg_wait, 2, buf);
    case ROW_AVG_WAIT_READABLE:
        return human_duration((int64_t)(m->avg_wait + .5), buf);
    case ROW_MEDIAN_WAIT:
        return human_count(m->median_wait, buf);
    case ROW_P95_WAIT:
        return human_count(m->p95_wait, buf);
    case ROW_MAX_WAIT:
        return human_count(m->max_wait, buf);
    case ROW_AVG_FLOW:
        return human_real(m->avg_flow, 2, buf);
    case ROW_MAX_FLOW:
        return human_count(m->max_flow, buf);
    case ROW_AVG_BSLD:
        return human_real(m->avg_bsld, 3, buf);
    case ROW_MAX_BSLD:
        return human_real(m->max_bsld, 1, buf);
    case ROW_UTILISATION:
        return human_real(m->utilisation * 100, 2, buf);
    case ROW_MAKESPAN:
        return human_count(m->makespan, buf);
    case ROW_MAKESPAN_READABLE:
        return human_duration(m->makespan, buf);
    case ROW_PREEMPTIONS:
        return human_count((int64_t)s->preemptions, buf);
    case ROW_LOST:
        return human_real(s->lost, 0, buf);
    case ROW_JAIN:
        return s->sharing ? human_real(sharing_jain(s->sharing), 3, buf) : "";
    case ROW_ERROR:
        return s->sharing ? human_real(sharing_mean_error(s->sharing) * 100, 2, buf) : "";
    case ROW_MAX_ERROR:
        return s->sharing ? human_real(s->sharing->max_error * 100, 2, buf) : "";
    case ROW_PILOTS:
        return s->pilots ? human_count(s->pilots->pilots, buf) : "";
    case ROW_ASKED:
        return s->pilots ? human_real(s->pilots->asked / 3600, 2, buf) : "";
    case ROW_HAD:
        return s->pilots ? human_real(s->pilots->had / 3600, 2, buf) : "";
    case ROW_USED:
        return s->pilots ? human_real(s->pilots->used / 3600, 2, buf) : "";
    case ROW_PASSES:
        return human_count((int64_t)s->passes, buf);
    case ROW_SPEED:
        return human_real(report_jobs_per_s(s), 0, buf);
    case ROW_COUNT:
        break;
    }
    return "";
}

static void print_dropped(const struct report *report, FILE *out)
{
    char buf[HUMAN_SIZE];
    const char *before = "dropped: ";
    for (size_t i = 0; i < report->ndropped; i++) {
        if (report->dropped[i].count == 0)
            continue;
        fprintf(out, "%s%s %s", before, human_count((int64_t)report->dropped[i].count, buf),
                report->dropped[i].name);
        before = ", ";
    }
    fputs(before[0] == ',' ? "\n" : "dropped: none\n", out);
    if (report->killed > 0)
        fprintf(out, "killed at their estimate: %s\n", human_count((int64_t)report->killed, buf));
}

/* Some rows are there only where one policy has something to say. */
static bool is_row_told(enum row row, const struct report *report)
{
    bool any = false;
    for (size_t p = 0; p < report->npolicies; p++) {
        const struct schedule *s = &report->schedules[p];
        any = any || (row == ROW_REJECTED                         ? report->metrics[p].rejected > 0
                      : row == ROW_PREEMPTIONS || row == ROW_LOST ? s->preemptions > 0
                      : row >= ROW_JAIN && row <= ROW_MAX_ERROR   ? s->sharing != NULL
                      : row >= ROW_PILOTS && row <= ROW_USED      ? s->pilots != NULL
                                                                  : true);
    }
    return any;
}

void table_print(const struct report *report, FILE *out)
{
    char jobs[HUMAN_SIZE], procs[HUMAN_SIZE], tau[HUMAN_SIZE], buf[HUMAN_SIZE];
    fprintf(out, "%s: %s job%s on %s processor%s\n", report->trace,
            human_count((int64_t)report->jobs, jobs), report->jobs == 1 ? "" : "s",
            human_count(report->procs, procs), report->procs == 1 ? "" : "s");
    fprintf(out, "events %s, order %s, estimates %s, tau %s s\n", report->events, report->order,
            report->estimates, human_count(report->tau, tau));
    print_dropped(report, out);

    fprintf(out, "\n%-*s", LABEL_WIDTH, "");
    for (size_t p = 0; p < report->npolicies; p++)
        fprintf(out, " %*s", CELL_WIDTH, report->schedules[p].policy);
    fputc('\n', out);
    for (enum row row = 0; row < ROW_COUNT; row++) {
        if (!is_row_told(row, report))
            continue;
        fprintf(out, "%-*s", LABEL_WIDTH, labels[row]);
        for (size_t p = 0; p < report->npolicies; p++)
            fprintf(out, " %*s", CELL_WIDTH,
                    cell(row, &report->schedules[p], &report->metrics[p], buf));
        fputc('\n', out);
    }
}
