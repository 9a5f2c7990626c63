/* Jobs that go before others only since a scheduler at work has another configuration. */
#ifndef SCHED_OVERTAKE_H
#define SCHED_OVERTAKE_H

#include "sched/sched_priv.h"

/* The keys that jobs had, by slot, and room for those of all holders. */
struct overtake {
    struct queue_key *was;
    struct overtaken *holder;
    size_t n;
};

/* Note the keys of all jobs before the configuration changes. Returns 0, or -1 with ENOMEM. O(jobs). */
int overtake_begin(struct overtake *o, sched_t *s);

/* Open jobs that went behind some holder and go before it now take their turn as new ones do. O(jobs log jobs). */
void overtake_renew(struct overtake *o, sched_t *s);

void overtake_end(struct overtake *o);

#endif
