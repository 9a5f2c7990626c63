/* Jobspecs without memory: each allocation that reading one makes fails once, the first, the second
 * and so on, until the reading comes through.
 *
 * malloc, calloc and realloc are this file's, by the linker's --wrap; those that libyaml makes are
 * not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "berth/jobspec.h"
#include "fixture/failing_alloc.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TAIL                                                                                       \
    "tasks: [{command: [a], slot: s, count: {total: 1}}]\n"                                        \
    "attributes: {system: {constraints: {or: [{hostlist: [\"a[1-3]\", \"b\", \"c\"]}, {ranks: "    \
    "[\"1,3,5\", \"7,9\"]}, {properties: [\"x\"]}]}, environment: {a: b, c: d, e: f, g: h, i: j, " \
    "k: l, m: n, o: p, q: r, s: t, u: v, w: x, y: z}, dependencies: [{scheme: a, value: b}]}}\n"

/* The quick reader takes the first as it is; the second has what it leaves to libyaml. */
static const char *const texts[] = {
    "version: 1\nresources: [{type: slot, count: \"1,3,5\", label: s}]\n" TAIL,
    "version: !x 1\nresources: [{type: slot, count: \"1,3,5\", label: s}]\n" TAIL,
};

static void without_memory_there_is_no_jobspec(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT(texts); t++) {
        jobspec_t *spec = NULL;
        int64_t n = 0;
        for (; !spec && n < 1000; n++) {
            berth_error_t err = {""};
            errno = 0;
            failures_last = true;
            until_failure = n;
            spec = jobspec_parse(texts[t], strlen(texts[t]), NULL, &err);
            until_failure = -1;
            if (!spec) {
                assert_int_equal(errno, ENOMEM);
                assert_string_equal(err.text, "out of memory");
            }
        }
        assert_non_null(spec);
        assert_true(n > 6);
        jobspec_destroy(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_there_is_no_jobspec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
