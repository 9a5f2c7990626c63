/* berth signal: send running jobs a signal. */
#include "cli/client/each.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth signal [OPTION]... JOB...\n"
    "       berth signal OPTION...\n"
    "Send a signal to the processes of running jobs. A JOB is an id, a member or\n"
    "members of an array, or a range of ids.\n"
    "  -s, --signal SIGNAL  its name or number (TERM)\n"
    "  -u, --user NAME      only to jobs of this user; '*': of all (administrators)\n"
    "  -q, --queue NAME     only in this queue\n"
    "      --state LIST     only in these states: running is what there is\n"
    "      --name NAME      only to those called so\n"
    "      --all            to all your jobs; so are meant with options and no JOB\n"
    "  -h, --help           print this\n"
    "Exit status: 0 sent, 1 some could not be sent, 2 wrong command line.\n"
    "Example: berth signal -s USR1 17\n"
    "Manual: man berth-signal\n";

int cli_signal(int argc, char **argv)
{
    static const struct each_verb verb = {"signal", help, true};
    return each_verb(argc, argv, &verb);
}
