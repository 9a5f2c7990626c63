/* Several engines as one: this machine's, and one for each node that is lent. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "engine/cluster/gate_start.h"
#include "engine/cluster/node.h"
#include "engine/cluster/secret.h"
#include "engine/engine.h"
#include "engine/local/passive.h"

#define BATCH      256     /* events that are reported at once */
#define READY_MOST 64      /* engines that are looked at in one call */
#define GATE_RETRY 1000000 /* us until a gate that has gone is started again */

/* One of them. */
struct part {
    struct engine *engine;
    char *id; /* NULL: this machine */
    char *name;
    uint64_t pilot;
    struct node node;
    bool has_node;
    bool was_up, was_left;
    bool touched;          /* something is to be sent */
    uint64_t acknowledged; /* of its events */
};

/* An event that was reported, until it is acknowledged. */
struct told {
    uint64_t number, theirs;
    struct part *part;
};

struct many {
    struct engine engine;
    struct part **v; /* v[0] is this machine */
    size_t n, cap;
    char *directory, *program;
    struct gate_process gate;
    bool wants_gate;
    int poll, timer;
    struct told *told; /* told[first] is the oldest */
    size_t first, n_told, cap_told;
    uint64_t number; /* of the latest event */
    struct engine_event batch[BATCH];
    struct engine_node *nodes;
    uint64_t change;
    uint64_t *keys;
    size_t cap_keys;
    struct strbuf text; /* what a gate says */
    berth_error_t trouble;
    char notice[400];
};

static struct many *many_of(struct engine *e)
{
    return (struct many *)(void *)e;
}

static struct part *part_find(const struct many *m, const char *id)
{
    if (!id)
        return m->v[0];
    for (size_t i = 1; i < m->n; i++)
        if (strcmp(m->v[i]->id, id) == 0)
            return m->v[i];
    return NULL;
}

static int listen_to(const struct many *m, int fd, void *owner)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = owner};
    return fd < 0 ? 0 : epoll_ctl(m->poll, EPOLL_CTL_ADD, fd, &event);
}

static struct part *part_add(struct many *m, struct engine *engine)
{
    struct part *p = NULL;
    if (engine && array_grow((void **)&m->v, &m->cap, m->n + 1, sizeof(struct part *)) == 0)
        p = calloc(1, sizeof(*p));
    if (!p || listen_to(m, engine->ops->fd(engine), p)) {
        free(p);
        return NULL;
    }
    p->engine = engine;
    m->v[m->n++] = p;
    return p;
}

static void part_close(struct part *p)
{
    p->engine->ops->close(p->engine);
    node_clear(&p->node);
    free(p->id);
    free(p->name);
    free(p);
}

/* A node, found or made. NULL with ENOMEM. */
static struct part *node_part(struct many *m, uint64_t pilot, const char *name)
{
    char id[NODE_NAME_MOST + 32];
    snprintf(id, sizeof(id), "%" PRIu64 "/%.*s", pilot, NODE_NAME_MOST, name);
    struct part *p = part_find(m, id);
    if (p)
        return p;
    struct engine *engine = passive_open();
    p = part_add(m, engine);
    if (p) {
        p->id = strdup(id);
        p->name = strdup(name);
        p->pilot = pilot;
        if (p->id && p->name)
            return p;
        m->n--;
        part_close(p);
    } else if (engine) {
        engine->ops->close(engine);
    }
    errno = ENOMEM;
    return NULL;
}

/* ---- The gate ---- */

static void retry_gate(const struct many *m, int64_t us)
{
    struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    timerfd_settime(m->timer, 0, &when, NULL);
}

static void open_gate(struct many *m)
{
    m->wants_gate = true;
    if (m->gate.control >= 0)
        return;
    gate_end(&m->gate);
    if (gate_start(&m->gate, m->program, m->directory, &m->trouble) == 0 &&
        listen_to(m, m->gate.control, &m->gate) == 0)
        m->trouble.text[0] = '\0';
    else
        retry_gate(m, GATE_RETRY);
}

/* A node has come, or come again. After another boot nothing runs there that ran before. */
static void take_node(struct many *m, uint64_t pilot, int fd)
{
    struct node node;
    struct part *p = NULL;
    if (node_read(&node, m->text.data, m->text.len) == 0) {
        p = node_part(m, pilot, node.name);
        if (p && p->has_node && strcmp(p->node.boot, node.boot) != 0)
            passive_lose(p->engine);
        if (p) {
            node_clear(&p->node);
            p->node = node;
            p->has_node = true;
            m->change++;
        } else {
            node_clear(&node);
        }
    }
    if (p)
        passive_link(p->engine, fd);
    else
        close(fd);
}

static void take_gate(struct many *m)
{
    uint64_t pilot;
    int fd, rc;
    while ((rc = gate_take(&m->gate, &pilot, &fd, &m->text)) > 0)
        take_node(m, pilot, fd);
    strbuf_clear(&m->text);
    if (rc == 0)
        return;
    gate_end(&m->gate);
    retry_gate(m, GATE_RETRY);
}

static void take_timer(struct many *m)
{
    uint64_t times;
    if (read(m->timer, &times, sizeof(times)) > 0 && m->wants_gate)
        open_gate(m);
}

/* ---- What a server asks ---- */

static int start(struct engine *e, const struct engine_run *run, berth_error_t *err)
{
    struct many *m = many_of(e);
    struct part *p = part_find(m, run->node);
    if (!p || (p->id && passive_over(p->engine)))
        return errtext_set(err, ENOMEM, "node %s has left", run->node); /* it waits again */
    p->touched = true;
    return p->engine->ops->start(p->engine, run, err);
}

static int send_signal(struct engine *e, uint64_t key, int signal, bool tree)
{
    struct many *m = many_of(e);
    struct part *p = m->v[0];
    for (size_t i = 1; i < m->n && p == m->v[0]; i++)
        if (passive_has(m->v[i]->engine, key))
            p = m->v[i];
    p->touched = true;
    return p->engine->ops->signal(p->engine, key, signal, tree);
}

static int flush(struct engine *e)
{
    struct many *m = many_of(e);
    for (size_t i = 1; i < m->n; i++) {
        if (m->v[i]->touched)
            m->v[i]->engine->ops->flush(m->v[i]->engine);
        m->v[i]->touched = false;
    }
    return m->v[0]->engine->ops->flush(m->v[0]->engine);
}

static int get_fd(const struct engine *e)
{
    return ((const struct many *)(const void *)e)->poll;
}

/* Remember whose an event is. */
static int tell(struct many *m, struct part *p, const struct engine_event *event, size_t n)
{
    if (m->first > 0 && m->first >= m->n_told / 2) {
        memmove(m->told, m->told + m->first, (m->n_told - m->first) * sizeof(*m->told));
        m->n_told -= m->first;
        m->first = 0;
    }
    if (array_grow((void **)&m->told, &m->cap_told, m->n_told + 1, sizeof(*m->told)) < 0)
        return -1;
    m->told[m->n_told++] = (struct told){++m->number, event->number, p};
    m->batch[n] = *event;
    m->batch[n].number = m->number;
    m->batch[n].elsewhere = p->id != NULL;
    return 0;
}

static void look_at_state(struct many *m, struct part *p)
{
    bool up = p->id && passive_linked(p->engine), left = p->id && passive_over(p->engine);
    m->change += up != p->was_up || left != p->was_left;
    p->was_up = up;
    p->was_left = left;
}

/* The events of one. An event for which memory is short is said again by its keeper after the next start of the
 * server.
 */
static size_t take_part(struct many *m, struct part *p, size_t n, size_t max)
{
    const struct engine_event *events;
    size_t got = p->engine->ops->events(p->engine, &events, max - n);
    for (size_t i = 0; i < got; i++)
        n += tell(m, p, &events[i], n) == 0;
    look_at_state(m, p);
    return n;
}

static size_t get_events(struct engine *e, const struct engine_event **events, size_t max)
{
    struct many *m = many_of(e);
    struct epoll_event ready[READY_MOST];
    size_t n = 0;
    max = max < BATCH ? max : BATCH;
    *events = m->batch;
    int n_ready = epoll_wait(m->poll, ready, READY_MOST, 0);
    for (int i = 0; i < n_ready; i++) {
        if (ready[i].data.ptr == &m->gate)
            take_gate(m);
        else if (ready[i].data.ptr == &m->timer)
            take_timer(m);
        else if (n < max)
            n = take_part(m, ready[i].data.ptr, n, max);
    }
    return n;
}

static int acknowledge(struct engine *e, uint64_t number)
{
    struct many *m = many_of(e);
    while (m->first < m->n_told && m->told[m->first].number <= number) {
        const struct told *t = &m->told[m->first++];
        t->part->acknowledged = t->theirs;
        t->part->touched = true;
    }
    int rc = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct part *p = m->v[i];
        if (p->touched && p->acknowledged > 0 &&
            p->engine->ops->acknowledge(p->engine, p->acknowledged))
            rc = -1;
    }
    return rc;
}

static int get_runs(struct engine *e, const uint64_t **keys, size_t *n)
{
    struct many *m = many_of(e);
    *n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const uint64_t *some;
        size_t n_some;
        struct engine *engine = m->v[i]->engine;
        if (engine->ops->runs(engine, &some, &n_some))
            return -1;
        if (array_grow((void **)&m->keys, &m->cap_keys, *n + n_some + 1, sizeof(*m->keys)) < 0)
            return -1;
        if (n_some > 0)
            memcpy(m->keys + *n, some, n_some * sizeof(*some));
        *n += n_some;
    }
    *keys = m->keys;
    return 0;
}

/* What other nodes remember says nothing of the records of this machine, and no key is used in two places. */
static uint64_t get_last_key(const struct engine *e)
{
    const struct many *m = (const struct many *)(const void *)e;
    return m->v[0]->engine->ops->last_key(m->v[0]->engine);
}

static const char *notice(const struct engine *e)
{
    struct many *m = (struct many *)(uintptr_t)e;
    const char *own = m->v[0]->engine->ops->notice(m->v[0]->engine);
    if (!m->trouble.text[0])
        return own;
    snprintf(m->notice, sizeof(m->notice), "%s%sno node of a pilot can join: %.150s",
             own ? own : "", own ? "; " : "", m->trouble.text);
    return m->notice;
}

static void close_many(struct engine *e)
{
    struct many *m = many_of(e);
    int saved = errno;
    for (size_t i = 0; i < m->n; i++)
        part_close(m->v[i]);
    gate_end(&m->gate);
    if (m->poll >= 0)
        close(m->poll);
    if (m->timer >= 0)
        close(m->timer);
    strbuf_clear(&m->text);
    free(m->v);
    free(m->told);
    free(m->nodes);
    free(m->keys);
    free(m->directory);
    free(m->program);
    free(m);
    errno = saved;
}

/* ---- Nodes ---- */

static int invite(struct engine *e, uint64_t pilot, char *folder, berth_error_t *err)
{
    struct many *m = many_of(e);
    if (secret_path(folder, m->directory, pilot, ""))
        return errtext_set(err, errno, "%s: %s", m->directory, strerror(errno));
    if (secret_make(m->directory, pilot, err) < 0 && errno != EEXIST)
        return -1;
    open_gate(m);
    return 0;
}

static void dismiss(struct engine *e, uint64_t pilot)
{
    secret_remove(many_of(e)->directory, pilot);
}

static int expect(struct engine *e, uint64_t pilot, const char *name,
                  const struct engine_expected *runs, size_t n)
{
    struct many *m = many_of(e);
    struct part *p = node_part(m, pilot, name);
    for (size_t i = 0; p && i < n; i++)
        if (passive_expect(p->engine, &runs[i]))
            return -1;
    open_gate(m);
    return p ? 0 : -1;
}

static size_t get_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change)
{
    struct many *m = many_of(e);
    struct engine_node *v = reallocarray(m->nodes, m->n, sizeof(*v));
    *nodes = NULL;
    *change = m->change;
    if (!v)
        return 0;
    m->nodes = v;
    *nodes = v;
    for (size_t i = 1; i < m->n; i++) {
        const struct part *p = m->v[i];
        v[i - 1] = (struct engine_node){p->id, p->pilot, p->has_node ? &p->node : NULL,
                                        passive_linked(p->engine), passive_over(p->engine)};
    }
    return m->n - 1;
}

static void lose(struct engine *e, const char *id)
{
    struct many *m = many_of(e);
    struct part *p = part_find(m, id);
    if (!p || !p->id || passive_over(p->engine))
        return;
    passive_lose(p->engine);
    m->change++;
}

static int forget(struct engine *e, const char *id)
{
    struct many *m = many_of(e);
    size_t i = 1;
    while (i < m->n && strcmp(m->v[i]->id, id) != 0)
        i++;
    if (i >= m->n)
        return 0;
    struct part *p = m->v[i];
    for (size_t k = m->first; k < m->n_told; k++)
        if (m->told[k].part == p) {
            errno = EBUSY;
            return -1;
        }
    if (!passive_over(p->engine) || !passive_empty(p->engine)) {
        errno = EBUSY;
        return -1;
    }
    memmove(m->v + i, m->v + i + 1, (m->n - i - 1) * sizeof(struct part *));
    m->n--;
    m->change++;
    part_close(p);
    return 0;
}

static const struct engine_ops many_ops = {
    .start = start,
    .signal = send_signal,
    .flush = flush,
    .fd = get_fd,
    .events = get_events,
    .acknowledge = acknowledge,
    .runs = get_runs,
    .last_key = get_last_key,
    .notice = notice,
    .close = close_many,
    .invite = invite,
    .dismiss = dismiss,
    .expect = expect,
    .nodes = get_nodes,
    .lose = lose,
    .forget = forget,
};

struct engine *engine_many_open(struct engine *local, const struct engine_many_options *options,
                                berth_error_t *err)
{
    struct many *m = calloc(1, sizeof(*m));
    if (!m) {
        errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
        return NULL;
    }
    m->engine.ops = &many_ops;
    m->gate.control = -1;
    m->directory = strdup(options->directory);
    m->program = strdup(options->gate);
    m->poll = epoll_create1(EPOLL_CLOEXEC);
    m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (m->directory && m->program && m->poll >= 0 && m->timer >= 0 &&
        listen_to(m, m->timer, &m->timer) == 0 && part_add(m, local))
        return &m->engine;
    errtext_set(err, errno, "cannot watch engines: %s", strerror(errno));
    close_many(&m->engine);
    return NULL;
}
