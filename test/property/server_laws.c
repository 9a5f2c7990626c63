/* Who starts when, and where: held against what users were promised, the order of their jobs, and what has
 * been given away.
 *
 * A promise may move to a later time, or be taken back, only if something came in between that
 * doc/architecture.md allows to do so: a job that the order puts before came (was submitted, raised,
 * released, requeued, or what it waited for has come), the job itself was changed, a run went on after it
 * was told to end, resources or queues or the configuration or a running job's limit were changed, or time
 * went by in which nothing could be decided or stored.
 */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/failing_alloc.h"
#include "server_scene.h"

#define GRACE (10 * SIM_SECOND)

static const struct order last_of_all = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

static bool goes_before(struct order a, struct order b)
{
    if (a.queue != b.queue)
        return a.queue < b.queue;
    if (a.priority != b.priority)
        return a.priority < b.priority;
    return a.id != b.id ? a.id < b.id : a.member < b.member;
}

static struct order order_of(const struct scene *c, const struct told *t, int64_t id,
                             int64_t member)
{
    return (struct order){-c->queue_priority[t->queue], -t->member[member].priority, id, member};
}

void laws_arrived(struct scene *c, const struct told *t, int64_t id, int64_t member)
{
    if (t->unsure || !t->sure)
        c->disturbed = true;
    for (int64_t m = member < 0 ? 0 : member; m <= member || (member < 0 && m < t->members); m++) {
        struct order order = order_of(c, t, id, m);
        if (!t->unsure && t->sure && goes_before(order, c->arrival))
            c->arrival = order;
    }
}

void laws_not_ready(struct scene *c, int queue)
{
    for (int64_t id = c->oldest; id < c->n; id++)
        for (int m = 0; m < MEMBERS; m++)
            if (queue < 0 || c->told[id].queue == queue)
                c->told[id].member[m].ready = false;
}

/* ---- Where ---- */

/* Call for each number in "0-3,7". */
static void each_id(struct scene *c, const char *ids, size_t run,
                    void (*what)(struct scene *c, int id, int node, size_t run), int node)
{
    for (char *end; ids && *ids; ids = end + (*end == ',')) {
        long first = strtol(ids, &end, 10), last = first;
        if (end == ids)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long id = first; id <= last; id++)
            what(c, (int)id, node, run);
    }
}

static void take(struct scene *c, size_t *place, size_t run)
{
    const struct sim_engine *e = c->w->engine;
    const struct sim_run *r = &e->runs[run];
    if (*place && *place != run + 1 && e->runs[*place - 1].state != SIM_OVER)
        scene_fail(c, "it got what another one holds", r->job, r->member);
    *place = run + 1;
}

static void take_core(struct scene *c, int id, int node, size_t run)
{
    if (id < 0 || id >= CORES)
        scene_fail(c, "it got a core that there isn't", id, node);
    take(c, &c->node[node].core[id], run);
}

static void take_gpu(struct scene *c, int id, int node, size_t run)
{
    if (id < 0 || id >= GPUS)
        scene_fail(c, "it got a gpu that there isn't", id, node);
    take(c, &c->node[node].gpu[id], run);
}

static const json_t *children_now;

static void take_node(struct scene *c, int node, int unused, size_t run)
{
    const struct sim_run *r = &c->w->engine->runs[run];
    (void)unused;
    if (node < 0 || node >= NODES)
        scene_fail(c, "it got a node that there isn't", r->job, r->member);
    if (c->node[node].down > 0)
        scene_fail(c, "it starts on what is drained or down", r->job, r->member);
    each_id(c, json_string_value(json_object_get(children_now, "core")), run, take_core, node);
    each_id(c, json_string_value(json_object_get(children_now, "gpu")), run, take_gpu, node);
}

static void check_place(struct scene *c, size_t run, const struct told *t)
{
    const struct sim_run *r = &c->w->engine->runs[run];
    const char *text = strstr(r->env, "BERTH_R={");
    json_t *all = text ? json_loads(text + 8, JSON_DISABLE_EOF_CHECK, NULL) : NULL, *lite;
    const json_t *list = json_object_get(json_object_get(all, "execution"), "R_lite");
    size_t i;
    int cores = 0, gpus = 0;
    if (!json_is_array(list))
        scene_fail(c, "nobody told it what it got", r->job, r->member);
    json_array_foreach (list, i, lite) {
        children_now = json_object_get(lite, "children");
        each_id(c, json_string_value(json_object_get(lite, "rank")), run, take_node, 0);
    }
    for (int n = 0; n < NODES; n++) {
        for (int k = 0; k < CORES; k++)
            cores += c->node[n].core[k] == run + 1;
        for (int k = 0; k < GPUS; k++)
            gpus += c->node[n].gpu[k] == run + 1;
    }
    if (t->sure && (cores != t->cores || gpus != t->gpus))
        scene_fail(c, "it got another number of cores or gpus", r->job, r->member);
    json_decref(all);
}

/* ---- When ---- */

static void note_late(struct scene *c, struct late late)
{
    if (c->n_late == c->cap_late) {
        c->cap_late = c->cap_late * 2 + 16;
        c->late = realloc(c->late, c->cap_late * sizeof(*c->late));
        if (!c->late)
            abort();
    }
    late.at = scene_now(c);
    c->late[c->n_late++] = late;
}

/* Jobs of a list that takes more than a turn come up in their order, so the first of them may start before
 * the others are there.
 */
static bool came_later(const struct scene *c, const struct told *t, const struct told *o,
                       int64_t id, int64_t k)
{
    return c->w->options.slice > 0 && t->list == o->list && k > id;
}

/* Jobs of a queue without promises start in their order: those that are ready and go before are running. */
static void check_order(struct scene *c, const struct told *t, int64_t id, int member)
{
    if (t->queue != FCFS || t->unsure || !t->sure)
        return;
    for (int64_t k = c->oldest; k < c->n; k++) {
        const struct told *o = &c->told[k];
        if (o->queue != FCFS || o->unsure ||
            (t->member[member].starts == 0 && came_later(c, t, o, id, k)))
            continue;
        for (int m = 0; m < o->members && o->most == 0; m++)
            if (o->member[m].ready && goes_before(order_of(c, o, k, m), order_of(c, t, id, member)))
                note_late(
                    c, (struct late){.job = id, .member = member, .before = k, .before_member = m});
    }
}

static void check_allowed(struct scene *c, const struct told *t, const struct told_member *p,
                          const struct sim_run *r)
{
    if (p->starts > 0 && c->w->engine->runs[p->run].state != SIM_OVER)
        scene_fail(c, "it runs twice at once", r->job, r->member);
    if (t->sure && !t->requeue && !t->preemptible && p->starts > t->allowed)
        scene_fail(c, "it ran again and nobody had asked for that", r->job, r->member);
    if (p->ended)
        scene_fail(c, "it had ended and starts", r->job, r->member);
    if (t->cancelled)
        scene_fail(c, "it was cancelled and starts", r->job, r->member);
    if (p->held)
        scene_fail(c, "it is held and starts", r->job, r->member);
    if (t->sure && !t->unsure && c->stopped[t->queue] > 0)
        scene_fail(c, "its queue is stopped and it starts", r->job, r->member);
    if (t->begin > scene_now(c) && !t->begin_lost)
        scene_fail(c, "it starts before it may begin", r->job, r->member);
}

/* How many other members run. */
static int count_running(const struct scene *c, const struct told *t, int member)
{
    int n = 0;
    for (int m = 0; m < t->members; m++) {
        const struct told_member *p = &t->member[m];
        n += m != member && p->starts > 0 && c->w->engine->runs[p->run].state != SIM_OVER;
    }
    return n;
}

static void note_asked(struct scene *c, size_t run, int64_t at)
{
    if (run >= c->cap_asked) {
        c->cap_asked = run * 2 + 64;
        c->asked = realloc(c->asked, c->cap_asked * sizeof(*c->asked));
        if (!c->asked)
            abort();
    }
    c->asked[run].at = at;
    c->asked[run].decided = c->w->failed != c->failed ? c->last_look : at;
}

void laws_asked(void *context, size_t run)
{
    struct scene *c = context;
    bool scarce = scene_scarce(c, false);
    struct sim_run *r = &c->w->engine->runs[run];
    struct told *t = told_of(c, r->job);
    int member = r->member < 0 ? 0 : (int)r->member;
    struct told_member *p = &t->member[member];
    if (t->sure && !told_has(t, member))
        scene_fail(c, "there is no such member and it starts", r->job, r->member);
    check_allowed(c, t, p, r);
    if (r->state == SIM_OVER) { /* refused: it waits again */
        note_asked(c, run, -1);
        scene_scarce(c, scarce);
        return;
    }
    if (t->most > 0 && count_running(c, t, member) >= t->most)
        scene_fail(c, "more of it run at once than may", r->job, r->member);
    check_place(c, run, t);
    check_order(c, t, r->job, member);
    if (p->promise >= 0 && scene_now(c) > p->promise)
        note_late(
            c, (struct late){.job = r->job, .member = member, .promise = p->promise, .before = -1});
    if (p->starts > 0) /* it had come again */
        laws_arrived(c, t, r->job, member);
    p->promise = -1;
    p->ready = p->pending = p->preempts = false;
    p->run = run;
    p->starts++;
    note_asked(c, run, scene_now(c));
    scene_scarce(c, scarce);
}

/* ---- A look ---- */

static int64_t us_of(const json_t *seconds)
{
    return json_is_number(seconds) ? llround(json_number_value(seconds) * 1e6) : -1;
}

static void look_at_row(struct scene *c, const json_t *row, void *unused)
{
    (void)unused;
    int64_t id = json_integer_value(json_object_get(row, "id"));
    const json_t *which = json_object_get(row, "member");
    int member = json_is_integer(which) ? (int)json_integer_value(which) : 0;
    const char *state = json_string_value(json_object_get(row, "state"));
    const char *reason = json_string_value(json_object_get(row, "reason"));
    if (member >= MEMBERS)
        scene_fail(c, "it has too many members", id, member);
    if (!told_of(c, id)->sure)
        told_adopt(c, row);
    struct told *t = told_of(c, id);
    struct told_member *p = &t->member[member];
    bool pending = strcmp(state, "running") != 0;
    if (pending && !p->pending && p->starts > 0) /* it waits again */
        laws_arrived(c, t, id, member);
    t->seen = p->seen = c->looks;
    p->pending = pending;
    p->reserved = p->expected = -1;
    int64_t start = us_of(json_object_get(row, "estimate")) - c->w->wall + scene_now(c);
    if (reason && strcmp(reason, "expected") == 0)
        p->expected = start;
    if (reason && strcmp(reason, "reserved") == 0) {
        p->reserved = start;
        c->promises++;
        t->begin = t->begin_lost ? 0 : t->begin; /* who is promised a time may start then */
        t->begin_lost = false;
    }
}

static void list_all(struct scene *c)
{
    struct strbuf listing;
    char next[40];
    int status = sim_server_ask_text(c->w, SIM_OWNER, "GET", "/v1/jobs", NULL, NULL, &listing);
    if (status != 200)
        scene_fail(c, "there is no listing", status, -1);
    c->looks++;
    if (rows_each(c, &listing, look_at_row, NULL, next, sizeof(next)))
        scene_fail(c, "nobody asked for a part of the listing", -1, -1);
    strbuf_clear(&listing);
}

/* Jobs whose time has come, or that others no longer keep waiting. */
static void note_arrivals(struct scene *c)
{
    for (int64_t id = c->oldest; id < c->n; id++) {
        struct told *t = &c->told[id];
        t->over = t->over || (t->sure && t->seen != c->looks);
        if (id == c->oldest && t->over)
            c->oldest++;
    }
    for (int64_t id = c->oldest; id < c->n; id++) {
        struct told *t = &c->told[id];
        bool depends = t->depends > 0 && t->depends < c->n && !c->told[t->depends].over;
        bool free = !t->begin_lost && !depends && t->begin <= scene_now(c);
        if (!t->free && t->sure && (free || t->begin_lost))
            laws_arrived(c, t, id, -1);
        t->free = free;
    }
}

/* What doesn't end by its limit, or when it is told to, is in the way of others. */
static void note_overruns(struct scene *c)
{
    const struct sim_engine *e = c->w->engine;
    for (size_t i = 0; i < e->n; i++) {
        const struct sim_run *r = &e->runs[i];
        const struct told *t = told_of(c, r->job);
        bool over = r->state == SIM_OVER;
        int64_t duration = t->member[r->member < 0 ? 0 : r->member].duration;
        int64_t limit = c->asked[i].at + duration;
        if (c->asked[i].at < 0)
            continue;
        if ((r->last_signal || !over) && c->asked[i].decided + duration <= scene_now(c))
            c->disturbed = true;
        if ((r->last_signal && !over) || r->last_signal == SIGKILL)
            c->disturbed = true;
        limit = limit > c->good_since ? limit : c->good_since;
        limit = limit > t->limited_at ? limit : t->limited_at;
        if (!over && t->limited == LIMIT && t->sure && !t->unsure &&
            scene_now(c) > limit + GRACE + SIM_SECOND)
            scene_fail(c, "it runs on after its limit", r->job, r->member);
        c->asked[i].at = over ? -1 : c->asked[i].at;
    }
}

/* Whether a job of a higher queue is not over: what a lower one is promised gives way to it. */
static bool gives_way(const struct scene *c, const struct told *t, int64_t id, int64_t member)
{
    int64_t queue = order_of(c, t, id, member).queue;
    for (int64_t i = c->oldest; i < c->n; i++)
        if (!c->told[i].over && order_of(c, &c->told[i], i, 0).queue < queue)
            return true;
    return false;
}

static bool is_excused(const struct scene *c, const struct told *t, int64_t id, int64_t member)
{
    return gives_way(c, t, id, member) || c->disturbed || t->touched || t->unsure ||
           t->member[member].preempts || goes_before(c->arrival, order_of(c, t, id, member));
}

/* The next member of an array that waits for others of it comes when one of these ends, at its array's place
 * in the order: what is behind that may be promised a later time then.
 */
static void note_bounded(struct scene *c)
{
    for (int64_t id = c->oldest; id < c->n; id++) {
        bool waits = false;
        for (int m = 0; m < c->told[id].members && c->told[id].most > 0; m++)
            waits = waits || !c->told[id].member[m].ended;
        if (waits)
            laws_arrived(c, &c->told[id], id, -1);
    }
}

/* Whether a job was promised a time at which it is only expected to start by now, as it is behind an array: when a
 * member of that starts, the next one takes its place, and could use what the job was promised if it is only
 * expected to start itself.
 */
static bool is_expected_behind(const struct scene *c, const struct told *t, int64_t id, int member)
{
    const struct told_member *p = &t->member[member];
    if (p->expected < 0 || p->expected > p->promise)
        return false;
    for (int64_t i = c->oldest; i < c->n; i++)
        if (c->told[i].members > 1 && !c->told[i].over &&
            goes_before(order_of(c, &c->told[i], i, 0), order_of(c, t, id, member)))
            return true;
    return false;
}

static void check_promise(struct scene *c, struct told *t, int64_t id, int m)
{
    struct told_member *p = &t->member[m];
    bool listed = p->seen == c->looks && p->pending;
    p->pending = listed;
    if (!listed)
        p->reserved = -1;
    if (listed && p->promise >= 0 && (p->reserved < 0 || p->reserved > p->promise) &&
        !is_excused(c, t, id, m) && !is_expected_behind(c, t, id, m)) {
        fprintf(stderr, "promised %lld, now %lld, at %lld\n", (long long)p->promise,
                (long long)p->reserved, (long long)scene_now(c));
        scene_fail(c, "a promise is not kept", id, m);
    }
    if (p->reserved >= 0 && p->reserved <= scene_now(c) && !is_excused(c, t, id, m))
        scene_fail(c, "the time that it was promised has come, and it doesn't start", id, m);
    p->promise = p->reserved; /* what is only expected has another reason */
    p->ready = listed && !p->preempts && t->free && !p->held && !p->maybe_held && !t->unsure &&
               t->sure && c->stopped[t->queue] == 0;
}

static void check_late(struct scene *c)
{
    for (size_t i = 0; i < c->n_late; i++) {
        const struct late *l = &c->late[i];
        if (l->before >= 0) {
            const struct told_member *p = &c->told[l->before].member[l->before_member];
            if (!p->preempts && p->n_ends == 0 && !c->unlucky &&
                !c->told[l->job].member[l->member].took)
                scene_fail(c, "it starts before one that goes before it", l->job, l->before);
            continue;
        }
        if (is_excused(c, told_of(c, l->job), l->job, l->member) || c->w->failed != c->failed)
            continue;
        fprintf(stderr, "promised %lld, started %lld\n", (long long)l->promise, (long long)l->at);
        scene_fail(c, "it starts later than it was promised", l->job, l->member);
    }
    c->n_late = 0;
}

void laws_look(struct scene *c)
{
    bool before = scene_scarce(c, false);
    if (before && sim_server_turn(c->w, NULL) < 0) { /* what there was no memory for */
        scene_scarce(c, before);
        return;
    }
    list_all(c);
    note_arrivals(c);
    if (c->w->failed != c->failed) {
        c->disturbed = c->disturbed || scene_now(c) > c->last_look;
        c->good_since = scene_now(c);
        if (c->last_look < c->refused_until) /* what was refused then is tried again only now */
            c->refused_until = scene_now(c) + 3 * SIM_SECOND;
    }
    bool again = allocation_failed;
    c->unlucky = c->unlucky || allocation_failed;
    allocation_failed = false;
    if (c->w->engine->full)
        c->refused_until = scene_now(c) + 3 * SIM_SECOND; /* it is tried again every two */
    c->disturbed = c->disturbed || c->last_look < c->refused_until;
    c->disturbed = c->disturbed || c->unlucky || c->w->engine->lingered != c->lingered;
    note_overruns(c);
    check_late(c);
    c->unlucky = again; /* of what happened without memory the next look may see more */
    note_bounded(c);
    for (int64_t id = c->oldest; id < c->n; id++) {
        struct told *t = &c->told[id];
        for (int m = 0; m < t->members; m++)
            check_promise(c, t, id, m);
        t->touched = false;
    }
    c->disturbed = false;
    c->arrival = last_of_all;
    c->failed = c->w->failed;
    c->lingered = c->w->engine->lingered;
    c->last_look = scene_now(c);
    scene_scarce(c, before);
}

/* What a reservation has moved by after a reboot, as all others have; INT64_MIN: nobody had one, or its
 * time went by.
 */
static int64_t shift_of(struct scene *c, const struct reboot *how, int64_t id, int m)
{
    const struct told *t = &c->told[id];
    const struct told_member *p = &t->member[m];
    if (p->promise < 0)
        return INT64_MIN;
    if (p->seen == c->looks && p->reserved >= 0)
        return p->reserved - p->promise;
    if (how->latest - p->promise < p->duration)
        scene_fail(c, "a promise is gone after a reboot", id, m);
    return INT64_MIN;
}

/* The server's clock may have been set back before the time at which a job may begin, which has to wait for
 * that again.
 */
static void wait_to_begin(const struct scene *c, struct told *t)
{
    t->free = t->free && !t->begin_lost && t->begin <= scene_now(c);
    for (int m = 0; m < MEMBERS; m++)
        t->member[m].ready = t->member[m].ready && t->free;
}

/* All promises stand, and the server's clock went on by what the wall clock says. */
void laws_rebooted(struct scene *c, const struct reboot *how)
{
    int64_t shift = how->exact ? 0 : INT64_MIN;
    bool before = scene_scarce(c, false);
    if (how->looked)
        list_all(c);
    for (int64_t id = c->oldest; how->looked && id < c->n; id++) {
        for (int m = 0; m < c->told[id].members; m++) {
            int64_t its = shift_of(c, how, id, m);
            shift = shift == INT64_MIN ? its : shift;
            if (its != INT64_MIN && its != shift)
                scene_fail(c, "a promise has moved after a reboot", id, m);
        }
    }
    if (shift != INT64_MIN)
        c->base -= shift; /* the server's clock is as good as it can be */
    for (int64_t id = c->oldest; shift == INT64_MIN && id < c->n; id++)
        c->told[id].begin_lost = c->told[id].begin > 0;
    for (int64_t id = c->oldest; id < c->n; id++)
        wait_to_begin(c, &c->told[id]);
    c->disturbed = true;
    scene_scarce(c, before);
}

/* Who was to run again has done so. One whose start was asked for before the machine stopped is told as lost:
 * nobody knows whether it ran.
 */
void laws_finish(struct scene *c)
{
    for (int64_t id = 1; id < c->n; id++) {
        const struct told *t = &c->told[id];
        for (int m = 0; m < t->members; m++)
            if (t->member[m].requeued_at > 0 && t->member[m].starts <= t->member[m].requeued_at &&
                !t->maybe_cancelled && !t->member[m].lost)
                scene_fail(c, "it was to run again and didn't", id, m);
    }
}
