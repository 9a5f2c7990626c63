/* What the files of the store share: the file, the batch of changes until the next commit, shared texts. */
#ifndef SERVER_STORE_PRIVATE_H
#define SERVER_STORE_PRIVATE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "base/dict.h"
#include "base/strbuf.h"
#include "server/store/store.h"

/* Statements, prepared when they are first used; the SQL is in file.c. */
enum sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_GET,
    SQL_PUT,
    SQL_VALUES,
    SQL_VALUES_DROP,
    SQL_TEXT_FIND,
    SQL_TEXT_ADD,
    SQL_TEXT_USE,
    SQL_TEXT_UNUSED,
    SQL_TEXT_DROP,
    SQL_TEXT_READ,
    SQL_JOB_ADD,
    SQL_JOB_SET,
    SQL_JOB_READ,
    SQL_JOB_DROP,
    SQL_JOB_SIZE,
    SQL_JOB_UID,
    SQL_JOB_LAST,
    SQL_JOB_FROM,
    SQL_LIVE_ADD,
    SQL_LIVE_ENDED,
    SQL_LIVE_CHANGE,
    SQL_LIVE_AGAIN,
    SQL_LIVE_DROP,
    SQL_OVER_ADD,
    SQL_OVER_CHANGE,
    SQL_OVER_FIRST,
    SQL_OVER_OF_USER,
    SQL_OVER_LAST,
    SQL_OVER_FIND,
    SQL_OVER_DROP,
    SQL_MEMBER_SET,
    SQL_MEMBER_ADD,
    SQL_MEMBER_DROP,
    SQL_MEMBER_READ,
    SQL_ENDED_FIND,
    SQL_ENDED_AT,
    SQL_ENDED_ADD,
    SQL_ENDED_SET,
    SQL_ENDED_DROP,
    SQL_ENDED_READ,
    SQL_ENDED_OF_JOB,
    SQL_ENDED_RETAIN,
    SQL_ENDED_SIZE,
    SQL_TEXT_UNUSE,
    SQL_JOB_TEXTS,
    SQL_JOB_REWRITE,
    SQL_EVENT_ADD,
    SQL_EVENT_LAST,
    SQL_EVENTS,
    SQL_EVENTS_OF_JOB,
    SQL_EVENT_RETAIN,
    SQL_EVENT_SIZE,
    SQL_EVENT_SERVER,
    SQL_OWNER_READ,
    SQL_OWNER_ADD,
    SQL_LOAD,
    SQL_LOAD_MEMBERS,
    SQL_COUNT
};

enum store_text { TEXT_REQUEST, TEXT_ENVIRONMENT, TEXT_SCRIPT, TEXTS };

/* A text of the batch; a user's equal texts are one. */
struct batch_text {
    struct dict_entry entry; /* by `key`; not entered if it collides with another */
    struct batch_text *next;
    uint64_t key[3]; /* hash, length, uid */
    size_t length;   /* bytes of data */
    int64_t uses;    /* jobs of the batch */
    int64_t id;      /* row id, while the batch is written */
    char data[];
};

enum change_kind {
    CHANGE_JOB,
    CHANGE_SET_JOB,
    CHANGE_REWRITE,
    CHANGE_MEMBER,
    CHANGE_EVENT,
    CHANGE_VALUE,
    CHANGE_VALUES
};

/* A change, whose bytes (below) are in the batch's. */
struct change {
    enum change_kind kind;
    size_t first, second; /* lengths of the two pieces at `at` */
    size_t at;
    int64_t job;
    union {
        struct {                                  /* first: queue; second: record */
            const struct batch_text *text[TEXTS]; /* NULL: none or short */
            size_t inline_text[TEXTS]; /* lengths of short texts, after the record; 0: none */
            uint32_t uid, members;
            int64_t priority, limit, estimate;
            bool held;
        } submitted;
        struct { /* first: queue */
            int64_t priority, limit, estimate;
            bool held;
        } set;
        struct {                          /* first: record */
            uint32_t number, last, count; /* last: 0, or of a range */
            enum store_state state;
            int64_t end_wall;
        } member;
        struct { /* first: kind; second: data, or nothing */
            int64_t number, wall, member;
        } event;
        /* of a value, first: name; second: value; of values that are dropped, the names: from `first` up to, and
         * without, `second`
         */
    };
};

struct batch {
    struct change *change;
    size_t n, cap;
    struct strbuf bytes;
    struct dict texts;
    struct batch_text *text;        /* all of them */
    struct batch_text *last[TEXTS]; /* the last one of each kind */
    int64_t last_job, last_event;   /* including the batch */
};

/* A cache of texts by kind; the slot follows from the id. */
enum { TEXT_SLOTS = 64, TEXT_CACHED_MAX = 16 << 10 };
struct text_slot {
    int64_t id; /* 0: empty */
    size_t length;
    char *data;
};

/* Identity of an opened file; inode 0: not looked up yet. */
struct store_place {
    dev_t device;
    ino_t inode;
};

/* Changes of users' byte counts, collected during a transaction and written at its end. */
struct owner_change {
    uint32_t uid;
    int64_t bytes;
};

struct owners {
    struct owner_change *v;
    size_t n, cap, last; /* the entry changed last */
    int64_t job;         /* the job whose owner was looked up last; 0: none */
    uint32_t uid;        /* its owner */
};

struct store {
    sqlite3 *db;
    char *path;
    bool watched; /* a real file, which others may delete or replace */
    struct store_place file, log;
    sqlite3_stmt *sql[SQL_COUNT];
    sqlite3_stmt *reading[2]; /* statements that hold the last returned rows */
    struct store_cursor *cursors;
    struct batch batch;
    struct owners owners;
    int64_t last_job, last_event; /* as committed */
    struct kept {                 /* reserved ids */
        int64_t first, last;
    } * kept;
    size_t n_kept, cap_kept;
    struct text_slot slot[TEXTS][TEXT_SLOTS + 1]; /* the last one: for any text too long to cache */
    struct strbuf scratch;
};

/* Open, lock and migrate the file (file.c). 0, or -1 with an error, and store_close must follow all the
 * same.
 */
int store_file_open(struct store *s, const char *vfs, berth_error_t *err);

/* Check that the file and its log are still in place; else -1 with ESTALE, as writes would be lost. O(1). */
int store_file_check(struct store *s, berth_error_t *err);

/* Each step migrates the file from one version to the next; the file's version counts the steps. */
struct store_step {
    const char *sql;
};
int store_migrate(struct store *s, const struct store_step *step, int steps, berth_error_t *err);

/* A prepared statement, ready to be bound; NULL with an error. */
sqlite3_stmt *store_sql(struct store *s, enum sql which, berth_error_t *err);

/* Run a statement that returns no rows, and reset it. 0 or -1. */
int store_run(struct store *s, sqlite3_stmt *q, berth_error_t *err);

/* Run a statement with up to two numbers, and read the first column of its first row. 1: there is one; 0; -1. */
int store_ask(struct store *s, enum sql which, int64_t a, int64_t b, int64_t *answer,
              berth_error_t *err);

/* Run a statement with up to two numbers. Returns the number of rows changed, or -1. */
int64_t store_change(struct store *s, enum sql which, int64_t a, int64_t b, berth_error_t *err);

/* Write the name above all that begin with a prefix, which is shorter than `size`. False: it is too long. */
bool store_above(const char *prefix, char *above, size_t size);

/* Report SQLite's error: -1 with errno. */
int store_fail(struct store *s, berth_error_t *err);

/* Report that memory ran out outside SQLite: -1 with ENOMEM. */
int store_no_memory(struct store *s, berth_error_t *err);

/* Report inconsistent contents: -1 with EINVAL. job 0: of no particular job. */
int store_damaged(struct store *s, const char *what, int64_t job, berth_error_t *err);

/* Transactions. A rollback keeps errno. */
int store_begin(struct store *s, berth_error_t *err);
int store_end(struct store *s, berth_error_t *err);
void store_undo(struct store *s);

/* Reset the statements that hold returned rows. */
void store_settle(struct store *s);

/* The highest ids of jobs and events, kept for when their rows are deleted. */
#define STORE_LAST_JOB   "store.last-job"
#define STORE_LAST_EVENT "store.last-event"
int store_write_last(struct store *s, berth_error_t *err);

/* Bytes per user (owner.c), within a transaction: begin it; change a user's count (0 or -1); or that of a
 * job's owner (1, 0 if the job does not exist, or -1); write the changes.
 */
void store_owners_begin(struct store *s);
int store_owner_change(struct store *s, uint32_t uid, int64_t bytes, berth_error_t *err);
int store_owner_of_job(struct store *s, int64_t job, int64_t bytes, berth_error_t *err);
int store_owners_write(struct store *s, berth_error_t *err);

/* The bytes stored for a user, including the transaction's changes. */
int store_owner_bytes(struct store *s, uint32_t uid, int64_t *bytes, berth_error_t *err);

/* Texts (text.c). Add one to the batch; *text NULL if there is none, or it is short enough to be stored
 * with the job.
 */
int store_text_take(struct batch *b, enum store_text kind, uint32_t uid, const char *data,
                    size_t length, const struct batch_text **text);
void store_text_untake(const struct batch_text *text); /* NULL is fine */

/* A stored job no longer uses a text, which is deleted with its last use (retain.c). */
int store_text_unuse(struct store *s, int64_t job, int64_t text, berth_error_t *err);
bool store_text_is_inline(const char *data, size_t length);
void store_batch_clear(struct batch *b);

/* Whether an id is reserved. */
bool store_is_reserved(const struct store *s, int64_t id);

/* Write the batch's texts to their rows. */
int store_texts_write(struct store *s, berth_error_t *err);

/* Read the text that a column of a job's row refers to; *data NULL if there is none. */
int store_text_read(struct store *s, enum store_text kind, sqlite3_stmt *q, int column,
                    const char **data, size_t *length, berth_error_t *err);
void store_text_forget(struct store *s); /* empty the cache */

/* Rows (read.c). Fill a job from a row: id, uid, queue, priority, held, limit, estimate, record, request,
 * environment, script, in columns from `column` on. Unless `all`, without environment and script, which the
 * row then need not have.
 */
int store_job_row(struct store *s, sqlite3_stmt *q, int column, bool all, struct store_job *job,
                  berth_error_t *err);

/* Fill a member from a row: job, member, state, end_wall, record. `ended`: whether its state must be an
 * ended one; else it must be live.
 */
int store_member_row(struct store *s, sqlite3_stmt *q, int column, bool ended,
                     struct store_member *member, berth_error_t *err);

/* Reset the statements of all cursors, which then continue where they were (find.c). */
void store_cursors_settle(struct store *s);

#define STORE_TEXT_OF_(n)    #n
#define STORE_TEXT_OF(n)     STORE_TEXT_OF_(n)
#define STORE_MEMBER_COLUMNS "job, member, state, end_wall, record"
#define STORE_JOB_BRIEF                                                                            \
    "j.id, j.uid, j.queue, j.priority, j.held, j.duration, j.estimate, j.record, j.request"
#define STORE_JOB_COLUMNS STORE_JOB_BRIEF ", j.environment, j.script"

#endif
