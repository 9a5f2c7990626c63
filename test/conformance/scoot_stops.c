/* Cases about which tasks of a class stop: played through the whole core.
 *
 * The tasks of the case run on all workers but those of another class, `owed`, which has a job that waits and is meant to have
 * so many workers more as are to stop: percentages are looked for with which that is so. Then the queue rebalances.
 *
 * Scoot looks for no task that has run for more than 4 hours. Here that is the limit of tasks: when one has run for so long
 * it ends, as with every limit, and a task of `owed` takes its worker.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoot_core.h"

enum {
    LIMIT = 4 * 3600 * TICKS, /* Scoot's MaxTaskDuration */
    MOST_OWNED = 200          /* workers of the other class that percentages are looked for with */
};

struct task {
    const char *name;
    int64_t start; /* ticks; a whole second, as in Scoot */
    sched_job_t job;
};

struct stage {
    struct scoot_core core;
    struct task *v; /* the first that started first */
    size_t n, ended;
    int64_t now;
    int64_t stop;    /* so many are to */
    int64_t owned;   /* workers that the other class has */
    int64_t percent; /* of that class */
};

static int by_start(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Tasks have started in whole seconds, at least a second ago. */
static void read_tasks(struct stage *stage, json_t *c)
{
    json_t *list = json_object_get(c, "running"), *task;
    size_t i;
    stage->v = calloc(json_array_size(list) + 1, sizeof(*stage->v));
    json_array_foreach (list, i, task) {
        int64_t ago = ticks_of(task, "started_s_ago", 0);
        stage->now = ago > stage->now ? ago : stage->now;
    }
    stage->now = (stage->now / TICKS + 2) * TICKS;
    json_array_foreach (list, i, task) {
        int64_t ago = ticks_of(task, "started_s_ago", 0);
        ago = ago > TICKS ? (ago + TICKS - 1) / TICKS * TICKS : TICKS;
        stage->v[stage->n++] =
            (struct task){.name = text_of(task, "task"), .start = stage->now - ago, .job = -1};
    }
    if (stage->n > 0)
        qsort(stage->v, stage->n, sizeof(*stage->v), by_start);
    while (stage->ended < stage->n && stage->v[stage->ended].start + LIMIT < stage->now)
        stage->ended++;
    int64_t run = (int64_t)(stage->n - stage->ended), stop = number_of(c, "stop", 0);
    stage->stop = stop < run ? stop : run;
}

/* ---- Percentages ---- */

/* What a class is meant to have beside one of the rest. */
static int64_t target(int64_t workers, int64_t percent)
{
    return percent < 50 ? workers * percent / 100 : workers - workers * (100 - percent) / 100;
}

/* Whether classes are apart, on so many workers in all, so that the queue rebalances. */
static bool are_apart(const struct stage *stage, int64_t workers)
{
    int64_t above = (workers - stage->owned) * 100 / workers - (100 - stage->percent);
    int64_t below = stage->percent - stage->owned * 100 / workers;
    return above >= 0 && below >= 0 && above + below > 1;
}

/* Find what the other class has at last, and a percentage, so that it lacks just so many workers. */
static bool find_percent(struct stage *stage)
{
    int64_t run = (int64_t)(stage->n - stage->ended), least = (int64_t)stage->ended;
    least += run + least == 0;
    for (stage->owned = least; stage->owned <= least + MOST_OWNED; stage->owned++)
        for (stage->percent = 1; stage->percent < 100; stage->percent++)
            if (stage->percent != 50 &&
                target(run + stage->owned, stage->percent) == stage->owned + stage->stop &&
                (stage->stop == 0 || are_apart(stage, run + stage->owned)))
                return true;
    return false;
}

/* ---- In the core ---- */

static bool open_stage(struct stage *stage)
{
    json_t *classes =
        json_pack("{s{sIsI}s[{ssss}]sss{sisi}}", "percent", "owed", (json_int_t)stage->percent,
                  "lent", (json_int_t)(100 - stage->percent), "patterns", "match", "^owed$",
                  "class", "owed", "default", "lent", "rebalance", "threshold", 1, "after", 1);
    bool is_open =
        scoot_core_open(&stage->core, (int64_t)(stage->n - stage->ended) + stage->owned, classes);
    json_decref(classes);
    return is_open;
}

/* Start a task of a requestor. The handle; -1: it doesn't start. */
static sched_job_t start_task(struct stage *stage, int64_t now, const char *requestor, uint64_t tag,
                              int64_t limit)
{
    const struct sched_decision *d;
    size_t n;
    struct scoot_tasks task = {.requestor = requestor, .tasks = 1, .tag = tag, .ticks = limit};
    sched_job_t job = scoot_core_submit(&stage->core, now, &task);
    bool runs = job >= 0 && sched_pass(stage->core.s, now, false, &d, &n) == 0 &&
                sched_state(stage->core.s, job) == SCHED_RUNNING;
    return runs ? job : -1;
}

static bool start_owned(struct stage *stage, int64_t now, int64_t number)
{
    return start_task(stage, now, "owed", stage->n + 1 + (uint64_t)number, 0) >= 0;
}

/* Before a time, tasks come to their limits: one of the other class takes the place of each. */
static bool end_tasks(struct stage *stage, size_t *ended, int64_t before)
{
    for (; *ended < stage->ended && stage->v[*ended].start + LIMIT < before; ++*ended) {
        int64_t at = stage->v[*ended].start + LIMIT;
        if (sched_finish(stage->core.s, at, stage->v[*ended].job, true) < 0 ||
            !start_owned(stage, at, (int64_t)*ended))
            return false;
    }
    return true;
}

static bool start_all(struct stage *stage)
{
    size_t ended = 0;
    for (int64_t i = (int64_t)stage->ended; i < stage->owned; i++)
        if (!start_owned(stage, 0, i))
            return false;
    for (size_t i = 0; i < stage->n; i++) {
        if (!end_tasks(stage, &ended, stage->v[i].start + 1))
            return false;
        stage->v[i].job = start_task(stage, stage->v[i].start, "another", i + 1, LIMIT);
        if (stage->v[i].job < 0)
            return false;
    }
    return end_tasks(stage, &ended, stage->now);
}

/* The names of those who are told to stop, when the class that is owed workers has been without them for long enough. */
static json_t *rebalance(struct stage *stage)
{
    const struct sched_decision *d;
    size_t n;
    json_t *found = json_array();
    struct scoot_tasks waiting = {.requestor = "owed",
                                  .tasks = (uint32_t)(stage->stop + 1),
                                  .tag = stage->n + (size_t)stage->owned + 1};
    if (scoot_core_submit(&stage->core, stage->now - 1, &waiting) < 0 ||
        sched_pass(stage->core.s, stage->now - 1, false, &d, &n) < 0 ||
        sched_pass(stage->core.s, stage->now, false, &d, &n) < 0)
        return found;
    for (size_t i = 0; i < n; i++)
        if (d[i].kind == SCHED_PREEMPT && d[i].tag >= 1 && d[i].tag <= stage->n)
            json_array_append_new(found, json_string(stage->v[d[i].tag - 1].name));
    return found;
}

json_t *scoot_play_stops(json_t *c)
{
    struct stage stage = {.n = 0};
    json_t *found = NULL;
    read_tasks(&stage, c);
    if (find_percent(&stage)) {
        if (open_stage(&stage) && start_all(&stage))
            found = rebalance(&stage);
        scoot_core_close(&stage.core);
    }
    free(stage.v);
    return found;
}
