/* Plays recorded and derived cases of Scoot's scheduler through the classes of the core: scoot_cases FILE.
 *
 * Where a case is flagged, what is expected is what is right, not what Scoot does. Where it has an
 * expectation in exact integers beside one in floating point, the former counts. Where it records one of
 * several equal choices, any of them passes, and is counted. Cases about Scoot's server, which Berth has in
 * another way, are left out, and named with their number and the reason.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scoot.h"

struct kind {
    const char *name;
    play_t play;          /* NULL: left out */
    const char *why;      /* it is left out */
    const char *needs[8]; /* members of a case that is played; ends with NULL */
};

static const struct kind kinds[] = {
    {"class_counts", play_class_counts, NULL, {"totalWorkers", "idle", "classes", "expect"}},
    {"property", play_property, NULL, {"expect"}},
    {"end_to_end_counts", play_end_to_end, NULL, {"nodes", "jobs", "steps", "expect"}},
    {"normalize", play_normalize, NULL, {"percents", "expect"}},
    {"targets", play_targets, NULL, {"totalWorkers", "percents", "expect"}},
    {"spread", play_spread, NULL, {"totalWorkers", "classes", "expect"}},
    {"rebalance_timer",
     play_rebalance_timer,
     NULL,
     {"config", "samples", "expect.rebalanced_at_t_s"}},
    {"requestor_map", play_requestor_map, NULL, {"map", "requestor", "expect"}},
    {"task_selection", play_task_selection, NULL, {"jobs", "start", "expect"}},
    {"stop_selection", play_stop_selection, NULL, {"running", "stop", "expect"}},
    {"task_order", play_task_order, NULL, {"known_durations_s", "jobs", "expect"}},
    {"avg_duration",
     NULL,
     "means that Scoot keeps of what tasks took; Berth goes by what jobs say that they take",
     {NULL}},
    {"lru", NULL, "which of these means Scoot forgets; Berth keeps none", {NULL}},
    {"assignment",
     NULL,
     "Scoot looks for a node that ran the same snapshot; Berth places by its match policies",
     {NULL}},
    {"kill",
     NULL,
     "messages of Scoot's server; Berth's are tested by test/unit/test_server.c",
     {NULL}},
    {"throttle", NULL, "a number that Scoot's server keeps and does not use", {NULL}},
    {"retries", NULL, "Scoot retries tasks; a job of Berth's that fails has failed", {NULL}},
    {"lifecycle",
     NULL,
     "states of Scoot's saga log; Berth's are in test/property/prop_server.c",
     {NULL}},
    {"recovery",
     NULL,
     "Scoot's saga log; Berth's store is tested by test/property/prop_store.c",
     {NULL}},
    {"backoff", NULL, "waiting times of Scoot's saga log", {NULL}},
    {"submit",
     NULL,
     "limits and tags of Scoot's requestors; Berth's limits are of users and queues",
     {NULL}},
    {"cluster_state",
     NULL,
     "Scoot's list of nodes; Berth's nodes are tested by prop_graph_place",
     {NULL}},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct tally {
    size_t passed, equal, failed;
    size_t left_out[KINDS + 1]; /* the last: kinds that are not known */
};

enum outcome wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("  ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return FAILED;
}

int64_t number_of(json_t *object, const char *key, int64_t otherwise)
{
    const double most = (double)(INT64_C(1) << 53);
    json_t *value = json_object_get(object, key);
    double number = json_number_value(value);
    if (!json_is_number(value))
        return otherwise;
    return (int64_t)(number > most ? most : number < -most ? -most : number);
}

int64_t to_ticks(json_t *seconds)
{
    const double most = (double)(INT64_C(1) << 52);
    double ticks = json_number_value(seconds) * TICKS;
    return ticks > -most && ticks < most ? llround(ticks) : (int64_t)(ticks < 0 ? -most : most);
}

int64_t ticks_of(json_t *object, const char *key, int64_t otherwise)
{
    json_t *seconds = json_object_get(object, key);
    return json_is_number(seconds) ? to_ticks(seconds) : otherwise;
}

const char *text_of(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool has_text(json_t *list, const char *text)
{
    size_t i;
    json_t *value;
    json_array_foreach (list, i, value)
        if (text && json_is_string(value) && strcmp(json_string_value(value), text) == 0)
            return true;
    return false;
}

classes_t *settings_of(json_t *percents, json_t *order, berth_error_t *err)
{
    struct classes_percent list[CLASSES_MAX];
    size_t n = 0, i;
    const char *name;
    json_t *value;
    if (json_object_size(percents) > CLASSES_MAX)
        return NULL;
    json_array_foreach (order, i, value)
        if (json_object_get(percents, json_string_value(value)) && n < CLASSES_MAX)
            list[n++] = (struct classes_percent){json_string_value(value),
                                                 number_of(percents, json_string_value(value), 0)};
    json_object_foreach (percents, name, value)
        if (!has_text(order, name) && n < CLASSES_MAX)
            list[n++] = (struct classes_percent){name, number_of(percents, name, 0)};
    classes_t *c = classes_create();
    if (c && classes_set_percents(c, list, n, err) == 0)
        return c;
    classes_destroy(c);
    return NULL;
}

/* Add a pattern to those that are set. One that Berth refuses is left out, as Scoot does when it finds it. */
static void add_requestor(classes_t *c, const char *pattern, const char *name)
{
    struct classes_requestor list[CLASSES_REQUESTORS];
    const struct classes_requestor *set;
    berth_error_t err = {""};
    size_t n = classes_get_requestors(c, &set, NULL);
    if (n == CLASSES_REQUESTORS)
        return;
    for (size_t i = 0; i < n; i++)
        list[i] = set[i];
    list[n] = (struct classes_requestor){pattern, name};
    if (classes_set_requestors(c, list, n + 1, NULL, &err) < 0)
        printf("note: a pattern is refused: %s\n", err.text);
}

classes_t *all_settings(const struct cases *cases, json_t *percents, json_t *requestors)
{
    berth_error_t err = {""};
    const char *pattern;
    json_t *name;
    classes_t *c = settings_of(json_is_object(percents) ? percents : cases->percents, NULL, &err);
    if (!c) {
        wrong("settings are refused: %s", err.text);
        return NULL;
    }
    json_object_foreach (json_is_object(requestors) ? requestors : cases->requestors, pattern,
                         name) {
        add_requestor(c, pattern, json_string_value(name));
    }
    return c;
}

static size_t kind_of(const char *name)
{
    size_t k = 0;
    while (k < KINDS && strcmp(kinds[k].name, name) != 0)
        k++;
    return k;
}

/* Say which case failed: by its id or, if it has none, its number. */
static void print_failed(json_t *c, size_t number)
{
    if (*text_of(c, "id"))
        printf("failed: %s: %s\n", text_of(c, "id"), text_of(c, "name"));
    else
        printf("failed: case %zu, which has no id\n", number);
}

static void play(const struct cases *cases, json_t *c, size_t number, struct tally *t)
{
    size_t k = kind_of(text_of(c, "kind"));
    char why[300];
    enum outcome outcome = LEFT_OUT;
    if (k < KINDS && kinds[k].play)
        outcome = check_shape(c, kinds[k].needs, why, sizeof(why)) ? kinds[k].play(cases, c)
                                                                   : wrong("%s", why);
    t->passed += outcome == PASSED || outcome == PASSED_EQUAL;
    t->equal += outcome == PASSED_EQUAL;
    t->left_out[k] += outcome == LEFT_OUT;
    t->failed += outcome == FAILED;
    if (outcome == FAILED)
        print_failed(c, number);
}

static void print(const struct tally *t)
{
    for (size_t k = 0; k <= KINDS; k++) {
        if (t->left_out[k] == 0)
            continue;
        const char *why = k < KINDS ? kinds[k].why : "not known";
        printf("left out: %zu of %s: %s\n", t->left_out[k],
               k < KINDS ? kinds[k].name : "other kinds",
               why ? why : "the case is about something that this runner does not know");
    }
    if (t->equal > 0)
        printf("equal choices: %zu of those that passed\n", t->equal);
    printf("%zu passed, %zu failed\n", t->passed, t->failed);
}

int main(int argc, char **argv)
{
    json_error_t why;
    json_t *c;
    size_t i;
    struct tally tally = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: scoot_cases FILE\n");
        return 2;
    }
    json_t *root = json_load_file(argv[1], 0, &why);
    if (!root) {
        if (why.line > 0)
            fprintf(stderr, "scoot_cases: %s:%d:%d: %s\n", argv[1], why.line, why.column, why.text);
        else
            fprintf(stderr, "scoot_cases: %s\n", why.text);
        return 1;
    }
    struct cases cases = {json_object_get(root, "default_class_load_pcts"),
                          json_object_get(root, "default_requestor_map")};
    json_t *list = json_object_get(root, "cases");
    if (!json_is_array(list)) {
        fprintf(stderr, "scoot_cases: %s: expected an object with a list `cases`\n", argv[1]);
        json_decref(root);
        return 1;
    }
    json_array_foreach (list, i, c)
        play(&cases, c, i + 1, &tally);
    print(&tally);
    json_decref(root);
    return tally.failed > 0;
}
