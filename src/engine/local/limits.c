/* A user's limits. */
#include "engine/local/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KNOWN_FOR ((int64_t)60 * 1000000) /* us */

struct limits_user {
    uid_t uid;
    int64_t until;
    struct limits limits;
};

static const char *const names[] = {
    [RLIMIT_CPU] = "CPU time",
    [RLIMIT_FSIZE] = "file size",
    [RLIMIT_DATA] = "data size",
    [RLIMIT_STACK] = "stack size",
    [RLIMIT_CORE] = "core file size",
    [RLIMIT_RSS] = "resident set size",
    [RLIMIT_NPROC] = "processes",
    [RLIMIT_NOFILE] = "open files",
    [RLIMIT_MEMLOCK] = "locked memory",
    [RLIMIT_AS] = "address space",
    [RLIMIT_LOCKS] = "file locks",
    [RLIMIT_SIGPENDING] = "pending signals",
    [RLIMIT_MSGQUEUE] = "message queues",
    [RLIMIT_NICE] = "nice ceiling",
    [RLIMIT_RTPRIO] = "realtime priority",
    [RLIMIT_RTTIME] = "realtime CPU time",
};

int limits_get(struct limits *l)
{
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &l->of[i]))
            return -1;
    errno = 0;
    l->nice = getpriority(PRIO_PROCESS, 0);
    return errno ? -1 : 0;
}

int limits_set(const struct limits *l, const char **what)
{
    struct limits now;
    *what = "limits";
    if (limits_get(&now))
        return -1;
    *what = "priority";
    if (l->nice != now.nice && setpriority(PRIO_PROCESS, 0, l->nice))
        return -1;
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        *what = names[i];
        if (memcmp(&l->of[i], &now.of[i], sizeof(now.of[i])) != 0 &&
            setrlimit((__rlimit_resource_t)i, &l->of[i]))
            return -1;
    }
    return 0;
}

static int run_program(const char *program, uid_t uid, int to, pid_t *pid)
{
    char number[24];
    char *const argv[] = {(char *)(uintptr_t)LIMITS_PROGRAM, number, NULL};
    char *const env[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    snprintf(number, sizeof(number), "%lu", (unsigned long)uid);
    if (posix_spawn_file_actions_init(&actions))
        return ENOMEM;
    if (posix_spawnattr_init(&attr)) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, to, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 0, 2);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attr, &none);
    /* A signal for the task is not one for this program: it has a process group of its own. */
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    rc = rc ? rc : posix_spawn(pid, program, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* All that it says. Returns the number of bytes. */
static size_t read_whole_answer(int fd, char *to, size_t size)
{
    size_t n = 0;
    ssize_t got = 1;
    while (n < size && got != 0) {
        got = read(fd, to + n, size - n);
        if (got < 0 && errno != EINTR)
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    return n;
}

int limits_ask(const char *program, uid_t uid, struct limits *l, char text[LIMITS_TEXT_MAX])
{
    char answer[sizeof(*l) + LIMITS_TEXT_MAX] = "";
    int ends[2], status = -1;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(text, LIMITS_TEXT_MAX, "%s", strerror(errno));
        return -1;
    }
    int rc = run_program(program, uid, ends[1], &pid);
    close(ends[1]);
    size_t n = rc ? 0 : read_whole_answer(ends[0], answer, sizeof(answer) - 1);
    close(ends[0]);
    while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (rc == 0 && status == 0 && n == sizeof(*l)) {
        memcpy(l, answer, sizeof(*l));
        return 0;
    }
    if (rc)
        snprintf(text, LIMITS_TEXT_MAX, "%.150s: %s", program, strerror(rc));
    else if (status == 0 || n == 0 || WIFSIGNALED(status))
        snprintf(text, LIMITS_TEXT_MAX, "%.150s: no valid output", program);
    else
        snprintf(text, LIMITS_TEXT_MAX, "%.*s", (int)strcspn(answer, "\n"), answer);
    return -1;
}

static struct limits_user *known_user(const struct limits_known *k, uid_t uid)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->v[i].uid == uid)
            return &k->v[i];
    return NULL;
}

const struct limits *limits_find(const struct limits_known *k, uid_t uid, int64_t now)
{
    const struct limits_user *u = known_user(k, uid);
    return u && now < u->until ? &u->limits : NULL;
}

void limits_keep(struct limits_known *k, uid_t uid, const struct limits *l, int64_t now)
{
    struct limits_user *u = known_user(k, uid);
    for (size_t i = 0; i < k->n && !u; i++)
        if (now >= k->v[i].until)
            u = &k->v[i]; /* in the place of one that has expired */
    if (!u && k->n == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 4;
        struct limits_user *v = reallocarray(k->v, cap, sizeof(*v));
        if (!v)
            return;
        k->v = v;
        k->cap = cap;
    }
    if (!u)
        u = &k->v[k->n++];
    *u = (struct limits_user){.uid = uid, .until = now + KNOWN_FOR, .limits = *l};
}

void limits_clear(struct limits_known *k)
{
    free(k->v);
    *k = (struct limits_known){0};
}
