/* What the files of the server share: its state in memory, and the functions they call on each other.
 *
 * A job is one submission. Members that wait as their job does are only counted; others have records
 * (member.c). A job whose members have all ended is only in the store. Whatever has changed since the last
 * commit is marked unsaved, and a commit that fails keeps the marks, so the next one that succeeds makes
 * store and memory agree again.
 *
 * Unless it says otherwise, a function returns 0, or -1 with errno (ENOMEM) and, where it takes one, an
 * error text.
 */
#ifndef SERVER_SERVER_PRIV_H
#define SERVER_SERVER_PRIV_H

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
    RUN_ENDING, /* SIGTERM was sent; SIGKILL follows after the grace period */
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
        int64_t lacking; /* since when jobs lack nodes, us since 1970; not above 0: they don't */
        struct spares {
            int64_t number, n; /* of the last set of nodes that may come, and how many these are */
            int64_t node[PILOT_KINDS];
        } spares; /* pilots_auto.h */
    } pilots;     /* pilots.h */

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

/* ---- Clock, names, notices, events (server.c) ---- */

void server_update_clock(server_t *s);

/* The wall time of a tick, us since 1970; -1 for -1. */
int64_t server_wall_time(const server_t *s, int64_t ticks);

/* The same of a start that is estimated or promised; -1 also for one that is only there as what is lent is taken back for
 * ever: nobody counts on it.
 */
#define SERVER_FAR (INT64_C(3650) * 86400 * SERVER_SECOND)
int64_t server_start_time(const server_t *s, int64_t ticks);

/* A permanent copy of the name of a user or a queue. NULL with ENOMEM. */
const char *server_intern_name(server_t *s, const char *text);

/* Add a notice for the server's users. */
void server_notice(server_t *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Record an event. Takes ownership of data, also on failure; without memory the event is lost. */
void server_event(server_t *s, int64_t job, int64_t member, const char *kind, char *data);
void member_event(server_t *s, const struct job *job, uint32_t member, const char *kind,
                  char *data);

struct shared_text *shared_text_create(const char *text, size_t length);
void shared_text_release(struct shared_text *t);

/* ---- Jobs and members (job.c) ---- */

/* A job with its members, all pending and unknown to the core; not in the table yet. It takes the indices,
 * which are then empty; those of a plain job are 0. NULL with ENOMEM.
 */
struct job *job_create(server_t *s, int64_t id, struct idset *indices);
/* The job as it is stored, without environment and script. */
void job_to_store(const struct job *job, struct store_job *to);
void job_discard(server_t *s, struct job *job);
/* Insert the job into the table, by id. Returns 0, or -1 with ENOMEM; cannot fail after job_table_reserve. */
int job_insert(server_t *s, struct job *job);
/* Reserve room for more jobs, beyond those reserved for bulk submissions. 0, or -1 with ENOMEM. */
int job_table_reserve(server_t *s, size_t jobs);
/* Add or subtract a job's share of its user's limits. */
void job_charge(server_t *s, const struct job *job, bool counts);
void job_remove(server_t *s, struct job *job); /* removed from the table and freed */
struct job *job_lookup(const server_t *s, int64_t id);
/* The index of the first job in the table with at least this id. */
size_t job_index(const server_t *s, int64_t id);

/* Reserve room to mark a job and n members as unsaved; call it before making the change. */
int unsaved_reserve(server_t *s, size_t n);
void job_changed(server_t *s, struct job *job);
void member_changed(server_t *s, struct job *job, uint32_t member);

/* Change a member's state, and the counts that depend on it. It has to have a record. */
void member_set_state(server_t *s, struct job *job, uint32_t member, enum store_state state);

/* The part of a reason that says why the engine or the store refused a start; NULL for other reasons. */
const char *not_started_cause(const char *text);

/* End a member with a state and a reason (copied; NULL: none). It has a run afterwards unless memory is
 * short. It has to have a record.
 */
void member_end(server_t *s, struct job *job, uint32_t member, enum store_state state,
                const char *reason);
void text_assign(char **to, const char *text);

/* The core has rejected all members that wait in the entry (pass.c). */
void entry_reject(server_t *s, struct job *job, const char *reason);

/* The core has rejected it: it can never start (pass.c). Without memory for its record, that is done later.
 */
void member_reject(server_t *s, struct job *job, uint32_t member, const char *reason);

struct run *run_create(server_t *s, struct job *job, uint32_t member, uint64_t key);
void run_destroy(server_t *s, struct run *run);
struct run *run_lookup(const server_t *s, uint64_t key);

static inline bool member_is_live(const struct member *m)
{
    return m->state <= STORE_RUNNING;
}

/* ---- Members of a job (member.c) ---- */

#define PAGE_MEMBERS 256

/* What job_create and job_discard do for members. 0, or -1 with ENOMEM. */
int records_create(server_t *s, struct job *job);
void records_destroy(server_t *s, struct job *job);

uint32_t member_count(const struct job *job);
bool member_exists(const struct job *job, int64_t i);

/* The first member from an index on, or job->members; the last one up to an index, or -1. O(log ranges). */
uint32_t member_next(const struct job *job, uint32_t from);
int64_t member_previous(const struct job *job, int64_t from);

/* The first member from an index on that has a record, or job->members; the last one up to an index, or -1. */
uint32_t member_next_own(const struct job *job, uint32_t from);
int64_t member_previous_own(const struct job *job, int64_t from);

/* The record of a member; NULL: it has none. O(1). */
struct member *member_record(const struct job *job, uint32_t i);

/* The same for reading; without a record it waits. */
const struct member *member_look(const struct job *job, uint32_t i);

/* The record, which is made unless there is one. NULL with ENOMEM. */
struct member *member_make(server_t *s, struct job *job, uint32_t i);

/* Its handle in the core, maybe that of its job's entry; -1: unknown there. */
sched_job_t member_handle(const struct job *job, uint32_t i);

/* Whether it waits in its job's entry. */
bool member_is_in_entry(const struct job *job, uint32_t i);

/* A member that waits in the entry gets a record and a handle of its own. 0, also if it has one, or -1 with
 * ENOMEM.
 */
int member_split(server_t *s, struct job *job, uint32_t i);

/* A member, which has a record, waits in the core under a handle of its own by now. */
void member_parted(server_t *s, struct job *job, uint32_t i, sched_job_t handle);

/* A member that was to preempt others and then could not has left the entry in the core, and nobody was told:
 * find such. 0, or -1 with ENOMEM.
 */
int entry_find_parts(server_t *s, struct job *job);

/* The entry's reservation or claim is this member's (-1: there is none), and no longer the one's before. */
void entry_promised(server_t *s, struct job *job, int64_t i);

/* Something has happened to the entry or to members of it: have that in the right record. */
void entry_follow(server_t *s, struct job *job);

/* For tests. */
bool records_check(const struct job *job);

static inline struct member *ref_record(const struct member_ref *ref)
{
    return member_record(ref->job, ref->member);
}

/* ---- Members that end together (mass.c) ---- */

/* What is true of a member that has ended so, and when; NULL or -1: it has not. O(spans). */
const struct member *mass_member(const struct job *job, uint32_t i);
int64_t mass_end_wall(const struct job *job, uint32_t i);

/* How many members there are from one index to another. */
uint32_t member_count_between(const struct job *job, uint32_t first, uint32_t last);

/* Prepare the end of all members that have no record, which all wait in the entry: NULL with ENOMEM. Then carry
 * it out, with an event of the job that names them, and a text. O(records).
 */
struct mass *mass_prepare(server_t *s, const struct job *job, enum store_state state,
                          const char *reason);
void mass_end(server_t *s, struct job *job, struct mass *mass, const char *kind, const char *key,
              const char *text);

/* A range of the store. 0, or -1 with ENOMEM. */
int mass_load(server_t *s, struct job *job, const struct store_member *from);

/* Write what is unsaved of a job; it is saved; free all. */
int masses_write(server_t *s, struct job *job, berth_error_t *err);
void masses_saved(struct job *job);
void masses_clear(struct job *job);
bool masses_check(const struct job *job);

/* ---- What was changed of members by themselves (own.c) ---- */

/* What a member goes by: its own, or else its job's. */
bool member_held(const struct job *job, const struct member *m);
int64_t member_priority(const struct job *job, const struct member *m);
int64_t member_limit(const struct job *job, const struct member *m);
int64_t member_estimate(const struct job *job, const struct member *m);

/* How many of a job's members wait and are held. */
uint32_t job_held(const struct job *job);

/* What a member has of its own; and set that. 0, or -1 with ENOMEM, never where it has some already. */
struct own own_of(const struct member *m);
int own_set(server_t *s, struct job *job, struct member *m, const struct own *to);

/* Change a member's state, and the counts of its job that go by what it has of its own. */
void own_state(struct job *job, struct member *m, enum store_state state);

/* Members that run or are about to. */
static inline uint32_t job_running(const struct job *job)
{
    return job->counts[STORE_STARTING] + job->counts[STORE_RUNNING];
}

/* ---- Users (user.c) ---- */

struct user *user_find(server_t *s, uint32_t uid); /* NULL with ENOENT or ENOMEM */
bool user_is_admin(server_t *s, uint32_t uid);
bool user_may_request(server_t *s, uint32_t uid); /* counts a request against the rate limit */
void user_charge_job(struct user *u, const struct job *job); /* add the job to the user's counts */
/* Adjust a user's counts: live members, bytes of requests, and estimated bytes not stored yet. */
void user_charge(server_t *s, uint32_t uid, int64_t live, int64_t bytes, int64_t unstored);
/* Make room in the store for more bytes and members of a user by dropping the user's oldest history, at
 * most *slices slices of it, which are subtracted. 0, or -1 with a text and EDQUOT (no history is left),
 * EAGAIN (more slices are needed) or an error of the store.
 */
int user_make_room(server_t *s, struct user *u, int64_t bytes, int64_t members, int *slices,
                   berth_error_t *err);
/* The store has changed: read the sizes again when needed. */
void users_forget_stored(server_t *s);
/* Drop a slice of the history of users who exceed their share. True: more remains to be dropped. */
bool users_trim(server_t *s);
bool users_check(const server_t *s);
void users_clear(server_t *s);

/* ---- The machine and its queues (machine.c) ---- */

/* Read the configuration; create the machine and the core. */
int machine_open(server_t *s, berth_error_t *err);
int machine_reload(server_t *s, berth_error_t *err);
/* Where the wall clock was set, move all blocks with it. 0, or -1 with ENOMEM: call it again. */
int machine_follow_clock(server_t *s);
const struct sched_queue_config *machine_queue(const server_t *s, const char *name);

/* The limit on processes and threads of a job with so many cores; 0: none. */
int64_t machine_processes(const server_t *s, int64_t cores);

/* ---- Classes of queues (classes.c) ---- */

/* The settings of a queue's classes, as set or else as configured, which the caller destroys. NULL with errno
 * (ENOENT: it has none) and a text.
 */
classes_t *settings_classes(const server_t *s, const char *queue, berth_error_t *err);

/* Replace members of them, as classes_save has them; and go back to what is configured. The next pass goes by that.
 * 0, or -1 with errno and a text, and nothing is changed.
 */
int settings_classes_change(server_t *s, const char *queue, json_t *changes, berth_error_t *err);
int settings_classes_remove(server_t *s, const char *queue, berth_error_t *err);

/* A configuration with the classes that were set, which needs to hold only while the core copies it. */
struct class_overlay {
    struct sched_config sched;
    struct sched_queue_config *queues;
    classes_t **settings; /* n */
    size_t n;
    struct class_lists {
        struct sched_class classes[CLASSES_MAX];
        struct sched_class_pattern patterns[CLASSES_REQUESTORS];
    } * memory;
};
int class_overlay_make(server_t *s, const struct sched_config *config, struct class_overlay *o,
                       berth_error_t *err);
void class_overlay_clear(struct class_overlay *o);

/* As sched_configure, with them. */
int classes_configure(server_t *s, const struct sched_config *config, berth_error_t *err);

/* Administrators' changes, kept across restarts. */
int settings_queue(server_t *s, const char *queue, bool enabled, bool started);
int settings_resources(server_t *s, const char *resources, const char *status, const char *reason);
void settings_apply(server_t *s, sched_t *sched);
void settings_of_queue(const server_t *s, const char *queue, bool *enabled, bool *started);

/* ---- Blocks that administrators add (blocks.c) ---- */

#define BLOCK_OF_ALL "all" /* as its resources: the whole machine */

/* Add a block to the settings and set it. It is an object with name, resources, start (us since 1970),
 * duration and every (us; 0: once) and lists of texts users, queues, jobs; a reference is kept. Returns 0, or
 * -1 with a text and nothing changed: EEXIST, there is one of that name; as sched_block.
 */
int settings_block_add(server_t *s, json_t *block, berth_error_t *err);

/* ENOENT: there is none; EEXIST: it is one of the configuration. */
int settings_block_remove(server_t *s, const char *name, berth_error_t *err);

/* Set those of the settings, after a start; after a reload, those that could not be set before, or all. */
void settings_apply_blocks(server_t *s, sched_t *sched);
void settings_retry_blocks(server_t *s, bool all);

/* Whether a configuration has none of their names: 0, or -1 with EEXIST and a text. */
int settings_check_blocks(const server_t *s, const struct config *config, berth_error_t *err);

/* What to add to the wall time of a block for its ticks, us: by the clocks as they are; as it was when the
 * server was closed, if that is about the same; and to go by that from now on.
 */
int64_t blocks_offset(const server_t *s);
void blocks_load_offset(server_t *s);
void blocks_set_offset(server_t *s, int64_t offset);

/* Add that to the starts of a configuration that was just read. */
void blocks_shift(struct config *config, int64_t by);

/* ---- Nodes of pilots (pilots.h has what requests need) ---- */

/* Count again what the machine has. -1 with ENOMEM and a text. */
int machine_measure(server_t *s, berth_error_t *err);

/* Put the nodes of the settings back into the machine, before the jobs; tell the engine which of their runs it
 * may hear of, once the jobs are there; and let nodes come, go up and down and leave as the engine has them.
 */
void pilots_attach(server_t *s);
int pilots_expect(server_t *s, berth_error_t *err);
void pilots_follow(server_t *s);

/* Whether a job that runs holds something of a pilot's node (pilots_expect.c). */
bool pilots_have(server_t *s, sched_job_t handle);

/* ---- Parts of a turn ---- */

int server_load(server_t *s, berth_error_t *err); /* load.c */

/* Compare the stored runs with those of the engine, once it can list them (else do nothing): start those
 * that were about to start, and kill those that belong to no job. 0, or -1 with a text, and it must be
 * called again.
 */
int runs_reconcile(server_t *s, berth_error_t *err);

int server_pass(server_t *s, berth_error_t *err);  /* pass.c: a slice of the scheduling pass */
int server_write(server_t *s, berth_error_t *err); /* write.c: commit all that is unsaved */
void server_mark_saved(server_t *s);               /* it is durable */
void server_undo_submissions(server_t *s);         /* undo submissions that are not stored */
/* turn.c: start, signal and acknowledge */
void server_act(server_t *s);
void work_run_slice(server_t *s);    /* work.c: a slice of large requests */
int64_t work_due(const server_t *s); /* the tick of the next slice */
void work_stored(server_t *s);       /* finished requests are durable: answer them */
void work_failed(server_t *s, const berth_error_t *why);
void work_clear(server_t *s);
void server_run_timers(server_t *s);                   /* stop.c: limits and grace periods */
int64_t server_next_turn(const server_t *s);           /* the tick of the next turn */
void run_arm_timer(server_t *s, struct run *run);      /* set the timer for its next event */
void run_stop(server_t *s, struct run *run);           /* send SIGTERM */
void run_stop_by_server(server_t *s, struct run *run); /* the same, on the server's own account */
/* Reserve room for `more` signals and for all that the server itself may send to its runs. */
int run_reserve_signals(server_t *s, size_t more);
/* When a run that is being stopped is killed, now at the earliest, in ticks; -1: it is not being stopped. */
int64_t run_killed_at(const server_t *s, const struct run *run);
void run_signal(server_t *s, struct run *run, int signal, bool tree);

/* Kill the engine's runs (keys ascending) that belong to no job (orphans.c). -1 with ENOMEM. */
int orphans_kill(server_t *s, const uint64_t *keys, size_t n);
void orphan_ended(server_t *s, uint64_t key); /* call it for each run that ends */

/* Why no member is started at present, or this one of a job is not, whose turn it may be; NULL: nothing is in its way. */
const char *server_pause_reason(const server_t *s, const struct job *job, const struct member *m);

/* A new run's key, above all that the engine remembers (pass.c). */
uint64_t server_next_key(server_t *s);

/* Note in an event and in its reason that a member is stopped for another job. And whether a text is such a reason, which
 * is read into the memory of another one (preempted.c).
 */
void preempted_note(server_t *s, struct job *job, uint32_t i, const struct sched_reason *why);
bool preempted_why(const char *reason, struct sched_reason *why, char text[SCHED_REASON_TEXT]);

/* The handle of a member that has not ended, but for this one; -1: there is none (gang.c). */
sched_job_t gang_handle(const struct job *job, uint32_t but);

/* A member could not be started: those of its gang that started with it, and look for it in vain, are stopped and wait again.
 * Returns whether there are any; and whether a member's reason is that (gang.c).
 */
bool gang_start_again(server_t *s, struct job *job, uint32_t member);
bool gang_stops_for(const char *reason);

/* A member of a gang has ended badly, which the core knows: whether the gang is over by that (gang.c). */
void gang_note_end(server_t *s, struct job *job, uint32_t member);

/* What a record for the core says of a member's gang, with room for two texts (gang.c). */
struct gang_texts {
    char over[SCHED_REASON_TEXT], waits[SCHED_REASON_TEXT];
};
struct sched_record;
/* Whether a gang of several roles is up, each of which grows by itself: every member that waits does so for itself. */
bool gang_grows_apart(const struct job *job);
void gang_record(struct sched_record *r, const struct job *job, bool is_promised,
                 struct gang_texts *texts);

/* Handle an event of the engine (engine.c). */
void server_engine_event(server_t *s, const struct engine_event *e);

/* Retry deferred ends and undone starts, once that is due. */
void server_retry_ends(server_t *s);

/* Memory is too short for a start that the core has decided: put the member back, now or later. */
void member_undo_start(server_t *s, struct job *job, uint32_t i);

/* Memory is too short for the record of a member of which the core has decided something: a start is undone,
 * now or later, and a rejection is done later.
 */
void member_fall_behind(server_t *s, struct job *job, sched_job_t handle);

/* Give an unstarted member its handle back. */
void member_recover_handle(server_t *s, struct job *job, uint32_t i);

/* Requeue the member of a run that could not be stored, and so never reached the engine, with the reason.
 * Does nothing if memory is short.
 */
void run_undo_start(server_t *s, struct run *run, const char *why);

/* Have the next turn start a member. */
int start_enqueue(server_t *s, struct job *job, uint32_t member);

/* Note what a run holds by what the core knows of its member. */
void run_measure(server_t *s, struct run *run);

/* ---- Admitting jobs to the core (admit.c) ---- */

/* Admit a new job, and take the queue and duration that the core gives it. hold: it stays held until
 * released, whatever the job says. Returns 0, or -1 with a text and nothing changed.
 */
int admit_job(server_t *s, struct job *job, bool hold, berth_error_t *err);

/* The core has taken it under a handle: that of its only member, or of an array's entry. */
void job_entered(struct job *job, sched_job_t handle);

/* The job's rank among jobs of equal priority. */
uint64_t job_order(const struct job *job);

void job_withdraw(server_t *s, struct job *job); /* remove a job from the core */

/* Pass a start to the engine (start.c). -1 with a text: it cannot be started. */
int run_start(server_t *s, struct run *run, berth_error_t *err);

/* Restore to the core the ended jobs that job `id` depends on (load_outcomes.c). *unknown is the first dependency
 * found neither in memory, nor in the store, nor in the same bulk submission; 0: none.
 */
int dependency_restore_ended(server_t *s, const char *dependency, int64_t id, int64_t *unknown);

/* Remove from a dependency the jobs that history has dropped: they have ended as required, or this job
 * would have ended with them. 0, or -1 with errno.
 */
int dependency_remove_dropped(server_t *s, char *dependency);

#endif
