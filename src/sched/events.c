/* Events about jobs and queues that schedulers with queues are told of. */
#include <errno.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/limiter.h"
#include "sched/controllers/starving.h"
#include "sched/pass/displaced.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/job_group.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/members.h"

/* The slot of a waiting job, or JOB_NONE with EINVAL. */
static uint32_t waiting_of(const sched_t *s, int64_t now, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    if (slot != JOB_NONE && job_is_waiting(&s->jobs[slot]) && time_is_good(s, now))
        return slot;
    errno = EINVAL;
    return JOB_NONE;
}

int sched_hold(sched_t *s, int64_t now, sched_job_t job)
{
    uint32_t slot = waiting_of(s, now, job);
    if (slot == JOB_NONE)
        return -1;
    job_block(s, slot, BLOCK_HOLD);
    return core_event(s, now);
}

int sched_release(sched_t *s, int64_t now, sched_job_t job)
{
    uint32_t slot = waiting_of(s, now, job);
    bool held = slot != JOB_NONE && s->jobs[slot].details->blocked & BLOCK_HOLD;
    if (slot == JOB_NONE || job_unblock(s, slot, BLOCK_HOLD) < 0)
        return -1;
    core_event(s, now);
    if (held)
        starving_begin(s, slot);
    return 0;
}

int sched_set_begin(sched_t *s, int64_t now, sched_job_t handle, int64_t begin)
{
    uint32_t slot = waiting_of(s, now, handle);
    struct heap *begins = s->queues ? &s->queues->begins : NULL;
    if (slot == JOB_NONE || begin < 0 || is_entry(s, slot)) {
        errno = EINVAL;
        return -1;
    }
    bool later = begin > now, is_blocked = heap_has(begins, slot);
    if (later && !is_blocked && heap_put(begins, slot, begin, s->jobs[slot].key.seq) < 0)
        return -1;
    if (is_blocked) /* the next pass lets it go if that is over */
        heap_move(begins, slot, begin, s->jobs[slot].key.seq);
    s->jobs[slot].details->begin = begin;
    if (later)
        job_block(s, slot, BLOCK_BEGIN);
    return core_event(s, now);
}

/* Another duration of a job that waits. Returns 0, or -1 with ENOMEM and nothing changed. */
static int waiting_duration(sched_t *s, uint32_t slot, int64_t duration)
{
    struct job *job = &s->jobs[slot];
    uint8_t state = job->state;
    int64_t before = job->ask.duration;
    if (state != SCHED_BLOCKED && (open_reserve(s, slot) < 0 || tell_reserve(s->queues) < 0))
        return -1;
    if (state == SCHED_WAITING)
        open_remove(s, slot);
    job->ask.duration = duration;
    if (state != SCHED_BLOCKED)
        open_insert(s, slot, true); /* there is room for it */
    if (state == SCHED_RESERVED) {
        job->ask.duration = before;
        held_release(s, slot);
        job->ask.duration = duration;
        s->swept = false;
        tell_later(s, slot); /* whatever becomes of its promise */
    }
    return 0;
}

/* Another end of a job that runs. Returns 0, or -1 with ENOMEM. */
static int running_duration(sched_t *s, uint32_t slot, int64_t now, int64_t duration)
{
    struct job *job = &s->jobs[slot];
    int64_t was = job_until(job);
    int64_t until = job->at + duration > now ? job->at + duration : now;
    if (controllers_extend(s, slot, until) < 0)
        return -1;
    if (s->place->ops->extend(s->place, job->booking, until) < 0) {
        controllers_extend(s, slot, was); /* whose end may be gone: then it is counted for longer */
        errno = ENOMEM;
        return -1;
    }
    s->booked++;
    if (until > was) {
        repair_note(s, was, until);
    } else {
        int64_t before = s->now;
        s->now = now;
        note_freed(s, until, was);
        controllers_freed(s, slot);
        s->now = before;
        s->swept = false;
        s->queues->wake_all = true;
        displaced_return(s);
    }
    job->ask.duration = until - job->at;
    heap_move(&s->queues->ends, slot, until, job->key.seq);
    return 0;
}

/* What a change leaves of a job's limit and estimate. */
static void new_times(const sched_t *s, const struct details *d, int64_t *limit, int64_t *estimate)
{
    if (*estimate == 0)
        *estimate = *limit > 0 && *limit < SCHED_UNLIMITED ? *limit : d->estimate;
    if (*limit == 0)
        *limit = d->limit;
    *estimate = estimate_meant(s, *estimate, *limit);
}

/* A job's estimate has changed: its place may, but where there is no memory. One that runs has it if it waits again. */
static void estimate_changed(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct queue_key key;
    if (!key_has_length(s, slot) || !key_of(s, slot, job->details->priority, &key))
        return;
    if (job->state == SCHED_WAITING)
        open_rekey(s, slot, key);
    else
        job->key = key;
    class_order_changed(s, slot);
}

int sched_set_duration(sched_t *s, int64_t now, sched_job_t handle, int64_t limit, int64_t estimate,
                       berth_error_t *err)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE || !time_is_good(s, now) ||
        !(job_is_waiting(&s->jobs[slot]) || s->jobs[slot].state == SCHED_RUNNING))
        return errtext_set(err, EINVAL, "no such job");
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    new_times(s, d, &limit, &estimate);
    struct sched_reason why = {.kind = times_wrong(limit, estimate)};
    if (why.kind != SCHED_REASON_NONE)
        return refuse_call(&why, err);
    struct sched_reason_limit over;
    bool runs = job->state == SCHED_RUNNING; /* it keeps what it has */
    if (!(runs ? job_may_last(s, slot, limit, &over) : job_is_within(s, slot, limit, &over)))
        return refuse_limit(s, &over, err);
    int64_t needed = limit < SCHED_UNLIMITED ? limit : estimate;
    if (job->state != SCHED_RUNNING && blocks_leave_time(s, slot, needed, now, &why) < 0)
        return errno == ENOMEM ? errtext_no_memory(err) : refuse_call(&why, err);
    bool was_endless = job->state != SCHED_RUNNING && job->ask.duration >= s->place->endless;
    int rc = job->state == SCHED_RUNNING ? running_duration(s, slot, now, estimate)
                                         : waiting_duration(s, slot, estimate);
    if (rc < 0)
        return errtext_no_memory(err);
    if (was_endless && job->ask.duration < s->place->endless)
        displaced_return(s); /* nobody could be promised a time behind it */
    d->limit = limit;
    d->estimate = estimate;
    s->queues->stopping_is_stale |= runs;
    if (job->state == SCHED_WAITING)
        job_group_note_limit(s, slot);
    if (job->state == SCHED_BLOCKED && d->blocked & BLOCK_LIMIT)
        limit_ask_again(s, slot); /* there may be room for as long as that */
    estimate_changed(s, slot);
    tails_note(s, d);
    if (job->state == SCHED_RUNNING)
        judge_all(s->queues);
    if (gang_of(s, slot) && gang_of(s, slot)->is_over)
        gang_due(s, gang_of(s, slot)); /* it was left to its shell while its limit was over */
    s->queues->is_clear_late |= job->state == SCHED_RUNNING;
    s->woken = true;
    return core_event(s, now);
}

int sched_queue_set(sched_t *s, int64_t now, const char *queue, bool enabled, bool started,
                    berth_error_t *err)
{
    uint32_t q = setup_find(s->queues->setup, queue);
    if (q == SETUP_NONE)
        return errtext_set(err, ENOENT, "no such queue: %.200s", queue);
    if (s->queues->setup->queue[q].parent != q && !started)
        return errtext_set(err, EINVAL, "queue %.100s is virtual: its parent %.100s can be stopped",
                           queue, s->queues->setup->queue[s->queues->setup->queue[q].parent].name);
    struct lane *lane = &s->lanes[s->queues->lane_of[q]];
    if (!time_is_good(s, now))
        return errtext_set(err, EINVAL, "time goes back");
    s->queues->is_closed[q] = !enabled;
    if (s->queues->setup->queue[q].parent == q && lane->is_stopped == started) {
        struct queue_cursor c;
        lane->is_stopped = !started;
        lane->is_given_up |= !started && queue_size(lane->held) + queue_size(lane->kept) > 0;
        if (started)
            limit_ask_lane_again(s, lane);
        for (bool any = queue_begin(lane->open, &c); any; any = queue_next(&c)) {
            const struct details *d = s->jobs[queue_item(&c)].details;
            if (started && d && d->displaced >= 0)
                displaced_return(s); /* what came back meanwhile has not served it */
            tell_later(s, queue_item(&c));
        }
    }
    s->woken = true;
    return core_event(s, now);
}

/* Of an entry that holds a reservation, that is one member's; the others wait. */
static void count_now(const sched_t *s, uint32_t slot, size_t now[SCHED_BLOCKED + 1])
{
    int state = state_told(&s->jobs[slot]);
    uint64_t members = members_of(s, slot);
    now[state]++;
    now[state == SCHED_RESERVED ? SCHED_WAITING : state] += members - 1;
}

int sched_queue_stats(const sched_t *s, const char *queue, struct sched_queue_stats *stats)
{
    const struct queues *n = s->queues;
    uint32_t q = setup_find(n->setup, queue);
    if (q == SETUP_NONE) {
        errno = ENOENT;
        return -1;
    }
    *stats = n->stats[q];
    for (uint32_t slot = n->first; slot != JOB_NONE; slot = s->jobs[slot].details->following)
        if (s->jobs[slot].details->queue == q)
            count_now(s, slot, stats->now);
    stats->enabled = !n->is_closed[q];
    stats->started_up = !s->lanes[n->lane_of[q]].is_stopped;
    return 0;
}

/* The slot of a member: its own, or the entry if it waits there. */
static uint32_t slot_of_member(const sched_t *s, const char *id, uint32_t member)
{
    int64_t slot = depend_find(s->queues->depend, id, member);
    if (slot < 0)
        return JOB_NONE;
    if (is_entry(s, (uint32_t)slot)) {
        struct idset waiting = members_waiting(s->jobs[slot].details->of);
        return idset_has(&waiting, member) ? (uint32_t)slot : JOB_NONE;
    }
    return (uint32_t)slot;
}

sched_job_t sched_find(const sched_t *s, const char *id, uint32_t member)
{
    uint32_t slot = slot_of_member(s, id, member);
    if (slot != JOB_NONE)
        return job_handle(s, slot);
    errno = ENOENT;
    return -1;
}

sched_job_t sched_member(sched_t *s, sched_job_t array, uint32_t i)
{
    uint32_t slot = job_in_queue(s, array);
    if (slot == JOB_NONE)
        return -1;
    if (!s->jobs[slot].details->of) {
        errno = EINVAL;
        return i == 0 ? array : -1;
    }
    if (!s->jobs[slot].details->is_nameless) {
        slot = slot_of_member(s, depend_base_id(s->queues->depend, slot), i);
        if (slot != JOB_NONE)
            return job_handle(s, slot);
    }
    errno = EINVAL;
    return -1;
}

int64_t sched_index(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    return slot == JOB_NONE ? -1 : (int64_t)s->jobs[slot].details->member;
}

int64_t sched_members(sched_t *s, sched_job_t job, const char **text)
{
    uint32_t slot = job_in_queue(s, job);
    struct strbuf *out = &s->queues->text;
    if (slot == JOB_NONE)
        return -1;
    strbuf_reset(out);
    if (is_entry(s, slot)) {
        struct idset waiting = members_waiting(s->jobs[slot].details->of);
        idset_encode_steps(&waiting, out);
    }
    *text = strbuf_text(out);
    if (!out->failed)
        return (int64_t)members_of(s, slot);
    errno = ENOMEM;
    return -1;
}

sched_job_t sched_split(sched_t *s, int64_t now, sched_job_t array, uint32_t member)
{
    sched_job_t handle = sched_member(s, array, member);
    uint32_t slot = handle < 0 ? JOB_NONE : job_find(s, handle);
    if (slot == JOB_NONE || !time_is_good(s, now) || s->jobs[slot].state == SCHED_REJECTED) {
        errno = EINVAL;
        return -1;
    }
    if (!is_entry(s, slot))
        return handle;
    slot = part_any(s, slot, member);
    if (slot == JOB_NONE)
        return -1;
    core_event(s, now);
    return job_handle(s, slot);
}

sched_job_t sched_first(const sched_t *s)
{
    return s->queues->first != JOB_NONE ? job_handle(s, s->queues->first) : -1;
}

sched_job_t sched_next(const sched_t *s, sched_job_t job)
{
    uint32_t slot = job_in_queue(s, job);
    uint32_t next = slot == JOB_NONE ? JOB_NONE : s->jobs[slot].details->following;
    return next == JOB_NONE ? -1 : job_handle(s, next);
}
