/* A priority queue of numbered items: the smallest key first, equal keys by a second number, or else by their order.
 *
 * Items are small numbers that the caller chooses, each at most once in the heap, so an item can be moved
 * or removed wherever it is. Nothing depends on addresses. Calls are O(log n). Memory is 24 bytes for
 * each item in the heap, and 4 bytes for each number up to the largest ever put.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_ARITY 4 /* the children of v[i] are v[4 * i + 1] to v[4 * i + 4] */

struct heap_entry {
    int64_t key;
    uint64_t order; /* tells equal keys apart */
    uint32_t item;
    uint32_t then; /* compared before the order */
};

struct heap {
    struct heap_entry *v; /* v[0] is the first item */
    uint32_t n;
    uint32_t cap;
    uint32_t *place; /* place[item]: its index in v plus 1; 0: it is not in the heap */
    uint32_t places;
};

/* Free a heap's memory. An empty heap is all zeroes. */
void heap_clear(struct heap *h);

/* Remove all items. O(n). */
void heap_empty(struct heap *h);

/* Have memory for all items below n at once, so that putting them can't fail. Returns 0, or -1 with ENOMEM. */
int heap_reserve(struct heap *h, uint32_t n);

/* Put an item that is not in the heap, with a second number or with 0. Returns 0, or -1 with ENOMEM and nothing changed. */
int heap_put_by(struct heap *h, uint32_t item, int64_t key, uint32_t then, uint64_t order);
int heap_put(struct heap *h, uint32_t item, int64_t key, uint64_t order);

/* True if the item is in the heap. */
static inline bool heap_has(const struct heap *h, uint32_t item)
{
    return item < h->places && h->place[item] > 0;
}

/* Change the key of an item in the heap. */
void heap_move_by(struct heap *h, uint32_t item, int64_t key, uint32_t then, uint64_t order);
void heap_move(struct heap *h, uint32_t item, int64_t key, uint64_t order);

/* Remove an item from the heap. */
void heap_take(struct heap *h, uint32_t item);

/* True if the heap is in order. For tests. O(n). */
bool heap_check(const struct heap *h);

#endif
