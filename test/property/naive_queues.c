/* The passes of naive_queues.h: the order of all jobs, and one level of queues after the other. */
#include "naive_queues_inner.h"

#include "naive_blocks.h"
#include "naive_classes.h"
#include "naive_tails.h"
#include "naive_waits.h"

int64_t nq_level(const struct naive_queues *q, int job)
{
    const struct nq_lane *lane = &q->lane[q->job[job].lane];
    return q->job[job].is_virtual ? lane->virtual_priority : lane->priority;
}

bool nq_before(const struct naive_queues *q, int a, int b)
{
    const struct nq_job *x = &q->job[a], *y = &q->job[b];
    if (nq_level(q, a) != nq_level(q, b))
        return nq_level(q, a) > nq_level(q, b);
    if (q->deadlines_first && x->deadline != y->deadline)
        return x->deadline < y->deadline;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->deadline != y->deadline)
        return x->deadline < y->deadline;
    int64_t hx = nc_held(q, a), hy = nc_held(q, b);
    if (hx != hy)
        return hx < hy;
    int64_t lx = nq_length(q, a), ly = nq_length(q, b);
    return lx != ly ? lx < ly : x->order < y->order;
}

/* Where the longest goes first, one of unknown end goes last; jobs of other queues before all of them. */
int64_t nq_length(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (!q->lane[j->lane].longest_first)
        return 0;
    return NQ_ENDLESS + 1 - (j->estimate < NQ_ENDLESS ? j->estimate : 0);
}

int nq_next_of(const struct naive_queues *q, enum nq_state state, int after)
{
    int best = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == state && (after < 0 || nq_before(q, after, i)) &&
            (best < 0 || nq_before(q, i, best)))
            best = i;
    return best;
}

int nq_first_open(const struct naive_queues *q, int lane)
{
    int first = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_OPEN && q->job[i].lane == lane && !nc_is_shut(q, i) &&
            (first < 0 || nq_before(q, i, first)))
            first = i;
    return first;
}

int64_t nq_holders(const struct naive_queues *q, int lane)
{
    int64_t n = 0;
    for (int i = 0; i < q->jobs; i++)
        n += q->job[i].state == NQ_HELD && !q->job[i].preempting && !q->job[i].kept &&
             q->job[i].lane == lane;
    return n;
}

int nq_last_holder(const struct naive_queues *q, int lane)
{
    int last = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && !q->job[i].preempting && !q->job[i].kept &&
            q->job[i].lane == lane && (last < 0 || nq_before(q, last, i)))
            last = i;
    return last;
}

int nq_last_movable(const struct naive_queues *q)
{
    int last = -1;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && (!q->job[i].preempting || q->job[i].lifted) &&
            (last < 0 || nq_before(q, last, i)))
            last = i;
    return last;
}

/* Whether what is up could not run a job, were it idle. */
static bool needs_down(const struct naive_queues *q, int job)
{
    return nq_lowest(q, job, q->lane[q->job[job].lane].part & ~q->down) == 0;
}

bool nq_is_considered(const struct naive_queues *q, int job)
{
    int64_t rank = 0;
    for (int i = 0; i < q->jobs; i++)
        rank += ((q->job[i].state == NQ_OPEN && !nc_is_shut(q, i) && !needs_down(q, i)) ||
                 (q->job[i].state == NQ_HELD && !q->job[i].kept)) &&
                q->job[i].lane == q->job[job].lane && nq_before(q, i, job);
    return rank < q->lane[q->job[job].lane].queue_depth;
}

/* The highest level below another one at which somebody waits; false: there is none. */
static bool next_level(const struct naive_queues *q, bool begun, int64_t above, int64_t *at)
{
    bool any = false;
    for (int i = 0; i < q->jobs; i++)
        if ((q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD) &&
            (!begun || nq_level(q, i) < above) && (!any || nq_level(q, i) > *at)) {
            *at = nq_level(q, i);
            any = true;
        }
    return any;
}

/* The first jobs of the queues of a level that promise nothing, in order, each at its earliest time. */
static void place_heads(struct naive_queues *q, int64_t at)
{
    q->stacks = true;
    for (int i = nq_next_of(q, NQ_OPEN, -1); i >= 0; i = nq_next_of(q, NQ_OPEN, i)) {
        int l = q->job[i].lane;
        int64_t when = -1;
        if (nq_level(q, i) == at && q->lane[l].depth == 0 && !q->lane[l].stopped &&
            nq_first_open(q, l) == i)
            when = nq_earliest(q, i);
        if (when >= 0)
            q->head[l] = (struct nq_head){true, i, when, nq_choice(q, i, when)};
    }
    q->stacks = false;
}

/* Whether levels are looked at one by one: somebody holds something below the highest, or is not to overtake
 * the first job of a higher queue.
 */
static bool by_level(const struct naive_queues *q)
{
    int64_t top = 0, lower = 0;
    if (!next_level(q, false, 0, &top))
        return false;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].state == NQ_HELD && nq_level(q, i) < top)
            return true;
    for (int l = 0; l < q->lanes; l++)
        if (q->lane[l].depth == 0 && !q->lane[l].stopped && nq_first_open(q, l) >= 0 &&
            next_level(q, true, nq_level(q, nq_first_open(q, l)), &lower))
            return true;
    return false;
}

static void swept(struct naive_queues *q)
{
    q->swept = true;
    for (int l = 0; l < q->lanes; l++)
        q->lane[l].taken = false;
}

/* Each level, or all at once. What lower levels are promised is out of the calendars until their turn. */
static void look(struct naive_queues *q, bool had_heads)
{
    bool listed[NQ_JOBS] = {false}, all = !by_level(q), more, begun = false;
    int64_t at = 0, top = 0;
    int first = nq_first_to_place(q);
    if (all) {
        q->swept &= !had_heads; /* who was below these may have what they leave */
        while (nq_outrank(q))
            ;
        nq_sweep(q, 0, true);
        swept(q);
        nq_start_due(q, 0, true);
        nq_walk(q, 0, true);
        return;
    }
    nq_list_turns(q, listed);
    nq_note_missed(q, listed);
    more = next_level(q, false, 0, &top);
    for (int i = 0; i < q->jobs; i++) {
        bool behind = (first >= 0 && !nq_turn_before(q, i, first)) || nq_level(q, i) < top;
        q->job[i].lifted |= q->job[i].state == NQ_HELD && !q->job[i].preempting && behind;
    }
    q->swept = false;
    for (;;) {
        int64_t lower = 0;
        more = next_level(q, begun, at, &at) && next_level(q, true, at, &lower);
        begun = true;
        nq_place_all(q, listed, at, false);
        if (!more)
            q->displaces = false;
        nq_sweep(q, at, false);
        if (!more)
            swept(q);
        nq_start_due(q, at, false);
        nq_walk(q, at, false);
        if (!more)
            break;
        place_heads(q, at);
        if (q->made_room) { /* it begins again: nobody new has a turn before that */
            bool nobody[NQ_JOBS] = {false};
            nq_place_all(q, nobody, at, true);
            return;
        }
    }
}

/* Blocks have come or gone since the last pass: whoever waits for victims may have room elsewhere. */
static void look_beside_victims(struct naive_queues *q, int64_t since)
{
    for (int i = 0; i < q->jobs && nb_next_turn(q, since) <= q->now; i++)
        q->swept &= !(q->job[i].state == NQ_HELD && q->job[i].preempting);
}

/* Those that are displaced are new where something has come back. */
static void renew_displaced(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++)
        if (q->back && q->job[i].displaced >= 0 &&
            (q->job[i].state == NQ_OPEN || q->job[i].state == NQ_HELD)) {
            q->job[i].fresh = true;
            q->job[i].placed = false;
        }
    q->back = false;
}

/* Where more of an array hold something than may by now, the last ones lose what they are promised. */
static void take_back_beyond(struct naive_queues *q)
{
    for (int last = 0; last >= 0;) {
        last = -1;
        for (int i = 0; i < q->jobs; i++)
            if (q->job[i].state == NQ_HELD && !q->job[i].preempting && nq_beyond(q, i) > 0 &&
                (last < 0 || nq_before(q, last, i)))
                last = i;
        if (last < 0)
            return;
        nq_give_back(q, last);
        q->swept = false;
    }
}

/* Whether a job waits before a holder of its queue. */
static bool is_before_own_holder(const struct naive_queues *q, int job)
{
    int last = nq_last_holder(q, q->job[job].lane);
    return q->job[job].state == NQ_OPEN && !q->lane[q->job[job].lane].stopped && !q->shares &&
           last >= 0 && nq_before(q, job, last);
}

/* Whether an open job that is not as new stands before one of its queue, which has a promise to give: it has that first. */
static bool is_behind_promise(const struct naive_queues *q, int job)
{
    int lane = q->job[job].lane;
    for (int i = 0; i < q->jobs && nq_holders(q, lane) < q->lane[lane].depth; i++)
        if (q->job[i].lane == lane && q->job[i].state == NQ_OPEN && !q->job[i].too_deep &&
            nq_before(q, i, job))
            return true;
    return false;
}

bool nq_let_in(struct naive_queues *q, bool walks)
{
    bool any = false;
    for (int i = 0; i < q->jobs; i++)
        if (q->job[i].too_deep && !q->shares && nq_is_considered(q, i) &&
            (is_before_own_holder(q, i) || nq_has_turn(q, i)) &&
            !(walks && is_behind_promise(q, i))) {
            q->job[i].fresh = q->job[i].let_in = any = true;
            q->job[i].placed = q->job[i].too_deep = false;
        }
    return any;
}

void nq_pass(struct naive_queues *q, int64_t now)
{
    bool had_heads = false, had_softened = false, softens, again;
    q->now = now;
    look_beside_victims(q, q->passed);
    q->passed = now;
    q->decisions = 0;
    q->has_renewed = q->softens = false;
    for (int i = 0; i < q->jobs; i++)
        q->job[i].softened = q->job[i].let_in = false;
    for (int i = 0; i < q->lanes; i++) {
        nq_take_place(q, i);
        nq_keep_depth(q, i);
    }
    nb_reject(q);
    nw_tell(q);
    nt_overrun(q);
    nb_stop(q);
    take_back_beyond(q);
    nq_settle_gangs(q);
    nr_recount(q);
    nq_put_off(q);
    nq_settle(q, false);
    renew_displaced(q);
    do {
        nq_let_in(q, false);
        q->made_room = false;
        q->let = 0;
        q->swept_to = -1;
        for (int i = 0; i < q->jobs; i++)
            q->job[i].looks_again = false;
        for (int l = 0; l < q->lanes; l++) {
            had_heads |= q->head[l].is;
            q->head[l].is = false;
        }
        if (!q->swept || q->judges_all)
            nt_judge_again(q);
        nq_repair(q);
        look(q, had_heads);
        softens = nt_judge_all(q) && !had_softened;
        had_softened |= softens;
        q->swept &= !softens;
        nq_settle(q, true);
        again = nq_let_in(q, false) || q->made_room || q->let > 0 || softens;
        if (again && q->back && !q->has_renewed) {
            q->has_renewed = true;
            renew_displaced(q);
        }
    } while (again);
    for (int i = 0; i < q->jobs; i++)
        q->job[i].fresh = q->job[i].placed = q->job[i].candidate = false;
    for (int i = 0; i < q->jobs; i++)
        q->job[i].too_deep = is_before_own_holder(q, i) && !nq_is_considered(q, i);
}
