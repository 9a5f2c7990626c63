/* Measuring what jobs ask for and hold, and entering it in the ledger of limits. */
#include <stdlib.h>
#include <string.h>

#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"

int64_t measure_held(void *arg, const char *type)
{
    const struct measured *m = arg;
    return m->s->place->ops->amount(m->s->place, m->booking, type);
}

int64_t measure_wanted(void *arg, const char *type)
{
    const struct measured *m = arg;
    return m->s->place->ops->wants(m->s->place, m->class, type);
}

/* What it adds at least to what its user and queue have. */
int64_t measure_added(void *arg, const char *type)
{
    const struct measured *m = arg;
    return m->is_shared && strcmp(type, "node") == 0 ? 0 : measure_wanted(arg, type);
}

struct measured measure_request(const sched_t *s, uint32_t slot, uint32_t class)
{
    uint32_t party = s->jobs[slot].details->party;
    return (struct measured){.s = s,
                             .booking = -1,
                             .class = class,
                             .is_shared = limits_has_shared(s->queues->limits, party)};
}

static bool next_shared(void *arg, uint32_t *i, uint32_t *node)
{
    const struct measured *m = arg;
    return m->s->place->ops->next_shared(m->s->place, m->booking, i, node);
}

/* The nodes that what is measured shares with others; NULL: none, or nobody counts nodes. */
const struct limits_nodes *measure_shared(struct measured *m, uint32_t slot)
{
    uint32_t i = 0, node;
    m->nodes = (struct limits_nodes){next_shared, m, 0};
    if (m->s->place->is_counted ||
        !limits_counts_nodes(m->s->queues->limits, m->s->jobs[slot].details->party))
        return NULL;
    while (next_shared(m, &i, &node))
        m->nodes.n++;
    return m->nodes.n > 0 ? &m->nodes : NULL;
}

/* The same of a list. */
const struct limits_nodes *measure_listed(struct measured *m, struct limits_list *list)
{
    if (!list)
        return NULL;
    m->nodes = (struct limits_nodes){limits_next_of, list, list->n};
    return &m->nodes;
}

/* A list of them in *list, NULL where there are none. Returns 0, or -1 with ENOMEM. */
static int list_shared(const struct limits_nodes *nodes, struct limits_list **list)
{
    uint32_t i = 0, node;
    *list = NULL;
    if (!nodes)
        return 0;
    *list = malloc(sizeof(**list) + (size_t)nodes->n * sizeof((*list)->v[0]));
    if (!*list)
        return -1;
    (*list)->n = 0;
    while (nodes->next(nodes->arg, &i, &node))
        (*list)->v[(*list)->n++] = node;
    return 0;
}

/* ---- In the ledger ---- */

/* Members of a gang that start together are as many jobs. */
struct limits_window limits_window_of(const sched_t *s, uint32_t slot, int64_t booking, int64_t at,
                                      int64_t until)
{
    const struct place_ops *ops = s->place->ops;
    int64_t jobs = booking < 0 ? ops->members(s->place, s->jobs[slot].ask.class)
                               : ops->holds(s->place, booking);
    return (struct limits_window){at, until, jobs};
}

static void close_window(sched_t *s, uint32_t slot, int64_t at, int64_t until,
                         struct limits_list *list)
{
    struct measured m = {.s = s};
    limits_close(s->queues->limits, s->jobs[slot].details->party,
                 (struct limits_window){at, until, 0}, measure_listed(&m, list));
}

/* One window at a time may be open for what a held job may become. */
int count_open(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    struct opened *opened = &s->queues->opened;
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    if (list_shared(measure_shared(&m, slot), &opened->list) < 0)
        return -1;
    if (limits_open(s->queues->limits, s->jobs[slot].details->party,
                    limits_window_of(s, slot, booking, at, until),
                    measure_listed(&m, opened->list)) < 0) {
        free(opened->list);
        return -1;
    }
    opened->is = true;
    opened->is_taken = false;
    return 0;
}

void count_close(sched_t *s, uint32_t slot, int64_t at, int64_t until)
{
    struct opened *opened = &s->queues->opened;
    struct limits_list *list = opened->is_taken ? s->jobs[slot].details->shared : opened->list;
    close_window(s, slot, at, until, list);
    if (!opened->is_taken)
        free(opened->list);
    *opened = (struct opened){0};
}

/* What a job has counts no more; `open`: it may come back. */
void count_leave(sched_t *s, uint32_t slot, int64_t booking, bool open)
{
    struct details *d = s->jobs[slot].details;
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    if (d->is_counted)
        limits_sub(s->queues->limits, d->party, d->counted, measure_held, &m,
                   measure_listed(&m, d->shared));
    d->is_counted = false;
    if (d->is_open && !open) {
        close_window(s, slot, d->counted.from, d->counted.until, d->shared);
        free(d->shared);
        d->shared = NULL;
    }
    d->is_open &= open;
}

/* Its window may be open already (count_open): then this takes no memory. */
int count_enter(sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t until)
{
    struct details *d = s->jobs[slot].details;
    struct opened *opened = &s->queues->opened;
    struct limits_window window = limits_window_of(s, slot, booking, at, until);
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    struct limits_list *list = opened->list;
    if (!opened->is && list_shared(measure_shared(&m, slot), &list) < 0)
        return -1;
    if (limits_open(s->queues->limits, d->party, window, measure_listed(&m, list)) < 0) {
        if (!opened->is)
            free(list);
        return -1;
    }
    opened->is_taken = opened->is;
    count_leave(s, slot, booking, false);
    d->counted = window;
    d->shared = list;
    limits_add(s->queues->limits, d->party, d->counted, measure_held, &m, measure_listed(&m, list));
    d->is_counted = d->is_open = true;
    return 0;
}

/* Whether a booking still shares a node. */
static bool has_shared(struct measured *m, uint32_t node)
{
    uint32_t i = 0, other;
    while (next_shared(m, &i, &other))
        if (other == node)
            return true;
    return false;
}

/* Nodes that the machine has no more nobody holds. */
static void forget_removed(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    struct limits_list *list = d->shared;
    struct measured m = {.s = s, .booking = s->jobs[slot].booking};
    const struct limits_nodes *has = list ? measure_shared(&m, slot) : NULL;
    if (!list || (has && has->n == list->n))
        return;
    uint32_t kept = 0, all = list->n;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t node = list->v[i];
        if (!has_shared(&m, node))
            continue;
        list->v[i] = list->v[kept];
        list->v[kept++] = node;
    }
    list->n = kept; /* the window is open for these: this takes no memory */
    limits_open(s->queues->limits, d->party, d->counted, measure_listed(&m, list));
    list->n = all;
    close_window(s, slot, d->counted.from, d->counted.until, list);
    list->n = kept;
}

void count_again(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    struct measured m = {
        .s = s, .booking = s->jobs[slot].booking, .class = s->jobs[slot].ask.class};
    if (!d->is_open || d->is_counted)
        return;
    forget_removed(s, slot);
    limits_add(s->queues->limits, d->party, d->counted, measure_held, &m,
               measure_listed(&m, d->shared));
    d->is_counted = true;
}
