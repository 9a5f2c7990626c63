/* berth wait: wait until jobs have ended. */
#include <stdio.h>

#include "cli/client/connection.h"
#include "cli/client/follow.h"
#include "cli/client/last.h"
#include "cli/verb.h"
#include "config/ids.h"

static const char help[] =
    "usage: berth wait [JOB]...\n"
    "Wait until jobs have ended, by default the last you submitted. A JOB is an id, a\n"
    "member of an array, a range of ids, or 'last'.\n"
    "  -h, --help  print this\n"
    "Exit status: that of the job, or 128 + its signal; 1 if it never ran, was lost or is not\n"
    "known; for several jobs, the highest. 2 may also mean a wrong command line.\n"
    "Example: id=$(berth submit make) && berth wait \"$id\"\n"
    "Manual: man berth-wait\n";

struct waiting {
    struct connection connection;
    int status;
};

static int wait_for_job(void *context, int64_t id, int64_t member, bool ranged)
{
    struct waiting *w = context;
    struct follow follow = {.connection = &w->connection, .id = id, .member = member};
    struct follow_end end;
    berth_error_t err;
    int status;

    (void)ranged;
    if (follow_job(&follow, &end, &err) < 0)
        status = connection_failed(&w->connection, &err);
    else
        status = end.status;
    if (status > w->status)
        w->status = status;
    return 0;
}

int cli_wait(int argc, char **argv)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    struct waiting w = {.connection = {.verb = "wait"}, .status = CLI_OK};
    char word[] = "last", *last[] = {word};
    struct ids ids;
    berth_error_t err;
    int c;

    while ((c = cli_option("wait", argc, argv, ":h", options)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
    }
    bool named = optind < argc;
    char **words = last_words(&w.connection, named ? argv + optind : last,
                              named ? (size_t)(argc - optind) : 1, &err);
    if (words && ids_read(&ids, words, named ? (size_t)(argc - optind) : 1, &err) < 0) {
        last_words_free(words);
        connection_close(&w.connection);
        return cli_usage("wait", "%s", err.text);
    }
    if (!words || (!w.connection.client && connection_open(&w.connection, "wait", &err) < 0))
        w.status = connection_failed(&w.connection, &err);
    else
        ids_each(&ids, wait_for_job, &w);
    connection_close(&w.connection);
    if (words)
        ids_clear(&ids);
    last_words_free(words);
    return w.status;
}
