/* Virtual time: what happens at an instant, and which instant is next.
 *
 * Ends at one instant come in the order in which the jobs started.
 */
#include "sim/driver.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_admin.h"

void driver_init(struct driver *d, sched_t *sched, const struct driver_shell *shell, void *arg)
{
    *d = (struct driver){.sched = sched,
                         .shell = shell,
                         .arg = arg,
                         .event = INT64_MAX,
                         .also = INT64_MAX,
                         .live = -1,
                         .last = -1};
}

void driver_clear(struct driver *d)
{
    sched_destroy(d->sched);
    heap_clear(&d->ends);
}

int driver_start(struct driver *d, uint32_t job, int64_t end)
{
    return heap_put(&d->ends, job, end, d->starts++);
}

static void stop_running(struct driver *d, uint32_t job)
{
    d->last = -1;
    if (heap_has(&d->ends, job))
        heap_take(&d->ends, job);
}

int driver_finish(struct driver *d, uint32_t job, sched_job_t handle, bool ok)
{
    if (sched_finish(d->sched, d->now, handle, ok) < 0)
        return -1;
    stop_running(d, job);
    return 0;
}

int driver_cancel(struct driver *d, uint32_t job, sched_job_t handle)
{
    if (sched_cancel(d->sched, d->now, handle) < 0)
        return -1;
    stop_running(d, job);
    return 0;
}

int driver_requeue(struct driver *d, uint32_t job, sched_job_t handle)
{
    if (sched_requeue(d->sched, d->now, handle) < 0)
        return -1;
    stop_running(d, job);
    return 0;
}

static int64_t next_end(const struct driver *d)
{
    return d->ends.n > 0 ? d->ends.v[0].key : INT64_MAX;
}

/* Run a pass, and let the shell carry out what it decides. */
static int run_pass(struct driver *d, bool more)
{
    const struct sched_decision *decision;
    size_t n;
    d->passes++;
    if (sched_pass(d->sched, d->now, more, &decision, &n) < 0)
        return -1;
    for (size_t i = 0; d->last >= 0 && i < n; i++)
        if (decision[i].kind != SCHED_WAIT)
            d->last = -1;
    return n > 0 ? d->shell->decided(d->arg, decision, n) : 0;
}

static int core_failed(berth_error_t *err)
{
    int errnum = errno;
    if (errnum == ENOMEM)
        return errtext_set(err, errnum, "out of memory");
    return errtext_set(err, errnum, "the scheduler refuses an event: %s", strerror(errnum));
}

/* End the jobs whose time has come; with a pass after each, if events have that. */
static int end_due(struct driver *d, berth_error_t *err)
{
    while (next_end(d) <= d->now)
        if (d->shell->end(d->arg, d->ends.v[0].item) < 0 || (d->per_event && run_pass(d, true) < 0))
            return core_failed(err);
    return 0;
}

static int64_t next_event(const struct driver *d)
{
    return d->event < d->also ? d->event : d->also;
}

static int take_due_events(struct driver *d, berth_error_t *err)
{
    while (next_event(d) <= d->now) {
        if (d->shell->event(d->arg, err) < 0)
            return -1;
        d->last = -1;
        if (d->per_event && run_pass(d, true) < 0)
            return core_failed(err);
    }
    return 0;
}

/* Run passes until none is due. A preempted job has given back what it held only after its pass, and a job
 * may end at the instant of its start; so there may be several. After a pass for each event this is the
 * closing pass, which starts what the others have left to it.
 */
static int run_passes(struct driver *d, berth_error_t *err)
{
    while ((d->due = sched_next_time(d->sched)) <= d->now) {
        if (run_pass(d, false) < 0)
            return core_failed(err);
        if (end_due(d, err) < 0)
            return -1;
    }
    return 0;
}

/* Everything that happens now. Events may cut a duration, so ends come after them too. */
static int instant(struct driver *d, berth_error_t *err)
{
    if (!d->per_event && end_due(d, err) < 0)
        return -1;
    if (take_due_events(d, err) < 0 || end_due(d, err) < 0 || run_passes(d, err) < 0)
        return -1;
    return d->shell->settled && d->shell->settled(d->arg) < 0 ? core_failed(err) : 0;
}

/* Whether nothing more can happen from `at` on: while a job waits that can never start, recurring blocks ask
 * for passes for ever. Returns 1, 0, or -1.
 */
static int has_ended(struct driver *d, int64_t at)
{
    if (next_event(d) < INT64_MAX || d->ends.n > 0)
        return 0;
    if (d->live == 0)
        return 1;
    if (d->last < 0)
        d->last = sched_last_time(d->sched);
    return d->last < 0 ? -1 : at > d->last;
}

int driver_run(struct driver *d, enum driver_end end, int64_t until, berth_error_t *err)
{
    d->due = sched_next_time(d->sched);
    for (;;) {
        if (end == DRIVER_TO_EVENTS && d->event == INT64_MAX)
            return 0;
        int64_t at = next_end(d) < next_event(d) ? next_end(d) : next_event(d);
        at = d->due < at ? d->due : at;
        at = at < d->now ? d->now : at;
        if (end == DRIVER_TO_TIME && at > until) {
            d->now = d->now < until ? until : d->now;
            return 0;
        }
        int over = at == INT64_MAX ? 1 : end == DRIVER_TO_END ? has_ended(d, at) : 0;
        if (over != 0)
            return over < 0 ? core_failed(err) : 0;
        d->now = at;
        if (instant(d, err) < 0)
            return -1;
    }
}
