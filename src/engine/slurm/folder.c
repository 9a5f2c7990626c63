/* The folders of directed runs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "engine/local/messages.h"
#include "engine/slurm/directed.h"

#define PATH_MOST 200
#define FILE_MOST WIRE_MESSAGE_MAX
#define SERVER    "server\n"

static void path_to(char path[PATH_MOST], uint64_t key, const char *name, const char *node)
{
    snprintf(path, PATH_MOST, "%" PRIu64 "/%s%.70s", key, name, node ? node : "");
}

/* ---- Files ---- */

/* Write a new file, for one user only if `uid` is that of another one. */
static int write_file(int runs, const char *path, const char *bytes, size_t n, mode_t mode)
{
    int fd = openat(runs, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return -1;
    size_t done = 0;
    while (done < n) {
        ssize_t more = write(fd, bytes + done, n - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        done += (size_t)more;
    }
    int rc = done < n || fchmod(fd, mode) ? -1 : 0;
    int saved = errno;
    if (close(fd) && rc == 0) {
        saved = errno;
        rc = -1;
    }
    if (rc)
        unlinkat(runs, path, 0);
    errno = saved;
    return rc;
}

int folder_put(int runs, uint64_t key, const char *name, const char *node, const char *bytes,
               size_t n)
{
    char path[PATH_MOST], aside[PATH_MOST + 8];
    path_to(path, key, name, node);
    snprintf(aside, sizeof(aside), "%s.new", path);
    unlinkat(runs, aside, 0);
    if (write_file(runs, aside, bytes, n, 0600))
        return -1;
    return renameat(runs, aside, runs, path);
}

int folder_get(int runs, uint64_t key, const char *name, const char *node, struct strbuf *to)
{
    char path[PATH_MOST];
    struct stat st;
    path_to(path, key, name, node);
    int fd = openat(runs, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    int rc = -1;
    errno = EINVAL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= (off_t)FILE_MOST &&
        strbuf_room(to, (size_t)st.st_size + 1)) {
        ssize_t n = 1;
        size_t left = (size_t)st.st_size;
        while (left > 0 && (n = read(fd, to->data + to->len, left)) > 0) {
            to->len += (size_t)n;
            left -= (size_t)n;
        }
        rc = n > 0 ? 0 : -1;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

bool folder_has(int runs, uint64_t key, const char *name, const char *node)
{
    char path[PATH_MOST];
    struct stat st;
    path_to(path, key, name, node);
    return fstatat(runs, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void folder_forget_asked(int runs, uint64_t key)
{
    char path[PATH_MOST];
    path_to(path, key, "asked", NULL);
    unlinkat(runs, path, 0);
}

int folder_signal(int runs, uint64_t key, int signal, bool tree)
{
    char path[PATH_MOST], line[32];
    path_to(path, key, "signals", NULL);
    int n = snprintf(line, sizeof(line), "%d %d\n", signal, tree);
    int fd = openat(runs, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -1;
    int rc = write(fd, line, (size_t)n) == n && fchmod(fd, 0644) == 0 ? 0 : -1;
    close(fd);
    return rc;
}

/* ---- Who has taken it ---- */

enum taker folder_taker(int runs, uint64_t key)
{
    struct strbuf text = {0};
    enum taker by = TAKEN_BY_NOBODY;
    if (folder_has(runs, key, "own/taken", NULL))
        by = folder_get(runs, key, "own/taken", NULL, &text) == 0 &&
                     strcmp(strbuf_text(&text), SERVER) == 0
                 ? TAKEN_BY_SERVER
                 : TAKEN_BY_RUN;
    strbuf_clear(&text);
    return by;
}

/* With its content from the first moment on. */
int folder_take(int runs, uint64_t key)
{
    char path[PATH_MOST], aside[PATH_MOST];
    path_to(path, key, "own/taken", NULL);
    path_to(aside, key, "taken", NULL);
    unlinkat(runs, aside, 0);
    if (write_file(runs, aside, SERVER, sizeof(SERVER) - 1, 0644))
        return -1;
    return linkat(runs, aside, runs, path, 0);
}

/* ---- Folders ---- */

static int write_request(int runs, const char *folder, const struct engine_run *run,
                         const char *node)
{
    char path[PATH_MOST + 100];
    struct strbuf b = {0};
    snprintf(path, sizeof(path), "%s/request.%.70s", folder, node);
    struct engine_run as = *run; /* Slurm has made the user, limits memory, and knows the cores */
    as.as_user = false;
    as.n_groups = 0;
    as.memory = as.processes = 0;
    as.cpus = as.denied = NULL;
    as.hooks = NULL;
    as.attach = NULL;
    as.node = NULL;
    message_put_start(&b, &as);
    errno = ENOMEM;
    int rc = b.failed ? -1 : write_file(runs, path, b.data, b.len, 0400);
    if (rc == 0 && run->as_user)
        rc = fchownat(runs, path, run->uid, run->gid, AT_SYMLINK_NOFOLLOW);
    int saved = errno;
    strbuf_clear(&b);
    errno = saved;
    return rc;
}

/* What each place has to start: its part of the tasks. */
static int write_requests(int runs, const char *folder, const struct engine_run *run)
{
    size_t prefix = sizeof(DIRECTED_ID) - 1, first = 0;
    if (!run->places)
        return write_request(runs, folder, run, run->node + prefix);
    for (size_t i = 0; i < run->n_places; i++) {
        const struct engine_place *p = &run->places[i];
        struct engine_run part = *run;
        part.places = NULL;
        part.n_places = 0;
        part.node = p->node;
        part.tasks = run->tasks + first;
        part.n_tasks = p->n_tasks;
        part.append = run->append || i > 0;
        part.shared = true;
        first += p->n_tasks;
        if (write_request(runs, folder, &part, p->node + prefix))
            return -1;
    }
    return 0;
}

static int fill_folder(int runs, const char *folder, const struct engine_run *run)
{
    char path[PATH_MOST];
    struct strbuf ask = {0};
    directed_put(&ask, run);
    snprintf(path, sizeof(path), "%s/ask", folder);
    errno = ENOMEM;
    int rc = ask.failed ? -1 : write_file(runs, path, ask.data, ask.len, 0600);
    strbuf_clear(&ask);
    snprintf(path, sizeof(path), "%s/own", folder);
    if (rc || mkdirat(runs, path, 0700) || fchmodat(runs, path, 0700, 0) ||
        (run->as_user && fchownat(runs, path, run->uid, run->gid, AT_SYMLINK_NOFOLLOW)))
        return -1;
    return write_requests(runs, folder, run);
}

int folder_make(int runs, const struct engine_run *run)
{
    char folder[64], aside[64];
    struct stat st;
    snprintf(folder, sizeof(folder), "%" PRIu64, run->key);
    snprintf(aside, sizeof(aside), "%" PRIu64 ".new", run->key);
    if (fstatat(runs, folder, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    if (mkdirat(runs, aside, 0711) || fchmodat(runs, aside, 0711, 0) ||
        fill_folder(runs, aside, run))
        return -1;
    return renameat(runs, aside, runs, folder);
}

/* Remove what is in a folder, which has no folder but `own`. */
static int empty(int runs, const char *path)
{
    int fd = openat(runs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    return 0;
}

static int remove_folder(int runs, const char *folder)
{
    char own[PATH_MOST];
    snprintf(own, sizeof(own), "%s/own", folder);
    empty(runs, own);
    unlinkat(runs, own, AT_REMOVEDIR);
    empty(runs, folder);
    return unlinkat(runs, folder, AT_REMOVEDIR);
}

int folder_remove(int runs, uint64_t key)
{
    char folder[64];
    snprintf(folder, sizeof(folder), "%" PRIu64, key);
    return remove_folder(runs, folder);
}

/* A key, whole; 0: it is none. */
static uint64_t read_key(const char *name)
{
    char *end;
    if (*name < '1' || *name > '9')
        return 0;
    errno = 0;
    unsigned long long key = strtoull(name, &end, 10);
    return *end || errno || key > ENGINE_KEY_MAX ? 0 : key;
}

int folder_list(int runs, uint64_t **keys, size_t *n)
{
    size_t cap = 0;
    const struct dirent *e;
    int fd = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    *keys = NULL;
    *n = 0;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (rc == 0 && (e = readdir(d))) {
        uint64_t key = read_key(e->d_name);
        size_t length = strlen(e->d_name);
        if (key > 0 && array_grow((void **)keys, &cap, *n + 1, sizeof(**keys)) == 0)
            (*keys)[(*n)++] = key;
        else if (key > 0)
            rc = -1;
        else if (length > 4 && strcmp(e->d_name + length - 4, ".new") == 0)
            remove_folder(runs, e->d_name); /* it was never whole */
    }
    closedir(d);
    return rc;
}
