/* Random scenes in which one job has many others stopped by shares: machines, queues and jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_config.h"
#include "reclaim_scene.h"

enum { TEXT = 4000, SPEC = 400 };

int64_t many_draw(struct many_scene *s, int64_t low, int64_t high)
{
    return random_between(&s->random, low, high);
}

bool many_one_of(struct many_scene *s, int n)
{
    return many_draw(s, 1, n) == 1;
}

static void draw_queue(struct many_scene *s, struct many_queue *q, int preemptible)
{
    int all = s->nodes * s->cores;
    *q = (struct many_queue){.weight = (int)many_draw(s, 1, 5),
                             .above = (int)many_draw(s, 0, s->divisions),
                             .takes = !many_one_of(s, 8),
                             .takes_lower = many_one_of(s, 3),
                             .most_running = INT32_MAX,
                             .most_cores = INT32_MAX};
    q->is_preemptible = preemptible == 1 || (preemptible == 2 && many_draw(s, 0, 1));
    q->is_cancelled = q->is_preemptible && many_one_of(s, 3);
    if (s->has_users && many_draw(s, 0, 1)) {
        q->takes = q->takes_lower = false;
        q->takes_richer = true;
    }
    for (int i = 0; i < MANY_USERS; i++)
        q->user_weight[i] = many_one_of(s, 3) ? (int)many_draw(s, 2, 5) : 1;
    if (many_one_of(s, 12) && !q->takes_richer) {
        q->takes = q->takes_lower = false;
        q->takes_none = true;
    }
    if (many_one_of(s, 4))
        q->guarantee = (int)many_draw(s, 1, all / 8);
    if (s->has_limits && many_draw(s, 0, 1))
        q->most_running = (int)many_draw(s, 2, all / 2);
    if (s->has_limits && many_one_of(s, 3))
        q->most_cores = (int)many_draw(s, all / 4, all);
}

static const char *preempts_text(const struct many_queue *q)
{
    return q->takes_richer              ? "richer"
           : q->takes_none              ? "nobody"
           : q->takes && q->takes_lower ? "both"
           : q->takes                   ? "borrowers"
           : q->takes_lower             ? "lower"
                                        : "preemptible";
}

static int write_queue(const struct many_scene *s, int i, char *text, size_t room)
{
    static const char *const policies[] = {"fcfs", "easy", "conservative", "hybrid"};
    const struct many_queue *q = &s->queue[i];
    size_t n = (size_t)snprintf(text, room, "  q%d: {policy: %s, priority: %d, preempts: %s", i,
                                policies[q->policy], q->priority, preempts_text(q));
    if (q->is_preemptible)
        n += (size_t)snprintf(text + n, room - n, ", preemptible: %s",
                              q->is_cancelled ? "cancel" : "requeue");
    if (q->most_running < INT32_MAX || q->most_cores < INT32_MAX) {
        n += (size_t)snprintf(text + n, room - n, ", limits: {queue: {");
        if (q->most_running < INT32_MAX)
            n += (size_t)snprintf(text + n, room - n, "running: %d%s", q->most_running,
                                  q->most_cores < INT32_MAX ? ", " : "");
        if (q->most_cores < INT32_MAX)
            n += (size_t)snprintf(text + n, room - n, "core: %d", q->most_cores);
        n += (size_t)snprintf(text + n, room - n, "}}");
    }
    n += (size_t)snprintf(text + n, room - n, ", shares: {weight: %d", q->weight);
    if (q->above > 0)
        n += (size_t)snprintf(text + n, room - n, ", under: d%d", q->above - 1);
    if (q->guarantee > 0)
        n += (size_t)snprintf(text + n, room - n, ", guarantee: {core: %d}", q->guarantee);
    if (q->takes_richer)
        n += (size_t)snprintf(
            text + n, room - n, ", by: user, weights: {u0: %d, u1: %d, u2: %d, u3: %d}",
            q->user_weight[0], q->user_weight[1], q->user_weight[2], q->user_weight[3]);
    n += (size_t)snprintf(text + n, room - n, "}}\n");
    assert_true(n < room);
    return (int)n;
}

static void open_queue(struct many_scene *s, int i, int preemptible, bool levels)
{
    struct many_queue *q = &s->queue[i];
    draw_queue(s, q, preemptible);
    bool fills = i == s->fills[0] || i == s->fills[1];
    bool is_fcfs = s->ends == MANY_KNOWN_FCFS || s->ends == MANY_SURE_FCFS;
    if (s->is_vast || s->seed % 2 == 0) /* there is much to take */
        q->weight *= fills ? 1 : 6;
    if (fills && s->has_limits && (s->is_tight || many_draw(s, 0, 1)))
        q->takes_lower = !q->takes_none && !q->takes_richer;
    if (fills && s->is_tight)
        q->most_running = (int)many_draw(s, 2, s->nodes * s->cores / 4);
    q->priority = levels ? (int)many_draw(s, -1, 1) : 0;
    q->policy = is_fcfs ? 0 : (int)many_draw(s, 0, 3);
}

/* The configuration, as the scene has it by now. */
static void write_config(const struct many_scene *s, char text[TEXT])
{
    int n = snprintf(text, TEXT,
                     "resources: {nodes: %d, cores: %d}\nmatch: {policy: low}\n"
                     "default-duration: unknown\nshares:\n  resources: [core]\n",
                     s->nodes, s->cores);
    for (int i = 0; i < s->divisions; i++)
        n += snprintf(text + n, TEXT - (size_t)n, "%s    d%d: {weight: %d%s}\n",
                      i == 0 ? "  divisions:\n" : "", i, s->weight[i],
                      s->under[i] ? ", under: d0" : "");
    n += snprintf(text + n, TEXT - (size_t)n, "queues:\n");
    for (int i = 0; i < s->queues; i++)
        n += write_queue(s, i, text + n, TEXT - (size_t)n);
    if (getenv("SCENE_SHOW"))
        print_message("%d: %s", (int)s->now, text);
}

void many_open(struct many_scene *s, uint64_t seed)
{
    char text[TEXT];
    memset(s, 0, sizeof(*s));
    s->seed = s->random.state = s->beside.state = seed;
    s->has_crowds = random_between(&s->beside, 1, 3) == 1;
    s->is_vast = many_one_of(s, 8);
    s->tiny = s->is_vast || many_one_of(s, 4);
    s->nodes = (int)many_draw(s, s->is_vast ? 30 : 6, MANY_NODES);
    s->cores = (int)many_draw(s, s->is_vast ? 6 : 2, s->is_vast || many_one_of(s, 3) ? 12 : 6);
    s->queues = (int)many_draw(s, 3, MANY_QUEUES);
    s->divisions = (int)many_draw(s, 0, MANY_DIVISIONS);
    s->ends = many_draw(s, 0, 1) ? MANY_ENDLESS : (enum many_ends)many_draw(s, 1, MANY_SURE);
    s->has_users = many_one_of(s, 4);
    s->has_limits = many_draw(s, 0, 1);
    s->has_gangs = many_one_of(s, 2);
    s->lags = !s->has_gangs && s->ends < MANY_SURE_FCFS && many_one_of(s, 2);
    s->is_tight = s->has_limits && s->ends >= MANY_SURE_FCFS && many_draw(s, 0, 1);
    s->alike = many_one_of(s, 4);
    int preemptible = many_draw(s, 0, 1) ? 0 : (int)many_draw(s, 1, 2);
    s->is_mixed = preemptible == 2;
    for (int i = 0; i < 2; i++)
        s->fills[i] = i > 0 && s->is_vast ? s->fills[0] : (int)many_draw(s, 0, s->queues - 1);
    /* Where ends are known the first jobs of higher queues keep room without a promise. */
    bool levels = s->ends == MANY_ENDLESS && many_one_of(s, 3);
    for (int i = 0; i < s->divisions; i++) {
        s->weight[i] = (int)many_draw(s, 1, 4);
        s->under[i] = i > 0 && many_one_of(s, 3) ? 1 : 0;
    }
    for (int i = 0; i < s->queues; i++)
        open_queue(s, i, preemptible, levels);
    write_config(s, text);
    world_open(&s->world, text);
}

/* Weights, guarantees, whom queues take from, and limits, which become no lower. */
void many_change(struct many_scene *s)
{
    char text[TEXT];
    berth_error_t err = {""};
    int all = s->nodes * s->cores;
    for (int i = 0; i < s->queues; i++) {
        struct many_queue *q = &s->queue[i];
        if (many_one_of(s, 3))
            q->weight = (int)many_draw(s, 1, 9);
        if (many_one_of(s, 4))
            q->guarantee = many_one_of(s, 2) ? 0 : (int)many_draw(s, 1, all / 8);
        if (many_one_of(s, 4) && !q->takes_richer) {
            q->takes = !many_one_of(s, 4);
            q->takes_lower = many_one_of(s, 3);
            q->takes_none = !q->takes && !q->takes_lower && many_one_of(s, 2);
        }
        if (q->most_running < INT32_MAX && many_one_of(s, 3))
            q->most_running += (int)many_draw(s, 1, 20);
        if (q->most_cores < INT32_MAX && many_one_of(s, 3))
            q->most_cores += (int)many_draw(s, 1, 20);
    }
    for (int i = 0; i < s->divisions; i++)
        s->weight[i] = many_one_of(s, 3) ? (int)many_draw(s, 1, 4) : s->weight[i];
    write_config(s, text);
    struct config *config = world_config(text);
    CHECK_IN(*s, sched_configure(s->world.sched, s->now, &config->sched, &err) == 0);
    config_destroy(config);
}

int many_asks(const struct many_scene *s, const struct many_job *j)
{
    return j->piece == MANY_ANYWHERE ? j->count
           : j->piece == MANY_WHOLE  ? j->count * s->cores
                                     : j->count * j->cores;
}

int many_asks_together(const struct many_scene *s, const struct many_job *j)
{
    return many_asks(s, j) * j->min;
}

static void write_spec(char text[SPEC], const struct many_job *j)
{
    static const char *const what[] = {
        [MANY_ANYWHERE] = "{type: slot, count: %d, label: s, with: [{type: core, count: 1}]}",
        [MANY_PIECES] = "{type: slot, count: %d, label: s, with: [{type: core, count: %d}]}",
        [MANY_ON_NODES] = "{type: node, count: %d, with: [{type: slot, count: 1, label: s, with: "
                          "[{type: core, count: %d}]}]}",
        [MANY_WHOLE] = "{type: node, count: %d, exclusive: true, with: [{type: slot, count: 1, "
                       "label: s, with: [{type: core, count: %d}]}]}",
    };
    int n = snprintf(text, SPEC, "{version: 9999, resources: [");
    n += snprintf(text + n, SPEC - (size_t)n, what[j->piece], j->count, j->cores);
    snprintf(text + n, SPEC - (size_t)n,
             "], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {system: "
             "{duration: 0}}}");
}

static void draw_ends(struct many_scene *s, struct many_job *j)
{
    j->limit = j->estimate = SCHED_UNLIMITED;
    if (s->ends == MANY_SURE_FCFS || s->ends == MANY_SURE) {
        j->limit = MANY_HORIZON - s->now + (j->is_claimant ? 0 : many_draw(s, 1, 500));
        j->estimate = j->limit;
        return;
    }
    if (s->ends == MANY_ENDLESS || many_one_of(s, 3))
        return;
    j->limit = many_draw(s, 2000, 9000);
    j->estimate = many_draw(s, 0, 1) ? j->limit : many_draw(s, 1000, j->limit);
}

static void submit(struct many_scene *s, struct many_job j)
{
    char spec[SPEC], queue[8], user[8];
    int i = s->jobs++;
    assert_true(i < MANY_JOBS && s->units + j.members <= MANY_UNITS);
    snprintf(queue, sizeof(queue), "q%d", j.queue);
    snprintf(user, sizeof(user), "u%d", j.user);
    write_spec(spec, &j);
    draw_ends(s, &j);
    struct sched_request request = {.duration = j.limit,
                                    .estimate = j.estimate,
                                    .priority = j.priority,
                                    .tag = (uint64_t)i,
                                    .queue = queue,
                                    .user = user,
                                    .preemptible_after = j.after,
                                    .jobspec = spec,
                                    .jobspec_length = strlen(spec)};
    if (j.members > 1) {
        request.members = (uint32_t)j.members;
        request.min = (uint32_t)j.min;
    }
    j.handle = sched_submit(s->world.sched, s->now, &request);
    CHECK_IN(*s, j.handle >= 0);
    j.first = s->units;
    for (int m = 0; m < j.members; m++)
        s->unit[s->units++] = (struct many_unit){.job = i, .member = m, .handle = -1};
    s->job[i] = j;
    if (getenv("SCENE_SHOW"))
        print_message("%d: %s job %d, priority %d, %d of %d members, after %d: %s\n", (int)s->now,
                      queue, i, j.priority, j.min, j.members, (int)j.after, spec);
}

void many_fill(struct many_scene *s, int queue, int cores)
{
    bool gangs = s->has_gangs && !s->queue[queue].is_cancelled;
    while (cores > 0) {
        struct many_job j = {.queue = queue,
                             .user = many_one_of(s, 4) ? (int)many_draw(s, 1, 2) : 0,
                             .priority = s->alike ? 0 : (int)many_draw(s, 0, 2),
                             .count = 1,
                             .cores = s->tiny ? 1 : (int)many_draw(s, 1, s->cores < 3 ? 2 : 3),
                             .piece = MANY_PIECES,
                             .members = 1,
                             .min = 1};
        if (many_one_of(s, s->has_crowds ? 4 : 20))
            j.after = many_draw(s, 1, 40);
        if (gangs && many_one_of(s, 3)) {
            j.members = (int)many_draw(s, 2, s->nodes < 8 ? s->nodes : 8);
            j.min = (int)many_draw(s, 1, j.members);
        }
        cores -= many_asks(s, &j) * j.members;
        submit(s, j);
    }
}

/* What a queue deserves by its weight, if all others ask for as much and there are no divisions. */
static int part_of(const struct many_scene *s, int queue)
{
    int weights = 0;
    for (int i = 0; i < s->queues; i++)
        weights += s->queue[i].weight;
    return s->nodes * s->cores * s->queue[queue].weight / weights;
}

void many_claim(struct many_scene *s)
{
    int queue = (int)many_draw(s, 0, s->queues - 1);
    bool own = s->has_limits &&
               many_one_of(s, s->is_tight ? 1 : 3); /* which its limits may keep as well */
    for (int i = 0; i < 2 && (queue == s->fills[0] || queue == s->fills[1]); i++)
        queue = (int)many_draw(s, 0, s->queues - 1);
    own |= s->queue[s->fills[0]].takes_richer && many_draw(s, 0, 1);
    queue = own ? s->fills[0] : queue;
    int all = s->nodes * s->cores, percent = (int)many_draw(s, 1, many_draw(s, 0, 1) ? 60 : 15);
    int cores = all * percent / 100, part = part_of(s, queue);
    if (many_draw(s, 0, 2) > 0 && cores > part)
        cores = many_draw(s, 0, 1) ? part : (int)many_draw(s, 0, part);
    cores = cores > 0 ? cores : 1;
    struct many_job j = {.queue = queue,
                         .user = (int)many_draw(s, 0, MANY_USERS - 1),
                         .priority = (int)many_draw(s, 0, 3),
                         .members = 1,
                         .min = 1,
                         .is_claimant = true,
                         .piece = (enum many_piece)many_draw(s, 0, MANY_WHOLE)};
    j.piece = many_draw(s, 0, 1) ? MANY_ANYWHERE : j.piece;
    j.cores = j.piece == MANY_ANYWHERE ? 1 : (int)many_draw(s, 1, s->cores);
    j.cores = j.piece == MANY_WHOLE ? s->cores : j.cores;
    j.count = cores / j.cores > 0 ? cores / j.cores : 1;
    if (j.piece >= MANY_ON_NODES && j.count > s->nodes)
        j.count = s->nodes;
    if (j.piece == MANY_PIECES && j.count > s->nodes * (s->cores / j.cores))
        j.count = s->nodes * (s->cores / j.cores);
    bool gangs = s->has_gangs && !s->queue[queue].is_cancelled; /* those would fail */
    if (j.piece != MANY_ANYWHERE && gangs && j.count > 1 && many_draw(s, 0, 1)) {
        int most = j.count < MANY_GANG ? j.count : MANY_GANG;
        j.min = (int)many_draw(s, (most + 1) / 2, most);
        j.members = (int)many_draw(s, j.min > 2 ? j.min : 2, most);
        j.count = 1;
    }
    submit(s, j);
}

void many_crowd(struct many_scene *s, int jobs)
{
    int queue = (int)many_draw(s, 0, s->queues - 1), all = s->nodes * s->cores;
    for (int i = 0; i < 3 && (!s->queue[queue].takes || s->queue[queue].takes_lower); i++)
        queue = (int)many_draw(s, 0, s->queues - 1);
    bool alike = !many_one_of(s, 3), one_user = many_one_of(s, 2);
    struct many_job j = {.queue = queue, .members = 1, .min = 1, .is_claimant = true, .cores = 1};
    for (int i = 0; i < jobs && s->jobs < MANY_JOBS / 4 * 3; i++) {
        if (i == 0 || (!alike && many_one_of(s, 3))) {
            j.piece = many_draw(s, 0, 1) ? MANY_ANYWHERE : MANY_PIECES;
            j.cores = j.piece == MANY_PIECES ? (int)many_draw(s, 1, s->cores) : 1;
            j.count = (int)many_draw(s, 1, many_one_of(s, 4) ? all / 6 : 4);
            if (j.count > s->nodes * (s->cores / j.cores))
                j.count = 1;
        }
        j.user = one_user ? 0 : (int)many_draw(s, 0, MANY_USERS - 1);
        j.priority = alike ? 1 : (int)many_draw(s, 0, 2);
        j.after = many_one_of(s, 6) ? many_draw(s, 1, 20) : 0;
        submit(s, j);
    }
}

bool many_holds(const struct many_scene *s, int job)
{
    bool holds = false;
    for (int i = 0; i < s->holders; i++)
        holds |= s->holder[i].job == job;
    return holds;
}
