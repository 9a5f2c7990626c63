/* The JSON Graph Format into flat arrays; strings stay where the JSON has them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/intern.h"
#include "resource/readers/common.h"
#include "resource/readers/json_field.h"

/* What a struct jgf's json is. */
struct jgf_memory {
    json_t *root;
    struct jgf_path *path; /* of all vertices */
    struct jgf_property *property;
    struct intern texts; /* names that the JSON leaves out and that don't follow */
};

struct parsing {
    struct jgf *j;
    struct jgf_memory *memory;
    berth_error_t *err;
    json_t *nodes, *edges;
    size_t n_paths, n_properties; /* taken so far */
    struct intern ids;            /* outer ids, numbered as the vertices */
};

static struct json_place element_place(const struct parsing *p, const char *array, size_t index,
                                       const char *within)
{
    return (struct json_place){
        .err = p->err, .prefix = p->j->prefix, .array = array, .index = index, .within = within};
}

/* The number that an outer id is, as the default of uniq_id. */
static bool parse_id(const char *text, int64_t *number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return !*end && errno == 0;
}

/* Fill in the ids and names that a vertex leaves out. */
static int apply_defaults(struct parsing *p, const struct json_place *place, struct jgf_vertex *v,
                          bool has_id, const json_t *metadata)
{
    size_t base;
    int64_t id;

    if (v->uniq_id < 0 && !parse_id(v->outer_id, &v->uniq_id))
        return json_wrong(place, "uniq_id", json_object_get(metadata, "uniq_id"),
                          "a number, as the node's id is none");
    if (!has_id) {
        v->id = v->uniq_id;
        if (v->name && strcmp(v->type, "node") == 0) {
            if (host_split(v->name, &base, &id) < 0)
                return json_wrong(place, "name", json_object_get(metadata, "name"),
                                  "a name that ends in a smaller number");
            if (id != -1)
                v->id = id;
        }
    }
    if (!v->basename)
        v->basename = v->type;
    if (v->name && name_follows(v->name, v->basename, strlen(v->basename), v->id))
        v->name = NULL;
    else if (!v->name && v->id == -1) {
        struct strbuf name = {0};
        uint32_t text;
        strbuf_puts(&name, v->basename);
        strbuf_puts(&name, "-1");
        int rc = name.failed ? -1 : intern_put(&p->memory->texts, name.data, name.len, &text);
        strbuf_clear(&name);
        if (rc < 0)
            return errtext_no_memory(p->err);
        v->name = intern_text(&p->memory->texts, text);
    }
    return 0;
}

/* There is room for all: each array is as long as the objects that were counted. */
static int take_paths(struct parsing *p, const struct json_place *outer, struct jgf_vertex *v,
                      json_t *paths)
{
    struct json_place place = *outer;
    const char *key;
    json_t *value;

    place.within = "metadata.paths.";
    v->paths = &p->memory->path[p->n_paths];
    json_object_foreach (paths, key, value) {
        const char *path = json_string_value(value);
        if (!path || path[0] != '/' || !path[1])
            return json_wrong(&place, key, value, "a path that begins with a slash");
        p->memory->path[p->n_paths++] = (struct jgf_path){key, path};
        v->n_paths++;
    }
    if (v->n_paths == 0)
        return json_wrong(outer, "paths", paths, "at least one path");
    return 0;
}

static int take_properties(struct parsing *p, const struct json_place *outer, struct jgf_vertex *v,
                           json_t *properties)
{
    struct json_place place = *outer;
    const char *key;
    json_t *value;

    place.within = "metadata.properties.";
    v->properties = &p->memory->property[p->n_properties];
    json_object_foreach (properties, key, value) {
        if (!json_is_string(value))
            return json_wrong(&place, key, value, "a string");
        p->memory->property[p->n_properties++] =
            (struct jgf_property){key, json_string_value(value)};
        v->n_properties++;
    }
    return 0;
}

static int take_metadata(struct parsing *p, const struct json_place *place, struct jgf_vertex *v,
                         json_t *metadata)
{
    json_t *paths, *properties;
    int64_t rank = -1, status = 0;

    v->uniq_id = -1;
    v->size = 1;
    v->unit = "";
    if (json_string_field(place, metadata, "type", JSON_REQUIRED, &v->type) < 0 ||
        json_string_field(place, metadata, "basename", JSON_OPTIONAL, &v->basename) < 0 ||
        json_string_field(place, metadata, "name", JSON_OPTIONAL, &v->name) < 0 ||
        json_string_field(place, metadata, "unit", JSON_OPTIONAL, &v->unit) < 0 ||
        json_number_field(place, metadata, "id", INT64_MIN, INT64_MAX, &v->id) < 0 ||
        json_number_field(place, metadata, "uniq_id", -1, INT64_MAX, &v->uniq_id) < 0 ||
        json_number_field(place, metadata, "size", 0, INT64_MAX, &v->size) < 0 ||
        json_number_field(place, metadata, "rank", -1, INT32_MAX, &rank) < 0 ||
        json_number_field(place, metadata, "status", 0, 1, &status) < 0 ||
        json_bool_field(place, metadata, "exclusive", &v->exclusive) < 0 ||
        json_object_field(place, metadata, "paths", JSON_REQUIRED, &paths) < 0 ||
        json_object_field(place, metadata, "properties", JSON_OPTIONAL, &properties) < 0)
        return -1;
    if (!*v->type)
        return json_wrong(place, "type", json_object_get(metadata, "type"), "a name");
    v->rank = (int32_t)rank;
    v->down = status == 1;
    if (apply_defaults(p, place, v, json_object_get(metadata, "id") != NULL, metadata) < 0 ||
        take_paths(p, place, v, paths) < 0)
        return -1;
    return properties ? take_properties(p, place, v, properties) : 0;
}

static int take_graph_node(struct parsing *p, size_t i)
{
    struct jgf_vertex *v = &p->j->vertex[i];
    struct json_place place = element_place(p, "graph.nodes", i, "");
    json_t *node = json_array_get(p->nodes, i), *metadata;
    uint32_t number;

    if (!json_is_object(node))
        return json_wrong(&place, "", node, "an object");
    if (json_string_field(&place, node, "id", JSON_REQUIRED, &v->outer_id) < 0)
        return -1;
    if (intern_find(&p->ids, v->outer_id, strlen(v->outer_id), &number))
        return errtext_set(p->err, EINVAL, "%sgraph.nodes[%zu].id: found duplicate node id '%s'",
                           p->j->prefix, i, v->outer_id);
    if (intern_put(&p->ids, v->outer_id, strlen(v->outer_id), &number) < 0)
        return errtext_no_memory(p->err);
    if (json_object_field(&place, node, "metadata", JSON_REQUIRED, &metadata) < 0)
        return -1;
    place.within = "metadata.";
    return take_metadata(p, &place, v, metadata);
}

static int take_edge(struct parsing *p, size_t i)
{
    struct json_place place = element_place(p, "graph.edges", i, "");
    json_t *edge = json_array_get(p->edges, i), *metadata;
    const char *ends[2], *keys[2] = {"source", "target"};
    struct jgf_edge e = {.subsystem = "containment"};
    uint32_t number[2];

    if (!json_is_object(edge))
        return json_wrong(&place, "", edge, "an object");
    if (json_object_field(&place, edge, "metadata", JSON_OPTIONAL, &metadata) < 0)
        return -1;
    for (int k = 0; k < 2; k++)
        if (json_string_field(&place, edge, keys[k], JSON_REQUIRED, &ends[k]) < 0)
            return -1;
    place.within = "metadata.";
    if (metadata &&
        json_string_field(&place, metadata, "subsystem", JSON_OPTIONAL, &e.subsystem) < 0)
        return -1;
    for (int k = 0; k < 2; k++) {
        if (intern_find(&p->ids, ends[k], strlen(ends[k]), &number[k]))
            continue;
        if (p->j->free_ranks)
            return 0;
        return errtext_set(p->err, EINVAL,
                           "%sgraph.edges[%zu].%s: unknown node '%s', expected the id of one",
                           p->j->prefix, i, keys[k], ends[k]);
    }
    e.source = number[0];
    e.target = number[1];
    p->j->edge[p->j->n_edges++] = e;
    return 0;
}

/* Find the graph in the text, and how many paths and properties there are at most. */
static int find_graph(struct parsing *p)
{
    struct json_place place = {.err = p->err, .prefix = "", .within = ""};
    json_t *top = p->memory->root, *graph, *scheduling;
    struct idset ranks = {0};
    berth_error_t why = {""};

    if (!json_is_object(top))
        return json_wrong(&place, "graph", NULL, "an object");
    scheduling = json_object_get(top, "scheduling");
    if (!json_object_get(top, "graph") && json_is_object(scheduling)) {
        top = scheduling;
        place.prefix = p->j->prefix = "scheduling.";
    }
    if (json_object_field(&place, top, "graph", JSON_REQUIRED, &graph) < 0)
        return -1;
    if (json_string_field(&place, top, "free_ranks", JSON_OPTIONAL, &p->j->free_ranks) < 0)
        return -1;
    if (p->j->free_ranks &&
        idset_decode(&ranks, p->j->free_ranks, strlen(p->j->free_ranks), &why) < 0)
        return errtext_set(p->err, errno == ENOMEM ? ENOMEM : EINVAL, "%sfree_ranks: %s",
                           p->j->prefix, why.text);
    idset_clear(&ranks);
    place.within = "graph.";
    if (json_array_field(&place, graph, "nodes", JSON_REQUIRED, &p->nodes) < 0 ||
        json_array_field(&place, graph, "edges", JSON_REQUIRED, &p->edges) < 0)
        return -1;
    return 0;
}

static int allocate_elements(struct parsing *p)
{
    size_t n = json_array_size(p->nodes), n_edges = json_array_size(p->edges);
    size_t n_paths = 0, n_properties = 0;

    if (n > GRAPH_VERTEX_MAX || n_edges > GRAPH_VERTEX_MAX)
        return errtext_set(p->err, EINVAL, "%sgraph: too many nodes or edges", p->j->prefix);
    for (size_t i = 0; i < n; i++) {
        const json_t *metadata = json_object_get(json_array_get(p->nodes, i), "metadata");
        n_paths += json_object_size(json_object_get(metadata, "paths"));
        n_properties += json_object_size(json_object_get(metadata, "properties"));
    }
    p->j->vertex = calloc(n + 1, sizeof(*p->j->vertex));
    p->j->edge = calloc(n_edges + 1, sizeof(*p->j->edge));
    p->memory->path = calloc(n_paths + 1, sizeof(*p->memory->path));
    p->memory->property = calloc(n_properties + 1, sizeof(*p->memory->property));
    if (!p->j->vertex || !p->j->edge || !p->memory->path || !p->memory->property)
        return errtext_no_memory(p->err);
    p->j->n = n;
    return 0;
}

int jgf_parse(struct jgf *j, const char *text, size_t length, berth_error_t *err)
{
    struct parsing p = {.j = j, .err = err};
    int rc;

    *j = (struct jgf){.prefix = ""};
    p.memory = calloc(1, sizeof(*p.memory));
    j->json = p.memory;
    if (!p.memory)
        return errtext_no_memory(err);
    p.memory->root = json_text(text, length, err);
    rc = p.memory->root ? find_graph(&p) : -1;
    if (rc == 0)
        rc = allocate_elements(&p);
    for (size_t i = 0; i < j->n && rc == 0; i++)
        rc = take_graph_node(&p, i);
    for (size_t i = 0; rc == 0 && i < json_array_size(p.edges); i++)
        rc = take_edge(&p, i);
    intern_clear(&p.ids);
    if (rc < 0)
        jgf_free(j);
    return rc;
}

void jgf_free(struct jgf *j)
{
    struct jgf_memory *memory = j->json;
    int saved = errno;

    if (memory) {
        json_decref(memory->root);
        free(memory->path);
        free(memory->property);
        intern_clear(&memory->texts);
        free(memory);
    }
    free(j->vertex);
    free(j->edge);
    memset(j, 0, sizeof(*j));
    errno = saved;
}
