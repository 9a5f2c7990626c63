#include "cli/step/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "base/strbuf.h"

#define CPUS_MAX  65536
#define NOT_FOUND 127
#define NOT_RUN   126

extern char **environ;

/* ---- The room ---- */

/* The first CPU of a core, by which those of a core come to stand together. */
static uint32_t core_of(uint32_t cpu)
{
    char path[100];
    unsigned first = cpu;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
             cpu);
    FILE *file = fopen(path, "re");
    if (!file)
        return cpu;
    if (fscanf(file, "%u", &first) != 1)
        first = cpu;
    fclose(file);
    return first;
}

struct place {
    uint32_t core, cpu;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int sort_cpus(struct step_room *room, const struct idset *cpus)
{
    struct place *places = calloc(cpus->count, sizeof(*places));
    room->cpu = calloc(cpus->count, sizeof(*room->cpu));
    if (!places || !room->cpu) {
        free(places);
        return -1;
    }
    for (uint32_t id = idset_first(cpus); id != IDSET_NONE; id = idset_next(cpus, id))
        places[room->n_cpus++] = (struct place){core_of(id), id};
    qsort(places, room->n_cpus, sizeof(*places), compare_places);
    for (size_t i = 0; i < room->n_cpus; i++)
        room->cpu[i] = places[i].cpu;
    free(places);
    return 0;
}

static int read_cpus(struct step_room *room, berth_error_t *err)
{
    const char *text = getenv("BERTH_CPUS");
    struct idset cpus = {0};
    if (!text || !*text)
        return 0;
    int rc = idset_decode(&cpus, text, strlen(text), NULL);
    if (rc == 0 && cpus.count > 0 && cpus.count <= CPUS_MAX)
        rc = sort_cpus(room, &cpus);
    idset_clear(&cpus);
    return rc == 0 ? 0 : errtext_set(err, errno, "BERTH_CPUS is '%.60s', expected CPUs", text);
}

static int read_gpus(struct step_room *room, berth_error_t *err)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    text = text && *text ? text : getenv("ROCR_VISIBLE_DEVICES");
    for (const char *at = text ? text : ""; *at;) {
        size_t n = strcspn(at, ",");
        char **grown = realloc(room->gpu, (room->n_gpus + 1) * sizeof(*grown));
        char *name = strndup(at, n);
        room->gpu = grown ? grown : room->gpu;
        if (!grown || !name) {
            free(name);
            return errtext_no_memory(err);
        }
        room->gpu[room->n_gpus++] = name;
        at += n + (at[n] == ',');
    }
    return 0;
}

int step_room_read(struct step_room *room, berth_error_t *err)
{
    const char *cores = getenv("BERTH_CORES");
    long n = cores ? strtol(cores, NULL, 10) : 0;
    *room = (struct step_room){.n_cores = n > 0 && n <= CPUS_MAX ? (size_t)n : 1};
    return read_cpus(room, err) < 0 ? -1 : read_gpus(room, err);
}

void step_room_clear(struct step_room *room)
{
    free(room->cpu);
    for (size_t i = 0; i < room->n_gpus; i++)
        free(room->gpu[i]);
    free(room->gpu);
    *room = (struct step_room){0};
}

/* ---- The task ---- */

__attribute__((noreturn)) static void fail(int status, const char *what)
{
    fprintf(stderr, "berth run: %s: %s\n", what, strerror(errno));
    _exit(status);
}

static void set_number(const char *name, size_t n)
{
    char text[24];
    snprintf(text, sizeof(text), "%zu", n);
    setenv(name, text, 1);
}

/* Bind it to its cores, each with all its CPUs, and tell which they are. */
static void bind_cpus(const struct step_task *t)
{
    size_t each = t->room->n_cpus / t->room->n_cores;
    struct idset ids = {0};
    struct strbuf text = {0};
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

    if (each == 0 || !set)
        return;
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < t->n_cores * each; i++) {
        uint32_t cpu = t->room->cpu[t->core[i / each] * each + i % each];
        if (cpu < CPUS_MAX)
            CPU_SET_S(cpu, size, set);
        idset_add(&ids, cpu);
    }
    sched_setaffinity(0, size, set); /* best effort: the job is bound already */
    idset_encode(&ids, false, &text);
    setenv("BERTH_CPUS", strbuf_text(&text), 1);
    idset_clear(&ids);
    strbuf_clear(&text);
    CPU_FREE(set);
}

static void choose_gpus(const struct step_task *t)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < t->n_gpus; i++) {
        strbuf_puts(&text, i ? "," : "");
        strbuf_puts(&text, t->room->gpu[t->gpu[i]]);
    }
    if (t->n_gpus > 0) {
        const char *const names[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};
        for (size_t i = 0; i < 2; i++)
            if (getenv(names[i]))
                setenv(names[i], strbuf_text(&text), 1);
    }
    strbuf_clear(&text);
}

/* The request's environment in place of ours, but for what is known of the job. */
static void change_environment(const struct step_task *t)
{
    const json_t *wanted = json_object_get(t->job, "environment"), *value;
    struct strbuf kept = {0};
    const char *name;

    for (char **at = environ; *at; at++)
        if (strncmp(*at, "BERTH_", 6) == 0 || strncmp(*at, "SLURM", 5) == 0)
            strbuf_put(&kept, *at, strlen(*at) + 1);
    clearenv();
    json_object_foreach ((json_t *)wanted, name, value)
        setenv(name, json_string_value(value), 1);
    for (const char *at = kept.data; at && at < kept.data + kept.len; at += strlen(at) + 1)
        putenv(strdup(at));
    strbuf_clear(&kept);
}

static void tell_place(const struct step_task *t)
{
    set_number("BERTH_TASKS", t->tasks);
    set_number("BERTH_TASK_INDEX", t->index);
    set_number("BERTH_STEP_ID", t->number);
    set_number("BERTH_CORES", t->n_cores);
    set_number("BERTH_BATCH", 1); /* a step of its own has one task, unless it says otherwise */
    if (!getenv("SLURM_JOB_ID"))
        return;
    set_number("SLURM_STEP_ID", t->number);
    set_number("SLURM_STEPID", t->number);
    set_number("SLURM_PROCID", t->index);
    set_number("SLURM_LOCALID", t->index);
    set_number("SLURM_NTASKS", t->tasks);
    set_number("SLURM_NPROCS", t->tasks);
    set_number("SLURM_STEP_NUM_TASKS", t->tasks);
    set_number("SLURM_STEP_TASKS_PER_NODE", t->tasks);
    set_number("SLURM_STEP_NUM_NODES", 1);
    if (getenv("SLURMD_NODENAME"))
        setenv("SLURM_STEP_NODELIST", getenv("SLURMD_NODENAME"), 1);
    set_number("SLURM_CPUS_PER_TASK", t->n_cores);
    set_number("SLURM_TASK_PID", (size_t)getpid());
}

/* Standard input is the first task's. */
static void set_files(const struct step_task *t)
{
    for (int i = 0; i < 3; i++)
        if (t->files[i] >= 0 && dup2(t->files[i], i) < 0)
            fail(NOT_RUN, "files");
    if (t->index == 0 || t->files[0] >= 0)
        return;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        fail(NOT_RUN, "/dev/null");
}

void step_task_become(const struct step_task *t)
{
    const json_t *words = json_object_get(t->job, "command");
    const char *directory = json_string_value(json_object_get(t->job, "directory"));
    size_t n = json_array_size(words);
    const char **argv = calloc(n + 1, sizeof(*argv));
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};

    if (!argv)
        fail(NOT_RUN, "memory");
    for (size_t i = 0; i < n; i++)
        argv[i] = json_string_value(json_array_get(words, i));
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        signal(signals[i], SIG_DFL);
    set_files(t);
    if (directory && chdir(directory) < 0)
        fail(NOT_RUN, directory);
    change_environment(t);
    tell_place(t);
    bind_cpus(t);
    choose_gpus(t);
    execvp(argv[0], (char **)argv);
    fail(errno == ENOENT ? NOT_FOUND : NOT_RUN, argv[0]);
}
