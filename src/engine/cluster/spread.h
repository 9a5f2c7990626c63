/* Runs that are on several nodes: the engine of each node has a part of such a run, under the same key, and what the
 * parts tell is made one run's story.
 *
 * The first part is sent, the others are held until it has started: so a command that does not exist fails on one
 * node, and the files of its output are emptied before others write. When a part ends other than by its tasks' end,
 * the others are killed. An event of a part is acknowledged once the event that is made of it is: so after a restart
 * of the server the keepers tell all that is needed again.
 */
#ifndef ENGINE_CLUSTER_SPREAD_H
#define ENGINE_CLUSTER_SPREAD_H

#include "base/dict.h"
#include "engine/engine.h"

struct many;
struct part;
struct spread;

struct spreads {
    struct dict by_key;
    struct spread *first; /* all */
    struct spread *due;   /* which have ended with nobody to tell it */
    bool has_asked;       /* parts were sent on or killed: to be flushed */
    size_t n_kept;        /* parts of which some events are not to be acknowledged yet */
};

/* As engine_ops.start, for a run with places. One that is expected is asked for once more. */
int spread_start(struct many *m, const struct engine_run *run, berth_error_t *err);

/* A part may have a run of several places. 0, or -1 with ENOMEM. */
int spread_expect(struct many *m, struct part *p, const struct engine_expected *expected);

/* The run of a key, or NULL. O(1). */
struct spread *spread_find(const struct spreads *all, uint64_t key);

/* A part's event. Returns whether it makes one of the whole, which is then the n-th of the batch. */
bool spread_event(struct many *m, struct spread *s, struct part *p,
                  const struct engine_event *event, size_t n);

/* This machine's engine has listed its runs: what it should have and does not is lost. */
void spreads_meet(struct many *m);

/* Report what has ended meanwhile, at most so many. Returns how many. */
size_t spreads_due(struct many *m, size_t max);

/* The event of the whole is acknowledged: that it has started, or that it has ended. */
void spread_acknowledge(struct many *m, struct spread *s, bool ended);

/* Up to which number the events of a part may be acknowledged, if it is not for others up to `most`. */
uint64_t spreads_let(const struct spreads *all, const struct part *p, uint64_t most);

void spreads_clear(struct spreads *all);

#endif
