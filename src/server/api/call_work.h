/* Requests as work (core/work.h). Each request that may be large is work, and is begun at once, with the
 * steps that its user may have before the next turn: a small one comes to its end with that, and is
 * answered like any other.
 */
#ifndef SERVER_CALL_WORK_H
#define SERVER_CALL_WORK_H

#include "server/api/api.h"
#include "server/core/work.h"

struct call_work {
    struct server_work work;
    struct call call; /* a copy: the request's query and body are gone */
    struct server_request request;
    void (*clear)(struct server_work *work); /* what it has beside that; NULL: nothing */
};

/* Begin work for a call: a struct of `size` bytes, all zero but for the call. Returns NULL, and the call
 * is refused, if its user has too much work, or there is no memory.
 */
struct call_work *call_work_make(struct call *c, size_t size);

/* Do what can be done at once, and answer the call, or have it wait for the rest. */
void call_work_start(struct call *c, struct call_work *work);

#endif
