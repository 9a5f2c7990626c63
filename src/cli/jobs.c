/* berth jobs: waiting and running jobs. */
#include <stdio.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/last.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/tables.h"
#include "cli/verb.h"

#define STARTS  "id,name,user,queue,cores,gpus,estimate,reason" /* columns of --start */
#define IDS_MAX 16384 /* bytes, so that a request is within the server's limits */

static const struct option_row rows[] = {
    {'a', "all", NULL, "include jobs that have ended", NULL},
    {'r', "array", NULL, "a line for each member of an array", NULL},
    {'u', "user", "NAME", "only jobs of this user", "@user"},
    {OPTION_LONG('m'), "me", NULL, "only your own", NULL},
    {'q', "queue", "NAME", "only in this queue", "@queue"},
    {OPTION_LONG('N'), "name", "NAME", "with this name", NULL},
    {'s', "state", "LIST", "of pending, held, running, done, failed, cancelled, timeout",
     "pending held running done failed cancelled timeout"},
    {OPTION_LONG('L'), "label", "NAME[=TEXT]",
     "with this label, whatever its text, or with this text", NULL},
    {'n', "limit", "N", "at most N jobs; 0: all", NULL},
    {OPTION_LONG('W'), "start", NULL, "pending jobs in the order of their expected starts", NULL},
    {OPTION_LONG('S'), "sort", "KEY", "in the order of a column; -KEY: the greatest first", NULL},
    {'o', "columns", "LIST", "these keys of --json as columns: id,name,state,start", NULL},
    {OPTION_LONG('F'), "format", "WORD", "table, json, or csv with times in seconds since 1970",
     "table json csv"},
    {OPTION_LONG('j'), "json", NULL, "an array of objects", NULL},
    {OPTION_LONG('H'), "no-header", NULL, "no header line", NULL},
    {0}};

const struct option_table jobs_options = {
    .verb = "jobs",
    .usage = "usage: berth jobs [OPTION]... [JOB]...\n"
             "List waiting and running jobs, or the named ones; an array is one line.\n",
    .rows = rows,
    .notes = "WHEN is how much of its time limit (\"about\": of its estimate) a running job has\n"
             "left, or how long until a pending job is to start; \"after\": at the earliest.\n"
             "REASON is reserved if that start is promised, expected if it is not.\n"
             "Exit status: 0 listed, 1 failed, 2 wrong command line.\n"
             "Example: berth jobs -u ann -s pending\n"
             "Manual: man berth-jobs\n",
    .complete = "@job"};

const char jobs_leave[] = "GPUS,NODES,QUEUE,USER,TIME";

const struct table_column jobs_columns[] = {
    {"ID", true, 0},     {"NAME", false, 20}, {"USER", false, 12},  {"QUEUE", false, 12},
    {"STATE", false, 0}, {"NODES", true, 0},  {"CORES", true, 0},   {"GPUS", true, 0},
    {"TIME", true, 0},   {"WHEN", false, 0},  {"REASON", false, 0}, {NULL, false, 0}};

static void put_when(struct table *t, const struct fields *job, bool waits, double now)
{
    char span[WHEN_SIZE], text[WHEN_SIZE + 16];
    double until = fields_number(job, "until"), estimate = fields_number(job, "estimate");
    bool may_go_on = fields_number(job, "limit") < 0,
         not_before = fields_is_true(job, "not_before");

    text[0] = '\0';
    if (!waits && until >= (may_go_on ? now : 0))
        snprintf(text, sizeof(text), "%s%s left", may_go_on ? "about " : "",
                 when_span(until - now, span));
    else if (waits && estimate >= (not_before ? now + 1 : 0)) /* no sooner than now says nothing */
        snprintf(text, sizeof(text), "%s %s", not_before ? "after" : "in",
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
    listing_gpus(t, job);
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

static bool names_members(const struct ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        if (ids->v[i].has_members)
            return true;
    return false;
}

/* What a command line asks for. */
struct asked {
    struct strbuf path;
    struct chosen chosen;
    struct sorted sorted;
    struct ids ids;
    struct listing_style style;
    bool by_member, starts;
    struct connection connection; /* open if a word was "last" */
};

/* Ask for the named jobs; members are selected from the answer later. CLI_OK, or another status after saying why. */
static int put_job_ids(struct asked *a, char **words, int n)
{
    struct id_list list = {{0}, 0};
    berth_error_t err;
    int rc = CLI_OK;

    char **ours = last_words(&a->connection, words, (size_t)n, &err);
    if (!ours)
        return connection_failed(&a->connection, &err);
    if (ids_read(&a->ids, ours, (size_t)n, &err) < 0)
        rc = cli_usage("jobs", "%s", err.text);
    else if (ids_each(&a->ids, put_id, &list) != 0)
        rc = cli_usage("jobs", "too many jobs named");
    route_query(&a->path, "ids", strbuf_text(&list.text));
    strbuf_clear(&list.text);
    last_words_free(ours);
    return rc;
}

static int list_jobs(struct asked *a)
{
    berth_error_t err;
    if (!a->connection.client && connection_open(&a->connection, "jobs", &err) < 0)
        return connection_failed(&a->connection, &err);
    return listing_print(&a->connection, strbuf_text(&a->path), &a->style);
}

/* The jobs that wait, in the order in which they are expected to start, unless another one is asked for. False after
 * saying what is wrong.
 */
static bool expect_starts(struct asked *a)
{
    berth_error_t err;
    if (a->style.states) {
        cli_usage("jobs", "--start lists pending jobs, and takes no --state");
        return false;
    }
    route_query(&a->path, "state", "pending");
    a->style.states = "pending";
    if ((a->chosen.n == 0 && chosen_read(&a->chosen, STARTS, &err) < 0) ||
        (!a->sorted.key && sorted_read(&a->sorted, "estimate", &err) < 0)) {
        cli_usage("jobs", "%s", err.text);
        return false;
    }
    return true;
}

/* How they are listed. CLI_OK, or CLI_USAGE after saying what is wrong. */
static int take_style(struct asked *a, int c)
{
    berth_error_t err = {""};
    switch (c) {
    case 'r':
        a->by_member = true;
        return CLI_OK;
    case 'o':
        return chosen_read(&a->chosen, optarg, &err) == 0 ? CLI_OK
                                                          : cli_usage("jobs", "%s", err.text);
    case OPTION_LONG('F'):
        return chosen_format(&a->chosen, optarg, &a->style.json, &err) == 0
                   ? CLI_OK
                   : cli_usage("jobs", "%s", err.text);
    case OPTION_LONG('S'):
        return sorted_read(&a->sorted, optarg, &err) == 0
                   ? CLI_OK
                   : cli_usage("jobs", "--sort: %s", err.text);
    case OPTION_LONG('W'):
        a->starts = true;
        return CLI_OK;
    case OPTION_LONG('j'):
        a->style.json = true;
        return CLI_OK;
    default:
        a->style.headless = true;
        return CLI_OK;
    }
}

/* Which jobs; else how. The same. */
static int take_jobs_option(struct asked *a, int c)
{
    switch (c) {
    case 'a':
        route_query(&a->path, "history", "1");
        return CLI_OK;
    case 'q':
        a->style.queue = optarg;
        break;
    case 's':
        if (!listing_states_are(optarg, 0, LISTING_STATES))
            return cli_usage("jobs",
                             "--state is '%s', expected pending, held, running, done, failed, "
                             "cancelled or timeout",
                             optarg);
        a->style.states = optarg;
        break;
    case 'u':
    case OPTION_LONG('N'):
    case OPTION_LONG('L'):
        break;
    case 'n':
        return listing_limit(&a->path, optarg)
                   ? CLI_OK
                   : cli_usage("jobs", "--limit is '%s', expected a whole number", optarg);
    case OPTION_LONG('m'):
        listing_own(&a->path);
        return CLI_OK;
    default:
        return take_style(a, c);
    }
    route_query(&a->path, option_name(&jobs_options, c), optarg);
    return CLI_OK;
}

/* Read the command line. CLI_OK to go on, or another status; or help was printed. */
static int read_line(struct asked *a, int argc, char **argv, bool *over)
{
    int c, status = CLI_OK;

    while (status == CLI_OK && (c = option_next(&jobs_options, argc, argv)) != -1) {
        *over = c == 'h';
        if (*over)
            return option_help(&jobs_options);
        status = c == '?' ? CLI_USAGE : take_jobs_option(a, c);
    }
    if (status == CLI_OK && a->starts && !expect_starts(a))
        status = CLI_USAGE;
    if (status == CLI_OK && optind < argc) {
        status = put_job_ids(a, argv + optind, argc - optind);
        a->style.only = &a->ids;
    }
    return status;
}

int cli_jobs(int argc, char **argv)
{
    struct asked a = {.style = {.columns = jobs_columns, .leave = jobs_leave, .row = jobs_row},
                      .connection = {.verb = "jobs"}};
    bool over = false;

    a.style.chosen = &a.chosen;
    a.style.sorted = &a.sorted;
    strbuf_puts(&a.path, "/v1/jobs");
    int status = read_line(&a, argc, argv, &over);
    if (status == CLI_OK && !over) {
        if (!a.by_member && !names_members(&a.ids))
            route_query(&a.path, "arrays", "1");
        status = list_jobs(&a);
    }
    connection_close(&a.connection);
    sorted_clear(&a.sorted);
    ids_clear(&a.ids);
    strbuf_clear(&a.path);
    return status;
}
