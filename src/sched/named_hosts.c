/* How many hosts a request has when: for each piece that classes ask for many of, a calendar for each part.
 *
 * A class that asks for so many nodes, or slots that are each in a node, can only be where that many pieces find room. A
 * host's calendar counts the pieces that nodes have room for at each instant, so that most of what can't be, now or for
 * a reservation, is ruled out without a match: O(log n). Nodes that are down, blocked or don't satisfy constraints count
 * as if they were not, so a calendar may promise too much, never too little.
 *
 * Of each node it is remembered what was taken of it when it was last counted. Nodes of which a booking has changed are
 * listed, and counted anew before the next question: O(nodes that changed), each in all calendars of its parts; nodes
 * that changed alike are counted at once. Where memory runs out nothing is known until all is made anew.
 */
#include <stdlib.h>
#include <string.h>

#include "sched/named_priv.h"

#define STEPS_MAX 128
#define IDLE_MAX  64 /* changes of bookings after which a calendar that nobody asked is given up */
#define HOSTS_MAX 2048 /* more pieces are not counted */
#define PARTS_MAX 64   /* nor is anything where there are more parts */

struct host {
    uint32_t users; /* classes; 0: the slot is free */
    uint32_t part;
    bool is_node; /* a node is one piece, however much it has */
    bool filled;
    struct piece piece;
    int64_t total; /* pieces of an idle part */
    struct profile taken;
    size_t points;  /* that it had when it was made */
    uint64_t asked; /* as of which change of bookings */
};

struct node_row {
    uint32_t vertex, alike;
    uint32_t n; /* steps; 0: nothing is taken */
    bool dirty;
    uint64_t parts; /* that it belongs to, by number */
    struct plan_step *step;
};

/* Nodes that have changed alike. */
struct change {
    const struct node_row *sample;
    int64_t count;
    uint32_t n_old, n_new;
    struct plan_step old[STEPS_MAX], new[STEPS_MAX];
};

struct hosts {
    struct host *v;
    uint32_t n;
    bool ready; /* the rows are there */
    struct node_row *row;
    uint32_t n_rows;
    uint32_t *dirty;
    uint32_t n_dirty;
    uint64_t changes; /* times that any were counted anew */
    struct change change;
};

/* ---- Which pieces ---- */

static bool is_equal(const struct piece *a, const struct piece *b)
{
    if (a->n != b->n || a->alone != b->alone)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->need[i].type != b->need[i].type || a->need[i].least != b->need[i].least)
            return false;
    return true;
}

/* How many pieces a class asks for, and whether a piece is a node; 0: that is not known. */
static int64_t count_pieces(const struct named *n, const struct class *c, bool *is_node)
{
    const jobspec_t *spec = c->spec;
    int64_t count = 1;

    if (c->n_pieces != 1 || c->piece[0].any)
        return 0;
    for (uint32_t k = 0; k < c->piece[0].n; k++)
        if (!match_is_in_nodes(n->match, c->piece[0].need[k].type))
            return 0;
    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        bool above = false;
        uint16_t type;
        for (uint32_t k = i + 1; k < r->end; k++)
            above |= strcmp(spec->resources[k].type, "node") == 0;
        *is_node = r->kind == JOBSPEC_RESOURCE && strcmp(r->type, "node") == 0;
        if (r->kind != JOBSPEC_RESOURCE && r->kind != JOBSPEC_SLOT)
            return 0;
        if (r->kind == JOBSPEC_SLOT ||
            (named_type(n, r->type, &type) && match_type_size(n->match, type) <= 1))
            if (__builtin_mul_overflow(count, r->count.min, &count))
                return 0;
        if (!above)
            return c->piece[0].n > 0 || *is_node ? count : 0;
    }
    return 0;
}

/* The pieces that a node has room for when so much is taken of it. */
static int64_t room_of(const struct named *n, const struct host *h, uint32_t vertex,
                       const struct plan_step *step)
{
    int64_t pieces = h->is_node ? 1 : INT64_MAX;

    if (step->use == PLAN_FULL || (h->piece.alone && step->use != PLAN_IDLE))
        return 0;
    for (uint32_t i = 0; i < h->piece.n; i++) {
        int number = match_step_type(n->match, h->piece.need[i].type);
        int64_t left = match_within(n->match, vertex, h->piece.need[i].type) -
                       (number >= 0 ? step->taken[number] : 0);
        int64_t least = h->piece.need[i].least;
        int64_t room = least < 1 ? pieces : left > 0 ? left / least : 0;
        pieces = room < pieces ? room : pieces;
    }
    return pieces == INT64_MAX ? 0 : pieces;
}

/* ---- Counting ---- */

struct span {
    int64_t at, taken; /* until the next one's time */
};

/* What steps take of a calendar. Returns the number of spans, of which the last one takes nothing or is for ever. */
static uint32_t spans_of(const struct named *n, const struct host *h, uint32_t vertex,
                         const struct plan_step *step, uint32_t steps, struct span *span)
{
    static const struct plan_step idle;
    int64_t total = room_of(n, h, vertex, &idle);
    uint32_t k = 0;

    span[k++] = (struct span){0, 0};
    for (uint32_t i = 0; i < steps; i++) {
        int64_t taken = total - room_of(n, h, vertex, &step[i]);
        if (i == 0)
            span[0].taken = taken;
        else if (taken != span[k - 1].taken)
            span[k++] = (struct span){step[i].at, taken};
    }
    return k;
}

/* Have points in a calendar where spans end. They stay until the calendar is made anew, so that nodes booked at once can be
 * given back one by one.
 */
static int need_points(struct host *h, const struct span *span, uint32_t n)
{
    struct profile_cursor c;

    for (uint32_t i = 1; i <= n; i++) {
        int64_t at = i < n ? span[i].at : INT64_MAX;
        if (i == n && span[i - 1].taken == 0)
            break;
        profile_seek(&c, &h->taken, at);
        if (profile_cursor_time(&c) != at && profile_hold(&h->taken, at) < 0)
            return -1;
    }
    return 0;
}

static void add(struct host *h, const struct span *span, uint32_t n, int64_t count)
{
    for (uint32_t i = 0; i < n; i++)
        if (span[i].taken != 0)
            profile_add(&h->taken, span[i].at, i + 1 < n ? span[i + 1].at : INT64_MAX,
                        span[i].taken * count);
}

static int change_one(const struct named *n, struct host *h, const struct change *c)
{
    struct span old[STEPS_MAX], new[STEPS_MAX];
    uint32_t vertex = c->sample->vertex;
    uint32_t n_old = spans_of(n, h, vertex, c->old, c->n_old, old);
    uint32_t n_new = spans_of(n, h, vertex, c->new, c->n_new, new);

    if (n_old == n_new && memcmp(old, new, n_old * sizeof(*old)) == 0)
        return 0;
    if (need_points(h, new, n_new) < 0)
        return -1;
    add(h, old, n_old, -c->count);
    add(h, new, n_new, c->count);
    return 0;
}

static int flush(struct named *n)
{
    struct hosts *hosts = n->hosts;
    struct change *c = &hosts->change;
    int rc = 0;

    for (uint32_t i = 0; i < hosts->n && c->count > 0 && rc == 0; i++)
        if (hosts->v[i].users > 0 && hosts->v[i].filled && c->sample->parts >> hosts->v[i].part & 1)
            rc = change_one(n, &hosts->v[i], c);
    c->count = 0;
    return rc;
}

static bool is_same(const struct plan_step *a, uint32_t n_a, const struct plan_step *b,
                    uint32_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

/* Count one node anew. */
static int recount(struct named *n, struct node_row *row)
{
    struct change *c = &n->hosts->change;
    struct plan_step step[STEPS_MAX];
    uint32_t steps = match_steps(n->match, row->vertex, step, STEPS_MAX);

    if (steps == 1 && step[0].use == PLAN_IDLE)
        steps = 0;
    row->dirty = false;
    if (is_same(step, steps, row->step, row->n))
        return 0;
    bool more = c->count > 0 && row->alike == c->sample->alike && row->parts == c->sample->parts &&
                is_same(step, steps, c->new, c->n_new) &&
                is_same(row->step, row->n, c->old, c->n_old);
    if (!more) {
        if (flush(n) < 0)
            return -1;
        c->sample = row;
        if (row->n > 0)
            memcpy(c->old, row->step, row->n * sizeof(*step));
        memcpy(c->new, step, steps * sizeof(*step));
        c->n_old = row->n;
        c->n_new = steps;
    }
    c->count++;
    struct plan_step *copy = steps ? reallocarray(row->step, steps, sizeof(*copy)) : NULL;
    if (steps && !copy)
        return -1;
    if (steps)
        memcpy(copy, step, steps * sizeof(*step));
    else
        free(row->step);
    row->step = copy;
    row->n = steps;
    return 0;
}

/* ---- Rows ---- */

void named_hosts_reset(struct named *n)
{
    struct hosts *h = n->hosts;

    if (!h)
        return;
    for (uint32_t i = 0; i < h->n; i++)
        if (h->v[i].filled) {
            profile_clear(&h->v[i].taken);
            h->v[i].filled = false;
        }
    for (uint32_t i = 0; i < h->n_rows; i++)
        free(h->row[i].step);
    free(h->row);
    free(h->dirty);
    h->row = NULL;
    h->dirty = NULL;
    h->n_rows = h->n_dirty = 0;
    h->change.count = 0;
    h->ready = false;
}

void named_hosts_clear(struct named *n)
{
    named_hosts_reset(n);
    if (n->hosts)
        free(n->hosts->v);
    free(n->hosts);
    n->hosts = NULL;
}

static int make_rows(struct named *n)
{
    struct hosts *h = n->hosts;
    uint32_t count = 0;

    for (uint32_t v = 0; v < n->graph->n; v++)
        count += n->graph->v[v].type == TYPE_NODE && !n->graph->v[v].gone;
    h->row = calloc((size_t)count + 1, sizeof(*h->row));
    h->dirty = calloc((size_t)count + 1, sizeof(*h->dirty));
    if (!h->row || !h->dirty)
        return -1;
    for (uint32_t v = 0; v < n->graph->n; v++) {
        if (n->graph->v[v].type != TYPE_NODE || n->graph->v[v].gone)
            continue;
        struct node_row *row = &h->row[h->n_rows];
        *row = (struct node_row){.vertex = v, .alike = match_alike(n->match, v), .dirty = true};
        for (uint32_t p = 0; p < n->n_parts; p++)
            row->parts |= (uint64_t)match_part_has(n->parts[p].within, v) << p;
        h->dirty[h->n_dirty++] = h->n_rows++;
    }
    h->ready = true;
    return 0;
}

static int fill(struct named *n, struct host *h)
{
    static const struct plan_step idle;
    struct hosts *hosts = n->hosts;

    if (profile_init(&h->taken, 0) < 0)
        return -1;
    h->filled = true;
    h->total = 0;
    for (uint32_t i = 0; i < hosts->n_rows; i++) {
        const struct node_row *row = &hosts->row[i];
        struct span span[STEPS_MAX];
        if (!(row->parts >> h->part & 1))
            continue;
        h->total += room_of(n, h, row->vertex, &idle);
        uint32_t spans = spans_of(n, h, row->vertex, row->step, row->n, span);
        if (need_points(h, span, spans) < 0)
            return -1;
        add(h, span, spans, 1);
    }
    h->points = h->taken.n;
    return 0;
}

static void give_up_idle(struct hosts *h)
{
    h->changes++;
    for (uint32_t i = 0; i < h->n; i++)
        if (h->v[i].filled && h->changes - h->v[i].asked > IDLE_MAX) {
            profile_clear(&h->v[i].taken);
            h->v[i].filled = false;
        }
}

/* Count anew what has changed. False if nothing is known. */
static bool settle(struct named *n)
{
    struct hosts *h = n->hosts;
    int rc = 0;

    if (n->n_parts > PARTS_MAX)
        return false;
    if (!h->ready)
        rc = make_rows(n);
    if (h->n_dirty > 0)
        give_up_idle(h);
    for (uint32_t i = 0; i < h->n_dirty && rc == 0; i++)
        rc = recount(n, &h->row[h->dirty[i]]);
    h->n_dirty = 0;
    if (rc == 0)
        rc = flush(n);
    if (rc < 0)
        named_hosts_reset(n);
    return rc == 0;
}

/* The row of a node; n_rows if there is none. */
static uint32_t row_of(const struct hosts *h, uint32_t vertex)
{
    uint32_t low = 0, high = h->n_rows;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (h->row[middle].vertex < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->n_rows && h->row[low].vertex == vertex ? low : h->n_rows;
}

static void note(struct hosts *h, uint32_t vertex)
{
    uint32_t i = row_of(h, vertex);

    if (i == h->n_rows || h->row[i].dirty)
        return;
    h->row[i].dirty = true;
    h->dirty[h->n_dirty++] = i;
}

void named_hosts_note(struct named *n, int64_t job)
{
    uint32_t i = 0, vertex, last = NAMED_NONE;
    bool alone;

    if (!n->hosts || !n->hosts->ready)
        return;
    while (match_job_thing(n->match, job, &i, &vertex, &alone)) {
        uint32_t node = match_node_of(n->match, vertex);
        if (node != last)
            note(n->hosts, node);
        last = node;
    }
}

/* ---- Classes ---- */

int named_hosts_enter(struct named *n, struct class *c)
{
    bool is_node;
    uint32_t slot = NAMED_NONE;
    int64_t count = count_pieces(n, c, &is_node);

    c->host = NAMED_NONE;
    if (count == 0)
        return 0;
    if (!n->hosts && !(n->hosts = calloc(1, sizeof(*n->hosts))))
        return -1;
    struct hosts *h = n->hosts;
    for (uint32_t i = 0; i < h->n; i++) {
        struct host *x = &h->v[i];
        if (x->users == 0) {
            slot = i;
        } else if (x->part == c->part && x->is_node == is_node && is_equal(&x->piece, c->piece)) {
            slot = i;
            break;
        }
    }
    if (slot == NAMED_NONE) {
        struct host *v = h->n < HOSTS_MAX ? reallocarray(h->v, h->n + 1, sizeof(*v)) : NULL;
        if (!v)
            return h->n < HOSTS_MAX ? -1 : 0;
        h->v = v;
        slot = h->n++;
        h->v[slot].users = 0;
    }
    if (h->v[slot].users++ == 0)
        h->v[slot] =
            (struct host){.users = 1, .part = c->part, .is_node = is_node, .piece = c->piece[0]};
    c->host = slot;
    c->pieces = count;
    return 0;
}

void named_hosts_leave(struct named *n, struct class *c)
{
    struct host *h = c->host == NAMED_NONE ? NULL : &n->hosts->v[c->host];

    if (!h || --h->users > 0)
        return;
    if (h->filled)
        profile_clear(&h->taken);
    h->filled = false;
}

const struct profile *named_hosts_of(struct named *n, const struct class *c, int64_t *limit)
{
    if (c->host == NAMED_NONE || !settle(n))
        return NULL;
    struct host *h = &n->hosts->v[c->host];
    if (h->filled && h->taken.n > 2 * h->points + 1024) {
        profile_clear(&h->taken);
        h->filled = false;
    }
    if (!h->filled && fill(n, h) < 0) {
        named_hosts_reset(n);
        return NULL;
    }
    h->asked = n->hosts->changes;
    *limit = h->total - c->pieces;
    return *limit >= 0 ? &h->taken : NULL;
}

bool named_hosts_has(struct named *n, const struct class *c, uint32_t node, int64_t at, int64_t end)
{
    if (c->host == NAMED_NONE || !settle(n))
        return true;
    uint32_t i = row_of(n->hosts, node);
    if (i == n->hosts->n_rows)
        return true;
    const struct node_row *row = &n->hosts->row[i];
    for (uint32_t k = 0; k < row->n; k++)
        if (row->step[k].at < end && (k + 1 == row->n || row->step[k + 1].at > at) &&
            room_of(n, &n->hosts->v[c->host], node, &row->step[k]) == 0)
            return false;
    return true;
}
