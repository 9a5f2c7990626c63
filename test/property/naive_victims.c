/* Who is stopped for a job of higher priority, in the words of berth-config(5): those that are being stopped already go first;
 * then members that their gangs can spare, the last ones of each gang; then others, and what is left of gangs, as a whole; of these, those of lower priority, with less
 * work to be lost, that have started last, that come last in the order of the queue. They go in this order until the job fits and is within
 * limits, and then each stays that need not go, the last one first.
 */
#include <stdlib.h>

#include "naive_gangs.h"

enum { LOTS = NAIVE_JOBS * NAIVE_MEMBERS };

/* Those who go together or not at all. */
struct lot {
    int job, last;    /* the last member of these */
    uint32_t members; /* as bits */
    bool is_stopped;  /* it is so already */
    bool is_spare;    /* its gang can do without it */
    int priority;     /* 0 where priorities do not count */
    int in_queue;     /* its priority, by which it stands in the order of the queue */
    int64_t work, start;
    bool goes;
};

static bool is_before(const struct lot *x, const struct lot *y)
{
    if (x->is_stopped != y->is_stopped)
        return x->is_stopped;
    if (x->is_spare != y->is_spare)
        return x->is_spare;
    if (x->priority != y->priority)
        return x->priority < y->priority;
    if (x->work != y->work)
        return x->work < y->work;
    if (x->start != y->start)
        return x->start > y->start;
    if (x->in_queue != y->in_queue)
        return x->in_queue < y->in_queue;
    return x->job != y->job ? x->job > y->job : x->last > y->last;
}

static int compare(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

static void add(const struct naive_gangs *m, struct lot *lot, int job, int member)
{
    const struct naive_job *j = &m->job[job];
    if (lot->members == 0)
        *lot = (struct lot){.job = job,
                            .last = member,
                            .priority = j->priority,
                            .in_queue = j->priority,
                            .start = j->start[member]};
    lot->members |= 1u << member;
    lot->work += __builtin_popcount(j->on[member]) * (m->now - j->start[member]);
}

/* Whether it runs, and has for long enough to be stopped. */
static bool may_go(const struct naive_gangs *m, const struct naive_job *j, int member)
{
    int64_t stays = j->stays > 1 ? j->stays : 1;
    return j->state[member] == NAIVE_RUNS && m->now - j->start[member] >= stays;
}

/* Those of a gang: the last ones of each role that are beyond its min, and all others together. Returns how many lots. */
static int list_gang(const struct naive_gangs *m, int job, struct lot *v)
{
    const struct naive_job *j = &m->job[job];
    struct lot whole = {0};
    bool keeps = m->keeps_gangs || j->awaited != 0;
    int n = 0;
    for (int k = j->roles - 1; k >= 0; k--) {
        const struct naive_role *r = &j->role[k];
        int more =
            naive_gangs_count(j, r, NAIVE_RUNS) + naive_gangs_count(j, r, NAIVE_DONE) - r->min;
        for (int i = r->first + r->members - 1; i >= r->first; i--) {
            if (!may_go(m, j, i)) {
                keeps |= j->state[i] == NAIVE_RUNS;
            } else if (more > 0) {
                v[n] = (struct lot){0};
                add(m, &v[n], job, i);
                v[n++].is_spare = true;
                more--;
            } else {
                add(m, &whole, job, i);
            }
        }
    }
    if (whole.members != 0 && !keeps)
        v[n++] = whole;
    return n;
}

/* Those that are being stopped, for others, for a block, by their shell or as their gang has failed. Where nobody else is to be, priorities do not count:
 * least work is to be waited for.
 */
static int list_stopped(const struct naive_gangs *m, int job, bool may_stop, struct lot *v)
{
    const struct naive_job *j = &m->job[job];
    int n = 0;
    for (int k = 0; k < j->members; k++)
        if (j->state[k] >= NAIVE_LEAVES && j->state[k] <= NAIVE_STOPS) {
            v[n] = (struct lot){0};
            add(m, &v[n], job, k);
            v[n].priority = may_stop ? j->priority : 0;
            v[n++].is_stopped = true;
        }
    return n;
}

static int list(const struct naive_gangs *m, int for_job, bool may_stop, struct lot *v)
{
    int n = 0;
    for (int i = 0; i < m->jobs; i++) {
        const struct naive_job *j = &m->job[i];
        n += list_stopped(m, i, may_stop, v + n);
        if (!may_stop || j->priority >= m->job[for_job].priority)
            continue;
        if (j->is_gang)
            n += list_gang(m, i, v + n);
        for (int k = 0; !j->is_gang && k < j->members; k++)
            if (may_go(m, j, k)) {
                v[n] = (struct lot){0};
                add(m, &v[n++], i, k);
            }
    }
    qsort(v, (size_t)n, sizeof(*v), compare);
    return n;
}

/* What a job could have with those gone that go, and is to be nobody else's. */
static uint32_t cores_of(const struct naive_gangs *m, int for_job, const struct lot *v, int n)
{
    uint32_t cores = naive_gangs_free(m), awaited = 0;
    for (int i = 0; i < m->jobs; i++)
        awaited |= m->job[i].awaited;
    for (int i = 0; i < n; i++)
        for (int k = 0; v[i].goes && k < m->job[v[i].job].members; k++)
            cores |= v[i].members >> k & 1 ? m->job[v[i].job].on[k] : 0;
    return cores & ~awaited & naive_gangs_clear(m, &m->job[for_job]);
}

/* Whether all that its gang can spare go before what is left of it, and what is left of it goes. */
static bool spare_go(const struct lot *v, int n, int job)
{
    bool go = true;
    for (int i = 0; i < n; i++)
        go &= v[i].job != job || !v[i].is_spare || v[i].goes;
    return go;
}

static bool rest_goes(const struct lot *v, int n, int job)
{
    bool goes = false;
    for (int i = 0; i < n; i++)
        goes |= v[i].job == job && !v[i].is_spare && !v[i].is_stopped && v[i].goes;
    return goes;
}

/* Whether a job has room for so many members of its roles, and is within limits, with those gone that go. */
static bool fits(const struct naive_gangs *m, int job, const int members[NAIVE_ROLES],
                 const struct lot *v, int n)
{
    const struct naive_job *j = &m->job[job];
    uint32_t gone[NAIVE_JOBS] = {0};
    for (int i = 0; i < n; i++)
        gone[v[i].job] |= v[i].goes ? v[i].members : 0;
    return __builtin_popcount(cores_of(m, job, v, n)) >= naive_gangs_cores(j, members) &&
           naive_gangs_within(m, j, members, gone);
}

/* Those that are not needed stay, the last one first. */
static void spare(const struct naive_gangs *m, int job, const int members[NAIVE_ROLES],
                  struct lot *v, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (!v[i].goes || (v[i].is_spare && rest_goes(v, n, v[i].job)))
            continue;
        v[i].goes = false;
        v[i].goes = !fits(m, job, members, v, n);
    }
}

uint32_t naive_gangs_preempt(struct naive_gangs *m, int job, const int members[NAIVE_ROLES],
                             bool may_stop)
{
    struct lot v[LOTS];
    int n = list(m, job, may_stop, v);
    for (int i = 0; i < n && !fits(m, job, members, v, n); i++)
        v[i].goes = v[i].is_stopped || !m->job[v[i].job].is_gang || v[i].is_spare ||
                    spare_go(v, n, v[i].job);
    if (!fits(m, job, members, v, n))
        return 0;
    spare(m, job, members, v, n);
    uint32_t on =
        naive_gangs_lowest(cores_of(m, job, v, n), naive_gangs_cores(&m->job[job], members));
    for (int i = 0; i < n; i++) {
        struct naive_job *j = &m->job[v[i].job];
        for (int k = 0; v[i].goes && k < j->members; k++) {
            if (v[i].members >> k & 1 && !v[i].is_stopped)
                j->state[k] = NAIVE_LEAVES;
            j->is_awaited[k] |= v[i].members >> k & 1;
        }
    }
    return on;
}
