/* What jobs write to their files, as they write it. */
#ifndef CLI_CLIENT_OUTPUT_H
#define CLI_CLIENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

/* ---- A file ---- */

/* A file that grows, copied as it does. At first all is zero but fd, -1, and `to`. */
struct tail {
    char *path; /* NULL: there is none yet */
    int fd;     /* -1: not open */
    int to;     /* where it is copied to */
    off_t at;
};

/* It is this file; not found is fine, it may come. `watch` is an inotify descriptor, or -1. -1 with ENOMEM. */
int tail_is(struct tail *t, const char *path, int watch);

/* Copy what is new. -1 with errno. */
int tail_copy(struct tail *t, int watch);

void tail_close(struct tail *t);

/* Write all of it. -1 with errno. */
int tail_write(int to, const char *bytes, size_t n);

/* ---- The files of an array ---- */

struct lines_file;

/* What the members of an array write to their files, as lines with the member's number before each: "3:
 * text".
 *
 * Files are read from where the last whole line ended. A line that is longer than a block is told in parts.
 */
struct lines {
    int to;                /* where they are written; the rest is zero at first */
    int watch;             /* an inotify descriptor, or -1 */
    char *path;            /* of the first member that was told of */
    int64_t first;         /* that member */
    bool shared;           /* others have it too: it is no member's own */
    struct lines_file **v; /* by member; NULL: none yet */
    size_t cap;
    int64_t *active; /* members whose files are read */
    size_t n_active, cap_active;
    struct strbuf out;
};

/* A member has this file; it has started, or has ended as well. 1: all of them have the same one, which is
 * then to be shown as it is; 0; -1 with ENOMEM.
 */
int lines_take(struct lines *l, int64_t member, const char *path, bool started, bool over);

/* Write what is new, of those that have ended to the last byte. -1 with errno. */
int lines_copy(struct lines *l);

void lines_clear(struct lines *l);

#endif
