/* Shares: which leaf of the tree a job is of, and what each leaf has (share/tree.h).
 *
 * The machine is the root; below it stand divisions and queues, as the configuration says, and below a queue
 * whose users take turns, its users; below one whose accounts do, all accounts, and below each of these its users;
 * below one whose classes do, all classes. A job is of a leaf: its user's, its class's or its queue's. The open jobs
 * of a user or a class have a line of their own in the lane of their queue.
 *
 * The tree is told of a job whenever it waits as an open one, is promised a time, runs, or is none of these any
 * more: of an open one what it asks for at least, all members of an array together; of others what its
 * booking holds, as limits measure it. Members that wait behind the one of their array that is promised a time wait
 * as open ones do, unless as many of the array hold something as may. So what is told of an array is the same
 * whichever of its members wait together.
 *
 * There are no shares where the configuration says nothing of any: then nothing here is called.
 */
#ifndef SCHED_SHARES_H
#define SCHED_SHARES_H

#include "base/intern.h"
#include "sched/sched_priv.h"
#include "sched/waiting/class_turns.h"
#include "share/tree.h"

struct setup;

/* Members of an array that wait behind one that is promised a time, and what they ask for together. */
struct share_rest {
    uint64_t n; /* 0: there are none, and the tree was told of none */
    int64_t amount[SHARE_DIMENSIONS_MAX];
    int64_t units;
};

/* What is known of a job, by slot. */
struct share_of_job {
    uint32_t leaf;
    uint8_t state;    /* enum share_state: what the tree was told last, with this: */
    bool is_moved;    /* listed in `moved_jobs` */
    uint64_t members; /* of an open one those that wait; 1 */
    int64_t amount[SHARE_DIMENSIONS_MAX];
    int64_t units; /* the same in workers, of a queue with classes */
    struct share_rest rest;
};

struct leaf {
    uint32_t node; /* in the tree */
    uint32_t lane, line;
    uint32_t class; /* of a queue with classes; SETUP_NONE */

    /* For turns.c: the first open job (JOB_NONE: none) and what is known of it; the priority and deadline of the job
     * that the leaf was offered with, and whether its gang has its min; whether the walk at work has offered it with
     * another, or leaves it out.
     */
    uint32_t first;
    struct share_first waits;
    int64_t priority, deadline;
    bool has_min;
    bool is_moved;

    /* For may_fit.c: it is in its lane's list if this is the number of the lists of now, and then the next one there. */
    uint64_t listed;
    uint32_t beside;

    size_t equal; /* the first of its equals (pass/equals.h) that has not had its turn */
};

/* A job that has its turn together with others, whose turns are equal. */
struct equal {
    uint32_t leaf, slot;
    struct queue_key key;
};

/* Whose a leaf is: a user's, of an account (SETUP_NONE: of none, or it does not matter) in a queue, a class's of a
 * queue, or a queue's.
 */
struct whose {
    uint32_t queue, account;
    uint32_t class;   /* SETUP_NONE: of none */
    const char *user; /* NULL: all */
};

/* What a node that is there from now on has used (waiting/usage_kept.h). */
struct restored_usage {
    uint32_t node;
    struct share_usage usage;
    int64_t at;
};

struct shares {
    struct share_tree *tree;
    const struct setup *setup;
    uint32_t *node; /* by node of the setup: its number in the tree, or SHARE_NO_NODE */
    struct intern
        names; /* of leaves: their queues' numbers and users; a leaf's number is its name's */
    struct leaf *leaf;
    size_t cap_leaves;
    uint32_t *moved; /* leaves that the walk at work has moved */
    size_t cap_moved;
    uint32_t n_moved;
    uint64_t walk;     /* counts walks */
    uint64_t lists;    /* counts how often lanes were listed anew (may_fit.h) */
    uint32_t *leaf_of; /* by node of the tree; JOB_NONE: it is none */
    size_t cap_nodes;
    uint32_t n_fixed;   /* nodes that the setup has; those from here on are users, in order */
    uint32_t *setup_of; /* of these the node of the setup */
    bool *is_touched;   /* by node: its usage is not what was kept last, */
    size_t cap_is_touched;
    uint32_t *touched; /* and all such nodes */
    size_t n_touched, cap_touched;
    struct restored_usage *restored; /* until all jobs are restored */
    size_t n_restored, cap_restored;
    struct share_of_job *job;
    size_t cap_jobs;
    uint32_t *moved_jobs; /* entries whose keys are to be worked out anew (class_order.h) */
    size_t n_moved_jobs, cap_moved_jobs;
    struct sched_share_node *told; /* in answer to sched_shares_now */
    size_t cap_told;
    struct sched_share_turn *turn; /* of sched_share_turns */
    size_t cap_turns;
    struct equal *equal; /* by leaf, and of one in order; none: nothing is known of equals */
    size_t n_equals, cap_equals;
    int64_t equal_rank;              /* of their turns */
    struct class_turns **turns;      /* by queue of the setup */
    struct sched_class_now *classes; /* in answer to sched_classes_now */
    size_t cap_classes;
};

/* The shares of a setup that has some. NULL with ENOMEM. NULL is fine for destroy. */
struct shares *shares_create(const struct place *place, const struct setup *setup);
void shares_destroy(struct shares *shares);

/* What there is has become another number of resources. */
void shares_measure(sched_t *s);

/* The leaf of a job, whose queue, lane and user are known: from now on it is of that one. Returns 0, or -1 with
 * ENOMEM. O(1), or for the first job of a user O(leaves of its lane).
 */
int shares_know(sched_t *s, uint32_t slot);

/* Whose a leaf is: a user's, or "" where it is a queue's. */
const char *leaf_user(const struct shares *shares, uint32_t number);

/* Whose leaf a node is; false: it is none of a user's. And the node of a user's leaf; -1: it is not there,
 * and is not to be made, or with ENOMEM.
 */
bool leaf_whose(const struct shares *shares, uint32_t node, struct whose *whose);
int64_t leaf_node(sched_t *s, const struct whose *whose, bool make);

/* The comparator that share_compare tells of; -1: the order of nodes. */
int shares_comparator(enum share_by by);

/* Have memory for a slot that gets a job; 0, or -1 with ENOMEM. And it gets a member of an entry, with what that
 * holds if it starts.
 */
int shares_reserve(sched_t *s, uint32_t slot);
void shares_part(sched_t *s, uint32_t slot, uint32_t part, bool starts);

/* How many equal parts what is told of an open job has: its members that wait, or of a gang at least those that start
 * together; what starts together of a gang of several roles is one, and no others are told of. And how many of these
 * parts it asks for at once.
 */
int64_t shares_members(const sched_t *s, uint32_t slot);
int64_t shares_asked(const sched_t *s, uint32_t slot);

/* A job is open, or is so with other members; is open no more. Nothing changes for one that holds something. */
void shares_opened(sched_t *s, uint32_t slot);
void shares_closed(sched_t *s, uint32_t slot);

/* As many of an entry's array hold something as may, or no longer. */
void shares_filled(sched_t *s, uint32_t slot);

/* It holds what a booking has, as a promise or running; runs, with what it was promised; holds nothing. */
void shares_hold(sched_t *s, uint32_t slot, int64_t booking, bool runs);
void shares_started(sched_t *s, uint32_t slot);
void shares_released(sched_t *s, uint32_t slot);

/* Whether a leaf is of a class that starts nothing. */
bool leaf_is_shut(const sched_t *s, const struct leaf *leaf);

/* The class of a job if it starts nothing at all; else NULL. */
const char *shares_shut_class(const sched_t *s, uint32_t slot);

/* The first open job of a lane that may start at all: of no such class. False: there is none. O(log open), and for a
 * queue with classes for each of those jobs before it.
 */
bool shares_first_open(const sched_t *s, const struct lane *lane, struct queue_entry *entry);

/* Whether the jobs' own priorities count among those of a queue, and before their deadlines and gangs. */
bool shares_by_priority(const sched_t *s, uint32_t slot);

bool shares_check(const sched_t *s);

#endif
