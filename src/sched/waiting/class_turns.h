/* Whose turn it is among the classes of a queue (doc/classes.md).
 *
 * A walk counts how many workers each class may start (share/class_counts.h) when the queue's turn comes
 * first. Each start and each promise uses that up; the class that has used the smallest part of it goes
 * first. When a class's turn comes that has used it up, the counts are made anew for the classes that
 * still have a job that may be looked at: as if one worker were idle, if none is. So nothing idles that
 * somebody could use, and the next promise is to the class that would have the next worker.
 *
 * Within a class jobs go in the order of class_order.h. What a class has is what its jobs run on or are promised.
 */
#ifndef SCHED_CLASS_TURNS_H
#define SCHED_CLASS_TURNS_H

#include "sched/config/setup_classes.h"
#include "sched/sched_priv.h"
#include "share/tree.h"

struct shares;

struct class_turn {
    int64_t units[SHARE_RUNNING + 1]; /* workers, by what its jobs are (enum share_state) */
    int64_t rest;                     /* of members that wait behind one that is promised a time */
    /* Of the counts: so many may start; and what it had then. */
    int64_t start, had;
    int64_t floor; /* in a rebalancing: it is stopped down to so many running ones */
};

/* A running job that may be stopped in a rebalancing (controllers/rebalance.c). */
struct class_lent {
    uint32_t slot;
    bool is_stopping; /* it has been told */
    int64_t at;       /* when it started */
    struct queue_key key;
};

struct class_turns {
    const struct setup_classes *setup;
    struct class_turn *v; /* by class */
    struct class_load *load;
    bool is_counted; /* in this walk */
    bool is_measured;
    /* Of what counts for a worker: what the queue's part has that is up and in none of these blocks. */
    int64_t total[SCHED_SHARE_RESOURCES];
    uint64_t blocks;

    /* Rebalancing: for how long classes have been too far from their percentages; and, if nobody could be stopped last
     * time and nothing has happened since, when somebody can (0: nothing is known of that).
     */
    struct class_timer timer;
    int64_t rests;

    /* In a pass: it rebalances, and has stopped somebody; who may be stopped, if that is counted. */
    bool is_due, has_stopped, is_lent_counted;
    struct class_lent *lent;
    size_t n_lent, cap_lent;
};

/* Of the queues of a setup, by number, NULL for those without classes; NULL with ENOMEM. NULL is fine for
 * destroy.
 */
struct class_turns **class_turns_create(const struct setup *setup);
void class_turns_destroy(struct class_turns **turns, uint32_t n_queues);

/* Whether the classes of a queue are rebalanced at all. */
static inline bool class_turns_rebalances(const struct class_turns *turns)
{
    return turns->setup->rule.threshold > 0 && turns->setup->rule.duration > 0;
}

/* Since when classes are uneven holds with another configuration, for queues that both rebalance; shares may be NULL. */
void class_turns_inherit(struct shares *shares, const struct shares *old);

/* What there is has become another number of resources. */
void class_turns_measure(struct shares *shares);

/* How many workers such amounts of the resources of shares are, at least 1. */
int64_t class_turns_units(const struct class_turns *turns, const int64_t *amount);

/* So many workers of a class have gone from a state to another. */
void class_turns_tell(struct class_turns *turns, uint32_t class, uint8_t from, uint8_t to,
                      int64_t units);

/* So many more workers, or fewer, are waited for behind what is promised to others of their arrays. */
void class_turns_rest(struct class_turns *turns, uint32_t class, int64_t units);

/* The class of a user of a queue with classes; -1 with ENOMEM. */
int64_t class_turns_find(const struct class_turns *turns, const char *user);

/* Whether a class starts nothing at all. */
bool class_turns_is_shut(const struct class_turns *turns, uint32_t class);

/* Set the loads of a queue's classes as rebalancing counts: running is what their jobs run on and, of those for whom
 * others are being stopped, will; what is being stopped is not in it. Targets are set. `waiting` is what is open or
 * promised a later time; `whole`: with all members of arrays, else of those with a promise the first. Returns how many
 * workers there are. O(classes + jobs being stopped), and O(held) if somebody waits for these.
 */
int64_t class_turns_load(const sched_t *s, uint32_t queue, bool whole);

/* Set the loads as they are, with targets: running is what jobs run on or are promised. Returns how many workers are
 * idle. And what is being stopped is as good as idle. O(classes), and O(running) while a block is on.
 */
int64_t class_turns_now(const sched_t *s, struct class_turns *turns, uint32_t queue);
void class_turns_less(const sched_t *s, const struct class_turns *turns, uint32_t queue);

/* A walk begins. */
void class_turns_begin(struct shares *shares);

/* The tree has chosen a leaf. False: classes go in another order by now, and it is to choose again. */
bool class_turns_are_due(sched_t *s, uint32_t leaf);

/* A job of a leaf was looked at. */
void class_turns_looked(sched_t *s, uint32_t leaf);

bool class_turns_check(const sched_t *s);

#endif
