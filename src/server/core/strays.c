/* Runs that the engine has and no job of the store: another store had them, before this one was put in
 * its place. They are ended, and what they hold nobody knows, so nothing is started until they have.
 */
#include <stdlib.h>
#include <string.h>

#include "server/core/priv.h"

int strays_find(server_t *s, const uint64_t *keys, size_t n)
{
    struct engine *engine = s->world.engine;
    size_t unheard = 0;
    free(s->ledger.strays);
    s->ledger.n_strays = 0;
    s->ledger.strays = calloc(n + 1, sizeof(*s->ledger.strays));
    if (!s->ledger.strays)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (run_lookup(s, keys[i]))
            continue;
        s->ledger.strays[s->ledger.n_strays++] = keys[i];
        unheard +=
            keys[i] >= s->runs.stored_key; /* else its end may be known, and not be acknowledged */
        engine->ops->signal(engine, keys[i], SIGKILL, true);
    }
    if (s->ledger.n_strays > 0)
        s->ledger.hold_until = INT64_MAX;
    if (unheard > 0)
        server_notice(s,
                      "killing runs that belong to no job of this store: %zu; nothing starts until "
                      "they have ended",
                      unheard);
    return 0;
}

void strays_ended(server_t *s, uint64_t key)
{
    size_t i = 0;
    while (i < s->ledger.n_strays && s->ledger.strays[i] < key)
        i++;
    if (i == s->ledger.n_strays || s->ledger.strays[i] != key)
        return;
    s->ledger.n_strays--;
    memmove(&s->ledger.strays[i], &s->ledger.strays[i + 1],
            (s->ledger.n_strays - i) * sizeof(*s->ledger.strays));
    if (s->ledger.n_strays > 0)
        return;
    s->ledger.hold_until = s->clock.now;
    s->dirty.urgent = true;
}

const char *server_hold(const server_t *s, const struct member *m)
{
    if (s->ledger.n_strays > 0 && !m->reserved)
        return "runs that belong to no job are being killed";
    if (s->dirty.failing && !m->reserved)
        return m->reason ? m->reason : "the store cannot be written";
    return s->clock.now < s->ledger.hold_until && !m->reserved ? m->reason : NULL;
}
