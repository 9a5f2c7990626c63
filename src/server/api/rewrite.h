/* Requests that change what a waiting job asks for, or its name. */
#ifndef SERVER_API_REWRITE_H
#define SERVER_API_REWRITE_H

#include "server/api/api.h"

/* Whether a change is one of these, and whether it has nothing else: 0, or -1 and the call is refused. */
bool api_is_rewrite(const json_t *body);
int api_rewrite_check(struct call *c);

/* Carry it out. Returns 0, or -1 and the call is refused. */
int api_rewrite(struct call *c);

#endif
