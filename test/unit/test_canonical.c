/* The text of what a match depends on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobspec/canonical.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HEAD "{\"version\":9999,\"resources\":["
#define TAIL                                                                                       \
    "],\"tasks\":[{\"command\":[\"\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}],"                \
    "\"attributes\":{\"system\":{\"duration\":0"

static char *canonical(const char *text)
{
    berth_error_t err;
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    if (!spec)
        fail_msg("%s: %s", err.text, text);
    char *out = jobspec_canonical(spec);
    assert_non_null(out);
    jobspec_destroy(spec);
    return out;
}

/* A jobspec of these resources and this constraint, both YAML in one line. */
static char *of(const char *resources, const char *constraints)
{
    char text[2000];
    snprintf(
        text, sizeof(text),
        "version: 1\nresources: [%s]\ntasks: [{command: [a, b], slot: x, count: {total: 7}}]\n"
        "attributes: {system: {duration: 60, queue: q, preemptible-after: 3, constraints: %s}}\n",
        resources, constraints);
    return canonical(text);
}

struct row {
    const char *resources, *constraints;
    const char *expected_resources, *expected_constraints;
};

static const struct row rows[] = {
    {"{type: node, count: 2}", "{}", "{\"type\":\"node\",\"count\":2}", "{}"},
    {"{label: name, type: slot, count: 1, with: [{count: 4, type: core, label: c}, {type: gpu, "
     "count: 1, exclusive: true, with: []}]}, {type: ssd, count: 0, exclusive: false}",
     "{and: []}",
     "{\"type\":\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":\"core\",\"count\":4},"
     "{\"type\":\"gpu\",\"count\":1,\"exclusive\":true}]},{\"type\":\"ssd\",\"count\":0,"
     "\"exclusive\":false}",
     "{}"},
    {"{type: a, count: 1, with: [{type: b, count: 1, with: [{type: c, count: 1}]}, {type: d, "
     "count: "
     "1}]}, {type: or_slot, count: 1, label: x, with: [{type: e, count: 1}]}",
     "{not: [{or: [{properties: [\"p\", \"^q\"]}, {}]}, {and: [{not: []}]}]}",
     "{\"type\":\"a\",\"count\":1,\"with\":[{\"type\":\"b\",\"count\":1,\"with\":[{\"type\":\"c\","
     "\"count\":1}]},{\"type\":\"d\",\"count\":1}]},{\"type\":\"or_slot\",\"count\":1,\"with\":["
     "{\"type\":\"e\",\"count\":1}]}",
     "{\"not\":[{\"or\":[{\"properties\":[\"p\",\"^q\"]},{}]},{\"and\":[{\"not\":[]}]}]}"},
    {"{type: a, count: \"2-8:2:*\"}, {type: a, count: {min: 3}}, {type: a, count: \"1,3-4,9\"}, "
     "{type: a, count: \"[5]\"}, {type: a, count: \"6-6:4:^\"}",
     "{hostlist: [\"a1\", \"a[2-3],b\"]}",
     "{\"type\":\"a\",\"count\":{\"min\":2,\"max\":8,\"operator\":\"*\",\"operand\":2}},"
     "{\"type\":\"a\",\"count\":{\"min\":3,\"max\":4294967295,\"operator\":\"+\",\"operand\":1}},"
     "{\"type\":\"a\",\"count\":\"1,3-4,9\"},{\"type\":\"a\",\"count\":5},{\"type\":\"a\","
     "\"count\":6}",
     "{\"hostlist\":[\"a[1-3],b\"]}"},
    {"{type: memory, count: 3, unit: GB, id: \"0-3\"}", "{ranks: [\"5\", \"0-1,4\"]}",
     "{\"type\":\"memory\",\"count\":3,\"unit\":\"GB\",\"id\":\"0-3\"}",
     "{\"ranks\":[\"0-1,4-5\"]}"},
    {"{type: a, count: 1, unit: \"\\\"\\\\ \\t \\x7f \\x85 \\u00e9 \\u2028 \\uFEFF \\uFFFF\"}",
     "{ranks: []}",
     "{\"type\":\"a\",\"count\":1,\"unit\":\"\\\"\\\\ \\t \\u007F \\u0085 \xc3\xa9 \\u2028 \\uFEFF "
     "\\uFFFF\"}",
     "{\"ranks\":[]}"},
};

static void resources_and_constraints_are_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[2000];
        snprintf(expected, sizeof(expected), HEAD "%s" TAIL ",\"constraints\":%s}}}",
                 rows[i].expected_resources, rows[i].expected_constraints);
        char *text = of(rows[i].resources, rows[i].constraints);
        assert_string_equal(text, expected);
        char *again = canonical(text);
        assert_string_equal(again, text);
        free(again);
        free(text);
    }
}

static void without_constraints_there_are_none(void **state)
{
    (void)state;
    char *text = canonical("version: 1\nresources: [{type: a, count: 1}]\n"
                           "tasks: [{command: [a], slot: s, count: {total: 1}}]\nattributes:\n");
    assert_string_equal(text, HEAD "{\"type\":\"a\",\"count\":1}" TAIL "}}}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources_and_constraints_are_written),
        cmocka_unit_test(without_constraints_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
