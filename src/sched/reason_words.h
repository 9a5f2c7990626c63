/* The words of reasons, for reason_text.c, which writes them, and reason_read.c, which reads them. */
#ifndef SCHED_REASON_WORDS_H
#define SCHED_REASON_WORDS_H

#include "berth/sched_reason.h"

/* Those that have nothing but their kind. */
static const char *const plain[] = {
    [SCHED_REASON_NONE] = "",
    [SCHED_REASON_HELD] = "held",
    [SCHED_REASON_STOPPED] = "queue stopped",
    [SCHED_REASON_DEPTH] = "queue depth",
    [SCHED_REASON_PRIORITY] = "priority",
    [SCHED_REASON_PREEMPTING] = "preempting",
    [SCHED_REASON_GANG_WAITS] = "waits for its gang",
    [SCHED_REASON_STARVING] = "starving",
    [SCHED_REASON_UNITS] = "more units than the machine has",
    [SCHED_REASON_NO_TIME] = "no time in the calendar is long enough",
    [SCHED_REASON_NO_QUEUE] = "no queue named, and there is no default queue",
    [SCHED_REASON_DURATION] = "duration out of range",
    [SCHED_REASON_ESTIMATE] = "the estimate is longer than the time limit",
    [SCHED_REASON_MIN] = "the gang has fewer members than its min",
};

#define PLAIN (sizeof(plain) / sizeof(plain[0]))

static const char *const owners[] = {
    [SCHED_OF_JOB] = "job",     [SCHED_OF_USER] = "user",         [SCHED_OF_QUEUE] = "queue",
    [SCHED_OF_ARRAY] = "array", [SCHED_OF_DIVISION] = "division", [SCHED_OF_ACCOUNT] = "account"};

#define OWNERS (sizeof(owners) / sizeof(owners[0]))

static const char resources[] = "resources ", begin[] = "begin ", limit[] = "limit ",
                  dependency[] = "dependency ", unsatisfiable[] = "unsatisfiable: ",
                  jobspec[] = "jobspec: ", never_met[] = ": never met", singleton[] = "singleton",
                  others[] = "...", duration[] = "duration", block[] = "block ",
                  recurs[] = " recurs: no gap is that long",
                  unlimited[] = " recurs: give a time limit", until[] = " until ", of[] = " of ",
                  members_fit[] = " members fit", members_left[] = " members are left",
                  too_few_fit[] = "too few fit: ", too_few_left[] = "too few left: ",
                  one_member[] = "member ", failed[] = " failed", class[] = "class ",
                  shut[] = " has 0 percent", rank[] = "priority out of range",
                  expected[] = ": expected a number from ", to[] = " to ", claims[] = "claims ",
                  waits[] = ", waits for ";

/* By which rule one was stopped for another. */
static const char *const rules[] = {[SCHED_MAY_PREEMPTIBLE] = "its queue is preemptible",
                                    [SCHED_MAY_PRIORITY] = "its priority is lower",
                                    [SCHED_MAY_SHARE] = "its queue has more than it deserves",
                                    [SCHED_MAY_RICHER] = "its user has more",
                                    [SCHED_MAY_CLASS] = "its class has borrowed workers"};

#define RULES (sizeof(rules) / sizeof(rules[0]))
static const char preempted[] = "preempted for ", goes_on[] = ", its gang goes on",
                  core_second[] = " core-second lost", core_seconds[] = " core-seconds lost";

#endif
