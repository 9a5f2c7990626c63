/* Blocks: windows of time in which jobs may not use some resources (scheduling.md, 9). */
#ifndef SCHED_BLOCKS_H
#define SCHED_BLOCKS_H

#include "sched/queues.h"

/* ---- blocks.c ---- */

/* The blocks of a setup in place of those of the one before. Returns 0, or -1 with a text and what was set
 * before.
 */
int blocks_configure(sched_t *s, const struct setup *setup, berth_error_t *err);
void blocks_clear(struct queues *n);

/* The blocks that a job may not use and that are on while it would run if it started now, as bits. */
uint64_t blocks_now(const sched_t *s, uint32_t slot);

/* Whether an ask could be booked for now if some blocks were not there; costs a match. */
bool blocks_leave_room(sched_t *s, const struct place_ask *ask, uint64_t gone);

/* Which of the job's blocks in `met` keeps it waiting, as a reason. */
void blocks_reason(sched_t *s, uint32_t slot, uint64_t met, struct sched_reason *why);

/* ---- block_times.c ---- */

/* When the first turn of a block is over that meets some of [at, end); -1: none does. And which blocks, as
 * bits, meet some of it.
 */
int64_t block_met_until(const struct sched_block *b, int64_t at, int64_t end);
uint64_t blocks_during(const struct queues *n, uint64_t blocks, int64_t at, int64_t end);

/* Whether no block that a job may not use, and of which its booking holds something, is on during [at,
 * end).
 */
bool blocks_keep_clear(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t end);

/* The first time on or after `from` at which a block is on that a job may not use, and of which its booking, unless that is
 * -1, holds something: *block; INT64_MAX: none is.
 */
int64_t blocks_come(const sched_t *s, uint32_t slot, int64_t booking, int64_t from,
                    uint32_t *block);

/* The same of a booking that may be a gang's: when such blocks have come over each of its members. */
int64_t blocks_come_to_all(const sched_t *s, uint32_t slot, int64_t booking, int64_t from);

enum { TURNS_FOLLOWED = 64 }; /* of blocks, each of which begins before another one is over */

/* The first time on or after `from` at which none of these is on; INT64_MAX: that is not known. And the first end of those that
 * are on at a time, whatever the job will hold; INT64_MAX: none is.
 */
int64_t blocks_over(const sched_t *s, uint32_t slot, int64_t booking, int64_t from);
int64_t blocks_next_end(const sched_t *s, uint32_t slot, int64_t at);

/* The same of one that begins then, whatever the job will hold. */
int64_t blocks_begin(const sched_t *s, uint32_t slot, int64_t from, uint32_t *block);

/* That a block which is on keeps, or stops, a job. */
struct sched_reason blocks_told(const sched_t *s, uint32_t block);

/* For how long blocks are not to be in a job's way from its start on. */
static inline int64_t clear_for(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    return d->limit < SCHED_UNLIMITED && d->limit > job->ask.duration ? d->limit
                                                                      : job->ask.duration;
}

/* ---- clear.c ---- */

/* When a job that begins at a time with a booking is gone at the latest: its limit is over, or a block stops it that has
 * none; a gang, when blocks have stopped all its members. INT64_MAX: nobody knows. O(blocks of what it holds).
 */
int64_t gone_by(const sched_t *s, uint32_t slot, int64_t booking, int64_t at);

/* Since when a running job has overrun: the end of its estimate, or where a block has stopped it the start of that. */
int64_t overrun_since(const sched_t *s, uint32_t slot);

/* ---- block_gaps.c ---- */

/* Whether the blocks that come again leave time for a job of some duration that begins at `from` or later.
 * Where they do only before the last of them has come for the first time, it is noted until when. Returns
 * 0, or -1: EINVAL with a reason, ENOMEM. O(1) where there is room beside all blocks, else O(turns), which
 * are bounded (BLOCKS_TURNS).
 */
int blocks_leave_time(sched_t *s, uint32_t slot, int64_t duration, int64_t from,
                      struct sched_reason *why);

/* The blocks that a job may use, by number. Returns 0, or -1 with ENOMEM. */
int permits_of(sched_t *s, uint32_t slot, uint64_t *permits);

#endif
