/* The processes of this machine. */
#include "engine/local/procs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"

#define ENVIRON_MAX ((size_t)4 << 20) /* bytes of an environment that are looked at */

ssize_t procs_read_file(int directory, const char *path, char *to, size_t size)
{
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t n = 0;
    ssize_t got = 1;
    while (got > 0 && n < size - 1) {
        got = read(fd, to + n, size - 1 - n);
        if (got > 0)
            n += (size_t)got;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    to[n] = '\0';
    return got < 0 ? -1 : (ssize_t)n;
}

/* "PID (NAME) STATE PPID PGRP SESSION ...": a name may have blanks and parentheses. The start is the 22nd
 * field.
 */
static int read_stat(const char *text, struct proc *p)
{
    const char *at = strrchr(text, ')');
    int session;
    int parent;
    unsigned long long start;
    if (!at ||
        sscanf(at + 1,
               " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &p->state, &parent, &session, &start) != 4)
        return -1;
    p->parent = parent;
    p->session = session;
    p->start = start;
    return 0;
}

int procs_look(pid_t pid, struct proc *p)
{
    char path[32];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    *p = (struct proc){.pid = pid};
    if (procs_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0 || read_stat(text, p)) {
        errno = ESRCH;
        return -1;
    }
    return 0;
}

int procs_user(pid_t pid, uid_t *uid)
{
    static const char name[] = "\nUid:";
    char path[32];
    char text[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    const char *at =
        procs_read_file(AT_FDCWD, path, text, sizeof(text)) > 0 ? strstr(text, name) : NULL;
    if (!at) {
        errno = ESRCH;
        return -1;
    }
    *uid = (uid_t)strtoul(at + sizeof(name) - 1, NULL, 10);
    return 0;
}

static int add_proc(struct procs *all, const struct proc *p)
{
    if (array_grow((void **)&all->v, &all->cap, all->n + 1, sizeof(*all->v)) < 0)
        return -1;
    all->v[all->n++] = *p;
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct proc *)a)->pid;
    pid_t y = ((const struct proc *)b)->pid;
    return (x > y) - (x < y);
}

int procs_all(struct procs *all)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    int rc = 0;
    *all = (struct procs){0};
    if (!dir)
        return -1;
    while (rc == 0 && (entry = readdir(dir))) {
        struct proc p;
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end == '\0' && pid > 0 && procs_look((pid_t)pid, &p) == 0)
            rc = add_proc(all, &p);
    }
    int saved = errno;
    closedir(dir);
    errno = saved;
    if (rc)
        procs_clear(all);
    else if (all->n > 0)
        qsort(all->v, all->n, sizeof(*all->v), by_pid);
    return rc;
}

void procs_clear(struct procs *all)
{
    int saved = errno;
    free(all->v);
    *all = (struct procs){0};
    errno = saved;
}

const struct proc *procs_find(const struct procs *all, pid_t pid)
{
    struct proc key = {.pid = pid};
    return all->n ? bsearch(&key, all->v, all->n, sizeof(*all->v), by_pid) : NULL;
}

static int add_pid(pid_t **pids, size_t *cap, size_t *n, pid_t pid)
{
    if (array_grow((void **)pids, cap, *n + 1, sizeof(**pids)) < 0)
        return -1;
    (*pids)[(*n)++] = pid;
    return 0;
}

/* Where the kernel doesn't list children. */
static ssize_t children_of_all(pid_t **pids, size_t *cap)
{
    struct procs all;
    size_t n = 0;
    int rc = procs_all(&all);
    for (size_t i = 0; rc == 0 && i < all.n; i++)
        if (all.v[i].parent == getpid())
            rc = add_pid(pids, cap, &n, all.v[i].pid);
    procs_clear(&all);
    return rc ? -1 : (ssize_t)n;
}

ssize_t procs_children(pid_t **pids, size_t *cap)
{
    char path[64];
    char text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return children_of_all(pids, cap);
    size_t n = 0;
    pid_t pid = 0;
    int rc = 0;
    ssize_t got = 0;
    while (rc == 0 && (got = read(fd, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < got && rc == 0; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = 10 * pid + (text[i] - '0');
            } else if (pid > 0) {
                rc = add_pid(pids, cap, &n, pid);
                pid = 0;
            }
        }
    int saved = errno;
    close(fd);
    errno = saved;
    return rc || got < 0 ? -1 : (ssize_t)n;
}

/* Look for the mark at the beginning of a variable. */
static bool marked(const char *environment, size_t n, const char *mark, uint64_t *value)
{
    size_t length = strlen(mark);
    for (size_t at = 0; at < n;) {
        if (n - at > length && memcmp(environment + at, mark, length) == 0) {
            char *end;
            errno = 0;
            *value = strtoull(environment + at + length, &end, 10);
            return errno == 0 && *end == '\0' && end > environment + at + length;
        }
        at += strlen(environment + at) + 1;
    }
    return false;
}

#define ENV_END 51 /* the field of /proc/PID/stat: where the environment ends */

/* A process that is just becoming another program has no environment yet; one that was given none has an
 * empty one.
 */
static bool is_becoming(pid_t pid)
{
    char path[32];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    const char *at =
        procs_read_file(AT_FDCWD, path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < ENV_END; field++)
        at = strchr(at + 1, ' ');
    return at && strtoull(at, NULL, 10) == 0;
}

static int read_mark(pid_t pid, const char *mark, uint64_t *value)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    for (size_t size = 16384;; size *= 4) {
        char *text = malloc(size);
        ssize_t n = text ? procs_read_file(AT_FDCWD, path, text, size) : -1;
        bool whole = n < (ssize_t)size - 1 || size >= ENVIRON_MAX;
        bool found = n > 0 && marked(text, (size_t)n, mark, value);
        free(text);
        if (found || whole)
            return found ? 1 : n > 0 ? 0 : -1;
    }
}

int procs_marked(pid_t pid, const char *mark, uint64_t *value)
{
    errno = 0;
    int rc = read_mark(pid, mark, value);
    if (rc >= 0 || errno || is_becoming(pid))
        return rc;
    rc = read_mark(pid, mark, value); /* it may have got one just now */
    return rc < 0 && errno == 0 ? 0 : rc;
}

int procs_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int procs_signal(const struct proc *p, int signal)
{
    struct proc again;
    int fd = procs_open(p->pid);
    if (fd < 0)
        return errno == ENOSYS ? kill(p->pid, signal) : -1;
    int rc = -1;
    if (procs_look(p->pid, &again) == 0 && again.start == p->start)
        rc = (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

uint64_t procs_now(void)
{
    struct timespec t;
    uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * hertz + (uint64_t)t.tv_nsec / (1000000000u / hertz);
}
