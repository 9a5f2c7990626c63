/* What jobs of naive_queues.h wait for beside resources: a user who holds them, a time, other jobs, as berth-scenario(5) has
 * them.
 */
#ifndef PROPERTY_NAIVE_WAITS_H
#define PROPERTY_NAIVE_WAITS_H

#include "naive_queues.h"

/* Whether nothing of this keeps a job. */
bool nw_may_go(const struct naive_queues *q, int job);

/* Whether what it waits for can never come about. */
bool nw_is_vain(const struct naive_queues *q, int job);

/* A job has started or ended: who waited for that does so no more, whatever becomes of it then. And a job that starts waits for
 * nobody any more.
 */
void nw_note(struct naive_queues *q);
void nw_started(struct naive_queues *q, int job);

/* In a pass: times have come. */
void nw_begin(struct naive_queues *q);

/* Those that nothing keeps any more go on as new ones. Returns how many. */
int nw_let(struct naive_queues *q);

/* A job has ended: those that wait in vain are rejected, which the next pass tells. */
void nw_reject(struct naive_queues *q);

/* In a pass: those who wait for others that are rejected are told of it. */
void nw_tell(struct naive_queues *q);

/* A job of these members starts at a time at the earliest; or it waits for others. They give up what they are promised if
 * they are to wait.
 */
void nw_set_begin(struct naive_queues *q, int job, int64_t begin);
void nw_set_waits(struct naive_queues *q, int job, const struct nq_wait waits[NQ_WAITS], int n);

/* The first time after now at which a job may begin; INT64_MAX: none. */
int64_t nw_next_time(const struct naive_queues *q);

#endif
