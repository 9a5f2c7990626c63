/* Shares: which leaf of the tree a job is of, and what each leaf has (share/tree.h).
 *
 * The machine is the root; below it stand divisions and queues, as the configuration says, and below a queue
 * whose users take turns, its users; below one whose accounts do, all accounts, and below each of these its users;
 * below one whose classes do, all classes. A job is of a leaf: its user's, its class's or its queue's. The open jobs
 * of a user or a class have a line of their own in the lane of their queue.
 *
 * There are no shares where the configuration says nothing of any: then nothing here is called.
 */
#ifndef SCHED_SHARES_H
#define SCHED_SHARES_H

#include "base/intern.h"
#include "sched/sched_priv.h"
#include "sched/waiting/class_turns.h"
#include "sched/waiting/share_of_job.h"
#include "share/tree.h"

struct setup;
struct reach;

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
    struct reach *reach;             /* controllers/reach.h; NULL: nobody has asked for it yet */
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

/* The classes of a leaf's queue; NULL: it has none. */
struct class_turns *leaf_turns(const sched_t *s, const struct leaf *leaf);

/* Whose leaf a node is; false: it is none of a user's. And the node of a user's leaf; -1: it is not there,
 * and is not to be made, or with ENOMEM.
 */
bool leaf_whose(const struct shares *shares, uint32_t node, struct whose *whose);
int64_t leaf_node(sched_t *s, const struct whose *whose, bool make);

/* The comparator that share_compare tells of; -1: the order of nodes. */
int shares_comparator(enum share_by by);

/* Whether the jobs' own priorities count among those of a queue, and before their deadlines and gangs. */
bool shares_by_priority(const sched_t *s, uint32_t slot);

bool shares_check(const sched_t *s);

#endif
