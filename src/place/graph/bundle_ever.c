/* Whether all of a bundle fit together on an idle machine, all up: by placing them on it, at a time at which nobody else is
 * there.
 */
#include <errno.h>

#include "place/graph/bundle.h"

#define OPS   graph_place_ops
#define TRIED (BUNDLE_BOOKING << 1) /* the first of their numbers, which bookings don't have */

/* Where all are to fit. */
struct where {
    const uint64_t *within; /* among these vertices; NULL: those of their part */
    uint64_t blocks;        /* beside these blocks, by number, which last for ever */
    bool is_up;             /* on what is up of it */
};

/* Place all members there, as many as there is room for. Returns how many, or -1 with ENOMEM less those. */
static int64_t place_all(struct graph_place *n, const struct bundle_class *b,
                         const struct where *where)
{
    int64_t placed = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct class *c = &n->classes[b->role[i].class];
        struct plan_ask ask = {.spec = c->spec,
                               .within = where->within ? where->within : n->parts[c->part].within,
                               .duration = 1,
                               .is_up = where->is_up};
        for (uint32_t k = 0; k < b->role[i].count; k++, placed++)
            if (match_plan_last(n->match, &ask, where->blocks, TRIED + placed) < 0)
                return errno == ENOMEM ? -1 - placed : placed;
    }
    return placed;
}

/* Whether all fit there: 1, 0, or -1 with ENOMEM. */
static int fits(struct graph_place *n, const struct bundle_class *b, const struct where *where)
{
    int64_t placed = place_all(n, b, where);
    bool failed = placed < 0;
    int64_t there = failed ? -1 - placed : placed;
    while (there > 0)
        match_cancel(n->match, TRIED + --there, NULL, NULL);
    if (failed) {
        errno = ENOMEM;
        return -1;
    }
    return placed == b->total;
}

int bundle_fits_within(struct graph_place *n, const struct bundle_class *b, const uint64_t *within)
{
    return fits(n, b, &(struct where){.within = within});
}

int bundle_fits_ever(struct graph_place *n, struct bundle_class *b)
{
    if (b->tried == n->changes + 1)
        return !b->never;
    int rc = fits(n, b, &(struct where){0});
    if (rc < 0)
        return -1;
    b->tried = n->changes + 1;
    b->never = rc == 0;
    return rc;
}

/* Each of its roles, and then all together. */
int bundle_ever(struct place *place, const struct place_ask *ask, uint64_t blocks)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(ask->class))
        return OPS.ever(place, ask, blocks);
    struct bundle_class *b = &n->bundles->class[ask->class & ~BUNDLE_CLASS];
    for (uint32_t i = 0; i < b->n; i++) {
        struct place_ask one = bundle_role_ask(place, ask, i);
        if (OPS.ever(place, &one, blocks) < 0)
            return -1;
    }
    struct judgement is = {blocks, n->changes, n->block_changes, false};
    if (blocks && (b->beside.blocks != blocks || b->beside.changes != is.changes ||
                   b->beside.block_changes != is.block_changes)) {
        int rc = fits(n, b, &(struct where){.blocks = blocks});
        if (rc < 0)
            return -1;
        is.never = rc == 0;
        b->beside = is;
    }
    errno = ENODEV;
    return blocks && b->beside.never ? -1 : 0;
}

/* The same of what is up. */
int bundle_could_up(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(class))
        return graph_place_could_up(place, class);
    struct bundle_class *b = &n->bundles->class[class & ~BUNDLE_CLASS];
    for (uint32_t i = 0; i < b->n; i++)
        if (graph_place_could_up(place, b->role[i].class) < 0)
            return -1;
    uint64_t now = n->changes + n->status_changes + 1;
    if (b->up.as_of != now) {
        int rc = fits(n, b, &(struct where){.is_up = true});
        if (rc < 0)
            return -1;
        b->up = (struct up_judgement){now, rc == 0};
    }
    errno = ENODEV;
    return b->up.never ? -1 : 0;
}
