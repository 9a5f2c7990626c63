/* The text of a list of jobs that are submitted at once (core/bulk.h). Once all have come up, the client
 * is told their numbers, which were kept for them from the beginning.
 */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include "server/api/api.h"

/* Take a list of a user's jobs: the call's body begins with a '['. */
void bulk_start(struct call *c, struct user *user);

#endif
