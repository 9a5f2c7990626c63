/* The jobs of a scene. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "berth/sched_query.h"
#include "naive_blocks.h"
#include "naive_queues_inner.h"
#include "naive_waits.h"

uint32_t member_of(int job)
{
    int array = run.naive.job[job].array;
    return array < 0 ? 0 : (uint32_t)(job - array);
}

sched_job_t handle_of(int job)
{
    char id[16];
    snprintf(id, sizeof(id), "%d", job - (int)member_of(job));
    return sched_find(run.sched, id, member_of(job));
}

/* How many of an array may hold something at once. This is drawn beside the rest, as the capability is. */
static int draw_most(int members)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs};
    return members == 1 || random_between(&r, 0, 1) ? 0 : (int)random_between(&r, 1, members - 1);
}

/* Whether nobody knows when the next job ends. This is drawn beside the rest, too. */
static bool draw_unknown(void)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs + (1u << 30)};
    return run.unknowns && random_between(&r, 0, 3) == 0;
}

/* Whether one of so many numbers from `order` on is another job's. */
static bool is_taken(int64_t order, int members, int jobs)
{
    for (int i = 0; i < jobs; i++)
        if (run.naive.job[i].order >= order && run.naive.job[i].order < order + members)
            return true;
    return false;
}

/* In some runs the caller says where jobs have their places, before those that came earlier or far behind. 0: this one
 * does not say. Drawn beside the rest, too.
 */
static uint64_t draw_order_of(int job, int members)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)job + (2u << 30)};
    int64_t order = random_between(&r, 1, 3 * NQ_JOBS);
    if (run.seed / 3 % 3 != 0 || random_between(&r, 0, 1) == 0 || is_taken(order, members, job))
        return 0;
    run.naive.next_order -= members; /* those that they would have had are the next ones' */
    for (int i = 0; i < members; i++)
        run.naive.job[job + i].order = order + i;
    if (run.naive.next_order < order + members)
        run.naive.next_order = order + members;
    return (uint64_t)order;
}

/* Whether the next job goes to the virtual queue of its queue. Likewise. */
static bool draw_is_virtual(const struct nq_lane *lane)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs + (1u << 29)};
    return lane->has_virtual && random_between(&r, 0, 1);
}

static int64_t deadline_minute_of(const struct nq_lane *lane, int64_t named)
{
    int64_t at = named > 0 ? named : lane->wait > 0 ? run.now + lane->wait : INT64_MAX;
    return !lane->by_deadline || at == INT64_MAX ? INT64_MAX : at / 60;
}

/* How many nodes a job of a queue asks for: no more than it may ever have. */
static int draw_count(const struct nq_lane *of)
{
    int64_t together = of->in_division ? run.naive.division_most : INT64_MAX;
    int count = (int)draw(1, lesser(lesser(__builtin_popcount(of->part), together),
                                    lesser(of->user_most[1], of->queue_most[1])));
    for (int a = 0; a < NQ_ACCOUNTS && run.accounts; a++) /* whatever account it will be of */
        count = (int)lesser(count, run.naive.account[a].most[1]);
    if (of->has_virtual)
        count = (int)lesser(count, lesser(of->virtual_user_most[1], of->virtual_queue_most[1]));
    if (of->classes > 0 && count > 2 &&
        run.naive.jobs % 4 > 0) /* so that many share what there is */
        count = 1 + count % 2;
    return count;
}

static int64_t draw_shape_of(int64_t low, int64_t high)
{
    return random_between(&run.core_random, low, high);
}

/* Where nodes are shared by core, what a job asks for is drawn beside the rest: no more than it may ever have. */
static int draw_shape(const struct nq_lane *of, int count, enum nq_piece *piece, int *of_node)
{
    *piece = NQ_NODE;
    *of_node = 0;
    if (!run.cores)
        return count;
    int most =
        (int)lesser(__builtin_popcount(of->part), lesser(of->user_most[1], of->queue_most[1]));
    if (of->has_virtual)
        most = (int)lesser(most, lesser(of->virtual_user_most[1], of->virtual_queue_most[1]));
    int nodes = __builtin_popcount(of->part) / run.naive.cores;
    *piece = (enum nq_piece)draw_shape_of(NQ_NODE, NQ_SHARED);
    *of_node = (int)lesser(draw_shape_of(1, run.naive.cores - 1), most);
    if (*piece == NQ_NODE && most < run.naive.cores)
        *piece = NQ_CORE;
    if (*piece == NQ_CORE)
        return (int)draw_shape_of(1, draw_shape_of(0, 2) ? lesser(most, 3) : most);
    int each = *piece == NQ_NODE ? run.naive.cores : *of_node;
    return (int)draw_shape_of(1, lesser(nodes, most / each));
}

void write_jobspec(char text[JOBSPEC_TEXT], int count, enum nq_piece piece, int of_node)
{
    char what[80];
    snprintf(what, sizeof(what),
             piece == NQ_NODE ? "type: node, count: 1" : "type: core, count: 1");
    if (piece == NQ_SHARED)
        snprintf(what, sizeof(what), "type: core, count: %d", of_node);
    snprintf(text, JOBSPEC_TEXT,
             piece == NQ_SHARED
                 ? "{version: 9999, resources: [{type: node, count: %d, with: [{type: slot, count: "
                   "1, label: s, with: [{%s}]}]}], tasks: [{command: [a], slot: s, count: "
                   "{per_slot: 1}}], attributes: {system: {duration: 0}}}"
                 : "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{%s}]}], "
                   "tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
                   "{duration: 0}}}",
             count, what);
}

/* In some scenes the next job may be a gang: how many members it has; 0: it is none. Drawn beside the rest. */
static int draw_gang(void)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)run.naive.jobs + (5u << 28)};
    bool may = run.rules & WITH_GANGS;
    return may && random_between(&r, 0, 2) == 0 ? (int)random_between(&r, 2, 6) : 0;
}

enum { ROLES = 3 };

/* Another role than the first: what each of its members asks for, drawn as that is. */
static void draw_role(struct random *r, int job, int members, int role)
{
    struct random kept = run.random, kept_of_cores = run.core_random;
    const struct nq_lane *of = &run.naive.lane[run.naive.job[job].lane];
    enum nq_piece piece;
    int of_node;
    run.random = *r;
    run.core_random.state = ~r->state;
    int count = draw_shape(of, draw_count(of), &piece, &of_node);
    *r = run.random;
    run.random = kept;
    run.core_random = kept_of_cores;
    for (int i = 0; i < members; i++) {
        struct nq_job *j = &run.naive.job[job + i];
        j->count = count;
        j->piece = piece;
        j->of_node = of_node;
        j->role = role;
    }
}

/* Some gangs are of several roles: how many members each has, from the first on. Returns how many roles. */
static int draw_roles(struct random *r, int job, int members, int size[ROLES])
{
    bool several = run.rules & WITH_ROLES && random_between(r, 0, 2) > 0;
    int roles = several ? (int)random_between(r, 2, lesser(members, ROLES)) : 1, left = members;
    for (int role = 0; role < roles; role++) {
        int most = left - (roles - 1 - role);
        size[role] = role == roles - 1 ? left : (int)random_between(r, 1, most);
        if (role > 0)
            draw_role(r, job + members - left, size[role], role);
        left -= size[role];
    }
    return roles;
}

/* Members of a role that start with the others from now on. */
static void set_min(int job, const int size[ROLES], int role, int min)
{
    for (int r = 0; r < role; r++)
        job += size[r];
    for (int i = 0; i < size[role]; i++)
        run.naive.job[job + i].role_min = min;
}

/* How many of it start together, two or more: no more than could ever be. Returns 0 where only one could: it is no gang. */
static int draw_min(int job, int members)
{
    struct random r = {.state = run.seed * NQ_JOBS + (uint64_t)job + (6u << 28)};
    struct nq_job *j = &run.naive.job[job];
    int size[ROLES], min[ROLES], roles = draw_roles(&r, job, members, size), last = roles - 1;
    run.naive.now = run.now;
    j->whole = 0;
    for (int role = 0; role < roles; role++) {
        min[role] = (int)random_between(&r, roles > 1 ? 0 : 2, size[role]);
        set_min(job, size, role, min[role]);
        j->whole += min[role];
    }
    for (int i = 0; i < members; i++)
        run.naive.job[job + i].roles = roles;
    for (; j->whole > 1; j->whole--) {
        if (nr_could_ever(&run.naive, job))
            break;
        while (min[last] == 0)
            last--;
        set_min(job, size, last, --min[last]);
    }
    bool goes_on = random_between(&r, 0, 1);
    for (int i = 0; i < members && j->whole > 1; i++) {
        run.naive.job[job + i].min = j->whole;
        run.naive.job[job + i].goes_on = goes_on;
    }
    j->whole = j->whole > 1 ? j->whole : 1;
    return j->min;
}

/* A job that has so many members is a gang if two of them could start together; else it is of one, and the others were never
 * there. Returns how many it has.
 */
static int become_gang(int job, int members)
{
    struct nq_job *j = &run.naive.job[job];
    if (members == 1 || draw_min(job, members) > 0) {
        counted.gangs += members > 1;
        counted.roles += j->roles > 1;
        return members;
    }
    run.naive.jobs -= members - 1;
    run.naive.next_order -= members - 1;
    j->roles = 1;
    j->array = -1;
    j->together = false;
    return 1;
}

/* What is so of all members of a job. */
static void tell_members(int job, int members, const struct nq_job *of)
{
    for (int i = 0; i < members; i++) {
        struct nq_job *j = &run.naive.job[job + i];
        j->piece = of->piece;
        j->of_node = of->of_node;
        j->user = of->user;
        j->is_virtual = of->is_virtual;
    }
}

/* What a job asks for, or of a gang each role: the texts are there until the next one is told of. Returns how many roles. */
static size_t write_roles(int job, int members, struct sched_role role[ROLES])
{
    static const char *const names[ROLES] = {"server", "worker", "extra"};
    static char text[ROLES][JOBSPEC_TEXT];
    size_t n = 0;
    for (int i = 0; i < members; i++) {
        const struct nq_job *j = &run.naive.job[job + i];
        if (j->roles < 2)
            return 0;
        if ((size_t)j->role < n) {
            role[j->role].members++;
            continue;
        }
        write_jobspec(text[n], j->count, j->piece, j->of_node);
        role[n] = (struct sched_role){names[n], text[n], strlen(text[n]), 1, (uint32_t)j->role_min};
        n++;
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "  role from %d on: count %d piece %d of %d min %d\n", i, j->count,
                    (int)j->piece, j->of_node, j->role_min);
    }
    return n;
}

static void trace_submit(int job, int members, const struct sched_request *request)
{
    const struct nq_job *j = &run.naive.job[job];
    if (getenv("SCENE_TRACE"))
        fprintf(stderr,
                "t%ld submit %d lane %d virtual %d user %d account %d count %d piece %d of %d dur "
                "%ld limit %ld "
                "pri %ld dl "
                "%ld members "
                "%d min %u order %ld begin %ld waits %s\n",
                (long)run.now, job, j->lane, j->is_virtual, j->user, j->account, j->count,
                (int)j->piece, j->of_node, (long)j->duration,
                (long)(j->limit == INT64_MAX ? -1 : j->limit), (long)j->priority, (long)j->deadline,
                members, request->min, (long)j->order, (long)j->begin,
                request->dependency ? request->dependency : "");
}

/* What becomes of members that have come: all are refused, set aside, or wait. */
static void settle_come(int job, int members, bool closed, sched_job_t handle)
{
    int64_t last;
    run.naive.now = run.now;
    nw_note(&run.naive);
    bool taken =
        !closed && nb_leave_room(&run.naive, job, run.now, &last) &&
        (run.naive.job[job].min == 0 || nr_could_ever(&run.naive, job)); /* of its account */
    if (taken)
        nq_come(&run.naive, job);
    bool refused = !taken || nw_is_vain(&run.naive, job);
    bool aside = !nw_may_go(&run.naive, job);
    CHECK(handle >= 0 && sched_state(run.sched, handle) == (refused ? SCHED_REJECTED
                                                            : aside ? SCHED_BLOCKED
                                                                    : SCHED_WAITING));
    if (aside)
        nq_set_aside(&run.naive, job);
    for (int i = 0; i < members && refused; i++) {
        run.naive.job[job + i].refused = true;
        nb_refuse(&run.naive, job + i);
    }
}

void play_submit(void)
{
    static const char *const users[] = {"u0", "u1", "u2"};
    int lane = (int)draw(0, run.naive.lanes - 1);
    const struct nq_lane *of = &run.naive.lane[lane];
    int user = run.limits || run.shares ? (int)draw(0, NQ_USERS - 1) : 0;
    int count = draw_count(of);
    int64_t duration = draw(1, draw(0, 3) ? 12 : 40), priority = draw(0, 3) ? 0 : draw(-2, 2);
    int members = run.limits || run.levels || draw(0, 5) ? 1 : (int)draw(2, 6);
    if (of->longest_first && draw(0, 3) == 0)
        duration = draw(1000, 1002);
    if (draw_unknown())
        duration = NQ_ENDLESS;
    char text[JOBSPEC_TEXT];
    enum nq_piece piece;
    int of_node;
    count = draw_shape(of, count, &piece, &of_node);
    write_jobspec(text, count, piece, of_node);
    int gang = draw_gang();
    members = gang > 0 ? gang : members;
    if (run.naive.jobs + members > NQ_JOBS)
        members = 1;
    /* Beside classes, model and core differ in 2 of 300 scenes with such arrays: seeds 28 and 202. */
    int most = run.is_wide || gang > 0 ? 0 : draw_most(members);
    bool is_virtual = draw_is_virtual(of);
    int job = members == 1
                  ? nq_submit(&run.naive, lane, user, count, duration, priority)
                  : nq_submit_array(&run.naive, members, most, lane, count, duration, priority);
    tell_members(job, members,
                 &(struct nq_job){
                     .piece = piece, .of_node = of_node, .user = user, .is_virtual = is_virtual});
    members = gang > 0 ? become_gang(job, members) : members;
    struct sched_role role[ROLES];
    struct sched_request request = {
        .priority = priority,
        .tag = (uint64_t)job,
        .jobspec = text,
        .jobspec_length = strlen(text),
        .queue = is_virtual ? naive_virtual_names[lane] : naive_queue_names[lane],
        .members = (uint32_t)members,
        .min = (uint32_t)run.naive.job[job].min,
        .failure = run.naive.job[job].goes_on ? SCHED_FAIL_GO_ON : SCHED_FAIL_ALL,
        .roles = role,
        .n_roles = write_roles(job, members, role),
        .max_running = (uint32_t)most,
        .user = users[user],
        .order = draw_order_of(job, members)};
    draw_times(&run.naive.job[job], &request);
    draw_deadline_of(0, 600, &request.deadline);
    request.deadline = request.deadline > 400 ? 0 : request.deadline;
    int account = run.accounts ? (int)draw(0, NQ_ACCOUNTS - 1) : 0;
    if (run.accounts)
        request.account = naive_accounts[account];
    char waits[WAITS_TEXT];
    draw_waits(job, members, &request, waits);
    draw_after(job, members, &request);
    sched_job_t handle = sched_submit(run.sched, run.now, &request);
    for (int i = 0; i < members; i++) {
        struct nq_job *j = &run.naive.job[job + i];
        CHECK(handle_of(job + i) == handle);
        j->submitted = run.now;
        j->duration = j->estimate = run.naive.job[job].estimate;
        j->limit = run.naive.job[job].limit;
        j->deadline = deadline_minute_of(of, request.deadline);
        j->account = account;
        run.promised[job + i] = -1;
    }
    bool closed = of->closed[0] || (is_virtual && of->closed[1]);
    trace_submit(job, members, &request);
    settle_come(job, members, closed, handle);
}
