/* Where the policy chooses more nodes than limits leave: a job may be on nodes that its user and queue have, or on fewer. */
#include "sched/controllers/limiter_priv.h"
#include "sched/queues.h"

static void allow(void *arg, uint32_t node)
{
    const struct measured *m = arg;
    m->s->place->ops->allow(m->s->place, node);
}

/* Whether nodes are limited of a job that could be on fewer of them than a booking. */
static bool is_wide(const sched_t *s, uint32_t slot, struct measured *m)
{
    return !s->place->is_counted &&
           limits_names_nodes(s->queues->limits, s->jobs[slot].details->party) &&
           measure_held(m, "node") > measure_wanted(m, "node");
}

/* Whether such a booking is over a limit by itself. */
static bool is_too_wide(const sched_t *s, uint32_t slot, struct measured *m)
{
    return is_wide(s, slot, m) &&
           measure_held(m, "node") >
               limits_most_nodes(s->queues->limits, s->jobs[slot].details->party);
}

/* Whether user or queue have some nodes of which it could be on. */
static bool may_join(const sched_t *s, uint32_t slot, struct measured *m)
{
    return limits_has_shared(s->queues->limits, s->jobs[slot].details->party) &&
           measure_shared(m, slot);
}

/* Nodes that they have, and of those that the booking has beside them, or only some of them have, as many as are left. */
static int narrow_to_theirs(const sched_t *s, uint32_t slot, struct measured *m,
                            struct limits_window window, struct limits_room room)
{
    bool others = limits_narrow_others(s->queues->limits, s->jobs[slot].details->party, window,
                                       measure_shared(m, slot), allow, m);
    return room.any || others;
}

/* As many nodes as its limits leave, of all; where they leave none, of those that they have and that only some of them have. Looks
 * at each node.
 */
static int narrow_to_few(sched_t *s, uint32_t slot, struct measured *m, struct limits_window window,
                         struct limits_room room, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    if (room.others >= measure_wanted(m, "node"))
        job->details->calendar = NO_CALENDAR; /* else what they have is in the way */
    if (room.others == 0)
        narrow_to_theirs(s, slot, m, window, room);
    return s->place->ops->allow_few(s->place, &job->ask, m->booking, at, room.nodes, room.others) <
                   0
               ? -1
               : 1;
}

int narrow_nodes(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    struct measured m = {.s = s, .booking = booking, .class = job->ask.class};
    struct limits_window window = limits_window_of(s, slot, booking, at, at + job->ask.duration);
    bool too_wide = is_too_wide(s, slot, &m);
    job->details->was_wide |= is_wide(s, slot, &m);
    if (!too_wide && !may_join(s, slot, &m))
        return 0;
    if (ops->narrow(s->place, &job->ask, false) < 0)
        return -1;
    struct limits_room room =
        limits_narrow(s->queues->limits, job->details->party, window, allow, &m);
    int rc = too_wide ? narrow_to_few(s, slot, &m, window, room, at)
                      : narrow_to_theirs(s, slot, &m, window, room);
    if (rc <= 0)
        ops->narrow(s->place, NULL, false);
    return rc;
}

bool may_be_narrow(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    uint32_t i = 0, node;
    return !s->place->is_counted && limits_names_nodes(s->queues->limits, job->details->party) &&
           (job->details->was_wide ||
            s->place->ops->next_shared(s->place, job->booking, &i, &node));
}

int64_t narrow_next(const sched_t *s, uint32_t slot, int64_t booking, int64_t at, int64_t next)
{
    struct measured m = {.s = s, .booking = booking, .class = s->jobs[slot].ask.class};
    uint32_t party = s->jobs[slot].details->party;
    return is_too_wide(s, slot, &m) || limits_has_shared(s->queues->limits, party)
               ? limits_next_change(s->queues->limits, party, at, next)
               : next;
}
