/* The nodes in which something was freed, against a list of all that was noted: what a search finds is what is wanted of
 * it, in order, whatever was forgotten before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "place/freed.h"
#include "random.h"

enum { ROUNDS = 300, EVENTS = 60, NODES = 40, TICKS = 30, NOTED = EVENTS * NODES };

/* All notes of a log, none put together with another. */
struct model {
    struct freed_node v[NOTED];
    uint32_t n;
    uint64_t asked; /* nobody asks for what was before */
    bool scrambled; /* ids are in another order than nodes */
};

/* Every node that is wanted is found, nothing is found that is not, and in the order of events. */
static void ask(const struct model *m, const struct freed_nodes *nodes, struct random *r,
                uint64_t next)
{
    int64_t low = random_between(r, -1, NODES), from = random_between(r, 0, TICKS);
    int64_t until = random_between(r, from, TICKS + 5);
    struct freed_wanted w = {from, until, low, random_between(r, low, NODES)};
    uint64_t event = (uint64_t)random_between(r, (int64_t)m->asked, (int64_t)next), last = 0;
    bool found[NODES] = {false}, noted[NODES] = {false};
    const struct freed_node *f;

    if (event < nodes->all || event < nodes->base)
        return; /* all counts as freed */
    if (random_between(r, 0, 4) == 0)
        w = (struct freed_wanted){INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    struct freed_cursor c = freed_search(nodes, event);
    while ((f = freed_next(nodes, &w, &c))) {
        assert_true(f->event >= event && f->event >= last);
        assert_true(f->from < w.to && f->to > w.from && f->id >= w.low && f->id <= w.high);
        last = f->event;
        found[f->node] = true;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        f = &m->v[i];
        noted[f->node] |= f->event >= event;
        if (f->event >= event && f->from < w.to && f->to > w.from && f->id >= w.low &&
            f->id <= w.high)
            assert_true(found[f->node]);
    }
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(noted[i] || !found[i]);
}

/* An event frees some nodes, one after the other or in any order, all for one time or each for its own. A node that is
 * freed twice at once is noted for the time from the earlier to the later.
 */
static void free_some(struct model *m, struct freed *log, struct random *r)
{
    bool ordered = random_between(r, 0, 2) > 0, alike = random_between(r, 0, 1);
    int64_t from = random_between(r, 0, TICKS - 1), to = random_between(r, from + 1, TICKS);

    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t node = ordered ? i : (uint32_t)random_between(r, 0, NODES - 1);
        if (random_between(r, 0, 3) > 0)
            continue;
        if (!alike) {
            from = random_between(r, 0, TICKS - 1);
            to = random_between(r, from + 1, TICKS);
        }
        int64_t id = m->scrambled ? node * 7 % NODES : node;
        m->v[m->n++] = (struct freed_node){log->next, from, to, id, node};
        freed_add_node(log, node, id, from, to);
    }
    log->next++;
}

static void test_freed(void **state)
{
    struct random r = {1};
    struct freed_nodes *nodes = malloc(sizeof(*nodes));
    struct model *m = malloc(sizeof(*m));

    (void)state;
    assert_true(nodes && m);
    for (int round = 0; round < ROUNDS; round++) {
        struct freed log = {0};
        *nodes = (struct freed_nodes){0};
        m->n = 0;
        m->scrambled = round % 2;
        freed_init(&log, nodes);
        m->asked = log.next;
        for (int event = 0; event < EVENTS; event++) {
            free_some(m, &log, &r);
            if (random_between(&r, 0, 9) == 0)
                freed_add(&log, random_between(&r, 0, TICKS), TICKS);
            if (random_between(&r, 0, 29) == 0)
                freed_add_all(&log);
            if (random_between(&r, 0, 9) == 0) {
                m->asked = (uint64_t)random_between(&r, (int64_t)m->asked, (int64_t)log.next);
                freed_forget(&log, m->asked, log.next);
            }
            assert_true(freed_check(nodes));
            for (int i = 0; i < 5; i++)
                ask(m, nodes, &r, log.next);
        }
    }
    free(m);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_freed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
