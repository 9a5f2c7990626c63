/* The state of the server in memory.
 *
 * A job is one submission. Members that wait as their job does are only counted; others have records
 * (member.c). A job whose members have all ended is only in the store. Whatever has changed since the last
 * commit is marked unsaved, and a commit that fails keeps the marks, so the next one that succeeds makes
 * store and memory agree again.
 *
 * Unless it says otherwise, a function of the server's core returns 0, or -1 with errno (ENOMEM) and, where it
 * takes one, an error text.
 */
#ifndef SERVER_CORE_STATE_H
#define SERVER_CORE_STATE_H

#include <jansson.h>
#include <signal.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/idset.h"
#include "base/intern.h"
#include "berth/classes.h"
#include "berth/match.h"
#include "berth/sched_config.h"
#include "config/config.h"
#include "pilot/plan.h"
#include "server/core/gpus.h"
#include "server/server.h"

#define SERVER_SECOND      INT64_C(1000000) /* ticks per second */
#define SERVER_NOTICES_MAX 100

/* The clock is stored at least this often. */
#define SERVER_CLOCK_EVERY (3600 * SERVER_SECOND)

/* How far a run is on its way to its end. */
enum run_stage {
    RUN_NORMAL,
    RUN_WARNED, /* the warning before its limit has been sent */
    RUN_ENDING, /* it was told to end; SIGKILL follows after the grace period */
    RUN_KILLED
};

/* What a run really holds: of a node that it has to itself, all. -1: unknown. */
struct amounts {
    int64_t nodes, cores, gpus;
};

/* A start of a member, kept until its end is in the store. */
struct run {
    struct job *job;
    uint32_t member;
    uint32_t slot;  /* index in the table of runs */
    uint64_t key;   /* 0: it never ran */
    bool in_engine; /* it was handed to the engine */
    enum run_stage stage;
    int64_t start_wall, end_wall; /* us since 1970; -1: not yet */
    /* When the server stopped it of its own accord: us since 1970, ticks; -1: it did not. */
    int64_t stop_wall, stop_at;
    int exit_status, exit_signal;
    int64_t peak_memory, cpu_time; /* -1: unknown */
    int64_t warn_before;           /* ticks before the limit; 0: no warning */
    int warn_signal;
    char *resources; /* readable form; NULL: none */
    char *outside;   /* as stored, what it holds that the core knows nothing of; NULL */
    struct amounts holds;
    /* Its end, where memory was too short to requeue its member; ENGINE_STARTED: no end is deferred. */
    struct engine_event deferred_end;
};

/* What was changed of a member by itself (own.c): whether it is held, its priority, how long it may take and is
 * expected to.
 */
struct own {
    bool has_hold, held, has_priority, has_times;
    int64_t priority, limit, estimate;
};

/* The record of a member: it has started, ended, or has a reservation; or it was changed by itself, memory was
 * short, or it is the only member of its job.
 */
struct member {
    sched_job_t handle; /* -1: unknown to the core; the job's entry: it waits there */
    int64_t at;         /* its reserved or estimated start; -1: unknown */
    struct run *run;    /* NULL */
    char *reason;       /* why it failed or was cancelled, or could not be started; NULL */
    struct own *own;    /* what it does not go by its job in; NULL: nothing */
    uint32_t attempts, replaced;
    uint8_t state;   /* enum store_state */
    uint8_t retries; /* how often it was tried again (retry.h) */
    int8_t how;      /* how the run came to start; -1: unknown */
    bool is_own;     /* else this place in a page is not in use */
    bool expected;   /* reserved: the start is expected, not promised */
    bool reserved, cancelled, timed_out, preempted, requeue, unsaved;
    bool claims;    /* it waits, and has a claim in the core, as last told */
    bool preempts;  /* it waits, and others were told to stop for it */
    bool dismissed; /* it is stopped as its gang has failed: `reason` */
    /* Pending without a handle: the core still believes that it runs, as memory was too short to undo its
     * start.
     */
    bool unstarted;
};

/* A text shared by several jobs. */
struct shared_text {
    size_t refs, length;
    char text[];
};

/* Of a job that is a gang: so many of its members start together, and what becomes of it if one fails. */
struct job_gang {
    uint32_t min; /* 0: it is none */
    enum sched_gang_failure failure;
    uint32_t replaced; /* how often members have been */
    /* It is over, by the end of this member, when so many were left. */
    bool is_over;
    uint32_t by, left;
};

struct retry;
struct job_roles;
struct notify;

struct job {
    int64_t id;
    uint32_t uid, gid;
    const char *user, *queue; /* in server.names */
    char *name;
    char *row;     /* the constant part of its row in listings: "\"command\":..." */
    char *request; /* this and the next two: until it is stored */
    struct shared_text *environment, *script; /* NULL */
    uint32_t members;                         /* one above the largest index */
    uint32_t live;                            /* members that have not ended */
    uint32_t counts[STORE_TIMEOUT + 1];       /* members by state */
    struct idset indices;                     /* of the members; empty: 0 to members - 1 */
    struct job_gang gang;
    struct job_roles *roles; /* of a gang of several (roles.h); NULL */
    /* size of its request, counted while it is in the table */
    size_t bytes;
    int64_t weight;          /* estimated size in the store, counted until it is stored */
    int64_t limit, estimate; /* ticks, or SCHED_UNLIMITED; 0: not given, until it is admitted */
    int64_t priority, submitted, submitted_wall;
    int64_t nodes, cores, gpus;
    struct retry *retry;   /* NULL: its members are not tried again */
    struct notify *notify; /* who is told of its begin or end; NULL */
    /* How often in a row the engine has declined its members, and until when these wait at least (retry.h). */
    struct {
        int64_t until;
        uint8_t n;
    } declined;
    int64_t max_fails;   /* where more members fail, the rest is cancelled; -1: it is not */
    bool is_stopping;    /* that is going on */
    bool is_test;        /* it is to be looked at, and withdrawn */
    bool is_constrained; /* it asks for resources by their names or properties */
    int64_t free_tasks;  /* tasks that may be on any nodes; 0: it says its nodes */
    struct {
        uint64_t n;
        int64_t us;
    } ran; /* its members that are done since the server was opened, and how long they took */
    bool held, requeue;
    uint32_t own_waiting[2]; /* members that wait, and by themselves are let go on, or held */
    bool is_new;             /* not in the store yet */
    bool unsaved;            /* the job itself has changed */
    bool is_over;            /* its last end is stored: it is in a list of jobs to remove */
    struct job *next_over;
    /* An array's entry in the core, under which those of its members wait that have no handle of their own;
     * -1: there is none.
     */
    sched_job_t entry;
    int64_t promised; /* the member in whose record the entry's reservation or claim is; -1: none */
    /* The core has decided about a member that waits, and memory was too short for its record. */
    bool is_behind;
    struct mass *masses;  /* NULL: none */
    struct member **page; /* records, for PAGE_MEMBERS members each; NULL: none of them has one */
    struct member *only_page;
};

/* Members that have ended together and have no records (mass.c): all that exist within some spans. */
struct mass {
    struct mass *next;
    struct member as; /* each of them */
    int64_t wall;     /* of their end, us since 1970 */
    struct idset spans;
    bool unsaved;
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
    int64_t known;    /* when it was last looked up, ticks */
    int64_t live;     /* pending and running members */
    int64_t bytes;    /* size of the requests of these jobs */
    int64_t unstored; /* their estimated size in the store, until they are stored */
    int64_t stored;   /* bytes stored for this user; -1: not read yet */
    bool trimmed;     /* over the share: history is being dropped */
    int64_t tokens;   /* of the request rate limit, in millionths, as of `counted` */
    int64_t counted;
    bool is_there;
    bool has_folder; /* for job output, as of the last lookup */
};

struct server_stream;

/* An entry of a table sorted by number. Removed entries stay as gaps until there are many. */
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

/* Time as of the last update, in ticks, which also pass while the machine is off: now = steady + offset. */
struct server_clock {
    int64_t now, wall, offset;
    int64_t started; /* wall time */
    int64_t stored;  /* `now` in the last commit */
    bool other_boot; /* the store was written before the last boot */
};

/* The size of the machine, for requests for part of it. */
struct machine_size {
    int64_t memory_unit;     /* bytes in a unit of memory; 0: the machine lists none */
    int64_t gpu_memory_unit; /* likewise of the memory of GPUs */
    bool has_gpus;
    int64_t cores, node_cores; /* in all, and in the largest node */
};

/* Pending and running jobs, by id (job.c). */
struct job_table {
    struct entry *jobs;
    size_t n, cap, n_gone;
    int64_t next; /* the id of the next job */
    size_t counts[STORE_TIMEOUT + 1],
        n_held;       /* members by state; n_held: pending ones that are held */
    size_t kept_jobs; /* reserved for bulk submissions in progress */
    size_t records;   /* room for records of members, of all jobs */
};

/* Runs that have not ended, or whose end is not stored yet (job.c, stop.c). */
struct run_table {
    struct run **v; /* by slot */
    size_t n, cap;
    size_t free; /* no slot below this one is free */
    struct entry *by_key;
    size_t n_keys, cap_keys, n_keys_gone;
    uint64_t next_key, stored_key; /* the key of the next run, and its stored value */
    struct heap timers;            /* slots, by the time of their next event */
    size_t n_deferred;             /* runs with a deferred end */
    size_t n_unstarted;            /* pending members that the core believes to run */
    int64_t retry_at;              /* when both are retried, ticks */
};

/* A signal to a run, sent once the change that caused it is durable. */
struct due_signal {
    uint64_t key;
    int signal;
    bool tree;
};

/* What the engine has reported, and what it has yet to be sent (engine.c, orphans.c, turn.c). */
struct engine_state {
    bool is_known; /* it has listed its runs; until then nothing is started or signalled */
    uint64_t number, acknowledged; /* of its events: the last received, the last acknowledged */
    /* keys from here on were assigned since this server was opened */
    uint64_t first_key;
    uint64_t heard_key,
        stored_heard;  /* the highest key that it has reported, and its stored value */
    uint64_t *orphans; /* keys of runs that belong to no job, ascending */
    size_t n_orphans;
    int64_t hold_until; /* no starts before this tick */
    struct member_ref *starts;
    size_t n_starts, cap_starts;
    struct due_signal *signals;
    size_t n_signals, cap_signals;
};

/* The scheduling pass, which may take several turns (pass.c). */
struct current_pass {
    int64_t at;       /* its time, or that of the previous one, ticks */
    bool is_on;       /* it continues with the next turn */
    bool has_decided; /* it has started or reserved something since it last began */
    size_t credit;    /* how many more such decisions count as progress */
    size_t n_vain;    /* how often in a row it restarted without progress */
    uint64_t ended;   /* passes since the server was opened */
    int64_t spent;    /* what they took, us */
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
    bool shares; /* all of what they have used (shares_kept.h) */
    struct strbuf uneven,
        stored_uneven;  /* since when classes are uneven: as of this commit, and as stored */
    bool urgent;        /* this turn must commit */
    int64_t commit_at;  /* else a commit is due by this tick; INT64_MAX: nothing has changed */
    bool failing;       /* the last commit failed */
    uint64_t n_commits; /* so far */
};

/* Users with jobs or requests, and their limits (user.c). */
struct user_table {
    struct user **v;
    size_t n, cap;
};

/* Large requests in progress, by user (work.c). */
struct work_queues {
    struct work_queue *queues;
    size_t n, cap;
    size_t next; /* the queue whose turn it is */
    bool root_had_turn;
    size_t steps;             /* left to requests until the next turn */
    size_t kept;              /* background work that is created but not started */
    int64_t at;               /* paused until this tick, as memory ran out */
    struct server_work *done; /* answered after the next commit */
};

/* Who is there of the gang whose members were started last, as of a commit (gang_env.c). */
struct gang_seen {
    int64_t job;
    uint64_t commit;
    char *hosts, *address;
    uint32_t of_role[SCHED_ROLES_MAX];
    char *roles; /* how many of each: "server:1,worker:6" */
};

struct server {
    struct server_platform platform;
    struct server_options options;
    char *directory, *config_path;
    struct config *config;
    match_t *machine;
    struct machine_size size;
    int64_t memory_unit; /* bytes, of the configured machine; 0: it lists no memory */
    struct gpu_names gpu_names;
    json_t *settings; /* administrators' changes to queues and resources, blocks they have added */
    int64_t block_offset; /* ticks of a block's start - its wall time, us (blocks.c) */
    sched_t *sched;
    store_t *store;
    int64_t retain_at; /* when to look for old jobs in the store, ticks */
    struct server_clock clock;

    struct job_table table;
    struct run_table runs;
    struct engine_state engine;
    struct current_pass pass;
    struct unsaved unsaved;
    struct user_table users;
    struct work_queues work;

    struct {
        uint64_t change;        /* of the engine's nodes, as of the last look */
        bool leaving;           /* some have left and are still in the machine */
        struct auto_kept *kept; /* what becomes of jobs, as of the last look */
        size_t n_kept;
        int64_t lacking;    /* since when jobs lack nodes, us since 1970; not above 0: they don't */
        struct spares {     /* nodes that may come, and are alike */
            int64_t pilot;  /* that brings them; 0: the rule may ask for them */
            int64_t number; /* that their names have */
            int64_t n, node[PILOT_KINDS];
        } * spares; /* pilots_auto.h */
        size_t n_spares;
        int64_t made_spares; /* the highest number ever used */
    } pilots;                /* pilots.h */

    struct bulk *bulks; /* bulk submissions in progress */
    char *bulks_text;   /* bulk submissions as stored; set while the store is loaded */

    struct gang_seen gang;
    struct intern names;     /* of users and queues */
    struct intern ended_ids; /* ids of ended jobs that were restored to the core */
    struct strbuf text;
    char *notices; /* JSON strings separated by commas */
    size_t n_notices;
    bool stopping;
};

#endif
