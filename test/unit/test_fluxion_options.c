/* Options of Fluxion's modules, and R of an enclosing instance in one's own ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "flux/fluxion/options.h"
#include "flux/r.h"

static json_t *json(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);

    assert_non_null(value);
    return value;
}

static int read(struct resource_options *o, const char *conf, const char *argument,
                berth_error_t *err)
{
    json_t *all = json(conf);
    char text[128];
    char *argv[] = {text};

    snprintf(text, sizeof(text), "%s", argument);
    int rc = resource_options_read(o, "sched-fluxion-resource", all, *argument ? 1 : 0, argv, err);
    json_decref(all);
    return rc;
}

static void arguments_go_before_the_table(void **state)
{
    static const char conf[] =
        "{\"sched-fluxion-resource\": {\"match-policy\": \"lonodex\", \"reserve-vtx-vec\": 200000,"
        " \"prune-filters\": \"ALL:core,ALL:gpu\", \"match-format\": \"no-such\"}}";
    struct resource_options o;
    berth_error_t err = {""};

    (void)state;
    assert_int_equal(read(&o, conf, "", &err), 0);
    assert_string_equal(o.value[OPTION_POLICY], "lonodex");
    assert_string_equal(o.value[OPTION_RESERVE_VTX_VEC], "200000");
    assert_string_equal(o.value[OPTION_PRUNE_FILTERS], "ALL:core,ALL:gpu");
    assert_string_equal(o.value[OPTION_MATCH_FORMAT], "rv1_nosched"); /* unknown: the default */
    assert_null(o.value[OPTION_LOAD_FILE]);
    resource_options_clear(&o);
    assert_int_equal(read(&o, conf, "policy=high", &err), 0);
    assert_string_equal(o.value[OPTION_POLICY], "high");
    resource_options_clear(&o);
}

static void wrong_options_are_refused(void **state)
{
    static const char *const wrong[] = {"colour=red", "policy=foo", "traverser=foo", "load",
                                        "load-format=hwloc"};
    struct resource_options o;
    berth_error_t err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        err.text[0] = '\0';
        assert_int_equal(read(&o, "{}", wrong[i], &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_true(err.text[0]);
        resource_options_clear(&o);
    }
}

static void note(void *context, const char *policy)
{
    snprintf(context, 16, "%s", policy);
}

static const char *param(const json_t *params, const char *queue, const char *key)
{
    return json_string_value(json_object_get(json_object_get(params, queue), key));
}

static void queues_have_their_own_or_what_all_have(void **state)
{
    json_t *conf =
        json("{\"queues\": {\"debug\": {}, \"batch\": {}, \"more\": {\"parent\": \"batch\"}},"
             " \"sched-fluxion-qmanager\": {\"queue-policy\": \"hybrid\","
             " \"queue-policy-per-queue\": \"debug:slow\","
             " \"queue-params-per-queue\": \"debug:queue-depth=16\","
             " \"policy-params\": {\"reservation-depth\": 3, \"foo\": 1}}}");
    char unknown[16] = "";
    berth_error_t err = {""};
    json_t *params = qmanager_options_read(conf, 0, NULL, note, unknown, &err), *settings, *table;

    (void)state;
    assert_non_null(params);
    assert_string_equal(unknown, "slow");
    assert_null(json_object_get(params, "more"));
    assert_string_equal(param(params, "debug", "queue-policy"), "fcfs");
    assert_string_equal(param(params, "batch", "queue-policy"), "hybrid");
    assert_string_equal(param(params, "debug", "queue-params"), "queue-depth=16");
    assert_string_equal(param(params, "batch", "queue-params"), "");
    assert_string_equal(param(params, "batch", "policy-params"), "reservation-depth=3,foo=1");
    settings = qmanager_options_conf(params, conf);
    table = json_object_get(json_object_get(settings, "sched-berth"), "queues");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(table, "batch"), "reservation-depth")),
        3);
    assert_null(json_object_get(json_object_get(table, "debug"), "reservation-depth"));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(table, "debug"), "queue-depth")), 16);
    json_decref(settings);
    json_decref(params);
    json_decref(conf);
}

static void wrong_queues_are_refused(void **state)
{
    static const char *const wrong[] = {
        "{\"sched-fluxion-qmanager\": {\"queue-params\": \"queue-depth=0\"}}",
        "{\"sched-fluxion-qmanager\": {\"queue-params\": {\"max-queue-depth\": -1}}}",
        "{\"sched-fluxion-qmanager\": {\"policy-params\": \"reservation-depth=4x\"}}",
        "{\"sched-fluxion-qmanager\": {\"queue-policy-per-queue\": \"none:easy\"}}",
        "{\"sched-fluxion-qmanager\": {\"queues\": \"batch debug\"}}"};
    char unknown[16];
    berth_error_t err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        json_t *conf = json(wrong[i]);
        err.text[0] = '\0';
        assert_null(qmanager_options_read(conf, 0, NULL, note, unknown, &err));
        assert_int_equal(errno, EINVAL);
        assert_true(err.text[0]);
        json_decref(conf);
    }
}

/* A job has ranks 2 and 3 of an instance, and of each cores 2 and 3: in its own instance these are ranks 0 and 1 with cores
 * 0 and 1.
 */
static void a_graph_is_in_own_ranks(void **state)
{
    json_t *r = json("{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-1\", "
                     "\"children\": {\"core\": \"0-1\"}}],"
                     " \"nodelist\": [\"n[2-3]\"], \"starttime\": 1, \"expiration\": 2}, "
                     "\"scheduling\": {\"graph\": {\"nodes\": ["
                     "{\"id\": \"0\", \"metadata\": {\"type\": \"node\", \"id\": 2, \"rank\": 2, "
                     "\"paths\": {\"containment\": \"/c0/n2\"}}},"
                     "{\"id\": \"1\", \"metadata\": {\"type\": \"core\", \"id\": 3, \"rank\": 3, "
                     "\"paths\": {\"containment\": \"/c0/n3/core3\"}}},"
                     "{\"id\": \"2\", \"metadata\": {\"type\": \"core\", \"id\": 2, \"rank\": 3, "
                     "\"paths\": {\"containment\": \"/c0/n3/core2\"}}}"
                     "], \"edges\": []}}}");
    json_t *own = r_in_own_ranks(r),
           *nodes = json_object_get(json_object_get(json_object_get(own, "scheduling"), "graph"),
                                    "nodes"),
           *node = json_object_get(json_array_get(nodes, 0), "metadata"),
           *core = json_object_get(json_array_get(nodes, 1), "metadata");

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(node, "rank")), 0);
    assert_int_equal(json_integer_value(json_object_get(node, "id")), 2);
    assert_int_equal(json_integer_value(json_object_get(core, "rank")), 1);
    assert_int_equal(json_integer_value(json_object_get(core, "id")), 1);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(core, "paths"), "containment")),
        "/c0/n3/core1");
    assert_int_equal(r_own_id(r, 3, "core", 2), 0);
    assert_int_equal(r_own_id(r, 3, "rank", 3), 1);
    assert_int_equal(r_own_id(r, 3, "gpu", 3), 3);
    assert_int_equal(r_own_id(r, 5, "core", 2), -1);
    assert_int_equal(r_own_id(r, 3, "core", 9), -1);
    json_decref(own);
    json_decref(r);
}

/* A node that is given whole has nothing below it in a short graph: then R_lite says what there is. */
static void a_short_graph_lacks_cores(void **state)
{
    json_t
        *lite = json(
            "{\"execution\": {\"R_lite\": [{\"rank\": \"0\", \"children\": {\"core\": \"0-1\"}}]},"
            " \"scheduling\": {\"graph\": {\"nodes\": [{\"metadata\": {\"type\": \"node\"}}]}}}"),
        *nodes =
            json_object_get(json_object_get(json_object_get(lite, "scheduling"), "graph"), "nodes");

    (void)state;
    assert_false(r_graph_has_cores(lite));
    json_array_append_new(nodes, json("{\"metadata\": {\"type\": \"core\"}}"));
    assert_true(r_graph_has_cores(lite));
    json_decref(lite);
    lite = json("{\"execution\": {\"R_lite\": [{\"rank\": \"0\", \"children\": {}}]}}");
    assert_true(r_graph_has_cores(lite));
    json_decref(lite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_go_before_the_table),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(queues_have_their_own_or_what_all_have),
        cmocka_unit_test(wrong_queues_are_refused),
        cmocka_unit_test(a_graph_is_in_own_ranks),
        cmocka_unit_test(a_short_graph_lacks_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
