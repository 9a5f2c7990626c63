#include "scoot_core.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/match.h"
#include "berth/sched_admin.h"
#include "config/config.h"

/* ---- Open and close ---- */

json_t *scoot_core_classes(const classes_t *settings)
{
    const struct classes_percent *percent;
    const struct classes_requestor *requestor;
    const char *fallback;
    json_t *percents = json_object(), *patterns = json_array();
    size_t n = classes_get_percents(settings, &percent);
    for (size_t i = 0; i < n; i++)
        json_object_set_new(percents, percent[i].name, json_integer(percent[i].percent));
    n = classes_get_requestors(settings, &requestor, &fallback);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(patterns, json_pack("{ssss}", "match", requestor[i].pattern, "class",
                                                  requestor[i].name));
    return json_pack("{sososs}", "percent", percents, "patterns", patterns, "default", fallback);
}

/* The text of a configuration, which the caller frees. Those who only take room wait in a queue of their own. */
static char *config_text(int64_t workers, json_t *classes)
{
    json_t *queue = json_pack("{ss}", "policy", "easy");
    if (classes)
        json_object_set_new(queue, "shares",
                            json_pack("{sssO}", "by", "class", "classes", classes));
    json_t *config = json_pack("{s{sIsi}sss{sos{ss}}}", "resources", "nodes", (json_int_t)workers,
                               "cores", 1, "default-queue", "classes", "queues", "classes", queue,
                               "filler", "policy", "easy");
    char *text = config ? json_dumps(config, 0) : NULL;
    json_decref(config);
    return text;
}

bool scoot_core_open(struct scoot_core *core, int64_t workers, json_t *classes)
{
    berth_error_t err = {"no memory"};
    *core = (struct scoot_core){.workers = workers, .filler = -1};
    if (workers > SCOOT_WORKERS_MAX) {
        wrong("%" PRId64 " workers: expected %d at most", workers, SCOOT_WORKERS_MAX);
        return false;
    }
    char *text = config_text(workers, classes);
    core->config = text ? config_read("case", text, strlen(text), 1, &err) : NULL;
    resource_graph_t *graph =
        core->config ? config_make_nodes(&core->config->resources, &err) : NULL;
    core->machine = graph ? match_create(graph, &core->config->match, &err) : NULL;
    core->s = core->machine ? sched_create(core->machine, &core->config->sched, &err) : NULL;
    free(text);
    if (!core->s)
        wrong("%s", err.text);
    return core->s != NULL;
}

bool scoot_core_configure(struct scoot_core *core, int64_t now, json_t *classes)
{
    berth_error_t err = {"no memory"};
    char *text = config_text(core->workers, classes);
    struct config *config = text ? config_read("case", text, strlen(text), 1, &err) : NULL;
    bool is_set = config && sched_configure(core->s, now, &config->sched, &err) == 0;
    free(text);
    if (!is_set) {
        config_destroy(config);
        return wrong("%s", err.text) == PASSED;
    }
    config_destroy(core->config);
    core->config = config;
    return true;
}

void scoot_core_close(struct scoot_core *core)
{
    sched_destroy(core->s);
    match_destroy(core->machine);
    config_destroy(core->config);
}

/* ---- Jobs ---- */

/* A request for so many cores, each on a node of its own. */
static sched_job_t submit(struct scoot_core *core, int64_t now, int64_t cores,
                          struct sched_request *request)
{
    char jobspec[400];
    snprintf(jobspec, sizeof(jobspec),
             "{\"version\":9999,\"resources\":[{\"type\":\"slot\",\"count\":%" PRId64
             ",\"label\":\"t\",\"with\":[{\"type\":\"core\",\"count\":1}]}],"
             "\"tasks\":[{\"command\":[\"x\"],\"slot\":\"t\",\"count\":{\"per_slot\":1}}],"
             "\"attributes\":{\"system\":{}}}",
             cores);
    request->jobspec = jobspec;
    request->jobspec_length = strlen(jobspec);
    sched_job_t job = sched_submit(core->s, now, request);
    if (job < 0)
        wrong("a job is refused");
    return job;
}

sched_job_t scoot_core_submit(struct scoot_core *core, int64_t now, const struct scoot_tasks *tasks)
{
    struct sched_request request = {
        .tag = tasks->tag,
        .user = tasks->requestor,
        .duration = tasks->ticks > 0 ? tasks->ticks : SCHED_UNLIMITED,
        .estimate = tasks->ticks > 0 ? 0 : SCHED_UNLIMITED,
        .members = tasks->tasks,
        .hold = tasks->hold,
        .queue = "classes",
    };
    return submit(core, now, 1, &request);
}

bool scoot_core_leave_idle(struct scoot_core *core, int64_t now, int64_t idle)
{
    const struct sched_decision *d;
    struct sched_request request = {
        .id = "filler", .user = "filler", .duration = SCHED_UNLIMITED, .queue = "filler"};
    size_t n;
    if (core->filler >= 0 && sched_cancel(core->s, now, core->filler) < 0)
        return false;
    int64_t rest = core->workers - (int64_t)sched_running(core->s) - idle;
    core->filler = rest > 0 ? submit(core, now, rest, &request) : -1;
    if (rest <= 0)
        return rest == 0;
    return core->filler >= 0 && sched_pass(core->s, now, false, &d, &n) == 0 &&
           sched_state(core->s, core->filler) == SCHED_RUNNING;
}

bool scoot_core_start(struct scoot_core *core, int64_t now, sched_job_t job, int64_t tasks,
                      bool waits)
{
    const struct sched_decision *d;
    size_t n;
    int64_t starts = 0;
    if (tasks == 0)
        return true;
    if (!scoot_core_leave_idle(core, now, tasks) || sched_release(core->s, now, job) < 0 ||
        sched_pass(core->s, now, false, &d, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        starts += d[i].kind == SCHED_START;
    return starts == tasks && (!waits || sched_hold(core->s, now, job) == 0);
}
