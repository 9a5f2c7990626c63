/* Blocks: resources set aside for a time, and for whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/rows.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_turns.h"
#include "sched/waiting/lane.h"

#define BLOCKS_TRIED 4 /* of those that keep a job from starting, which one does */

void blocks_clear(struct queues *n)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++)
        free(n->block[i].block);
}

int permits_of(sched_t *s, uint32_t slot, uint64_t *permits)
{
    const struct queues *n = s->queues;
    const struct details *d = s->jobs[slot].details;
    const char *id = NULL;
    *permits = 0;
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        if (!n->block[i].block)
            continue;
        id = id ? id : base_id(s, slot);
        if (n->text.failed) {
            errno = ENOMEM;
            return -1;
        }
        if (setup_permits(n->setup, n->block[i].block, d->queue, d->user, id))
            *permits |= UINT64_C(1) << i;
    }
    return 0;
}

uint64_t blocks_now(const sched_t *s, uint32_t slot)
{
    const struct queues *n = s->queues;
    const struct place_ask *ask = &s->jobs[slot].ask;
    return blocks_during(n, n->blocks_set & ~ask->permits, s->now, s->now + clear_for(s, slot));
}

/* Of some blocks the one whose turn is over next, of several the first by name: numbers may change. */
static uint32_t next_over(const sched_t *s, uint64_t blocks, int64_t end, int64_t *until)
{
    uint32_t next = BLOCKS_MAX;
    for (; blocks; blocks &= blocks - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(blocks);
        const struct sched_block *b = s->queues->block[i].block;
        int64_t at = block_met_until(b, s->now, end);
        if (next < BLOCKS_MAX &&
            (at > *until ||
             (at == *until && strcmp(b->name, s->queues->block[next].block->name) > 0)))
            continue;
        next = i;
        *until = at;
    }
    return next;
}

bool blocks_leave_room(sched_t *s, const struct place_ask *ask, uint64_t gone)
{
    struct place_ask beside = *ask;
    beside.permits |= gone;
    int64_t booking = s->place->ops->probe(s->place, &beside, s->now);
    if (booking >= 0)
        s->place->ops->release(s->place, booking);
    return booking >= 0;
}

/* Turns are over one after the other: with which of them there is room. Of many, an early one is told. */
void blocks_reason(sched_t *s, uint32_t slot, uint64_t met, struct sched_reason *why)
{
    const struct place_ask *ask = &s->jobs[slot].ask;
    uint64_t gone = 0;
    int64_t until = 0, end = s->now + clear_for(s, slot);
    uint32_t number;
    int tried = 0;
    do {
        number = next_over(s, met & ~gone, end, &until);
        gone |= UINT64_C(1) << number;
    } while (met & ~gone && tried++ < BLOCKS_TRIED && !blocks_leave_room(s, ask, gone));
    *why = (struct sched_reason){.kind = SCHED_REASON_SET_ASIDE,
                                 .block = s->queues->block[number].block->name,
                                 .at = until,
                                 .second = s->queues->setup->second};
}

/* A block's number by its name, or that of a free one if `name` is NULL; BLOCKS_MAX: there is none. */
static uint32_t block_find(const struct queues *n, const char *name)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        const struct sched_block *b = n->block[i].block;
        if (name ? b && strcmp(b->name, name) == 0 : !b)
            return i;
    }
    return BLOCKS_MAX;
}

/* A waiting job goes from its group to that of other permits. Returns 0, or -1 with ENOMEM and nothing
 * changed.
 */
static int permit(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    uint64_t before = job->ask.permits;
    if (d->is_nameless || d->job_group == JOB_GROUP_NONE)
        return 0;
    uint64_t permits;
    if (permits_of(s, slot, &permits) < 0)
        return -1;
    if (permits == before)
        return 0;
    bool open = job->state == SCHED_WAITING, fresh = job->is_fresh;
    job->ask.permits = permits;
    int64_t group = job_group_enter(s, &job->ask, job->lane, line_number(s, slot));
    job->ask.permits = before;
    if (group < 0)
        return -1;
    uint32_t old = d->job_group;
    d->job_group = (uint32_t)group;
    if (open && open_reserve(s, slot) < 0) {
        d->job_group = old;
        job_group_leave(&s->queues->job_groups, (uint32_t)group);
        errno = ENOMEM;
        return -1;
    }
    d->job_group = old;
    if (open)
        open_remove(s, slot);
    d->job_group = (uint32_t)group;
    job->ask.permits = permits;
    if (open)
        open_insert(s, slot, fresh); /* there is room for it */
    job_group_leave(&s->queues->job_groups, old);
    return 0;
}

/* Look anew which blocks each waiting job may use. Returns 0, or -1 with ENOMEM. */
static int permit_all(sched_t *s)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (permit(s, slot) < 0)
            return -1;
    return 0;
}

/* Everything is looked over as after a change of the machine. */
static void looked_over(sched_t *s, int64_t now)
{
    struct queues *n = s->queues;
    n->turn = s->place->ops->turn(s->place, now);
    n->is_clear_late = true;
    judge_all(n); /* until when jobs without a limit may be there */
    s->swept = false;
    note_freed(s, now, INT64_MAX);
    repair_note(s, 0, INT64_MAX);
    limit_ask_all_again(s); /* there may be a time for them that there was not */
    displaced_return(s);
    if (n->shares)
        class_turns_measure(n->shares); /* a block may have another's number by now */
}

static int set(sched_t *s, uint32_t number, const struct sched_block *b, bool configured,
               berth_error_t *err)
{
    struct queues *n = s->queues;
    struct sched_block *copy = setup_copy_block(b);
    if (!copy)
        return errtext_no_memory(err);
    berth_error_t why;
    if (s->place->ops->block(s->place, number, b->resources, b->start, b->duration, b->every,
                             &why) < 0) {
        int saved = errno;
        free(copy);
        return errtext_set(err, saved, "block %.60s: %.180s", b->name, why.text);
    }
    free(n->block[number].block);
    n->block[number] = (struct block_slot){copy, configured};
    n->blocks_set |= UINT64_C(1) << number;
    return 0;
}

static void unset(sched_t *s, uint32_t number)
{
    s->place->ops->block(s->place, number, NULL, 0, 0, 0, NULL);
    free(s->queues->block[number].block);
    s->queues->block[number].block = NULL;
    s->queues->blocks_set &= ~(UINT64_C(1) << number);
}

int sched_block(sched_t *s, int64_t now, const struct sched_block *block, berth_error_t *err)
{
    struct queues *n = s->queues;
    if (s->place->is_counted || !time_is_good(s, now))
        return errtext_set(err, EINVAL, "blocks are for named queues, and time does not go back");
    if (setup_check_block(n->setup, block, err) < 0)
        return -1;
    uint32_t number = block_find(n, block->name);
    if (number == BLOCKS_MAX)
        number = block_find(n, NULL);
    if (number == BLOCKS_MAX)
        return errtext_set(err, EINVAL, "more than %d blocks", BLOCKS_MAX);
    if (set(s, number, block, false, err) < 0)
        return -1;
    core_event(s, now);
    looked_over(s, now);
    n->is_permitted_late = permit_all(s) < 0;
    never_look_all(s);
    return 0;
}

int sched_unblock(sched_t *s, int64_t now, const char *name, berth_error_t *err)
{
    struct queues *n = s->queues;
    uint32_t number = block_find(n, name);
    if (number == BLOCKS_MAX)
        return errtext_set(err, ENOENT, "no such block: %.200s", name);
    if (!time_is_good(s, now))
        return errtext_set(err, EINVAL, "time goes back");
    unset(s, number);
    core_event(s, now);
    looked_over(s, now);
    n->is_permitted_late = permit_all(s) < 0;
    return 0;
}

/* Put the blocks of a setup in their places. Returns 0, or -1 with a text. */
static int set_all(sched_t *s, const struct setup *setup, bool *keep, berth_error_t *err)
{
    struct queues *n = s->queues;
    for (size_t i = 0; i < setup->n_blocks; i++) {
        uint32_t number = block_find(n, setup->block[i].name);
        if (number == BLOCKS_MAX)
            number = block_find(n, NULL);
        if (number == BLOCKS_MAX)
            return errtext_set(err, EINVAL, "more than %d blocks", BLOCKS_MAX);
        if (set(s, number, &setup->block[i], true, err) < 0)
            return -1;
        keep[number] = true;
    }
    return 0;
}

/* Copies of all blocks there are, in `old`. Returns 0, or -1 with ENOMEM. */
static int copy_all(const struct queues *n, struct block_slot *old)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        old[i] = n->block[i];
        if (!old[i].block)
            continue;
        old[i].block = setup_copy_block(n->block[i].block);
        if (!old[i].block) {
            while (i-- > 0)
                free(old[i].block);
            return -1;
        }
    }
    return 0;
}

int blocks_configure(sched_t *s, const struct setup *setup, berth_error_t *err)
{
    struct queues *n = s->queues;
    struct block_slot old[BLOCKS_MAX];
    bool keep[BLOCKS_MAX] = {false};
    if (copy_all(n, old) < 0)
        return errtext_no_memory(err);
    int rc = set_all(s, setup, keep, err);
    int saved = errno;
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        if (rc == 0 && n->block[i].block && n->block[i].is_configured && !keep[i])
            unset(s, i);
        if (rc < 0 && n->block[i].block && !old[i].block)
            unset(s, i);
        else if (rc < 0 && old[i].block)
            set(s, i, old[i].block, old[i].is_configured, NULL);
        free(old[i].block);
    }
    errno = saved;
    if (rc < 0)
        return -1;
    looked_over(s, s->now);
    return 0;
}

/* Whether others may be stopped for jobs that are promised a time, or have a claim. */
static bool may_stop_others(const sched_t *s)
{
    const struct queues *n = s->queues;
    return n->n_victims > 0 || (n->setup->preempts && s->running > 0);
}

/* Whether any job waits that a pass could start, so that it matters what blocks shut. */
static bool somebody_waits(const sched_t *s)
{
    bool stops = may_stop_others(s);
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        bool holds = queue_size(lane->held) + queue_size(lane->kept) > 0;
        if (!lane->is_stopped && (queue_size(lane->open) > 0 || (stops && holds)))
            return true;
    }
    return false;
}

static enum step turn_blocks(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->is_permitted_late && permit_all(s) < 0)
        return STEP_FAILED;
    n->is_permitted_late = false;
    enum step step = never_step(s);
    if (step != STEP_BUSY)
        return step;
    if (n->turn > s->now)
        return STEP_BUSY;
    n->turn = s->place->ops->turn(s->place, s->now); /* which the machine notes as freed */
    for (uint32_t i = 0; i < s->n_lanes; i++)
        s->swept &= s->lanes[i].preempting == 0; /* one may start beside its victims */
    return STEP_BUSY;
}

static int64_t next_block_time(const sched_t *s)
{
    const struct queues *n = s->queues;
    int64_t turn = somebody_waits(s) ? n->turn : INT64_MAX;
    return n->never_at < turn && n->listed > s->running ? n->never_at : turn;
}

const struct controller block_controller = {
    .name = "block",
    .turn = turn_blocks,
    .next_time = next_block_time,
};
