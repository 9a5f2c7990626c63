#include "server/core/slurm_env.h"

#include <inttypes.h>
#include <stdio.h>

struct adding {
    int (*add)(void *context, const char *name, const char *value);
    void *context;
    int rc;
};

static void put_variable(struct adding *a, const char *name, const char *value)
{
    if (a->rc == 0)
        a->rc = a->add(a->context, name, value);
}

static void put_number_variable(struct adding *a, const char *name, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, n);
    put_variable(a, name, text);
}

/* "4", or of several nodes "4(x2)"; where it does not divide, the first have more: "3(x1),2(x2)". */
static void put_by_node(struct adding *a, const char *name, uint64_t n, uint64_t nodes)
{
    char text[80];
    uint64_t each = n / nodes, more = n % nodes;
    if (nodes == 1)
        snprintf(text, sizeof(text), "%" PRIu64, n);
    else if (more == 0)
        snprintf(text, sizeof(text), "%" PRIu64 "(x%" PRIu64 ")", each, nodes);
    else
        snprintf(text, sizeof(text), "%" PRIu64 "(x%" PRIu64 "),%" PRIu64 "(x%" PRIu64 ")",
                 each + 1, more, each, nodes - more);
    put_variable(a, name, text);
}

static void put_array(struct adding *a, const struct slurm_env *e)
{
    put_number_variable(a, "SLURM_ARRAY_JOB_ID", (uint64_t)e->id);
    put_number_variable(a, "SLURM_ARRAY_TASK_ID", e->member);
    put_number_variable(a, "SLURM_ARRAY_TASK_COUNT", e->members);
    put_number_variable(a, "SLURM_ARRAY_TASK_MIN", e->first);
    put_number_variable(a, "SLURM_ARRAY_TASK_MAX", e->last);
}

/* Where it runs: on the first node. */
static void put_place(struct adding *a, const struct slurm_env *e)
{
    put_variable(a, "SLURM_JOB_NODELIST", e->nodes);
    put_variable(a, "SLURM_NODELIST", e->nodes);
    put_variable(a, "SLURMD_NODENAME", e->first_node);
    put_number_variable(a, "SLURM_JOB_NUM_NODES", e->n_nodes);
    put_number_variable(a, "SLURM_NNODES", e->n_nodes);
    put_number_variable(a, "SLURM_NODEID", 0);
}

int slurm_env_each(const struct slurm_env *e,
                   int (*add)(void *context, const char *name, const char *value), void *context)
{
    struct adding a = {.add = add, .context = context};
    put_number_variable(&a, "SLURM_JOB_ID", (uint64_t)e->id);
    put_number_variable(&a, "SLURM_JOBID", (uint64_t)e->id);
    put_variable(&a, "SLURM_JOB_NAME", e->name);
    put_variable(&a, "SLURM_JOB_PARTITION", e->queue);
    put_variable(&a, "SLURM_JOB_USER", e->user);
    put_number_variable(&a, "SLURM_JOB_UID", e->uid);
    put_number_variable(&a, "SLURM_JOB_GID", e->gid);
    if (e->account)
        put_variable(&a, "SLURM_JOB_ACCOUNT", e->account);
    put_variable(&a, "SLURM_CLUSTER_NAME", "berth");
    if (e->array)
        put_array(&a, e);
    put_place(&a, e);
    put_number_variable(&a, "SLURM_NTASKS", e->tasks);
    put_number_variable(&a, "SLURM_NPROCS", e->tasks);
    put_by_node(&a, "SLURM_TASKS_PER_NODE", e->tasks, e->n_nodes);
    put_number_variable(&a, "SLURM_CPUS_PER_TASK", e->cores_per_task);
    put_number_variable(&a, "SLURM_CPUS_ON_NODE", e->cores / e->n_nodes);
    put_by_node(&a, "SLURM_JOB_CPUS_PER_NODE", e->cores, e->n_nodes);
    if (e->gpus > 0) {
        put_number_variable(&a, "SLURM_GPUS", e->gpus);
        put_number_variable(&a, "SLURM_GPUS_ON_NODE", e->gpus / e->n_nodes);
        put_variable(&a, "SLURM_JOB_GPUS", e->gpu_list);
    }
    if (e->memory > 0)
        put_number_variable(&a, "SLURM_MEM_PER_NODE", (uint64_t)e->memory / e->n_nodes >> 20);
    put_number_variable(&a, "SLURM_JOB_START_TIME", (uint64_t)e->start);
    if (e->end > 0)
        put_number_variable(&a, "SLURM_JOB_END_TIME", (uint64_t)e->end);
    if (e->attempts > 1)
        put_number_variable(&a, "SLURM_RESTART_COUNT", (uint64_t)e->attempts - 1);
    return a.rc;
}
