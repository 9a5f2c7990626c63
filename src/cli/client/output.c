#include "cli/client/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- A file ---- */

#define BLOCK 65536

int tail_is(struct tail *t, const char *path, int watch)
{
    if (!path || (t->path && strcmp(t->path, path) == 0))
        return 0;
    char *copy = strdup(path);
    if (!copy)
        return -1;
    tail_close(t);
    t->path = copy;
    return tail_copy(t, watch);
}

static void open_it(struct tail *t, int watch)
{
    struct stat st;

    t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0)
        return;
    /* A terminal, a pipe or /dev/null has nothing to copy. */
    if (fstat(t->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(t->fd);
        t->fd = -1;
        free(t->path);
        t->path = NULL;
        return;
    }
    if (watch >= 0)
        inotify_add_watch(watch, t->path, IN_MODIFY);
}

int tail_write(int to, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = write(to, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

int tail_copy(struct tail *t, int watch)
{
    char block[BLOCK];
    struct stat st;

    if (t->path && t->fd < 0)
        open_it(t, watch);
    if (t->fd < 0)
        return 0;
    /* The file has been truncated. */
    if (fstat(t->fd, &st) == 0 && st.st_size < t->at)
        t->at = 0;
    for (;;) {
        ssize_t n = pread(t->fd, block, sizeof(block), t->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -1 : 0;
        if (tail_write(t->to, block, (size_t)n) < 0)
            return -1;
        t->at += n;
    }
}

void tail_close(struct tail *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->path);
    t->path = NULL;
    t->fd = -1;
    t->at = 0;
}

/* ---- The files of an array ---- */

struct lines_file {
    char *path; /* NULL: the file has been read to its end */
    int watched;
    off_t at;
    bool over;
};

static void *has_grown(void *array, size_t *cap, size_t n, size_t size)
{
    size_t to = *cap ? *cap : 64;

    if (n <= *cap)
        return array;
    while (to < n)
        to *= 2;
    char *room = realloc(array, to * size);
    if (!room)
        return NULL;
    memset(room + *cap * size, 0, (to - *cap) * size);
    *cap = to;
    return room;
}

/* Begin to read a member's file. */
static int output_begin(struct lines *l, int64_t member, const char *path)
{
    struct lines_file **v =
        has_grown(l->v, &l->cap, (size_t)member + 1, sizeof(struct lines_file *));
    if (!v)
        return -1;
    l->v = v;
    int64_t *active = has_grown(l->active, &l->cap_active, l->n_active + 1, sizeof(*active));
    if (!active)
        return -1;
    l->active = active;
    struct lines_file *file = calloc(1, sizeof(*file));
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return -1;
    }
    file->watched = -1;
    v[member] = file;
    active[l->n_active++] = member;
    return 0;
}

static void output_end(struct lines *l, struct lines_file *file)
{
    if (file->watched >= 0)
        inotify_rm_watch(l->watch, file->watched);
    file->watched = -1;
    free(file->path);
    file->path = NULL;
}

/* Whether all members share the file, which has then not been read yet. */
static int look_if_shared(struct lines *l, int64_t member, const char *path)
{
    if (!l->path) {
        l->path = strdup(path);
        l->first = member;
        return l->path ? 0 : -1;
    }
    if (!l->shared && member != l->first && strcmp(l->path, path) == 0) {
        l->shared = true;
        for (size_t i = 0; i < l->n_active; i++)
            output_end(l, l->v[l->active[i]]);
        l->n_active = 0;
    }
    return l->shared;
}

int lines_take(struct lines *l, int64_t member, const char *path, bool started, bool over)
{
    int rc = look_if_shared(l, member, path);

    if (rc != 0 || !started)
        return rc;
    struct lines_file *file = (size_t)member < l->cap ? l->v[member] : NULL;
    if (!file && output_begin(l, member, path) < 0)
        return -1;
    l->v[member]->over = over;
    return 0;
}

/* Add n bytes as a line. */
static void output_put_line(struct lines *l, int64_t member, const char *text, size_t n)
{
    strbuf_put_int(&l->out, member);
    strbuf_puts(&l->out, ": ");
    strbuf_put(&l->out, text, n);
    strbuf_putc(&l->out, '\n');
}

/* Print the whole lines of a block; of the last block, and of a block without a newline, also the rest.
 * Returns how many bytes were taken.
 */
static size_t take_block(struct lines *l, int64_t member, const char *block, size_t n, bool last)
{
    size_t at = 0;

    for (const char *end; (end = memchr(block + at, '\n', n - at)) != NULL;) {
        output_put_line(l, member, block + at, (size_t)(end - block) - at);
        at = (size_t)(end - block) + 1;
    }
    if (at < n && (last || (at == 0 && n == BLOCK))) {
        output_put_line(l, member, block + at, n - at);
        at = n;
    }
    return at;
}

static int copy_file(struct lines *l, int64_t member, struct lines_file *file)
{
    char block[BLOCK];
    struct stat st;
    ssize_t n = 0;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return 0; /* it may appear later */
    if (file->watched < 0 && l->watch >= 0 && !file->over)
        file->watched = inotify_add_watch(l->watch, file->path, IN_MODIFY);
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (regular && st.st_size < file->at)
        file->at = 0; /* the file has been truncated */
    int rc = 0;
    while (regular && rc == 0) {
        n = pread(fd, block, sizeof(block), file->at);
        if (n < 0 && errno == EINTR)
            continue;
        size_t taken = n > 0 ? take_block(l, member, block, (size_t)n, file->over && n < BLOCK) : 0;
        if (l->out.failed)
            errno = ENOMEM;
        rc = l->out.failed ? -1 : tail_write(l->to, l->out.data, l->out.len);
        strbuf_reset(&l->out);
        file->at += (off_t)taken;
        if (taken == 0)
            break;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return rc < 0 || n < 0 ? -1 : 0;
}

int lines_copy(struct lines *l)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < l->n_active; i++) {
        int64_t member = l->active[i];
        struct lines_file *file = l->v[member];
        if (rc == 0)
            rc = copy_file(l, member, file);
        if (rc == 0 && file->over)
            output_end(l, file);
        else
            l->active[kept++] = member;
    }
    l->n_active = kept;
    return rc;
}

void lines_clear(struct lines *l)
{
    for (size_t i = 0; i < l->cap; i++) {
        if (!l->v[i])
            continue;
        output_end(l, l->v[i]);
        free(l->v[i]);
    }
    free(l->v);
    free(l->active);
    free(l->path);
    strbuf_clear(&l->out);
}
