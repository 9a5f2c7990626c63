/* Sets of ids against an array of truths: random changes, questions and combinations, and the text there
 * and back.
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

static void change(struct pair *p, struct random *r)
{
    uint32_t lo = (uint32_t)random_between(r, 0, IDS - 1);
    int64_t most = random_next(r) % 8 ? 3 : IDS;
    int64_t hi = random_between(r, lo, lo + most);
    if (hi >= IDS)
        hi = IDS - 1;
    bool add = random_next(r) % 2;
    int rc = add ? idset_add_range(&p->set, lo, (uint32_t)hi)
                 : idset_remove_range(&p->set, lo, (uint32_t)hi);
    assert_int_equal(rc, 0);
    memset(p->model + lo, add, (size_t)hi - lo + 1);
}

static void combine(struct pair *p, const struct pair *q, struct random *r)
{
    uint64_t how = random_next(r) % 3;
    int (*const call[])(struct idset *, const struct idset *) = {idset_unite, idset_intersect,
                                                                 idset_subtract};
    bool meet = false;
    for (int id = 0; id < IDS; id++)
        meet = meet || (p->model[id] && q->model[id]);
    assert_int_equal(idset_meets(&p->set, &q->set), meet);
    assert_int_equal(call[how](&p->set, &q->set), 0);
    for (int id = 0; id < IDS; id++) {
        bool a = p->model[id];
        bool b = q->model[id];
        p->model[id] = how == 0 ? a || b : how == 1 ? a && b : a && !b;
    }
}

static void agrees_with_an_array(void **state)
{
    (void)state;
    struct pair p[2] = {0};
    struct random r = {.state = 22};
    for (int step = 0; step < STEPS; step++) {
        struct pair *one = &p[random_next(&r) % 2];
        struct pair *other = &p[random_next(&r) % 2];
        if (random_next(&r) % 10 > 0)
            change(one, &r);
        else if (one != other)
            combine(one, other, &r);
        assert_true(idset_check(&one->set));
        assert_int_equal(idset_equal(&p[0].set, &p[1].set),
                         memcmp(p[0].model, p[1].model, IDS) == 0);
        if (step % 5 == 0)
            check_walks(one);
        if (step % 7 == 0)
            check_text(one, step % 2);
    }
    idset_clear(&p[0].set);
    idset_clear(&p[1].set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
