/* Sets of ids against an array of truths: random changes, questions and combinations, and the texts there
 * and back; of sets without steps and of sets with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/idset.h"
#include "random.h"

#define IDS   200
#define STEPS 30000

struct pair {
    struct idset set;
    bool model[IDS];
};

/* How many ids there are from one on, asked of the set and of the model. */
static void check_counts(const struct pair *p, struct random *r)
{
    uint32_t from = (uint32_t)random_between(r, 0, IDS), n = (uint32_t)random_between(r, 0, IDS);
    uint64_t count = 0;
    for (uint32_t id = from; id < from + n && id < IDS; id++)
        count += p->model[id];
    assert_int_equal(idset_count_in(&p->set, from, n), count);
}

static void check_walks(const struct pair *p)
{
    uint32_t up = idset_first(&p->set);
    uint64_t count = 0;
    for (uint32_t id = 0; id < IDS; id++) {
        assert_int_equal(idset_has(&p->set, id), p->model[id]);
        if (!p->model[id])
            continue;
        assert_int_equal(up, id);
        up = idset_next(&p->set, id);
        count++;
    }
    assert_int_equal(up, IDSET_NONE);
    assert_int_equal(p->set.count, count);
    uint32_t down = idset_last(&p->set);
    for (uint32_t id = IDS; id-- > 0;) {
        if (p->model[id]) {
            assert_int_equal(down, id);
            down = idset_prev(&p->set, id);
        }
    }
    assert_int_equal(down, IDSET_NONE);
}

/* Each id and whether the next one is there decide what is written. */
static void write_model(const bool *model, bool brackets, char *to)
{
    size_t n = 0;
    size_t count = 0;
    to[n++] = '[';
    for (int id = 0; id < IDS; id++) {
        bool before = id > 0 && model[id - 1];
        bool after = id + 1 < IDS && model[id + 1];
        count += model[id];
        if (model[id] && !before)
            n += (size_t)sprintf(to + n, "%s%d", n > 1 ? "," : "", id);
        else if (model[id] && !after)
            n += (size_t)sprintf(to + n, "-%d", id);
    }
    strcpy(to + n, "]");
    if (!brackets || count < 2) {
        memmove(to, to + 1, n);
        to[n - 1] = '\0';
    }
}

/* Ids with neighbours are ranges; of those between, as many at equal distances as there are from the first one on are
 * one if they are three or more.
 */
static void write_steps(const bool *model, char *to)
{
    *to = '\0';
    for (int id = 0; id < IDS;) {
        int last = id, n = 0, step = 0;
        if (!model[id]) {
            id++;
            continue;
        }
        while (last + 1 < IDS && model[last + 1])
            last++;
        for (int next = id + 2; last == id && next < IDS && !model[id + 1]; next++)
            if (model[next]) {
                step = next - id;
                break;
            }
        for (int at = id; step > 1 && at < IDS && model[at] && (at + 1 == IDS || !model[at + 1]);
             at += step, n++) {
            bool is_next = true;
            for (int between = at - step + 1; n > 0 && between < at; between++)
                is_next = is_next && !model[between];
            if (!is_next)
                break;
            last = at;
        }
        to += sprintf(to, "%s%d", id > 0 && to[-1] != '[' ? "," : "", id);
        if (n > 2)
            to += sprintf(to, "-%d:%d", last, step);
        else if (n > 0)
            last = id;
        else if (last > id)
            to += sprintf(to, "-%d", last);
        id = last + 1;
    }
}

static void check_steps(const struct pair *p)
{
    char expected[IDS * 5] = "[";
    struct strbuf b = {0};
    struct idset again = {0};
    write_steps(p->model, expected + 1);
    strbuf_putc(&b, '[');
    idset_encode_steps(&p->set, &b);
    assert_string_equal(strbuf_text(&b), expected);
    assert_int_equal(idset_decode_steps(&again, b.data + 1, b.len - 1, NULL), 0);
    assert_true(idset_check(&again));
    assert_true(idset_equal(&again, &p->set));
    assert_true(idset_equal(&p->set, &again));
    idset_clear(&again);
    strbuf_clear(&b);
}

static void check_text(const struct pair *p, bool brackets)
{
    char expected[IDS * 5];
    struct strbuf b = {0};
    struct idset again = {0};
    write_model(p->model, brackets, expected);
    idset_encode(&p->set, brackets, &b);
    assert_string_equal(strbuf_text(&b), expected);
    assert_int_equal(idset_decode(&again, b.data, b.len, NULL), 0);
    assert_true(idset_check(&again));
    assert_true(idset_equal(&again, &p->set));
    idset_clear(&again);
    strbuf_clear(&b);
}

/* The set becomes one that is read from ranges with steps. */
static void change_to_steps(struct pair *p, struct random *r)
{
    char text[400];
    size_t n = 0;
    memset(p->model, 0, sizeof(p->model));
    for (int64_t lo = random_between(r, 0, 20); lo < IDS;) {
        int64_t hi = random_between(r, lo, lo + 60), step = random_between(r, 1, 7);
        hi = hi < IDS ? hi : IDS - 1;
        n += (size_t)sprintf(text + n, n > 0 ? ",%d" : "%d", (int)lo);
        if (hi > lo)
            n += (size_t)sprintf(text + n, "-%d:%d", (int)hi, (int)step);
        for (; lo <= hi; lo += step)
            p->model[lo] = true;
        lo = hi + random_between(r, 1, 9);
    }
    assert_int_equal(idset_decode_steps(&p->set, text, n, NULL), 0);
}

/* Ranges that are reserved are enough. */
static void change(struct pair *p, struct random *r)
{
    uint32_t lo = (uint32_t)random_between(r, 0, IDS - 1);
    int64_t most = random_next(r) % 8 ? 3 : IDS;
    int64_t hi = random_between(r, lo, lo + most);
    if (hi >= IDS)
        hi = IDS - 1;
    bool add = random_next(r) % 2;
    assert_int_equal(idset_reserve(&p->set, p->set.n + 1 + add), 0);
    uint32_t cap = p->set.cap;
    int rc = add ? idset_add_range(&p->set, lo, (uint32_t)hi)
                 : idset_remove_range(&p->set, lo, (uint32_t)hi);
    assert_int_equal(rc, 0);
    assert_int_equal(p->set.cap, cap);
    memset(p->model + lo, add, (size_t)hi - lo + 1);
}

static void combine(struct pair *p, const struct pair *q, struct random *r)
{
    uint64_t how = random_next(r) % 4;
    int (*const call[])(struct idset *, const struct idset *) = {idset_unite, idset_intersect,
                                                                 idset_subtract, idset_pick};
    bool meet = false, covers = true;
    for (int id = 0; id < IDS; id++) {
        meet = meet || (p->model[id] && q->model[id]);
        covers = covers && (p->model[id] || !q->model[id]);
    }
    assert_int_equal(idset_meets(&p->set, &q->set), meet);
    assert_int_equal(idset_covers(&p->set, &q->set), covers);
    assert_int_equal(call[how](&p->set, &q->set), 0);
    for (int id = 0; id < IDS; id++) {
        bool a = p->model[id];
        bool b = q->model[id];
        p->model[id] = how == 0 ? a || b : how == 2 ? a && !b : a && b;
    }
}

static void agree_with_arrays(uint64_t seed, bool steps)
{
    struct pair p[2] = {0};
    struct random r = {.state = seed};
    for (int step = 0; step < STEPS; step++) {
        struct pair *one = &p[random_next(&r) % 2];
        struct pair *other = &p[random_next(&r) % 2];
        if (steps && random_next(&r) % 8 == 0)
            change_to_steps(one, &r);
        else if (random_next(&r) % 10 > 0)
            change(one, &r);
        else if (one != other)
            combine(one, other, &r);
        assert_true(idset_check(&one->set));
        assert_int_equal(idset_equal(&p[0].set, &p[1].set),
                         memcmp(p[0].model, p[1].model, IDS) == 0);
        check_counts(one, &r);
        if (step % 5 == 0)
            check_walks(one);
        if (step % 7 == 0)
            check_text(one, step % 2);
        if (step % 3 == 0)
            check_steps(one);
    }
    idset_clear(&p[0].set);
    idset_clear(&p[1].set);
}

static void agrees_with_an_array(void **state)
{
    (void)state;
    agree_with_arrays(22, false);
}

static void agrees_with_steps(void **state)
{
    (void)state;
    agree_with_arrays(23, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(agrees_with_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
