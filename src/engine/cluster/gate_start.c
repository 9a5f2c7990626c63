#include "engine/cluster/gate_start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/channel.h"
#include "engine/cluster/gate.h"
#include "engine/local/helper.h"

#define HEAD 8 /* bytes of a pilot's number */

int gate_start(struct gate_process *g, const char *program, const char *directory,
               berth_error_t *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    /* Above what the program gets, whatever this one has open. */
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, GATE_CONTROL + 1);
    const char *const argv[] = {"berth-gate", directory, NULL};
    int rc = high < 0 ? errno : helper_start(program, argv, NULL, high, GATE_CONTROL, &g->pid);
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
