/* berth-agent: lends a node of a cluster to a server of one person.
 *
 * usage: berth-agent DIRECTORY/pilots/N [END]
 *
 * It runs as a task of somebody else's job, of Slurm's for instance; END is when that job ends, in seconds since
 * 1970. There are two processes: one starts the other again when that was killed.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/cluster/agent.h"

#define KEEPER    "berth-keeper"
#define TRIES     3   /* how often it is started again */
#define TRIES_FOR 600 /* s */

static volatile sig_atomic_t child;

static void pass_on_to_worker(int signal)
{
    if (child > 0)
        kill((pid_t)child, signal);
}

/* The program beside this one. */
static int find_keeper(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(KEEPER) - 1);
    if (n <= 0)
        return -1;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, KEEPER, sizeof(KEEPER));
    return 0;
}

/* Where the first process is killed, as Slurm kills what it does not know any more, the node is left like on SIGTERM. */
static int work(const struct agent_options *options, pid_t watcher)
{
    berth_error_t err = {""};
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != watcher)
        raise(SIGTERM); /* it is blocked, and read from a descriptor */
    if (agent_run(options, &err) == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "berth-agent: %s\n", err.text);
    return EXIT_FAILURE;
}

/* Wait for the worker; keepers that were left behind are reaped too. */
static int wait_for_worker(pid_t pid)
{
    int status;
    for (;;) {
        pid_t got = wait(&status);
        if (got == pid)
            return status;
        if (got < 0 && errno != EINTR)
            return 0;
    }
}

static int watch_worker(const struct agent_options *options)
{
    const struct sigaction act = {.sa_handler = pass_on_to_worker};
    time_t first = time(NULL);
    int tries = 0;
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaction(SIGTERM, &act, NULL);
    pid_t own = getpid();
    for (;;) {
        sigprocmask(SIG_BLOCK, &term, &before);
        pid_t pid = fork();
        if (pid == 0)
            _exit(work(options, own)); /* SIGTERM stays blocked: it is read from a descriptor */
        child = pid;
        sigprocmask(SIG_SETMASK, &before, NULL);
        int status = pid > 0 ? wait_for_worker(pid) : 0;
        if (pid < 0 || !WIFSIGNALED(status))
            return pid < 0 ? EXIT_FAILURE : WEXITSTATUS(status);
        if (time(NULL) - first > TRIES_FOR) {
            first = time(NULL);
            tries = 0;
        }
        if (++tries > TRIES)
            return EXIT_FAILURE;
    }
}

/* "DIRECTORY/pilots/N". */
static int read_place(char *text, struct agent_options *to)
{
    char *slash = strrchr(text, '/'), *end;
    if (text[0] != '/' || !slash || slash == text)
        return -1;
    *slash = '\0';
    errno = 0;
    to->pilots = text;
    to->pilot = strtoull(slash + 1, &end, 10);
    return slash[1] >= '0' && slash[1] <= '9' && *end == '\0' && errno == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    static char keeper[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    const struct rlimit none = {0, 0};
    struct agent_options options = {.keeper = keeper};
    char *end = NULL;
    if (argc == 3)
        options.end = strtoll(argv[2], &end, 10) * 1000000;
    if (argc < 2 || argc > 3 || (end && *end) || read_place(argv[1], &options)) {
        fprintf(stderr, "usage: berth-agent DIRECTORY/pilots/N [END]\n");
        return 2;
    }
    options.temporary = temporary && temporary[0] == '/' ? temporary : "/tmp";
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (sodium_init() < 0 || find_keeper(keeper)) {
        fprintf(stderr, "berth-agent: it does not find what it needs\n");
        return EXIT_FAILURE;
    }
    return watch_worker(&options);
}
