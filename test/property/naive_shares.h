/* Shares of naive_queues.h spelled out: what each queue and user has is added up anew for each choice. */
#ifndef PROPERTY_NAIVE_SHARES_H
#define PROPERTY_NAIVE_SHARES_H

#include "naive_queues.h"

/* The job that is looked at next, of those that are open, of the highest level and not in `looked`; -1: none. Of a
 * queue with classes any one: which it is, naive_classes.h says.
 */
int ns_next(const struct naive_queues *q, const bool looked[NQ_JOBS]);

/* Where a job has its turn when holders are placed anew: with shares, a new one behind the holders of its
 * priority, or of its level where priorities count for nothing, or less than deadlines; else where it stands. Of new
 * ones with equal turns shares say which is next.
 */
struct ns_turn {
    int64_t level, rank[2]; /* the lesser first */
    bool is_new;
    int64_t held, length, order; /* of others */
};

struct ns_turn ns_turn(const struct naive_queues *q, int job);

/* The same of a job that holds nothing, were it open. */
struct ns_turn ns_turn_of_open(const struct naive_queues *q, int job);

/* A job's own place in the order, as that of a holder. */
struct ns_turn ns_place(const struct naive_queues *q, int job);

bool ns_is_before(struct ns_turn a, struct ns_turn b);

#endif
