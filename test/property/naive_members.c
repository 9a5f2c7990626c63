/* Gangs of naive_queues.h of which a member fails, in the words of berth-submit(1): all of it fails, or the others go on as long as
 * its min run or have succeeded.
 */
#include "naive_blocks.h"
#include "naive_queues_inner.h"
#include "naive_tails.h"

/* Members that run and are not stopped for others, or have succeeded. */
static int has(const struct naive_queues *q, int gang)
{
    int n = 0;
    for (int i = 0; i < q->jobs; i++) {
        const struct nq_job *j = &q->job[i];
        n += j->array == gang && ((j->state == NQ_RUNNING && !j->stopping) || j->ended_well);
    }
    return n;
}

void nq_fail_member(struct naive_queues *q, int member)
{
    const struct nq_job *j = &q->job[member];
    struct nq_job *gang = &q->job[j->array];
    gang->is_over |= !j->goes_on || has(q, j->array) < j->min;
}

/* Of a gang that is over those that wait are rejected, and those that run are stopped, which is told once, but for those whose
 * limits are over: their shell stops these anyway.
 */
void nq_settle_gangs(struct naive_queues *q)
{
    for (int i = 0; i < q->jobs; i++) {
        struct nq_job *j = &q->job[i];
        if (j->min == 0 || !q->job[j->array].is_over || j->state == NQ_GONE)
            continue;
        if (j->state != NQ_RUNNING) {
            nb_refuse(q, i);
            continue;
        }
        bool is_out_of_time = q->now >= nt_end(j, j->at);
        j->to_clear |= !j->stopping && !j->cleared && !j->dismissed && !is_out_of_time;
        j->dismissed |= !is_out_of_time;
    }
}
