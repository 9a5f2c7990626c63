#include "resource/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "resource/writers/rlite.h"

/* Copy the ranges of a set to *at, and move *at past them. */
static const struct resource_range *put_ranges(struct hosts *h, const struct idset *set, size_t *at)
{
    struct resource_range *first = &h->range[*at];
    for (uint32_t i = 0; i < set->n; i++)
        h->range[(*at)++] = (struct resource_range){set->v[i].lo, set->v[i].hi};
    return first;
}

/* The names, one behind the other, with a zero behind each. */
static int put_host_names(struct hosts *h, const struct rlite *r, const struct graph *g)
{
    strbuf_reset(&h->names);
    for (size_t i = 0; i < r->n; i++) {
        graph_name(g, r->host[i].vertex, &h->names);
        strbuf_putc(&h->names, '\0');
    }
    return h->names.failed ? -1 : 0;
}

static int reserve_hosts(struct hosts *h, const struct rlite *r)
{
    size_t ranges = 0;
    for (uint32_t i = 0; i < r->children.n; i++)
        ranges += r->children.v[i].cores.n + r->children.v[i].gpus.n;
    return array_grow((void **)&h->v, &h->capacity, r->n, sizeof(*h->v)) < 0 ||
                   array_grow((void **)&h->range, &h->range_capacity, ranges, sizeof(*h->range)) < 0
               ? -1
               : 0;
}

/* What hosts of a group have in common. */
struct shared {
    const struct resource_range *cores, *gpus;
};

static int fill_hosts(struct hosts *h, const struct rlite *r, const struct graph *g)
{
    struct shared *shared = reallocarray(NULL, (size_t)r->children.n + 1, sizeof(*shared));
    if (!shared || reserve_hosts(h, r) < 0 || put_host_names(h, r, g) < 0) {
        free(shared);
        return -1;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < r->children.n; i++) {
        shared[i].cores = put_ranges(h, &r->children.v[i].cores, &at);
        shared[i].gpus = put_ranges(h, &r->children.v[i].gpus, &at);
    }
    const char *name = h->names.data;
    for (h->n = 0; h->n < r->n; h->n++) {
        const struct rlite_host *host = &r->host[h->n];
        const struct rlite_group *group = &r->children.v[host->group];
        h->v[h->n] = (struct resource_host){.name = name,
                                            .rank = host->rank,
                                            .cores = shared[host->group].cores,
                                            .n_cores = group->cores.n,
                                            .gpus = shared[host->group].gpus,
                                            .n_gpus = group->gpus.n,
                                            .memory = host->memory,
                                            .n_shared = host->gpus.shared,
                                            .of_gpus = host->gpus.memory};
        name += strlen(name) + 1;
    }
    free(shared);
    return 0;
}

static int by_host_name(const void *a, const void *b)
{
    const struct resource_host *x = a, *y = b;
    int order = hostlist_compare(x->name, y->name);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

int hosts_gather(struct hosts *h, const struct emission *e, const struct graph *g)
{
    struct rlite r;
    h->n = 0;
    if (rlite_gather(&r, e, g) < 0)
        return -1;
    int rc = fill_hosts(h, &r, g);
    rlite_clear(&r);
    if (rc < 0)
        errno = ENOMEM;
    if (h->n > 1)
        qsort(h->v, h->n, sizeof(*h->v), by_host_name);
    return rc;
}

void hosts_clear(struct hosts *h)
{
    free(h->v);
    free(h->range);
    strbuf_clear(&h->names);
    *h = (struct hosts){0};
}
