/* HTTP on a Unix socket, in a libuv loop: takes requests to who answers them, and replies back.
 *
 * A reply that waits (server_reply.wait) is sent after http_turned. What a client may take is bounded:
 * the size of a request's head and body, the time in which a request has to be there; and in all and for
 * each user (users.h) connections, streams and the bodies in memory at once.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <uv.h>

#include "berth/error.h"
#include "server/server.h"

#define HTTP_BODY_MAX ((size_t)64 << 20) /* bytes of one request */
#define HTTP_BODIES_MAX                                                                            \
    ((size_t)256 << 20) /* of all that are being read; for one user as for one request */
#define HTTP_CONNECTIONS     2048
#define HTTP_STREAMS         1024 /* of lists and events at once */
#define HTTP_STREAMS_OF_USER 128
#define HTTP_RESERVE                                                                               \
    64 /* of connections and streams, for root and the owner; of bodies, HTTP_BODY_MAX */
#define HTTP_REQUEST_MS                                                                            \
    15000 /* a connection without a request, or with a part of one, is closed after so long */
#define HTTP_REPLY_S 600 /* and one that takes nothing of its reply */

struct http_handler {
    void *context;
    /* As server_request and server_failed. */
    void (*request)(void *context, const struct server_request *request,
                    struct server_reply *reply);
    void (*failed)(void *context, const berth_error_t *why, struct server_reply *reply);
    void (*notice)(void *context, const char *text); /* a line for the log */
};

struct http;

/* Listen at a path, with these permissions; what is there is replaced if it is a socket at which nobody
 * answers. For each user at most `per_user` connections, but for root and `owner`. NULL with errno and a
 * text.
 */
struct http *http_open(uv_loop_t *loop, const char *path, mode_t mode, unsigned per_user,
                       uid_t owner, const struct http_handler *handler, berth_error_t *err);

/* Make the socket again if somebody has removed it, which also happens by itself. What comes of it goes
 * to the log.
 */
void http_listen_again(struct http *h);

/* A turn is over: send what waited for it, or what is to be said when it failed (NULL: it did not); go on
 * with streams that had nothing.
 */
void http_turned(struct http *h, const berth_error_t *failure);

/* Take no more connections, and end streams. */
void http_drain(struct http *h);

/* The number of requests whose replies are not yet sent. */
size_t http_busy(const struct http *h);

/* Close all; to be followed by a run of the loop in which its handles are closed, then by http_free. */
void http_close(struct http *h);
void http_free(struct http *h);

#endif
