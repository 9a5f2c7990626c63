/* Jobs that wait for something else than resources, and jobs that are rejected. */
#include "sched/controllers/arrays.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/queues.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/lane.h"

void job_block(sched_t *s, uint32_t slot, uint8_t reason)
{
    struct job *job = &s->jobs[slot];
    if (reason & GANG_AWAY && gang_of(s, slot))
        gang_due(s, gang_of(s, slot)); /* the others may be too few without it */
    if (job->state == SCHED_WAITING) {
        open_remove(s, slot);
        job->is_fresh = false; /* when it goes on it is new, also in a pass that has begun */
    } else if (job->state == SCHED_RESERVED) {
        held_release(s, slot);
        s->swept = false;
        s->pass.has_made_room = true; /* others may have it in a pass that is under way */
    }
    job->state = SCHED_BLOCKED;
    if (reason & (BLOCKS_PENDING | BLOCK_GANG | BLOCK_TURN))
        job->details->blocked &= (uint8_t)~BLOCK_LIMIT; /* it takes its turn anew after that */
    job->details->blocked |= reason;
    tell_later(s, slot);
}

int job_unblock(sched_t *s, uint32_t slot, uint8_t reason)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    uint8_t before = d->blocked;
    d->blocked &= (uint8_t)~reason;
    if (d->blocked & BLOCK_GANG && !(d->blocked & GANG_AWAY) && gang_of(s, slot))
        gang_due(s, gang_of(s, slot)); /* it may be what the others have waited for */
    if (reason & GANG_AWAY)
        gang_array_changed(s, slot);
    if (job->state != SCHED_BLOCKED)
        return 0;
    bool full = d->blocked == 0 && array_is_full(s, slot);
    if (full ? array_block(s, slot) < 0 : d->blocked == 0 && open_insert(s, slot, true) < 0) {
        d->blocked = before;
        return -1;
    }
    if (before & BLOCKS_PENDING && !(d->blocked & BLOCKS_PENDING))
        starving_begin(s, slot);
    tell_later(s, slot);
    return 0;
}

void job_reject(sched_t *s, uint32_t slot, struct sched_reason *never)
{
    struct details *d = s->jobs[slot].details;
    d->never = never;
    d->is_untold = false;
    rejected_push(s, slot);
}
