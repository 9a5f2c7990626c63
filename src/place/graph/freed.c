/* Whether what was freed since (place/freed.h), or anything, may serve a reservation better. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place/graph/capacity.h"

/* Whether the calendar of cores rules out a start at `from` (before = from), or in [from, before) with all
 * free from `before` on.
 */
static bool is_over_calendar_limit(const struct plan_ask *plan, int64_t from, int64_t before)
{
    if (!plan->calendar || plan->limit < 0)
        return plan->calendar != NULL;
    return before > from ? !profile_fits(plan->calendar, from, plan->duration, plan->limit, before)
                         : profile_max(plan->calendar, from, from + plan->duration) > plan->limit;
}

bool graph_place_is_helped(struct graph_place *n, const struct class *c, int64_t duration,
                           struct held_note *note)
{
    const struct freed_nodes *log = &n->freed_nodes;

    if (n->stale || note->seen < log->all || note->seen < log->base)
        return true;
    for (uint32_t i = freed_nodes_since(log, note->seen); i < log->n; i++) {
        const struct freed_node *f = &log->v[i];
        /* A window that begins before the reservation may reach beyond its beginning. */
        if (f->from - duration < note->before && f->to > n->now &&
            match_part_has(n->parts[c->part].within, f->node) &&
            capacity_could(n, c, f->node, duration, note->before))
            return true;
    }
    note->seen = n->place.freed.next;
    return false;
}

bool graph_place_is_short(struct place *place, const struct place_ask *ask, int64_t now,
                          struct place_note *note)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);

    if (!c || graph_place_refresh(n) < 0)
        return false;
    if (c->capacity != PLACE_NONE)
        return capacity_short(n, c, ask->duration, now, note);
    struct plan_ask plan = graph_place_plan(n, ask);
    return is_over_calendar_limit(&plan, now, now);
}

int64_t graph_place_longest(struct place *place, const struct place_ask *ask, int64_t least,
                            int64_t now)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);

    return c && graph_place_refresh(n) == 0 ? capacity_longest(n, c, least, ask->duration, now)
                                            : ask->duration;
}

bool graph_place_is_stuck(struct place *place, const struct place_ask *ask, int64_t booking,
                          int64_t at, bool apart)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);

    if (!c || graph_place_refresh(n) < 0)
        return false;
    if (c->capacity == PLACE_NONE) {
        struct plan_ask plan = graph_place_plan(n, ask);
        return is_over_calendar_limit(&plan, n->now, at);
    }
    struct held_note *note = n->bookings[booking].note;
    if (!note || note->kind == HELD_UNKNOWN || note->class != ask->class || !c->is_exact ||
        ask->duration < note->duration || at != note->before ||
        match_job_is_forced(n->match, booking))
        return false;
    if (note->kind == HELD_NO_MATCH)
        return !graph_place_is_helped(n, c, ask->duration, note);
    return (!apart && capacity_stuck(n, c, at, note)) ||
           capacity_lacks_aside(n, c, &booking, 1, ask->duration, at, note);
}

/* One more node of a booking. Returns 0, or -1 with ENOMEM. */
static int add_booking_node(struct booking *b, uint32_t node)
{
    if (b->n_nodes == b->cap_nodes) {
        uint32_t capacity = b->cap_nodes + b->cap_nodes / 2 + 8;
        uint32_t *more = reallocarray(b->node, capacity, sizeof(*more));
        if (!more)
            return -1;
        b->node = more;
        b->cap_nodes = capacity;
    }
    b->node[b->n_nodes++] = node;
    return 0;
}

/* The nodes that a booking holds something of, and their ids; false if there is no memory to know them. Once for each
 * time that it is chosen: O(what it holds).
 */
static bool know_nodes(struct graph_place *n, int64_t booking)
{
    struct booking *b = &n->bookings[booking];
    uint32_t i = 0, vertex, last = PLACE_NONE;

    if (b->has_ids)
        return true;
    b->low = INT64_MAX;
    b->high = INT64_MIN;
    b->n_nodes = 0;
    while (match_job_next_span(n->match, booking, &i, &vertex)) {
        uint32_t node = match_node_of(n->match, vertex);
        int64_t id = n->graph->v[node].id;
        if (node == last)
            continue;
        if (add_booking_node(b, node) < 0)
            return false;
        b->low = id < b->low ? id : b->low;
        b->high = id > b->high ? id : b->high;
        last = node;
    }
    b->has_ids = true;
    return true;
}

/* Mark the nodes that a booking holds something in; false if there is no memory to. */
static bool mark_nodes(struct graph_place *n, int64_t booking)
{
    const struct booking *b = &n->bookings[booking];

    if (n->n_marked < n->graph->n) {
        uint32_t *marked = calloc(n->graph->n, sizeof(*marked));
        if (!marked)
            return false;
        free(n->marked);
        n->marked = marked;
        n->n_marked = n->graph->n;
        n->mark = 0;
    }
    if (!know_nodes(n, booking))
        return false;
    if (++n->mark == 0) {
        memset(n->marked, 0, n->n_marked * sizeof(*n->marked));
        n->mark = 1;
    }
    for (uint32_t i = 0; i < b->n_nodes; i++)
        n->marked[b->node[i]] = n->mark;
    return true;
}

/* What was freed that a class, which holds a booking at a time, may rather have; booking < 0: any. Of a job that ended
 * when it was to end, all that was free by then was held all the same. A job that lasts longer than is asked for here
 * may start for what was freed later on.
 */
static struct freed_wanted wanted_by(struct graph_place *n, const struct class *c, int64_t booking,
                                     int64_t at, int64_t end)
{
    const struct part *part = &n->parts[c->part];
    struct freed_wanted wanted = {INT64_MIN, INT64_MAX, part->low, part->high};
    int order = c->by_node ? match_id_order(n->match) : 0;

    if (booking < 0)
        return wanted;
    wanted.from = at;
    wanted.to = end;
    if (order == 0 || !know_nodes(n, booking))
        return wanted;
    const struct booking *b = &n->bookings[booking];
    if (order > 0 && b->high < wanted.high)
        wanted.high = b->high;
    if (order < 0 && b->low > wanted.low)
        wanted.low = b->low;
    return wanted;
}

bool graph_place_betters(struct place *place, const struct place_ask *ask, int64_t booking,
                         int64_t at, uint64_t since)
{
    struct graph_place *n = graph_place_of(place);
    const struct freed_nodes *log = &n->freed_nodes;
    const struct class *c = class_of(n, ask);
    int64_t end = ask->duration < INT64_MAX - at ? at + ask->duration : INT64_MAX;
    const struct freed_node *f;
    bool is_marked = false;

    if (booking < 0 && c && !graph_place_wakes(place, ask->class, since))
        return false;
    if (!c || n->stale || since < log->all)
        return true;
    /* Where a node has room for no more pieces, others of what is in it may be preferred all the same. */
    bool shares = booking >= 0 && !(c->n_pieces == 1 && c->piece[0].alone);
    struct capacity_view view;
    capacity_view(&view, n, c);
    struct freed_wanted wanted = wanted_by(n, c, booking, at, end);
    struct freed_cursor cursor = freed_search(log, since);
    while ((f = freed_next(log, &wanted, &cursor))) {
        if (!match_part_has(n->parts[c->part].within, f->node))
            continue;
        if (capacity_view_has(&view, f->node, at, end) ||
            (shares && !is_marked && !(is_marked = mark_nodes(n, booking))) ||
            (shares && n->marked[f->node] == n->mark))
            return true;
    }
    return false;
}

/* ---- Choosing again ---- */

/* Whether nothing but what was freed since can be preferred to what a booking holds: its nodes were the first
 * ones in the policy's order that were free, and the others that were free still come behind them.
 */
static bool is_known_best(const struct graph_place *n, const struct place_ask *ask, int64_t booking,
                          uint64_t since)
{
    const struct booking *b = &n->bookings[booking];
    const struct freed_nodes *log = &n->freed_nodes;
    const struct class *c = class_of(n, ask);

    return b->is_best && b->best_of.class == ask->class && b->best_of.part == ask->part &&
           b->best_of.duration == ask->duration && b->best_of.permits == ask->permits &&
           b->best_of.clear == ask->clear && c->by_node && c->is_exact &&
           match_id_order(n->match) != 0 && match_is_tree(n->match) && !n->stale &&
           since >= log->all && since >= log->base && since != UINT64_MAX &&
           !match_job_is_forced(n->match, booking);
}

static void mark_node_among(struct graph_place *n, const uint64_t *within, uint32_t node, bool on)
{
    uint64_t bit = UINT64_C(1) << (node % 64);

    if (!on)
        n->among[node / 64] &= ~bit;
    else if (match_part_has(within, node))
        n->among[node / 64] |= bit;
}

/* Put what a booking holds and what was freed since among those that may be chosen, or take it out again. */
static void put_all(struct graph_place *n, const uint64_t *within, int64_t booking, uint64_t since,
                    bool on)
{
    const struct freed_nodes *log = &n->freed_nodes;
    uint32_t i = 0, vertex;

    while (match_job_next_span(n->match, booking, &i, &vertex))
        mark_node_among(n, within, match_node_of(n->match, vertex), on);
    for (uint32_t k = freed_nodes_since(log, since); k < log->n; k++)
        mark_node_among(n, within, log->v[k].node, on);
}

int graph_place_choose_again(struct graph_place *n, const struct place_ask *ask,
                             const struct plan_ask *plan, int64_t booking, int64_t at,
                             uint64_t since)
{
    struct plan_ask some = *plan;
    size_t words = (size_t)n->graph->n / 64 + 1;

    some.next = NULL; /* there is enough by count: what it holds is free at that time */
    if (!is_known_best(n, ask, booking, since))
        return match_plan(n->match, &some, BOOKING_TEMP, at, true);
    if (n->n_among < words) {
        uint64_t *among = calloc(words, sizeof(*among));
        if (!among)
            return -1;
        free(n->among);
        n->among = among;
        n->n_among = words;
    }
    put_all(n, plan->within, booking, since, true);
    some.within = n->among;
    int rc = match_plan(n->match, &some, BOOKING_TEMP, at, true);
    int error = errno;
    put_all(n, plan->within, booking, since, false);
    errno = error;
    return rc;
}
