/* Jobs that run on after their end.
 *
 * What such a job holds is not free, whatever its limit said. Its booking is extended, by as much as it has overrun so far
 * and a second at least, so that a job that stays is looked at ever more rarely; reservations in the way are repaired.
 */
#include "sched/queues.h"

int overruns_extend(sched_t *s)
{
    struct queues *n = s->queues;
    while (n->ends.n > 0 && n->ends.v[0].key <= s->now) {
        uint32_t slot = n->ends.v[0].item;
        struct job *job = &s->jobs[slot];
        struct details *d = job->details;
        int64_t limit = job->at + d->limit;
        int64_t over = s->now - limit > n->setup->second ? s->now - limit : n->setup->second;
        int64_t until = s->now < INT64_MAX / 2 - over ? s->now + over : INT64_MAX / 2;
        if (until <= s->now || d->until >= INT64_MAX / 2)
            return 0;
        if (s->place->ops->extend(s->place, job->booking, until) < 0)
            return -1;
        s->booked++;
        repair_note(s, d->until, until);
        job->ask.duration = until - job->at;
        d->until = until;
        heap_move(&n->ends, slot, until, job->key.seq);
    }
    return 0;
}
