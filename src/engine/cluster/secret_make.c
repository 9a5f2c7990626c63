/* Making the secret of a pilot. The server does this, so it asks for nothing but the C library. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/secret.h"

int secret_path(char *path, const char *directory, uint64_t pilot, const char *name)
{
    int n = snprintf(path, PATH_MAX, "%s/%" PRIu64 "%s", directory, pilot, name);
    if (n > 0 && n < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int secret_write(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 || write(fd, bytes, n) != (ssize_t)n || fsync(fd) ? -1 : 0;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    errno = saved;
    return rc;
}

int secret_make(const char *directory, uint64_t pilot, berth_error_t *err)
{
    char folder[PATH_MAX], path[PATH_MAX];
    uint8_t key[NOISE_KEY];
    if (mkdir(directory, 0700) && errno != EEXIST)
        return errtext_set(err, errno, "%s: %s", directory, strerror(errno));
    if (secret_path(folder, directory, pilot, "") || secret_path(path, directory, pilot, "/key") ||
        mkdir(folder, 0700))
        return errtext_set(err, errno, "%s/%" PRIu64 ": %s", directory, pilot, strerror(errno));
    int rc =
        getrandom(key, sizeof(key), 0) == sizeof(key) ? secret_write(path, key, sizeof(key)) : -1;
    int saved = errno;
    explicit_bzero(key, sizeof(key));
    if (rc == 0)
        return 0;
    secret_remove(directory, pilot);
    return errtext_set(err, saved, "%s: %s", path, strerror(saved));
}

void secret_remove(const char *directory, uint64_t pilot)
{
    char path[PATH_MAX];
    if (secret_path(path, directory, pilot, "/key") == 0)
        unlink(path);
    if (secret_path(path, directory, pilot, "/slurm.log") == 0)
        unlink(path);
    if (secret_path(path, directory, pilot, "") == 0)
        rmdir(path);
}
