/* Requests for bulk submissions (core/bulk.h): the text is read here. Once all jobs are published, the
 * client is sent their ids, which were reserved from the start.
 */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include "server/api/api.h"

/* Start a bulk submission; the call's body begins with '['. */
void bulk_start(struct call *c, struct user *user);

#endif
