/* What was freed since a reservation was last tried, and whether that, or anything, may serve it better.
 *
 * A log of nodes with the times during which something of them was freed, each with its place in the log. Where it is
 * full, or what was freed is in no node, all before counts as freed everywhere.
 */
#include <string.h>

#include "sched/named_priv.h"

void named_near_note(struct named *n, uint32_t node, int64_t from, int64_t to)
{
    struct near *log = &n->near;

    for (uint32_t i = log->n; i-- > 0 && i + 4 >= log->n && log->base + i >= log->marked;)
        if (log->v[i].vertex == node) {
            log->v[i].from = from < log->v[i].from ? from : log->v[i].from;
            log->v[i].to = to > log->v[i].to ? to : log->v[i].to;
            return;
        }
    if (log->n == NEAR_MAX) {
        named_near_all(n);
        return;
    }
    log->v[log->n++] = (struct freed_node){node, from, to};
}

void named_near_all(struct named *n)
{
    n->near.base += n->near.n + 1;
    n->near.n = 0;
    n->near.all = n->near.base;
}

uint64_t named_freed(struct place *place)
{
    struct near *log = &named_of(place)->near;

    log->marked = log->base + log->n;
    return log->marked;
}

void named_forget_freed(struct place *place, uint64_t since)
{
    struct near *log = &named_of(place)->near;

    if (since <= log->base)
        return;
    uint32_t gone = since - log->base < log->n ? (uint32_t)(since - log->base) : log->n;
    log->n -= gone;
    memmove(log->v, log->v + gone, log->n * sizeof(*log->v));
    log->base += gone;
}

/* Whether a calendar leaves open a start at `from` (before = from), or in [from, before) with all free from `before` on. */
static bool leaves_open(const struct profile *p, int64_t limit, int64_t duration, int64_t from,
                        int64_t before)
{
    int64_t end = duration < INT64_MAX - from ? from + duration : INT64_MAX;
    if (!p || limit < 0)
        return !p;
    return before > from ? profile_fits(p, from, duration, limit, before)
                         : profile_at(p, from) <= limit && profile_max(p, from, end) <= limit;
}

bool named_admits(struct place *place, const struct place_ask *ask, int64_t from, int64_t before)
{
    struct named *n = named_of(place);

    if (!class_of(n, ask) || named_freshen(n) < 0)
        return true;
    struct plan_ask plan = named_plan_counted(n, ask, before > from);
    return leaves_open(plan.calendar, plan.limit, ask->duration, from, before) &&
           leaves_open(plan.hosts, plan.hosts_limit, ask->duration, from, before);
}

/* Whether a booking holds something in a node. */
static bool is_in(struct named *n, int64_t booking, uint32_t node)
{
    uint32_t i = 0, vertex;
    bool alone;

    while (match_job_thing(n->match, booking, &i, &vertex, &alone))
        if (match_node_of(n->match, vertex) == node)
            return true;
    return false;
}

bool named_betters(struct place *place, const struct place_ask *ask, int64_t booking, int64_t at,
                   uint64_t since)
{
    struct named *n = named_of(place);
    const struct near *log = &n->near;
    const struct class *c = class_of(n, ask);
    int64_t end = ask->duration < INT64_MAX - at ? at + ask->duration : INT64_MAX;

    if (!c || n->stale || since < log->all)
        return true;
    for (uint32_t i = since > log->base ? (uint32_t)(since - log->base) : 0; i < log->n; i++) {
        const struct freed_node *f = &log->v[i];
        /* Of a job that ended when it was to end, all that was free by then was held all the same. */
        if (f->from < end && (f->to > at || booking < 0) &&
            match_part_has(n->parts[c->part].within, f->vertex) &&
            (named_hosts_has(n, c, f->vertex, at, end) ||
             (booking >= 0 && is_in(n, booking, f->vertex))))
            return true;
    }
    return false;
}

bool named_is_fixed(const struct place *place)
{
    return !match_goes_by_weight(((const struct named *)place)->match);
}
