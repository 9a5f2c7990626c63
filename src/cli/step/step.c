#include "cli/step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/request.h"
#include "cli/step/claim.h"
#include "cli/step/task.h"
#include "cli/verb.h"

#define STEPS_MAX 65536

struct step {
    struct request r;
    struct claim claim;
    int64_t tasks, cores, gpus; /* cores and GPUs of each task; 0 GPUs: all of the job's */
    size_t number;
    struct step_room room;
    size_t *core, *gpu; /* what it has, as places in the room */
    int files[3];       /* -1: those of this process */
    pid_t *pid;
    berth_error_t err;
};

static int64_t number_in_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    long long n = text ? strtoll(text, &end, 10) : -1;
    return text && end != text && !*end && n > 0 ? n : otherwise;
}

bool step_is_here(void)
{
    const char *run = getenv("BERTH_RUN"), *server = getenv("BERTH_SUBMIT_SERVER");
    char *now;
    if (!run || !*run || number_in_environment("BERTH_BATCH", 0) == 0)
        return false;
    if (!server)
        return true;
    now = request_server();
    bool same = now && strcmp(now, server) == 0;
    free(now);
    return same;
}

/* ---- What was asked for ---- */

/* A step has no say in what is the job's. */
static int check_keys(struct step *s)
{
    static const char *const others[][2] = {
        {"queue", "--queue"},           {"account", "--account"},   {"array", "--array"},
        {"dependency", "--dependency"}, {"begin", "--begin"},       {"hold", "--hold"},
        {"jobspec", "--jobspec"},       {"requires", "--requires"}, {"licenses", "--licenses"}};
    const char *other = s->r.json ? "--json" : NULL;
    for (size_t i = 0; !other && i < sizeof(others) / sizeof(*others); i++)
        if (json_object_get(s->r.job, others[i][0]))
            other = others[i][1];
    return other ? errtext_set(&s->err, EINVAL,
                               "%s is for a job, and in a script this is a step of job %s", other,
                               getenv("BERTH_JOB_ID"))
                 : 0;
}

static int read_step(struct step *s)
{
    int64_t job_tasks = number_in_environment("BERTH_BATCH", 1);
    const json_t *tasks = json_object_get(s->r.job, "tasks"),
                 *cores = json_object_get(s->r.job, "cores");
    if (check_keys(s) < 0 || step_room_read(&s->room, &s->err) < 0)
        return -1;
    s->tasks = tasks ? json_integer_value(tasks) : job_tasks;
    s->cores = cores ? json_integer_value(cores) : (int64_t)s->room.n_cores / job_tasks;
    s->cores = s->cores > 0 ? s->cores : 1;
    s->gpus = json_integer_value(json_object_get(s->r.job, "gpus"));
    if (s->tasks > (int64_t)s->room.n_cores || s->cores > (int64_t)s->room.n_cores)
        return errtext_set(&s->err, EINVAL, "the step needs more cores than the %zu of job %s",
                           s->room.n_cores, getenv("BERTH_JOB_ID"));
    return 0;
}

/* A task of a step that starts a step shares what it has. */
static int take_room(struct step *s)
{
    size_t cores = (size_t)(s->tasks * s->cores), gpus = (size_t)(s->tasks * s->gpus);
    s->core = calloc(cores, sizeof(*s->core));
    s->gpu = calloc(gpus + 1, sizeof(*s->gpu));
    s->pid = calloc((size_t)s->tasks, sizeof(*s->pid));
    if (!s->core || !s->gpu || !s->pid)
        return errtext_no_memory(&s->err);
    if (getenv("BERTH_STEP_ID")) {
        for (size_t i = 0; i < cores; i++)
            s->core[i] = i % s->room.n_cores;
        for (size_t i = 0; s->room.n_gpus && i < gpus; i++)
            s->gpu[i] = i % s->room.n_gpus;
        return 0;
    }
    if (claim_open(&s->claim, getenv("BERTH_RUN"), &s->err) < 0 ||
        claim_take(&s->claim, CLAIM_NUMBERS, STEPS_MAX, 1, &s->number, &s->err) < 0 ||
        claim_take(&s->claim, CLAIM_CORES, s->room.n_cores, cores, s->core, &s->err) < 0)
        return -1;
    return gpus ? claim_take(&s->claim, CLAIM_GPUS, s->room.n_gpus, gpus, s->gpu, &s->err) : 0;
}

/* ---- Files ---- */

/* A file that all tasks have is emptied by the first. */
static int open_one(struct step *s, const char *key, int flags, size_t index, int *fd)
{
    const char *pattern = json_string_value(json_object_get(s->r.job, key));
    struct strbuf path = {0};
    bool own = pattern && strstr(pattern, "%t");
    if (!pattern || (index > 0 && !own && *fd >= 0))
        return 0;
    if (*fd >= 0)
        close(*fd);
    if (*pattern != '/') {
        strbuf_puts(&path, json_string_value(json_object_get(s->r.job, "directory")));
        strbuf_putc(&path, '/');
    }
    for (const char *at = pattern; *at; at++) {
        const char *job = getenv("BERTH_JOB_ID"), *member = getenv("BERTH_ARRAY_INDEX"),
                   *name = getenv("BERTH_JOB_NAME");
        if (*at != '%') {
            strbuf_putc(&path, *at);
            continue;
        }
        at++;
        if (*at == 'j' || *at == 'A')
            strbuf_puts(&path, job ? job : "0");
        else if (*at == 'a')
            strbuf_puts(&path, member ? member : "0");
        else if (*at == 't')
            strbuf_put_uint(&path, index);
        else if (*at == 'n' || *at == 'x')
            strbuf_puts(&path, name ? name : "");
        else if (*at == '%')
            strbuf_putc(&path, '%');
        else
            strbuf_put(&path, at - 1, *at ? 2 : 1);
        at -= *at == '\0';
    }
    *fd = path.failed ? -1 : open(strbuf_text(&path), flags | O_CLOEXEC, 0666);
    int rc = *fd >= 0 ? 0 : errtext_set(&s->err, errno, "%s: %s", pattern, strerror(errno));
    strbuf_clear(&path);
    return rc;
}

static int open_files(struct step *s, size_t index)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND;
    if (!json_is_true(json_object_get(s->r.job, "append")))
        flags |= O_TRUNC;
    if (open_one(s, "input", O_RDONLY, index, &s->files[0]) < 0 ||
        open_one(s, "output", flags, index, &s->files[1]) < 0 ||
        open_one(s, "error", flags, index, &s->files[2]) < 0)
        return -1;
    if (s->files[1] < 0 || json_object_get(s->r.job, "error"))
        return 0;
    if (s->files[2] >= 0)
        close(s->files[2]);
    s->files[2] = fcntl(s->files[1], F_DUPFD_CLOEXEC, 0);
    return 0;
}

/* ---- Tasks ---- */

static struct step_task task_of(const struct step *s, int64_t index)
{
    return (struct step_task){
        .job = s->r.job,
        .room = &s->room,
        .index = (size_t)index,
        .tasks = (size_t)s->tasks,
        .number = s->number,
        .core = s->core + index * s->cores,
        .n_cores = (size_t)s->cores,
        .gpu = s->gpu + index * s->gpus,
        .n_gpus = (size_t)s->gpus,
        .files = s->files,
    };
}

static volatile sig_atomic_t told; /* the signal to pass on */

static void note_signal(int signal)
{
    told = signal;
}

static void pass_on_signal(const struct step *s, int signal)
{
    for (int64_t i = 0; i < s->tasks; i++)
        if (s->pid[i] > 0)
            kill(s->pid[i], signal);
}

static int start_step(struct step *s)
{
    struct sigaction on = {.sa_handler = note_signal};
    sigaction(SIGTERM, &on, NULL);
    sigaction(SIGINT, &on, NULL);
    sigaction(SIGHUP, &on, NULL);
    sigaction(SIGUSR1, &on, NULL);
    sigaction(SIGUSR2, &on, NULL);
    for (int64_t i = 0; i < s->tasks; i++) {
        if (open_files(s, (size_t)i) < 0) {
            int saved = errno;
            pass_on_signal(s, SIGKILL);
            errno = saved;
            return -1;
        }
        const struct step_task task = task_of(s, i);
        s->pid[i] = fork();
        if (s->pid[i] == 0)
            step_task_become(&task);
        if (s->pid[i] < 0) {
            int saved = errno;
            pass_on_signal(s, SIGKILL);
            return errtext_set(&s->err, saved, "a task could not be started: %s", strerror(saved));
        }
    }
    return 0;
}

static void note_task_end(struct step *s, pid_t pid)
{
    for (int64_t i = 0; i < s->tasks; i++)
        if (s->pid[i] == pid)
            s->pid[i] = 0;
}

/* Wait until all tasks have ended. The highest exit status. */
static int await_end(struct step *s)
{
    int highest = 0, status;
    for (;;) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno == EINTR) {
            int signal = told;
            told = 0;
            if (signal)
                pass_on_signal(s, signal);
            continue;
        }
        if (pid < 0)
            return highest;
        note_task_end(s, pid);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        highest = code > highest ? code : highest;
    }
}

static void clear(struct step *s)
{
    claim_close(&s->claim);
    for (size_t i = 0; i < 3; i++)
        if (s->files[i] >= 0)
            close(s->files[i]);
    free(s->core);
    free(s->gpu);
    free(s->pid);
    step_room_clear(&s->room);
    request_clear(&s->r);
}

int step_run(const char *name, int argc, char **argv)
{
    struct step s = {.claim.fd = -1, .files = {-1, -1, -1}};
    int status = CLI_FAILED;

    if (request_read_step(&s.r, argc, argv, &s.err) < 0 || check_keys(&s) < 0) {
        int wrong = errno == EINVAL ? CLI_USAGE : CLI_FAILED;
        fprintf(stderr, "%s: %s\n", name, s.err.text);
        request_clear(&s.r);
        return wrong;
    }
    if (read_step(&s) == 0 && take_room(&s) == 0 && start_step(&s) == 0) {
        status = await_end(&s);
    } else {
        fprintf(stderr, "%s: %s\n", name, s.err.text);
    }
    clear(&s);
    return status;
}
