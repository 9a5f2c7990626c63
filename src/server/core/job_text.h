/* Jobs as JSON: what the store keeps of a request, and what is shown of a job.
 *
 * A request is stored as one object that the server writes itself. "shown" has what stands in listings
 * and never changes, so that a listing copies it; the rest is for the core and for the start.
 */
#ifndef SERVER_JOB_TEXT_H
#define SERVER_JOB_TEXT_H

#include "base/json_out.h"
#include "base/json_scan.h"
#include "server/core/priv.h"

/* The parts of a stored request that are looked at without reading all of it. */
struct job_parts {
    struct json_part shown, jobspec, jobspec_text, dependency, begin, preemptible_after, requeue,
        limited, warn_signal, warn_before;
};
void job_parts(const char *request, struct job_parts *parts);

/* What the core is asked for, out of a job's stored request. */
struct job_request {
    struct sched_request request;
    char id[24];
    char *jobspec, *dependency; /* that were not in the text as they are */
};

/* user may be NULL: then there are no groups. -1 with ENOMEM. What it points to is valid as long as job
 * and user are.
 */
int job_request_read(const struct job *job, const struct user *user, const struct job_parts *parts,
                     struct job_request *q);
void job_request_clear(struct job_request *q);

/* The warning signal that a stored request asks for. */
void job_warning_read(const struct job_parts *parts, struct run *run);

/* A row of a listing. Times are us since 1970, -1: none. */
struct job_shown {
    int64_t id;
    int64_t member; /* -1: it is no array */
    uint32_t members;
    const char *name, *user, *queue, *state, *reason, *resources, *how;
    int64_t priority, nodes, cores, gpus, duration;
    int64_t submit, start, end, until, estimate;
    int exit_status, exit_signal; /* -1: none */
    uint32_t attempts;
    int64_t peak_memory, cpu_time;
    const char *row;
    size_t row_length;
    const sched_job_t *holders; /* who holds what it waits for */
    size_t n_holders;
};

/* Put it as an object that the caller closes. Of jobs of others (`mine` false) only what all may see. */
void job_put(server_t *s, struct json_out *out, const struct job_shown *j, bool mine);

/* How a live member, or one that has just ended, looks. Texts belong to the core, and are valid until its
 * next call.
 */
void job_show(server_t *s, const struct job *job, uint32_t member, struct job_shown *j);

/* What became of a member that has ended, as the store says. It has a status, a signal, or neither where
 * it never ran or nobody knows.
 */
void job_show_end(const struct store_member *member, struct job_shown *j);

/* A whole row of what the store says. */
void job_show_stored(const struct store_job *job, const struct store_member *member,
                     struct job_shown *j);

/* "17" or "17[3]" in a JSON string. */
void job_put_id(struct strbuf *out, int64_t id, int64_t member);

/* The word for a state. */
const char *job_state_word(enum store_state state, bool held);

/* Whether a terminal would only show a text: it has no control characters, which are those below U+0020
 * and from U+007F to U+009F.
 */
bool text_is_plain(const char *text);

/* Put '?' in place of what is not. */
void text_make_plain(char *text);

/* Append a wall time as seconds, or null for -1, as json_put_seconds does. */
void wall_put(struct strbuf *out, int64_t wall);

/* Put a number, or null for -1. */
void json_put_known(struct json_out *out, const char *key, int64_t number);

/* Append a JSON string, or null, as json_put_text does. */
void text_put(struct strbuf *out, const char *text);

#endif
