/* Sets of ids and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/idset.h"

static void check_text(const struct idset *s, bool brackets, const char *expected)
{
    struct strbuf b = {0};
    assert_true(idset_check(s));
    idset_encode(s, brackets, &b);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static struct idset set_of(const char *text)
{
    struct idset s = {0};
    berth_error_t err = {""};
    assert_int_equal(idset_decode(&s, text, strlen(text), &err), 0);
    assert_true(idset_check(&s));
    return s;
}

static void reads_and_writes(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        const char *out;
        const char *bracketed;
    } row[] = {
        {"1,2,3,5,6,42", "1-3,5-6,42", "[1-3,5-6,42]"}, /* as in RFC 22 */
        {"1-3,5-6,42", "1-3,5-6,42", "[1-3,5-6,42]"},
        {"[1-3,5-6,42]", "1-3,5-6,42", "[1-3,5-6,42]"},
        {"", "", ""},
        {"[]", "", ""},
        {"0", "0", "0"},
        {"[2]", "2", "2"},
        {"0-1", "0-1", "[0-1]"},
        {"1-2,3-4", "1-4", "[1-4]"},
        {"2147483647", "2147483647", "2147483647"},
        {"0-2147483647", "0-2147483647", "[0-2147483647]"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct idset s = set_of(row[i].in);
        check_text(&s, false, row[i].out);
        check_text(&s, true, row[i].bracketed);
        idset_clear(&s);
    }
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        int error;
        const char *text;
    } row[] = {
        {"x", EINVAL, "offset 0: expected an id, found 'x'"},
        {"4.2", EINVAL, "offset 1: expected ',', found '.'"},
        {"1-2x", EINVAL, "offset 3: expected ',', found 'x'"},
        {"01,2", EINVAL, "offset 0: an id has no leading zeros"},
        {"1,00", EINVAL, "offset 2: an id has no leading zeros"},
        {"3,2", EINVAL, "offset 2: expected an id above 3, found 2"},
        {"2,2", EINVAL, "offset 2: expected an id above 2, found 2"},
        {"1-3,3", EINVAL, "offset 4: expected an id above 3, found 3"},
        {"3-0", EINVAL, "offset 2: expected an id above 3, found 0"},
        {"3-3", EINVAL, "offset 2: expected an id above 3, found 3"},
        {"0-", EINVAL, "offset 2: expected an id, found the end"},
        {"[0-]", EINVAL, "offset 3: expected an id, found ']'"},
        {"-5", EINVAL, "offset 0: expected an id, found '-'"},
        {"1-2-3", EINVAL, "offset 3: expected ',', found '-'"},
        {"1,,2", EINVAL, "offset 2: expected an id, found ','"},
        {",1", EINVAL, "offset 0: expected an id, found ','"},
        {"1,", EINVAL, "offset 2: expected an id, found the end"},
        {" 1", EINVAL, "offset 0: expected an id, found ' '"},
        {"1\n", EINVAL, "offset 1: expected ',', found byte 0x0a"},
        {"[", EINVAL, "offset 1: expected an id, found the end"},
        {"[0", EINVAL, "offset 2: expected ',' or ']', found the end"},
        {"0]", EINVAL, "offset 1: expected ',', found ']'"},
        {"]", EINVAL, "offset 0: expected an id, found ']'"},
        {"[[0]]", EINVAL, "offset 1: expected an id, found '['"},
        {"[0]]", EINVAL, "offset 3: expected the end, found ']'"},
        {"[]x", EINVAL, "offset 1: expected an id, found ']'"},
        {"0,[2", EINVAL, "offset 2: expected an id, found '['"},
        {"2147483648", ERANGE, "offset 0: expected an id of at most 2147483647"},
        {"1-99999999999999999999999", ERANGE, "offset 2: expected an id of at most 2147483647"},
    };
    struct idset s = set_of("7-9");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_int_equal(idset_decode(&s, row[i].in, strlen(row[i].in), &err), -1);
        assert_string_equal(err.text, row[i].text);
        assert_int_equal(errno, row[i].error);
        check_text(&s, false, "7-9");
    }
    assert_int_equal(idset_decode(&s, "1x", 2, NULL), -1);
    assert_int_equal(idset_decode(&s, "1x", 1, NULL), 0); /* no more than it is told */
    check_text(&s, false, "1");
    idset_clear(&s);
}

static void large_ranges_cost_nothing(void **state)
{
    (void)state;
    struct idset s = set_of("0-1000000000");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.count, 1000000001);
    assert_int_equal(idset_remove_range(&s, 10, 999999990), 0);
    check_text(&s, false, "0-9,999999991-1000000000");
    assert_int_equal(s.count, 20);
    idset_clear(&s);
}

static void adds_and_removes(void **state)
{
    (void)state;
    struct idset s = {0};
    assert_int_equal(idset_add(&s, 5), 0);
    assert_int_equal(idset_add(&s, 7), 0);
    assert_int_equal(idset_add(&s, 5), 0);
    check_text(&s, false, "5,7");
    assert_int_equal(idset_add(&s, 6), 0);
    check_text(&s, false, "5-7");
    assert_int_equal(idset_add_range(&s, 10, 12), 0);
    assert_int_equal(idset_add_range(&s, 0, 3), 0);
    check_text(&s, false, "0-3,5-7,10-12");
    assert_int_equal(idset_add_range(&s, 2, 10), 0);
    check_text(&s, false, "0-12");
    assert_int_equal(idset_remove(&s, 0), 0);
    assert_int_equal(idset_remove(&s, 12), 0);
    assert_int_equal(idset_remove(&s, 5), 0);
    assert_int_equal(idset_remove(&s, 5), 0);
    check_text(&s, false, "1-4,6-11");
    assert_int_equal(idset_remove_range(&s, 3, 7), 0);
    check_text(&s, false, "1-2,8-11");
    assert_int_equal(idset_remove_range(&s, 0, IDSET_ID_MAX), 0);
    check_text(&s, false, "");
    assert_int_equal(idset_add(&s, IDSET_ID_MAX), 0);
    assert_int_equal(idset_add(&s, IDSET_ID_MAX - 1), 0);
    check_text(&s, false, "2147483646-2147483647");
    idset_reset(&s);
    check_text(&s, false, "");
    idset_clear(&s);
}

static void turns_away_what_is_no_range(void **state)
{
    (void)state;
    struct idset s = set_of("3");
    const uint32_t range[][2] = {{2, 1}, {0, IDSET_ID_MAX + 1u}, {IDSET_NONE, IDSET_NONE}};
    for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
        errno = 0;
        assert_int_equal(idset_add_range(&s, range[i][0], range[i][1]), -1);
        assert_int_equal(errno, EINVAL);
        errno = 0;
        assert_int_equal(idset_remove_range(&s, range[i][0], range[i][1]), -1);
        assert_int_equal(errno, EINVAL);
    }
    check_text(&s, false, "3");
    idset_clear(&s);
}

static void walks_both_ways(void **state)
{
    (void)state;
    struct idset s = set_of("7-9,2147483647");
    struct idset none = {0};
    assert_int_equal(idset_first(&s), 7);
    assert_int_equal(idset_next(&s, 0), 7);
    assert_int_equal(idset_next(&s, 7), 8);
    assert_int_equal(idset_next(&s, 9), IDSET_ID_MAX);
    assert_int_equal(idset_next(&s, 1000), IDSET_ID_MAX);
    assert_int_equal(idset_next(&s, IDSET_ID_MAX), IDSET_NONE);
    assert_int_equal(idset_next(&s, IDSET_NONE), IDSET_NONE);
    assert_int_equal(idset_last(&s), IDSET_ID_MAX);
    assert_int_equal(idset_prev(&s, IDSET_NONE), IDSET_ID_MAX);
    assert_int_equal(idset_prev(&s, IDSET_ID_MAX), 9);
    assert_int_equal(idset_prev(&s, 9), 8);
    assert_int_equal(idset_prev(&s, 7), IDSET_NONE);
    assert_int_equal(idset_prev(&s, 0), IDSET_NONE);
    assert_true(idset_has(&s, 8));
    assert_false(idset_has(&s, 6));
    assert_false(idset_has(&s, 10));
    assert_false(idset_has(&s, IDSET_NONE));
    assert_int_equal(idset_first(&none), IDSET_NONE);
    assert_int_equal(idset_last(&none), IDSET_NONE);
    assert_int_equal(idset_next(&none, 0), IDSET_NONE);
    assert_int_equal(idset_prev(&none, 9), IDSET_NONE);
    assert_false(idset_has(&none, 0));
    idset_clear(&s);
}

static void combines(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        const char *t;
        const char *either;
        const char *both;
        const char *less;
    } row[] = {
        {"", "", "", "", ""},
        {"1-3", "", "1-3", "", "1-3"},
        {"", "1-3", "1-3", "", ""},
        {"1-3", "4-6", "1-6", "", "1-3"},
        {"1-10", "3,5-7,10", "1-10", "3,5-7,10", "1-2,4,8-9"},
        {"3,5-7,10", "1-10", "1-10", "3,5-7,10", ""},
        {"0-5,10-15,20-25", "4-21", "0-25", "4-5,10-15,20-21", "0-3,22-25"},
        {"0-2147483647", "0,2147483647", "0-2147483647", "0,2147483647", "1-2147483646"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct idset t = set_of(row[i].t);
        struct idset s = set_of(row[i].s);
        assert_int_equal(idset_meets(&s, &t), row[i].both[0] != '\0');
        assert_int_equal(idset_unite(&s, &t), 0);
        check_text(&s, false, row[i].either);
        idset_clear(&s);
        s = set_of(row[i].s);
        assert_int_equal(idset_intersect(&s, &t), 0);
        check_text(&s, false, row[i].both);
        idset_clear(&s);
        s = set_of(row[i].s);
        assert_int_equal(idset_subtract(&s, &t), 0);
        check_text(&s, false, row[i].less);
        idset_clear(&s);
        idset_clear(&t);
    }
}

static void combines_with_itself(void **state)
{
    (void)state;
    struct idset s = set_of("1-3,7");
    struct idset copy = {0};
    assert_int_equal(idset_copy(&copy, &s), 0);
    assert_int_equal(idset_copy(&s, &s), 0);
    assert_int_equal(idset_unite(&s, &s), 0);
    assert_int_equal(idset_intersect(&s, &s), 0);
    assert_true(idset_equal(&s, &copy));
    assert_int_equal(idset_subtract(&s, &s), 0);
    check_text(&s, false, "");
    assert_false(idset_equal(&s, &copy));
    idset_clear(&s);
    idset_clear(&copy);
}

static void check_sees_disorder(void **state)
{
    (void)state;
    struct idset s = set_of("1-3,7");
    s.count--;
    assert_false(idset_check(&s));
    s.count++;
    s.v[1].lo = s.v[1].hi = 4;
    assert_false(idset_check(&s));
    s.v[1].lo = s.v[1].hi = 7;
    s.v[0].gap = 1; /* 1 and 3 */
    s.count--;
    assert_true(idset_check(&s));
    s.v[0].gap = 2; /* which 3 is none of */
    assert_false(idset_check(&s));
    idset_clear(&s);
}

/* What is read as a text with steps, and written as one and as a text without. */
static void reads_and_writes_steps(void **state)
{
    (void)state;
    static const struct {
        const char *in, *steps, *plain;
    } row[] = {
        {"", "", ""},
        {"7", "7", "7"},
        {"0-8:2,17", "0-8:2,17", "0,2,4,6,8,17"},
        {"0-9:2", "0-8:2", "0,2,4,6,8"}, /* to the last one that is met */
        {"0-9:20", "0", "0"},
        {"0-9:1", "0-9", "0-9"},
        {"0,2,4,6,8,17", "0-8:2,17", "0,2,4,6,8,17"},
        {"0,2", "0,2", "0,2"}, /* two are no range */
        {"0-2:2,5", "0,2,5", "0,2,5"},
        {"0-4:2,6-10:2", "0-10:2", "0,2,4,6,8,10"},
        {"0-4:2,5-9", "0,2,4-9", "0,2,4-9"}, /* neighbours first */
        {"0-6:2,7,8-14:2", "0-4:2,6-8,10-14:2", "0,2,4,6-8,10,12,14"},
        {"0,2,5,8,11", "0,2-11:3", "0,2,5,8,11"}, /* the second may be another's first */
        {"[1-7:3]", "1-7:3", "1,4,7"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct idset s = {0};
        struct strbuf b = {0};
        assert_int_equal(idset_decode_steps(&s, row[i].in, strlen(row[i].in), NULL), 0);
        check_text(&s, false, row[i].plain);
        strbuf_puts(&b, "array ");
        idset_encode_steps(&s, &b);
        assert_string_equal(strbuf_text(&b) + strlen("array "), row[i].steps);
        idset_clear(&s);
        strbuf_clear(&b);
    }
    static const struct {
        const char *in, *text;
    } bad[] = {
        {"0-8:", "offset 4: expected an id, found the end"},
        {"0-8:0", "offset 4: expected a step of 1 or more, found '0'"},
        {"0-8:02", "offset 4: an id has no leading zeros"},
        {"0-8:2,8", "offset 6: expected an id above 8, found 8"},
        {"3:2", "offset 1: expected ',', found ':'"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct idset s = set_of("7-9");
        berth_error_t err = {""};
        assert_int_equal(idset_decode_steps(&s, bad[i].in, strlen(bad[i].in), &err), -1);
        assert_string_equal(err.text, bad[i].text);
        check_text(&s, false, "7-9");
        idset_clear(&s);
    }
    struct idset s = {0};
    assert_int_equal(idset_decode(&s, "0-8:2", 5, NULL), -1); /* which the RFC does not know */
}

/* Steps cost nothing: one range, however many ids; one more when an id leaves. */
static void steps_cost_nothing(void **state)
{
    (void)state;
    struct idset s = {0}, t = set_of("0-999999");
    assert_int_equal(idset_decode_steps(&s, "0-999998:2", 10, NULL), 0);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.count, 500000);
    assert_int_equal(idset_pick(&t, &s), 0);
    assert_int_equal(t.n, 1);
    assert_true(idset_equal(&s, &t));
    assert_int_equal(idset_remove(&t, 3), 0);
    assert_int_equal(t.n, 1);
    assert_int_equal(idset_remove(&t, 4), 0);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.count, 499999);
    assert_true(idset_covers(&s, &t));
    assert_false(idset_covers(&t, &s));
    assert_int_equal(idset_subtract(&s, &t), 0);
    check_text(&s, false, "4");
    idset_clear(&s);
    idset_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(large_ranges_cost_nothing),
        cmocka_unit_test(adds_and_removes),
        cmocka_unit_test(turns_away_what_is_no_range),
        cmocka_unit_test(walks_both_ways),
        cmocka_unit_test(combines),
        cmocka_unit_test(combines_with_itself),
        cmocka_unit_test(check_sees_disorder),
        cmocka_unit_test(reads_and_writes_steps),
        cmocka_unit_test(steps_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
