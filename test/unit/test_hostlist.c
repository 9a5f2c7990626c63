/* Lists of host names and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"

static void check_text(const struct hostlist *h, const char *expected)
{
    struct strbuf b = {0};
    assert_true(hostlist_check(h));
    hostlist_encode(h, &b);
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static struct hostlist list_of(const char *text)
{
    struct hostlist h = {0};
    berth_error_t err = {""};
    int rc = hostlist_decode(&h, text, strlen(text), &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    assert_true(hostlist_check(&h));
    return h;
}

/* The names of a list, each once, with commas between. */
static void check_names(const struct hostlist *h, const char *expected)
{
    struct strbuf b = {0};
    struct hostlist_cursor c = {0};
    char name[HOSTLIST_NAME_SIZE];
    char again[HOSTLIST_NAME_SIZE];
    int64_t n = 0;
    while (hostlist_next(h, &c, name)) {
        assert_int_equal(hostlist_nth(h, n, again), 0);
        assert_string_equal(again, name);
        assert_true(hostlist_find(h, name, strlen(name)) <= n);
        if (n++ > 0)
            strbuf_putc(&b, ',');
        strbuf_puts(&b, name);
    }
    assert_int_equal(n, hostlist_count(h));
    assert_string_equal(strbuf_text(&b), expected);
    strbuf_clear(&b);
}

static void stands_for_these_names(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        /* The vectors of RFC 29, and the examples in its text. */
        {"", ""},
        {"foox,fooy,fooz", "foox,fooy,fooz"},
        {"[1-3,5-6]", "1,2,3,5,6"},
        {"foo[1-5]", "foo1,foo2,foo3,foo4,foo5"},
        {"foo[0-4]-eth2", "foo0-eth2,foo1-eth2,foo2-eth2,foo3-eth2,foo4-eth2"},
        {"foo1,foo1,foo1", "foo1,foo1,foo1"},
        {"[00-02]", "00,01,02"},
        {"[00-2]", "00,01,02"},
        {"foo[1,1,2,1]", "foo1,foo1,foo2,foo1"},
        {"[5,4,11-13]", "5,4,11,12,13"},
        {"[005,4,11-13]", "005,004,011,012,013"},
        {"[2,2,2]", "2,2,2"},
        /* Padding. */
        {"n[08-11]", "n08,n09,n10,n11"},
        {"n[8-11]", "n8,n9,n10,n11"},
        {"n[1,02,3]", "n1,n02,n3"},
        {"n[01,002,3]", "n01,n002,n03"},
        {"n[0,1]", "n0,n1"},
        {"f00[7-8,10]", "f007,f008,f0010"},
        /* Empty expressions, and several brackets. */
        {",a,,b,", "a,b"},
        {",", ""},
        {"r[0-1]n[3,5-6]", "r0n3,r0n5,r0n6,r1n3,r1n5,r1n6"},
        {"[0-1][08-10]", "008,009,010,108,109,110"},
        {"a[1-2]b[1]c[01-2]d", "a1b1c01d,a1b1c02d,a2b1c01d,a2b1c02d"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct hostlist h = list_of(row[i][0]);
        check_names(&h, row[i][1]);
        struct strbuf b = {0};
        hostlist_encode(&h, &b);
        struct hostlist again = list_of(strbuf_text(&b));
        check_names(&again, row[i][1]);
        hostlist_clear(&again);
        hostlist_clear(&h);
        strbuf_clear(&b);
    }
}

static void is_written_as_flux_does(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"node3", "node3"},
        {"node0,node1,node2,node3", "node[0-3]"},
        {"node4,node3,node4", "node[4,3-4]"},
        {"node2,node3,node1,node4", "node[2-3,1,4]"},
        {"node0,node0,node0", "node[0,0,0]"},
        {"node2,node3,node4,node0,node3,node4,node2,node3,node4", "node[2-4,0,3-4,2-4]"},
        {"node9,node10,node11", "node[9-11]"},
        {"n8,n9,n10,n99,n100", "n[8-10,99-100]"},
        {"n09,n10,n11", "n[09-11]"},
        {"n099,n100", "n[099-100]"},
        {"n9,n010", "n[9,010]"},
        {"foo-1a-2,foo-1a-3", "foo-1a-[2-3]"},
        {"foo1,fooi,foo2,foo3", "foo1,fooi,foo[2-3]"},
        {"fooi,foo1,foo2,foo3,foo5,foo7,foo8", "fooi,foo[1-3,5,7-8]"},
        {"foo,foo1,foo", "foo,foo1,foo"},
        {"fluke,fluke", "fluke,fluke"},
        {"1,2,3,4,5,9", "[1-5,9]"},
        {"14636", "14636"},
        {"foo12,foo[4,1-2],bar[26-30]", "foo[12,4,1-2],bar[26-30]"},
        {"f00[7-8]", "f00[7-8]"},
        {"foo[1,3]-bar", "foo1-bar,foo3-bar"},
        {"p[00-3]p", "p00p,p01p,p02p,p03p"},
        {"p[1-2]3", "p13,p23"},
        {"fluke[1-10,4432,6204000000,6647000000]", "fluke[1-10,4432,6204000000,6647000000]"},
        /* Read by the RFC, n[005,4] would be n005,n004. */
        {"n005,n4,n5", "n005,n[4-5]"},
        {"n005,n0100,n123,n012", "n[005,0100,123,012]"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct hostlist h = list_of(row[i][0]);
        check_text(&h, row[i][1]);
        hostlist_clear(&h);
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
        {"[]", EINVAL, "offset 1: expected a number, found ']'"},
        {"foo[]", EINVAL, "offset 4: expected a number, found ']'"},
        {"foo[", EINVAL, "offset 4: expected a number, found the end"},
        {"foo[1,3", EINVAL, "offset 7: expected ',' or ']', found the end"},
        {"foo[[1,3]", EINVAL, "offset 4: expected a number, found '['"},
        {"foo]", EINVAL, "offset 3: expected ',', found ']'"},
        {"a,]", EINVAL, "offset 2: expected a host name, found ']'"},
        {"foo[x-y]", EINVAL, "offset 4: expected a number, found 'x'"},
        {"foo[0-1,2--5]", EINVAL, "offset 10: expected a number, found '-'"},
        {"foo[5-]", EINVAL, "offset 6: expected a number, found ']'"},
        {"foo[1,,2]", EINVAL, "offset 6: expected a number, found ','"},
        {"foo[1-2-3]", EINVAL, "offset 7: expected ',' or ']', found '-'"},
        {"foo[5-4]", EINVAL, "offset 6: expected a number from 5 on"},
        {"a b", EINVAL, "offset 1: expected ',', found ' '"},
        {"a\xc3\xbc", EINVAL, "offset 1: expected ',', found byte 0xc3"},
        {"n[1000000000000000000]", ERANGE,
         "offset 2: expected a number of at most 999999999999999999"},
        {"n[0-999999]x[1]", ERANGE, "the brackets before offset 15 stand for too many hosts"},
        {"[0-999][0-999][0]", ERANGE, "the brackets before offset 17 stand for too many hosts"},
        {"[1][1][1][1][1][1][1][1][1]", ERANGE, "offset 24: expected at most 8 brackets in a name"},
    };
    struct hostlist h = list_of("keep[1-3]");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_int_equal(hostlist_decode(&h, row[i].in, strlen(row[i].in), &err), -1);
        assert_string_equal(err.text, row[i].text);
        assert_int_equal(errno, row[i].error);
        assert_int_equal(hostlist_append(&h, row[i].in, strlen(row[i].in), NULL), -1);
        check_text(&h, "keep[1-3]");
    }
    assert_int_equal(hostlist_decode(&h, "a b", 1, NULL), 0); /* no more than it is told */
    check_text(&h, "a");
    hostlist_clear(&h);
}

static void names_have_a_length(void **state)
{
    (void)state;
    struct hostlist h = {0};
    char text[600];
    memset(text, 'a', sizeof(text));
    assert_int_equal(hostlist_append_host(&h, text, HOSTLIST_NAME_MAX), 0);
    errno = 0;
    assert_int_equal(hostlist_append_host(&h, text, HOSTLIST_NAME_MAX + 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(hostlist_append_host(&h, "", 0), -1);
    assert_int_equal(hostlist_append_host(&h, "a b", 3), -1);
    assert_int_equal(hostlist_append_host(&h, "a[1]", 4), -1);
    errno = 0;
    assert_int_equal(hostlist_decode(&h, text, HOSTLIST_NAME_MAX + 1, NULL), -1);
    assert_int_equal(errno, ERANGE);
    memcpy(text + 250, "[99990-99999]", 13);
    assert_int_equal(hostlist_decode(&h, text, 263, NULL), 0);
    memcpy(text + 250, "[99990-100000]", 14);
    assert_int_equal(hostlist_decode(&h, text, 264, NULL), -1);
    memcpy(text + 240, "[0][0000000000000]", 18);
    assert_int_equal(hostlist_decode(&h, text, 258, NULL), 0);
    memcpy(text + 240, "[00][0000000000000]x", 20);
    assert_int_equal(hostlist_decode(&h, text, 260, NULL), -1);
    memset(text, '0', sizeof(text));
    memcpy(text, "[", 1);
    memcpy(text + 256, "]", 1);
    assert_int_equal(hostlist_decode(&h, text, 257, NULL), 0);
    assert_int_equal(hostlist_count(&h), 1);
    memcpy(text + 256, "0]", 2);
    assert_int_equal(hostlist_decode(&h, text, 258, NULL), -1);
    assert_true(hostlist_check(&h));
    hostlist_clear(&h);
}

static void large_ranges_cost_nothing(void **state)
{
    (void)state;
    struct hostlist h = list_of("h[0-99999999999],x[0-99999999999]y,h[0-99999999999]");
    char name[HOSTLIST_NAME_SIZE];
    assert_int_equal(h.n, 3);
    assert_int_equal(hostlist_count(&h), 300000000000);
    assert_int_equal(hostlist_nth(&h, 199999999999, name), 0);
    assert_string_equal(name, "x99999999999y");
    assert_int_equal(hostlist_find(&h, "x12345678901y", 13), 112345678901);
    check_text(&h, "h[0-99999999999],x[0-99999999999]y,h[0-99999999999]");
    errno = 0;
    assert_int_equal(hostlist_sort(&h), -1);
    assert_int_equal(errno, ERANGE);
    check_text(&h, "h[0-99999999999],x[0-99999999999]y,h[0-99999999999]");
    hostlist_clear(&h);
    h = list_of("h[5-99999999999],h[0-99999999999],h[7-8]");
    assert_int_equal(hostlist_sort(&h), -1); /* that many pairs */
    assert_int_equal(hostlist_uniq(&h), 0);
    check_text(&h, "h[0-99999999999]");
    hostlist_clear(&h);
}

static void the_count_has_a_bound(void **state)
{
    (void)state;
    struct hostlist h = list_of("a[0-999999999999999999]");
    for (int i = 0; i < 8; i++)
        assert_int_equal(hostlist_append(&h, "a[0-999999999999999999]", 23, NULL), 0);
    berth_error_t err;
    errno = 0;
    assert_int_equal(hostlist_append(&h, "b,a[0-999999999999999999]", 25, &err), -1);
    assert_int_equal(errno, ERANGE);
    assert_string_equal(err.text, "too many hosts");
    assert_int_equal(hostlist_count(&h), 9000000000000000000);
    assert_true(hostlist_check(&h));
    hostlist_clear(&h);
}

static void finds_names_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        const char *name;
        int64_t at;
    } row[] = {
        {"tst0", "tst", -1},
        {"tst0,tst", "tst", 1},
        {"tst", "tst0", -1},
        {"foo[1-5]-eth0", "foo3-eth0", 2},
        {"foo[1-5]", "foo3-eth0", -1},
        {"[0-5]", "3", 3},
        {"[0-5]i", "0", -1},
        {"i[0-5]", "i00", -1},
        {"i[00-05]", "i00", 0},
        {"i[00-05]", "i4", -1},
        {"i[00-05]", "i04", 4},
        {"i[00-05]", "i004", -1},
        {"i[98-101]", "i101", 3},
        {"f00[7-8]", "f007", 0},
        {"f00[7-8,10]", "f0010", 2},
        {"f0010001[07-08]", "f001000108", 1},
        {"cornp2", "corn2", -1},
        {"corn1-p2", "corn2", -1},
        {"a", "", -1},
        {"[0-5]", "", -1},
        {"a[0-9]", "a99999999999999999999999999999", -1},
        {"ab[1]ab", "ab", -1},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct hostlist h = list_of(row[i].in);
        errno = 0;
        assert_int_equal(hostlist_find(&h, row[i].name, strlen(row[i].name)), row[i].at);
        assert_int_equal(errno, row[i].at < 0 ? ENOENT : 0);
        hostlist_clear(&h);
    }
}

static void deletes_one_host(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        {"foo[2-5]", "foo3", "foo[2,4-5]"},
        {"foo[2-5]", "foo2", "foo[3-5]"},
        {"foo[2-5]", "foo5", "foo[2-4]"},
        {"foo[2-5],fooi", "fooi", "foo[2-5]"},
        {"foo1,fooi,foo2", "fooi", "foo[1-2]"},
        {"foo[1-3],foo[3-5]", "foo3", "foo[1-5]"},
        {"foo[08-12]", "foo09", "foo[08,10-12]"},
        {"foo09,foo[9-12]", "foo9", "foo[09-12]"},
        {"foo[2-4]-eth2", "foo3-eth2", "foo2-eth2,foo4-eth2"},
        {"foo[1,1]", "foo1", "foo1"},
        {"foo", "foo", ""},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct hostlist h = list_of(row[i][0]);
        assert_int_equal(hostlist_delete(&h, row[i][1], strlen(row[i][1])), 0);
        check_text(&h, row[i][2]);
        errno = 0;
        assert_int_equal(hostlist_delete(&h, "other", 5), -1);
        assert_int_equal(errno, ENOENT);
        check_text(&h, row[i][2]);
        hostlist_clear(&h);
    }
}

static void sorts(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        {"", "", ""},
        {"foo,f,bar,baz", "bar,baz,f,foo", "bar,baz,f,foo"},
        {"[5-6],[3-4],[1-2,0]", "[0-6]", "[0-6]"},
        {"[0-20],12,15", "[0-12,12-15,15-20]", "[0-20]"},
        {"0,1,2,3,4,5,1,5", "[0-1,1-5,5]", "[0-5]"},
        {"[0-20],45,12,15", "[0-12,12-15,15-20,45]", "[0-20,45]"},
        {"[0-20],45,12,015", "[0-12,12-20,45,015]", "[0-20,45,015]"},
        {"bar1,bar2,foo1,foo,foo", "bar[1-2],foo,foo,foo1", "bar[1-2],foo,foo1"},
        {"foo[5-6],foo3,foo4", "foo[3-6]", "foo[3-6]"},
        {"foo[5-6],foo[4-7]", "foo[4-5,5-6,6-7]", "foo[4-7]"},
        {"a[1-3],a[1-3],a[1-3]", "a[1,1,1-2,2,2-3,3,3]", "a[1-3]"},
        {"n[08-11],n[8-11]", "n[8-9,08-10,10-11,11]", "n[8-9,08-11]"},
        {"f00[7-8],f007,f006", "f[006-007,007-008]", "f[006-008]"},
        {"f9[9-10],f98", "f[98-99,910]", "f[98-99,910]"},
        {"a[2-3]x,a1x,a[2]x", "a1x,a2x,a2x,a3x", "a1x,a2x,a3x"},
        {"p[2-1000]3", NULL, NULL},
        {"n[0000000000000000000000007],n0000000000000000000000006",
         "n0000000[000000000000000006-000000000000000007]",
         "n0000000[000000000000000006-000000000000000007]"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct hostlist h = list_of(row[i][0]);
        int64_t count = hostlist_count(&h);
        assert_int_equal(hostlist_sort(&h), 0);
        assert_int_equal(hostlist_count(&h), count);
        if (row[i][1])
            check_text(&h, row[i][1]);
        assert_int_equal(hostlist_uniq(&h), 0);
        if (row[i][2])
            check_text(&h, row[i][2]);
        hostlist_clear(&h);
    }
}

static void lists_are_joined_and_copied(void **state)
{
    (void)state;
    struct hostlist a = list_of("n[1-2],x[1-2]y");
    struct hostlist b = list_of("x3y,n[3-4],m");
    struct hostlist c = {0};
    assert_int_equal(hostlist_append_list(&a, &b), 0);
    check_text(&a, "n[1-2],x1y,x2y,x3y,n[3-4],m");
    assert_int_equal(hostlist_copy(&c, &a), 0);
    hostlist_reset(&a);
    check_text(&a, "");
    assert_int_equal(hostlist_append_host(&a, "n7", 2), 0);
    assert_int_equal(hostlist_append(&a, "n[8-9]", 6, NULL), 0);
    check_text(&a, "n[7-9]");
    check_text(&c, "n[1-2],x1y,x2y,x3y,n[3-4],m");
    char name[HOSTLIST_NAME_SIZE] = "same";
    errno = 0;
    assert_int_equal(hostlist_nth(&c, 8, name), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(hostlist_nth(&c, -1, name), -1);
    assert_string_equal(name, "same");
    hostlist_clear(&a);
    hostlist_clear(&b);
    hostlist_clear(&c);
}

/* As the list sorts them. */
static void compares_names(void **state)
{
    (void)state;
    static const char *const row[] = {"a", "a1", "a2", "a02", "a10", "a1b", "b"};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
            int order = hostlist_compare(row[i], row[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
            struct hostlist h = {0};
            char first[HOSTLIST_NAME_SIZE];
            assert_int_equal(hostlist_append_host(&h, row[i], strlen(row[i])), 0);
            assert_int_equal(hostlist_append_host(&h, row[k], strlen(row[k])), 0);
            assert_int_equal(hostlist_sort(&h), 0);
            assert_int_equal(hostlist_nth(&h, 0, first), 0);
            assert_string_equal(first, row[i < k ? i : k]);
            hostlist_clear(&h);
        }
}

static void many_hosts_of_many_kinds(void **state)
{
    (void)state;
    struct hostlist h = {0};
    struct strbuf b = {0};
    char name[32];
    for (int i = 0; i < 100000; i++) {
        int n = snprintf(name, sizeof(name), i % 2 ? "n%d" : "%dn", i);
        assert_int_equal(hostlist_append_host(&h, name, (size_t)n), 0);
    }
    assert_int_equal(hostlist_count(&h), 100000);
    hostlist_encode(&h, &b);
    struct hostlist again = {0};
    assert_int_equal(hostlist_decode(&again, b.data, b.len, NULL), 0);
    assert_int_equal(hostlist_count(&again), 100000);
    assert_int_equal(hostlist_find(&again, "99998n", 6), 99998);
    assert_int_equal(hostlist_sort(&again), 0);
    assert_true(hostlist_check(&again));
    hostlist_clear(&h);
    hostlist_clear(&again);
    strbuf_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_these_names),
        cmocka_unit_test(is_written_as_flux_does),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(names_have_a_length),
        cmocka_unit_test(large_ranges_cost_nothing),
        cmocka_unit_test(the_count_has_a_bound),
        cmocka_unit_test(finds_names_exactly),
        cmocka_unit_test(deletes_one_host),
        cmocka_unit_test(sorts),
        cmocka_unit_test(compares_names),
        cmocka_unit_test(lists_are_joined_and_copied),
        cmocka_unit_test(many_hosts_of_many_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
