/* Whether all of a bundle fit together on an idle machine, all up: by placing them on it, at a time at which nobody else is
 * there.
 */
#include <errno.h>

#include "place/graph/bundle.h"

#define TRIED (BUNDLE_BOOKING << 1) /* the first of their numbers, which bookings don't have */

/* Place all members among some vertices (NULL: those of their part), as many as there is room for. Returns how many, or -1 with ENOMEM less
 * those.
 */
static int64_t place_all(struct graph_place *n, const struct bundle_class *b,
                         const uint64_t *within)
{
    int64_t placed = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct class *c = &n->classes[b->role[i].class];
        struct plan_ask ask = {
            .spec = c->spec, .within = within ? within : n->parts[c->part].within, .duration = 1};
        for (uint32_t k = 0; k < b->role[i].count; k++, placed++)
            if (match_plan_last(n->match, &ask, TRIED + placed) < 0)
                return errno == ENOMEM ? -1 - placed : placed;
    }
    return placed;
}

int bundle_fits_within(struct graph_place *n, const struct bundle_class *b, const uint64_t *within)
{
    int64_t placed = place_all(n, b, within);
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

int bundle_fits_ever(struct graph_place *n, struct bundle_class *b)
{
    if (b->tried == n->changes + 1)
        return !b->never;
    int fits = bundle_fits_within(n, b, NULL);
    if (fits < 0)
        return -1;
    b->tried = n->changes + 1;
    b->never = fits == 0;
    return fits;
}
