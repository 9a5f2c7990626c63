/* A machine of many nodes, of which nearly all are taken most of the time, against a mask of cores for each node and tick:
 * a job is placed if and only if there is room for it, on what is free; and what is free is counted right. What the matcher
 * keeps of nodes that are full, of one and of many next to each other, must change nothing in that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "match/inner.h"
#include "match/plan.h"
#include "random.h"

enum {
    NODES = 200,
    CORES = 4,
    TICKS = 48,
    JOBS = 400,
    STEPS = 6000,
    VERTICES = 1 + NODES * (1 + CORES)
};

struct full {
    struct random r;
    match_t *m;
    uint8_t used[NODES][TICKS]; /* a bit for each core; all where a job has the node to itself */
    struct job_model {
        int from, until; /* until 0: there is none */
        uint8_t mask[NODES];
    } job[JOBS];
    int node[VERTICES], core[VERTICES]; /* of a vertex; core -1: it is the node */
};

/* Cores of a node that are free throughout. */
static int room(const struct full *f, int node, int from, int until)
{
    unsigned taken = 0;
    for (int t = from; t < until; t++)
        taken |= f->used[node][t];
    return CORES - __builtin_popcount(taken);
}

/* How many nodes have so many cores free throughout. */
static int nodes_with(const struct full *f, int cores, int from, int until)
{
    int n = 0;
    for (int i = 0; i < NODES; i++)
        n += room(f, i, from, until) >= cores;
    return n;
}

static void make(struct full *f)
{
    char text[256];
    const uint32_t *nodes, *cores;
    berth_error_t err;
    int n =
        snprintf(text, sizeof(text),
                 "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-%d\", \"children\": "
                 "{\"core\": \"0-%d\"}}], \"starttime\": 0, \"expiration\": 0, \"nodelist\": "
                 "[\"n[0-%d]\"]}}",
                 NODES - 1, CORES - 1, NODES - 1);
    resource_graph_t *graph = resource_graph_read("rv1exec", text, (size_t)n, &err);
    match_options_t options = {.policy = random_between(&f->r, 0, 1) ? "low" : "high",
                               .filters = "ALL:core,ALL:node"};
    f->m = graph ? match_create(graph, &options, &err) : NULL;
    assert_non_null(f->m);
    assert_int_equal(topo_children(&f->m->topo, f->m->topo.root, &nodes), NODES);
    for (int i = 0; i < NODES; i++) {
        f->node[nodes[i]] = i;
        f->core[nodes[i]] = -1;
        assert_int_equal(topo_children(&f->m->topo, nodes[i], &cores), CORES);
        for (int k = 0; k < CORES; k++) {
            f->node[cores[k]] = i;
            f->core[cores[k]] = k;
        }
    }
}

/* Nodes to itself, or cores of one. */
static jobspec_t *spec_of(int nodes, int cores)
{
    char text[512];
    int n = nodes > 0
                ? snprintf(text, sizeof(text),
                           "{version: 9999, resources: [{type: node, count: %d, exclusive: true, "
                           "with: [{type: slot, count: 1, label: s, with: [{type: core, count: "
                           "1}]}]}]",
                           nodes)
                : snprintf(text, sizeof(text),
                           "{version: 9999, resources: [{type: node, count: 1, with: [{type: slot, "
                           "count: 1, label: s, with: [{type: core, count: %d}]}]}]",
                           cores);
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  ", tasks: [{command: [app], slot: s, count: {per_slot: 1}}], attributes: "
                  "{system: {duration: 1}}}");
    jobspec_t *spec = jobspec_parse(text, (size_t)n, NULL, NULL);
    assert_non_null(spec);
    return spec;
}

/* Take what a job holds over, which was free. Returns how many nodes it has cores of. */
static int take(struct full *f, int id)
{
    struct job_model *job = &f->job[id];
    uint32_t i = 0, vertex;
    bool alone;
    int nodes = 0;
    while (match_job_next_hold(f->m, id, &i, &vertex, &alone)) {
        int node = f->node[vertex], core = f->core[vertex];
        if (vertex == f->m->topo.root || (core < 0 && !alone))
            continue;
        nodes += job->mask[node] == 0;
        job->mask[node] |= (uint8_t)(core < 0 ? (1 << CORES) - 1 : 1 << core);
    }
    for (int node = 0; node < NODES; node++)
        for (int t = job->from; t < job->until; t++) {
            assert_int_equal(f->used[node][t] & job->mask[node], 0);
            f->used[node][t] |= job->mask[node];
        }
    return nodes;
}

static void place(struct full *f, int id)
{
    struct job_model *job = &f->job[id];
    int from = (int)random_between(&f->r, 0, TICKS / 4);
    int until = (int)random_between(&f->r, from + 1, TICKS);
    bool whole = random_between(&f->r, 0, 2) == 0;
    int nodes = whole ? (int)random_between(&f->r, 1, 40) : 0;
    int cores = whole ? CORES : (int)random_between(&f->r, 1, CORES);
    bool fits = nodes_with(f, cores, from, until) >= (whole ? nodes : 1);
    jobspec_t *spec = spec_of(nodes, cores);
    struct plan_ask ask = {.spec = spec, .duration = until - from};
    int rc = match_plan(f->m, &ask, id, from, false);
    assert_int_equal(rc == 0, fits);
    if (rc < 0)
        assert_int_equal(errno, EBUSY);
    jobspec_destroy(spec);
    if (rc < 0)
        return;
    *job = (struct job_model){.from = from, .until = until};
    assert_int_equal(take(f, id), whole ? nodes : 1);
}

static void drop(struct full *f, int id)
{
    struct job_model *job = &f->job[id];
    assert_int_equal(match_cancel(f->m, id, NULL, NULL), 0);
    for (int node = 0; node < NODES; node++)
        for (int t = job->from; t < job->until; t++)
            f->used[node][t] &= (uint8_t)~job->mask[node];
    job->until = 0;
}

static void count(struct full *f)
{
    int from = (int)random_between(&f->r, 0, TICKS / 2);
    int until = (int)random_between(&f->r, from + 1, TICKS), cores = 0;
    jobspec_t *spec = spec_of(1, 0);
    struct plan_ask ask = {.spec = spec, .duration = until - from};
    for (int i = 0; i < NODES; i++)
        cores += room(f, i, from, until);
    assert_int_equal(match_part_free(f->m, &ask, TYPE_NODE, true, from, INT64_MAX),
                     nodes_with(f, CORES, from, until));
    assert_int_equal(match_part_free(f->m, &ask, TYPE_CORE, false, from, INT64_MAX), cores);
    jobspec_destroy(spec);
}

static void test_full(void **state)
{
    static struct full f;
    uint64_t placed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        memset(&f, 0, sizeof(f));
        f.r.state = seed;
        make(&f);
        for (int i = 0; i < STEPS; i++) {
            int id = (int)random_between(&f.r, 1, JOBS - 1);
            if (f.job[id].until > 0 && random_between(&f.r, 0, 3) == 0)
                drop(&f, id);
            else if (f.job[id].until == 0)
                place(&f, id);
            placed += f.job[id].until > 0;
            if (i % 8 == 0)
                count(&f);
            if (i % 64 == 0)
                assert_true(match_check(f.m));
        }
        match_destroy(f.m);
    }
    print_message("%llu steps left a job placed\n", (unsigned long long)placed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
