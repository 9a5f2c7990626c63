/* Writer of decisions, one line of JSON for each, as berth-scenario(5) describes.
 *
 * Times are ticks of a microsecond. A writer without `write` drops every line.
 */
#ifndef SIM_DECISIONS_H
#define SIM_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/sched.h"

struct decisions {
    void (*write)(void *arg, const char *bytes, size_t n); /* gets whole lines */
    void *arg;
    struct strbuf line;
    bool failed; /* memory ran out, and a line is missing */
};

void decisions_clear(struct decisions *d);

/* Each takes the time and the name of the job first. */
void decisions_start(struct decisions *d, int64_t at, const char *job, enum sched_how how,
                     int64_t until, const char *resources);
/* start: when it is expected to start; -1: unknown */
void decisions_wait(struct decisions *d, int64_t at, const char *job, const char *reason,
                    int64_t start);
/* reason: NULL for none */
void decisions_reserve(struct decisions *d, int64_t at, const char *job, int64_t start,
                       bool expected, const char *reason);
void decisions_reject(struct decisions *d, int64_t at, const char *job, const char *reason);
/* what is asked for it can't be, and it stays as it was */
void decisions_refuse(struct decisions *d, int64_t at, const char *job, const char *reason);
void decisions_preempt(struct decisions *d, int64_t at, const char *job, const char *winner,
                       bool requeue);
/* it waits for the end of another one that is being stopped already */
void decisions_await(struct decisions *d, int64_t at, const char *job, const char *stopped);
void decisions_replace(struct decisions *d, int64_t at, const char *job);
void decisions_stop(struct decisions *d, int64_t at, const char *job, const char *reason);
/* reason: NULL for none */
void decisions_end(struct decisions *d, int64_t at, const char *job, const char *status,
                   const char *reason);

/* Of a pilot, by its number: so many nodes are asked for, for a time; its nodes come, until a time; it goes. */
void decisions_pilot_asked(struct decisions *d, int64_t at, int64_t pilot, int64_t nodes,
                           int64_t time);
void decisions_pilot_comes(struct decisions *d, int64_t at, int64_t pilot, const char *resources,
                           int64_t until);
void decisions_pilot_goes(struct decisions *d, int64_t at, int64_t pilot, const char *reason);

/* "immediate", "backfilled" or "reserved". */
const char *decisions_how(enum sched_how how);

#endif
