#include "server/api/machine_sum.h"

#include <string.h>

#include "berth/sched_query.h"
#include "jobspec/short.h"
#include "resource/graph.h"
#include "server/core/members.h"
#include "server/core/pilots.h"

struct machine_sum machine_sum(const match_t *machine)
{
    const struct graph *g = match_graph(machine);
    struct machine_sum sum = {0};
    for (uint32_t i = 0; i < g->n; i++) {
        const struct vertex *v = &g->v[i];
        if (v->gone || graph_is_spare(g, i))
            continue;
        sum.nodes += v->type == TYPE_NODE;
        sum.cores += v->type == TYPE_CORE;
        sum.gpus += v->type == TYPE_GPU;
        if (strcmp(intern_text(&g->types, v->type), "memory") == 0)
            sum.memory += v->size;
        if (strcmp(intern_text(&g->types, v->type), "gpu-memory") == 0)
            sum.gpu_memory += v->size;
    }
    return sum;
}

static bool holds(const struct run *run)
{
    return run && run->key && member_is_live(member_record(run->job, run->member));
}

/* What running jobs hold of a type. */
static int64_t sum_held(const server_t *s, const char *type)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->runs.n; i++) {
        const struct run *run = s->runs.v[i];
        int64_t held =
            holds(run) ? sched_amount(s->sched, member_record(run->job, run->member)->handle, type)
                       : 0;
        sum += held > 0 ? held : 0;
    }
    return sum;
}

int64_t machine_sum_licenses(const server_t *s, const char *name)
{
    char type[SHORT_LICENSE_TYPE_SIZE];
    short_license_type(name, type);
    return sum_held(s, type);
}

struct machine_sum machine_sum_used(const server_t *s)
{
    struct machine_sum sum = {.gpu_memory =
                                  s->size.gpu_memory_unit > 0 ? sum_held(s, "gpu-memory") : 0};
    for (size_t i = 0; i < s->runs.n; i++) {
        const struct run *run = s->runs.v[i];
        if (!holds(run))
            continue;
        sum.cores += run->holds.cores > 0 ? run->holds.cores : 0;
        sum.gpus += run->holds.gpus > 0 ? run->holds.gpus : 0;
    }
    return sum;
}
