/* berth-keeper: starts the processes of a server's runs, and keeps how they end.
 *
 * usage: berth-keeper DIRECTORY [CGROUP-ROOT]
 *        berth-keeper --end DIRECTORY
 *
 * berthd starts it when there is none. It leaves berthd's session and goes on without it; it ends when
 * there is nothing left to keep. The first process waits until the keeper can be reached, and says on
 * standard error why it can't.
 *
 * With --end the keeper of the directory ends, and its runs with it, which are lost; this waits until it has.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/local/keeper.h"
#include "engine/local/procs.h"
#include "engine/local/spawn.h"

#define LOCK_TRIES    300 /* each 10 ms */
#define LINGER        10000000
#define STARTING_MOST 2048
#define BACKLOG       16

/* Put a descriptor at its number. */
static int place(int fd, int number)
{
    if (fd < 0)
        return -1;
    if (fd == number)
        return 0;
    int rc = dup3(fd, number, O_CLOEXEC);
    close(fd);
    return rc < 0 ? -1 : 0;
}

/* The numbers that spawn.h names are taken first, while nothing else has them. */
static int take_lock(berth_error_t *err)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    if (place(open(KEEPER_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), SPAWN_LOCK) ||
        place(open("/dev/null", O_RDWR | O_CLOEXEC), SPAWN_JOURNAL) ||
        place(open("/dev/null", O_RDWR | O_CLOEXEC), SPAWN_RESULT))
        return errtext_set(err, errno, "%s: %s", KEEPER_LOCK, strerror(errno));
    for (int i = 0; flock(SPAWN_LOCK, LOCK_EX | LOCK_NB); i++) {
        if (errno != EWOULDBLOCK || i == LOCK_TRIES)
            return errtext_set(err, errno, "%s: another keeper has it", KEEPER_LOCK);
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int listen_at_socket(struct keeper *k, berth_error_t *err)
{
    const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = KEEPER_SOCKET};
    k->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    unlink(KEEPER_SOCKET);
    mode_t before = umask(0177);
    int rc = k->listener < 0 || bind(k->listener, (const struct sockaddr *)&name, sizeof(name)) ||
             listen(k->listener, BACKLOG);
    umask(before);
    return rc ? errtext_set(err, errno, "%s: %s", KEEPER_SOCKET, strerror(errno)) : 0;
}

/* Found now, while this program is where it was. */
static void find_limits_program(struct keeper *k)
{
    char *path = k->limits_program;
    ssize_t n = readlink("/proc/self/exe", path, sizeof(k->limits_program) - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    snprintf(path + length, sizeof(k->limits_program) - length, "%s", LIMITS_PROGRAM);
}

static void set_limits(struct keeper *k)
{
    char text[16];
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &k->files);
    files = k->files;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files))
        files = k->files;
    k->starting_max = STARTING_MOST;
    if (files.rlim_cur < 2 * STARTING_MOST)
        k->starting_max = files.rlim_cur / 2 + 1;
    k->oom = procs_read_file(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) > 0 &&
             atoi(text) != 0;
}

/* What the server's parents ignored is not ignored by its jobs, not even where the C library keeps a
 * signal to itself.
 */
static void reset_signals(void)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } none = {0};
    for (int i = 1; i <= 64; i++)
        syscall(SYS_rt_sigaction, i, &none, NULL, sizeof(none.mask));
}

static int prepare_keeper(struct keeper *k, berth_error_t *err)
{
    sigset_t all;
    reset_signals();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    umask(077);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1))
        return errtext_set(err, errno, "subreaper: %s", strerror(errno));
    if (take_lock(err))
        return -1;
    set_limits(k);
    find_limits_program(k);
    k->link = -1;
    k->directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    k->poll = epoll_create1(EPOLL_CLOEXEC);
    if (k->directory < 0 || k->poll < 0)
        return errtext_set(err, errno, "epoll: %s", strerror(errno));
    k->linger_at = keeper_steady() + LINGER;
    return keeper_adopt(k, err) || listen_at_socket(k, err) ? -1 : 0;
}

/* Standard files and the pipe are the parent's no longer. */
static void let_parent_go(int ready)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null >= 0)
        close(null);
    if (write(ready, "ready", 5) < 0)
        _exit(EXIT_FAILURE); /* nobody waits */
    close(ready);
}

static int keep_runs(const char *cgroup, pid_t server, int ready)
{
    static struct keeper keeper;
    berth_error_t err = {""};
    keeper.cgroup_root = cgroup;
    keeper.server = server;
    /* The numbers that are to be taken may be the pipe's. */
    int moved = fcntl(ready, F_DUPFD_CLOEXEC, SPAWN_RESULT + 1);
    close(ready);
    if (moved < 0 || prepare_keeper(&keeper, &err)) {
        dprintf(moved, "%s", err.text);
        return EXIT_FAILURE;
    }
    let_parent_go(moved);
    if (keeper_loop(&keeper))
        return EXIT_FAILURE;
    unlink(KEEPER_SOCKET);
    cgroups_close(&keeper.cgroups);
    limits_clear(&keeper.limits);
    return EXIT_SUCCESS;
}

/* Wait until the keeper is ready, or says why it can't be. */
static int wait_for_keeper(int ready, const char *directory)
{
    char text[sizeof(berth_error_t)] = "";
    size_t got = 0;
    ssize_t n = 1;
    while (n > 0 && got < sizeof(text) - 1) {
        n = read(ready, text + got, sizeof(text) - 1 - got);
        got += n > 0 ? (size_t)n : 0;
    }
    if (strcmp(text, "ready") == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "berth-keeper: %s: %s\n", directory, got ? text : "it ended at once");
    return EXIT_FAILURE;
}

/* A keeper that can't be reached is none. */
static int find_keeper(const char *directory, pid_t *pid)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = KEEPER_SOCKET};
    struct ucred peer;
    socklen_t size = sizeof(peer);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = fd < 0 || chdir(directory) ||
             connect(fd, (const struct sockaddr *)&name, sizeof(name)) ||
             getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    *pid = rc ? 0 : peer.pid;
    errno = saved;
    return rc && errno != ENOENT && errno != ECONNREFUSED ? -1 : 0;
}

static int end_keeper(const char *directory)
{
    pid_t pid;
    int rc = find_keeper(directory, &pid);
    int fd = rc == 0 && pid > 0 ? procs_open(pid) : -1;
    struct pollfd end = {.fd = fd, .events = POLLIN};
    if (rc == 0 && (pid == 0 || (fd < 0 && errno == ESRCH)))
        return EXIT_SUCCESS;
    if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0)) {
        fprintf(stderr, "berth-keeper: %s: %s\n", directory, strerror(errno));
        return EXIT_FAILURE;
    }
    while (poll(&end, 1, -1) < 0)
        ;
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    int ends[2];
    if (argc == 3 && strcmp(argv[1], "--end") == 0)
        return end_keeper(argv[2]);
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        fprintf(stderr, "usage: berth-keeper DIRECTORY [CGROUP-ROOT]\n"
                        "       berth-keeper --end DIRECTORY\n");
        return 2;
    }
    pid_t server = getppid();
    if (chdir(argv[1]) || pipe2(ends, O_CLOEXEC)) {
        fprintf(stderr, "berth-keeper: %s: %s\n", argv[1], strerror(errno));
        return EXIT_FAILURE;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        return keep_runs(argc == 3 ? argv[2] : NULL, server, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        fprintf(stderr, "berth-keeper: fork: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return wait_for_keeper(ends[0], argv[1]);
}
