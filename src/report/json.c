/* The report as JSON. */
#include "report/json.h"

#include <errno.h>
#include <jansson.h>

#include "base/errtext.h"
#include "report/sharing.h"

/* Digits that show 0.1 as 0.1: with all 17 a program gains nothing but noise behind every number.
 */
#define REAL_DIGITS 15

/* What one node of the tree of shares came to: seconds of the whole machine that it deserved, and had. */
static json_t *node_object(const struct sharing_node *node)
{
    return json_pack("{s:s, s:s, s:f, s:f}", "kind", node->kind, "name", node->name, "deserved_s",
                     node->deserved, "had_s", node->had);
}

/* The mean share error of each column; the last one may not be whole. */
static json_t *error_object(const struct sharing *s)
{
    json_t *errors = json_array();
    for (size_t c = 0; errors && c < s->columns; c++) {
        int64_t from = s->from + (int64_t)c * s->width, end = from + s->width;
        end = end < s->until ? end : s->until;
        if (end > from)
            json_array_append_new(errors, json_real(s->error_in[c] / (double)(end - from)));
    }
    return errors ? json_pack("{s:I, s:I, s:o}", "from_s", (json_int_t)s->from, "step_s",
                              (json_int_t)s->width, "error", errors)
                  : NULL;
}

json_t *json_of_sharing(const struct sharing *sharing)
{
    json_t *nodes = json_array();
    for (size_t i = 0; nodes && i < sharing->n; i++)
        if (json_array_append_new(nodes, node_object(&sharing->nodes[i])) < 0) {
            json_decref(nodes);
            return NULL;
        }
    return json_pack("{s:f, s:f, s:f, s:o, s:o}", "jain", sharing_jain(sharing), "mean_error",
                     sharing_mean_error(sharing), "max_error", sharing->max_error, "over_time",
                     error_object(sharing), "nodes", nodes);
}

static json_t *pilots_object(const struct schedule_pilots *p)
{
    return json_pack("{s:I, s:f, s:f, s:f}", "asked", (json_int_t)p->pilots, "asked_node_s",
                     p->asked, "had_node_s", p->had, "used_node_s", p->used);
}

static json_t *policy_object(const struct schedule *s, const struct metrics *m)
{
    json_t *pilots = s->pilots ? pilots_object(s->pilots) : NULL;
    json_t *shares = s->sharing ? json_of_sharing(s->sharing) : NULL;
    if (s->sharing && !shares)
        return NULL;
    return json_pack("{s:s, s:I, s:f, s:I, s:I, s:I, s:f, s:I, s:f, s:f, s:f, s:I, s:I, s:f, s:I, "
                     "s:f, s:o*, s:o*}",
                     "policy", s->policy, "n", (json_int_t)m->n, "avg_wait_s", m->avg_wait,
                     "median_wait_s", (json_int_t)m->median_wait, "p95_wait_s",
                     (json_int_t)m->p95_wait, "max_wait_s", (json_int_t)m->max_wait, "avg_flow_s",
                     m->avg_flow, "max_flow_s", (json_int_t)m->max_flow, "avg_bsld", m->avg_bsld,
                     "max_bsld", m->max_bsld, "utilisation", m->utilisation, "makespan_s",
                     (json_int_t)m->makespan, "passes", (json_int_t)s->passes, "jobs_per_s",
                     report_jobs_per_s(s), "preemptions", (json_int_t)s->preemptions, "work_lost_s",
                     s->lost, "shares", shares, "pilots", pilots);
}

static json_t *dropped_object(const struct report *report)
{
    json_t *dropped = json_object();
    for (size_t i = 0; dropped && i < report->ndropped; i++) {
        json_t *count = json_integer((json_int_t)report->dropped[i].count);
        if (json_object_set_new(dropped, report->dropped[i].name, count) < 0) {
            json_decref(dropped);
            return NULL;
        }
    }
    return dropped;
}

static json_t *policies_array(const struct report *report)
{
    json_t *policies = json_array();
    for (size_t p = 0; policies && p < report->npolicies; p++) {
        json_t *policy = policy_object(&report->schedules[p], &report->metrics[p]);
        if (json_array_append_new(policies, policy) < 0) {
            json_decref(policies);
            return NULL;
        }
    }
    return policies;
}

int json_print(const struct report *report, FILE *out, berth_error_t *err)
{
    json_t *root = json_pack("{s:s, s:I, s:o, s:o}", "trace", report->trace, "procs",
                             (json_int_t)report->procs, "dropped", dropped_object(report),
                             "policies", policies_array(report));
    if (!root)
        return errtext_set(err, ENOMEM, "out of memory for the JSON report");
    if (report->machine &&
        (json_object_set_new(root, "machine", json_string(report->machine)) < 0 ||
         json_object_set_new(root, "match_policy", json_string(report->match_policy)) < 0)) {
        json_decref(root);
        return errtext_set(err, ENOMEM, "out of memory for the JSON report");
    }
    int rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(root);
    fputc('\n', out);
    if (rc < 0 && !ferror(out))
        return errtext_set(err, ENOMEM, "out of memory for the JSON report");
    return 0;
}
