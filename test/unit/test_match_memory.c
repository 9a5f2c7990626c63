/* Matching without memory: each allocation that a call makes fails once, the first, the second and so on,
 * until the call comes through. What failed must have changed nothing.
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
#include "match/inner.h"

/* All that a caller can see of a matcher, and how it would go on. */
static void look(const struct match *m, struct strbuf *out)
{
    strbuf_reset(out);
    for (uint32_t v = 0; v < m->g->n; v++) {
        strbuf_puts(out, m->g->v[v].gone ? "gone " : m->g->v[v].down ? "down " : "up ");
        strbuf_put_int(out, m->g->v[v].props);
        const struct state_below *b = state_below(m->state[v]);
        for (uint32_t i = 0; i < b->n_weights; i++)
            strbuf_put_int(out, b->weight[i].child);
    }
    strbuf_put_int(out, m->nodes_up);
    strbuf_put_int(out, m->jobs.n);
    for (int64_t id = 0; id < 20; id++) {
        const struct job *job = jobs_find(&m->jobs, id);
        strbuf_puts(out, "\n");
        for (uint32_t i = 0; job && i < job->n; i++) {
            strbuf_puts(out, " ");
            strbuf_put_int(out, job->hold[i].vertex);
            strbuf_puts(out, job->hold[i].flags & HOLD_EXCLUSIVE ? "x" : "s");
        }
    }
}

/* Whether look also asks: that changes what was found last, and the order of children under some policies. */
static bool asking;

static void ask(match_t *m, struct strbuf *out);

static void look_all(match_t *m, struct strbuf *out)
{
    look(m, out);
    if (asking)
        ask(m, out);
}

static struct strbuf before, after;

/* Make a call fail at each of its allocations, once and from there on, until it comes through. A call that
 * does without what it didn't get is undone.
 */
#define THROUGH(m, call, undo)                                                                     \
    do {                                                                                           \
        bool again_ = true;                                                                        \
        for (int i_ = 0; i_ < 2; i_++) /* the first may change what was found last */              \
            look_all(m, &before);                                                                  \
        for (long n_ = 0; again_; n_++) {                                                          \
            failures_last = n_ % 2;                                                                \
            fail_allocation(n_ / 2);                                                               \
            int rc_ = (call);                                                                      \
            int error_ = errno;                                                                    \
            again_ = end_failures();                                                               \
            assert_true(match_check(m));                                                           \
            if (again_ && rc_ == 0) {                                                              \
                undo;                                                                              \
            }                                                                                      \
            if (again_ && rc_ < 0)                                                                 \
                assert_int_equal(error_, ENOMEM);                                                  \
            if (!again_ && rc_ < 0)                                                                \
                fail_msg("errno %d", error_);                                                      \
            look_all(m, &after);                                                                   \
            if (again_)                                                                            \
                assert_string_equal(strbuf_text(&before), strbuf_text(&after));                    \
        }                                                                                          \
    } while (0)

#define JOB(resources)                                                                             \
    "{\"version\":9999,\"resources\":[" resources "],\"attributes\":{\"system\":{\"duration\":10," \
    "\"queue\":\"q\"}},"                                                                           \
    "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}"

#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"s\",\"count\":" count ",\"with\":[" below "]}"

static const char *const requests[] = {
    JOB(SLOT("2", "{\"type\":\"core\",\"count\":1},{\"type\":\"gpu\",\"count\":1}")),
    JOB("{\"type\":\"node\",\"count\":2,\"with\":[" SLOT(
        "1", "{\"type\":\"core\",\"count\":2,\"label\":\"c\"}") "]}"),
    JOB(SLOT("1", "{\"type\":\"node\",\"count\":2,\"exclusive\":true}")),
    JOB("{\"type\":\"node\",\"count\":1,\"exclusive\":true,\"with\":[{\"type\":\"core\",\"count\":"
        "4}]}"),
    "{\"version\":9999,\"resources\":[" SLOT(
        "1", "{\"type\":\"node\",\"count\":1}") "],"
                                                "\"attributes\":{\"system\":{\"duration\":10,"
                                                "\"constraints\":{\"hostlist\":[\"n[1-2]\"]}}},"
                                                "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\","
                                                "\"count\":{\"per_slot\":1}}]}",
};

static const char machine[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-3\",\"children\":{\"core\":\"0-3\","
    "\"gpu\":\"0\"}}],\"nodelist\":[\"n[0-3]\"],\"starttime\":0,\"expiration\":0}}";

static const char part[] =
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"2\",\"children\":{\"core\":\"0-1\"}}],"
    "\"nodelist\":[\"n2\"],\"starttime\":0,\"expiration\":0}}";

static jobspec_t *spec_of(int i)
{
    berth_error_t err;
    jobspec_t *spec = jobspec_parse(requests[i], strlen(requests[i]), NULL, &err);

    if (!spec)
        fail_msg("%s", err.text);
    return spec;
}

static void put_found(match_t *m, struct strbuf *out)
{
    const char *text;
    size_t length;

    strbuf_puts(out, "\n");
    if (match_write(m, "jgf", &text, &length) == 0)
        strbuf_put(out, text, length);
}

/* What was found last, what jobs hold, what requests would get, and whether a type is known. */
static void ask(match_t *m, struct strbuf *out)
{
    put_found(m, out);
    for (int i = 0; i < 4; i++) {
        jobspec_t *spec = spec_of(i);
        match_result_t result = {0};
        strbuf_put_int(out,
                       match_run(m, MATCH_WITHOUT_ALLOCATING_FUTURE, spec, 99, 0, &result, NULL));
        strbuf_put_int(out, result.at);
        put_found(m, out);
        jobspec_destroy(spec);
    }
    strbuf_puts(out, match_knows_type(m, "fpga") ? "fpga " : "");
    strbuf_put_uint(out, m->g->subsystems.n);
    assert_int_equal(match_find(m, "status=up and agfilter=t", 0, NULL), 0);
    put_found(m, out);
    assert_int_equal(match_find(m, "sched-now=allocated or jobid-tag=1", 0, NULL), 0);
    put_found(m, out);
}

static match_t *create(const char *policy)
{
    match_options_t options = {.policy = policy};
    match_t *m = NULL;
    bool again = true;

    for (long n = 0; again; n++) {
        resource_graph_t *g = resource_graph_read("rv1exec", machine, strlen(machine), NULL);
        assert_non_null(g);
        failures_last = n % 2;
        fail_allocation(n / 2);
        m = match_create(g, &options, NULL);
        int error = errno;
        again = end_failures();
        assert_true(again == (m == NULL));
        if (again)
            assert_int_equal(error, ENOMEM);
    }
    assert_true(match_check(m));
    return m;
}

static void run_all(match_t *m)
{
    match_result_t result;

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 4; i++) {
            jobspec_t *spec = spec_of(i);
            int64_t id = 4 * round + i;
            THROUGH(m, match_run(m, MATCH_WITHOUT_ALLOCATING_FUTURE, spec, id, 0, &result, NULL), );
            THROUGH(m, match_run(m, MATCH_ALLOCATE_ORELSE_RESERVE, spec, id, 0, &result, NULL),
                    match_cancel(m, id, NULL, NULL));
            jobspec_destroy(spec);
        }
}

static void match_without_memory(void **state)
{
    static const char *const policies[] = {"low", "locality", "hinodex", "variation"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        match_t *m = create(policies[i]);
        run_all(m);
        match_destroy(m);
    }
}

static void first_without_memory(void **state)
{
    match_t *m = create("first");

    (void)state;
    run_all(m);
    match_destroy(m);
}

static void look_without_memory(void **state)
{
    match_t *m = create("high");
    jobspec_t *spec = spec_of(0);
    match_result_t result;
    const char *text;
    size_t length;
    bool up;

    (void)state;
    assert_int_equal(match_run(m, MATCH_ALLOCATE, spec, 1, 0, &result, NULL), 0);
    THROUGH(m, match_find(m, "status=up and agfilter=t", 0, NULL), );
    THROUGH(m, match_find(m, "jobid-tag=1 or names=n0 sched-now=free", 0, NULL), );
    THROUGH(m, match_write(m, "rv1", &text, &length), );
    THROUGH(m, match_get_status(m, "/cluster0/n0", &up, NULL), );
    THROUGH(m, match_set_status(m, "/cluster0/n0", false, NULL),
            match_set_status(m, "/cluster0/n0", true, NULL));
    THROUGH(m, match_set_property(m, "/cluster0/n1", "a", "1", NULL),
            match_remove_property(m, "/cluster0/n1", "a", NULL));
    jobspec_destroy(spec);
    match_destroy(m);
}

static void ranks_without_memory(void **state)
{
    match_t *m = create("low");

    (void)state;
    THROUGH(m, match_set_rank_status(m, "1-3", false, NULL),
            match_set_rank_status(m, "1-3", true, NULL));
    THROUGH(m, match_set_rank_status(m, "all", true, NULL),
            match_set_rank_status(m, "1-3", false, NULL));
    match_destroy(m);
}

#define NODE(id, type, more, path)                                                                 \
    "{\"id\":\"" id "\",\"metadata\":{\"type\":\"" type "\"," more                                 \
    ",\"paths\":{\"containment\":\"" path "\"}}}"
#define EDGE(from, to) "{\"source\":\"" from "\",\"target\":\"" to "\"}"
#define MORE(edges)                                                                                \
    "{\"graph\":{\"nodes\":[" NODE("0", "cluster", "\"rank\":-1", "/cluster0") "," NODE(           \
        "90", "node", "\"name\":\"n4\",\"rank\":4,\"properties\":{\"new\":\"\"}",                  \
        "/cluster0/n4") "," NODE("91", "fpga", "\"id\":0,\"rank\":4",                              \
                                 "/cluster0/n4/fpga0") "],\"edges\":[" EDGE("0",                   \
                                                                            "90") "," EDGE("90",   \
                                                                                           "91")   \
        edges "]}}"

/* Jobs that hold now and later, whole nodes and parts. */
static match_t *busy(const char *policy)
{
    match_t *m = create(policy);
    match_result_t result;

    for (int i = 0; i < 6; i++) {
        jobspec_t *spec = spec_of(i % 4);
        assert_int_equal(match_run(m, MATCH_ALLOCATE_ORELSE_RESERVE, spec, i, 0, &result, NULL), 0);
        jobspec_destroy(spec);
    }
    return m;
}

static void change_without_memory(void **state)
{
    static const char *const policies[] = {"low", "first", "hinodex"};
    static const char more[] = MORE("");

    (void)state;
    asking = true;
    for (int i = 0; i < 3; i++) {
        match_t *m = busy(policies[i]);
        assert_int_equal(match_set_status(m, "/cluster0/n3/core1", false, NULL), 0);
        THROUGH(m, match_attach(m, more, strlen(more), NULL), fail());
        assert_true(match_knows_type(m, "fpga"));
        THROUGH(m, match_remove_path(m, "/cluster0/n1", NULL), fail());
        THROUGH(m, match_remove_ranks(m, "0,4", NULL), fail());
        match_destroy(m);
    }
    asking = false;
}

/* A change that the graph takes back leaves nothing of its types either. */
static void change_in_vain(void **state)
{
    static const char circle[] = MORE("," EDGE("91", "0"));
    match_t *m = busy("low");

    (void)state;
    asking = true;
    look_all(m, &before);
    look_all(m, &before);
    assert_int_equal(match_attach(m, circle, strlen(circle), NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_true(match_check(m));
    look_all(m, &after);
    assert_string_equal(strbuf_text(&before), strbuf_text(&after));
    asking = false;
    match_destroy(m);
}

static void update_without_memory(void **state)
{
    match_t *m = create("low");
    bool full = false;

    (void)state;
    THROUGH(m, match_update(m, "rv1exec", part, strlen(part), 1, 0, 10, false, NULL),
            match_cancel(m, 1, NULL, NULL));
    assert_int_equal(match_update(m, "rv1exec", machine, strlen(machine), 2, 20, 10, true, NULL),
                     0);
    look(m, &before);
    for (long n = 0;; n++) {
        failures_last = n % 2;
        fail_allocation(n / 2);
        int rc = match_partial_cancel(m, 2, "rv1exec", part, strlen(part), &full, NULL, NULL);
        int error = errno;
        bool again = end_failures();
        assert_true(match_check(m));
        if (!again)
            break;
        assert_int_equal(rc, -1);
        assert_int_equal(error, ENOMEM);
        look(m, &after);
        assert_string_equal(strbuf_text(&before), strbuf_text(&after));
    }
    assert_false(full);
    match_destroy(m);
}

/* Names are made to compare them with constraints: without memory for that a request isn't refused for
 * good, and the next one isn't refused at all.
 */
static void names_without_memory(void **state)
{
    static const match_op_t ops[] = {MATCH_ALLOCATE, MATCH_ALLOCATE_ORELSE_RESERVE,
                                     MATCH_ALLOCATE_W_SATISFIABILITY, MATCH_SATISFIABILITY};
    jobspec_t *spec = spec_of(4);
    match_result_t result;

    (void)state;
    for (int i = 0; i < 4; i++) {
        match_t *m = create("low");
        THROUGH(m, match_run(m, ops[i], spec, 1, 0, &result, NULL),
                if (i < 3) match_cancel(m, 1, NULL, NULL));
        match_destroy(m);
    }
    jobspec_destroy(spec);
    match_t *m = create("low");
    THROUGH(m, match_find(m, "names=n1", 0, NULL), fail());
    assert_int_equal(m->last.n, 2);
    match_destroy(m);
}

static int tidy(void **state)
{
    (void)state;
    strbuf_clear(&before);
    strbuf_clear(&after);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(match_without_memory),  cmocka_unit_test(first_without_memory),
        cmocka_unit_test(look_without_memory),   cmocka_unit_test(ranks_without_memory),
        cmocka_unit_test(update_without_memory), cmocka_unit_test(change_without_memory),
        cmocka_unit_test(change_in_vain),        cmocka_unit_test(names_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, tidy);
}
