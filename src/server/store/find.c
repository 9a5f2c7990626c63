/* Listings of ended members, or of jobs that are over. A cursor remembers its position by number (of an end,
 * or of job and member), so its statement can be reset for any write and continue afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/store/priv.h"

enum { LOOK_MAX = 4096 }; /* rows that a call scans before it returns EAGAIN */

struct store_cursor {
    struct store *s;
    struct store_cursor *next;
    struct store_query query;
    char *queue, *name;
    sqlite3_stmt *walk;
    bool walking;        /* `walk` is bound and being stepped */
    int64_t number;      /* the last row, newest first; of jobs, the time of its end */
    int64_t job, member; /* the last row, oldest first */
    int64_t left;        /* rows left to return */
};

#define WALK                                                                                       \
    "SELECT e.job, e.member, e.state, e.end_wall, e.record, e.number, e.uid, " STORE_JOB_BRIEF     \
    " FROM ended e LEFT JOIN job j ON j.id = e.job "

/* By direction, and for one job or all; ?1 and ?2 are the position, ?3 is the job. */
static const char *const walk[2][2] = {
    {WALK "WHERE (e.job, e.member) > (?1, ?2) ORDER BY e.job, e.member",
     WALK "WHERE e.job = ?3 AND e.member > ?2 ORDER BY e.job, e.member"},
    {WALK "WHERE e.number < ?1 ORDER BY e.number DESC",
     WALK "WHERE e.number < ?1 AND e.job = ?3 ORDER BY e.number DESC"},
};
enum { NUMBER = 5, UID = 6, JOB = 7 }; /* columns */

/* Jobs with their first member: oldest and newest first; ?1 and ?2 are the position. */
#define WALK_JOBS                                                                                  \
    "SELECT e.job, e.member, e.state, o.end_wall, e.record, o.end_wall, e.uid, " STORE_JOB_BRIEF   \
    " FROM over o JOIN ended e ON e.number = (SELECT f.number FROM ended f WHERE f.job = o.job"    \
    " ORDER BY f.member LIMIT 1) LEFT JOIN job j ON j.id = o.job "

static const char *const walk_jobs[2] = {
    WALK_JOBS "WHERE o.job > ?1 ORDER BY o.job",
    WALK_JOBS "WHERE (o.end_wall, o.job) < (?1, ?2) ORDER BY o.end_wall DESC, o.job DESC",
};

static const char walk_members[] =
    "SELECT job, member, state, end_wall, record, number, uid FROM ended"
    " WHERE job = ?3 AND member > ?2 ORDER BY job, member";

static const char *walk_text(const struct store_query *q)
{
    return q->members_only ? walk_members
           : q->by_job     ? walk_jobs[q->newest_first]
                           : walk[q->newest_first][q->job > 0];
}

void store_cursors_settle(struct store *s)
{
    for (struct store_cursor *c = s->cursors; c; c = c->next) {
        if (c->walk)
            sqlite3_reset(c->walk);
        c->walking = false;
    }
}

void store_cursor_close(struct store_cursor *c)
{
    if (!c)
        return;
    for (struct store_cursor **at = &c->s->cursors; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    sqlite3_finalize(c->walk);
    free(c->queue);
    free(c->name);
    free(c);
}

/* Position the cursor after a member or a job. From the newest on, that is the number or time of its end; if
 * that was deleted, so were all ends before it.
 */
static int cursor_seek(struct store_cursor *c, berth_error_t *err)
{
    c->number = INT64_MAX;
    c->job = 0;
    c->member = -1;
    if (c->query.after_job <= 0)
        return 0;
    c->job = c->query.after_job;
    c->member = c->query.after_member;
    if (!c->query.newest_first)
        return 0;
    sqlite3_stmt *q = store_sql(c->s, c->query.by_job ? SQL_OVER_FIND : SQL_ENDED_FIND, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    if (!c->query.by_job)
        sqlite3_bind_int64(q, 2, c->member < 0 ? 0 : c->member);
    int rc = sqlite3_step(q);
    c->number = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : INT64_MIN;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        store_fail(c->s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

static int cursor_prepare(struct store_cursor *c, berth_error_t *err)
{
    if (sqlite3_prepare_v2(c->s->db, walk_text(&c->query), -1, &c->walk, NULL) != SQLITE_OK)
        return store_fail(c->s, err);
    return cursor_seek(c, err);
}

struct store_cursor *store_find(store_t *s, const struct store_query *query, berth_error_t *err)
{
    store_settle(s);
    struct store_cursor *c = calloc(1, sizeof(*c));
    if (!c) {
        store_no_memory(s, err);
        return NULL;
    }
    c->s = s;
    c->query = *query;
    c->left = query->limit > 0 ? query->limit : INT64_MAX;
    c->queue = query->queue ? strdup(query->queue) : NULL;
    c->name = query->name ? strdup(query->name) : NULL;
    int rc = !c->queue == !query->queue && !c->name == !query->name ? cursor_prepare(c, err)
                                                                    : store_no_memory(s, err);
    if (rc < 0) {
        int saved = errno;
        store_cursor_close(c);
        errno = saved;
        return NULL;
    }
    c->next = s->cursors;
    s->cursors = c;
    return c;
}

/* Advance to the next row. 1, 0 or -1. */
static int cursor_advance(struct store_cursor *c, berth_error_t *err)
{
    if (!c->walking) {
        sqlite3_reset(c->walk);
        sqlite3_bind_int64(c->walk, 1, c->query.newest_first ? c->number : c->job);
        sqlite3_bind_int64(c->walk, 2, c->query.by_job ? c->job : c->member);
        sqlite3_bind_int64(c->walk, 3, c->query.job);
        c->walking = true;
    }
    int rc = sqlite3_step(c->walk);
    if (rc == SQLITE_ROW) {
        c->job = sqlite3_column_int64(c->walk, 0);
        c->member = sqlite3_column_int64(c->walk, 1);
        c->number = sqlite3_column_int64(c->walk, NUMBER);
        return 1;
    }
    if (rc != SQLITE_DONE)
        store_fail(c->s, err);
    int saved = errno;
    sqlite3_reset(c->walk);
    c->walking = false;
    errno = saved;
    return rc == SQLITE_DONE ? 0 : -1;
}

static bool text_matches(const char *wanted, const char *text)
{
    return !wanted || (text && strcmp(wanted, text) == 0);
}

static bool state_matches(const struct store_cursor *c)
{
    int64_t state = sqlite3_column_int64(c->walk, 2);
    return c->query.states == 0 || (state >= 0 && state < 32 && c->query.states >> state & 1);
}

/* Whether the row matches the query, as far as it tells without its job. */
static bool row_matches(const struct store_cursor *c)
{
    const struct store_query *q = &c->query;
    return (q->by_job || q->members_only || state_matches(c)) &&
           (q->uid < 0 || q->uid == sqlite3_column_int64(c->walk, UID)) &&
           sqlite3_column_int64(c->walk, 3) >= q->since_wall;
}

/* Whether the row's job matches it. */
static bool job_fits(const struct store_cursor *c, const struct store_job *job)
{
    return text_matches(c->queue, job->queue) && text_matches(c->name, job->name) &&
           (!c->query.by_job || job->members > 1 || state_matches(c));
}

/* Read the row's job, if that is asked for. 1: it matches; 0; -1. */
static int read_job(struct store_cursor *c, struct store_job *job, berth_error_t *err)
{
    if (c->query.members_only)
        return 1;
    if (sqlite3_column_type(c->walk, JOB) == SQLITE_NULL)
        return store_damaged(c->s, "a member of a missing job", c->job, err);
    if (store_job_row(c->s, c->walk, JOB, false, job, err) < 0)
        return -1;
    return job_fits(c, job);
}

int store_next(struct store_cursor *c, struct store_job *job, struct store_member *member,
               berth_error_t *err)
{
    if (c->left == 0)
        return 0;
    for (int looked = 0; looked < LOOK_MAX; looked++) {
        int rc = cursor_advance(c, err);
        if (rc <= 0)
            return rc;
        if (!row_matches(c))
            continue;
        if ((rc = read_job(c, job, err)) < 0)
            return -1;
        if (rc == 0)
            continue;
        if (store_member_row(c->s, c->walk, 0, true, member, err) < 0)
            return -1;
        c->left--;
        return 1;
    }
    return errtext_set(err, EAGAIN, "%s: more rows to scan", c->s->path);
}
