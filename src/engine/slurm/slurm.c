/* The server's side of the engine `slurm`: runs are folders, berth-slurm does the rest. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "engine/local/helper.h"
#include "engine/local/messages.h"
#include "engine/slurm/slurm_priv.h"

#define CHUNK      65536
#define RETRY      1000000 /* us until a berth-slurm that has gone is started again */
#define FIRST_WAIT 25000   /* ms for the first nodes */

/* ---- berth-slurm ---- */

/* What Slurm's commands need. */
static void find_environment(char *env[8])
{
    static const char *const names[] = {
        "PATH=", "HOME=", "USER=", "LANG=", "TZ=", "SLURM_CONF=", "BERTH_SLURM_PACE="};
    extern char **environ;
    size_t n = 0;
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < 7; i++)
            if (strncmp(*e, names[i], strlen(names[i])) == 0)
                env[n++] = *e;
    env[n] = NULL;
}

static int start_helper(struct slurm *s, berth_error_t *err)
{
    int ends[2];
    char *env[8];
    const char *const argv[] = {"berth-slurm", s->directory, s->run, s->tag,
                                s->partition,  s->options,   NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, TALK_FD + 1);
    find_environment(env);
    int rc = high < 0 ? errno : helper_start(s->helper, argv, env, high, TALK_FD, &s->pid);
    close(ends[1]);
    if (high >= 0)
        close(high);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[0]};
    if (rc == 0 && epoll_ctl(s->poll, EPOLL_CTL_ADD, ends[0], &event))
        rc = errno;
    if (rc) {
        close(ends[0]);
        return errtext_set(err, rc, "%s: %s", s->helper, strerror(rc));
    }
    s->link = ends[0];
    return 0;
}

static void come_back(const struct slurm *s, int64_t us)
{
    const struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    timerfd_settime(s->timer, 0, &when, NULL);
}

/* It has gone. Another one finds all that this one has been told in the folders. */
static void hang_up(struct slurm *s)
{
    close(s->link);
    s->link = -1;
    if (s->pid > 0)
        waitpid(s->pid, NULL, WNOHANG); /* else it is reaped with the server */
    strbuf_clear(&s->in);
    s->in_at = s->out_at = 0;
    come_back(s, RETRY);
}

/* ---- Messages ---- */

static void read_link(struct slurm *s)
{
    ssize_t n;
    if (!strbuf_room(&s->in, CHUNK))
        return;
    n = recv(s->link, s->in.data + s->in.len, CHUNK, MSG_DONTWAIT);
    if (n > 0)
        s->in.len += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        hang_up(s);
}

/* Remember an event, as the n-th of the batch. */
static int tell(struct slurm *s, const struct engine_event *event, size_t n)
{
    if (array_grow((void **)&s->told, &s->cap_told, s->n_told + 1, sizeof(*s->told)) < 0)
        return -1;
    s->batch[n] = *event;
    s->batch[n].number = ++s->number;
    s->batch[n].elsewhere = true;
    s->told[s->n_told++] =
        (struct told){.number = s->number, .key = event->key, .end = event->what != ENGINE_STARTED};
    return 0;
}

/* Returns whether an event is added. */
static bool take_message(struct slurm *s, struct wire *w, size_t n)
{
    struct engine_event event;
    const char *text;
    switch (wire_u8(w)) {
    case TALK_NODES:
        slurm_take_nodes(s, w);
        s->met = true;
        return false;
    case TALK_EVENT:
        return message_event_content(w, &event) == 0 && tell(s, &event, n) == 0;
    case TALK_TROUBLE:
        text = wire_string(w);
        snprintf(s->trouble, sizeof(s->trouble), "%s", text ? text : "");
        s->met = s->met || s->trouble[0];
        return false;
    default:
        return false;
    }
}

/* What has been read, up to so many events; their texts stay where they are until the next call. */
static size_t take_messages(struct slurm *s, size_t max)
{
    struct wire w;
    size_t taken, n = 0;
    while (n < max && s->in_at < s->in.len &&
           wire_next(s->in.data + s->in_at, s->in.len - s->in_at, &w, &taken) > 0) {
        n += take_message(s, &w, n);
        s->in_at += taken;
    }
    return n;
}

static bool has_message(const struct slurm *s)
{
    struct wire w;
    size_t taken;
    return s->in_at < s->in.len &&
           wire_next(s->in.data + s->in_at, s->in.len - s->in_at, &w, &taken) > 0;
}

static size_t get_events(struct engine *e, const struct engine_event **events, size_t max)
{
    struct slurm *s = slurm_of(e);
    uint64_t times;
    berth_error_t why;
    max = max < SLURM_BATCH ? max : SLURM_BATCH;
    *events = s->batch;
    if (s->in_at > 0)
        memmove(s->in.data, s->in.data + s->in_at, s->in.len - s->in_at);
    s->in.len -= s->in_at;
    s->in_at = 0;
    bool due = read(s->timer, &times, sizeof(times)) > 0;
    if (s->link < 0 && due && start_helper(s, &why) < 0) {
        snprintf(s->trouble, sizeof(s->trouble), "%s", why.text);
        come_back(s, RETRY);
    }
    if (s->link >= 0)
        read_link(s);
    size_t n = take_messages(s, max);
    if (has_message(s))
        come_back(s, 1);
    return n;
}

/* Messages that have been sent whole. */
static void drop_sent(struct slurm *s)
{
    struct wire w;
    size_t at = 0, taken;
    while (at < s->out_at && wire_next(s->out.data + at, s->out.len - at, &w, &taken) > 0 &&
           at + taken <= s->out_at)
        at += taken;
    if (at > 0)
        memmove(s->out.data, s->out.data + at, s->out.len - at);
    s->out.len -= at;
    s->out_at -= at;
}

static int flush(struct engine *e)
{
    struct slurm *s = slurm_of(e);
    while (s->link >= 0 && s->out_at < s->out.len) {
        ssize_t n = send(s->link, s->out.data + s->out_at, s->out.len - s->out_at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            come_back(s, RETRY / 10);
            break;
        }
        if (n <= 0) {
            hang_up(s);
            break;
        }
        s->out_at += (size_t)n;
    }
    drop_sent(s);
    return s->link >= 0 ? 0 : -1;
}

/* ---- What a server asks ---- */

static int start(struct engine *e, const struct engine_run *run, berth_error_t *err)
{
    struct slurm *s = slurm_of(e);
    if (run->attach && run->attach_as != ENGINE_KEYBOARD)
        return errtext_set(err, EINVAL,
                           "neither standard input nor a terminal reaches a job of Slurm's: give a "
                           "file");
    if (!run->places && (!run->node || strncmp(run->node, DIRECTED_ID, sizeof(DIRECTED_ID) - 1)))
        return errtext_set(err, ENOMEM, "its node has left"); /* it waits again */
    if (folder_make(s->runs, run)) {
        int saved = errno;
        errtext_set(err, saved, "%s: %s", s->directory, strerror(saved));
        errno = saved == EEXIST ? EEXIST : ENOMEM;
        return -1;
    }
    talk_put_key(&s->out, TALK_START, run->key);
    return 0;
}

static int send_signal(struct engine *e, uint64_t key, int signal, bool tree)
{
    struct slurm *s = slurm_of(e);
    if (signal < 1 || signal > 64) {
        errno = EINVAL;
        return -1;
    }
    if (!folder_has(s->runs, key, "ask", NULL))
        return 0;
    int rc = folder_signal(s->runs, key, signal, tree);
    talk_put_signal(&s->out, key, signal);
    return rc;
}

static int get_fd(const struct engine *e)
{
    return ((const struct slurm *)(const void *)e)->poll;
}

static int acknowledge(struct engine *e, uint64_t number)
{
    struct slurm *s = slurm_of(e);
    size_t i = 0;
    for (; i < s->n_told && s->told[i].number <= number; i++)
        if (s->told[i].end)
            talk_put_key(&s->out, TALK_FORGET, s->told[i].key);
    memmove(s->told, s->told + i, (s->n_told - i) * sizeof(*s->told));
    s->n_told -= i;
    return 0;
}

static int get_runs(struct engine *e, const uint64_t **keys, size_t *n)
{
    struct slurm *s = slurm_of(e);
    free(s->keys);
    s->keys = NULL;
    if (folder_list(s->runs, &s->keys, n))
        return -1;
    *keys = s->keys;
    return 0;
}

/* Folders outlive a boot of this machine, so none of these runs is unknown because of one. */
static uint64_t get_last_key(const struct engine *e)
{
    (void)e;
    return 0;
}

static const char *notice(const struct engine *e)
{
    const struct slurm *s = (const struct slurm *)(const void *)e;
    return s->trouble[0] ? s->trouble : NULL;
}

static void close_slurm(struct engine *e)
{
    struct slurm *s = slurm_of(e);
    int saved = errno;
    if (s->link >= 0)
        close(s->link);
    if (s->runs >= 0)
        close(s->runs);
    if (s->poll >= 0)
        close(s->poll);
    if (s->timer >= 0)
        close(s->timer);
    for (size_t i = 0; i < s->n_nodes; i++)
        slurm_clear_node(s->nodes[i]);
    strbuf_clear(&s->in);
    strbuf_clear(&s->out);
    char *const texts[] = {s->directory, s->helper, s->run, s->tag, s->partition, s->options};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        free(texts[i]);
    free(s->nodes);
    free(s->list);
    free(s->told);
    free(s->keys);
    free(s);
    errno = saved;
}

static const struct engine_ops slurm_ops = {
    .start = start,
    .signal = send_signal,
    .flush = flush,
    .fd = get_fd,
    .events = get_events,
    .acknowledge = acknowledge,
    .runs = get_runs,
    .last_key = get_last_key,
    .notice = notice,
    .close = close_slurm,
    .nodes = slurm_get_nodes,
    .forget = slurm_forget_node,
};

/* Users look for their runs in it, so it may be entered. */
static int open_directory(struct slurm *s, berth_error_t *err)
{
    struct stat st;
    if (mkdir(s->directory, 0700) == 0 && geteuid() == 0)
        chmod(s->directory, 0711);
    s->runs = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (s->runs < 0 || fstat(s->runs, &st))
        return errtext_set(err, errno, "%s: %s", s->directory, strerror(errno));
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return errtext_set(err, EPERM, "%s belongs to another user or is writable by others",
                           s->directory);
    return 0;
}

/* By it jobs are known as this server's: chosen once. */
static int find_tag(struct slurm *s, berth_error_t *err)
{
    unsigned char bytes[8];
    char text[2 * sizeof(bytes) + 1] = "";
    int fd = openat(s->runs, "tag", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n >= 0 && n < (ssize_t)sizeof(text) - 1) {
        n = getrandom(bytes, sizeof(bytes), 0);
        for (size_t i = 0; i < sizeof(bytes); i++)
            snprintf(text + 2 * i, 3, "%02x", bytes[i]);
        n = n < 0 ? n : pwrite(fd, text, sizeof(text) - 1, 0);
    }
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (n < (ssize_t)sizeof(text) - 1)
        return errtext_set(err, saved, "%s/tag: %s", s->directory, strerror(saved));
    s->tag = strdup(text);
    return s->tag ? 0 : errtext_set(err, ENOMEM, "out of memory");
}

/* What nodes there are, so that jobs are not refused for want of them. Slurm may not answer, which is noted. */
static void await_nodes(struct slurm *s)
{
    struct timespec t;
    struct pollfd p = {.fd = s->link, .events = POLLIN};
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000, until = now + FIRST_WAIT;
    /* Events that come before are left for the server. */
    while (!s->met && s->link >= 0 && now < until) {
        struct wire w;
        size_t taken;
        poll(&p, 1, (int)(until - now));
        read_link(s);
        for (size_t at = 0; wire_next(s->in.data + at, s->in.len - at, &w, &taken) > 0;
             at += taken) {
            uint8_t kind = wire_u8(&w);
            s->met = s->met || kind == TALK_NODES || kind == TALK_TROUBLE;
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    }
    if (has_message(s))
        come_back(s, 1);
}

struct engine *engine_slurm_open(const struct engine_slurm_options *options, berth_error_t *err)
{
    struct slurm *s = calloc(1, sizeof(*s));
    if (!s) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    s->engine.ops = &slurm_ops;
    s->link = s->runs = -1;
    s->directory = strdup(options->directory);
    s->helper = strdup(options->helper);
    s->run = strdup(options->run);
    s->partition = strdup(options->partition ? options->partition : "");
    s->options = strdup(options->options ? options->options : "");
    s->poll = epoll_create1(EPOLL_CLOEXEC);
    s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = s->timer};
    if (!s->directory || !s->helper || !s->run || !s->partition || !s->options || s->poll < 0 ||
        s->timer < 0 || epoll_ctl(s->poll, EPOLL_CTL_ADD, s->timer, &event)) {
        errtext_set(err, errno, "cannot watch Slurm: %s", strerror(errno));
    } else if (open_directory(s, err) == 0 && find_tag(s, err) == 0 && start_helper(s, err) == 0) {
        await_nodes(s);
        return &s->engine;
    }
    close_slurm(&s->engine);
    return NULL;
}
