#include "engine/local/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void spool_name(char name[SPOOL_NAME], uint64_t key, int stream, const char *suffix)
{
    snprintf(name, SPOOL_NAME, SPOOL_FOLDER "/%" PRIu64 ".%d%s", key, stream, suffix);
}

bool spool_name_read(const char *name, uint64_t *key, int *stream)
{
    char *end;
    if (name[0] < '0' || name[0] > '9')
        return false;
    errno = 0;
    *key = strtoull(name, &end, 10);
    if (errno || end[0] != '.' || end[1] < '0' || end[1] >= '0' + SPOOL_STREAMS || end[2])
        return false;
    *stream = end[1] - '0';
    return true;
}

/* Whether the folder of a path has what the proof says. */
static bool spool_proved(const char *path, const char *proof)
{
    char file[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(path, '/'), *colon = strrchr(proof, ':');
    if (!slash || !colon)
        return false;
    int n = snprintf(file, sizeof(file), "%.*s/%.*s", (int)(slash - path), path,
                     (int)(colon - proof), proof);
    return n > 0 && n < (int)sizeof(file) && lstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
           strtoull(colon + 1, NULL, 10) == (unsigned long long)st.st_ino;
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return -1;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* Where it belongs. */
static int write_place(int folder, const struct spool_ask *ask, const char *path)
{
    char name[SPOOL_NAME];
    spool_name(name, ask->key, ask->stream, ".to");
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    char head[16];
    snprintf(head, sizeof(head), "%c%03o", ask->append ? 'a' : 't', ask->mode & 0666);
    int rc = write_all(fd, head, 4) || write_all(fd, path, strlen(path)) ? -1 : 0;
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

int spool_open(int folder, const struct spool_ask *ask)
{
    char name[SPOOL_NAME], path[PATH_MAX];
    bool whole = ask->path[0] == '/';
    int n = snprintf(path, sizeof(path), "%s%s%s", whole ? "" : ask->directory, whole ? "" : "/",
                     ask->path);
    if (n < 0 || n >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    spool_name(name, ask->key, ask->stream, "");
    if (ask->first && spool_proved(path, ask->proof))
        return SPOOL_NONE;
    if (ask->first && write_place(folder, ask, path))
        return -1;
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (ask->first ? O_CREAT : 0);
    int fd = openat(folder, name, flags, 0600);
    return fd < 0 && errno == ENOENT && !ask->first ? SPOOL_NONE : fd;
}
