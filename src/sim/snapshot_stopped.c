#include "sim/snapshot_stopped.h"

#include <errno.h>
#include <stdlib.h>

static json_t *one_awaiting(const struct sched_awaiting *by)
{
    json_t *one = json_pack("{s:s}", "job", by->id);
    if (one && by->member > 0 && json_object_set_new(one, "member", json_integer(by->member)) < 0) {
        json_decref(one);
        return NULL;
    }
    return one;
}

static int put_awaiting(const struct sched_record *r, json_t *job)
{
    json_t *list = r->n_awaited_by > 0 ? json_array() : NULL;
    int rc = 0;
    for (size_t i = 0; i < r->n_awaited_by && rc == 0; i++)
        rc = json_array_append_new(list, one_awaiting(&r->awaited_by[i]));
    return r->n_awaited_by == 0 ? 0 : rc | json_object_set_new(job, "awaited-by", list);
}

int snapshot_put_stopped(const struct sched_record *r, json_t *job)
{
    int rc = put_awaiting(r, job);
    if (r->stopping)
        rc |= json_object_set_new(job, "stopping", json_true());
    if (r->dismissed)
        rc |= json_object_set_new(job, "dismissed", json_true());
    if (r->cleared)
        rc |= json_object_set_new(job, "cleared", json_true());
    if (r->leaving)
        rc |= json_object_set_new(job, "leaving", json_true());
    if (r->preempts)
        rc |= json_object_set_new(job, "preempts", json_true());
    return rc;
}

struct sched_awaiting *snapshot_take_stopped(const struct saved_stopped *saved,
                                             struct sched_record *r)
{
    size_t n = json_array_size(saved->awaited_by);
    struct sched_awaiting *list = calloc(n + 1, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) {
        const json_t *one = json_array_get(saved->awaited_by, i),
                     *member = json_object_get(one, "member");
        json_int_t index = json_integer_value(member);
        list[i] = (struct sched_awaiting){json_string_value(json_object_get(one, "job")),
                                          (uint32_t)index};
        if (!list[i].id || (member && !json_is_integer(member)) || index < 0 ||
            index > UINT32_MAX) {
            free(list);
            errno = EINVAL;
            return NULL;
        }
    }
    r->stopping = saved->stopping;
    r->dismissed = saved->dismissed;
    r->cleared = saved->cleared;
    r->leaving = saved->leaving;
    r->preempts = saved->preempts;
    r->awaited_by = list;
    r->n_awaited_by = list ? n : 0;
    return list;
}
