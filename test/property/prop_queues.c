/* Random scenes of named queues over a small machine, against laws that always hold (queue_ledger.c); the
 * same again, in slices, and with a scheduler that another one's records were given to.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue_scene.h"

enum { SCENES = 300 };

static struct scene first, second;

static int scenes(void)
{
    const char *n = getenv("SCENES");
    return n ? atoi(n) : RANDOM_ROUNDS(SCENES);
}

static uint64_t seed_of(int i)
{
    const char *from = getenv("SCENE_SEED");
    return (from ? (uint64_t)strtoull(from, NULL, 10) : 1u) + (uint64_t)i;
}

/* Show where two logs part. */
static void compare(struct scene *a, struct scene *b)
{
    const char *x = strbuf_text(&a->log), *y = strbuf_text(&b->log);
    if (strcmp(x, y) == 0)
        return;
    size_t at = 0, line = 0;
    for (; x[at] == y[at]; at++)
        line = x[at] == '\n' ? at + 1 : line;
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "%s\n-----\n%s\n", x, y);
    fail_msg("seed %" PRIu64 ", budget %" PRId64 ": \"%.*s\" became \"%.*s\"", b->options.seed,
             b->options.budget, (int)strcspn(x + line, "\n"), x + line,
             (int)strcspn(y + line, "\n"), y + line);
}

static void run(const struct scene_options *a, const struct scene_options *b)
{
    scene_play(&first, a);
    if (b) {
        scene_play(&second, b);
        compare(&first, &second);
        strbuf_clear(&second.log);
    }
    strbuf_clear(&first.log);
}

static void test_laws(void **state)
{
    uint64_t starts = 0, promises = 0, preemptions = 0, excused = 0, rejections = 0;
    (void)state;
    run(&(struct scene_options){.seed = 63000273}, NULL); /* who overruns takes a limit beyond it */
    run(&(struct scene_options){.seed = 50001401}, NULL); /* two limits that read alike */
    /* Whoever shares a limit may take it beyond an estimate, in the time of a promise. */
    run(&(struct scene_options){.seed = 68000182, .apart = true}, NULL);
    /* The next member of an array goes on by its limit in the pass in which the one before it starts. */
    run(&(struct scene_options){.seed = 69000106}, NULL);
    for (int i = 0; i < scenes(); i++) {
        run(&(struct scene_options){.seed = seed_of(i)}, NULL);
        starts += first.starts;
        promises += first.promises;
        preemptions += first.preemptions;
        excused += first.excused;
        rejections += first.rejections;
    }
    print_message("%" PRIu64 " starts, %" PRIu64 " promises, %" PRIu64
                  " of them later than before, %" PRIu64 " preempted, %" PRIu64 " rejected\n",
                  starts, promises, excused, preemptions, rejections);
}

static void test_replay(void **state)
{
    (void)state;
    for (int i = 0; i < scenes() / 10; i++)
        run(&(struct scene_options){.seed = seed_of(i)},
            &(struct scene_options){.seed = seed_of(i)});
}

/* Who loses a promise is told why when a pass is cut off, and not at its end alone. */
static void test_slices(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++) {
        struct scene_options options = {.seed = seed_of(i), .no_reasons = true};
        struct scene_options cut = options;
        cut.budget = (int64_t)(seed_of(i) % 3) - 1 + (seed_of(i) % 3 > 0);
        run(&options, &cut);
    }
}

/* The laws hold as well where passes are cut off and begin again from wherever they were. */
static void test_disturbed(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++)
        run(&(struct scene_options){.seed = seed_of(i), .budget = -1, .disturbed = true}, NULL);
    /* A job is let go on at the end of a pass that is cut off, and has its turn in the next one. */
    run(&(struct scene_options){.seed = 72000036, .budget = -1, .disturbed = true}, NULL);
    /* A limit has promised a member of an array a time: when that starts, those behind it have their turns before holders. */
    run(&(struct scene_options){.seed = 5040, .budget = -1, .disturbed = true}, NULL);
    /* A limit keeps the first job of an fcfs queue, and others start, until a promise moves that it was kept for. */
    run(&(struct scene_options){.seed = 5226, .budget = -1, .disturbed = true}, NULL);
}

/* Why jobs wait is told when they are looked at again, which may be later where nothing is known of the
 * past.
 */
static void test_restart(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++) {
        struct scene_options options = {.seed = seed_of(i), .no_reasons = true};
        struct scene_options restarted = options;
        restarted.restart = 1 + (int)(seed_of(i) * 7 % 60);
        run(&options, &restarted);
    }
}

/* The same jobs start where times of promises, of blocks and of jobs have passed until another scheduler goes on. */
static void late(uint64_t seed)
{
    struct scene_options options = {.seed = seed, .no_reasons = true, .starts_only = true};
    options.late = 1 + (int)(seed * 7 % 60);
    struct scene_options restarted = options;
    restarted.restart = options.late;
    run(&options, &restarted);
}

static void test_late(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++)
        late(seed_of(i));
    late(60002679); /* one that starts late is in the way of another */
    late(62000405); /* the last gap that was long enough for a job is over */
}

/* The laws hold where limits are apart from estimates, also where passes are cut off and begin again. */
static void test_apart(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++) {
        bool cut = seed_of(i) % 2;
        run(
            &(struct scene_options){
                .seed = seed_of(i), .apart = true, .budget = -cut, .disturbed = cut},
            NULL);
    }
}

/* Play a scene in one go, and then in slices or by another scheduler that goes on. */
static void run_otherwise(const struct scene_options *options, int i)
{
    struct scene_options other = *options;
    if (i % 2)
        other.restart = 1 + (int)(seed_of(i) * 7 % 60);
    else
        other.budget = 1 + (int64_t)(seed_of(i) % 3);
    run(options, &other);
}

/* Classes that rebalance: in one go, in slices, and by another scheduler that goes on. */
static void test_classes(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++) {
        struct scene_options options = {.seed = seed_of(i), .classes = true, .no_reasons = true};
        run_otherwise(&options, i);
    }
}

/* Jobs that the shell stops by itself: in one go, in slices, and by another scheduler that goes on. */
static void test_leaves(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++) {
        struct scene_options options = {.seed = seed_of(i), .leaves = true, .no_reasons = true};
        run_otherwise(&options, i);
    }
    /* R says of a job that has all of a node that it has the node to itself: limits of nodes tell no difference. */
    struct scene_options options = {.seed = 920145, .leaves = true, .no_reasons = true};
    struct scene_options restarted = options;
    restarted.restart = 1 + 920145 * 7 % 60;
    run(&options, &restarted);
    /* A pass is cut off when one job has started whose time has come, and another one is still to. */
    options.seed = 970458;
    struct scene_options cut = options;
    cut.budget = 1;
    run(&options, &cut);
}

/* Scenes in which a decision was wrong once, or a law. */
static void test_found(void **state)
{
    static const uint64_t found[] = {
        46,        5084,      700098,    423622453, 423622518, 423622873, 423624553,
        423624574, 423624999, 423625331, 423627228, 423628210, 423628583, 755133276,
        755133613, 755134952, 755135473, 755135993, 755137590, 755137833, 755138883,
        755139567, 910000203, 910001133, 920002785, 940000905, 940009365, 610002312,
        620004091, 630002502, 630003798, 650005296, 650006339, 730002897, 740000191,
        730015375, 760019201, 810001626, 850009710, 931005415, 952005421};
    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++) {
        struct scene_options options = {.seed = found[i], .no_reasons = true};
        struct scene_options other = options;
        other.restart = 1 + (int)(found[i] * 7 % 60);
        run(&options, &other);
        other = options;
        other.budget = 1;
        run(&options, &other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),    cmocka_unit_test(test_replay),
        cmocka_unit_test(test_slices),  cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_apart),
        cmocka_unit_test(test_found),   cmocka_unit_test(test_classes),
        cmocka_unit_test(test_late),    cmocka_unit_test(test_leaves),
    };
    const char *only = getenv("SCENE_TEST");
    cmocka_set_test_filter(only ? only : "*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
