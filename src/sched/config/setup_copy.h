/* Copies of configurations, each in one allocation. */
#ifndef SCHED_SETUP_COPY_H
#define SCHED_SETUP_COPY_H

#include "berth/sched_config.h"

/* All that a configuration leads to is copied; free() gives it back. NULL with ENOMEM. */
struct sched_config *setup_copy_config(const struct sched_config *config);

#endif
