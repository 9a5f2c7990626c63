/* The writers, with what Fluxion writes for one core of a small cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/machine.h"
#include "resource/emission.h"

struct fixture {
    struct graph *g;
    uint32_t cluster, rack, node, socket, core;
    struct emitted item[8];
    struct emission e;
    struct strbuf out;
};

static uint32_t add_plain(struct graph *g, uint32_t parent, const char *type, int64_t id,
                          int64_t uniq_id, int32_t rank)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){.type = type, .id = id, .uniq_id = uniq_id, .size = 1, .rank = rank});
}

static void emit(struct fixture *f, uint32_t vertex, uint16_t depth, uint16_t flags,
                 uint32_t parent)
{
    assert_true(f->e.n < 8);
    f->item[f->e.n++] = (struct emitted){
        .vertex = vertex, .depth = depth, .flags = flags, .parent = parent, .needs = 1};
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct graph *g = graph_create();
    assert_non_null(f);
    assert_non_null(g);
    f->g = g;
    f->cluster = add_vertex(
        g, VERTEX_NONE,
        &(struct vertex_spec){
            .type = "cluster", .basename = "tiny", .id = 0, .uniq_id = 0, .size = 1, .rank = -1});
    f->rack = add_plain(g, f->cluster, "rack", 0, 1, -1);
    f->node = add_plain(g, f->rack, "node", 1, 3, 1);
    f->socket = add_plain(g, f->node, "socket", 1, 7, -1);
    f->core = add_plain(g, f->socket, "core", 35, 79, -1);
    assert_int_equal(graph_seal(g), 0);
    f->e.item = f->item;
    f->e.end = 3600;
    emit(f, f->core, 5, EMIT_EXCLUSIVE | EMIT_EXCLUSIVE_PARENT, f->socket);
    emit(f, f->socket, 4, EMIT_EXCLUSIVE, f->node);
    emit(f, f->node, 3, 0, f->rack);
    emit(f, f->rack, 2, 0, f->cluster);
    emit(f, f->cluster, 1, 0, VERTEX_NONE);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    graph_destroy(f->g);
    strbuf_clear(&f->out);
    free(f);
    return 0;
}

static const char *written(struct fixture *f, enum write_format format)
{
    strbuf_reset(&f->out);
    assert_int_equal(emission_write(&f->e, f->g, format, &f->out), 0);
    return strbuf_text(&f->out);
}

static void refused(struct fixture *f, enum write_format format, int errnum)
{
    strbuf_reset(&f->out);
    strbuf_puts(&f->out, "before");
    errno = 0;
    assert_int_equal(emission_write(&f->e, f->g, format, &f->out), -1);
    assert_int_equal(errno, errnum);
    assert_string_equal(strbuf_text(&f->out), "before");
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static void simple_goes_up(void **state)
{
    assert_string_equal(written(*state, WRITE_SIMPLE), "      ---------------core35[1:x]\n"
                                                       "      ------------socket1[1:x]\n"
                                                       "      ---------node1[1:s]\n"
                                                       "      ------rack0[1:s]\n"
                                                       "      ---tiny0[1:s]\n");
}

static void pretty_simple_goes_down(void **state)
{
    assert_string_equal(written(*state, WRITE_PRETTY_SIMPLE),
                        "      ---tiny0[1:shared]\n"
                        "      ------rack0[1:shared]\n"
                        "      ---------node1[1:shared]\n"
                        "      ------------socket1[1:exclusive]\n"
                        "      ---------------core35[1:exclusive]\n");
}

static void deep_lines_have_all_their_dashes(void **state)
{
    struct fixture *f = *state;
    char line[400] = "      ";
    f->e.n = 1;
    f->item[0].needs = -12345;
    for (uint16_t depth = 19; depth < 100; depth++) {
        f->item[0].depth = depth;
        memset(line + 6, '-', 3u * depth);
        strcpy(line + 6 + 3 * depth, "core35[-12345:x]\n");
        assert_string_equal(written(f, WRITE_SIMPLE), line);
    }
}

#define NODES                                                                                      \
    "{\"id\": \"7\", \"metadata\": {\"type\": \"socket\", \"id\": 1, \"rank\": -1, "               \
    "\"exclusive\": true, "                                                                        \
    "\"paths\": {\"containment\": \"/tiny0/rack0/node1/socket1\"}}}, "                             \
    "{\"id\": \"3\", \"metadata\": {\"type\": \"node\", \"id\": 1, \"rank\": 1, "                  \
    "\"paths\": {\"containment\": \"/tiny0/rack0/node1\"}}}, "                                     \
    "{\"id\": \"1\", \"metadata\": {\"type\": \"rack\", \"id\": 0, \"rank\": -1, "                 \
    "\"paths\": {\"containment\": \"/tiny0/rack0\"}}}, "                                           \
    "{\"id\": \"0\", \"metadata\": {\"type\": \"cluster\", \"basename\": \"tiny\", \"id\": 0, "    \
    "\"rank\": -1, \"paths\": {\"containment\": \"/tiny0\"}}}"
#define EDGES                                                                                      \
    "{\"source\": \"3\", \"target\": \"7\"}, {\"source\": \"1\", \"target\": \"3\"}, "             \
    "{\"source\": \"0\", \"target\": \"1\"}]}"
#define GRAPH                                                                                      \
    "{\"graph\": {\"nodes\": [{\"id\": \"79\", \"metadata\": {\"type\": \"core\", \"id\": 35, "    \
    "\"rank\": -1, \"exclusive\": true, "                                                          \
    "\"paths\": {\"containment\": \"/tiny0/rack0/node1/socket1/core35\"}}}, " NODES "], "          \
    "\"edges\": [{\"source\": \"7\", \"target\": \"79\"}, " EDGES "}"
#define SHORTHAND                                                                                  \
    "{\"graph\": {\"nodes\": [" NODES "], \"edges\": [" EDGES ", \"writer\": "                     \
    "\"fluxion:jgf_shorthand\"}"
#define EXECUTION                                                                                  \
    "{\"version\": 1, \"execution\": {\"R_lite\": [{\"rank\": \"1\", \"children\": "               \
    "{\"core\": \"35\"}}], \"nodelist\": [\"node1\"], \"starttime\": 0, \"expiration\": 3600}"

static void graph_formats(void **state)
{
    assert_string_equal(written(*state, WRITE_JGF), GRAPH "\n");
    assert_string_equal(written(*state, WRITE_JGF_SHORTHAND), SHORTHAND "\n");
}

static void resource_formats(void **state)
{
    assert_string_equal(written(*state, WRITE_RLITE),
                        "[{\"rank\": \"1\", \"children\": {\"core\": \"35\"}}]\n");
    assert_string_equal(written(*state, WRITE_RV1_NOSCHED), EXECUTION "}\n");
    assert_string_equal(written(*state, WRITE_RV1), EXECUTION ", \"scheduling\": " GRAPH "}\n");
    assert_string_equal(written(*state, WRITE_RV1_SHORTHAND),
                        EXECUTION ", \"scheduling\": " SHORTHAND "}\n");
}

static void queue_and_properties_are_told(void **state)
{
    struct fixture *f = *state;
    f->e.queue = "de\"bug";
    assert_int_equal(graph_set_property(f->g, f->node, "arch", "x86"), 0);
    assert_int_equal(graph_set_property(f->g, f->node, "amd", ""), 0);
    const char *text = written(f, WRITE_RV1);
    assert_true(has(text, "\"nodelist\": [\"node1\"], \"properties\": {\"amd\": \"1\", "
                          "\"arch=x86\": \"1\"}, \"starttime\": 0, \"expiration\": 3600}, "
                          "\"scheduling\": {"));
    assert_true(has(text, "]}}, \"attributes\": {\"system\": {\"scheduler\": {\"queue\": "
                          "\"de\\\"bug\"}}}}\n"));
    assert_true(has(text, "\"id\": 1, \"rank\": 1, \"properties\": {\"amd\": \"\", "
                          "\"arch\": \"x86\"}, \"paths\": "));
    assert_false(has(written(f, WRITE_RV1_NOSCHED), "attributes"));
    f->e.queue = NULL; /* and nothing of it stays */
    assert_false(has(written(f, WRITE_RV1), "attributes"));
}

static void complete_graph_has_no_writer(void **state)
{
    struct fixture *f = *state;
    assert_true(has(written(f, WRITE_JGF_SHORTHAND), "writer"));
    f->item[0].flags = EMIT_EXCLUSIVE;
    assert_string_equal(written(f, WRITE_JGF_SHORTHAND), GRAPH "\n");
}

static void unusual_metadata_is_told(void **state)
{
    struct fixture *f = *state;
    struct graph *g = f->g;
    uint32_t memory = add_vertex(g, f->node,
                                 &(struct vertex_spec){.type = "memory",
                                                       .basename = "ram",
                                                       .name = "left \\",
                                                       .unit = "GB",
                                                       .id = 3,
                                                       .uniq_id = -1,
                                                       .size = 32,
                                                       .rank = 1});
    uint32_t nameless = add_vertex(
        g, memory,
        &(struct vertex_spec){.type = "bank", .id = -1, .uniq_id = -1, .size = 1, .rank = -1});
    uint32_t usual = add_vertex(
        g, memory,
        &(struct vertex_spec){
            .type = "bank", .name = "bank7", .id = 7, .uniq_id = -1, .size = 1, .rank = -1});
    assert_int_equal(graph_seal(g), 0);
    f->e.n = 0;
    emit(f, usual, 5, 0, memory);
    emit(f, nameless, 5, 0, memory);
    emit(f, memory, 4, EMIT_EXCLUSIVE, f->node);
    f->item[2].needs = 16;
    f->item[2].label = "lab\tel";
    f->item[2].usage = "\"core\": \"used:0, total:72\"";
    const char *text = written(f, WRITE_JGF);
    assert_true(has(text,
                    "{\"type\": \"bank\", \"id\": 7, \"rank\": -1, \"paths\": {\"containment\": "
                    "\"/tiny0/rack0/node1/left \\\\/bank7\"}}}"));
    assert_true(has(text, "{\"type\": \"bank\", \"name\": \"bank\", \"id\": -1, \"rank\": -1, "
                          "\"paths\": {\"containment\": \"/tiny0/rack0/node1/left \\\\/bank\"}}}"));
    assert_true(has(text, "{\"type\": \"memory\", \"basename\": \"ram\", \"name\": \"left \\\\\", "
                          "\"id\": 3, \"rank\": 1, \"unit\": \"GB\", \"exclusive\": true, "
                          "\"size\": 16, \"paths\": {\"containment\": "
                          "\"/tiny0/rack0/node1/left \\\\\"}, \"ephemeral\": {\"label\": "
                          "\"lab\\tel\"}, \"agfilter\": {\"core\": \"used:0, total:72\"}}}"));
    assert_true(has(written(f, WRITE_SIMPLE), "------------left \\[16:x]\n"));
}

static void other_subsystems_are_told(void **state)
{
    struct fixture *f = *state;
    uint32_t power = graph_subsystem(f->g, "power");
    assert_int_equal(graph_set_path(f->g, f->socket, (uint8_t)power, "/pdu0/socket1"), 0);
    assert_int_equal(graph_set_path(f->g, f->node, GRAPH_CONTAINMENT, "/elsewhere"), 0);
    assert_int_equal(graph_seal(f->g), 0);
    f->e.subsystem = (uint8_t)power;
    const char *text = written(f, WRITE_JGF);
    assert_true(has(text, "\"paths\": {\"containment\": \"/elsewhere/socket1\", \"power\": "
                          "\"/pdu0/socket1\"}}}"));
    assert_true(has(text, "\"paths\": {\"containment\": \"/elsewhere/socket1/core35\"}}}"));
    assert_true(has(text, "{\"source\": \"7\", \"target\": \"79\", \"metadata\": {\"subsystem\": "
                          "\"power\"}}"));
}

static void nothing_is_no_text(void **state)
{
    struct fixture *f = *state;
    f->e.n = 0;
    for (int format = WRITE_SIMPLE; format <= WRITE_JGF_SHORTHAND; format++)
        if (format != WRITE_RLITE)
            assert_string_equal(written(f, (enum write_format)format), "");
    refused(f, WRITE_RLITE, EINVAL);
}

static void no_node_is_no_resource(void **state)
{
    struct fixture *f = *state;
    f->e.n = 2;
    assert_string_equal(written(f, WRITE_RV1), "");
    assert_string_equal(written(f, WRITE_RV1_NOSCHED), "");
    refused(f, WRITE_RLITE, EINVAL);
}

static void root_alone_is_no_graph(void **state)
{
    struct fixture *f = *state;
    f->item[0] = f->item[4];
    f->e.n = 1;
    refused(f, WRITE_JGF, ENOENT);
    refused(f, WRITE_JGF_SHORTHAND, ENOENT);
    assert_string_equal(written(f, WRITE_RV1), "");
    assert_string_equal(written(f, WRITE_SIMPLE), "      ---tiny0[1:s]\n");
}

static void negative_ranks_are_refused(void **state)
{
    struct fixture *f = *state;
    f->g->v[f->node].rank = -1;
    refused(f, WRITE_RLITE, EINVAL);
    refused(f, WRITE_RV1, EINVAL);
    f->g->v[f->node].rank = 1;
    f->g->v[f->core].id = -2;
    refused(f, WRITE_RLITE, EINVAL);
    assert_string_equal(written(f, WRITE_RV1_NOSCHED), ""); /* no host can be told of */
    assert_true(has(written(f, WRITE_SIMPLE), "core-2[1:x]"));
}

static void knows_its_formats(void **state)
{
    (void)state;
    assert_int_equal(write_format_parse("simple"), WRITE_SIMPLE);
    assert_int_equal(write_format_parse("pretty_simple"), WRITE_PRETTY_SIMPLE);
    assert_int_equal(write_format_parse("rlite"), WRITE_RLITE);
    assert_int_equal(write_format_parse("rv1"), WRITE_RV1);
    assert_int_equal(write_format_parse("rv1_nosched"), WRITE_RV1_NOSCHED);
    assert_int_equal(write_format_parse("rv1_shorthand"), WRITE_RV1_SHORTHAND);
    assert_int_equal(write_format_parse("jgf"), WRITE_JGF);
    assert_int_equal(write_format_parse("jgf_shorthand"), WRITE_JGF_SHORTHAND);
    assert_int_equal(write_format_parse("JGF"), -1);
    assert_int_equal(write_format_parse(""), -1);
}

/* Nodes in any order, with this many cores and gpus each. */
static void ranks_with_the_same_are_grouped(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int32_t rank;
        int cores, gpus;
    } nodes[] = {{9, 2, 0}, {3, 3, 0}, {4, 3, 0}, {10, 2, 0}, {0, 0, 1},
                 {2, 3, 2}, {5, 0, 0}, {8, 2, 0}, {1, 3, 2}};
    struct emitted items[64];
    struct emission e = {.item = items, .start = 5, .end = 6};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        uint32_t node = add_plain(f->g, f->rack, "node", 100 + nodes[i].rank, -1, nodes[i].rank);
        for (int k = 0; k < nodes[i].cores + nodes[i].gpus; k++) {
            bool is_core = k < nodes[i].cores;
            uint32_t child = add_plain(f->g, node, is_core ? "core" : "gpu",
                                       is_core ? (k + 1) % nodes[i].cores : k, -1, nodes[i].rank);
            items[e.n++] =
                (struct emitted){.vertex = child, .depth = 4, .parent = node, .needs = 1};
        }
        items[e.n++] = (struct emitted){.vertex = node, .depth = 3, .parent = f->rack, .needs = 1};
        if (nodes[i].rank > 7)
            assert_int_equal(graph_set_property(f->g, node, "new", ""), 0);
        if (nodes[i].rank % 2 == 1)
            assert_int_equal(graph_set_property(f->g, node, "a", "odd"), 0);
    }
    assert_int_equal(graph_seal(f->g), 0);
    assert_int_equal(emission_write(&e, f->g, WRITE_RV1_NOSCHED, &f->out), 0);
    assert_string_equal(strbuf_text(&f->out),
                        "{\"version\": 1, \"execution\": {\"R_lite\": ["
                        "{\"rank\": \"8-10\", \"children\": {\"core\": \"0-1\"}}, "
                        "{\"rank\": \"1-2\", \"children\": {\"core\": \"0-2\", \"gpu\": \"3-4\"}}, "
                        "{\"rank\": \"3-4\", \"children\": {\"core\": \"0-2\"}}, "
                        "{\"rank\": \"0\", \"children\": {\"gpu\": \"0\"}}], "
                        "\"nodelist\": [\"node[100-104,108-110]\"], "
                        "\"properties\": {\"a=odd\": \"1,3,9\", \"new\": \"8-10\"}, "
                        "\"starttime\": 5, \"expiration\": 6}}\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(simple_goes_up),
        TEST(pretty_simple_goes_down),
        TEST(deep_lines_have_all_their_dashes),
        TEST(graph_formats),
        TEST(resource_formats),
        TEST(queue_and_properties_are_told),
        TEST(complete_graph_has_no_writer),
        TEST(unusual_metadata_is_told),
        TEST(other_subsystems_are_told),
        TEST(nothing_is_no_text),
        TEST(no_node_is_no_resource),
        TEST(root_alone_is_no_graph),
        TEST(negative_ranks_are_refused),
        TEST(ranks_with_the_same_are_grouped),
        TEST(knows_its_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
