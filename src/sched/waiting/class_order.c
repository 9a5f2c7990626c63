#include "sched/waiting/class_order.h"

#include "sched/pass/steps.h"
#include "sched/queues.h"
#include "sched/waiting/lane.h"
#include "sched/waiting/shares.h"

void class_order_changed(sched_t *s, uint32_t slot)
{
    struct shares *shares = s->queues->shares;
    bool is_known = shares && slot < shares->cap_jobs && slot < shares->cap_moved_jobs;
    if (!is_known || shares->job[slot].is_moved || !s->jobs[slot].details->of)
        return;
    uint32_t leaf =
        shares->job[slot].leaf; /* another's yet, if it is new here: then it is not open */
    if (leaf >= shares->names.n || shares->leaf[leaf].class == SETUP_NONE)
        return;
    shares->job[slot].is_moved = true;
    shares->moved_jobs[shares->n_moved_jobs++] = slot; /* there is room for all slots */
}

/* Workers that are held of an entry's array. A member that waits by itself has its own turns. */
static int64_t held_of_array(const sched_t *s, uint32_t slot)
{
    if (!is_entry(s, slot))
        return 0;
    const struct share_of_job *job = &s->queues->shares->job[slot];
    const struct members *m = s->jobs[slot].details->of;
    int64_t one = job->units / shares_members(s, slot), held = m->holding + m->aside;
    return one > 0 && held > CLASS_UNITS_MAX / one ? CLASS_UNITS_MAX : held * one;
}

int class_order_refresh(sched_t *s)
{
    struct shares *shares = s->queues->shares;
    while (shares && shares->n_moved_jobs > 0) {
        uint32_t slot = shares->moved_jobs[shares->n_moved_jobs - 1];
        const struct job *job = &s->jobs[slot];
        bool waits = job->state == SCHED_WAITING && job->details->of &&
                     shares->job[slot].state == SHARE_WAITING;
        if (waits) {
            struct queue_key key = key_held(s, slot, held_of_array(s, slot));
            if (key.rank != job->key.rank && open_rekey(s, slot, key) < 0)
                return -1;
            outrank_rekeyed(s, slot);
        }
        shares->job[slot].is_moved = false;
        shares->n_moved_jobs--;
    }
    return 0;
}
