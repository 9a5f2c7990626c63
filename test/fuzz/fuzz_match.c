/* A matcher of a tiny machine under any sequence of calls: whatever they are, it is whole after each, and
 * one that fails leaves the jobs as they were. What is told of a job names what is there. Each takes an
 * opcode and its arguments off the input; what is left short is zero.
 */
#include "fuzz.h"

#include <string.h>

#include "berth/match.h"
#include "match/text/names.h"

enum { STEPS_MAX = 48, JOBS = 8 };

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t byte(struct input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

#define JOB(resources, system)                                                                     \
    "{\"version\":9999,\"resources\":[" resources "],\"attributes\":{\"system\":{" system "}},"    \
    "\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}"

#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"s\",\"count\":" count ",\"with\":[" below "]}"

static const char *const specs[] = {
    JOB(SLOT("1", "{\"type\":\"core\",\"count\":1}"), "\"duration\":5"),
    JOB(SLOT("2", "{\"type\":\"core\",\"count\":2},{\"type\":\"gpu\",\"count\":1}"),
        "\"duration\":9"),
    JOB("{\"type\":\"node\",\"count\":2,\"with\":[" SLOT(
            "{\"min\":1,\"max\":4,\"operator\":\"*\",\"operand\":2}",
            "{\"type\":\"core\",\"count\":1,\"label\":\"c\"}") "]}",
        "\"duration\":3"),
    JOB(SLOT("1", "{\"type\":\"node\",\"count\":1,\"exclusive\":true}"), "\"duration\":0"),
    JOB("{\"type\":\"node\",\"count\":1,\"exclusive\":true}", "\"duration\":7"),
    JOB("{\"type\":\"memory\",\"count\":3,\"exclusive\":true},{\"type\":\"gpu\",\"count\":1}",
        "\"duration\":4"),
    JOB(SLOT("{\"min\":2}", "{\"type\":\"memory\",\"count\":2}"),
        "\"duration\":6,\"constraints\":{\"properties\":[\"p\"]}"),
    JOB("{\"type\":\"cluster\",\"count\":1,\"with\":[{\"type\":\"node\",\"count\":3}]}",
        "\"duration\":2,\"queue\":\"q\""),
};

#define VERTEX(id, type, number, rank, size, exclusive, path)                                      \
    "{\"id\":\"" id "\",\"metadata\":{\"type\":\"" type "\",\"id\":" number ",\"rank\":" rank      \
    ",\"size\":" size ",\"exclusive\":" exclusive ",\"paths\":{\"containment\":\"/cluster0" path   \
    "\"}}}"
#define LEAF(id, type, number, i, size)                                                            \
    VERTEX(id i, type, number, i, size, "true", "/node" i "/" type number)
#define EDGE(from, to) "{\"source\":\"" from "\",\"target\":\"" to "\"}"

#define NODE(i)                                                                                    \
    VERTEX("1" i, "node", i, i, "1", "false", "/node" i)                                           \
    "," LEAF("2", "core", "0", i, "1") "," LEAF("3", "core", "1", i, "1") "," LEAF(                \
        "4", "gpu", "0", i, "1") "," LEAF("5", "memory", "0", i, "4")
#define WHOLE(i) VERTEX("1" i, "node", i, i, "1", "true", "/node" i)
#define EDGES(i)                                                                                   \
    EDGE("0", "1" i)                                                                               \
    "," EDGE("1" i, "2" i) "," EDGE("1" i, "3" i) "," EDGE("1" i, "4" i) "," EDGE("1" i, "5" i)
#define GRAPH(nodes, edges)                                                                        \
    "{\"graph\":{\"nodes\":[" VERTEX("0", "cluster", "0", "-1", "1", "false",                      \
                                     "") "," nodes "],\"edges\":[" edges "]}}"

static const char machine[] =
    GRAPH(NODE("0") "," NODE("1") "," NODE("2"), EDGES("0") "," EDGES("1") "," EDGES("2"));

static const char *const graphs[] = {
    GRAPH(NODE("1"), EDGES("1")),
    GRAPH(NODE("3"), EDGES("3")),
    GRAPH(NODE("2") "," NODE("3"), EDGES("2") "," EDGES("3")),
    GRAPH(WHOLE("0"), EDGE("0", "10")),
    GRAPH(WHOLE("2") "," LEAF("2", "core", "0", "2", "1"), EDGE("0", "12") "," EDGE("12", "22")),
};

#define R(ranks, children)                                                                         \
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"" ranks "\",\"children\":{" children    \
    "}}],\"nodelist\":[\"node[" ranks "]\"],\"starttime\":0,\"expiration\":0}}"

static const char *const lists[] = {
    R("0", "\"core\":\"0-1\""),
    R("1-2", "\"core\":\"0\",\"gpu\":\"0\""),
    R("2", "\"core\":\"0-1\",\"gpu\":\"0\",\"memory\":\"0\""),
};

static const char *const paths[] = {"/cluster0",       "/cluster0/node0",       "/cluster0/node1",
                                    "/cluster0/node3", "/cluster0/node2/core1", "/nowhere"};
static const char *const ranks[] = {"0", "1-2", "all", "3", "x"};
static const char *const criteria[] = {"status=up", "sched-now=allocated or jobid-tag=2",
                                       "agfilter=t jobid-span=1", "names=node[0-1] and property=p"};
static const char *const formats[] = {"simple",      "pretty_simple", "rlite", "rv1",
                                      "rv1_nosched", "rv1_shorthand", "jgf",   "jgf_shorthand"};

#define PICK(in, texts) (texts)[byte(in) % (sizeof(texts) / sizeof(*(texts)))]

/* A job of these is there? Then it can't be started again, and can be cancelled. */
struct play {
    match_t *m;
    bool job[JOBS];
    int64_t now;
};

/* What was recorded for a job is what was found. */
static void same(struct play *p, int64_t id, const char *format)
{
    const char *text;
    size_t length;
    int rc = match_write(p->m, format, &text, &length);
    char *found = rc == 0 ? strdup(text) : NULL;

    FUZZ_CHECK(match_write_job(p->m, id, format, &text, &length) == rc);
    FUZZ_CHECK(rc < 0 || strcmp(found, text) == 0);
    free(found);
}

static void run(struct play *p, struct input *in)
{
    const char *text = PICK(in, specs);
    match_op_t op = (match_op_t)(byte(in) % 6);
    int64_t id = byte(in) % JOBS;
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, NULL);
    match_result_t result;
    bool records = op <= MATCH_ALLOCATE_W_SATISFIABILITY;

    FUZZ_CHECK(spec);
    int rc = match_run(p->m, op, spec, id, p->now, &result, NULL);
    FUZZ_CHECK(rc < 0 || !records || !p->job[id]);
    FUZZ_CHECK(rc < 0 || op == MATCH_SATISFIABILITY || result.at >= p->now);
    p->job[id] |= rc == 0 && records;
    if (rc == 0 && records)
        same(p, id, PICK(in, formats));
    jobspec_destroy(spec);
}

static void update(struct play *p, struct input *in)
{
    const char *format = byte(in) % 3 == 0 ? "rv1exec" : byte(in) % 2 ? "jgf" : "jgf_shorthand";
    const char *text = *format == 'r' ? PICK(in, lists) : PICK(in, graphs);
    int64_t id = byte(in) % JOBS;
    int rc =
        match_update(p->m, format, text, strlen(text), id, byte(in), byte(in), byte(in) % 2, NULL);

    FUZZ_CHECK(rc < 0 || !p->job[id]);
    p->job[id] |= rc == 0;
    if (rc == 0)
        same(p, id, PICK(in, formats));
}

static void cancel(struct play *p, struct input *in)
{
    int64_t id = byte(in) % JOBS;
    int rc = match_cancel(p->m, id, NULL, NULL);

    FUZZ_CHECK((rc == 0) == p->job[id]);
    p->job[id] = false;
}

static void partial(struct play *p, struct input *in)
{
    int64_t id = byte(in) % JOBS;
    bool full = false, rv1 = byte(in) % 2;
    const char *text = rv1 ? PICK(in, lists) : PICK(in, graphs);
    int rc = match_partial_cancel(p->m, id, rv1 ? "rv1exec" : "jgf", text, strlen(text), &full,
                                  NULL, NULL);

    FUZZ_CHECK(rc < 0 || p->job[id]);
    if (rc == 0 && full)
        p->job[id] = false;
}

static void write_found(struct play *p, struct input *in)
{
    const char *text;
    size_t length;

    if (match_write(p->m, PICK(in, formats), &text, &length) == 0)
        FUZZ_CHECK(strlen(text) == length);
}

/* What any text names; every vertex is there. */
static void name(struct play *p, struct input *in)
{
    char text[64];
    size_t n = byte(in) % sizeof(text), i = 0, found = 0;
    uint32_t *v = NULL;
    berth_error_t err = {""};

    while (i < n && in->size > 0)
        text[i++] = (char)byte(in);
    text[i] = '\0';
    if (match_select(p->m, text, &v, &found, &err) == 0)
        FUZZ_CHECK(found > 0 && err.text[0] == '\0');
    else
        FUZZ_CHECK(!v && err.text[0] && !strchr(err.text, '\n'));
    for (i = 1; i < found; i++)
        FUZZ_CHECK(v[i - 1] < v[i]);
    free(v);
}

/* All that is told of a job is readable; right after a match or an update that recorded it, it is what was
 * found.
 */
static void tell(struct play *p, struct input *in)
{
    int64_t id = byte(in) % JOBS;
    struct strbuf summary = {0};
    uint32_t *v = NULL;
    size_t n, length;
    const char *text;

    FUZZ_CHECK((match_summary(p->m, id, &summary) == 0) == p->job[id]);
    if (summary.len > 0)
        FUZZ_CHECK(match_select(p->m, strbuf_text(&summary), &v, &n, NULL) == 0 && n > 0);
    if (match_write_job(p->m, id, PICK(in, formats), &text, &length) == 0)
        FUZZ_CHECK(p->job[id] && strlen(text) == length);
    if (match_write_job(p->m, id, "jgf", &text, &length) == 0 && length > 0) {
        resource_graph_t *g = resource_graph_read("jgf", text, length, NULL);
        FUZZ_CHECK(g);
        resource_graph_destroy(g);
    }
    strbuf_clear(&summary);
    free(v);
}

static void step(struct play *p, struct input *in)
{
    const char *text;

    switch (byte(in) % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
        run(p, in);
        break;
    case 4:
        cancel(p, in);
        break;
    case 5:
        update(p, in);
        break;
    case 6:
        partial(p, in);
        break;
    case 7:
        match_set_status(p->m, PICK(in, paths), byte(in) % 2, NULL);
        break;
    case 8:
        match_set_rank_status(p->m, PICK(in, ranks), byte(in) % 2, NULL);
        break;
    case 9:
        match_find(p->m, PICK(in, criteria), p->now, NULL);
        break;
    case 10:
        text = PICK(in, graphs);
        match_attach(p->m, text, strlen(text), NULL);
        break;
    case 11:
        match_remove_path(p->m, PICK(in, paths), NULL);
        break;
    case 12:
        match_set_property(p->m, PICK(in, paths), byte(in) % 2 ? "p" : "perf_class", "1", NULL);
        break;
    case 13:
        name(p, in);
        break;
    case 14:
        tell(p, in);
        break;
    default:
        p->now += byte(in) % 8;
    }
    write_found(p, in);
    FUZZ_CHECK(match_check(p->m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const policies[] = {"first",    "low",       "high",       "hinodex",
                                           "locality", "variation", "firstnodex", "lonode",
                                           "pack",     "spread",    "balance",    "nodeorder"};
    struct input in = {data, size};
    match_options_t options = {.policy = PICK(&in, policies)};
    resource_graph_t *g = resource_graph_read("jgf", machine, strlen(machine), NULL);
    struct play p = {.m = match_create(g, &options, NULL)};

    FUZZ_CHECK(p.m);
    for (int i = 0; i < STEPS_MAX && in.size > 0; i++)
        step(&p, &in);
    match_destroy(p.m);
    return 0;
}
