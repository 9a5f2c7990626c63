/* The jobs of a trace as jobs of named queues, as a configuration maps them. */
#ifndef SIM_QUEUES_H
#define SIM_QUEUES_H

#include <stdint.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "berth/match.h"
#include "berth/sched.h"
#include "config/config.h"
#include "sim/trace.h"

/* The processors that a machine has for a trace, with those that pilots may bring: its cores, or its nodes. -1 with
 * EINVAL and a text: there are none.
 */
int64_t queues_procs(const struct config *config, const match_t *machine, berth_error_t *err);

/* What a request points to, kept for the next. All zeroes at first. */
struct queues_request {
    struct strbuf jobspec;
    char user[STRBUF_NUMBER_MAX + 2], group[STRBUF_NUMBER_MAX + 2];
    const char **groups;
    size_t cap_groups;
};

void queues_request_clear(struct queues_request *r);

/* The request of a job: a core for each processor, wherever they are, or a whole node. Who: NULL: nobody,
 * to the default queue. What it points to is valid until the next call. Returns 0, or -1 with ENOMEM.
 */
int queues_request(struct queues_request *r, const struct config *config,
                   const struct schedule_job *job, const struct trace_who *who,
                   struct sched_request *request);

#endif
