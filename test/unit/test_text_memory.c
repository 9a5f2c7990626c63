/* Texts, sets and lists without memory: each allocation that a call makes fails once, the first, the second
 * and so on, until the call comes through. What failed must have changed nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/idset.h"
#include "fixture/failing_alloc.h"

/* Ends a call that was made with its nth allocation failing: true if it is to be made again. */
static bool again(int rc)
{
    bool had_failure = until_failure < 0;
    until_failure = -1;
    assert_int_equal(rc < 0, had_failure);
    if (rc < 0)
        assert_int_equal(errno, ENOMEM);
    return rc < 0;
}

static void check_set(const struct idset *s, const char *expected)
{
    struct strbuf b = {0};
    assert_true(idset_check(s));
    idset_encode(s, false, &b);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static void check_list(const struct hostlist *h, const char *expected)
{
    struct strbuf b = {0};
    assert_true(hostlist_check(h));
    hostlist_encode(h, &b);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static int call_set(struct idset *s, int which, const struct idset *other)
{
    switch (which) {
    case 0:
        return idset_add(s, 20);
    case 1:
        return idset_remove(s, 1);
    case 2:
        return idset_unite(s, other);
    case 3:
        return idset_intersect(s, other);
    case 4:
        return idset_subtract(s, other);
    case 5:
        return idset_copy(s, other);
    default:
        return idset_decode(s, "11,13,15,17,19,21,23", 20, NULL);
    }
}

static void sets_keep_what_they_have(void **state)
{
    (void)state;
    const char *const after[] = {
        "0-2,4,6,8,20", "0,2,4,6,8",   "0-2,4-8,10,12",        "1,6,8",
        "0,2,4",        "1,5-8,10,12", "11,13,15,17,19,21,23",
    };
    for (int which = 0; which < 7; which++) {
        const char *before = "0-2,4,6,8";
        struct idset s = {0};
        struct idset other = {0};
        assert_int_equal(idset_decode(&other, "1,5-8,10,12", 11, NULL), 0);
        assert_int_equal(idset_decode(&s, before, 9, NULL), 0);
        int rc;
        int n = 0;
        do {
            s.v = realloc(s.v, s.n * sizeof(*s.v));
            s.cap = s.n; /* no room to spare */
            until_failure = n++;
            rc = call_set(&s, which, &other);
            if (rc < 0)
                check_set(&s, before);
        } while (again(rc));
        assert_true(n > 1 || which == 5); /* a copy that fits */
        check_set(&s, after[which]);
        idset_clear(&s);
        idset_clear(&other);
    }
}

static int call_list(struct hostlist *h, int which, const struct hostlist *other)
{
    berth_error_t err;
    switch (which) {
    case 0:
        return hostlist_append_host(h, "new-prefix3", 11);
    case 1:
        return hostlist_delete(h, "a2", 2);
    case 2:
        return hostlist_sort(h);
    case 3:
        return hostlist_uniq(h);
    case 4:
        return hostlist_copy(h, other);
    case 5:
        return hostlist_append_list(h, other);
    case 6:
        return hostlist_append(h, "p[1-2]q[3]r", 11, &err);
    default:
        return hostlist_decode(h, "p[1-2]q[3-4]r", 13, &err);
    }
}

static void lists_keep_what_they_have(void **state)
{
    (void)state;
    const char *before = "b[7,7],a[1-3],c1-x,c2-x,a4,d5,e6,f7";
    const char *const after[] = {
        "b[7,7],a[1-3],c1-x,c2-x,a4,d5,e6,f7,new-prefix3",
        "b[7,7],a[1,3],c1-x,c2-x,a4,d5,e6,f7",
        "a[1-4],b[7,7],c1-x,c2-x,d5,e6,f7",
        "a[1-4],b7,c1-x,c2-x,d5,e6,f7",
        "f[8-9],g1y",
        "b[7,7],a[1-3],c1-x,c2-x,a4,d5,e6,f[7-9],g1y",
        "b[7,7],a[1-3],c1-x,c2-x,a4,d5,e6,f7,p1q3r,p2q3r",
        "p1q3r,p1q4r,p2q3r,p2q4r",
    };
    for (int which = 0; which < 8; which++) {
        struct hostlist h = {0};
        struct hostlist other = {0};
        assert_int_equal(hostlist_decode(&other, "f[8-9],g[1]y", 12, NULL), 0);
        assert_int_equal(hostlist_decode(&h, "b[7,7],a[1-3],c[1-2]-x,a4,d5,e6,f7", 34, NULL), 0);
        int rc;
        int n = 0;
        do {
            h.v = realloc(h.v, h.n * sizeof(*h.v));
            h.cap = h.n;
            until_failure = n++;
            rc = call_list(&h, which, &other);
            if (rc < 0)
                check_list(&h, before);
        } while (again(rc));
        assert_true(n > 1);
        check_list(&h, after[which]);
        hostlist_clear(&h);
        hostlist_clear(&other);
    }
}

static void names_keep_what_they_have(void **state)
{
    (void)state;
    struct intern t = {0};
    char name[16];
    uint32_t id;
    for (uint32_t i = 0; i < 200; i++) {
        int length = snprintf(name, sizeof(name), "name%u", i);
        int rc;
        int n = 0;
        do {
            until_failure = n++;
            rc = intern_put(&t, name, (size_t)length, &id);
            assert_int_equal(t.n, i + (rc == 0));
            assert_true(intern_check(&t));
        } while (again(rc));
        assert_int_equal(id, i);
        assert_string_equal(intern_text(&t, id), name);
    }
    intern_clear(&t);
}

static void buffers_stay_failed(void **state)
{
    (void)state;
    struct strbuf b = {0};
    until_failure = 0;
    strbuf_puts(&b, "lost");
    strbuf_puts(&b, "lost too");
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
    assert_null(strbuf_steal(&b));
    until_failure = 1;
    strbuf_fill(&b, 'x', 100);
    strbuf_fill(&b, 'x', 100);
    assert_true(b.failed);
    until_failure = 0;
    strbuf_reset(&b);
    assert_null(strbuf_steal(&b)); /* even an empty text is memory */
    until_failure = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_keep_what_they_have),
        cmocka_unit_test(lists_keep_what_they_have),
        cmocka_unit_test(names_keep_what_they_have),
        cmocka_unit_test(buffers_stay_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
