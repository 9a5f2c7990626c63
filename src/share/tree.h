/* A tree of shares: who has received how much of what there is, how much each deserves, and who is next.
 *
 * The root is what there is; below it stand queues in a hierarchy, below these accounts, users or classes,
 * as the caller likes. Jobs are at leaves. The tree knows no jobs, queues' names or machines: it adds up what
 * it is told. Time is an argument; all numbers are integers; there is no global state.
 *
 *  - Deserved: weighted water filling (max-min fairness) of what a node deserves among its children, in each
 *    dimension on its own, guarantees first, capabilities last, exact to the unit (deserve.c).
 *  - Dominant resource fairness: Ghodsi et al., "Dominant Resource Fairness", NSDI 2011. As there, a share is
 *    the largest of the shares in all dimensions. Unlike there, jobs need not be alike.
 *  - Usage fades with a half-life and is compared among siblings only, from the root down, as in Slurm's Fair
 *    Tree. Unlike there, it is divided by the weight instead of compared as a ratio of two shares, which puts
 *    siblings in the same order; and a node that has used nothing goes by its other comparators.
 *  - Deserved as configured, guarantees and capabilities are those of Volcano's plugins `capacity` and
 *    `proportion`, with one test for who may take and who may lose.
 *
 * Units: an amount is a whole number of whatever its dimension counts (cores, bytes), from 0 to SHARE_MOST;
 * so is the sum of the amounts of all jobs in a tree, and the sum of all guarantees. Times are in the
 * caller's ticks and don't go back: one before the latest counts as the latest.
 *
 * Errors: a call returns 0, or -1 with errno and nothing changed: EINVAL for an argument out of its range or
 * a node that is not there or of the wrong kind, EOVERFLOW for a sum beyond SHARE_MOST, ENOMEM. Calls that
 * return nothing can't fail. Ownership: the tree owns its memory and keeps no pointer that it is given.
 *
 * Complexity: with d levels, f children of a node and a fixed number of dimensions, an event costs
 * O(d log f), and so does the question who is next; with SHARE_BY_SHARE, for each child as well that deserves another
 * amount by what has happened. These are whoever asks for another amount, and siblings that ask for more than they deserve
 * if that one asks, or asked, for no more (level.c). A start changes no demand; an end and a submission do. It is O(f) for
 * each node on the way to the answer where guarantees add up to more than there is; if what a node deserves has changed
 * of whose children one's is configured; and if settings or, with SHARE_BY_USAGE, the time have changed. Where jobs' own
 * keys compare inner nodes (SHARE_BY_JOB_PRIORITY, SHARE_BY_GANG, SHARE_BY_DEADLINE, SHARE_BY_AGE, SHARE_BY_SUBMIT), all inner nodes below
 * with offered leaves are on the way.
 */
#ifndef SHARE_TREE_H
#define SHARE_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum { SHARE_DIMENSIONS_MAX = 8, SHARE_BY_MAX = 11, SHARE_DEPTH_MAX = 64 };

#define SHARE_MOST          (INT64_C(1) << 60) /* the largest amount, and the largest sum of amounts */
#define SHARE_UNLIMITED     INT64_MAX          /* a capability: none */
#define SHARE_UNSET         INT64_C(-1) /* a configured deserved amount: goes by the weight */
#define SHARE_WEIGHT_MAX    1000000000  /* the largest weight */
#define SHARE_HALF_LIFE_MAX (INT64_C(1) << 46)
#define SHARE_NODES_MAX     (UINT32_C(1) << 20)
#define SHARE_ROOT          UINT32_C(0)
#define SHARE_NO_NODE       UINT32_MAX

/* What compares the children of a node, as their parent lists it; the first that tells two apart decides, at
 * last the order in which they were added. So who makes a tree anew adds its nodes in the same order, or ends
 * its lists with SHARE_BY_SUBMIT. An inner node stands for the leaf that would be chosen in it: its job is that
 * leaf's first job.
 */
enum share_by {
    SHARE_BY_END,           /* ends a list */
    SHARE_BY_NODE_PRIORITY, /* of the node itself, the larger first */
    SHARE_BY_JOB_PRIORITY,  /* of the first job, the larger first */
    SHARE_BY_SHARE, /* dominant received over deserved, the smaller first: entitled before loans */
    SHARE_BY_DRF,   /* dominant received over what there is, over the weight, the smaller first */
    SHARE_BY_USAGE, /* usage over the weight, the smaller first */
    SHARE_BY_FEWEST_RUNNING, /* jobs that run, the fewer first */
    SHARE_BY_RANK,           /* as the caller ranks the node (share_rank), the smaller first */
    SHARE_BY_GANG,           /* the first job, if it is not known as having its min, first */
    SHARE_BY_DEADLINE,       /* of the first job, the earlier first */
    SHARE_BY_AGE,            /* since when the first job waits, the earlier first */
    SHARE_BY_SUBMIT,         /* the number of the first job, the smaller first */
    SHARE_BYS
};

/* What is configured of a node. share_default_settings gives what stands in brackets. */
struct share_settings {
    int32_t weight; /* 0 to SHARE_WEIGHT_MAX; 0: deserves its guarantee only, and loans last [1] */
    int32_t priority; /* for SHARE_BY_NODE_PRIORITY [0] */

    /* The guarantee is kept for the node even while it does not ask for it [false]. */
    bool keeps_guarantee;

    int64_t guarantee[SHARE_DIMENSIONS_MAX];  /* deserved before weights count [0] */
    int64_t capability[SHARE_DIMENSIONS_MAX]; /* never more than this, or SHARE_UNLIMITED [that] */

    /* Deserved, whatever the weight, or SHARE_UNSET [that]. */
    int64_t deserved[SHARE_DIMENSIONS_MAX];

    uint8_t by[SHARE_BY_MAX]; /* enum share_by: what compares the node's children [none] */
};

/* How use is counted: the sum over dimensions of the weight times what runs, fading by half in half_life. */
struct share_usage_rule {
    int64_t half_life;                     /* ticks, 1 to SHARE_HALF_LIFE_MAX */
    int64_t weights[SHARE_DIMENSIONS_MAX]; /* 0 to 2^20 */
};

/* Where a job is in its life. What waits, is promised or runs is demanded; of that, what is promised or runs
 * is received; what runs is used.
 */
enum share_state { SHARE_ABSENT, SHARE_WAITING, SHARE_PROMISED, SHARE_RUNNING };

/* The first job of a leaf, as far as comparators ask. */
struct share_first {
    int64_t priority;
    int64_t deadline; /* INT64_MAX: none */
    int64_t since;    /* waits since then */
    uint64_t submit;
    bool has_min; /* its gang has as many as it needs; others go first */
};

/* What is known of a node. */
struct share_view {
    uint32_t parent; /* SHARE_NO_NODE: it is the root */
    uint32_t children;
    uint64_t jobs[SHARE_RUNNING + 1]; /* by state; none of SHARE_ABSENT */
    int64_t waiting[SHARE_DIMENSIONS_MAX];
    int64_t received[SHARE_DIMENSIONS_MAX];
    int64_t running[SHARE_DIMENSIONS_MAX]; /* of what is received */

    /* What it could take: waiting and received, never more than its capability; and for its parent, the sum
     * of its children's and what guarantees keep.
     */
    int64_t demand[SHARE_DIMENSIONS_MAX];

    int64_t deserved[SHARE_DIMENSIONS_MAX];
    struct share_settings settings;
};

/* A fraction; 0/1 for nothing. */
struct share_fraction {
    int64_t numerator;
    int64_t denominator; /* greater than 0 */
};

struct share_tree;

/* Make a tree of a root with so many dimensions, 1 to SHARE_DIMENSIONS_MAX, and what there is in each.
 * Without a rule nothing is used. Returns NULL with EINVAL or ENOMEM.
 */
struct share_tree *share_new(uint32_t dimensions, const int64_t *total,
                             const struct share_usage_rule *rule);
void share_free(struct share_tree *t); /* NULL: nothing */

uint32_t
share_nodes(const struct share_tree *t); /* nodes are numbered from 0, the root, in order */
uint32_t share_dimensions(const struct share_tree *t);
uint32_t share_parent(const struct share_tree *t,
                      uint32_t node); /* SHARE_NO_NODE: it is the root */

/* How deep the node is below which both are, a node being below its parent and not below itself; the root
 * has depth 0. O(depth). */
uint32_t share_common_depth(const struct share_tree *t, uint32_t a, uint32_t b);

void share_default_settings(struct share_settings *s);

/* Add a node below another that has no jobs of its own. Returns its number, or SHARE_NO_NODE with errno. */
uint32_t share_add(struct share_tree *t, uint32_t parent, const struct share_settings *s);

/* Change settings, also of the root, of which only the list of comparators counts. O(d). */
int share_set(struct share_tree *t, uint32_t node, const struct share_settings *s);

/* Change what there is. */
int share_set_total(struct share_tree *t, const int64_t *total);

/* Tell that `n` jobs of a leaf, with what they ask for together, have passed from a state to another; from SHARE_ABSENT
 * they come, and to SHARE_ABSENT they go. The tree keeps no jobs: the caller passes jobs with the same number and amount
 * each time, and asserts hold it to what has been told. Fails only for jobs that come. O(d log f).
 */
int share_job(struct share_tree *t, uint32_t leaf, enum share_state from, enum share_state to,
              uint64_t n, const int64_t *amount, int64_t now);

/* Counts on with whatever may change what a node has or deserves: jobs, settings, nodes, what there is. */
uint64_t share_changes(const struct share_tree *t);

/* What is known of a node, with what it deserves. */
void share_look(struct share_tree *t, uint32_t node, struct share_view *view);

/* The dominant share of a node: the largest of received over deserved in the dimensions that it deserves
 * anything of or has received anything of; there 1 where it deserves nothing; and 1 if it deserves nothing
 * at all. Below 1 it is entitled, above it has loans.
 */
struct share_fraction share_of(struct share_tree *t, uint32_t node);

/* True if a leaf may receive this besides what it has: no capability of it or of a node above it is
 * exceeded, and no guarantee that others keep is touched. O(d).
 */
bool share_allows(struct share_tree *t, uint32_t leaf, const int64_t *amount);

/* What a node may have at most: its capability, or what its parent may have and the guarantees that its
 * siblings keep leave of it; SHARE_UNLIMITED where nothing limits it.
 */
void share_room(struct share_tree *t, uint32_t node, int64_t *room);

/* True if a leaf deserves this besides what it has: so do it and all nodes above it but the root, in each
 * dimension in which the amount is not 0. O(d), and what is worked out first.
 */
bool share_is_entitled(struct share_tree *t, uint32_t leaf, const int64_t *amount);

/* True if one node may take an amount from another that would give up another amount. Below the node where
 * the two part, the taker and the nodes above it are entitled to the amount in all dimensions of which the giver
 * gives something (it may borrow others), and in one of these that the taker asks for, the giver and the nodes
 * above it have more than they deserve; none of these ends up below its guarantee. Entitled nodes never have more
 * than they deserve in what they took, so nothing goes back in turn. What nodes are about to lose counts as received
 * no more: `gone`, for each node in order all dimensions; NULL: nothing. O(d), and what is worked out first.
 */
bool share_may_reclaim(struct share_tree *t, uint32_t taker, const int64_t *amount, uint32_t giver,
                       const int64_t *given, const int64_t *gone);

/* Whether a node may have anything that another takes from it: if not, share_may_reclaim is false whatever is given, also when more
 * is gone. O(d), and what is worked out first.
 */
bool share_may_give(struct share_tree *t, uint32_t taker, const int64_t *amount, uint32_t giver,
                    const int64_t *gone);

/* Whether a node may take an amount from another so that they have more alike: where the two part, of all there is and over
 * the weight, the taker has less, and when it has the amount and the other has given, no more; and the giver keeps its
 * guarantees. The part is that of the resource of which it is largest; without a weight it is more than any with one. Whoever
 * takes, the lesser of the two parts is no less afterwards, and larger where it takes of what it has most of.
 * `gone` as above. O(d).
 */
bool share_may_even_out(const struct share_tree *t, uint32_t taker, const int64_t *amount,
                        uint32_t giver, const int64_t *given, const int64_t *gone);

/* Offer a leaf for the choice, with its first job, or offer it anew with another. */
void share_offer(struct share_tree *t, uint32_t leaf, const struct share_first *first);
void share_withdraw(struct share_tree *t, uint32_t leaf); /* nothing where it is not offered */
bool share_is_offered(const struct share_tree *t, uint32_t leaf);

/* Tell of the first job of a leaf that waits, offered or not; NULL: none does. Once this was told of a leaf, an
 * inner node stands for the first of those of its children, whoever would be chosen in it: by gang where the node compares
 * that, by priority and by deadline, as the node lists these and then in this order, then by number. So who is left out of
 * the choice changes nothing among the others. O(d log f).
 */
void share_wait(struct share_tree *t, uint32_t leaf, const struct share_first *first);

/* The leaf whose first job that waits a node stands for; SHARE_NO_NODE: none waits below it. O(d). */
uint32_t share_first_below(const struct share_tree *t, uint32_t node);

/* Leave all leaves below a node, or a leaf, out of the choice, and let them take part again; they stay offered
 * meanwhile. O(d log f).
 */
void share_close(struct share_tree *t, uint32_t node);
void share_open(struct share_tree *t, uint32_t node);
bool share_is_closed(const struct share_tree *t, uint32_t node);

/* Rank a node among its siblings: by the first number, of equals by the second. 0 and 0 at first. O(d log f). */
void share_rank(struct share_tree *t, uint32_t node, int64_t rank, uint64_t turn);

/* True if a leaf is offered at or below a node. */
bool share_has_offer(const struct share_tree *t, uint32_t node);

/* What runs at or below a node; the tree's, until its next change. */
const int64_t *share_running(const struct share_tree *t, uint32_t node);

/* The leaf that is next, or SHARE_NO_NODE if none is offered. It stays offered. */
uint32_t share_next(struct share_tree *t, int64_t now);

/* Which of two leaves that are offered goes first, less than 0 for `a`, and what decided where they part
 * (SHARE_BY_END: the order in which nodes were added). `where`, if not NULL, is set to the node at which
 * they part.
 */
int share_compare(struct share_tree *t, uint32_t a, uint32_t b, int64_t now, enum share_by *by,
                  uint32_t *where);

/* Have usage be compared as of a time that is no earlier than the last change of what runs, or than a person set some.
 * Returns as of when it was: a question about later puts that back.
 */
int64_t share_set_time(struct share_tree *t, int64_t now);

/* Usage: what has run, weighted by the rule and by 2^(-age / half-life), as an average over time. So it is in
 * the units of the rule's weighted sum, moves towards what runs now, and is never more than the most that has
 * run at once; times half_life / ln 2 it is the faded integral. In fixed point: (high * 2^64 + low) / 2^32.
 *
 * Rounding: stored usage changes only when what runs changes or a person sets it, never by questions. Each
 * change rounds the distance between usage and what ran down, by less than 2^-32, and is off by at most 2^-60 of it
 * besides. Errors fade as usage does: with e changes in each half-life, usage is off by less than 2 e + 1 times that.
 */
struct share_usage {
    uint64_t high;
    uint64_t low;
};

struct share_usage share_usage(const struct share_tree *t, uint32_t node, int64_t now);

/* What is stored, and since when. Restored into a tree in which the same jobs run, to the digit the same
 * usage follows. Restoring changes only the node itself. EINVAL for more than 2^116 / 2^32.
 */
struct share_usage share_usage_saved(const struct share_tree *t, uint32_t node, int64_t *at);
int share_usage_restore(struct share_tree *t, uint32_t node, struct share_usage usage, int64_t at);

/* Correct a node's usage as of now. The nodes above it change by the same amount, at least to 0. Nodes below
 * it keep theirs.
 */
int share_usage_set(struct share_tree *t, uint32_t node, struct share_usage usage, int64_t now);

/* True if the tree is right about itself, worked out anew. O(nodes). */
bool share_check(struct share_tree *t);

#endif
