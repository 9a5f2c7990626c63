#include "match/machine/topo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory that is used while classes are made. */
struct making {
    struct topo *t;
    uint32_t *bucket; /* lists of classes by hash, ended by CLASS_NONE */
    uint32_t buckets; /* a power of two */
    uint32_t class_capacity, run_capacity, sum_capacity;
    struct class_sum *scratch; /* sums of the current vertex, by type */
    uint32_t *scratch_of;      /* by type: index in scratch plus 1 */
    uint32_t n_scratch;
};

static void *grown(void *array, uint32_t n, uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return array;
    uint32_t more = *capacity + *capacity / 2 + 16;
    void *new = reallocarray(array, more, size);
    if (new)
        *capacity = more;
    return new;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* True if v counts this child, because it is reached first from v. */
static bool owns(const struct topo *t, uint32_t v, uint32_t child)
{
    return !t->owner || t->owner[child] == v;
}

static uint32_t hash_vertex(const struct topo *t, uint32_t v)
{
    const struct vertex *x = &t->g->v[v];
    uint64_t hash = mix(mix(x->type, (uint64_t)x->size), x->divisible);
    const uint32_t *children;
    uint32_t n = topo_children(t, v, &children);

    for (uint32_t i = 0; i < n; i++)
        hash =
            mix(hash, (uint64_t)t->class_of[children[i]] << 32 ^ (uint64_t)t->g->v[children[i]].id);
    return (uint32_t)(hash >> 16);
}

static bool are_of_one_class(const struct topo *t, uint32_t a, uint32_t b)
{
    const struct vertex *x = &t->g->v[a], *y = &t->g->v[b];
    const uint32_t *p, *q;
    uint32_t n = topo_children(t, a, &p);

    if (x->type != y->type || x->size != y->size || x->divisible != y->divisible ||
        topo_children(t, b, &q) != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (t->class_of[p[i]] != t->class_of[q[i]] || t->g->v[p[i]].id != t->g->v[q[i]].id ||
            owns(t, a, p[i]) != owns(t, b, q[i]))
            return false;
    return true;
}

static void add_sum(struct making *m, const struct class_sum *more)
{
    uint32_t *place = &m->scratch_of[more->type];

    if (!*place) {
        m->scratch[m->n_scratch++] = *more;
        *place = m->n_scratch;
        return;
    }
    struct class_sum *s = &m->scratch[*place - 1];
    s->count += more->count;
    s->in_node += more->in_node;
    s->units += more->units;
    if (s->size != more->size)
        s->size = 0;
    if (more->min_id < s->min_id)
        s->min_id = more->min_id;
    if (more->max_id > s->max_id)
        s->max_id = more->max_id;
}

static int by_type(const void *a, const void *b)
{
    return ((const struct class_sum *)a)->type - ((const struct class_sum *)b)->type;
}

/* Make the sums of a new class, from its sample's children. */
static int make_sums(struct making *m, struct class *c)
{
    struct topo *t = m->t;
    const uint32_t *children;
    uint32_t n = topo_children(t, c->sample, &children);

    m->n_scratch = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct vertex *x = &t->g->v[children[i]];
        const struct class *k = topo_class(t, children[i]);
        if (!owns(t, c->sample, children[i]))
            continue;
        add_sum(m, &(struct class_sum){.type = x->type,
                                       .count = 1,
                                       .units = (uint64_t)x->size,
                                       .size = x->size,
                                       .min_id = x->id,
                                       .max_id = x->id});
        for (uint32_t j = 0; j < k->n_sums; j++) {
            struct class_sum sum = t->sum[k->sum + j];
            if (x->type == TYPE_NODE)
                sum.in_node = sum.count;
            add_sum(m, &sum);
        }
    }
    for (uint32_t i = 0; i < m->n_scratch; i++)
        m->scratch_of[m->scratch[i].type] = 0;
    if (m->n_scratch > 1)
        qsort(m->scratch, m->n_scratch, sizeof(*m->scratch), by_type);
    c->sum = t->n_sums;
    c->n_sums = m->n_scratch;
    c->uniform = true;
    for (uint32_t i = 0; i < m->n_scratch; i++) {
        c->uniform &= m->scratch[i].size > 0;
        struct class_sum *sum = grown(t->sum, t->n_sums, &m->sum_capacity, sizeof(*sum));
        if (!sum)
            return -1;
        t->sum = sum;
        t->sum[t->n_sums++] = m->scratch[i];
    }
    return 0;
}

static int make_runs(struct making *m, struct class *c)
{
    struct topo *t = m->t;
    const struct vertex *v = t->g->v;
    const uint32_t *children;
    uint32_t n = topo_children(t, c->sample, &children);

    c->run = t->n_runs;
    for (uint32_t i = 0; i < n;) {
        struct class_run run = {v[children[i]].type, true, true, i, i + 1};
        while (run.end < n && v[children[run.end]].type == run.type) {
            uint32_t child = children[run.end], before = children[run.end - 1];
            run.ascending &= v[child].id > v[before].id;
            run.alike &=
                v[child].id - 1 == v[before].id && t->class_of[child] == t->class_of[before];
            run.end++;
        }
        i = run.end;
        struct class_run *runs = grown(t->run, t->n_runs, &m->run_capacity, sizeof(*runs));
        if (!runs)
            return -1;
        t->run = runs;
        t->run[t->n_runs++] = run;
    }
    c->n_runs = t->n_runs - c->run;
    return 0;
}

static int classes_grow(struct making *m)
{
    uint32_t buckets = m->buckets ? m->buckets * 2 : 256;
    uint32_t *bucket = malloc(buckets * sizeof(*bucket));

    if (!bucket)
        return -1;
    memset(bucket, 0xff, buckets * sizeof(*bucket));
    for (uint32_t i = 0; i < m->t->n_classes; i++) {
        struct class *c = &m->t->class[i];
        uint32_t *head = &bucket[c->hash & (buckets - 1)];
        c->next = *head;
        *head = i;
    }
    free(m->bucket);
    m->bucket = bucket;
    m->buckets = buckets;
    return 0;
}

/* Give v its class; its children have theirs already. */
static int classify(struct making *m, uint32_t v)
{
    struct topo *t = m->t;
    uint32_t hash = hash_vertex(t, v);

    if (t->n_classes >= m->buckets && classes_grow(m) < 0)
        return -1;
    for (uint32_t i = m->bucket[hash & (m->buckets - 1)]; i != CLASS_NONE; i = t->class[i].next)
        if (t->class[i].hash == hash && are_of_one_class(t, t->class[i].sample, v)) {
            t->class_of[v] = i;
            return 0;
        }
    struct class *class = grown(t->class, t->n_classes, &m->class_capacity, sizeof(*class));
    if (!class)
        return -1;
    t->class = class;
    struct class *c = &t->class[t->n_classes];
    uint32_t *head = &m->bucket[hash & (m->buckets - 1)];
    *c = (struct class){.sample = v, .hash = hash, .next = *head};
    if (make_sums(m, c) < 0 || make_runs(m, c) < 0)
        return -1;
    *head = t->n_classes;
    t->class_of[v] = t->n_classes++;
    return 0;
}

#define VISITING (UINT32_MAX - 1) /* the class of a vertex whose children are being visited */

/* Give classes to everything that is reached from the root, children first. */
static int walk(struct making *m)
{
    struct topo *t = m->t;
    struct {
        uint32_t v, next;
    } stack[GRAPH_DEPTH_MAX];
    int depth = 0;

    stack[0].v = t->root;
    stack[0].next = t->first[t->root];
    t->class_of[t->root] = VISITING;
    while (depth >= 0) {
        uint32_t v = stack[depth].v;
        if (stack[depth].next == t->first[v + 1]) {
            if (classify(m, v) < 0)
                return -1;
            depth--;
            continue;
        }
        uint32_t child = t->child[stack[depth].next++];
        if (t->class_of[child] == VISITING || depth + 1 == GRAPH_DEPTH_MAX) {
            errno = ELOOP;
            return -1;
        }
        if (t->class_of[child] != CLASS_NONE) {
            t->is_tree = false;
            continue;
        }
        t->class_of[child] = VISITING;
        if (t->owner)
            t->owner[child] = v;
        stack[++depth].v = child;
        stack[depth].next = t->first[child];
    }
    return 0;
}

/* List the children to which edges of the subsystem lead. */
static int make_children(struct topo *t)
{
    const struct graph *g = t->g;
    uint32_t n = 0;

    t->parent = g->parent[t->subsystem];
    if (!g->child_subsystem) {
        t->first = g->first;
        t->child = g->child;
        return 0;
    }
    t->own_first = malloc(((size_t)g->n + 1) * sizeof(*t->own_first));
    t->own_child = malloc(((size_t)g->n_edges + 1) * sizeof(*t->own_child));
    if (!t->own_first || !t->own_child)
        return -1;
    for (uint32_t v = 0; v < g->n; v++) {
        t->own_first[v] = n;
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
            if (g->child_subsystem[i] == t->subsystem)
                t->own_child[n++] = g->child[i];
    }
    t->own_first[g->n] = n;
    t->first = t->own_first;
    t->child = t->own_child;
    return 0;
}

static bool is_ascending(const struct topo *t)
{
    for (uint32_t v = 0; v < t->g->n; v++)
        for (uint32_t i = t->first[v] + 1; i < t->first[v + 1]; i++)
            if (t->child[i] < t->child[i - 1])
                return false;
    return true;
}

/* True if a vertex has several parents: then it must be noted where each is counted. */
static bool has_several_parents(const struct topo *t)
{
    uint32_t edges = t->first[t->g->n], parents = 0;

    for (uint32_t v = 0; t->parent && v < t->g->n; v++)
        parents += t->parent[v] != VERTEX_NONE;
    return edges != parents;
}

static int need_owner(struct topo *t)
{
    if (!has_several_parents(t))
        return 0;
    t->owner = malloc(((size_t)t->g->n + 1) * sizeof(*t->owner));
    if (!t->owner)
        return -1;
    memset(t->owner, 0xff, ((size_t)t->g->n + 1) * sizeof(*t->owner));
    return 0;
}

static int make_classes(struct topo *t)
{
    struct making m = {.t = t};
    int rc = -1;

    t->class_of = malloc(((size_t)t->g->n + 1) * sizeof(*t->class_of));
    m.scratch = malloc(t->g->types.n * sizeof(*m.scratch));
    m.scratch_of = calloc(t->g->types.n, sizeof(*m.scratch_of));
    if (t->class_of && m.scratch && m.scratch_of && need_owner(t) == 0 && classes_grow(&m) == 0) {
        memset(t->class_of, 0xff, ((size_t)t->g->n + 1) * sizeof(*t->class_of));
        rc = walk(&m);
    }
    free(m.bucket);
    free(m.scratch);
    free(m.scratch_of);
    return rc;
}

int topo_init(struct topo *t, const struct graph *g, uint8_t subsystem)
{
    *t = (struct topo){.g = g, .subsystem = subsystem, .root = g->root[subsystem], .is_tree = true};
    if (t->root == VERTEX_NONE) {
        errno = ENOTSUP;
        return -1;
    }
    if (make_children(t) < 0 || make_classes(t) < 0) {
        topo_clear(t);
        return -1;
    }
    t->ascending = is_ascending(t);
    return 0;
}

void topo_clear(struct topo *t)
{
    int saved = errno;

    free(t->own_first);
    free(t->own_child);
    free(t->owner);
    free(t->class_of);
    free(t->class);
    free(t->run);
    free(t->sum);
    *t = (struct topo){0};
    errno = saved;
}

const struct class_sum *topo_sum(const struct topo *t, uint32_t v, uint16_t type)
{
    const struct class *c = topo_class(t, v);

    for (uint32_t i = 0; i < c->n_sums; i++)
        if (t->sum[c->sum + i].type == type)
            return &t->sum[c->sum + i];
    return NULL;
}

bool topo_has_child(const struct topo *t, uint32_t v, uint16_t type)
{
    const struct class *c = topo_class(t, v);

    for (uint32_t i = 0; i < c->n_runs; i++)
        if (t->run[c->run + i].type == type)
            return true;
    return false;
}
