#include "engine/cluster/pump.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK 65536
#define FULL  ((size_t)256 << 10) /* bytes that wait for one side before the other is read no more */

void pump_begin(struct pump *p, int net, int64_t now)
{
    p->net = net;
    p->local = -1;
    p->heard = p->said = now;
}

static bool would_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Send what is in a buffer from `*at` on. */
static int drain(int fd, struct strbuf *b, size_t *at)
{
    if (fd < 0)
        return 0;
    while (*at < b->len) {
        ssize_t n = send(fd, b->data + *at, b->len - *at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return would_wait() ? 0 : -1;
        *at += (size_t)n;
    }
    strbuf_reset(b);
    *at = 0;
    return 0;
}

static size_t waits_out(const struct pump *p)
{
    return p->channel.out.len - p->sent;
}

static size_t waits_to(const struct pump *p)
{
    return p->to.len - p->to_sent;
}

static int take_boxes(struct pump *p)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n;
    int rc;
    while ((rc = channel_take(&p->channel, &kind, &bytes, &n)) > 0) {
        if (kind == CHANNEL_STREAM && p->stream && p->local < 0)
            p->stream(p, bytes, n);
        if ((kind == CHANNEL_NODE && (!p->node || p->local >= 0)) || kind >= CHANNEL_STREAM)
            return -1;
        if (kind == CHANNEL_NODE) {
            p->local = p->node(p, bytes, n);
            if (p->local < 0)
                return -1;
        } else if (kind == CHANNEL_DATA && p->node && p->local < 0) {
            return -1; /* it has not said who it is */
        } else if (kind == CHANNEL_DATA && !p->deaf) {
            strbuf_put(&p->to, (const char *)bytes, n);
        }
    }
    return rc < 0 || p->to.failed ? -1 : 0;
}

/* 1: something came, 0, -1. */
static int read_net(struct pump *p, int64_t now)
{
    struct strbuf *in = &p->channel.in;
    if (waits_to(p) >= FULL)
        return 0;
    if (!strbuf_room(in, p->channel.known ? CHUNK : 4096))
        return -1;
    ssize_t n = recv(p->net, in->data + in->len, p->channel.known ? CHUNK : 4096, MSG_DONTWAIT);
    if (n < 0)
        return would_wait() ? 0 : -1;
    if (n == 0)
        return -1;
    in->len += (size_t)n;
    p->heard = now;
    return take_boxes(p) ? -1 : 1;
}

static int read_local(struct pump *p, int64_t now)
{
    char bytes[CHUNK];
    if (p->local < 0 || p->local_ended || p->channel.stage != CHANNEL_OPEN || waits_out(p) >= FULL)
        return 0;
    ssize_t n = recv(p->local, bytes, CHANNEL_MOST, MSG_DONTWAIT);
    if (n < 0 && would_wait())
        return 0;
    if (n <= 0) {
        p->local_ended = true;
        return 0;
    }
    p->said = now;
    return channel_put(&p->channel, CHANNEL_DATA, bytes, (size_t)n) ? -1 : 1;
}

static int keep_alive(struct pump *p, int64_t now)
{
    if (now - p->heard >= PUMP_SILENT)
        return -1;
    if (p->channel.stage != CHANNEL_OPEN || now - p->said < PUMP_PING)
        return 0;
    p->said = now;
    return channel_put(&p->channel, CHANNEL_PING, NULL, 0);
}

/* The socket takes no more; what it has said is still carried. */
static void fall_deaf(struct pump *p)
{
    p->deaf = true;
    strbuf_reset(&p->to);
    p->to_sent = 0;
}

int pump_carry(struct pump *p, int64_t now)
{
    int from_net = 1, from_local = 1;
    for (int rounds = 0; rounds < 16 && (from_net > 0 || from_local > 0); rounds++) {
        from_net = read_net(p, now);
        from_local = from_net < 0 ? -1 : read_local(p, now);
        if (from_local < 0 || drain(p->net, &p->channel.out, &p->sent))
            return -1;
        if (drain(p->local, &p->to, &p->to_sent))
            fall_deaf(p);
    }
    return keep_alive(p, now) || drain(p->net, &p->channel.out, &p->sent) ? -1 : 0;
}

void pump_wants(const struct pump *p, short *net, short *local)
{
    *net = (short)((waits_to(p) < FULL ? POLLIN : 0) | (waits_out(p) > 0 ? POLLOUT : 0));
    *local =
        (short)((!p->local_ended && p->channel.stage == CHANNEL_OPEN && waits_out(p) < FULL ? POLLIN
                                                                                            : 0) |
                (waits_to(p) > 0 ? POLLOUT : 0));
}

bool pump_empty(const struct pump *p)
{
    return p->local_ended && waits_out(p) == 0;
}

void pump_end(struct pump *p)
{
    if (p->net >= 0)
        close(p->net);
    if (p->local >= 0)
        close(p->local);
    p->net = p->local = -1;
    strbuf_clear(&p->to);
    channel_clear(&p->channel);
}
