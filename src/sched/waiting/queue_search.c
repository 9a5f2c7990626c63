/* The queue: first, last and next entries, and those that a bound lets in (queue.h, queue_tree.h). */
#include "base/number.h"
#include "sched/waiting/queue_tree.h"

/* A bound as inner nodes try it. */
struct test {
    uint32_t class;
    int64_t units;
    int64_t value;
};

struct search {
    const struct queue_bound *bound;
    size_t bounds;
    struct test test[QUEUE_CLASSES_MAX];
    size_t tests;
};

/* The first leaf below a node of this level. */
static const struct queue_leaf *first_leaf(const struct queue_node *v, uint32_t level)
{
    for (; level > 0; level--)
        v = queue_as_inner(v)->child[0];
    return queue_as_leaf(v);
}

bool queue_first(const struct queue *q, struct queue_entry *entry)
{
    const struct queue_leaf *leaf = first_leaf(q->root, q->height);
    if (leaf->node.n == 0)
        return false;
    *entry = leaf->entry[0];
    return true;
}

bool queue_after(const struct queue *q, const struct queue_key *after, struct queue_entry *entry)
{
    const struct queue_node *v = q->root;
    const struct queue_node *right = NULL; /* of the way to the key, as far down as there is one */
    uint32_t level_right = 0;
    if (!after)
        return queue_first(q, entry);
    for (uint32_t level = q->height; level > 0; level--) {
        const struct queue_inner *inner = queue_as_inner(v);
        uint32_t i = queue_inner_find(inner, *after);
        if (i + 1 < v->n) {
            right = inner->child[i + 1];
            level_right = level - 1;
        }
        v = inner->child[i];
    }
    const struct queue_leaf *leaf = queue_as_leaf(v);
    uint32_t i = queue_leaf_find(leaf, *after);
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
        least =
            lesser(least, q->height ? *queue_least_of(queue_as_inner(q->root), q->classes - 1, i)
                                    : queue_as_leaf(q->root)->entry[i].value);
    return least;
}

bool queue_last(const struct queue *q, struct queue_entry *entry)
{
    const struct queue_node *v = q->root;
    for (uint32_t level = q->height; level > 0; level--)
        v = queue_as_inner(v)->child[v->n - 1];
    if (v->n == 0)
        return false;
    *entry = queue_as_leaf(v)->entry[v->n - 1];
    return true;
}

/* Put the cursor at the start of its node of this level. */
static void cursor_enter(struct queue_cursor *c, uint32_t level)
{
    for (;; level--) {
        c->i[level] = 0;
        if (level == 0)
            return;
        c->node[level - 1] = queue_as_inner(c->node[level])->child[0];
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
        const struct queue_node *v = c->node[level];
        if (++c->i[level] == v->n)
            continue;
        if (level > 0) {
            c->node[level - 1] = queue_as_inner(v)->child[c->i[level]];
            cursor_enter(c, level - 1);
        }
        return true;
    }
    return false;
}

uint32_t queue_item(const struct queue_cursor *c)
{
    return queue_as_leaf(c->node[0])->entry[c->i[0]].item;
}

size_t queue_rank(const struct queue *q, struct queue_key key)
{
    const struct queue_node *v = q->root;
    size_t rank = 0;
    for (uint32_t level = q->height; level > 0; level--) {
        const struct queue_inner *inner = queue_as_inner(v);
        uint32_t i = queue_inner_find(inner, key);
        for (uint32_t c = 0; c < i; c++)
            rank += inner->count[c];
        v = inner->child[i];
    }
    return rank + queue_leaf_find(queue_as_leaf(v), key);
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
        uint32_t class = queue_class_of(bound[i].units);
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

static bool column_matches(const struct search *s, const struct queue *q,
                           const struct queue_inner *v, uint32_t i)
{
    for (size_t t = 0; t < s->tests; t++) {
        const struct test *test = &s->test[t];
        if (test->class > 0 && *queue_least_of(v, test->class - 1, i) <= test->value)
            return true;
        if (*queue_least_of(v, test->class, i) <= test->value &&
            *queue_narrow_of(q, v, test->class, i) <= test->units)
            return true;
    }
    return false;
}

static const struct queue_entry *match_below(const struct search *s, const struct queue *q,
                                             const struct queue_node *v, uint32_t level,
                                             const struct queue_key *after)
{
    if (level == 0) {
        const struct queue_leaf *leaf = queue_as_leaf(v);
        const struct queue_entry *entry = leaf->entry + (after ? queue_leaf_find(leaf, *after) : 0);
        const struct queue_entry *end = leaf->entry + v->n;
        const int64_t most = s->bound[0].units; /* of all bounds */
        if (after && entry < end && !queue_before(*after, entry->key))
            entry++;
        for (; entry < end; entry++)
            if (entry->units <= most && entry_matches(s, entry))
                return entry;
        return NULL;
    }
    const struct queue_inner *inner = queue_as_inner(v);
    for (uint32_t i = after ? queue_inner_find(inner, *after) : 0; i < v->n; i++) {
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
