/* Scenes (queue_scene.h): what happens to jobs, machine, queues and blocks. */
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
#include "queue_inner.h"

static struct scene_job *pick(struct scene *c)
{
    for (int tries = 0; tries < 8 && c->jobs > 0; tries++) {
        struct scene_job *j = &c->job[scene_draw(c, 0, c->jobs - 1)];
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
        /* One that is raised has its turn again: with shares these may say that it is another one's. */
        j->excused |= waits && (value < j->priority || c->options.classes);
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
        CALL(c, rc < 0,
             rc = sched_set_queue(c->sched, c->now, j->handle, scene_queues[value], NULL));
    }
    return rc;
}

/* One of an array's members is to wait for itself, or what happens to it happens to all that wait with it. */
static void split(struct scene *c, struct scene_job *j)
{
    sched_job_t h;
    if (!scene_together(c, j) || scene_chance(c, 2))
        return;
    sched_job_t was = j->handle;
    bool promised = scene_state(c, j) == SCHED_RESERVED;
    CALL(c, h < 0, h = sched_split(c->sched, c->now, j->handle, j->member));
    SCENE_CHECK(c, h >= 0 && h != was);
    j->handle = h;
    ledger_came(c, j);                            /* it has a turn of its own */
    for (int i = 0; i < c->jobs && promised; i++) /* the next one has that promise */
        if (!c->job[i].gone && (c->job[i].handle == was || c->job[i].handle == h))
            c->job[i].excused = true;
    scene_note(c, "%" PRId64 " split %s.%u\n", c->now, j->id, j->member);
}

static void event_of_job(struct scene *c, int what)
{
    struct scene_job *j = pick(c);
    if (!j)
        return;
    bool waits = !j->running;
    int64_t value = what == 1   ? scene_draw(c, -3, 3)
                    : what == 4 ? scene_draw(c, 1, 30)
                    : what == 5 ? scene_draw(c, 0, (int64_t)c->config.config.n_queues - 1)
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
    scene_note(c, "%" PRId64 " event %d of %s.%u: %d\n", c->now, what, j->id, j->member, rc);
}

/* A running job gives back what it has on one of its nodes, and those who wait may have it. */
static void event_of_rank(struct scene *c)
{
    struct scene_job *j = &c->job[scene_draw(c, 0, c->jobs - 1)];
    int i = (int)scene_draw(c, 0, c->nodes - 1), others = 0, rc = 0;
    char rank[16];
    if (!j->running || !j->holding.node[i])
        return;
    for (int k = 0; k < c->nodes; k++)
        others += k != i && j->holding.node[k];
    snprintf(rank, sizeof(rank), "%d", i);
    CALL(c, rc < 0, rc = sched_free_ranks(c->sched, c->now, j->handle, rank, NULL));
    SCENE_CHECK(c, (rc == 0) == (others > 0) && (rc == 0 || errno == EINVAL));
    scene_note(c, "%" PRId64 " rank %d of %s.%u: %d\n", c->now, i, j->id, j->member, rc);
    if (rc < 0)
        return;
    j->holding.node[i] = false;
    j->holding.cores[i] = j->holding.gpus[i] = 0;
    ledger_returned(c);
}

/* A running job is cancelled, say: it is stopped, or ends before that. */
static void event_of_leaving(struct scene *c)
{
    struct scene_job *j = &c->job[scene_draw(c, 0, c->jobs - 1)];
    int64_t end = c->now + scene_draw(c, 0, 5);
    int rc = 0;
    if (!j->running)
        return;
    CALL(c, rc < 0, rc = sched_leave(c->sched, c->now, j->handle));
    SCENE_CHECK(c, rc == 0);
    j->end = end < j->end ? end : j->end;
    j->leaves_since = c->now;
    scene_note(c, "%" PRId64 " %s.%u leaves\n", c->now, j->id, j->member);
}

static void event_of_machine(struct scene *c, int what)
{
    int i = (int)scene_draw(c, 0, c->nodes - 1);
    char name[16];
    int rc = 0;
    snprintf(name, sizeof(name), "node%d", i);
    ledger_excuse_all(c);
    if (what == 0) {
        bool fast = scene_chance(c, 2);
        if (fast == c->node[i].fast)
            return;
        CALL(c, rc < 0,
             rc = sched_set_property(c->sched, c->now, name, "fast", fast ? "" : NULL, NULL));
        c->node[i].fast = fast;
    } else {
        bool down = scene_chance(c, 2);
        enum resource_status status = scene_chance(c, 2) ? RESOURCE_DOWN : RESOURCE_DRAINED;
        CALL(c, rc < 0,
             rc = sched_set_status(c->sched, c->now, name, down ? status : RESOURCE_UP, NULL));
        c->node[i].down = down;
    }
    SCENE_CHECK(c, rc == 0);
    scene_note(c, "%" PRId64 " %s %s\n", c->now, name,
               what == 0 ? (c->node[i].fast ? "fast" : "slow") : (c->node[i].down ? "down" : "up"));
}

static void event_of_block(struct scene *c)
{
    int i = (int)scene_draw(c, 0, SCENE_BLOCKS - 1);
    char name[8];
    int rc = 0;
    snprintf(name, sizeof(name), "b%d", i);
    ledger_excuse_all(c);
    if (scene_chance(c, 2) && c->block[i].there) {
        CALL(c, rc < 0, rc = sched_unblock(c->sched, c->now, name, NULL));
        c->block[i].there = false;
    } else {
        scene_draw_block(c, &c->block[i], name);
        c->block[i].block.name = c->block[i].name;
        c->block[i].block.resources = c->block[i].resources;
        CALL(c, rc < 0, rc = sched_block(c->sched, c->now, &c->block[i].block, NULL));
    }
    SCENE_CHECK(c, rc == 0);
    scene_note(c, "%" PRId64 " block %d\n", c->now, i);
}

static void event_of_queue(struct scene *c)
{
    int q = (int)scene_draw(c, 0, (int64_t)c->config.config.n_queues - 1);
    bool enabled = !scene_chance(c, 4), started = !scene_chance(c, 3);
    int rc = 0;
    CALL(c, rc < 0,
         rc = sched_queue_set(c->sched, c->now, scene_queues[q], enabled, started, NULL));
    if (rc == 0) {
        ledger_excuse_all(c);
        c->closed[q] = !enabled;
        if (!c->config.queue[q].parent)
            c->stopped[q] = !started;
    }
    scene_note(c, "%" PRId64 " queue %d %d %d: %d\n", c->now, q, enabled, started, rc);
}

static void event_of_config(struct scene *c)
{
    struct scene_config *new = malloc(sizeof(*new));
    struct scene_block block = c->block[SCENE_BLOCKS];
    berth_error_t err = {""};
    int rc = 0;
    assert_non_null(new);
    if (scene_chance(c, 2)) {
        scene_draw_config(c, new, &block);
    } else { /* a little of it */
        *new = c->config;
        scene_draw_queue(c, new, (int)scene_draw(c, 0, (int64_t) new->config.n_queues - 1));
        scene_point_config(c, new);
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
        scene_point_config(c, &c->config);
        if (b->there)
            c->config.block[0] = b->block;
    }
    scene_note(c, "%" PRId64 " configure: %d %s\n", c->now, moved ? 1 : rc, rc < 0 ? err.text : "");
    if (rc == 0 && !moved)
        scene_note_config(c);
    free(new);
}

void scene_event(struct scene *c)
{
    if (c->options.leaves && c->jobs > 0 && scene_chance(c, 8)) {
        event_of_leaving(c);
        return;
    }
    int64_t what = scene_draw(c, 0, 99);
    if (what < 60 || c->jobs == 0) {
        if (c->jobs + 4 <= SCENE_JOBS)
            scene_submit(c);
    } else if (what < 80) {
        event_of_job(c, (int)scene_draw(c, 0, 5));
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
