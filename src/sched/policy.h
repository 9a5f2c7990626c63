/* A policy: how many jobs may hold a reservation. */
#ifndef SCHED_POLICY_H
#define SCHED_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct policy {
    const char *name;
    int64_t depth; /* reservations unless told otherwise */
    bool tunable;  /* whether reservation_depth may tell otherwise */
};

/* The policy of this name, or NULL. */
const struct policy *policy_find(const char *name);

#endif
