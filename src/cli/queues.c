/* berth queues: list, open and close queues. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {OPTION_LONG('e'), "enable", NULL, "accept new jobs", NULL},
    {OPTION_LONG('d'), "disable", NULL, "refuse new jobs", NULL},
    {OPTION_LONG('s'), "start", NULL, "let its jobs start", NULL},
    {OPTION_LONG('p'), "stop", NULL, "let none start; what runs goes on", NULL},
    {'r', "resource", "TYPE", "shares of this resource, such as gpu; default: the first",
     "core gpu memory node"},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects", NULL},
    {0}};

const struct option_table queues_options = {
    .verb = "queues",
    .usage = "usage: berth queues [--json] [-r TYPE]\n"
             "       berth queues OPTION... QUEUE\n"
             "List the queues with their limits, with shares what each uses and deserves, or\n"
             "change one, as administrators may.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth queues --stop batch\n"
             "Manual: man berth-queues\n",
    .complete = "@queue"};

/* Columns of the table. Those of shares and of limits are there where a queue has some. */
enum queue_column {
    COLUMN_NAME,
    COLUMN_POLICY,
    COLUMN_PRIORITY,
    COLUMN_WEIGHT,
    COLUMN_IN_USE,
    COLUMN_DESERVED,
    COLUMN_TIME_LIMIT,
    COLUMN_ESTIMATE,
    COLUMN_PENDING,
    COLUMN_RUNNING,
    COLUMN_STATE,
    COLUMN_LIMITS,
    COLUMNS
};

static const struct table_column all_columns[COLUMNS + 1] = {
    [COLUMN_NAME] = {"QUEUE", false, 0},       [COLUMN_POLICY] = {"POLICY", false, 0},
    [COLUMN_PRIORITY] = {"PRIORITY", true, 0}, [COLUMN_WEIGHT] = {"WEIGHT", true, 0},
    [COLUMN_IN_USE] = {"IN USE", true, 0}, /* the resource, in the table */
    [COLUMN_DESERVED] = {"DESERVED", true, 0}, [COLUMN_TIME_LIMIT] = {"TIME LIMIT", true, 0},
    [COLUMN_ESTIMATE] = {"ESTIMATE", true, 0}, [COLUMN_PENDING] = {"PENDING", true, 0},
    [COLUMN_RUNNING] = {"RUNNING", true, 0},   [COLUMN_STATE] = {"STATE", false, 0},
    [COLUMN_LIMITS] = {"LIMITS", false, 0},
};

struct queues_shown {
    const json_t *queues;
    const char *resource; /* of shares; NULL: there are none */
    char head[32];        /* "CORES" */
    bool is_limited, has_time_limit;
    struct table table;
};

/* ---- What is shown ---- */

static bool has_share(const json_t *queue, const char *key, const char *resource)
{
    const json_t *share = json_object_get(queue, "share");
    return json_integer_value(json_object_get(json_object_get(share, key), resource)) > 0;
}

/* The first resource of which a queue has, or deserves, something; else the first. NULL: there are no shares. */
static const char *used_resource(const json_t *queues)
{
    const char *first = NULL, *resource;
    json_t *queue, *amount;
    size_t i;
    json_array_foreach (queues, i, queue) {
        json_object_foreach (json_object_get(json_object_get(queue, "share"), "received"), resource,
                             amount) {
            (void)amount;
            first = first ? first : resource;
            if (has_share(queue, "received", resource) || has_share(queue, "deserved", resource))
                return resource;
        }
    }
    return first;
}

static bool counts(const json_t *queues, const char *resource)
{
    const json_t *queue;
    size_t i;
    json_array_foreach (queues, i, queue) {
        const json_t *share = json_object_get(queue, "share");
        if (json_object_get(json_object_get(share, "received"), resource))
            return true;
    }
    return false;
}

/* "CORES", "GPUS", "MEMORY" */
static void name_resource(struct queues_shown *shown)
{
    size_t n = 0;
    for (; shown->resource[n] && n + 2 < sizeof(shown->head); n++)
        shown->head[n] = (char)toupper((unsigned char)shown->resource[n]);
    if (strcmp(shown->resource, "memory") != 0)
        shown->head[n++] = 'S';
    shown->head[n] = '\0';
}

static bool is_limited(const json_t *queue)
{
    const char *whose;
    json_t *limits;
    json_object_foreach (json_object_get(queue, "limits"), whose, limits) {
        (void)whose;
        if (json_object_size(limits) > 0)
            return true;
    }
    return false;
}

/* The time limit of jobs that name none, in seconds: the default limit, at most what limits let a job last; -1: none. */
static double time_limit(const json_t *queue)
{
    const json_t *job = json_object_get(json_object_get(queue, "limits"), "job");
    double limit = answer_number(queue, "default_limit"), most = answer_number(job, "duration");
    return most > 0 && (limit <= 0 || most < limit) ? most : limit > 0 ? limit : -1;
}

static int choose_queues(struct queues_shown *shown, const char *wanted, berth_error_t *err)
{
    const json_t *queue;
    size_t i;
    json_array_foreach (shown->queues, i, queue) {
        shown->is_limited = shown->is_limited || is_limited(queue);
        shown->has_time_limit = shown->has_time_limit || time_limit(queue) > 0;
    }
    if (wanted && !counts(shown->queues, wanted))
        return errtext_set(err, EINVAL, "--resource: '%.40s' does not count for shares", wanted);
    shown->resource = wanted ? wanted : used_resource(shown->queues);
    if (shown->resource)
        name_resource(shown);
    return 0;
}

/* ---- Cells ---- */

static void put_queue_times(struct table *t, const json_t *queue, enum queue_column column)
{
    char span[WHEN_SIZE];
    double limit = time_limit(queue);
    if (column == COLUMN_ESTIMATE && limit < 0)
        limit = answer_number(queue, "default_duration");
    table_cell(t, limit > 0                     ? when_span(limit, span)
                  : column == COLUMN_TIME_LIMIT ? "unlimited"
                                                : "unknown");
}

static void put_amount(struct queues_shown *shown, const json_t *share, const char *key)
{
    const json_t *amount = json_object_get(json_object_get(share, key), shown->resource);
    char text[SHARES_AMOUNT_SIZE] = "";
    if (amount)
        shares_amount(shown->resource, json_integer_value(amount), text);
    table_cell(&shown->table, text);
}

void put_limit_list(struct strbuf *text, const json_t *limits)
{
    const char *what;
    json_t *most;
    char span[WHEN_SIZE];
    json_object_foreach ((json_t *)limits, what, most) {
        strbuf_putc(text, ' ');
        strbuf_puts(text, what);
        strbuf_putc(text, '=');
        if (strcmp(what, "duration") == 0)
            strbuf_puts(text, when_span(json_number_value(most), span));
        else
            strbuf_put_int(text, json_integer_value(most));
    }
}

/* "job node=4 duration=1:00:00; user core=6" */
static void put_limits(struct table *t, const json_t *queue)
{
    const char *whose;
    json_t *limits;
    strbuf_reset(&t->cell);
    json_object_foreach (json_object_get(queue, "limits"), whose, limits) {
        if (json_object_size(limits) == 0)
            continue;
        strbuf_puts(&t->cell, t->cell.len ? "; " : "");
        strbuf_puts(&t->cell, whose);
        put_limit_list(&t->cell, limits);
    }
    table_cell(t, strbuf_text(&t->cell));
}

static const char *state_of_queue(const json_t *queue)
{
    bool disabled = json_is_false(json_object_get(queue, "enabled"));
    bool stopped = json_is_false(json_object_get(queue, "started"));
    if (disabled)
        return stopped ? "disabled, stopped" : "disabled";
    return stopped ? "stopped" : "open";
}

static void put_cell(struct queues_shown *shown, const json_t *queue, enum queue_column column)
{
    static const char *const number[COLUMNS] = {
        [COLUMN_PRIORITY] = "priority", [COLUMN_PENDING] = "pending", [COLUMN_RUNNING] = "running"};
    const json_t *share = json_object_get(queue, "share");
    struct table *t = &shown->table;
    if (number[column])
        table_number(t, (long long)answer_number(queue, number[column]));
    else if (column == COLUMN_WEIGHT && json_is_object(share))
        table_number(t, (long long)answer_number(share, "weight"));
    else if (column == COLUMN_IN_USE || column == COLUMN_DESERVED)
        put_amount(shown, share, column == COLUMN_IN_USE ? "in_use" : "deserved");
    else if (column == COLUMN_TIME_LIMIT || column == COLUMN_ESTIMATE)
        put_queue_times(t, queue, column);
    else if (column == COLUMN_LIMITS)
        put_limits(t, queue);
    else
        table_cell(t, column == COLUMN_NAME     ? answer_text(queue, "name")
                      : column == COLUMN_POLICY ? answer_text(queue, "policy")
                      : column == COLUMN_STATE  ? state_of_queue(queue)
                                                : "");
}

static bool is_shown(const struct queues_shown *shown, enum queue_column column)
{
    if (column == COLUMN_LIMITS)
        return shown->is_limited;
    if (column == COLUMN_TIME_LIMIT)
        return shown->has_time_limit;
    return column < COLUMN_WEIGHT || column > COLUMN_DESERVED || shown->resource;
}

int queues_print(FILE *out, const json_t *answer, const char *resource, berth_error_t *err)
{
    struct queues_shown shown = {.queues = json_object_get(answer, "queues")};
    struct table_column columns[COLUMNS + 1];
    const json_t *queue;
    size_t i, n = 0;

    if (choose_queues(&shown, resource, err) < 0)
        return -1;
    for (enum queue_column c = 0; c < COLUMNS; c++)
        if (is_shown(&shown, c)) {
            columns[n] = all_columns[c];
            if (c == COLUMN_IN_USE)
                columns[n].head = shown.head;
            n++;
        }
    columns[n] = (struct table_column){NULL, false, 0};
    table_begin(&shown.table, out, columns);
    json_array_foreach (shown.queues, i, queue) {
        for (enum queue_column c = 0; c < COLUMNS; c++)
            if (is_shown(&shown, c))
                put_cell(&shown, queue, c);
    }
    bool written = table_end(&shown.table);
    table_clear(&shown.table);
    return written ? 0 : errtext_no_memory(err);
}

/* ---- The verb ---- */

static int change_queues(const char *queue, const json_t *body)
{
    struct connection connection;
    struct strbuf path = {0};
    berth_error_t err;
    int status = CLI_OK;

    strbuf_puts(&path, "/v1/queues/");
    strbuf_puts(&path, queue);
    if (connection_open(&connection, "queues", &err) < 0 ||
        connection_ask(&connection, "PATCH", strbuf_text(&path), body, NULL, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    strbuf_clear(&path);
    return status;
}

static int show_queues(struct connection *connection, const char *resource, berth_error_t *err)
{
    json_t *answer = NULL;
    int rc = connection_ask(connection, "GET", "/v1/queues", NULL, &answer, err);

    if (rc == 0)
        rc = queues_print(stdout, answer, resource, err);
    json_decref(answer);
    return rc;
}

static int list_queues(const char *resource, bool json)
{
    const struct listing_style style = {.json = true, .columns = all_columns};
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;

    if (connection_open(&connection, "queues", &err) < 0)
        status = connection_failed(&connection, &err);
    else if (json)
        status = listing_print(&connection, "/v1/queues", &style);
    else if (show_queues(&connection, resource, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

/* False: the opposite was asked for, too. */
static bool take_queue_change(json_t *body, int c)
{
    const char *key = c == OPTION_LONG('e') || c == OPTION_LONG('d') ? "enabled" : "started";
    bool on = c == OPTION_LONG('e') || c == OPTION_LONG('s');
    const json_t *before = json_object_get(body, key);
    return before ? json_is_true(before) == on
                  : json_object_set_new(body, key, json_boolean(on)) == 0;
}

int cli_queues(int argc, char **argv)
{
    json_t *body = json_object();
    const char *resource = NULL;
    bool json = false;
    int c, status = CLI_USAGE;

    while ((c = option_next(&queues_options, argc, argv)) != -1) {
        if (c == 'h')
            status = option_help(&queues_options);
        if (c == '?' || c == 'h')
            goto out;
        if (c == OPTION_LONG('j'))
            json = true;
        else if (c == 'r')
            resource = optarg;
        else if (!take_queue_change(body, c)) {
            status = cli_usage("queues", "%s, expected one of them",
                               c == OPTION_LONG('e') || c == OPTION_LONG('d')
                                   ? "--enable and --disable are given"
                                   : "--start and --stop are given");
            goto out;
        }
    }
    bool changes = json_object_size(body) > 0;
    if (changes && argc - optind == 1 && !json && !resource)
        status = change_queues(argv[optind], body);
    else if (changes)
        status = cli_usage("queues", "expected one queue to change");
    else if (optind < argc)
        status = cli_usage("queues", "no change given for '%s'", argv[optind]);
    else if (resource && json)
        status = cli_usage("queues", "--json has all resources: --resource is of the table");
    else
        status = list_queues(resource, json);
out:
    json_decref(body);
    return status;
}
