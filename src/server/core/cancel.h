/* Cancelling members of jobs. */
#ifndef SERVER_CORE_CANCEL_H
#define SERVER_CORE_CANCEL_H

#include "server/core/state.h"

/* Why members are cancelled, and what their events say beside that: {"by": "ann"}. */
struct cancel {
    const char *reason;
    const char *key, *text;
};

/* Cancel a live member: one that waits is over, one that runs is stopped. 0, or -1 with ENOMEM. */
int member_cancel(server_t *s, struct job *job, uint32_t i, const struct cancel *how);

/* Cancel all that wait in an array's entry at once: those with records as any member, the others together. The job is
 * not behind. 0, or -1 with ENOMEM.
 */
int entry_cancel(server_t *s, struct job *job, const struct cancel *how);

#endif
