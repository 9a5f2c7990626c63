#include "match/machine/prune.h"

#include <errno.h>
#include <stdlib.h>

static void clear_arrays(struct prune *p)
{
    for (uint32_t i = 0; p->of && i < p->types; i++)
        free(p->of[i].number);
    free(p->of);
    free(p->number);
    free(p->type);
    p->of = NULL;
    p->number = NULL;
    p->type = NULL;
    p->n = p->types = 0;
}

void prune_clear(struct prune *p)
{
    int saved = errno;

    clear_arrays(p);
    filter_spec_clear(&p->spec);
    errno = saved;
}

/* Leaf types that no type counts yet are counted by the cluster. */
static int add_leaf_types(struct prune *p, const struct topo *t)
{
    for (uint32_t c = 0; c < t->n_classes; c++) {
        uint16_t type = t->g->v[t->class[c].sample].type;
        if (t->class[c].n_runs == 0 && !filter_spec_is_pruning(&p->spec, type) &&
            filter_spec_add(&p->spec, TYPE_CLUSTER, type) < 0)
            return -1;
    }
    return 0;
}

static int make_list(struct prune *p, uint16_t high, uint16_t *scratch)
{
    size_t n = filter_spec_types(&p->spec, high, scratch);
    struct prune_list *list = &p->of[high];

    list->number = malloc((n + 1) * sizeof(*list->number));
    if (!list->number)
        return -1;
    for (size_t i = 0; i < n; i++)
        list->number[i] = (uint16_t)p->number[scratch[i]];
    list->n = (uint32_t)n;
    return 0;
}

static int make_arrays(struct prune *p, const struct graph *g)
{
    uint32_t types = g->types.n;
    uint16_t *scratch = malloc((p->spec.n + 1) * sizeof(*scratch));
    int rc = -1;

    p->type = malloc(((size_t)types + 1) * sizeof(*p->type));
    p->number = malloc(((size_t)types + 1) * sizeof(*p->number));
    p->of = calloc((size_t)types + 1, sizeof(*p->of));
    p->types = types;
    if (!scratch || !p->type || !p->number || !p->of)
        goto done;
    for (uint32_t i = 0; i < types; i++) {
        p->number[i] = PRUNE_NONE;
        if (!filter_spec_is_pruning(&p->spec, (uint16_t)i))
            continue;
        p->number[i] = (int32_t)p->n;
        p->type[p->n++] = (uint16_t)i;
    }
    for (uint32_t i = 0; i < types; i++)
        if (make_list(p, (uint16_t)i, scratch) < 0)
            goto done;
    rc = 0;
done:
    free(scratch);
    return rc;
}

int prune_init(struct prune *p, struct graph *g, const struct topo *t, const char *text,
               berth_error_t *err)
{
    *p = (struct prune){0};
    if (filter_spec_parse(&p->spec, g, text, err) == 0 && add_leaf_types(p, t) == 0 &&
        make_arrays(p, g) == 0)
        return 0;
    prune_clear(p);
    return -1;
}

int prune_rebuild(struct prune *p, const struct prune *old, struct graph *g, const struct topo *t)
{
    *p = (struct prune){0};
    if (filter_spec_copy(&p->spec, &old->spec) == 0 && add_leaf_types(p, t) == 0 &&
        make_arrays(p, g) == 0)
        return 0;
    prune_clear(p);
    return -1;
}
