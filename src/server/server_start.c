/* A run, as it is handed to the engine: command, environment, files, and which CPUs and GPUs. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/errtext.h"
#include "base/idset.h"
#include "server/job_text.h"
#include "server/server_priv.h"
#include "server/slice.h"

#define R_MAX 32768 /* bytes of R in the environment */

/* What a start is put together from. */
struct starting {
    server_t *s;
    struct run *run;
    struct job *job;
    struct member *m;
    struct user *user;
    struct arena arena;
    json_t *request, *environment;
    struct idset cores, gpus; /* of this machine, by their ids */
    const char *nodes, *r;
    bool one_node; /* all of it is on one */
    const char **env;
    size_t n_env, cap_env;
    berth_error_t *err;
};

static int no_memory(struct starting *b)
{
    return errtext_set(b->err, ENOMEM, "out of memory");
}

/* A text in the arena. NULL with ENOMEM. */
static char *format(struct starting *b, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static char *format(struct starting *b, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    char *text = NULL;
    int n = vasprintf(&text, form, args);
    va_end(args);
    char *kept = n >= 0 ? arena_alloc(&b->arena, (size_t)n + 1) : NULL;
    if (kept)
        memcpy(kept, text, (size_t)n + 1);
    if (n >= 0)
        free(text);
    return kept;
}

static int add_env(struct starting *b, const char *entry)
{
    if (!entry || server_room((void **)&b->env, &b->cap_env, b->n_env + 2, sizeof(*b->env)) < 0)
        return no_memory(b);
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

/* ---- What it was given ---- */

/* "node[0-3],node7" of R's list of nodes. */
static const char *node_list(struct starting *b, const json_t *list)
{
    const char *all = "";
    size_t i;
    json_t *name;
    json_array_foreach(list, i, name)
    {
        const char *text = json_string_value(name);
        all = text && all ? format(b, "%s%s%s", all, *all ? "," : "", text) : all;
    }
    return all;
}

static void put_ids(struct idset *set, const json_t *children, const char *type)
{
    struct idset more = {0};
    const char *ids = json_string_value(json_object_get(children, type));
    if (ids && idset_decode(&more, ids, strlen(ids), NULL) == 0)
        idset_unite(set, &more);
    idset_clear(&more);
}

/* Read R: nodes, and ids of cores and GPUs. */
static int read_r(struct starting *b)
{
    const char *text;
    size_t length;
    size_t i;
    json_t *lite;
    b->nodes = "";
    b->one_node = true;
    if (b->m->handle < 0)
        return 0;
    if (sched_write(b->s->sched, b->m->handle, "rv1_nosched", &text, &length) < 0)
        return errtext_set(b->err, errno, "what it got can't be told: %s", strerror(errno));
    if (length < R_MAX)
        b->r = format(b, "BERTH_R=%.*s", (int)length, text);
    json_t *r = json_loadb(text, length, 0, NULL);
    const json_t *execution = json_object_get(r, "execution");
    json_t *list = json_object_get(execution, "R_lite");
    b->nodes = node_list(b, json_object_get(execution, "nodelist"));
    b->one_node = json_array_size(list) <= 1;
    json_array_foreach(list, i, lite)
    {
        const json_t *children = json_object_get(lite, "children");
        const char *rank = json_string_value(json_object_get(lite, "rank"));
        b->one_node = b->one_node && rank && strspn(rank, "-0123456789") == strlen(rank);
        put_ids(&b->cores, children, "core");
        put_ids(&b->gpus, children, "gpu");
    }
    json_decref(r);
    return 0;
}

/* The ids from the first-th on, n of them, as a list with commas: of the system's CPUs for cores. NULL: not known. */
static const char *part_of(struct starting *b, const struct idset *set, uint64_t first, uint64_t n,
                           bool cores)
{
    struct strbuf text = {0};
    struct idset cpus = {0};
    uint64_t i = 0;
    bool known = true;
    for (uint32_t id = idset_first(set); id != IDSET_NONE && i < first + n;
         id = idset_next(set, id), i++) {
        if (i < first)
            continue;
        if (!cores) {
            strbuf_puts(&text, text.len ? "," : "");
            strbuf_put_uint(&text, id);
            continue;
        }
        const char *pus = b->s->world.cpus ? b->s->world.cpus(b->s->world.context, id) : NULL;
        struct idset more = {0};
        known = known && pus && idset_decode(&more, pus, strlen(pus), NULL) == 0 &&
                idset_unite(&cpus, &more) == 0;
        idset_clear(&more);
    }
    if (cores)
        idset_encode(&cpus, false, &text);
    const char *kept =
        known && (!cores || text.len > 0) ? format(b, "%s", strbuf_text(&text)) : NULL;
    strbuf_clear(&text);
    idset_clear(&cpus);
    return kept;
}

/* ---- Environment ---- */

static int usual_env(struct starting *b)
{
    const struct user *u = b->user;
    if (add_env(b, "PATH=/usr/local/bin:/usr/bin:/bin") < 0)
        return -1;
    if (!u)
        return 0;
    if (add_env(b, format(b, "HOME=%s", u->home)) < 0 ||
        add_env(b, format(b, "USER=%s", u->name)) < 0 ||
        add_env(b, format(b, "LOGNAME=%s", u->name)) < 0)
        return -1;
    return *u->shell ? add_env(b, format(b, "SHELL=%s", u->shell)) : 0;
}

static int submitted_env(struct starting *b)
{
    size_t i;
    json_t *entry;
    json_array_foreach(b->environment, i, entry)
    {
        const char *text = json_string_value(entry);
        if (text && add_env(b, text) < 0)
            return -1;
    }
    return 0;
}

static int berth_env(struct starting *b, size_t tasks)
{
    const struct job *job = b->job;
    if (add_env(b, format(b, "BERTH_JOB_ID=%" PRId64, job->id)) < 0 ||
        add_env(b, format(b, "BERTH_JOB_NAME=%s", job->name)) < 0 ||
        add_env(b, format(b, "BERTH_QUEUE=%s", job->queue)) < 0 ||
        add_env(b, format(b, "BERTH_TASKS=%zu", tasks)) < 0 ||
        add_env(b, format(b, "BERTH_NODES=%s", b->nodes)) < 0 ||
        add_env(b, format(b, "BERTH_ATTEMPT=%" PRIu32, b->m->attempts)) < 0)
        return -1;
    if (job->members > 1 &&
        (add_env(b, format(b, "BERTH_ARRAY_INDEX=%" PRIu32, b->run->member)) < 0 ||
         add_env(b, format(b, "BERTH_ARRAY_SIZE=%" PRIu32, job->members)) < 0))
        return -1;
    return b->r ? add_env(b, b->r) : 0;
}

/* ---- Tasks ---- */

static int64_t whole(const struct starting *b, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(b->request, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

/* A task has its part of the cores and GPUs where these can be shared out as asked for, else all of them. */
static int make_task(struct starting *b, struct engine_task *task, size_t i, size_t n)
{
    uint64_t cores = (uint64_t)whole(b, "task_cores", 0), gpus = (uint64_t)whole(b, "task_gpus", 0);
    bool own = cores > 0 && b->one_node && b->cores.count == cores * n;
    bool own_gpus = gpus > 0 && b->one_node && b->gpus.count == gpus * n;
    const char **env = arena_alloc(&b->arena, 5 * sizeof(*env));
    const char *devices =
        part_of(b, &b->gpus, own_gpus ? i * gpus : 0, own_gpus ? gpus : b->gpus.count, false);
    size_t used = 0;
    task->cpus =
        b->one_node ? part_of(b, &b->cores, own ? i * cores : 0, own ? cores : b->cores.count, true)
                    : NULL;
    if (!env || !devices)
        return no_memory(b);
    env[used++] = format(b, "BERTH_TASK_INDEX=%zu", i);
    env[used++] = format(b, "BERTH_CPUS=%s", task->cpus ? task->cpus : "");
    if (b->s->has_gpus) {
        env[used++] = format(b, "CUDA_VISIBLE_DEVICES=%s", devices);
        env[used++] = format(b, "ROCR_VISIBLE_DEVICES=%s", devices);
    }
    env[used] = NULL;
    for (size_t k = 0; k < used; k++)
        if (!env[k])
            return no_memory(b);
    task->env = env;
    return 0;
}

static const struct engine_task *make_tasks(struct starting *b, size_t n)
{
    struct engine_task *tasks = arena_alloc(&b->arena, n * sizeof(*tasks));
    if (!tasks)
        no_memory(b);
    for (size_t i = 0; tasks && i < n; i++)
        if (make_task(b, &tasks[i], i, n) < 0)
            return NULL;
    return tasks;
}

/* ---- Files ---- */

/* A path with "%a" for the member; NULL stays NULL. */
static const char *path_of(struct starting *b, const char *key)
{
    const char *pattern = json_string_value(json_object_get(b->request, key));
    struct strbuf path = {0};
    if (!pattern)
        pattern = json_string_value(json_object_get(json_object_get(b->request, "shown"), key));
    if (!pattern)
        return NULL;
    for (const char *at = pattern; *at; at++) {
        if (b->job->members > 1 && at[0] == '%' && at[1] == 'a') {
            strbuf_put_uint(&path, b->run->member);
            at++;
        } else {
            strbuf_putc(&path, *at);
        }
    }
    const char *kept = format(b, "%s", strbuf_text(&path));
    strbuf_clear(&path);
    return kept;
}

/* Where output goes by default is a folder of the server's, or in it one of the user's. */
static void make_folder(const struct starting *b)
{
    char path[PATH_MAX];
    if (b->s->world.vfs || !b->s->options.for_all)
        return;
    int n = snprintf(path, sizeof(path), "%s/logs/%" PRIu32, b->s->directory, b->job->uid);
    if (n > 0 && n < PATH_MAX && mkdir(path, 0700) == 0 &&
        chown(path, b->job->uid, b->job->gid) < 0)
        rmdir(path);
}

static const char *const *command(struct starting *b)
{
    json_t *words = json_object_get(json_object_get(b->request, "shown"), "command");
    size_t n = json_array_size(words);
    const char **argv = arena_alloc(&b->arena, (n + 2) * sizeof(*argv));
    if (!argv)
        return NULL;
    for (size_t i = 0; i < n; i++)
        argv[i] = json_string_value(json_array_get(words, i));
    argv[n] = NULL;
    return argv;
}

/* Read what the store has of the job; its texts are only valid until it is asked again. */
static int read_job(struct starting *b, struct engine_run *to)
{
    struct store_job stored;
    if (store_read_job(b->s->store, b->job->id, &stored, b->err) < 0)
        return -1;
    size_t length = strlen(stored.request);
    struct job_parts parts;
    job_parts(stored.request, &parts);
    job_warning_read(&parts, b->run);
    b->request = json_loadb(stored.request, length, 0, NULL);
    b->environment = json_loads(stored.environment ? stored.environment : "[]", 0, NULL);
    if (!b->request || !b->environment)
        return errtext_set(b->err, EINVAL, "what the store has of it can't be read");
    if (stored.script) {
        char *script = arena_alloc(&b->arena, stored.script_length + 1);
        if (!script)
            return no_memory(b);
        memcpy(script, stored.script, stored.script_length);
        script[stored.script_length] = '\0';
        to->script = script;
        to->script_length = stored.script_length;
    }
    return 0;
}

static int build(struct starting *b, struct engine_run *to)
{
    if (read_job(b, to) < 0 || read_r(b) < 0)
        return -1;
    to->n_tasks = (size_t)whole(b, "tasks", 1);
    if (usual_env(b) < 0 || submitted_env(b) < 0 || berth_env(b, to->n_tasks) < 0)
        return -1;
    to->argv = command(b);
    to->env = b->env;
    to->tasks = make_tasks(b, to->n_tasks);
    if (!to->tasks)
        return -1;
    to->cpus = b->one_node ? part_of(b, &b->cores, 0, b->cores.count, true) : NULL;
    to->directory = path_of(b, "directory");
    to->input = path_of(b, "input");
    to->output = path_of(b, "output");
    to->error = path_of(b, "error");
    to->append = json_is_true(json_object_get(b->request, "append")) || b->m->attempts > 1;
    to->umask = (mode_t)whole(b, "umask", 022);
    to->memory = whole(b, "memory_limit", 0);
    to->as_user = b->s->options.for_all;
    to->uid = b->job->uid;
    to->gid = b->job->gid;
    if (!to->argv || !to->directory || !to->output)
        return no_memory(b);
    if (to->as_user) {
        if (!b->user)
            return errtext_set(b->err, ENOENT, "user %s is not known any more", b->job->user);
        to->gid = b->user->gid;
        to->groups = b->user->gids;
        to->n_groups = b->user->n_gids;
    }
    return 0;
}

int run_start(server_t *s, struct run *run, berth_error_t *err)
{
    struct starting b = {.s = s,
                         .run = run,
                         .job = run->job,
                         .m = &run->job->member[run->member],
                         .user = user_find(s, run->job->uid),
                         .err = err};
    struct engine_run to = {.key = run->key};
    int rc = build(&b, &to);
    if (rc == 0) {
        make_folder(&b);
        rc = s->world.engine->ops->start(s->world.engine, &to, err);
    }
    int saved = errno;
    arena_clear(&b.arena);
    json_decref(b.request);
    json_decref(b.environment);
    idset_clear(&b.cores);
    idset_clear(&b.gpus);
    free(b.env);
    errno = saved;
    return rc;
}
