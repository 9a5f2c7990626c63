/* Scenes (queue_scene.h): what is drawn. */
#include <stdio.h>
#include <string.h>

#include "queue_inner.h"

void scene_draw_machine(struct scene *c)
{
    c->nodes = (int)scene_draw(c, 1, SCENE_NODES);
    c->policy = scene_chance(c, 2) ? "low" : "high";
    if (c->options.policy)
        c->policy = c->options.policy;
    bool alike = scene_chance(c, 2) || c->options.counted_only;
    for (int i = 0; i < c->nodes; i++) {
        struct scene_node *n = &c->node[i];
        n->cores = alike && i > 0 ? c->node[0].cores : (int)scene_draw(c, 1, 4);
        n->gpus = alike && i > 0 ? c->node[0].gpus : (int)scene_draw(c, 0, 2);
        n->fast = n->was_fast = scene_chance(c, 2);
    }
}

/* ---- Queues ---- */

static size_t draw_rules(struct scene *c, struct sched_limit *rule, const char *const *what,
                         int whats)
{
    size_t n = 0;
    if (!scene_chance(c, 4))
        return 0;
    int first = (int)scene_draw(c, 0, whats - 1);
    rule[n++] = (struct sched_limit){what[first], scene_draw(c, 1, 6)};
    if (scene_chance(c, 3))
        rule[n++] = (struct sched_limit){what[(first + 1) % whats], scene_draw(c, 1, 6)};
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

void scene_draw_queue(struct scene *c, struct scene_config *to, int i)
{
    static const char *const policies[] = {"fcfs", "easy", "hybrid", "conservative", "ageing"};
    static const char *const requires[] = {NULL, "{\"properties\": [\"fast\"]}",
                                           "{\"not\": [{\"properties\": [\"fast\"]}]}",
                                           "{\"hostlist\": [\"node[0-1]\"]}"};
    struct sched_queue_config *q = &to->queue[i];
    *q = (struct sched_queue_config){.name = scene_queues[i],
                                     .policy = policies[scene_draw(c, 0, 4)]};
    q->priority = scene_draw(c, -1, 1);
    q->default_duration = scene_draw(c, 0, 1) * 7;
    if (i > 0 && scene_chance(c, 4) && !to->queue[i - 1].parent) {
        q->parent = scene_queues[i - 1];
        q->policy = NULL;
    } else {
        q->queue_depth = scene_chance(c, 4) ? scene_draw(c, 1, 4) : 0;
        q->max_queue_depth = scene_chance(c, 6) ? scene_draw(c, 1, 6) : 0;
        q->reservation_depth = strcmp(q->policy, "hybrid") == 0 ? scene_draw(c, 0, 4) : 0;
        q->max_reservation_depth = scene_chance(c, 6) ? scene_draw(c, 1, 3) : 0;
        q->requires = requires[scene_chance(c, 2) ? 0 : scene_draw(c, 1, 3)];
        q->preemptible = scene_chance(c, 3) ? (enum sched_preemptible)scene_draw(c, 1, 2)
                                            : SCHED_NOT_PREEMPTIBLE;
    }
    draw_limits(c, &to->limits[i], &q->limits);
    if (scene_chance(c, 3)) {
        static const char *const some[] = {"u1"};
        static const char *const group[] = {"g0"};
        to->exception[i] = (struct sched_exception){.users = some, .n_users = 1};
        if (scene_chance(c, 2))
            to->exception[i] = (struct sched_exception){.groups = group, .n_groups = 1};
        draw_limits(c, &to->other[i], &to->exception[i].limits);
        to->exception[i].limits.n_queue = 0;
        q->exceptions = &to->exception[i];
        q->n_exceptions = 1;
    }
    q->has_parents_exceptions = q->parent && q->n_exceptions == 0 && i % 2 == 0;
    if (scene_chance(c, 10)) {
        q->users = scene_users;
        q->n_users = 2;
    }
}

/* Classes for a queue: of u0, and of the others, who rebalance. */
static void draw_classes(struct scene *c, struct scene_config *to, int i)
{
    static const struct sched_class_pattern pattern[] = {{"0", "a"}};
    static const char *const worker[] = {"core", "node"};
    struct scene_classes *of = &to->classes[i];
    int64_t percent = scene_draw(c, 1, 99);
    of->class[0] = (struct sched_class){"a", percent};
    of->class[1] = (struct sched_class){"b", 100 - percent};
    of->worker.what = worker[scene_draw(c, 0, 1)];
    of->worker.most = scene_draw(c, 1, 2);
    to->queue[i].by = SCHED_SHARE_CLASS;
    to->queue[i].classes = (struct sched_classes){.n = 2,
                                                  .patterns = pattern,
                                                  .n_patterns = 1,
                                                  .default_class = "b",
                                                  .n_worker = 1,
                                                  .rebalance_threshold = scene_draw(c, 0, 40)};
    to->queue[i].classes.rebalance_duration = scene_draw(c, 1, 10);
}

/* The node or nodes of a block, and its times. */
void scene_draw_block(struct scene *c, struct scene_block *b, const char *name)
{
    static const char *const for_queues[] = {"q0"};
    *b = (struct scene_block){.there = true};
    b->node = (int)scene_draw(c, 0, c->nodes - 1);
    b->nodes = (int)scene_draw(c, 1, c->nodes - b->node);
    snprintf(b->name, sizeof(b->name), "%s", name);
    snprintf(b->resources, sizeof(b->resources), "node[%d-%d]", b->node, b->node + b->nodes - 1);
    b->block.start = c->now + scene_draw(c, 0, 30);
    b->block.duration = scene_draw(c, 1, 20);
    b->block.every = scene_chance(c, 3) ? b->block.duration + scene_draw(c, 10, 50) : 0;
    b->block.users = scene_users;
    b->block.n_users = scene_chance(c, 3) ? 1 : 0;
    b->block.queues = for_queues;
    b->block.n_queues = scene_chance(c, 4) ? 1 : 0;
    b->block.name = b->name;
    b->block.resources = b->resources;
}

void scene_point_config(struct scene *c, struct scene_config *to)
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

void scene_draw_config(struct scene *c, struct scene_config *to, struct scene_block *block)
{
    memset(to, 0, sizeof(*to));
    to->config.second = 1 + (int64_t)(c->options.seed % 3);
    to->config.n_queues = c->config.config.n_queues;
    if (to->config.n_queues == 0)
        to->config.n_queues = (size_t)scene_draw(c, 1, SCENE_QUEUES);
    for (int i = 0; i < (int)to->config.n_queues; i++)
        scene_draw_queue(c, to, i);
    for (int i = 0; i < (int)to->config.n_queues && c->options.classes; i++)
        if (!to->queue[i].parent && !scene_chance(c, 3))
            draw_classes(c, to, i);
    static const char *const resources[] = {"core", "node"};
    if (c->options.classes)
        to->config.shares = (struct sched_shares){.resources = resources, .n_resources = 2};
    to->config.default_queue = scene_queues[0];
    to->config.default_duration = 9;
    if (c->options.seed % 4 == 0) {
        to->config.min_interval = scene_draw(c, 0, 3);
        to->config.max_events = scene_draw(c, 0, 5);
    }
    block->there = false;
    if (scene_chance(c, 5)) {
        scene_draw_block(c, block, "conf");
        to->block[0] = block->block;
        to->config.n_blocks = 1;
    }
    scene_point_config(c, to);
}

/* ---- Jobs ---- */

/* The latest time that a job's dependencies and all may be drawn from. */
static void draw_dependency(struct scene *c, struct scene_job *j)
{
    static const char *const types[] = {"after", "afterany", "afterok", "afternotok"};
    if (scene_chance(c, 12)) {
        snprintf(j->dependency, sizeof(j->dependency), "singleton");
    } else if (c->jobs > 0 && scene_chance(c, 6)) {
        int64_t on = scene_draw(c, c->jobs > 10 ? c->jobs - 10 : 0, c->jobs - 1);
        char id[sizeof(j->id)];
        memcpy(id, c->job[on].id, sizeof(id));
        snprintf(j->dependency, sizeof(j->dependency), "%s:%s", types[scene_draw(c, 0, 3)], id);
    }
}

void scene_draw_job(struct scene *c, struct scene_job *j)
{
    *j = (struct scene_job){.promise = -1, .logged = -1, .members = 1, .submitted = c->now};
    j->kind = (enum scene_kind)scene_draw(c, 0, ASK_KINDS - 1);
    j->count = (int)scene_draw(c, 1, scene_chance(c, 8) ? 6 : 3);
    j->cores = (int)scene_draw(c, 1, scene_chance(c, 8) ? 5 : 3);
    j->gpus = j->kind == ASK_SHARED && scene_chance(c, 4) ? (int)scene_draw(c, 1, 2) : 0;
    if (j->kind == ASK_WHOLE)
        j->cores = 1;
    if (c->options.counted_only)
        j->kind = ASK_SLOTS;
    j->queue = (int)scene_draw(c, 0, (int64_t)c->config.config.n_queues - 1);
    j->user = (int)scene_draw(c, 0, SCENE_USERS - 1);
    j->priority = scene_chance(c, 3) ? scene_draw(c, -2, 2) : 0;
    j->duration = scene_draw(c, 1, scene_chance(c, 4) ? 40 : 12);
    j->lasts = scene_chance(c, 3) ? scene_draw(c, 1, j->duration) : j->duration;
    if (scene_chance(c, 10))
        j->lasts = j->duration + scene_draw(c, 1, 6);
    j->begin = scene_chance(c, 12) ? c->now + scene_draw(c, 0, 20) : 0;
    j->held = scene_chance(c, 15);
    j->preemptible_after = scene_chance(c, 3) ? scene_draw(c, 1, 10) : 0;
    if (scene_chance(c, 4))
        j->members = (uint32_t)scene_draw(c, 2, 4);
    if (j->members > 1 && scene_chance(c, 3))
        j->most = (int)scene_draw(c, 1, 2);
    snprintf(j->id, sizeof(j->id), "j%d", c->jobs);
    draw_dependency(c, j);
}

/* A job's limit apart from its estimate: longer, none, and perhaps no estimate either. */
void scene_draw_limit(struct scene *c, struct scene_job *j)
{
    int which = c->options.apart ? (int)scene_draw(c, 0, 5) : 5;
    j->limit = j->duration;
    if (which > 3)
        return;
    j->limit = which < 2 ? j->duration + scene_draw(c, 1, 20) : SCHED_UNLIMITED;
    if (scene_chance(c, 2))
        j->lasts = scene_draw(c, 1, which < 2 ? j->limit : j->duration + 15);
    if (which == 3 && scene_chance(c, 3))
        j->duration = SCENE_UNKNOWN;
}
