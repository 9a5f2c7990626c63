/* What a server must not forget: jobs, what happened to them, what they were promised. An SQLite file in
 * WAL mode, of which one process has the use at a time.
 *
 * Changes are collected in memory, where they are checked, and are written together by store_commit:
 * until it has returned 0, nobody is told that something has been done. It is one transaction. When it
 * fails (disk full), the file is as it was and the batch stays collected: call store_commit again, as it
 * is or with more changes, or give all of it up by store_rollback. So a disk that fails shows in
 * store_commit and in what reads, nowhere else. One thing can't be excluded: when the machine goes down
 * after a commit that failed and before another one has succeeded, the batch that failed may be there
 * afterwards, wholly. What is read is what has been committed: a batch isn't seen before.
 *
 * Times are us since 1970 where they are called `wall`, else ticks (us) of the scheduler's clock, which
 * does not jump. What is stored of a user's jobs is counted, row by row, with the changes themselves:
 * STORE_ROW bytes for each job, text, member that has ended and event, and the bytes of its text. Texts
 * are shared by the jobs of one user, who is counted each once, and never with another's. What is known
 * of members that wait or run isn't counted.
 *
 * Texts that are given are copied; those that are returned are valid until the store's next call.
 * Callbacks don't call the store.
 *
 * A commit looks whether the file is still in its place: ESTALE, when somebody has deleted or replaced it
 * or its log.
 *
 * Calls return 0, or -1 with errno and a text that names the file: ENOSPC (no room on the disk), EIO,
 * EINVAL (a damaged or a newer file, with what to do about it; or an argument out of its range), EMSGSIZE
 * (a text beyond STORE_TEXT_MAX), ENOMEM. Not thread-safe.
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
#define STORE_ROW      100 /* bytes: what a row takes beside its text, indices included, about */

enum store_state {
    STORE_PENDING,
    STORE_STARTING, /* its run has been handed to the engine, or is about to be */
    STORE_RUNNING,
    STORE_DONE, /* from here on it has ended */
    STORE_FAILED,
    STORE_CANCELLED,
    STORE_TIMEOUT
};

/* A submission: what does not differ between the members of an array and hardly ever changes. */
struct store_job {
    int64_t id; /* decimal from 1, ascending */
    uint32_t uid, gid;
    const char *user;  /* the name */
    const char *name;  /* of the job */
    const char *queue; /* changes */
    const char
        *request; /* JSON: what is asked for, with the environment and script taken out (below) */
    const char *environment; /* JSON array; equal ones are stored once. NULL: none */
    const char *script;      /* NULL: none; equal ones are stored once. Any bytes */
    size_t script_length;
    uint32_t members;
    int64_t priority;  /* changes */
    bool held;         /* changes */
    int64_t duration;  /* ticks; 0: the queue's default; changes */
    int64_t submitted; /* ticks */
    int64_t submitted_wall;
    int64_t nodes, cores, gpus; /* of a member, as asked for: for listings */
};

/* A member of a job, from its first change on. One that isn't there is pending. */
struct store_member {
    int64_t job;
    uint32_t member;
    enum store_state state;
    bool cancelled; /* somebody asked for that, though it may still run */
    bool timed_out; /* it has been stopped at its limit */
    bool preempted; /* it is being stopped for another and will be requeued, or not (`requeue`) */
    bool requeue;
    uint64_t key;      /* of its run; 0: none */
    uint32_t attempts; /* starts so far */
    int how; /* how the scheduler came to start it, 0 to STORE_HOW_MAX; -1: it did not, or that is not known */
    int64_t at, until; /* ticks: of a running one; of a pending one with a reservation; else -1 */
    const char
        *resources; /* what it holds or is promised, JGF as sched_record gives it; NULL: nothing */
    const char
        *held_resources; /* the same for people, "node0/core[0-3]", kept for the history; NULL */
    const char *reason;  /* why it failed or was cancelled; NULL */
    int64_t start_wall, end_wall; /* -1: not yet */
    int exit_status, exit_signal;
    int64_t peak_memory, cpu_time; /* bytes, us; -1: unknown */
};

/* Something that happened: to a member, to a job (member -1), to the server (job 0). */
struct store_event {
    int64_t number; /* ascending from 1 without an end; given by the store */
    int64_t wall;
    int64_t job;
    int64_t member;
    const char *kind; /* "submitted", "reserved", "started", ... */
    const char *data; /* a JSON object, or NULL */
};

/* The file is made if it isn't there, for its owner alone; an older one is migrated. vfs: of SQLite;
 * NULL: the system's. EBUSY: another process has it open. O(1), and after a crash O(what was not yet
 * moved from the log into the file).
 */
store_t *store_open(const char *path, const char *vfs, berth_error_t *err);
void store_close(store_t *s); /* what is not committed is lost; NULL is fine */

int store_commit(store_t *s, berth_error_t *err); /* O(1) and no disk access if nothing changed */
void store_rollback(
    store_t *s); /* forget what isn't committed; numbers given since are used again */
bool store_is_changed(const store_t *s);
size_t store_batch_size(
    const store_t *s); /* bytes that the batch takes, about: a bound for those who try again */

/* Small values by name: "clock", "boot", "next-key", "acknowledged"... *value NULL if there is none.
 * Names that begin with "store." are the store's own.
 */
int store_get(store_t *s, const char *name, const char **value, berth_error_t *err);
int store_put(store_t *s, const char *name, const char *value, berth_error_t *err);

int store_add_job(
    store_t *s, const struct store_job *job,
    berth_error_t *err); /* EINVAL: its number is not above all others, nor kept for it */

/* Numbers are kept for jobs that are added later, in any order, though higher ones are added meanwhile.
 * store_read_job does not find them as long as they are. 0, or -1 with ENOMEM.
 */
int store_keep_jobs(store_t *s, int64_t first, int64_t last);
void store_unkeep_jobs(store_t *s, int64_t first, int64_t last);

/* Drop the jobs from one number to another, live ones too, with all that belongs to them, and keep no
 * numbers there any more. As store_retain a transaction of its own, which stops after about max rows:
 * *dropped < max says that none are left.
 */
int store_drop_jobs(store_t *s, int64_t first, int64_t last, int64_t max, int64_t *dropped,
                    berth_error_t *err);

/* What changes of a job: queue, priority, held, duration; the rest of *job but its id isn't looked at.
 * ENOENT: no such number was given yet. Changes of a job that is not there any more are passed over.
 */
int store_set_job(store_t *s, const struct store_job *job, berth_error_t *err);

/* All of a member, which replaces what was known of it. One that ended has an end_wall; its job has ended
 * with its last member. A member that ended may be set back to a state before that. Give `resources` NULL
 * when it ends. ENOENT as above.
 */
int store_set_member(store_t *s, const struct store_member *member, berth_error_t *err);
int store_add_event(store_t *s, struct store_event *event,
                    berth_error_t *err); /* sets its number */

/* The largest numbers so far, those of the batch included; 0: none. They are never used again, also after
 * the job or the event has been dropped.
 */
int64_t store_last_job(const store_t *s);
int64_t store_last_event(const store_t *s);

/* Live jobs: those with a member that has not ended, in the order of their numbers, with each of its
 * members that is known, in order. `job` is called before its members. A callback that returns nonzero
 * ends it with -1 and its errno.
 */
struct store_visitor {
    void *context;
    int (*job)(void *context, const struct store_job *job);
    int (*member)(void *context, const struct store_member *member);
};
int store_load(store_t *s, const struct store_visitor *visitor, berth_error_t *err);

/* Read one. ENOENT; a member that never changed isn't there. */
int store_read_job(store_t *s, int64_t id, struct store_job *job, berth_error_t *err);
int store_read_member(store_t *s, int64_t id, uint32_t member, struct store_member *out,
                      berth_error_t *err);

/* Members that have ended, newest end first (in the order in which that was stored) or oldest job first,
 * for listings, as a cursor that others may write beside: what ends or is dropped meanwhile may be among
 * them or not.
 */
struct store_query {
    int64_t uid;              /* -1: of everybody */
    int64_t job;              /* 0: of any */
    uint32_t states;          /* bits 1 << enum store_state; 0: all that have ended */
    const char *queue, *name; /* NULL: any */
    int64_t since_wall;       /* ended at or after; -1: any */
    int64_t after_job,
        after_member; /* paging: what follows this one in the order; -1: from the beginning */
    int64_t limit;    /* 0: all */
    bool newest_first;
};
struct store_cursor;
struct store_cursor *store_find(store_t *s, const struct store_query *query, berth_error_t *err);

/* 1: there is one, whose job has NULL for environment and script, valid until the cursor's next call or
 * the store's; 0: no more; -1. -1 with EAGAIN: many have been looked at and none was wanted; to be called
 * again, when others have had their turn.
 */
int store_next(struct store_cursor *c, struct store_job *job, struct store_member *member,
               berth_error_t *err);
void store_cursor_close(struct store_cursor *c); /* before store_close; NULL is fine */

/* Events after a number, of one job or (0) of all, at most max. visit returns nonzero to end early (no
 * failure).
 */
int store_events(store_t *s, int64_t after, int64_t job, int64_t max, void *context,
                 int (*visit)(void *context, const struct store_event *event), berth_error_t *err);

/* Drop jobs all of whose members ended before a time, oldest end first, with their events and the texts
 * that no other job has, and the server's own events before that time. It is a transaction of its own,
 * which leaves the batch alone, and stops after about max rows (a member, an event and a job are a row
 * each), be it in the middle of a job: *dropped says how many; 0: nothing is left to drop.
 */
int store_retain(store_t *s, int64_t before_wall, int64_t max, int64_t *dropped,
                 berth_error_t *err);

/* The bytes that are stored of a user's jobs, as above. O(log users). */
int store_used(store_t *s, uint32_t uid, int64_t *bytes, berth_error_t *err);

/* The same for the jobs of one user, whenever they ended, until at most `bytes` are stored of that user's. */
int store_trim(store_t *s, uint32_t uid, int64_t bytes, int64_t max, int64_t *dropped,
               berth_error_t *err);

#endif
