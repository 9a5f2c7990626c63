#include "engine/cluster/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/dial.h"
#include "engine/local/attach.h"
#include "engine/steady.h"

#define CHUNK    16384
#define FULL     65536 /* bytes that wait for one side before the other is read no more */
#define PING     10000 /* ms of silence after which a side says that it is there */
#define SILENT   60000 /* ms of silence after which the other side counts as gone */
#define SIZE_MS  250   /* ms: how often the size of a terminal is looked at */
#define FAREWELL 5000  /* ms for the other side to take the last bytes */

struct stream {
    int net, from, to; /* -1: there is none */
    struct channel *channel;
    size_t sent;
    struct strbuf in; /* for `to` */
    size_t in_at;
    enum engine_attach as;
    bool at_node;
    bool ended;      /* nothing more comes from `from`, and the other side was told */
    bool peer_ended; /* nothing more comes from the other side */
    bool cut;        /* the connection was lost */
    struct winsize size;
    int64_t heard, said, looked;
};

static size_t waits_out(const struct stream *s)
{
    return s->channel->out.len - s->sent;
}

static void say_to_peer(struct stream *s, enum channel_kind kind, const void *bytes, size_t n)
{
    s->said = steady_ms();
    if (channel_put(s->channel, kind, bytes, n))
        s->cut = true;
}

/* ---- Both ways ---- */

static void set_size(struct stream *s, const uint8_t *bytes, size_t n)
{
    if (!s->at_node || s->as != ENGINE_TERMINAL || n != 4)
        return;
    s->size = (struct winsize){.ws_row = (unsigned short)(bytes[0] | bytes[1] << 8),
                               .ws_col = (unsigned short)(bytes[2] | bytes[3] << 8)};
    if (s->to >= 0)
        ioctl(s->to, TIOCSWINSZ, &s->size);
}

/* The size of the client's window, where that is another one. */
static void look_at_size(struct stream *s, int64_t now)
{
    struct winsize size;
    if (s->at_node || s->as != ENGINE_TERMINAL || (s->looked > 0 && now - s->looked < SIZE_MS))
        return;
    s->looked = now;
    if (ioctl(s->from, TIOCGWINSZ, &size) < 0 ||
        (size.ws_row == s->size.ws_row && size.ws_col == s->size.ws_col))
        return;
    s->size = size;
    const uint8_t bytes[4] = {(uint8_t)size.ws_row, (uint8_t)(size.ws_row >> 8),
                              (uint8_t)size.ws_col, (uint8_t)(size.ws_col >> 8)};
    say_to_peer(s, CHANNEL_SIZE, bytes, sizeof(bytes));
}

static void take_boxes(struct stream *s)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n;
    int rc;
    while ((rc = channel_take(s->channel, &kind, &bytes, &n)) > 0) {
        if (kind == CHANNEL_DATA && s->to >= 0)
            strbuf_put(&s->in, (const char *)bytes, n);
        else if (kind == CHANNEL_SIZE)
            set_size(s, bytes, n);
        else if (kind == CHANNEL_END)
            s->peer_ended = true;
    }
    s->cut = s->cut || rc < 0 || s->in.failed;
}

static void read_net(struct stream *s, int64_t now)
{
    struct strbuf *in = &s->channel->in;
    if (!strbuf_room(in, CHUNK)) {
        s->cut = true;
        return;
    }
    ssize_t n = recv(s->net, in->data + in->len, CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        s->cut = true;
        return;
    }
    in->len += (size_t)n;
    s->heard = now;
    take_boxes(s);
}

static void write_net(struct stream *s)
{
    while (waits_out(s) > 0) {
        ssize_t n =
            send(s->net, s->channel->out.data + s->sent, waits_out(s), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0) {
            s->cut = s->cut || (errno != EAGAIN && errno != EINTR);
            return;
        }
        s->sent += (size_t)n;
    }
    strbuf_reset(&s->channel->out);
    s->sent = 0;
}

/* A terminal whose other side is closed gives EIO. */
static void read_from(struct stream *s)
{
    char bytes[CHUNK];
    ssize_t n = read(s->from, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        say_to_peer(s, CHANNEL_DATA, bytes, (size_t)n);
        return;
    }
    s->ended = true;
    say_to_peer(s, CHANNEL_END, NULL, 0);
}

/* Returns whether there is still somebody who reads it. */
static bool write_to(struct stream *s)
{
    while (s->in_at < s->in.len) {
        ssize_t n = write(s->to, s->in.data + s->in_at, s->in.len - s->in_at);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n < 0)
            return false;
        s->in_at += (size_t)n;
    }
    strbuf_reset(&s->in);
    s->in_at = 0;
    return true;
}

/* The end: a side has nothing more to say, and what it said has arrived. */
static bool is_stream_over(const struct stream *s)
{
    bool taken = s->in_at == s->in.len;
    return s->cut || (s->peer_ended && taken);
}

static void keep_alive(struct stream *s, int64_t now)
{
    s->cut = s->cut || now - s->heard >= SILENT;
    if (now - s->said >= PING)
        say_to_peer(s, CHANNEL_PING, NULL, 0);
}

/* One round. Returns false once nobody is there to write to. */
static bool carry(struct stream *s)
{
    bool reads = s->from >= 0 && !s->ended && waits_out(s) < FULL;
    struct pollfd at[] = {{.fd = s->net,
                           .events = (short)((s->in.len - s->in_at < FULL ? POLLIN : 0) |
                                             (waits_out(s) ? POLLOUT : 0))},
                          {.fd = reads ? s->from : -1, .events = POLLIN},
                          {.fd = s->to, .events = (short)(s->in.len > s->in_at ? POLLOUT : 0)}};
    if (s->from == s->to && !reads && s->in.len == s->in_at)
        at[2].fd = -1; /* its hang-up is known */
    poll(at, 3, s->as == ENGINE_TERMINAL && !s->at_node ? SIZE_MS : 1000);
    int64_t now = steady_ms();
    if (at[1].revents)
        read_from(s);
    if (at[0].revents & (POLLIN | POLLHUP | POLLERR))
        read_net(s, now);
    bool there = s->to < 0 || write_to(s);
    if (s->to >= 0 && s->from < 0 && (at[2].revents & POLLERR))
        there = false; /* nobody reads the pipe any more */
    look_at_size(s, now);
    keep_alive(s, now);
    write_net(s);
    return there;
}

static void begin_carrying(struct stream *s)
{
    s->heard = s->said = steady_ms();
    s->looked = 0;
    fcntl(s->net, F_SETFL, O_NONBLOCK);
    take_boxes(s); /* what came with the last of the handshake */
}

/* Close all but some, so that nothing that is another's stays open by this process. */
static void close_but(int a, int b)
{
    unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
    syscall(SYS_close_range, 3U, low - 1, 0U);
    if (high > low + 1)
        syscall(SYS_close_range, low + 1, high - 1, 0U);
    syscall(SYS_close_range, high + 1, ~0U, 0U);
}

/* ---- At the server ---- */

/* What the task is to have, and the path of the client's socket, which the client has said. */
static int read_ask(const uint8_t *bytes, size_t n, enum engine_attach *as, char *path)
{
    if (n < 2 || n > STREAM_ASK_MOST || bytes[0] > ENGINE_TERMINAL || bytes[1] != '/' ||
        memchr(bytes, '\0', n) > (const void *)bytes)
        return -1;
    *as = (enum engine_attach)bytes[0];
    memcpy(path, bytes + 1, n - 1);
    path[n - 1] = '\0';
    return 0;
}

static void make_raw(int fd)
{
    struct termios t;
    if (tcgetattr(fd, &t) < 0)
        return;
    cfmakeraw(&t);
    tcsetattr(fd, TCSANOW, &t);
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

void stream_at_gate(int net, struct channel *channel, const void *bytes, size_t n)
{
    struct stream s = {.net = net, .from = -1, .to = -1, .channel = channel};
    char path[STREAM_ASK_MOST + 1], text[ATTACH_TEXT_MAX];
    bool gone;
    close_but(net, net);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "berth-stream");
    if (read_ask(bytes, n, &s.as, path) < 0)
        _exit(1);
    s.from = attach_receive(path, &gone, text);
    if (s.from < 0)
        _exit(1); /* nobody passes anything on */
    if (s.as == ENGINE_TERMINAL) {
        make_raw(s.from);
        s.to = s.from;
    }
    begin_carrying(&s);
    look_at_size(&s, s.heard);
    say_to_peer(&s, CHANNEL_STREAM, NULL, 0);
    while (!is_stream_over(&s) && carry(&s))
        ;
    _exit(0);
}

/* ---- At the node ---- */

int stream_listen(int folder, berth_error_t *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/" ATTACH_STREAMS, folder);
    unlink(at.sun_path); /* of an agent that was killed */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, 64)) {
        int saved = errno;
        if (fd >= 0)
            close(fd);
        return errtext_set(err, saved, "%s: %s", ATTACH_STREAMS, strerror(saved));
    }
    return fd;
}

/* What the task asks for, up to the end. */
static size_t read_task(int task, uint8_t bytes[STREAM_ASK_MOST])
{
    const struct timeval patience = {.tv_sec = 10};
    size_t n = 0;
    ssize_t got = 1;
    setsockopt(task, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (n < STREAM_ASK_MOST && (got = read(task, bytes + n, STREAM_ASK_MOST - n)) > 0)
        n += (size_t)got;
    return got == 0 ? n : 0;
}

/* The process that has connected, and a descriptor by which it is seen whether it is still the one of that number;
 * -1: gone, or not this user's.
 */
static int process_of(int task, pid_t *pid)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(task, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.uid != geteuid())
        return -1;
    *pid = peer.pid;
    return (int)syscall(SYS_pidfd_open, peer.pid, 0U);
}

/* A task leads a group of its own. */
static void hang_up_task(int process, pid_t pid)
{
    if (syscall(SYS_pidfd_send_signal, process, 0, NULL, 0U) == 0)
        kill(-pid, SIGHUP);
}

/* Wait until the gate has the client's descriptor. */
static int wait_for_answer(struct stream *s)
{
    enum channel_kind kind = CHANNEL_PING;
    const uint8_t *bytes;
    size_t n;
    int64_t until = steady_ms() + SILENT, now;
    while (kind != CHANNEL_STREAM && (now = steady_ms()) < until) {
        int rc = channel_take(s->channel, &kind, &bytes, &n);
        if (rc < 0)
            return -1;
        if (rc > 0 && kind == CHANNEL_SIZE)
            set_size(s, bytes, n);
        if (rc > 0)
            continue;
        struct pollfd p = {.fd = s->net, .events = POLLIN};
        struct strbuf *in = &s->channel->in;
        if (poll(&p, 1, (int)(until - now)) <= 0 || !strbuf_room(in, CHUNK))
            return -1;
        ssize_t got = recv(s->net, in->data + in->len, CHUNK, 0);
        if (got <= 0)
            return -1;
        in->len += (size_t)got;
    }
    return kind == CHANNEL_STREAM ? 0 : -1;
}

/* The task's end of it. Returns the descriptor that it is passed. */
static int open_ends(struct stream *s)
{
    int ends[2];
    char name[64];
    if (s->as != ENGINE_TERMINAL) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return -1;
        s->to = ends[1];
        fcntl(s->to, F_SETFL, O_NONBLOCK);
        return ends[0];
    }
    s->from = s->to = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (s->to < 0 || grantpt(s->to) < 0 || unlockpt(s->to) < 0 ||
        ptsname_r(s->to, name, sizeof(name)) != 0)
        return -1;
    fcntl(s->to, F_SETFL, O_NONBLOCK);
    ioctl(s->to, TIOCSWINSZ, &s->size);
    int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave >= 0)
        fchmod(slave, 0600);
    return slave;
}

/* The last bytes, and then until the gate has closed its side. */
static void part_from_gate(struct stream *s)
{
    int64_t until = steady_ms() + FAREWELL;
    s->from = s->to = -1;
    while (!s->cut && steady_ms() < until)
        carry(s);
}

void stream_at_node(int task, const char *pilots, uint64_t pilot, const uint8_t key[NOISE_KEY])
{
    static struct channel channel;
    struct stream s = {.from = -1, .to = -1, .channel = &channel, .at_node = true};
    uint8_t ask[STREAM_ASK_MOST];
    close_but(task, task);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "berth-stream");
    signal(SIGTERM, SIG_IGN); /* it ends with the task */
    size_t n = read_task(task, ask);
    pid_t pid = 0;
    int process = process_of(task, &pid);
    if (n < 2 || process < 0)
        _exit(1);
    s.as = (enum engine_attach)ask[0];
    s.net = dial_server(pilots, pilot, key, &channel);
    if (s.net < 0)
        _exit(1);
    fcntl(s.net, F_SETFL, 0);
    say_to_peer(&s, CHANNEL_STREAM, ask, n);
    write_net(&s);
    int passed = s.cut || wait_for_answer(&s) < 0 ? -1 : open_ends(&s);
    if (passed < 0)
        _exit(1);
    attach_pass(task, passed);
    close(passed);
    close(task);
    begin_carrying(&s);
    bool there = true;
    while (there && !s.ended && !is_stream_over(&s))
        there = carry(&s);
    if (s.cut && !s.peer_ended)
        hang_up_task(process, pid);
    else if (s.ended)
        part_from_gate(&s);
    _exit(0);
}
