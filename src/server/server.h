/* The server without its event loop: jobs, the scheduling core, the store and the engine, driven by calls.
 *
 * It opens no socket and reads no clock: requests come in as texts; time, users and processes come from
 * `struct server_platform`. The shell around it (server/daemon/main.c; a simulation in tests) repeats:
 *
 *     server_request for each request, server_engine if the engine has events
 *     server_turn: a slice of a pass if one is due, then one commit of all changes, then the engine starts
 *                  what is durable; *due = the time of the next turn, even if nothing happens until then
 *     send the replies that waited for this commit
 *
 * So nothing is acknowledged and nothing is started before it is durable. Not thread-safe.
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

/* A user of the machine. Pointers are valid until the next lookup. */
struct server_user {
    const char *name;
    gid_t gid;
    const gid_t *groups;
    const char *const *group_names;
    size_t n_groups;
    const char *home, *shell;
};

/* A job has begun or is over, and its user wants to be told. */
struct server_notification {
    const char *to;   /* a command for /bin/sh; http://, https://: a URL; mail: and an address */
    const char *text; /* an object in JSON, in a line */
    bool as_user;     /* it is to run as this user, */
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
    const char *user, *home;
    const char *directory;                 /* of the server */
    const char *id, *name, *event, *state; /* of the job; "begin" or "end" */
};

/* The system under the server, which tests simulate. */
struct server_platform {
    void *context;
    int64_t (*steady)(void *context);   /* us since boot, sleep included; never jumps */
    int64_t (*wall)(void *context);     /* us since 1970 */
    const char *(*boot)(void *context); /* differs for each boot of the machine */
    /* 0, or -1 with ENOENT (no such user) or ENOMEM. */
    int (*user)(void *context, uid_t uid, struct server_user *user);
    /* The machine that a configuration describes; config_path is NULL for the default one. NULL: only
     * machines of equal nodes are supported.
     */
    match_t *(*machine)(void *context, const struct config *config, const char *config_path,
                        berth_error_t *err);
    /* The system's CPUs of a core of this machine, by the core's id: "0,8". NULL: unknown, and jobs are not
     * bound to their cores.
     */
    const char *(*cpus)(void *context, int64_t core);
    /* Tell a user, without waiting. NULL: nobody is told. */
    void (*notify)(void *context, const struct server_notification *notification);
    int64_t processes;     /* limit of the system on processes and threads; 0: unknown */
    bool has_slurm;        /* there is an sbatch of a cluster, which may be asked for pilots */
    struct engine *engine; /* belongs to the caller */
    const char *vfs;       /* of SQLite; NULL: the system's */
};

struct server_options {
    const char *directory; /* of store and logs ($BERTH_DIR); absolute */
    /* path of a configuration (berth-config(5)); NULL: this machine and one easy queue */
    const char *config;
    /* where it may turn up later, if not as berth.yaml in the directory; NULL: nowhere */
    const char *config_elsewhere;
    /* run by root: jobs run as their users; else requests must come from `uid` or root */
    bool for_all;
    uid_t uid;
    size_t slice; /* for tests: steps of large requests per turn; 0: a few milliseconds' worth */
    /* For tests: steps of a pass per turn; 0: a few milliseconds' worth. */
    size_t pass_steps;
};

/* The client's process, as the kernel reports it. */
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

/* A body produced piece by piece: a long list, a stream of events. */
struct server_stream;

/* A request that takes more than a turn. */
struct server_work;

struct server_reply {
    int status;         /* of HTTP */
    const char *type;   /* a constant: "application/json", "text/event-stream" */
    struct strbuf body; /* cleared by the owner of the reply */
    /* follows the body; closed by the owner of the reply; NULL: none */
    struct server_stream *stream;
    /* send it after the next server_turn that returns 0; if that fails, server_failed instead */
    bool wait;
    bool stays; /* what is changed stays if that fails; else it is undone, as submissions are */
    /* NULL, or the work to wait for: call server_work_done after each turn, whatever that returned */
    struct server_work *work;
};

server_t *server_open(const struct server_platform *platform, const struct server_options *options,
                      berth_error_t *err);

/* The server was asked to stop: close it after the next turn. */
bool server_is_stopping(const server_t *s);

/* Whether there are pilots, which somebody has to watch. */
bool server_has_pilots(const server_t *s);

/* Running jobs keep running, and nothing acknowledged is lost. NULL is fine. */
void server_close(server_t *s);

/* Answer a request. Never fails: errors are in the reply ({"error": {"message": ..., "key": ...}}). */
void server_request(server_t *s, const struct server_request *request, struct server_reply *reply);

/* Whether work is finished: then it has filled the reply anew and is freed. */
bool server_work_done(struct server_work *work, struct server_reply *reply);

/* The client has gone; the work continues. NULL is fine. */
void server_work_abandon(struct server_work *work);

/* Replace a reply that waited for a turn that failed. */
void server_failed(server_t *s, const berth_error_t *why, struct server_reply *reply);

/* Take the events of the engine. */
int server_engine(server_t *s, berth_error_t *err);

/* A turn, as above. *due: the steady time of the next one; INT64_MAX: never. Returns 0, or -1: nothing
 * since the last successful turn is durable; try again at *due.
 */
int server_turn(server_t *s, int64_t *due, berth_error_t *err);

/* Whether all structures are consistent. O(all). */
bool server_check(const server_t *s);

/* Append about max bytes of a stream. 1: there may be more at once; 0: it has ended; 2: nothing now, ask
 * again after the next turn in which something happened; -1: it failed.
 */
int server_stream_read(struct server_stream *stream, struct strbuf *out, size_t max);
void server_stream_close(struct server_stream *stream); /* NULL is fine */

#endif
