/* Bytes stored for each user: changes are summed up in memory during a transaction and written once per
 * user at its end.
 */

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

int store_owner_of_job(struct store *s, int64_t job, int64_t bytes, berth_error_t *err)
{
    struct owners *o = &s->owners;
    int64_t uid;
    if (o->job != job) {
        int rc = store_ask(s, SQL_JOB_UID, job, 0, &uid, err);
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
    if (store_ask(s, SQL_OWNER_READ, uid, 0, bytes, err) < 0)
        return -1;
    *bytes += change ? change->bytes : 0;
    if (*bytes < 0) /* the file was tampered with */
        *bytes = 0;
    return 0;
}

int store_used(store_t *s, uint32_t uid, int64_t *bytes, berth_error_t *err)
{
    store_settle(s);
    store_owners_begin(s);
    return store_owner_bytes(s, uid, bytes, err);
}
