/* The keys that have been used. */
#include "engine/local/used_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void used_keys_clear(struct used_keys *u)
{
    int saved = errno;
    free(u->v);
    *u = (struct used_keys){0};
    errno = saved;
}

/* The first range whose end is not below the key. */
static size_t find_range(const struct used_keys *u, uint64_t key)
{
    size_t lo = 0;
    size_t hi = u->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (u->v[middle].hi < key)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool used_keys_has(const struct used_keys *u, uint64_t key)
{
    size_t i = find_range(u, key);
    return i < u->n && u->v[i].lo <= key;
}

static int grow(struct used_keys *u)
{
    return array_grow((void **)&u->v, &u->cap, u->n + 1, sizeof(*u->v));
}

int used_keys_add(struct used_keys *u, uint64_t lo, uint64_t hi)
{
    if (lo > hi) {
        errno = EINVAL;
        return -1;
    }
    if (grow(u))
        return -1;
    /* Those that it meets or touches become one with it. */
    size_t first = find_range(u, lo ? lo - 1 : 0);
    size_t end = first;
    while (end < u->n && (hi == UINT64_MAX || u->v[end].lo <= hi + 1))
        end++;
    struct used_range whole = {lo, hi};
    if (end > first) {
        if (u->v[first].lo < lo)
            whole.lo = u->v[first].lo;
        if (u->v[end - 1].hi > hi)
            whole.hi = u->v[end - 1].hi;
    }
    memmove(u->v + first + 1, u->v + end, (u->n - end) * sizeof(*u->v));
    u->v[first] = whole;
    u->n = u->n - (end - first) + 1;
    if (u->n > USED_KEYS_MAX) {
        u->v[1].lo = u->v[0].lo;
        memmove(u->v, u->v + 1, (u->n - 1) * sizeof(*u->v));
        u->n--;
    }
    return 0;
}

int used_keys_remove(struct used_keys *u, uint64_t key)
{
    if (!used_keys_has(u, key))
        return 0;
    if (grow(u))
        return -1;
    size_t i = find_range(u, key);
    const struct used_range whole = u->v[i];
    memmove(u->v + i, u->v + i + 1, (u->n - i - 1) * sizeof(*u->v));
    u->n--;
    if (whole.lo < key && used_keys_add(u, whole.lo, key - 1))
        return -1;
    return whole.hi > key ? used_keys_add(u, key + 1, whole.hi) : 0;
}

bool used_keys_check(const struct used_keys *u)
{
    if (u->n > u->cap || u->n > USED_KEYS_MAX)
        return false;
    for (size_t i = 0; i < u->n; i++)
        if (u->v[i].lo > u->v[i].hi || (i > 0 && u->v[i].lo - u->v[i - 1].hi < 2))
            return false;
    return true;
}
