/* berth cancel: end jobs, or give them up before they start. */
#include <stdio.h>

#include "cli/client/each.h"
#include "cli/client/words.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth cancel JOB...\n"
    "       berth cancel --all\n"
    "End jobs: running ones get SIGTERM and, should they not end within the grace time,\n"
    "SIGKILL with all their processes; pending ones never start. A JOB is an id, a member\n"
    "or members of an array, or a range of ids.\n"
    "      --all   all your jobs that have not ended\n"
    "  -h, --help  print this\n"
    "Exit status: 0 done, 1 some could not be cancelled, 2 wrong command line.\n"
    "Example: berth cancel 3-7 9 17[2]\n"
    "Manual: man berth-cancel\n";

int cli_cancel(int argc, char **argv)
{
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    static const struct each_request request = {"DELETE", "", NULL};
    bool all = false;
    int c;

    while ((c = words_option("cancel", argc, argv, ":h", options)) != -1) {
        if (c == '?' || c == ':')
            return CLI_USAGE;
        if (c == 'h')
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
        all = true;
    }
    return each_word("cancel", argv + optind, argc - optind, all, &request);
}
