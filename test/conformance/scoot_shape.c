/* What cases of Scoot look like, whatever their kind. */
#include <stdio.h>
#include <string.h>

#include "case_shape.h"
#include "scoot.h"

static const struct shape shapes[] = {
    {"id", SHAPE_TEXT},
    {"name", SHAPE_TEXT},
    {"requestor", SHAPE_TEXT},
    {"totalWorkers", SHAPE_COUNT},
    {"idle", SHAPE_COUNT},
    {"start", SHAPE_COUNT},
    {"stop", SHAPE_COUNT},
    {"steps", SHAPE_COUNT},
    {"nodes", SHAPE_COUNT},
    {"order[]!", SHAPE_TEXT},
    {"known_durations_s{}!", SHAPE_TIME},

    {"classes[].name!", SHAPE_TEXT},
    {"classes[].load_pct!", SHAPE_NUMBER},
    {"classes[].running", SHAPE_COUNT},
    {"classes[].waiting", SHAPE_COUNT},
    {"classes[].jobs[].running", SHAPE_COUNT},
    {"classes[].jobs[].waiting", SHAPE_COUNT},

    {"config.rebalance_threshold", SHAPE_COUNT},
    {"config.rebalance_min_duration_s", SHAPE_TIME},
    {"config.threshold_exceeded_for_s", SHAPE_TIME},

    {"samples[].t_s!", SHAPE_TIME},
    {"samples[].spread!", SHAPE_NUMBER},

    {"running[].task!", SHAPE_TEXT},
    {"running[].started_s_ago!", SHAPE_TIME},

    {"expect_exact_integer_ceil{}!", SHAPE_NUMBER},
};

/* What is played one by one: not more together. */
enum { MOST = 10000000 };

static bool few(json_t *list, const char *key, char *why, size_t room)
{
    int64_t sum = 0;
    size_t i;
    json_t *entry;
    json_array_foreach (list, i, entry) {
        sum += number_of(entry, key, 0);
        if (sum <= MOST)
            continue;
        snprintf(why, room, "jobs[%zu].%s: expected %d in all at most", i, key, MOST);
        return false;
    }
    return true;
}

static bool few_in_all(json_t *c, char *why, size_t room)
{
    size_t i;
    json_t *class;
    if (number_of(c, "steps", 0) > MOST) {
        snprintf(why, room, "steps: expected %d at most", MOST);
        return false;
    }
    json_array_foreach (json_object_get(c, "classes"), i, class) {
        if (!few(json_object_get(class, "jobs"), "waiting", why, room))
            return false;
    }
    json_t *jobs = json_object_get(c, "jobs");
    return few(jobs, "waiting", why, room) && few(jobs, "tasks", why, room);
}

static bool check_jobs(json_t *c, char *why, size_t room)
{
    static const struct shape names[] = {{"jobs[][]!", SHAPE_TEXT}};
    static const struct shape counts[] = {{"jobs[].name", SHAPE_TEXT},
                                          {"jobs[].requestor", SHAPE_TEXT},
                                          {"jobs[].running", SHAPE_COUNT},
                                          {"jobs[].waiting", SHAPE_COUNT},
                                          {"jobs[].tasks", SHAPE_COUNT}};
    bool are_names = strcmp(text_of(c, "kind"), "task_order") == 0;
    return are_names ? shape_check(c, names, 1, why, room)
                     : shape_check(c, counts, sizeof(counts) / sizeof(*counts), why, room);
}

bool check_shape(json_t *c, const char *const *members, char *why, size_t room)
{
    return shape_check(c, shapes, sizeof(shapes) / sizeof(*shapes), why, room) &&
           shape_has(c, members, why, room) && check_jobs(c, why, room) && few_in_all(c, why, room);
}
