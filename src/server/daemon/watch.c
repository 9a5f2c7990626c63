#include "server/daemon/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/daemon/paths.h"

#define AGAIN 5 /* s, at least, between two starts */

/* This process's environment, in which Slurm's commands are found, and which server it is of. NULL: no memory. */
static char **environment(char *directory, char *socket)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **env = reallocarray(NULL, n + 3, sizeof(*env));
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(environ[i], "BERTH_DIR=", strlen("BERTH_DIR=")) != 0 &&
            strncmp(environ[i], "BERTH_SOCKET=", strlen("BERTH_SOCKET=")) != 0)
            env[kept++] = environ[i];
    if (!env)
        return NULL;
    env[kept++] = directory;
    env[kept++] = socket;
    env[kept] = NULL;
    return env;
}

/* Its descriptors are none of ours. */
static int spawn(pid_t *pid, const char *program, char **env)
{
    char *const argv[] = {(char *)(uintptr_t) "berth", (char *)(uintptr_t) "pilot",
                          (char *)(uintptr_t) "watch", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t set;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawnattr_init(&attr)) {
        posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 0, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 0, 2);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc ? rc : posix_spawn(pid, program, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void start_client(struct watch *w)
{
    char program[PATH_MAX], directory[PATH_MAX + 16], socket[PATH_MAX + 16];
    pid_t pid;
    snprintf(directory, sizeof(directory), "BERTH_DIR=%s", w->directory);
    snprintf(socket, sizeof(socket), "BERTH_SOCKET=%s", w->socket);
    char **env = environment(directory, socket);
    if (env && paths_program("berth", program, NULL) == 0 && spawn(&pid, program, env) == 0)
        w->pid = pid;
    free(env);
}

void watch_want(struct watch *w, bool wanted)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (w->pid > 0 && waitpid(w->pid, NULL, WNOHANG) != 0)
        w->pid = 0;
    if (!wanted || w->pid > 0 || now.tv_sec < w->next)
        return;
    w->next = now.tv_sec + AGAIN;
    start_client(w);
}
