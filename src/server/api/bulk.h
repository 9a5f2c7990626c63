/* Requests for bulk submissions (core/bulk.h): the text is read here. Once all jobs are published, the
 * client is sent their ids, which were reserved from the start.
 */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include "server/api/api.h"

/* In the dependency of the nth job of a list, make ids of the numbers of earlier ones, "#0". `what` comes before
 * the key in errors. 0, or -1 with EINVAL or ENOMEM and a text.
 */
int bulk_name_earlier(const char *what, json_t *job, int64_t first, int64_t n, berth_error_t *err);

/* Start a bulk submission; the call's body begins with '['. */
void bulk_start(struct call *c, struct user *user);

#endif
