#include "match/text/name_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/strbuf.h"

#define DIGITS_MAX 18

/* What is known of a basename. Most vertices have the same basename as the vertex before. */
struct naming {
    struct name_index *x;
    const struct graph *g;
    struct strbuf text;
    uint32_t basename; /* the basename, or UINT32_MAX */
    uint32_t stem;     /* its number */
    bool plain;        /* it doesn't end in a digit, so an id after it is the number */
};

/* The length of a name's stem, and the number after it. */
static size_t split_name(const char *name, size_t length, int64_t *number)
{
    size_t stem = length;

    while (stem > 0 && length - stem < DIGITS_MAX && is_digit(name[stem - 1]))
        stem--;
    while (stem + 1 < length && name[stem] == '0')
        stem++;
    *number = stem == length ? -1 : 0;
    for (size_t i = stem; i < length; i++)
        *number = *number * 10 + (name[i] - '0');
    return stem;
}

static uint32_t group_slot(uint32_t stem, int64_t number, uint32_t slots)
{
    uint64_t hash = ((uint64_t)number ^ (uint64_t)stem << 40) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(hash >> 32) & (slots - 1);
}

/* The slot of the group, or the empty slot for it. */
static uint32_t find_group_slot(const struct name_index *x, uint32_t stem, int64_t number)
{
    uint32_t i = group_slot(stem, number, x->slots);

    while (x->slot[i] &&
           (x->group[x->slot[i] - 1].stem != stem || x->group[x->slot[i] - 1].number != number))
        i = (i + 1) & (x->slots - 1);
    return i;
}

/* Make room for one more group and the end mark. */
static int groups_grow(struct name_index *x)
{
    uint32_t capacity = x->capacity ? 2 * x->capacity : 64;

    if (x->n + 1 < x->capacity)
        return 0;
    struct name_group *group = reallocarray(x->group, capacity, sizeof(*group));
    if (!group)
        return -1;
    x->group = group;
    uint32_t *slot = calloc(2 * (size_t)capacity, sizeof(*slot));
    if (!slot)
        return -1;
    free(x->slot);
    x->slot = slot;
    x->slots = 2 * capacity;
    x->capacity = capacity;
    for (uint32_t i = 0; i < x->n; i++)
        x->slot[find_group_slot(x, x->group[i].stem, x->group[i].number)] = i + 1;
    return 0;
}

/* A vertex's stem and number. Returns 0, or -1. */
static int split_vertex_name(struct naming *w, uint32_t v, uint32_t *stem, int64_t *number)
{
    const struct vertex *x = &w->g->v[v];
    const char *base = intern_text(&w->g->names, x->basename);
    size_t length = intern_length(&w->g->names, x->basename);

    if (x->basename != w->basename) {
        w->basename = x->basename;
        w->plain = length == 0 || !is_digit(base[length - 1]);
        if (intern_put(&w->x->stems, base, length, &w->stem) < 0)
            return -1;
    }
    *stem = w->stem;
    *number = x->id;
    if (!x->name && w->plain && x->id >= -1 && x->id < INT64_C(1000000000000000000))
        return 0;
    strbuf_reset(&w->text);
    graph_name(w->g, v, &w->text);
    if (w->text.failed)
        return -1;
    size_t n = split_name(strbuf_text(&w->text), w->text.len, number);
    return intern_put(&w->x->stems, w->text.data, n, stem);
}

static bool is_in_index(const struct graph *g, const struct topo *t, uint32_t v)
{
    return !g->v[v].gone && t->class_of[v] != CLASS_NONE;
}

/* Put every vertex into its group. `first` counts the members of a group for now. */
static int group_all(struct naming *w, const struct topo *t)
{
    struct name_index *x = w->x;

    for (uint32_t v = 0; v < w->g->n; v++) {
        uint32_t stem;
        int64_t number;
        x->of[v] = NAME_NONE;
        if (!is_in_index(w->g, t, v))
            continue;
        if (split_vertex_name(w, v, &stem, &number) < 0 || groups_grow(x) < 0)
            return -1;
        uint32_t i = find_group_slot(x, stem, number);
        if (!x->slot[i]) {
            x->group[x->n] = (struct name_group){number, stem, 0};
            x->slot[i] = ++x->n;
        }
        x->of[v] = x->slot[i] - 1;
        x->group[x->of[v]].first++;
    }
    return groups_grow(x);
}

/* Sort the vertices by group. */
static void fill_groups(struct name_index *x, uint32_t n)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < x->n; i++) {
        end += x->group[i].first;
        x->group[i].first = end;
    }
    x->group[x->n] = (struct name_group){-1, 0, end};
    for (uint32_t v = n; v-- > 0;)
        if (x->of[v] != NAME_NONE)
            x->member[--x->group[x->of[v]].first] = v;
}

int name_index_make(struct name_index *x, const struct graph *g, const struct topo *t)
{
    struct naming w = {.x = x, .g = g, .basename = UINT32_MAX};

    *x = (struct name_index){0};
    x->of = malloc(((size_t)g->n + 1) * sizeof(*x->of));
    x->member = malloc(((size_t)g->n + 1) * sizeof(*x->member));
    int rc = x->of && x->member ? group_all(&w, t) : -1;
    strbuf_clear(&w.text);
    if (rc < 0) {
        name_index_clear(x);
        errno = ENOMEM;
        return -1;
    }
    fill_groups(x, g->n);
    return 0;
}

void name_index_clear(struct name_index *x)
{
    int saved = errno;

    intern_clear(&x->stems);
    free(x->group);
    free(x->slot);
    free(x->member);
    free(x->of);
    *x = (struct name_index){0};
    errno = saved;
}

uint32_t name_index_find(const struct name_index *x, const char *name, size_t length)
{
    uint32_t stem;
    int64_t number;
    size_t n = split_name(name, length, &number);

    if (x->slots == 0 || !intern_find(&x->stems, name, n, &stem))
        return NAME_NONE;
    uint32_t found = x->slot[find_group_slot(x, stem, number)];
    return found ? found - 1 : NAME_NONE;
}

bool name_index_check(const struct name_index *x, const struct graph *g, const struct topo *t)
{
    struct strbuf text = {0};
    uint32_t named = 0, n;
    bool good = true;

    for (uint32_t v = 0; v < g->n && good; v++) {
        if (!is_in_index(g, t, v)) {
            good = x->of[v] == NAME_NONE;
            continue;
        }
        named++;
        strbuf_reset(&text);
        graph_name(g, v, &text);
        good = x->of[v] < x->n && !text.failed &&
               name_index_find(x, strbuf_text(&text), text.len) == x->of[v];
    }
    for (uint32_t i = 0; i < x->n && good; i++) {
        const uint32_t *member = name_index_members(x, i, &n);
        for (uint32_t k = 0; k < n && good; k++)
            good = x->of[member[k]] == i && (k == 0 || member[k - 1] < member[k]);
    }
    good = good && x->group[x->n].first == named;
    strbuf_clear(&text);
    return good;
}
