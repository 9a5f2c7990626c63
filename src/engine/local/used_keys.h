/* The keys that have been used, as ranges: keys come from a counter, which continues from a higher number
 * when a server is started.
 *
 * There are never more than USED_KEYS_MAX ranges. If keys are so scattered that there would be more, the
 * lowest ranges are joined, and the keys between them count as used too: a run may then be refused, but
 * is never started twice.
 */
#ifndef ENGINE_LOCAL_USED_KEYS_H
#define ENGINE_LOCAL_USED_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USED_KEYS_MAX 4096

struct used_range {
    uint64_t lo; /* lo and hi are used too */
    uint64_t hi;
};

struct used_keys {
    struct used_range *v; /* ascending, with at least one key between two */
    size_t n;
    size_t cap;
};

/* Make a set empty, which is all zeroes. Keeps errno. */
void used_keys_clear(struct used_keys *u);

/* Add the keys from lo to hi. O(log n), plus moving the ranges above. 0, or -1 with ENOMEM, or EINVAL:
 * not a range.
 */
int used_keys_add(struct used_keys *u, uint64_t lo, uint64_t hi);

/* Remove a key that was not used after all. O(log n), plus moving the ranges above. 0, or -1 with ENOMEM. */
int used_keys_remove(struct used_keys *u, uint64_t key);

bool used_keys_has(const struct used_keys *u, uint64_t key);

/* True if the ranges are in order. */
bool used_keys_check(const struct used_keys *u);

#endif
