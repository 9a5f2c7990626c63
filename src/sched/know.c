/* What jobs of named queues ask of the machine, and the groups and turns that they are of. */
#include <errno.h>

#include "base/errtext.h"
#include "sched/controllers/blocks.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/job_group.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

int job_know_ask(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err)
{
    struct job *job = &s->jobs[slot];
    const struct lane *lane = &s->lanes[job->lane];
    if (shared_text_know(s, gang_text(s, slot), lane->part, refuse, &job->ask.class,
                         &job->ask.units, err) < 0) {
        if (errno != ENOMEM && errno != ENODEV)
            errno = EINVAL;
        return -1;
    }
    job->ask.part = lane->part;
    if (gang_gather(s, slot, refuse, err) < 0)
        return -1;
    if (permits_of(s, slot, &job->ask.permits) < 0) {
        s->place->ops->forget(s->place, job->ask.class);
        return errtext_no_memory(err);
    }
    return 0;
}

int job_know_group(sched_t *s, uint32_t slot, berth_error_t *err)
{
    struct job *job = &s->jobs[slot];
    int64_t group = s->queues->shares && shares_know(s, slot) < 0
                        ? -1
                        : job_group_enter(s, &job->ask, job->lane, line_number(s, slot));
    if (group < 0) {
        s->place->ops->forget(s->place, job->ask.class);
        return errtext_no_memory(err);
    }
    job->details->job_group = (uint32_t)group;
    return 0;
}

int job_know(sched_t *s, uint32_t slot, bool refuse, berth_error_t *err)
{
    int rc = job_know_ask(s, slot, refuse, err);
    return rc < 0 ? rc : job_know_group(s, slot, err);
}
