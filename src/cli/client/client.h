/* HTTP over the Unix socket of a server.
 *
 * This is our own and not libcurl's: that brings 30 libraries with it, whose loading takes 8 ms, eight times as long as all
 * else that a submission takes. One server is spoken to, ours, without encryption, names, proxies or redirections.
 */
#ifndef CLI_CLIENT_CLIENT_H
#define CLI_CLIENT_CLIENT_H

#include <poll.h>
#include <stddef.h>

#include "berth/error.h"
#include "cli/client/reply.h"

struct client;
struct client_stream;

/* Calls return 0, or -1 with errno and a text: ECONNREFUSED or EACCES where nobody answers, ECONNRESET where the connection
 * broke, EPROTO where the reply is none.
 */

struct client *client_open(const char *socket, berth_error_t *err);
void client_close(struct client *c); /* NULL is fine */

/* Connect for the next request already, which shows whether a server is there. */
int client_connect(struct client *c, berth_error_t *err);

/* One request, on the connection that is there if there is one. body NULL: none. ECANCELED: it was ended by who took the
 * body of the reply.
 */
int client_ask(struct client *c, const char *method, const char *path, const char *body,
               size_t length, const struct client_taker *taker, long *status, berth_error_t *err);

/* A GET whose body comes for long, on a connection of its own. Where nobody answers, client_wait() says so. */
struct client_stream *client_follow(struct client *c, const char *path,
                                    const struct client_taker *taker, berth_error_t *err);

/* Wait for more of it or for the others, at most so long; what has come has been taken. 1; 0: it has ended, of which *status
 * is told; or -1.
 */
int client_wait(struct client_stream *s, struct pollfd *others, unsigned n, int timeout_ms,
                long *status, berth_error_t *err);
void client_end(struct client_stream *s); /* NULL is fine */

#endif
