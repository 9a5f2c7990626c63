/* Rebuilding the matcher after the structure of the graph has changed. The new parts are made beside the old
 * ones and replace them once all of them are there, so that running out of memory changes nothing.
 */
#include "match/inner.h"

/* Keep the order of the children that are left, and put new ones behind them. */
static int rebuild_weights(const struct match *m, struct match *next)
{
    for (uint32_t v = 0; v < m->states; v++) {
        const struct state_below *s = state_below(m->state[v]);
        if (!s->weight || m->g->v[v].gone || next->topo.class_of[v] == CLASS_NONE)
            continue;
        if (match_need_weights(next, v) < 0)
            return -1;
        for (uint32_t i = 0; i < s->n_weights; i++)
            match_put_weight(next, v, &s->weight[i]);
    }
    return 0;
}

/* Record all jobs without the vertices that are gone. A job that has nothing left goes on all the same. */
static int rebuild_jobs(const struct match *m, struct match *next)
{
    for (uint32_t i = 0; i < m->jobs.slots; i++) {
        struct job *job = m->jobs.slot[i] ? match_recount(next, m->jobs.slot[i], false) : NULL;
        if (!m->jobs.slot[i])
            continue;
        if (!job || match_record(next, job) < 0) {
            job_destroy(job);
            return -1;
        }
    }
    return 0;
}

int match_rebuild(struct match *m)
{
    struct match next = *m; /* of the old parts only the graph and the policy are used */

    match_mark_divisible(m->g, m->states);
    next.topo = (struct topo){0};
    next.prune = (struct prune){0};
    next.state = NULL;
    next.state_memory = (struct arena){0};
    next.node = NULL;
    next.of_rank = NULL;
    next.exclusive = NULL;
    next.mark_of = NULL;
    next.times = (struct profile){0};
    next.jobs = (struct jobs){0};
    next.names = (struct name_index){0};
    next.fills = (struct fills){0};
    next.no_room = NULL;
    if (topo_init(&next.topo, m->g, m->topo.subsystem) < 0 ||
        prune_rebuild(&next.prune, &m->prune, m->g, &next.topo) < 0 ||
        match_make_states(&next) < 0 || rebuild_weights(m, &next) < 0 ||
        rebuild_jobs(m, &next) < 0) {
        match_drop_states(&next);
        return -1;
    }
    match_drop_states(m);
    *m = next;
    m->last.n = 0;
    match_clear_memo(m);
    return 0;
}
