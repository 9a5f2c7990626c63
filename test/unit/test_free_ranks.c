/* A job that runs gives back some of its nodes, one after the other, and others get them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "berth/match.h"
#include "berth/resource.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"

static const char machine[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-2\",\"children\":{\"core\":\"0-1\"}}],"
    "\"nodelist\":[\"n[0-2]\"],\"starttime\":0,\"expiration\":0}}";

static sched_job_t submit(sched_t *s, int64_t now, uint64_t tag, int nodes, bool whole)
{
    char text[512];

    snprintf(text, sizeof(text),
             "{\"version\":1,\"resources\":[{\"type\":\"node\",\"count\":%d,%s\"with\":[{\"type\":"
             "\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":\"core\",\"count\":1}]}]}],"
             "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{\"system\":{\"duration\":100}}}",
             nodes, whole ? "\"exclusive\":true," : "");
    return sched_submit(
        s, now,
        &(struct sched_request){.tag = tag, .jobspec = text, .jobspec_length = strlen(text)});
}

static void pass(sched_t *s, int64_t now)
{
    const struct sched_decision *d;
    size_t n;

    assert_int_equal(sched_pass(s, now, false, &d, &n), 0);
    assert_true(sched_check(s));
}

static void nodes_go_to_others(void **state)
{
    const bool whole = *(const bool *)*state;
    berth_error_t err = {""};
    resource_graph_t *g = resource_graph_read("rv1exec", machine, strlen(machine), &err);
    match_t *m = match_create(g, &(match_options_t){.policy = "low"}, &err);
    sched_t *s = sched_create(m, &(struct sched_config){.second = 1}, &err);
    const char *text;

    if (!s)
        fail_msg("%s", err.text);
    sched_job_t a = submit(s, 0, 1, 3, whole);
    pass(s, 0);
    assert_int_equal(sched_state(s, a), SCHED_RUNNING);
    sched_job_t b = submit(s, 1, 2, 2, true);
    pass(s, 1);
    assert_int_equal(sched_start_time(s, b), 100);
    assert_int_equal(sched_free_ranks(s, 2, a, "2", &err), 0);
    pass(s, 2);
    assert_int_equal(sched_state(s, b), SCHED_RESERVED);
    assert_int_equal(sched_free_ranks(s, 3, a, "2", &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "the job holds nothing of rank 2");
    assert_int_equal(sched_free_ranks(s, 3, b, "0", &err), -1);
    assert_string_equal(err.text, "no such job runs");
    assert_int_equal(sched_free_ranks(s, 4, a, "0", &err), 0);
    assert_int_equal(sched_amount(s, a, "node"), 1);
    pass(s, 4);
    assert_int_equal(sched_state(s, b), SCHED_RUNNING);
    assert_int_equal(sched_start_time(s, b), 4);
    assert_int_equal(sched_resources(s, b, &text), 0);
    assert_string_equal(text, "n[0,2]");
    assert_int_equal(sched_free_ranks(s, 5, a, "1", &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "the job holds nothing else");
    assert_int_equal(sched_free_ranks(s, 5, a, "x", &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sched_finish(s, 6, a, true), 0);
    pass(s, 6);
    sched_destroy(s);
    match_destroy(m);
}

int main(void)
{
    static const bool whole = true, shared = false;
    const struct CMUnitTest tests[] = {
        {"whole_nodes_go_to_others", nodes_go_to_others, NULL, NULL, (void *)&whole},
        {"shared_nodes_go_to_others", nodes_go_to_others, NULL, NULL, (void *)&shared},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
