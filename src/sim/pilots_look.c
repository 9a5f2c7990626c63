/* What waits and runs, as a plan of pilots goes by it, and what follows. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/number.h"
#include "berth/sched_query.h"
#include "jobspec/total.h"
#include "pilot/words.h"
#include "resource/graph.h"
#include "sim/pilots_priv.h"

/* ---- What there is ---- */

static uint32_t node_above(const struct graph *g, uint32_t v)
{
    while (v != VERTEX_NONE && g->v[v].type != TYPE_NODE)
        v = graph_parent(g, v, GRAPH_CONTAINMENT);
    return v;
}

int sim_pilots_list_nodes(struct sim_pilots *p)
{
    const struct graph *g = match_graph(p->options.machine);
    size_t n = 0;
    if (p->known == g->n)
        return 0;
    for (uint32_t v = 0; v < g->n; v++)
        n = g->v[v].rank >= 0 && (size_t)g->v[v].rank >= n ? (size_t)g->v[v].rank + 1 : n;
    struct sim_node *node = reallocarray(p->node, n + 1, sizeof(*node));
    if (!node)
        return -1;
    p->node = node;
    for (size_t i = 0; i <= n; i++)
        node[i] = (struct sim_node){.vertex = VERTEX_NONE};
    for (uint32_t v = 0; v < g->n; v++) {
        const struct vertex *x = &g->v[v];
        uint32_t of = node_above(g, v);
        bool memory = strcmp(graph_type_name(g, v), "memory") == 0;
        if (x->gone || of == VERTEX_NONE || g->v[of].rank < 0)
            continue;
        struct sim_node *at = &node[g->v[of].rank];
        if (v == of)
            at->vertex = v;
        else if (x->type == TYPE_CORE || x->type == TYPE_GPU)
            at->total[x->type == TYPE_CORE ? PILOT_CORES : PILOT_GPUS]++;
        else if (memory)
            at->total[PILOT_MEMORY] += x->size * p->unit;
    }
    if (p->known == 0)
        p->first_rank = n - (size_t)p->rule.max_nodes;
    p->n_nodes = n;
    p->known = g->n;
    return 0;
}

struct sim_pilot *sim_pilots_of_rank(struct sim_pilots *p, size_t rank)
{
    if (rank < p->first_rank || rank >= p->first_rank + (size_t)p->rule.max_nodes)
        return NULL;
    for (size_t i = 0; i < p->n_pilots; i++)
        if (p->pilot[i].number == p->slot[rank - p->first_rank])
            return &p->pilot[i];
    return NULL;
}

/* ---- What runs ---- */

static int64_t count_range_ids(const struct resource_range *range, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (int64_t)range[i].last - (int64_t)range[i].first + 1;
    return count;
}

int sim_pilots_started(struct sim_pilots *p, uint32_t job, sched_job_t handle, int64_t now,
                       int64_t until)
{
    struct sched_allocation given;
    if (array_grow((void **)&p->run, &p->cap_runs, p->n_runs + 1, sizeof(*p->run)) < 0)
        return -1;
    if (sched_allocation(p->options.sched, handle, &given) < 0)
        return errno == ENOMEM ? -1 : 0; /* it has no cores: of nobody's concern here */
    struct sim_run *run = &p->run[p->n_runs];
    *run = (struct sim_run){.job = job, .since = now, .until = until};
    run->part = calloc(given.n_hosts + 1, sizeof(*run->part));
    if (!run->part)
        return -1;
    for (size_t i = 0; i < given.n_hosts; i++) {
        const struct resource_host *h = &given.hosts[i];
        if (h->rank < 0)
            continue;
        struct sim_part *part = &run->part[run->n++];
        part->rank = (size_t)h->rank;
        part->amount[PILOT_CORES] = count_range_ids(h->cores, h->n_cores);
        part->amount[PILOT_GPUS] = count_range_ids(h->gpus, h->n_gpus);
        part->amount[PILOT_MEMORY] = h->memory * p->unit;
    }
    p->n_runs++;
    return 0;
}

void sim_pilots_stopped(struct sim_pilots *p, uint32_t job, int64_t now)
{
    size_t i = 0;
    while (i < p->n_runs && p->run[i].job != job)
        i++;
    if (i == p->n_runs)
        return;
    struct sim_run *run = &p->run[i];
    for (size_t k = 0; k < run->n; k++)
        if (sim_pilots_of_rank(p, run->part[k].rank))
            p->used += (double)run->part[k].amount[PILOT_CORES] * (double)(now - run->since) /
                       (double)p->rule.node[PILOT_CORES];
    free(run->part);
    *run = p->run[--p->n_runs];
}

/* ---- What waits ---- */

int sim_shape_add(struct sim_shape *to, const struct sim_pilots *p, const char *jobspec,
                  size_t length)
{
    jobspec_t *spec = jobspec_parse(jobspec, length, NULL, NULL);
    int64_t amount[PILOT_KINDS], nodes, pieces;
    if (!spec)
        return errno == ENOMEM ? -1 : 0; /* the core refuses it */
    nodes = jobspec_total(spec, "node", NULL);
    pieces = nodes > 0 ? 0 : greater(jobspec_total(spec, "slot", NULL), 1);
    amount[PILOT_CORES] = jobspec_total(spec, "core", NULL);
    amount[PILOT_GPUS] = jobspec_total(spec, "gpu", NULL);
    amount[PILOT_MEMORY] = jobspec_total(spec, "memory", NULL) * p->unit;
    if (amount[PILOT_CORES] == 0) /* whole nodes */
        amount[PILOT_CORES] = nodes * p->rule.node[PILOT_CORES];
    to->nodes = greater(to->nodes, nodes);
    to->pieces = greater(to->pieces, pieces);
    to->elsewhere = to->elsewhere || spec->constraints;
    for (int k = 0; k < PILOT_KINDS; k++) {
        int64_t of = nodes > 0 ? nodes : pieces;
        to->amount[k] = greater(to->amount[k], (amount[k] + of - 1) / of);
    }
    jobspec_destroy(spec);
    return 0;
}

bool sim_pilots_waits(sched_t *s, sched_job_t handle)
{
    struct sched_annotation a;
    int state = handle < 0 ? (int)SCHED_BLOCKED : sched_state(s, handle);
    if (state != SCHED_RESERVED)
        return state == SCHED_WAITING;
    return sched_annotate(s, handle, &a) == 0 && a.reason.kind != SCHED_REASON_LIMIT &&
           a.reason.kind != SCHED_REASON_PREEMPTING;
}

int sim_pilots_want(struct sim_pilots *p, uint32_t job, const struct sim_shape *shape,
                    int64_t members, int64_t together, int64_t limit, int64_t takes)
{
    size_t n = p->n_wants;
    if (array_grow((void **)&p->want, &p->cap_wants, n + 1, sizeof(*p->want)) < 0 ||
        array_grow((void **)&p->of, &p->cap_of, n + 1, sizeof(*p->of)) < 0)
        return -1;
    struct pilot_want *w = &p->want[n];
    *w = (struct pilot_want){.members = members,
                             .together = together,
                             .nodes = greater(shape->nodes, 1),
                             .limit = limit < SCHED_UNLIMITED ? limit : 0,
                             .elsewhere = shape->elsewhere};
    w->takes = w->limit > 0 ? greater(lesser(takes, limit), 1) : 1;
    memcpy(w->amount, shape->amount, sizeof(w->amount));
    if (shape->nodes == 0)
        pilot_spread(&p->rule, shape->pieces, w);
    p->of[n] = job;
    p->n_wants++;
    return 0;
}

bool sim_pilots_reason(const struct sim_pilots *p, uint32_t job, char text[SCHED_REASON_TEXT])
{
    struct strbuf words = {0};
    for (size_t i = 0; p->plan.verdict && i < p->n_wants && words.len == 0; i++)
        if (p->of[i] == job)
            pilot_put_fate(&words, &p->plan.verdict[i]);
    bool any = words.len > 0 && !words.failed;
    if (any)
        snprintf(text, SCHED_REASON_TEXT, "%s", strbuf_text(&words));
    strbuf_clear(&words);
    return any;
}

/* ---- The plan ---- */

struct scene {
    struct pilot_case in;
    struct pilot_seen *pilot;
    struct pilot_node *node;
    size_t *of_rank; /* its place among the nodes + 1 */
    bool *busy;      /* by pilot */
};

static void see_pilots(const struct sim_pilots *p, struct scene *s)
{
    s->in.spent = p->had;
    for (size_t i = 0; i < p->n_pilots; i++) {
        const struct sim_pilot *pilot = &p->pilot[i];
        s->pilot[i] = (struct pilot_seen){.number = pilot->number,
                                          .state = pilot->leaves   ? PILOT_ENDING
                                                   : pilot->up < 0 ? PILOT_WAITS
                                                                   : PILOT_UP,
                                          .nodes = pilot->nodes,
                                          .time = pilot->time,
                                          .useless = pilot->useless,
                                          .stuck = -1};
        s->in.spent += pilot->nodes * pilot->time; /* until its end */
    }
}

static void see_nodes(struct sim_pilots *p, struct scene *s)
{
    const struct graph *g = match_graph(p->options.machine);
    for (size_t rank = 0; rank < p->n_nodes; rank++) {
        const struct sim_node *node = &p->node[rank];
        if (node->vertex == VERTEX_NONE || g->v[node->vertex].down || g->v[node->vertex].gone)
            continue;
        const struct sim_pilot *of = sim_pilots_of_rank(p, rank);
        struct pilot_node *to = &s->node[s->in.n_nodes++];
        *to = (struct pilot_node){.pilot = of ? (size_t)(of - p->pilot) : PILOT_OWN,
                                  .end = of ? of->end : INT64_MAX};
        memcpy(to->free, node->total, sizeof(to->free));
        s->of_rank[rank] = s->in.n_nodes;
    }
}

static void see_runs(const struct sim_pilots *p, int64_t now, struct scene *s)
{
    for (size_t i = 0; i < p->n_runs; i++) {
        const struct sim_run *run = &p->run[i];
        bool lasts = run->until == INT64_MAX || run->until - now >= s->in.second * PILOT_AHEAD;
        for (size_t k = 0; k < run->n; k++) {
            const struct sim_part *part = &run->part[k];
            size_t at = part->rank < p->n_nodes ? s->of_rank[part->rank] : 0;
            if (at == 0)
                continue;
            struct pilot_node *node = &s->node[at - 1];
            if (node->pilot != PILOT_OWN)
                s->busy[node->pilot] = true;
            for (int kind = 0; lasts && kind < PILOT_KINDS; kind++)
                node->free[kind] -= part->amount[kind];
        }
    }
    for (size_t i = 0; i < p->n_pilots; i++)
        s->pilot[i].useless = s->busy[i] ? -1 : s->pilot[i].useless;
}

static int ask_pilot(struct sim_pilots *p, int64_t now, const struct pilot_ask *ask)
{
    if (array_grow((void **)&p->pilot, &p->cap_pilots, p->n_pilots + 1, sizeof(*p->pilot)) < 0)
        return -1;
    p->pilot[p->n_pilots++] = (struct sim_pilot){.number = ++p->made,
                                                 .nodes = ask->nodes,
                                                 .time = ask->time,
                                                 .asked = now,
                                                 .up = -1,
                                                 .useless = -1};
    p->asked_at = now;
    p->asked += ask->nodes * ask->time;
    if (p->options.decisions)
        decisions_pilot_asked(p->options.decisions, now, p->made, ask->nodes, ask->time);
    return 0;
}

/* What the plan says, and when to look again. */
static int follow_plan(struct sim_pilots *p, int64_t now, const struct scene *s)
{
    int64_t again = p->asked_at + SIM_PILOTS_LOOK * p->options.second;
    size_t n = p->n_pilots;
    p->lacking = p->plan.lacking;
    p->look_at = INT64_MAX;
    for (size_t i = 0; i < p->plan.n_releases; i++)
        for (size_t k = 0; k < n; k++)
            if (p->pilot[k].number == p->plan.release[i].pilot) {
                p->pilot[k].leaves = true;
                p->pilot[k].why = p->plan.release[i].why;
            }
    for (size_t i = 0; i < n; i++) {
        struct sim_pilot *pilot = &p->pilot[i];
        bool of_use = p->plan.used[i] || s->busy[i];
        pilot->useless = of_use ? -1 : pilot->useless < 0 ? now : pilot->useless;
        if (!of_use && !pilot->leaves)
            p->look_at = lesser(p->look_at, pilot->useless + p->rule.idle);
    }
    const struct pilot_ask *first = p->plan.n_asks > 0 ? &p->plan.ask[0] : NULL;
    if (first && first->when == PILOT_PATIENT)
        p->look_at = lesser(p->look_at, first->at);
    if (!first || first->when != PILOT_NOW)
        return 0;
    if (again > now) {
        p->look_at = lesser(p->look_at, again);
        return 0;
    }
    p->look_at = lesser(p->look_at, now + SIM_PILOTS_LOOK * p->options.second);
    return ask_pilot(p, now, first);
}

int sim_pilots_look(struct sim_pilots *p, int64_t now)
{
    struct scene s = {
        .in = {.rule = &p->rule, .now = now, .second = p->options.second, .lacking = p->lacking}};
    int rc = -1;
    p->n_wants = 0;
    pilot_plan_clear(&p->plan);
    if (sim_pilots_list_nodes(p) < 0 || p->options.shell->waiting(p->options.arg, p) < 0)
        return -1;
    s.pilot = calloc(p->n_pilots + 1, sizeof(*s.pilot));
    s.node = calloc(p->n_nodes + 1, sizeof(*s.node));
    s.of_rank = calloc(p->n_nodes + 1, sizeof(*s.of_rank));
    s.busy = calloc(p->n_pilots + 1, sizeof(*s.busy));
    if (s.pilot && s.node && s.of_rank && s.busy) {
        see_pilots(p, &s);
        see_nodes(p, &s);
        see_runs(p, now, &s);
        s.in.want = p->want;
        s.in.n_wants = p->n_wants;
        s.in.pilot = s.pilot;
        s.in.n_pilots = p->n_pilots;
        s.in.node = s.node;
        rc = pilot_plan(&s.in, &p->plan) < 0 ? -1 : follow_plan(p, now, &s);
    }
    free(s.pilot);
    free(s.node);
    free(s.of_rank);
    free(s.busy);
    return rc;
}
