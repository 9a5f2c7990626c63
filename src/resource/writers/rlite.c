/* rlite: what an allocation has, by rank.
 *
 * Vertices come after what is below them, so the cores and gpus since the last node belong to the next
 * node. Most nodes have the same ones as the node before; then no text is made. Neighbouring ids are
 * gathered as one range, in ascending or descending order.
 */
#include "resource/writers/rlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "resource/writers/writer.h"

/* Ids since the last node: a set, and the range that they are in now. */
struct reducer {
    struct idset ids;
    uint32_t lo, hi;
    bool open; /* there is such a range */
    bool bad;  /* there was an id that can't be in a set */
};

enum { CORE, GPU, REDUCED };

struct gatherer {
    struct reducer now[REDUCED];
    struct idset last[REDUCED]; /* what the last node had, */
    uint32_t group;             /* and the group that made it a member of */
    uint32_t memory_type;
    uint32_t gpu_memory_type;
    int64_t memory;         /* units since the last node, */
    struct rlite_gpus gpus; /* and what GPUs had since then */
    struct strbuf text;
};

static void gatherer_clear(struct gatherer *x)
{
    for (int i = 0; i < REDUCED; i++) {
        idset_clear(&x->now[i].ids);
        idset_clear(&x->last[i]);
    }
    strbuf_clear(&x->text);
}

static void groups_clear(struct rlite_groups *x)
{
    int saved = errno;
    for (uint32_t i = 0; i < x->n; i++) {
        idset_clear(&x->v[i].ranks);
        idset_clear(&x->v[i].cores);
        idset_clear(&x->v[i].gpus);
    }
    free(x->v);
    errno = saved;
    intern_clear(&x->texts);
}

/* The number of the group of that text, a new one if there is none. */
static int groups_put(struct rlite_groups *x, const char *text, size_t length, uint32_t *number)
{
    if (array_grow((void **)&x->v, &x->cap, (size_t)x->n + 1, sizeof(*x->v)) < 0)
        return -1;
    if (intern_put(&x->texts, text, length, number) < 0)
        return -1;
    if (*number == x->n)
        x->v[x->n++] = (struct rlite_group){
            .text = intern_text(&x->texts, *number), .length = (uint32_t)length, .number = *number};
    return 0;
}

static int by_text(const void *a, const void *b)
{
    const struct rlite_group *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_rank(const void *a, const void *b)
{
    const struct rlite_host *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->sequence < y->sequence ? -1 : 1;
}

static int close_range(struct reducer *x)
{
    if (x->open && idset_add_range(&x->ids, x->lo, x->hi) < 0)
        return -1;
    x->open = false;
    return 0;
}

static int reduce(struct reducer *x, int64_t id)
{
    if (id < 0 || id > IDSET_ID_MAX) {
        x->bad = true;
        return 0;
    }
    if (x->open && id == (int64_t)x->hi + 1) {
        x->hi++;
        return 0;
    }
    if (x->open && id == (int64_t)x->lo - 1) {
        x->lo--;
        return 0;
    }
    if (close_range(x) < 0)
        return -1;
    x->open = true;
    x->lo = x->hi = (uint32_t)id;
    return 0;
}

static void put_ids(struct json_out *out, const char *key, const struct idset *ids)
{
    json_key(out, key);
    strbuf_putc(out->text, '"');
    idset_encode(ids, false, out->text);
    strbuf_putc(out->text, '"');
}

static int children_text(const struct gatherer *x, struct strbuf *out)
{
    static const char *const name[] = {[CORE] = "core", [GPU] = "gpu"};
    struct json_out json = {.text = out, .spaced = true};
    strbuf_reset(out);
    json_open(&json, NULL, '{');
    for (int i = 0; i < REDUCED; i++)
        if (x->now[i].ids.count > 0)
            put_ids(&json, name[i], &x->now[i].ids);
    json_close(&json, '}');
    return out->failed ? -1 : 0;
}

/* The group of what has been gathered, a new one if there is none. */
static int put_group(struct rlite *r, struct gatherer *x)
{
    uint32_t n = r->children.n;
    if (children_text(x, &x->text) < 0 ||
        groups_put(&r->children, x->text.data, x->text.len, &x->group) < 0)
        return -1;
    if (x->group < n)
        return 0;
    struct rlite_group *new = &r->children.v[n];
    return idset_copy(&new->cores, &x->now[CORE].ids) < 0 ||
                   idset_copy(&new->gpus, &x->now[GPU].ids) < 0
               ? -1
               : 0;
}

/* Find the group of what has been gathered, and reset that. */
static int gather_group(struct rlite *r, struct gatherer *x)
{
    bool same = true; /* never at first: there is something now, and was nothing last */
    for (int i = 0; i < REDUCED; i++)
        same = same && idset_equal(&x->now[i].ids, &x->last[i]);
    if (!same && put_group(r, x) < 0)
        return -1;
    for (int i = 0; i < REDUCED; i++) {
        struct idset last = x->last[i];
        x->last[i] = x->now[i].ids;
        x->now[i].ids = last;
        idset_reset(&x->now[i].ids);
    }
    return 0;
}

static int gather_host(struct rlite *r, struct gatherer *x, uint32_t vertex, int32_t rank)
{
    int64_t memory = x->memory;
    struct rlite_gpus gpus = x->gpus;
    x->memory = 0;
    x->gpus = (struct rlite_gpus){0, 0};
    if (close_range(&x->now[CORE]) < 0 || close_range(&x->now[GPU]) < 0)
        return -1;
    bool bad = x->now[CORE].bad || x->now[GPU].bad;
    if (bad || (x->now[CORE].ids.count == 0 && x->now[GPU].ids.count == 0))
        return 0; /* after an id that is too large for an idset, Fluxion writes no more hosts */
    if (rank < 0) {
        errno = EINVAL;
        return -1;
    }
    if (array_grow((void **)&r->host, &r->cap, r->n + 1, sizeof(*r->host)) < 0)
        return -1;
    if (gather_group(r, x) < 0)
        return -1;
    r->host[r->n] = (struct rlite_host){rank, vertex, x->group, (uint32_t)r->n, memory, gpus};
    r->n++;
    return 0;
}

static int gather_all(struct rlite *r, struct gatherer *x, const struct emission *e,
                      const struct graph *g)
{
    for (size_t i = 0; i < e->n; i++) {
        uint32_t vertex = e->item[i].vertex;
        const struct vertex *v = &g->v[vertex];
        int rc = 0;
        switch (v->type) {
        case TYPE_CORE:
            rc = reduce(&x->now[CORE], v->id);
            break;
        case TYPE_GPU:
            rc = reduce(&x->now[GPU], v->id);
            x->gpus.shared += !(e->item[i].flags & EMIT_EXCLUSIVE);
            break;
        case TYPE_NODE:
        case TYPE_STORAGE_NODE:
            rc = gather_host(r, x, vertex, v->rank);
            break;
        default:
            if (v->type == x->memory_type)
                x->memory += e->item[i].needs;
            else if (v->type == x->gpu_memory_type)
                x->gpus.memory += e->item[i].needs;
            break;
        }
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Bring the hosts in the order of their ranks; mostly they are in it, or in the opposite. */
static void sort_hosts(struct rlite *r)
{
    bool up = true, down = true;
    for (size_t i = 1; i < r->n; i++) {
        up = up && by_rank(&r->host[i - 1], &r->host[i]) < 0;
        down = down && by_rank(&r->host[i - 1], &r->host[i]) > 0;
    }
    if (up)
        return;
    if (!down) {
        qsort(r->host, r->n, sizeof(*r->host), by_rank);
        return;
    }
    for (size_t i = 0, j = r->n - 1; i < j; i++, j--) {
        struct rlite_host host = r->host[i];
        r->host[i] = r->host[j];
        r->host[j] = host;
    }
}

/* Give the groups the ranks of their hosts, which are in order. */
static int give_ranks(struct rlite *r)
{
    for (size_t i = 0, next; i < r->n; i = next) {
        const struct rlite_host *first = &r->host[i];
        int64_t last = first->rank;
        for (next = i + 1;
             next < r->n && r->host[next].group == first->group && r->host[next].rank == last + 1;
             next++)
            last++;
        if (idset_add_range(&r->children.v[first->group].ranks, (uint32_t)first->rank,
                            (uint32_t)last) < 0)
            return -1;
    }
    return 0;
}

/* Bring groups and hosts in order, and give the groups their ranks. */
static int order_groups(struct rlite *r)
{
    struct rlite_groups *children = &r->children;
    if (r->n == 0)
        return 0;
    uint32_t *place = reallocarray(NULL, children->n, sizeof(*place));
    if (!place)
        return -1;
    qsort(children->v, children->n, sizeof(*children->v), by_text);
    for (uint32_t i = 0; i < children->n; i++)
        place[children->v[i].number] = i;
    for (size_t i = 0; i < r->n; i++)
        r->host[i].group = place[r->host[i].group];
    free(place);
    sort_hosts(r);
    return give_ranks(r);
}

int rlite_gather(struct rlite *r, const struct emission *e, const struct graph *g)
{
    struct gatherer x = {.memory_type = UINT32_MAX, .gpu_memory_type = UINT32_MAX};
    intern_find(&g->types, "gpu-memory", strlen("gpu-memory"), &x.gpu_memory_type);
    intern_find(&g->types, "memory", strlen("memory"), &x.memory_type);
    *r = (struct rlite){0};
    int rc = gather_all(r, &x, e, g);
    if (rc == 0)
        rc = order_groups(r);
    if (rc < 0)
        rlite_clear(r);
    gatherer_clear(&x);
    return rc;
}

void rlite_clear(struct rlite *r)
{
    int saved = errno;
    groups_clear(&r->children);
    free(r->host);
    *r = (struct rlite){0};
    errno = saved;
}

void rlite_put(const struct rlite *r, struct json_out *out, const char *key)
{
    json_open(out, key, '[');
    for (uint32_t i = 0; i < r->children.n; i++) {
        const struct rlite_group *group = &r->children.v[i];
        json_open(out, NULL, '{');
        put_ids(out, "rank", &group->ranks);
        json_key(out, "children");
        strbuf_put(out->text, group->text, group->length);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* A vertex may have a name that is a list of hosts, when it isn't the name of one. */
static int append_name(struct hostlist *list, const struct strbuf *name)
{
    if (hostlist_append_host(list, name->data, name->len) == 0)
        return 0;
    return errno == EINVAL ? hostlist_append(list, name->data, name->len, NULL) : -1;
}

int rlite_put_nodelist(const struct rlite *r, const struct graph *g, struct json_out *out)
{
    struct hostlist list = {0};
    struct strbuf text = {0};
    int rc = 0;
    for (size_t i = 0; i < r->n && rc == 0; i++) {
        strbuf_reset(&text);
        graph_name(g, r->host[i].vertex, &text);
        rc = text.failed ? -1 : append_name(&list, &text);
    }
    if (rc == 0) {
        strbuf_reset(&text);
        hostlist_encode(&list, &text);
        json_open(out, "nodelist", '[');
        json_put_bytes(out, NULL, text.data, text.len);
        json_close(out, ']');
        rc = text.failed ? -1 : 0;
    }
    strbuf_clear(&text);
    hostlist_clear(&list);
    return rc;
}

/* The hosts' sets of properties, each as a group of ranks; a group's text is the bytes of the set's
 * number.
 */
static int gather_sets(const struct rlite *r, const struct graph *g, struct rlite_groups *sets)
{
    uint32_t number = 0, last = 0; /* no host's: the empty set has no group */
    for (size_t i = 0; i < r->n; i++) {
        uint32_t set = g->v[r->host[i].vertex].props;
        if (set == 0)
            continue;
        if (set != last && groups_put(sets, (const char *)&set, sizeof(set), &number) < 0)
            return -1;
        last = set;
        if (idset_add(&sets->v[number].ranks, (uint32_t)r->host[i].rank) < 0)
            return -1;
    }
    return 0;
}

/* Give the ranks of one set to each of its properties. */
static int gather_properties(const struct propset *p, const struct rlite_group *set,
                             struct rlite_groups *properties, struct strbuf *text)
{
    uint32_t id, number;
    memcpy(&id, set->text, sizeof(id));
    for (size_t i = 0; i < propset_size(p, id); i++) {
        struct property property = propset_at(p, id, i);
        const char *value = propset_text(p, property.value);
        strbuf_reset(text);
        strbuf_puts(text, propset_text(p, property.key));
        if (*value)
            strbuf_putc(text, '=');
        strbuf_puts(text, value);
        if (text->failed || groups_put(properties, strbuf_text(text), text->len, &number) < 0)
            return -1;
        for (uint32_t k = 0; k < set->ranks.n; k++)
            if (idset_add_range(&properties->v[number].ranks, set->ranks.v[k].lo,
                                set->ranks.v[k].hi) < 0)
                return -1;
    }
    return 0;
}

static void put_property_ranks(struct rlite_groups *properties, struct json_out *out)
{
    if (properties->n == 0)
        return;
    qsort(properties->v, properties->n, sizeof(*properties->v), by_text);
    json_open(out, "properties", '{');
    for (uint32_t i = 0; i < properties->n; i++) {
        json_key_bytes(out, properties->v[i].text, properties->v[i].length);
        strbuf_putc(out->text, '"');
        idset_encode(&properties->v[i].ranks, false, out->text);
        strbuf_putc(out->text, '"');
    }
    json_close(out, '}');
}

int rlite_put_properties(const struct rlite *r, const struct graph *g, struct json_out *out)
{
    struct rlite_groups sets = {0}, properties = {0};
    struct strbuf text = {0};
    int rc = gather_sets(r, g, &sets);
    for (uint32_t i = 0; i < sets.n && rc == 0; i++)
        rc = gather_properties(&g->props, &sets.v[i], &properties, &text);
    if (rc == 0)
        put_property_ranks(&properties, out);
    strbuf_clear(&text);
    groups_clear(&properties);
    groups_clear(&sets);
    return rc;
}

int writer_rlite(const struct emission *e, const struct graph *g, int flags, struct strbuf *out)
{
    struct rlite r;
    (void)flags;
    if (rlite_gather(&r, e, g) < 0)
        return -1;
    int rc = 0;
    if (r.n > 0) {
        rlite_put(&r, &(struct json_out){.text = out, .spaced = true}, NULL);
        strbuf_putc(out, '\n');
    } else {
        errno = EINVAL;
        rc = -1;
    }
    rlite_clear(&r);
    return rc;
}
