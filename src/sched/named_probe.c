/* What could be booked if some of what is booked were not: for questions, which change nothing (what_if.c). */
#include <errno.h>

#include "sched/named_priv.h"

int64_t named_probe(struct place *place, const struct place_ask *ask, int64_t at)
{
    struct named *n = named_of(place);

    if (!class_of(n, ask)) {
        errno = EINVAL;
        return -1;
    }
    if (named_freshen(n) < 0)
        return -1;
    struct plan_ask plan = named_plan(n, ask);
    return match_plan_probe(n->match, &plan, NAMED_TEMP, at) < 0 ? -1 : NAMED_TEMP;
}

void named_unprobe(struct place *place, int64_t booking)
{
    match_plan_forget(named_of(place)->match, booking);
}

/* Rows and gaps stay as they are: they will be right again. */
void named_set_aside(struct place *place, int64_t booking)
{
    struct named *n = named_of(place);

    match_job_lift(n->match, booking);
    named_count(n, booking, &n->bookings[booking], false);
}

void named_put_back(struct place *place, int64_t booking)
{
    struct named *n = named_of(place);

    match_job_return(n->match, booking);
    named_count(n, booking, &n->bookings[booking], !match_job_is_forced(n->match, booking));
}
