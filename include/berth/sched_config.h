/* Schedulers with named queues over a resource graph (RFC 33), their policies, and their configuration. */
#ifndef BERTH_SCHED_CONFIG_H
#define BERTH_SCHED_CONFIG_H

#include "berth/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Priorities go from the negative of these up to them: those of jobs, and those of queues. */
#define SCHED_PRIORITY_MAX       INT64_C(10000000000000)
#define SCHED_QUEUE_PRIORITY_MAX INT64_C(100000)

/* ---- Policies ---- */

#define SCHED_POLICIES_MAX 16 /* as many policies as there may be */

/* A policy, as those who configure schedulers and explain them need to know it. */
struct sched_policy {
    const char *name;

    /* What it does: a sentence without its full stop. */
    const char *summary;

    /* K, unless another is configured; SCHED_UNLIMITED: no bound. */
    int64_t depth;

    /* Another K can be configured, or, where there is no bound, one. */
    bool is_tunable;

    /* What queues and programs have where none is named. One policy is. */
    bool is_usual;
};

/* The names of the policies, ended by NULL. */
const char *const *sched_policies(void);

/* A policy by its place among the names, by its name (which may be NULL), and the usual one. NULL:
 * there is none. All of it is constant and belongs to the library.
 */
const struct sched_policy *sched_policy(size_t i);
const struct sched_policy *sched_policy_find(const char *name);
const struct sched_policy *sched_policy_usual(void);

/* ---- Queues ---- */

/* At most so much of something at once. */
struct sched_limit {
    /* A resource type ("node", "core", "gpu", ...), "running" or "pending" (jobs), or "duration" (ticks, of
     * one job). A resource counts as it is really held: of a node that a job has to itself, all of its
     * cores. "node" counts the nodes on which anything is held: of a user or a queue each
     * once, however many of their jobs share it.
     */
    const char *what;

    /* >= 0 or SCHED_UNLIMITED */
    int64_t most;
};

struct sched_limits {
    /* What one job may ask for or hold; a job over it is rejected. */
    const struct sched_limit *job;
    size_t n_job;

    /* What all jobs of a user in the queue may hold at a time, those that run and those that are promised one; a
     * job over it waits. If its turn comes and only such a limit has no room for it, it is promised the first
     * time at which both have, beside the depths of its queue; or it is blocked where the limit has promised
     * as many jobs a time as the queue's policy may, one at least. What a virtual queue doesn't name is
     * limited as in its parent, together with the jobs of the user there.
     */
    const struct sched_limit *user;
    size_t n_user;

    /* What all jobs in the queue may hold. */
    const struct sched_limit *queue;
    size_t n_queue;
};

/* Other limits for some users; what an exception doesn't name stays as it is. The first exception that
 * names a user, or one of their groups, applies to them.
 */
struct sched_exception {
    const char *const *users;
    size_t n_users;
    const char *const *groups;
    size_t n_groups;

    /* Of job and user; queue is ignored. */
    struct sched_limits limits;
};

/* Whether running jobs of a queue may be stopped for jobs of queues that are not preemptible, and then wait
 * again. That is done for any job that starts by it now and delays no reservation; as few jobs are stopped
 * as possible, of sets of so many that which loses the least work (cores times time run), then that whose jobs
 * have run for the shortest time together (berth-config(5) says up to how many sets are compared).
 */
enum sched_preemptible { SCHED_NOT_PREEMPTIBLE, SCHED_PREEMPT_CANCEL, SCHED_PREEMPT_REQUEUE };

/* For jobs of a queue jobs of others may be stopped, too, whatever `preemptible` says of these, which then wait again
 * (or don't, where it says cancel): of the same queue those of lower priority, or those of users who have more
 * (of all there is, of the resource of which that is most, over the weight) and will have no less than its own user when
 * both have given and taken; and where there are shares, of other
 * queues those that have more than they deserve, as far as its own queue has not what it deserves. That is done for a
 * job that starts by it now, on whatever it lacks, within limits or of resources. Those go first that their gangs can
 * spare; then others, and gangs as a whole: of queues of lower priority, of lower priority, with less work to be lost
 * (cores times time run), that have started last. Nobody is stopped in its first second, nor for a member beyond
 * its gang's min.
 */
enum {
    SCHED_PREEMPTS_LOWER = 1, /* these may be added up */
    SCHED_PREEMPTS_BORROWERS = 2,
    SCHED_PREEMPTS_NOBODY = 4, /* alone: not even jobs of preemptible queues */
    SCHED_PREEMPTS_RICHER = 8  /* not with LOWER; of a queue whose users take turns */
};

/* ---- Shares ---- */

/* What is compared to say which of several divisions, queues or users goes first. */
enum sched_comparator {
    /* the priority of the first job that waits: higher first */
    SCHED_BY_PRIORITY,

    /* what was received of what is deserved, of the resource of which that is the larger part: less first */
    SCHED_BY_SHARE,

    /* what was received of all there is, of the resource of which that is the larger part, over the weight */
    SCHED_BY_DRF,

    /* what was used, decayed, over the weight: less first */
    SCHED_BY_USAGE,

    /* running jobs: fewer first */
    SCHED_BY_FEWEST_RUNNING,

    /* the deadline of the first job that waits, in whole minutes: earlier first, none last. In a queue's order it
     * orders the jobs of each user too, before or behind their priorities as it stands there.
     */
    SCHED_BY_DEADLINE,

    /* whether the gang of the first job that waits has its min: first who lacks it, and who is of none. In a queue's order
     * it orders the jobs of each user too, where it stands there; not behind age or submit.
     */
    SCHED_BY_GANG,

    /* when the first job that waits was submitted, and in which order: earlier first */
    SCHED_BY_AGE,
    SCHED_BY_SUBMIT,
    SCHED_COMPARATORS
};

/* The name of a comparator; a constant. */
const char *sched_comparator_name(enum sched_comparator comparator);

/* A comparator by its name, or by the one of the kube-batch plugin that does the same; SCHED_COMPARATORS for a plugin
 * that orders nothing, and whose work is done whether or not it is named. -1: there is none; *why (may be NULL) is what
 * it has no meaning for here if it is one of the plugins, else NULL: a constant.
 */
int sched_comparator_find(const char *name, const char **why);

/* Which goes first: the first comparator for which two differ decides, and if there is none SCHED_BY_SUBMIT. */
struct sched_share_order {
    enum sched_comparator by[SCHED_COMPARATORS];
    size_t n; /* 0: the usual order */
};

/* What a division or a queue is to have of what is above it. */
struct sched_share {
    /* The division that it is part of; NULL: the machine. At most SCHED_DIVISION_LEVELS are part of each other. */
    const char *under;

    /* >= 1; 0: not given, which is 1. */
    int64_t weight;

    /* Of resources (`most` of each, >= 0): what it deserves at least when it asks for it, what it deserves
     * whatever its weight, and what it may have at most.
     */
    const struct sched_limit *guarantee;
    size_t n_guarantee;
    const struct sched_limit *deserved;
    size_t n_deserved;
    const struct sched_limit *capability;
    size_t n_capability;
};

/* Several queues, or divisions, that have a share together. */
struct sched_division {
    const char *name;
    struct sched_share share;
    struct sched_share_order order; /* of what is under it */
};

/* A node of the tree of shares: a division, a queue, an account or a user in a queue, or a user of an account there.
 * What is not of the name is NULL; all of it: the machine.
 */
struct sched_share_name {
    const char *division, *queue, *account, *user;
};

/* Whose jobs take turns within a queue: users; accounts and below each of these accounts and users; or classes of
 * users by their percentages.
 */
enum sched_share_by { SCHED_SHARE_NONE, SCHED_SHARE_USER, SCHED_SHARE_ACCOUNT, SCHED_SHARE_CLASS };

/* A class of users, and users that are of it, by a regular expression. */
struct sched_class {
    const char *name;
    int64_t percent; /* >= 0 */
};
struct sched_class_pattern {
    const char *pattern;
    const char *name; /* of the class */
};

/* The classes of a queue (berth/classes.h says what is allowed), and what they have percentages of. */
struct sched_classes {
    const struct sched_class *classes;
    size_t n;

    /* The first one that matches a user decides. */
    const struct sched_class_pattern *patterns;
    size_t n_patterns;

    /* The class of those whom no pattern matches; NULL: the one with the smallest percentage above 0. */
    const char *default_class;

    /* What a worker is: so much of each of these resources, which are among those of shares (`most` of each, >= 1);
     * none: a core.
     */
    const struct sched_limit *worker;
    size_t n_worker;

    /* The spread, in percent, above which rebalancing begins (0: never), and for how many ticks without a break it
     * must have been so.
     */
    int64_t rebalance_threshold, rebalance_duration;

    /* Of jobs of a class of which equally many workers are held, that goes first which is expected to take longest,
     * in whole seconds, rounded down, 2^32 - 3 at most; those of unknown end last. Not with a policy that has an order of its own.
     */
    bool longest_first;
};

/* A user, and what counts for how many. */
struct sched_weight {
    const char *name;
    int64_t weight; /* >= 1 */
};

/* What is the same for all shares. There are none unless a queue or this says something of them. */
struct sched_shares {
    /* Types of resources that count; none: core, gpu and memory. At most SCHED_SHARE_RESOURCES. */
    const char *const *resources;
    size_t n_resources;

    /* Ticks in which what was used counts half; 0: a week; SCHED_UNLIMITED: it does not decay. */
    int64_t half_life;

    /* Of the divisions and queues that are in no division. */
    struct sched_share_order order;
    const struct sched_division *divisions;
    size_t n_divisions;
};

/* What jobs are charged to. Where there are accounts each new job is of one, and accounts may be part of others. A
 * job keeps its account. One whose account another configuration has no more, or whose user had none when that came,
 * is of the user beside the accounts.
 */
struct sched_account {
    const char *name;

    /* The account that it is part of; NULL: of none. At most SCHED_ACCOUNT_LEVELS are part of each other. */
    const char *under;

    /* Among the accounts and users of the account that it is part of. >= 1; 0: not given, which is 1. */
    int64_t weight;

    /* Whose jobs it takes, and those of these users that have a weight other than 1 among them. */
    const char *const *users;
    size_t n_users;
    const struct sched_weight *weights;
    size_t n_weights;

    /* Those of its users whose jobs are of it where they name none. Of others, that is the first account that they
     * are a user of.
     */
    const char *const *default_for;
    size_t n_default_for;

    /* What all its jobs, and those of the accounts that are part of it, may hold at a time, in all queues together:
     * as the limits of a queue.
     */
    const struct sched_limit *limits;
    size_t n_limits;
};

#define SCHED_ACCOUNT_LEVELS   16
#define SCHED_DIVISION_LEVELS  16
#define SCHED_SHARE_RESOURCES  8
#define SCHED_SHARE_WEIGHT_MAX INT64_C(1000000)

/* A named queue. Strings and arrays are copied. */
struct sched_queue_config {
    const char *name;

    /* Of a virtual queue: its jobs are jobs of the parent, but it has its own limits (those of a user and
     * exceptions, if it has any), priority, users and default duration. NULL: a queue of its own.
     */
    const char *parent;

    /* NULL: the usual one (sched_policy_usual). */
    const char *policy;

    /* Waiting jobs that a pass considers (0: all), and a bound on that (0: none). Those that what is up could not run, were it
     * idle, don't count, nor do those of classes that start nothing. They cost O(open jobs) after each change of the machine.
     */
    int64_t queue_depth;
    int64_t max_queue_depth;

    /* Jobs that may hold a reservation, of a tunable policy with a bound (0: its default); and a bound on
     * that for every tunable policy (0: none).
     */
    int64_t reservation_depth;
    int64_t max_reservation_depth;

    /* Which resources its jobs may use: an RFC 31 constraint as JSON; NULL: all. */
    const char *requires;

    /* Jobs of a queue with a higher one go first: they know nothing of what lower queues were promised, which
     * gives way. The first job of a higher queue that promises nothing (K = 0) is not delayed by lower
     * queues either; it holds no reservation, as jobs of its own level may go before it.
     */
    int64_t priority;

    /* Who may submit; no users and no groups: everybody. */
    const char *const *users;
    size_t n_users;
    const char *const *groups;
    size_t n_groups;

    /* Ticks that a job without a limit and an estimate is expected to take; SCHED_UNLIMITED: nobody knows.
     * 0: that of all queues.
     */
    int64_t default_duration;

    /* Ticks, the limit of a job that names none; SCHED_UNLIMITED: none. 0: that of all queues. */
    int64_t default_limit;

    /* Ticks for which a job of the queue waits until it is starving; SCHED_UNLIMITED: it never is. And how many
     * starving jobs may have a claim at a time. 0: that of all queues.
     */
    int64_t starvation_threshold;
    int64_t claims;

    /* Ticks after its submission at which the deadline of a job is that names none; SCHED_UNLIMITED: it has none.
     * 0: that of all queues.
     */
    int64_t sla_waiting_time;

    enum sched_preemptible preemptible;

    /* Whom its jobs may have stopped beside those of preemptible queues: SCHED_PREEMPTS_..., 0: nobody. */
    unsigned preempts;

    /* Jobs of any queue whose end nobody knows may run, too, on what is claimed for its jobs (berth-config(5)). */
    bool claims_admit_unknown;

    /* Its gangs are not stopped whole for others: they lose members beyond their min only. */
    bool keeps_gangs;
    struct sched_limits limits;
    const struct sched_exception *exceptions;
    size_t n_exceptions;

    /* Of a virtual queue: the exceptions are those of its parent; it has none itself. */
    bool has_parents_exceptions;

    /* Its share of the machine, or of a division; and how its own jobs take turns: by whom, in which order, with
     * weights other than 1 for some users; those of accounts and their users are the accounts'. Where nobody takes
     * turns, the order says whether deadlines and gangs count: it may have priority, deadline, gang, age and submit,
     * and not with a policy that has an order of its own. A virtual queue has those of its parent, and none of its own.
     */
    struct sched_share share;
    enum sched_share_by by;
    struct sched_share_order order;
    const struct sched_weight *weights;
    size_t n_weights;

    /* Where it is by class: there is one at least. Then the queue has no order and no weights. */
    struct sched_classes classes;
};

/* Resources set aside for a time. Jobs that may not use them are planned around them. */
struct sched_block {
    const char *name;

    /* Names or paths, with ranges, or ranks: "node[0-3],node7", "/cluster0/rack1", "rank:[0-3]"; or "all". */
    const char *resources;

    /* From `start` on for `duration` ticks (>= 1), and again each `every` ticks (> duration; 0: once). */
    int64_t start;
    int64_t duration;
    int64_t every;

    /* Whose jobs may use it, jobs of which queues, and which jobs, by id. All empty: nobody. */
    const char *const *users;
    size_t n_users;
    const char *const *queues;
    size_t n_queues;
    const char *const *jobs;
    size_t n_jobs;
};

/* What answers may cost, unless a configuration says otherwise. */
#define SCHED_ENDED_JOBS      262144
#define SCHED_WHAT_IF_HOLDERS 1024
#define SCHED_WHAT_IF_TRIES   1000

/* What a pass does for jobs: those start, or are promised a time, that have a promise to get or wait for none (allocate);
 * those behind them start where that delays nobody (backfill); and for those that start in neither way, others are
 * stopped of preemptible queues and of lower priority (preempt), or of who has more than it deserves (reclaim).
 */
enum sched_action {
    SCHED_ACTION_RECLAIM,
    SCHED_ACTION_ALLOCATE,
    SCHED_ACTION_PREEMPT,
    SCHED_ACTION_BACKFILL,
    SCHED_ACTIONS
};

struct sched_config {
    /* Ticks in one, >= 1; jobspecs give durations in seconds. */
    int64_t second;

    /* 0 queues: one, named "default", with the default of everything. */
    const struct sched_queue_config *queues;
    size_t n_queues;

    /* NULL: the only one; if there are several, a job must name one. */
    const char *default_queue;

    /* Ticks, of queues that name none: what a job without a limit and an estimate is expected to take, an
     * hour if 0, SCHED_UNLIMITED if nobody knows; and the limit of a job that names none, none if 0.
     */
    int64_t default_duration;
    int64_t default_limit;

    /* Of queues that name none: as theirs. 0: no job is ever starving; 1; and there are no deadlines. */
    int64_t starvation_threshold;
    int64_t claims;
    int64_t sla_waiting_time;

    /* Ticks between passes that events ask for (sched_next_time), 0: none; and the number of events after
     * which a pass is due all the same, 0: unlimited.
     */
    int64_t min_interval;
    int64_t max_events;

    /* Actions of a pass, each for all jobs before the next one; one that is left out is not done. 0: all of them, job by
     * job.
     */
    enum sched_action actions[SCHED_ACTIONS];
    size_t n_actions;

    /* At most 64 at a time, those of sched_block among them. */
    const struct sched_block *blocks;
    size_t n_blocks;

    struct sched_shares shares;
    const struct sched_account *accounts;
    size_t n_accounts;

    /* Ended jobs that later ones may depend on: the last ones, each member of an array counted. To depend
     * on an older one is to depend on a job that does not exist. Some 150 bytes each; 0: SCHED_ENDED_JOBS.
     */
    int64_t ended_jobs;

    /* For sched_what_if: promises to jobs behind it that are set aside, at most, and 16 times as many
     * looked at to find them; and looks at jobs of one kind, or blocked ones, before it. 0:
     * SCHED_WHAT_IF_HOLDERS, SCHED_WHAT_IF_TRIES. Beyond these the answer may be no where it is yes.
     */
    int64_t what_if_holders;
    int64_t what_if_tries;
};

/* Whether a scheduler could have this configuration: all that sched_create checks that needs no machine. Returns 0, or
 * -1 with EINVAL and a text that names the queue and the key, or ENOMEM. As long as copying it takes, plus the square
 * of the number of divisions.
 */
int sched_check_config(const struct sched_config *config, berth_error_t *err);

/* A scheduler with named queues over a matcher's machine. The matcher has no jobs, outlives the
 * scheduler, and nobody else changes it meanwhile. EINVAL with a text that names the queue and the
 * key: a wrong configuration; ENOMEM.
 *
 * Jobs of all queues are considered in one order: priority of the queue, priority of the job, time
 * of submission, order of submission. Where a policy has an order of its own, its rank, from
 * -SCHED_PRIORITY_MAX - 1 up to SCHED_PRIORITY_MAX, takes the place of the job's priority, which is
 * the rank -1 - priority of others: queues of one priority that share resources should have one
 * order. Reservations name resources.
 */
sched_t *sched_create(struct match *machine, const struct sched_config *config, berth_error_t *err);

/* Change the configuration; every job and allocation is kept, or nothing is changed. The next pass gives up
 * reservations that are over the new limits, the last ones in queue order first, makes those anew that limits
 * have promised, and rejects waiting jobs
 * that can never start any more (sched_submit): by the part of the machine that their queue has from now on,
 * its limits, or blocks. EINVAL: it is wrong, or a queue that has jobs is missing; ENOMEM.
 */
int sched_configure(sched_t *s, int64_t now, const struct sched_config *config, berth_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
