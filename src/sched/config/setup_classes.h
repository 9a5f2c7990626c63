/* The classes of a queue, as its configuration has them.
 *
 * They are nodes below the queue's, the largest percentage first. What is below a queue with classes, and
 * below each of these, goes by rank, which the pass works out (waiting/class_turns.h).
 */
#ifndef SCHED_SETUP_CLASSES_H
#define SCHED_SETUP_CLASSES_H

#include "sched/config/setup_shares.h"
#include "share/classes.h"

struct setup_classes {
    classes_t *settings;
    uint32_t n;
    uint32_t first; /* the node of class 0 */
    int64_t
        worker[SCHED_SHARE_RESOURCES]; /* so much of each is a worker; of one of them at least */
    struct class_rule rule;            /* of rebalancing, in ticks */
    bool longest_first;
};

/* Check and resolve the classes of a queue, whose shares have their resources. Returns 0, or -1 with
 * EINVAL or ENOMEM and a text.
 */
int setup_resolve_classes(struct setup *setup, uint32_t queue, berth_error_t *err);

/* Their nodes are those from `first` on. */
void setup_add_classes(struct setup *setup, uint32_t queue, uint32_t first);

/* The classes of a queue; NULL: it has none. */
struct setup_classes *setup_classes_of(const struct setup *setup, uint32_t queue);

/* In so many ranks arrays of one priority are told apart by what is held of them (config/order.c). */
#define CLASSES_LEVELS 2048

void setup_clear_classes(struct setup *setup);

#endif
