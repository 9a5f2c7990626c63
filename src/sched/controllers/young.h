/* Running jobs that are young: that have run for less than a second, or may not be stopped yet. When the next of them is old enough
 * is asked in each pass after a start, and most jobs that run are not.
 *
 * Invariant: where who they are is known, each running job of which one of its times (young_until) is after `as_of` is listed;
 * others may be, too, also some that run no more.
 */
#ifndef SCHED_YOUNG_H
#define SCHED_YOUNG_H

#include "sched/sched_priv.h"

/* From when on a running job is young no more: both of its times are over, its first second and preemptible_from. */
int64_t young_until(const sched_t *s, const struct job *job);

/* A job starts. */
void young_started(sched_t *s, uint32_t slot);

/* Drop those from the list that are young no more, or make it where there is none; without memory there is none. O(young), or
 * to make it, O(running).
 */
void young_settle(sched_t *s);

/* Drop the list. The next young_settle makes it. */
void young_forget(sched_t *s);

/* The young ones as of a time, and how many; NULL: they are not known. */
const uint32_t *young_list(const sched_t *s, int64_t as_of, size_t *n);

/* Whether each one that has to be is listed. O(running x young) */
bool young_check(const sched_t *s);

#endif
