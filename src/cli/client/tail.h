/* A file that grows, copied as it does. */
#ifndef CLI_CLIENT_TAIL_H
#define CLI_CLIENT_TAIL_H

#include <stdbool.h>
#include <sys/types.h>

struct tail {
    char *path; /* NULL: there is none yet */
    int fd;     /* -1: not open */
    int to;     /* where it is copied to */
    off_t at;
};

/* All zeroes but fd -1 and `to`. */

/* It is this file; not found is fine, it may come. `watch` is an inotify descriptor, or -1. -1 with ENOMEM. */
int tail_is(struct tail *t, const char *path, int watch);

/* Copy what is new. -1 with errno. */
int tail_copy(struct tail *t, int watch);

void tail_close(struct tail *t);

/* Write all of it. -1 with errno. */
int tail_write(int to, const char *bytes, size_t n);

#endif
