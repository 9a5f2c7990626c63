/* What the last pass has left to the next one, kept and restored. */
#include <errno.h>

#include "berth/sched_snapshot.h"
#include "sched/controllers/arrays.h"
#include "sched/controllers/ask.h"
#include "sched/controllers/claims.h"
#include "sched/controllers/starving.h"
#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/class_order.h"
#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/usage_kept.h"

/* What was freed while others were restored is no news for reservations that had seen all. */
static void see_restored(sched_t *s)
{
    for (size_t i = 0; i < s->due.n; i++) {
        struct job *job = &s->jobs[s->due.v[i].item];
        if (job->seen == 0)
            continue;
        held_seen(s, job);
        held_waits(s, s->due.v[i].item, job->details->waits);
    }
}

void sched_passed(const sched_t *s, struct sched_passed *p)
{
    const struct queues *n = s->queues;
    *p = (struct sched_passed){.at = n->passed,
                               .events = n->events,
                               .tries_holders = !tried_is_now(s, &n->holders_tried),
                               .tries_starving = !tried_is_now(s, &n->starving_tried)};
}

int sched_restore_passed(sched_t *s, int64_t now, const struct sched_passed *p)
{
    struct queues *n = s->queues;
    int64_t passed = p->at;
    if (!time_is_good(s, now) || passed < -1 || passed > now) {
        errno = EINVAL;
        return -1;
    }
    s->now = now;
    size_t untold = n->n_untold;
    if (class_order_refresh(s) < 0 || gang_order_refresh(s) < 0 || needs_down_look(s) < 0)
        return -1;
    tell_forget(s, untold); /* they stand where they stood */
    usage_restored(s);
    n->passed = passed;
    n->events = p->events;
    depth_note(s);
    claims_settle(s);
    starving_restored(s, passed);
    if (p->events == 0) {
        /* Nothing has happened to what that pass left, whatever has changed on the way here. */
        if (heads_restored(s) < 0)
            return -1;
        s->swept = true;
        s->woken = false;
        see_restored(s);
        n->repair_from = n->repair_until = 0;
        n->holders_tried = p->tries_holders ? (struct tried){0} : tried_now(s);
        if (!p->tries_starving)
            starving_walked(s);
        n->preemptible_next = next_preemptible(s, passed); /* of those that it saw */
        n->reclaim_next = next_reclaimed(s, passed);
        n->turn = s->place->ops->turn(s->place, passed < 0 ? 0 : passed);
        return 0;
    }
    /* What these events were is not known any more: all is looked at. */
    arrays_restored(s);
    n->wake_all = n->is_recount_due = true;
    s->woken = true;
    s->swept = false;
    note_freed(s, s->now, INT64_MAX);
    repair_note(s, 0, INT64_MAX);
    return 0;
}
