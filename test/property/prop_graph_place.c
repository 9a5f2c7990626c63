/* Bookings that name resources, against a machine that looks at every booking at every instant: what fits
 * when, what is held, what may stay; over lifted, moved, extended and forced bookings, blocks, nodes that
 * go down or away.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/change_place.h"
#include "fixture/machine.h"
#include "match/inner.h"
#include "naive_place.h"
#include "place/graph.h"
#include "random.h"

enum { CLASSES = 8, ROUNDS = 30, OPS = 8, ROOMS = 16 };

static const char *const policies[] = {"low",
                                       "high",
                                       "lonode",
                                       "hinode",
                                       "locality",
                                       "variation",
                                       "first",
                                       "lonodex",
                                       "policy=high node_centric=true",
                                       "pack",
                                       "spread",
                                       "balance",
                                       "pack=1 balance=4"};

static const char *const requires[] = {NULL, "{\"properties\": [\"fast\"]}",
                                       "{\"hostlist\": [\"node[0-2]\"]}"};

struct class_of_ask {
    struct naive_ask naive;
    struct place_ask ask;
    bool known;
    bool fitted; /* when things were settled, at this time */
    struct place_note note;
};

struct run {
    struct random random;
    uint64_t seed;
    const char *policy;
    match_t *match;
    struct place *place;
    const struct place_ops *ops;
    struct naive_place naive;
    bool flat; /* no racks: nodes are beside the licences */
    struct class_of_ask class[CLASSES];
    int64_t handle[NAIVE_BOOKINGS];
    int ask_of[NAIVE_BOOKINGS]; /* class */
    bool started[NAIVE_BOOKINGS];
    int64_t now;
    uint64_t since; /* event of the log of what was freed, when things were settled */
    bool hidden;    /* something is out of the calendars for a while, of which wakes isn't told */
    uint32_t vertex[NAIVE_NODES];
};

static uint64_t booked, refused, woken, moved, forced, short_of, stuck, lacking, shared;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %llu, %s, time %lld: does not hold: %s", (unsigned long long)r->seed,   \
                     r->policy, (long long)r->now, #condition);                                    \
    } while (0)

static int64_t draw(struct run *r, int64_t low, int64_t high)
{
    return random_between(&r->random, low, high);
}

static bool chance(struct run *r, int of)
{
    return draw(r, 1, of) == 1;
}

/* ---- The machine ---- */

static const char *const kinds[NAIVE_GPU_KINDS] = {"gpu:a", "gpu:b"};

/* A GPU is of the kinds that it says, if any, else of that of its node (0: the first, -1: of none). */
static void draw_kinds(struct run *r, struct graph *g, struct naive_node *n, int of_node, int k,
                       uint32_t gpu)
{
    bool says = false;

    for (int i = 0; i < NAIVE_GPU_KINDS; i++) {
        if (!chance(r, 2))
            continue;
        says = true;
        n->gpus_of[i] |= 1u << k;
        assert_int_equal(graph_set_property(g, gpu, kinds[i], ""), 0);
    }
    if (!says && of_node >= 0)
        n->gpus_of[of_node] |= 1u << k;
}

static void add_pool(struct graph *g, uint32_t parent, const char *type, int size)
{
    uint32_t pool = add_vertex(
        g, parent,
        &(struct vertex_spec){.type = type, .id = 0, .uniq_id = -1, .size = size, .rank = -1});
    assert_int_equal(graph_set_property(g, pool, "divisible", ""), 0);
}

static void add_node(struct run *r, struct graph *g, uint32_t rack, int i, bool sockets)
{
    struct naive_node *n = &r->naive.node[i];
    uint32_t node = add_one(g, rack, "node", i), host = node;

    r->vertex[i] = node;
    n->there = true;
    n->cores = (int)draw(r, 1, 4);
    n->gpus = (int)draw(r, 0, NAIVE_GPUS);
    n->gpu_memory = n->gpus > 0 && chance(r, 2) ? (int)draw(r, 1, 8) : 0;
    n->memory = chance(r, 2) ? 8 : 0;
    n->property = chance(r, 2);
    if (n->property)
        assert_int_equal(graph_set_property(g, node, "fast", ""), 0);
    if (sockets)
        host = add_one(g, node, "socket", 0);
    for (int k = 0; k < n->cores; k++)
        add_one(g, host, "core", k);
    int of_node = (int)draw(r, -1, NAIVE_GPU_KINDS - 1);
    if (of_node >= 0)
        assert_int_equal(graph_set_property(g, node, kinds[of_node], ""), 0);
    for (int k = 0; k < n->gpus; k++) {
        uint32_t gpu = add_one(g, host, "gpu", k);
        draw_kinds(r, g, n, of_node, k, gpu);
        if (n->gpu_memory > 0)
            add_pool(g, gpu, "gpu-memory", n->gpu_memory);
    }
    if (n->memory > 0)
        add_pool(g, host, "memory", n->memory);
}

static void make(struct run *r)
{
    struct graph *g = graph_create();
    uint32_t root = add_one(g, VERTEX_NONE, "cluster", 0);
    int nodes = (int)draw(r, 1, NAIVE_NODES), racks = (int)draw(r, 1, NAIVE_RACKS);
    bool sockets = chance(r, 3);
    berth_error_t err = {""};
    match_options_t options = {.policy = r->policy, .end = MATCH_END_MAX};

    for (int k = 0; k < 3; k++)
        assert_true(graph_type(g, (const char *[]){"gpu", "memory", "gpu-memory"}[k]) !=
                    UINT32_MAX);
    r->flat = chance(r, 3);
    for (int k = 0, i = 0; k < racks; k++) {
        uint32_t rack = r->flat ? root : add_one(g, root, "rack", k);
        for (; i < nodes * (k + 1) / racks; i++) {
            r->naive.node[i].rack = k;
            add_node(r, g, rack, i, sockets);
        }
    }
    r->naive.licenses = chance(r, 2) ? (int)draw(r, 1, 5) : 0;
    assert_true(graph_type(g, "license:a") != UINT32_MAX);
    if (r->naive.licenses > 0) {
        uint32_t pool = add_vertex(g, root,
                                   &(struct vertex_spec){.type = "license:a",
                                                         .basename = "a",
                                                         .name = "a",
                                                         .id = -1,
                                                         .uniq_id = -1,
                                                         .size = r->naive.licenses,
                                                         .rank = -1});
        assert_int_equal(graph_set_property(g, pool, "divisible", ""), 0);
    }
    assert_int_equal(graph_seal(g), 0);
    if (chance(r, 2))
        options.filters = chance(r, 2) ? "ALL:core,ALL:node,ALL:gpu,ALL:memory"
                                       : "ALL:core,ALL:node,ALL:gpu,ALL:gpu-memory";
    r->match = match_create(g, &options, &err);
    CHECK(r->match);
    r->place = graph_place_create(r->match, &err);
    CHECK(r->place);
    r->ops = r->place->ops;
    for (int i = 0; i < NAIVE_PARTS; i++)
        CHECK(r->ops->part(r->place, requires[i], &err) == i);
    CHECK(r->ops->part(r->place, requires[1], &err) == 1);
}

/* ---- Requests ---- */

static jobspec_t *spec_of(const struct naive_ask *a)
{
    char slot[300], text[800], kind[40] = "";
    int n = snprintf(slot, sizeof(slot), "{type: slot, count: %d, label: s, with: [",
                     a->kind == ASK_SHARED                               ? a->slots
                     : a->kind == ASK_SLOTS || a->kind == ASK_NODE_SLOTS ? a->count
                                                                         : 1);
    if (a->gpu_kind > 0)
        snprintf(kind, sizeof(kind), ", property: 'gpu:%c'", 'a' + a->gpu_kind - 1);
    if (a->kind == ASK_NODE_SLOTS)
        n += snprintf(slot + n, sizeof(slot) - (size_t)n, "{type: node, count: 1},");
    if (a->cores > 0 && a->kind != ASK_NODE_SLOTS)
        n += snprintf(slot + n, sizeof(slot) - (size_t)n, "{type: core, count: %d},", a->cores);
    if (a->gpus > 0)
        n += snprintf(slot + n, sizeof(slot) - (size_t)n, "{type: gpu, count: %d%s},", a->gpus,
                      kind);
    if (a->memory > 0)
        n += snprintf(slot + n, sizeof(slot) - (size_t)n, "{type: memory, count: %d},", a->memory);
    snprintf(slot + n - 1, sizeof(slot) - (size_t)n, "]}");
    n = 0;
    if (a->kind == ASK_WHOLE || a->kind == ASK_SHARED) {
        n = snprintf(text, sizeof(text),
                     "{version: 9999, resources: [{type: node, count: %d%s, with: [%s", a->count,
                     a->kind == ASK_WHOLE ? ", exclusive: true" : "", slot);
        if (a->shares > 0)
            n += snprintf(text + n, sizeof(text) - (size_t)n,
                          ", {type: gpu, count: %d, exclusive: false%s, with: [{type: gpu-memory, "
                          "count: %d, exclusive: true}]}",
                          a->shares, kind, a->share);
        n += snprintf(text + n, sizeof(text) - (size_t)n, "]}");
    } else
        n = snprintf(text, sizeof(text), "{version: 9999, resources: [%s", slot);
    if (a->licenses > 0)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      ", {type: 'license:a', count: %d, exclusive: true}", a->licenses);
    snprintf(text + n, sizeof(text) - (size_t)n,
             "], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: 0%s}}}",
             a->property ? ", constraints: {properties: ['fast']}" : "");
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    if (!spec)
        fail_msg("%s", text);
    return spec;
}

static void draw_class(struct run *r, struct class_of_ask *c)
{
    struct naive_ask *a = &c->naive;
    berth_error_t err = {""};

    *c = (struct class_of_ask){0};
    a->kind = (unsigned)draw(r, 0, ASK_KINDS - 1);
    a->count = (int)draw(r, 1, 3);
    a->cores = (int)draw(r, 1, 3);
    a->slots = (int)draw(r, 1, 2);
    if (a->kind == ASK_SLOTS && chance(r, 3)) {
        a->gpus = (int)draw(r, 1, 2);
        a->cores = chance(r, 3) ? 0 : a->cores;
    }
    if (a->kind == ASK_SLOTS && chance(r, 4))
        a->memory = (int)draw(r, 1, 5);
    if (a->kind == ASK_WHOLE)
        a->cores = 1;
    if (a->kind == ASK_SHARED && chance(r, 2)) {
        a->shares = (int)draw(r, 1, 2);
        a->share = (int)draw(r, 1, 3);
    }
    if (a->kind == ASK_SHARED && a->shares == 0 && chance(r, 2))
        a->gpus = 1;
    if ((a->gpus > 0 || a->shares > 0) && chance(r, 2))
        a->gpu_kind = (int)draw(r, 1, NAIVE_GPU_KINDS);
    if (a->kind == ASK_NODE_SLOTS)
        a->cores = 0;
    if (chance(r, 3))
        a->licenses = (int)draw(r, 1, 3);
    a->property = chance(r, 5);
    a->part = (int)draw(r, 0, NAIVE_PARTS - 1);
    a->duration = draw(r, 1, 25);
    a->permits = (uint64_t)(chance(r, 3) ? draw(r, 0, 7) : 0);
    jobspec_t *spec = spec_of(a);
    int rc =
        r->ops->know(r->place, spec, (uint32_t)a->part, true, &c->ask.class, &c->ask.units, &err);
    jobspec_destroy(spec);
    bool ever = naive_fits(&r->naive, a, 0, true);
    if ((rc == 0) != ever)
        fail_msg("seed %llu %s: know %d (%s), naive %d", (unsigned long long)r->seed, r->policy, rc,
                 err.text, ever);
    if (rc < 0) {
        CHECK(errno == ENODEV && err.text[0]);
        return;
    }
    c->known = true;
    c->ask.duration = a->duration;
    c->ask.part = (uint32_t)a->part;
    c->ask.permits = a->permits;
    CHECK(c->ask.units == r->ops->units(r->place, c->ask.class));
}

/* ---- Bookings ---- */

static int node_of(const struct run *r, uint32_t v)
{
    for (uint32_t x = v; x != VERTEX_NONE; x = r->match->topo.parent[x])
        for (int i = 0; i < NAIVE_NODES; i++)
            if (r->naive.node[i].there && r->vertex[i] == x)
                return i;
    return -1;
}

/* Learn what a booking was given. */
static void learn(struct run *r, int i)
{
    struct naive_booking *b = &r->naive.booking[i];
    const struct job *folded = jobs_find(&r->match->jobs, r->handle[i]);

    CHECK(folded);
    struct job *job = job_unfolded(folded);
    CHECK(job);
    memset(b->hold, 0, sizeof(b->hold));
    b->licenses = 0;
    for (uint32_t k = 0; k < job->n; k++) {
        const struct hold *h = &job->hold[k];
        const struct vertex *x = &r->match->g->v[h->vertex];
        int n = node_of(r, h->vertex);
        if (strcmp(graph_type_name(r->match->g, h->vertex), "license:a") == 0)
            b->licenses += (int)h->needs;
        if (n < 0)
            continue;
        const char *type = graph_type_name(r->match->g, h->vertex);
        b->hold[n].any = true;
        if (strcmp(type, "node") == 0)
            b->hold[n].whole = h->flags & HOLD_EXCLUSIVE;
        if (h->flags & HOLD_SPARE)
            continue;
        if (strcmp(type, "core") == 0)
            b->hold[n].cores |= 1u << x->id;
        if (strcmp(type, "gpu") == 0 && h->flags & HOLD_EXCLUSIVE)
            b->hold[n].gpus |= 1u << x->id;
        if (strcmp(type, "gpu-memory") == 0)
            b->hold[n].share[r->match->g->v[r->match->topo.parent[h->vertex]].id] += (int)h->needs;
        if (strcmp(type, "memory") == 0)
            b->hold[n].memory += (int)h->needs;
    }
    job_destroy(job);
}

static bool rooms_allow(struct run *r, const struct place_ask *ask)
{
    struct planner_room room[ROOMS];
    size_t n = r->ops->rooms(r->place, ask->part, r->now, room, ROOMS);

    for (size_t i = 0; i < n; i++)
        if (ask->units <= room[i].free && ask->duration <= room[i].within)
            return true;
    return false;
}

static int free_slot(const struct run *r)
{
    for (int i = 0; i < NAIVE_BOOKINGS; i++)
        if (!r->naive.booking[i].used)
            return i;
    return -1;
}

static void check_amounts(struct run *r, int i)
{
    const struct naive_booking *b = &r->naive.booking[i];
    const struct naive_ask *a = &r->class[r->ask_of[i]].naive;
    int64_t cores = 0, nodes = 0;

    for (int k = 0; k < NAIVE_NODES; k++) {
        cores += b->hold[k].whole ? r->naive.node[k].cores : __builtin_popcount(b->hold[k].cores);
        nodes += b->hold[k].any;
    }
    CHECK(r->ops->amount(r->place, r->handle[i], "core") == cores);
    CHECK(r->ops->amount(r->place, r->handle[i], "node") == nodes);
    CHECK(r->ops->amount(r->place, r->handle[i], "license:a") == b->licenses);
    CHECK(r->ops->wants(r->place, r->class[r->ask_of[i]].ask.class, "license:a") == a->licenses);
    CHECK(r->class[r->ask_of[i]].ask.units <= cores + 1);
    CHECK(r->ops->wants(r->place, r->class[r->ask_of[i]].ask.class, "core") <= cores);
    CHECK(r->ops->wants(r->place, r->class[r->ask_of[i]].ask.class, "node") <= nodes);
}

/* Whether a booking has a part of a GPU of which another has one too. */
static bool shares_gpu(const struct run *r, int i)
{
    const struct naive_booking *a = &r->naive.booking[i];

    for (int j = 0; j < NAIVE_BOOKINGS; j++) {
        const struct naive_booking *b = &r->naive.booking[j];
        bool both = j != i && b->used && !b->lifted && b->at < a->end && a->at < b->end;
        for (int k = 0; both && k < NAIVE_NODES * NAIVE_GPUS; k++)
            if (a->hold[k / NAIVE_GPUS].share[k % NAIVE_GPUS] > 0 &&
                b->hold[k / NAIVE_GPUS].share[k % NAIVE_GPUS] > 0)
                return true;
    }
    return false;
}

static void book(struct run *r, int class, int64_t at)
{
    struct class_of_ask *c = &r->class[class];
    int i = free_slot(r);

    if (i < 0 || !c->known)
        return;
    bool good = naive_fits(&r->naive, &c->naive, at, false);
    bool allowed = rooms_allow(r, &c->ask);
    int64_t booking = r->ops->book(r->place, &c->ask, at);
    CHECK((booking >= 0) == good);
    if (booking < 0) {
        CHECK(errno == EBUSY);
        refused++;
        CHECK(r->ops->lacks(r->place, &c->ask, at, NULL));
        return;
    }
    booked++;
    CHECK(at != r->now || allowed);
    r->naive.booking[i] = (struct naive_booking){
        .used = true, .lifted = true, .at = at, .end = at + c->naive.duration};
    r->handle[i] = booking;
    r->ask_of[i] = class;
    r->started[i] = false;
    learn(r, i);
    CHECK(naive_satisfies(&r->naive, &c->naive, i));
    CHECK(naive_holds_fit(&r->naive, &c->naive, i, at, at + c->naive.duration,
                          at + c->naive.duration));
    r->naive.booking[i].lifted = false;
    check_amounts(r, i);
    shared += shares_gpu(r, i);
    if (at == r->now && chance(r, 2)) {
        if (chance(r, 2))
            r->ops->allocate(r->place, booking, r->now);
        else
            CHECK(r->ops->start(r->place, &c->ask, booking, r->now) == 0);
        r->started[i] = true;
    }
}

static void reserve(struct run *r, int class)
{
    struct class_of_ask *c = &r->class[class];

    if (!c->known)
        return;
    int64_t from = r->now + draw(r, 0, 10);
    int64_t expected = naive_when(&r->naive, &c->naive, from, INT64_MAX);
    int64_t at = r->ops->when(r->place, &c->ask, from);
    if (at != expected)
        fail_msg("seed %llu %s: when from %lld: %lld, naive %lld", (unsigned long long)r->seed,
                 r->policy, (long long)from, (long long)at, (long long)expected);
    if (at >= 0)
        book(r, class, at);
    else
        CHECK(errno == ENOENT);
}

static void release(struct run *r, int i)
{
    r->ops->release(r->place, r->handle[i]);
    r->naive.booking[i].used = false;
}

static void start(struct run *r, int i)
{
    struct naive_booking *b = &r->naive.booking[i];
    struct class_of_ask *c = &r->class[r->ask_of[i]];
    int64_t end = r->now + c->naive.duration;

    if (r->started[i] || b->at > r->now)
        return;
    bool lifted = b->lifted;
    b->lifted = true;
    bool lasts = b->end >= end;
    bool good = naive_holds_fit(&r->naive, &c->naive, i, r->now, end, lasts ? r->now + 1 : end);
    CHECK((r->ops->start(r->place, &c->ask, r->handle[i], r->now) == 0) == good);
    b->lifted = false;
    if (good) {
        b->at = lasts ? b->at : r->now;
        b->end = lasts ? b->end : end;
        r->started[i] = true;
    } else {
        CHECK(errno == EBUSY);
        if (lifted) {
            r->ops->lift(r->place, r->handle[i], false);
            b->lifted = true;
            r->hidden = true;
        }
    }
}

struct ruling {
    struct run *r;
    bool may;
};

/* For place_pull: all that would be held instead is named, and by a number of its own. */
static bool may_hold(void *arg, int64_t booking, int64_t at)
{
    (void)at;
    const struct ruling *ruling = arg;
    struct run *r = ruling->r;
    for (int i = 0; i < NAIVE_BOOKINGS; i++)
        CHECK(!r->naive.booking[i].used || r->handle[i] != booking);
    CHECK(r->ops->amount(r->place, booking, "core") + r->ops->amount(r->place, booking, "node") >
          0);
    return ruling->may;
}

static void pull(struct run *r, int i)
{
    struct naive_booking *b = &r->naive.booking[i];
    struct class_of_ask *c = &r->class[r->ask_of[i]];

    if (r->started[i] || b->at <= r->now || b->cut || b->end - b->at != c->naive.duration)
        return;
    bool anew = chance(r, 2);
    b->lifted = true;
    int64_t expected = naive_when(&r->naive, &c->naive, r->now, b->at);
    bool may = !chance(r, 4);
    struct ruling ruling = {r, may};
    struct place_pull how = {
        .at = b->at, .from = r->now, .anew = anew, .may_hold = may_hold, .arg = &ruling};
    int64_t at = r->ops->pull(r->place, &c->ask, r->handle[i], &how);
    CHECK(at == (expected < 0 || !may ? b->at : expected));
    moved += at < b->at;
    bool fitted = may && (expected >= 0 || (anew && naive_fits(&r->naive, &c->naive, at, false)));
    struct naive_booking was = *b;
    b->at = at;
    b->end = at + c->naive.duration;
    learn(r, i);
    CHECK(may || memcmp(was.hold, b->hold, sizeof(was.hold)) == 0);
    if (fitted)
        CHECK(naive_holds_fit(&r->naive, &c->naive, i, at, b->end, b->end));
    b->lifted = false;
}

/* What is past of a booking does not count. */
static void lift_or_drop(struct run *r, int i)
{
    struct naive_booking *b = &r->naive.booking[i];
    struct class_of_ask *c = &r->class[r->ask_of[i]];

    if (!b->lifted) {
        r->ops->lift(r->place, r->handle[i], false);
        b->lifted = true;
        r->hidden = true;
        return;
    }
    int64_t from = b->at < r->now && r->now < b->end ? r->now : b->at;
    bool good = naive_holds_fit(&r->naive, &c->naive, i, from, b->end, b->end);
    r->ops->tell(r->place, r->now);
    CHECK(r->ops->fits(r->place, &c->ask, r->handle[i]) == good);
    r->ops->drop(r->place, &c->ask, r->handle[i]);
    b->lifted = false;
    forced += !good;
}

static void extend(struct run *r, int i)
{
    struct naive_booking *b = &r->naive.booking[i];
    int64_t end = b->at + draw(r, 1, 40);

    CHECK(r->ops->extend(r->place, r->handle[i], end) == 0);
    b->end = end;
}

/* ---- Changes ---- */

static void change_status(struct run *r)
{
    int i = (int)draw(r, 0, NAIVE_NODES - 1);
    bool up = chance(r, 2), was_down;
    char text[40];

    if (!r->naive.node[i].there)
        return;
    if (r->naive.licenses > 0 && chance(r, 8)) {
        was_down = r->naive.licenses_down;
        r->naive.licenses_down = !up;
        CHECK(set_status(r->place, "a", up ? RESOURCE_UP : RESOURCE_DOWN, NULL) ==
              (was_down != up));
        return;
    }
    if (!r->flat && chance(r, 6)) {
        was_down = r->naive.rack_down[r->naive.node[i].rack];
        r->naive.rack_down[r->naive.node[i].rack] = !up;
        snprintf(text, sizeof(text), "rack%d", r->naive.node[i].rack);
    } else if (chance(r, 4)) {
        int k = (int)draw(r, 0, r->naive.node[i].cores - 1);
        uint32_t bit = 1u << k;
        was_down = r->naive.node[i].cores_down & bit;
        r->naive.node[i].cores_down =
            up ? r->naive.node[i].cores_down & ~bit : r->naive.node[i].cores_down | bit;
        snprintf(text, sizeof(text), "node%d/core%d", i, k);
    } else {
        was_down = r->naive.node[i].down;
        r->naive.node[i].down = !up;
        snprintf(text, sizeof(text), "node%d", i);
    }
    CHECK(set_status(r->place, text, up ? RESOURCE_UP : RESOURCE_DOWN, NULL) == (was_down != up));
    for (int k = 0; k < NAIVE_BOOKINGS; k++)
        if (r->naive.booking[k].used && r->naive.booking[k].hold[i].whole)
            CHECK(r->ops->touches(r->place, r->handle[k], text, NULL) == 1);
}

static void change_property(struct run *r)
{
    int i = (int)draw(r, 0, NAIVE_NODES - 1);
    char text[40];

    if (!r->naive.node[i].there)
        return;
    r->naive.node[i].property = chance(r, 2);
    snprintf(text, sizeof(text), "node%d", i);
    CHECK(set_property(r->place, text, "fast", r->naive.node[i].property ? "" : NULL, NULL) == 0);
    for (int k = 0; k < CLASSES; k++)
        if (r->class[k].known)
            r->class[k].ask.units = r->ops->units(r->place, r->class[k].ask.class);
}

static void change_block(struct run *r)
{
    int i = (int)draw(r, 0, NAIVE_BLOCKS - 1), node = (int)draw(r, 0, NAIVE_NODES - 1);
    struct naive_block *b = &r->naive.block[i];
    char text[60];

    if (chance(r, 3) || !r->naive.node[node].there) {
        r->ops->block(r->place, (uint32_t)i, NULL, 0, 0, 0, NULL);
        *b = (struct naive_block){0};
        return;
    }
    *b = (struct naive_block){.used = true, .start = r->now + draw(r, 0, 20)};
    if (chance(r, 2)) {
        b->duration = draw(r, 1, 12);
        b->every = chance(r, 2) ? 20 : 30;
    } else {
        b->duration = draw(r, 1, 30);
    }
    if (chance(r, 4)) {
        int k = (int)draw(r, 0, r->naive.node[node].cores - 1);
        b->cores[node] = 1u << k;
        snprintf(text, sizeof(text), "node%d/core%d", node, k);
    } else if (!r->flat && chance(r, 4)) {
        for (int n = 0; n < NAIVE_NODES; n++)
            if (r->naive.node[n].there && r->naive.node[n].rack == r->naive.node[node].rack)
                b->nodes |= 1u << n;
        snprintf(text, sizeof(text), "rack%d", r->naive.node[node].rack);
    } else {
        b->nodes = 1u << node;
        snprintf(text, sizeof(text), "node%d", node);
    }
    CHECK(r->ops->block(r->place, (uint32_t)i, text, b->start, b->duration, b->every, NULL) == 0);
}

static void remove_node(struct run *r)
{
    int i = (int)draw(r, 0, NAIVE_NODES - 1), there = 0;
    char text[40];

    for (int k = 0; k < NAIVE_NODES; k++)
        there += r->naive.node[k].there;
    if (!r->naive.node[i].there || there == 1)
        return;
    snprintf(text, sizeof(text), "node%d", i);
    CHECK(remove_those(r->place, text, NULL) == 0);
    r->naive.node[i].there = false;
    for (int k = 0; k < NAIVE_BOOKINGS; k++) {
        struct naive_booking *b = &r->naive.booking[k];
        b->cut |= b->used && b->hold[i].any;
        b->hold[i] = (struct naive_hold){0};
    }
    for (int k = 0; k < NAIVE_BLOCKS; k++) {
        r->naive.block[k].nodes &= ~(1u << i);
        r->naive.block[k].cores[i] = 0;
    }
    for (int k = 0; k < CLASSES; k++)
        if (r->class[k].known)
            r->class[k].ask.units = r->ops->units(r->place, r->class[k].ask.class);
}

/* ---- Who is woken ---- */

static void settle(struct run *r)
{
    r->ops->settle(r->place);
    r->since = r->place->freed.next;
    r->hidden = false;
    for (int i = 0; i < CLASSES; i++) {
        struct class_of_ask *c = &r->class[i];
        if (!c->known)
            continue;
        c->fitted = naive_fits(&r->naive, &c->naive, r->now, false);
    }
}

static void check_wakes(struct run *r)
{
    for (int i = 0; i < CLASSES; i++) {
        struct class_of_ask *c = &r->class[i];
        if (!c->known || r->hidden)
            continue;
        bool wakes = graph_place_wakes(r->place, c->ask.class, r->since);
        bool fits = naive_fits(&r->naive, &c->naive, r->now, false);
        CHECK(wakes || !fits || c->fitted);
        woken += wakes;
    }
}

/* Who is said to be short of something can't start, and who is said to be stuck can't start sooner. */
static void check_short(struct run *r)
{
    for (int i = 0; i < CLASSES; i++) {
        struct class_of_ask *c = &r->class[i];
        if (!c->known || !r->ops->is_short(r->place, &c->ask, r->now, &c->note))
            continue;
        CHECK(!naive_fits(&r->naive, &c->naive, r->now, false));
        short_of++;
    }
    for (int i = 0; i < NAIVE_BOOKINGS; i++)
        if (r->naive.booking[i].used && r->naive.booking[i].lifted)
            return; /* what these hold may be free, and counts as freed only when they are moved */
    for (int i = 0; i < NAIVE_BOOKINGS; i++) {
        struct naive_booking *b = &r->naive.booking[i];
        struct class_of_ask *c = &r->class[r->ask_of[i]];
        if (!b->used || r->hidden || r->started[i] || b->at <= r->now || b->cut ||
            b->end - b->at != c->naive.duration ||
            !r->ops->is_stuck(r->place, &c->ask, r->handle[i], b->at, draw(r, 0, 1)))
            continue;
        b->lifted = true;
        CHECK(naive_when(&r->naive, &c->naive, r->now, b->at) < 0);
        b->lifted = false;
        stuck++;
    }
}

/* What one lacks is the same whatever was counted for others before. */
static void check_lacks(struct run *r)
{
    struct place_counts counts = {0};
    for (int i = 0; i < 4 * CLASSES; i++) {
        struct class_of_ask *c = &r->class[draw(r, 0, CLASSES - 1)];
        if (!c->known)
            continue;
        struct place_ask ask = c->ask;
        ask.duration = draw(r, 1, 3 * c->ask.duration);
        const char *lacks = r->ops->lacks(r->place, &ask, r->now, &counts);
        CHECK(strcmp(lacks, r->ops->lacks(r->place, &ask, r->now, NULL)) == 0);
        lacking++;
    }
}

/* ---- Steps ---- */

static void step(struct run *r)
{
    int i = (int)draw(r, 0, NAIVE_BOOKINGS - 1), class = (int)draw(r, 0, CLASSES - 1);
    bool used = r->naive.booking[i].used;

    switch (draw(r, 0, 15)) {
    case 0:
        change_status(r);
        break;
    case 1:
        change_block(r);
        break;
    case 2:
        if (chance(r, 3))
            change_property(r);
        break;
    case 3:
        if (chance(r, 12))
            remove_node(r);
        break;
    case 4:
    case 5:
        book(r, class, r->now);
        break;
    case 6:
    case 7:
        reserve(r, class);
        break;
    case 8:
        if (used)
            extend(r, i);
        break;
    case 9:
    case 10:
        if (used)
            lift_or_drop(r, i);
        break;
    case 11:
    case 12:
        if (used)
            pull(r, i);
        break;
    case 13:
        if (used)
            start(r, i);
        break;
    default:
        if (used)
            release(r, i);
    }
}

static void play(uint64_t seed)
{
    struct run *r = calloc(1, sizeof(*r));

    assert_non_null(r);
    r->random.state = r->seed = seed;
    r->policy = policies[seed % (sizeof(policies) / sizeof(policies[0]))];
    r->naive.whole = strcmp(r->policy, "lonodex") == 0;
    make(r);
    for (int i = 0; i < CLASSES; i++)
        draw_class(r, &r->class[i]);
    for (int round = 0; round < ROUNDS; round++) {
        r->now += draw(r, 0, 8);
        r->ops->turn(r->place, r->now);
        settle(r);
        for (int k = 0; k < OPS; k++)
            step(r);
        check_wakes(r);
        check_short(r);
        check_lacks(r);
        CHECK(r->ops->check(r->place));
    }
    for (int i = 0; i < CLASSES; i++)
        if (r->class[i].known)
            r->ops->forget(r->place, r->class[i].ask.class);
    r->ops->destroy(r->place);
    CHECK(match_check(r->match));
    CHECK(r->match->jobs.n == 0);
    match_destroy(r->match);
    free(r);
}

static void test_naive(void **state)
{
    const char *first = getenv("PROP_SEED"), *count = getenv("PROP_COUNT");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    uint64_t n = count ? strtoull(count, NULL, 10) : 600;

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        play(seed + i);
    if (n >= 600) {
        assert_true(booked > 1000 && refused > 1000 && moved > 50 && forced > 100);
        assert_true(woken > 0 && shared > 0);
        assert_true(short_of > 0 && stuck > 0 && lacking > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
