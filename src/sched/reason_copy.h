/* Copies of reasons (berth/sched_reason.h), in memory that the caller has. */
#ifndef SCHED_REASON_COPY_H
#define SCHED_REASON_COPY_H

#include "berth/sched_reason.h"

/* The bytes that a reason takes with all its texts; and write it there, in memory for anything. */
size_t reason_size(const struct sched_reason *reason);
struct sched_reason *reason_write(const struct sched_reason *reason, void *memory);

#endif
