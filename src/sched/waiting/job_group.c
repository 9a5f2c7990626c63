/* Groups of jobs: the table of groups and their parts (job_group.h). */
#include "sched/waiting/job_group.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/queues.h"
#include "sched/waiting/job_group_priv.h"

void job_groups_clear(struct job_groups *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        queue_destroy(t->v[i].open);
    free(t->v);
    free(t->near);
    free(t->chain);
    job_kinds_clear(&t->kinds);
    *t = (struct job_groups){0};
}

static uint32_t hash_of(uint32_t class, uint32_t lane, uint32_t line, uint64_t permits)
{
    uint64_t h = ((uint64_t) class << 32 | (lane ^ line << 12)) * 0x9e3779b97f4a7c15u ^
                 permits * 0xc2b2ae3d27d4eb4fu;
    return (uint32_t)(h >> 32);
}

static uint32_t *chain_of(struct job_groups *t, const struct job_group *g)
{
    return &t->chain[hash_of(g->class, g->lane, g->line, g->permits) & (t->chains - 1)];
}

/* More chains where there are more groups than chains. Returns 0, or -1 with ENOMEM. */
static int rehash(struct job_groups *t)
{
    uint32_t chains = t->chains ? t->chains * 2 : 64;
    uint32_t *chain = reallocarray(NULL, chains, sizeof(*chain));
    if (!chain)
        return -1;
    for (uint32_t i = 0; i < chains; i++)
        chain[i] = JOB_GROUP_NONE;
    free(t->chain);
    t->chain = chain;
    t->chains = chains;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].jobs == 0)
            continue;
        uint32_t *link = chain_of(t, &t->v[i]);
        t->v[i].next = *link;
        *link = i;
    }
    return 0;
}

/* A slot for a group that no job knows yet, or JOB_GROUP_NONE with ENOMEM. */
static uint32_t job_group_alloc(struct job_groups *t)
{
    uint32_t i = t->free;
    if (t->cap == 0)
        i = JOB_GROUP_NONE;
    if (i != JOB_GROUP_NONE) {
        t->free = t->v[i].next;
        return i;
    }
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 32;
        struct job_group_near *near = reallocarray(t->near, cap, sizeof(*near));
        if (!near)
            return JOB_GROUP_NONE;
        t->near = near;
        struct job_group *v = reallocarray(t->v, cap, sizeof(*v));
        if (!v)
            return JOB_GROUP_NONE;
        if (t->cap == 0)
            t->free = JOB_GROUP_NONE;
        t->v = v;
        t->cap = cap;
    }
    return t->n++;
}

void job_group_link(struct job_groups *t, uint32_t *first, uint32_t group)
{
    t->v[group].before = JOB_GROUP_NONE;
    t->near[group].beside = *first;
    if (*first != JOB_GROUP_NONE)
        t->v[*first].before = group;
    *first = group;
}

void job_group_unlink(struct job_groups *t, uint32_t *first, uint32_t group)
{
    uint32_t before = t->v[group].before, beside = t->near[group].beside;
    *(before == JOB_GROUP_NONE ? first : &t->near[before].beside) = beside;
    if (beside != JOB_GROUP_NONE)
        t->v[beside].before = before;
}

/* A new group is of a kind. Returns 0, or -1 with ENOMEM. */
static int enter_kind(struct job_groups *t, uint32_t group, const struct place_ask *ask,
                      uint32_t apart)
{
    int64_t kind = job_kind_enter(&t->kinds, ask, apart);
    if (kind < 0)
        return -1;
    t->v[group].kind = (uint32_t)kind;
    job_group_link(t, &t->kinds.v[kind].first, group);
    return 0;
}

static void leave_kind(struct job_groups *t, uint32_t group)
{
    uint32_t kind = t->v[group].kind;
    job_group_unlink(t, &t->kinds.v[kind].first, group);
    job_kind_leave(&t->kinds, kind);
}

/* A group, or a part of the group `whole`, with one more job. -1 with ENOMEM. */
static int64_t enter_job_group(struct job_groups *t, const struct place_ask *ask, uint32_t lane,
                               uint32_t line, uint32_t whole, uint32_t apart)
{
    if (t->n >= t->chains && rehash(t) < 0)
        return -1;
    uint32_t *link = &t->chain[hash_of(ask->class, lane, line, ask->permits) & (t->chains - 1)];
    for (uint32_t i = *link; i != JOB_GROUP_NONE; i = t->v[i].next) {
        struct job_group *g = &t->v[i];
        if (g->class == ask->class && g->lane == lane && g->line == line &&
            g->permits == ask->permits) {
            g->jobs++;
            return i;
        }
    }
    uint32_t i = job_group_alloc(t);
    if (i == JOB_GROUP_NONE)
        return -1;
    t->v[i] = (struct job_group){.class = ask->class,
                                 .lane = lane,
                                 .line = line,
                                 .permits = ask->permits,
                                 .units = ask->units,
                                 .jobs = 1,
                                 .least_limit = INT64_MAX,
                                 .next = *link};
    t->near[i] = (struct job_group_near){
        .shortest = INT64_MAX, .whole = line == 0 ? i : whole, .beside = JOB_GROUP_NONE};
    if (line == 0 && enter_kind(t, i, ask, apart) < 0) {
        t->v[i] = (struct job_group){.next = t->free};
        t->free = i;
        return -1;
    }
    *link = i;
    return i;
}

static void leave_job_group(struct job_groups *t, uint32_t group)
{
    struct job_group *g = &t->v[group];
    if (--g->jobs > 0)
        return;
    uint32_t *link = chain_of(t, g);
    while (*link != group)
        link = &t->v[*link].next;
    *link = g->next;
    if (g->line == 0)
        leave_kind(t, group);
    queue_destroy(g->open);
    *g = (struct job_group){.next = t->free};
    t->free = group;
}

/* Jobs of a lane who may run on what claims withhold have room where others have none: a kind of their own. */
static uint32_t apart_of(const sched_t *s, uint32_t lane)
{
    const struct setup *setup = s->queues->setup;
    bool enters = setup->admits_unknown ||
                  setup->queue[s->lanes[lane].queue].preemptible != SCHED_NOT_PREEMPTIBLE;
    return setup->starves && enters ? lane + 1 : 0;
}

int64_t job_group_enter(sched_t *s, const struct place_ask *ask, uint32_t lane, uint32_t line)
{
    struct job_groups *t = &s->queues->job_groups;
    uint32_t apart = apart_of(s, lane);
    int64_t whole = enter_job_group(t, ask, lane, 0, JOB_GROUP_NONE, apart);
    if (whole < 0 || line == 0)
        return whole;
    int64_t part = enter_job_group(t, ask, lane, line, (uint32_t)whole, apart);
    if (part < 0 || t->v[part].jobs > 1) /* the part is of the group, each of its jobs is not */
        leave_job_group(t, (uint32_t)whole);
    return part;
}

struct line *job_group_line(const sched_t *s, const struct job_group *g)
{
    return line_at(&s->lanes[g->lane], g->line);
}

void job_group_leave(struct job_groups *t, uint32_t group)
{
    uint32_t whole = t->near[group].whole;
    bool is_last = t->v[group].jobs == 1;
    leave_job_group(t, group);
    if (is_last && whole != group)
        leave_job_group(t, whole);
}

struct job_group *job_group_part_of(const sched_t *s, uint32_t slot)
{
    return &s->queues->job_groups.v[s->jobs[slot].details->job_group];
}

uint32_t job_group_whole_of(const sched_t *s, uint32_t slot)
{
    return s->queues->job_groups.near[s->jobs[slot].details->job_group].whole;
}

struct job_group *job_group_of(const sched_t *s, uint32_t slot)
{
    return &s->queues->job_groups.v[job_group_whole_of(s, slot)];
}

struct job_kind *job_group_kind(const sched_t *s, const struct job_group *g)
{
    return &s->queues->job_groups.kinds.v[g->kind];
}

struct job_kind *job_kind_of(const sched_t *s, uint32_t slot)
{
    return job_group_kind(s, job_group_of(s, slot));
}

const struct job_group *job_group_in_lane(const struct job_groups *t, uint32_t kind, uint32_t lane)
{
    const struct job_kind *k = &t->kinds.v[kind];
    uint32_t i = t->chain[hash_of(k->class, lane, 0, k->permits) & (t->chains - 1)];
    for (; i != JOB_GROUP_NONE; i = t->v[i].next)
        if (t->v[i].kind == kind && t->v[i].lane == lane && t->v[i].line == 0)
            return &t->v[i];
    return NULL;
}
