/* What the configuration has run around each run. */
#ifndef SERVER_CORE_HOOKS_H
#define SERVER_CORE_HOOKS_H

#include "base/arena.h"
#include "engine/engine.h"
#include "server/core/state.h"

/* Put the hooks of a run of `job`, whose environment is `env`, into to->hooks; the arena holds them. 0, or -1 with ENOMEM. */
int hooks_make(const server_t *s, const struct job *job, const char *const *env,
               struct arena *arena, struct engine_run *to);

#endif
