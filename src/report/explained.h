/* Why one job waits: what the core says of it, kept as more calls of the core follow, in words and as members of an object
 * (berth-api(7)). Times are counted in SECONDS_TICKS.
 */
#ifndef REPORT_EXPLAINED_H
#define REPORT_EXPLAINED_H

#include "base/json_out.h"
#include "report/explain.h"
#include "report/explain_shares.h"

enum { EXPLAINED_HOLDERS = 16 };

struct explained {
    struct waiting
        waiting; /* `user`, `queue` and `job` are the caller's to set, and what it knows besides */
    struct would_start would_start;
    struct sched_reason *reason;
    bool not_before; /* its start is a bound (sched_annotation) */
    sched_job_t holder[EXPLAINED_HOLDERS];
    size_t holders; /* number of those */
};

/* Ask about a job that waits, or is rejected. Returns 0, or -1 with ENOMEM or EINVAL (no such job), and then there is
 * nothing to clear. As would_start_find.
 */
int explained_ask(struct explain_of of, sched_job_t job, struct explained *e);
void explained_clear(struct explained *e);

/* Append who goes before it by shares, if it waits for its turn: to a text, and to `members` as those of an object, behind
 * others. Without memory `text` has failed.
 */
void explained_turns(const struct explained *e, struct explain_of of, sched_job_t job,
                     struct strbuf *text, struct strbuf *members);

/* Write "reason", "estimate", "not_before", "expected" if that is true, "holders", "more_holders",
 * "would_start_now" and "text" of an object. e NULL: it does not wait. reason: in place of its own; NULL: its own.
 */
void explained_put(struct json_out *out, struct explain_of of, const struct explained *e,
                   const char *reason, const char *text);

#endif
