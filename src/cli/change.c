/* berth cancel, hold, release, requeue, signal: the verbs that do one thing to many jobs. */
#include "cli/client/named_jobs.h"
#include "cli/option_table.h"
#include "cli/verb.h"

#define USAGE(verb) "usage: berth " verb " [OPTION]... JOB...\n       berth " verb " OPTION...\n"
#define MEMBERS     "A JOB is an\nid, one or more members of an array, or a range of ids.\n"
#define NOTES(verb, done, failed, example)                                                         \
    "Exit status: 0 " done ", 1 some could not be " failed ", 2 wrong command line.\n"             \
    "Example: " example "\n"                                                                       \
    "Manual: man berth-" verb "\n"

/* Of the verbs that take jobs in any of these states. */
static const struct option_row any_rows[] = {
    NAMED_JOBS_OPTIONS, NAMED_JOBS_STATE("only pending, held or running ones"), {0}};

const struct option_table cancel_options = {
    .verb = "cancel",
    .usage = USAGE("cancel") "Cancel jobs: pending jobs never start; running jobs get SIGTERM and, "
                             "if they do\n"
                             "not end within the grace time, SIGKILL with all their processes. A "
                             "JOB is an id,\n"
                             "one or more members of an array, or a range of ids.\n",
    .rows = any_rows,
    .notes = NOTES("cancel", "done", "cancelled", "berth cancel 3-7 9 17[2]"),
    .complete = "@job"};

int cli_cancel(int argc, char **argv)
{
    return named_jobs_verb(argc, argv, &cancel_options);
}

const struct option_table hold_options = {
    .verb = "hold",
    .usage = USAGE("hold") "Keep pending jobs from starting until they are released. " MEMBERS,
    .rows = any_rows,
    .notes = NOTES("hold", "done", "held", "berth hold 17 20-24 28[3]"),
    .complete = "@job:pending"};

int cli_hold(int argc, char **argv)
{
    return named_jobs_verb(argc, argv, &hold_options);
}

const struct option_table release_options = {
    .verb = "release",
    .usage = USAGE("release") "Let held jobs start. " MEMBERS,
    .rows = any_rows,
    .notes = NOTES("release", "done", "released", "berth release 17 20-24 28[0-9]"),
    .complete = "@job:held"};

int cli_release(int argc, char **argv)
{
    return named_jobs_verb(argc, argv, &release_options);
}

static const struct option_row requeue_rows[] = {
    NAMED_JOBS_OPTIONS, NAMED_JOBS_STATE("only running jobs"), {0}};

const struct option_table requeue_options = {
    .verb = "requeue",
    .usage = USAGE("requeue") "Stop running jobs and put them back into their queues. " MEMBERS,
    .rows = requeue_rows,
    .notes = NOTES("requeue", "done", "requeued", "berth requeue 17"),
    .complete = "@job:running"};

int cli_requeue(int argc, char **argv)
{
    return named_jobs_verb(argc, argv, &requeue_options);
}

static const struct option_row signal_rows[] = {NAMED_JOBS_SIGNAL, NAMED_JOBS_OPTIONS, {0}};

const struct option_table signal_options = {
    .verb = "signal",
    .usage = USAGE("signal") "Send a signal to the processes of running jobs. " MEMBERS,
    .rows = signal_rows,
    .notes = NOTES("signal", "sent", "sent", "berth signal -s USR1 17"),
    .complete = "@job:running"};

int cli_signal(int argc, char **argv)
{
    return named_jobs_verb(argc, argv, &signal_options);
}
