#include "sched/controllers/hunt.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/queues.h"

bool is_preemptible(const sched_t *s, const struct job *job)
{
    return s->queues->setup->queue[job->details->queue].preemptible != SCHED_NOT_PREEMPTIBLE;
}

int64_t preemptible_from(const sched_t *s, const struct job *job)
{
    int64_t after = job->details->preemptible_after;
    if (after < s->queues->setup->second)
        after = s->queues->setup->second;
    return job->at < INT64_MAX - after ? job->at + after : INT64_MAX;
}

static bool is_prey(const sched_t *s, const struct job *job)
{
    const struct details *d = job->details;
    if (job->state != SCHED_RUNNING || d->preempted_for != JOB_NONE)
        return false;
    return d->is_stopping || (is_preemptible(s, job) && s->now >= preemptible_from(s, job));
}

static int64_t work_of(const sched_t *s, const struct job *job)
{
    int64_t work;
    int64_t cores = s->place->ops->amount(s->place, job->booking, "core");
    return __builtin_mul_overflow(cores, s->now - job->at, &work) ? INT64_MAX : work;
}

int hunt_begin(struct hunt *h, sched_t *s, const struct place_ask *ask)
{
    const struct queues *n = s->queues;
    *h = (struct hunt){.s = s, .ask = ask};
    if (n->n_victims == 0)
        return 0;
    h->prey = reallocarray(NULL, n->n_victims, sizeof(*h->prey));
    if (!h->prey)
        return -1;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (!is_prey(s, job))
            continue;
        int64_t useful = s->place->ops->useful(s->place, ask, job->booking);
        if (useful == 0)
            continue;
        h->prey[h->n++] = (struct prey){.slot = n->victims[i],
                                        .at = job->at,
                                        .key = job->key,
                                        .is_stopping = job->details->is_stopping,
                                        .useful = useful,
                                        .work = work_of(s, job)};
    }
    return 0;
}

void hunt_end(struct hunt *h)
{
    free(h->prey);
    h->prey = NULL;
}

/* ---- Orders ---- */

static int compare_work(const void *a, const void *b)
{
    const struct prey *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return queue_before(y->key, x->key) ? -1 : queue_before(x->key, y->key);
}

static int compare_use(const void *a, const void *b)
{
    const struct prey *x = a, *y = b;
    if (x->useful != y->useful)
        return x->useful > y->useful ? -1 : 1;
    return compare_work(a, b);
}

/* ---- The hunt ---- */

static void take(struct hunt *h, struct prey *prey)
{
    struct job *job = &h->s->jobs[prey->slot];
    h->s->place->ops->lift(h->s->place, job->booking, false);
    job->is_lifted = prey->is_taken = true;
}

void hunt_drop(struct hunt *h, struct prey *prey)
{
    struct job *job = &h->s->jobs[prey->slot];
    if (!prey->is_taken)
        return;
    h->s->place->ops->drop(h->s->place, &job->ask, job->booking);
    job->is_lifted = prey->is_taken = false;
}

void hunt_drop_all(struct hunt *h)
{
    for (size_t i = 0; i < h->n; i++)
        hunt_drop(h, &h->prey[i]);
}

static int64_t book(struct hunt *h)
{
    return h->s->place->ops->book(h->s->place, h->ask, h->s->now);
}

/* With those that are being stopped. */
static int64_t take_stopping(struct hunt *h)
{
    bool any = false;
    for (size_t i = 0; i < h->n; i++)
        if (h->prey[i].is_stopping) {
            take(h, &h->prey[i]);
            any = true;
        }
    errno = EBUSY;
    return any ? book(h) : -1;
}

/* With one more: the first with which it fits. */
static int64_t take_one(struct hunt *h)
{
    int64_t booking = -1;
    qsort(h->prey, h->n, sizeof(*h->prey), compare_work);
    errno = EBUSY;
    for (size_t i = 0; i < h->n && booking < 0 && errno == EBUSY; i++) {
        if (h->prey[i].is_stopping)
            continue;
        take(h, &h->prey[i]);
        booking = book(h);
        if (booking < 0) {
            int saved = errno;
            hunt_drop(h, &h->prey[i]);
            errno = saved;
        }
    }
    return booking;
}

/* With as many more as it takes. */
static int64_t take_some(struct hunt *h)
{
    int64_t booking = -1;
    qsort(h->prey, h->n, sizeof(*h->prey), compare_use);
    errno = EBUSY;
    for (size_t i = 0; i < h->n && booking < 0 && errno == EBUSY; i++) {
        if (h->prey[i].is_stopping)
            continue;
        h->too_little = h->sum;
        h->sum += h->prey[i].useful;
        take(h, &h->prey[i]);
        booking = book(h);
    }
    return booking;
}

/* Book with one that is taken in the place of another. Returns the booking, with it or as before, or -1 with
 * ENOMEM.
 */
static int64_t exchange(struct hunt *h, struct prey *out, struct prey *in, int64_t booking)
{
    int64_t sum = h->sum - out->useful + in->useful;
    if (sum <= h->too_little)
        return booking;
    h->s->place->ops->release(h->s->place, booking);
    hunt_drop(h, out);
    take(h, in);
    booking = book(h);
    if (booking >= 0)
        h->sum = sum;
    if (booking >= 0 || errno != EBUSY)
        return booking;
    h->too_little = sum;
    hunt_drop(h, in);
    take(h, out);
    return book(h);
}

/* As many with less work to lose will do, in the place of those with most. They are in the order of work. */
static int64_t exchange_all(struct hunt *h, int64_t booking)
{
    for (size_t i = h->n; i-- > 1 && booking >= 0;) {
        if (!h->prey[i].is_taken || h->prey[i].is_stopping)
            continue;
        for (size_t k = 0; k < i && h->prey[i].is_taken && booking >= 0; k++)
            if (!h->prey[k].is_taken && h->prey[k].work < h->prey[i].work)
                booking = exchange(h, &h->prey[i], &h->prey[k], booking);
    }
    return booking;
}

/* Spare those that are not needed: of those to be told, and then of those that are being stopped, for whose
 * ends the job need not wait. Returns the booking, perhaps another one, or -1 with ENOMEM.
 */
static int64_t spare(struct hunt *h, int64_t booking)
{
    qsort(h->prey, h->n, sizeof(*h->prey), compare_work);
    for (size_t k = 2 * h->n; k-- > 0 && booking >= 0;) {
        struct prey *prey = &h->prey[k % h->n];
        if (!prey->is_taken || prey->is_stopping != (k < h->n))
            continue;
        h->s->place->ops->release(h->s->place, booking);
        hunt_drop(h, prey);
        booking = book(h);
        if (booking >= 0)
            h->sum -= prey->useful;
        if (booking >= 0 || errno != EBUSY)
            continue;
        take(h, prey);
        booking = book(h);
    }
    return booking;
}

int64_t hunt_down(struct hunt *h)
{
    errno = EBUSY;
    if (h->n == 0)
        return -1;
    int64_t booking = take_stopping(h);
    if (booking < 0 && errno == EBUSY)
        booking = take_one(h);
    bool several = booking < 0 && errno == EBUSY;
    if (several)
        booking = take_some(h);
    if (booking >= 0)
        booking = spare(h, booking);
    if (booking >= 0 && several)
        booking = exchange_all(h, booking);
    if (booking < 0) {
        int saved = errno;
        hunt_drop_all(h);
        errno = saved;
    }
    return booking;
}
