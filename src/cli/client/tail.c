#include "cli/client/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

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
    /* Of a terminal, a pipe or /dev/null there is nothing to copy. */
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
    /* It has been begun anew. */
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
