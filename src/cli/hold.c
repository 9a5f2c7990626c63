/* berth hold, berth release, berth requeue: verbs that take jobs and nothing else. */
#include <stdio.h>

#include "cli/client/each.h"
#include "cli/client/words.h"
#include "cli/verb.h"

static const char hold_help[] =
    "usage: berth hold JOB...\n"
    "Keep pending jobs from starting until they are released. A JOB is an id, a member of an\n"
    "array or a range of ids. What one holds stays held until who held it, the owner of the\n"
    "server or an administrator releases it.\n"
    "  -h, --help  print this\n"
    "Exit status: 0 done, 1 some could not be held, 2 wrong command line.\n"
    "Example: berth hold 17 20-24\n"
    "Manual: man berth-hold\n";

static const char release_help[] =
    "usage: berth release JOB...\n"
    "Let held jobs start. A JOB is an id, a member of an array or a range of ids.\n"
    "  -h, --help  print this\n"
    "Exit status: 0 done, 1 some could not be released, 2 wrong command line.\n"
    "Example: berth release 17 20-24\n"
    "Manual: man berth-release\n";

static const char requeue_help[] =
    "usage: berth requeue JOB...\n"
    "Stop running jobs and let them wait again, in their place of before. A JOB is an id, a\n"
    "member of an array or a range of ids.\n"
    "  -h, --help  print this\n"
    "Exit status: 0 done, 1 some could not be requeued, 2 wrong command line.\n"
    "Example: berth requeue 17\n"
    "Manual: man berth-requeue\n";

/* Options and jobs of such a verb. */
static int run(int argc, char **argv, const char *verb, const char *help,
               const struct each_request *request)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    int c;

    while ((c = words_option(verb, argc, argv, ":h", options)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
    }
    return each_word(verb, argv + optind, argc - optind, false, request);
}

static int set_hold(int argc, char **argv, const char *verb, const char *help, bool hold)
{
    json_t *body = json_pack("{s:b}", "hold", (int)hold);
    const struct each_request request = {"PATCH", "", body};
    int status = run(argc, argv, verb, help, &request);

    json_decref(body);
    return status;
}

int cli_hold(int argc, char **argv)
{
    return set_hold(argc, argv, "hold", hold_help, true);
}

int cli_release(int argc, char **argv)
{
    return set_hold(argc, argv, "release", release_help, false);
}

int cli_requeue(int argc, char **argv)
{
    static const struct each_request request = {"POST", "/requeue", NULL};
    return run(argc, argv, "requeue", requeue_help, &request);
}
