/* What the files of prop_gangs share: a scene, what is known of its jobs, and what has come of all scenes. */
#ifndef PROPERTY_WHOLE_SCENE_H
#define PROPERTY_WHOLE_SCENE_H

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "check.h"
#include "random.h"

enum { NODES = 8, JOBS = 40, MEMBERS = 6, QUEUES = 3, ROLES = 3, ARRAYS = 2 };

enum state { WAITS, RUNS, DONE, FAILED };

/* Members from `first` on. */
struct role {
    int first, members, min;
};

struct job {
    int members, min, queue;
    int array; /* of gangs; -1: it is of none */
    struct role role[ROLES];
    int roles;
    int64_t submitted, duration;
    enum sched_gang_failure failure;
    bool is_over; /* a member was stopped as it has failed */
    enum state state[MEMBERS];
    bool stops[MEMBERS], held[MEMBERS];
    int64_t end[MEMBERS];
};

struct whole_scene {
    uint64_t seed;
    struct random random;
    struct random arrays; /* of what is of arrays of gangs */
    int at_once[ARRAYS];  /* gangs of an array that run at a time; 0: there are no arrays */
    int nodes, queues;
    struct sched_queue_config queue[QUEUES];
    bool has_turns; /* users of some */
    struct sched_limit limit[QUEUES];
    struct sched_config config;
    bool down[NODES];
    bool has_unknown; /* of some jobs nobody knows when they end */
    match_t *match;
    sched_t *sched;
    struct job job[JOBS];
    int jobs;
    int64_t now;
    uint64_t done; /* a number that stands for all that was done, in whatever order */
    uint64_t
        handles; /* one for the handles that it was done under, which others have after a restart */
};

extern struct whole_scene scene;

/* How often it has happened in all scenes. */
struct whole_counted {
    uint64_t starts, together, of_roles, stops, replaced, rejected, preempted, leaving, claims,
        full;
};

extern struct whole_counted counted;

extern bool whole_moves_running; /* jobs of which somebody runs get another priority as well */

#define CHECK(condition) CHECK_IN(scene, condition)

static inline int64_t draw(int64_t low, int64_t high)
{
    return random_between(&scene.random, low, high);
}

/* ---- whole_events.c ---- */

/* A member of a job in a scheduler; below 0: it is not known there. */
sched_job_t whole_handle(sched_t *s, int job, int member);

/* Members of a job, or of one of its roles, that are in a state. */
int whole_count(const struct job *j, enum state state);
int whole_count_of(const struct job *j, const struct role *role, enum state state);

match_t *whole_machine(void);

/* Draw the scene's queues, and what the scheduler goes by. */
void whole_queues(void);

/* Something happens: a job comes, or something becomes of a member or of a node. */
void whole_event(void);
void whole_node(int node, bool down);

/* Members end whose time it is. */
void whole_end_due(void);

/* ---- whole_passes.c ---- */

/* Passes, as many as are due now. What they decide is done, and the laws are checked. */
void whole_passes(void);

#endif
