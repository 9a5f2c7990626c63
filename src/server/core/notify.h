/* Telling a user's command, URL or mailbox that a job has begun or is over. At most once: a server that goes down between
 * the end of a job and this tells nobody.
 */
#ifndef SERVER_CORE_NOTIFY_H
#define SERVER_CORE_NOTIFY_H

#include "base/json_out.h"
#include "base/json_scan.h"
#include "server/core/state.h"

#define NOTIFY_TO_MAX 1000 /* bytes */

enum notify_on { NOTIFY_BEGIN = 1, NOTIFY_END = 2, NOTIFY_FAIL = 4 };

struct notify {
    unsigned on;
    char to[];
};

/* Read "begin,end,fail"; 0: it is none. */
unsigned notify_on_read(const char *text);

/* NULL with ENOMEM. */
struct notify *notify_create(const char *to, unsigned on);

/* Of a stored request: what notify_put has written. 0, or -1 with ENOMEM. */
int notify_load(struct job *job, struct json_part notify);
void notify_put(const struct job *job, struct json_out *out);

/* The first of its members has started; its last end is stored. */
void notify_begun(server_t *s, const struct job *job);
void notify_over(server_t *s, const struct job *job);

#endif
