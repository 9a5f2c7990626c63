/* Random scenes of a tree of shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "share_scene.h"

int64_t scene_draw(struct scene *s, int64_t low, int64_t high)
{
    return random_between(&s->r, low, high);
}

/* Often 0, or the largest, or small. */
int64_t scene_draw_amount(struct scene *s)
{
    switch (scene_draw(s, 0, 7)) {
    case 0:
        return 0;
    case 1:
        return s->largest;
    case 2:
        return scene_draw(s, 0, s->largest);
    default:
        return scene_draw(s, 0, s->largest / 16 + 1);
    }
}

void scene_draw_settings(struct scene *s, struct share_settings *set)
{
    share_default_settings(set);
    set->weight =
        scene_draw(s, 0, 5) ? (int32_t)scene_draw(s, 1, scene_draw(s, 0, 1) ? 4 : s->heaviest) : 0;
    set->priority = (int32_t)scene_draw(s, -1, 1);
    set->keeps_guarantee = scene_draw(s, 0, 3) == 0;
    for (uint32_t d = 0; d < s->m.dimensions; d++) {
        if (scene_draw(s, 0, 3) == 0)
            set->capability[d] = scene_draw_amount(s) * 4;
        if (scene_draw(s, 0, 3) == 0)
            set->guarantee[d] = scene_draw_amount(s) / 8;
        if (set->guarantee[d] > set->capability[d])
            set->guarantee[d] = set->capability[d];
        if (scene_draw(s, 0, 5) == 0)
            set->deserved[d] = scene_draw_amount(s);
    }
    for (uint32_t i = 0, n = (uint32_t)scene_draw(s, 0, 3); i < n; i++)
        set->by[i] = (uint8_t)scene_draw(s, 1, SHARE_BYS - 1);
}

uint32_t scene_draw_leaf(struct scene *s)
{
    for (int tries = 0; tries < 100 && s->m.n > 1; tries++) {
        uint32_t node = (uint32_t)scene_draw(s, 1, s->m.n - 1);
        if (naive_children(&s->m, node) == 0)
            return node;
    }
    return SHARE_NO_NODE;
}

static bool has_jobs(const struct scene *s, uint32_t node)
{
    return naive_count(&s->m, node, SHARE_WAITING) + naive_count(&s->m, node, SHARE_PROMISED) +
               naive_count(&s->m, node, SHARE_RUNNING) >
           0;
}

void scene_add(struct scene *s)
{
    uint32_t parent = (uint32_t)scene_draw(s, 0, s->m.n - 1);
    struct share_settings set;
    scene_draw_settings(s, &set);
    bool leaf = naive_children(&s->m, parent) == 0;
    bool good = !leaf || (!has_jobs(s, parent) && !s->m.node[parent].offered &&
                          !s->m.node[parent].any_waits);
    if (s->m.n == NAIVE_NODES)
        return;
    uint32_t node = share_add(s->t, parent, &set);
    assert_int_equal(node, good ? s->m.n : SHARE_NO_NODE);
    if (good)
        s->m.node[s->m.n++] = (struct naive_node){.parent = parent, .settings = set};
}

void scene_job_comes(struct scene *s)
{
    uint32_t leaf = scene_draw_leaf(s);
    if (leaf == SHARE_NO_NODE || s->m.n_jobs == NAIVE_JOBS)
        return;
    struct naive_job *job = &s->m.job[s->m.n_jobs++];
    *job = (struct naive_job){.leaf = leaf, .state = SHARE_WAITING};
    for (uint32_t d = 0; d < s->m.dimensions; d++)
        job->amount[d] = scene_draw_amount(s);
    assert_int_equal(share_job(s->t, leaf, SHARE_ABSENT, SHARE_WAITING, 1, job->amount, s->now), 0);
}

void scene_move(struct scene *s, uint32_t i, enum share_state to)
{
    struct naive_job *job = &s->m.job[i];
    enum share_state from = job->state;
    assert_int_equal(share_job(s->t, job->leaf, from, to, 1, job->amount, s->now), 0);
    job->state = to;
    uint32_t leaf = job->leaf;
    if (to == SHARE_ABSENT)
        *job = s->m.job[--s->m.n_jobs];
    if ((from == SHARE_RUNNING) != (to == SHARE_RUNNING))
        naive_note(&s->m, leaf, s->now);
}

void scene_start(struct scene *s, uint64_t seed)
{
    *s = (struct scene){.r = {seed}, .heaviest = 100, .largest = 16};
    s->m.dimensions = (uint32_t)scene_draw(s, 1, 3);
    switch (seed % 4) {
    case 0:
        s->largest = 1000000;
        break;
    case 1: /* the ends of the ranges */
        s->largest = SHARE_MOST / 256;
        s->heaviest = SHARE_WEIGHT_MAX;
        break;
    }
    s->m.rule.half_life = scene_draw(s, 1, scene_draw(s, 0, 1) ? 20 : 100000);
    for (uint32_t d = 0; d < s->m.dimensions; d++) {
        s->m.total[d] = scene_draw(s, 0, s->largest) * 8;
        s->m.rule.weights[d] =
            scene_draw(s, 0, 1) ? scene_draw(s, 0, 3) : scene_draw(s, 0, 1 << 20);
    }
    s->m.by_first = scene_draw(s, 0, 1);
    s->t = share_new(s->m.dimensions, s->m.total, &s->m.rule);
    assert_non_null(s->t);
    s->m.n = 1;
    share_default_settings(&s->m.node[0].settings);
}
