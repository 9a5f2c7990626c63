#include "engine/cluster/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/node.h"
#include "engine/cluster/pump.h"
#include "engine/cluster/secret.h"
#include "engine/cluster/stream.h"
#include "engine/steady.h"

#define BACKLOG 128
#define EVENTS  64
#define ROUND   1000 /* ms: how often silence is looked for */

struct caller {
    struct pump pump;
    struct gate *gate;
    struct caller *next, *prev; /* from the oldest on */
    int64_t since;
    bool stranger; /* not known yet */
    bool over;
    bool has_local;
    short net, local; /* what epoll looks for */
};

struct gate {
    const char *directory;
    int control, listener, poll;
    struct caller *first, *last;
    size_t strangers;
    int64_t now, looked; /* ms */
};

static bool find_key_of_pilot(void *context, uint64_t pilot, uint8_t key[NOISE_KEY])
{
    const struct gate *g = context;
    return secret_read(g->directory, pilot, key, NULL) == 0;
}

static int listen_at_any_address(struct gate *g, uint16_t *port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    int no = 0;
    socklen_t size = sizeof(any);
    g->listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (g->listener >= 0)
        setsockopt(g->listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    if (g->listener < 0 || bind(g->listener, (const struct sockaddr *)&any, sizeof(any))) {
        if (g->listener >= 0)
            close(g->listener);
        g->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (g->listener < 0 || bind(g->listener, (const struct sockaddr *)&any4, sizeof(any4)))
            return -1;
    }
    if (listen(g->listener, BACKLOG) || getsockname(g->listener, (struct sockaddr *)&any, &size))
        return -1;
    *port = ntohs(any.sin6_port); /* at the same place in both */
    return 0;
}

static int watch_events(const struct gate *g, int fd, void *owner, short events, bool is_new)
{
    struct epoll_event event = {.data.ptr = owner};
    event.events = (events & POLLIN ? EPOLLIN : 0u) | (events & POLLOUT ? EPOLLOUT : 0u);
    return epoll_ctl(g->poll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

static void forget_caller(struct gate *g, struct caller *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        g->first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        g->last = c->prev;
    g->strangers -= c->stranger;
    pump_end(&c->pump);
    free(c);
}

/* Tell the server of a node, with one end of a stream to it. Returns the other end. */
static int introduce(struct pump *p, const void *bytes, size_t n)
{
    struct caller *c = p->context;
    struct node node;
    int ends[2];
    uint8_t head[8];
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } more = {.room = {0}};
    for (int i = 0; i < 8; i++)
        head[i] = (uint8_t)(p->channel.pilot >> (8 * i));
    if (node_read(&node, bytes, n))
        return -1;
    node_clear(&node);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
        return -1;
    struct iovec parts[2] = {{head, sizeof(head)}, {(void *)(uintptr_t)bytes, n}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = more.room,
                             .msg_controllen = sizeof(more.room)};
    more.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&more.header), &ends[1], sizeof(int));
    bool sent = sendmsg(c->gate->control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
    close(ends[1]);
    if (sent)
        return ends[0];
    close(ends[0]); /* a server that is that busy is dialled again */
    return -1;
}

/* A process of its own serves a stream, as long as both ends are there, whatever becomes of this one. */
static void take_stream(struct pump *p, const void *bytes, size_t n)
{
    struct caller *c = p->context;
    if (fork() != 0) /* it is ended by the caller's end, as one that could not be made is */
        return;
    sigset_t none;
    sigemptyset(&none);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    c->gate->first = NULL;
    stream_at_gate(p->net, &p->channel, bytes, n);
}

static void serve_caller(struct gate *g, struct caller *c)
{
    short net, local;
    struct pump *p = &c->pump;
    if (c->over)
        return;
    if (pump_carry(p, g->now) || (p->local >= 0 && pump_empty(p))) {
        c->over = true;
        return;
    }
    if (c->stranger && p->channel.known) {
        c->stranger = false;
        g->strangers--;
    }
    pump_wants(p, &net, &local);
    if (net != c->net)
        watch_events(g, p->net, c, net, false);
    if (p->local >= 0 && (!c->has_local || local != c->local))
        watch_events(g, p->local, c, local, !c->has_local);
    c->has_local = p->local >= 0;
    c->net = net;
    c->local = local;
}

/* Who comes while there are too many strangers takes the place of the oldest. */
static void turn_out_stranger(struct gate *g)
{
    struct caller *c = g->first;
    while (c && !(c->stranger && !c->over))
        c = c->next;
    if (c && g->strangers >= GATE_STRANGERS)
        c->over = true;
}

static void take_caller(struct gate *g, int fd)
{
    int yes = 1;
    struct caller *c = calloc(1, sizeof(*c));
    if (!c) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    turn_out_stranger(g);
    c->gate = g;
    c->since = g->now;
    c->stranger = true;
    g->strangers++;
    c->prev = g->last;
    if (g->last)
        g->last->next = c;
    else
        g->first = c;
    g->last = c;
    channel_begin_gate(&c->pump.channel, find_key_of_pilot, g);
    pump_begin(&c->pump, fd, g->now);
    c->pump.node = introduce;
    c->pump.stream = take_stream;
    c->pump.context = c;
    c->net = POLLIN;
    if (watch_events(g, fd, c, POLLIN, true))
        c->over = true;
}

static void take_callers(struct gate *g)
{
    for (int i = 0; i < GATE_STRANGERS / 2; i++) {
        int fd = accept4(g->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        take_caller(g, fd);
    }
}

/* Once a second: who is silent, or unknown for too long. */
static void look_around(struct gate *g)
{
    if (g->now - g->looked < ROUND)
        return;
    g->looked = g->now;
    for (struct caller *c = g->first; c; c = c->next) {
        if (c->stranger && g->now - c->since >= GATE_PATIENCE)
            c->over = true;
        serve_caller(g, c);
    }
}

static void forget_those_over(struct gate *g)
{
    for (struct caller *c = g->first, *next; c; c = next) {
        next = c->next;
        if (c->over)
            forget_caller(g, c);
    }
}

static bool server_gone(const struct gate *g)
{
    char byte;
    return recv(g->control, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static int serve_all(struct gate *g)
{
    struct epoll_event events[EVENTS];
    while (!server_gone(g)) {
        int n = epoll_wait(g->poll, events, EVENTS, g->first ? ROUND : -1);
        g->now = steady_ms();
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == &g->listener)
                take_callers(g);
            else if (events[i].data.ptr != &g->control)
                serve_caller(g, events[i].data.ptr);
        }
        look_around(g);
        forget_those_over(g);
    }
    return 0;
}

int gate_run(const char *directory, int control, berth_error_t *err)
{
    struct gate g = {.directory = directory, .control = control, .now = steady_ms()};
    uint16_t port;
    int rc = -1;
    signal(SIGCHLD, SIG_IGN); /* streams are waited for by nobody */
    g.poll = epoll_create1(EPOLL_CLOEXEC);
    if (g.poll < 0 || listen_at_any_address(&g, &port) ||
        watch_events(&g, g.listener, &g.listener, POLLIN, true) ||
        watch_events(&g, control, &g.control, POLLIN, true))
        errtext_set(err, errno, "cannot listen for agents: %s", strerror(errno));
    else if (addresses_write(directory, port, err) == 0)
        rc = serve_all(&g);
    int saved = errno;
    while (g.first)
        forget_caller(&g, g.first);
    if (g.listener >= 0)
        close(g.listener);
    if (g.poll >= 0)
        close(g.poll);
    errno = saved;
    return rc;
}
