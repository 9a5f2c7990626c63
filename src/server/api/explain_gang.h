/* How ready a gang is, for people and for programs. */
#ifndef SERVER_EXPLAIN_GANG_H
#define SERVER_EXPLAIN_GANG_H

#include "base/json_out.h"
#include "base/strbuf.h"
#include "berth/sched_query.h"

/* Whether as many run or have succeeded as start together. */
bool explain_gang_is_up(const struct sched_gang_now *now);

/* Append "2 of its members start together; there is room for 1: it is not ready. " `looks`: it waits for room; else what
 * there is room for is left out.
 */
void explain_gang(struct strbuf *out, const struct sched_gang_now *now, bool looks);

/* Write "gang", an object. */
void explain_gang_put(struct json_out *out, const struct sched_gang_now *now);

#endif
