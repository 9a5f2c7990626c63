/* What bookings that name resources cost, on 10,000 nodes with 32 cores each: a match, a start and a
 * release on a machine that is nearly full; a match in vain; who is woken by an end; what is asked of
 * counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test/fixture/change_place.h"
#include "berth/match.h"
#include "measure.h"
#include "place/graph.h"
#include "resource/graph.h"

enum { RACKS = 100, NODES = 100, CORES = 32, ROOMS = 64, REPEAT = 2000 };

static const char *const parts[] = {NULL, "{\"properties\": [\"p1\"]}",
                                    "{\"properties\": [\"p2\"]}"};

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_graph_place: %s\n", what);
    exit(1);
}

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id)
{
    uint32_t v = graph_add(
        g, &(struct vertex_spec){.type = type, .id = id, .uniq_id = -1, .size = 1, .rank = -1});

    if (parent == VERTEX_NONE)
        graph_set_root(g, GRAPH_CONTAINMENT, v);
    else
        graph_connect(g, parent, v, GRAPH_CONTAINMENT);
    return v;
}

static match_t *make_machine(const char *policy, bool flat)
{
    struct graph *g = graph_create();
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0);

    for (int r = 0; r < RACKS; r++) {
        uint32_t rack = flat ? root : add(g, root, "rack", r);
        for (int i = 0; i < NODES; i++) {
            uint32_t node = add(g, rack, "node", r * NODES + i);
            graph_set_property(g, node, i % 2 ? "p1" : "p2", "");
            for (int c = 0; c < CORES; c++)
                add(g, node, "core", c);
        }
    }
    check(graph_seal(g) == 0, "no graph");
    return match_create(g, &(match_options_t){.policy = policy, .end = MATCH_END_MAX}, NULL);
}

static struct place_ask know(struct place *p, int nodes, int cores, uint32_t part, int64_t duration)
{
    char text[400];
    struct place_ask ask = {.part = part, .duration = duration};

    if (cores == 0)
        snprintf(
            text, sizeof(text),
            "{version: 9999, resources: [{type: node, count: %d, exclusive: true, with: [{type: "
            "slot, count: 1, label: s, with: [{type: core, count: 1}]}]}], tasks: [{command: "
            "[a], slot: s, count: {per_slot: 1}}]}",
            nodes);
    else
        snprintf(
            text, sizeof(text),
            "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: core, "
            "count: %d}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}]}",
            nodes, cores);
    snprintf(text + strlen(text) - 1, 40, ", attributes: {system: {duration: 0}}}");
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    check(spec && p->ops->know(p, spec, part, true, &ask.class, &ask.units, NULL) == 0, text);
    jobspec_destroy(spec);
    return ask;
}

static void row(const char *policy, const char *what, double seconds, int n)
{
    printf("%-8s %-44s %10.2f us\n", policy, what, seconds * 1e6 / n);
}

struct bench {
    const char *policy;
    struct place *p;
    const struct place_ops *ops;
    int64_t *booking;
    struct place_ask node, two, cores, many;
};

static void fill(struct bench *b)
{
    double t = now();

    for (int i = 0; i < RACKS * NODES; i++) {
        b->node.duration = 10000 + 7 * (i % 1000);
        b->booking[i] = b->ops->book(b->p, &b->node, 0);
        check(b->booking[i] >= 0 && b->ops->start(b->p, &b->node, b->booking[i], 0) == 0,
              "no node");
    }
    row(b->policy, "book and start a node, filling the machine", now() - t, RACKS * NODES);
}

static void in_vain(struct bench *b, const struct place_ask *ask, const char *what)
{
    double t = now();

    for (int i = 0; i < REPEAT; i++)
        check(b->ops->book(b->p, ask, 1) < 0, "too many");
    row(b->policy, what, now() - t, REPEAT);
}

static void when(struct bench *b, const struct place_ask *ask, const char *what, int repeat)
{
    double t = now();

    for (int i = 0; i < repeat; i++)
        check(b->ops->when(b->p, ask, 1) > 0, "never");
    row(b->policy, what, now() - t, repeat);
}

static void again(struct bench *b)
{
    double t = now();

    for (int i = 0; i < REPEAT; i++) {
        int k = (i * 37) % (RACKS * NODES);
        b->ops->release(b->p, b->booking[k]);
        b->node.duration = 10000 + 7 * (k % 1000);
        b->booking[k] = b->ops->book(b->p, &b->node, 1);
        check(b->booking[k] >= 0 && b->ops->start(b->p, &b->node, b->booking[k], 1) == 0,
              "no node");
    }
    row(b->policy, "release, book and start a node", now() - t, REPEAT);
}

static void wakes(struct bench *b)
{
    uint64_t yes = 0;

    uint64_t since = b->p->freed.next;
    b->ops->release(b->p, b->booking[4711]);
    double t = now();
    for (int i = 0; i < 100000; i++) {
        yes += graph_place_wakes(b->p, b->node.class, since);
        yes += graph_place_wakes(b->p, b->two.class, since);
        yes += graph_place_wakes(b->p, b->cores.class, since);
        yes += graph_place_wakes(b->p, b->many.class, since);
    }
    row(b->policy, "whether a class is woken by a node's end", now() - t, 400000);
    check(yes > 0, "nobody is woken");
}

static void small_ones(struct bench *b)
{
    struct planner_room room[ROOMS];
    double t = now();

    for (int i = 0; i < REPEAT; i++)
        b->ops->rooms(b->p, 1, 1, room, ROOMS);
    row(b->policy, "rooms of a part", now() - t, REPEAT);
    t = now();
    for (int i = 0; i < REPEAT; i++)
        b->ops->lacks(b->p, &b->two, 1, NULL);
    row(b->policy, "what is short", now() - t, REPEAT);
    t = now();
    for (int i = 0; i < REPEAT; i++) {
        b->ops->lift(b->p, b->booking[i], false);
        b->ops->drop(b->p, &b->two, b->booking[i]);
    }
    row(b->policy, "lift and drop a node", now() - t, REPEAT);
    t = now();
    for (int i = 0; i < 20; i++)
        check(set_status(b->p, "node4000", i % 2 ? RESOURCE_UP : RESOURCE_DOWN, NULL) == 0,
              "no such node");
    row(b->policy, "a node goes down or up", now() - t, 20);
}

/* Every node has a job with some of its cores. */
static void share(struct bench *b)
{
    for (int i = 0; i < RACKS * NODES; i++)
        if (i != 4711)
            b->ops->release(b->p, b->booking[i]);
    struct place_ask most = know(b->p, 1, 20, 0, 1000);
    double t = now();
    for (int i = 0; i < RACKS * NODES; i++) {
        most.duration = 10000 + 7 * (i * 37 % 10007);
        check(b->ops->book(b->p, &most, 0) >= 0, "no cores");
    }
    row(b->policy, "book 20 cores of each node", now() - t, RACKS * NODES);
    in_vain(b, &b->node, "book a node in vain where all are shared");
    when(b, &b->two, "when two nodes of a part will be free", 20);
    when(b, &b->many, "when 1000 nodes will be free", 2);
    t = now();
    for (int i = 0; i < 20; i++)
        check(b->ops->book(b->p, &b->cores, 1) >= 0, "no cores");
    row(b->policy, "book four cores beside them", now() - t, 20);
}

static void run(const char *policy, bool flat)
{
    match_t *m = make_machine(policy, flat);
    struct bench b = {.policy = policy, .p = graph_place_create(m, NULL)};

    check(b.p != NULL, "no place");
    b.ops = b.p->ops;
    b.booking = calloc(RACKS * NODES, sizeof(*b.booking));
    for (int i = 0; i < 3; i++)
        check(b.ops->part(b.p, parts[i], NULL) == i, "no part");
    b.node = know(b.p, 1, 0, 0, 1000);
    b.two = know(b.p, 2, 0, 1, 5000);
    b.cores = know(b.p, 1, 4, 0, 1000);
    b.many = know(b.p, 1000, 0, 0, 1000);
    fill(&b);
    in_vain(&b, &b.node, "book a node in vain");
    in_vain(&b, &b.two, "book two nodes of a part in vain");
    again(&b);
    when(&b, &b.two, "when two nodes of a part will be free", REPEAT);
    when(&b, &b.many, "when 1000 nodes will be free", 20);
    wakes(&b);
    small_ones(&b);
    share(&b);
    b.ops->destroy(b.p);
    match_destroy(m);
    free(b.booking);
}

int main(void)
{
    static const char *const policies[] = {"low", "high", "first", "locality", "lonode"};

    setvbuf(stdout, NULL, _IOLBF, 0);

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        run(policies[i], false);
    printf("without racks:\n");
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        run(policies[i], true);
    return 0;
}
