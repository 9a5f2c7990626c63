/* A configuration, checked, copied and resolved: what the core goes by until the next one.
 *
 * Nothing in it changes once it is made, so that another configuration is another setup, and one that is
 * wrong leaves the old one in place. Names are looked up in O(length); lists of users and groups are read
 * through.
 */
#ifndef SCHED_SETUP_H
#define SCHED_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blocks.h"
#include "base/intern.h"
#include "berth/error.h"
#include "berth/sched_config.h"
#include "sched/config/deadlines.h"
#include "sched/config/gang_ranks.h"
#include "sched/config/order.h"
#include "sched/config/setup_accounts.h"
#include "sched/config/setup_shares.h"

#define SETUP_NONE UINT32_MAX

/* A queue, numbered as the configuration has it. A virtual queue has depth, order, queue_depth,
 * requires and preemptible from its parent; the rest is its own.
 */
struct setup_queue {
    const char *name;
    uint32_t parent; /* itself, or the queue that its jobs are in, which is not virtual */
    int64_t depth;   /* K: jobs that may hold a reservation; SCHED_UNLIMITED: all */
    order_rank *order;
    int64_t queue_depth; /* waiting jobs that a pass considers; SCHED_UNLIMITED: all */
    int64_t priority;    /* of any sign; higher goes first */
    /* Ticks, >= 1, or SCHED_UNLIMITED: its own, else its parent's, else that of all queues, else an hour, and
     * no limit.
     */
    int64_t default_duration, default_limit;
    int64_t starvation_threshold; /* ticks, >= 1, or SCHED_UNLIMITED; inherited as these */
    int64_t claims;               /* >= 1 */
    int64_t sla_waiting_time;     /* ticks, >= 1, or SCHED_UNLIMITED */
    enum deadlines deadlines;
    enum gangs gangs;
    const char *requires; /* an RFC 31 constraint as JSON; NULL: all resources */
    enum sched_preemptible preemptible;
    unsigned preempts;                       /* SCHED_PREEMPTS_..., its own, */
    bool preempts_nobody;                    /* of which this is apart */
    bool claims_admit_unknown;               /* its own */
    unsigned any_preempts;                   /* and those of its virtual queues */
    bool keeps_gangs;                        /* its own */
    const struct sched_queue_config *config; /* the copy */
};

#define DOES(action) (1u << SCHED_ACTION_##action)

struct setup {
    int64_t second; /* ticks, >= 1 */
    struct setup_queue *queue;
    uint32_t n_queues;      /* >= 1 */
    uint32_t default_queue; /* SETUP_NONE: a job must name one */
    bool is_named;          /* its queues have names and priorities; else there is one */
    bool has_levels;        /* the priorities of its queues differ */
    bool has_deadlines;     /* some queue goes by those of its jobs, */
    bool has_gangs;         /* and some by their gangs */
    int64_t
        ranks_of_priority; /* >= 1: into which jobs of one priority may be told apart by classes and gangs */
    unsigned actions;              /* what passes do, as bits of SCHED_ACTION_..., */
    unsigned round[SCHED_ACTIONS]; /* and in each round of a walk, one after the other */
    uint8_t n_rounds;              /* >= 1 */
    bool starves;                  /* jobs of some queue may become starving, */
    bool admits_unknown;           /* and claims of some admit jobs of unknown end */
    bool preempts;        /* of some queue they may have those stopped that are not preemptible */
    bool stops_any;       /* or some are preemptible, or have classes that rebalance */
    int64_t min_interval; /* ticks, >= 0 */
    int64_t max_events;   /* >= 1; SCHED_UNLIMITED if the configuration has 0 */
    uint64_t ended_jobs;  /* that later ones may depend on, >= 1 */
    uint64_t what_if_holders, what_if_tries; /* >= 1 */
    const struct sched_block *block;         /* n_blocks <= BLOCKS_MAX */
    size_t n_blocks;
    struct setup_shares shares;
    struct setup_accounts accounts;

    struct sched_config *config; /* all of what was given, in one allocation */
    struct intern names;         /* of the queues, by number */
};

/* Check a configuration and copy it. NULL with EINVAL and a text that names the queue (or block) and the
 * key: it is wrong; ENOMEM.
 *
 * Wrong are: a second < 1; names that are missing, empty or come twice; a policy that there is none; a
 * parent that is the queue itself, unknown or virtual; a default queue that is unknown; negative numbers,
 * but for priorities; in limits, what comes twice, "running" or "pending" for a job and "duration" for a
 * user or a queue; an exception for nobody; an unknown way of being preempted; of blocks, more than
 * BLOCKS_MAX and what setup_check_block says.
 */
struct setup *setup_create(const struct sched_config *config, berth_error_t *err);

/* The setup of a scheduler with one queue, which has no name. NULL with EINVAL or ENOMEM and a text. */
struct setup *setup_unnamed(const struct sched_params *params, berth_error_t *err);

/* NULL is fine; errno is kept. */
void setup_destroy(struct setup *setup);

/* A queue's number by its name, or SETUP_NONE. */
uint32_t setup_find(const struct setup *setup, const char *name);

/* Whether a text is one of a list's. */
bool text_is_listed(const char *const *texts, size_t n, const char *text);

/* Whether a user, or one of a user's groups, may submit to a queue: its own lists say so, or both are
 * empty. NULL is the user "".
 */
bool setup_admits(const struct setup *setup, uint32_t queue, const char *user,
                  const char *const *groups, size_t n_groups);

/* ---- Blocks ---- */

/* Whether a block is as it should be: it has a name and resources, a start >= 0, a duration >= 1, ends
 * within int64, every 0 or longer than that, and known queues. Returns 0, or -1 with EINVAL and a text.
 */
int setup_check_block(const struct setup *setup, const struct sched_block *block,
                      berth_error_t *err);

/* A copy of a block in one allocation, to be freed with free(); NULL with ENOMEM. */
struct sched_block *setup_copy_block(const struct sched_block *block);

/* Whether a job may use a block: the block names its user, its queue or that queue's parent, or its id.
 * user and id may be NULL. O(what the block names).
 */
bool setup_permits(const struct setup *setup, const struct sched_block *block, uint32_t queue,
                   const char *user, const char *id);

#endif
