/* Who takes from whom by shares: as the naive tree says, and never in turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "share_scene.h"

enum { SEEDS = 3500, TRIES = 100000 };

/* By how much all nodes together have more than they deserve. */
static wide loans(const struct scene *s)
{
    enum { HELD = 1 << SHARE_PROMISED | 1 << SHARE_RUNNING };
    wide sum = 0;
    for (uint32_t i = 1; i < s->m.n; i++)
        for (uint32_t d = 0; d < s->m.dimensions; d++) {
            int64_t more = naive_sum(&s->m, i, HELD, d) - naive_deserved(&s->m, i, d);
            sum += more > 0 ? more : 0;
        }
    return sum;
}

/* The child of a node that a leaf is of. */
static uint32_t child_of(const struct scene *s, uint32_t node, uint32_t leaf)
{
    while (s->m.node[leaf].parent != node)
        leaf = s->m.node[leaf].parent;
    return leaf;
}

/* What a node has taken from another one, no job that waits there may take back, whichever leaf below the one it is of and
 * whichever job runs below the other: none takes anything of these unless something else is borrowed, of which nothing was
 * taken.
 */
static void check_taken(struct scene *s, uint32_t taker, uint32_t stopped)
{
    const struct naive_job *job = s->m.job;
    uint32_t common = naive_common(&s->m, job[taker].leaf, job[stopped].leaf);
    uint32_t to = child_of(s, common, job[taker].leaf);
    uint32_t from = child_of(s, common, job[stopped].leaf);
    for (uint32_t i = 0; i < s->m.n_jobs; i++)
        for (uint32_t k = 0; k < s->m.n_jobs; k++) {
            if (job[i].state != SHARE_WAITING || !naive_is_below(&s->m, job[i].leaf, from) ||
                job[k].state != SHARE_RUNNING || !naive_is_below(&s->m, job[k].leaf, to))
                continue;
            bool other = false;
            for (uint32_t d = 0; d < s->m.dimensions; d++)
                other |= job[i].amount[d] > 0 && job[k].amount[d] > 0 &&
                         (job[taker].amount[d] == 0 || job[stopped].amount[d] == 0);
            assert_true(other || !share_may_reclaim(s->t, job[i].leaf, job[i].amount, job[k].leaf,
                                                    job[k].amount, NULL));
        }
    assert_false(share_may_reclaim(s->t, job[stopped].leaf, job[stopped].amount, job[taker].leaf,
                                   job[taker].amount, NULL));
}

/* Let a job that waits take what it needs from jobs that run, if it may. True if it has. */
static bool reclaim(struct scene *s, uint32_t taker)
{
    struct naive_job *job = s->m.job;
    int64_t left[SHARE_DIMENSIONS_MAX];
    enum share_state old[NAIVE_JOBS];
    bool enough = true, any = false;
    for (uint32_t i = 0; i < s->m.n_jobs; i++)
        old[i] = job[i].state;
    memcpy(left, job[taker].amount, sizeof(left));
    for (uint32_t i = 0; i < s->m.n_jobs; i++) {
        if (job[i].state != SHARE_RUNNING)
            continue;
        bool may = share_may_reclaim(s->t, job[taker].leaf, job[taker].amount, job[i].leaf,
                                     job[i].amount, NULL);
        assert_int_equal(may, naive_may_reclaim(&s->m, job[taker].leaf, job[taker].amount,
                                                job[i].leaf, job[i].amount));
        bool helps = false;
        for (uint32_t d = 0; d < s->m.dimensions; d++)
            helps |= left[d] > 0 && job[i].amount[d] > 0;
        if (!may || !helps)
            continue;
        for (uint32_t d = 0; d < s->m.dimensions; d++)
            left[d] -= job[i].amount[d];
        any = true;
        scene_move(s, i, SHARE_WAITING);
    }
    for (uint32_t d = 0; d < s->m.dimensions; d++)
        enough &= left[d] <= 0;
    if (any && enough) {
        scene_move(s, taker, SHARE_RUNNING);
        for (uint32_t i = 0; i < s->m.n_jobs; i++)
            if (old[i] == SHARE_RUNNING && job[i].state == SHARE_WAITING)
                check_taken(s, taker, i);
        return true;
    }
    for (uint32_t i = 0; i < s->m.n_jobs; i++)
        if (job[i].state != old[i])
            scene_move(s, i, old[i]);
    return false;
}

/* Reclaims end: each leaves less on loan. So no two nodes take from each other in turns, however the waiting
 * jobs are chosen.
 */
static void reclaims_end(void **state)
{
    (void)state;
    uint64_t reclaims = 0, tries = 0;
    struct scene *s = malloc(sizeof(*s));
    for (uint64_t seed = 0; seed < RANDOM_ROUNDS(SEEDS); seed++) {
        scene_start(s, seed);
        while (s->m.n < 12)
            scene_add(s);
        while (s->m.n_jobs < 30)
            scene_job_comes(s);
        for (uint32_t i = 0; i < s->m.n_jobs; i++)
            if (scene_draw(s, 0, 1) && share_allows(s->t, s->m.job[i].leaf, s->m.job[i].amount))
                scene_move(s, i, SHARE_RUNNING);
        wide before = loans(s);
        bool again = true;
        while (again) {
            again = false;
            for (uint32_t i = 0; i < s->m.n_jobs; i++) {
                tries += s->m.job[i].state == SHARE_WAITING;
                if (s->m.job[i].state == SHARE_WAITING && s->m.n_changes < NAIVE_CHANGES / 2 &&
                    reclaim(s, i)) {
                    wide after = loans(s);
                    assert_true(after < before);
                    before = after;
                    again = true;
                    reclaims++;
                }
            }
            s->m.n_changes = 0;
        }
        share_free(s->t);
    }
    free(s);
    if (tries < RANDOM_ROUNDS(TRIES) || reclaims < RANDOM_ROUNDS(SEEDS) / 4)
        fail_msg("%llu of %llu tries took something", (unsigned long long)reclaims,
                 (unsigned long long)tries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reclaims_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
