/* Following the output files of jobs while they are written. */
#ifndef CLI_CLIENT_OUTPUT_H
#define CLI_CLIENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

/* ---- A file ---- */

/* A growing file, copied as it grows. Initially everything is zero except fd, which is -1, and `to`. */
struct tail {
    char *path; /* NULL: there is none yet */
    int fd;     /* -1: not open */
    int to;     /* where it is copied to */
    off_t at;
};

/* Set the file, which need not exist yet. `watch` is an inotify descriptor, or -1. Returns -1 with ENOMEM. */
int tail_is(struct tail *t, const char *path, int watch);

/* Copy what is new. Returns -1 with errno. */
int tail_copy(struct tail *t, int watch);

void tail_close(struct tail *t);

/* Write all n bytes. Returns -1 with errno. */
int tail_write(int to, const char *bytes, size_t n);

/* ---- The files of an array ---- */

struct lines_file;

/* The output of the members of an array, as lines with the member's number before each: "3: text".
 *
 * Files are read from the end of the last whole line. A line that is longer than a block is printed in parts.
 */
struct lines {
    int to;                /* where lines are written; the rest is zero initially */
    int watch;             /* an inotify descriptor, or -1 */
    char *path;            /* of the first known member */
    int64_t first;         /* that member */
    bool shared;           /* several members share that file */
    struct lines_file **v; /* by member; NULL: none yet */
    size_t cap;
    int64_t *active; /* members whose files are being read */
    size_t n_active, cap_active;
    struct strbuf out;
};

/* Set the file of a member that has started, and perhaps ended. Returns 1 if all members share one file,
 * which the caller then shows as it is; 0; or -1 with ENOMEM.
 */
int lines_take(struct lines *l, int64_t member, const char *path, bool started, bool over);

/* Write what is new; for members that have ended, up to the last byte. Returns -1 with errno. */
int lines_copy(struct lines *l);

void lines_clear(struct lines *l);

#endif
