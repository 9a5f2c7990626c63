/* A scheduler that plays cases of Scoot: a machine of nodes with one core each, which are the workers, and the queue
 * `classes`, in which one-core tasks of requestors wait and run as real jobs do. A tick is a thousandth of a second.
 */
#ifndef CONFORMANCE_SCOOT_CORE_H
#define CONFORMANCE_SCOOT_CORE_H

#include "berth/sched.h"
#include "scoot.h"
#include "share/class_counts.h"

enum { SCOOT_WORKERS_MAX = 20000 };

struct scoot_core {
    struct config *config;
    struct match *machine;
    sched_t *s;
    int64_t workers;
    sched_job_t filler; /* what keeps workers from the queue; -1 */
};

/* What a queue by classes is configured with, as the key `classes` has it, from settings: percentages, patterns and the
 * default class. A new reference.
 */
json_t *scoot_core_classes(const classes_t *settings);

/* Open a core with so many workers, at least one. `classes` is as scoot_core_classes makes it, with more keys if the caller
 * has added some; NULL: the queue has none. False, after saying why, if it can't be opened; scoot_core_close is fine then.
 */
bool scoot_core_open(struct scoot_core *core, int64_t workers, json_t *classes);

/* Have other classes from now on. False, after saying why, if they are refused. */
bool scoot_core_configure(struct scoot_core *core, int64_t now, json_t *classes);
void scoot_core_close(struct scoot_core *core);

/* Tasks of one requestor, each of one core: an array if there are more than one. */
struct scoot_tasks {
    const char *requestor;
    uint32_t tasks;
    uint64_t tag;
    int64_t ticks; /* that each may take, and is expected to; 0: nobody knows */
    bool hold;
};

/* Submit them. The handle, or -1 after saying why. */
sched_job_t scoot_core_submit(struct scoot_core *core, int64_t now,
                              const struct scoot_tasks *tasks);

/* Leave so many idle workers to the queue, of which all that waits is held: what another queue runs takes the rest.
 * False if it can't.
 */
bool scoot_core_leave_idle(struct scoot_core *core, int64_t now, int64_t idle);

/* Start so many tasks of a job that is held as all others are, and hold what `waits` of it. False if it can't. */
bool scoot_core_start(struct scoot_core *core, int64_t now, sched_job_t job, int64_t tasks,
                      bool waits);

/* scoot_loads.c: what starts of classes with these loads, while so many of at least one worker are idle. What classes run and
 * what is idle are all. Sets `start` of each, and `stop` to 0. False, perhaps after saying why, if it can't be played.
 */
bool scoot_play_loads(const classes_t *settings, struct class_load *loads, size_t n,
                      int64_t workers, int64_t idle);

/* scoot_starts.c: the tasks of a job, given by their names, in the order in which they start, of which `known` says how many
 * seconds some take. A new reference.
 */
json_t *scoot_play_order(json_t *tasks, json_t *known);

/* scoot_stops.c: the names of the tasks that stop in a case about that; NULL if it can't be set up. A new reference. */
json_t *scoot_play_stops(json_t *c);

#endif
