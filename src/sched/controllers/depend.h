/* Ids of jobs, and jobs that wait for others.
 *
 * A job is known by its slot, a small number of the caller's, and has an id: a text, or the id of an array
 * and a member. An expression says what it waits for, all of it:
 *
 * afterok:a:b[3],afterany:c,singleton
 *
 * after      started, or ended without a start (cancelled)     afterany   ended     afterok    ended well
 * afternotok ended, and not well     singleton  no job of the same user and name that was submitted before
 * has yet to end
 *
 * An id is all up to the next ':' or ','. That of an array is all its members, as Slurm has it: after, each
 * has started; afterany, each has ended; afterok, each has ended well; afternotok, each has ended and at
 * least one not well. Where fewer are enough (depend_enough), afterok is that all have ended and so many well, and
 * afternotok that fewer have. "b[3]" is its member 3, so that no id may read like that. Whoever waits for a job
 * that is requeued goes on waiting, but for those whose `after` it has met. By its singleton, an array waits
 * for other jobs; that its members run one at a time is for the caller to see to.
 *
 * The members of an array that wait have one slot together, until one of them gets its own: it starts, or
 * is to wait for itself (depend_part). What they come to is counted, and kept as sets of indices.
 *
 * Jobs that have ended are remembered, so that later ones can depend on them: the last SCHED_ENDED_JOBS
 * ended ones, or as many as depend_remember says, an array for each range of members that ended alike, in
 * the order in which they were forgotten by the caller, an array when its last member was. That is about 300
 * bytes for an id and 8 for each range. Of those that are older nothing is known.
 *
 * A dependency that can't be met any more (afterok of what failed) stays with its job, which is reported as
 * one that can never start. The caller then ends it (depend_ended, as failed), so that jobs that wait for it
 * are reported too.
 *
 * Each event costs O(dependencies on the job), of an array only where its first member fails, its last one
 * starts or ends. A job costs the entry of its id and 40 bytes for its slot, a member of an array with a slot
 * of its own 120 bytes, a named job some 60 bytes for each pair of user and name, and one that waits 48 bytes
 * and 48 for each dependency.
 */
#ifndef SCHED_DEPEND_H
#define SCHED_DEPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idset.h"
#include "base/strbuf.h"
#include "berth/error.h"
#include "berth/sched.h"
#include "berth/sched_reason.h"

struct depend;

/* NULL with ENOMEM. */
struct depend *depend_create(void);

/* NULL is fine; errno is kept. */
void depend_destroy(struct depend *depend);

/* How many ended jobs to remember, >= 1. Those that are too many are forgotten when the next one has ended.
 * 
 */
void depend_remember(struct depend *depend, uint64_t most);

/* ---- Jobs ---- */

/* A job is submitted to a free slot. Member `member` of `members`; members 0 or 1: it is no array, and
 * member is 0. Each member has its own slot and is entered on its own; they come in any order, and may be
 * missing as long as they are not restored. name NULL: that of no other job. expression NULL or "": it
 * waits for nobody.
 *
 * Whether it waits is for depend_waits to say. It can be among those that can never start at once
 * (depend_next_ready).
 *
 * Returns 0, or -1: EINVAL with a text: "dependency x: no such job" for an id that is not known, or
 * is its own; what is wrong with an expression; an id that is empty, reads as a member of an array, or is
 * that of a job that has not been forgotten. ENOMEM.
 */
int depend_job(struct depend *depend, uint32_t slot, const char *id, uint32_t member,
               uint32_t members, const char *user, const char *name, const char *expression,
               berth_error_t *err);

/* The same for an array whose members up to `size` exist, or of these those of `all`, if that is not NULL: one
 * slot for all of `waiting`, of which none is known yet. One of its members may have come before.
 */
struct depend_members {
    const char *id;
    uint32_t size;
    const struct idset *all;
    const struct idset *waiting; /* NULL: `member` alone */
    uint32_t member;
};
int depend_members(struct depend *depend, uint32_t slot, const struct depend_members *members,
                   const char *user, const char *name, const char *expression, berth_error_t *err);

/* A job that has not started waits for something else from now on, and only for that; expression as above. Of those that wait
 * for an event, it is then the last. Returns 0, or -1 with nothing changed: EINVAL with a text: what depend_job says of an
 * expression; it waits for a job that was entered later, so that no two ever wait for each other; or for what can never come
 * about. ENOMEM.
 */
int depend_change(struct depend *depend, uint32_t slot, const char *expression, berth_error_t *err);

/* A member of those that wait together gets a free slot of its own, and waits for what they wait for; `before`
 * them, or behind them, among jobs of their name and those that wait for the same. `ranges`: of how many ranges of
 * indices the others are at most. First have memory for it: 0, or -1 with ENOMEM; where many
 * will follow, for all slots below a number.
 */
int depend_expect_slots(struct depend *depend, uint32_t slots);
int depend_part_reserve(struct depend *depend, uint32_t slot, uint32_t part, uint32_t ranges);
void depend_part(struct depend *depend, uint32_t slot, uint32_t part, uint32_t member, bool before);

/* The slot of those that wait together is that of the last one of them from now on, for which there is memory as
 * well (depend_part_reserve).
 */
void depend_last_part(struct depend *depend, uint32_t slot, uint32_t member);

/* Whether an expression has a singleton. */
bool depend_is_singleton(const char *expression);

/* The slot is free again. Of a job that has ended the outcome stays; one that has not is as if it had never
 * been submitted (so that a submission can be taken back): whoever waits for it, and for no other member of
 * an array, never starts. An outcome that an earlier job of the same id had left is gone all the same.
 */
void depend_forget(struct depend *depend, uint32_t slot);

/* ---- Events. A job that starts or ends waits for nobody any more. ---- */

void depend_started(struct depend *depend, uint32_t slot);

/* It waits for resources again. */
void depend_requeued(struct depend *depend, uint32_t slot);

/* ok false also where it was cancelled or rejected. A second end is not looked at. */
void depend_ended(struct depend *depend, uint32_t slot, bool ok);

/* All that wait together have ended, badly; the slot is one of an array. */
void depend_ended_waiting(struct depend *depend, uint32_t slot, const struct idset *waiting);

/* Of an array that is known by an id, so many members that end well are as good as all (else: all of them). Does nothing
 * if there is no such array, or it has fewer members.
 */
void depend_enough(struct depend *depend, const char *id, uint32_t enough);

/* So many, where that are not all; 0: they are, or there is no such array. */
uint32_t depend_enough_of(const struct depend *depend, const char *id);

/* How many members of a slot's array within a range have ended badly. O(log ranges) and those in it. And from now on no
 * number of them is as good as all, as others of them must not be left out.
 */
uint64_t depend_ended_badly(const struct depend *depend, uint32_t slot, uint32_t first, uint32_t n);
void depend_need_all(struct depend *depend, uint32_t slot);

/* Take the next job that events have made ready: all it waited for is met, or (*never) can never be met. In
 * the order in which that came about; for one event, those that wait for the member, for the array, and
 * then the singleton, each in the order of submission. False: there is none.
 */
bool depend_next_ready(struct depend *depend, uint32_t *slot, bool *never);

/* Take the next job that still waits, but for one thing less. False: there is none. */
bool depend_next_nearer(struct depend *depend, uint32_t *slot);

/* ---- Questions ---- */

/* Whether a job waits for others. */
bool depend_waits(const struct depend *depend, uint32_t slot);

/* The first jobs that a job waits for, of kind DEPENDENCY; of one that can never start the job that bars it,
 * NEVER_MET; NONE for a job that does not wait. Valid until the next call that changes anything.
 */
void depend_reason(const struct depend *depend, uint32_t slot, struct sched_reason *reason);

/* Append the expression of what a job still waits for; nothing if it does not. */
void depend_expression(const struct depend *depend, uint32_t slot, struct strbuf *out);

/* The slot of a job by its id, until it is forgotten; -1: there is none. member is 0 if it is no array. That of
 * a member of an array without a slot of its own is that of those that wait together, if there is one. And any
 * slot of an id.
 */
int64_t depend_find(const struct depend *depend, const char *id, uint32_t member);
int64_t depend_find_any(const struct depend *depend, const char *id);

/* "a", or "a[3]" of a member of an array. Valid until the next call. And without the member. */
const char *depend_id(const struct depend *depend, uint32_t slot);
const char *depend_base_id(const struct depend *depend, uint32_t slot);

/* Take "a[3]" apart: the length of "a" and 3. False if an id is not of that form. */
bool depend_split(const char *id, size_t length, size_t *base, uint32_t *member);

/* ---- Outcomes, to be saved and restored ---- */

/* A job that has ended. */
struct depend_outcome {
    const char *id;
    uint32_t member;
    uint32_t members; /* 1: it is no array */
    bool ok;
};

/* Enter one, before any job that depends on it. Returns 0, or -1: EINVAL (the job is known, or another
 * number of members was said), ENOMEM. depend_outcome is for a job that is no array.
 */
int depend_outcome_of(struct depend *depend, const struct depend_outcome *outcome);

/* The same for all members of an array of which `ok` and `badly` say so. */
struct depend_outcomes {
    const char *id;
    uint32_t size;
    const struct idset *all; /* NULL: all up to `size` exist */
    const struct idset *ok, *badly;
};
int depend_outcomes(struct depend *depend, const struct depend_outcomes *outcomes);
int depend_outcome(struct depend *depend, const char *id, bool ok);

/* Where a walk over the outcomes stands; all zero at its beginning. */
struct depend_walk {
    const void *entry;
    uint32_t member;
    bool living;
};

/* The next outcome, in an order in which they can be entered again. False: there are no more. Nothing may
 * change during a walk. O(1), and O(members) for arrays.
 */
bool depend_next_outcome(const struct depend *depend, struct depend_walk *walk,
                         struct depend_outcome *outcome);

/* True if everything is in order. O(all). */
bool depend_check(const struct depend *depend);

#endif
