/* Queues and shares as JSON: {"default": NAME, "queues": [...]} with what is configured and counts, and {"half_life": SECONDS,
 * "shares": [...]}, as berth-api(7) says. memory_unit: bytes of a unit of memory. Return 0, or -1 with ENOMEM, and then
 * nothing is appended. O(queues + nodes of the tree).
 */
#ifndef REPORT_QUEUE_ROWS_H
#define REPORT_QUEUE_ROWS_H

#include <stdint.h>

#include "base/strbuf.h"
#include "berth/sched_config.h"

int queue_rows_put(struct strbuf *text, sched_t *sched, int64_t now,
                   const struct sched_config *config, int64_t memory_unit);
int share_rows_put(struct strbuf *text, sched_t *sched, int64_t now, int64_t memory_unit);

#endif
