/* berth-slurm's side of berth-bridge. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/local/wire.h"
#include "engine/slurm/bridge.h"
#include "engine/slurm/helper.h"
#include "engine/steady.h"

#define AGAIN 10000 /* ms after one has ended until another is started */

/* ---- Starting and ending ---- */

/* Beside berth-run. */
static int find_bridge(const struct helper *h, char path[4200])
{
    const char *name = strrchr(h->program, '/');
    int n = snprintf(path, 4200, "%.*sberth-bridge", name ? (int)(name - h->program) + 1 : 0,
                     h->program);
    return n > 0 && n < 4200 && access(path, X_OK) == 0 ? 0 : -1;
}

static int spawn_bridge(const char *path, int end, pid_t *pid)
{
    char *argv[] = {(char[]){"berth-bridge"}, NULL}, *env[COMMAND_ENVIRONMENT];
    posix_spawn_file_actions_t actions;
    command_environment(env);
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    posix_spawn_file_actions_adddup2(&actions, end, BRIDGE_FD);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawn(pid, path, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    return rc ? -1 : 0;
}

void bridge_look(struct helper *h)
{
    int ends[2];
    char path[4200];
    struct bridge *b = &h->bridge;
    if (b->pid > 0 || steady_ms() < b->again_at)
        return;
    b->again_at = steady_ms() + AGAIN;
    if (find_bridge(h, path) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return;
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, BRIDGE_FD + 1);
    int rc = high < 0 ? -1 : spawn_bridge(path, high, &b->pid);
    close(ends[1]);
    if (high >= 0)
        close(high);
    b->fd = ends[0];
    b->is_ready = false;
    if (rc) {
        b->pid = 0;
        close(ends[0]);
    }
}

/* What it had may have been heard. */
static void forget_submissions(struct helper *h, const char *why)
{
    for (size_t i = h->n_going; i-- > 0;) {
        struct submission one = h->going[i];
        if (!one.by_bridge)
            continue;
        h->going[i] = h->going[--h->n_going];
        struct held_run *run = helper_find(h, one.key);
        if (run)
            helper_submitted(h, run, "", ETIMEDOUT, why);
    }
}

static void put_an_end_to(struct helper *h, const char *why)
{
    struct bridge *b = &h->bridge;
    kill(b->pid, SIGKILL);
    while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(b->fd);
    b->pid = 0;
    b->is_ready = false;
    b->again_at = steady_ms() + AGAIN;
    forget_submissions(h, why);
}

void bridge_end(struct helper *h)
{
    if (h->bridge.pid > 0)
        put_an_end_to(h, "the server has gone");
}

/* ---- Submitting ---- */

bool bridge_begin(struct helper *h, uint64_t key, const struct command *c,
                  const struct strbuf *script)
{
    struct strbuf message = {0};
    if (!h->bridge.is_ready || c->full)
        return false;
    wire_put_u64(&message, key);
    wire_put_text(&message, script->data, script->len);
    wire_put_u32(&message, (uint32_t)c->n);
    for (size_t i = 0; i < c->n; i++)
        wire_put_string(&message, c->argv[i]);
    bool sent = !message.failed && message.len <= BRIDGE_MOST &&
                send(h->bridge.fd, message.data, message.len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    strbuf_clear(&message);
    return sent;
}

/* It has done with one: what follows for its run. */
static void take_answer(struct helper *h, uint64_t key, enum bridge_said what, const char *text)
{
    berth_error_t err = {""};
    struct held_run *run = helper_find(h, key);
    size_t i = 0;
    while (i < h->n_going && (!h->going[i].by_bridge || h->going[i].key != key))
        i++;
    if (i == h->n_going)
        return;
    h->going[i] = h->going[--h->n_going];
    if (!run)
        return;
    if (what == BRIDGE_LACKS) {
        run->by_command = true;
        if (helper_submit(h, run, &err))
            helper_submitted(h, run, "", errno, err.text);
    } else if (what == BRIDGE_SUBMITTED) {
        helper_submitted(h, run, text, 0, "");
    } else {
        helper_submitted(h, run, "", command_failure(text), text);
    }
}

static void take_answers(struct helper *h)
{
    char bytes[4096];
    ssize_t n;
    while ((n = recv(h->bridge.fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
        struct wire w = {.at = bytes, .left = (size_t)n};
        uint64_t key = wire_u64(&w);
        enum bridge_said what = wire_u8(&w);
        const char *text = wire_string(&w);
        if (!w.bad && what == BRIDGE_READY)
            h->bridge.is_ready = true;
        else if (!w.bad && text)
            take_answer(h, key, what, text);
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        put_an_end_to(h, "berth-bridge has ended while it submitted a job");
}

static bool is_late(const struct helper *h)
{
    int64_t now = steady_ms();
    for (size_t i = 0; i < h->n_going; i++)
        if (h->going[i].by_bridge && now >= h->going[i].command.until)
            return true;
    return false;
}

void bridge_follow(struct helper *h)
{
    if (h->bridge.pid > 0)
        take_answers(h);
    if (h->bridge.pid > 0 && is_late(h))
        put_an_end_to(h, "Slurm has not answered within 20 s");
}
