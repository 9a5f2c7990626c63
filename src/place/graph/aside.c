/* What there would be room for, were a booking lifted, or all of a bundle: so that a reservation that can't be
 * earlier need not be lifted and put back to find that out, which changes what is counted of all its nodes twice.
 *
 * Of each node that the booking holds, what is taken of it during the booking's window is less by what the
 * booking has of it. The gaps that follow from that, less those that there are, stand beside the gaps of the
 * capacity while it is asked for the first time with enough. That says the same as lifting would; what is not
 * sure counts as free.
 */
#include <string.h>

#include "place/graph/capacity.h"

/* What bookings have of a node. */
struct own {
    uint32_t node;
    struct plan_usage of;
};

/* Bookings of one window, and the gaps that there would be more. */
struct aside {
    struct graph_place *n;
    struct capacity *capacity;
    const int64_t *booking;
    uint32_t n_bookings;
    int64_t at, end;
    uint32_t next, next_hold; /* the booking, and in it the hold, that is looked at next */
    struct own ahead;         /* what is taken next, unless there is no node in it */
    struct gaps *gaps;
    struct change change; /* of the nodes that were looked at last */
    struct own own;
};

/* What one booking has of the next node. Returns as match_job_next_usage. */
static int look_ahead(struct aside *a)
{
    for (; a->next < a->n_bookings; a->next++, a->next_hold = 0) {
        int rc = match_job_next_usage(a->n->match, a->booking[a->next], &a->next_hold,
                                      &a->ahead.node, &a->ahead.of);
        if (rc != 0)
            return rc;
    }
    a->ahead.node = PLACE_NONE;
    return 0;
}

static void add_usage(struct plan_usage *to, const struct plan_usage *more)
{
    to->use = more->use > to->use ? more->use : to->use;
    for (int k = 0; k < PLAN_USAGE_TYPES; k++)
        to->taken[k] += more->taken[k];
}

/* The next node that the bookings hold, put together where two that hold it follow each other. Returns 1, 0 at the end, or
 * -1: they hold something else, or units of a pool.
 */
static int next_own(struct aside *a, struct own *own)
{
    if (a->ahead.node == PLACE_NONE)
        return 0;
    *own = a->ahead;
    int rc = look_ahead(a);
    for (; rc > 0 && a->ahead.node == own->node; rc = look_ahead(a))
        add_usage(&own->of, &a->ahead.of);
    return rc < 0 ? -1 : 1;
}

/* A step as it would be. */
static struct plan_usage without(const struct own *own, struct plan_usage step)
{
    if (own->of.use == PLAN_FULL) {
        step.use = PLAN_IDLE;
        memset(step.taken, 0, sizeof(step.taken));
        return step;
    }
    for (int k = 0; k < PLAN_USAGE_TYPES; k++)
        step.taken[k] -= own->of.taken[k] < step.taken[k] ? own->of.taken[k] : step.taken[k];
    return step;
}

/* The steps of a node as they would be: one that the window begins or ends in is two. */
static uint32_t steps_without(const struct aside *a, const struct node_row *row,
                              struct plan_usage *out)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < row->n; k++) {
        struct plan_usage step = row->step[k];
        int64_t until = k + 1 < row->n ? row->step[k + 1].at : INT64_MAX;
        if (step.at < a->at)
            out[n++] = step;
        step.at = step.at > a->at ? step.at : a->at;
        if (step.at < until && step.at < a->end) {
            out[n++] = without(&a->own, step);
            step.at = a->end;
        }
        if (step.at >= a->end && step.at < until)
            out[n++] = step;
    }
    return n;
}

/* Add the gaps of nodes that are alike. Returns 0, or -1 with ENOMEM. */
static int add_alike_gaps(struct aside *a)
{
    struct change *c = &a->change;
    struct capacity_change x;

    if (c->count == 0 || !capacity_compare(a->n, a->capacity, c, &x))
        return 0;
    for (uint32_t i = 0; i < x.n_differ; i++)
        if (gaps_add(a->gaps, x.differ[i].from, x.differ[i].until, x.differ[i].pieces * c->count) <
            0)
            return -1;
    return 0;
}

/* Take one more node. Returns 0, or -1: nothing is known. */
static int add_aside_node(struct aside *a, const struct own *own)
{
    const struct capacities *all = a->n->capacities;
    struct change *c = &a->change;
    uint32_t i = usage_row_of(all, own->node);

    if (i == all->n_rows || all->row[i].n == 0 || all->row[i].n + 2 > GAPS_STEPS_MAX)
        return -1;
    const struct node_row *row = &all->row[i];
    if (!(row->parts >> a->capacity->part & 1))
        return 0;
    if (c->count > 0 && usage_is_alike(row, c->sample) &&
        memcmp(&own->of, &a->own.of, sizeof(own->of)) == 0) {
        c->count++;
        return 0;
    }
    if (add_alike_gaps(a) < 0)
        return -1;
    a->own = *own;
    c->sample = row;
    c->count = 1;
    c->n_old = row->n;
    memcpy(c->old, row->step, row->n * sizeof(*row->step));
    c->n_new = steps_without(a, row, c->new);
    return 0;
}

/* Whether nodes come up or down, so that none comes twice. */
static bool is_in_order(const struct aside *a, uint32_t before_last, uint32_t last, uint32_t node)
{
    return a->n_bookings == 1 || last == PLACE_NONE || before_last == PLACE_NONE ||
           (before_last < last) == (last < node);
}

/* Returns 0, or -1: nothing is known. */
static int find_gaps(struct aside *a)
{
    struct own own;
    uint32_t before_last = PLACE_NONE, last = PLACE_NONE;
    int more;

    match_job_window(a->n->match, a->booking[0], &a->at, &a->end);
    if (look_ahead(a) < 0)
        return -1;
    while ((more = next_own(a, &own)) > 0) {
        if (!is_in_order(a, before_last, last, own.node) || add_aside_node(a, &own) < 0)
            return -1;
        before_last = last;
        last = own.node;
    }
    return more < 0 || add_alike_gaps(a) < 0 ? -1 : gaps_settle(a->gaps);
}

bool capacity_lacks_aside(struct graph_place *n, const struct class *c, const int64_t *booking,
                          uint32_t n_bookings, int64_t duration, int64_t at, struct held_note *note)
{
    struct aside a; /* large, so that no more of it is set than has to be */
    struct held_note anew;
    bool lacks = false;

    a.n = n;
    a.booking = booking;
    a.n_bookings = n_bookings;
    a.next = a.next_hold = 0;
    a.change.count = 0;
    a.capacity = match_is_tree(n->match) ? capacity_ready(n, c) : NULL;
    if (a.capacity) {
        a.gaps = &n->capacities->aside;
        gaps_empty(a.gaps);
    }
    if (a.capacity && find_gaps(&a) == 0) {
        lacks =
            capacity_first_beside(n, c, a.gaps, duration, at, &anew) < 0 && anew.kind == HELD_SHORT;
        anew.class = note->class;
    }
    if (lacks)
        *note = anew;
    return lacks;
}
