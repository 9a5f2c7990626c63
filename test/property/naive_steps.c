/* What happens in a scene. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "berth/sched_admin.h"
#include "naive_blocks.h"

void split_member(int job)
{
    struct nq_job *j = &run.naive.job[job];
    int next = nq_next_together(&run.naive, job);
    if (j->array < 0 || j->state == NQ_GONE)
        return;
    /* The last one has the array's handle yet, also when it waits for its victims. */
    CHECK(sched_split(run.sched, run.now, handle_of(job), member_of(job)) == handle_of(job));
    if (!j->together)
        return;
    if (j->state == NQ_HELD && next >= 0) {
        run.promised[next] = run.promised[job];
        run.expected[next] = run.expected[job];
        run.promised[job] = -1;
    }
    nq_split(&run.naive, job);
}

/* Another priority, of all that wait together. */
static void prioritize(int job)
{
    int64_t priority = draw(-3, 3);
    CHECK(sched_prioritize(run.sched, run.now, handle_of(job), priority) == 0);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld prioritize %d to %ld\n", (long)run.now, job, (long)priority);
    if (priority == run.naive.job[job].priority)
        return;
    for (int i = nq_next_together(&run.naive, job); i >= 0; i = nq_next_together(&run.naive, i))
        run.naive.job[i].priority = priority;
    nq_prioritize(&run.naive, job, priority);
}

void play_event(void)
{
    int64_t what = draw(0, 9);
    if ((what < 6 || run.naive.jobs == 0) && run.naive.jobs < NQ_JOBS) {
        play_submit();
        return;
    }
    int job = (int)draw(0, run.naive.jobs - 1);
    struct nq_job *j = &run.naive.job[job];
    if (what == 9) {
        int node = (int)draw(0, run.naive.nodes - 1);
        bool down = draw(0, 2) == 0;
        char name[16];
        snprintf(name, sizeof(name), "node%d", node);
        CHECK(sched_set_status(run.sched, run.now, name, down ? draw_down() : RESOURCE_UP, NULL) ==
              0);
        nq_status(&run.naive, node, down);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld node %d %s\n", (long)run.now, node, down ? "down" : "up");
    } else if (j->min > 0 && (what == 8 || j->state == NQ_BEHIND)) {
        return; /* gangs stay whole */
    } else if (what == 8 && j->state != NQ_GONE) {
        split_member(job);
        CHECK(sched_cancel(run.sched, run.now, handle_of(job)) == 0);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld cancel %d\n", (long)run.now, job);
        nq_cancel(&run.naive, job);
    } else if (j->state == NQ_OPEN || j->state == NQ_HELD || j->state == NQ_BEHIND ||
               j->state == NQ_LIMITED || j->state == NQ_FULL ||
               (j->state == NQ_ASIDE && run.rules & WITH_WAITS)) {
        if (j->state == NQ_BEHIND || (draw(0, 1) && j->min == 0))
            split_member(job);
        prioritize(job);
    }
}

static int64_t draw_update(int64_t low, int64_t high)
{
    return random_between(&run.update_random, low, high);
}

/* A limit is no estimate only where the scene has such jobs. */
static int64_t draw_limit(int64_t estimate)
{
    int64_t kind = run.tails ? draw_update(0, 3) : 0;
    return kind == 3 ? SCHED_UNLIMITED : kind == 2 ? estimate + draw_update(1, 30) : estimate;
}

/* Whether a job of such an estimate and limit could start some day; one that runs goes on. */
static bool could_ever_last(int job, int64_t estimate, int64_t limit)
{
    struct nq_job *j = &run.naive.job[job], was = *j;
    run.naive.now = run.now;
    j->duration = estimate;
    j->limit = limit;
    bool is = j->state == NQ_RUNNING || nr_could_ever(&run.naive, job);
    *j = was;
    return is;
}

static void update_times(int job)
{
    struct nq_job *j = &run.naive.job[job];
    int64_t estimate = draw_update(1, 20), limit = draw_limit(estimate);
    bool may = could_ever_last(job, estimate, limit);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld update %d estimate %ld limit %ld%s\n", (long)run.now, job,
                (long)estimate, (long)(limit < SCHED_UNLIMITED ? limit : -1), may ? "" : ": no");
    CHECK((sched_set_duration(run.sched, run.now, handle_of(job), limit, estimate, NULL) == 0) ==
          may);
    if (!may)
        return;
    nq_set_times(&run.naive, job, estimate, limit);
    if (j->state == NQ_RUNNING && limit < SCHED_UNLIMITED)
        run.end[job] = lesser(run.end[job], greater(j->at + limit, run.now));
}

static void update_account(int job)
{
    struct nq_job *j = &run.naive.job[job], was = *j;
    int account = (int)draw_update(0, NQ_ACCOUNTS - 1);
    run.naive.now = run.now;
    j->account = account;
    bool may = account == was.account || nr_could_ever(&run.naive, job);
    *j = was;
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld update %d account %d%s\n", (long)run.now, job, account,
                may ? "" : ": no");
    CHECK((sched_set_account(run.sched, run.now, handle_of(job), naive_accounts[account], NULL) ==
           0) == may);
    if (may)
        nq_set_account(&run.naive, job, account);
}

void play_updates(void)
{
    if (!run.updates || run.naive.jobs == 0 || draw_update(0, 2) > 0)
        return;
    int job = (int)draw_update(0, run.naive.jobs - 1);
    const struct nq_job *j = &run.naive.job[job];
    if (j->state == NQ_GONE || j->estimate >= NQ_ENDLESS || (j->min > 0 && j->state == NQ_BEHIND))
        return;
    if (j->state == NQ_BEHIND || (draw_update(0, 1) && j->min == 0))
        split_member(job);
    if (run.accounts && j->min == 0 && j->state != NQ_RUNNING && draw_update(0, 1))
        update_account(job);
    else
        update_times(job);
    counted.updated++;
}

void play_holds(void)
{
    if (!run.holds || run.naive.jobs == 0 || random_between(&run.hold_random, 0, 1))
        return;
    int job = (int)random_between(&run.hold_random, 0, run.naive.jobs - 1);
    const struct nq_job *j = &run.naive.job[job];
    bool release = j->held;
    if (j->state == NQ_RUNNING || j->state == NQ_GONE || j->min > 0)
        return;
    split_member(job);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld %s %d\n", (long)run.now, release ? "release" : "hold", job);
    if (release) {
        CHECK(sched_release(run.sched, run.now, handle_of(job)) == 0);
        nq_release(&run.naive, job);
        return;
    }
    CHECK(sched_hold(run.sched, run.now, handle_of(job)) == 0);
    nq_hold(&run.naive, job);
    run.promised[job] = -1;
    counted.set_aside++;
}

static int64_t draw_block(int64_t low, int64_t high)
{
    return random_between(&run.block_random, low, high);
}

/* Half of them come again, and many are not for everybody. */
static void set_block(int number, const char *name)
{
    static const int64_t periods[] = {40, 60, 120};
    static const char *const users[] = {"u0", "u1", "u2"};
    struct nq_block b = {.start = run.now + draw_block(-3, 25),
                         .duration = draw_block(1, draw_block(0, 3) ? 12 : 35),
                         .job = -1};
    int low = (int)draw_block(0, run.naive.nodes - 1);
    int high = draw_block(0, 2) ? low : (int)draw_block(low, run.naive.nodes - 1);
    char nodes[32], id[16];
    const char *queues[2], *jobs[] = {id};
    struct sched_block of = {.name = name, .resources = nodes, .duration = b.duration};
    b.start = greater(b.start, 0);
    of.start = b.start;
    of.every = b.every = draw_block(0, 2) ? 0 : periods[draw_block(0, 2)];
    snprintf(nodes, sizeof(nodes), "node[%d-%d]", low, high);
    b.nodes = nq_cores_of(&run.naive, low, high);
    int64_t lane = draw_block(0, run.naive.lanes - 1), user = draw_block(0, NQ_USERS - 1);
    of.users = &users[user];
    of.n_users = draw_block(0, 4) == 0;
    b.users = of.n_users ? 1u << user : 0;
    of.queues = queues;
    if (draw_block(0, 4) == 0) {
        queues[of.n_queues++] = naive_queue_names[lane];
        b.lanes = 1u << lane;
    }
    if (draw_block(0, 4) == 0 && run.naive.lane[lane].has_virtual) {
        queues[of.n_queues++] = naive_virtual_names[lane];
        b.virtuals = 1u << lane;
    }
    if (draw_block(0, 4) == 0) {
        b.job = (int)draw_block(0, run.naive.jobs + 2);
        snprintf(id, sizeof(id), "%d", b.job);
        of.jobs = jobs;
        of.n_jobs = 1;
    }
    if (getenv("SCENE_TRACE"))
        fprintf(stderr,
                "t%ld block %s %s at %ld for %ld every %ld users %x lanes %x virtuals %x job %d\n",
                (long)run.now, name, nodes, (long)b.start, (long)b.duration, (long)b.every, b.users,
                b.lanes, b.virtuals, b.job);
    CHECK(sched_block(run.sched, run.now, &of, NULL) == 0);
    nb_set(&run.naive, number, &b);
    counted.blocks++;
}

void play_blocks(void)
{
    static const char *const names[NQ_BLOCKS] = {"b0", "b1", "b2"};
    if (!run.blocks || draw_block(0, 5) > 0)
        return;
    int number = (int)draw_block(0, NQ_BLOCKS - 1);
    if (run.naive.block[number].nodes == 0 || draw_block(0, 2) == 0) {
        set_block(number, names[number]);
        return;
    }
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld block %s is removed\n", (long)run.now, names[number]);
    CHECK(sched_unblock(run.sched, run.now, names[number], NULL) == 0);
    nb_set(&run.naive, number, &(struct nq_block){0});
}

/* Where nobody waits for others, members of gangs fail: those that are stopped for a block or as others have failed, and some more.
 * This is drawn beside the rest.
 */
static bool draw_member_ends_well(int job)
{
    const struct nq_job *j = &run.naive.job[job];
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)job + (7u << 28)};
    bool may = !(run.rules & WITH_WAITS) && !j->stopping;
    return !may || (!j->cleared && !j->dismissed && random_between(&r, 0, 4) > 0);
}

void play_ends(void)
{
    for (int i = 0; i < run.naive.jobs; i++)
        if (run.naive.job[i].state == NQ_RUNNING && run.end[i] <= run.now) {
            if (run.naive.job[i].stopping && run.requeue[i]) {
                CHECK(sched_requeue(run.sched, run.now, handle_of(i)) == 0);
                run.naive.now = run.now;
                nq_requeue(&run.naive, i);
                run.promised[i] = -1;
                continue;
            }
            bool ok = run.naive.job[i].min > 0 ? draw_member_ends_well(i) : draw_ends_well();
            CHECK(sched_finish(run.sched, run.now, handle_of(i), ok) == 0);
            nq_finish(&run.naive, i, ok);
        }
}
