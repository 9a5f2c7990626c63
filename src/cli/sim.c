/* berth sim: replay a workload under one policy or several, and report. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errtext.h"
#include "cli/progress.h"
#include "cli/sim_options.h"
#include "cli/verb.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/plot.h"
#include "report/table.h"
#include "sim/lublin.h"
#include "sim/simulate.h"
#include "sim/swf.h"

struct run {
    struct sim_options options;
    struct trace trace;
    char *name; /* of the workload, clean for every output */
    int64_t
        *start[SIM_POLICIES]; /* one array a policy for a picture, else the first is used again */
    struct schedule schedules[SIM_POLICIES];
    struct metrics metrics[SIM_POLICIES];
};

static int out_of_memory(berth_error_t *err)
{
    return errtext_set(err, ENOMEM, "out of memory");
}

static int load(struct run *run, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    char name[64];
    int rc;
    if (o->trace) {
        struct swf_options swf = {.procs = o->procs, .exact = o->exact, .limit = o->limit};
        rc = swf_read(o->trace, &swf, &run->trace, err);
    } else {
        struct lublin_options model = {.jobs = o->jobs_count, .seed = o->seed, .procs = o->procs};
        rc = lublin_generate(&model, &run->trace, err);
        for (size_t i = 0; rc == 0 && o->exact && i < run->trace.n; i++)
            run->trace.jobs[i].limit = run->trace.jobs[i].run;
    }
    if (rc < 0)
        return -1;
    snprintf(name, sizeof(name), "Lublin model, seed %" PRIu64, o->seed);
    const char *source = !o->trace                    ? name
                         : strcmp(o->trace, "-") == 0 ? "standard input"
                                                      : o->trace;
    run->name = report_clean_text(source);
    return run->name ? 0 : out_of_memory(err);
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

static int simulate_policy(struct run *run, size_t p, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    const char *policy = o->policies[p];
    size_t keep = o->plot_path ? p : 0;
    if (!run->start[keep])
        run->start[keep] = malloc((run->trace.n + 1) * sizeof(*run->start[keep]));
    if (!run->start[keep])
        return out_of_memory(err);

    struct progress progress;
    progress_begin(&progress, policy);
    struct simulate_options options = {
        .sched = {.policy = policy,
                  .reservation_depth = o->reservation_depth,
                  .queue_depth = o->queue_depth,
                  .order = o->order},
        .events = o->events,
        .progress = progress_update,
        .progress_arg = &progress,
    };
    struct simulate_stats stats = {0};
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    int rc = simulate(&run->trace, &options, run->start[keep], &stats, err);
    clock_gettime(CLOCK_MONOTONIC, &after);
    progress_end(&progress);
    if (rc < 0)
        return -1;
    run->schedules[p] = (struct schedule){
        .policy = policy,
        .procs = run->trace.procs,
        .n = run->trace.n,
        .jobs = run->trace.jobs,
        .start = run->start[keep],
        .passes = stats.passes,
        .seconds = seconds_between(&before, &after),
    };
    return metrics_compute(&run->schedules[p], o->tau, &run->metrics[p], err);
}

static int write_jobs(const struct run *run, size_t p, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    if (!o->jobs_path)
        return 0;
    if (o->npolicies == 1)
        return csv_write(&run->schedules[p], o->jobs_path, err);
    char *path = sim_policy_path(o->jobs_path, o->policies[p]);
    if (!path)
        return out_of_memory(err);
    int rc = csv_write(&run->schedules[p], path, err);
    free(path);
    return rc;
}

static int print_report(const struct run *run, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    struct report_count dropped[TRACE_DROP_COUNT];
    for (int i = 0; i < TRACE_DROP_COUNT; i++)
        dropped[i] =
            (struct report_count){trace_drop_name((enum trace_drop)i), run->trace.dropped[i]};
    struct report report = {
        .trace = run->name,
        .procs = run->trace.procs,
        .jobs = run->trace.n,
        .tau = o->tau,
        .events = sim_events_word(o->events),
        .order = sim_order_word(o->order),
        .estimates = sim_estimates_word(o->exact),
        .dropped = dropped,
        .ndropped = TRACE_DROP_COUNT,
        .killed = run->trace.killed,
        .schedules = run->schedules,
        .metrics = run->metrics,
        .npolicies = o->npolicies,
    };
    if (o->plot_path && plot_write(&report, o->plot_path, err) < 0)
        return -1;
    if (o->json)
        return json_print(&report, stdout, err);
    table_print(&report, stdout);
    return 0;
}

static int run_all(struct run *run, berth_error_t *err)
{
    if (load(run, err) < 0)
        return -1;
    for (size_t p = 0; p < run->options.npolicies; p++)
        if (simulate_policy(run, p, err) < 0 || write_jobs(run, p, err) < 0)
            return -1;
    return print_report(run, err);
}

int cli_sim(int argc, char **argv)
{
    struct run run;
    int status;
    berth_error_t err = {""};
    memset(&run, 0, sizeof(run));
    if (!sim_options_parse(argc, argv, &run.options, &status))
        return status;
    int rc = run_all(&run, &err);
    if (rc < 0)
        fprintf(stderr, "berth sim: %s\n", err.text);
    for (size_t p = 0; p < SIM_POLICIES; p++)
        free(run.start[p]);
    free(run.name);
    trace_clear(&run.trace);
    return rc < 0 ? CLI_FAILED : CLI_OK;
}
