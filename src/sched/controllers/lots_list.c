/* The list of lots: running jobs, spare members of gangs, gangs without these. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bounds.h"
#include "berth/sched_config.h"
#include "sched/controllers/lots_priv.h"
#include "sched/waiting/gang.h"
#include "sched/waiting/shares.h"

/* Add a lot of one job, or the first of several. NULL with ENOMEM. */
static struct lot *add_lot(const sched_t *s, struct lots *lots, uint32_t slot, enum lot_rank rank,
                           bool by_share)
{
    const struct job *job = &s->jobs[slot];
    if (array_grow((void **)&lots->v, &lots->cap, lots->n + 1, sizeof(*lots->v)) < 0)
        return NULL;
    struct lot *lot = &lots->v[lots->n++];
    *lot = (struct lot){.slot = slot,
                        .n = 1,
                        .rank = rank,
                        .gang = NO_GANG,
                        .by_share = by_share,
                        .level = s->queues->setup->queue[job->details->queue].priority,
                        .priority = job->details->priority,
                        .work = work_of(s, job),
                        .at = job->at,
                        .key = job->key};
    if (s->queues->shares)
        lot->near = share_common_depth(s->queues->shares->tree, lots->node, lots_node(s, slot));
    for (uint32_t d = 0; s->queues->shares && d < s->queues->shares->setup->shares.n_resources; d++)
        lot->amount[d] = s->queues->shares->job[slot].amount[d];
    return lot;
}

/* One more is in the lot. */
static void join_lot(const sched_t *s, struct lot *lot, uint32_t slot)
{
    const struct job *job = &s->jobs[slot];
    if (__builtin_add_overflow(lot->work, work_of(s, job), &lot->work))
        lot->work = INT64_MAX;
    lot->n++;
    lot->priority = job->details->priority > lot->priority ? job->details->priority : lot->priority;
    for (uint32_t d = 0; s->queues->shares && d < s->queues->shares->setup->shares.n_resources; d++)
        lot->amount[d] += s->queues->shares->job[slot].amount[d];
}

static bool is_eligible(const sched_t *s, const struct lots *lots, uint32_t slot, bool *by_share)
{
    return may_be_told(s, slot) && lots->may(s, lots->slot, slot, by_share);
}

/* A gang is not stopped whole. */
static void drop_whole(struct lots *lots, uint32_t whole)
{
    lots->n--;
    for (size_t i = whole; i < lots->n; i++)
        lots->v[i] = lots->v[i + 1];
}

/* What may be stopped of a gang, from its last member on. */
struct gang_lots {
    const struct gang_role *role; /* whose members are being looked at, */
    int64_t more;                 /* of which so many are more than its min */
    uint32_t whole;               /* the lot of what is left of the gang; NO_GANG: none yet */
    bool keeps;                   /* it may not be stopped whole */
};

/* Whether a running member is one that its role can spare, beside those behind it. */
static bool takes_spare(const sched_t *s, struct gang *gang, struct gang_lots *g, uint32_t member)
{
    const struct gang_role *role = gang_role_of(gang, member);
    bool may_spare = (int64_t)role->running + role->done > role->min;
    if (role != g->role)
        g->more = may_spare ? gang_role_more(s, gang, role) : 0;
    g->role = role;
    return g->more > 0;
}

/* A member that may be stopped is a lot of its own, or part of the whole. Returns 0, or -1 with ENOMEM. */
static int add_member(const sched_t *s, struct lots *lots, uint32_t number, struct gang_lots *g,
                      uint32_t slot, bool by_share)
{
    bool spare = takes_spare(s, lots->gang[number].gang, g, s->jobs[slot].details->member);
    if (!spare && g->whole != NO_GANG) {
        g->keeps |= by_share != lots->v[g->whole].by_share; /* it was moved to another queue */
        if (by_share == lots->v[g->whole].by_share)
            join_lot(s, &lots->v[g->whole], slot);
        return 0;
    }
    struct lot *lot = add_lot(s, lots, slot, spare ? LOT_SPARE : LOT_OTHER, by_share);
    if (!lot)
        return -1;
    lot->gang = number;
    lot->is_whole = !spare;
    if (!spare)
        g->whole = (uint32_t)lots->n - 1;
    lots->gang[number].spare += spare;
    g->more -= spare;
    return 0;
}

/* Those of a gang: each spare one, and what is left if nobody of that is to be spared. Returns 0, or -1 with ENOMEM. */
static int add_gang(const sched_t *s, struct lots *lots, struct gang *gang)
{
    uint32_t number = (uint32_t)lots->n_gangs;
    struct gang_lots g = {.whole = NO_GANG};
    if (array_grow((void **)&lots->gang, &lots->cap_gangs, lots->n_gangs + 1, sizeof(*lots->gang)) <
        0)
        return -1;
    lots->gang[lots->n_gangs++] = (struct lots_gang){.gang = gang};
    for (uint32_t i = gang->last; i != JOB_NONE; i = s->jobs[i].details->gang_before) {
        const struct details *d = s->jobs[i].details;
        bool by_share = false;
        g.keeps |= s->jobs[i].state == SCHED_RESERVED && s->jobs[i].is_preempting;
        if (!d->is_in_gang || is_being_stopped(s, i))
            continue;
        g.keeps |= s->queues->setup->queue[d->queue].keeps_gangs;
        if (!is_eligible(s, lots, i, &by_share))
            g.keeps = true;
        else if (add_member(s, lots, number, &g, i, by_share) < 0)
            return -1;
    }
    if (g.whole != NO_GANG && g.keeps)
        drop_whole(lots, g.whole);
    return 0;
}

/* The lots of those that are being stopped already, in no order. Returns 0, or -1 with ENOMEM. */
static int list_going(const sched_t *s, struct lots *lots)
{
    const struct queues *n = s->queues;
    for (size_t i = 0; i < n->n_stopping; i++)
        if (!add_lot(s, lots, n->stopping[i], LOT_GOES, false))
            return -1;
    return 0;
}

/* The lot of one that runs on, or all of its gang. Returns 0, or -1 with ENOMEM. */
static int add_running(sched_t *s, struct lots *lots, uint32_t slot, uint64_t listing)
{
    struct gang *gang = gang_of(s, slot);
    bool by_share = false;
    if (is_being_stopped(s, slot))
        return 0;
    if (gang && s->jobs[slot].details->is_in_gang) {
        bool is_listed = gang->listed == listing;
        gang->listed = listing;
        return is_listed ? 0 : add_gang(s, lots, gang);
    }
    if (!is_eligible(s, lots, slot, &by_share))
        return 0;
    return add_lot(s, lots, slot, LOT_OTHER, by_share) ? 0 : -1;
}

/* List who runs by lane, in a pass. Returns 0, or -1 with ENOMEM. O(1) where that is known, else O(running + lanes). */
static int list_runners(sched_t *s)
{
    struct lane_runners *r = &s->queues->runners;
    const struct heap *running = &s->queues->ends;
    if (RUNNERS_KEPT && r->is_known)
        return 0;
    if (array_grow((void **)&r->slot, &r->cap, (size_t)running->n + 1, sizeof(*r->slot)) < 0 ||
        array_grow((void **)&r->first, &r->cap_lanes, s->n_lanes + (size_t)2, sizeof(*r->first)) <
            0)
        return -1;
    memset(r->first, 0, (s->n_lanes + (size_t)2) * sizeof(*r->first));
    for (uint32_t i = 0; i < running->n; i++)
        r->first[s->jobs[running->v[i].item].lane + 2]++;
    for (uint32_t i = 2; i <= s->n_lanes; i++)
        r->first[i] += r->first[i - 1];
    for (uint32_t i = 0; i < running->n; i++)
        r->slot[r->first[s->jobs[running->v[i].item].lane + 1]++] = running->v[i].item;
    r->is_known = true;
    r->lists++;
    return 0;
}

bool lane_runners_check(const sched_t *s)
{
    const struct lane_runners *r = &s->queues->runners;
    const struct heap *running = &s->queues->ends;
    uint32_t listed = 0, runs = 0;
    if (!r->is_known)
        return true;
    for (uint32_t i = 0; i < running->n; i++)
        runs += s->jobs[running->v[i].item].state == SCHED_RUNNING;
    for (uint32_t i = 0; i < s->n_lanes; i++)
        for (uint32_t k = r->first[i]; k < r->first[i + 1]; k++) {
            const struct job *job = &s->jobs[r->slot[k]];
            if (job->state == SCHED_RUNNING && job->lane != i)
                return false;
            listed += job->state == SCHED_RUNNING;
        }
    return listed == runs;
}

/* All lots, in no order, but for those of lanes of which shares give nothing. Returns 0, or -1 with ENOMEM. */
static int list_lots(sched_t *s, struct lots *lots)
{
    const struct lane_runners *r = &s->queues->runners;
    uint64_t listing = ++s->queues->listings;
    unsigned preempts = s->queues->setup->queue[s->jobs[lots->slot].details->queue].preempts;
    int rc = list_runners(s) == 0 && stopping_list(s) == 0 ? list_going(s, lots) : -1;
    for (uint32_t i = 0; i < s->n_lanes && rc == 0; i++) {
        bool any = r->first[i] < r->first[i + 1];
        if (any && s->queues->shares && !lots_may_be_of(s, lots, i))
            lots->is_cut |= (preempts & SCHED_PREEMPTS_BORROWERS) != 0;
        else
            for (uint32_t k = r->first[i]; k < r->first[i + 1] && rc == 0; k++)
                rc = add_running(s, lots, r->slot[k], listing);
    }
    return rc;
}

static int compare_lots(const void *a, const void *b)
{
    const struct lot *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->near != y->near)
        return x->near > y->near ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->at != y->at)
        return x->at > y->at ? -1 : 1;
    return queue_before(y->key, x->key) ? -1 : queue_before(x->key, y->key);
}

static void add_victim(struct preemption *h, uint32_t slot)
{
    const struct job *job = &h->s->jobs[slot];
    h->victim[h->n++] = (struct victim){
        .slot = slot, .at = job->at, .key = job->key, .is_stopping = is_being_stopped(h->s, slot)};
}

/* What is left of a gang without its spare ones, as add_gang found them. */
static void add_whole(struct preemption *h, const struct lots_gang *of)
{
    const sched_t *s = h->s;
    struct gang_lots g = {.whole = NO_GANG};
    for (uint32_t i = of->gang->last; i != JOB_NONE; i = s->jobs[i].details->gang_before) {
        const struct details *d = s->jobs[i].details;
        if (!d->is_in_gang || is_being_stopped(s, i))
            continue;
        if (takes_spare(s, of->gang, &g, d->member))
            g.more--;
        else
            add_victim(h, i);
    }
}

/* The victims of all lots, in their order. Returns 0, or -1 with ENOMEM. */
static int add_victims(struct preemption *h)
{
    struct lots *lots = h->lots;
    size_t n = 0;
    for (size_t i = 0; i < lots->n; i++)
        n += lots->v[i].n;
    if (n == 0)
        return 0;
    h->victim = reallocarray(NULL, n, sizeof(*h->victim));
    if (!h->victim)
        return -1;
    for (size_t i = 0; i < lots->n; i++) {
        struct lot *lot = &lots->v[i];
        lot->first = (uint32_t)h->n;
        if (lot->is_whole)
            add_whole(h, &lots->gang[lot->gang]);
        else
            add_victim(h, lot->slot);
    }
    return 0;
}

int lots_list(struct preemption *h, bool going)
{
    struct lots *lots = h->lots;
    if ((going ? list_going(h->s, lots) : list_lots(h->s, lots)) < 0)
        return -1;
    if (lots->n > 0)
        qsort(lots->v, lots->n, sizeof(*lots->v), compare_lots);
    if (add_victims(h) < 0)
        return -1;
    if (!going) /* by now who runs and who is being stopped is known, and the list is whole */
        lots->of = lots_of_job(h->s, lots);
    return 0;
}
