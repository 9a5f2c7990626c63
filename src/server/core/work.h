/* Work: what a request asks for that is too much to be done between two others. It is done in slices, one
 * in a turn, which are bounded in steps. A step is what is done to one member in some microseconds. Users
 * take turns, root every other one; the works of one user are done one after the other.
 *
 * Each request that may be large is one, and is begun at once, with the steps that its user may have
 * before the next turn: a small one comes to its end with that, and is answered as any other.
 */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include "server/core/priv.h"

#define WORK_MAX 16 /* of one user */

struct server_work {
    struct server_work *next; /* of its user; of those that are done */
    /* Go on, for *steps at most, more than 0, of which it takes what it does. Others may have changed
     * anything since it was called last. 1: it is done, and the call is answered; 0: the steps are used
     * up; -1: there is no memory, it is to be tried again later.
     */
    int (*go)(struct server_work *work, size_t *steps);
    void (*clear)(struct server_work *work); /* what it has of its own; it may be in the middle */
    server_t *s;
    uint32_t uid;
    struct server_reply reply;
    bool answered;      /* the reply may be sent */
    bool left;          /* nobody waits for it */
    bool is_background; /* nobody ever did: it is of something that has been answered */
};

/* Work of a user's: a struct of `size` bytes, all zero but for those two. NULL with ENOMEM. */
struct server_work *work_create(server_t *s, uint32_t uid, size_t size);

/* Whether a user has as much work as may wait. */
bool work_is_full(const server_t *s, uint32_t uid);

/* It goes on with the next turns. */
void work_enqueue(struct server_work *work);

/* Work that nobody waits for, and that does not count against what a user may have. NULL with ENOMEM. */
struct server_work *work_create_background(server_t *s, uint32_t uid, size_t size);
void work_start_background(server_t *s, struct server_work *work);

/* It is not started, or done at once: it is gone. */
void work_destroy(struct server_work *work);

/* What a request of a user's may take before the next turn, that is not work itself; and what it took of
 * that.
 */
size_t work_allowance(const server_t *s, uint32_t uid);
void work_allowance_used(server_t *s, size_t steps);

/* Take n steps of those that are left. */
static inline void work_spend(size_t *steps, size_t n)
{
    *steps -= n < *steps ? n : *steps;
}

#endif
