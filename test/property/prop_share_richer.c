/* Who takes from users who have more: as berth-config(5) says, and nobody for ever. The part of one is what it has of the
 * resource of which it has most, of all there is and over its weight.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "share_scene.h"

enum {
    SEEDS = 6000,
    USERS = 6,
    JOBS = 30,
    TAKINGS = 300,
    HELD = 1 << SHARE_PROMISED | 1 << SHARE_RUNNING,
    EXACT = 1 << 20 /* amounts up to this are compared exactly */
};

/* of == 0: it has no weight, which is more than any part. */
struct part {
    wide has, of;
};

static int compare(struct part x, struct part y)
{
    if (x.of == 0 || y.of == 0)
        return (x.of == 0) - (y.of == 0);
    wide a = x.has * y.of, b = y.has * x.of;
    return (a > b) - (a < b);
}

/* Of a node, with so much more. */
static struct part part_of(const struct scene *s, uint32_t node, const int64_t *more, int sign)
{
    const int64_t weight = s->m.node[node].settings.weight;
    struct part part = {0, weight > 0};
    for (uint32_t d = 0; d < s->m.dimensions; d++) {
        int64_t has = naive_sum(&s->m, node, HELD, d) + (more ? sign * more[d] : 0);
        struct part one = {has, (wide)s->m.total[d] * weight};
        if (s->m.total[d] > 0 && has > 0 && compare(one, part) > 0)
            part = one;
    }
    return part;
}

/* The child of a node that another one is, or is below. */
static uint32_t child_of(const struct scene *s, uint32_t above, uint32_t node)
{
    while (s->m.node[node].parent != above)
        node = s->m.node[node].parent;
    return node;
}

static bool keeps_guarantees(const struct scene *s, uint32_t giver, uint32_t above,
                             const int64_t *given)
{
    for (uint32_t i = giver; i != above; i = s->m.node[i].parent)
        for (uint32_t d = 0; d < s->m.dimensions; d++)
            if (given[d] > 0 &&
                naive_sum(&s->m, i, HELD, d) - given[d] < s->m.node[i].settings.guarantee[d])
                return false;
    return true;
}

static bool may_take(const struct scene *s, const struct naive_job *taker,
                     const struct naive_job *giver)
{
    if (taker->leaf == giver->leaf)
        return false;
    uint32_t above = naive_common(&s->m, taker->leaf, giver->leaf);
    uint32_t to = child_of(s, above, taker->leaf), from = child_of(s, above, giver->leaf);
    return compare(part_of(s, to, NULL, 0), part_of(s, from, NULL, 0)) < 0 &&
           compare(part_of(s, to, taker->amount, 1), part_of(s, from, giver->amount, -1)) <= 0 &&
           keeps_guarantees(s, giver->leaf, above, giver->amount);
}

/* The taker starts in the place of the giver. The lesser of their parts is no less than before, the one of the taker is
 * still no more than the other, and it is not taken back by that job.
 */
static void take(struct scene *s, uint32_t taker, uint32_t giver, uint64_t *more)
{
    const struct naive_job *job = s->m.job;
    uint32_t above = naive_common(&s->m, job[taker].leaf, job[giver].leaf);
    uint32_t to = child_of(s, above, job[taker].leaf), from = child_of(s, above, job[giver].leaf);
    struct part before = part_of(s, to, NULL, 0);
    scene_move(s, giver, SHARE_WAITING);
    scene_move(s, taker, SHARE_RUNNING);
    struct part now = part_of(s, to, NULL, 0), left = part_of(s, from, NULL, 0);
    assert_true(compare(now, left) <= 0);
    assert_true(compare(now, before) >= 0);
    *more += compare(now, before) > 0;
    assert_false(share_may_even_out(s->t, job[giver].leaf, job[giver].amount, job[taker].leaf,
                                    job[taker].amount, NULL));
}

/* Whether a job fits beside what runs, without another one where that is given. */
static bool fits(const struct scene *s, const struct naive_job *job,
                 const struct naive_job *without)
{
    bool fits = true;
    for (uint32_t d = 0; d < s->m.dimensions; d++)
        fits &= job->amount[d] == 0 ||
                naive_sum(&s->m, SHARE_ROOT, HELD, d) - (without ? without->amount[d] : 0) <=
                    s->m.total[d] - job->amount[d];
    return fits;
}

/* Those start that fit, from any one on. */
static void start_all(struct scene *s)
{
    uint32_t first = (uint32_t)scene_draw(s, 0, JOBS - 1);
    for (uint32_t i = 0; i < JOBS; i++)
        if (s->m.job[(first + i) % JOBS].state == SHARE_WAITING &&
            fits(s, &s->m.job[(first + i) % JOBS], NULL))
            scene_move(s, (first + i) % JOBS, SHARE_RUNNING);
}

/* One that waits takes from one that runs, from any two on, if any may and starts by that: false if none does. */
static bool take_any(struct scene *s, uint64_t *more)
{
    const struct naive_job *job = s->m.job;
    uint32_t first = (uint32_t)scene_draw(s, 0, JOBS - 1), other = (uint32_t)scene_draw(s, 0, JOBS);
    for (uint32_t i = 0; i < JOBS; i++)
        for (uint32_t k = 0; k < JOBS; k++) {
            uint32_t taker = (first + i) % JOBS, giver = (other + k) % JOBS;
            if (job[taker].state != SHARE_WAITING || job[giver].state != SHARE_RUNNING)
                continue;
            bool may = share_may_even_out(s->t, job[taker].leaf, job[taker].amount, job[giver].leaf,
                                          job[giver].amount, NULL);
            assert_int_equal(may, may_take(s, &job[taker], &job[giver]));
            if (!may || !fits(s, &job[taker], &job[giver]))
                continue;
            take(s, taker, giver, more);
            return true;
        }
    return false;
}

/* However those are chosen who take and give, it ends. */
static void takings_end(void **state)
{
    (void)state;
    uint64_t takings = 0, more = 0, scenes = 0;
    struct scene *s = malloc(sizeof(*s));
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(SEEDS); seed++) {
        scene_start(s, seed);
        while (s->m.n <= USERS)
            scene_add(s);
        while (s->m.n_jobs < JOBS)
            scene_job_comes(s);
        uint32_t n = 0;
        for (start_all(s); s->largest <= EXACT && n < TAKINGS && take_any(s, &more); n++) {
            start_all(s);
            s->m.n_changes = 0;
        }
        scenes += n > 0;
        takings += n;
        if (n == TAKINGS)
            fail_msg("seed %llu: they take for ever", (unsigned long long)seed);
        share_free(s->t);
    }
    free(s);
    if (scenes < RANDOM_ROUNDS(SEEDS) / 8 || more < takings / 8)
        fail_msg("%llu takings, %llu of which leave more, in %llu scenes",
                 (unsigned long long)takings, (unsigned long long)more, (unsigned long long)scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takings_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
