/* Cases about choices: which class a requestor has, which tasks stop, and in which order tasks of a job go. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoot_core.h"

/* ---- Requestors ---- */

static enum outcome check_class(json_t *expect, const struct classes_match *m, bool by_default)
{
    json_t *one_of = json_object_get(expect, "class_one_of");
    const char *fallback = text_of(expect, "falls_back_to");
    const char *expected = text_of(expect, "class");
    if (*expected && *fallback && by_default) /* to a class that has no percentage */
        expected = "";
    if (one_of) {
        if (!has_text(one_of, by_default ? "" : m->name) && !has_text(one_of, m->name))
            return wrong("expected another class, found %s", m->name);
        return json_array_size(one_of) > 1 ? PASSED_EQUAL : PASSED;
    }
    if (*expected)
        return !by_default && strcmp(expected, m->name) == 0 ? PASSED
                                                             : wrong("found class %s", m->name);
    if (!by_default)
        return wrong("expected the default class, found %s", m->name);
    return strncmp(fallback, m->name, strlen(m->name)) == 0 || !*fallback
               ? PASSED
               : wrong("the default class is %s", m->name);
}

enum outcome play_requestor_map(const struct cases *cases, json_t *c)
{
    const struct classes_requestor *list;
    struct classes_match match;
    const char *requestor = text_of(c, "requestor");
    classes_t *settings =
        all_settings(cases, json_object_get(c, "percents"), json_object_get(c, "map"));
    if (!settings)
        return FAILED;
    size_t n = classes_get_requestors(settings, &list, NULL);
    enum outcome outcome = FAILED;
    if (classes_find(settings, requestor, strlen(requestor), &match) == 0)
        outcome = check_class(json_object_get(c, "expect"), &match, match.pattern == n);
    classes_destroy(settings);
    return outcome;
}

/* ---- Tasks that stop ---- */

/* True if two lists of texts have the same ones. */
static bool same_set(json_t *a, json_t *b)
{
    json_t *value;
    size_t i;
    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach (a, i, value)
        if (!has_text(b, json_string_value(value)))
            return false;
    return true;
}

/* Expected is a set, or one of several. */
static enum outcome check_choice(json_t *expect, json_t *found)
{
    json_t *one_of = json_object_get(expect, "one_of"), *choice;
    json_t *set = json_object_get(expect, "set");
    bool is_right = set && same_set(set, found);
    size_t i;
    json_array_foreach (one_of, i, choice)
        is_right = is_right || same_set(choice, found);
    if (is_right)
        return json_array_size(one_of) > 1 ? PASSED_EQUAL : PASSED;
    char *text = json_dumps(found, 0);
    wrong("found %s", text);
    free(text);
    return FAILED;
}

enum outcome play_stop_selection(const struct cases *cases, json_t *c)
{
    (void)cases;
    json_t *found = scoot_play_stops(c);
    enum outcome outcome = found ? check_choice(json_object_get(c, "expect"), found)
                                 : wrong("the case can't be set up");
    json_decref(found);
    return outcome;
}

/* ---- Durations ---- */

/* Known durations do not increase, and unknown tasks, of -1 seconds, come last; or the order is the one expected, but
 * for tasks that take equally long.
 */
static enum outcome check_order(json_t *durations, json_t *found, json_t *expected, bool *other)
{
    json_t *task;
    double last = INFINITY;
    size_t i;
    json_array_foreach (found, i, task) {
        json_t *known = json_object_get(durations, json_string_value(task));
        json_t *wanted = json_object_get(durations, json_string_value(json_array_get(expected, i)));
        double seconds = known ? json_number_value(known) : -1;
        double other_seconds = wanted ? json_number_value(wanted) : -1;
        if (seconds > last)
            return wrong("%s comes too late", json_string_value(task));
        if (expected && seconds != other_seconds)
            return wrong("expected another task than %s", json_string_value(task));
        *other = *other || (expected && !json_equal(task, json_array_get(expected, i)));
        last = seconds;
    }
    return PASSED;
}

enum outcome play_task_order(const struct cases *cases, json_t *c)
{
    json_t *known = json_object_get(c, "known_durations_s"), *job;
    json_t *expect = json_object_get(c, "expect");
    enum outcome outcome = PASSED;
    bool other = false;
    size_t i;
    (void)cases;
    json_array_foreach (json_object_get(c, "jobs"), i, job) {
        json_t *found = scoot_play_order(job, known);
        json_t *expected = json_array_get(expect, i);
        if (json_is_string(expected)) /* of one job, without a list around it */
            expected = expect;
        if (json_array_size(found) != json_array_size(job) ||
            check_order(known, found, expected, &other) == FAILED)
            outcome = FAILED;
        json_decref(found);
    }
    return outcome == PASSED && other ? PASSED_EQUAL : outcome;
}
