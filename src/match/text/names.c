/* Finding the vertices that a text names. */
#include "match/text/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "base/idset.h"
#include "match/inner.h"

#define SHOWN 80 /* bytes of a name that an error text quotes */

/* A name that is looked up. */
struct wanted {
    uint32_t group; /* in the index; NAME_NONE: no vertex has this name */
    uint32_t place; /* the first equal name in its part */
};

/* Names between two "/". */
struct name_part {
    const char *text;
    size_t length;
    uint32_t n;              /* names, including repeated ones */
    struct wanted *name;     /* by place */
    struct wanted *by_group; /* names that some vertex has, each once, ascending */
    uint32_t n_groups;
    uint32_t members; /* vertices that have them */
    uint32_t chosen;  /* place of the one at hand */
};

struct selection {
    struct match *m;
    const char *text;
    size_t length;
    struct name_part part[GRAPH_DEPTH_MAX]; /* of the item at hand */
    uint32_t n_parts;
    bool absolute;
    uint64_t named, most; /* names in all items so far, and how many are allowed */
    uint64_t *found;      /* a bit for each vertex */
    berth_error_t *err;
};

static int expected_in_selection(const struct selection *s, const char *what, const char *where)
{
    return errtext_expected(s->err, s->text, s->length, (size_t)(where - s->text), what);
}

static int by_group(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sort the names that some vertex has, and let repeated ones refer to the first. */
static void sort_names(struct selection *s, struct name_part *p)
{
    uint32_t n = 0, members;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->name[i].group != NAME_NONE)
            p->by_group[n++] = p->name[i];
    if (n > 1)
        qsort(p->by_group, n, sizeof(*p->by_group), by_group);
    for (uint32_t i = 0; i < n; i++) {
        struct wanted *w = &p->by_group[i];
        if (p->n_groups > 0 && p->by_group[p->n_groups - 1].group == w->group) {
            p->name[w->place].place = p->by_group[p->n_groups - 1].place;
            continue;
        }
        p->by_group[p->n_groups++] = *w;
        name_index_members(&s->m->names, w->group, &members);
        p->members += members;
    }
}

/* Look up the names of a list in the index. */
static int look_up(struct selection *s, struct name_part *p, const struct hostlist *names)
{
    struct hostlist_cursor cursor = {0};
    char name[HOSTLIST_NAME_SIZE];

    p->name = arena_alloc(&s->m->arena, (p->n + (size_t)1) * sizeof(*p->name));
    p->by_group = arena_alloc(&s->m->arena, (p->n + (size_t)1) * sizeof(*p->by_group));
    if (!p->name || !p->by_group)
        return errtext_no_memory(s->err);
    if (!names)
        p->name[0] = (struct wanted){name_index_find(&s->m->names, p->text, p->length), 0};
    for (uint32_t i = 0; names && i < p->n && hostlist_next(names, &cursor, name); i++)
        p->name[i] = (struct wanted){name_index_find(&s->m->names, name, strlen(name)), i};
    sort_names(s, p);
    return 0;
}

static int read_ranges(struct selection *s, struct name_part *p)
{
    struct hostlist names = {0};
    berth_error_t why;
    int rc = 0;

    if (hostlist_decode(&names, p->text, p->length, &why) < 0)
        rc = errno == ENOMEM
                 ? errtext_no_memory(s->err)
                 : errtext_set(s->err, EINVAL, "in \"%.*s\": %s",
                               (int)(p->length < SHOWN ? p->length : SHOWN), p->text, why.text);
    else if (hostlist_count(&names) > (int64_t)s->most)
        rc = errtext_set(s->err, EINVAL, "\"%.*s\" names more than the machine has",
                         (int)(p->length < SHOWN ? p->length : SHOWN), p->text);
    p->n = rc == 0 ? (uint32_t)hostlist_count(&names) : 0;
    if (rc == 0 && p->n == 0)
        rc = expected_in_selection(s, "a name", p->text);
    if (rc == 0)
        rc = look_up(s, p, &names);
    hostlist_clear(&names);
    return rc;
}

/* Read one part of an item, from its first character to its end. */
static int read_part(struct selection *s, const char *from, const char *to)
{
    bool ranges = false;

    if (from == to)
        return expected_in_selection(s, "a name", from);
    if (s->n_parts == GRAPH_DEPTH_MAX)
        return expected_in_selection(s, "no more names in a path", from);
    for (const char *p = from; p < to; p++) {
        ranges |= *p == '[' || *p == ']';
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return expected_in_selection(s, "a name without blanks", p);
    }
    struct name_part *p = &s->part[s->n_parts++];
    *p = (struct name_part){.text = from, .length = (size_t)(to - from), .n = 1};
    return ranges ? read_ranges(s, p) : look_up(s, p, NULL);
}

/* Where an item's ":UNITS" begins, or its end. */
static const char *units_suffix(const char *from, const char *to)
{
    const char *p = to;

    while (p > from && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return p < to && p > from && p[-1] == ':' ? p - 1 : to;
}

static int read_item(struct selection *s, const char *from, const char *to)
{
    const char *item = from, *end = units_suffix(from, to);
    uint64_t named = 1;

    s->n_parts = 0;
    s->absolute = from < end && *from == '/';
    from += s->absolute;
    for (const char *slash = from; slash; from = slash + 1) {
        slash = memchr(from, '/', (size_t)(end - from));
        if (read_part(s, from, slash ? slash : end) < 0)
            return -1;
        if (!slash)
            break;
    }
    for (uint32_t i = 0; i < s->n_parts && named <= s->most; i++)
        named *= s->part[i].n;
    s->named = named <= s->most ? s->named + named : UINT64_MAX;
    if (s->named > s->most)
        return errtext_set(s->err, EINVAL, "\"%.*s\" names more than the machine has",
                           (int)(to - item < SHOWN ? to - item : SHOWN), item);
    return 0;
}

/* Append the name at an index of a part. */
static void put_nth_name(const struct name_part *p, uint32_t place, struct strbuf *out)
{
    struct hostlist names = {0};
    char name[HOSTLIST_NAME_SIZE];

    if (p->n == 1 && !memchr(p->text, '[', p->length))
        strbuf_put(out, p->text, p->length);
    else if (hostlist_decode(&names, p->text, p->length, NULL) == 0 &&
             hostlist_nth(&names, place, name) == 0)
        strbuf_puts(out, name);
    else
        out->failed = true;
    hostlist_clear(&names);
}

/* Report that a name of the part at a level is missing below the names chosen before. */
static int missing(struct selection *s, uint32_t level, uint32_t place)
{
    struct strbuf path = {0};

    for (uint32_t i = 0; i <= level; i++) {
        if (i > 0 || s->absolute)
            strbuf_putc(&path, '/');
        put_nth_name(&s->part[i], i < level ? s->part[i].chosen : place, &path);
    }
    int rc = path.failed ? errtext_no_memory(s->err)
                         : errtext_set(s->err, ENOENT, "no such resource: %s", strbuf_text(&path));
    strbuf_clear(&path);
    return rc;
}

/* Vertices with names of a part: the index of the name in the upper half, the vertex in the lower. */
struct answers {
    uint64_t *v;
    size_t n;
};

static const struct wanted *wanted_of(const struct name_part *p, uint32_t group)
{
    uint32_t low = 0, high = p->n_groups;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->by_group[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n_groups && p->by_group[low].group == group ? &p->by_group[low] : NULL;
}

static bool has_vertex(const uint32_t *v, uint32_t n, uint32_t x)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && v[low] == x;
}

static void look_below(const struct selection *s, const struct name_part *p, uint32_t v,
                       struct answers *a)
{
    const uint32_t *children;
    uint32_t n = topo_children(&s->m->topo, v, &children);

    for (uint32_t i = 0; i < n; i++) {
        if (!match_owns(s->m, v, children[i]))
            continue;
        const struct wanted *w = wanted_of(p, s->m->names.of[children[i]]);
        if (w)
            a->v[a->n++] = (uint64_t)w->place << 32 | children[i];
        if (!s->absolute)
            look_below(s, p, children[i], a);
    }
}

/* Find, among the vertices with the names, those below given vertices. */
static void look_above(const struct selection *s, const struct name_part *p, const uint32_t *from,
                       uint32_t n_from, struct answers *a)
{
    for (uint32_t i = 0; i < p->n_groups; i++) {
        uint32_t n;
        const uint32_t *v = name_index_members(&s->m->names, p->by_group[i].group, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t x = match_parent(s->m, v[k]);
            while (x != VERTEX_NONE && !has_vertex(from, n_from, x))
                x = s->absolute ? VERTEX_NONE : match_parent(s->m, x);
            if (x != VERTEX_NONE)
                a->v[a->n++] = (uint64_t)p->by_group[i].place << 32 | v[k];
        }
    }
}

/* How many vertices look_below looks at. */
static uint64_t count_below(const struct selection *s, const uint32_t *from, uint32_t n_from)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < n_from; i++) {
        const uint32_t *children;
        count += s->absolute ? topo_children(&s->m->topo, from[i], &children)
                             : match_count_below(s->m, from[i]);
    }
    return count;
}

static int by_answer(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Find the vertices for a part below given vertices, in order, each once. It searches by name or below
 * the vertices, whichever is less work.
 */
static int find_answers(struct selection *s, const struct name_part *p, const uint32_t *from,
                        uint32_t n_from, struct answers *a)
{
    uint64_t below = count_below(s, from, n_from);
    bool up = (uint64_t)p->members * (s->absolute ? 1 : 4) <= below;
    size_t n = 0;

    *a = (struct answers){
        arena_alloc(&s->m->arena, ((up ? p->members : below) + 1) * sizeof(*a->v)), 0};
    if (!a->v)
        return errtext_no_memory(s->err);
    if (up)
        look_above(s, p, from, n_from, a);
    for (uint32_t i = 0; !up && i < n_from; i++)
        look_below(s, p, from[i], a);
    if (a->n > 1)
        qsort(a->v, a->n, sizeof(*a->v), by_answer);
    for (size_t i = 0; i < a->n; i++)
        if (i == 0 || a->v[i] != a->v[i - 1])
            a->v[n++] = a->v[i];
    a->n = n;
    return 0;
}

static int select_below(struct selection *s, uint32_t level, const uint32_t *from, uint32_t n_from);

/* Continue with the vertices that have a name of the part at a level. */
static int choose_name(struct selection *s, uint32_t level, uint32_t place, const uint32_t *v,
                       uint32_t n)
{
    if (n == 0)
        return missing(s, level, place);
    s->part[level].chosen = place;
    if (level + 1 < s->n_parts)
        return select_below(s, level + 1, v, n);
    for (uint32_t i = 0; i < n; i++)
        s->found[v[i] / 64] |= UINT64_C(1) << v[i] % 64;
    return 0;
}

static int select_below(struct selection *s, uint32_t level, const uint32_t *from, uint32_t n_from)
{
    struct arena_mark mark = arena_mark(&s->m->arena);
    const struct name_part *p = &s->part[level];
    struct answers a;
    size_t at = 0;

    if (find_answers(s, p, from, n_from, &a) < 0)
        return -1;
    uint32_t *v = arena_alloc(&s->m->arena, (a.n + 1) * sizeof(*v));
    if (!v)
        return errtext_no_memory(s->err);
    for (size_t i = 0; i < a.n; i++)
        v[i] = (uint32_t)a.v[i];
    for (uint32_t place = 0; place < p->n; place++) {
        if (p->name[place].place != place)
            continue;
        size_t end = at;
        while (end < a.n && a.v[end] >> 32 == place)
            end++;
        if (choose_name(s, level, place, v + at, (uint32_t)(end - at)) < 0)
            return -1;
        at = end;
    }
    arena_release(&s->m->arena, mark);
    return 0;
}

/* Find the first names of an item: anywhere, or only at the root. */
static int select_item(struct selection *s)
{
    const struct name_part *p = &s->part[0];
    uint32_t root = s->m->topo.root;

    for (uint32_t place = 0; place < p->n; place++) {
        const uint32_t *v = NULL;
        uint32_t n = 0;
        if (p->name[place].place != place)
            continue;
        if (p->name[place].group != NAME_NONE)
            v = name_index_members(&s->m->names, p->name[place].group, &n);
        if (s->absolute) {
            n = n > 0 && s->m->names.of[root] == p->name[place].group;
            v = &root;
        }
        if (choose_name(s, 0, place, v, n) < 0)
            return -1;
    }
    return 0;
}

#define RANKS "rank:["

static bool names_ranks(const char *from, const char *to)
{
    size_t n = strlen(RANKS);

    return (size_t)(to - from) > n && strncmp(from, RANKS, n) == 0 && to[-1] == ']';
}

/* The first rank of a set that none of these vertices has, which are in its order. */
static uint32_t missing_rank(const struct match *m, const struct idset *ranks, const uint32_t *v,
                             size_t n)
{
    uint32_t rank = idset_first(ranks);

    for (size_t i = 0; i < n && m->g->v[v[i]].rank == (int32_t)rank; i++)
        rank = idset_next(ranks, rank);
    return rank;
}

/* Find what has the ranks of an item. */
static int select_ranks(struct selection *s, const char *from, const char *to)
{
    from += strlen(RANKS) - 1;
    struct idset ranks = {0};
    char *text = strndup(from, (size_t)(to - from));
    uint32_t *v = NULL;
    size_t n = 0;
    int rc = -1;

    if (!text)
        return errtext_no_memory(s->err);
    if (idset_decode(&ranks, text, strlen(text), s->err) == 0 && ranks.count == 0)
        rc = expected_in_selection(s, "a rank", from + 1);
    else if (ranks.count > 0 && match_rank_tops(s->m, text, &v, &n, s->err) == 0)
        rc = n == ranks.count ? 0
                              : errtext_set(s->err, ENOENT, "no such resource: rank:[%" PRIu32 "]",
                                            missing_rank(s->m, &ranks, v, n));
    else if (errno == ERANGE)
        errno = EINVAL;
    for (size_t i = 0; i < n && rc == 0; i++)
        s->found[v[i] / 64] |= UINT64_C(1) << v[i] % 64;
    int error = errno;
    free(v);
    free(text);
    idset_clear(&ranks);
    errno = error;
    return rc;
}

/* The comma after an item, or the end of the text. */
static const char *item_end(const char *from)
{
    bool inside = false;

    for (; *from && (inside || *from != ','); from++)
        inside = *from == '[' || (inside && *from != ']');
    return from;
}

static int select_all(struct selection *s)
{
    for (const char *from = s->text;; from++) {
        struct arena_mark mark = arena_mark(&s->m->arena);
        const char *end = item_end(from);
        if (names_ranks(from, end)) {
            if (select_ranks(s, from, end) < 0)
                return -1;
        } else if (read_item(s, from, end) < 0 || select_item(s) < 0) {
            return -1;
        }
        arena_release(&s->m->arena, mark);
        from = end;
        if (!*from)
            return 0;
    }
}

/* The vertices whose bits are set. */
static int list_vertices(const struct selection *s, uint32_t **vertices, size_t *n)
{
    size_t words = (s->m->g->n + (size_t)63) / 64, count = 0;

    for (size_t i = 0; i < words; i++)
        count += (size_t)__builtin_popcountll(s->found[i]);
    *vertices = malloc((count + 1) * sizeof(**vertices));
    if (!*vertices)
        return errtext_no_memory(s->err);
    *n = 0;
    for (size_t i = 0; i < words; i++)
        for (uint64_t bits = s->found[i]; bits; bits &= bits - 1)
            (*vertices)[(*n)++] = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(bits);
    return 0;
}

int match_need_names(struct match *m)
{
    return name_index_is_made(&m->names) ? 0 : name_index_make(&m->names, m->g, &m->topo);
}

int match_select(struct match *m, const char *text, uint32_t **vertices, size_t *n,
                 berth_error_t *err)
{
    struct selection s = {.m = m, .text = text, .length = strlen(text), .err = err};

    arena_release(&m->arena, (struct arena_mark){0});
    s.most = m->g->live + (uint64_t)s.length;
    s.found = calloc(((size_t)m->g->n + 63) / 64 + 1, sizeof(*s.found));
    int rc = s.found && match_need_names(m) == 0 ? 0 : errtext_no_memory(s.err);
    if (rc == 0)
        rc = select_all(&s);
    if (rc == 0)
        rc = list_vertices(&s, vertices, n);
    int error = errno;
    free(s.found);
    errno = error;
    return rc;
}
