/* What files that load the store share (load.c). */
#ifndef SERVER_LOAD_H
#define SERVER_LOAD_H

#include "server/core/job_text.h"
#include "server/core/state.h"

/* What is needed only while loading. */
struct loading {
    server_t *s;
    struct job *job; /* the last one read */
    struct promise { /* what members hold or have reserved, or that they wait apart */
        struct job *job;
        uint32_t member;
        int64_t at, until;
        char *resources; /* NULL: it only was promised some */
        bool stopping, displaced, expected, waits, claims, apart, preempts;
        int64_t promised, since, begin, stopped_for;
        uint32_t stopped_for_member;
        char *awaited_also; /* as in store_member */
    } * promises;
    size_t n_promises, cap_promises, next;
    struct job_parts *parts; /* by index in the table */
    size_t cap_parts;
    size_t failed;
    berth_error_t *err;
};

/* Give a stored job back to the core, with what its members hold or were promised (load_jobs.c). One that can't be restored
 * fails. Returns 0, or -1 with a text in l->err.
 */
int load_job(struct loading *l, struct job *job, const struct job_parts *parts);

/* Tell the core what has become of a job that others may depend on, and of what it depends on itself
 * (load_outcomes.c). Returns 0, or -1 with errno.
 */
int load_outcomes(server_t *s, struct job *job, const struct job_parts *parts);

#endif
