/* Reading: live jobs when the server starts, single jobs and members, events. */
#include <errno.h>

#include "base/errtext.h"
#include "server/store/priv.h"
#include "server/store/record.h"

/* A text, or NULL where there is none. */
static int column_text(struct store *s, sqlite3_stmt *q, int column, const char **text,
                       berth_error_t *err)
{
    *text = NULL;
    int type = sqlite3_column_type(q, column);
    if (type == SQLITE_NULL)
        return 0;
    if (type != SQLITE_TEXT)
        return store_damaged(s, "a text has the wrong type", 0, err);
    *text = (const char *)sqlite3_column_text(q, column);
    return *text ? 0 : store_fail(s, err);
}

/* A record, valid while the statement is on its row. */
static const void *column_record(struct store *s, sqlite3_stmt *q, int column, size_t *length)
{
    const void *blob = sqlite3_column_blob(q, column);
    *length = (size_t)sqlite3_column_bytes(q, column);
    if (!blob && sqlite3_errcode(s->db) != SQLITE_NOMEM)
        return "";
    return blob;
}

int store_job_row(struct store *s, sqlite3_stmt *q, int column, bool all, struct store_job *job,
                  berth_error_t *err)
{
    size_t length, ignored;
    int64_t uid = sqlite3_column_int64(q, column + 1);
    int64_t held = sqlite3_column_int64(q, column + 4);
    *job = (struct store_job){
        .id = sqlite3_column_int64(q, column),
        .uid = (uint32_t)uid,
        .priority = sqlite3_column_int64(q, column + 3),
        .held = held != 0,
        .limit = sqlite3_column_int64(q, column + 5),
        .estimate = sqlite3_column_int64(q, column + 6),
    };
    const void *record = column_record(s, q, column + 7, &length);
    if (!record)
        return store_fail(s, err);
    if (store_job_decode(record, length, job) < 0 || !store_job_is_valid(job) || uid < 0 ||
        uid > UINT32_MAX || held < 0 || held > 1 || job->limit < 0 || job->estimate < 0)
        return store_damaged(s, "invalid record", job->id, err);
    if (column_text(s, q, column + 2, &job->queue, err) < 0 ||
        store_text_read(s, TEXT_REQUEST, q, column + 8, &job->request, &ignored, err) < 0)
        return -1;
    if (!all)
        return 0;
    return store_text_read(s, TEXT_ENVIRONMENT, q, column + 9, &job->environment, &ignored, err) <
                       0 ||
                   store_text_read(s, TEXT_SCRIPT, q, column + 10, &job->script,
                                   &job->script_length, err) < 0
               ? -1
               : 0;
}

int store_member_row(struct store *s, sqlite3_stmt *q, int column, bool ended,
                     struct store_member *member, berth_error_t *err)
{
    size_t length;
    int64_t number = sqlite3_column_int64(q, column + 1);
    int64_t state = sqlite3_column_int64(q, column + 2);
    *member = (struct store_member){
        .job = sqlite3_column_int64(q, column),
        .member = (uint32_t)number,
        .end_wall = sqlite3_column_int64(q, column + 3),
    };
    const void *record = column_record(s, q, column + 4, &length);
    if (!record)
        return store_fail(s, err);
    if (number < 0 || number > UINT32_MAX || state < STORE_PENDING || state > STORE_TIMEOUT ||
        (state >= STORE_DONE) != ended)
        return store_damaged(s, "a member's state", member->job, err);
    member->state = (enum store_state)state;
    if (store_member_decode(record, length, member) < 0 || !store_member_is_valid(member))
        return store_damaged(s, "a member's record", member->job, err);
    return 0;
}

/* Step a bound statement. 1: there is a row, valid until the next call; 0: none; -1. */
static int read_row(struct store *s, sqlite3_stmt *q, int i, berth_error_t *err)
{
    s->reading[i] = q;
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : store_fail(s, err);
}

int store_read_job(store_t *s, int64_t id, struct store_job *job, berth_error_t *err)
{
    store_settle(s);
    sqlite3_stmt *q = store_sql(s, SQL_JOB_READ, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, id);
    int rc = store_is_reserved(s, id) ? 0 : read_row(s, q, 0, err);
    if (rc == 0)
        return errtext_set(err, ENOENT, "%s: no job %lld", s->path, (long long)id);
    return rc < 0 ? -1 : store_job_row(s, q, 0, true, job, err);
}

int store_read_member(store_t *s, int64_t id, uint32_t member, struct store_member *out,
                      berth_error_t *err)
{
    store_settle(s);
    for (int ended = 0; ended < 2; ended++) {
        sqlite3_stmt *q = store_sql(s, ended ? SQL_ENDED_READ : SQL_MEMBER_READ, err);
        if (!q)
            return -1;
        sqlite3_bind_int64(q, 1, id);
        sqlite3_bind_int64(q, 2, member);
        int rc = read_row(s, q, ended, err);
        if (rc != 0)
            return rc < 0 ? -1 : store_member_row(s, q, 0, ended, out, err);
    }
    return errtext_set(err, ENOENT, "%s: no record of member %u of job %lld", s->path, member,
                       (long long)id);
}

/* Loading merges three sorted statements: live jobs, live members, and the ended members of a live job that
 * has some.
 */
struct load {
    struct store *s;
    const struct store_visitor *visitor;
    sqlite3_stmt *jobs, *members, *ended;
    bool more_members, more_ended; /* they are on a row */
    berth_error_t *err;
};

static int step_rows(struct load *l, sqlite3_stmt *q, bool *more)
{
    int rc = sqlite3_step(q);
    *more = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : store_fail(l->s, l->err);
}

static int load_live_members(struct load *l, const struct store_job *job)
{
    struct store_member member;
    for (;;) {
        bool live = l->more_members && sqlite3_column_int64(l->members, 0) <= job->id;
        if (!live && !l->more_ended)
            return 0;
        bool ended = l->more_ended && (!live || sqlite3_column_int64(l->ended, 1) <
                                                    sqlite3_column_int64(l->members, 1));
        sqlite3_stmt *q = ended ? l->ended : l->members;
        if (store_member_row(l->s, q, 0, ended, &member, l->err) < 0)
            return -1;
        if (member.job != job->id)
            return store_damaged(l->s, "a member of a missing job", member.job, l->err);
        if (ended && sqlite3_column_int64(q, 5) > member.member)
            member.last = (uint32_t)sqlite3_column_int64(q, 5);
        if (l->visitor->member(l->visitor->context, &member) != 0)
            return -1;
        if (step_rows(l, q, ended ? &l->more_ended : &l->more_members) < 0)
            return -1;
    }
}

static int load_live_job(struct load *l)
{
    struct store_job job;
    int64_t remaining = sqlite3_column_int64(l->jobs, 0);
    if (store_job_row(l->s, l->jobs, 1, true, &job, l->err) < 0)
        return -1;
    if (remaining <= 0 || remaining > job.count)
        return store_damaged(l->s, "wrong number of members", job.id, l->err);
    if (l->visitor->job(l->visitor->context, &job) != 0)
        return -1;
    if (remaining < job.count) {
        sqlite3_reset(l->ended);
        sqlite3_bind_int64(l->ended, 1, job.id);
        if (step_rows(l, l->ended, &l->more_ended) < 0)
            return -1;
    }
    return load_live_members(l, &job);
}

static int load_live(struct load *l)
{
    bool more = false;
    if (step_rows(l, l->jobs, &more) < 0 || step_rows(l, l->members, &l->more_members) < 0)
        return -1;
    while (more)
        if (load_live_job(l) < 0 || step_rows(l, l->jobs, &more) < 0)
            return -1;
    if (l->more_members)
        return store_damaged(l->s, "a member of a missing job", sqlite3_column_int64(l->members, 0),
                             l->err);
    return 0;
}

int store_load(store_t *s, const struct store_visitor *visitor, berth_error_t *err)
{
    store_settle(s);
    struct load l = {
        .s = s,
        .visitor = visitor,
        .jobs = store_sql(s, SQL_LOAD, err),
        .members = store_sql(s, SQL_LOAD_MEMBERS, err),
        .ended = store_sql(s, SQL_ENDED_OF_JOB, err),
        .err = err,
    };
    if (!l.jobs || !l.members || !l.ended)
        return -1;
    int rc = load_live(&l);
    int saved = errno;
    sqlite3_reset(l.jobs);
    sqlite3_reset(l.members);
    sqlite3_reset(l.ended);
    errno = saved;
    return rc;
}

static int event_row(struct store *s, sqlite3_stmt *q, struct store_event *event,
                     berth_error_t *err)
{
    *event = (struct store_event){
        .number = sqlite3_column_int64(q, 0),
        .wall = sqlite3_column_int64(q, 1),
        .job = sqlite3_column_int64(q, 2),
        .member = sqlite3_column_int64(q, 3),
    };
    if (column_text(s, q, 4, &event->kind, err) < 0 || column_text(s, q, 5, &event->data, err) < 0)
        return -1;
    if (event->number <= 0 || event->job < 0 || event->member < -1 || event->member > UINT32_MAX ||
        !event->kind)
        return store_damaged(s, "an event", event->job, err);
    return 0;
}

int store_events(store_t *s, int64_t after, int64_t job, int64_t max, void *context,
                 int (*visit)(void *context, const struct store_event *event), berth_error_t *err)
{
    store_settle(s);
    sqlite3_stmt *q = store_sql(s, job > 0 ? SQL_EVENTS_OF_JOB : SQL_EVENTS, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, after);
    sqlite3_bind_int64(q, 2, max);
    if (job > 0)
        sqlite3_bind_int64(q, 3, job);
    struct store_event event;
    int rc = 0, step;
    bool early = false;
    while (rc == 0 && !early && (step = sqlite3_step(q)) != SQLITE_DONE) {
        rc = step == SQLITE_ROW ? event_row(s, q, &event, err) : store_fail(s, err);
        early = rc == 0 && visit(context, &event) != 0;
    }
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc;
}
