/* Any lines are commands to a small machine: they are answered or refused, and leave a matcher that is whole.
 *
 * The first byte chooses policy and format, the rest are the lines. Files are those below and no others.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "cli/query/commands.h"
#include "resource/graph.h"

#define LINES_MAX 64 /* so that an input takes no longer than a moment */

#define JOB(resources)                                                                             \
    "{\"version\":9999,\"resources\":[" resources "],\"attributes\":{\"system\":{\"duration\":10}" \
    "},\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}]}"

#define SLOT(count, below)                                                                         \
    "{\"type\":\"slot\",\"label\":\"s\",\"count\":" count ",\"with\":[" below "]}"

#define R(ranks, ids)                                                                              \
    "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"" ranks                                 \
    "\",\"children\":{\"core\":\"" ids "\",\"gpu\":\"0\"}}],\"nodelist\":[\"n[" ranks              \
    "]\"],\"starttime\":0,\"expiration\":0}}"

static const char machine[] = R("0-2", "0-3");

static const struct {
    const char *name, *text;
} files[] = {
    {"core", JOB(SLOT("1", "{\"type\":\"core\",\"count\":1}"))},
    {"node", JOB(SLOT("1", "{\"type\":\"node\",\"count\":1}"))},
    {"many", JOB(SLOT("{\"min\":1,\"max\":9,\"operator\":\"+\",\"operand\":1}",
                      "{\"type\":\"core\",\"count\":2},{\"type\":\"gpu\",\"count\":1}"))},
    {"deep", JOB("{\"type\":\"node\",\"count\":2,\"with\":[" SLOT(
                 "2", "{\"type\":\"core\",\"count\":1}") "]}")},
    {"R0", R("0", "0-1")},
    {"R12", R("1-2", "0-3")},
    {"jgf", "{\"graph\":{\"nodes\":[{\"id\":\"0\",\"metadata\":{\"type\":\"cluster\",\"id\":0,"
            "\"rank\":-1,\"size\":1,\"paths\":{\"containment\":\"/cluster0\"}}},{\"id\":\"90\","
            "\"metadata\":{\"type\":\"node\",\"id\":9,\"rank\":9,\"size\":1,\"paths\":{"
            "\"containment\":\"/cluster0/node9\"}}},{\"id\":\"91\",\"metadata\":{\"type\":\"core\","
            "\"id\":0,\"rank\":9,\"size\":1,\"paths\":{\"containment\":\"/cluster0/node9/core0\"}}}"
            "],\"edges\":[{\"source\":\"0\",\"target\":\"90\"},{\"source\":\"90\",\"target\":"
            "\"91\"}]}}"},
};

/* In place of that of src/cli/query: no command of the fuzzer's opens a file. */
int text_read(struct text *text, const char *path, size_t max)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t n = strlen(files[i].text);
        if (strcmp(path, files[i].name) != 0 || n > max)
            continue;
        text_clear(text);
        text->bytes = malloc(n); /* exactly, so that a sanitizer sees a read beyond it */
        FUZZ_CHECK(text->bytes);
        memcpy(text->bytes, files[i].text, n);
        text->length = text->capacity = n;
        return 0;
    }
    errno = ENOENT;
    return -1;
}

void text_clear(struct text *text)
{
    free(text->bytes);
    memset(text, 0, sizeof(*text));
}

static void run_lines(struct session *s, const uint8_t *data, size_t size)
{
    for (int n = 0; size > 0 && n < LINES_MAX; n++) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size;
        char *line = strndup((const char *)data, length);
        FUZZ_CHECK(line);
        bool more = query_run(s, line);
        free(line);
        FUZZ_CHECK(graph_check(match_graph(s->machine)));
        if (!more)
            return;
        length += end ? 1 : 0;
        data += length;
        size -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const policies[] = {"first", "low", "hinodex", "locality"};
    static const char *const formats[] = {"simple", "jgf", "rlite", "rv1"};
    if (size == 0)
        return 0;
    struct session s;
    session_init(&s);
    match_options_t options = {.policy = policies[data[0] % 4]};
    resource_graph_t *graph = resource_graph_read("rv1exec", machine, strlen(machine), NULL);
    FUZZ_CHECK(graph);
    s.machine = match_create(graph, &options, NULL);
    FUZZ_CHECK(s.machine);
    s.format = formats[data[0] / 4 % 4];
    s.elapse = data[0] & 16;
    FILE *nowhere = fopen("/dev/null", "w");
    FUZZ_CHECK(nowhere);
    s.out = s.info = s.err = nowhere;
    run_lines(&s, data + 1, size - 1);
    fclose(nowhere);
    session_clear(&s);
    return 0;
}
