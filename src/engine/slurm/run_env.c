/* What the tasks of a directed run have in their environment on a node. */
#include "engine/slurm/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What Slurm says of the job goes along; what it says of the step or task that this program is does not. */
static bool is_of_job(const char *entry)
{
    static const char *const names[] = {"SLURM_JOB",
                                        "SLURM_NNODES=",
                                        "SLURM_NODELIST=",
                                        "SLURM_NTASKS=",
                                        "SLURM_NTASKS_PER",
                                        "SLURM_NPROCS=",
                                        "SLURM_TASKS_PER",
                                        "SLURM_CPUS_PER",
                                        "SLURM_CPUS_ON",
                                        "SLURM_CLUSTER_NAME=",
                                        "SLURM_CONF=",
                                        "SLURM_MEM_PER",
                                        "SLURM_SUBMIT",
                                        "SLURMD_NODENAME=",
                                        "SLURM_GPUS",
                                        "CUDA_VISIBLE_DEVICES=",
                                        "ROCR_VISIBLE_DEVICES=",
                                        "ZE_AFFINITY_MASK=",
                                        "GPU_DEVICE_ORDINAL="};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_variable_set(char *const *env, size_t n, const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(env[i], entry, length) == 0)
            return true;
    return false;
}

/* That of the request, but for what Slurm knows better. */
int run_make_env(struct node_run *r)
{
    extern char **environ;
    size_t n = 0, most = 1;
    for (char **e = environ; *e; e++)
        most++;
    for (const char *const *e = r->request.run.env; *e; e++)
        most++;
    r->env = calloc(most, sizeof(*r->env));
    if (!r->env)
        return -1;
    for (char **e = environ; *e; e++)
        if (is_of_job(*e))
            r->env[n++] = *e;
    size_t own = n;
    for (const char *const *e = r->request.run.env; *e; e++)
        if (!is_variable_set(r->env, own, *e))
            r->env[n++] = (char *)(uintptr_t)*e;
    r->request.run.env = (const char *const *)r->env;
    return 0;
}

/* The i-th entry of a list. */
static const char *entry_in_list(const char *list, unsigned long i, size_t *n)
{
    for (; list && *list; list += *n + (list[*n] == ',')) {
        *n = strcspn(list, ",");
        if (i-- == 0)
            return list;
    }
    return NULL;
}

/* "CUDA_VISIBLE_DEVICES=0,2" of a task says which of the GPUs of the run it has; what those are called here Slurm
 * says. NULL: it has none of this kind, or memory is short.
 */
static char *name_gpus(const char *entry)
{
    struct strbuf b = {0};
    char name[64];
    size_t length = strcspn(entry, "="), n;
    snprintf(name, sizeof(name), "%.*s", (int)length, entry);
    const char *here = getenv(name);
    strbuf_put(&b, entry, length + 1);
    for (const char *at = entry + length + 1; here && *at;) {
        char *end;
        const char *device = entry_in_list(here, strtoul(at, &end, 10), &n);
        if (device && b.len > length + 1)
            strbuf_putc(&b, ',');
        if (device)
            strbuf_put(&b, device, n);
        at = end + (*end == ',');
        if (*end && *end != ',')
            break;
    }
    char *text = here ? strbuf_steal(&b) : NULL;
    strbuf_clear(&b);
    return text;
}

static bool names_gpus(const char *entry)
{
    return strncmp(entry, "CUDA_VISIBLE_DEVICES=", 21) == 0 ||
           strncmp(entry, "ROCR_VISIBLE_DEVICES=", 21) == 0;
}

int run_make_tasks(struct node_run *r)
{
    struct engine_run *run = &r->request.run;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < run->n_tasks; i++)
        for (const char *const *e = run->tasks[i].env; e && (total++, *e); e++)
            ;
    r->tasks = calloc(run->n_tasks, sizeof(*r->tasks));
    r->tasks_env = calloc(total + 1, sizeof(*r->tasks_env));
    if (!r->tasks || !r->tasks_env)
        return -1;
    for (size_t i = 0; i < run->n_tasks; i++) {
        r->tasks[i].env = (const char *const *)&r->tasks_env[at];
        for (const char *const *e = run->tasks[i].env; e && *e; e++) {
            char *text = names_gpus(*e) ? name_gpus(*e) : (char *)(uintptr_t)*e;
            if (text)
                r->tasks_env[at++] = text;
        }
        r->tasks_env[at++] = NULL;
    }
    run->tasks = r->tasks;
    return 0;
}
