#include "server/daemon/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS   60   /* of processor time */
#define ENTRY_MAX 4200 /* bytes of a variable */

enum { ENTRIES = 10 };

/* Its environment, written before the fork. */
struct surroundings {
    char entry[ENTRIES][ENTRY_MAX];
    char *env[ENTRIES + 1];
};

static void set_surroundings(struct surroundings *to, const struct server_notification *n)
{
    const char *const pairs[ENTRIES][2] = {{"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin"},
                                           {"HOME", n->home},
                                           {"USER", n->user},
                                           {"LOGNAME", n->user},
                                           {"BERTH_DIR", n->directory},
                                           {"BERTH_JOB_ID", n->id},
                                           {"BERTH_JOB_NAME", n->name},
                                           {"BERTH_EVENT", n->event},
                                           {"BERTH_STATE", n->state},
                                           {"LANG", "C.UTF-8"}};
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(to->entry[i], ENTRY_MAX, "%s=%s", pairs[i][0], pairs[i][1]);
        to->env[i] = to->entry[i];
    }
    to->env[ENTRIES] = NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What it reads: the text, or a mail. Returns the reading end, or -1. */
static int make_input(const struct server_notification *n)
{
    char mail[2048];
    const char *text = n->text;
    int ends[2];
    if (begins(n->to, "mail:")) {
        snprintf(mail, sizeof(mail), "To: %s\nSubject: Berth: job %s (%.200s): %s\n\n%.1000s",
                 n->to + strlen("mail:"), n->id, n->name, n->state, n->text);
        text = mail;
    }
    size_t length = strlen(text);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK); /* the pipe has room for it */
    ssize_t written = write(ends[1], text, length);
    close(ends[1]);
    if (written == (ssize_t)length)
        return ends[0];
    close(ends[0]);
    return -1;
}

static bool become(const struct server_notification *n)
{
    return !n->as_user ||
           (setgroups(n->n_groups, n->groups) == 0 && setgid(n->gid) == 0 && setuid(n->uid) == 0);
}

static void run_notification(const struct server_notification *n, int input, char **env)
{
    const char *const web[] = {
        "curl",          "-fsS", "-m", "30",  "-H", "Content-Type: application/json",
        "--data-binary", "@-",   "--", n->to, NULL};
    const char *const mail[] = {"sendmail", "-t", "-i", NULL};
    const char *const command[] = {"/bin/sh", "-c", n->to, NULL};
    const char *const *argv = begins(n->to, "http://") || begins(n->to, "https://") ? web
                              : begins(n->to, "mail:")                              ? mail
                                                                                    : command;
    const struct rlimit cpu = {SECONDS, SECONDS};
    sigset_t none;
    int null = open("/dev/null", O_WRONLY);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    setrlimit(RLIMIT_CPU, &cpu);
    if (null < 0 || dup2(input, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || !become(n))
        _exit(126);
    if (chdir(n->home) < 0 && chdir("/") < 0)
        _exit(126);
    close_range(3, ~0u, 0);
    environ = env;
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

void notify_start(const struct server_notification *n)
{
    static struct surroundings around;
    int input = make_input(n);
    if (input < 0)
        return;
    set_surroundings(&around, n);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) /* so that it is nobody's child here */
            run_notification(n, input, around.env);
        _exit(0);
    }
    close(input);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}
