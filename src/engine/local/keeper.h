/* The keeper: what it knows, and what its parts do with it.
 *
 * One process with one thread, a loop around epoll (keeper.c). Runs are started and end in run.c, are
 * signalled and swept away in tree.c, and found again after another keeper's death in adopt.c, marked.c
 * (whatever the journal tells) and held.c (while they were being started); link.c talks with the engine.
 */
#ifndef ENGINE_LOCAL_KEEPER_H
#define ENGINE_LOCAL_KEEPER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/dict.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/local/cgroup.h"
#include "engine/local/journal.h"
#include "engine/local/limits.h"
#include "engine/local/messages.h"
#include "engine/local/procs.h"
#include "engine/local/used_keys.h"

#define KEEPER_SOCKET "keeper.sock"
#define KEEPER_LOCK   "keeper.lock"

/* What epoll has to say something about. */
enum watched {
    WATCH_LISTENER,
    WATCH_LINK,
    WATCH_SIGNALS,
    WATCH_RESULT,  /* of a run that is being started */
    WATCH_PROCESS, /* of a run that another keeper has started */
};

struct watch {
    enum watched what;
    void *owner;
};

/* A process that is known: a task's, or one that a task has left behind and that is now the keeper's
 * child.
 */
struct process {
    struct dict_entry entry; /* by its pid */
    pid_t pid;
    bool known;           /* the entry is in the table */
    bool alive;           /* not yet reaped */
    bool left;            /* one that was left behind */
    struct run *run;      /* NULL: nobody knows whose it is */
    struct process *next; /* of those that a run has left behind */
    uint64_t since, until;
    int64_t at;
    int tries; /* left, at finding whose it is, of one that was left behind */
    int pidfd; /* of one that another keeper has started; -1: none */
    struct watch watch;
};

enum phase {
    PHASE_HELD,  /* it waits until it is known whether another keeper has started it */
    PHASE_FIRST, /* its first task is being started */
    PHASE_REST,  /* all others are, some at a time */
    PHASE_RUNNING,
    PHASE_FAILED, /* it could not be started, and what was is being ended */
    PHASE_ENDED,
};

/* An event that is to be said until it is acknowledged. */
struct note {
    struct note *next;
    struct run *run;
    uint64_t number; /* 0: there is none */
    int64_t at;
    bool end;
};

struct run {
    struct dict_entry entry; /* by its key */
    struct run *next, *prev; /* of all */
    uint64_t key;
    enum phase phase;
    char *message; /* as it came, until all tasks are started; the request's texts lie in it */
    struct message_run request;
    struct process *tasks; /* until it has ended */
    uint32_t n_tasks;
    uint32_t forked; /* of these */
    uint32_t alive;
    bool forking; /* in the list of those of which more are to be forked */
    struct run *next_forking;
    pid_t pid;            /* of the first task */
    struct process *left; /* behind */
    int result;           /* the reading end of the pipe of those that are being started; -1 */
    struct watch watch;
    int cgroup; /* -1: none */
    bool adopted;
    bool kill;     /* until none is left */
    int patience;  /* how often its end has waited until it is known whose all processes are */
    bool stopping; /* in the list of those that are to be looked after */
    struct run *next_stopping;
    uint64_t session_signals; /* bit N - 1: signal N is to be sent */
    uint64_t tree_signals;
    struct run *next_signalled;
    bool signalled; /* in that list */
    int exit_status;
    int exit_signal;
    int64_t peak_memory;
    int64_t cpu_time;
    bool lost;     /* it was ended with its keeper */
    char *failure; /* why it could not be started */
    bool refused;  /* that is no fault of its own, and nothing of it has run */
    bool used;     /* that is because its key has been used */
    char *note;    /* what is known of its end beside; or NULL */
    struct note started;
    struct note ended;
};

struct keeper {
    int directory; /* the current one too */
    int poll;
    int signals; /* signalfd of SIGCHLD and SIGTERM */
    int listener;
    int link; /* to the engine; -1 */
    struct watch watch_listener, watch_link, watch_signals;
    struct strbuf in, out;
    size_t out_at;        /* sent */
    int64_t send_at;      /* when starts are said, us of the steady clock; 0: at once */
    uint32_t link_events; /* that epoll looks for */
    bool link_held;       /* messages wait until fewer runs are being started */
    int64_t linger_at;    /* how long the first link is waited for; 0: no longer */

    struct journal_head head;
    struct strbuf records; /* not yet in the journal */
    int journal_errno;     /* why it could not be written; 0: it could */
    int64_t journal_at;    /* when that is tried again, us of the steady clock */
    size_t journal_size;
    size_t journal_room;  /* bytes that the disk has set aside for it, at least */
    size_t journal_least; /* its size when it was written anew */

    const char *cgroup_root; /* NULL: the system's */
    pid_t server;            /* that has started this keeper */
    struct cgroups cgroups;
    struct rlimit files;
    bool oom;
    char limits_program[PATH_MAX]; /* berth-limits, beside this program */
    struct limits_known limits;    /* of users */
    char mark[48];                 /* "BERTH_RUN=ID." */

    struct proc *unread; /* whose environment could not be read in time */
    size_t n_unread, cap_unread;
    char unread_notice[160];

    struct dict runs; /* all whose end has not been acknowledged */
    struct run *first;
    struct dict pids;
    struct used_keys used;
    size_t live;     /* runs that have not ended */
    size_t starting; /* of these, how many are being started */
    size_t starting_max;
    struct run *forking, *last_forking;
    int starts;     /* the file of locks of runs that are being started */
    uint64_t *held; /* keys of those whose lock has been held since before this keeper */
    size_t n_held;
    int64_t held_at; /* when that is looked at, us of the steady clock */
    int64_t held_wait;
    size_t adopted;       /* runs with processes of another keeper's */
    struct process *lost; /* processes of nobody knows whom */
    size_t unknown;       /* of these, how many are looked at again */
    bool ending;          /* it was told to end */
    int64_t kill_at; /* when what still runs then is killed, us of the steady clock; 0: it was */
    struct run *stopping;
    struct run *signalled;
    bool look;        /* for processes that were left behind */
    int64_t sweep_at; /* when to look again, us of the steady clock; 0: no need */
    int64_t sweep_wait;

    struct note *notes, *last_note;
    struct note *unsent; /* the first that has not been said on this link */
    uint64_t number;     /* of the latest event */
    uint64_t sent;       /* the highest number said on this link */
};

/* us, on the steady clock and on the wall's. */
int64_t keeper_steady(void);
int64_t keeper_wall(void);

/* Read the journal of those before, take over what they left, and begin a new one. 0, or -1 with a text. */
int keeper_adopt(struct keeper *k, berth_error_t *err);

/* The run of a key as one that another keeper may have started, a new one if need be: it is live, and has
 * the tasks that are known. One that was held back is found to have been started. NULL with ENOMEM.
 */
struct run *keeper_adopt_run(struct keeper *k, uint64_t key);

/* Its processes are watched; without any it ends. */
void keeper_watch_run(struct keeper *k, struct run *run, bool same_boot);

/* A task of such a run, as the journal has it. 0, or -1 with ENOMEM. */
int keeper_adopt_task(struct run *run, const struct journal_task *task);

/* A process that another keeper started has ended. */
void keeper_adopted_ended(struct keeper *k, struct process *p);

/* Processes with this directory's mark. */
struct marked {
    uint64_t key;
    struct proc proc;
};

struct marked_list {
    struct marked *v;
    size_t n, cap;
};

/* Those of all that have the mark and are not the keeper's children; one that is just becoming another
 * program is looked at again; `patient`: for about a second. In their order, but for those that had to be
 * asked again. 0, or -1 with errno. To be cleared in either case.
 */
int keeper_list_marked(struct keeper *k, const struct procs *all, bool patient,
                       struct marked_list *list);
void marked_clear(struct marked_list *list);

/* Adopt the runs of this directory that the system has processes of, and tasks of which the journal tells
 * nothing: those with the mark (of these keys, unless they are NULL), and in keeper_find_more also what
 * is in control groups and, without a journal, what was about to start. `told`: the journal is this
 * directory's, of this boot; else a run of which something is there is none that the journal tells of.
 * What is adopted is then to be watched. 0, or -1 with errno.
 */
int keeper_find_marked(struct keeper *k, bool told, const uint64_t *keys, size_t n);
int keeper_find_more(struct keeper *k, bool told);

/* Runs of which another keeper was starting a process that is not yet gone. To be listed before the
 * journal is read, and looked at once a turn.
 */
int keeper_list_held(struct keeper *k);
bool keeper_has_key(const uint64_t *keys, size_t n, uint64_t key);
bool keeper_is_held(const struct keeper *k, uint64_t key);
void keeper_check_held(struct keeper *k);

/* The journal. Records wait in k->records until they are written; true: all are, else errno. */
bool keeper_write_journal(struct keeper *k);
bool keeper_replace_journal(struct keeper *k);
bool keeper_reserve_journal(struct keeper *k,
                            size_t tasks); /* room for the records of so many tasks, likewise */
void keeper_journal_failed(struct keeper *k,
                           int errnum); /* a task's process could not write to it */

/* Runs. A message of n bytes that asks for a start; 0, or -1 and EPROTO. */
int keeper_start(struct keeper *k, const char *message, size_t n);
void keeper_start_held(struct keeper *k, struct run *run); /* one that was held back */
void keeper_fork(struct keeper *k); /* some tasks: to be called once a turn */
void keeper_drop_unstarted(struct keeper *k,
                           struct run *run);           /* of which no process has been made */
void keeper_result(struct keeper *k, struct run *run); /* something can be read there */
void keeper_reap(struct keeper *k);
void keeper_finish(struct keeper *k, struct run *run); /* none of it is left */
void keeper_acknowledge(struct keeper *k, uint64_t number);
struct run *keeper_find(const struct keeper *k, uint64_t key);
int keeper_enter(struct keeper *k, struct run *run); /* in the table. 0, or -1 with ENOMEM */
void keeper_free(struct keeper *k, struct run *run); /* also from the table */
void keeper_forget_request(
    struct run *run); /* which is needed only until all tasks have been started */
void keeper_note(struct keeper *k, struct note *note); /* it has its number */
void keeper_end_record(const struct run *run, struct journal_end *end);

/* Processes. */
struct process *keeper_process(const struct keeper *k, pid_t pid);
int keeper_add_process(struct keeper *k, struct process *p); /* 0, or -1 with ENOMEM */
void keeper_remove_process(struct keeper *k, struct process *p);

/* Signals and what is left behind. */
void keeper_signal(struct keeper *k, const struct message_signal *signal);
void keeper_stop(struct keeper *k, struct run *run); /* none of its processes is to stay */
void keeper_sweep(struct keeper *k);                 /* to be called once a turn */

/* It was told to end: so are its runs, which are lost, and it takes no more. Then it is to be called once
 * a turn.
 */
void keeper_end(struct keeper *k);
void keeper_end_more(struct keeper *k);

/* The link to the engine. */
void keeper_accept(struct keeper *k);
void keeper_read(struct keeper *k);
void keeper_send(struct keeper *k);
void keeper_hang_up(struct keeper *k);
int keeper_watch(struct keeper *k, int fd, struct watch *watch, uint32_t events);

/* Close it, and look at it no longer: to close it is not enough while a child that was just forked has it
 * too.
 */
void keeper_unwatch(struct keeper *k, int *fd);

/* Until there is nothing to keep: no link (or it is ending), no process, and all that is not acknowledged
 * is in the journal. The listener and SIGCHLD, which is blocked, are there. 0, or -1 with errno.
 */
int keeper_loop(struct keeper *k);

#endif
