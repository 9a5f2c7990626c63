/* All that hold reservations, over all lanes, in queue order: a list that is made when it is asked for after a change, so
 * that a sweep need not look into each lane for each of them.
 */
#ifndef SCHED_WAITING_HELD_LIST_H
#define SCHED_WAITING_HELD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_entry;

struct held_list {
    struct queue_entry *v; /* the first n */
    size_t n, capacity;
    bool is_known;    /* else the lanes are others than those that it was made of */
    uint64_t changes; /* of the lanes, when it was made */
    size_t next;      /* behind the one that was asked for last */
};

struct sched;

/* True if the list is right: it has what the lanes have, or is marked as out of date. */
bool held_list_check(const struct sched *s);

#endif
