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

static bool find_full(const struct match *m, uint32_t v, const struct request *q, int64_t at,
                      int64_t end, struct full_window *full)
{
    const struct state *s = m->state[v];
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);

    full->number = FULL_FOR_ALL;
    if (find_over(&s->users, STATE_EXCLUSIVE - 1, at, end, full))
        return true;
    for (uint32_t i = 0; s->counts && i < list->n; i++) {
        int64_t want = q->below[list->number[i]];
        int64_t total = prune_total(&m->prune, &m->topo, v, list->number[i]);
        full->number = list->number[i];
        full->left = want - 1;
        if (want > 0 && want <= total && find_over(&s->counts[i], total - want, at, end, full))
            return true;
    }
    full->number = FULL_FOR_ONE;
    return find_over(&s->users, 0, at, end, full);
}

static struct full_window *full_cache_of(struct match *m, uint32_t v)
{
    const struct topo *t = &m->topo;
    uint32_t parent = t->is_tree && v != t->root ? t->parent[v] : VERTEX_NONE;
    const uint32_t *children;
    struct state *s = m->state[v];

    if (!s || parent == VERTEX_NONE || topo_children(t, parent, &children) < FULL_CHILDREN_MIN)
        return NULL;
    struct state *above = match_state(m, parent);
    if (above && !above->full)
        above->full = calloc(topo_children(t, parent, &children), sizeof(*above->full));
    if (!above || !above->full)
        return NULL;
    if (!s->place)
        s->place = child_position(t, parent, v);
    return &above->full[s->place - 1];
}

void full_cache_note(struct match *m, uint32_t v, const struct request *q, int64_t at, int64_t end)
{
    const uint32_t *children;
    uint32_t below = topo_children(&m->topo, v, &children);
    struct full_window full = {0}, *kept = below > 0 ? full_cache_of(m, v) : NULL;

    if (kept && find_full(m, v, q, at, end, &full))
        *kept = full;
}

/* When all of a type below a vertex is taken, or that it is used at all. */
static bool find_used_up(const struct match *m, uint32_t v, uint16_t type, int64_t at, int64_t end,
                         struct full_window *full)
{
    const struct state *s = m->state[v];
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);

    full->number = FULL_FOR_ALL;
    if (find_over(&s->users, STATE_EXCLUSIVE - 1, at, end, full))
        return true;
    full->number = m->prune.number[type];
    for (uint32_t i = 0; s->counts && full->number != PRUNE_NONE && i < list->n; i++) {
        int64_t total = prune_total(&m->prune, &m->topo, v, list->number[i]);
        if (list->number[i] == (uint32_t)full->number &&
            find_over(&s->counts[i], total - 1, at, end, full))
            return true;
    }
    full->number = FULL_FOR_ONE;
    return find_over(&s->users, 0, at, end, full);
}

void full_cache_note_count(struct match *m, uint32_t v, uint16_t type, int64_t at, int64_t end)
{
    const uint32_t *children;
    uint32_t below = topo_children(&m->topo, v, &children);
    struct full_window full = {0}, *kept = below > 0 ? full_cache_of(m, v) : NULL;

    if (kept && find_used_up(m, v, type, at, end, &full))
        *kept = full;
}

void full_window_lack(struct full_window *kept, const struct plan_lack *lack)
{
    if (lack->kind == PLAN_LACKS_NOTHING)
        return;
    *kept = (struct full_window){.at = lack->at,
                                 .end = lack->end,
                                 .number = lack->kind == PLAN_LACKS_ALL     ? FULL_FOR_ALL
                                           : lack->kind == PLAN_LACKS_WHOLE ? FULL_FOR_ONE
                                                                            : lack->number,
                                 .left = lack->units - 1};
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
    struct full_window *kept = full_cache_of(m, v);

    if (kept)
        full_window_lack(kept, lack);
}

void full_cache_none(struct walk *w, uint32_t v, uint32_t level, int64_t before)
{
    struct full_window *kept = full_cache_of(w->m, v);

    if (kept)
        full_window_none(w, kept, level, before);
}

void full_cache_take(struct state *s, int64_t at, int64_t end)
{
    struct full_window full;

    if (!find_over(&s->users, STATE_EXCLUSIVE - 1, at, end, &full))
        return;
    s->taken_at = full.at;
    s->taken_until = full.end;
}

/* What is known of a vertex may have been noted without its own state, which knows its place only from here on. */
void full_cache_forget(struct match *m, uint32_t v)
{
    const struct topo *t = &m->topo;
    struct state *s = m->state[v];
    uint32_t parent = t->is_tree && v != t->root ? t->parent[v] : VERTEX_NONE;
    struct state *above = parent == VERTEX_NONE ? NULL : m->state[parent];

    s->taken_at = s->taken_until = 0;
    if (!above || !above->full)
        return;
    if (!s->place)
        s->place = child_position(t, parent, v);
    above->full[s->place - 1] = (struct full_window){0};
}
