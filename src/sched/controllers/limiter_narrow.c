/* Where the policy chooses more nodes than limits leave: a job may be on nodes that its user and queue have, or on fewer. */
#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"

static void allow(void *arg, uint32_t node)
{
    const struct measured *m = arg;
    m->s->place->ops->allow(m->s->place, node);
}

/* Whether it could be on fewer nodes than a booking has, or on some that user and queue have. */
static bool may_narrow(const sched_t *s, uint32_t slot, struct measured *m)
{
    uint32_t party = s->jobs[slot].details->party;
    return !s->place->is_counted && limits_names_nodes(s->queues->limits, party) &&
           (measure_held(m, "node") > measure_wanted(m, "node") ||
            (limits_has_shared(s->queues->limits, party) && measure_shared(m, slot)));
}

int narrow_nodes(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    struct measured m = {.s = s, .booking = booking, .class = job->ask.class};
    struct limits_window window = limits_window_of(s, slot, booking, at, at + job->ask.duration);
    if (!may_narrow(s, slot, &m))
        return 0;
    if (ops->narrow(s->place, &job->ask, false) < 0)
        return -1;
    struct limits_room room =
        limits_narrow(s->queues->limits, job->details->party, window, allow, &m);
    if (room.others >= measure_wanted(&m, "node"))
        job->details->calendar = NO_CALENDAR; /* else what they have is in the way */
    if (ops->allow_few(s->place, &job->ask, booking, at, room.nodes, room.others) == 0)
        return 1;
    ops->narrow(s->place, NULL, false);
    return -1;
}

int64_t narrow_next(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t next)
{
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    uint32_t party = s->jobs[slot].details->party;
    return may_narrow(s, slot, &m) || limits_has_shared(s->queues->limits, party)
               ? limits_next_change(s->queues->limits, party, at, next)
               : next;
}
