/* Names of resources and texts of jobs without memory: each allocation that a call makes fails once, the
 * first, the second and so on, until the call comes through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/failing_alloc.h"
#include "fixture/machine.h"
#include "jobspec/canonical.h"
#include "jobspec/constraint_text.h"
#include "match/inner.h"
#include "match/text/names.h"

static const char request[] =
    "{\"version\":9999,\"resources\":[{\"type\":\"node\",\"count\":3,\"label\":\"n\",\"with\":[{"
    "\"type\":"
    "\"slot\",\"label\":\"s\",\"count\":1,\"with\":[{\"type\":\"core\",\"count\":5,\"label\":\"c\"}"
    ",{"
    "\"type\":\"gpu\",\"count\":1}]}]}],\"attributes\":{\"system\":{\"duration\":10,\"queue\":"
    "\"q\","
    "\"constraints\":{\"hostlist\":[\"n[1-7]\"]}}},\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\","
    "\"count\":{\"per_slot\":1}}]}";

/* Make a call fail at each of its allocations, once and from there on, until it comes through. */
#define THROUGH(prepare, call)                                                                     \
    do {                                                                                           \
        bool again_ = true;                                                                        \
        for (long n_ = 0; again_; n_++) {                                                          \
            prepare;                                                                               \
            failures_last = n_ % 2;                                                                \
            until_failure = n_ / 2;                                                                \
            allocation_failed = false;                                                             \
            errno = 0;                                                                             \
            bool good_ = (call);                                                                   \
            int error_ = errno;                                                                    \
            until_failure = -1;                                                                    \
            again_ = !good_;                                                                       \
            assert_true(good_ || (allocation_failed && error_ == ENOMEM));                         \
            assert_true(n_ < 10000);                                                               \
        }                                                                                          \
    } while (0)

static match_t *create(void)
{
    return machine_of("8 node=n(8 core gpu)", NULL);
}

static void names_without_memory(void **state)
{
    static const char *const texts[] = {"n[0-3]/core[0-7],n7:5", "/cluster0/n[0-7]/gpu0"};
    match_t *m = create();
    berth_error_t err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t *v = NULL;
        size_t n = 0;
        THROUGH(name_index_clear(&m->names), match_select(m, texts[i], &v, &n, &err) == 0);
        assert_int_equal(n, i == 0 ? 33 : 8);
        free(v);
        assert_true(match_check(m));
    }
    match_destroy(m);
}

/* Nothing is taken, and then what is missing is told, or that there was no memory to tell it. */
static void what_is_missing_without_memory(void **state)
{
    match_t *m = create();
    uint32_t *v = NULL;
    size_t n;
    berth_error_t err;

    (void)state;
    THROUGH(name_index_clear(&m->names),
            match_select(m, "n[0-3]/core[6-9]", &v, &n, &err) < 0 && errno == ENOENT);
    assert_string_equal(err.text, "no such resource: n0/core8");
    assert_null(v);
    match_destroy(m);
}

static void jobs_without_memory(void **state)
{
    match_t *m = create();
    jobspec_t *spec = jobspec_parse(request, strlen(request), NULL, NULL);
    struct strbuf out = {0};
    const char *text;
    size_t length;

    (void)state;
    assert_non_null(spec);
    THROUGH(, match_run(m, MATCH_ALLOCATE, spec, 1, 0, NULL, NULL) == 0);
    THROUGH(
        {
            name_index_clear(&m->names);
            strbuf_clear(&out);
            strbuf_puts(&out, "+");
        },
        match_summary(m, 1, &out) == 0);
    assert_string_equal(strbuf_text(&out), "+n[5-7]/core[3-7],n[5-7]/gpu0");
    THROUGH(, match_write_job(m, 1, "rv1", &text, &length) == 0);
    assert_non_null(strstr(text, "\"queue\": \"q\""));
    struct hosts hosts = {0};
    THROUGH(hosts_clear(&hosts), match_hosts(m, 1, &hosts) == 0);
    assert_int_equal(hosts.n, 3);
    assert_string_equal(hosts.v[2].name, "n7");
    hosts_clear(&hosts);
    /* As if its node had been given back: what is told then is made up for. */
    struct job *job = jobs_find(&m->jobs, 1);
    struct job left = *job;
    left.n -= 2;
    THROUGH(, match_emit_job(m, &left) == 0);
    assert_int_equal(m->last.n, job->n);
    strbuf_clear(&out);
    jobspec_destroy(spec);
    match_destroy(m);
}

static void texts_without_memory(void **state)
{
    static const char constraint[] =
        "{\"or\":[{\"hostlist\":[\"a[1-3]\",\"b\"]},{\"ranks\":[\"1,3\"]}]}";
    jobspec_t *spec = jobspec_parse(request, strlen(request), NULL, NULL);
    struct jobspec_constraint *c = NULL;
    char *text = NULL;
    berth_error_t err;

    (void)state;
    assert_non_null(spec);
    THROUGH(, (text = jobspec_canonical(spec)) != NULL);
    assert_non_null(strstr(text, "n[1-7]"));
    THROUGH(, (c = jobspec_constraint_parse(constraint, strlen(constraint), &err)) != NULL);
    jobspec_constraint_destroy(c);
    jobspec_destroy(spec);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_memory),
        cmocka_unit_test(what_is_missing_without_memory),
        cmocka_unit_test(jobs_without_memory),
        cmocka_unit_test(texts_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
