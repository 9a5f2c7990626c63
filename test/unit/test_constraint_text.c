/* Constraints by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "jobspec/constraint_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_a(const void *arg, const char *property)
{
    (void)arg;
    return strcmp(property, "a") == 0;
}

struct row {
    const char *text;
    bool expected; /* of node3 with rank 3 and the property "a" */
};

static void constraints_are_read_and_asked(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{}", true},
        {"{\"properties\": [\"a\"]}", true},
        {"{\"properties\": [\"a\", \"b\"]}", false},
        {"{\"and\": [{\"hostlist\": [\"node[0-9]\"]}, {\"not\": [{\"ranks\": [\"0-2\"]}]}]}", true},
        {"{\"or\": [{\"ranks\": [\"4\"]}, {\"hostlist\": [\"x\", \"y\", \"z\"]}]}", false},
        {"not:\n- properties: [\"a\"]\n", false},
        {"not:\n- properties: [!!str \"b\"] # libyaml's\n", true},
    };
    struct jobspec_target target = {.name = "node3", .rank = 3, .has_property = is_a};
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        struct jobspec_constraint *c =
            jobspec_constraint_parse(rows[i].text, strlen(rows[i].text), &err);
        if (!c)
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(jobspec_constraint_match(c, &target), rows[i].expected);
        jobspec_constraint_destroy(c);
    }
    jobspec_constraint_destroy(NULL);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "line 1, column 1: expected a mapping, got nothing"},
        {"[]", "line 1, column 1: key \"constraints\": expected a mapping with one operator, got a "
               "list"},
        {"properties",
         "line 1, column 1: key \"constraints\": expected a mapping with one operator, "
         "got \"properties\""},
        {"{\"and\": [\n{\"nand\": []}]}", "line 2, column 2: key \"constraints\": unknown "
                                          "constraint operator: nand, expected properties, "
                                          "hostlist, ranks, and, or, not"},
        {"{\"or\": [{\"hostlist\": [\"a[0-3]\"]}, {\"ranks\": [\"x\"]}]}",
         "line 1, column 46: key \"ranks\": expected ids such as \"0-3,7\", got \"x\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_null(jobspec_constraint_parse(rows[i][0], strlen(rows[i][0]), &err));
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, rows[i][1]);
        assert_null(jobspec_constraint_parse(rows[i][0], strlen(rows[i][0]), NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_are_read_and_asked),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
