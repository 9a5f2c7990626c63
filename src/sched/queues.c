/* A scheduler with named queues: its making, its end, and the ends of its jobs. */
#include "sched/queues.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "place/graph.h"
#include "sched/controllers/control.h"

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
    if (part < 0 || lane_init(lane, INT32_MAX, true) < 0)
        return errtext_set(err, ENOMEM, "out of memory");
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
    int rc = lanes && of ? 0 : errtext_set(err, ENOMEM, "out of memory");
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

static struct queues *queues_new(const struct sched_config *config, berth_error_t *err)
{
    struct queues *n = calloc(1, sizeof(*n));
    if (!n) {
        errtext_set(err, ENOMEM, "out of memory");
        return NULL;
    }
    n->first = n->last = JOB_NONE;
    n->passed = -1;
    n->turn = n->preemptible_next = INT64_MAX;
    n->setup = setup_create(config, err);
    if (!n->setup) {
        free(n);
        return NULL;
    }
    n->limits = limits_create(n->setup);
    n->depend = depend_create();
    n->is_closed = calloc(n->setup->n_queues, sizeof(*n->is_closed));
    n->stats = calloc(n->setup->n_queues, sizeof(*n->stats));
    return n;
}

void queues_destroy(sched_t *s)
{
    struct queues *n = s->queues;
    for (uint32_t slot = 0; slot < s->n_jobs; slot++)
        if (s->jobs[slot].state != JOB_FREE)
            details_free(s, s->jobs[slot].details);
    kinds_clear(&n->kinds);
    depend_destroy(n->depend);
    limits_destroy(n->limits);
    blocks_clear(n);
    intern_clear(&n->texts);
    dict_clear(&n->jobspecs);
    heap_clear(&n->begins);
    heap_clear(&n->ends);
    arena_clear(&n->told);
    strbuf_clear(&n->text);
    free(n->lane_of);
    free(n->is_closed);
    free(n->stats);
    free(n->limited);
    free(n->untold);
    free(n->victims);
    free(n->holders);
    setup_destroy(n->setup);
    free(n);
    s->queues = NULL;
}

sched_t *sched_create(struct match *machine, const struct sched_config *config, berth_error_t *err)
{
    struct queues *n = queues_new(config, err);
    if (!n)
        return NULL;
    struct place *place = graph_place_create(machine, err);
    sched_t *s = place ? core_new(place, err) : NULL;
    if (!s) {
        sched_t none = {.queues = n};
        int saved = errno;
        queues_destroy(&none);
        errno = saved;
        return NULL;
    }
    s->queues = n;
    if (!n->limits || !n->depend || !n->is_closed || !n->stats) {
        errtext_set(err, ENOMEM, "out of memory");
        sched_destroy(s);
        return NULL;
    }
    s->lanes = lanes_new(s, n->setup, &n->lane_of, &s->n_lanes, err);
    if (!s->lanes || blocks_configure(s, n->setup, err) < 0) {
        sched_destroy(s);
        return NULL;
    }
    return s;
}

bool queues_check(const sched_t *s)
{
    const struct queues *n = s->queues;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        if (lane_holds(&s->lanes[i]) < 0)
            return false;
    return dict_check(&n->jobspecs) && kinds_check(s) && limits_check(n->limits) &&
           depend_check(n->depend) && heap_check(&n->begins) && heap_check(&n->ends) &&
           clock_check(s);
}

int queues_event(sched_t *s, int64_t now)
{
    if (!s->queues) {
        errno = EINVAL;
        return -1;
    }
    if (core_advance(s, now) < 0)
        return -1;
    s->queues->events++;
    return 0;
}

void queues_ended(sched_t *s, uint32_t slot, bool ok, bool cancelled)
{
    struct queues *n = s->queues;
    struct details *d = s->jobs[slot].details;
    preempted_ended(s, slot);
    pending_end(s, slot);
    if (cancelled)
        n->stats[d->queue].cancelled++;
    else
        n->stats[d->queue].finished++;
    if (!d->is_nameless)
        depend_ended(n->depend, slot, ok);
    job_forget(s, slot);
    if (dependencies_resolve(s) < 0)
        n->recheck_depend = true;
    n->events++;
}

/* A job that was preempted waits again, with its place in the order of submission. Returns 0, or -1 with ENOMEM. */
static int requeue(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    int64_t lasted = job->ask.duration;
    job->ask.duration = d->limit;
    if (open_insert(s, slot, true) < 0) {
        job->ask.duration = lasted;
        return -1;
    }
    job->ask.duration = lasted;
    job_release(s, slot);
    job->ask.duration = d->limit;
    preempted_ended(s, slot);
    d->until = -1;
    pending_begin(s, slot);
    depend_requeued(n->depend, slot);
    heap_take(&n->ends, slot);
    victim_remove(s, slot);
    tell_later(s, slot);
    return 0;
}

static int check_time(const sched_t *s, int64_t now)
{
    if (time_is_good(s, now))
        return 0;
    errno = EINVAL;
    return -1;
}

/* A running job has given back what it held. */
static void ran(sched_t *s)
{
    s->running--;
    s->swept = false;
    s->woken = true;
}

int queues_finish(sched_t *s, int64_t now, uint32_t slot, bool ok)
{
    if (check_time(s, now) < 0)
        return -1;
    queues_event(s, now);
    job_release(s, slot);
    queues_ended(s, slot, ok, false);
    ran(s);
    return 0;
}

int sched_requeue(sched_t *s, int64_t now, sched_job_t handle)
{
    uint32_t slot = job_in_queue(s, handle);
    if (slot == JOB_NONE || s->jobs[slot].state != SCHED_RUNNING) {
        errno = EINVAL;
        return -1;
    }
    if (check_time(s, now) < 0 || requeue(s, slot) < 0)
        return -1;
    queues_event(s, now);
    ran(s);
    return 0;
}
