/* The command line of berth query: defaults, long and short names, what may be given in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/query/options.h"
#include "cli/verb.h"

enum { MOST_WORDS = 48 };

static bool parse(const char *const *words, struct query_options *ret)
{
    char *argv[MOST_WORDS];
    int argc = 0, status = -1;
    for (; words[argc]; argc++)
        argv[argc] = (char *)words[argc]; /* getopt_long reorders the words and writes to none */
    argv[argc] = NULL;
    bool good = query_options_parse(argc, argv, ret, &status);
    assert_true(good || status == CLI_USAGE);
    return good;
}

static void defaults(void **state)
{
    (void)state;
    struct query_options o;
    assert_true(parse((const char *const[]){"query", NULL}, &o));
    assert_string_equal(o.load_file, "conf/default");
    assert_string_equal(o.load_format, "grug");
    assert_string_equal(o.match_format, "simple");
    assert_null(o.match.policy);
    assert_null(o.match.traverser);
    assert_null(o.match.filters);
    assert_null(o.match.matcher);
    assert_null(o.allowlist);
    assert_null(o.graph_output);
    assert_null(o.test_output);
    assert_false(o.graphml || o.elapse || o.no_prompt || o.local);
    query_options_clear(&o);
}

static void expect_all(const char *const *words)
{
    struct query_options o;
    assert_true(parse(words, &o));
    assert_string_equal(o.load_file, "a");
    assert_string_equal(o.load_format, "jgf");
    assert_string_equal(o.allowlist, "cluster,node,core");
    assert_string_equal(o.match.matcher, "C+PA");
    assert_string_equal(o.match.policy, "low");
    assert_string_equal(o.match.traverser, "flexible");
    assert_string_equal(o.match.filters, "ALL:core");
    assert_string_equal(o.match_format, "rv1");
    assert_true(o.graphml);
    assert_string_equal(o.graph_output, "g");
    assert_string_equal(o.test_output, "t");
    assert_true(o.elapse && o.no_prompt);
    query_options_clear(&o);
}

static void long_and_short(void **state)
{
    (void)state;
    expect_all((const char *const[]){
        "query", "-L", "a",        "-f", "jgf",      "-W", "node,core", "-S", "C+PA",    "-P",
        "low",   "-T", "flexible", "-p", "ALL:core", "-F", "rv1",       "-g", "GraphML", "-o",
        "g",     "-t", "t",        "-r", "10",       "-e", "-d",        NULL});
    expect_all((const char *const[]){
        "query", "--load-file=a", "--load-format=jgf", "--load-allowlist=node,core",
        "--match-subsystems=C+PA", "--match-policy=low", "--traverser-policy=flexible",
        "--prune-filters=ALL:core", "--match-format=rv1", "--graph-format=graphml",
        "--graph-output=g", "--test-output=t", "--reserve-vtx-vec=10", "--elapse-time",
        "--disable-prompt", NULL});
}

static void parts(void **state)
{
    (void)state;
    struct query_options o;
    assert_true(parse((const char *const[]){"query", "-p", "ALL:core", "-p", "  ", "-p", "a:b",
                                            "-W", " ", "--local", NULL},
                      &o));
    assert_string_equal(o.match.filters, "ALL:core,a:b");
    assert_null(o.allowlist);
    assert_true(o.local);
    assert_null(o.load_file);
    query_options_clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(long_and_short),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
