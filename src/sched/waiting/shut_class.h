/* Classes that start nothing, as they have 0 percent (doc/classes.md), and their jobs, which don't count. */
#ifndef SCHED_SHUT_CLASS_H
#define SCHED_SHUT_CLASS_H

#include "sched/sched_priv.h"

struct lane;
struct leaf;
struct line;

/* Whether a leaf is of a class that starts nothing. */
bool leaf_is_shut(const sched_t *s, const struct leaf *leaf);

/* The class of a job if it starts nothing at all; else NULL. */
const char *shares_shut_class(const sched_t *s, uint32_t slot);

/* The first open job of a lane that may start at all: of no such class. False: there is none. O(log open), and for a
 * queue with classes for each of those jobs before it.
 */
bool shares_first_open(const sched_t *s, const struct lane *lane, struct queue_entry *entry);

/* Whether the open jobs of a line are of a class that starts nothing. */
bool shares_is_shut(const sched_t *s, const struct lane *lane, const struct line *line);

#endif
