/* berth sim: replay a workload under one or more policies, and report. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "berth/sched_config.h"
#include "cli/progress.h"
#include "cli/sim_config.h"
#include "cli/sim_options.h"
#include "cli/sim_scenario.h"
#include "cli/verb.h"
#include "config/machine_open.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/outfile.h"
#include "report/plot.h"
#include "report/sharing.h"
#include "report/table.h"
#include "sim/lublin.h"
#include "sim/queues.h"
#include "sim/simulate.h"
#include "sim/swf.h"

struct run {
    struct sim_options options;
    struct trace trace;
    struct config *config; /* NULL: one queue, as the options say */
    match_t *machine;      /* NULL: processors without names */
    struct alloc alloc;    /* under the present policy */
    struct sharing
        *sharing; /* of the only policy that a configuration has; NULL: there are no shares */
    char *name;   /* of the workload, clean for all outputs */
    /* One array for each policy if there is a picture; else the first is reused. */
    int64_t *start[SCHED_POLICIES_MAX];
    struct outfile
        *jobs[SCHED_POLICIES_MAX]; /* one for each policy; NULL: not wanted, or already written */
    struct outfile *plot;
    struct schedule_pilots pilots; /* of the only policy that a configuration has */
    struct schedule schedules[SCHED_POLICIES_MAX];
    struct metrics metrics[SCHED_POLICIES_MAX];
};

/* Open the file for the jobs of a policy. */
static struct outfile *open_jobs(const struct sim_options *o, size_t p, berth_error_t *err)
{
    if (o->npolicies == 1)
        return outfile_open(o->jobs_path, err);
    char *path = sim_policy_path(o->jobs_path, o->policies[p]);
    if (!path) {
        errtext_no_memory(err);
        return NULL;
    }
    struct outfile *out = outfile_open(path, err);
    free(path);
    return out;
}

/* Open the output files, so that a bad name is known before the work. Returns the exit status. */
static int open_outputs(struct run *run, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    const char *what;
    struct stat st;
    bool is_single = sim_is_output(o->jobs_path) || (o->jobs_path && stat(o->jobs_path, &st) == 0 &&
                                                     !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
    if (is_single && o->npolicies > 1)
        return cli_usage("sim", "--jobs: '%.60s' is a single file, but each policy needs one",
                         o->jobs_path);
    if (o->plot_path && !(run->plot = outfile_open(o->plot_path, err)))
        return CLI_FAILED;
    if (run->plot && (what = sim_replaced(run->plot, o)))
        return cli_usage("sim", "--plot: '%.60s' is the %s", o->plot_path, what);
    for (size_t p = 0; o->jobs_path && p < o->npolicies; p++) {
        if (!(run->jobs[p] = open_jobs(o, p, err)))
            return CLI_FAILED;
        const char *target = outfile_target(run->jobs[p]);
        const char *plot = run->plot ? outfile_target(run->plot) : NULL;
        if ((target && plot && strcmp(target, plot) == 0) ||
            (sim_is_output(o->jobs_path) && sim_is_output(o->plot_path)))
            return cli_usage("sim", "--jobs and --plot are the same file, '%.60s'", o->plot_path);
        if ((what = sim_replaced(run->jobs[p], o)))
            return cli_usage("sim", "--jobs: '%.60s' is the %s", outfile_path(run->jobs[p]), what);
    }
    return CLI_OK;
}

/* A run that is interrupted leaves no unfinished file. */
static void interrupted(int signal_number)
{
    outfile_abandon();
    raise(signal_number); /* now with the signal's default action */
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = interrupted,
                               .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction old;
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

/* The machine of a configuration and its processors. */
static int load_config(struct run *run, int64_t *procs, berth_error_t *err)
{
    const char *path = run->options.config;
    run->config = sim_config_read(path, 1, err);
    if (!run->config || !(run->machine = config_machine_open(run->config, path, err)) ||
        config_check_types(run->config, run->machine, path, err) < 0)
        return -1;
    *procs = queues_procs(run->config, run->machine, err);
    return *procs < 0 ? -1 : 0;
}

static int load_sim_run(struct run *run, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    int64_t procs = o->procs;
    char name[64];
    int rc;
    if (o->machine && !(run->machine = sim_machine_load(o, &procs, err)))
        return -1;
    if (o->config && load_config(run, &procs, err) < 0)
        return -1;
    if (o->trace) {
        struct swf_options swf = {
            .procs = procs, .exact = o->exact, .limit = o->limit, .who = o->config != NULL};
        rc = swf_read(o->trace, &swf, &run->trace, err);
    } else {
        struct lublin_options model = {.jobs = o->jobs_count, .seed = o->seed, .procs = procs};
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
    return run->name ? 0 : errtext_no_memory(err);
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
        return errtext_no_memory(err);
    alloc_clear(&run->alloc);
    bool named = run->machine && run->jobs[p];
    if (named && alloc_init(&run->alloc, run->trace.n) < 0)
        return errtext_no_memory(err);

    if (run->config && (!(run->sharing = sharing_create())))
        return errtext_no_memory(err);
    struct progress progress;
    progress_begin(&progress, policy);
    struct simulate_options options = {
        .sched = {.policy = policy,
                  .reservation_depth = o->reservation_depth,
                  .queue_depth = o->queue_depth,
                  .order = o->order},
        .events = o->events,
        .machine = run->machine,
        .config = run->config,
        .alloc = named ? &run->alloc : NULL,
        .sharing = run->sharing,
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
    run->pilots = stats.pilots;
    run->schedules[p] = (struct schedule){
        .policy = policy,
        .procs = run->trace.procs,
        .n = run->trace.n,
        .jobs = run->trace.jobs,
        .start = run->start[keep],
        .alloc = named ? &run->alloc : NULL,
        .sharing = run->sharing && run->sharing->n > 0 ? run->sharing : NULL,
        .pilots = run->config && run->config->pilots.rule.max_nodes > 0 ? &run->pilots : NULL,
        .preemptions = stats.preemptions,
        .lost = stats.lost,
        .passes = stats.passes,
        .seconds = seconds_between(&before, &after),
    };
    return metrics_compute(&run->schedules[p], o->tau, &run->metrics[p], err);
}

static int write_jobs(struct run *run, size_t p, berth_error_t *err)
{
    struct outfile *out = run->jobs[p];
    run->jobs[p] = NULL;
    return out ? csv_write(&run->schedules[p], out, err) : 0;
}

static int write_plot(struct run *run, const struct report *report, berth_error_t *err)
{
    struct outfile *out = run->plot;
    run->plot = NULL;
    return out ? plot_write(report, out, err) : 0;
}

static int print_report(struct run *run, berth_error_t *err)
{
    const struct sim_options *o = &run->options;
    struct report_count dropped[TRACE_DROP_COUNT];
    for (int i = 0; i < TRACE_DROP_COUNT; i++)
        dropped[i] =
            (struct report_count){trace_drop_name((enum trace_drop)i), run->trace.dropped[i]};
    const char *source = o->config ? o->config : o->machine;
    char *machine = source ? report_clean_text(source) : NULL;
    if (source && !machine)
        return errtext_no_memory(err);
    struct report report = {
        .trace = run->name,
        .procs = run->trace.procs,
        .jobs = run->trace.n,
        .tau = o->tau,
        .events = sim_events_word(o->events),
        .order = sim_order_word(o->order),
        .estimates = sim_estimates_word(o->exact),
        .machine = machine,
        .match_policy = run->config ? run->config->match.policy : o->match_policy,
        .dropped = dropped,
        .ndropped = TRACE_DROP_COUNT,
        .killed = run->trace.killed,
        .schedules = run->schedules,
        .metrics = run->metrics,
        .npolicies = o->npolicies,
    };
    int rc = 0;
    bool is_taken = sim_is_output(o->jobs_path) || sim_is_output(o->plot_path);
    if (!o->json && !is_taken)
        table_print(&report, stdout);
    else if (!is_taken)
        rc = json_print(&report, stdout, err);
    if (rc == 0)
        rc = write_plot(run, &report, err);
    free(machine);
    return rc;
}

static int run_all(struct run *run, berth_error_t *err)
{
    if (load_sim_run(run, err) < 0)
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
    catch_signals();
    if (run.options.scenario || run.options.load)
        return sim_scenario(&run.options);
    status = open_outputs(&run, &err);
    if (status == CLI_OK && run_all(&run, &err) < 0)
        status = CLI_FAILED;
    if (status == CLI_FAILED)
        fprintf(stderr, "berth sim: %s\n", err.text);
    for (size_t p = 0; p < SCHED_POLICIES_MAX; p++) {
        outfile_close(run.jobs[p], false, NULL);
        free(run.start[p]);
    }
    outfile_close(run.plot, false, NULL);
    alloc_clear(&run.alloc);
    sharing_destroy(run.sharing);
    match_destroy(run.machine);
    config_destroy(run.config);
    free(run.name);
    trace_clear(&run.trace);
    return status;
}
