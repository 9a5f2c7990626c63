/* Resources by name and jobs in short, on two racks of two nodes: four cores, two gpus and 16 divisible
 * units of memory each, an ssd in each rack, and a license beside the racks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/machine.h"
#include "match/inner.h"
#include "match/text/names.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id)
{
    return add_vertex(g, parent,
                      &(struct vertex_spec){.type = type,
                                            .id = id,
                                            .uniq_id = -1,
                                            .size = 1,
                                            .rank = strcmp(type, "node") == 0 ? (int32_t)id : -1});
}

static match_t *racks(const char *policy)
{
    return machine_of("2 rack(2 node(4 core 2 gpu memory:16) ssd) license",
                      &(match_options_t){.policy = policy});
}

/* Nodes of two sockets with two cores each; `repeated`: every socket counts its cores from 0, every rack
 * its nodes.
 */
static match_t *sockets(bool repeated)
{
    struct graph *g = graph_create();

    assert_non_null(g);
    uint32_t cluster = add(g, VERTEX_NONE, "cluster", 0);
    for (int r = 0; r < 2; r++) {
        uint32_t rack = add(g, cluster, "rack", r);
        for (int n = 0; n < 2; n++) {
            uint32_t node = add(g, rack, "node", repeated ? n : 2 * r + n);
            for (int s = 0; s < 2; s++) {
                uint32_t socket = add(g, node, "socket", s);
                for (int c = 0; c < 2; c++)
                    add(g, socket, "core", repeated ? c : 2 * s + c);
            }
        }
    }
    return machine_seal(g, &(match_options_t){.policy = "low"});
}

/* The paths of what a text names, with blanks between, without the cluster's part. */
static void names(match_t *m, const char *text, const char *expected)
{
    struct strbuf paths = {0};
    uint32_t *v;
    size_t n;
    berth_error_t err = {""};

    if (match_select(m, text, &v, &n, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    for (size_t i = 0; i < n; i++) {
        size_t before = paths.len, skip = strlen("/cluster0/");
        if (i > 0)
            strbuf_putc(&paths, ' ');
        before = paths.len;
        graph_path(m->g, v[i], GRAPH_CONTAINMENT, &paths);
        skip = paths.len - before > skip ? skip : 1;
        memmove(paths.data + before, paths.data + before + skip, paths.len - before - skip);
        paths.len -= skip;
    }
    assert_string_equal(strbuf_text(&paths), expected);
    strbuf_clear(&paths);
    free(v);
    assert_true(match_check(m));
}

static void texts_name_vertices(void **state)
{
    match_t *m = racks("low");

    (void)state;
    names(m, "node1", "rack0/node1");
    names(m, "node[1-2]", "rack0/node1 rack1/node2");
    names(m, "node3,rack0", "rack0 rack1/node3");
    names(m, "node[0,0],node0", "rack0/node0");
    names(m, "cluster0", "cluster0");
    names(m, "ssd0", "rack0/ssd0 rack1/ssd0");
    names(m, "license0", "license0");
    names(m, "license0,core3",
          "rack0/node0/core3 rack0/node1/core3 rack1/node2/core3 rack1/node3/core3 license0");
    names(m, "rack[0-1]/ssd0", "rack0/ssd0 rack1/ssd0");
    names(m, "rack1/ssd0", "rack1/ssd0");
    names(m, "rack1/gpu1", "rack1/node2/gpu1 rack1/node3/gpu1");
    names(m, "node[0-1]/core[1-2]",
          "rack0/node0/core1 rack0/node0/core2 rack0/node1/core1 rack0/node1/core2");
    names(m, "cluster0/rack0/node1/gpu0", "rack0/node1/gpu0");
    names(m, "/cluster0", "cluster0");
    names(m, "/cluster0/license0", "license0");
    names(m, "/cluster0/rack1/node[2-3]", "rack1/node2 rack1/node3");
    names(m, "/cluster0/rack[0-1]/ssd0", "rack0/ssd0 rack1/ssd0");
    names(m, "node2/memory0:5,node3:1", "rack1/node2/memory0 rack1/node3");
    names(m, "rank:[2]", "rack1/node2");
    names(m, "rank:[0-1,3]", "rack0/node0 rack0/node1 rack1/node3");
    names(m, "rank:[0],ssd0,rank:[3]", "rack0/node0 rack0/ssd0 rack1/node3 rack1/ssd0");
    match_destroy(m);
}

/* Two brokers on each of two hosts, each with its own cores. */
static void ranks_tell_equal_hosts_apart(void **state)
{
    struct graph *g = graph_create();
    berth_error_t err;
    uint32_t *v;
    size_t n;

    (void)state;
    assert_non_null(g);
    uint32_t cluster = add(g, VERTEX_NONE, "cluster", 0), node[4];
    for (int32_t r = 0; r < 4; r++) {
        node[r] = add_vertex(g, cluster,
                             &(struct vertex_spec){.type = "node",
                                                   .basename = "node",
                                                   .name = r < 2 ? "vm" : "other",
                                                   .id = r,
                                                   .uniq_id = -1,
                                                   .size = 1,
                                                   .rank = r});
        add_vertex(
            g, node[r],
            &(struct vertex_spec){.type = "core", .id = 0, .uniq_id = -1, .size = 1, .rank = r});
    }
    match_t *m = machine_seal(g, NULL);
    assert_int_equal(match_select(m, "vm", &v, &n, &err), 0);
    assert_int_equal(n, 2);
    free(v);
    assert_int_equal(match_select(m, "rank:[1,3]", &v, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(v[0], node[1]);
    assert_int_equal(v[1], node[3]);
    free(v);
    assert_int_equal(match_remove_ranks(m, "1", &err), 0);
    assert_int_equal(match_select(m, "rank:[1,3]", &v, &n, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "no such resource: rank:[1]");
    match_destroy(m);
}

struct refusal {
    const char *text;
    int error;
    const char *why;
};

static void what_is_wrong_is_told(void **state)
{
    static const struct refusal rows[] = {
        {"", EINVAL, "offset 0: expected a name, found the end"},
        {",node0", EINVAL, "offset 0: expected a name, found ','"},
        {"node0,", EINVAL, "offset 6: expected a name, found the end"},
        {"/", EINVAL, "offset 1: expected a name, found the end"},
        {"node0//core0", EINVAL, "offset 6: expected a name, found '/'"},
        {"node0/", EINVAL, "offset 6: expected a name, found the end"},
        {":3", EINVAL, "offset 0: expected a name, found ':'"},
        {"node0, node1", EINVAL, "offset 6: expected a name without blanks, found ' '"},
        {"node0\n", EINVAL, "offset 5: expected a name without blanks, found byte 0x0a"},
        {"node[0-", EINVAL, NULL},
        {"node0]", EINVAL, NULL},
        {"node[]", EINVAL, NULL},
        {"node[1-0]", EINVAL, NULL},
        {"node[0/1]", EINVAL, NULL},
        {"node[0-99999999999]", EINVAL, "\"node[0-99999999999]\" names more than the machine has"},
        {"rack[0-9]/node[0-9]", EINVAL, "\"rack[0-9]/node[0-9]\" names more than the machine has"},
        {"node9", ENOENT, "no such resource: node9"},
        {"node[2-5]", ENOENT, "no such resource: node4"},
        {"node", ENOENT, "no such resource: node"},
        {"node00", ENOENT, "no such resource: node00"},
        {"node[00-01]", ENOENT, "no such resource: node00"},
        {"node0/core[3-4]", ENOENT, "no such resource: node0/core4"},
        {"node[0-1]/ssd0", ENOENT, "no such resource: node0/ssd0"},
        {"node0/core0/core0", ENOENT, "no such resource: node0/core0/core0"},
        {"rack[0-1]/node0", ENOENT, "no such resource: rack1/node0"},
        {"/node0", ENOENT, "no such resource: /node0"},
        {"/cluster0/node0", ENOENT, "no such resource: /cluster0/node0"},
        {"/cluster1/rack0", ENOENT, "no such resource: /cluster1"},
        {"rank:[]", EINVAL, "offset 6: expected a rank, found ']'"},
        {"rank:[1", EINVAL, NULL},
        {"rank:[a]", EINVAL, NULL},
        {"rank:[3-2]", EINVAL, NULL},
        {"rank:[99999999999]", EINVAL, NULL},
        {"rank:[3-5,9]", ENOENT, "no such resource: rank:[4]"},
        {"rank:[4294967295]", EINVAL, NULL},
        {"rank:2", ENOENT, "no such resource: rank"},
    };
    match_t *m = racks("low");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        berth_error_t err = {""};
        uint32_t *v = NULL;
        size_t n = 77;
        errno = 0;
        assert_int_equal(match_select(m, rows[i].text, &v, &n, &err), -1);
        if (errno != rows[i].error || (rows[i].why && strcmp(err.text, rows[i].why) != 0))
            fail_msg("%s: errno %d: %s", rows[i].text, errno, err.text);
        assert_true(err.text[0] && !v && n == 77);
        assert_int_equal(match_select(m, rows[i].text, &v, &n, NULL), -1);
    }
    match_destroy(m);
}

static void what_changes_is_named_anew(void **state)
{
    static const char more[] =
        "{\"graph\":{\"nodes\":[{\"id\":\"0\",\"metadata\":{\"type\":\"cluster\",\"id\":0,\"rank\":"
        "-1,"
        "\"paths\":{\"containment\":\"/"
        "cluster0\"}}},{\"id\":\"99\",\"metadata\":{\"type\":\"node\","
        "\"id\":7,\"rank\":7,\"paths\":{\"containment\":\"/cluster0/node7\"}}}],\"edges\":[{"
        "\"source\":\"0\",\"target\":\"99\"}]}}";
    match_t *m = racks("low");
    uint32_t *v;
    size_t n;
    berth_error_t err;

    (void)state;
    names(m, "ssd0", "rack0/ssd0 rack1/ssd0");
    if (match_attach(m, more, strlen(more), &err) < 0)
        fail_msg("%s", err.text);
    names(m, "node[3,7]", "rack1/node3 node7");
    assert_int_equal(match_remove_path(m, "/cluster0/rack0", &err), 0);
    names(m, "ssd0", "rack1/ssd0");
    assert_int_equal(match_select(m, "node[1-2]", &v, &n, &err), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(err.text, "no such resource: node1");
    match_destroy(m);
}

#define SPEC(resources)                                                                            \
    "{\"version\":9999,\"resources\":[" resources                                                  \
    "],\"attributes\":{\"system\":{\"duration\":10}},"                                             \
    "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}"
#define TYPE(type, count)        "{\"type\":\"" type "\",\"count\":" count "}"
#define WITH(type, count, below) "{\"type\":\"" type "\",\"count\":" count ",\"with\":[" below "]}"
#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"s\",\"count\":" count ",\"with\":[" below "]}"

static void run(match_t *m, int64_t id, const char *text)
{
    berth_error_t err;
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);

    if (!spec)
        fail_msg("%s", err.text);
    if (match_run(m, MATCH_ALLOCATE, spec, id, 0, NULL, &err) < 0)
        fail_msg("job %d: %s", (int)id, err.text);
    jobspec_destroy(spec);
}

static void told(match_t *m, int64_t id, const char *expected)
{
    struct strbuf out = {0};

    strbuf_puts(&out, "on ");
    assert_int_equal(match_summary(m, id, &out), 0);
    assert_string_equal(strbuf_text(&out) + 3, expected);
    strbuf_clear(&out);
}

static void jobs_are_told_in_short(void **state)
{
    match_t *m = racks("low");
    struct strbuf out = {0};

    (void)state;
    run(m, 1, SPEC(WITH("node", "2", SLOT("1", TYPE("core", "4")))));
    told(m, 1, "node[0-1]/core[0-3]");
    run(m, 2, SPEC(WITH("node", "2", SLOT("1", TYPE("gpu", "1")))));
    told(m, 2, "node[0-1]/gpu0");
    run(m, 3, SPEC(SLOT("1", TYPE("memory", "5"))));
    told(m, 3, "node0/memory0:5");
    run(m, 4, SPEC(SLOT("1", TYPE("ssd", "1"))));
    told(m, 4, "rack0/ssd0");
    run(m, 5, SPEC(SLOT("1", TYPE("node", "1"))));
    told(m, 5, "node2");
    run(m, 6,
        SPEC(WITH("node", "1",
                  SLOT("1", TYPE("core", "1") "," TYPE("gpu", "2") "," TYPE("memory", "16")))));
    told(m, 6, "node3/core0,node3/gpu[0-1],node3/memory0:16");
    run(m, 7, SPEC(SLOT("3", TYPE("core", "1"))));
    told(m, 7, "node3/core[1-3]");
    run(m, 8, SPEC(SLOT("1", TYPE("license", "1"))));
    told(m, 8, "license0");
    assert_int_equal(match_summary(m, 9, &out), -1);
    assert_int_equal(errno, ENOENT);
    match_destroy(m);

    m = racks("low");
    run(m, 1, SPEC(SLOT("1", TYPE("rack", "1"))));
    told(m, 1, "rack0");
    run(m, 2, SPEC(SLOT("2", TYPE("node", "1"))));
    told(m, 2, "node[2-3]");
    match_destroy(m);

    m = racks("low");
    run(m, 1, SPEC(SLOT("5", TYPE("core", "1"))));
    told(m, 1, "node0/core[0-1],node[1-3]/core0"); /* the lowest ids first */
    run(m, 2, SPEC(WITH("node", "4", SLOT("1", TYPE("gpu", "1") "," TYPE("memory", "2")))));
    told(m, 2, "node[0-3]/gpu0,node[0-3]/memory0:2");
    match_destroy(m);
}

static void paths_are_no_longer_than_they_must_be(void **state)
{
    match_t *m = sockets(false);

    (void)state;
    run(m, 1, SPEC(WITH("node", "2", SLOT("3", TYPE("core", "1")))));
    told(m, 1, "node[0-1]/core[0-2]");
    run(m, 2, SPEC(SLOT("1", TYPE("socket", "1"))));
    told(m, 2, "node2/socket0");
    match_destroy(m);

    m = sockets(true);
    run(m, 1, SPEC(WITH("node", "1", SLOT("3", TYPE("core", "1")))));
    told(m, 1, "rack0/node0/socket0/core[0-1],rack0/node0/socket1/core0");
    run(m, 2, SPEC(SLOT("3", TYPE("node", "1"))));
    told(m, 2, "rack0/node1,rack1/node[0-1]");
    match_destroy(m);
}

static void wrote(match_t *m, int64_t id, const char *format, const char *expected)
{
    const char *text;
    size_t length;

    assert_int_equal(match_write_job(m, id, format, &text, &length), 0);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    assert_int_equal(match_write(m, format, &text, &length), 0);
    assert_string_equal(text, expected);
}

static void what_jobs_hold_is_written(void **state)
{
    match_t *m = sockets(false);
    const char *text;
    size_t length;

    (void)state;
    run(m, 1, SPEC(WITH("node", "2", SLOT("1", TYPE("core", "1")))));
    run(m, 2, SPEC(WITH("node", "1", SLOT("1", TYPE("core", "1")))));
    wrote(m, 1, "rlite", "[{\"rank\": \"0-1\", \"children\": {\"core\": \"0\"}}]\n");
    wrote(m, 2, "simple",
          "      ---------------core1[1:x]\n"
          "      ------------socket0[1:s]\n"
          "      ---------node0[1:s]\n"
          "      ------rack0[1:s]\n"
          "      ---cluster0[1:s]\n");
    wrote(m, 1, "rv1_nosched",
          "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"0-1\", \"children\": "
          "{\"core\": \"0\"}}], \"nodelist\": [\"node[0-1]\"], \"starttime\": 0, \"expiration\": "
          "10}}\n");
    assert_int_equal(match_write_job(m, 3, "rlite", &text, &length), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(match_write_job(m, 1, "rlight", &text, &length), -1);
    assert_int_equal(errno, EINVAL);
    match_destroy(m);
}

/* "node0:0-1/0/4" for cores 0 and 1, GPU 0 and 4 units of memory. */
static void by_host(match_t *m, int64_t id, const char *expected)
{
    struct hosts hosts = {0};
    struct strbuf out = {0};

    assert_int_equal(match_hosts(m, id, &hosts), 0);
    for (size_t i = 0; i < hosts.n; i++) {
        const struct resource_host *h = &hosts.v[i];
        char text[100];
        int n = snprintf(text, sizeof(text), "%s%s:%d:", i ? " " : "", h->name, (int)h->rank);
        for (size_t k = 0; k < h->n_cores; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%u-%u,", h->cores[k].first,
                          h->cores[k].last);
        for (size_t k = 0; k < h->n_gpus; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "g%u-%u,", h->gpus[k].first,
                          h->gpus[k].last);
        snprintf(text + n, sizeof(text) - (size_t)n, "m%d", (int)h->memory);
        strbuf_puts(&out, text);
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_clear(&out);
    hosts_clear(&hosts);
}

static void what_jobs_hold_is_told_by_host(void **state)
{
    match_t *m = racks("low");
    struct hosts hosts = {0};

    (void)state;
    run(m, 1, SPEC(WITH("node", "2", SLOT("1", TYPE("core", "3")))));
    by_host(m, 1, "node0:0:0-2,m0 node1:1:0-2,m0");
    run(m, 2, SPEC(SLOT("3", TYPE("core", "1"))));
    by_host(m, 2, "node2:2:0-1,m0 node3:3:0-0,m0");
    run(m, 3,
        SPEC(WITH("node", "1",
                  SLOT("1", TYPE("core", "1") "," TYPE("gpu", "2") "," TYPE("memory", "5")))));
    by_host(m, 3, "node0:0:3-3,g0-1,m5");
    run(m, 4, SPEC(SLOT("1", TYPE("ssd", "1"))));
    by_host(m, 4, ""); /* nothing on it can run anything */
    assert_int_equal(match_hosts(m, 9, &hosts), -1);
    assert_int_equal(errno, ENOENT);
    match_destroy(m);

    m = racks("low");
    run(m, 1, SPEC(SLOT("1", TYPE("node", "1"))));
    by_host(m, 1, ""); /* as R has it: what was not asked for is not told */
    match_destroy(m);
}

/* Of a node that a job has alone, the node is given back, and what is in it is kept. */
static void what_is_left_is_written_as_a_tree(void **state)
{
    static const char node[] =
        "{\"graph\":{\"nodes\":[{\"id\":\"2\",\"metadata\":{\"type\":\"node\",\"id\":0,\"rank\":0,"
        "\"exclusive\":true,\"paths\":{\"containment\":\"/cluster0/rack0/"
        "node0\"}}}],\"edges\":[]}}";
    match_t *m = sockets(false);
    bool full;
    berth_error_t err;

    (void)state;
    run(m, 1, SPEC(SLOT("1", "{\"type\":\"node\",\"count\":1,\"exclusive\":true}")));
    told(m, 1, "node0");
    if (match_partial_cancel(m, 1, "jgf", node, strlen(node), &full, NULL, &err) < 0)
        fail_msg("%s", err.text);
    assert_false(full);
    wrote(m, 1, "simple",
          "      ---------------core0[1:x]\n"
          "      ---------------core1[1:x]\n"
          "      ------------socket0[1:x]\n"
          "      ---------------core2[1:x]\n"
          "      ---------------core3[1:x]\n"
          "      ------------socket1[1:x]\n"
          "      ---------node0[1:s]\n"
          "      ------rack0[1:s]\n"
          "      ---cluster0[1:s]\n");
    wrote(m, 1, "rlite", "[{\"rank\": \"0\", \"children\": {\"core\": \"0-3\"}}]\n");
    told(m, 1, "node0/socket[0-1]");
    assert_true(match_check(m));
    match_destroy(m);
}

/* A queue, labels, and what is told only. */
static void what_was_said_is_remembered(void **state)
{
    static const char spec[] =
        "{\"version\":9999,\"resources\":[{\"type\":\"node\",\"count\":1,\"label\":\"n\",\"with\":["
        "{\"type\":\"slot\",\"label\":\"s\",\"count\":1,\"with\":[{\"type\":\"core\",\"count\":2,"
        "\"label\":\"c\"}]}]}],\"attributes\":{\"system\":{\"duration\":10,\"queue\":\"debug\"}},"
        "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}";
    match_t *m = sockets(false);
    const char *text;
    size_t length;

    (void)state;
    run(m, 1, spec);
    assert_int_equal(match_write(m, "rv1", &text, &length), 0);
    char *first = strndup(text, length);
    assert_non_null(strstr(first, "\"label\": \"n\""));
    assert_non_null(strstr(first, "\"label\": \"c\""));
    assert_non_null(strstr(first, "{\"queue\": \"debug\"}"));
    run(m, 2, SPEC(SLOT("1", TYPE("core", "1"))));
    wrote(m, 1, "rv1", first);
    free(first);
    match_destroy(m);
}

/* A node in two racks is told once for each, as the match has told it, and named by the first. */
static void what_is_reached_twice_is_told_as_found(void **state)
{
    static const char *const formats[] = {"simple", "rlite", "rv1", "jgf", "jgf_shorthand"};
    struct graph *g = graph_create();
    const char *text;
    size_t length;

    (void)state;
    assert_non_null(g);
    uint32_t cluster = add(g, VERTEX_NONE, "cluster", 0);
    uint32_t rack[] = {add(g, cluster, "rack", 0), add(g, cluster, "rack", 1)};
    uint32_t node = add(g, rack[0], "node", 0);
    assert_int_equal(graph_connect(g, rack[1], node, GRAPH_CONTAINMENT), 0);
    add(g, rack[1], "gpu", 0);
    for (int i = 0; i < 2; i++)
        add(g, node, "core", i);
    match_t *m = machine_seal(g, &(match_options_t){.policy = "high"});
    assert_false(m->topo.is_tree);
    names(m, "rack0/core1", "rack0/node0/core1");
    run(m, 1, SPEC(SLOT("1", "{\"type\":\"rack\",\"count\":2,\"exclusive\":true}")));
    for (size_t i = 0; i < COUNT(formats); i++) {
        assert_int_equal(match_write(m, formats[i], &text, &length), 0);
        char *found = strndup(text, length);
        wrote(m, 1, formats[i], found);
        free(found);
    }
    told(m, 1, "rack[0-1]");
    match_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_name_vertices),
        cmocka_unit_test(ranks_tell_equal_hosts_apart),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(what_changes_is_named_anew),
        cmocka_unit_test(jobs_are_told_in_short),
        cmocka_unit_test(paths_are_no_longer_than_they_must_be),
        cmocka_unit_test(what_jobs_hold_is_written),
        cmocka_unit_test(what_jobs_hold_is_told_by_host),
        cmocka_unit_test(what_is_left_is_written_as_a_tree),
        cmocka_unit_test(what_was_said_is_remembered),
        cmocka_unit_test(what_is_reached_twice_is_told_as_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
