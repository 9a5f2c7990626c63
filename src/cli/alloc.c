/* berth alloc: a shell in an allocation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/client/attend.h"
#include "cli/client/request.h"
#include "cli/option_table.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {'n', "ntasks", "N", "room for so many tasks; the shell is one process (1)", NULL},
    {'c', "cores-per-task", "N", "cores for each task (1)", NULL},
    {'g', "gpus-per-task", "N", "gpus for each task (0)", NULL},
    {OPTION_LONG('m'), "mem", "SIZE", "memory, 512M or 4G", NULL},
    {'t', "time-limit", "TIME", "90, 30m, 1h30m; default: that of the queue, if any", NULL},
    {'q', "queue", "NAME", "instead of the default queue", "@queue"},
    {'A', "account", "NAME", "instead of your default account", NULL},
    {0}};

const struct option_table alloc_options = {
    .verb = "alloc",
    .usage = "usage: berth alloc [OPTION]... [COMMAND [ARG]...]\n"
             "Get resources and work on them: your shell, or COMMAND, runs in a terminal of\n"
             "its own on what was asked for, which is given back when it ends. If resources\n"
             "are in use, it waits for them; Ctrl-C gives up waiting. The options are those of\n"
             "'berth submit', among them:\n",
    .rows = rows,
    .more = &submit_options,
    .without = REQUEST_SUBMITS_ONLY " json",
    .notes = "Exit status: that of the shell, or 128 + its signal; 127 no such command, 126 it\n"
             "can't be executed, 1 it could not be run, 2 wrong command line.\n"
             "Example: berth alloc -c 4 --mem 8G -t 2h\n"
             "Manual: man berth-alloc, man berth-submit\n",
    .complete = "@command @file"};

/* The shell is one process; the tasks are for the steps that it starts. */
static void make_batch(json_t *job)
{
    json_int_t n = json_integer_value(json_object_get(job, "tasks"));
    if (!json_object_get(job, "jobspec"))
        json_object_set_new(job, "batch", json_integer(n > 0 ? n : 1));
}

int cli_alloc(int argc, char **argv)
{
    const char *shell = getenv("SHELL");
    struct request r = {.otherwise = shell && *shell ? shell : "/bin/sh"};
    berth_error_t err;
    int status;

    if (request_read(&r, argc, argv, &err) < 0) {
        if (errno == EINVAL)
            return cli_usage("alloc", "%s", err.text);
        fprintf(stderr, "berth alloc: %s\n", err.text);
        return CLI_FAILED;
    }
    if (r.wants_help) {
        status = option_help(&alloc_options);
    } else if (r.json) {
        status = cli_usage("alloc", "--json is for submit and run");
    } else if (request_submits(&r)) {
        status = cli_usage("alloc", "%s is for submit", request_submits(&r));
    } else {
        make_batch(r.job);
        r.pty = true;
        status = attend_job(&r, "alloc");
    }
    request_clear(&r);
    return status;
}
