/* Passes over a scene of prop_gangs: what they decide is done, and holds what it should. */
#include "whole_scene.h"

/* Members of a role that run and go on. */
static int count_staying(const struct job *j, const struct role *role)
{
    int n = 0;
    for (int i = role->first; i < role->first + role->members; i++)
        n += j->state[i] == RUNS && !j->stops[i];
    return n;
}

/* Whether each role of which a member was preempted keeps its min. Another one may have lost that since, to a member that
 * has failed while one that it could spare was being stopped.
 */
static bool is_kept(const struct job *j, uint32_t members_preempted)
{
    for (int i = 0; i < j->roles; i++) {
        const struct role *r = &j->role[i];
        uint32_t members = (1u << r->members) - 1;
        if (members_preempted >> r->first & members &&
            count_staying(j, r) + whole_count_of(j, r, DONE) < r->min)
            return false;
    }
    return true;
}

/* Whether each role has its min, of those that run and that have succeeded. */
static bool is_enough(const struct job *j)
{
    for (int i = 0; i < j->roles; i++) {
        const struct role *r = &j->role[i];
        if (whole_count_of(j, r, RUNS) + whole_count_of(j, r, DONE) < r->min)
            return false;
    }
    return true;
}

/* On what a member starts. */
static void note_resources(const struct sched_decision *d)
{
    const char *text;
    struct random mix = {.state = d->tag << 8 | d->member};
    CHECK(sched_resources(scene.sched, d->job, &text) == 0);
    for (; *text; text++)
        mix.state = random_next(&mix) ^ (uint64_t)*text;
    scene.done += mix.state;
}

/* What is done, whatever is told: after a restart some are told again what they are promised, and what one pass does may
 * be told in another order.
 */
static void note(const struct sched_decision *d)
{
    if (d->kind == SCHED_RESERVE || d->kind == SCHED_WAIT)
        return;
    uint64_t done = (uint64_t)scene.now << 32 | d->tag << 16 | d->member << 8 | d->kind;
    struct random mix = {.state = done}, handle = {.state = done ^ (uint64_t)d->job};
    scene.done += random_next(&mix);
    scene.handles += random_next(&handle);
    if (d->kind == SCHED_START)
        note_resources(d);
}

static void take(const struct sched_decision *d, bool was_rejected[JOBS],
                 uint32_t preempted_of[JOBS])
{
    struct job *j = &scene.job[d->tag];
    switch (d->kind) {
    case SCHED_START:
        CHECK(j->state[d->member] == WAITS && !j->held[d->member]);
        j->state[d->member] = RUNS;
        j->end[d->member] = scene.now + draw(1, j->duration);
        counted.starts++;
        break;
    case SCHED_STOP:
        CHECK(j->state[d->member] == RUNS && j->min > 0);
        j->is_over = true;
        j->stops[d->member] = true;
        j->end[d->member] = scene.now + draw(0, 2);
        counted.stops++;
        break;
    case SCHED_PREEMPT:
        CHECK(j->state[d->member] == RUNS);
        CHECK(sched_state(scene.sched, d->other) == SCHED_RESERVED ||
              sched_state(scene.sched, d->other) == SCHED_RUNNING);
        preempted_of[d->tag] |= 1u << d->member;
        j->stops[d->member] = true;
        j->end[d->member] = scene.now + draw(0, 2);
        break;
    case SCHED_REJECT:
        was_rejected[d->tag] = true;
        break;
    case SCHED_WAIT: /* who has a claim has waited for as long as it takes to starve */
        CHECK(!d->reason || d->reason->kind != SCHED_REASON_CLAIM ||
              scene.now - j->submitted >= scene.queue[j->queue].starvation_threshold);
        counted.claims += j->min > 1 && d->reason && d->reason->kind == SCHED_REASON_CLAIM;
        break;
    default:
        break;
    }
}

/* Who is known no more was rejected. */
static void note_rejected(int job)
{
    struct job *j = &scene.job[job];
    for (int m = 0; m < j->members; m++)
        if (j->state[m] == WAITS && whole_handle(scene.sched, job, m) < 0) {
            j->state[m] = FAILED;
            counted.rejected++;
        }
}

/* What runs holds what nobody else does. */
static void check_holds(void)
{
    int64_t cores = 0;
    for (int i = 0; i < scene.jobs; i++)
        for (int m = 0; m < scene.job[i].members; m++) {
            sched_job_t handle = whole_handle(scene.sched, i, m);
            if (handle >= 0 && scene.job[i].state[m] == RUNS)
                cores += sched_amount(scene.sched, handle, "core");
        }
    CHECK(cores <= 2 * scene.nodes);
}

/* No more gangs of an array run, or are promised a start, than may. */
static void check_arrays(void)
{
    int gangs[ARRAYS] = {0};
    for (int i = 0; i < scene.jobs; i++) {
        const struct job *j = &scene.job[i];
        bool has = whole_count(j, RUNS) > 0;
        for (int m = 0; m < j->members && j->array >= 0 && !has; m++) {
            sched_job_t handle = whole_handle(scene.sched, i, m);
            has = handle >= 0 && sched_state(scene.sched, handle) == SCHED_RESERVED;
        }
        if (j->array >= 0)
            gangs[j->array] += has;
    }
    for (int i = 0; i < ARRAYS; i++) {
        CHECK(scene.at_once[i] == 0 || gangs[i] <= scene.at_once[i]);
        counted.full += scene.at_once[i] > 0 && gangs[i] == scene.at_once[i];
    }
}

static void pass(void)
{
    bool was_rejected[JOBS] = {false};
    uint32_t preempted_of[JOBS] = {0}; /* members, as bits */
    int ran[JOBS];
    for (int i = 0; i < scene.jobs; i++)
        ran[i] = whole_count(&scene.job[i], RUNS);
    const struct sched_decision *d;
    size_t n;
    CHECK(sched_pass(scene.sched, scene.now, false, &d, &n) == 0);
    CHECK(sched_check(scene.sched));
    for (size_t i = 0; i < n; i++) {
        note(&d[i]);
        take(&d[i], was_rejected, preempted_of);
    }
    for (int i = 0; i < scene.jobs; i++) {
        struct job *j = &scene.job[i];
        struct role all = {0, j->members, 0};
        int runs = whole_count(j, RUNS);
        if (was_rejected[i])
            note_rejected(i);
        bool goes = count_staying(j, &all) == 0 && !scene.queue[j->queue].keeps_gangs;
        bool is_whole = is_kept(j, preempted_of[i]);
        CHECK(j->min < 2 || is_whole || goes);
        counted.preempted += preempted_of[i] && j->min > 1;
        counted.leaving += j->min > 1 && !is_whole;
        CHECK(j->min == 0 || ran[i] > 0 || runs == 0 || is_enough(j));
        counted.together += j->min > 1 && ran[i] == 0 && runs > 1;
        counted.of_roles += j->roles > 1 && ran[i] == 0 && runs > 1;
    }
    check_holds();
    check_arrays();
}

/* Of a gang that is promised a time, as many of each role are said to start with it as are missing; of another, none. */
static void check_starters(const struct job *j, sched_job_t handle)
{
    sched_job_t leader = sched_gang_leader(scene.sched, handle);
    bool is_promised = leader >= 0 && (sched_state(scene.sched, leader) == SCHED_RESERVED ||
                                       sched_claims(scene.sched, leader));
    for (int i = 0; i < j->roles; i++) {
        const struct role *r = &j->role[i];
        int starters = 0, missing = r->min - whole_count_of(j, r, DONE);
        for (int m = r->first; m < r->first + r->members; m++) {
            bool is_starter = sched_gang_starts(scene.sched, handle, (uint32_t)m);
            CHECK(!is_starter || (j->state[m] == WAITS && !j->held[m]));
            starters += is_starter;
        }
        CHECK(starters == (is_promised && missing > 0 ? missing : 0));
    }
}

/* Questions change nothing, and a gang of which enough run or have succeeded is ready. */
static void ask_all(void)
{
    int64_t next = sched_next_time(scene.sched);
    for (int i = 0; i < scene.jobs; i++) {
        const struct job *j = &scene.job[i];
        struct sched_gang_now gang;
        sched_job_t handle = -1;
        for (int m = 0; m < j->members && handle < 0; m++)
            handle =
                j->state[m] == WAITS || j->state[m] == RUNS ? whole_handle(scene.sched, i, m) : -1;
        if (handle < 0 || j->min == 0 || sched_state(scene.sched, handle) == SCHED_REJECTED)
            continue;
        uint32_t runs = (uint32_t)whole_count(j, RUNS), done = (uint32_t)whole_count(j, DONE);
        CHECK(sched_gang_look(scene.sched, handle, &gang) == 0);
        CHECK(gang.running == runs && gang.succeeded == done);
        CHECK(gang.allocated + gang.conditional <= (uint32_t)j->min);
        CHECK(!is_enough(j) || gang.readiness == SCHED_READY);
        CHECK(j->roles == 1 || gang.n_roles == (size_t)j->roles);
        check_starters(j, handle);
        for (size_t k = 0; j->roles > 1 && k < gang.n_roles; k++)
            CHECK(gang.role[k].min == (uint32_t)j->role[k].min &&
                  gang.role[k].running == (uint32_t)whole_count_of(j, &j->role[k], RUNS) &&
                  gang.role[k].succeeded == (uint32_t)whole_count_of(j, &j->role[k], DONE));
    }
    CHECK(sched_check(scene.sched) && sched_next_time(scene.sched) == next);
}

/* A gang of which a member has failed is over as it asked for, once a pass has looked. */
static void check_failures(void)
{
    for (int i = 0; i < scene.jobs; i++) {
        const struct job *j = &scene.job[i];
        bool goes_on = j->failure != SCHED_FAIL_ALL && is_enough(j);
        for (int m = 0; m < j->members && j->is_over && !goes_on; m++)
            CHECK(j->state[m] != RUNS || j->stops[m]);
    }
}

void whole_passes(void)
{
    for (int i = 0; i == 0 || sched_next_time(scene.sched) <= scene.now; i++) {
        CHECK(i < 50);
        pass();
        whole_end_due();
    }
    check_failures();
    ask_all();
}
