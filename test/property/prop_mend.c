/* Bookings that are mended. A gang is booked on a machine on which others hold something now and later. Some of the others are
 * lifted for that. One of these comes back: members that are in its way leave the booking, and are booked elsewhere. That works
 * if and only if the whole gang could be booked from scratch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/machine.h"
#include "place/graph.h"
#include "random.h"

enum { ROUNDS = 3000, OTHERS = 24, TEXT = 600 };

struct run {
    uint64_t seed;
    struct random random;
    match_t *match;
    struct place *place;
    const struct place_ops *ops;
    struct place_ask ask; /* of several */
    struct place_ask other[OTHERS];
    int64_t booking[OTHERS]; /* -1: there is none */
    bool is_lifted[OTHERS];
    bool tries; /* one ask alone is tried */
};

static uint64_t back, needed, moved, left_out;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %llu: does not hold: %s", (unsigned long long)r->seed, #condition);     \
    } while (0)

static int64_t draw(struct run *r, int64_t low, int64_t high)
{
    return random_between(&r->random, low, high);
}

/* ---- The machine, and what is asked for ---- */

static void make_machine(struct run *r)
{
    static const char *const policies[] = {"low", "high"};
    struct graph *g = graph_create();
    uint32_t root = add_one(g, VERTEX_NONE, "cluster", 0);
    int nodes = (int)draw(r, 1, 5), sockets = (int)draw(r, 0, 4);
    for (int i = 0; i < nodes; i++) {
        uint32_t node = add_one(g, root, "node", i), host = node;
        for (int k = 0; k < (sockets > 0 ? sockets : 1); k++) {
            if (sockets > 0)
                host = add_one(g, node, "socket", k);
            for (int64_t cores = draw(r, 1, sockets > 2 ? 2 : 5), c = 0; c < cores; c++)
                add_one(g, host, "core", 8 * k + c);
        }
    }
    match_options_t options = {.policy = policies[draw(r, 0, 1)], .end = MATCH_END_MAX};
    r->match = machine_seal(g, &options);
    r->place = graph_place_create(r->match, NULL);
    CHECK(r->place && r->place->ops->part(r->place, NULL, NULL) == 0);
    r->ops = r->place->ops;
}

/* Of one: cores of a node, or of each of some, which it may have for itself; or of each of several sockets, which it may have for itself. Returns whether
 * the machine could.
 */
static bool know_one(struct run *r, struct place_ask *ask)
{
    static const char *const below[] = {
        "{type: slot, count: %d, label: s, with: [{type: core, count: %d}]}",
        "{type: slot, count: 1, label: s, with: [{type: socket, count: %d, with: [{type: core, "
        "count: "
        "%d}]}]}",
        "{type: socket, count: %d, with: [{type: slot, count: 1, label: s, with: [{type: core, "
        "count: "
        "%d}]}]}"};
    char text[TEXT], slot[TEXT / 2];
    int64_t kind = draw(r, 0, 6);
    snprintf(slot, sizeof(slot), below[kind == 0], (int)draw(r, 1, 2),
             (int)draw(r, 1, kind == 0 ? 2 : 3));
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [{type: node, count: %d%s, with: [%s]}], tasks: "
             "[{command: [a], "
             "slot: s, count: {per_slot: 1}}], attributes: {system: {duration: 0}}}",
             kind == 3 ? 2 : 1, kind == 4 ? ", exclusive: true" : "", slot);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    CHECK(spec);
    *ask = (struct place_ask){.duration = draw(r, 1, 12)};
    int rc = r->ops->know(r->place, spec, 0, true, &ask->class, &ask->units, NULL);
    jobspec_destroy(spec);
    return rc == 0;
}

/* Of several of one role, or of two. Returns whether the machine could. */
static bool know_several(struct run *r)
{
    struct place_ask one[2];
    struct place_role role[2];
    size_t n = draw(r, 0, 4) == 0 ? 2 : 1, known = 0;
    while (known < n && know_one(r, &one[known])) {
        role[known] =
            (struct place_role){one[known].class, (uint32_t)draw(r, 2, 5), (uint32_t)known};
        known++;
    }
    r->ask = (struct place_ask){.duration = draw(r, 1, 12)};
    bool is = known == n &&
              r->ops->gather(r->place, role, n, 0, true, &r->ask.class, &r->ask.units, NULL) == 0;
    while (known-- > 0)
        r->ops->forget(r->place, one[known].class);
    return is;
}

/* Others hold something, from now on or later. */
static void book_others(struct run *r)
{
    for (int i = 0; i < OTHERS; i++) {
        r->booking[i] = -1;
        r->is_lifted[i] = false;
        if (!know_one(r, &r->other[i]))
            continue;
        r->booking[i] =
            r->ops->book(r->place, &r->other[i], draw(r, 0, 2) == 0 ? draw(r, 1, 15) : 0);
        if (r->booking[i] < 0)
            r->ops->forget(r->place, r->other[i].class);
    }
}

static void lift_some(struct run *r)
{
    for (int i = 0; i < OTHERS; i++) {
        r->is_lifted[i] = r->booking[i] >= 0 && draw(r, 0, 1) == 0;
        if (r->is_lifted[i])
            r->ops->lift(r->place, r->booking[i], false);
    }
}

/* ---- The law ---- */

/* One of the others comes back. Whether the whole gang can be booked from scratch beside it. */
static bool fits_anew(struct run *r, int i, int64_t booking)
{
    r->ops->lift(r->place, booking, false);
    r->ops->drop(r->place, &r->other[i], r->booking[i]);
    int64_t anew = r->ops->book(r->place, &r->ask, 0);
    if (anew >= 0)
        r->ops->undo(r->place, anew);
    r->ops->lift(r->place, r->booking[i], false);
    r->ops->drop(r->place, &r->ask, booking);
    return anew >= 0;
}

/* Whether they are all there, and nobody else has what they hold. */
static bool is_whole(struct run *r, int64_t booking)
{
    r->ops->lift(r->place, booking, false);
    bool fits = r->ops->fits(r->place, &r->ask, booking);
    r->ops->drop(r->place, &r->ask, booking);
    return fits && r->ops->holds(r->place, booking) == r->ops->members(r->place, r->ask.class);
}

/* One of the others comes back, if all fit beside it. */
static void put_back(struct run *r, int i, int64_t booking)
{
    bool fits = fits_anew(r, i, booking);
    uint32_t all = r->ops->members(r->place, r->ask.class);
    CHECK(r->ops->loosen(r->place, booking, r->booking[i]) == 0);
    uint32_t left = r->ops->holds(r->place, booking);
    moved += left < all && fits;
    r->ops->drop(r->place, &r->other[i], r->booking[i]);
    bool is_mended = r->ops->mend(r->place, &r->ask, booking, 0) == 0;
    CHECK(is_mended == fits);
    r->is_lifted[i] = !fits;
    needed += !fits;
    back += fits;
    if (!fits) {
        r->ops->lift(r->place, r->booking[i], false);
        CHECK(r->ops->mend(r->place, &r->ask, booking, 0) == 0);
    }
    CHECK(is_whole(r, booking));
    CHECK(r->tries || r->ops->check(r->place)); /* while one is tried others are not counted */
}

static void mend_all(struct run *r)
{
    int64_t booking = r->ops->book(r->place, &r->ask, 0);
    if (booking < 0)
        return;
    bool may = r->ops->is_steady(r->place, &r->ask) && r->ops->may_mend(r->place, &r->ask);
    left_out += !may;
    for (int i = OTHERS; i-- > 0 && may;)
        if (r->is_lifted[i])
            put_back(r, i, booking);
    r->ops->undo(r->place, booking);
}

static void play(uint64_t seed)
{
    struct run *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    r->seed = seed;
    r->random = (struct random){seed};
    make_machine(r);
    book_others(r);
    lift_some(r);
    if (know_several(r)) {
        r->tries = draw(r, 0, 1) == 0 && r->ops->try_one(r->place, &r->ask);
        mend_all(r);
        if (r->tries)
            r->ops->try(r->place, false);
        CHECK(r->ops->check(r->place));
        r->ops->forget(r->place, r->ask.class);
    }
    for (int i = 0; i < OTHERS; i++)
        if (r->booking[i] >= 0) {
            r->ops->release(r->place, r->booking[i]);
            r->ops->forget(r->place, r->other[i].class);
        }
    r->ops->destroy(r->place);
    match_destroy(r->match);
    free(r);
}

static void all_fit_as_if_they_were_booked_anew(void **state)
{
    const char *first = getenv("PROP_SEED"), *count = getenv("PROP_COUNT");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    uint64_t n = count ? strtoull(count, NULL, 10) : RANDOM_ROUNDS(ROUNDS);
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        play(seed + i);
    print_message("back %llu, needed %llu, booked anew elsewhere %llu; never mended %llu\n",
                  (unsigned long long)back, (unsigned long long)needed, (unsigned long long)moved,
                  (unsigned long long)left_out);
    if (n >= RANDOM_ROUNDS(ROUNDS))
        assert_true(back > n / 4 && needed > n / 8 && moved > n / 10 && left_out > n / 100);
}

/* A class that is known; it could be. */
static void know(struct run *r, const char *resources, struct place_ask *ask)
{
    char text[TEXT];
    snprintf(text, sizeof(text),
             "{version: 9999, resources: [%s], tasks: [{command: [a], slot: s, count: {per_slot: "
             "1}}], attributes: {system: {duration: 0}}}",
             resources);
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    CHECK(spec);
    *ask = (struct place_ask){.duration = 10};
    CHECK(r->ops->know(r->place, spec, 0, true, &ask->class, &ask->units, NULL) == 0);
    jobspec_destroy(spec);
}

/* Where each takes cores on each of two sockets, which others may have a part of, how many fit in a node follows from who has
 * which: of sockets with one, one and two cores two fit if one has the first and the last, and one if it has the first two.
 */
static void sockets_are_not_mended(void **state)
{
    struct run one = {0}, *r = &one;
    struct place_ask two;
    match_options_t options = {.policy = "low", .end = MATCH_END_MAX};
    (void)state;
    r->match = machine_of("node(socket(2 core) socket(core) socket(2 core))", &options);
    r->place = graph_place_create(r->match, NULL);
    CHECK(r->place && r->place->ops->part(r->place, NULL, NULL) == 0);
    r->ops = r->place->ops;
    know(r,
         "{type: node, count: 1, with: [{type: socket, count: 2, with: [{type: slot, count: 1, "
         "label: s, with: [{type: core, count: 1}]}]}]}",
         &two);
    struct place_role role = {two.class, 2, 0};
    r->ask = (struct place_ask){.duration = 10};
    CHECK(r->ops->gather(r->place, &role, 1, 0, false, &r->ask.class, &r->ask.units, NULL) == 0);
    CHECK(r->ops->is_steady(r->place, &r->ask) && !r->ops->may_mend(r->place, &r->ask));
    r->ops->destroy(r->place);
    match_destroy(r->match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_fit_as_if_they_were_booked_anew),
                                       cmocka_unit_test(sockets_are_not_mended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
