/* The policies: a row each, and nothing else knows their names. */
#include <stddef.h>
#include <string.h>

#include "berth/sched_config.h"
#include "sched/config/order.h"

enum { TUNABLE = 1, USUAL = 2 };

/* Name, jobs that may hold a reservation, flags, order (NULL: as the scheduler is told, in named
 * queues by priority) and description. The usual one is what a queue has that names none.
 */
#define POLICIES(ROW)                                                                              \
    ROW("fcfs", 0, 0, NULL,                                                                        \
        "Jobs start in the order of the queue; nobody overtakes, and nobody holds a reservation")  \
    ROW("easy", 1, USUAL, NULL, "The first job that can't start holds a reservation")              \
    ROW("hybrid", 64, TUNABLE, NULL, "The first jobs that can't start hold reservations")          \
    ROW("conservative", SCHED_UNLIMITED, TUNABLE, NULL,                                            \
        "Every job that can't start holds a reservation")                                          \
    ROW("ageing", 1, 0, order_ageing,                                                              \
        "The first job that can't start holds a reservation, and waiting raises priorities")

#define POLICY(name, depth, flags, order, summary)                                                 \
    {name, summary, depth, ((flags)&TUNABLE) != 0, ((flags)&USUAL) != 0},
#define NAME(name, depth, flags, order, summary)  name,
#define ORDER(name, depth, flags, order, summary) order,

static const struct sched_policy policies[] = {POLICIES(POLICY)};
static const char *const names[] = {POLICIES(NAME) NULL};
static order_rank *const orders[] = {POLICIES(ORDER)};

enum { N_POLICIES = sizeof(policies) / sizeof(*policies) };

_Static_assert(N_POLICIES <= SCHED_POLICIES_MAX, "callers have room for all of them");

const char *const *sched_policies(void)
{
    return names;
}

const struct sched_policy *sched_policy(size_t i)
{
    return i < N_POLICIES ? &policies[i] : NULL;
}

const struct sched_policy *sched_policy_find(const char *name)
{
    for (size_t i = 0; name && i < N_POLICIES; i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}

const struct sched_policy *sched_policy_usual(void)
{
    for (size_t i = 0; i < N_POLICIES; i++)
        if (policies[i].is_usual)
            return &policies[i];
    return NULL;
}

order_rank *order_of(const struct sched_policy *policy, order_rank *otherwise)
{
    order_rank *own = orders[policy - policies];
    return own ? own : otherwise;
}
