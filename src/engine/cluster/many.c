/* Several engines as one: this machine's, and one for each node that is lent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "engine/cluster/many_priv.h"
#include "engine/local/passive.h"

#define READY_MOST 64       /* engines that are looked at in one call */
#define PROOFS     "proofs" /* in the folder of pilots, whose own names are numbers */

struct part *part_find(const struct many *m, const char *id)
{
    if (!id)
        return m->v[0];
    for (size_t i = 1; i < m->n; i++)
        if (strcmp(m->v[i]->id, id) == 0)
            return m->v[i];
    return NULL;
}

int many_listen(const struct many *m, int fd, void *owner)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = owner};
    return fd < 0 ? 0 : epoll_ctl(m->poll, EPOLL_CTL_ADD, fd, &event);
}

struct part *part_add(struct many *m, struct engine *engine)
{
    struct part *p = NULL;
    if (engine && array_grow((void **)&m->v, &m->cap, m->n + 1, sizeof(struct part *)) == 0)
        p = calloc(1, sizeof(*p));
    if (!p || many_listen(m, engine->ops->fd(engine), p)) {
        free(p);
        return NULL;
    }
    p->engine = engine;
    m->v[m->n++] = p;
    return p;
}

void part_close(struct part *p)
{
    p->engine->ops->close(p->engine);
    node_clear(&p->node);
    free(p->id);
    free(p->name);
    free(p);
}

static void wake_after(int timer, int64_t us)
{
    struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    timerfd_settime(timer, 0, &when, NULL);
}

void many_come_back(const struct many *m, int64_t us)
{
    wake_after(m->timer, us);
}

/* ---- Output ---- */

struct engine_run many_proved(struct many *m, const struct engine_run *run)
{
    struct engine_run proved = *run;
    bool had = m->proofs.n > 0;
    proofs_give(&m->proofs, &proved);
    if (!had && m->proofs.n > 0)
        wake_after(m->proof_timer, (int64_t)PROOF_KEPT * 1000000);
    return proved;
}

static void take_proof_timer(struct many *m)
{
    uint64_t times;
    if (read(m->proof_timer, &times, sizeof(times)) > 0 && proofs_expire(&m->proofs))
        wake_after(m->proof_timer, (int64_t)PROOF_KEPT * 1000000);
}

/* ---- What a server asks ---- */

static int start_on_node(struct engine *e, const struct engine_run *run, berth_error_t *err)
{
    struct many *m = many_of(e);
    if (run->places)
        return spread_start(m, run, err);
    struct part *p = part_find(m, run->node);
    if (!p || (p->id && passive_over(p->engine)))
        return errtext_set(err, ENOMEM, "node %s has left", run->node); /* it waits again */
    p->touched = true;
    if (!p->id)
        return p->engine->ops->start(p->engine, run, err);
    struct engine_run proved = many_proved(m, run);
    return p->engine->ops->start(p->engine, &proved, err);
}

static int send_to(struct part *p, uint64_t key, int signal, bool tree)
{
    p->touched = true;
    return p->engine->ops->signal(p->engine, key, signal, tree);
}

static int signal_on_nodes(struct engine *e, uint64_t key, int signal, bool tree)
{
    struct many *m = many_of(e);
    int rc = send_to(m->v[0], key, signal, tree);
    for (size_t i = 1; i < m->n; i++)
        if (passive_has(m->v[i]->engine, key) && send_to(m->v[i], key, signal, tree))
            rc = -1;
    return rc;
}

static int flush_to_nodes(struct engine *e)
{
    struct many *m = many_of(e);
    for (size_t i = 1; i < m->n; i++) {
        if (m->v[i]->touched)
            m->v[i]->engine->ops->flush(m->v[i]->engine);
        m->v[i]->touched = false;
    }
    return m->v[0]->engine->ops->flush(m->v[0]->engine);
}

static int get_fd_of_nodes(const struct engine *e)
{
    return ((const struct many *)(const void *)e)->poll;
}

int many_tell(struct many *m, const struct told *told, const struct engine_event *event, size_t n)
{
    const struct part *p = told->from;
    m->batch[n] = *event;
    m->batch[n].elsewhere = !p || p->id;
    return told_add(&m->told, told, &m->batch[n]);
}

/* Remember whose an event is. Returns whether it is reported. */
static bool take_event_of_part(struct many *m, struct part *p, const struct engine_event *event,
                               size_t n)
{
    const struct told told = {.key = event->key, .theirs = event->number, .from = p};
    struct spread *spread = spread_find(&m->spreads, event->key);
    return spread ? spread_event(m, spread, p, event, n) : many_tell(m, &told, event, n) == 0;
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
        n += take_event_of_part(m, p, &events[i], n);
    look_at_state(m, p);
    return n;
}

static size_t get_events_of_nodes(struct engine *e, const struct engine_event **events, size_t max)
{
    struct many *m = many_of(e);
    struct epoll_event ready[READY_MOST];
    size_t n = 0;
    max = max < MANY_BATCH ? max : MANY_BATCH;
    *events = m->batch;
    n = spreads_due(m, max);
    int n_ready = epoll_wait(m->poll, ready, READY_MOST, 0);
    for (int i = 0; i < n_ready; i++) {
        if (ready[i].data.ptr == &m->gate)
            many_take_gate(m);
        else if (ready[i].data.ptr == &m->timer)
            many_take_timer(m);
        else if (ready[i].data.ptr == &m->proofs)
            take_proof_timer(m);
        else if (n < max)
            n = take_part(m, ready[i].data.ptr, n, max);
    }
    if (m->spreads.has_asked)
        flush_to_nodes(e);
    m->spreads.has_asked = false;
    return n;
}

void part_acknowledge(struct part *p, uint64_t number)
{
    p->acknowledged = number > p->acknowledged ? number : p->acknowledged;
    p->touched = true;
}

static int acknowledge_to_nodes(struct engine *e, uint64_t number)
{
    struct many *m = many_of(e);
    const struct told *t;
    while ((t = told_take(&m->told, number)))
        if (t->from)
            part_acknowledge(t->from, t->theirs);
        else
            spread_acknowledge(m, spread_find(&m->spreads, t->key), t->is_end);
    int rc = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct part *p = m->v[i];
        uint64_t most = p->touched ? spreads_let(&m->spreads, p, p->acknowledged) : 0;
        if (most > 0 && p->engine->ops->acknowledge(p->engine, most))
            rc = -1;
    }
    return rc;
}

static int get_runs_of_nodes(struct engine *e, const uint64_t **keys, size_t *n)
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
    spreads_meet(m);
    return 0;
}

/* What other nodes remember says nothing of the records of this machine, and no key is used in two places. */
static uint64_t get_last_key_here(const struct engine *e)
{
    const struct many *m = (const struct many *)(const void *)e;
    return m->v[0]->engine->ops->last_key(m->v[0]->engine);
}

static const char *notice_of_nodes(const struct engine *e)
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
    spreads_clear(&m->spreads);
    for (size_t i = 0; i < m->n; i++)
        part_close(m->v[i]);
    gate_end(&m->gate);
    if (m->poll >= 0)
        close(m->poll);
    if (m->timer >= 0)
        close(m->timer);
    if (m->proof_timer >= 0)
        close(m->proof_timer);
    proofs_clear(&m->proofs);
    strbuf_clear(&m->text);
    free(m->v);
    told_clear(&m->told);
    free(m->nodes);
    free(m->keys);
    free(m->directory);
    free(m->program);
    free(m);
    errno = saved;
}

static const struct engine_ops many_ops = {
    .start = start_on_node,
    .signal = signal_on_nodes,
    .flush = flush_to_nodes,
    .fd = get_fd_of_nodes,
    .events = get_events_of_nodes,
    .acknowledge = acknowledge_to_nodes,
    .runs = get_runs_of_nodes,
    .last_key = get_last_key_here,
    .notice = notice_of_nodes,
    .close = close_many,
    .invite = many_invite,
    .dismiss = many_dismiss,
    .expect = many_expect,
    .nodes = many_nodes,
    .lose = many_lose,
    .forget = many_forget,
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
    m->proof_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (asprintf(&m->proofs.list, "%s/" PROOFS, options->directory) < 0)
        m->proofs.list = NULL;
    if (m->directory && m->program && m->proofs.list && m->poll >= 0 && m->timer >= 0 &&
        m->proof_timer >= 0 && many_listen(m, m->timer, &m->timer) == 0 &&
        many_listen(m, m->proof_timer, &m->proofs) == 0 && part_add(m, local))
        return &m->engine;
    errtext_set(err, errno, "cannot watch engines: %s", strerror(errno));
    close_many(&m->engine);
    return NULL;
}
