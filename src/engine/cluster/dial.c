#include "engine/cluster/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "engine/cluster/secret.h"

int dial_begin(const struct sockaddr_storage *to, socklen_t length)
{
    int yes = 1;
    int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (connect(fd, (const struct sockaddr *)to, length) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

int dial_end(int fd)
{
    int failure = 0;
    socklen_t size = sizeof(failure);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    errno = failure;
    return failure ? -1 : 0;
}

/* Send what the channel has; read what it needs. */
static int shake(int fd, struct channel *c)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n, sent = 0;
    while (sent < c->out.len) {
        ssize_t some = send(fd, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL);
        if (some < 0)
            return -1;
        sent += (size_t)some;
    }
    strbuf_reset(&c->out);
    while (c->stage == CHANNEL_WAITS) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, DIAL_PATIENCE) <= 0 || !strbuf_room(&c->in, CHANNEL_SECOND))
            return -1;
        ssize_t got = recv(fd, c->in.data + c->in.len, CHANNEL_SECOND - c->in.len, 0);
        if (got <= 0)
            return -1;
        c->in.len += (size_t)got;
        if (channel_take(c, &kind, &bytes, &n) < 0)
            return -1;
    }
    return c->stage == CHANNEL_OPEN ? 0 : -1;
}

int dial_server(const char *pilots, uint64_t pilot, const uint8_t key[NOISE_KEY],
                struct channel *channel)
{
    struct addresses all;
    if (addresses_read(pilots, &all, NULL) < 0)
        return -1;
    for (size_t i = 0; i < all.n; i++) {
        int fd = dial_begin(&all.v[i], all.length[i]);
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        channel_begin_agent(channel, pilot, key);
        if (fd >= 0 && poll(&p, 1, DIAL_PATIENCE) > 0 && dial_end(fd) == 0 &&
            shake(fd, channel) == 0)
            return fd;
        channel_clear(channel);
        if (fd >= 0)
            close(fd);
    }
    return -1;
}
