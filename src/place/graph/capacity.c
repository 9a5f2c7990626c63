/* Capacities: gaps for the pieces of classes (capacity.h). */
#include "place/graph/capacity.h"

#include <stdlib.h>
#include <string.h>

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
static int64_t count_pieces(const struct graph_place *n, const struct class *c, bool *is_node)
{
    const jobspec_t *spec = c->spec;
    int64_t count = 1;

    if (c->n_pieces != 1 || c->piece[0].any)
        return 0;
    for (uint32_t k = 0; k < c->piece[0].n; k++)
        if (!match_all_in_nodes(n->match, c->piece[0].need[k].type))
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
            (graph_place_type(n, r->type, &type) && match_type_size(n->match, type) <= 1))
            if (__builtin_mul_overflow(count, r->count.min, &count))
                return 0;
        if (!above)
            return c->piece[0].n > 0 || *is_node ? count : 0;
    }
    return 0;
}

struct capacity_has capacity_has_of(const struct graph_place *n, const struct capacity *h,
                                    uint32_t vertex)
{
    struct capacity_has has;

    has.most = h->is_node ? 1 : INT64_MAX;
    has.alone = h->piece.alone;
    has.n = 0;
    for (uint32_t i = 0; i < h->piece.n; i++) {
        uint16_t type = h->piece.need[i].type;
        if (h->piece.need[i].least < 1)
            continue;
        has.need[has.n].number = match_usage_type(n->match, type);
        has.need[has.n].units = match_units_at(n->match, vertex, type);
        has.need[has.n++].least = h->piece.need[i].least;
    }
    return has;
}

int64_t capacity_room_of(const struct capacity_has *has, const struct plan_usage *step)
{
    int64_t pieces = has->most;

    if (step->use == PLAN_FULL || (has->alone && step->use != PLAN_IDLE))
        return 0;
    for (uint32_t i = 0; i < has->n; i++) {
        int number = has->need[i].number;
        int64_t left = has->need[i].units - (number >= 0 ? step->taken[number] : 0);
        int64_t least = has->need[i].least;
        int64_t room = left < least ? 0 : least == 1 ? left : left / least;
        pieces = room < pieces ? room : pieces;
    }
    return pieces == INT64_MAX ? 0 : pieces;
}

/* ---- Counting ---- */

static const struct plan_usage idle;

uint32_t capacity_rooms_of(const struct capacity_has *has, const struct plan_usage *step,
                           uint32_t steps, struct room_step *room)
{
    uint32_t k = 0;

    room[k++] = (struct room_step){0, capacity_room_of(has, steps > 0 ? &step[0] : &idle)};
    for (uint32_t i = 1; i < steps; i++) {
        int64_t pieces = capacity_room_of(has, &step[i]);
        if (pieces != room[k - 1].pieces)
            room[k++] = (struct room_step){step[i].at, pieces};
    }
    return k;
}

/* The gaps of all nodes, from their rows. */
static int count_all(const struct graph_place *n, const struct capacity *h, struct gaps *gaps)
{
    const struct capacities *all = n->capacities;

    for (uint32_t i = 0; i < all->n_rows; i++) {
        const struct node_row *row = &all->row[i];
        struct room_step room[GAPS_STEPS_MAX];
        struct gap gap[GAPS_STEPS_MAX];
        int64_t count = 1;
        if (!(row->parts >> h->part & 1))
            continue;
        for (; i + 1 < all->n_rows && usage_is_alike(row, &all->row[i + 1]); i++)
            count++;
        const struct capacity_has has = capacity_has_of(n, h, row->vertex);
        uint32_t rooms = capacity_rooms_of(&has, row->step, row->n, room);
        uint32_t found = gaps_of(room, rooms, gap);
        for (uint32_t k = 0; k < found; k++)
            if (gaps_add(gaps, gap[k].from, gap[k].until, gap[k].pieces * count) < 0)
                return -1;
    }
    return 0;
}

static int fill_capacity(struct graph_place *n, struct capacity *h)
{
    h->gaps = (struct gaps){0};
    h->filled = true;
    h->epoch = ++n->capacities->epochs;
    h->n_increases = h->unseen = 0;
    h->first_increase = 0;
    return count_all(n, h, &h->gaps);
}

static int take_away(struct gaps *gaps, const struct gap *gap, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (gaps_add(gaps, gap[i].from, gap[i].until, -gap[i].pieces) < 0)
            return -1;
    return 0;
}

/* Whether neighbours with one number have the same steps. */
static bool check_rows(const struct capacities *all)
{
    for (uint32_t i = 1; i < all->n_rows; i++) {
        const struct node_row *a = &all->row[i - 1], *b = &all->row[i];
        if (a->same == b->same &&
            (a->n != b->n || (a->n > 0 && memcmp(a->step, b->step, a->n * sizeof(*a->step)) != 0)))
            return false;
    }
    return true;
}

bool capacity_check(const struct graph_place *n)
{
    bool fine = !n->capacities || check_rows(n->capacities);

    for (uint32_t i = 0; n->capacities && i < n->capacities->n && fine; i++) {
        const struct capacity *h = &n->capacities->v[i];
        struct gaps anew = {0};
        if (!h->filled)
            continue;
        fine = gaps_check(&h->gaps) && h->users > 0;
        if (count_all(n, h, &anew) == 0 && take_away(&anew, h->gaps.by_from, h->gaps.n) == 0 &&
            take_away(&anew, h->gaps.late, h->gaps.n_late) == 0 && gaps_settle(&anew) == 0)
            fine = fine && anew.n == 0;
        gaps_clear(&anew);
    }
    return fine;
}

static void empty(struct capacity *h)
{
    if (h->filled)
        gaps_clear(&h->gaps);
    h->filled = false;
}

void capacity_pass(struct graph_place *n)
{
    struct capacities *h = n->capacities;

    if (!h)
        return;
    h->passes++;
    for (uint32_t i = 0; i < h->n; i++)
        if (h->v[i].filled && h->passes - h->v[i].asked > IDLE_MAX)
            empty(&h->v[i]);
}

void capacity_clear(struct graph_place *n)
{
    capacity_reset(n);
    if (n->capacities) {
        free(n->capacities->v);
        free(n->capacities->order);
    }
    free(n->capacities);
    n->capacities = NULL;
}

/* ---- Classes ---- */

/* A slot for the capacity of a class: that of its own piece, a free one, or PLACE_NONE. */
static uint32_t slot_for(const struct capacities *h, const struct class *c, bool is_node)
{
    uint32_t slot = PLACE_NONE;

    for (uint32_t i = 0; i < h->n; i++) {
        const struct capacity *x = &h->v[i];
        if (x->users == 0)
            slot = i;
        else if (x->part == c->part && x->is_node == is_node && is_equal(&x->piece, c->piece))
            return i;
    }
    return slot;
}

/* One more user of the capacity for a class's pieces. *slot is PLACE_NONE if there is room for no more. Returns 0, or
 * -1 with ENOMEM.
 */
static int enter_capacity_user(struct graph_place *n, const struct class *c, bool is_node,
                               uint32_t *slot)
{
    *slot = PLACE_NONE;
    if (!n->capacities && !(n->capacities = calloc(1, sizeof(*n->capacities))))
        return -1;
    struct capacities *h = n->capacities;
    uint32_t i = slot_for(h, c, is_node);
    if (i == PLACE_NONE) {
        struct capacity *v =
            h->n < CAPACITIES_MAX ? reallocarray(h->v, h->n + 1, sizeof(*v)) : NULL;
        if (!v)
            return h->n < CAPACITIES_MAX ? -1 : 0;
        h->v = v;
        i = h->n++;
        h->v[i].users = 0;
    }
    if (h->v[i].users == 0) {
        struct capacity new = {.part = c->part, .is_node = is_node, .piece = c->piece[0]};
        h->v[i] = new;
        h->is_ordered = false;
    }
    h->v[i].users++;
    *slot = i;
    return 0;
}

static void leave_capacity(struct graph_place *n, uint32_t slot)
{
    struct capacity *h = &n->capacities->v[slot];

    if (--h->users > 0)
        return;
    empty(h);
    n->capacities->is_ordered = false;
}

int capacity_enter(struct graph_place *n, struct class *c)
{
    bool is_node;
    int64_t count = count_pieces(n, c, &is_node);

    c->capacity = PLACE_NONE;
    if (count == 0)
        return 0;
    if (enter_capacity_user(n, c, is_node, &c->capacity) < 0)
        return -1;
    if (c->capacity == PLACE_NONE)
        return 0;
    c->pieces = count;
    c->by_node = strcmp(c->spec->resources[0].type, "node") == 0 &&
                 c->spec->resources[0].end == c->spec->nresources;
    c->is_exact = true;
    for (uint32_t i = 0; i < c->spec->nresources; i++)
        c->is_exact &= c->spec->resources[i].count.min == c->spec->resources[i].count.max &&
                       !c->spec->resources[i].property;
    return 0;
}

void capacity_leave(struct graph_place *n, struct class *c)
{
    if (c->capacity != PLACE_NONE)
        leave_capacity(n, c->capacity);
}

/* Whether what one has in a node nobody else has: of a node that several share, each has pieces of its own. */
static bool is_apart(const struct graph_place *n, const struct class *c)
{
    const jobspec_t *spec = c->spec;
    bool needs = false;

    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        for (uint32_t k = i + 1; strcmp(r->type, "node") == 0 && k < r->end; k++)
            if (spec->resources[k].kind != JOBSPEC_SLOT &&
                !graph_place_is_alone(n, &spec->resources[k]))
                return false;
    }
    for (uint32_t i = 0; i < c->piece[0].n; i++)
        needs |= c->piece[0].need[i].least > 0;
    return needs;
}

int64_t capacity_pieces(const struct graph_place *n, const struct class *c, uint32_t count,
                        bool *is_node)
{
    int64_t pieces = count_pieces(n, c, is_node), all;

    if (pieces == 0 || count == 1)
        return pieces;
    if (*is_node && !c->piece[0].alone) {
        if (!is_apart(n, c))
            return 0;
        *is_node = false;
    }
    return __builtin_mul_overflow(pieces, (int64_t)count, &all) ? INT64_MAX : all;
}

int capacity_enter_all(struct graph_place *n, const struct class *c, uint32_t count,
                       struct capacity_need *need)
{
    const struct capacity *h = c->capacity == PLACE_NONE ? NULL : &n->capacities->v[c->capacity];

    *need = (struct capacity_need){.capacity = c->capacity, .pieces = c->pieces};
    if (!h)
        return 0;
    if (h->is_node && !h->piece.alone) {
        if (!is_apart(n, c))
            return 0;
        uint32_t slot;
        if (enter_capacity_user(n, c, false, &slot) < 0)
            return -1;
        if (slot == PLACE_NONE)
            return 0;
        need->capacity = slot;
        need->is_own = true;
    }
    if (__builtin_mul_overflow(c->pieces, (int64_t)count, &need->pieces))
        need->pieces = INT64_MAX;
    need->is_all = true;
    return 0;
}

void capacity_leave_all(struct graph_place *n, const struct capacity_need *need)
{
    if (need->is_own)
        leave_capacity(n, need->capacity);
}

struct capacity *capacity_counted(struct graph_place *n, const struct class *c)
{
    if (c->capacity == PLACE_NONE || !usage_settle(n))
        return NULL;
    struct capacity *h = &n->capacities->v[c->capacity];
    if (!h->filled && fill_capacity(n, h) < 0) {
        capacity_reset(n);
        return NULL;
    }
    h->asked = n->capacities->passes;
    return h;
}

struct capacity *capacity_ready(struct graph_place *n, const struct class *c)
{
    struct capacity *h = capacity_counted(n, c);

    if (!h || gaps_settle(&h->gaps) == 0)
        return h;
    capacity_reset(n);
    return NULL;
}

/* Most questions are about now. */
struct capacity *capacity_within(struct graph_place *n, const struct class *c, int64_t at,
                                 int64_t end, int64_t *pieces)
{
    struct capacity *h = capacity_counted(n, c);
    bool is_now = at == n->now || (h && at == n->capacities->now);

    if (!h)
        return NULL;
    if ((is_now ? gaps_stand(&h->gaps, at) : gaps_settle_many(&h->gaps)) < 0) {
        capacity_reset(n);
        return NULL;
    }
    *pieces = is_now ? gaps_from_here(&h->gaps, end) : gaps_within(&h->gaps, at, end);
    return h;
}

int64_t capacity_most(struct graph_place *n, const struct class *c, int64_t duration, int64_t at)
{
    int64_t pieces;

    return capacity_within(n, c, at, at + duration, &pieces) ? pieces : INT64_MAX;
}

/* ---- Questions ---- */

int64_t capacity_next(void *context, int64_t from, int64_t before)
{
    const struct counted *ask = context;
    int64_t duration = ask->plan.duration;

    if (before == from + 1)
        return capacity_most(ask->n, ask->class, duration, from) >= ask->class->pieces ? from : -1;
    const struct capacity *h = capacity_ready(ask->n, ask->class);
    return h ? gaps_first(&h->gaps, duration, from, before, ask->class->pieces, NULL) : from;
}

bool capacity_could(struct graph_place *n, const struct class *c, uint32_t node, int64_t duration,
                    int64_t before)
{
    struct room_step room[GAPS_STEPS_MAX];
    struct gap gap[GAPS_STEPS_MAX];

    if (!usage_settle(n))
        return true;
    uint32_t i = usage_row_of(n->capacities, node);
    if (i == n->capacities->n_rows)
        return true;
    const struct capacity *h = &n->capacities->v[c->capacity];
    const struct node_row *row = &n->capacities->row[i];
    const struct capacity_has has = capacity_has_of(n, h, node);
    uint32_t gaps = gaps_of(room, capacity_rooms_of(&has, row->step, row->n, room), gap);
    for (uint32_t k = 0; k < gaps; k++) {
        int64_t first = gap[k].from > n->now ? gap[k].from : n->now;
        if (first < before && capacity_gap_end(h, gap[k].until, before) - duration >= first)
            return true;
    }
    return false;
}
