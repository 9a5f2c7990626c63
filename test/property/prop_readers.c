/* Readers give back what was written: random trees in JSON, some of them grown from a part, and random R. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"
#include "base/strbuf.h"
#include "random.h"
#include "resource/readers/reader.h"

#define NODES_MAX 60
#define STEPS     400

/* A vertex of the model: the plainest form there is. */
struct thing {
    int parent; /* -1: the root */
    int64_t id, uniq_id, size;
    int32_t rank;
    bool down;
    const char *type;
    char name[32];
    char path[2048];
    char property[16]; /* "": none */
};

struct model {
    struct thing thing[NODES_MAX];
    int n;
};

static void make_model(struct random *r, struct model *m)
{
    static const char *const types[] = {"node", "core", "rack", "gpu", "strange"};

    m->n = (int)random_between(r, 1, NODES_MAX);
    for (int i = 0; i < m->n; i++) {
        struct thing *t = &m->thing[i];
        memset(t, 0, sizeof(*t));
        t->parent = i == 0 ? -1 : (int)random_between(r, 0, i - 1);
        t->type = types[random_between(r, 0, 4)];
        t->id = random_between(r, -1, 40);
        t->uniq_id = random_between(r, 0, 3) ? i : i + 1000 * random_between(r, 1, 9);
        t->size = random_between(r, 0, 5);
        t->rank = (int32_t)random_between(r, -1, 3);
        t->down = random_between(r, 0, 4) == 0;
        /* Names are unique among siblings, since path and rank are what a vertex is known by. */
        if (random_between(r, 0, 1))
            snprintf(t->name, sizeof(t->name), "x%d", i);
        else
            t->id = i, snprintf(t->name, sizeof(t->name), "%s%d", t->type, i);
        if (random_between(r, 0, 3) == 0)
            snprintf(t->property, sizeof(t->property), "p%d", i % 3);
        const char *above = i > 0 ? m->thing[t->parent].path : "";
        if (i > 0 && random_between(r, 0, 9) == 0)
            snprintf(t->path, sizeof(t->path), "/odd/%s", t->name);
        else
            snprintf(t->path, sizeof(t->path), "%.1900s/%s", above, t->name);
    }
}

/* Write the things that `which` has, and the edges between them. */
static void write_jgf(const struct model *m, const bool *which, struct strbuf *out)
{
    char line[4096];
    bool first = true;

    strbuf_reset(out);
    strbuf_puts(out, "{\"graph\": {\"nodes\": [");
    for (int i = m->n - 1; i >= 0; i--) {
        const struct thing *t = &m->thing[i];
        if (!which[i])
            continue;
        snprintf(line, sizeof(line),
                 "%s{\"id\": \"v%d\", \"metadata\": {\"type\": \"%s\", \"name\": \"%s\", \"id\": "
                 "%lld, \"uniq_id\": %lld, \"size\": %lld, \"rank\": %d, \"status\": %d, "
                 "\"properties\": {%s%s%s}, \"paths\": {\"containment\": \"%s\"}}}",
                 first ? "" : ", ", i, t->type, t->name, (long long)t->id, (long long)t->uniq_id,
                 (long long)t->size, t->rank, t->down, *t->property ? "\"" : "", t->property,
                 *t->property ? "\": \"v\"" : "", t->path);
        strbuf_puts(out, line);
        first = false;
    }
    strbuf_puts(out, "], \"edges\": [");
    first = true;
    for (int i = 1; i < m->n; i++) {
        if (!which[i] || !which[m->thing[i].parent])
            continue;
        snprintf(line, sizeof(line), "%s{\"source\": \"v%d\", \"target\": \"v%d\"}",
                 first ? "" : ", ", m->thing[i].parent, i);
        strbuf_puts(out, line);
        first = false;
    }
    strbuf_puts(out, "]}}");
}

static uint32_t find(const struct graph *g, const struct thing *t)
{
    uint32_t *found, v = VERTEX_NONE;
    size_t n;

    assert_int_equal(graph_find_path(g, t->path, &found, &n), 0);
    for (size_t i = 0; i < n; i++)
        if (g->v[found[i]].rank == t->rank)
            v = found[i];
    free(found);
    if (v == VERTEX_NONE)
        fail_msg("nothing has the path %s", t->path);
    return v;
}

static void check_graph(const struct graph *g, const struct model *m)
{
    struct strbuf out = {0};

    assert_true(graph_check(g));
    assert_int_equal(g->live, m->n);
    assert_int_equal(g->n_edges, m->n - 1);
    for (int i = 0; i < m->n; i++) {
        const struct thing *t = &m->thing[i];
        uint32_t v = find(g, t);
        assert_int_equal(g->v[v].id, t->id);
        assert_int_equal(graph_uniq_id(g, v), t->uniq_id);
        assert_int_equal(g->v[v].size, t->size);
        assert_int_equal(g->v[v].down, t->down);
        assert_string_equal(graph_type_name(g, v), t->type);
        strbuf_reset(&out);
        graph_name(g, v, &out);
        assert_string_equal(strbuf_text(&out), t->name);
        strbuf_reset(&out);
        assert_true(graph_path(g, v, GRAPH_CONTAINMENT, &out));
        assert_string_equal(strbuf_text(&out), t->path);
        assert_int_equal(propset_size(&g->props, g->v[v].props), *t->property != '\0');
        if (i > 0)
            assert_int_equal(graph_parent(g, v, GRAPH_CONTAINMENT), find(g, &m->thing[t->parent]));
    }
    strbuf_clear(&out);
}

/* Siblings need different unique ids, and all of one path and rank are one vertex: leave such models out. */
static bool is_fit(const struct model *m)
{
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(m->thing[i].path, m->thing[k].path) == 0 ||
                (m->thing[i].parent == m->thing[k].parent &&
                 m->thing[i].uniq_id == m->thing[k].uniq_id))
                return false;
    return true;
}

static void json_is_read_back(void **state)
{
    (void)state;
    struct random r = {7};
    struct model m;
    struct strbuf text = {0};
    int fit = 0;

    for (int step = 0; step < STEPS; step++) {
        bool which[NODES_MAX];
        berth_error_t err = {""};
        make_model(&r, &m);
        if (!is_fit(&m))
            continue;
        fit++;
        struct graph *g = graph_create();
        /* A part that has all above it, then the whole. */
        for (int i = 0; i < m.n; i++)
            which[i] = i == 0 || (which[m.thing[i].parent] && random_between(&r, 0, 3) > 0);
        write_jgf(&m, which, &text);
        if (step % 2 && read_jgf(g, text.data, text.len, &err) < 0)
            fail_msg("%s", err.text);
        for (int i = 0; i < m.n; i++)
            which[i] = true;
        write_jgf(&m, which, &text);
        for (int again = 0; again < 2; again++) {
            if (read_jgf(g, text.data, text.len, &err) < 0)
                fail_msg("%s", err.text);
            check_graph(g, &m);
        }
        /* Cut off anywhere, it changes nothing. */
        size_t length = (size_t)random_between(&r, 0, (int64_t)text.len - 1);
        assert_int_equal(read_jgf(g, text.data, length, NULL), -1);
        check_graph(g, &m);
        graph_destroy(g);
    }
    assert_true(fit > STEPS / 2);
    strbuf_clear(&text);
}

#define RANKS_MAX   50
#define ENTRIES_MAX 5

/* Which entry of R_lite has each rank, and what an entry has. */
struct r_model {
    int entry[RANKS_MAX];    /* negative: no such rank */
    int position[RANKS_MAX]; /* among the ranks that are there */
    int n;
    int cores[ENTRIES_MAX], first[ENTRIES_MAX]; /* ids count up by 2 */
};

static void make_r(struct random *r, struct r_model *m)
{
    m->n = 0;
    for (int k = 0; k < RANKS_MAX; k++) {
        m->entry[k] = (int)random_between(r, -3, ENTRIES_MAX - 1);
        m->position[k] = m->n;
        m->n += m->entry[k] >= 0;
    }
    for (int e = 0; e < ENTRIES_MAX; e++) {
        m->cores[e] = (int)random_between(r, 1, 9);
        m->first[e] = (int)random_between(r, 0, 9);
    }
}

static void write_r(const struct r_model *m, struct strbuf *out)
{
    char piece[128];
    int entries = 0;

    strbuf_reset(out);
    strbuf_puts(out, "{\"version\": 1, \"execution\": {\"R_lite\": [");
    for (int e = 0; e < ENTRIES_MAX; e++) {
        struct idset ranks = {0};
        for (int k = 0; k < RANKS_MAX; k++)
            if (m->entry[k] == e)
                assert_int_equal(idset_add(&ranks, (uint32_t)k), 0);
        if (ranks.count > 0) {
            strbuf_puts(out, entries++ ? ", {\"rank\": \"" : "{\"rank\": \"");
            idset_encode(&ranks, false, out);
            strbuf_puts(out, "\", \"children\": {\"gpu\": \"2\", \"core\": \"");
            for (int c = 0; c < m->cores[e]; c++) {
                snprintf(piece, sizeof(piece), "%s%d", c ? "," : "", m->first[e] + 2 * c);
                strbuf_puts(out, piece);
            }
            strbuf_puts(out, "\"}}");
        }
        idset_clear(&ranks);
    }
    snprintf(piece, sizeof(piece), "], \"nodelist\": [\"h[100-%d]\"]}}", 100 + m->n);
    strbuf_puts(out, piece);
}

/* Check a node and its children from vertex v on; returns the vertex behind them. */
static uint32_t check_rank(const struct graph *g, const struct r_model *m, int rank, uint32_t v)
{
    struct strbuf path = {0};
    char expected[128];
    int e = m->entry[rank];

    assert_int_equal(g->v[v].id, 100 + m->position[rank]);
    assert_int_equal(g->v[v].type, TYPE_NODE);
    assert_int_equal(g->v[v++].rank, rank);
    assert_int_equal(g->v[v++].type, TYPE_GPU);
    for (int c = 0; c < m->cores[e]; c++, v++) {
        assert_int_equal(g->v[v].rank, rank);
        snprintf(expected, sizeof(expected), "/cluster0/h%d/core%d", 100 + m->position[rank],
                 m->first[e] + 2 * c);
        strbuf_reset(&path);
        graph_path(g, v, GRAPH_CONTAINMENT, &path);
        assert_string_equal(strbuf_text(&path), expected);
    }
    strbuf_clear(&path);
    return v;
}

static void r_is_read_back(void **state)
{
    (void)state;
    struct random r = {11};
    struct strbuf text = {0};
    struct r_model m;

    for (int step = 0; step < STEPS; step++) {
        berth_error_t err = {""};
        struct graph *g = graph_create();
        uint32_t v = 1;
        make_r(&r, &m);
        write_r(&m, &text);
        if (read_rv1(g, text.data, text.len, &err) < 0)
            fail_msg("%s", err.text);
        assert_true(graph_check(g));
        for (int e = 0; e < ENTRIES_MAX; e++)
            for (int k = 0; k < RANKS_MAX; k++)
                if (m.entry[k] == e)
                    v = check_rank(g, &m, k, v);
        assert_int_equal(g->live, v);
        graph_destroy(g);
    }
    strbuf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_back),
        cmocka_unit_test(r_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
