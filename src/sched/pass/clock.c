/* When the next pass is due. */
#include <errno.h>
#include <stdlib.h>

#include "sched/controllers/ask.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"

/* When time alone makes a pass due. A pass leaves nothing here that its own time has brought already. */
static int64_t next_turn(const sched_t *s)
{
    int64_t next = s->due.n > 0 ? s->due.v[0].key : INT64_MAX;
    int64_t turn = controllers_next_time(s);
    return turn < next ? turn : next;
}

/* When what has happened makes a pass due: at once, or when events have been gathered for long enough. */
static int64_t next_look(const sched_t *s)
{
    const struct queues *n = s->queues;
    bool gathers =
        n->setup->min_interval > 0 && n->passed >= 0 && (int64_t)n->events < n->setup->max_events;
    return gathers ? n->passed + n->setup->min_interval : s->now;
}

int64_t sched_next_time(const sched_t *s)
{
    if (s->failed || s->pass.phase != PASS_IDLE || s->replan.is)
        return s->now; /* a pass is to go on */
    int64_t look = s->queues->events > 0 ? next_look(s) : INT64_MAX;
    if (look <= s->now)
        return s->now; /* nothing is due before that */
    int64_t turn = next_turn(s);
    int64_t next = turn < look ? turn : look;
    return next > s->now ? next : s->now;
}

bool clock_is_early(const sched_t *s, int64_t now)
{
    const struct queues *n = s->queues;
    return n->setup->min_interval > 0 && n->passed >= 0 && now >= s->now &&
           now < sched_next_time(s);
}

bool clock_check(const sched_t *s)
{
    const struct queues *n = s->queues;
    return n->events > 0 || n->is_followed || s->failed || s->pass.phase != PASS_IDLE ||
           next_turn(s) > n->passed;
}

/* What is known of when jobs of a group could start: the longest that could some day, and the shortest that
 * never can.
 */
struct chance {
    int64_t longest;
    int64_t too_long;
};

/* Make *last the time when an open job could start if that is later. Returns 0, or -1 with ENOMEM. */
static int note_chance(sched_t *s, const struct job *job, struct chance *chance, int64_t *last)
{
    int64_t duration = job->ask.duration;
    if (duration <= chance->longest || duration >= chance->too_long)
        return 0; /* a shorter one can start no later than a longer one */
    int64_t at = s->place->ops->when(s->place, &job->ask, s->now);
    if (at < 0 && errno == ENOMEM)
        return -1;
    if (at < 0)
        chance->too_long = duration;
    else
        chance->longest = duration;
    *last = at > *last ? at : *last;
    return 0;
}

/* The last time of a scheduler whose jobs neither run nor have reservations or begin times. -1 with
 * ENOMEM.
 */
static int64_t last_chance(sched_t *s)
{
    const struct queues *n = s->queues;
    int64_t last = 0;
    struct chance *chance = calloc((size_t)n->job_groups.n + 1, sizeof(*chance));
    if (!chance)
        return -1;
    for (uint32_t i = 0; i < n->job_groups.n; i++)
        chance[i].too_long = INT64_MAX;
    for (uint32_t slot = n->first; slot != JOB_NONE && last >= 0;
         slot = s->jobs[slot].details->following) {
        const struct job *job = &s->jobs[slot];
        if (job->state == SCHED_WAITING && !lane_of(s, slot)->is_stopped &&
            note_chance(s, job, &chance[job->details->job_group], &last) < 0)
            last = -1;
    }
    free(chance);
    return last;
}

int64_t sched_last_time(sched_t *s)
{
    if (s->failed || s->queues->events > 0 || s->running > 0 || s->due.n > 0 ||
        s->queues->begins.n > 0)
        return INT64_MAX;
    return last_chance(s);
}
