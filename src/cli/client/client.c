#include "cli/client/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"

#define BUFFER     65536 /* bytes read at once */
#define OTHERS_MAX 8

struct client {
    char *socket;
    int fd; /* -1: no connection */
    struct reply reply;
    char buffer[BUFFER];
};

struct client_stream {
    char *socket, *path;
    struct client_taker taker;
    int fd;
    struct reply reply;
    char buffer[BUFFER];
};

/* The bytes of a request. */
struct sending {
    struct iovec part[2];
};

static int client_no_memory(berth_error_t *err)
{
    return errtext_no_memory(err);
}

static int broke_off(berth_error_t *err, const char *why)
{
    return errtext_set(err, ECONNRESET, "the connection to the server was lost: %s", why);
}

static int make_connection(const char *path, berth_error_t *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc;

    if (strlen(path) >= sizeof(address.sun_path))
        return errtext_set(err, ECONNREFUSED, "%s: the path of the socket is too long", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    do
        rc = connect(fd, (const struct sockaddr *)&address, sizeof(address));
    while (rc < 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    int why = errno;
    close(fd);
    return errtext_set(err, why == EACCES ? EACCES : ECONNREFUSED, "%s: %s", path, strerror(why));
}

struct client *client_open(const char *socket, berth_error_t *err)
{
    struct client *c = malloc(sizeof(*c));

    if (c) {
        c->fd = -1;
        c->socket = strdup(socket);
    }
    if (!c || !c->socket) {
        free(c);
        client_no_memory(err);
        return NULL;
    }
    return c;
}

int client_connect(struct client *c, berth_error_t *err)
{
    if (c->fd < 0)
        c->fd = make_connection(c->socket, err);
    return c->fd < 0 ? -1 : 0;
}

static void hang_up_client(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

void client_close(struct client *c)
{
    if (!c)
        return;
    hang_up_client(c);
    free(c->socket);
    free(c);
}

/* The head of a request. The path has no blank, which its maker ensures. */
static void put_request_head(struct strbuf *head, const char *method, const char *path,
                             bool has_body, size_t length)
{
    strbuf_puts(head, method);
    strbuf_putc(head, ' ');
    strbuf_puts(head, path);
    strbuf_puts(head, " HTTP/1.1\r\nHost: berth\r\n");
    if (has_body) {
        strbuf_puts(head, "Content-Type: application/json\r\nContent-Length: ");
        strbuf_put_uint(head, length);
        strbuf_puts(head, "\r\n");
    }
    strbuf_puts(head, "\r\n");
}

/* Send as much as possible without waiting. Returns 1 if all is sent; 0; -1 if the server does not take it.
 */
static int send_some(int fd, struct sending *s)
{
    struct msghdr message = {.msg_iov = s->part, .msg_iovlen = 2};

    while (s->part[0].iov_len + s->part[1].iov_len > 0) {
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN ? 0 : -1;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)sent < s->part[i].iov_len ? (size_t)sent : s->part[i].iov_len;
            if (part > 0) /* one without a body has no address of it */
                s->part[i].iov_base = (char *)s->part[i].iov_base + part;
            s->part[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
    return 1;
}

/* Read what has arrived, or wait for it if asked to. Returns 1 if there may be more; 0 if the reply is
 * complete; -1.
 */
static int read_reply_part(int fd, struct reply *r, char *buffer, int flags,
                           const struct client_taker *taker, berth_error_t *err)
{
    ssize_t n = recv(fd, buffer, BUFFER, flags);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (n < 0)
        return broke_off(err, strerror(errno));
    if (n == 0)
        return reply_end(r) ? 0 : broke_off(err, "end of the connection");
    ptrdiff_t taken = reply_take(r, buffer, (size_t)n, taker);
    if (taken < 0)
        return errno == ECANCELED ? errtext_set(err, ECANCELED, "given up")
                                  : errtext_set(err, EPROTO, "the server's answer is not HTTP");
    if (taken < n)
        r->closes = true; /* these bytes belong to no request */
    return r->part != REPLY_DONE;
}

/* Send a request and read its reply, which may come before all is sent. */
static int exchange_with_server(struct client *c, struct sending *s,
                                const struct client_taker *taker, berth_error_t *err)
{
    int sent = send_some(c->fd, s), rc;

    while (sent == 0) {
        struct pollfd fd = {.fd = c->fd, .events = POLLIN | POLLOUT};
        if (poll(&fd, 1, -1) < 0 && errno != EINTR)
            return broke_off(err, strerror(errno));
        if (fd.revents & ~POLLOUT) {
            rc = read_reply_part(c->fd, &c->reply, c->buffer, MSG_DONTWAIT, taker, err);
            if (rc <= 0) {
                c->reply.closes = true;
                return rc;
            }
        }
        if (fd.revents & POLLOUT)
            sent = send_some(c->fd, s);
    }
    while ((rc = read_reply_part(c->fd, &c->reply, c->buffer, 0, taker, err)) > 0)
        ;
    if (sent < 0)
        c->reply.closes = true;
    return rc;
}

/* Whether the server has closed a connection, or has sent something unasked. */
static bool reply_is_over(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, 0) != 0;
}

int client_ask(struct client *c, const char *method, const char *path, const char *body,
               size_t length, const struct client_taker *taker, long *status, berth_error_t *err)
{
    bool reads = strcmp(method, "GET") == 0;
    struct strbuf head = {0};
    int rc;

    *status = 0;
    put_request_head(&head, method, path, !reads, length);
    if (head.failed) {
        strbuf_clear(&head);
        return client_no_memory(err);
    }
    if (c->fd >= 0 && reply_is_over(c->fd))
        hang_up_client(c);
    for (;;) {
        bool used = c->fd >= 0;
        struct sending s = {{{head.data, head.len}, {(char *)(uintptr_t)body, length}}};
        rc = client_connect(c, err);
        if (rc < 0)
            break;
        reply_init(&c->reply);
        rc = exchange_with_server(c, &s, taker, err);
        bool none = c->reply.part == REPLY_STATUS && c->reply.n == 0;
        bool again = rc < 0 && errno == ECONNRESET && used && reads && none;
        *status = c->reply.status;
        if (rc < 0 || c->reply.closes) {
            int saved = errno;
            hang_up_client(c);
            errno = saved;
        }
        /* The server may close an idle connection while it is asked. Reading twice does no harm. */
        if (!again)
            break;
    }
    int saved = errno;
    strbuf_clear(&head);
    errno = saved;
    return rc;
}

struct client_stream *client_follow(struct client *c, const char *path,
                                    const struct client_taker *taker, berth_error_t *err)
{
    struct client_stream *s = malloc(sizeof(*s));

    if (s) {
        s->fd = -1;
        s->taker = *taker;
        s->socket = strdup(c->socket);
        s->path = strdup(path);
    }
    if (!s || !s->socket || !s->path) {
        client_end(s);
        client_no_memory(err);
        return NULL;
    }
    return s;
}

void client_end(struct client_stream *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    free(s->socket);
    free(s->path);
    free(s);
}

static int begin_request(struct client_stream *s, berth_error_t *err)
{
    struct strbuf head = {0};

    s->fd = make_connection(s->socket, err);
    if (s->fd < 0)
        return -1;
    reply_init(&s->reply);
    put_request_head(&head, "GET", s->path, false, 0);
    struct sending sending = {{{head.data, head.len}, {NULL, 0}}};
    int rc = head.failed                       ? client_no_memory(err)
             : send_some(s->fd, &sending) == 1 ? 0
                                               : broke_off(err, "it takes no request");
    int saved = errno;
    strbuf_clear(&head);
    errno = saved;
    return rc;
}

int client_wait(struct client_stream *s, struct pollfd *others, unsigned n, int timeout_ms,
                long *status, berth_error_t *err)
{
    struct pollfd fds[1 + OTHERS_MAX];
    unsigned all = n < OTHERS_MAX ? n : OTHERS_MAX;
    int rc = 1;

    *status = 0;
    for (unsigned i = 0; i < n; i++)
        others[i].revents = 0;
    if (s->fd < 0 && begin_request(s, err) < 0)
        return -1;
    fds[0] = (struct pollfd){.fd = s->fd, .events = POLLIN};
    memcpy(fds + 1, others, all * sizeof(*others));
    if (poll(fds, 1 + all, timeout_ms) < 0)
        return errno == EINTR ? 1 : client_no_memory(err);
    memcpy(others, fds + 1, all * sizeof(*others));
    if (fds[0].revents)
        rc = read_reply_part(s->fd, &s->reply, s->buffer, MSG_DONTWAIT, &s->taker, err);
    *status = s->reply.status;
    return rc;
}
