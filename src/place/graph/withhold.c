/* What is withheld for a job whose start nobody knows: a booking that lies over those of others. */
#include <errno.h>
#include <stdlib.h>

#include "place/graph/bundle.h"

void graph_place_lay(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    capacity_note(n, booking);
    match_job_lay(n->match, booking);
}

int graph_place_shift(struct place *place, int64_t booking, int64_t at, int64_t end)
{
    struct graph_place *n = graph_place_of(place);
    int64_t was, till;

    match_job_window(n->match, booking, &was, &till);
    if (graph_place_move(n, booking, &n->bookings[booking], at, end) < 0)
        return -1;
    n->bookings[booking].is_best = false;
    if (was < at)
        graph_place_free_job(n, booking, was, at);
    return 0;
}

bool graph_place_stands(struct place *place, const struct place_ask *ask, int64_t booking,
                        int64_t now)
{
    struct graph_place *n = graph_place_of(place);
    struct plan_ask plan = graph_place_plan(n, ask);

    return graph_place_refresh(n) == 0 &&
           match_job_still_fits(n->match, booking, &plan, now, now + 1) == 1;
}

/* Whether a booking is an allocation, or a reservation that has begun. */
static bool is_there_at(const struct graph_place *n, uint32_t booking, int64_t now)
{
    int64_t at, end;

    if (!n->bookings[booking].used || match_job_is_lifted(n->match, booking))
        return false;
    match_job_window(n->match, booking, &at, &end);
    return !match_job_is_reserved(n->match, booking) || (at <= now && now < end);
}

/* Whether a booking holds what it has at an instant: such a reservation only if it lies over nobody. */
static bool holds_at(const struct graph_place *n, uint32_t booking, int64_t now)
{
    return is_there_at(n, booking, now) &&
           (!match_job_is_reserved(n->match, booking) || !match_job_is_forced(n->match, booking));
}

/* The next vertex that a booking has to itself. */
static bool next_own(const struct graph_place *n, int64_t booking, uint32_t *i, uint32_t *vertex)
{
    bool alone;

    while (match_job_next_hold(n->match, booking, i, vertex, &alone))
        if (alone)
            return true;
    return false;
}

/* Make the least that is free in a node lower by those of which a booking holds something. */
static void least_free(const struct graph_place *n, int64_t booking, const int64_t *taken,
                       int64_t *least)
{
    uint32_t i = 0, vertex;

    while (next_own(n, booking, &i, &vertex)) {
        uint32_t node = match_node_of(n->match, vertex);
        int64_t left = match_units_at(n->match, node, n->unit) - taken[node];
        *least = left < *least ? left : *least;
    }
}

int graph_place_free_beside(struct place *place, const int64_t *bookings, size_t n_bookings,
                            int64_t now, int64_t *free_units)
{
    struct graph_place *n = graph_place_of(place);
    int64_t *taken = calloc(n->graph->n, sizeof(*taken));
    bool *is_taken = calloc(n->graph->n, sizeof(*is_taken));
    uint32_t i, vertex;

    if (!taken || !is_taken) {
        free(taken);
        free(is_taken);
        return -1;
    }
    for (uint32_t b = 0; b < n->n_bookings; b++)
        for (i = 0; is_there_at(n, b, now) && next_own(n, b, &i, &vertex); is_taken[vertex] = true)
            if (!is_taken[vertex])
                taken[match_node_of(n->match, vertex)] += match_units_at(n->match, vertex, n->unit);
    free(is_taken);
    for (size_t b = 0; b < n_bookings; b++) {
        const struct bundle *all = is_bundle(bookings[b]) ? bundle_of(place, bookings[b]) : NULL;
        free_units[b] = INT64_MAX;
        for (uint32_t k = 0; k < (all ? all->n : 1); k++)
            least_free(n, all ? all->v[all->first + k] : bookings[b], taken, &free_units[b]);
    }
    free(taken);
    return 0;
}

/* ---- How much of it ---- */

enum { OWN = 1, OTHERS = 2 };

/* Mark the vertices that bookings have to themselves; and with `up`, what these are in. */
static void mark(const struct graph_place *n, uint8_t *marks, int64_t booking, uint8_t as, bool up)
{
    uint32_t i = 0, vertex;

    while (next_own(n, booking, &i, &vertex)) {
        uint32_t node = match_node_of(n->match, vertex);
        marks[vertex] |= as;
        if (up)
            marks[node] |= as;
    }
}

/* The marks of a vertex, and of what it is in. */
static uint8_t marks_of(const struct graph_place *n, const uint8_t *marks, uint32_t vertex)
{
    uint8_t all = 0;

    for (uint32_t v = vertex; v != PLAN_NO_VERTEX; v = match_above(n->match, v))
        all |= marks[v];
    return all;
}

static bool holds_nodes(const struct graph_place *n, int64_t booking)
{
    uint32_t i = 0, vertex;

    while (next_own(n, booking, &i, &vertex))
        if (n->graph->v[vertex].type == TYPE_NODE)
            return true;
    return false;
}

const char *graph_place_withheld(struct place *place, int64_t booking, int64_t now, uint64_t blocks,
                                 int64_t *has, int64_t *of)
{
    struct graph_place *n = graph_place_of(place);
    const struct bundle *all = is_bundle(booking) ? bundle_of(place, booking) : NULL;
    const int64_t *own = all ? &all->v[all->first] : &booking;
    uint32_t n_own = all ? all->n : 1;
    uint8_t *marks = calloc(n->graph->n, sizeof(*marks));
    bool whole = holds_nodes(n, own[0]);
    uint16_t type = whole ? TYPE_NODE : n->unit;

    *has = *of = 0;
    if (!marks)
        return NULL;
    for (uint32_t i = 0; i < n_own; i++)
        mark(n, marks, own[i], OWN, false);
    for (uint32_t b = 0; b < n->n_bookings; b++)
        if (holds_at(n, b, now)) /* what lies over others is not */
            mark(n, marks, b, OTHERS, whole);
    for (uint32_t v = 0; v < n->graph->n && blocks; v++)
        if (match_blocks_of(n->match, v, n->graph->v[v].type == type) & blocks)
            marks[v] |= OTHERS;
    for (uint32_t v = 0; v < n->graph->n; v++) {
        uint8_t is = n->graph->v[v].type == type ? marks_of(n, marks, v) : 0;
        *of += is & OWN ? n->graph->v[v].size : 0;
        *has += is == OWN ? n->graph->v[v].size : 0;
    }
    free(marks);
    return intern_text(&n->graph->types, type);
}
