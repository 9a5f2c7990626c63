/* Reading R, version 1 (RFC 20), into flat arrays, and making a graph of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/idset.h"
#include "resource/readers/common.h"
#include "resource/readers/json_field.h"

/* What a struct rv1's json and hosts are. */
struct rv1_hosts {
    char *text;    /* names, each with a terminator */
    size_t *start; /* of the k-th name, which is that of the k-th rank */
};

struct parsing {
    struct rv1 *r;
    berth_error_t *err;
    uint32_t max;
    json_t *lite, *nodelist, *properties;
    struct idset *entry; /* ranks of each entry of R_lite */
    size_t n_entries;
    struct idset all; /* of all entries */
};

static struct json_place entry_place(const struct parsing *p, const char *prefix, const char *array,
                                     size_t index, const char *within)
{
    return (struct json_place){
        .err = p->err, .prefix = prefix, .array = array, .index = index, .within = within};
}

/* A member that is a set of ids. */
static int decode_ids(const struct json_place *place, const char *key, const json_t *json,
                      struct idset *ids)
{
    berth_error_t why = {""};
    char expected[160];

    if (!json_is_string(json))
        return json_wrong(place, key, json, "a set of ids");
    if (idset_decode(ids, json_string_value(json), json_string_length(json), &why) == 0)
        return 0;
    if (errno == ENOMEM)
        return errtext_no_memory(place->err);
    snprintf(expected, sizeof(expected), "a set of ids (%s)", why.text);
    return json_wrong(place, key, json, expected);
}

static int take_ranks(struct parsing *p, size_t i, uint64_t *n)
{
    struct json_place place = entry_place(p, "execution.", "R_lite", i, "");
    json_t *entry = json_array_get(p->lite, i);

    if (!json_is_object(entry))
        return json_wrong(&place, "", entry, "an object");
    if (decode_ids(&place, "rank", json_object_get(entry, "rank"), &p->entry[i]) < 0)
        return -1;
    if (p->entry[i].count == 0)
        return json_wrong(&place, "rank", json_object_get(entry, "rank"), "at least one rank");
    *n += p->entry[i].count;
    if (*n > p->max)
        return errtext_set(p->err, EINVAL, "execution.R_lite: too many ranks, expected at most %lu",
                           (unsigned long)p->max);
    return idset_unite(&p->all, &p->entry[i]) < 0 ? errtext_no_memory(p->err) : 0;
}

static int take_children(struct parsing *p, size_t i)
{
    struct json_place place = entry_place(p, "execution.", "R_lite", i, "");
    json_t *children, *value;
    const char *type;

    if (json_object_field(&place, json_array_get(p->lite, i), "children", JSON_REQUIRED,
                          &children) < 0)
        return -1;
    place.within = "children.";
    json_object_foreach (children, type, value) {
        struct rv1_children *c = &p->r->children[p->r->n_children];
        if (!*type)
            return json_wrong(&place, type, value, "a type");
        *c = (struct rv1_children){.entry = i, .type = type, .ids = calloc(1, sizeof(*c->ids))};
        if (!c->ids)
            return errtext_no_memory(p->err);
        p->r->n_children++;
        if (decode_ids(&place, type, value, c->ids) < 0)
            return -1;
    }
    return 0;
}

/* The names of as many hosts as there are ranks. */
static int spell_hosts(struct parsing *p, const struct hostlist *list, struct rv1_hosts *hosts)
{
    struct strbuf text = {0};
    struct hostlist_cursor cursor = {0};
    char name[HOSTLIST_NAME_SIZE];

    if ((uint64_t)hostlist_count(list) < p->all.count)
        return errtext_set(p->err, EINVAL,
                           "execution.nodelist: expected %llu hosts, one for each rank, found %lld",
                           (unsigned long long)p->all.count, (long long)hostlist_count(list));
    hosts->start = malloc((p->all.count + 1) * sizeof(*hosts->start));
    for (uint64_t k = 0; hosts->start && k < p->all.count; k++) {
        if (!hostlist_next(list, &cursor, name))
            break;
        hosts->start[k] = text.len;
        strbuf_put(&text, name, strlen(name) + 1);
    }
    hosts->text = strbuf_steal(&text);
    return hosts->start && hosts->text ? 0 : errtext_no_memory(p->err);
}

static int take_hosts(struct parsing *p)
{
    struct hostlist list = {0};
    berth_error_t why = {""};
    int rc = 0;

    for (size_t i = 0; i < json_array_size(p->nodelist) && rc == 0; i++) {
        struct json_place place = entry_place(p, "execution.", "nodelist", i, "");
        const json_t *hosts = json_array_get(p->nodelist, i);
        if (!json_is_string(hosts))
            rc = json_wrong(&place, "", hosts, "a list of hosts");
        else if (hostlist_append(&list, json_string_value(hosts), json_string_length(hosts), &why) <
                 0)
            rc = errno == ENOMEM
                     ? errtext_no_memory(p->err)
                     : errtext_set(p->err, EINVAL, "execution.nodelist[%zu]: %s", i, why.text);
    }
    if (rc == 0)
        rc = spell_hosts(p, &list, p->r->hosts);
    hostlist_clear(&list);
    return rc;
}

/* Ranks of all entries, each with its host: the k-th rank of all has the k-th. */
static int list_ranks(struct parsing *p, uint64_t n)
{
    const struct rv1_hosts *hosts = p->r->hosts;

    p->r->rank = calloc(n + 1, sizeof(*p->r->rank));
    if (!p->r->rank)
        return errtext_no_memory(p->err);
    for (size_t i = 0; i < p->n_entries; i++) {
        uint32_t range = 0;
        uint64_t before = 0; /* ranks in the ranges of all before this one */
        for (uint32_t k = 0; k < p->entry[i].n; k++) {
            struct idset_range ranks = p->entry[i].v[k];
            while (p->all.v[range].hi < ranks.lo) {
                before += (uint64_t)p->all.v[range].hi - p->all.v[range].lo + 1;
                range++;
            }
            for (uint32_t rank = ranks.lo; rank <= ranks.hi; rank++)
                p->r->rank[p->r->n++] = (struct rv1_rank){
                    .rank = (int32_t)rank,
                    .host = hosts->text + hosts->start[before + rank - p->all.v[range].lo],
                    .entry = i};
        }
    }
    return 0;
}

static int take_properties(struct parsing *p)
{
    struct json_place place = entry_place(p, "execution.", NULL, 0, "properties.");
    const char *key;
    json_t *value;

    p->r->property = calloc(json_object_size(p->properties) + 1, sizeof(*p->r->property));
    if (!p->r->property)
        return errtext_no_memory(p->err);
    json_object_foreach (p->properties, key, value) {
        struct rv1_property *property = &p->r->property[p->r->n_properties];
        *property = (struct rv1_property){.key = key, .ranks = calloc(1, sizeof(*property->ranks))};
        if (!property->ranks)
            return errtext_no_memory(p->err);
        p->r->n_properties++;
        if (decode_ids(&place, key, value, property->ranks) < 0)
            return -1;
    }
    return 0;
}

static int find_parts(struct parsing *p)
{
    struct json_place top = entry_place(p, "", NULL, 0, "");
    struct json_place inner = entry_place(p, "", NULL, 0, "execution.");
    json_t *json = p->r->json, *execution, *version;

    if (!json_is_object(json))
        return json_wrong(&top, "version", NULL, "the number 1");
    version = json_object_get(json, "version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return json_wrong(&top, "version", version, "the number 1");
    if (json_object_field(&top, json, "execution", JSON_REQUIRED, &execution) < 0 ||
        json_array_field(&inner, execution, "R_lite", JSON_REQUIRED, &p->lite) < 0 ||
        json_array_field(&inner, execution, "nodelist", JSON_REQUIRED, &p->nodelist) < 0 ||
        json_object_field(&inner, execution, "properties", JSON_OPTIONAL, &p->properties) < 0)
        return -1;
    return 0;
}

static int parse_resource_set(struct parsing *p)
{
    size_t n_children = 0;
    uint64_t n = 0;

    if (find_parts(p) < 0)
        return -1;
    p->n_entries = json_array_size(p->lite);
    for (size_t i = 0; i < p->n_entries; i++)
        n_children += json_object_size(json_object_get(json_array_get(p->lite, i), "children"));
    p->entry = calloc(p->n_entries + 1, sizeof(*p->entry));
    p->r->children = calloc(n_children + 1, sizeof(*p->r->children));
    if (!p->entry || !p->r->children || !p->r->hosts)
        return errtext_no_memory(p->err);
    for (size_t i = 0; i < p->n_entries; i++)
        if (take_ranks(p, i, &n) < 0 || take_children(p, i) < 0)
            return -1;
    if (take_hosts(p) < 0 || list_ranks(p, n) < 0)
        return -1;
    return take_properties(p);
}

int rv1_parse_within(struct rv1 *r, const char *text, size_t length, uint32_t max,
                     berth_error_t *err)
{
    struct parsing p = {.r = r, .err = err, .max = max};

    memset(r, 0, sizeof(*r));
    r->json = json_text(text, length, err);
    if (!r->json)
        return -1;
    r->hosts = calloc(1, sizeof(struct rv1_hosts));
    int rc = parse_resource_set(&p);
    for (size_t i = 0; p.entry && i < p.n_entries; i++)
        idset_clear(&p.entry[i]);
    free(p.entry);
    idset_clear(&p.all);
    if (rc < 0)
        rv1_free(r);
    return rc;
}

int rv1_parse(struct rv1 *r, const char *text, size_t length, berth_error_t *err)
{
    return rv1_parse_within(r, text, length, READER_VERTICES_MAX, err);
}

void rv1_free(struct rv1 *r)
{
    struct rv1_hosts *hosts = r->hosts;
    int saved = errno;

    for (size_t i = 0; i < r->n_children; i++) {
        idset_clear(r->children[i].ids);
        free(r->children[i].ids);
    }
    for (size_t i = 0; i < r->n_properties; i++) {
        idset_clear(r->property[i].ranks);
        free(r->property[i].ranks);
    }
    if (hosts) {
        free(hosts->text);
        free(hosts->start);
        free(hosts);
    }
    free(r->rank);
    free(r->children);
    free(r->property);
    json_decref(r->json);
    memset(r, 0, sizeof(*r));
    errno = saved;
}

struct loading {
    struct graph *g;
    const struct rv1 *r;
    berth_error_t *err;
    uint32_t cluster;
    size_t *first;  /* of each entry's children */
    uint32_t *like; /* by children: one of them */
    struct idset seen;
};

static int add_cluster(struct loading *l)
{
    struct vertex_spec spec = {.type = "cluster", .id = 0, .uniq_id = -1, .size = 1, .rank = -1};

    l->cluster = graph_add(l->g, &spec);
    if (l->cluster == VERTEX_NONE)
        return reader_failed(l->err);
    graph_set_root(l->g, GRAPH_CONTAINMENT, l->cluster);
    return 0;
}

static int add_children(struct loading *l, const struct rv1_rank *rank, uint32_t node)
{
    for (size_t c = l->first[rank->entry]; c < l->first[rank->entry + 1]; c++) {
        const struct rv1_children *children = &l->r->children[c];
        struct vertex_spec spec = {
            .type = children->type, .uniq_id = -1, .size = 1, .rank = rank->rank};
        for (uint32_t k = 0; k < children->ids->n; k++)
            for (uint32_t id = children->ids->v[k].lo; id <= children->ids->v[k].hi; id++) {
                spec.id = id;
                uint32_t v = l->like[c] == VERTEX_NONE
                                 ? graph_add(l->g, &spec)
                                 : graph_add_like(l->g, l->like[c], id, rank->rank);
                if (v == VERTEX_NONE || graph_connect(l->g, node, v, GRAPH_CONTAINMENT) < 0)
                    return reader_failed(l->err);
                l->like[c] = v;
            }
    }
    return 0;
}

static int add_rank_node(struct loading *l, const struct rv1_rank *rank)
{
    struct vertex_spec spec = {
        .type = "node", .name = rank->host, .uniq_id = -1, .size = 1, .rank = rank->rank};
    char base[HOSTLIST_NAME_SIZE];
    size_t length;

    if (idset_has(&l->seen, (uint32_t)rank->rank))
        return errtext_set(l->err, EEXIST, "execution.R_lite: rank %d comes twice", rank->rank);
    if (idset_add(&l->seen, (uint32_t)rank->rank) < 0)
        return reader_failed(l->err);
    if (host_split(rank->host, &length, &spec.id) < 0)
        return errtext_set(l->err, EINVAL,
                           "execution.nodelist: host '%s' ends in too large a number", rank->host);
    memcpy(base, rank->host, length);
    base[length] = '\0';
    spec.basename = base;
    if (name_follows(rank->host, base, length, spec.id))
        spec.name = NULL;
    uint32_t node = graph_add(l->g, &spec);
    if (node == VERTEX_NONE || graph_connect(l->g, l->cluster, node, GRAPH_CONTAINMENT) < 0)
        return reader_failed(l->err);
    for (size_t i = 0; i < l->r->n_properties; i++)
        if (idset_has(l->r->property[i].ranks, (uint32_t)rank->rank) &&
            graph_set_property(l->g, node, l->r->property[i].key, "") < 0)
            return reader_failed(l->err);
    return add_children(l, rank, node);
}

/* How many vertices there will be, before one is made. */
static int check_counts(struct loading *l, uint32_t max)
{
    size_t n_entries = l->r->n > 0 ? l->r->rank[l->r->n - 1].entry + 1 : 0;
    uint64_t *each = calloc(n_entries + 1, sizeof(*each)), total = 1;
    int rc = 0;

    l->first = calloc(n_entries + 2, sizeof(*l->first));
    l->like = malloc((l->r->n_children + 1) * sizeof(*l->like));
    if (!each || !l->first || !l->like) {
        free(each);
        return reader_failed(l->err);
    }
    memset(l->like, 0xff, (l->r->n_children + 1) * sizeof(*l->like));
    for (size_t c = 0; c < l->r->n_children; c++) {
        each[l->r->children[c].entry] += l->r->children[c].ids->count;
        l->first[l->r->children[c].entry + 1]++;
    }
    for (size_t i = 0; i < n_entries; i++)
        l->first[i + 1] += l->first[i];
    for (size_t i = 0; i < l->r->n && rc == 0; i++) {
        total += 1 + each[l->r->rank[i].entry];
        if (total > max)
            rc = errtext_set(l->err, EINVAL,
                             "execution.R_lite: too many vertices, expected at most %lu",
                             (unsigned long)max);
    }
    free(each);
    return rc;
}

static int fill_from_rv1(struct loading *l, uint32_t max)
{
    int rc = check_counts(l, max);

    if (rc == 0)
        rc = add_cluster(l);
    for (size_t i = 0; i < l->r->n && rc == 0; i++)
        rc = add_rank_node(l, &l->r->rank[i]);
    free(l->first);
    free(l->like);
    idset_clear(&l->seen);
    return rc < 0 ? -1 : reader_seal(l->g, l->err);
}

int read_rv1_within(struct graph *g, const char *text, size_t length, uint32_t max,
                    berth_error_t *err)
{
    struct loading l = {.err = err};
    struct rv1 r;
    int rc = -1;

    if (g->n > 0)
        return errtext_set(err, EEXIST, "there is a graph already, and R can't extend one");
    if (rv1_parse_within(&r, text, length, max, err) < 0)
        return -1;
    l.r = &r;
    l.g = graph_create();
    if (!l.g)
        reader_failed(err);
    else
        rc = fill_from_rv1(&l, max);
    if (rc == 0)
        graph_swap(g, l.g);
    graph_destroy(l.g);
    rv1_free(&r);
    return rc;
}

int read_rv1(struct graph *g, const char *text, size_t length, berth_error_t *err)
{
    return read_rv1_within(g, text, length, READER_VERTICES_MAX, err);
}
