#include "resource/propset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int propset_init(struct propset *p)
{
    uint32_t id;

    *p = (struct propset){0};
    if (intern_put(&p->sets, "", 0, &id) < 0) {
        propset_clear(p);
        return -1;
    }
    return 0;
}

void propset_clear(struct propset *p)
{
    intern_clear(&p->sets);
    intern_clear(&p->texts);
}

/* Where in a set a key is or would be. */
static size_t property_index(const struct propset *p, uint32_t set, const char *key, bool *there)
{
    size_t low = 0, n = propset_size(p, set), high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(propset_text(p, propset_at(p, set, middle).key), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < n && strcmp(propset_text(p, propset_at(p, set, low).key), key) == 0;
    return low;
}

const char *propset_value(const struct propset *p, uint32_t set, const char *key)
{
    bool there;
    size_t i = property_index(p, set, key, &there);

    return there ? propset_text(p, propset_at(p, set, i).value) : NULL;
}

/* Replace `drop` properties from place i on by one, or by none if new is NULL. */
static int put_changed(struct propset *p, uint32_t set, size_t i, size_t drop,
                       const struct property *new, uint32_t *result)
{
    const char *list = intern_text(&p->sets, set);
    size_t n = propset_size(p, set);
    size_t add = new ? 1 : 0;
    struct property *changed = malloc((n - drop + add + 1) * sizeof(*changed));

    if (!changed)
        return -1;
    if (i > 0)
        memcpy(changed, list, i * sizeof(*changed));
    if (new)
        changed[i] = *new;
    if (n > i + drop)
        memcpy(changed + i + add, list + (i + drop) * sizeof(*changed),
               (n - i - drop) * sizeof(*changed));
    int rc =
        intern_put(&p->sets, (const char *)changed, (n - drop + add) * sizeof(*changed), result);
    free(changed);
    return rc;
}

int propset_with(struct propset *p, uint32_t set, const char *key, const char *value,
                 uint32_t *result)
{
    bool there;
    size_t i = property_index(p, set, key, &there);
    struct property new;

    if (intern_put(&p->texts, key, strlen(key), &new.key) < 0 ||
        intern_put(&p->texts, value, strlen(value), &new.value) < 0)
        return -1;
    return put_changed(p, set, i, there ? 1 : 0, &new, result);
}

int propset_without(struct propset *p, uint32_t set, const char *key, uint32_t *result)
{
    bool there;
    size_t i = property_index(p, set, key, &there);

    if (!there) {
        errno = ENOENT;
        return -1;
    }
    return put_changed(p, set, i, 1, NULL, result);
}
