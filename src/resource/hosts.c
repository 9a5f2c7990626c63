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

/* ---- Of several jobs ---- */

static int add_ranges(struct idset *set, const struct resource_range *range, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (idset_add_range(set, range[i].first, range[i].last) < 0)
            return -1;
    return 0;
}

/* What is being joined: all hosts in order, and what the one at work has. */
struct joining {
    struct resource_host *all;
    size_t n;
    struct idset cores, gpus;
    size_t at; /* ranges that are written */
};

/* Make one host of those from `first` to before `end`, which are the same. */
static int join_same(struct hosts *to, struct joining *x, size_t first, size_t end)
{
    struct resource_host one = x->all[first];
    uint64_t gpus = 0;
    idset_reset(&x->cores);
    idset_reset(&x->gpus);
    one.memory = one.of_gpus = 0;
    one.n_shared = 0;
    for (size_t i = first; i < end; i++) {
        const struct resource_host *h = &x->all[i];
        if (add_ranges(&x->cores, h->cores, h->n_cores) < 0 ||
            add_ranges(&x->gpus, h->gpus, h->n_gpus) < 0)
            return -1;
        for (size_t k = 0; k < h->n_gpus; k++)
            gpus += (uint64_t)h->gpus[k].last - h->gpus[k].first + 1;
        one.memory += h->memory;
        one.of_gpus += h->of_gpus;
        one.n_shared += h->n_shared;
    }
    one.n_shared -= (size_t)(gpus - x->gpus.count); /* only shared ones are held more than once */
    one.n_cores = x->cores.n;
    one.n_gpus = x->gpus.n;
    one.cores = put_ranges(to, &x->cores, &x->at);
    one.gpus = put_ranges(to, &x->gpus, &x->at);
    strbuf_puts(&to->names, one.name);
    strbuf_putc(&to->names, '\0');
    to->v[to->n++] = one;
    return to->names.failed ? -1 : 0;
}

static int join_all(struct hosts *to, struct joining *x)
{
    for (size_t i = 0, end; i < x->n; i = end) {
        for (end = i + 1; end < x->n && by_host_name(&x->all[i], &x->all[end]) == 0;)
            end++;
        if (join_same(to, x, i, end) < 0)
            return -1;
    }
    const char *name = to->names.data;
    for (size_t i = 0; i < to->n; i++) {
        to->v[i].name = name;
        name += strlen(name) + 1;
    }
    return 0;
}

int hosts_join(struct hosts *to, const struct hosts *parts, size_t n_parts)
{
    struct joining x = {0};
    size_t hosts = 0, ranges = 0;
    to->n = 0;
    strbuf_reset(&to->names);
    for (size_t i = 0; i < n_parts; i++) {
        hosts += parts[i].n;
        for (size_t k = 0; k < parts[i].n; k++)
            ranges += parts[i].v[k].n_cores + parts[i].v[k].n_gpus;
    }
    x.all = reallocarray(NULL, hosts + 1, sizeof(*x.all));
    int rc =
        !x.all || array_grow((void **)&to->v, &to->capacity, hosts, sizeof(*to->v)) < 0 ||
                array_grow((void **)&to->range, &to->range_capacity, ranges, sizeof(*to->range)) < 0
            ? -1
            : 0;
    for (size_t i = 0; rc == 0 && i < n_parts; i++)
        for (size_t k = 0; k < parts[i].n; k++)
            x.all[x.n++] = parts[i].v[k];
    if (x.n > 1)
        qsort(x.all, x.n, sizeof(*x.all), by_host_name);
    if (rc == 0)
        rc = join_all(to, &x);
    idset_clear(&x.cores);
    idset_clear(&x.gpus);
    free(x.all);
    if (rc < 0) {
        to->n = 0;
        errno = ENOMEM;
    }
    return rc;
}

void hosts_clear(struct hosts *h)
{
    free(h->v);
    free(h->range);
    strbuf_clear(&h->names);
    *h = (struct hosts){0};
}
