/* The keeper's link to the engine: one at a time, the newest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/local/keeper.h"

#define CHUNK   65536
#define BIG     ((size_t)1 << 20) /* buffers above this are given back when they are empty */
#define TRUSTED 0                 /* root */

int keeper_watch(struct keeper *k, int fd, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(k->poll, EPOLL_CTL_ADD, fd, &event);
}

void keeper_unwatch(struct keeper *k, int *fd)
{
    struct epoll_event nothing = {0};
    if (*fd < 0)
        return;
    epoll_ctl(k->poll, EPOLL_CTL_DEL, *fd, &nothing);
    close(*fd);
    *fd = -1;
}

static void look_for(struct keeper *k, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = &k->watch_link};
    if (events != k->link_events && epoll_ctl(k->poll, EPOLL_CTL_MOD, k->link, &event) == 0)
        k->link_events = events;
}

static void keeper_hang_up(struct keeper *k)
{
    keeper_unwatch(k, &k->link);
    k->link_held = false;
    strbuf_clear(&k->in);
    strbuf_clear(&k->out);
    k->out_at = 0;
    k->unsent = k->notes;
    keeper_output_unlinked(k);
}

/* Greet an engine. */
static void hello(struct keeper *k)
{
    char notice[sizeof(k->cgroups.notice) + sizeof(k->unread_notice) + 2];
    bool both = k->cgroups.notice[0] && k->unread_notice[0];
    snprintf(notice, sizeof(notice), "%s%s%s", k->unread_notice, both ? "; " : "",
             k->cgroups.notice);
    struct message_hello hello = {
        .pid = getpid(),
        .notice = notice[0] ? notice : NULL,
        .keys = calloc(k->runs.n + 1, sizeof(*hello.keys)),
        .used = k->used,
    };
    for (const struct run *run = k->first; hello.keys && run; run = run->next)
        hello.keys[hello.n_keys++] = run->key;
    if (hello.keys)
        message_put_hello(&k->out, &hello);
    if (!hello.keys || k->out.failed)
        keeper_hang_up(k);
    free(hello.keys);
}

void keeper_accept(struct keeper *k)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    int fd = accept4(k->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
        (peer.uid != geteuid() && peer.uid != TRUSTED)) {
        close(fd);
        return;
    }
    keeper_hang_up(k);
    k->watch_link = (struct watch){WATCH_LINK, k};
    k->link = fd;
    k->link_events = EPOLLIN;
    k->linger_at = 0;
    if (keeper_watch(k, fd, &k->watch_link, EPOLLIN))
        keeper_hang_up(k);
    else
        hello(k);
}

/* Whether messages are read: few runs are being started, or answers are waited for before the end. */
static bool reads(const struct keeper *k)
{
    return k->starting < k->starting_max || (k->ending && k->spools);
}

static int take_server_message(struct keeper *k, struct wire *w)
{
    struct message_signal signal;
    uint64_t number;
    switch (wire_u8(w)) {
    case MESSAGE_START: /* of one that ends, the next keeper is asked */
        return k->ending ? 0 : keeper_start(k, w->at, w->left);
    case MESSAGE_SIGNAL:
        if (message_signal(w, &signal))
            return -1;
        keeper_signal(k, &signal);
        return 0;
    case MESSAGE_ACKNOWLEDGE:
        if (message_acknowledge(w, &number))
            return -1;
        keeper_acknowledge(k, number);
        return 0;
    case MESSAGE_WRITTEN:
        return keeper_output_written(k, w);
    default:
        errno = EPROTO;
        return -1;
    }
}

/* All messages that are there, unless too many runs are being started. */
static int take_messages(struct keeper *k)
{
    size_t at = 0;
    int rc = 1;
    while (reads(k)) {
        struct wire w;
        size_t taken;
        rc = wire_next(k->in.data + at, k->in.len - at, &w, &taken);
        if (rc <= 0)
            break;
        if (take_server_message(k, &w))
            return -1;
        at += taken;
    }
    if (at > 0)
        memmove(k->in.data, k->in.data + at, k->in.len - at);
    k->in.len -= at;
    k->link_held = !reads(k) && k->in.len > 0;
    if (k->in.len == 0 && k->in.cap > BIG)
        strbuf_clear(&k->in);
    return rc < 0 ? -1 : 0;
}

void keeper_read(struct keeper *k)
{
    if (k->link < 0)
        return;
    if (k->ending && !k->spools) {
        keeper_hang_up(k); /* nothing is taken any more, so it is the peer that has */
        return;
    }
    ssize_t n = 0;
    if (reads(k)) {
        if (!strbuf_room(&k->in, CHUNK)) {
            keeper_hang_up(k);
            return;
        }
        n = recv(k->link, k->in.data + k->in.len, CHUNK, MSG_DONTWAIT);
        if (n > 0)
            k->in.len += (size_t)n;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            keeper_hang_up(k);
            return;
        }
    }
    if (k->in.len > 0 && take_messages(k))
        keeper_hang_up(k);
}

static void put_event(struct keeper *k, const struct note *note)
{
    struct journal_end end;
    keeper_end_record(note->run, &end);
    struct engine_event event = end.event;
    if (!note->end)
        event = (struct engine_event){
            .what = ENGINE_STARTED,
            .key = note->run->key,
            .number = note->number,
            .at = note->at,
            .pid = note->run->pid,
            .peak_memory = -1,
            .cpu_time = -1,
        };
    message_put_event(&k->out, &event);
}

/* Fill the buffer with events, and send what is in it. */
void keeper_send(struct keeper *k)
{
    ssize_t n = 1;
    bool wait = k->out.len == 0 && k->send_at > 0 && keeper_steady() < k->send_at;
    if (!wait)
        k->send_at = 0;
    while (k->link >= 0 && n > 0 && !wait) {
        while (k->unsent && k->out.len < CHUNK) {
            put_event(k, k->unsent);
            k->unsent = k->unsent->next;
        }
        keeper_put_output(k);
        if (k->out.failed) {
            keeper_hang_up(k);
            return;
        }
        if (k->out.len == 0)
            break;
        n = send(k->link, k->out.data + k->out_at, k->out.len - k->out_at,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            keeper_hang_up(k);
            return;
        }
        k->out_at += n > 0 ? (size_t)n : 0;
        if (k->out_at == k->out.len) {
            k->out_at = 0;
            strbuf_reset(&k->out);
            if (k->out.cap > BIG)
                strbuf_clear(&k->out);
        }
    }
    if (k->link >= 0)
        look_for(k, (reads(k) ? EPOLLIN : 0u) | (k->out.len > 0 ? EPOLLOUT : 0u));
}
