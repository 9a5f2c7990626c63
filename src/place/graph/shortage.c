/* What people are told: what is short, who holds it, how much, and which. */
#include <errno.h>
#include <string.h>

#include "match/text/names.h"
#include "place/graph/graph_priv.h"

/* What a class asks for that calendars count too little of: that itself if it is named, else the nodes that
 * come with it.
 */
static const char *short_of(const struct graph_place *n, const struct class *c)
{
    const char *unit = intern_text(&n->graph->types, n->unit);
    const char *last = unit;

    for (uint32_t i = 0; i < c->spec->nresources; i++) {
        const struct jobspec_resource *r = &c->spec->resources[i];
        if (r->kind != JOBSPEC_RESOURCE)
            continue;
        if (strcmp(r->type, unit) == 0)
            return unit;
        last = strcmp(last, "node") == 0 ? last : r->type;
    }
    return last;
}

/* What is known of a count: 1 if it is enough, 0 if it is less, -1: neither. Over a longer time no more is
 * free, and over a shorter one no less.
 */
static int known(const struct place_counts *counts, const struct place_count *ask)
{
    for (uint32_t i = 0; counts && i < counts->n; i++) {
        const struct place_count *x = &counts->v[i];
        if (x->part != ask->part || x->class != ask->class || x->permits != ask->permits ||
            x->type != ask->type || x->alone != ask->alone)
            continue;
        if (x->is_all && x->duration <= ask->duration && x->count < ask->count)
            return 0;
        if (x->duration >= ask->duration && x->count >= ask->count)
            return 1;
    }
    return -1;
}

static void know(struct place_counts *counts, const struct place_count *count)
{
    if (!counts)
        return;
    if (counts->n < PLACE_COUNTS) {
        counts->v[counts->n++] = *count;
        return;
    }
    counts->v[counts->oldest] = *count;
    counts->oldest = (counts->oldest + 1) % PLACE_COUNTS;
}

/* Whether less of a type is free than a request wants. */
static bool is_short(struct graph_place *n, const struct place_ask *ask, uint16_t type, bool alone,
                     int64_t at, struct place_counts *counts)
{
    const struct class *c = class_of(n, ask);
    struct plan_ask plan = graph_place_plan(n, ask);
    const char *name = intern_text(&n->graph->types, type);
    int64_t wants = graph_place_wants(&n->place, ask->class, name);
    struct place_count count = {.part = c->part,
                                .class = c->spec->constraints ? ask->class : PLACE_NO_CLASS,
                                .permits = ask->permits,
                                .type = type,
                                .alone = alone,
                                .duration = ask->duration,
                                .count = wants};
    int enough = known(counts, &count);

    if (enough < 0) {
        count.count = match_part_free(n->match, &plan, type, alone, at, wants);
        count.is_all = count.count < wants;
        know(counts, &count);
        enough = count.count >= wants;
    }
    return !enough;
}

/* The request that least is there for at a time, of those that too little is there for; NULL: it is not
 * that.
 */
const char *graph_place_lacks(struct place *place, const struct place_ask *ask, int64_t at,
                              struct place_counts *counts)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);

    if (!c || graph_place_refresh(n) < 0)
        return "node";
    struct plan_ask plan = graph_place_plan(n, ask);
    if (plan.calendar &&
        (plan.limit < 0 || profile_max(plan.calendar, at, at + ask->duration) > plan.limit))
        return short_of(n, c);
    for (uint32_t i = c->spec->nresources; i-- > 0;) {
        const struct jobspec_resource *r = &c->spec->resources[i];
        uint16_t type;
        if (r->kind == JOBSPEC_RESOURCE && graph_place_type(n, r->type, &type) &&
            is_short(n, ask, type, graph_place_is_alone(n, r), at, counts))
            return intern_text(&n->graph->types, type);
    }
    for (uint32_t i = 0; i < c->spec->nresources; i++) /* enough in all, but too little of each */
        if (graph_place_is_shared(n, &c->spec->resources[i]) && c->spec->resources[i].end > i + 1)
            return c->spec->resources[i + 1].type;
    for (uint32_t i = 0; i < c->spec->nresources; i++) /* or of the kind that it asks for */
        if (c->spec->resources[i].property)
            return c->spec->resources[i].type;
    uint16_t node;
    return graph_place_type(n, "node", &node) && match_has_nodes(n->match, 0)
               ? "node"
               : c->spec->resources[c->spec->nresources - 1].type;
}

/* Whether a resource that is held is one that a class asks for. */
static bool could_use(const struct graph_place *n, const struct class *c, uint32_t vertex,
                      bool alone)
{
    const char *type = graph_type_name(n->graph, vertex);

    for (uint32_t i = 0; i < c->spec->nresources; i++) {
        const struct jobspec_resource *r = &c->spec->resources[i];
        if (r->kind != JOBSPEC_RESOURCE)
            continue;
        uint16_t asked;
        if (strcmp(r->type, type) == 0 &&
            (alone || graph_place_is_alone(n, r) || n->graph->v[vertex].divisible))
            return true;
        if (alone && graph_place_type(n, r->type, &asked) &&
            match_has_below(n->match, vertex, asked))
            return true;
    }
    return alone && match_gives_whole_nodes(n->match);
}

int64_t graph_place_useful(struct place *place, const struct place_ask *ask, int64_t booking)
{
    struct graph_place *n = graph_place_of(place);
    const struct class *c = class_of(n, ask);
    uint32_t i = 0, vertex;
    int64_t useful = 0;
    bool alone;

    if (!c || graph_place_refresh(n) < 0)
        return 1;
    while (match_job_next_hold(n->match, booking, &i, &vertex, &alone)) {
        uint32_t node = match_node_of(n->match, vertex);
        if (match_part_has(n->parts[c->part].within, vertex) && could_use(n, c, vertex, alone) &&
            !match_node_is_down(n->match, vertex) &&
            (n->graph->v[node].type != TYPE_NODE ||
             match_satisfies(n->match, c->spec->constraints, node)))
            useful++;
    }
    return useful;
}

/* What a booking has of the unit in all of the machine, which is the first part. */
static int64_t units_in_all(const struct booking *b)
{
    return b->n > 0 && b->first.part == 0 ? b->first.all : 0;
}

int64_t graph_place_amount(const struct place *place, int64_t booking, const char *type)
{
    const struct graph_place *n = graph_place_of(place);
    uint16_t number;

    if (!graph_place_type(n, type, &number))
        return 0;
    if (number == n->unit && n->has_unit && !n->stale && booking != BOOKING_TEMP)
        return units_in_all(&n->bookings[booking]);
    return number == TYPE_NODE ? match_job_nodes(n->match, booking)
                               : match_job_amount(n->match, booking, number, NULL, false);
}

int64_t graph_place_clear(const struct place *place, int64_t booking, const char *type,
                          uint64_t blocks)
{
    const struct graph_place *n = graph_place_of(place);
    uint16_t number;

    return graph_place_type(n, type, &number) ? match_job_clear(n->match, booking, number, blocks)
                                              : 0;
}

int64_t graph_place_total(const struct place *place, const char *type)
{
    const struct graph_place *n = graph_place_of(place);
    uint16_t number;

    return graph_place_type(n, type, &number) ? match_part_amount(n->match, NULL, number, false)
                                              : 0;
}

int64_t graph_place_up(const struct place *place, uint32_t part, const char *type, uint64_t blocks)
{
    const struct graph_place *n = graph_place_of(place);
    uint16_t number;

    if (!graph_place_type(n, type, &number))
        return 0;
    return blocks ? match_part_open(n->match, n->parts[part].within, number, blocks)
                  : match_part_amount(n->match, n->parts[part].within, number, true);
}

int graph_place_write(struct place *place, int64_t booking, const char *format, const char **text,
                      size_t *length)
{
    struct graph_place *n = graph_place_of(place);

    if (format)
        return match_write_job(n->match, booking, format, text, length);
    strbuf_reset(&n->text);
    if (match_summary(n->match, booking, &n->text) < 0)
        return -1;
    *text = strbuf_text(&n->text);
    *length = n->text.len;
    if (!n->text.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
