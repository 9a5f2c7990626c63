/* The engine of this machine: the server's side of its keeper. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "engine/local/local.h"
#include "engine/local/messages.h"
#include "engine/local/outputs.h"

#define ENGINE_LOCK "engine.lock"
#define CHUNK       65536
#define OUTPUT_CUT  "lost: its end was not observed; its output lacks what its node had not sent yet"

static struct local *local_of(struct engine *e)
{
    return (struct local *)(void *)e;
}

struct wanted *local_find(const struct local *l, uint64_t key)
{
    /* The entry is the first member of its run. */
    return (struct wanted *)(void *)dict_find(&l->runs, (const char *)&key, sizeof(key));
}

struct wanted *local_enter(struct local *l, uint64_t key)
{
    struct wanted *run = dict_reserve(&l->runs) ? NULL : calloc(1, sizeof(*run));
    if (!run) {
        errno = ENOMEM;
        return NULL;
    }
    run->key = key;
    if (key > l->last_key)
        l->last_key = key;
    run->entry = (struct dict_entry){.text = (const char *)&run->key, .length = sizeof(run->key)};
    dict_put(&l->runs, &run->entry);
    run->prev = l->last;
    if (l->last)
        l->last->next = run;
    else
        l->first = run;
    l->last = run;
    return run;
}

void local_drop(struct local *l, struct wanted *run)
{
    dict_take(&l->runs, &run->entry);
    if (run->prev)
        run->prev->next = run->next;
    else
        l->first = run->next;
    if (run->next)
        run->next->prev = run->prev;
    else
        l->last = run->prev;
    free(run->message);
    free(run);
}

void local_send_later(struct local *l, struct wanted *run)
{
    if (run->unsent)
        return;
    run->unsent = true;
    run->next_queued = NULL;
    if (l->last_unsent)
        l->last_unsent->next_queued = run;
    else
        l->unsent = run;
    l->last_unsent = run;
}

void local_awake(struct local *l, bool awake)
{
    uint64_t count = 1;
    if (awake == l->awake)
        return;
    if (awake ? write(l->wake, &count, sizeof(count)) > 0
              : read(l->wake, &count, sizeof(count)) > 0)
        l->awake = awake;
}

static int check_run(const struct engine_run *run, berth_error_t *err)
{
    struct idset cpus = {0};
    int rc = 0;
    if (run->key > ENGINE_KEY_MAX)
        return errtext_set(err, EINVAL, "key: expected less than 2^63");
    if (run->processes > 0 && run->n_tasks > (uint64_t)run->processes)
        return errtext_set(err, EINVAL,
                           "tasks: expected at most %lld, as many processes as it may have",
                           (long long)run->processes);
    if (run->n_tasks < 1 || run->n_tasks > MESSAGE_TASKS_MAX)
        return errtext_set(err, EINVAL, "tasks: expected 1 to %d", MESSAGE_TASKS_MAX);
    if (!run->script && (!run->argv || !run->argv[0]))
        return errtext_set(err, EINVAL, "command: expected one");
    if (!run->directory || run->directory[0] != '/')
        return errtext_set(err, EINVAL, "directory: expected an absolute path");
    if (!run->output)
        return errtext_set(err, EINVAL, "output: expected a file");
    for (size_t i = 0; i < run->n_tasks && rc == 0; i++)
        if (run->tasks[i].cpus)
            rc = idset_decode(&cpus, run->tasks[i].cpus, strlen(run->tasks[i].cpus), err);
    idset_clear(&cpus);
    return rc;
}

/* One that may have been asked for before the engine was opened can be asked for once more. */
struct wanted *local_want(struct local *l, const struct engine_run *asked, berth_error_t *err)
{
    struct strbuf b = {0};
    if (check_run(asked, err))
        return NULL;
    struct wanted *run = local_find(l, asked->key);
    bool again = run && run->unheard && !run->message && !run->end;
    if ((run && !again) || used_keys_has(&l->used, asked->key)) {
        errtext_set(err, EEXIST, "run %llu has been started before",
                    (unsigned long long)asked->key);
        return NULL;
    }
    message_put_start(&b, asked);
    if (b.len > WIRE_MESSAGE_MAX) {
        strbuf_clear(&b);
        errtext_set(err, E2BIG, "the request takes more than %zu MiB", WIRE_MESSAGE_MAX >> 20);
        return NULL;
    }
    if (!run && !b.failed)
        run = local_enter(l, asked->key);
    if (!run || b.failed) {
        strbuf_clear(&b);
        errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
        return NULL;
    }
    run->length = b.len;
    run->message = strbuf_steal(&b);
    return run;
}

/* One that the keeper may have is sent once it has greeted and does not know it. */
static int start_at_keeper(struct engine *e, const struct engine_run *asked, berth_error_t *err)
{
    struct local *l = local_of(e);
    struct wanted *run = local_want(l, asked, err);
    if (run && (!run->unheard || (l->link >= 0 && !run->known)))
        local_send_later(l, run);
    return run ? 0 : -1;
}

/* Fill the buffer with what is to be sent. The request of a run is kept until the keeper reports
 * something about it.
 */
void local_fill(struct local *l, size_t most)
{
    while (l->unsent && l->out.len < most) {
        struct wanted *run = l->unsent;
        strbuf_put(&l->out, run->message, run->length);
        l->unsent = run->next_queued;
        if (!l->unsent)
            l->last_unsent = NULL;
        run->unsent = false;
    }
}

static int signal_at_keeper(struct engine *e, uint64_t key, int signal, bool tree)
{
    struct local *l = local_of(e);
    struct wanted *run = local_find(l, key);
    if (signal < 1 || signal > 64) {
        errno = EINVAL;
        return -1;
    }
    if (!run || run->end)
        return 0;
    if (tree && signal == SIGKILL)
        run->kill = true;
    if (l->link < 0 || run->held) {
        *(tree ? &run->tree_signals : &run->session_signals) |= (uint64_t)1 << (signal - 1);
        return 0;
    }
    if (run->unsent)
        local_fill(l, SIZE_MAX); /* what it is sent to goes first */
    message_put_signal(&l->out, &(struct message_signal){key, signal, tree});
    return 0;
}

static void look_for(struct local *l, bool full)
{
    struct epoll_event event = {.events = EPOLLIN | (full ? EPOLLOUT : 0u)};
    if (full != l->full && epoll_ctl(l->poll, EPOLL_CTL_MOD, l->link, &event) == 0)
        l->full = full;
}

static int flush_to_keeper(struct engine *e)
{
    struct local *l = local_of(e);
    ssize_t n = 1;
    bool sent = false;
    if (local_reconnect(l))
        return -1;
    while (n > 0) {
        local_fill(l, CHUNK);
        if (l->out.failed) {
            local_hang_up(l);
            errno = ENOMEM;
            return -1;
        }
        if (l->out.len == 0)
            break;
        n = send(l->link, l->out.data + l->out_at, l->out.len - l->out_at,
                 MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            local_hang_up(l); /* the timer has events asked for, which finds another keeper */
            errno = ENOTCONN;
            return -1;
        }
        l->out_at += n > 0 ? (size_t)n : 0;
        sent = true;
        if (l->out_at == l->out.len) {
            l->out_at = 0;
            strbuf_reset(&l->out);
        }
    }
    look_for(l, l->out.len > 0);
    if (sent)
        local_sent(l);
    return 0;
}

static int get_fd_of_keeper(const struct engine *e)
{
    return ((const struct local *)(const void *)e)->poll;
}

static void set_end(struct local *l, struct wanted *run, uint64_t number)
{
    run->end = number;
    run->next_queued = NULL;
    if (l->last_ended)
        l->last_ended->next_queued = run;
    else
        l->ended = run;
    l->last_ended = run;
}

/* Of a run whose end is acknowledged nothing more is wanted. */
static int take_output(struct local *l, struct wire *w)
{
    struct message_output output;
    struct message_written written;
    if (message_output(w, &output))
        return -1;
    written = (struct message_written){output.key, output.stream, MESSAGE_ALL_WRITTEN, NULL};
    if (local_find(l, output.key))
        outputs_take(l->outputs, &output, &written);
    message_put_written(&l->out, &written);
    return 0;
}

/* Handle one event from the keeper. */
static int take_event_of_keeper(struct local *l, struct wire *w)
{
    struct engine_event event;
    uint8_t kind = wire_u8(w);
    if (kind == MESSAGE_LEFT && l->passive) {
        local_lose_all(l);
        return 0;
    }
    if (kind == MESSAGE_OUTPUT && l->outputs)
        return take_output(l, w);
    if (kind != MESSAGE_EVENT || message_event(w, &event))
        return -1;
    struct wanted *run = local_find(l, event.key);
    if (event.number <= l->seen || !run || run->end)
        return 0; /* another keeper has reported it before */
    l->texts[l->n_batch] = event.text ? strdup(event.text) : NULL;
    if (event.text && !l->texts[l->n_batch])
        return -1;
    event.text = l->texts[l->n_batch];
    l->batch[l->n_batch++] = event;
    l->seen = event.number;
    if (event.what != ENGINE_STARTED)
        set_end(l, run, event.number);
    free(run->message);
    run->message = NULL;
    return 0;
}

void local_lose_all(struct local *l)
{
    for (struct wanted *run = l->first; run; run = run->next)
        run->over = true;
    l->unsent = l->last_unsent = NULL;
    l->over = l->lose = true;
    local_awake(l, true);
}

/* It was not even sent where nothing runs any more; or the keeper that was asked for it knows nothing of it. */
static bool never_began(const struct local *l, const struct wanted *run)
{
    return run->over ? run->unsent || run->held
                     : run->unheard && !used_keys_has(&l->used, run->key);
}

/* Report as lost the runs that had been started and that the present keeper doesn't know, because its
 * journal was removed, or that were where nothing runs any more.
 */
static void lose_unknown(struct local *l, size_t max)
{
    for (struct wanted *run = l->first; run; run = run->next) {
        if (run->end || (!run->over && (run->known || run->message)))
            continue;
        if (l->n_batch == max)
            return;
        set_end(l, run, ++l->seen);
        bool cut = l->outputs && outputs_has(l->outputs, run->key);
        l->texts[l->n_batch] = cut ? strdup(OUTPUT_CUT) : NULL;
        l->batch[l->n_batch] = (struct engine_event){
            .what = never_began(l, run) ? ENGINE_REFUSED : ENGINE_LOST,
            .key = run->key,
            .number = run->end,
            .at = local_clock(CLOCK_REALTIME),
            .peak_memory = -1,
            .cpu_time = -1,
            .text = l->texts[l->n_batch],
        };
        l->n_batch++;
    }
    l->lose = false;
}

/* Handle the messages that have come in. 1: there are more events than fit; 0; -1: the messages are
 * malformed.
 */
static int take_events(struct local *l, size_t max)
{
    struct wire w;
    size_t at = 0;
    size_t taken;
    int rc = 0;
    while (l->n_batch < max && (rc = wire_next(l->in.data + at, l->in.len - at, &w, &taken)) > 0) {
        if (take_event_of_keeper(l, &w)) {
            rc = -1;
            break;
        }
        at += taken;
    }
    if (rc >= 0 && l->n_batch == max)
        rc = wire_next(l->in.data + at, l->in.len - at, &w, &taken);
    if (at > 0)
        memmove(l->in.data, l->in.data + at, l->in.len - at);
    l->in.len -= at;
    return rc;
}

static size_t get_events_of_keeper(struct engine *e, const struct engine_event **events, size_t max)
{
    struct local *l = local_of(e);
    max = max < LOCAL_BATCH ? max : LOCAL_BATCH;
    for (size_t i = 0; i < l->n_batch; i++)
        free(l->texts[i]);
    l->n_batch = 0;
    *events = l->batch;
    if (l->link < 0 && local_reconnect(l) && !l->over)
        return 0;
    local_check(l);
    if (l->lose)
        lose_unknown(l, max);
    if (l->link < 0) {
        local_awake(l, l->lose);
        return l->n_batch;
    }
    int rc = 0;
    ssize_t n = 1;
    while ((rc = take_events(l, max)) == 0 && l->n_batch < max && n > 0) {
        if (!strbuf_room(&l->in, CHUNK))
            break;
        n = recv(l->link, l->in.data + l->in.len, CHUNK, MSG_DONTWAIT);
        if (n > 0)
            l->in.len += (size_t)n;
    }
    if (rc < 0 || l->in.failed || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        local_hang_up(l); /* the timer brings the server here again */
        return l->n_batch;
    }
    local_awake(l, rc > 0 || l->lose);
    flush_to_keeper(e);
    return l->n_batch;
}

static int acknowledge_to_keeper(struct engine *e, uint64_t number)
{
    struct local *l = local_of(e);
    if (number <= l->acknowledged)
        return 0;
    while (l->ended && l->ended->end <= number) {
        struct wanted *run = l->ended;
        if (used_keys_add(&l->used, run->key, run->key))
            return -1;
        l->ended = run->next_queued;
        if (!l->ended)
            l->last_ended = NULL;
        if (l->outputs)
            outputs_forget(l->outputs, run->key);
        local_drop(l, run);
    }
    l->acknowledged = number;
    if (l->link >= 0)
        message_put_acknowledge(&l->out, number);
    return 0;
}

static int get_runs_of_keeper(struct engine *e, const uint64_t **keys, size_t *n)
{
    struct local *l = local_of(e);
    if (!l->met) {
        errno = EAGAIN;
        return -1;
    }
    if (l->runs.n > l->keys_cap) {
        uint64_t *v = reallocarray(l->keys, l->runs.n, sizeof(*v));
        if (!v) {
            errno = ENOMEM;
            return -1;
        }
        l->keys = v;
        l->keys_cap = l->runs.n;
    }
    *n = 0;
    for (const struct wanted *run = l->first; run; run = run->next)
        l->keys[(*n)++] = run->key;
    *keys = l->keys;
    return 0;
}

static uint64_t get_last_key_of_keeper(const struct engine *e)
{
    return ((const struct local *)(const void *)e)->last_key;
}

static const char *notice_of_keeper(const struct engine *e)
{
    const struct local *l = (const struct local *)(const void *)e;
    return l->trouble.text[0] ? l->trouble.text : l->keeper_notice;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void local_close(struct engine *e)
{
    struct local *l = local_of(e);
    int saved = errno;
    if (l->link >= 0)
        flush_to_keeper(e);
    while (l->first)
        local_drop(l, l->first);
    for (size_t i = 0; i < l->n_batch; i++)
        free(l->texts[i]);
    close_fd(l->link);
    close_fd(l->caller);
    find_keeper_forget(&l->starter);
    close_fd(l->poll);
    close_fd(l->wake);
    close_fd(l->timer);
    close_fd(l->lock);
    close_fd(l->where.fd);
    strbuf_clear(&l->in);
    strbuf_clear(&l->out);
    dict_clear(&l->runs);
    if (l->outputs)
        outputs_close(l->outputs);
    used_keys_clear(&l->used);
    free(l->keys);
    free(l->keeper_notice);
    free(l->directory);
    free(l->program);
    free(l->cgroup);
    free(l);
    errno = saved;
}

static const struct engine_ops local_ops = {
    .start = start_at_keeper,
    .signal = signal_at_keeper,
    .flush = flush_to_keeper,
    .fd = get_fd_of_keeper,
    .events = get_events_of_keeper,
    .acknowledge = acknowledge_to_keeper,
    .runs = get_runs_of_keeper,
    .last_key = get_last_key_of_keeper,
    .notice = notice_of_keeper,
    .close = local_close,
};

static int watch_in_poll(struct local *l, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return fd < 0 ? -1 : epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &event);
}

/* Lock the directory, so that only one server uses it. */
static int take_lock(struct local *l, berth_error_t *err)
{
    l->lock = openat(l->where.fd, ENGINE_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->lock < 0)
        return errtext_set(err, errno, "%s/%s: %s", l->directory, ENGINE_LOCK, strerror(errno));
    if (flock(l->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return errtext_set(err, errno, "%s/%s: %s", l->directory, ENGINE_LOCK, strerror(errno));
    return errtext_set(err, EBUSY, "directory %s: another server uses it", l->directory);
}

/* Wait until there is a keeper, or until it is reported that the one that exists does not answer. */
static int meet(struct local *l, berth_error_t *err)
{
    struct pollfd p = {.fd = l->poll, .events = POLLIN};
    while (local_reconnect(l)) {
        if (errno != EAGAIN) {
            return errtext_set(err, errno, "%s", l->trouble.text);
        }
        if (l->trouble.text[0])
            return 0;
        poll(&p, 1, -1);
    }
    return 0;
}

static int open_poll(struct local *l)
{
    l->poll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return l->poll < 0 || watch_in_poll(l, l->wake) || watch_in_poll(l, l->timer) ? -1 : 0;
}

static int set_up(struct local *l, berth_error_t *err)
{
    l->where.fd = find_keeper_directory(l->directory, err);
    return l->where.fd < 0 || take_lock(l, err) ? -1 : meet(l, err);
}

struct local *local_make(void)
{
    struct local *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->engine.ops = &local_ops;
    l->lock = l->link = l->caller = l->poll = l->wake = l->timer = l->where.fd = -1;
    l->starter.ended = l->starter.errors = -1;
    if (open_poll(l) == 0)
        return l;
    int saved = errno;
    local_close(&l->engine);
    errno = saved;
    return NULL;
}

struct engine *engine_local_open(const struct engine_local_options *options, berth_error_t *err)
{
    struct local *l = local_make();
    if (!l) {
        errtext_set(err, errno, "epoll: %s", strerror(errno));
        return NULL;
    }
    l->directory = strdup(options->directory);
    l->program = strdup(options->keeper);
    l->cgroup = options->cgroup ? strdup(options->cgroup) : NULL;
    l->where.directory = l->directory;
    l->where.program = l->program;
    l->where.cgroup = l->cgroup;
    if (!l->directory || !l->program || (options->cgroup && !l->cgroup))
        errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
    else if (set_up(l, err) == 0)
        return &l->engine;
    int saved = errno;
    local_close(&l->engine);
    errno = saved;
    return NULL;
}
