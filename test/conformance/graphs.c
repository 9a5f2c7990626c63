/* Graphs against Fluxion's recorded sessions: where a session says how many vertices and edges there are,
 * of how many types, names and paths, and how many of each rank; and where it shows vertices of a graph
 * that hwloc described, those.
 *
 * usage: graphs_recorded SHARED/conformance/fluxion
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/resource.h"
#include "config/hwloc_load.h"
#include "resource/readers/reader.h"

static int failures, counted, shown;

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    *length = (size_t)size;
    return text;
}

static void expect(const char *name, const char *what, long long got, long long expected)
{
    if (got == expected)
        return;
    failures++;
    printf("FAIL: %s: %s %lld, expected %lld\n", name, what, got, expected);
}

/* The number that follows a text in another, or -1. */
static long long number_after(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    return at ? strtoll(at + strlen(label), NULL, 10) : -1;
}

/* How many different types, names and paths there are. */
static void count_texts(const struct graph *g, uint32_t n[3])
{
    struct intern all[3] = {{0}};
    struct strbuf text = {0};
    uint32_t id;

    for (uint32_t v = 0; v < g->n; v++) {
        const char *type = graph_type_name(g, v);
        intern_put(&all[0], type, strlen(type), &id);
        strbuf_reset(&text);
        graph_name(g, v, &text);
        intern_put(&all[1], strbuf_text(&text), text.len, &id);
        for (uint8_t s = 0; s < g->subsystems.n; s++) {
            strbuf_reset(&text);
            if (graph_path(g, v, s, &text))
                intern_put(&all[2], strbuf_text(&text), text.len, &id);
        }
    }
    for (int i = 0; i < 3; i++) {
        n[i] = all[i].n;
        intern_clear(&all[i]);
    }
    strbuf_clear(&text);
}

static void check_counts(const char *name, const struct graph *g, const char *expected)
{
    uint32_t n[3];
    const char *rank = expected;

    counted++;
    count_texts(g, n);
    expect(name, "vertices", (long long)resource_graph_vertices(g),
           number_after(expected, "Vertex Count: "));
    expect(name, "edges", (long long)resource_graph_edges(g),
           number_after(expected, "Edge Count: "));
    expect(name, "types", n[0], number_after(expected, "by_type Key-Value Pairs: "));
    expect(name, "names", n[1], number_after(expected, "by_name Key-Value Pairs: "));
    expect(name, "paths", n[2], number_after(expected, "by_path Key-Value Pairs: "));
    while ((rank = strstr(rank, "number of vertices with rank "))) {
        char *end;
        long long count = 0, which;
        rank += strlen("number of vertices with rank ");
        which = strtoll(rank, &end, 10);
        for (uint32_t v = 0; v < g->n; v++)
            count += g->v[v].rank == which;
        expect(name, "vertices of a rank", count, strtoll(end + 2, NULL, 10));
    }
}

/* Each vertex that a line of JSON shows is in the graph, with the same number. */
static void check_vertices(const char *name, const struct graph *g, const char *expected)
{
    const char *line = strstr(expected, "{\"graph\":");
    struct jgf j;
    berth_error_t err;

    if (!line)
        return;
    shown++;
    if (jgf_parse(&j, line, strcspn(line, "\n"), &err) < 0) {
        failures++;
        printf("FAIL: %s: %s\n", name, err.text);
        return;
    }
    for (size_t i = 0; i < j.n; i++) {
        const struct jgf_vertex *node = &j.vertex[i];
        uint32_t *found, v = VERTEX_NONE;
        size_t n = 0;
        if (graph_find_path(g, node->paths[0].path, &found, &n) == 0 && n == 1)
            v = found[0];
        if (n != 1) {
            failures++;
            printf("FAIL: %s: no %s\n", name, node->paths[0].path);
            continue;
        }
        free(found);
        expect(name, "uniq_id", graph_uniq_id(g, v), node->uniq_id);
        expect(name, "id", g->v[v].id, node->id);
        expect(name, "rank", g->v[v].rank, node->rank);
        expect(name, "size", g->v[v].size, node->size);
        expect(name, "properties", (long long)propset_size(&g->props, g->v[v].props),
               (long long)node->n_properties);
        expect(name, "basename differs", strcmp(graph_basename(g, v), node->basename), 0);
    }
    jgf_free(&j);
}

static struct graph *load(const char *format, const char *allow, const char *path,
                          berth_error_t *err)
{
    size_t length;
    char *text = read_file(path, &length);
    struct graph *g = NULL;

    if (!text) {
        snprintf(err->text, sizeof(err->text), "%.200s: %s", path, strerror(errno));
        return NULL;
    }
    if (strcmp(format, "hwloc") == 0) {
        g = graph_create();
        if (g && hwloc_load(g, text, length, allow, err) < 0) {
            graph_destroy(g);
            g = NULL;
        }
    } else {
        g = resource_graph_read(format, text, length, err);
    }
    free(text);
    return g;
}

/* Find a session's graph and how it is to be loaded; false if it is not for us. */
static bool parse_arguments(const char *root, const json_t *args, char path[4096],
                            const char **format, const char **allow, bool *counts)
{
    *path = '\0';
    for (size_t i = 0; i < json_array_size(args); i++) {
        const char *arg = json_string_value(json_array_get(args, i));
        const char *next = json_string_value(json_array_get(args, i + 1));
        *counts |= strcmp(arg, "-e") == 0;
        if (next && strcmp(arg, "-L") == 0 && strncmp(next, "@DATA@", 6) == 0)
            snprintf(path, 4096, "%s/data%s", root, next + 6);
        if (next && strcmp(arg, "-f") == 0)
            *format = next;
        if (next && strcmp(arg, "-W") == 0)
            *allow = next;
    }
    return *path && (*counts || strcmp(*format, "hwloc") == 0);
}

static void check_case(const char *root, const char *name)
{
    char path[4096];
    const char *format = "grug", *allow = NULL;
    bool counts = false;
    size_t length;
    berth_error_t err = {""};

    snprintf(path, sizeof(path), "%s/cases/%s/case.json", root, name);
    json_t *spec = json_load_file(path, 0, NULL);
    snprintf(path, sizeof(path), "%s/cases/%s/expected", root, name);
    char *expected = read_file(path, &length);
    if (spec && expected &&
        parse_arguments(root, json_object_get(spec, "args"), path, &format, &allow, &counts)) {
        struct graph *g = load(format, allow, path, &err);
        if (!g) {
            failures++;
            printf("FAIL: %s: %s\n", name, err.text);
        } else if (counts && strstr(expected, "Vertex Count: ")) {
            check_counts(name, g, expected);
        } else if (strcmp(format, "hwloc") == 0) {
            check_vertices(name, g, expected);
        }
        graph_destroy(g);
    }
    free(expected);
    json_decref(spec);
}

/* Call for each entry of a folder, in no order: cases do not depend on each other. */
static void each_entry(const char *root, const char *folder)
{
    char path[4096], name[600];
    DIR *dir;

    snprintf(path, sizeof(path), "%s/cases/%s", root, folder ? folder : "");
    dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        if (!folder) {
            each_entry(root, entry->d_name);
            continue;
        }
        snprintf(name, sizeof(name), "%.255s/%.255s", folder, entry->d_name);
        check_case(root, name);
    }
    if (dir)
        closedir(dir);
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

    if (!dir) {
        printf("skipped: no %s\n", argc == 2 ? argv[1] : "folder named");
        return 77;
    }
    closedir(dir);
    each_entry(argv[1], NULL);
    printf("%d sessions with counts, %d with vertices, %d differences\n", counted, shown, failures);
    return failures > 0 || counted < 4 || shown < 2;
}
