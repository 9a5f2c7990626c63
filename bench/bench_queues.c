/* What named queues cost: passes over 10,000 nodes with 100,000 pending jobs in 10 queues, and beside each
 * what a full rebuild takes, which is what a scheduler does that gives all reservations back and tries
 * every pending job again.
 *
 * Half of the queues have parts of the machine that are disjoint, the others overlap. Jobs ask for whole
 * nodes, for cores of one node, for slots wherever they are, for gpus; there are thousands of kinds, and
 * nearly every duration is another. Users have limits. The first pass fills the machine; then running jobs
 * end one by one, earlier than said, with a pass after each; then jobs are submitted one by one, with a
 * pass after each. Of wide jobs none can start when one of the small ones ends that fill the machine.
 *
 * The rebuild is a matcher of its own in which the same jobs run: one operation of it a pending job, in
 * queue order, which reserves until the depth is used up and allocates after that, until as many have
 * failed as there are; then all reservations are given back. It starts nothing, so it is a pass after which
 * everything is as before. As it takes minutes, it is measured where BERTH_BENCH_LONG=1.
 *
 * usage: bench_queues [SERIES [PENDING]]
 *
 * SERIES is the number of one of them, from 0 on. Each prints a hash of all that was decided in it, so that two
 * builds can be compared. To count instructions, which other processes don't disturb: valgrind
 * --tool=callgrind --trace-children=yes --toggle-collect=measure_ends, or =first_pass.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "berth/match.h"
#include "berth/sched_config.h"
#include "berth/sched_query.h"
#include "measure.h"

enum {
    NODES = 10000,
    CORES = 32,
    QUEUES = 10,
    USERS = 300,
    ENDS = 60,
    SUBMISSIONS = 60,
    TEXT = 1024,
    MACHINE_TEXT = 1 << 16,
    WHOLE = 7 /* the queue of the whole machine */
};

/* Not inlined, so that a profiler finds it. */
#define MEASURED __attribute__((noinline))

static const struct {
    const char *name;
    int first, last; /* nodes */
} queues[QUEUES] = {
    {"a", 0, 1999},      {"b", 2000, 3999},      {"c", 4000, 5999},     {"d", 6000, 7999},
    {"gpu", 8000, 9999}, {"left", 0, 5999},      {"right", 4000, 9999}, {"whole", 0, 9999},
    {"rest", 0, 9999},   {"middle", 3000, 6999},
};

static const struct series {
    const char *policy;
    int pending;
    bool wide; /* small jobs run, and who waits wants many nodes: nobody can start when one ends */
    bool levels; /* the queues have five priorities */
} all_series[] = {
    {"easy", 100000, false, false},       {"easy", 100000, true, false},
    {"hybrid", 100000, false, false},     {"hybrid", 100000, true, false},
    {"conservative", 1000, false, false}, {"conservative", 1000, true, false},
    {"easy", 100000, false, true},        {"conservative", 1000, false, true},
    {"hybrid", 100000, false, true},
};

struct pending {
    char *jobspec; /* with the queue's constraint; NULL: it does not take part in the rebuild */
    int queue;
    sched_job_t job;
};

struct bench {
    const struct series *series;
    sched_t *s;
    match_t *m;
    uint64_t random;
    int64_t now;
    sched_job_t *running;
    size_t n_running;
    size_t n_jobs; /* ever submitted */
    struct pending *jobs;
    uint64_t decided; /* a hash of all decisions */
};

/* What a pass did. */
struct done {
    size_t started, moved; /* reservations */
};

/* What passes took, by what they did. */
struct figures {
    double took[ENDS];
    struct done done[ENDS];
    size_t n;
};

/* Seconds of the processor, which other processes don't take. */
static double now_here(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_queues: %s\n", what);
    exit(1);
}

static uint64_t draw(struct bench *b, uint64_t below)
{
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (b->random >> 33) % below;
}

/* ---- The machine and its queues ---- */

static match_t *make_machine(void)
{
    static char text[MACHINE_TEXT];
    berth_error_t err;
    size_t n = (size_t)snprintf(
        text, sizeof(text),
        "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-7999\", \"children\": "
        "{\"core\": \"0-31\"}}, {\"rank\": \"8000-9999\", \"children\": {\"core\": \"0-31\", "
        "\"gpu\": \"0-3\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": "
        "[\"node[0-9999]\"], \"properties\": {");
    for (int q = 0; q < QUEUES; q++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\"%s\": \"%d-%d\"", q ? ", " : "",
                              queues[q].name, queues[q].first, queues[q].last);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "}}}");
    resource_graph_t *graph = resource_graph_read("rv1exec", text, n, &err);
    check(graph != NULL, err.text);
    const char *policy = getenv("BERTH_BENCH_MATCH");
    match_options_t options = {.policy = policy ? policy : "low",
                               .filters = "ALL:core,ALL:node,ALL:gpu"};
    match_t *m = match_create(graph, &options, &err);
    check(m != NULL, err.text);
    return m;
}

static void make_sched(struct bench *b)
{
    static const struct sched_limit of_user[] = {{"node", 400}, {"running", 150}};
    struct sched_queue_config q[QUEUES] = {0};
    char requires[QUEUES][64];
    berth_error_t err;
    for (int i = 0; i < QUEUES; i++) {
        snprintf(requires[i], sizeof(requires[i]), "{\"properties\": [\"%s\"]}", queues[i].name);
        q[i] = (struct sched_queue_config){.name = queues[i].name,
                                           .policy = b->series->policy,
                                           .requires = requires[i],
                                           .priority = b->series->levels ? i / 2 : 0,
                                           .limits = {.user = of_user, .n_user = 2}};
    }
    struct sched_config config = {.second = 1, .queues = q, .n_queues = QUEUES};
    b->m = make_machine();
    b->s = sched_create(b->m, &config, &err);
    check(b->s != NULL, err.text);
}

/* ---- Jobs ---- */

/* 1 to most, a power of two or the mean of two neighbours, each as likely as the other. */
static int draw_size(struct bench *b, int most)
{
    int bits = 0;
    while (2 << bits <= most)
        bits++;
    int n = 1 << draw(b, (uint64_t)bits + 1);
    return n > 1 && n < most && draw(b, 2) ? n + n / 2 : n;
}

/* A jobspec's resources for a queue. */
static size_t put_resources(struct bench *b, int queue, char *text)
{
    uint64_t kind = draw(b, 10);
    if (b->series->wide)
        return (size_t)snprintf(text, TEXT,
                                "{type: node, count: %d, exclusive: true, with: [{type: slot, "
                                "count: 1, label: s, with: [{type: core, count: 1}]}]}",
                                b->n_jobs < NODES ? 1 : 32 * draw_size(b, 16));
    if (queue == 4 && kind < 6)
        return (size_t)snprintf(text, TEXT,
                                "{type: slot, count: %d, label: s, with: [{type: core, count: %d}, "
                                "{type: gpu, count: %d}]}",
                                draw_size(b, 64), draw_size(b, 8), 1 << draw(b, 3));
    if (kind < 5)
        return (size_t)snprintf(text, TEXT,
                                "{type: node, count: %d, exclusive: true, with: [{type: slot, "
                                "count: 1, label: s, with: [{type: core, count: 1}]}]}",
                                draw_size(b, 512));
    if (kind < 8)
        return (size_t)snprintf(text, TEXT,
                                "{type: node, count: 1, with: [{type: slot, count: 1, label: s, "
                                "with: [{type: core, count: %d}]}]}",
                                1 + (int)draw(b, CORES));
    return (size_t)snprintf(text, TEXT,
                            "{type: slot, count: %d, label: s, with: [{type: core, count: %d}]}",
                            draw_size(b, 256), 1 << draw(b, 6));
}

static size_t put_job(struct bench *b, int queue, char *text, bool constraint)
{
    size_t n = (size_t)snprintf(text, TEXT, "{version: 9999, resources: [");
    n += put_resources(b, queue, text + n);
    n += (size_t)snprintf(text + n, TEXT - n,
                          "], tasks: [{command: [app], slot: s, count: {per_slot: 1}}], "
                          "attributes: {system: {duration: %d",
                          3600 + (int)draw(b, 80000));
    if (constraint)
        n += (size_t)snprintf(text + n, TEXT - n, ", constraints: {properties: [\"%s\"]}",
                              queues[queue].name);
    return n + (size_t)snprintf(text + n, TEXT - n, "}}}");
}

/* Submit a job; the text for the rebuild is made first, from the same numbers. */
static void submit(struct bench *b, bool keep)
{
    char text[TEXT], user[16];
    int queue = b->series->wide && b->n_jobs < NODES ? WHOLE : (int)draw(b, QUEUES);
    if (keep) {
        uint64_t before = b->random;
        put_job(b, queue, text, true);
        b->random = before;
        b->jobs[b->n_jobs] = (struct pending){strdup(text), queue, -1};
        check(b->jobs[b->n_jobs].jobspec != NULL, "no memory");
    }
    size_t n = put_job(b, queue, text, false);
    snprintf(user, sizeof(user), "user%d", (int)draw(b, USERS));
    struct sched_request request = {.jobspec = text,
                                    .jobspec_length = n,
                                    .queue = queues[queue].name,
                                    .user = user,
                                    .tag = b->n_jobs};
    b->jobs[b->n_jobs].job = sched_submit(b->s, b->now, &request);
    check(b->jobs[b->n_jobs++].job >= 0, "cannot submit a job");
}

/* Take a decision to the hash of all, but for why a job waits: that is told again whenever the job is looked at
 * (base/bounds.h).
 */
static void note(struct bench *b, const struct sched_decision *d)
{
    if (d->kind == SCHED_WAIT)
        return;
    const int64_t what[] = {d->kind, d->job, d->at, d->until, d->how};
    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
        b->decided = (b->decided ^ (uint64_t)what[i]) * 0x100000001b3u;
}

static struct done pass(struct bench *b)
{
    const struct sched_decision *d;
    struct done done = {0};
    size_t n;
    check(sched_pass(b->s, b->now, false, &d, &n) == 0, "a pass failed");
    for (size_t i = 0; i < n; i++) {
        note(b, &d[i]);
        if (d[i].kind == SCHED_START) {
            b->running[b->n_running++] = d[i].job;
            done.started++;
        }
        done.moved += d[i].kind == SCHED_RESERVE;
    }
    return done;
}

/* ---- What is measured ---- */

static void print(const char *what, double *took, size_t n)
{
    if (n == 0)
        return;
    qsort(took, n, sizeof(*took), compare);
    printf("  %-44s %6zu %11.1f %11.1f %11.1f\n", what, n, 1e6 * took[0], 1e6 * took[n / 2],
           1e6 * took[n - 1]);
    fflush(stdout);
}

static void print_one(const char *what, double took)
{
    print(what, &took, 1);
}

static void print_ends(const struct figures *f)
{
    static const size_t from[] = {1, 2, 4, 8, 16, 32, 64, SIZE_MAX};
    double took[ENDS], all = 0;
    char what[64];
    size_t quiet = 0, moving = 0, starting = 0, started = 0;
    memcpy(took, f->took, f->n * sizeof(*took));
    print("end and pass, whatever follows", took, f->n);
    for (size_t i = 0; i < f->n; i++)
        if (f->done[i].started == 0 && f->done[i].moved == 0)
            took[quiet++] = f->took[i];
    print("end and pass, nothing changes", took, quiet);
    for (size_t i = 0; i < f->n; i++)
        if (f->done[i].started == 0 && f->done[i].moved > 0)
            took[moving++] = f->took[i] / (double)f->done[i].moved;
    print("end and pass, reservations move: each", took, moving);
    for (size_t i = 0; i < f->n; i++) {
        all += f->took[i];
        started += f->done[i].started;
        if (f->done[i].started > 0)
            took[starting++] = f->took[i] / (double)f->done[i].started;
    }
    print("end and pass, jobs start: each", took, starting);
    print_one("all ends and passes, by what started: each",
              all / (double)(started > 0 ? started : 1));
    for (size_t k = 0; from[k] != SIZE_MAX; k++) {
        size_t n = 0;
        for (size_t i = 0; i < f->n; i++)
            if (f->done[i].started >= from[k] && f->done[i].started < from[k + 1])
                took[n++] = f->took[i] / (double)f->done[i].started;
        snprintf(what, sizeof(what), "end and pass, %zu or more start: each", from[k]);
        print(what, took, n);
    }
}

/* Jobs that run end one by one, with a pass after each. */
MEASURED static void measure_ends(struct bench *b)
{
    static struct figures f;
    f.n = 0;
    for (int i = 0; i < ENDS; i++) {
        size_t k = (size_t)draw(b, b->n_running);
        sched_job_t job = b->running[k];
        b->running[k] = b->running[--b->n_running];
        b->now++;
        check(sched_next_time(b->s) > b->now, "a reservation has come");
        double start = now_here();
        check(sched_finish(b->s, b->now, job, true) == 0, "a job cannot end");
        f.done[f.n] = pass(b);
        f.took[f.n++] = now_here() - start;
    }
    print_ends(&f);
}

MEASURED static void measure_submissions(struct bench *b)
{
    static double quiet[SUBMISSIONS], started[SUBMISSIONS];
    size_t n_quiet = 0, n_started = 0;
    for (int i = 0; i < SUBMISSIONS; i++) {
        double start = now_here();
        submit(b, false);
        size_t n = pass(b).started;
        double took = now_here() - start;
        if (n > 0)
            started[n_started++] = took;
        else
            quiet[n_quiet++] = took;
    }
    print("submission and pass, nobody starts", quiet, n_quiet);
    print("submission and pass, it starts", started, n_started);
}

/* A matcher in which the same jobs run. */
static match_t *copy_machine(struct bench *b)
{
    match_t *m = make_machine();
    berth_error_t err;
    for (size_t i = 0; i < b->n_running; i++) {
        struct sched_annotation a;
        const char *text;
        size_t length;
        check(sched_annotate(b->s, b->running[i], &a) == 0, "a job that runs is not known");
        int64_t left = a.until - b->now;
        check(sched_write(b->s, b->running[i], "rv1_nosched", &text, &length) == 0,
              "cannot write what a job has");
        check(match_update(m, "rv1exec", text, length, (int64_t)b->n_jobs + (int64_t)i, b->now,
                           left, false, &err) == 0,
              err.text);
    }
    return m;
}

static void measure_rebuild(struct bench *b)
{
    int64_t depth = strcmp(b->series->policy, "easy") == 0     ? 1
                    : strcmp(b->series->policy, "hybrid") == 0 ? 64
                                                               : INT64_MAX;
    int64_t reserved[QUEUES] = {0};
    match_t *m = copy_machine(b);
    size_t tried = 0, n_held = 0;
    berth_error_t err;
    int64_t *held = malloc(b->n_jobs * sizeof(*held));
    check(held != NULL, "no memory");
    jobspec_t **spec = calloc(b->n_jobs, sizeof(*spec));
    check(spec != NULL, "no memory");
    for (size_t i = 0; i < b->n_jobs; i++) {
        const struct pending *p = &b->jobs[i];
        int state = sched_state(b->s, p->job);
        if (!p->jobspec || (state != SCHED_WAITING && state != SCHED_RESERVED))
            continue;
        spec[i] = jobspec_parse(p->jobspec, strlen(p->jobspec), NULL, &err);
        check(spec[i] != NULL, err.text);
    }
    double start = now_here();
    for (size_t i = 0; i < b->n_jobs; i++) {
        if (!spec[i])
            continue;
        int q = b->jobs[i].queue;
        match_op_t op = reserved[q] < depth ? MATCH_ALLOCATE_ORELSE_RESERVE : MATCH_ALLOCATE;
        tried++;
        if (match_run(m, op, spec[i], (int64_t)i, b->now, NULL, NULL) < 0)
            continue;
        held[n_held++] = (int64_t)i;
        reserved[q] += op == MATCH_ALLOCATE_ORELSE_RESERVE;
    }
    for (size_t i = 0; i < n_held; i++)
        match_cancel(m, held[i], NULL, NULL);
    double took = now_here() - start;
    char what[64];
    snprintf(what, sizeof(what), "rebuild: %zu tried, %zu booked", tried, n_held);
    print_one(what, took);
    for (size_t i = 0; i < b->n_jobs; i++)
        jobspec_destroy(spec[i]);
    free(spec);
    free(held);
    match_destroy(m);
}

/* Returns what starts; *took: seconds. */
MEASURED static size_t first_pass(struct bench *b, double *took)
{
    double start = now_here();
    size_t n = pass(b).started;
    *took = now_here() - start;
    return n;
}

static size_t in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* How many jobs are in a state. */
static size_t count(const struct bench *b, enum sched_state state)
{
    size_t n = 0;
    for (int q = 0; q < QUEUES; q++) {
        struct sched_queue_stats stats;
        if (sched_queue_stats(b->s, queues[q].name, &stats) == 0)
            n += stats.now[state];
    }
    return n;
}

static void measure(const struct series *series)
{
    struct bench b = {.series = series, .random = 1};
    int jobs = series->pending + (series->wide ? NODES : 0);
    size_t most = (size_t)jobs + SUBMISSIONS;
    b.jobs = calloc(most, sizeof(*b.jobs));
    b.running = calloc(most, sizeof(*b.running));
    check(b.jobs && b.running, "no memory");
    make_sched(&b);
    size_t before = in_use(), kept = 0;
    double start = now_here();
    for (int i = 0; i < jobs; i++) {
        submit(&b, true);
        kept += malloc_usable_size(b.jobs[i].jobspec) + sizeof(size_t);
    }
    double submitted = now_here() - start;
    size_t after = in_use();
    double first;
    size_t n = first_pass(&b, &first);
    printf(
        "%s, %d%s jobs%s: %zu run, %zu hold, %zu wait, %zu over limits; %.0f bytes a pending job\n",
        series->policy, jobs, series->wide ? " wide" : "", series->levels ? " in 5 levels" : "", n,
        count(&b, SCHED_RESERVED), count(&b, SCHED_WAITING), count(&b, SCHED_BLOCKED),
        (double)(after - before - kept) / jobs);
    print_one("submission, each", submitted / jobs);
    print_one("first pass", first);
    measure_ends(&b);
    measure_submissions(&b);
    printf("  decisions %016" PRIx64 "\n", b.decided);
    if (getenv("BERTH_BENCH_LONG"))
        measure_rebuild(&b);
    sched_destroy(b.s);
    match_destroy(b.m);
    for (size_t i = 0; i < most; i++)
        free(b.jobs[i].jobspec);
    free(b.jobs);
    free(b.running);
}

int main(int argc, char **argv)
{
    printf("%-46s %6s %11s %11s %11s\n", "10,000 nodes, 10 queues", "n", "least us", "median us",
           "most us");
    for (size_t i = 0; i < sizeof(all_series) / sizeof(all_series[0]); i++) {
        int status;
        if (argc > 1 && strtoul(argv[1], NULL, 10) != i)
            continue;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            struct series series = all_series[i];
            if (argc > 2)
                series.pending = (int)strtoul(argv[2], NULL, 10);
            measure(&series);
            fflush(stdout);
            _exit(0);
        }
        check(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "a run failed");
    }
    return 0;
}
