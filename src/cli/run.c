/* berth run: submit a job and wait for it. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/client/attend.h"
#include "cli/client/request.h"
#include "cli/option_table.h"
#include "cli/step/step.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {OPTION_LONG('p'), "pty", NULL, "give it a terminal, as for a shell", NULL},
    {OPTION_LONG('j'), "json", NULL, "print what became of it in place of its output", NULL},
    {'n', "ntasks", "N", "tasks, each of which runs the command (1)", NULL},
    {'c', "cores-per-task", "N", "cores for each task (1)", NULL},
    {'g', "gpus-per-task", "N", "gpus for each task, or of a type: a100:2 (0)", NULL},
    {OPTION_LONG('m'), "mem", "SIZE", "memory, 512M or 4G", NULL},
    {'L', "licenses", "LIST", "licences, such as matlab:2", NULL},
    {'t', "time-limit", "TIME", "90, 30m, 1h30m; default: that of the queue, if any", NULL},
    {'q', "queue", "NAME", "instead of the default queue", "@queue"},
    {'A', "account", "NAME", "instead of your default account", NULL},
    {'o', "output", "FILE", "write its output to FILE, and show nothing", "@file"},
    {OPTION_LONG('a'), "array", "MEMBERS", "10, or 1-99:2%5; the exit status is their highest",
     NULL},
    {OPTION_LONG('g'), "gang", "N", "members that start together, or as many as --min M", NULL},
    {OPTION_LONG('r'), "role", "ROLE", "of a gang of several: a:8,cores=2", NULL},
    {0}};

const struct option_table run_options = {
    .verb = "run",
    .usage = "usage: berth run [OPTION]... COMMAND [ARG]...  or SCRIPT [ARG]...\n"
             "Submit a job, pass standard input on to it, show its output while it runs, and\n"
             "return its exit status. If no server is running, a private one is started.\n"
             "Ctrl-C cancels the job; a second one leaves it alone. Lines of an array begin\n"
             "with their member's number: '3: text'. The options are those of 'berth submit',\n"
             "among them:\n",
    .rows = rows,
    .more = &submit_options,
    .without = REQUEST_SUBMITS_ONLY " json",
    .notes = "Exit status: that of the job, or 128 + its signal; 127 no such command, 126 it\n"
             "can't be executed, 1 it could not be run, 2 wrong command line.\n"
             "Example: berth run -c 2 ./work.sh\n"
             "Manual: man berth-run, man berth-submit\n",
    .complete = "@command @file"};

/* With one task, a script has steps as one that is submitted has; with more, each task is the script. */
static int have_steps(json_t *job, berth_error_t *err)
{
    const json_t *tasks = json_object_get(job, "tasks");
    return tasks && json_integer_value(tasks) > 1 ? 0 : request_run_once(job, err);
}

static bool asks_for_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

int cli_run(int argc, char **argv)
{
    struct request r = {.otherwise = NULL};
    berth_error_t err;
    int status;

    if (!asks_for_help(argc, argv) && step_is_here())
        return step_run("berth run", argc, argv);
    if (request_read(&r, argc, argv, &err) < 0 || (r.job && have_steps(r.job, &err) < 0)) {
        if (errno == EINVAL)
            return cli_usage("run", "%s", err.text);
        fprintf(stderr, "berth run: %s\n", err.text);
        return CLI_FAILED;
    }
    if (r.wants_help)
        status = option_help(&run_options);
    else if (request_submits(&r))
        status = cli_usage("run", "%s is for submit", request_submits(&r));
    else
        status = attend_job(&r, "run");
    request_clear(&r);
    return status;
}
