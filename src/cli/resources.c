/* berth resources, berth drain, berth resume: the machine, and parts of it that are out of use. */
#include <stdio.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/verb.h"

static const struct option_row resources_rows[] = {
    {OPTION_LONG('j'), "json", NULL, "print the same as a JSON object", NULL}, {0}};

const struct option_table resources_options = {
    .verb = "resources",
    .usage = "usage: berth resources [--json]\n"
             "Show which resources the machine has, which are in use, and which are drained.\n",
    .rows = resources_rows,
    .notes = "Exit status: 0 shown, 1 failed, 2 wrong command line.\n"
             "Example: berth resources\n"
             "Manual: man berth-resources\n"};

static const struct option_row drain_rows[] = {
    {OPTION_LONG('d'), "down", NULL, "mark the resources as failed", NULL},
    {OPTION_LONG('l'), "lost", NULL, "nothing of a cluster's node runs, for certain", NULL},
    {0}};

const struct option_table drain_options = {
    .verb = "drain",
    .usage = "usage: berth drain [--down | --lost] RESOURCES [REASON]...\n"
             "Let no more jobs start on a part of the machine; jobs that run there continue.\n"
             "RESOURCES are a host, or a part of one such as node0/core3. A node of a cluster\n"
             "that is not heard of is down by itself, and what ran there counts as running\n"
             "until that is disproved, or somebody says so by --lost.\n",
    .rows = drain_rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth drain \"$(hostname)\" new disk\n"
             "Manual: man berth-drain\n",
    .leading = true};

const struct option_table resume_options = {
    .verb = "resume",
    .usage = "usage: berth resume RESOURCES\n"
             "Let jobs start again on drained resources.\n",
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth resume \"$(hostname)\"\n"
             "Manual: man berth-resume\n"};

static void print_memory(double bytes)
{
    printf("memory  %.1f GiB\n", bytes / 1073741824.0);
}

/* "drained node0 since 2026-11-22 08:30:15: new disk" */
static void print_changed(const json_t *part)
{
    char since[WHEN_SIZE];
    const char *reason = answer_text(part, "reason");

    printf("%-7s ", answer_text(part, "status"));
    terminal_print(stdout, answer_text(part, "resources"));
    printf(" since %s%s", when_put(answer_number(part, "since"), since), *reason ? ": " : "");
    terminal_print(stdout, reason);
    putchar('\n');
}

/* "matlab  2 of 10 licences in use" */
static void print_license(const json_t *license)
{
    const char *name = answer_text(license, "name");
    terminal_print(stdout, name);
    printf("%*s %.0f of %.0f licences in use\n", strlen(name) < 7 ? 7 - (int)strlen(name) : 0, "",
           answer_number(license, "used"), answer_number(license, "count"));
}

static void print_resources(const json_t *answer)
{
    const json_t *used = json_object_get(answer, "used"), *part;
    size_t i;

    printf("nodes   %.0f\n", answer_number(answer, "nodes"));
    printf("cores   %.0f of %.0f in use\n", answer_number(used, "cores"),
           answer_number(answer, "cores"));
    printf("gpus    %.0f of %.0f in use\n", answer_number(used, "gpus"),
           answer_number(answer, "gpus"));
    if (answer_number(answer, "gpu_memory") > 0)
        printf("of gpus %.1f of %.1f GiB in use\n",
               answer_number(used, "gpu_memory") / 1073741824.0,
               answer_number(answer, "gpu_memory") / 1073741824.0);
    if (answer_number(answer, "memory") > 0)
        print_memory(answer_number(answer, "memory"));
    json_array_foreach (json_object_get(answer, "licenses"), i, part)
        print_license(part);
    json_array_foreach (json_object_get(answer, "changed"), i, part)
        print_changed(part);
}

int cli_resources(int argc, char **argv)
{
    struct connection connection;
    berth_error_t err;
    json_t *answer = NULL;
    bool json = false;
    int c, status = CLI_OK;

    while ((c = option_next(&resources_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&resources_options);
        json = true;
    }
    if (optind < argc)
        return cli_usage("resources", "takes no argument, got '%s'", argv[optind]);
    if (connection_open(&connection, "resources", &err) < 0 ||
        connection_ask(&connection, "GET", "/v1/resources", NULL, &answer, &err) < 0) {
        status = connection_failed(&connection, &err);
    } else if (json) {
        answer_print(answer);
    } else {
        print_resources(answer);
    }
    json_decref(answer);
    connection_close(&connection);
    return status;
}

static int change_status(const char *verb, const char *resources, const char *to,
                         const char *reason)
{
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;
    json_t *body = json_pack("{s:s, s:s}", "resources", resources, "status", to);

    if (*reason && json_object_set_new(body, "reason", json_string(reason)) < 0) {
        json_decref(body);
        return cli_usage(verb, "the reason is not UTF-8");
    }
    if (!body)
        return cli_usage(verb, "the resources are not UTF-8");
    if (connection_open(&connection, verb, &err) < 0 ||
        connection_ask(&connection, "PATCH", "/v1/resources", body, NULL, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    json_decref(body);
    return status;
}

int cli_drain(int argc, char **argv)
{
    struct strbuf reason = {0};
    const char *to = "drained";
    int c;

    while ((c = option_next(&drain_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&drain_options);
        to = c == OPTION_LONG('d') ? "down" : "lost";
    }
    if (optind == argc)
        return cli_usage("drain", "no resources given");
    for (int i = optind + 1; i < argc; i++) {
        strbuf_puts(&reason, reason.len ? " " : "");
        strbuf_puts(&reason, argv[i]);
    }
    int status = change_status("drain", argv[optind], to, strbuf_text(&reason));
    strbuf_clear(&reason);
    return status;
}

int cli_resume(int argc, char **argv)
{
    int status;

    if (option_none(&resume_options, argc, argv, &status))
        return status;
    if (argc - optind != 1)
        return cli_usage("resume", argc == optind ? "no resources given" : "expected one argument");
    return change_status("resume", argv[optind], "up", "");
}
