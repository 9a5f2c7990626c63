/* What is changed in some scenes: queues. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "berth/sched_admin.h"

static int64_t draw_change(int64_t low, int64_t high)
{
    return random_between(&run.change_random, low, high);
}

/* A virtual queue is stopped with its parent. */
static void change_queue(void)
{
    int lane = (int)draw_change(0, run.naive.lanes - 1);
    struct nq_lane *of = &run.naive.lane[lane];
    bool is_virtual = of->has_virtual && draw_change(0, 3) == 0;
    bool enabled = draw_change(0, 3) > 0, started = is_virtual || draw_change(0, 1);
    const char *name = is_virtual ? naive_virtual_names[lane] : naive_queue_names[lane];
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld queue %s %s %s\n", (long)run.now, name,
                enabled ? "enabled" : "disabled", started ? "started" : "stopped");
    CHECK(sched_queue_set(run.sched, run.now, name, enabled, started, NULL) == 0);
    of->closed[is_virtual] = !enabled;
    counted.queues_stopped += !started;
    if (is_virtual)
        return;
    if (started) {
        nq_start_queue(&run.naive, lane);
        return;
    }
    for (int i = 0; i < run.naive.jobs; i++)
        if (run.naive.job[i].lane == lane && run.naive.job[i].state == NQ_HELD)
            run.promised[i] = -1;
    nq_stop_queue(&run.naive, lane);
}

void play_changes(void)
{
    if (run.rules & WITH_STOPS && draw_change(0, 4) == 0)
        change_queue();
}
