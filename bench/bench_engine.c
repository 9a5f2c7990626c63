/* Starting `true`: by posix_spawn and a wait, as fast as this machine can, and by the engine, from the
 * start of a run to the event of its end.
 *
 * usage: bench_engine [KEEPER]   beside the build tree's own
 */
#include <dirent.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "measure.h"

#define RUNS 3000

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "bench_engine: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void row(const char *what, int together, double seconds, double most)
{
    printf("%-12s %4d at once %8.0f a second", what, together, RUNS / seconds);
    if (most > 0)
        printf("   99%% of starts within %.2f ms", 1e3 * most);
    printf("\n");
}

static void plain(int together)
{
    char *const argv[] = {(char *)(uintptr_t) "true", NULL};
    char *const env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL};
    int live = 0;
    double t = now();
    for (int i = 0; i < RUNS || live > 0;) {
        pid_t pid;
        if (i < RUNS && live < together) {
            check(posix_spawnp(&pid, "true", NULL, NULL, argv, env) == 0, "posix_spawn");
            live++;
            i++;
        } else {
            check(wait(NULL) > 0, "wait");
            live--;
        }
    }
    row("posix_spawn", together, now() - t, 0);
}

/* Returns how many have ended. */
static int take(struct engine *e, const double *asked, double *took)
{
    const struct engine_event *events;
    size_t n = e->ops->events(e, &events, 256);
    int ended = 0;
    for (size_t i = 0; i < n; i++) {
        check(events[i].what == ENGINE_STARTED || events[i].what == ENGINE_ENDED,
              events[i].text ? events[i].text : "a run was lost");
        if (events[i].what == ENGINE_STARTED)
            took[(events[i].key - 1) % RUNS] = now() - asked[(events[i].key - 1) % RUNS];
        ended += events[i].what == ENGINE_ENDED;
    }
    if (n > 0)
        check(e->ops->acknowledge(e, events[n - 1].number) == 0, "acknowledge");
    return ended;
}

static void by_engine(struct engine *e, uint64_t *key, int together, const char *directory)
{
    static double asked[RUNS];
    static double took[RUNS];
    const char *const argv[] = {"true", NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct engine_task task = {.cpus = NULL};
    struct engine_run run = {
        .argv = argv,
        .env = env,
        .directory = directory,
        .output = "out",
        .umask = 022,
        .tasks = &task,
        .n_tasks = 1,
    };
    int live = 0;
    double t = now();
    for (int i = 0; i < RUNS || live > 0;) {
        struct pollfd p = {.fd = e->ops->fd(e), .events = POLLIN};
        while (i < RUNS && live < together) {
            run.key = ++*key;
            asked[i++] = now();
            check(e->ops->start(e, &run, NULL) == 0, "start");
            live++;
        }
        check(e->ops->flush(e) == 0, "flush");
        check(poll(&p, 1, 10000) == 1, "no event in 10 s");
        live -= take(e, asked, took);
    }
    double all = now() - t;
    qsort(took, RUNS, sizeof(took[0]), compare);
    row("engine", together, all, took[RUNS * 99 / 100]);
}

static void remove_all(const char *directory)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(directory);
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/bench_engine.XXXXXX";
    char keeper[4096];
    berth_error_t err;
    uint64_t key = 0;
    ssize_t n = readlink("/proc/self/exe", keeper, sizeof(keeper) - 32);
    check(n > 0 && mkdtemp(directory), "no folder");
    keeper[n] = '\0';
    strcpy(strrchr(keeper, '/'), "/../berth-keeper");
    struct engine *e =
        engine_local_open(&(struct engine_local_options){.directory = directory,
                                                         .keeper = argc > 1 ? argv[1] : keeper},
                          &err);
    if (!e)
        check(0, err.text);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int together = 1; together <= 64; together *= 8) {
        plain(together);
        by_engine(e, &key, together, directory);
    }
    e->ops->close(e);
    remove_all(directory);
    return 0;
}
