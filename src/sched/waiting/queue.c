/* The queue: a B+ tree of entries with, at each child, what is least by class of units (queue.h).
 *
 * Class k is that of more than 2^(k-1) and at most 2^k units. least[k] is the least value of the entries of
 * classes up to k, narrow[k] no more than the least units of those of class k. A bound of u units, of class
 * k, lets in whatever has a class below k, and of class k perhaps something, if narrow[k] is not over u:
 * entering a subtree for nothing is possible, missing an entry is not.
 */
#include "sched/waiting/queue.h"
#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAN = 32,
    FEW = FAN / 4,      /* a node with fewer looks for a neighbour to join */
    JOIN = FAN * 3 / 4, /* and joins it if both have no more than this */
    CLASSES_MAX = 64
};

struct node {
    uint32_t n;
    struct node *next; /* in a list of spare nodes */
};

struct leaf {
    struct node node;
    struct queue_entry entry[]; /* FAN of them, but in a root (queue.room) */
};

struct inner {
    struct node node;
    struct queue_key key[FAN]; /* first key below the child */
    struct node *child[FAN];
    size_t count[FAN];
    int64_t column
        []; /* of each child: [class * FAN + child] for least, the same for narrow behind it */
};

struct queue {
    struct node *root;
    uint32_t height; /* levels of inner nodes */
    uint32_t room;   /* of a root that is a leaf: entries that it has memory for, 1 to FAN */
    uint32_t classes;
    size_t size;
    struct node *spare_leaf;
    struct node *spare_inner;
    uint32_t spare_inners;
};

/* A bound as inner nodes try it. */
struct test {
    uint32_t class;
    int64_t units;
    int64_t value;
};

struct search {
    const struct queue_bound *bound;
    size_t bounds;
    struct test test[CLASSES_MAX];
    size_t tests;
};

static struct leaf *as_leaf(const struct node *v)
{
    return (struct leaf *)v;
}

static struct inner *as_inner(const struct node *v)
{
    return (struct inner *)v;
}

/* The smallest k with units <= 2^k. */
static uint32_t class_of_units(int64_t units)
{
    return units <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll((uint64_t)units - 1);
}

static int64_t *least_of(const struct inner *v, uint32_t class, uint32_t i)
{
    return (int64_t *)&v->column[class * FAN + i];
}

static int64_t *narrow_of(const struct queue *q, const struct inner *v, uint32_t class, uint32_t i)
{
    return (int64_t *)&v->column[(q->classes + class) * FAN + i];
}

/* A leaf for so many entries; NULL with ENOMEM. */
static struct node *leaf_new(uint32_t room)
{
    struct leaf *leaf = calloc(1, sizeof(*leaf) + room * sizeof(*leaf->entry));
    return leaf ? &leaf->node : NULL;
}

struct queue *queue_create(int64_t most)
{
    struct queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->classes = class_of_units(most) + 1;
    q->root = leaf_new(1);
    q->room = 1;
    if (!q->root) {
        free(q);
        return NULL;
    }
    return q;
}

static void node_free(struct node *v, uint32_t level)
{
    for (uint32_t i = 0; level && i < v->n; i++)
        node_free(as_inner(v)->child[i], level - 1);
    free(v);
}

static void list_free(struct node *v)
{
    while (v) {
        struct node *next = v->next;
        free(v);
        v = next;
    }
}

void queue_destroy(struct queue *q)
{
    if (!q)
        return;
    node_free(q->root, q->height);
    list_free(q->spare_leaf);
    list_free(q->spare_inner);
    free(q);
}

size_t queue_size(const struct queue *q)
{
    return q->size;
}

/* Many queues have few entries: a root that is a leaf grows with them. Returns 0, or -1 with ENOMEM. */
static int root_reserve(struct queue *q)
{
    if (q->size < q->room)
        return 0;
    uint32_t room = q->room * 2;
    struct leaf *leaf = realloc(q->root, sizeof(*leaf) + room * sizeof(*leaf->entry));
    if (!leaf)
        return -1;
    q->root = &leaf->node;
    q->room = room;
    return 0;
}

/* An insertion can split a node at each level; with this many spare it can't fail half way. */
int queue_reserve(struct queue *q)
{
    if (q->height == 0 && q->size < FAN)
        return root_reserve(q);
    if (!q->spare_leaf && !(q->spare_leaf = leaf_new(FAN)))
        goto nomem;
    while (q->spare_inners < q->height + 1) {
        size_t bytes = sizeof(struct inner) + 2 * q->classes * FAN * sizeof(int64_t);
        struct node *v = calloc(1, bytes);
        if (!v)
            goto nomem;
        v->next = q->spare_inner;
        q->spare_inner = v;
        q->spare_inners++;
    }
    return 0;
nomem:
    errno = ENOMEM;
    return -1;
}

static struct node *take_spare(struct queue *q, uint32_t level)
{
    struct node **list = level ? &q->spare_inner : &q->spare_leaf;
    struct node *v = *list;
    *list = v->next;
    if (level)
        q->spare_inners--;
    v->n = 0;
    v->next = NULL;
    return v;
}

static void give_spare(struct queue *q, struct node *v, uint32_t level)
{
    struct node **list = level ? &q->spare_inner : &q->spare_leaf;
    if (level ? q->spare_inners > q->height : q->spare_leaf != NULL) {
        free(v);
        return;
    }
    v->next = *list;
    *list = v;
    if (level)
        q->spare_inners++;
}

/* Index of the first entry of a leaf whose key is not before this one. */
static uint32_t leaf_find(const struct leaf *leaf, struct queue_key key)
{
    uint32_t low = 0;
    uint32_t high = leaf->node.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (queue_before(leaf->entry[middle].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the child that holds this key or would. */
static uint32_t inner_find(const struct inner *v, struct queue_key key)
{
    uint32_t low = 0;
    uint32_t high = v->node.n;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (queue_before(key, v->key[middle]))
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* The least in a row of columns. */
static int64_t row_least(const struct inner *v, uint32_t row, uint32_t n)
{
    const int64_t *column = &v->column[row * FAN];
    int64_t least = column[0];
    for (uint32_t c = 1; c < n; c++)
        least = lesser(least, column[c]);
    return least;
}

/* Sum up columns of the inner node below as column i of v. */
static void refresh_from_inner(const struct queue *q, struct inner *v, uint32_t i)
{
    const struct inner *below = as_inner(v->child[i]);
    uint32_t n = below->node.n;
    v->key[i] = below->key[0];
    v->count[i] = 0;
    for (uint32_t c = 0; c < n; c++)
        v->count[i] += below->count[c];
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        v->column[k * FAN + i] = row_least(below, k, n);
}

static void refresh_from_leaf(const struct queue *q, struct inner *v, uint32_t i)
{
    const struct leaf *leaf = as_leaf(v->child[i]);
    int64_t column[2 * CLASSES_MAX];
    int64_t *least = column;
    int64_t *narrow = column + q->classes;
    v->key[i] = leaf->entry[0].key;
    v->count[i] = leaf->node.n;
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        column[k] = INT64_MAX;
    for (uint32_t e = 0; e < leaf->node.n; e++) {
        uint32_t class = class_of_units(leaf->entry[e].units);
        least[class] = lesser(least[class], leaf->entry[e].value);
        narrow[class] = lesser(narrow[class], leaf->entry[e].units);
    }
    for (uint32_t k = 1; k < q->classes; k++)
        least[k] = lesser(least[k], least[k - 1]);
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        v->column[k * FAN + i] = column[k];
}

/* Make column i of v, a node of this level, say what its child holds. */
static void refresh(const struct queue *q, struct inner *v, uint32_t level, uint32_t i)
{
    if (level > 1)
        refresh_from_inner(q, v, i);
    else
        refresh_from_leaf(q, v, i);
}

/* Move n columns from index i of src to index k of dst, which may be the same node. */
static void move_columns(const struct queue *q, struct inner *dst, uint32_t k,
                         const struct inner *src, uint32_t i, uint32_t n)
{
    memmove(dst->key + k, src->key + i, n * sizeof(*src->key));
    memmove(dst->child + k, src->child + i, n * sizeof(struct node *));
    memmove(dst->count + k, src->count + i, n * sizeof(*src->count));
    for (uint32_t c = 0; c < 2 * q->classes; c++)
        memmove(dst->column + c * FAN + k, src->column + c * FAN + i, n * sizeof(*src->column));
}

static void move_entries(struct leaf *dst, uint32_t k, const struct leaf *src, uint32_t i,
                         uint32_t n)
{
    memmove(dst->entry + k, src->entry + i, n * sizeof(*src->entry));
}

static void move_part(const struct queue *q, uint32_t level, struct node *dst, uint32_t k,
                      const struct node *src, uint32_t i, uint32_t n)
{
    if (level)
        move_columns(q, as_inner(dst), k, as_inner(src), i, n);
    else
        move_entries(as_leaf(dst), k, as_leaf(src), i, n);
}

/* Open a gap at index *i of v, splitting it if it is full. Returns the node with the gap, *i its index
 * there, and the new right node, if any, in *right. Entries appended in order fill nodes before they split.
 */
static struct node *open_gap(struct queue *q, struct node *v, uint32_t level, uint32_t *i,
                             struct node **right)
{
    *right = NULL;
    if (v->n == FAN) {
        uint32_t keep = *i == FAN ? FAN : FAN / 2;
        struct node *other = take_spare(q, level);
        move_part(q, level, other, 0, v, keep, FAN - keep);
        other->n = FAN - keep;
        v->n = keep;
        *right = other;
        if (*i > keep || keep == FAN) {
            v = other;
            *i -= keep;
        }
    }
    move_part(q, level, v, *i + 1, v, *i, v->n - *i);
    v->n++;
    return v;
}

/* Insert below v; returns the node that was split off to its right, if any. */
static struct node *insert_below(struct queue *q, struct node *v, uint32_t level,
                                 const struct queue_entry *entry)
{
    struct node *right;
    if (level == 0) {
        uint32_t at = leaf_find(as_leaf(v), entry->key);
        struct leaf *leaf = as_leaf(open_gap(q, v, 0, &at, &right));
        leaf->entry[at] = *entry;
        return right;
    }
    struct inner *inner = as_inner(v);
    uint32_t i = inner_find(inner, entry->key);
    struct node *split = insert_below(q, inner->child[i], level - 1, entry);
    if (!split) {
        if (queue_before(entry->key, inner->key[i]))
            inner->key[i] = entry->key;
        inner->count[i]++;
        uint32_t class = class_of_units(entry->units);
        int64_t *narrow = narrow_of(q, inner, class, i);
        *narrow = lesser(*narrow, entry->units);
        for (uint32_t k = class; k < q->classes && entry->value < *least_of(inner, k, i); k++)
            *least_of(inner, k, i) = entry->value;
        return NULL;
    }
    refresh(q, inner, level, i);
    i++;
    inner = as_inner(open_gap(q, v, level, &i, &right));
    inner->child[i] = split;
    refresh(q, inner, level, i);
    return right;
}

int queue_insert(struct queue *q, const struct queue_entry *entry)
{
    if (queue_reserve(q) < 0)
        return -1;
    struct node *right = insert_below(q, q->root, q->height, entry);
    q->size++;
    if (!right)
        return 0;
    struct inner *root = as_inner(take_spare(q, q->height + 1));
    root->node.n = 2;
    root->child[0] = q->root;
    root->child[1] = right;
    q->height++;
    refresh(q, root, q->height, 0);
    refresh(q, root, q->height, 1);
    q->root = &root->node;
    return 0;
}

/* Make children i and i + 1 of v one, if together they fit a node with room to spare. */
static void join_children(struct queue *q, struct inner *v, uint32_t level, uint32_t i)
{
    struct node *left = v->child[i];
    struct node *right = v->child[i + 1];
    if (left->n + right->n > JOIN)
        return;
    move_part(q, level - 1, left, left->n, right, 0, right->n);
    left->n += right->n;
    give_spare(q, right, level - 1);
    move_columns(q, v, i + 1, v, i + 2, v->node.n - i - 2);
    v->node.n--;
    refresh(q, v, level, i);
}

/* An entry of a class, with the least value up to that, is gone from the inner node that is child i of v:
 * find what is least now. Where another entry has as little, nothing changes from that one's class on.
 */
static void forget_least_inner(const struct queue *q, struct inner *v, uint32_t i,
                               const struct queue_entry *entry, uint32_t class)
{
    const struct inner *below = as_inner(v->child[i]);
    uint32_t n = below->node.n;
    *narrow_of(q, v, class, i) = row_least(below, q->classes + class, n);
    for (uint32_t k = class; k < q->classes && *least_of(v, k, i) == entry->value; k++) {
        int64_t least = row_least(below, k, n);
        if (least == entry->value)
            return;
        *least_of(v, k, i) = least;
    }
}

/* The same for a leaf. */
static void forget_least_leaf(const struct queue *q, struct inner *v, uint32_t i,
                              const struct queue_entry *entry, uint32_t class)
{
    const struct leaf *leaf = as_leaf(v->child[i]);
    int64_t least[CLASSES_MAX];
    int64_t narrow = INT64_MAX;
    int64_t so_far = class > 0 ? *least_of(v, class - 1, i) : INT64_MAX;
    for (uint32_t k = class; k < q->classes; k++)
        least[k] = INT64_MAX;
    for (uint32_t e = 0; e < leaf->node.n; e++) {
        uint32_t k = class_of_units(leaf->entry[e].units);
        if (k >= class)
            least[k] = lesser(least[k], leaf->entry[e].value);
        if (k == class)
            narrow = lesser(narrow, leaf->entry[e].units);
    }
    *narrow_of(q, v, class, i) = narrow;
    for (uint32_t k = class; k < q->classes && *least_of(v, k, i) == entry->value; k++) {
        so_far = lesser(so_far, least[k]);
        *least_of(v, k, i) = so_far;
    }
}

/* Take one entry, which is gone from child i of v, out of what column i says. What is narrow may stay less
 * than it is.
 */
static void forget_entry(const struct queue *q, struct inner *v, uint32_t level, uint32_t i,
                         const struct queue_entry *entry)
{
    const struct node *child = v->child[i];
    uint32_t class = class_of_units(entry->units);
    v->key[i] = level > 1 ? as_inner(child)->key[0] : as_leaf(child)->entry[0].key;
    v->count[i]--;
    if (entry->value > *least_of(v, class, i))
        return;
    if (level > 1)
        forget_least_inner(q, v, i, entry, class);
    else
        forget_least_leaf(q, v, i, entry, class);
}

/* Remove the entry with this key below v; it is in *removed then. */
static void remove_below(struct queue *q, struct node *v, uint32_t level, struct queue_key key,
                         struct queue_entry *removed)
{
    if (level == 0) {
        struct leaf *leaf = as_leaf(v);
        uint32_t at = leaf_find(leaf, key);
        assert(at < v->n && leaf->entry[at].key.seq == key.seq);
        *removed = leaf->entry[at];
        move_entries(leaf, at, leaf, at + 1, v->n - at - 1);
        v->n--;
        return;
    }
    struct inner *inner = as_inner(v);
    uint32_t i = inner_find(inner, key);
    struct node *child = inner->child[i];
    remove_below(q, child, level - 1, key, removed);
    if (child->n == 0) {
        give_spare(q, child, level - 1);
        move_columns(q, inner, i, inner, i + 1, v->n - i - 1);
        v->n--;
        return;
    }
    forget_entry(q, inner, level, i, removed);
    if (child->n < FEW && v->n > 1)
        join_children(q, inner, level, i > 0 ? i - 1 : i);
}

void queue_remove(struct queue *q, struct queue_key key)
{
    struct queue_entry removed;
    remove_below(q, q->root, q->height, key, &removed);
    q->size--;
    while (q->height > 0 && q->root->n <= 1) {
        struct node *root = q->root;
        q->room = FAN;      /* what becomes the root had a parent */
        if (root->n == 0) { /* all is gone: an empty leaf is the empty queue */
            node_free(root, 0);
            q->root = q->spare_leaf;
            q->spare_leaf = NULL;
            q->root->next = NULL;
            q->root->n = 0;
            q->height = 0;
            return;
        }
        q->root = as_inner(root)->child[0];
        q->height--;
        give_spare(q, root, q->height + 1);
    }
}

void queue_give(struct queue *q, struct queue_key key, uint32_t item)
{
    struct node *v = q->root;
    for (uint32_t level = q->height; level > 0; level--)
        v = as_inner(v)->child[inner_find(as_inner(v), key)];
    struct leaf *leaf = as_leaf(v);
    leaf->entry[leaf_find(leaf, key)].item = item;
}

/* The first leaf below a node of this level. */
static const struct leaf *first_leaf(const struct node *v, uint32_t level)
{
    for (; level > 0; level--)
        v = as_inner(v)->child[0];
    return as_leaf(v);
}

bool queue_first(const struct queue *q, struct queue_entry *entry)
{
    const struct leaf *leaf = first_leaf(q->root, q->height);
    if (leaf->node.n == 0)
        return false;
    *entry = leaf->entry[0];
    return true;
}

bool queue_after(const struct queue *q, const struct queue_key *after, struct queue_entry *entry)
{
    const struct node *v = q->root;
    const struct node *right = NULL; /* of the way to the key, as far down as there is one */
    uint32_t level_right = 0;
    if (!after)
        return queue_first(q, entry);
    for (uint32_t level = q->height; level > 0; level--) {
        const struct inner *inner = as_inner(v);
        uint32_t i = inner_find(inner, *after);
        if (i + 1 < v->n) {
            right = inner->child[i + 1];
            level_right = level - 1;
        }
        v = inner->child[i];
    }
    const struct leaf *leaf = as_leaf(v);
    uint32_t i = leaf_find(leaf, *after);
    if (i < v->n && !queue_before(*after, leaf->entry[i].key))
        i++;
    if (i == v->n) {
        if (!right)
            return false;
        leaf = first_leaf(right, level_right);
        i = 0;
    }
    *entry = leaf->entry[i];
    return true;
}

int64_t queue_least(const struct queue *q)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < q->root->n; i++)
        least = lesser(least, q->height ? *least_of(as_inner(q->root), q->classes - 1, i)
                                        : as_leaf(q->root)->entry[i].value);
    return least;
}

bool queue_last(const struct queue *q, struct queue_entry *entry)
{
    const struct node *v = q->root;
    for (uint32_t level = q->height; level > 0; level--)
        v = as_inner(v)->child[v->n - 1];
    if (v->n == 0)
        return false;
    *entry = as_leaf(v)->entry[v->n - 1];
    return true;
}

/* Put the cursor at the start of its node of this level. */
static void cursor_enter(struct queue_cursor *c, uint32_t level)
{
    for (;; level--) {
        c->i[level] = 0;
        if (level == 0)
            return;
        c->node[level - 1] = as_inner(c->node[level])->child[0];
    }
}

bool queue_begin(const struct queue *q, struct queue_cursor *c)
{
    c->height = q->height;
    c->node[q->height] = q->root;
    cursor_enter(c, q->height);
    return q->size > 0;
}

bool queue_next(struct queue_cursor *c)
{
    for (uint32_t level = 0; level <= c->height; level++) {
        const struct node *v = c->node[level];
        if (++c->i[level] == v->n)
            continue;
        if (level > 0) {
            c->node[level - 1] = as_inner(v)->child[c->i[level]];
            cursor_enter(c, level - 1);
        }
        return true;
    }
    return false;
}

uint32_t queue_item(const struct queue_cursor *c)
{
    return as_leaf(c->node[0])->entry[c->i[0]].item;
}

size_t queue_rank(const struct queue *q, struct queue_key key)
{
    const struct node *v = q->root;
    size_t rank = 0;
    for (uint32_t level = q->height; level > 0; level--) {
        const struct inner *inner = as_inner(v);
        uint32_t i = inner_find(inner, key);
        for (uint32_t c = 0; c < i; c++)
            rank += inner->count[c];
        v = inner->child[i];
    }
    return rank + leaf_find(as_leaf(v), key);
}

/* One test a class is enough: the most units and the largest value of its bounds. */
static void search_prepare(struct search *s, const struct queue *q, const struct queue_bound *bound,
                           size_t n)
{
    s->bound = bound;
    s->bounds = n;
    s->tests = 0;
    if (q->height == 0)
        return; /* there are only entries to try */
    for (size_t i = 0; i < n && bound[i].units > 0; i++) {
        uint32_t class = class_of_units(bound[i].units);
        class = class < q->classes ? class : q->classes - 1;
        if (s->tests > 0 && s->test[s->tests - 1].class == class)
            s->test[s->tests - 1].value = bound[i].value;
        else
            s->test[s->tests++] = (struct test){class, bound[i].units, bound[i].value};
    }
}

static bool entry_matches(const struct search *s, const struct queue_entry *entry)
{
    for (size_t i = 0; i < s->bounds; i++)
        if (entry->value <= s->bound[i].value)
            return entry->units <= s->bound[i].units;
    return false;
}

static bool column_matches(const struct search *s, const struct queue *q, const struct inner *v,
                           uint32_t i)
{
    for (size_t t = 0; t < s->tests; t++) {
        const struct test *test = &s->test[t];
        if (test->class > 0 && *least_of(v, test->class - 1, i) <= test->value)
            return true;
        if (*least_of(v, test->class, i) <= test->value &&
            *narrow_of(q, v, test->class, i) <= test->units)
            return true;
    }
    return false;
}

static const struct queue_entry *match_below(const struct search *s, const struct queue *q,
                                             const struct node *v, uint32_t level,
                                             const struct queue_key *after)
{
    if (level == 0) {
        const struct leaf *leaf = as_leaf(v);
        const struct queue_entry *entry = leaf->entry + (after ? leaf_find(leaf, *after) : 0);
        const struct queue_entry *end = leaf->entry + v->n;
        const int64_t most = s->bound[0].units; /* of all bounds */
        if (after && entry < end && !queue_before(*after, entry->key))
            entry++;
        for (; entry < end; entry++)
            if (entry->units <= most && entry_matches(s, entry))
                return entry;
        return NULL;
    }
    const struct inner *inner = as_inner(v);
    for (uint32_t i = after ? inner_find(inner, *after) : 0; i < v->n; i++) {
        if (column_matches(s, q, inner, i)) {
            const struct queue_entry *found = match_below(s, q, inner->child[i], level - 1, after);
            if (found)
                return found;
        }
        after = NULL;
    }
    return NULL;
}

bool queue_match(const struct queue *q, const struct queue_key *after,
                 const struct queue_bound *bound, size_t n, struct queue_entry *entry)
{
    struct search s;
    if (n == 0 || bound[0].units <= 0)
        return false;
    search_prepare(&s, q, bound, n);
    const struct queue_entry *found = match_below(&s, q, q->root, q->height, after);
    if (found)
        *entry = *found;
    return found != NULL;
}

static bool node_ok(const struct queue *q, const struct node *v, uint32_t level,
                    struct queue_key *last, bool *first)
{
    if (v->n > FAN || (v->n == 0 && q->size > 0))
        return false;
    for (uint32_t i = 0; i < v->n; i++) {
        if (level == 0) {
            const struct queue_entry *entry = &as_leaf(v)->entry[i];
            if (!*first && !queue_before(*last, entry->key))
                return false;
            *first = false;
            *last = entry->key;
        } else if (!node_ok(q, as_inner(v)->child[i], level - 1, last, first)) {
            return false;
        }
    }
    return true;
}

/* Refreshing a column must change nothing, but that what is narrow may turn out less so. */
static bool columns_ok(const struct queue *q, const struct node *v, uint32_t level, size_t *size)
{
    if (level == 0) {
        *size += v->n;
        return true;
    }
    struct inner *inner = as_inner(v);
    for (uint32_t i = 0; i < v->n; i++) {
        struct queue_key key = inner->key[i];
        size_t count = inner->count[i];
        int64_t before[2 * CLASSES_MAX];
        for (uint32_t k = 0; k < 2 * q->classes; k++)
            before[k] = inner->column[k * FAN + i];
        refresh(q, inner, level, i);
        bool same = key.rank == inner->key[i].rank && key.seq == inner->key[i].seq &&
                    count == inner->count[i];
        for (uint32_t k = 0; k < 2 * q->classes; k++) {
            int64_t *now = &inner->column[k * FAN + i];
            same = same && (k < q->classes ? before[k] == *now : before[k] <= *now);
            *now = before[k];
        }
        if (!same || !columns_ok(q, inner->child[i], level - 1, size))
            return false;
    }
    return true;
}

bool queue_check(const struct queue *q)
{
    struct queue_key last = {0, 0};
    bool first = true;
    size_t size = 0;
    return node_ok(q, q->root, q->height, &last, &first) &&
           columns_ok(q, q->root, q->height, &size) && size == q->size;
}
