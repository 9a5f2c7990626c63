#include "sched/controllers/starving.h"

#include <stdlib.h>

#include "base/array.h"
#include "berth/sched_config.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/rows.h"
#include "sched/pass/steps.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shut_class.h"

/* ---- From when on ---- */

static bool is_pending(const struct job *job)
{
    return job_is_waiting(job) && job->details && !(job->details->blocked & BLOCKS_PENDING);
}

int64_t starves_at(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    int64_t threshold = s->queues->setup->queue[d->queue].starvation_threshold;
    return threshold < SCHED_UNLIMITED ? d->since + threshold : INT64_MAX;
}

static void forget_starve_time(sched_t *s, uint32_t slot)
{
    struct heap *starves = &s->queues->starves;
    if (heap_has(starves, slot))
        heap_take(starves, slot);
}

void starving_resume(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    const struct job *job = &s->jobs[slot];
    int64_t at = is_pending(job) && !job->details->is_starving ? starves_at(s, slot) : INT64_MAX;
    if (at == INT64_MAX)
        forget_starve_time(s, slot);
    else if (heap_has(&n->starves, slot))
        heap_move(&n->starves, slot, at, job->key.seq);
    else
        n->is_starving_late |= heap_put(&n->starves, slot, at, job->key.seq) < 0;
}

void starving_begin(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    if (!d)
        return;
    d->since = s->now;
    d->is_starving = false;
    starving_resume(s, slot);
}

/* ---- Who is ---- */

static int starving_reserve(struct queues *n)
{
    return array_grow((void **)&n->starving, &n->cap_starving, n->n_starving + 1,
                      sizeof(*n->starving));
}

/* A job is starving. There is room in the list. */
static void starving_add(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    s->jobs[slot].details->is_starving = true;
    n->starving[n->n_starving++] = slot;
    n->starving_tried = (struct tried){0};
}

void starving_opened(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    if (!s->jobs[slot].details->is_starving)
        return;
    n->is_starving_late |= starving_reserve(n) < 0;
    if (n->is_starving_late)
        return;
    starving_add(s, slot);
    n->any_opened_starving = true;
}

void starving_parted(sched_t *s, uint32_t part)
{
    starving_opened(s, part);
    starving_resume(s, part);
}

bool starving_is_due(const sched_t *s)
{
    return s->queues->any_opened_starving;
}

/* The list without those that are so no more, or are listed twice. */
static void starving_clean(sched_t *s)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    for (size_t i = 0; i < n->n_starving; i++) {
        struct details *d = s->jobs[n->starving[i]].details;
        bool is = s->jobs[n->starving[i]].state != JOB_FREE && d && d->is_starving &&
                  is_pending(&s->jobs[n->starving[i]]);
        if (is && !d->is_listed)
            n->starving[kept++] = n->starving[i];
        if (is)
            d->is_listed = true;
    }
    n->n_starving = kept;
    for (size_t i = 0; i < kept; i++)
        s->jobs[n->starving[i]].details->is_listed = false;
}

bool starving_may(const sched_t *s, uint32_t slot)
{
    const struct lane *lane = lane_of(s, slot);
    const struct details *d = s->jobs[slot].details;
    struct queue_entry first;
    if (!d || !d->is_starving || lane->is_stopped || s->jobs[slot].state != SCHED_WAITING ||
        shares_shut_class(s, slot))
        return false;
    if (lane->depth > 0)
        return true;
    return !starving_is_before(s, lane, s->jobs[slot].key) && shares_first_open(s, lane, &first) &&
           first.item == slot;
}

void starving_relieved(sched_t *s, uint32_t slot)
{
    s->jobs[slot].details->is_relieved = true;
    lane_of(s, slot)->relieved++;
}

bool starving_is_before(const sched_t *s, const struct lane *lane, struct queue_key key)
{
    struct queue_cursor c;
    if (lane->relieved == 0)
        return false;
    for (bool any = queue_begin(lane->kept, &c); any; any = queue_next(&c)) {
        const struct job *job = &s->jobs[queue_item(&c)];
        if (job->details->is_relieved)
            return queue_before(job->key, key);
    }
    return false;
}

static void relieved_no_more(sched_t *s, uint32_t slot)
{
    struct details *d = s->jobs[slot].details;
    lane_of(s, slot)->relieved -= d->is_relieved;
    d->is_relieved = false;
}

/* ---- All of them ---- */

void starving_look_all(sched_t *s)
{
    s->queues->is_starving_late = true;
}

/* Look at a job, after thresholds have changed. Returns 0, or -1 with ENOMEM. */
static int look_again(sched_t *s, uint32_t slot)
{
    struct job *job = &s->jobs[slot];
    struct details *d = job->details;
    bool is = is_pending(job) && starves_at(s, slot) <= s->now;
    d->is_starving &= is;
    if (d->is_starving && starving_reserve(s->queues) < 0)
        return -1;
    if (d->is_starving)
        starving_add(s, slot);
    if (d->is_relieved && !is && held_to_open(s, slot, true) < 0)
        return -1;
    starving_resume(s, slot);
    return 0;
}

static int look_at_all(sched_t *s)
{
    struct queues *n = s->queues;
    n->is_starving_late = false;
    n->n_starving = 0;
    for (uint32_t slot = n->first; slot != JOB_NONE && !n->is_starving_late;
         slot = s->jobs[slot].details->following)
        n->is_starving_late |= look_again(s, slot) < 0;
    return n->is_starving_late ? -1 : 0;
}

void starving_restored(sched_t *s, int64_t passed)
{
    for (uint32_t slot = s->queues->first; slot != JOB_NONE;
         slot = s->jobs[slot].details->following)
        s->jobs[slot].details->is_starving =
            is_pending(&s->jobs[slot]) && starves_at(s, slot) <= passed;
    look_at_all(s); /* where there is no memory for that, the next pass does */
}

/* The next one whose time has come is starving, and takes its turn as a new job. */
static enum step starve_next_due(sched_t *s)
{
    struct queues *n = s->queues;
    if (n->is_starving_late && look_at_all(s) < 0)
        return STEP_FAILED;
    if (n->starves.n == 0 || n->starves.v[0].key > s->now)
        return STEP_BUSY;
    uint32_t slot = n->starves.v[0].item;
    if (!is_pending(&s->jobs[slot])) {
        heap_take(&n->starves, slot);
        return STEP_DONE;
    }
    if (starving_reserve(n) < 0 ||
        (s->jobs[slot].state == SCHED_WAITING && open_renew(s, slot) < 0))
        return STEP_FAILED;
    heap_take(&n->starves, slot);
    starving_add(s, slot);
    return STEP_DONE;
}

static int64_t next_starving_time(const sched_t *s)
{
    const struct heap *starves = &s->queues->starves;
    return starves->n > 0 ? starves->v[0].key : INT64_MAX;
}

/* ---- In a walk ---- */

void starving_walk(sched_t *s)
{
    struct queues *n = s->queues;
    n->n_tries = n->next_try = n->first_try = 0;
    n->lists_tries = n->n_starving > 0 &&
                     (s->woken || n->any_opened_starving || !tried_is_now(s, &n->starving_tried));
    n->any_opened_starving = false;
    n->n_listed = n->n_starving;
}

void starving_round(sched_t *s, bool is_first)
{
    struct queues *n = s->queues;
    if (is_first)
        n->first_try = n->next_try;
    else
        n->next_try = n->first_try;
}

void starving_walked(sched_t *s)
{
    s->queues->starving_tried =
        tried_now(s); /* what was tried in vain has given back what it took */
}

int starving_list(sched_t *s)
{
    struct queues *n = s->queues;
    if (!n->lists_tries && !n->any_opened_starving)
        return 0;
    if (n->lists_tries) {
        starving_clean(s);
        n->n_listed = 0;
    }
    if (array_grow((void **)&n->tries, &n->cap_tries, n->n_tries + n->n_starving + 1,
                   sizeof(*n->tries)) < 0)
        return -1;
    n->lists_tries = n->any_opened_starving = false;
    for (size_t i = n->n_listed; i < n->n_starving; i++)
        if (state_told(&s->jobs[n->starving[i]]) == SCHED_WAITING)
            n->tries[n->n_tries++] = (struct due){s->jobs[n->starving[i]].key, n->starving[i]};
    n->n_listed = n->n_starving;
    if (n->n_tries > n->next_try)
        qsort(n->tries + n->next_try, n->n_tries - n->next_try, sizeof(*n->tries), due_compare);
    return 0;
}

/* The next one is looked at by the key that it has now: at once, or in its turn behind others. */
static void try_again_by(struct queues *n, struct queue_key key)
{
    struct due *v = n->tries;
    v[n->next_try].key = key;
    for (size_t i = n->next_try; i + 1 < n->n_tries && due_compare(&v[i + 1], &v[i]) < 0; i++) {
        struct due later = v[i];
        v[i] = v[i + 1];
        v[i + 1] = later;
    }
}

uint32_t starving_next(sched_t *s)
{
    struct queues *n = s->queues;
    while (n->next_try < n->n_tries) {
        const struct due *next = &n->tries[n->next_try];
        const struct job *job = &s->jobs[next->slot];
        bool is = job->is_claiming || starving_may(s, next->slot);
        if (!is)
            n->next_try++;
        else if (!queue_same(job->key, next->key)) /* what its class holds has changed, say */
            try_again_by(n, job->key);
        else
            return queue_before(s->pass.floor, next->key) ? JOB_NONE : next->slot;
    }
    return JOB_NONE;
}

void starving_looked(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    const struct job *job = &s->jobs[slot];
    if (job->state == SCHED_WAITING && job->key.seq != n->tries[n->next_try].key.seq)
        try_again_by(n, job->key);
    else
        n->next_try++;
}

static enum step look_at_claim(sched_t *s, uint32_t slot)
{
    enum step step = claim_look(s, slot);
    if (step != STEP_FAILED)
        starving_looked(s, slot);
    return step;
}

enum step starving_start(sched_t *s, uint32_t slot)
{
    enum step step = start_open(s, slot, true);
    if (step != STEP_BUSY || !claims_lift(s, CLAIMS_BEHIND, slot))
        return step;
    step = start_surely(s, slot);
    claims_lay(s);
    return step;
}

enum step starving_look(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    if (s->jobs[slot].is_claiming)
        return look_at_claim(s, slot);
    bool may = pass_does(s, DOES(ALLOCATE));
    enum step step = may ? starving_start(s, slot) : STEP_BUSY;
    if (step == STEP_BUSY)
        step = controllers_make_room(s, slot);
    if (step == STEP_BUSY && may)
        step = promise_starving(s, slot);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    /* of an array, the next member has the next key; one that has a claim now is looked at as such */
    if (step != STEP_BUSY && (s->jobs[slot].state == SCHED_WAITING || s->jobs[slot].is_claiming))
        try_again_by(n, s->jobs[slot].key);
    else
        n->tries[n->next_try++].key = s->jobs[slot].key; /* by which a later round tries it */
    return STEP_DONE;
}

/* ---- The controller ---- */

static void end_starving(sched_t *s, uint32_t slot, enum sched_how how)
{
    (void)how;
    relieved_no_more(s, slot);
    s->queues->starving_starts += s->jobs[slot].details->is_starving;
    s->jobs[slot].details->is_starving = false;
    forget_starve_time(s, slot);
}

const struct controller starving_controller = {
    .name = "starving",
    .entered = starving_begin,
    .started = end_starving,
    .released = relieved_no_more,
    .forgotten = forget_starve_time,
    .turn = starve_next_due,
    .next_time = next_starving_time,
};
