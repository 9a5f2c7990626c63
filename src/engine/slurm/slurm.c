/* The server's side of the engine `slurm`: runs are folders, berth-slurm does the rest. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/helper.h"
#include "engine/local/messages.h"
#include "engine/slurm/slurm_priv.h"

#define FIRST_WAIT 25000 /* ms for the first nodes */

/* ---- Messages ---- */

/* Remember an event, as the n-th of the batch. */
static int remember_event(struct slurm *s, const struct engine_event *event, size_t n)
{
    const struct told told = {.key = event->key, .is_end = event->what != ENGINE_STARTED};
    s->batch[n] = *event;
    s->batch[n].elsewhere = true;
    return told_add(&s->told, &told, &s->batch[n]);
}

/* Returns whether an event is added. */
static bool take_message_of_helper(struct slurm *s, struct wire *w, size_t n)
{
    struct engine_event event;
    const char *text;
    switch (wire_u8(w)) {
    case TALK_NODES:
        slurm_take_nodes(s, w);
        s->met = true;
        return false;
    case TALK_EVENT:
        return message_event_content(w, &event) == 0 && remember_event(s, &event, n) == 0;
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
        n += take_message_of_helper(s, &w, n);
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

static size_t get_events_of_slurm(struct engine *e, const struct engine_event **events, size_t max)
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
    if (s->link < 0 && due && slurm_start_helper(s, &why) < 0) {
        snprintf(s->trouble, sizeof(s->trouble), "%s", why.text);
        slurm_come_back(s, SLURM_RETRY);
    }
    if (s->link >= 0)
        slurm_read_link(s);
    size_t n = take_messages(s, max);
    if (has_message(s))
        slurm_come_back(s, 1);
    return n;
}

/* ---- What a server asks ---- */

static int start_at_slurm(struct engine *e, const struct engine_run *run, berth_error_t *err)
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

static int signal_at_slurm(struct engine *e, uint64_t key, int signal, bool tree)
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

static int get_fd_of_slurm(const struct engine *e)
{
    return ((const struct slurm *)(const void *)e)->poll;
}

static int acknowledge_to_slurm(struct engine *e, uint64_t number)
{
    struct slurm *s = slurm_of(e);
    const struct told *t;
    while ((t = told_take(&s->told, number)))
        if (t->is_end)
            talk_put_key(&s->out, TALK_FORGET, t->key);
    return 0;
}

static int get_runs_of_slurm(struct engine *e, const uint64_t **keys, size_t *n)
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
static uint64_t get_no_last_key(const struct engine *e)
{
    (void)e;
    return 0;
}

static const char *notice_of_slurm(const struct engine *e)
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
    told_clear(&s->told);
    free(s->keys);
    free(s);
    errno = saved;
}

static const struct engine_ops slurm_ops = {
    .start = start_at_slurm,
    .signal = signal_at_slurm,
    .flush = slurm_flush,
    .fd = get_fd_of_slurm,
    .events = get_events_of_slurm,
    .acknowledge = acknowledge_to_slurm,
    .runs = get_runs_of_slurm,
    .last_key = get_no_last_key,
    .notice = notice_of_slurm,
    .close = close_slurm,
    .nodes = slurm_get_nodes,
    .lose = slurm_lose_node,
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
    return s->tag ? 0 : errtext_no_memory(err);
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
        slurm_read_link(s);
        for (size_t at = 0; wire_next(s->in.data + at, s->in.len - at, &w, &taken) > 0;
             at += taken) {
            uint8_t kind = wire_u8(&w);
            s->met = s->met || kind == TALK_NODES || kind == TALK_TROUBLE;
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    }
    if (has_message(s))
        slurm_come_back(s, 1);
}

struct engine *engine_slurm_open(const struct engine_slurm_options *options, berth_error_t *err)
{
    struct slurm *s = calloc(1, sizeof(*s));
    if (!s) {
        errtext_no_memory(err);
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
    } else if (open_directory(s, err) == 0 && find_tag(s, err) == 0 &&
               slurm_start_helper(s, err) == 0) {
        await_nodes(s);
        return &s->engine;
    }
    close_slurm(&s->engine);
    return NULL;
}
