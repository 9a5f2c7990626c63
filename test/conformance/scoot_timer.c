/* Cases about when classes are rebalanced: played through the whole core.
 *
 * A hundred workers run tasks of the class `lent`, and a job of `owed` waits. Percentages are chosen before each pass so that
 * the two classes are as far apart as the sample says: what the one lacks and what the other has borrowed differ by one
 * at the most, and `rest`, which has no jobs, has what is left. A pass rebalances if it tells somebody to stop. Then those
 * who are told end, and tasks of `owed` start. These end soon, and `lent` borrows the workers again, so that the classes are
 * apart when the next sample is taken.
 *
 * Scoot rebalances when classes have been apart for longer than a time, Berth when for so long: a tick more is asked for here. A
 * threshold or a time of 0 is Scoot's way to say never, which in Berth is to have no key `rebalance`.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "berth/sched_admin.h"
#include "scoot_core.h"

enum {
    WORKERS = 100,
    OWED_TASKS = 1000000, /* never all started */
    SPREAD_MAX = 198      /* two classes with whole percentages above 0 are never further apart */
};

struct clock {
    struct scoot_core core;
    int64_t threshold, after; /* ticks; both 0: never */
    int64_t spread;           /* that classes have now */
    uint64_t tags;            /* used */
    sched_job_t owed;
};

/* A new reference. Classes that are 1 percent apart have no whole worker to give: they are not apart here. */
static json_t *classes_apart(const struct clock *clock, int64_t spread)
{
    int64_t lacks = spread / 2, borrowed = spread > 1 ? spread - lacks : 0;
    json_t *classes =
        json_pack("{s{sIsIsI}s[{ssss}]ss}", "percent", "owed", (json_int_t)lacks, "lent",
                  (json_int_t)(100 - borrowed), "rest", (json_int_t)(borrowed - lacks), "patterns",
                  "match", "^owed$", "class", "owed", "default", "lent");
    if (clock->threshold > 0)
        json_object_set_new(classes, "rebalance",
                            json_pack("{sIsI}", "threshold", (json_int_t)clock->threshold, "after",
                                      (json_int_t)clock->after));
    return classes;
}

static sched_job_t submit(struct clock *clock, int64_t now, const char *requestor, uint32_t tasks)
{
    return scoot_core_submit(
        &clock->core, now,
        &(struct scoot_tasks){.requestor = requestor, .tasks = tasks, .tag = ++clock->tags});
}

static bool pass(struct clock *clock, int64_t now)
{
    const struct sched_decision *d;
    size_t n;
    return sched_pass(clock->core.s, now, false, &d, &n) == 0;
}

static bool open_clock(struct clock *clock, json_t *config, int64_t now)
{
    int64_t after = ticks_of(config, "rebalance_min_duration_s", 0);
    int64_t threshold = number_of(config, "rebalance_threshold", 0);
    if (after > 0 && threshold > 0) {
        clock->after = after + 1;
        clock->threshold = threshold;
    }
    json_t *classes = classes_apart(clock, 0);
    bool is_open = scoot_core_open(&clock->core, WORKERS, classes) &&
                   submit(clock, now, "lent", WORKERS) >= 0 && pass(clock, now) &&
                   sched_running(clock->core.s) == WORKERS;
    json_decref(classes);
    clock->owed = is_open ? submit(clock, now, "owed", OWED_TASKS) : -1;
    return clock->owed >= 0;
}

static bool set_spread(struct clock *clock, int64_t now, int64_t spread)
{
    spread = spread < 0 ? 0 : spread < SPREAD_MAX ? spread : SPREAD_MAX;
    if (spread == clock->spread)
        return true;
    clock->spread = spread;
    json_t *classes = classes_apart(clock, spread);
    bool is_set = scoot_core_configure(&clock->core, now, classes);
    json_decref(classes);
    return is_set;
}

/* A pass. All jobs that it makes such a decision about end then. Returns how many; -1 if the pass fails. */
static int64_t end_those(struct clock *clock, int64_t now, enum sched_decision_kind kind)
{
    const struct sched_decision *d;
    size_t n;
    sched_job_t those[WORKERS];
    int64_t ended = 0;
    if (sched_pass(clock->core.s, now, false, &d, &n) < 0)
        return -1;
    for (size_t i = 0; i < n && ended < WORKERS; i++)
        if (d[i].kind == kind)
            those[ended++] = d[i].job;
    for (int64_t i = 0; i < ended; i++)
        if (sched_finish(clock->core.s, now, those[i], true) < 0)
            return -1;
    return ended;
}

/* Tasks of `owed` that start where others were stopped end, and `lent` borrows their workers again. */
static bool borrow_again(struct clock *clock, int64_t now)
{
    int64_t started = end_those(clock, now, SCHED_START);
    return started > 0 && sched_hold(clock->core.s, now, clock->owed) == 0 &&
           submit(clock, now, "lent", (uint32_t)started) >= 0 && pass(clock, now) &&
           sched_running(clock->core.s) == WORKERS &&
           sched_release(clock->core.s, now, clock->owed) == 0;
}

/* The times in ticks at which the queue rebalances; NULL if that can't be played. */
static json_t *play(struct clock *clock, json_t *c)
{
    json_t *samples = json_object_get(c, "samples"), *sample, *found = json_array();
    int64_t now = ticks_of(json_array_get(samples, 0), "t_s", 0);
    bool is_good = open_clock(clock, json_object_get(c, "config"), now);
    size_t i;
    json_array_foreach (samples, i, sample) {
        now = ticks_of(sample, "t_s", 0);
        is_good = is_good && set_spread(clock, now, number_of(sample, "spread", 0));
        int64_t stopped = is_good ? end_those(clock, now, SCHED_PREEMPT) : -1;
        if (stopped > 0)
            json_array_append_new(found, json_integer(now));
        is_good = stopped == 0 || (stopped > 0 && borrow_again(clock, now));
    }
    scoot_core_close(&clock->core);
    if (is_good)
        return found;
    json_decref(found);
    return NULL;
}

enum outcome play_rebalance_timer(const struct cases *cases, json_t *c)
{
    struct clock clock = {.owed = -1};
    json_t *times = json_object_get(json_object_get(c, "expect"), "rebalanced_at_t_s");
    (void)cases;
    json_t *found = play(&clock, c);
    if (!found)
        return wrong("the case can't be set up");
    enum outcome outcome = PASSED;
    for (size_t i = 0; i < json_array_size(found); i++) {
        int64_t at = json_integer_value(json_array_get(found, i));
        if (i >= json_array_size(times) || to_ticks(json_array_get(times, i)) != at)
            outcome = wrong("rebalances at %g", (double)at / TICKS);
    }
    if (json_array_size(found) < json_array_size(times))
        outcome = wrong("rebalances %zu times", json_array_size(found));
    json_decref(found);
    return outcome;
}
