/* Plays cases of kube-batch and Volcano through the core: kube_batch_cases FILE.
 *
 * Where a case is flagged, what is expected is what is right, not what these do. Where it records one of
 * several equal choices, any of them passes, and is counted. What is left out is named with its number.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kube.h"
#include "kube_session.h"

struct kind {
    const char *name;
    enum outcome (*play)(json_t *c); /* NULL: left out */
    const char *why;                 /* it is left out */
    const char *needs[8];            /* members of a case that is played; ends with NULL */
};

static const char gangs[] = "about gangs";

static const struct kind kinds[] = {
    {"proportion_deserved",
     kube_proportion_deserved,
     NULL,
     {"queues", "nodes", "jobs", "tasks", "expect"}},
    {"capacity_queue_share", kube_queue_share, NULL, {"deserved", "allocated", "expect"}},
    {"enqueueable", kube_enqueueable, NULL, {"config.tiers", "jobs", "expect.enqueueable"}},
    {"session",
     kube_session,
     "what is named above",
     {"config.actions", "config.tiers", "queues", "nodes", "jobs", "tasks", "expect"}},
    {"multi_cycle", kube_multi_cycle, NULL, {"config.tiers", "queues", "nodes", "cycles"}},
    {"plugin_order_and_enqueue", kube_plugin_order, NULL, {"plugin", "jobs", "expect"}},
    {"seed_scenario",
     kube_seed_scenario,
     "what is named above",
     {"config.mode", "nodes", "jobs", "cycles"}},
    {"victim_count",
     kube_victim_count,
     NULL,
     {"config.tiers", "nodes", "jobs", "tasks", "expect.victims"}},
    {"victim_tiers", kube_victim_tiers, NULL, {"tiers", "candidates", "expect.victims"}},
    {"plugin_victims", NULL, "which jobs end for others", {NULL}},
    {"victim_order", NULL, "which jobs end for others", {NULL}},
    {"unified_evictable", NULL, "which jobs end for others", {NULL}},
    {"job_readiness", kube_job_readiness, NULL, {"min_available", "tasks", "expect"}},
    {"job_counts", NULL, gangs, {NULL}},
    {"job_accounting", NULL, gangs, {NULL}},
    {"job_elastic_resources", NULL, gangs, {NULL}},
    {"job_phase", NULL, gangs, {NULL}},
    {"job_bundles", NULL, gangs, {NULL}},
    {"bundles_sort", NULL, gangs, {NULL}},
    {"bundles_select", NULL, gangs, {NULL}},
    {"bundles_apply_allowed", NULL, gangs, {NULL}},
    {"inqueue_resource", NULL, gangs, {NULL}},
    {"min_member_update", NULL, gangs, {NULL}},
    {"gang_skip_unschedulable_when_releasing", NULL, gangs, {NULL}},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct tally {
    size_t passed, equal, failed;
    size_t left_out[KINDS + 1]; /* the last: kinds that are not known */
};

enum outcome kube_wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("  ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return FAILED;
}

static size_t kind_of(json_t *c)
{
    const char *name = kube_text(c, "kind");
    size_t k = 0;
    while (k < KINDS && strcmp(kinds[k].name, name) != 0)
        k++;
    return k;
}

/* Say which case failed: by its id or, if it has none, its number. */
static void print_failed(json_t *c, size_t number)
{
    if (*kube_text(c, "id"))
        printf("failed: %s: %s\n", kube_text(c, "id"), kube_text(c, "name"));
    else
        printf("failed: case %zu, which has no id\n", number);
}

static void play(json_t *c, size_t number, struct tally *t)
{
    char why[300];
    size_t k = kind_of(c);
    enum outcome outcome = LEFT_OUT;
    if (k < KINDS && kinds[k].play)
        outcome = kube_check_shape(c, kinds[k].needs, why, sizeof(why)) ? kinds[k].play(c)
                                                                        : kube_wrong("%s", why);
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
        printf("left out: %zu of %s: %s\n", t->left_out[k],
               k < KINDS ? kinds[k].name : "other kinds",
               k < KINDS ? kinds[k].why : "placement, or what Berth has in another way");
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
        fprintf(stderr, "usage: kube_batch_cases FILE\n");
        return 2;
    }
    json_t *root = json_load_file(argv[1], 0, &why);
    if (!root) {
        if (why.line > 0)
            fprintf(stderr, "kube_batch_cases: %s:%d:%d: %s\n", argv[1], why.line, why.column,
                    why.text);
        else
            fprintf(stderr, "kube_batch_cases: %s\n", why.text);
        return 1;
    }
    json_t *cases = json_object_get(root, "cases");
    if (!json_is_array(cases)) {
        fprintf(stderr, "kube_batch_cases: %s: expected an object with a list `cases`\n", argv[1]);
        json_decref(root);
        return 1;
    }
    json_array_foreach (cases, i, c) {
        play(c, i + 1, &tally);
    }
    print(&tally);
    json_decref(root);
    return tally.failed > 0;
}
