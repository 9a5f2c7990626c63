/* The limits of naive_queues.h spelled out: what a user in a queue, and a queue, have at each instant is
 * added up anew. A limit is a number: its calendar.
 */
#ifndef PROPERTY_NAIVE_LIMITS_H
#define PROPERTY_NAIVE_LIMITS_H

#include "naive_queues.h"

/* The first limit that does not let a job run from a time on; -1: all let it. Beside what others have by their estimates,
 * whoever is promised a start finds room in all his limits then, beside all who may still be there.
 */
int nl_over(const struct naive_queues *q, int job, int64_t at);

/* Whether a limit of a job has no room for it at a time beside another one, and all others who may still be there then. */
bool nl_is_unsure(const struct naive_queues *q, int job, int64_t at, int other);

/* What a job's user and queue have is less: those that it may have kept are looked at again. */
void nl_decreased(struct naive_queues *q, int job);

/* Whether what a job has counts in a limit. */
bool nl_counts(const struct naive_queues *q, int job, int of);

/* How many jobs a limit has promised a time, the last of them (-1: none), and how many it may. */
int nl_promises(const struct naive_queues *q, int of);
int nl_last_kept(const struct naive_queues *q, int of);
int64_t nl_most_promises(const struct naive_queues *q, int job);

/* Whether it may promise one more; `outranks`: or take a promise from a job behind this one. */
bool nl_may_be_promised(const struct naive_queues *q, int job, int of, bool outranks);

#endif
