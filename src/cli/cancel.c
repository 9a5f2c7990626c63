/* berth cancel: end jobs, or give them up before they start. */
#include "cli/client/each.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth cancel [OPTION]... JOB...\n"
    "       berth cancel OPTION...\n"
    "End jobs: running ones get SIGTERM and, should they not end within the grace\n"
    "time, SIGKILL with all their processes; pending ones never start. A JOB is an\n"
    "id, a member or members of an array, or a range of ids.\n"
    "  -u, --user NAME   only of this user; '*': of all (administrators)\n"
    "  -q, --queue NAME  only in this queue\n"
    "  -s, --state LIST  only pending, held or running ones\n"
    "      --name NAME   only those called so\n"
    "      --all         all your jobs; so are meant with options and no JOB\n"
    "  -h, --help        print this\n"
    "Exit status: 0 done, 1 some could not be cancelled, 2 wrong command line.\n"
    "Example: berth cancel 3-7 9 17[2]\n"
    "Manual: man berth-cancel\n";

int cli_cancel(int argc, char **argv)
{
    static const struct each_verb verb = {"cancel", help, false};
    return each_verb(argc, argv, &verb);
}
