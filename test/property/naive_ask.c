/* What may be asked of shares, between passes and in one. */
#include "naive_play.h"

#include <string.h>

#include "berth/sched_query.h"
#include "berth/sched_shares.h"
#include "naive_share.h"
#include "naive_shares.h"

/* Whether a job is of a node, of those below it; the names of divisions, queues, accounts and users
 * end with their numbers. */
static bool is_of(const struct nq_job *job, const struct sched_share_node *nodes, size_t i)
{
    const struct sched_share_node *node = &nodes[i], *above = &nodes[node->above];
    int number = node->kind == SCHED_SHARE_OF_MACHINE ? 0 : node->name[1] - '0';
    int account = job->account;
    switch (node->kind) {
    case SCHED_SHARE_OF_USER:
        return job->user == number && is_of(job, nodes, node->above) &&
               (above->kind != SCHED_SHARE_OF_ACCOUNT || account == above->name[1] - '0');
    case SCHED_SHARE_OF_ACCOUNT:
        while (account >= 0 && account != number)
            account = run.naive.account[account].parent;
        return account == number && is_of(job, nodes, node->above);
    case SCHED_SHARE_OF_DIVISION:
        return run.naive.lane[job->lane].division == number ||
               (number == 0 && run.naive.nested && run.naive.lane[job->lane].division == 1);
    case SCHED_SHARE_OF_MACHINE:
        return true;
    case SCHED_SHARE_OF_CLASS:
        return is_of(job, nodes, node->above) &&
               run.naive.lane[job->lane].class_of[job->user] == node->name[0] - 'a';
    default:
        return job->lane == number;
    }
}

void ask_shares(void)
{
    struct sched_share_report report;
    CHECK(sched_shares_now(run.sched, run.now, &report) == 0);
    CHECK((report.n_nodes > 0) == run.shares);
    for (size_t i = 0; i < report.n_nodes; i++) {
        const struct sched_share_node *node = &report.nodes[i], *above = &report.nodes[node->above];
        CHECK(i == 0 ? node->depth == 0 : node->above < i && node->depth == above->depth + 1);
        uint64_t running = 0, promised = 0;
        for (int k = 0; k < run.naive.jobs; k++) {
            const struct nq_job *job = &run.naive.job[k];
            bool is = is_of(job, report.nodes, i);
            running += is && job->state == NQ_RUNNING;
            promised += is && job->state == NQ_HELD;
        }
        CHECK(node->n_running == running && node->n_promised == promised);
    }
}

void tell_usage(void)
{
    struct nq_usage *u = run.naive.usage;
    struct sched_share_report report;
    CHECK(sched_shares_now(run.sched, run.now, &report) == 0 && report.n_nodes <= NQ_SHARES);
    for (size_t i = 0; i < report.n_nodes; i++) {
        const struct sched_share_node *node = &report.nodes[i];
        int number = i == 0 ? -1 : node->name[1] - '0';
        u[i] = u[node->above];
        u[i].amount = (wide)node->usage << 32 | node->usage_part;
        if (node->kind == SCHED_SHARE_OF_MACHINE || node->kind == SCHED_SHARE_OF_DIVISION)
            u[i] = (struct nq_usage){number, -1, -1, -1, -1, u[i].amount};
        else if (node->kind == SCHED_SHARE_OF_QUEUE)
            u[i] = (struct nq_usage){-1, number, -1, -1, -1, u[i].amount};
        else if (node->kind == SCHED_SHARE_OF_CLASS)
            u[i].class = node->name[0] - 'a';
        else
            *(node->kind == SCHED_SHARE_OF_ACCOUNT ? &u[i].account : &u[i].user) = number;
    }
    run.naive.usages = (int)report.n_nodes;
}

void ask_turns(void)
{
    bool looked[NQ_JOBS];
    for (int i = 0; i < run.naive.jobs; i++)
        looked[i] = run.naive.lane[run.naive.job[i].lane].stopped;
    int next = ns_next(&run.naive, looked), firsts = 0;
    for (int i = 0; i < run.naive.jobs && next >= 0; i++) {
        const struct nq_job *job = &run.naive.job[i];
        const struct nq_lane *lane = &run.naive.lane[job->lane];
        struct sched_share_turns turns;
        if (job->state != NQ_OPEN || lane->stopped || lane->queue_depth < INT64_MAX ||
            run.classes || nq_level(&run.naive, i) != nq_level(&run.naive, next))
            continue;
        CHECK(sched_share_turns(run.sched, run.now, handle_of(i), &turns) == 0);
        CHECK(turns.report.n_nodes > 0 && sched_check(run.sched));
        CHECK(i != next || (turns.n_turns == 0 && turns.n_own == 0));
        firsts += turns.n_turns == 0 && turns.n_own == 0;
    }
    CHECK(firsts <= 1);
}

void ask_meanwhile(void)
{
    int i = (int)(counted.asked_meanwhile++ % (uint64_t)run.naive.jobs);
    struct sched_share_turns turns;
    sched_job_t job = run.naive.job[i].state == NQ_GONE ? -1 : handle_of(i);
    for (int k = i; job < 0 || sched_state(run.sched, job) != SCHED_WAITING; k++) {
        if (k - i == run.naive.jobs)
            return;
        int next = k % run.naive.jobs;
        job = run.naive.job[next].state == NQ_GONE ? -1 : handle_of(next);
    }
    int64_t later = run.now + (int64_t)(counted.asked_meanwhile % 3 * 1000);
    CHECK(sched_share_turns(run.sched, later, job, &turns) == 0);
}

/* Whether the last pass has given others something that they did not have, or made only expected what they were promised, also
 * for a while, so that there was more to it than the new job: all have another turn then.
 */
static bool gave_others(int job, const int64_t promised[NQ_JOBS], const bool expected[NQ_JOBS])
{
    bool gave = false;
    for (int i = 0; i < run.naive.jobs; i++)
        gave |= i != job && promised[i] >= 0 && !expected[i] && run.naive.job[i].softened;
    for (int i = 0; i < run.naive.decisions; i++) {
        const struct nq_decision *d = &run.naive.decision[i];
        gave |= d->job != job &&
                (d->kind != NQ_PROMISE || promised[d->job] < 0 || d->at < promised[d->job]);
    }
    return gave;
}

/* Whether somebody has lost what it was promised before the pass, or is promised a later time. */
static bool is_any_lost(const int64_t promised[NQ_JOBS])
{
    bool is = false;
    for (int i = 0; i < run.naive.jobs; i++)
        is |= promised[i] >= 0 &&
              (run.naive.job[i].state != NQ_HELD || run.naive.job[i].at > promised[i]);
    return is;
}

/* What is promised before a pass; -1: nothing. */
static void note_promised(int64_t promised[NQ_JOBS])
{
    for (int i = 0; i < NQ_JOBS; i++)
        promised[i] = run.naive.job[i].state == NQ_HELD ? run.promised[i] : -1;
}

void try_new(void)
{
    struct sched_annotation a = {.start = -1};
    int64_t promised[NQ_JOBS];
    bool expected[NQ_JOBS];
    int job = run.naive.jobs;
    if (!(run.rules & WITH_TRIES) || job > NQ_JOBS / 2)
        return;
    note_promised(promised);
    memcpy(expected, run.expected, sizeof(expected));
    play_submit();
    bool waits = sched_state(run.sched, handle_of(job)) == SCHED_WAITING;
    if (waits)
        CHECK(sched_annotate_new(run.sched, handle_of(job), &a) == 0 && sched_check(run.sched));
    bool is_told = a.start > run.now && !a.not_before;
    play_pass();
    const struct nq_job *j = &run.naive.job[job];
    if (!waits || j->state == NQ_GONE || j->preempting || gave_others(job, promised, expected))
        return;
    CHECK(!is_told || (j->state == NQ_HELD && j->at == a.start));
    CHECK(!is_told || run.expected[job] == a.expected || (a.expected && is_any_lost(promised)));
    counted.told += j->state == NQ_HELD && is_told;
    counted.untold += j->state == NQ_HELD && !is_told;
}
