/* Who waits for the end of a job that is being stopped, in the store. */
#ifndef SERVER_AWAITED_STORE_H
#define SERVER_AWAITED_STORE_H

#include "base/strbuf.h"
#include "berth/sched_snapshot.h"
#include "server/core/load.h"
#include "server/store/store.h"

/* From the record of a job; what is of several is in a text. Returns 0, or -1 with ENOMEM. */
int awaited_to_store(const struct sched_record *r, struct store_member *to, struct strbuf *text);

/* Into a record, from what was stored. Returns what that needs, to be freed when it is restored; NULL with ENOMEM. Those that
 * can't be read are left out.
 */
void *awaited_from_store(const struct promise *p, struct sched_record *r);

#endif
