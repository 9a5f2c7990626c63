/* Counting what is free of a type during a time (plan.h, match_part_free). */
#include "match/plan.h"
#include "match/walk/walk.h"

struct counting {
    struct walk w;
    uint16_t type;
    bool alone;
    int64_t sum, enough;
};

/* Of children of a type: which of what is known of them leaves nothing to count. */
struct seeing {
    int32_t used_up; /* all of the pruning type of this number is taken */
    bool whole;      /* it is used at all, if it is one thing and has none of the type below it */
};

static struct seeing seeing_of(const struct counting *c, uint16_t type)
{
    int32_t number = c->w.m->prune.number[c->type];

    return (struct seeing){.used_up =
                               type != c->type && number != PRUNE_NONE ? number : FULL_FOR_ALL,
                           .whole = c->alone && type == c->type};
}

/* True if a child is known to be so full that there is nothing to count. */
static inline bool is_seen_full(const struct counting *c, const struct seeing *seeing,
                                const struct full_window *full, uint32_t child)
{
    const struct match *m = c->w.m;

    if (full->at >= c->w.end || full->end <= c->w.at)
        return false;
    if (full->number == FULL_FOR_ALL)
        return true;
    if (full->number != FULL_FOR_ONE)
        return full->left == 0 && full->number == seeing->used_up;
    return seeing->whole && !m->g->v[child].divisible && !topo_sum(&m->topo, child, c->type);
}

/* Whether that is so of a block of children. */
static bool is_block_seen_full(const struct counting *c, const struct seeing *seeing,
                               const struct full_block *b)
{
    if (b->at >= c->w.end || b->end <= c->w.at || (b->any_for_one && !seeing->whole) ||
        b->any_divisible)
        return false;
    return b->number < 0 || (b->left == 0 && b->number == seeing->used_up);
}

/* True if at some instant everything of the type below a vertex is taken. */
static bool is_used_up(const struct counting *c, uint32_t v)
{
    const struct match *m = c->w.m;
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);
    int32_t number = m->prune.number[c->type];

    for (uint32_t i = 0; number != PRUNE_NONE && i < list->n; i++)
        if (list->number[i] == (uint32_t)number)
            return state_count(m->state[v], i, c->w.at, c->w.end) >=
                   prune_total(&m->prune, &m->topo, v, (uint32_t)number);
    return false;
}

static void count_free(struct counting *c, uint32_t v);

/* Count what is below a vertex; a child of which nothing counts is noted, so that the next count, and the next
 * search, need not look at it.
 */
static void count_children(struct counting *c, uint32_t v)
{
    struct match *m = c->w.m;
    const struct state *s = m->state[v];
    const uint32_t *children;
    const struct class *class = topo_class(&m->topo, v);
    const struct full_window *full = state_below(s)->full;

    topo_children(&m->topo, v, &children);
    for (uint32_t r = 0; r < class->n_runs; r++) {
        const struct class_run *run = &m->topo.run[class->run + r];
        const uint64_t *part = walk_part_for(&c->w, run->type);
        const struct seeing seeing = seeing_of(c, run->type);
        for (uint32_t i = run->first; i < run->end && c->sum < c->enough; i++) {
            int64_t before = c->sum;
            if (full && i % FULL_BLOCK == 0 && run->end - i >= FULL_BLOCK &&
                is_block_seen_full(c, &seeing, full_block_of(m, s, children, i))) {
                i += FULL_BLOCK - 1;
                continue;
            }
            if (!match_part_has(part, children[i]) ||
                (full && is_seen_full(c, &seeing, &full[i], children[i])))
                continue;
            count_free(c, children[i]);
            if (c->sum == before && m->state[children[i]])
                full_cache_note_count(m, children[i], c->type, c->w.at, c->w.end);
        }
    }
}

static void count_free(struct counting *c, uint32_t v)
{
    struct match *m = c->w.m;
    const struct vertex *x = &m->g->v[v];
    const struct state *s = m->state[v];
    int64_t load = match_load(m, v, c->w.at, c->w.end);

    if (x->down || load >= STATE_EXCLUSIVE || (s && (s->blocks & c->w.blocks)) ||
        ((x->type == TYPE_NODE || x->type == TYPE_STORAGE_NODE) && !constraint_holds(&c->w, v)))
        return;
    if (x->type == c->type && !(c->alone && load > 0 && !x->divisible)) {
        const struct profile *units = &state_below(s)->units;
        int64_t taken = units->n > 1 ? profile_max(units, c->w.at, c->w.end) : 0;
        c->sum += x->size > taken ? x->size - taken : 0;
    }
    if (!topo_sum(&m->topo, v, c->type))
        return;
    if (is_used_up(c, v))
        return;
    count_children(c, v);
}

int64_t match_part_free(struct match *m, const struct plan_ask *ask, uint16_t type, bool alone,
                        int64_t at, int64_t enough)
{
    struct counting c = {
        .w = {.m = m,
              .t = &m->topo,
              .spec = ask->spec,
              .within = ask->within,
              .at = at,
              .end = at + ask->duration,
              .blocks = match_blocks_during(&m->blocks, ~ask->permits, at, at + ask->duration)},
        .type = type,
        .alone = alone,
        .enough = enough};

    arena_release(&m->arena, (struct arena_mark){0});
    if (walk_note_props(&c.w) < 0)
        return 0;
    count_free(&c, m->topo.root);
    return c.sum < enough ? c.sum : enough;
}
