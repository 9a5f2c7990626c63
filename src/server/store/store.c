/* Opening and closing the store; values and numbers. */
#include "server/store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/store/priv.h"

#define NUMBER_MAX (INT64_MAX / 100) /* well below overflow */

/* Read a value that is a number of at least 0; 0 if there is none. */
static int get_stored_number(struct store *s, const char *name, int64_t *number, berth_error_t *err)
{
    const char *text;
    if (store_get(s, name, &text, err) < 0)
        return -1;
    *number = 0;
    for (; text && *text; text++) {
        if (*text < '0' || *text > '9' || *number > NUMBER_MAX / 10)
            return store_damaged(s, name, 0, err);
        *number = 10 * *number + (*text - '0');
    }
    return 0;
}

/* The highest id ever: of the rows there are, or as noted before rows were deleted. */
static int get_last(struct store *s, const char *name, enum sql which, int64_t *number,
                    berth_error_t *err)
{
    if (get_stored_number(s, name, number, err) < 0)
        return -1;
    int64_t there = 0;
    if (store_ask(s, which, 0, 0, &there, err) < 0)
        return -1;
    if (there > NUMBER_MAX)
        return store_damaged(s, name, 0, err);
    if (there > *number)
        *number = there;
    return 0;
}

store_t *store_open(const char *path, const char *vfs, berth_error_t *err)
{
    struct store *s = calloc(1, sizeof(*s));
    if (s)
        s->path = strdup(path);
    if (!s || !s->path) {
        errtext_set(err, ENOMEM, "%s: out of memory", path);
        free(s);
        return NULL;
    }
    if (store_file_open(s, vfs, err) < 0 ||
        get_last(s, STORE_LAST_JOB, SQL_JOB_LAST, &s->last_job, err) < 0 ||
        get_last(s, STORE_LAST_EVENT, SQL_EVENT_LAST, &s->last_event, err) < 0) {
        int saved = errno;
        store_close(s);
        errno = saved;
        return NULL;
    }
    store_settle(s);
    store_rollback(s);
    return s;
}

void store_close(store_t *s)
{
    if (!s)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(s->sql[i]);
    sqlite3_close(s->db);
    store_text_forget(s);
    store_batch_clear(&s->batch);
    free(s->batch.change);
    free(s->kept);
    strbuf_clear(&s->batch.bytes);
    strbuf_clear(&s->scratch);
    free(s->owners.v);
    free(s->path);
    free(s);
}

int store_get(store_t *s, const char *name, const char **value, berth_error_t *err)
{
    store_settle(s);
    *value = NULL;
    sqlite3_stmt *q = store_sql(s, SQL_GET, err);
    if (!q)
        return -1;
    s->reading[0] = q;
    sqlite3_bind_text(q, 1, name, -1, SQLITE_TRANSIENT);
    int rc = sqlite3_step(q);
    if (rc == SQLITE_DONE)
        return 0;
    if (rc != SQLITE_ROW)
        return store_fail(s, err);
    *value = (const char *)sqlite3_column_text(q, 0);
    return *value ? 0 : store_fail(s, err);
}

bool store_above(const char *prefix, char *above, size_t size)
{
    size_t n = strlen(prefix);
    if (n == 0 || n >= size || (unsigned char)prefix[n - 1] >= 0x7f)
        return false;
    memcpy(above, prefix, n + 1);
    above[n - 1]++;
    return true;
}

int store_values(store_t *s, const char *prefix,
                 int (*visit)(void *context, const char *name, const char *value), void *context,
                 berth_error_t *err)
{
    char above[100];
    if (!store_above(prefix, above, sizeof(above)))
        return errtext_set(err, EINVAL, "%s: %s: invalid prefix", s->path, prefix);
    store_settle(s);
    sqlite3_stmt *q = store_sql(s, SQL_VALUES, err);
    if (!q)
        return -1;
    sqlite3_bind_text(q, 1, prefix, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(q, 2, above, -1, SQLITE_TRANSIENT);
    int rc = 0, step = SQLITE_ROW;
    while (rc == 0 && (step = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        const char *value = (const char *)sqlite3_column_text(q, 1);
        rc = name && value ? visit(context, name, value) : store_fail(s, err);
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return rc == 0 ? 0 : -1;
}

int64_t store_last_job(const store_t *s)
{
    return s->batch.last_job;
}

int64_t store_last_event(const store_t *s)
{
    return s->batch.last_event;
}

bool store_is_changed(const store_t *s)
{
    return s->batch.n > 0;
}

void store_rollback(store_t *s)
{
    store_batch_clear(&s->batch);
    s->batch.last_job = s->last_job;
    s->batch.last_event = s->last_event;
}
