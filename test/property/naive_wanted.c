/* Whether a vertex is as a jobspec wants it: its constraint, and properties of what it asks for. */
#include "naive_inner.h"

#include <string.h>

struct names {
    const struct graph *g;
    uint32_t props;
};

static bool has_property(const void *arg, const char *property)
{
    const struct names *x = arg;

    return propset_value(&x->g->props, x->props, property) != NULL;
}

bool naive_satisfies_constraint(const struct naive *n, uint32_t v)
{
    struct strbuf name = {0};
    struct names arg = {n->g, n->g->v[v].props};

    graph_name(n->g, v, &name);
    struct jobspec_target target = {strbuf_text(&name), n->g->v[v].rank, has_property, &arg};
    bool good = jobspec_constraint_match(n->spec->constraints, &target);
    strbuf_clear(&name);
    return good;
}

/* Whether it has a property, or says nothing of its family, and what it is in has it. */
bool naive_is_of_kind(const struct naive *n, uint32_t u, const char *property)
{
    const struct propset *p = &n->g->props;
    const char *colon = strchr(property, ':');
    uint32_t props = n->g->v[u].props;
    bool says = false;

    if (propset_value(p, props, property))
        return true;
    for (size_t i = 0; colon && i < propset_size(p, props); i++)
        says |= strncmp(propset_text(p, propset_at(p, props, i).key), property,
                        (size_t)(colon - property) + 1) == 0;
    return !says && naive_parent(n, u) != NONE && naive_is_of_kind(n, naive_parent(n, u), property);
}
