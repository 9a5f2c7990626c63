/* What is changed in some scenes: queues, and what jobs wait for. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "berth/sched_admin.h"
#include "naive_blocks.h"
#include "naive_waits.h"

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

bool draw_ends_well(void)
{
    return !(run.rules & WITH_WAITS) || draw_change(0, 4) > 0;
}

/* For a job before another one, or an array, or one of its members. Returns how much was written. */
static int draw_wait(int before, struct nq_wait *wait, char *text, size_t size)
{
    static const char *const names[] = {"after", "afterany", "afterok", "afternotok"};
    int on = (int)draw_change(before > 12 ? before - 12 : 0, before - 1), until = on + 1;
    int array = run.naive.job[on].array;
    bool member = array >= 0 && draw_change(0, 1);
    if (array >= 0 && !member) {
        on = array;
        while (until < run.naive.jobs && run.naive.job[until].array == array)
            until++;
    }
    *wait = (struct nq_wait){(enum nq_for_what)draw_change(0, 3), on, until};
    int n = snprintf(text, size, "%s:%d", names[wait->for_what], member ? array : on);
    if (member)
        n += snprintf(text + n, size - (size_t)n, "[%d]", on - array);
    return n;
}

/* Returns how many it waits for. */
static int draw_waits_for(int before, struct nq_wait waits[NQ_WAITS], char text[WAITS_TEXT])
{
    int n = 0, length = 0;
    for (int k = (int)draw_change(1, NQ_WAITS); k > 0 && before > 0; k--) {
        if (n > 0)
            text[length++] = ',';
        length += draw_wait(before, &waits[n++], text + length, WAITS_TEXT - (size_t)length);
    }
    text[length] = '\0';
    for (int i = 0; i < n; i++)
        for (int k = waits[i].from; k < waits[i].until; k++)
            if (run.naive.job[k].refused || run.naive.job[k].rejected)
                return 0;
    return n;
}

void draw_waits(int job, int members, struct sched_request *request, char text[WAITS_TEXT])
{
    struct nq_job *j = &run.naive.job[job];
    if (!(run.rules & WITH_WAITS))
        return;
    int64_t what = draw_change(0, 5);
    if (what == 0)
        request->begin = j->begin = run.now + draw_change(0, 20);
    j->later = j->begin > run.now;
    if (what <= 1)
        j->n_waits = draw_waits_for(job, j->waits, text);
    if (j->n_waits > 0)
        request->dependency = text;
    counted.waits += j->n_waits > 0;
    counted.begins += j->begin > run.now;
    for (int i = 1; i < members; i++) {
        run.naive.job[job + i].begin = j->begin;
        run.naive.job[job + i].later = j->later;
        run.naive.job[job + i].n_waits = j->n_waits;
        for (int k = 0; k < j->n_waits; k++)
            run.naive.job[job + i].waits[k] = j->waits[k];
    }
}

static void set_begin(int job)
{
    int64_t begin = greater(run.now + draw_change(-3, 15), 0);
    split_member(job);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld begin of %d: %ld\n", (long)run.now, job, (long)begin);
    CHECK(sched_set_begin(run.sched, run.now, handle_of(job), begin) == 0);
    nw_set_begin(&run.naive, job, begin);
    counted.begins += begin > run.now;
}

static void set_waits(int job)
{
    struct nq_job was = run.naive.job[job];
    struct nq_wait waits[NQ_WAITS];
    char text[WAITS_TEXT] = "";
    int first = was.array < 0 ? job : was.array;
    int n = draw_change(0, 3) ? draw_waits_for(first, waits, text) : 0;
    run.naive.job[job].n_waits = n;
    for (int i = 0; i < n; i++)
        run.naive.job[job].waits[i] = waits[i];
    bool may = !nw_is_vain(&run.naive, job);
    run.naive.job[job] = was;
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld waits of %d: %s%s\n", (long)run.now, job, n > 0 ? text : "none",
                may ? "" : ", no");
    CHECK((sched_set_dependency(run.sched, run.now, handle_of(job), n > 0 ? text : NULL, NULL) ==
           0) == may);
    if (may)
        nw_set_waits(&run.naive, job, waits, n);
    counted.waits += may && n > 0;
}

static void change_waits(void)
{
    int job = (int)draw_change(0, run.naive.jobs - 1);
    const struct nq_job *j = &run.naive.job[job];
    if (j->state == NQ_RUNNING || j->state == NQ_GONE || j->min > 0)
        return;
    run.naive.now = run.now;
    if (j->state == NQ_BEHIND || draw_change(0, 1))
        split_member(job);
    if (draw_change(0, 1))
        set_begin(job);
    else
        set_waits(job);
    if (run.naive.job[job].state == NQ_ASIDE)
        run.promised[job] = -1;
}

enum resource_status draw_down(void)
{
    return run.rules & WITH_MOVES && draw_change(0, 1) ? RESOURCE_DRAINED : RESOURCE_DOWN;
}

void draw_after(int job, int members, struct sched_request *request)
{
    if (!(run.rules & WITH_AFTER) || draw_change(0, 1))
        return;
    request->preemptible_after = draw_change(1, 20);
    for (int i = 0; i < members; i++)
        run.naive.job[job + i].after = request->preemptible_after;
}

/* Whether a queue would take a job as a new one, if it takes any. */
static bool would_take(int job, int lane, bool is_virtual)
{
    struct nq_job *j = &run.naive.job[job], was = *j;
    j->lane = lane;
    j->is_virtual = is_virtual;
    bool takes = nr_could_ever(&run.naive, job);
    *j = was;
    return takes;
}

static void move(void)
{
    int job = (int)draw_change(0, run.naive.jobs - 1);
    int lane = (int)draw_change(0, run.naive.lanes - 1);
    bool is_virtual = run.naive.lane[lane].has_virtual && draw_change(0, 1);
    const struct nq_job *j = &run.naive.job[job];
    if (j->state == NQ_RUNNING || j->state == NQ_GONE || j->min > 0 ||
        (j->lane == lane && j->is_virtual == is_virtual))
        return;
    if (j->state == NQ_BEHIND || draw_change(0, 1))
        split_member(job);
    run.naive.now = run.now;
    const struct nq_lane *to = &run.naive.lane[lane];
    bool may =
        !to->closed[0] && !(is_virtual && to->closed[1]) && would_take(job, lane, is_virtual);
    const char *name = is_virtual ? naive_virtual_names[lane] : naive_queue_names[lane];
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld move %d to %s%s\n", (long)run.now, job, name, may ? "" : ", no");
    CHECK((sched_set_queue(run.sched, run.now, handle_of(job), name, NULL) == 0) == may);
    if (!may)
        return;
    run.promised[job] = j->state == NQ_HELD ? -1 : run.promised[job];
    nq_move(&run.naive, job, lane, is_virtual);
    counted.moved++;
}

/* What a job might ask for, whether or not it may have that. */
static struct nq_job draw_asks(struct nq_job of)
{
    of.count = (int)draw_change(1, run.naive.nodes);
    if (!run.cores)
        return of;
    of.piece = (enum nq_piece)draw_change(NQ_NODE, NQ_SHARED);
    of.of_node = (int)draw_change(1, run.naive.cores - 1);
    of.count *= of.piece == NQ_CORE ? (int)draw_change(1, run.naive.cores) : 1;
    return of;
}

static void ask_for_other(void)
{
    int job = (int)draw_change(0, run.naive.jobs - 1);
    struct nq_job *j = &run.naive.job[job];
    if (j->state == NQ_RUNNING || j->state == NQ_GONE || j->min > 0)
        return;
    if (j->state == NQ_BEHIND || draw_change(0, 1))
        split_member(job);
    struct nq_job was = *j, other = draw_asks(was);
    char text[JOBSPEC_TEXT];
    write_jobspec(text, other.count, other.piece, other.of_node);
    run.naive.now = run.now;
    *j = other;
    bool may = would_take(job, j->lane, j->is_virtual);
    *j = was;
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld ask %d for count %d piece %d of %d%s\n", (long)run.now, job,
                other.count, (int)other.piece, other.of_node, may ? "" : ", no");
    CHECK((sched_set_jobspec(run.sched, run.now, handle_of(job), text, strlen(text), NULL) == 0) ==
          may);
    if (!may)
        return;
    run.promised[job] = j->state == NQ_HELD ? -1 : run.promised[job];
    nq_ask_for(&run.naive, job, other.count, other.piece, other.of_node);
    counted.asked_for_other++;
}

/* Of an array that was submitted with such a bound: what is requeued of others is not modelled with one. */
static void change_bound(void)
{
    int job = (int)draw_change(0, run.naive.jobs - 1);
    const struct nq_job *j = &run.naive.job[job];
    if (j->most == 0 || j->state == NQ_BEHIND || j->state == NQ_GONE)
        return;
    int most = (int)draw_change(0, 4);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld at most %d of %d at once\n", (long)run.now, most, job);
    CHECK(sched_set_max_running(run.sched, run.now, handle_of(job), (uint32_t)most, NULL) == 0);
    nq_set_most(&run.naive, job, most);
    counted.bounds++;
}

/* A job that runs is cancelled, say: it is stopped, or ends before that. */
static void have_one_leave(void)
{
    int job = (int)draw_change(0, run.naive.jobs - 1);
    int64_t end = run.now + draw_change(0, 6);
    if (run.naive.job[job].state != NQ_RUNNING)
        return;
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld %d leaves\n", (long)run.now, job);
    CHECK(sched_leave(run.sched, run.now, handle_of(job)) == 0);
    nq_leave(&run.naive, job);
    run.end[job] = end < run.end[job] ? end : run.end[job];
    counted.leaving++;
}

void play_changes(void)
{
    if (run.rules & WITH_STOPS && draw_change(0, 4) == 0)
        change_queue();
    if (run.rules & WITH_WAITS && run.naive.jobs > 0 && draw_change(0, 2) == 0)
        change_waits();
    /* The deadline of a job, and its default duration, are its queue's, perhaps. */
    if (run.rules & WITH_MOVES && run.naive.jobs > 0 && !run.deadlines && !run.tails &&
        draw_change(0, 1))
        move();
    if (run.rules & WITH_ASKS && run.naive.jobs > 0 && draw_change(0, 2) == 0)
        ask_for_other();
    if (run.rules & WITH_RELOADS && draw_change(0, 9) == 0)
        reload();
    if (run.rules & WITH_BOUNDS && run.naive.jobs > 0)
        change_bound();
    if (run.rules & WITH_LEAVES && run.naive.jobs > 0)
        have_one_leave();
}
