/* Cases in which jobs run: what is running and waiting after some steps, and properties of random loads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../property/random.h"
#include "scoot.h"
#include "share/class_select.h"

/* ---- Jobs of requestors on so many workers; nothing ends ---- */

struct world {
    classes_t *settings;
    size_t n; /* jobs */
    struct class_job *jobs;
    size_t *class; /* of each job */
    int64_t workers, running;
};

static int open_world(struct world *w, const struct cases *cases, json_t *c)
{
    json_t *config = json_object_get(c, "config"), *list = json_object_get(c, "jobs"), *job;
    size_t i;
    *w = (struct world){.n = json_array_size(list), .workers = number_of(c, "nodes", 0)};
    w->settings = all_settings(cases, json_object_get(config, "class_load_pcts"),
                               json_object_get(config, "requestor_map"));
    w->jobs = calloc(w->n + 1, sizeof(*w->jobs));
    w->class = calloc(w->n + 1, sizeof(*w->class));
    if (!w->settings)
        return -1;
    json_array_foreach(list, i, job)
    {
        struct classes_match match;
        const char *requestor = text_of(job, "requestor");
        if (classes_find(w->settings, requestor, strlen(requestor), &match) < 0)
            return -1;
        w->jobs[i].waiting = (size_t)number_of(job, "tasks", 0);
        w->class[i] = match.index;
    }
    return 0;
}

static void close_world(struct world *w)
{
    classes_destroy(w->settings);
    free(w->jobs);
    free(w->class);
}

/* Start tasks of one class. */
static void start_class(struct world *w, size_t class, int64_t units)
{
    struct class_job *jobs = calloc(w->n + 1, sizeof(*jobs));
    size_t *from = calloc(w->n + 1, sizeof(*from)), n = 0;
    uint32_t *order = calloc((size_t)units + 1, sizeof(*order));
    for (size_t i = 0; i < w->n; i++) {
        if (w->class[i] != class)
            continue;
        from[n] = i;
        jobs[n++] = w->jobs[i];
    }
    class_select_starts(jobs, n, units, order);
    for (size_t i = 0; i < n; i++) {
        w->jobs[from[i]].running += (int64_t)jobs[i].taken;
        w->jobs[from[i]].waiting -= jobs[i].taken;
        w->running += (int64_t)jobs[i].taken;
    }
    free(order);
    free(from);
    free(jobs);
}

static void step(struct world *w, int64_t now, struct class_timer *timer)
{
    struct class_load loads[CLASSES_MAX];
    const struct classes_percent *list;
    size_t n = classes_get_percents(w->settings, &list);
    share_class_loads(w->settings, loads);
    for (size_t i = 0; i < w->n; i++) {
        loads[w->class[i]].running += w->jobs[i].running;
        loads[w->class[i]].waiting += (int64_t)w->jobs[i].waiting;
    }
    class_decide(loads, n, w->workers, w->workers - w->running, now, &w->settings->rule, timer);
    for (size_t i = 0; i < n; i++)
        if (loads[i].start > 0)
            start_class(w, i, loads[i].start);
}

/* Numbers of all, and of each requestor. */
static enum outcome check_numbers(json_t *c, const struct world *w, const char *what, bool waiting)
{
    json_t *number, *job;
    const char *name;
    json_object_foreach(json_object_get(json_object_get(c, "expect"), what), name, number)
    {
        int64_t found = 0;
        size_t i;
        json_array_foreach(json_object_get(c, "jobs"), i,
                           job) if (strcmp(name, "total") == 0 ||
                                    strcmp(name, text_of(job, "requestor")) == 0) found +=
            w->jobs[i].running + (waiting ? (int64_t)w->jobs[i].waiting : 0);
        if (found != json_integer_value(number))
            return wrong("%s of %s: found %" PRId64, what, name, found);
    }
    return PASSED;
}

enum outcome play_end_to_end(const struct cases *cases, json_t *c)
{
    struct world w;
    struct class_timer timer = {0};
    json_t *expect = json_object_get(c, "expect");
    enum outcome outcome = FAILED;
    if (open_world(&w, cases, c) == 0) {
        for (int64_t i = 0; i < number_of(c, "steps", 0); i++)
            step(&w, i, &timer);
        outcome = check_numbers(c, &w, "running", false);
        if (check_numbers(c, &w, "in_progress", true) == FAILED)
            outcome = FAILED;
        int64_t jobs = (int64_t)w.n;
        if (number_of(expect, "accepted_jobs", jobs) != jobs ||
            number_of(expect, "in_progress_jobs", jobs) != jobs ||
            number_of(expect, "nodes", w.workers) != w.workers)
            outcome = wrong("%" PRId64 " jobs on %" PRId64 " nodes", jobs, w.workers);
    }
    close_world(&w);
    return outcome;
}

/* ---- Everything idle is used ---- */

/* Classes of 50, 25 and random percentages, with random loads. */
static size_t random_loads(struct random *r, struct class_load *loads, int64_t workers,
                           int64_t *busy)
{
    size_t n = 2;
    int64_t most = random_between(r, workers / 2, workers), rest = 25;
    loads[0] = (struct class_load){.percent = 50};
    loads[1] = (struct class_load){.percent = 25};
    for (; rest > 0; n++) {
        int64_t percent = random_between(r, 0, rest < 9 ? rest : 9);
        loads[n] = (struct class_load){.percent = percent};
        rest -= percent;
    }
    *busy = 0;
    for (size_t i = 0; i < n; i++) {
        loads[i].running = loads[i].percent > 0 ? random_between(r, 0, (most - *busy) / 2) : 0;
        loads[i].waiting = random_between(r, 0, 19999);
        *busy += loads[i].running;
    }
    return n;
}

static enum outcome everything_idle_is_used(json_t *c)
{
    enum { TIMES = 10000, ROOM = 200 };
    struct random r = {1};
    int64_t workers = number_of(c, "totalWorkers", 10000);
    for (int i = 0; i < TIMES; i++) {
        struct class_load loads[ROOM];
        struct class_timer timer = {0};
        int64_t busy, starts = 0, waiting = 0;
        size_t n = random_loads(&r, loads, workers, &busy);
        class_decide(loads, n, workers, workers - busy, 0, &(struct class_rule){0, 0}, &timer);
        for (size_t k = 0; k < n; k++) {
            starts += loads[k].start;
            waiting += loads[k].percent > 0 ? loads[k].waiting : 0;
            if (loads[k].stop != 0)
                return wrong("stops without rebalancing");
        }
        int64_t idle = workers - busy;
        if (starts != (idle < waiting ? idle : waiting))
            return wrong("%" PRId64 " idle, %" PRId64 " waiting, %" PRId64 " starts", idle, waiting,
                         starts);
    }
    return PASSED;
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
