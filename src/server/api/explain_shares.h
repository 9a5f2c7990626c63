/* What shares keep a job waiting, in sentences and as JSON. */
#ifndef SERVER_EXPLAIN_SHARES_H
#define SERVER_EXPLAIN_SHARES_H

#include "base/json_out.h"
#include "berth/sched_shares.h"
#include "server/core/priv.h"

/* Append to a text why others go before a job that waits, and which of these that hold what it waits for have
 * borrowed that; nothing where there are no shares. And to another one the same as the members "turns",
 * "own_first" and "entitled_to" of an object, which has some already. Returns 0, or -1 with ENOMEM.
 */
int explain_shares(server_t *s, sched_job_t job, const sched_job_t *holders, size_t n,
                   struct strbuf *text, struct json_out *json);

#endif
