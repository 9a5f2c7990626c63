/* What is stored of each user's jobs: summed up in memory while a transaction goes on, and written once a
 * user at its end.
 */
#include <errno.h>

#include "base/array.h"
#include "server/store/priv.h"

void store_owners_begin(struct store *s)
{
    s->owners.n = s->owners.last = 0;
    s->owners.job = 0;
}

static struct owner_change *owner_entry(struct owners *o, uint32_t uid)
{
    if (o->last < o->n && o->v[o->last].uid == uid)
        return &o->v[o->last];
    for (size_t i = 0; i < o->n; i++)
        if (o->v[i].uid == uid) {
            o->last = i;
            return &o->v[i];
        }
    return NULL;
}

int store_owner_change(struct store *s, uint32_t uid, int64_t bytes, berth_error_t *err)
{
    struct owners *o = &s->owners;
    struct owner_change *change = owner_entry(o, uid);
    if (!change) {
        if (array_grow((void **)&o->v, &o->cap, o->n + 1, sizeof(*o->v)) < 0)
            return store_no_memory(s, err);
        o->last = o->n++;
        change = &o->v[o->last];
        *change = (struct owner_change){.uid = uid};
    }
    change->bytes += bytes;
    return 0;
}

/* Run a statement of a number, and read the first of its row. 1: there was one; 0; -1. */
static int ask(struct store *s, enum sql which, int64_t number, int64_t *answer, berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, which, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, number);
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

int store_owner_of_job(struct store *s, int64_t job, int64_t bytes, berth_error_t *err)
{
    struct owners *o = &s->owners;
    int64_t uid;
    if (o->job != job) {
        int rc = ask(s, SQL_JOB_UID, job, &uid, err);
        if (rc <= 0)
            return rc;
        o->job = job;
        o->uid = (uint32_t)uid;
    }
    return store_owner_change(s, o->uid, bytes, err) < 0 ? -1 : 1;
}

int store_owners_write(struct store *s, berth_error_t *err)
{
    for (size_t i = 0; i < s->owners.n; i++) {
        if (s->owners.v[i].bytes == 0)
            continue;
        sqlite3_stmt *q = store_sql(s, SQL_OWNER_ADD, err);
        if (!q)
            return -1;
        sqlite3_bind_int64(q, 1, s->owners.v[i].uid);
        sqlite3_bind_int64(q, 2, s->owners.v[i].bytes);
        if (store_run(s, q, err) < 0)
            return -1;
    }
    return 0;
}

int store_owner_bytes(struct store *s, uint32_t uid, int64_t *bytes, berth_error_t *err)
{
    const struct owner_change *change = owner_entry(&s->owners, uid);
    *bytes = 0;
    if (ask(s, SQL_OWNER_READ, uid, bytes, err) < 0)
        return -1;
    *bytes += change ? change->bytes : 0;
    if (*bytes < 0) /* the file is not as it was left */
        *bytes = 0;
    return 0;
}

int store_used(store_t *s, uint32_t uid, int64_t *bytes, berth_error_t *err)
{
    store_settle(s);
    store_owners_begin(s);
    return store_owner_bytes(s, uid, bytes, err);
}
