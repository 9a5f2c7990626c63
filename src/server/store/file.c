/* The store's file: opening, locking, migration, statements, and the meaning of SQLite's errors. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "server/store/priv.h"

enum { APPLICATION = 0x42727468 }; /* "Brth" in the file's header */

/* `job` has a row for each submission. `live` has the jobs with a live member, and how many those are
 * (`remaining`); `over` has the others, with the time of their end. `member` has live members, `ended` the
 * others in the order of their ends. `text` has shared texts: a column of `job` holds the id of one, or a
 * blob that is the text itself. Texts end with a zero that is not counted.
 */
static const char version_1[] =
    "CREATE TABLE value (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE text (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, uses INTEGER NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE INDEX text_hash ON text (hash);"
    "CREATE TABLE job (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, queue TEXT,"
    " priority INTEGER NOT NULL, held INTEGER NOT NULL, duration INTEGER NOT NULL,"
    " record BLOB NOT NULL, request, environment, script);"
    "CREATE TABLE live (job INTEGER PRIMARY KEY, remaining INTEGER NOT NULL);"
    "CREATE TABLE over (job INTEGER PRIMARY KEY, end_wall INTEGER NOT NULL);"
    "CREATE INDEX over_end ON over (end_wall);"
    "CREATE TABLE member (job INTEGER NOT NULL, member INTEGER NOT NULL, state INTEGER NOT NULL,"
    " end_wall INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (job, member)) WITHOUT ROWID;"
    "CREATE TABLE ended (number INTEGER PRIMARY KEY, job INTEGER NOT NULL,"
    " member INTEGER NOT NULL, uid INTEGER NOT NULL, state INTEGER NOT NULL,"
    " end_wall INTEGER NOT NULL, record BLOB NOT NULL);"
    "CREATE INDEX ended_member ON ended (job, member, end_wall);"
    "CREATE TABLE event (number INTEGER PRIMARY KEY, job INTEGER NOT NULL,"
    " member INTEGER NOT NULL, wall INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT);"
    "CREATE INDEX event_job ON event (job);";

/* The records of members say how these were started. Records have versions of their own, but a program that
 * does not know the new one must not open the file.
 */
static const char version_2[] = "";

/* `owner` has the bytes of each user's rows. Texts are now shared only by the jobs of one user: `move`
 * lists, for each text and user, the new text that replaces it.
 */
#define ROW     STORE_TEXT_OF(STORE_ROW)
#define BLOB(c) "CASE typeof(" c ") WHEN 'blob' THEN length(" c ") - 1 ELSE 0 END"
#define JOB                                                                                        \
    ROW " + length(record) + " BLOB("request") " + " BLOB("environment") " + " BLOB("script")
#define EVENT ROW " + length(CAST(coalesce(data, '') AS BLOB))"
/* The latest end of a job's ended members; NULL: none has ended. */
#define LIVE_END "(SELECT max(e.end_wall) FROM ended e WHERE e.job = live.job)"
#define MOVED(c)                                                                                   \
    "UPDATE job SET " c " = (SELECT m.id FROM move m WHERE m.old = job." c                         \
    " AND m.uid = job.uid) WHERE typeof(" c ") = 'integer';"
static const char version_3[] =
    "CREATE TABLE move (id INTEGER PRIMARY KEY, old INTEGER NOT NULL, uid INTEGER NOT NULL,"
    " uses INTEGER NOT NULL);"
    "INSERT INTO move (old, uid, uses) SELECT old, uid, count(*) FROM"
    " (SELECT request AS old, uid FROM job WHERE typeof(request) = 'integer' UNION ALL"
    " SELECT environment, uid FROM job WHERE typeof(environment) = 'integer' UNION ALL"
    " SELECT script, uid FROM job WHERE typeof(script) = 'integer') GROUP BY old, uid;"
    "CREATE INDEX move_old ON move (old, uid);"
    "CREATE TABLE moved (id INTEGER PRIMARY KEY, uid INTEGER NOT NULL, hash INTEGER NOT NULL,"
    " uses INTEGER NOT NULL, data BLOB NOT NULL);"
    "INSERT INTO moved SELECT m.id, m.uid, t.hash, m.uses, t.data FROM move m"
    " JOIN text t ON t.id = m.old;" MOVED("request") MOVED("environment")
        MOVED("script") "DROP TABLE move;"
                        "DROP TABLE text;"
                        "ALTER TABLE moved RENAME TO text;"
                        "CREATE INDEX text_hash ON text (uid, hash);"
                        "ALTER TABLE over ADD COLUMN uid INTEGER NOT NULL DEFAULT 0;"
                        "UPDATE over SET uid = coalesce((SELECT j.uid FROM job j WHERE j.id = "
                        "over.job), 0);"
                        "CREATE INDEX over_user ON over (uid, end_wall);"
                        "ALTER TABLE live ADD COLUMN end_wall INTEGER;"
                        "UPDATE live SET end_wall = " LIVE_END ";"
                        "CREATE TABLE owner (uid INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);"
                        "INSERT INTO owner SELECT uid, sum(bytes) FROM (SELECT uid, " JOB
                        " AS bytes FROM job UNION ALL"
                        " SELECT uid, " ROW " + length(data) - 1 FROM text UNION ALL"
                        " SELECT uid, " ROW " + length(record) FROM ended UNION ALL"
                        " SELECT j.uid, " EVENT
                        " FROM event e JOIN job j ON j.id = e.job) GROUP BY uid;";

/* The records of members say what they were promised before the machine took it away. */
static const char version_4[] = "";

/* The records of jobs say which members there are: a program that does not know that would run others too. */
static const char version_5[] = "";

/* What a job may take (`duration`, the largest number if it has no limit) and what it is expected to are two
 * columns. Before, the request said whether the one was a limit: in quotes that no text within it has.
 */
static const char version_6[] =
    "ALTER TABLE job ADD COLUMN estimate INTEGER NOT NULL DEFAULT 0;"
    "UPDATE job SET estimate = duration;"
    "UPDATE job SET duration = 9223372036854775807 WHERE NOT coalesce(instr("
    "CASE typeof(request) WHEN 'integer' THEN (SELECT data FROM text WHERE text.id = job.request)"
    " ELSE request END, CAST(',\"limited\":true' AS BLOB)), 0);";

/* The records of members say how much they hold or held. */
static const char version_7[] = "";

/* The records of members say what was changed of these by themselves. */
static const char version_8[] = "";

/* A row of `ended` may be of a range of members, up to `last`. No two rows of a job meet. */
static const char version_9[] = "ALTER TABLE ended ADD COLUMN last INTEGER;";

/* The records of members say which of an array wait apart from its others. */
static const char version_10[] = "";

static const struct store_step steps[] = {{version_1}, {version_2}, {version_3}, {version_4},
                                          {version_5}, {version_6}, {version_7}, {version_8},
                                          {version_9}, {version_10}};
enum { STEPS = sizeof(steps) / sizeof(*steps) };

static const char *const sql[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_GET] = "SELECT value FROM value WHERE name = ?1",
    [SQL_PUT] = "INSERT OR REPLACE INTO value VALUES (?1, ?2)",
    [SQL_VALUES] = "SELECT name, value FROM value WHERE name >= ?1 AND name < ?2 ORDER BY name",
    [SQL_VALUES_DROP] = "DELETE FROM value WHERE name >= ?1 AND name < ?2",
    [SQL_TEXT_FIND] = "SELECT id, data FROM text WHERE uid = ?2 AND hash = ?1 ORDER BY id LIMIT 4",
    [SQL_TEXT_ADD] = "INSERT INTO text (uid, hash, uses, data) VALUES (?4, ?1, ?2, ?3)",
    [SQL_TEXT_USE] = "UPDATE text SET uses = uses + ?2 WHERE id = ?1",
    [SQL_TEXT_UNUSE] = "UPDATE text SET uses = uses - 1 WHERE id = ?1",
    [SQL_JOB_TEXTS] = "SELECT request, environment, script FROM job WHERE id = ?1",
    [SQL_JOB_REWRITE] = "UPDATE job SET record = ?2, request = ?3 WHERE id = ?1",
    [SQL_TEXT_UNUSED] = "SELECT " ROW " + length(data) - 1 FROM text WHERE id = ?1 AND uses <= 0",
    [SQL_TEXT_DROP] = "DELETE FROM text WHERE id = ?1 AND uses <= 0",
    [SQL_TEXT_READ] = "SELECT data FROM text WHERE id = ?1",
    [SQL_JOB_ADD] =
        "INSERT INTO job (id, uid, queue, priority, held, duration, estimate, record,"
        " request, environment, script) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
        " ?11)",
    [SQL_JOB_SET] = "UPDATE job SET queue = ?2, priority = ?3, held = ?4, duration = ?5,"
                    " estimate = ?6 WHERE id = ?1",
    [SQL_JOB_READ] = "SELECT " STORE_JOB_COLUMNS " FROM job j WHERE j.id = ?1",
    [SQL_JOB_DROP] = "DELETE FROM job WHERE id = ?1",
    [SQL_JOB_SIZE] = "SELECT " JOB " FROM job WHERE id = ?1",
    [SQL_JOB_UID] = "SELECT uid FROM job WHERE id = ?1",
    [SQL_JOB_FROM] = "SELECT id FROM job WHERE id >= ?1 ORDER BY id LIMIT 1",
    [SQL_JOB_LAST] = "SELECT max(id) FROM job",
    [SQL_LIVE_ADD] = "INSERT INTO live (job, remaining) VALUES (?1, ?2)",
    [SQL_LIVE_ENDED] = "UPDATE live SET remaining = remaining - ?3,"
                       " end_wall = max(coalesce(end_wall, ?2), ?2) WHERE job = ?1",
    [SQL_LIVE_CHANGE] = "UPDATE live SET end_wall = " LIVE_END " WHERE job = ?1",
    [SQL_LIVE_AGAIN] = "INSERT INTO live (job, remaining) VALUES (?1, 1)"
                       " ON CONFLICT (job) DO UPDATE SET remaining = remaining + 1",
    [SQL_LIVE_DROP] = "DELETE FROM live WHERE job = ?1",
    [SQL_OVER_ADD] = "INSERT OR REPLACE INTO over (job, end_wall, uid)"
                     " SELECT l.job, max(coalesce(l.end_wall, ?2), ?2), j.uid"
                     " FROM live l JOIN job j ON j.id = l.job"
                     " WHERE l.job = ?1 AND l.remaining <= ?3",
    [SQL_OVER_CHANGE] = "UPDATE over SET end_wall ="
                        " (SELECT max(end_wall) FROM ended WHERE job = ?1) WHERE job = ?1",
    [SQL_OVER_FIRST] = "SELECT job FROM over WHERE end_wall < ?1 ORDER BY end_wall, job LIMIT 1",
    [SQL_OVER_LAST] = "SELECT max(job) FROM over WHERE uid = ?1",
    [SQL_OVER_OF_USER] = "SELECT job FROM over WHERE uid = ?1 ORDER BY end_wall, job LIMIT 1",
    [SQL_OVER_FIND] = "SELECT end_wall FROM over WHERE job = ?1",
    [SQL_OVER_DROP] = "DELETE FROM over WHERE job = ?1",
    [SQL_MEMBER_SET] = "UPDATE member SET state = ?3, end_wall = ?4, record = ?5"
                       " WHERE job = ?1 AND member = ?2",
    [SQL_MEMBER_ADD] = "INSERT OR REPLACE INTO member (job, member, state, end_wall, record)"
                       " SELECT ?1, ?2, ?3, ?4, ?5"
                       " WHERE EXISTS (SELECT 1 FROM live WHERE job = ?1)",
    [SQL_MEMBER_DROP] = "DELETE FROM member WHERE job = ?1 AND member = ?2",
    [SQL_MEMBER_READ] = "SELECT " STORE_MEMBER_COLUMNS " FROM member"
                        " WHERE job = ?1 AND member = ?2",
    [SQL_ENDED_FIND] = "SELECT number, length(record) FROM ended"
                       " WHERE job = ?1 AND member = ?2 AND last IS NULL",
    [SQL_ENDED_AT] = "SELECT number, member, coalesce(last, member) FROM ended"
                     " WHERE job = ?1 AND member <= ?2 ORDER BY member DESC LIMIT 1",
    [SQL_ENDED_ADD] = "INSERT INTO ended (job, member, uid, state, end_wall, record, last)"
                      " SELECT id, ?2, uid, ?3, ?4, ?5, ?6 FROM job WHERE id = ?1",
    [SQL_ENDED_SET] = "UPDATE ended SET state = ?2, end_wall = ?3, record = ?4 WHERE number = ?1",
    [SQL_ENDED_DROP] = "DELETE FROM ended WHERE number = ?1",
    [SQL_ENDED_READ] = "SELECT job, ?2, state, end_wall, record FROM ended WHERE number ="
                       " (SELECT number FROM ended WHERE job = ?1 AND member <= ?2"
                       " ORDER BY member DESC LIMIT 1) AND coalesce(last, member) >= ?2",
    [SQL_ENDED_OF_JOB] = "SELECT " STORE_MEMBER_COLUMNS ", last FROM ended"
                         " WHERE job = ?1 ORDER BY member",
    [SQL_ENDED_RETAIN] = "DELETE FROM ended WHERE number IN"
                         " (SELECT number FROM ended WHERE job = ?1 LIMIT ?2)",
    [SQL_ENDED_SIZE] = "SELECT sum(" ROW " + length(record)) FROM"
                       " (SELECT record FROM ended WHERE job = ?1 LIMIT ?2)",
    [SQL_EVENT_ADD] = "INSERT INTO event (number, job, member, wall, kind, data)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_EVENT_LAST] = "SELECT max(number) FROM event",
    [SQL_EVENTS] = "SELECT number, wall, job, member, kind, data FROM event"
                   " WHERE number > ?1 ORDER BY number LIMIT ?2",
    [SQL_EVENTS_OF_JOB] = "SELECT number, wall, job, member, kind, data FROM event"
                          " WHERE job = ?3 AND number > ?1 ORDER BY number LIMIT ?2",
    [SQL_EVENT_RETAIN] = "DELETE FROM event WHERE number IN"
                         " (SELECT number FROM event WHERE job = ?1 ORDER BY number LIMIT ?2)",
    [SQL_EVENT_SIZE] = "SELECT sum(" EVENT ") FROM"
                       " (SELECT data FROM event WHERE job = ?1 ORDER BY number LIMIT ?2)",
    [SQL_EVENT_SERVER] = "SELECT wall FROM event WHERE job = 0 ORDER BY number LIMIT 1",
    [SQL_OWNER_READ] = "SELECT bytes FROM owner WHERE uid = ?1",
    [SQL_OWNER_ADD] = "INSERT INTO owner (uid, bytes) VALUES (?1, ?2)"
                      " ON CONFLICT (uid) DO UPDATE SET bytes = bytes + ?2",
    [SQL_LOAD] = "SELECT l.remaining, " STORE_JOB_COLUMNS
                 " FROM live l LEFT JOIN job j ON j.id = l.job ORDER BY l.job",
    [SQL_LOAD_MEMBERS] = "SELECT " STORE_MEMBER_COLUMNS " FROM member"
                         " ORDER BY job, member",
};

int store_fail(struct store *s, berth_error_t *err)
{
    int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_NOMEM;
    int system = s->db ? sqlite3_system_errno(s->db) : 0;
    const char *path = s->path;
    switch (code == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : code & 0xff) {
    case SQLITE_NOMEM:
        return errtext_set(err, ENOMEM, "%s: out of memory", path);
    case SQLITE_FULL:
        return errtext_set(err, ENOSPC, "%s: no space left on the disk", path);
    case SQLITE_IOERR:
        if (system == ENOSPC || system == EDQUOT)
            return errtext_set(err, ENOSPC, "%s: no space left on the disk", path);
        return errtext_set(err, EIO, "%s: disk error: %s", path,
                           system ? strerror(system) : sqlite3_errstr(code & 0xff));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return errtext_set(err, EBUSY, "%s: open in another process; is another berthd running?",
                           path);
    case SQLITE_CORRUPT:
        return errtext_set(
            err, EINVAL, "%s: the file is damaged; restore a copy, or move it away to start afresh",
            path);
    case SQLITE_NOTADB:
        return errtext_set(err, EINVAL, "%s: not a berthd store; move it away", path);
    case SQLITE_CANTOPEN:
        return errtext_set(err, system ? system : ENOENT, "%s: cannot open: %s", path,
                           strerror(system ? system : ENOENT));
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return errtext_set(err, EACCES, "%s: not writable", path);
    default:
        return errtext_set(err, EINVAL, "%s: %s", path, sqlite3_errmsg(s->db));
    }
}

int store_no_memory(struct store *s, berth_error_t *err)
{
    return errtext_set(err, ENOMEM, "%s: out of memory", s->path);
}

int store_damaged(struct store *s, const char *what, int64_t job, berth_error_t *err)
{
    if (job == 0)
        return errtext_set(err, EINVAL, "%s: the file is damaged: %s", s->path, what);
    return errtext_set(err, EINVAL, "%s: the file is damaged: job %lld: %s", s->path,
                       (long long)job, what);
}

sqlite3_stmt *store_sql(struct store *s, enum sql which, berth_error_t *err)
{
    sqlite3_stmt **q = &s->sql[which];
    if (*q)
        return *q;
    if (sqlite3_prepare_v3(s->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, q, NULL) != SQLITE_OK)
        store_fail(s, err);
    return *q;
}

int store_run(struct store *s, sqlite3_stmt *q, berth_error_t *err)
{
    int rc = sqlite3_step(q);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : -1;
}

static void bind_numbers(sqlite3_stmt *q, int64_t a, int64_t b)
{
    if (sqlite3_bind_parameter_count(q) > 0)
        sqlite3_bind_int64(q, 1, a);
    if (sqlite3_bind_parameter_count(q) > 1)
        sqlite3_bind_int64(q, 2, b);
}

int store_ask(struct store *s, enum sql which, int64_t a, int64_t b, int64_t *answer,
              berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, which, err);
    if (!q)
        return -1;
    bind_numbers(q, a, b);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *answer = sqlite3_column_int64(q, 0);
    else if (rc != SQLITE_DONE)
        store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

int64_t store_change(struct store *s, enum sql which, int64_t a, int64_t b, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, which, err);
    if (!q)
        return -1;
    bind_numbers(q, a, b);
    return store_run(s, q, err) < 0 ? -1 : sqlite3_changes64(s->db);
}

void store_settle(struct store *s)
{
    for (size_t i = 0; i < sizeof(s->reading) / sizeof(*s->reading); i++)
        if (s->reading[i]) {
            sqlite3_reset(s->reading[i]);
            s->reading[i] = NULL;
        }
}

int store_begin(struct store *s, berth_error_t *err)
{
    store_settle(s);
    store_cursors_settle(s);
    store_undo(s);
    store_owners_begin(s);
    if (!store_sql(s, SQL_ROLLBACK, err)) /* prepared early, for when memory is short */
        return -1;
    sqlite3_stmt *q = store_sql(s, SQL_BEGIN, err);
    return q ? store_run(s, q, err) : -1;
}

int store_end(struct store *s, berth_error_t *err)
{
    if (store_owners_write(s, err) < 0)
        return -1;
    sqlite3_stmt *q = store_sql(s, SQL_COMMIT, err);
    return q ? store_run(s, q, err) : -1;
}

/* When the disk is full, SQLite may already have rolled back. */
void store_undo(struct store *s)
{
    int saved = errno;
    sqlite3_stmt *q = s->sql[SQL_ROLLBACK];
    if (!sqlite3_get_autocommit(s->db) && q) {
        sqlite3_step(q);
        sqlite3_reset(q);
    }
    errno = saved;
}

/* Read the single number that a statement returns. */
static int query_pragma(struct store *s, const char *text, int64_t *answer, berth_error_t *err)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(s->db, text, -1, &q, NULL) != SQLITE_OK)
        return store_fail(s, err);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *answer = sqlite3_column_int64(q, 0);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        store_fail(s, err);
    int saved = errno;
    sqlite3_finalize(q);
    errno = saved;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

static int run_migrations(struct store *s, const struct store_step *step, int from, int to,
                          berth_error_t *err)
{
    char version[80];
    sqlite3_snprintf(sizeof(version), version,
                     "PRAGMA user_version = %d; PRAGMA application_id = %d", to, APPLICATION);
    if (store_begin(s, err) < 0)
        return -1;
    for (int i = from; i < to; i++)
        if (sqlite3_exec(s->db, step[i].sql, NULL, NULL, NULL) != SQLITE_OK) {
            store_fail(s, err);
            store_undo(s);
            return -1;
        }
    if (sqlite3_exec(s->db, version, NULL, NULL, NULL) != SQLITE_OK) {
        store_fail(s, err);
        store_undo(s);
        return -1;
    }
    if (store_end(s, err) < 0) {
        store_undo(s);
        return -1;
    }
    return 0;
}

/* Check that the file is a store of a known version; nothing is written to any other file. */
static int check_version(struct store *s, int n, int64_t *version, berth_error_t *err)
{
    int64_t application = 0, things = 0, strange = 0;
    if (query_pragma(s, "PRAGMA user_version", version, err) < 0 ||
        query_pragma(s, "PRAGMA application_id", &application, err) < 0 ||
        query_pragma(s, "SELECT count(*) FROM sqlite_schema", &things, err) < 0 ||
        query_pragma(s,
                     "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')"
                     " OR sql LIKE 'CREATE VIRTUAL%'",
                     &strange, err) < 0)
        return -1;
    bool empty = application == 0 && *version == 0 && things == 0;
    if ((application != APPLICATION && !empty) || strange > 0)
        return errtext_set(err, EINVAL, "%s: not a berthd store; move it away", s->path);
    if (*version > n)
        return errtext_set(err, EINVAL,
                           "%s: written by a newer berthd (version %lld, this one supports up to "
                           "%d): run that one",
                           s->path, (long long)*version, n);
    if (*version < 0 || (*version == 0 && things > 0))
        return store_damaged(s, "its version is missing", 0, err);
    return 0;
}

int store_migrate(struct store *s, const struct store_step *step, int n, berth_error_t *err)
{
    int64_t version = 0;
    if (check_version(s, n, &version, err) < 0)
        return -1;
    return version < n ? run_migrations(s, step, (int)version, n, err) : 0;
}

/* Create the file, readable by its owner only, as it has users' environments, and sync its directory. */
static int create_file(struct store *s, berth_error_t *err)
{
    int fd = open(s->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    /* do not open it: closing it would drop the lock of another store in this process */
    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0)
        return errtext_set(err, errno, "%s: cannot create: %s", s->path, strerror(errno));
    close(fd);
    const char *slash = strrchr(s->path, '/');
    char *folder = slash ? strndup(s->path, (size_t)(slash - s->path + 1)) : strdup(".");
    fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0)
        return errtext_set(err, errno, "%s: cannot open its directory: %s", s->path,
                           strerror(errno));
    int rc = fsync(fd);
    close(fd);
    return rc == 0 ? 0 : errtext_set(err, EIO, "%s: disk error: %s", s->path, strerror(errno));
}

/* Exclusive locking must be set before WAL mode, which then needs no shared memory. */
static const char lock[] = "PRAGMA locking_mode = EXCLUSIVE";
static const char settings[] = "PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = FULL;"
                               "PRAGMA secure_delete = OFF;"
                               "PRAGMA trusted_schema = OFF;"
                               "PRAGMA cell_size_check = ON;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA cache_size = -4000;"
                               "PRAGMA journal_size_limit = 16777216;";

#define LOG_SIZE                                                                                   \
    (72 << 16) /* bytes: more than the log's size when SQLite restarts it, after 1000 pages */

/* Fill the log with zeros in advance: a commit then overwrites existing blocks, and syncing it need not
 * write the file's new size, which takes as long again or much longer. If there is no space, the log grows
 * as it is used.
 */
static void grow_log(struct store *s)
{
    static const char zeros[1 << 16];
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK ||
        !log || !log->pMethods || log->pMethods->xFileSize(log, &size) != SQLITE_OK)
        return;
    for (sqlite3_int64 at = size; at < LOG_SIZE; at += (sqlite3_int64)sizeof(zeros))
        if (log->pMethods->xWrite(log, zeros, sizeof(zeros), at) != SQLITE_OK) {
            log->pMethods->xTruncate(log, size);
            return;
        }
}

static bool is_same_file(struct store_place *place, const char *path)
{
    struct stat st;
    bool is_there = path && stat(path, &st) == 0;
    if (place->inode == 0 && is_there)
        *place = (struct store_place){st.st_dev, st.st_ino};
    return place->inode == 0 ||
           (is_there && st.st_dev == place->device && st.st_ino == place->inode);
}

int store_file_check(struct store *s, berth_error_t *err)
{
    if (!s->watched)
        return 0;
    /* If the path is a link, the log is beside the file it points to. */
    const char *log = sqlite3_filename_wal(sqlite3_db_filename(s->db, "main"));
    bool has_file = is_same_file(&s->file, s->path);
    if (is_same_file(&s->log, log) && has_file)
        return 0;
    return errtext_set(err, ESTALE,
                       "%s%s was deleted or replaced while berthd has it open: stop berthd, "
                       "put the right file in place and start it again",
                       s->path, has_file ? "-wal" : "");
}

int store_file_open(struct store *s, const char *vfs, berth_error_t *err)
{
    if (!vfs && create_file(s, err) < 0)
        return -1;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(s->path, &s->db, flags, vfs) != SQLITE_OK)
        return store_fail(s, err);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, (int)(2 * STORE_TEXT_MAX));
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    int64_t version = 0;
    if (sqlite3_exec(s->db, lock, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, err);
    if (check_version(s, STEPS, &version, err) < 0)
        return -1;
    if (sqlite3_exec(s->db, settings, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, err);
    if (store_migrate(s, steps, STEPS, err) < 0)
        return -1;
    grow_log(s);
    s->watched = !vfs;
    return store_file_check(s, err);
}
