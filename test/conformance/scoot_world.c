/* Cases in which jobs run: what is running and waiting after some steps, and properties of random loads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property/random.h"
#include "berth/sched_admin.h"
#include "scoot_core.h"

/* ---- Jobs of requestors on so many workers; nothing ends ---- */

struct world {
    struct scoot_core core;
    size_t n;                 /* jobs */
    int64_t *running, *tasks; /* of each */
    int64_t workers;
};

/* What jobs run after so many passes. False, after saying why, if it can't be played. */
static bool make_steps(struct world *w, int64_t steps)
{
    for (int64_t now = 0; now < steps; now++) {
        const struct sched_decision *d;
        size_t n;
        if (sched_pass(w->core.s, now, false, &d, &n) < 0)
            return wrong("a pass fails") == PASSED;
        for (size_t i = 0; i < n; i++) {
            if (d[i].kind == SCHED_REJECT || d[i].kind == SCHED_PREEMPT)
                return wrong("job %" PRIu64 " is refused, or stopped", d[i].tag) == PASSED;
            if (d[i].kind == SCHED_START)
                w->running[d[i].tag]++;
        }
    }
    return true;
}

/* Each job is an array of its requestor's. A machine without nodes is one with a node that is down. */
static bool submit_jobs(struct world *w, json_t *list)
{
    berth_error_t err = {""};
    json_t *job;
    size_t i;
    if (w->workers == 0 && sched_set_status(w->core.s, 0, "node0", RESOURCE_DOWN, &err) < 0)
        return wrong("%s", err.text) == PASSED;
    json_array_foreach (list, i, job) {
        w->tasks[i] = number_of(job, "tasks", 0);
        struct scoot_tasks tasks = {
            .requestor = text_of(job, "requestor"), .tasks = (uint32_t)w->tasks[i], .tag = i};
        if (w->tasks[i] > 0 && scoot_core_submit(&w->core, 0, &tasks) < 0)
            return false;
    }
    return true;
}

static bool play_world(struct world *w, const struct cases *cases, json_t *c)
{
    json_t *config = json_object_get(c, "config"), *list = json_object_get(c, "jobs");
    *w = (struct world){.n = json_array_size(list), .workers = number_of(c, "nodes", 0)};
    w->running = calloc(w->n + 1, sizeof(*w->running));
    w->tasks = calloc(w->n + 1, sizeof(*w->tasks));
    classes_t *settings = all_settings(cases, json_object_get(config, "class_load_pcts"),
                                       json_object_get(config, "requestor_map"));
    if (!settings)
        return false;
    json_t *classes = scoot_core_classes(settings);
    bool is_played = scoot_core_open(&w->core, w->workers > 0 ? w->workers : 1, classes) &&
                     submit_jobs(w, list) && make_steps(w, number_of(c, "steps", 0));
    json_decref(classes);
    classes_destroy(settings);
    return is_played;
}

static void close_world(struct world *w)
{
    scoot_core_close(&w->core);
    free(w->running);
    free(w->tasks);
}

/* Numbers of all, and of each requestor: the tasks that run, or all. */
static enum outcome check_numbers(json_t *c, const char *what, const int64_t *numbers)
{
    json_t *number, *job;
    const char *name;
    json_object_foreach (json_object_get(json_object_get(c, "expect"), what), name, number) {
        int64_t found = 0;
        size_t i;
        json_array_foreach (json_object_get(c, "jobs"), i, job)
            if (strcmp(name, "total") == 0 || strcmp(name, text_of(job, "requestor")) == 0)
                found += numbers[i];
        if (found != json_integer_value(number))
            return wrong("%s of %s: found %" PRId64, what, name, found);
    }
    return PASSED;
}

enum outcome play_end_to_end(const struct cases *cases, json_t *c)
{
    struct world w;
    json_t *expect = json_object_get(c, "expect");
    enum outcome outcome = FAILED;
    if (play_world(&w, cases, c)) {
        int64_t jobs = (int64_t)w.n;
        outcome = check_numbers(c, "running", w.running);
        if (check_numbers(c, "in_progress", w.tasks) == FAILED)
            outcome = FAILED;
        if (number_of(expect, "accepted_jobs", jobs) != jobs ||
            number_of(expect, "in_progress_jobs", jobs) != jobs ||
            number_of(expect, "nodes", w.workers) != w.workers)
            outcome = wrong("%" PRId64 " jobs on %" PRId64 " nodes", jobs, w.workers);
    }
    close_world(&w);
    return outcome;
}

/* ---- Everything idle is used ---- */

/* Classes of 50, 25 and random percentages; NULL without memory. */
static classes_t *random_classes(struct random *r)
{
    struct classes_percent list[CLASSES_MAX] = {{"c0", 50}, {"c1", 25}};
    static char names[CLASSES_MAX][8];
    berth_error_t err = {""};
    size_t n = 2;
    for (int64_t rest = 25; rest > 0 && n < CLASSES_MAX; n++) {
        int64_t percent = n == CLASSES_MAX - 1 ? rest : random_between(r, 0, rest < 9 ? rest : 9);
        snprintf(names[n], sizeof(names[n]), "c%zu", n);
        list[n] = (struct classes_percent){names[n], percent};
        rest -= percent;
    }
    classes_t *settings = classes_create();
    if (settings && classes_set_percents(settings, list, n, &err) == 0)
        return settings;
    classes_destroy(settings);
    return NULL;
}

/* Random loads of classes, on at most as many workers as there are. */
static size_t random_loads(struct random *r, const classes_t *settings, struct class_load *loads,
                           int64_t workers, int64_t *busy)
{
    const struct classes_percent *percent;
    int64_t most = random_between(r, workers / 2, workers);
    size_t n = classes_get_percents(settings, &percent);
    share_class_loads(settings, loads);
    *busy = 0;
    for (size_t i = 0; i < n; i++) {
        loads[i].running = loads[i].percent > 0 ? random_between(r, 0, (most - *busy) / 2) : 0;
        loads[i].waiting = random_between(r, 0, 19999);
        *busy += loads[i].running;
    }
    return n;
}

static enum outcome use_idle(struct random *r, int64_t workers)
{
    struct class_load loads[CLASSES_MAX];
    int64_t busy, starts = 0, waiting = 0;
    classes_t *settings = random_classes(r);
    size_t n = settings ? random_loads(r, settings, loads, workers, &busy) : 0;
    bool is_played = n > 0 && scoot_play_loads(settings, loads, n, workers, workers - busy);
    classes_destroy(settings);
    if (!is_played)
        return wrong("a load can't be set up");
    for (size_t k = 0; k < n; k++) {
        starts += loads[k].start;
        waiting += loads[k].percent > 0 ? loads[k].waiting : 0;
    }
    int64_t idle = workers - busy;
    return starts == (idle < waiting ? idle : waiting)
               ? PASSED
               : wrong("%" PRId64 " idle, %" PRId64 " waiting, %" PRId64 " starts", idle, waiting,
                       starts);
}

static enum outcome everything_idle_is_used(json_t *c)
{
    enum { TIMES = 5 };
    struct random r = {1};
    enum outcome outcome = PASSED;
    int64_t workers = number_of(c, "totalWorkers", 10000);
    if (workers < 1)
        return wrong("totalWorkers: expected one at least");
    for (int i = 0; i < TIMES && outcome == PASSED; i++)
        outcome = use_idle(&r, workers);
    return outcome;
}

enum outcome play_property(const struct cases *cases, json_t *c)
{
    (void)cases;
    if (json_object_get(c, "totalWorkers"))
        return everything_idle_is_used(c);
    if (json_object_get(c, "nodes") && json_is_string(json_object_get(c, "expect")))
        return play_spread_evenly(c);
    return LEFT_OUT;
}
