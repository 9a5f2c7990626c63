/* Where tasks run: what a server asks of an engine.
 *
 * A run is one start of one member of a job: one or more tasks (processes), each in its own session. Its
 * key is never used again, so a run that is requested twice is started once. An engine carries out
 * requests later, and reports what happened as events, in the order in which it happened. It repeats an
 * event after a restart of the server until the event is acknowledged, so that nothing is lost.
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

/* What becomes of the descriptor that a run's first task is passed. */
enum engine_attach {
    ENGINE_INPUT,    /* its standard input; if nobody is there to pass it, the run fails */
    ENGINE_KEYBOARD, /* the same, but /dev/null if nobody is there */
    ENGINE_TERMINAL, /* its terminal and all its standard streams; if nobody is there, the run fails */
};

/* What a run has on one node, where it is on several. */
struct engine_place {
    const char *node; /* as in engine_run */
    size_t n_tasks;   /* >= 1: of the run's tasks those that follow the ones of the place before */
    const char *cpus; /* as in engine_run, of this place, and the next three */
    const char *denied;
    int64_t memory;
    int64_t processes;
    uint32_t cores, gpus; /* as in engine_run */
};

/* One process of a run. */
struct engine_task {
    const char *cpus; /* "0-3,8", numbered as the system does; NULL: any */
    /* "NAME=VALUE", ended by NULL: added to those of the run, or replacing them. NULL: none */
    const char *const *env;
};

/* What an administrator has run before a run's first task becomes its command, and after all of its processes are gone:
 * commands for /bin/sh, as the engine's user, in "/". A prologue that fails refuses the run (ENGINE_REFUSED). The
 * epilogue runs unless the prologue failed or nothing was started; if it fails, the text of ENGINE_ENDED says so. A run
 * whose keeper was killed has none.
 */
struct engine_hooks {
    const char *prologue, *epilogue; /* NULL: nothing */
    int64_t limit;                   /* us, > 0: then each is killed, and has failed */
    const char *const *env; /* "NAME=VALUE", ended by NULL: all that they have, but BERTH_RUN */
};

struct engine_run {
    uint64_t key;
    const char *node; /* the node on which it runs, by its id (engine_node); NULL: this machine */
    /* Where it is on several: its nodes, each once, with all of its tasks in their order. It is started when all of
     * its tasks are, is lost when those of one node are, and the others are killed then. The tasks of the first node
     * begin before those of the others, and empty the files of its output. NULL: it is on `node`.
     */
    const struct engine_place *places;
    size_t n_places;
    const char *const *argv; /* ended by NULL; argv[0] is looked up in the PATH of env */
    const char *script;      /* the text of a script that is run instead of argv[0], or NULL */
    size_t script_length;
    const char *const *
        /* "NAME=VALUE", ended by NULL: the whole environment, except BERTH_RUN, which marks the run */
        env;
    const char *directory; /* working directory, absolute */
    const char *input;     /* a file; NULL: /dev/null */
    /* A Unix socket, absolute: the first task connects to it as its user before it is the command, and
     * gets a descriptor (SCM_RIGHTS) with one byte. Whoever listens must have the task's user. NULL: none. It is
     * on this host; for a task on another node what passes through the descriptor is carried there and back.
     */
    const char *attach;
    bool attach_far; /* in a keeper: the socket is on the server's host */
    enum engine_attach attach_as;
    /* a file, created and truncated, or appended to; parent folders are not made */
    const char *output;
    const char *error; /* the same; NULL: where output goes */
    bool append;
    bool shared; /* others write to these files too */
    /* On another node: what it finds in the folder of these files if that is the server's (proof.h). If it does not, its
     * keeper sends what the run writes, and the server writes the file. NULL: the file is the node's.
     */
    const char *output_proof;
    const char *error_proof; /* NULL where the file is the same */
    mode_t umask;
    bool as_user; /* run with the identity below; else with the engine's own */
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
    int64_t memory; /* bytes that its processes may use together; 0: no limit */
    /* limit of processes and threads at a time, at least n_tasks; 0: no limit */
    int64_t processes;
    const char *cpus; /* CPUs of the whole run, for its cgroup; NULL: any */
    /* "MAJOR:MINOR,...": character devices that its processes may not open, where the engine can see to it; NULL: none */
    const char *denied;
    /* How many it has, and how long it may take, us (0: no limit): what a scheduler is asked for that starts it itself. */
    uint32_t cores, gpus;
    int64_t limit;
    const struct engine_task *tasks;
    size_t n_tasks;                   /* >= 1 */
    const struct engine_hooks *hooks; /* on this machine, not on other nodes; NULL: none */
};

enum engine_what {
    /* all its processes have been started, or were killed before that */
    ENGINE_STARTED,
    /* all its tasks have ended; processes that they left behind have been killed, and none is left */
    ENGINE_ENDED,
    /* it could not be started, and nothing of it is left; `text` says why. There is no ENGINE_STARTED
     * before
     */
    ENGINE_FAILED,
    /* it is not known how it ended, or whether it was started, because its keeper was killed or told to
     * end, or the machine went down. Nothing of it is left. There may be an ENGINE_STARTED before
     */
    ENGINE_LOST,
    /* the engine can't start anything at present, whatever the run; `text` says why. Nothing of it has
     * run, and it may be requested again under another key
     */
    ENGINE_REFUSED,
    /* nothing was started, because the key was used before: by another run, or by this one, whose events
     * have all been acknowledged
     */
    ENGINE_USED,
    /* the same as ENGINE_REFUSED, but of this run alone: others may be started */
    ENGINE_DECLINED
};

struct engine_event {
    enum engine_what what;
    uint64_t key;
    uint64_t number; /* for engine_ops.acknowledge; ascending */
    int64_t at;      /* us since 1970, by the engine's wall clock */
    pid_t pid;       /* of ENGINE_STARTED: the first task's */
    /* of ENGINE_ENDED: the highest of its tasks', if no task was killed by a signal; of ENGINE_FAILED: 127 if
     * there is no such command, 126 if it can't be executed, else 0
     */
    int exit_status;
    int exit_signal;     /* of ENGINE_ENDED: the first signal that killed a task; 0: none */
    int64_t peak_memory; /* bytes, of its cgroup, or else of its largest process; -1: unknown */
    /* us, of its cgroup, or else of all processes that were waited for; -1: unknown */
    int64_t cpu_time;
    /* of ENGINE_FAILED and ENGINE_REFUSED: why; of others what else is known, or NULL */
    const char *text;
    bool elsewhere; /* it is told by a node, not by this machine */
};

/* A node of a cluster that somebody lends for a time: it comes with an agent, which calls of its own accord. Or one
 * that another scheduler rules, which starts the runs there.
 */
struct engine_node {
    const char *id; /* "PILOT/NAME" */
    uint64_t pilot; /* in which it was invited */
    const struct node
        *brings; /* engine/cluster/node.h; NULL: it has not come yet, since the engine was opened */
    bool up;     /* there is a connection to it */
    bool left;   /* nothing runs there any more, and nothing will */
    const struct engine_ruled *ruled; /* NULL: it is lent; else `pilot` is 0 */
};

/* What another scheduler says of a node of its own, on which it starts each run itself. */
struct engine_ruled {
    const char *properties; /* separated by commas */
    const char *reason; /* why nothing may be started there; "": something may, or it is unknown */
    bool drained;       /* nothing more is to be started there, though it is up */
    uint32_t cores_taken, gpus_taken; /* that others hold */
    int64_t memory_taken;             /* bytes, the same */
};

/* A run that a node may tell of. */
struct engine_expected {
    uint64_t key;
    bool started; /* it was heard to have started */
    uint32_t place,
        places; /* of so many nodes on which it is this is the place-th, from 0 on; 0 or 1: it is on one */
};

struct engine;

struct engine_ops {
    /* Request the start of a run; events say what becomes of it. Everything that `run` points to is
     * copied. EEXIST: the key has been used; EINVAL; E2BIG: more than 32 MiB; ENOMEM.
     */
    int (*start)(struct engine *e, const struct engine_run *run, berth_error_t *err);

    /* Send a signal to each task of a run and to the processes in its session, once they are there; nothing happens if
     * there is no such run. With `tree`, send it to all descendants too, even if they left the session; SIGKILL
     * with `tree` is repeated until none is left. EINVAL: there is no such signal.
     */
    int (*signal)(struct engine *e, uint64_t key, int signal, bool tree);

    /* Send the requests; to be called once before waiting. Does not wait itself. -1: there is no keeper
     * at present (notice says why), and the requests are sent once there is.
     */
    int (*flush)(struct engine *e);

    /* A descriptor that is readable when there are events; -1: the engine has none (a simulated one). */
    int (*fd)(const struct engine *e);

    /* Get up to max events, which belong to the engine and are valid until the next call of this. There
     * may be more: then fd stays readable. Returns how many were got.
     */
    size_t (*events)(struct engine *e, const struct engine_event **events, size_t max);

    /* All events up to this number have been recorded, and are not to be repeated. */
    int (*acknowledge)(struct engine *e, uint64_t number);

    /* The keys of runs that are started or about to be, and whose end has not been acknowledged. The
     * array belongs to the engine and is valid until its next call. A run that a server has requested in
     * this boot of the machine, and that is neither here nor acknowledged, was never started. A run
     * requested in another boot may have been started all the same: an engine's own records need not
     * survive a power failure. -1: EAGAIN, the engine does not know yet, because no keeper has answered
     * (notice says why), and fd is readable when one may have; ENOMEM.
     */
    int (*runs)(struct engine *e, const uint64_t **keys, size_t *n);

    /* The highest key that is known to have been requested; 0: none. It may grow when records of earlier
     * runs are found.
     */
    uint64_t (*last_key)(const struct engine *e);

    /* What does not work and why, for people: "memory limits are not enforced: /sys/fs/cgroup is not
     * writable". NULL: everything works. Valid until the engine's next call.
     */
    const char *(*notice)(const struct engine *e);

    /* Close the engine. Its runs go on. */
    void (*close)(struct engine *e);

    /* ---- Nodes that come and go; NULL in an engine that is one machine ---- */

    /* Let the agents of a pilot in, whose number is used only once, ever: makes its secret, unless there is one.
     * `folder`, with room for PATH_MAX bytes, is what its agents are told. 0, or -1 with a text.
     */
    int (*invite)(struct engine *e, uint64_t pilot, char *folder, berth_error_t *err);

    /* Let them in no longer. */
    void (*dismiss)(struct engine *e, uint64_t pilot);

    /* Before the runs are listed: a node was there, which may come again and tell of these runs. One that it does
     * not know was lost or, if it had not been heard to start, not begun (ENGINE_REFUSED). One that had not may be
     * requested once more, under its key, before events are got: then it is started if it was not begun.
     * name NULL: this machine, which is one of several nodes of these runs. 0, or -1 with ENOMEM.
     */
    int (*expect)(struct engine *e, uint64_t pilot, const char *name,
                  const struct engine_expected *runs, size_t n);

    /* The nodes there are; the array belongs to the engine and is valid until its next call. *change is another
     * number whenever something of it is other than before.
     */
    size_t (*nodes)(struct engine *e, const struct engine_node **nodes, uint64_t *change);

    /* It is certain that nothing runs on a node any more: what has not ended there is lost. */
    void (*lose)(struct engine *e, const char *id);

    /* Forget a node that has left, once all of its events are acknowledged. 0, or -1 with EBUSY: not yet. */
    int (*forget)(struct engine *e, const char *id);
};

/* Every implementation begins with this. */
struct engine {
    const struct engine_ops *ops;
};

struct engine_local_options {
    const char *directory; /* where keepers have their files: absolute, made if it is missing */
    const char *keeper;    /* the program berth-keeper */
    const char *cgroup;    /* the root of cgroup v2; NULL: /sys/fs/cgroup. Tests give a folder */
};

/* Several machines as one engine: this one, and nodes that are lent. It owns `local`. The program berth-gate is
 * started once there is a pilot; `directory`, absolute, has their secrets. NULL with errno and a text.
 */
struct engine_many_options {
    const char *directory;
    const char *gate; /* the program berth-gate */
};
struct engine *engine_many_open(struct engine *local, const struct engine_many_options *options,
                                berth_error_t *err);

/* The nodes that Slurm rules, as one engine: each run is a job of Slurm's (doc/cluster.md). `directory`, absolute, is
 * shared by all nodes. The program berth-slurm talks to Slurm; this waits until it has told what nodes there are, or for 25 s.
 * NULL with errno and a text.
 */
struct engine_slurm_options {
    const char *directory; /* where runs have their folders; made if it is missing */
    const char *helper;    /* the program berth-slurm */
    const char *run;       /* the program berth-run, on all nodes */
    const char *partition; /* NULL: Slurm's default */
    const char *options;   /* further ones of sbatch, separated by blanks; NULL: none */
};
struct engine *engine_slurm_open(const struct engine_slurm_options *options, berth_error_t *err);

/* Open the engine of this machine.
 *
 * A keeper starts the runs. It is a small process that outlives the server, and that the next server
 * finds by its socket in the directory. If there is no keeper, or if it is killed later, another one is
 * started. It ends when it has no server and no runs, and on SIGTERM, after it has ended its runs. The
 * directory belongs to the caller's user and to one server at a time.
 *
 * The call waits until a keeper is started. It waits at most a second for one that exists but doesn't
 * answer, since that one may be stopped: requests are then sent once it answers. Returns NULL with errno
 * and a text; EBUSY: another server uses the directory.
 *
 * In a system service, the server's cgroup may be killed with the server. systemd's KillMode=process lets
 * the keeper and the runs live. If cgroup v2 is there and the server is root, that is not needed: they
 * are in groups of their own.
 */
struct engine *engine_local_open(const struct engine_local_options *options, berth_error_t *err);

#endif
