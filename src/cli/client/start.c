#include "cli/client/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "server/daemon/places.h"

#define PATIENCE_MS 10000 /* for a server that another has just started */
#define LOOK_MS     5

extern char **environ;

bool start_is_there(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    /* EAGAIN: somebody listens who has much to do. */
    bool there =
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
    close(fd);
    return there;
}

/* With a signal mask and signals as a daemon wants them, whatever ours are. */
static int spawn(const char *program, const char *config, int said, pid_t *pid)
{
    char name[] = "berthd", option[] = "--config";
    char *file = config ? strdup(config) : NULL;
    char *argv[] = {name, file ? option : NULL, file, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    if (config && !file)
        return ENOMEM;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
    int rc = posix_spawn(pid, program, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(file);
    return rc;
}

/* What it says before it goes into the background. */
static void read_said(int fd, char *text, size_t size)
{
    size_t length = 0;
    ssize_t n;

    while (length < size - 1) {
        n = read(fd, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static int run(const char *program, const char *config, char *said, size_t size, berth_error_t *err)
{
    int fds[2], status = 0;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    int rc = spawn(program, config, fds[1], &pid);
    close(fds[1]);
    if (rc != 0) {
        close(fds[0]);
        return errtext_set(err, rc, "%s: %s", program, strerror(rc));
    }
    read_said(fds[0], said, size);
    close(fds[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : 1;
}

static int await(const char *socket, const char *said, berth_error_t *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        if (start_is_there(socket))
            return 0;
        nanosleep(&pause, NULL);
    }
    return errtext_set(err, ETIMEDOUT, "%s, but does not answer at %s", said, socket);
}

int start_server(const char *socket, const char *config, berth_error_t *err)
{
    char program[PATH_MAX], said[512];

    if (places_program("berthd", program, err) < 0)
        return -1;
    int rc = run(program, config, said, sizeof(said), err);
    if (rc <= 0)
        return rc;
    const char *text = strncmp(said, "berthd: ", 8) == 0 ? said + 8 : said;
    if (strncmp(text, "another berthd", 14) == 0)
        return await(socket, text, err);
    return errtext_set(err, ECONNREFUSED, "%s", *text ? text : "berthd does not start");
}
