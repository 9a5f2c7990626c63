/* Random plans beside a naive one, in which each member is laid by itself and each
 * node is counted again; and laws.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pilot/plan.h"
#include "random.h"

enum { CASES = 3000, WANTS = 6, PILOTS = 5, NODES = 60, LAID = 600, HOUR = 3600, NOW = 100000 };

struct scene {
    struct random r;
    struct pilot_rule rule;
    struct pilot_want want[WANTS];
    struct pilot_seen pilot[PILOTS];
    struct pilot_node node[PILOTS * 3];
    struct pilot_case in;
};

static int64_t draw(struct scene *s, int64_t low, int64_t high)
{
    return random_between(&s->r, low, high);
}

static void draw_wants(struct scene *s)
{
    s->in.n_wants = (size_t)draw(s, 0, WANTS);
    for (size_t i = 0; i < s->in.n_wants; i++) {
        struct pilot_want *w = &s->want[i];
        *w = (struct pilot_want){.members = draw(s, 1, 30), .together = 1, .nodes = 1};
        w->amount[PILOT_CORES] = draw(s, 1, 5);
        w->amount[PILOT_GPUS] = draw(s, 0, 3) == 0 ? draw(s, 0, 2) : 0;
        w->amount[PILOT_MEMORY] = draw(s, 0, 9);
        w->limit = draw(s, 0, 9) == 0 ? 0 : draw(s, 1, draw(s, 0, 1) ? HOUR : 300);
        w->takes = w->limit > 0 ? draw(s, 1, w->limit) : 1;
        if (draw(s, 0, 4) == 0)
            w->nodes = draw(s, 2, 4);
        else if (draw(s, 0, 4) == 0)
            w->together = draw(s, 1, w->members);
    }
}

static void draw_pilots(struct scene *s)
{
    s->in.n_pilots = (size_t)draw(s, 0, PILOTS);
    s->in.n_nodes = 0;
    for (size_t i = 0; i < s->in.n_pilots; i++) {
        struct pilot_seen *p = &s->pilot[i];
        *p = (struct pilot_seen){.number = (int64_t)i + 1,
                                 .state = (enum pilot_state)draw(s, 0, 2),
                                 .nodes = draw(s, 1, 3),
                                 .time = draw(s, 600, s->rule.time),
                                 .useless = draw(s, 0, 1) ? -1 : NOW - draw(s, 0, 300),
                                 .stuck = draw(s, 0, 5) ? -1 : NOW - draw(s, 0, 100)};
        for (int64_t k = 0; p->state == PILOT_UP && k < p->nodes; k++) {
            struct pilot_node *n = &s->node[s->in.n_nodes++];
            *n = (struct pilot_node){.pilot = i,
                                     .end = draw(s, 0, 3) ? NOW + draw(s, 0, HOUR) : INT64_MAX};
            for (int kind = 0; kind < PILOT_KINDS; kind++)
                n->free[kind] = draw(s, 0, s->rule.node[kind]);
        }
    }
}

static void draw_case(struct scene *s)
{
    s->rule = (struct pilot_rule){.max_nodes = draw(s, 1, 40),
                                  .time = 60 * draw(s, 15, 60),
                                  .backlog = draw(s, 1, 4),
                                  .idle = 120,
                                  .budget = draw(s, 0, 3) ? INT64_MAX : draw(s, 0, 40) * HOUR,
                                  .node = {draw(s, 1, 6), draw(s, 0, 2), draw(s, 0, 16)}};
    s->in = (struct pilot_case){.rule = &s->rule,
                                .now = NOW,
                                .second = 1,
                                .want = s->want,
                                .pilot = s->pilot,
                                .node = s->node,
                                .lacking = draw(s, 0, 2) ? NOW - draw(s, 0, 10) : -1,
                                .failures = draw(s, 0, 3) ? 0 : draw(s, 1, 20),
                                .failed_at = NOW - draw(s, 0, 700),
                                .spent = draw(s, 0, 20) * HOUR};
    draw_wants(s);
    draw_pilots(s);
}

/* ---- The naive plan ---- */

struct naive_node {
    int64_t has[PILOT_KINDS], life;
    const struct pilot_want *laid[LAID];
    size_t n;
};

struct naive {
    struct naive_node node[NODES];
    size_t n;
    int64_t asked, left;
};

static struct naive_node *naive_add(struct naive *m, const int64_t has[PILOT_KINDS], int64_t life)
{
    struct naive_node *n = &m->node[m->n++];
    memcpy(n->has, has, sizeof(n->has));
    n->life = life;
    n->n = 0;
    return n;
}

/* All that is laid there and one more: those that take long beside each other, all of it within ten minutes. */
static bool naive_fits(const struct naive_node *n, const struct pilot_want *w, bool together)
{
    if (n->life != INT64_MAX && w->limit + PILOT_MARGIN > n->life)
        return false;
    for (int k = 0; k < PILOT_KINDS; k++) {
        int64_t beside = w->amount[k], work = 0;
        int64_t takes = together || w->takes > PILOT_AHEAD ? PILOT_AHEAD : w->takes;
        for (size_t i = 0; i < n->n; i++) {
            const struct pilot_want *o = n->laid[i];
            beside += o->takes >= PILOT_AHEAD ? o->amount[k] : 0;
            work += o->amount[k] * (o->takes < PILOT_AHEAD ? o->takes : PILOT_AHEAD);
        }
        if (w->amount[k] > 0 &&
            (beside > n->has[k] || work + w->amount[k] * takes > n->has[k] * PILOT_AHEAD))
            return false;
    }
    return true;
}

static bool naive_ask(const struct scene *s, struct naive *m, int64_t nodes)
{
    if (m->asked + nodes > s->rule.max_nodes)
        return false;
    if (s->rule.budget < INT64_MAX && nodes * s->rule.time > m->left)
        return false;
    m->asked += nodes;
    m->left -= s->rule.budget < INT64_MAX ? nodes * s->rule.time : 0;
    for (int64_t i = 0; i < nodes; i++)
        naive_add(m, s->rule.node, s->rule.time);
    return true;
}

static bool naive_single(const struct scene *s, struct naive *m, const struct pilot_want *w)
{
    for (size_t i = 0; i < m->n || naive_ask(s, m, 1); i++)
        if (naive_fits(&m->node[i], w, false)) {
            m->node[i].laid[m->node[i].n++] = w;
            return true;
        }
    return false;
}

static bool naive_never(const struct scene *s, const struct pilot_want *w)
{
    struct naive_node empty = {.life = s->rule.time};
    int64_t each = 0, pieces = w->nodes * w->together;
    memcpy(empty.has, s->rule.node, sizeof(empty.has));
    for (; each < pieces && naive_fits(&empty, w, true); each++) { /* beside each other */
        static struct pilot_want held;
        held = *w;
        held.takes = PILOT_AHEAD;
        empty.laid[empty.n++] = &held;
    }
    if (w->limit == 0 || each == 0)
        return true;
    return (w->nodes > 1 ? pieces : (pieces + each - 1) / each) > s->rule.max_nodes;
}

/* Whether law and model agree on singles alone: then the numbers of nodes are the same. */
static int64_t naive_asked(const struct scene *s)
{
    static struct naive m;
    m.n = 0;
    m.asked = 0;
    m.left = s->rule.budget > s->in.spent ? s->rule.budget - s->in.spent : 0;
    for (size_t i = 0; i < s->in.n_nodes; i++)
        naive_add(&m, s->node[i].free,
                  s->node[i].end == INT64_MAX ? INT64_MAX : s->node[i].end - NOW);
    for (size_t i = 0; i < s->in.n_pilots; i++)
        for (int64_t k = 0; k < s->pilot[i].nodes; k++) {
            m.asked++;
            if (s->pilot[i].state == PILOT_WAITS)
                naive_add(&m, s->rule.node, s->pilot[i].time);
        }
    int64_t there = m.asked;
    for (size_t i = 0; i < s->in.n_wants; i++)
        for (int64_t k = 0; !naive_never(s, &s->want[i]) && k < s->want[i].members; k++)
            if (!naive_single(s, &m, &s->want[i]))
                break;
    return m.asked - there;
}

/* ---- Laws ---- */

static void check_asks(const struct scene *s, const struct pilot_plan *plan, int64_t *asked)
{
    int64_t there = 0, waiting = 0, now = 0, cost = 0;
    for (size_t i = 0; i < s->in.n_pilots; i++) {
        there += s->pilot[i].nodes;
        waiting += s->pilot[i].state == PILOT_WAITS;
    }
    *asked = 0;
    for (size_t i = 0; i < plan->n_asks; i++) {
        const struct pilot_ask *a = &plan->ask[i];
        assert_true(a->nodes >= 1 && a->members >= 1);
        assert_true(a->time >= PILOT_MARGIN && a->time <= s->rule.time);
        now += a->when == PILOT_NOW;
        cost += a->nodes * a->time;
        *asked += a->nodes;
        if (a->when == PILOT_NOW)
            assert_true(s->in.lacking >= 0 && NOW - s->in.lacking >= PILOT_PATIENCE);
        if (a->when == PILOT_NOW && s->in.failures > 0)
            assert_true(NOW - s->in.failed_at >= (s->in.failures > 7 ? 600 : 5));
    }
    assert_true(*asked == 0 || there + *asked <= s->rule.max_nodes);
    assert_true(now == 0 || waiting + now <= s->rule.backlog);
    assert_true(*asked == 0 || s->rule.budget == INT64_MAX || cost + s->in.spent <= s->rule.budget);
    assert_true((plan->lacking >= 0) == (plan->n_asks > 0));
}

static void check_verdicts(const struct scene *s, const struct pilot_plan *plan)
{
    bool lacks = false;
    for (size_t i = 0; i < s->in.n_wants; i++) {
        const struct pilot_verdict *v = &plan->verdict[i];
        assert_int_equal(v->fate == PILOT_NEVER, naive_never(s, &s->want[i]));
        assert_true(v->members >= 1 && v->members <= s->want[i].members);
        lacks = lacks || v->fate == PILOT_LACKING;
        if (v->fate == PILOT_QUEUED)
            assert_int_equal(s->pilot[v->pilot - 1].state, PILOT_WAITS);
    }
    assert_true(!lacks || plan->n_asks > 0);
}

static void check_releases(const struct scene *s, const struct pilot_plan *plan)
{
    for (size_t i = 0; i < plan->n_releases; i++) {
        size_t of = (size_t)plan->release[i].pilot - 1;
        assert_true(s->pilot[of].state != PILOT_ENDING);
        assert_true(!plan->used[of] || plan->release[i].why == PILOT_IS_STUCK);
    }
}

static bool is_single(const struct scene *s)
{
    for (size_t i = 0; i < s->in.n_wants; i++)
        if (s->want[i].nodes > 1 || s->want[i].together > 1)
            return false;
    return true;
}

static void plans_are_as_the_naive_ones(void **state)
{
    static struct scene s;
    int64_t compared = 0, asked, asks = 0;
    (void)state;
    s.r.state = 7;
    for (int i = 0; i < CASES; i++) {
        struct pilot_plan plan;
        draw_case(&s);
        assert_int_equal(pilot_plan(&s.in, &plan), 0);
        check_asks(&s, &plan, &asked);
        check_verdicts(&s, &plan);
        check_releases(&s, &plan);
        if (is_single(&s)) {
            assert_int_equal(asked, naive_asked(&s));
            compared++;
            asks += asked;
        }
        pilot_plan_clear(&plan);
    }
    assert_true(compared > CASES / 20 && asks > compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_are_as_the_naive_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
