/* Whom a job stops to start now. */
#include "naive_queues_inner.h"

#include "base/number.h"
#include "naive_limits.h"
#include "naive_tails.h"

int64_t nq_preemptible_from(const struct nq_job *j)
{
    return j->at + greater(j->after, 1);
}

static bool stops_any(const struct naive_queues *q)
{
    bool any = false;
    for (int i = 0; i < q->lanes; i++)
        any |= q->lane[i].preemptible;
    return any;
}

/* Whether it is being stopped: for another, for a block, as its gang has failed, by its shell or as its limit is over. */
bool nq_leaves(const struct naive_queues *q, const struct nq_job *j)
{
    bool is_out_of_time = q->now >= nt_end(j, j->at);
    return j->stopping ||
           ((j->cleared || j->dismissed || j->leaving || is_out_of_time) && stops_any(q));
}

/* Whether a member's gang can do without it, if it is of one: the last ones of its role that go on are beyond the min. */
static bool is_spare(const struct naive_queues *q, int member)
{
    const struct nq_job *j = &q->job[member];
    int has = 0, behind = 0;
    for (int i = 0; i < q->jobs && j->min > 0; i++) {
        const struct nq_job *k = &q->job[i];
        bool is = k->array == j->array && k->role == j->role;
        bool runs = k->state == NQ_RUNNING && !nq_leaves(q, k);
        has += is && (runs || k->ended_well);
        behind += is && runs && i > member;
    }
    return j->min == 0 || has - behind > j->role_min;
}

/* It has something that the job could use: nothing of what is down. */
static bool may_be_victim(const struct naive_queues *q, int job, int victim)
{
    const struct nq_job *j = &q->job[victim];
    if (!nq_leaves(q, j) && !is_spare(q, victim))
        return false;
    return j->state == NQ_RUNNING &&
           (nq_leaves(q, j) ||
            (q->lane[j->lane].preemptible && q->now >= nq_preemptible_from(j))) &&
           j->nodes & q->lane[q->job[job].lane].part & ~q->down;
}

static int64_t work(const struct naive_queues *q, int victim)
{
    return (q->now - q->job[victim].at) * nq_cores_asked(q, victim);
}

/* Whether less is lost by preempting a; then the younger one goes, by its start and its rank. */
static bool costs_less(const struct naive_queues *q, int a, int b)
{
    if (work(q, a) != work(q, b))
        return work(q, a) < work(q, b);
    return q->job[a].at != q->job[b].at ? q->job[a].at > q->job[b].at : nq_before(q, b, a);
}

/* The victims of a job, those who are being stopped or the others, in the order of what they cost. */
static int list_victims(const struct naive_queues *q, int job, bool told, int *list)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++) {
        int k = n;
        if (!may_be_victim(q, job, i) || nq_leaves(q, &q->job[i]) != told)
            continue;
        for (; k > 0 && costs_less(q, i, list[k - 1]); k--)
            list[k] = list[k - 1];
        list[k] = i;
        n++;
    }
    return n;
}

static bool fits(struct naive_queues *q, int job)
{
    return nq_choice_now(q, job) != 0;
}

/* Whether one set of victims, as bits, is rather stopped than another one: fewer, then with less work, then those who
 * have run for less, then with the last in the order of all of those who are in one of the two.
 */
static bool rather(const struct naive_queues *q, const int *list, int n, uint32_t a, uint32_t b)
{
    int64_t more_work = 0, ran_longer = 0;
    int last = -1;
    if (__builtin_popcount(a) != __builtin_popcount(b))
        return __builtin_popcount(a) < __builtin_popcount(b);
    for (int i = 0; i < n; i++) {
        int in = (int)(a >> i & 1) - (int)(b >> i & 1);
        more_work += in * work(q, list[i]);
        ran_longer += in * (q->now - q->job[list[i]].at);
        if (in != 0 && (last < 0 || nq_before(q, list[last], list[i])))
            last = i;
    }
    if (more_work != 0 || ran_longer != 0)
        return more_work != 0 ? more_work < 0 : ran_longer < 0;
    return last >= 0 && a >> last & 1;
}

static void lift_set(struct naive_queues *q, const int *list, int n, uint32_t set)
{
    for (int i = 0; i < n; i++)
        q->job[list[i]].lifted = set >> i & 1;
}

/* Lift those that the job takes what it needs from: those who are being stopped, as far as they are needed, and of all
 * sets of others the best. Returns whether it fits then.
 */
static bool take(struct naive_queues *q, int job)
{
    int told[NQ_JOBS], others[NQ_JOBS];
    int n = list_victims(q, job, false, others), n_told = list_victims(q, job, true, told);
    uint32_t best = 0, sets = 1u << n;
    if ((n + n_told > 0 || q->job[job].state == NQ_OPEN) && fits(q, job))
        return true; /* others have moved out of a holder's way, or limits alone kept an open job: nobody is stopped in vain */
    lift_set(q, told, n_told, ~0u);
    bool any = n_told > 0 && fits(q, job);
    for (uint32_t set = 1; set < sets && n > 0 && best == 0 && !any; set++) {
        lift_set(q, others, n, set);
        any = fits(q, job);
        best = any ? set : 0;
    }
    for (uint32_t set = best + 1; set < sets && best != 0; set++) {
        lift_set(q, others, n, set);
        if (rather(q, others, n, set, best) && fits(q, job))
            best = set;
    }
    lift_set(q, others, n, best);
    for (int i = n_told; i-- > 0;) {
        q->job[told[i]].lifted = false;
        q->job[told[i]].lifted = !any || !fits(q, job);
    }
    if (!any)
        lift_set(q, told, n_told, 0);
    return any;
}

/* Limits leave out for a while those for whose ends others wait (`victims`), or these others, and of the first those for
 * whom the job waits, too. Those of the others that are to be placed anew are left out already, and stay so.
 */
static void set_aside(struct naive_queues *q, int job, bool victims, bool aside)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        bool is_victim = j->state == NQ_RUNNING && nq_is_awaited(q, i);
        bool is_other =
            j->state == NQ_HELD && j->preempting && j->victims > 0 && !j->lifted && i != job;
        if (victims ? is_victim : is_other || (is_victim && j->lifted))
            j->set_aside = aside;
    }
}

bool nq_is_kept_at_last(struct naive_queues *q, int job)
{
    bool keeps = false;
    for (int victims = 0; victims < 2; victims++) {
        set_aside(q, job, victims, true);
        keeps |= nl_over(q, job, q->now) >= 0;
        set_aside(q, job, victims, false);
    }
    return keeps;
}

/* Those who have preempted others and have yet to start, but one, are out of limits, or back. */
static void leave_out(struct naive_queues *q, int job, bool out)
{
    for (int i = 0; i < q->jobs; i++)
        if (i != job && q->job[i].state == NQ_HELD && q->job[i].preempting && !q->job[i].lifted)
            q->job[i].set_aside = out;
}

/* Keep out of limits those for whose ends others wait, as far as the job needs that: the last in order comes back first. Returns
 * whether they have room for it then.
 */
static bool leave_out_awaited(struct naive_queues *q, int job)
{
    bool out[NQ_JOBS] = {false};
    for (int i = 0; i < q->jobs; i++)
        q->job[i].set_aside |= out[i] = q->job[i].state == NQ_RUNNING && nq_is_awaited(q, i);
    bool let = nl_over(q, job, q->now) < 0;
    for (;;) {
        int last = -1;
        for (int i = 0; i < q->jobs; i++)
            if (out[i] && (last < 0 || nq_before(q, last, i)))
                last = i;
        if (last < 0)
            return let;
        out[last] = q->job[last].set_aside = false;
        q->job[last].set_aside = let && nl_over(q, job, q->now) >= 0;
    }
}

bool nq_is_let_now(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    leave_out(q, job, true);
    bool let = nl_over(q, job, q->now) < 0, waits = !let && leave_out_awaited(q, job);
    leave_out(q, job, false);
    for (int i = 0; i < q->jobs && waits; i++) {
        struct nq_job *victim = &q->job[i];
        if (victim->state != NQ_RUNNING || !victim->set_aside)
            continue;
        victim->set_aside = false;
        j->awaits[i] = true;
        j->victims++;
        nq_decide(q, NQ_AWAIT, i);
        q->decision[q->decisions - 1].other = job;
    }
    if (!let && !waits) {
        nq_give_back(q, job);
        j->fresh = true;
        j->placed = false;
    }
    return let;
}

bool nq_preempt(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    int list[NQ_JOBS], victims = 0;
    bool looks = j->state == NQ_HELD || nl_over(q, job, q->now) < 0 || !nq_is_kept_at_last(q, job);
    if (q->lane[j->lane].preemptible || !looks || !take(q, job))
        return false;
    int n = list_victims(q, job, false, list);
    n += list_victims(q, job, true, list + n);
    if (nq_is_kept_at_last(q, job)) {
        lift_set(q, list, n, 0);
        return false;
    }
    j->nodes = nq_choice_now(q, job);
    j->at = q->now;
    j->expected = false;
    for (int i = 0; i < n; i++) {
        struct nq_job *victim = &q->job[list[i]];
        if (!victim->lifted)
            continue;
        victim->lifted = false;
        j->awaits[list[i]] = true;
        victims++;
        nq_decide(q, nq_leaves(q, victim) ? NQ_AWAIT : NQ_PREEMPT, list[i]);
        victim->stopping |= !nq_leaves(q, victim);
        q->decision[q->decisions - 1].other = job;
    }
    bool held = j->state == NQ_HELD;
    if (held)
        nl_decreased(q, job);
    j->kept = false;
    j->preempting = victims > 0;
    j->victims = victims;
    j->displaced = -1;
    if (victims > 0) {
        j->state = NQ_HELD;
        if (j->whole == 1)
            nq_come_forward(q, job);
        nq_fill(q, job);
    } else {
        nq_start(q, job);
    }
    if (held)
        nq_leave_promise(q, job);
    return true;
}

void nq_preempt_for_holder(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    if (j->preempting || j->at <= q->now)
        return;
    j->lifted = true;
    bool does = nq_preempt(q, job);
    j->lifted = false;
    q->made_room |= does;
    q->swept &= !does;
}

void nq_start_elsewhere(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    j->state = NQ_OPEN;
    uint32_t nodes = nq_choice_now(q, job);
    bool fits = nodes != 0 && nl_over(q, job, q->now) < 0;
    j->state = NQ_HELD;
    if (!fits)
        return;
    nq_let_victims_go(q, job);
    nl_decreased(q, job);
    nq_leave_promise(q, job);
    j->nodes = nodes;
    nq_start(q, job);
}
