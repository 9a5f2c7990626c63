/* The environment of a run. */
#include <string.h>

#include "base/array.h"
#include "server/core/gang_env.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/slurm_env.h"
#include "server/core/start_priv.h"

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

static int default_env(struct starting *b)
{
    const struct user *u = b->user;
    if (add_env(b, "PATH=/usr/local/bin:/usr/bin:/bin") < 0)
        return -1;
    if (!u)
        return 0;
    if (add_env(b, start_join(b, "HOME=", u->home)) < 0 ||
        add_env(b, start_join(b, "USER=", u->name)) < 0 ||
        add_env(b, start_join(b, "LOGNAME=", u->name)) < 0)
        return -1;
    return *u->shell ? add_env(b, start_join(b, "SHELL=", u->shell)) : 0;
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
    return add_env(b, start_join_number(b, name, n));
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
    int64_t memory = start_memory_limit(b), end = end_time(b);
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
        add_env(b, start_join(b, "BERTH_JOB_NAME=", job->name)) < 0 ||
        add_env(b, start_join(b, "BERTH_QUEUE=", job->queue)) < 0 ||
        add_number(b, "BERTH_TASKS=", tasks) < 0 ||
        add_env(b, start_join(b, "BERTH_NODES=", b->nodes)) < 0 ||
        add_number(b, "BERTH_ATTEMPT=", b->m->attempts) < 0)
        return -1;
    if (job->members > 1 && (add_number(b, "BERTH_ARRAY_INDEX=", b->run->member) < 0 ||
                             add_number(b, "BERTH_ARRAY_SIZE=", member_count(job)) < 0))
        return -1;
    int64_t gangs = json_part_whole(b->asked.gang_count, 0);
    if (gangs > 0 &&
        (add_number(b, "BERTH_GANG_INDEX=", (uint64_t)json_part_whole(b->asked.gang_index, 0)) <
             0 ||
         add_number(b, "BERTH_GANG_COUNT=", (uint64_t)gangs) < 0))
        return -1;
    if (b->asked.batch.at && add_number(b, "BERTH_BATCH=", tasks) < 0)
        return -1;
    return b->r && add_env(b, b->r) < 0 ? -1 : amounts_env(b);
}

static int add_variable(void *context, const char *name, const char *value)
{
    struct starting *b = context;
    char *text = start_join(b, "", name);
    return add_env(b, start_join(b, start_join(b, text, "="), value));
}

/* The numbers of the GPUs on its first node, "0,1". NULL with ENOMEM. */
static const char *gpus_of_first(struct starting *b)
{
    const struct idset *gpus = b->hosts.n > 0 ? &b->hosts.v[0].gpus : NULL;
    struct strbuf text = {0};
    for (uint32_t id = gpus ? idset_first(gpus) : IDSET_NONE; id != IDSET_NONE;
         id = idset_next(gpus, id)) {
        strbuf_puts(&text, text.len ? "," : "");
        strbuf_put_uint(&text, id);
    }
    const char *list = text.failed ? NULL : start_join(b, "", strbuf_text(&text));
    strbuf_clear(&text);
    return list;
}

static int slurm_variables(struct starting *b, size_t tasks)
{
    const struct job *job = b->job;
    const struct idset *indices = &job->indices;
    bool some = indices->n > 0;
    const char *account, *gpus = gpus_of_first(b);
    if (json_part_keep(b->asked.account, &b->arena, &account) < 0 || !gpus)
        return start_no_memory(b);
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
        .account = account,
        .gpu_list = gpus,
        .uid = job->uid,
        .gid = job->gid,
        .nodes = b->nodes,
        .first_node = b->first_node,
        .n_nodes = b->n_nodes,
        .tasks = tasks,
        .cores_per_task = b->hosts.cores > tasks ? b->hosts.cores / tasks : 1,
        .cores = b->hosts.cores,
        .gpus = b->hosts.gpus,
        .memory = start_memory_limit(b),
        .start = b->s->clock.wall / SERVER_SECOND,
        .end = end_time(b),
    };
    return slurm_env_each(&e, add_variable, b);
}

int start_env_submitted(struct starting *b, const char *environment)
{
    return default_env(b) < 0 ? -1 : submitted_env(b, environment);
}

int start_env_of_job(struct starting *b, size_t tasks, size_t processes)
{
    if (berth_env(b, tasks) < 0 || (b->asked.slurm.at && slurm_variables(b, tasks) < 0))
        return -1;
    return b->job->gang.min > 0
               ? gang_env_each(b->s, b->job, b->run->member, processes, add_variable, b)
               : 0;
}
