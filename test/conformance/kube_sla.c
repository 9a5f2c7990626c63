/* Deadlines of jobs, by the plugin `sla`: how long a job is to wait at most, and whose deadline is first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_session.h"

static int64_t seconds_of(const char *text)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
    int64_t sum = 0;
    while (*text != '\0') {
        char *end;
        size_t u = 0;
        long long n = strtoll(text, &end, 10);
        while (u < 3 && units[u].unit != *end)
            u++;
        if (end == text || n < 0 || u == 3)
            return 0; /* not a time */
        sum += n * units[u].seconds;
        text = end + 1;
    }
    return sum;
}

int64_t kube_may_wait(const struct kube_job *job)
{
    return seconds_of(kube_text(json_object_get(job->is, "annotations"), "sla-waiting-time"));
}

int64_t kube_may_all_wait(const struct session *s)
{
    json_t *arguments = json_object_get(kube_plugin(&s->w, "sla"), "arguments");
    return kube_enabled(&s->w, "sla", "jobOrder")
               ? seconds_of(kube_text(arguments, "sla-waiting-time"))
               : 0;
}

/* How long a job may wait from now on, which is 0, as it was created later: as it says or as all do. 0: for ever. */
static json_int_t waits_until(json_t *c, json_t *job)
{
    json_t *waits = json_object_get(job, "waiting_time_s");
    json_t *all = json_object_get(json_object_get(c, "arguments"), "sla-waiting-time");
    json_int_t may = json_is_number(waits)
                         ? (json_int_t)json_number_value(waits)
                         : seconds_of(json_is_string(all) ? json_string_value(all) : "");
    return may > 0 ? may + kube_integer(job, "creation", 0) : 0;
}

/* A session of one node for one task, of the jobs that are named, each of which has one. */
static json_t *contest(json_t *c, const char *names)
{
    size_t i;
    json_t *job, *jobs = json_array(), *tasks = json_array();
    json_array_foreach (json_object_get(c, "jobs"), i, job) {
        const char *name = kube_text(job, "name");
        json_int_t until = waits_until(c, job);
        if (!strstr(names, name))
            continue;
        json_t *notes = until > 0 ? json_pack("{so}", "sla-waiting-time",
                                              json_sprintf("%llds", (long long)until))
                                  : json_object();
        json_array_append_new(jobs, json_pack("{ss ss si ss so}", "name", name, "queue", "queue",
                                              "min_available", 0, "phase", "Pending", "annotations",
                                              notes));
        json_array_append_new(tasks,
                              json_pack("{ss ss ss sn s{si}}", "name", name, "job", name, "status",
                                        "Pending", "node", "request", "cpu", 1000));
    }
    return json_pack("{ss ss ss s{s[ss] s[[{ss s{sb sb} sO*}]]} s[{ss}] s[{ss s{si si}}] so so}",
                     "id", kube_text(c, "id"), "kind", "session", "system", "volcano", "config",
                     "actions", "enqueue", "allocate", "tiers", "name", kube_text(c, "plugin"),
                     "enabled", "jobOrder", 1, "jobEnqueued", 1, "arguments",
                     json_object_get(c, "arguments"), "queues", "name", "queue", "nodes", "name",
                     "node", "allocatable", "cpu", 1000, "pods", 10, "jobs", jobs, "tasks", tasks);
}

/* "job_order_less(A,B)", "enqueueable(A)": who starts of two, and whether one is let in. */
enum outcome kube_plugin_order(json_t *c)
{
    const char *question;
    json_t *answer;
    enum outcome outcome = PASSED;
    json_object_foreach (json_object_get(c, "expect"), question, answer) {
        char first[100] = "", second[100] = "";
        int end = -1;
        sscanf(question, "job_order_less(%99[^,],%99[^)])%n", first, second, &end);
        bool orders = end >= 0;
        if (!orders)
            sscanf(question, "enqueueable(%99[^)])%n", first, &end);
        if (end != (int)strlen(question)) {
            outcome = kube_wrong("unknown: what is expected of %s", question);
            continue;
        }
        json_t *session = contest(c, question);
        json_t *expect =
            orders ? json_pack("{s{ss}}", "binds", json_is_true(answer) ? first : second, "node")
                   : json_pack("{s{ss}}", "job_phase", first,
                               json_is_true(answer) ? "Inqueue" : "Pending");
        json_object_set_new(session, "expect", expect);
        if (kube_session(session) != PASSED)
            outcome = FAILED;
        json_decref(session);
    }
    return outcome;
}
