#include "engine/cluster/agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/dial.h"
#include "engine/cluster/node.h"
#include "engine/cluster/pump.h"
#include "engine/cluster/secret.h"
#include "engine/cluster/stream.h"
#include "engine/local/find_keeper.h"

#define FIRST_PAUSE    100   /* ms until the server is dialled again */
#define LAST_PAUSE     30000 /* ... at most */
#define WAITS          4     /* descriptors that are waited for: two, signals, tasks */
#define START_PATIENCE 20000 /* ms for a keeper to start */
#define FAREWELL       5000  /* ms for the server to take the last words */
#define BEFORE_END     30    /* s before the end at which runs are ended */
#define ALONE          20000 /* ms, when it leaves, for a server that can't be reached */

struct agent {
    const struct agent_options *options;
    struct node node;
    uint8_t key[NOISE_KEY];
    struct find_keeper where;
    char directory[PATH_MAX];
    int signals;
    int streams; /* where tasks ask for their input or terminal */
    bool leaving;
    int64_t left_at; /* ms of CLOCK_MONOTONIC */
    pid_t keeper;    /* 0: not known */
    int pause;
    struct addresses_version dialled; /* of the addresses that were tried last */
};

static int64_t clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Leaving ---- */

static void end_keeper(const struct agent *a)
{
    if (a->keeper > 0)
        kill(a->keeper, SIGTERM);
}

static void look_whether_to_leave(struct agent *a)
{
    struct signalfd_siginfo info;
    bool told = read(a->signals, &info, sizeof(info)) > 0;
    int64_t end = a->options->end / 1000 - BEFORE_END * 1000;
    if (a->leaving || (!told && (a->options->end == 0 || clock_ms(CLOCK_REALTIME) < end)))
        return;
    a->leaving = true;
    a->left_at = clock_ms(CLOCK_MONOTONIC);
    end_keeper(a);
}

/* A task that wants its input or terminal: a process of its own carries that, which the agent's first process waits
 * for.
 */
static void take_task(struct agent *a)
{
    int fd = accept4(a->streams, NULL, NULL, SOCK_CLOEXEC);
    pid_t pid = fd < 0 ? -1 : fork();
    if (pid == 0 && fork() == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        stream_at_node(fd, a->options->pilots, a->options->pilot, a->key);
    }
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    if (fd >= 0)
        close(fd);
}

/* Wait for two descriptors, but no longer than it has nothing else to do. */
static void wait_for_any(struct agent *a, struct pollfd fds[WAITS], int ms)
{
    fds[2] = (struct pollfd){.fd = a->signals, .events = POLLIN};
    fds[3] = (struct pollfd){.fd = a->streams, .events = POLLIN};
    poll(fds, WAITS, ms < 1000 ? ms : 1000);
    if (fds[3].revents)
        take_task(a);
    look_whether_to_leave(a);
}

/* ---- The keeper ---- */

static int start_keeper(struct agent *a, berth_error_t *err)
{
    struct keeper_starter starter;
    if (find_keeper_start(&a->where, &starter, err))
        return -1;
    struct pollfd p = {.fd = starter.ended, .events = POLLIN};
    if (poll(&p, 1, START_PATIENCE) > 0)
        return find_keeper_started(&starter, err);
    find_keeper_forget(&starter);
    return errtext_set(err, ETIMEDOUT, "the keeper does not start");
}

/* The keeper's socket; one that has just ended is waited for no longer than a few tries. */
static int reach_keeper(struct agent *a, berth_error_t *err)
{
    for (int tries = 0; tries < 3; tries++) {
        int fd = find_keeper_connect(&a->where, &a->keeper, err);
        if (fd >= 0)
            return fd;
        if ((errno != ECONNREFUSED && errno != ENOENT) || start_keeper(a, err))
            return -1;
    }
    return errtext_set(err, ECONNREFUSED, "the keeper ends at once");
}

/* ---- Dialling ---- */

static int dial(struct agent *a, const struct sockaddr_storage *to, socklen_t length)
{
    int fd = dial_begin(to, length);
    struct pollfd fds[WAITS] = {{.fd = fd, .events = POLLOUT}, {.fd = -1}};
    int64_t until = clock_ms(CLOCK_MONOTONIC) + DIAL_PATIENCE, left;
    while (fd >= 0 && !fds[0].revents && (left = until - clock_ms(CLOCK_MONOTONIC)) > 0)
        wait_for_any(a, fds, (int)left);
    if (fd < 0 || (fds[0].revents && dial_end(fd) == 0))
        return fd;
    close(fd);
    return -1;
}

/* Carry bytes until one side is gone. Returns whether the server was reached. */
static bool carry(struct agent *a, struct pump *p)
{
    int64_t farewell = 0;
    bool said = false;
    struct pollfd fds[WAITS];
    struct strbuf left = {0};
    while (pump_carry(p, clock_ms(CLOCK_MONOTONIC)) == 0) {
        if (p->local_ended && !a->leaving)
            break; /* another keeper is started */
        if (p->local_ended && !said) {
            message_put_left(&left);
            said = true;
            farewell = clock_ms(CLOCK_MONOTONIC) + FAREWELL;
            if (channel_put(&p->channel, CHANNEL_DATA, left.data, left.len))
                break;
            strbuf_clear(&left);
            continue;
        }
        if (farewell && clock_ms(CLOCK_MONOTONIC) >= farewell)
            break;
        fds[0].fd = p->net;
        fds[1].fd = p->local_ended ? -1 : p->local;
        pump_wants(p, &fds[0].events, &fds[1].events);
        wait_for_any(a, fds, 1000);
    }
    strbuf_clear(&left);
    return p->channel.known;
}

/* Its own address, by which other nodes of the cluster may reach what runs here. */
static void note_address(struct agent *a, int fd)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof(own);
    char text[INET6_ADDRSTRLEN];
    const void *at = &((const struct sockaddr_in *)(void *)&own)->sin_addr;
    if (getsockname(fd, (struct sockaddr *)&own, &length))
        return;
    if (own.ss_family == AF_INET6)
        at = &((const struct sockaddr_in6 *)(void *)&own)->sin6_addr;
    if (!inet_ntop(own.ss_family, at, text, sizeof(text)))
        return;
    char *address = strdup(text);
    if (!address)
        return;
    free(a->node.address);
    a->node.address = address;
}

/* Say hello on a connection: a keeper that ends meanwhile is none of the server's concern. */
static int open_channel(struct agent *a, struct pump *p)
{
    struct pollfd fds[WAITS] = {{.fd = p->net}, {.fd = -1}};
    struct strbuf text = {0};
    int64_t until = clock_ms(CLOCK_MONOTONIC) + DIAL_PATIENCE, now;
    while (p->channel.stage == CHANNEL_WAITS && (now = clock_ms(CLOCK_MONOTONIC)) < until) {
        if (pump_carry(p, now))
            return -1;
        if (p->channel.stage != CHANNEL_WAITS)
            break;
        short ignored;
        pump_wants(p, &fds[0].events, &ignored);
        wait_for_any(a, fds, (int)(until - now));
    }
    note_address(a, p->net);
    node_put(&text, &a->node);
    int rc = text.failed ? -1 : channel_put(&p->channel, CHANNEL_NODE, text.data, text.len);
    strbuf_clear(&text);
    return rc;
}

/* Whether it is all over: the server knows that nothing runs here. */
static bool serve_gate(struct agent *a, int fd)
{
    static struct pump p;
    berth_error_t err = {""};
    bool done = false;
    p = (struct pump){.net = -1};
    channel_begin_agent(&p.channel, a->options->pilot, a->key);
    pump_begin(&p, fd, clock_ms(CLOCK_MONOTONIC));
    if (open_channel(a, &p) == 0) {
        p.local = reach_keeper(a, &err);
        if (a->leaving)
            end_keeper(a);
        if (p.local < 0)
            fprintf(stderr, "berth-agent: %s\n", err.text);
        else if (carry(a, &p))
            a->pause = FIRST_PAUSE;
        done = a->leaving && p.local_ended && pump_empty(&p);
    }
    pump_end(&p);
    return done;
}

/* Until it is time to dial again, or the server has written where it is: looked at each second. */
static void rest(struct agent *a)
{
    struct pollfd fds[WAITS] = {{.fd = -1}, {.fd = -1}};
    int half = a->pause / 2;
    int64_t until =
                clock_ms(CLOCK_MONOTONIC) + half + (int64_t)randombytes_uniform((uint32_t)half + 1),
            left;
    bool left_already = a->leaving;
    while ((left = until - clock_ms(CLOCK_MONOTONIC)) > 0 && a->leaving == left_already) {
        if (addresses_changed(a->options->pilots, &a->dialled)) {
            a->pause = FIRST_PAUSE;
            return;
        }
        wait_for_any(a, fds, (int)left);
    }
    a->pause = a->pause < LAST_PAUSE / 2 ? 2 * a->pause : LAST_PAUSE;
}

/* It is to leave, and the server can't be reached: runs are ended all the same. Whether it need not wait any longer, as
 * nothing runs here any more; what the server has not heard by then it learns from Slurm, or by the time.
 */
static bool may_leave_alone(struct agent *a)
{
    berth_error_t err;
    if (!a->leaving)
        return false;
    int fd = find_keeper_connect(&a->where, &a->keeper, &err);
    if (fd >= 0)
        close(fd);
    if (fd >= 0)
        end_keeper(a);
    bool ended = fd < 0 && (errno == ECONNREFUSED || errno == ENOENT);
    return ended && clock_ms(CLOCK_MONOTONIC) - a->left_at >= ALONE;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

static bool try_all(struct agent *a)
{
    static struct addresses all;
    berth_error_t err;
    addresses_changed(a->options->pilots, &a->dialled);
    if (addresses_read(a->options->pilots, &all, &err) < 0) {
        fprintf(stderr, "berth-agent: %s\n", err.text);
        return false;
    }
    for (size_t i = 0; i < all.n; i++) {
        int fd = dial(a, &all.v[i], all.length[i]);
        if (fd >= 0 && serve_gate(a, fd))
            return true;
    }
    return false;
}

/* The keeper's folder: named by the node, as several may share a disk, and by a hash of the secret. */
static int set_up(struct agent *a, berth_error_t *err)
{
    const struct agent_options *o = a->options;
    uint8_t hash[16];
    char name[33];
    sigset_t term;
    if (secret_read(o->pilots, o->pilot, a->key, err) || node_look(&a->node, err))
        return -1;
    a->node.end = o->end;
    sodium_mlock(a->key, sizeof(a->key));
    crypto_generichash(hash, sizeof(hash), a->key, sizeof(a->key), NULL, 0);
    sodium_bin2hex(name, sizeof(name), hash, sizeof(hash));
    int n = snprintf(a->directory, sizeof(a->directory), "%s/berth-%" PRIu64 "-%s-%s", o->temporary,
                     o->pilot, a->node.name, name);
    if (n < 0 || n >= (int)sizeof(a->directory))
        return errtext_set(err, ENAMETOOLONG, "TMPDIR is too long");
    a->where = (struct find_keeper){.directory = a->directory, .fd = -1, .program = o->keeper};
    a->where.fd = find_keeper_directory(a->directory, err);
    if (a->where.fd < 0)
        return -1;
    a->streams = stream_listen(a->where.fd, err);
    if (a->streams < 0)
        return -1;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    a->signals = signalfd(-1, &term, SFD_NONBLOCK | SFD_CLOEXEC);
    return a->signals < 0 ? errtext_set(err, errno, "signalfd: %s", strerror(errno)) : 0;
}

int agent_run(const struct agent_options *options, berth_error_t *err)
{
    static struct agent a;
    a = (struct agent){.options = options, .signals = -1, .streams = -1, .pause = FIRST_PAUSE};
    if (set_up(&a, err))
        return -1;
    while (!try_all(&a) && !may_leave_alone(&a))
        rest(&a);
    nftw(a.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS); /* the keeper has ended */
    node_clear(&a.node);
    sodium_munlock(a.key, sizeof(a.key));
    return 0;
}
