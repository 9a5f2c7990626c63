#include "sched/controllers/victims.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bounds.h"
#include "base/number.h"
#include "berth/sched_config.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/awaited.h"
#include "sched/controllers/lots.h"
#include "sched/controllers/passed_on.h"
#include "sched/pass/book.h"
#include "sched/pass/expect.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/gang.h"

bool is_preemptible(const sched_t *s, const struct job *job)
{
    return s->queues->setup->queue[job->details->queue].preemptible != SCHED_NOT_PREEMPTIBLE;
}

bool may_preempt(const sched_t *s, const struct job *job)
{
    return !is_preemptible(s, job) && !s->queues->setup->queue[job->details->queue].preempts_nobody;
}

int64_t preemptible_from(const sched_t *s, const struct job *job)
{
    int64_t after = job->details->preemptible_after;
    if (after < s->queues->setup->second)
        after = s->queues->setup->second;
    return job->at < INT64_MAX - after ? job->at + after : INT64_MAX;
}

/* Whether it is being stopped, and others may come to wait for that. */
static bool may_be_awaited(const sched_t *s, uint32_t slot)
{
    return is_being_stopped(s, slot) &&
           (s->jobs[slot].details->is_stopping || s->queues->setup->stops_any);
}

bool is_listed_victim(const sched_t *s, uint32_t slot)
{
    return is_preemptible(s, &s->jobs[slot]) || may_be_awaited(s, slot) || is_awaited(s, slot);
}

bool is_spare(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (!is_preemptible(s, job) || is_being_stopped(s, slot))
        return is_preemptible(s, job);
    return (job->details->preemptible_after <= s->queues->setup->second ||
            s->now >= preemptible_from(s, job)) &&
           gang_spares(s, slot);
}

bool may_be_told(const sched_t *s, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    return job->state == SCHED_RUNNING && !is_being_stopped(s, slot) &&
           s->now >= preemptible_from(s, job);
}

/* From when on a job that runs is out of time; INT64_MAX: never. */
static int64_t out_of_time_from(const sched_t *s, uint32_t slot)
{
    int64_t at = s->jobs[slot].at, limit = s->jobs[slot].details->limit;
    return limit < INT64_MAX - at ? at + limit : INT64_MAX;
}

int stopping_list(sched_t *s)
{
    struct queues *n = s->queues;
    if (!n->stopping_is_stale)
        return 0;
    n->n_stopping = 0;
    n->stopping_lists++;
    n->stopping_until = INT64_MAX;
    for (uint32_t i = 0; i < n->ends.n; i++) {
        if (!is_being_stopped(s, n->ends.v[i].item)) {
            stopping_started(s, n->ends.v[i].item);
            continue;
        }
        if (array_grow((void **)&n->stopping, &n->cap_stopping, n->n_stopping + 1,
                       sizeof(*n->stopping)) < 0)
            return -1;
        n->stopping[n->n_stopping++] = n->ends.v[i].item;
    }
    n->stopping_is_stale = false;
    return 0;
}

void stopping_begin(sched_t *s)
{
    struct queues *n = s->queues;
    n->stopping_is_stale |= !STOPPING_KEPT || n->stopping_until <= s->now;
    n->stopping_lists++;
}

void stopping_started(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    n->stopping_is_stale |= is_being_stopped(s, slot);
    if (s->jobs[slot].state == SCHED_RUNNING)
        n->stopping_until = lesser(n->stopping_until, out_of_time_from(s, slot));
}

void stopping_left(sched_t *s, uint32_t slot)
{
    struct queues *n = s->queues;
    size_t kept = 0;
    for (size_t i = 0; i < n->n_stopping; i++)
        if (n->stopping[i] != slot)
            n->stopping[kept++] = n->stopping[i];
    n->n_stopping = kept;
}

bool stopping_check(const sched_t *s)
{
    const struct queues *n = s->queues;
    size_t stops = 0;
    bool right = true;
    if (n->stopping_is_stale || n->passed != s->now)
        return true; /* later more may be out of time, which the next pass looks for */
    for (uint32_t i = 0; i < n->ends.n; i++)
        stops += is_being_stopped(s, n->ends.v[i].item);
    for (size_t i = 0; i < n->n_stopping && right; i++)
        right = is_being_stopped(s, n->stopping[i]);
    return right && stops == n->n_stopping;
}

static bool may_be_victim(const sched_t *s, uint32_t slot)
{
    return may_be_awaited(s, slot) ||
           (is_preemptible(s, &s->jobs[slot]) && may_be_told(s, slot) && gang_spares(s, slot));
}

int64_t work_of(const sched_t *s, const struct job *job)
{
    int64_t work;
    int64_t cores = s->place->ops->amount(s->place, job->booking, "core");
    return __builtin_mul_overflow(cores, s->now - job->at, &work) ? INT64_MAX : work;
}

static int64_t choose_victims(struct preemption *h);

int preemption_begin(struct preemption *h, sched_t *s, uint32_t slot, const struct place_ask *ask)
{
    const struct queues *n = s->queues;
    *h = (struct preemption){.s = s, .slot = slot, .ask = ask, .choose = choose_victims};
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
                                            .is_stopping = is_being_stopped(s, n->victims[i]),
                                            .useful = useful,
                                            .work = work_of(s, job)};
    }
    return 0;
}

void preemption_end(struct preemption *h)
{
    lots_end(h);
    free(h->victim);
    h->victim = NULL;
}

/* ---- Orders ---- */

/* Those that are being stopped already come last. */
static int compare_work(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    if (x->is_stopping != y->is_stopping)
        return x->is_stopping ? 1 : -1;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return queue_before(y->key, x->key) ? -1 : queue_before(x->key, y->key);
}

static int compare_use(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    if (!x->is_stopping && !y->is_stopping && x->useful != y->useful)
        return x->useful > y->useful ? -1 : 1;
    return compare_work(a, b);
}

/* ---- The choice ---- */

void preemption_take(struct preemption *h, struct victim *victim)
{
    struct job *job = &h->s->jobs[victim->slot];
    h->s->place->ops->lift(h->s->place, job->booking, false);
    job->is_lifted = victim->is_taken = true;
    victim->is_aside = h->lots || is_awaited(h->s, victim->slot);
    if (victim->is_aside)
        controllers_set_aside(h->s, victim->slot);
}

void preemption_put_back(struct preemption *h, struct victim *victim)
{
    struct job *job = &h->s->jobs[victim->slot];
    if (!victim->is_taken)
        return;
    h->s->place->ops->drop(h->s->place, &job->ask, job->booking);
    job->is_lifted = victim->is_taken = false;
    if (victim->is_aside)
        controllers_put_back(h->s, victim->slot);
}

void preemption_put_all_back(struct preemption *h)
{
    for (size_t i = 0; i < h->n; i++)
        preemption_put_back(h, &h->victim[i]);
}

int64_t preemption_try(struct preemption *h)
{
    return book_for_now(h->s, h->slot, h->is_narrow);
}

int preemption_fits(struct preemption *h)
{
    const struct place_ops *ops = h->s->place->ops;
    struct place_note note = {0};
    if (ops->is_short(h->s->place, h->ask, h->s->now, &note))
        return 0;
    int64_t booking =
        has_tail(h->s, h->slot) ? preemption_try(h) : ops->probe(h->s->place, h->ask, h->s->now);
    if (booking == -1)
        return errno == ENOMEM ? -1 : 0;
    ops->release(h->s->place, booking);
    return 1;
}

/* Take all that are being stopped, or the first so many others out of the calendars, and put back the others. */
static void take_stopping(struct preemption *h)
{
    for (size_t i = h->tellable; i < h->n; i++)
        preemption_take(h, &h->victim[i]);
}

static void take_first_tellable(struct preemption *h, size_t n)
{
    for (size_t i = 0; i < h->tellable; i++) {
        if (i < n && !h->victim[i].is_taken)
            preemption_take(h, &h->victim[i]);
        else if (i >= n)
            preemption_put_back(h, &h->victim[i]);
    }
}

/* Take one if one is enough, the best. Returns 1, 0, or -1 with ENOMEM. */
static int take_one(struct preemption *h)
{
    int fits = 0;
    for (size_t i = 0; i < h->tellable && fits == 0; i++) {
        preemption_take(h, &h->victim[i]);
        fits = preemption_fits(h);
        if (fits == 0)
            preemption_put_back(h, &h->victim[i]);
    }
    return fits;
}

/* Take those of most use, as few of them as are enough, where all are. Returns 1, or -1 with ENOMEM. */
static int take_some(struct preemption *h)
{
    size_t low = 2, high = h->tellable;
    qsort(h->victim, h->n, sizeof(*h->victim), compare_use);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        take_first_tellable(h, middle);
        int fits = preemption_fits(h);
        if (fits < 0)
            return -1;
        if (fits)
            high = middle;
        else
            low = middle + 1;
    }
    take_first_tellable(h, high);
    for (size_t i = 0; i < high; i++) {
        h->too_little = h->sum;
        h->sum += h->victim[i].useful;
    }
    return 1;
}

/* Book with one that is taken in the place of another. Returns the booking, with it or as before, or -1 with
 * ENOMEM.
 */
static int64_t exchange_victim(struct preemption *h, struct victim *out, struct victim *in,
                               int64_t booking)
{
    int64_t sum = h->sum - out->useful + in->useful;
    if (sum <= h->too_little)
        return booking;
    h->s->place->ops->release(h->s->place, booking);
    preemption_put_back(h, out);
    preemption_take(h, in);
    booking = preemption_try(h);
    if (booking >= 0)
        h->sum = sum;
    if (booking >= 0 || errno != EBUSY)
        return booking;
    h->too_little = sum;
    preemption_put_back(h, in);
    preemption_take(h, out);
    return preemption_try(h);
}

/* As many with less work to lose will do, in the place of those with most. They are in the order of work. */
static int64_t exchange_all(struct preemption *h, int64_t booking)
{
    for (size_t i = h->n; i-- > 1 && booking >= 0;) {
        if (!h->victim[i].is_taken || h->victim[i].is_stopping)
            continue;
        for (size_t k = 0; k < i && h->victim[i].is_taken && booking >= 0; k++)
            if (!h->victim[k].is_taken && h->victim[k].work < h->victim[i].work)
                booking = exchange_victim(h, &h->victim[i], &h->victim[k], booking);
    }
    return booking;
}

/* Spare those that are not needed: of those to be told, and then of those that are being stopped, for whose
 * ends the job need not wait. Returns the booking, perhaps another one, or -1 with ENOMEM.
 */
static int64_t spare_victims(struct preemption *h, int64_t booking)
{
    for (size_t k = 2 * h->n; k-- > 0 && booking >= 0;) {
        struct victim *victim = &h->victim[k % h->n];
        if (!victim->is_taken || victim->is_stopping != (k < h->n))
            continue;
        h->s->place->ops->release(h->s->place, booking);
        preemption_put_back(h, victim);
        booking = preemption_try(h);
        if (booking >= 0)
            h->sum -= victim->useful;
        if (booking >= 0 || errno != EBUSY)
            continue;
        preemption_take(h, victim);
        booking = preemption_try(h);
    }
    return booking;
}

/* Take those that are to be told out of the calendars. Returns 1, 0 if even all are not enough, or -1 with ENOMEM;
 * *amounts: they were chosen by what they hold.
 */
static int take_tellable(struct preemption *h, bool *amounts)
{
    int taken = take_one(h);
    if (taken != 0 || h->tellable < 2)
        return taken;
    take_first_tellable(h, h->tellable);
    int fits = preemption_fits(h);
    take_first_tellable(h, 0);
    if (fits <= 0)
        return fits;
    taken = preemption_take_best(h);
    *amounts = taken == 0;
    return taken != 0 ? taken : take_some(h);
}

/* Where there is nobody to be stopped, an open job may need that of nobody: a limit alone has kept it. */
static int64_t book_without(struct preemption *h)
{
    int fits = h->s->jobs[h->slot].state == SCHED_WAITING ? preemption_fits(h) : 0;
    if (fits > 0)
        return preemption_try(h);
    errno = fits < 0 ? ENOMEM : EBUSY;
    return -1;
}

/* Of preemptible jobs. */
static int64_t choose_victims(struct preemption *h)
{
    bool amounts = false;
    if (h->n == 0)
        return book_without(h);
    qsort(h->victim, h->n, sizeof(*h->victim), compare_work);
    for (h->tellable = 0; h->tellable < h->n && !h->victim[h->tellable].is_stopping;)
        h->tellable++;
    take_stopping(h);
    int fits = h->tellable < h->n ? preemption_fits(h) : 0;
    if (fits == 0)
        fits = take_tellable(h, &amounts);
    if (fits <= 0) {
        errno = fits < 0 ? ENOMEM : EBUSY;
        return -1;
    }
    int64_t booking = preemption_try(h);
    qsort(h->victim, h->n, sizeof(*h->victim), compare_work);
    if (booking >= 0)
        booking = spare_victims(h, booking);
    if (booking >= 0 && amounts)
        booking = exchange_all(h, booking);
    return booking;
}

/* Whether a booking is of nothing that those would have to leave first for whose ends only others wait. */
static bool waits_for_its_own(struct preemption *h, int64_t booking)
{
    const struct place_ops *ops = h->s->place->ops;
    preemptors_aside(h->s, h->slot, true);
    ops->lift(h->s->place, booking, false);
    bool fits =
        ops->fits(h->s->place, h->ask, booking) &&
        (!h->lots || controllers_may_hold(h->s, h->slot, h->ask->duration, booking, h->s->now));
    ops->drop(h->s->place, h->ask, booking);
    preemptors_aside(h->s, h->slot, false);
    return fits;
}

/* Victims were chosen as if all that are being stopped had left. Put back those whose resources the booking does not need: the
 * job does not have to wait for their ends.
 */
static void spare_awaited(struct preemption *h, int64_t booking)
{
    for (size_t i = h->n; i-- > 0;) {
        struct victim *victim = &h->victim[i];
        if (!victim->is_taken || !is_awaited(h->s, victim->slot))
            continue;
        preemption_put_back(h, victim);
        if (!waits_for_its_own(h, booking))
            preemption_take(h, victim);
    }
}

/* Many are taken out of the calendars and put back while victims are chosen, and only this job is tried. */
int64_t preemption_book(struct preemption *h)
{
    struct place *place = h->s->place;
    bool tries = place->ops->try_one && place->ops->try_one(place, h->ask);
    int64_t booking = h->choose(h);
    int saved = errno;
    if (booking >= 0)
        spare_awaited(h, booking);
    else
        preemption_put_all_back(h);
    if (tries)
        place->ops->try(place, false);
    errno = saved;
    return booking;
}
