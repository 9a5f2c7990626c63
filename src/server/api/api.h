/* Requests and their answers, inside the server.
 *
 * A route is a function that fills a reply. What it changes is durable after the next turn; the reply
 * waits until then.
 */
#ifndef SERVER_API_H
#define SERVER_API_H

#include "server/core/priv.h"

#define API_BODY_MAX ((size_t)64 << 20)
#define API_READ_MAX                                                                               \
    ((size_t)3 << 20)       /* of a body, that is read at once: all of it, or a job of a list */
#define API_JOBS_MAX 100000 /* submitted at once */
#define API_PAGE_MAX 1000000

struct call {
    server_t *s;
    const struct server_request *request;
    struct server_reply *reply;
    struct strbuf *out; /* the reply's body */
    const char *rest;   /* of the path, behind what the route is known by: a queue, or `job` */
    char job[48];       /* as the path calls it: "17" or "17.3" */
    json_t *body;       /* NULL: none */
    int64_t id, member; /* of the path; member -1: all of the job */
    int slices;         /* of history that may still be dropped for it */
    bool admin;
};

/* Refuse. key NULL: none in particular. Returns -1. */
int api_refuse(struct call *c, int status, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuse with a text that may name a key, and the status that belongs to errno. Returns -1. */
int api_wrong(struct call *c, const berth_error_t *why);

/* There was no memory for the reply. */
void api_no_memory(struct server_reply *reply);

/* "{}", after the next turn. */
void api_done(struct call *c);

/* Read the body: 0, or -1 and the call is refused. And whether a text has too many values to be read. */
int api_read_body(struct call *c);
bool api_is_heavy(const char *text, size_t length);

/* Read JSON, with jansson's flags. NULL: it is wrong (why says where and what), or memory ran out. */
json_t *api_load(const char *text, size_t length, size_t flags, bool *no_memory, json_error_t *why);

/* ---- The query behind the path ---- */

struct api_query {
    const char *name;
    char *value; /* decoded; NULL: not there */
};

/* Read what it says of n names, ended by one that is NULL. Others are refused. Returns 0, or -1 and the
 * call is refused.
 */
int api_query(struct call *c, struct api_query *q);
void api_query_clear(struct api_query *q);

/* A whole number from 0 on of a query; -1 if there is none. Returns 0, or -1 and the call is refused. */
int api_query_whole(struct call *c, const struct api_query *q, int64_t *number);

/* ---- Jobs ---- */

/* The caller as a user of this machine, or NULL and the call is refused. */
struct user *api_user(struct call *c);

/* Whether the user may submit one more job, and one such as this: 0, or -1 with a text that begins with
 * `what`.
 */
int api_may_submit(struct call *c, struct user *user, const struct job *job, berth_error_t *err);

/* Whether the caller may see and change all of a job. */
bool api_owns(const struct call *c, uint32_t uid);

/* The live job of the path, or NULL and the call is refused: 404, or 409 if it has ended; 403 if it is
 * another's.
 */
struct job *api_job(struct call *c);

/* The member of the path, or the first one, in the store, with its job: a cursor that they are valid
 * with, or NULL and the call is refused.
 */
struct store_cursor *api_stored(struct call *c, struct store_job *job, struct store_member *member);

/* What can be changed of a job. */
struct api_change {
    int64_t priority;
    json_t *duration_value;
    const char *queue;
    json_t *hold;
    bool has_priority;
    int64_t duration;
};

/* How far something has come that is done to a job, member by member. All zero at first. */
struct progress {
    uint32_t next; /* how many members it has come to */
    bool begun;    /* the call has been looked at: from now on it is only gone on with */
    bool any;      /* some member was meant */
    int signal;
    struct api_change to; /* of what the call's body owns */
    struct {              /* the job before that, */
        const char *queue;
        int64_t priority, duration;
        bool held, limited;
    } was;
    bool goes_back; /* to which it is changed back */
};

/* What is done to the job, or its member, that the call names. 1: it is done, and the call is answered;
 * 0: the steps are used up, and it is to be called again, whatever has happened since.
 */
typedef int api_action(struct call *c, struct progress *p, size_t *steps);
api_action api_cancel, api_signal, api_requeue, api_change;

/* Do something to each live member that the call names, each of which takes so many steps. The last one
 * comes first, as those that run are mostly the first: else what is cancelled would make room for what is
 * about to be. `each` returns 0; -1 and the call is refused. Returns 1, 0 as above, or -1 and the call is
 * refused.
 */
int api_members(struct call *c, struct progress *p, size_t *steps, size_t cost,
                int (*each)(struct call *c, struct progress *p, struct job *job, uint32_t member));

/* What comes with jobs that are sent a signal or changed, before it is known which they are: 0, or -1 and
 * the call is refused.
 */
int api_signal_check(struct call *c);
int api_change_check(struct call *c);

/* ---- States, by the words that users know ---- */

#define API_LIVE_BITS (1u << STORE_PENDING | 1u << STORE_STARTING | 1u << STORE_RUNNING)

struct api_states {
    uint32_t bits;      /* 1 << enum store_state */
    bool pending, held; /* which of those with STORE_PENDING */
};

/* Read "pending,held". Returns 0, or -1 and the call is refused. */
int api_states_read(struct call *c, struct api_states *states, const char *text);

/* Whether a member in memory is live and in one of them. */
bool api_states_fit(const struct api_states *states, const struct job *job, uint32_t member);

/* ---- Routes ---- */

void api_server_get(struct call *c);
void api_server_reload(struct call *c);
void api_server_stop(struct call *c);
void api_jobs_post(struct call *c);
void api_jobs_get(struct call *c);
void api_jobs_change(struct call *c);
void api_job_get(struct call *c);
void api_job_events(struct call *c);
void api_job_explain(struct call *c);
void api_job_patch(struct call *c);
void api_job_delete(struct call *c);
void api_job_signal(struct call *c);
void api_job_requeue(struct call *c);
void api_queues_get(struct call *c);
void api_queue_patch(struct call *c);
void api_resources_get(struct call *c);
void api_resources_patch(struct call *c);
void api_events_get(struct call *c);

/* ---- Streams ---- */

struct server_stream {
    /* As server_stream_read. */
    int (*read)(struct server_stream *stream, struct strbuf *out, size_t max);
    void (*close)(struct server_stream *stream);
    server_t *server;
};

/* One event as text/event-stream. */
void api_put_event(struct strbuf *out, const struct store_event *event);

#endif
