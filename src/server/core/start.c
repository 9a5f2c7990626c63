/* Starting a run: its command, environment, files, CPUs and GPUs for the engine. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/idset.h"
#include "berth/sched_query.h"
#include "server/core/gang_env.h"
#include "server/core/hooks.h"
#include "server/core/job_text.h"
#include "server/core/priv.h"
#include "server/core/roles.h"
#include "server/core/run_hosts.h"
#include "server/core/slurm_env.h"

#define R_MAX    32768 /* a longer R is left out of the environment */
#define TASK_ENV 12    /* variables of a task, and the end */

/* What a start needs of the stored request; points into the store's text. */
struct launch {
    struct json_part shown, tasks, task_cores, task_gpus, umask, memory_limit, append, input;
    struct json_part nodes_least; /* of a range of them */
    struct json_part batch, slurm, attach, attach_as;
    struct json_part command, directory, output, error; /* in `shown` */
    bool is_own; /* the command is its role's, and no script runs */
};

/* A start being put together. */
struct starting {
    server_t *s;
    struct run *run;
    struct job *job;
    struct member *m;
    struct user *user;
    const struct job_role *role; /* NULL: it has none */
    struct arena arena;
    struct launch asked;
    struct run_hosts hosts;
    const char *nodes, *first_node, *r;
    size_t n_nodes;
    uint64_t first_rank; /* of its tasks among those of its gang */
    const char **env;
    size_t n_env, cap_env;
    berth_error_t *err;
};

static int start_no_memory(struct starting *b)
{
    return errtext_set(b->err, ENOMEM, "out of memory");
}

/* Concatenate two texts in the arena. NULL with ENOMEM, or if the first is NULL. */
static char *arena_join_n(struct starting *b, const char *first, const char *second, size_t n)
{
    size_t length = first ? strlen(first) : 0;
    char *text = first ? arena_alloc(&b->arena, length + n + 1) : NULL;
    if (text) {
        memcpy(text, first, length);
        memcpy(text + length, second, n);
        text[length + n] = '\0';
    }
    return text;
}

static char *arena_join(struct starting *b, const char *first, const char *second)
{
    return arena_join_n(b, first, second, strlen(second));
}

static char *arena_join_number(struct starting *b, const char *first, uint64_t number)
{
    char digits[STRBUF_NUMBER_MAX + 1];
    return arena_join_n(b, first, digits, strbuf_decimal(digits, number));
}

static int add_env(struct starting *b, const char *entry)
{
    if (!entry || array_grow((void **)&b->env, &b->cap_env, b->n_env + 2, sizeof(*b->env)) < 0)
        return start_no_memory(b);
    size_t name = strcspn(entry, "=");
    for (size_t i = 0; i < b->n_env; i++) {
        if (strncmp(b->env[i], entry, name + 1) == 0) {
            b->env[i] = entry;
            return 0;
        }
    }
    b->env[b->n_env++] = entry;
    b->env[b->n_env] = NULL;
    return 0;
}

/* ---- Allocation ---- */

/* Add a host, whose name may itself be a list of hosts. */
static int add_host_name(struct hostlist *list, const char *name)
{
    size_t length = strlen(name);
    if (hostlist_append_host(list, name, length) == 0)
        return 0;
    return errno == EINVAL ? hostlist_append(list, name, length, NULL) : -1;
}

/* Collect the nodes, and what is held there. Returns 0, or -1 with errno: without them the run would not be bound to
 * its cores.
 */
static int describe_hosts(struct starting *b, const struct sched_allocation *a)
{
    struct hostlist list = {0};
    struct strbuf text = {0};
    int rc = run_hosts_read(b->s, a, &b->hosts);
    for (size_t i = 0; i < b->hosts.n && rc == 0; i++)
        rc = add_host_name(&list, b->hosts.v[i].name);
    if (rc == 0) {
        hostlist_encode(&list, &text);
        b->nodes = text.failed ? NULL : arena_join(b, "", strbuf_text(&text));
        b->first_node = a->n_hosts ? arena_join(b, "", a->hosts[0].name) : "";
        rc = b->nodes && b->first_node ? 0 : -1;
        errno = ENOMEM;
    }
    b->n_nodes = a->n_hosts ? a->n_hosts : 1;
    int saved = errno;
    hostlist_clear(&list);
    strbuf_clear(&text);
    errno = saved;
    return rc;
}

static int describe_allocation(struct starting *b)
{
    struct sched_allocation given;
    const char *text;
    size_t length;
    b->nodes = b->first_node = "";
    b->n_nodes = 1;
    if (b->m->handle < 0)
        return 0;
    if (sched_allocation(b->s->sched, b->m->handle, &given) < 0 || describe_hosts(b, &given) < 0 ||
        sched_write(b->s->sched, b->m->handle, "rv1_nosched", &text, &length) < 0)
        return errtext_set(b->err, errno, "cannot describe its allocation: %s", strerror(errno));
    if (length < R_MAX)
        b->r = arena_join_n(b, "BERTH_R=", text, length);
    return length < R_MAX && !b->r ? start_no_memory(b) : 0;
}

/* The system's CPUs of n cores of a host, from the first-th on. NULL: unknown, as they are on hosts that are
 * imagined on this machine.
 */
static const char *cpu_list(struct starting *b, const struct run_host *host, uint64_t first,
                            uint64_t n)
{
    struct strbuf text = {0};
    bool imagined = host && !host->node && b->hosts.n > 1 && !b->hosts.v[1].node;
    bool known = host && !imagined && run_host_cpus(b->s, host, first, n, &text);
    const char *kept = known ? arena_join(b, "", strbuf_text(&text)) : NULL;
    strbuf_clear(&text);
    return kept;
}

/* n GPUs of a host. *vendor becomes whose they are; NULL: unknown. NULL with ENOMEM. */
static const char *gpu_list(struct starting *b, const struct run_host *host, uint64_t first,
                            uint64_t n, const char **vendor)
{
    struct strbuf text = {0};
    *vendor = host ? run_host_gpus(b->s, host, first, n, &text) : NULL;
    const char *kept = arena_join(b, "", strbuf_text(&text));
    strbuf_clear(&text);
    return kept;
}

/* The devices of GPUs that it does not hold; NULL: there are none, or they are on another machine. */
static const char *denied_devices(struct starting *b, const struct run_host *host, size_t n)
{
    struct strbuf text = {0};
    if (!host->node)
        run_hosts_denied(b->s, host, n, &text);
    const char *kept = text.len > 0 ? arena_join(b, "", strbuf_text(&text)) : NULL;
    strbuf_clear(&text);
    return kept;
}

/* ---- Environment ---- */

static int default_env(struct starting *b)
{
    const struct user *u = b->user;
    if (add_env(b, "PATH=/usr/local/bin:/usr/bin:/bin") < 0)
        return -1;
    if (!u)
        return 0;
    if (add_env(b, arena_join(b, "HOME=", u->home)) < 0 ||
        add_env(b, arena_join(b, "USER=", u->name)) < 0 ||
        add_env(b, arena_join(b, "LOGNAME=", u->name)) < 0)
        return -1;
    return *u->shell ? add_env(b, arena_join(b, "SHELL=", u->shell)) : 0;
}

static int submitted_env(struct starting *b, const char *environment)
{
    struct json_part entry, none;
    struct json_scan list;
    const char *text;
    if (!environment || !json_scan_begin(&list, json_part(environment, strlen(environment))))
        return 0;
    while (json_scan_next(&list, &none, &entry)) {
        if (json_part_keep(entry, &b->arena, &text) < 0)
            return start_no_memory(b);
        if (text && add_env(b, text) < 0)
            return -1;
    }
    return 0;
}

static int add_number(struct starting *b, const char *name, uint64_t n)
{
    return add_env(b, arena_join_number(b, name, n));
}

/* What was asked for on the least of a range of nodes, on as many as it has. */
static int64_t on_its_nodes(const struct starting *b, int64_t asked)
{
    int64_t least = json_part_whole(b->asked.nodes_least, 0), has = (int64_t)b->hosts.n;
    return least > 0 && has > least ? (asked / least + (asked % least > 0)) * has : asked;
}

/* 0: none */
static int64_t memory_limit(const struct starting *b)
{
    return on_its_nodes(b, json_part_whole(b->asked.memory_limit, 0));
}

/* Seconds since 1970 when the time limit ends, if it starts now; 0: it has none. */
static int64_t end_time(const struct starting *b)
{
    int64_t limit = member_limit(b->job, b->m);
    if (limit <= 0 || limit >= SCHED_UNLIMITED)
        return 0;
    return (b->s->clock.wall + limit) / SERVER_SECOND;
}

/* How much of everything there is. */
static int amounts_env(struct starting *b)
{
    int64_t memory = memory_limit(b), end = end_time(b);
    if (add_number(b, "BERTH_CORES=", b->hosts.cores) < 0 ||
        add_number(b, "BERTH_GPUS=", b->hosts.gpus) < 0 ||
        (memory > 0 && add_number(b, "BERTH_MEM=", (uint64_t)memory) < 0) ||
        (end > 0 && add_number(b, "BERTH_END_TIME=", (uint64_t)end) < 0))
        return -1;
    return 0;
}

static int berth_env(struct starting *b, size_t tasks)
{
    const struct job *job = b->job;
    if (add_number(b, "BERTH_JOB_ID=", (uint64_t)job->id) < 0 ||
        add_env(b, arena_join(b, "BERTH_JOB_NAME=", job->name)) < 0 ||
        add_env(b, arena_join(b, "BERTH_QUEUE=", job->queue)) < 0 ||
        add_number(b, "BERTH_TASKS=", tasks) < 0 ||
        add_env(b, arena_join(b, "BERTH_NODES=", b->nodes)) < 0 ||
        add_number(b, "BERTH_ATTEMPT=", b->m->attempts) < 0)
        return -1;
    if (job->members > 1 && (add_number(b, "BERTH_ARRAY_INDEX=", b->run->member) < 0 ||
                             add_number(b, "BERTH_ARRAY_SIZE=", member_count(job)) < 0))
        return -1;
    if (b->asked.batch.at && add_number(b, "BERTH_BATCH=", tasks) < 0)
        return -1;
    return b->r && add_env(b, b->r) < 0 ? -1 : amounts_env(b);
}

static int add_variable(void *context, const char *name, const char *value)
{
    struct starting *b = context;
    char *text = arena_join(b, "", name);
    return add_env(b, arena_join(b, arena_join(b, text, "="), value));
}

static int slurm_variables(struct starting *b, size_t tasks)
{
    const struct job *job = b->job;
    const struct idset *indices = &job->indices;
    bool some = indices->n > 0;
    const struct slurm_env e = {
        .id = job->id,
        .attempts = b->m->attempts,
        .array = job->members > 1,
        .member = b->run->member,
        .members = member_count(job),
        .first = some ? idset_first(indices) : 0,
        .last = some ? idset_last(indices) : job->members - 1,
        .name = job->name,
        .queue = job->queue,
        .user = job->user,
        .nodes = b->nodes,
        .first_node = b->first_node,
        .n_nodes = b->n_nodes,
        .tasks = tasks,
        .cores_per_task = b->hosts.cores > tasks ? b->hosts.cores / tasks : 1,
        .cores = b->hosts.cores,
        .gpus = b->hosts.gpus,
        .memory = memory_limit(b),
        .end = end_time(b),
    };
    return slurm_env_each(&e, add_variable, b);
}

/* ---- Tasks ---- */

/* What its host has of it: its own cores and GPUs if they divide evenly as requested, else all that the job has there. */
static int give_task(struct starting *b, struct engine_task *task, const struct run_host *host,
                     size_t i, const char **vendor, const char **devices)
{
    uint64_t cores = (uint64_t)json_part_whole(b->asked.task_cores, 0),
             gpus = (uint64_t)json_part_whole(b->asked.task_gpus, 0);
    size_t n = host ? host->n_tasks : 0, at = host ? i - host->first : 0;
    bool own = cores > 0 && host && host->cores.count == cores * n;
    bool own_gpus = gpus > 0 && host && host->gpus.count == gpus * n;
    task->cpus = cpu_list(b, host, own ? at * cores : 0, own ? cores : UINT32_MAX);
    *devices = gpu_list(b, host, own_gpus ? at * gpus : 0, own_gpus ? gpus : UINT32_MAX, vendor);
    return *devices ? 0 : -1;
}

static int make_task(struct starting *b, struct engine_task *task, size_t i)
{
    const char **env = arena_alloc(&b->arena, TASK_ENV * sizeof(*env));
    const struct run_host *host = run_hosts_of(&b->hosts, i);
    const char *vendor = NULL, *devices = NULL;
    size_t used = 0, at = i - (host ? host->first : 0);
    if (!env || give_task(b, task, host, i, &vendor, &devices) < 0)
        return start_no_memory(b);
    env[used++] = arena_join_number(b, "BERTH_TASK_INDEX=", i);
    env[used++] = arena_join(b, "BERTH_CPUS=", task->cpus ? task->cpus : "");
    if (host)
        env[used++] = arena_join(b, "BERTH_NODE=", host->name);
    if (b->s->size.has_gpus && (!vendor || strcmp(vendor, "nvidia") == 0))
        env[used++] = arena_join(b, "CUDA_VISIBLE_DEVICES=", devices);
    if (b->s->size.has_gpus && (!vendor || strcmp(vendor, "amd") == 0))
        env[used++] = arena_join(b, "ROCR_VISIBLE_DEVICES=", devices);
    if (b->asked.slurm.at) {
        env[used++] = arena_join_number(b, "SLURM_PROCID=", i);
        env[used++] = arena_join_number(b, "SLURM_LOCALID=", at);
        env[used++] =
            arena_join_number(b, "SLURM_NODEID=", host ? (uint64_t)(host - b->hosts.v) : 0);
        env[used++] = arena_join(b, "SLURMD_NODENAME=", host ? host->name : "");
    }
    if (b->job->gang.min > 0) {
        env[used++] = arena_join_number(b, "RANK=", b->first_rank + i);
        env[used++] = arena_join_number(b, "LOCAL_RANK=", at);
    }
    env[used] = NULL;
    for (size_t k = 0; k < used; k++)
        if (!env[k])
            return start_no_memory(b);
    task->env = env;
    return 0;
}

static const struct engine_task *make_tasks(struct starting *b, size_t n)
{
    struct engine_task *tasks = arena_alloc(&b->arena, n * sizeof(*tasks));
    b->first_rank = b->job->gang.min > 0 ? gang_rank(b->job, b->run->member, n).tasks : 0;
    if (!tasks)
        start_no_memory(b);
    for (size_t i = 0; tasks && i < n; i++)
        if (make_task(b, &tasks[i], i) < 0)
            return NULL;
    return tasks;
}

/* ---- Places ---- */

static int64_t cores_asked(const struct starting *b)
{
    return b->role ? b->role->cores : b->job->cores;
}

/* What it has on one machine: that of some hosts that follow one another. */
static struct engine_place make_place(struct starting *b, const struct run_host *host, size_t n)
{
    int64_t memory = memory_limit(b);
    uint64_t cores = 0;
    struct engine_place place = {
        .node = host->node ? json_string_value(json_object_get(host->node, "id")) : NULL,
        .cpus = n == 1 ? cpu_list(b, host, 0, UINT32_MAX) : NULL,
        .denied = denied_devices(b, host, n)};
    for (size_t i = 0; i < n; i++) {
        place.n_tasks += host[i].n_tasks;
        cores += host[i].cores.count;
        place.gpus += (uint32_t)host[i].gpus.count;
    }
    place.cores = (uint32_t)cores;
    place.memory = (memory / (int64_t)b->hosts.n + (memory % (int64_t)b->hosts.n > 0)) * (int64_t)n;
    place.processes = machine_processes(b->s, cores > 0 ? (int64_t)cores : cores_asked(b));
    return place;
}

/* Where it runs: the machines on which it has tasks. */
static int make_places(struct starting *b, struct engine_run *to)
{
    const struct run_hosts *hosts = &b->hosts;
    struct engine_place *places = arena_alloc(&b->arena, (hosts->n + 1) * sizeof(*places));
    size_t used = 0, n;
    if (!places)
        return start_no_memory(b);
    for (size_t i = 0; i < hosts->n; i += n) {
        for (n = 1; i + n < hosts->n && !run_hosts_apart(&hosts->v[i], &hosts->v[i + n]);)
            n++;
        places[used] = make_place(b, &hosts->v[i], n);
        used += places[used].n_tasks > 0;
    }
    if (used == 0)
        places[used++] =
            (struct engine_place){.n_tasks = to->n_tasks,
                                  .memory = memory_limit(b),
                                  .processes = machine_processes(b->s, cores_asked(b))};
    to->node = places[0].node;
    to->cpus = places[0].cpus;
    to->denied = places[0].denied;
    to->memory = places[0].memory;
    to->processes = places[0].processes;
    to->cores = places[0].cores;
    to->gpus = places[0].gpus;
    to->places = used > 1 ? places : NULL;
    to->n_places = used > 1 ? used : 0;
    return 0;
}

/* ---- Files ---- */

/* Expand "%a" in a path to the member's index; *path is NULL if there is no path. */
static int expand_path(struct starting *b, struct json_part s, const char **path)
{
    const char *pattern;
    struct strbuf text = {0};
    *path = NULL;
    if (json_part_keep(s, &b->arena, &pattern) < 0)
        return start_no_memory(b);
    if (!pattern)
        return 0;
    if (b->job->members == 1 || !strchr(pattern, '%')) {
        *path = pattern;
        return 0;
    }
    for (const char *at = pattern; *at; at++) {
        if (at[0] == '%' && at[1] == 'a') {
            strbuf_put_uint(&text, b->run->member);
            at++;
        } else {
            strbuf_putc(&text, *at);
        }
    }
    *path = arena_join(b, "", strbuf_text(&text));
    strbuf_clear(&text);
    return *path ? 0 : start_no_memory(b);
}

/* Output goes to the server's folder by default; where it serves all users, each has a folder below. */
static void make_folder(const struct starting *b)
{
    char path[PATH_MAX];
    if (b->s->platform.vfs || !b->s->options.for_all || !b->user || b->user->has_folder)
        return;
    int n = snprintf(path, sizeof(path), "%s/logs/%" PRIu32, b->s->directory, b->job->uid);
    bool made = n > 0 && n < PATH_MAX && mkdir(path, 0700) == 0;
    if (made && chown(path, b->job->uid, b->job->gid) < 0)
        rmdir(path);
    else
        b->user->has_folder = made || errno == EEXIST;
}

static const char *const *launch_argv(struct starting *b)
{
    const char **argv = NULL, *word;
    size_t n = 0;
    struct json_part item, none;
    struct json_scan list;
    for (json_scan_begin(&list, b->asked.command); json_scan_next(&list, &none, &item);)
        n++;
    argv = arena_alloc(&b->arena, (n + 1) * sizeof(*argv));
    json_scan_begin(&list, b->asked.command);
    for (n = 0; argv && json_scan_next(&list, &none, &item);) {
        if (json_part_keep(item, &b->arena, &word) < 0 || !word)
            return NULL;
        argv[n++] = word;
    }
    if (argv)
        argv[n] = NULL;
    return argv;
}

static void find_launch(const char *request, struct launch *asked)
{
    static const char *const keys[] = {"shown",      "tasks",        "task_cores", "task_gpus",
                                       "umask",      "memory_limit", "append",     "input",
                                       "batch",      "slurm",        "attach",     "attach_as",
                                       "nodes_least"},
                             *const shown_keys[] = {"command", "directory", "output", "error"};
    struct json_part v[13], w[4];
    json_find(json_part(request, strlen(request)), keys, 13, v);
    json_find(v[0], shown_keys, 4, w);
    *asked = (struct launch){v[0], v[1], v[2],  v[3],  v[4], v[5], v[6], v[7], v[12],
                             v[8], v[9], v[10], v[11], w[0], w[1], w[2], w[3], false};
}

/* What the members of a role have in place of the job's. */
static void find_launch_of_role(struct json_part role, struct launch *asked)
{
    static const char *const keys[] = {"tasks",        "task_cores", "task_gpus",
                                       "memory_limit", "batch",      "command"};
    struct json_part v[6];
    json_find(role, keys, 6, v);
    asked->tasks = v[0];
    asked->task_cores = v[1];
    asked->task_gpus = v[2];
    asked->memory_limit = v[3];
    asked->batch = v[4];
    asked->is_own = v[5].at != NULL;
    if (asked->is_own)
        asked->command = v[5];
}

/* Read the stored job; its texts are valid only until the store's next call. */
static int read_launch(struct starting *b, struct engine_run *to)
{
    struct store_job stored;
    struct job_parts parts;
    if (store_read_job(b->s->store, b->job->id, &stored, b->err) < 0)
        return -1;
    job_parts(stored.request, &parts);
    job_warning_read(&parts, b->run);
    find_launch(stored.request, &b->asked);
    if (b->role)
        find_launch_of_role(job_roles_part(parts.roles, (size_t)(b->role - b->job->roles->role)),
                            &b->asked);
    if (!b->asked.command.at)
        return errtext_set(b->err, EINVAL, "the stored request is malformed");
    if (default_env(b) < 0 || submitted_env(b, stored.environment) < 0)
        return -1;
    if (stored.script && !b->asked.is_own) {
        char *script = arena_alloc(&b->arena, stored.script_length + 1);
        if (!script)
            return start_no_memory(b);
        memcpy(script, stored.script, stored.script_length);
        script[stored.script_length] = '\0';
        to->script = script;
        to->script_length = stored.script_length;
    }
    return 0;
}

static int set_files(struct starting *b, struct engine_run *to)
{
    const struct launch *a = &b->asked;
    if (expand_path(b, a->directory, &to->directory) < 0 ||
        expand_path(b, a->input, &to->input) < 0 || expand_path(b, a->output, &to->output) < 0 ||
        expand_path(b, a->error, &to->error) < 0)
        return -1;
    to->append = a->append.length == 4 || b->m->attempts > 1; /* true */
    to->umask = (mode_t)json_part_whole(a->umask, 022);
    return to->directory && to->output
               ? 0
               : errtext_set(b->err, EINVAL, "the stored request is malformed");
}

/* Where its input or terminal comes from. */
static int set_attach(struct starting *b, struct engine_run *to)
{
    const char *as;
    if (json_part_keep(b->asked.attach, &b->arena, &to->attach) < 0 ||
        json_part_keep(b->asked.attach_as, &b->arena, &as) < 0)
        return start_no_memory(b);
    if (as)
        to->attach_as = as[0] == 't'   ? ENGINE_TERMINAL
                        : as[0] == 'k' ? ENGINE_KEYBOARD
                                       : ENGINE_INPUT;
    return 0;
}

static int set_user(struct starting *b, struct engine_run *to)
{
    to->as_user = b->s->options.for_all;
    to->uid = b->job->uid;
    to->gid = b->job->gid;
    if (!to->as_user)
        return 0;
    if (!b->user)
        return errtext_set(b->err, ENOENT, "user %s no longer exists", b->job->user);
    to->gid = b->user->gid;
    to->groups = b->user->gids;
    to->n_groups = b->user->n_gids;
    return 0;
}

static int build_run(struct starting *b, struct engine_run *to)
{
    if (read_launch(b, to) < 0 || describe_allocation(b) < 0)
        return -1;
    to->n_tasks = (size_t)json_part_whole(b->asked.tasks, 1);
    if (!b->asked.batch.at)
        to->n_tasks = (size_t)on_its_nodes(b, (int64_t)to->n_tasks);
    run_hosts_share(&b->hosts, to->n_tasks, (uint64_t)json_part_whole(b->asked.task_cores, 0));
    /* A batch script runs once, and starts its tasks itself. */
    size_t tasks = to->n_tasks;
    if (b->asked.batch.at)
        tasks = (size_t)on_its_nodes(b, json_part_whole(b->asked.batch, 1));
    if (berth_env(b, tasks) < 0 || (b->asked.slurm.at && slurm_variables(b, tasks) < 0) ||
        (b->job->gang.min > 0 &&
         gang_env_each(b->s, b->job, b->run->member, to->n_tasks, add_variable, b) < 0))
        return -1;
    to->env = b->env;
    to->argv = launch_argv(b);
    if (!to->argv)
        return start_no_memory(b);
    to->tasks = make_tasks(b, to->n_tasks);
    if (!to->tasks)
        return -1;
    if (hooks_make(b->s, b->job, b->env, &b->arena, to) < 0)
        return start_no_memory(b);
    if (make_places(b, to) < 0)
        return -1;
    int64_t limit = member_limit(b->job, b->m);
    to->limit = limit > 0 && limit < SCHED_UNLIMITED ? limit : 0;
    return set_files(b, to) < 0 || set_attach(b, to) < 0 ? -1 : set_user(b, to);
}

int run_start(server_t *s, struct run *run, berth_error_t *err)
{
    struct starting b = {.s = s,
                         .run = run,
                         .job = run->job,
                         .m = member_record(run->job, run->member),
                         .user = user_find(s, run->job->uid),
                         .role = job_role_of(run->job, run->member),
                         .err = err};
    struct engine_run to = {.key = run->key};
    int rc = build_run(&b, &to);
    if (rc == 0) {
        make_folder(&b);
        rc = s->platform.engine->ops->start(s->platform.engine, &to, err);
    }
    int saved = errno;
    arena_clear(&b.arena);
    run_hosts_clear(&b.hosts);
    free(b.env);
    errno = saved;
    return rc;
}
