/* The lots of the last search, for the next one: jobs of a lane that are tried one after the other in vain may have the same
 * ones stopped, where that goes by what queues have.
 */
#include <stdlib.h>

#include "base/bounds.h"
#include "berth/sched_config.h"
#include "sched/controllers/lots_priv.h"
#include "sched/waiting/shares.h"

struct lots_kept {
    struct lots *lots;
    struct victim *victim;
    size_t n, cap;
};

struct lots_of lots_of_job(const sched_t *s, const struct lots *lots)
{
    const struct queues *n = s->queues;
    const struct job *job = &s->jobs[lots->slot];
    unsigned preempts = n->setup->queue[job->details->queue].preempts;
    struct lots_of of = {.lane = job->lane,
                         .booked = s->booked,
                         .runners = n->runners.lists,
                         .stopping = n->stopping_lists};
    of.is_known = LOTS_KEPT && n->shares && preempts == SCHED_PREEMPTS_BORROWERS &&
                  n->setup->n_rounds == 1 && s->pass.phase == PASS_WALK && n->runners.is_known &&
                  !n->stopping_is_stale;
    if (!of.is_known)
        return of;
    of.changes = share_changes(n->shares->tree);
    for (uint32_t d = 0; d < share_dimensions(n->shares->tree); d++)
        of.asks |= lots->amount[d] > 0 ? 1u << d : 0;
    return of;
}

static bool is_same(const struct lots_of *a, const struct lots_of *b)
{
    return a->is_known && b->is_known && a->lane == b->lane && a->asks == b->asks &&
           a->booked == b->booked && a->runners == b->runners && a->stopping == b->stopping &&
           a->changes == b->changes;
}

bool lots_take_kept(struct preemption *h)
{
    struct lots_kept *kept = h->s->queues->lots_kept;
    struct lots *lots = h->lots, *was = kept ? kept->lots : NULL;
    struct lots_of of = lots_of_job(h->s, lots);
    if (!was || lots->is_going || !is_same(&was->of, &of))
        return false;
    lots->of = of;
    lots->is_cut = was->is_cut;
    lots->v = was->v;
    lots->n = was->n;
    lots->cap = was->cap;
    lots->gang = was->gang;
    lots->n_gangs = was->n_gangs;
    lots->cap_gangs = was->cap_gangs;
    for (size_t i = 0; i < lots->n; i++)
        lots->v[i].is_taken = lots->v[i].is_needed = false;
    for (size_t i = 0; i < lots->n_gangs; i++) {
        lots->gang[i].taken = 0;
        lots->gang[i].is_whole = false;
    }
    h->victim = kept->victim;
    h->n = kept->n;
    h->cap = kept->cap;
    was->v = NULL;
    was->gang = NULL;
    kept->victim = NULL;
    lots_free(was);
    kept->lots = NULL;
    return true;
}

void lots_kept_free(struct lots_kept *kept)
{
    if (!kept)
        return;
    lots_free(kept->lots);
    free(kept->victim);
    free(kept);
}

void lots_end(struct preemption *h)
{
    struct queues *n = h->s->queues;
    if (h->lots && h->lots->of.is_known && !n->lots_kept)
        n->lots_kept = calloc(1, sizeof(*n->lots_kept)); /* without memory they are listed again */
    if (h->lots && h->lots->of.is_known && n->lots_kept) {
        lots_free(n->lots_kept->lots);
        free(n->lots_kept->victim);
        *n->lots_kept = (struct lots_kept){h->lots, h->victim, h->n, h->cap};
        h->victim = NULL;
    } else {
        lots_free(h->lots);
    }
    h->lots = NULL;
}
