#include "engine/slurm/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/steady.h"

#define SAID_MOST ((size_t)8 << 20)

void command_add(struct command *c, const char *word)
{
    if (c->n < COMMAND_WORDS - 1)
        c->argv[c->n++] = word;
    else
        c->full = 1;
    c->argv[c->n] = NULL;
}

void command_environment(char *env[COMMAND_ENVIRONMENT])
{
    static const char *const names[] = {"PATH=", "HOME=", "USER=", "LANG=", "TZ=", "SLURM_CONF="};
    extern char **environ;
    size_t n = 0;
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < COMMAND_ENVIRONMENT - 1; i++)
            if (strncmp(*e, names[i], strlen(names[i])) == 0)
                env[n++] = *e;
    env[n] = NULL;
}

/* To a command that may end before it has read all of it, as sbatch does where it refuses an option: its end tells why. */
static void feed(int fd, const char *input, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, input, length); /* shorter than a pipe is deep */
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        input += n;
        length -= (size_t)n;
    }
}

/* A child with a text as its input; what it says is read from *said. */
static int spawn(char *const *argv, const char *input, size_t length, int *said, pid_t *pid)
{
    int in[2], out[2];
    char *env[COMMAND_ENVIRONMENT];
    posix_spawn_file_actions_t actions;
    command_environment(env);
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
    if (rc == 0)
        feed(in[1], input, length);
    close(in[1]);
    *said = out[0];
    if (rc)
        close(out[0]);
    return rc;
}

bool command_goes_on(struct command_going *g)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(g->fd, bytes, sizeof(bytes))) > 0)
        if (g->said.len < SAID_MOST)
            strbuf_put(&g->said, bytes, (size_t)n);
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        return false;
    g->late = steady_ms() >= g->until;
    return !g->late;
}

const char *command_last_line(struct strbuf *said)
{
    while (said->len > 0 && said->data[said->len - 1] == '\n')
        said->len--;
    const char *text = strbuf_text(said), *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

int command_failure(const char *said)
{
    static const char *const nobody[] = {"Unable to contact", "connect failure",
                                         "Connection refused", "temporarily"},
                             *const unsure[] = {"timed out", "Zero Bytes"};
    for (size_t i = 0; i < sizeof(unsure) / sizeof(*unsure); i++)
        if (strstr(said, unsure[i]))
            return ETIMEDOUT;
    for (size_t i = 0; i < sizeof(nobody) / sizeof(*nobody); i++)
        if (strstr(said, nobody[i]))
            return ECONNREFUSED;
    return EINVAL;
}

int command_begin(const struct command *c, const char *input, size_t length,
                  struct command_going *g, berth_error_t *err)
{
    *g = (struct command_going){.name = c->argv[0], .fd = -1};
    if (c->full)
        return errtext_set(err, E2BIG, "too many options for %s", c->argv[0]);
    signal(SIGPIPE, SIG_IGN);
    g->until = steady_ms() + COMMAND_DEADLINE;
    int rc = spawn((char *const *)(uintptr_t)c->argv, input, length, &g->fd, &g->pid);
    if (rc == ENOENT)
        return errtext_set(err, rc, "%s is not here: expected Slurm's commands in PATH",
                           c->argv[0]);
    if (rc)
        return errtext_set(err, rc == EINVAL ? EIO : rc, "%s: %s", c->argv[0], strerror(rc));
    fcntl(g->fd, F_SETFL, O_NONBLOCK);
    return 0;
}

int command_end(struct command_going *g, berth_error_t *err)
{
    int status = 0;
    close(g->fd);
    if (g->late)
        kill(g->pid, SIGKILL);
    while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (g->late)
        return errtext_set(err, ETIMEDOUT, "%s: no answer within 20 s", g->name);
    if (status == 0)
        return 0;
    const char *why = command_last_line(&g->said);
    int kind = command_failure(why);
    if (*why)
        return errtext_set(err, kind, "%s", why);
    return errtext_set(err, kind, "%s failed", g->name);
}

int command_run(const struct command *c, const char *input, size_t length, int end,
                struct strbuf *said, berth_error_t *err)
{
    struct command_going g;
    if (command_begin(c, input, length, &g, err))
        return -1;
    struct pollfd p[2] = {{.fd = g.fd, .events = POLLIN}, {.fd = end, .events = 0}};
    g.said = *said;
    while (command_goes_on(&g)) {
        int64_t left = g.until - steady_ms();
        poll(p, 2, left > 0 ? (int)left : 0);
        g.late = p[1].revents & POLLHUP;
        if (g.late)
            break;
    }
    int rc = command_end(&g, err);
    *said = g.said;
    return rc;
}

int command_job_id(struct strbuf *said, struct strbuf *job, berth_error_t *err)
{
    const char *line = command_last_line(said);
    size_t n = strspn(line, "0123456789");
    if (n == 0 || (line[n] && line[n] != ';'))
        return errtext_set(err, ETIMEDOUT, "sbatch says '%.100s', expected the number of a job",
                           line);
    strbuf_put(job, line, n);
    return 0;
}
