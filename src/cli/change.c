/* berth cancel, hold, release, requeue, signal: the verbs that do one thing to many jobs. */
#include "cli/client/named_jobs.h"
#include "cli/verb.h"

#define MEMBERS "A JOB is an\nid, one or more members of an array, or a range of ids.\n"

int cli_cancel(int argc, char **argv)
{
    static const struct named_jobs_verb verb = {
        .name = "cancel",
        .help = "Cancel jobs: pending jobs never start; running jobs get SIGTERM and, if they do\n"
                "not end within the grace time, SIGKILL with all their processes. A JOB is an\n"
                "id, one or more members of an array, or a range of ids.\n",
        .states = "only pending, held or running ones",
        .done = "done",
        .failed = "cancelled",
        .example = "berth cancel 3-7 9 17[2]"};
    return named_jobs_verb(argc, argv, &verb);
}

int cli_hold(int argc, char **argv)
{
    static const struct named_jobs_verb verb = {
        .name = "hold",
        .help = "Keep pending jobs from starting until they are released. " MEMBERS,
        .states = "only pending, held or running ones",
        .done = "done",
        .failed = "held",
        .example = "berth hold 17 20-24 28[3]"};
    return named_jobs_verb(argc, argv, &verb);
}

int cli_release(int argc, char **argv)
{
    static const struct named_jobs_verb verb = {.name = "release",
                                                .help = "Let held jobs start. " MEMBERS,
                                                .states = "only pending, held or running ones",
                                                .done = "done",
                                                .failed = "released",
                                                .example = "berth release 17 20-24 28[0-9]"};
    return named_jobs_verb(argc, argv, &verb);
}

int cli_requeue(int argc, char **argv)
{
    static const struct named_jobs_verb verb = {
        .name = "requeue",
        .help = "Stop running jobs and put them back into their queues. " MEMBERS,
        .states = "only running jobs",
        .done = "done",
        .failed = "requeued",
        .example = "berth requeue 17"};
    return named_jobs_verb(argc, argv, &verb);
}

int cli_signal(int argc, char **argv)
{
    static const struct named_jobs_verb verb = {
        .name = "signal",
        .help = "Send a signal to the processes of running jobs. " MEMBERS,
        .states = "only running jobs",
        .done = "sent",
        .failed = "sent",
        .example = "berth signal -s USR1 17",
        .signals = true};
    return named_jobs_verb(argc, argv, &verb);
}
