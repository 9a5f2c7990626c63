/* berth hold, berth release, berth requeue: verbs that take jobs and nothing else. */
#include "cli/client/each.h"
#include "cli/verb.h"

static const char hold_help[] =
    "usage: berth hold [OPTION]... JOB...\n"
    "       berth hold OPTION...\n"
    "Keep pending jobs from starting until they are released. A JOB is an id or a\n"
    "range of ids.\n"
    "  -u, --user NAME   only of this user; '*': of all (administrators)\n"
    "  -q, --queue NAME  only in this queue\n"
    "  -s, --state LIST  only pending, held or running ones\n"
    "      --name NAME   only those called so\n"
    "      --all         all your jobs; so are meant with options and no JOB\n"
    "  -h, --help        print this\n"
    "Exit status: 0 done, 1 some could not be held, 2 wrong command line.\n"
    "Example: berth hold 17 20-24\n"
    "Manual: man berth-hold\n";

static const char release_help[] =
    "usage: berth release [OPTION]... JOB...\n"
    "       berth release OPTION...\n"
    "Let held jobs start. A JOB is an id or a range of ids.\n"
    "  -u, --user NAME   only of this user; '*': of all (administrators)\n"
    "  -q, --queue NAME  only in this queue\n"
    "  -s, --state LIST  only pending, held or running ones\n"
    "      --name NAME   only those called so\n"
    "      --all         all your jobs; so are meant with options and no JOB\n"
    "  -h, --help        print this\n"
    "Exit status: 0 done, 1 some could not be released, 2 wrong command line.\n"
    "Example: berth release 17 20-24\n"
    "Manual: man berth-release\n";

static const char requeue_help[] =
    "usage: berth requeue [OPTION]... JOB...\n"
    "       berth requeue OPTION...\n"
    "Stop running jobs and let them wait again, in their place of before. A JOB is an\n"
    "id, a member or members of an array, or a range of ids.\n"
    "  -u, --user NAME   only of this user; '*': of all (administrators)\n"
    "  -q, --queue NAME  only in this queue\n"
    "  -s, --state LIST  only in these states: running is what there is\n"
    "      --name NAME   only those called so\n"
    "      --all         all your jobs; so are meant with options and no JOB\n"
    "  -h, --help        print this\n"
    "Exit status: 0 done, 1 some could not be requeued, 2 wrong command line.\n"
    "Example: berth requeue 17\n"
    "Manual: man berth-requeue\n";

int cli_hold(int argc, char **argv)
{
    static const struct each_verb verb = {"hold", hold_help, false};
    return each_verb(argc, argv, &verb);
}

int cli_release(int argc, char **argv)
{
    static const struct each_verb verb = {"release", release_help, false};
    return each_verb(argc, argv, &verb);
}

int cli_requeue(int argc, char **argv)
{
    static const struct each_verb verb = {"requeue", requeue_help, false};
    return each_verb(argc, argv, &verb);
}
