/* Match policies: the order in which candidates are preferred. */
#ifndef MATCH_POLICY_H
#define MATCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"

enum policy_score {
    SCORE_ID,         /* a vertex's id, below a node's if node_centric */
    SCORE_PERFORMANCE /* its property perf_class, a class from 0 to 9999, the last if it has none */
};

enum policy_order {
    ORDER_ASCENDING, /* of scores; equal ones in the order of discovery, children before their parent */
    ORDER_DESCENDING,
    ORDER_RUNS /* runs of consecutive scores, the highest run first; within a run the order of discovery */
};

struct policy {
    enum policy_score score;
    enum policy_order within; /* among the children of a vertex */
    enum policy_order slots;  /* among what may fill a slot */
    enum policy_order graph;  /* among what the top of the request may take */
    bool node_centric;        /* a node's id comes before the ids of what is below it */
    bool node_exclusive;      /* a node is given whole */
    bool first;               /* what is found first, looking where most is free */
};

/* A policy's name, or options such as "policy=low node_centric=true". Returns 0, or -1 with EINVAL. */
int policy_parse(struct policy *p, const char *text, berth_error_t *err);

#endif
