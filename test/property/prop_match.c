/* Matching on small random machines: what is found, for whom, when, and what is then held, is what a
 * matcher says that looks at everything.
 *
 * usage: prop_match [SEED [LAST]]   play these seeds only; one alone tells what is done
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
#include "naive_match.h"
#include "random.h"
#include "told.h"

enum { STEPS = 60, VERTICES_MAX = 160, SPEC_MAX = 4096 };

static bool loud;
static uint64_t from = 1, to = RANDOM_ROUNDS(300);

struct play {
    struct random r;
    uint64_t seed;
    int step;
    const char *policy, *filters;
    match_t *m;
    struct naive *n;
    const struct graph *g;
    int64_t now, next_job;
    bool plain; /* only what Fluxion's resource-query knows, for comparison with it */
    char spec[SPEC_MAX];
    size_t length;
};

static int64_t draw(struct play *p, int64_t low, int64_t high)
{
    return random_between(&p->r, low, high);
}

static bool chance(struct play *p, int64_t one_in)
{
    return draw(p, 1, one_in) == 1;
}

static const char *pick(struct play *p, const char *const *texts, int64_t n)
{
    return texts[draw(p, 0, n - 1)];
}

/* Properties that a request may ask for: two of a family, and one of its own. */
static const char *const asked_for[] = {"k:a", "k:b", "other"};

/* Machines. */
enum ids {
    IDS_LOCAL,
    IDS_GLOBAL,
    IDS_DESCENDING,
    IDS_KINDS_PLAIN,
    IDS_TIES = IDS_KINDS_PLAIN,
    IDS_NONE,
    IDS_KINDS
};

struct building {
    struct graph *g;
    enum ids ids[5];
    int64_t count[16]; /* by type, of those that came so far */
    const char *levels[5];
    int depth;
    bool sizes;
};

static uint32_t add(struct play *p, struct building *b, uint32_t parent, const char *type,
                    int level, int64_t i)
{
    uint32_t number = graph_type(b->g, type);
    struct vertex_spec spec = {.type = type, .uniq_id = -1, .size = 1, .rank = -1, .id = i};
    bool is_node = strcmp(type, "node") == 0;

    switch (b->ids[level]) {
    case IDS_GLOBAL:
        spec.id = b->count[number];
        break;
    case IDS_TIES:
        spec.id = draw(p, 0, 2);
        break;
    case IDS_DESCENDING:
        spec.id = 9 - i;
        break;
    case IDS_NONE:
        spec.id = is_node ? i : -1;
        break;
    default:
        break;
    }
    if (is_node)
        spec.rank = (int32_t)b->count[number];
    if (strcmp(type, "memory") == 0)
        spec.size = b->sizes ? draw(p, 1, 6) : 4;
    else if (b->sizes && chance(p, 5) && !is_node && parent != VERTEX_NONE)
        spec.size = draw(p, 1, 3);
    b->count[number]++;
    uint32_t v = graph_add(b->g, &spec);
    assert_int_not_equal(v, VERTEX_NONE);
    if (parent != VERTEX_NONE)
        assert_int_equal(graph_connect(b->g, parent, v, GRAPH_CONTAINMENT), 0);
    else
        graph_set_root(b->g, GRAPH_CONTAINMENT, v);
    if (chance(p, 4))
        graph_set_property(b->g, v, "perf_class",
                           pick(p, (const char *[]){"1", "2", "x", "30"}, 4));
    if (chance(p, 4))
        graph_set_property(b->g, v, pick(p, asked_for, 3), "");
    if (is_node && chance(p, 3))
        graph_set_property(b->g, v, pick(p, (const char *[]){"p", "q"}, 2), "");
    return v;
}

static void add_below(struct play *p, struct building *b, uint32_t parent, int level)
{
    static const char *const leaves[] = {"core", "gpu", "memory"};

    if (level < b->depth) {
        for (int64_t i = 0, n = draw(p, 1, 3); i < n && b->g->n < VERTICES_MAX; i++)
            add_below(p, b, add(p, b, parent, b->levels[level], level, i), level + 1);
        return;
    }
    add(p, b, parent, "core", 4, 0);
    if (chance(p, 3)) { /* one after the other, in any order */
        for (int64_t i = 1, n = draw(p, 0, 6); i <= n; i++)
            add(p, b, parent, pick(p, leaves, 3), 4, i);
        return;
    }
    for (int k = 0; k < 3; k++)
        for (int64_t i = k == 0, n = draw(p, k == 0, k == 0 ? 5 : 2); i < n; i++)
            add(p, b, parent, leaves[k], 4, i);
}

static struct graph *build(struct play *p)
{
    static const char *const kinds[][4] = {{"rack", "node", "socket"},
                                           {"node"},
                                           {"rack", "node"},
                                           {"node", "socket"},
                                           {"rack", "rack", "node"}};
    struct building b = {.g = graph_create()};
    int64_t kind = draw(p, 0, 4);

    assert_non_null(b.g);
    while (b.depth < 4 && kinds[kind][b.depth]) {
        b.levels[b.depth] = kinds[kind][b.depth];
        b.depth++;
    }
    b.sizes = chance(p, 2);
    for (int i = 0; i < 5; i++)
        b.ids[i] = chance(p, 2)
                       ? IDS_LOCAL
                       : (enum ids)draw(p, 0, p->plain ? IDS_KINDS_PLAIN - 1 : IDS_KINDS - 1);
    add_below(p, &b, add(p, &b, VERTEX_NONE, "cluster", 0, 0), 0);
    assert_int_equal(graph_seal(b.g), 0);
    return b.g;
}

/* Requests. */
static __attribute__((format(printf, 2, 3))) void say(struct play *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(p->spec + p->length, SPEC_MAX - p->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < SPEC_MAX - p->length);
    p->length += (size_t)n;
}

static void say_count(struct play *p)
{
    int64_t low = draw(p, 1, 2), high = low + draw(p, 0, 3);

    switch (draw(p, 0, 9)) {
    case 0:
        say(p, "{\"min\":%d,\"max\":%d,\"operator\":\"+\",\"operand\":%d}", (int)low, (int)high,
            (int)draw(p, 1, 2));
        return;
    case 1:
        say(p, "{\"min\":%d,\"max\":8,\"operator\":\"*\",\"operand\":2}", (int)low);
        return;
    case 2:
        say(p, "{\"min\":%d}", (int)low);
        return;
    case 3:
        if (!p->plain) {
            say(p, "\"%d,%d\"", (int)low, (int)high + 1);
            return;
        }
        break;
    case 4:
        say(p, "%d", (int)high);
        return;
    default:
        break;
    }
    say(p, "%d", (int)low);
}

static void say_resource(struct play *p, const char *type, bool in_slot)
{
    say(p, "{\"type\":\"%s\",\"count\":", type);
    say_count(p);
    if (chance(p, 10))
        say(p, ",\"exclusive\":%s", chance(p, in_slot ? 8 : 3) ? "false" : "true");
    if (chance(p, 8))
        say(p, ",\"label\":\"l%d\"", (int)draw(p, 0, 2));
    if (!p->plain && chance(p, 8))
        say(p, ",\"property\":\"%s\"", pick(p, asked_for, 3));
}

static void say_leaves(struct play *p, bool in_slot)
{
    static const char *const leaves[] = {"core", "gpu", "memory"};
    int64_t first = chance(p, 3) ? draw(p, 0, 2) : 0, n = draw(p, 1, 3);

    for (int64_t i = 0; i < n && i < 2; i++) {
        say(p, "%s", i > 0 ? "," : "");
        say_resource(p, leaves[(first + i) % 3], in_slot);
        say(p, "}");
    }
}

/* What is asked for below a level. */
static void say_below(struct play *p, int level, bool in_slot)
{
    static const char *const levels[] = {"rack", "node", "socket"};

    if (!in_slot && chance(p, level == 3 ? 1 : 4)) {
        say(p, "{\"type\":\"slot\",\"label\":\"s\",\"count\":");
        say_count(p);
        say(p, ",\"with\":[");
        say_below(p, level, true);
        say(p, "]}");
        if (chance(p, 12)) {
            say(p, ",");
            say_resource(p, "memory", false);
            say(p, "}");
        }
        return;
    }
    if (level >= 3 || chance(p, 5)) {
        say_leaves(p, in_slot);
        return;
    }
    say_resource(p, levels[level], in_slot);
    if (!chance(p, 6)) {
        say(p, ",\"with\":[");
        say_below(p, level + 1, in_slot && !chance(p, 12));
        say(p, "]");
    }
    say(p, "}");
}

static void say_spec(struct play *p)
{
    p->length = 0;
    say(p, "{\"version\":9999,\"resources\":[");
    if (chance(p, 12)) {
        say(p, "{\"type\":\"cluster\",\"count\":1,\"with\":[");
        say_below(p, (int)draw(p, 0, 2), false);
        say(p, "]}");
    } else {
        say_below(p, (int)draw(p, 0, 3), false);
    }
    if (chance(p, 25)) {
        say(p, ",");
        say_resource(p, "gpu", false);
        say(p, "}");
    }
    say(p,
        "],\"tasks\":[{\"command\":[\"a\"],\"slot\":\"s\",\"count\":{\"per_slot\":1}}],"
        "\"attributes\":{\"system\":{\"duration\":%d",
        chance(p, 12) ? 0 : (int)draw(p, 1, 20));
    if (chance(p, 10))
        say(p, ",\"queue\":\"debug\"");
    if (chance(p, 8))
        say(p, ",\"constraints\":%s",
            pick(p,
                 (const char *[]){"{\"properties\":[\"p\"]}", "{\"not\":[{\"ranks\":[\"0\"]}]}",
                                  "{\"ranks\":[\"0-1\"]}"},
                 3));
    say(p, "}}}");
}

static jobspec_t *make_spec(struct play *p)
{
    berth_error_t err;
    jobspec_t *spec;

    say_spec(p);
    spec = jobspec_parse(p->spec, strlen(p->spec), NULL, &err);
    if (!spec)
        fail_msg("%s: %s", err.text, p->spec);
    return spec;
}

/* Comparing. */
static void differ(struct play *p, const char *what, const char *ours, const char *naive)
{
    print_error("policy %s, filters %s, %s\n", p->policy, p->filters, p->spec);
    print_error("matcher:\n");
    fputs(ours, stderr);
    print_error("\nnaive:\n");
    fputs(naive, stderr);
    fail_msg("seed %" PRIu64 " step %d: %s", p->seed, p->step, what);
}

static void compare_number(struct play *p, const char *what, int64_t ours, int64_t naive)
{
    char a[24], b[24];

    if (ours == naive)
        return;
    snprintf(a, sizeof(a), "%" PRId64, ours);
    snprintf(b, sizeof(b), "%" PRId64, naive);
    differ(p, what, a, b);
}

static void compare_found(struct play *p)
{
    static const char *const names[] = {"simple", "jgf_shorthand", "rv1"};
    static const enum write_format formats[] = {WRITE_SIMPLE, WRITE_JGF_SHORTHAND, WRITE_RV1};

    for (int i = 0; i < 3; i++) {
        struct strbuf naive = {0};
        const char *ours = "";
        size_t length = 0;
        int a = match_write(p->m, names[i], &ours, &length);
        int b = emission_write(naive_found(p->n), p->g, formats[i], &naive);
        compare_number(p, names[i], a, b);
        if (a == 0 && strcmp(ours, strbuf_text(&naive)) != 0)
            differ(p, names[i], ours, strbuf_text(&naive));
        strbuf_clear(&naive);
    }
}

/* What every job holds. */
static void compare_jobs(struct play *p)
{
    const struct naive_job *jobs;
    size_t n = naive_jobs(p->n, &jobs);

    compare_number(p, "number of jobs", p->m->jobs.n, (int64_t)n);
    for (size_t k = 0; k < n; k++) {
        const struct job *job = jobs_find(&p->m->jobs, jobs[k].id);
        if (!job)
            differ(p, "job", "not there", "there");
        compare_number(p, "start of a job", job->at, jobs[k].at);
        compare_number(p, "end of a job", job->end, jobs[k].end);
        compare_number(p, "job is reserved", job->reserved, jobs[k].reserved);
        compare_number(p, "vertices of a job", job->n, (int64_t)jobs[k].n);
        for (uint32_t i = 0; i < job->n; i++) {
            compare_number(p, "vertex held", job->hold[i].vertex, jobs[k].hold[i].vertex);
            compare_number(p, "units held", job->hold[i].needs, jobs[k].hold[i].needs);
            compare_number(p, "held exclusively", (job->hold[i].flags & HOLD_EXCLUSIVE) > 0,
                           jobs[k].hold[i].exclusive);
        }
    }
    for (size_t k = 0; k < n; k++) {
        if (!told_in_short(p->m, jobs[k].id))
            differ(p, "short text", "something else", "what was given");
        if (!told_by_host(p->m, jobs[k].id))
            differ(p, "what is held by host", "something else", "what R says");
    }
    if (!match_check(p->m))
        differ(p, "match_check", "false", "true");
}

static void step_match(struct play *p)
{
    match_op_t op = (match_op_t)draw(p, 0, 5);
    jobspec_t *spec = make_spec(p);
    match_result_t result = {0};
    int64_t at = 0;
    berth_error_t err;
    int error = 0;

    if (draw(p, 0, 2) > 0)
        op = MATCH_ALLOCATE_ORELSE_RESERVE;
    if (loud)
        printf("%d now %" PRId64 " op %d %s\n", p->step, p->now, (int)op, p->spec);
    bool known = true;
    for (uint32_t i = 0; i < spec->nresources; i++)
        known &= match_knows_type(p->m, spec->resources[i].type);
    if (match_run(p->m, op, spec, p->next_job, p->now, &result, &err) < 0)
        error = errno;
    int naive = known ? naive_run(p->n, op, spec, p->next_job, p->now, &at) : EINVAL;
    if (loud)
        printf("  -> %d at %" PRId64 ", naive %d at %" PRId64 "\n", error, result.at, naive, at);
    compare_number(p, "errno of a match", error, naive);
    if (error == 0 && op != MATCH_SATISFIABILITY) {
        compare_number(p, "start", result.at, at);
        compare_found(p);
        if (op <= MATCH_ALLOCATE_W_SATISFIABILITY && !told_as_found(p->m, p->next_job))
            differ(p, "job as text", "something else", "what was found");
    }
    if (op <= MATCH_ALLOCATE_W_SATISFIABILITY && error != EINVAL)
        p->next_job++;
    jobspec_destroy(spec);
}

/* To record what a match would give is to match. */
static void step_update(struct play *p)
{
    jobspec_t *spec = make_spec(p);
    match_result_t result = {0};
    int64_t at = 0, id = p->next_job;
    const char *text;
    size_t length;
    berth_error_t err;

    bool known = true;
    for (uint32_t i = 0; i < spec->nresources; i++)
        known &= match_knows_type(p->m, spec->resources[i].type);
    if (known && match_run(p->m, MATCH_WITHOUT_ALLOCATING, spec, id, p->now, &result, NULL) == 0 &&
        match_write(p->m, "jgf", &text, &length) == 0) {
        char *copy = strndup(text, length);
        if (loud)
            printf("%d update %" PRId64 " %s\n", p->step, id, p->spec);
        if (match_update(p->m, "jgf", copy, length, id, p->now, result.duration, false, &err) < 0)
            differ(p, "update", err.text, "recorded");
        if (!told_as_found(p->m, id))
            differ(p, "job as text", "something else", "what was recorded");
        free(copy);
        compare_number(p, "what is recorded",
                       naive_run(p->n, MATCH_ALLOCATE, spec, id, p->now, &at), 0);
        p->next_job++;
    }
    jobspec_destroy(spec);
}

static void step_cancel(struct play *p)
{
    const struct naive_job *jobs;
    size_t n = naive_jobs(p->n, &jobs);
    berth_error_t err;

    if (n == 0) {
        assert_int_equal(match_cancel(p->m, p->next_job, NULL, &err), -1);
        assert_int_equal(errno, ENOENT);
        return;
    }
    int64_t id = jobs[draw(p, 0, (int64_t)n - 1)].id;
    if (loud)
        printf("%d cancel %" PRId64 "\n", p->step, id);
    assert_int_equal(match_cancel(p->m, id, NULL, &err), 0);
    naive_cancel(p->n, id);
}

/* A vertex that is there, and its path. */
static uint32_t some_vertex(struct play *p, struct strbuf *path)
{
    uint32_t v = (uint32_t)draw(p, 0, (int64_t)p->g->n - 1), *found;
    size_t n;

    strbuf_reset(path);
    while (p->g->v[v].gone)
        v = (v + 1) % p->g->n;
    assert_true(graph_path(p->g, v, GRAPH_CONTAINMENT, path));
    assert_int_equal(graph_find_path(p->g, strbuf_text(path), &found, &n), 0);
    bool alone = n == 1; /* where ids tie, a path means several */
    free(found);
    return alone ? v : VERTEX_NONE;
}

static void step_status(struct play *p)
{
    struct strbuf path = {0};
    uint32_t v = some_vertex(p, &path);
    bool up = chance(p, 2);
    berth_error_t err;

    if (v != VERTEX_NONE) {
        bool changes = p->g->v[v].down == up;
        if (loud)
            printf("%d set-status %s %s\n", p->step, strbuf_text(&path), up ? "up" : "down");
        assert_int_equal(match_set_status(p->m, strbuf_text(&path), up, &err), 0);
        if (changes)
            naive_marked(p->n, v, up);
    }
    strbuf_clear(&path);
}

static void step_property(struct play *p)
{
    struct strbuf path = {0};
    uint32_t v = some_vertex(p, &path);
    berth_error_t err;

    bool class = chance(p, 2);
    const char *key = class          ? "perf_class"
                      : chance(p, 2) ? pick(p, asked_for, 3)
                                     : "p",
               *value = class ? chance(p, 2) ? "3" : "9" : "1";
    if (v != VERTEX_NONE)
        assert_int_equal(match_set_property(p->m, strbuf_text(&path), key, value, &err), 0);
    if (loud && v != VERTEX_NONE)
        printf("%d set-property %s %s=%s\n", p->step, strbuf_text(&path), key, value);
    strbuf_clear(&path);
}

static void step_remove(struct play *p)
{
    struct strbuf path = {0};
    uint32_t v = some_vertex(p, &path);
    berth_error_t err;

    if (v != VERTEX_NONE && v != p->g->root[GRAPH_CONTAINMENT] && p->g->live > 8) {
        const uint32_t *children;
        uint32_t parent = graph_parent(p->g, v, GRAPH_CONTAINMENT);
        if (graph_children(p->g, parent, &children) > 1) { /* no level may become a leaf */
            if (loud)
                printf("%d remove %s\n", p->step, strbuf_text(&path));
            assert_int_equal(match_remove_path(p->m, strbuf_text(&path), &err), 0);
            naive_changed(p->n);
        }
    }
    strbuf_clear(&path);
}

enum kind_of_policy { ORDERS, FIRSTS, FILLS };

static void play(uint64_t seed, enum kind_of_policy kind)
{
    static const char *const policies[] = {"high",    "low",     "hinode",   "lonode",
                                           "hinodex", "lonodex", "locality", "variation"};
    static const char *const firsts[] = {"first", "firstnodex"};
    static const char *const fills[] = {
        "pack", "spread", "balance", "nodeorder", "spread=3 balance=2", "pack=1 balance=4"};
    bool first = kind == FIRSTS;
    static const char *const filters[] = {"ALL:core,ALL:node", "ALL:core",
                                          "ALL:core,rack:node,ALL:gpu", "ALL:memory,node:core"};
    struct play p = {.r = {seed}, .seed = seed, .plain = seed % 2, .next_job = 1};
    berth_error_t err;
    struct graph *g = build(&p);

    p.policy = first           ? pick(&p, firsts, 2)
               : kind == FILLS ? pick(&p, fills, 6)
                               : pick(&p, policies, 8);
    p.filters = pick(&p, filters, 4);
    match_options_t options = {.policy = p.policy, .filters = p.filters};
    p.m = match_create(g, &options, &err);
    if (!p.m)
        fail_msg("seed %" PRIu64 ": %s", seed, err.text);
    p.g = match_graph(p.m);
    p.n = naive_create(p.g, p.policy, p.filters);
    if (loud)
        printf("seed %" PRIu64 " policy %s filters %s\n", seed, p.policy, p.filters);
    for (uint32_t v = 0; v < g->n && loud; v++) {
        struct strbuf path = {0};
        graph_path(g, v, GRAPH_CONTAINMENT, &path);
        printf("  %" PRIu32 " %s size %" PRId64 "\n", v, strbuf_text(&path), g->v[v].size);
        strbuf_clear(&path);
    }
    for (p.step = 0; p.step < STEPS; p.step++) {
        int64_t dice = draw(&p, 0, 99);
        p.spec[0] = '\0';
        if (dice < 5 && p.plain && !first)
            step_update(&p);
        else if (dice < 70)
            step_match(&p);
        else if (dice < 85)
            step_cancel(&p);
        else if (dice < 92)
            step_status(&p);
        else if (dice < 96)
            step_property(&p);
        else if (dice < 98)
            step_remove(&p);
        else
            p.now += p.plain ? 0 : draw(&p, 1, 9);
        compare_jobs(&p);
    }
    naive_destroy(p.n);
    match_destroy(p.m);
}

static void test_orders(void **state)
{
    (void)state;
    for (uint64_t seed = from; seed <= to; seed++)
        play(seed, ORDERS);
}

static void test_first(void **state)
{
    (void)state;
    for (uint64_t seed = from; seed <= to; seed++)
        play(seed, FIRSTS);
}

static void test_fills(void **state)
{
    (void)state;
    for (uint64_t seed = from; seed <= to; seed++)
        play(seed, FILLS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_fills),
    };
    if (argc > 1)
        from = to = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        to = strtoull(argv[2], NULL, 10);
    loud = argc == 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
