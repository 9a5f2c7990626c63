/* The usage of a vertex over time, as filters count it, in one list of steps. */
#include "match/inner.h"
#include "match/plan.h"

/* A walk over a profile: its load at the current instant, and its next point. */
struct track {
    struct profile_cursor ahead;
    int64_t load;
    bool more;
};

static void track_begin(struct track *t, const struct profile *p)
{
    t->load = 0;
    t->more = p->n > 1;
    if (p->n == 0)
        return;
    profile_seek(&t->ahead, p, 0);
    t->load = profile_cursor_load(&t->ahead);
    t->more = profile_next(&t->ahead);
}

static void track_to(struct track *t, int64_t at)
{
    while (t->more && profile_cursor_time(&t->ahead) <= at) {
        t->load = profile_cursor_load(&t->ahead);
        t->more = profile_next(&t->ahead);
    }
}

static bool is_as_before(const struct plan_usage *a, const struct plan_usage *b)
{
    bool same = a->use == b->use;

    for (int i = 0; i < PLAN_USAGE_TYPES; i++)
        same &= a->taken[i] == b->taken[i];
    return same;
}

uint32_t match_usage(const struct match *m, uint32_t v, struct plan_usage *step, uint32_t max)
{
    const struct state *s = m->state[v];
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);
    struct track users, count[PLAN_USAGE_TYPES];
    struct profile_view view;
    uint32_t number[PLAN_USAGE_TYPES], tracks = 0, n = 0;
    int64_t at = 0;

    step[0] = (struct plan_usage){0};
    if (!s)
        return 1;
    track_begin(&users, state_users(s, &view));
    for (uint32_t i = 0; state_below(s)->counts && i < list->n; i++)
        if (list->number[i] < PLAN_USAGE_TYPES && tracks < PLAN_USAGE_TYPES) {
            number[tracks] = list->number[i];
            track_begin(&count[tracks++], &s->below->counts[i]);
        }
    for (;;) {
        struct plan_usage *now = &step[n];
        int64_t next = users.more ? profile_cursor_time(&users.ahead) : INT64_MAX;
        *now = (struct plan_usage){.at = at,
                                   .use = users.load >= STATE_EXCLUSIVE ? PLAN_FULL
                                          : users.load > 0              ? PLAN_SHARED
                                                                        : PLAN_IDLE};
        for (uint32_t i = 0; i < tracks; i++) {
            now->taken[number[i]] = count[i].load;
            if (count[i].more && profile_cursor_time(&count[i].ahead) < next)
                next = profile_cursor_time(&count[i].ahead);
        }
        n += n == 0 || !is_as_before(now, now - 1);
        if (next == INT64_MAX)
            return n;
        if (n == max) { /* nothing is known from here on */
            step[n - 1] = (struct plan_usage){.at = step[n - 1].at};
            return n;
        }
        at = next;
        track_to(&users, at);
        for (uint32_t i = 0; i < tracks; i++)
            track_to(&count[i], at);
    }
}

/* Add what is counted in the filter of a node that the job holds. */
static void add_counts(const struct match *m, const struct job *job, const struct hold *h,
                       struct plan_usage *usage)
{
    const struct prune_list *list = prune_of(&m->prune, &m->topo, h->vertex);

    usage->use = h->flags & HOLD_EXCLUSIVE ? PLAN_FULL : PLAN_SHARED;
    for (uint32_t i = 0; i < h->n_counts && i < list->n; i++)
        if (list->number[i] < PLAN_USAGE_TYPES)
            usage->taken[list->number[i]] += job->counts[h->counts + i];
}

int match_job_next_usage(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *node,
                         struct plan_usage *usage)
{
    const struct job *job = jobs_find(&m->jobs, jobid);
    uint32_t in = VERTEX_NONE, parent = VERTEX_NONE; /* the last hold's node, and its parent */

    *usage = (struct plan_usage){0};
    for (uint32_t k = job_next_span(job, *i); k < job->n; k = job_next_span(job, k + 1)) {
        const struct hold *h = &job->hold[k];
        const struct vertex *x = &m->g->v[h->vertex];
        bool alone = h->flags & HOLD_EXCLUSIVE;
        if (h->flags & HOLD_COVERED)
            continue;
        if (x->type == TYPE_NODE) {
            add_counts(m, job, h, usage);
            *node = h->vertex;
            *i = k + 1;
            return 1;
        }
        if (in == VERTEX_NONE || vertex_above(m, h->vertex) != parent)
            in = match_node_of(m, h->vertex);
        parent = vertex_above(m, h->vertex);
        if (m->g->v[in].type == TYPE_NODE ? !alone && x->divisible : alone)
            return -1;
    }
    return 0;
}

bool match_job_next_span(const struct match *m, int64_t jobid, uint32_t *i, uint32_t *vertex)
{
    const struct job *job = jobs_at(&m->jobs, jobid);
    uint32_t k = job_next_span(job, *i);

    while (k < job->n && job->hold[k].flags & HOLD_COVERED)
        k = job_next_span(job, k + 1);
    if (k == job->n)
        return false;
    *vertex = job->hold[k].vertex;
    *i = k + 1;
    return true;
}

int match_usage_type(const struct match *m, uint16_t type)
{
    int32_t number = m->prune.number[type];

    return number < PLAN_USAGE_TYPES ? number : -1;
}

int64_t match_units_at(const struct match *m, uint32_t v, uint16_t type)
{
    if (m->topo.class_of[v] == CLASS_NONE)
        return 0;
    const struct class_sum *sum = topo_sum(&m->topo, v, type);

    return (m->g->v[v].type == type ? m->g->v[v].size : 0) + (sum ? (int64_t)sum->units : 0);
}

uint32_t match_class_of(const struct match *m, uint32_t v)
{
    return (uint32_t)(topo_class(&m->topo, v) - m->topo.class);
}

int match_id_order(const struct match *m)
{
    const struct policy *p = &m->policy;

    if (p->first || p->score != SCORE_ID || p->graph == ORDER_RUNS)
        return 0;
    return p->graph == ORDER_ASCENDING ? 1 : -1;
}

bool match_order_is_dynamic(const struct match *m)
{
    return m->policy.first;
}

bool match_is_tree(const struct match *m)
{
    return m->topo.is_tree;
}
