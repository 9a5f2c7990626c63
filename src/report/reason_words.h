/* Reasons in words of a person's. Times are counted in SECONDS_TICKS. */
#ifndef REPORT_REASON_WORDS_H
#define REPORT_REASON_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/sched_reason.h"

/* A resource type, as of one or of several: "core", "cores". */
void reason_put_type(struct strbuf *out, const char *type, bool one);

/* "jobs of user ann in queue batch may have at most 8 cores at once" */
void reason_put_limit(struct strbuf *out, const struct sched_reason_limit *limit, const char *user,
                      const char *queue);

/* "job 57, job 58 and the user's other jobs of the same name" */
void reason_put_jobs(struct strbuf *out, const struct sched_reason *reason);

/* A few words in place of sched_reason_text, for a column of a list: "waits for cores". False, and nothing is written: that
 * text is in words already.
 */
bool reason_put_short(struct strbuf *out, const struct sched_reason *reason);

/* Why a job of so many ticks is refused: what its queue allows, or the reason's text. */
void reason_put_refusal(struct strbuf *out, const struct sched_reason *reason, int64_t duration,
                        const char *user, const char *queue);

#endif
