/* Orphans: runs of the engine that belong to no job, as the store was replaced by another one. They are
 * killed. Nobody knows what they hold, so nothing is started until they have ended.
 */
#include <stdlib.h>
#include <string.h>

#include "server/core/members.h"
#include "server/core/priv.h"

int orphans_kill(server_t *s, const uint64_t *keys, size_t n)
{
    struct engine *engine = s->platform.engine;
    size_t unheard = 0;
    free(s->engine.orphans);
    s->engine.n_orphans = 0;
    s->engine.orphans = calloc(n + 1, sizeof(*s->engine.orphans));
    if (!s->engine.orphans)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (run_lookup(s, keys[i]))
            continue;
        s->engine.orphans[s->engine.n_orphans++] = keys[i];
        unheard +=
            keys[i] >= s->runs.stored_key; /* else its end may be stored but not acknowledged */
        engine->ops->signal(engine, keys[i], SIGKILL, true);
    }
    if (s->engine.n_orphans > 0)
        s->engine.hold_until = INT64_MAX;
    if (unheard > 0)
        server_notice(s,
                      "killing runs that belong to no job of this store: %zu; nothing starts until "
                      "they have ended",
                      unheard);
    return 0;
}

void orphan_ended(server_t *s, uint64_t key)
{
    size_t i = 0;
    while (i < s->engine.n_orphans && s->engine.orphans[i] < key)
        i++;
    if (i == s->engine.n_orphans || s->engine.orphans[i] != key)
        return;
    s->engine.n_orphans--;
    memmove(&s->engine.orphans[i], &s->engine.orphans[i + 1],
            (s->engine.n_orphans - i) * sizeof(*s->engine.orphans));
    if (s->engine.n_orphans > 0)
        return;
    s->engine.hold_until = s->clock.now;
    s->unsaved.urgent = true;
}

const char *server_pause_reason(const server_t *s, const struct job *job, const struct member *m)
{
    if (s->engine.n_orphans > 0 && !m->reserved)
        return "runs that belong to no job are being killed";
    if (s->unsaved.failing && !m->reserved)
        return m->reason ? m->reason : "the store cannot be written";
    bool declined = s->clock.now < job->declined.until && m->reason && not_started_cause(m->reason);
    return (declined || s->clock.now < s->engine.hold_until) && !m->reserved ? m->reason : NULL;
}
