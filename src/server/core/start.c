/* Starting a run: what the engine is asked for. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/idset.h"
#include "berth/sched_query.h"
#include "server/core/hooks.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/roles.h"
#include "server/core/start_priv.h"
#include "server/core/users.h"

enum { R_MAX = 32768 }; /* a longer R is left out of the environment */

int start_no_memory(struct starting *b)
{
    return errtext_no_memory(b->err);
}

static char *start_join_n(struct starting *b, const char *first, const char *second, size_t n)
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

char *start_join(struct starting *b, const char *first, const char *second)
{
    return start_join_n(b, first, second, strlen(second));
}

char *start_join_number(struct starting *b, const char *first, uint64_t number)
{
    char digits[STRBUF_NUMBER_MAX + 1];
    return start_join_n(b, first, digits, strbuf_decimal(digits, number));
}

/* What was asked for on the least of a range of nodes, on as many as it has. */
static int64_t start_on_its_nodes(const struct starting *b, int64_t asked)
{
    int64_t least = json_part_whole(b->asked.nodes_least, 0), has = (int64_t)b->hosts.n;
    return least > 0 && has > least ? (asked / least + (asked % least > 0)) * has : asked;
}

int64_t start_memory_limit(const struct starting *b)
{
    return start_on_its_nodes(b, json_part_whole(b->asked.memory_limit, 0));
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
        b->nodes = text.failed ? NULL : start_join(b, "", strbuf_text(&text));
        b->first_node = a->n_hosts ? start_join(b, "", a->hosts[0].name) : "";
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
        b->r = start_join_n(b, "BERTH_R=", text, length);
    return length < R_MAX && !b->r ? start_no_memory(b) : 0;
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
    *path = start_join(b, "", strbuf_text(&text));
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
    static const char *const keys[] = {"shown",       "tasks",        "task_cores", "task_gpus",
                                       "umask",       "memory_limit", "append",     "input",
                                       "batch",       "slurm",        "attach",     "attach_as",
                                       "nodes_least", "account"},
                             *const shown_keys[] = {"command", "directory",  "output",
                                                    "error",   "gang_index", "gang_count"};
    struct json_part v[14], w[6];
    json_find(json_part(request, strlen(request)), keys, 14, v);
    json_find(v[0], shown_keys, 6, w);
    *asked = (struct launch){v[0],  v[1],  v[2],  v[3], v[4], v[5], v[6], v[7], v[12], v[8], v[9],
                             v[10], v[11], v[13], w[0], w[1], w[2], w[3], w[4], w[5],  false};
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
    if (start_env_submitted(b, stored.environment) < 0)
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
        to->n_tasks = (size_t)start_on_its_nodes(b, (int64_t)to->n_tasks);
    run_hosts_share(&b->hosts, to->n_tasks, (uint64_t)json_part_whole(b->asked.task_cores, 0));
    /* A batch script runs once, and starts its tasks itself. */
    size_t tasks = to->n_tasks;
    if (b->asked.batch.at)
        tasks = (size_t)start_on_its_nodes(b, json_part_whole(b->asked.batch, 1));
    if (start_env_of_job(b, tasks, to->n_tasks) < 0)
        return -1;
    to->env = b->env;
    to->argv = launch_argv(b);
    if (!to->argv)
        return start_no_memory(b);
    if (start_tasks(b, to) < 0)
        return -1;
    if (hooks_make(b->s, b->job, b->env, &b->arena, to) < 0)
        return start_no_memory(b);
    if (start_places(b, to) < 0)
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
