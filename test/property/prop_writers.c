/* Writers, over random emissions of random trees: what they write as JSON is what jansson would write, byte
 * for byte, and R says what a naive reading of the emission says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/hostlist.h"
#include "random.h"
#include "resource/emission.h"

enum { STEPS = 500, VERTICES = 120, IDS = 70, RANKS = 40, GROUPS = 2 * VERTICES };

struct machine {
    struct random r;
    struct graph *g;
    struct emitted item[VERTICES];
    struct emission e;
};

static int64_t draw(struct machine *m, int64_t low, int64_t high)
{
    return random_between(&m->r, low, high);
}

static const char *pick(struct machine *m, const char *const *texts, int64_t n)
{
    return texts[draw(m, 0, n - 1)];
}

static void add_vertex(struct machine *m)
{
    static const char *const types[] = {"rack", "node", "storage_node", "socket", "core",
                                        "core", "core", "gpu",          "memory", "a\"b\\"};
    static const char *const names[] = {"x", "node7", "p\xc3\xa4r", "tab\there", "q\"u\\o/te\x01"};
    static const char *const hosts[] = {"n", "host-a", "h0x", "web\"s"};
    const char *type = pick(m, types, 10);
    bool is_node = strstr(type, "node") != NULL;
    struct vertex_spec spec = {.type = m->g->n == 0 ? "cluster" : type, .size = 1};
    spec.id = draw(m, 0, 2) == 0 ? (int64_t)m->g->n : draw(m, 0, IDS - 1);
    spec.uniq_id = draw(m, 0, 9) == 0 ? draw(m, 0, INT32_MAX) : -1;
    spec.rank = (int32_t)draw(m, is_node ? 0 : -1, RANKS - 1);
    if (is_node)
        spec.basename = pick(m, hosts, 4);
    else if (draw(m, 0, 4) == 0)
        spec.basename = pick(m, names, 5);
    if (!is_node && draw(m, 0, 9) == 0)
        spec.name = pick(m, names, 5);
    if (spec.id >= IDS)
        spec.id = is_node || draw(m, 0, 1) ? spec.id : -1;
    if (strcmp(spec.type, "core") == 0 || strcmp(spec.type, "gpu") == 0)
        spec.id = draw(m, 0, IDS - 1);
    if (draw(m, 0, 9) == 0)
        spec.unit = pick(m, names, 5);
    uint32_t v = graph_add(m->g, &spec);
    assert_int_not_equal(v, VERTEX_NONE);
    if (v == 0) {
        graph_set_root(m->g, GRAPH_CONTAINMENT, v);
        return;
    }
    uint32_t parent = (uint32_t)draw(m, v > 6 ? (int64_t)v - 6 : 0, (int64_t)v - 1);
    assert_int_equal(graph_connect(m->g, parent, v, GRAPH_CONTAINMENT), 0);
    for (int64_t n = draw(m, 0, 3); n > 1; n--) {
        const char *key = pick(m, names, 5);
        const char *value = pick(m, (const char *[]){"", "y", "="}, 3);
        assert_int_equal(graph_set_property(m->g, v, key, value), 0);
    }
    if (draw(m, 0, 39) == 0)
        assert_int_equal(graph_set_path(m->g, v, GRAPH_CONTAINMENT, "/set\\/path"), 0);
}

/* Tell of a vertex and what is below it; true if any of it was told. */
static bool emit(struct machine *m, uint32_t v, uint32_t parent, uint16_t depth, bool alone)
{
    bool exclusive = alone || draw(m, 0, 5) == 0;
    bool told = draw(m, 0, 2) == 0;
    const uint32_t *children;
    uint32_t n = graph_children(m->g, v, &children);
    for (uint32_t i = 0; i < n; i++)
        if (emit(m, children[i], v, (uint16_t)(depth + 1), exclusive))
            told = true;
    if (!told)
        return false;
    struct emitted *item = &m->item[m->e.n++];
    *item = (struct emitted){
        .vertex = v,
        .depth = depth,
        .flags = (uint16_t)((exclusive ? EMIT_EXCLUSIVE : 0) | (alone ? EMIT_EXCLUSIVE_PARENT : 0)),
        .parent = parent};
    item->needs = draw(m, 1, 3);
    item->label = draw(m, 0, 9) == 0 ? "la\"bel" : NULL;
    item->usage = draw(m, 0, 9) == 0 ? "\"core\": \"used:1, total:2\"" : NULL;
    return true;
}

static void build(struct machine *m)
{
    m->g = graph_create();
    assert_non_null(m->g);
    int64_t n = draw(m, 1, VERTICES);
    while (m->g->n < n)
        add_vertex(m);
    assert_int_equal(graph_seal(m->g), 0);
    m->e = (struct emission){.item = m->item};
    m->e.start = draw(m, 0, 5);
    m->e.end = draw(m, 5, INT64_MAX - 6);
    m->e.queue = draw(m, 0, 1) ? "debug" : NULL;
    emit(m, 0, VERTEX_NONE, 1, false);
}

static void check_is_as_jansson_writes(const struct machine *m, enum write_format format)
{
    struct strbuf out = {0};
    json_error_t err;
    if (emission_write(&m->e, m->g, format, &out) < 0) {
        assert_int_equal(errno, ENOENT);
    } else if (out.len > 0) {
        assert_int_equal(out.data[out.len - 1], '\n');
        out.data[--out.len] = '\0';
        json_t *j = json_loads(out.data, JSON_REJECT_DUPLICATES, &err);
        if (!j)
            fail_msg("%s at %d of %s", err.text, err.position, out.data);
        char *again = json_dumps(j, 0);
        assert_string_equal(again, out.data);
        free(again);
        json_decref(j);
    }
    strbuf_clear(&out);
}

/* A naive R: a text for each rank and for each property, and sets as arrays of truth. */
struct naive {
    char text[GROUPS][400];
    bool has[GROUPS][RANKS];
    int n;
};

static void naive_add(struct naive *x, const char *text, int32_t rank)
{
    int i = 0;
    while (i < x->n && strcmp(x->text[i], text) < 0)
        i++;
    if (i == x->n || strcmp(x->text[i], text) != 0) {
        assert_true(x->n < GROUPS);
        for (int k = x->n++; k > i; k--) {
            memcpy(x->text[k], x->text[k - 1], sizeof(x->text[k]));
            memcpy(x->has[k], x->has[k - 1], sizeof(x->has[k]));
        }
        strcpy(x->text[i], text);
        memset(x->has[i], 0, sizeof(x->has[i]));
    }
    x->has[i][rank] = true;
}

static void naive_set(const bool *has, int n, char *text)
{
    *text = '\0';
    for (int i = 0, last; i < n; i = last + 1) {
        for (last = i; last < n && has[last]; last++)
            ;
        if (last > i)
            text += sprintf(text, last > i + 1 ? "%s%d-%d" : "%s%d", text[-1] == '"' ? "" : ",", i,
                            last - 1);
    }
}

/* {"core": "0-3", "gpu": "1"}, or nothing if there are none. */
static void naive_children(bool ids[2][IDS], char *text)
{
    char *at = text;
    for (int k = 0; k < 2; k++) {
        char set[300] = "\"";
        naive_set(ids[k], IDS, set + 1);
        if (set[1])
            at += sprintf(at, "%s\"%s\": %s\"", at == text ? "{" : ", ", k == 0 ? "core" : "gpu",
                          set);
    }
    strcpy(at, at == text ? "" : "}");
}

static void naive_properties(struct naive *x, const struct propset *p, const struct vertex *v)
{
    for (size_t i = 0; i < propset_size(p, v->props); i++) {
        struct property property = propset_at(p, v->props, i);
        const char *value = propset_text(p, property.value);
        char text[100];
        snprintf(text, sizeof(text), "%s%s%s", propset_text(p, property.key), *value ? "=" : "",
                 value);
        naive_add(x, text, v->rank);
    }
}

/* Hosts in the order of their ranks, of one rank in the order of what they have. */
static void naive_hosts(const struct machine *m, const struct naive *x, char (*has)[400],
                        struct strbuf *out)
{
    struct hostlist hosts = {0};
    struct strbuf text = {0};
    for (int32_t rank = 0; rank < RANKS; rank++)
        for (int group = 0; group < x->n; group++)
            for (size_t i = 0; i < m->e.n; i++) {
                uint32_t v = m->item[i].vertex;
                if (m->g->v[v].rank != rank || strcmp(has[i], x->text[group]) != 0)
                    continue;
                strbuf_reset(&text);
                graph_name(m->g, v, &text);
                assert_int_equal(hostlist_append_host(&hosts, text.data, text.len), 0);
            }
    strbuf_reset(&text);
    hostlist_encode(&hosts, &text);
    strbuf_put_json(out, text.data, text.len);
    strbuf_clear(&text);
    hostlist_clear(&hosts);
}

static void naive_put(const struct naive *x, const char *first, const char *middle,
                      const char *last, bool escape, struct strbuf *out)
{
    char set[300] = "\"";
    for (int i = 0; i < x->n; i++) {
        strbuf_puts(out, i ? ", " : "");
        naive_set(x->has[i], RANKS, set + 1);
        if (escape) {
            strbuf_put_json(out, x->text[i], strlen(x->text[i]));
            strbuf_puts(out, ": ");
        }
        strbuf_puts(out, first);
        strbuf_puts(out, set + 1);
        strbuf_puts(out, middle);
        strbuf_puts(out, escape ? "" : x->text[i]);
        strbuf_puts(out, last);
    }
}

static void check_is_as_naive(const struct machine *m)
{
    static struct naive groups, properties;
    static char has[VERTICES][400];
    bool ids[2][IDS] = {0};
    struct strbuf out = {0}, naive = {0};
    groups.n = properties.n = 0;
    for (size_t i = 0; i < m->e.n; i++) {
        const struct vertex *v = &m->g->v[m->item[i].vertex];
        has[i][0] = '\0';
        if (v->type == TYPE_CORE || v->type == TYPE_GPU)
            ids[v->type == TYPE_GPU][v->id] = true;
        if (v->type != TYPE_NODE && v->type != TYPE_STORAGE_NODE)
            continue;
        naive_children(ids, has[i]);
        memset(ids, 0, sizeof(ids));
        if (has[i][0]) {
            naive_add(&groups, has[i], v->rank);
            naive_properties(&properties, &m->g->props, v);
        }
    }
    strbuf_puts(&naive, "{\"version\": 1, \"execution\": {\"R_lite\": [");
    naive_put(&groups, "{\"rank\": \"", "\", \"children\": ", "}", false, &naive);
    strbuf_puts(&naive, "], \"nodelist\": [");
    naive_hosts(m, &groups, has, &naive);
    strbuf_puts(&naive, properties.n ? "], \"properties\": {" : "]");
    naive_put(&properties, "\"", "\"", "", true, &naive);
    strbuf_puts(&naive, properties.n ? "}, \"starttime\": " : ", \"starttime\": ");
    strbuf_put_int(&naive, m->e.start);
    strbuf_puts(&naive, ", \"expiration\": ");
    strbuf_put_int(&naive, m->e.end);
    strbuf_puts(&naive, "}}\n");
    assert_int_equal(emission_write(&m->e, m->g, WRITE_RV1_NOSCHED, &out), 0);
    assert_string_equal(strbuf_text(&out), groups.n ? strbuf_text(&naive) : "");
    strbuf_clear(&out);
    strbuf_clear(&naive);
}

static void check_lines(const struct machine *m)
{
    struct strbuf lines = {0}, naive = {0};
    for (size_t i = 0; i < m->e.n; i++) {
        strbuf_puts(&naive, "      ");
        strbuf_fill(&naive, '-', 3u * m->item[i].depth);
        graph_name(m->g, m->item[i].vertex, &naive);
        strbuf_putc(&naive, '[');
        strbuf_put_int(&naive, m->item[i].needs);
        strbuf_puts(&naive, m->item[i].flags & EMIT_EXCLUSIVE ? ":x]\n" : ":s]\n");
    }
    assert_int_equal(emission_write(&m->e, m->g, WRITE_SIMPLE, &lines), 0);
    assert_string_equal(strbuf_text(&lines), strbuf_text(&naive));
    strbuf_clear(&lines);
    strbuf_clear(&naive);
}

static void random_emissions(void **state)
{
    static struct machine m;
    (void)state;
    for (uint64_t seed = 1; seed <= STEPS; seed++) {
        m.r.state = seed;
        build(&m);
        check_is_as_jansson_writes(&m, WRITE_JGF);
        check_is_as_jansson_writes(&m, WRITE_JGF_SHORTHAND);
        check_is_as_jansson_writes(&m, WRITE_RV1);
        check_is_as_jansson_writes(&m, WRITE_RV1_SHORTHAND);
        check_is_as_naive(&m);
        check_lines(&m);
        graph_destroy(m.g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_emissions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
