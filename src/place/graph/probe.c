/* What could be booked if some of what is booked were not: for questions, which change nothing (what_if.c).
 * 
 */
#include <errno.h>

#include "place/graph/graph_priv.h"

int64_t graph_place_probe(struct place *place, const struct place_ask *ask, int64_t at)
{
    struct graph_place *n = graph_place_of(place);

    if (!class_of(n, ask)) {
        errno = EINVAL;
        return -1;
    }
    if (graph_place_refresh(n) < 0)
        return -1;
    struct plan_ask plan = graph_place_plan(n, ask);
    return match_plan_probe(n->match, &plan, BOOKING_TEMP, at) < 0 ? -1 : BOOKING_TEMP;
}
