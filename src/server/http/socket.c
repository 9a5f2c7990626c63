/* The socket: created, and recreated when it was removed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/errtext.h"
#include "server/http/priv.h"

#define BACKLOG 4096

static int listen_at(const char *path, mode_t mode, berth_error_t *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;

    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    if (lstat(path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode)) {
            errtext_set(err, EEXIST, "%s exists and is not a socket", path);
            goto fail;
        }
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
            errno == EAGAIN) {
            errtext_set(err, EADDRINUSE, "another server listens at %s", path);
            goto fail;
        }
        unlink(path);
    }
    mode_t old = umask(0777 & ~mode);
    int rc = bind(fd, (const struct sockaddr *)&address, sizeof(address));
    int saved = errno;
    umask(old);
    if (rc < 0 || listen(fd, BACKLOG) < 0) {
        errtext_set(err, rc < 0 ? saved : errno, "%s: %s", path, strerror(rc < 0 ? saved : errno));
        goto fail;
    }
    return fd;
fail:
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* Its inode is not reused while the socket is open. */
bool http_has_socket(const struct http *h)
{
    struct stat st;
    return lstat(h->path, &st) == 0 && st.st_dev == h->device && st.st_ino == h->inode;
}

int http_listen(struct http *h, berth_error_t *err)
{
    struct stat st;
    int fd = listen_at(h->path, h->mode, err);

    if (fd < 0)
        return -1;
    if (h->listener < 0) {
        h->listener = fd;
    } else { /* keep the descriptor that libuv polls */
        while (dup3(fd, h->listener, O_CLOEXEC) < 0 && (errno == EINTR || errno == EBUSY))
            ;
        close(fd);
    }
    bool found = lstat(h->path, &st) == 0;
    h->device = found ? st.st_dev : 0;
    h->inode = found ? st.st_ino : 0;
    return 0;
}

void http_unlisten(struct http *h)
{
    if (http_has_socket(h))
        unlink(h->path);
}

/* The file's name or permissions have changed. */
static void on_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    http_listen_again(handle->data);
}

void http_watch_socket(struct http *h)
{
    uv_fs_event_start(&h->gone, on_event, h->path, 0);
}
