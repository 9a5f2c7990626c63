/* The server's side of a keeper on another node: as that of this machine, but others make the link to it. */
#ifndef ENGINE_LOCAL_PASSIVE_H
#define ENGINE_LOCAL_PASSIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/* An engine without a link. What is started on it is sent once there is one. `outputs` is its own folder, for notes of files
 * that are written for it (outputs.h). NULL with errno.
 */
struct engine *passive_open(const char *outputs);

/* A stream to the keeper, which is now the engine's. It takes the place of the one before. */
void passive_link(struct engine *e, int fd);

/* Whether the keeper has greeted on the present link. */
bool passive_linked(const struct engine *e);

/* The keeper may have this run; if it does not know it when it greets, the run is lost or, if it was not heard to
 * have started, not begun. 0, or -1 with ENOMEM.
 */
int passive_expect(struct engine *e, const struct engine_expected *run);

/* Nothing runs there any more, for whatever reason that is certain: what has not ended is lost. */
void passive_lose(struct engine *e);

/* Whether it knows the run; whether nothing runs there any more; whether every run's end is acknowledged. */
bool passive_has(const struct engine *e, uint64_t key);
bool passive_over(const struct engine *e);
bool passive_empty(const struct engine *e);

/* ---- A run that waits for others; of any keeper, also this machine's ---- */

/* As engine_ops.start, but nothing is sent yet. Signals to it wait with it. */
int passive_hold(struct engine *e, const struct engine_run *run, berth_error_t *err);

/* Send it; nothing if it does not wait. */
void passive_go(struct engine *e, uint64_t key);

/* Forget it. False: it does not wait. */
bool passive_drop(struct engine *e, uint64_t key);

#endif
