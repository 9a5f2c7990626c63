/* Tasks of one job are spread over nodes: played through the whole core. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property/random.h"
#include "berth/match.h"
#include "berth/sched.h"
#include "berth/sched_query.h"
#include "config/config.h"
#include "scoot.h"

#define ONE_CORE                                                                                   \
    "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":1,\"label\":\"t\",\"with\":["   \
    "{\"type\":\"core\",\"count\":1}]}],\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\","           \
    "\"count\":{\"per_slot\":1}}],\"attributes\":{\"system\":{}}}"

/* Run tasks that take from 1 to 9 ticks each, and count those that each host has run. */
static bool count_tasks(sched_t *s, int64_t tasks, int64_t *counts, size_t nodes)
{
    struct sched_request request = {
        .jobspec = ONE_CORE, .jobspec_length = strlen(ONE_CORE), .duration = 10};
    struct random r = {1};
    sched_job_t *running = calloc((size_t)tasks + 1, sizeof(*running));
    int64_t *end = calloc((size_t)tasks + 1, sizeof(*end)), done = 0, started = 0;
    for (int64_t i = 0; i < tasks; i++) {
        request.tag = (uint64_t)i + 1;
        sched_submit(s, 0, &request);
    }
    for (int64_t now = 0; done < tasks && now < 100 * tasks; now++) {
        const struct sched_decision *d;
        size_t n;
        for (int64_t i = 0; i < started; i++)
            if (end[i] == now && sched_finish(s, now, running[i], true) == 0)
                done++;
        if (sched_pass(s, now, false, &d, &n) < 0)
            break;
        for (size_t i = 0; i < n; i++) {
            struct sched_allocation a;
            if (d[i].kind != SCHED_START || sched_allocation(s, d[i].job, &a) < 0)
                continue;
            if (a.n_hosts == 1 && a.hosts[0].rank >= 0 && (size_t)a.hosts[0].rank < nodes)
                counts[a.hosts[0].rank]++;
            running[started] = d[i].job;
            end[started++] = now + random_between(&r, 1, 9);
        }
    }
    free(end);
    free(running);
    return done == tasks;
}

static sched_t *open_core(int64_t nodes, struct config **config, match_t **machine)
{
    char text[200];
    berth_error_t err = {""};
    snprintf(text, sizeof(text),
             "resources: {nodes: %" PRId64 ", cores: 1}\nqueues: {q: {policy: easy}}\n", nodes);
    *config = config_read("c", text, strlen(text), 1, &err);
    resource_graph_t *graph = *config ? config_make_nodes(&(*config)->resources, &err) : NULL;
    *machine = graph ? match_create(graph, &(*config)->match, &err) : NULL;
    sched_t *s = *machine ? sched_create(*machine, &(*config)->sched, &err) : NULL;
    if (!s)
        wrong("%s", err.text);
    return s;
}

enum outcome play_spread_evenly(json_t *c)
{
    int64_t nodes = number_of(c, "nodes", 0), low = 0, high = 0, tasks = 0;
    int64_t *counts = calloc((size_t)nodes + 1, sizeof(*counts));
    struct config *config = NULL;
    match_t *machine = NULL;
    enum outcome outcome = PASSED;
    json_t *job;
    size_t i;
    json_array_foreach (json_object_get(c, "jobs"), i, job)
        tasks += number_of(job, "tasks", 0);
    sched_t *s = open_core(nodes, &config, &machine);
    if (sscanf(text_of(c, "expect"), "each node runs between %" SCNd64 " and %" SCNd64, &low,
               &high) != 2)
        outcome = LEFT_OUT;
    else if (!s || !count_tasks(s, tasks, counts, (size_t)nodes))
        outcome = wrong("not all tasks have run");
    for (int64_t n = 0; outcome == PASSED && n < nodes; n++)
        if (counts[n] < low || counts[n] > high)
            outcome = wrong("node %" PRId64 " has run %" PRId64 " tasks", n, counts[n]);
    sched_destroy(s);
    match_destroy(machine);
    config_destroy(config);
    free(counts);
    return outcome;
}
