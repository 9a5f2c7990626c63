/* Named queues over nodes that are given whole or by core decide as naive_queues does, which looks at everything each time: so
 * nothing is lost where the core does not look.
 */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 600, STEPS = 60 };

struct naive_play run;
struct naive_count counted;

static void trace_queues(void)
{
    for (int i = 0; i < NQ_ACCOUNTS && run.accounts && getenv("SCENE_TRACE"); i++)
        fprintf(stderr, "account %d in %d most %ld,%ld\n", i, run.naive.account[i].parent,
                (long)run.naive.account[i].most[0], (long)run.naive.account[i].most[1]);
    for (int l = 0; l < run.naive.lanes && getenv("SCENE_TRACE"); l++) {
        struct nq_lane *x = &run.naive.lane[l];
        fprintf(stderr,
                "lane %d part %x level %ld virtual %d %ld depth %ld qd %ld preemptible %d user "
                "%ld,%ld queue "
                "%ld,%ld by_user %d acc %d bypri %d bydl %d div %d by %d %d %d %d wait %ld\n",
                l, x->part, (long)x->priority, x->has_virtual, (long)x->virtual_priority,
                (long)x->depth, (long)x->queue_depth, x->preemptible, (long)x->user_most[0],
                (long)x->user_most[1], (long)x->queue_most[0], (long)x->queue_most[1], x->by_user,
                x->by_account, x->by_priority, x->by_deadline, x->division, x->by[0], x->by[1],
                x->by[2], x->by[3], (long)x->wait);
    }
}

/* Plain scenes, some of which have shares; with shares; with these and perhaps with classes, usage and a division within the
 * other; with nodes that are shared by core.
 */
enum kind { PLAIN, SHARES, WIDE, CORES };

/* The rules that a scene has of its own, and those that all have by the environment, of which one is drawn for none. */
static unsigned rules_of(uint64_t seed)
{
    static const char *const names[] = {"SCENE_STOPS", "SCENE_WAITS", "SCENE_MOVES",
                                        "SCENE_AFTER", "SCENE_ASKS",  "SCENE_RELOADS",
                                        "SCENE_LATE",  "SCENE_TRIES", "SCENE_GANGS"};
    unsigned rules = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct random r = {.state = ~seed * 16 + i};
        bool has = random_between(&r, 0, 6) == 0 && 1u << i != WITH_TRIES;
        rules |= has || getenv(names[i]) ? 1u << i : 0;
    }
    bool has_roles = rules & WITH_GANGS && (seed % 2 == 0 || getenv("SCENE_ROLES"));
    return rules | (has_roles ? WITH_ROLES : 0);
}

/* `tails`: jobs may last longer than planned; else they may in every other scene, but where nodes are shared. */
static void play_with(uint64_t seed, enum kind kind, bool tails, unsigned rules)
{
    bool is_wide = kind == WIDE;
    memset(&run, 0, sizeof(run));
    run.naive.next_order = 1; /* as the core counts */
    run.seed = run.random.state = seed;
    run.naive.swept = true;
    /* One of them at a time: limits, levels, arrays. */
    run.limits = draw(0, 1);
    run.levels = !run.limits && draw(0, 1);
    run.shares = run.naive.shares = (draw(0, 2) == 0 || kind == SHARES || is_wide) && kind != CORES;
    run.cores = kind == CORES;
    run.core_random.state = ~seed * 13;
    run.is_wide = is_wide;
    run.usage = is_wide && seed % 2 > 0;
    run.accounts = run.shares && run.seed % 2 == 0;
    run.has_more_limits = run.limits && (seed % 7 == 0 || seed % 7 == 2 || seed % 7 == 3);
    run.deadlines = seed % 8 == 5 || seed % 16 == 4;
    run.deadline_random.state = ~seed * 3;
    run.naive.deadlines_first = run.deadlines && random_between(&run.deadline_random, 0, 1);
    run.classes = is_wide && seed % 4 < 3 && !run.deadlines;
    run.unknowns = !run.limits && !run.shares && run.seed % 3 == 0;
    run.blocks = (seed / 5) % 3 == 1;
    run.block_random.state = ~seed * 5;
    run.tails = ((seed / 19) % 2 == 1 && kind != CORES) || tails;
    run.tail_random.state = ~seed * 7;
    run.updates = (seed / 11) % 3 == 2;
    run.update_random.state = ~seed * 11;
    run.hold_random.state = ~seed * 17;
    run.holds = (seed / 8) % 7 == 2 || getenv("SCENE_HOLDS") != NULL; /* none of play_known */
    run.rules = rules;
    run.change_random.state = ~seed * 19;
    run.late_random.state = ~seed * 23;
    draw_machine();
    draw_queues();
    trace_queues();
    for (int step = 0; step < STEPS; step++) {
        play_ends();
        for (int64_t k = draw(0, 4); k > 0; k--)
            play_event();
        play_updates();
        play_holds();
        play_changes();
        play_blocks();
        play_pass();
        try_new();
        if (step % 3 == 0)
            ask_shares();
        if (step % 5 == 0 && run.shares)
            ask_turns();
        int64_t due = sched_next_time(run.sched), of_model = nq_next_time(&run.naive);
        CHECK(run.blocks ? due <= of_model : due == of_model);
        int64_t next = run.now + draw(1, 6);
        for (int i = 0; i < run.naive.jobs; i++)
            if (run.naive.job[i].state == NQ_RUNNING && run.end[i] < next)
                next = run.end[i];
        run.now = due < next ? due : next;
    }
    sched_destroy(run.sched);
    match_destroy(run.match);
}

static void play_drawn(uint64_t seed, enum kind kind, bool tails)
{
    struct random r = {.state = ~seed * 23};
    unsigned bounds = random_between(&r, 0, 6) == 0 || getenv("SCENE_BOUNDS") ? WITH_BOUNDS : 0;
    struct random leaving = {.state = ~seed * 29};
    unsigned leaves =
        random_between(&leaving, 0, 6) == 0 || getenv("SCENE_LEAVES") ? WITH_LEAVES : 0;
    play_with(seed, kind, tails, rules_of(seed) | bounds | leaves);
}

/* What new jobs are told that they would be promised is what they are. */
static void play_tries(void)
{
    static const enum kind kinds[] = {PLAIN, SHARES, WIDE, CORES};
    for (uint64_t i = 0; i < 24; i++)
        play_with(2000 + i, kinds[i % 4], i % 3 == 0, WITH_TRIES);
}

enum { OWN = 1 << 16 }; /* among rules: with those that its seed draws */

/* What single scenes have shown. */
static const struct {
    uint64_t seed;
    enum kind kind;
    bool tails;
    unsigned rules;
} known[] = {
    {200341, PLAIN, false, 0},  /* a member preempts, with which its array is full */
    {9101458, PLAIN, false, 0}, /* a member is lowered behind one that only its array keeps */
    /* With shares, a displaced job has its turn before it is the first of its queue, and those that limits keep have
     * theirs behind it.
     */
    {106679, PLAIN, false, 0},
    {201402, PLAIN, false, 0},
    /* The first of a queue has found no time, and another holder is passed on the way. */
    {901934, PLAIN, false, 0},
    {804773, SHARES, false, 0}, /* what was placed before in a replan is given back */
    /* One that had others preempted begins late, and may stay longer than was promised to others. */
    {329, WIDE, false, 0},
    /* What is promised becomes only expected by what the same pass promises to others before it. */
    {1219, PLAIN, true, 0},
    {1396, PLAIN, true, 0},
    {1724, PLAIN, true, 0}, /* and a promise sure, as one before it is lowered */
    {114, WIDE, true, 0},   /* or as it is to start now */
    /* What is only expected by one before it that begins with it; and what a job leaves that was stopped for a block which is
     * gone.
     */
    {623, WIDE, true, 0},
    {976, WIDE, true, 0},
    {30114, PLAIN, true, 0},
    {842, WIDE, true, 0}, /* who finds room without victims starts beside what others wait for */
    /* A limit in which the promised job counts for nothing; one that jobs have which begin with it; one that has kept a job for
     * what is only expected now.
     */
    {44, PLAIN, true, 0},
    {94, PLAIN, true, 0},
    {430, PLAIN, true, 0},
    {541, PLAIN, true, 0},
    /* A block that is over when it is set; one that comes in the way of a job that has others preempted. */
    {231, PLAIN, true, 0},
    {444, PLAIN, true, 0},
    /* What an array keeps when a promise is back that another member of it has started before; what a limit keeps from
     * preempting, and none does not.
     */
    {588, CORES, false, 0},
    {9178, SHARES, false, 0},
    {174, WIDE, false, 0},
    /* Nothing was given back, so no promise is judged again before the walk. */
    {7111, PLAIN, true, 0},
    /* One of those that have their turn in the sweep is kept by a limit, so that another one has the promise: both look again. */
    {1462, PLAIN, false, OWN | WITH_AFTER},
    /* A stopped job takes the promise that its queue has left, or that of a limit which one behind it has, in the sweep. */
    {600633, PLAIN, false, 0},
    {730068, PLAIN, false, OWN | WITH_STOPS | WITH_WAITS},
    /* What a limit keeps is promised a time, and is a holder in the same walk: it waits for one that is stopped for another. */
    {41182, WIDE, false, OWN | WITH_RELOADS},
    {9400847, CORES, true, OWN | WITH_WAITS | WITH_MOVES | WITH_RELOADS}, /* without shares */
    {600314, WIDE, false, OWN | WITH_RELOADS | WITH_MOVES | WITH_AFTER},  /* the walk was there */
    /* Two jobs are due whose victims have ended, and a limit has room for one of them while others are being stopped. */
    {9200427, PLAIN, true, OWN | WITH_RELOADS},
    /* What a limit has refused is so still when only later times were looked at since. */
    {720094, PLAIN, false, OWN | WITH_RELOADS},
    /* Jobs of one priority take turns behind a walk that had left out one of their queues when it made room for a holder. */
    {10292, PLAIN, true, OWN | WITH_ASKS},
    /* Of jobs of two queues with classes, one of which has the longest first, what is held counts before that. */
    {10993, WIDE, true, OWN | WITH_AFTER | WITH_ASKS},
    /* Reservations are chosen beside what others are promised on the same nodes, or stay and choose others there. */
    {258, CORES, true, 0},
    {30050, CORES, true, 0},
    {31060, CORES, true, 0},
    {31612, CORES, true, 0},
    {5, CORES, true, 0},
    {5045, CORES, true, 0}, /* who is rejected and held nothing gives nothing back */
    /* a limit counts what it would choose instead as if no block stopped it */
    {30680, CORES, true, 0},
    {600249, CORES, true, 0}, /* who is gone is displaced no more */
    {5025, CORES, true,
     OWN | WITH_TRIES}, /* who is displaced chooses of what those behind it had */
    /* limits leave out who waits for victims where a block has come in the way */
    {2121, CORES, true, 0},
    /* The next member goes before no holder, but before displaced ones that are to hold something. */
    {806105, PLAIN, false, OWN | WITH_MOVES},
    /* The last member has had others stopped as those before it, and has lost its promise. */
    {828062, WIDE, false, OWN | WITH_MOVES | WITH_RELOADS | WITH_STOPS | WITH_LEAVES},
    /* Those that wait are of one level once the first of a queue above has been moved. */
    {9100667, CORES, false, 0},
    {9603398, CORES, false, OWN | WITH_ASKS},
    /* One whose turn it is not, right before the first that has one, keeps nobody before that from a promise. */
    {9203858, PLAIN, true, OWN | WITH_STOPS},
    /* A new block has the number of one that is gone: the workers of classes are counted anew. */
    {9101198, WIDE, false, OWN},
    /* A member is lowered whose array was put off, and has been raised since. */
    {50999, PLAIN, false, OWN | WITH_LATE},
    /* Nobody waits for one whose limit is over where no queue has others stopped any more. */
    {80261, SHARES, true, OWN | WITH_LATE | WITH_RELOADS | WITH_AFTER},
    /* Whom a limit lets go on looks for victims, too, where it counts those who are stopped twice. */
    {9700026, WIDE, false, OWN | WITH_MOVES | WITH_RELOADS},
    /* The next member of a gang that starts by the promise of a limit goes on for the promise that is left. */
    {92, PLAIN, false, OWN | WITH_GANGS},
    /* What is left of one that a limit has let go on, and that starts at once, goes on for the promise yet. */
    {850510, WIDE, false, OWN | WITH_GANGS | WITH_ROLES | WITH_MOVES},
    /* What is left of a gang asks for what others before it do that have no room; or has others stopped. */
    {2162, CORES, false, OWN | WITH_GANGS},
    {277, CORES, false, OWN | WITH_GANGS},
    /* Another configuration has no depth any more for a job that was beyond that. */
    {77100013, PLAIN, false, OWN},
    /* A new job looks once more for no reason but that the one before it in its slot did. */
    {2123, CORES, false, OWN | WITH_GANGS},
    /* A member of a gang that has failed, whose limit was over, may last longer. */
    {7710044, CORES, false, OWN | WITH_GANGS | WITH_LATE},
    /* The first of a queue that promises nothing is one of a higher level in the pass in which its gang starts. */
    {7710282, CORES, false, OWN | WITH_GANGS | WITH_LATE},
    /* A job is stopped for another one, and the configuration changes before it waits again: those that limits have promised
     * a time are displaced by that, also behind it.
     */
    {78100067, PLAIN, false, OWN | WITH_RELOADS},
    {831000048, PLAIN, false, OWN | WITH_RELOADS},
    {842000116, PLAIN, false, OWN | WITH_RELOADS},
    {600066, WIDE, false, OWN | WITH_RELOADS | WITH_MOVES | WITH_AFTER}, /* an array among these */
    {10002, CORES, false, OWN | WITH_BOUNDS},
    /* Of a gang of several roles that starts as it comes all that are left are new, in their order, where a limit keeps them, too;
     * and those of one that was put off are not.
     */
    {128, CORES, false, OWN | WITH_GANGS | WITH_ROLES},
    {74, CORES, false, OWN | WITH_GANGS | WITH_ROLES},
    {200, CORES, false, OWN | WITH_GANGS | WITH_ROLES},
    /* which gives nobody before them another turn */
    {77034, CORES, false, OWN | WITH_GANGS | WITH_ROLES | WITH_RELOADS | WITH_MOVES},
    /* nor are they passed over where others ask for as much */
    {500160, WIDE, false, OWN | WITH_GANGS | WITH_ROLES | WITH_LATE},
    /* A block that comes over all that one role has does not come to a member of the other. */
    {1119, CORES, true, OWN | WITH_GANGS | WITH_ROLES | WITH_RELOADS},
    /* A gang of several roles asks for all its members, and beside classes counts as many workers as these while it is promised
     * a time.
     */
    {1022, SHARES, false, OWN | WITH_GANGS | WITH_ROLES},
    {1034, SHARES, false, OWN | WITH_GANGS | WITH_ROLES},
    {809062, WIDE, false, OWN | WITH_AFTER},
    {112, WIDE, false, OWN | WITH_GANGS},
    {5096, WIDE, true, OWN | WITH_GANGS},
    {5116, WIDE, true, OWN | WITH_GANGS},
    /* Where a limit keeps what waits of an array, what is held of it counts, too. */
    {300065, WIDE, false, OWN},
    /* also what is held by the time at which the limit chooses */
    {600080, WIDE, false, OWN | WITH_GANGS | WITH_ROLES | WITH_LATE},
    {500444, WIDE, false, OWN | WITH_GANGS | WITH_ROLES | WITH_LATE},
    /* but not while its reservation, which something has come in the way of, is placed anew */
    {700817, WIDE, false, OWN | WITH_GANGS | WITH_LATE | WITH_LEAVES},
    /* Nothing that waits of an array has its turn behind a member that was moved, while its own queue is stopped. */
    {710043, CORES, false,
     OWN | WITH_GANGS | WITH_LATE | WITH_STOPS | WITH_MOVES | WITH_RELOADS | WITH_BOUNDS},
    /* What others are promised is only expected for a while, by what the new job is told, and sure again in the same pass. */
    {78008, SHARES, false, OWN | WITH_TRIES | WITH_LATE},
    /* In a walk somebody waits no more, as one has started, when a member is rejected: its turn is in the next walk. */
    {1100210, SHARES, false, OWN | WITH_AFTER | WITH_RELOADS | WITH_STOPS},
};

static void play_known(void)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        unsigned rules = known[i].rules & ~(unsigned)OWN;
        if (known[i].rules & OWN)
            rules |= rules_of(known[i].seed);
        play_with(known[i].seed, known[i].kind, known[i].tails, rules);
    }
}

static void test_naive(void **state)
{
    const char *from = getenv("SCENE_SEED"), *n = getenv("SCENES");
    uint64_t seed = from ? (uint64_t)strtoull(from, NULL, 10) : 1u;
    int runs = n ? atoi(n) : RANDOM_ROUNDS(RUNS);
    bool shares = getenv("SCENE_SHARES") != NULL, tails = getenv("SCENE_TAILS") != NULL;
    bool cores = getenv("SCENE_CORES") != NULL;
    (void)state;
    for (int i = 0; i < runs && !cores; i++)
        play_drawn(seed + (uint64_t)i, shares ? SHARES : PLAIN, tails);
    for (int i = 0; i < runs / 2 && !cores; i++)
        play_drawn(seed + (uint64_t)i, WIDE, tails);
    for (int i = 0; i < (cores ? runs : runs / 2); i++)
        play_drawn(seed + (uint64_t)i, CORES, tails);
    if (!from) {
        play_known();
        play_tries();
    }
    print_message("%" PRIu64 " decisions, %" PRIu64 " preempted, %" PRIu64
                  " times as many of an array as may, %" PRIu64
                  " turns asked for in passes, %" PRIu64 " blocks, %" PRIu64 " rejected, %" PRIu64
                  " only expected, %" PRIu64 " overrun, %" PRIu64 " stopped for blocks, %" PRIu64
                  " updated, %" PRIu64 " held, %" PRIu64 " queues stopped, %" PRIu64
                  " later, %" PRIu64 " wait for others, %" PRIu64 " moved, %" PRIu64
                  " ask for something else, %" PRIu64 " reloads, %" PRIu64
                  " wait for one out of time, %" PRIu64 " of %" PRIu64
                  " promises foretold, %" PRIu64 " other bounds of arrays, %" PRIu64
                  " gangs, %" PRIu64 " of several roles, %" PRIu64 " stopped by their shell\n",
                  counted.decisions, counted.preempted, counted.full, counted.asked_meanwhile,
                  counted.blocks, counted.rejected, counted.expected, counted.overrun,
                  counted.stopped, counted.updated, counted.set_aside, counted.queues_stopped,
                  counted.begins, counted.waits, counted.moved, counted.asked_for_other,
                  counted.reloads, counted.late, counted.told, counted.told + counted.untold,
                  counted.bounds, counted.gangs, counted.roles, counted.leaving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
