#include "server/api/machine_sum.h"

#include <string.h>

#include "resource/graph.h"
#include "server/core/priv.h"

struct machine_sum machine_sum(const match_t *machine)
{
    const struct graph *g = match_graph(machine);
    struct machine_sum sum = {0};
    for (uint32_t i = 0; i < g->n; i++) {
        const struct vertex *v = &g->v[i];
        if (v->gone)
            continue;
        sum.nodes += v->type == TYPE_NODE;
        sum.cores += v->type == TYPE_CORE;
        sum.gpus += v->type == TYPE_GPU;
        if (strcmp(intern_text(&g->types, v->type), "memory") == 0)
            sum.memory += v->size;
    }
    return sum;
}

struct machine_sum machine_sum_used(const server_t *s)
{
    struct machine_sum sum = {0};
    for (size_t i = 0; i < s->runs.n; i++) {
        const struct run *run = s->runs.v[i];
        if (!run || !run->key || !member_is_live(member_record(run->job, run->member)))
            continue;
        sum.cores += run->holds.cores > 0 ? run->holds.cores : 0;
        sum.gpus += run->holds.gpus > 0 ? run->holds.gpus : 0;
    }
    return sum;
}
