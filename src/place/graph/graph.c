/* A machine that is a graph, as a place (place/graph.h). */
#include "place/graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "place/graph/bundle.h"
#include "place/graph/graph_priv.h"

static void tell_now(struct place *place, int64_t now)
{
    graph_place_tell(graph_place_of(place), now);
}

static bool graph_place_check(const struct place *place)
{
    const struct graph_place *n = graph_place_of(place);

    return match_check(n->match) && graph_place_parts_check(n) && capacity_check(n) &&
           graph_place_classes_check(graph_place_of(place)) && freed_check(&n->freed_nodes);
}

static uint64_t graph_place_blocks(const struct place *place, int64_t booking)
{
    return match_job_blocks(graph_place_of(place)->match, booking);
}

static void graph_place_destroy(struct place *place)
{
    struct graph_place *n = graph_place_of(place);

    for (uint32_t i = 0; i < n->n_bookings; i++) {
        if (n->bookings[i].used)
            match_cancel(n->match, i, NULL, NULL);
        booking_forget_note(&n->bookings[i]);
        free(n->bookings[i].others);
        free(n->bookings[i].node);
    }
    for (uint32_t i = 0; i < BLOCKS_MAX; i++)
        match_block(n->match, i, NULL, 0, 0, 0, 0);
    free(n->bookings);
    graph_place_classes_clear(n);
    bundles_clear(n);
    capacity_clear(n);
    graph_place_parts_clear(n);
    free(n->touched);
    free(n->marked);
    free(n->among);
    free(n->meets);
    free(n->those);
    free(n->units);
    free(n->narrow);
    free(n->outer);
    core_ids_clear(n);
    strbuf_clear(&n->text);
    free(n);
}

/* What a bundle is asked as anything else. */
#define FOR_ALL                                                                                    \
    .idle = graph_place_idle, .rooms = graph_place_rooms, .check = graph_place_check,              \
    .destroy = graph_place_destroy, .part = graph_place_part, .settle = graph_place_settle,        \
    .hints = graph_place_hints, .take_hints = graph_place_take_hints, .try = graph_place_try,      \
    .tell = tell_now, .allow = graph_place_allow, .allow_few = graph_place_allow_few,              \
    .ever_on = graph_place_ever_on, .total = graph_place_total, .up = graph_place_up,              \
    .change = graph_place_change, .block = graph_place_block, .turn = graph_place_turn

const struct place_ops graph_place_ops = {
    FOR_ALL,
    .when = graph_place_when,
    .book = graph_place_book,
    .release = graph_place_release,
    .undo = graph_place_undo,
    .start = graph_place_start,
    .allocate = graph_place_allocate,
    .pull = graph_place_pull,
    .given = graph_place_given,
    .know = graph_place_know,
    .ever = graph_place_ever,
    .could_up = graph_place_could_up,
    .forget = graph_place_forget,
    .units = graph_place_units,
    .is_short = graph_place_is_short,
    .longest = graph_place_longest,
    .is_stuck = graph_place_is_stuck,
    .reserve = graph_place_reserve,
    .probe = graph_place_probe,
    .betters = graph_place_betters,
    .wants = graph_place_wants,
    .lift = graph_place_lift,
    .drop = graph_place_drop,
    .fits = graph_place_fits,
    .is_there = graph_place_is_there,
    .extend = graph_place_extend,
    .adopt = graph_place_adopt,
    .give = graph_place_give,
    .amount = graph_place_amount,
    .clear = graph_place_clear,
    .next_shared = graph_place_next_shared,
    .narrow = graph_place_narrow,
    .deny = graph_place_deny,
    .write = graph_place_write,
    .lacks = graph_place_lacks,
    .useful = graph_place_useful,
    .mark = graph_place_mark,
    .meets = graph_place_meets,
    .try_one = graph_place_try_one,
    .is_steady = graph_place_is_steady,
    .weigh = graph_place_weigh,
    .keep_free = graph_place_keep_free,
    .blocks = graph_place_blocks,
    .touches = graph_place_touches,
};

static const struct place_ops bundle_ops = {
    FOR_ALL,
    .when = bundle_when,
    .book = bundle_book,
    .release = bundle_release,
    .undo = bundle_undo,
    .start = bundle_start,
    .allocate = bundle_allocate,
    .pull = bundle_pull,
    .given = bundle_given,
    .know = bundle_know,
    .ever = bundle_ever,
    .could_up = bundle_could_up,
    .forget = bundle_forget,
    .units = bundle_units,
    .is_short = bundle_is_short,
    .longest = bundle_longest,
    .is_stuck = bundle_is_stuck,
    .reserve = bundle_reserve,
    .probe = bundle_probe,
    .betters = bundle_betters,
    .wants = bundle_wants,
    .lift = bundle_lift,
    .drop = bundle_drop,
    .fits = bundle_fits,
    .lay = bundle_lay,
    .shift = bundle_shift,
    .stands = bundle_stands,
    .free_beside = graph_place_free_beside,
    .withheld = graph_place_withheld,
    .is_there = bundle_is_there,
    .extend = bundle_extend,
    .give = bundle_give,
    .adopt = bundle_adopt,
    .amount = bundle_amount,
    .amount_of_one = bundle_amount_of_one,
    .clear = bundle_clear,
    .next_shared = bundle_next_shared,
    .narrow = bundle_narrow,
    .deny = bundle_deny,
    .write = bundle_write,
    .lacks = bundle_lacks,
    .useful = bundle_useful,
    .mark = bundle_mark,
    .meets = bundle_meets,
    .try_one = bundle_try_begin,
    .is_steady = bundle_is_steady,
    .may_mend = bundle_may_mend,
    .loosen = bundle_loosen,
    .mend = bundle_mend,
    .weigh = bundle_weigh,
    .keep_free = bundle_keep_free,
    .blocks = bundle_blocks,
    .blocks_of_one = bundle_blocks_of_one,
    .touches = bundle_touches,
    .gather = bundle_gather,
    .is_bundle = bundle_is,
    .at_most = bundle_at_most,
    .members = bundle_members,
    .holds = bundle_holds,
    .room = bundle_room,
    .first = bundle_first,
    .first_role = bundle_first_role,
    .detach = bundle_detach,
};

struct place *graph_place_create(match_t *match, berth_error_t *err)
{
    struct graph_place *n = calloc(1, sizeof(*n));
    uint16_t node;

    if (!n) {
        errtext_no_memory(err);
        return NULL;
    }
    n->place.ops = &bundle_ops;
    n->place.most = INT64_MAX;
    n->place.is_fixed = !match_order_is_dynamic(match);
    n->place.endless = match_end(match) / 2;
    n->match = match;
    n->graph = match_inner_graph(match);
    n->free_class = n->free_booking = PLACE_NONE;
    n->turn = INT64_MAX;
    freed_init(&n->place.freed, &n->freed_nodes);
    n->any_down = true;
    n->has_unit = match_part_amount(match, NULL, TYPE_CORE, false) > 0;
    n->unit = TYPE_CORE;
    if (!n->has_unit && graph_place_type(n, "node", &node)) {
        n->has_unit = match_part_amount(match, NULL, node, false) > 0;
        n->unit = node;
    }
    if (graph_place_part(&n->place, NULL, err) == 0)
        return &n->place;
    int saved = errno;
    graph_place_destroy(&n->place);
    errno = saved;
    return NULL;
}
