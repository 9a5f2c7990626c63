/* Match policies: the order in which candidates are preferred. */
#ifndef MATCH_POLICY_H
#define MATCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/error.h"

enum policy_score {
    SCORE_ID,         /* a vertex's id; if node_centric, after its node's id */
    SCORE_NONE,       /* all the same */
    SCORE_PERFORMANCE /* its property perf_class, a number from 0 to 9999; 9999 if it has none */
};

enum policy_order {
    /* by score; equal ones in the order of discovery, children before their parent */
    ORDER_ASCENDING,
    ORDER_DESCENDING,
    ORDER_RUNS /* runs of consecutive scores, the highest run first; within a run in the order of discovery */
};

/* Where first fit looks first; by weights, of how evenly something is in use as well (book/fill.h). */
enum policy_fill {
    FILL_IGNORED, /* where most was free when something was last taken */
    FILL_FULLEST, /* where least is left, of what has room */
    FILL_EMPTIEST /* where most is left */
};

#define POLICY_WEIGHT_MAX 1000000

struct policy {
    enum policy_score score;
    enum policy_order within; /* among the children of a vertex */
    enum policy_order slots;  /* among candidates for a slot */
    enum policy_order graph;  /* among candidates for the top of the request */
    bool node_centric;        /* scores go by the node's id first */
    bool node_exclusive;      /* a node is given whole */
    bool first;               /* first fit: take what is found first */
    enum policy_fill fill;
    int32_t by_use,
        by_balance; /* weights, from 0 to POLICY_WEIGHT_MAX; 0 and 0 if fill is ignored */
};

/* True if the order of children is by weights, which remember what was free. */
static inline bool policy_weighs(const struct policy *p)
{
    return p->first && p->fill == FILL_IGNORED;
}

/* Read a policy's name, options such as "policy=low node_centric=true", or weights such as "spread=1 balance=2". Returns 0,
 * or -1 with EINVAL.
 */
int policy_parse(struct policy *p, const char *text, berth_error_t *err);

#endif
