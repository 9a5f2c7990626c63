/* Constraints as people type them, and what they are in JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/constraint_query.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const char *text, *expected; /* JSON with ' for quotes, or the error */
};

static void queries_are_read(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", "[]"},
        {"a", "['a']"},
        {"a,b", "['a','b']"},
        {"a b", "['a','b']"},
        {"gpu-a100", "['gpu-a100']"},
        {"ib:edr", "['ib:edr']"},
        {"'a' && \"b\" and c", "['a','b','c']"},
        {"order and", "['order','and']"},
        {"!x", "{'not':[{'properties':['x']}]}"},
        {"-x", "{'not':[{'properties':['x']}]}"},
        {"^x", "{'not':[{'properties':['x']}]}"},
        {"not x", "{'not':[{'properties':['x']}]}"},
        {"! not x", "['x']"},
        {"a|b", "{'or':[{'properties':['a']},{'properties':['b']}]}"},
        {"a or b || c", "{'or':[{'properties':['a']},{'properties':['b']},{'properties':['c']}]}"},
        {"a&b|c", "{'or':[{'properties':['a','b']},{'properties':['c']}]}"},
        {"a (b|!c)", "{'and':[{'properties':['a']},{'or':[{'properties':['b']},"
                     "{'not':[{'properties':['c']}]}]}]}"},
        {"!(a or(b))", "{'not':[{'or':[{'properties':['a']},{'properties':['b']}]}]}"},
        {"a,-b", "{'and':[{'properties':['a']},{'not':[{'properties':['b']}]}]}"},
        {"host:n[1-2,4],m", "{'hostlist':['n[1-2,4],m']}"},
        {"rank:0,3 -hosts:'n1'", "{'and':[{'ranks':['0,3']},{'not':[{'hostlist':['n1']}]}]}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        json_t *read = constraint_query(rows[i].text, &err);
        char *text = read ? json_dumps(read, JSON_COMPACT) : NULL;
        if (!text)
            fail_msg("%s: %s", rows[i].text, err.text);
        for (char *at = text; (at = strchr(at, '"')) != NULL;)
            *at = '\'';
        assert_string_equal(text, rows[i].expected);
        free(text);
        json_decref(read);
    }
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a|", "offset 2: expected a property, host:LIST or rank:LIST"},
        {"a,", "offset 2: expected a property, host:LIST or rank:LIST"},
        {"&a", "offset 0: expected a property, host:LIST or rank:LIST"},
        {"a & & b", "offset 4: expected a property, host:LIST or rank:LIST"},
        {"!", "offset 1: expected a property, host:LIST or rank:LIST"},
        {"host:", "offset 0: expected a property, host:LIST or rank:LIST"},
        {"''", "offset 0: expected a property, host:LIST or rank:LIST"},
        {"a|host:n[1-", "offset 2: expected hosts such as host:n[1-4] or ranks such as rank:0-3"},
        {"rank:x", "offset 0: expected hosts such as host:n[1-4] or ranks such as rank:0-3"},
        {"(a", "offset 2: expected ')'"},
        {"a)", "offset 1: expected an operator, or the end"},
        {"'a", "offset 0: expected a quote at the end of what is in quotes"},
        {"\xff", "offset 0: expected a property in UTF-8"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_null(constraint_query(rows[i].text, &err));
        assert_int_equal(errno, EINVAL);
        if (strncmp(err.text, rows[i].expected, strlen(rows[i].expected)) != 0)
            fail_msg("%s: %s", rows[i].text, err.text);
    }
}

static void parentheses_have_a_bound(void **state)
{
    (void)state;
    char text[2 * CONSTRAINT_QUERY_DEPTH + 4] = "";
    berth_error_t err;
    memset(text, '(', CONSTRAINT_QUERY_DEPTH);
    text[CONSTRAINT_QUERY_DEPTH] = 'a';
    memset(text + CONSTRAINT_QUERY_DEPTH + 1, ')', CONSTRAINT_QUERY_DEPTH);
    json_t *read = constraint_query(text, &err);
    assert_non_null(read);
    json_decref(read);
    memset(text, '(', CONSTRAINT_QUERY_DEPTH + 1);
    assert_null(constraint_query(text, &err));
    assert_non_null(strstr(err.text, "expected fewer parentheses within each other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_are_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(parentheses_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
