/* The keeper: its state, and the calls between its parts.
 *
 * It is one process with one thread, a loop around epoll (keeper.c). run.c starts and ends runs; tree.c
 * sends signals and kills processes that were left behind; link.c talks with the engine. After another
 * keeper has died, its runs are found again by adopt.c (from the journal), marked.c (without it) and
 * held.c (those that were just being started).
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

/* What epoll watches. */
enum watched {
    WATCH_LISTENER,
    WATCH_LINK,
    WATCH_SIGNALS,
    WATCH_RESULT,  /* the result of a run that is being started */
    WATCH_PROCESS, /* a process of a run that another keeper has started */
};

struct watch {
    enum watched what;
    void *owner;
};

/* A process that the keeper knows: a task's, or one that a task left behind and that is now the keeper's
 * child.
 */
struct process {
    struct dict_entry entry; /* by its pid */
    pid_t pid;
    bool known;           /* the entry is in the table */
    bool alive;           /* not yet reaped */
    bool left;            /* it was left behind */
    struct run *run;      /* NULL: it is not known whose it is */
    struct process *next; /* in the list of processes that a run left behind */
    uint64_t since, until;
    int64_t at;
    int tries; /* how often to try again to find out whose it is, if it was left behind */
    int pidfd; /* of a process that another keeper has started; -1: none */
    struct watch watch;
};

enum phase {
    PHASE_HELD,  /* waits until it is known whether another keeper has started it */
    PHASE_FIRST, /* its first task is being started */
    PHASE_REST,  /* its other tasks are being started, some at a time */
    PHASE_RUNNING,
    PHASE_FAILED,   /* could not be started; tasks that were are being killed */
    PHASE_EPILOGUE, /* no task is left; its epilogue runs */
    PHASE_OUTPUT,   /* nothing of it runs; the server has not all of its output yet */
    PHASE_ENDED,
};

/* An event that is sent, and sent again on each new link, until it is acknowledged. */
struct note {
    struct note *next;
    struct run *run;
    uint64_t number; /* 0: there is none */
    int64_t at;
    bool end;
};

struct run {
    struct dict_entry entry; /* by its key */
    struct run *next, *prev; /* in the list of all runs */
    uint64_t key;
    enum phase phase;
    /* as it was received, until all tasks are started and its epilogue is over; it contains the request's texts */
    char *message;
    struct message_run request;
    struct process *tasks; /* until the run has ended */
    uint32_t n_tasks;
    uint32_t forked; /* how many of its tasks have a process */
    uint32_t alive;
    bool forking; /* in the list of runs with tasks still to be forked */
    struct run *next_forking;
    pid_t pid;            /* of the first task */
    struct process *left; /* processes that it left behind */
    int result; /* the reading end of the pipe of tasks that are being started; -1: none are */
    struct watch watch;
    int cgroup; /* -1: none */
    bool adopted;
    bool may_spool; /* its output may have to be sent (output.c) */
    bool kill;      /* kill its processes until none is left */
    int patience;   /* how often its end has waited for processes whose run is not known yet */
    bool stopping;  /* in the list of runs whose processes are being killed */
    struct run *next_stopping;
    uint64_t session_signals; /* bit N - 1: signal N is to be sent */
    uint64_t tree_signals;
    struct run *next_signalled;
    bool signalled; /* in the list of runs with signals to send */
    int exit_status;
    int exit_signal;
    int64_t peak_memory;
    int64_t cpu_time;
    bool lost;          /* it was killed when its keeper ended */
    char *failure;      /* why it could not be started */
    int failure_status; /* 127, 126 or 0, as a shell would tell it */
    bool refused;       /* it failed for a reason that is not its own, and nothing of it has run */
    bool used;          /* it failed because its key has been used */
    char *note;         /* what else is known of its end, or NULL */
    struct note started;
    struct note ended;
};

struct keeper {
    int directory; /* also the working directory */
    int poll;
    int signals; /* signalfd of SIGCHLD and SIGTERM */
    int listener;
    int link; /* to the engine; -1 */
    struct watch watch_listener, watch_link, watch_signals;
    struct strbuf in, out;
    size_t out_at;        /* bytes of `out` that have been sent */
    int64_t send_at;      /* when start events are sent, us of the steady clock; 0: at once */
    uint32_t link_events; /* what epoll watches the link for */
    bool link_held;       /* messages wait until fewer runs are being started */
    int64_t linger_at;    /* until when it waits for the first link; 0: it waits no longer */

    struct journal_head head;
    struct strbuf records; /* not yet in the journal */
    int journal_errno;     /* why the journal could not be written; 0: it could */
    int64_t journal_at;    /* when to try again, us of the steady clock */
    size_t journal_size;
    size_t journal_room;  /* at least so many bytes of disk space are reserved for it */
    size_t journal_least; /* its size when it was last replaced */

    const char *cgroup_root; /* NULL: the system's */
    pid_t server;            /* the server that has started this keeper */
    struct cgroups cgroups;
    struct rlimit files;
    bool oom;
    char limits_program[PATH_MAX]; /* berth-limits, beside this program */
    struct limits_known limits;    /* of users */
    char mark[48];                 /* "BERTH_RUN=ID." */

    struct proc *unread; /* processes whose environment could not be read in time */
    size_t n_unread, cap_unread;
    char unread_notice[160];

    struct dict runs; /* all runs whose end has not been acknowledged */
    struct run *first;
    struct dict pids;
    struct used_keys used;
    size_t live;     /* runs that have not ended */
    size_t starting; /* how many of them are being started */
    size_t starting_max;
    struct run *forking, *last_forking;
    int starts;     /* the file of locks of runs that are being started */
    uint64_t *held; /* keys of runs whose lock is held by a process of an earlier keeper */
    size_t n_held;
    int64_t held_at; /* when to check that, us of the steady clock */
    int64_t held_wait;
    size_t adopted;       /* runs with processes that another keeper has started */
    struct process *lost; /* processes whose run is not known */
    size_t unknown;       /* how many of them are to be looked at again */
    bool ending;          /* it was told to end */
    /* when to kill what still runs after it was told to end, us of the steady clock; 0: done */
    int64_t kill_at;
    struct run *stopping;
    struct run *signalled;
    bool look;        /* look for processes that were left behind */
    int64_t sweep_at; /* when to look again, us of the steady clock; 0: no need */
    int64_t sweep_wait;

    bool has_spool_folder;
    struct spool *spools; /* output that is sent (output.c) */
    int64_t output_at;    /* when to look for more of it, us of the steady clock; 0: at once */
    int64_t output_wait;
    int64_t
        output_until; /* of a keeper that ends: how long it waits for output to be taken; 0: no longer */

    struct note *notes, *last_note;
    struct note *unsent; /* the first that has not been sent on this link */
    uint64_t number;     /* of the latest event */
    uint64_t sent;       /* the highest number sent on this link */
};

/* us, of the steady clock and of the wall clock. */
int64_t keeper_steady(void);
int64_t keeper_wall(void);

/* Read the journal of earlier keepers, adopt the runs that they left, and begin a new journal. 0, or -1
 * with a text.
 */
int keeper_adopt(struct keeper *k, berth_error_t *err);

/* Find or make the run of a key, as one that another keeper may have started: it is live, and has the
 * tasks that are known. A run that was held back thereby counts as started. NULL with ENOMEM.
 */
struct run *keeper_adopt_run(struct keeper *k, uint64_t key);

/* Watch an adopted run's processes; if there are none, the run ends. */
void keeper_watch_run(struct keeper *k, struct run *run, bool same_boot);

/* Enter a task of an adopted run, from the journal. 0, or -1 with ENOMEM. */
int keeper_adopt_task(struct run *run, const struct journal_task *task);

/* Handle the end of a process that another keeper has started. */
void keeper_adopted_ended(struct keeper *k, struct process *p);

/* A process with this directory's mark. */
struct marked {
    uint64_t key;
    struct proc proc;
};

struct marked_list {
    struct marked *v;
    size_t n, cap;
};

/* List the processes that have the mark and are not the keeper's children. One that is just becoming
 * another program is looked at again; `patient`: for about a second. They are in the order of `all`,
 * except those that had to be looked at again. 0, or -1 with errno. The caller clears the list in either
 * case.
 */
int keeper_list_marked(struct keeper *k, const struct procs *all, bool patient,
                       struct marked_list *list);
void marked_clear(struct marked_list *list);

/* Adopt runs of this directory that still have processes, and tasks that are not in the journal.
 * keeper_find_marked finds those with the mark, only of these keys unless they are NULL. keeper_find_more
 * also finds those in control groups and, without a journal, those that were about to start. `told`: the
 * journal is this directory's and of this boot; else no run that still has something is one of the
 * journal's. What is adopted must then be watched. 0, or -1 with errno.
 */
int keeper_find_marked(struct keeper *k, bool told, const uint64_t *keys, size_t n);
int keeper_find_more(struct keeper *k, bool told);

/* Held runs: another keeper was starting a process of theirs that is not yet gone. They must be listed
 * before the journal is read, and checked once a turn.
 */
int keeper_list_held(struct keeper *k);
bool keeper_has_key(const uint64_t *keys, size_t n, uint64_t key);
bool keeper_is_held(const struct keeper *k, uint64_t key);
void keeper_check_held(struct keeper *k);

/* The journal. Records wait in k->records until they are written. Each returns true if it succeeds, else
 * sets errno: write all records; replace the journal by a new one; reserve space for the records of so
 * many tasks.
 */
bool keeper_write_journal(struct keeper *k);
bool keeper_replace_journal(struct keeper *k);
bool keeper_reserve_journal(struct keeper *k, size_t tasks);
/* Note that a task's process could not write to the journal. */
void keeper_journal_failed(struct keeper *k, int errnum);

/* Runs. Start one as a message of n bytes requests; 0, or -1 with EPROTO. */
int keeper_start(struct keeper *k, const char *message, size_t n);
void keeper_start_held(struct keeper *k, struct run *run);     /* a run that was held back */
void keeper_fork(struct keeper *k);                            /* fork some tasks; once a turn */
void keeper_drop_unstarted(struct keeper *k, struct run *run); /* no process has been made */
void keeper_result(struct keeper *k, struct run *run);         /* run->result is readable */
void keeper_reap(struct keeper *k);
void keeper_finish(struct keeper *k, struct run *run); /* no process of it is left */
void keeper_acknowledge(struct keeper *k, uint64_t number);
struct run *keeper_find(const struct keeper *k, uint64_t key);
int keeper_enter(struct keeper *k, struct run *run);   /* into the table: 0, or -1 with ENOMEM */
void keeper_free(struct keeper *k, struct run *run);   /* also from the table */
void keeper_forget_request(struct run *run);           /* once all tasks have been started */
void keeper_note(struct keeper *k, struct note *note); /* append an event that has its number */
void keeper_end_record(const struct run *run, struct journal_end *end);

/* The epilogue of a run of which nothing is left: begin it, true, unless there is none or it is over. It may only be killed
 * with the keeper. Note that it failed.
 */
bool keeper_has_epilogue(const struct run *run);
bool keeper_begin_epilogue(struct keeper *k, struct run *run);
void keeper_epilogue_failed(struct run *run, const char *text);

/* That all its tasks have been started is told, unless its output is still to be opened. */
void keeper_say_started(struct keeper *k, struct run *run);

/* Output that is sent to the server. Make the folder for it: false with errno; note that a run which is started has
 * some; after another keeper, that of all runs. O(outputs).
 */
bool keeper_make_spool(struct keeper *k);
void keeper_find_output(struct keeper *k, const struct run *run);
void keeper_find_all_output(struct keeper *k);

/* Whether the server has opened all files of a run, and has all of them that will come. */
bool keeper_output_opened(const struct keeper *k, const struct run *run);
bool keeper_output_done(struct keeper *k, const struct run *run);

/* Append some of it to what is sent; take an answer, 0 or -1 with EPROTO; the link is gone. */
void keeper_put_output(struct keeper *k);
int keeper_output_written(struct keeper *k, struct wire *w);
void keeper_output_unlinked(struct keeper *k);

/* The server has heard of a run's end. */
void keeper_forget_output(struct keeper *k, const struct run *run);

/* A keeper that ends can't wait any longer, when it is time for that; once a turn. */
void keeper_end_output(struct keeper *k);

/* Processes. */
struct process *keeper_process(const struct keeper *k, pid_t pid);
int keeper_add_process(struct keeper *k, struct process *p); /* 0, or -1 with ENOMEM */
void keeper_remove_process(struct keeper *k, struct process *p);

/* Signals, and processes that are left behind. */
void keeper_signal(struct keeper *k, const struct message_signal *signal);
void keeper_stop(struct keeper *k, struct run *run); /* kill all its processes */
void keeper_sweep(struct keeper *k);                 /* once a turn */

/* End the keeper, which was told to: its runs are ended and lost, and it accepts no more. keeper_end_more
 * continues that, once a turn.
 */
void keeper_end(struct keeper *k);
void keeper_end_more(struct keeper *k);

/* The link to the engine. */
void keeper_accept(struct keeper *k);
void keeper_read(struct keeper *k);
void keeper_send(struct keeper *k);
int keeper_watch(struct keeper *k, int fd, struct watch *watch, uint32_t events);

/* Close a descriptor and stop watching it. Closing it is not enough while a child that was just forked
 * has it too.
 */
void keeper_unwatch(struct keeper *k, int *fd);

/* Run until there is nothing to keep: there is no link (or the keeper is ending), no process, and
 * everything that is not acknowledged is in the journal. The listener must be there, and SIGCHLD blocked.
 * 0, or -1 with errno.
 */
int keeper_loop(struct keeper *k);

#endif
