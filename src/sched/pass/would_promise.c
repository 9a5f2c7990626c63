/* What would the next pass promise a new job?
 *
 * A question to the calendars, as what_if.c is one: what the job's turn would set aside is set aside, namely what those hold
 * that are behind it; a reservation is made as in a pass, judged, and given back; then everything is put back.
 */
#include <errno.h>

#include "berth/sched_query.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/pass/book.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

/* Whether the first job of a queue that promises nothing keeps lower queues, of which the job's is none, from its room. */
static bool is_kept_from(const sched_t *s, struct queue_key key)
{
    for (uint32_t i = 0; i < s->n_lanes && s->queues->setup->has_levels; i++) {
        const struct head *head = &s->lanes[i].head;
        if (head->is && !queue_before(level_last(head->key), key))
            return true;
    }
    return false;
}

/* Whether its lane has a promise for it: not where others have yet to be looked at for that, or where shares or actions say
 * whose turn it is.
 */
static bool has_turn(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct lane *lane = lane_of(s, slot);
    return job->state == SCHED_WAITING && !s->replan.is && !s->queues->shares &&
           s->queues->setup->config->n_actions == 0 && !lane->is_stopped &&
           is_considered(s, lane, job->key) && !is_kept_from(s, job->key) &&
           (int64_t)(queue_rank(lane->held, job->key) + queue_rank(lane->open, job->key)) <
               lane->depth;
}

static bool gives_way_to(const sched_t *s, const struct job *holder, uint32_t slot)
{
    return !holder->is_preempting && !holder->is_claiming &&
           queue_before(s->jobs[slot].key, holder->key);
}

static void set_those_behind_aside(sched_t *s, uint32_t slot)
{
    for (size_t i = 0; i < s->due.n; i++) {
        struct job *holder = &s->jobs[s->due.v[i].item];
        if (!gives_way_to(s, holder, slot))
            continue;
        s->place->ops->lift(s->place, holder->booking, false);
        holder->is_lifted = true;
        controllers_set_aside(s, s->due.v[i].item);
    }
}

static void put_those_behind_back(sched_t *s, uint32_t slot)
{
    for (size_t i = 0; i < s->due.n; i++)
        if (gives_way_to(s, &s->jobs[s->due.v[i].item], slot))
            controllers_put_back(s, s->due.v[i].item);
    for (size_t i = 0; i < s->due.n; i++) {
        struct job *holder = &s->jobs[s->due.v[i].item];
        if (!gives_way_to(s, holder, slot))
            continue;
        s->place->ops->drop(s->place, &holder->ask, holder->booking);
        holder->is_lifted = false;
    }
}

/* Reserve and judge. Returns 1 and *at, 0 if there is no time, or -1 with ENOMEM. */
static int find_promise(sched_t *s, uint32_t slot, int64_t *at, bool *expected)
{
    bool unsure = false;
    if (!limit_lets(s, slot, s->now))
        return 0;
    if (s->place->ops->tell)
        s->place->ops->tell(s->place, s->now);
    int64_t booking = reserve_clear(s, slot, s->now, at, &unsure);
    if (booking < 0)
        return errno == ENOMEM ? -1 : 0;
    bool holds = *at > s->now && *at < s->place->endless &&
                 controllers_may_hold(s, slot, s->jobs[slot].ask.duration, booking, *at);
    *expected = !keeps_own_promise(s, slot, booking, *at);
    unbook(s, booking);
    return holds;
}

int sched_annotate_new(sched_t *s, sched_job_t handle, struct sched_annotation *a)
{
    uint32_t slot = job_in_queue(s, handle);
    int64_t at = -1;
    bool expected = false;
    if (sched_annotate(s, handle, a) < 0)
        return -1;
    if (!a->not_before || a->start <= s->now || !has_turn(s, slot))
        return 0;
    set_those_behind_aside(s, slot);
    int found = find_promise(s, slot, &at, &expected);
    int saved = errno;
    put_those_behind_back(s, slot);
    errno = saved;
    if (found <= 0)
        return found;
    a->start = at;
    a->not_before = false;
    a->expected = expected;
    return 0;
}
