/* Jobs that go before holders of reservations.
 *
 * A reservation is kept, whoever waits. But a job that has come since, that was raised or released, and
 * that goes before the holder in the queue's order, is not to wait for it. Such jobs and the holders behind
 * the first of them are looked at in queue order, all these reservations taken out of the calendars: the
 * job starts, or is promised a time where its lane has one to give; a holder keeps its reservation if it
 * still fits, and else gets another. A lane with too many holders takes the last one's.
 *
 * Where a lane has a promise to give (its queue has started, say, or a holder was cancelled), its first
 * open jobs are to be promised a time by the walk. A new job behind them is not to take that, or their
 * place: of the jobs of its level, those before it have their turn first.
 *
 * Each step looks at one job. Between two of them a part of the reservations is out of the calendars: the
 * replan is under way (struct replan). If something happens then, or memory runs out, the next pass goes on with
 * those that are still out.
 */
#include "sched/controllers/ask.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/loans.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/equals.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/shut_class.h"

/* When an open job has its turn; among those of one priority shares say who is next (equals.h). A holder has its own. */
static struct queue_key turn_of(const sched_t *s, uint32_t slot)
{
    return s->jobs[slot].state == SCHED_WAITING ? key_turn(s, slot) : s->jobs[slot].key;
}

/* Whether a lane would promise this open job a time: it has one to give, or a holder behind the job. No new promise is made
 * before a stopped job that goes before it and has its turn in the sweep.
 */
static bool would_be_promised(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    uint32_t last = last_holder(s, lane);
    if (lane->is_stopped || lane->depth == 0 || sweep_gives_before(s, lane, s->jobs[slot].key))
        return false;
    if (lane_holds(lane) < lane->depth)
        return true;
    return last != JOB_NONE && queue_before(turn_of(s, slot), s->jobs[last].key);
}

/* The last holder of a lane that is to be placed anew, or may be. Who preempts others has what it needs; if
 * it was taken out, it has so no more.
 */
static uint32_t last_movable(const sched_t *s, const struct lane *lane)
{
    struct queue_cursor c;
    struct queue_entry kept;
    uint32_t last = last_holder(s, lane);
    if (queue_last(lane->kept, &kept) &&
        (last == JOB_NONE || queue_before(s->jobs[last].key, kept.key)))
        last = kept.item;
    if (!s->replan.is || lane->preempting == 0)
        return last;
    for (bool any = queue_begin(lane->held, &c); any; any = queue_next(&c))
        if (s->jobs[queue_item(&c)].is_preempting && s->jobs[queue_item(&c)].is_lifted &&
            (last == JOB_NONE || queue_before(s->jobs[last].key, s->jobs[queue_item(&c)].key)))
            last = queue_item(&c);
    return last;
}

/* The key of the last of all of them. Somebody holds. */
static struct queue_key last_key(const sched_t *s)
{
    struct queue_key last = KEY_FIRST;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        uint32_t slot = last_movable(s, &s->lanes[i]);
        if (slot != JOB_NONE && queue_before(last, s->jobs[slot].key))
            last = s->jobs[slot].key;
    }
    return last;
}

/* Whether a holder of the level of a turn stands behind it. */
static bool is_before_own_level(const sched_t *s, struct queue_key turn)
{
    struct queue_key end = level_last(turn);
    uint32_t slot = held_next(s, true, turn);
    while (slot != JOB_NONE && s->jobs[slot].is_preempting && !s->jobs[slot].is_lifted)
        slot = held_next(s, true, s->jobs[slot].key);
    return slot != JOB_NONE && queue_before(s->jobs[slot].key, end);
}

/* Whether a job has come, and may have its turn. A slot that is listed as fresh may be another job's by now, and be listed twice. */
static bool is_new(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_WAITING && job->is_fresh && !job->is_placed &&
           !lane_of(s, slot)->is_stopped && !shares_shut_class(s, slot);
}

/* Whether it goes before the last holder: where there are shares, before one of its level, as it is they that say who is next
 * before lower levels have their turn.
 */
static bool is_before_holders(const sched_t *s, uint32_t slot, struct queue_key last)
{
    if (!is_new(s, slot))
        return false;
    return s->queues->shares ? is_before_own_level(s, turn_of(s, slot))
                             : queue_before(s->jobs[slot].key, last);
}

/* Whether the lane of such a job would let it now. */
static bool is_its_turn(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    struct queue_entry first;
    if (s->jobs[slot].state == SCHED_RESERVED || limit_is_candidate(s, slot) ||
        starving_may(s, slot))
        return true;
    if (lane->depth == 0 && starving_is_before(s, lane, s->jobs[slot].key))
        return false;
    return is_considered(s, lane, s->jobs[slot].key) &&
           (lane->depth > 0 || (shares_first_open(s, lane, &first) && first.item == slot));
}

bool outrank_has_turn(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_WAITING && job->is_fresh && !job->is_placed &&
           !lane_of(s, slot)->is_stopped && !shares_shut_class(s, slot) &&
           is_before_own_level(s, job->key) && is_its_turn(s, slot);
}

static struct queue_key turn_key(const sched_t *s)
{
    const struct heap_entry *first = &s->turns.v[0];
    return (struct queue_key){first->key, first->order, first->then};
}

/* Whether the first open job of a lane may be promised a time before a turn: not if none was known for it when it was its
 * turn, unless something has come back since, nor if it is of a higher level, which is looked at first: those behind it
 * are not to take its promise.
 */
static bool may_go_first(const sched_t *s, const struct lane *lane, struct queue_key turn)
{
    struct queue_entry first;
    const struct job *job = queue_first(lane->open, &first) ? &s->jobs[first.item] : NULL;
    bool may = job && job->details &&
               (job->details->displaced != DISPLACED_ANY || (job->is_fresh && !job->is_placed));
    return may && !queue_before(level_last(first.key), turn);
}

/* The first open job between a key and that of a turn, of the level of that turn, whose lane has a promise to
 * give it; JOB_NONE. Where no time was known for the first of a lane when it had its turn, it has another when something
 * comes back. One for which a promise was taken back has its turn in the sweep, so that it puts nobody off. Where there are
 * shares, it is they that say who is first.
 */
static uint32_t first_to_promise(const sched_t *s, struct queue_key after, struct queue_key turn)
{
    uint32_t best = JOB_NONE;
    for (uint32_t i = 0; i < s->n_lanes && !s->queues->shares; i++) {
        const struct lane *lane = &s->lanes[i];
        struct queue_entry entry;
        if (lane->is_stopped || lane->has_taken || lane_holds(lane) >= lane->depth ||
            !queue_after(lane->open, &after, &entry) || !queue_before(entry.key, turn) ||
            !is_considered(s, lane, entry.key) || !may_go_first(s, lane, turn))
            continue;
        best = entry.item;
        turn = entry.key;
    }
    return best;
}

bool outrank_first(const sched_t *s, struct queue_key *key)
{
    struct queue_key last = last_key(s), first = KEY_LAST;
    bool any = false;
    for (size_t i = 0; i < s->n_fresh; i++) {
        uint32_t slot = s->fresh[i];
        bool is =
            displaced_is_due(s, slot) || (is_before_holders(s, slot, last) && is_its_turn(s, slot));
        if (!is || (any && !queue_before(turn_of(s, slot), first)))
            continue;
        first = turn_of(s, slot);
        any = true;
    }
    *key = s->replan.from;
    if (!any || (s->replan.is && !queue_before(key_before(first), *key)))
        return s->replan.is;
    uint32_t before = first_to_promise(s, KEY_FIRST, first);
    *key = key_before(before != JOB_NONE ? s->jobs[before].key : first);
    return true;
}

/* The turn of a job came before it was the first of its queue, or within its depth. Where turns go by the order of queues it
 * is not so later either, unless those before it start; where shares give those that are displaced an earlier one, it may be
 * when others have had theirs.
 */
static void turn_missed(sched_t *s, uint32_t slot)
{
    s->pass.outranks_again |= s->queues->shares != NULL;
    depth_note_missed(s, slot);
}

/* Whether a higher level has made room for a holder, so that its walk was cut off. All phases begin again then: what lower ones hold
 * is put back before that, but nobody else has a turn, as those who were not looked at yet go before them.
 */
static bool is_behind_cut_walk(const sched_t *s)
{
    return s->pass.by_level && s->pass.has_made_room;
}

enum step outrank_take_turn(sched_t *s, uint32_t slot)
{
    struct lane *lane = lane_of(s, slot);
    struct queue_key key = s->jobs[slot].key;
    bool waits = s->jobs[slot].state == SCHED_WAITING;
    if (waits && is_behind_cut_walk(s))
        return STEP_DONE;
    if (waits && !is_its_turn(s, slot)) {
        turn_missed(s, slot);
        return STEP_DONE;
    }
    int wanted = waits ? loan_waits_for_walk(s, slot) : 0;
    if (wanted != 0) { /* it has its turn in the walk */
        s->jobs[slot].is_placed = s->jobs[slot].is_fresh;
        return wanted < 0 ? STEP_FAILED : STEP_DONE;
    }
    depth_has_let(s, slot);
    bool is_later = sweep_gives_before(s, lane, key) && !limit_is_candidate(s, slot);
    bool turn = lane->depth == 0 || limit_is_candidate(s, slot) || would_be_promised(s, slot) ||
                starving_may(s, slot);
    bool may = pass_does(s, DOES(ALLOCATE)); /* else nobody starts but by a round of the walk */
    bool whole = gang_asks_whole(s, slot);
    enum step step = !waits ? STEP_DONE : may ? start_open(s, slot, turn) : STEP_BUSY;
    if (step == STEP_BUSY)
        step = controllers_make_room(s, slot);
    if (step == STEP_BUSY && may && would_be_promised(s, slot))
        step = promise(s, slot);
    if (step == STEP_BUSY && may && starving_may(s, slot))
        step = promise_starving(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED; /* it is still to be looked at */
    bool is_next = queue_before(key, s->jobs[slot].key) || (whole && !gang_asks_whole(s, slot));
    s->jobs[slot].is_placed =
        s->jobs[slot].is_fresh && !is_next; /* else it is the next member's turn */
    if (waits && is_later && !is_next)
        depth_note_missed(s, slot);
    return lane_keep(s, lane) < 0 ? STEP_FAILED : STEP_DONE;
}

void outrank_rekeyed(sched_t *s, uint32_t slot)
{
    if (!heap_has(&s->turns, slot))
        return;
    struct queue_key turn = turn_of(s, slot);
    heap_move_by(&s->turns, slot, turn.rank, turn.brevity, turn.seq);
    equals_rekeyed(s, slot);
}

void replan_reach(sched_t *s, struct queue_key key, bool lifted)
{
    struct replan *replan = &s->replan;
    struct queue_key before = key_before(key);
    if (!replan->is && lifted)
        *replan = (struct replan){true, before, before, false};
    if (replan->is && queue_before(before, replan->from))
        replan->from = before;
    if (replan->is && queue_before(before, replan->until))
        replan->until = before;
    if (queue_before(before, s->queues->repaired))
        s->queues->repaired = before;
}

/* ---- The steps, one after the other: each is STEP_DONE until it has nothing left to do ---- */

/* Where something was freed, holders before all that are placed move to their earliest times first. Nothing is lifted then,
 * so that they take nothing that those behind are promised.
 */
static enum step move_before(sched_t *s)
{
    struct pass *p = &s->pass;
    enum step step = p->moves_before ? sweep_before(s) : STEP_BUSY;
    if (step == STEP_BUSY)
        p->last = last_key(s); /* of those that hold something yet */
    return step;
}

/* Whether a fresh job is to be listed: it is still open and goes before some holder, or is displaced and holds a reservation. */
static bool is_to_gather(const sched_t *s, uint32_t slot)
{
    return (displaced_is_due(s, slot) || is_before_holders(s, slot, s->pass.last)) &&
           !heap_has(&s->turns, slot);
}

/* List one more of these. */
static enum step gather(sched_t *s)
{
    struct pass *p = &s->pass;
    for (int i = 0;
         i < STEP_PASSES && p->gathered < s->n_fresh && !is_to_gather(s, s->fresh[p->gathered]);
         i++)
        p->gathered++;
    if (p->gathered == s->n_fresh)
        return STEP_BUSY;
    uint32_t slot = s->fresh[p->gathered];
    if (!is_to_gather(s, slot))
        return STEP_DONE;
    bool holds = displaced_is_due(s, slot);
    struct queue_key key = turn_of(s, slot);
    if (heap_put_by(&s->turns, slot, key.rank, key.brevity, key.seq) < 0)
        return STEP_FAILED;
    if (holds) /* it is taken out as well */
        replan_reach(s, key, true);
    p->gathered++;
    return STEP_DONE;
}

/* The list begins with the first one whose turn it is: that of others may come when that one has started,
 * or when a holder before them is placed anew.
 */
static enum step skip(sched_t *s)
{
    struct pass *p = &s->pass;
    if (s->turns.n == 0 || (s->replan.is && queue_before(s->replan.from, turn_key(s))))
        return STEP_BUSY;
    bool is_known = p->skips && p->skipped == s->turns.v[0].key;
    if (!is_known && equals_any(s, is_its_turn))
        return STEP_BUSY;
    p->skips = equals_may_be(s);
    p->skipped = s->turns.v[0].key;
    turn_missed(s, s->turns.v[0].item);
    heap_take(&s->turns, s->turns.v[0].item);
    return STEP_DONE;
}

/* The job that has its turn before the first one of the list, behind a key; JOB_NONE. */
static uint32_t next_to_promise(const sched_t *s, struct queue_key after)
{
    bool any = s->turns.n > 0 && is_its_turn(s, s->turns.v[0].item);
    return any ? first_to_promise(s, after, turn_key(s)) : JOB_NONE;
}

/* Reservations are about to be taken out: those behind the first job, and where the last pass was cut off
 * while some were out, those that repair has left to this.
 */
static enum step tear(sched_t *s)
{
    struct replan *replan = &s->replan;
    struct queue_key turn = s->turns.n > 0 ? turn_key(s) : KEY_LAST;
    bool goes_on = replan->is && !queue_before(turn, replan->from);
    bool has_begun = goes_on && queue_before(replan->from, replan->until);
    uint32_t before = has_begun ? JOB_NONE : next_to_promise(s, KEY_FIRST);
    if (before != JOB_NONE)
        turn = key_before(s->jobs[before].key);
    if (repair_is_left(s) && queue_before(s->pass.left, turn))
        turn = s->pass.left; /* though nobody has a turn there any more */
    if (!replan->is || queue_before(turn, replan->from))
        replan->from = replan->until = turn;
    else if (queue_before(replan->until, replan->from) || repair_is_left(s))
        replan->until = replan->from;
    replan->is = true;
    if (s->pass.by_level) {
        if (queue_before(s->pass.floor, replan->from))
            replan->from = s->pass.floor;
        replan->until = replan->from;
        heads_lift(s);
    }
    s->pass.first = replan->from;
    s->pass.lifts = s->pass.by_level || s->turns.n > 0 || repair_is_left(s);
    s->swept = false;
    s->woken = true;
    s->place->ops->try(s->place, true);
    return STEP_BUSY;
}

/* Whether a holder is to be taken out of the calendars yet. Those for whom jobs were preempted keep what they have: what these
 * held is theirs, also where the preempted ones wait again before them.
 */
static bool is_to_lift(const struct job *job)
{
    return !job->is_preempting && !job->is_lifted;
}

/* One more of the holders gives its reservation out of the calendars. */
static enum step lift_next(sched_t *s)
{
    struct replan *replan = &s->replan;
    uint32_t slot = s->pass.lifts ? held_next(s, true, replan->until) : JOB_NONE;
    for (int i = 0; i < STEP_PASSES && slot != JOB_NONE && !is_to_lift(&s->jobs[slot]); i++) {
        replan->until = s->jobs[slot].key;
        slot = held_next(s, true, replan->until);
    }
    if (slot == JOB_NONE)
        return STEP_BUSY;
    if (is_to_lift(&s->jobs[slot]))
        holder_lift(s, slot);
    replan->until = s->jobs[slot].key;
    return STEP_DONE;
}

/* With these reservations gone more may fit than is known. */
static enum step wake(sched_t *s)
{
    s->finder->wake(s, true);
    return STEP_BUSY;
}

static struct queue_key key_in_turns(const sched_t *s, uint32_t slot)
{
    const struct heap_entry *entry = &s->turns.v[s->turns.place[slot] - 1];
    return (struct queue_key){entry->key, entry->order, entry->then};
}

/* Whether another one of the list, of the level of a turn, has its own no earlier. O(the list). */
static bool is_before_listed(const sched_t *s, uint32_t slot, struct queue_key turn)
{
    struct queue_key end = level_last(turn);
    for (size_t i = 0; i < s->turns.n; i++) {
        struct queue_key of = key_in_turns(s, s->turns.v[i].item);
        if (s->turns.v[i].item != slot && !queue_before(of, turn) && !queue_before(end, of))
            return true;
    }
    return false;
}

/* Whether one of which others have started in this list has its own turn: it goes before holders, or before others that have
 * theirs yet, which hold something then.
 */
static bool has_own_turn(const sched_t *s, uint32_t slot)
{
    return is_before_holders(s, slot, s->pass.last) ||
           (is_new(s, slot) && is_before_listed(s, slot, turn_of(s, slot)));
}

/* A job has had its turn. The next member of an array has its own if this one has started. */
static void turn_taken(sched_t *s, uint32_t slot, struct queue_key at)
{
    struct queue_key next = turn_of(s, slot);
    bool goes_on = s->jobs[slot].state == SCHED_WAITING && queue_before(at, next);
    if (!goes_on || !has_own_turn(s, slot)) {
        heap_take(&s->turns, slot);
        return;
    }
    heap_move_by(&s->turns, slot, next.rank, next.brevity, next.seq);
    if (next.rank != at.rank)
        equals_end(s);
    else
        equals_rekeyed(s, slot);
}

/* A gang of several roles has started in its turn: those of it that are left have theirs, the slot and those that are fresh
 * since.
 */
static void list_left(sched_t *s, uint32_t slot, size_t since)
{
    for (size_t i = since; i <= s->n_fresh; i++) {
        uint32_t left = i < s->n_fresh ? s->fresh[i] : slot;
        if (gang_of(s, left) != gang_of(s, slot) || heap_has(&s->turns, left) ||
            !has_own_turn(s, left))
            continue;
        struct queue_key key = turn_of(s, left);
        if (heap_put_by(&s->turns, left, key.rank, key.brevity, key.seq) < 0)
            s->pass.outranks_again = true; /* then it is listed */
    }
    equals_end(s);
}

/* The first of the jobs has lost its reservation to one before it: with shares its turn is later then. */
static bool is_put_off(sched_t *s)
{
    uint32_t slot = s->turns.v[0].item;
    struct queue_key key = s->jobs[slot].state == SCHED_WAITING ? turn_of(s, slot) : turn_key(s);
    if (!queue_before(turn_key(s), key))
        return false;
    heap_move_by(&s->turns, slot, key.rank, key.brevity, key.seq);
    equals_end(s);
    return true;
}

/* A job of the list has had its turn, or a holder: those up to it have, but for equals before it. */
static void go_on_behind(sched_t *s, uint32_t slot, struct queue_key at)
{
    if (s->turns.n > 0 && s->turns.v[0].item != slot && queue_before(turn_key(s), at))
        at = key_before(turn_key(s));
    s->replan.from = at;
}

/* The list begins with one that may still start: others of an array have filled it, perhaps. */
static void drop_blocked(sched_t *s)
{
    while (s->turns.n > 0 && s->jobs[s->turns.v[0].item].state == SCHED_BLOCKED)
        heap_take(&s->turns, s->turns.v[0].item);
}

/* The next one of the jobs and of the holders is looked at, in queue order. Where there is no memory for it
 * the next pass goes on with it.
 */
static enum step place_next(sched_t *s)
{
    drop_blocked(s);
    uint32_t slot = held_next(s, true, s->replan.from);
    uint32_t before = next_to_promise(s, s->replan.from);
    bool waits = before != JOB_NONE &&
                 (slot == JOB_NONE || queue_before(s->jobs[before].key, s->jobs[slot].key));
    bool fresh = !waits && s->turns.n > 0 &&
                 (slot == JOB_NONE || queue_before(turn_key(s), s->jobs[slot].key));
    if (fresh && s->queues->shares && is_put_off(s))
        return STEP_DONE;
    if (waits || fresh)
        slot = waits ? before : s->turns.v[0].item;
    if (slot == JOB_NONE || queue_before(s->pass.floor, fresh ? turn_key(s) : s->jobs[slot].key)) {
        equals_end(s);
        return STEP_BUSY;
    }
    if (fresh && (slot = equals_next(s)) == JOB_NONE)
        return STEP_FAILED;
    struct queue_key at = fresh ? key_in_turns(s, slot) : s->jobs[slot].key;
    bool whole = gang_asks_whole(s, slot);
    size_t n_fresh = s->n_fresh;
    enum step step = STEP_DONE;
    if (waits || fresh)
        step = outrank_take_turn(s, slot);
    else if (s->jobs[slot].is_lifted)
        step = holder_reseat(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    go_on_behind(s, slot, at);
    if (heap_has(&s->turns, slot))
        turn_taken(s, slot, at);
    if (whole && !gang_asks_whole(s, slot))
        list_left(s, slot, n_fresh);
    return STEP_DONE;
}

/* All reservations are back, and less may fit than is known. */
static enum step mend(sched_t *s)
{
    s->finder->wake(s, true);
    s->place->ops->try(s->place, false);
    s->replan.is = s->replan.displaces = false;
    repair_done_behind(s, s->pass.first);
    return STEP_BUSY;
}

/* Whether there is anything to do; if so, it begins. */
static bool begin_outranking(sched_t *s)
{
    struct pass *p = &s->pass;
    bool may = s->replan.is || p->by_level;
    equals_end(s);
    if (!may && (s->due.n == 0 || s->n_fresh == 0))
        return false;
    p->last = last_key(s);
    if (!may && s->n_fresh == 1 && !is_before_holders(s, s->fresh[0], p->last) &&
        !displaced_is_due(s, s->fresh[0]))
        return false;
    p->begun = true;
    p->stage = 0;
    p->after = KEY_FIRST;
    p->moves_before = !s->swept && !s->replan.is && !p->by_level && outrank_first(s, &p->before);
    if (p->moves_before && repair_is_left(s) && queue_before(p->left, p->before))
        p->before = p->left;
    p->gathered = 0;
    p->outranks_again = p->skips = false;
    heap_empty(&s->turns);
    return true;
}

enum step outrank(sched_t *s)
{
    enum { SKIP = 2, PLACE = 6, STAGES = 8 };
    static enum step (*const stage[STAGES])(sched_t * s) = {move_before, gather, skip,       tear,
                                                            lift_next,   wake,   place_next, mend};
    struct pass *p = &s->pass;
    if (class_order_refresh(s) < 0)
        return STEP_FAILED;
    if (!p->begun && !begin_outranking(s))
        return STEP_BUSY;
    for (; p->stage < STAGES; p->stage++) {
        enum step step = stage[p->stage](s);
        if (step != STEP_BUSY)
            return step;
        if (p->stage == SKIP && s->turns.n == 0 && !s->replan.is && !p->by_level)
            return STEP_BUSY;
        if (p->stage == PLACE && !level_is_last(p))
            return STEP_BUSY; /* the others when the levels before them have had their turns */
    }
    if (p->by_level || !p->outranks_again)
        return STEP_BUSY;
    p->begun =
        false; /* what they had goes to their limit's first ones, and they have a turn of their own */
    return STEP_DONE;
}
