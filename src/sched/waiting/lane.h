/* Where jobs stand: the keys by which they are in order, and the lanes that they are put into and taken out of. */
#ifndef SCHED_LANE_H
#define SCHED_LANE_H

#include "sched/sched_priv.h"

/* ---- config/order.c ---- */

/* A job's key, were that its priority; false where that is out of range. */
bool key_of(const sched_t *s, uint32_t slot, int64_t priority, struct queue_key *key);

/* Whether it says how long the job is expected to take. */
bool key_has_length(const sched_t *s, uint32_t slot);

/* Of a job in a named queue: its deadline, or SCHED_UNLIMITED; the whole minute of that by which it is compared,
 * INT64_MAX: by none.
 */
int64_t job_deadline(const sched_t *s, uint32_t slot);
int64_t job_deadline_minute(const sched_t *s, uint32_t slot);

/* Whether it goes behind those of its queue that are of no gang, or of one that lacks its min, as its key says
 * (waiting/gang_order.h).
 */
bool job_goes_behind(const sched_t *s, uint32_t slot);

/* The key under which a job that waits, and holds nothing, has its turn before holders. Where there are shares, a holder
 * keeps its promise unless a job of a higher priority comes, of its queue or its own: the turn comes behind holders of
 * the same priority, or of the same level where the priority of jobs counts for nothing. One that the machine has taken a
 * promise from has its own place.
 */
struct queue_key key_turn(const sched_t *s, uint32_t slot);

/* In the number of such a turn: it is that of a job which has come since. */
#define TURN_OF_NEW (UINT64_C(1) << 63)

/* A job's key as an open one of whose array so many workers are held (waiting/class_order.h); that of key_of with 0, and
 * its own in a queue without classes or with an order of its own, but as one of no gang.
 */
struct queue_key key_held(const sched_t *s, uint32_t slot, int64_t units);

/* The last key of the level that a key is of: of queues of that priority. */
struct queue_key level_last(struct queue_key key);

/* ---- lane.c: into lanes and out of them ---- */

/* A lane without jobs, for asks of up to `most` units. Its queues distinguish jobs by up to `width` units.
 * Returns 0, or -1 with ENOMEM.
 */
int lane_init(struct lane *lane, int64_t most, int64_t width);
void lane_clear(struct lane *lane);

/* One more line. Returns 0, or -1 with ENOMEM. */
int lane_add_line(struct lane *lane);

/* Add a job to the open ones, to those that are new in the next pass. Returns 0, or -1 with ENOMEM. */
int open_insert(sched_t *s, uint32_t slot, bool fresh);
void open_remove(sched_t *s, uint32_t slot);

/* Have memory for open_insert of a job, also after open_remove. Returns 0, or -1 with ENOMEM. */
int open_reserve(sched_t *s, uint32_t slot);

/* A job has the place of an open one, whose key has become another: it has the same lane, and asks for the same. */
void open_give(sched_t *s, uint32_t slot, uint32_t to);

/* Give an open job another key, and nothing else. Returns 0, or -1 with ENOMEM and nothing changed. */
int open_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* Give a holder another key; it keeps its reservation. Returns 0, or -1 with ENOMEM and nothing changed. */
int held_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* An open job is new in the next pass, also if it was looked at in this one. Returns 0, or -1 with ENOMEM. */
int open_renew(sched_t *s, uint32_t slot);

/* Where a held job stands: among those that count for the depth, or beside them. */
static inline struct queue *held_of(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    return s->jobs[slot].is_kept ? lane->kept : lane->held;
}

/* Give a waiting job another key. One that goes before others now is new in the next pass, for which a holder gives its
 * reservation back only if its turn comes before another one's that it stood behind; and so does a holder that others go
 * before now. Returns 0, or -1 with ENOMEM and nothing changed.
 */
int job_rekey(sched_t *s, uint32_t slot, struct queue_key key);

/* Make an open job a held one with a booking from `at` on, and back to an open one (state and decision are
 * not theirs). Return 0, or -1 with ENOMEM and nothing changed.
 */
int held_insert(sched_t *s, uint32_t slot, int64_t at, int64_t booking);
int held_to_open(sched_t *s, uint32_t slot, bool fresh);

/* Note that something is free during [from, until). */
void note_freed(sched_t *s, int64_t from, int64_t until);

/* A reservation is looked at, or made: what is freed from now on may serve it. */
static inline void held_seen(const sched_t *s, struct job *job)
{
    job->seen = s->place->freed.next;
}

/* What was freed since a reservation was looked at is not known: it may be earlier, or hold something else at
 * its time.
 */
static inline void held_unseen(sched_t *s, struct job *job)
{
    job->seen = 0;
    note_freed(s, s->now, INT64_MAX);
}

/* Whether a controller has kept a reservation from something better when it was looked at last; and whether
 * that may have changed since. O(1).
 */
void held_waits(sched_t *s, uint32_t slot, bool waits);

/* It may not hold something earlier, as that would be in the way of a promise: this may move at any time. */
void held_unsure(sched_t *s, uint32_t slot);
bool held_again(const sched_t *s, uint32_t slot);

/* Enter a held job, which is due already, into its lane. Returns 0, or -1 with ENOMEM. */
int held_enter(sched_t *s, uint32_t slot);

/* Take a job out of the held ones and give its booking back, noting what became free. */
void held_release(sched_t *s, uint32_t slot);

/* Give back what a held or running job has booked, and note it. And a job that ran has done so. */
void job_release(sched_t *s, uint32_t slot);
void running_released(sched_t *s, uint32_t slot);

/* How many jobs of a lane hold a reservation that counts for its depth, and the last of them; JOB_NONE. */
int64_t lane_holds(const struct lane *lane);
uint32_t last_holder(const sched_t *s, const struct lane *lane);

/* A lane that has promised more jobs a time than it may takes those of the last ones back; a stopped one,
 * all. Returns 0, or -1 with ENOMEM. And one of them: STEP_BUSY if there is none.
 */
int lane_keep(sched_t *s, struct lane *lane);
enum step lane_keep_one(sched_t *s, struct lane *lane);

/* Where a job has been stopped that has no turn before holders (is_returned), its lane has a promise for it (has_taken): one
 * that is left, or else that of its last holder, if the job goes before that one. What limits have promised others behind it
 * is taken back. STEP_BUSY, or STEP_FAILED.
 */
enum step lane_take_place(sched_t *s, struct lane *lane);

/* The slot for what is known of jobs that ask for this. */
uint8_t shape_slot(const struct place_ask *ask);

#endif
