/* What members of a bundle ask for together. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/number.h"
#include "place/graph/bundle.h"
#include "place/graph/capacity.h"

#define OPS graph_place_ops

struct place_ask bundle_role_ask(const struct place *place, const struct place_ask *ask,
                                 uint32_t role)
{
    struct place_ask one = *ask;
    one.class = bundle_class_of(place, ask->class)->role[role].class;
    return one;
}

struct place_ask bundle_member_ask(const struct place *place, const struct place_ask *ask,
                                   uint32_t member, uint32_t left)
{
    if (!is_bundle_class(ask->class))
        return *ask;
    const struct bundle_class *c = bundle_class_of(place, ask->class);
    uint32_t role = 0;
    member += c->total - left;
    while (role + 1 < c->n && member >= c->role[role].count)
        member -= c->role[role++].count;
    return bundle_role_ask(place, ask, role);
}

int64_t bundle_cores(const struct graph_place *n, const struct bundle_class *b)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t cores = n->classes[b->role[i].class].cores;
        if (n->unit == TYPE_CORE)
            sum = capped_sum(sum, capped_product(cores, b->role[i].count));
        else if (b->role[i].count > 0 && cores > sum)
            sum = cores; /* of nodes, which members may share */
    }
    return sum;
}

/* ---- Could it ever be? ---- */

/* The members of a class that there is room for on an idle machine, all up, by what each node has, at most; INT64_MAX where
 * that is not known. Members may share nodes.
 */
static int64_t count_most(const struct graph_place *n, const struct class *c)
{
    const struct piece *p = c->piece;
    bool is_node;
    int64_t sum = 0, pieces = capacity_pieces(n, c, 1, &is_node);
    uint32_t nodes;
    const uint32_t *node = match_nodes(n->match, &nodes);
    if (pieces < 1)
        return INT64_MAX;
    for (uint32_t k = 0; k < nodes; k++) {
        uint32_t v = node[k];
        if (n->graph->v[v].gone || !match_part_has(n->parts[c->part].within, v))
            continue;
        int64_t most = p->alone ? 1 : INT64_MAX;
        for (uint32_t i = 0; i < p->n; i++)
            if (p->need[i].least > 0) {
                int64_t room = match_units_at(n->match, v, p->need[i].type) / p->need[i].least;
                most = room < most ? room : most;
            }
        sum = capped_sum(sum, most);
    }
    return sum / pieces;
}

/* The same, counted once for each change of the machine. */
static int64_t most_of(const struct graph_place *n, struct class *c)
{
    if (c->counted != n->changes + 1)
        c->most = count_most(n, c);
    c->counted = n->changes + 1;
    return c->most;
}

/* The same where it is exact: a member that shares nodes with others may need several, which have room for it together. */
static int64_t exactly_most_of(const struct graph_place *n, struct class *c)
{
    bool is_node;
    if (capacity_pieces(n, c, 1, &is_node) > 0 && is_node && !c->piece[0].alone)
        return INT64_MAX;
    return most_of(n, c);
}

int64_t bundle_at_most(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);
    return graph_place_refresh(n) < 0 ? INT64_MAX : most_of(n, &n->classes[class]);
}

/* Each by itself, the members of each role, and all by the cores that there are. Returns 0, or -1 with ENODEV and a
 * text.
 */
static int judge_bundle_class(struct graph_place *n, struct bundle_class *b, berth_error_t *err)
{
    const struct part *part = &n->parts[b->part];
    const char *who = part->requires ? "queue" : "machine";
    bool is_exact = b->n == 1 && exactly_most_of(n, &n->classes[b->role[0].class]) < INT64_MAX;
    for (uint32_t i = 0; i < b->n; i++) {
        int64_t most = exactly_most_of(n, &n->classes[b->role[i].class]);
        if (most < b->role[i].count)
            return errtext_set(err, ENODEV,
                               "%" PRIu32
                               " members are to start together, the %s has room for %" PRId64,
                               b->role[i].count, who, most);
    }
    int64_t cores = bundle_cores(n, b);
    int64_t has =
        n->has_unit ? match_part_amount(n->match, part->within, n->unit, false) : INT64_MAX;
    if (cores > has)
        return errtext_set(err, ENODEV,
                           "%" PRIu32 " members are to start together with %" PRId64
                           " %ss, the %s has %" PRId64,
                           b->total, cores, intern_text(&n->graph->types, n->unit), who, has);
    int fits = is_exact ? 1 : bundle_fits_ever(n, b);
    if (fits < 0)
        return errtext_no_memory(err);
    if (fits == 0)
        return errtext_set(
            err, ENODEV, "%" PRIu32 " members are to start together, each fits the %s, but not all",
            b->total, who);
    return 0;
}

/* What members may never get one by one they never get together. O(1) where that was so and nothing has changed. */
static int judge_all(struct place *place, struct bundle_class *b, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);
    if (b->is_judged && b->judged == n->changes)
        return 0;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t class = b->role[i].class;
        int64_t units;
        if (OPS.know(place, NULL, b->part, true, &class, &units, err) < 0)
            return -1;
        OPS.forget(place, class);
    }
    b->is_judged = judge_bundle_class(n, b, err) == 0;
    b->judged = n->changes;
    return b->is_judged ? 0 : -1;
}

/* ---- The table ---- */

static bool has_same_roles(const struct bundle_class *c, const struct place_role *role, size_t n,
                           uint32_t part)
{
    bool same = c->users > 0 && c->n == n && c->part == part;
    for (size_t i = 0; same && i < n; i++)
        same = c->role[i].class == role[i].class && c->role[i].count == role[i].count &&
               c->role[i].number == role[i].number;
    return same;
}

static int bundles_need(struct graph_place *n)
{
    if (!n->bundles)
        n->bundles = calloc(1, sizeof(*n->bundles));
    return n->bundles ? 0 : -1;
}

/* The slot of these roles, or a free one; -1 with ENOMEM. */
static int64_t seek(struct bundles *t, const struct place_role *role, size_t n, uint32_t part)
{
    int64_t free_one = -1;
    for (uint32_t i = 0; i < t->n_classes; i++) {
        if (has_same_roles(&t->class[i], role, n, part))
            return i;
        if (t->class[i].users == 0 && free_one < 0)
            free_one = i;
    }
    if (free_one >= 0)
        return free_one;
    if (array_grow((void **)&t->class, &t->cap_classes, (size_t)t->n_classes + 1,
                   sizeof(*t->class)) < 0)
        return -1;
    t->class[t->n_classes] = (struct bundle_class){0};
    return t->n_classes++;
}

/* It uses the classes of its first roles no more. */
static void unmake(struct place *place, struct bundle_class *c, size_t roles)
{
    for (size_t i = 0; i < roles; i++) {
        capacity_leave_all(graph_place_of(place), &c->need[i]);
        OPS.forget(place, c->role[i].class);
    }
    free(c->role);
    free(c->need);
    *c = (struct bundle_class){0};
}

/* Make a class of roles, whose classes it uses from then on. Returns 0, or -1 with ENOMEM. */
static int make_bundle_class(struct place *place, struct bundle_class *c,
                             const struct place_role *role, size_t n, uint32_t part)
{
    struct graph_place *g = graph_place_of(place);
    *c = (struct bundle_class){.role = malloc(n * sizeof(*c->role)),
                               .need = calloc(n, sizeof(*c->need)),
                               .n = (uint32_t)n,
                               .part = part};
    if (!c->role || !c->need) {
        unmake(place, c, 0);
        return -1;
    }
    memcpy(c->role, role, n * sizeof(*c->role));
    for (size_t i = 0; i < n; i++) {
        int64_t units;
        uint32_t class = role[i].class;
        c->total += role[i].count;
        int rc = OPS.know(place, NULL, part, false, &class, &units, NULL);
        if (rc == 0 && capacity_enter_all(g, &g->classes[class], role[i].count, &c->need[i]) == 0)
            continue;
        if (rc == 0)
            OPS.forget(place, class);
        unmake(place, c, i);
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int bundle_gather(struct place *place, const struct place_role *role, size_t n, uint32_t part,
                  bool refuse, uint32_t *class, int64_t *units, berth_error_t *err)
{
    struct graph_place *g = graph_place_of(place);
    int64_t at = bundles_need(g) < 0 ? -1 : seek(g->bundles, role, n, part);
    struct bundle_class *c = at < 0 ? NULL : &g->bundles->class[at];
    if (!c || (c->users == 0 && make_bundle_class(place, c, role, n, part) < 0))
        return errtext_no_memory(err);
    c->users++;
    *class = BUNDLE_CLASS | (uint32_t)at;
    *units = bundle_units(place, *class);
    if (refuse && judge_all(place, c, err) < 0) {
        int saved = errno;
        bundle_forget(place, *class);
        errno = saved;
        return -1;
    }
    return 0;
}

int bundle_know(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
                uint32_t *class, int64_t *units, berth_error_t *err)
{
    if (spec || !is_bundle_class(*class))
        return OPS.know(place, spec, part, refuse, class, units, err);
    struct bundle_class *c = &graph_place_of(place)->bundles->class[*class & ~BUNDLE_CLASS];
    if (graph_place_refresh(graph_place_of(place)) < 0)
        return errtext_no_memory(err);
    if (refuse && judge_all(place, c, err) < 0)
        return -1;
    c->users++;
    *units = bundle_units(place, *class);
    return 0;
}

void bundle_forget(struct place *place, uint32_t class)
{
    if (!is_bundle_class(class)) {
        OPS.forget(place, class);
        return;
    }
    struct bundle_class *c = &graph_place_of(place)->bundles->class[class & ~BUNDLE_CLASS];
    if (--c->users == 0)
        unmake(place, c, c->n);
}

int64_t bundle_units(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(class))
        return OPS.units(place, class);
    graph_place_refresh(n);
    return capped_sum(bundle_cores(n, bundle_class_of(place, class)), 1);
}

/* Members may share nodes that they do not want for themselves. */
int64_t bundle_wants(const struct place *place, uint32_t class, const char *type)
{
    struct graph_place *n = graph_place_of(place);
    if (!is_bundle_class(class))
        return OPS.wants(place, class, type);
    const struct bundle_class *b = bundle_class_of(place, class);
    bool is_node = strcmp(type, "node") == 0;
    int64_t sum = 0, most = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct class *c = &n->classes[b->role[i].class];
        int64_t one = OPS.wants(place, b->role[i].class, type);
        bool is_shared = is_node && !(c->n_pieces == 1 && c->piece[0].alone);
        int64_t fewest = is_shared && one > 0
                             ? graph_place_fewest(n, c, b->role[i].count, &b->need[i].fewest)
                             : 0;
        one = fewest > one ? fewest : one;
        if (is_shared)
            most = one > most ? one : most;
        else
            sum = capped_sum(sum, capped_product(one, b->role[i].count));
    }
    return capped_sum(sum, most); /* nodes that they want for themselves nobody shares */
}

uint32_t bundle_members(const struct place *place, uint32_t class)
{
    return is_bundle_class(class) ? bundle_class_of(place, class)->total : 1;
}

bool bundle_is(uint32_t class)
{
    return is_bundle_class(class);
}

uint32_t bundle_first_role(const struct place *place, uint32_t class, int64_t booking)
{
    const struct bundle_class *c = bundle_class_of(place, class);
    uint32_t gone = c->total - bundle_of(place, booking)->n, role = 0;
    while (role + 1 < c->n && gone >= c->role[role].count)
        gone -= c->role[role++].count;
    return c->role[role].number;
}

void bundles_clear(struct graph_place *n)
{
    struct bundles *t = n->bundles;
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n_classes; i++) {
        free(t->class[i].role);
        free(t->class[i].need);
    }
    for (uint32_t i = 0; i < t->n_bundles; i++)
        free(t->bundle[i].v);
    free(t->class);
    free(t->bundle);
    free(t->node);
    strbuf_clear(&t->text);
    free(t);
    n->bundles = NULL;
}
