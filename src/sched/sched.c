/* The scheduling core's life, the events that all schedulers are told of, and plain questions
 * (berth/sched.h).
 */
#include "berth/sched_config.h"
#include "berth/sched_query.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "place/cores.h"
#include "place/flat.h"
#include "sched/controllers/controller.h"
#include "sched/pass/displaced.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang_array.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"
#include "sched/waiting/turns.h"

static int check_params(const struct sched_params *params, berth_error_t *err)
{
    char names[ERRTEXT_LIST_MAX];
    if (!sched_policy_find(params->policy))
        return errtext_set(err, EINVAL, "unknown policy \"%s\": expected %s",
                           params->policy ? params->policy : "",
                           errtext_list(names, sizeof(names), sched_policies(), " or "));
    if (params->order < SCHED_ORDER_SUBMIT || params->order > SCHED_ORDER_PRIORITY)
        return errtext_set(err, EINVAL, "unknown order of the queue: %d", (int)params->order);
    return 0;
}

/* A scheduler with one queue without a name. */
static sched_t *create(struct place *place, const struct sched_params *params, berth_error_t *err)
{
    struct setup *setup = place ? setup_unnamed(params, err) : NULL;
    if (!place)
        errtext_no_memory(err);
    return core_new(place, setup, err);
}

sched_t *sched_create_flat(int64_t units, const struct sched_params *params, berth_error_t *err)
{
    if (units < 1) {
        errtext_set(err, EINVAL, "a machine needs at least 1 unit, not %lld", (long long)units);
        return NULL;
    }
    return check_params(params, err) < 0 ? NULL : create(flat_create(units), params, err);
}

sched_t *sched_create_match(struct match *machine, const struct sched_params *params,
                            berth_error_t *err)
{
    if (check_params(params, err) < 0)
        return NULL;
    struct place *place = cores_place_create(machine, err);
    return place ? create(place, params, err) : NULL;
}

int64_t sched_units(const sched_t *s)
{
    return s->place->most;
}

void sched_destroy(sched_t *s)
{
    if (!s)
        return;
    int saved = errno;
    if (s->queues)
        queues_destroy(s);
    lanes_free(s->lanes, s->n_lanes);
    s->place->ops->destroy(s->place);
    heap_clear(&s->due);
    heap_clear(&s->turns);
    free(s->due_list);
    free(s->fresh);
    free(s->jobs);
    free(s->decisions);
    free(s);
    errno = saved;
}

/* A job of so many units, for a scheduler whose queue has no name. */
static sched_job_t submit_units(sched_t *s, int64_t now, const struct sched_request *request)
{
    if (request->units < 1 || request->duration < 1 || !time_is_good(s, now) ||
        request->duration > INT64_MAX - now) {
        errno = EINVAL;
        return -1;
    }
    uint32_t slot = job_alloc(s);
    if (slot == JOB_NONE)
        return -1;
    struct job *job = &s->jobs[slot];
    job->submitted = now;
    job->ask = (struct place_ask){
        .units = request->units, .duration = request->duration, .class = PLACE_NO_CLASS};
    job->tag = request->tag;
    job->lane = 0;
    job->key.seq = s->seq;
    key_of(s, slot, request->priority, &job->key);
    if (request->units > s->place->most) {
        rejected_push(s, slot);
    } else if (open_insert(s, slot, true) < 0) {
        job_unalloc(s, slot); /* its handle was never given out */
        return -1;
    }
    s->seq++;
    core_event(s, now);
    return job_handle(s, slot);
}

sched_job_t sched_submit(sched_t *s, int64_t now, const struct sched_request *request)
{
    return s->queues->setup->is_named ? queues_submit(s, now, request)
                                      : submit_units(s, now, request);
}

int sched_finish(sched_t *s, int64_t now, sched_job_t handle, bool ok)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    if (s->jobs[slot].state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    if (core_event(s, now) < 0)
        return -1;
    job_release(s, slot);
    running_released(s, slot);
    job_ended(s, slot, ok ? JOB_FINISHED : JOB_FAILED);
    return 0;
}

/* Take a job out of wherever it is. */
static void take_out_of_state(sched_t *s, uint32_t slot)
{
    if (job_is_waiting(&s->jobs[slot]) && s->jobs[slot].ask.duration >= s->place->endless)
        displaced_return(s); /* nobody could be promised a time behind it */
    switch (s->jobs[slot].state) {
    case SCHED_WAITING:
        open_remove(s, slot);
        break;
    case SCHED_RESERVED:
        held_release(s, slot);
        s->swept = false;
        break;
    case SCHED_RUNNING:
        job_release(s, slot);
        running_released(s, slot);
        break;
    case SCHED_REJECTED:
        rejected_unlink(s, slot);
        break;
    default:
        break;
    }
}

int sched_cancel(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE || core_event(s, now) < 0)
        return -1;
    take_out_of_state(s, slot);
    job_ended(s, slot, JOB_CANCELLED);
    s->woken = true;
    return 0;
}

int sched_prioritize(sched_t *s, int64_t now, sched_job_t handle, int64_t priority)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    struct job *job = &s->jobs[slot];
    struct queue_key key;
    if (job->state == SCHED_REJECTED || !time_is_good(s, now) || !key_of(s, slot, priority, &key)) {
        errno = EINVAL;
        return -1;
    }
    struct details *d = job->details;
    int64_t old = d ? d->priority : 0;
    if (d && priority != old && !order_takes(s->queues->setup, d->queue, priority)) {
        errno = EINVAL;
        return -1;
    }
    struct queue_key was = job->key; /* without what is held of its array */
    if (d &&
        (class_order_refresh(s) < 0 || gang_order_refresh(s) < 0 || !key_of(s, slot, old, &was)))
        return -1;
    bool moves = key.rank != was.rank && job->state != SCHED_RUNNING;
    job->key = job->state == SCHED_RUNNING ? key : job->key;
    if (d) { /* its turn goes by that */
        d->priority = priority;
        gang_array_changed(s, slot);
    }
    if (moves && job_rekey(s, slot, key) < 0) {
        if (d)
            d->priority = old;
        return -1;
    }
    if (d) {
        if (s->queues->shares)
            turns_changed(s, s->queues->shares->job[slot].leaf);
        s->queues->stats[d->queue].reprioritized++;
    }
    if (d && priority != old && s->queues->setup->preempts)
        s->queues->reclaim_next = s->now; /* others may be stopped, or stop others */
    bool may_be_stopped =                 /* for others, or no more */
        d && job->state == SCHED_RUNNING && priority != old && s->queues->setup->preempts;
    return moves || may_be_stopped ? core_event(s, now) : core_advance(s, now);
}

void sched_priorities(const sched_t *s, int64_t *least, int64_t *most)
{
    struct priorities room = order_priorities(s->queues->setup);
    *least = room.least;
    *most = room.most;
}

int sched_state(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    return slot == JOB_NONE ? -1 : state_told(&s->jobs[slot]);
}

int64_t sched_start_time(const sched_t *s, sched_job_t handle)
{
    uint32_t slot = job_find(s, handle);
    int state = slot == JOB_NONE ? -1 : state_told(&s->jobs[slot]);
    if (state == SCHED_RUNNING || state == SCHED_RESERVED)
        return s->jobs[slot].at;
    errno = EINVAL;
    return -1;
}

int sched_cores(sched_t *s, sched_job_t handle, const struct resource_range **ranges, size_t *n)
{
    uint32_t slot = job_find(s, handle);
    if (slot == JOB_NONE)
        return -1;
    const struct job *job = &s->jobs[slot];
    if (job->state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    *ranges = NULL;
    *n = 0;
    if (!s->place->ops->given)
        return 0;
    int64_t found = s->place->ops->given(s->place, job->booking, ranges, NULL);
    if (found < 0)
        return -1;
    *n = (size_t)found;
    return 0;
}

size_t sched_waiting(const sched_t *s)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        n += queue_size(s->lanes[i].open) + queue_size(s->lanes[i].held) +
             queue_size(s->lanes[i].kept);
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        if (s->jobs[slot].state == SCHED_WAITING || s->jobs[slot].state == SCHED_RESERVED)
            n += members_of(s, slot) - 1;
    return n;
}

size_t sched_running(const sched_t *s)
{
    return s->running;
}

/* A held job is due at its time, but for one that waits for preempted jobs. */
static bool due_is_right(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if ((job->state == SCHED_RESERVED) != heap_has(&s->due, slot))
        return false;
    if (job->state != SCHED_RESERVED)
        return true;
    int64_t key = s->due.v[s->due.place[slot] - 1].key;
    return key == (job_waits_for_victims(job) || job->is_claiming ? INT64_MAX : job->at);
}

bool sched_check(const sched_t *s)
{
    size_t count[SCHED_BLOCKED + 1] = {0};
    size_t open = 0;
    size_t held = 0;
    for (uint32_t slot = 0; slot < s->n_jobs; slot++) {
        const struct job *job = &s->jobs[slot];
        if (job->state == JOB_FREE)
            continue;
        count[job->state]++;
        if (!due_is_right(s, slot))
            return false;
    }
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        open += queue_size(lane->open);
        held += queue_size(lane->held) + queue_size(lane->kept);
        if (!queue_check(lane->open) || !queue_check(lane->held) || !queue_check(lane->kept) ||
            lane_holds(lane) < 0 ||
            (s->place->is_counted && !s->replan.is && lane_holds(lane) > lane->depth) ||
            !needs_down_check(s, lane))
            return false;
    }
    return count[SCHED_WAITING] == open && count[SCHED_RESERVED] == held &&
           count[SCHED_RESERVED] == s->due.n && count[SCHED_RUNNING] == s->running &&
           heap_check(&s->due) && heap_check(&s->turns) && s->place->ops->check(s->place) &&
           queues_check(s);
}
