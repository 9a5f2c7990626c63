#include "sched/waiting/gang_order.h"
#include "sched/waiting/lane.h"

void gang_order_changed(sched_t *s, struct gang *gang)
{
    struct gang **first = &s->queues->moved_gangs;
    bool has_min = !gang_short_of(gang);
    if (has_min == gang->had_min || gang->moved_link)
        return;
    gang->moved_next = *first;
    gang->moved_link = first;
    if (gang->moved_next)
        gang->moved_next->moved_link = &gang->moved_next;
    *first = gang;
}

void gang_order_forget(struct gang *gang)
{
    if (!gang->moved_link)
        return;
    *gang->moved_link = gang->moved_next;
    if (gang->moved_next)
        gang->moved_next->moved_link = gang->moved_link;
    gang->moved_link = NULL;
}

static bool goes_by_gangs(const sched_t *s, uint32_t slot)
{
    const struct details *d = s->jobs[slot].details;
    return d && d->of && d->of->gang && s->queues->setup->queue[d->queue].gangs != GANGS_NONE;
}

/* Whether a job is to go behind others of its queue. */
static bool is_to_go_behind(const sched_t *s, uint32_t slot)
{
    return goes_by_gangs(s, slot) && !gang_short_of(gang_of(s, slot));
}

static void set_behind(sched_t *s, uint32_t slot, bool behind)
{
    struct details *d = s->jobs[slot].details;
    d->is_behind = behind;
    key_of(s, slot, d->priority, &s->jobs[slot].key);
}

void gang_order_enter(sched_t *s, uint32_t slot)
{
    if (goes_by_gangs(s, slot))
        set_behind(s, slot, is_to_go_behind(s, slot));
    else if (s->jobs[slot].details)
        s->jobs[slot].details->is_behind = false; /* it may have come from such a queue */
}

void gang_order_leave(sched_t *s, uint32_t slot)
{
    if (s->jobs[slot].details && s->jobs[slot].details->is_behind)
        set_behind(s, slot, false);
}

static int refresh(sched_t *s, struct gang *gang)
{
    for (uint32_t i = gang->first; i != JOB_NONE; i = s->jobs[i].details->gang_behind)
        if (s->jobs[i].state == SCHED_WAITING &&
            s->jobs[i].details->is_behind != is_to_go_behind(s, i) &&
            open_rekey(s, i, s->jobs[i].key) < 0)
            return -1;
    gang->had_min = !gang_short_of(gang);
    return 0;
}

int gang_order_refresh(sched_t *s)
{
    while (s->queues->moved_gangs) {
        struct gang *gang = s->queues->moved_gangs;
        if (refresh(s, gang) < 0)
            return -1;
        gang_order_forget(gang);
    }
    return 0;
}

bool gang_order_check(const sched_t *s, uint32_t slot)
{
    const struct gang *gang = gang_of(s, slot);
    const struct job *job = &s->jobs[slot];
    struct queue_key key;
    if (job->state != SCHED_WAITING)
        return !job->details->is_behind;
    if (!goes_by_gangs(s, slot))
        return true;
    return key_of(s, slot, job->details->priority, &key) && key.rank == job->key.rank &&
           (gang->moved_link || job->details->is_behind == is_to_go_behind(s, slot));
}
