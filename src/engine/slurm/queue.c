#include "engine/slurm/queue.h"

#include <string.h>
#include <time.h>

int squeue_read(char *line, struct squeue_job *job)
{
    const char **const fields[] = {&job->job,   &job->state,   &job->start, &job->end,
                                   &job->nodes, &job->comment, &job->reason};
    size_t n = sizeof(fields) / sizeof(*fields);
    for (size_t i = 0; i < n; i++) {
        *fields[i] = line;
        char *bar = i + 1 < n ? strchr(line, '|') : NULL;
        if (i + 1 < n && !bar)
            return -1;
        if (bar) {
            *bar = '\0';
            line = bar + 1;
        }
    }
    return *job->job && strspn(job->job, "0123456789") == strlen(job->job) ? 0 : -1;
}

int64_t squeue_time(const char *text)
{
    struct tm t = {.tm_isdst = -1};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &t);
    time_t at = end && !*end ? mktime(&t) : -1;
    return at > 0 ? (int64_t)at : 0;
}

static bool is_state_in(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

bool squeue_is_stuck(const char *reason)
{
    static const char *const words[] = {"PartitionConfig",
                                        "PartitionTimeLimit",
                                        "PartitionNodeLimit",
                                        "BadConstraints",
                                        "JobHeldUser",
                                        "JobHeldAdmin",
                                        "AccountNotAllowed",
                                        "QOSNotAllowed",
                                        "InvalidAccount",
                                        "InvalidQOS",
                                        NULL};
    return is_state_in(reason, words);
}

bool squeue_is_final(const char *state)
{
    static const char *const words[] = {"COMPLETED",     "CANCELLED", "FAILED",
                                        "TIMEOUT",       "PREEMPTED", "DEADLINE",
                                        "OUT_OF_MEMORY", "BOOT_FAIL", NULL};
    return is_state_in(state, words);
}
