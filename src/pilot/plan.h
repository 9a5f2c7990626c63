/* Pilots that are asked for by themselves: what to ask another scheduler for, what to give back, and why.
 *
 * A function of what waits, of the pilots there are, of a rule and of the time: it reads no clock and asks nobody. The
 * server calls it at each look at its pilots, the simulator at each instant, each with what it knows.
 *
 * How much is asked for: jobs that wait are laid, in the order given, into the nodes of pilots that are there or asked
 * for, and where these have no room into new ones. A node has room for what it can do within the next PILOT_AHEAD: a
 * job that takes as long or longer has what it asks for to itself, of shorter ones many follow each other. So 10,000
 * jobs of a moment ask for one node, and 100 of an hour for as many as they fill. Amounts are compared by their
 * numbers (cores, GPUs, bytes of memory), not by names.
 *
 * Times are ticks. Nothing here is kept: lists belong to the caller.
 */
#ifndef PILOT_PLAN_H
#define PILOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PILOT_CORES, PILOT_GPUS, PILOT_MEMORY, PILOT_KINDS };

#define PILOT_AHEAD 600 /* s that a node has to be of use for */
#define PILOT_MARGIN                                                                               \
    120 /* s of a pilot's time in which no job runs: it comes, and is left before its end */
#define PILOT_LATE     120 /* s after its end until a node is over, whatever is heard of it */
#define PILOT_PATIENCE 5   /* s for which something lacks a node until it is asked for */
#define PILOT_AGAIN    5   /* s after a refusal; doubled by each that follows, up to */
#define PILOT_SELDOM   600
#define PILOT_STUCK    60 /* s after which a pilot that can never start is given up */
#define PILOT_ASKS                                                                                 \
    32 /* pilots of a rule at a time, about: where more nodes may be, each has several */

/* How to ask. */
struct pilot_rule {
    int64_t max_nodes;         /* at a time, with those asked for; >= 1 */
    int64_t time;              /* for how long a pilot is asked for at most */
    int64_t backlog;           /* pilots that wait to start, at most; >= 1 */
    int64_t idle;              /* a pilot of no use for so long is given back */
    int64_t budget;            /* ticks of nodes in all; INT64_MAX: no bound */
    int64_t node[PILOT_KINDS]; /* what a node has; no cores: that is not known yet */
};

/* Bounds on what rules say: nodes at a time, cores or GPUs of a node, hours of nodes, and seconds that a pilot is
 * asked for at least.
 */
#define PILOT_NODES_MOST 1000
#define PILOT_NODE_MOST  10000
#define PILOT_HOURS_MOST 1000000
#define PILOT_TIME_LEAST 900

/* What holds where nothing is said: an hour, two that wait, two minutes, no budget; and no nodes: there is no rule. */
void pilot_rule_default(struct pilot_rule *rule, int64_t second);

/* Jobs that wait and are alike. */
struct pilot_want {
    int64_t members;             /* >= 1 */
    int64_t together;            /* so many of them start together, or none; else 1 */
    int64_t nodes;               /* that one of them is on, >= 1 */
    int64_t amount[PILOT_KINDS]; /* on each of these */
    int64_t limit;               /* it runs for so long at most; 0: nobody knows */
    int64_t takes;               /* it is expected to run so long; 1 to limit */
    bool elsewhere;              /* what it asks for by name no pilot's node has */
};

/* A want of so many pieces (>= 1) that may be on any nodes, and whose amount is that of one: as many are on a node as have room
 * there by the rule, at least one, and the want is on as many nodes as that takes.
 */
void pilot_spread(const struct pilot_rule *rule, int64_t pieces, struct pilot_want *want);

enum pilot_state { PILOT_WAITS, PILOT_UP, PILOT_ENDING };

struct pilot_seen {
    int64_t number;
    enum pilot_state state;
    int64_t nodes;
    int64_t time;    /* of one that waits: for how long it was asked for */
    int64_t useless; /* since when no job runs there or was laid into it; -1: one does */
    int64_t stuck;   /* since when Slurm says that it can never start; -1: it does not */
};

/* A node that is up: of a pilot, or of the machine's own. */
#define PILOT_OWN SIZE_MAX
struct pilot_node {
    size_t pilot;              /* index, or PILOT_OWN */
    int64_t end;               /* when it is taken back; INT64_MAX: nobody knows */
    int64_t free[PILOT_KINDS]; /* of it, PILOT_AHEAD from now */
};

struct pilot_case {
    const struct pilot_rule *rule;
    int64_t now, second; /* second: ticks in one */
    const struct pilot_want *want;
    size_t n_wants;
    const struct pilot_seen *pilot;
    size_t n_pilots;
    const struct pilot_node *node;
    size_t n_nodes;
    int64_t lacking;   /* since when jobs lack nodes, as told by the last plan; -1: they don't */
    int64_t failures;  /* asks in a row that were refused or came to nothing */
    int64_t failed_at; /* the last of them */
    int64_t spent; /* of the budget: by pilots that are over, and by the others until their ends */
};

/* What a job waits for. */
enum pilot_fate {
    PILOT_SOON, /* nodes that are up have room for it within PILOT_AHEAD, or its whole job is a few */
    PILOT_QUEUED,  /* a pilot that was asked for: `pilot` is its number */
    PILOT_LACKING, /* one that is to be asked for */
    PILOT_BOUND,   /* one, and `bound` forbids more */
    PILOT_NEVER    /* no pilot of this rule could run it: `why` */
};
enum pilot_bound { PILOT_BY_NODES, PILOT_BY_BUDGET };
enum pilot_why {
    PILOT_TOO_MANY_CORES,
    PILOT_TOO_MANY_GPUS,
    PILOT_TOO_MUCH_MEMORY,
    PILOT_TOO_MANY_NODES,
    PILOT_TOO_LONG,
    PILOT_NO_TIME,  /* nobody knows how long it takes */
    PILOT_ELSEWHERE /* it asks for something by name */
};

/* Of a want, what becomes of the first member that no node which is up has room for; else of all. */
struct pilot_verdict {
    enum pilot_fate fate;
    int64_t pilot;
    enum pilot_bound bound;
    enum pilot_why why;
    int64_t members; /* of which this is so, about */
};

/* Whether it is to be asked for now, and if not, why. */
enum pilot_when { PILOT_NOW, PILOT_PATIENT, PILOT_BACKLOG, PILOT_FAILED };

struct pilot_ask {
    int64_t nodes, time;
    int64_t members; /* of jobs that it is for */
    enum pilot_when when;
    int64_t at; /* of PILOT_PATIENT and PILOT_FAILED: from then on */
};

enum pilot_end { PILOT_IDLE, PILOT_UNWANTED, PILOT_IS_STUCK };

struct pilot_release {
    int64_t pilot;
    enum pilot_end why; /* up and idle; not wanted any more before it came; it can never start */
};

struct pilot_plan {
    struct pilot_ask *ask; /* to be asked for one after the other; at most one at a look */
    size_t n_asks;
    struct pilot_release *release;
    size_t n_releases;
    struct pilot_verdict *verdict; /* of each want */
    bool *used;                    /* of each pilot: a job was laid into it */
    int64_t lacking;               /* for the next plan */
    int64_t nodes;                 /* there and asked for, as of now */
};

/* Make a plan; clear it in any case. Returns 0, or -1 with ENOMEM. O(wants x nodes), where of jobs of several nodes
 * each member counts as a want, until one finds no room.
 */
int pilot_plan(const struct pilot_case *in, struct pilot_plan *plan);
void pilot_plan_clear(struct pilot_plan *plan);

/* When to ask again after so many failures, the last at a time. */
int64_t pilot_again(int64_t failures, int64_t failed_at, int64_t second);

#endif
