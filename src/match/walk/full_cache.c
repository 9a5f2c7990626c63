/* What is known to be taken of the children of a vertex that has many: a row of times, so that looking at
 * all of them costs little where most are. And of one search for the earliest time, from when on there may be
 * something for its job in each: as the search goes from time to time, only the children whose own has come
 * are looked at again.
 */
#include <stdlib.h>

#include "base/bounds.h"
#include "match/plan.h"
#include "match/walk/walk.h"

/* The place of v among its parent's children, from 1. */
static uint32_t child_position(const struct topo *t, uint32_t parent, uint32_t v)
{
    const uint32_t *children;
    uint32_t n = topo_children(t, parent, &children), low = 0, high = n;

    while (t->ascending && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (children[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < n && children[low] != v)
        low++;
    return low + 1;
}

/* The first time in a window during which a profile is over a limit. */
static bool find_over(const struct profile *p, int64_t limit, int64_t at, int64_t end,
                      struct full_window *full)
{
    struct profile_cursor c;

    if (p->n <= 1 || profile_max(p, at, end) <= limit)
        return false;
    profile_seek(&c, p, at);
    if (!profile_next_over(&c, limit, end))
        return false;
    full->at = profile_cursor_time(&c);
    return profile_fit(&c, full->at, 1, limit, INT64_MAX, &full->end);
}

/* The same of the load of a vertex. */
static bool find_load_over(const struct state *s, int64_t limit, int64_t at, int64_t end,
                           struct full_window *full)
{
    struct profile_view view;

    return find_over(state_users(s, &view), limit, at, end, full);
}

static bool find_full(const struct match *m, uint32_t v, const struct request *q, int64_t at,
                      int64_t end, struct full_window *full)
{
    const struct state *s = m->state[v];
    const struct state_below *b = state_below(s);
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);

    full->number = FULL_FOR_ALL;
    if (find_load_over(s, STATE_EXCLUSIVE - 1, at, end, full))
        return true;
    for (uint32_t i = 0; b->counts && i < list->n; i++) {
        int64_t want = q->below[list->number[i]];
        int64_t total = prune_total(&m->prune, &m->topo, v, list->number[i]);
        full->number = list->number[i];
        full->left = want - 1;
        if (want > 0 && want <= total && find_over(&b->counts[i], total - want, at, end, full))
            return true;
    }
    full->number = FULL_FOR_ONE;
    return find_load_over(s, 0, at, end, full);
}

/* Have room for what is known of so many children. False: there is no memory. */
static bool full_cache_make(struct state_below *b, uint32_t children)
{
    if (b->full)
        return true;
    b->full = calloc(children, sizeof(*b->full));
    b->full_block = calloc(children / FULL_BLOCK + 1, sizeof(*b->full_block));
    if (b->full && b->full_block)
        return true;
    free(b->full);
    free(b->full_block);
    b->full = NULL;
    b->full_block = NULL;
    return false;
}

/* A child is full in another window. */
static void full_window_set(struct state *above, struct full_window *kept,
                            const struct full_window *full)
{
    *kept = *full;
    above->below->full_block[(kept - above->below->full) / FULL_BLOCK].is_known = false;
}

/* What is known of a vertex, in *in the state of what it is in; NULL: nothing is kept. */
static struct full_window *full_cache_of(struct match *m, uint32_t v, struct state **in)
{
    const struct topo *t = &m->topo;
    uint32_t parent = t->is_tree && v != t->root ? t->parent[v] : VERTEX_NONE;
    const uint32_t *children;
    struct state *s = m->state[v];

    if (!s || parent == VERTEX_NONE || topo_children(t, parent, &children) < FULL_CHILDREN_MIN)
        return NULL;
    struct state *above = match_state(m, parent);
    *in = above;
    if (!above || match_need_below(m, above) < 0 ||
        !full_cache_make(above->below, topo_children(t, parent, &children)))
        return NULL;
    if (!s->place)
        s->place = child_position(t, parent, v);
    return &above->below->full[s->place - 1];
}

void full_cache_note(struct match *m, uint32_t v, const struct request *q, int64_t at, int64_t end)
{
    const uint32_t *children;
    uint32_t below = topo_children(&m->topo, v, &children);
    struct state *above;
    struct full_window full = {0}, *kept = below > 0 ? full_cache_of(m, v, &above) : NULL;

    if (kept && find_full(m, v, q, at, end, &full))
        full_window_set(above, kept, &full);
}

/* When all of a type below a vertex is taken, or that it is used at all. */
static bool find_used_up(const struct match *m, uint32_t v, uint16_t type, int64_t at, int64_t end,
                         struct full_window *full)
{
    const struct state *s = m->state[v];
    const struct state_below *b = state_below(s);
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);

    full->number = FULL_FOR_ALL;
    if (find_load_over(s, STATE_EXCLUSIVE - 1, at, end, full))
        return true;
    full->number = m->prune.number[type];
    for (uint32_t i = 0; b->counts && full->number != PRUNE_NONE && i < list->n; i++) {
        int64_t total = prune_total(&m->prune, &m->topo, v, list->number[i]);
        if (list->number[i] == (uint32_t)full->number &&
            find_over(&b->counts[i], total - 1, at, end, full))
            return true;
    }
    full->number = FULL_FOR_ONE;
    return find_load_over(s, 0, at, end, full);
}

void full_cache_note_count(struct match *m, uint32_t v, uint16_t type, int64_t at, int64_t end)
{
    const uint32_t *children;
    uint32_t below = topo_children(&m->topo, v, &children);
    struct state *above;
    struct full_window full = {0}, *kept = below > 0 ? full_cache_of(m, v, &above) : NULL;

    if (kept && find_used_up(m, v, type, at, end, &full))
        full_window_set(above, kept, &full);
}

void full_window_lack(struct state *above, struct full_window *kept, const struct plan_lack *lack)
{
    if (lack->kind == PLAN_LACKS_NOTHING)
        return;
    struct full_window full = {.at = lack->at,
                               .end = lack->end,
                               .number = lack->kind == PLAN_LACKS_ALL     ? FULL_FOR_ALL
                                         : lack->kind == PLAN_LACKS_WHOLE ? FULL_FOR_ONE
                                                                          : lack->number,
                               .left = lack->units - 1};
    full_window_set(above, kept, &full);
}

void full_window_none(const struct walk *w, struct full_window *kept, uint32_t level,
                      int64_t before)
{
    kept->search = w->search;
    kept->level = level;
    kept->none_before = before;
}

void full_cache_lack(struct match *m, uint32_t v, const struct plan_lack *lack)
{
    struct state *above;
    struct full_window *kept = full_cache_of(m, v, &above);

    if (kept)
        full_window_lack(above, kept, lack);
}

void full_cache_none(struct walk *w, uint32_t v, uint32_t level, int64_t before)
{
    struct state *above;
    struct full_window *kept = full_cache_of(w->m, v, &above);

    if (kept)
        full_window_none(w, kept, level, before);
}

void full_cache_take(struct state *s, int64_t at, int64_t end)
{
    struct full_window full;

    if (!s->users.root || !find_over(&s->users, STATE_EXCLUSIVE - 1, at, end, &full))
        return;
    s->taken.at = full.at;
    s->taken.end = full.end;
}

/* What is known of a vertex may have been noted without its own state, which knows its place only from here on. */
void full_cache_forget(struct match *m, uint32_t v)
{
    const struct topo *t = &m->topo;
    struct state *s = m->state[v];
    uint32_t parent = t->is_tree && v != t->root ? t->parent[v] : VERTEX_NONE;
    struct state *above = parent == VERTEX_NONE ? NULL : m->state[parent];

    if (s->users.root)
        s->taken.at = s->taken.end = 0;
    s->given_back++;
    if (!state_below(above)->full)
        return;
    if (!s->place)
        s->place = child_position(t, parent, v);
    full_window_set(above, &above->below->full[s->place - 1], &(struct full_window){0});
}

/* ---- Many children at once ---- */

/* One more child is full in a window. */
static void block_add(const struct match *m, struct full_block *b, const struct full_window *full,
                      uint32_t child)
{
    b->at = full->at > b->at ? full->at : b->at;
    b->end = full->end < b->end ? full->end : b->end;
    if (full->number == FULL_FOR_ONE) {
        b->any_for_one = true;
        b->any_divisible |=
            m->g->v[child].divisible || topo_sum(&m->topo, child, m->g->v[child].type) != NULL;
    } else if (full->number >= 0 && b->number >= 0 && full->number != b->number) {
        b->end = INT64_MIN; /* for one type and for another: that rules out nobody */
    } else if (full->number >= 0) {
        b->left = b->number < 0 || full->left > b->left ? full->left : b->left;
        b->number = full->number;
    }
}

const struct full_block *full_block_of(struct match *m, const struct state *above,
                                       const uint32_t *children, uint32_t first)
{
    struct full_block *b = &above->below->full_block[first / FULL_BLOCK];
    if (b->is_known)
        return b;
    *b = (struct full_block){
        .is_known = true, .number = FULL_FOR_ALL, .at = INT64_MIN, .end = INT64_MAX};
    for (uint32_t i = first; i < first + FULL_BLOCK && b->end > INT64_MIN; i++) {
        const struct full_window *full = &above->below->full[i];
        if (full->at < full->end)
            block_add(m, b, full, children[i]);
        else
            b->end = INT64_MIN;
    }
    return b;
}

bool full_block_check(const struct match *m, const struct state *above, const uint32_t *children,
                      uint32_t n)
{
    for (uint32_t first = 0; state_below(above)->full && first + FULL_BLOCK <= n;
         first += FULL_BLOCK) {
        const struct full_block *b = &above->below->full_block[first / FULL_BLOCK];
        for (uint32_t i = first; b->is_known && b->end > INT64_MIN && i < first + FULL_BLOCK; i++) {
            const struct full_window *full = &above->below->full[i];
            bool is_more =
                full->at > b->at || full->end < b->end ||
                (full->number >= 0 && (full->number != b->number || full->left > b->left)) ||
                (full->number == FULL_FOR_ONE && !b->any_for_one) ||
                (full->number == FULL_FOR_ONE && m->g->v[children[i]].divisible &&
                 !b->any_divisible);
            if (is_more || full->at >= full->end)
                return false;
        }
    }
    return true;
}
