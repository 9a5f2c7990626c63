/* Arrays of which only so many members may hold something at once. */
#ifndef SCHED_ARRAYS_H
#define SCHED_ARRAYS_H

#include "sched/queues.h"

/* Whether as many members of a job's array hold something as may; no, if it is none. */
bool array_is_full(const sched_t *s, uint32_t slot);

/* From when on a job's array has room for one more that holds something: now if it has, else when the first of those that do
 * is expected to have ended; INT64_MAX: nobody knows. O(slots of the array) if it is full, else O(1).
 */
int64_t array_when(const sched_t *s, uint32_t slot, int64_t now);

/* Block a job until fewer do. Returns 0, or -1 with ENOMEM. Have memory for that: 0, or -1 with ENOMEM. */
int array_block(sched_t *s, uint32_t slot);
int array_reserve(sched_t *s);

/* A job holds something. If as many of its array do by now as may, block what is open of it; what there is no memory for is
 * blocked when it is looked at. O(slots of the array) if members have slots of their own and hold nothing, else O(1).
 */
void array_filled(sched_t *s, uint32_t slot);

/* A blocked job has another place, before others. Where its turn comes before a member of its array now that is promised
 * a time, it goes on, and has it. Returns 0, or -1 with ENOMEM. O(slots of the array).
 */
int array_raised(sched_t *s, uint32_t slot);

/* An open job has another place, behind others. If its array is full, and its turn comes before no member that is promised a
 * time any more, it is blocked again. O(slots of the array).
 */
void array_lowered(sched_t *s, uint32_t slot);

/* Whether others of a job's array go before it that only the array keeps. O(slots of the array). */
bool array_keeps_before(const sched_t *s, uint32_t slot);

/* Whether one of a job's array and lane that only the array keeps stands between two keys. O(slots of the array). */
bool array_is_between(const sched_t *s, uint32_t slot, struct queue_key low, struct queue_key high);

/* All jobs are restored: what a shell has as open, and no pass has to look at as new, is blocked where its array is full, as
 * it was. What there is no memory for is blocked when it is looked at. O(jobs).
 */
void arrays_restored(sched_t *s);

#endif
