/* The socket, connections and libmicrohttpd in the loop. */
#include "server/http/priv.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/errtext.h"

#define HEAD_MAX    ((size_t)32 << 10) /* libmicrohttpd's memory per connection */
#define ROUNDS      16                 /* of libmicrohttpd in one call */
#define ACCEPTS     64                 /* connections accepted in one call */
#define CROWD       64                 /* connections */
#define NO_FILES_MS 100                /* to wait when no descriptor is free */

static const char full[] =
    "HTTP/1.1 503 Service Unavailable\r\n"
    "Content-Type: application/json\r\nContent-Length: 67\r\n"
    "Retry-After: 1\r\nConnection: close\r\n\r\n"
    "{\"error\":{\"message\":\"too many connections, try again\",\"key\":null}}\n";

static void on_timeout(uv_timer_t *timer)
{
    http_pump(timer->data);
}

void http_pump(struct http *h)
{
    unsigned long long ms = 0;
    bool any = true;

    /* Its callbacks may call this again. */
    if (h->pumping || !h->daemon)
        return;
    h->pumping = true;
    for (int i = 0; i < ROUNDS; i++) {
        MHD_run(h->daemon);
        any = MHD_get_timeout(h->daemon, &ms) == MHD_YES;
        if (!any || ms > 0)
            break;
    }
    h->pumping = false;
    uv_timer_stop(&h->timeout);
    if (any && ms > 0)
        uv_timer_start(&h->timeout, on_timeout, ms, 0);
    else if (any)
        http_look_again(h);
}

static void on_events(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    http_pump(handle->data);
}

static void on_search(uv_idle_t *idle)
{
    struct http *h = idle->data;
    struct exchange *x, *next, *last = TAILQ_LAST(&h->parked, exchanges);

    uv_idle_stop(idle);
    while ((x = TAILQ_FIRST(&h->deferred)))
        exchange_resume(x);
    /* A stream that was looked at moves to the end, as the round's time may not suffice for all. */
    for (x = TAILQ_FIRST(&h->parked); x; x = next) {
        next = x == last ? NULL : TAILQ_NEXT(x, link);
        if (x->more != 1)
            continue;
        if (!http_users_may_work(&h->users, x->client->peer.uid)) {
            http_look_again(h);
            continue;
        }
        TAILQ_REMOVE(&h->parked, x, link);
        TAILQ_INSERT_TAIL(&h->parked, x, link);
        exchange_look(x, false);
    }
    http_pump(h);
}

static void on_round(uv_check_t *check)
{
    struct http *h = check->data;
    http_users_begin_round(&h->users);
}

void http_look_again(struct http *h)
{
    /* In the next round; a timer would fire again in this one. */
    uv_idle_start(&h->search, on_search);
}

static void set_deadline(struct http *h);

/* Close connections whose time for a request is over. */
static void on_deadline(uv_timer_t *timer)
{
    struct http *h = timer->data;
    struct client *c;

    while ((c = TAILQ_FIRST(&h->reading)) && c->since + HTTP_REQUEST_MS <= uv_now(h->loop)) {
        client_served(c);
        shutdown(c->fd, SHUT_RDWR);
    }
    set_deadline(h);
    http_pump(h);
}

static void set_deadline(struct http *h)
{
    struct client *c = TAILQ_FIRST(&h->reading);
    uint64_t now = uv_now(h->loop);

    if (!c) {
        uv_timer_stop(&h->deadline);
        return;
    }
    uint64_t due = c->since + HTTP_REQUEST_MS;
    if (!uv_is_active((const uv_handle_t *)&h->deadline))
        uv_timer_start(&h->deadline, on_deadline, due > now ? due - now : 0, 0);
}

void client_expect(struct client *c)
{
    if (c->reading || c->http->draining)
        return;
    c->reading = true;
    c->since = uv_now(c->http->loop);
    TAILQ_INSERT_TAIL(&c->http->reading, c, link);
    set_deadline(c->http);
}

void client_served(struct client *c)
{
    if (!c->reading)
        return;
    c->reading = false;
    TAILQ_REMOVE(&c->http->reading, c, link);
}

static bool look_at_peer(int fd, struct server_peer *peer)
{
    struct ucred ucred;
    socklen_t length = sizeof(ucred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length) < 0)
        return false;
    *peer = (struct server_peer){.uid = ucred.uid, .gid = ucred.gid, .pid = ucred.pid};
    return true;
}

/* A connection begins or ends. Without a client object, its requests are refused. */
static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *h = cls;
    struct client *c;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        c = calloc(1, sizeof(*c));
        *context = c;
        if (!c)
            return;
        c->http = h;
        c->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        if (!look_at_peer(c->fd, &c->peer) || http_users_connect(&h->users, c->peer.uid) < 0) {
            free(c);
            *context = NULL;
            return;
        }
        if (h->users.connections > CROWD)
            h->heavy = true;
        client_expect(c);
        return;
    }
    c = *context;
    if (!c)
        return;
    client_served(c);
    http_users_disconnect(&h->users, c->peer.uid);
    free(c);
    *context = NULL;
    /* Return memory after many connections or a large body. */
    if (h->users.connections == 0 && h->heavy) {
        h->heavy = false;
        malloc_trim(0);
    }
}

static void on_listening(uv_poll_t *handle, int status, int events);

static void on_accept_again(uv_timer_t *timer)
{
    struct http *h = timer->data;
    if (!h->draining)
        uv_poll_start(&h->listening, UV_READABLE, on_listening);
}

static void take_connection(struct http *h, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct server_peer peer;

    if (!look_at_peer(fd, &peer)) {
        close(fd);
        return;
    }
    if (!http_users_may_connect(&h->users, peer.uid)) {
        send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        close(fd);
        return;
    }
    /* On failure it closes the descriptor. */
    MHD_add_connection(h->daemon, fd, (const struct sockaddr *)&address, sizeof(sa_family_t));
}

static void on_listening(uv_poll_t *handle, int status, int events)
{
    struct http *h = handle->data;

    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(h->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_connection(h, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* The socket stays readable: stop polling it for a while. */
            uv_poll_stop(&h->listening);
            uv_timer_start(&h->again, on_accept_again, NO_FILES_MS, 0);
        }
        break;
    }
    http_pump(h);
}

void http_listen_again(struct http *h)
{
    berth_error_t err;
    char text[sizeof(err.text) + 80];

    if (h->draining || http_has_socket(h))
        return;
    on_listening(&h->listening, 0, 0); /* accept those that wait at the old socket */
    uv_poll_stop(&h->listening);
    uv_fs_event_stop(&h->gone);
    if (http_listen(h, &err) == 0) {
        snprintf(text, sizeof(text), "the socket was removed and has been recreated");
        http_watch_socket(h);
    } else {
        snprintf(text, sizeof(text), "the socket is gone, send SIGHUP to recreate it: %s",
                 err.text);
    }
    h->handler.notice(h->handler.context, text);
    uv_poll_start(&h->listening, UV_READABLE, on_listening);
}

static struct MHD_Daemon *start_daemon(struct http *h)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
        exchange_answer, h, MHD_OPTION_NOTIFY_COMPLETED, exchange_end, h,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, exchange_begin,
        h, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_REPLY_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MAX, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS + 1, MHD_OPTION_END);
}

static void http_init_handles(struct http *h)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    uv_poll_init(h->loop, &h->listening, h->listener);
    uv_poll_init(h->loop, &h->events, info->epoll_fd);
    uv_timer_init(h->loop, &h->timeout);
    uv_timer_init(h->loop, &h->deadline);
    uv_timer_init(h->loop, &h->again);
    uv_idle_init(h->loop, &h->search);
    uv_check_init(h->loop, &h->round);
    uv_fs_event_init(h->loop, &h->gone);
    h->listening.data = h->events.data = h->timeout.data = h->deadline.data = h->again.data =
        h->search.data = h->round.data = h->gone.data = h;
    uv_check_start(&h->round, on_round);
    http_watch_socket(h);
    uv_poll_start(&h->listening, UV_READABLE, on_listening);
    uv_poll_start(&h->events, UV_READABLE, on_events);
}

struct http *http_open(uv_loop_t *loop, const char *path, mode_t mode, unsigned per_user,
                       uid_t owner, const struct http_handler *handler, berth_error_t *err)
{
    struct http *h = calloc(1, sizeof(*h));

    if (!h) {
        errtext_no_memory(err);
        return NULL;
    }
    h->loop = loop;
    h->handler = *handler;
    h->users.limit = per_user;
    h->users.owner = owner;
    TAILQ_INIT(&h->reading);
    TAILQ_INIT(&h->waiting);
    TAILQ_INIT(&h->parked);
    TAILQ_INIT(&h->deferred);
    h->mode = mode;
    h->listener = -1;
    if (strlen(path) >= sizeof(h->path))
        errtext_set(err, EINVAL, "the path of the socket is too long: %s", path);
    else
        memcpy(h->path, path, strlen(path) + 1);
    if (!h->path[0] || http_listen(h, err) < 0) {
        free(h);
        return NULL;
    }
    h->daemon = start_daemon(h);
    if (!h->daemon) {
        http_unlisten(h);
        close(h->listener);
        free(h);
        errtext_set(err, ENOMEM, "cannot start libmicrohttpd");
        return NULL;
    }
    http_init_handles(h);
    return h;
}

void http_turned(struct http *h, const berth_error_t *failure)
{
    struct exchange *x, *next;

    for (x = TAILQ_FIRST(&h->waiting); x; x = next) {
        next = TAILQ_NEXT(x, link);
        exchange_turned(x, failure);
    }
    for (x = TAILQ_FIRST(&h->parked); x; x = next) {
        next = TAILQ_NEXT(x, link);
        exchange_look(x, h->draining);
    }
    http_pump(h);
}

void http_drain(struct http *h)
{
    if (h->draining)
        return;
    h->draining = true;
    uv_poll_stop(&h->listening);
    uv_timer_stop(&h->again);
    uv_fs_event_stop(&h->gone);
    http_unlisten(h);
}

size_t http_busy(const struct http *h)
{
    return h->busy;
}

void http_close(struct http *h)
{
    struct exchange *x;
    berth_error_t why;

    http_drain(h);
    /* What is not durable was not done. */
    errtext_set(&why, ECANCELED, "the server is stopping");
    while ((x = TAILQ_FIRST(&h->waiting)))
        exchange_wake(x, &why);
    while ((x = TAILQ_FIRST(&h->parked)))
        exchange_look(x, true);
    while ((x = TAILQ_FIRST(&h->deferred))) {
        x->refused = 503;
        exchange_resume(x);
    }
    MHD_run(h->daemon);
    uv_close((uv_handle_t *)&h->listening, NULL);
    uv_close((uv_handle_t *)&h->events, NULL);
    uv_close((uv_handle_t *)&h->timeout, NULL);
    uv_close((uv_handle_t *)&h->deadline, NULL);
    uv_close((uv_handle_t *)&h->again, NULL);
    uv_close((uv_handle_t *)&h->search, NULL);
    uv_close((uv_handle_t *)&h->gone, NULL);
    uv_close((uv_handle_t *)&h->round, NULL);
    MHD_stop_daemon(h->daemon);
    h->daemon = NULL;
    close(h->listener);
}

void http_free(struct http *h)
{
    http_users_clear(&h->users);
    free(h);
}
