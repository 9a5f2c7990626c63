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
    bool reading;       /* in the list of those that must send a request */
    uint64_t since;     /* ms of the loop's clock */
    uv_poll_t *hang_up; /* while its stream is parked: reports that the peer has gone */
    struct exchange *parked;
    TAILQ_ENTRY(client) link;
};
TAILQ_HEAD(clients, client);

enum exchange_state {
    EXCHANGE_NEW,     /* its head was read */
    EXCHANGE_BODY,    /* its body is being read */
    EXCHANGE_WAITING, /* for the end of a turn */
    EXCHANGE_READY,   /* its reply can be sent */
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
    size_t held;      /* bytes of its reply, counted in http_users */
    size_t accounted; /* bytes of its body, counted there */
    bool streams;     /* it is counted there as a stream */
    int refused; /* a status, if the body is read only to be discarded; 414: already answered */
    struct server_reply reply;
    struct strbuf out; /* of a stream: a piece read from it, and how much of that was sent */
    size_t sent;
    int more;               /* the last result of server_stream_read */
    bool gone;              /* the peer has gone */
    struct exchanges *list; /* the list in which it is suspended; NULL: none */
    TAILQ_ENTRY(exchange) link;
};
TAILQ_HEAD(exchanges, exchange);

struct http {
    uv_loop_t *loop;
    struct MHD_Daemon *daemon;
    struct http_handler handler;
    struct http_users users;
    char path[108]; /* the limit for a Unix socket */
    mode_t mode;
    int listener;
    dev_t device; /* identity of the socket's file */
    ino_t inode;
    uv_fs_event_t gone;          /* watches the file */
    uv_poll_t listening, events; /* new connections; the epoll of libmicrohttpd */
    uv_timer_t timeout;          /* of libmicrohttpd */
    uv_timer_t deadline;         /* for the first of `reading` */
    uv_idle_t search; /* continues streams that are still searching, and `deferred` requests */
    uv_check_t round; /* runs after each round of the loop */
    uv_timer_t again; /* resumes accepting after descriptors ran out */
    bool pumping;
    bool draining;
    bool heavy; /* much memory was in use */
    size_t busy;
    struct clients reading;    /* oldest first */
    struct exchanges waiting;  /* for the end of a turn */
    struct exchanges parked;   /* streams with nothing to send */
    struct exchanges deferred; /* requests of users who have used up this round's share */
};

/* The socket (socket.c): create it in place of the old one; remove it; whether its file is still in place. */
int http_listen(struct http *h, berth_error_t *err);
void http_unlisten(struct http *h);
bool http_has_socket(const struct http *h);
/* Call http_listen_again when something happens to the file. */
void http_watch_socket(struct http *h);

/* Let libmicrohttpd handle its events. */
void http_pump(struct http *h);

/* Continue with searching streams and deferred requests in the next round. */
void http_look_again(struct http *h);

/* The connection must send its next request in time; or it has sent it. */
void client_expect(struct client *c);
void client_served(struct client *c);

/* Callbacks of libmicrohttpd: the beginning of a request, each part of it, its end. */
void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result exchange_answer(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context);
void exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode code);

/* A turn has ended: wake the exchange if it waited for that, or if its work is finished. */
void exchange_turned(struct exchange *x, const berth_error_t *failure);

/* Wake a waiting exchange; its work continues without it. */
void exchange_wake(struct exchange *x, const berth_error_t *failure);

/* Resume a deferred exchange. */
void exchange_resume(struct exchange *x);

/* Wake a parked stream if it has something now or must end. */
void exchange_look(struct exchange *x, bool end);

#endif
