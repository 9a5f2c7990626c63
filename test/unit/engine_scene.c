/* An engine in a folder of its own, for tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_scene.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/local/procs.h"

#define NOBODY 65534

/* Nothing that this server heard is known to the next. */
void scene_forget(struct scene *s)
{
    s->e->ops->close(s->e);
    s->n_heard = 0;
    scene_open(s);
}

bool scene_knows(const struct scene *s, uint64_t key)
{
    const uint64_t *keys;
    size_t n;
    assert_int_equal(s->e->ops->runs(s->e, &keys, &n), 0);
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static const char *const plain_env[] = {"PATH=/usr/bin:/bin", "A=of the run", "B=kept", NULL};
static const struct engine_task one_task = {.cpus = NULL};

struct scene *scene_make(void)
{
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    strcpy(s->folder, "/tmp/berth-engine.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->keeper, sizeof(s->keeper), "%s/keeper", s->folder);
    snprintf(s->output, sizeof(s->output), "%s/out", s->folder);
    scene_open(s);
    return s;
}

void scene_open(struct scene *s)
{
    berth_error_t err = {""};
    const struct engine_local_options options = {
        .directory = s->keeper,
        .keeper = getenv("BERTH_KEEPER"),
        .cgroup = s->cgroup,
    };
    s->e = engine_local_open(&options, &err);
    if (!s->e)
        fail_msg("%s", err.text);
    scene_meet(s);
}

void scene_meet(struct scene *s)
{
    const uint64_t *keys;
    size_t n;
    while (s->e->ops->runs(s->e, &keys, &n)) {
        assert_int_equal(errno, EAGAIN);
        scene_take(s, SCENE_TIMEOUT);
    }
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *where)
{
    (void)st;
    (void)what;
    (void)where;
    return remove(path);
}

void scene_end(struct scene *s)
{
    pid_t keeper = scene_keeper(s);
    scene_acknowledge(s);
    s->e->ops->close(s->e);
    if (keeper)
        scene_wait_for_end(keeper);
    nftw(s->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(s);
}

struct engine_run scene_run(const struct scene *s, const char *const *argv)
{
    return (struct engine_run){
        .argv = argv,
        .env = plain_env,
        .directory = s->folder,
        .output = s->output,
        .umask = 022,
        .tasks = &one_task,
        .n_tasks = 1,
    };
}

uint64_t scene_start(struct scene *s, struct engine_run *run)
{
    berth_error_t err = {""};
    run->key = ++s->key;
    if (s->e->ops->start(s->e, run, &err))
        fail_msg("%s", err.text);
    s->e->ops->flush(s->e);
    return run->key;
}

uint64_t scene_shell(struct scene *s, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = scene_run(s, argv);
    return scene_start(s, &run);
}

void scene_take(struct scene *s, int timeout)
{
    struct pollfd p = {.fd = s->e->ops->fd(s->e), .events = POLLIN};
    const struct engine_event *events;
    if (poll(&p, 1, timeout) <= 0)
        return;
    size_t n = s->e->ops->events(s->e, &events, 100);
    for (size_t i = 0; i < n; i++) {
        assert_true(s->n_heard < SCENE_EVENTS);
        char *text = s->texts[s->n_heard];
        snprintf(text, sizeof(s->texts[0]), "%s", events[i].text ? events[i].text : "");
        s->heard[s->n_heard] = events[i];
        s->heard[s->n_heard].text = text;
        if (s->n_heard > 0)
            assert_true(events[i].number > s->heard[s->n_heard - 1].number);
        s->n_heard++;
    }
}

const struct engine_event *scene_heard(const struct scene *s, uint64_t key, enum engine_what what)
{
    for (size_t i = 0; i < s->n_heard; i++)
        if (s->heard[i].key == key && s->heard[i].what == what)
            return &s->heard[i];
    return NULL;
}

static int64_t steady(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const struct engine_event *scene_wait(struct scene *s, uint64_t key, enum engine_what what)
{
    int64_t until = steady() + SCENE_TIMEOUT;
    const struct engine_event *event;
    while (!(event = scene_heard(s, key, what))) {
        for (int w = ENGINE_ENDED; w <= ENGINE_LOST; w++) {
            const struct engine_event *other = scene_heard(s, key, (enum engine_what)w);
            if (other)
                fail_msg("run %d: %d instead of %d: %s", (int)key, w, (int)what, other->text);
        }
        if (steady() >= until)
            fail_msg("run %d: no event %d", (int)key, (int)what);
        scene_take(s, SCENE_TIMEOUT);
    }
    return event;
}

void scene_acknowledge(struct scene *s)
{
    if (s->n_heard > 0)
        s->e->ops->acknowledge(s->e, s->heard[s->n_heard - 1].number);
    s->e->ops->flush(s->e);
}

const char *scene_text(const struct scene *s, const char *name)
{
    static char text[4096];
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    FILE *f = fopen(path, "r");
    if (!f)
        return "(no file)";
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

int scene_fifo(const struct scene *s, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    assert_int_equal(mkfifo(path, 0666), 0);
    chmod(path, 0666);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

const char *scene_line(int fifo)
{
    static char line[256];
    size_t n = 0;
    struct pollfd p = {.fd = fifo, .events = POLLIN};
    while (n < sizeof(line) - 1) {
        assert_int_equal(poll(&p, 1, SCENE_TIMEOUT), 1);
        assert_int_equal(read(fifo, line + n, 1), 1);
        if (line[n] == '\n')
            break;
        n++;
    }
    line[n] = '\0';
    return line;
}

pid_t scene_keeper(const struct scene *s)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;
    char expected[160];
    char text[256];
    char path[300];
    int length = snprintf(expected, sizeof(expected), "berth-keeper%c%s%c", 0, s->keeper, 0);
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
        if (fd >= 0)
            close(fd);
        if (n < length || memcmp(text, expected, (size_t)length) != 0)
            continue;
        /* Its children are called so too until they are the command. */
        struct proc p;
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (procs_look(pid, &p) == 0 && (!found || p.parent != found))
            found = pid;
    }
    closedir(dir);
    return found;
}

void scene_kill_keeper(struct scene *s)
{
    pid_t keeper;
    while (!(keeper = scene_keeper(s)))
        scene_take(s, SCENE_TIMEOUT); /* it has not been heard yet that the last one is gone */
    kill(keeper, SIGKILL);
    scene_wait_for_end(keeper);
}

void scene_wait_for_end(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ended = poll(&p, 1, SCENE_TIMEOUT);
    close(fd);
    assert_int_equal(ended, 1);
}

int scene_run_both(const char *name, const struct CMUnitTest *tests, size_t n)
{
    int status;
    int rc = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
    if (geteuid() != 0)
        return rc;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
            setresuid(NOBODY, NOBODY, NOBODY))
            exit(EXIT_FAILURE);
        if (access(getenv("BERTH_KEEPER"), X_OK)) {
            print_message("not run again as an ordinary user, who can't reach %s\n",
                          getenv("BERTH_KEEPER"));
            exit(EXIT_SUCCESS);
        }
        prctl(PR_SET_DUMPABLE, 1);
        exit(_cmocka_run_group_tests("as an ordinary user", tests, n, NULL, NULL) ? EXIT_FAILURE
                                                                                  : EXIT_SUCCESS);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        rc++;
    return rc;
}
