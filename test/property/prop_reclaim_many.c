/* One job has many others stopped by shares: two queues fill a machine with small jobs, and so have more than they deserve; then
 * jobs come to other queues that need up to more than half of it. Who is stopped for each is predicted by a plain choice in the
 * words of lots.h (reclaim_choice.c), where nobody is promised a time; else laws hold: each of them is stopped by a rule, as its
 * queue, or user, has more, and none could stay. Each job for which others are stopped starts when these have left. The
 * same events give the same decisions. SCENES=N plays as many, SCENE_SEED=S from that one on, SCENE_SHOW=1 tells what happens,
 * SCENE_HASHES=1 prints a number for each scene that stands for all that was decided in it.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "reclaim_scene.h"

enum { SCENES = 200, PAIRS = 60000, SLICES = 40000, SLICE = 7 };

static struct many_scene scene;

#define CHECK(condition) CHECK_IN(scene, condition)

/* A holder waits for the end of a unit. */
static struct pair {
    sched_job_t holder;
    int unit;
} pair[PAIRS];
static int pairs;

static int64_t draw(int64_t low, int64_t high)
{
    return many_draw(&scene, low, high);
}

static int job_of(sched_job_t handle)
{
    struct sched_annotation a;
    CHECK(sched_annotate(scene.world.sched, handle, &a) == 0);
    return (int)a.tag;
}

static int unit_of(const struct sched_decision *d)
{
    const struct many_job *j = &scene.job[d->tag];
    return j->first + (j->members > 1 ? (int)d->member : 0);
}

/* ---- What is held ---- */

/* Ids behind a type: "7", or "[0-2,5]". Each is added to a list, of which there is room for so many. */
static int read_ids(const char **text, int *ids, int room)
{
    int n = 0;
    bool list = **text == '[';
    *text += list;
    do {
        char *end;
        long first = strtol(*text, &end, 10),
             last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (; first <= last; first++) {
            CHECK(n < room);
            ids[n++] = (int)first;
        }
        *text = end + (list && (*end == ',' || *end == ']'));
    } while (list && (*text)[-1] == ',');
    return n;
}

/* The cores of what a job holds, "node[0-1]/core[0-3],node4", by node. */
static void read_held(sched_job_t handle, int *on)
{
    const char *text;
    int nodes[MANY_NODES], cores[100];
    CHECK(sched_resources(scene.world.sched, handle, &text) == 0);
    memset(on, 0, sizeof(int) * MANY_NODES);
    while (*text) {
        CHECK(strncmp(text, "node", 4) == 0);
        text += 4;
        int n = read_ids(&text, nodes, MANY_NODES);
        bool whole = strncmp(text, "/core", 5) != 0;
        text += whole ? 0 : 5;
        int each = whole ? scene.cores : read_ids(&text, cores, 100);
        for (int i = 0; i < n; i++)
            on[nodes[i]] += each;
        CHECK(*text == ',' || *text == '\0');
        text += *text == ',';
    }
}

static int sum(const int *on)
{
    int cores = 0;
    for (int i = 0; i < scene.nodes; i++)
        cores += on[i];
    return cores;
}

/* What starts in the pass holds what it does when that is over. */
static void read_starts(void)
{
    for (size_t i = 0; i < scene.world.n; i++) {
        const struct sched_decision *d = &scene.world.decision[i];
        if (d->kind != SCHED_START)
            continue;
        read_held(d->job, scene.unit[unit_of(d)].on);
        CHECK(sum(scene.unit[unit_of(d)].on) == many_asks(&scene, &scene.job[d->tag]));
    }
}

/* What a job holds for which others are told to stop, also if it has started behind that. */
static void read_hold(struct many_holder *h, size_t from)
{
    const struct many_job *j = &scene.job[h->job];
    int started = 0;
    memset(h->on, 0, sizeof(h->on));
    for (size_t i = from; i < scene.world.n && started < h->units; i++) {
        const struct sched_decision *d = &scene.world.decision[i];
        if (d->kind != SCHED_START || (int)d->tag != h->job ||
            (h->units == 1 && d->job != h->handle))
            continue;
        started++;
        for (int node = 0; node < scene.nodes; node++)
            h->on[node] += scene.unit[unit_of(d)].on[node];
    }
    if (started == 0)
        read_held(h->handle, h->on);
    CHECK(sum(h->on) == many_asks(&scene, j) * h->units);
}

/* It holds nothing that others have who stay. */
static void check_hold(const struct many_holder *h, const bool *told)
{
    for (int node = 0; node < scene.nodes; node++) {
        int held = h->on[node];
        for (int i = 0; i < scene.units; i++)
            held += scene.unit[i].state == MANY_RUNS && !told[i] ? scene.unit[i].on[node] : 0;
        for (int i = 0; i < scene.holders; i++)
            held += scene.holder[i].on[node];
        CHECK(held <= scene.cores);
    }
}

/* ---- Decisions ---- */

static bool is_of_choice(const struct sched_decision *d)
{
    return d->kind == SCHED_PREEMPT || d->kind == SCHED_AWAIT;
}

static uint64_t beside, surplus; /* choices by another rule; for members beyond their gang's min */
static uint64_t passed_by; /* holders that were to start, but for those who go before them again */

/* Whether a job, or its gang, has not what it needs to start. */
static bool lacks(int job)
{
    const struct many_job *j = &scene.job[job];
    bool runs = false;
    for (int m = 0; m < j->members; m++)
        runs |= scene.unit[j->first + m].state == MANY_RUNS;
    return !runs && !many_holds(&scene, job);
}

/* A holder that a limit has kept from its start waits for more. Returns whether it is one. */
static bool waits_for_more(sched_job_t handle)
{
    bool waits = false;
    for (int i = 0; i < scene.holders; i++)
        waits |= scene.holder[i].handle == handle;
    return waits;
}

/* Others are stopped, or waited for, for a job. Returns the decision behind those about that. */
static size_t check_stops(size_t from)
{
    static bool told[MANY_UNITS];
    const struct sched_decision *d = scene.world.decision;
    int number = job_of(d[from].other);
    const struct many_job *j = &scene.job[number];
    struct many_holder h = {d[from].other, number, lacks(number) ? j->min : 1, {0}};
    size_t i = from;
    bool by_lots = !scene.is_mixed, more = waits_for_more(h.handle);
    CHECK(!more || scene.has_limits);
    memset(told, 0, sizeof(told));
    for (; i < scene.world.n && is_of_choice(&d[i]) && d[i].other == d[from].other; i++) {
        int unit = unit_of(&d[i]);
        CHECK(pairs < PAIRS);
        pair[pairs++] = (struct pair){h.handle, unit};
        if (d[i].kind == SCHED_AWAIT) {
            CHECK(scene.unit[unit].state == MANY_STOPS || told[unit]);
            many_seen.awaited++;
            continue;
        }
        CHECK(!more && scene.unit[unit].state == MANY_RUNS && !told[unit]);
        told[unit] = true;
        bool own = scene.job[d[i].tag].queue == j->queue;
        by_lots |= d[i].why != SCHED_MAY_PREEMPTIBLE;
        if (d[i].why != SCHED_MAY_PREEMPTIBLE)
            CHECK(d[i].why == (!own                                 ? SCHED_MAY_SHARE
                               : scene.queue[j->queue].takes_richer ? SCHED_MAY_RICHER
                                                                    : SCHED_MAY_PRIORITY));
        CHECK(d[i].requeue == !scene.queue[scene.job[d[i].tag].queue].is_cancelled);
    }
    if (more)
        return i;
    if (by_lots && lacks(number))
        many_check_choice(&scene, number, told);
    beside += !by_lots;
    surplus += by_lots && !lacks(number);
    for (int k = 0; k < scene.units; k++)
        CHECK(!told[k] || !by_lots || lacks(number));
    read_hold(&h, i);
    check_hold(&h, told);
    scene.holder[scene.holders++] = h;
    for (size_t k = from; k < i; k++)
        if (d[k].kind == SCHED_PREEMPT) {
            struct many_unit *u = &scene.unit[unit_of(&d[k])];
            u->state = MANY_STOPS;
            u->requeue = d[k].requeue;
            u->leaves = scene.now + (scene.lags ? draw(0, 4) : 0);
        }
    return i;
}

static void drop(int holder)
{
    int n = 0;
    for (int i = 0; i < pairs; i++)
        if (pair[i].holder != scene.holder[holder].handle)
            pair[n++] = pair[i];
    pairs = n;
    scene.holder[holder] = scene.holder[--scene.holders];
}

/* A holder has started: it by its handle, else what starts together of its gang. */
static void drop_holder(const struct sched_decision *d)
{
    int found = -1;
    for (int i = 0; i < scene.holders; i++) {
        const struct many_holder *h = &scene.holder[i];
        if (h->handle == d->job || (h->job == (int)d->tag && h->units > 1 && found < 0))
            found = i;
    }
    if (found >= 0)
        drop(found);
}

static void start(const struct sched_decision *d)
{
    struct many_unit *u = &scene.unit[unit_of(d)];
    CHECK(u->state == MANY_WAITS);
    u->state = MANY_RUNS;
    u->at = scene.now;
    u->handle = d->job;
    scene.job[d->tag].has_run = true;
    drop_holder(d);
}

static void reject(const struct sched_decision *d)
{
    struct many_job *j = &scene.job[d->tag];
    CHECK(scene.has_limits && d->reason->kind == SCHED_REASON_LIMIT);
    for (int m = 0; m < j->members; m++)
        scene.unit[j->first + m].state = MANY_OVER;
}

static uint64_t
    acted; /* a digest of all but promises and reasons, which a pass in slices tells at other points */

static void digest(const struct sched_decision *d)
{
    uint64_t part[] = {(uint64_t)d->kind, d->tag,
                       d->member,         (uint64_t)d->at,
                       (uint64_t)d->job,  is_of_choice(d) ? (uint64_t)d->other : 0};
    if (d->kind == SCHED_WAIT) /* which may be told again where less is kept (base/bounds.h) */
        return;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        scene.digest = (scene.digest ^ part[i]) * UINT64_C(1099511628211);
        if (d->kind != SCHED_RESERVE)
            acted = (acted ^ part[i]) * UINT64_C(1099511628211);
    }
}

/* The jobs that wait, by whether something else than resources keeps them. */
static void note_blocked(void)
{
    for (int i = 0; i < scene.jobs; i++) {
        struct many_job *j = &scene.job[i];
        j->was_blocked = j->is_blocked;
        j->is_blocked = false;
        if (scene.has_limits && j->handle >= 0)
            j->is_blocked = sched_state(scene.world.sched, j->handle) == SCHED_BLOCKED;
    }
}

/* Whether a job of the same queue that was stopped waits again now, in its old place before this one. */
static bool is_passed(int job)
{
    const struct many_job *j = &scene.job[job];
    bool passed = false;
    for (int i = 0; i < scene.units; i++) {
        const struct many_unit *u = &scene.unit[i];
        const struct many_job *other = &scene.job[u->job];
        passed |=
            u->is_back && other->queue == j->queue &&
            (other->priority > j->priority || (other->priority == j->priority && u->job < job));
    }
    return passed;
}

static bool starts_now(int job)
{
    bool starts = false;
    for (size_t i = 0; i < scene.world.n; i++)
        starts |=
            scene.world.decision[i].kind == SCHED_START && (int)scene.world.decision[i].tag == job;
    return starts;
}

/* A holder whose queue's limit is taken by one that goes before it again is kept by that, and others have what it held. */
static void drop_passed(void)
{
    for (int i = scene.holders - 1; i >= 0; i--) {
        const struct many_holder *h = &scene.holder[i];
        if (sched_state(scene.world.sched, h->handle) != SCHED_BLOCKED || starts_now(h->job))
            continue;
        CHECK(scene.has_limits && is_passed(h->job));
        passed_by++;
        drop(i);
    }
}

/* Each holder whose victims had all left before the pass has started. */
static void check_started(void)
{
    for (int i = 0; i < scene.holders; i++) {
        bool waits = false;
        for (int k = 0; k < pairs && !waits; k++)
            waits = pair[k].holder == scene.holder[i].handle;
        CHECK(waits);
    }
}

static void show_shares(void)
{
    struct sched_share_report r;
    if (!getenv("SCENE_SHOW"))
        return;
    CHECK(sched_shares_now(scene.world.sched, scene.now, &r) == 0);
    for (size_t i = 0; i < r.n_nodes; i++)
        print_message("%d: %s: deserved %d received %d running %d demand %d, open %d promised %d\n",
                      (int)scene.now, r.nodes[i].name, (int)r.nodes[i].deserved.of[0],
                      (int)r.nodes[i].received.of[0], (int)r.nodes[i].running.of[0],
                      (int)r.nodes[i].demand.of[0], (int)r.nodes[i].n_open,
                      (int)r.nodes[i].n_promised);
}

static void show_decisions(void)
{
    show_shares();
    static const char *const kinds[] = {"start",   "reserve", "reject", "wait",
                                        "preempt", "stop",    "await"};
    for (size_t i = 0; i < scene.world.n && getenv("SCENE_SHOW"); i++) {
        const struct sched_decision *d = &scene.world.decision[i];
        print_message("%d: %s job %d.%d (handle %" PRIx64 ", other %" PRIx64 "), at %d, why %d\n",
                      (int)scene.now, kinds[d->kind], (int)d->tag, (int)d->member, (uint64_t)d->job,
                      is_of_choice(d) ? (uint64_t)d->other : 0, (int)d->at, (int)d->why);
    }
}

static bool in_slices; /* each pass is cut off again and again, and goes on */

/* A pass in slices: all that they decide is listed as if it was one. */
static void pass_in_slices(void)
{
    static struct sched_decision all[SLICES];
    static struct sched_reason why[SLICES];
    const struct sched_decision *d;
    size_t n, sum = 0;
    int rc;
    do {
        rc = sched_pass_some(scene.world.sched, scene.now, SLICE, &d, &n);
        CHECK(rc >= 0 && sum + n <= SLICES);
        for (size_t i = 0; i < n; i++, sum++) {
            all[sum] = d[i];
            if (d[i].reason) {
                why[sum] = *d[i].reason;
                all[sum].reason = &why[sum];
            }
        }
    } while (rc == 1);
    CHECK(sched_check(scene.world.sched));
    scene.world.decision = all;
    scene.world.n = sum;
}

/* Returns whether somebody starts or is stopped. */
static bool pass(void)
{
    bool any = false;
    if (in_slices)
        pass_in_slices();
    else
        world_pass(&scene.world, scene.now);
    show_decisions();
    note_blocked();
    drop_passed();
    read_starts();
    for (size_t i = 0; i < scene.world.n;) {
        const struct sched_decision *d = &scene.world.decision[i];
        any |= d->kind != SCHED_WAIT && d->kind != SCHED_RESERVE;
        CHECK(d->kind != SCHED_STOP);
        if (is_of_choice(d)) {
            size_t end = check_stops(i);
            for (; i < end; i++)
                digest(&scene.world.decision[i]);
            continue;
        }
        if (d->kind == SCHED_START)
            start(d);
        if (d->kind == SCHED_REJECT)
            reject(d);
        scene.any_promised |= d->kind == SCHED_RESERVE;
        digest(d);
        i++;
    }
    check_started();
    for (int i = 0; i < scene.units; i++)
        scene.unit[i].is_back = false;
    return any;
}

/* ---- Events ---- */

/* Those that are being stopped leave at their times. */
static void leave(void)
{
    for (int i = 0; i < scene.units; i++) {
        struct many_unit *u = &scene.unit[i];
        if (u->state != MANY_STOPS || u->leaves > scene.now)
            continue;
        if (u->requeue)
            CHECK(sched_requeue(scene.world.sched, scene.now, u->handle) == 0);
        else
            CHECK(sched_finish(scene.world.sched, scene.now, u->handle, false) == 0);
        u->state = u->requeue ? MANY_WAITS : MANY_OVER;
        u->is_back = u->requeue;
        int n = 0;
        for (int k = 0; k < pairs; k++)
            if (pair[k].unit != i)
                pair[n++] = pair[k];
        pairs = n;
    }
}

static bool any_stops(void)
{
    bool any = false;
    for (int i = 0; i < scene.units; i++)
        any |= scene.unit[i].state == MANY_STOPS;
    return any;
}

/* Whether none of its units has started, and none is to. */
static bool waits_whole(const struct many_job *j)
{
    bool waits = !many_holds(&scene, (int)(j - scene.job));
    for (int m = 0; m < j->members; m++)
        waits &= scene.unit[j->first + m].state == MANY_WAITS;
    return waits;
}

static bool waits_in_part(const struct many_job *j)
{
    bool waits = false;
    for (int m = 0; m < j->members; m++)
        waits |= scene.unit[j->first + m].state == MANY_WAITS;
    return waits && !many_holds(&scene, (int)(j - scene.job));
}

/* Nobody was stopped, so the first job of each queue had nobody to stop. */
static void check_vain(void)
{
    for (int q = 0; q < scene.queues; q++) {
        int first = -1;
        for (int i = 0; i < scene.jobs; i++)
            if (scene.job[i].queue == q && waits_in_part(&scene.job[i]) &&
                (first < 0 || scene.job[i].priority > scene.job[first].priority))
                first = i;
        if (first >= 0 && waits_whole(&scene.job[first]) && !scene.queue[q].takes_none &&
            !scene.queue[q].takes_richer) /* there another user may be the first */
            many_check_vain(&scene, first);
    }
}

static void settle(void)
{
    if (!pass())
        check_vain();
    while (any_stops()) {
        scene.now += scene.lags;
        leave();
        if (scene.lags && draw(0, 5) == 0)
            many_claim(&scene);
        if (!pass())
            check_vain();
    }
}

static void cancel_some(void)
{
    for (int i = 0; i < scene.jobs; i++) {
        struct many_job *j = &scene.job[i];
        if (!j->is_claimant || !waits_whole(j) || draw(0, 1))
            continue;
        if (j->has_run) /* its members have handles of their own */
            continue;
        CHECK(sched_cancel(scene.world.sched, scene.now, j->handle) == 0);
        j->handle = -1;
        for (int m = 0; m < j->members; m++)
            scene.unit[j->first + m].state = MANY_OVER;
    }
}

static void finish_some(void)
{
    for (int i = 0; i < scene.units; i++) {
        struct many_unit *u = &scene.unit[i];
        if (u->state != MANY_RUNS || scene.job[u->job].members > 1 || draw(0, 19) > 0)
            continue;
        CHECK(sched_finish(scene.world.sched, scene.now, u->handle, true) == 0);
        u->state = MANY_OVER;
        scene.job[u->job].handle = -1;
    }
}

/* A few end at once, or begin to end by themselves, which takes a while. */
static void end_few(void)
{
    for (int n = (int)draw(1, 4), tries = 40; n > 0 && tries > 0; tries--) {
        int i = (int)draw(0, scene.units - 1);
        struct many_unit *u = &scene.unit[i];
        if (u->state != MANY_RUNS || scene.job[u->job].members > 1)
            continue;
        n--;
        if (draw(0, 3) == 0) {
            CHECK(sched_leave(scene.world.sched, scene.now, u->handle) == 0);
            u->state = MANY_STOPS;
            u->requeue = false;
            u->leaves = scene.now + (scene.lags ? draw(0, 4) : 0);
            continue;
        }
        CHECK(sched_finish(scene.world.sched, scene.now, u->handle, true) == 0);
        u->state = MANY_OVER;
        scene.job[u->job].handle = -1;
    }
}

/* Many like jobs come, and then little happens at a time, also with no time between. */
static void crowd(void)
{
    many_crowd(&scene, (int)draw(5, 40));
    settle();
    for (int n = (int)draw(3, 8); n > 0; n--) {
        scene.now += draw(0, 2);
        switch (draw(0, 5)) {
        case 0:
            many_change(&scene);
            break;
        case 1:
            many_crowd(&scene, (int)draw(1, 3));
            break;
        case 2:
            break; /* time passes */
        default:
            end_few();
        }
        settle();
    }
}

/* Returns when the last ones have come. */
static int64_t fill(void)
{
    int64_t last = 0;
    int all = scene.nodes * scene.cores, batches = (int)draw(1, 4);
    for (int i = 0; i < batches; i++) {
        last = scene.now;
        many_fill(&scene, scene.fills[draw(0, 2) == 0], all / batches + 1);
        settle();
        scene.now += draw(0, 4);
    }
    return last;
}

/* Returns a digest of all decisions. */
static uint64_t play(uint64_t seed)
{
    many_open(&scene, seed);
    pairs = 0;
    int64_t filled = fill();
    for (int round = (int)draw(2, 5); round > 0; round--) {
        /* Some have done as much as others that have half the cores and have run twice as long. */
        scene.now = scene.alike && scene.now < filled * 2 ? filled * 2 : scene.now + draw(1, 30);
        if (draw(0, 2) == 0)
            finish_some();
        for (int n = scene.is_tight ? 1 : (int)draw(1, 4); n > 0; n--)
            many_claim(&scene);
        settle();
        scene.now += draw(1, 3);
        settle();
        if (scene.has_crowds)
            crowd();
        cancel_some();
    }
    world_close(&scene.world);
    return scene.digest;
}

static uint64_t scenes(void)
{
    const char *n = getenv("SCENES");
    return n ? strtoull(n, NULL, 10) : RANDOM_ROUNDS(SCENES);
}

/* The first one's seed. */
static uint64_t first_seed(void)
{
    const char *from = getenv("SCENE_SEED");
    return from ? strtoull(from, NULL, 10) : 1;
}

static void the_least_important_that_are_enough_go(void **state)
{
    (void)state;
    const struct many_seen *m = &many_seen;
    for (uint64_t i = 0; i < scenes(); i++) {
        uint64_t done = play(first_seed() + i);
        if (getenv("SCENE_HASHES"))
            printf("scene %" PRIu64 ": %016" PRIx64 "\n", first_seed() + i, done);
    }
    print_message("%" PRIu64 " choices, %" PRIu64 " predicted (%" PRIu64 " with limits, %" PRIu64
                  " by nodes), %" PRIu64 " by another rule, %" PRIu64
                  " for surplus members; %" PRIu64 " in vain; %" PRIu64 " passed by\n",
                  m->choices, m->exact, m->limited, m->by_nodes, beside, surplus, m->vain,
                  passed_by);
    print_message("took 2: %" PRIu64 ", 16: %" PRIu64 ", 64: %" PRIu64 "; spared %" PRIu64
                  ", refused %" PRIu64 ", again %" PRIu64 " (%" PRIu64 ", %" PRIu64
                  "); spare %" PRIu64 ", whole %" PRIu64 ", lower %" PRIu64 ", richer %" PRIu64
                  ", awaited %" PRIu64 "\n",
                  m->took[0], m->took[1], m->took[2], m->spared, m->refused, m->again, m->second,
                  m->others, m->spare, m->whole, m->lower, m->richer, m->awaited);
    if (scenes() < RANDOM_ROUNDS(SCENES))
        return;
    assert_true(m->exact > scenes() && m->limited > scenes() / 2 && m->vain > scenes());
    assert_true(m->took[0] > scenes() && m->took[1] > scenes() / 4 && m->took[2] > scenes() / 40);
    assert_true(m->spared > scenes() / 2 && m->refused > scenes() / 2 && m->again > 0);
    assert_true(m->by_nodes > scenes() && m->spare > 0 && m->whole > 0 && m->lower > 0 &&
                m->richer > 0);
    assert_true(m->awaited > 0 && beside > 0);
}

static void the_same_again_gives_the_same(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scenes() / 8; i++) {
        uint64_t before = play(first_seed() + i);
        CHECK(play(first_seed() + i) == before);
    }
}

static void a_pass_that_is_cut_off_decides_the_same(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scenes() / 10; i++) {
        acted = 0;
        play(first_seed() + i);
        uint64_t before = acted;
        acted = 0;
        in_slices = true;
        play(first_seed() + i);
        CHECK(acted == before);
        in_slices = false;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_least_important_that_are_enough_go),
                                       cmocka_unit_test(the_same_again_gives_the_same),
                                       cmocka_unit_test(a_pass_that_is_cut_off_decides_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
