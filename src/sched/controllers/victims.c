#include "sched/controllers/victims.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/sched_config.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"

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

static bool may_be_victim(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    const struct details *d = job->details;
    if (job->state != SCHED_RUNNING || d->preempted_for != JOB_NONE || d->is_dismissed)
        return false;
    return d->is_stopping ||
           (is_preemptible(s, job) && s->now >= preemptible_from(s, job) && gang_spares(s, slot));
}

static int64_t work_of(const sched_t *s, const struct job *job)
{
    int64_t work;
    int64_t cores = s->place->ops->amount(s->place, job->booking, "core");
    return __builtin_mul_overflow(cores, s->now - job->at, &work) ? INT64_MAX : work;
}

static int64_t choose(struct preemption *h);

int preemption_begin(struct preemption *h, sched_t *s, uint32_t slot, const struct place_ask *ask)
{
    const struct queues *n = s->queues;
    (void)slot;
    *h = (struct preemption){.s = s, .ask = ask, .choose = choose};
    if (n->n_victims == 0)
        return 0;
    h->victim = reallocarray(NULL, n->n_victims, sizeof(*h->victim));
    if (!h->victim)
        return -1;
    for (size_t i = 0; i < n->n_victims; i++) {
        const struct job *job = &s->jobs[n->victims[i]];
        if (!may_be_victim(s, n->victims[i]))
            continue;
        int64_t useful = s->place->ops->useful(s->place, ask, job->booking);
        if (useful == 0)
            continue;
        h->victim[h->n++] = (struct victim){.slot = n->victims[i],
                                            .at = job->at,
                                            .key = job->key,
                                            .is_stopping = job->details->is_stopping,
                                            .useful = useful,
                                            .work = work_of(s, job)};
    }
    return 0;
}

void preemption_end(struct preemption *h)
{
    free(h->victim);
    h->victim = NULL;
}

/* ---- Orders ---- */

static int compare_work(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return queue_before(y->key, x->key) ? -1 : queue_before(x->key, y->key);
}

static int compare_use(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    if (x->useful != y->useful)
        return x->useful > y->useful ? -1 : 1;
    return compare_work(a, b);
}

/* ---- The choice ---- */

void preemption_take(struct preemption *h, struct victim *victim)
{
    struct job *job = &h->s->jobs[victim->slot];
    h->s->place->ops->lift(h->s->place, job->booking, false);
    job->is_lifted = victim->is_taken = true;
}

void preemption_put_back(struct preemption *h, struct victim *victim)
{
    struct job *job = &h->s->jobs[victim->slot];
    if (!victim->is_taken)
        return;
    h->s->place->ops->drop(h->s->place, &job->ask, job->booking);
    job->is_lifted = victim->is_taken = false;
}

void preemption_put_all_back(struct preemption *h)
{
    for (size_t i = 0; i < h->n; i++)
        preemption_put_back(h, &h->victim[i]);
}

static int64_t book(struct preemption *h)
{
    return h->s->place->ops->book(h->s->place, h->ask, h->s->now);
}

/* With those that are being stopped. */
static int64_t take_stopping(struct preemption *h)
{
    bool any = false;
    for (size_t i = 0; i < h->n; i++)
        if (h->victim[i].is_stopping) {
            preemption_take(h, &h->victim[i]);
            any = true;
        }
    errno = EBUSY;
    return any ? book(h) : -1;
}

/* With one more: the first with which it fits. */
static int64_t take_one(struct preemption *h)
{
    int64_t booking = -1;
    qsort(h->victim, h->n, sizeof(*h->victim), compare_work);
    errno = EBUSY;
    for (size_t i = 0; i < h->n && booking < 0 && errno == EBUSY; i++) {
        if (h->victim[i].is_stopping)
            continue;
        preemption_take(h, &h->victim[i]);
        booking = book(h);
        if (booking < 0) {
            int saved = errno;
            preemption_put_back(h, &h->victim[i]);
            errno = saved;
        }
    }
    return booking;
}

/* With as many more as it takes. */
static int64_t take_some(struct preemption *h)
{
    int64_t booking = -1;
    qsort(h->victim, h->n, sizeof(*h->victim), compare_use);
    errno = EBUSY;
    for (size_t i = 0; i < h->n && booking < 0 && errno == EBUSY; i++) {
        if (h->victim[i].is_stopping)
            continue;
        h->too_little = h->sum;
        h->sum += h->victim[i].useful;
        preemption_take(h, &h->victim[i]);
        booking = book(h);
    }
    return booking;
}

/* Book with one that is taken in the place of another. Returns the booking, with it or as before, or -1 with
 * ENOMEM.
 */
static int64_t exchange(struct preemption *h, struct victim *out, struct victim *in,
                        int64_t booking)
{
    int64_t sum = h->sum - out->useful + in->useful;
    if (sum <= h->too_little)
        return booking;
    h->s->place->ops->release(h->s->place, booking);
    preemption_put_back(h, out);
    preemption_take(h, in);
    booking = book(h);
    if (booking >= 0)
        h->sum = sum;
    if (booking >= 0 || errno != EBUSY)
        return booking;
    h->too_little = sum;
    preemption_put_back(h, in);
    preemption_take(h, out);
    return book(h);
}

/* As many with less work to lose will do, in the place of those with most. They are in the order of work. */
static int64_t exchange_all(struct preemption *h, int64_t booking)
{
    for (size_t i = h->n; i-- > 1 && booking >= 0;) {
        if (!h->victim[i].is_taken || h->victim[i].is_stopping)
            continue;
        for (size_t k = 0; k < i && h->victim[i].is_taken && booking >= 0; k++)
            if (!h->victim[k].is_taken && h->victim[k].work < h->victim[i].work)
                booking = exchange(h, &h->victim[i], &h->victim[k], booking);
    }
    return booking;
}

/* Spare those that are not needed: of those to be told, and then of those that are being stopped, for whose
 * ends the job need not wait. Returns the booking, perhaps another one, or -1 with ENOMEM.
 */
static int64_t spare(struct preemption *h, int64_t booking)
{
    qsort(h->victim, h->n, sizeof(*h->victim), compare_work);
    for (size_t k = 2 * h->n; k-- > 0 && booking >= 0;) {
        struct victim *victim = &h->victim[k % h->n];
        if (!victim->is_taken || victim->is_stopping != (k < h->n))
            continue;
        h->s->place->ops->release(h->s->place, booking);
        preemption_put_back(h, victim);
        booking = book(h);
        if (booking >= 0)
            h->sum -= victim->useful;
        if (booking >= 0 || errno != EBUSY)
            continue;
        preemption_take(h, victim);
        booking = book(h);
    }
    return booking;
}

/* Of preemptible jobs. */
static int64_t choose(struct preemption *h)
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
    return booking;
}

int64_t preemption_book(struct preemption *h)
{
    int64_t booking = h->choose(h);
    if (booking < 0) {
        int saved = errno;
        preemption_put_all_back(h);
        errno = saved;
    }
    return booking;
}
