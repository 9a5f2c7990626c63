/* Equal requests that are booked one after the other (match_plan_alike) get what they get one by one, and requests of which
 * is remembered where there was no room (plan_ask.kind) get what they get without that, on machines of all shapes on which
 * others hold something, something is down, and blocks come.
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

#include "berth/jobspec.h"
#include "fixture/machine.h"
#include "match/inner.h"
#include "match/plan.h"
#include "match/text/names.h"
#include "random.h"

enum { SCENES = 600, ROUNDS = 6, OTHERS = 30, MEMBERS = 24, END = 40, SPECS = 5 };

static const char *const recipes[] = {
    "9 node(4 core)",
    "6 node(2 socket(3 core gpu))",
    "7 node(3 core gpu memory:16)",
    "8 node(5 core) 2 ssd",
    "2 rack(4 node(4 core))",
    "3 node(4 core) node(6 core) 3 node(4 core)",
    "12 node(2 core)",
    "12 node(2 socket(4 core))",
    "12 node(3 socket(2 core))",
};
static const char *const policies[] = {"low",   "high", "lonode", "hinode", "lonodex", "locality",
                                       "first", "low",  "pack",   "spread", "balance", "nodeorder"};

struct scene {
    struct random random;
    uint64_t seed;
    match_t *m, *by_one;
    int64_t next;
    jobspec_t *spec[SPECS];
    uint64_t kinds; /* of the scenes before */
    size_t booked, repeated, refused;
    size_t repeated_by_fill; /* of these, by a policy that looks where most is left */
};

static int64_t draw(struct scene *s, int64_t low, int64_t high)
{
    return random_between(&s->random, low, high);
}

/* A node with cores, or all of it; or cores anywhere. */
static jobspec_t *draw_spec(struct scene *s)
{
    static const char *const beside[] = {"", ", {type: gpu, count: 1}",
                                         ", {type: memory, count: 5}"};
    char text[512];
    berth_error_t err;
    bool alone = draw(s, 0, 3) == 0, in_node = draw(s, 0, 4) > 0;
    int n = snprintf(text, sizeof(text), "{version: 9999, resources: [");
    if (in_node)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "{type: node, count: %d, %swith: [",
                      draw(s, 0, 7) == 0 ? 2 : 1, alone ? "exclusive: true, " : "");
    n += snprintf(text + n, sizeof(text) - (size_t)n,
                  "{type: slot, count: %d, label: s, with: [{type: core, count: %d}%s]}%s]",
                  (int)draw(s, 1, 2), (int)draw(s, 1, 4), beside[draw(s, 0, 8) / 4],
                  in_node ? "]}" : "");
    snprintf(text + n, sizeof(text) - (size_t)n,
             ", tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: 1}}}");
    jobspec_t *spec = jobspec_parse(text, strlen(text), NULL, &err);
    if (!spec)
        fail_msg("%s: %s", text, err.text);
    return spec;
}

static void check_same(struct scene *s, int64_t job, int64_t at, int64_t other)
{
    const char *text, *as;
    size_t length, length_as;
    if (at != other)
        fail_msg("seed %" PRIu64 ", job %" PRId64 ": at %" PRId64 ", not %" PRId64, s->seed, job,
                 at, other);
    if (at < 0)
        return;
    assert_int_equal(match_write_job(s->m, job, "jgf", &text, &length), 0);
    assert_int_equal(match_write_job(s->by_one, job, "jgf", &as, &length_as), 0);
    if (length != length_as || memcmp(text, as, length) != 0)
        fail_msg("seed %" PRIu64 ", job %" PRId64 ": %.*s\nnot: %.*s", s->seed, job, (int)length,
                 text, (int)length_as, as);
    s->booked++;
}

/* Nothing is known of any node. */
static int64_t any_time(void *context, uint32_t node, int64_t at, struct plan_lack *lack)
{
    (void)context;
    (void)node;
    lack->kind = PLAN_LACKS_NOTHING;
    return at;
}

static struct plan_ask draw_ask(struct scene *s)
{
    int64_t i = draw(s, 0, SPECS - 1);
    return (struct plan_ask){.spec = s->spec[i],
                             .duration = draw(s, 1, END),
                             .node_from = any_time,
                             .kind = s->kinds + (uint64_t)i + 1};
}

static int64_t book(struct scene *s, struct plan_ask *ask, int64_t at)
{
    uint64_t kind = ask->kind;
    int64_t found = match_plan_first(s->m, ask, s->next, at, at + 1, true);
    int error = errno;
    s->refused += found < 0;
    ask->kind = 0;
    int64_t other = match_plan_first(s->by_one, ask, s->next, at, at + 1, true);
    assert_true(found >= 0 || other >= 0 || error == errno);
    ask->kind = kind;
    check_same(s, s->next, found, other);
    s->next++;
    return found;
}

static void book_others(struct scene *s)
{
    int64_t n = draw(s, 0, OTHERS);
    for (int64_t i = 0; i < n; i++) {
        struct plan_ask ask = draw_ask(s);
        if (book(s, &ask, draw(s, 0, END)) < 0 || draw(s, 0, 1) == 0)
            continue;
        match_job_allocate(s->m,
                           s->next - 1); /* policies tell what is held from what is promised */
        match_job_allocate(s->by_one, s->next - 1);
    }
}

static void book_alike(struct scene *s)
{
    uint64_t *part = NULL;
    struct plan_ask ask = draw_ask(s);
    int64_t at = draw(s, 0, END), found = at;
    if (draw(s, 0, 3) == 0) {
        part = calloc((size_t)s->m->g->n / 64 + 1, sizeof(*part));
        assert_non_null(part);
        memset(part, 0xff, ((size_t)s->m->g->n / 64 + 1) * sizeof(*part));
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t out = s->m->node[draw(s, 0, s->m->n_nodes - 1)];
            part[out / 64] &= ~(UINT64_C(1) << (out % 64));
        }
        ask.within = part;
    }
    match_plan_alike(s->m, true);
    for (int i = 0; i < MEMBERS && found >= 0; i++) {
        uint32_t given = s->m->repeat.given, host = s->m->repeat.host;
        bool was = s->m->repeat.is_whole;
        found = book(s, &ask, at);
        bool repeated = was && found >= 0 && s->m->repeat.host != VERTEX_NONE &&
                        (s->m->repeat.given != given || s->m->repeat.host != host);
        s->repeated += repeated;
        s->repeated_by_fill += repeated && s->m->policy.fill == FILL_EMPTIEST;
    }
    match_plan_alike(s->m, false);
    free(part);
}

static void change(struct scene *s)
{
    for (int64_t job = 0; job < s->next; job++)
        if (draw(s, 0, 2) == 0 && match_cancel(s->m, job, NULL, NULL) == 0)
            assert_int_equal(match_cancel(s->by_one, job, NULL, NULL), 0);
    uint32_t v = s->m->node[draw(s, 0, s->m->n_nodes - 1)];
    int64_t from = draw(s, 0, END), lasts = draw(s, 1, END);
    bool blocks = draw(s, 0, 2) == 0;
    match_block(s->m, 1, NULL, 0, 0, 0, 0);
    match_block(s->by_one, 1, NULL, 0, 0, 0, 0);
    for (int i = 0; i < 2 && blocks; i++) {
        uint32_t *one = malloc(sizeof(*one));
        assert_non_null(one);
        *one = v;
        assert_int_equal(match_block(i == 0 ? s->m : s->by_one, 1, one, 1, from, lasts, 0), 0);
    }
    char rank[16];
    bool up = draw(s, 0, 2) > 0;
    snprintf(rank, sizeof(rank), "%" PRId32, s->m->g->v[v].rank);
    assert_int_equal(match_set_rank_status(s->m, rank, up, NULL), 0);
    assert_int_equal(match_set_rank_status(s->by_one, rank, up, NULL), 0);
}

static void play(struct scene *s)
{
    const char *recipe = recipes[draw(s, 0, sizeof(recipes) / sizeof(*recipes) - 1)];
    match_options_t options = {.policy =
                                   policies[draw(s, 0, sizeof(policies) / sizeof(*policies) - 1)],
                               .filters = "ALL:core,ALL:node"};
    s->m = machine_of(recipe, &options);
    s->by_one = machine_of(recipe, &options);
    s->next = 0;
    for (int i = 0; i < SPECS; i++)
        s->spec[i] = draw_spec(s);
    for (int i = 0; i < ROUNDS; i++) {
        book_others(s);
        book_alike(s);
        assert_true(match_check(s->m));
        change(s);
    }
    for (int i = 0; i < SPECS; i++)
        jobspec_destroy(s->spec[i]);
    s->kinds += SPECS;
    match_destroy(s->m);
    match_destroy(s->by_one);
}

static void alike_as_one_by_one(void **state)
{
    struct scene s = {.next = 0};
    (void)state;
    for (s.seed = 1; s.seed <= RANDOM_ROUNDS(SCENES); s.seed++) {
        s.random.state = s.seed;
        play(&s);
    }
    print_message(
        "%zu booked, %zu of them without a walk, %zu of these where most was left, %zu refused\n",
        s.booked, s.repeated, s.repeated_by_fill, s.refused);
    assert_true(s.refused > s.booked / 5);
    assert_true(s.repeated > s.booked / 50);
    assert_true(s.repeated_by_fill > s.booked / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alike_as_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
