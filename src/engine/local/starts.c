/* The locks of runs that are being started. */
#include "engine/local/starts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

int starts_open(int directory)
{
    return openat(directory, STARTS_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int starts_lock(int directory, uint64_t key)
{
    struct flock lock = {.l_type = F_RDLCK, .l_start = (off_t)key, .l_len = 1};
    int fd = starts_open(directory);
    if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* A lock of a run between two keys, both included. 1 and its key, 0: there is none, -1 with errno. */
static int find_lock(int file, uint64_t lo, uint64_t hi, uint64_t *key)
{
    struct flock lock = {.l_type = F_WRLCK, .l_start = (off_t)lo};
    if (hi < (uint64_t)INT64_MAX)
        lock.l_len = (off_t)(hi - lo + 1); /* else to the end */
    if (fcntl(file, F_OFD_GETLK, &lock))
        return -1;
    *key = (uint64_t)lock.l_start;
    return lock.l_type != F_UNLCK;
}

bool starts_held(int file, uint64_t key)
{
    uint64_t found;
    return find_lock(file, key, key, &found) != 0;
}

/* Parts of the file that are still to be looked at. */
struct part {
    uint64_t lo, hi;
};

/* The system reports one lock in a range; the ranges below and above it are then asked about separately. */
int starts_list(int file, uint64_t **keys, size_t *n)
{
    struct part *parts = NULL;
    size_t n_parts = 0, cap_parts = 0, cap = 0;
    int rc = array_grow((void **)&parts, &cap_parts, 1, sizeof(*parts));
    *keys = NULL;
    *n = 0;
    if (rc == 0)
        parts[n_parts++] = (struct part){0, (uint64_t)INT64_MAX};
    while (rc == 0 && n_parts > 0) {
        struct part p = parts[--n_parts];
        uint64_t key;
        rc = find_lock(file, p.lo, p.hi, &key);
        if (rc <= 0)
            continue;
        rc = array_grow((void **)keys, &cap, *n + 1, sizeof(**keys));
        rc = rc ? rc : array_grow((void **)&parts, &cap_parts, n_parts + 2, sizeof(*parts));
        if (rc)
            break;
        (*keys)[(*n)++] = key;
        if (key > p.lo)
            parts[n_parts++] = (struct part){p.lo, key - 1};
        if (key < p.hi)
            parts[n_parts++] = (struct part){key + 1, p.hi};
    }
    free(parts);
    if (rc) {
        int saved = errno;
        free(*keys);
        *keys = NULL;
        *n = 0;
        errno = saved;
    }
    return rc;
}
