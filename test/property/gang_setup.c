/* Scenes of gangs (gang_scene.h): the machine, its queue, and blocks. */
#include "gang_scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture/machine.h"

struct gang_scene scene;

int gang_scene_draw(int low, int high)
{
    return (int)random_between(&scene.random, low, high);
}

static size_t list_limits(const struct naive_most *most, struct sched_limit limit[2])
{
    size_t n = 0;
    if (most->running > 0)
        limit[n++] = (struct sched_limit){"running", most->running};
    if (most->cores > 0)
        limit[n++] = (struct sched_limit){scene.of_node == 1 ? "node" : "core", most->cores};
    return n;
}

/* What the queue does as the model has it: a new scheduler, or another configuration of the one that there is. */
static void configure(void)
{
    const struct naive_gangs *m = &scene.naive;
    struct sched_limit user[2], of_queue[2];
    struct sched_queue_config queue = {.name = "q",
                                       .policy = m->in_order ? "fcfs" : "easy",
                                       .starvation_threshold = SCHED_UNLIMITED,
                                       .claims = 1};
    queue.preempts = m->preempts ? SCHED_PREEMPTS_LOWER : 0;
    queue.keeps_gangs = m->keeps_gangs;
    queue.limits.user = user;
    queue.limits.n_user = list_limits(&m->user_most, user);
    queue.limits.queue = of_queue;
    queue.limits.n_queue = list_limits(&m->queue_most, of_queue);
    if (m->by == NAIVE_BY_PRIORITY_GANG)
        queue.order = (struct sched_share_order){{SCHED_BY_PRIORITY, SCHED_BY_GANG}, 2};
    if (m->by == NAIVE_BY_GANG_PRIORITY)
        queue.order = (struct sched_share_order){{SCHED_BY_GANG, SCHED_BY_PRIORITY}, 2};
    if (m->by == NAIVE_BY_GANG) {
        queue.by = SCHED_SHARE_USER;
        queue.order = (struct sched_share_order){{SCHED_BY_GANG, SCHED_BY_SUBMIT}, 2};
    }
    struct sched_config config = {.second = 1, .queues = &queue, .n_queues = 1};
    TELL("%" PRId64
         " configuration: %s, by %d, %s%s, at most %d and %d cores, of a user %d and %d\n",
         scene.now, queue.policy, m->by, m->preempts ? "preempts" : "-",
         m->keeps_gangs ? ", keeps gangs" : "", m->queue_most.running, m->queue_most.cores,
         m->user_most.running, m->user_most.cores);
    if (scene.sched)
        CHECK(sched_configure(scene.sched, scene.now, &config, NULL) == 0);
    else
        scene.sched = sched_create(scene.match, &config, NULL);
    assert_non_null(scene.sched);
}

static void make_scheduler(void)
{
    char recipe[32];
    TELL("%d cores, %d of a node, of arrays %d and %d\n", scene.naive.cores, scene.of_node,
         scene.naive.at_once[1], scene.naive.at_once[2]);
    snprintf(recipe, sizeof(recipe), "%d node(%d core)", scene.naive.cores / scene.of_node,
             scene.of_node);
    scene.match = machine_of(recipe, &(match_options_t){.policy = "lonode"});
    configure();
}

/* ---- Resources ---- */

/* Some nodes, or where there is one some cores of it. Returns them as bits. */
static uint32_t draw_resources(struct random *random, char text[400])
{
    uint32_t cores = 0;
    int size = scene.of_node < scene.naive.cores ? scene.of_node : 1, length = 0;
    bool all = random_between(random, 0, 7) == 0;
    for (int i = 0; i < scene.naive.cores / size; i++) {
        if (!all && random_between(random, 0, 2) > 0 && (cores > 0 || i > 0))
            continue;
        cores |= ((1u << size) - 1) << i * size;
        length += snprintf(text + length, 400 - (size_t)length,
                           size == 1 && scene.of_node > 1 ? "%s/cluster0/node0/core%d" : "%snode%d",
                           length > 0 ? "," : "", i);
    }
    return cores;
}

void gang_scene_status(void)
{
    static const enum resource_status statuses[] = {RESOURCE_DOWN, RESOURCE_DRAINED, RESOURCE_UP,
                                                    RESOURCE_UP};
    char text[400];
    uint32_t cores = draw_resources(&scene.downs, text);
    int64_t which = random_between(&scene.downs, 0, 3);
    TELL("%" PRId64 " %s: %s\n", scene.now, which > 1 ? "up" : "down", text);
    CHECK(sched_set_status(scene.sched, scene.now, text, statuses[which], NULL) == 0);
    scene.naive.down = which > 1 ? scene.naive.down & ~cores : scene.naive.down | cores;
}

/* ---- Blocks ---- */

static int draw_block(int low, int high)
{
    return (int)random_between(&scene.blocks, low, high);
}

/* Turns of which the first is about now. All that come again do so after a part of 24. */
static void draw_times(struct naive_block *b)
{
    static const int64_t periods[] = {6, 8, 12, 24};
    int64_t start = scene.now + draw_block(-3, 12);
    b->start = start > 0 ? start : 0;
    b->duration = draw_block(1, 8);
    b->every = draw_block(0, 2) ? 0 : periods[draw_block(0, 3)];
    if (b->every > 0 && b->duration >= b->every)
        b->duration = b->every - 1;
}

void gang_scene_block(void)
{
    static const char *const names[NAIVE_BLOCKS] = {"m", "n", "o"};
    int i = draw_block(0, NAIVE_BLOCKS - 1);
    struct naive_block *b = &scene.naive.block[i];
    if (b->cores != 0 && draw_block(0, 1)) {
        TELL("%" PRId64 " unblock %s\n", scene.now, names[i]);
        CHECK(sched_unblock(scene.sched, scene.now, names[i], NULL) == 0);
        *b = (struct naive_block){0};
        return;
    }
    char text[400], id[16];
    const char *const ids[] = {id};
    *b = (struct naive_block){.cores = draw_resources(&scene.blocks, text)};
    draw_times(b);
    const char *resources = b->cores == (1u << scene.naive.cores) - 1 ? "all" : text;
    struct sched_block block = {names[i], resources, b->start, b->duration, b->every, .jobs = ids};
    if (scene.naive.jobs > 0 && draw_block(0, 2) == 0) {
        int job = draw_block(0, scene.naive.jobs - 1);
        snprintf(id, sizeof(id), "%d", job);
        b->jobs = 1ull << job;
        block.n_jobs = 1;
    }
    TELL("%" PRId64 " block %s of %s from %" PRId64 " for %" PRId64 " every %" PRId64
         ", but for job %s\n",
         scene.now, names[i], text, b->start, b->duration, b->every, block.n_jobs > 0 ? id : "-");
    CHECK(sched_block(scene.sched, scene.now, &block, NULL) == 0);
}

/* ---- Scenes ---- */

/* Blocks, on the nodes of a machine or on cores of one node; nothing is promised then. */
static void draw_machine(void)
{
    scene.of_node = scene.naive.cores;
    if (!scene.has_blocks)
        return;
    scene.naive.in_order = true;
    scene.naive.queue_most.running = 0;
    if (draw_block(0, 2) == 0)
        return;
    scene.of_node = draw_block(1, 3);
    scene.naive.cores = (scene.naive.cores + scene.of_node - 1) / scene.of_node * scene.of_node;
}

/* Limits of a user and of the queue; each member of a job is within them by itself. */
static void draw_amounts(struct random *random)
{
    struct naive_most *user = &scene.naive.user_most, *queue = &scene.naive.queue_most;
    user->running = random_between(random, 0, 1) ? (int)random_between(random, 2, 5) : 0;
    user->cores = random_between(random, 0, 1) ? (int)random_between(random, 3, 8) : 0;
    queue->cores = random_between(random, 0, 2) ? 0 : (int)random_between(random, 3, 10);
}

/* Where nobody is stopped for others; cores are those of nodes of one where these count. */
static void draw_limits(uint64_t seed)
{
    struct random random = {.state = ~seed << 1};
    if (scene.has_blocks || scene.naive.preempts || random_between(&random, 0, 1))
        return;
    scene.has_limits = true;
    scene.of_node = random_between(&random, 0, 1) ? scene.of_node : 1;
    draw_amounts(&random);
}

/* Limits in a scene in which jobs are stopped for others, too. */
static void draw_beside(uint64_t seed)
{
    struct random *random = &scene.beside;
    struct naive_most *queue = &scene.naive.queue_most;
    random->state = ~seed * 9;
    if (scene.has_blocks || scene.naive.by > NAIVE_BY_PRIORITY_GANG ||
        random_between(random, 0, 1) == 0)
        return;
    scene.has_beside = scene.has_limits = scene.naive.preempts = true;
    scene.of_node = random_between(random, 0, 1) ? scene.of_node : 1;
    draw_amounts(random);
    if (queue->running == 0 && random_between(random, 0, 2) == 0)
        queue->running = (int)random_between(random, 3, 8);
}

void gang_scene_reload(void)
{
    struct naive_gangs *m = &scene.naive;
    if (scene.has_limits)
        draw_amounts(&scene.reloads);
    m->in_order = scene.has_blocks || random_between(&scene.reloads, 0, 1);
    m->keeps_gangs = random_between(&scene.reloads, 0, 2) == 0;
    if (m->by != NAIVE_BY_GANG)
        m->by = (enum naive_by)random_between(&scene.reloads, 0, NAIVE_BY_GANG_PRIORITY);
    if (scene.has_beside)
        m->preempts = m->by <= NAIVE_BY_PRIORITY_GANG && random_between(&scene.beside, 0, 4);
    else if (!scene.has_limits && m->queue_most.running == 0)
        m->preempts = m->by <= NAIVE_BY_PRIORITY_GANG && random_between(&scene.reloads, 0, 2);
    configure();
}

void gang_scene_make(uint64_t seed)
{
    scene = (struct gang_scene){
        .seed = seed, .random.state = seed, .is_told = getenv("SCENE_TRACE") != NULL};
    scene.naive.cores = gang_scene_draw(3, 12);
    scene.naive.in_order = gang_scene_draw(0, 1);
    scene.naive.queue_most.running = gang_scene_draw(0, 2) ? 0 : gang_scene_draw(3, 8);
    scene.naive.by = (enum naive_by)(seed % NAIVE_BYS);
    scene.naive.preempts = scene.naive.by <= NAIVE_BY_PRIORITY_GANG &&
                           scene.naive.queue_most.running == 0 && gang_scene_draw(0, 2);
    scene.naive.keeps_gangs = gang_scene_draw(0, 3) == 0;
    scene.arrays.state = ~seed;
    for (int i = 1; i <= NAIVE_ARRAYS && seed % 2; i++)
        scene.naive.at_once[i] = (int)random_between(&scene.arrays, 1, 3);
    scene.blocks.state = seed + (1u << 30);
    scene.has_blocks = seed / NAIVE_BYS % 2;
    scene.reloads.state = seed + (3u << 30);
    scene.has_reloads = random_between(&scene.reloads, 0, 3) == 0;
    scene.others.state = seed + (4u << 30);
    scene.has_others = random_between(&scene.others, 0, 2) == 0;
    scene.leaves.state = ~seed * 5;
    scene.has_leaves = random_between(&scene.leaves, 0, 2) == 0;
    scene.downs.state = seed + (2u << 30);
    scene.has_downs = random_between(&scene.downs, 0, 3) == 0;
    draw_machine();
    draw_limits(seed);
    draw_beside(seed);
    make_scheduler();
}
