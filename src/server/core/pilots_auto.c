/* What waits, and the nodes there are, as a plan of pilots goes by them. */
#include "server/core/pilots_auto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_query.h"
#include "engine/slurm/queue.h"
#include "resource/graph.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/members.h"
#include "server/core/roles.h"

/* ---- What waits ---- */

/* Whether it waits for room: what is held, depends on others, or is over a limit does not, nor does what is promised the
 * end of others of that limit, or the room of jobs that are stopped for it.
 */
static bool waits_for_room(const server_t *s, sched_job_t handle)
{
    struct sched_annotation a;
    int state = handle < 0 ? (int)SCHED_BLOCKED : sched_state(s->sched, handle);
    if (state != SCHED_RESERVED)
        return state == SCHED_WAITING;
    return sched_annotate(s->sched, handle, &a) == 0 && a.reason.kind != SCHED_REASON_LIMIT &&
           a.reason.kind != SCHED_REASON_PREEMPTING;
}

/* The memory that its row tells; 0: none. */
static int64_t memory_of(const struct job *job)
{
    static const char key[] = ",\"memory\":";
    const char *at = strstr(job->row, key);
    int64_t bytes = at ? strtoll(at + sizeof(key) - 1, NULL, 10) : 0;
    return bytes > 0 ? bytes : 0;
}

/* How long one is expected to run: what it says or, if that is less, twice what others of its array took. */
static int64_t takes(const struct job *job, int64_t limit)
{
    int64_t us = job->estimate < limit ? job->estimate : limit;
    int64_t twice = job->ran.n > 0 ? 2 * job->ran.us / (int64_t)job->ran.n : us;
    us = twice < us ? twice : us;
    return us > 0 ? us : 1;
}

static int add_want(struct auto_look *l, struct auto_of of, int64_t members, int64_t limit)
{
    const struct job *job = of.job;
    const struct job_role *role = job->roles ? job_role_of(job, of.member) : NULL;
    size_t n = l->in.n_wants;
    if (array_grow((void **)&l->want, &l->cap_wants, n + 1, sizeof(*l->want)) < 0 ||
        array_grow((void **)&l->of, &l->cap_of, n + 1, sizeof(*l->of)) < 0)
        return -1;
    int64_t nodes = role ? role->nodes : job->nodes, cores = role ? role->cores : job->cores,
            gpus = role ? role->gpus : job->gpus;
    nodes = nodes > 1 ? nodes : 1;
    if (cores == 0) /* whole nodes */
        cores = nodes * l->in.rule->node[PILOT_CORES];
    l->of[n] = of;
    l->want[n] = (struct pilot_want){
        .members = members,
        .together =
            of.alone || job->gang.min < 1 || job_running(job) > 0 ? 1 : (int64_t)job->gang.min,
        .nodes = nodes,
        .amount = {(cores + nodes - 1) / nodes, (gpus + nodes - 1) / nodes, memory_of(job) / nodes},
        .limit = limit < SCHED_UNLIMITED ? limit : 0,
        .elsewhere = job->is_constrained};
    if (!role && job->free_tasks > 1) {
        for (int k = 0; k < PILOT_KINDS; k++)
            l->want[n].amount[k] /= job->free_tasks;
        pilot_spread(l->in.rule, job->free_tasks, &l->want[n]);
    }
    l->want[n].takes = l->want[n].limit > 0 ? takes(job, limit) : 1;
    l->in.n_wants++;
    return 0;
}

static int64_t lasts(const struct job *job, const struct member *m)
{
    int64_t limit = member_limit(job, m);
    return limit < SCHED_UNLIMITED ? limit : member_estimate(job, m);
}

/* Its members that wait by themselves, and those in its entry. */
static int add_job(server_t *s, struct auto_look *l, const struct job *job)
{
    bool enabled, started;
    int64_t own = 0;
    settings_of_queue(s, job->queue, &enabled, &started);
    if (!started || job->counts[STORE_PENDING] == 0)
        return 0;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        const struct member *m = member_record(job, i);
        if (m->state != STORE_PENDING || (job->entry >= 0 && m->handle == job->entry))
            continue;
        own++;
        if (waits_for_room(s, m->handle) && l->in.n_wants < AUTO_LOOK_MOST &&
            add_want(l, (struct auto_of){job, true, i}, 1, lasts(job, m)) < 0)
            return -1;
    }
    int64_t rest = (int64_t)job->counts[STORE_PENDING] - own;
    if (rest < 1 || !waits_for_room(s, job->entry))
        return 0;
    return add_want(l, (struct auto_of){job, false, 0}, rest,
                    job->limit < SCHED_UNLIMITED ? job->limit : job->estimate);
}

/* ---- What is there ---- */

/* Since when its job can never start, as Slurm says; -1: it may. */
static int64_t note_stuck(server_t *s, json_t *pilot)
{
    if (!squeue_is_stuck(entry_text(pilot, "reason"))) {
        json_object_del(pilot, "stuck");
        return -1;
    }
    if (!json_object_get(pilot, "stuck"))
        json_object_set_new(pilot, "stuck", json_integer(s->clock.wall));
    return entry_number(pilot, "stuck");
}

static int add_pilot(server_t *s, struct auto_look *l, json_t *pilot)
{
    size_t n = l->in.n_pilots;
    if (array_grow((void **)&l->pilot, &l->cap_pilots, n + 1, sizeof(*l->pilot)) < 0)
        return -1;
    bool is_up = pilot_has_nodes(s, entry_number(pilot, "pilot"));
    bool own = json_is_true(json_object_get(pilot, "auto"));
    const json_t *useless = own ? json_object_get(pilot, "useless") : NULL;
    int64_t nodes = entry_number(pilot, "nodes"), time = entry_number(pilot, "time");
    l->pilot[n] =
        (struct pilot_seen){.number = entry_number(pilot, "pilot"),
                            .state = json_is_true(json_object_get(pilot, "ending")) ? PILOT_ENDING
                                     : is_up                                        ? PILOT_UP
                                                                                    : PILOT_WAITS,
                            .nodes = nodes,
                            .time = time > 0 ? time : l->in.rule->time,
                            .useless = useless ? json_integer_value(useless) : -1,
                            .stuck = own ? note_stuck(s, pilot) : -1};
    int64_t up = entry_number(pilot, "up"), had = up > 0 ? s->clock.wall - up : 0;
    if (own) /* until its end */
        l->in.spent += nodes * (had > time ? had : time);
    l->in.n_pilots++;
    return 0;
}

static size_t pilot_index(const struct auto_look *l, int64_t number)
{
    for (size_t i = 0; i < l->in.n_pilots; i++)
        if (l->pilot[i].number == number)
            return i;
    return PILOT_OWN;
}

struct nodes {
    size_t *of_vertex; /* by vertex: index of its node + 1; 0: none */
    size_t *of_rank;
    size_t n_ranks;
    bool *busy; /* by pilot: something runs there */
};

static int add_node_to_look(server_t *s, struct auto_look *l, const struct graph *g, uint32_t v)
{
    struct strbuf name = {0};
    size_t n = l->in.n_nodes;
    if (array_grow((void **)&l->node, &l->cap_nodes, n + 1, sizeof(*l->node)) < 0)
        return -1;
    graph_name(g, v, &name);
    const json_t *of = pilots_node_named(s, strbuf_text(&name));
    int64_t end = entry_number(of, "end");
    strbuf_clear(&name);
    l->node[n] =
        (struct pilot_node){.pilot = of ? pilot_index(l, entry_number(of, "pilot")) : PILOT_OWN,
                            .end = end > 0 ? end : INT64_MAX};
    if (of && entry_number(of, "status") == RESOURCE_DOWN)
        l->node[n].end = 0; /* nobody knows when it is back */
    l->in.n_nodes++;
    return 0;
}

/* The nodes that are up, with all they have. */
static int add_nodes(server_t *s, struct auto_look *l, struct nodes *at)
{
    const struct graph *g = match_graph(s->machine);
    for (uint32_t v = 0; v < g->n; v++)
        if (g->v[v].rank >= 0 && (size_t)g->v[v].rank >= at->n_ranks)
            at->n_ranks = (size_t)g->v[v].rank + 1;
    at->of_vertex = calloc((size_t)g->n + 1, sizeof(*at->of_vertex));
    at->of_rank = calloc(at->n_ranks + 1, sizeof(*at->of_rank));
    at->busy = calloc(l->in.n_pilots + 1, sizeof(*at->busy));
    if (!at->of_vertex || !at->of_rank || !at->busy)
        return -1;
    for (uint32_t v = 0; v < g->n; v++) {
        if (g->v[v].gone || g->v[v].type != TYPE_NODE || graph_is_spare(g, v) || g->v[v].down)
            continue;
        if (add_node_to_look(s, l, g, v) < 0)
            return -1;
        at->of_vertex[v] = l->in.n_nodes;
        if (g->v[v].rank >= 0)
            at->of_rank[g->v[v].rank] = l->in.n_nodes;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        bool memory = strcmp(graph_type_name(g, v), "memory") == 0;
        uint32_t node = v;
        if (g->v[v].gone || g->v[v].down ||
            (g->v[v].type != TYPE_CORE && g->v[v].type != TYPE_GPU && !memory))
            continue;
        while (node != VERTEX_NONE && g->v[node].type != TYPE_NODE)
            node = graph_parent(g, node, GRAPH_CONTAINMENT);
        if (node == VERTEX_NONE || at->of_vertex[node] == 0)
            continue;
        l->node[at->of_vertex[node] - 1].free[memory                      ? PILOT_MEMORY
                                              : g->v[v].type == TYPE_CORE ? PILOT_CORES
                                                                          : PILOT_GPUS] +=
            memory ? g->v[v].size * s->size.memory_unit : 1;
    }
    return 0;
}

static int64_t count_ids(const struct resource_range *range, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (int64_t)range[i].last - (int64_t)range[i].first + 1;
    return count;
}

/* What runs: its pilots are of use, and what lasts is not free. */
static void take_run(server_t *s, struct auto_look *l, struct nodes *at, const struct run *run)
{
    const struct member *m = member_record(run->job, run->member);
    struct sched_allocation given;
    if (!m || !member_is_live(m) || m->handle < 0 ||
        sched_allocation(s->sched, m->handle, &given) < 0)
        return;
    int64_t begun = run->start_wall > 0 ? run->start_wall : s->clock.wall;
    int64_t limit = lasts(run->job, m);
    int64_t left =
        limit < SCHED_UNLIMITED ? begun + takes(run->job, limit) - s->clock.wall : INT64_MAX;
    for (size_t i = 0; i < given.n_hosts; i++) {
        const struct resource_host *h = &given.hosts[i];
        size_t k = h->rank >= 0 && (size_t)h->rank < at->n_ranks ? at->of_rank[h->rank] : 0;
        if (k == 0)
            continue;
        struct pilot_node *node = &l->node[k - 1];
        if (node->pilot != PILOT_OWN)
            at->busy[node->pilot] = true;
        if (left < PILOT_AHEAD * SERVER_SECOND)
            continue;
        node->free[PILOT_CORES] -= count_ids(h->cores, h->n_cores);
        node->free[PILOT_GPUS] -=
            count_ids(h->gpus, h->n_gpus); /* also those of which it has a part */
        node->free[PILOT_MEMORY] -= h->memory * s->size.memory_unit;
    }
}

/* Note since when pilots are of no use. */
static void note_use(server_t *s, struct auto_look *l, const struct nodes *at)
{
    size_t i;
    json_t *pilot;
    json_array_foreach (pilots_list(s), i, pilot) {
        if (!json_is_true(json_object_get(pilot, "auto")))
            continue;
        if (l->plan.used[i] || at->busy[i])
            json_object_del(pilot, "useless");
        else if (!json_object_get(pilot, "useless"))
            json_object_set_new(pilot, "useless", json_integer(s->clock.wall));
    }
}

static int gather(server_t *s, struct auto_look *l, struct nodes *at)
{
    size_t i;
    json_t *pilot;
    json_array_foreach (pilots_list(s), i, pilot)
        if (add_pilot(s, l, pilot) < 0)
            return -1;
    if (add_nodes(s, l, at) < 0)
        return -1;
    for (i = 0; i < s->runs.n; i++)
        if (s->runs.v[i] && s->runs.v[i]->key)
            take_run(s, l, at, s->runs.v[i]);
    for (i = 0; i < l->in.n_pilots; i++)
        l->pilot[i].useless = at->busy[i] ? -1 : l->pilot[i].useless;
    for (i = 0; i < s->table.n && l->in.n_wants < AUTO_LOOK_MOST; i++)
        if (s->table.jobs[i].job && add_job(s, l, s->table.jobs[i].job) < 0)
            return -1;
    return 0;
}

int auto_look(server_t *s, const struct pilot_rule *rule, struct auto_look *l)
{
    const json_t *state = auto_state(s);
    struct nodes at = {0};
    *l = (struct auto_look){.in = {.rule = rule,
                                   .now = s->clock.wall,
                                   .second = SERVER_SECOND,
                                   .lacking = s->pilots.lacking > 0 ? s->pilots.lacking : -1,
                                   .failures = entry_number(state, "failures"),
                                   .failed_at = entry_number(state, "failed_at"),
                                   .spent = entry_number(state, "spent")}};
    int rc = gather(s, l, &at);
    l->in.want = l->want;
    l->in.pilot = l->pilot;
    l->in.node = l->node;
    rc = rc < 0 ? -1 : pilot_plan(&l->in, &l->plan);
    if (rc == 0) {
        note_use(s, l, &at);
        s->pilots.lacking = l->plan.lacking;
    }
    free(at.of_vertex);
    free(at.of_rank);
    free(at.busy);
    if (rc < 0)
        errno = ENOMEM;
    return rc;
}

void auto_look_clear(struct auto_look *l)
{
    pilot_plan_clear(&l->plan);
    free(l->want);
    free(l->of);
    free(l->pilot);
    free(l->node);
    *l = (struct auto_look){0};
}

const struct pilot_verdict *auto_verdict(const struct auto_look *l, const struct job *job,
                                         uint32_t member)
{
    for (size_t i = 0; i < l->in.n_wants; i++)
        if (l->of[i].job == job && (!l->of[i].alone || l->of[i].member == member))
            return &l->plan.verdict[i];
    return NULL;
}
