/* The tails of naive_tails.h. */
#include "naive_tails.h"

#include "base/number.h"
#include "naive_blocks.h"
#include "naive_limits.h"
#include "naive_queues_inner.h"

int64_t nt_end(const struct nq_job *j, int64_t at)
{
    return j->limit < INT64_MAX ? at + j->limit : INT64_MAX;
}

/* When a block has come over each member of a job that asks for several together, each for what its role does, or over the job. */
static int64_t blocks_come_to_all(const struct naive_queues *q, int job, uint32_t nodes,
                                  int64_t from)
{
    int list[NQ_JOBS], n = nq_list_whole(q, job, list);
    int64_t last = from;
    for (int i = 0; i < n; i++) {
        uint32_t one = i + 1 < n ? nq_lowest_of_one(q, list[i], nodes) : nodes;
        last = greater(last, nb_comes(q, list[i], one, from));
        nodes &= ~one;
    }
    return last;
}

int64_t nt_gone(const struct naive_queues *q, int job, uint32_t nodes, int64_t at)
{
    const struct nq_job *j = &q->job[job];
    int64_t over = at + j->estimate;
    if (j->limit < INT64_MAX || j->estimate >= NQ_ENDLESS)
        return nt_end(j, at);
    if (j->state == NQ_RUNNING && j->cleared)
        return q->now;
    return blocks_come_to_all(q, job, nodes, j->state == NQ_RUNNING ? greater(over, q->now) : over);
}

int64_t nt_needs(const struct nq_job *j)
{
    return j->limit < INT64_MAX ? j->limit : j->duration;
}

int64_t nt_clear(const struct nq_job *j, int64_t at)
{
    return at + nt_needs(j);
}

/* The nodes on which others are promised starts when a job's estimate is over and it may still be there. */
static uint32_t promised_until(const struct naive_queues *q, int job, int64_t at, int64_t end)
{
    const struct nq_job *j = &q->job[job];
    uint32_t nodes = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *k = &q->job[i];
        if (i != job && k->state == NQ_HELD && !k->lifted && !k->expected &&
            k->at >= at + j->duration && k->at < end)
            nodes |= k->nodes;
    }
    return nodes;
}

uint32_t nt_promised(const struct naive_queues *q, int job, int64_t at)
{
    return promised_until(q, job, at, nt_end(&q->job[job], at));
}

static bool keeps_until(const struct naive_queues *q, int job, uint32_t nodes, int64_t at,
                        int64_t end)
{
    const struct nq_job *j = &q->job[job];
    uint32_t aside = nb_set_aside(q, job, at + j->duration, nt_clear(j, at));
    uint32_t promised = promised_until(q, job, at, end);
    return !(nodes & (promised | (j->limit > j->duration ? aside : 0)));
}

bool nt_keeps(const struct naive_queues *q, int job, uint32_t nodes, int64_t at)
{
    int64_t end = nt_end(&q->job[job], at);
    return keeps_until(q, job, nodes, at, at <= q->now ? nt_gone(q, job, nodes, at) : end);
}

bool nt_still_keeps(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    return keeps_until(q, job, j->nodes, j->at, nt_gone(q, job, j->nodes, j->at));
}

/* Whether what another job has counts. What is out of the calendars for a while goes back where it was, if it can; a job
 * knows nothing of lower levels.
 */
static bool is_there(const struct naive_queues *q, int job, int other)
{
    const struct nq_job *k = &q->job[other];
    return k->state == NQ_RUNNING ||
           (k->state == NQ_HELD && (!k->lifted || nq_level(q, other) == nq_level(q, job)));
}

bool nt_is_unsure(const struct naive_queues *q, int job, uint32_t nodes, int64_t at)
{
    for (int i = 0; i < q->jobs && at > q->now; i++) { /* who starts now is sure of it */
        const struct nq_job *k = &q->job[i];
        if (i == job || !is_there(q, job, i))
            continue;
        int64_t begin = k->state == NQ_HELD ? greater(k->at, q->now) : k->at;
        bool stays = begin < at && begin + k->duration <= at && nt_gone(q, i, k->nodes, begin) > at;
        if (stays && (k->nodes & nodes || nl_is_unsure(q, job, at, i)))
            return true;
        if (k->state == NQ_HELD && k->expected && nq_before(q, i, job) &&
            q->lane[k->lane].part & nodes & ~q->down)
            return true;
    }
    return false;
}

void nt_judge(struct naive_queues *q, int job)
{
    struct nq_job *j = &q->job[job];
    bool was_promised = !j->expected;
    j->expected = nt_is_unsure(q, job, j->nodes, j->at);
    if (j->expected && was_promised) {
        nl_decreased(q, job); /* limits may let others be there then */
        q->softens = j->softened = true;
    }
    for (int i = 0; i < q->jobs && j->expected; i++)
        q->judges_all |= q->job[i].state == NQ_HELD && !q->job[i].expected && nq_before(q, job, i);
}

/* Those before it that have their turn yet may take the place of one that has made it only expected. */
void nt_judge_anew(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    if (!j->expected || j->at <= q->now || !nq_lets_before(q, job))
        nt_judge(q, job);
}

void nt_judge_again(struct naive_queues *q)
{
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0; i = nq_next_of(q, NQ_HELD, i))
        if (!q->job[i].preempting && (q->job[i].expected || q->judges_all))
            nt_judge_anew(q, i);
}

bool nt_judge_all(struct naive_queues *q)
{
    bool any = false;
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0; i = nq_next_of(q, NQ_HELD, i)) {
        struct nq_job *j = &q->job[i];
        if (j->preempting)
            continue;
        nt_judge(q, i);
        any |= j->expected && !j->expected_told;
        j->expected_told = j->expected;
    }
    any |= q->softens;
    q->judges_all = false;
    return any;
}

void nt_overrun(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (j->state != NQ_RUNNING || j->at + j->duration > q->now)
            continue;
        int64_t gone = nt_gone(q, i, j->nodes, j->at), over = j->at + j->estimate;
        int64_t stop = j->limit < INT64_MAX ? over : nb_comes(q, i, j->nodes, over);
        int64_t until = q->now + greater(q->now - (stop <= q->now ? stop : over), 1);
        if (gone > q->now)
            until = lesser(until, gone);
        j->duration = until - j->at;
        q->repair = true;
    }
}
