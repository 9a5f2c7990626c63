/* What is promised, and what is only expected, as a job that is before it may take longer than it is planned with. */
#ifndef SCHED_EXPECT_H
#define SCHED_EXPECT_H

#include "sched/queues.h"

/* A held job's booking is made, or begins at another time: is it promised, or only expected? Those that begin with it are to be
 * judged anew. And where it begins when it did: they are only if it is judged otherwise now, so that a pass that is begun again
 * and again comes to its end. O(what runs or is held).
 */
void judge(sched_t *s, uint32_t slot);
void judge_anew(sched_t *s, uint32_t slot);
enum step judge_step(sched_t *s);

/* Something has changed that may make any reservation only expected: all are judged anew. O(1). */
static inline void judge_all(struct queues *n)
{
    n->judges_all = true;
    n->judge_round++;
}

/* What has been given back may have made those sure that were only expected: before others are looked at. */
void judge_expected(sched_t *s);

/* Whether any may have to be. O(holders). */
bool judge_is_due(const sched_t *s);

/* Whether a job may take longer than it is planned with. */
bool has_tail(const sched_t *s, uint32_t slot);

/* Whether a booking of a job from `at` on delays nobody who is promised a start, even if the job takes its whole limit. */
bool keeps_promises(const sched_t *s, uint32_t slot, int64_t booking, int64_t at);

/* What the job asks for, for its whole limit, or as long as there is time. */
struct place_ask ask_by_limit(const sched_t *s, uint32_t slot);

/* Whether that is still so of a reservation where it is. */
bool still_keeps_promises(const sched_t *s, uint32_t slot);

/* A job that is promised a start and that it would delay, or JOB_NONE. */
uint32_t promise_broken(const sched_t *s, uint32_t slot, int64_t booking, int64_t at);

/* Make the choice of the machine for a job narrow (place.h): off the nodes of those who are promised a start that it
 * would be in the way of if it began at a time and took its whole limit. If it began at *until or later it would not be
 * so of one of them: it is expected to be there itself then (INT64_MAX: there is none). -1 with ENOMEM.
 */
int promises_avoid(sched_t *s, uint32_t slot, int64_t at, int64_t *until);

/* From how many times on that is done for one job; then it is placed where there is room for its whole limit. */
#define TIMES_TRIED 64

/* Whether any of those whom promises_avoid is about is promised a part of a node, of which others may have the rest.
 * O(reservations).
 */
bool promises_share_nodes(const sched_t *s, uint32_t slot, int64_t at);

/* Keep what they are promised on such nodes free (place.h) for one booking, in place of avoiding these nodes.
 * 1, 0 if there is no such node, or -1 with ENOMEM.
 */
int promises_keep_free(sched_t *s, uint32_t slot, int64_t at);

/* Whether no block is on from the end of a job's booking to that of its limit, if it starts now: it may start later than it
 * was booked for.
 */
bool starts_clear(const sched_t *s, uint32_t slot, int64_t booking);

/* Whether a job that is promised a start would still be with another booking, at an earlier time: it does not
 * leave what is sure for what is not.
 */
bool keeps_own_promise(const sched_t *s, uint32_t slot, int64_t booking, int64_t at);

/* Note a job's limit and estimate for this: from now on, in a pass. */
static inline void tails_note(sched_t *s, const struct details *d)
{
    s->queues->any_tails |= d->limit > d->estimate;
}

#endif
