#include "sim/snapshot_stopped.h"

int snapshot_put_stopped(const struct sched_record *r, json_t *job)
{
    int rc = 0;
    if (r->stopping)
        rc |= json_object_set_new(job, "stopping", json_true());
    if (r->dismissed)
        rc |= json_object_set_new(job, "dismissed", json_true());
    if (r->preempts)
        rc |= json_object_set_new(job, "preempts", json_true());
    if (r->stopped_for)
        rc |= json_object_set_new(job, "stopped-for", json_string(r->stopped_for));
    if (r->stopped_for_member > 0)
        rc |= json_object_set_new(job, "stopped-for-member", json_integer(r->stopped_for_member));
    return rc;
}

void snapshot_take_stopped(const struct saved_stopped *saved, struct sched_record *r)
{
    r->stopping = saved->stopping;
    r->dismissed = saved->dismissed;
    r->preempts = saved->preempts;
    r->stopped_for = saved->other;
    r->stopped_for_member = (uint32_t)saved->member;
}
