/* berth queues: list, open and close queues. */
#include <errno.h>
#include <stdio.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth queues [--json]\n"
    "       berth queues OPTION... QUEUE\n"
    "List the queues, with shares what each has and deserves, or change one, as\n"
    "administrators may.\n"
    "      --enable   accept new jobs     --disable  refuse new jobs\n"
    "      --start    let its jobs start  --stop     let none start; runs go on\n"
    "      --json     print an array of objects\n"
    "  -h, --help     print this\n"
    "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
    "Example: berth queues --stop batch\n"
    "Manual: man berth-queues\n";

static const struct table_column columns[] = {
    {"QUEUE", false, 24}, {"POLICY", false, 0}, {"PRIORITY", true, 0}, {"TIME", true, 0},
    {"PENDING", true, 0}, {"RUNNING", true, 0}, {"STATE", false, 0},   {NULL, false, 0}};

/* The same where there are shares. */
static const struct table_column share_columns[] = {
    {"QUEUE", false, 24}, {"POLICY", false, 0},  {"PRIORITY", true, 0}, {"WEIGHT", true, 0},
    {"CORES", true, 0},   {"DESERVED", true, 0}, {"TIME", true, 0},     {"PENDING", true, 0},
    {"RUNNING", true, 0}, {"STATE", false, 0},   {NULL, false, 0}};

/* How many cores of its share a queue has of a kind. */
static void put_share_cores(struct table *t, const json_t *share, const char *key)
{
    const json_t *cores = json_object_get(json_object_get(share, key), "core");
    if (cores)
        table_number(t, json_integer_value(cores));
    else
        table_cell(t, "");
}

static void put_share(struct table *t, const json_t *queue)
{
    const json_t *share = json_object_get(queue, "share");
    if (json_is_object(share))
        table_number(t, (long long)answer_number(share, "weight"));
    else
        table_cell(t, "");
    put_share_cores(t, share, "received");
    put_share_cores(t, share, "deserved");
}

static void put_queue_line(struct table *t, const json_t *queue, bool with_shares)
{
    char span[WHEN_SIZE];
    double duration = answer_number(queue, "default_duration");
    bool disabled = json_is_false(json_object_get(queue, "enabled"));
    bool stopped = json_is_false(json_object_get(queue, "started"));

    table_cell(t, answer_text(queue, "name"));
    table_cell(t, answer_text(queue, "policy"));
    table_number(t, (long long)answer_number(queue, "priority"));
    if (with_shares)
        put_share(t, queue);
    table_cell(t, duration > 0 ? when_span(duration, span) : "");
    table_number(t, (long long)answer_number(queue, "pending"));
    table_number(t, (long long)answer_number(queue, "running"));
    table_cell(t, disabled  ? (stopped ? "disabled, stopped" : "disabled")
                  : stopped ? "stopped"
                            : "open");
}

int queues_print(FILE *out, const json_t *answer, berth_error_t *err)
{
    const json_t *queues = json_object_get(answer, "queues");
    struct table table;
    const json_t *queue;
    bool with_shares = false;
    size_t i;

    json_array_foreach(queues, i, queue)
    {
        with_shares = with_shares || json_is_object(json_object_get(queue, "share"));
    }
    table_begin(&table, out, with_shares ? share_columns : columns);
    json_array_foreach(queues, i, queue)
    {
        put_queue_line(&table, queue, with_shares);
    }
    bool written = table_end(&table);
    table_clear(&table);
    return written ? 0 : errtext_set(err, ENOMEM, "out of memory");
}

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

static int show_queues(struct connection *connection, berth_error_t *err)
{
    json_t *answer = NULL;
    int rc = connection_ask(connection, "GET", "/v1/queues", NULL, &answer, err);

    if (rc == 0)
        rc = queues_print(stdout, answer, err);
    json_decref(answer);
    return rc;
}

static int list_queues(bool json)
{
    const struct listing_style style = {.json = true, .columns = columns};
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;

    if (connection_open(&connection, "queues", &err) < 0)
        status = connection_failed(&connection, &err);
    else if (json)
        status = listing_print(&connection, "/v1/queues", &style);
    else if (show_queues(&connection, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

/* False: the opposite was asked for, too. */
static bool take_change(json_t *body, int c)
{
    const char *key = c == 'e' || c == 'd' ? "enabled" : "started";
    bool on = c == 'e' || c == 's';
    const json_t *before = json_object_get(body, key);
    return before ? json_is_true(before) == on
                  : json_object_set_new(body, key, json_boolean(on)) == 0;
}

int cli_queues(int argc, char **argv)
{
    static const struct option options[] = {{"enable", no_argument, NULL, 'e'},
                                            {"disable", no_argument, NULL, 'd'},
                                            {"start", no_argument, NULL, 's'},
                                            {"stop", no_argument, NULL, 'p'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    json_t *body = json_object();
    bool json = false;
    int c, status = CLI_USAGE;

    while ((c = cli_option("queues", argc, argv, ":h", options)) != -1) {
        if (c == 'h')
            status = fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
        if (c == '?' || c == 'h')
            goto out;
        if (c == 'j')
            json = true;
        else if (!take_change(body, c)) {
            status = cli_usage("queues", "%s, expected one of them",
                               c == 'e' || c == 'd' ? "--enable and --disable are given"
                                                    : "--start and --stop are given");
            goto out;
        }
    }
    bool changes = json_object_size(body) > 0;
    if (changes && argc - optind == 1 && !json)
        status = change_queues(argv[optind], body);
    else if (changes)
        status = cli_usage("queues", "expected one queue to change");
    else if (optind < argc)
        status = cli_usage("queues", "no change given for '%s'", argv[optind]);
    else
        status = list_queues(json);
out:
    json_decref(body);
    return status;
}
