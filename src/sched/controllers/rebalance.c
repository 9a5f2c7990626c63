/* Workers that a class has borrowed go to another one that lacks them (doc/classes.md, rebalancing).
 *
 * The end of each pass notes whether the classes of a queue are too far from their percentages. A pass at whose
 * beginning that has been so for long enough rebalances the queue: a job of a class that lacks workers, that can't
 * start, and that its class would still be within its target with, has room made for it (make_room.h), by stopping
 * what started last of what runs on borrowed workers.
 *
 * How far each class may be brought down is counted once in such a pass (class_count_rebalance), when the first such
 * job is looked at, and who may be stopped is listed then. No class comes below its target, and who takes stays
 * within its own: so each stop leaves less on loan, and no two classes take from each other in turns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "berth/sched_snapshot.h"
#include "sched/controllers/make_room.h"
#include "sched/controllers/rows.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shares.h"

/* The classes of a job's queue; NULL. */
static struct class_turns *turns_of(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares ? shares->turns[lane_of(s, slot)->queue] : NULL;
}

static uint32_t class_of_job(const sched_t *s, uint32_t slot)
{
    const struct shares *shares = s->queues->shares;
    return shares->leaf[shares->job[slot].leaf].class;
}

/* Workers of what runs or is promised a time, or of what of a job starts together. */
static int64_t workers_of_job(const sched_t *s, uint32_t slot)
{
    const struct share_of_job *job = &s->queues->shares->job[slot];
    struct share_sum sum;
    if (job->state != SHARE_WAITING)
        return job->units;
    shares_together(s, slot, &sum);
    return sum.units;
}

/* ---- Whose workers ---- */

/* Whether a running job may be stopped, or is being stopped. */
static bool may_be_lent(const sched_t *s, const struct class_turns *turns, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (job->state != SCHED_RUNNING)
        return false;
    return is_being_stopped(s, slot) ||
           (turns_of(s, slot) == turns && gang_spares(s, slot) && may_be_told(s, slot));
}

static int by_start(const void *a, const void *b)
{
    const struct class_lent *x = a, *y = b;
    if (x->is_stopping != y->is_stopping)
        return x->is_stopping ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return queue_before(y->key, x->key) ? -1 : queue_before(x->key, y->key);
}

/* List who may be stopped, and who is being stopped. 0, or -1 with ENOMEM. */
static int list_lent(sched_t *s, struct class_turns *turns)
{
    const struct heap *running = &s->queues->ends;
    turns->n_lent = 0;
    for (uint32_t i = 0; i < running->n; i++) {
        uint32_t slot = running->v[i].item;
        const struct job *job = &s->jobs[slot];
        if (!may_be_lent(s, turns, slot))
            continue;
        if (array_grow((void **)&turns->lent, &turns->cap_lent, turns->n_lent + 1,
                       sizeof(*turns->lent)) < 0)
            return -1;
        turns->lent[turns->n_lent++] =
            (struct class_lent){slot, is_being_stopped(s, slot), job->at, job->key};
    }
    return 0;
}

/* All that a class has is fixed, but for what is listed. */
static void count_fixed(const sched_t *s, const struct class_turns *turns)
{
    for (uint32_t i = 0; i < turns->setup->n; i++)
        turns->load[i].fixed = turns->load[i].running;
    for (size_t i = 0; i < turns->n_lent; i++) {
        uint32_t slot = turns->lent[i].slot;
        if (!turns->lent[i].is_stopping) /* else it counts as gone */
            turns->load[class_of_job(s, slot)].fixed -= workers_of_job(s, slot);
    }
}

/* Keep of the list who is being stopped already, and of classes that are brought down who started last first. */
static void sort_lent(const sched_t *s, struct class_turns *turns)
{
    size_t n = 0;
    for (size_t i = 0; i < turns->n_lent; i++) {
        const struct class_lent lent = turns->lent[i];
        if (lent.is_stopping || turns->load[class_of_job(s, lent.slot)].stop > 0)
            turns->lent[n++] = lent;
    }
    turns->n_lent = n;
    if (n > 0)
        qsort(turns->lent, n, sizeof(*turns->lent), by_start);
}

/* Whether some class lacks workers that another one has borrowed. */
static bool is_uneven(const struct class_turns *turns)
{
    bool lacks = false, borrows = false;
    for (uint32_t i = 0; i < turns->setup->n; i++) {
        const struct class_load *load = &turns->load[i];
        if (load->percent == 0)
            continue;
        lacks |= load->waiting > 0 && load->running < load->target;
        borrows |= load->running > load->target;
    }
    return lacks && borrows;
}

/* How far a queue's classes are apart now, in percent; 0 where none lacks what another has. */
static int64_t find_spread(const sched_t *s, struct class_turns *turns, uint32_t queue)
{
    int64_t workers = class_turns_load(s, queue, false);
    return is_uneven(turns) ? class_spread(turns->load, turns->setup->n, workers) : 0;
}

/* Count how far classes are brought down, as if nothing were idle: what is, is of no use to who asks. */
static int count_floors(sched_t *s, struct class_turns *turns, uint32_t queue)
{
    if (turns->is_lent_counted)
        return 0;
    turns->n_lent = 0;
    turns->is_lent_counted = find_spread(s, turns, queue) <= turns->setup->rule.threshold;
    if (turns->is_lent_counted) /* they have come near since the last look */
        return 0;
    if (list_lent(s, turns) < 0)
        return -1;
    class_turns_load(s, queue, true);
    count_fixed(s, turns);
    class_count_rebalance(turns->load, turns->setup->n, 0);
    for (uint32_t i = 0; i < turns->setup->n; i++)
        turns->v[i].floor = turns->load[i].running - turns->load[i].stop;
    sort_lent(s, turns);
    turns->is_lent_counted = true;
    return 0;
}

/* ---- The choice ---- */

/* Take what a job holds, unless its class would come too low. Whether it did; -1 with ENOMEM. */
static int take_lent(struct preemption *h, struct class_turns *turns, const struct class_lent *lent)
{
    const sched_t *s = h->s;
    const struct job *job = &s->jobs[lent->slot];
    bool is_stopping =
        is_being_stopped(s, lent->slot); /* it may have been told since it was listed */
    struct class_load *load = is_stopping ? NULL : &turns->load[class_of_job(s, lent->slot)];
    int64_t left = load ? load->running - workers_of_job(s, lent->slot) : 0;
    if (load && left < turns->v[class_of_job(s, lent->slot)].floor)
        return 0;
    if (s->place->ops->useful(s->place, h->ask, job->booking) == 0)
        return 0;
    if (array_grow((void **)&h->victim, &h->cap, h->n + 1, sizeof(*h->victim)) < 0)
        return -1;
    h->victim[h->n] = (struct victim){
        .slot = lent->slot, .at = job->at, .key = job->key, .is_stopping = is_stopping};
    preemption_take(h, &h->victim[h->n++]);
    if (load)
        load->running = left;
    return 1;
}

/* Spare those that are not needed, who run for longest first. Returns the booking, or -1 with ENOMEM. */
static int64_t spare_lent(struct preemption *h, int64_t booking)
{
    const struct place_ops *ops = h->s->place->ops;
    for (size_t i = h->n; i-- > 0 && booking >= 0;) {
        ops->release(h->s->place, booking);
        preemption_put_back(h, &h->victim[i]);
        booking = preemption_try(h);
        if (booking >= 0 || errno != EBUSY)
            continue;
        preemption_take(h, &h->victim[i]);
        booking = preemption_try(h);
    }
    return booking;
}

/* Who started last, until there is room. The loads are those of now. */
static int64_t choose_lent(struct preemption *h)
{
    struct class_turns *turns = h->turns;
    int64_t booking = -1;
    for (size_t i = 0; i < turns->n_lent && booking < 0; i++) {
        int took = take_lent(h, turns, &turns->lent[i]);
        if (took > 0)
            booking = preemption_try(h);
        if (took < 0 || (took > 0 && booking < 0 && errno != EBUSY))
            return -1;
    }
    if (booking >= 0)
        return spare_lent(h, booking);
    errno = EBUSY;
    return -1;
}

static int begin_rebalancing(struct preemption *h, sched_t *s, uint32_t slot,
                             const struct place_ask *ask)
{
    *h = (struct preemption){
        .s = s, .slot = slot, .ask = ask, .choose = choose_lent, .turns = turns_of(s, slot)};
    return 0;
}

/* ---- Room for a job ---- */

/* Whether room may be made for a job: STEP_DONE, STEP_BUSY, STEP_FAILED. Loads are those of now, then. */
static enum step may_take(sched_t *s, uint32_t slot)
{
    struct class_turns *turns = turns_of(s, slot);
    if (!turns || !turns->is_due)
        return STEP_BUSY;
    uint32_t queue = lane_of(s, slot)->queue;
    if (count_floors(s, turns, queue) < 0)
        return STEP_FAILED;
    class_turns_load(s, queue, false);
    const struct class_load *load = &turns->load[class_of_job(s, slot)];
    bool may = load->percent > 0 && turns->n_lent > 0 &&
               load->running + workers_of_job(s, slot) <= load->target;
    return may ? STEP_DONE : STEP_BUSY;
}

static enum step rebalance_for_open(sched_t *s, uint32_t slot)
{
    enum step step = pass_does(s, DOES(RECLAIM)) ? may_take(s, slot) : STEP_BUSY;
    if (step != STEP_DONE)
        return step;
    step = room_for_open(s, slot, begin_rebalancing, ROOM_BY_REBALANCING);
    turns_of(s, slot)->has_stopped |= step == STEP_DONE;
    return step;
}

static enum step rebalance_for_holder(sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (!turns_of(s, slot) || job->is_preempting || job->is_claiming || job->at <= s->now ||
        !pass_does(s, DOES(RECLAIM)))
        return STEP_BUSY;
    enum step step = may_take(s, slot);
    if (step == STEP_DONE)
        step = room_for_holder(s, slot, begin_rebalancing);
    turns_of(s, slot)->has_stopped |= step == STEP_DONE;
    return step;
}

static bool lane_may_rebalance(const sched_t *s, const struct lane *lane)
{
    return lane->is_rebalanced && !lane->is_stopped && pass_does(s, DOES(RECLAIM));
}

/* ---- When ---- */

static int64_t due_of(const struct class_turns *turns)
{
    int64_t duration = turns->setup->rule.duration;
    if (!turns->timer.is_over)
        return INT64_MAX;
    return duration < INT64_MAX - turns->timer.since ? turns->timer.since + duration : INT64_MAX;
}

static enum step note_queues_due(sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        struct class_turns *turns = shares->turns[q];
        if (!turns)
            continue;
        turns->is_due = due_of(turns) <= s->now;
        turns->is_lent_counted = turns->has_stopped = false;
        s->lanes[s->queues->lane_of[q]].is_rebalanced = turns->is_due;
        if (turns->is_due)
            s->queues->more_preemptible++; /* who was tried in vain may find room */
    }
    return STEP_BUSY;
}

/* The next time at which one more of the jobs of a queue may be stopped; INT64_MAX: time alone brings none.
 * O(running).
 */
static int64_t next_lent(const sched_t *s, const struct class_turns *turns)
{
    const struct heap *running = &s->queues->ends;
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < running->n; i++) {
        const struct job *job = &s->jobs[running->v[i].item];
        if (job->state != SCHED_RUNNING || turns_of(s, running->v[i].item) != turns)
            continue;
        int64_t from = preemptible_from(s, job);
        next = from > s->now && from < next ? from : next;
    }
    return next;
}

/* A queue's classes after a pass. Where rebalancing has found nobody to stop, time brings nothing but who may be
 * stopped later, unless something happens.
 */
static void note_spread(sched_t *s, struct class_turns *turns, uint32_t queue)
{
    const struct class_rule *rule = &turns->setup->rule;
    int64_t spread = find_spread(s, turns, queue);
    if (turns->is_due)
        turns->timer.is_over = false;
    class_timer_note(&turns->timer, s->now, spread, rule->threshold);
    if (turns->is_due && !turns->has_stopped)
        turns->rests = next_lent(s, turns);
    else if (turns->is_due || s->queues->events > 0)
        turns->rests = 0;
    turns->is_due = turns->is_lent_counted = false;
    s->lanes[s->queues->lane_of[queue]].is_rebalanced = false;
}

static void passed(sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        struct class_turns *turns = shares->turns[q];
        if (turns && class_turns_rebalances(turns))
            note_spread(s, turns, q);
    }
}

static int64_t next_rebalance_time(const sched_t *s)
{
    const struct shares *shares = s->queues->shares;
    int64_t next = INT64_MAX;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        const struct class_turns *turns = shares->turns[q];
        int64_t due = turns ? due_of(turns) : INT64_MAX;
        due = turns && turns->rests > due ? turns->rests : due;
        next = due < next ? due : next;
    }
    return next;
}

/* ---- Kept ---- */

size_t sched_unevens(const sched_t *s, struct sched_uneven *list, size_t most)
{
    const struct shares *shares = s->queues->shares;
    size_t n = 0;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        const struct class_turns *turns = shares->turns[q];
        if (turns && turns->timer.is_over && n++ < most)
            list[n - 1] = (struct sched_uneven){shares->setup->queue[q].name, turns->timer.since,
                                                turns->rests};
    }
    return n;
}

int sched_restore_uneven(sched_t *s, const struct sched_uneven *uneven)
{
    const struct shares *shares = s->queues->shares;
    for (uint32_t q = 0; shares && q < shares->setup->n_queues; q++) {
        struct class_turns *turns = shares->turns[q];
        if (!turns || strcmp(shares->setup->queue[q].name, uneven->queue) != 0 ||
            !class_turns_rebalances(turns))
            continue;
        if (uneven->since < 0 ||
            !time_is_good(s, uneven->since > s->now ? uneven->since : s->now)) {
            errno = EINVAL;
            return -1;
        }
        turns->timer = (struct class_timer){true, uneven->since};
        turns->rests = uneven->rests;
        return 0;
    }
    errno = ENOENT;
    return -1;
}

const struct controller rebalance_controller = {
    .name = "rebalancing",
    .turn = note_queues_due,
    .make_room = rebalance_for_open,
    .make_room_for_holder = rebalance_for_holder,
    .may_make_room = lane_may_rebalance,
    .passed = passed,
    .next_time = next_rebalance_time,
};
