/* The answer comes through a pipe, after a head. It is valid if the child has ended well and it is as long as
 * its head says.
 */
#include "config/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"

struct head {
    int64_t errnum; /* 0: the answer follows; else the text of an error */
    uint64_t length;
};

enum { PIECE = 65536 };

/* ---- The child ---- */

/* The limit of address space that lets this process take so much more; RLIM_INFINITY if that is unknown. */
static rlim_t room_for_more(size_t more)
{
    FILE *file = fopen("/proc/self/statm", "re");
    uint64_t pages = 0;
    int found = file ? fscanf(file, "%" SCNu64, &pages) : 0;

    if (file)
        fclose(file);
    if (found != 1)
        return RLIM_INFINITY;
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)more;
}

/* Lower a limit; a lower one stays. */
static bool lower(int resource, rlim_t value, rlim_t hard)
{
    struct rlimit now;

    if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
        return false;
    now.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
    now.rlim_cur = value < now.rlim_cur ? value : now.rlim_cur;
    now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &now) == 0;
}

/* Make this process harmless: no handlers, no output, limits, and an end together with its parent. */
static bool confine(const struct apart *apart, pid_t parent)
{
    rlim_t memory = room_for_more(apart->memory);
    rlim_t seconds = (rlim_t)apart->seconds;
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* those that can't be changed stay */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0)
        for (int fd = 0; fd <= 2; fd++)
            dup2(null, fd);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
           lower(RLIMIT_CORE, 0, 0) && lower(RLIMIT_CPU, seconds, seconds + 1) &&
           lower(RLIMIT_AS, memory, memory);
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = write(fd, bytes, n);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* The life of the child: its exit status. */
static int live(const struct apart *apart, pid_t parent, int fd)
{
    struct strbuf answer = {0};
    berth_error_t err = {""};
    struct head head = {0};

    if (!confine(apart, parent))
        return 1;
    if (apart->work(apart->context, &answer, &err) < 0)
        head.errnum = errno ? errno : EINVAL;
    else if (answer.failed)
        head.errnum = ENOMEM;
    if (head.errnum == ENOMEM && !err.text[0])
        errtext_no_memory(&err);
    const char *text = head.errnum ? err.text : strbuf_text(&answer);
    head.length = head.errnum ? strlen(err.text) : answer.len;
    return !send_all(fd, (const char *)&head, sizeof(head)) ||
           !send_all(fd, text, (size_t)head.length);
}

/* ---- The parent ---- */

static int64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int too_long(const struct apart *apart, berth_error_t *err)
{
    return errtext_set(err, EINVAL, "%s took more than %d s", apart->who, apart->seconds);
}

/* Wait until there is something to read. Returns 0, or -1 with EINVAL when time is up. */
static int wait_for_more(const struct apart *apart, int fd, int64_t until, berth_error_t *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    for (;;) {
        int64_t left = until - clock_ms();
        int n = left <= 0 ? 0 : poll(&p, 1, left < INT32_MAX ? (int)left : INT32_MAX);
        if (n > 0)
            return 0;
        if (left <= 0)
            return too_long(apart, err);
        if (n < 0 && errno != EINTR)
            return errtext_set(err, errno, "poll: %s", strerror(errno));
    }
}

/* Read everything until the end, including the head. */
static int receive_all(const struct apart *apart, int fd, int64_t until, struct strbuf *all,
                       berth_error_t *err)
{
    for (;;) {
        if (wait_for_more(apart, fd, until, err) < 0)
            return -1;
        if (!strbuf_room(all, PIECE))
            return errtext_no_memory(err);
        ssize_t n = read(fd, all->data + all->len, PIECE);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errtext_set(err, errno, "read: %s", strerror(errno));
        all->len += n > 0 ? (size_t)n : 0;
        if (all->len > apart->answer + sizeof(struct head))
            return errtext_set(err, EINVAL, "%s found too much", apart->who);
    }
}

/* Wait for the end of the child, which is killed when time is up. Returns what waitpid returns. */
static pid_t wait_for_end(pid_t child, int64_t until, int *status)
{
    for (;;) {
        bool late = clock_ms() >= until;
        if (late)
            kill(child, SIGKILL);
        pid_t ended = waitpid(child, status, late ? 0 : WNOHANG);
        if (ended > 0 || (ended < 0 && errno != EINTR))
            return ended;
        poll(NULL, 0, 1);
    }
}

/* Report how the child ended, if not well. Returns 0, or -1 with EINVAL. */
static int judge_end(const struct apart *apart, pid_t child, int64_t until, berth_error_t *err)
{
    int status = 0;

    if (wait_for_end(child, until, &status) < 0)
        return 0; /* somebody else has collected the status: judge by the answer alone */
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && clock_ms() >= until;
    if (killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        return too_long(apart, err);
    if (WIFSIGNALED(status))
        return errtext_set(err, EINVAL, "%s crashed: signal %d (%s)", apart->who, WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return errtext_set(err, EINVAL, "%s ended with status %d", apart->who, WEXITSTATUS(status));
    return 0;
}

/* Hand on what was received. */
static int hand_on_answer(const struct apart *apart, const struct strbuf *all,
                          struct strbuf *answer, berth_error_t *err)
{
    struct head head;
    const char *rest = all->data + sizeof(head);

    if (all->len >= sizeof(head))
        memcpy(&head, all->data, sizeof(head));
    if (all->len < sizeof(head) || head.length != all->len - sizeof(head) || head.errnum < 0 ||
        head.errnum > INT32_MAX)
        return errtext_set(err, EINVAL, "%s gave no whole answer", apart->who);
    if (head.errnum != 0)
        return errtext_set(err, (int)head.errnum, "%.*s", (int)head.length, rest);
    strbuf_put(answer, rest, (size_t)head.length);
    return answer->failed ? errtext_no_memory(err) : 0;
}

static int watch_child(const struct apart *apart, pid_t child, int fd, struct strbuf *answer,
                       berth_error_t *err)
{
    struct strbuf all = {0};
    int64_t until = clock_ms() + INT64_C(1000) * APART_CLOCK * apart->seconds;
    int rc = receive_all(apart, fd, until, &all, err);

    if (rc < 0) {
        int saved = errno;
        judge_end(apart, child, 0, NULL);
        errno = saved;
    } else {
        rc = judge_end(apart, child, until, err);
    }
    if (rc == 0)
        rc = hand_on_answer(apart, &all, answer, err);
    strbuf_clear(&all);
    return rc;
}

int apart_do(const struct apart *apart, struct strbuf *answer, berth_error_t *err)
{
    int fds[2];
    pid_t parent = getpid();

    if (pipe2(fds, O_CLOEXEC) < 0)
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        _exit(live(apart, parent, fds[1]));
    int saved = errno;
    close(fds[1]);
    int rc = child < 0 ? errtext_set(err, saved, "fork: %s", strerror(saved))
                       : watch_child(apart, child, fds[0], answer, err);
    saved = errno;
    close(fds[0]);
    errno = saved;
    return rc;
}
