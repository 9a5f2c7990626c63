#include "server/core/run_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/pilots.h"

static int add_ranges(struct idset *set, const struct resource_range *range, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (idset_add_range(set, range[i].first, range[i].last) < 0)
            return -1;
    return 0;
}

/* Hosts that are imagined on this machine are one place where tasks run: keep them together, where the first is. */
static void join_own(struct run_hosts *hosts)
{
    size_t end = 0; /* behind those that are together */
    for (size_t i = 0; i < hosts->n; i++) {
        struct run_host own = hosts->v[i];
        if (own.node)
            continue;
        if (end > 0 && end < i) {
            memmove(&hosts->v[end + 1], &hosts->v[end], (i - end) * sizeof(own));
            hosts->v[end++] = own;
        } else {
            end = i + 1;
        }
    }
}

int run_hosts_read(server_t *s, const struct sched_allocation *a, struct run_hosts *hosts)
{
    hosts->v = calloc(a->n_hosts + 1, sizeof(*hosts->v));
    for (size_t i = 0; hosts->v && i < a->n_hosts; i++) {
        const struct resource_host *from = &a->hosts[i];
        struct run_host *h = &hosts->v[hosts->n++];
        h->name = strdup(from->name);
        h->node = pilots_node_named(s, from->name);
        h->rank = from->rank;
        if (!h->name || add_ranges(&h->cores, from->cores, from->n_cores) < 0 ||
            add_ranges(&h->gpus, from->gpus, from->n_gpus) < 0) {
            errno = ENOMEM;
            return -1;
        }
        if (h->gpus.count > 0 && from->n_shared == h->gpus.count)
            h->gpu_memory = from->of_gpus / (int64_t)from->n_shared * s->size.gpu_memory_unit >> 20;
        hosts->cores += h->cores.count;
        hosts->gpus += h->gpus.count;
    }
    join_own(hosts);
    errno = hosts->v ? errno : ENOMEM;
    return hosts->v ? 0 : -1;
}

void run_hosts_share(struct run_hosts *hosts, size_t tasks, uint64_t task_cores)
{
    size_t first = 0;
    bool by_cores = task_cores > 0 && hosts->cores == tasks * task_cores;
    for (size_t i = 0; i < hosts->n && by_cores; i++)
        by_cores = hosts->v[i].cores.count % task_cores == 0;
    for (size_t i = 0; i < hosts->n; i++) {
        struct run_host *h = &hosts->v[i];
        h->first = first;
        h->n_tasks = by_cores ? (size_t)(h->cores.count / task_cores)
                              : tasks / hosts->n + (i < tasks % hosts->n);
        first += h->n_tasks;
    }
}

const struct run_host *run_hosts_of(const struct run_hosts *hosts, size_t task)
{
    size_t i = 0;
    while (i + 1 < hosts->n && task >= hosts->v[i].first + hosts->v[i].n_tasks)
        i++;
    return hosts->n > 0 ? &hosts->v[i] : NULL;
}

bool run_hosts_apart(const struct run_host *a, const struct run_host *b)
{
    return a->node != b->node;
}

static const char *text_at(const struct run_host *host, const char *list, uint32_t i)
{
    const char *text = json_string_value(json_array_get(json_object_get(host->node, list), i));
    return text && *text ? text : NULL;
}

/* The system's CPUs of a core; NULL: unknown. */
static const char *cpus_of(const server_t *s, const struct run_host *host, uint32_t core)
{
    if (host->node)
        return text_at(host, "cores", core);
    return s->platform.cpus ? s->platform.cpus(s->platform.context, core) : NULL;
}

bool run_host_cpus(const server_t *s, const struct run_host *host, uint64_t first, uint64_t n,
                   struct strbuf *to)
{
    struct idset cpus = {0};
    uint64_t i = 0;
    bool known = true;
    for (uint32_t id = idset_first(&host->cores); id != IDSET_NONE && i < first + n;
         id = idset_next(&host->cores, id), i++) {
        if (i < first)
            continue;
        const char *pus = cpus_of(s, host, id);
        struct idset more = {0};
        known = known && pus && idset_decode(&more, pus, strlen(pus), NULL) == 0 &&
                idset_unite(&cpus, &more) == 0;
        idset_clear(&more);
    }
    known = known && cpus.count > 0;
    if (known)
        idset_encode(&cpus, false, to);
    idset_clear(&cpus);
    return known;
}

const char *run_host_gpus(const server_t *s, const struct run_host *host, uint64_t first,
                          uint64_t n, struct strbuf *to)
{
    uint64_t i = 0;
    const char *vendor = NULL;
    for (uint32_t id = idset_first(&host->gpus); id != IDSET_NONE && i < first + n;
         id = idset_next(&host->gpus, id), i++) {
        if (i < first)
            continue;
        const struct gpu_name *named = gpu_names_find(&s->gpu_names, host->rank, id);
        const char *device = named                       ? named->name
                             : node_is_ruled(host->node) ? NULL
                                                         : text_at(host, "gpus", id);
        strbuf_puts(to, to->len ? "," : "");
        if (device)
            strbuf_puts(to, device);
        else /* where Slurm chooses them: the how many-th of the run's */
            strbuf_put_uint(to, node_is_ruled(host->node) ? i : id);
        if (named)
            vendor = *named->vendor ? named->vendor : NULL;
    }
    return vendor;
}

/* Whether one of the hosts holds a GPU of this device. */
static bool holds_device(const server_t *s, const struct run_host *host, size_t n,
                         const char *device)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t id = idset_first(&host[i].gpus); id != IDSET_NONE;
             id = idset_next(&host[i].gpus, id)) {
            const struct gpu_name *held = gpu_names_find(&s->gpu_names, host[i].rank, id);
            if (held && strcmp(held->device, device) == 0)
                return true;
        }
    return false;
}

void run_hosts_denied(const server_t *s, const struct run_host *host, size_t n, struct strbuf *to)
{
    const char *last = "";
    for (size_t i = 0; i < s->gpu_names.n; i++) {
        const char *device = s->gpu_names.v[i].device;
        if (strcmp(device, last) == 0) /* another instance, or it is unknown */
            continue;
        last = device;
        if (*device && !holds_device(s, host, n, device)) {
            strbuf_puts(to, to->len ? "," : "");
            strbuf_puts(to, device);
        }
    }
}

void run_hosts_clear(struct run_hosts *hosts)
{
    int saved = errno;
    for (size_t i = 0; i < hosts->n; i++) {
        free(hosts->v[i].name);
        idset_clear(&hosts->v[i].cores);
        idset_clear(&hosts->v[i].gpus);
    }
    free(hosts->v);
    *hosts = (struct run_hosts){0};
    errno = saved;
}
