/* Deleting old jobs, a user's excess history, or incomplete bulk submissions: events first, then members,
 * then the job and its unshared texts.
 */
#include <errno.h>

#include "server/store/priv.h"

/* Credit a job's owner with the bytes of rows that are about to be deleted. */
static int credit_owner(struct store *s, enum sql size, int64_t job, int64_t max,
                        berth_error_t *err)
{
    int64_t bytes;
    int rc = store_ask(s, size, job, max, &bytes, err);
    return rc <= 0 || store_owner_of_job(s, job, -bytes, err) >= 0 ? rc : -1;
}

int store_text_unuse(struct store *s, int64_t job, int64_t text, berth_error_t *err)
{
    int64_t bytes;
    if (store_change(s, SQL_TEXT_UNUSE, text, 0, err) < 0)
        return -1;
    int rc = store_ask(s, SQL_TEXT_UNUSED, text, 0, &bytes, err);
    if (rc <= 0)
        return rc;
    return store_owner_of_job(s, job, -bytes, err) < 0 ||
                   store_change(s, SQL_TEXT_DROP, text, 0, err) < 0
               ? -1
               : 0;
}

/* A job no longer uses its texts. */
static int unuse_texts(struct store *s, int64_t job, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_JOB_TEXTS, err);
    if (!q)
        return -1;
    int64_t id[TEXTS] = {0};
    sqlite3_bind_int64(q, 1, job);
    int rc = sqlite3_step(q);
    for (int kind = 0; rc == SQLITE_ROW && kind < TEXTS; kind++)
        if (sqlite3_column_type(q, kind) == SQLITE_INTEGER)
            id[kind] = sqlite3_column_int64(q, kind);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return -1;
    for (int kind = 0; kind < TEXTS; kind++)
        if (id[kind] > 0 && store_text_unuse(s, job, id[kind], err) < 0)
            return -1;
    return 0;
}

/* Delete up to *left rows of a job; if some of *left remain, it is gone. */
static int drop_job(struct store *s, int64_t job, int64_t *left, berth_error_t *err)
{
    static const enum sql parts[] = {SQL_EVENT_RETAIN, SQL_ENDED_RETAIN};
    static const enum sql sizes[] = {SQL_EVENT_SIZE, SQL_ENDED_SIZE};
    for (int i = 0; i < 2; i++) {
        if (credit_owner(s, sizes[i], job, *left, err) < 0)
            return -1;
        int64_t n = store_change(s, parts[i], job, *left, err);
        if (n < 0)
            return -1;
        *left -= n;
        if (*left <= 0)
            return 0;
    }
    if (unuse_texts(s, job, err) < 0 || credit_owner(s, SQL_JOB_SIZE, job, 0, err) < 0 ||
        store_change(s, SQL_JOB_DROP, job, 0, err) < 0 ||
        store_change(s, SQL_OVER_DROP, job, 0, err) < 0 ||
        store_change(s, SQL_LIVE_DROP, job, 0, err) < 0)
        return -1;
    --*left;
    return 0;
}

static int drop_before(struct store *s, int64_t before, int64_t *left, berth_error_t *err)
{
    int64_t found;
    int rc = 0;
    while (*left > 0 && (rc = store_ask(s, SQL_OVER_FIRST, before, 0, &found, err)) > 0)
        if (drop_job(s, found, left, err) < 0)
            return -1;
    while (rc >= 0 && *left > 0 && (rc = store_ask(s, SQL_EVENT_SERVER, 0, 0, &found, err)) > 0 &&
           found < before) {
        if (store_change(s, SQL_EVENT_RETAIN, 0, 1, err) < 0)
            return -1;
        --*left;
    }
    return rc < 0 ? -1 : 0;
}

/* Delete a user's jobs until at most `bytes` are stored. */
static int drop_of_user(struct store *s, uint32_t uid, int64_t bytes, int64_t *left,
                        berth_error_t *err)
{
    while (*left > 0) {
        int64_t used, found;
        if (store_owner_bytes(s, uid, &used, err) < 0)
            return -1;
        int rc = used > bytes ? store_ask(s, SQL_OVER_OF_USER, uid, 0, &found, err) : 0;
        if (rc <= 0)
            return rc;
        if (drop_job(s, found, left, err) < 0)
            return -1;
    }
    return 0;
}

int store_last_over(struct store *s, uint32_t uid, int64_t *job, berth_error_t *err)
{
    int rc = store_ask(s, SQL_OVER_LAST, uid, 0, job, err);
    if (rc == 0)
        *job = 0;
    return rc < 0 ? -1 : 0;
}

/* The transaction around a deletion; rc is the result of what was done in it. */
static int retain_begin(struct store *s, berth_error_t *err)
{
    if (store_begin(s, err) < 0)
        return -1;
    if (store_write_last(s, err) == 0)
        return 0;
    store_undo(s);
    return -1;
}

static int retain_end(struct store *s, int rc, int64_t n, int64_t *dropped, berth_error_t *err)
{
    *dropped = 0;
    if (rc < 0 || n == 0 || store_end(s, err) < 0) {
        store_undo(s);
        return n == 0 ? rc : -1;
    }
    store_text_forget(s);
    *dropped = n;
    return 0;
}

int store_retain(store_t *s, int64_t before_wall, int64_t max, int64_t *dropped, berth_error_t *err)
{
    int64_t left = max;
    int rc = retain_begin(s, err);
    if (rc == 0)
        rc = drop_before(s, before_wall, &left, err);
    return retain_end(s, rc, max - left, dropped, err);
}

int store_trim(store_t *s, uint32_t uid, int64_t bytes, int64_t max, int64_t *dropped,
               berth_error_t *err)
{
    int64_t left = max;
    int rc = retain_begin(s, err);
    if (rc == 0)
        rc = drop_of_user(s, uid, bytes, &left, err);
    return retain_end(s, rc, max - left, dropped, err);
}

static int drop_between(struct store *s, int64_t first, int64_t last, int64_t *left,
                        berth_error_t *err)
{
    int64_t found;
    int rc = 1;
    while (*left > 0 && (rc = store_ask(s, SQL_JOB_FROM, first, 0, &found, err)) > 0 &&
           found <= last)
        if (drop_job(s, found, left, err) < 0)
            return -1;
    return rc < 0 ? -1 : 0;
}

int store_drop_jobs(store_t *s, int64_t first, int64_t last, int64_t max, int64_t *dropped,
                    berth_error_t *err)
{
    int64_t left = max;
    int rc = retain_begin(s, err);
    if (rc == 0)
        rc = drop_between(s, first, last, &left, err);
    rc = retain_end(s, rc, max - left, dropped, err);
    if (rc == 0)
        store_release_ids(s, first, last);
    return rc;
}
