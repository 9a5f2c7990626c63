/* The link to the keeper: found, lost and found again. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/local.h"
#include "engine/local/messages.h"

#define RETRY       1000000 /* us until a keeper that could not be had is looked for again */
#define SHORT       1000000 /* us: one that lived no longer than this has done badly */
#define SHORT_RETRY 100000  /* us until the next one, when SHORT_MANY in a row have */
#define SHORT_MANY  3

int64_t local_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The server is to come here again after so many us. */
static void come_back(struct local *l, int64_t us)
{
    struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    when.it_value.tv_nsec += us == 0;
    timerfd_settime(l->timer, 0, &when, NULL);
    l->retry_at = us ? local_clock(CLOCK_MONOTONIC) + us : 0;
}

void local_hang_up(struct local *l)
{
    if (l->link >= 0)
        close(l->link);
    l->link = -1;
    l->full = false;
    strbuf_clear(&l->in);
    strbuf_clear(&l->out);
    l->out_at = 0;
    l->bad = local_clock(CLOCK_MONOTONIC) - l->since < SHORT ? l->bad + 1 : 0;
    come_back(l, l->bad >= SHORT_MANY ? SHORT_RETRY : 0);
}

static void put_signals(struct local *l, uint64_t key, uint64_t signals, bool tree)
{
    for (int i = 0; i < 64 && signals; i++)
        if (signals & (uint64_t)1 << i)
            message_put_signal(&l->out, &(struct message_signal){key, i + 1, tree});
}

/* Runs that a new keeper should know and doesn't are asked for again, if nothing has been heard of them: they were never
 * started. It is told what the one before may not have heard.
 */
static void tell_again(struct local *l)
{
    for (struct wanted *run = l->first; run; run = run->next) {
        if (run->message && !run->known)
            local_send_later(l, run);
        else if (!run->message && !run->known && !run->end)
            l->lose = true;
    }
    for (struct wanted *run = l->unsent; run; run = run->next_queued) {
        strbuf_put(&l->out, run->message, run->length);
        run->unsent = false;
    }
    l->unsent = l->last_unsent = NULL;
    for (struct wanted *run = l->first; run; run = run->next) {
        put_signals(l, run->key, run->session_signals, false);
        put_signals(l, run->key, run->tree_signals | (run->kill ? (uint64_t)1 << (SIGKILL - 1) : 0),
                    true);
        run->session_signals = 0;
        run->tree_signals = 0;
    }
    if (l->acknowledged)
        message_put_acknowledge(&l->out, l->acknowledged);
}

/* What a new keeper knows. */
static int take_hello(struct local *l, const struct message_hello *hello)
{
    for (struct wanted *run = l->first; run; run = run->next)
        run->known = false;
    for (size_t i = 0; i < hello->n_keys; i++) {
        struct wanted *run = local_find(l, hello->keys[i]);
        if (!run)
            run = local_enter(l, hello->keys[i]);
        if (!run)
            return -1;
        run->known = true;
    }
    for (size_t i = 0; i < hello->used.n; i++)
        if (used_add(&l->used, hello->used.v[i].lo, hello->used.v[i].hi))
            return -1;
    tell_again(l);
    return 0;
}

int local_connect(struct local *l, berth_error_t *err)
{
    const struct itimerspec never = {0};
    struct message_hello hello;
    struct epoll_event event = {.events = EPOLLIN};
    int fd = find_keeper(&l->where, &hello, err);
    if (fd < 0)
        return -1;
    if (take_hello(l, &hello) || epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &event)) {
        int saved = errno;
        message_hello_clear(&hello);
        close(fd);
        return errtext_set(err, saved, "keeper: %s", strerror(saved));
    }
    free(l->keeper_notice);
    l->keeper_notice = hello.notice;
    hello.notice = NULL;
    message_hello_clear(&hello);
    l->link = fd;
    l->since = local_clock(CLOCK_MONOTONIC);
    l->trouble.text[0] = '\0';
    timerfd_settime(l->timer, 0, &never, NULL);
    return 0;
}

/* Find a keeper again, if there is none. */
int local_reconnect(struct local *l)
{
    if (l->link >= 0)
        return 0;
    if (l->retry_at && local_clock(CLOCK_MONOTONIC) < l->retry_at) {
        errno = ENOTCONN;
        return -1;
    }
    if (local_connect(l, &l->trouble) == 0)
        return 0;
    int saved = errno;
    strbuf_clear(&l->out);
    come_back(l, RETRY);
    errno = saved;
    return -1;
}
