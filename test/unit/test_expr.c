/* The expressions of find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "match/text/expr.h"

/* A made-up vertex, and how often it was asked about. */
struct subject {
    bool down, allocated, reserved;
    uint64_t jobid;
    int asked;
};

static bool test_subject(void *ctx, const struct expr_predicate *p)
{
    struct subject *s = ctx;
    s->asked++;
    switch (p->key) {
    case EXPR_STATUS:
        return s->down == p->yes;
    case EXPR_SCHED_NOW:
        return s->allocated == p->yes;
    case EXPR_SCHED_FUTURE:
        return s->reserved == p->yes;
    case EXPR_JOBID_ALLOC:
    case EXPR_JOBID_SPAN:
    case EXPR_JOBID_TAG:
    case EXPR_JOBID_RESERVED:
        return s->jobid == p->jobid;
    case EXPR_NAMES:
        return hostlist_find(&p->names, "Node3", 5) >= 0;
    case EXPR_PROPERTY:
        return strcmp(p->property, "Fast=x") == 0;
    case EXPR_AGFILTER:
        break;
    }
    fail();
    return false;
}

static bool eval(const char *text, struct subject s)
{
    berth_error_t err = {""};
    struct expr *e = expr_parse(text, &err);
    assert_string_equal(err.text, "");
    assert_non_null(e);
    bool result = expr_eval(e, test_subject, &s);
    expr_destroy(e);
    return result;
}

static void predicates_hold_or_not(void **state)
{
    (void)state;
    assert_true(eval("status=down", (struct subject){.down = true}));
    assert_false(eval("status=up", (struct subject){.down = true}));
    assert_true(eval("  status=UP\t", (struct subject){0}));
    assert_true(eval("sched-now=Allocated", (struct subject){.allocated = true}));
    assert_true(eval("sched-now=free", (struct subject){0}));
    assert_true(eval("sched-future=reserved", (struct subject){.reserved = true}));
    assert_false(eval("sched-future=free", (struct subject){.reserved = true}));
    assert_true(eval("jobid-alloc=31", (struct subject){.jobid = 31}));
    assert_true(eval("jobid-span=0x1f", (struct subject){.jobid = 31}));
    assert_true(eval("jobid-tag=fz", (struct subject){.jobid = 57}));
    assert_true(eval("jobid-reserved=0.0.0.9", (struct subject){.jobid = 9}));
}

static void names_and_properties_are_as_written(void **state)
{
    (void)state;
    assert_true(eval("names=Node[1-4],x", (struct subject){0}));
    assert_false(eval("names=node[1-4]", (struct subject){0}));
    assert_false(eval("names=", (struct subject){0}));
    assert_true(eval("property=Fast=x", (struct subject){0}));
    assert_false(eval("property=fast=x", (struct subject){0}));
}

static void operators_bind_from_left_to_right(void **state)
{
    (void)state;
    struct subject all = {.down = true, .allocated = true, .reserved = true};
    struct subject down = {.down = true};
    assert_true(eval("status=down and sched-now=allocated", all));
    assert_false(eval("status=down sched-now=allocated", down));
    assert_true(eval("status=down or sched-now=allocated", down));
    /* (down or allocated) and reserved */
    assert_false(eval("status=down or sched-now=allocated and sched-future=reserved", down));
    assert_true(eval("status=down or (sched-now=allocated and sched-future=reserved)", down));
    assert_true(eval("(status=up and sched-now=allocated) or status=down", down));
    assert_true(eval("( (status=down) )", down));
    assert_false(eval("((status=down or status=up) (sched-now=allocated))", down));
    assert_true(eval("sched-now=allocated and status=up or status=down", down));
}

static void result_that_is_known_is_not_asked_for(void **state)
{
    (void)state;
    struct subject s = {.down = true};
    struct expr *e = expr_parse("status=up and (status=up or status=up) or status=down", NULL);
    assert_non_null(e);
    assert_true(expr_eval(e, test_subject, &s));
    assert_int_equal(s.asked, 2);
    expr_destroy(e);
}

static void agfilter_is_a_constant_and_a_switch(void **state)
{
    (void)state;
    assert_true(eval("agfilter=t", (struct subject){0}));
    assert_true(eval("agfilter=TRUE", (struct subject){0}));
    assert_false(eval("agfilter=f", (struct subject){0}));
    struct expr *e = expr_parse("jobid-alloc=2 agfilter=f or agfilter=true or jobid-tag=f21", NULL);
    uint64_t id = 0;
    assert_true(expr_has_agfilter(e));
    assert_true(expr_jobid(e, &id));
    assert_int_equal(id, 58);
    expr_destroy(e);
    e = expr_parse("agfilter=t agfilter=false", NULL);
    assert_false(expr_has_agfilter(e));
    assert_false(expr_jobid(e, &id));
    assert_int_equal(id, 58);
    expr_destroy(e);
}

static void wrong_expressions_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "  ",
        "status",
        "status=",
        "status =up",
        "status= up",
        "status=upp",
        "Status=up",
        "stat=up",
        "=up",
        "and",
        "status=up and",
        "status=up or",
        "or status=up",
        "status=up and or status=up",
        "status=up AND status=up",
        "(",
        ")",
        "()",
        "( )",
        "(status=up",
        "status=up)",
        "(status=up))",
        "(status=up)(status=up)",
        "(status=up)and status=up",
        "status=up and(status=up)",
        "status=up\nand",
        "sched-now=reserved",
        "sched-future=allocated",
        "jobid-alloc=",
        "jobid-alloc=-1",
        "jobid-alloc=99999999999999999999",
        "agfilter=yes",
        "names=socket[af[]",
        "names=node[3",
        "property=",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_null(expr_parse(wrong[i], &err));
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, "expected"));
    }
}

static void depth_and_size_are_bounded(void **state)
{
    (void)state;
    static char text[16 * (EXPR_PREDICATES_MAX + 2)];
    for (int depth = EXPR_DEPTH_MAX; depth <= EXPR_DEPTH_MAX + 1; depth++) {
        memset(text, '(', (size_t)depth);
        strcpy(text + depth, "status=up");
        size_t n = strlen(text);
        memset(text + n, ')', (size_t)depth);
        text[n + (size_t)depth] = '\0';
        struct expr *e = expr_parse(text, NULL);
        assert_true(depth == EXPR_DEPTH_MAX ? e != NULL : e == NULL);
        expr_destroy(e);
    }
    text[0] = '\0';
    char *at = text;
    for (int i = 0; i < EXPR_PREDICATES_MAX; i++)
        at = stpcpy(at, "status=up ");
    struct expr *e = expr_parse(text, NULL);
    assert_non_null(e);
    expr_destroy(e);
    strcpy(at, "status=up");
    assert_null(expr_parse(text, NULL));
    assert_int_equal(errno, EINVAL);
}

static void error_says_where(void **state)
{
    (void)state;
    berth_error_t err;
    assert_null(expr_parse("status=up or node=3", &err));
    assert_non_null(strstr(err.text, "offset 13"));
    expr_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicates_hold_or_not),
        cmocka_unit_test(names_and_properties_are_as_written),
        cmocka_unit_test(operators_bind_from_left_to_right),
        cmocka_unit_test(result_that_is_known_is_not_asked_for),
        cmocka_unit_test(agfilter_is_a_constant_and_a_switch),
        cmocka_unit_test(wrong_expressions_are_refused),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(error_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
