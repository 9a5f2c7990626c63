/* What the files of prop_gangs_naive share: a scene, and what is drawn for it. */
#ifndef PROPERTY_GANG_SCENE_H
#define PROPERTY_GANG_SCENE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "check.h"
#include "naive_gangs.h"
#include "random.h"

struct gang_scene {
    uint64_t seed;
    struct random random, arrays, blocks, downs, reloads, others, leaves,
        beside; /* the others for what is of arrays of gangs, and so on */
    int64_t now;
    int of_node; /* cores */
    bool has_blocks, has_limits, has_downs, has_reloads, has_others, has_leaves,
        has_beside; /* limits, and jobs are stopped for others */
    bool is_told;   /* what happens, for a person */
    match_t *match;
    sched_t *sched;
    struct naive_gangs naive;
    uint64_t replaced;
};

extern struct gang_scene scene;

#define CHECK(condition) CHECK_IN(scene, condition)

#define TELL(...)                                                                                  \
    do {                                                                                           \
        if (scene.is_told)                                                                         \
            print_message(__VA_ARGS__);                                                            \
    } while (0)

int gang_scene_draw(int low, int high);

/* The handle of a member that waits or runs; -1. */
sched_job_t gang_scene_handle(int job, int member);

/* A scene of a seed: a machine, a queue, and rules that it has. */
void gang_scene_make(uint64_t seed);

/* Something happens: a job comes, or something becomes of a member. */
void gang_scene_event(void);

/* Something that happens more rarely: another priority, a time before which a member does not start; one that runs is cancelled, or
 * one that is being stopped waits again or ends well.
 */
void gang_scene_other_event(void);

/* The shell stops a running member by itself, and tells its end later. */
void gang_scene_leave(void);

/* Whoever has reached a limit has failed, and is not replaced. */
void gang_scene_limits(void);

/* A block comes, is changed or goes. */
void gang_scene_block(void);

/* Nodes or cores go down, are drained or come up. */
void gang_scene_status(void);

/* Another configuration is used. */
void gang_scene_reload(void);

/* A running member is told to wait again; or it has failed, and does so if its gang may replace it, and does. */
void gang_scene_requeue(int job, int member);
void gang_scene_fail(int job, int member, bool may_replace);

#endif
