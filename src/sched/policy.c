/* The four policies: a table, and nothing else in the core knows their names. */
#include "sched/policy.h"

#include <stddef.h>
#include <string.h>

#include "berth/sched.h"

static const struct policy policies[] = {
    {"fcfs", 0, false},
    {"easy", 1, false},
    {"hybrid", 64, true},
    {"conservative", SCHED_UNLIMITED, true},
};

static const char *const names[] = {"fcfs", "easy", "hybrid", "conservative", NULL};

_Static_assert(sizeof(names) / sizeof(*names) == sizeof(policies) / sizeof(*policies) + 1,
               "a name for each policy");

const char *const *sched_policies(void)
{
    return names;
}

const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}
