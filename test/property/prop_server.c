/* Days of a server's operation, from a seed: users who submit, cancel, hold and change jobs; runs that end, fail to start,
 * get lost; disks that get full and machines that lose power, in the middle of anything. What was acknowledged is held
 * against a naive list of all that users were told. With every third seed memory runs out now and then as well.
 *
 *     prop_server [SEED...]    other seeds than the suite's
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "random.h"
#include "sim_server.h"

enum { MEMBERS = 6, STEPS = 1500, CORES = 8 };

static const char config[] = "resources: {nodes: 2, cores: 4, gpus: 1}\n"
                             "match: {policy: low}\n"
                             "default-queue: easy\n"
                             "queues:\n"
                             "  easy: {policy: easy}\n"
                             "  fcfs: {policy: fcfs, priority: 5}\n"
                             "  all: {policy: conservative, priority: 2}\n"
                             "  spare: {policy: easy, preemptible: requeue}\n"
                             "server: {grace: 10, requests-per-second: unlimited, retention: "
                             "unlimited}\n";
static const char *const queues[] = {"easy", "fcfs", "all", "spare"};

/* What users know of a job. */
struct told {
    bool sure;  /* they were given the number */
    bool maybe; /* asked for in vain: it may come up after a loss of power */
    int members, cores;
    bool requeue, preemptible;
    int allowed;    /* more runs than one, asked for by users */
    bool cancelled; /* acknowledged */
    bool maybe_cancelled;
    bool held; /* acknowledged, and not released since */
    bool ended[MEMBERS];
    char state[MEMBERS][12]; /* of those that have ended, as it was shown after that was durable */
};

struct scene {
    struct random r;
    uint64_t seed;
    struct sim_server *w;
    struct told *told; /* by number */
    int64_t n, cap;
    bool failing; /* the disk is full */
    int crashes, submissions, lost, full;
};

static void fail(struct scene *c, const char *what, int64_t job, int64_t member)
{
    fprintf(stderr, "seed %llu: job %lld, member %lld: %s\n", (unsigned long long)c->seed,
            (long long)job, (long long)member, what);
    abort();
}

static bool chance(struct scene *c, int one_of)
{
    return random_between(&c->r, 1, one_of) == 1;
}

static struct told *told_of(struct scene *c, int64_t id)
{
    if (id >= c->cap) {
        int64_t cap = id * 2 + 64;
        c->told = realloc(c->told, (size_t)cap * sizeof(*c->told));
        if (!c->told)
            abort();
        memset(c->told + c->cap, 0, (size_t)(cap - c->cap) * sizeof(*c->told));
        c->cap = cap;
    }
    if (id >= c->n)
        c->n = id + 1;
    return &c->told[id];
}

static json_t *ask(struct scene *c, const char *method, const char *path, const char *query,
                   const char *body, int *status)
{
    return sim_server_ask(c->w, SIM_OWNER, method, path, query, body, status);
}

/* ---- Memory that runs out ---- */

static struct random failures;
static bool scarce; /* not while the test looks */

static void arm(void)
{
    failures_last = random_next(&failures) % 2;
    until_failure = !scarce || random_next(&failures) % 8 ? -1 : random_between(&failures, 0, 200);
}

static void disarm(void)
{
    until_failure = -1;
}

/* ---- What users do ---- */

struct shape {
    int cores, members, queue;
    bool requeue, hold;
};

static void put_job(struct scene *c, char *text, size_t size, const struct shape *p)
{
    char more[200] = "";
    size_t used = 0;
    if (chance(c, 8) && c->n > 1)
        used += (size_t)snprintf(more, sizeof(more), ",\"dependency\":\"afterany:%lld\"",
                                 (long long)random_between(&c->r, 1, c->n - 1));
    if (chance(c, 8))
        used += (size_t)snprintf(more + used, sizeof(more) - used, ",\"begin\":\"+%lldm\"",
                                 (long long)random_between(&c->r, 1, 90));
    if (chance(c, 6))
        snprintf(more + used, sizeof(more) - used, ",\"priority\":%lld",
                 (long long)random_between(&c->r, -3, 3));
    snprintf(
        text, size,
        "{\"command\":[\"x\"],\"name\":\"%d.%d.%d\",\"cores\":%d,\"array\":%d,\"queue\":\"%s\","
        "\"duration\":%lld,\"requeue\":%s,\"hold\":%s%s}",
        p->cores, p->requeue, p->queue == 3, p->cores, p->members, queues[p->queue],
        (long long)random_between(&c->r, 1, 90) * 60, p->requeue ? "true" : "false",
        p->hold ? "true" : "false", more);
}

static void submit(struct scene *c)
{
    struct shape p[5];
    char body[3000] = "", one[700];
    int n = chance(c, 4) ? (int)random_between(&c->r, 2, 5) : 1, status;
    for (int i = 0; i < n; i++) {
        p[i] = (struct shape){.cores = (int)random_between(&c->r, 1, 4),
                              .members = chance(c, 5) ? (int)random_between(&c->r, 2, MEMBERS) : 1,
                              .queue = (int)random_between(&c->r, 0, 3),
                              .requeue = chance(c, 4),
                              .hold = chance(c, 10)};
        put_job(c, one, sizeof(one), &p[i]);
        strcat(body, i ? "," : n > 1 ? "[" : "");
        strcat(body, one);
    }
    strcat(body, n > 1 ? "]" : "");
    json_t *got = ask(c, "POST", "/v1/jobs", NULL, body, &status);
    for (int i = 0; status == 201 && i < n; i++) {
        const json_t *id = n > 1 ? json_array_get(json_object_get(got, "ids"), (size_t)i)
                                 : json_object_get(got, "id");
        struct told *t = told_of(c, json_integer_value(id));
        if (t->sure || json_integer_value(id) < 1)
            fail(c, "a number is given twice", json_integer_value(id), -1);
        *t = (struct told){.sure = true,
                           .members = p[i].members,
                           .cores = p[i].cores,
                           .requeue = p[i].requeue,
                           .preemptible = p[i].queue == 3,
                           .held = p[i].hold};
        c->submissions++;
    }
    if (status != 201 && status != 507 && status != 400 && status != 503)
        fail(c, "a submission has a strange answer", status, -1);
    json_decref(got);
}

/* Ask for something as for many jobs, and tell the status as if it had been for this one. */
static void change_many(struct scene *c, const char *what, int64_t id, int *status)
{
    char path[60], body[60];
    snprintf(path, sizeof(path), "/v1/jobs/%s", what);
    snprintf(body, sizeof(body), "{\"jobs\":[%lld]}", (long long)id);
    json_t *got = ask(c, "POST", path, NULL, body, status);
    const json_t *refused = json_array_get(json_object_get(got, "refused"), 0);
    if (refused)
        *status = (int)json_integer_value(json_object_get(refused, "status"));
    json_decref(got);
}

static void change_one(struct scene *c, const char *what, const char *method, int64_t id,
                       const char *body, int *status)
{
    char path[60];
    bool requeue = strcmp(what, "requeue") == 0;
    if (id % 3 == 0) {
        change_many(c, what, id, status);
        return;
    }
    snprintf(path, sizeof(path), "/v1/jobs/%lld%s", (long long)id, requeue ? "/requeue" : "");
    json_decref(ask(c, method, path, NULL, body, status));
}

static void change(struct scene *c)
{
    char path[60];
    int status;
    if (c->n < 2)
        return;
    int64_t id = random_between(&c->r, c->n > 40 ? c->n - 40 : 1, c->n - 1);
    struct told *t = told_of(c, id);
    int what = (int)random_between(&c->r, 0, 5);
    if (!t->sure)
        return;
    snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)id);
    if (what == 0) {
        change_one(c, "cancel", "DELETE", id, NULL, &status);
        t->cancelled = t->cancelled || status == 200;
        t->maybe_cancelled = t->maybe_cancelled || status != 409;
    } else if (what == 1) {
        json_decref(ask(c, "PATCH", path, NULL, "{\"duration\":\"30m\"}", &status));
    } else if (what == 2) {
        change_one(c, "requeue", "POST", id, NULL, &status);
        t->allowed += t->members * (status != 409);
    } else if (what == 3) {
        json_decref(ask(c, "PATCH", path, NULL, "{\"priority\":1}", &status));
    } else {
        bool hold = what == 4;
        change_one(c, hold ? "hold" : "release", "PATCH", id,
                   hold ? "{\"hold\":true}" : "{\"hold\":false}", &status);
        t->held = hold ? t->held || status == 200 : t->held && status == 409;
    }
    if (status != 200 && status != 409 && status != 507 && status != 400 && status != 503)
        fail(c, "a change has a strange answer", id, status);
}

/* ---- What the engine does ---- */

static void end_run(struct scene *c, struct sim_run *r)
{
    if (chance(c, 5))
        sim_engine_ended(c->w->engine, r, (int)random_between(&c->r, 1, 255), 0);
    else
        sim_engine_ended(c->w->engine, r, 0, 0);
}

static void run_engine(struct scene *c)
{
    struct sim_engine *e = c->w->engine;
    e->wall = c->w->wall;
    for (size_t i = 0; i < e->n; i++) {
        struct sim_run *r = &e->runs[i];
        if (r->state == SIM_ASKED && !chance(c, 3)) {
            r->stubborn = chance(c, 4);
            if (chance(c, 15))
                sim_engine_failed(e, r);
            else
                sim_engine_started(e, r);
        } else if (r->state == SIM_RUNS && chance(c, 8)) {
            end_run(c, r);
        }
    }
}

static void lose_runs(struct scene *c)
{
    struct sim_engine *e = c->w->engine;
    for (size_t i = 0; i < e->n; i++)
        if (e->runs[i].state != SIM_OVER)
            sim_engine_lost(e, &e->runs[i]);
    c->lost++;
}

/* ---- What must be so ---- */

static void check_runs(struct scene *c)
{
    struct sim_engine *e = c->w->engine;
    int cores = 0;
    if (e->twice > 0)
        fail(c, "a key was used twice", -1, -1);
    for (size_t i = 0; i < e->n; i++) {
        const struct sim_run *r = &e->runs[i];
        struct told *t = told_of(c, r->job);
        int before = 0;
        if (r->state == SIM_OVER)
            continue;
        cores += t->sure ? t->cores : 0;
        for (size_t k = 0; k < e->n; k++) {
            if (e->runs[k].job != r->job || e->runs[k].member != r->member)
                continue;
            before += k != i;
            if (k != i && e->runs[k].state != SIM_OVER)
                fail(c, "it runs twice at once", r->job, r->member);
        }
        if (t->sure && !t->requeue && !t->preemptible && before > t->allowed)
            fail(c, "it ran again and nobody had asked for that", r->job, r->member);
    }
    if (cores > CORES)
        fail(c, "more cores are in use than there are", cores, -1);
}

static bool is_over(const char *state)
{
    return strcmp(state, "pending") != 0 && strcmp(state, "held") != 0 &&
           strcmp(state, "running") != 0;
}

/* A row of the listing against what was told of it. */
static void check_row(struct scene *c, const json_t *row, int *seen)
{
    int64_t id = json_integer_value(json_object_get(row, "id"));
    const json_t *which = json_object_get(row, "member");
    int member = json_is_integer(which) ? (int)json_integer_value(which) : 0;
    const char *state = json_string_value(json_object_get(row, "state"));
    struct told *t = told_of(c, id);
    if (member >= MEMBERS || seen[id * MEMBERS + member]++)
        fail(c, "it is listed twice", id, member);
    if (!t->sure) { /* the answer was lost, or not: now it is there */
        int cores, requeue, preemptible;
        if (sscanf(json_string_value(json_object_get(row, "name")), "%d.%d.%d", &cores, &requeue,
                   &preemptible) != 3)
            fail(c, "nobody asked for it", id, member);
        *t = (struct told){.sure = true,
                           .members = (int)json_integer_value(json_object_get(row, "members")),
                           .cores = cores,
                           .requeue = requeue,
                           .preemptible = preemptible};
    }
    if (t->ended[member] && strcmp(t->state[member], state) != 0)
        fail(c, "it had ended otherwise", id, member);
    if (is_over(state) && !c->failing) {
        t->ended[member] = true;
        snprintf(t->state[member], sizeof(t->state[member]), "%s", state);
    }
    if (t->held && strcmp(state, "pending") == 0)
        fail(c, "it was held and isn't", id, member);
    if (strcmp(state, "cancelled") == 0 && !t->maybe_cancelled && !t->preemptible)
        fail(c, "nobody cancelled it", id, member);
    struct sim_run *run = sim_engine_find(c->w->engine, id, t->members > 1 ? member : -1);
    if (is_over(state) && run && run->state != SIM_OVER && strcmp(state, "cancelled") != 0)
        fail(c, "it still runs", id, member);
}

/* All that was acknowledged is there, once. */
static void check_list(struct scene *c)
{
    int status;
    int64_t known = c->n;
    char query[40];
    const char *history = "history=1";
    int *seen = calloc((size_t)(c->n + 4096) * MEMBERS, sizeof(*seen));
    int64_t rows = 0;
    json_t *next = NULL;
    bool before = scarce;
    scarce = false;
    if (before) /* what could not be written for want of memory is not listed until it is */
        sim_server_turn(c->w, NULL);
    do {
        snprintf(query, sizeof(query), "%s&limit=97%s%s", history, next ? "&after=" : "",
                 next ? json_string_value(next) : "");
        json_decref(next);
        json_t *got = ask(c, "GET", "/v1/jobs", query, NULL, &status);
        if (status != 200 || !json_is_object(got))
            fail(c, "there is no listing", status, -1);
        size_t i;
        json_t *row;
        json_array_foreach(json_object_get(got, "jobs"), i, row)
        {
            check_row(c, row, seen);
            rows++;
        }
        next = json_incref(json_object_get(got, "next"));
        json_decref(got);
    } while (json_is_string(next));
    json_decref(next);
    for (int64_t id = 1; id < known; id++)
        for (int m = 0; c->told[id].sure && m < c->told[id].members; m++)
            if (!seen[id * MEMBERS + m])
                fail(c, "it is lost", id, m);
    scarce = before;
    free(seen);
}

/* ---- Time and bad luck ---- */

/* What jobs were promised, as a text; of those that are in the store, if the disk is well. */
static char *promises(struct scene *c)
{
    int status;
    bool scarcely = scarce;
    scarce = false;
    json_t *got = ask(c, "GET", "/v1/jobs", "state=pending", NULL, &status);
    scarce = scarcely;
    json_t *found = json_array();
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(got, "jobs"), i, row)
    {
        const char *reason = json_string_value(json_object_get(row, "reason"));
        if (reason && strcmp(reason, "reserved") == 0)
            json_array_append_new(found, json_pack("[O, O, O]", json_object_get(row, "id"),
                                                   json_object_get(row, "member"),
                                                   json_object_get(row, "estimate")));
    }
    char *text = json_dumps(found, JSON_COMPACT);
    json_decref(found);
    json_decref(got);
    return text;
}

static void open_again(struct scene *c)
{
    berth_error_t err = {""};
    for (int tries = 0; sim_server_open(c->w, &err) < 0; tries++) {
        if (tries > 3) {
            fprintf(stderr, "%s\n", err.text);
            fail(c, "the server doesn't start any more", -1, -1);
        }
        sim_disk_limit(c->w->disk, -1);
        sim_disk_crash(c->w->disk);
    }
}

static void restart(struct scene *c)
{
    bool power = sim_disk_has_stopped(c->w->disk) || chance(c, 2);
    char *before = NULL;
    if (!sim_disk_has_stopped(c->w->disk) && sim_server_turn(c->w, NULL) == 0)
        before = promises(c);
    if (power)
        sim_server_crash(c->w);
    else
        sim_server_close(c->w);
    c->crashes++;
    sim_disk_stop_after(c->w->disk, -1);
    if (power && chance(c, 3)) { /* the whole machine */
        if (chance(c, 2))
            lose_runs(c);
        else
            sim_engine_forget(c->w->engine);
        c->w->boot++;
        c->w->steady = SIM_SECOND * random_between(&c->r, 1, 100);
        c->w->wall += SIM_SECOND * random_between(&c->r, -1000, 3000);
        free(before);
        before = NULL;
    }
    sim_disk_limit(c->w->disk, -1);
    c->failing = false;
    open_again(c);
    if (before) {
        char *after = promises(c);
        if (strcmp(before, after) != 0) {
            fprintf(stderr, "before: %s\nafter:  %s\n", before, after);
            fail(c, "promises are not kept", -1, -1);
        }
        free(after);
    }
    free(before);
    sim_server_turn(c->w, NULL);
    check_list(c);
}

static void step(struct scene *c)
{
    if (chance(c, 3))
        submit(c);
    if (chance(c, 3))
        change(c);
    run_engine(c);
    sim_server_turn(c->w, NULL);
    check_runs(c);
    if (!server_check(c->w->server))
        fail(c, "the server disagrees with itself", -1, -1);
    if (chance(c, 200))
        lose_runs(c);
    if (chance(c, 60)) {
        if (c->failing)
            sim_disk_limit(c->w->disk, -1);
        else
            sim_disk_limit(c->w->disk, sim_disk_size(c->w->disk) + random_between(&c->r, 0, 20000));
        c->failing = !c->failing;
        c->full++;
    }
    sim_server_wait(c->w, random_between(&c->r, 1, 600) * SIM_SECOND);
    if (chance(c, 40) && !c->failing && !sim_disk_has_stopped(c->w->disk))
        check_list(c);
    if (chance(c, 30))
        sim_disk_stop_after(c->w->disk, random_between(&c->r, 0, 300));
    if (sim_disk_has_stopped(c->w->disk) || chance(c, 80))
        restart(c);
}

/* In the end all that can run has run. */
static void finish(struct scene *c)
{
    char path[60];
    sim_disk_stop_after(c->w->disk, -1);
    restart(c);
    for (int64_t id = 1; id < c->n; id++) {
        snprintf(path, sizeof(path), "/v1/jobs/%lld", (long long)id);
        if (c->told[id].sure)
            json_decref(ask(c, "PATCH", path, NULL, "{\"hold\":false}", NULL));
        c->told[id].held = false;
    }
    for (int i = 0; i < 4000; i++) {
        run_engine(c);
        sim_server_turn(c->w, NULL);
        check_runs(c);
        sim_server_wait(c->w, 300 * SIM_SECOND);
    }
    check_list(c);
    for (int64_t id = 1; id < c->n; id++)
        for (int m = 0; c->told[id].sure && m < c->told[id].members; m++)
            if (!c->told[id].ended[m])
                fail(c, "it never ended", id, m);
}

static void play(uint64_t seed, struct scene *sum)
{
    struct scene c = {.r = {seed}, .seed = seed};
    c.w = sim_server_create(config, seed);
    open_again(&c);
    failures = (struct random){seed};
    sim_server_begins = arm;
    sim_server_ends = sim_engine_begins = disarm;
    scarce = seed % 3 == 0;
    for (int i = 0; i < STEPS; i++)
        step(&c);
    scarce = false;
    finish(&c);
    sum->crashes += c.crashes;
    sum->submissions += c.submissions;
    sum->lost += c.lost;
    sum->full += c.full;
    sim_server_destroy(c.w);
    free(c.told);
}

int main(int argc, char **argv)
{
    struct scene sum = {0};
    const char *rounds = getenv("BERTH_PROP_ROUNDS"); /* for a longer search */
    uint64_t last = rounds ? strtoull(rounds, NULL, 10) : 6;
    for (int i = 1; i < argc; i++)
        play(strtoull(argv[i], NULL, 10), &sum);
    for (uint64_t seed = 1; argc == 1 && seed <= last; seed++)
        play(seed, &sum);
    /* Those that once found something: a key's place was taken twice; an end without a time. */
    static const uint64_t kept[] = {12, 15};
    for (size_t i = 0; argc == 1 && !rounds && i < sizeof(kept) / sizeof(*kept); i++)
        play(kept[i], &sum);
    printf(
        "%d submissions, %d restarts, all runs lost %d times, disk full or well again %d times\n",
        sum.submissions, sum.crashes, sum.lost, sum.full);
    return 0;
}
