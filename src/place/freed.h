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
 *     freed is in no node, all before counts as freed everywhere. Most of a sweep's questions concern other
 *     times or other nodes than most events do, so that entries are passed over run by run.
 *
 * The core notes times, the machine notes nodes. Why counts of what was freed are not kept here, but for each
 * capacity: see place/graph/increases.c.
 */
#ifndef PLACE_FREED_H
#define PLACE_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"

struct freed_node {
    uint64_t event;
    int64_t from, to;
    int64_t id;    /* by which nodes are ordered */
    uint32_t node; /* vertex */
};

/* Entries that follow one another, up to the first of the next run: all of an event are in one. Each of them lies
 * within [from, to), and its id is from low to high.
 */
struct freed_run {
    uint32_t first;
    bool ascends; /* by id */
    int64_t from, to, low, high;
};

struct freed_nodes {
    uint64_t all;  /* events before this one freed something everywhere, as far as is known */
    uint64_t base; /* those before this one are forgotten */
    uint32_t n;
    struct freed_node v[FREED_NODES]; /* ascending by event */
    uint32_t n_runs;                  /* 0: there are no entries */
    struct freed_run run[FREED_RUNS]; /* of all entries, in their order */
};

/* Entries that are looked for: free in some of [from, to), with an id from low to high. */
struct freed_wanted {
    int64_t from, to, low, high;
};

/* How far a search is. */
struct freed_cursor {
    uint32_t run;       /* the next one */
    uint32_t next, end; /* entries of the run before that are still to be looked at */
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

/* Part of the next event: something in a node, which has an id, is free during [from, to). */
void freed_add_node(struct freed *log, uint32_t node, int64_t id, int64_t from, int64_t to);

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

/* Search the nodes noted from this event on. O(log n). */
struct freed_cursor freed_search(const struct freed_nodes *nodes, uint64_t event);

/* Go on to the next run that may have what is wanted; false: there is none. */
bool freed_next_run(const struct freed_nodes *nodes, const struct freed_wanted *wanted,
                    struct freed_cursor *c);

/* The next entry that is wanted; NULL: there is no other. All of them together: O(runs + entries with such ids, of those
 * runs that may have what is wanted); of runs that don't ascend, all their entries.
 */
static inline const struct freed_node *freed_next(const struct freed_nodes *nodes,
                                                  const struct freed_wanted *wanted,
                                                  struct freed_cursor *c)
{
    do {
        while (c->next < c->end) {
            const struct freed_node *f = &nodes->v[c->next++];
            if (f->from < wanted->to && f->to > wanted->from && f->id >= wanted->low &&
                f->id <= wanted->high)
                return f;
        }
    } while (freed_next_run(nodes, wanted, c));
    return NULL;
}

/* True if runs are as they are said to be. O(n). */
bool freed_check(const struct freed_nodes *nodes);

/* Nobody will ask again for times before the event `swept`, nor for nodes before that and `woken`. */
void freed_forget(struct freed *log, uint64_t swept, uint64_t woken);

#endif
