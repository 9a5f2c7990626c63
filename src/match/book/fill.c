#include "match/book/fill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "match/book/fill_tree.h"
#include "match/inner.h"
#include "match/walk/request.h"

static const struct prune_list *counted(const struct match *m, uint32_t v)
{
    return prune_of(&m->prune, &m->topo, v);
}

/* What an amount is of what a vertex has of its k-th type, in millionths. */
static int64_t part_of(const struct match *m, uint32_t v, uint32_t k, int64_t amount)
{
    int64_t total = prune_total(&m->prune, &m->topo, v, counted(m, v)->number[k]);

    return total > 0 ? (int64_t)((fill_wide)amount * FILL_OF_TYPE / total) : 0;
}

static int64_t *held_of(const struct match *m, uint32_t i, bool reserved)
{
    return &m->fills.held[((size_t)i * 2 + reserved) * m->prune.n];
}

static int64_t sum_of_parts(const struct match *m, uint32_t v, const int64_t *amounts)
{
    int64_t sum = 0;

    for (uint32_t k = 0; k < counted(m, v)->n; k++)
        sum += part_of(m, v, k, amounts[k]);
    return sum;
}

void fills_note(struct match *m, const struct job *job, const struct hold *h, int sign)
{
    uint32_t i = m->fills.of && h->n_counts > 0 ? m->fills.of[h->vertex] : FILL_NONE;

    if (i == FILL_NONE || job->lifted)
        return;
    struct fill *f = &m->fills.v[i];
    int64_t *held = held_of(m, i, job->reserved);
    for (uint32_t k = 0; k < h->n_counts; k++)
        held[k] += sign * job->counts[h->counts + k];
    int64_t sum = sum_of_parts(m, h->vertex, held);
    if (sum == (job->reserved ? f->promised : f->full))
        return;
    if (f->group != FILL_NONE)
        fill_tree_take(m, i);
    *(job->reserved ? &f->promised : &f->full) = sum;
    if (f->group != FILL_NONE)
        fill_tree_put(m, i);
}

/* ---- Making ---- */

/* Children are of one group if they are of one type and have as much of each type that is counted. */
static int by_size(const void *a, const void *b, void *arg)
{
    const struct match *m = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (m->g->v[x].type != m->g->v[y].type)
        return m->g->v[x].type < m->g->v[y].type ? -1 : 1;
    for (uint32_t k = 0; k < counted(m, x)->n; k++) {
        uint32_t number = counted(m, x)->number[k];
        int64_t p = prune_total(&m->prune, &m->topo, x, number),
                q = prune_total(&m->prune, &m->topo, y, number);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static int by_size_and_place(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = by_size(a, b, arg);

    return c ? c : x < y ? -1 : x > y;
}

/* Whether requests change where a vertex comes among others like it. */
static bool is_alone(const struct match *m, uint32_t v)
{
    return m->policy.by_balance > 0 && (m->policy.by_use == 0 || counted(m, v)->n > 1);
}

/* Put v's children into groups, of which there are *groups so far. `list` has room for them. */
static void group_children(struct match *m, uint32_t v, uint32_t *list, uint32_t *groups)
{
    struct fills *f = &m->fills;
    struct fill *above = &f->v[f->of[v]];
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, v, &children), found = 0;

    for (uint32_t i = 0; i < n; i++)
        if (counted(m, children[i])->n > 0 && match_owns(m, v, children[i]))
            list[found++] = children[i];
    qsort_r(list, found, sizeof(*list), by_size_and_place, m);
    above->groups = *groups;
    above->n_grouped = found;
    for (uint32_t i = 0; i < found; i++) {
        if (i == 0 || is_alone(m, list[i]) || by_size(&list[i - 1], &list[i], m) != 0)
            f->root[(*groups)++] = FILL_NONE;
        f->v[f->of[list[i]]].group = *groups - 1;
        fill_tree_put(m, f->of[list[i]]);
    }
    above->n_groups = *groups - above->groups;
}

int fills_make(struct match *m)
{
    struct fills *f = &m->fills;
    uint32_t groups = 0, n = 0;

    if (m->policy.fill == FILL_IGNORED)
        return 0;
    for (uint32_t v = 0; v < m->g->n; v++)
        n += vertex_is_there(m, v) && !topo_is_leaf(&m->topo, v);
    f->of = malloc(((size_t)m->g->n + 1) * sizeof(*f->of));
    f->v = calloc((size_t)n + 1, sizeof(*f->v));
    f->held = calloc((size_t)n * 2 * m->prune.n + 1, sizeof(*f->held));
    f->root = malloc(((size_t)n + 1) * sizeof(*f->root));
    uint32_t *list = malloc(((size_t)n + 1) * sizeof(*list));
    if (!f->of || !f->v || !f->held || !f->root || !list) {
        free(list);
        errno = ENOMEM;
        return -1;
    }
    for (uint32_t v = 0; v < m->g->n; v++) {
        bool has = vertex_is_there(m, v) && !topo_is_leaf(&m->topo, v);
        f->of[v] = has ? f->n : FILL_NONE;
        if (has)
            f->v[f->n++] = (struct fill){.vertex = v, .group = FILL_NONE};
    }
    for (uint32_t i = 0; i < f->n; i++)
        group_children(m, f->v[i].vertex, list, &groups);
    free(list);
    return 0;
}

void fills_clear(struct fills *f)
{
    free(f->of);
    free(f->v);
    free(f->held);
    free(f->root);
    *f = (struct fills){0};
}

/* ---- Walking ---- */

/* A group of which a child is the next. */
struct fill_head {
    uint32_t fill;
    int64_t wanted; /* what the request adds to what is in use */
    int64_t most;   /* in use with which there still is room */
    int64_t uneven; /* 0 where it isn't asked */
    bool again;     /* of those without room, which pack has before the others */
};

static bool has_room(const struct match *m, const struct fill_head *h)
{
    return m->fills.v[h->fill].full + h->wanted <= h->most;
}

static int64_t score_of(const struct match *m, const struct fill_head *h)
{
    int64_t use = capped_product(m->policy.by_use, m->fills.v[h->fill].full + h->wanted);
    int64_t uneven = m->policy.by_balance * h->uneven;

    return m->policy.fill == FILL_FULLEST ? use - uneven : capped_sum(use, uneven);
}

static bool goes_before(const struct match *m, const struct fill_head *a, const struct fill_head *b)
{
    const struct fill *x = &m->fills.v[a->fill], *y = &m->fills.v[b->fill];

    if (has_room(m, a) != has_room(m, b))
        return has_room(m, a);
    return fill_order(m, x, score_of(m, a), y, score_of(m, b)) < 0;
}

static void sift_down(struct fill_walk *walk, uint32_t i)
{
    for (uint32_t k = 2 * i + 1; k < walk->n; i = k, k = 2 * i + 1) {
        if (k + 1 < walk->n && goes_before(walk->m, &walk->head[k + 1], &walk->head[k]))
            k++;
        if (!goes_before(walk->m, &walk->head[k], &walk->head[i]))
            return;
        struct fill_head h = walk->head[i];
        walk->head[i] = walk->head[k];
        walk->head[k] = h;
    }
}

/* Go on to those of the group without room, if these come before the others in its tree; false if there are none. */
static bool begin_again(const struct match *m, uint32_t group, struct fill_head *h)
{
    if (h->again || m->policy.fill != FILL_FULLEST)
        return false;
    h->again = true;
    h->fill = fill_tree_first(m, group);
    return !has_room(m, h);
}

/* What one piece of a request wants of a vertex's k-th type, as a part of what that has. */
static int64_t part_wanted(const struct match *m, uint32_t v, uint32_t k, const struct request *q)
{
    uint32_t number = counted(m, v)->number[k];

    return part_of(m, v, k, q->below[number] + (m->prune.type[number] == q->type));
}

static int64_t wanted_of(const struct match *m, uint32_t v, const struct request *q)
{
    int64_t sum = 0;

    for (uint32_t k = 0; k < counted(m, v)->n; k++)
        sum += part_wanted(m, v, k, q);
    return sum;
}

/* The largest number whose square is at most a square, of numbers up to `most`. */
static int64_t root_of(fill_wide square, int64_t most)
{
    int64_t root = 0;

    while (root < most) {
        int64_t middle = root + (most - root + 1) / 2;
        if ((fill_wide)middle * middle <= square)
            root = middle;
        else
            most = middle - 1;
    }
    return root;
}

/* How unevenly a vertex is full once it has one piece of a request. */
static int64_t uneven_of(const struct match *m, uint32_t v, const struct request *q)
{
    const struct prune_list *list = counted(m, v);
    const int64_t *held = held_of(m, m->fills.of[v], false);
    int64_t n = 0, sum = 0;
    fill_wide squares = 0;

    for (uint32_t k = 0; k < list->n; k++) {
        if (prune_total(&m->prune, &m->topo, v, list->number[k]) == 0)
            continue;
        int64_t part = lesser(part_of(m, v, k, held[k]) + part_wanted(m, v, k, q), FILL_OF_TYPE);
        n++;
        sum += part;
        squares += part * part;
    }
    return root_of(n * squares - (fill_wide)sum * sum, n * FILL_OF_TYPE);
}

int fill_walk_begin(struct fill_walk *walk, struct match *m, uint32_t v, const struct request *q)
{
    const struct fill *above = &m->fills.v[m->fills.of[v]];

    *walk = (struct fill_walk){.m = m, .parent = v};
    walk->head = arena_alloc(&m->arena, ((size_t)above->n_groups + 1) * sizeof(*walk->head));
    if (!walk->head)
        return -1;
    for (uint32_t g = above->groups; g < above->groups + above->n_groups; g++) {
        uint32_t like = m->fills.v[m->fills.root[g]].vertex;
        struct fill_head h = {.wanted = wanted_of(m, like, q),
                              .most = (int64_t)counted(m, like)->n * FILL_OF_TYPE,
                              .uneven = m->policy.by_balance > 0 ? uneven_of(m, like, q) : 0};
        h.fill = m->policy.fill == FILL_FULLEST ? fill_tree_at_most(m, g, h.most - h.wanted)
                                                : fill_tree_first(m, g);
        if (h.fill != FILL_NONE || begin_again(m, g, &h))
            walk->head[walk->n++] = h;
    }
    for (uint32_t i = walk->n / 2; i-- > 0;)
        sift_down(walk, i);
    return 0;
}

/* The next child that is in no group. */
static bool next_ungrouped(struct fill_walk *walk, uint32_t *child)
{
    const struct fills *f = &walk->m->fills;
    const struct fill *above = &f->v[f->of[walk->parent]];
    const uint32_t *children;
    uint32_t n = topo_children(&walk->m->topo, walk->parent, &children);

    while (n > above->n_grouped && walk->next < n) {
        *child = children[walk->next++];
        uint32_t i = f->of[*child];
        if (i == FILL_NONE || f->v[i].group < above->groups ||
            f->v[i].group >= above->groups + above->n_groups)
            return true;
    }
    return false;
}

bool fill_walk_next(struct fill_walk *walk, uint32_t *child)
{
    const struct match *m = walk->m;

    if (walk->n == 0)
        return next_ungrouped(walk, child);
    struct fill_head *h = &walk->head[0];
    uint32_t group = m->fills.v[h->fill].group;
    *child = m->fills.v[h->fill].vertex;
    h->fill = fill_tree_next(m, h->fill);
    bool over = h->fill == FILL_NONE ? !begin_again(m, group, h) : h->again && has_room(m, h);
    if (over)
        walk->head[0] = walk->head[--walk->n];
    sift_down(walk, 0);
    return true;
}

/* ---- Checking ---- */

/* Whether each child is in its group, once, in order. */
static bool check_groups(const struct match *m, uint32_t v)
{
    const struct fill *above = &m->fills.v[m->fills.of[v]];
    uint32_t found = 0;

    for (uint32_t g = above->groups; g < above->groups + above->n_groups; g++) {
        uint32_t before = FILL_NONE;
        for (uint32_t i = fill_tree_first(m, g); i != FILL_NONE; i = fill_tree_next(m, i)) {
            const struct fill *f = &m->fills.v[i];
            if (f->group != g || !match_owns(m, v, f->vertex) || ++found > above->n_grouped ||
                (before != FILL_NONE &&
                 fill_order(m, &m->fills.v[before], m->fills.v[before].full, f, f->full) >= 0))
                return false;
            before = i;
        }
    }
    return found == above->n_grouped;
}

bool fills_check(const struct match *m)
{
    const struct fills *f = &m->fills;
    size_t sums = (size_t)f->n * 2 * m->prune.n;
    bool good = true;

    if (!f->of)
        return m->policy.fill == FILL_IGNORED;
    int64_t *held = calloc(sums + 1, sizeof(*held));
    for (uint32_t k = 0; k < m->jobs.slots && held; k++) {
        const struct job *job = m->jobs.slot[k];
        for (uint32_t i = 0; job && !job->lifted && i < job->n; i++)
            for (uint32_t c = 0; !hold_is_bare(&job->hold[i]) && c < job->hold[i].n_counts; c++)
                held[((size_t)f->of[job->hold[i].vertex] * 2 + job->reserved) * m->prune.n + c] +=
                    job->counts[job->hold[i].counts + c];
    }
    good = held && memcmp(held, f->held, sums * sizeof(*held)) == 0;
    for (uint32_t i = 0; i < f->n && good; i++)
        good = f->v[i].full == sum_of_parts(m, f->v[i].vertex, held_of(m, i, false)) &&
               f->v[i].promised == sum_of_parts(m, f->v[i].vertex, held_of(m, i, true)) &&
               check_groups(m, f->v[i].vertex);
    free(held);
    return good;
}
