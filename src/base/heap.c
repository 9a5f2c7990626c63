/* A heap with four children for each node: it has half the levels of a binary heap, and the keys of
 * children are adjacent.
 */
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARITY = HEAP_ARITY };

static bool comes_first(const struct heap_entry *a, const struct heap_entry *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->then != b->then ? a->then < b->then : a->order < b->order;
}

static void set_entry(struct heap *h, uint32_t i, struct heap_entry e)
{
    h->v[i] = e;
    h->place[e.item] = i + 1;
}

static void lift_entry(struct heap *h, uint32_t i, struct heap_entry e)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / ARITY;
        if (!comes_first(&e, &h->v[parent]))
            break;
        set_entry(h, i, h->v[parent]);
        i = parent;
    }
    set_entry(h, i, e);
}

static void lower_entry(struct heap *h, uint32_t i, struct heap_entry e)
{
    for (;;) {
        uint64_t first = (uint64_t)i * ARITY + 1;
        if (first >= h->n)
            break;
        uint32_t least = (uint32_t)first;
        uint32_t end = h->n - least > ARITY ? least + ARITY : h->n;
        for (uint32_t child = least + 1; child < end; child++)
            if (comes_first(&h->v[child], &h->v[least]))
                least = child;
        if (!comes_first(&h->v[least], &e))
            break;
        set_entry(h, i, h->v[least]);
        i = least;
    }
    set_entry(h, i, e);
}

void heap_clear(struct heap *h)
{
    free(h->v);
    free(h->place);
    *h = (struct heap){0};
}

void heap_empty(struct heap *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        h->place[h->v[i].item] = 0;
    h->n = 0;
}

/* Room for so many items, and for the places of all below `places`. */
static int reserve_entries(struct heap *h, uint32_t n, uint32_t places)
{
    if (n > h->cap) {
        uint32_t cap = h->cap ? h->cap + h->cap / 2 : 16;
        cap = cap < n ? n : cap;
        struct heap_entry *v = reallocarray(h->v, cap, sizeof(*v));
        if (!v)
            return -1;
        h->v = v;
        h->cap = cap;
    }
    if (places > h->places) {
        places = places <= 16 ? 32 : places + places / 2;
        uint32_t *place = reallocarray(h->place, places, sizeof(*place));
        if (!place)
            return -1;
        memset(place + h->places, 0, (places - h->places) * sizeof(*place));
        h->place = place;
        h->places = places;
    }
    return 0;
}

int heap_reserve(struct heap *h, uint32_t n)
{
    if (reserve_entries(h, n, n) == 0)
        return 0;
    errno = ENOMEM;
    return -1;
}

int heap_put_by(struct heap *h, uint32_t item, int64_t key, uint32_t then, uint64_t order)
{
    assert(!heap_has(h, item));
    if (reserve_entries(h, h->n + 1, item + 1) < 0) {
        errno = ENOMEM;
        return -1;
    }
    h->n++;
    lift_entry(h, h->n - 1, (struct heap_entry){key, order, item, then});
    return 0;
}

int heap_put(struct heap *h, uint32_t item, int64_t key, uint64_t order)
{
    return heap_put_by(h, item, key, 0, order);
}

void heap_move_by(struct heap *h, uint32_t item, int64_t key, uint32_t then, uint64_t order)
{
    assert(heap_has(h, item));
    uint32_t i = h->place[item] - 1;
    struct heap_entry e = {key, order, item, then};
    if (comes_first(&e, &h->v[i]))
        lift_entry(h, i, e);
    else
        lower_entry(h, i, e);
}

void heap_move(struct heap *h, uint32_t item, int64_t key, uint64_t order)
{
    heap_move_by(h, item, key, 0, order);
}

void heap_take(struct heap *h, uint32_t item)
{
    assert(heap_has(h, item));
    uint32_t i = h->place[item] - 1;
    h->place[item] = 0;
    struct heap_entry last = h->v[--h->n];
    if (i == h->n)
        return;
    if (i > 0 && comes_first(&last, &h->v[(i - 1) / ARITY]))
        lift_entry(h, i, last);
    else
        lower_entry(h, i, last);
}

bool heap_check(const struct heap *h)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < h->places; i++)
        placed += h->place[i] > 0;
    for (uint32_t i = 0; i < h->n; i++) {
        if (h->place[h->v[i].item] != i + 1 ||
            (i > 0 && comes_first(&h->v[i], &h->v[(i - 1) / ARITY])))
            return false;
    }
    return placed == h->n;
}
