/* The reader of R, version 1: which host a rank has, children, properties, errors, bounds. */
#include "graph_look.h"

#include <errno.h>

#include "base/idset.h"
#include "resource/readers/common.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define R(lite, hosts, more)                                                                       \
    "{\"version\": 1, \"execution\": {\"R_lite\": [" lite "], \"nodelist\": [" hosts "]" more "}}"
#define ENTRY(ranks, children) "{\"rank\": \"" ranks "\", \"children\": {" children "}}"

static struct graph *read_text(const char *text)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    if (read_rv1(g, text, strlen(text), &err) < 0)
        fail_msg("%s", err.text);
    assert_true(graph_check(g));
    return g;
}

static void makes_a_cluster_of_nodes(void **state)
{
    (void)state;
    struct graph *g = read_text(R(ENTRY("0-1", "\"core\": \"0-15\", \"gpu\": \"0-3\""),
                                  "\"node[0-1]\"", ", \"starttime\": 0, \"expiration\": 0"));
    struct strbuf out = {0};

    assert_int_equal(g->live, 43);
    assert_int_equal(g->n_edges, 42);
    assert_string_equal(look_path(g, 0, GRAPH_CONTAINMENT, &out), "/cluster0");
    assert_int_equal(g->v[0].rank, -1);
    assert_string_equal(look_path(g, 1, GRAPH_CONTAINMENT, &out), "/cluster0/node0");
    assert_string_equal(look_path(g, 22, GRAPH_CONTAINMENT, &out), "/cluster0/node1");
    assert_string_equal(look_path(g, 42, GRAPH_CONTAINMENT, &out), "/cluster0/node1/gpu3");
    assert_int_equal(g->v[42].rank, 1);
    assert_int_equal(g->v[42].id, 3);
    assert_int_equal(g->v[22].name, 0);
    strbuf_clear(&out);
    graph_destroy(g);
}

/* Ranks in ascending order take hosts in order, whatever the order of the entries. */
static void gives_hosts_by_rank(void **state)
{
    (void)state;
    struct graph *g =
        read_text(R(ENTRY("7,9", "\"core\": \"1\"") ", " ENTRY("2-3,8", "\"core\": \"0\""),
                    "\"a[10-11]\", \"login\", \"007\", \"b-x1y\"", ""));
    static const struct {
        const char *host, *basename;
        int64_t id;
        int32_t rank;
    } rows[] = {
        {"login", "login", -1, 7}, {"b-x1y", "b-x1y", -1, 9}, {"a10", "a", 10, 2},
        {"a11", "a", 11, 3},       {"007", "007", 7, 8},
    };
    struct strbuf out = {0};
    uint32_t v = 1;

    assert_int_equal(g->live, 11);
    for (size_t i = 0; i < COUNT(rows); i++, v += 2) {
        strbuf_reset(&out);
        graph_name(g, v, &out);
        assert_string_equal(strbuf_text(&out), rows[i].host);
        assert_string_equal(graph_basename(g, v), rows[i].basename);
        assert_int_equal(g->v[v].id, rows[i].id);
        assert_int_equal(g->v[v].rank, rows[i].rank);
    }
    strbuf_clear(&out);
    graph_destroy(g);
}

static void sets_properties_of_nodes(void **state)
{
    (void)state;
    struct graph *g = read_text(R(ENTRY("0-2", "\"core\": \"0\""), "\"n[0-2]\"",
                                  ", \"properties\": {\"big\": \"1-2\", \"new\": \"2,9\"}"));
    assert_int_equal(propset_size(&g->props, g->v[1].props), 0);
    assert_int_equal(propset_size(&g->props, g->v[3].props), 1);
    assert_int_equal(propset_size(&g->props, g->v[5].props), 2);
    assert_string_equal(propset_value(&g->props, g->v[5].props, "new"), "");
    assert_int_equal(propset_size(&g->props, g->v[6].props), 0);
    graph_destroy(g);
}

static void parses_what_an_update_needs(void **state)
{
    (void)state;
    const char *text =
        R(ENTRY("1", "\"core\": \"0-2\"") ", " ENTRY("0-1", "\"gpu\": \"5\""), "\"n[0-1]\"", "");
    struct rv1 r;

    assert_int_equal(rv1_parse(&r, text, strlen(text), NULL), 0);
    assert_int_equal(r.n, 3);
    assert_int_equal(r.rank[0].rank, 1);
    assert_string_equal(r.rank[0].host, "n1");
    assert_int_equal(r.rank[2].entry, 1);
    assert_int_equal(r.n_children, 2);
    assert_string_equal(r.children[1].type, "gpu");
    assert_int_equal(r.children[1].entry, 1);
    assert_int_equal(r.children[0].ids->count, 3);
    rv1_free(&r);
}

static const struct {
    const char *text, *expected;
    int errnum;
} error_rows[] = {
    {"", "line 1, column 0: '[' or '{' expected near end of file, expected JSON", EINVAL},
    {"[]", "version: expected the number 1, found nothing", EINVAL},
    {"{\"version\": 2}", "version: expected the number 1, found another number", EINVAL},
    {"{\"version\": 1}", "execution: expected an object, found nothing", EINVAL},
    {"{\"version\": 1, \"execution\": {}}", "execution.R_lite: expected an array, found nothing",
     EINVAL},
    {"{\"version\": 1, \"execution\": {\"R_lite\": []}}",
     "execution.nodelist: expected an array, found nothing", EINVAL},
    {R("1", "", ""), "execution.R_lite[0]: expected an object, found another number", EINVAL},
    {R("{\"rank\": 1}", "", ""),
     "execution.R_lite[0].rank: expected a set of ids, found another number", EINVAL},
    {R(ENTRY("", ""), "", ""),
     "execution.R_lite[0].rank: expected at least one rank, found another string", EINVAL},
    {R(ENTRY("1-", ""), "", ""),
     "execution.R_lite[0].rank: expected a set of ids (offset 2: expected an id, found the end), "
     "found another string",
     EINVAL},
    {R("{\"rank\": \"0\"}", "\"a\"", ""),
     "execution.R_lite[0].children: expected an object, found nothing", EINVAL},
    {R(ENTRY("0", "\"core\": 1"), "\"a\"", ""),
     "execution.R_lite[0].children.core: expected a set of ids, found another number", EINVAL},
    {R(ENTRY("0", "\"\": \"1\""), "\"a\"", ""),
     "execution.R_lite[0].children.: expected a type, found another string", EINVAL},
    {R(ENTRY("0-3", "\"core\": \"1\""), "\"a[0-2]\"", ""),
     "execution.nodelist: expected 4 hosts, one for each rank, found 3", EINVAL},
    {R(ENTRY("0", "\"core\": \"1\""), "1", ""),
     "execution.nodelist[0]: expected a list of hosts, found another number", EINVAL},
    {R(ENTRY("0", "\"core\": \"1\""), "\"a99999999999999999999999\"", ""),
     "execution.nodelist: host 'a99999999999999999999999' ends in too large a number", EINVAL},
    {R(ENTRY("0", "\"core\": \"1\""), "\"a\"", ", \"properties\": {\"p\": 1}"),
     "execution.properties.p: expected a set of ids, found another number", EINVAL},
    {R(ENTRY("0", "\"core\": \"1\"") ", " ENTRY("0", "\"gpu\": \"1\""), "\"a\"", ""),
     "execution.R_lite: rank 0 comes twice", EEXIST},
    {R(ENTRY("0-2000000000", ""), "\"a\"", ""),
     "execution.R_lite: too many ranks, expected at most 50000000", EINVAL},
    {R(ENTRY("0-99", "\"core\": \"0-999999\""), "\"a[0-99]\"", ""),
     "execution.R_lite: too many vertices, expected at most 50000000", EINVAL},
};

static void says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(error_rows); i++) {
        struct graph *g = graph_create();
        berth_error_t err = {""};
        const char *text = error_rows[i].text;
        errno = 0;
        assert_int_equal(read_rv1(g, text, strlen(text), &err), -1);
        assert_string_equal(err.text, error_rows[i].expected);
        assert_int_equal(errno, error_rows[i].errnum);
        assert_int_equal(g->n, 0);
        graph_destroy(g);
    }
}

static void splits_host_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t base;
        int64_t id;
    } rows[] = {
        {"node12", 4, 12}, {"node", 4, -1}, {"node007", 4, 7},
        {"n1x", 3, -1},    {"000", 3, 0},   {"12", 2, 12},
        {"n000", 1, 0},    {"", 0, -1},     {"a9223372036854775807", 1, INT64_MAX},
    };
    size_t base;
    int64_t id;

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(host_split(rows[i].name, &base, &id), 0);
        assert_int_equal(base, rows[i].base);
        assert_int_equal(id, rows[i].id);
    }
    assert_int_equal(host_split("a9223372036854775808", &base, &id), -1);
    assert_int_equal(errno, EOVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_a_cluster_of_nodes), cmocka_unit_test(gives_hosts_by_rank),
        cmocka_unit_test(sets_properties_of_nodes), cmocka_unit_test(parses_what_an_update_needs),
        cmocka_unit_test(says_what_is_wrong),       cmocka_unit_test(splits_host_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
