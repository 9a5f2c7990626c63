/* What a simulation costs: time a job and memory.
 *
 * A generated workload always, and logs of real machines where their folder lies beside the checkout or
 * BERTH_TRACES names it. Each run is a process of its own, so that none finds the memory of another, as in
 * `berth sim`; a row has the medians of its runs.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "measure.h"
#include "report/human.h"
#include "report/metrics.h"
#include "sim/lublin.h"
#include "sim/simulate.h"
#include "sim/swf.h"

enum policy { FCFS, EASY, HYBRID, CONSERVATIVE, POLICIES };

static const char *const POLICY_NAMES[POLICIES] = {"fcfs", "easy", "hybrid", "conservative"};

enum { RUNS_MAX = 5 };

static const double MEMORY_BASE = 10e6; /* bytes, to which the target adds some for each job */
static const int64_t TAU = 10; /* seconds, of the bounded slowdown that nobody reads here */

/* What the reference simulator took, in seconds: from to; 0 where no figure was given. */
struct reference {
    double from;
    double to;
};

struct workload {
    const char *name;
    const char *file; /* in the folder of traces; NULL: generated */
    int64_t procs;    /* 0: what the header says */
    int64_t jobs;     /* to generate */
    struct reference reference[POLICIES];
    bool is_long[POLICIES]; /* only run where BERTH_BENCH_LONG is set */
};

static const struct workload WORKLOADS[] = {
    {.name = "generated", .procs = 256, .jobs = 30000},
    {.name = "Lublin-1", .file = "lublin_256.swf.gz"},
    {.name = "KTH-SP2", .file = "KTH-SP2-1996-2.swf.gz", .reference[EASY] = {0.4, 0.4}},
    {.name = "LCG", .file = "LCG-2005-1.swf.gz"},
    {.name = "CEA-Curie",
     .file = "CEA-Curie-2011-2.1-cln.swf.gz",
     .procs = 80640,
     .reference[EASY] = {16, 24},
     .reference[CONSERVATIVE] = {62, 62}},
    {.name = "RICC",
     .file = "RICC-2010-2.swf.gz",
     .reference[EASY] = {50, 50},
     .is_long[CONSERVATIVE] = true},
};

struct result {
    size_t jobs;
    uint64_t passes;
    double seconds;  /* of simulation */
    double whole;    /* seconds with reading and metrics */
    double peak_mem; /* of the process, in bytes */
};

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_sim: %s\n", what);
    exit(1);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return v[n / 2];
}

/* An odd number, the smaller the longer the first run took, so that all rows end in time. */
static int runs_after(double first)
{
    return first < 0.25 ? RUNS_MAX : first < 2 ? 3 : 1;
}

static double peak_memory(void)
{
    struct rusage usage;
    check(getrusage(RUSAGE_SELF, &usage) == 0, "no resource usage");
    return 1024.0 * (double)usage.ru_maxrss;
}

static const char *trace_folder(void)
{
    const char *folder = getenv("BERTH_TRACES");
    return folder && *folder ? folder : "../shared/traces";
}

static char *path_of(const struct workload *w, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/%s", trace_folder(), w->file);
    check(n >= 0 && (size_t)n < size, "the path of a trace is too long");
    return path;
}

static void load(const struct workload *w, struct trace *trace)
{
    berth_error_t err = {""};
    char path[4096];
    int rc;
    if (w->file) {
        struct swf_options swf = {.procs = w->procs};
        rc = swf_read(path_of(w, path, sizeof(path)), &swf, trace, &err);
    } else {
        struct lublin_options model = {.jobs = w->jobs, .seed = 1, .procs = w->procs};
        rc = lublin_generate(&model, trace, &err);
    }
    check(rc == 0, err.text);
}

static void simulate_under(const struct workload *w, enum policy p, const struct trace *trace,
                           int64_t *start, struct result *r)
{
    berth_error_t err = {""};
    char label[64];
    struct progress progress;
    struct simulate_stats stats = {0};
    struct simulate_options options = {
        .sched = {.policy = POLICY_NAMES[p], .reservation_depth = -1},
        .events = SIMULATE_BATCHED,
        .progress = progress_update,
        .progress_arg = &progress,
    };
    snprintf(label, sizeof(label), "%s %s", w->name, POLICY_NAMES[p]);
    progress_begin(&progress, label);
    double began = now();
    int rc = simulate(trace, &options, start, &stats, &err);
    r->seconds = now() - began;
    progress_end(&progress);
    check(rc == 0, err.text);
    r->passes = stats.passes;
}

/* All that `berth sim` does short of printing. */
static struct result measure(const struct workload *w, enum policy p)
{
    struct trace trace = {0};
    struct metrics metrics;
    berth_error_t err = {""};
    struct result r;
    double began = now();
    load(w, &trace);
    int64_t *start = malloc((trace.n + 1) * sizeof(*start));
    check(start != NULL, "no memory");
    simulate_under(w, p, &trace, start, &r);
    struct schedule schedule = {
        .procs = trace.procs, .n = trace.n, .jobs = trace.jobs, .start = start};
    check(metrics_compute(&schedule, TAU, &metrics, &err) == 0, err.text);
    check(metrics.n == trace.n, "a job never started");
    free(start);
    r.jobs = trace.n;
    trace_clear(&trace);
    r.whole = now() - began;
    r.peak_mem = peak_memory();
    return r;
}

static struct result measure_apart(const struct workload *w, enum policy p)
{
    struct result r;
    int fd[2];
    int status;
    fflush(stdout);
    check(pipe(fd) == 0, "no pipe");
    pid_t child = fork();
    check(child >= 0, "no process");
    if (child == 0) {
        close(fd[0]);
        r = measure(w, p);
        _exit(write(fd[1], &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1);
    }
    close(fd[1]);
    ssize_t got = read(fd[0], &r, sizeof(r));
    close(fd[0]);
    check(waitpid(child, &status, 0) == child && status == 0 && got == (ssize_t)sizeof(r),
          "a run could not be measured");
    return r;
}

static struct result measure_often(const struct workload *w, enum policy p)
{
    double seconds[RUNS_MAX], whole[RUNS_MAX], peak_mem[RUNS_MAX];
    struct result first = {0};
    int runs = 1;
    for (int i = 0; i < runs; i++) {
        struct result r = measure_apart(w, p);
        if (i == 0) {
            first = r;
            runs = runs_after(r.seconds);
        }
        check(r.passes == first.passes, "a run differs from the one before");
        seconds[i] = r.seconds;
        whole[i] = r.whole;
        peak_mem[i] = r.peak_mem;
    }
    first.seconds = median(seconds, runs);
    first.whole = median(whole, runs);
    first.peak_mem = median(peak_mem, runs);
    return first;
}

static void print_row(const struct workload *w, enum policy p, const struct result *r)
{
    char jobs[HUMAN_SIZE], passes[HUMAN_SIZE], rate[HUMAN_SIZE], each[HUMAN_SIZE];
    char reference[32] = "";
    char times[32] = "";
    const struct reference *ref = &w->reference[p];
    double n = (double)r->jobs;
    double above = r->peak_mem > MEMORY_BASE ? (r->peak_mem - MEMORY_BASE) / n : 0;
    if (ref->from > 0) {
        snprintf(reference, sizeof(reference), ref->to > ref->from ? "%g to %g" : "%g", ref->from,
                 ref->to);
        snprintf(times, sizeof(times), "%.0f", ref->from / r->seconds);
    }
    printf("%-9s %-12s %7s %7s %7.3f %9s %7s %7.2f %6.1f %5.0f  %9s %5s\n", w->name,
           POLICY_NAMES[p], human_count((int64_t)r->jobs, jobs),
           human_count((int64_t)r->passes, passes), r->seconds,
           human_count((int64_t)(n / r->seconds), rate),
           human_count((int64_t)(r->seconds * 1e9 / n), each), r->whole, r->peak_mem / 1e6, above,
           reference, times);
}

/* A list of what was left out, "A, B", cut off where it is full. */
struct names {
    char text[256];
};

static void add_name(struct names *names, const char *workload, const char *policy)
{
    size_t used = strlen(names->text);
    snprintf(names->text + used, sizeof(names->text) - used, "%s%s%s%s", used ? ", " : "", workload,
             *policy ? " " : "", policy);
}

static void bench(const struct workload *w, bool with_long, struct names *too_long)
{
    for (int p = 0; p < POLICIES; p++) {
        if (w->is_long[p] && !with_long) {
            add_name(too_long, w->name, POLICY_NAMES[p]);
            continue;
        }
        struct result r = measure_often(w, (enum policy)p);
        print_row(w, (enum policy)p, &r);
    }
}

static void print_head(void)
{
    puts("Simulation with batched events: median of up to 5 runs, each a process of its own. The "
         "whole\n"
         "is with reading and metrics. MB: peak memory; B/job: what of it is above 10 MB, divided "
         "by the\n"
         "jobs. Reference: seconds of the project's reference simulator, measured with pypy on "
         "another\n"
         "machine, with 2 busy cores; times: how often ours go into them, or into the least of "
         "them.\n");
    printf("%-9s %-12s %7s %7s %7s %9s %7s %7s %6s %5s  %9s %5s\n", "workload", "policy", "jobs",
           "passes", "seconds", "jobs/s", "ns/job", "whole s", "MB", "B/job", "reference", "times");
}

int main(void)
{
    const char *asked = getenv("BERTH_BENCH_LONG");
    bool with_long = asked && *asked && strcmp(asked, "0") != 0;
    struct names missing = {""}, too_long = {""};
    char path[4096];
    print_head();
    for (size_t i = 0; i < sizeof(WORKLOADS) / sizeof(WORKLOADS[0]); i++) {
        const struct workload *w = &WORKLOADS[i];
        if (w->file && access(path_of(w, path, sizeof(path)), R_OK) != 0)
            add_name(&missing, w->name, "");
        else
            bench(w, with_long, &too_long);
    }
    if (*missing.text)
        printf("Left out for want of their logs in %s (or BERTH_TRACES): %s\n", trace_folder(),
               missing.text);
    if (*too_long.text)
        printf("Left out for their length (BERTH_BENCH_LONG=1 runs them): %s\n", too_long.text);
    return 0;
}
