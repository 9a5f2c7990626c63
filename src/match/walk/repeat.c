#include "match/walk/repeat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "match/book/fill_tree.h"
#include "match/walk/walk.h"

/* ---- Nodes ---- */

/* The children of a node's parent among which it is, if these are all nodes of the machine and alike; NULL. */
static const struct class_run *run_of_node(const struct match *m, uint32_t node)
{
    const struct topo *t = &m->topo;
    uint32_t parent = vertex_above(m, node);
    if (parent == VERTEX_NONE)
        return NULL;
    const struct class *c = topo_class(t, parent);
    const struct class_sum *all = topo_sum(t, t->root, TYPE_NODE);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const struct class_run *run = &t->run[c->run + i];
        if (run->type == TYPE_NODE)
            return run->alike && all && all->count == run->end - run->first ? run : NULL;
    }
    return NULL;
}

/* The node after one in the policy's order; VERTEX_NONE: it is the last one. */
static uint32_t node_after(const struct match *m, uint32_t node)
{
    const struct class_run *run = run_of_node(m, node);
    const uint32_t *child;
    if (!run)
        return VERTEX_NONE;
    topo_children(&m->topo, vertex_above(m, node), &child);
    int64_t step = m->policy.graph == ORDER_ASCENDING ? 1 : -1;
    int64_t at = run->first + (m->g->v[node].id - m->g->v[child[run->first]].id) + step;
    return at >= run->first && at < run->end ? child[at] : VERTEX_NONE;
}

/* Whether a policy is first fit where most is left. */
static bool goes_by_fill(const struct policy *p)
{
    return p->first && p->fill == FILL_EMPTIEST;
}

/* The first node in the order of such a policy, of those beside one; VERTEX_NONE: what is asked for has a say in that. */
static uint32_t emptiest_node(const struct match *m, uint32_t node)
{
    const struct fills *f = &m->fills;
    const struct fill *above = &f->v[f->of[vertex_above(m, node)]];
    uint32_t first = above->n_groups == 1 ? fill_tree_first(m, above->groups) : FILL_NONE;
    return first == FILL_NONE ? VERTEX_NONE : f->v[first].vertex;
}

/* Whether nobody holds anything of a vertex or is promised anything, whenever, where the policy goes by that. */
static bool is_unused(const struct match *m, uint32_t v)
{
    const struct fills *f = &m->fills;
    uint32_t i = goes_by_fill(&m->policy) ? f->of[v] : FILL_NONE;
    return !goes_by_fill(&m->policy) ||
           (i != FILL_NONE && f->v[i].full == 0 && f->v[i].promised == 0);
}

/* Whether nothing of a vertex is taken in a window, down or in a block. */
static bool is_idle(const struct state *s, int64_t at, int64_t end)
{
    return !s ||
           (s->n_down == 0 && s->blocks_below == 0 && state_load(s, at, end) == 0 &&
            (!s->below || s->below->units.n <= 1 || profile_max(&s->below->units, at, end) == 0));
}

/* Whether that is so of v and all below it, and what is below it is numbered from it on as below another vertex of its
 * class.
 */
static bool is_idle_like(const struct match *m, uint32_t v, uint32_t other, int64_t at, int64_t end)
{
    const struct topo *t = &m->topo;
    const uint32_t *child, *as;
    uint32_t n = topo_children(t, v, &child);
    topo_children(t, other, &as);
    if (!is_idle(m->state[v], at, end) || !is_unused(m, v))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (child[i] - v != as[i] - other ||
            !(topo_is_leaf(t, child[i]) ? is_idle(m->state[child[i]], at, end)
                                        : is_idle_like(m, child[i], as[i], at, end)))
            return false;
    return true;
}

/* ---- What is noted ---- */

void repeat_reset(struct match *m)
{
    struct repeat *r = &m->repeat;
    *r = (struct repeat){.shape = r->shape, .capacity = r->capacity, .host = VERTEX_NONE};
}

void repeat_clear(struct match *m)
{
    free(m->repeat.shape);
    m->repeat = (struct repeat){.host = VERTEX_NONE};
}

/* Whether equal requests are for one node each and the policy takes nodes by id, or where most is left. */
static bool is_for_nodes(const struct walk *w)
{
    const struct policy *p = w->policy;
    const struct request *q = &w->rq[w->requests->variant[0]];
    return q->type == TYPE_NODE && q->next == REQUEST_NONE && w->requests->n_variants == 1 &&
           !w->requests->moldable && !w->requests->by_property && !w->spec->constraints &&
           ((p->score == SCORE_ID && !p->first) || goes_by_fill(p)) && p->graph != ORDER_RUNS &&
           w->t->is_tree && !w->m->flexible && !w->m->has_orphans;
}

/* The node that a job has something of, if that and what is above the node is all; VERTEX_NONE. The first *n holds are of
 * the node and what is below it.
 */
static uint32_t node_of_holds(const struct match *m, const struct job *job, uint32_t *n)
{
    uint32_t k = 0;
    while (k < job->n && m->g->v[job->hold[k].vertex].type != TYPE_NODE)
        k++;
    if (k == job->n)
        return VERTEX_NONE;
    uint32_t node = job->hold[k].vertex;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t v = job->hold[i].vertex;
        while (v != VERTEX_NONE && v != node)
            v = vertex_above(m, v);
        if (v == VERTEX_NONE)
            return VERTEX_NONE;
    }
    for (uint32_t i = k + 1; i < job->n; i++)
        if (job->hold[i].vertex != vertex_above(m, job->hold[i - 1].vertex))
            return VERTEX_NONE;
    *n = k + 1;
    return node;
}

/* The job is the next that has something of the first node. */
static void note_shape(struct match *m, const struct job *job, uint32_t held)
{
    struct repeat *r = &m->repeat;
    if (array_grow((void **)&r->shape, &r->capacity, (size_t)r->n + 1, sizeof(*r->shape)) < 0) {
        repeat_reset(m);
        return;
    }
    r->shape[r->n++] = (struct repeat_shape){job, held};
    r->given = r->n;
}

void repeat_note(struct walk *w, const struct job *job)
{
    struct match *m = w->m;
    struct repeat *r = &m->repeat;
    uint32_t held = 0;
    if (!m->alike.is)
        return;
    uint32_t node = is_for_nodes(w) ? node_of_holds(m, job, &held) : VERTEX_NONE;
    if (node != VERTEX_NONE && node == r->host && !r->is_whole) {
        note_shape(m, job, held);
        return;
    }
    bool is_new = node != VERTEX_NONE && node != r->host && run_of_node(m, node) &&
                  is_idle_like(m, node, r->n > 0 ? r->node : node, job->at, job->end);
    if (r->n > 0 && is_new) {
        r->is_whole = true;
        r->host = node;
        r->given = 1;
    } else if (r->is_whole) {
        r->host = VERTEX_NONE; /* nobody has counted what is left of it */
    } else {
        repeat_reset(m);
        if (is_new) {
            r->host = r->node = node;
            note_shape(m, job, held);
        }
    }
}

/* ---- The next one ---- */

/* A job like one that another node was given, of this node. NULL with ENOMEM. */
static struct job *job_shifted(const struct repeat_shape *shape, uint32_t by, int64_t jobid)
{
    const struct job *like = shape->job;
    struct job *job = job_like(like);
    if (!job)
        return NULL;
    job->id = jobid;
    job->hold = malloc(like->n * sizeof(*job->hold));
    job->counts = malloc(((size_t)like->n_counts + 1) * sizeof(*job->counts));
    if (!job->hold || !job->counts) {
        job_destroy(job);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(job->hold, like->hold, like->n * sizeof(*job->hold));
    if (like->n_counts > 0)
        memcpy(job->counts, like->counts, like->n_counts * sizeof(*job->counts));
    job->n = job->capacity = like->n;
    job->n_counts = job->counts_capacity = like->n_counts;
    for (uint32_t i = 0; i < shape->held; i++)
        job->hold[i].vertex += by;
    return job;
}

/* Whether the window is that of the others, and what may be taken during it is enough (plan.h). */
static bool is_asked_again(const struct repeat *r, const struct plan_ask *ask, int64_t at,
                           bool reservation)
{
    const struct job *job = r->shape[0].job;
    return job->at == at && job->end == at + ask->duration && job->reserved == reservation &&
           (!ask->calendar ||
            (ask->limit >= 0 && profile_max(ask->calendar, at, at + ask->duration) <= ask->limit));
}

struct job *repeat_next(struct match *m, const struct plan_ask *ask, int64_t jobid, int64_t at,
                        bool reservation, bool *failed)
{
    struct repeat *r = &m->repeat;
    *failed = false;
    if (!m->alike.is || !r->is_whole || r->host == VERTEX_NONE ||
        !is_asked_again(r, ask, at, reservation))
        return NULL;
    bool by_fill = goes_by_fill(&m->policy);
    if (by_fill || r->given == r->n) {
        uint32_t node = by_fill ? emptiest_node(m, r->host) : node_after(m, r->host);
        if (node == VERTEX_NONE || !match_part_has(ask->within, node) ||
            !is_idle_like(m, node, r->node, at, at + ask->duration))
            return NULL;
        r->host = node;
        r->given = 0;
    }
    struct job *job = job_shifted(&r->shape[r->given], r->host - r->node, jobid);
    *failed = !job;
    r->given += job != NULL;
    return job;
}
