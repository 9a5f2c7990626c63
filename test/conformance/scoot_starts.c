/* Cases about which tasks of a class start, and in which order those of a job: played through the whole core. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "scoot_core.h"

/* A job of a case: tasks that run and tasks that wait. */
struct job {
    const char *name;
    int64_t running, waiting;
    sched_job_t handle;
};

struct jobs {
    struct job *v;
    size_t n;
    int64_t running, waiting;
};

static struct jobs read_jobs(json_t *c)
{
    json_t *list = json_object_get(c, "jobs"), *job;
    struct jobs jobs = {.n = json_array_size(list)};
    size_t i;
    jobs.v = calloc(jobs.n + 1, sizeof(*jobs.v));
    json_array_foreach (list, i, job) {
        jobs.v[i] = (struct job){.name = text_of(job, "name"),
                                 .running = number_of(job, "running", 0),
                                 .waiting = number_of(job, "waiting", 0),
                                 .handle = -1};
        jobs.running += jobs.v[i].running;
        jobs.waiting += jobs.v[i].waiting;
    }
    return jobs;
}

/* ---- In the core ---- */

/* One class, in which each job is an array of its requestor's, in the order of the list, and held. */
static bool submit_jobs(struct scoot_core *core, struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = &jobs->v[i];
        if (job->running + job->waiting == 0)
            continue;
        job->handle = scoot_core_submit(
            core, 0,
            &(struct scoot_tasks){.requestor = "requestor",
                                  .tasks = (uint32_t)(job->running + job->waiting),
                                  .tag = i,
                                  .hold = true});
        if (job->handle < 0)
            return false;
    }
    return true;
}

/* The pass in which so many workers are idle: which tasks start, in the order of the decisions. NULL if it fails. */
static json_t *start_waiting(struct scoot_core *core, const struct jobs *jobs, int64_t idle)
{
    const struct sched_decision *d;
    size_t n;
    bool is_good = scoot_core_leave_idle(core, 1, idle);
    for (size_t i = 0; i < jobs->n && is_good; i++)
        is_good = jobs->v[i].waiting == 0 || sched_release(core->s, 1, jobs->v[i].handle) == 0;
    if (!is_good || sched_pass(core->s, 1, false, &d, &n) < 0)
        return NULL;
    json_t *started = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct job *job = &jobs->v[d[i].tag < jobs->n ? d[i].tag : 0];
        if (d[i].kind == SCHED_START)
            json_array_append_new(started, json_sprintf("%s.%" PRId64, job->name,
                                                        (int64_t)d[i].member - job->running));
    }
    return started;
}

static json_t *play(struct jobs *jobs, int64_t start)
{
    struct scoot_core core;
    json_t *classes = json_pack("{s{si}}", "percent", "all", 100), *started = NULL;
    int64_t workers = jobs->running + start;
    bool is_good =
        scoot_core_open(&core, workers > 0 ? workers : 1, classes) && submit_jobs(&core, jobs);
    for (size_t i = 0; i < jobs->n && is_good; i++)
        is_good = scoot_core_start(&core, 0, jobs->v[i].handle, jobs->v[i].running,
                                   jobs->v[i].waiting > 0);
    if (is_good)
        started = start_waiting(&core, jobs, start);
    scoot_core_close(&core);
    json_decref(classes);
    return started;
}

/* ---- What is expected ---- */

/* Take the next task of a job with this name, as the text says. True if it is one of those with the fewest that run. */
static bool take_fewest(struct jobs *jobs, const char *task)
{
    const char *dot = strrchr(task, '.');
    size_t length = dot ? (size_t)(dot - task) : 0, best = jobs->n, found = jobs->n;
    for (size_t i = 0; i < jobs->n; i++) {
        if (jobs->v[i].waiting == 0)
            continue;
        if (best == jobs->n || jobs->v[i].running < jobs->v[best].running)
            best = i;
        if (strlen(jobs->v[i].name) == length && strncmp(jobs->v[i].name, task, length) == 0)
            found = i;
    }
    if (found == jobs->n || jobs->v[found].running != jobs->v[best].running)
        return false;
    jobs->v[found].running++;
    jobs->v[found].waiting--;
    return true;
}

/* Whether each task is the next one of a job of which the fewest run. Uses the jobs up. */
static bool goes_by_fewest(struct jobs *jobs, json_t *started)
{
    json_t *task;
    size_t i;
    json_array_foreach (started, i, task)
        if (!take_fewest(jobs, json_string_value(task)))
            return false;
    return true;
}

/* Scoot goes on with a job behind those that run as many; Berth takes the one that came first. */
static enum outcome check_starts(json_t *expect, struct jobs *jobs, json_t *started)
{
    json_t *order = json_object_get(expect, "order");
    if (!json_is_array(order))
        return wrong("expect.order: expected a list");
    if (json_equal(order, started))
        return PASSED;
    if (json_array_size(order) == json_array_size(started) && goes_by_fewest(jobs, started))
        return PASSED_EQUAL;
    char *text = json_dumps(started, 0);
    wrong("found %s", text);
    free(text);
    return FAILED;
}

enum outcome play_task_selection(const struct cases *cases, json_t *c)
{
    struct jobs jobs = read_jobs(c);
    int64_t start = number_of(c, "start", 0);
    (void)cases;
    json_t *started = play(&jobs, start < jobs.waiting ? start : jobs.waiting);
    enum outcome outcome = started ? check_starts(json_object_get(c, "expect"), &jobs, started)
                                   : wrong("the case can't be set up");
    json_decref(started);
    free(jobs.v);
    return outcome;
}

/* ---- The longest first ---- */

/* Each task is a job of one requestor. The order counts ticks here. A task that is known to take no time takes the shortest
 * there is.
 */
static bool submit_tasks(struct scoot_core *core, json_t *tasks, json_t *known)
{
    json_t *task;
    size_t i;
    json_array_foreach (tasks, i, task) {
        json_t *seconds = json_object_get(known, json_string_value(task));
        int64_t ticks = seconds ? to_ticks(seconds) : 0;
        struct scoot_tasks job = {.requestor = "requestor",
                                  .tasks = 1,
                                  .tag = i,
                                  .ticks = seconds && ticks < 1 ? 1 : ticks};
        if (scoot_core_submit(core, 0, &job) < 0)
            return false;
    }
    return true;
}

json_t *scoot_play_order(json_t *tasks, json_t *known)
{
    struct scoot_core core;
    const struct sched_decision *d;
    size_t n = json_array_size(tasks);
    json_t *classes = json_pack("{s{si}sb}", "percent", "all", 100, "longest-first", 1);
    json_t *found = json_array();
    if (scoot_core_open(&core, n > 0 ? (int64_t)n : 1, classes) &&
        submit_tasks(&core, tasks, known) && sched_pass(core.s, 0, false, &d, &n) == 0)
        for (size_t i = 0; i < n; i++)
            if (d[i].kind == SCHED_START)
                json_array_append(found, json_array_get(tasks, d[i].tag));
    scoot_core_close(&core);
    json_decref(classes);
    return found;
}
