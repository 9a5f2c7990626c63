/* Texts that the jobs of a user share: environments, scripts, requests. Equal ones are one in a batch and
 * one row in the file, with the number of jobs that use it. Short ones are stored with their job. Users
 * never share texts, so that what is stored for one depends on no other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/priv.h"

enum { SHORT = 256, SLOT_ANY = TEXT_SLOTS };

/* A 64-bit hash, eight bytes at a time: multiply and fold. It is stored, to find equal texts. On a machine
 * of another byte order hashes differ, and texts are merely stored once more.
 */
static uint64_t text_hash(const char *data, size_t length)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t hash = length * factor, word;
    for (; length >= sizeof(word); data += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, data, length);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

bool store_text_is_inline(const char *data, size_t length)
{
    return data && length < SHORT;
}

/* Find an equal text in the batch, the last one of its kind first. */
static struct batch_text *find_batch_text(struct batch *b, enum store_text kind, const char *data,
                                          size_t length, uint64_t key[3])
{
    struct batch_text *t = b->last[kind];
    if (t && t->length == length && t->key[2] == key[2] && memcmp(t->data, data, length) == 0)
        return t;
    key[0] = text_hash(data, length);
    key[1] = length;
    struct dict_entry *e = dict_find(&b->texts, (const char *)key, 3 * sizeof(*key));
    t = e ? (struct batch_text *)((char *)e - offsetof(struct batch_text, entry)) : NULL;
    return t && memcmp(t->data, data, length) == 0 ? t : NULL;
}

int store_text_take(struct batch *b, enum store_text kind, uint32_t uid, const char *data,
                    size_t length, const struct batch_text **text)
{
    *text = NULL;
    if (!data || store_text_is_inline(data, length))
        return 0;
    if (length > STORE_TEXT_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    uint64_t key[3] = {0, 0, uid};
    struct batch_text *t = find_batch_text(b, kind, data, length, key);
    if (!t) {
        t = dict_reserve(&b->texts) == 0 ? malloc(sizeof(*t) + length + 1) : NULL;
        if (!t) {
            errno = ENOMEM;
            return -1;
        }
        *t =
            (struct batch_text){.next = b->text, .key = {key[0], key[1], key[2]}, .length = length};
        memcpy(t->data, data, length);
        t->data[length] = '\0';
        t->entry.text = (const char *)t->key;
        t->entry.length = sizeof(t->key);
        if (!dict_find(&b->texts, t->entry.text, t->entry.length))
            dict_put(&b->texts, &t->entry);
        b->text = t;
    }
    t->uses++;
    b->last[kind] = t;
    *text = t;
    return 0;
}

void store_text_untake(const struct batch_text *text)
{
    if (text)
        ((struct batch_text *)text)->uses--;
}

void store_batch_clear(struct batch *b)
{
    for (struct batch_text *t = b->text, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    dict_clear(&b->texts);
    b->text = NULL;
    memset(b->last, 0, sizeof(b->last));
    b->n = 0;
    strbuf_reset(&b->bytes);
    if (b->cap * sizeof(*b->change) + b->bytes.cap > (size_t)1 << 20) { /* large batches are rare */
        free(b->change);
        b->change = NULL;
        b->cap = 0;
        strbuf_clear(&b->bytes);
    }
}

/* The row of an equal text in the file; 0 if there is none. A hash has few rows, unless somebody constructs
 * collisions.
 */
static int find_text_row(struct store *s, const struct batch_text *t, int64_t *id,
                         berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_TEXT_FIND, err);
    if (!q)
        return -1;
    *id = 0;
    sqlite3_bind_int64(q, 1, (int64_t)t->key[0]);
    sqlite3_bind_int64(q, 2, (int64_t)t->key[2]);
    int rc;
    while (*id == 0 && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const void *data = sqlite3_column_blob(q, 1);
        if (sqlite3_column_bytes(q, 1) == (int)t->length + 1 && data &&
            memcmp(data, t->data, t->length + 1) == 0)
            *id = sqlite3_column_int64(q, 0);
    }
    if (*id == 0 && rc != SQLITE_DONE)
        store_fail(s, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return *id == 0 && rc != SQLITE_DONE ? -1 : 0;
}

static int write_text(struct store *s, struct batch_text *t, berth_error_t *err)
{
    if (find_text_row(s, t, &t->id, err) < 0)
        return -1;
    if (t->id != 0) {
        sqlite3_stmt *q = store_sql(s, SQL_TEXT_USE, err);
        if (!q)
            return -1;
        sqlite3_bind_int64(q, 1, t->id);
        sqlite3_bind_int64(q, 2, t->uses);
        return store_run(s, q, err);
    }
    sqlite3_stmt *q = store_sql(s, SQL_TEXT_ADD, err);
    if (!q)
        return -1;
    sqlite3_bind_int64(q, 1, (int64_t)t->key[0]);
    sqlite3_bind_int64(q, 2, t->uses);
    sqlite3_bind_blob64(q, 3, t->data, t->length + 1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 4, (int64_t)t->key[2]);
    int rc = store_run(s, q, err);
    sqlite3_bind_null(q, 3);
    t->id = sqlite3_last_insert_rowid(s->db);
    if (rc == 0)
        rc = store_owner_change(s, (uint32_t)t->key[2], STORE_ROW + (int64_t)t->length, err);
    return rc;
}

int store_texts_write(struct store *s, berth_error_t *err)
{
    for (struct batch_text *t = s->batch.text; t; t = t->next)
        if (t->uses > 0 && write_text(s, t, err) < 0)
            return -1;
    return 0;
}

static void slot_clear(struct text_slot *slot)
{
    free(slot->data);
    *slot = (struct text_slot){0};
}

void store_text_forget(struct store *s)
{
    for (int kind = 0; kind < TEXTS; kind++)
        for (int i = 0; i <= SLOT_ANY; i++)
            slot_clear(&s->slot[kind][i]);
}

/* Fill the cache slot of a text that was just read. */
static struct text_slot *slot_fill(struct store *s, enum store_text kind, int64_t id,
                                   const void *data, size_t length, berth_error_t *err)
{
    int i = length > TEXT_CACHED_MAX ? SLOT_ANY : (int)((uint64_t)id % TEXT_SLOTS);
    struct text_slot *slot = &s->slot[kind][i];
    slot_clear(slot);
    slot->data = malloc(length + 1);
    if (!slot->data) {
        store_no_memory(s, err);
        return NULL;
    }
    memcpy(slot->data, data, length + 1);
    slot->length = length;
    slot->id = id;
    return slot;
}

/* Read a blob with a final zero, which is not counted. */
static int take_blob(struct store *s, sqlite3_stmt *q, int column, const char **data,
                     size_t *length, berth_error_t *err)
{
    const char *blob = sqlite3_column_blob(q, column);
    int size = sqlite3_column_bytes(q, column);
    if (!blob && sqlite3_errcode(s->db) == SQLITE_NOMEM)
        return store_fail(s, err);
    if (!blob || size <= 0 || blob[size - 1] != '\0' || (size_t)size > STORE_TEXT_MAX + 1)
        return store_damaged(s, "a text", 0, err);
    *data = blob;
    *length = (size_t)size - 1;
    return 0;
}

static struct text_slot *slot_fetch(struct store *s, enum store_text kind, int64_t id,
                                    berth_error_t *err)
{
    sqlite3_stmt *q = store_sql(s, SQL_TEXT_READ, err);
    if (!q)
        return NULL;
    sqlite3_bind_int64(q, 1, id);
    struct text_slot *slot = NULL;
    const char *data;
    size_t length;
    int rc = sqlite3_step(q);
    if (rc == SQLITE_DONE)
        store_damaged(s, "a text is missing", 0, err);
    else if (rc != SQLITE_ROW)
        store_fail(s, err);
    else if (take_blob(s, q, 0, &data, &length, err) == 0)
        slot = slot_fill(s, kind, id, data, length, err);
    int saved = errno;
    sqlite3_reset(q);
    errno = saved;
    return slot;
}

int store_text_read(struct store *s, enum store_text kind, sqlite3_stmt *q, int column,
                    const char **data, size_t *length, berth_error_t *err)
{
    *data = NULL;
    *length = 0;
    int type = sqlite3_column_type(q, column);
    if (type == SQLITE_NULL)
        return 0;
    if (type == SQLITE_BLOB)
        return take_blob(s, q, column, data, length, err);
    int64_t id = sqlite3_column_int64(q, column);
    if (type != SQLITE_INTEGER || id <= 0)
        return store_damaged(s, "a text", 0, err);
    struct text_slot *slot = &s->slot[kind][(uint64_t)id % TEXT_SLOTS];
    if (slot->id != id)
        slot = &s->slot[kind][SLOT_ANY];
    if (slot->id != id)
        slot = slot_fetch(s, kind, id, err);
    if (!slot)
        return -1;
    *data = slot->data;
    *length = slot->length;
    return 0;
}
