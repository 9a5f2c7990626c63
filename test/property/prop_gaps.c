/* Gaps against an array of ticks for each node: what there is throughout a window, the first window with
 * enough, and what is missing before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "place/graph/gaps.h"

enum { NODES = 6, TICKS = 24, ROOM = 4, ROUNDS = 20000, QUESTIONS = 10 };

struct model {
    int room[NODES][TICKS]; /* the last tick goes on for ever */
};

static unsigned draw(uint64_t *random, unsigned below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*random >> 33) % below;
}

static int64_t within(const struct model *m, int from, int end)
{
    int64_t sum = 0;

    for (int i = 0; i < NODES; i++) {
        int least = ROOM;
        for (int t = from; t < end; t++) {
            int room = m->room[i][t < TICKS ? t : TICKS - 1];
            least = room < least ? room : least;
        }
        sum += least;
    }
    return sum;
}

static void add(struct gaps *g, const int *room, int sign)
{
    struct room_step step[TICKS];
    struct gap gap[TICKS];
    uint32_t n = 0;

    for (int t = 0; t < TICKS; t++)
        if (t == 0 || room[t] != room[t - 1])
            step[n++] = (struct room_step){t, room[t]};
    uint32_t gaps = gaps_of(step, n, gap);
    assert_true(gaps <= n);
    for (uint32_t i = 0; i < gaps; i++)
        assert_int_equal(gaps_add(g, gap[i].from, gap[i].until, sign * gap[i].pieces), 0);
}

static void draw_room(uint64_t *random, int *room)
{
    for (int t = 0; t < TICKS; t++)
        room[t] = t > 0 && draw(random, 4) > 0 ? room[t - 1] : (int)draw(random, ROOM);
}

static void check_lack(const struct model *m, const struct gaps_lack *lack, int duration, int from,
                       int before, int pieces)
{
    for (int t = from; t < before; t++)
        for (int k = 0; k < GAPS_LACKS; k++)
            if (t < lack->first[k])
                assert_true(pieces - within(m, t, t + duration) > 1 << k);
    for (int k = 1; k < GAPS_LACKS; k++)
        assert_true(lack->first[k] <= lack->first[k - 1]);
}

/* What was added late counts as well. */
static void ask_within(const struct model *m, const struct gaps *g, uint64_t *random)
{
    int from = (int)draw(random, TICKS), end = from + 1 + (int)draw(random, 10);

    assert_int_equal(gaps_within(g, from, end), within(m, from, end));
}

/* Of a time that is told, which is mostly the one of before or a later one. */
static void ask_from_here(const struct model *m, struct gaps *g, uint64_t *random, int *now)
{
    int was = *now;

    if (draw(random, 3) == 0)
        *now = draw(random, 4) == 0 ? (int)draw(random, TICKS) : *now + (int)draw(random, 4);
    *now = *now < TICKS ? *now : TICKS - 1;
    int end = *now + 1 + (int)draw(random, 10);
    assert_int_equal(gaps_stand(g, *now), 0);
    assert_int_equal(gaps_from_here(g, end), within(m, *now, end));
    int least = 1 + (int)draw(random, 10), most = least + (int)draw(random, TICKS);
    int pieces = 1 + (int)draw(random, 12), longest = most;
    while (longest >= least && within(m, *now, *now + longest) < pieces)
        longest--;
    assert_int_equal(gaps_longest_here(g, least, most, pieces), longest < least ? 0 : longest);
    assert_true(gaps_check(g));
    if (*now > was && within(m, *now, end) > within(m, was, end))
        assert_true(gaps_begin(g, was, *now));
}

static void ask(const struct model *m, const struct gaps *g, uint64_t *random)
{
    int duration = 1 + (int)draw(random, 10), from = (int)draw(random, TICKS);
    int before = from + (int)draw(random, TICKS), pieces = 1 + (int)draw(random, 12);
    struct gaps_lack lack;
    int first = -1;

    for (int t = from; t < before && first < 0; t++)
        if (within(m, t, t + duration) >= pieces)
            first = t;
    assert_int_equal(gaps_first(g, duration, from, before, pieces, &lack), first);
    check_lack(m, &lack, duration, from, first < 0 ? before : first, pieces);
    assert_int_equal(gaps_within(g, from, from + duration), within(m, from, from + duration));
}

static void test_gaps(void **state)
{
    uint64_t random = 1;
    struct model m;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct gaps g = {0};
        int now = 0;
        memset(&m, 0, sizeof(m));
        for (int i = 0; i < NODES; i++) {
            draw_room(&random, m.room[i]);
            add(&g, m.room[i], 1);
            ask_from_here(&m, &g, &random, &now);
            if (draw(&random, 2))
                assert_int_equal(gaps_settle(&g), 0);
            if (draw(&random, 3) == 0) {
                add(&g, m.room[i], -1);
                draw_room(&random, m.room[i]);
                add(&g, m.room[i], 1);
                ask_from_here(&m, &g, &random, &now);
            }
        }
        for (int i = 0; i < QUESTIONS; i++)
            ask_within(&m, &g, &random);
        assert_int_equal(gaps_settle_many(&g), 0);
        ask_within(&m, &g, &random);
        assert_int_equal(gaps_settle(&g), 0);
        assert_true(gaps_check(&g));
        for (int i = 0; i < QUESTIONS; i++)
            ask(&m, &g, &random);
        for (int i = 0; i < QUESTIONS; i++)
            ask_from_here(&m, &g, &random, &now);
        gaps_empty(&g);
        assert_true(gaps_check(&g));
        add(&g, m.room[0], 1);
        memset(m.room[1], 0, sizeof(m.room) - sizeof(m.room[0]));
        ask_from_here(&m, &g, &random, &now);
        gaps_clear(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
