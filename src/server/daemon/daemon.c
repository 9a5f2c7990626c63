#include "server/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "server/daemon/paths.h"

#define LOG_MAX      (8 << 20) /* bytes; a longer log is rotated when a daemon starts */
#define LINE_MAX_LOG 1024

/* Create a directory and its parents. */
static int make_folders(const char *path, mode_t mode, berth_error_t *err)
{
    char part[PATH_MAX];
    size_t length = strlen(path);

    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i])
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, i == length ? mode : 0755) < 0 && errno != EEXIST)
            return errtext_set(err, errno, "%s: %s", part, strerror(errno));
    }
    return 0;
}

int daemon_find(struct daemon *d, berth_error_t *err)
{
    struct stat st;

    d->lock = d->log = d->ready = -1;
    d->for_all = geteuid() == 0;
    if (paths_directory(d->directory, err) < 0 || paths_socket(d->directory, d->socket, err) < 0)
        return -1;
    /* Files are for their owner, unless made for others explicitly. */
    umask(022);
    if (make_folders(d->directory, d->for_all ? 0755 : 0700, err) < 0)
        return -1;
    umask(077);
    if (stat(d->directory, &st) < 0)
        return errtext_set(err, errno, "%s: %s", d->directory, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return errtext_set(err, ENOTDIR, "%s is not a directory", d->directory);
    if (st.st_uid != geteuid() || (st.st_mode & (d->for_all ? S_IWGRP | S_IWOTH : S_IWOTH)))
        return errtext_set(err, EPERM, "%s belongs to another user or is writable by others",
                           d->directory);
    return 0;
}

/* In the parent: pass on the child's message. Does not return. */
static void await_child(int fd)
{
    char text[sizeof(((berth_error_t *)NULL)->text) + 1];
    size_t length = 0;
    ssize_t n;

    while (length < sizeof(text) - 1) {
        n = read(fd, text + length, sizeof(text) - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    if (length == 1 && text[0] == '\0')
        _exit(0);
    text[length] = '\0';
    fprintf(stderr, "berthd: %s\n", length ? text : "it exited before it was ready");
    _exit(1);
}

int daemon_detach(struct daemon *d, berth_error_t *err)
{
    int fds[2];

    if (d->foreground)
        return 0;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) {
        errtext_set(err, errno, "fork: %s", strerror(errno));
        close(fds[0]);
        close(fds[1]);
        return -1;
    }
    if (pid > 0) {
        close(fds[1]);
        await_child(fds[0]);
    }
    close(fds[0]);
    d->ready = fds[1];
    setsid();
    if (chdir("/") < 0)
        return errtext_set(err, errno, "/: %s", strerror(errno));
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return errtext_set(err, errno, "/dev/null: %s", strerror(errno));
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    close(null);
    return 0;
}

static int open_log(struct daemon *d, berth_error_t *err)
{
    char path[PATH_MAX + 16], aside[PATH_MAX + 16];
    struct stat st;

    snprintf(path, sizeof(path), "%s/berthd.log", d->directory);
    snprintf(aside, sizeof(aside), "%s/berthd.log.1", d->directory);
    if (stat(path, &st) == 0 && st.st_size > LOG_MAX)
        rename(path, aside);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    if (d->log >= 0)
        close(d->log);
    d->log = log;
    /* For messages of libraries. */
    if (!d->foreground)
        dup2(d->log, STDERR_FILENO);
    return 0;
}

void daemon_reopen_log(struct daemon *d)
{
    berth_error_t err;
    if (open_log(d, &err) < 0)
        daemon_log(d, "%s", err.text);
}

int daemon_lock(struct daemon *d, berth_error_t *err)
{
    char path[PATH_MAX + 16], pid[32] = "";

    snprintf(path, sizeof(path), "%s/berthd.lock", d->directory);
    d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (d->lock < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    if (flock(d->lock, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return errtext_set(err, errno, "%s: %s", path, strerror(errno));
        ssize_t n = read(d->lock, pid, sizeof(pid) - 1);
        pid[n > 0 ? n : 0] = '\0';
        pid[strcspn(pid, "\n")] = '\0';
        return errtext_set(err, EBUSY, "another berthd (process %s) serves %s",
                           *pid ? pid : "unknown", d->directory);
    }
    int n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
    if (ftruncate(d->lock, 0) < 0 || pwrite(d->lock, pid, (size_t)n, 0) != n)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    return open_log(d, err);
}

void daemon_log(struct daemon *d, const char *format, ...)
{
    char line[LINE_MAX_LOG], day[32];
    struct timespec now;
    struct tm utc;
    va_list args;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
    int head = snprintf(line, sizeof(line), "%s.%03dZ ", day, (int)(now.tv_nsec / 1000000));
    va_start(args, format);
    int n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t length = strlen(line);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = '?';
    line[length++] = '\n';
    /* A full disk must not stop the daemon. */
    ssize_t ignored = d->log >= 0 ? write(d->log, line, length) : 0;
    if (d->foreground)
        ignored = write(STDERR_FILENO, line + head, length - (size_t)head);
    (void)ignored;
}

void daemon_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(to.sun_path))
        return;
    memcpy(to.sun_path, path, strlen(path));
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@')
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to, length);
    close(fd);
}

void daemon_ready(struct daemon *d)
{
    if (d->ready >= 0) {
        ssize_t ignored = write(d->ready, "", 1);
        (void)ignored;
        close(d->ready);
        d->ready = -1;
    }
    daemon_notify("READY=1");
}

int daemon_failed(struct daemon *d, const berth_error_t *err)
{
    if (d->log >= 0)
        daemon_log(d, "%s", err->text);
    if (d->ready >= 0) {
        ssize_t ignored = write(d->ready, err->text, strlen(err->text));
        (void)ignored;
        close(d->ready);
        d->ready = -1;
    } else if (!d->foreground || d->log < 0) {
        fprintf(stderr, "berthd: %s\n", err->text);
    }
    return 1;
}

void daemon_close(struct daemon *d)
{
    if (d->log >= 0)
        close(d->log);
    if (d->lock >= 0)
        close(d->lock);
    d->log = d->lock = -1;
}
