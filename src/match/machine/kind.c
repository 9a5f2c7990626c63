/* Of which kind a vertex is (kind.h). */
#include "match/machine/kind.h"

#include <string.h>

#include "match/inner.h"
#include "match/plan.h"

/* Whether a vertex has a property of the family itself. */
static bool says(const struct propset *p, uint32_t props, const char *property, size_t family)
{
    for (size_t i = 0, n = propset_size(p, props); i < n; i++)
        if (strncmp(propset_text(p, propset_at(p, props, i).key), property, family) == 0)
            return true;
    return false;
}

bool kind_is(const struct topo *t, uint32_t v, const char *property)
{
    const struct propset *p = &t->g->props;
    size_t family = strcspn(property, ":") + 1;

    for (uint32_t x = v; x != VERTEX_NONE;
         x = x == t->root || !t->parent ? VERTEX_NONE : t->parent[x]) {
        if (propset_value(p, t->g->v[x].props, property))
            return true;
        if (says(p, t->g->v[x].props, property, family))
            return false;
    }
    return false;
}

int64_t match_part_of_kind(const struct match *m, const uint64_t *part, uint16_t type,
                           const char *property)
{
    int64_t units = 0;

    for (uint32_t v = 0; v < m->g->n; v++)
        if (m->g->v[v].type == type && match_part_has(part, v) && kind_is(&m->topo, v, property))
            units += m->g->v[v].size;
    return units;
}
