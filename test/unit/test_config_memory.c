/* Configurations without memory: each allocation that reading, showing or making one fails once, the first,
 * the second and so on, until it comes through. Those that libyaml makes are not this file's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "fixture/failing_alloc.h"

static const char text[] =
    "resources: {nodes: 20, cores: 8, gpus: 1, memory: 1}\n"
    "match: {filters: \"ALL:core,rack:node,ALL:gpu\"}\n"
    "users: {a: [b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z]}\n"
    "queues: {q: {requires: [x, y], limits: {job: {node: 1}, except: [{users: [a], job: {}}]}},\n"
    "  v: {parent: q}}\n"
    "blocks: [{name: b, resources: \"node[0-3]\", start: 0, duration: 1, for: {queues: [q]}}]\n"
    "trace: {partitions: {1: {hostlist: [\"a[1-3]\", \"b\"]}, 2: {ranks: [\"1,3\"]}}}\n";

/* What was made with the nth allocation failing: true if it is to be made again. */
static bool again(const void *made, const char *why)
{
    until_failure = -1;
    if (made)
        return false;
    assert_int_equal(errno, ENOMEM);
    if (why)
        assert_string_equal(why, "out of memory");
    return true;
}

static struct config *read_it(void)
{
    struct config *c = config_read("f", text, strlen(text), 1, NULL);
    assert_non_null(c);
    return c;
}

static void reading_fails(void **state)
{
    (void)state;
    struct config *c;
    berth_error_t err;
    int64_t n = 0;
    do {
        failures_last = true;
        until_failure = n++;
        errno = 0;
        err.text[0] = '\0';
        c = config_read("f", text, strlen(text), 1, &err);
    } while (again(c, err.text));
    assert_true(n > 20);
    config_destroy(c);
}

static void showing_fails(void **state)
{
    (void)state;
    struct config *c = read_it();
    char *shown;
    int64_t n = 0;
    do {
        until_failure = n++;
        errno = 0;
        shown = config_show(c, 1);
    } while (again(shown, NULL));
    assert_true(n > 2);
    free(shown);
    config_destroy(c);
}

static void making_nodes_fails(void **state)
{
    (void)state;
    struct config *c = read_it();
    resource_graph_t *g;
    berth_error_t err;
    int64_t n = 0;
    do {
        failures_last = true;
        until_failure = n++;
        errno = 0;
        err.text[0] = '\0';
        g = config_make_nodes(&c->resources, &err);
    } while (again(g, err.text));
    assert_true(n > 10);
    resource_graph_destroy(g);
    config_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_fails),
        cmocka_unit_test(showing_fails),
        cmocka_unit_test(making_nodes_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
