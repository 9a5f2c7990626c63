/* Requests that change what a waiting job asks for, its name, whom it waits for, or what it is charged to. */
#ifndef SERVER_API_REWRITE_H
#define SERVER_API_REWRITE_H

#include "server/api/api.h"

/* Whether a change is one of these, and whether it has nothing else, as each of the last two has nothing beside it:
 * 0, or -1 and the call is refused.
 */
bool api_is_rewrite(const json_t *body);
int api_rewrite_check(struct call *c);

/* Carry it out. Returns 0, or -1 and the call is refused. */
int api_rewrite(struct call *c);

#endif
