/* HTTP over the Unix socket of a server.
 *
 * The client is our own because libcurl brings 30 libraries with it. Loading them takes 8 ms, eight times as
 * long as the rest of a submission. It speaks to one server, ours, without encryption, names, proxies or
 * redirections.
 */
#ifndef CLI_CLIENT_CLIENT_H
#define CLI_CLIENT_CLIENT_H

#include <poll.h>
#include <stddef.h>

#include "berth/error.h"
#include "cli/client/reply.h"

struct client;
struct client_stream;

/* Calls return 0, or -1 with errno and a text: ECONNREFUSED or EACCES if no server answers, ECONNRESET if the
 * connection broke, EPROTO if the reply is not HTTP.
 */

struct client *client_open(const char *socket, berth_error_t *err);
void client_close(struct client *c); /* NULL is fine */

/* Connect in advance of the next request, which shows whether a server is there. */
int client_connect(struct client *c, berth_error_t *err);

/* Send one request, on the open connection if there is one. body NULL: none. ECANCELED: the taker of the
 * reply's body ended it.
 */
int client_ask(struct client *c, const char *method, const char *path, const char *body,
               size_t length, const struct client_taker *taker, long *status, berth_error_t *err);

/* A GET whose body is a long-lived stream, on a connection of its own. If no server answers, client_wait()
 * says so.
 */
struct client_stream *client_follow(struct client *c, const char *path,
                                    const struct client_taker *taker, berth_error_t *err);

/* Wait for more of the stream or for the other descriptors, at most so long; what has arrived has been taken.
 * Returns 1; 0 if the stream has ended, with its *status; or -1.
 */
int client_wait(struct client_stream *s, struct pollfd *others, unsigned n, int timeout_ms,
                long *status, berth_error_t *err);
void client_end(struct client_stream *s); /* NULL is fine */

#endif
