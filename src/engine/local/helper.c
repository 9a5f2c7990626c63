#include "engine/local/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>

int helper_start(const char *program, const char *const argv[], char *const env[], int from, int to,
                 pid_t *pid)
{
    char *const none[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t set;
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attr)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 0, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, from, to);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, to + 1);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(&attr, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc ? rc
            : posix_spawn(pid, program, &actions, &attr, (char *const *)(uintptr_t)argv,
                          env ? env : none);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}
