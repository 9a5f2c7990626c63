/* What was freed: one log for a whole machine.
 *
 * Whoever waits could not be served, or not sooner, when it was last looked at. So it needs another look only
 * if something has been freed since that could serve it. Whatever is freed is an event with a number of its
 * own; whoever has been looked at keeps the number of the next event, and asks later for the events from that
 * one on.
 *
 * Of events the log keeps two things, since readers are many and ask often:
 *
 *  1. When, for every machine: from which instant on, and until when, something is free. A later note with an
 *     earlier instant makes those before it pointless, so that what is kept ascends, and is short; where it
 *     is not, two notes become one, which only makes the answer earlier. A sweep asks this for each
 *     reservation.
 *  2. Where, on a graph: the nodes in which something was freed, each with its times. Asked only where the
 *     times allow something, or where a group of waiting jobs is to be woken. Where it is full, or what was
 *     freed is in no node, all before counts as freed everywhere.
 *
 * The core notes times, the machine notes nodes. Why counts of what was freed are not kept here, but for each
 * capacity: see place/graph/increases.c.
 */
#ifndef PLACE_FREED_H
#define PLACE_FREED_H

#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

struct freed_node {
    uint64_t event;
    int64_t from, to;
    uint32_t node; /* vertex */
};

struct freed_nodes {
    uint64_t all;  /* events before this one freed something everywhere, as far as is known */
    uint64_t base; /* those before this one are forgotten */
    uint32_t n;
    struct freed_node v[FREED_NODES]; /* ascending by event */
};

struct freed {
    uint64_t next; /* number of the next event */
    size_t n;
    struct {
        uint64_t event;
        int64_t from;
        int64_t until;
    } note[FREED_TIMES];       /* ascending in event and from */
    struct freed_nodes *nodes; /* NULL where units have no names */
};

/* An empty log of the nodes of a graph. Events count from 1: 0 is before all that is known. */
void freed_init(struct freed *log, struct freed_nodes *nodes);

/* An event: something is free during [from, until). */
void freed_add(struct freed *log, int64_t from, int64_t until);

/* Part of the next event: something in a node is free during [from, to). */
void freed_add_node(struct freed *log, uint32_t node, int64_t from, int64_t to);

/* An event: anything may be free at any time. */
void freed_add_all(struct freed *log);

/* The earliest instant noted from this event on; INT64_MAX if there is none. */
static inline int64_t freed_since(const struct freed *log, uint64_t event)
{
    if (log->n == 0 || log->note[log->n - 1].event < event)
        return INT64_MAX;
    size_t i = 0; /* the last one is late enough */
    while (log->note[i].event < event)
        i++;
    return log->note[i].from;
}

/* The latest end noted from this event on, or a later one; INT64_MIN if there is none. */
int64_t freed_until(const struct freed *log, uint64_t event);

/* The nodes noted from this event on: the first of them in nodes->v. O(log n). */
uint32_t freed_nodes_since(const struct freed_nodes *nodes, uint64_t event);

/* Nobody will ask again for times before the event `swept`, nor for nodes before that and `woken`. */
void freed_forget(struct freed *log, uint64_t swept, uint64_t woken);

#endif
