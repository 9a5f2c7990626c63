/* The simulated disk: a VFS of SQLite over files in memory. */
#include "sim_disk.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

/* A write of a sector since the last sync, or a change of the file's length (data is then nothing). */
struct change {
    int64_t sector; /* -1: the length */
    int64_t length; /* of the file, after it */
    unsigned char data[SECTOR];
};

struct file {
    struct file *next;
    char *path;
    unsigned char *now, *synced; /* what is read, and what is sure */
    int64_t length, room, synced_length, synced_room;
    struct change *change; /* in between, in order */
    size_t changes, change_room;
    bool named;   /* the name is sure */
    bool deleted; /* but its name may come back */
    int opened;
    const void *writer; /* who holds an exclusive lock, or none */
    int readers;
};

struct sim_disk {
    sqlite3_vfs vfs;
    char *name;
    uint64_t random;
    struct file *file;
    uint64_t age; /* crashes so far: what was opened before the last one is dead */
    int64_t limit, stop, calls;
    uint64_t one_of;
    bool stopped;
};

struct handle {
    sqlite3_file base;
    struct sim_disk *disk;
    struct file *file;
    uint64_t age;
    int lock;
    bool delete_on_close;
    bool sync_names; /* a journal's first sync is one of its folder too */
};

/* splitmix64, as in property/random.h. */
static uint64_t draw(struct sim_disk *d)
{
    uint64_t z = d->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool grow(unsigned char **data, int64_t *room, int64_t length)
{
    if (length <= *room)
        return true;
    int64_t larger = length + length / 2 + SECTOR;
    unsigned char *grown = realloc(*data, (size_t)larger);
    if (!grown)
        return false;
    memset(grown + *room, 0, (size_t)(larger - *room));
    *data = grown;
    *room = larger;
    return true;
}

/* Bytes beyond the length are zero, so that a file that grows has zeroes. */
static bool set_length(unsigned char **data, int64_t *room, int64_t *length, int64_t wanted)
{
    if (!grow(data, room, wanted))
        return false;
    if (wanted < *length)
        memset(*data + wanted, 0, (size_t)(*length - wanted));
    *length = wanted;
    return true;
}

static bool note(struct file *f, int64_t sector)
{
    if (f->changes == f->change_room) {
        size_t room = 2 * f->change_room + 16;
        struct change *grown = reallocarray(f->change, room, sizeof(*grown));
        if (!grown)
            return false;
        f->change = grown;
        f->change_room = room;
    }
    struct change *c = &f->change[f->changes++];
    memset(c, 0, sizeof(*c));
    c->sector = sector;
    c->length = f->length;
    if (sector >= 0) {
        int64_t left = f->length - sector * SECTOR;
        memcpy(c->data, f->now + sector * SECTOR, (size_t)(left < SECTOR ? left : SECTOR));
    }
    return true;
}

/* What was written becomes sure, sector by sector; all of a file that was cut in between. */
static bool make_sure(struct file *f)
{
    bool cut = false;
    if (!set_length(&f->synced, &f->synced_room, &f->synced_length, f->length))
        return false;
    for (size_t i = 0; i < f->changes; i++) {
        int64_t from = f->change[i].sector * SECTOR, to = from + SECTOR;
        to = to < f->length ? to : f->length;
        cut = cut || from < 0;
        if (from >= 0 && from < to)
            memcpy(f->synced + from, f->now + from, (size_t)(to - from));
    }
    if (cut && f->length > 0)
        memcpy(f->synced, f->now, (size_t)f->length);
    f->changes = 0;
    return true;
}

static struct file *find(struct sim_disk *d, const char *path, bool deleted)
{
    for (struct file *f = d->file; f; f = f->next)
        if (f->deleted == deleted && strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

static struct file *make(struct sim_disk *d, const char *path)
{
    struct file *f = calloc(1, sizeof(*f));
    if (f && !(f->path = strdup(path))) {
        free(f);
        return NULL;
    }
    if (f) {
        f->next = d->file;
        d->file = f;
    }
    return f;
}

static void drop(struct sim_disk *d, struct file *f)
{
    for (struct file **at = &d->file; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    free(f->path);
    free(f->now);
    free(f->synced);
    free(f->change);
    free(f);
}

/* As a sync of the folder does: names that are there are sure, those that were deleted are gone. */
static void sync_names(struct sim_disk *d)
{
    for (struct file *f = d->file, *next; f; f = next) {
        next = f->next;
        f->named = !f->deleted;
        if (f->deleted && f->opened == 0)
            drop(d, f);
    }
}

int64_t sim_disk_size(const struct sim_disk *d)
{
    int64_t size = 0;
    for (const struct file *f = d->file; f; f = f->next)
        size += f->deleted ? 0 : f->length;
    return size;
}

/* What a call that changes something meets: an SQLite error, or SQLITE_OK. */
static int meet(struct sim_disk *d, uint64_t age, int failure)
{
    d->calls++;
    if (d->stop == 0)
        d->stopped = true;
    if (d->stop > 0)
        d->stop--;
    if (d->stopped || age != d->age)
        return failure;
    return d->one_of > 0 && draw(d) % d->one_of == 0 ? failure : SQLITE_OK;
}

static bool is_dead(const struct handle *h)
{
    return h->disk->stopped || h->age != h->disk->age;
}

static int file_read(sqlite3_file *base, void *to, int n, sqlite3_int64 at)
{
    const struct handle *h = (const struct handle *)base;
    if (is_dead(h))
        return SQLITE_IOERR_READ;
    int64_t there = h->file->length - at;
    there = there < 0 ? 0 : there < n ? there : n;
    if (there > 0)
        memcpy(to, h->file->now + at, (size_t)there);
    if (there == n)
        return SQLITE_OK;
    memset((char *)to + there, 0, (size_t)(n - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int put(struct file *f, const void *from, int64_t n, int64_t at)
{
    if (at + n > f->length && !set_length(&f->now, &f->room, &f->length, at + n))
        return SQLITE_IOERR_NOMEM;
    memcpy(f->now + at, from, (size_t)n);
    for (int64_t sector = at / SECTOR; n > 0 && sector <= (at + n - 1) / SECTOR; sector++)
        if (!note(f, sector))
            return SQLITE_IOERR_NOMEM;
    return SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *from, int n, sqlite3_int64 at)
{
    struct handle *h = (struct handle *)base;
    struct sim_disk *d = h->disk;
    bool was_on = !is_dead(h);
    int rc = meet(d, h->age, SQLITE_IOERR_WRITE);
    if (rc != SQLITE_OK) {
        if (was_on && n > 0) /* a part may have got there */
            put(h->file, from, (int64_t)(draw(d) % (uint64_t)n), at);
        return rc;
    }
    int64_t more = at + n - h->file->length;
    if (more > 0 && d->limit >= 0 && sim_disk_size(d) + more > d->limit)
        return SQLITE_FULL;
    return put(h->file, from, n, at);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 length)
{
    struct handle *h = (struct handle *)base;
    int rc = meet(h->disk, h->age, SQLITE_IOERR_TRUNCATE);
    if (rc != SQLITE_OK)
        return rc;
    struct file *f = h->file;
    if (!set_length(&f->now, &f->room, &f->length, length) || !note(f, -1))
        return SQLITE_IOERR_NOMEM;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
    (void)flags;
    struct handle *h = (struct handle *)base;
    int rc = meet(h->disk, h->age, SQLITE_IOERR_FSYNC);
    if (rc != SQLITE_OK)
        return rc;
    if (!make_sure(h->file))
        return SQLITE_IOERR_NOMEM;
    if (h->sync_names && !h->file->named)
        sync_names(h->disk);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    const struct handle *h = (const struct handle *)base;
    if (is_dead(h))
        return SQLITE_IOERR_FSTAT;
    *size = h->file->length;
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int lock)
{
    struct handle *h = (struct handle *)base;
    if (h->age == h->disk->age && lock < h->lock) {
        if (h->file->writer == h && lock < SQLITE_LOCK_RESERVED)
            h->file->writer = NULL;
        if (h->lock >= SQLITE_LOCK_SHARED && lock == SQLITE_LOCK_NONE)
            h->file->readers--;
    }
    h->lock = lock < h->lock ? lock : h->lock;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int lock)
{
    struct handle *h = (struct handle *)base;
    struct file *f = h->file;
    if (is_dead(h))
        return SQLITE_IOERR_LOCK;
    if (lock <= h->lock)
        return SQLITE_OK;
    if (f->writer && f->writer != h)
        return SQLITE_BUSY;
    if (lock == SQLITE_LOCK_EXCLUSIVE && f->readers > (h->lock >= SQLITE_LOCK_SHARED))
        return SQLITE_BUSY;
    if (h->lock == SQLITE_LOCK_NONE)
        f->readers++;
    if (lock >= SQLITE_LOCK_RESERVED)
        f->writer = h;
    h->lock = lock;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *base, int *out)
{
    *out = ((struct handle *)base)->file->writer != NULL;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
    (void)base;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

/* As a file of Linux: a write leaves what is beside it alone, and nothing else is sure. */
static int file_sector(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int file_character(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* One that was deleted stays while its name may come back, or while it is open. */
static void forget(struct sim_disk *d, struct file *f)
{
    if (f->opened == 0 && !f->named)
        drop(d, f);
}

static int file_close(sqlite3_file *base)
{
    struct handle *h = (struct handle *)base;
    file_unlock(base, SQLITE_LOCK_NONE);
    h->file->opened--;
    if (h->delete_on_close)
        h->file->deleted = true;
    if (h->file->deleted)
        forget(h->disk, h->file);
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_character,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out)
{
    struct sim_disk *d = vfs->pAppData;
    struct handle *h = (struct handle *)base;
    memset(h, 0, sizeof(*h));
    struct file *f = path ? find(d, path, false) : NULL;
    if (d->stopped || (!f && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    if (!f)
        f = make(d, path ? path : "");
    if (!f)
        return SQLITE_NOMEM;
    f->opened++;
    h->base.pMethods = &methods;
    h->disk = d;
    h->file = f;
    h->age = d->age;
    h->delete_on_close = flags & SQLITE_OPEN_DELETEONCLOSE;
    h->sync_names = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL);
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    struct sim_disk *d = vfs->pAppData;
    int rc = meet(d, d->age, SQLITE_IOERR_DELETE);
    struct file *f = find(d, path, false);
    if (rc != SQLITE_OK || !f)
        return rc != SQLITE_OK ? rc : SQLITE_IOERR_DELETE_NOENT;
    f->deleted = true;
    if (sync)
        sync_names(d);
    else
        forget(d, f);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    (void)flags;
    struct sim_disk *d = vfs->pAppData;
    if (d->stopped)
        return SQLITE_IOERR_ACCESS;
    *out = find(d, path, false) != NULL;
    return SQLITE_OK;
}

static int disk_path(sqlite3_vfs *vfs, const char *path, int n, char *out)
{
    (void)vfs;
    sqlite3_snprintf(n, out, "%s", path);
    return SQLITE_OK;
}

static int disk_random(sqlite3_vfs *vfs, int n, char *out)
{
    for (int i = 0; i < n; i++)
        out[i] = (char)draw(vfs->pAppData);
    return n;
}

static int disk_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int disk_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    *out = 2460000.5;
    return SQLITE_OK;
}

static int disk_error(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    if (n > 0)
        *out = '\0';
    return EIO;
}

struct sim_disk *sim_disk_create(const char *name, uint64_t seed)
{
    struct sim_disk *d = calloc(1, sizeof(*d));
    if (d && !(d->name = strdup(name))) {
        free(d);
        return NULL;
    }
    if (!d)
        return NULL;
    d->random = seed;
    d->limit = -1;
    d->stop = -1;
    d->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct handle),
        .mxPathname = 512,
        .zName = d->name,
        .pAppData = d,
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_path,
        .xRandomness = disk_random,
        .xSleep = disk_sleep,
        .xCurrentTime = disk_time,
        .xGetLastError = disk_error,
    };
    if (sqlite3_vfs_register(&d->vfs, 0) == SQLITE_OK)
        return d;
    free(d->name);
    free(d);
    return NULL;
}

void sim_disk_destroy(struct sim_disk *d)
{
    if (!d)
        return;
    sqlite3_vfs_unregister(&d->vfs);
    while (d->file)
        drop(d, d->file);
    free(d->name);
    free(d);
}

/* What is left of a file: what is sure, and of the changes since some, each kept by the odds that this
 * crash has.
 */
static void fall(struct sim_disk *d, struct file *f, uint64_t odds)
{
    for (size_t i = 0; i < f->changes; i++) {
        const struct change *c = &f->change[i];
        if (draw(d) % 4 >= odds)
            continue;
        int64_t end = (c->sector + 1) * SECTOR;
        end = end < c->length ? end : c->length;
        if (c->sector < 0 || end > f->synced_length)
            set_length(&f->synced, &f->synced_room, &f->synced_length,
                       c->sector < 0 ? c->length : end);
        if (c->sector >= 0)
            memcpy(f->synced + c->sector * SECTOR, c->data, (size_t)(end - c->sector * SECTOR));
    }
    f->changes = 0;
    set_length(&f->now, &f->room, &f->length, f->synced_length);
    if (f->length > 0)
        memcpy(f->now, f->synced, (size_t)f->length);
}

void sim_disk_crash(struct sim_disk *d)
{
    uint64_t odds = draw(d) % 5; /* quarters */
    d->age++;
    d->stopped = false;
    d->stop = -1;
    for (struct file *f = d->file; f; f = f->next) {
        fall(d, f, odds);
        f->writer = NULL;
        f->readers = 0;
        if (!f->deleted && !f->named && draw(d) % 2 == 0)
            f->deleted = true;
        else if (!f->deleted)
            f->named = true;
    }
    for (struct file *f = d->file, *next; f; f = next) {
        next = f->next;
        if (f->deleted && f->named && !find(d, f->path, false) && draw(d) % 2 == 0)
            f->deleted = false;
        f->named = !f->deleted;
        if (f->deleted && f->opened == 0)
            drop(d, f);
    }
}

void sim_disk_stop_after(struct sim_disk *d, int64_t calls)
{
    d->stop = calls;
}

bool sim_disk_has_stopped(const struct sim_disk *d)
{
    return d->stopped;
}

void sim_disk_limit(struct sim_disk *d, int64_t bytes)
{
    d->limit = bytes;
}

void sim_disk_fail(struct sim_disk *d, uint64_t one_of)
{
    d->one_of = one_of;
}

int64_t sim_disk_calls(const struct sim_disk *d)
{
    return d->calls;
}

const void *sim_disk_get(const struct sim_disk *d, const char *path, int64_t *length)
{
    const struct file *f = d->file;
    while (f && (f->deleted || strcmp(f->path, path) != 0))
        f = f->next;
    *length = f ? f->length : 0;
    return f ? f->now : NULL;
}

int sim_disk_put(struct sim_disk *d, const char *path, const void *data, int64_t length)
{
    struct file *f = find(d, path, false);
    if (!f)
        f = make(d, path);
    if (!f || !set_length(&f->now, &f->room, &f->length, length)) {
        errno = ENOMEM;
        return -1;
    }
    if (length > 0)
        memcpy(f->now, data, (size_t)length);
    if (!note(f, -1) || !make_sure(f)) {
        errno = ENOMEM;
        return -1;
    }
    f->named = true;
    return 0;
}
