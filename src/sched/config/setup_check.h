/* What a configuration's queue may say, beyond what needs other queues. */
#ifndef SCHED_SETUP_CHECK_H
#define SCHED_SETUP_CHECK_H

#include "berth/error.h"
#include "berth/sched_config.h"

/* Check the queue's policy, numbers, users, groups, limits and exceptions; its name is fine already.
 * Returns 0, or -1 with EINVAL and a text.
 */
int setup_check_queue(const struct sched_queue_config *queue, berth_error_t *err);

/* Check the limits of an account. Returns 0, or -1 with EINVAL and a text. */
int setup_check_account(const struct sched_account *account, berth_error_t *err);

/* Check a list of texts: there is none that is missing or empty. `of` and `name` say whose it is, "queue"
 * and "batch".
 */
int setup_check_texts(const char *const *texts, size_t n, const char *of, const char *name,
                      const char *key, berth_error_t *err);

#endif
