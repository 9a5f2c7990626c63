/* Jobs that the machine has taken a promise from, or could not give one.
 *
 * A node goes down, a block is set, a job lasts longer, a configuration has other limits: a reservation does not fit any
 * more, and gets a later time, or none. When something comes back, the job's old time may be free again, or be promised to others
 * by then, who were behind it. So the job is displaced until it has that time again, or an earlier one, or
 * starts, or loses what it is promised for a reason of its own (a hold, another priority). Each time that
 * something comes back, a displaced job takes its turn by its rank, as one that is new (outrank.c): those
 * behind it keep what they are promised as far as that fits then. So does a job whose turn to be promised a
 * time came while too much was down for it, or held by jobs of unknown end: it is displaced until it has a time,
 * whichever, and the end of such a job is one of the things that come back; so is what such a job was to have that
 * starts elsewhere.
 */
#include "sched/pass/displaced.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

void displaced_begin(sched_t *s, uint32_t slot, int64_t promised)
{
    const struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    bool waits = job->state == SCHED_WAITING || job->state == SCHED_BLOCKED ||
                 (job->state == SCHED_RESERVED && job->at > promised);
    if (!d || !waits)
        return;
    s->queues->n_displaced += d->displaced < 0;
    if (d->displaced < 0 || promised < d->displaced)
        d->displaced = promised;
}

int64_t displaced_from(const struct job *job)
{
    const struct details *d = job->details;
    return d && d->displaced >= 0 && d->displaced < job->at ? d->displaced : job->at;
}

int displaced_to_open(sched_t *s, uint32_t slot)
{
    int64_t promised = displaced_from(&s->jobs[slot]);
    if (held_to_open(s, slot, true) < 0)
        return -1;
    displaced_begin(s, slot, promised);
    return 0;
}

void displaced_end(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (!d || d->displaced < 0)
        return;
    d->displaced = -1;
    s->queues->n_displaced--;
}

void displaced_moved(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (job->details && job->at <= job->details->displaced)
        displaced_end(s, slot);
}

void displaced_return(sched_t *s)
{
    s->queues->is_back |= s->queues->n_displaced > 0;
}

void displaced_leave(sched_t *s, uint32_t slot)
{
    if (lane_of(s, slot)->depth == 0 && s->jobs[slot].ask.duration >= s->place->endless)
        displaced_return(s);
}

bool displaced_are_back(const sched_t *s)
{
    return s->queues->is_back && !s->pass.has_renewed;
}

int displaced_renew_again(sched_t *s)
{
    if (!displaced_are_back(s))
        return 0;
    s->pass.has_renewed = true;
    return displaced_renew(s);
}

int displaced_renew(sched_t *s)
{
    struct queues *n = s->queues;
    uint32_t slot = n->is_back ? n->first : JOB_NONE;
    for (; slot != JOB_NONE; slot = s->jobs[slot].details->following) {
        const struct job *job = &s->jobs[slot];
        bool waits = job->state == SCHED_WAITING || job->state == SCHED_RESERVED;
        if (waits && job->details->displaced >= 0 && open_renew(s, slot) < 0)
            return -1;
    }
    n->is_back = false;
    return 0;
}

bool displaced_is_due(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_RESERVED && job->is_fresh && !job->is_placed && job->details &&
           job->details->displaced >= 0 && !job->is_preempting && !job->is_claiming;
}
