/* What happens in a scene. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "berth/sched_admin.h"

/* One of those that wait together is to wait for itself. */
static void split(int job)
{
    struct nq_job *j = &run.naive.job[job];
    int next = nq_next_together(&run.naive, job);
    if (!j->together)
        return;
    CHECK(sched_split(run.sched, run.now, handle_of(job), member_of(job)) == handle_of(job));
    if (j->state == NQ_HELD && next >= 0) {
        run.promised[next] = run.promised[job];
        run.promised[job] = -1;
    }
    nq_split(&run.naive, job);
}

/* Another priority, of all that wait together. */
static void prioritize(int job)
{
    int64_t priority = draw(-3, 3);
    CHECK(sched_prioritize(run.sched, run.now, handle_of(job), priority) == 0);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld prioritize %d to %ld\n", (long)run.now, job, (long)priority);
    if (priority == run.naive.job[job].priority)
        return;
    for (int i = nq_next_together(&run.naive, job); i >= 0; i = nq_next_together(&run.naive, i))
        run.naive.job[i].priority = priority;
    nq_prioritize(&run.naive, job, priority);
}

void play_event(void)
{
    int64_t what = draw(0, 9);
    if ((what < 6 || run.naive.jobs == 0) && run.naive.jobs < NQ_JOBS) {
        play_submit();
        return;
    }
    int job = (int)draw(0, run.naive.jobs - 1);
    struct nq_job *j = &run.naive.job[job];
    if (what == 9) {
        int node = (int)draw(0, run.naive.nodes - 1);
        bool down = draw(0, 2) == 0;
        char name[16];
        snprintf(name, sizeof(name), "node%d", node);
        CHECK(sched_set_status(run.sched, run.now, name, down ? RESOURCE_DOWN : RESOURCE_UP,
                               NULL) == 0);
        nq_status(&run.naive, node, down);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld node %d %s\n", (long)run.now, node, down ? "down" : "up");
    } else if (what == 8 && j->state != NQ_GONE) {
        split(job);
        CHECK(sched_cancel(run.sched, run.now, handle_of(job)) == 0);
        if (getenv("SCENE_TRACE"))
            fprintf(stderr, "t%ld cancel %d\n", (long)run.now, job);
        nq_end(&run.naive, job);
    } else if (j->state == NQ_OPEN || j->state == NQ_HELD || j->state == NQ_BEHIND ||
               j->state == NQ_LIMITED || j->state == NQ_FULL) {
        if (j->state == NQ_BEHIND || draw(0, 1))
            split(job);
        prioritize(job);
    }
}

void play_ends(void)
{
    for (int i = 0; i < run.naive.jobs; i++)
        if (run.naive.job[i].state == NQ_RUNNING && run.end[i] <= run.now) {
            if (run.naive.job[i].stopping && run.requeue[i]) {
                CHECK(sched_requeue(run.sched, run.now, handle_of(i)) == 0);
                nq_requeue(&run.naive, i);
                run.promised[i] = -1;
                continue;
            }
            CHECK(sched_finish(run.sched, run.now, handle_of(i), true) == 0);
            nq_end(&run.naive, i);
        }
}
