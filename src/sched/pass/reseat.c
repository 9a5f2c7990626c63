/* Holders whose reservations are looked at anew (outrank.c, repair.c): each is taken out of the calendars,
 * and gets its place back where it still fits, or another one.
 */
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

void holder_lift(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    if (job->is_lifted)
        return;
    s->place->ops->lift(s->place, job->booking, false);
    controllers_set_aside(s, slot);
    job->is_lifted = true;
    s->booked++;
}

void holder_return(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    s->place->ops->drop(s->place, &job->ask, job->booking);
    controllers_put_back(s, slot);
    job->is_lifted = false;
    s->booked++;
}

bool holder_put_back(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    const struct place_ops *ops = s->place->ops;
    if (job->is_claiming)
        return claim_put_back(s, slot);
    if (!(job->is_preempting ? ops->is_there : ops->fits)(s->place, &job->ask, job->booking) ||
        !(job->is_preempting ? starts_clear(s, slot, job->booking)
                             : controllers_may_return(s, slot) && still_keeps_promises(s, slot)))
        return false;
    holder_return(s, slot);
    judge_anew(s, slot);
    return true;
}

enum step holder_reseat(sched_t *s, uint32_t slot)
{
    bool is_due = displaced_is_due(s, slot);
    s->jobs[slot].is_placed |= is_due;
    if (holder_put_back(s, slot)) {
        array_filled(s, slot); /* others may have started since it was taken out */
        bool stays = !is_due || s->jobs[slot].at < s->now; /* its time has come, as in the sweep */
        return !stays && holder_pull(s, slot) < 0 ? STEP_FAILED : STEP_DONE;
    }
    struct lane *lane = lane_of(s, slot);
    int64_t was = displaced_from(&s->jobs[slot]);
    bool displaces =
        s->replan.displaces || (s->jobs[slot].details && s->jobs[slot].details->displaced >= 0);
    if (open_reserve(s, slot) < 0 || held_to_open(s, slot, false) < 0)
        return STEP_FAILED;
    enum step step = starving_may(s, slot) ? promise_starving(s, slot) : promise(s, slot);
    if (step == STEP_FAILED)
        open_renew(s, slot); /* there is room for it */
    if (displaces)
        displaced_begin(s, slot, was);
    return step == STEP_FAILED || lane_keep(s, lane) < 0 ? STEP_FAILED : STEP_DONE;
}
