/* The order of jobs by gangs, where that of their queue has `gang`: what waits of a gang that has its min goes behind those
 * of gangs that lack theirs, and those of none. It is more than what the gang was started for.
 *
 * An open job has another key when that changes, before the next choice. What holds a reservation, or is blocked, has the
 * key of a job of no gang: a promise is kept however gangs start and end. So the keys of all follow from what is now.
 */
#ifndef SCHED_GANG_ORDER_H
#define SCHED_GANG_ORDER_H

#include "sched/waiting/gang.h"

/* A gang may have its min by now, or no more; it is no more. O(roles). */
void gang_order_changed(sched_t *s, struct gang *gang);
void gang_order_forget(struct gang *gang);

/* A job that becomes open gets its key; one that is open no more, that of a job of no gang. O(roles). */
void gang_order_enter(sched_t *s, uint32_t slot);
void gang_order_leave(sched_t *s, uint32_t slot);

/* Give open jobs of gangs that have changed their keys. Returns 0, or -1 with ENOMEM, and the next call goes on.
 * O(slots of such gangs x log open), and O(1) where there are none.
 */
int gang_order_refresh(sched_t *s);

/* Whether a job in a named queue has the key that it is to have, as far as gangs go. For tests. */
bool gang_order_check(const sched_t *s, uint32_t slot);

#endif
