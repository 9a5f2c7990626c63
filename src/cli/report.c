/* berth report: what users, accounts and queues have used. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_out.h"
#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/report_sum.h"
#include "cli/verb.h"
#include "config/seconds.h"

static const struct option_row rows[] = {
    {OPTION_LONG('b'), "by", "LIST", "user, account, queue, and one of day, week, month (user)",
     "user account queue day week month"},
    {OPTION_LONG('S'), "since", "TIME", "only what was used after: 7d (ago), 08:30, 2026-11-22",
     NULL},
    {OPTION_LONG('U'), "until", "TIME", "only what was used before", NULL},
    {'u', "user", "NAME", "only jobs of this user", "@user"},
    {'q', "queue", "NAME", "only jobs in this queue", "@queue"},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects, times in seconds", NULL},
    {0}};

const struct option_table report_options = {
    .verb = "report",
    .usage = "usage: berth report [OPTION]...\n"
             "Say how much jobs have used: of yours, or of all for the server's owner, root\n"
             "and administrators. What still runs counts up to now. It goes back as far as the\n"
             "server keeps jobs that have ended (retention in berth-config(5)).\n",
    .rows = rows,
    .notes = "EFFICIENCY is the CPU time of what is reserved, of jobs that it is known of;\n"
             "FAILED counts jobs that failed or ran into their limits. Of an array each member\n"
             "counts. GPU-HOURS are of whole GPUs; parts of one are not counted.\n"
             "Exit status: 0 printed, 1 failed, 2 wrong command line.\n"
             "Example: berth report --by account,month --since 2026-01-01\n"
             "Manual: man berth-report\n"};

static const char *hours(double seconds, char text[32])
{
    snprintf(text, 32, "%.1f", seconds / 3600);
    return text;
}

static void put_report_row(struct table *t, const struct report_sum *sum,
                           const struct report_row *row, const char *first)
{
    char text[32];

    for (size_t k = 0; k < sum->n_keys; k++)
        table_cell(t, first ? (k == 0 ? first : "") : row->text[k]);
    table_number(t, (long long)row->jobs);
    table_cell(t, hours(row->core_time, text));
    table_cell(t, hours(row->gpu_time, text));
    *text = '\0';
    if (row->measured >= 1) /* of less, it would be that of starting a process */
        snprintf(text, sizeof(text), "%.0f%%", 100 * row->cpu_time / row->measured);
    table_cell(t, text);
    table_number(t, (long long)row->failed);
}

static int print_table(const struct report_sum *sum)
{
    static const char *const heads[REPORT_KEYS] = {"USER", "ACCOUNT", "QUEUE",
                                                   "DAY",  "WEEK",    "MONTH"};
    static const struct table_column sums[] = {{"JOBS", true, 0},      {"CORE-HOURS", true, 0},
                                               {"GPU-HOURS", true, 0}, {"EFFICIENCY", true, 0},
                                               {"FAILED", true, 0},    {NULL, false, 0}};
    struct table_column columns[REPORT_KEYS_MAX + sizeof(sums) / sizeof(*sums)];
    struct report_row all = {.jobs = 0};
    struct table t;

    for (size_t k = 0; k < sum->n_keys; k++)
        columns[k] = (struct table_column){heads[sum->keys[k]], false, 0};
    memcpy(columns + sum->n_keys, sums, sizeof(sums));
    table_begin(&t, stdout, columns);
    for (size_t i = 0; i < sum->n; i++) {
        const struct report_row *row = &sum->rows[i];
        put_report_row(&t, sum, row, NULL);
        all.core_time += row->core_time;
        all.gpu_time += row->gpu_time;
        all.cpu_time += row->cpu_time;
        all.measured += row->measured;
        all.jobs += row->jobs;
        all.failed += row->failed;
    }
    if (sum->n > 1)
        put_report_row(&t, sum, &all, "all");
    bool written = table_end(&t);
    table_clear(&t);
    return written ? CLI_OK : CLI_FAILED;
}

static int print_json(const struct report_sum *sum)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text};

    json_open(&out, NULL, '[');
    for (size_t i = 0; i < sum->n; i++) {
        const struct report_row *row = &sum->rows[i];
        json_line(&out);
        json_open(&out, NULL, '{');
        for (size_t k = 0; k < sum->n_keys; k++)
            json_put_string(&out, report_keys[sum->keys[k]], row->text[k]);
        json_put_int(&out, "jobs", (int64_t)row->jobs);
        json_put_seconds(&out, "core_seconds", (int64_t)(row->core_time * 1e6));
        json_put_seconds(&out, "gpu_seconds", (int64_t)(row->gpu_time * 1e6));
        json_put_seconds(&out, "cpu_seconds", (int64_t)(row->cpu_time * 1e6));
        json_put_int(&out, "failed", (int64_t)row->failed);
        json_close(&out, '}');
    }
    strbuf_puts(&text, "\n]\n");
    bool written = !text.failed && fwrite(text.data, 1, text.len, stdout) == text.len;
    strbuf_clear(&text);
    return written ? CLI_OK : CLI_FAILED;
}

static int report_used(struct report_sum *sum, const char *path, bool json)
{
    struct connection connection;
    berth_error_t err;
    int status;

    if (connection_open(&connection, "report", &err) < 0 ||
        connection_list(&connection, path, report_sum_add, sum, &err) < 0) {
        status = connection_failed(&connection, &err);
    } else {
        report_sum_order(sum);
        status = json ? print_json(sum) : print_table(sum);
    }
    connection_close(&connection);
    return status;
}

/* Take an option. False after printing what is wrong. */
static bool take_report_option(struct report_sum *sum, struct strbuf *path, int c)
{
    static const char *const keys[] = {['u'] = "user", ['q'] = "queue"};
    char number[48];

    if (c == OPTION_LONG('b') && !report_sum_by(sum, optarg)) {
        cli_usage("report",
                  "--by is '%s', expected user, account, queue, and one of day, week, month",
                  optarg);
        return false;
    }
    if ((c == OPTION_LONG('S') || c == OPTION_LONG('U')) &&
        when_read_past(optarg, time(NULL), c == OPTION_LONG('S') ? &sum->since : &sum->until) < 0) {
        cli_usage("report", "--%s is '%s', expected a time such as 7d or 2026-11-22",
                  c == OPTION_LONG('S') ? "since" : "until", optarg);
        return false;
    }
    if (c == OPTION_LONG('S')) {
        snprintf(number, sizeof(number), "%.0f", sum->since);
        route_query(path, "since", number);
    } else if (c == 'u' || c == 'q') {
        route_query(path, keys[c], optarg);
    }
    return true;
}

int cli_report(int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct report_sum sum = {.now = (double)now.tv_sec + (double)now.tv_nsec / 1e9};
    struct strbuf path = {0};
    bool json = false;
    int c, status = CLI_USAGE;

    sum.until = sum.now;
    report_sum_by(&sum, "user");
    strbuf_puts(&path, "/v1/jobs?history=1&state=done,failed,cancelled,timeout,running");
    while ((c = option_next(&report_options, argc, argv)) != -1) {
        if (c == 'h') {
            status = option_help(&report_options);
            goto out;
        }
        if (c == '?' || !take_report_option(&sum, &path, c))
            goto out;
        json = json || c == OPTION_LONG('j');
    }
    if (optind < argc)
        cli_usage("report", "takes no job, got '%s'", argv[optind]);
    else
        status = report_used(&sum, strbuf_text(&path), json);
out:
    strbuf_clear(&path);
    report_sum_clear(&sum);
    return status;
}
