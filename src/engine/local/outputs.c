#include "engine/local/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dict.h"
#include "engine/local/spool.h"

#define LOOK_MOST                                                                                  \
    ((size_t)1 << 20) /* bytes of a file in which a write is looked for that was cut off */

/* A run of which something has come in. */
struct known {
    struct dict_entry entry; /* by its key */
    struct known *next, *prev;
    uint64_t key;
    char *path[SPOOL_STREAMS]; /* NULL: not opened since this server began */
};

struct outputs {
    char *path;
    int folder; /* -1: not there yet */
    struct dict known;
    struct known *first;
    char trouble[200];
};

/* What is noted of a file, before its path, at PATH_AT, and at BYTES_AT the bytes that are about to be appended. */
struct note {
    uint64_t done;   /* so many bytes of the run are in it */
    uint64_t length; /* so many more were about to be appended; 0: none */
    uint64_t size;   /* of the file, before that */
};

#define PATH_AT  64
#define BYTES_AT (PATH_AT + PATH_MAX)

static struct known *find_known(const struct outputs *o, uint64_t key)
{
    /* The entry is the first member. */
    return (struct known *)(void *)dict_find(&o->known, (const char *)&key, sizeof(key));
}

static void free_known(struct known *k)
{
    for (int i = 0; i < SPOOL_STREAMS; i++)
        free(k->path[i]);
    free(k);
}

bool outputs_has(const struct outputs *o, uint64_t key)
{
    return o->known.n > 0 && find_known(o, key);
}

static int remember(struct outputs *o, uint64_t key)
{
    if (outputs_has(o, key))
        return 0;
    struct known *k = dict_reserve(&o->known) ? NULL : calloc(1, sizeof(*k));
    if (!k)
        return -1;
    k->key = key;
    k->entry = (struct dict_entry){.text = (const char *)&k->key, .length = sizeof(k->key)};
    dict_put(&o->known, &k->entry);
    k->next = o->first;
    if (o->first)
        o->first->prev = k;
    o->first = k;
    return 0;
}

static int open_folder(struct outputs *o, bool make)
{
    if (o->folder < 0 && make && mkdir(o->path, 0700) < 0 && errno == ENOENT) {
        char *parent = strdup(o->path), *slash = parent ? strrchr(parent, '/') : NULL;
        if (slash)
            *slash = '\0';
        if (slash && mkdir(parent, 0700) == 0)
            mkdir(o->path, 0700);
        free(parent);
    }
    if (o->folder < 0)
        o->folder = open(o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return o->folder < 0 ? -1 : 0;
}

void outputs_close(struct outputs *o)
{
    int saved = errno;
    for (struct known *k = o->first, *next; k; k = next) {
        next = k->next;
        free_known(k);
    }
    dict_clear(&o->known);
    if (o->folder >= 0) {
        close(o->folder);
        rmdir(o->path); /* unless there are notes in it */
    }
    free(o->path);
    free(o);
    errno = saved;
}

/* ---- Notes ---- */

/* In the folder of notes: without the folder's name in the keeper's. */
static void note_name(char name[SPOOL_NAME], uint64_t key, int stream)
{
    char whole[SPOOL_NAME];
    spool_name(whole, key, stream, "");
    snprintf(name, SPOOL_NAME, "%s", whole + sizeof(SPOOL_FOLDER));
}

static int write_note(int at, const struct note *note)
{
    return pwrite(at, note, sizeof(*note), 0) == (ssize_t)sizeof(*note) ? 0 : -1;
}

/* How many of n bytes, which were about to be appended to a file of this size, are in it. Where others have appended
 * since, they are looked for as a whole.
 */
static size_t find_cut_off(const char *path, uint64_t size, const char *bytes, size_t n)
{
    size_t found = 0;
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t there =
        fstat(fd, &st) == 0 && (uint64_t)st.st_size > size ? (size_t)st.st_size - (size_t)size : 0;
    size_t room = there < LOOK_MOST ? there : LOOK_MOST;
    char *text = room > 0 ? malloc(room) : NULL;
    ssize_t got = text ? pread(fd, text, room, (off_t)size) : 0;
    if (got > 0 && there < n)
        found = memcmp(text, bytes, (size_t)got) == 0 ? (size_t)got : 0;
    else if (got > 0)
        found = memmem(text, (size_t)got, bytes, n) ? n : 0;
    free(text);
    close(fd);
    return found;
}

/* A server was killed as it wrote: how far it came is seen in the file. */
static int settle(int at, struct note *note)
{
    char path[PATH_MAX];
    if (note->length == 0)
        return 0;
    char *bytes = note->length <= WIRE_MESSAGE_MAX ? malloc(note->length) : NULL;
    if (bytes && pread(at, path, sizeof(path), PATH_AT) == (ssize_t)sizeof(path) &&
        memchr(path, '\0', sizeof(path)) &&
        pread(at, bytes, note->length, BYTES_AT) == (ssize_t)note->length)
        note->done += find_cut_off(path, note->size, bytes, note->length);
    free(bytes);
    note->length = note->size = 0;
    return write_note(at, note);
}

/* The note of a file, with nothing under way, and how to change it: a descriptor; -1 with ENOENT, there is none. */
static int read_note(const struct outputs *o, uint64_t key, int stream, struct note *note)
{
    char name[SPOOL_NAME];
    note_name(name, key, stream);
    int at = openat(o->folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (at < 0)
        return -1;
    errno = ENOENT; /* it was about to be made */
    if (pread(at, note, sizeof(*note), 0) == (ssize_t)sizeof(*note) && settle(at, note) == 0)
        return at;
    int saved = errno;
    close(at);
    errno = saved;
    return -1;
}

static int make_note(const struct outputs *o, const struct message_output *m)
{
    const struct note none = {0};
    char name[SPOOL_NAME], path[PATH_MAX] = "";
    int n = snprintf(path, sizeof(path), "%s", m->path);
    note_name(name, m->key, m->stream);
    if (n >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int at = openat(o->folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (at < 0)
        return -1;
    if (pwrite(at, path, sizeof(path), PATH_AT) == (ssize_t)sizeof(path) &&
        write_note(at, &none) == 0)
        return at;
    int saved = errno ? errno : ENOSPC;
    close(at);
    errno = saved;
    return -1;
}

/* The notes of servers before this one: what they were writing is settled before anybody else writes there. */
static int read_folder(struct outputs *o)
{
    uint64_t key;
    int stream, rc = 0;
    struct note note;
    if (open_folder(o, false) < 0)
        return 0;
    int fd = openat(o->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    if (fd >= 0 && !folder)
        close(fd);
    while (folder && rc == 0 && (entry = readdir(folder))) {
        if (!spool_name_read(entry->d_name, &key, &stream))
            continue;
        rc = remember(o, key);
        int at = read_note(o, key, stream, &note);
        if (at >= 0)
            close(at);
    }
    if (folder)
        closedir(folder);
    return folder ? rc : -1;
}

struct outputs *outputs_open(const char *folder)
{
    struct outputs *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    o->folder = -1;
    o->path = strdup(folder);
    if (o->path && read_folder(o) == 0)
        return o;
    int saved = errno;
    outputs_close(o);
    errno = saved;
    return NULL;
}

void outputs_forget(struct outputs *o, uint64_t key)
{
    char name[SPOOL_NAME];
    struct known *k = o->known.n > 0 ? find_known(o, key) : NULL;
    if (!k)
        return;
    for (int i = 0; i < SPOOL_STREAMS && open_folder(o, false) == 0; i++) {
        note_name(name, key, i);
        unlinkat(o->folder, name, 0);
    }
    dict_take(&o->known, &k->entry);
    if (k->prev)
        k->prev->next = k->next;
    else
        o->first = k->next;
    if (k->next)
        k->next->prev = k->prev;
    free_known(k);
}

/* ---- Files ---- */

/* Open one to append; one that is made gets this mode, whatever the server's own umask. -1 with errno. */
static int open_to_append(const char *path, mode_t mode)
{
    const int flags = O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
    struct stat st;
    int fd = open(path, flags | O_CREAT | O_EXCL, mode & 0666);
    if (fd >= 0)
        fchmod(fd, mode & 0666);
    else if (errno == EEXIST)
        fd = open(path, flags);
    if (fd < 0 || fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static void fail_take(struct outputs *o, struct message_written *to, const char *path)
{
    snprintf(o->trouble, sizeof(o->trouble), "%.120s: %s", path,
             errno == EINVAL ? "it is not a regular file" : strerror(errno));
    to->trouble = o->trouble;
}

/* The file is emptied once, before there is a note of it. */
static int begin_file(struct outputs *o, const struct message_output *m, struct note *note)
{
    int at = read_note(o, m->key, m->stream, note), rc = 0;
    if (at < 0 && errno != ENOENT)
        return -1;
    if (at < 0) {
        int fd = open_to_append(m->path, m->mode);
        if (fd < 0)
            return -1;
        rc = m->append || m->again ? 0 : ftruncate(fd, 0);
        close(fd);
        *note = (struct note){0};
        at = rc < 0 ? -1 : make_note(o, m);
    }
    if (at < 0)
        return -1;
    close(at);
    return 0;
}

static void open_one(struct outputs *o, const struct message_output *m, struct message_written *to)
{
    struct note note = {0};
    char *path = strdup(m->path);
    if (!path || open_folder(o, true) < 0 || remember(o, m->key) < 0 ||
        begin_file(o, m, &note) < 0) {
        fail_take(o, to, m->path);
        free(path);
        return;
    }
    struct known *k = find_known(o, m->key);
    free(k->path[m->stream]);
    k->path[m->stream] = path;
    to->at = note.done;
}

/* Append, and note that before and after. Returns 0, or -1 with errno when not all is written. */
static int append_noted(int fd, int at, struct note *note, const char *bytes, size_t n)
{
    struct stat st;
    errno = 0;
    if (fstat(fd, &st) < 0)
        return -1;
    note->length = n;
    note->size = (uint64_t)st.st_size;
    if (n > 0 && (pwrite(at, bytes, n, BYTES_AT) != (ssize_t)n || write_note(at, note) < 0)) {
        note->length = note->size = 0;
        errno = errno ? errno : ENOSPC;
        return -1;
    }
    size_t done = 0;
    int errnum = 0;
    while (done < n && errnum == 0) {
        ssize_t some = write(fd, bytes + done, n - done);
        if (some < 0 && errno != EINTR)
            errnum = errno;
        done += some > 0 ? (size_t)some : 0;
    }
    note->done += done;
    note->length = note->size = 0;
    if (write_note(at, note) < 0)
        return -1;
    errno = errnum;
    return errnum ? -1 : 0;
}

static int write_bytes(const char *path, int at, struct note *note, const struct message_output *m)
{
    uint64_t skip = note->done - m->at;
    if (skip >= m->n && m->n > 0)
        return 0;
    const char *bytes = m->bytes + skip;
    size_t n = m->n - (size_t)skip;
    int fd = open_to_append(path, 0600);
    if (fd < 0)
        return -1;
    int rc = append_noted(fd, at, note, bytes, n);
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

static void write_more(struct outputs *o, const struct message_output *m,
                       struct message_written *to)
{
    struct note note = {0};
    const struct known *k = find_known(o, m->key);
    const char *path = k ? k->path[m->stream] : NULL;
    int at = path ? read_note(o, m->key, m->stream, &note) : -1;
    if (at < 0) {
        to->trouble = "it is not open";
        return;
    }
    if (m->at > note.done)
        to->trouble = "bytes before these are missing";
    else if (write_bytes(path, at, &note, m) < 0)
        fail_take(o, to, path);
    to->at = note.done;
    close(at);
}

void outputs_take(struct outputs *o, const struct message_output *m, struct message_written *to)
{
    *to = (struct message_written){.key = m->key, .stream = m->stream};
    if (m->path)
        open_one(o, m, to);
    else
        write_more(o, m, to);
}
