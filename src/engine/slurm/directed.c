/* What is asked of Slurm for a run, as bytes. */
#include "engine/slurm/directed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/local/wire.h"

/* The name of a node by its id. */
static const char *name_of_node_id(const char *id)
{
    size_t n = sizeof(DIRECTED_ID) - 1;
    return id && strncmp(id, DIRECTED_ID, n) == 0 ? id + n : "";
}

static const char *value_in_environment(const struct engine_run *run, const char *name)
{
    size_t n = strlen(name);
    for (const char *const *e = run->env; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return "";
}

static uint32_t at_least_one(uint32_t n)
{
    return n > 0 ? n : 1;
}

static void put_place(struct strbuf *to, const struct engine_place *place)
{
    wire_put_string(to, name_of_node_id(place->node));
    wire_put_u32(to, place->cores);
    wire_put_u32(to, place->gpus);
}

void directed_put(struct strbuf *to, const struct engine_run *run)
{
    const struct engine_place one = {.node = run->node,
                                     .n_tasks = run->n_tasks,
                                     .memory = run->memory,
                                     .cores = run->cores,
                                     .gpus = run->gpus};
    const struct engine_place *places = run->places ? run->places : &one;
    size_t n = run->places ? run->n_places : 1;
    struct engine_place most = {0};
    char label[80];
    for (size_t i = 0; i < n; i++) {
        const struct engine_place *p = &places[i];
        most.n_tasks = p->n_tasks > most.n_tasks ? p->n_tasks : most.n_tasks;
        most.memory = p->memory > most.memory ? p->memory : most.memory;
        most.cores = p->cores > most.cores ? p->cores : most.cores;
        most.gpus = p->gpus > most.gpus ? p->gpus : most.gpus;
    }
    snprintf(label, sizeof(label), "job %.40s", value_in_environment(run, "BERTH_JOB_ID"));
    wire_put_u32(to, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        put_place(to, &places[i]);
    wire_put_u32(to, at_least_one((uint32_t)most.n_tasks));
    wire_put_u32(to, at_least_one(most.cores));
    wire_put_u32(to, most.gpus);
    wire_put_u64(to, (uint64_t)most.memory);
    wire_put_u64(to, (uint64_t)run->limit);
    wire_put_u8(to, run->as_user);
    wire_put_u32(to, (uint32_t)run->uid);
    wire_put_u32(to, (uint32_t)run->gid);
    wire_put_string(to, label);
}

static void read_directed(struct wire *w, struct directed *d)
{
    for (size_t i = 0; i < d->n_places; i++) {
        struct directed_place *p = &d->places[i];
        p->node = wire_string(w);
        p->cores = wire_u32(w);
        p->gpus = wire_u32(w);
        if (!p->node || !*p->node || strpbrk(p->node, "/,' \n"))
            w->bad = true;
    }
    d->tasks = wire_u32(w);
    d->cores = wire_u32(w);
    d->gpus = wire_u32(w);
    d->memory = (int64_t)wire_u64(w);
    d->limit = (int64_t)wire_u64(w);
    d->as_user = wire_u8(w) != 0;
    d->uid = wire_u32(w);
    d->gid = wire_u32(w);
    d->label = wire_string(w);
}

int directed_read(struct directed *d, struct strbuf *bytes)
{
    *d = (struct directed){.bytes = *bytes};
    *bytes = (struct strbuf){0};
    struct wire w = {.at = d->bytes.data, .left = d->bytes.len};
    d->n_places = wire_count(&w, 13);
    if (d->n_places == 0 || d->n_places > DIRECTED_PLACES_MOST) {
        errno = EPROTO;
        return -1;
    }
    d->places = calloc(d->n_places, sizeof(*d->places));
    if (!d->places)
        return -1;
    read_directed(&w, d);
    if (!w.bad && w.left == 0 && d->label && d->tasks > 0 && d->cores > 0 && d->memory >= 0 &&
        d->limit >= 0)
        return 0;
    errno = EPROTO;
    return -1;
}

bool directed_ends(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
           signal == SIGQUIT || signal == SIGABRT;
}

void directed_clear(struct directed *d)
{
    int saved = errno;
    free(d->places);
    strbuf_clear(&d->bytes);
    *d = (struct directed){0};
    errno = saved;
}
