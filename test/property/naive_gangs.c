#include "naive_gangs.h"

int naive_gangs_count(const struct naive_job *j, const struct naive_role *r, enum naive_state state)
{
    int n = 0;
    for (int i = r->first; i < r->first + r->members; i++)
        n += j->state[i] == state;
    return n;
}

/* Members that run, those too that are being stopped for a block or by their shell. */
static int running(const struct naive_job *j, const struct naive_role *r)
{
    return naive_gangs_count(j, r, NAIVE_RUNS) + naive_gangs_count(j, r, NAIVE_CLEARS) +
           naive_gangs_count(j, r, NAIVE_CANCELLED);
}

int naive_gangs_holding(const struct naive_job *j, const struct naive_role *r)
{
    return running(j, r) + naive_gangs_count(j, r, NAIVE_LEAVES) +
           naive_gangs_count(j, r, NAIVE_STOPS);
}

uint32_t naive_gangs_free(const struct naive_gangs *m)
{
    uint32_t taken = 0;
    for (int i = 0; i < m->jobs; i++) {
        const struct naive_job *j = &m->job[i];
        for (int k = 0; k < j->members; k++)
            if (j->state[k] >= NAIVE_RUNS && j->state[k] <= NAIVE_STOPS)
                taken |= j->on[k];
        taken |= j->awaited;
    }
    return ((1u << m->cores) - 1) & ~taken;
}

/* What a job could have now. */
static uint32_t usable(const struct naive_gangs *m, const struct naive_job *j)
{
    return naive_gangs_free(m) & naive_gangs_clear(m, j);
}

uint32_t naive_gangs_lowest(uint32_t cores, int n)
{
    uint32_t lowest = 0;
    for (; n > 0; n--) {
        lowest |= cores & -cores;
        cores &= cores - 1;
    }
    return lowest;
}

int naive_gangs_cores(const struct naive_job *j, const int members[NAIVE_ROLES])
{
    int cores = 0;
    for (int k = 0; k < j->roles; k++)
        cores += members[k] * j->role[k].cores;
    return cores;
}

/* It waits for nothing but cores, or the others: nobody holds it, and its time has come. */
static bool is_free(const struct naive_gangs *m, const struct naive_job *j, int member)
{
    return j->state[member] == NAIVE_WAITS && !j->held[member] && j->begin[member] <= m->now;
}

/* Members that could start, and for whom no others have been stopped. */
static int ready(const struct naive_gangs *m, const struct naive_job *j, const struct naive_role *r)
{
    int n = -j->awaits[r - j->role];
    for (int i = r->first; i < r->first + r->members; i++)
        n += is_free(m, j, i);
    return n;
}

/* How many of a role are missing before its gang is whole. */
static int missing(const struct naive_job *j, const struct naive_role *r)
{
    int done = naive_gangs_count(j, r, NAIVE_DONE);
    return r->min > done ? r->min - done : 0;
}

/* So many of a gang are stopped for others that the rest goes as well: nobody of it starts before they have left. */
static bool is_leaving(const struct naive_job *j)
{
    bool is = false;
    for (int k = 0; k < j->roles; k++)
        is |= naive_gangs_count(j, &j->role[k], NAIVE_LEAVES) > 0 &&
              running(j, &j->role[k]) + naive_gangs_count(j, &j->role[k], NAIVE_DONE) <
                  j->role[k].min;
    return j->is_gang && is;
}

/* A gang is down while none of it runs, and too few of some role have succeeded. */
static bool is_down(const struct naive_job *j)
{
    int lacks = 0;
    for (int k = 0; k < j->roles; k++) {
        if (naive_gangs_holding(j, &j->role[k]) > 0)
            return false;
        lacks += missing(j, &j->role[k]);
    }
    return j->is_gang && lacks > 0;
}

/* ---- Members that fail ---- */

bool naive_gangs_replaces(const struct naive_gangs *m, int job)
{
    const struct naive_job *j = &m->job[job];
    return j->is_gang && !j->is_over && j->failure == SCHED_FAIL_REPLACE &&
           j->replaced < j->members;
}

void naive_gangs_failed(struct naive_gangs *m, int job, int member)
{
    struct naive_job *j = &m->job[job];
    j->state[member] = NAIVE_FAILED;
    if (!j->is_gang)
        return;
    j->is_over |= j->failure == SCHED_FAIL_ALL;
    for (int k = 0; k < j->roles; k++) {
        const struct naive_role *r = &j->role[k];
        j->is_over |= running(j, r) + naive_gangs_count(j, r, NAIVE_DONE) < r->min;
    }
}

/* None of it runs, and too few are left to start together. Whoever still runs goes on: it is no failure to be taken back
 * before one runs.
 */
static bool is_short(const struct naive_job *j)
{
    bool is = false;
    for (int k = 0; k < j->roles; k++)
        is |= naive_gangs_count(j, &j->role[k], NAIVE_WAITS) < missing(j, &j->role[k]);
    return is && is_down(j);
}

static void end(struct naive_job *j)
{
    j->is_over = true;
    for (int i = 0; i < j->members; i++)
        if (j->state[i] == NAIVE_RUNS)
            j->state[i] = NAIVE_STOPS;
        else if (j->state[i] == NAIVE_WAITS)
            j->state[i] = NAIVE_FAILED;
}

/* Those that wait and can never start, as blocks come again too soon or as that is over a limit by itself, are rejected: of a
 * gang that is down all, as its min can't; else those of a role of which no member can.
 */
static void reject(const struct naive_gangs *m, struct naive_job *j)
{
    int cores = 0, all[NAIVE_ROLES] = {0};
    bool down = is_down(j);
    for (int k = 0; k < j->roles; k++) {
        const struct naive_role *r = &j->role[k];
        int one[NAIVE_ROLES] = {0};
        one[k] = 1;
        all[k] = missing(j, r);
        cores += missing(j, r) * r->cores;
        if (down || (naive_gangs_ever(m, j, r->cores) && naive_gangs_alone(m, j, one)))
            continue;
        for (int i = r->first; i < r->first + r->members; i++)
            if (j->state[i] == NAIVE_WAITS)
                j->state[i] = NAIVE_FAILED;
    }
    if (down && !(naive_gangs_ever(m, j, cores) && naive_gangs_alone(m, j, all)))
        end(j);
}

/* ---- Members that start ---- */

/* The first so many of a role that can, on the lowest of some cores. Returns the cores that are left. */
static uint32_t start(const struct naive_gangs *m, struct naive_job *j, const struct naive_role *r,
                      int n, uint32_t cores)
{
    for (int i = r->first; i < r->first + r->members && n > 0; i++)
        if (is_free(m, j, i)) {
            j->state[i] = NAIVE_RUNS;
            j->start[i] = m->now;
            j->on[i] = naive_gangs_lowest(cores, r->cores);
            cores &= ~j->on[i];
            n--;
        }
    return cores;
}

/* Those for whom others have left, unless their gang is over by that. */
static void start_awaiting(const struct naive_gangs *m, struct naive_job *j)
{
    for (int k = 0; k < j->roles; k++) {
        if (!j->is_over)
            j->awaited = start(m, j, &j->role[k], j->awaits[k], j->awaited);
        j->awaits[k] = 0;
    }
    j->awaited = 0;
}

/* Whether a member of a role may have others stopped: its gang has not its min of it, or it is of none. */
static bool is_needed(const struct naive_job *j, const struct naive_role *r)
{
    int has = running(j, r) + naive_gangs_count(j, r, NAIVE_DONE) + j->awaits[r - j->role];
    return !j->is_gang || has < r->min;
}

/* Members that are being stopped for others. */
static uint64_t leaving(const struct naive_gangs *m)
{
    uint64_t n = 0;
    for (int i = 0; i < m->jobs; i++)
        for (int k = 0; k < m->job[i].members; k++)
            n += m->job[i].state[k] == NAIVE_LEAVES;
    return n;
}

/* So many members of roles have what others leave, who are stopped for them where they are needed, be it that cores are missing or
 * that limits keep them. Returns whether they do.
 */
static bool preempt(struct naive_gangs *m, struct naive_job *j, const int wanted[NAIVE_ROLES],
                    bool needed)
{
    int job = (int)(j - m->job);
    uint64_t left = leaving(m);
    bool is_kept = !naive_gangs_within(m, j, wanted, NULL);
    uint32_t on = m->preempts && !is_kept ? naive_gangs_preempt(m, job, wanted, false) : 0;
    if (m->preempts && on == 0 && needed)
        on = naive_gangs_preempt(m, job, wanted, true);
    for (int k = 0; on != 0 && k < j->roles; k++)
        j->awaits[k] += wanted[k];
    j->awaited |= on;
    m->stopped_for_limits += is_kept ? leaving(m) - left : 0;
    m->awaited_for_limits += is_kept && on != 0 && leaving(m) == left;
    return on != 0;
}

/* Whether so many members could start as they are: limits let them, and there are cores. */
static bool has_room(const struct naive_gangs *m, const struct naive_job *j,
                     const int members[NAIVE_ROLES])
{
    return naive_gangs_within(m, j, members, NULL) &&
           naive_gangs_cores(j, members) <= __builtin_popcount(usable(m, j));
}

/* All that a gang lacks, or nobody. Returns false where the cores are missing for that. */
static bool start_whole(struct naive_gangs *m, struct naive_job *j)
{
    int wanted[NAIVE_ROLES] = {0};
    for (int k = 0; k < j->roles; k++) {
        wanted[k] = missing(j, &j->role[k]);
        if (ready(m, j, &j->role[k]) < missing(j, &j->role[k]))
            return true; /* it does not wait for cores */
    }
    if (!has_room(m, j, wanted))
        return preempt(m, j, wanted, true) || !naive_gangs_within(m, j, wanted, NULL);
    for (int k = 0; k < j->roles; k++)
        start(m, j, &j->role[k], wanted[k], usable(m, j));
    return true;
}

/* One more member starts, if one can. *lacks: cores are missing for one. */
static bool grow(struct naive_gangs *m, struct naive_job *j, bool *lacks)
{
    *lacks = false;
    for (int k = 0; k < j->roles && !(*lacks && m->in_order); k++) {
        int one[NAIVE_ROLES] = {0};
        one[k] = 1;
        if (ready(m, j, &j->role[k]) == 0)
            continue;
        if (has_room(m, j, one)) {
            start(m, j, &j->role[k], 1, usable(m, j));
            return true;
        }
        if (preempt(m, j, one, is_needed(j, &j->role[k])))
            return true;
        *lacks |= naive_gangs_within(m, j, one, NULL);
    }
    return false;
}

/* As many of each role as its min run, or have succeeded: what else waits of it is more than it needs. */
static bool has_min(const struct naive_job *j)
{
    for (int k = 0; k < j->roles; k++)
        if (naive_gangs_holding(j, &j->role[k]) + naive_gangs_count(j, &j->role[k], NAIVE_DONE) <
            j->role[k].min)
            return false;
    return j->is_gang;
}

/* What a job goes by, the less first. */
static int rank(const struct naive_gangs *m, const struct naive_job *j)
{
    int priority = 1 - j->priority; /* 0 to 2 */
    if (m->by == NAIVE_BY_PRIORITY || m->by == NAIVE_BY_GANG)
        return m->by == NAIVE_BY_GANG ? has_min(j) : priority;
    return m->by == NAIVE_BY_PRIORITY_GANG ? priority * 2 + has_min(j) : has_min(j) * 3 + priority;
}

/* One member is its min, and waits for others to leave: the rest goes on one by one, as it does behind one that has started. */
static bool has_only_first(const struct naive_job *j)
{
    return j->awaited != 0 && j->roles == 1 && missing(j, &j->role[0]) == 1;
}

/* It runs, or others are stopped for it. */
static bool has_begun(const struct naive_job *j)
{
    int n = 0;
    for (int k = 0; k < j->roles; k++)
        n += naive_gangs_holding(j, &j->role[k]);
    return n > 0 || j->awaited != 0;
}

/* It could start, were there cores. */
static bool could_start(const struct naive_gangs *m, const struct naive_job *j)
{
    int waits = 0;
    for (int k = 0; k < j->roles; k++) {
        waits += ready(m, j, &j->role[k]);
        if (ready(m, j, &j->role[k]) < missing(j, &j->role[k]))
            return false;
    }
    return waits > 0 && !j->is_over;
}

/* Whether so many others of its array run, or wait before it, that a gang is to wait for the end of one. */
static bool is_kept_by_array(const struct naive_gangs *m, const struct naive_job *j)
{
    int others = 0;
    if (j->array == 0 || has_begun(j))
        return false;
    for (int i = 0; i < m->jobs; i++) {
        const struct naive_job *other = &m->job[i];
        bool is_before = other->priority != j->priority ? other->priority > j->priority : other < j;
        if (other != j && other->array == j->array)
            others += has_begun(other) || (is_before && could_start(m, other));
    }
    return others >= m->at_once[j->array];
}

/* A job has its turn, which ends when it goes by something else. Returns false where it waits for cores. */
static bool turn(struct naive_gangs *m, struct naive_job *j)
{
    int was = rank(m, j);
    bool lacks = false;
    if (is_leaving(j) || is_kept_by_array(m, j))
        return true;
    if (is_down(j) && !start_whole(m, j))
        return false;
    reject(m, j); /* those of a role that is not needed for its min, once the others run */
    while ((!is_down(j) || has_only_first(j)) && rank(m, j) == was)
        if (!grow(m, j, &lacks))
            break;
    return !lacks;
}

/* The job that goes first, of those that have not had a turn as what they are now; -1. */
static int first(const struct naive_gangs *m, const int had[NAIVE_JOBS])
{
    int best = -1;
    for (int i = 0; i < m->jobs; i++) {
        int is = rank(m, &m->job[i]);
        if (is > had[i] && (best < 0 || is < rank(m, &m->job[best])))
            best = i;
    }
    return best;
}

void naive_gangs_pass(struct naive_gangs *m)
{
    int had[NAIVE_JOBS];
    for (int i = 0; i < m->jobs; i++) {
        start_awaiting(m, &m->job[i]);
        for (int k = 0; k < m->job[i].members; k++)
            m->job[i].is_awaited[k] = false;
    }
    naive_gangs_clear_blocks(m);
    for (int i = 0; i < m->jobs; i++) {
        reject(m, &m->job[i]);
        if (m->job[i].is_over || is_short(&m->job[i]))
            end(&m->job[i]);
        had[i] = -1;
    }
    for (int i = first(m, had); i >= 0; i = first(m, had)) {
        had[i] = rank(m, &m->job[i]);
        if (!turn(m, &m->job[i]) && m->in_order)
            break;
    }
}
