/* A store on a disk in memory, with jobs in it: what tests of the store share. */
#ifndef UNIT_STORE_SCENE_H
#define UNIT_STORE_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sim/sim_disk.h"
#include "server/store/priv.h"

struct store_scene {
    struct sim_disk *disk;
    store_t *store; /* store.db there */
    berth_error_t err;
};

extern struct store_scene scene;

/* Of each test: a new disk with an open store. */
int store_scene_set_up(void **state);
int store_scene_tear_down(void **state);

void store_scene_reopen(void);
void store_scene_commit(void);

/* A job of so many members; the same in the store; a member of it becomes something; a job of one member that has ended. */
struct store_job store_scene_job(int64_t id, uint32_t members);
void store_scene_add(int64_t id, uint32_t members);
void store_scene_set_member(int64_t job, uint32_t member, enum store_state state, int64_t end);
void store_scene_add_ended(int64_t id, int64_t end);

/* Jobs and members that a query finds, as "3 1[2]": those of jobs of one member by the job's number. */
const char *store_scene_list(const struct store_query *query);

/* All that is loaded, as " 1[0:2] 2": jobs, and their members with their states. */
const char *store_scene_live(void);

/* The visitor's part in that. */
int store_scene_tell_job(void *text, const struct store_job *job);
int store_scene_tell_member(void *text, const struct store_member *member);

/* The number that a query in SQL gives; the bytes that are stored of a user's. */
int64_t store_scene_count(const char *sql);
int64_t store_scene_used(uint32_t uid);

#endif
