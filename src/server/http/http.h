/* HTTP on a Unix socket, in a libuv loop: passes requests to a handler and its replies back.
 *
 * A reply that waits (server_reply.wait) is sent after http_turned. Clients are limited: the size and
 * duration of a request; and, in all and per user (users.h), connections, streams and bodies in memory.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <uv.h>

#include "berth/error.h"
#include "server/server.h"

#define HTTP_BODY_MAX ((size_t)64 << 20) /* bytes of one request */
#define HTTP_BODIES_MAX                                                                            \
    ((size_t)256 << 20) /* of all bodies being read; the limit of one user is HTTP_BODY_MAX */
#define HTTP_CONNECTIONS     2048
#define HTTP_STREAMS         1024 /* lists and event streams at once */
#define HTTP_STREAMS_OF_USER 128
#define HTTP_RESERVE                                                                               \
    64 /* connections and streams reserved for root and the owner; of bodies, HTTP_BODY_MAX */
#define HTTP_REQUEST_MS                                                                            \
    15000                /* a connection without a complete request is closed after this time */
#define HTTP_REPLY_S 600 /* and one that reads nothing of its reply after this one */

struct http_handler {
    void *context;
    void (*request)(void *context, const struct server_request *request,
                    struct server_reply *reply);
    void (*failed)(void *context, const berth_error_t *why, struct server_reply *reply);
    void (*notice)(void *context, const char *text); /* a line for the log */
};

struct http;

/* Listen at a path with these permissions, replacing a socket that nobody serves. Each user but root and
 * `owner` may have `per_user` connections. NULL with errno and a text.
 */
struct http *http_open(uv_loop_t *loop, const char *path, mode_t mode, unsigned per_user,
                       uid_t owner, const struct http_handler *handler, berth_error_t *err);

/* Recreate the socket if it was removed, which is also noticed by itself. The outcome is logged. */
void http_listen_again(struct http *h);

/* A turn is over: send the replies that waited for it, or errors if it failed (NULL: it did not), and
 * continue idle streams.
 */
void http_turned(struct http *h, const berth_error_t *failure);

/* Accept no more connections, and end streams. */
void http_drain(struct http *h);

/* The number of requests without a complete reply. */
size_t http_busy(const struct http *h);

/* Close everything; then run the loop until its handles are closed, and call http_free. */
void http_close(struct http *h);
void http_free(struct http *h);

#endif
