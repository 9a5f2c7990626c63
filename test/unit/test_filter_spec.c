/* Pruning-filter specifications. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "match/machine/filter_spec.h"

struct fixture {
    struct graph *g;
    struct filter_spec s;
};

static struct fixture f;

static int setup(void **state)
{
    (void)state;
    f = (struct fixture){.g = graph_create()};
    return f.g ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    graph_destroy(f.g);
    filter_spec_clear(&f.s);
    return 0;
}

static void parse(const char *text)
{
    assert_int_equal(filter_spec_parse(&f.s, f.g, text, NULL), 0);
    assert_true(filter_spec_check(&f.s));
}

/* The types that a high type counts, with blanks between them. */
static const char *types_of(const char *high)
{
    static char text[200];
    uint16_t types[32];
    assert_true(f.s.n <= 32);
    size_t n = filter_spec_types(
        &f.s, strcmp(high, "ALL") == 0 ? FILTER_ALL : (uint16_t)graph_type(f.g, high), types);
    assert_true(n <= f.s.n);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, intern_text(&f.g->types, types[i]));
    }
    return text;
}

static bool is_pruning(const char *low)
{
    return filter_spec_is_pruning(&f.s, (uint16_t)graph_type(f.g, low));
}

static void default_counts_cores_and_nodes(void **state)
{
    (void)state;
    parse("ALL:node,ALL:core");
    assert_string_equal(types_of("cluster"), "core node");
    assert_string_equal(types_of("node"), "core");
    assert_string_equal(types_of("core"), "node");
    assert_string_equal(types_of("ALL"), "core node");
    assert_true(is_pruning("core"));
    assert_false(is_pruning("rack"));
}

static void own_types_come_first(void **state)
{
    (void)state;
    parse(" rack : gpu ,\tALL:c o r e,rack:node,rack:gpu");
    assert_string_equal(types_of("rack"), "gpu node core");
    assert_string_equal(types_of("cluster"), "core");
    assert_int_equal(f.s.n, 3);
}

static void what_all_count_is_not_noted_for_one(void **state)
{
    (void)state;
    parse("rack:node,rack:core,socket:core,ALL:core");
    assert_string_equal(types_of("rack"), "node core");
    assert_string_equal(types_of("socket"), "core");
    parse("socket:core,node:gpu");
    assert_int_equal(f.s.n, 3);
    assert_string_equal(types_of("socket"), "core");
    assert_true(is_pruning("gpu"));
}

static void a_type_may_count_itself_only_by_name(void **state)
{
    (void)state;
    parse("rack:rack");
    assert_string_equal(types_of("rack"), "rack");
    parse("ALL:rack");
    assert_string_equal(types_of("rack"), "");
    assert_string_equal(types_of("cluster"), "rack");
}

static void star_is_all(void **state)
{
    (void)state;
    parse("*:core");
    assert_string_equal(types_of("socket"), "core");
    parse("node:ALL"); /* a type of that name */
    assert_string_equal(types_of("node"), "ALL core");
}

static void new_types_are_learnt(void **state)
{
    (void)state;
    parse("switch:port");
    assert_string_equal(types_of("switch"), "port");
    assert_int_equal(filter_spec_add(&f.s, TYPE_CLUSTER, (uint16_t)graph_type(f.g, "memory")), 0);
    assert_int_equal(filter_spec_add(&f.s, TYPE_CLUSTER, TYPE_CORE), 0);
    assert_int_equal(filter_spec_add(&f.s, TYPE_CLUSTER, TYPE_CORE), 0);
    assert_true(filter_spec_check(&f.s));
    assert_string_equal(types_of("cluster"), "core memory");
}

static void wrong_text_changes_nothing(void **state)
{
    static const char *const wrong[] = {"",          " ",     ":",         "core",
                                        "ALL:",      ":core", "ALL:core,", ",ALL:core",
                                        "ALL:gpu,x", "ALL: ", "x,y:z"};
    (void)state;
    parse("rack:node");
    uint32_t types = f.g->types.n;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_int_equal(filter_spec_parse(&f.s, f.g, wrong[i], &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, "expected"));
        assert_int_equal(f.s.n, 1);
        assert_int_equal(f.g->types.n, types);
    }
}

static void check_sees_disorder(void **state)
{
    (void)state;
    parse("rack:node,socket:core");
    struct filter_pair first = f.s.v[0];
    f.s.v[0] = f.s.v[1];
    f.s.v[1] = first;
    assert_false(filter_spec_check(&f.s));
    f.s.v[1] = (struct filter_pair){FILTER_ALL, f.s.v[0].low};
    assert_false(filter_spec_check(&f.s));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(default_counts_cores_and_nodes),
        TEST(own_types_come_first),
        TEST(what_all_count_is_not_noted_for_one),
        TEST(a_type_may_count_itself_only_by_name),
        TEST(star_is_all),
        TEST(new_types_are_learnt),
        TEST(wrong_text_changes_nothing),
        TEST(check_sees_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
