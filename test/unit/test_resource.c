/* The public face of the graph: formats by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "berth/resource.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define RECIPE                                                                                     \
    "<graphml><graph><node id='a'><data key='root'>1</data><data key='type'>cluster</data></node>" \
    "<node id='b'><data key='type'>node</data></node><edge source='a' target='b'/>"                \
    "</graph></graphml>"
#define JGF                                                                                        \
    "{\"graph\": {\"nodes\": [{\"id\": \"0\", \"metadata\": {\"type\": \"cluster\", \"paths\": "   \
    "{\"containment\": \"/cluster0\"}}}], \"edges\": []}}"
#define R                                                                                          \
    "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0\", \"children\": {\"core\": "    \
    "\"0-3\"}}], \"nodelist\": [\"a\"]}, \"scheduling\": " JGF "}"

static void reads_each_format(void **state)
{
    (void)state;
    static const struct {
        const char *format, *text;
        size_t vertices, edges;
    } rows[] = {
        {"grug", RECIPE, 2, 1}, {"jgf", JGF, 1, 0},   {"jgf_shorthand", JGF, 1, 0},
        {"jgf", R, 1, 0},       {"rv1exec", R, 6, 5}, {"rv1exec_force", R, 6, 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        resource_graph_t *g =
            resource_graph_read(rows[i].format, rows[i].text, strlen(rows[i].text), &err);
        if (!g)
            fail_msg("%s", err.text);
        assert_int_equal(resource_graph_vertices(g), rows[i].vertices);
        assert_int_equal(resource_graph_edges(g), rows[i].edges);
        resource_graph_destroy(g);
    }
    resource_graph_destroy(NULL);
}

static void refuses_others(void **state)
{
    (void)state;
    berth_error_t err = {""};
    const char *expected =
        "unknown format 'hwloc', expected grug, jgf, jgf_shorthand, rv1exec or rv1exec_force";

    errno = 0;
    assert_null(resource_graph_read("hwloc", "", 0, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, expected);
    assert_null(resource_graph_read(NULL, "", 0, NULL));
    assert_null(resource_graph_read("jgf", RECIPE, strlen(RECIPE), NULL));
    assert_int_equal(errno, EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_format),
        cmocka_unit_test(refuses_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
