/* Filling slots one after the other from the children of a host. */
#include <errno.h>

#include "match/walk/walk.h"

/* The stock for one request of the shapes that are looked for. */
struct supply {
    struct sink *sink;
    uint32_t request;
    uint32_t units;
    uint32_t next; /* candidate */
    uint32_t used; /* units of it that are used, if it is divisible */
};

/* What a slot takes of the stock. */
struct element {
    uint32_t supply;
    uint32_t share; /* units */
};

/* A slot that may be filled. */
struct option {
    struct element *element;
    uint32_t n;
};

struct stock {
    struct supply *supply;
    uint32_t n;
    struct option *option; /* alternatives, in their order */
    uint32_t options;
    struct slot_mix_option *mix; /* the same for a search among several */
};

/* How many slots the candidates are enough for. Each slot takes whole candidates until it has its share,
 * or exactly its share of a divisible one.
 */
static uint64_t count_whole(const struct walk *w, const struct supply *s, uint32_t share)
{
    uint64_t slots = 0, got = 0;

    for (uint32_t i = 0; i < s->sink->n; i++) {
        const struct candidate *c = &s->sink->v[i];
        got += c->count;
        if (got < share)
            continue;
        if (w->t->g->v[c->vertex].divisible) {
            slots += got / share;
            got %= share;
        } else {
            slots++;
            got = 0;
        }
    }
    return slots;
}

/* How many slots to fill if there are no alternatives. The flexible traverser counts by units and, as in
 * Fluxion, gives none if their number has no limit.
 */
static uint64_t count_slots(const struct walk *w, uint32_t slot, const struct stock *k)
{
    const struct option *o = &k->option[0];
    uint64_t slots = w->m->flexible ? w->rq[slot].max : UINT64_MAX;

    if (w->m->flexible && slots > INT32_MAX)
        return 0;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct supply *s = &k->supply[o->element[i].supply];
        uint32_t share = o->element[i].share;
        uint64_t enough = share == 0       ? 0
                          : w->m->flexible ? s->units / share
                                           : count_whole(w, s, share);
        slots = enough < slots ? enough : slots;
    }
    return slots;
}

/* How many slots to fill; *mix says which, if there are alternatives. */
static uint64_t plan_slots(struct walk *w, uint32_t slot, const struct stock *k, uint32_t *mix)
{
    *mix = SLOT_MIX_NONE;
    if (k->options == 1)
        return count_slots(w, slot, k);
    uint32_t *amounts = arena_alloc(&w->m->arena, (k->n + 1) * sizeof(*amounts));
    if (!amounts) {
        w->out_of_memory = true;
        return 0;
    }
    for (uint32_t i = 0; i < k->n; i++)
        amounts[i] = k->supply[i].units;
    if (slot_mixes_find(&w->m->slot_mixes, slot, k->mix, k->options, amounts, k->n, mix) < 0) {
        w->out_of_memory = true;
        w->too_much = errno == EOVERFLOW;
        return 0;
    }
    return w->m->slot_mixes.v[*mix].slots;
}

/* The slot to fill next. */
static const struct option *next_option(const struct walk *w, const struct stock *k, uint32_t *mix)
{
    if (k->options == 1)
        return &k->option[0];
    const struct slot_mix *x = &w->m->slot_mixes.v[*mix];
    *mix = x->next;
    return &k->option[x->choice];
}

/* Fill one slot. part may be NULL. Returns false if there is not enough. */
static bool fill_slot(const struct walk *w, const struct stock *k, const struct option *o,
                      struct candidate *slot, struct slot_part *part)
{
    slot->score = 1;
    slot->part = part;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct element *e = &o->element[i];
        struct supply *s = &k->supply[e->supply];
        for (uint64_t got = 0; got < e->share;) {
            if (s->next == s->sink->n)
                return false;
            const struct candidate *c = &s->sink->v[s->next];
            uint32_t take = c->count - s->used;
            bool divisible = w->t->g->v[c->vertex].divisible;
            if (divisible && take > e->share - got)
                take = (uint32_t)(e->share - got);
            slot->score += c->score;
            if (part)
                part[slot->n_parts++] = (struct slot_part){c->vertex, s->request, take};
            got += take;
            s->used += take;
            if (s->used == c->count) {
                s->next++;
                s->used = 0;
            }
        }
    }
    return true;
}

/* True if that many slots can be filled. They were counted by units, and there may be too few whole
 * vertices; then, as in Fluxion, no slot is filled.
 */
static bool can_fill(const struct walk *w, const struct stock *k, uint64_t slots, uint32_t mix)
{
    bool can = true;

    for (uint64_t i = 0; i < slots && can; i++) {
        struct candidate c = {0};
        can = fill_slot(w, k, next_option(w, k, &mix), &c, NULL);
    }
    for (uint32_t i = 0; i < k->n; i++)
        k->supply[i].next = k->supply[i].used = 0;
    return can;
}

/* The largest number of parts that a slot may have. */
static uint64_t most_parts(const struct stock *k)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < k->options; i++) {
        uint64_t parts = 0;
        for (uint32_t j = 0; j < k->option[i].n; j++) {
            const struct element *e = &k->option[i].element[j];
            uint32_t n = k->supply[e->supply].sink->n;
            parts += e->share < n ? e->share : n;
        }
        most = parts > most ? parts : most;
    }
    return most;
}

static bool is_uniform(const struct walk *w, uint32_t host)
{
    return topo_class(w->t, host)->uniform;
}

/* How many slots are enough: if the first ones are the best, no more than are wanted. */
static uint64_t slots_worth_filling(const struct walk *w, uint32_t host, uint32_t slot,
                                    const struct sink *sink)
{
    if (sink->order != w->policy->slots || !is_uniform(w, host) || w->policy->first ||
        w->rq[slot].first != slot)
        return UINT64_MAX;
    return w->rq[slot].max;
}

struct gathering {
    uint32_t level;
    int64_t factor;
    struct sink *sinks;
};

static void gather_child(struct walk *w, uint32_t child, uint32_t host, void *arg)
{
    struct gathering *g = arg;

    explore_child(w, child, host, g->level, true, g->factor, g->sinks);
}

/* Find candidates for every request of the shape, enough for `slots`. */
static struct sink *gather_shape(struct walk *w, uint32_t host, uint32_t slot, int64_t factor,
                                 uint64_t slots)
{
    uint32_t level = w->rq[slot].shape, n = 0;
    struct sink *sinks = sinks_make(w, level, w->policy->slots, true);

    if (!sinks)
        return NULL;
    for (uint32_t i = level; i != REQUEST_NONE; i = w->rq[i].next, n++) {
        const struct class_sum *sum = topo_sum(w->t, host, w->rq[i].type);
        uint64_t size = sum && sum->size > 1 ? (uint64_t)sum->size : 1;
        uint64_t share = (w->rq[i].max + size - 1) / size * size; /* whole vertices */
        if (__builtin_mul_overflow(slots, share, &sinks[n].want))
            sinks[n].want = UINT64_MAX;
    }
    if (w->policy->first) {
        struct gathering g = {level, factor, sinks};
        explore_first(w, host, level, w->rq[slot].max, sinks, gather_child, &g);
    } else {
        explore(w, host, level, true, factor, sinks);
    }
    return sinks;
}

/* Turn a slot's shape into what it takes of the stock. */
static bool add_option(struct walk *w, struct stock *k, uint32_t slot)
{
    struct option *o = &k->option[k->options];
    struct slot_mix_option *x = &k->mix[k->options++];
    uint32_t n = 0;

    for (uint32_t i = w->rq[slot].with; i != REQUEST_NONE; i = w->rq[i].next)
        n++;
    *o = (struct option){arena_alloc(&w->m->arena, (n + 1) * sizeof(*o->element)), n};
    struct slot_mix_need *need = arena_alloc(&w->m->arena, (n + 1) * sizeof(*need));
    if (!o->element || !need)
        return false;
    n = 0;
    for (uint32_t i = w->rq[slot].with; i != REQUEST_NONE; i = w->rq[i].next, n++) {
        uint32_t from = 0;
        while (w->rq[k->supply[from].request].type != w->rq[i].type)
            from++;
        o->element[n] =
            (struct element){from, jobspec_calc_count(w->rq[i].count, k->supply[from].units)};
        need[n] = (struct slot_mix_need){from, w->rq[i].count};
    }
    *x = (struct slot_mix_option){need, n};
    return true;
}

/* Gather the stock, and the ways to divide it into slots. */
static bool stock_up(struct walk *w, uint32_t host, uint32_t slot, int64_t factor, uint64_t want,
                     struct stock *k)
{
    struct sink *sinks = gather_shape(w, host, slot, factor, want);
    uint32_t n = 0, options = 0;

    for (uint32_t i = w->rq[slot].shape; i != REQUEST_NONE; i = w->rq[i].next)
        n++;
    for (uint32_t i = w->rq[slot].first; i != REQUEST_NONE; i = w->rq[i].other)
        options++;
    *k = (struct stock){.supply = arena_alloc(&w->m->arena, (n + 1) * sizeof(*k->supply)),
                        .n = n,
                        .option = arena_alloc(&w->m->arena, options * sizeof(*k->option)),
                        .mix = arena_alloc(&w->m->arena, options * sizeof(*k->mix))};
    if (!sinks || !k->supply || !k->option || !k->mix)
        return false;
    for (n = 0; n < k->n; n++) {
        uint32_t units = sinks[n].units > UINT32_MAX ? UINT32_MAX : (uint32_t)sinks[n].units;
        k->supply[n] = (struct supply){&sinks[n], sinks[n].request, units, 0, 0};
        sink_sort(&sinks[n]);
    }
    for (uint32_t i = w->rq[slot].first; i != REQUEST_NONE; i = w->rq[i].other)
        if (!add_option(w, k, i))
            return false;
    return !w->out_of_memory;
}

/* Add the slots that the stock can fill; `few`: the first ones are the best. */
static void fill_slots(struct walk *w, struct stock *k, uint64_t slots, uint32_t mix, bool few,
                       const struct candidate *like, struct sink *sink)
{
    uint64_t parts = most_parts(k);

    for (uint64_t i = 0; i < slots && !w->out_of_memory; i++) {
        struct candidate c = *like;
        c.order = w->order++;
        if (!sink->keep) {
            sink_add(w, sink, &c);
            continue;
        }
        struct slot_part *part = arena_alloc(&w->m->arena, (parts + 1) * sizeof(*part));
        if (!part) {
            w->out_of_memory = true;
            break;
        }
        fill_slot(w, k, next_option(w, k, &mix), &c, part);
        if (few && !sink_wants(sink, c.score, c.order))
            break;
        sink_add(w, sink, &c);
    }
}

void slots_find(struct walk *w, uint32_t host, uint32_t slot, int64_t factor, struct sink *sink)
{
    struct arena_mark mark = arena_mark(&w->m->arena);
    uint64_t want = slots_worth_filling(w, host, slot, sink);
    struct stock stock;
    uint32_t mix;

    if (!stock_up(w, host, slot, factor, want, &stock)) {
        w->out_of_memory = true;
        return;
    }
    uint64_t slots = plan_slots(w, slot, &stock, &mix);
    if (slots > want)
        slots = want;
    if (w->m->flexible && !can_fill(w, &stock, slots, mix))
        slots = 0;
    struct candidate like = {
        .count = 1, .vertex = VERTEX_NONE, .host = host, .request = slot, .exclusive = true};
    fill_slots(w, &stock, slots, mix, want != UINT64_MAX, &like, sink);
    if (!sink->keep)
        arena_release(&w->m->arena, mark);
}
