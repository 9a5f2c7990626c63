/* The keys that have been used: ranges of them, since they come from a counter, which goes on from a
 * higher number when a server is started.
 *
 * There are never more than USED_KEYS_MAX ranges. Where keys come so scattered that there would be, the lowest
 * ranges become one, and the keys between them count as used too: a run may then be refused, never
 * started twice.
 */
#ifndef ENGINE_LOCAL_USED_KEYS_H
#define ENGINE_LOCAL_USED_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USED_KEYS_MAX 4096

struct used_range {
    uint64_t lo; /* both are used */
    uint64_t hi;
};

struct used_keys {
    struct used_range *v; /* ascending, with at least one key between two */
    size_t n;
    size_t cap;
};

/* An empty set is all zeroes. Clearing keeps errno. */
void used_keys_clear(struct used_keys *u);

/* O(log n) and the moving of what is above. 0, or -1 with ENOMEM, or EINVAL for a range that is none. */
int used_keys_add(struct used_keys *u, uint64_t lo, uint64_t hi);

/* The key is not used after all. O(log n) and the moving of what is above. 0, or -1 with ENOMEM. */
int used_keys_remove(struct used_keys *u, uint64_t key);

bool used_keys_has(const struct used_keys *u, uint64_t key);

/* True if the ranges are in order. */
bool used_keys_check(const struct used_keys *u);

#endif
