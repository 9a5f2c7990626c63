/* A file that appears whole or not at all. */
#include "report/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/errtext.h"

#define BUFFER_SIZE (1 << 16)

struct outfile {
    char *shown;  /* the path as the user wrote it, for messages */
    char *target; /* where the file belongs, symbolic links resolved */
    char *temp;   /* where the bytes go; NULL: directly to target */
    gzFile gz;    /* NULL: plain, through fd */
    int fd;
    int error; /* errno of the first failure */
    size_t used;
    char buffer[BUFFER_SIZE];
};

/* Temporary files that are there now: what outfile_abandon removes. More than these are not known to it. */
static char *volatile temps[8];

static void temps_swap(char *from, char *to)
{
    for (size_t i = 0; i < sizeof(temps) / sizeof(temps[0]); i++) {
        if (temps[i] == from) {
            temps[i] = to;
            return;
        }
    }
}

void outfile_abandon(void)
{
    for (size_t i = 0; i < sizeof(temps) / sizeof(temps[0]); i++)
        if (temps[i])
            unlink(temps[i]);
}

static void destroy(struct outfile *out)
{
    int saved = errno;
    if (out->temp)
        temps_swap(out->temp, NULL);
    free(out->shown);
    free(out->target);
    free(out->temp);
    free(out);
    errno = saved;
}

/* The absolute path of a file that is not there yet; NULL with errno if its directory isn't either. */
static char *absolute(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *dir = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
    char *real = dir ? realpath(dir, NULL) : NULL;
    char *result = real ? malloc(strlen(real) + strlen(name) + 2) : NULL;
    if (result)
        sprintf(result, "%s/%s", real, name);
    free(dir);
    free(real);
    return result;
}

/* Choose target and temp, and open. */
static int open_fd(struct outfile *out, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        out->target = strdup(path);
        return out->target ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
    }
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        out->target = strdup(path);
        return out->target ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;
    }
    out->target = exists ? realpath(path, NULL) : absolute(path);
    if (!out->target)
        return -1;
    size_t size = strlen(out->target) + 32;
    out->temp = malloc(size);
    if (!out->temp)
        return -1;
    /* The process id keeps two runs apart; a file of that name is left from a run that was killed.
     */
    snprintf(out->temp, size, "%s.%ld.tmp", out->target, (long)getpid());
    unlink(out->temp);
    temps_swap(NULL, out->temp);
    return open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

struct outfile *outfile_open(const char *path, berth_error_t *err)
{
    struct outfile *out = calloc(1, sizeof(*out));
    if (!out || !(out->shown = strdup(path))) {
        free(out);
        errtext_set(err, ENOMEM, "%s: %s", path, strerror(ENOMEM));
        return NULL;
    }
    errno = 0;
    out->fd = open_fd(out, path);
    if (out->fd < 0) {
        errtext_set(err, errno, "%s: %s", path, strerror(errno));
        destroy(out);
        return NULL;
    }
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) {
        out->gz = gzdopen(out->fd, "wb");
        if (!out->gz) {
            close(out->fd);
            if (out->temp)
                unlink(out->temp);
            destroy(out);
            errtext_set(err, ENOMEM, "%s: %s", path, strerror(ENOMEM));
            return NULL;
        }
    }
    return out;
}

const char *outfile_path(const struct outfile *out)
{
    return out->shown;
}

const char *outfile_target(const struct outfile *out)
{
    return out->temp ? out->target : NULL;
}

static void flush_buffer(struct outfile *out)
{
    size_t done = 0;
    while (!out->error && done < out->used) {
        ssize_t wrote;
        errno = 0;
        if (out->gz) {
            wrote = gzwrite(out->gz, out->buffer + done, (unsigned)(out->used - done));
            if (wrote <= 0)
                out->error = errno ? errno : EIO;
        } else {
            wrote = write(out->fd, out->buffer + done, out->used - done);
            if (wrote < 0 && errno != EINTR)
                out->error = errno;
        }
        if (wrote > 0)
            done += (size_t)wrote;
    }
    out->used = 0;
}

void outfile_write(struct outfile *out, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n > 0 && !out->error) {
        size_t room = sizeof(out->buffer) - out->used;
        size_t part = n < room ? n : room;
        memcpy(out->buffer + out->used, from, part);
        out->used += part;
        from += part;
        n -= part;
        if (out->used == sizeof(out->buffer))
            flush_buffer(out);
    }
}

int outfile_close(struct outfile *out, bool keep, berth_error_t *err)
{
    if (!out)
        return 0;
    if (keep)
        flush_buffer(out);
    errno = 0;
    int rc = out->gz ? gzclose_w(out->gz) : close(out->fd);
    if (rc != 0 && !out->error)
        out->error = errno ? errno : EIO;
    if (out->temp && keep && !out->error && rename(out->temp, out->target) < 0)
        out->error = errno;
    if (out->temp && (!keep || out->error))
        unlink(out->temp);
    int error = keep ? out->error : 0;
    if (error)
        errtext_set(err, error, "%s: %s", out->shown, strerror(error));
    destroy(out);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
