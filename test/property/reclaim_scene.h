/* Random scenes in which one job has many others stopped by shares, and what a test knows of them. */
#ifndef PROPERTY_RECLAIM_SCENE_H
#define PROPERTY_RECLAIM_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "fixture/world.h"
#include "naive_share.h"
#include "random.h"

enum { MANY_USERS = 4 };
enum { MANY_NODES = 40, MANY_QUEUES = 6, MANY_DIVISIONS = 2, MANY_GANG = 40 };
enum { MANY_TREE = 1 + MANY_DIVISIONS + MANY_QUEUES, MANY_JOBS = 1200, MANY_UNITS = 4000 };

/* What a job asks for: so many cores, wherever they are; pieces of so many cores, each of one node; nodes on each of which
 * it has so many cores; whole nodes.
 */
enum many_piece { MANY_ANYWHERE, MANY_PIECES, MANY_ON_NODES, MANY_WHOLE };

enum many_state { MANY_WAITS, MANY_RUNS, MANY_STOPS, MANY_OVER };

/* A job that is none of a gang, or a member of one. */
struct many_unit {
    int job, member;
    enum many_state state;
    sched_job_t handle; /* of one that runs or is being stopped */
    int64_t at, leaves;
    bool requeue;
    bool is_back;       /* it was stopped, and waits again, since the last pass */
    int on[MANY_NODES]; /* cores */
};

struct many_job {
    int queue, user, priority, count, cores;
    enum many_piece piece;
    int members, min; /* 1 and 1: it is no gang */
    int first;        /* unit, of which there are so many as members */
    int64_t after;    /* its preemptible-after */
    int64_t limit, estimate;
    sched_job_t handle;
    bool is_claimant;
    bool has_run;
    bool was_blocked; /* as the pass before the last one left it */
    bool is_blocked;
};

/* A job, a gang's min, or a member beyond that, waits for others that are being stopped, and is to have what it holds. */
struct many_holder {
    sched_job_t handle;
    int job, units;
    int on[MANY_NODES];
};

struct many_queue {
    int above; /* a node of the tree: 0 is the machine, then come divisions, then queues */
    int weight, guarantee, priority;
    int policy;
    bool takes, takes_lower, takes_none; /* preempts: borrowers, lower, nobody; */
    bool takes_richer;                   /* richer: its users take turns, */
    int user_weight[MANY_USERS];         /* and have these weights */
    bool is_preemptible, is_cancelled;   /* what is stopped does not wait again */
    int most_running, most_cores;        /* INT32_MAX: no limit */
};

/* What is known of when jobs end, at once: nothing; of some that they take so long at most, and are expected to take less,
 * where queues promise nothing, or where some do; of all how long they take, as above. In the last case those that are to have
 * others stopped end at MANY_HORIZON if they start at once, and all others later: nobody is promised a time before that, so
 * promises are in nobody's way.
 */
enum many_ends { MANY_ENDLESS, MANY_KNOWN_FCFS, MANY_KNOWN, MANY_SURE_FCFS, MANY_SURE };
enum { MANY_HORIZON = 100000 };

struct many_scene {
    uint64_t seed;
    int64_t now;
    struct random random, beside; /* what is drawn beside the rest */
    struct world world;
    int nodes, cores, queues, divisions, jobs, units;
    int weight[MANY_DIVISIONS], under[MANY_DIVISIONS];
    enum many_ends ends;
    bool has_users, has_limits, has_gangs;
    bool lags;          /* who is stopped takes a while to end */
    bool is_mixed;      /* some queues are preemptible, and some not */
    bool alike;         /* small jobs have one priority */
    bool tiny, is_vast; /* they are of one core; the machine is large, and one queue fills it */
    bool is_tight;      /* limits keep jobs from what is idle */
    bool
        has_crowds; /* many like jobs come at once; few end at a time; shares, limits and rights change */
    int fills[2];      /* the queues that fill the machine at first */
    bool any_promised; /* a time, up to now */
    struct many_queue queue[MANY_QUEUES];
    struct many_job job[MANY_JOBS];
    struct many_unit unit[MANY_UNITS];
    struct many_holder holder[MANY_JOBS];
    int holders;
    uint64_t digest; /* of all decisions */
};

int64_t many_draw(struct many_scene *s, int64_t low, int64_t high);
bool many_one_of(struct many_scene *s, int n);

/* Draw a machine and its queues, and open its world. */
void many_open(struct many_scene *s, uint64_t seed);

/* Submit small jobs to a queue that are to fill so many cores, or one job, to another queue mostly, that is to have others
 * stopped.
 */
void many_fill(struct many_scene *s, int queue, int cores);
void many_claim(struct many_scene *s);

/* So many jobs of one queue, mostly one that takes from borrowers, that ask for the same, or some for something else. */
void many_crowd(struct many_scene *s, int jobs);

/* Other weights, guarantees and rights to take, and higher limits. */
void many_change(struct many_scene *s);

/* Cores that a unit of a job asks for, and what starts together. */
int many_asks(const struct many_scene *s, const struct many_job *j);
int many_asks_together(const struct many_scene *s, const struct many_job *j);

/* How often what has come about in the choices of all scenes. */
struct many_seen {
    uint64_t choices; /* for one job, */
    uint64_t unclear; /* not as predicted, */
    uint64_t exact;   /* predicted to the last one, */
    uint64_t limited,
        by_nodes; /* of these where queues have limits; where it asks for more than cores anywhere */
    uint64_t vain;            /* and choices of nobody, predicted */
    uint64_t took[3];         /* searches that took so many lots at least (many_took), */
    uint64_t spared, refused; /* that put some back; in which a share refused one, */
    uint64_t again;           /* so that those were found first who are needed */
    uint64_t second, others;  /* with which it starts; only with others beside these */
    uint64_t richer, spare, whole,
        lower;        /* lots that were stopped: spare members, gangs, those of the same queue */
    uint64_t awaited; /* ends for which a job waits as others do */
};
extern struct many_seen many_seen;
extern const int many_took[3];

/* Whether any of a job is a holder. */
bool many_holds(const struct many_scene *s, int job);

/* A job has these units stopped (`told`, by unit) in the state of now, in which they run: is that as the rules have it? */
void many_check_choice(const struct many_scene *s, int job, const bool *told);

/* Whether choices for a job are predicted now: no promise can be in its way. */
bool many_is_exact(const struct many_scene *s, int job);

/* A job that was looked at has nobody stopped: nobody was to be. */
void many_check_vain(const struct many_scene *s, int job);

#endif
