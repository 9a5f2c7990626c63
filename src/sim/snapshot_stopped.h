/* Who is being stopped, and for whom, in the state of a player. */
#ifndef SIM_SNAPSHOT_STOPPED_H
#define SIM_SNAPSHOT_STOPPED_H

#include "berth/sched_snapshot.h"
#include "sim/play_priv.h"

struct saved_stopped {
    bool stopping, dismissed, cleared, leaving, preempts;
    json_t *awaited_by; /* those who wait for its end; NULL: nobody does */
};

/* The keys of a job, for a table of keys of `into`, whose `field` is a struct saved_stopped. */
#define SNAPSHOT_STOPPED_KEYS(into, field)                                                         \
    KEY_AS(into, field.stopping, "stopping", KEY_BOOL),                                            \
        KEY_AS(into, field.dismissed, "dismissed", KEY_BOOL),                                      \
        KEY_AS(into, field.cleared, "cleared", KEY_BOOL),                                          \
        KEY_AS(into, field.leaving, "leaving", KEY_BOOL),                                          \
        KEY_AS(into, field.preempts, "preempts", KEY_BOOL),                                        \
        KEY_AS(into, field.awaited_by, "awaited-by", KEY_ARRAY)

/* Add the keys to a job: 0, or -1. */
int snapshot_put_stopped(const struct sched_record *record, json_t *job);

/* Have a record say what they do. Returns the list in it of those who wait, to be freed; NULL with EINVAL: that is not as
 * it should be, or ENOMEM.
 */
struct sched_awaiting *snapshot_take_stopped(const struct saved_stopped *saved,
                                             struct sched_record *record);

#endif
