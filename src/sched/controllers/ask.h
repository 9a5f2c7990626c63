/* All controllers are asked, or told, in the order of the table (controller.h says of what). Inline, as
 * most schedulers that replay traces have none.
 */
#ifndef SCHED_ASK_H
#define SCHED_ASK_H

#include "sched/controllers/controller.h"
#include "sched/queues.h"

/* Go through the rows that have something to do. */
#define EACH(s, c, what)                                                                           \
    for (const struct controller *const *c = (s)->controllers; *c; c++)                            \
        if ((*c)->what)

/* The reasons for which a submitted job is to wait, as BLOCK_...; -1 with ENOMEM. */
static inline int controllers_wait(sched_t *s, uint32_t slot, const struct sched_request *request)
{
    int blocked = 0;
    EACH (s, c, waits) {
        int waits = (*c)->waits(s, slot, request);
        if (waits < 0)
            return -1;
        blocked |= waits ? (*c)->block : 0;
    }
    return blocked;
}

static inline void controllers_entered(sched_t *s, uint32_t slot)
{
    EACH (s, c, entered)
        (*c)->entered(s, slot);
}

static inline int controllers_part(sched_t *s, uint32_t slot, uint32_t part)
{
    EACH (s, c, part)
        if (s->jobs[slot].details->blocked & (*c)->block && (*c)->part(s, slot, part) < 0)
            return -1;
    return 0;
}

static inline void controllers_parted(sched_t *s, uint32_t part)
{
    EACH (s, c, parted)
        if (s->jobs[part].details->blocked & (*c)->block)
            (*c)->parted(s, part);
}

static inline int controllers_prepare(sched_t *s, uint32_t slot)
{
    EACH (s, c, prepare)
        if ((*c)->prepare(s, slot) < 0)
            return -1;
    return 0;
}

static inline void controllers_started(sched_t *s, uint32_t slot, enum sched_how how)
{
    EACH (s, c, started)
        (*c)->started(s, slot, how);
}

static inline void controllers_released(sched_t *s, uint32_t slot)
{
    EACH (s, c, released)
        (*c)->released(s, slot);
}

static inline void controllers_requeued(sched_t *s, uint32_t slot)
{
    EACH (s, c, requeued)
        (*c)->requeued(s, slot);
}

static inline void controllers_ended(sched_t *s, uint32_t slot, enum job_end end)
{
    EACH (s, c, ended)
        (*c)->ended(s, slot, end);
}

static inline void controllers_forgotten(sched_t *s, uint32_t slot)
{
    EACH (s, c, forgotten)
        (*c)->forgotten(s, slot);
}

static inline enum step controllers_resolve(sched_t *s)
{
    EACH (s, c, resolve) {
        enum step step = (*c)->resolve(s);
        if (step != STEP_BUSY)
            return step;
    }
    return STEP_BUSY;
}

static inline enum step controllers_gate(sched_t *s, uint32_t slot)
{
    enum step step = STEP_BUSY;
    for (const struct controller *const *c = s->controllers; *c && step == STEP_BUSY; c++)
        if ((*c)->gate)
            step = (*c)->gate(s, slot);
    return step;
}

/* What one row refuses, those before it have not counted. */
static inline enum step controllers_count(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    EACH (s, c, count) {
        enum step step = (*c)->count(s, slot, booking, at);
        if (step == STEP_BUSY)
            continue;
        while (c-- > s->controllers)
            if ((*c)->uncount)
                (*c)->uncount(s, slot, booking);
        return step;
    }
    return STEP_BUSY;
}

static inline void controllers_uncount(sched_t *s, uint32_t slot, int64_t booking)
{
    EACH (s, c, uncount)
        (*c)->uncount(s, slot, booking);
}

static inline void controllers_set_aside(sched_t *s, uint32_t slot)
{
    EACH (s, c, set_aside)
        (*c)->set_aside(s, slot);
}

static inline void controllers_put_back(sched_t *s, uint32_t slot)
{
    EACH (s, c, put_back)
        (*c)->put_back(s, slot);
}

static inline void controllers_freed(sched_t *s, uint32_t slot)
{
    EACH (s, c, freed)
        (*c)->freed(s, slot);
}

static inline int controllers_narrow(sched_t *s, uint32_t slot, int64_t booking, int64_t at)
{
    int narrows = 0;
    for (const struct controller *const *c = s->controllers; *c && narrows == 0; c++)
        if ((*c)->narrow)
            narrows = (*c)->narrow(s, slot, booking, at);
    return narrows;
}

static inline int64_t controllers_rethink(const sched_t *s, uint32_t slot, int64_t booking,
                                          int64_t at, int64_t next)
{
    EACH (s, c, rethink)
        next = (*c)->rethink(s, slot, booking, at, next);
    return next;
}

static inline int controllers_open(sched_t *s, uint32_t slot, int64_t booking, int64_t at,
                                   int64_t until)
{
    EACH (s, c, open)
        if ((*c)->open(s, slot, booking, at, until) < 0)
            return -1;
    return 0;
}

static inline void controllers_close(sched_t *s, uint32_t slot, int64_t at, int64_t until)
{
    EACH (s, c, close)
        (*c)->close(s, slot, at, until);
}

/* The first time on or after `from` from which on all let it. */
static inline int64_t controllers_when(const sched_t *s, uint32_t slot, int64_t booking,
                                       int64_t from)
{
    EACH (s, c, when)
        from = (*c)->when(s, slot, booking, from);
    return from;
}

static inline enum step controllers_keep(sched_t *s, uint32_t slot)
{
    enum step step = STEP_BUSY;
    for (const struct controller *const *c = s->controllers; *c && step == STEP_BUSY; c++)
        if ((*c)->keep)
            step = (*c)->keep(s, slot);
    return step;
}

static inline int controllers_enter(sched_t *s, uint32_t slot, int64_t booking, int64_t at,
                                    int64_t until)
{
    EACH (s, c, enter)
        if ((*c)->enter(s, slot, booking, at, until) < 0)
            return -1;
    return 0;
}

/* Another end of what a job holds is to be counted. Returns 0, or -1 with ENOMEM and nothing changed. */
static inline int controllers_extend(sched_t *s, uint32_t slot, int64_t until)
{
    const struct job *job = &s->jobs[slot];
    return job->details->is_counted ? controllers_enter(s, slot, job->booking, job->at, until) : 0;
}

/* Count what a held job holds anew, from now on: it starts, or what limits are for may have changed. */
static inline enum step controllers_count_held(sched_t *s, uint32_t slot, int64_t at)
{
    controllers_set_aside(s, slot);
    return controllers_count(s, slot, s->jobs[slot].booking, at);
}

static inline bool controllers_may_ask(const sched_t *s, uint32_t slot, const struct place_ask *ask,
                                       int64_t at)
{
    EACH (s, c, may_ask)
        if (!(*c)->may_ask(s, slot, ask, at))
            return false;
    return true;
}

static inline bool controllers_may_hold(const sched_t *s, uint32_t slot, int64_t duration,
                                        int64_t booking, int64_t at)
{
    EACH (s, c, may_hold)
        if (!(*c)->may_hold(s, slot, duration, booking, at))
            return false;
    return true;
}

/* Whether what a held job has, which is set aside, may be put back where it was. */
static inline bool controllers_may_return(const sched_t *s, uint32_t slot)
{
    EACH (s, c, may_return)
        if (!(*c)->may_return(s, slot))
            return false;
    return true;
}

/* Why a blocked job waits: the first row that keeps it out of its lane says so. */
static inline void controllers_reason(const sched_t *s, uint32_t slot, struct sched_reason *why)
{
    EACH (s, c, reason)
        if (s->jobs[slot].details->blocked & (*c)->block) {
            (*c)->reason(s, slot, why);
            return;
        }
}

/* As many as there are: what is left without memory, the next pass does. */
static inline void controllers_resolve_all(sched_t *s)
{
    while (controllers_resolve(s) == STEP_DONE)
        ;
}

/* One row after the other: pass.row is the one that is at work. */
static inline enum step controllers_turn(sched_t *s)
{
    const struct controller *c;
    for (; (c = s->controllers[s->pass.row]) != NULL; s->pass.row++) {
        enum step step = c->turn ? c->turn(s) : STEP_BUSY;
        if (step != STEP_BUSY)
            return step;
    }
    return STEP_BUSY;
}

static inline enum step controllers_settle(sched_t *s, bool again)
{
    const struct controller *c;
    for (; (c = s->controllers[s->pass.row]) != NULL; s->pass.row++) {
        enum step step = c->settle ? c->settle(s, again) : STEP_BUSY;
        if (step != STEP_BUSY)
            return step;
    }
    return STEP_BUSY;
}

static inline enum step controllers_make_room(sched_t *s, uint32_t slot)
{
    enum step step = STEP_BUSY;
    for (const struct controller *const *c = s->controllers; *c && step == STEP_BUSY; c++)
        if ((*c)->make_room)
            step = (*c)->make_room(s, slot);
    return step;
}

static inline enum step controllers_make_room_for_holder(sched_t *s, uint32_t slot)
{
    enum step step = STEP_BUSY;
    for (const struct controller *const *c = s->controllers; *c && step == STEP_BUSY; c++)
        if ((*c)->make_room_for_holder)
            step = (*c)->make_room_for_holder(s, slot);
    return step;
}

static inline bool controllers_may_make_room(const sched_t *s, const struct lane *lane)
{
    EACH (s, c, may_make_room)
        if ((*c)->may_make_room(s, lane))
            return true;
    return false;
}

static inline void controllers_passed(sched_t *s)
{
    EACH (s, c, passed)
        (*c)->passed(s);
}

static inline int64_t controllers_next_time(const sched_t *s)
{
    int64_t next = INT64_MAX;
    EACH (s, c, next_time) {
        int64_t time = (*c)->next_time(s);
        next = time < next ? time : next;
    }
    return next;
}

#undef EACH

#endif
