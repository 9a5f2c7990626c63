/* A commit: write the batch, change by change, in one transaction. */
#include <errno.h>
#include <string.h>

#include "server/store/priv.h"

static const char *bytes_of(const struct store *s, const struct change *c)
{
    return s->batch.bytes.data + c->at;
}

/* Bind a text with a final zero, or NULL if size is 0. */
static void bind_text(sqlite3_stmt *q, int i, const char *text, size_t size)
{
    if (size > 0)
        sqlite3_bind_text64(q, i, text, size - 1, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(q, i);
}

static int insert_job(struct store *s, const struct change *c, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_JOB_ADD, err);
    sqlite3_stmt *live = store_sql(s, SQL_LIVE_ADD, err);
    if (!q || !live)
        return -1;
    const char *at = bytes_of(s, c);
    int64_t bytes = STORE_ROW + (int64_t)c->second;
    sqlite3_bind_int64(q, 1, c->job);
    sqlite3_bind_int64(q, 2, c->submitted.uid);
    bind_text(q, 3, at, c->first);
    sqlite3_bind_int64(q, 4, c->submitted.priority);
    sqlite3_bind_int64(q, 5, c->submitted.held);
    sqlite3_bind_int64(q, 6, c->submitted.limit);
    sqlite3_bind_int64(q, 7, c->submitted.estimate);
    at += c->first;
    sqlite3_bind_blob64(q, 8, at, c->second, SQLITE_STATIC);
    at += c->second;
    for (int kind = 0; kind < TEXTS; kind++) {
        size_t size = c->submitted.inline_text[kind];
        if (c->submitted.text[kind])
            sqlite3_bind_int64(q, 9 + kind, c->submitted.text[kind]->id);
        else if (size > 0)
            sqlite3_bind_blob64(q, 9 + kind, at, size, SQLITE_STATIC);
        else
            sqlite3_bind_null(q, 9 + kind);
        at += size;
        bytes += size > 0 ? (int64_t)size - 1 : 0;
    }
    if (store_run(s, q, err) < 0 || store_owner_change(s, c->submitted.uid, bytes, err) < 0)
        return -1;
    sqlite3_bind_int64(live, 1, c->job);
    sqlite3_bind_int64(live, 2, c->submitted.members);
    return store_run(s, live, err);
}

static int update_job(struct store *s, const struct change *c, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_JOB_SET, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    bind_text(q, 2, bytes_of(s, c), c->first);
    sqlite3_bind_int64(q, 3, c->set.priority);
    sqlite3_bind_int64(q, 4, c->set.held);
    sqlite3_bind_int64(q, 5, c->set.limit);
    sqlite3_bind_int64(q, 6, c->set.estimate);
    return store_run(s, q, err);
}

/* The row of a stored text that a job's request is; 0: it is stored with the job, or there is no such job. */
static int request_text(struct store *s, int64_t job, int64_t *text, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_JOB_TEXTS, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, job);
    int rc = sqlite3_step(q);
    *text = rc == SQLITE_ROW && sqlite3_column_type(q, 0) == SQLITE_INTEGER
                ? sqlite3_column_int64(q, 0)
                : 0;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

static int rewrite_job(struct store *s, const struct change *c, berth_error_t *err)
{
    const char *at = bytes_of(s, c) + c->first;
    int64_t old, before, after;
    size_t size = c->submitted.inline_text[TEXT_REQUEST];
    int there = store_ask(s, SQL_JOB_SIZE, c->job, 0, &before, err);
    if (there <= 0) /* no job that has not ended is deleted */
        return there;
    if (request_text(s, c->job, &old, err) < 0)
        return -1;
    sqlite3_stmt *q = store_sql(s, SQL_JOB_REWRITE, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    sqlite3_bind_blob64(q, 2, at, c->second, SQLITE_STATIC);
    if (c->submitted.text[TEXT_REQUEST])
        sqlite3_bind_int64(q, 3, c->submitted.text[TEXT_REQUEST]->id);
    else if (size > 0)
        sqlite3_bind_blob64(q, 3, at + c->second, size, SQLITE_STATIC);
    else
        sqlite3_bind_null(q, 3);
    if (store_run(s, q, err) < 0 || store_ask(s, SQL_JOB_SIZE, c->job, 0, &after, err) < 0 ||
        store_owner_change(s, c->submitted.uid, after - before, err) < 0)
        return -1;
    return old > 0 ? store_text_unuse(s, c->job, old, err) : 0;
}

/* Find the row of an ended member and the length of its record. 1: found; 0; -1. */
static int find_ended(struct store *s, const struct change *c, int64_t *number, int64_t *length,
                      berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_ENDED_FIND, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    sqlite3_bind_int64(q, 2, c->member.number);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) {
        *number = sqlite3_column_int64(q, 0);
        *length = sqlite3_column_int64(q, 1);
    } else if (rc != SQLITE_DONE) {
        store_fail(s, err);
    }
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

/* An ended member is live again: delete its row. */
static int revive_member(struct store *s, const struct change *c, berth_error_t *err)
{
    int64_t number, length;
    int rc = find_ended(s, c, &number, &length, err);
    if (rc <= 0)
        return rc;
    return store_owner_of_job(s, c->job, -STORE_ROW - length, err) < 0 ||
                   store_change(s, SQL_OVER_DROP, c->job, 0, err) < 0 ||
                   store_change(s, SQL_ENDED_DROP, number, 0, err) < 0 ||
                   store_change(s, SQL_LIVE_AGAIN, c->job, 0, err) < 0 ||
                   store_change(s, SQL_LIVE_CHANGE, c->job, 0, err) < 0
               ? -1
               : 0;
}

static int run_member_sql(struct store *s, enum sql which, const struct change *c, int64_t first,
                          berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, which, err);
    int i = 1;
    if (!q)
        return -1;
    sqlite3_bind_int64(q, i++, first);
    if (which != SQL_ENDED_SET)
        sqlite3_bind_int64(q, i++, c->member.number);
    sqlite3_bind_int64(q, i++, c->member.state);
    sqlite3_bind_int64(q, i++, c->member.end_wall);
    sqlite3_bind_blob64(q, i++, bytes_of(s, c), c->first, SQLITE_STATIC);
    if (which == SQL_ENDED_ADD && c->member.last > 0)
        sqlite3_bind_int64(q, i++, c->member.last);
    else if (which == SQL_ENDED_ADD)
        sqlite3_bind_null(q, i++);
    return store_run(s, q, err) < 0 ? -1 : sqlite3_changes(s->db) > 0;
}

/* Write a live member. It must not remain among the ended ones. */
static int write_live_member(struct store *s, const struct change *c, berth_error_t *err)
{
    int known = run_member_sql(s, SQL_MEMBER_SET, c, c->job, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (revive_member(s, c, err) < 0)
        return -1;
    return run_member_sql(s, SQL_MEMBER_ADD, c, c->job, err) < 0 ? -1 : 0;
}

/* Run a statement about the end of members. Returns the number of rows changed, or -1. */
static int64_t run_end_sql(struct store *s, enum sql which, const struct change *c,
                           berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, which, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, c->job);
    sqlite3_bind_int64(q, 2, c->member.end_wall);
    sqlite3_bind_int64(q, 3, c->member.count);
    return store_run(s, q, err) < 0 ? -1 : sqlite3_changes64(s->db);
}

/* Count the end of a member, or of a range; the job ends with its last one. */
static int count_end(struct store *s, const struct change *c, berth_error_t *err)
{
    int64_t last = run_end_sql(s, SQL_OVER_ADD, c, err);
    if (last < 0)
        return -1;
    int64_t rc = last ? store_change(s, SQL_LIVE_DROP, c->job, 0, err)
                      : run_end_sql(s, SQL_LIVE_ENDED, c, err);
    return rc < 0 ? -1 : 0;
}

static int write_ended_member(struct store *s, const struct change *c, berth_error_t *err)
{
    int64_t number = 0, length = 0;
    bool range = c->member.last > 0; /* of members that are not stored yet */
    int64_t lived = range ? 1 : store_change(s, SQL_MEMBER_DROP, c->job, c->member.number, err);
    int again = lived == 0 ? find_ended(s, c, &number, &length, err) : 0;
    if (lived < 0 || again < 0)
        return -1;
    if (again)
        return store_owner_of_job(s, c->job, (int64_t)c->first - length, err) < 0 ||
                       run_member_sql(s, SQL_ENDED_SET, c, number, err) < 0 ||
                       store_change(s, SQL_OVER_CHANGE, c->job, 0, err) < 0 ||
                       store_change(s, SQL_LIVE_CHANGE, c->job, 0, err) < 0
                   ? -1
                   : 0;
    int added = run_member_sql(s, SQL_ENDED_ADD, c, c->job, err);
    if (added <= 0)
        return added; /* 0: the job was deleted */
    if (store_owner_of_job(s, c->job, STORE_ROW + (int64_t)c->first, err) < 0)
        return -1;
    return count_end(s, c, err);
}

static int write_member_row(struct store *s, const struct change *c, berth_error_t *err)
{
    return c->member.state >= STORE_DONE ? write_ended_member(s, c, err)
                                         : write_live_member(s, c, err);
}

/* Events of deleted jobs are ignored: nothing would ever delete them. */
static int write_event(struct store *s, const struct change *c, berth_error_t *err)
{
    int64_t length = c->second > 0 ? (int64_t)c->second - 1 : 0;
    int rc = c->job > 0 ? store_owner_of_job(s, c->job, STORE_ROW + length, err) : 1;
    sqlite3_stmt *q = rc > 0 ? store_sql(s, SQL_EVENT_ADD, err) : NULL;
    if (!q)
        return rc > 0 ? -1 : rc;
    sqlite3_bind_int64(q, 1, c->event.number);
    sqlite3_bind_int64(q, 2, c->job);
    sqlite3_bind_int64(q, 3, c->event.member);
    sqlite3_bind_int64(q, 4, c->event.wall);
    bind_text(q, 5, bytes_of(s, c), c->first);
    bind_text(q, 6, bytes_of(s, c) + c->first, c->second);
    return store_run(s, q, err);
}

static int write_value(struct store *s, const char *name, size_t name_size, const char *value,
                       size_t value_size, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_PUT, err);
    if (!q)
        return -1;
    bind_text(q, 1, name, name_size);
    bind_text(q, 2, value, value_size);
    return store_run(s, q, err);
}

static int drop_values(struct store *s, const struct change *c, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_VALUES_DROP, err);
    if (!q)
        return -1;
    bind_text(q, 1, bytes_of(s, c), c->first);
    bind_text(q, 2, bytes_of(s, c) + c->first, c->second);
    return store_run(s, q, err);
}

static int write_number(struct store *s, const char *name, int64_t number, berth_error_t *err)
{
    char digits[STRBUF_NUMBER_MAX + 1];
    size_t n = strbuf_decimal(digits, (uint64_t)number);
    return write_value(s, name, strlen(name) + 1, digits, n + 1, err);
}

int store_write_last(struct store *s, berth_error_t *err)
{
    return write_number(s, STORE_LAST_JOB, s->last_job, err) < 0 ||
                   write_number(s, STORE_LAST_EVENT, s->last_event, err) < 0
               ? -1
               : 0;
}

static int write_change(struct store *s, const struct change *c, berth_error_t *err)
{
    switch (c->kind) {
    case CHANGE_JOB:
        return insert_job(s, c, err);
    case CHANGE_SET_JOB:
        return update_job(s, c, err);
    case CHANGE_REWRITE:
        return rewrite_job(s, c, err);
    case CHANGE_MEMBER:
        return write_member_row(s, c, err);
    case CHANGE_EVENT:
        return write_event(s, c, err);
    case CHANGE_VALUE:
        return write_value(s, bytes_of(s, c), c->first, bytes_of(s, c) + c->first, c->second, err);
    case CHANGE_VALUES:
        return drop_values(s, c, err);
    }
    return 0;
}

static int write_batch(struct store *s, berth_error_t *err)
{
    const struct batch *b = &s->batch;
    if (store_texts_write(s, err) < 0)
        return -1;
    for (size_t i = 0; i < b->n; i++)
        if (write_change(s, &b->change[i], err) < 0)
            return -1;
    return store_end(s, err);
}

int store_commit(store_t *s, berth_error_t *err)
{
    if (s->batch.n == 0)
        return 0;
    if (store_file_check(s, err) < 0 || store_begin(s, err) < 0)
        return -1;
    if (write_batch(s, err) < 0) {
        store_undo(s);
        return -1;
    }
    s->last_job = s->batch.last_job;
    s->last_event = s->batch.last_event;
    store_rollback(s); /* the batch is empty */
    return 0;
}
