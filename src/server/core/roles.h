/* The roles of a gang whose members are not all alike: who is of which, and what each asks for.
 *
 * A stored request has them as a list of objects, each with "role", "count" and "min", what one member asks for
 * ("jobspec" or "jobspec_text", "tasks", "task_cores", "task_gpus", "memory_limit"), its "nodes", "cores" and "gpus",
 * and perhaps a "command" in place of the job's.
 */
#ifndef SERVER_CORE_ROLES_H
#define SERVER_CORE_ROLES_H

#include "base/json_scan.h"
#include "server/core/state.h"

/* The members of a role follow each other, and those of the next one follow them. */
struct job_role {
    char name[SCHED_ROLE_NAME_MAX + 1];
    uint32_t first, count, min;
    int64_t nodes, cores, gpus, tasks; /* of one member */
};

struct job_roles {
    size_t n;
    struct job_role role[];
};

/* Read a list of roles. *roles is NULL where there is none, or it is malformed; else the caller frees it. Returns 0, or -1
 * with ENOMEM.
 */
int job_roles_read(struct json_part list, struct job_roles **roles);

/* The object of one of them; where there is none, nothing. O(what stands before it). */
struct json_part job_roles_part(struct json_part list, size_t i);

/* The role of a member; NULL: its job has no roles. O(roles). */
const struct job_role *job_role_of(const struct job *job, uint32_t member);

/* How many members of each role have succeeded. O(members that have records). */
void job_roles_count(const struct job *job, uint32_t succeeded[SCHED_ROLES_MAX]);

/* Whether a role has fewer members left than its min, as these have ended badly; and whether as many of each role have
 * succeeded as its min.
 */
bool job_roles_short(const struct job_roles *roles, const struct idset *badly);
bool job_roles_enough(const struct job_roles *roles, const struct idset *succeeded);

#endif
