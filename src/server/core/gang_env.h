/* What members of a gang learn of each other as they start. */
#ifndef SERVER_GANG_ENV_H
#define SERVER_GANG_ENV_H

#include "server/core/state.h"

/* Where the members of a gang meet: one of these ports of the first one's node, by the server and the job. */
#define GANG_PORT  20000
#define GANG_PORTS 10000

/* Call `add` with each variable of a member of a gang that starts with so many tasks. The members are those that run
 * or are about to, in the order of their indices. Returns 0, or -1 as soon as it fails, or with ENOMEM. O(members).
 */
int gang_env_each(server_t *s, const struct job *job, uint32_t member, uint64_t tasks,
                  int (*add)(void *context, const char *name, const char *value), void *context);

/* Where a member stands among these: how many come before it, of its role and with how many tasks, where one that has no
 * role has so many. O(members).
 */
struct gang_rank {
    uint32_t members, of_role;
    uint64_t tasks;
};
struct gang_rank gang_rank(const struct job *job, uint32_t member, uint64_t tasks);

void gang_env_clear(server_t *s);

#endif
