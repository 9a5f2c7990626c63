/* The roles of a gang, in the state of a player. */
#ifndef SIM_SNAPSHOT_ROLES_H
#define SIM_SNAPSHOT_ROLES_H

#include "berth/sched_snapshot.h"
#include "sim/play_priv.h"

/* Add the key "roles" to what the core knows of a job, if its gang has some: 0, or -1. */
int snapshot_put_roles(const struct sched_record *record, json_t *object);

/* Take them up, in an array of SCHED_ROLES_MAX; their texts belong to the key (NULL: there are none). Returns 0, or -1 with
 * EINVAL: it says something else.
 */
int snapshot_load_roles(const json_t *roles, struct sched_role *to, struct sched_record *record);

#endif
