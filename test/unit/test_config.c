/* The reader of configurations: what becomes of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "berth/sched_config.h"
#include "config/config.h"
#include "config/machine_open.h"
#include "config_texts.h"
#include "resource/graph.h"

static struct config *parse(const char *text)
{
    berth_error_t err;
    struct config *c = config_read("f", text, strlen(text), SECOND, &err);
    if (!c)
        fail_msg("%s", err.text);
    return c;
}

static void what_is_not_said_has_defaults(void **state)
{
    (void)state;
    struct config *c = parse(NODES);
    const struct sched_queue_config *q = c->sched.queues;
    assert_int_equal(c->resources.source, CONFIG_NODES);
    assert_int_equal(c->resources.nodes, 2);
    assert_int_equal(c->resources.cores, 1);
    assert_int_equal(c->resources.gpus, 0);
    assert_int_equal(c->resources.memory, 0);
    assert_string_equal(c->match.policy, "first");
    assert_string_equal(c->match.traverser, "simple");
    assert_string_equal(c->match.filters, "ALL:core,ALL:node");
    assert_string_equal(c->match.matcher, "CA");
    assert_string_equal(c->match_format, "rv1_nosched");
    assert_int_equal(c->sched.second, SECOND);
    assert_int_equal(c->sched.default_duration, INT64_C(3600) * SECOND);
    assert_int_equal(c->sched.min_interval, 0);
    assert_int_equal(c->sched.max_events, 0);
    assert_int_equal(c->sched.ended_jobs, SCHED_ENDED_JOBS);
    assert_int_equal(c->match.tries, MATCH_TRIES);
    assert_int_equal(c->sched.what_if_holders, SCHED_WHAT_IF_HOLDERS);
    assert_int_equal(c->sched.what_if_tries, SCHED_WHAT_IF_TRIES);
    assert_int_equal(c->sched.n_queues, 1);
    assert_string_equal(c->sched.default_queue, "default");
    assert_string_equal(q->name, "default");
    assert_string_equal(q->policy, "easy");
    assert_null(q->parent);
    assert_null(q->requires);
    assert_int_equal(q->queue_depth, 0);
    assert_int_equal(q->max_queue_depth, 0);
    assert_int_equal(q->reservation_depth, 0);
    assert_int_equal(q->max_reservation_depth, 0);
    assert_int_equal(q->priority, 0);
    assert_int_equal(q->default_duration, INT64_C(3600) * SECOND);
    assert_int_equal(q->preemptible, SCHED_NOT_PREEMPTIBLE);
    assert_int_equal(q->n_users + q->n_groups + q->limits.n_job + q->limits.n_user +
                         q->limits.n_queue + q->n_exceptions,
                     0);
    assert_int_equal(c->sched.n_blocks, 0);
    assert_string_equal(c->trace.processor, "core");
    assert_int_equal(c->server.n_administrators, 0);
    assert_int_equal(c->server.retention, INT64_C(90) * 86400 * SECOND);
    assert_int_equal(c->server.grace, 30 * SECOND);
    assert_int_equal(c->server.max_jobs_per_user, 1000000);
    assert_int_equal(c->server.max_stored_per_user, 1 << 30);
    assert_int_equal(c->server.requests_per_second, 10000);
    assert_int_equal(c->server.tasks_per_core, 1);
    assert_int_equal(c->server.processes_per_core, 0);
    config_destroy(c);
}

static void the_server_is_told_what_to_go_by(void **state)
{
    struct config *c =
        parse(NODES "server: {administrators: [ann, bob], retention: 7d, grace: 0.5, "
                    "max-jobs-per-user: 10, max-stored-per-user: 1.5G, "
                    "requests-per-second: unlimited, "
                    "tasks-per-core: 4, processes-per-core: unlimited}\n");
    (void)state;

    assert_int_equal(c->server.n_administrators, 2);
    assert_string_equal(c->server.administrators[1], "bob");
    assert_int_equal(c->server.retention, INT64_C(7) * 86400 * SECOND);
    assert_int_equal(c->server.grace, SECOND / 2);
    assert_int_equal(c->server.max_jobs_per_user, 10);
    assert_int_equal(c->server.max_stored_per_user, 3 << 29);
    assert_int_equal(c->server.requests_per_second, SCHED_UNLIMITED);
    assert_int_equal(c->server.tasks_per_core, 4);
    assert_int_equal(c->server.processes_per_core, SCHED_UNLIMITED);
    config_destroy(c);
}

static void machines_are_files_nodes_or_this_one(void **state)
{
    (void)state;
    static const struct {
        const char *text, *file, *format;
    } files[] = {
        {"resources: {file: a.graphml}", "a.graphml", "grug"},
        {"resources: {file: a/b.json}", "a/b.json", "jgf"},
        {"resources: {file: a.xml}", "a.xml", "hwloc"},
        {"resources: {file: a.json, format: rv1exec}", "a.json", "rv1exec"},
        {"resources: {format: jgf_shorthand, file: .json}", ".json", "jgf_shorthand"},
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        struct config *c = parse(files[i].text);
        assert_int_equal(c->resources.source, CONFIG_FILE);
        assert_string_equal(c->resources.file, files[i].file);
        assert_string_equal(c->resources.format, files[i].format);
        config_destroy(c);
    }
    struct config *c = parse("engine: {slurm: {partition: long, options: -A physics}}");
    assert_int_equal(c->resources.source, CONFIG_SLURM);
    assert_string_equal(c->slurm.partition, "long");
    assert_string_equal(c->slurm.options, "-A physics");
    config_destroy(c);
    c = parse("engine: slurm");
    assert_int_equal(c->resources.source, CONFIG_SLURM);
    assert_null(c->slurm.partition);
    config_destroy(c);
    c = parse("resources: local");
    assert_int_equal(c->resources.source, CONFIG_LOCAL);
    config_destroy(c);
    c = parse("resources: {nodes: 10, cores: 32, gpus: 4, memory: 256}\n"
              "match: {policy: \"policy=low node_centric=true\", traverser: flexible, filters: "
              "\"ALL:gpu\","
              " subsystems: C+PA, format: jgf}");
    assert_int_equal(c->resources.cores, 32);
    assert_int_equal(c->resources.gpus, 4);
    assert_int_equal(c->resources.memory, 256);
    assert_string_equal(c->match.policy, "policy=low node_centric=true");
    assert_string_equal(c->match.traverser, "flexible");
    assert_string_equal(c->match.filters, "ALL:gpu");
    assert_string_equal(c->match.matcher, "C+PA");
    assert_string_equal(c->match_format, "jgf");
    config_destroy(c);
}

static void check_limit(const struct sched_limit *limit, const char *what, int64_t most)
{
    assert_string_equal(limit->what, what);
    assert_int_equal(limit->most, most);
}

/* A queue of all keys, two that are part of it, and one that says nothing. */
static struct config *parse_queues(void)
{
    return parse(
        NODES "default-queue: b\ndefault-duration: 2h\npasses: {min-interval: 0.5, max-events: 7}\n"
              "bounds: {ended-jobs: 9, promise-tries: 8, what-if-holders: 7, what-if-tries: 6}\n"
              "queues:\n"
              "  v: {parent: b, priority: -3, limits: {job: {duration: 10m}}}\n"
              "  b: {policy: hybrid, queue-depth: 5, max-queue-depth: 9, reservation-depth: 3,\n"
              "      max-reservation-depth: unlimited, requires: [fast, ^old], priority: 4,\n"
              "      users: [u1], groups: [g, h], default-duration: 30m, preemptible: requeue,\n"
              "      preempts: both, claims-admit: unknown, keeps-gangs: yes,\n"
              "      limits: {job: {node: 0, duration: unlimited},\n"
              "               user: {running: 10, pending: unlimited}, queue: {node: 64},\n"
              "               except: [{groups: [vip], user: {running: unlimited}},\n"
              "                        {users: [u2], job: {node: 9}}]}}\n"
              "  w: {parent: b, preempts: nobody, users: [u9], default-duration: 1, limits: "
              "{except: [], job: {gpu: 1}}}\n"
              "  n:\n");
}

static void queues_have_what_they_say(void **state)
{
    (void)state;
    struct config *c = parse_queues();
    const struct sched_queue_config *b = &c->sched.queues[1];
    assert_int_equal(c->sched.n_queues, 4);
    assert_string_equal(c->sched.default_queue, "b");
    assert_int_equal(c->sched.min_interval, SECOND / 2);
    assert_int_equal(c->sched.max_events, 7);
    assert_int_equal(c->sched.ended_jobs, 9);
    assert_int_equal(c->match.tries, 8);
    assert_int_equal(c->sched.what_if_holders, 7);
    assert_int_equal(c->sched.what_if_tries, 6);
    assert_string_equal(b->policy, "hybrid");
    assert_int_equal(b->queue_depth, 5);
    assert_int_equal(b->max_queue_depth, 9);
    assert_int_equal(b->reservation_depth, 3);
    assert_int_equal(b->max_reservation_depth, 0);
    assert_string_equal(b->requires, "{\"properties\": [\"fast\", \"^old\"]}");
    assert_int_equal(b->preemptible, SCHED_PREEMPT_REQUEUE);
    assert_int_equal(b->preempts, SCHED_PREEMPTS_LOWER | SCHED_PREEMPTS_BORROWERS);
    assert_true(b->keeps_gangs && b->claims_admit_unknown);
    assert_int_equal(b->default_duration, INT64_C(1800) * SECOND);
    assert_int_equal(b->n_groups, 2);
    assert_string_equal(b->groups[1], "h");
    check_limit(&b->limits.job[0], "node", 0);
    check_limit(&b->limits.job[1], "duration", SCHED_UNLIMITED);
    check_limit(&b->limits.user[0], "running", 10);
    check_limit(&b->limits.user[1], "pending", SCHED_UNLIMITED);
    check_limit(&b->limits.queue[0], "node", 64);
    assert_int_equal(b->n_exceptions, 2);
    assert_string_equal(b->exceptions[0].groups[0], "vip");
    check_limit(&b->exceptions[0].limits.user[0], "running", SCHED_UNLIMITED);
    assert_string_equal(b->exceptions[1].users[0], "u2");
    check_limit(&b->exceptions[1].limits.job[0], "node", 9);
    config_destroy(c);
}

/* What a virtual queue does not say is as in its parent. */
static void virtual_queues_have_what_their_parents_say(void **state)
{
    (void)state;
    struct config *c = parse_queues();
    const struct sched_queue_config *v = &c->sched.queues[0], *b = v + 1, *w = v + 2, *n = v + 3;
    assert_true(v->keeps_gangs && !n->keeps_gangs);
    assert_true(v->claims_admit_unknown && !n->claims_admit_unknown);
    assert_int_equal(v->preempts, b->preempts);
    assert_int_equal(w->preempts, SCHED_PREEMPTS_NOBODY);
    assert_string_equal(v->parent, "b");
    assert_null(v->policy);
    assert_int_equal(v->priority, -3);
    assert_string_equal(v->users[0], "u1");
    assert_int_equal(v->n_groups, 2);
    assert_int_equal(v->default_duration, INT64_C(1800) * SECOND);
    check_limit(&v->limits.job[0], "node", 0);
    check_limit(&v->limits.job[1], "duration", INT64_C(600) * SECOND);
    assert_int_equal(v->limits.n_job, 2);
    assert_int_equal(v->limits.n_user + v->limits.n_queue, 0); /* its jobs count there */
    assert_int_equal(v->n_exceptions, 0);
    assert_true(v->has_parents_exceptions);
    assert_int_equal(w->priority, 4);
    assert_int_equal(w->n_users, 1);
    assert_string_equal(w->users[0], "u9");
    assert_int_equal(w->n_groups, 0);
    assert_int_equal(w->default_duration, SECOND);
    assert_int_equal(w->limits.n_job, 3);
    check_limit(&w->limits.job[2], "gpu", 1);
    assert_int_equal(w->n_exceptions, 0);
    assert_false(w->has_parents_exceptions);
    assert_string_equal(n->policy, "easy");
    assert_int_equal(n->default_duration, INT64_C(7200) * SECOND);
    config_destroy(c);
}

static void depths_are_capped(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t queue_depth, reservation_depth;
    } rows[] = {
        {QUEUE("{queue-depth: 5, max-queue-depth: 4, requires: []}"), 4, 0},
        {QUEUE("{queue-depth: unlimited, max-queue-depth: 4}"), 4, 0},
        {QUEUE("{max-queue-depth: 4}"), 4, 0},
        {QUEUE("{queue-depth: 4, max-queue-depth: unlimited}"), 4, 0},
        {QUEUE("{policy: hybrid}"), 0, 64},
        {QUEUE("{policy: hybrid, max-reservation-depth: 63}"), 0, 63},
        {QUEUE("{policy: hybrid, reservation-depth: 70, max-reservation-depth: 70}"), 0, 70},
        {QUEUE("{policy: hybrid, reservation-depth: 71, max-reservation-depth: 70}"), 0, 70},
        {QUEUE("{policy: conservative, max-reservation-depth: 70}"), 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config *c = parse(rows[i].text);
        assert_int_equal(c->sched.queues->queue_depth, rows[i].queue_depth);
        assert_int_equal(c->sched.queues->reservation_depth, rows[i].reservation_depth);
        assert_string_equal(c->sched.default_queue, "a");
        assert_null(c->sched.queues->requires);
        config_destroy(c);
    }
    struct config *c = parse(rows[8].text);
    assert_int_equal(c->sched.queues->max_reservation_depth, 70);
    config_destroy(c);
}

static void plugins_choose_a_match_policy(void **state)
{
    (void)state;
    static const struct {
        const char *text, *policy;
    } rows[] = {
        {NODES "shares: {order: [priority, binpack]}", "pack"},
        {NODES "shares: {order: [share, nodeorder]}", "spread=1 balance=1"},
        {NODES "shares: {order: [[drf, nodeorder, binpack]]}", "balance"},
        {NODES
         "shares: {order: [{plugins: [{name: drf}, {name: binpack}]}, {plugins: [nodeorder]}]}",
         "balance"},
        {NODES "shares: {order: [nodeorder, {name: binpack, arguments: {binpack.weight: 10}}]}",
         "pack=9 balance=1"},
        {NODES
         "shares: {order: [{name: binpack, arguments: {binpack.weight: 2}}, {name: nodeorder, "
         "arguments: {leastrequested.weight: 5}}]}",
         "spread=3 balance=1"},
        {NODES "shares: {order: [{name: binpack, arguments: {binpack.weight: 0}}]}", "first"},
        {NODES "shares: {order: [binpack, {name: nodeorder, arguments: {balancedresource.weight: "
               "0}}]}",
         "first"},
        {NODES "shares: {order: [binpack, {name: nodeorder, enableNodeOrder: false}]}", "pack"},
        {NODES "shares: {order: [{name: nodeorder, enableNodeOrder: false}, binpack]}", "pack"},
        {NODES "shares: {order: [{name: binpack, enableJobOrder: false, enableQueueOrder: false}]}",
         "pack"},
        {NODES "shares: {order: [{name: binpack, enableNodeOrder: no}]}", "first"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {}}]}", "spread=1 balance=1"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {mostrequested.weight: 1}}]}",
         "balance"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {mostrequested.weight: 3}}]}",
         "pack=2 balance=1"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {mostrequested.weight: 1, "
               "leastrequested.weight: 0, balancedresource.weight: 0}}]}",
         "pack"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {leastrequested.weight: 5, "
               "mostrequested.weight: 2, balancedresource.weight: 7}}]}",
         "spread=3 balance=7"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {balancedresource.weight: 0}}]}",
         "spread"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {leastrequested.weight: 0}}]}",
         "balance"},
        {NODES "shares: {order: [{name: nodeorder, arguments: {leastrequested.weight: 0, "
               "balancedresource.weight: 0}}, binpack]}",
         "pack"},
        {NODES "match: {policy: spread=1 balance=2}", "spread=1 balance=2"},
        {NODES "match: {policy: low}\nshares: {order: [binpack]}", "low"},
        {NODES "match: {policy: first}\nshares: {order: [binpack]}", "first"},
        {NODES "shares: {order: [binpack]}\nmatch: {traverser: simple}", "pack"},
        {NODES "shares: {order: [share], divisions: {d: {order: [binpack]}}}", "first"},
        {QUEUE("{shares: {by: user, order: [share, binpack]}}"), "first"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config *c = parse(rows[i].text);
        assert_string_equal(c->match.policy, rows[i].policy);
        config_destroy(c);
    }
}

static void times_are_rounded_up_to_ticks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t second, ticks;
    } rows[] = {
        {"1", 1, 1},
        {"0.000001", 1, 1},
        {"1.5", 1, 2},
        {"2.0", 1, 2},
        {"1.5", 1000000, 1500000},
        {"0.000001", 1000000, 1},
        {"0.000001", 1000000000, 1000},
        {"90s", 1, 90},
        {"1.5m", 1, 90},
        {"1.5h", 1, 5400},
        {"2d", 1, 172800},
        {"0.000001d", 1000000, 86400},
        {"3153600000", 1000000000, INT64_C(3153600000000000000)},
        {"36500d", 1, INT64_C(3153600000)},
        {"007", 1, 7},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        berth_error_t err = {""};
        snprintf(text, sizeof(text), NODES "default-duration: %s\n", rows[i].text);
        struct config *c = config_read("f", text, strlen(text), rows[i].second, &err);
        if (!c)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(c->sched.default_duration, rows[i].ticks);
        config_destroy(c);
    }
}

static void blocks_begin_at_dates(void **state)
{
    (void)state;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    struct config *c = parse(
        NODES "blocks:\n"
              "  - {name: a, resources: n, start: 2026-12-24T18:00, duration: 1h}\n"
              "  - {name: b, resources: n, start: 2026-06-24 18:00:01, duration: 1h}\n"
              "  - {name: c, resources: n, start: \"2026-12-24T18:00Z\", duration: 1h, every: 1w}\n"
              "  - {name: d, resources: all, start: 2026-10-25, end: 2026-10-26}\n"
              "  - {name: e, resources: all, start: 1, end: 2.5}\n");
    assert_int_equal(c->sched.blocks[0].start, INT64_C(1798131600) * SECOND);
    assert_int_equal(c->sched.blocks[1].start, INT64_C(1782316801) * SECOND); /* in summer time */
    assert_int_equal(c->sched.blocks[2].start, INT64_C(1798135200) * SECOND);
    assert_int_equal(c->sched.blocks[3].duration, INT64_C(90000) * SECOND); /* to winter time */
    assert_string_equal(c->sched.blocks[3].resources, "all");
    assert_int_equal(c->sched.blocks[4].duration, SECOND * 3 / 2);
    config_destroy(c);
    setenv("TZ", "UTC", 1);
    tzset();
}

static void blocks_and_traces_are_read(void **state)
{
    (void)state;
    struct config *c = parse(
        NODES "users: {u1: [staff, vip], u2: [], u3: }\n"
              "queues: {a: , v: {parent: a}}\n"
              "blocks:\n"
              "  - {name: x, resources: \"node[0-3]\", start: 0, duration: 1m}\n"
              "  - {name: y, resources: /cluster0/rack1, start: 1h, duration: 1m, every: 61,\n"
              "     for: {users: [u1], queues: [v, a], jobs: [j, k.1]}}\n"
              "trace:\n"
              "  processor: node\n"
              "  queues: {2: v, -1: a}\n"
              "  users: {3: u3}\n"
              "  groups: {1000000000000000: g}\n"
              "  partitions:\n"
              "    10: [gpu]\n"
              "    9: {and: [{hostlist: [\"node[1-2]\"]}, {not: [{ranks: [0-3]}]}]}\n");
    const struct sched_block *x = c->sched.blocks, *y = x + 1;
    assert_int_equal(c->n_users, 3);
    assert_string_equal(c->users[0].groups[1], "vip");
    assert_int_equal(c->users[1].n_groups + c->users[2].n_groups, 0);
    assert_null(c->sched.default_queue);
    assert_int_equal(c->sched.n_blocks, 2);
    assert_string_equal(x->name, "x");
    assert_string_equal(x->resources, "node[0-3]");
    assert_int_equal(x->start, 0);
    assert_int_equal(x->duration, INT64_C(60) * SECOND);
    assert_int_equal(x->every, 0);
    assert_int_equal(x->n_users + x->n_queues + x->n_jobs, 0);
    assert_int_equal(y->start, INT64_C(3600) * SECOND);
    assert_int_equal(y->every, INT64_C(61) * SECOND);
    assert_string_equal(y->users[0], "u1");
    assert_string_equal(y->queues[0], "v");
    assert_string_equal(y->jobs[1], "k.1");
    assert_string_equal(c->trace.processor, "node");
    assert_int_equal(c->trace.queues[0].number, -1);
    assert_string_equal(c->trace.queues[0].name, "a");
    assert_int_equal(c->trace.queues[1].number, 2);
    assert_string_equal(c->trace.queues[1].name, "v");
    assert_string_equal(c->trace.users[0].name, "u3");
    assert_int_equal(c->trace.groups[0].number, INT64_C(1000000000000000));
    assert_string_equal(c->trace.partitions[0].name, "{\"and\": [{\"hostlist\": [\"node[1-2]\"]}, "
                                                     "{\"not\": [{\"ranks\": [\"0-3\"]}]}]}");
    assert_string_equal(c->trace.partitions[1].name, "{\"properties\": [\"gpu\"]}");
    config_destroy(c);
}

static void limits_are_bounded(void **state)
{
    (void)state;
    berth_error_t err;
    char *text = malloc(8192);
    assert_non_null(text);

    size_t used = (size_t)sprintf(text, NODES "queues: {a: {limits: {job: {");
    for (int i = 0; i < 256; i++)
        used += (size_t)sprintf(text + used, "t%d: 1, ", i);
    used += (size_t)sprintf(text + used, "}}}, b: {parent: a, limits: {job: {t1: 2");
    size_t more = (size_t)sprintf(text + used, "}}}}\n");
    assert_null(config_read("f", text, used + more, 1, &err));
    assert_non_null(strstr(err.text, ": key \"job\": expected at most 256 limits"));
    used = (size_t)(strstr(text, "t255") - text);
    used += (size_t)sprintf(text + used, "}}}, b: {parent: a, limits: {job: {t1: 2}}}}\n");
    struct config *c = config_read("f", text, used, 1, &err);
    assert_non_null(c);
    assert_int_equal(c->sched.queues[1].limits.n_job, 255);
    check_limit(&c->sched.queues[1].limits.job[1], "t1", 2);
    config_destroy(c);
    free(text);
}

static void bounds_are_held(void **state)
{
    (void)state;
    berth_error_t err;
    char *text = malloc(CONFIG_QUEUES_MAX * 8 + 4096);
    assert_non_null(text);

    size_t used = (size_t)sprintf(text, NODES "queues:\n");
    for (int i = 0; i < CONFIG_QUEUES_MAX; i++)
        used += (size_t)sprintf(text + used, " q%d:\n", i);
    struct config *c = config_read("f", text, used, 1, &err);
    assert_non_null(c);
    assert_int_equal(c->sched.n_queues, CONFIG_QUEUES_MAX);
    config_destroy(c);
    used += (size_t)sprintf(text + used, " q:\n");
    assert_null(config_read("f", text, used, 1, &err));
    assert_string_equal(err.text,
                        "f:3:2: key \"queues\": expected 1 to 4096 queues as NAME: {...}");

    used = (size_t)sprintf(text, NODES "blocks:\n");
    for (int i = 0; i < 64; i++)
        used +=
            (size_t)sprintf(text + used, "- {name: %d, resources: n, start: 0, duration: 1}\n", i);
    c = config_read("f", text, used, 1, &err);
    assert_non_null(c);
    config_destroy(c);
    used += (size_t)sprintf(text + used, "- {name: x, resources: n, start: 0, duration: 1}\n");
    assert_null(config_read("f", text, used, 1, &err));
    assert_string_equal(err.text, "f:3:1: key \"blocks\": expected a list of at most 64 blocks");

    memset(text, 'n', 300);
    used = (size_t)sprintf(text + 300, NODES "users: {%.255s: }", text);
    c = config_read("f", text + 300, used, 1, &err);
    assert_non_null(c);
    config_destroy(c);
    used = (size_t)sprintf(text + 300, NODES "users: {%.256s: }", text);
    assert_null(config_read("f", text + 300, used, 1, &err));
    free(text);

    assert_null(config_read("f", NODES, strlen(NODES), 0, &err));
    assert_string_equal(err.text, "expected 1 to 1000000000 ticks in a second");
    assert_int_equal(errno, EINVAL);
    config_destroy(NULL);
}

static const char shown[] = "resources:\n"
                            "  file: \"a b\"\n"
                            "  format: jgf\n"
                            "licenses: {}\n"
                            "match:\n"
                            "  policy: first\n"
                            "  traverser: simple\n"
                            "  filters: \"ALL:core,ALL:node\"\n"
                            "  subsystems: CA\n"
                            "  format: rv1_nosched\n"
                            "default-duration: 1.5\n"
                            "default-limit: unlimited\n"
                            "starvation-threshold: 3600\n"
                            "claims: 1\n"
                            "sla-waiting-time: 7200\n"
                            "actions: [backfill, allocate]\n"
                            "passes:\n"
                            "  min-interval: 0\n"
                            "  max-events: 0\n"
                            "bounds:\n"
                            "  ended-jobs: 262144\n"
                            "  promise-tries: 20000\n"
                            "  what-if-holders: 7\n"
                            "  what-if-tries: 1000\n"
                            "users:\n"
                            "  \"null\": [\"é\"]\n"
                            "  \"1\": []\n"
                            "queues:\n"
                            "  b:\n"
                            "    policy: conservative\n"
                            "    queue-depth: unlimited\n"
                            "    max-queue-depth: unlimited\n"
                            "    max-reservation-depth: unlimited\n"
                            "    requires: {}\n"
                            "    preemptible: no\n"
                            "    priority: 0\n"
                            "    users: []\n"
                            "    groups: []\n"
                            "    default-duration: 1.5\n"
                            "    default-limit: unlimited\n"
                            "    starvation-threshold: none\n"
                            "    claims: 3\n"
                            "    claims-admit: preemptible\n"
                            "    preempts: preemptible\n"
                            "    keeps-gangs: no\n"
                            "    sla-waiting-time: none\n"
                            "    limits:\n"
                            "      job: {duration: 90}\n"
                            "      user: {}\n"
                            "      queue: {}\n"
                            "      except: []\n"
                            "  v:\n"
                            "    parent: b\n"
                            "    priority: 0\n"
                            "    users: []\n"
                            "    groups: []\n"
                            "    default-duration: 1.5\n"
                            "    default-limit: unlimited\n"
                            "    starvation-threshold: 60\n"
                            "    claims: 3\n"
                            "    claims-admit: preemptible\n"
                            "    preempts: preemptible\n"
                            "    keeps-gangs: no\n"
                            "    sla-waiting-time: 120\n"
                            "    limits:\n"
                            "      job: {duration: 90}\n"
                            "      user: {}\n"
                            "      queue: {}\n"
                            "blocks:\n"
                            "  - name: m\n"
                            "    resources: n\n"
                            "    start: 0\n"
                            "    duration: 1\n"
                            "    every: 0\n"
                            "    for: {users: [], queues: [], jobs: []}\n"
                            "trace:\n"
                            "  processor: core\n"
                            "  queues: {}\n"
                            "  users:\n"
                            "    9: y\n"
                            "    10: x\n"
                            "  groups: {}\n"
                            "  partitions: {}\n"
                            "server:\n"
                            "  administrators: [ann]\n"
                            "  retention: 7776000\n"
                            "  grace: 30\n"
                            "  max-jobs-per-user: unlimited\n"
                            "  max-stored-per-user: 1073741824\n"
                            "  requests-per-second: 10000\n"
                            "  tasks-per-core: 1\n";

static void pilots_are_read(void **state)
{
    (void)state;
    struct config *c = parse(NODES);
    assert_int_equal(c->pilots.rule.max_nodes, 0);
    config_destroy(c);
    c = parse(NODES "pilots: {max-nodes: 64, time: 2h, budget: 100, partition: p, options: -A x,\n"
                    "  node: {cores: 8, memory: 16G}, wait: 10m}\n");
    const struct pilot_rule *rule = &c->pilots.rule;
    assert_int_equal(rule->max_nodes, 64);
    assert_int_equal(rule->time, INT64_C(7200) * SECOND);
    assert_int_equal(rule->backlog, 2);
    assert_int_equal(rule->idle, INT64_C(120) * SECOND);
    assert_int_equal(rule->budget, INT64_C(360000) * SECOND);
    assert_int_equal(rule->node[PILOT_CORES], 8);
    assert_int_equal(rule->node[PILOT_GPUS], 0);
    assert_int_equal(rule->node[PILOT_MEMORY], INT64_C(16) << 30);
    assert_int_equal(c->pilots.wait, INT64_C(600) * SECOND);
    assert_string_equal(c->pilots.partition, "p");
    assert_string_equal(c->pilots.options, "-A x");
    char *once = config_show(c, SECOND);
    struct config *again = parse(once);
    char *twice = config_show(again, SECOND);
    assert_string_equal(once, twice);
    assert_non_null(strstr(once, "pilots:\n  max-nodes: 64\n  time: 7200\n"));
    free(once);
    free(twice);
    config_destroy(again);
    config_destroy(c);
}

static void all_is_shown(void **state)
{
    (void)state;
    struct config *c = parse("resources: {file: \"a b\", format: jgf}\n"
                             "default-duration: 1.5\n"
                             "default-limit: unlimited\n"
                             "starvation-threshold: 1h\n"
                             "sla-waiting-time: 2h\n"
                             "actions: [backfill, allocate]\n"
                             "users: {\"null\": [\"é\"], \"1\": []}\n"
                             "queues: {b: {policy: conservative, limits: {job: {duration: 90s}},\n"
                             "    starvation-threshold: none, claims: 3, sla-waiting-time: none},\n"
                             "  v: {parent: b, starvation-threshold: 1m, sla-waiting-time: 2m}}\n"
                             "blocks: [{" BLOCK "}]\n"
                             "bounds: {what-if-holders: 7}\n"
                             "trace: {users: {10: x, 9: y}}\n"
                             "server: {administrators: [ann], max-jobs-per-user: unlimited}\n");
    char *text = config_show(c, SECOND);
    assert_non_null(text);
    assert_string_equal(text, shown);
    free(text);
    config_destroy(c);
}

static void check_vertex(const struct graph *g, uint32_t v, const char *path, int32_t rank,
                         int64_t size)
{
    struct strbuf b = {0};
    assert_true(graph_path(g, v, GRAPH_CONTAINMENT, &b));
    assert_string_equal(strbuf_text(&b), path);
    assert_int_equal(g->v[v].rank, rank);
    assert_int_equal(g->v[v].size, size);
    strbuf_clear(&b);
}

static void nodes_are_made(void **state)
{
    (void)state;
    struct config_resources r = {
        .source = CONFIG_NODES, .nodes = 2, .cores = 2, .gpus = 1, .memory = 16};
    berth_error_t err = {""};
    struct graph *g = config_make_nodes(&r, &err);
    assert_non_null(g);
    assert_true(graph_check(g));
    assert_int_equal(resource_graph_vertices(g), 11);
    assert_int_equal(resource_graph_edges(g), 10);
    check_vertex(g, 0, "/cluster0", -1, 1);
    check_vertex(g, 1, "/cluster0/node0", 0, 1);
    check_vertex(g, 3, "/cluster0/node0/core1", 0, 1);
    check_vertex(g, 4, "/cluster0/node0/gpu0", 0, 1);
    check_vertex(g, 5, "/cluster0/node0/memory0", 0, 16);
    check_vertex(g, 6, "/cluster0/node1", 1, 1);
    check_vertex(g, 8, "/cluster0/node1/core1", 1, 1);
    check_vertex(g, 10, "/cluster0/node1/memory0", 1, 16);
    match_t *m = match_create(g, NULL, &err);
    assert_non_null(m);
    for (uint32_t v = 0; v < g->n; v++)
        assert_int_equal(g->v[v].divisible, v == 5 || v == 10);
    match_destroy(m);

    r = (struct config_resources){
        .source = CONFIG_NODES, .nodes = 2, .cores = 1, .gpus = 1, .gpu_memory = 40};
    g = config_make_nodes(&r, &err);
    assert_non_null(g);
    check_vertex(g, 4, "/cluster0/node0/gpu0/gpu-memory0", 0, 40960);
    check_vertex(g, 8, "/cluster0/node1/gpu0/gpu-memory0", 1, 40960);
    m = match_create(g, NULL, &err);
    assert_non_null(m);
    assert_int_equal(config_gpu_memory_unit(m), 1 << 20);
    assert_int_equal(config_memory_unit(m), 0);
    for (uint32_t v = 0; v < g->n; v++)
        assert_int_equal(g->v[v].divisible, v == 4 || v == 8);
    match_destroy(m);

    r = (struct config_resources){.source = CONFIG_NODES, .nodes = 1333333, .cores = 2};
    assert_int_equal(config_check_nodes(&r, &err), 0);
    r.nodes++;
    assert_null(config_make_nodes(&r, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "expected at most 4000000 of nodes, cores, gpus and memories in "
                                  "all, got 1333334 nodes with 2 things in each");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_has_defaults),
        cmocka_unit_test(machines_are_files_nodes_or_this_one),
        cmocka_unit_test(queues_have_what_they_say),
        cmocka_unit_test(virtual_queues_have_what_their_parents_say),
        cmocka_unit_test(depths_are_capped),
        cmocka_unit_test(plugins_choose_a_match_policy),
        cmocka_unit_test(times_are_rounded_up_to_ticks),
        cmocka_unit_test(blocks_begin_at_dates),
        cmocka_unit_test(blocks_and_traces_are_read),
        cmocka_unit_test(the_server_is_told_what_to_go_by),
        cmocka_unit_test(limits_are_bounded),
        cmocka_unit_test(bounds_are_held),
        cmocka_unit_test(all_is_shown),
        cmocka_unit_test(pilots_are_read),
        cmocka_unit_test(nodes_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
