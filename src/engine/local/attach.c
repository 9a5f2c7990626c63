/* The task's side of an attached run: one descriptor, received over a socket. */
#include "engine/local/attach.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE 60 /* seconds; whoever listens may be stopped */

static int say_why(char text[ATTACH_TEXT_MAX], const char *why)
{
    snprintf(text, ATTACH_TEXT_MAX, "%s", why);
    return -1;
}

static bool is_own_peer(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

static int receive(int fd)
{
    char byte;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n;
    int passed = -1;
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    const struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&passed, CMSG_DATA(c), sizeof(passed));
    return passed;
}

/* A socket that is connected to a path, if its owner listens there. */
static int reach(const char *path, bool *gone, char text[ATTACH_TEXT_MAX])
{
    const struct timeval patience = {.tv_sec = PATIENCE};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *gone = false;
    if (fd < 0)
        return say_why(text, strerror(errno));
    if (strlen(path) >= sizeof(at.sun_path)) {
        close(fd);
        return say_why(text, "the path of its socket is too long");
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
        *gone = errno == ENOENT || errno == ECONNREFUSED;
        say_why(text, *gone ? "the client that passes it on is gone" : strerror(errno));
    } else if (!is_own_peer(fd)) {
        say_why(text, "another user listens at its socket");
    } else {
        return fd;
    }
    close(fd);
    return -1;
}

static int take_passed(int fd, bool *gone, char text[ATTACH_TEXT_MAX])
{
    int passed = receive(fd);
    *gone = passed < 0;
    if (*gone)
        say_why(text, "the client passes nothing on");
    close(fd);
    return passed;
}

int attach_receive(const char *path, bool *gone, char text[ATTACH_TEXT_MAX])
{
    int fd = reach(path, gone, text);
    return fd < 0 ? -1 : take_passed(fd, gone, text);
}

int attach_receive_far(int folder, const char *path, int as, bool *gone, char text[ATTACH_TEXT_MAX])
{
    char streams[64];
    const uint8_t kind = (uint8_t)as;
    const struct iovec parts[2] = {{(void *)(uintptr_t)&kind, 1},
                                   {(void *)(uintptr_t)path, strlen(path)}};
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts, .msg_iovlen = 2};
    snprintf(streams, sizeof(streams), "/proc/self/fd/%d/" ATTACH_STREAMS, folder);
    int fd = reach(streams, gone, text);
    if (fd < 0)
        return -1;
    if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 || shutdown(fd, SHUT_WR) < 0) {
        say_why(text, strerror(errno));
        close(fd);
        return -1;
    }
    return take_passed(fd, gone, text);
}
