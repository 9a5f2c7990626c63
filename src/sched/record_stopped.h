/* Who is being stopped for whom, restored: either of the two may be so before the other. */
#ifndef SCHED_RECORD_STOPPED_H
#define SCHED_RECORD_STOPPED_H

#include "base/strbuf.h"
#include "berth/sched_snapshot.h"
#include "sched/sched_priv.h"

/* Write the ids of those who wait for the end of a job, each with a NUL; and list them in its record, with such ids. The list
 * is valid until the next record. stopped_tell returns 0, or -1 with ENOMEM.
 */
void stopped_put_ids(const sched_t *s, uint32_t slot, struct strbuf *text);
int stopped_tell(sched_t *s, uint32_t slot, const char *ids, struct sched_record *record);

/* Keep for whom a running job is being stopped, if a record says so. Returns 0, or -1 with ENOMEM. */
int stopped_note(sched_t *s, uint32_t slot, const struct sched_record *r);

/* A holder has what those use, or have left to it, who are stopped for it. */
void preempting_restored(sched_t *s, uint32_t slot);

/* Holders wait for the ends of those who are stopped for them, as far as both are restored. O(those who are stopped log
 * holders).
 */
void stopped_resolve(sched_t *s);

#endif
