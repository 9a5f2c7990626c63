/* Cases about counts: percentages, targets, starts, rebalancing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scoot_core.h"

/* ---- Classes with loads ---- */

/* Percentages of classes that stand in a list, by name; the caller drops the reference. */
static json_t *percents_of(json_t *classes)
{
    json_t *percents = json_object(), *class;
    size_t i;
    json_array_foreach (classes, i, class)
        json_object_set(percents, text_of(class, "name"), json_object_get(class, "load_pct"));
    return percents;
}

static json_t *find_class(json_t *classes, const char *name)
{
    json_t *class;
    size_t i;
    json_array_foreach (classes, i, class)
        if (strcmp(text_of(class, "name"), name) == 0)
            return class;
    return NULL;
}

/* Settings of the classes of a case: its own, or those that its configuration names. */
static classes_t *case_settings(const struct cases *cases, json_t *c, berth_error_t *err)
{
    json_t *configured = json_object_get(json_object_get(c, "config"), "class_load_pcts");
    json_t *own = percents_of(json_object_get(c, "classes"));
    json_t *percents = json_is_object(configured)   ? configured
                       : json_is_string(configured) ? cases->percents
                                                    : own;
    classes_t *settings = settings_of(percents, NULL, err);
    json_decref(own);
    return settings;
}

static size_t fill_loads(const classes_t *settings, json_t *c, struct class_load *loads)
{
    const struct classes_percent *list;
    size_t n = classes_get_percents(settings, &list);
    share_class_loads(settings, loads);
    for (size_t i = 0; i < n; i++) {
        json_t *class = find_class(json_object_get(c, "classes"), list[i].name);
        loads[i].running = number_of(class, "running", 0);
        loads[i].waiting = number_of(class, "waiting", 0);
    }
    return n;
}

/* How many tasks of a class start when so many may: it may have jobs, and fewer that wait. */
static int64_t tasks_to_start(json_t *class, int64_t units)
{
    json_t *list = json_object_get(class, "jobs"), *job;
    int64_t waiting = 0;
    size_t i;
    json_array_foreach (list, i, job)
        waiting += number_of(job, "waiting", 0);
    return json_array_size(list) == 0 || units < waiting ? units : waiting;
}

/* ---- Starts and stops ---- */

static enum outcome compare(const char *what, const char *name, json_t *expected, int64_t found)
{
    if (!json_is_integer(expected) || json_integer_value(expected) == found)
        return PASSED;
    return wrong("%s of %s: expected %" JSON_INTEGER_FORMAT ", found %" PRId64, what, name,
                 json_integer_value(expected), found);
}

/* Expectations that only say how many start, and which classes are as good. */
static enum outcome check_total(json_t *c, json_t *expect, const classes_t *settings,
                                const struct class_load *loads)
{
    const struct classes_percent *list;
    size_t n = classes_get_percents(settings, &list);
    json_t *one_of = json_object_get(expect, "start_one_of");
    const char *preferred = text_of(expect, "start_preferred");
    int64_t total = 0;
    enum outcome outcome = PASSED;
    (void)c;
    for (size_t i = 0; i < n; i++) {
        total += loads[i].start;
        if (loads[i].start > 0 && one_of && !has_text(one_of, list[i].name))
            return wrong("starts of %s, which is not expected", list[i].name);
        if (loads[i].start > 0 && *preferred && strcmp(preferred, list[i].name) != 0)
            outcome = PASSED_EQUAL;
    }
    if (compare("starts", "all classes", json_object_get(expect, "start_total"), total) == FAILED)
        return FAILED;
    return outcome;
}

static enum outcome check_counts(json_t *c, json_t *expect, const classes_t *settings,
                                 const struct class_load *loads)
{
    const struct classes_percent *list;
    size_t n = classes_get_percents(settings, &list);
    json_t *starts = json_object_get(c, "expect_exact_integer_ceil");
    json_t *stops = json_object_get(expect, "stop");
    enum outcome outcome = check_total(c, expect, settings, loads);
    if (!starts)
        starts = json_object_get(expect, "start");
    for (size_t i = 0; i < n; i++) {
        json_t *class = find_class(json_object_get(c, "classes"), list[i].name);
        int64_t start = tasks_to_start(class, loads[i].start);
        if (compare("starts", list[i].name, json_object_get(starts, list[i].name), start) ==
                FAILED ||
            compare("stops", list[i].name, json_object_get(stops, list[i].name), loads[i].stop) ==
                FAILED)
            outcome = FAILED;
    }
    return outcome;
}

/* Whether classes have been apart for long enough by the time that a case is about. */
static bool is_rebalanced(json_t *config, const struct class_load *loads, size_t n, int64_t workers)
{
    int64_t threshold = number_of(config, "rebalance_threshold", 0);
    int64_t duration = ticks_of(config, "rebalance_min_duration_s", 0);
    return threshold > 0 && duration > 0 && class_spread(loads, n, workers) > threshold &&
           ticks_of(config, "threshold_exceeded_for_s", duration + 1) > duration;
}

/* Whether a machine can be as a case says. A queue's workers are those that are idle and those that its classes of more than 0
 * percent run on, so that there are no others.
 */
static bool is_playable(const struct class_load *loads, size_t n, int64_t workers, int64_t idle)
{
    int64_t rest = workers - idle;
    if (workers < 1 || workers > SCOOT_WORKERS_MAX || idle < 0 || idle > workers)
        return false;
    for (size_t i = 0; i < n; i++) {
        int64_t running = loads[i].percent > 0 ? loads[i].running : 0;
        if (running < 0 || running > rest || loads[i].waiting < 0)
            return false;
        rest -= running;
    }
    return rest == 0;
}

/* Set starts and stops. The scheduler has a rebalancing make room for one job after the other, on what is idle first; Scoot
 * counts once for all. So those cases are compared with the counts themselves, which say how far each class may be
 * brought down; and so are those that no machine can be set up for.
 */
static bool decide(const classes_t *settings, json_t *c, struct class_load *loads, size_t n,
                   bool *rebalanced)
{
    int64_t workers = number_of(c, "totalWorkers", 0), idle = number_of(c, "idle", 0);
    class_set_targets(loads, n, workers);
    *rebalanced = is_rebalanced(json_object_get(c, "config"), loads, n, workers);
    if (*rebalanced)
        class_count_rebalance(loads, n, idle);
    else if (is_playable(loads, n, workers, idle))
        return scoot_play_loads(settings, loads, n, workers, idle);
    else
        class_count_starts(loads, n, idle);
    return true;
}

enum outcome play_class_counts(const struct cases *cases, json_t *c)
{
    json_t *expect = json_object_get(c, "expect");
    struct class_load loads[CLASSES_MAX];
    bool rebalanced;
    berth_error_t err = {""};
    classes_t *settings = case_settings(cases, c, &err);
    if (!settings)
        return wrong("classes are refused: %s", err.text);
    size_t n = fill_loads(settings, c, loads);
    if (!decide(settings, c, loads, n, &rebalanced)) {
        classes_destroy(settings);
        return wrong("the case can't be set up");
    }
    enum outcome outcome = check_counts(c, expect, settings, loads);
    if (!class_check(loads, n, number_of(c, "idle", 0)))
        outcome = wrong("counts break their law");
    json_t *expected = json_object_get(expect, "rebalanced");
    if (expected && json_is_true(expected) != rebalanced)
        outcome = wrong("expected %s rebalancing", rebalanced ? "no" : "a");
    classes_destroy(settings);
    return outcome;
}

/* ---- Percentages, targets, spread ---- */

static bool expects_refusal(json_t *expect)
{
    const char *text = json_string_value(expect);
    return (text && (strstr(text, "error") || strstr(text, "refuse") || strstr(text, "reject"))) ||
           json_object_get(expect, "error") || json_object_get(expect, "refused");
}

enum outcome play_normalize(const struct cases *cases, json_t *c)
{
    berth_error_t err = {""};
    const struct classes_percent *list;
    json_t *expect = json_object_get(c, "expect");
    classes_t *settings =
        settings_of(json_object_get(c, "percents"), json_object_get(c, "order"), &err);
    enum outcome outcome = PASSED;
    (void)cases;
    if (!settings)
        return expects_refusal(expect) ? PASSED : wrong("classes are refused: %s", err.text);
    size_t n = classes_get_percents(settings, &list);
    for (size_t i = 0; i < n; i++)
        if (compare("percentage", list[i].name, json_object_get(expect, list[i].name),
                    list[i].percent) == FAILED)
            outcome = FAILED;
    classes_destroy(settings);
    return outcome;
}

enum outcome play_targets(const struct cases *cases, json_t *c)
{
    berth_error_t err = {""};
    const struct classes_percent *list;
    struct class_load loads[CLASSES_MAX];
    json_t *expect = json_object_get(c, "expect");
    classes_t *settings =
        settings_of(json_object_get(c, "percents"), json_object_get(c, "order"), &err);
    enum outcome outcome = PASSED;
    (void)cases;
    if (!settings)
        return wrong("classes are refused: %s", err.text);
    size_t n = classes_get_percents(settings, &list);
    share_class_loads(settings, loads);
    class_set_targets(loads, n, number_of(c, "totalWorkers", 0));
    for (size_t i = 0; i < n; i++)
        if (compare("target", list[i].name, json_object_get(expect, list[i].name),
                    loads[i].target) == FAILED)
            outcome = FAILED;
    classes_destroy(settings);
    return outcome;
}

enum outcome play_spread(const struct cases *cases, json_t *c)
{
    berth_error_t err = {""};
    struct class_load loads[CLASSES_MAX];
    classes_t *settings = case_settings(cases, c, &err);
    if (!settings)
        return wrong("classes are refused: %s", err.text);
    size_t n = fill_loads(settings, c, loads);
    int64_t spread = class_spread(loads, n, number_of(c, "totalWorkers", 0));
    classes_destroy(settings);
    return compare("spread", "all classes", json_object_get(c, "expect"), spread);
}
