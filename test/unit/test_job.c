#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "match/book/job.h"

static void add(struct jobs *t, int64_t id)
{
    struct job *job = job_new(id, 0, 1, false);

    assert_non_null(job);
    assert_int_equal(jobs_add(t, job), 0);
}

static void drop(struct jobs *t, int64_t id)
{
    struct job *job = jobs_find(t, id);

    assert_non_null(job);
    jobs_remove(t, id);
    job_destroy(job);
}

static void found_until_removed(void **state)
{
    enum { IDS = 1500 };
    struct jobs t = {0};
    bool there[IDS] = {false};
    uint64_t r = 1;

    (void)state;
    assert_null(jobs_find(&t, 1));
    for (int i = 0; i < 20000; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        int64_t id = (int64_t)(r >> 33) % IDS;
        /* Numbers that lie apart, so that they meet in the table in other ways. */
        int64_t number = id % 3 == 0 ? id : id << 40;
        assert_true((jobs_find(&t, number) != NULL) == there[id]);
        if (there[id])
            drop(&t, number);
        else
            add(&t, number);
        there[id] = !there[id];
    }
    uint32_t n = 0;
    for (int64_t id = 0; id < IDS; id++) {
        const struct job *job = jobs_find(&t, id % 3 == 0 ? id : id << 40);
        assert_true((job != NULL) == there[id]);
        n += there[id];
    }
    assert_int_equal(t.n, n);
    jobs_remove(&t, -5); /* not there */
    assert_int_equal(t.n, n);
    jobs_clear(&t);
    assert_null(jobs_find(&t, 1));
}

static void holds(void **state)
{
    struct job *job = job_new(3, 5, 9, true);
    int64_t counts[] = {1, 2, 3};

    (void)state;
    assert_non_null(job);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(job_hold(job, i, HOLD_EXCLUSIVE, i, counts, i % 4), 0);
    assert_int_equal(job->n, 100);
    for (uint32_t i = 0; i < 100; i++) {
        const struct hold *h = &job->hold[i];
        assert_int_equal(h->vertex, i);
        assert_int_equal(h->needs, i);
        assert_int_equal(h->n_counts, i % 4);
        for (uint32_t k = 0; k < i % 4; k++)
            assert_int_equal(job->counts[h->counts + k], k + 1);
    }
    assert_int_equal(job_hold(job, 100, 0, 1, NULL, 0), 0);
    job_destroy(job);
    job_destroy(NULL);
}

/* Cores 10 to 41 of node 9, of which the second one was asked for and 20 is held with other needs; 43 is not behind 41. */
static void bare_holds_join(void **state)
{
    const uint32_t spare = HOLD_COVERED | HOLD_EXCLUSIVE | HOLD_SPARE;
    static const uint32_t first[] = {10, 11, 12, 20, 21, 43, 9}, run[] = {1, 1, 8, 1, 21, 1, 1};
    struct job *job = job_new(3, 5, 9, false);
    int64_t count = 32;

    (void)state;
    assert_non_null(job);
    for (uint32_t v = 10; v < 42; v++)
        assert_int_equal(
            job_hold_bare(job, v, v == 11 ? spare & ~(uint32_t)HOLD_SPARE : spare, v == 20 ? 2 : 1),
            0);
    assert_int_equal(job_hold_bare(job, 43, spare, 1), 0);
    assert_int_equal(job_hold(job, 9, HOLD_EXCLUSIVE, 1, &count, 1), 0);
    assert_int_equal(job->n, 7);
    for (uint32_t i = 0; i < job->n; i++) {
        assert_int_equal(job->hold[i].vertex, first[i]);
        assert_int_equal(hold_vertices(&job->hold[i]), run[i]);
    }
    assert_int_equal(job_vertices(job), 34);
    assert_int_equal(job_next_booked(job, 0), 6);
    struct job *each = job_unfolded(job);
    assert_non_null(each);
    assert_int_equal(each->n, 34);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(each->hold[i].vertex, 10 + i);
        assert_int_equal(each->hold[i].needs, i == 10 ? 2 : 1);
        assert_int_equal(each->hold[i].flags & HOLD_SPARE, i == 1 ? 0 : HOLD_SPARE);
        assert_int_equal(hold_vertices(&each->hold[i]), 1);
    }
    assert_int_equal(each->hold[32].vertex, 43);
    assert_int_equal(each->counts[each->hold[33].counts], 32);
    job_destroy(each);
    job_destroy(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_until_removed),
        cmocka_unit_test(holds),
        cmocka_unit_test(bare_holds_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
