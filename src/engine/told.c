#include "engine/told.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int told_add(struct told_list *l, const struct told *told, struct engine_event *event)
{
    if (l->first > 0 && l->first >= l->n / 2) {
        memmove(l->v, l->v + l->first, (l->n - l->first) * sizeof(*l->v));
        l->n -= l->first;
        l->first = 0;
    }
    if (array_grow((void **)&l->v, &l->capacity, l->n + 1, sizeof(*l->v)) < 0)
        return -1;
    l->v[l->n] = *told;
    l->v[l->n++].number = event->number = ++l->number;
    return 0;
}

const struct told *told_take(struct told_list *l, uint64_t number)
{
    return l->first < l->n && l->v[l->first].number <= number ? &l->v[l->first++] : NULL;
}

bool told_has(const struct told_list *l, const void *from)
{
    for (size_t i = l->first; i < l->n; i++)
        if (l->v[i].from == from)
            return true;
    return false;
}

void told_clear(struct told_list *l)
{
    free(l->v);
    *l = (struct told_list){0};
}
