/* The queue: its tree, and what changes it (queue.h, queue_tree.h). */
#include "base/number.h"
#include "sched/waiting/queue_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = QUEUE_FAN / 4,     /* a node with fewer looks for a neighbour to join */
    JOIN = QUEUE_FAN * 3 / 4 /* and joins it if both have no more than this */
};

/* A leaf for so many entries; NULL with ENOMEM. */
static struct queue_node *leaf_new(uint32_t room)
{
    struct queue_leaf *leaf = calloc(1, sizeof(*leaf) + room * sizeof(*leaf->entry));
    return leaf ? &leaf->node : NULL;
}

struct queue *queue_create(int64_t most)
{
    struct queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->classes = queue_class_of(most) + 1;
    q->root = leaf_new(1);
    q->room = 1;
    if (!q->root) {
        free(q);
        return NULL;
    }
    return q;
}

static void node_free(struct queue_node *v, uint32_t level)
{
    for (uint32_t i = 0; level && i < v->n; i++)
        node_free(queue_as_inner(v)->child[i], level - 1);
    free(v);
}

static void list_free(struct queue_node *v)
{
    while (v) {
        struct queue_node *next = v->next;
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

uint64_t queue_changes(const struct queue *q)
{
    return q->changes;
}

/* Many queues have few entries: a root that is a leaf grows with them. Returns 0, or -1 with ENOMEM. */
static int root_reserve(struct queue *q)
{
    if (q->size < q->room)
        return 0;
    uint32_t room = q->room * 2;
    struct queue_leaf *leaf = realloc(q->root, sizeof(*leaf) + room * sizeof(*leaf->entry));
    if (!leaf)
        return -1;
    q->root = &leaf->node;
    q->room = room;
    return 0;
}

/* An insertion can split a node at each level; with this many spare it can't fail half way. */
int queue_reserve(struct queue *q)
{
    if (q->height == 0 && q->size < QUEUE_FAN)
        return root_reserve(q);
    if (!q->spare_leaf && !(q->spare_leaf = leaf_new(QUEUE_FAN)))
        goto nomem;
    while (q->spare_inners < q->height + 1) {
        size_t bytes = sizeof(struct queue_inner) + 2 * q->classes * QUEUE_FAN * sizeof(int64_t);
        struct queue_node *v = calloc(1, bytes);
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

static struct queue_node *take_spare(struct queue *q, uint32_t level)
{
    struct queue_node **list = level ? &q->spare_inner : &q->spare_leaf;
    struct queue_node *v = *list;
    *list = v->next;
    if (level)
        q->spare_inners--;
    v->n = 0;
    v->next = NULL;
    return v;
}

static void give_spare(struct queue *q, struct queue_node *v, uint32_t level)
{
    struct queue_node **list = level ? &q->spare_inner : &q->spare_leaf;
    if (level ? q->spare_inners > q->height : q->spare_leaf != NULL) {
        free(v);
        return;
    }
    v->next = *list;
    *list = v;
    if (level)
        q->spare_inners++;
}

/* The least in a row of columns. */
static int64_t row_least(const struct queue_inner *v, uint32_t row, uint32_t n)
{
    const int64_t *column = &v->column[row * QUEUE_FAN];
    int64_t least = column[0];
    for (uint32_t c = 1; c < n; c++)
        least = lesser(least, column[c]);
    return least;
}

/* Sum up columns of the inner node below as column i of v. */
static void refresh_from_inner(const struct queue *q, struct queue_inner *v, uint32_t i)
{
    const struct queue_inner *below = queue_as_inner(v->child[i]);
    uint32_t n = below->node.n;
    v->key[i] = below->key[0];
    v->count[i] = 0;
    for (uint32_t c = 0; c < n; c++)
        v->count[i] += below->count[c];
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        v->column[k * QUEUE_FAN + i] = row_least(below, k, n);
}

static void refresh_from_leaf(const struct queue *q, struct queue_inner *v, uint32_t i)
{
    const struct queue_leaf *leaf = queue_as_leaf(v->child[i]);
    int64_t column[2 * QUEUE_CLASSES_MAX];
    int64_t *least = column;
    int64_t *narrow = column + q->classes;
    v->key[i] = leaf->entry[0].key;
    v->count[i] = leaf->node.n;
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        column[k] = INT64_MAX;
    for (uint32_t e = 0; e < leaf->node.n; e++) {
        uint32_t class = queue_class_of(leaf->entry[e].units);
        least[class] = lesser(least[class], leaf->entry[e].value);
        narrow[class] = lesser(narrow[class], leaf->entry[e].units);
    }
    for (uint32_t k = 1; k < q->classes; k++)
        least[k] = lesser(least[k], least[k - 1]);
    for (uint32_t k = 0; k < 2 * q->classes; k++)
        v->column[k * QUEUE_FAN + i] = column[k];
}

/* Make column i of v, a node of this level, say what its child holds. */
static void refresh(const struct queue *q, struct queue_inner *v, uint32_t level, uint32_t i)
{
    if (level > 1)
        refresh_from_inner(q, v, i);
    else
        refresh_from_leaf(q, v, i);
}

/* Move n columns from index i of src to index k of dst, which may be the same node. */
static void move_columns(const struct queue *q, struct queue_inner *dst, uint32_t k,
                         const struct queue_inner *src, uint32_t i, uint32_t n)
{
    memmove(dst->key + k, src->key + i, n * sizeof(*src->key));
    memmove(dst->child + k, src->child + i, n * sizeof(struct queue_node *));
    memmove(dst->count + k, src->count + i, n * sizeof(*src->count));
    for (uint32_t c = 0; c < 2 * q->classes; c++)
        memmove(dst->column + c * QUEUE_FAN + k, src->column + c * QUEUE_FAN + i,
                n * sizeof(*src->column));
}

static void move_entries(struct queue_leaf *dst, uint32_t k, const struct queue_leaf *src,
                         uint32_t i, uint32_t n)
{
    memmove(dst->entry + k, src->entry + i, n * sizeof(*src->entry));
}

static void move_part(const struct queue *q, uint32_t level, struct queue_node *dst, uint32_t k,
                      const struct queue_node *src, uint32_t i, uint32_t n)
{
    if (level)
        move_columns(q, queue_as_inner(dst), k, queue_as_inner(src), i, n);
    else
        move_entries(queue_as_leaf(dst), k, queue_as_leaf(src), i, n);
}

/* Open a gap at index *i of v, splitting it if it is full. Returns the node with the gap, *i its index
 * there, and the new right node, if any, in *right. Entries appended in order fill nodes before they split.
 */
static struct queue_node *open_gap(struct queue *q, struct queue_node *v, uint32_t level,
                                   uint32_t *i, struct queue_node **right)
{
    *right = NULL;
    if (v->n == QUEUE_FAN) {
        uint32_t keep = *i == QUEUE_FAN ? QUEUE_FAN : QUEUE_FAN / 2;
        struct queue_node *other = take_spare(q, level);
        move_part(q, level, other, 0, v, keep, QUEUE_FAN - keep);
        other->n = QUEUE_FAN - keep;
        v->n = keep;
        *right = other;
        if (*i > keep || keep == QUEUE_FAN) {
            v = other;
            *i -= keep;
        }
    }
    move_part(q, level, v, *i + 1, v, *i, v->n - *i);
    v->n++;
    return v;
}

/* Insert below v; returns the node that was split off to its right, if any. */
static struct queue_node *insert_below(struct queue *q, struct queue_node *v, uint32_t level,
                                       const struct queue_entry *entry)
{
    struct queue_node *right;
    if (level == 0) {
        uint32_t at = queue_leaf_find(queue_as_leaf(v), entry->key);
        struct queue_leaf *leaf = queue_as_leaf(open_gap(q, v, 0, &at, &right));
        leaf->entry[at] = *entry;
        return right;
    }
    struct queue_inner *inner = queue_as_inner(v);
    uint32_t i = queue_inner_find(inner, entry->key);
    struct queue_node *split = insert_below(q, inner->child[i], level - 1, entry);
    if (!split) {
        if (queue_before(entry->key, inner->key[i]))
            inner->key[i] = entry->key;
        inner->count[i]++;
        uint32_t class = queue_class_of(entry->units);
        int64_t *narrow = queue_narrow_of(q, inner, class, i);
        *narrow = lesser(*narrow, entry->units);
        for (uint32_t k = class; k < q->classes && entry->value < *queue_least_of(inner, k, i); k++)
            *queue_least_of(inner, k, i) = entry->value;
        return NULL;
    }
    refresh(q, inner, level, i);
    i++;
    inner = queue_as_inner(open_gap(q, v, level, &i, &right));
    inner->child[i] = split;
    refresh(q, inner, level, i);
    return right;
}

int queue_insert(struct queue *q, const struct queue_entry *entry)
{
    if (queue_reserve(q) < 0)
        return -1;
    struct queue_node *right = insert_below(q, q->root, q->height, entry);
    q->size++;
    q->changes++;
    if (!right)
        return 0;
    struct queue_inner *root = queue_as_inner(take_spare(q, q->height + 1));
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
static void join_children(struct queue *q, struct queue_inner *v, uint32_t level, uint32_t i)
{
    struct queue_node *left = v->child[i];
    struct queue_node *right = v->child[i + 1];
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
static void forget_least_inner(const struct queue *q, struct queue_inner *v, uint32_t i,
                               const struct queue_entry *entry, uint32_t class)
{
    const struct queue_inner *below = queue_as_inner(v->child[i]);
    uint32_t n = below->node.n;
    *queue_narrow_of(q, v, class, i) = row_least(below, q->classes + class, n);
    for (uint32_t k = class; k < q->classes && *queue_least_of(v, k, i) == entry->value; k++) {
        int64_t least = row_least(below, k, n);
        if (least == entry->value)
            return;
        *queue_least_of(v, k, i) = least;
    }
}

/* The same for a leaf. */
static void forget_least_leaf(const struct queue *q, struct queue_inner *v, uint32_t i,
                              const struct queue_entry *entry, uint32_t class)
{
    const struct queue_leaf *leaf = queue_as_leaf(v->child[i]);
    int64_t least[QUEUE_CLASSES_MAX];
    int64_t narrow = INT64_MAX;
    int64_t so_far = class > 0 ? *queue_least_of(v, class - 1, i) : INT64_MAX;
    for (uint32_t k = class; k < q->classes; k++)
        least[k] = INT64_MAX;
    for (uint32_t e = 0; e < leaf->node.n; e++) {
        uint32_t k = queue_class_of(leaf->entry[e].units);
        if (k >= class)
            least[k] = lesser(least[k], leaf->entry[e].value);
        if (k == class)
            narrow = lesser(narrow, leaf->entry[e].units);
    }
    *queue_narrow_of(q, v, class, i) = narrow;
    for (uint32_t k = class; k < q->classes && *queue_least_of(v, k, i) == entry->value; k++) {
        so_far = lesser(so_far, least[k]);
        *queue_least_of(v, k, i) = so_far;
    }
}

/* Take one entry, which is gone from child i of v, out of what column i says. What is narrow may stay less
 * than it is.
 */
static void forget_entry(const struct queue *q, struct queue_inner *v, uint32_t level, uint32_t i,
                         const struct queue_entry *entry)
{
    const struct queue_node *child = v->child[i];
    uint32_t class = queue_class_of(entry->units);
    v->key[i] = level > 1 ? queue_as_inner(child)->key[0] : queue_as_leaf(child)->entry[0].key;
    v->count[i]--;
    if (entry->value > *queue_least_of(v, class, i))
        return;
    if (level > 1)
        forget_least_inner(q, v, i, entry, class);
    else
        forget_least_leaf(q, v, i, entry, class);
}

/* Remove the entry with this key below v; it is in *removed then. */
static void remove_below(struct queue *q, struct queue_node *v, uint32_t level,
                         struct queue_key key, struct queue_entry *removed)
{
    if (level == 0) {
        struct queue_leaf *leaf = queue_as_leaf(v);
        uint32_t at = queue_leaf_find(leaf, key);
        assert(at < v->n && leaf->entry[at].key.seq == key.seq);
        *removed = leaf->entry[at];
        move_entries(leaf, at, leaf, at + 1, v->n - at - 1);
        v->n--;
        return;
    }
    struct queue_inner *inner = queue_as_inner(v);
    uint32_t i = queue_inner_find(inner, key);
    struct queue_node *child = inner->child[i];
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
    q->changes++;
    while (q->height > 0 && q->root->n <= 1) {
        struct queue_node *root = q->root;
        q->room = QUEUE_FAN; /* what becomes the root had a parent */
        if (root->n == 0) {  /* all is gone: an empty leaf is the empty queue */
            node_free(root, 0);
            q->root = q->spare_leaf;
            q->spare_leaf = NULL;
            q->root->next = NULL;
            q->root->n = 0;
            q->height = 0;
            return;
        }
        q->root = queue_as_inner(root)->child[0];
        q->height--;
        give_spare(q, root, q->height + 1);
    }
}

void queue_give(struct queue *q, struct queue_key key, uint32_t item)
{
    struct queue_node *v = q->root;
    for (uint32_t level = q->height; level > 0; level--)
        v = queue_as_inner(v)->child[queue_inner_find(queue_as_inner(v), key)];
    struct queue_leaf *leaf = queue_as_leaf(v);
    leaf->entry[queue_leaf_find(leaf, key)].item = item;
    q->changes++;
}

static bool node_ok(const struct queue *q, const struct queue_node *v, uint32_t level,
                    struct queue_key *last, bool *first)
{
    if (v->n > QUEUE_FAN || (v->n == 0 && q->size > 0))
        return false;
    for (uint32_t i = 0; i < v->n; i++) {
        if (level == 0) {
            const struct queue_entry *entry = &queue_as_leaf(v)->entry[i];
            if (!*first && !queue_before(*last, entry->key))
                return false;
            *first = false;
            *last = entry->key;
        } else if (!node_ok(q, queue_as_inner(v)->child[i], level - 1, last, first)) {
            return false;
        }
    }
    return true;
}

/* Refreshing a column must change nothing, but that what is narrow may turn out less so. */
static bool columns_ok(const struct queue *q, const struct queue_node *v, uint32_t level,
                       size_t *size)
{
    if (level == 0) {
        *size += v->n;
        return true;
    }
    struct queue_inner *inner = queue_as_inner(v);
    for (uint32_t i = 0; i < v->n; i++) {
        struct queue_key key = inner->key[i];
        size_t count = inner->count[i];
        int64_t before[2 * QUEUE_CLASSES_MAX];
        for (uint32_t k = 0; k < 2 * q->classes; k++)
            before[k] = inner->column[k * QUEUE_FAN + i];
        refresh(q, inner, level, i);
        bool same = queue_same(key, inner->key[i]) && count == inner->count[i];
        for (uint32_t k = 0; k < 2 * q->classes; k++) {
            int64_t *now = &inner->column[k * QUEUE_FAN + i];
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
    struct queue_key last = {0, 0, 0};
    bool first = true;
    size_t size = 0;
    return node_ok(q, q->root, q->height, &last, &first) &&
           columns_ok(q, q->root, q->height, &size) && size == q->size;
}
