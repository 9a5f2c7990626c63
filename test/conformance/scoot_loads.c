/* What starts of classes with loads: played through the whole core.
 *
 * Each class has an array of one user's tasks, of which so many run before all of them wait for the idle workers. What a class
 * of 0 percent runs is not counted, and nothing of it starts: it runs nothing here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "berth/sched_admin.h"
#include "scoot_core.h"

struct stage {
    struct scoot_core core;
    struct class_load *loads;
    size_t n;
    sched_job_t job[CLASSES_MAX]; /* of each class; -1 */
    int64_t idle;
};

/* A class of which more waits than is idle gets no more for it. */
static int64_t tasks_waiting(const struct stage *stage, size_t i)
{
    int64_t waiting = stage->loads[i].waiting;
    return waiting > stage->idle ? stage->idle + 1 : waiting;
}

/* A user for each class. */
static json_t *classes_with_users(const classes_t *settings)
{
    const struct classes_percent *percent;
    json_t *classes = scoot_core_classes(settings), *patterns = json_array();
    size_t n = classes_get_percents(settings, &percent);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(patterns, json_pack("{soss}", "match", json_sprintf("^user%zu$", i),
                                                  "class", percent[i].name));
    json_object_set_new(classes, "patterns", patterns);
    return classes;
}

static bool submit_all(struct stage *stage)
{
    for (size_t i = 0; i < stage->n; i++) {
        char user[30];
        snprintf(user, sizeof(user), "user%zu", i);
        int64_t running = stage->loads[i].percent > 0 ? stage->loads[i].running : 0;
        struct scoot_tasks tasks = {.requestor = user,
                                    .tasks = (uint32_t)(running + tasks_waiting(stage, i)),
                                    .tag = i,
                                    .hold = true};
        stage->job[i] = tasks.tasks > 0 ? scoot_core_submit(&stage->core, 0, &tasks) : -1;
        if (tasks.tasks > 0 && stage->job[i] < 0)
            return false;
    }
    return true;
}

static bool start_running(struct stage *stage)
{
    for (size_t i = 0; i < stage->n; i++)
        if (stage->loads[i].percent > 0 &&
            !scoot_core_start(&stage->core, 0, stage->job[i], stage->loads[i].running,
                              stage->loads[i].waiting > 0))
            return false;
    return true;
}

/* The pass in which so many workers are idle. */
static bool start_waiting(struct stage *stage)
{
    const struct sched_decision *d;
    size_t n;
    if (!scoot_core_leave_idle(&stage->core, 1, stage->idle))
        return false;
    for (size_t i = 0; i < stage->n; i++)
        if (stage->loads[i].waiting > 0 && sched_release(stage->core.s, 1, stage->job[i]) < 0)
            return false;
    if (sched_pass(stage->core.s, 1, false, &d, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (d[i].kind == SCHED_PREEMPT)
            return wrong("stops without rebalancing") == PASSED;
        if (d[i].kind == SCHED_START && d[i].tag < stage->n)
            stage->loads[d[i].tag].start++;
    }
    return true;
}

bool scoot_play_loads(const classes_t *settings, struct class_load *loads, size_t n,
                      int64_t workers, int64_t idle)
{
    struct stage stage = {.loads = loads, .n = n, .idle = idle};
    json_t *classes = classes_with_users(settings);
    for (size_t i = 0; i < n; i++)
        loads[i].start = loads[i].stop = 0;
    bool is_good = scoot_core_open(&stage.core, workers, classes) && submit_all(&stage) &&
                   start_running(&stage) && start_waiting(&stage);
    scoot_core_close(&stage.core);
    json_decref(classes);
    return is_good;
}
