/* What a jobspec costs: time to read one, to make the tree of its text by either reader, and what reading the same text as
 * bare YAML events costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "berth/jobspec.h"
#include "jobspec/doc.h"
#include "measure.h"

enum { RUNS = 9, PARSES = 4000 };

static const char small_yaml[] = "version: 9999\n"
                                 "resources:\n"
                                 "  - type: node\n"
                                 "    count: 4\n"
                                 "    with:\n"
                                 "      - type: slot\n"
                                 "        count: 1\n"
                                 "        label: default\n"
                                 "        with:\n"
                                 "          - type: core\n"
                                 "            count: 2\n"
                                 "tasks:\n"
                                 "  - command: [ \"app\" ]\n"
                                 "    slot: default\n"
                                 "    count:\n"
                                 "      per_slot: 1\n"
                                 "attributes:\n"
                                 "  system:\n"
                                 "    duration: 3600\n"
                                 "    queue: batch\n";

static const char small_json[] =
    "{\"version\": 1, \"resources\": [{\"type\": \"node\", \"count\": 4, \"with\": [{\"type\": "
    "\"slot\", \"count\": 1, \"label\": \"default\", \"with\": [{\"type\": \"core\", \"count\": "
    "2}]}]}], \"tasks\": [{\"command\": [\"app\"], \"slot\": \"default\", \"count\": "
    "{\"per_slot\": 1}}], \"attributes\": {\"system\": {\"duration\": 3600, \"queue\": "
    "\"batch\"}}}";

static void fail(const char *why)
{
    fprintf(stderr, "bench_jobspec: %s\n", why);
    exit(1);
}

static void parse(const char *text, size_t length)
{
    berth_error_t err;
    jobspec_t *spec = jobspec_parse(text, length, NULL, &err);
    if (!spec)
        fail(err.text);
    jobspec_destroy(spec);
}

static void tree(const char *text, size_t length)
{
    struct doc doc;
    berth_error_t err;
    if (doc_read(&doc, text, length, "text", &err) < 0)
        fail(err.text);
    doc_clear(&doc);
}

static void tree_by_libyaml(const char *text, size_t length)
{
    struct doc doc;
    berth_error_t err;
    if (doc_read_yaml(&doc, text, length, "text", &err) < 0)
        fail(err.text);
    doc_clear(&doc);
}

static void events(const char *text, size_t length)
{
    yaml_parser_t parser;
    yaml_event_t event;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    for (int more = 1; more;) {
        if (!yaml_parser_parse(&parser, &event))
            fail("no YAML");
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

static void row(const char *what, void (*read)(const char *, size_t), const char *text,
                size_t length, int n)
{
    double ns[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (int i = 0; i < n; i++)
            read(text, length);
        ns[run] = (now() - start) * 1e9 / n;
    }
    qsort(ns, RUNS, sizeof(*ns), compare);
    printf("%-54s %9zu bytes %12.0f ns\n", what, length, ns[RUNS / 2]);
}

static void rows(const char *what, const char *text, size_t length, int n)
{
    row(what, parse, text, length, n);
    row("  its tree, by the quick reader", tree, text, length, n);
    row("  its tree, by libyaml", tree_by_libyaml, text, length, n);
    row("  its events alone, by libyaml", events, text, length, n);
}

/* A job of 2000 sibling resources, so that what grows with the text is seen. */
static char *large(size_t *ret_length)
{
    enum { RESOURCES = 2000 };
    char *text = malloc(RESOURCES * 64 + 512);
    if (!text)
        fail("out of memory");
    char *end = text + sprintf(text, "version: 1\nresources:\n");
    for (int i = 0; i < RESOURCES; i++)
        end += sprintf(end, "  - type: slot\n    count: %d\n    label: s%d\n", i, i);
    end += sprintf(end, "tasks: [{command: [a], slot: s1, count: {total: 1}}]\nattributes:\n");
    *ret_length = (size_t)(end - text);
    return text;
}

int main(void)
{
    printf("Reading a jobspec, median of %d runs\n", RUNS);
    rows("20 lines of YAML", small_yaml, strlen(small_yaml), PARSES);
    rows("the same as JSON", small_json, strlen(small_json), PARSES);
    size_t length;
    char *text = large(&length);
    rows("6000 lines of YAML", text, length, 5);
    free(text);
    return 0;
}
