/* GET /v1/nodes: what each node has, what running jobs hold of it, and whether it is in use. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "berth/sched_query.h"
#include "config/seconds.h"
#include "resource/graph.h"
#include "server/api/api.h"
#include "server/core/members.h"
#include "server/core/pilots.h"

struct node_row {
    uint32_t vertex;
    char *name;
    int64_t cores, gpus, memory;
    int64_t gpu_memory, gpu_memory_used; /* of GPUs, in units */
    int64_t cores_used, gpus_used, memory_used;
    int64_t cores_down, gpus_down, memory_down; /* or drained */
    int64_t cores_backfilled, gpus_backfilled;  /* used by jobs that others may have it of */
    size_t jobs;
};

struct node_table {
    const struct graph *g;
    struct node_row *v;
    size_t n;
    uint32_t *of_rank; /* the row of a rank; VERTEX_NONE: none */
    size_t n_ranks;
};

/* ---- What there is ---- */

static int collect(struct node_table *t, const struct graph *g)
{
    size_t nodes = 0, ranks = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        bool is = g->v[v].type == TYPE_NODE && !g->v[v].gone && !graph_is_spare(g, v);
        nodes += is;
        if (is && g->v[v].rank >= 0 && (size_t)g->v[v].rank >= ranks)
            ranks = (size_t)g->v[v].rank + 1;
    }
    *t = (struct node_table){.g = g, .n_ranks = ranks};
    t->v = calloc(nodes + 1, sizeof(*t->v));
    t->of_rank = reallocarray(NULL, ranks + 1, sizeof(*t->of_rank));
    if (!t->v || !t->of_rank)
        return -1;
    for (size_t i = 0; i < ranks; i++)
        t->of_rank[i] = VERTEX_NONE;
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->v[v].type != TYPE_NODE || g->v[v].gone || graph_is_spare(g, v))
            continue;
        if (g->v[v].rank >= 0)
            t->of_rank[g->v[v].rank] = (uint32_t)t->n;
        t->v[t->n++].vertex = v;
    }
    return 0;
}

/* The node that a vertex is in, and whether anything from the vertex up is down. */
static uint32_t node_above(const struct graph *g, uint32_t v, bool *down)
{
    uint32_t node = VERTEX_NONE;
    for (*down = false; v != VERTEX_NONE; v = graph_parent(g, v, GRAPH_CONTAINMENT)) {
        *down = *down || g->v[v].down;
        if (g->v[v].type == TYPE_NODE && node == VERTEX_NONE)
            node = v;
    }
    return node;
}

static int compare_vertices(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = ((const struct node_row *)b)->vertex;
    return (x > y) - (x < y);
}

/* Add up what is in each node. O(vertices x (depth + log nodes)). */
static void add_contents(struct node_table *t)
{
    const struct graph *g = t->g;
    for (uint32_t v = 0; v < g->n; v++) {
        bool down, is_memory = strcmp(graph_type_name(g, v), "memory") == 0,
                   is_of_gpu = strcmp(graph_type_name(g, v), "gpu-memory") == 0;
        if (g->v[v].gone ||
            (g->v[v].type != TYPE_CORE && g->v[v].type != TYPE_GPU && !is_memory && !is_of_gpu))
            continue;
        uint32_t node = node_above(g, v, &down);
        struct node_row *row = bsearch(&node, t->v, t->n, sizeof(*t->v), compare_vertices);
        if (!row)
            continue;
        row->cores += g->v[v].type == TYPE_CORE;
        row->cores_down += g->v[v].type == TYPE_CORE && down;
        row->gpus += g->v[v].type == TYPE_GPU;
        row->gpus_down += g->v[v].type == TYPE_GPU && down;
        row->memory += is_memory ? g->v[v].size : 0;
        row->memory_down += is_memory && down ? g->v[v].size : 0;
        row->gpu_memory += is_of_gpu ? g->v[v].size : 0;
    }
}

/* ---- What is in use ---- */

static int64_t count_ids(const struct resource_range *range, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (int64_t)range[i].last - (int64_t)range[i].first + 1;
    return count;
}

static void add_used(struct node_table *t, const struct resource_host *host, bool is_filling)
{
    if (host->rank < 0 || (size_t)host->rank >= t->n_ranks || t->of_rank[host->rank] == VERTEX_NONE)
        return;
    struct node_row *row = &t->v[t->of_rank[host->rank]];
    int64_t cores = count_ids(host->cores, host->n_cores),
            gpus = count_ids(host->gpus, host->n_gpus) - (int64_t)host->n_shared;
    row->cores_used += cores;
    row->gpus_used += gpus;
    row->memory_used += host->memory;
    row->gpu_memory_used += host->of_gpus;
    row->cores_backfilled += is_filling ? cores : 0;
    row->gpus_backfilled += is_filling ? gpus : 0;
    row->jobs++;
}

/* O(what runs hold). */
static void add_runs(struct node_table *t, const server_t *s)
{
    struct sched_allocation given;
    for (size_t i = 0; i < s->runs.n; i++) {
        const struct run *run = s->runs.v[i];
        const struct member *m = run && run->key ? member_record(run->job, run->member) : NULL;
        if (!m || !member_is_live(m) || m->handle < 0 ||
            sched_allocation(s->sched, m->handle, &given) < 0)
            continue;
        bool is_filling = sched_is_filling(s->sched, m->handle);
        for (size_t h = 0; h < given.n_hosts; h++)
            add_used(t, &given.hosts[h], is_filling);
    }
}

/* ---- Whether it may be used ---- */

/* Whether an administrator's change is of a node, all of it or a part: "node[0-3]", "node1/core0". */
static bool concerns_node(const json_t *entry, const char *name)
{
    const char *text = json_string_value(json_object_get(entry, "resources"));
    struct hostlist hosts = {0};
    size_t n = text ? strcspn(text, "/") : 0;
    bool found = n > 0 && hostlist_decode(&hosts, text, n, NULL) == 0 &&
                 hostlist_find(&hosts, name, strlen(name)) >= 0;
    hostlist_clear(&hosts);
    return found;
}

/* The last change of a node; NULL. */
static const json_t *change_of(const server_t *s, const char *name)
{
    const json_t *list = json_object_get(s->settings, "resources");
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *entry = json_array_get(list, i);
        if (concerns_node(entry, name))
            return entry;
    }
    return NULL;
}

static void put_status(const server_t *s, struct json_out *out, const struct node_row *row)
{
    bool down, is_up;
    node_above(match_graph(s->machine), row->vertex, &down);
    is_up = !down && row->cores_down == 0;
    const json_t *entry = is_up ? NULL : change_of(s, row->name);
    const char *word = json_string_value(json_object_get(entry, "status"));
    const char *reason = json_string_value(json_object_get(entry, "reason"));
    bool drained = false;
    if (!is_up && !entry)
        reason = ruled_reason(s, row->name, &drained);
    json_put_text(out, "status",
                  is_up     ? "up"
                  : !down   ? "partly"
                  : word    ? word
                  : drained ? "drained"
                            : "down");
    json_put_text(out, "reason", reason);
    json_put_seconds(out, "since",
                     entry ? json_integer_value(json_object_get(entry, "since")) : -1);
}

/* ---- Rows ---- */

static void put_properties(struct json_out *out, const struct graph *g, uint32_t v)
{
    size_t n = propset_size(&g->props, g->v[v].props);
    json_open(out, "properties", '[');
    for (size_t i = 0; i < n; i++)
        json_put_string(out, NULL,
                        propset_text(&g->props, propset_at(&g->props, g->v[v].props, i).key));
    json_close(out, ']');
}

/* What nobody holds of what is up; what jobs hold that may be stopped for others, or fill a claim; and both together. */
static void put_accessible(struct json_out *out, const char *const keys[3], int64_t up,
                           int64_t used, int64_t backfilled)
{
    int64_t idle = up > used ? up - used : 0;
    json_put_int(out, keys[0], idle);
    json_put_int(out, keys[1], backfilled);
    json_put_int(out, keys[2], idle + backfilled);
}

static void put_node_row(const struct call *c, struct json_out *out, const struct node_row *row)
{
    static const char *const of_cores[] = {"cores_idle", "cores_backfilled", "cores_accessible"};
    static const char *const of_gpus[] = {"gpus_idle", "gpus_backfilled", "gpus_accessible"};
    const struct graph *g = match_graph(c->s->machine);
    int64_t unit = c->s->size.memory_unit;
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "name", row->name);
    json_put_int(out, "rank", g->v[row->vertex].rank);
    put_status(c->s, out, row);
    json_put_int(out, "cores", row->cores);
    json_put_int(out, "cores_used", row->cores_used);
    json_put_int(out, "cores_down", row->cores_down);
    put_accessible(out, of_cores, row->cores - row->cores_down, row->cores_used,
                   row->cores_backfilled);
    json_put_int(out, "gpus", row->gpus);
    json_put_int(out, "gpus_used", row->gpus_used);
    put_accessible(out, of_gpus, row->gpus - row->gpus_down, row->gpus_used, row->gpus_backfilled);
    json_put_int(out, "memory", row->memory * unit);
    json_put_int(out, "memory_used", row->memory_used * unit);
    json_put_int(out, "memory_down", row->memory_down * unit);
    json_put_int(out, "gpu_memory", row->gpu_memory * c->s->size.gpu_memory_unit);
    json_put_int(out, "gpu_memory_used", row->gpu_memory_used * c->s->size.gpu_memory_unit);
    json_put_uint(out, "jobs", row->jobs);
    put_properties(out, g, row->vertex);
    json_close(out, '}');
}

static int by_name(const void *a, const void *b)
{
    const struct node_row *x = a, *y = b;
    int order = hostlist_compare(x->name, y->name);
    return order ? order : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* The order in which nodes have joined tells nobody anything. */
static int sort_rows(struct node_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct strbuf name = {0};
        graph_name(t->g, t->v[i].vertex, &name);
        t->v[i].name = strbuf_steal(&name);
        if (!t->v[i].name)
            return -1;
    }
    qsort(t->v, t->n, sizeof(*t->v), by_name);
    return 0;
}

static void clear_table(struct node_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i].name);
    free(t->v);
    free(t->of_rank);
}

void api_nodes_get(struct call *c)
{
    struct json_out out = {.text = c->out};
    struct node_table t;
    bool is_there = collect(&t, match_graph(c->s->machine)) == 0;
    if (is_there) {
        add_contents(&t);
        add_runs(&t, c->s);
    }
    if (!is_there || sort_rows(&t) < 0) {
        api_no_memory(c->reply);
    } else {
        json_open(&out, NULL, '{');
        json_open(&out, "nodes", '[');
        for (size_t i = 0; i < t.n; i++)
            put_node_row(c, &out, &t.v[i]);
        strbuf_puts(c->out, "\n]}\n");
    }
    clear_table(&t);
}
