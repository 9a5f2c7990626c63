/* One task's process: the fork, and what the child does until it is the command. */
#include "engine/local/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/idset.h"
#include "engine/local/attach.h"
#include "engine/local/cgroup.h"
#include "engine/local/hook.h"
#include "engine/local/journal.h"
#include "engine/local/procs.h"
#include "engine/local/spool.h"

#define SCRIPT_FD 200 /* out of the way of the numbers that scripts use */
#define CPUS_MAX  65536
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static int64_t wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void tell_word(const struct spawn_word *word)
{
    while (write(SPAWN_RESULT, word, sizeof(*word)) < 0 && errno == EINTR)
        ;
}

/* Say why this process can't become the command, and end it. */
__attribute__((format(printf, 2, 3), noreturn)) static void fail_as(int status, const char *format,
                                                                    ...)
{
    struct spawn_word word = {.text = "", .status = status};
    va_list args;
    va_start(args, format);
    vsnprintf(word.text, sizeof(word.text), format, args);
    va_end(args);
    tell_word(&word);
    _exit(127);
}

/* The same where the command is not what is wrong. */
#define fail(...) fail_as(0, __VA_ARGS__)

/* Die with the keeper. A change of identity resets this, so it is set again after each. */
static void die_with(pid_t keeper)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127);
}

/* The limits of the run's user. Who asks for them is not yet in the run's cgroup, and does not count for
 * it.
 */
static void find_limits(const struct spawn *s, struct limits *limits)
{
    struct spawn_word word = {.text = ""};
    char text[LIMITS_TEXT_MAX];
    if (s->limits) {
        *limits = *s->limits;
        return;
    }
    if (limits_ask(s->program, s->run->uid, &word.limits, text))
        fail("limits of the user: %s", text);
    *limits = word.limits;
    tell_word(&word);
}

/* Let go of all that is the keeper's: this may take a while to become the command. */
static void keep_descriptors(const struct spawn *s)
{
    int last = s->cgroup < 0 ? SPAWN_RESULT : SPAWN_CGROUP;
    if (dup3(s->result, SPAWN_RESULT, O_CLOEXEC) < 0)
        _exit(127);
    if (s->cgroup >= 0 && s->cgroup != SPAWN_CGROUP && dup3(s->cgroup, SPAWN_CGROUP, O_CLOEXEC) < 0)
        fail("cgroup: %s", strerror(errno));
    syscall(SYS_close_range, last + 1, ~0U, 0);
}

static void join_cgroup(void)
{
    if (cgroup_join(SPAWN_CGROUP, getpid()))
        fail("cgroup: %s", strerror(errno));
    close(SPAWN_CGROUP);
}

static void set_cpus(const char *cpus)
{
    struct idset ids = {0};
    berth_error_t err;
    if (idset_decode(&ids, cpus, strlen(cpus), &err))
        fail("cores %.64s: %s", cpus, err.text);
    if (ids.count == 0)
        return;
    if (idset_last(&ids) >= CPUS_MAX)
        fail("cores %.64s: no such core", cpus);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    if (!set)
        fail("cores: %s", strerror(errno));
    CPU_ZERO_S(size, set);
    for (uint32_t i = 0; i < ids.n; i++)
        for (uint32_t id = ids.v[i].lo; id <= ids.v[i].hi; id++)
            CPU_SET_S(id, size, set);
    if (sched_setaffinity(0, size, set))
        fail("cores %.64s: %s", cpus, strerror(errno));
}

/* The administrator's command, before the first task is its user's. */
static void run_prologue(const struct spawn *s)
{
    const struct engine_hooks *hooks = s->run->hooks;
    struct spawn_word word = {.prologue_failed = true};
    if (hook_run("prologue", hooks->prologue, hooks->limit, hooks->env, s->mark, word.text,
                 sizeof(word.text)) == 0)
        return;
    tell_word(&word);
    _exit(127);
}

static void set_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* A system's manager may have set it for all of a user's services: then only root may lower it. */
    if (write(fd, "0", 1) < 0 && errno != EACCES)
        fail("oom_score_adj: %s", strerror(errno));
    close(fd);
}

static void become_user(const struct engine_run *run, const struct limits *limits, pid_t keeper)
{
    const char *what;
    if (limits_set(limits, &what))
        fail("limits of the user: %s: %s", what, strerror(errno));
    if (setgroups(run->n_groups, run->groups) || setresgid(run->gid, run->gid, run->gid) ||
        setresuid(run->uid, run->uid, run->uid))
        fail("user %lu: %s", (unsigned long)run->uid, strerror(errno));
    /* The session keyring of whoever started the daemon must not be this user's. This does nothing if the
     * system has no keyrings.
     */
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    die_with(keeper);
}

/* Never waits for the other end of a pipe. */
static int open_file(const char *what, const char *path, int flags)
{
    int fd = open(path, flags | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        fail("%s %.180s: %s", what, path, strerror(errno));
    fcntl(fd, F_SETFL, flags & (O_APPEND | O_ACCMODE));
    return fd;
}

/* One of the files of its output, or what takes its place where the file is on the server's host alone. */
static int open_output(const struct engine_run *run, int stream, bool first, int folder, int flags)
{
    const char *path = stream ? run->error : run->output;
    const struct spool_ask ask = {.key = run->key,
                                  .stream = stream,
                                  .directory = run->directory,
                                  .path = path,
                                  .proof = stream ? run->error_proof : run->output_proof,
                                  .mode = 0666 & ~run->umask,
                                  .append = run->append,
                                  .first = first};
    int fd = ask.proof && folder >= 0 ? spool_open(folder, &ask) : SPOOL_NONE;
    if (fd == -1)
        fail("%s %.180s, as this node does not have its folder: %s", stream ? "error" : "output",
             path, strerror(errno));
    return fd >= 0 ? fd : open_file(stream ? "error" : "output", path, flags);
}

/* Tasks of one run share the files of its output: the first of them empties them before the others are
 * started. `folder` is the keeper's.
 */
static void open_files(const struct engine_run *run, bool first, int passed, int folder)
{
    int flags = O_WRONLY | O_CREAT;
    bool same = !run->error || strcmp(run->error, run->output) == 0;
    if (run->append || run->shared || run->n_tasks > 1)
        flags |= O_APPEND;
    if (first && !run->append)
        flags |= O_TRUNC;
    int in =
        passed >= 0 ? passed : open_file("input", run->input ? run->input : "/dev/null", O_RDONLY);
    int out = open_output(run, 0, first, folder, flags);
    int err = same ? out : open_output(run, 1, first, folder, flags);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        fail("files: %s", strerror(errno));
    close(in);
    close(out);
    if (!same)
        close(err);
}

/* Have the streams that whoever attached the run passes on. */
static void attach_streams(const struct engine_run *run, int folder)
{
    char text[ATTACH_TEXT_MAX];
    bool gone;
    int fd = !run->attach_far
                 ? attach_receive(run->attach, &gone, text)
                 : attach_receive_far(folder, run->attach, (int)run->attach_as, &gone, text);
    if (fd < 0 && !(gone && run->attach_as == ENGINE_KEYBOARD))
        fail("%s: %s", run->attach_as == ENGINE_TERMINAL ? "terminal" : "input", text);
    if (run->attach_as != ENGINE_TERMINAL) {
        open_files(run, true, fd, folder);
        return;
    }
    if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0 ||
        ioctl(STDIN_FILENO, TIOCSCTTY, 0))
        fail("terminal: %s", strerror(errno));
    close(fd);
}

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool has_variable(const char *const *list, const char *variable)
{
    for (; list && *list; list++)
        if (same_name(variable, *list))
            return true;
    return false;
}

/* The mark, what the run has and the task has not, what the task has. */
static const char **environment(const struct spawn *s)
{
    const char *const *own = s->run->tasks[s->index].env;
    size_t n = 2;
    for (const char *const *v = s->run->env; v && *v; v++)
        n++;
    for (const char *const *v = own; v && *v; v++)
        n++;
    const char **env = calloc(n, sizeof(*env));
    if (!env)
        fail("environment: %s", strerror(errno));
    n = 0;
    env[n++] = s->mark;
    for (const char *const *v = s->run->env; v && *v; v++)
        if (!has_variable(own, *v) && !same_name(s->mark, *v))
            env[n++] = *v;
    for (const char *const *v = own; v && *v; v++)
        if (!same_name(s->mark, *v))
            env[n++] = *v;
    return env;
}

/* A file at the number of scripts, or at the highest below it that the limits allow. */
static int place_script(int fd)
{
    struct rlimit files;
    int number = SCRIPT_FD;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur <= SCRIPT_FD)
        number = (int)files.rlim_cur - 1;
    if (number <= fd)
        return fd;
    if (dup2(fd, number) < 0)
        fail("script: %s", strerror(errno));
    close(fd);
    return number;
}

/* The script as a file that has no name, which its interpreter finds at /proc/self/fd. It belongs to the
 * user. Returns its descriptor.
 */
static int write_script(const struct engine_run *run)
{
    int fd = memfd_create("script", MFD_EXEC);
    size_t done = 0;
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("script", 0); /* before Linux 6.3 */
    if (fd < 0)
        fail("script: %s", strerror(errno));
    while (done < run->script_length) {
        ssize_t n = write(fd, run->script + done, run->script_length - done);
        if (n < 0 && errno != EINTR)
            fail("script: %s", strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    if (fchmod(fd, 0700))
        fail("script: %s", strerror(errno));
    return place_script(fd);
}

/* The last record before the command runs: from here on it may have run. */
static void tell_journal(const struct spawn *s, const struct spawned *self, pid_t keeper)
{
    struct journal_task task = {
        .key = s->run->key,
        .index = s->index,
        .tasks = (uint32_t)s->run->n_tasks,
        .pid = self->pid,
        .since = self->since,
        .until = procs_now() + 1,
        .at = self->at,
    };
    char record[JOURNAL_TASK_MAX];
    if (journal_append(SPAWN_JOURNAL, record, journal_task_record(record, &task))) {
        const struct spawn_word word = {.journal_errno = errno};
        tell_word(&word);
        _exit(127);
    }
    prctl(PR_SET_PDEATHSIG, 0);
    if (getppid() != keeper)
        _exit(127);
}

static const char *find_variable(const char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (; *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* Exec a file; a text file without #! goes to /bin/sh. Returns with errno if that fails. */
static void run_file(const char *path, const char *const *argv, const char *const *env)
{
    execve(path, (char *const *)argv, (char *const *)env);
    if (errno != ENOEXEC)
        return;
    size_t n = 0;
    while (argv[n])
        n++;
    const char **shell = calloc(n + 3, sizeof(*shell));
    if (!shell)
        return;
    shell[0] = "/bin/sh";
    shell[1] = path;
    for (size_t i = 1; i < n; i++)
        shell[i + 1] = argv[i];
    execve(shell[0], (char *const *)shell, (char *const *)env);
    free(shell);
}

/* Who became the user while the user had as many processes as the limits allow may not become a program
 * (EAGAIN).
 */
__attribute__((noreturn)) static void cannot_run(const char *name, const char *path, int errnum)
{
    struct rlimit processes;
    if (errnum == EAGAIN && getrlimit(RLIMIT_NPROC, &processes) == 0)
        fail("%.100s: the user may have %llu processes (RLIMIT_NPROC), and has more", name,
             (unsigned long long)processes.rlim_cur);
    if (errnum == ENOENT && access(path, F_OK) == 0)
        fail_as(126, "%.180s: its interpreter is missing: %s", name, strerror(errnum));
    fail_as(errnum == ENOENT ? 127 : 126, "%.200s: %s", name, strerror(errnum));
}

/* The command, found in PATH of its environment. */
__attribute__((noreturn)) static void run_command(const char *const *argv, const char *const *env)
{
    const char *name = argv[0];
    if (strchr(name, '/')) {
        run_file(name, argv, env);
        cannot_run(name, name, errno);
    }
    const char *path = find_variable(env, "PATH");
    int errnum = ENOENT;
    if (!path)
        path = DEFAULT_PATH;
    for (bool more = name[0] != '\0'; more;) {
        char file[4096];
        size_t n = strcspn(path, ":");
        int length = snprintf(file, sizeof(file), "%.*s%s%s", (int)n, path, n ? "/" : "", name);
        if (length > 0 && (size_t)length < sizeof(file)) {
            run_file(file, argv, env);
            if (errno == EACCES)
                errnum = EACCES; /* but another one may be found */
            else if (errno != ENOENT && errno != ENOTDIR)
                cannot_run(name, file, errno);
            else if (access(file, F_OK) == 0)
                cannot_run(name, file, errno);
        }
        more = path[n] == ':';
        path += n + 1;
    }
    fail_as(errnum == ENOENT ? 127 : 126, "%.200s: %s", name, strerror(errnum));
}

/* Become the command or the script. This returns only if it fails, which is reported. */
__attribute__((noreturn)) static void run_it(const struct engine_run *run, int script,
                                             const char *const *env)
{
    const char *const nothing[] = {"script", NULL};
    char path[32];
    if (!run->script)
        run_command(run->argv, env);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", script);
    run_file(path, run->argv[0] ? run->argv : nothing, env);
    cannot_run("script", path, errno);
}

__attribute__((noreturn)) static void child(const struct spawn *s, struct spawned *self,
                                            pid_t keeper)
{
    const struct engine_run *run = s->run;
    struct limits limits;
    sigset_t none;
    self->pid = getpid();
    die_with(keeper);
    if (dup3(s->lock, SPAWN_LOCK, O_CLOEXEC) < 0) /* in place of the keeper's */
        _exit(127);
    keep_descriptors(s);
    setsid();
    setrlimit(RLIMIT_NOFILE, &s->files);
    if (run->as_user)
        find_limits(s, &limits);
    if (s->cgroup >= 0)
        join_cgroup();
    if (run->tasks[s->index].cpus)
        set_cpus(run->tasks[s->index].cpus);
    if (s->oom)
        set_oom();
    if (s->first && run->hooks && run->hooks->prologue)
        run_prologue(s);
    if (run->as_user)
        become_user(run, &limits, keeper);
    umask(run->umask);
    bool attached = run->attach && s->first;
    bool far = run->output_proof || (attached && run->attach_far);
    int folder = far ? open(".", O_PATH | O_CLOEXEC) : -1;
    if (chdir(run->directory))
        fail("directory %.180s: %s", run->directory, strerror(errno));
    if (!attached)
        open_files(run, s->first, -1, folder);
    else
        attach_streams(run, folder);
    const char **env = environment(s);
    int script = run->script ? write_script(run) : -1;
    tell_journal(s, self, keeper);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    run_it(run, script, env);
}

int spawn_task(const struct spawn *s, struct spawned *out)
{
    pid_t keeper = getpid();
    *out = (struct spawned){.since = procs_now(), .at = wall()};
    out->since -= out->since > 0;
    out->pid = fork();
    if (out->pid < 0)
        return -1;
    if (out->pid == 0)
        child(s, out, keeper);
    out->until = procs_now() + 1;
    return 0;
}
