/* Reading constraints, and asking them. */
#include <errno.h>
#include <string.h>

#include "jobspec/build.h"
#include "jobspec/constraint.h"

const char *const constraint_names[CONDITIONS] = {
    [PROPERTIES] = "properties",
    [HOSTLIST] = "hostlist",
    [RANKS] = "ranks",
    [AND] = "and",
    [OR] = "or",
    [NOT] = "not",
};

static const char property_illegal[] = "!&'\"^`|()";

#define NAME_SHOWN 40 /* bytes of a wrong name that are told */

static size_t count_kind(const struct doc *d, uint32_t i, enum doc_kind kind)
{
    size_t n = 0;
    for (uint32_t end = d->node[i].end; i < end; i++)
        n += d->node[i].kind == kind;
    return n;
}

void constraints_need(struct need *need, const struct doc *d, uint32_t i)
{
    size_t lists = count_kind(d, i, DOC_LIST);
    need_array(need, count_kind(d, i, DOC_MAPPING) + 1, sizeof(struct jobspec_constraint));
    need_array(need, lists, sizeof(struct hostlist));
    need_array(need, lists, sizeof(struct idset));
    /* Properties, and with the node of their list an end of them. */
    need_array(need, d->node[i].end - i, sizeof(char *));
    need_text(need, d, i);
}

static int build_properties(struct build *b, uint32_t list, struct jobspec_constraint *c)
{
    const struct doc *d = b->doc;
    c->properties = build_array(b, (size_t)d->node[list].count + 1, sizeof(*c->properties));
    uint32_t n = 0;
    for (uint32_t i = list + 1; i < d->node[list].end; i = d->node[i].end) {
        if (!doc_is_text(d, i) || d->node[i].plain)
            return doc_expected(d, i, "properties", "strings in quotes");
        const char *name = doc_text(d, i);
        name += *name == '^';
        if (strpbrk(name, property_illegal))
            return doc_fault(
                d, i,
                "key \"properties\": %.*s is invalid, expected names without any of !&'\"^`|()",
                NAME_SHOWN, name);
        c->properties[n++] = build_text(b, i);
    }
    return 0;
}

static int build_hosts(struct build *b, uint32_t list, struct jobspec_constraint *c)
{
    const struct doc *d = b->doc;
    c->hosts = build_array(b, 1, sizeof(*c->hosts));
    for (uint32_t i = list + 1; i < d->node[list].end; i = d->node[i].end) {
        if (doc_is_text(d, i) &&
            hostlist_append(c->hosts, doc_text(d, i), d->node[i].length, NULL) == 0)
            continue;
        if (doc_is_text(d, i) && errno == ENOMEM)
            return build_nomem(b);
        return doc_expected(d, i, "hostlist", "hosts such as \"node[1-8]\"");
    }
    return 0;
}

static int build_ranks(struct build *b, uint32_t list, struct jobspec_constraint *c)
{
    const struct doc *d = b->doc;
    struct idset ids = {0};
    int rc = 0;
    c->ranks = build_array(b, 1, sizeof(*c->ranks));
    for (uint32_t i = list + 1; rc == 0 && i < d->node[list].end; i = d->node[i].end) {
        if (doc_is_text(d, i) && idset_decode(&ids, doc_text(d, i), d->node[i].length, NULL) == 0 &&
            idset_unite(c->ranks, &ids) == 0)
            continue;
        if (doc_is_text(d, i) && errno == ENOMEM)
            rc = build_nomem(b);
        else
            rc = doc_expected(d, i, "ranks", "ids such as \"0-3,7\"");
    }
    idset_clear(&ids);
    return rc;
}

static enum condition condition_of(const struct doc *d, uint32_t key)
{
    enum condition c = PROPERTIES;
    while (c < CONDITIONS && !doc_is(d, key, constraint_names[c]))
        c++;
    return c;
}

/* Build the conditions of a mapping at *at, and move *at past them. The recursion is no deeper than the
 * document.
 */
static int build_condition(struct build *b, uint32_t i, struct jobspec_constraint **at)
{
    const struct doc *d = b->doc;
    if (d->node[i].kind != DOC_MAPPING || d->node[i].count > 1)
        return doc_expected(d, i, "constraints", "a mapping with one operator");
    struct jobspec_constraint *c = (*at)++;
    c->condition = AND;
    c->size = 1;
    if (d->node[i].count == 0)
        return 0;
    enum condition condition = condition_of(d, i + 1);
    if (condition == CONDITIONS)
        return doc_fault(
            d, i + 1,
            "key \"constraints\": unknown constraint operator: %.*s, expected properties, "
            "hostlist, ranks, and, or, not",
            NAME_SHOWN, doc_text(d, i + 1));
    uint32_t list = i + 2;
    if (d->node[list].kind != DOC_LIST)
        return doc_expected(d, list, constraint_names[condition], "a list");
    c->condition = condition;
    if (condition == PROPERTIES)
        return build_properties(b, list, c);
    if (condition == HOSTLIST)
        return build_hosts(b, list, c);
    if (condition == RANKS)
        return build_ranks(b, list, c);
    for (uint32_t o = list + 1; o < d->node[list].end; o = d->node[o].end) {
        if (build_condition(b, o, at) < 0)
            return -1;
    }
    c->size = (uint32_t)(*at - c);
    return 0;
}

int constraint_build(struct build *b, uint32_t i, const struct jobspec_constraint **ret_constraint)
{
    const struct doc *d = b->doc;
    struct jobspec_constraint *c = build_array(b, count_kind(d, i, DOC_MAPPING) + 1, sizeof(*c));
    *ret_constraint = c;
    return build_condition(b, i, &c);
}

int constraints_build(struct build *b, uint32_t i)
{
    return constraint_build(b, i, &b->spec->constraints);
}

void constraints_clear(const struct jobspec_constraint *c)
{
    for (; c && c->condition != END; c++) {
        if (c->condition == HOSTLIST && c->hosts)
            hostlist_clear(c->hosts);
        if (c->condition == RANKS && c->ranks)
            idset_clear(c->ranks);
    }
}

static bool has_all(const char *const *properties, const struct jobspec_target *t)
{
    for (; *properties; properties++) {
        bool wanted = **properties != '^';
        const char *name = *properties + !wanted;
        if ((t->has_property && t->has_property(t->arg, name)) != wanted)
            return false;
    }
    return true;
}

/* Whether any operand of a condition, or all of them, are as they should be. */
static bool any_is(const struct jobspec_constraint *c, const struct jobspec_target *t, bool wanted)
{
    for (uint32_t i = 1; i < c->size; i += c[i].size) {
        if (jobspec_constraint_match(&c[i], t) == wanted)
            return true;
    }
    return false;
}

bool jobspec_constraint_match(const struct jobspec_constraint *c, const struct jobspec_target *t)
{
    if (!c)
        return true;
    switch (c->condition) {
    case PROPERTIES:
        return has_all((const char *const *)c->properties, t);
    case HOSTLIST:
        return t->name && hostlist_find(c->hosts, t->name, strlen(t->name)) >= 0;
    case RANKS:
        return t->rank >= 0 && t->rank <= IDSET_ID_MAX && idset_has(c->ranks, (uint32_t)t->rank);
    case AND:
        return !any_is(c, t, false);
    case OR:
        return c->size == 1 || any_is(c, t, true);
    case NOT:
        return any_is(c, t, false);
    case END:
    case CONDITIONS:
        break;
    }
    return false;
}

bool jobspec_constraint_only_properties(const struct jobspec_constraint *c)
{
    for (uint32_t i = 0; c && i < c->size; i++)
        if (c[i].condition == HOSTLIST || c[i].condition == RANKS)
            return false;
    return true;
}
