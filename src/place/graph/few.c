/* On how few nodes a request could be, and which nodes have the room for that: where the policy spreads it over more than
 * limits leave, the choice is made among these.
 *
 * Of a request that asks for many equal pieces (capacity.h), those nodes have the room whose pieces are as many as it
 * asks for. Of others nothing is known but how much is free, and a match has to tell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "place/graph/bundle.h"
#include "place/graph/capacity.h"

#define UNKNOWN INT64_MAX

/* A node that may be chosen. */
struct few_node {
    uint32_t node;
    bool is_known; /* it is allowed already: who asks has something there */
    bool is_own;   /* the policy chose it */
    bool is_in;    /* it is chosen */
    uint32_t rank; /* in the policy's order */
    int64_t room;  /* pieces from the time that is asked about, */
    int64_t from;  /* and from when on it has room for `each` */
};

/* What is to be placed. */
struct few {
    struct graph_place *n;
    const struct class *class;
    struct capacity capacity; /* of its pieces, */
    int64_t pieces;           /* if they are known; UNKNOWN */
    int64_t at, duration;
    int64_t nodes, more; /* that it may have, and of these such as are not known yet */
    int order;           /* of ids that the policy prefers: 1 ascending, -1 descending */
    struct few_node *v;
    size_t n_v;
    struct plan_usage *step; /* of a node */
    uint32_t cap_step;
};

/* ---- On an idle machine ---- */

/* So many nodes have room for so many pieces each. */
struct few_room {
    int64_t room, nodes;
};

static int compare_rooms(const void *a, const void *b)
{
    const struct few_room *x = a, *y = b;
    return x->room != y->room ? (x->room < y->room ? 1 : -1) : 0;
}

/* How many nodes, those with the most room first, have room for all pieces; UNKNOWN if all of them have not. */
static int64_t count_fewest(struct few_room *v, size_t n, int64_t pieces)
{
    int64_t nodes = 0;
    qsort(v, n, sizeof(*v), compare_rooms);
    for (size_t i = 0; i < n && v[i].room > 0; i++) {
        int64_t need = (pieces + v[i].room - 1) / v[i].room;
        if (need <= v[i].nodes)
            return nodes + need;
        nodes += v[i].nodes;
        pieces -= v[i].room * v[i].nodes;
    }
    return UNKNOWN;
}

/* Idle nodes that a class may have, equal ones that follow each other as one: how many there are of these; -1 with ENOMEM. */
static int64_t list_idle(struct graph_place *n, const struct class *c, const struct capacity *h,
                         struct few_room **ret)
{
    static const struct plan_usage idle;
    const uint64_t *within = n->parts[c->part].within;
    uint64_t *fit = c->spec->constraints ? match_part(n->match, c->spec->constraints) : NULL;
    size_t count = 0, capacity = 0;
    uint32_t last = UINT32_MAX;
    *ret = NULL;
    if (c->spec->constraints && !fit)
        return -1;
    for (uint32_t v = 0; v < n->graph->n; v++) {
        if (n->graph->v[v].type != TYPE_NODE || n->graph->v[v].gone || !match_part_has(within, v) ||
            !match_part_has(fit, v))
            continue;
        uint32_t alike = match_class_of(n->match, v);
        if (alike == last) {
            (*ret)[count - 1].nodes++;
            continue;
        }
        if (array_grow((void **)ret, &capacity, count + 1, sizeof(**ret)) < 0) {
            free(fit);
            return -1;
        }
        struct capacity_has has = capacity_has_of(n, h, v);
        (*ret)[count++] = (struct few_room){capacity_room_of(&has, &idle), 1};
        last = alike;
    }
    free(fit);
    return (int64_t)count;
}

/* What the pieces of so many of a class are; false: that is not known. */
static bool know_pieces(const struct graph_place *n, const struct class *c, uint32_t count,
                        struct capacity *capacity, int64_t *pieces)
{
    bool is_node = false;
    *pieces = capacity_pieces(n, c, count, &is_node);
    if (*pieces == 0)
        return false;
    *capacity = (struct capacity){.part = c->part, .is_node = is_node, .piece = c->piece[0]};
    return true;
}

int64_t graph_place_fewest(struct graph_place *n, const struct class *c, uint32_t count,
                           struct fewest *known)
{
    struct capacity capacity;
    int64_t pieces;
    if (known->of == n->changes + 1)
        return known->nodes;
    if (!know_pieces(n, c, count, &capacity, &pieces) || pieces == 1)
        return 1;
    struct few_room *room;
    int64_t rooms = list_idle(n, c, &capacity, &room);
    int64_t fewest = rooms > 0 ? count_fewest(room, (size_t)rooms, pieces) : UNKNOWN;
    free(room);
    if (rooms < 0)
        return 1; /* as if nothing was known */
    *known = (struct fewest){n->changes + 1, fewest == UNKNOWN ? 1 : fewest};
    return known->nodes;
}

/* The units of a node of a part, one more if it is there; 0 if it is not, or no node. */
static int64_t units_of_node_in_part(const struct graph_place *n, uint32_t v,
                                     const uint64_t *within)
{
    if (n->graph->v[v].type != TYPE_NODE || n->graph->v[v].gone || !match_part_has(within, v))
        return 0;
    return 1 + (n->has_unit ? match_units_at(n->match, v, n->unit) : 0);
}

/* A bit for each vertex: what is in no node, and of the nodes of a part so many, those of most units. NULL with ENOMEM. */
static uint64_t *largest_nodes(struct graph_place *n, uint32_t part, int64_t nodes)
{
    const uint64_t *within = n->parts[part].within;
    uint64_t *set = malloc((n->graph->n / 64 + 1) * sizeof(*set));
    int64_t all = 0, least = 0;
    if (!set)
        return NULL;
    memset(set, 0xff, (n->graph->n / 64 + 1) * sizeof(*set));
    for (uint32_t v = 0; v < n->graph->n; v++)
        if (n->graph->v[v].type == TYPE_NODE)
            set[v / 64] &= ~(UINT64_C(1) << (v % 64));
    for (uint32_t i = 0; within && i < n->graph->n / 64 + 1; i++)
        set[i] &= within[i];
    /* The most units that as many nodes have at least. */
    for (int64_t most = INT64_MAX; all < nodes && most > 0; most = least) {
        least = 0;
        for (uint32_t v = 0; v < n->graph->n; v++) {
            int64_t units = units_of_node_in_part(n, v, within);
            if (units < most && units > least)
                least = units;
        }
        for (uint32_t v = 0; v < n->graph->n && least > 0 && all < nodes; v++)
            if (units_of_node_in_part(n, v, within) == least) {
                set[v / 64] |= UINT64_C(1) << (v % 64);
                all++;
            }
    }
    return set;
}

int graph_place_ever_on(struct place *place, uint32_t class, int64_t nodes)
{
    struct graph_place *n = graph_place_of(place);
    bool is_bundle = is_bundle_class(class);
    const struct bundle_class *b = is_bundle ? bundle_class_of(place, class) : NULL;
    const struct class *c = &n->classes[is_bundle ? b->role[0].class : class];
    struct capacity capacity;
    int64_t pieces;
    if (nodes == INT64_MAX || ((!is_bundle || b->n == 1) &&
                               know_pieces(n, c, is_bundle ? b->total : 1, &capacity, &pieces)))
        return place->ops->wants(place, class, "node") <= nodes;
    uint64_t *within = largest_nodes(n, c->part, nodes);
    if (!within)
        return -1;
    int64_t rc;
    if (is_bundle) {
        rc = bundle_fits_within(n, b, within);
    } else {
        struct plan_ask ask = {.spec = c->spec, .within = within, .duration = 1};
        rc = match_plan_ever(n->match, &ask, 0) == 0 || errno == EOVERFLOW ? 1
             : errno == ENOMEM                                             ? -1
                                                                           : 0;
    }
    free(within);
    return (int)rc;
}

/* ---- At a time ---- */

/* A booking of the matcher that holds all or part of what one does. */
static int64_t part_of_booking(const struct graph_place *n, int64_t booking, uint32_t i)
{
    const struct bundle *b = is_bundle(booking) ? bundle_of(&n->place, booking) : NULL;
    return b ? b->v[b->first + i] : booking;
}

static uint32_t parts_of_booking(const struct graph_place *n, int64_t booking)
{
    return is_bundle(booking) ? bundle_of(&n->place, booking)->n : 1;
}

/* Take what a booking holds out of the calendars, or put it back as it was. */
static void lift_or_return_booking(struct graph_place *n, int64_t booking, bool on)
{
    uint32_t parts = parts_of_booking(n, booking);
    for (uint32_t i = 0; i < parts; i++) {
        if (on)
            match_job_lift(n->match, part_of_booking(n, booking, i));
        else
            match_job_return(n->match, part_of_booking(n, booking, i));
    }
}

/* The pieces that a node has room for at a step; where they are not counted, what is free of the unit. */
static int64_t room_at(const struct few *f, const struct capacity_has *has, uint32_t node,
                       const struct plan_usage *step)
{
    if (f->pieces != UNKNOWN)
        return capacity_room_of(has, step);
    int number = f->n->has_unit ? match_usage_type(f->n->match, f->n->unit) : -1;
    if (step->use == PLAN_FULL || number < 0)
        return step->use == PLAN_IDLE;
    return match_units_at(f->n->match, node, f->n->unit) - step->taken[number];
}

/* All steps of a node. Returns how many, or 0 with ENOMEM. */
static uint32_t steps_of(struct few *f, uint32_t node)
{
    for (;;) {
        uint32_t n = f->cap_step > 0 ? match_usage(f->n->match, node, f->step, f->cap_step) : 0;
        if (n < f->cap_step)
            return n;
        struct plan_usage *grown =
            reallocarray(f->step, 2 * (size_t)f->cap_step + 64, sizeof(*grown));
        if (!grown)
            return 0;
        f->step = grown;
        f->cap_step = 2 * f->cap_step + 64;
    }
}

/* What a node has room for throughout the window, and from when on for `each` pieces. Returns 0, or -1 with ENOMEM. */
static int measure_few_node(struct few *f, int64_t each, struct few_node *node)
{
    struct capacity_has has = {0};
    uint32_t n = steps_of(f, node->node);
    if (f->pieces != UNKNOWN)
        has = capacity_has_of(f->n, &f->capacity, node->node);
    node->room = INT64_MAX;
    node->from = f->at;
    for (uint32_t i = 0; i < n; i++) {
        int64_t end = i + 1 < n ? f->step[i + 1].at : INT64_MAX;
        if (end <= f->at)
            continue;
        int64_t room = room_at(f, &has, node->node, &f->step[i]);
        if (f->step[i].at - f->duration < f->at && room < node->room)
            node->room = room;
        if (f->step[i].at - f->duration < node->from && room < each)
            node->from = end;
    }
    return n > 0 ? 0 : -1;
}

/* The policy chose this node, if it is one of those that may be. They are in the order of vertices. */
static void mark_own(struct few *f, uint32_t node)
{
    size_t low = 0, high = f->n_v;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->v[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->n_v && f->v[low].node == node)
        f->v[low].is_own = true;
}

/* What it chose is what was booked. */
static void mark_booked(struct few *f, int64_t booking)
{
    const struct graph_place *n = f->n;
    uint32_t parts = parts_of_booking(n, booking), vertex;
    bool alone;
    for (uint32_t k = 0; k < parts; k++)
        for (uint32_t i = 0;
             match_job_next_hold(n->match, part_of_booking(n, booking, k), &i, &vertex, &alone);)
            mark_own(f, vertex);
}

/* The nodes that have been allowed, and others that may be. Returns 0, or -1 with ENOMEM. */
static int list_few_nodes(struct few *f, int64_t booking)
{
    struct graph_place *n = f->n;
    const uint64_t *within = n->parts[n->narrow_part].within;
    const struct jobspec_constraint *constraints = f->class->spec->constraints;
    uint64_t *fit = constraints ? match_part(n->match, constraints) : NULL;
    size_t nodes = 0;
    if (constraints && !fit)
        return -1;
    for (uint32_t v = 0; v < n->graph->n; v++)
        nodes += n->graph->v[v].type == TYPE_NODE && !n->graph->v[v].gone;
    f->v = calloc(nodes + 1, sizeof(*f->v));
    for (uint32_t v = 0; f->v && v < n->graph->n; v++)
        if (n->graph->v[v].type == TYPE_NODE && !n->graph->v[v].gone && match_part_has(within, v) &&
            match_part_has(fit, v) && !match_node_is_down(n->match, v))
            f->v[f->n_v++] = (struct few_node){
                .node = v, .is_known = match_part_has(n->narrow, v), .rank = f->order < 0 ? ~v : v};
    free(fit);
    if (f->v)
        mark_booked(f, booking);
    return f->v ? 0 : -1;
}

static int compare_ranks(const struct few_node *x, const struct few_node *y)
{
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* What the policy chose goes first, then what it would prefer. */
static int by_policy(const void *a, const void *b)
{
    const struct few_node *x = a, *y = b;
    return x->is_own != y->is_own ? (x->is_own ? -1 : 1) : compare_ranks(x, y);
}

static int by_room(const void *a, const void *b)
{
    const struct few_node *x = a, *y = b;
    if (x->room != y->room)
        return x->room < y->room ? 1 : -1;
    return x->is_known != y->is_known ? (x->is_known ? -1 : 1) : by_policy(a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct few_node *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->is_known != y->is_known ? (x->is_known ? -1 : 1) : by_policy(a, b);
}

/* Choose as many as may be, in an order, of those that are known only or of all. What those chosen have room for. */
static int64_t take_few_nodes(struct few *f, int (*order)(const void *, const void *),
                              bool known_only)
{
    int64_t nodes = f->nodes, more = known_only ? 0 : f->more, sum = 0;
    qsort(f->v, f->n_v, sizeof(*f->v), order);
    for (size_t i = 0; i < f->n_v; i++) {
        struct few_node *v = &f->v[i];
        v->is_in = nodes > 0 && v->room > 0 && (v->is_known || more > 0);
        nodes -= v->is_in;
        more -= v->is_in && !v->is_known;
        sum += v->is_in && v->room < f->pieces - sum ? v->room : v->is_in ? f->pieces - sum : 0;
    }
    return sum;
}

static int64_t pieces_per_node(int64_t pieces, int64_t nodes)
{
    return nodes < 1 ? pieces : pieces / nodes + (pieces % nodes > 0);
}

/* In the place of the others that were chosen since they have the most room, those that the policy prefers, if as many
 * have room enough.
 */
static void prefer(struct few *f)
{
    int64_t others = 0, room = 0, can = 0;
    for (size_t i = 0; i < f->n_v; i++) {
        others += f->v[i].is_in && !f->v[i].is_known;
        room += f->v[i].is_in && f->v[i].is_known ? f->v[i].room : 0;
    }
    int64_t each = pieces_per_node(f->pieces - room, others);
    for (size_t i = 0; i < f->n_v; i++)
        can += !f->v[i].is_known && f->v[i].room >= each;
    if (others == 0 || can < others)
        return;
    qsort(f->v, f->n_v, sizeof(*f->v), by_policy);
    for (size_t i = 0; i < f->n_v; i++) {
        struct few_node *v = &f->v[i];
        if (v->is_known)
            continue;
        v->is_in = others > 0 && v->room >= each;
        others -= v->is_in;
    }
}

/* None have the room yet: those that have an equal part of it the soonest. Returns 0, or -1 with ENOMEM. */
static int await(struct few *f)
{
    int64_t known = 0;
    for (size_t i = 0; i < f->n_v; i++)
        known += f->v[i].is_known;
    int64_t nodes = f->more < f->nodes - known ? known + f->more : f->nodes;
    for (size_t i = 0; i < f->n_v; i++) {
        if (measure_few_node(f, pieces_per_node(f->pieces, nodes), &f->v[i]) < 0)
            return -1;
        f->v[i].room = f->v[i].from < INT64_MAX;
    }
    take_few_nodes(f, by_time, false);
    return 0;
}

/* Returns 0, or -1 with ENOMEM. */
static int choose_few_nodes(struct few *f)
{
    for (size_t i = 0; i < f->n_v; i++)
        if (measure_few_node(f, 1, &f->v[i]) < 0)
            return -1;
    if (f->pieces == UNKNOWN) {
        take_few_nodes(f, by_room, false);
        return 0;
    }
    if (take_few_nodes(f, by_room, true) < f->pieces &&
        take_few_nodes(f, by_room, false) < f->pieces)
        return await(f);
    prefer(f);
    return 0;
}

/* Of roles that differ nothing is known. */
static struct few few_of(struct graph_place *n, const struct place_ask *ask, int64_t at)
{
    const struct bundle_class *b =
        is_bundle_class(ask->class) ? bundle_class_of(&n->place, ask->class) : NULL;
    struct few f = {.n = n,
                    .class = b ? &n->classes[b->role[0].class] : class_of(n, ask),
                    .at = at,
                    .duration = ask->duration,
                    .order = match_id_order(n->match)};
    if ((b && b->n > 1) || !know_pieces(n, f.class, b ? b->total : 1, &f.capacity, &f.pieces))
        f.pieces = UNKNOWN;
    return f;
}

static void allow_chosen(struct graph_place *n, const struct few *f)
{
    for (size_t i = 0; i < f->n_v; i++) {
        uint64_t bit = UINT64_C(1) << (f->v[i].node % 64);
        if (f->v[i].is_in)
            n->narrow[f->v[i].node / 64] |= bit;
        else
            n->narrow[f->v[i].node / 64] &= ~bit;
    }
}

int graph_place_allow_few(struct place *place, const struct place_ask *ask, int64_t booking,
                          int64_t at, int64_t nodes, int64_t more)
{
    struct graph_place *n = graph_place_of(place);
    struct few f = few_of(n, ask, at);
    f.nodes = nodes;
    f.more = more;
    if (list_few_nodes(&f, booking) < 0)
        return -1;
    bool is_there = !match_job_is_lifted(n->match, part_of_booking(n, booking, 0));
    if (is_there) /* else it was probed */
        lift_or_return_booking(n, booking, true);
    int rc = choose_few_nodes(&f);
    if (is_there)
        lift_or_return_booking(n, booking, false);
    if (rc == 0)
        allow_chosen(n, &f);
    free(f.step);
    free(f.v);
    return rc;
}
