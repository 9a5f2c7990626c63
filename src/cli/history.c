/* berth history: jobs that have ended. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/verb.h"
#include "report/metrics.h"
#include "report/outfile.h"
#include "report/plot.h"
#include "report/report.h"

static const char help[] =
    "usage: berth history [OPTION]...\n"
    "List jobs that have ended, newest first; an array is one line.\n"
    "  -r, --array        a line for each member of an array that has ended\n"
    "  -n, --limit N      at most N jobs (20); 0: all\n"
    "  -u, --user NAME    only jobs of this user\n"
    "  -q, --queue NAME   only jobs in this queue\n"
    "  -s, --state LIST   only jobs in these states: done, failed, cancelled, timeout\n"
    "      --name NAME    only jobs with this name\n"
    "      --label NAME=TEXT  with this label; NAME: whatever its text\n"
    "      --since TIME   only jobs that ended after: 2h (ago), 08:30, 2026-11-22\n"
    "      --me           only your own\n"
    "  -o, --columns LIST, --format csv, --json   as in 'berth jobs'\n"
    "      --plot FILE.svg  draw the jobs: Gantt chart, utilisation and queue length\n"
    "  -h, --help         print this\n"
    "EXIT is the exit status or the signal; MEMORY is the peak memory use.\n"
    "Exit status: 0 listed, 1 failed, 2 wrong command line.\n"
    "Example: berth history -s failed --since 1d\n"
    "Manual: man berth-history\n";

static const struct table_column columns[] = {
    {"ID", true, 0},     {"NAME", false, 20}, {"USER", false, 12}, {"QUEUE", false, 12},
    {"STATE", false, 0}, {"CORES", true, 0},  {"EXIT", false, 0},  {"ENDED", false, 0},
    {"TIME", true, 0},   {"CPU", true, 0},    {"MEMORY", true, 0}, {"REASON", false, 0},
    {NULL, false, 0}};

static const char *size_text(double bytes, char text[32])
{
    static const char units[] = "BKMGTP";
    size_t i = 0;

    if (bytes < 0) {
        text[0] = '\0';
        return text;
    }
    for (; bytes >= 1024 && i + 2 < sizeof(units); i++)
        bytes /= 1024;
    snprintf(text, 32, bytes < 10 && i ? "%.1f%c" : "%.0f%c", bytes, units[i]);
    return text;
}

static void put_history_row(struct table *t, const struct fields *job, const char *states,
                            double now)
{
    char text[WHEN_SIZE], size[32], exit[24] = "";
    double start = fields_number(job, "start"), end = fields_number(job, "end");
    double cpu = fields_number(job, "cpu_time");
    int code = (int)fields_number(job, "exit"), signal = (int)fields_number(job, "signal");

    (void)now;
    if (signal > 0)
        snprintf(exit, sizeof(exit), "%s", sigabbrev_np(signal) ? sigabbrev_np(signal) : "signal");
    else if (code >= 0)
        snprintf(exit, sizeof(exit), "%d", code);
    listing_id(t, job, states);
    listing_text(t, job, "name");
    listing_text(t, job, "user");
    listing_text(t, job, "queue");
    listing_state(t, job);
    listing_count(t, job, "cores");
    table_cell(t, exit);
    table_cell(t, when_put(end, text));
    table_cell(t, start < 0 || end < 0 ? "" : when_span(end - start, text));
    table_cell(t, cpu < 0 ? "" : when_span(cpu, text));
    table_cell(t, size_text(fields_number(job, "peak_memory"), size));
    listing_text(t, job, "reason");
}

static bool put_since(struct strbuf *path, const char *text)
{
    char number[48];
    double at;

    if (when_read_past(text, time(NULL), &at) < 0)
        return false;
    snprintf(number, sizeof(number), "%.0f", at < 0 ? 0 : at);
    route_query(path, "since", number);
    return true;
}

/* Whether a list of states has only those of jobs that have ended. The server knows which states exist. */
static bool are_of_ended(const char *states)
{
    static const char *const others[] = {"pending", "held", "running"};

    for (size_t n; *states; states += n + (states[n] == ',')) {
        n = strcspn(states, ",");
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            if (strlen(others[i]) == n && strncasecmp(states, others[i], n) == 0)
                return false;
    }
    return true;
}

/* ---- A picture ---- */

#define TAU 10 /* s: of the bounded slowdown */

struct drawn {
    struct schedule_job *jobs;
    int64_t *start;
    size_t n, cap;
};

static int bar_room(struct drawn *d)
{
    if (d->n < d->cap)
        return 0;
    size_t cap = d->cap ? 2 * d->cap : 64;
    struct schedule_job *jobs = realloc(d->jobs, cap * sizeof(*jobs));
    if (jobs)
        d->jobs = jobs;
    int64_t *start = realloc(d->start, cap * sizeof(*start));
    if (start)
        d->start = start;
    if (!jobs || !start)
        return -1;
    d->cap = cap;
    return 0;
}

/* Add a job that ran. */
static int take_job(void *context, const char *text, size_t length)
{
    struct drawn *d = context;
    struct fields job;
    int64_t id = 0, cores = 0;

    if (!fields_find(&job, text, length)) {
        errno = EPROTO;
        return -1;
    }
    double submit = fields_number(&job, "submit"), start = fields_number(&job, "start");
    double end = fields_number(&job, "end");
    if (submit < 0 || start < 0 || end < start || !fields_whole(&job, "id", &id) ||
        !fields_whole(&job, "cores", &cores) || cores < 1)
        return 0;
    if (bar_room(d) < 0)
        return -1;
    int64_t begun = llround(start), run = llround(end) - begun;
    struct schedule_job *to = &d->jobs[d->n];
    *to = (struct schedule_job){.id = id, .submit = llround(floor(submit)), .procs = cores};
    to->run = to->limit = run < 1 ? 1 : run;
    d->start[d->n++] = begun < to->submit ? to->submit : begun;
    return 0;
}

/* Make times relative to the first submission. */
static void shift(struct drawn *d)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < d->n; i++)
        first = d->jobs[i].submit < first ? d->jobs[i].submit : first;
    for (size_t i = 0; i < d->n; i++) {
        d->jobs[i].submit -= first;
        d->start[i] -= first;
    }
}

static int draw_history(const struct drawn *d, int64_t cores, struct outfile *out,
                        berth_error_t *err)
{
    const struct schedule schedule = {
        .policy = "as it was", .procs = cores, .n = d->n, .jobs = d->jobs, .start = d->start};
    struct metrics metrics;
    struct report report = {.trace = "berthd",
                            .procs = cores,
                            .jobs = d->n,
                            .tau = TAU,
                            .events = "as they came",
                            .order = "of the queue",
                            .estimates = "limits",
                            .schedules = &schedule,
                            .metrics = &metrics,
                            .npolicies = 1};

    if (metrics_compute(&schedule, TAU, &metrics, err) < 0) {
        int saved = errno;
        outfile_close(out, false, NULL);
        errno = saved;
        return -1;
    }
    return plot_write(&report, out, err);
}

/* Draw those jobs of a list that ran to a file, as `berth sim --plot` does. Times are rounded to whole
 * seconds. Returns 0, or -1 with errno and a text: EINVAL if none ran.
 */
static int draw_list(struct connection *connection, const char *list, const char *file,
                     berth_error_t *err)
{
    struct drawn d = {0};
    json_t *machine = NULL;
    int rc = connection_list(connection, list, take_job, &d, err);

    if (rc == 0)
        rc = connection_ask(connection, "GET", "/v1/resources", NULL, &machine, err);
    int64_t cores = json_integer_value(json_object_get(machine, "cores"));
    json_decref(machine);
    if (rc == 0 && d.n == 0)
        rc = errtext_set(err, EINVAL, "nothing to draw: none of these jobs ran");
    if (rc == 0) {
        shift(&d);
        struct outfile *out = outfile_open(file, err);
        rc = out ? draw_history(&d, cores, out, err) : -1;
    }
    int saved = errno;
    free(d.jobs);
    free(d.start);
    errno = saved;
    return rc;
}

/* ---- The verb ---- */

static int list_history(const char *path, const char *states, const struct chosen *chosen,
                        bool json, const char *plot, const char *queue)
{
    const struct listing_style style = {.json = json,
                                        .columns = columns,
                                        .leave = "CPU,QUEUE,MEMORY,USER,CORES,TIME",
                                        .row = put_history_row,
                                        .states = states,
                                        .queue = queue,
                                        .chosen = chosen};
    struct connection connection;
    berth_error_t err;
    int status;

    if (connection_open(&connection, "history", &err) < 0)
        status = connection_failed(&connection, &err);
    else if (plot)
        status = draw_list(&connection, path, plot, &err) < 0 ? connection_failed(&connection, &err)
                                                              : CLI_OK;
    else
        status = listing_print(&connection, path, &style);
    connection_close(&connection);
    return status;
}

int cli_history(int argc, char **argv)
{
    static const struct option options[] = {{"limit", required_argument, NULL, 'n'},
                                            {"user", required_argument, NULL, 'u'},
                                            {"queue", required_argument, NULL, 'q'},
                                            {"state", required_argument, NULL, 's'},
                                            {"name", required_argument, NULL, 'N'},
                                            {"since", required_argument, NULL, 'S'},
                                            {"plot", required_argument, NULL, 'p'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"me", no_argument, NULL, 'm'},
                                            {"columns", required_argument, NULL, 'o'},
                                            {"format", required_argument, NULL, 'F'},
                                            {"array", no_argument, NULL, 'r'},
                                            {"label", required_argument, NULL, 'L'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static const char *const keys[] = {
        ['u'] = "user", ['q'] = "queue", ['s'] = "state", ['N'] = "name", ['L'] = "label"};
    struct strbuf path = {0};
    const char *limit = "20", *states = NULL, *plot = NULL, *queue = NULL;
    struct chosen chosen = {0};
    berth_error_t err;
    bool json = false, by_member = false;
    int c, status = CLI_USAGE;

    strbuf_puts(&path, "/v1/jobs?history=1&order=newest");
    while ((c = cli_option("history", argc, argv, ":n:ru:q:s:o:h", options)) != -1) {
        if (c == '?')
            goto out;
        if (c == 'h') {
            status = fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
            goto out;
        }
        if (c == 'S' && !put_since(&path, optarg)) {
            status = cli_usage("history", "--since is '%s', expected a time such as 2h or 08:30",
                               optarg);
            goto out;
        }
        if (c == 's' && !are_of_ended(optarg)) {
            status = cli_usage("history",
                               "--state is '%s', expected done, failed, cancelled or timeout; "
                               "'berth jobs' lists others",
                               optarg);
            goto out;
        }
        if ((c == 'o' && chosen_read(&chosen, optarg, &err) < 0) ||
            (c == 'F' && chosen_format(&chosen, optarg, &json, &err) < 0)) {
            status = cli_usage("history", "%s", err.text);
            goto out;
        }
        if (c == 'q')
            queue = optarg;
        if (c == 'm')
            listing_own(&path);
        else if (c == 'n')
            limit = optarg;
        else if (c == 's')
            states = optarg;
        else if (c == 'p')
            plot = optarg;
        else if (c == 'j')
            json = true;
        else if (c == 'r')
            by_member = true;
        else if (c != 'S' && c != 'o' && c != 'F')
            route_query(&path, keys[c], optarg);
    }
    if (optind < argc) {
        status = cli_usage("history", "takes no job, got '%s'; 'berth jobs' does", argv[optind]);
        goto out;
    }
    route_query(&path, "state", states ? states : "done,failed,cancelled,timeout");
    if (!listing_limit(&path, limit)) {
        status = cli_usage("history", "--limit is '%s', expected a whole number", limit);
        goto out;
    }
    if (!by_member && !plot) /* which draws what ran: members */
        route_query(&path, "arrays", "1");
    status = list_history(strbuf_text(&path), states, &chosen, json, plot, queue);
out:
    strbuf_clear(&path);
    return status;
}
