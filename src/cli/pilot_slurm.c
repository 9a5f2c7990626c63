#include "cli/pilot_slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"

#define DEADLINE  20000 /* ms */
#define WORDS     64
#define SAID_MOST ((size_t)8 << 20)
#define NAME      "berth-pilot"

/* The script of a pilot: a task on each node, which is the agent. It is told when the job ends, as Slurm says or,
 * where that does not answer, counted from now.
 */
static void put_script(struct strbuf *b, const struct slurm_ask *ask)
{
    static const char begin[] = "#!/bin/sh\n"
                                "[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || exit 0\n"
                                "end=$(timeout 20 scontrol -o show job \"$SLURM_JOB_ID\" |\n"
                                "    sed -n 's/.* EndTime=\\([0-9T:-]*\\) .*/\\1/p')\n"
                                "end=$(date -d \"${end:-none}\" +%s 2>/dev/null)\n";
    static const char run[] =
        "exec srun -N \"$SLURM_NNODES\" -n \"$SLURM_NNODES\" --ntasks-per-node=1 --overlap \\\n"
        "    --no-kill --kill-on-bad-exit=0 --wait=0 --mpi=none --cpu-bind=none --input=none \\\n"
        "    \"$agent\" \"$folder\" $end\n";
    strbuf_puts(b, begin);
    if (ask->minutes > 0) {
        strbuf_puts(b, "[ -n \"$end\" ] || end=$(($(date +%s) + 60 * ");
        strbuf_put_int(b, ask->minutes);
        strbuf_puts(b, "))\n");
    }
    for (int i = 0; i < 2; i++) {
        strbuf_puts(b, i ? "folder='" : "agent='");
        for (const char *c = i ? ask->folder : ask->agent; *c; c++)
            if (*c == '\'')
                strbuf_puts(b, "'\\''");
            else
                strbuf_putc(b, *c);
        strbuf_puts(b, "'\n");
    }
    strbuf_puts(b, run);
}

/* Only what Slurm's commands need: neither options for sbatch nor what is set in an allocation goes along. */
static void clean_environment(char *env[8])
{
    static const char *const names[] = {"PATH=", "HOME=", "USER=", "LANG=", "SLURM_CONF="};
    extern char **environ;
    size_t n = 0;
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < 7; i++)
            if (strncmp(*e, names[i], strlen(names[i])) == 0)
                env[n++] = *e;
    env[n] = NULL;
}

static int64_t steady_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A child with a text as its input; what it says is read from *said. */
static int spawn(char *const *argv, const char *input, size_t length, int *said, pid_t *pid)
{
    int in[2], out[2];
    char *env[8];
    posix_spawn_file_actions_t actions;
    clean_environment(env);
    if (pipe2(in, O_CLOEXEC))
        return errno;
    if (pipe2(out, O_CLOEXEC) || posix_spawn_file_actions_init(&actions)) {
        close(in[0]);
        close(in[1]);
        return ENOMEM;
    }
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, out[1], 2);
    int rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    /* Shorter than a pipe is deep. */
    if (rc == 0 && length > 0 && write(in[1], input, length) != (ssize_t)length)
        rc = EPIPE;
    close(in[1]);
    *said = out[0];
    if (rc)
        close(out[0]);
    return rc;
}

/* Read until it ends. -1: it takes too long. */
static int listen_to(int fd, struct strbuf *said)
{
    char bytes[512];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t until = steady_ms() + DEADLINE, left;
    while ((left = until - steady_ms()) > 0) {
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        ssize_t n = read(fd, bytes, sizeof(bytes));
        if (n <= 0)
            return 0;
        if (said->len < SAID_MOST)
            strbuf_put(said, bytes, (size_t)n);
    }
    return -1;
}

/* What it says last is why. */
static const char *last_line(struct strbuf *said)
{
    while (said->len > 0 && said->data[said->len - 1] == '\n')
        said->len--;
    const char *text = strbuf_text(said), *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static int run(char *const *argv, const char *input, size_t length, struct strbuf *said,
               berth_error_t *err)
{
    int fd = -1, status = 0;
    pid_t pid;
    signal(SIGPIPE, SIG_IGN);
    int rc = spawn(argv, input, length, &fd, &pid);
    if (rc == ENOENT)
        return errtext_set(err, rc, "%s is not here: expected Slurm's commands in PATH", argv[0]);
    if (rc)
        return errtext_set(err, rc == EINVAL ? EIO : rc, "%s: %s", argv[0], strerror(rc));
    bool late = listen_to(fd, said) < 0;
    close(fd);
    if (late)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (late)
        return errtext_set(err, ETIMEDOUT, "%s: no answer within 20 s", argv[0]);
    if (status == 0)
        return 0;
    const char *why = last_line(said);
    bool unsure = strstr(why, "timed out") != NULL;
    return errtext_set(err, unsure ? ETIMEDOUT : EINVAL, "%s", *why ? why : "sbatch failed");
}

static void add(const char *argv[WORDS], size_t *n, const char *word)
{
    if (*n < WORDS - 1)
        argv[(*n)++] = word;
    argv[*n] = NULL;
}

/* "ID" or "ID;CLUSTER". */
static int read_id(struct strbuf *said, struct strbuf *job, berth_error_t *err)
{
    const char *line = last_line(said);
    size_t n = strspn(line, "0123456789");
    if (n == 0 || (line[n] && line[n] != ';'))
        return errtext_set(err, ETIMEDOUT, "sbatch says '%.100s', expected the number of a job",
                           line);
    strbuf_put(job, line, n);
    return 0;
}

int slurm_submit(const struct slurm_ask *ask, struct strbuf *job, berth_error_t *err)
{
    struct strbuf script = {0}, said = {0};
    char comment[160], nodes[24], minutes[24], log[4200];
    const char *argv[WORDS];
    size_t n = 0;
    static const char *const fixed[] = {"sbatch",
                                        "--parsable",
                                        "-J",
                                        NAME,
                                        "--no-requeue",
                                        "--no-kill",
                                        "--ntasks-per-node=1",
                                        "--propagate=NONE",
                                        "--open-mode=append",
                                        "-D",
                                        "/"};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        add(argv, &n, fixed[i]);
    snprintf(comment, sizeof(comment), "--comment=%s", ask->comment);
    snprintf(nodes, sizeof(nodes), "--nodes=%" PRId64, ask->nodes);
    snprintf(minutes, sizeof(minutes), "--time=%" PRId64, ask->minutes);
    snprintf(log, sizeof(log), "--output=%s/slurm.log", ask->folder);
    add(argv, &n, comment);
    add(argv, &n, nodes);
    add(argv, &n, log);
    if (ask->minutes > 0)
        add(argv, &n, minutes);
    if (ask->partition)
        add(argv, &n, "-p");
    if (ask->partition)
        add(argv, &n, ask->partition);
    if (!ask->more[0]) { /* whole nodes, unless somebody knows better */
        add(argv, &n, "--exclusive");
        add(argv, &n, "--mem=0");
    }
    for (char *const *word = ask->more; *word; word++)
        add(argv, &n, *word);
    put_script(&script, ask);
    int rc = n >= WORDS - 1 || script.failed
                 ? errtext_set(err, EINVAL, "too many options for sbatch")
                 : run((char *const *)(uintptr_t)argv, script.data, script.len, &said, err);
    if (rc == 0)
        rc = read_id(&said, job, err);
    int saved = errno;
    strbuf_clear(&script);
    strbuf_clear(&said);
    errno = saved;
    return rc;
}

int slurm_queue(const char *form, struct strbuf *lines, berth_error_t *err)
{
    char user[24];
    snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
    const char *const argv[] = {"squeue", "-h", "-t", "all", "-n", NAME,
                                "-u",     user, "-o", form,  NULL};
    return run((char *const *)(uintptr_t)argv, NULL, 0, lines, err);
}

int slurm_cancel(const char *job, berth_error_t *err)
{
    const char *const argv[] = {"scancel", job, NULL};
    struct strbuf said = {0};
    int rc = run((char *const *)(uintptr_t)argv, NULL, 0, &said, err);
    int saved = errno;
    strbuf_clear(&said);
    errno = saved;
    return rc;
}
