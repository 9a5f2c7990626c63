/* What could be booked if some of what is booked were not: for questions, which change nothing (what_if.c). */
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

void graph_place_unprobe(struct place *place, int64_t booking)
{
    match_plan_forget(graph_place_of(place)->match, booking);
}

/* Rows and gaps stay as they are: they will be right again. */
void graph_place_set_aside(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);

    match_job_lift(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], false);
}

void graph_place_put_back(struct place *place, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);

    match_job_return(n->match, booking);
    graph_place_count(n, booking, &n->bookings[booking], !match_job_is_forced(n->match, booking));
}
