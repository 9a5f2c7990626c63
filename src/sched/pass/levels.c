/* Queues of different priorities.
 *
 * The jobs of queues of one priority are a level. Jobs know nothing of what lower levels are promised: what
 * these hold is taken out of the calendars while a level is looked at, from the top down, and is put back
 * where it still fits, or moved, when its own turn has come (outrank.c). So nobody waits for the promise of a
 * lower queue, and what is due there starts only once higher levels have had theirs.
 *
 * The first job of a queue that promises nothing (fcfs) is kept from being overtaken by lower levels as well:
 * it has a booking at its earliest time, which only they see. It is no promise: jobs of its own level know
 * nothing of it, and may make it later. Whenever the job's level has been looked at it is made anew, and it
 * is in the calendars until the next pass.
 */
#include <errno.h>

#include "sched/controllers/ask.h"
#include "sched/controllers/starving.h"
#include "sched/pass/book.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shut_class.h"

enum { QUEUES = 3 };

/* A lane's jobs that wait for resources: open, held, and held beside the depth. */
static const struct queue *queue_of(const struct lane *lane, uint32_t i)
{
    const struct queue *const all[QUEUES] = {lane->open, lane->held, lane->kept};
    return all[i];
}

/* The keys of the first and the last of all that wait for resources; false if nobody does. */
static bool ends_of(const sched_t *s, struct queue_key *first, struct queue_key *last)
{
    struct queue_entry entry;
    bool any = false;
    for (uint32_t i = 0; i < QUEUES * s->n_lanes; i++) {
        const struct queue *q = queue_of(&s->lanes[i / QUEUES], i % QUEUES);
        if (!queue_first(q, &entry))
            continue;
        *first = !any || queue_before(entry.key, *first) ? entry.key : *first;
        queue_last(q, &entry);
        *last = !any || queue_before(*last, entry.key) ? entry.key : *last;
        any = true;
    }
    return any;
}

/* Whether a job between two keys waits; its key. */
static bool next_waiting(const sched_t *s, struct queue_key after, struct queue_key *key)
{
    struct queue_entry entry;
    bool any = false;
    for (uint32_t i = 0; i < QUEUES * s->n_lanes; i++) {
        if (!queue_after(queue_of(&s->lanes[i / QUEUES], i % QUEUES), &after, &entry))
            continue;
        *key = !any || queue_before(entry.key, *key) ? entry.key : *key;
        any = true;
    }
    return any;
}

/* The job of a lane that lower levels may not overtake; JOB_NONE. A starving one before it has a promise or a claim, and goes first.
 */
static uint32_t head_of(const sched_t *s, const struct lane *lane, struct queue_entry *entry)
{
    bool is = lane->depth == 0 && !lane->is_stopped && shares_first_open(s, lane, entry) &&
              !starving_is_before(s, lane, entry->key);
    return is ? entry->item : JOB_NONE;
}

/* Whether a level has to be looked at before another one: somebody holds something below, or is not to
 * overtake; or each has rounds of its own.
 */
static bool matter(const sched_t *s, struct queue_key top, struct queue_key last)
{
    if (s->queues->setup->n_rounds > 1)
        return true;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        struct queue_entry entry;
        if ((queue_last(lane->held, &entry) && queue_before(top, entry.key)) ||
            (queue_last(lane->kept, &entry) && queue_before(top, entry.key)))
            return true;
        if (head_of(s, lane, &entry) != JOB_NONE && queue_before(level_last(entry.key), last))
            return true;
    }
    return false;
}

/* Nobody waits below these any more: who did and has a higher queue by now may have what they leave. */
static void heads_release(sched_t *s)
{
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        s->swept &= !s->lanes[i].head.is;
        head_release(s, &s->lanes[i]);
    }
}

void levels_begin(sched_t *s)
{
    struct pass *p = &s->pass;
    struct queue_key first = KEY_FIRST, last = KEY_FIRST;
    p->above = KEY_FIRST;
    p->floor = KEY_LAST;
    p->by_level = false;
    p->has_made_room = p->has_told = false;
    if (!s->queues->setup->has_levels)
        return;
    bool any = ends_of(s, &first, &last);
    p->by_level = matter(s, any ? level_last(first) : KEY_LAST, last);
    if (p->by_level && any && queue_before(level_last(first), last))
        p->floor = level_last(first);
    if (!p->by_level)
        heads_release(s);
}

bool levels_next(sched_t *s)
{
    struct pass *p = &s->pass;
    struct queue_key next, beyond;
    if (level_is_last(p))
        return false;
    p->above = p->floor;
    p->floor = KEY_LAST;
    if (!p->has_made_room && next_waiting(s, p->above, &next) &&
        next_waiting(s, level_last(next), &beyond))
        p->floor = level_last(next);
    p->phase = PASS_OUTRANK;
    p->begun = true;
    return true;
}

/* ---- The first jobs of queues that promise nothing ---- */

void head_release(sched_t *s, struct lane *lane)
{
    struct head *head = &lane->head;
    if (!head->is)
        return;
    s->place->ops->release(s->place, head->booking);
    s->booked++;
    note_freed(s, head->at, head->at + head->ask.duration);
    head->is = false;
}

static bool is_same_head(const struct head *head, const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct place_ask *a = &head->ask, *b = &job->ask;
    return head->job == job_handle(s, slot) && a->duration == b->duration && a->class == b->class &&
           a->part == b->part && a->permits == b->permits;
}

void heads_lift(sched_t *s)
{
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct head *head = &s->lanes[i].head;
        struct queue_entry entry;
        if (!head->is)
            continue;
        if (head_of(s, &s->lanes[i], &entry) == JOB_NONE || !is_same_head(head, s, entry.item)) {
            head_release(s, &s->lanes[i]);
            s->swept = false; /* those below may have it */
        } else if (!head->is_lifted) {
            s->place->ops->lift(s->place, head->booking, false);
            head->is_lifted = true;
            s->booked++;
        }
    }
}

/* Put a booking back, at an earlier time if there is one. False: it does not fit. */
static bool head_put_back(sched_t *s, struct head *head)
{
    const struct place_ops *ops = s->place->ops;
    if (head->at < s->now || !ops->fits(s->place, &head->ask, head->booking))
        return false;
    struct place_pull how = {
        .at = head->at, .from = s->now, .anew = s->place->is_fixed, .since = UINT64_MAX};
    ops->drop(s->place, &head->ask, head->booking);
    head->is_lifted = false;
    s->booked++;
    int64_t at = ops->pull(s->place, &head->ask, head->booking, &how);
    if (how.freed != INT64_MAX)
        note_freed(s, how.freed, head->at + head->ask.duration);
    head->at = at >= 0 ? at : head->at; /* without memory it stays where it was */
    return true;
}

/* Whether a lane has a job of the level that was looked at, and those below are not to overtake it. */
static bool has_head(const sched_t *s, const struct lane *lane, struct queue_entry *entry)
{
    const struct pass *p = &s->pass;
    return !level_is_last(p) && head_of(s, lane, entry) != JOB_NONE &&
           queue_before(p->above, entry->key) && queue_before(entry->key, p->floor);
}

/* Give back what is no more for a job of this level, or of a higher one. */
static void heads_settle(sched_t *s)
{
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        struct head *head = &s->lanes[i].head;
        struct queue_entry entry;
        if (head->is && head->is_lifted &&
            (level_is_last(&s->pass) || queue_before(head->key, s->pass.floor)) &&
            !(has_head(s, &s->lanes[i], &entry) && is_same_head(head, s, entry.item)))
            head_release(s, &s->lanes[i]);
    }
}

/* Book a place for a lane's first job. If the job may run longer than its estimate, its place is searched for again each
 * time, since it has to be one where the job could start. Returns 0, or -1 with ENOMEM.
 */
static int head_place(sched_t *s, struct lane *lane, const struct queue_entry *entry)
{
    struct head *head = &lane->head;
    bool is_same = head->is && is_same_head(head, s, entry->item);
    if (is_same && !has_tail(s, entry->item) && head_put_back(s, head)) {
        head->key = entry->key;
        return 0;
    }
    head_release(s, lane);
    struct place_ask ask = s->jobs[entry->item].ask;
    int64_t at;
    bool unsure = false;
    int64_t booking = reserve_clear(s, entry->item, s->now, &at, &unsure);
    if (booking < 0) /* with what is down there may be no time for it */
        return errno == ENOMEM ? -1 : 0;
    if (at >= s->place->endless) { /* behind who has no end */
        s->place->ops->release(s->place, booking);
        return 0;
    }
    *head =
        (struct head){true, false, false, job_handle(s, entry->item), entry->key, booking, at, ask};
    s->booked++;
    return 0;
}

/* The next one, in queue order: each sees those before it. */
enum step heads_step(sched_t *s)
{
    struct pass *p = &s->pass;
    struct lane *lane = NULL;
    struct queue_entry entry, best = {.key = KEY_LAST};
    if (!p->begun) {
        heads_settle(s);
        p->begun = true;
        p->after = p->above;
    }
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        if (!has_head(s, &s->lanes[i], &entry) || !queue_before(p->after, entry.key) ||
            !queue_before(entry.key, best.key))
            continue;
        best = entry;
        lane = &s->lanes[i];
    }
    if (!lane)
        return STEP_BUSY;
    p->after = best.key;
    return head_place(s, lane, &best) < 0 ? STEP_FAILED : STEP_DONE;
}

int heads_restored(sched_t *s)
{
    struct queue_key first = KEY_FIRST, last = KEY_FIRST, after = KEY_FIRST;
    if (!s->queues->setup->has_levels || !ends_of(s, &first, &last))
        return 0;
    while (true) {
        struct lane *lane = NULL;
        struct queue_entry entry, best = {.key = KEY_LAST};
        for (uint32_t i = 0; i < s->n_lanes; i++) {
            if (head_of(s, &s->lanes[i], &entry) == JOB_NONE || !queue_before(after, entry.key) ||
                !queue_before(entry.key, best.key))
                continue;
            best = entry;
            lane = &s->lanes[i];
        }
        if (!lane || !queue_before(level_last(best.key), last))
            return 0;
        if (head_place(s, lane, &best) < 0)
            return -1;
        after = best.key;
    }
}

void heads_set_aside(sched_t *s, struct queue_key key, bool briefly)
{
    for (uint32_t i = 0; i < s->n_lanes && s->queues->setup->has_levels; i++) {
        struct head *head = &s->lanes[i].head;
        if (!head->is || head->is_lifted || queue_before(level_last(head->key), key))
            continue;
        s->place->ops->lift(s->place, head->booking, briefly);
        head->is_aside = true;
    }
}

void heads_put_back(sched_t *s)
{
    for (uint32_t i = 0; i < s->n_lanes && s->queues->setup->has_levels; i++) {
        struct head *head = &s->lanes[i].head;
        if (head->is_aside)
            s->place->ops->drop(s->place, &head->ask, head->booking);
        head->is_aside = false;
    }
}
