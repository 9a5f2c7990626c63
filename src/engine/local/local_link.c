/* The link to the keeper: found, lost and found again. */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/local.h"
#include "engine/local/messages.h"
#include "engine/local/procs.h"

#define RETRY          1000000 /* us until a keeper that could not be had is looked for again */
#define SHORT          1000000 /* us: a keeper that lived no longer than this counts as failed */
#define SHORT_RETRY    100000  /* us until the next one, when SHORT_MANY in a row have */
#define SHORT_MANY     3
#define TRIES          3        /* a keeper may come to its end while it is asked */
#define GREET_PATIENCE 1000000  /* us; then the notice says that the keeper does not greet */
#define START_PATIENCE 10000000 /* and one that is being started */
#define CHECK          1000000  /* us until it is looked at whether it reads */

int64_t local_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The server is to come here again at this time, us of the steady clock; 0: not for that. */
static void wake_at(const struct local *l, int64_t at)
{
    struct itimerspec when = {.it_value = {at / 1000000, at % 1000000 * 1000}};
    timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void come_back(struct local *l, int64_t us)
{
    int64_t at = local_clock(CLOCK_MONOTONIC) + us;
    wake_at(l, at);
    l->retry_at = us ? at : 0;
}

static void listen_to_keeper(const struct local *l, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &event);
}

static void listen_no_more(const struct local *l, int fd)
{
    struct epoll_event event = {0};
    epoll_ctl(l->poll, EPOLL_CTL_DEL, fd, &event);
}

static void close_link(struct local *l, int *fd)
{
    if (*fd >= 0) {
        listen_no_more(l, *fd);
        close(*fd);
    }
    *fd = -1;
    l->full = false;
    l->check_at = 0;
    strbuf_clear(&l->in);
    strbuf_clear(&l->out);
    l->out_at = 0;
}

void local_hang_up(struct local *l)
{
    close_link(l, &l->link);
    l->bad = local_clock(CLOCK_MONOTONIC) - l->since < SHORT ? l->bad + 1 : 0;
    come_back(l, l->bad >= SHORT_MANY ? SHORT_RETRY : 0);
}

static void put_signals(struct local *l, uint64_t key, uint64_t signals, bool tree)
{
    for (int i = 0; i < 64 && signals; i++)
        if (signals & (uint64_t)1 << i)
            message_put_signal(&l->out, &(struct message_signal){key, i + 1, tree});
}

void local_put_signals(struct local *l, struct wanted *run)
{
    put_signals(l, run->key, run->session_signals, false);
    put_signals(l, run->key, run->tree_signals | (run->kill ? (uint64_t)1 << (SIGKILL - 1) : 0),
                true);
    run->session_signals = 0;
    run->tree_signals = 0;
}

/* Request again the runs that a new keeper should know and doesn't, if nothing was reported about them:
 * they were never started. And send what the keeper before it may not have read.
 */
static void tell_again(struct local *l)
{
    for (struct wanted *run = l->first; run; run = run->next) {
        if (run->held)
            continue;
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
    for (struct wanted *run = l->first; run; run = run->next)
        if (!run->held)
            local_put_signals(l, run);
    if (l->acknowledged)
        message_put_acknowledge(&l->out, l->acknowledged);
}

/* Enter the runs that a new keeper knows. If there was a link before, runs that were not requested are
 * killed, since no server waits for them.
 */
static int take_hello(struct local *l, const struct message_hello *hello)
{
    for (struct wanted *run = l->first; run; run = run->next)
        run->known = false;
    for (size_t i = 0; i < hello->n_keys; i++) {
        struct wanted *run = local_find(l, hello->keys[i]);
        if (!run && used_keys_has(&l->used, hello->keys[i]))
            continue; /* its end is acknowledged, which a keeper before or a link that broke has not heard */
        if (!run) {
            run = local_enter(l, hello->keys[i]);
            if (!run)
                return -1;
            run->kill = l->since > 0 || l->passive;
        }
        run->known = true;
    }
    for (size_t i = 0; i < hello->used.n; i++)
        if (used_keys_add(&l->used, hello->used.v[i].lo, hello->used.v[i].hi))
            return -1;
    if (l->used.n > 0 && l->used.v[l->used.n - 1].hi > l->last_key)
        l->last_key = l->used.v[l->used.n - 1].hi;
    tell_again(l);
    return 0;
}

/* It failed; l->trouble says why. */
static int give_up_try(struct local *l)
{
    int saved = errno == EAGAIN ? EBUSY : errno;
    l->tries = 0;
    come_back(l, RETRY);
    errno = saved;
    return -1;
}

/* Nothing has come yet; after a while the notice says so. */
static int wait_for_greeting(struct local *l, int64_t patience, const char *what)
{
    struct proc p;
    if (local_clock(CLOCK_MONOTONIC) >= l->waits_since + patience) {
        bool stopped =
            l->keeper > 0 && procs_look(l->keeper, &p) == 0 && (p.state == 'T' || p.state == 't');
        if (l->keeper > 0)
            errtext_set(&l->trouble, EAGAIN, "no job starts or ends: the keeper, process %d, %s",
                        (int)l->keeper, stopped ? "is stopped" : what);
        else
            errtext_set(&l->trouble, EAGAIN, "no job starts or ends: the keeper %s", what);
        wake_at(l, 0);
    }
    errno = EAGAIN;
    return -1;
}

/* Each of the following does one step. Returns 0: the link is there; 1: another step follows; -1: it
 * failed or must wait.
 */

static int take_starter(struct local *l)
{
    struct pollfd p = {.fd = l->starter.ended, .events = POLLIN};
    if (poll(&p, 1, 0) <= 0)
        return wait_for_greeting(l, START_PATIENCE, "that is being started is not ready");
    listen_no_more(l, l->starter.ended);
    if (find_keeper_started(&l->starter, &l->trouble) && l->tries >= TRIES)
        return give_up_try(l);
    return 1; /* if it could not start, another may be starting, which can be reached by now */
}

static int take_greeting(struct local *l)
{
    struct message_hello hello;
    if (find_keeper_greeting(l->caller, &l->in, &hello)) {
        if (errno == EAGAIN)
            return wait_for_greeting(l, GREET_PATIENCE, "does not answer");
        int saved = errno;
        close_link(l, &l->caller);
        if (saved == ECONNRESET && l->tries < TRIES)
            return 1;
        errtext_set(&l->trouble, saved, "the keeper in %s does not answer: %s", l->directory,
                    strerror(saved));
        return give_up_try(l);
    }
    if (take_hello(l, &hello)) {
        errtext_set(&l->trouble, errno, "keeper: %s", strerror(errno));
        message_hello_clear(&hello);
        close_link(l, &l->caller);
        return give_up_try(l);
    }
    free(l->keeper_notice);
    l->keeper_notice = hello.notice;
    hello.notice = NULL;
    message_hello_clear(&hello);
    l->link = l->caller;
    l->caller = -1;
    l->met = true;
    l->tries = 0;
    l->since = local_clock(CLOCK_MONOTONIC);
    l->trouble.text[0] = '\0';
    wake_at(l, 0);
    if (l->in.len > 0 || l->lose)
        local_awake(l, true);
    return 0;
}

static int call(struct local *l)
{
    if (l->passive) {
        wake_at(l, 0);
        errno = ENOTCONN;
        return -1;
    }
    if (l->retry_at && local_clock(CLOCK_MONOTONIC) < l->retry_at) {
        errno = ENOTCONN;
        return -1;
    }
    l->tries++;
    l->keeper = 0;
    l->retry_at = 0;
    l->waits_since = local_clock(CLOCK_MONOTONIC);
    l->caller = find_keeper_connect(&l->where, &l->keeper, &l->trouble);
    if (l->caller >= 0) {
        listen_to_keeper(l, l->caller);
        wake_at(l, l->waits_since + GREET_PATIENCE);
        return 1;
    }
    if ((errno != ECONNREFUSED && errno != ENOENT) || l->tries > TRIES)
        return give_up_try(l);
    if (find_keeper_start(&l->where, &l->starter, &l->trouble))
        return give_up_try(l);
    l->trouble.text[0] = '\0';
    listen_to_keeper(l, l->starter.ended);
    wake_at(l, l->waits_since + START_PATIENCE);
    return 1;
}

int local_reconnect(struct local *l)
{
    int rc = l->link >= 0 ? 0 : 1;
    while (rc > 0) {
        if (l->starter.ended >= 0)
            rc = take_starter(l);
        else if (l->caller >= 0)
            rc = take_greeting(l);
        else
            rc = call(l);
    }
    return rc;
}

void local_take_link(struct local *l, int fd)
{
    close_link(l, &l->caller);
    close_link(l, &l->link);
    l->caller = fd;
    l->waits_since = local_clock(CLOCK_MONOTONIC);
    listen_to_keeper(l, fd);
    wake_at(l, l->waits_since + GREET_PATIENCE);
}

/* ---- A keeper that doesn't read ---- */

void local_sent(struct local *l)
{
    if (l->check_at)
        return;
    l->check_at = local_clock(CLOCK_MONOTONIC) + CHECK;
    l->unread = 0;
    wake_at(l, l->check_at);
}

/* It should have read what was sent a second ago. */
void local_check(struct local *l)
{
    int queued = 0;
    if (!l->check_at || local_clock(CLOCK_MONOTONIC) < l->check_at)
        return;
    size_t unread = ioctl(l->link, SIOCOUTQ, &queued) == 0 && queued > 0 ? (size_t)queued : 0;
    bool stuck = unread > 0 && unread >= l->unread && l->unread > 0;
    l->waits_since = l->check_at - CHECK;
    l->check_at = 0;
    if (!stuck)
        l->trouble.text[0] = '\0';
    else
        wait_for_greeting(l, 0, "does not answer");
    if (unread == 0) {
        wake_at(l, 0);
        return;
    }
    local_sent(l);
    l->unread = unread;
}
