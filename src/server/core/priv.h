/* Inside the server: what it has in memory, and what its files do for each other.
 *
 * A job is what was submitted at once, with its members in a row. Those whose members have all ended are
 * only in the store. What has changed is marked dirty and written with the next commit; a commit that
 * fails leaves it marked, so that memory and store agree again after the next one that succeeds.
 *
 * Functions return 0, or -1 with errno (ENOMEM) and, where one is given, a text.
 */
#ifndef SERVER_SERVER_PRIV_H
#define SERVER_SERVER_PRIV_H

#include <jansson.h>
#include <signal.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/intern.h"
#include "berth/match.h"
#include "berth/sched_config.h"
#include "config/config.h"
#include "server/server.h"

#define SERVER_SECOND      INT64_C(1000000) /* ticks in one */
#define SERVER_MEMBERS_MAX 1000000          /* of an array */
#define SERVER_NOTICES_MAX 100

/* The clock is written, whether anything else is or not. */
#define SERVER_CLOCK_EVERY (3600 * SERVER_SECOND)

/* Where a run is on its way to its end. */
enum run_stage {
    RUN_NORMAL,
    RUN_WARNED, /* the warning signal before its limit has been sent */
    RUN_ENDING, /* it has been asked to end, and will be killed after the grace */
    RUN_KILLED
};

/* A member's start, or how it ended, until that is in the store. */
struct run {
    struct job *job;
    uint32_t member;
    uint32_t slot;  /* in the table of runs */
    uint64_t key;   /* 0: it never ran */
    bool in_engine; /* the engine has it */
    enum run_stage stage;
    int64_t start_wall, end_wall; /* us since 1970; -1: not yet */
    int64_t stop_wall,
        stop_at; /* when it was stopped by the server itself: us since 1970, ticks; -1 */
    int exit_status, exit_signal;
    int64_t peak_memory, cpu_time; /* -1: unknown */
    int64_t warn_before;           /* ticks before the limit; 0: no warning */
    int warn_signal;
    char *resources; /* for people; NULL */
    /* How it ended, where its member could not wait again yet for want of memory; else ENGINE_STARTED. */
    struct engine_event deferred_end;
};

struct member {
    sched_job_t handle; /* -1: the core has forgotten it */
    int64_t at;         /* when it starts: promised, if it is reserved, else estimated; -1 */
    struct run *run;    /* NULL */
    char *reason;       /* why it failed or was cancelled; NULL */
    uint32_t attempts;
    uint8_t state; /* enum store_state */
    int8_t how;    /* enum sched_how, of one that has a run; -1: that is not known */
    bool reserved, cancelled, timed_out, preempted, requeue, unsaved;
    /* It waits without a handle: for the core it runs, as memory lacked for its start and to undo that. */
    bool unstarted;
};

/* A text that jobs have in common. */
struct shared_text {
    size_t refs, length;
    char text[];
};

struct job {
    int64_t id;
    uint32_t uid, gid;
    const char *user, *queue; /* in server.names */
    char *name;
    char *row;     /* the keys of a listing that never change: "\"command\":..." */
    char *request; /* until it is in the store, as the next two */
    struct shared_text *environment, *script; /* NULL */
    uint32_t members, live;                   /* live: that have not ended */
    size_t bytes;                             /* of its request, as long as it is in the table */
    int64_t weight; /* what it takes of the store, about, while it is not there */
    int64_t priority, duration, submitted, submitted_wall;
    int64_t nodes, cores, gpus;
    bool held, requeue;
    bool limited; /* it is stopped at its limit */
    bool is_new;  /* not in the store yet */
    bool unsaved; /* the job itself */
    bool is_over; /* about to leave, in a chain */
    struct job *next_over;
    struct admission *admission; /* members that the core has not yet; NULL: it has all */
    struct member *member;
};

struct unsaved_event {
    int64_t job, member, wall;
    const char *kind;
    char *data; /* JSON; NULL */
};

struct user {
    uint32_t uid, gid;
    char *name;
    char **groups; /* names */
    size_t n_groups;
    gid_t *gids;
    size_t n_gids;
    char *home, *shell;
    int64_t known;    /* when it was looked up, ticks */
    int64_t live;     /* members of its jobs that wait or run */
    int64_t bytes;    /* of the requests of these jobs */
    int64_t unstored; /* weight of those of them that are not in the store yet */
    int64_t stored;   /* what the store has of this user's jobs; -1: to be asked for */
    bool trimmed;     /* history has to go, until there is some room again */
    int64_t tokens;   /* requests, in millionths, as of `counted` */
    int64_t counted;
    bool is_there;
    bool has_folder; /* for the output of jobs; as of when the user was looked up */
};

struct server_stream;

/* Of a table in the order of its numbers. What has left stays as a gap until there are many. */
struct entry {
    uint64_t number; /* a job's id, a run's key */
    union {
        struct job *job;
        struct run *run;
        const void *any; /* NULL: gone */
    };
};

struct member_ref {
    struct job *job;
    uint32_t member;
};

/* Time, in ticks that go on while the machine is off: now = steady + offset. As of the last look. */
struct server_clock {
    int64_t now, wall, offset;
    int64_t started; /* wall time */
    int64_t stored;  /* `now` as the store has it */
    bool other_boot; /* what the store has is of another boot of the machine */
};

/* What the machine has, for those who ask for some of it. */
struct machine_size {
    int64_t memory_unit; /* bytes in one of the machine's units of memory; 0: it has none */
    bool has_gpus;
    int64_t cores, node_cores; /* of the machine, and of its largest node */
};

/* The jobs that wait or run, by id (job.c). */
struct job_table {
    struct entry *jobs;
    size_t n, cap, n_gone;
    int64_t next;                             /* the id of the next job */
    size_t counts[STORE_TIMEOUT + 1], n_held; /* members by state */
    size_t kept_jobs, kept_members;           /* that there is room for */
};

/* Runs that are not over, or whose end is not in the store yet (job.c, stop.c). */
struct run_table {
    struct run **v; /* by slot */
    size_t n, cap;
    size_t free; /* the first slot that may be free */
    struct entry *by_key;
    size_t n_keys, cap_keys, n_keys_gone;
    uint64_t next_key, stored_key; /* the key of the next run; what the store has of that */
    struct heap timers;            /* slots, by when they are to be looked at */
    size_t n_deferred;             /* whose members can't wait again yet */
    size_t n_unstarted;            /* members that the core believes to run */
    int64_t retry_at;              /* when either is tried again, ticks */
};

/* A signal to a run, sent once what it follows from is durable. */
struct due_signal {
    uint64_t key;
    int signal;
    bool tree;
};

/* What the engine has said, and what it is to be told (engine.c, orphans.c, turn.c). */
struct engine_state {
    bool is_known; /* it has said what runs; until then nothing is started, and signals wait */
    uint64_t number, acknowledged; /* of its events */
    uint64_t first_key;            /* runs from this key on are of this server */
    uint64_t heard_key,
        stored_heard;  /* the highest key that it has started; what the store has of that */
    uint64_t *orphans; /* keys of runs that belong to no job, ascending */
    size_t n_orphans;
    int64_t hold_until; /* nothing is started before, ticks */
    struct member_ref *starts;
    size_t n_starts, cap_starts;
    struct due_signal *signals;
    size_t n_signals, cap_signals;
};

/* The pass of the core (pass.c). */
struct current_pass {
    int64_t at;       /* its time, or that of the last one, ticks */
    bool is_on;       /* it was cut off, and goes on with the next turn */
    bool has_decided; /* a start or a first promise since it was begun, */
    size_t credit;    /* of which so many more count */
    size_t n_vain;    /* how often in a row it was begun again with nothing decided before */
};

/* What has changed since the last commit, and when the next one is due (write.c, turn.c). */
struct unsaved {
    struct job **jobs;
    size_t n_jobs, cap_jobs;
    struct member_ref *members;
    size_t n_members, cap_members;
    struct unsaved_event *events;
    size_t n_events, cap_events;
    bool settings, bulks;
    bool urgent;        /* it is to be durable with this turn */
    int64_t commit_at;  /* else by this tick; INT64_MAX: nothing has changed */
    bool failing;       /* the last commit failed */
    uint64_t n_commits; /* so far */
};

/* Users with jobs or requests, and their limits (user.c). */
struct user_table {
    struct user **v;
    size_t n, cap;
};

/* Work of large requests, by user (work.c). */
struct work_queues {
    struct work_queue *queues;
    size_t n, cap;
    size_t next; /* the queue whose turn it is */
    bool root_had_turn;
    size_t steps;             /* that requests may take before the next turn */
    size_t kept;              /* works that may come later, and have room */
    int64_t at;               /* none before this tick, as memory ran out */
    struct server_work *done; /* to be answered after the next commit */
};

struct server {
    struct server_platform platform;
    struct server_options options;
    char *directory, *config_path;
    struct config *config;
    match_t *machine;
    struct machine_size size;
    json_t *settings; /* what administrators changed of queues and resources */
    sched_t *sched;
    store_t *store;
    int64_t retain_at; /* when to look for old jobs in it, ticks */
    struct server_clock clock;

    struct job_table table;
    struct run_table runs;
    struct engine_state engine;
    struct current_pass pass;
    struct unsaved unsaved;
    struct user_table users;
    struct work_queues work;

    struct job_list *bulks; /* of jobs that are being taken (bulk.c) */
    char *bulks_text;       /* while the store is read: what it has of them */

    struct intern names;     /* of users and queues */
    struct intern ended_ids; /* ids of ended jobs that the core has been told of */
    struct strbuf text;
    char *notices; /* JSON array's inside: strings */
    size_t n_notices;
    bool stopping;
};

/* ---- Small things (server.c) ---- */

/* Look at the clocks. */
void server_update_clock(server_t *s);

/* The wall time of a tick, us since 1970; -1 for -1. */
int64_t server_wall_time(const server_t *s, int64_t ticks);

/* A text that stays: of a user or a queue. NULL with ENOMEM. */
const char *server_intern_name(server_t *s, const char *text);

/* Something for people to know. */
void server_notice(server_t *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Note that something happened; data is taken over, also on failure. Lost if there is no memory. */
void server_event(server_t *s, int64_t job, int64_t member, const char *kind, char *data);

struct shared_text *shared_text_create(const char *text, size_t length);
void shared_text_release(struct shared_text *t);

/* ---- Jobs and members (job.c) ---- */

/* A job with its members, all pending and unknown to the core; it is not in the table yet. NULL with
 * ENOMEM.
 */
struct job *job_create(int64_t id, uint32_t members);
/* The job as the store has it, but for environment and script. */
void job_to_store(const struct job *job, struct store_job *to);
void job_discard(server_t *s, struct job *job);
/* Into the table, in the order of numbers. Returns 0, or -1 with ENOMEM; never once there is room for it. */
int job_insert(server_t *s, struct job *job);
/* Have room for more jobs and members in all, beside those that it is kept for (job_table.kept_jobs). 0,
 * or -1 with ENOMEM.
 */
int job_table_reserve(server_t *s, size_t jobs, size_t members);
/* What a job takes of what its user may have, as long as it is in the table or about to be. */
void job_charge(server_t *s, const struct job *job, bool counts);
void job_remove(server_t *s, struct job *job); /* out of the table, and destroyed */
struct job *job_lookup(const server_t *s, int64_t id);
/* The place in the table of the first job whose id is at least this. */
size_t job_index(const server_t *s, int64_t id);

/* Room for marks, to be made before what they mark: for the job and n members. */
int unsaved_reserve(server_t *s, size_t n);
void job_changed(server_t *s, struct job *job);
void member_changed(server_t *s, struct job *job, uint32_t member);

/* Another state of a member, with the counts that follow. */
void member_set_state(server_t *s, struct job *job, uint32_t member, enum store_state state);

/* Why a member could not be started, if its reason is that the engine or the store refused it; else NULL. */
const char *not_started_cause(const char *text);

/* A member ends: state, reason (copied; NULL: none), and how. It has a run afterwards, unless there is no
 * memory.
 */
void member_end(server_t *s, struct job *job, uint32_t member, enum store_state state,
                const char *reason);
void text_assign(char **to, const char *text);

/* The core has said that it can never start (pass.c). */
void member_reject(server_t *s, struct job *job, uint32_t member, const char *reason);

struct run *run_create(server_t *s, struct job *job, uint32_t member, uint64_t key);
void run_destroy(server_t *s, struct run *run);
struct run *run_lookup(const server_t *s, uint64_t key);

static inline bool member_is_live(const struct member *m)
{
    return m->state <= STORE_RUNNING;
}

/* ---- Users (user.c) ---- */

struct user *user_find(server_t *s, uint32_t uid); /* NULL with ENOENT or ENOMEM */
bool user_is_admin(server_t *s, uint32_t uid);
bool user_may_request(server_t *s, uint32_t uid); /* not too many requests; counts this one */
void user_charge_job(struct user *u, const struct job *job); /* what a job counts for its user */
/* Count members of a job that wait or run, bytes of its request, and its weight as long as that is not
 * stored.
 */
void user_charge(server_t *s, uint32_t uid, int64_t live, int64_t bytes, int64_t unstored);
/* Make room in the store for so many bytes and members more of a user's: what has ended goes, the oldest
 * first, in *slices at most, each of which takes one away. 0, or -1 with EDQUOT (nothing is left to go),
 * EAGAIN (it takes a while), or as the store has it, and a text.
 */
int user_make_room(server_t *s, struct user *u, int64_t bytes, int64_t members, int *slices,
                   berth_error_t *err);
/* The store has changed. */
void users_forget_stored(server_t *s);
/* Drop a slice of what users have too much of. True: there is more to be dropped. */
bool users_trim(server_t *s);
bool users_check(const server_t *s);
void users_clear(server_t *s);

/* ---- The machine and its queues (machine.c) ---- */

/* Read the configuration and make machine and core of it. */
int machine_open(server_t *s, berth_error_t *err);
int machine_reload(server_t *s, berth_error_t *err);
const struct sched_queue_config *machine_queue(const server_t *s, const char *name);

/* How many processes and threads a job of so many cores may have at once; 0: no limit. */
int64_t machine_processes(const server_t *s, int64_t cores);

/* What an administrator changed, so that it holds after a restart. */
int settings_queue(server_t *s, const char *queue, bool enabled, bool started);
int settings_resources(server_t *s, const char *resources, const char *status, const char *reason);
void settings_apply(server_t *s, sched_t *sched);
void settings_of_queue(const server_t *s, const char *queue, bool *enabled, bool *started);

/* ---- Parts of the work ---- */

int server_load(server_t *s, berth_error_t *err); /* load.c */

/* Compare what should run with what does, once the engine can tell (else nothing happens): what was about
 * to be is started, and what nobody knows of is stopped. 0, or -1 with a text, and it is to be done
 * again.
 */
int runs_reconcile(server_t *s, berth_error_t *err);

int server_pass(server_t *s, berth_error_t *err);  /* pass.c: a slice of passes */
int server_write(server_t *s, berth_error_t *err); /* write.c: all that is dirty */
void server_mark_saved(server_t *s);               /* it is durable */
void server_undo_submissions(server_t *s);         /* submissions that are not */
void server_act(server_t *s);                      /* turn.c: what is durable is done */
void work_run_slice(server_t *s);    /* work.c: a slice of what large requests ask for */
int64_t work_due(const server_t *s); /* the tick of the next slice */
void work_stored(server_t *s);       /* what is done of it is durable */
void work_failed(server_t *s, const berth_error_t *why);
void work_clear(server_t *s);
void server_run_timers(server_t *s);                   /* stop.c: limits and graces */
int64_t server_next_turn(const server_t *s);           /* the tick of the next turn */
void run_arm_timer(server_t *s, struct run *run);      /* its timer, by where it is */
void run_stop(server_t *s, struct run *run);           /* ask it to end */
void run_stop_by_server(server_t *s, struct run *run); /* the same, and nobody asked for it */
/* Room for what the server itself may have to send to its runs, and so many signals more: to be made
 * before either.
 */
int run_reserve_signals(server_t *s, size_t more);
void run_signal(server_t *s, struct run *run, int signal, bool tree);

/* Runs of the engine's, their keys ascending, some of which may belong to no job (orphans.c). -1 with
 * ENOMEM.
 */
int orphans_kill(server_t *s, const uint64_t *keys, size_t n);
void orphan_ended(server_t *s, uint64_t key); /* of whatever run; called at its end */

/* Why a member that waits is not started, though it may be its turn, while nothing is; NULL. */
const char *server_pause_reason(const server_t *s, const struct member *m);

/* A run's key: above all that the engine remembers (pass.c). */
uint64_t server_next_key(server_t *s);

/* An event of the engine's (engine.c). */
void server_engine_event(server_t *s, const struct engine_event *e);

/* What is to wait again and could not for want of memory: try again, once it is time. */
void server_retry_ends(server_t *s);

/* There is no memory for a start that the core has decided: the member waits again, at once or later. */
void member_undo_start(server_t *s, struct job *job, uint32_t i);

/* Give a member its handle back, if it is one that the core could not be told of. */
void member_recover_handle(server_t *s, struct job *job, uint32_t i);

/* A run that the engine was not asked for, as it could not be stored: its member waits again, and says
 * why. Without effect where there is no memory.
 */
void run_undo_start(server_t *s, struct run *run, const char *why);

/* A member is to be started with the next turn. */
int start_enqueue(server_t *s, struct job *job, uint32_t member);

/* ---- Jobs and the core (admit.c) ---- */

/* Hand the first members of a new job to the core, at most so many and at least one, and take up what
 * that makes of it; hold: they wait for a release, whatever the job says. Returns how many, or -1 with a
 * text and nothing changed.
 */
int64_t admit_first(server_t *s, struct job *job, size_t most, bool hold, berth_error_t *err);

/* Keep what is needed to hand it the others, from `next` on: 0, or -1 with ENOMEM. And do so from now on,
 * in slices, if there are such.
 */
int admit_keep_rest(server_t *s, struct job *job, uint32_t next);
void admit_rest(server_t *s, struct job *job);

/* Members before this one have been handed to the core; of the others perhaps some. */
uint32_t admitted_members(const struct job *job);

/* A member that waits is needed now. Returns 0, also if the core has it, or -1. */
int admit_member(server_t *s, struct job *job, uint32_t i);

/* The place of a job among those of equal priority. */
uint64_t job_order(const struct job *job);

void job_withdraw(server_t *s, struct job *job); /* take a job out of the core */
void admit_stop(struct job *job);                /* it is no more */

/* Hand a start to the engine (start.c). -1 with a text: it can't be started. */
int run_start(server_t *s, struct run *run, berth_error_t *err);

/* Tell the core of jobs that have ended before and that job `id` waits for (load.c). *unknown is the
 * first of these that neither memory nor the store has, nor the list in which the job came; 0: there is
 * none.
 */
int dependency_restore_ended(server_t *s, const char *dependency, int64_t id, int64_t *unknown);

/* Leave out of a dependency the jobs that history has dropped. What they were waited for has come: else
 * this job would have ended when they did. 0, or -1 with errno.
 */
int dependency_remove_dropped(server_t *s, char *dependency);

#endif
