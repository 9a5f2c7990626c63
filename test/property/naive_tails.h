/* Estimates apart from limits, in the words of berth/sched.h, spelled out.
 *
 * A job has what it holds booked for its estimate, from `at` on (its duration, which grows while it runs on after that).
 * From there to the end of its limit, if it has one, or else to a block that stops it, is its tail: it may still be there. A reservation is promised if it
 * stands even when every job takes its whole limit, else it is expected. All is asked of all bookings each time; what is
 * kept is one mark of each reservation, as it was told last.
 *
 * So a node has room for a job, from a time on,
 *  - if nobody has it booked, and no block sets it aside, until the job's estimate is over, and
 *  - if nobody is promised a start on it before the job's limit is over, and no block sets it aside until then. Of a job
 *    without a limit a block has no need to wait: it stops that.
 */
#ifndef PROPERTY_NAIVE_TAILS_H
#define PROPERTY_NAIVE_TAILS_H

#include "naive_queues.h"

/* When a job that begins at a time is gone at the latest, by its limit; INT64_MAX: nobody knows. And by what stops it on these
 * nodes: one without a limit is stopped by the first block that comes over any of them when its estimate is over.
 */
int64_t nt_end(const struct nq_job *j, int64_t at);
int64_t nt_gone(const struct naive_queues *q, int job, uint32_t nodes, int64_t at);

/* Until when blocks have to leave a job alone that begins at a time. */
int64_t nt_clear(const struct nq_job *j, int64_t at);

/* How long a job needs between blocks. */
int64_t nt_needs(const struct nq_job *j);

/* The nodes on which others are promised starts at which a job that begins at a time may still be there by its limit, though
 * it is expected to be gone.
 */
uint32_t nt_promised(const struct naive_queues *q, int job, int64_t at);

/* Whether nobody, and no block, finds the job there that is promised these nodes: they are chosen for it now, or for later as
 * if no block stopped it; and whether that is so of those that it holds.
 */
bool nt_keeps(const struct naive_queues *q, int job, uint32_t nodes, int64_t at);
bool nt_still_keeps(const struct naive_queues *q, int job);

/* Whether a reservation of these nodes is only expected: somebody who begins before it may still be there, or goes before it,
 * is only expected himself and could have them.
 */
bool nt_is_unsure(const struct naive_queues *q, int job, uint32_t nodes, int64_t at);

/* Mark a reservation that was made or moved; or one that is where it was; or those that were only expected, or where that is due
 * all, before others are looked at; or all, and tell: whether any is only expected that was told as promised.
 */
void nt_judge(struct naive_queues *q, int job);
void nt_judge_anew(struct naive_queues *q, int job);
void nt_judge_again(struct naive_queues *q);
bool nt_judge_all(struct naive_queues *q);

/* What runs on after its booking has it for longer: by as long as it has overrun, a second at least, but no longer than its
 * limit until that is over.
 */
void nt_overrun(struct naive_queues *q);

#endif
