/* When passes are made: after the messages that are there, and when the scheduler says that one is due. */
#include <time.h>

#include "config/seconds.h"
#include "flux/module.h"

#define SLICE    4096 /* jobs that are looked at before messages are */
#define MESSAGES 4096 /* that are handled at most before a pass that is due goes on */

static int64_t clock_now(const struct module *m)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * m->second + t.tv_nsec * m->second / 1000000000;
}

int64_t module_clock(const struct module *m)
{
    int64_t now = clock_now(m);
    return now > m->now ? now : m->now;
}

/* Returns 1 if there is more to do. */
static int slice(struct module *m, uint64_t budget)
{
    const struct sched_decision *d;
    size_t n = 0;
    int rc = sched_pass_some(m->sched, m->now, budget, &d, &n);

    if (rc < 0)
        flux_log_error(m->h, "pass");
    else
        m->passes++;
    m->is_passed = rc <= 0;
    module_decided(m, d, n);
    return rc;
}

/* Passes that are due by now with nothing having happened; the last one may be due at `until` itself. */
static void catch_up(struct module *m, int64_t until)
{
    for (;;) {
        int64_t next = sched_next_time(m->sched);
        if (!m->is_passed || next >= until)
            return;
        m->now = next > m->now ? next : m->now + 1;
        while (slice(m, SLICE) > 0)
            continue;
    }
}

void module_event(struct module *m)
{
    if (!m->sched) {
        int64_t now = clock_now(m);
        m->now = now > m->now ? now : m->now;
        return;
    }
    if (m->is_passed) {
        int64_t now = clock_now(m);
        catch_up(m, now);
        /* The clock may be set back, the scheduler's time may not. */
        m->now = now > m->now ? now : m->now + (m->second > 1);
        m->is_passed = false;
    }
    m->is_due = true;
}

/* Be called when the next pass is due. */
static void set_timer(struct module *m)
{
    int64_t next = sched_next_time(m->sched), now = clock_now(m);

    flux_watcher_stop(m->timer);
    if (next == INT64_MAX)
        return;
    double in = next > now ? (double)(next - now) / (double)m->second : 0;
    flux_timer_watcher_reset(m->timer, in > 0.001 ? in : 0.001, 0.);
    flux_watcher_start(m->timer);
}

/* The loop is about to sleep: with work to do it must not. */
static void prepare_cb(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct module *m = arg;
    (void)r;
    (void)w;
    (void)revents;
    if (m->is_due && m->sched)
        flux_watcher_start(m->idle);
}

/* Whether messages are there that come before a pass, which would be made for each of them otherwise: the reactor hands over
 * one in a turn.
 */
static bool messages_wait(struct module *m)
{
    int events = flux_pollevents(m->h);

    if (events > 0 && (events & FLUX_POLLIN) && ++m->put_off < MESSAGES)
        return true;
    m->put_off = 0;
    return false;
}

/* The messages of this turn have been handled. */
static void check_cb(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct module *m = arg;
    (void)r;
    (void)w;
    (void)revents;
    flux_watcher_stop(m->idle);
    if (!m->is_due || !m->sched || messages_wait(m))
        return;
    m->is_due = false;
    m->is_due |= slice(m, SLICE) > 0;
    if (!m->is_due)
        set_timer(m);
}

static void timer_cb(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct module *m = arg;
    (void)r;
    (void)w;
    (void)revents;
    if (!m->sched)
        return;
    if (m->is_passed)
        catch_up(m, clock_now(m) + 1);
    if (!m->is_due)
        set_timer(m);
}

int module_watch(struct module *m)
{
    flux_reactor_t *r = flux_get_reactor(m->h);
    m->prepare = flux_prepare_watcher_create(r, prepare_cb, m);
    m->check = flux_check_watcher_create(r, check_cb, m);
    m->idle = flux_idle_watcher_create(r, NULL, NULL);
    m->timer = flux_timer_watcher_create(r, 0., 0., timer_cb, m);
    if (!m->prepare || !m->check || !m->idle || !m->timer)
        return -1;
    flux_watcher_start(m->prepare);
    flux_watcher_start(m->check);
    return 0;
}

void module_unwatch(struct module *m)
{
    flux_watcher_destroy(m->prepare);
    flux_watcher_destroy(m->check);
    flux_watcher_destroy(m->idle);
    flux_watcher_destroy(m->timer);
}

void module_start_clock(struct module *m)
{
    m->now = clock_now(m);
}
