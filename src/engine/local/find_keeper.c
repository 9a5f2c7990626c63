/* Finding the keeper of a directory, or starting one. */
#include "engine/local/find_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"

#define KEEPER_SOCKET "keeper.sock"
#define HELLO_TIMEOUT 10000 /* ms */
#define TRIES         3     /* a keeper may come to its end while it is asked */

int find_keeper_directory(const char *path, berth_error_t *err)
{
    struct stat st;
    if (path[0] != '/')
        return errtext_set(err, EINVAL, "directory %s: expected an absolute path", path);
    if (mkdir(path, 0700) && errno != EEXIST)
        return errtext_set(err, errno, "directory %s: %s", path, strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errtext_set(err, errno, "directory %s: %s", path, strerror(errno));
    if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 022)) {
        close(fd);
        return errtext_set(err, EPERM,
                           "directory %s: expected to belong to user %lu and be written by nobody "
                           "else",
                           path, (unsigned long)geteuid());
    }
    return fd;
}

/* A path of any length fits through the directory's descriptor. */
static int connect_there(const struct find_keeper *where, berth_error_t *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof(peer);
    snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/%s", where->fd, KEEPER_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid())
        return fd;
    int saved = errno;
    close(fd);
    return errtext_set(err, saved, "%s/%s: %s", where->directory, KEEPER_SOCKET, strerror(saved));
}

/* Read exactly n bytes, or fail. */
static int receive(int fd, char *to, size_t n)
{
    while (n > 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, HELLO_TIMEOUT);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? recv(fd, to, n, 0) : -1;
        if (got <= 0) {
            errno = ready == 0 ? ETIMEDOUT : ECONNRESET;
            return -1;
        }
        to += got;
        n -= (size_t)got;
    }
    return 0;
}

static int read_hello(int fd, struct message_hello *hello)
{
    struct strbuf b = {0};
    struct wire w;
    size_t taken;
    uint32_t length;
    int rc = -1;
    if (receive(fd, (char *)&length, sizeof(length)) == 0) {
        strbuf_put(&b, (const char *)&length, sizeof(length));
        if (length <= WIRE_MESSAGE_MAX && strbuf_room(&b, length))
            rc = receive(fd, b.data + b.len, length);
        else
            errno = EPROTO;
    }
    if (rc == 0) {
        b.len += length;
        rc = wire_next(b.data, b.len, &w, &taken) == 1 && wire_u8(&w) == MESSAGE_HELLO ? 0 : -1;
        errno = rc ? EPROTO : errno;
    }
    if (rc == 0)
        rc = message_hello(&w, hello);
    strbuf_clear(&b);
    return rc;
}

/* What the program says on its standard error, as one line. */
static void read_line(int fd, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got = 1;
    while (got > 0 && n < size - 1) {
        got = read(fd, text + n, size - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static int spawn(const struct find_keeper *where, int errors, pid_t *pid)
{
    char *const argv[] = {(char *)(uintptr_t) "berth-keeper", (char *)(uintptr_t)where->directory,
                          (char *)(uintptr_t)where->cgroup, NULL};
    char *const env[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t set;
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attr)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 0, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, errors, 2);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc ? rc : posix_spawn(pid, where->program, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Its first process ends when the keeper can be reached. */
static int start_keeper(const struct find_keeper *where, berth_error_t *err)
{
    char text[200];
    int ends[2];
    int status = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC))
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    int rc = spawn(where, ends[1], &pid);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        return errtext_set(err, rc, "%s: %s", where->program, strerror(rc));
    }
    read_line(ends[0], text, sizeof(text));
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            status = 0; /* somebody else has waited for it: the connection tells */
            break;
        }
    if (status == 0)
        return 0;
    return errtext_set(err, EIO, "%s", text[0] ? text : "the keeper ended at once");
}

int find_keeper(const struct find_keeper *where, struct message_hello *hello, berth_error_t *err)
{
    for (int i = 0; i < TRIES; i++) {
        int fd = connect_there(where, err);
        if (fd < 0 && errno != ECONNREFUSED && errno != ENOENT)
            return -1;
        if (fd < 0) {
            if (start_keeper(where, err))
                return -1;
            fd = connect_there(where, err);
            if (fd < 0)
                continue;
        }
        if (read_hello(fd, hello) == 0)
            return fd;
        errtext_set(err, errno, "the keeper in %s does not answer: %s", where->directory,
                    strerror(errno));
        int saved = errno;
        close(fd);
        errno = saved;
        if (errno != ECONNRESET)
            return -1;
    }
    return -1;
}
