#include "engine/cluster/gate_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/channel.h"
#include "engine/cluster/gate.h"

#define HEAD 8 /* bytes of a pilot's number */

static int spawn(struct gate_process *g, const char *program, const char *directory, int control)
{
    char *const argv[] = {(char *)(uintptr_t) "berth-gate", (char *)(uintptr_t)directory, NULL};
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
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, control, GATE_CONTROL);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, GATE_CONTROL + 1);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc ? rc : posix_spawn(&g->pid, program, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

int gate_start(struct gate_process *g, const char *program, const char *directory,
               berth_error_t *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    /* Above what the program gets, whatever this one has open. */
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, GATE_CONTROL + 1);
    int rc = high < 0 ? errno : spawn(g, program, directory, high);
    close(ends[1]);
    if (high >= 0)
        close(high);
    if (rc) {
        close(ends[0]);
        return errtext_set(err, rc, "%s: %s", program, strerror(rc));
    }
    g->control = ends[0];
    return 0;
}

static int descriptor_in(struct msghdr *message)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(message);
    int fd;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(sizeof(fd)))
        return -1;
    memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

int gate_take(struct gate_process *g, uint64_t *pilot, int *fd, struct strbuf *description)
{
    uint8_t head[HEAD];
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } more;
    if (g->control < 0 || !strbuf_room(description, CHANNEL_MOST))
        return -1;
    struct iovec parts[2] = {{head, sizeof(head)}, {description->data, CHANNEL_MOST}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = more.room,
                             .msg_controllen = sizeof(more.room)};
    ssize_t n = recvmsg(g->control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    *fd = descriptor_in(&message);
    if (n < HEAD || *fd < 0)
        return -1;
    *pilot = 0;
    for (int i = 0; i < HEAD; i++)
        *pilot |= (uint64_t)head[i] << (8 * i);
    description->len = (size_t)n - HEAD;
    return 1;
}

void gate_end(struct gate_process *g)
{
    if (g->control >= 0)
        close(g->control);
    g->control = -1;
    if (g->pid > 0)
        waitpid(g->pid, NULL, WNOHANG); /* else it is reaped with the server */
}
