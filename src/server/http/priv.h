/* What the parts of the HTTP server share. */
#ifndef SERVER_HTTP_PRIV_H
#define SERVER_HTTP_PRIV_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "server/http/http.h"
#include "server/http/users.h"

/* A connection. */
struct client {
    struct http *http;
    int fd;
    struct server_peer peer;
    bool reading;       /* it is in the list of those that are to send a request */
    uint64_t since;     /* ms, by the loop's clock */
    uv_poll_t *hang_up; /* while its stream is parked: tells that the peer has gone */
    struct exchange *parked;
    TAILQ_ENTRY(client) link;
};
TAILQ_HEAD(clients, client);

enum exchange_state {
    EXCHANGE_NEW,     /* its head is there */
    EXCHANGE_BODY,    /* its body is being read */
    EXCHANGE_WAITING, /* for the end of a turn */
    EXCHANGE_READY,   /* its reply is to be sent */
    EXCHANGE_SENDING
};

/* A request and its reply. */
struct exchange {
    struct http *http;
    struct client *client;
    struct MHD_Connection *connection;
    enum exchange_state state;
    char *query; /* NULL: none */
    struct strbuf body;
    size_t held;      /* bytes of its reply, for http_users */
    size_t accounted; /* bytes of its body, likewise */
    bool streams;     /* it counts as a stream, likewise */
    int refused; /* a status, where the body is only read to be thrown away; 414: it has been answered */
    struct server_reply reply;
    struct strbuf
        out; /* of a stream: what has been read from it, and how much of that has been sent */
    size_t sent;
    int more;               /* what server_stream_read said */
    bool gone;              /* its peer has hung up */
    struct exchanges *list; /* in which it is, suspended; NULL: none */
    TAILQ_ENTRY(exchange) link;
};
TAILQ_HEAD(exchanges, exchange);

struct http {
    uv_loop_t *loop;
    struct MHD_Daemon *daemon;
    struct http_handler handler;
    struct http_users users;
    char path[108]; /* as long as that of a Unix socket */
    mode_t mode;
    int listener;
    dev_t device; /* of the socket's file */
    ino_t inode;
    uv_fs_event_t gone;          /* the file, for when somebody removes it */
    uv_poll_t listening, events; /* new connections; the epoll of libmicrohttpd */
    uv_timer_t timeout;          /* of libmicrohttpd */
    uv_timer_t deadline;         /* of the first of `reading` */
    uv_idle_t
        search; /* goes on with streams that look for what they have to say, and with `deferred` */
    uv_check_t round; /* a round of the loop is over */
    uv_timer_t again; /* to accept again after there were no descriptors left */
    bool pumping;
    bool draining;
    bool heavy; /* much memory has been in use */
    size_t busy;
    struct clients reading;    /* oldest first */
    struct exchanges waiting;  /* for the end of a turn */
    struct exchanges parked;   /* streams that had nothing */
    struct exchanges deferred; /* requests of users who have had their share of this round */
};

/* The socket (socket.c). Make it, in the place of the one that was; remove it; its file is where it was
 * made.
 */
int http_listen(struct http *h, berth_error_t *err);
void http_unlisten(struct http *h);
bool http_has_socket(const struct http *h);
/* Have http_listen_again called when something happens to its file. */
void http_watch_socket(struct http *h);

/* Let libmicrohttpd do what there is to do. */
void http_pump(struct http *h);

/* A parked stream has not come to the end of what it looks through, or a request is deferred: go on after
 * others have had their turn.
 */
void http_look_again(struct http *h);

/* The connection is to send a (next) request from now on; or it has. */
void client_expect(struct client *c);
void client_served(struct client *c);

/* Callbacks of libmicrohttpd: the beginning of a request, each part of it, its end. */
void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result exchange_answer(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context);
void exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode code);

/* A turn has ended, for one that waits for that or for its work. */
void exchange_turned(struct exchange *x, const berth_error_t *failure);

/* Wake one that waits; its work goes on without it. */
void exchange_wake(struct exchange *x, const berth_error_t *failure);

/* Take up one that was deferred. */
void exchange_resume(struct exchange *x);

/* See whether a parked stream has something now; wake it if so, or if it has to end. */
void exchange_look(struct exchange *x, bool end);

#endif
