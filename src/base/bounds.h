/* How much the core keeps of what it could work out again: notes, logs, counts.
 *
 * Each of these trades memory, or time, for looks at jobs: beyond it the core knows less, looks at more,
 * and finds the same. So none is a parameter. The tests hold the core to that: built with
 * BERTH_SMALL_BOUNDS, all are so small that the smallest machine goes beyond them, and what is decided is
 * the same (test/property/meson.build, test/system/bounds.sh), but for four things that happen when a job is
 * looked at, and so may happen sooner where less is known:
 *
 *  1. Why the job waits is reported again.
 *  2. A job that is over a limit leaves its place within the queue depth to the next.
 *  3. A job that finds no room may preempt others, using what reservations have left since the last end
 *     (preempt.c).
 *  4. A reservation under `locality` chooses other resources at the same time, since what it prefers depends
 *     on what others have taken meanwhile.
 *
 * Bounds that an answer depends on are not here. They are parameters (berth/sched.h, berth/match.h), or
 * what they bound is refused with a text.
 */
#ifndef BASE_BOUNDS_H
#define BASE_BOUNDS_H

#ifdef BERTH_SMALL_BOUNDS
#define BOUND(usual, small) (small)
#else
#define BOUND(usual, small) (usual)
#endif

/* ---- The pass (sched/) ---- */

/* Bits of the number of a shape, of which a sweep knows where there is no room; of two with one number the
 * older one is forgotten.
 */
#define SHAPE_BITS BOUND(8, 1)

/* Steps of what is free for how long that a search for open jobs by units (finder.c) goes by; of more, what
 * comes later is taken for as much as there is at the last.
 */
#define UNITS_ROOMS_MAX BOUND(64, 1)

/* Resources of which it is known which durations of a kind of jobs lack them; of others it is asked for each job. */
#define JOB_KIND_LACKS BOUND(3, 1)

/* Open jobs of a lane that may fit, up to which a walk that goes by shares chooses among their leaves alone. */
#define MAY_FIT_MAX BOUND(32, 1)

/* Which results of a search for victims are kept: the lots that it listed, the running jobs by lane, the young ones among them, the
 * kinds of jobs for which those being stopped leave too little; and from pass to pass who is being stopped. What is not kept is
 * worked out again.
 */
#define LOTS_KEPT     BOUND(1, 0)
#define RUNNERS_KEPT  BOUND(1, 0)
#define YOUNG_KEPT    BOUND(1, 0)
#define LITTLE_KEPT   BOUND(1, 0)
#define STOPPING_KEPT BOUND(1, 0)

/* Whether a search for victims, to see whether a gang fits without one of them, moves only the members that are in the way of that
 * one. Else it books the whole gang anew.
 */
#define BOOKINGS_MENDED BOUND(1, 0)

/* Whether a walk goes through the queue itself where each job of it is a candidate, in place of its groups; and whether a job is
 * seen to borrow without what it asks for.
 */
#define SCANS_QUEUES     BOUND(1, 0)
#define BORROWS_AT_SIGHT BOUND(1, 0)

/* ---- Who is concerned (place/) ---- */

/* Notes of what was freed from when on; of more the oldest two become one, which rules out less. */
#define FREED_TIMES BOUND(64, 2)

/* Nodes in which something was freed: that are listed, and that are looked at for each group of waiting jobs;
 * where there are more, all nodes count as freed.
 */
#define FREED_NODES   BOUND(32768, 3)
#define FREED_LOOK_AT BOUND(256, 2)

/* Runs of these nodes, of which each event has one as long as there are fewer; those after have the last one. */
#define FREED_RUNS BOUND(1024, 2)

/* Notes, the latest of these, among which a node is looked for to be noted no second time. */
#define FREED_ALIKE BOUND(4, 1)

/* Increases that a capacity lists, and new ones of one count that stand apart; of more the older half is
 * forgotten, so that who had not seen it is looked at, and a new one is put together with one that is like
 * it, as more than they are.
 */
#define INCREASES_MAX     BOUND(256, 4)
#define INCREASES_AT_ONCE BOUND(32, 1)

/* Bits of the place of a note that a node has no room for a request; of two in one place the later one is kept. */
#define NO_ROOM_BITS BOUND(18, 3)

/* Pieces of requests of which it is counted how many there is room for; of others nothing is ruled out by
 * count.
 */
#define CAPACITIES_MAX BOUND(2048, 2)

/* Parts of the machine, at most as many as a number has bits, beyond which nothing is counted. */
#define ROWS_PARTS_MAX BOUND(64, 2)

/* Passes after which counts that nobody asks for are given up. */
#define IDLE_MAX BOUND(64, 0)

/* Times at which what is taken of a node changes; after more it counts as idle. */
#define GAPS_STEPS_MAX BOUND(128, 3)

/* place/graph/gaps.c: of how many changed intervals it is noted where they are. Of another one that changes
 * again there are two entries until the next question.
 */
#define GAPS_LATEST BOUND(1024, 2)

/* Changed intervals that questions about one time go through as they are; of more they are put in order first. */
#define GAPS_LATE BOUND(64, 1)

/* Powers of two by which is told how many pieces are missing until when. */
#define GAPS_LACKS BOUND(8, 1)

/* Types that a piece of a request may need; one that needs more counts as served by any node. */
#define PIECE_NEEDS BOUND(8, 1)

/* ---- The matcher, and calendars ---- */

/* Types, among those that filters count, of which it is told how much of a node is taken; of others nothing
 * is.
 */
#define PLAN_USAGE_TYPES BOUND(4, 1)

/* Children from how many on it is kept of each what was known to be taken of it. */
#define FULL_CHILDREN_MIN BOUND(4, 1)

/* Children next to each other of which is kept together what all of them are full for. */
#define FULL_BLOCK BOUND(32, 2)

/* Looks at a calendar that cost less than a walk over its steps. */
#define FEW_LOOKS BOUND(8, 1)

#endif
