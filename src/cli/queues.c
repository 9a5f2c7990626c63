/* berth queues: list, open and close queues. */
#include <stdio.h>

#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth queues [--json]\n"
    "       berth queues OPTION... QUEUE\n"
    "List the queues, or change one; only administrators may change queues.\n"
    "      --enable   accept new jobs     --disable  refuse new jobs\n"
    "      --start    let its jobs start  --stop     let none start; running jobs continue\n"
    "      --json     print an array of objects\n"
    "  -h, --help     print this\n"
    "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
    "Example: berth queues --stop batch\n"
    "Manual: man berth-queues\n";

static const struct table_column columns[] = {
    {"QUEUE", false, 24}, {"POLICY", false, 0}, {"PRIORITY", true, 0}, {"TIME", true, 0},
    {"PENDING", true, 0}, {"RUNNING", true, 0}, {"STATE", false, 0},   {NULL, false, 0}};

static void put_queue_line(struct table *t, const struct fields *queue, const char *states,
                           double now)
{
    char span[WHEN_SIZE];
    double duration = fields_number(queue, "default_duration");
    bool disabled = fields_is_false(queue, "enabled");
    bool stopped = fields_is_false(queue, "started");

    (void)states;
    (void)now;
    listing_text(t, queue, "name");
    listing_text(t, queue, "policy");
    listing_count(t, queue, "priority");
    table_cell(t, duration > 0 ? when_span(duration, span) : "");
    listing_count(t, queue, "pending");
    listing_count(t, queue, "running");
    table_cell(t, disabled  ? (stopped ? "disabled, stopped" : "disabled")
                  : stopped ? "stopped"
                            : "open");
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

static int list_queues(bool json)
{
    const struct listing_style style = {.json = json, .columns = columns, .row = put_queue_line};
    struct connection connection;
    berth_error_t err;
    int status;

    if (connection_open(&connection, "queues", &err) < 0)
        status = connection_failed(&connection, &err);
    else
        status = listing_print(&connection, "/v1/queues", &style);
    connection_close(&connection);
    return status;
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
        else
            json_object_set_new(body, c == 'e' || c == 'd' ? "enabled" : "started",
                                json_boolean(c == 'e' || c == 's'));
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
