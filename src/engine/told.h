/* What an engine has told of runs, in the order of its numbers, until the server has acknowledged it. */
#ifndef ENGINE_TOLD_H
#define ENGINE_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* One event. What it says beside its number is the engine's. */
struct told {
    uint64_t number; /* of the engine itself: from 1 on, ascending */
    uint64_t key;
    uint64_t theirs; /* the number that it has where it comes from */
    void *from;      /* where that is; NULL: from several */
    bool is_end;     /* nothing more follows of its run */
};

/* All zero: nothing has been told. */
struct told_list {
    struct told *v; /* v[first] to v[n - 1] are not acknowledged */
    size_t first, n, capacity;
    uint64_t number; /* of the latest */
};

/* Add an event, and give it and the one that the server is told the next number. 0, or -1 with ENOMEM and nothing changed.
 * O(1) on average.
 */
int told_add(struct told_list *l, const struct told *told, struct engine_event *event);

/* Take the oldest, if its number is at most this; NULL: there is none. It is valid until the next call of told_add. O(1). */
const struct told *told_take(struct told_list *l, uint64_t number);

/* Whether one that comes from there is not acknowledged. O(n). */
bool told_has(const struct told_list *l, const void *from);

void told_clear(struct told_list *l);

#endif
