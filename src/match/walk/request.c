#include "match/walk/request.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "match/machine/prune.h"

/* Units, at most INT64_MAX. */
/* The minimum that siblings want, by number of pruning type. */
struct sums {
    int64_t *units;
    bool *wanted; /* units were counted, perhaps 0 */
};

static void add_units_wanted(struct sums *sums, uint32_t number, int64_t units)
{
    sums->units[number] = capped_sum(sums->units[number], units);
    sums->wanted[number] = true;
}

/* Lower what the siblings so far want to what an alternative to them wants, which may be nothing. A type
 * that only the alternative wants is counted all the same, as in Fluxion.
 */
static void lower(struct sums *sums, const struct request *q, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t units = q->wanted[i] ? capped_product(q->below[i], q->min) : 0;
        if (sums->wanted[i] ? units < sums->units[i] : q->wanted[i])
            sums->units[i] = units;
        sums->wanted[i] |= q->wanted[i];
    }
}

/* Returns whether anything was counted. */
static bool accumulate(const struct requests *r, uint32_t first, const struct prune *prune,
                       bool flexible, struct sums *sums)
{
    bool any = false;

    for (uint32_t i = first; i != REQUEST_NONE; i = r->v[i].next) {
        const struct request *q = &r->v[i];
        if (prune->number[q->type] != PRUNE_NONE)
            add_units_wanted(sums, (uint32_t)prune->number[q->type], q->min);
        if (flexible && q->is_slot) {
            lower(sums, q, prune->n);
            continue;
        }
        for (uint32_t k = 0; k < prune->n; k++)
            if (q->wanted[k])
                add_units_wanted(sums, k, capped_product(q->below[k], q->min));
    }
    for (uint32_t k = 0; k < prune->n; k++)
        any |= sums->wanted[k];
    return any;
}

static int type_of(const struct graph *g, const struct jobspec_resource *from, uint16_t *type)
{
    uint32_t id;

    switch (from->kind) {
    case JOBSPEC_SLOT:
    case JOBSPEC_OR_SLOT:
        *type = TYPE_SLOT;
        return 0;
    case JOBSPEC_XOR_SLOT:
        *type = TYPE_XOR_SLOT;
        return 0;
    case JOBSPEC_RESOURCE:
        break;
    }
    if (!intern_find(&g->types, from->type, strlen(from->type), &id)) {
        errno = EINVAL;
        return -1;
    }
    *type = (uint16_t)id;
    return 0;
}

/* Make room for what n requests, and all of them together, want. */
static int make_sums(struct sums *sums, size_t n, const struct prune *prune, struct arena *arena)
{
    size_t size = (n + 1) * ((size_t)prune->n + 1);

    sums->units = arena_alloc(arena, size * sizeof(*sums->units));
    sums->wanted = arena_alloc(arena, size * sizeof(*sums->wanted));
    if (!sums->units || !sums->wanted)
        return -1;
    memset(sums->units, 0, size * sizeof(*sums->units));
    memset(sums->wanted, 0, size * sizeof(*sums->wanted));
    return 0;
}

static int make_one(struct requests *r, uint32_t i, const struct jobspec_resource *from,
                    const struct graph *g)
{
    struct request *q = &r->v[i];

    *q = (struct request){.count = &from->count,
                          .label = from->kind == JOBSPEC_RESOURCE ? from->label : NULL,
                          .property = from->property,
                          .min = from->count.min,
                          .max = jobspec_count_max(&from->count),
                          .next = from->next,
                          .with = from->end > i + 1 ? i + 1 : REQUEST_NONE,
                          .bin = i,
                          .first = i,
                          .other = REQUEST_NONE,
                          .kind = from->kind,
                          .is_slot = from->kind != JOBSPEC_RESOURCE,
                          .exclusive = from->exclusive == JOBSPEC_EXCLUSIVE_TRUE,
                          .shared = from->exclusive == JOBSPEC_EXCLUSIVE_FALSE};
    q->shape = q->with;
    r->labelled |= q->label != NULL;
    r->by_property |= q->property != NULL;
    r->moldable |= q->min != q->max;
    return type_of(g, from, &q->type);
}

/* True if for some of these requests, or below, vertices of a size other than 1 have things in them. */
static bool have_pools(const struct requests *r, uint32_t first, const struct topo *t)
{
    for (uint32_t i = first; i != REQUEST_NONE; i = r->v[i].next) {
        const struct request *q = &r->v[i];
        const struct class_sum *sum =
            q->is_slot || q->with == REQUEST_NONE ? NULL : topo_sum(t, t->root, q->type);
        if (q->pools_below || (sum && sum->size != 1))
            return true;
    }
    return false;
}

int requests_make(struct requests *r, const jobspec_t *spec, const struct topo *t,
                  const struct prune *prune, bool flexible, struct arena *arena)
{
    size_t n = spec->nresources;
    struct sums all;

    *r = (struct requests){.v = arena_alloc(arena, n * sizeof(*r->v)), .n = (uint32_t)n};
    if (!r->v || make_sums(&all, n, prune, arena) < 0)
        return -1;
    for (uint32_t i = (uint32_t)n; i-- > 0;) {
        struct sums own = {all.units + (size_t)i * prune->n, all.wanted + (size_t)i * prune->n};
        if (make_one(r, i, &spec->resources[i], t->g) < 0)
            return -1;
        r->v[i].below = own.units;
        r->v[i].wanted = own.wanted;
        r->v[i].has_below = accumulate(r, r->v[i].with, prune, flexible, &own);
        r->v[i].pools_below = have_pools(r, r->v[i].with, t);
    }
    struct sums total = {all.units + n * prune->n, all.wanted + n * prune->n};
    accumulate(r, 0, prune, flexible, &total);
    r->total = total.units;
    if (prune->number[TYPE_NODE] != PRUNE_NONE)
        r->nodes = r->total[prune->number[TYPE_NODE]];
    if (flexible)
        return requests_vary(r, arena);
    r->variant = arena_alloc(arena, sizeof(*r->variant));
    if (!r->variant)
        return -1;
    *r->variant = 0;
    r->n_variants = 1;
    return 0;
}
