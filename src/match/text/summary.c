/* What a job was given, in short.
 *
 * What is named goes to lists of hosts, which join numbers to ranges. There is a list for each way in
 * which a name begins (head: nothing, or a path that tells it from others) and goes on (tails: what of a
 * node is given, or units). So nodes with the same content come together. What is in one node is listed
 * in the same way, and becomes its tails.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "match/inner.h"
#include "match/text/names.h"

/* The names that come more than once below a vertex. */
struct repeated {
    uint32_t below;  /* that vertex, or VERTEX_NONE */
    uint32_t *group; /* ascending */
    uint64_t n, capacity;
};

struct lists {
    struct intern keys;     /* type, head, a zero, and tails with a zero behind each */
    struct hostlist *names; /* by number of their key; none where the head has the name in it */
    uint32_t made;          /* lists that have memory */
    uint32_t capacity;
};

struct summary {
    struct match *m;
    const struct job *job;
    uint8_t *state; /* by hold */
    struct repeated in_node, in_part, in_unique;
    struct lists all, inside; /* of the whole text; of the node at hand */
    uint32_t node;            /* which that is, or VERTEX_NONE */
    bool absolute;            /* its head is the whole path to it */
    struct strbuf head, node_head, tails, name, key, text;
    bool failed;
};

enum { GIVEN = 1, GIVEN_BELOW = 2, COVERED = 4 };

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void gather_below(const struct match *m, struct repeated *r, uint32_t v)
{
    const uint32_t *kids;
    uint32_t n = topo_kids(&m->topo, v, &kids);

    for (uint32_t i = 0; i < n && r->n < r->capacity; i++) {
        if (!match_owns(m, v, kids[i]))
            continue;
        r->group[r->n++] = m->names.of[kids[i]];
        gather_below(m, r, kids[i]);
    }
}

static void find_repeated(struct summary *b, struct repeated *r, uint32_t below)
{
    uint64_t want = match_count_below(b->m, below), n = 0;

    if (want > r->capacity) {
        uint32_t *group = reallocarray(r->group, want, sizeof(*group));
        if (!group) {
            b->failed = true;
            return;
        }
        r->group = group;
        r->capacity = want;
    }
    r->below = below;
    r->n = 0;
    gather_below(b->m, r, below);
    if (r->n > 1)
        qsort(r->group, r->n, sizeof(*r->group), by_number);
    for (uint64_t i = 1; i < r->n; i++)
        if (r->group[i] == r->group[i - 1] && (n == 0 || r->group[n - 1] != r->group[i]))
            r->group[n++] = r->group[i];
    r->n = n;
}

/* True if v's is the only such name anywhere. */
static bool is_unique(const struct summary *b, uint32_t v)
{
    uint32_t n;

    name_index_members(&b->m->names, b->m->names.of[v], &n);
    return n == 1;
}

/* True if there is no other such name below that vertex. */
static bool is_unique_below(struct summary *b, struct repeated *r, uint32_t below, uint32_t v)
{
    uint32_t group = b->m->names.of[v];

    if (is_unique(b, v))
        return true;
    if (r->below != below)
        find_repeated(b, r, below);
    return r->n == 0 || !bsearch(&group, r->group, r->n, sizeof(group), by_number);
}

/* Append the names of what is between two vertices, each with a "/" behind; `from` VERTEX_NONE: from the
 * root on.
 */
static void put_between(const struct summary *b, uint32_t from, uint32_t v, struct strbuf *out)
{
    uint32_t chain[GRAPH_DEPTH_MAX], n = 0;

    for (uint32_t x = match_above(b->m, v); x != from && x != VERTEX_NONE && n < GRAPH_DEPTH_MAX;
         x = match_above(b->m, x))
        chain[n++] = x;
    while (n > 0) {
        graph_name(b->m->g, chain[--n], out);
        strbuf_putc(out, '/');
    }
}

/* What stands before a vertex's name, so that it is the only one; true if that is the whole path. */
static bool put_head(struct summary *b, uint32_t v, bool whole, struct strbuf *out)
{
    uint32_t x = match_above(b->m, v);

    strbuf_reset(out);
    if (!whole && is_unique(b, v))
        return false;
    while (x != VERTEX_NONE && !is_unique(b, x))
        x = match_above(b->m, x);
    if (!whole && x != VERTEX_NONE && x != b->m->topo.root &&
        is_unique_below(b, &b->in_unique, x, v)) {
        graph_name(b->m->g, x, out);
        strbuf_putc(out, '/');
        return false;
    }
    strbuf_putc(out, '/');
    put_between(b, VERTEX_NONE, v, out);
    return true;
}

/* The same for what is in the node at hand, from there on; false if only its whole path will do. */
static bool put_middle(struct summary *b, uint32_t v, struct strbuf *out)
{
    uint32_t parent = match_above(b->m, v);

    strbuf_reset(out);
    if (b->absolute) {
        put_between(b, b->node, v, out);
        return true;
    }
    if (is_unique_below(b, &b->in_node, b->node, v))
        return true;
    if (parent == b->node || !is_unique_below(b, &b->in_node, b->node, parent) ||
        !is_unique_below(b, &b->in_part, parent, v))
        return false;
    graph_name(b->m->g, parent, out);
    strbuf_putc(out, '/');
    return true;
}

/* The number of the list of the key at hand, made if there is none; UINT32_MAX if memory runs out. */
static uint32_t find_list(struct summary *b, struct lists *l)
{
    uint32_t n = l->keys.n, number;

    if (b->key.failed || intern_put(&l->keys, b->key.data, b->key.len, &number) < 0)
        return UINT32_MAX;
    if (number < n)
        return number;
    if (n == l->capacity) {
        uint32_t capacity = l->capacity * 2 + 4;
        struct hostlist *names = reallocarray(l->names, capacity, sizeof(*names));
        if (!names)
            return UINT32_MAX;
        l->names = names;
        l->capacity = capacity;
    }
    if (n == l->made)
        l->names[l->made++] = (struct hostlist){0};
    hostlist_reset(&l->names[n]);
    return number;
}

static void make_key(struct summary *b, uint32_t v, const struct strbuf *head, const char *name,
                     const struct strbuf *tails)
{
    uint16_t type = b->m->g->v[v].type;

    strbuf_reset(&b->key);
    strbuf_put(&b->key, (const char *)&type, sizeof(type));
    strbuf_put(&b->key, head->data, head->len);
    strbuf_puts(&b->key, name);
    strbuf_putc(&b->key, '\0');
    strbuf_put(&b->key, tails->data, tails->len);
}

/* True if a list of hosts can have the name. */
static bool is_host(const struct strbuf *name)
{
    for (size_t i = 0; i < name->len; i++)
        if (name->data[i] <= ' ' || name->data[i] > '~' || strchr(",[]", name->data[i]))
            return false;
    return name->len > 0 && name->len <= HOSTLIST_NAME_MAX;
}

/* Add a vertex's name to the list of what has the same head and tails. */
static void add(struct summary *b, struct lists *l, uint32_t v, const struct strbuf *head,
                const struct strbuf *tails)
{
    strbuf_reset(&b->name);
    graph_name(b->m->g, v, &b->name);
    bool host = is_host(&b->name);
    make_key(b, v, head, host ? "" : strbuf_text(&b->name), tails);
    uint32_t number = find_list(b, l);
    b->failed |= b->name.failed || head->failed || tails->failed || number == UINT32_MAX;
    if (!b->failed && host)
        b->failed = hostlist_append_host(&l->names[number], b->name.data, b->name.len) < 0;
}

/* Append head, name and tails: an item for each tail, with `before` before it and `behind` behind it. */
static void put_items(const char *head, const char *name, size_t length, const char *tail,
                      const char *end, const char *before, char behind, struct strbuf *out)
{
    do {
        strbuf_puts(out, before);
        strbuf_puts(out, head);
        strbuf_put(out, name, length);
        strbuf_puts(out, tail);
        strbuf_putc(out, behind);
        tail += strlen(tail) + 1;
    } while (tail < end);
}

/* Append the items of a list. Its names may be several texts, with commas between. */
static void put_list(struct summary *b, struct lists *l, uint32_t number, const char *before,
                     char behind, struct strbuf *out)
{
    const char *key = intern_text(&l->keys, number), *head = key + sizeof(uint16_t);
    const char *tail = head + strlen(head) + 1, *end = key + intern_length(&l->keys, number);
    struct hostlist *names = &l->names[number];

    strbuf_reset(&b->text);
    if (hostlist_uniq(names) < 0 && errno == ENOMEM)
        b->failed = true;
    hostlist_encode(names, &b->text);
    b->failed |= b->text.failed;
    const char *from = strbuf_text(&b->text);
    bool inside = false;
    if (!*from)
        put_items(head, "", 0, tail, end, before, behind, out);
    for (const char *p = from; *from; p++) {
        inside = *p == '[' || (inside && *p != ']');
        if (*p && (*p != ',' || inside))
            continue;
        put_items(head, from, (size_t)(p - from), tail, end, before, behind, out);
        from = *p ? p + 1 : p;
    }
}

static void put_lists(struct summary *b, struct lists *l, const char *before, char behind,
                      struct strbuf *out)
{
    for (uint32_t i = 0; i < l->keys.n && !b->failed; i++)
        put_list(b, l, i, before, behind, out);
}

/* What the node at hand has becomes its tails. */
static void finish_node(struct summary *b)
{
    if (b->node == VERTEX_NONE)
        return;
    strbuf_reset(&b->tails);
    put_lists(b, &b->inside, "/", '\0', &b->tails);
    if (b->tails.len > 0 || b->tails.failed)
        add(b, &b->all, b->node, &b->node_head, &b->tails);
    intern_shrink(&b->inside.keys, 0);
    b->node = VERTEX_NONE;
}

/* The node that a vertex is or is in, or VERTEX_NONE. */
static uint32_t node_of(const struct match *m, uint32_t v)
{
    while (v != VERTEX_NONE && m->g->v[v].type != TYPE_NODE)
        v = match_above(m, v);
    return v;
}

static void put_vertex(struct summary *b, const struct hold *h)
{
    uint32_t node = node_of(b->m, h->vertex);

    if (node != b->node)
        finish_node(b);
    if (node != VERTEX_NONE && node != h->vertex && b->node == VERTEX_NONE) {
        b->node = node;
        b->absolute = put_head(b, node, false, &b->node_head);
    }
    strbuf_reset(&b->tails);
    if (h->flags & HOLD_UNITS) {
        strbuf_putc(&b->tails, ':');
        strbuf_put_int(&b->tails, h->needs);
        strbuf_putc(&b->tails, '\0');
    }
    bool inside = node != VERTEX_NONE && node != h->vertex;
    if (inside && put_middle(b, h->vertex, &b->head)) {
        add(b, &b->inside, h->vertex, &b->head, &b->tails);
        return;
    }
    put_head(b, h->vertex, inside, &b->head);
    add(b, &b->all, h->vertex, &b->head, &b->tails);
}

/* The place of the nearest hold above a vertex, or UINT32_MAX. */
static uint32_t held_above(const struct summary *b, uint32_t v)
{
    const struct job *job = b->job;

    for (uint32_t x = match_above(b->m, v); x != VERTEX_NONE; x = match_above(b->m, x)) {
        uint32_t place = b->m->mark_of[x];
        if (place < job->n && job->hold[place].vertex == x)
            return place;
    }
    return UINT32_MAX;
}

/* Find what is given, and what is below something that is. What is only told as given is if nothing below
 * it is.
 */
static void find_given(struct summary *b)
{
    const struct job *job = b->job;

    for (uint32_t i = 0; i < job->n; i++)
        b->m->mark_of[job->hold[i].vertex] = i;
    for (uint32_t i = 0; i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        uint32_t above = held_above(b, h->vertex);
        bool told = (h->flags & HOLD_TOLD) && !(b->state[i] & GIVEN_BELOW);
        if (told || (h->flags & (HOLD_EXCLUSIVE | HOLD_UNITS)))
            b->state[i] |= GIVEN;
        if (above != UINT32_MAX && b->state[i] & (GIVEN | GIVEN_BELOW))
            b->state[above] |= GIVEN_BELOW;
    }
    for (uint32_t i = job->n; i-- > 0;) {
        uint32_t above = held_above(b, job->hold[i].vertex);
        if (above != UINT32_MAX && b->state[above] & (GIVEN | COVERED))
            b->state[i] |= COVERED;
    }
}

static void clear_lists(struct lists *l)
{
    for (uint32_t i = 0; i < l->made; i++)
        hostlist_clear(&l->names[i]);
    free(l->names);
    intern_clear(&l->keys);
}

static void clear(struct summary *b)
{
    struct strbuf *buffers[] = {&b->head, &b->node_head, &b->tails, &b->name, &b->key, &b->text};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
        strbuf_clear(buffers[i]);
    clear_lists(&b->all);
    clear_lists(&b->inside);
    free(b->in_node.group);
    free(b->in_part.group);
    free(b->in_unique.group);
    free(b->state);
}

int match_summary(struct match *m, int64_t jobid, struct strbuf *out)
{
    const struct job *job = jobs_find(&m->jobs, jobid);
    struct summary b = {.m = m, .job = job, .node = VERTEX_NONE};
    size_t before = out->len;

    if (!job) {
        errno = ENOENT;
        return -1;
    }
    b.in_node.below = b.in_part.below = b.in_unique.below = VERTEX_NONE;
    b.state = calloc((size_t)job->n + 1, sizeof(*b.state));
    b.failed = !b.state || match_need_names(m) < 0;
    if (!b.failed)
        find_given(&b);
    for (uint32_t i = 0; i < job->n && !b.failed; i++)
        if ((b.state[i] & (GIVEN | COVERED)) == GIVEN &&
            m->names.of[job->hold[i].vertex] != NAME_NONE)
            put_vertex(&b, &job->hold[i]);
    if (!b.failed)
        finish_node(&b);
    if (!b.failed)
        put_lists(&b, &b.all, "", ',', out);
    clear(&b);
    if (!out->failed && (b.failed || out->len > before))
        out->len = b.failed ? before : out->len - 1;
    if (!b.failed && !out->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
