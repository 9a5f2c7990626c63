/* What bundles hold: what their members do, and nodes that these share once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "match/text/names.h"
#include "place/graph/bundle.h"

#define OPS graph_place_ops

/* ---- Nodes ---- */

/* The next node of which a member holds something, or of which (`shared`) it does not hold all. */
static bool next_node(const struct graph_place *n, int64_t member, bool shared, uint32_t *i,
                      uint32_t *node)
{
    bool alone;
    if (shared)
        return match_job_next_shared(n->match, member, i, node);
    while (match_job_next_hold(n->match, member, i, node, &alone)) {
        *node = match_node_of(n->match, *node);
        if (n->graph->v[*node].type == TYPE_NODE)
            return true;
    }
    return false;
}

/* List the nodes of which a bundle holds something, or (`shared`) of which its members leave something to others.
 * Returns 0, or -1 with ENOMEM.
 */
static int list_nodes(struct graph_place *n, const struct bundle *b, bool shared)
{
    struct bundles *t = n->bundles;
    uint32_t node;
    t->n_nodes = 0;
    for (uint32_t k = 0; k < b->n; k++)
        for (uint32_t i = 0; next_node(n, b->v[b->first + k], shared, &i, &node);) {
            if (array_grow((void **)&t->node, &t->cap_nodes, t->n_nodes + 1, sizeof(*t->node)) < 0)
                return -1;
            t->node[t->n_nodes++] = node;
        }
    if (t->n_nodes > 0)
        qsort(t->node, t->n_nodes, sizeof(*t->node), compare_u32);
    size_t kept = 0;
    for (size_t i = 0; i < t->n_nodes; i++)
        if (kept == 0 || t->node[kept - 1] != t->node[i])
            t->node[kept++] = t->node[i];
    t->n_nodes = kept;
    return 0;
}

int64_t bundle_amount(const struct place *place, int64_t booking, const char *type)
{
    int64_t sum = 0;
    if (!is_bundle(booking))
        return OPS.amount(place, booking, type);
    const struct bundle *b = bundle_of(place, booking);
    if (strcmp(type, "node") == 0 && list_nodes(graph_place_of(place), b, false) == 0)
        return (int64_t)graph_place_of(place)->bundles->n_nodes;
    for (uint32_t i = 0; i < b->n; i++)
        sum += OPS.amount(place, b->v[b->first + i], type);
    return sum;
}

int64_t bundle_amount_of_one(const struct place *place, int64_t booking, uint32_t i,
                             const char *type)
{
    if (!is_bundle(booking))
        return OPS.amount(place, booking, type);
    const struct bundle *b = bundle_of(place, booking);
    return OPS.amount(place, b->v[b->first + i], type);
}

int64_t bundle_clear(const struct place *place, int64_t booking, const char *type, uint64_t blocks)
{
    int64_t sum = 0;
    if (!is_bundle(booking))
        return OPS.clear(place, booking, type, blocks);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        sum += OPS.clear(place, b->v[b->first + i], type, blocks);
    return sum;
}

/* The list is made when the first one is asked for; without memory it is that of no bundle. */
bool bundle_next_shared(const struct place *place, int64_t booking, uint32_t *i, uint32_t *node)
{
    struct bundles *t = graph_place_of(place)->bundles;
    if (!is_bundle(booking))
        return OPS.next_shared(place, booking, i, node);
    if (*i == 0 && list_nodes(graph_place_of(place), bundle_of(place, booking), true) < 0)
        t->n_nodes = 0;
    if (*i >= t->n_nodes)
        return false;
    *node = t->node[(*i)++];
    return true;
}

void bundle_deny(struct place *place, int64_t booking)
{
    if (!is_bundle(booking)) {
        OPS.deny(place, booking);
        return;
    }
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        OPS.deny(place, b->v[b->first + i]);
}

/* ---- Others ---- */

int bundle_mark(struct place *place, int64_t booking, bool on)
{
    if (!is_bundle(booking))
        return OPS.mark(place, booking, on);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        if (OPS.mark(place, b->v[b->first + i], on) < 0)
            return -1; /* there is memory for the first one, or for none */
    return 0;
}

enum place_meet bundle_meets(const struct place *place, int64_t booking)
{
    enum place_meet most = PLACE_APART;
    if (!is_bundle(booking))
        return OPS.meets(place, booking);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n && most < PLACE_IN_WAY; i++) {
        enum place_meet meet = OPS.meets(place, b->v[b->first + i]);
        most = meet > most ? meet : most;
    }
    return most;
}

/* Each member is given what it would be with those before it in place. */
bool bundle_is_steady(struct place *place, const struct place_ask *ask)
{
    if (!is_bundle_class(ask->class))
        return OPS.is_steady(place, ask);
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    bool is_steady = true;
    for (uint32_t i = 0; i < c->n && is_steady; i++) {
        struct place_ask one = bundle_role_ask(place, ask, i);
        is_steady = OPS.is_steady(place, &one);
    }
    return is_steady;
}

/* It can where all members are alike and each takes a number of one resource in one node. Then a node has room for a number of
 * members, and where the others are makes no difference. A steady ask is for nodes that stand in a line.
 */
bool bundle_may_mend(struct place *place, const struct place_ask *ask)
{
    if (!is_bundle_class(ask->class))
        return false;
    const struct bundle_class *b = bundle_class_of(place, ask->class);
    const jobspec_t *spec = graph_place_of(place)->classes[b->role[0].class].spec;
    const struct jobspec_resource *r = spec->resources;
    return b->n == 1 && r[0].count.min == 1 &&
           (spec->nresources == 2 || (spec->nresources == 3 && r[1].kind == JOBSPEC_SLOT));
}

int bundle_weigh(struct place *place, int64_t booking, bool on)
{
    if (!is_bundle(booking))
        return OPS.weigh(place, booking, on);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        if (OPS.weigh(place, b->v[b->first + i], on) < 0)
            return -1; /* there is memory for the first one, or for none */
    return 0;
}

int bundle_keep_free(struct place *place, int64_t booking, int64_t at)
{
    if (!is_bundle(booking))
        return OPS.keep_free(place, booking, at);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        if (OPS.keep_free(place, b->v[b->first + i], at) < 0)
            return -1;
    return 0;
}

uint64_t bundle_blocks(const struct place *place, int64_t booking)
{
    uint64_t blocks = 0;
    if (!is_bundle(booking))
        return OPS.blocks(place, booking);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        blocks |= OPS.blocks(place, b->v[b->first + i]);
    return blocks;
}

uint64_t bundle_blocks_of_one(const struct place *place, int64_t booking, uint32_t i)
{
    if (!is_bundle(booking))
        return OPS.blocks(place, booking);
    const struct bundle *b = bundle_of(place, booking);
    return OPS.blocks(place, b->v[b->first + i]);
}

int bundle_touches(struct place *place, int64_t booking, const char *resources, berth_error_t *err)
{
    int touches = 0;
    if (!is_bundle(booking))
        return OPS.touches(place, booking, resources, err);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n && touches == 0; i++)
        touches = OPS.touches(place, b->v[b->first + i], resources, err);
    return touches;
}

/* Of one booking for the role that can use most of it. */
static int64_t useful_for_any(struct place *place, const struct place_ask *ask, int64_t booking)
{
    int64_t most = 0;
    if (!is_bundle_class(ask->class))
        return OPS.useful(place, ask, booking);
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    for (uint32_t role = 0; role < c->n; role++) {
        struct place_ask one = bundle_role_ask(place, ask, role);
        int64_t useful = OPS.useful(place, &one, booking);
        most = useful > most ? useful : most;
    }
    return most;
}

int64_t bundle_useful(struct place *place, const struct place_ask *ask, int64_t booking)
{
    int64_t sum = 0;
    if (!is_bundle(booking))
        return useful_for_any(place, ask, booking);
    const struct bundle *b = bundle_of(place, booking);
    for (uint32_t i = 0; i < b->n; i++)
        sum += useful_for_any(place, ask, b->v[b->first + i]);
    return sum;
}

/* Each member's text, one after the other: in a sentence, or as a list in JSON. */
int bundle_write(struct place *place, int64_t booking, const char *format, const char **text,
                 size_t *length)
{
    if (!is_bundle(booking))
        return OPS.write(place, booking, format, text, length);
    const struct bundle *b = bundle_of(place, booking);
    struct strbuf *out = &graph_place_of(place)->bundles->text;
    strbuf_reset(out);
    strbuf_puts(out, format ? "[" : "");
    for (uint32_t i = 0; i < b->n; i++) {
        if (OPS.write(place, b->v[b->first + i], format, text, length) < 0)
            return -1;
        strbuf_puts(out, i > 0 ? "," : "");
        strbuf_put(out, *text, *length);
    }
    strbuf_puts(out, format ? "]" : "");
    *text = strbuf_text(out);
    *length = out->len;
    if (!out->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* What the members hold together, by host: the jobs of none have started. */
int64_t bundle_given(struct place *place, int64_t booking, const struct resource_range **ranges,
                     const struct resource_host **hosts)
{
    if (!is_bundle(booking))
        return OPS.given(place, booking, ranges, hosts);
    if (ranges) {
        errno = EINVAL;
        return -1;
    }
    struct graph_place *n = graph_place_of(place);
    const struct bundle *b = bundle_of(place, booking);
    struct hosts *part = calloc(b->n, sizeof(*part));
    int rc = part ? 0 : -1;
    for (uint32_t i = 0; rc == 0 && i < b->n; i++)
        rc = match_hosts(n->match, b->v[b->first + i], &part[i]);
    if (rc == 0)
        rc = hosts_join(&n->on, part, b->n);
    int saved = errno;
    for (uint32_t i = 0; part && i < b->n; i++)
        hosts_clear(&part[i]);
    free(part);
    errno = saved;
    *hosts = n->on.v;
    return rc < 0 ? -1 : (int64_t)n->on.n;
}

uint32_t bundle_holds(const struct place *place, int64_t booking)
{
    return is_bundle(booking) ? bundle_of(place, booking)->n : 1;
}

int64_t bundle_first(const struct place *place, int64_t booking)
{
    return is_bundle(booking) ? bundle_of(place, booking)->v[bundle_of(place, booking)->first]
                              : booking;
}
