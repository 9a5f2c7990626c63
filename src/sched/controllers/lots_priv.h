/* What lots.c, lots_list.c and lots_shares.c share. */
#ifndef SCHED_LOTS_PRIV_H
#define SCHED_LOTS_PRIV_H

#include "sched/controllers/lots.h"
#include "sched/queues.h"
#include "share/tree.h"

enum lot_rank { LOT_GOES, LOT_SPARE, LOT_OTHER };

#define NO_GANG UINT32_MAX

struct lot {
    uint32_t slot;  /* one of it */
    uint32_t first; /* of its victims in the list, */
    uint32_t n;     /* which are so many */
    enum lot_rank rank;
    uint32_t gang; /* by number; NO_GANG */
    bool is_whole; /* what is left of that without the spare ones */
    bool by_share;
    bool is_taken;
    bool is_needed; /* for the job, as far as it is known */
    uint32_t near;  /* how deep below the root the two queues part; 0: or there are no shares */
    int64_t level, priority, work, at;
    struct queue_key key;
    int64_t amount[SHARE_DIMENSIONS_MAX];
};

struct lots_gang {
    struct gang *gang;
    uint32_t spare; /* lots of spare members, */
    uint32_t taken; /* of which so many are taken */
    bool is_whole;  /* and so is the rest */
};

/* What all lots of a lane follow from, beside the lane: they are the same as long as this is. */
struct lots_of {
    bool is_known; /* else they may be others for each job */
    uint32_t lane;
    unsigned asks;                               /* a bit for each resource that is asked for */
    uint64_t booked, runners, stopping, changes; /* how often these have changed */
};

struct lots {
    struct lots_of of;
    uint32_t slot;                        /* who asks, */
    uint32_t node;                        /* whose queue has this node in the tree of shares, */
    int64_t amount[SHARE_DIMENSIONS_MAX]; /* and for how much */
    lots_may may;
    bool is_going; /* it lists those alone that are being stopped */
    bool is_cut;   /* jobs of queues that give nothing by shares are not listed */
    struct lot *v;
    size_t n, cap;
    struct lots_gang *gang;
    size_t n_gangs, cap_gangs;
    uint32_t leaf; /* the node of the job's user */
    uint32_t
        n_nodes; /* so many nodes have an entry: queues and those above, or also users, where these count */
    int64_t *gone; /* by node and dimension: what leaves it; NULL: there are no shares */
};

/* lots_shares.c, where there are shares: what a job asks for, all of it that starts together, and whose it is. O(depth) */
void lots_measure(const sched_t *s, struct lots *lots, uint32_t slot);

/* And what goes of all without that job. Returns 0, or -1 with ENOMEM. O(stopping + nodes of queues), and stopping_list */
int lots_count_gone(sched_t *s, struct lots *lots, uint32_t slot);

/* Whether each lot of jobs that run on would be stopped by shares, and these give none of them as long as none is taken. O(as
 * reach_is_short).
 */
bool lots_none_is_let(sched_t *s, const struct lots *lots);

/* Whether shares may give a job anything of a lane, now or when more is gone; else nothing that is to be stopped by shares. O(as
 * share_may_give)
 */
bool lots_may_be_of(const sched_t *s, const struct lots *lots, uint32_t lane);

/* An amount leaves what a job is below, or is back (sign -1). */
void lots_note_gone(const sched_t *s, struct lots *lots, uint32_t slot, const int64_t *amount,
                    int64_t sign);

/* The nodes of a job's queue, and of its user or what else it is of, in the tree of shares. */
uint32_t lots_node(const sched_t *s, uint32_t slot);
uint32_t lots_leaf(const sched_t *s, uint32_t slot);

/* lots_list.c: list the lots in their order, and the victims of each; `going`: only of those that are being stopped already.
 * Returns 0, or -1 with ENOMEM.
 */
int lots_list(struct preemption *h, bool going);

/* lots_kept.c: what the lots of a job follow from, in a pass; and take those that the last search had, if they are the same.
 * False: they are to be listed.
 */
struct lots_of lots_of_job(const sched_t *s, const struct lots *lots);
bool lots_take_kept(struct preemption *h);

/* Free what a struct lots has, and it. NULL is fine. */
void lots_free(struct lots *lots);

#endif
