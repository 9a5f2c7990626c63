/* What passes a descriptor to a task that starts: a client, or the agent of the task's node. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/local/attach.h"

void attach_pass(int fd, int passed)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &passed, sizeof(passed));
    while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}
