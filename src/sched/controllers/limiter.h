/* The controller of limits (limits.h): what a user and a queue may have. */
#ifndef SCHED_LIMITER_H
#define SCHED_LIMITER_H

#include "berth/sched_reason.h"
#include "sched/sched_priv.h"

/* Whether one job of this duration may ask for what a job asks for. */
bool job_is_within(const sched_t *s, uint32_t slot, int64_t duration,
                   struct sched_reason_limit *over);

/* Whether one job may last so long, whatever it has. */
bool job_may_last(const sched_t *s, uint32_t slot, int64_t duration,
                  struct sched_reason_limit *over);

/* Whether limits let a job start at a time beside what is held and promised, by what it asks for at least. */
bool limit_lets(const sched_t *s, uint32_t slot, int64_t now);

/* Whether limits keep a new job from starting now, and the one that does has a promise for it. */
bool limit_has_promise(const sched_t *s, uint32_t slot);

/* Whether a job could have what a booking holds, or that on fewer nodes, if its user and its queue had nothing else. */
bool limit_ever_lets(const sched_t *s, uint32_t slot, int64_t booking);

/* Whether limits have room for what a job may take beyond its estimate when another one begins, which shares a limit with it
 * and has, or would have, a booking from that time on.
 */
bool limits_let_tail(const sched_t *s, uint32_t slot, uint32_t beside, int64_t booking, int64_t at);

/* While such questions are asked: what a job may take of a window beyond its estimate counts as held, if it shares a
 * limit with a party; without memory it does not. And nothing does that counts so of this window.
 */
struct limits_window;
void rest_count(const sched_t *s, uint32_t slot, uint32_t party, struct limits_window in);
void rests_forget(const sched_t *s, struct limits_window in);

/* Reservations of a job's level that are out of the calendars for a while count in limits, as they are put back where they were
 * if they can be; until these leave. Returns whether there are any. O(jobs that are promised a time), or O(1) if nothing is
 * limited of the job.
 */
bool limits_return(const sched_t *s, uint32_t slot);
void limits_leave(const sched_t *s, bool any);

/* Jobs that are to begin at the same time and stand behind one give way to it: limits don't count what they are promised.
 * Returns whether there are any; until these go back. O(jobs that are promised a time), or O(1) if nothing is limited of
 * the job.
 */
bool limits_give_way(const sched_t *s, uint32_t slot, int64_t at);
void limits_go_back(const sched_t *s, bool any);

/* The reason of who is over a limit. Its texts are those of `over`. */
struct sched_reason limit_reason(const sched_t *s, const struct sched_reason_limit *over);

/* Refuse a call for a reason, with its text; for a limit. Return -1 with EINVAL. */
int refuse_call(const struct sched_reason *why, berth_error_t *err);
int refuse_limit(const sched_t *s, const struct sched_reason_limit *over, berth_error_t *err);

/* Remember the limit for which a job is blocked. Returns 0, or -1 with ENOMEM. */
int limit_keep(sched_t *s, uint32_t slot, const struct sched_reason_limit *over);

/* Block a job that is over the limit that its details name. Returns 0, or -1 with ENOMEM. */
int limit_block(sched_t *s, uint32_t slot);

/* A job that has been let in is pending, or is so no more. */
void pending_begin(sched_t *s, uint32_t slot);
void pending_end(sched_t *s, uint32_t slot);

/* Whether a job that limits have blocked is to be looked at again: its user and its queue have less than
 * then.
 */
bool limit_is_due(const sched_t *s, const struct job *job);

/* A blocked job that goes before others now may have a promise of one of these. */
void limit_ask_again(sched_t *s, uint32_t slot);

/* So may all that are blocked, when the machine or a block has changed. */
void limit_ask_all_again(sched_t *s);

/* So may those of a queue that starts, which were promised nothing meanwhile. O(those that limits have blocked). */
void limit_ask_lane_again(sched_t *s, const struct lane *lane);

/* Have it asked again whether others would be stopped for jobs that are blocked: somebody may be stopped who could not be
 * before, or is being stopped who was not. Returns whether there are any for whom others might be stopped.
 */
bool limit_seek_again(sched_t *s);

/* A job that limits keep has been promised a time: where the limit has promised more than it may, the last one
 * of these gives way. Returns 0, or -1 with ENOMEM.
 */
int limit_promised(sched_t *s, uint32_t slot);

/* Such a job is to be promised a time, among holders that keep theirs: where the limit has no promise left, the last one of
 * these, which is behind the job, gives way before a time is looked for. Returns 0, or -1 with ENOMEM.
 */
int limit_take_place(sched_t *s, uint32_t slot);

/* Those behind an open job of its lane lose what limits have promised them in which it counts, whether or not these keep it:
 * they have their turn in the walk. O(those of the lane that limits have promised a time). Returns 0, or -1 with ENOMEM.
 */
int limit_take_behind(sched_t *s, uint32_t slot);

/* A job that holds a promise of a limit has another key. */
void limit_rekeyed(sched_t *s, uint32_t slot);

/* Whether a job of a lane that limits have blocked stands between two keys. O(those that they have blocked). */
bool limit_is_between(const sched_t *s, const struct lane *lane, struct queue_key low,
                      struct queue_key high);

/* Whether a job that limits have blocked, and that may go on in this pass, stands before a key. O(those that they have blocked). */
bool limit_is_before(const sched_t *s, struct queue_key key);

/* Have memory for one more candidate: 0, or -1 with ENOMEM. And an open job is one. */
int limit_reserve_candidate(sched_t *s);
void limit_make_candidate(sched_t *s, uint32_t slot);

/* Open jobs that are to be looked at for a promise that a limit has to give, whatever their lane has: whether
 * a job is one; the first one in queue order, JOB_NONE; and look at it. One, or
 * all, are so no more.
 */
bool limit_is_candidate(const sched_t *s, uint32_t slot);
uint32_t limit_candidate(const sched_t *s);
enum step limit_look(sched_t *s, uint32_t slot);
void limit_look_once(sched_t *s, uint32_t slot);
void limit_forget_candidates(sched_t *s);

#endif
