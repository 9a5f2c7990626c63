/* The keeper's loop, its clocks and its journal. */
#include "engine/local/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/local/spawn.h"

#define EVENTS 64
#define JOURNAL_BIG                                                                                \
    ((size_t)128 << 10) /* larger than this, it is rewritten when most of it is out of date */
#define JOURNAL_OLD   ((size_t)64 << 10) /* larger than this, when all of it is */
#define JOURNAL_AHEAD ((size_t)64 << 10) /* that is set aside at once */
#define RETRY         1000000            /* us until the journal is tried again */

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t keeper_steady(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t keeper_wall(void)
{
    return clock_us(CLOCK_REALTIME);
}

static void put_run(struct strbuf *b, const struct run *run)
{
    struct journal_end end;
    if (run->phase == PHASE_ENDED) {
        keeper_end_record(run, &end);
        journal_put_end(b, &end);
        return;
    }
    for (uint32_t i = 0; i < run->n_tasks; i++) {
        const struct process *p = &run->tasks[i];
        const struct journal_task task = {
            .key = run->key,
            .index = i,
            .tasks = run->n_tasks,
            .pid = p->pid,
            .since = p->since,
            .until = p->until,
            .at = p->at,
        };
        if (p->pid > 0)
            journal_put_task(b, &task);
    }
}

static bool broken(struct keeper *k, int errnum)
{
    k->journal_errno = errnum;
    k->journal_at = keeper_steady() + RETRY;
    errno = errnum;
    return false;
}

/* Put a journal in the place of the old one, or behind it where processes of another keeper's may still
 * write into that.
 */
static int replace(const struct keeper *k, const struct strbuf *b)
{
    if (k->n_held > 0)
        return journal_append(SPAWN_JOURNAL, b->data, b->len);
    int fd = journal_replace(k->directory, b);
    if (fd < 0)
        return -1;
    int rc = dup3(fd, SPAWN_JOURNAL, O_CLOEXEC);
    close(fd);
    return rc < 0 ? -1 : 0;
}

/* True if the file has been removed. */
static bool is_removed(const struct keeper *k)
{
    struct stat st;
    return k->n_held == 0 && fstat(SPAWN_JOURNAL, &st) == 0 && st.st_nlink == 0;
}

bool keeper_replace_journal(struct keeper *k)
{
    struct strbuf b = {0};
    journal_put_head(&b, &k->head);
    for (size_t i = 0; i < k->used.n; i++)
        journal_put_used(&b, &k->used.v[i]);
    for (const struct run *run = k->first; run; run = run->next)
        put_run(&b, run);
    int rc = b.failed ? -1 : replace(k, &b);
    int saved = b.failed ? ENOMEM : errno;
    size_t size = b.len;
    strbuf_clear(&b);
    if (rc)
        return broken(k, saved);
    strbuf_clear(&k->records);
    k->journal_errno = 0;
    k->journal_size = size;
    k->journal_least = size;
    k->journal_room = 0;
    if (k->live == 0)
        malloc_trim(0);
    return true;
}

bool keeper_write_journal(struct keeper *k)
{
    if (k->journal_errno || k->records.failed) {
        if (keeper_steady() >= k->journal_at || !k->journal_errno)
            return keeper_replace_journal(k);
        errno = k->journal_errno;
        return false;
    }
    if (is_removed(k))
        return keeper_replace_journal(k);
    if (k->records.len == 0)
        return true;
    if (journal_append(SPAWN_JOURNAL, k->records.data, k->records.len))
        return broken(k, errno);
    k->journal_size += k->records.len;
    strbuf_reset(&k->records);
    if (k->n_held == 0 &&
        ((k->journal_size > JOURNAL_BIG && k->journal_size / 4 > k->journal_least) ||
         (k->journal_size > JOURNAL_OLD && k->runs.n == 0)))
        keeper_replace_journal(k);
    return true;
}

bool keeper_reserve_journal(struct keeper *k, size_t tasks)
{
    size_t needed = k->journal_size + tasks * JOURNAL_TASK_MAX;
    if (needed <= k->journal_room)
        return true;
    size_t bytes = needed - k->journal_room;
    if (journal_reserve(SPAWN_JOURNAL, k->journal_room, bytes + JOURNAL_AHEAD) == 0)
        k->journal_room = needed + JOURNAL_AHEAD;
    else if (journal_reserve(SPAWN_JOURNAL, k->journal_room, bytes) == 0)
        k->journal_room = needed;
    else
        return broken(k, errno);
    return true;
}

void keeper_journal_failed(struct keeper *k, int errnum)
{
    if (!k->journal_errno)
        broken(k, errnum);
}

/* Signals that came together: SIGTERM has the lower number and is read first, so runs that the same
 * SIGTERM killed are known to be lost.
 */
static void take_signals(struct keeper *k)
{
    struct signalfd_siginfo info;
    bool children = false;
    while (read(k->signals, &info, sizeof(info)) > 0) {
        if (info.ssi_signo == SIGTERM)
            keeper_end(k);
        else
            children = true;
    }
    if (children)
        keeper_reap(k);
}

static void handle(struct keeper *k, const struct watch *watch, uint32_t events)
{
    switch (watch->what) {
    case WATCH_LISTENER:
        keeper_accept(k);
        break;
    case WATCH_LINK:
        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            keeper_read(k);
        break;
    case WATCH_SIGNALS:
        take_signals(k);
        break;
    case WATCH_RESULT:
        keeper_result(k, watch->owner);
        break;
    case WATCH_PROCESS:
        keeper_adopted_ended(k, watch->owner);
        break;
    }
}

static int until(int64_t at, int64_t now, int least)
{
    if (at == 0)
        return least;
    int64_t ms = at <= now ? 0 : (at - now + 999) / 1000;
    return least < 0 || ms < least ? (int)ms : least;
}

static int wait_time(const struct keeper *k)
{
    int64_t now = keeper_steady();
    int ms = until(k->sweep_at, now, -1);
    ms = until(k->linger_at, now, ms);
    ms = until(k->kill_at, now, ms);
    ms = until(k->n_held > 0 ? k->held_at : 0, now, ms);
    ms = until(k->link >= 0 ? k->send_at : 0, now, ms);
    ms = until(k->link >= 0 && k->spools ? k->output_at : 0, now, ms);
    ms = until(k->spools ? k->output_until : 0, now, ms);
    return until(k->journal_errno ? k->journal_at : 0, now, ms);
}

/* Without its directory (ENOENT) no server can ask any more. */
static bool needed(const struct keeper *k)
{
    bool unwritten = (k->journal_errno || k->records.len > 0) && k->journal_errno != ENOENT;
    return (k->link >= 0 && !k->ending) || k->live > 0 || k->lost || unwritten ||
           (k->linger_at > 0 && keeper_steady() < k->linger_at);
}

static int begin_to_watch(struct keeper *k)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    k->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (k->signals < 0)
        return -1;
    k->watch_signals = (struct watch){WATCH_SIGNALS, k};
    k->watch_listener = (struct watch){WATCH_LISTENER, k};
    return keeper_watch(k, k->signals, &k->watch_signals, EPOLLIN) ||
                   keeper_watch(k, k->listener, &k->watch_listener, EPOLLIN)
               ? -1
               : 0;
}

int keeper_loop(struct keeper *k)
{
    struct epoll_event events[EVENTS];
    if (begin_to_watch(k))
        return -1;
    do {
        bool held = k->link_held && k->starting < k->starting_max;
        int n = epoll_wait(k->poll, events, EVENTS, held || k->forking ? 0 : wait_time(k));
        for (int i = 0; i < n; i++)
            handle(k, events[i].data.ptr, events[i].events);
        if (held)
            keeper_read(k);
        keeper_check_held(k);
        keeper_fork(k);
        keeper_end_more(k);
        keeper_sweep(k);
        keeper_write_journal(k);
        keeper_send(k);
    } while (needed(k));
    return 0;
}
