/* Scenes (queue_scene.h): what is drawn, and the shell that plays it. */
#include "queue_scene.h"
#include "fixture/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "resource/graph.h"

static const char *const users[] = {"u0", "u1", "u2"};
static const char *const queues[] = {"q0", "q1", "q2", "q3"};
static const char *const user_groups[] = {"g0", "g1", "g0"};

static int64_t draw(struct scene *c, int64_t low, int64_t high)
{
    return random_between(&c->random, low, high);
}

static bool chance(struct scene *c, int of)
{
    return draw(c, 1, of) == 1;
}

void scene_fail(const struct scene *c, const char *what, const char *file, int line)
{
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "%.*s\n", (int)c->log.len, c->log.data);
    fail_msg("%s:%d: seed %" PRIu64 ", budget %" PRId64 ", restart %d, time %" PRId64
             ": does not hold: %s",
             file, line, c->options.seed, c->options.budget, c->options.restart, c->now, what);
}

int scene_lane(const struct scene *c, int queue)
{
    const char *parent = c->config.queue[queue].parent;
    return parent ? parent[1] - '0' : queue;
}

bool scene_together(const struct scene *c, const struct scene_job *j)
{
    const char *text;
    return j->members > 1 && !j->gone && !j->running && j->handle >= 0 &&
           sched_members(c->sched, j->handle, &text) > 1;
}

int scene_state(const struct scene *c, const struct scene_job *j)
{
    int state = sched_state(c->sched, j->handle);
    bool first = j->members == 1 || sched_index(c->sched, j->handle) == j->member;
    return state == SCHED_RESERVED && !first ? (int)SCHED_WAITING : state;
}

void scene_handles(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        if (j->members == 1 || j->gone || j->running)
            continue;
        sched_job_t handle = sched_find(c->sched, j->id, j->member);
        if (handle >= 0)
            j->handle = handle;
    }
}

/* ---- The machine ---- */

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id, int rank)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){.type = type, .id = id, .uniq_id = -1, .size = 1, .rank = rank});
}

static void draw_machine(struct scene *c)
{
    c->nodes = (int)draw(c, 1, SCENE_NODES);
    c->policy = chance(c, 2) ? "low" : "high";
    if (c->options.policy)
        c->policy = c->options.policy;
    bool alike = chance(c, 2) || c->options.counted_only;
    for (int i = 0; i < c->nodes; i++) {
        struct scene_node *n = &c->node[i];
        n->cores = alike && i > 0 ? c->node[0].cores : (int)draw(c, 1, 4);
        n->gpus = alike && i > 0 ? c->node[0].gpus : (int)draw(c, 0, 2);
        n->fast = n->was_fast = chance(c, 2);
    }
}

static match_t *make_machine(const struct scene *c)
{
    struct graph *g = graph_create();
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, -1);
    graph_type(g, "gpu");
    for (int i = 0; i < c->nodes; i++) {
        uint32_t node = add(g, root, "node", i, i);
        if (c->node[i].fast)
            graph_set_property(g, node, "fast", "");
        for (int k = 0; k < c->node[i].cores; k++)
            add(g, node, "core", k, i);
        for (int k = 0; k < c->node[i].gpus; k++)
            add(g, node, "gpu", k, i);
    }
    return machine_seal(
        g, &(match_options_t){.policy = c->policy, .filters = "ALL:core,ALL:node,ALL:gpu"});
}

/* ---- Queues ---- */

static size_t draw_rules(struct scene *c, struct sched_limit *rule, const char *const *what,
                         int whats)
{
    size_t n = 0;
    if (!chance(c, 4))
        return 0;
    int first = (int)draw(c, 0, whats - 1);
    rule[n++] = (struct sched_limit){what[first], draw(c, 1, 6)};
    if (chance(c, 3))
        rule[n++] = (struct sched_limit){what[(first + 1) % whats], draw(c, 1, 6)};
    for (size_t i = 0; i < n; i++)
        if (strcmp(rule[i].what, "duration") == 0)
            rule[i].most = 25;
        else if (strcmp(rule[i].what, "pending") == 0)
            rule[i].most += 3;
    return n;
}

static void draw_limits(struct scene *c, struct scene_limits *of, struct sched_limits *l)
{
    static const char *const for_job[] = {"node", "core", "duration", "gpu"};
    static const char *const for_user[] = {"node", "core", "running", "gpu", "pending"};
    l->job = of->job;
    l->n_job = draw_rules(c, of->job, for_job, 4);
    l->user = of->user;
    l->n_user = draw_rules(c, of->user, for_user, 5);
    l->queue = of->queue;
    l->n_queue = draw_rules(c, of->queue, for_user, 5);
}

static void draw_queue(struct scene *c, struct scene_config *to, int i)
{
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative", "ageing"};
    static const char *const requires[] = {NULL, "{\"properties\": [\"fast\"]}",
                                           "{\"not\": [{\"properties\": [\"fast\"]}]}",
                                           "{\"hostlist\": [\"node[0-1]\"]}"};
    struct sched_queue_config *q = &to->queue[i];
    *q = (struct sched_queue_config){.name = queues[i], .policy = policies[draw(c, 0, 4)]};
    q->priority = draw(c, -1, 1);
    q->default_duration = draw(c, 0, 1) * 7;
    if (i > 0 && chance(c, 4) && !to->queue[i - 1].parent) {
        q->parent = queues[i - 1];
        q->policy = NULL;
    } else {
        q->queue_depth = chance(c, 4) ? draw(c, 1, 4) : 0;
        q->max_queue_depth = chance(c, 6) ? draw(c, 1, 6) : 0;
        q->reservation_depth = strcmp(q->policy, "hybrid") == 0 ? draw(c, 0, 4) : 0;
        q->max_reservation_depth = chance(c, 6) ? draw(c, 1, 3) : 0;
        q->requires = requires[chance(c, 2) ? 0 : draw(c, 1, 3)];
        q->preemptible =
            chance(c, 3) ? (enum sched_preemptible)draw(c, 1, 2) : SCHED_NOT_PREEMPTIBLE;
    }
    draw_limits(c, &to->limits[i], &q->limits);
    if (chance(c, 3)) {
        static const char *const some[] = {"u1"};
        static const char *const group[] = {"g0"};
        to->exception[i] = (struct sched_exception){.users = some, .n_users = 1};
        if (chance(c, 2))
            to->exception[i] = (struct sched_exception){.groups = group, .n_groups = 1};
        draw_limits(c, &to->other[i], &to->exception[i].limits);
        to->exception[i].limits.n_queue = 0;
        q->exceptions = &to->exception[i];
        q->n_exceptions = 1;
    }
    q->has_parents_exceptions = q->parent && q->n_exceptions == 0 && i % 2 == 0;
    if (chance(c, 10)) {
        q->users = users;
        q->n_users = 2;
    }
}

/* Classes for a queue: of u0, and of the others, who rebalance. */
static void draw_classes(struct scene *c, struct scene_config *to, int i)
{
    static const struct sched_class_pattern pattern[] = {{"0", "a"}};
    static const char *const worker[] = {"core", "node"};
    struct scene_classes *of = &to->classes[i];
    int64_t percent = draw(c, 1, 99);
    of->class[0] = (struct sched_class){"a", percent};
    of->class[1] = (struct sched_class){"b", 100 - percent};
    of->worker.what = worker[draw(c, 0, 1)];
    of->worker.most = draw(c, 1, 2);
    to->queue[i].by = SCHED_SHARE_CLASS;
    to->queue[i].classes = (struct sched_classes){.n = 2,
                                                  .patterns = pattern,
                                                  .n_patterns = 1,
                                                  .default_class = "b",
                                                  .n_worker = 1,
                                                  .rebalance_threshold = draw(c, 0, 40)};
    to->queue[i].classes.rebalance_duration = draw(c, 1, 10);
}

/* The node or nodes of a block, and its times. */
static void draw_block(struct scene *c, struct scene_block *b, const char *name)
{
    static const char *const for_queues[] = {"q0"};
    *b = (struct scene_block){.there = true};
    b->node = (int)draw(c, 0, c->nodes - 1);
    b->nodes = (int)draw(c, 1, c->nodes - b->node);
    snprintf(b->name, sizeof(b->name), "%s", name);
    snprintf(b->resources, sizeof(b->resources), "node[%d-%d]", b->node, b->node + b->nodes - 1);
    b->block.start = c->now + draw(c, 0, 30);
    b->block.duration = draw(c, 1, 20);
    b->block.every = chance(c, 3) ? b->block.duration + draw(c, 10, 50) : 0;
    b->block.users = users;
    b->block.n_users = chance(c, 3) ? 1 : 0;
    b->block.queues = for_queues;
    b->block.n_queues = chance(c, 4) ? 1 : 0;
    b->block.name = b->name;
    b->block.resources = b->resources;
}

static void config_point(struct scene *c, struct scene_config *to)
{
    to->config.queues = to->queue;
    to->config.blocks = to->block;
    for (size_t i = 0; i < to->config.n_queues; i++) {
        struct sched_queue_config *q = &to->queue[i];
        q->limits.job = to->limits[i].job;
        q->limits.user = to->limits[i].user;
        q->limits.queue = to->limits[i].queue;
        to->exception[i].limits.job = to->other[i].job;
        to->exception[i].limits.user = to->other[i].user;
        q->exceptions = &to->exception[i];
        q->classes.classes = to->classes[i].class;
        q->classes.worker = &to->classes[i].worker;
    }
    (void)c;
}

static void draw_config(struct scene *c, struct scene_config *to, struct scene_block *block)
{
    memset(to, 0, sizeof(*to));
    to->config.second = 1 + (int64_t)(c->options.seed % 3);
    to->config.n_queues = c->config.config.n_queues;
    if (to->config.n_queues == 0)
        to->config.n_queues = (size_t)draw(c, 1, SCENE_QUEUES);
    for (int i = 0; i < (int)to->config.n_queues; i++)
        draw_queue(c, to, i);
    for (int i = 0; i < (int)to->config.n_queues && c->options.classes; i++)
        if (!to->queue[i].parent && !chance(c, 3))
            draw_classes(c, to, i);
    static const char *const resources[] = {"core", "node"};
    if (c->options.classes)
        to->config.shares = (struct sched_shares){.resources = resources, .n_resources = 2};
    to->config.default_queue = queues[0];
    to->config.default_duration = 9;
    if (c->options.seed % 4 == 0) {
        to->config.min_interval = draw(c, 0, 3);
        to->config.max_events = draw(c, 0, 5);
    }
    block->there = false;
    if (chance(c, 5)) {
        draw_block(c, block, "conf");
        to->block[0] = block->block;
        to->config.n_blocks = 1;
    }
    config_point(c, to);
}

/* ---- Calls ---- */

#define CALL(c, failed, call)                                                                      \
    do {                                                                                           \
        if ((c)->options.arm)                                                                      \
            (c)->options.arm(c);                                                                   \
        (call);                                                                                    \
        again = (c)->options.again && (c)->options.again(c, failed);                               \
        SCENE_CHECK(c, !(c)->sched || sched_check((c)->sched));                                    \
    } while (again)

/* Whether the last call is to be made again. */
static bool again;

static void note(struct scene *c, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    strbuf_puts(&c->log, text);
}

void scene_jobspec(const struct scene_job *j, char *text, size_t size)
{
    char inner[200];
    snprintf(inner, sizeof(inner), "{type: core, count: %d}", j->cores);
    if (j->gpus > 0)
        snprintf(inner, sizeof(inner), "{type: core, count: %d}, {type: gpu, count: %d}", j->cores,
                 j->gpus);
    char resources[400];
    if (j->kind == ASK_CORES)
        snprintf(resources, sizeof(resources),
                 "{type: slot, count: %d, label: s, with: [{type: core, count: %d}]}", j->count,
                 j->cores);
    else if (j->kind == ASK_SLOTS)
        snprintf(resources, sizeof(resources),
                 "{type: slot, count: %d, label: s, with: [{type: node, count: 1}]}", j->count);
    else
        snprintf(resources, sizeof(resources),
                 "{type: node, count: %d%s, with: [{type: slot, count: 1, label: s, with: [%s]}]}",
                 j->count, j->kind == ASK_WHOLE ? ", exclusive: true" : "", inner);
    snprintf(text, size,
             "{version: 9999, resources: [%s], tasks: [{command: [a], slot: s, count: {per_slot: "
             "1}}], attributes: {system: {duration: 0}}}",
             resources);
}

/* The latest time that a job's dependencies and all may be drawn from. */
static void draw_dependency(struct scene *c, struct scene_job *j)
{
    static const char *const types[] = {"after", "afterany", "afterok", "afternotok"};
    if (chance(c, 12)) {
        snprintf(j->dependency, sizeof(j->dependency), "singleton");
    } else if (c->jobs > 0 && chance(c, 6)) {
        int64_t on = draw(c, c->jobs > 10 ? c->jobs - 10 : 0, c->jobs - 1);
        char id[sizeof(j->id)];
        memcpy(id, c->job[on].id, sizeof(id));
        snprintf(j->dependency, sizeof(j->dependency), "%s:%s", types[draw(c, 0, 3)], id);
    }
}

static void draw_job(struct scene *c, struct scene_job *j)
{
    *j = (struct scene_job){.promise = -1, .logged = -1, .members = 1, .submitted = c->now};
    j->kind = (enum scene_kind)draw(c, 0, ASK_KINDS - 1);
    j->count = (int)draw(c, 1, chance(c, 8) ? 6 : 3);
    j->cores = (int)draw(c, 1, chance(c, 8) ? 5 : 3);
    j->gpus = j->kind == ASK_SHARED && chance(c, 4) ? (int)draw(c, 1, 2) : 0;
    if (j->kind == ASK_WHOLE)
        j->cores = 1;
    if (c->options.counted_only)
        j->kind = ASK_SLOTS;
    j->queue = (int)draw(c, 0, (int64_t)c->config.config.n_queues - 1);
    j->user = (int)draw(c, 0, SCENE_USERS - 1);
    j->priority = chance(c, 3) ? draw(c, -2, 2) : 0;
    j->duration = draw(c, 1, chance(c, 4) ? 40 : 12);
    j->lasts = chance(c, 3) ? draw(c, 1, j->duration) : j->duration;
    if (chance(c, 10))
        j->lasts = j->duration + draw(c, 1, 6);
    j->begin = chance(c, 12) ? c->now + draw(c, 0, 20) : 0;
    j->held = chance(c, 15);
    j->preemptible_after = chance(c, 3) ? draw(c, 1, 10) : 0;
    if (chance(c, 4))
        j->members = (uint32_t)draw(c, 2, 4);
    if (j->members > 1 && chance(c, 3))
        j->most = (int)draw(c, 1, 2);
    snprintf(j->id, sizeof(j->id), "j%d", c->jobs);
    draw_dependency(c, j);
}

/* A job's limit apart from its estimate: longer, none, and perhaps no estimate either. */
static void draw_limit(struct scene *c, struct scene_job *j)
{
    int which = c->options.apart ? (int)draw(c, 0, 5) : 5;
    j->limit = j->duration;
    if (which > 3)
        return;
    j->limit = which < 2 ? j->duration + draw(c, 1, 20) : SCHED_UNLIMITED;
    if (chance(c, 2))
        j->lasts = draw(c, 1, which < 2 ? j->limit : j->duration + 15);
    if (which == 3 && chance(c, 3))
        j->duration = SCENE_UNKNOWN;
}

static void submit(struct scene *c)
{
    struct scene_job *j = &c->job[c->jobs];
    char text[700];
    draw_job(c, j);
    draw_limit(c, j);
    if (c->jobs + (int)j->members > SCENE_JOBS)
        j->members = 1;
    scene_jobspec(j, text, sizeof(text));
    int64_t estimate = j->duration < SCENE_UNKNOWN ? j->duration : SCHED_UNLIMITED;
    struct sched_request r = {.duration = j->limit,
                              .estimate = j->limit > j->duration ? estimate : 0,
                              .priority = j->priority,
                              .tag = (uint64_t)c->jobs,
                              .jobspec = text,
                              .jobspec_length = strlen(text),
                              .id = j->id,
                              .queue = queues[j->queue],
                              .user = users[j->user],
                              .groups = &user_groups[j->user],
                              .n_groups = 1,
                              .name = chance(c, 2) ? "n" : NULL,
                              .dependency = j->dependency[0] ? j->dependency : NULL,
                              .begin = j->begin,
                              .hold = j->held,
                              .preemptible_after = j->preemptible_after,
                              .members = j->members,
                              .max_running = (uint32_t)j->most};
    sched_job_t h;
    CALL(c, h < 0, h = sched_submit(c->sched, c->now, &r));
    SCENE_CHECK(c, h >= 0);
    struct scene_job first = *j;
    for (uint32_t i = 0; i < first.members; i++) {
        j = &c->job[c->jobs++];
        *j = first;
        j->member = i;
        j->handle = h;
        j->state = sched_state(c->sched, h);
        SCENE_CHECK(c, j->state == SCHED_REJECTED || first.members == 1 ||
                           sched_member(c->sched, h, i) == h);
        ledger_submitted(c, j);
    }
    note(c,
         "%" PRId64 " submit %s x%u to %s of %s: kind %d %d x %d cores %d gpus, %" PRId64
         " for %" PRId64 ", priority %" PRId64 " %s\n",
         c->now, first.id, first.members, queues[first.queue], users[first.user], first.kind,
         first.count, first.cores, first.gpus, first.duration, first.lasts, first.priority,
         first.dependency);
}

void scene_ended(struct scene *c, struct scene_job *j, bool ok)
{
    j->gone = true;
    j->ok = ok;
    j->running = false;
    c->ended[c->n_ended++] = (int)(j - c->job);
}

static void finish(struct scene *c, struct scene_job *j)
{
    bool ok = !chance(c, 5), stopped = j->preempted && j->requeue && !chance(c, 4);
    int rc;
    if (stopped)
        CALL(c, rc < 0, rc = sched_requeue(c->sched, c->now, j->handle));
    else /* also one that came to its end before it was stopped */
        CALL(c, rc < 0, rc = sched_finish(c->sched, c->now, j->handle, ok));
    SCENE_CHECK(c, rc == 0);
    j->running = false;
    if (j->preempted && j->preempted_at < c->now)
        ledger_excuse_all(c); /* it has taken its time to stop */
    note(c, "%" PRId64 " %s %s.%u\n", c->now, stopped ? "requeue" : "finish", j->id, j->member);
    SCENE_CHECK(c, stopped == (sched_state(c->sched, j->handle) >= 0));
    if (stopped) {
        j->preempted = false;
        j->state = sched_state(c->sched, j->handle);
        j->could =
            ledger_could_ever(c, j); /* if not, it is rejected whatever comes before the pass */
        j->promise = -1;
        ledger_came(c, j);
        return;
    }
    scene_ended(c, j, ok);
}

static void finish_due(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running && c->job[i].end <= c->now)
            finish(c, &c->job[i]);
}

/* ---- Events ---- */

static struct scene_job *pick(struct scene *c)
{
    for (int tries = 0; tries < 8 && c->jobs > 0; tries++) {
        struct scene_job *j = &c->job[draw(c, 0, c->jobs - 1)];
        if (!j->gone && j->handle >= 0 && sched_state(c->sched, j->handle) != SCHED_REJECTED)
            return j;
    }
    return NULL;
}

/* What comes of an event for a job. */
static void job_has(struct scene *c, struct scene_job *j, int what, int64_t value, bool waits)
{
    switch (what) {
    case 0:
        scene_ended(c, j, false);
        break;
    case 1:
        j->excused |= waits && value < j->priority;
        j->priority = value;
        if (waits)
            ledger_came(c, j);
        break;
    case 2:
        j->held = j->excused = true;
        break;
    case 3:
        j->held = false;
        ledger_came(c, j);
        break;
    case 4:
        if (j->running) /* longer: it is in the way; shorter: who was moved for it goes back */
            ledger_excuse_all(c);
        if (j->running)
            j->until = j->start + value > c->now ? j->start + value : c->now;
        j->duration = j->limit = value;
        if (waits) {
            j->excused = true;
            ledger_came(c, j);
        }
        break;
    default:
        j->queue = (int)value;
        ledger_came(c, j);
    }
}

static int call_for_job(struct scene *c, struct scene_job *j, int what, int64_t value)
{
    int rc = 0;
    switch (what) {
    case 0:
        CALL(c, rc < 0, rc = sched_cancel(c->sched, c->now, j->handle));
        break;
    case 1:
        CALL(c, rc < 0, rc = sched_prioritize(c->sched, c->now, j->handle, value));
        break;
    case 2:
        CALL(c, rc < 0, rc = sched_hold(c->sched, c->now, j->handle));
        break;
    case 3:
        CALL(c, rc < 0, rc = sched_release(c->sched, c->now, j->handle));
        break;
    case 4:
        CALL(c, rc < 0, rc = sched_set_duration(c->sched, c->now, j->handle, value, 0, NULL));
        break;
    default:
        CALL(c, rc < 0, rc = sched_set_queue(c->sched, c->now, j->handle, queues[value], NULL));
    }
    return rc;
}

/* One of an array's members is to wait for itself, or what happens to it happens to all that wait with it. */
static void split(struct scene *c, struct scene_job *j)
{
    sched_job_t h;
    if (!scene_together(c, j) || chance(c, 2))
        return;
    sched_job_t was = j->handle;
    bool promised = scene_state(c, j) == SCHED_RESERVED;
    CALL(c, h < 0, h = sched_split(c->sched, c->now, j->handle, j->member));
    SCENE_CHECK(c, h >= 0 && h != was);
    j->handle = h;
    for (int i = 0; i < c->jobs && promised; i++) /* the next one has that promise */
        if (!c->job[i].gone && (c->job[i].handle == was || c->job[i].handle == h))
            c->job[i].excused = true;
    note(c, "%" PRId64 " split %s.%u\n", c->now, j->id, j->member);
}

static void event_of_job(struct scene *c, int what)
{
    struct scene_job *j = pick(c);
    if (!j)
        return;
    bool waits = !j->running;
    int64_t value = what == 1   ? draw(c, -3, 3)
                    : what == 4 ? draw(c, 1, 30)
                    : what == 5 ? draw(c, 0, (int64_t)c->config.config.n_queues - 1)
                                : 0;
    split(c, j);
    sched_job_t handle = j->handle;
    int rc = call_for_job(c, j, what, value);
    SCENE_CHECK(c, what > 1 || rc == 0);
    SCENE_CHECK(c, what < 2 || what > 3 || (rc == 0) == waits);
    SCENE_CHECK(c, what < 5 || rc < 0 || waits);
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *k = &c->job[i];
        if (k->gone || k->handle != handle)
            continue;
        if (rc == 0)
            job_has(c, k, what, value, waits);
        k->excused |= what == 5;
    }
    note(c, "%" PRId64 " event %d of %s.%u: %d\n", c->now, what, j->id, j->member, rc);
}

/* A running job gives back what it has on one of its nodes, and those who wait may have it. */
static void event_of_rank(struct scene *c)
{
    struct scene_job *j = &c->job[draw(c, 0, c->jobs - 1)];
    int i = (int)draw(c, 0, c->nodes - 1), others = 0, rc = 0;
    char rank[16];
    if (!j->running || !j->holding.node[i])
        return;
    for (int k = 0; k < c->nodes; k++)
        others += k != i && j->holding.node[k];
    snprintf(rank, sizeof(rank), "%d", i);
    CALL(c, rc < 0, rc = sched_free_ranks(c->sched, c->now, j->handle, rank, NULL));
    SCENE_CHECK(c, (rc == 0) == (others > 0) && (rc == 0 || errno == EINVAL));
    note(c, "%" PRId64 " rank %d of %s.%u: %d\n", c->now, i, j->id, j->member, rc);
    if (rc < 0)
        return;
    j->holding.node[i] = false;
    j->holding.cores[i] = j->holding.gpus[i] = 0;
    ledger_returned(c);
}

static void event_of_machine(struct scene *c, int what)
{
    int i = (int)draw(c, 0, c->nodes - 1);
    char name[16];
    int rc = 0;
    snprintf(name, sizeof(name), "node%d", i);
    ledger_excuse_all(c);
    if (what == 0) {
        bool fast = chance(c, 2);
        if (fast == c->node[i].fast)
            return;
        CALL(c, rc < 0,
             rc = sched_set_property(c->sched, c->now, name, "fast", fast ? "" : NULL, NULL));
        c->node[i].fast = fast;
    } else {
        bool down = chance(c, 2);
        enum resource_status status = chance(c, 2) ? RESOURCE_DOWN : RESOURCE_DRAINED;
        CALL(c, rc < 0,
             rc = sched_set_status(c->sched, c->now, name, down ? status : RESOURCE_UP, NULL));
        c->node[i].down = down;
    }
    SCENE_CHECK(c, rc == 0);
    note(c, "%" PRId64 " %s %s\n", c->now, name,
         what == 0 ? (c->node[i].fast ? "fast" : "slow") : (c->node[i].down ? "down" : "up"));
}

static void event_of_block(struct scene *c)
{
    int i = (int)draw(c, 0, SCENE_BLOCKS - 1);
    char name[8];
    int rc = 0;
    snprintf(name, sizeof(name), "b%d", i);
    ledger_excuse_all(c);
    if (chance(c, 2) && c->block[i].there) {
        CALL(c, rc < 0, rc = sched_unblock(c->sched, c->now, name, NULL));
        c->block[i].there = false;
    } else {
        draw_block(c, &c->block[i], name);
        c->block[i].block.name = c->block[i].name;
        c->block[i].block.resources = c->block[i].resources;
        CALL(c, rc < 0, rc = sched_block(c->sched, c->now, &c->block[i].block, NULL));
    }
    SCENE_CHECK(c, rc == 0);
    note(c, "%" PRId64 " block %d\n", c->now, i);
}

static void event_of_queue(struct scene *c)
{
    int q = (int)draw(c, 0, (int64_t)c->config.config.n_queues - 1);
    bool enabled = !chance(c, 4), started = !chance(c, 3);
    int rc = 0;
    CALL(c, rc < 0, rc = sched_queue_set(c->sched, c->now, queues[q], enabled, started, NULL));
    if (rc == 0) {
        ledger_excuse_all(c);
        c->closed[q] = !enabled;
        if (!c->config.queue[q].parent)
            c->stopped[q] = !started;
    }
    note(c, "%" PRId64 " queue %d %d %d: %d\n", c->now, q, enabled, started, rc);
}

static void event_of_config(struct scene *c)
{
    struct scene_config *new = malloc(sizeof(*new));
    struct scene_block block = c->block[SCENE_BLOCKS];
    berth_error_t err = {""};
    int rc = 0;
    assert_non_null(new);
    if (chance(c, 2)) {
        draw_config(c, new, &block);
    } else { /* a little of it */
        *new = c->config;
        draw_queue(c, new, (int)draw(c, 0, (int64_t) new->config.n_queues - 1));
        config_point(c, new);
    }
    if (block.there) {
        block.block.name = block.name;
        block.block.resources = block.resources;
        new->block[0] = block.block;
    }
    bool moved = false; /* another order of virtual queues */
    for (size_t i = 0; i < new->config.n_queues; i++)
        moved |= new->queue[i].parent != c->config.queue[i].parent;
    ledger_excuse_all(c);
    if (!moved)
        CALL(c, rc < 0, rc = sched_configure(c->sched, c->now, &new->config, &err));
    if (rc == 0 && !moved) {
        c->config = *new;
        c->block[SCENE_BLOCKS] = block;
        struct scene_block *b = &c->block[SCENE_BLOCKS];
        b->block.name = b->name;
        b->block.resources = b->resources;
        config_point(c, &c->config);
        if (b->there)
            c->config.block[0] = b->block;
    }
    note(c, "%" PRId64 " configure: %d %s\n", c->now, moved ? 1 : rc, rc < 0 ? err.text : "");
    free(new);
}

static void event(struct scene *c)
{
    int64_t what = draw(c, 0, 99);
    if (what < 60 || c->jobs == 0) {
        if (c->jobs + 4 <= SCENE_JOBS)
            submit(c);
    } else if (what < 80) {
        event_of_job(c, (int)draw(c, 0, 5));
    } else if (what < 85) {
        event_of_rank(c);
    } else if (what < 90) {
        event_of_machine(c, 1);
    } else if (what < 92) {
        event_of_machine(c, 0);
    } else if (what < 95) {
        event_of_block(c);
    } else if (what < 98) {
        event_of_queue(c);
    } else {
        event_of_config(c);
    }
}

/* ---- Passes ---- */

/* The decisions of a pass, with their own copies of the reasons. */
static struct {
    struct sched_decision d[4096];
    struct sched_reason reason[4096];
    char text[4096][SCHED_REASON_TEXT];
    size_t n;
} told;

static void gather(const struct scene *c, const struct sched_decision *d, size_t n)
{
    for (size_t i = 0; i < n && told.n < 4096; i++, told.n++) {
        told.d[told.n] = d[i];
        if (!d[i].reason)
            continue;
        sched_reason_text(d[i].reason, told.text[told.n]);
        sched_reason_read(&told.reason[told.n], told.text[told.n], c->config.config.second);
        told.d[told.n].reason = &told.reason[told.n];
    }
}

static int some(struct scene *c, const struct sched_decision **d, size_t *n)
{
    if (c->options.budget == 0)
        return sched_pass(c->sched, c->now, false, d, n);
    int64_t budget = c->options.budget > 0 ? c->options.budget : random_between(&c->slices, 1, 6);
    return sched_pass_some(c->sched, c->now, (uint64_t)budget, d, n);
}

/* Something happens that changes nothing: a job gets the priority that it has. */
static void disturb(struct scene *c)
{
    const struct scene_job *j = &c->job[random_between(&c->slices, 0, c->jobs - 1)];
    if (!j->gone && !j->running && j->handle >= 0 && random_between(&c->slices, 0, 2) == 0)
        sched_prioritize(c->sched, c->now, j->handle, j->priority);
}

static void pass(struct scene *c)
{
    int rc;
    told.n = 0;
    ledger_before_pass(c);
    c->in_pass = true;
    do {
        const struct sched_decision *d;
        size_t n;
        CALL(c, rc < 0, (rc = some(c, &d, &n), gather(c, d, n)));
        SCENE_CHECK(c, rc >= 0 && told.n < 4096);
        if (rc == 1 && c->options.disturbed && c->jobs > 0)
            disturb(c);
    } while (rc == 1);
    c->in_pass = false;
    c->passes++;
    ledger_pass(c, told.d, told.n);
}

/* ---- Another scheduler goes on ---- */

/* What every other running job holds, as R without a graph; NULL for the others. */
static char *as_r(struct scene *c, sched_job_t job)
{
    const char *text;
    size_t length;
    if (sched_state(c->sched, job) != SCHED_RUNNING || job % 2 != 0)
        return NULL;
    SCENE_CHECK(c, sched_write(c->sched, job, "rv1_nosched", &text, &length) == 0);
    if (length == 0) /* all that it held of nodes is gone */
        return NULL;
    char *copy = strndup(text, length);
    SCENE_CHECK(c, copy != NULL);
    return copy;
}

static void restore_job(struct scene *c, sched_t *to, sched_job_t job)
{
    struct sched_record record;
    struct sched_annotation a;
    berth_error_t err = {""};
    char *r = as_r(c, job);
    SCENE_CHECK(c, sched_annotate(c->sched, job, &a) == 0);
    SCENE_CHECK(c, sched_record(c->sched, job, &record) == 0);
    if (r) {
        record.format = "rv1exec";
        record.resources = r;
        record.resources_length = strlen(r);
    }
    sched_job_t h = sched_restore(to, c->now, &record, &err);
    free(r);
    if (h < 0)
        scene_fail(c, err.text, __FILE__, __LINE__);
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].handle == job) {
            bool same = sched_state(to, h) == c->job[i].state || scene_together(c, &c->job[i]);
            SCENE_CHECK(c, same || c->job[i].state == SCHED_BLOCKED);
            c->job[i].next_handle = h;
        }
}

sched_t *scene_copy(const struct scene *c, match_t **match)
{
    *match = make_machine(c);
    sched_t *to = sched_create(*match, &c->config.config, NULL);
    SCENE_CHECK(c, to);
    for (int i = 0; i < c->nodes; i++) {
        char name[16];
        snprintf(name, sizeof(name), "node%d", i);
        if (c->node[i].down)
            SCENE_CHECK(c, sched_set_status(to, c->now, name, RESOURCE_DOWN, NULL) == 0);
    }
    for (int i = 0; i < SCENE_BLOCKS; i++)
        if (c->block[i].there)
            SCENE_CHECK(c, sched_block(to, c->now, &c->block[i].block, NULL) == 0);
    for (size_t q = 0; q < c->config.config.n_queues; q++)
        SCENE_CHECK(c,
                    sched_queue_set(to, c->now, queues[q], !c->closed[q],
                                    !c->stopped[scene_lane(c, (int)q)] || c->config.queue[q].parent,
                                    NULL) == 0);
    for (int i = 0; i < c->n_ended; i++) {
        const struct scene_job *j = &c->job[c->ended[i]];
        sched_restore_ended(to, j->id, j->member, j->members, j->ok);
    }
    return to;
}

static void restart(struct scene *c)
{
    match_t *match;
    sched_t *to = scene_copy(c, &match);
    for (sched_job_t job = sched_first(c->sched); job >= 0; job = sched_next(c->sched, job))
        restore_job(c, to, job);
    struct sched_uneven uneven[SCENE_QUEUES];
    size_t n = sched_unevens(c->sched, uneven, SCENE_QUEUES);
    for (size_t i = 0; i < n; i++)
        SCENE_CHECK(c, sched_restore_uneven(to, &uneven[i]) == 0);
    struct sched_passed passed; /* a pass that nothing but the restart brings might rebalance */
    sched_passed(c->sched, &passed);
    if (c->options.classes || c->options.late > 0)
        SCENE_CHECK(c, sched_restore_passed(to, c->now, &passed) == 0);
    for (int i = 0; i < c->jobs; i++)
        c->job[i].handle = c->job[i].gone ? c->job[i].handle : c->job[i].next_handle;
    SCENE_CHECK(c, sched_check(to));
    /* It may want a pass at once, but none later that the other would not make: a job that overruns is
     * given as long again by each.
     */
    int64_t next = sched_next_time(to);
    SCENE_CHECK(c, next <= c->now || next == sched_next_time(c->sched) || c->options.late > 0);
    sched_destroy(c->sched);
    match_destroy(c->match);
    c->sched = to;
    c->match = match;
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "restarted at %d\n", (int)c->now);
}

bool scene_is_quiet(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].preempted || (!c->job[i].gone && !ledger_could_ever(c, &c->job[i])))
            return false;
    return c->config.config.min_interval == 0;
}

/* ---- The play ---- */

/* The shell stops after a pass, and another scheduler goes on with the jobs of this one, or nobody passes for a while, or
 * both. What ends meanwhile is reported before the next pass.
 */
static void break_off(struct scene *c)
{
    int after = c->options.late > 0 ? c->options.late : c->options.restart;
    if (after == 0 || c->passes < after || !scene_is_quiet(c) ||
        sched_next_time(c->sched) <= c->now)
        return;
    if (c->options.late > 0) {
        c->now += random_between(&c->slices, 1, 25);
        ledger_excuse_all(c);
    }
    if (c->options.restart > 0)
        restart(c);
    c->options.late = c->options.restart = 0;
    finish_due(c);
}

/* All passes of an instant. */
static void passes(struct scene *c)
{
    for (int i = 0; i == 0 || sched_next_time(c->sched) <= c->now; i++) {
        SCENE_CHECK(c, i < 50);
        pass(c);
        finish_due(c);
        break_off(c);
    }
    if (c->options.look)
        c->options.look(c);
}

/* On to the next time at which something happens by itself, or to a time before that. */
static void advance(struct scene *c, int64_t before)
{
    int64_t next = before;
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running && c->job[i].end < next)
            next = c->job[i].end;
    int64_t pass = sched_next_time(c->sched);
    next = pass < next ? pass : next;
    SCENE_CHECK(c, next > c->now || next == before);
    c->now = next > c->now ? next : c->now;
}

/* Let time go on until then. */
static void go_on(struct scene *c, int64_t then)
{
    for (int step = 0; c->now < then; step++) {
        SCENE_CHECK(c, step < 1000);
        advance(c, then);
        finish_due(c);
        if (c->now < then)
            passes(c);
    }
}

/* Whether time alone changes nothing more: where a block comes again there may always be a next time. */
static bool is_over(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running)
            return false;
    int64_t next = sched_next_time(c->sched);
    int64_t last = next == INT64_MAX ? 0 : sched_last_time(c->sched);
    return last >= 0 && next > last;
}

/* Everything is up, nothing is held back, and no more comes. */
static void close_scene(struct scene *c)
{
    char name[16];
    c->closing = true;
    ledger_excuse_all(c);
    for (int i = 0; i < SCENE_BLOCKS; i++)
        if (c->block[i].there) {
            sched_unblock(c->sched, c->now, c->block[i].name, NULL);
            c->block[i].there = false;
        }
    for (int i = 0; i < c->nodes; i++) {
        snprintf(name, sizeof(name), "node%d", i);
        SCENE_CHECK(c, sched_set_status(c->sched, c->now, name, RESOURCE_UP, NULL) == 0);
        c->node[i].down = false;
    }
    for (size_t q = 0; q < c->config.config.n_queues; q++) {
        sched_queue_set(c->sched, c->now, queues[q], true, true, NULL);
        c->stopped[q] = c->closed[q] = false;
    }
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].held) {
            sched_release(c->sched, c->now, c->job[i].handle);
            c->job[i].held = false;
            ledger_came(c, &c->job[i]);
        }
}

void scene_play(struct scene *c, const struct scene_options *options)
{
    memset(c, 0, sizeof(*c));
    c->options = *options;
    c->random.state = options->seed;
    c->slices.state = options->seed + 1000;
    draw_machine(c);
    draw_config(c, &c->config, &c->block[SCENE_BLOCKS]);
    if (c->block[SCENE_BLOCKS].there) {
        struct scene_block *b = &c->block[SCENE_BLOCKS];
        c->config.block[0] = b->block;
    }
    berth_error_t err = {""};
    for (int i = 0; i < c->nodes; i++)
        note(c, "node%d %d cores %d gpus%s\n", i, c->node[i].cores, c->node[i].gpus,
             c->node[i].fast ? " fast" : "");
    for (size_t i = 0; i < c->config.config.n_queues; i++) {
        const struct sched_queue_config *q = &c->config.queue[i];
        note(c,
             "%s of %s: %s %" PRId64 " %s priority %" PRId64 " preemptible %d depth %" PRId64 "\n",
             q->name, q->parent ? q->parent : "none", q->policy ? q->policy : "",
             q->reservation_depth, q->requires ? q->requires : "", q->priority, q->preemptible,
             q->queue_depth);
    }
    for (size_t i = 0; i < c->config.config.n_queues; i++) {
        const struct sched_limits *l = &c->config.queue[i].limits;
        for (size_t k = 0; k < l->n_job; k++)
            note(c, "q%d job %s %" PRId64 "\n", (int)i, l->job[k].what, l->job[k].most);
        for (size_t k = 0; k < l->n_user; k++)
            note(c, "q%d user %s %" PRId64 "\n", (int)i, l->user[k].what, l->user[k].most);
        for (size_t k = 0; k < l->n_queue; k++)
            note(c, "q%d queue %s %" PRId64 "\n", (int)i, l->queue[k].what, l->queue[k].most);
    }
    c->match = make_machine(c);
    CALL(c, !c->sched, c->sched = sched_create(c->match, &c->config.config, &err));
    if (!c->sched)
        scene_fail(c, err.text, __FILE__, __LINE__);
    for (int step = 0; step < 60; step++) {
        finish_due(c);
        for (int64_t k = draw(c, 0, 4); k > 0; k--)
            event(c);
        passes(c);
        go_on(c, c->now + draw(c, 0, 5));
    }
    close_scene(c);
    finish_due(c);
    passes(c);
    for (int step = 0; !is_over(c); step++) {
        SCENE_CHECK(c, step < 5000);
        advance(c, INT64_MAX);
        finish_due(c);
        passes(c);
    }
    ledger_end(c);
    sched_destroy(c->sched);
    match_destroy(c->match);
}
