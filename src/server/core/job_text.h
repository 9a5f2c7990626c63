/* Jobs as JSON: stored requests, and rows of listings.
 *
 * A request is stored as one object. Its "shown" has the constant part of a row, so that listings copy it;
 * the rest is for the core and for the start.
 */
#ifndef SERVER_JOB_TEXT_H
#define SERVER_JOB_TEXT_H

#include "base/json_out.h"
#include "base/json_scan.h"
#include "report/explain.h"
#include "server/core/state.h"

/* Parts of a stored request, found without parsing all of it. */
struct job_parts {
    struct json_part shown, jobspec, jobspec_text, dependency, begin, preemptible_after, requeue,
        warn_signal, warn_before, max_running, account, min, failure, retry, max_fails, notify,
        deadline, roles, named, task_cores, gang_array, gangs_running;
};
void job_parts(const char *request, struct job_parts *parts);

/* What a stored request says of a gang. */
struct job_gang job_gang_read(const struct job_parts *parts);

/* What a pilot is asked for by: whether it asks for resources by their names or properties, and its tasks, if these
 * may be on any nodes. Its cores are known before.
 */
void job_shape_read(struct job *job, const struct job_parts *parts);

/* The core's request, made of a stored one. */
struct job_request {
    struct sched_request request;
    char id[24];
    char *jobspec, *dependency, *account;    /* decoded strings, */
    char *named;                             /* NULL: it has the name that it was submitted with */
    struct sched_role role[SCHED_ROLES_MAX]; /* of a gang of several, */
    char *role_jobspec[SCHED_ROLES_MAX];     /* and decoded strings of these; NULL: it is none */
    struct strbuf indices;                   /* of an array that lacks some */
    char gangs[48];                          /* the array that the gang is of */
};

/* user NULL: without groups. -1 with ENOMEM. The result points into job and user. */
int job_request_read(const struct job *job, const struct user *user, const struct job_parts *parts,
                     struct job_request *q);
void job_request_clear(struct job_request *q);

/* The integer in a part; `otherwise` if it is none. */
int64_t json_part_whole(struct json_part part, int64_t otherwise);

/* Read the warning signal of a stored request. */
void job_warning_read(const struct job_parts *parts, struct run *run);

/* A row of a listing. Times are us since 1970, -1: none. */
struct job_shown {
    int64_t id;
    int64_t member;                     /* not of an array */
    char role[SCHED_ROLE_NAME_MAX + 1]; /* of its gang; "": it has none */
    uint32_t members;
    const char *name, *user, *queue, *state, *reason, *resources, *how;
    const char *promised; /* what it will hold from the estimate on; NULL: it is promised nothing */
    int64_t priority, nodes, cores, gpus;
    int64_t limit, planned; /* ticks, or SCHED_UNLIMITED */
    int64_t submit, start, end, until, estimate;
    int64_t deadline;             /* of one that waits */
    bool not_before;              /* the estimate is that of the earliest start that is possible */
    bool expected;                /* of the estimate: it is no promise, though it is booked */
    int exit_status, exit_signal; /* -1: none */
    uint32_t attempts, retries;
    int64_t peak_memory, cpu_time;
    const char *row;
    size_t row_length;
    char text[SCHED_REASON_TEXT]; /* of a reason that is made for this row */
    const sched_job_t *holders;   /* jobs that hold what it waits for */
    size_t n_holders;
};

/* Write it as an object that the caller closes. Unless `mine`, write only what every user may see. */
void job_put(server_t *s, struct json_out *out, const struct job_shown *j, bool mine);

/* Fill in a live member, or one that has just ended. Texts belong to the core and are valid until its next
 * call.
 */
void job_show(server_t *s, const struct job *job, uint32_t member, struct job_shown *j);

/* Those that are stopped for a waiting member: how many, of which up to `most` are written, and by when the
 * last is killed, in ticks.
 */
size_t victims_of(const server_t *s, sched_job_t handle, struct victim *victims, size_t most,
                  int64_t *until);

/* Fill in how a stored member ended: with a status, a signal, or neither if it never ran or its end was not
 * observed.
 */
void job_show_end(const struct store_member *member, struct job_shown *j);

/* Fill in all of a stored member. */
void job_show_stored(const struct store_job *job, const struct store_member *member,
                     struct job_shown *j);

/* "17" or "17[3]", returned as well; and in a JSON string. */
#define JOB_NAME_SIZE 48
const char *job_member_name(int64_t id, int64_t member, char out[JOB_NAME_SIZE]);
void job_put_id(struct strbuf *out, int64_t id, int64_t member);

/* The users' word for a state. */
const char *job_state_word(enum store_state state, bool held);

/* Whether a text has no control characters (below U+0020, U+007F to U+009F), so that a terminal just shows
 * it.
 */
bool text_is_plain(const char *text);

/* Replace control characters by '?'. */
void text_make_plain(char *text);

/* Write a number, or null for -1. */
void json_put_known(struct json_out *out, const char *key, int64_t number);

/* The data of an event: an object with one text; NULL without memory. */
char *event_text(const char *key, const char *text);

#endif
