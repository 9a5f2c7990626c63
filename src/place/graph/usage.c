/* Rows: of each node, what was taken of it when it was last counted (capacity.h). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "place/graph/capacity.h"

_Static_assert(ROWS_PARTS_MAX <= 64, "node_row.parts has a bit for each");

static int flush_change(struct graph_place *n)
{
    struct change *c = &n->capacities->change;
    int rc = c->count > 0 ? capacity_change(n, c) : 0;

    c->count = 0;
    return rc;
}

static bool has_same_steps(const struct plan_usage *a, uint32_t n_a, const struct plan_usage *b,
                           uint32_t n_b)
{
    return n_a == n_b && (n_a == 0 || a == b || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

/* Steps that rows share, which are never changed. */
struct steps {
    uint32_t users;
    struct plan_usage v[];
};

static struct steps *steps_at(struct plan_usage *step)
{
    return (struct steps *)((char *)step - offsetof(struct steps, v));
}

/* A copy of steps, with one user. NULL with ENOMEM. */
static struct plan_usage *steps_copy(const struct plan_usage *step, uint32_t n)
{
    struct steps *copy = malloc(sizeof(*copy) + n * sizeof(*step));
    if (!copy)
        return NULL;
    copy->users = 1;
    memcpy(copy->v, step, n * sizeof(*step));
    return copy->v;
}

static void steps_leave(struct plan_usage *step)
{
    if (step && --steps_at(step)->users == 0)
        free(steps_at(step));
}

bool usage_is_alike(const struct node_row *a, const struct node_row *b)
{
    return a->alike == b->alike && a->parts == b->parts &&
           has_same_steps(a->step, a->n, b->step, b->n);
}

/* Take a node that has changed to those that have changed alike; others are counted first. */
static int take_changed_row(struct graph_place *n, const struct node_row *row,
                            const struct plan_usage *old, uint32_t n_old,
                            const struct plan_usage *new, uint32_t n_new,
                            int (*count)(struct graph_place *n))
{
    struct change *c = &n->capacities->change;

    if (c->count > 0 && row->alike == c->sample->alike && row->parts == c->sample->parts &&
        has_same_steps(new, n_new, c->new, c->n_new) &&
        has_same_steps(old, n_old, c->old, c->n_old)) {
        c->count++;
        return 0;
    }
    if (count(n) < 0)
        return -1;
    c->sample = row;
    c->count = 1;
    c->n_old = n_old;
    c->n_new = n_new;
    if (n_old > 0)
        memcpy(c->old, old, n_old * sizeof(*old));
    if (n_new > 0)
        memcpy(c->new, new, n_new * sizeof(*new));
    return 0;
}

/* Give a row other steps; those that it had when a trial began are kept. Nodes that a booking takes or leaves follow each
 * other and are mostly alike: their rows share what they have. Returns 0, or -1 with ENOMEM.
 */
static int put_row_steps(struct capacities *h, struct node_row *row, const struct plan_usage *step,
                         uint32_t n)
{
    const struct node_row *last = &h->row[h->last_put];
    bool is_like_last =
        last != row && last->same == h->sames && has_same_steps(step, n, last->step, last->n);
    struct plan_usage *put = n == 0 ? NULL : is_like_last ? last->step : steps_copy(step, n);

    if (n > 0 && !put)
        return -1;
    if (put && is_like_last)
        steps_at(put)->users++;
    if (h->trial && !row->tried) {
        row->tried = true;
        row->was = row->step;
        row->n_was = row->n;
        h->tried[h->n_tried++] = (uint32_t)(row - h->row);
    } else {
        steps_leave(row->step);
    }
    row->step = put;
    row->n = n;
    row->same = n == 0 ? 0 : is_like_last ? last->same : ++h->sames;
    if (n > 0)
        h->last_put = (uint32_t)(row - h->row);
    return 0;
}

/* Count one node anew. */
static int recount(struct graph_place *n, struct node_row *row)
{
    struct plan_usage step[GAPS_STEPS_MAX];
    uint32_t steps = match_usage(n->match, row->vertex, step, GAPS_STEPS_MAX);

    if (match_node_is_down(n->match, row->vertex)) {
        step[0] = (struct plan_usage){.use = PLAN_FULL};
        steps = 1;
    } else if (steps == 1 && step[0].use == PLAN_IDLE) {
        steps = 0;
    }
    row->dirty = false;
    /* What a booking that is lifted and dropped changes of a node that is not all known is no increase, nor
     * what is behind.
     */
    if (steps == GAPS_STEPS_MAX || row->n == GAPS_STEPS_MAX)
        capacity_doubt(n);
    if (has_same_steps(step, steps, row->step, row->n))
        return 0;
    return take_changed_row(n, row, row->step, row->n, step, steps, flush_change) < 0
               ? -1
               : put_row_steps(n->capacities, row, step, steps);
}

/* ---- Trials ---- */

void capacity_try(struct graph_place *n, const struct class *c)
{
    if (!n->capacities || !usage_settle(n))
        return;
    n->capacities->trial = true;
    n->capacities->only = c ? c->capacity : PLACE_NONE;
}

bool capacity_is_tried(const struct graph_place *n)
{
    return n->capacities && n->capacities->trial;
}

static bool is_for_any(const struct capacities *h)
{
    return h && h->trial && h->only == PLACE_NONE;
}

uint64_t capacity_note_tried(struct capacities *h)
{
    return is_for_any(h) ? ++h->tries : 0;
}

void capacity_gave_back(struct graph_place *n)
{
    if (is_for_any(n->capacities))
        n->capacities->given_back = n->capacities->tries;
}

static int flush_late(struct graph_place *n)
{
    struct change *c = &n->capacities->change;
    int rc = c->count > 0 ? capacity_change_late(n, c) : 0;

    c->count = 0;
    return rc;
}

void capacity_tried(struct graph_place *n)
{
    struct capacities *h = n->capacities;
    int rc = 0;

    if (!h || !h->trial || !usage_settle(n))
        return;
    h->trial = false;
    h->batch++;
    for (uint32_t i = 0; i < h->n_tried; i++) {
        struct node_row *row = &h->row[h->tried[i]];
        if (rc == 0 && !has_same_steps(row->was, row->n_was, row->step, row->n))
            rc = take_changed_row(n, row, row->was, row->n_was, row->step, row->n, flush_late);
        steps_leave(row->was);
        row->was = NULL;
        row->tried = false;
    }
    h->n_tried = 0;
    if (rc < 0 || flush_late(n) < 0)
        capacity_reset(n);
}

/* ---- All of them ---- */

void capacity_reset(struct graph_place *n)
{
    struct capacities *h = n->capacities;

    if (!h)
        return;
    for (uint32_t i = 0; i < h->n; i++) {
        h->v[i].has_known = false;
        if (h->v[i].filled) {
            gaps_clear(&h->v[i].gaps);
            h->v[i].filled = false;
        }
    }
    for (uint32_t i = 0; i < h->n_rows; i++) {
        steps_leave(h->row[i].step);
        steps_leave(h->row[i].was);
    }
    gaps_clear(&h->aside);
    free(h->row);
    free(h->row_from);
    free(h->dirty);
    free(h->tried);
    h->row = NULL;
    h->row_from = NULL;
    h->dirty = h->tried = NULL;
    h->n_rows = h->n_dirty = h->n_tried = 0;
    h->last_put = 0;
    h->change.count = 0;
    h->ready = h->trial = false;
}

static void note_dirty_row(struct capacities *h, uint32_t vertex)
{
    uint32_t i = usage_row_of(h, vertex);

    if (i == h->n_rows || h->row[i].dirty)
        return;
    h->row[i].dirty = true;
    h->dirty[h->n_dirty++] = i;
}

/* Of each block of vertices, where its rows begin. */
static void note_where_rows_are(struct capacities *h, uint32_t vertices)
{
    uint32_t row = 0;

    for (uint32_t i = 0; i <= vertices / ROW_BLOCK; i++) {
        while (row < h->n_rows && h->row[row].vertex < i * ROW_BLOCK)
            row++;
        h->row_from[i] = row;
    }
}

/* The rows are new, as of idle nodes, which all are where there was no booking and nothing is down: else count them. */
static void note_what_is_taken(struct graph_place *n)
{
    struct capacities *h = n->capacities;

    if (n->n_bookings == 0 && !match_is_any_down(n->match))
        return;
    for (uint32_t i = 0; i < h->n_rows; i++)
        note_dirty_row(h, h->row[i].vertex);
}

static int make_rows(struct graph_place *n)
{
    struct capacities *h = n->capacities;
    uint32_t count;
    const uint32_t *node = match_nodes(n->match, &count);

    h->row = malloc(((size_t)count + 1) * sizeof(*h->row));
    h->row_from = malloc(((size_t)n->graph->n / ROW_BLOCK + 1) * sizeof(*h->row_from));
    h->dirty = malloc(((size_t)count + 1) * sizeof(*h->dirty));
    h->tried = malloc(((size_t)count + 1) * sizeof(*h->tried));
    if (!h->row || !h->row_from || !h->dirty || !h->tried)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (n->graph->v[node[i]].gone)
            continue;
        struct node_row *row = &h->row[h->n_rows];
        *row = (struct node_row){.vertex = node[i], .alike = match_class_of(n->match, node[i])};
        for (uint32_t p = 0; p < n->n_parts; p++)
            row->parts |= (uint64_t)match_part_has(n->parts[p].within, node[i]) << p;
        h->n_rows++;
    }
    note_where_rows_are(h, n->graph->n);
    h->ready = true;
    note_what_is_taken(n);
    return 0;
}

bool usage_settle(struct graph_place *n)
{
    struct capacities *h = n->capacities;
    int rc = 0;

    if (n->n_parts > ROWS_PARTS_MAX)
        return false;
    bool is_new = !h->ready;
    if (is_new)
        rc = make_rows(n);
    h->batch += is_new || h->n_dirty > 0;
    for (uint32_t i = 0; i < h->n_dirty && rc == 0; i++)
        rc = recount(n, &h->row[h->dirty[i]]);
    h->n_dirty = 0;
    if (rc == 0)
        rc = flush_change(n);
    if (rc < 0)
        capacity_reset(n);
    return rc == 0;
}

void capacity_note(struct graph_place *n, int64_t job)
{
    uint32_t i = 0, vertex, last = PLACE_NONE;

    if (!n->capacities || !n->capacities->ready)
        return;
    while (match_job_next_span(n->match, job, &i, &vertex)) {
        uint32_t node = match_node_of(n->match, vertex);
        if (node != last)
            note_dirty_row(n->capacities, node);
        last = node;
    }
}
