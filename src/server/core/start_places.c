/* What each task of a run has, and each machine on which it runs. */
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"
#include "server/core/entry.h"
#include "server/core/gang_env.h"
#include "server/core/job_text.h"
#include "server/core/machine.h"
#include "server/core/roles.h"
#include "server/core/start_priv.h"

enum { TASK_ENV = 15 }; /* variables of a task, and the end */

/* The system's CPUs of n cores of a host, from the first-th on. NULL: unknown, as they are on hosts that are
 * imagined on this machine.
 */
static const char *cpu_list(struct starting *b, const struct run_host *host, uint64_t first,
                            uint64_t n)
{
    struct strbuf text = {0};
    bool imagined = host && !host->node && b->hosts.n > 1 && !b->hosts.v[1].node;
    bool known = host && !imagined && run_host_cpus(b->s, host, first, n, &text);
    const char *kept = known ? start_join(b, "", strbuf_text(&text)) : NULL;
    strbuf_clear(&text);
    return kept;
}

/* n GPUs of a host. *vendor becomes whose they are; NULL: unknown. NULL with ENOMEM. */
static const char *gpu_list(struct starting *b, const struct run_host *host, uint64_t first,
                            uint64_t n, const char **vendor)
{
    struct strbuf text = {0};
    *vendor = host ? run_host_gpus(b->s, host, first, n, &text) : NULL;
    const char *kept = start_join(b, "", strbuf_text(&text));
    strbuf_clear(&text);
    return kept;
}

/* The devices of GPUs that it does not hold; NULL: there are none, or they are on another machine. */
static const char *denied_devices(struct starting *b, const struct run_host *host, size_t n)
{
    struct strbuf text = {0};
    if (!host->node)
        run_hosts_denied(b->s, host, n, &text);
    const char *kept = text.len > 0 ? start_join(b, "", strbuf_text(&text)) : NULL;
    strbuf_clear(&text);
    return kept;
}

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

/* How much of each GPU a task may use, for itself and, in its words, for NVIDIA's MPS: that keeps a process within it. */
static size_t put_gpu_memory(struct starting *b, const struct run_host *host, const char *devices,
                             const char *vendor, const char **env)
{
    struct strbuf text = {0};
    size_t used = 0;
    if (!host || host->gpu_memory == 0 || !*devices)
        return 0;
    env[used++] = start_join_number(b, "BERTH_GPU_MEMORY=", (uint64_t)host->gpu_memory);
    if (vendor && strcmp(vendor, "nvidia") != 0)
        return used;
    for (int64_t i = 0; devices; i++) {
        strbuf_puts(&text, i > 0 ? "," : "");
        strbuf_put_int(&text, i);
        strbuf_putc(&text, '=');
        strbuf_put_int(&text, host->gpu_memory);
        strbuf_putc(&text, 'M');
        devices = strchr(devices, ',');
        devices = devices ? devices + 1 : NULL;
    }
    env[used++] =
        text.failed ? NULL : start_join(b, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=", strbuf_text(&text));
    strbuf_clear(&text);
    return used;
}

static int make_task(struct starting *b, struct engine_task *task, size_t i)
{
    const char **env = arena_alloc(&b->arena, TASK_ENV * sizeof(*env));
    const struct run_host *host = run_hosts_of(&b->hosts, i);
    const char *vendor = NULL, *devices = NULL;
    size_t used = 0, at = i - (host ? host->first : 0);
    if (!env || give_task(b, task, host, i, &vendor, &devices) < 0)
        return start_no_memory(b);
    env[used++] = start_join_number(b, "BERTH_TASK_INDEX=", i);
    env[used++] = start_join(b, "BERTH_CPUS=", task->cpus ? task->cpus : "");
    if (host)
        env[used++] = start_join(b, "BERTH_NODE=", host->name);
    if (host && *entry_text(host->node, "job"))
        env[used++] = start_join(b, "BERTH_SLURM_JOB=", entry_text(host->node, "job"));
    if (b->s->size.has_gpus && (!vendor || strcmp(vendor, "nvidia") == 0))
        env[used++] = start_join(b, "CUDA_VISIBLE_DEVICES=", devices);
    if (b->s->size.has_gpus && (!vendor || strcmp(vendor, "amd") == 0))
        env[used++] = start_join(b, "ROCR_VISIBLE_DEVICES=", devices);
    used += put_gpu_memory(b, host, devices, vendor, &env[used]);
    if (b->asked.slurm.at) {
        env[used++] = start_join_number(b, "SLURM_PROCID=", i);
        env[used++] = start_join_number(b, "SLURM_LOCALID=", at);
        env[used++] =
            start_join_number(b, "SLURM_NODEID=", host ? (uint64_t)(host - b->hosts.v) : 0);
        env[used++] = start_join(b, "SLURMD_NODENAME=", host ? host->name : "");
    }
    if (b->job->gang.min > 0) {
        env[used++] = start_join_number(b, "RANK=", b->first_rank + i);
        env[used++] = start_join_number(b, "LOCAL_RANK=", at);
    }
    env[used] = NULL;
    for (size_t k = 0; k < used; k++)
        if (!env[k])
            return start_no_memory(b);
    task->env = env;
    return 0;
}

int start_tasks(struct starting *b, struct engine_run *to)
{
    size_t n = to->n_tasks;
    struct engine_task *tasks = arena_alloc(&b->arena, n * sizeof(*tasks));
    b->first_rank = b->job->gang.min > 0 ? gang_rank(b->job, b->run->member, n).tasks : 0;
    if (!tasks)
        return start_no_memory(b);
    for (size_t i = 0; i < n; i++)
        if (make_task(b, &tasks[i], i) < 0)
            return -1;
    to->tasks = tasks;
    return 0;
}

static int64_t cores_asked(const struct starting *b)
{
    return b->role ? b->role->cores : b->job->cores;
}

/* What it has on one machine: that of some hosts that follow one another. */
static struct engine_place make_place(struct starting *b, const struct run_host *host, size_t n)
{
    int64_t memory = start_memory_limit(b);
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

int start_places(struct starting *b, struct engine_run *to)
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
                                  .memory = start_memory_limit(b),
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
