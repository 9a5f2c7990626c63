/* berth run: submit a job and wait for it. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/follow.h"
#include "cli/client/request.h"
#include "cli/client/terminal.h"
#include "cli/step/step.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth run [OPTION]... COMMAND [ARG]...\n"
    "       berth run [OPTION]... SCRIPT [ARG]...\n"
    "Submit a job, show its output while it runs, and return its exit status. If no\n"
    "server is running, a private one is started. Ctrl-C cancels the job; a second one\n"
    "leaves it alone. Lines of an array begin with their member's number: '3: text'.\n"
    "The options are those of 'berth submit', among them:\n"
    "  -n, --ntasks N          tasks, each of which runs the command (1)\n"
    "  -c, --cores-per-task N  cores for each task (1)\n"
    "  -g, --gpus-per-task N   gpus for each task, or of a type: a100:2 (0)\n"
    "      --mem SIZE          memory, 512M or 4G\n"
    "  -t, --time-limit TIME   90, 30m, 1h30m; without it, that of the queue, if it has one\n"
    "  -q, --queue NAME        instead of the default queue\n"
    "  -A, --account NAME      instead of your default account\n"
    "  -o, --output FILE       write its output to FILE, and show nothing\n"
    "      --array N|1-99:2%5  members, 5 at once; the exit status is their highest\n"
    "  -h, --help              print this\n"
    "Exit status: that of the job, or 128 + its signal; 1 it could not be run, 2 wrong\n"
    "command line.\n"
    "Example: berth run -c 2 ./work.sh\n"
    "Manual: man berth-run, man berth-submit\n";

/* Print how the job ended, if its status alone does not say. */
static void report_end(int64_t id, const struct follow_end *end)
{
    if (end->left) {
        fprintf(stderr, "berth run: left job %" PRId64 "\n", id);
    } else if (end->reason[0] && strcmp(end->reason, end->state) != 0) {
        fprintf(stderr, "berth run: job %" PRId64 ": %s: ", id, end->state);
        terminal_print(stderr, end->reason);
        fputc('\n', stderr);
    } else if (end->state[0] == 'c' || end->state[0] == 't') {
        fprintf(stderr, "berth run: job %" PRId64 ": %s\n", id, end->state);
    }
}

static int run_job(struct request *r, berth_error_t *err)
{
    struct connection connection;
    struct follow_end end;
    json_t *answer = NULL;
    int status;

    if (connection_open(&connection, "run", err) < 0 || connection_start(&connection, err) < 0 ||
        connection_ask(&connection, "POST", "/v1/jobs", r->job, &answer, err) < 0) {
        status = connection_failed(&connection, err);
        goto out;
    }
    struct follow follow = {.connection = &connection,
                            .id = json_integer_value(json_object_get(answer, "id")),
                            .member = -1,
                            .output = !r->has_output,
                            .may_cancel = true};
    if (follow_job(&follow, &end, err) < 0) {
        status = connection_failed(&connection, err);
    } else {
        report_end(follow.id, &end);
        status = end.status;
    }
out:
    json_decref(answer);
    connection_close(&connection);
    return status;
}

static bool asks_for_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

int cli_run(int argc, char **argv)
{
    struct request r;
    berth_error_t err;
    int status;

    if (!asks_for_help(argc, argv) && step_is_here())
        return step_run("berth run", argc, argv);
    if (request_read(&r, argc, argv, &err) < 0) {
        if (errno == EINVAL)
            return cli_usage("run", "%s", err.text);
        fprintf(stderr, "berth run: %s\n", err.text);
        return CLI_FAILED;
    }
    if (r.wants_help)
        status = fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
    else if (r.bulk)
        status = cli_usage("run", "--bulk is for submit; run takes one job");
    else
        status = run_job(&r, &err);
    request_clear(&r);
    return status;
}
