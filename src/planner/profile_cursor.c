/* Cursors: walking over points in order, and searching for free windows (profile.h). */
#include "planner/profile_node.h"

void profile_seek(struct profile_cursor *c, const struct profile *p, int64_t at)
{
    const node_t *v = p->root;
    int64_t sum = 0;
    c->profile = p;
    for (uint32_t level = p->height; level > 0; level--) {
        uint32_t i = node_find(v, at);
        c->path[level - 1].node = v;
        c->path[level - 1].i = i;
        c->path[level - 1].sum = sum;
        sum = plus(sum, inner_add(v)[i]);
        v = inner_child(v)[i];
    }
    c->leaf = v;
    c->i = node_find(v, at);
    c->sum = sum;
}

uint32_t profile_cursor_holds(const struct profile_cursor *c)
{
    return leaf_holds(c->leaf)[c->i];
}

/* What a cursor looks for: any point, one at or below a limit, one above it. */
enum want { WANT_ANY, WANT_UNDER, WANT_OVER };

static inline bool wanted(int64_t value, int64_t limit, enum want want)
{
    return want == WANT_ANY || (want == WANT_UNDER ? value <= limit : value > limit);
}

/* Move to the first wanted point of the subtree at entry i of the path's node of this level; there is one. */
static void cursor_enter(struct profile_cursor *c, uint32_t level, uint32_t i, int64_t limit,
                         enum want want)
{
    for (;;) {
        const node_t *v = c->path[level].node;
        int64_t sum = plus(c->path[level].sum, inner_add(v)[i]);
        const node_t *child = inner_child(v)[i];
        c->path[level].i = i;
        if (level == 0) {
            c->leaf = child;
            c->i = 0;
            c->sum = sum;
            return;
        }
        level--;
        c->path[level].node = child;
        c->path[level].sum = sum;
        const int64_t *bound = want == WANT_OVER ? inner_max(child) : inner_min(child);
        for (i = 0; i + 1 < child->n && !wanted(plus(bound[i], sum), limit, want); i++)
            ;
    }
}

/* Move to the next leaf that has a wanted point and begins before stop; false if there is none. */
static bool cursor_leave(struct profile_cursor *c, int64_t limit, int64_t stop, enum want want)
{
    for (uint32_t level = 0; level < c->profile->height; level++) {
        const node_t *v = c->path[level].node;
        int64_t sum = c->path[level].sum;
        const int64_t *bound = want == WANT_OVER ? inner_max(v) : inner_min(v);
        for (uint32_t i = c->path[level].i + 1; i < v->n; i++) {
            if (want != WANT_ANY && node_key(v)[i] >= stop)
                return false;
            if (wanted(plus(bound[i], sum), limit, want)) {
                cursor_enter(c, level, i, limit, want);
                return true;
            }
        }
    }
    return false;
}

static inline bool cursor_scan(struct profile_cursor *c, int64_t limit, int64_t stop,
                               enum want want)
{
    do {
        const node_t *leaf = c->leaf;
        const int64_t *load = leaf_load(leaf);
        const int64_t sum = c->sum;
        const uint32_t n = leaf->n;
        for (uint32_t i = c->i; i < n; i++) {
            if (wanted(plus(load[i], sum), limit, want)) {
                c->i = i;
                return node_key(leaf)[i] < stop;
            }
        }
        if (node_key(leaf)[n - 1] >= stop)
            return false;
    } while (cursor_leave(c, limit, stop, want));
    return false;
}

bool profile_next_leaf(struct profile_cursor *c)
{
    return cursor_leave(c, 0, INT64_MAX, WANT_ANY);
}

bool profile_next_over(struct profile_cursor *c, int64_t limit, int64_t stop)
{
    return cursor_scan(c, limit, stop, WANT_OVER);
}

bool profile_fit(struct profile_cursor *c, int64_t from, int64_t duration, int64_t limit,
                 int64_t stop, int64_t *at)
{
    while (cursor_scan(c, limit, stop, WANT_UNDER)) {
        int64_t start = profile_cursor_time(c);
        start = start < from ? from : start;
        bool past = (uint64_t)duration > (uint64_t)stop - (uint64_t)start;
        if (!cursor_scan(c, limit, past ? stop : start + duration, WANT_OVER)) {
            *at = start;
            return true;
        }
    }
    return false;
}

/* Invariant: every window that begins at or after `end` - duration + 1, and before stop, contains an instant
 * before stop, at or after `end`, with too high a load.
 */
bool profile_fits(const struct profile *p, int64_t from, int64_t duration, int64_t limit,
                  int64_t stop)
{
    struct profile_cursor c;
    if (from >= stop)
        return false;
    profile_seek(&c, p, stop - 1);
    if (profile_cursor_load(&c) <= limit)
        return true;
    int64_t end = profile_cursor_time(&c);
    while (end > from && (uint64_t)end - (uint64_t)from >= (uint64_t)duration) {
        profile_seek(&c, p, end - duration);
        if (!cursor_scan(&c, limit, end, WANT_OVER))
            return true;
        end = profile_cursor_time(&c);
    }
    return false;
}
