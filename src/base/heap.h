/* A priority queue of numbered items: the least key first, equal keys by their order.
 *
 * Items are small numbers of the caller's, each at most once in the heap, so that one can be moved or taken
 * out wherever it stands. Nothing depends on addresses. Calls are O(log n); memory is 24 bytes an item in the
 * heap and 4 bytes for each number up to the largest ever put.
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
};

struct heap {
    struct heap_entry *v; /* v[0] is the least */
    uint32_t n;
    uint32_t cap;
    uint32_t *place; /* place[item]: where it stands in v, plus 1; 0: it is not in the heap */
    uint32_t places;
};

/* An empty heap is all zeroes. */
void heap_clear(struct heap *h);

/* Put an item that is not in the heap. Returns 0, or -1 with ENOMEM and nothing changed. */
int heap_put(struct heap *h, uint32_t item, int64_t key, uint64_t order);

/* True if the item is in the heap. */
bool heap_has(const struct heap *h, uint32_t item);

/* Give an item of the heap another key. */
void heap_move(struct heap *h, uint32_t item, int64_t key, uint64_t order);

/* Take an item of the heap out. */
void heap_take(struct heap *h, uint32_t item);

/* True if every item stands where it should. O(n). */
bool heap_check(const struct heap *h);

#endif
