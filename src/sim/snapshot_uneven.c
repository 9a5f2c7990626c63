#include "sim/snapshot_uneven.h"

#include <errno.h>
#include <stdlib.h>

#include "berth/sched_snapshot.h"
#include "config/seconds.h"

int snapshot_put_uneven(const struct play *p, json_t *state)
{
    size_t n = sched_unevens(p->d.sched, NULL, 0);
    struct sched_uneven *list = n > 0 ? reallocarray(NULL, n, sizeof(*list)) : NULL;
    json_t *uneven = list ? json_array() : NULL;
    int rc = n > 0 && !uneven ? -1 : 0;
    if (uneven)
        sched_unevens(p->d.sched, list, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = json_array_append_new(uneven, json_pack("{s:s, s:I, s:I}", "queue", list[i].queue,
                                                     "since", (json_int_t)list[i].since, "rests",
                                                     (json_int_t)list[i].rests));
    if (rc == 0 && uneven)
        rc = json_object_set(state, "uneven", uneven);
    json_decref(uneven);
    free(list);
    return rc;
}

int snapshot_load_uneven(struct play *p, const json_t *uneven, const struct key_place *place,
                         berth_error_t *err)
{
    for (size_t i = 0; i < json_array_size(uneven); i++) {
        json_t *object = json_array_get(uneven, i);
        const char *queue = json_string_value(json_object_get(object, "queue"));
        const json_t *since = json_object_get(object, "since");
        const json_t *rests = json_object_get(object, "rests");
        struct sched_uneven u = {queue, json_integer_value(since), json_integer_value(rests)};
        bool is_good = queue && json_is_integer(since) && json_is_integer(rests) &&
                       json_object_size(object) == 3 && u.since >= 0 &&
                       u.since <= SECONDS_MAX * SECONDS_TICKS && u.rests >= 0;
        if (!is_good || (sched_restore_uneven(p->d.sched, &u) < 0 && errno != ENOENT))
            return keys_failed(place, EINVAL, "uneven: expected queues and times", err);
    }
    return 0;
}
