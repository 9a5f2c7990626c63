/* Waiting jobs in order, and the next one that can fit.
 *
 * An ordered set of entries, each with units and a value, which here is a duration. Beside "next in order" it
 * answers "the next one with units and value within one of these bounds" without looking at every entry: the
 * bounds are what is free now for how long.
 *
 * A B+ tree. An inner node knows, for each child and each power of two, the least value below it among
 * entries of at most so many units. A subtree is entered only if, units rounded up to a power of two,
 * something below can match; so matching is O(log q) per match unless many entries lie between a bound and
 * the next power of two. Everything else is O(log q). An entry takes 48 bytes in a leaf;
 * a queue of a few entries has one leaf, with room for twice as many at most.
 */
#ifndef SCHED_QUEUE_H
#define SCHED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The smaller rank first, then the smaller brevity, which is 0 but where the longest goes first (config/order.c). */
struct queue_key {
    int64_t rank;
    uint64_t seq; /* no two entries share it */
    uint32_t brevity;
};

struct queue_entry {
    struct queue_key key;
    int64_t units;
    int64_t value;
    uint32_t item;
};

struct queue_bound {
    int64_t units;
    int64_t value;
};

struct queue;

/* A queue for entries of 1 to most units. NULL with ENOMEM. */
struct queue *queue_create(int64_t most);
void queue_destroy(struct queue *q);

size_t queue_size(const struct queue *q);

/* How often it has changed since it was created. O(1). */
uint64_t queue_changes(const struct queue *q);

static inline bool queue_before(struct queue_key a, struct queue_key b)
{
    if (a.rank != b.rank)
        return a.rank < b.rank;
    return a.brevity != b.brevity ? a.brevity < b.brevity : a.seq < b.seq;
}

static inline bool queue_same(struct queue_key a, struct queue_key b)
{
    return a.rank == b.rank && a.brevity == b.brevity && a.seq == b.seq;
}

/* Insert an entry whose key is new. Returns 0, or -1 with ENOMEM and nothing changed. */
int queue_insert(struct queue *q, const struct queue_entry *entry);

/* Have memory for one insertion, also if an entry is removed before. Returns 0, or -1 with ENOMEM. */
int queue_reserve(struct queue *q);

/* Remove the entry with this key, which must be there. */
void queue_remove(struct queue *q, struct queue_key key);

/* The entry with this key, which must be there, is for another item. */
void queue_give(struct queue *q, struct queue_key key, uint32_t item);

/* First and last entry; false if the queue is empty. */
bool queue_first(const struct queue *q, struct queue_entry *entry);
bool queue_last(const struct queue *q, struct queue_entry *entry);

/* The first entry after `after` (NULL: of all); false if there is none. O(log q). */
bool queue_after(const struct queue *q, const struct queue_key *after, struct queue_entry *entry);

/* A walk over the items in order; any change of the entries ends its validity. */
#define QUEUE_HEIGHT_MAX 16
struct queue_cursor {
    uint32_t height;
    const void *node[QUEUE_HEIGHT_MAX + 1]; /* [0] is the leaf */
    uint32_t i[QUEUE_HEIGHT_MAX + 1];
};

/* The first item; false if there is none. Then on to the next. O(1). */
bool queue_begin(const struct queue *q, struct queue_cursor *c);
bool queue_next(struct queue_cursor *c);
uint32_t queue_item(const struct queue_cursor *c);

/* The least value of all entries; INT64_MAX if there are none. O(1). */
int64_t queue_least(const struct queue *q);

/* Number of entries before this key. */
size_t queue_rank(const struct queue *q, struct queue_key key);

/* The first entry after `after` (NULL: from the start) with units and value at most those of some bound;
 * false if there is none. Bounds ascend in value and descend in units.
 */
bool queue_match(const struct queue *q, const struct queue_key *after,
                 const struct queue_bound *bound, size_t n, struct queue_entry *entry);

/* True if the entries are in order and what nodes say of their children is right. O(q). */
bool queue_check(const struct queue *q);

#endif
