/* What hwloc sees as a graph: a machine from its XML, the one this test runs on, and plain arrays. */
#include "graph_look.h"

#include <errno.h>
#include <inttypes.h>

#include "../property/random.h"
#include "config/hwloc_load.h"
#include "resource/readers/machine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BITS(of, set)                                                                              \
    " cpuset='" of "' complete_cpuset='" of "' allowed_cpuset='" of "' nodeset='" set              \
    "' complete_nodeset='" set "' allowed_nodeset='" set "'"
#define SETS(of, set)                                                                              \
    " cpuset='" of "' complete_cpuset='" of "' nodeset='" set "' complete_nodeset='" set "'"
#define CORE(index, mask)                                                                          \
    "<object type='L1Cache' cache_size='32768' depth='1' cache_linesize='64' "                     \
    "cache_associativity='8' cache_type='1'" SETS(                                                 \
        mask, "0x1") "><object type='Core' os_index='" index                                       \
                     "'" SETS(mask, "0x1") "><object "                                             \
                                           "type='PU' os_index='" index                            \
                                           "'" SETS(mask, "0x1") "/></object></object>"
#define MACHINE(host, device)                                                                      \
    "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n"            \
    "<topology version='2.0'><object type='Machine' os_index='0'" BITS(                            \
        "0x3",                                                                                     \
        "0x1") ">"                                                                                 \
               "<info name='HostName' value='" host "'/>"                                          \
               "<object type='Package' os_index='0'" SETS(                                         \
                   "0x3",                                                                          \
                   "0x1") ">"                                                                      \
                          "<object type='NUMANode' os_index='0'" SETS(                             \
                              "0x3",                                                               \
                              "0x1") " local_memory='8589934592'>"                                 \
                                     "<page_type size='4096' count='2097152'/></object>" CORE(     \
                                         "0", "0x1")                                               \
                                         CORE("1",                                                 \
                                              "0x2") "</object>"                                   \
                                                     "<object type='Bridge' bridge_type='0-1' "    \
                                                     "depth='0' bridge_pci='0000:[00-01]'>"        \
                                                     "<object type='PCIDev' "                      \
                                                     "pci_busid='0000:00:02.0' pci_type='0108 "    \
                                                     "[8086:0a54] [1028:2003] 00' "                \
                                                     "pci_link_speed='0.0'>" device                \
                                                     "</object></object></object></topology>"
#define DISK(size)                                                                                 \
    "<object type='OSDev' name='nvme0n1' subtype='Disk' osdev_type='0'>"                           \
    "<info name='Size' value='" size "'/><info name='LinuxDeviceID' value='259:1'/></object>"
#define GPU "<object type='OSDev' name='opencl0d3' subtype='OpenCL' osdev_type='5'/>"

/* hwloc's own parser takes double quotes only, which read badly in C. */
static int load_text(struct graph *g, const char *xml, const char *allow, berth_error_t *err)
{
    char text[8192] = "";

    for (size_t i = 0; xml && xml[i]; i++)
        text[i] = xml[i] == '\'' ? '"' : xml[i];
    return hwloc_load(g, xml ? text : NULL, strlen(text), allow, err);
}

static struct graph *load(const char *xml, const char *allow)
{
    struct graph *g = graph_create();
    berth_error_t err = {""};

    if (load_text(g, xml, allow, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(graph_check(g));
    return g;
}

static const struct {
    const char *allow, *paths;
} allow_rows[] = {
    {"node,socket,core", "/cluster0 /cluster0/host007 /cluster0/host007/socket0 "
                         "/cluster0/host007/socket0/core0 /cluster0/host007/socket0/core1 "},
    {"core", "/cluster0 /cluster0/core0 /cluster0/core1 "},
    {"node,storage,gpu", "/cluster0 /cluster0/host007 /cluster0/host007/storage0 "},
    {"node,memory", "/cluster0 /cluster0/host007 /cluster0/host007/memory0 "},
    {"node,numanode", "/cluster0 /cluster0/host007 /cluster0/host007/numanode0 "},
    /* A cache that only says again that cores are there is no structure. */
    {"L1cache,pu", "/cluster0 /cluster0/pu0 /cluster0/pu1 "},
    {"L1,no,co", "/cluster0 "},
};

static void shows_what_is_allowed(void **state)
{
    (void)state;
    struct strbuf all = {0};

    for (size_t i = 0; i < COUNT(allow_rows); i++) {
        struct graph *g = load(MACHINE("host007", DISK("960000000")), allow_rows[i].allow);
        strbuf_reset(&all);
        for (uint32_t v = 0; v < g->n; v++) {
            graph_path(g, v, GRAPH_CONTAINMENT, &all);
            strbuf_putc(&all, ' ');
        }
        assert_string_equal(strbuf_text(&all), allow_rows[i].paths);
        graph_destroy(g);
    }
    strbuf_clear(&all);
}

static void sizes_what_it_shows(void **state)
{
    (void)state;
    struct graph *g = load(MACHINE("host007", DISK("960000000")), "node,memory,storage,core");
    uint32_t node = look_find(g, "/cluster0/host007");
    uint32_t disk = look_find(g, "/cluster0/host007/storage0");
    uint32_t memory = look_find(g, "/cluster0/host007/memory0");

    assert_int_equal(g->v[node].rank, 0);
    assert_int_equal(g->v[node].id, 7);
    assert_string_equal(graph_basename(g, node), "host");
    assert_int_equal(g->v[disk].size, 960);
    assert_int_equal(g->v[disk].rank, -1);
    assert_string_equal(propset_value(&g->props, g->v[disk].props, "LinuxDeviceID"), "259:1");
    assert_int_equal(g->v[memory].size, 8192);
    assert_string_equal(intern_text(&g->names, g->v[memory].unit), "MiB");
    assert_true(g->v[memory].divisible);
    assert_false(g->v[disk].divisible);
    graph_destroy(g);
    g = load(MACHINE("h", GPU), "gpu");
    assert_int_equal(g->v[look_find(g, "/cluster0/gpu3")].size, 1);
    graph_destroy(g);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *xml, *expected;
        int errnum;
    } rows[] = {
        {MACHINE("h", DISK("0")), "Size of block device 'nvme0n1' is '0', expected kilobytes",
         EINVAL},
        {MACHINE("h", DISK("9999999999999999999")),
         "Size of block device 'nvme0n1' is '9999999999999999999', expected kilobytes", EINVAL},
        {MACHINE("h", "<object type='OSDev' name='sda' osdev_type='0'/>"),
         "block device 'sda' has no Size", ENOENT},
        {MACHINE("a/b", ""), "HostName is 'a/b', expected a host name", EINVAL},
        {MACHINE("a9999999999999999999", ""),
         "HostName 'a9999999999999999999' ends in too large a number", EOVERFLOW},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct graph *g = graph_create();
        berth_error_t err = {""};
        assert_int_equal(load_text(g, rows[i].xml, NULL, &err), -1);
        assert_string_equal(err.text, rows[i].expected);
        assert_int_equal(errno, rows[i].errnum);
        assert_int_equal(g->n, 0);
        graph_destroy(g);
    }
    struct graph *g = graph_create();
    assert_int_equal(hwloc_load(g, "<a/>", 4, NULL, NULL), -1);
    assert_int_equal(errno, EINVAL);
    graph_destroy(g);
}

/* Cut off anywhere, a text is an error or a machine, but never the end of the program. */
static void outlives_what_is_cut_off(void **state)
{
    (void)state;
    const char *xml = MACHINE("host007", DISK("960000000"));
    char text[8192];

    for (size_t n = 0; n < strlen(xml); n += 13) {
        struct graph *g = graph_create();
        snprintf(text, sizeof(text), "%.*s", (int)n, xml);
        if (load_text(g, text, "node,core", NULL) < 0)
            assert_int_equal(g->n, 0);
        assert_true(graph_check(g));
        graph_destroy(g);
    }
}

/* hwloc 2.9 crashes where one of the sets of a PU is missing. Whatever another one does, this process goes
 * on.
 */
static void outlives_a_crash(void **state)
{
    (void)state;
    const char *xml = MACHINE("host007", "<!-- -->");
    const char *missing = " complete_cpuset='0x1'";
    const char *at = strstr(strstr(xml, "type='PU'"), missing);
    struct graph *g = graph_create();
    berth_error_t err = {""};
    char text[8192];

    snprintf(text, sizeof(text), "%.*s%s", (int)(at - xml), xml, at + strlen(missing));
    if (load_text(g, text, NULL, &err) < 0) {
        assert_int_equal(errno, EINVAL);
        assert_true(err.text[0] && !strchr(err.text, '\n'));
        assert_int_equal(g->n, 0);
    }
    assert_true(graph_check(g));
    graph_destroy(g);
}

/* A random place of a text becomes something else, or goes. */
static void spoil(char *text, struct random *random)
{
    static const char *const pieces[] = {"'",         "<",         "/>",   "0x0",      "0xf...f",
                                         "type='PU'", "-1",        "</",   "999",      "",
                                         "  ",        "cpuset=''", "\xff", "0x0000f,", "&lt;"};
    size_t length = strlen(text);
    size_t at = (size_t)random_between(random, 0, (int64_t)length - 1);
    size_t cut = (size_t)random_between(random, 0, 1 << random_between(random, 0, 6));
    const char *piece = pieces[random_between(random, 0, (int64_t)COUNT(pieces) - 1)];
    char rest[8192];

    cut = cut < length - at ? cut : length - at;
    snprintf(rest, sizeof(rest), "%s", text + at + cut);
    snprintf(text + at, 8192 - at, "%s%s", piece, rest);
}

/* Spoilt anyhow, a text is a machine or an error of one line. */
static void outlives_what_is_spoilt(void **state)
{
    (void)state;
    int machines = 0, errors = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct random random = {seed};
        struct graph *g = graph_create();
        berth_error_t err = {""};
        char text[8192];
        snprintf(text, sizeof(text), "%s", MACHINE("host007", DISK("960000000")));
        for (int64_t n = random_between(&random, 1, 3); n > 0; n--)
            spoil(text, &random);
        if (load_text(g, text, seed % 2 ? NULL : "node,core,memory,pu", &err) < 0) {
            assert_true(err.text[0] && !strchr(err.text, '\n'));
            assert_int_equal(g->n, 0);
            errors++;
        } else {
            machines++;
        }
        assert_true(graph_check(g));
        graph_destroy(g);
    }
    assert_true(machines > 0 && errors > 0);
}

static void sees_this_machine(void **state)
{
    (void)state;
    struct graph *g = load(NULL, NULL);
    uint32_t nodes = 0, cores = 0;

    for (uint32_t v = 0; v < g->n; v++) {
        nodes += g->v[v].type == TYPE_NODE;
        cores += g->v[v].type == TYPE_CORE;
        assert_true(g->v[v].size >= 1);
        assert_int_equal(g->v[v].rank, g->v[v].type == TYPE_NODE ? 0 : -1);
        assert_int_equal(g->v[v].divisible, strcmp(graph_type_name(g, v), "memory") == 0);
    }
    assert_int_equal(nodes, 1);
    assert_true(cores >= 1);
    assert_int_equal(hwloc_load(g, NULL, 0, NULL, NULL), -1);
    assert_int_equal(errno, EEXIST);
    graph_destroy(g);
}

/* Of the memory that the system has. Where NUMA nodes tell of another amount this can't be had from hwloc. */
static void offers_all_memory_of_this_machine(void **state)
{
    (void)state;
    static const char *const allow[] = {NULL, "memory", "numanode,memory", "node,core,memory"};
    int64_t kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");

    if (!file || fscanf(file, "MemTotal: %" SCNd64, &kilobytes) != 1)
        skip();
    fclose(file);
    for (size_t i = 0; i < COUNT(allow); i++) {
        struct graph *g = load(NULL, allow[i]);
        int64_t total = 0;
        for (uint32_t v = 0; v < g->n; v++)
            if (strcmp(graph_type_name(g, v), "memory") == 0)
                total += g->v[v].size;
        assert_int_equal(total, kilobytes / 1024);
        graph_destroy(g);
    }
}

static void shares_a_total_among_things(void **state)
{
    static const struct {
        int64_t told[3], total, expected[3];
    } rows[] = {
        {{7782, 0, 0}, 24064, {24064, 0, 0}},           /* a gap of two thirds */
        {{1000, 1000, 1000}, 3000, {1000, 1000, 1000}}, /* none */
        {{1000, 1000, 1000}, 3002, {1000, 1001, 1001}}, /* what was lost in rounding */
        {{1000, 3000, 0}, 8000, {2000, 6000, 0}},       /* a NUMA node that isn't told of */
        {{64000, 64000, 64000}, 300, {100, 100, 100}},  /* a container */
        {{1, 1000000, 1}, 100, {1, 99, 1}},             /* too little to be shared */
        {{INT64_MAX / 4, INT64_MAX / 4, 0}, 8, {4, 4, 0}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct machine m = {0};
        struct machine_object t = {.in = MACHINE_NONE, .size = 5};
        uint32_t n = 0, memory, core;
        assert_int_equal(intern_put(&m.texts, "core", 4, &core), 0);
        assert_int_equal(machine_share(&m, "memory", rows[i].total), 0);
        assert_int_equal(intern_put(&m.texts, "memory", 6, &memory), 0);
        for (; n < 3 && rows[i].told[n] > 0; n++) {
            t.type = core;
            t.size = 5;
            assert_int_equal(machine_add(&m, &t), 0);
            t.type = memory;
            t.size = rows[i].told[n];
            assert_int_equal(machine_add(&m, &t), 0);
        }
        assert_int_equal(machine_share(&m, "memory", rows[i].total), n);
        for (uint32_t k = 0; k < n; k++) {
            assert_int_equal(m.object[2 * k].size, 5);
            assert_int_equal(m.object[2 * k + 1].size, rows[i].expected[k]);
        }
        machine_clear(&m);
    }
}

static void refuses_a_thing_in_a_later_one(void **state)
{
    (void)state;
    struct machine m = {0};
    struct machine_object t = {.in = 0,
                               .name = MACHINE_NONE,
                               .unit = MACHINE_NONE,
                               .property_key = MACHINE_NONE,
                               .property_value = MACHINE_NONE,
                               .id = 1,
                               .size = 1};
    struct graph *g = graph_create();
    berth_error_t err;

    assert_int_equal(intern_put(&m.texts, "core", 4, &t.type), 0);
    assert_int_equal(machine_add(&m, &t), 0);
    assert_int_equal(read_machine(g, &m, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "object 0 comes before the one that contains it");
    m.object[0].in = MACHINE_NONE;
    assert_int_equal(read_machine(g, &m, &err), 0);
    assert_int_equal(g->live, 2);
    machine_clear(&m);
    graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_is_allowed),
        cmocka_unit_test(sizes_what_it_shows),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(sees_this_machine),
        cmocka_unit_test(offers_all_memory_of_this_machine),
        cmocka_unit_test(shares_a_total_among_things),
        cmocka_unit_test(outlives_what_is_cut_off),
        cmocka_unit_test(outlives_a_crash),
        cmocka_unit_test(outlives_what_is_spoilt),
        cmocka_unit_test(refuses_a_thing_in_a_later_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
