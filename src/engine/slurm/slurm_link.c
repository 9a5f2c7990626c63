/* The server's way to berth-slurm, which it starts: a socket. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/helper.h"
#include "engine/slurm/slurm_priv.h"

#define CHUNK 65536

/* There are never two of them. */
static void end_last_helper(struct slurm *s)
{
    if (s->pid <= 0)
        return;
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

int slurm_start_helper(struct slurm *s, berth_error_t *err)
{
    int ends[2];
    end_last_helper(s);
    extern char **environ;
    const char *const argv[] = {"berth-slurm", s->directory, s->run, s->tag,
                                s->partition,  s->options,   NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errtext_set(err, errno, "socket: %s", strerror(errno));
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, TALK_FD + 1);
    int rc = high < 0 ? errno : helper_start(s->helper, argv, environ, high, TALK_FD, &s->pid);
    close(ends[1]);
    if (high >= 0)
        close(high);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[0]};
    if (rc == 0 && epoll_ctl(s->poll, EPOLL_CTL_ADD, ends[0], &event))
        rc = errno;
    if (rc) {
        close(ends[0]);
        return errtext_set(err, rc, "%s: %s", s->helper, strerror(rc));
    }
    s->link = ends[0];
    return 0;
}

void slurm_come_back(const struct slurm *s, int64_t us)
{
    const struct itimerspec when = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    timerfd_settime(s->timer, 0, &when, NULL);
}

/* It has gone. Another one finds all that this one has been told in the folders. */
static void hang_up_helper(struct slurm *s)
{
    close(s->link);
    s->link = -1;
    strbuf_clear(&s->in);
    s->in_at = s->out_at = 0;
    slurm_come_back(s, SLURM_RETRY);
}

void slurm_read_link(struct slurm *s)
{
    ssize_t n;
    if (!strbuf_room(&s->in, CHUNK))
        return;
    n = recv(s->link, s->in.data + s->in.len, CHUNK, MSG_DONTWAIT);
    if (n > 0)
        s->in.len += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        hang_up_helper(s);
}

/* Messages that have been sent whole. */
static void drop_sent(struct slurm *s)
{
    struct wire w;
    size_t at = 0, taken;
    while (at < s->out_at && wire_next(s->out.data + at, s->out.len - at, &w, &taken) > 0 &&
           at + taken <= s->out_at)
        at += taken;
    if (at > 0)
        memmove(s->out.data, s->out.data + at, s->out.len - at);
    s->out.len -= at;
    s->out_at -= at;
}

int slurm_flush(struct engine *e)
{
    struct slurm *s = slurm_of(e);
    while (s->link >= 0 && s->out_at < s->out.len) {
        ssize_t n = send(s->link, s->out.data + s->out_at, s->out.len - s->out_at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            slurm_come_back(s, SLURM_RETRY / 10);
            break;
        }
        if (n <= 0) {
            hang_up_helper(s);
            break;
        }
        s->out_at += (size_t)n;
    }
    drop_sent(s);
    return s->link >= 0 ? 0 : -1;
}
