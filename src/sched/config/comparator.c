/* The comparators of shares by their names. */
#include <string.h>

#include "berth/sched_config.h"

static const char *const names[SCHED_COMPARATORS] = {
    [SCHED_BY_PRIORITY] = "priority", [SCHED_BY_SHARE] = "share",
    [SCHED_BY_DRF] = "drf",           [SCHED_BY_USAGE] = "usage",
    [SCHED_BY_AGE] = "age",           [SCHED_BY_FEWEST_RUNNING] = "fewest-running",
    [SCHED_BY_SUBMIT] = "submit",     [SCHED_BY_DEADLINE] = "deadline",
    [SCHED_BY_GANG] = "gang",
};

/* The plugins of kube-batch and Volcano that compare, and why others are no comparators. */
static const struct {
    const char *name;
    enum sched_comparator is;
    const char *why;
} plugins[] = {
    {"proportion", SCHED_BY_SHARE, NULL},
    {"capacity", SCHED_BY_SHARE, NULL},
    {"fairshare", SCHED_BY_USAGE, NULL},
    {"sla", SCHED_BY_DEADLINE, NULL},
    {"conformance", SCHED_COMPARATORS, NULL}, /* who may be stopped is said by queues */
    {"predicates", SCHED_COMPARATORS, NULL},  /* and what fits, by these and by jobs */
    {"nodeorder", SCHED_COMPARATORS, NULL},   /* which nodes a job gets is the machine's affair */
    {"binpack", SCHED_COMPARATORS, NULL},
    {"overcommit", 0, "how many jobs may wait is said by \"limits\", as in user: {pending: 100}"},
    {"resourcequota", 0, "what a user may have is said by \"limits\", as in user: {core: 64}"},
};

const char *sched_comparator_name(enum sched_comparator comparator)
{
    return names[comparator];
}

int sched_comparator_find(const char *name, const char **why)
{
    if (why)
        *why = NULL;
    for (int i = 0; i < SCHED_COMPARATORS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    for (size_t i = 0; i < sizeof(plugins) / sizeof(*plugins); i++) {
        if (strcmp(plugins[i].name, name) != 0)
            continue;
        if (why)
            *why = plugins[i].why;
        return plugins[i].why ? -1 : (int)plugins[i].is;
    }
    return -1;
}
