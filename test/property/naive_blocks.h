/* The blocks of naive_queues.h spelled out, as berth-block(1) has them: which nodes one sets aside when, and for whom it
 * does not.
 */
#ifndef PROPERTY_NAIVE_BLOCKS_H
#define PROPERTY_NAIVE_BLOCKS_H

#include "naive_queues.h"

/* The nodes that blocks keep from a job during [from, until). */
uint32_t nb_set_aside(const struct naive_queues *q, int job, int64_t from, int64_t until);

/* The nodes that a block sets aside now, but for the jobs of a lane. */
uint32_t nb_aside_from_lane(const struct naive_queues *q, int lane);

/* The first end of a turn after a time; INT64_MAX: none comes any more. And the first time at which one begins or ends. */
int64_t nb_next_end(const struct naive_queues *q, int64_t after);
int64_t nb_next_turn(const struct naive_queues *q, int64_t after);

/* From when on turns do nothing but repeat; and after how long they do. */
int64_t nb_settled(const struct naive_queues *q);
enum { NB_PERIOD = 120 }; /* that of each divides it */

/* Whether a job has room beside the blocks that come again at some time from one on, were all nodes up and idle; and if so
 * the last such time (INT64_MAX: it has again and again).
 */
bool nb_leave_room(const struct naive_queues *q, int job, int64_t from, int64_t *last);

/* The first time from one on at which a block is on that keeps a job from some of these nodes; INT64_MAX: none is. */
int64_t nb_comes(const struct naive_queues *q, int job, uint32_t nodes, int64_t from);

/* A job is rejected, and in a pass what waits and has no room any more. */
void nb_refuse(struct naive_queues *q, int job);
void nb_reject(struct naive_queues *q);

/* In a pass, what runs without a limit is stopped once its estimate is over and a block is on that is in its way. And the first
 * time after now at which that can be so of a job; INT64_MAX: never.
 */
void nb_stop(struct naive_queues *q);
int64_t nb_next_stop(const struct naive_queues *q, int job);

/* A block is added, or changed, and one is removed. */
void nb_set(struct naive_queues *q, int number, const struct nq_block *block);

#endif
