/* What shares say now: who deserves how much, and has how much, of a scheduler with named queues whose
 * configuration says something of shares (berth/sched_config.h).
 */
#ifndef BERTH_SCHED_SHARES_H
#define BERTH_SCHED_SHARES_H

#include "berth/sched.h"
#include "berth/sched_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a node of the tree stands for. */
enum sched_share_kind {
    SCHED_SHARE_OF_MACHINE, /* the root: all there is */
    SCHED_SHARE_OF_DIVISION,
    SCHED_SHARE_OF_QUEUE,
    SCHED_SHARE_OF_ACCOUNT, /* below a queue, or another account */
    SCHED_SHARE_OF_USER,    /* of the queue or account above it */
    SCHED_SHARE_OF_CLASS,   /* of users of the queue above it; its weight is its percentage */
    SCHED_SHARE_KINDS
};

/* The name of a kind: "machine", "division", ...; a constant. */
const char *sched_share_kind_name(enum sched_share_kind kind);

/* Amounts by resource, in the order of struct sched_share_report's. */
struct sched_share_amounts {
    int64_t of[SCHED_SHARE_RESOURCES];
};

/* One node. It comes behind the node above it, and what is below it comes right behind it. */
struct sched_share_node {
    enum sched_share_kind kind;
    const char *name; /* of the machine "" */
    size_t above;     /* which one of the nodes; of the machine itself */
    size_t depth;     /* of the machine 0 */
    int64_t weight;   /* >= 1 */

    /* As configured. capability: SCHED_UNLIMITED where there is none; of the machine, what there is. */
    struct sched_share_amounts guarantee, capability;

    /* Of an account: what its jobs may have in all queues together. Else none. */
    const struct sched_limit *limits;
    size_t n_limits;

    struct sched_share_amounts deserved; /* of the machine, what is asked for of what there is */
    struct sched_share_amounts received; /* what its jobs run on or are promised */
    struct sched_share_amounts running;  /* of that, what they run on */
    struct sched_share_amounts demand;   /* what it has received and its open jobs ask for */

    /* What was used, decayed, as an average: usage + usage_part / 2^32, in the unit of the amounts, which are
     * added up over the resources.
     */
    int64_t usage;
    uint32_t usage_part;

    /* Jobs, of an array each member; a gang that is promised one time is one. */
    uint64_t n_running, n_promised, n_open;

    /* The resource of which it has received the largest part of what it deserves, by number: of equal ones
     * the first, of none at all 0. There the part is share_of / share_out_of (1 where it deserves nothing),
     * and its share error is received - deserved.
     */
    size_t dominant;
    int64_t share_of, share_out_of; /* share_out_of > 0 */
    int64_t error;
};

struct sched_share_report {
    const char *const *resources; /* the types that count */
    size_t n_resources;           /* 0: there are no shares */
    int64_t half_life;            /* ticks, or SCHED_UNLIMITED */
    const struct sched_share_node *nodes;
    size_t n_nodes;
};

/* Write the tree as of `now`, or as of the last call if that is later. It decides nothing: all decisions to
 * come are the same as without the question. What the report points to belongs to the core and is valid until
 * the next such question, or call that changes anything. Without shares, and of a scheduler without named
 * queues, it is all zero. Returns 0, or -1 with ENOMEM. O(nodes), of which each user who has had a job is one.
 */
int sched_shares_now(sched_t *s, int64_t now, struct sched_share_report *report);

/* ---- Whose turn is before a job's ---- */

#define SCHED_TURN_FIRST 4 /* of those that go first, by name */

/* Some who are beside each other go before one that stands for the job: its user, or an account, a queue or a
 * division that its queue is in.
 */
struct sched_share_turn {
    size_t own; /* which one of the nodes stands for the job */

    /* An enum sched_comparator, the first that tells them apart; -1: none does, and they are known longer. */
    int by;

    /* How many go first by that. The first of these are the nodes `first`, in their order. */
    size_t n;
    size_t first[SCHED_TURN_FIRST];

    /* The jobs that stand for these, and for `own`, where jobs are compared. */
    sched_job_t first_job[SCHED_TURN_FIRST], own_job;
};

struct sched_share_turns {
    struct sched_share_report report;
    const struct sched_share_turn *turns; /* from the machine down */
    size_t n_turns;

    /* Jobs that wait and go first in the same queue, of the same user where users take turns (is_user). */
    uint64_t n_own;
    bool is_user;
};

/* Who would have the next turn before a job that waits and is promised nothing, as of `now`, or as of the last call if
 * that is later: of those with such jobs in queues of the same priority, by what all have received and used. It decides
 * nothing. What it points to is valid as that of sched_shares_now. All zero for a job that does not wait so, and where
 * there are no shares, or classes.
 * Returns 0, or -1: EINVAL (there is no such job), ENOMEM. O(nodes x depth).
 */
int sched_share_turns(sched_t *s, int64_t now, sched_job_t job, struct sched_share_turns *turns);

/* Whether a job that waits deserves what it asks for, and a running one has what its user, account, queue or
 * division has beyond what that deserves: were jobs stopped for shares, that one might be for this one. False
 * where there are no shares. O(depth), and what is worked out first.
 */
bool sched_share_may_take(sched_t *s, sched_job_t job, sched_job_t running);

/* A class of a queue, in workers: what it is meant to have of all that the queue has, what its jobs run on, are
 * promised and, open, ask for, and what it runs on beyond its target. Texts are valid until the next configuration.
 */
struct sched_class_now {
    const char *queue, *name;
    int64_t percent, target, running, promised, waiting, borrowed;
};

/* All classes, by queue, the largest percentage first. They hold until the next call. Returns 0, or -1 with ENOMEM.
 */
int sched_classes_now(sched_t *s, const struct sched_class_now **classes, size_t *n);

/* Whose turn it is before a job's in a queue with classes. */
struct sched_class_turn {
    const struct sched_class_now *own;  /* the job's class; NULL: there is nothing to say */
    const struct sched_class_now *next; /* the one that has the next worker; perhaps its own */
    uint64_t n_own; /* jobs of its class that wait before it, an array being one */

    /* All classes of the queue. */
    const struct sched_class_now *classes;
    size_t n;
};

/* Write it for a job that waits and is promised nothing. It decides nothing, and what it points to is valid until the
 * next such call or that of sched_classes_now. `own` is NULL where the queue has no classes, and for a class of 0
 * percent. Returns 0, or -1: EINVAL (there is no such job), ENOMEM. O(open + running).
 */
int sched_class_turn(sched_t *s, sched_job_t job, struct sched_class_turn *turn);

#ifdef __cplusplus
}
#endif

#endif
