/* Flux's configuration as the module's, and R as the two exchange it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "flux/r.h"
#include "flux/settings.h"
#include "flux/slots.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static json_t *json(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);

    assert_non_null(value);
    return value;
}

/* JSON with ' for ". */
static json_t *quoted(const char *text)
{
    char copy[512];

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *value = json_loads(copy, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

static struct config *read(const char *text, berth_error_t *err)
{
    json_t *conf = json(text);
    struct config *config = settings_read(conf, 1000000, err);

    json_decref(conf);
    return config;
}

static const struct sched_queue_config *queue(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->sched.n_queues; i++)
        if (strcmp(c->sched.queues[i].name, name) == 0)
            return &c->sched.queues[i];
    fail_msg("no queue %s", name);
    return NULL;
}

static void without_a_table_there_are_defaults(void **state)
{
    berth_error_t err;
    struct config *c = read("{}", &err);

    (void)state;
    assert_non_null(c);
    assert_int_equal(c->sched.n_queues, 1);
    assert_string_equal(c->sched.queues[0].name, "default");
    assert_int_equal(c->sched.second, 1000000);
    config_destroy(c);
}

/* What [queues] says and what [sched-berth.queues] does are one; Flux's default queue is the default. */
static void queues_are_joined(void **state)
{
    berth_error_t err = {""};
    struct config *c =
        read("{\"queues\":{\"batch\":{\"requires\":[\"slow\"]},\"debug\":{},\"low\":{\"parent\":"
             "\"batch\"}},"
             "\"policy\":{\"jobspec\":{\"defaults\":{\"system\":{\"queue\":\"debug\"}}}},"
             "\"sched-berth\":{\"match\":{\"policy\":\"low\"},\"queues\":{\"batch\":{\"policy\":"
             "\"hybrid\","
             "\"reservation-depth\":7},\"low\":{\"priority\":-5}}}}",
             &err);

    (void)state;
    if (!c)
        fail_msg("%s", err.text);
    assert_int_equal(c->sched.n_queues, 3);
    assert_string_equal(c->match.policy, "low");
    assert_string_equal(c->sched.default_queue, "debug");
    assert_string_equal(queue(c, "batch")->requires, "{\"properties\": [\"slow\"]}");
    assert_int_equal(queue(c, "batch")->reservation_depth, 7);
    assert_null(queue(c, "debug")->requires);
    assert_string_equal(queue(c, "low")->parent, "batch");
    assert_int_equal(queue(c, "low")->priority, -5);
    config_destroy(c);
}

/* TOML has dates; Flux passes one on as an object. */
static void dates_are_read(void **state)
{
    berth_error_t err = {""};
    struct config *c =
        read("{\"sched-berth\":{\"blocks\":[{\"name\":\"maint\",\"resources\":\"node0\",\"start\":"
             "{\"iso-8601-ts\":\"2027-01-01T00:00:00Z\"},\"duration\":\"1h\"}]}}",
             &err);

    (void)state;
    if (!c)
        fail_msg("%s", err.text);
    assert_int_equal(c->sched.n_blocks, 1);
    assert_int_equal(c->sched.blocks[0].start, INT64_C(1798761600000000));
    config_destroy(c);
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *conf, *why;
    } rows[] = {
        {"{\"sched-berth\":7}", "sched-berth: expected a table"},
        {"{\"sched-berth\":{\"queues\":7}}", "sched-berth.queues: expected a table"},
        {"{\"queues\":{\"a\":{}},\"sched-berth\":{\"queues\":{\"a\":7}}}",
         "sched-berth.queues.a: expected a table"},
        {"{\"sched-berth\":{\"resources\":{\"nodes\":3}}}",
         "sched-berth: key \"resources\": expected none, as Flux has the machine"},
        {"{\"sched-berth\":{\"server\":{}}}",
         "sched-berth: key \"server\": expected none, as Flux has the machine"},
        {"{\"sched-berth\":{\"queues\":{\"a\":{}}}}",
         "sched-berth.queues.a: there is no [queues.a]"},
        {"{\"queues\":{\"a\":{}},\"sched-berth\":{\"queues\":{\"a\":{\"requires\":[\"x\"]}}}}",
         "sched-berth.queues.a: key \"requires\" or \"parent\": expected in [queues.a]"},
        {"{\"queues\":{\"a\":{}},\"sched-berth\":{\"queues\":{\"a\":{\"preemptible\":\"requeue\"}}}"
         "}",
         "sched-berth: queue a: key \"preemptible\": expected no or cancel, as Flux requeues no "
         "job"},
        {"{\"sched-berth\":{\"passes\":{\"max-events\":-1}}}",
         "sched-berth: key \"max-events\": expected a whole number from 0 to 1000000000000000, got "
         "\"-1\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_null(read(rows[i].conf, &err));
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, rows[i].why);
    }
}

static void ranks_are_read(void **state)
{
    json_t *r = json("{\"execution\":{\"R_lite\":[{\"rank\":\"0-2\"},{\"rank\":\"5\"}]}}"),
           *bad = json("{\"execution\":{\"R_lite\":[{\"rank\":\"2-0\"}]}}");
    struct idset ranks = {0};
    berth_error_t err;

    (void)state;
    assert_int_equal(r_ranks(r, &ranks, &err), 0);
    assert_int_equal(ranks.count, 4);
    assert_true(idset_has(&ranks, 5) && !idset_has(&ranks, 3));
    idset_reset(&ranks);
    assert_int_equal(r_ranks(bad, &ranks, &err), -1);
    assert_int_equal(errno, EINVAL);
    idset_clear(&ranks);
    json_decref(r);
    json_decref(bad);
}

static void times_keep_their_microseconds(void **state)
{
    json_t *r = json("{\"execution\":{\"R_lite\":[]}}");
    int64_t at, until;

    (void)state;
    assert_int_equal(r_times(r, 1000000, &at, &until), -1);
    assert_int_equal(r_set_times(r, 1000000, INT64_C(1795331901545227), INT64_C(1795335501999999)),
                     0);
    assert_int_equal(r_times(r, 1000000, &at, &until), 0);
    assert_int_equal(at, INT64_C(1795331901545227));
    assert_int_equal(until, INT64_C(1795335501999999));
    assert_int_equal(r_set_times(r, 1000000, 1000000, INT64_MAX), 0);
    assert_true(json_real_value(json_object_get(json_object_get(r, "execution"), "expiration")) ==
                0);
    assert_int_equal(r_times(r, 1000000, &at, &until), 0);
    assert_int_equal(until, INT64_MAX);
    json_decref(r);
}

/* RFC 20, 40: a graph without a writer is Fluxion's, one of another writer is not for us. */
static void a_graph_is_read_if_it_is_known(void **state)
{
    static const struct {
        const char *r, *format;
    } rows[] = {
        {"{\"execution\":{}}", "rv1exec"},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{}}}", "jgf"},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{},\"writer\":\"fluxion\"}}", "jgf"},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{},\"writer\":\"fluxion:jgf_shorthand\"}}",
         "jgf_shorthand"},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{},\"writer\":\"other\"}}", "rv1exec"},
        {"{\"execution\":{},\"scheduling\":{}}", "rv1exec"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *r = json(rows[i].r);
        const char *format;
        const json_t *part = r_readable(r, &format);
        assert_string_equal(format, rows[i].format);
        assert_true((part == r) == (strcmp(format, "rv1exec") == 0));
        json_decref(r);
    }
}

/* RFC 20: without a writer `scheduling` is Fluxion's, and then it has to have a graph. */
static void scheduling_without_a_graph_is_refused(void **state)
{
    static const struct {
        const char *r;
        int rc;
    } rows[] = {
        {"{\"execution\":{}}", 0},
        {"{\"execution\":{},\"scheduling\":null}", 0},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{}}}", 0},
        {"{\"execution\":{},\"scheduling\":{\"graph\":{},\"writer\":\"fluxion:jgf\"}}", 0},
        {"{\"execution\":{},\"scheduling\":{\"writer\":\"other\"}}", 0},
        {"{\"execution\":{},\"scheduling\":{}}", -1},
        {"{\"execution\":{},\"scheduling\":{\"graph\":[]}}", -1},
        {"{\"execution\":{},\"scheduling\":\"nonsense\"}", -1},
        {"{\"execution\":{},\"scheduling\":{\"writer\":\"fluxion\"}}", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *r = json(rows[i].r);
        berth_error_t err = {""};
        assert_int_equal(r_check_scheduling(r, &err), rows[i].rc);
        if (rows[i].rc < 0)
            assert_string_equal(err.text, "R: scheduling: expected an object with a graph");
        json_decref(r);
    }
}

/* A graph has the ranks of R_lite, or others in their place; with more ranks than these some have gone. */
static void graphs_have_all_ranks(void **state)
{
    static const struct {
        const char *lite, *nodes, *text; /* NULL: no error */
    } rows[] = {
        {"0-1", "{\"metadata\":{\"rank\":0}},{\"metadata\":{\"rank\":1}}", NULL},
        {"0-1", "{\"metadata\":{\"rank\":4}},{\"metadata\":{\"rank\":7}}", NULL},
        {"0", "{\"metadata\":{\"rank\":0}},{\"metadata\":{\"rank\":1}}", NULL},
        {"0-2", "{\"metadata\":{\"rank\":-1}},{\"metadata\":{\"rank\":1}}",
         "R: scheduling: expected a graph with all ranks, without 0,2"},
        {"0-1", "", "R: scheduling: expected a graph with all ranks, without 0-1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "{\"execution\":{\"R_lite\":[{\"rank\":\"%s\"}]},\"scheduling\":{\"graph\":{"
                 "\"nodes\":[%s]}}}",
                 rows[i].lite, rows[i].nodes);
        json_t *r = json(text);
        berth_error_t err = {""};
        assert_int_equal(r_check_graph_ranks(r, &err), rows[i].text ? -1 : 0);
        assert_string_equal(err.text, rows[i].text ? rows[i].text : "");
        json_decref(r);
    }
}

/* What is in a slot is the job's alone; said where the slot names nothing to run on. */
static void slots_of_whole_nodes_are_written_out(void **state)
{
    static const struct {
        const char *resources, *written; /* NULL: as it was */
    } rows[] = {
        {"[{'type':'slot','with':[{'type':'core','count':1}]}]", NULL},
        {"[{'type':'node','with':[{'type':'slot','with':[{'type':'gpu'}]}]}]", NULL},
        {"[{'type':'slot','with':[{'type':'node','with':[{'type':'core'}]}]}]", NULL},
        {"[{'type':'slot','with':[{'type':'node','exclusive':false}]}]", NULL},
        {"[{'type':'node'}]", NULL},
        {"[{'type':'slot','with':[{'type':'node','count':2}]}]",
         "[{'type':'slot','with':[{'type':'node','count':2,'exclusive':true}]}]"},
        {"[{'type':'rack','with':[{'type':'slot','with':[{'type':'node','with':[{'type':'memory'}]}"
         "]}]}]",
         "[{'type':'rack','with':[{'type':'slot','with':[{'type':'node','with':[{'type':'memory'}],"
         "'exclusive':true}]}]}]"},
        {"7", NULL},
        {"[7,{'type':'slot','with':[7]},{'type':'slot','with':7}]", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *written = rows[i].written ? rows[i].written : rows[i].resources;
        json_t *spec = json_object(), *wanted = quoted(written);
        json_object_set_new(spec, "resources", quoted(rows[i].resources));
        json_t *result = slots_written_out(spec);
        assert_true((result == spec) == !rows[i].written);
        assert_true(json_equal(json_object_get(result, "resources"), wanted));
        json_decref(result);
        json_decref(wanted);
        json_decref(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_table_there_are_defaults),
        cmocka_unit_test(queues_are_joined),
        cmocka_unit_test(dates_are_read),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(ranks_are_read),
        cmocka_unit_test(times_keep_their_microseconds),
        cmocka_unit_test(a_graph_is_read_if_it_is_known),
        cmocka_unit_test(scheduling_without_a_graph_is_refused),
        cmocka_unit_test(graphs_have_all_ranks),
        cmocka_unit_test(slots_of_whole_nodes_are_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
