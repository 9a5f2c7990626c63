/* Jobs that limits alone keep, and what limits promise them.
 *
 * A job is kept by a limit if, when its turn comes, this leaves no room for it from now on: its turn to be
 * promised a time by its queue, or its turn to start, when the machine has room for it. It is so for as long as
 * it holds the promise that it gets then, or is blocked, whatever becomes of the limit meanwhile.
 *
 * A limit promises at most as many jobs of a queue a time as the queue's policy does, but one at least; these stand
 * beside the depth of their lane. The others are blocked. Whenever what user and queue hold decreases, the first
 * blocked one in queue order is let go on for a promise that its limit has to give, or that one behind it holds:
 * it is a candidate, which takes its turn before holders (outrank.c) or in the walk, whatever its lane has to
 * give.
 */
#include <string.h>

#include "base/array.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/kept.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"

static struct limits_promises *promises_of(const sched_t *s, const struct lane *lane,
                                           uint32_t calendar)
{
    return limits_promises(s->queues->limits, calendar, lane->queue);
}

/* How many jobs a limit may promise a time. */
static int64_t most_of(const struct lane *lane)
{
    return lane->depth > 1 ? lane->depth : 1;
}

/* The last of those that hold a promise of a limit; JOB_NONE. O(those that limits keep) after that one has
 * gone, else O(1).
 */
static uint32_t last_of(const sched_t *s, const struct lane *lane, uint32_t calendar)
{
    struct limits_promises *p = promises_of(s, lane, calendar);
    struct queue_cursor c;
    if (p->n == 0)
        return JOB_NONE;
    if (p->is_last_known)
        return p->last;
    for (bool any = queue_begin(lane->kept, &c); any; any = queue_next(&c))
        if (s->jobs[queue_item(&c)].details->keeper == calendar)
            p->last = queue_item(&c);
    p->is_last_known = true;
    return p->last;
}

static bool is_before_last(const sched_t *s, uint32_t slot, uint32_t calendar)
{
    uint32_t last = last_of(s, lane_of(s, slot), calendar);
    return last != JOB_NONE && queue_before(s->jobs[slot].key, s->jobs[last].key);
}

bool kept_may_promise(const sched_t *s, uint32_t slot, uint32_t calendar, bool outranks)
{
    const struct lane *lane = lane_of(s, slot);
    if (calendar == NO_CALENDAR || lane->is_stopped)
        return false;
    return promises_of(s, lane, calendar)->n < most_of(lane) ||
           (outranks && is_before_last(s, slot, calendar));
}

void kept_enter(sched_t *s, uint32_t slot)
{
    uint32_t calendar = s->jobs[slot].details->keeper;
    if (calendar == NO_CALENDAR)
        return;
    struct limits_promises *p = promises_of(s, lane_of(s, slot), calendar);
    if (p->n == 0 || (p->is_last_known && queue_before(s->jobs[p->last].key, s->jobs[slot].key))) {
        p->is_last_known = true;
        p->last = slot;
    }
    p->n++;
}

void kept_leave(sched_t *s, uint32_t slot)
{
    uint32_t calendar = s->jobs[slot].details->keeper;
    if (!s->jobs[slot].is_kept)
        return;
    s->jobs[slot].is_kept = false;
    if (calendar == NO_CALENDAR)
        return;
    struct limits_promises *p = promises_of(s, lane_of(s, slot), calendar);
    p->n--;
    p->is_last_known = false;
}

void limit_rekeyed(sched_t *s, uint32_t slot)
{
    uint32_t calendar = s->jobs[slot].details->keeper;
    if (calendar != NO_CALENDAR)
        promises_of(s, lane_of(s, slot), calendar)->is_last_known = false;
}

/* A job loses what a limit has promised it. It is blocked, unless nothing keeps it any more. Returns 0, or -1 with ENOMEM. */
static int lose_promise(sched_t *s, uint32_t slot)
{
    if (limit_reserve_candidate(s) < 0 || held_to_open(s, slot, false) < 0)
        return -1;
    limit_make_candidate(s, slot);
    s->swept = false;
    return 0;
}

int limit_take_place(sched_t *s, uint32_t slot)
{
    uint32_t calendar = s->jobs[slot].details->calendar;
    const struct lane *lane = lane_of(s, slot);
    if (calendar == NO_CALENDAR || promises_of(s, lane, calendar)->n < most_of(lane))
        return 0;
    uint32_t last = last_of(s, lane, calendar);
    return s->jobs[last].is_lifted ? 0 : lose_promise(s, last);
}

int limit_take_behind(sched_t *s, uint32_t slot)
{
    const struct queue *kept = lane_of(s, slot)->kept;
    uint32_t party = s->jobs[slot].details->party;
    struct queue_entry next = {.key = s->jobs[slot].key};
    while (queue_after(kept, &next.key, &next)) {
        uint32_t keeper = s->jobs[next.item].details->keeper;
        if (keeper != NO_CALENDAR && limits_count_in(s->queues->limits, party, keeper) &&
            lose_promise(s, next.item) < 0)
            return -1;
    }
    return 0;
}

int limit_promised(sched_t *s, uint32_t slot)
{
    uint32_t calendar = s->jobs[slot].details->keeper;
    const struct lane *lane = lane_of(s, slot);
    kept_enter(s, slot);
    while (promises_of(s, lane, calendar)->n > most_of(lane))
        if (lose_promise(s, last_of(s, lane, calendar)) < 0)
            return -1;
    return 0;
}

/* ---- Candidates ---- */

void candidates_begin(sched_t *s)
{
    s->queues->rounds++;
    s->queues->n_let_calendars = 0;
    s->pass.is_due_left = false;
}

int candidate_note(sched_t *s, uint32_t slot, uint32_t calendar)
{
    struct queues *n = s->queues;
    struct limits_promises *p = promises_of(s, lane_of(s, slot), calendar);
    s->pass.is_due_left = true;
    s->jobs[slot].details->limited = -1;
    if (p->letting == n->lettings && p->n <= p->had)
        return 0; /* the one before it could not be promised a time */
    if (p->round == n->rounds) {
        if (queue_before(s->jobs[slot].key, s->jobs[p->candidate].key))
            p->candidate = slot;
        return 0;
    }
    if (array_grow((void **)&n->let_calendars, &n->cap_let_calendars, n->n_let_calendars + 1,
                   sizeof(*n->let_calendars)) < 0)
        return -1;
    n->let_calendars[n->n_let_calendars++] = (struct let_calendar){calendar, s->jobs[slot].lane};
    p->round = n->rounds;
    p->candidate = slot;
    return 0;
}

int limit_reserve_candidate(sched_t *s)
{
    struct queues *n = s->queues;
    return array_grow((void **)&n->candidates, &n->cap_candidates, n->n_candidates + 1,
                      sizeof(*n->candidates));
}

void limit_make_candidate(sched_t *s, uint32_t slot)
{
    s->queues->candidates[s->queues->n_candidates++] = slot;
    s->jobs[slot].details->is_candidate = true;
}

bool limit_is_between(const sched_t *s, const struct lane *lane, struct queue_key low,
                      struct queue_key high)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_limited; i++) {
        const struct job *job = &s->jobs[n->limited[i]];
        if (job->state == SCHED_BLOCKED && job->details->blocked == BLOCK_LIMIT &&
            &s->lanes[job->lane] == lane && queue_before(low, job->key) &&
            queue_before(job->key, high))
            return true;
    }
    return false;
}

bool limit_is_before(const sched_t *s, struct queue_key key)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_limited; i++) {
        const struct job *job = &s->jobs[n->limited[i]];
        if (job->state == SCHED_BLOCKED && job->details->blocked == BLOCK_LIMIT &&
            !job->is_let_again && queue_before(job->key, key))
            return true;
    }
    return false;
}

/* It goes on, and is in the list of those that limits have blocked no more. Returns 0, or -1 with ENOMEM. */
static int candidate_let(sched_t *s, uint32_t slot, bool again)
{
    struct queues *n = s->queues;
    size_t i = 0;
    if (limit_reserve_candidate(s) < 0 || job_unblock(s, slot, BLOCK_LIMIT) < 0)
        return -1;
    limit_make_candidate(s, slot);
    while (n->limited[i] != slot)
        i++;
    n->n_limited--;
    memmove(n->limited + i, n->limited + i + 1, (n->n_limited - i) * sizeof(*n->limited));
    s->jobs[slot].details->is_limited = false;
    s->jobs[slot].is_placed = false;
    s->jobs[slot].is_let_again |= again;
    s->pass.let += again;
    return 0;
}

int candidates_let(sched_t *s, bool again)
{
    struct queues *n = s->queues;
    while (n->n_let_calendars > 0) {
        const struct let_calendar *let = &n->let_calendars[n->n_let_calendars - 1];
        struct limits_promises *p = promises_of(s, &s->lanes[let->lane], let->calendar);
        if (candidate_let(s, p->candidate, again) < 0)
            return -1;
        p->letting = n->lettings;
        p->had = p->n;
        n->n_let_calendars--;
    }
    return 0;
}

bool limit_is_candidate(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->details && job->details->is_candidate && job->state == SCHED_WAITING;
}

uint32_t limit_candidate(const sched_t *s)
{
    const struct queues *n = s->queues;
    uint32_t first = JOB_NONE;
    for (size_t i = 0; i < n->n_candidates; i++) {
        uint32_t slot = n->candidates[i];
        if (limit_is_candidate(s, slot) &&
            (first == JOB_NONE || queue_before(s->jobs[slot].key, s->jobs[first].key)))
            first = slot;
    }
    return first;
}

enum step limit_look(sched_t *s, uint32_t slot)
{
    enum step step = lane_of(s, slot)->is_stopped ? STEP_BUSY : controllers_gate(s, slot);
    if (step == STEP_KEPT)
        step = promise_kept(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    s->jobs[slot].details->is_candidate = false;
    return STEP_DONE;
}

void limit_look_once(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].details)
        s->jobs[slot].details->is_candidate = false;
}

void limit_forget_candidates(sched_t *s)
{
    struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_candidates; i++)
        if (s->jobs[n->candidates[i]].details)
            s->jobs[n->candidates[i]].details->is_candidate = false;
    n->n_candidates = 0;
}
