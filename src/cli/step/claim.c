#include "cli/step/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"

#define KIND_BYTES ((off_t)1 << 24) /* of each kind */
#define DOOR       ((off_t)1 << 30) /* who holds this byte makes the file or removes it */
#define PAUSE      20000000L        /* nanoseconds until a step looks again */

static int lock(int fd, int command, short type, off_t start, off_t n)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = n};
    int rc;
    do
        rc = fcntl(fd, command, &l);
    while (rc < 0 && errno == EINTR);
    return rc;
}

/* A folder of this user alone, where others can't put files. */
static int make_folder(char *folder, size_t size, berth_error_t *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
    struct stat st;
    const char *base = runtime && *runtime == '/' && access(runtime, W_OK) == 0 ? runtime
                       : tmp && *tmp == '/'                                     ? tmp
                                                                                : "/tmp";
    int n = snprintf(folder, size, "%s/berth-steps-%lu", base, (unsigned long)geteuid());
    if (n < 0 || (size_t)n >= size)
        return errtext_set(err, ENAMETOOLONG, "the path of the folder for temporary files is long");
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return errtext_set(err, errno, "%s: %s", folder, strerror(errno));
    if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return errtext_set(err, EPERM, "%s: not a folder of this user", folder);
    return 0;
}

/* Open the file, and hold its door. It may be removed in between: then there is another one. */
static int open_door(struct claim *c)
{
    for (;;) {
        struct stat here, there;
        c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (c->fd < 0 || lock(c->fd, F_OFD_SETLKW, F_WRLCK, DOOR, 1) < 0)
            return -1;
        if (fstat(c->fd, &here) == 0 && stat(c->path, &there) == 0 && here.st_ino == there.st_ino &&
            here.st_dev == there.st_dev)
            return 0;
        close(c->fd);
    }
}

int claim_open(struct claim *c, const char *run, berth_error_t *err)
{
    char folder[PATH_MAX - NAME_MAX - 2];
    c->fd = -1;
    if (make_folder(folder, sizeof(folder), err) < 0)
        return -1;
    snprintf(c->path, sizeof(c->path), "%s/%.*s", folder, (int)strcspn(run, "/"), run);
    if (open_door(c) < 0 || lock(c->fd, F_OFD_SETLK, F_UNLCK, DOOR, 1) < 0) {
        errtext_set(err, errno, "%s: %s", c->path, strerror(errno));
        claim_close(c);
        return -1;
    }
    return 0;
}

/* As many as are free, up to `want`. */
static size_t take_free(const struct claim *c, off_t base, size_t total, size_t want,
                        size_t *chosen)
{
    size_t n = 0;
    for (size_t i = 0; i < total && n < want; i++)
        if (lock(c->fd, F_OFD_SETLK, F_WRLCK, base + (off_t)i, 1) == 0)
            chosen[n++] = i;
    return n;
}

int claim_take(const struct claim *c, enum claim_kind kind, size_t total, size_t want,
               size_t *chosen, berth_error_t *err)
{
    static const char *const words[] = {"cores", "GPUs", "numbers"};
    off_t base = KIND_BYTES * (off_t)kind;
    const struct timespec pause = {.tv_nsec = PAUSE};

    if (want > total)
        return errtext_set(err, EINVAL, "the step needs %zu %s, and the job has %zu", want,
                           words[kind], total);
    while (take_free(c, base, total, want, chosen) < want) {
        /* All or nothing, so that two that wait for each other's cannot be. */
        if (lock(c->fd, F_OFD_SETLK, F_UNLCK, base, KIND_BYTES) < 0)
            return errtext_set(err, errno, "%s: %s", c->path, strerror(errno));
        nanosleep(&pause, NULL);
    }
    return 0;
}

void claim_close(struct claim *c)
{
    int saved = errno;
    if (c->fd >= 0) {
        struct stat here, there;
        lock(c->fd, F_OFD_SETLK, F_UNLCK, 0, 0);
        if (lock(c->fd, F_OFD_SETLK, F_WRLCK, 0, 0) == 0 && fstat(c->fd, &here) == 0 &&
            stat(c->path, &there) == 0 && here.st_ino == there.st_ino)
            unlink(c->path);
        close(c->fd);
    }
    c->fd = -1;
    errno = saved;
}
