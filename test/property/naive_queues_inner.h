/* What the parts of naive_queues.h ask of each other. */
#ifndef PROPERTY_NAIVE_QUEUES_INNER_H
#define PROPERTY_NAIVE_QUEUES_INNER_H

#include "naive_queues.h"
#include "naive_shares.h"

/* ---- naive_queues.c ---- */

/* The first job in this state after another one in the order of all; -1: there is none. */
int nq_next_of(const struct naive_queues *q, enum nq_state state, int after);

/* The first open job of a lane, of those that may start at all; -1: there is none. */
int nq_first_open(const struct naive_queues *q, int lane);

/* How many jobs of a lane hold what counts for its depth; and the last of these, -1: there is none. */
int64_t nq_holders(const struct naive_queues *q, int lane);
int nq_last_holder(const struct naive_queues *q, int lane);

/* The last one that is to be placed anew, or may be: who preempts others has what it needs, unless that is
 * out of the calendars.
 */
int nq_last_movable(const struct naive_queues *q);

/* Whether its lane looks at so many. Those of classes that start nothing are not looked at, so they don't count. */
bool nq_is_considered(const struct naive_queues *q, int job);

/* Those that have come within their queue's depth since the last pass are new, if a holder of their queue is behind them; while
 * the walk goes, not before those that have a promise to get first. Returns whether there are any.
 */
bool nq_let_in(struct naive_queues *q, bool walks);

/* ---- naive_members.c ---- */

/* A member of a gang has failed, and was not stopped for others; and in a pass, nobody of a gang that is over by that goes on. */
void nq_fail_member(struct naive_queues *q, int member);
void nq_settle_gangs(struct naive_queues *q);

/* Those for whom a job asks, itself or so many of its gang, in the order in which they choose. Returns how many. */
int nq_list_whole(const struct naive_queues *q, int job, int list[NQ_JOBS]);

/* ---- naive_room.c ---- */

/* The nodes that nobody else holds during [from, until). */
uint32_t nq_free_nodes(const struct naive_queues *q, int job, int64_t from, int64_t until);

/* The nodes that a job would get from `at` on, the lowest; 0: it does not fit. */
uint32_t nq_choice(const struct naive_queues *q, int job, int64_t at);

/* The same of a reservation that chooses again: at an earlier time the lowest of all that have room are next, at its own time none
 * are.
 */
uint32_t nq_choice_anew(const struct naive_queues *q, int job, int64_t at);

/* As nq_choice for a start now. */
uint32_t nq_choice_now(const struct naive_queues *q, int job);

/* The earliest time at which a job fits: now, or when something ends; -1: never. What can only begin behind a job of
 * unknown end has no time.
 */
int64_t nq_earliest(const struct naive_queues *q, int job);

/* The same by such a choice. */
typedef uint32_t nq_choose(const struct naive_queues *q, int job, int64_t at);
int64_t nq_earliest_by(const struct naive_queues *q, int job, nq_choose *choose);

/* The first of those that wait together has left them: it starts, or takes what others hold. The next one is open, and
 * as new as it was, unless their array is full.
 */
void nq_come_forward(struct naive_queues *q, int job);

/* A job is set aside, and gives up what it is promised; and goes on, as a new one. */
void nq_set_aside(struct naive_queues *q, int job);
void nq_go_on(struct naive_queues *q, int job);

/* A job starts now on the nodes that it has, with those behind it that it has asked for. Returns the next one behind these, -1. */
int nq_start(struct naive_queues *q, int job);

/* It holds something. If as many of its array do as may, others that are open are so no more. */
void nq_fill(struct naive_queues *q, int job);

/* Note a decision, at the time that the job has. */
void nq_decide(struct naive_queues *q, enum nq_kind kind, int job);

/* It is displaced no longer if it has as early a time again. */
void nq_moved(struct nq_job *j);

/* A limit keeps a job: it promises it a time, or blocks it. */
void nq_be_kept(struct naive_queues *q, int job, int of);

/* Whether a job starts, or is kept by a limit: at its turn, or once the machine has room. */
bool nq_start_open(struct naive_queues *q, int job, bool turn);

/* Promise an open job a time. Whether that is done with it: it has one, or a limit or its array keeps it. */
bool nq_promise(struct naive_queues *q, int job);

/* Whether anybody waits for the end of a running job. */
bool nq_is_awaited(const struct naive_queues *q, int job);

/* It waits for its victims no more; they are being stopped all the same. */
void nq_let_victims_go(struct naive_queues *q, int job);

/* A holder is open again, and holds nothing. */
void nq_give_back(struct naive_queues *q, int job);

/* What a job was promised is free: nobody could be promised anything behind it if its end is not known. */
void nq_leave_promise(struct naive_queues *q, int job);

/* Whether somebody has lost a promise to the machine, or could be given none. */
bool nq_any_displaced(const struct naive_queues *q);

/* ---- naive_preempt.c ---- */

/* From when on a job that runs may be stopped, if its queue is preemptible. */
int64_t nq_preemptible_from(const struct nq_job *j);

/* Whether it was told to stop: for another or, where jobs are stopped for others at all, for a block. */
bool nq_leaves(const struct naive_queues *q, const struct nq_job *j);

/* A job, which holds nothing in the calendars, takes what it needs to start now. */
bool nq_preempt(struct naive_queues *q, int job);

/* Whether limits keep a job, whose victims are lifted, from starting when these have ended: what others wait for is left then,
 * or yet to be, in the place of what these are to have.
 */
bool nq_is_kept_at_last(struct naive_queues *q, int job);

/* Whether limits have room for a job whose victims have ended beside those that run, and what others have who wait for none. If
 * not, it waits for the ends of those, too, that others wait for and that have what it lacks; or loses what it holds, if these
 * have not.
 */
bool nq_is_let_now(struct naive_queues *q, int job);

/* The same as nq_preempt for one that holds a reservation for later. */
void nq_preempt_for_holder(struct naive_queues *q, int job);

/* One that waits for its victims starts if it has room beside them by now. Then nobody waits for these. */
void nq_start_elsewhere(struct naive_queues *q, int job);

/* ---- naive_turns.c ---- */

/* A lane has no more promises than its depth allows: the last ones are given back. */
void nq_keep_depth(struct naive_queues *q, int lane);

/* Where a job was stopped that puts off nobody else, it is to have the promise of the last one behind it of its own lane. */
void nq_take_place(struct naive_queues *q, int lane);

/* A reservation to its earliest time, and to the lowest nodes there. */
void nq_pull(struct naive_queues *q, int job);

/* Whether a job has its turn before another one, when holders are placed anew. */
bool nq_turn_before(const struct naive_queues *q, int a, int b);

/* Whether a new job that has had none goes before a holder of its level, and its queue would let it now. */
bool nq_has_turn(const struct naive_queues *q, int job);

/* List those that take their turn. That of others before all of them never comes. */
void nq_list_turns(const struct naive_queues *q, bool *listed);

/* Of new jobs that go before holders, those that are not listed miss their turn: note which of them are beyond their queue's
 * depth.
 */
void nq_note_missed(struct naive_queues *q, const bool *listed);

/* The first one that takes its turn, has it before such a one, or is out of the calendars. */
int nq_first_turn(const struct naive_queues *q);

/* The first one to be placed: as nq_first_turn, or an earlier one if the holders behind it are still to be placed again. */
int nq_first_to_place(const struct naive_queues *q);

/* The first reservation that does not fit is placed anew with those behind it, as are those behind a new job.
 * Who preempts others has what it needs, unless that is down.
 */
void nq_repair(struct naive_queues *q);

/* It is an open job's turn, before holders or among them. */
void nq_take_turn(struct naive_queues *q, int job);

/* They take their turns in order. */
void nq_place_all(struct naive_queues *q, bool *listed, int64_t at, bool all);

/* New jobs go before holders of all levels. Whether any did. */
bool nq_outrank(struct naive_queues *q);

/* ---- naive_rules.c ---- */

/* In the first pass by other rules: holders that are over limits then lose what they are promised, the last ones first, and
 * those that limits have promised a time take their turn anew.
 */
void nr_recount(struct naive_queues *q);

/* ---- naive_walk.c ---- */

/* The next job that is open or held. */
int nq_next_waiting(const struct naive_queues *q, int after);

/* A reservation to its earliest time, and to the lowest nodes there; an open job for whose queue a promise was taken back
 * has its turn. And each one of a level, or `all`.
 */
void nq_sweep_one(struct naive_queues *q, int job);
void nq_sweep(struct naive_queues *q, int64_t at, bool all);

/* Whether an open job before another one is to have its turn in the sweep yet, as a promise was taken back for it. */
bool nq_lets_before(const struct naive_queues *q, int job);

/* Whether its queue has a promise for one before it that has its turn in the sweep, while new jobs of a level are placed. */
bool nq_gives_before(const struct naive_queues *q, int job);

/* Holders whose time has come start; those of one level, or `all`. */
void nq_start_due(struct naive_queues *q, int64_t at, bool all);

/* Look at what waits, in order. */
void nq_walk(struct naive_queues *q, int64_t at, bool all);

/* Limited jobs that may go on by now do so, at the end of a pass (`again`) each once; and of each limit that has
 * a promise to give, or has given one to a job behind it, the first. Another one in the same pass only if that
 * one has got it.
 */
void nq_settle(struct naive_queues *q, bool again);

/* A job that waits for its victims ends later as these take their time: what others were promised may be in the
 * way.
 */
void nq_put_off(struct naive_queues *q);

#endif
