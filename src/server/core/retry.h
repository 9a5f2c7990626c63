/* Jobs that fail: started again after a while, and arrays of which too many members fail. */
#ifndef SERVER_CORE_RETRY_H
#define SERVER_CORE_RETRY_H

#include "base/json_out.h"
#include "base/json_scan.h"
#include "config/ends.h"
#include "server/core/state.h"

#define RETRY_DELAY   (10 * SERVER_SECOND)        /* before the first retry, by default */
#define RETRY_LONGEST (24 * 3600 * SERVER_SECOND) /* before any */

#define DECLINED_WAIT                                                                              \
    (2 * SERVER_SECOND) /* before what the engine has declined is asked for again */
#define DECLINED_LONGEST (300 * SERVER_SECOND)

/* A member of a job is tried again so often, after ends that are among these. */
struct retry {
    struct ends on;
    int64_t delay; /* ticks before the first time; each further one waits twice as long */
    uint8_t most;
};

/* Of a stored request: what retry_put has written, and how many members may fail. 0, or -1 with ENOMEM; what is
 * malformed is as if it was not there.
 */
int retry_load(struct job *job, struct json_part retry, struct json_part max_fails);

/* Append both as members of an object. `on` is the text of the ends; NULL: all failures. */
void retry_put(const struct job *job, const char *on, struct json_out *out);

/* Whether a member whose run has ended is tried again; and for how long it waits, in ticks. */
bool retry_is_due(const struct job *job, const struct member *m, const struct engine_event *e);
int64_t retry_wait(const struct job *job, const struct member *m);

/* The engine has declined a member: for how long it waits, in ticks. It is twice as long after each time, however many
 * members there were, until one of the job starts.
 */
int64_t declined_wait(const server_t *s, struct job *job);

/* A member has ended: where too many have failed, have the rest cancelled in turns that follow. */
void fails_look(server_t *s, struct job *job);

/* The same for all jobs, after a start of the server. */
void fails_look_all(server_t *s);

#endif
