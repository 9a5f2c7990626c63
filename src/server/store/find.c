/* Listings of ended members, or of jobs that are over. A cursor remembers its position by number (of an end,
 * or of job and member), so its statement can be reset for any write and continue afterwards. Of a row that
 * is of a range of members each comes by itself, in ascending order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"
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
    int64_t job, member; /* the last row, oldest first, and the last member */
    int64_t left;        /* rows left to return */
    /* The last row is of a range, and the last member not its last one. */
    bool inside;
    int64_t row_first, row_last;
    struct idset indices; /* of its job's members, if these have gaps */
};

#define WALK                                                                                       \
    "SELECT e.job, e.member, e.state, e.end_wall, e.record, e.number, e.uid, e.last,"              \
    " " STORE_JOB_BRIEF " FROM ended e LEFT JOIN job j ON j.id = e.job "

/* By direction, and for one job or all; ?1 and ?2 are the position, ?3 is the job. */
static const char *const walk[2][2] = {
    {WALK "WHERE (e.job, e.member) > (?1, ?2) ORDER BY e.job, e.member",
     WALK "WHERE e.job = ?3 AND e.member > ?2 ORDER BY e.job, e.member"},
    {WALK "WHERE e.number < ?1 ORDER BY e.number DESC",
     WALK "WHERE e.number < ?1 AND e.job = ?3 ORDER BY e.number DESC"},
};
enum { NUMBER = 5, UID = 6, LAST = 7, JOB = 8 }; /* columns */

/* Jobs with their first member: oldest and newest first; ?1 and ?2 are the position. */
#define WALK_JOBS                                                                                  \
    "SELECT e.job, e.member, e.state, o.end_wall, e.record, o.end_wall, e.uid, NULL,"              \
    " " STORE_JOB_BRIEF                                                                            \
    " FROM over o JOIN ended e ON e.number = (SELECT f.number FROM ended f WHERE f.job = o.job"    \
    " ORDER BY f.member LIMIT 1) LEFT JOIN job j ON j.id = o.job "

static const char *const walk_jobs[2] = {
    WALK_JOBS "WHERE o.job > ?1 ORDER BY o.job",
    WALK_JOBS "WHERE (o.end_wall, o.job) < (?1, ?2) ORDER BY o.end_wall DESC, o.job DESC",
};

static const char walk_members[] =
    "SELECT job, member, state, end_wall, record, number, uid, last FROM ended"
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
    idset_clear(&c->indices);
    free(c->queue);
    free(c->name);
    free(c);
}

/* Find the row of a member. 1: found, with its number, first and last member; 0; -1. */
static int find_row(struct store_cursor *c, enum sql which, int64_t *number, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(c->s, which, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    if (which == SQL_ENDED_AT)
        sqlite3_bind_int64(q, 2, c->member < 0 ? 0 : c->member);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        *number = sqlite3_column_int64(q, 0);
        c->row_first = which == SQL_ENDED_AT ? sqlite3_column_int64(q, 1) : c->member;
        c->row_last = which == SQL_ENDED_AT ? sqlite3_column_int64(q, 2) : c->member;
    } else if (rc != SQLITE_DONE) {
        store_fail(c->s, err);
    }
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

/* Position the cursor after a member or a job. From the newest on, that is the number or time of its end; if
 * that was deleted, so were all ends before it.
 */
static int cursor_seek(struct store_cursor *c, berth_error_t *err)
{
    int64_t number = INT64_MIN;
    c->number = INT64_MAX;
    c->job = 0;
    c->member = -1;
    if (c->query.after_job <= 0)
        return 0;
    c->job = c->query.after_job;
    c->member = c->query.after_member;
    int rc = find_row(c, c->query.by_job ? SQL_OVER_FIND : SQL_ENDED_AT, &number, err);
    if (rc < 0)
        return -1;
    bool found = rc > 0 && (c->query.by_job || c->member < 0 || c->row_last >= c->member);
    c->inside = found && !c->query.by_job && c->row_first <= c->member && c->row_last > c->member;
    if (c->query.newest_first)
        c->number = found ? number : INT64_MIN;
    return 0;
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

struct store_cursor *store_find_members(store_t *s, int64_t id, berth_error_t *err)
{
    const struct store_query query = {.uid = -1,
                                      .job = id,
                                      .since_wall = -1,
                                      .after_job = -1,
                                      .after_member = -1,
                                      .members_only = true};
    return store_find(s, &query, err);
}

/* Where the row is of a range: learn which members its job has. 0 or -1. */
static int learn_indices(struct store_cursor *c, berth_error_t *err)
{
    struct store_job job;
    idset_reset(&c->indices);
    if (sqlite3_column_type(c->walk, JOB) == SQLITE_NULL)
        return 0; /* which is found out later */
    if (store_job_row(c->s, c->walk, JOB, false, &job, err) < 0)
        return -1;
    if (job.indices && idset_decode_steps(&c->indices, job.indices, strlen(job.indices), NULL) < 0)
        return errno == ENOMEM ? store_no_memory(c->s, err)
                               : store_damaged(c->s, "invalid indices", c->job, err);
    return 0;
}

/* Take the next member of the row's range. False: there are no more. */
static bool next_inside(struct store_cursor *c)
{
    int64_t next = c->member + 1;
    if (c->indices.n > 0 && !idset_has(&c->indices, (uint32_t)next)) {
        uint32_t known = idset_next(&c->indices, (uint32_t)next);
        next = known == IDSET_NONE ? INT64_MAX : (int64_t)known;
    }
    c->inside = next <= c->row_last;
    if (c->inside)
        c->member = next;
    return c->inside;
}

/* The walk is on a row. 1: at its first member, or at the next one of a range that was left; 0: there are no
 * more of that; -1.
 */
static int enter_row(struct store_cursor *c, berth_error_t *err)
{
    int64_t number = sqlite3_column_int64(c->walk, NUMBER);
    int64_t job = sqlite3_column_int64(c->walk, 0), first = sqlite3_column_int64(c->walk, 1);
    bool again = c->inside && c->job == job && c->row_first == first;
    c->number = number;
    c->job = job;
    c->row_first = first;
    bool is_range = sqlite3_column_type(c->walk, LAST) != SQLITE_NULL;
    c->row_last = is_range ? sqlite3_column_int64(c->walk, LAST) : first;
    c->inside = is_range && !c->query.members_only;
    if (c->inside && learn_indices(c, err) < 0)
        return -1;
    if (again)
        return next_inside(c);
    c->member = c->query.members_only ? c->row_last : first;
    return 1;
}

static void begin_walk(struct store_cursor *c)
{
    int64_t number = c->number + (c->inside && c->number < INT64_MAX);
    int64_t member = c->inside ? c->row_first - 1 : c->member;
    sqlite3_reset(c->walk);
    sqlite3_bind_int64(c->walk, 1, c->query.newest_first ? number : c->job);
    sqlite3_bind_int64(c->walk, 2, c->query.by_job ? c->job : member);
    sqlite3_bind_int64(c->walk, 3, c->query.job);
    c->walking = true;
}

/* Advance to the next member. 1, 0 or -1. */
static int cursor_advance(struct store_cursor *c, berth_error_t *err)
{
    int rc, entered;
    if (c->walking && c->inside && next_inside(c))
        return 1;
    if (!c->walking)
        begin_walk(c);
    while ((rc = sqlite3_step(c->walk)) == SQLITE_ROW)
        if ((entered = enter_row(c, err)) != 0)
            return entered;
    if (rc != SQLITE_DONE)
        store_fail(c->s, err);
    int saved = errno;
    sqlite3_reset(c->walk);
    c->walking = false;
    errno = saved;
    return rc == SQLITE_DONE ? 0 : -1;
}

/* What is said of one member of a range is said of all. */
static void skip_row(struct store_cursor *c)
{
    if (c->inside)
        c->member = c->row_last;
    c->inside = false;
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
        rc = row_matches(c) ? read_job(c, job, err) : 0;
        if (rc < 0)
            return -1;
        if (rc == 0) {
            skip_row(c);
            continue;
        }
        if (store_member_row(c->s, c->walk, 0, true, member, err) < 0)
            return -1;
        if (c->query.members_only)
            member->last = c->row_last > c->row_first ? (uint32_t)c->row_last : 0;
        else if (!c->query.by_job)
            member->member = (uint32_t)c->member;
        c->left--;
        return 1;
    }
    return errtext_set(err, EAGAIN, "%s: more rows to scan", c->s->path);
}
