/* The reader of jobspecs: what becomes of a document, and where what is wrong with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/jobspec.h"
#include "jobspec/canonical.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Lines 3 and 4 of a document whose other lines are right. */
#define HEAD        "version: 1\nresources:\n"
#define TASKS       "tasks: [{command: [a], slot: s, count: {total: 1}}]\n"
#define TAIL        TASKS "attributes:\n"
#define SLOT        "- {type: slot, count: 1, label: s}\n"
#define RESOURCE(r) HEAD "- " r "\n" TAIL
#define TASK(t)     HEAD SLOT "tasks:\n- " t "\nattributes:\n"
#define SYSTEM(s)   HEAD SLOT TASKS "attributes:\n  system:\n    " s "\n"

static jobspec_t *parse(const char *text)
{
    berth_error_t err;
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    if (!spec)
        fail_msg("%s", err.text);
    return spec;
}

static void resources_stand_in_document_order(void **state)
{
    (void)state;
    jobspec_t *spec =
        parse("version: 9999\n"
              "resources:\n"
              "  - type: rack\n"
              "    count: 2\n"
              "    with:\n"
              "      - type: slot\n"
              "        label: a\n"
              "        count: {min: 3}\n"
              "        with:\n"
              "        - {type: core, count: 4, exclusive: false, property: 'isa:avx'}\n"
              "        - {type: memory, count: \"8\", unit: GB, id: \"0-3\"}\n"
              "      - {type: core, count: 0, exclusive: true, with: []}\n"
              "  - {type: xor_slot, count: 1}\n" TAIL);
    const struct jobspec_resource *r = spec->resources;
    static const uint32_t parent[] = {JOBSPEC_NONE, 0, 1, 1, 0, JOBSPEC_NONE};
    static const uint32_t next[] = {5, 4, 3, JOBSPEC_NONE, JOBSPEC_NONE, JOBSPEC_NONE};
    static const uint32_t end[] = {5, 4, 3, 4, 5, 6};
    static const uint32_t depth[] = {0, 1, 2, 2, 1, 0};
    static const uint32_t type[] = {0, 1, 2, 3, 2, 4};
    static const bool in_slot[] = {false, false, true, true, false, false};
    assert_int_equal(spec->version, 9999);
    assert_int_equal(spec->nresources, 6);
    assert_int_equal(spec->ntypes, 5);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(r[i].parent, parent[i]);
        assert_int_equal(r[i].next, next[i]);
        assert_int_equal(r[i].end, end[i]);
        assert_int_equal(r[i].depth, depth[i]);
        assert_int_equal(r[i].type_index, type[i]);
        assert_int_equal(r[i].in_slot, in_slot[i]);
        assert_ptr_equal(r[i].type, spec->types[r[i].type_index]);
    }
    assert_string_equal(r[3].type, "memory");
    assert_string_equal(r[3].unit, "GB");
    assert_string_equal(r[3].id, "0-3");
    assert_string_equal(r[2].property, "isa:avx");
    assert_null(r[3].property);
    assert_null(r[3].label);
    assert_string_equal(r[1].label, "a");
    assert_int_equal(r[1].kind, JOBSPEC_SLOT);
    assert_int_equal(r[5].kind, JOBSPEC_XOR_SLOT);
    assert_int_equal(r[1].count.min, 3);
    assert_int_equal(r[1].count.max, UINT32_MAX);
    assert_int_equal(r[3].count.max, 8);
    assert_int_equal(r[4].count.max, 0);
    assert_int_equal(r[0].exclusive, JOBSPEC_EXCLUSIVE_UNSET);
    assert_int_equal(r[2].exclusive, JOBSPEC_EXCLUSIVE_FALSE);
    assert_int_equal(r[4].exclusive, JOBSPEC_EXCLUSIVE_TRUE);
    assert_int_equal(r[2].line, 10);
    assert_int_equal(r[2].column, 11);
    jobspec_destroy(spec);
}

static void tasks_and_attributes_are_kept(void **state)
{
    (void)state;
    jobspec_t *spec = parse(
        "{\"attributes\": {\"user\": 1, \"system\": {\"duration\": 3600.25, \"queue\": \"q\", "
        "\"cwd\": \"/t\\u00e9\", \"environment\": {\"A\": \"null\", \"B\": null, \"C\": 1}, "
        "\"other\": [{}, [[]]]}},\n"
        "\"tasks\": [{\"command\": [\"a\", \"b c\"], \"slot\": \"s\", \"count\": {\"per_slot\": "
        "2}},\n{\"command\": [\"d\"], \"slot\": \"t\", \"distribution\": \"block\", \"count\": "
        "{\"per_resource\": {\"type\": \"core\", \"count\": 3}}, \"attributes\": {\"x\": 1, "
        "\"environment\": {\"D\": \"\"}}}],\n"
        "\"version\": 1, \"resources\": [{\"type\": \"slot\", \"count\": 1, \"label\": \"s\"}]}");
    assert_true(spec->duration == 3600.25);
    assert_string_equal(spec->queue, "q");
    assert_string_equal(spec->cwd, "/t\xc3\xa9");
    assert_int_equal(spec->nenvironment, 3);
    assert_string_equal(spec->environment[0].name, "A");
    assert_string_equal(spec->environment[0].value, "null");
    assert_null(spec->environment[1].value);
    assert_string_equal(spec->environment[2].value, "1");
    assert_null(spec->constraints);
    const struct jobspec_task *t = spec->tasks;
    assert_int_equal(spec->ntasks, 2);
    assert_int_equal(t[0].ncommand, 2);
    assert_string_equal(t[0].command[1], "b c");
    assert_null(t[0].command[2]);
    assert_int_equal(t[0].per, JOBSPEC_PER_SLOT);
    assert_int_equal(t[0].count, 2);
    assert_null(t[0].distribution);
    assert_int_equal(t[1].per, JOBSPEC_PER_RESOURCE);
    assert_string_equal(t[1].per_type, "core");
    assert_int_equal(t[1].count, 3);
    assert_string_equal(t[1].slot, "t");
    assert_string_equal(t[1].distribution, "block");
    assert_int_equal(t[1].nenvironment, 1);
    assert_string_equal(t[1].environment[0].value, "");
    jobspec_destroy(spec);
    jobspec_destroy(NULL);
}

static void preemption_and_dependencies_are_kept(void **state)
{
    (void)state;
    static const char json[] =
        "{\"version\": 1, \"resources\": [{\"type\": \"slot\", \"count\": 1, \"label\": \"s\"}],"
        "\"tasks\": [{\"command\": [\"a\"], \"slot\": \"s\", \"count\": {\"total\": 1}}],"
        "\"attributes\": {\"system\": {\"preemptible-after\": 1.5e2, \"dependencies\": ["
        "{\"scheme\": \"afterok\", \"value\": \"f23\"}, {\"value\": \"\", \"scheme\": \"x\"}]}}}";
    jobspec_t *spec = parse(json);
    assert_true(spec->preemptible_after == 150);
    assert_int_equal(spec->ndependencies, 2);
    assert_string_equal(spec->dependencies[0].scheme, "afterok");
    assert_string_equal(spec->dependencies[0].value, "f23");
    assert_string_equal(spec->dependencies[1].scheme, "x");
    assert_string_equal(spec->dependencies[1].value, "");
    jobspec_destroy(spec);
    /* What the quick reader leaves to libyaml, and keys that are a scheme's own. */
    spec = parse(SYSTEM("preemptible-after: !!float 0\n"
                        "    dependencies:\n"
                        "    - {scheme: string, value: foo, type: out, scope: [user, {}]}\n"
                        "    - scheme: after\n"
                        "      value: 1234"));
    assert_true(spec->preemptible_after == 0);
    assert_int_equal(spec->ndependencies, 2);
    assert_string_equal(spec->dependencies[0].value, "foo");
    assert_string_equal(spec->dependencies[1].scheme, "after");
    assert_string_equal(spec->dependencies[1].value, "1234");
    jobspec_destroy(spec);
    spec = parse(SYSTEM("sla-waiting-time: 90"));
    assert_true(spec->sla_waiting_time == 90);
    jobspec_destroy(spec);
    spec = parse(SYSTEM("dependencies: []"));
    assert_true(spec->preemptible_after == -1 && spec->sla_waiting_time == -1);
    assert_int_equal(spec->ndependencies, 0);
    jobspec_destroy(spec);
    spec = parse(SYSTEM("preemptible-after: .inf"));
    assert_true(spec->preemptible_after == (double)INFINITY && !spec->dependencies);
    jobspec_destroy(spec);
}

struct duration_row {
    const char *text;
    double value;
};

static void durations_are_numbers(void **state)
{
    (void)state;
    static const struct duration_row rows[] = {
        {"0", 0},
        {"-1", -1},
        {"+1.5", 1.5},
        {"\"60\"", 60},
        {".5", 0.5},
        {"3600.", 3600},
        {"1e3", 1000},
        {"12E-1", 1.2},
        {"0.1", 0.1},
        {"123456789012345678", 123456789012345678.0},
        {"9007199254740993", 9007199254740992.0},
        {"0.000000000000000000000000000001", 1e-30},
        {"179769313486231570000e288", 1.7976931348623157e308},
        {"4.9e-324", 4.9e-324},
        {"1e999999999", (double)INFINITY},
        {"0e999999999", 0},
        {"1e-999999999", 0},
        {".inf", (double)INFINITY},
        {"-.INF", -(double)INFINITY},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof(text), SYSTEM("duration: %s"), rows[i].text);
        jobspec_t *spec = parse(text);
        if (spec->duration != rows[i].value)
            fail_msg("%s is %.17g", rows[i].text, spec->duration);
        jobspec_destroy(spec);
    }
    jobspec_t *spec = parse(SYSTEM("duration: .NaN"));
    assert_true(isnan(spec->duration));
    jobspec_destroy(spec);
}

struct count_row {
    const char *text;
    int64_t runs; /* -1: no count */
    uint32_t min, max, operand;
    enum jobspec_operator op;
};

static void count_strings_are_read(void **state)
{
    (void)state;
    static const struct count_row rows[] = {
        {"0", 0, 0, 0, 1, JOBSPEC_ADD},
        {"4294967295", 0, UINT32_MAX, UINT32_MAX, 1, JOBSPEC_ADD},
        {"[7]", 0, 7, 7, 1, JOBSPEC_ADD},
        {"1-10:2", 0, 1, 10, 2, JOBSPEC_ADD},
        {"[2-4:2:*]", 0, 2, 4, 2, JOBSPEC_MULTIPLY},
        {"2+:3:^", 0, 2, UINT32_MAX, 3, JOBSPEC_POWER},
        {"4+", 0, 4, UINT32_MAX, 1, JOBSPEC_ADD},
        {"4-4", 0, 4, 4, 1, JOBSPEC_ADD},
        {"1-3,4,5-6", 0, 1, 6, 1, JOBSPEC_ADD},
        {"4,9,16,25", 4, 4, 25, 0, JOBSPEC_LIST},
        {"[1-3,7]", 2, 1, 7, 0, JOBSPEC_LIST},
        {"", -1, 0, 0, 0, JOBSPEC_ADD},
        {"01", -1, 0, 0, 0, JOBSPEC_ADD},
        {"4294967296", -1, 0, 0, 0, JOBSPEC_ADD},
        {"+4", -1, 0, 0, 0, JOBSPEC_ADD},
        {"-4", -1, 0, 0, 0, JOBSPEC_ADD},
        {"0+", -1, 0, 0, 0, JOBSPEC_ADD},
        {"[0]", -1, 0, 0, 0, JOBSPEC_ADD},
        {"4-3", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:0", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:1:*", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:2:^", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:2:", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:2:/", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4:2:**", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1:2", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4 ", -1, 0, 0, 0, JOBSPEC_ADD},
        {"[1-4", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-4]", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1,", -1, 0, 0, 0, JOBSPEC_ADD},
        {",1", -1, 0, 0, 0, JOBSPEC_ADD},
        {"2,1", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1-3,3", -1, 0, 0, 0, JOBSPEC_ADD},
        {"0,1", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1,5-3", -1, 0, 0, 0, JOBSPEC_ADD},
        {"1,3-9:2", -1, 0, 0, 0, JOBSPEC_ADD},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct jobspec_run runs[8];
        struct jobspec_count c = {.min = 77};
        errno = 0;
        int64_t found = jobspec_count_parse(rows[i].text, &c, runs, COUNT(runs));
        if (found != rows[i].runs)
            fail_msg("'%s': %d", rows[i].text, (int)found);
        if (found < 0) {
            assert_int_equal(errno, EINVAL);
            assert_int_equal(c.min, 77);
            continue;
        }
        assert_int_equal(c.min, rows[i].min);
        assert_int_equal(c.max, rows[i].max);
        assert_int_equal(c.operand, rows[i].operand);
        assert_int_equal(c.op, rows[i].op);
        assert_int_equal(c.nruns, rows[i].runs);
    }
}

struct error_row {
    const char *text;
    const char *expected;
};

#define KEYS                                                                                       \
    "unknown in a resource, expected type, count, with, label, exclusive, unit, id, property"
#define TIME  "expected a number of seconds, got "
#define AFTER "expected a number of seconds, at least 0, got "

static const struct error_row error_rows[] = {
    /* the document */
    {"", "line 1, column 1: expected a mapping, got nothing"},
    {"# a comment\n", "line 1, column 1: expected a mapping, got nothing"},
    {"- 1\n", "line 1, column 1: expected a jobspec as a mapping, got a list"},
    {"\n  x\n", "line 2, column 3: expected a jobspec as a mapping, got a scalar"},
    {"a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"},
    {"a: \"x\n", "line 2, column 1: found unexpected end of stream"},
    {"a: 1\nb: \xff\n", "line 2, column 4: invalid leading UTF-8 octet"},
    {"a: 1\nb: \x01\n", "line 2, column 4: control characters are not allowed"},
    {"a: \"\\0\"\n", "line 1, column 4: expected text without zero bytes"},
    {"a: &x 1\nb: *x\n", "line 2, column 4: expected a value, not an alias of one"},
    {"a: 1\nb: 2\na: 3\n", "line 3, column 1: key \"a\": expected once in a mapping"},
    {"[a]: 1\n", "line 1, column 1: expected a scalar as a key"},
    {"--- {}\n--- {}\n", "line 2, column 1: expected one document, not several"},
    /* the top */
    {"version: 1\n", "line 1, column 1: key \"resources\": expected in a jobspec, is missing"},
    {HEAD SLOT TAIL "more: 1\n",
     "line 6, column 1: key \"more\": unknown in a jobspec, expected version, "
     "resources, tasks, attributes"},
    {"version: 0\nresources: 1\ntasks: 2\nattributes: 3\n",
     "line 1, column 10: key \"version\": expected a number from 1 to 9999, got \"0\""},
    {"version: 10000\nresources: 1\ntasks: 2\nattributes: 3\n",
     "line 1, column 10: key \"version\": expected a number from 1 to 9999, got \"10000\""},
    /* resources */
    {"version: 1\nresources: 1\n" TAIL,
     "line 2, column 12: key \"resources\": expected a list of resources, got \"1\""},
    {"version: 1\nresources: []\n" TAIL,
     "line 2, column 12: key \"resources\": expected at least one resource"},
    {RESOURCE("x"), "line 3, column 3: expected a resource as a mapping, got a scalar"},
    {RESOURCE("{type: a}"), "line 3, column 3: key \"count\": expected in a resource, is missing"},
    {RESOURCE("{count: 1}"), "line 3, column 3: key \"type\": expected in a resource, is missing"},
    {RESOURCE("{type: a, count: 1, cuont: 1}"), "line 3, column 23: key \"cuont\": " KEYS},
    {RESOURCE("{type: [], count: 1}"),
     "line 3, column 10: key \"type\": expected a string, got a list"},
    {RESOURCE("{type: ~, count: 1}"),
     "line 3, column 10: key \"type\": expected a string, got nothing"},
    {RESOURCE("{type: slot, count: 1}"),
     "line 3, column 3: key \"label\": expected in a slot, is missing"},
    {RESOURCE("{type: a, count: -1}"),
     "line 3, column 20: key \"count\": expected a count from 0 to 4294967295, a range or a "
     "mapping, got \"-1\""},
    {RESOURCE("{type: a, count: 1.0}"),
     "line 3, column 20: key \"count\": expected a count from 0 to 4294967295, a range or a "
     "mapping, got \"1.0\""},
    {RESOURCE("{type: a, count: [1]}"),
     "line 3, column 20: key \"count\": expected a number, a range or a mapping, got a list"},
    {RESOURCE("{type: a, count: {max: 1}}"),
     "line 3, column 20: key \"min\": expected in a count, is missing"},
    {RESOURCE("{type: a, count: {min: 1, max: 2}}"),
     "line 3, column 20: key \"count\": expected either all or none of max, operator, operand"},
    {RESOURCE("{type: a, count: {min: 3, max: 2, operator: +, operand: 1}}"),
     "line 3, column 20: key \"count\": expected a maximum that is not below the minimum"},
    {RESOURCE("{type: a, count: {min: 3, max: 4, operator: +, operand: 0}}"),
     "line 3, column 20: key \"count\": expected an operand of at least 1 for '+'"},
    {RESOURCE("{type: a, count: {min: 3, max: 4, operator: '', operand: 1}}"),
     "line 3, column 47: key \"operator\": expected '+', '*' or '^', got \"\""},
    {RESOURCE("{type: a, count: 1, exclusive: yes}"),
     "line 3, column 34: key \"exclusive\": expected true or false, got \"yes\""},
    {RESOURCE("{type: a, count: 1, with: {}}"),
     "line 3, column 29: key \"with\": expected a list of resources, got a mapping"},
    {RESOURCE("{type: a, count: 1, with: [{type: b, count: 1, with: [{type: c}]}]}"),
     "line 3, column 57: key \"count\": expected in a resource, is missing"},
    {RESOURCE("{type: a, count: \"a string that is longer than what an error shows of it\"}"),
     "line 3, column 20: key \"count\": expected a count from 0 to 4294967295, a range or a "
     "mapping, got \"a string that is longer than what an err...\""},
    /* tasks */
    {TASK("{slot: s, count: {total: 1}}"),
     "line 5, column 3: key \"command\": expected in a task, is missing"},
    {TASK("{command: a, slot: s, count: {total: 1}}"),
     "line 5, column 13: key \"command\": expected a list of strings, got \"a\""},
    {TASK("{command: [], slot: s, count: {total: 1}}"),
     "line 5, column 13: key \"command\": expected at least one string"},
    {TASK("{command: [a, []], slot: s, count: {total: 1}}"),
     "line 5, column 17: key \"command\": expected a string, got a list"},
    {TASK("{command: [a], slot: s, count: 1}"),
     "line 5, column 34: expected the count of a task as a mapping, got a scalar"},
    {TASK("{command: [a], slot: s, count: {}}"),
     "line 5, column 34: key \"count\": expected one of per_slot, per_resource and total, got 0"},
    {TASK("{command: [a], slot: s, count: {total: 0}}"),
     "line 5, column 42: key \"total\": expected a number from 1 to 4294967295, got \"0\""},
    {TASK("{command: [a], slot: s, count: {per_resource: {type: a}}}"),
     "line 5, column 49: key \"count\": expected in per_resource, is missing"},
    {TASK("{command: [a], slot: s, count: {total: 1}, attributes: 1}"),
     "line 5, column 58: key \"attributes\": expected a mapping, got \"1\""},
    /* attributes */
    {HEAD SLOT TASKS "attributes: {sytem: 1}\n",
     "line 5, column 14: key \"sytem\": unknown in the attributes, expected user, system"},
    {HEAD SLOT TASKS "attributes: {system: 1}\n",
     "line 5, column 22: key \"system\": expected a mapping, got \"1\""},
    {SYSTEM("duration: 1h"), "line 7, column 15: key \"duration\": " TIME "\"1h\""},
    {SYSTEM("duration: 1e"), "line 7, column 15: key \"duration\": " TIME "\"1e\""},
    {SYSTEM("duration: ."), "line 7, column 15: key \"duration\": " TIME "\".\""},
    {SYSTEM("duration: 0x10"), "line 7, column 15: key \"duration\": " TIME "\"0x10\""},
    {SYSTEM("duration:"), "line 7, column 14: key \"duration\": " TIME "nothing"},
    {SYSTEM("queue: [a]"), "line 7, column 12: key \"queue\": expected a string, got a list"},
    {SYSTEM("environment: a"),
     "line 7, column 18: key \"environment\": expected a mapping, got \"a\""},
    {SYSTEM("environment: {A: {}}"),
     "line 7, column 22: key \"A\": expected a string or null, got a mapping"},
    {SYSTEM("preemptible-after: -1"),
     "line 7, column 24: key \"preemptible-after\": " AFTER "\"-1\""},
    {SYSTEM("preemptible-after: .nan"),
     "line 7, column 24: key \"preemptible-after\": " AFTER "\".nan\""},
    {SYSTEM("sla-waiting-time: -1"),
     "line 7, column 23: key \"sla-waiting-time\": " AFTER "\"-1\""},
    {SYSTEM("preemptible-after: 5m"),
     "line 7, column 24: key \"preemptible-after\": " AFTER "\"5m\""},
    {SYSTEM("preemptible-after:"),
     "line 7, column 23: key \"preemptible-after\": " AFTER "nothing"},
    {SYSTEM("dependencies: afterok:1"),
     "line 7, column 19: key \"dependencies\": expected a list of mappings with scheme and value, "
     "got \"afterok:1\""},
    {SYSTEM("dependencies: [a]"), "line 7, column 20: key \"dependencies\": expected a mapping "
                                  "with scheme and value, got \"a\""},
    {SYSTEM("dependencies: [{scheme: after}]"),
     "line 7, column 20: key \"value\": expected in a dependency, is missing"},
    {SYSTEM("dependencies: [{value: 1}]"),
     "line 7, column 20: key \"scheme\": expected in a dependency, is missing"},
    {SYSTEM("dependencies: [{scheme: [], value: 1}]"),
     "line 7, column 29: key \"scheme\": expected a string, got a list"},
    {SYSTEM("dependencies: [{scheme: after, value: null}]"),
     "line 7, column 43: key \"value\": expected a string, got nothing"},
    /* constraints */
    {SYSTEM("constraints: []"),
     "line 7, column 18: key \"constraints\": expected a mapping with one operator, got a list"},
    {SYSTEM("constraints: {and: [], or: []}"),
     "line 7, column 18: key \"constraints\": expected a mapping with one operator, got a "
     "mapping"},
    {SYSTEM("constraints: {nor: []}"),
     "line 7, column 19: key \"constraints\": unknown constraint operator: nor, expected "
     "properties, hostlist, ranks, and, or, not"},
    {SYSTEM("constraints: {not: {}}"),
     "line 7, column 24: key \"not\": expected a list, got a mapping"},
    {SYSTEM("constraints: {properties: [a]}"),
     "line 7, column 32: key \"properties\": expected strings in quotes, got \"a\""},
    {SYSTEM("constraints: {properties: [\"a\", \"a|b\"]}"),
     "line 7, column 37: key \"properties\": a|b is invalid, expected names without any of "
     "!&'\"^`|()"},
    {SYSTEM("constraints: {and: [{ranks: [\"0-\"]}]}"),
     "line 7, column 34: key \"ranks\": expected ids such as \"0-3,7\", got \"0-\""},
    {SYSTEM("constraints: {hostlist: [\"a[1\"]}"),
     "line 7, column 30: key \"hostlist\": expected hosts such as \"node[1-8]\", got \"a[1\""},
};

/* ---- Gangs ---- */

/* Two slots, each with a task. */
#define TWO                                                                                        \
    "version: 9999\nresources:\n- {type: slot, label: server, count: 1, with: [{type: core, "      \
    "count: 4}]}\n- {type: node, count: 1, with: [{type: slot, label: worker, count: 2, with: "    \
    "[{type: gpu, count: 1}]}]}\ntasks:\n- {command: [./server, '-v'], slot: server, count: "      \
    "{per_slot: 1}}\n- {command: [./train], slot: worker, count: {total: 6}}\nattributes:\n  "     \
    "system:\n    duration: 90.5\n    queue: night\n    constraints: {properties: ['big']}\n    "  \
    "gang: "

static void a_gang_has_members_and_a_min(void **state)
{
    static const struct {
        const char *text;
        uint32_t members, min;
        enum jobspec_failure failure;
    } rows[] = {
        {"gang: 8", 8, 8, JOBSPEC_FAIL_ALL},
        {"gang: {members: 8}", 8, 8, JOBSPEC_FAIL_ALL},
        {"gang: {min: 6, members: 8, failure: replace}", 8, 6, JOBSPEC_FAIL_REPLACE},
        {"gang: {members: 1000000, min: 1, failure: go-on}", 1000000, 1, JOBSPEC_FAIL_GO_ON},
        {"other: 1", 0, 0, JOBSPEC_FAIL_ALL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof(text), SYSTEM("%s"), rows[i].text);
        jobspec_t *spec = parse(text);
        assert_int_equal(spec->gang.members, rows[i].members);
        assert_int_equal(spec->gang.min, rows[i].min);
        assert_int_equal(spec->gang.failure, rows[i].failure);
        assert_null(spec->gang.roles);
        jobspec_destroy(spec);
    }
}

static void roles_have_slots_of_their_own(void **state)
{
    (void)state;
    jobspec_t *spec =
        parse(TWO "{roles: {worker: {count: 8, min: 6}, server: }, failure: go-on}\n");
    const struct jobspec_gang *gang = &spec->gang;
    assert_int_equal(gang->members, 9);
    assert_int_equal(gang->min, 7);
    assert_int_equal(gang->failure, JOBSPEC_FAIL_GO_ON);
    assert_int_equal(gang->nroles, 2);
    assert_string_equal(gang->roles[0].name, "worker");
    assert_int_equal(gang->roles[0].resource, 2);
    assert_int_equal(gang->roles[0].count, 8);
    assert_int_equal(gang->roles[0].min, 6);
    assert_string_equal(gang->roles[1].name, "server");
    assert_int_equal(gang->roles[1].resource, 0);
    assert_int_equal(gang->roles[1].min, 1);
    char *worker = jobspec_of_role(spec, &gang->roles[0]);
    char *server = jobspec_of_role(spec, &gang->roles[1]);
    jobspec_destroy(spec);

    /* What a member of each asks for is a jobspec. */
    spec = parse(worker);
    assert_int_equal(spec->nresources, 3);
    assert_string_equal(spec->resources[0].type, "node");
    assert_int_equal(spec->resources[1].count.min, 2);
    assert_string_equal(spec->resources[2].type, "gpu");
    assert_int_equal(spec->ntasks, 1);
    assert_string_equal(spec->tasks[0].command[0], "./train");
    assert_int_equal(spec->tasks[0].per, JOBSPEC_TOTAL);
    assert_int_equal(spec->tasks[0].count, 6);
    assert_string_equal(spec->tasks[0].slot, spec->resources[1].label);
    assert_true(spec->duration == 90.5);
    assert_string_equal(spec->queue, "night");
    assert_true(jobspec_constraint_only_properties(spec->constraints));
    assert_non_null(spec->constraints);
    assert_int_equal(spec->gang.members, 0);
    jobspec_destroy(spec);
    spec = parse(server);
    assert_int_equal(spec->nresources, 2);
    assert_int_equal(spec->resources[1].count.min, 4);
    assert_int_equal(spec->ntasks, 1);
    assert_string_equal(spec->tasks[0].command[1], "-v");
    jobspec_destroy(spec);
    free(worker);
    free(server);
}

static void wrong_gangs_are_refused(void **state)
{
    static const struct {
        const char *gang, *expected;
    } rows[] = {
        {"1", "key \"gang\": expected a number from 2 to 1000000, got \"1\""},
        {"[]", "key \"gang\": expected a number from 2 to 1000000, got a list"},
        {"{min: 2}", "key \"gang\": expected members or roles"},
        {"{members: 1000001}", "key \"members\": expected a number up to 1000000, got \"1000001\""},
        {"{members: 3, min: 4}",
         "key \"min\": expected at most as many as there are members, got \"4\""},
        {"{members: 3, min: 0}",
         "key \"min\": expected a number of members, at least 1, got \"0\""},
        {"{members: 3, failure: some}",
         "key \"failure\": expected all, go-on or replace, got \"some\""},
        {"{members: 3, count: 4}",
         "key \"count\": unknown in a gang, expected members, min, failure, roles"},
        {"{roles: {server: 1, worker: 2}, min: 2}",
         "key \"roles\": expected neither members nor min beside it, got a mapping"},
        {"{roles: {server: 2}}",
         "key \"roles\": expected a role for all resources at the top, got a mapping"},
        {"{roles: {server: 1, other: 2}}",
         "role \"other\": expected the label of one slot, with a task"},
        {"{roles: {server: {min: 0}, worker: {count: 4, min: 0}}}",
         "key \"roles\": expected 2 to 1000000 members, of which one starts, got a mapping"},
        {"{roles: {server: 0, worker: 2}}",
         "key \"count\": expected a number of members, at least 1, got \"0\""},
        {"{roles: {server: 1, worker: {count: 2, min: 3}}}",
         "key \"min\": expected at most as many as there are members, got \"3\""},
        {"{roles: []}", "key \"roles\": expected a mapping from 1 to 16 labels of slots to numbers "
                        "of members, got a list"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[1200];
        berth_error_t err = {""};
        snprintf(text, sizeof(text), TWO "%s\n", rows[i].gang);
        assert_null(jobspec_parse(text, strlen(text), NULL, &err));
        assert_int_equal(errno, EINVAL);
        if (!strstr(err.text, rows[i].expected))
            fail_msg("%s: %s", rows[i].gang, err.text);
        assert_memory_equal(err.text, "line 13, column ", 16);
    }
}

static void errors_say_where_and_what(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(error_rows); i++) {
        const struct error_row *row = &error_rows[i];
        berth_error_t err = {""};
        errno = 0;
        jobspec_t *spec = jobspec_parse(row->text, strlen(row->text), NULL, &err);
        if (spec)
            fail_msg("accepted: %s", row->text);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, row->expected);
        assert_null(jobspec_parse(row->text, strlen(row->text), NULL, NULL));
    }
}

static void a_wide_mapping_has_no_key_twice(void **state)
{
    (void)state;
    enum { KEYS_WIDE = 3000 };
    static char text[KEYS_WIDE * 16 + 200];
    size_t used = (size_t)sprintf(text, SYSTEM("other:"));
    for (int i = 0; i < KEYS_WIDE; i++)
        used += (size_t)sprintf(text + used, "      k%d:\n", i == 2900 ? 40 : i == 2950 ? 10 : i);
    berth_error_t err;
    assert_null(jobspec_parse(text, used, NULL, &err));
    assert_string_equal(err.text, "line 2908, column 7: key \"k40\": expected once in a mapping");
}

static void what_is_too_deep_or_too_large_is_refused(void **state)
{
    (void)state;
    berth_error_t err;
    char text[300] = SYSTEM("other: ");
    size_t used = strlen(text); /* the last is a newline */
    memset(text + used - 1, '[', 62);
    assert_null(jobspec_parse(text, used + 61, NULL, &err));
    assert_string_equal(err.text,
                        "line 7, column 73: expected at most 64 levels of lists and mappings");
    memset(text + used - 1, '[', 61);
    memset(text + used + 60, ']', 61);
    jobspec_t *spec = jobspec_parse(text, used + 121, NULL, &err);
    assert_non_null(spec);
    jobspec_destroy(spec);

    char *large = malloc(JOBSPEC_TEXT_MAX + 1);
    assert_non_null(large);
    memset(large, ' ', JOBSPEC_TEXT_MAX + 1);
    errno = 0;
    assert_null(jobspec_parse(large, JOBSPEC_TEXT_MAX + 1, NULL, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "line 1, column 1: expected at most 16 MiB of text");
    free(large);
}

static void there_are_only_so_many_types(void **state)
{
    (void)state;
    for (int n = JOBSPEC_TYPES_MAX; n <= JOBSPEC_TYPES_MAX + 1; n++) {
        static char text[(JOBSPEC_TYPES_MAX + 2) * 32];
        size_t used = (size_t)sprintf(text, HEAD);
        for (int i = 0; i < n; i++)
            used += (size_t)sprintf(text + used, "- {type: t%d, count: 1}\n", i);
        used += (size_t)sprintf(text + used, TAIL);
        berth_error_t err;
        jobspec_t *spec = jobspec_parse(text, used, NULL, &err);
        assert_int_equal(spec != NULL, n == JOBSPEC_TYPES_MAX);
        if (!spec)
            assert_string_equal(
                err.text,
                "line 259, column 10: key \"type\": expected at most 256 different types");
        jobspec_destroy(spec);
    }
}

static bool is_known(const void *arg, const char *type)
{
    return strcmp(type, arg) == 0;
}

static void types_are_asked_for_and_the_file_is_named(void **state)
{
    (void)state;
    static const char text[] = RESOURCE("{type: node, count: 1, with: [{type: slot, count: 1, "
                                        "label: s, with: [{type: gqu, count: 1}]}]}");
    struct jobspec_options options = {.name = "job.yaml", .knows_type = is_known, .arg = "node"};
    berth_error_t err;
    assert_null(jobspec_parse(text, strlen(text), &options, &err));
    assert_string_equal(
        err.text,
        "job.yaml:3:80: key \"type\": expected a type of resource that is known, got \"gqu\"");
    static const char good[] = RESOURCE("{type: node, count: 1}");
    jobspec_t *spec = jobspec_parse(good, strlen(good), &options, &err);
    assert_non_null(spec);
    jobspec_destroy(spec);
}

struct match_row {
    const char *constraints;
    bool expected; /* for the host node3 of rank 3 with the properties "a" and "b" */
};

static bool a_or_b(const void *arg, const char *property)
{
    (void)arg;
    return strcmp(property, "a") == 0 || strcmp(property, "b") == 0;
}

static void constraints_match(void **state)
{
    (void)state;
    static const struct match_row rows[] = {
        {"{}", true},
        {"{and: []}", true},
        {"{or: []}", true},
        {"{not: []}", false},
        {"{not: [{}]}", false},
        {"{properties: []}", true},
        {"{properties: ['a']}", true},
        {"{properties: ['a', 'b']}", true},
        {"{properties: ['a', 'c']}", false},
        {"{properties: ['^c']}", true},
        {"{properties: ['a', '^b']}", false},
        {"{hostlist: ['node[1-3]']}", true},
        {"{hostlist: ['node[4-9]', 'x,node3']}", true},
        {"{hostlist: ['node[4-9]', 'node03']}", false},
        {"{hostlist: []}", false},
        {"{ranks: [0]}", false},
        {"{ranks: [0, '2-4']}", true},
        {"{ranks: ['[4-9]', '0-2']}", false},
        {"{or: [{ranks: [0]}, {properties: ['b']}]}", true},
        {"{or: [{ranks: [0]}, {properties: ['c']}]}", false},
        {"{and: [{ranks: [3]}, {properties: ['b']}]}", true},
        {"{and: [{ranks: [3]}, {properties: ['c']}]}", false},
        {"{not: [{ranks: [3]}, {properties: ['c']}]}", true},
        {"{not: [{ranks: [3]}, {properties: ['a']}]}", false},
        {"{and: [{or: [{and: [{ranks: [1]}, {ranks: [3]}]}, {not: [{ranks: [4]}]}]}, "
         "{hostlist: [node3]}]}",
         true},
    };
    struct jobspec_target target = {.name = "node3", .rank = 3, .has_property = a_or_b};
    struct jobspec_target nothing = {.rank = -1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof(text), SYSTEM("constraints: %s"), rows[i].constraints);
        jobspec_t *spec = parse(text);
        assert_non_null(spec->constraints);
        if (jobspec_constraint_match(spec->constraints, &target) != rows[i].expected)
            fail_msg("%s", rows[i].constraints);
        jobspec_constraint_match(spec->constraints, &nothing);
        jobspec_destroy(spec);
    }
    assert_true(jobspec_constraint_match(NULL, &target));
}

static void constraints_may_ask_for_properties_alone(void **state)
{
    (void)state;
    static const struct {
        const char *constraints;
        bool expected;
    } rows[] = {
        {"{}", true},
        {"{properties: ['a', '^b']}", true},
        {"{and: [{or: [{properties: ['a']}]}, {not: [{}]}]}", true},
        {"{hostlist: ['x']}", false},
        {"{ranks: [0]}", false},
        {"{and: [{properties: ['a']}, {not: [{ranks: [1]}]}]}", false},
        {"{or: [{properties: ['a']}, {hostlist: []}]}", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof(text), SYSTEM("constraints: %s"), rows[i].constraints);
        jobspec_t *spec = parse(text);
        if (jobspec_constraint_only_properties(spec->constraints) != rows[i].expected)
            fail_msg("%s", rows[i].constraints);
        jobspec_destroy(spec);
    }
    assert_true(jobspec_constraint_only_properties(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_may_ask_for_properties_alone),
        cmocka_unit_test(resources_stand_in_document_order),
        cmocka_unit_test(tasks_and_attributes_are_kept),
        cmocka_unit_test(preemption_and_dependencies_are_kept),
        cmocka_unit_test(durations_are_numbers),
        cmocka_unit_test(count_strings_are_read),
        cmocka_unit_test(a_gang_has_members_and_a_min),
        cmocka_unit_test(roles_have_slots_of_their_own),
        cmocka_unit_test(wrong_gangs_are_refused),
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(a_wide_mapping_has_no_key_twice),
        cmocka_unit_test(what_is_too_deep_or_too_large_is_refused),
        cmocka_unit_test(there_are_only_so_many_types),
        cmocka_unit_test(types_are_asked_for_and_the_file_is_named),
        cmocka_unit_test(constraints_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
