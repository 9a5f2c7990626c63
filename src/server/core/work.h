/* Work: requests that are too large to finish at once. It is done in slices, one per turn, limited in
 * steps; a step is some microseconds, what one member takes. Users take turns, root every other one, and a
 * user's work is done in order.
 *
 * Every request that may be large is work, and starts at once with the steps that its user has until the
 * next turn: a small one finishes with that and is answered like any other request.
 */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include "server/core/state.h"

#define WORK_MAX 16 /* per user */

struct server_work {
    struct server_work *next; /* of the user's queue, or of finished work */
    /* Continue for at most *steps (above 0) and subtract what it takes. Anything may have changed since the
     * last call. 1: it is finished and the call is answered; 0: the steps are used up; -1: no memory, try
     * again later.
     */
    int (*go)(struct server_work *work, size_t *steps);
    void (*clear)(struct server_work *work); /* free its own data, also in the middle of it */
    server_t *s;
    uint32_t uid;
    struct server_reply reply;
    bool answered;      /* the reply is ready */
    bool left;          /* no client is waiting */
    bool is_background; /* none ever was: it continues an answered request */
};

/* Create work for a user: a struct of `size` bytes, zero but for s and uid. NULL with ENOMEM. */
struct server_work *work_create(server_t *s, uint32_t uid, size_t size);

/* Whether the user has reached WORK_MAX. */
bool work_is_full(const server_t *s, uint32_t uid);

/* Continue it in the next turns. */
void work_enqueue(struct server_work *work);

/* Create background work, for which no client waits and which does not count against the user. NULL with
 * ENOMEM.
 */
struct server_work *work_create_background(server_t *s, uint32_t uid, size_t size);
void work_start_background(server_t *s, struct server_work *work);

/* Free work that was not queued. */
void work_destroy(struct server_work *work);

/* The steps that a request of a user may take before the next turn; and report how many it took. */
size_t work_allowance(const server_t *s, uint32_t uid);
void work_allowance_used(server_t *s, size_t steps);

/* Subtract n steps, down to 0. */
static inline void work_spend(size_t *steps, size_t n)
{
    *steps -= n < *steps ? n : *steps;
}

#endif
