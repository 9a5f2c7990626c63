/* What users ask of a server, and what they are told: held against all that they are told later. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_scene.h"

const char *const scene_queues[QUEUES] = {"easy", "fcfs", "all", "spare"};

int told_queue(const char *name)
{
    int q = 0;
    while (q < QUEUES - 1 && (!name || strcmp(name, scene_queues[q]) != 0))
        q++;
    return q;
}

struct told *told_of(struct scene *c, int64_t id)
{
    if (id >= c->cap) {
        int64_t cap = id * 2 + 64;
        c->told = realloc(c->told, (size_t)cap * sizeof(*c->told));
        if (!c->told)
            abort();
        memset(c->told + c->cap, 0, (size_t)(cap - c->cap) * sizeof(*c->told));
        for (int64_t i = c->cap; i < cap; i++)
            for (int m = 0; m < MEMBERS; m++)
                c->told[i].member[m].promise = c->told[i].member[m].reserved = -1;
        c->cap = cap;
    }
    if (id >= c->n)
        c->n = id + 1;
    return &c->told[id];
}

/* ---- Submission ---- */

/* What one job asks for. */
struct shape {
    int cores, gpus, members, most, queue, gap;
    bool requeue, hold, limited;
    int64_t duration, priority, begin, depends; /* s; begin 0: none, as depends */
};

static struct shape choose(struct scene *c)
{
    struct shape p = {.cores = (int)random_between(&c->r, 1, 4)};
    p.gpus = scene_chance(c, 6);
    p.members = scene_chance(c, 5) ? (int)random_between(&c->r, 2, MEMBERS) : 1;
    p.queue = (int)random_between(&c->r, 0, QUEUES - 1);
    p.requeue = scene_chance(c, 4);
    p.hold = scene_chance(c, 10);
    p.limited = !scene_chance(c, 4);
    p.duration = random_between(&c->r, 1, 90) * 60;
    if (p.members > 2 && scene_chance(c, 3))
        p.gap = p.members == 5 ? 2 : 1;
    if (p.members > 1 && scene_chance(c, 4))
        p.most = (int)random_between(&c->r, 1, 3);
    if (scene_chance(c, 8) && c->n > 1)
        p.depends = random_between(&c->r, 1, c->n - 1);
    if (scene_chance(c, 8))
        p.begin = random_between(&c->r, 1, 90) * 60;
    if (scene_chance(c, 6))
        p.priority = random_between(&c->r, -3, 3);
    return p;
}

static void put_job(char *text, size_t size, const struct shape *p)
{
    static const char *const indices[] = {"0-%d", "0,2-%d", "0-%d:2"};
    char more[200] = "", array[40];
    size_t used = 0;
    if (p->depends)
        used += (size_t)snprintf(more, sizeof(more), ",\"dependency\":\"afterany:%lld\"",
                                 (long long)p->depends);
    if (p->begin)
        used += (size_t)snprintf(more + used, sizeof(more) - used, ",\"begin\":\"+%lld\"",
                                 (long long)p->begin);
    if (p->priority)
        snprintf(more + used, sizeof(more) - used, ",\"priority\":%lld", (long long)p->priority);
    int used_array = snprintf(array, sizeof(array), indices[p->gap], p->members - 1);
    if (p->most > 0)
        snprintf(array + used_array, sizeof(array) - (size_t)used_array, "%%%d", p->most);
    snprintf(text, size,
             "{\"command\":[\"x\"],\"name\":\"%d.%d.%d.%d.%d\",\"cores\":%d,\"gpus\":%d,\"array\":"
             "\"%s\","
             "\"queue\":\"%s\",\"%s\":%lld,\"requeue\":%s,\"hold\":%s%s}",
             p->cores, p->gpus, p->requeue, p->queue == SPARE, p->gap, p->cores, p->gpus, array,
             scene_queues[p->queue], p->limited ? "limit" : "estimate", (long long)p->duration,
             p->requeue ? "true" : "false", p->hold ? "true" : "false", more);
}

static void note(struct scene *c, const json_t *id, const struct shape *p, int i, int64_t asked)
{
    int64_t number = json_integer_value(id);
    struct told *t = told_of(c, number);
    if (t->sure || number < 1)
        scene_fail(c, "a number is given twice", number, -1);
    bool starts = t->member[0].starts > 0; /* it did within that very turn */
    int64_t begin = p->begin ? asked + p->begin * SIM_SECOND : 0;
    t->sure = true;
    t->list = number - i;
    t->members = p->members;
    t->gap = p->gap;
    t->most = p->most;
    t->cores = p->cores;
    t->gpus = p->gpus;
    t->queue = p->queue;
    for (int m = 0; m < MEMBERS; m++) {
        t->member[m].priority = p->priority;
        t->member[m].duration = p->duration * SIM_SECOND;
        t->member[m].held = p->hold;
    }
    t->requeue = p->requeue;
    t->limited = p->limited ? LIMIT : NO_LIMIT;
    t->preemptible = p->queue == SPARE;
    t->begin = begin;
    t->depends = p->depends;
    t->free = !begin && !p->depends;
    if (starts && (p->hold || begin))
        scene_fail(c, "it starts and may not", number, -1);
    laws_arrived(c, t, number, -1);
    c->submissions++;
}

void told_submit(struct scene *c)
{
    struct shape p[5];
    char body[3000] = "", one[700];
    int n = scene_chance(c, 4) ? (int)random_between(&c->r, 2, 5) : 1, status;
    for (int i = 0; i < n; i++) {
        p[i] = choose(c);
        put_job(one, sizeof(one), &p[i]);
        strcat(body, i ? "," : n > 1 ? "[" : "");
        strcat(body, one);
    }
    strcat(body, n > 1 ? "]" : "");
    int64_t asked = scene_now(c); /* the answer may take its time */
    json_t *got = scene_ask(c, "POST", "/v1/jobs", NULL, body, &status);
    if (status != 201) /* taken back, but it was looked at before */
        c->disturbed = true;
    for (int i = 0; status == 201 && i < n; i++)
        note(c,
             n > 1 ? json_array_get(json_object_get(got, "ids"), (size_t)i)
                   : json_object_get(got, "id"),
             &p[i], i, asked);
    c->jumped = c->jumped && status != 201;
    if (status != 201 && status != 507 && status != 400 && status != 503)
        scene_fail(c, "a submission has a strange answer", status, -1);
    json_decref(got);
}

/* ---- Changes ---- */

static bool member_runs(const struct scene *c, const struct told_member *p)
{
    return p->starts > 0 && c->w->engine->runs[p->run].state != SIM_OVER;
}

/* A change of members that run is not one of those that wait. */
static bool runs(const struct scene *c, const struct told *t)
{
    for (int m = 0; m < t->members; m++)
        if (member_runs(c, &t->member[m]))
            return true;
    return false;
}

/* Ask for something as for many jobs, and tell the status as if it had been for this one. */
static int tell_many(struct scene *c, const char *what, const char *name, const char *body)
{
    char path[60], jobs[120];
    int status;
    snprintf(path, sizeof(path), "/v1/jobs/%s", what);
    snprintf(jobs, sizeof(jobs), "{\"jobs\":[\"%s\"]%s%s}", name, *body ? "," : "", body);
    json_t *got = scene_ask(c, "POST", path, NULL, jobs, &status);
    const json_t *refused = json_array_get(json_object_get(got, "refused"), 0);
    if (refused)
        status = (int)json_integer_value(json_object_get(refused, "status"));
    json_decref(got);
    return status;
}

static int tell_one(struct scene *c, const char *what, const char *name, const char *body)
{
    char path[60], change[80] = "";
    int status;
    bool cancels = strcmp(what, "cancel") == 0, requeues = strcmp(what, "requeue") == 0;
    snprintf(path, sizeof(path), "/v1/jobs/%s%s", name, requeues ? "/requeue" : "");
    if (strcmp(what, "update") == 0)
        snprintf(change, sizeof(change), "{%s}", body);
    else if (!cancels && !requeues)
        snprintf(change, sizeof(change), "{\"hold\":%s}",
                 strcmp(what, "hold") == 0 ? "true" : "false");
    json_decref(scene_ask(c,
                          cancels    ? "DELETE"
                          : requeues ? "POST"
                                     : "PATCH",
                          path, NULL, *change ? change : NULL, &status));
    return status;
}

/* Cancel, requeue, hold, release or update, also a member of an array (-1: all): every third job by the request
 * for many.
 */
static int tell(struct scene *c, const char *what, int64_t id, int member, const char *body)
{
    char name[40];
    snprintf(name, sizeof(name), member < 0 ? "%lld" : "%lld[%d]", (long long)id, member);
    int status = id % 3 == 0 ? tell_many(c, what, name, body) : tell_one(c, what, name, body);
    if (status != 200 && status != 409 && status != 507 && status != 400 && status != 503)
        scene_fail(c, "a change has a strange answer", id, status);
    c->jumped = c->jumped && status != 200;
    return status;
}

/* What takes many turns is come to by some when they have ended, one way or another: no more of them than
 * have when the answer comes.
 */
static void leave_ended(struct scene *c, int64_t id, bool *live)
{
    char query[60];
    size_t i;
    json_t *row;
    bool was = scene_scarce(c, false);
    snprintf(query, sizeof(query), "ids=%lld&history=1", (long long)id);
    json_t *got = scene_ask(c, "GET", "/v1/jobs", query, NULL, NULL);
    scene_scarce(c, was);
    json_array_foreach (json_object_get(got, "jobs"), i, row) {
        const char *state = json_string_value(json_object_get(row, "state"));
        const json_t *member = json_object_get(row, "member");
        if (laws_is_over(state) && strcmp(state, "cancelled") != 0)
            live[json_is_integer(member) ? json_integer_value(member) : 0] = false;
    }
    json_decref(got);
}

static void cancel(struct scene *c, int64_t id)
{
    bool live[MEMBERS];
    struct told *t = told_of(c, id);
    for (int m = 0; m < MEMBERS; m++)
        live[m] = t->member[m].pending || member_runs(c, &t->member[m]);
    int status = tell(c, "cancel", id, -1, "");
    if (status == 200 && c->w->options.slice > 0)
        leave_ended(c, id, live);
    t = told_of(c, id);
    for (int m = 0; status == 200 && m < t->members; m++)
        t->member[m].cancelled = t->member[m].cancelled || live[m];
    t->cancelled = t->cancelled || status == 200;
    t->maybe_cancelled = t->maybe_cancelled || status != 409;
}

static void requeue(struct scene *c, int64_t id)
{
    int starts[MEMBERS] = {0};
    struct told *t = told_of(c, id);
    for (int m = 0; m < t->members; m++)
        if (member_runs(c, &t->member[m]))
            starts[m] = t->member[m].starts;
    int allowed = t->allowed;
    t->allowed += t->members; /* it may have started again when the answer comes */
    int status = tell(c, "requeue", id, -1, "");
    t = told_of(c, id);
    if (status == 409)
        t->allowed = allowed;
    for (int m = 0; status == 200 && m < t->members; m++)
        if (starts[m] > 0)
            t->member[m].requeued_at = starts[m];
}

/* Whether a change of a member (-1: all) is one of this member. */
static bool concerns(int member, int m)
{
    return member < 0 || member == m;
}

/* Priority, duration or queue: 200 says it is so, 507 and 503 nothing. */
static void update(struct scene *c, int64_t id, int member, int what)
{
    char body[60];
    int64_t value =
        what == 0 ? random_between(&c->r, -3, 3) : random_between(&c->r, 0, 1) * 3600 + 1800;
    int queue = (int)random_between(&c->r, 0, QUEUES - 1);
    struct told *t = told_of(c, id);
    if (what < 2)
        snprintf(body, sizeof(body), "\"%s\":%lld", what == 0 ? "priority" : "duration",
                 (long long)value);
    else
        snprintf(body, sizeof(body), "\"queue\":\"%s\"", scene_queues[queue]);
    if (what == 1 && runs(c, t))
        c->disturbed = true;
    bool unsure = t->unsure;
    if (what == 1 && t->limited == NO_LIMIT)
        t->limited = MAYBE_LIMIT;
    t->preemptible = t->preemptible || (what == 2 && queue == SPARE);
    t->unsure = true; /* it may start before the answer comes */
    int status = tell(c, "update", id, member, body);
    t = told_of(c, id);
    if (member >= 0)
        t->member[member].alone = true;
    t->unsure = unsure || (status != 200 && status != 409 && status != 400);
    if (status == 200 && what == 2 && member >= 0)
        scene_fail(c, "a member of an array went to another queue", id, member);
    if (status == 409 || status == 400)
        return;
    for (int m = 0; status == 200 && m < MEMBERS; m++) {
        if (concerns(member, m) && what == 0)
            t->member[m].priority = value;
        if (concerns(member, m) && what == 1)
            t->member[m].duration = value * SIM_SECOND;
    }
    if (status == 200 && what == 2)
        t->queue = queue;
    if (status == 200 && what == 1 && member < 0)
        t->limited = LIMIT;
    if (what == 1)
        t->limited_at = scene_now(c);
    laws_arrived(c, t, id, member);
}

static void hold(struct scene *c, int64_t id, int member, bool hold)
{
    bool held[MEMBERS];
    struct told *t = told_of(c, id);
    for (int m = 0; m < MEMBERS; m++) {
        held[m] = t->member[m].held;
        if (concerns(member, m))
            t->member[m].held = held[m] && hold; /* it may start before the answer comes */
    }
    int status = tell(c, hold ? "hold" : "release", id, member, "");
    t = told_of(c, id);
    for (int m = 0; m < MEMBERS; m++) {
        if (!concerns(member, m))
            continue;
        t->member[m].held = hold ? held[m] || status == 200 : held[m] && status == 409;
        if (status == 200)
            t->member[m].maybe_held = hold;
        else if (status != 409)
            t->member[m].maybe_held = true;
    }
    if (!hold)
        laws_arrived(c, t, id, member);
}

void told_change(struct scene *c)
{
    if (c->n < 2)
        return;
    int64_t id = random_between(&c->r, c->n > 40 ? c->n - 40 : 1, c->n - 1);
    struct told *t = told_of(c, id);
    int what = (int)random_between(&c->r, 0, 6), member = -1;
    if (!t->sure)
        return;
    if (t->members > 1 && scene_chance(c, 2))
        member = (int)random_between(&c->r, 0, t->members - 1);
    if (member >= 0 && !told_has(t, member))
        member = -1;
    t->touched = true;
    for (int m = 0; m < MEMBERS; m++)
        t->member[m].ready = false;
    if (what == 0)
        cancel(c, id);
    else if (what == 1)
        requeue(c, id);
    else if (what <= 4)
        update(c, id, member, what - 2);
    else
        hold(c, id, member, what == 5);
}

/* ---- The listing ---- */

bool laws_is_over(const char *state)
{
    return strcmp(state, "pending") != 0 && strcmp(state, "held") != 0 &&
           strcmp(state, "running") != 0;
}

void told_adopt(struct scene *c, const json_t *row)
{
    int64_t id = json_integer_value(json_object_get(row, "id"));
    struct told *t = told_of(c, id);
    int requeue, preemptible, gap;
    const char *dependency = json_string_value(json_object_get(row, "dependency"));
    const char *name = json_string_value(json_object_get(row, "name"));
    long long depends = 0;
    if (!name ||
        sscanf(name, "%d.%d.%d.%d.%d", &t->cores, &t->gpus, &requeue, &preemptible, &gap) != 5)
        scene_fail(c, "nobody asked for it", id, -1);
    if (dependency)
        sscanf(dependency, "afterany:%lld", &depends);
    t->sure = true;
    int members = (int)json_integer_value(json_object_get(row, "members"));
    t->members = gap == 2 ? 2 * members - 1 : members + gap;
    t->gap = gap;
    t->requeue = requeue;
    t->limited = json_is_number(json_object_get(row, "limit")) ? LIMIT : NO_LIMIT;
    t->preemptible = preemptible;
    t->depends = depends;
    t->begin = scene_now(c);
    t->begin_lost = true; /* the listing doesn't show it */
    for (int m = 0; m < MEMBERS; m++)
        t->member[m].maybe_held = true;
    t->unsure = true;
    c->disturbed = true;
    c->submissions++;
}

/* What can be changed of it is as it was acknowledged. */
static void check_values(struct scene *c, const json_t *row, int64_t id, int member, bool over)
{
    struct told *t = told_of(c, id);
    struct told_member *p = &t->member[member];
    int queue = told_queue(json_string_value(json_object_get(row, "queue")));
    int64_t priority = json_integer_value(json_object_get(row, "priority"));
    int64_t duration = json_integer_value(json_object_get(row, "duration")) * SIM_SECOND;
    bool kept = over && p->alone; /* what it had of its own, whatever its job has become since */
    if (!t->unsure && !kept &&
        (queue != t->queue || priority != p->priority || duration != p->duration))
        scene_fail(c, "it was changed and isn't, or the other way round", id, -1);
    if (t->limited == NO_LIMIT && json_is_number(json_object_get(row, "limit")))
        scene_fail(c, "it has a limit that nobody gave it", id, -1);
    if (t->unsure && !c->failing) {
        t->taken = t->taken || !over;
        t->queue = queue;
        p->priority = priority;
        p->duration = duration;
        c->disturbed = true;
    }
}

static void check_state(struct scene *c, int64_t id, int member, const char *state)
{
    struct told *t = told_of(c, id);
    struct told_member *p = &t->member[member];
    bool over = laws_is_over(state);
    if (p->ended && strcmp(p->state, state) != 0)
        scene_fail(c, "it had ended otherwise", id, member);
    if (over && p->cancelled && strcmp(state, "cancelled") != 0)
        scene_fail(c, "it was cancelled and ended otherwise", id, member);
    if (over && !c->failing) {
        p->ended = true;
        snprintf(p->state, sizeof(p->state), "%s", state);
    }
    if (p->held && strcmp(state, "pending") == 0)
        scene_fail(c, "it was held and isn't", id, member);
    if (!p->held && !p->maybe_held && strcmp(state, "held") == 0)
        scene_fail(c, "it was released and isn't", id, member);
    if (p->maybe_held && !c->failing && (!t->unsure || t->taken) && !over &&
        strcmp(state, "running") != 0) {
        p->held = strcmp(state, "held") == 0;
        p->maybe_held = false;
        c->disturbed = true;
    }
    if (strcmp(state, "cancelled") == 0 && !t->maybe_cancelled && !t->preemptible)
        scene_fail(c, "nobody cancelled it", id, member);
    const struct sim_run *run = sim_engine_find(c->w->engine, id, t->members > 1 ? member : -1);
    if (over && run && run->state != SIM_OVER && strcmp(state, "cancelled") != 0)
        scene_fail(c, "it still runs", id, member);
}

/* A row of the listing against what was told of it. */
static void check_row(struct scene *c, const json_t *row, void *arg)
{
    int *seen = arg;
    int64_t id = json_integer_value(json_object_get(row, "id"));
    const json_t *which = json_object_get(row, "member");
    int member = json_is_integer(which) ? (int)json_integer_value(which) : 0;
    const char *state = json_string_value(json_object_get(row, "state"));
    if (member >= MEMBERS || seen[id * MEMBERS + member]++)
        scene_fail(c, "it is listed twice", id, member);
    if (!told_of(c, id)->sure) /* the answer was lost, or not: now it is there */
        told_adopt(c, row);
    if (!told_has(told_of(c, id), member))
        scene_fail(c, "there is no such member", id, member);
    check_values(c, row, id, member, laws_is_over(state));
    check_state(c, id, member, state);
    const char *reason = json_string_value(json_object_get(row, "reason"));
    if (laws_is_over(state) && reason && strncmp(reason, "lost", 4) == 0)
        told_of(c, id)->member[member].lost = true;
}

/* What was seen of the members of each job, and which jobs were seen as a whole. */
struct wholes {
    const int *seen;
    int *whole;
};

/* A row of an array as a whole has all its members, once. */
static void check_whole(struct scene *c, const json_t *row, void *arg)
{
    const struct wholes *w = arg;
    int64_t id = json_integer_value(json_object_get(row, "id"));
    json_t *summary = json_object_get(row, "summary"), *count;
    const char *state;
    int64_t n = 0, expected = 0;
    json_object_foreach (summary, state, count)
        n += json_integer_value(count);
    for (int m = 0; m < MEMBERS; m++)
        expected += w->seen[id * MEMBERS + m];
    if (w->whole[id]++)
        scene_fail(c, "it is listed twice as a whole", id, -1);
    if ((summary ? n : 1) != expected)
        scene_fail(c, "a whole has not all of its members", id, (int)n);
}

/* The same jobs, an array in one row, in both orders, page by page. */
static void check_wholes(struct scene *c, const int *seen, const char *order)
{
    char query[100], next[40] = "";
    struct wholes w = {seen, calloc((size_t)c->n + 4096, sizeof(*w.whole))};
    for (bool more = true; more;) {
        struct strbuf listing;
        snprintf(query, sizeof(query), "history=1&arrays=1&limit=31&order=%s%s%s", order,
                 *next ? "&after=" : "", next);
        int status = sim_server_ask_text(c->w, SIM_OWNER, "GET", "/v1/jobs", query, NULL, &listing);
        if (status != 200)
            scene_fail(c, "there is no listing of arrays", status, -1);
        more = rows_each(c, &listing, check_whole, &w, next, sizeof(next));
        strbuf_clear(&listing);
    }
    for (int64_t id = 1; id < c->n; id++)
        for (int m = 0; m < MEMBERS; m++)
            if (seen[id * MEMBERS + m] && !w.whole[id])
                scene_fail(c, "it is not listed as a whole", id, m);
    free(w.whole);
}

void told_check_list(struct scene *c)
{
    int64_t known = c->n;
    char query[100], next[40] = "";
    bool more = true;
    int *seen = calloc((size_t)(c->n + 4096) * MEMBERS, sizeof(*seen));
    bool before = scene_scarce(c, false);
    if (before) /* what could not be written for want of memory is not listed until it is */
        sim_server_turn(c->w, NULL);
    while (more) {
        struct strbuf listing;
        snprintf(query, sizeof(query), "history=1&limit=97%s%s", *next ? "&after=" : "", next);
        int status = sim_server_ask_text(c->w, SIM_OWNER, "GET", "/v1/jobs", query, NULL, &listing);
        if (status != 200)
            scene_fail(c, "there is no listing", status, -1);
        more = rows_each(c, &listing, check_row, seen, next, sizeof(next));
        strbuf_clear(&listing);
    }
    for (int64_t id = 1; id < c->n; id++) {
        c->told[id].unsure = c->told[id].unsure && !c->told[id].taken;
        c->told[id].taken = false;
    }
    for (int64_t id = 1; id < known; id++)
        for (int m = 0; c->told[id].sure && m < c->told[id].members; m++)
            if (told_has(&c->told[id], m) && !seen[id * MEMBERS + m])
                scene_fail(c, "it is lost", id, m);
    check_wholes(c, seen, "oldest");
    check_wholes(c, seen, "newest");
    scene_scarce(c, before);
    free(seen);
}
