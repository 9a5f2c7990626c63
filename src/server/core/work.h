/* Work: what a request asks for that is too much to be done between two others. It is done in slices, one in a turn, which are
 * bounded in steps. A step is what is done to one member in some microseconds. Users take turns, root every other one; the
 * works of one user are done one after the other.
 *
 * Each request that may be large is one, and is begun at once, with the steps that its user may have before the next
 * turn: a small one comes to its end with that, and is answered as any other.
 */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include "server/api/api.h"

struct server_work {
    struct server_work *next; /* of its user; of those that are done */
    /* Go on, for *steps at most, more than 0, of which it takes what it does. Others may have changed anything since it was
     * called last. 1: it is done, and the call is answered; 0: the steps are used up; -1: there is no memory, it is to be
     * tried again later.
     */
    int (*go)(struct server_work *work, size_t *steps);
    void (*clear)(struct server_work *work); /* what it has of its own; it may be in the middle */
    struct call call;                        /* a copy: the request's query and body are gone */
    struct server_request request;
    struct server_reply reply;
    bool answered;  /* the reply may be sent */
    bool left;      /* nobody waits for it */
    bool is_behind; /* nobody ever did: it is of something that has been answered */
};

/* Begin work for a call. It begins a struct of `size` bytes, all zero but for the call, which `begin` fills. Returns NULL, and
 * the call is refused: its user has too much work, or there is no memory.
 */
struct server_work *work_make(struct call *c, size_t size);

/* Do what can be done at once, and answer the call, or have it wait for the rest. */
void work_start(struct call *c, struct server_work *work);

/* Work that nobody waits for, and that does not count against what a user may have. NULL with ENOMEM. */
struct server_work *work_make_behind(server_t *s, uint32_t uid, size_t size);
void work_start_behind(server_t *s, struct server_work *work);

/* It is not to be started. */
void work_drop(struct server_work *work);

/* What a request of a user's may take before the next turn, that is not work itself; and what it took of that. */
size_t work_allowance(const server_t *s, uint32_t uid);
void work_took(server_t *s, size_t steps);

/* Take n steps of those that are left. */
static inline void work_spend(size_t *steps, size_t n)
{
    *steps -= n < *steps ? n : *steps;
}

#endif
