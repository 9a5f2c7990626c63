/* The cores of a graph: a calendar for when, a row of cores for which (graph.h).
 *
 * The row has the cores that are up in the policy's order; a core's place in it is what is taken and given
 * back. Its id is its number among all cores.
 */
#include "place/cores.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/heap.h"
#include "berth/planner.h"
#include "match/units.h"
#include "place/core_set.h"
#include "place/counted.h"

#define NO_BOOKING UINT32_MAX

/* A booking's number is its slot. It was given cores if its job has started, and holds them while it is
 * in `running`.
 */
struct booking {
    int64_t span; /* in the calendar; 0: the slot is free */
    struct resource_range *given;
    size_t n_given;
    uint32_t next; /* free slot */
};

struct cores_place {
    struct place place;
    match_t *match;
    struct match_units units;
    bool ascending; /* the row is in the order of ids */
    planner_t *calendar;
    struct core_set cores; /* by place in the row */
    struct booking *bookings;
    uint32_t n, free_slot;
    size_t capacity;
    struct heap running; /* slots, by the end of the booking */
    uint64_t starts;
    struct core_list found; /* for one call */
    struct core_set ids;    /* for one call: free, that is set, are the ids to be told */
    uint32_t
        *place_of; /* by vertex, and room for what a match gives; NULL where the order is fixed */
    uint32_t *matched;
};

static struct cores_place *cores_of(struct place *place)
{
    return (struct cores_place *)place;
}

static planner_t *calendar_of(const struct place *place)
{
    return ((const struct cores_place *)place)->calendar;
}

static int64_t cores_idle(const struct place *place, int64_t at)
{
    return planner_avail_resources_at(calendar_of(place), at);
}

static int64_t cores_when(const struct place *place, const struct place_ask *ask, int64_t from)
{
    return planner_earliest(calendar_of(place), from, (uint64_t)ask->duration,
                            (uint64_t)ask->units);
}

/* A slot for a booking, or NO_BOOKING with ENOMEM. */
static uint32_t alloc_core_slot(struct cores_place *g)
{
    uint32_t slot = g->free_slot;

    if (slot != NO_BOOKING) {
        g->free_slot = g->bookings[slot].next;
        return slot;
    }
    if (g->n == INT32_MAX || array_grow((void **)&g->bookings, &g->capacity, (size_t)g->n + 1,
                                        sizeof(*g->bookings)) < 0) {
        errno = ENOMEM;
        return NO_BOOKING;
    }
    g->bookings[g->n] = (struct booking){0};
    return g->n++;
}

static void free_core_slot(struct cores_place *g, uint32_t slot)
{
    g->bookings[slot] = (struct booking){.next = g->free_slot};
    g->free_slot = slot;
}

static int64_t cores_book(struct place *place, const struct place_ask *ask, int64_t at)
{
    struct cores_place *g = cores_of(place);
    uint32_t slot = alloc_core_slot(g);

    if (slot == NO_BOOKING)
        return -1;
    int64_t span = planner_add_span(g->calendar, at, (uint64_t)ask->duration, (uint64_t)ask->units);
    if (span < 0) {
        free_core_slot(g, slot);
        if (errno == EINVAL)
            errno = EBUSY;
        return -1;
    }
    g->bookings[slot] = (struct booking){.span = span};
    return slot;
}

/* A booking's job holds its cores no more. */
static void give_up_cores(struct cores_place *g, uint32_t slot)
{
    const struct booking *b = &g->bookings[slot];

    if (!heap_has(&g->running, slot))
        return;
    heap_take(&g->running, slot);
    core_set_give(&g->cores, b->given, b->n_given);
    if (!g->units.fixed)
        match_cancel(g->match, slot, NULL, NULL);
}

static void cores_release(struct place *place, int64_t booking)
{
    struct cores_place *g = cores_of(place);
    uint32_t slot = (uint32_t)booking;

    give_up_cores(g, slot);
    planner_rem_span(g->calendar, g->bookings[slot].span);
    free(g->bookings[slot].given);
    free_core_slot(g, slot);
}

static int64_t cores_reserve(struct place *place, const struct place_ask *ask, int64_t from,
                             int64_t *at)
{
    *at = cores_when(place, ask, from);
    return *at < 0 ? -1 : cores_book(place, ask, *at);
}

static void cores_lift(struct place *place, int64_t booking, bool briefly)
{
    (void)briefly;
    struct cores_place *g = cores_of(place);
    planner_retake_span(g->calendar, g->bookings[booking].span, 0);
}

static void cores_drop(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct cores_place *g = cores_of(place);
    planner_retake_span(g->calendar, g->bookings[booking].span, ask->units);
}

static bool cores_fits(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct cores_place *g = cores_of(place);
    int64_t span = g->bookings[booking].span;
    return planner_avail_during(g->calendar, planner_span_start_time(g->calendar, span),
                                (uint64_t)ask->duration, (uint64_t)ask->units) == 0;
}

static int64_t cores_pull(struct place *place, const struct place_ask *ask, int64_t booking,
                          struct place_pull *how)
{
    struct cores_place *g = cores_of(place);
    int64_t found =
        planner_earliest_before(g->calendar, how->from, ask->duration, ask->units, how->at);

    how->freed = counted_freed(ask, how, found);
    if (found < how->at && planner_advance_span(g->calendar, g->bookings[booking].span, found) < 0)
        return -1;
    return found;
}

static size_t cores_rooms(const struct place *place, uint32_t part, int64_t at,
                          struct planner_room *room, size_t max)
{
    (void)part;
    return planner_rooms(calendar_of(place), at, room, max);
}

/* Match slot[n] > core[1] for as long as the plan goes. Returns 0, or -1 with errno. */
static int match_slots(match_t *match, match_op_t op, uint32_t n, uint32_t job)
{
    char text[256];
    int length = snprintf(text, sizeof(text),
                          "{version: 1, resources: [{type: slot, count: %" PRIu32 ", label: core, "
                          "with: [{type: core, count: 1}]}], tasks: [{command: [a], slot: core, "
                          "count: {per_slot: 1}}], attributes: {system: {duration: 0}}}",
                          n);
    jobspec_t *spec = jobspec_parse(text, (size_t)length, NULL, NULL);

    if (!spec)
        return -1;
    int rc = match_run(match, op, spec, job, 0, NULL, NULL);
    jobspec_destroy(spec);
    return rc;
}

/* Find what the matcher gives, and let it know that the job has it. */
static int find_matching(struct cores_place *g, uint32_t n, uint32_t slot)
{
    struct core_set chosen;

    if (n > g->cores.free) {
        errno = EBUSY;
        return -1;
    }
    if (core_set_init(&chosen, g->cores.n, false) < 0)
        return -1;
    if (match_slots(g->match, MATCH_ALLOCATE, n, slot) < 0) {
        int saved = errno;
        match_cancel(g->match, slot, NULL, NULL); /* in case it failed late */
        core_set_clear(&chosen);
        errno = saved;
        return -1;
    }
    uint32_t given = match_units_given(g->match, "core", g->matched, g->units.n);
    for (uint32_t i = 0; i < given; i++)
        core_set_give_one(&chosen, g->place_of[g->matched[i]]);
    int rc = core_set_list(&chosen, &g->found);
    core_set_clear(&chosen);
    if (rc < 0)
        match_cancel(g->match, slot, NULL, NULL);
    return rc;
}

static int cores_start(struct place *place, const struct place_ask *ask, int64_t booking,
                       int64_t now)
{
    struct cores_place *g = cores_of(place);
    struct booking *b = &g->bookings[booking];
    uint32_t slot = (uint32_t)booking;
    int64_t end = planner_span_start_time(g->calendar, b->span) + ask->duration;

    while (g->running.n > 0 && g->running.v[0].key <= now)
        give_up_cores(g, g->running.v[0].item);
    int rc = g->units.fixed ? core_set_find(&g->cores, (uint32_t)ask->units, &g->found)
                            : find_matching(g, (uint32_t)ask->units, slot);
    if (rc < 0)
        return -1;
    b->given = malloc((g->found.n + 1) * sizeof(*b->given));
    if (!b->given || heap_put(&g->running, slot, end, g->starts) < 0) {
        free(b->given);
        b->given = NULL;
        if (!g->units.fixed)
            match_cancel(g->match, slot, NULL, NULL);
        errno = ENOMEM;
        return -1;
    }
    memcpy(b->given, g->found.v, g->found.n * sizeof(*b->given));
    b->n_given = g->found.n;
    g->starts++;
    core_set_take(&g->cores, b->given, b->n_given);
    return 0;
}

/* Set the ids of a range of the row. */
static void name(struct cores_place *g, struct resource_range r)
{
    const uint32_t *order = g->units.order;
    struct resource_range ids = {order[r.first], order[r.last]};

    if (g->ascending && ids.last - ids.first == r.last - r.first) {
        core_set_give(&g->ids, &ids, 1);
        return;
    }
    for (uint32_t p = r.first; p <= r.last; p++)
        core_set_give_one(&g->ids, order[p]);
}

static int64_t cores_given(struct place *place, int64_t booking,
                           const struct resource_range **ranges, const struct resource_host **hosts)
{
    struct cores_place *g = cores_of(place);
    const struct booking *b = &g->bookings[booking];

    if (hosts) {
        errno = EINVAL;
        return -1;
    }
    if (!g->ids.word && core_set_init(&g->ids, g->units.n, false) < 0)
        return -1;
    for (size_t i = 0; i < b->n_given; i++)
        name(g, b->given[i]);
    int rc = core_set_list(&g->ids, &g->found);
    core_set_take_all(&g->ids);
    if (rc < 0)
        return -1;
    *ranges = g->found.v;
    return (int64_t)g->found.n;
}

/* What is given and not given up, and what is free, make up the whole. */
static bool cores_check(const struct place *place)
{
    const struct cores_place *g = (const struct cores_place *)place;
    struct core_set cores;
    bool good = planner_check(g->calendar) && heap_check(&g->running) && core_set_check(&g->cores);

    if (core_set_init(&cores, g->cores.n, true) < 0)
        return false;
    for (uint32_t i = 0; good && i < g->running.n; i++) {
        const struct booking *b = &g->bookings[g->running.v[i].item];
        for (size_t k = 0; good && k < b->n_given; k++)
            for (uint32_t p = b->given[k].first; good && p <= b->given[k].last; p++) {
                struct resource_range one = {p, p};
                good = core_set_has(&cores, p);
                if (good)
                    core_set_take(&cores, &one, 1);
            }
    }
    for (uint32_t p = 0; good && p < cores.n; p++)
        good = core_set_has(&cores, p) == core_set_has(&g->cores, p);
    core_set_clear(&cores);
    return good;
}

static void cores_destroy(struct place *place)
{
    struct cores_place *g = cores_of(place);

    while (g->running.n > 0)
        give_up_cores(g, g->running.v[0].item);
    for (uint32_t i = 0; i < g->n; i++)
        free(g->bookings[i].given);
    free(g->bookings);
    heap_clear(&g->running);
    planner_destroy(&g->calendar);
    match_units_clear(&g->units);
    core_set_clear(&g->cores);
    core_set_clear(&g->ids);
    free(g->found.v);
    free(g->place_of);
    free(g->matched);
    free(g);
}

static const struct place_ops cores_ops = {
    .idle = cores_idle,
    .when = cores_when,
    .book = cores_book,
    .reserve = cores_reserve,
    .release = cores_release,
    .undo = cores_release,
    .lift = cores_lift,
    .drop = cores_drop,
    .fits = cores_fits,
    .start = cores_start,
    .given = cores_given,
    .pull = cores_pull,
    .rooms = cores_rooms,
    .check = cores_check,
    .destroy = cores_destroy,
    COUNTED_OPS,
};

/* What is needed where each start is a match, and whether a match can give all there are. */
static int prepare_matching(struct cores_place *g, berth_error_t *err)
{
    uint32_t vertices = 0;

    for (uint32_t i = 0; i < g->units.n; i++)
        if (g->units.vertex[i] >= vertices)
            vertices = g->units.vertex[i] + 1;
    g->place_of = malloc((size_t)vertices * sizeof(*g->place_of));
    g->matched = malloc((size_t)g->units.n * sizeof(*g->matched));
    if (!g->place_of || !g->matched)
        return errtext_no_memory(err);
    for (uint32_t i = 0; i < g->units.n_up; i++)
        g->place_of[g->units.vertex[g->units.order[i]]] = i;
    if (match_slots(g->match, MATCH_SATISFIABILITY, g->units.n, 0) == 0)
        return 0;
    return errno == ENOMEM
               ? errtext_no_memory(err)
               : errtext_set(err, EINVAL, "the match policy can't give all cores to one job");
}

static int prepare_cores(struct cores_place *g, berth_error_t *err)
{
    if (match_units_list(g->match, "core", &g->units, err) < 0)
        return -1;
    if (g->units.n_up == 0)
        return errtext_set(err, EINVAL, "the machine has no cores%s",
                           g->units.n > 0 ? " that are up" : "");
    g->ascending = true;
    for (uint32_t i = 1; i < g->units.n_up; i++)
        g->ascending &= g->units.order[i - 1] < g->units.order[i];
    g->calendar = planner_new(0, INT64_MAX, g->units.n_up, "core");
    if (!g->calendar || core_set_init(&g->cores, g->units.n_up, true) < 0)
        return errtext_no_memory(err);
    return g->units.fixed ? 0 : prepare_matching(g, err);
}

struct place *cores_place_create(match_t *match, berth_error_t *err)
{
    struct cores_place *g = calloc(1, sizeof(*g));

    if (!g) {
        errtext_no_memory(err);
        return NULL;
    }
    g->place = (struct place){.ops = &cores_ops, .is_counted = true};
    g->match = match;
    g->free_slot = NO_BOOKING;
    if (prepare_cores(g, err) == 0) {
        g->place.most = g->units.n_up;
        return &g->place;
    }
    int saved = errno;
    cores_destroy(&g->place);
    errno = saved;
    return NULL;
}
