/* The store: jobs, their history, events and values, in an SQLite file in WAL mode that one process uses at
 * a time.
 *
 * Changes are collected and checked in memory and written together by store_commit, in one transaction;
 * before it has returned 0, nobody is told that anything was done. If it fails (disk full), the file is
 * unchanged and the batch stays: call store_commit again, with or without more changes, or give the batch
 * up with store_rollback. So a failing disk shows only in store_commit and in reads. One thing can't be
 * excluded: if the machine goes down after a failed commit and before a successful one, the failed batch
 * may be in the file afterwards, as a whole. Reads return what is committed, never the batch.
 *
 * Times called `wall` are us since 1970; others are ticks (us) of the scheduler's clock, which never jumps.
 * The bytes stored for each user are counted row by row: STORE_ROW bytes for each job, text, ended member
 * and event, and the length of its text. Texts are shared by the jobs of one user, who is charged once, and
 * never between users. Live members are not counted.
 *
 * Text arguments are copied; returned texts are valid until the store's next call. Callbacks must not call
 * the store.
 *
 * A commit checks that the file and its log are still in place: ESTALE if either was deleted or replaced.
 *
 * Calls return 0, or -1 with errno and a text that names the file: ENOSPC (no room on the disk), EIO,
 * EINVAL (a damaged or a newer file, with what to do about it; or an argument out of range), EMSGSIZE (a
 * text beyond STORE_TEXT_MAX), ENOMEM. Not thread-safe.
 */
#ifndef SERVER_STORE_H
#define SERVER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

typedef struct store store_t;

#define STORE_TEXT_MAX ((size_t)64 << 20) /* bytes of one text */
#define STORE_HOW_MAX  15
#define STORE_ROW      100 /* approximate bytes of a row besides its text, indices included */

enum store_state {
    STORE_PENDING,
    STORE_STARTING, /* its run is starting */
    STORE_RUNNING,
    STORE_DONE, /* from here on: ended */
    STORE_FAILED,
    STORE_CANCELLED,
    STORE_TIMEOUT
};

/* A submission: what its members have in common. */
struct store_job {
    int64_t id; /* decimal from 1, ascending */
    uint32_t uid, gid;
    const char *user;        /* the name */
    const char *name;        /* of the job */
    const char *queue;       /* changes */
    const char *request;     /* JSON: the request without environment and script */
    const char *environment; /* JSON array, stored once for equal ones; NULL: none */
    const char *script;      /* any bytes, stored once for equal ones; NULL: none */
    size_t script_length;
    uint32_t members;    /* one above their largest index */
    uint32_t count;      /* how many there are */
    const char *indices; /* which ones, with steps, as in base/idset.h; NULL: all below `members` */
    int64_t priority;    /* changes */
    bool held;           /* changes */
    int64_t limit;       /* ticks that it may take; INT64_MAX: as many as it likes; changes */
    int64_t estimate;    /* ticks that it is expected to; INT64_MAX: nobody knows; changes */
    int64_t submitted;   /* ticks */
    int64_t submitted_wall;
    int64_t nodes, cores, gpus; /* requested for a member; for listings */
};

/* A member of a job. Before its first change it is pending and not stored. */
struct store_member {
    int64_t job;
    uint32_t member;
    /* Above `member`: this is a range, all of the job's members from `member` to this one, which have ended
     * together and were not stored before; `count` is how many these are, to store_set_member. One row says
     * so of all of them.
     */
    uint32_t last, count;
    enum store_state state;
    bool cancelled; /* cancellation was requested; it may still run */
    bool timed_out; /* it was stopped at its time limit */
    bool preempted; /* it is being stopped, and requeued if `requeue` */
    bool requeue;
    bool stopping;       /* the scheduler had it stopped for another (sched_record), */
    int64_t stopped_for; /* this job, which waits for that, 0: nobody does; */
    uint32_t stopped_for_member;
    const char *
        awaited_also; /* and the others that do, `JOB.MEMBER` with a space before each; NULL: none */
    bool preempts;    /* it waits for others that are stopped for it, and has `resources` by then */
    bool expected;    /* it waits, and its start is expected, not promised, */
    bool waits;       /* and waits for limits */
    bool displaced;   /* it waits, and was promised a start that the machine took away, */
    int64_t promised;  /* at this time: ticks, else 0 (sched_record) */
    bool claims;       /* it waits, starving, and claims `resources` from `at` on (sched_record) */
    bool apart;        /* it waits by itself, not with the others of its array */
    int64_t since;     /* it waits, since then, ticks; 0: since it was submitted */
    uint32_t replaced; /* of a gang: how often it has failed and waited again */
    /* Its gang is over by its end, when so many were left of it (of one that fails with any member: any number). */
    bool broke;
    uint32_t left;
    /* What it does not go by its job in: whether it is held, its priority, and limit and estimate. */
    bool own_hold, held, own_priority, own_times;
    int64_t priority, limit, estimate;
    uint64_t key;      /* key of its run; 0: none */
    uint32_t attempts; /* starts so far */
    uint32_t retries;  /* of these, after a failure */
    int64_t
        begin; /* ticks: until when one waits for the next of these, or a plain job was put off; else 0 */
    int how; /* how its start came about, 0 to STORE_HOW_MAX; -1: not started, or unknown */
    int64_t at, until; /* ticks: of a running member, or of a reservation; else -1 */
    const char
        *resources; /* what it holds or has reserved, as JGF from sched_record; NULL: nothing */
    /* the same in readable form, "node0/core[0-3]", kept in the history; NULL */
    const char *held_resources;
    int64_t nodes, cores, gpus;   /* and how much that is; -1: unknown */
    const char *reason;           /* why it failed or was cancelled; NULL */
    int64_t start_wall, end_wall; /* -1: not yet */
    int exit_status, exit_signal;
    int64_t peak_memory, cpu_time; /* bytes, us; -1: unknown */
};

/* An event: of a member, of a job (member -1), of the server (job 0). */
struct store_event {
    int64_t number; /* ascending from 1; assigned by the store */
    int64_t wall;
    int64_t job;
    int64_t member;
    const char *kind; /* "submitted", "reserved", "started", ... */
    const char *data; /* a JSON object, or NULL */
};

/* Open the file; create it if need be, readable by its owner only; migrate an older one. vfs: of SQLite;
 * NULL: the system's. EBUSY: another process has it open. O(1); after a crash O(log not yet merged into the
 * file).
 */
store_t *store_open(const char *path, const char *vfs, berth_error_t *err);
void store_close(store_t *s); /* uncommitted changes are lost; NULL is fine */

int store_commit(store_t *s, berth_error_t *err); /* O(1) without disk access if nothing changed */
void store_rollback(store_t *s);                  /* drop the batch; its numbers are used again */
bool store_is_changed(const store_t *s);

/* Small values by name, such as "clock" or "next-key". *value NULL: there is none. Names that begin with
 * "store." are reserved for the store.
 */
int store_get(store_t *s, const char *name, const char **value, berth_error_t *err);
int store_put(store_t *s, const char *name, const char *value, berth_error_t *err);

/* Drop all values whose names begin with a prefix, which is not empty; and visit them, as committed, in the order of
 * their names. A callback that returns nonzero ends it with -1 and the callback's errno.
 */
int store_drop_values(store_t *s, const char *prefix, berth_error_t *err);
int store_values(store_t *s, const char *prefix,
                 int (*visit)(void *context, const char *name, const char *value), void *context,
                 berth_error_t *err);

int store_add_job(store_t *s, const struct store_job *job,
                  berth_error_t *err); /* EINVAL: its id is neither above all others nor reserved */

/* Reserve ids for jobs that are added later, in any order, while higher ones are added. store_read_job does
 * not find jobs with reserved ids. 0, or -1 with ENOMEM.
 */
int store_reserve_ids(store_t *s, int64_t first, int64_t last);
void store_release_ids(store_t *s, int64_t first, int64_t last);

/* Delete a range of jobs, live ones too, with all that belongs to them, and release the ids reserved there.
 * Like store_retain, a transaction of its own that stops after about max rows: *dropped < max means that
 * none are left.
 */
int store_drop_jobs(store_t *s, int64_t first, int64_t last, int64_t max, int64_t *dropped,
                    berth_error_t *err);

/* Change a job's queue, priority, held, limit and estimate; other fields but the id are ignored. ENOENT: no such
 * id was assigned yet. Changes of deleted jobs are ignored.
 */
int store_set_job(store_t *s, const struct store_job *job, berth_error_t *err);

/* Replace what was submitted of a job, but for what changes (store_set_job), its members, environment and script. ENOENT. */
int store_rewrite_job(store_t *s, const struct store_job *job, berth_error_t *err);

/* Replace a member. An ended one needs an end_wall and no `resources`; a job ends with its last member. An
 * ended member may become live again, but for those of a range. ENOENT as above.
 */
int store_set_member(store_t *s, const struct store_member *member, berth_error_t *err);
int store_add_event(store_t *s, struct store_event *event,
                    berth_error_t *err); /* assigns its number */

/* The largest ids so far, including the batch; 0: none. They are never used again, even once the job or
 * event is deleted.
 */
int64_t store_last_job(const store_t *s);
int64_t store_last_event(const store_t *s);

/* Visit the live jobs in the order of their ids, each followed by its stored members in order. A callback
 * that returns nonzero ends it with -1 and the callback's errno.
 */
struct store_visitor {
    void *context;
    int (*job)(void *context, const struct store_job *job);
    int (*member)(void *context, const struct store_member *member);
};
int store_load(store_t *s, const struct store_visitor *visitor, berth_error_t *err);

/* Read one. ENOENT; a member that never changed is not stored. One that a range covers is as its others,
 * whether there is such a member or not.
 */
int store_read_job(store_t *s, int64_t id, struct store_job *job, berth_error_t *err);
int store_read_member(store_t *s, int64_t id, uint32_t member, struct store_member *out,
                      berth_error_t *err);

/* Ended members, newest end first (in the order of storing) or oldest job first, read by a cursor while
 * others write: what ends or is deleted meanwhile may be included or not.
 */
struct store_query {
    int64_t uid;                     /* all users */
    int64_t job;                     /* 0: of any */
    uint32_t states;                 /* bits 1 << enum store_state; 0: all ended states */
    const char *queue, *name;        /* NULL: any */
    int64_t since_wall;              /* ended at or after; -1: any */
    int64_t after_job, after_member; /* paging: what follows this member; -1: from the beginning */
    int64_t limit;                   /* 0: all */
    bool newest_first;
    /* Jobs all of whose members have ended, instead of members: each once, with the end of its last member.
     * Its other values are those of its first member; an array matches whatever the states of its members
     * are.
     */
    bool by_job;
    bool members_only; /* as store_find_members has it */
};
struct store_cursor;
struct store_cursor *store_find(store_t *s, const struct store_query *query, berth_error_t *err);

/* Those of one job, oldest first: without the job, whose place is not written, and with ranges as they are, else each of
 * their members comes by itself. A row costs about a microsecond.
 */
struct store_cursor *store_find_members(store_t *s, int64_t id, berth_error_t *err);

/* 1: a member and its job (without environment and script; NULL for store_find_members), valid until the next call
 * of the cursor or the store; 0: no more; -1. -1 with EAGAIN: many rows were scanned without a match; call it
 * again after other work.
 */
int store_next(struct store_cursor *c, struct store_job *job, struct store_member *member,
               berth_error_t *err);
void store_cursor_close(struct store_cursor *c); /* before store_close; NULL is fine */

/* Visit events after a number, of one job or (0) of all, at most max. visit returns nonzero to stop early,
 * which is no failure.
 */
int store_events(store_t *s, int64_t after, int64_t job, int64_t max, void *context,
                 int (*visit)(void *context, const struct store_event *event), berth_error_t *err);

/* The highest id of a user's jobs that are over; 0: there is none. */
int store_last_over(store_t *s, uint32_t uid, int64_t *job, berth_error_t *err);

/* Delete jobs all of whose members ended before a time, oldest end first, with their events and unshared
 * texts, and the server's own events before that time. It is a transaction of its own that leaves the batch
 * alone and stops after about max rows (a member, an event and a job are a row each), maybe within a job.
 * *dropped: how many; 0: nothing is left.
 */
int store_retain(store_t *s, int64_t before_wall, int64_t max, int64_t *dropped,
                 berth_error_t *err);

/* The bytes stored for a user, as above. O(log users). */
int store_used(store_t *s, uint32_t uid, int64_t *bytes, berth_error_t *err);

/* Like store_retain, for one user's jobs whenever they ended, until at most `bytes` are stored for the
 * user.
 */
int store_trim(store_t *s, uint32_t uid, int64_t bytes, int64_t max, int64_t *dropped,
               berth_error_t *err);

#endif
