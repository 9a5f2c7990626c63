/* Classes: equal requests in one part of the machine are one, and what follows from a request is found out
 * once. What has room for the pieces that it asks for is counted by capacity, which several classes share
 * (capacity.h); which of the waiting jobs of a class may fit is known by group (sched/waiting/job_group.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/number.h"
#include "jobspec/canonical.h"
#include "jobspec/short.h"
#include "place/graph/graph_priv.h"

static uint32_t hash_of(const char *text, uint32_t part)
{
    uint32_t hash = 2166136261u ^ part;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

bool graph_place_type(const struct graph_place *n, const char *name, uint16_t *type)
{
    uint32_t id;

    if (n->has_unit && strcmp(name, intern_text(&n->graph->types, n->unit)) == 0) {
        *type = n->unit; /* mostly */
        return true;
    }
    if (!intern_find(&n->graph->types, name, strlen(name), &id))
        return false;
    *type = (uint16_t)id;
    return true;
}

bool graph_place_is_alone(const struct graph_place *n, const struct jobspec_resource *r)
{
    return r->exclusive == JOBSPEC_EXCLUSIVE_TRUE || r->in_slot ||
           (match_gives_whole_nodes(n->match) && strcmp(r->type, "node") == 0);
}

bool graph_place_is_shared(const struct graph_place *n, const struct jobspec_resource *r)
{
    uint16_t type;

    return r->exclusive == JOBSPEC_EXCLUSIVE_FALSE && graph_place_type(n, r->type, &type) &&
           type != TYPE_NODE && !match_is_pool(n->match, type);
}

/* ---- The least that is taken ---- */

/* The least number of vertices that a count needs. */
static int64_t vertices_of(const struct graph_place *n, const struct jobspec_resource *r)
{
    uint16_t type;
    int64_t size = r->kind == JOBSPEC_RESOURCE && graph_place_type(n, r->type, &type)
                       ? match_type_size(n->match, type)
                       : 1;

    return size > 1 ? (r->count.min + size - 1) / size : r->count.min;
}

/* What a request takes of a type at least; of alternatives nothing is known. */
static int64_t least_of(struct graph_place *n, const struct class *c, uint32_t i, uint16_t type)
{
    const struct jobspec_resource *r = &c->spec->resources[i];
    int64_t sum = 0;
    uint16_t own;

    if (r->kind == JOBSPEC_OR_SLOT || r->kind == JOBSPEC_XOR_SLOT)
        return 0;
    for (uint32_t k = i + 1; k < r->end; k = c->spec->resources[k].end)
        sum = capped_sum(sum, least_of(n, c, k, type));
    if (r->kind == JOBSPEC_SLOT)
        return capped_product(sum, r->count.min);
    if (!graph_place_type(n, r->type, &own))
        return 0;
    if (own == type) /* of what is shared it gets what is below */
        return capped_sum(graph_place_is_shared(n, r) ? 0 : r->count.min,
                          capped_product(sum, vertices_of(n, r)));
    if (graph_place_is_alone(n, r)) {
        int64_t least = graph_place_least(n, c->part, own, type);
        sum = least > sum ? least : sum;
    }
    return capped_product(sum, vertices_of(n, r));
}

static int64_t least(struct graph_place *n, const struct class *c, uint16_t type)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < c->spec->nresources; i = c->spec->resources[i].end)
        sum = capped_sum(sum, least_of(n, c, i, type));
    return sum;
}

/* True if anything is asked for that only nodes have. */
static bool is_in_nodes(const struct graph_place *n, const struct class *c)
{
    uint16_t type, node;

    if (!graph_place_type(n, "node", &node))
        return false;
    for (uint32_t i = 0; i < c->spec->nresources; i++)
        if (c->spec->resources[i].kind == JOBSPEC_RESOURCE && c->spec->resources[i].count.min > 0 &&
            graph_place_type(n, c->spec->resources[i].type, &type) &&
            match_all_in_nodes(n->match, type))
            return true;
    return false;
}

static int64_t wants(struct graph_place *n, struct class *c, const char *name)
{
    uint16_t type;

    if (!graph_place_type(n, name, &type))
        return 0;
    int64_t sum = least(n, c, type);
    if (!is_in_nodes(n, c))
        return sum;
    if (sum == 0 && strcmp(name, "node") == 0)
        return graph_place_fewest(n, c, 1, &c->fewest);
    if (match_gives_whole_nodes(n->match)) {
        int64_t whole = graph_place_least(n, c->part, TYPE_NODE, type);
        return whole > sum ? whole : sum;
    }
    return sum;
}

int64_t graph_place_wants(const struct place *place, uint32_t class, const char *type)
{
    struct graph_place *n = graph_place_of(place);

    if (!n->stale && n->has_unit && strcmp(type, intern_text(&n->graph->types, n->unit)) == 0)
        return n->classes[class].cores;
    return wants(n, &n->classes[class], type);
}

static void count_cores(struct graph_place *n, struct class *c)
{
    c->cores = n->has_unit ? wants(n, c, intern_text(&n->graph->types, n->unit)) : 0;
}

int64_t graph_place_units(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);

    graph_place_refresh(n);
    return capped_sum(n->classes[class].cores, 1);
}

void graph_place_classes_renew(struct graph_place *n)
{
    for (uint32_t i = 0; i < n->n_classes; i++)
        if (n->classes[i].text)
            count_cores(n, &n->classes[i]);
}

bool graph_place_classes_check(struct graph_place *n)
{
    bool right = true;

    for (uint32_t i = 0; !n->stale && n->has_unit && i < n->n_classes && right; i++) {
        struct class *c = &n->classes[i];
        right = !c->text || c->cores == wants(n, c, intern_text(&n->graph->types, n->unit));
    }
    return right;
}

/* ---- The table ---- */

static void class_clear(struct graph_place *n, struct class *c)
{
    capacity_leave(n, c);
    free(c->text);
    jobspec_destroy(c->spec);
    free(c->piece);
    *c = (struct class){.capacity = PLACE_NONE};
}

void graph_place_classes_clear(struct graph_place *n)
{
    for (uint32_t i = 0; i < n->n_classes; i++)
        class_clear(n, &n->classes[i]);
    free(n->classes);
    free(n->bucket);
}

static int widen_class_buckets(struct graph_place *n)
{
    if (n->live_classes < n->buckets)
        return 0;
    uint32_t buckets = n->buckets ? 2 * n->buckets : 64;
    uint32_t *bucket = malloc(buckets * sizeof(*bucket));
    if (!bucket)
        return -1;
    for (uint32_t b = 0; b < buckets; b++)
        bucket[b] = PLACE_NONE;
    for (uint32_t i = 0; i < n->n_classes; i++) {
        struct class *c = &n->classes[i];
        if (!c->text)
            continue;
        c->next = bucket[c->hash & (buckets - 1)];
        bucket[c->hash & (buckets - 1)] = i;
    }
    free(n->bucket);
    n->bucket = bucket;
    n->buckets = buckets;
    return 0;
}

/* A free place for a class; PLACE_NONE with ENOMEM. */
static uint32_t place_for_one(struct graph_place *n)
{
    if (widen_class_buckets(n) < 0)
        return PLACE_NONE;
    if (n->free_class != PLACE_NONE)
        return n->free_class;
    return array_grow((void **)&n->classes, &n->cap_classes, (size_t)n->n_classes + 1,
                      sizeof(*n->classes)) < 0
               ? PLACE_NONE
               : n->n_classes;
}

static void put_class_at(struct graph_place *n, uint32_t at, const struct class *c)
{
    if (at == n->n_classes)
        n->n_classes++;
    else
        n->free_class = n->classes[at].next;
    n->classes[at] = *c;
    n->classes[at].kind = ++n->kinds;
    n->classes[at].next = n->bucket[c->hash & (n->buckets - 1)];
    n->bucket[c->hash & (n->buckets - 1)] = at;
    n->live_classes++;
}

void graph_place_forget(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);
    struct class *c = &n->classes[class];
    uint32_t *link;

    if (--c->users > 0)
        return;
    for (link = &n->bucket[c->hash & (n->buckets - 1)]; *link != class;
         link = &n->classes[*link].next)
        ;
    *link = c->next;
    class_clear(n, c);
    c->next = n->free_class;
    n->free_class = class;
    n->live_classes--;
}

static uint32_t find_class(const struct graph_place *n, const char *text, uint32_t hash,
                           uint32_t part)
{
    uint32_t i = n->buckets ? n->bucket[hash & (n->buckets - 1)] : PLACE_NONE;

    while (i != PLACE_NONE && (n->classes[i].hash != hash || n->classes[i].part != part ||
                               strcmp(n->classes[i].text, text) != 0))
        i = n->classes[i].next;
    return i;
}

/* ---- What is known of one ---- */

struct plan_ask graph_place_plan(const struct graph_place *n, const struct place_ask *ask)
{
    const struct class *c = class_of(n, ask);
    struct plan_ask plan = {
        .duration = ask->duration, .permits = ask->permits, .clear = ask->clear};

    if (!c)
        return plan;
    const struct part *part = &n->parts[c->part];
    plan.spec = c->spec;
    plan.kind = c->kind;
    plan.within = n->is_narrow ? n->narrow : part->within;
    if (c->cores > 0) {
        plan.calendar = &part->calendar;
        plan.limit = part->capacity - c->cores;
    }
    return plan;
}

void graph_place_plan_counted(struct counted *counted, struct graph_place *n,
                              const struct place_ask *ask)
{
    counted->plan = graph_place_plan(n, ask);
    counted->n = n;
    counted->class = class_of(n, ask);
    counted->is_viewed = false;
    if (counted->class && counted->class->capacity != PLACE_NONE) {
        counted->plan.next = capacity_next;
        counted->plan.node_from = capacity_node_from;
        counted->plan.context = counted;
    }
}

/* How people say so much of a type. */
static void describe_amount(struct strbuf *out, int64_t count, const char *type, const char *unit)
{
    static const char *const counted[] = {"node", "core", "gpu", "socket", "rack"};
    const char *license = short_license_of(type);
    bool known = false;

    if (license) {
        strbuf_put_int(out, count);
        strbuf_puts(out, count == 1 ? " licence of " : " licences of ");
        strbuf_puts(out, license);
        return;
    }
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        known |= strcmp(type, counted[i]) == 0;
    strbuf_put_int(out, count);
    strbuf_putc(out, ' ');
    if (!known) {
        strbuf_puts(out, *unit ? unit : "units");
        strbuf_puts(out, " of ");
    }
    strbuf_puts(out, type);
    if (known && count != 1)
        strbuf_putc(out, 's');
}

/* How many nodes of its part a class may have, by what it requires; -1 with ENOMEM. */
static int64_t eligible(const struct graph_place *n, const struct class *c)
{
    const uint64_t *within = n->parts[c->part].within;
    uint64_t *fit = match_part(n->match, c->spec->constraints);

    if (!fit)
        return -1;
    for (uint32_t v = 0; within && v < n->graph->n; v += 64)
        fit[v / 64] &= within[v / 64];
    int64_t nodes = match_part_amount(n->match, fit, TYPE_NODE, false);
    free(fit);
    return nodes;
}

/* "MB", of resources of this type; "": they are just counted. */
static const char *unit_of(const struct graph_place *n, uint16_t type)
{
    for (uint32_t v = 0; v < n->graph->n; v++)
        if (n->graph->v[v].type == type)
            return intern_text(&n->graph->names, n->graph->v[v].unit);
    return "";
}

/* Say why it can never be: a count of some type, what it requires of nodes, or else how it asks for things
 * together.
 */
static int explain(struct graph_place *n, const struct class *c, berth_error_t *err)
{
    const struct part *part = &n->parts[c->part];

    for (uint32_t i = 0; i < c->spec->ntypes; i++) {
        const char *name = c->spec->types[i];
        uint16_t type;
        if (!graph_place_type(n, name, &type) || type == TYPE_SLOT || type == TYPE_XOR_SLOT)
            continue;
        int64_t want = least(n, c, type);
        int64_t has = match_part_amount(n->match, part->within, type, false);
        if (want <= has)
            continue;
        strbuf_reset(&n->text);
        describe_amount(&n->text, want, name, unit_of(n, type));
        return errtext_set(err, ENODEV, "asks for %s, the %s has %" PRId64, strbuf_text(&n->text),
                           part->requires ? "queue" : "machine", has);
    }
    if (c->spec->constraints) { /* also where these are of no kind that it asks for */
        int64_t want = least(n, c, TYPE_NODE);
        int64_t has = eligible(n, c);
        want = want > 0 ? want : 1;
        if (has < 0)
            return errtext_no_memory(err);
        if (has < want)
            return errtext_set(err, ENODEV,
                               "asks for %" PRId64 " node%s, %" PRId64 " are as it requires", want,
                               want == 1 ? "" : "s", has);
    }
    for (uint32_t i = 0; i < c->spec->nresources; i++) {
        const struct jobspec_resource *r = &c->spec->resources[i];
        uint16_t type;
        if (!r->property || !graph_place_type(n, r->type, &type))
            continue;
        int64_t has = match_part_of_kind(n->match, part->within, type, r->property);
        if (r->count.min <= has)
            continue;
        strbuf_reset(&n->text);
        describe_amount(&n->text, r->count.min, r->type, unit_of(n, type));
        return errtext_set(err, ENODEV, "asks for %s of %.60s, the %s has %" PRId64,
                           strbuf_text(&n->text), r->property, part->requires ? "queue" : "machine",
                           has);
    }
    return errtext_set(err, ENODEV, "there is enough in all, but not together");
}

static bool knows(const void *arg, const char *type)
{
    uint16_t number;

    return graph_place_type(arg, type, &number);
}

/* Find out whether an idle machine could, as it is now. Returns 0, or -1 with a text. */
static int judge_class(struct graph_place *n, struct class *c, berth_error_t *err)
{
    struct plan_ask plan = {.spec = c->spec, .within = n->parts[c->part].within, .duration = 1};
    c->never = match_plan_ever(n->match, &plan, 0) < 0;
    if (c->never && errno != ENODEV)
        return errtext_set(err, errno, "%s",
                           errno == EOVERFLOW ? "the request has too many alternatives to compare"
                           : errno == ENOMEM  ? "out of memory"
                                              : "the request can't be matched");
    c->judged = n->changes;
    return 0;
}

int graph_place_ever(struct place *place, const struct place_ask *ask, uint64_t blocks)
{
    struct graph_place *n = graph_place_of(place);
    struct class *c = &n->classes[ask->class];
    struct judgement is = {blocks, n->changes, n->block_changes, false};

    if (graph_place_refresh(n) < 0)
        return -1;
    if (c->beside.blocks != blocks || c->beside.changes != is.changes ||
        c->beside.block_changes != is.block_changes) {
        struct plan_ask plan = {.spec = c->spec, .within = n->parts[c->part].within, .duration = 1};
        is.never = match_plan_ever(n->match, &plan, blocks) < 0;
        if (is.never && errno == ENOMEM)
            return -1;
        is.never &= errno == ENODEV; /* what can't be compared may be there */
        c->beside = is;
    }
    errno = ENODEV;
    return c->beside.never ? -1 : 0;
}

int graph_place_could_up(struct place *place, uint32_t class)
{
    struct graph_place *n = graph_place_of(place);
    struct class *c = &n->classes[class];
    if (graph_place_refresh(n) < 0)
        return -1;
    uint64_t now = n->changes + n->status_changes + 1;
    if (c->up.as_of != now) {
        struct plan_ask plan = {
            .spec = c->spec, .within = n->parts[c->part].within, .duration = 1, .is_up = true};
        bool never = match_plan_ever(n->match, &plan, 0) < 0;
        if (never && errno == ENOMEM)
            return -1;
        c->up.never = never && errno == ENODEV; /* what can't be compared may be there */
        c->up.as_of = now;
    }
    errno = ENODEV;
    return c->up.never ? -1 : 0;
}

/* Find out all about a new class, whose text it has. */
static int make_class(struct graph_place *n, struct class *c, berth_error_t *err)
{
    struct jobspec_options options = {.knows_type = knows, .arg = n};

    c->spec = jobspec_parse(c->text, strlen(c->text), &options, err);
    if (!c->spec)
        return -1;
    if (judge_class(n, c, err) < 0)
        return -1;
    count_cores(n, c);
    return graph_place_pieces(n, c) < 0 || capacity_enter(n, c) < 0 ? errtext_no_memory(err) : 0;
}

/* As jobspec_parse would say it of the jobspec itself. */
static int check_types(const struct graph_place *n, const jobspec_t *spec, berth_error_t *err)
{
    uint16_t type;

    for (uint32_t i = 0; i < spec->nresources; i++) {
        const struct jobspec_resource *r = &spec->resources[i];
        bool unknown = r->kind == JOBSPEC_RESOURCE && !graph_place_type(n, r->type, &type);
        if (unknown && short_license_of(r->type))
            return errtext_set(err, EINVAL,
                               "asks for licences of %.63s, of which the machine has none",
                               short_license_of(r->type));
        if (unknown)
            return errtext_set(
                err, EINVAL,
                "line %" PRIu32 ", column %" PRIu32
                ": key \"type\": expected a resource type of the machine, got \"%s\"",
                r->line, r->column, r->type);
    }
    return 0;
}

/* Another user of a class that is known; `refuse` one that the machine has grown too small for. */
static int join_class(struct graph_place *n, struct class *c, bool refuse, berth_error_t *err)
{
    if (refuse && c->judged != n->changes && judge_class(n, c, err) < 0)
        return -1;
    if (refuse && c->never)
        return explain(n, c, err);
    c->users++;
    return 0;
}

/* A class that somebody knows. */
static int know_again(struct graph_place *n, uint32_t class, bool refuse, int64_t *units,
                      berth_error_t *err)
{
    if (graph_place_refresh(n) < 0)
        return errtext_no_memory(err);
    if (join_class(n, &n->classes[class], refuse, err) < 0)
        return -1;
    *units = capped_sum(n->classes[class].cores, 1);
    return 0;
}

int graph_place_know(struct place *place, const jobspec_t *spec, uint32_t part, bool refuse,
                     uint32_t *class, int64_t *units, berth_error_t *err)
{
    struct graph_place *n = graph_place_of(place);

    if (!spec)
        return know_again(n, *class, refuse, units, err);
    if (check_types(n, spec, err) < 0)
        return -1;
    struct class c = {
        .text = jobspec_canonical(spec), .part = part, .users = 1, .capacity = PLACE_NONE};
    if (!c.text || graph_place_refresh(n) < 0) {
        free(c.text);
        return errtext_no_memory(err);
    }
    c.hash = hash_of(c.text, part);
    uint32_t at = find_class(n, c.text, c.hash, part);
    if (at != PLACE_NONE) {
        free(c.text);
        if (join_class(n, &n->classes[at], refuse, err) < 0)
            return -1;
    } else {
        at = place_for_one(n);
        int rc = at == PLACE_NONE ? errtext_no_memory(err) : make_class(n, &c, err);
        if (rc == 0 && refuse && c.never)
            rc = explain(n, &c, err);
        if (rc < 0) {
            int saved = errno;
            class_clear(n, &c);
            errno = saved;
            return -1;
        }
        put_class_at(n, at, &c);
    }
    *class = at;
    *units = capped_sum(n->classes[at].cores, 1);
    return 0;
}
