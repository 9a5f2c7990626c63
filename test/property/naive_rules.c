/* Queues of naive_queues.h that go by other rules. */
#include "naive_queues_inner.h"

#include "base/number.h"
#include "naive_blocks.h"
#include "naive_limits.h"

/* Whether an amount of members (0) or nodes is within the limits that concern a job. */
static bool is_within(const struct naive_queues *q, int job, int what, int64_t amount)
{
    const struct nq_job *j = &q->job[job];
    const struct nq_lane *of = &q->lane[j->lane];
    int64_t of_user = j->is_virtual && of->virtual_user_most[what] < INT64_MAX
                          ? of->virtual_user_most[what]
                          : of->user_most[what];
    int64_t most = lesser(of_user, of->queue_most[what]);
    if (j->is_virtual)
        most = lesser(most, of->virtual_queue_most[what]);
    if (of->in_division && what == 1)
        most = lesser(most, q->division_most);
    for (int a = q->has_accounts ? j->account : -1; a >= 0; a = q->account[a].parent)
        most = lesser(most, q->account[a].most[what]);
    return amount <= most;
}

bool nr_could_ever(const struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    int64_t last;
    return is_within(q, job, 0, j->whole) &&
           is_within(q, job, 1, q->cores > 1 ? nq_cores_asked(q, job) : nq_pieces_asked(q, job)) &&
           nq_lowest(q, job, q->lane[j->lane].part) != 0 && nb_leave_room(q, job, q->now, &last);
}

/* Note the holders that go before jobs which wait. */
static void note_before(const struct naive_queues *q, bool before[NQ_JOBS][NQ_JOBS])
{
    for (int i = 0; i < q->jobs; i++)
        for (int k = 0; k < q->jobs; k++)
            before[i][k] =
                q->job[i].state == NQ_HELD && q->job[k].state == NQ_OPEN && nq_before(q, i, k);
}

void nr_use(struct naive_queues *q, const struct nq_lane lane[NQ_LANES])
{
    static bool was_before[NQ_JOBS][NQ_JOBS];
    note_before(q, was_before);
    for (int l = 0; l < q->lanes; l++) {
        q->lane[l] = lane[l];
        q->head[l].is = false;
    }
    for (int i = 0; i < q->jobs; i++)
        for (int k = 0; k < q->jobs; k++)
            if (was_before[i][k] && nq_before(q, k, i)) {
                q->job[k].fresh = true;
                q->job[k].placed = false;
            }
    for (int i = 0; i < q->jobs; i++)
        q->job[i].due |= q->job[i].state == NQ_LIMITED;
    q->judges_all = q->repair = q->back = q->recounts = true;
    q->swept = false;
}

/* It is open, as a new one, and displaced. */
static void take_back(struct naive_queues *q, int job)
{
    const struct nq_job *j = &q->job[job];
    int64_t was = j->displaced >= 0 && j->displaced < j->at ? j->displaced : j->at;
    nq_give_back(q, job);
    q->job[job].displaced = was;
    q->job[job].fresh = q->job[job].state == NQ_OPEN;
    q->job[job].placed = false;
}

/* In the order in which they stand: beside classes, an array that has lost its promise has another place. */
void nr_recount(struct naive_queues *q)
{
    int holder[NQ_JOBS], n = 0;
    for (int i = nq_next_of(q, NQ_HELD, -1); i >= 0 && q->recounts; i = nq_next_of(q, NQ_HELD, i)) {
        q->job[i].set_aside = true;
        holder[n++] = i;
    }
    for (int k = 0; k < n; k++) {
        struct nq_job *j = &q->job[holder[k]];
        j->set_aside = false;
        if (j->kept || nl_over(q, holder[k], j->at) >= 0)
            take_back(q, holder[k]);
    }
    q->recounts = false;
}
