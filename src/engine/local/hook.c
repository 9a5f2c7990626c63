#include "engine/local/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAID_MAX 120 /* bytes of what it printed that are told */

/* The first line of what a command prints; the rest is read and thrown away. */
struct said {
    char line[SAID_MAX + 1];
    size_t n;
    bool whole;
};

static int64_t steady(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void keep_first_line(struct said *said, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !said->whole; i++) {
        if (bytes[i] == '\n' || said->n == SAID_MAX)
            said->whole = said->n > 0;
        else
            said->line[said->n++] = (unsigned char)bytes[i] < ' ' ? ' ' : bytes[i];
    }
    said->line[said->n] = '\0';
}

/* Read what is there. False: it has been closed. */
static bool read_some(int from, struct said *said)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(from, bytes, sizeof(bytes))) > 0)
        keep_first_line(said, bytes, (size_t)n);
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Become the command. */
__attribute__((noreturn)) static void become(const char *command, const char *const *env,
                                             const char *mark, int output)
{
    sigset_t none;
    size_t n = 0;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (env[n])
        n++;
    const char **all = calloc(n + 2, sizeof(*all));
    if (!all || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0 || chdir("/") < 0)
        _exit(126);
    memcpy(all, env, n * sizeof(*all));
    all[n] = mark;
    umask(022);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execle("/bin/sh", "sh", "-c", command, NULL, (char *const *)all);
    _exit(127);
}

/* Wait for the end of a process, reading what it prints. Returns its status; -1: it was killed after `limit` us. */
static int wait_for_hook(pid_t pid, int output, int64_t limit, struct said *said)
{
    int64_t until = steady() + limit;
    int status = 0, end = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd fds[] = {{end, POLLIN, 0}, {output, POLLIN, 0}};
    bool late = end < 0; /* as no limit could be kept */
    while (!late) {
        int64_t left = (until - steady()) / 1000;
        int ready = poll(fds, 2, left > 1000 ? 1000 : left > 0 ? (int)left : 0);
        if (ready > 0 && fds[1].revents && !read_some(output, said))
            fds[1].fd = -1;
        if (ready > 0 && fds[0].revents)
            break;
        late = steady() >= until;
    }
    if (end >= 0)
        close(end);
    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    read_some(output, said);
    return late ? -1 : status;
}

int hook_run(const char *what, const char *command, int64_t limit, const char *const *env,
             const char *mark, char *text, size_t n)
{
    struct said said = {.n = 0};
    int ends[2], status;
    pid_t self = getpid(), pid = -1;
    char end[64];
    if (pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        pid = fork();
    if (pid < 0) {
        snprintf(text, n, "%s: %s", what, strerror(errno));
        return -1;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self)
            _exit(127);
        setpgid(0, 0);
        become(command, env, mark, ends[1]);
    }
    setpgid(pid, pid);
    close(ends[1]);
    status = wait_for_hook(pid, ends[0], limit, &said);
    close(ends[0]);
    if (status == 0)
        return 0;
    if (status < 0)
        snprintf(end, sizeof(end), "took longer than %lld s", (long long)(limit / 1000000));
    else if (WIFSIGNALED(status))
        snprintf(end, sizeof(end), "signal %d", WTERMSIG(status));
    else
        snprintf(end, sizeof(end), "exit status %d", WEXITSTATUS(status));
    snprintf(text, n, "%s: %s%s%s", what, end, said.n ? ": " : "", said.line);
    return -1;
}
