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
};

static const char gangs[] = "about gangs";

static const struct kind kinds[] = {
    {"proportion_deserved", kube_proportion_deserved, NULL},
    {"capacity_queue_share", kube_queue_share, NULL},
    {"enqueueable", kube_enqueueable, NULL},
    {"session", kube_session, "what is named above"},
    {"multi_cycle", kube_multi_cycle, NULL},
    {"plugin_order_and_enqueue", kube_plugin_order, NULL},
    {"seed_scenario", kube_seed_scenario, "what is named above"},
    {"victim_count", kube_victim_count, NULL},
    {"victim_tiers", kube_victim_tiers, NULL},
    {"plugin_victims", NULL, "which jobs end for others"},
    {"victim_order", NULL, "which jobs end for others"},
    {"unified_evictable", NULL, "which jobs end for others"},
    {"job_readiness", kube_job_readiness, NULL},
    {"job_counts", NULL, gangs},
    {"job_accounting", NULL, gangs},
    {"job_elastic_resources", NULL, gangs},
    {"job_phase", NULL, gangs},
    {"job_bundles", NULL, gangs},
    {"bundles_sort", NULL, gangs},
    {"bundles_select", NULL, gangs},
    {"bundles_apply_allowed", NULL, gangs},
    {"inqueue_resource", NULL, gangs},
    {"min_member_update", NULL, gangs},
    {"gang_skip_unschedulable_when_releasing", NULL, gangs},
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

static void play(json_t *c, struct tally *t)
{
    size_t k = kind_of(c);
    enum outcome outcome = k < KINDS && kinds[k].play ? kinds[k].play(c) : LEFT_OUT;
    t->passed += outcome == PASSED || outcome == PASSED_EQUAL;
    t->equal += outcome == PASSED_EQUAL;
    t->left_out[k] += outcome == LEFT_OUT;
    t->failed += outcome == FAILED;
    if (outcome == FAILED)
        printf("failed: %s: %s\n", kube_text(c, "id"), kube_text(c, "name"));
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
        fprintf(stderr, "kube_batch_cases: %s: %s\n", argv[1], why.text);
        return 1;
    }
    json_t *cases = json_object_get(root, "cases");
    if (!json_is_array(cases)) {
        fprintf(stderr, "kube_batch_cases: %s: expected an object with a list `cases`\n", argv[1]);
        json_decref(root);
        return 1;
    }
    json_array_foreach(cases, i, c)
    {
        play(c, &tally);
    }
    print(&tally);
    json_decref(root);
    return tally.failed > 0;
}
