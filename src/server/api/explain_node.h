/* What a job's nodes are to those who wait for it. */
#ifndef SERVER_EXPLAIN_NODE_H
#define SERVER_EXPLAIN_NODE_H

#include "base/strbuf.h"
#include "server/core/state.h"

/* Append " Node n2 is not heard of: ..." for the first node of a running member of which that is so; else nothing. */
void explain_unheard(server_t *s, sched_job_t handle, struct strbuf *out);

#endif
