/* Summarising what a job was given.
 *
 * Names are put into host lists, which join numbers to ranges. There is a list for each pair of what
 * comes before a name (its head: nothing, or a path that makes it unambiguous) and after it (its tails:
 * what of a node is given, or units). So nodes of which the same is given are joined. What is in one node
 * is listed in the same way first, and becomes the node's tails.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "match/inner.h"
#include "match/text/names.h"

/* The names that occur more than once below a vertex. */
struct repeated {
    uint32_t below;  /* that vertex, or VERTEX_NONE */
    uint32_t *group; /* ascending */
    uint64_t n, capacity;
};

struct lists {
    struct intern keys;     /* type, head, a NUL, and the tails with a NUL after each */
    struct hostlist *names; /* by number of their key; empty if the head includes the name */
    uint32_t made;          /* lists that have memory */
    uint32_t capacity;
};

struct summary {
    struct match *m;
    const struct job *job;
    uint8_t *state; /* by hold */
    struct repeated in_node, in_part, in_unique;
    struct lists all, inside; /* lists of the whole text; of the current node */
    uint32_t node;            /* the current node, or VERTEX_NONE */
    bool absolute;            /* its head is the whole path to it */
    struct strbuf head, node_head, tails, name, key, text;
    bool failed;
};

enum { GIVEN = 1, GIVEN_BELOW = 2, COVERED = 4 };

static int by_group(const void *a, const void *sum)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)sum;

    return x < y ? -1 : x > y;
}

static void gather_below(const struct match *m, struct repeated *r, uint32_t v)
{
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, v, &children);

    for (uint32_t i = 0; i < n && r->n < r->capacity; i++) {
        if (!match_owns(m, v, children[i]))
            continue;
        r->group[r->n++] = m->names.of[children[i]];
        gather_below(m, r, children[i]);
    }
}

static void find_repeated(struct summary *sum, struct repeated *r, uint32_t below)
{
    uint64_t want = match_count_below(sum->m, below), n = 0;

    if (want > r->capacity) {
        uint32_t *group = reallocarray(r->group, want, sizeof(*group));
        if (!group) {
            sum->failed = true;
            return;
        }
        r->group = group;
        r->capacity = want;
    }
    r->below = below;
    r->n = 0;
    gather_below(sum->m, r, below);
    if (r->n > 1)
        qsort(r->group, r->n, sizeof(*r->group), by_group);
    for (uint64_t i = 1; i < r->n; i++)
        if (r->group[i] == r->group[i - 1] && (n == 0 || r->group[n - 1] != r->group[i]))
            r->group[n++] = r->group[i];
    r->n = n;
}

/* True if no other vertex has the name of v. */
static bool is_unique(const struct summary *sum, uint32_t v)
{
    uint32_t n;

    name_index_members(&sum->m->names, sum->m->names.of[v], &n);
    return n == 1;
}

/* True if no other vertex below `below` has the name of v. */
static bool is_unique_below(struct summary *sum, struct repeated *r, uint32_t below, uint32_t v)
{
    uint32_t group = sum->m->names.of[v];

    if (is_unique(sum, v))
        return true;
    if (r->below != below)
        find_repeated(sum, r, below);
    return r->n == 0 || !bsearch(&group, r->group, r->n, sizeof(group), by_group);
}

/* Append the names of what is between two vertices, each with a "/" after it; `from` VERTEX_NONE:
 * beginning with the root.
 */
static void put_between(const struct summary *sum, uint32_t from, uint32_t v, struct strbuf *out)
{
    uint32_t chain[GRAPH_DEPTH_MAX], n = 0;

    for (uint32_t x = match_parent(sum->m, v); x != from && x != VERTEX_NONE && n < GRAPH_DEPTH_MAX;
         x = match_parent(sum->m, x))
        chain[n++] = x;
    while (n > 0) {
        graph_name(sum->m->g, chain[--n], out);
        strbuf_putc(out, '/');
    }
}

/* Append the head that makes a vertex's name unambiguous. Returns true if that is the whole path. */
static bool put_head(struct summary *sum, uint32_t v, bool whole, struct strbuf *out)
{
    uint32_t x = match_parent(sum->m, v);

    strbuf_reset(out);
    if (!whole && is_unique(sum, v))
        return false;
    while (x != VERTEX_NONE && !is_unique(sum, x))
        x = match_parent(sum->m, x);
    if (!whole && x != VERTEX_NONE && x != sum->m->topo.root &&
        is_unique_below(sum, &sum->in_unique, x, v)) {
        graph_name(sum->m->g, x, out);
        strbuf_putc(out, '/');
        return false;
    }
    strbuf_putc(out, '/');
    put_between(sum, VERTEX_NONE, v, out);
    return true;
}

/* The same for what is in the current node, beginning below the node. Returns false if only the whole
 * path is unambiguous.
 */
static bool put_middle(struct summary *sum, uint32_t v, struct strbuf *out)
{
    uint32_t parent = match_parent(sum->m, v);

    strbuf_reset(out);
    if (sum->absolute) {
        put_between(sum, sum->node, v, out);
        return true;
    }
    if (is_unique_below(sum, &sum->in_node, sum->node, v))
        return true;
    if (parent == sum->node || !is_unique_below(sum, &sum->in_node, sum->node, parent) ||
        !is_unique_below(sum, &sum->in_part, parent, v))
        return false;
    graph_name(sum->m->g, parent, out);
    strbuf_putc(out, '/');
    return true;
}

/* The number of the list for the current key, which is made if there is none; UINT32_MAX if memory runs
 * out.
 */
static uint32_t find_list(struct summary *sum, struct lists *l)
{
    uint32_t n = l->keys.n, number;

    if (sum->key.failed || intern_put(&l->keys, sum->key.data, sum->key.len, &number) < 0)
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

static void make_key(struct summary *sum, uint32_t v, const struct strbuf *head, const char *name,
                     const struct strbuf *tails)
{
    uint16_t type = sum->m->g->v[v].type;

    strbuf_reset(&sum->key);
    strbuf_put(&sum->key, (const char *)&type, sizeof(type));
    strbuf_put(&sum->key, head->data, head->len);
    strbuf_puts(&sum->key, name);
    strbuf_putc(&sum->key, '\0');
    strbuf_put(&sum->key, tails->data, tails->len);
}

/* True if a host list can have the name. */
static bool is_host(const struct strbuf *name)
{
    for (size_t i = 0; i < name->len; i++)
        if (name->data[i] <= ' ' || name->data[i] > '~' || strchr(",[]", name->data[i]))
            return false;
    return name->len > 0 && name->len <= HOSTLIST_NAME_MAX;
}

/* Add a vertex's name to the list of names with the same head and tails. */
static void list_name(struct summary *sum, struct lists *l, uint32_t v, const struct strbuf *head,
                      const struct strbuf *tails)
{
    strbuf_reset(&sum->name);
    graph_name(sum->m->g, v, &sum->name);
    bool host = is_host(&sum->name);
    make_key(sum, v, head, host ? "" : strbuf_text(&sum->name), tails);
    uint32_t number = find_list(sum, l);
    sum->failed |= sum->name.failed || head->failed || tails->failed || number == UINT32_MAX;
    if (!sum->failed && host)
        sum->failed = hostlist_append_host(&l->names[number], sum->name.data, sum->name.len) < 0;
}

/* Append head, name and tails: an item for each tail, between `before` and `behind`. */
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
static void put_list_items(struct summary *sum, struct lists *l, uint32_t number,
                           const char *before, char behind, struct strbuf *out)
{
    const char *key = intern_text(&l->keys, number), *head = key + sizeof(uint16_t);
    const char *tail = head + strlen(head) + 1, *end = key + intern_length(&l->keys, number);
    struct hostlist *names = &l->names[number];

    strbuf_reset(&sum->text);
    if (hostlist_uniq(names) < 0 && errno == ENOMEM)
        sum->failed = true;
    hostlist_encode(names, &sum->text);
    sum->failed |= sum->text.failed;
    const char *from = strbuf_text(&sum->text);
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

static void put_lists(struct summary *sum, struct lists *l, const char *before, char behind,
                      struct strbuf *out)
{
    for (uint32_t i = 0; i < l->keys.n && !sum->failed; i++)
        put_list_items(sum, l, i, before, behind, out);
}

/* Turn what the current node has into its tails. */
static void finish_node(struct summary *sum)
{
    if (sum->node == VERTEX_NONE)
        return;
    strbuf_reset(&sum->tails);
    put_lists(sum, &sum->inside, "/", '\0', &sum->tails);
    if (sum->tails.len > 0 || sum->tails.failed)
        list_name(sum, &sum->all, sum->node, &sum->node_head, &sum->tails);
    intern_shrink(&sum->inside.keys, 0);
    sum->node = VERTEX_NONE;
}

/* The node that a vertex is or is in, or VERTEX_NONE. */
static uint32_t enclosing_node(const struct match *m, uint32_t v)
{
    while (v != VERTEX_NONE && m->g->v[v].type != TYPE_NODE)
        v = match_parent(m, v);
    return v;
}

static void put_held_vertex(struct summary *sum, const struct hold *h)
{
    uint32_t node = enclosing_node(sum->m, h->vertex);

    if (node != sum->node)
        finish_node(sum);
    if (node != VERTEX_NONE && node != h->vertex && sum->node == VERTEX_NONE) {
        sum->node = node;
        sum->absolute = put_head(sum, node, false, &sum->node_head);
    }
    strbuf_reset(&sum->tails);
    if (h->flags & HOLD_UNITS) {
        strbuf_putc(&sum->tails, ':');
        strbuf_put_int(&sum->tails, h->needs);
        strbuf_putc(&sum->tails, '\0');
    }
    bool inside = node != VERTEX_NONE && node != h->vertex;
    if (inside && put_middle(sum, h->vertex, &sum->head)) {
        list_name(sum, &sum->inside, h->vertex, &sum->head, &sum->tails);
        return;
    }
    put_head(sum, h->vertex, inside, &sum->head);
    list_name(sum, &sum->all, h->vertex, &sum->head, &sum->tails);
}

/* The index of the nearest hold above a vertex, or UINT32_MAX. */
static uint32_t held_above(const struct summary *sum, uint32_t v)
{
    const struct job *job = sum->job;

    for (uint32_t x = match_parent(sum->m, v); x != VERTEX_NONE; x = match_parent(sum->m, x)) {
        uint32_t place = sum->m->mark_of[x];
        if (place < job->n && job->hold[place].vertex == x)
            return place;
    }
    return UINT32_MAX;
}

/* Find what is given, and what is above something that is. A vertex that is only shown as given counts as
 * given if nothing below it is.
 */
static void find_given(struct summary *sum)
{
    const struct job *job = sum->job;

    for (uint32_t i = 0; i < job->n; i++)
        sum->m->mark_of[job->hold[i].vertex] = i;
    for (uint32_t i = 0; i < job->n; i++) {
        const struct hold *h = &job->hold[i];
        uint32_t above = held_above(sum, h->vertex);
        bool shown = (h->flags & HOLD_SHOWN) && !(sum->state[i] & GIVEN_BELOW);
        if (shown || (h->flags & (HOLD_EXCLUSIVE | HOLD_UNITS)))
            sum->state[i] |= GIVEN;
        if (above != UINT32_MAX && sum->state[i] & (GIVEN | GIVEN_BELOW))
            sum->state[above] |= GIVEN_BELOW;
    }
    for (uint32_t i = job->n; i-- > 0;) {
        uint32_t above = held_above(sum, job->hold[i].vertex);
        if (above != UINT32_MAX && sum->state[above] & (GIVEN | COVERED))
            sum->state[i] |= COVERED;
    }
}

static void clear_lists(struct lists *l)
{
    for (uint32_t i = 0; i < l->made; i++)
        hostlist_clear(&l->names[i]);
    free(l->names);
    intern_clear(&l->keys);
}

static void clear_summary(struct summary *sum)
{
    struct strbuf *buffers[] = {&sum->head, &sum->node_head, &sum->tails,
                                &sum->name, &sum->key,       &sum->text};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
        strbuf_clear(buffers[i]);
    clear_lists(&sum->all);
    clear_lists(&sum->inside);
    free(sum->in_node.group);
    free(sum->in_part.group);
    free(sum->in_unique.group);
    free(sum->state);
}

int match_summary(struct match *m, int64_t jobid, struct strbuf *out)
{
    const struct job *folded = jobs_find(&m->jobs, jobid);
    struct job *job = folded ? job_unfolded(folded) : NULL;
    struct summary sum = {.m = m, .job = job, .node = VERTEX_NONE};
    size_t before = out->len;

    if (!job) {
        errno = folded ? ENOMEM : ENOENT;
        return -1;
    }
    sum.in_node.below = sum.in_part.below = sum.in_unique.below = VERTEX_NONE;
    sum.state = calloc((size_t)job->n + 1, sizeof(*sum.state));
    sum.failed = !sum.state || match_need_names(m) < 0;
    if (!sum.failed)
        find_given(&sum);
    for (uint32_t i = 0; i < job->n && !sum.failed; i++)
        if ((sum.state[i] & (GIVEN | COVERED)) == GIVEN &&
            m->names.of[job->hold[i].vertex] != NAME_NONE)
            put_held_vertex(&sum, &job->hold[i]);
    if (!sum.failed)
        finish_node(&sum);
    if (!sum.failed)
        put_lists(&sum, &sum.all, "", ',', out);
    clear_summary(&sum);
    job_destroy(job);
    if (!out->failed && (sum.failed || out->len > before))
        out->len = sum.failed ? before : out->len - 1;
    if (!sum.failed && !out->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
