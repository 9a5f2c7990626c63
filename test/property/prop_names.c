/* Vertices that texts name, on small random machines of confusing names, against a search through all of
 * them for each name that a text spells out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match/inner.h"
#include "match/text/names.h"
#include "random.h"

enum { MACHINES = 400, TEXTS = 60, VERTICES_MAX = 60, TEXT_MAX = 512, NAMES_MAX = 64, RANKS = 12 };

struct play {
    struct random r;
    uint64_t seed;
    struct graph *g;
    match_t *m;
    char name[VERTICES_MAX][40];
};

static int64_t draw(struct play *p, int64_t low, int64_t high)
{
    return random_between(&p->r, low, high);
}

static const char *pick(struct play *p, const char *const *texts, int64_t n)
{
    return texts[draw(p, 0, n - 1)];
}

/* Types, basenames, names and ids that make the same name in several ways, and nearly the same. */
static uint32_t add(struct play *p, uint32_t parent)
{
    static const char *const bases[] = {"a", "a1", "a0", "b", "n-", "7"};
    static const char *const names[] = {"a1", "a01", "a12", "b-x", "x[1]", "a 1", "0", "a007"};
    struct vertex_spec spec = {.uniq_id = -1, .size = 1};

    spec.type = draw(p, 0, 3) ? "core" : "node";
    spec.basename = pick(p, bases, 6);
    spec.id = draw(p, -1, 12);
    spec.rank = (int32_t)draw(p, -1, RANKS - 1);
    if (draw(p, 0, 5) == 0)
        spec.name = pick(p, names, 8);
    if (draw(p, 0, 30) == 0)
        spec.id = draw(p, 0, 1) ? INT64_MAX : -3;
    uint32_t v = graph_add(p->g, &spec);
    if (parent == VERTEX_NONE)
        graph_set_root(p->g, GRAPH_CONTAINMENT, v);
    else
        assert_int_equal(graph_connect(p->g, parent, v, GRAPH_CONTAINMENT), 0);
    return v;
}

static void build(struct play *p)
{
    int64_t n = draw(p, 1, VERTICES_MAX), wide = draw(p, 1, 8);

    p->g = graph_create();
    assert_non_null(p->g);
    for (uint32_t v = 0; v < n; v++) {
        struct strbuf text = {0};
        add(p, v == 0 ? VERTEX_NONE : (uint32_t)draw(p, v > wide ? v - wide : 0, v - 1));
        graph_name(p->g, v, &text);
        snprintf(p->name[v], sizeof(p->name[v]), "%s", strbuf_text(&text));
        strbuf_clear(&text);
    }
    assert_int_equal(graph_seal(p->g), 0);
    p->m = match_create(p->g, NULL, NULL);
    assert_non_null(p->m);
}

static uint32_t above(const struct play *p, uint32_t v)
{
    return graph_parent(p->g, v, GRAPH_CONTAINMENT);
}

/* Texts: a path of some of a vertex's names, of which some become ranges or something else. */
static size_t say_name(struct play *p, uint32_t v, char *to)
{
    const char *name = p->name[v];
    size_t n = strlen(name), stem = n;
    int64_t dice = draw(p, 0, 59);

    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    if (strpbrk(name, "[ ]") || dice == 0)
        return (size_t)sprintf(to, "a1");
    if (dice == 1)
        return (size_t)sprintf(to, "[%s]", "3-4,7");
    if (dice == 2)
        return (size_t)sprintf(to, "a[0-1][%d]", (int)draw(p, 0, 3));
    if (dice == 3) {
        int from = (int)draw(p, 0, 3), until = (int)draw(p, 3, 9);
        return (size_t)sprintf(to, "a[0%d-0%d]", from, until);
    }
    if (stem == n || n - stem > 4 || dice > 9)
        return (size_t)sprintf(to, "%s", name);
    int number = atoi(name + stem), more = (int)draw(p, 0, 2), width = (int)(n - stem);
    const char *const shape[] = {"%.*s[%0*d]", "%.*s[%0*d-%d]", "%.*s[%0*d,%d]"};
    return (size_t)sprintf(to, shape[more], (int)stem, name, name[stem] == '0' ? width : 1, number,
                           number + more);
}

static size_t say_ranks(struct play *p, char *to)
{
    int first = (int)draw(p, 0, RANKS - 1), last = (int)draw(p, first, RANKS);

    if (first == last)
        return (size_t)sprintf(to, "rank:[%d]", first);
    return (size_t)sprintf(to, draw(p, 0, 1) ? "rank:[%d,%d]" : "rank:[%d-%d]", first, last);
}

static size_t say_item(struct play *p, char *to)
{
    if (draw(p, 0, 9) == 0)
        return say_ranks(p, to);
    uint32_t v = (uint32_t)draw(p, 0, (int64_t)p->g->n - 1), chain[VERTICES_MAX], n = 0;
    bool absolute = draw(p, 0, 2) == 0;
    size_t length = 0;

    for (uint32_t x = v; x != VERTEX_NONE; x = above(p, x))
        if (x == v || absolute || draw(p, 0, 2) == 0)
            chain[n++] = x;
    for (uint32_t i = n; i-- > 0 && length < TEXT_MAX - 100;) {
        if (absolute || i + 1 < n)
            to[length++] = '/';
        length += say_name(p, chain[i], to + length);
    }
    if (draw(p, 0, 9) == 0)
        length += (size_t)sprintf(to + length, ":%d", (int)draw(p, 0, 20));
    return length;
}

/* The names that ranges stand for. */
struct spelled {
    char name[NAMES_MAX][40];
    size_t n;
};

static void spell(struct spelled *s, const char *before, const char *text)
{
    const char *open = strchr(text, '[');
    char name[200];
    int at = 0, width = 0;

    if (!open) {
        assert_true(s->n < NAMES_MAX);
        snprintf(s->name[s->n++], sizeof(s->name[0]), "%s%s", before, text);
        return;
    }
    const char *close = strchr(open, ']'), *from = open + 1;
    for (const char *digit = from; *digit >= '0' && *digit <= '9'; digit++)
        width++;
    for (; from < close; from += at + 1) {
        int lo, hi;
        if (sscanf(from, "%d-%d%n", &lo, &hi, &at) < 2) {
            assert_int_equal(sscanf(from, "%d%n", &lo, &at), 1);
            hi = lo;
        }
        for (; lo <= hi; lo++) {
            snprintf(name, sizeof(name), "%s%.*s%0*d", before, (int)(open - text), text, width, lo);
            spell(s, name, close + 1);
        }
    }
}

static bool is_named(const struct play *p, uint32_t v, const char *name)
{
    return !p->g->v[v].gone && strcmp(p->name[v], name) == 0;
}

/* True if v answers the last of n names, and what is above it those before. */
static bool answers(const struct play *p, uint32_t v, char *const *name, int n, bool absolute)
{
    if (!is_named(p, v, name[n - 1]))
        return false;
    uint32_t x = above(p, v);
    if (n == 1)
        return !absolute || x == VERTEX_NONE;
    if (absolute)
        return x != VERTEX_NONE && answers(p, x, name, n - 1, true);
    for (; x != VERTEX_NONE; x = above(p, x))
        if (answers(p, x, name, n - 1, false))
            return true;
    return false;
}

struct naive {
    const struct play *p;
    struct spelled *part[VERTICES_MAX];
    int n;
    bool absolute;
    bool *found;
};

/* Every combination of names; false if one is missing. */
static bool find_all(struct naive *x, int level, char **name)
{
    bool any = false;

    for (size_t i = 0; level < x->n && i < x->part[level]->n; i++) {
        name[level] = x->part[level]->name[i];
        if (!find_all(x, level + 1, name))
            return false;
    }
    if (level < x->n)
        return true;
    for (uint32_t v = 0; v < x->p->g->n; v++)
        if (!x->p->g->v[v].gone && answers(x->p, v, name, x->n, x->absolute))
            any = x->found[v] = true;
    return any;
}

static uint32_t depth(const struct play *p, uint32_t v)
{
    return above(p, v) == VERTEX_NONE ? 0 : 1 + depth(p, above(p, v));
}

/* Of each rank the vertex that is nearest to the root, of several the first. Returns 0 or ENOENT. */
static int find_ranks(const struct play *p, const char *item, bool *found)
{
    int first = 0, last = -1;
    bool listed = sscanf(item, "rank:[%d,%d]", &first, &last) == 2;

    if (!listed && sscanf(item, "rank:[%d-%d]", &first, &last) < 2)
        last = first;
    for (int rank = first; rank <= last; rank = listed && rank < last ? last : rank + 1) {
        uint32_t top = VERTEX_NONE;
        for (uint32_t v = 0; v < p->g->n; v++)
            if (!p->g->v[v].gone && p->g->v[v].rank == rank &&
                (top == VERTEX_NONE || depth(p, v) < depth(p, top)))
                top = v;
        if (top == VERTEX_NONE)
            return ENOENT;
        found[top] = true;
    }
    return 0;
}

/* Returns 0, ENOENT or EINVAL, for more names than there may be. *named counts those of all items. */
static int find_item(const struct play *p, char *item, uint64_t most, uint64_t *named, bool *found)
{
    struct naive x = {.p = p, .absolute = *item == '/', .found = found};
    char *name[VERTICES_MAX], *colon = strchr(item, ':'), *part, *rest = item + x.absolute;
    uint64_t count = 1;

    if (colon)
        *colon = '\0';
    while ((part = strsep(&rest, "/"))) {
        x.part[x.n] = calloc(1, sizeof(*x.part[0]));
        assert_non_null(x.part[x.n]);
        spell(x.part[x.n], "", part);
        count *= x.part[x.n++]->n;
    }
    *named += count;
    int error = *named > most ? EINVAL : find_all(&x, 0, name) ? 0 : ENOENT;
    for (int i = 0; i < x.n; i++)
        free(x.part[i]);
    return error;
}

static int find(const struct play *p, const char *text, bool *found)
{
    char copy[TEXT_MAX * 4];
    uint64_t most = p->g->live + strlen(text), named = 0;
    int error = 0;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *item = copy; item && !error;) {
        char *end = item;
        bool inside = false;
        while (*end && (*end != ',' || inside)) {
            inside = *end == '[' || (inside && *end != ']');
            end++;
        }
        char *next = *end ? end + 1 : NULL;
        *end = '\0';
        error = strncmp(item, "rank:[", 6) == 0 ? find_ranks(p, item, found)
                                                : find_item(p, item, most, &named, found);
        item = next;
    }
    return error;
}

/* Returns the errno of both. */
static int compare(struct play *p, const char *text)
{
    bool found[VERTICES_MAX] = {false};
    uint32_t *v = NULL;
    size_t n = 0, want = 0;
    berth_error_t err = {""};
    int naive = find(p, text, found);
    int error = match_select(p->m, text, &v, &n, &err) == 0 ? 0 : errno;

    if (error != naive)
        fail_msg("seed %" PRIu64 ": %s: errno %d, not %d: %s", p->seed, text, error, naive,
                 err.text);
    if (error == ENOENT)
        assert_int_equal(strncmp(err.text, "no such resource: ", 18), 0);
    for (uint32_t i = 0; i < p->g->n && error == 0; i++) {
        if (!found[i])
            continue;
        if (want >= n || v[want] != i)
            fail_msg("seed %" PRIu64 ": %s: vertex %" PRIu32 " is missing", p->seed, text, i);
        want++;
    }
    if (error == 0)
        assert_int_equal(n, want);
    free(v);
    return error;
}

/* Take something away, so that names are known anew. */
static void shrink(struct play *p)
{
    uint32_t v = (uint32_t)draw(p, 0, (int64_t)p->g->n - 1);
    struct strbuf path = {0};

    if (v > 0 && !p->g->v[v].gone && graph_path(p->g, v, GRAPH_CONTAINMENT, &path))
        assert_int_equal(match_remove_path(p->m, strbuf_text(&path), NULL), 0);
    strbuf_clear(&path);
}

static void texts_name_what_a_search_finds(void **state)
{
    char text[TEXT_MAX * 3];
    int found = 0, missing = 0, refused = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        struct play p = {.r = {seed}, .seed = seed};
        build(&p);
        for (int i = 0; i < TEXTS; i++) {
            size_t n = 0;
            for (int64_t items = draw(&p, 1, 3); items > 0; items--) {
                n += say_item(&p, text + n);
                text[n++] = items > 1 ? ',' : '\0';
            }
            int error = compare(&p, text);
            found += error == 0;
            missing += error == ENOENT;
            refused += error == EINVAL;
            if (i % 20 == 19)
                shrink(&p);
        }
        assert_true(match_check(p.m));
        match_destroy(p.m);
    }
    assert_true(found > MACHINES * TEXTS / 4 && missing > MACHINES * TEXTS / 10 && refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_name_what_a_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
