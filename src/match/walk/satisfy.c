/* Whether a vertex has what its request wants below it. */
#include <stdlib.h>
#include <string.h>

#include "match/walk/walk.h"

/* True if the answer is the same for every idle vertex of the class. */
static bool is_of_class(const struct walk *w, uint32_t v, const struct role *s)
{
    const struct class *c = topo_class(w->t, v);

    if (!s->idle || !w->t->is_tree || w->m->has_orphans || w->requests->by_property)
        return false;
    if (!c->uniform && (w->policy->first || w->policy->score != SCORE_ID))
        return false;
    return !walk_is_constrained(w) ||
           (!topo_sum(w->t, v, TYPE_NODE) && !topo_sum(w->t, v, TYPE_STORAGE_NODE));
}

static uint64_t memo_key(const struct walk *w, uint32_t v, const struct role *s)
{
    return ((uint64_t)w->t->class_of[v] << 28 | (uint64_t)s->request << 1 | s->exclusive) + 1;
}

static uint32_t memo_slot(const struct memo *memo, uint64_t key)
{
    uint32_t mask = memo->size - 1;
    uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

    while (memo->key[i] && memo->key[i] != key)
        i = (i + 1) & mask;
    return i;
}

/* Make room for one more answer. Returns false if memory runs out; the answer is then not remembered. */
static bool memo_grow(struct memo *memo)
{
    if (2 * (memo->used + 1) <= memo->size)
        return true;
    struct memo wide = {.size = memo->size ? 4 * memo->size : 64, .used = memo->used};
    wide.key = calloc(wide.size, sizeof(*wide.key));
    wide.value = calloc(wide.size, sizeof(*wide.value));
    if (!wide.key || !wide.value) {
        free(wide.key);
        free(wide.value);
        return false;
    }
    for (uint32_t i = 0; i < memo->size; i++) {
        if (!memo->key[i])
            continue;
        uint32_t to = memo_slot(&wide, memo->key[i]);
        wide.key[to] = memo->key[i];
        wide.value[to] = memo->value[i];
    }
    free(memo->key);
    free(memo->value);
    *memo = wide;
    return true;
}

static bool look_below(struct walk *w, uint32_t v, const struct role *s, int64_t factor)
{
    uint32_t level = w->rq[s->request].with;
    struct arena_mark mark = arena_mark(&w->m->arena);
    struct sink *sinks = sinks_make(w, level, w->policy->within, false);

    if (!sinks)
        return false;
    if (s->kind == ROLE_SLOT) {
        slots_find(w, v, s->slot, factor, sink_of(w, sinks, level, s->slot));
        explore_beside(w, v, level, s->exclusive, factor, sinks);
    } else {
        explore(w, v, level, s->exclusive, factor, sinks);
    }
    bool suffice = sinks_suffice(w, sinks, level);
    arena_release(&w->m->arena, mark);
    return suffice;
}

bool walk_satisfies(struct walk *w, uint32_t v, const struct role *s, int64_t factor)
{
    struct memo *memo = &w->m->memo;

    if (w->rq[s->request].with == REQUEST_NONE)
        return true;
    if (!is_of_class(w, v, s) || !memo_grow(memo))
        return look_below(w, v, s, factor);
    uint64_t key = memo_key(w, v, s);
    uint32_t i = memo_slot(memo, key);
    if (memo->key[i])
        return memo->value[i];
    bool suffice = look_below(w, v, s, factor);
    if (w->out_of_memory || !memo_grow(memo))
        return suffice;
    i = memo_slot(memo, key);
    memo->key[i] = key;
    memo->value[i] = suffice;
    memo->used++;
    return suffice;
}
