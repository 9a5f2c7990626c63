/* Finding the keeper of a directory, or starting one. */
#include "engine/local/find_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/helper.h"
#include "engine/local/procs.h"

#define KEEPER_SOCKET "keeper.sock"
#define CHUNK         65536

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
int find_keeper_connect(const struct find_keeper *where, pid_t *pid, berth_error_t *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof(peer);
    snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/%s", where->fd, KEEPER_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid()) {
        *pid = peer.pid;
        return fd;
    }
    int saved = errno;
    close(fd);
    return errtext_set(err, saved, "%s/%s: %s", where->directory, KEEPER_SOCKET, strerror(saved));
}

/* The greeting, if it is there: what has been read of it and behind it is in the buffer. */
static int take_greeting(struct strbuf *in, struct message_hello *hello)
{
    struct wire w;
    size_t taken;
    int rc = wire_next(in->data, in->len, &w, &taken);
    if (rc == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (rc < 0 || wire_u8(&w) != MESSAGE_HELLO) {
        errno = EPROTO;
        return -1;
    }
    if (message_hello(&w, hello))
        return -1;
    memmove(in->data, in->data + taken, in->len - taken);
    in->len -= taken;
    return 0;
}

int find_keeper_greeting(int fd, struct strbuf *in, struct message_hello *hello)
{
    for (;;) {
        if (!strbuf_room(in, CHUNK)) {
            errno = ENOMEM;
            return -1;
        }
        ssize_t n = recv(fd, in->data + in->len, CHUNK, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 || errno != EAGAIN ? ECONNRESET : EAGAIN;
            return -1;
        }
        in->len += (size_t)n;
        int rc = take_greeting(in, hello);
        if (rc == 0 || errno != EAGAIN)
            return rc;
    }
}

static void close_starter(struct keeper_starter *starter)
{
    if (starter->ended >= 0)
        close(starter->ended);
    if (starter->errors >= 0)
        close(starter->errors);
    starter->ended = starter->errors = -1;
}

int find_keeper_start(const struct find_keeper *where, struct keeper_starter *to,
                      berth_error_t *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    const char *const argv[] = {"berth-keeper", where->directory, where->cgroup, NULL};
    int rc = helper_start(where->program, argv, NULL, ends[1], STDERR_FILENO, &to->pid);
    close(ends[1]);
    to->errors = ends[0];
    to->ended = rc ? -1 : procs_open(to->pid);
    if (to->ended >= 0)
        return 0;
    int saved = rc ? rc : errno;
    close_starter(to);
    return errtext_set(err, saved, "%s: %s", where->program, strerror(saved));
}

int find_keeper_started(struct keeper_starter *starter, berth_error_t *err)
{
    char text[200];
    int status = 0;
    if (waitpid(starter->pid, &status, WNOHANG) != starter->pid)
        status = 0; /* it was reaped elsewhere: the connection shows whether it succeeded */
    ssize_t n = read(starter->errors, text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    close_starter(starter);
    if (status == 0)
        return 0;
    return errtext_set(err, EIO, "%s", text[0] ? text : "the keeper ended at once");
}

void find_keeper_forget(struct keeper_starter *starter)
{
    if (starter->ended >= 0)
        waitpid(starter->pid, NULL, WNOHANG);
    close_starter(starter);
}
