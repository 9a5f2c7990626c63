/* Scenes (queue_scene.h): the shell that plays it. */
#include "fixture/machine.h"
#include "queue_inner.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "resource/graph.h"

const char *const scene_users[] = {"u0", "u1", "u2"};
const char *const scene_queues[] = {"q0", "q1", "q2", "q3"};
static const char *const user_groups[] = {"g0", "g1", "g0"};

void scene_fail(const struct scene *c, const char *what, const char *file, int line)
{
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "%.*s\n", (int)c->log.len, c->log.data);
    fail_msg("%s:%d: seed %" PRIu64 ", budget %" PRId64 ", restart %d, time %" PRId64
             ": does not hold: %s",
             file, line, c->options.seed, c->options.budget, c->options.restart, c->now, what);
}

int scene_lane(const struct scene *c, int queue)
{
    const char *parent = c->config.queue[queue].parent;
    return parent ? parent[1] - '0' : queue;
}

bool scene_together(const struct scene *c, const struct scene_job *j)
{
    const char *text;
    return j->members > 1 && !j->gone && !j->running && j->handle >= 0 &&
           sched_members(c->sched, j->handle, &text) > 1;
}

int scene_state(const struct scene *c, const struct scene_job *j)
{
    int state = sched_state(c->sched, j->handle);
    bool first = j->members == 1 || sched_index(c->sched, j->handle) == j->member;
    return state == SCHED_RESERVED && !first ? (int)SCHED_WAITING : state;
}

void scene_handles(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++) {
        struct scene_job *j = &c->job[i];
        if (j->members == 1 || j->gone || j->running)
            continue;
        sched_job_t handle = sched_find(c->sched, j->id, j->member);
        if (handle >= 0)
            j->handle = handle;
    }
}

/* ---- The machine ---- */

static uint32_t add(struct graph *g, uint32_t parent, const char *type, int64_t id, int rank)
{
    return add_vertex(
        g, parent,
        &(struct vertex_spec){.type = type, .id = id, .uniq_id = -1, .size = 1, .rank = rank});
}

static match_t *make_machine(const struct scene *c)
{
    struct graph *g = graph_create();
    uint32_t root = add(g, VERTEX_NONE, "cluster", 0, -1);
    graph_type(g, "gpu");
    for (int i = 0; i < c->nodes; i++) {
        uint32_t node = add(g, root, "node", i, i);
        if (c->node[i].fast)
            graph_set_property(g, node, "fast", "");
        for (int k = 0; k < c->node[i].cores; k++)
            add(g, node, "core", k, i);
        for (int k = 0; k < c->node[i].gpus; k++)
            add(g, node, "gpu", k, i);
    }
    return machine_seal(
        g, &(match_options_t){.policy = c->policy, .filters = "ALL:core,ALL:node,ALL:gpu"});
}

/* ---- Calls ---- */

bool scene_again;

void scene_note(struct scene *c, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    strbuf_puts(&c->log, text);
}

void scene_jobspec(const struct scene_job *j, char *text, size_t size)
{
    char inner[200];
    snprintf(inner, sizeof(inner), "{type: core, count: %d}", j->cores);
    if (j->gpus > 0)
        snprintf(inner, sizeof(inner), "{type: core, count: %d}, {type: gpu, count: %d}", j->cores,
                 j->gpus);
    char resources[400];
    if (j->kind == ASK_CORES)
        snprintf(resources, sizeof(resources),
                 "{type: slot, count: %d, label: s, with: [{type: core, count: %d}]}", j->count,
                 j->cores);
    else if (j->kind == ASK_SLOTS)
        snprintf(resources, sizeof(resources),
                 "{type: slot, count: %d, label: s, with: [{type: node, count: 1}]}", j->count);
    else
        snprintf(resources, sizeof(resources),
                 "{type: node, count: %d%s, with: [{type: slot, count: 1, label: s, with: [%s]}]}",
                 j->count, j->kind == ASK_WHOLE ? ", exclusive: true" : "", inner);
    snprintf(text, size,
             "{version: 9999, resources: [%s], tasks: [{command: [a], slot: s, count: {per_slot: "
             "1}}], attributes: {system: {duration: 0}}}",
             resources);
}

void scene_submit(struct scene *c)
{
    struct scene_job *j = &c->job[c->jobs];
    char text[700];
    scene_draw_job(c, j);
    scene_draw_limit(c, j);
    if (c->jobs + (int)j->members > SCENE_JOBS)
        j->members = 1;
    scene_jobspec(j, text, sizeof(text));
    int64_t estimate = j->duration < SCENE_UNKNOWN ? j->duration : SCHED_UNLIMITED;
    struct sched_request r = {.duration = j->limit,
                              .estimate = j->limit > j->duration ? estimate : 0,
                              .priority = j->priority,
                              .tag = (uint64_t)c->jobs,
                              .jobspec = text,
                              .jobspec_length = strlen(text),
                              .id = j->id,
                              .queue = scene_queues[j->queue],
                              .user = scene_users[j->user],
                              .groups = &user_groups[j->user],
                              .n_groups = 1,
                              .name = scene_chance(c, 2) ? "n" : NULL,
                              .dependency = j->dependency[0] ? j->dependency : NULL,
                              .begin = j->begin,
                              .hold = j->held,
                              .preemptible_after = j->preemptible_after,
                              .members = j->members,
                              .max_running = (uint32_t)j->most};
    sched_job_t h;
    CALL(c, h < 0, h = sched_submit(c->sched, c->now, &r));
    SCENE_CHECK(c, h >= 0);
    struct scene_job first = *j;
    for (uint32_t i = 0; i < first.members; i++) {
        j = &c->job[c->jobs++];
        *j = first;
        j->member = i;
        j->handle = h;
        j->state = sched_state(c->sched, h);
        SCENE_CHECK(c, j->state == SCHED_REJECTED || first.members == 1 ||
                           sched_member(c->sched, h, i) == h);
        ledger_submitted(c, j);
    }
    scene_note(c,
               "%" PRId64 " submit %s x%u to %s of %s: kind %d %d x %d cores %d gpus, %" PRId64
               " for %" PRId64 ", priority %" PRId64 " %s\n",
               c->now, first.id, first.members, scene_queues[first.queue], scene_users[first.user],
               first.kind, first.count, first.cores, first.gpus, first.duration, first.lasts,
               first.priority, first.dependency);
}

void scene_ended(struct scene *c, struct scene_job *j, bool ok)
{
    j->gone = true;
    j->ok = ok;
    j->running = false;
    c->ended[c->n_ended++] = (int)(j - c->job);
}

static void finish(struct scene *c, struct scene_job *j)
{
    bool ok = !scene_chance(c, 5), stopped = j->preempted && j->requeue && !scene_chance(c, 4);
    int rc;
    if (stopped)
        CALL(c, rc < 0, rc = sched_requeue(c->sched, c->now, j->handle));
    else /* also one that came to its end before it was stopped */
        CALL(c, rc < 0, rc = sched_finish(c->sched, c->now, j->handle, ok));
    SCENE_CHECK(c, rc == 0);
    j->running = false;
    if ((j->preempted && j->preempted_at < c->now) ||
        (j->leaves_since >= 0 && j->leaves_since < c->now))
        ledger_excuse_all(c); /* it has taken its time to stop */
    if (j->duration == SCENE_UNKNOWN)
        ledger_returned(c); /* who could be promised nothing behind it */
    scene_note(c, "%" PRId64 " %s %s.%u\n", c->now, stopped ? "requeue" : "finish", j->id,
               j->member);
    SCENE_CHECK(c, stopped == (sched_state(c->sched, j->handle) >= 0));
    if (stopped) {
        j->preempted = false;
        j->state = sched_state(c->sched, j->handle);
        j->could =
            ledger_could_ever(c, j); /* if not, it is rejected whatever comes before the pass */
        j->promise = -1;
        ledger_came(c, j);
        return;
    }
    scene_ended(c, j, ok);
}

static void finish_due(struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running && c->job[i].end <= c->now)
            finish(c, &c->job[i]);
}

/* ---- Passes ---- */

/* The decisions of a pass, with their own copies of the reasons. */
static struct {
    struct sched_decision d[4096];
    struct sched_reason reason[4096];
    char text[4096][SCHED_REASON_TEXT];
    size_t n;
} told;

static void gather(const struct scene *c, const struct sched_decision *d, size_t n)
{
    for (size_t i = 0; i < n && told.n < 4096; i++, told.n++) {
        told.d[told.n] = d[i];
        if (!d[i].reason)
            continue;
        sched_reason_text(d[i].reason, told.text[told.n]);
        sched_reason_read(&told.reason[told.n], told.text[told.n], c->config.config.second);
        told.d[told.n].reason = &told.reason[told.n];
    }
}

static int some(struct scene *c, const struct sched_decision **d, size_t *n)
{
    if (c->options.budget == 0)
        return sched_pass(c->sched, c->now, false, d, n);
    int64_t budget = c->options.budget > 0 ? c->options.budget : random_between(&c->slices, 1, 6);
    return sched_pass_some(c->sched, c->now, (uint64_t)budget, d, n);
}

/* Something happens that changes nothing: a job gets the priority that it has. */
static void disturb(struct scene *c)
{
    const struct scene_job *j = &c->job[random_between(&c->slices, 0, c->jobs - 1)];
    if (!j->gone && !j->running && j->handle >= 0 && random_between(&c->slices, 0, 2) == 0)
        sched_prioritize(c->sched, c->now, j->handle, j->priority);
}

static void pass(struct scene *c)
{
    int rc;
    told.n = 0;
    ledger_before_pass(c);
    c->in_pass = true;
    do {
        const struct sched_decision *d;
        size_t n;
        CALL(c, rc < 0, (rc = some(c, &d, &n), gather(c, d, n)));
        SCENE_CHECK(c, rc >= 0 && told.n < 4096);
        if (rc == 1 && c->options.disturbed && c->jobs > 0)
            disturb(c);
    } while (rc == 1);
    c->in_pass = false;
    c->passes++;
    ledger_pass(c, told.d, told.n);
}

/* ---- Another scheduler goes on ---- */

/* What every other running job holds, as R without a graph; NULL for the others. */
static char *as_r(struct scene *c, sched_job_t job)
{
    const char *text;
    size_t length;
    if (sched_state(c->sched, job) != SCHED_RUNNING || job % 2 != 0)
        return NULL;
    SCENE_CHECK(c, sched_write(c->sched, job, "rv1_nosched", &text, &length) == 0);
    if (length == 0) /* all that it held of nodes is gone */
        return NULL;
    char *copy = strndup(text, length);
    SCENE_CHECK(c, copy != NULL);
    return copy;
}

static void restore_job(struct scene *c, sched_t *to, sched_job_t job)
{
    struct sched_record record;
    struct sched_annotation a;
    berth_error_t err = {""};
    char *r = as_r(c, job);
    SCENE_CHECK(c, sched_annotate(c->sched, job, &a) == 0);
    SCENE_CHECK(c, sched_record(c->sched, job, &record) == 0);
    if (r) {
        record.format = "rv1exec";
        record.resources = r;
        record.resources_length = strlen(r);
    }
    sched_job_t h = sched_restore(to, c->now, &record, &err);
    free(r);
    if (h < 0)
        scene_fail(c, err.text, __FILE__, __LINE__);
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].handle == job) {
            bool same = sched_state(to, h) == c->job[i].state || scene_together(c, &c->job[i]);
            SCENE_CHECK(c, same || c->job[i].state == SCHED_BLOCKED);
            c->job[i].next_handle = h;
        }
}

sched_t *scene_copy(const struct scene *c, match_t **match)
{
    *match = make_machine(c);
    sched_t *to = sched_create(*match, &c->config.config, NULL);
    SCENE_CHECK(c, to);
    for (int i = 0; i < c->nodes; i++) {
        char name[16];
        snprintf(name, sizeof(name), "node%d", i);
        if (c->node[i].down)
            SCENE_CHECK(c, sched_set_status(to, c->now, name, RESOURCE_DOWN, NULL) == 0);
    }
    for (int i = 0; i < SCENE_BLOCKS; i++)
        if (c->block[i].there)
            SCENE_CHECK(c, sched_block(to, c->now, &c->block[i].block, NULL) == 0);
    for (size_t q = 0; q < c->config.config.n_queues; q++)
        SCENE_CHECK(c,
                    sched_queue_set(to, c->now, scene_queues[q], !c->closed[q],
                                    !c->stopped[scene_lane(c, (int)q)] || c->config.queue[q].parent,
                                    NULL) == 0);
    for (int i = 0; i < c->n_ended; i++) {
        const struct scene_job *j = &c->job[c->ended[i]];
        sched_restore_ended(to, j->id, j->member, j->members, j->ok);
    }
    return to;
}

static void restart(struct scene *c)
{
    match_t *match;
    sched_t *to = scene_copy(c, &match);
    for (sched_job_t job = sched_first(c->sched); job >= 0; job = sched_next(c->sched, job))
        restore_job(c, to, job);
    struct sched_uneven uneven[SCENE_QUEUES];
    size_t n = sched_unevens(c->sched, uneven, SCENE_QUEUES);
    for (size_t i = 0; i < n; i++)
        SCENE_CHECK(c, sched_restore_uneven(to, &uneven[i]) == 0);
    struct sched_passed passed; /* a pass that nothing but the restart brings might rebalance */
    sched_passed(c->sched, &passed);
    SCENE_CHECK(c, sched_restore_passed(to, c->now, &passed) == 0);
    for (int i = 0; i < c->jobs; i++)
        c->job[i].handle = c->job[i].gone ? c->job[i].handle : c->job[i].next_handle;
    SCENE_CHECK(c, sched_check(to));
    /* It may want a pass at once, but none later that the other would not make: a job that overruns is
     * given as long again by each.
     */
    int64_t next = sched_next_time(to);
    SCENE_CHECK(c, next <= c->now || next == sched_next_time(c->sched) || c->options.late > 0);
    sched_destroy(c->sched);
    match_destroy(c->match);
    c->sched = to;
    c->match = match;
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "restarted at %d\n", (int)c->now);
}

bool scene_is_quiet(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].preempted || (!c->job[i].gone && !ledger_could_ever(c, &c->job[i])))
            return false;
    return c->config.config.min_interval == 0;
}

/* ---- The play ---- */

/* The shell stops after a pass, and another scheduler goes on with the jobs of this one, or nobody passes for a while, or
 * both. What ends meanwhile is reported before the next pass.
 */
static void break_off(struct scene *c)
{
    int after = c->options.late > 0 ? c->options.late : c->options.restart;
    if (after == 0 || c->passes < after || !scene_is_quiet(c) ||
        sched_next_time(c->sched) <= c->now)
        return;
    if (c->options.late > 0) {
        c->now += random_between(&c->slices, 1, 25);
        ledger_excuse_all(c);
    }
    if (c->options.restart > 0)
        restart(c);
    c->options.late = c->options.restart = 0;
    finish_due(c);
}

/* All passes of an instant. */
static void passes(struct scene *c)
{
    for (int i = 0; i == 0 || sched_next_time(c->sched) <= c->now; i++) {
        SCENE_CHECK(c, i < 50);
        pass(c);
        finish_due(c);
        break_off(c);
    }
    if (c->options.look)
        c->options.look(c);
}

/* On to the next time at which something happens by itself, or to a time before that. */
static void advance(struct scene *c, int64_t before)
{
    int64_t next = before;
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running && c->job[i].end < next)
            next = c->job[i].end;
    int64_t pass = sched_next_time(c->sched);
    next = pass < next ? pass : next;
    SCENE_CHECK(c, next > c->now || next == before);
    c->now = next > c->now ? next : c->now;
}

/* Let time go on until then. */
static void go_on(struct scene *c, int64_t then)
{
    for (int step = 0; c->now < then; step++) {
        SCENE_CHECK(c, step < 1000);
        advance(c, then);
        finish_due(c);
        if (c->now < then)
            passes(c);
    }
}

/* Whether time alone changes nothing more: where a block comes again there may always be a next time. */
static bool is_over(const struct scene *c)
{
    for (int i = 0; i < c->jobs; i++)
        if (c->job[i].running)
            return false;
    int64_t next = sched_next_time(c->sched);
    int64_t last = next == INT64_MAX ? 0 : sched_last_time(c->sched);
    return last >= 0 && next > last;
}

/* Everything is up, nothing is held back, and no more comes. */
static void close_scene(struct scene *c)
{
    char name[16];
    c->closing = true;
    ledger_excuse_all(c);
    for (int i = 0; i < SCENE_BLOCKS; i++)
        if (c->block[i].there) {
            sched_unblock(c->sched, c->now, c->block[i].name, NULL);
            c->block[i].there = false;
        }
    for (int i = 0; i < c->nodes; i++) {
        snprintf(name, sizeof(name), "node%d", i);
        SCENE_CHECK(c, sched_set_status(c->sched, c->now, name, RESOURCE_UP, NULL) == 0);
        c->node[i].down = false;
    }
    for (size_t q = 0; q < c->config.config.n_queues; q++) {
        sched_queue_set(c->sched, c->now, scene_queues[q], true, true, NULL);
        c->stopped[q] = c->closed[q] = false;
    }
    for (int i = 0; i < c->jobs; i++)
        if (!c->job[i].gone && c->job[i].held) {
            sched_release(c->sched, c->now, c->job[i].handle);
            c->job[i].held = false;
            ledger_came(c, &c->job[i]);
        }
}

void scene_note_config(struct scene *c)
{
    for (size_t i = 0; i < c->config.config.n_queues; i++) {
        const struct sched_queue_config *q = &c->config.queue[i];
        scene_note(c,
                   "%s of %s: %s %" PRId64 " %s priority %" PRId64 " preemptible %d depth %" PRId64
                   "\n",
                   q->name, q->parent ? q->parent : "none", q->policy ? q->policy : "",
                   q->reservation_depth, q->requires ? q->requires : "", q->priority,
                   q->preemptible, q->queue_depth);
    }
    for (size_t i = 0; i < c->config.config.n_queues; i++) {
        const struct sched_limits *l = &c->config.queue[i].limits;
        for (size_t k = 0; k < l->n_job; k++)
            scene_note(c, "q%d job %s %" PRId64 "\n", (int)i, l->job[k].what, l->job[k].most);
        for (size_t k = 0; k < l->n_user; k++)
            scene_note(c, "q%d user %s %" PRId64 "\n", (int)i, l->user[k].what, l->user[k].most);
        for (size_t k = 0; k < l->n_queue; k++)
            scene_note(c, "q%d queue %s %" PRId64 "\n", (int)i, l->queue[k].what, l->queue[k].most);
    }
}

void scene_play(struct scene *c, const struct scene_options *options)
{
    memset(c, 0, sizeof(*c));
    c->options = *options;
    c->random.state = options->seed;
    c->slices.state = options->seed + 1000;
    scene_draw_machine(c);
    scene_draw_config(c, &c->config, &c->block[SCENE_BLOCKS]);
    if (c->block[SCENE_BLOCKS].there) {
        struct scene_block *b = &c->block[SCENE_BLOCKS];
        c->config.block[0] = b->block;
    }
    berth_error_t err = {""};
    for (int i = 0; i < c->nodes; i++)
        scene_note(c, "node%d %d cores %d gpus%s\n", i, c->node[i].cores, c->node[i].gpus,
                   c->node[i].fast ? " fast" : "");
    scene_note_config(c);
    c->match = make_machine(c);
    CALL(c, !c->sched, c->sched = sched_create(c->match, &c->config.config, &err));
    if (!c->sched)
        scene_fail(c, err.text, __FILE__, __LINE__);
    for (int step = 0; step < 60; step++) {
        finish_due(c);
        for (int64_t k = scene_draw(c, 0, 4); k > 0; k--)
            scene_event(c);
        passes(c);
        go_on(c, c->now + scene_draw(c, 0, 5));
    }
    close_scene(c);
    finish_due(c);
    passes(c);
    for (int step = 0; !is_over(c); step++) {
        SCENE_CHECK(c, step < 5000);
        advance(c, INT64_MAX);
        finish_due(c);
        passes(c);
    }
    ledger_end(c);
    sched_destroy(c->sched);
    match_destroy(c->match);
}
