/* The order of jobs of a queue with classes (doc/classes.md): of equal priorities the job goes first of which fewest
 * workers are held, which run or are promised. That is more than none of arrays only: what waits of one has another key
 * with each member that starts or ends. It is given that before the next choice.
 *
 * What holds a reservation, and a member that waits by itself, has the key of a job of which nothing is held.
 */
#ifndef SCHED_CLASS_ORDER_H
#define SCHED_CLASS_ORDER_H

#include "sched/sched_priv.h"

/* What is held of an entry's array may have changed; or it is open by now, or a member that waits by itself. */
void class_order_changed(sched_t *s, uint32_t slot);

/* Give such jobs their keys, also where a limit keeps them. Returns 0, or -1 with ENOMEM, and the next call goes on.
 * O(such jobs x log open).
 */
int class_order_refresh(sched_t *s);

/* Whether a job is yet to be given its key, and goes before others by that. O(1). */
bool class_order_rises(const sched_t *s, uint32_t slot);

/* Whether a job stands where it is to, or is yet to be given its key. */
bool class_order_check(const sched_t *s, uint32_t slot);

#endif
