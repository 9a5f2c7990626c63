/* berth jobs: waiting and running jobs. */
#include <stdio.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/tables.h"
#include "cli/verb.h"

#define STARTS  "id,name,user,queue,cores,gpus,estimate,reason" /* columns of --start */
#define IDS_MAX 16384 /* bytes, so that a request is within the server's limits */

static const char help[] =
    "usage: berth jobs [OPTION]... [JOB]...\n"
    "List waiting and running jobs, or the named ones; an array is one line.\n"
    "  -a, --all           include jobs that have ended\n"
    "  -r, --array         a line for each member of an array\n"
    "  -u, --user NAME     only jobs of this user         --me  only your own\n"
    "  -q, --queue NAME    only jobs in this queue        --name NAME  with this name\n"
    "  -s, --state LIST    only jobs in these states: pending, held, running, done,\n"
    "                      failed, cancelled, timeout\n"
    "      --label NAME=TEXT  with this label; NAME: whatever its text\n"
    "  -n, --limit N       at most N jobs; 0: all\n"
    "      --start         pending jobs in the order of their expected starts\n"
    "      --sort KEY      in the order of a column; -KEY: the greatest first\n"
    "  -o, --columns LIST  these keys of --json as columns: id,name,state,start\n"
    "      --format csv    or table, json; with times in seconds since 1970\n"
    "      --json          print an array of objects     --no-header  no header line\n"
    "  -h, --help          print this\n"
    "WHEN is how much of its time limit (\"about\": of its estimate) a running job has\n"
    "left, or how long until a pending job is to start; \"after\": at the earliest.\n"
    "REASON is reserved if that start is promised, expected if it is not.\n"
    "Exit status: 0 listed, 1 failed, 2 wrong command line.\n"
    "Example: berth jobs -u ann -s pending\n"
    "Manual: man berth-jobs\n";

const char jobs_leave[] = "GPUS,NODES,QUEUE,USER,TIME";

const struct table_column jobs_columns[] = {
    {"ID", true, 0},     {"NAME", false, 20}, {"USER", false, 12},  {"QUEUE", false, 12},
    {"STATE", false, 0}, {"NODES", true, 0},  {"CORES", true, 0},   {"GPUS", true, 0},
    {"TIME", true, 0},   {"WHEN", false, 0},  {"REASON", false, 0}, {NULL, false, 0}};

static void put_when(struct table *t, const struct fields *job, bool waits, double now)
{
    char span[WHEN_SIZE], text[WHEN_SIZE + 16];
    double until = fields_number(job, "until"), estimate = fields_number(job, "estimate");
    bool may_go_on = fields_number(job, "limit") < 0;

    text[0] = '\0';
    if (!waits && until >= (may_go_on ? now : 0))
        snprintf(text, sizeof(text), "%s%s left", may_go_on ? "about " : "",
                 when_span(until - now, span));
    else if (waits && estimate >= 0)
        snprintf(text, sizeof(text), "%s %s", fields_is_true(job, "not_before") ? "after" : "in",
                 when_span(estimate - now, span));
    table_cell(t, text);
}

void jobs_row(struct table *t, const struct fields *job, const char *states, double now)
{
    char span[WHEN_SIZE];
    double start = fields_number(job, "start"), end = fields_number(job, "end");

    listing_id(t, job, states);
    listing_text(t, job, "name");
    listing_text(t, job, "user");
    listing_text(t, job, "queue");
    bool waits = listing_state(t, job);
    listing_count(t, job, "nodes");
    listing_count(t, job, "cores");
    listing_count(t, job, "gpus");
    table_cell(t, start < 0 ? "" : when_span((end < 0 ? now : end) - start, span));
    put_when(t, job, waits, now);
    if (*fields_text(job, "reason", &t->cell))
        listing_reason(t, job);
    else
        listing_text(t, job, "resources");
}

struct id_list {
    struct strbuf text;
    int64_t last;
};

static int put_id(void *context, int64_t id, int64_t member, bool ranged)
{
    struct id_list *list = context;

    (void)member;
    (void)ranged;
    if (id == list->last)
        return 0;
    list->last = id;
    strbuf_puts(&list->text, list->text.len ? "," : "");
    strbuf_put_int(&list->text, id);
    return list->text.len > IDS_MAX ? -1 : 0;
}

/* Ask for the named jobs; members are selected from the answer later. */
static int put_job_ids(struct strbuf *path, struct ids *ids, char **words, int n)
{
    struct id_list list = {{0}, 0};
    berth_error_t err;
    int rc = 0;

    if (ids_read(ids, words, (size_t)n, &err) < 0)
        return cli_usage("jobs", "%s", err.text);
    if (ids_each(ids, put_id, &list) != 0)
        rc = cli_usage("jobs", "too many jobs named");
    route_query(path, "ids", strbuf_text(&list.text));
    strbuf_clear(&list.text);
    return rc;
}

static bool names_members(const struct ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        if (ids->v[i].has_members)
            return true;
    return false;
}

static int list_jobs(struct strbuf *path, const struct listing_style *style)
{
    struct connection connection;
    berth_error_t err;
    int status;

    if (connection_open(&connection, "jobs", &err) < 0)
        status = connection_failed(&connection, &err);
    else
        status = listing_print(&connection, strbuf_text(path), style);
    connection_close(&connection);
    return status;
}

/* The jobs that wait, in the order in which they are expected to start, unless another one is asked for. False after
 * saying what is wrong.
 */
static bool expect_starts(struct strbuf *path, struct listing_style *style, struct chosen *chosen,
                          struct sorted *sorted)
{
    berth_error_t err;
    if (style->states) {
        cli_usage("jobs", "--start lists pending jobs, and takes no --state");
        return false;
    }
    route_query(path, "state", "pending");
    style->states = "pending";
    if ((chosen->n == 0 && chosen_read(chosen, STARTS, &err) < 0) ||
        (!sorted->key && sorted_read(sorted, "estimate", &err) < 0)) {
        cli_usage("jobs", "%s", err.text);
        return false;
    }
    return true;
}

int cli_jobs(int argc, char **argv)
{
    static const struct option options[] = {{"all", no_argument, NULL, 'a'},
                                            {"array", no_argument, NULL, 'r'},
                                            {"user", required_argument, NULL, 'u'},
                                            {"queue", required_argument, NULL, 'q'},
                                            {"state", required_argument, NULL, 's'},
                                            {"name", required_argument, NULL, 'N'},
                                            {"limit", required_argument, NULL, 'n'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"me", no_argument, NULL, 'm'},
                                            {"columns", required_argument, NULL, 'o'},
                                            {"format", required_argument, NULL, 'F'},
                                            {"no-header", no_argument, NULL, 'H'},
                                            {"sort", required_argument, NULL, 'S'},
                                            {"start", no_argument, NULL, 'W'},
                                            {"label", required_argument, NULL, 'L'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct strbuf path = {0};
    struct ids ids = {0};
    struct chosen chosen = {0};
    struct sorted sorted = {0};
    struct listing_style style = {.columns = jobs_columns,
                                  .leave = jobs_leave,
                                  .row = jobs_row,
                                  .chosen = &chosen,
                                  .sorted = &sorted};
    berth_error_t err;
    bool by_member = false, when = false;
    int c, status = CLI_USAGE;

    strbuf_puts(&path, "/v1/jobs");
    while ((c = cli_option("jobs", argc, argv, ":aru:q:s:n:o:h", options)) != -1) {
        switch (c) {
        case 'r':
            by_member = true;
            break;
        case 'a':
            route_query(&path, "history", "1");
            break;
        case 'u':
            route_query(&path, "user", optarg);
            break;
        case 'q':
            route_query(&path, "queue", optarg);
            style.queue = optarg;
            break;
        case 's':
            route_query(&path, "state", optarg);
            style.states = optarg;
            break;
        case 'N':
            route_query(&path, "name", optarg);
            break;
        case 'L':
            route_query(&path, "label", optarg);
            break;
        case 'n':
            if (listing_limit(&path, optarg))
                break;
            status = cli_usage("jobs", "--limit is '%s', expected a whole number", optarg);
            goto out;
        case 'j':
            style.json = true;
            break;
        case 'm':
            listing_own(&path);
            break;
        case 'o':
        case 'F':
            if ((c == 'o' ? chosen_read(&chosen, optarg, &err)
                          : chosen_format(&chosen, optarg, &style.json, &err)) == 0)
                break;
            status = cli_usage("jobs", "%s", err.text);
            goto out;
        case 'S':
            if (sorted_read(&sorted, optarg, &err) == 0)
                break;
            status = cli_usage("jobs", "--sort: %s", err.text);
            goto out;
        case 'W':
            when = true;
            break;
        case 'H':
            style.headless = true;
            break;
        case 'h':
            status = fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
            goto out;
        default:
            goto out;
        }
    }
    if (when && !expect_starts(&path, &style, &chosen, &sorted))
        goto out;
    if (optind < argc) {
        status = put_job_ids(&path, &ids, argv + optind, argc - optind);
        if (status != CLI_OK)
            goto out;
        style.only = &ids;
    }
    if (!by_member && !names_members(&ids))
        route_query(&path, "arrays", "1");
    status = list_jobs(&path, &style);
out:
    sorted_clear(&sorted);
    ids_clear(&ids);
    strbuf_clear(&path);
    return status;
}
