/* Queues that go by other rules while jobs wait and run. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "naive_scene.h"

/* Drawn as when the scene began, but beside the rest. */
static void redraw_rules(struct nq_lane *lane, int i)
{
    struct random kept = run.random;
    run.random = run.change_random;
    draw_rules(lane, i, &run.queue[i]);
    run.change_random = run.random;
    run.random = kept;
}

static void redraw_virtual(struct nq_lane *lane, struct sched_queue_config *queue)
{
    static struct sched_limit limit[2 * NQ_LANES][2][NQ_WHATS];
    struct sched_limit *user = limit[queue - run.queue][0], *of_queue = limit[queue - run.queue][1];
    const char *what = run.cores ? "core" : "node";
    lane->virtual_priority = lane->priority;
    if (run.levels)
        lane->virtual_priority = random_between(&run.change_random, -1, 2);
    queue->priority = lane->virtual_priority;
    if (!run.has_more_limits)
        return;
    queue->limits = (struct sched_limits){.user = user, .queue = of_queue};
    queue->limits.n_user =
        nq_draw_limits(&run.change_random, what, user, lane->virtual_user_most, 3);
    queue->limits.n_queue =
        nq_draw_limits(&run.change_random, what, of_queue, lane->virtual_queue_most, 5);
}

void reload(void)
{
    struct nq_lane lane[NQ_LANES];
    size_t next = (size_t)run.naive.lanes;
    for (int i = 0; i < run.naive.lanes; i++) {
        lane[i] = run.naive.lane[i];
        bool changes = random_between(&run.change_random, 0, 1);
        if (changes)
            redraw_rules(&lane[i], i);
        if (changes && lane[i].has_virtual)
            redraw_virtual(&lane[i], &run.queue[next]);
        next += lane[i].has_virtual;
        if (changes && getenv("SCENE_TRACE"))
            fprintf(
                stderr,
                "t%ld reload: lane %d part %x level %ld %ld depth %ld qd %ld preemptible %d user "
                "%ld,%ld queue %ld,%ld\n",
                (long)run.now, i, lane[i].part, (long)lane[i].priority,
                (long)lane[i].virtual_priority, (long)lane[i].depth, (long)lane[i].queue_depth,
                lane[i].preemptible, (long)lane[i].user_most[0], (long)lane[i].user_most[1],
                (long)lane[i].queue_most[0], (long)lane[i].queue_most[1]);
    }
    berth_error_t err = {""};
    if (sched_configure(run.sched, run.now, &run.config, &err) < 0)
        fail_msg("seed %" PRIu64 ": %s", run.seed, err.text);
    run.naive.now = run.now;
    nr_use(&run.naive, lane);
    counted.reloads++;
}
