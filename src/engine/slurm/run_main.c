/* berth-run: what a directed run is on a node, in its job of Slurm's (engine/slurm/directed.h).
 *
 * usage: berth-run FOLDER FIRST-NODE
 *
 * It takes the run, unless somebody has, and has a keeper start its tasks. What happens it writes into the folder. It ends
 * with them, with their status. SIGUSR1: there are signals in the folder. SIGTERM and others, which Slurm sends, it passes
 * on to the tasks.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "engine/local/messages.h"
#include "engine/slurm/directed.h"
#include "engine/slurm/run.h"

#define FIRST_EACH  200   /* ms between two looks whether the first node has begun */
#define SIGNAL_EACH 5000  /* ms between two looks for signals, if none is announced */
#define GOING_MOST  2000  /* ms that the keeper has to end */
#define CANCEL_MOST 30000 /* ms for Slurm to cancel what was told to end */

static void say_event(const struct node_run *r, const char *name, struct engine_event *e)
{
    struct strbuf b = {0};
    e->key = r->key;
    message_put_event_content(&b, e);
    /* Where the file system is full, it is tried again for a minute. */
    for (int i = 0; i < 60 && folder_put(r->runs, r->key, name, r->node, b.data, b.len); i++)
        sleep(1);
    strbuf_clear(&b);
}

static int fail_on_node(const struct node_run *r, const char *why)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    struct engine_event e = {.what = ENGINE_FAILED,
                             .at = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000,
                             .peak_memory = -1,
                             .cpu_time = -1,
                             .text = why};
    say_event(r, "own/ended.", &e);
    return EXIT_FAILURE;
}

/* ---- Taking it ---- */

/* Its files are its user's alone, and made in the folder `own`. */
static bool make_file(const struct node_run *r, const char *name, const char *node)
{
    char path[200];
    snprintf(path, sizeof(path), "%llu/%s%.70s", (unsigned long long)r->key, name, node);
    int fd = openat(r->runs, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The first node decides; the others begin when it has begun, since it empties the files of output. */
static bool take_run_here(const struct node_run *r)
{
    const struct timespec pause = {.tv_nsec = FIRST_EACH * 1000000L};
    if (strcmp(r->node, r->first) == 0)
        return make_file(r, "own/taken", "");
    if (!make_file(r, "own/taken.", r->node))
        return false;
    while (!folder_has(r->runs, r->key, "own/started.", r->first)) {
        if (folder_has(r->runs, r->key, "own/ended.", r->first) ||
            !folder_has(r->runs, r->key, "request.", r->node) || /* its end is recorded */
            folder_taker(r->runs, r->key) == TAKEN_BY_SERVER)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* ---- Running ---- */

static int read_request(struct node_run *r)
{
    struct wire w;
    size_t taken;
    if (folder_get(r->runs, r->key, "request.", r->node, &r->message) ||
        wire_next(r->message.data, r->message.len, &w, &taken) <= 0 ||
        wire_u8(&w) != MESSAGE_START || message_start(&w, &r->request))
        return -1;
    return run_make_env(r) || run_make_tasks(r) ? -1 : 0;
}

static int open_keeper(struct node_run *r, berth_error_t *err)
{
    char keeper[PATH_MAX], *slash;
    const char *base = getenv("TMPDIR");
    ssize_t n = readlink("/proc/self/exe", keeper, sizeof(keeper) - 32);
    keeper[n > 0 ? n : 0] = '\0';
    slash = strrchr(keeper, '/');
    snprintf(slash ? slash + 1 : keeper, 32, "berth-keeper");
    if (asprintf(&r->folder, "%s/berth-run-XXXXXX", base && *base == '/' ? base : "/tmp") < 0)
        return errtext_no_memory(err);
    if (!mkdtemp(r->folder))
        return errtext_set(err, errno, "%s: %s", r->folder, strerror(errno));
    /* Control groups are Slurm's here. */
    const struct engine_local_options options = {
        .directory = r->folder, .keeper = keeper, .cgroup = "/nonexistent"};
    r->engine = engine_local_open(&options, err);
    return r->engine ? 0 : -1;
}

/* Pass on what has been added to the file of signals. */
static void take_signals(struct node_run *r)
{
    struct strbuf text = {0};
    int signal, tree;
    if (folder_get(r->runs, r->key, "signals", NULL, &text) == 0 && text.len > r->n_signals) {
        const char *at = strbuf_text(&text) + r->n_signals;
        while (strchr(at, '\n') && sscanf(at, "%d %d", &signal, &tree) == 2) {
            r->engine->ops->signal(r->engine, r->key, signal, tree);
            r->told_to_end = r->told_to_end || directed_ends(signal);
            at = strchr(at, '\n') + 1;
        }
        r->n_signals = (size_t)(at - strbuf_text(&text));
    }
    strbuf_clear(&text);
}

static void take_own_signals(struct node_run *r)
{
    struct signalfd_siginfo info;
    while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGUSR1)
            take_signals(r);
        else
            r->engine->ops->signal(r->engine, r->key, (int)info.ssi_signo, false);
    }
}

static void pass_event_on(struct node_run *r, const struct engine_event *from)
{
    struct engine_event e = *from;
    bool started = e.what == ENGINE_STARTED;
    say_event(r, started ? "own/started." : "own/ended.", &e);
    if (started)
        return;
    r->over = true;
    r->status = e.exit_signal            ? 128 + e.exit_signal
                : e.what == ENGINE_ENDED ? e.exit_status
                                         : EXIT_FAILURE;
}

static void take_events(struct node_run *r)
{
    const struct engine_event *events;
    size_t n;
    while ((n = r->engine->ops->events(r->engine, &events, 16)) > 0) {
        uint64_t number = events[n - 1].number;
        for (size_t i = 0; i < n; i++)
            pass_event_on(r, &events[i]);
        r->engine->ops->acknowledge(r->engine, number);
    }
    r->engine->ops->flush(r->engine);
}

static void follow_at_keeper(struct node_run *r)
{
    struct pollfd p[2] = {{.fd = r->engine->ops->fd(r->engine), .events = POLLIN},
                          {.fd = r->signals, .events = POLLIN}};
    take_signals(r);
    r->engine->ops->flush(r->engine);
    while (!r->over) {
        if (poll(p, 2, SIGNAL_EACH) == 0)
            take_signals(r);
        take_own_signals(r);
        take_events(r);
    }
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

/* The keeper ends once it has nothing to keep; then its folder goes. */
static void clean_up(struct node_run *r)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    if (r->engine)
        r->engine->ops->close(r->engine);
    for (int i = 0; r->engine && i < GOING_MOST / 10; i++) {
        if (waitpid(-1, NULL, WNOHANG) < 0)
            break;
        nanosleep(&pause, NULL);
    }
    if (r->folder)
        nftw(r->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Slurm is to have it in its books as cancelled, not as failed. */
static void await_cancel(const struct node_run *r)
{
    struct signalfd_siginfo info = {0};
    struct pollfd p = {.fd = r->signals, .events = POLLIN};
    while (info.ssi_signo != SIGTERM && poll(&p, 1, CANCEL_MOST) > 0 &&
           read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
}

static int run_on_node(struct node_run *r)
{
    berth_error_t err = {""};
    if (read_request(r))
        return fail_on_node(r, "what it is to run cannot be read on its node");
    if (open_keeper(r, &err) || r->engine->ops->start(r->engine, &r->request.run, &err)) {
        clean_up(r);
        return fail_on_node(r, err.text);
    }
    follow_at_keeper(r);
    clean_up(r);
    if (r->told_to_end && r->status != 0)
        await_cancel(r);
    return r->status;
}

/* All signals wait until they are read; what Slurm asks for with them is passed on. */
static int block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < 7; i++)
        sigaddset(&set,
                  (const int[]){SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM}[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
    static struct node_run r;
    char *slash = argc == 3 ? strrchr(argv[1], '/') : NULL;
    if (!slash || slash == argv[1]) {
        fprintf(stderr, "usage: berth-run FOLDER FIRST-NODE\n");
        return 2;
    }
    r.first = argv[2];
    r.node = getenv("SLURMD_NODENAME");
    r.node = r.node ? r.node : r.first;
    r.key = strtoull(slash + 1, NULL, 10);
    *slash = '\0';
    r.runs = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    r.signals = block_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    umask(077);
    if (r.runs < 0 || r.signals < 0 || !folder_has(r.runs, r.key, "request.", r.node) ||
        !take_run_here(&r))
        return EXIT_SUCCESS; /* nobody wants it, or somebody else has it */
    return run_on_node(&r);
}
