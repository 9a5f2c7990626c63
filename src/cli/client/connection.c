#include "cli/client/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/objects.h"
#include "cli/verb.h"
#include "server/daemon/paths.h"

/* ---- Jobs in words and in paths ---- */

char *job_id_text(int64_t id, int64_t member, char out[JOB_ID_SIZE])
{
    if (member < 0)
        snprintf(out, JOB_ID_SIZE, "%" PRId64, id);
    else
        snprintf(out, JOB_ID_SIZE, "%" PRId64 "[%" PRId64 "]", id, member);
    return out;
}

void route_job(struct strbuf *out, int64_t id, int64_t member, const char *suffix)
{
    strbuf_puts(out, "/v1/jobs/");
    strbuf_put_int(out, id);
    if (member >= 0) {
        strbuf_putc(out, '.');
        strbuf_put_int(out, member);
    }
    strbuf_puts(out, suffix);
}

void route_query(struct strbuf *path, const char *key, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";

    strbuf_putc(path, path->len > 0 && memchr(path->data, '?', path->len) ? '&' : '?');
    strbuf_puts(path, key);
    strbuf_putc(path, '=');
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr("-._~,", c)) {
            strbuf_putc(path, (char)c);
            continue;
        }
        strbuf_putc(path, '%');
        strbuf_putc(path, digits[c >> 4]);
        strbuf_putc(path, digits[c & 15]);
    }
}

/* ---- Answers ---- */

void answer_print(const json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
}

const char *answer_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double answer_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

/* ---- Starting ---- */

#define PATIENCE_MS 10000 /* for a server that another has just started */
#define LOOK_MS     5

extern char **environ;

bool connection_is_there(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(address.sun_path))
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    /* EAGAIN: somebody listens, but is busy. */
    bool there =
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
    close(fd);
    return there;
}

/* Set the signal mask and signals that a daemon needs, whatever ours are. */
static int spawn_server(const char *program, const char *config, int said, pid_t *pid)
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

/* Read berthd's messages before it goes into the background. */
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

static int run_server(const char *program, const char *config, char *said, size_t size,
                      berth_error_t *err)
{
    int fds[2], status = 0;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return errtext_set(err, errno, "pipe: %s", strerror(errno));
    int rc = spawn_server(program, config, fds[1], &pid);
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
        if (connection_is_there(socket))
            return 0;
        nanosleep(&pause, NULL);
    }
    return errtext_set(err, ETIMEDOUT, "%s, but does not answer at %s", said, socket);
}

int connection_start_server(const char *socket, const char *config, berth_error_t *err)
{
    char program[PATH_MAX], said[512];

    if (paths_program("berthd", program, err) < 0)
        return -1;
    int rc = run_server(program, config, said, sizeof(said), err);
    if (rc <= 0)
        return rc;
    const char *text = strncmp(said, "berthd: ", 8) == 0 ? said + 8 : said;
    if (strncmp(text, "another berthd", 14) == 0)
        return await(socket, text, err);
    return errtext_set(err, ECONNREFUSED, "%s", *text ? text : "berthd does not start");
}

/* ---- Asking ---- */

#define SHARED_DIRECTORY "/var/lib/berth"
#define SHARED_SOCKET    SHARED_DIRECTORY "/berth.sock"
#define ERROR_MAX        65536 /* bytes of a reply with an error */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Whether the machine has a server for all users, even one that is stopped. */
static bool machine_has_server(void)
{
    return access(SHARED_DIRECTORY "/berth.yaml", F_OK) == 0 ||
           access("/etc/berth/berth.yaml", F_OK) == 0 ||
           access(SHARED_DIRECTORY "/berth.db", F_OK) == 0 || connection_is_there(SHARED_SOCKET);
}

/* A user who has not said where the server is, and has no private one, uses that of the machine, also while it is
 * stopped: its jobs go on, and another server would give their cores away again.
 */
static void find_shared(struct connection *s)
{
    if (geteuid() == 0 || is_set("BERTH_DIR") || is_set("BERTH_SOCKET") || !machine_has_server())
        return;
    if (connection_is_there(s->socket)) {
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "berth %s: this is your own server, not that of the machine\n",
                    s->verb);
        return;
    }
    s->shared = true;
    memcpy(s->socket, SHARED_SOCKET, sizeof(SHARED_SOCKET));
}

int connection_open(struct connection *s, const char *verb, berth_error_t *err)
{
    memset(s, 0, sizeof(*s));
    s->verb = verb;
    if (paths_directory(s->directory, err) < 0 || paths_socket(s->directory, s->socket, err) < 0)
        return -1;
    find_shared(s);
    s->client = client_open(s->socket, err);
    return s->client ? 0 : -1;
}

void connection_close(struct connection *s)
{
    client_close(s->client);
    s->client = NULL;
}

static int shared_is_down(berth_error_t *err)
{
    return errtext_set(err, ECONNREFUSED,
                       "the server of this machine is down (" SHARED_DIRECTORY "); "
                       "'berth server start' starts one of your own");
}

/* Somebody may be restarting it. */
static int await_shared(struct connection *s, berth_error_t *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    fprintf(stderr, "berth %s: waiting for the server of this machine\n", s->verb);
    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        if (client_connect(s->client, err) == 0)
            return 0;
        if (errno != ECONNREFUSED)
            return -1;
        nanosleep(&pause, NULL);
    }
    return shared_is_down(err);
}

int connection_start(struct connection *s, berth_error_t *err)
{
    if (client_connect(s->client, err) == 0)
        return 0;
    if (errno != ECONNREFUSED)
        return -1;
    return s->shared ? await_shared(s, err) : connection_start_server(s->socket, NULL, err);
}

int connection_failed(const struct connection *s, const berth_error_t *err)
{
    fprintf(stderr, "berth %s: %s\n", s->verb, err->text);
    return CLI_FAILED;
}

static int errno_of(long status)
{
    switch (status) {
    case 400:
    case 413:
        return EINVAL;
    case 403:
        return EPERM;
    case 404:
        return ENOENT;
    case 409:
        return EEXIST;
    case 429:
    case 503:
        return EAGAIN;
    case 507:
        return ENOSPC;
    default:
        return EPROTO;
    }
}

/* Copy the error from a reply's text, or the status if it has none. Returns -1 with errno. */
static int connection_error(long status, const char *text, size_t length, berth_error_t *err)
{
    json_t *root = json_loadb(text, length, 0, NULL);
    const json_t *error = json_object_get(root, "error");
    const char *message = json_string_value(json_object_get(error, "message"));

    if (message)
        errtext_set(err, 0, "%s", message);
    else
        errtext_set(err, 0, "the server answers with status %ld", status);
    json_decref(root);
    errno = errno_of(status);
    return -1;
}

int connection_explain(const struct connection *s, berth_error_t *err)
{
    if (errno == ECONNREFUSED && s->shared)
        return shared_is_down(err);
    if (errno == ECONNREFUSED && !is_set("BERTH_SOCKET"))
        return errtext_set(err, ECONNREFUSED,
                           "no server is running for %s; 'berth server start' starts one",
                           s->directory);
    return -1;
}

static int collect_reply(void *context, long status, const char *bytes, size_t n)
{
    struct strbuf *all = context;
    (void)status;
    strbuf_put(all, bytes, n);
    return all->failed ? -1 : 0;
}

int connection_ask_text(struct connection *s, const char *method, const char *path,
                        const char *body, size_t length, json_t **answer, berth_error_t *err)
{
    struct strbuf all = {0};
    struct client_taker taker = {&all, collect_reply};
    json_error_t wrong;
    long status;

    if (answer)
        *answer = NULL;
    int rc = client_ask(s->client, method, path, body, length, &taker, &status, err);
    if (rc < 0)
        rc = connection_explain(s, err);
    else if (status >= 300)
        rc = connection_error(status, all.data ? all.data : "", all.len, err);
    else if (answer) {
        *answer = json_loadb(all.data ? all.data : "", all.len, JSON_ALLOW_NUL, &wrong);
        if (!*answer)
            rc = errtext_set(err, EPROTO, "the server's answer is not JSON: %s", wrong.text);
    }
    strbuf_clear(&all);
    return rc;
}

int connection_ask(struct connection *s, const char *method, const char *path, const json_t *body,
                   json_t **answer, berth_error_t *err)
{
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

    if (body && !text)
        return errtext_no_memory(err);
    int rc = connection_ask_text(s, method, path, text, text ? strlen(text) : 0, answer, err);
    int saved = errno;
    free(text);
    errno = saved;
    return rc;
}

struct listing {
    struct records records;
    struct strbuf error;
    int errnum;
};

static int take_list(void *context, long status, const char *bytes, size_t n)
{
    struct listing *l = context;

    if (status >= 300) {
        if (l->error.len < ERROR_MAX)
            strbuf_put(&l->error, bytes, n);
        return 0;
    }
    if (records_take(&l->records, bytes, n) == 0)
        return 0;
    l->errnum = errno;
    return -1;
}

int connection_list(struct connection *s, const char *path, connection_visit visit, void *context,
                    berth_error_t *err)
{
    struct listing l = {.records = {.visit = visit, .context = context}};
    struct client_taker taker = {&l, take_list};
    long status;
    int rc = client_ask(s->client, "GET", path, NULL, 0, &taker, &status, err);

    if (rc < 0 && l.errnum)
        rc = errtext_set(err, l.errnum, "%s", strerror(l.errnum));
    else if (rc < 0)
        rc = connection_explain(s, err);
    else if (status >= 300)
        rc = connection_error(status, l.error.data ? l.error.data : "", l.error.len, err);
    else if (!records_are_complete(&l.records))
        rc = errtext_set(err, EPROTO, "the server's answer is not a list");
    int saved = errno;
    records_clear(&l.records);
    strbuf_clear(&l.error);
    errno = saved;
    return rc;
}
