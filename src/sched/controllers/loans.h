/* Loans come last. A job *borrows* if its queue would have more than it deserves by its start. If it might be stopped for that
 * a second later (it has no minimum run time, and is no gang that its queue keeps), it starts only on what no waiting job can
 * use that is *entitled* to it: a job of its level or of a higher one, of another queue, which `preempts` borrowers and has
 * less than it deserves. Else it would start, and mostly be stopped a second later for one that has waited all the time.
 */
#ifndef SCHED_LOANS_H
#define SCHED_LOANS_H

#include "sched/queues.h"

/* Whether a job that waits borrows, as far as what is promised to its queue is not given back, and somebody might take that.
 * O(lanes + depth of the tree)
 */
bool loan_is_one(const sched_t *s, uint32_t slot);

/* Whether an open job, whose turn has come in a walk, borrows what others wait for who are entitled to it: they have their
 * turns first. 1, 0, or -1 with ENOMEM. O(lanes), and where some may be entitled O(being stopped + nodes of queues).
 */
int loan_is_wanted(sched_t *s, uint32_t slot);

/* Whether a new job, whose turn has come before holders that are out of the calendars, has it in the walk instead: it could start
 * now, and borrows what is wanted by an open job, or what one of these can use now that is entitled to it. What it is promised for
 * later is no loan yet. 1, 0, or -1 with ENOMEM. A match for each holder that is looked at: of each lane the first LOANS_TRIED of
 * those that count for its depth, and of those that don't.
 */
int loan_waits_for_walk(sched_t *s, uint32_t slot);

/* A job waits in a walk as its loan is wanted. Of the LOANS_TRIED jobs behind it in its leaf, the first one starts that borrows
 * nothing and fits. STEP_DONE: one has started; STEP_BUSY: none has.
 */
enum { LOANS_TRIED = 32 };
enum step loan_let_others(sched_t *s, uint32_t slot);

/* A holder that borrows, whose time has come, is the one before `pass.next_due` in the list of those that are due, all of which
 * borrow. One job that is entitled starts first, if there is room for it beside the holder, or else in its place and in that of
 * those behind it of its lane: what has no room any more is open then. STEP_DONE: that has happened, and there may be others;
 * STEP_BUSY: nobody can, and all is as it was. Up to two matches for each job that is looked at: of each lane the first
 * LOANS_TRIED that are open, that hold a promise, and that hold one of a limit.
 */
enum step loan_give_way(sched_t *s, uint32_t slot);

#endif
