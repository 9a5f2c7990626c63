/* Reasons (berth/sched_reason.h) copied and compared. */
#ifndef SCHED_REASON_COPY_H
#define SCHED_REASON_COPY_H

#include "berth/sched_reason.h"

/* The bytes that a reason takes with all its texts; and write it into so many, which are memory for
 * anything.
 */
size_t reason_size(const struct sched_reason *reason);
struct sched_reason *reason_write(const struct sched_reason *reason, void *memory);

/* True if all of two reasons is equal. */
bool reason_is_same(const struct sched_reason *a, const struct sched_reason *b);

#endif
