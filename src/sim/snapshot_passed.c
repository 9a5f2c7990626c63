#include "sim/snapshot_passed.h"

#include <errno.h>

#include "berth/sched_snapshot.h"

int snapshot_put_passed(const struct play *p, json_t *state)
{
    struct sched_passed passed;
    sched_passed(p->d.sched, &passed);
    int rc = json_object_set_new(state, "passed", json_integer((json_int_t)passed.at)) |
             json_object_set_new(state, "events", json_integer((json_int_t)passed.events));
    if (passed.tries_holders)
        rc |= json_object_set_new(state, "tries-holders", json_true());
    if (passed.tries_starving)
        rc |= json_object_set_new(state, "tries-starving", json_true());
    return rc;
}

int snapshot_load_passed(struct play *p, const struct saved_passed *saved,
                         const struct key_place *place, berth_error_t *err)
{
    struct sched_passed passed = {saved->at, (uint64_t)saved->events, saved->tries_holders,
                                  saved->tries_starving};
    if (sched_restore_passed(p->d.sched, p->d.now, &passed) == 0)
        return 0;
    return keys_failed(place, errno, "\"passed\" is after \"now\"", err);
}
