/* Runs that the engine has and no job of the store: another store had them, before this one was put in its place. They are
 * ended, and what they hold nobody knows, so nothing is started until they have.
 */
#include <stdlib.h>
#include <string.h>

#include "server/core/priv.h"

int strays_find(server_t *s, const uint64_t *keys, size_t n)
{
    struct engine *engine = s->world.engine;
    size_t unheard = 0;
    free(s->strays);
    s->n_strays = 0;
    s->strays = calloc(n + 1, sizeof(*s->strays));
    if (!s->strays)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (run_lookup(s, keys[i]))
            continue;
        s->strays[s->n_strays++] = keys[i];
        unheard +=
            keys[i] >= s->stored_key; /* else its end may be known, and not be acknowledged */
        engine->ops->signal(engine, keys[i], SIGKILL, true);
    }
    if (s->n_strays > 0)
        s->hold_until = INT64_MAX;
    if (unheard > 0)
        server_notice(s,
                      "runs that belong to no job of this store: %zu; they are ended, and nothing "
                      "starts until they have",
                      unheard);
    return 0;
}

void strays_ended(server_t *s, uint64_t key)
{
    size_t i = 0;
    while (i < s->n_strays && s->strays[i] < key)
        i++;
    if (i == s->n_strays || s->strays[i] != key)
        return;
    s->n_strays--;
    memmove(&s->strays[i], &s->strays[i + 1], (s->n_strays - i) * sizeof(*s->strays));
    if (s->n_strays > 0)
        return;
    s->hold_until = s->now;
    s->urgent = true;
}

const char *server_hold(const server_t *s, const struct member *m)
{
    if (s->n_strays > 0 && !m->reserved)
        return "runs that belong to no job are being ended";
    if (s->failing && !m->reserved)
        return m->reason ? m->reason : "nothing can be stored";
    return s->now < s->hold_until && !m->reserved ? m->reason : NULL;
}
