/* After the structure of the graph has changed: what follows from it is made anew, aside, and takes
 * the place of the old once all is there.
 */
#include "match/inner.h"

/* The order of the children that are left, then of those that came. */
static int renew_weights(const struct match *m, struct match *next)
{
    for (uint32_t v = 0; v < m->states; v++) {
        const struct state *s = m->state[v];
        if (!s || !s->weight || m->g->v[v].gone || next->topo.class_of[v] == CLASS_NONE)
            continue;
        if (match_need_weights(next, v) < 0)
            return -1;
        for (uint32_t i = 0; i < s->n_weights; i++)
            match_put_weight(next, v, &s->weight[i]);
    }
    return 0;
}

/* The jobs without what is gone. Those that hold nothing any more go on all the same. */
static int renew_jobs(const struct match *m, struct match *next)
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

int match_renew(struct match *m)
{
    struct match next =
        *m; /* no step uses anything of it that isn't made anew, but for the graph and the policy */

    match_mark_divisible(m->g, m->states);
    next.topo = (struct topo){0};
    next.prune = (struct prune){0};
    next.state = NULL;
    next.node = NULL;
    next.of_rank = NULL;
    next.exclusive = NULL;
    next.mark_of = NULL;
    next.times = (struct profile){0};
    next.jobs = (struct jobs){0};
    next.names = (struct name_index){0};
    if (topo_init(&next.topo, m->g, m->topo.subsystem) < 0 ||
        prune_renew(&next.prune, &m->prune, m->g, &next.topo) < 0 || match_make_states(&next) < 0 ||
        renew_weights(m, &next) < 0 || renew_jobs(m, &next) < 0) {
        match_drop_states(&next);
        return -1;
    }
    match_drop_states(m);
    *m = next;
    m->last.n = 0;
    match_forget(m);
    return 0;
}
