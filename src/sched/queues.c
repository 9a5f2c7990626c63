/* A scheduler with named queues: its making, its end, and the ends of its jobs. */
#include "sched/queues.h"
#include "berth/sched_admin.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/blocks.h"
#include "sched/controllers/lots.h"
#include "sched/controllers/starving.h"
#include "sched/controllers/victims.h"
#include "sched/controllers/young.h"
#include "sched/pass/steps.h"
#include "sched/waiting/finder.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "place/graph.h"

void lanes_free(struct lane *lanes, uint32_t n)
{
    for (uint32_t i = 0; lanes && i < n; i++)
        lane_clear(&lanes[i]);
    free(lanes);
}

static int lane_setup(sched_t *s, struct lane *lane, const struct setup *setup, uint32_t queue,
                      berth_error_t *err)
{
    const struct setup_queue *q = &setup->queue[queue];
    berth_error_t why;
    int64_t part = s->place->ops->part(s->place, q->requires, &why);
    if (part < 0 && errno == EINVAL)
        return errtext_set(err, EINVAL, "queue %.60s: requires: %.180s", q->name, why.text);
    bool counted = s->place->is_counted; /* else groups go by units, jobs do not */
    int64_t most = counted ? s->place->most : INT32_MAX;
    if (part < 0 || lane_init(lane, most, counted ? most : 1) < 0)
        return errtext_no_memory(err);
    lane->part = (uint32_t)part;
    lane->queue = queue;
    lane->depth = q->depth;
    lane->queue_depth = q->queue_depth;
    return 0;
}

struct lane *lanes_new(sched_t *s, const struct setup *setup, uint32_t **lane_of, uint32_t *n,
                       berth_error_t *err)
{
    struct lane *lanes = calloc(setup->n_queues, sizeof(*lanes));
    uint32_t *of = reallocarray(NULL, setup->n_queues, sizeof(*of));
    int rc = lanes && of ? 0 : errtext_no_memory(err);
    *n = 0;
    for (uint32_t q = 0; q < setup->n_queues && rc == 0; q++) {
        if (setup->queue[q].parent != q)
            continue;
        of[q] = *n;
        rc = lane_setup(s, &lanes[*n], setup, q, err);
        ++*n;
    }
    for (uint32_t q = 0; q < setup->n_queues && rc == 0; q++)
        of[q] = of[setup->queue[q].parent];
    if (rc == 0) {
        *lane_of = of;
        return lanes;
    }
    int saved = errno;
    lanes_free(lanes, *n);
    *n = 0;
    free(of);
    errno = saved;
    return NULL;
}

/* What goes by a setup, which it owns from then on, also when that fails. NULL with ENOMEM. */
static struct queues *queues_new(struct setup *setup)
{
    struct queues *n = calloc(1, sizeof(*n));
    if (!n) {
        setup_destroy(setup);
        return NULL;
    }
    n->first = n->last = n->never_next = JOB_NONE;
    n->passed = -1;
    n->stopping_until = INT64_MAX; /* nobody runs */
    n->starting = -1;
    n->turn = n->preemptible_next = n->reclaim_next = n->never_at = INT64_MAX;
    n->setup = setup;
    n->limits = limits_create(setup);
    n->depend = depend_create();
    if (n->depend)
        depend_remember(n->depend, setup->ended_jobs);
    n->is_closed = calloc(setup->n_queues, sizeof(*n->is_closed));
    n->stats = calloc(setup->n_queues, sizeof(*n->stats));
    return n;
}

void queues_destroy(sched_t *s)
{
    struct queues *n = s->queues;
    for (uint32_t slot = 0; slot < s->n_jobs; slot++)
        if (s->jobs[slot].state != JOB_FREE)
            details_free(s, s->jobs[slot].details);
    job_groups_clear(&n->job_groups);
    depend_destroy(n->depend);
    limits_destroy(n->limits);
    blocks_clear(n);
    intern_clear(&n->texts);
    dict_clear(&n->jobspecs);
    dict_clear(&n->gang_arrays);
    heap_clear(&n->begins);
    heap_clear(&n->ends);
    heap_clear(&n->stops);
    heap_clear(&n->starves);
    free(n->starving);
    free(n->tries);
    free(n->claims);
    arena_clear(&n->told);
    strbuf_clear(&n->text);
    free(n->all_held.v);
    free(n->lane_of);
    free(n->is_closed);
    free(n->stats);
    free(n->limited);
    free(n->limited_vain);
    free(n->full);
    free(n->spare_details);
    free(n->candidates);
    free(n->extended);
    free(n->let_calendars);
    free(n->untold);
    free(n->victims);
    free(n->stopping);
    free(n->young.slot);
    lots_kept_free(n->lots_kept);
    free(n->runners.slot);
    free(n->runners.first);
    free(n->awaited);
    free(n->awaiting);
    free(n->stopped);
    free(n->holders);
    shares_destroy(n->shares);
    setup_destroy(n->setup);
    free(n);
    s->queues = NULL;
}

sched_t *core_new(struct place *place, struct setup *setup, berth_error_t *err)
{
    sched_t *s = place && setup ? calloc(1, sizeof(*s)) : NULL;
    if (!s) {
        int saved = place && setup ? ENOMEM : errno;
        if (place)
            place->ops->destroy(place);
        setup_destroy(setup);
        if (saved == ENOMEM)
            errtext_no_memory(err);
        errno = saved;
        return NULL;
    }
    s->place = place;
    s->controllers = setup->is_named ? controllers_all : controllers_none;
    s->finder = place->is_counted ? &finder_by_units : &finder_by_group;
    s->latest = setup->is_named ? QUEUES_TIME_MAX : INT64_MAX;
    s->seq = 1; /* 0 is before all (KEY_FIRST) */
    s->free_job = JOB_NONE;
    s->rejected = s->rejecting = JOB_NONE;
    s->swept = true;
    s->fresh_least = INT64_MAX;
    s->queues = queues_new(setup);
    struct queues *n = s->queues;
    if (n && setup->shares.is && place->ops->total)
        n->shares = shares_create(place, setup);
    if (!n || (setup->shares.is && !n->shares) || !n->limits || !n->depend || !n->is_closed ||
        !n->stats)
        errtext_no_memory(err);
    else if ((s->lanes = lanes_new(s, setup, &n->lane_of, &s->n_lanes, err)) != NULL)
        return s;
    sched_destroy(s);
    return NULL;
}

int sched_check_config(const struct sched_config *config, berth_error_t *err)
{
    struct setup *setup = setup_create(config, err);
    if (!setup)
        return -1;
    setup_destroy(setup);
    return 0;
}

sched_t *sched_create(struct match *machine, const struct sched_config *config, berth_error_t *err)
{
    struct setup *setup = setup_create(config, err);
    struct place *place = setup ? graph_place_create(machine, err) : NULL;
    sched_t *s = core_new(place, setup, err);
    if (s && blocks_configure(s, s->queues->setup, err) < 0) {
        sched_destroy(s);
        return NULL;
    }
    return s;
}

bool queues_check(const sched_t *s)
{
    const struct queues *n = s->queues;
    size_t displaced = 0;
    bool has_roles = true; /* as is known of each */
    for (uint32_t slot = n->first; slot != JOB_NONE; slot = s->jobs[slot].details->following) {
        const struct gang *gang = gang_of(s, slot);
        displaced += s->jobs[slot].details->displaced >= 0;
        has_roles &= s->jobs[slot].has_roles == (gang && gang->n_roles > 1);
    }
    return has_roles && displaced == n->n_displaced && dict_check(&n->jobspecs) &&
           dict_check(&n->gang_arrays) && s->finder->check(s) && limits_check(n->limits) &&
           depend_check(n->depend) && heap_check(&n->begins) && heap_check(&n->ends) &&
           heap_check(&n->stops) && heap_check(&n->starves) && clock_check(s) && members_check(s) &&
           held_list_check(s) && young_check(s) && lane_runners_check(s) && stopping_check(s) &&
           (!n->shares || shares_check(s));
}

/* Whether a job is stopped for one of a queue that is not preemptible, and such queues have promised times to jobs behind
 * it, of its level: these are not to be put off for that.
 */
static bool gives_way(const sched_t *s, uint32_t slot)
{
    const struct setup_queue *queue = s->queues->setup->queue;
    const struct job *job = &s->jobs[slot];
    if (!job->details->is_stopping || !is_preemptible(s, job))
        return false;
    for (uint32_t i = 0; i < s->n_lanes; i++) {
        const struct lane *lane = &s->lanes[i];
        struct queue_entry next = {.key = job->key};
        if (queue[lane->queue].preemptible != SCHED_NOT_PREEMPTIBLE)
            continue;
        bool any = queue_after(lane->held, &next.key, &next);
        while (any && s->jobs[next.item].is_preempting)
            any = queue_after(lane->held, &next.key, &next);
        if (any && !queue_before(level_last(job->key), next.key))
            return true;
    }
    return false;
}

/* A job that was preempted waits again, with its place in the order of submission. Returns 0, or -1 with
 * ENOMEM.
 */
static int requeue(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    int64_t lasted = job->ask.duration;
    bool yields = gives_way(s, slot);
    job->ask.duration = d->estimate;
    if (open_insert(s, slot, !yields) < 0) {
        job->ask.duration = lasted;
        return -1;
    }
    job->ask.duration = lasted;
    job_release(s, slot);
    job->ask.duration = d->estimate;
    lane_of(s, slot)->is_returned |= yields && !s->queues->shares;
    controllers_requeued(s, slot);
    tell_later(s, slot);
    return 0;
}

int sched_requeue(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    if (!time_is_good(s, now)) {
        errno = EINVAL;
        return -1;
    }
    if (requeue(s, slot) < 0)
        return -1;
    core_event(s, now);
    starving_begin(s, slot);
    running_released(s, slot);
    never_look(s, slot);
    return 0;
}
