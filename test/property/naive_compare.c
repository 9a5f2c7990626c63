/* What the core decides, and what the model does. */
#include "naive_play.h"

#include <stdio.h>
#include <stdlib.h>

#include "berth/sched_query.h"
#include "naive_scene.h"

static void check_jobs(void)
{
    for (int i = 0; i < run.naive.jobs; i++) {
        const struct nq_job *j = &run.naive.job[i];
        CHECK(!j->rejected && !j->to_clear);
        if (j->state == NQ_GONE)
            continue;
        if (j->state == NQ_BEHIND) {
            CHECK(sched_index(run.sched, handle_of(i)) < (int64_t)member_of(i));
            continue;
        }
        int state = sched_state(run.sched, handle_of(i));
        counted.full += j->state == NQ_FULL;
        if (j->state == NQ_LIMITED || j->state == NQ_FULL || j->state == NQ_ASIDE) {
            CHECK(state == SCHED_BLOCKED);
            continue;
        }
        CHECK(state == (j->state == NQ_OPEN   ? SCHED_WAITING
                        : j->state == NQ_HELD ? SCHED_RESERVED
                                              : SCHED_RUNNING));
        const char *text;
        if (j->state == NQ_OPEN)
            continue;
        CHECK(j->preempting || sched_start_time(run.sched, handle_of(i)) == j->at);
        CHECK(j->preempting || j->state == NQ_RUNNING || run.expected[i] == j->expected_told);
        counted.expected += j->state == NQ_HELD && j->expected;
        counted.overrun += j->state == NQ_RUNNING && j->duration > j->estimate;
        CHECK(sched_resources(run.sched, handle_of(i), &text) == 0 &&
              nq_nodes_of(text, run.naive.cores) == j->nodes);
    }
}

/* It stops at once, or takes a while; perhaps it ends well before. */
static void stop(int job, bool requeue)
{
    int64_t end = run.now + draw(0, 3);
    run.requeue[job] = requeue && draw(0, 4) && run.naive.job[job].most == 0;
    run.end[job] = end < run.end[job] ? end : run.end[job];
    counted.preempted++;
}

/* In any order, before or after what else is decided. */
static void note_rejected(int job)
{
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld core: rejects %d\n", (long)run.now, job);
    CHECK(run.naive.job[job].rejected);
    run.naive.job[job].rejected = false;
    counted.rejected++;
}

/* Likewise. It takes a while, or ends before. */
static void note_stopped(int job)
{
    int64_t end = run.now + draw(0, 3);
    if (getenv("SCENE_TRACE"))
        fprintf(stderr, "t%ld core: stops %d\n", (long)run.now, job);
    CHECK(run.naive.job[job].to_clear);
    run.naive.job[job].to_clear = false;
    run.requeue[job] = false;
    run.end[job] = end < run.end[job] ? end : run.end[job];
    counted.stopped++;
}

/* Decisions are those of the model from the k-th on. Returns the next. */
static int compare_decisions(const struct sched_decision *d, size_t n, int k)
{
    static const enum sched_decision_kind kinds[] = {[NQ_START] = SCHED_START,
                                                     [NQ_PROMISE] = SCHED_RESERVE,
                                                     [NQ_PREEMPT] = SCHED_PREEMPT,
                                                     [NQ_AWAIT] = SCHED_AWAIT};
    for (size_t i = 0; i < n; i++) {
        if (d[i].kind == SCHED_WAIT)
            continue;
        if (d[i].kind == SCHED_REJECT) {
            note_rejected((int)d[i].tag + (int)d[i].member);
            continue;
        }
        if (d[i].kind == SCHED_STOP) {
            note_stopped((int)d[i].tag + (int)d[i].member);
            continue;
        }
        const struct nq_decision *e = &run.naive.decision[k];
        int job = (int)d[i].tag + (int)d[i].member;
        run.expected[job] = d[i].expected;
        if (getenv("SCENE_TRACE") && d[i].kind == SCHED_RESERVE)
            fprintf(stderr, "t%ld core: reserves %d at %ld%s\n", (long)run.now, job, (long)d[i].at,
                    d[i].expected ? ", expected" : "");
        bool same = d[i].kind == SCHED_RESERVE && run.promised[job] == d[i].at;
        if (same && (k == run.naive.decisions || e->kind != NQ_PROMISE || e->job != job ||
                     e->at != d[i].at))
            continue; /* of other resources at the same time, and how sure it is, the model tells nothing */
        if (getenv("SCENE_TRACE"))
            fprintf(stderr,
                    "t%ld core: kind %d job %d at %ld | naive: kind %d job %d at %ld for %d\n",
                    (long)run.now, d[i].kind, job, (long)d[i].at, (int)e->kind, e->job, (long)e->at,
                    e->other);
        CHECK(k++ < run.naive.decisions);
        run.promised[job] = d[i].kind == SCHED_RESERVE ? d[i].at : -1;
        CHECK(d[i].kind == kinds[e->kind]);
        CHECK(job == e->job);
        bool stops = e->kind == NQ_PREEMPT || e->kind == NQ_AWAIT;
        CHECK(d[i].at == (stops ? run.now : e->at));
        CHECK(!stops || d[i].other == handle_of(e->other));
        if (e->kind == NQ_PREEMPT)
            stop(e->job, d[i].requeue);
        counted.late += e->kind == NQ_AWAIT && !run.naive.job[e->job].stopping &&
                        !run.naive.job[e->job].cleared && !run.naive.job[e->job].leaving;
        if (e->kind == NQ_START)
            run.end[e->job] = run.now + draw_lasts(&run.naive.job[e->job]);
        counted.decisions++;
    }
    return k;
}

/* What the model has booked. */
static void trace_booked(void)
{
    for (int i = 0; i < run.naive.jobs && getenv("SCENE_TRACE"); i++) {
        const struct nq_job *j = &run.naive.job[i];
        if (j->state == NQ_HELD || j->state == NQ_RUNNING)
            fprintf(stderr, "t%ld has %d: %s nodes %x from %ld until %ld, limit %ld%s\n",
                    (long)run.now, i, j->state == NQ_HELD ? "held" : "running", j->nodes,
                    (long)j->at, (long)(j->at + j->duration),
                    (long)(j->limit < INT64_MAX ? j->at + j->limit : -1),
                    j->expected_told ? ", expected" : "");
    }
}

/* Where there are shares, every other scene has its passes in pieces. */
void play_pass(void)
{
    const struct sched_decision *d;
    size_t n;
    int k = 0, rc = 1;
    if (run.usage)
        tell_usage();
    nq_pass(&run.naive, run.now);
    if (!run.shares || run.seed % 2 == 0) {
        CHECK(sched_pass(run.sched, run.now, false, &d, &n) == 0);
        k = compare_decisions(d, n, k);
        rc = 0;
    }
    while (rc > 0) {
        rc = sched_pass_some(run.sched, run.now, 1, &d, &n);
        CHECK(rc >= 0);
        k = compare_decisions(d, n, k);
        if (rc > 0 && run.naive.jobs > 0)
            ask_meanwhile();
    }
    for (int i = k; i < run.naive.decisions && getenv("SCENE_TRACE"); i++)
        fprintf(stderr, "t%ld naive alone: kind %d job %d for %d at %ld\n", (long)run.now,
                (int)run.naive.decision[i].kind, run.naive.decision[i].job,
                run.naive.decision[i].other, (long)run.naive.decision[i].at);
    CHECK(k == run.naive.decisions && sched_check(run.sched));
    trace_booked();
    check_jobs();
}
