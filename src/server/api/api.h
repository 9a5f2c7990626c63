/* Routes: functions that answer requests by filling a reply. Their changes are durable after the next turn,
 * and the reply waits until then.
 */
#ifndef SERVER_API_H
#define SERVER_API_H

#include "base/json_out.h"
#include "server/core/state.h"

#define API_BODY_MAX   ((size_t)64 << 20)
#define API_READ_MAX   ((size_t)3 << 20) /* of a body that is parsed at once, or a job in a list */
#define API_JOBS_MAX   100000            /* submitted at once */
#define API_PAGE_MAX   1000000
#define API_EVENTS_MAX 10000 /* of a job, in one call */

struct call {
    server_t *s;
    const struct server_request *request;
    struct server_reply *reply;
    struct strbuf *out; /* the reply's body */
    const char *rest;   /* the variable part of the path: a queue, a block, or `job` */
    char job[48];       /* as the path calls it: "17" or "17.3" */
    json_t *body;       /* NULL: none */
    int64_t id, member; /* from the path; member -1: the whole job */
    int slices;         /* of history that may be dropped for this request */
    bool admin;
};

/* Refuse the call; key NULL: no particular one. Returns -1. */
int api_refuse(struct call *c, int status, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuse a call about a job, or a member, that there is not: "there is no job 17[3]". Returns -1. */
int api_no_job(struct call *c);

/* Refuse the call with a text, the key that it names, and the status that corresponds to errno. Returns -1.
 */
int api_wrong(struct call *c, const berth_error_t *why);

/* Make the reply an error: out of memory. */
void api_no_memory(struct server_reply *reply);

/* Reply "{}" after the next turn. */
void api_done(struct call *c);

/* Parse the body: 0, or -1 and the call is refused. api_is_heavy: whether a text has too many values to be
 * parsed.
 */
int api_read_body(struct call *c);
bool api_is_heavy(const char *text, size_t length);

/* Parse JSON, with jansson's flags. NULL: malformed (why says where and what), or no memory. */
json_t *api_load(const char *text, size_t length, size_t flags, bool *no_memory, json_error_t *why);

/* ---- The query behind the path ---- */

struct api_query {
    const char *name;
    char *value; /* decoded; NULL: not there */
};

/* Read the parameters of the query; q ends with a NULL name. Others are refused. Returns 0, or -1 and the
 * call is refused.
 */
int api_query(struct call *c, struct api_query *q);
void api_query_clear(struct api_query *q);

/* A parameter that is a whole number; -1 if it is not there. Returns 0, or -1 and the call is refused. */
int api_query_whole(struct call *c, const struct api_query *q, int64_t *number);

/* ---- Jobs ---- */

/* Whether the user may submit this job: 0, or -1 with a text. */
int api_may_submit(struct call *c, struct user *user, const struct job *job, berth_error_t *err);

/* Whether the caller may see and change all of a user's job. */
bool api_owns(const struct call *c, uint32_t uid);

/* The live job of the path, or NULL and the call is refused: 404; 409 if it has ended; 403 if it is another
 * user's.
 */
struct job *api_job(struct call *c);

/* The stored member of the path, or the first one, and its job: valid with the cursor, or NULL and the call
 * is refused.
 */
struct store_cursor *api_stored(struct call *c, struct store_job *job, struct store_member *member);

struct api_states;

/* What can be changed of a job. */
struct api_change {
    int64_t priority;
    const char *queue;
    json_t *hold;
    bool has_priority;
    bool first;       /* before all that wait in its queue */
    json_t *begin_at; /* a time, or "+1h" */
    bool has_begin;
    int64_t begin;           /* ticks */
    int64_t limit, estimate; /* as in job_keys; 0: as it is */
};

/* What a member had of its own before a change of its job. */
struct had_own {
    uint32_t member;
    struct own own;
};

/* The progress of an action on a job, member by member. All zero at first; cleared by progress_clear. */
struct progress {
    uint32_t next; /* the next member */
    bool begun;    /* the call was checked and is being carried out */
    bool any;      /* some member was affected */
    int signal;
    const struct api_states *states; /* of a whole job only members in these; NULL: in any */
    struct api_change to;            /* points into the call's body */
    struct {                         /* the job before the change */
        const char *queue;
        int64_t priority, limit, estimate;
        bool held;
    } was;
    bool entry;     /* an array's entry was changed */
    bool goes_back; /* the change is being undone */
    struct had_own *had;
    size_t n_had, cap_had;
};
void progress_clear(struct progress *p);

/* An action on the job or the member that the call names. 1: it is finished and the call is answered; 0:
 * the steps are used up: call it again, whatever has happened since.
 */
typedef int api_action(struct call *c, struct progress *p, size_t *steps);
api_action api_cancel, api_signal, api_requeue, api_change;

/* Call `each` for each live member that the call names, of those that have records, at `cost` steps each. The
 * last member comes first, since running members are mostly the first: otherwise each cancelled one would make
 * room for one about to be cancelled. `each` returns 0, or -1 and the call is refused. Returns 1 or 0 as above,
 * or -1 and the call is refused.
 */
int api_members(struct call *c, struct progress *p, size_t *steps, size_t cost,
                int (*each)(struct call *c, struct progress *p, struct job *job, uint32_t member));

/* The data of an event that names the caller, {"by": "ann"}; NULL without memory. */
char *api_event_by(const struct call *c);

/* Record an event of the server or of the call's job with what the body says, who has asked for it, and a name under a key
 * (NULL: none).
 */
void api_event_body(const struct call *c, const char *kind, const char *key, const char *name);

/* Check the body of a signal or a change before the jobs are looked up: 0, or -1 and the call is refused. */
int api_signal_check(struct call *c);
int api_change_check(struct call *c);

/* ---- States, by users' words ---- */

#define API_LIVE_BITS (1u << STORE_PENDING | 1u << STORE_STARTING | 1u << STORE_RUNNING)

struct api_states {
    uint32_t bits;      /* 1 << enum store_state */
    bool pending, held; /* which of the STORE_PENDING ones */
};

/* Read "pending,held". Returns 0, or -1 and the call is refused. */
int api_states_read(struct call *c, struct api_states *states, const char *text);

/* Whether a member is live and in one of the states. */
bool api_states_fit(const struct api_states *states, const struct job *job, uint32_t member);

/* ---- Routes ---- */

void api_server_get(struct call *c);
void api_metrics_get(struct call *c);
void api_nodes_get(struct call *c);
void api_server_reload(struct call *c);
void api_server_stop(struct call *c);
void api_jobs_post(struct call *c);
void api_jobs_get(struct call *c);
void api_jobs_change(struct call *c);
void api_job_get(struct call *c);
void api_job_last(struct call *c);
void api_job_events(struct call *c);
void api_job_explain(struct call *c);
void api_job_patch(struct call *c);
void api_job_delete(struct call *c);
void api_job_signal(struct call *c);
void api_job_requeue(struct call *c);
void api_queues_get(struct call *c);
void api_queue_patch(struct call *c);
void api_shares_get(struct call *c);
void api_shares_patch(struct call *c);
void api_resources_get(struct call *c);
void api_resources_patch(struct call *c);
void api_classes_get(struct call *c);
void api_class_settings_get(struct call *c);
void api_classes_patch(struct call *c);
void api_classes_delete(struct call *c);
void api_blocks_get(struct call *c);
void api_pilots_get(struct call *c);
void api_pilots_post(struct call *c);
void api_auto_get(struct call *c);
void api_auto_post(struct call *c);
void api_auto_patch(struct call *c);
void api_auto_delete(struct call *c);
void api_pilot_patch(struct call *c);
void api_pilot_delete(struct call *c);
void api_blocks_post(struct call *c);
void api_block_delete(struct call *c);
void api_events_get(struct call *c);

/* ---- Streams ---- */

struct server_stream {
    int (*read)(struct server_stream *stream, struct strbuf *out, size_t max);
    void (*close)(struct server_stream *stream);
    server_t *server;
};

/* One event as text/event-stream. */
void api_put_event(struct strbuf *out, const struct store_event *event);

#endif
