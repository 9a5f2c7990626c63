/* Pruning filters: which vertices count which types below them.
 *
 * The types that any vertex counts are numbered from 0. Which of them a vertex counts depends on its own
 * type.
 */
#ifndef MATCH_PRUNE_H
#define MATCH_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "match/machine/filter_spec.h"
#include "match/machine/topo.h"

#define PRUNE_NONE (-1)

struct prune {
    struct filter_spec spec;
    uint16_t *type; /* type[number] */
    uint32_t n;
    int32_t *number; /* number[type], PRUNE_NONE if it isn't counted */
    struct prune_list {
        uint16_t *number; /* in the filter's order */
        uint32_t n;
    } * of;         /* of[type]: what a vertex of that type counts, unless it is a leaf */
    uint32_t types; /* length of the arrays by type */
};

/* Make the filters of a specification, and of the machine's leaf types that it leaves out. Returns 0, or
 * -1 with EINVAL or ENOMEM.
 */
int prune_init(struct prune *p, struct graph *g, const struct topo *t, const char *text,
               berth_error_t *err);

/* Make the filters again after the graph has changed, as there may be new leaf types. Returns 0, or -1 with
 * ENOMEM.
 */
int prune_rebuild(struct prune *p, const struct prune *old, struct graph *g, const struct topo *t);

void prune_clear(struct prune *p);

/* The types that v counts; a leaf counts none. */
static inline const struct prune_list *prune_of(const struct prune *p, const struct topo *t,
                                                uint32_t v)
{
    static const struct prune_list none;

    return t->first[v] == t->first[v + 1] ? &none : &p->of[t->g->v[v].type];
}

/* Units below v of the type with that number. */
static inline int64_t prune_total(const struct prune *p, const struct topo *t, uint32_t v,
                                  uint32_t number)
{
    const struct class_sum *sum = topo_sum(t, v, p->type[number]);

    return sum ? (int64_t)sum->units : 0;
}

#endif
