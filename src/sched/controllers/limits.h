/* The limits controller: what a job, a user and a queue may have at most, and what they have.
 *
 * The ledger has a tally for each user in each queue and for each queue. A tally counts pending jobs, and for
 * running jobs and each resource type that some limit of its own names it has a calendar (planner/profile.h):
 * how much of it is held or promised when. A calendar is made when something is entered that it counts. A job
 * in a virtual queue counts for that queue's user and queue limits, for the queue limits of its parent, and
 * for the parent's limits of a user but those of what the virtual queue limits itself: what it doesn't name
 * is limited as for that user in the parent, and counted there.
 *
 * A party is a user in a queue, under the limits that apply to them there: those of the queue, changed by
 * the first exception that names the user or one of their groups. Parties of one user in a queue under
 * different limits (their groups have changed) share what the user has. Parties are small numbers and stay
 * until the ledger is destroyed: memory grows with the pairs of user and queue, some 100 bytes each.
 *
 * A resource is measured by the caller's function, which says how much of a type the job at hand asks for or
 * holds, >= 0, and is asked only for types that a limit names. What limits_sub is told must be what
 * limits_add was told: a job whose holdings change is taken out before and entered again after. Times are
 * ticks; a window is [from, until), from < until.
 *
 * Where the answer is no, `over` (which may be NULL) gets the limit, the first in the order job, user, user
 * in the parent, queue, parent, and in each as configured, running jobs before resources; its text is the
 * ledger's. Calls are O(limits of the queue), parties also O(exceptions of the queue); those with a window
 * are O(log n) for each limit, where n windows are in a calendar. Where no limit is set there is no calendar.
 *
 * For another configuration, make another ledger and enter all jobs again.
 */
#ifndef SCHED_LIMITS_H
#define SCHED_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/sched_reason.h"
#include "sched/config/setup.h"

struct limits;

struct limits_window {
    int64_t from, until;
    int64_t jobs; /* that the job at hand counts as; 0: one */
};

/* The limit that a job is over, and its calendar; NO_CALENDAR: nothing was ever entered there. */
struct limits_over {
    struct sched_reason_limit limit;
    uint32_t calendar;
};

#define NO_CALENDAR UINT32_MAX

/* What the caller knows of the promises that a calendar carries of jobs of one queue which its limit alone
 * keeps: the ledger only has it. All zeroes at first.
 */
struct limits_promises {
    int64_t n;
    bool is_last_known;
    uint32_t last;      /* the last one of them in queue order */
    uint64_t letting;   /* the pass in which a job was let go on for one last, */
    int64_t had;        /* and how many there were then */
    uint64_t round;     /* the round of a pass in which there is one that may go on: */
    uint32_t candidate; /* this */
};

/* Nodes that the job at hand shares with others, each once: the one at *i, which begins with 0 and moves
 * on; false: there are no more. They are `n` of those that `amount` tells of. A node limit counts each once
 * at a time, however many jobs of the holder have some of it; nodes that are not named here a job has to
 * itself. NULL, or none: it has all to itself.
 */
typedef bool limits_next_f(void *arg, uint32_t *i, uint32_t *node);
struct limits_nodes {
    limits_next_f *next;
    void *arg;
    int64_t n;
};

/* The same of a list, which is the `arg`. */
struct limits_list {
    uint32_t n;
    uint32_t v[];
};
limits_next_f limits_next_of;

/* How much of a resource type the job at hand asks for, or holds. */
typedef int64_t limits_amount_f(void *arg, const char *type);

/* An empty ledger. The setup must outlive it. NULL with ENOMEM. */
struct limits *limits_create(const struct setup *setup);

/* NULL is fine; errno is kept. */
void limits_destroy(struct limits *limits);

/* The party of a user in a queue, with jobs of an account (NULL: of none); user NULL is "". A number, or -1 with
 * ENOMEM.
 */
int64_t limits_party(struct limits *limits, uint32_t queue, const char *account, const char *user,
                     const char *const *groups, size_t n_groups);

/* ---- Questions ---- */

/* Whether this much of resources would be within the limits of the user and the queue if nobody else had
 * anything.
 */
bool limits_ever(const struct limits *limits, uint32_t party, limits_amount_f *amount, void *arg,
                 struct sched_reason_limit *over);

/* Whether one job may be of this duration (ticks) and ask for, or hold, this much. */
bool limits_job(const struct limits *limits, uint32_t party, int64_t duration,
                limits_amount_f *amount, void *arg, struct sched_reason_limit *over);

/* Ticks that one job of the party may last; SCHED_UNLIMITED. */
int64_t limits_longest(const struct limits *limits, uint32_t party);

/* Whether so many jobs may run at once if nobody else's do. */
bool limits_together(const struct limits *limits, uint32_t party, int64_t jobs,
                     struct sched_reason_limit *over);

/* Whether n more jobs may be pending. */
bool limits_pending(const struct limits *limits, uint32_t party, uint32_t n,
                    struct sched_reason_limit *over);

/* Whether a job that holds this much may run during a window beside what user and queue hold then. What it
 * holds none of doesn't stand in its way, even where a limit has become smaller than what is held already. A node
 * that user or queue has then anyway is nothing more, but where they have more than they may, nothing else is let.
 * `amount` is only called for resources: it may be NULL where limits_measures says so.
 */
bool limits_start(const struct limits *limits, uint32_t party, struct limits_window window,
                  limits_amount_f *amount, void *arg, const struct limits_nodes *nodes,
                  struct limits_over *over);

/* The same of a job, in those of its party's limits in which jobs of another party count as well. */
bool limits_start_beside(const struct limits *limits, uint32_t party, uint32_t other,
                         struct limits_window window, limits_amount_f *amount, void *arg,
                         const struct limits_nodes *nodes, struct limits_over *over);

/* Whether something is limited of what two parties have together. */
bool limits_share(const struct limits *limits, uint32_t a, uint32_t b);

/* A job that may be stopped, as far as it is of interest to one that a limit has blocked. */
struct limits_giver {
    int64_t priority;    /* of several the least one; INT64_MIN: one is being stopped */
    uint32_t lane, leaf; /* UINT32_MAX: of several */
};

/* Begin to count who may be stopped, once in a round, whose number is from 1 on and grows: false if it was done in this round.
 * Then add each. O(the party's limits)
 */
bool limits_begin_givers(struct limits *limits, uint64_t round);
void limits_add_giver(struct limits *limits, uint32_t party, struct limits_giver giver);

/* Whether one that was added counts in a limit with a party and is less important, or of another lane (`lanes`) or leaf
 * (`leaves`); of one limit it is taken for all of these together. O(the party's limits)
 */
bool limits_has_giver(const struct limits *limits, uint32_t party, struct limits_giver taker,
                      bool lanes, bool leaves);

/* The first time on or after the beginning of a window from which on it may, for as long; INT64_MAX: never. O((g + 1)
 * log n) for g gaps that are too short.
 */
int64_t limits_when(const struct limits *limits, uint32_t party, struct limits_window window,
                    limits_amount_f *amount, void *arg, const struct limits_nodes *nodes);

/* Where the nodes of a job are too many for a node limit during a window: allow those of which it could have any one, as all
 * whose limits count nodes, its user and its queue say, have them then. How many nodes it may have in all, and how many of these
 * may be others; INT64_MAX: any number. What is matched among them may yet be too much. O(nodes shared by the holders * w log n)
 * for w windows in this one.
 */
typedef void limits_allow_f(void *arg, uint32_t node);
struct limits_room {
    int64_t nodes, others;
    bool any; /* one was allowed */
};
struct limits_room limits_narrow(const struct limits *limits, uint32_t party,
                                 struct limits_window window, limits_allow_f *allow, void *arg);

/* And allow others, as many as each leaves of those that it does not have: first of these nodes (NULL:
 * there are none), then of those that some of them have.
 * Returns whether there are any. O((nodes + nodes shared by the holders) * w log n), and for each of the latter that is left
 * O(nodes).
 */
bool limits_narrow_others(const struct limits *limits, uint32_t party, struct limits_window window,
                          const struct limits_nodes *nodes, limits_allow_f *allow, void *arg);

/* How many nodes one job of a party may ever have; INT64_MAX: any number. */
int64_t limits_most_nodes(const struct limits *limits, uint32_t party);

/* The first time after another one at which what the party's user or queues have of a node limit changes,
 * and before `before`; that if there is none.
 */
int64_t limits_next_change(const struct limits *limits, uint32_t party, int64_t after,
                           int64_t before);

/* Whether jobs of the party's user or queue share nodes: then one that asks for so many nodes may add
 * fewer. Whether nodes are counted; and whether they are, or those of one job are limited.
 */
bool limits_has_shared(const struct limits *limits, uint32_t party);
bool limits_counts_nodes(const struct limits *limits, uint32_t party);
bool limits_names_nodes(const struct limits *limits, uint32_t party);

/* Whether any of these calls would measure a job of this party; if not, amount may be NULL. */
bool limits_measures(const struct limits *limits, uint32_t party);

/* ---- Entries ---- */

/* n more pending jobs; fewer if it is negative. */
void limits_wait(struct limits *limits, uint32_t party, int64_t n);

/* Have a window's ends in the calendars of a party, so that entering a job for that window needs no
 * memory; as often as it is asked for. Returns 0, or -1 with ENOMEM and nothing changed. And give them up,
 * when no job is entered for them any more.
 */
int limits_open(struct limits *limits, uint32_t party, struct limits_window window,
                const struct limits_nodes *nodes);
void limits_close(struct limits *limits, uint32_t party, struct limits_window window,
                  const struct limits_nodes *nodes);

/* A job holds something, or is promised it, during a window that is open. And does so no more. The limits are
 * not looked at.
 */
void limits_add(struct limits *limits, uint32_t party, struct limits_window window,
                limits_amount_f *amount, void *arg, const struct limits_nodes *nodes);
void limits_sub(struct limits *limits, uint32_t party, struct limits_window window,
                limits_amount_f *amount, void *arg, const struct limits_nodes *nodes);

/* Of a calendar, by number, to jobs in a queue that is not virtual. */
struct limits_promises *limits_promises(const struct limits *limits, uint32_t calendar,
                                        uint32_t queue);

/* The calendar of a limit of a party (`what` and `most` are of interest); NO_CALENDAR: there is no such
 * limit, or nothing was entered there.
 */
uint32_t limits_calendar(const struct limits *limits, uint32_t party,
                         const struct sched_reason_limit *limit);

/* Whether what a party's jobs hold counts in a calendar. O(what is limited of the party). */
bool limits_count_in(const struct limits *limits, uint32_t party, uint32_t calendar);

/* What user and queue of a party hold decreases. And the last decrease that a rule for the party looks
 * at: its number among all, 0: none. A job over a limit keeps the number, and is looked at again when there
 * is a later one. Why this is a number for each tally and not the log of what the machine has freed
 * (place/freed.h): most of what is freed there is another party's. O(1).
 */
void limits_note_decrease(struct limits *limits, uint32_t party);
int64_t limits_last_decrease(const struct limits *limits, uint32_t party);

/* True if the calendars are in order and nothing is below 0, and each queue has as many pending jobs as its
 * users and virtual queues have together. O(parties + windows).
 */
bool limits_check(const struct limits *limits);

#endif
