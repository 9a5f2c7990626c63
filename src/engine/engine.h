/* Where tasks run: what a server asks of an engine.
 *
 * A run is one start of one member of a job: one or many tasks (processes), each in a session of its own.
 * It has a key, which is used once for ever, so that a run that is asked for twice is started once. What
 * an engine has been told it carries out later; what happened it says in events, in the order in which it
 * happened. An event is said again after a restart of the server until it is acknowledged, so that
 * nothing that happened meanwhile is lost.
 *
 * Calls return 0, or -1 with errno and, where a person will read it, a text. Not thread-safe.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "berth/error.h"

#define ENGINE_KEY_MAX ((uint64_t)INT64_MAX) /* keys are 1 to this */

/* One process of a run. */
struct engine_task {
    const char *cpus; /* "0-3,8", by the system's numbers; NULL: any */
    /* "NAME=VALUE", ended by NULL: beside those of the run, which they replace. NULL: none */
    const char *const *env;
};

struct engine_run {
    uint64_t key;
    const char *const *argv; /* ended by NULL. Found in PATH of env */
    const char *script;      /* NULL, or the text of a script, which is run instead of argv[0] */
    size_t script_length;
    const char *const *env; /* "NAME=VALUE", ended by NULL: all of it but BERTH_RUN, a mark */
    const char *directory;  /* where it runs; absolute */
    const char *input;      /* files; input NULL: /dev/null; error NULL: where output goes */
    const char *output;     /* created and truncated, or appended to; parent folders are not made */
    const char *error;
    bool append;
    mode_t umask;
    bool as_user; /* with this identity; else with the engine's own */
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
    int64_t memory;    /* bytes that all of it may use together; 0: no limit */
    int64_t processes; /* and threads that there may be at once, at least n_tasks; 0: no limit */
    const char *cpus;  /* of the whole run, for its cgroup; NULL: any */
    const struct engine_task *tasks;
    size_t n_tasks; /* >= 1 */
};

enum engine_what {
    ENGINE_STARTED, /* all its processes have been started, or were killed before they were */
    /* all its tasks have ended, and no process of it is left: what they left behind was killed */
    ENGINE_ENDED,
    /* it could not be started, and nothing of it is left: `text` says why. No ENGINE_STARTED comes first
     */
    ENGINE_FAILED,
    /* nobody knows how it ended, or whether it was started: its keeper was killed or told to end, the
     * machine * went down. Nothing of it is left. ENGINE_STARTED may have come first, or not
     */
    ENGINE_LOST,
    /* the engine can start nothing at present, which is no fault of the run's: `text` says why. Nothing
     * of * it has run; it may be asked for again under another key
     */
    ENGINE_REFUSED,
    ENGINE_USED /* its key has been used by another run, or by this one, of which all has been acknowledged: nothing was
                 * started */
};

struct engine_event {
    enum engine_what what;
    uint64_t key;
    uint64_t number; /* to acknowledge it by; ascending */
    int64_t at;      /* us since 1970, by the engine's wall clock */
    pid_t pid;       /* of ENGINE_STARTED: of the first task */
    int exit_status; /* of ENGINE_ENDED: the highest of its tasks, if none was killed by a signal */
    int exit_signal; /* else the first of these signals; 0: none */
    int64_t peak_memory; /* bytes: of its cgroup, or else of its largest process; -1: unknown */
    /* us, of its cgroup, or else of all processes that were waited for; -1: unknown */
    int64_t cpu_time;
    /* of ENGINE_FAILED and ENGINE_REFUSED; of others what is known of it beside, or NULL */
    const char *text;
};

struct engine;

struct engine_ops {
    /* Start a run. EEXIST: the key has been used. EINVAL, E2BIG (above 32 MiB), ENOMEM. Else what becomes
     * of it is said in an event. What the pointers lead to is copied.
     */
    int (*start)(struct engine *e, const struct engine_run *run, berth_error_t *err);

    /* A signal to each task of a run and the processes in its session; without effect if there is none.
     * With `tree`, to all that descend from it, also those that left its session: SIGKILL with `tree` is
     * repeated until none is left. 0, or -1 with EINVAL: there is no such signal.
     */
    int (*signal)(struct engine *e, uint64_t key, int signal, bool tree);

    /* Send what has been asked for; to be called once before waiting. Never waits itself. -1: there is no
     * keeper at present (notice says why); what was asked for is sent when there is.
     */
    int (*flush)(struct engine *e);

    /* Readable when there are events; -1: it has none (a simulated one). */
    int (*fd)(const struct engine *e);

    /* Up to max events (it may be fewer than there are: fd stays readable), which belong to the engine
     * and are valid until the next call of this. Returns their number.
     */
    size_t (*events)(struct engine *e, const struct engine_event **events, size_t max);

    /* All events up to this number have been recorded and are not to be said again. */
    int (*acknowledge)(struct engine *e, uint64_t number);

    /* The keys of runs that it knows of and whose end has not been acknowledged: started, or about to be.
     * The array belongs to the engine and is valid until its next call. What a server has asked for in
     * this boot of the machine and is neither among them nor acknowledged was never started. What it
     * asked for in another boot may have been, if it is not among them: an engine's own records need not
     * survive a power failure. -1: EAGAIN, it can't tell yet, as no keeper has answered (notice says
     * why), and fd is readable when it may have; ENOMEM.
     */
    int (*runs)(struct engine *e, const uint64_t **keys, size_t *n);

    /* The highest key that it remembers to have been asked for; 0: none. Grows also when it finds records
     * of others.
     */
    uint64_t (*last_key)(const struct engine *e);

    /* What is not as it should be and why, for people: "memory limits are not enforced: /sys/fs/cgroup is
     * not writable". NULL: nothing. Valid until the engine's next call.
     */
    const char *(*notice)(const struct engine *e);

    /* The runs go on. */
    void (*close)(struct engine *e);
};

/* What every implementation begins with. */
struct engine {
    const struct engine_ops *ops;
};

struct engine_local_options {
    const char *directory; /* where keepers have their files: absolute, made if need be */
    const char *keeper;    /* the program berth-keeper */
    const char *cgroup;    /* the root of cgroup v2; NULL: /sys/fs/cgroup. Tests give a folder */
};

/* The engine of this machine. Runs are started by a keeper, a small process that lives on when the server
 * doesn't, and is found again by its socket in the directory; one is started when there is none, also
 * later, when one was killed. It ends when it has no server and no runs, and on SIGTERM, when it ends its
 * runs first. The directory belongs to the caller's user and to one server at a time. NULL with errno and
 * a text; EBUSY: another server uses the directory. This waits until a keeper is started, but a second at
 * most for one that is there and doesn't answer (it is stopped): what is asked for is then sent when it
 * does.
 *
 * As a system's service: a server's cgroup may be killed with the server (systemd: KillMode=process lets
 * the keeper and the runs live), unless cgroup v2 is there and the server is root: then they are in
 * groups of their own.
 */
struct engine *engine_local_open(const struct engine_local_options *options, berth_error_t *err);

#endif
