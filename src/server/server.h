/* The server without its loop: jobs, the scheduling core, the store and the engine, driven by calls.
 *
 * It opens no socket and reads no clock: requests come in as texts, time and processes and disk from
 * `struct server_platform`. The shell (server/daemon/main.c with libuv and libmicrohttpd; a simulation in
 * tests) does, in a loop:
 *
 *     server_request for each request that is there, server_engine if the engine has events
 *     server_turn:  a slice of a pass if one is due, all changes committed together, the engine told to start
 *                   what is durable, and *due = the time of the next turn even if nothing happens
 *     then the replies that were waiting for this commit are sent
 *
 * So nothing is acknowledged, and nothing started, before it is durable. Not thread-safe.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "config/config.h"
#include "engine/engine.h"
#include "server/store/store.h"

typedef struct server server_t;

/* A user of the machine. What it points to is valid until the next question. */
struct server_user {
    const char *name;
    gid_t gid;
    const gid_t *groups;
    const char *const *group_names;
    size_t n_groups;
    const char *home, *shell;
};

/* What is not the same in a simulation. */
struct server_platform {
    void *context;
    int64_t (*steady)(
        void *context); /* us since the machine was booted, sleep included; never jumps */
    int64_t (*wall)(void *context);     /* us since 1970 */
    const char *(*boot)(void *context); /* a text that changes with each boot of the machine */
    /* 0, or -1 with ENOENT (no such user) or ENOMEM. */
    int (*user)(void *context, uid_t uid, struct server_user *user);
    /* The machine that a configuration describes; config_path is NULL for that of no file. NULL: only
     * such of equal nodes can be had.
     */
    match_t *(*machine)(void *context, const struct config *config, const char *config_path,
                        berth_error_t *err);
    /* The system's CPUs of a core of this machine, by the core's id: "0,8". NULL: nobody knows, or there
     * is no such core: then jobs are not bound to theirs.
     */
    const char *(*cpus)(void *context, int64_t core);
    int64_t processes;     /* and threads that the system may have at once; 0: not known */
    struct engine *engine; /* belongs to the caller */
    const char *vfs;       /* of SQLite; NULL: the system's */
};

struct server_options {
    const char *directory; /* of store and logs ($BERTH_DIR), absolute */
    const char *
        config; /* path of a configuration (berth-config(5)); NULL: this machine and one easy queue */
    bool
        for_all; /* run by root: jobs run as their users; else all requests must come from `uid` or root */
    uid_t uid;
    size_t
        slice; /* steps of large requests' work in a turn, for tests; 0: as many as take some milliseconds */
    /* Jobs that a pass looks at in a turn, for tests; 0: as many as it gets through in some milliseconds. */
    size_t pass_steps;
};

/* Who is at the other end of a request, as the kernel says. */
struct server_peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
};

struct server_request {
    const char *method; /* "GET", "POST", "PATCH", "DELETE" */
    const char *path;   /* "/v1/jobs/17", decoded, without the query */
    const char *query;  /* "state=pending&limit=10", raw; NULL: none */
    const char *body;
    size_t length;
    struct server_peer peer;
};

/* Something that is produced piece by piece: a long list, a stream of events. */
struct server_stream;

/* A request that takes more than a turn. */
struct server_work;

struct server_reply {
    int status;                   /* of HTTP */
    const char *type;             /* a constant: "application/json", "text/event-stream" */
    struct strbuf body;           /* the reply's owner clears it */
    struct server_stream *stream; /* NULL, or what follows the body; the reply's owner closes it */
    bool
        wait; /* to be sent after the next server_turn that returns 0; if that fails, server_failed instead */
    struct server_work *
        work; /* NULL, or what is waited for: server_work_done after each turn, whatever that returned */
};

server_t *server_open(const struct server_platform *platform, const struct server_options *options,
                      berth_error_t *err);

/* Somebody has asked for the end of the server: after the next turn it is to be closed. */
bool server_is_stopping(const server_t *s);

/* Running jobs go on, and nothing that was acknowledged is lost. NULL is fine. */
void server_close(server_t *s);

/* Answer a request. Never fails: what is wrong is said in the reply ({"error": {"message": ..., "key":
 * ...}}).
 */
void server_request(server_t *s, const struct server_request *request, struct server_reply *reply);

/* Whether work is done: then the reply has been filled anew, and the work is gone. */
bool server_work_done(struct server_work *work, struct server_reply *reply);

/* Nobody waits for it any more; it is done all the same. NULL is fine. */
void server_work_abandon(struct server_work *work);

/* What to answer instead of a reply that waited, when the turn failed. */
void server_failed(server_t *s, const berth_error_t *why, struct server_reply *reply);

/* Take the engine's events. */
int server_engine(server_t *s, berth_error_t *err);

/* A turn, as above. *due: the steady time of the next one; INT64_MAX: never. Returns 0, or -1: nothing of
 * what came since the last one is durable; it is to be tried again when *due says.
 */
int server_turn(server_t *s, int64_t *due, berth_error_t *err);

/* True if all structures are in order and agree with each other. O(all). */
bool server_check(const server_t *s);

/* Some more of a stream, about max bytes, is appended. 1: there may be more at once; 0: it has ended; 2:
 * nothing now, ask after the next turn in which something happened; -1: it can't go on.
 */
int server_stream_read(struct server_stream *stream, struct strbuf *out, size_t max);
void server_stream_close(struct server_stream *stream); /* NULL is fine */

#endif
