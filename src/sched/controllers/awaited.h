/* Who waits for whose end: jobs that hold what those use who are being stopped for them, and start once the last of these
 * has ended. What a stopped job leaves may be enough for several, who then all wait for its end.
 */
#ifndef SCHED_AWAITED_H
#define SCHED_AWAITED_H

#include "sched/sched_priv.h"

struct queues;

/* Have memory for so many more. Returns 0, or -1 with ENOMEM. */
int awaited_reserve(struct queues *n, size_t more);

/* A holder waits for the end of a running job, for which it does not wait yet. There is memory for it. O(1). */
void awaited_add(sched_t *s, uint32_t victim, uint32_t holder);

/* A job has ended: each holder that waited for that waits for one less, and is due with the last. Nothing for one for whose
 * end nobody waits, else O(all that are awaited).
 */
void awaited_end(sched_t *s, uint32_t victim);

/* A holder waits for nobody any more. O(all that are awaited), or nothing if it waits for nobody. */
void awaited_let_go(sched_t *s, uint32_t holder);

/* Whoever waits for victims ends later as these take their time: nobody else is to start there. Returns 0, or -1 with ENOMEM.
 * O(all that are awaited).
 */
int awaited_put_off(sched_t *s);

/* Whether anybody waits for the end of a running job: O(1). Whether this holder does, and who does so for longest, JOB_NONE
 * if nobody does: O(all that are awaited).
 */
bool is_awaited(const sched_t *s, uint32_t victim);
bool is_awaited_by(const sched_t *s, uint32_t victim, uint32_t holder);
uint32_t awaited_first(const sched_t *s, uint32_t victim);

#endif
