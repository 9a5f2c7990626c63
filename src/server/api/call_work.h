/* Requests as work (core/work.h): small ones finish at once, larger ones in the next turns. */
#ifndef SERVER_CALL_WORK_H
#define SERVER_CALL_WORK_H

#include "server/api/api.h"
#include "server/core/work.h"

struct call_work {
    struct server_work work;
    struct call call; /* a copy without the request's query and body */
    struct server_request request;
    void (*clear)(struct server_work *work); /* frees other data; NULL: there is none */
};

/* Create work for a call: a struct of `size` bytes, zero but for the call. Returns NULL, and the call is
 * refused, if its user has too much work or memory is short.
 */
struct call_work *call_work_make(struct call *c, size_t size);

/* Do what the allowance permits at once; answer the call, or let it wait for the rest. */
void call_work_start(struct call *c, struct call_work *work);

#endif
