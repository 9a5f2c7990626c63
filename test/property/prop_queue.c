/* The queue against a sorted array: insertions, removals, new values, ends, ranks and matches,
 * from empty to a few thousand entries and back, the queue checking itself as it goes.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "sched/waiting/queue.h"

#define BOUNDS_MAX 20

struct shape {
    int64_t most;      /* units of an entry */
    int64_t values;    /* values are from -values to values */
    int64_t ranks;     /* how many differ: 1 is first in, first out */
    int64_t brevities; /* within a rank, from 0 to that */
    size_t size;       /* entries to hover around, at most */
    int steps;
    int check_every;
};

struct model {
    struct queue_entry *v;
    size_t n;
    uint64_t seq;
};

static size_t model_rank(const struct model *m, struct queue_key key)
{
    size_t i = 0;
    while (i < m->n && queue_before(m->v[i].key, key))
        i++;
    return i;
}

static bool same(const struct queue_entry *a, const struct queue_entry *b)
{
    return queue_same(a->key, b->key) && a->units == b->units && a->value == b->value &&
           a->item == b->item;
}

static int64_t pick_units(const struct shape *s, struct random *r)
{
    if (random_next(r) % 3 == 0)
        return random_between(r, 1, s->most);
    int64_t units = (int64_t)1 << (random_next(r) % 62);
    units += random_between(r, -1, 1); /* around powers of two */
    return units < 1 ? 1 : units > s->most ? random_between(r, 1, s->most) : units;
}

static int64_t pick_value(const struct shape *s, struct random *r)
{
    return random_between(r, -s->values, s->values);
}

/* In most queues it is 0. */
static uint32_t pick_brevity(const struct shape *s, struct random *r)
{
    return s->brevities > 0 ? (uint32_t)random_between(r, 0, s->brevities) : 0;
}

static void step_insert(struct queue *q, struct model *m, const struct shape *s, struct random *r)
{
    struct queue_entry entry = {
        .key = {random_between(r, 0, s->ranks - 1), m->seq++, pick_brevity(s, r)}};
    entry.units = pick_units(s, r);
    entry.value = pick_value(s, r);
    entry.item = (uint32_t)random_next(r);
    size_t i = model_rank(m, entry.key);
    assert_int_equal(queue_insert(q, &entry), 0);
    memmove(&m->v[i + 1], &m->v[i], (m->n - i) * sizeof(*m->v));
    m->v[i] = entry;
    m->n++;
}

/* Any entry; the first and the last more often, as a queue has it. */
static size_t pick_entry(const struct model *m, struct random *r)
{
    switch (random_next(r) % 4) {
    case 0:
        return 0;
    case 1:
        return m->n - 1;
    default:
        return (size_t)random_between(r, 0, (int64_t)m->n - 1);
    }
}

static void step_remove(struct queue *q, struct model *m, struct random *r)
{
    if (m->n == 0)
        return;
    size_t i = pick_entry(m, r);
    queue_remove(q, m->v[i].key);
    m->n--;
    memmove(&m->v[i], &m->v[i + 1], (m->n - i) * sizeof(*m->v));
}

static void step_walk(const struct queue *q, const struct model *m)
{
    struct queue_cursor c;
    size_t i = 0;
    for (bool any = queue_begin(q, &c); any; any = queue_next(&c)) {
        assert_true(i < m->n);
        assert_int_equal(queue_item(&c), m->v[i++].item);
    }
    assert_int_equal(i, m->n);
}

static void step_ends(const struct queue *q, const struct model *m)
{
    struct queue_entry entry;
    assert_int_equal(queue_size(q), m->n);
    assert_int_equal(queue_first(q, &entry), m->n > 0);
    assert_true(m->n == 0 || same(&entry, &m->v[0]));
    assert_int_equal(queue_last(q, &entry), m->n > 0);
    assert_true(m->n == 0 || same(&entry, &m->v[m->n - 1]));
}

/* Of an entry that is there, or any other: right before that of an entry, say. */
static struct queue_key pick_key(const struct model *m, const struct shape *s, struct random *r)
{
    if (m->n > 0 && random_next(r) % 2)
        return m->v[pick_entry(m, r)].key;
    int64_t rank = random_between(r, -1, s->ranks);
    uint64_t seq = (uint64_t)random_between(r, 0, (int64_t)m->seq);
    return (struct queue_key){rank, seq, pick_brevity(s, r)};
}

static void step_rank(const struct queue *q, const struct model *m, const struct shape *s,
                      struct random *r)
{
    struct queue_key key = pick_key(m, s, r);
    assert_int_equal(queue_rank(q, key), model_rank(m, key));
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Bounds ascend in value and descend in units, each strictly or not. */
static size_t pick_bounds(const struct shape *s, struct random *r, struct queue_bound *bound)
{
    int64_t units[BOUNDS_MAX];
    int64_t values[BOUNDS_MAX];
    size_t n = (size_t)random_between(r, 0, random_next(r) % 2 ? 3 : BOUNDS_MAX);
    bool few = random_next(r) % 2; /* bounds that few entries meet */
    for (size_t i = 0; i < n; i++) {
        units[i] = few ? random_between(r, 0, 8 < s->most ? 8 : s->most) : pick_units(s, r);
        values[i] = few ? -s->values + random_between(r, -1, s->values / 8 + 1) : pick_value(s, r);
    }
    qsort(units, n, sizeof(*units), by_size);
    qsort(values, n, sizeof(*values), by_size);
    for (size_t i = 0; i < n; i++)
        bound[i] = (struct queue_bound){units[n - 1 - i], values[i]};
    if (n > 0 && random_next(r) % 4 == 0)
        bound[n - 1].value = INT64_MAX;
    return n;
}

static bool meets(const struct queue_entry *entry, const struct queue_bound *bound, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (entry->units <= bound[i].units && entry->value <= bound[i].value)
            return true;
    return false;
}

/* The next entry in order, whatever it asks for. */
static void check_after(const struct queue *q, const struct model *m, const struct queue_key *after)
{
    struct queue_entry entry;
    size_t i = 0;
    while (i < m->n && after && !queue_before(*after, m->v[i].key))
        i++;
    bool found = queue_after(q, after, &entry);
    assert_int_equal(found, i < m->n);
    assert_true(!found || same(&entry, &m->v[i]));
}

static void step_match(const struct queue *q, const struct model *m, const struct shape *s,
                       struct random *r)
{
    struct queue_bound bound[BOUNDS_MAX];
    size_t n = pick_bounds(s, r, bound);
    struct queue_key after = pick_key(m, s, r);
    bool from_start = random_next(r) % 3 == 0;
    struct queue_entry entry;
    size_t i = 0;
    while (i < m->n &&
           ((!from_start && !queue_before(after, m->v[i].key)) || !meets(&m->v[i], bound, n)))
        i++;
    bool found = queue_match(q, from_start ? NULL : &after, bound, n, &entry);
    assert_int_equal(found, i < m->n);
    assert_true(!found || same(&entry, &m->v[i]));
    check_after(q, m, from_start ? NULL : &after);
}

static void run(const struct shape *s, uint64_t seed)
{
    struct random r = {seed};
    struct queue *q = queue_create(s->most);
    struct model m = {.v = calloc(s->size + (size_t)s->steps, sizeof(*m.v))};
    size_t target = 0;
    assert_non_null(q);
    assert_non_null(m.v);
    for (int i = 0; i < s->steps; i++) {
        if (i % (s->steps / 8) == 0)
            target =
                i / (s->steps / 8) % 3 == 2 ? 0 : (size_t)random_between(&r, 1, (int64_t)s->size);
        uint64_t dice = random_next(&r) % 100;
        if (dice < 50 && (dice < 40) == (m.n < target))
            step_insert(q, &m, s, &r);
        else if (dice < 50)
            step_remove(q, &m, &r);
        else if (dice < 51)
            step_walk(q, &m);
        else if (dice < 70)
            step_ends(q, &m);
        else if (dice < 80)
            step_rank(q, &m, s, &r);
        else
            step_match(q, &m, s, &r);
        if (i % s->check_every == 0)
            assert_true(queue_check(q));
    }
    while (m.n > 0) {
        step_remove(q, &m, &r);
        if (m.n % (size_t)s->check_every == 0)
            assert_true(queue_check(q));
    }
    step_ends(q, &m);
    queue_destroy(q);
    free(m.v);
}

static void test_small(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++)
        run(&(struct shape){.most = (int64_t)(seed % 9) + 1,
                            .values = 5,
                            .ranks = (int64_t)(seed % 3) + 1,
                            .size = 60,
                            .steps = 2000,
                            .check_every = 1},
            seed);
}

static void test_large(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++)
        run(&(struct shape){.most = 100000,
                            .values = 1000,
                            .ranks = seed % 2 ? 1 : 50,
                            .brevities = seed % 3 ? 0 : 9,
                            .size = 4000,
                            .steps = 40000,
                            .check_every = 499},
            seed);
}

static void test_extremes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++)
        run(&(struct shape){.most = INT64_MAX,
                            .values = INT64_MAX / 2,
                            .ranks = INT64_MAX / 2,
                            .size = 600,
                            .steps = 10000,
                            .check_every = 37},
            seed);
}

/* A queue that is only appended to and only served from the front, as under fcfs. */
static void test_first_in_first_out(void **state)
{
    (void)state;
    struct queue *q = queue_create(8);
    struct queue_entry entry = {.units = 1};
    for (uint64_t i = 0; i < 5000; i++) {
        entry.key.seq = i;
        assert_int_equal(queue_insert(q, &entry), 0);
    }
    assert_true(queue_check(q));
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(queue_first(q, &entry));
        assert_int_equal(entry.key.seq, i);
        queue_remove(q, entry.key);
        if (i % 101 == 0)
            assert_true(queue_check(q));
    }
    assert_int_equal(queue_size(q), 0);
    queue_destroy(q);
    queue_destroy(NULL);
}

/* Where users take turns, each has queues of a few entries: there are hundreds of thousands of these. */
static void test_few_entries_take_little(void **state)
{
    enum { QUEUES = 1000, BYTES = 256 };
    static struct queue *q[QUEUES];
    (void)state;
    size_t before = mallinfo2().uordblks;
    for (uint64_t i = 0; i < QUEUES; i++) {
        q[i] = queue_create(1);
        assert_non_null(q[i]);
        for (uint64_t k = 0; k < 2; k++) {
            struct queue_entry entry = {.key = {.seq = 2 * i + k}, .units = 1, .value = 1};
            assert_int_equal(queue_insert(q[i], &entry), 0);
        }
    }
    assert_in_range((mallinfo2().uordblks - before) / QUEUES, 0, BYTES);
    for (size_t i = 0; i < QUEUES; i++)
        queue_destroy(q[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_first_in_first_out),
        cmocka_unit_test(test_few_entries_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
